//! The file of a suite: JSON lines by names, so that it outlives the numbering of a model. The
//! first line says which model it is for; every other line is a test.

pub mod export;
mod run;

use std::sync::Arc;

use ioco_engine::{SavedStep, value_to_json};
use ioco_sts::{LocationId, Step, Sts, SwitchId, show_expr};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::cover::Goal;
use crate::plan::Pattern;
use crate::tree::{Allowed, Branch, Tree};

pub use run::SuiteTest;

/// The version of the file.
pub const SUITE_VERSION: u32 = 1;

/// The first line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The version.
    pub suite: u32,
    pub model: String,
    /// Of the model's text, when the suite was made.
    pub hash: String,
    /// The query that all tests answer, with its bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<SavedQuery>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedQuery {
    pub text: String,
    pub within: u32,
}

/// One test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedTest {
    /// What the test is for, so that it can be planned anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<SavedGoal>,
    #[serde(flatten)]
    pub tree: SavedTree,
    /// The switches of the planned path, internal ones included, in the order of the model text.
    #[serde(default)]
    pub switches: Vec<u32>,
}

/// A goal by name; switches and the conditions of their guards are numbered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SavedGoal {
    Location(String),
    Switch(u32),
    Decision {
        switch: u32,
        outcome: bool,
    },
    Condition {
        switch: u32,
        number: u32,
        outcome: bool,
    },
    Independent {
        switch: u32,
        number: u32,
        outcome: bool,
    },
}

/// Steps, and what else may come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedTree {
    /// Stimuli to give and responses that are planned, in order.
    pub steps: Vec<SavedStep>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub branches: Vec<SavedBranch>,
}

/// A response that the model allows instead.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedBranch {
    /// So many steps come before it.
    pub after: usize,
    pub response: String,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub values: Map<String, Json>,
    /// The condition on the values, where there are more than a few.
    #[serde(default, rename = "where", skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// How the test goes on; without it, it is inconclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub then: Option<SavedTree>,
}

impl SavedTree {
    pub fn new(tree: &Tree, sts: &Sts) -> SavedTree {
        SavedTree {
            steps: tree.steps.iter().map(|s| SavedStep::new(s, sts)).collect(),
            branches: tree
                .branches
                .iter()
                // What may come after the end changes nothing.
                .filter(|branch| branch.after < tree.steps.len())
                .map(|branch| SavedBranch::new(branch, sts))
                .collect(),
        }
    }
}

impl SavedBranch {
    fn new(branch: &Branch, sts: &Sts) -> SavedBranch {
        let label = sts.label(branch.label);
        let (values, condition) = match &branch.allowed {
            Allowed::Values(values) => {
                let named = label.parameters.iter().zip(values);
                let set = named.filter(|(_, value)| !value.is_void());
                let values = set.map(|(p, v)| (p.name.clone(), value_to_json(v, sts.types())));
                (values.collect(), None)
            }
            Allowed::Where(condition) => {
                let shown = show_expr(sts, Some(branch.label), condition);
                (Map::new(), Some(shown))
            }
        };
        SavedBranch {
            after: branch.after,
            response: label.name.clone(),
            values,
            condition,
            then: branch.then.as_ref().map(|tree| SavedTree::new(tree, sts)),
        }
    }
}

impl SavedGoal {
    pub fn new(goal: Goal, sts: &Sts) -> SavedGoal {
        match goal {
            Goal::Location(id) => SavedGoal::Location(sts.location(id).name.clone()),
            Goal::Switch(id) => SavedGoal::Switch(id.0),
            Goal::Decision { switch, outcome } => SavedGoal::Decision {
                switch: switch.0,
                outcome,
            },
            Goal::Condition {
                switch,
                number,
                outcome,
            } => SavedGoal::Condition {
                switch: switch.0,
                number,
                outcome,
            },
            Goal::Independent {
                switch,
                number,
                outcome,
            } => SavedGoal::Independent {
                switch: switch.0,
                number,
                outcome,
            },
        }
    }

    /// The goals that it stands for: several where locations of several processes have the same
    /// name, none where the model does not have it any more.
    fn goals(&self, sts: &Sts) -> Vec<Goal> {
        let id = |number: u32| {
            let exists = (number as usize) < sts.switches().len();
            exists.then_some(SwitchId(number))
        };
        let one = match *self {
            SavedGoal::Location(ref name) => {
                let all = sts.locations().iter().enumerate();
                let named = all.filter(|(_, location)| location.name == *name);
                let found = named.map(|(index, _)| Goal::Location(LocationId::from_index(index)));
                return found.collect();
            }
            SavedGoal::Switch(number) => id(number).map(Goal::Switch),
            SavedGoal::Decision { switch, outcome } => {
                id(switch).map(|switch| Goal::Decision { switch, outcome })
            }
            SavedGoal::Condition {
                switch,
                number,
                outcome,
            } => id(switch).map(|switch| Goal::Condition {
                switch,
                number,
                outcome,
            }),
            SavedGoal::Independent {
                switch,
                number,
                outcome,
            } => id(switch).map(|switch| Goal::Independent {
                switch,
                number,
                outcome,
            }),
        };
        one.into_iter().collect()
    }

    /// What a test must do to reach the goal; `None` where the model does not have it any more.
    pub fn pattern(&self, sts: &Sts) -> Option<Pattern> {
        Pattern::covers(sts, &self.goals(sts))
    }

    /// What the goal is, in words.
    pub fn show(&self, sts: &Sts) -> String {
        match (self, self.goals(sts).first()) {
            (SavedGoal::Location(name), _) => format!("location {name}"),
            (SavedGoal::Switch(number), Some(_)) => {
                format!("switch {}", sts.show_switch(SwitchId(*number)))
            }
            (_, Some(goal)) => goal.show(sts),
            (_, None) => "a goal that the model does not have any more".to_owned(),
        }
    }
}

/// A suite as it was read.
#[derive(Clone, Debug)]
pub struct Suite {
    pub header: Header,
    pub tests: Vec<ReadTest>,
}

/// A test in terms of a model.
#[derive(Clone, Debug)]
pub struct ReadTest {
    /// What it is for, in a word or two.
    pub name: String,
    pub steps: Vec<Step>,
    /// What it is for, and the steps within which.
    pub purpose: Option<(Arc<Pattern>, u32)>,
}

/// Why a suite cannot be used: the line, counted from one, and what is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadSuite {
    pub line: usize,
    pub message: String,
}

impl std::fmt::Display for BadSuite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

/// Steps beyond the planned ones that planning anew may take.
const DETOUR: u32 = 20;

/// Reads a suite for a model whose text has this hash. The goals of a suite for another text are left out: they are
/// numbers of switches, and would be other goals here.
pub fn read(text: &str, sts: &Sts, hash: &str) -> Result<Suite, BadSuite> {
    let bad = |line: usize, message: String| BadSuite { line, message };
    let mut lines = text
        .lines()
        .enumerate()
        .filter(|(_, l)| !l.trim().is_empty());
    let Some((_, first)) = lines.next() else {
        return Err(bad(1, "the suite is empty".to_owned()));
    };
    let header: Header = serde_json::from_str(first)
        .map_err(|error| bad(1, format!("not the first line of a suite: {error}")))?;
    if header.suite != SUITE_VERSION {
        let message = format!(
            "a suite of version {}; this program reads version {SUITE_VERSION}",
            header.suite
        );
        return Err(bad(1, message));
    }
    let query = match &header.query {
        Some(saved) => {
            let query = ioco_aml::query::parse("query", &saved.text, sts).map_err(|found| {
                let why = found.first().map_or("", |d| d.message.as_str()).to_owned();
                bad(1, format!("its query does not fit the model: {why}"))
            })?;
            Some((Arc::new(Pattern::from(&query)), saved.within))
        }
        None => None,
    };
    let mut tests = Vec::new();
    for (index, line) in lines {
        let test: SavedTest = serde_json::from_str(line)
            .map_err(|error| bad(index + 1, format!("not a test: {error}")))?;
        let steps = test.tree.steps.iter().map(|step| step.restore(sts));
        let steps: Result<Vec<Step>, _> = steps.collect();
        let steps = steps.map_err(|error| bad(index + 1, error.to_string()))?;
        let goal = test.goal.as_ref().filter(|_| header.hash == hash);
        let own = goal.and_then(|goal| goal.pattern(sts));
        let within = steps.len() as u32 + DETOUR;
        let purpose = own.map(|pattern| (Arc::new(pattern), within));
        let name = match goal {
            Some(goal) => goal.show(sts),
            None if test.goal.is_some() => format!("test {}", tests.len() + 1),
            None if query.is_some() => "query".to_owned(),
            None => "trace".to_owned(),
        };
        tests.push(ReadTest {
            name,
            steps,
            purpose: purpose.or_else(|| query.clone()),
        });
    }
    Ok(Suite { header, tests })
}
