//! `generate` and `test --suite`: every generated test must be a trace of the model, no trace may be
//! missing from a complete suite, nothing reachable may be proved unreachable, and the verdicts of a
//! suite are held against the reference like those of any test.

use std::collections::BTreeSet;
use std::sync::Arc;

use ioco_adapters::Connection as _;
use ioco_engine::{SavedStep, Settings, StopConditions, StrategyKind, Tester};
use ioco_generate::cover::{Cover, CoverLimits, CoverObserver, Goal, GoalVerdict, Instance};
use ioco_generate::suite::{
    Header, SUITE_VERSION, SavedGoal, SavedTest, SavedTree, SuiteTest, read,
};
use ioco_generate::{Confirm, Extent, Path, Share, Walk};
use ioco_solve::Embedded;
use ioco_sts::{Action, Direction, LabelId, Relation, Step, Sts, SwitchId, Type, Value};
use rand::RngExt as _;

use super::played::{Session, Task, run};
use super::{Counts, Finding, semantics};
use crate::generate::{Behaviour, Dice, System, dice as new_dice};
use crate::reference::{Event, Set, Theory};

const LENGTH: u32 = 2;
const MAX_TESTS: usize = 60;

struct Deciding {
    steps: u32,
}

impl CoverObserver for Deciding {
    fn decided(&mut self, _: Goal, _: &GoalVerdict, _: Option<&Instance>, _: u64) {}

    fn stop(&mut self) -> bool {
        self.steps += 1;
        self.steps > 3_000
    }
}

pub fn check(
    sts: &Arc<Sts>,
    played: &Arc<Sts>,
    relation: Relation,
    dice: &mut Dice,
    counts: &mut Counts,
) -> Option<Finding> {
    let theory = Theory::new(Arc::clone(sts));
    if theory.initial().incomplete {
        return None;
    }
    let mut tests: Vec<SavedTest> = Vec::new();
    let found = complete(sts, &theory, dice, &mut tests, counts)
        .or_else(|| covering(sts, &theory, dice, &mut tests, counts));
    if found.is_some() {
        return found;
    }
    verdicts(sts, played, relation, theory, tests, dice, counts)
}

fn observable(sts: &Sts, action: Action) -> Step {
    match sts.label(action.label).direction {
        Direction::Stimulus => Step::Stimulus(action),
        Direction::Response | Direction::Internal => Step::Response(action),
    }
}

/// Every trace of the length, once.
fn complete(
    sts: &Arc<Sts>,
    theory: &Theory,
    dice: &mut Dice,
    tests: &mut Vec<SavedTest>,
    counts: &mut Counts,
) -> Option<Finding> {
    let solver = Embedded::new(sts.types(), sts.functions());
    let mut walk = Walk::new(
        sts,
        Extent::of_length(LENGTH),
        solver,
        new_dice(dice.random()),
    );
    let mut labels: BTreeSet<Vec<LabelId>> = BTreeSet::new();
    let mut wrong = None;
    let mut all = 0;
    let tally = walk.run(&Share::whole(), &mut |path: &Path<'_>| {
        let actions: Vec<Action> = path.steps().filter_map(|step| step.action).collect();
        all += 1;
        labels.insert(actions.iter().map(|action| action.label).collect());
        if let Some(why) =
            not_allowed(theory, sts, &actions).or_else(|| not_set(theory, sts, &actions))
        {
            wrong.get_or_insert(why);
        }
        if tests.len() < MAX_TESTS {
            let steps = actions
                .into_iter()
                .map(|a| SavedStep::new(&observable(sts, a), sts));
            tests.push(SavedTest {
                goal: None,
                tree: SavedTree {
                    steps: steps.collect(),
                    branches: Vec::new(),
                },
                switches: Vec::new(),
            });
        }
        all < 2_000
    });
    if let Some(detail) = wrong {
        return Some(Finding {
            kind: "generate --traces: a test that is no trace".to_owned(),
            detail,
        });
    }
    if tally.undecided > 0 || tally.runaway.is_some() || tally.stopped || tally.circular > 0 {
        counts.open("generate --traces");
        return None;
    }
    let mut missing = None;
    let initial = theory.initial();
    let sure = every_trace(theory, &initial, &mut Vec::new(), &mut |trace| {
        if !labels.contains(trace) {
            let shown: Vec<String> = trace.iter().map(|l| sts.label(*l).marked_name()).collect();
            missing.get_or_insert(shown.join(" "));
        }
    });
    match missing {
        Some(detail) => Some(Finding {
            kind: "generate --traces: a trace is missing".to_owned(),
            detail,
        }),
        None if sure => {
            counts.decided("generate --traces");
            None
        }
        None => {
            counts.open("generate --traces");
            None
        }
    }
}

/// Calls `visit` with the labels of every trace of the length that the reference finds.
fn every_trace(
    theory: &Theory,
    set: &Set,
    trace: &mut Vec<LabelId>,
    visit: &mut dyn FnMut(&Vec<LabelId>),
) -> bool {
    if trace.len() == LENGTH as usize {
        visit(trace);
        return true;
    }
    let mut sure = !set.incomplete;
    for state in set.states.iter().take(30) {
        for direction in [Direction::Stimulus, Direction::Response] {
            for (id, label) in theory.observable(state, direction) {
                for values in theory.witnesses(state, id, 6) {
                    let next = theory.after(set, &Event { label, values });
                    trace.push(label);
                    sure &= every_trace(theory, &next, trace, visit);
                    trace.pop();
                }
            }
        }
    }
    sure && !theory.take_unsure()
}

fn not_allowed(theory: &Theory, sts: &Sts, actions: &[Action]) -> Option<String> {
    let mut set = theory.initial();
    for action in actions {
        set = theory.after(&set, &Event::of(action));
        if set.incomplete || theory.take_unsure() {
            return None;
        }
        if set.states.is_empty() {
            let shown: Vec<String> = actions.iter().map(|a| a.show(sts)).collect();
            return Some(format!("{}: not {}", shown.join(" "), action.show(sts)));
        }
    }
    None
}

/// Whether the model certainly allows these actions.
fn is_trace(theory: &Theory, actions: &[Action]) -> bool {
    let mut set = theory.initial();
    for action in actions {
        set = theory.after(&set, &Event::of(action));
        if set.incomplete || theory.take_unsure() || set.states.is_empty() {
            return false;
        }
    }
    true
}

/// Some values of a type, to be given instead of an unset one.
fn some_values(ty: &Type, sts: &Sts) -> Vec<Value> {
    match ty {
        Type::Bool => vec![Value::Bool(false), Value::Bool(true)],
        Type::Int(range) => vec![
            Value::Int(range.min),
            Value::Int(range.max),
            Value::Int(range.min.max(0)),
        ],
        Type::Str => vec![Value::str(""), Value::str("a")],
        Type::Enum(id) => {
            let members = sts.types().enums[id.index()].members.len() as u32;
            (0..members)
                .map(|member| Value::Enum(*id, member))
                .collect()
        }
        Type::Array(_) => vec![Value::Array([].into())],
        _ => Vec::new(),
    }
}

/// A stimulus with an unset parameter that no guard asks to be unset, not even a later one.
fn not_set(theory: &Theory, sts: &Sts, actions: &[Action]) -> Option<String> {
    let is_mentioned = |label: LabelId, position: usize| {
        let switches = sts.switches().iter();
        { switches }
            .filter(|switch| switch.gate.label() == Some(label))
            .any(|switch| switch.guard.params().contains(&(position as u32)))
    };
    let is_wrong =
        |action: &&Action| {
            sts.label(action.label).direction == Direction::Stimulus
                && action.values.iter().enumerate().any(|(position, value)| {
                    value.is_void() && !is_mentioned(action.label, position)
                })
        };
    let at = actions.iter().position(|action| is_wrong(&action))?;
    let found = &actions[at];
    let parameters = &sts.label(found.label).parameters;
    let can_be_set = parameters.iter().enumerate().any(|(position, parameter)| {
        found.values[position].is_void()
            && !is_mentioned(found.label, position)
            && some_values(&parameter.ty, sts).into_iter().any(|value| {
                let mut other = actions.to_vec();
                other[at].values[position] = value;
                is_trace(theory, &other)
            })
    });
    if !can_be_set {
        return None;
    }
    let shown: Vec<String> = actions.iter().map(|a| a.show(sts)).collect();
    Some(format!("{}: unset in {}", shown.join(" "), found.show(sts)))
}

/// A test for every switch, or a proof that there is none.
fn covering(
    sts: &Arc<Sts>,
    theory: &Theory,
    dice: &mut Dice,
    tests: &mut Vec<SavedTest>,
    counts: &mut Counts,
) -> Option<Finding> {
    let goals = Goal::switches(sts);
    let limits = CoverLimits {
        paths: 500,
        depth: 12,
        budget: 2_000,
        ..CoverLimits::default()
    };
    let confirm = Confirm::new(semantics(sts, Relation::Ioco));
    let mut rng = new_dice(dice.random());
    let covered =
        Cover::new(sts, &goals, limits, confirm, &mut rng).run(None, &mut Deciding { steps: 0 });
    for test in &covered.tests {
        let actions = test.actions();
        let wrong = not_allowed(theory, sts, &actions).or_else(|| not_set(theory, sts, &actions));
        if let Some(detail) = wrong {
            return Some(Finding {
                kind: "generate --cover: a test that is no trace".to_owned(),
                detail,
            });
        }
        let steps = actions
            .into_iter()
            .map(|a| SavedStep::new(&observable(sts, a), sts));
        tests.push(SavedTest {
            goal: covered
                .goal_of(sts, test)
                .map(|goal| SavedGoal::new(goal, sts)),
            tree: SavedTree {
                steps: steps.collect(),
                branches: Vec::new(),
            },
            switches: Vec::new(),
        });
    }
    let reached = theory.reached_switches(200);
    for (goal, verdict) in &covered.goals {
        let Goal::Switch(id) = goal else { continue };
        match verdict {
            GoalVerdict::Unreachable(why) if reached.contains(id) => {
                return Some(Finding {
                    kind: "generate --cover: proved unreachable, and reached".to_owned(),
                    detail: format!("{}: {why}", shown_switch(sts, *id)),
                });
            }
            GoalVerdict::Unknown(_) => counts.open("generate --cover"),
            _ => counts.decided("generate --cover"),
        }
    }
    None
}

fn shown_switch(sts: &Sts, id: SwitchId) -> String {
    let place = sts.show_place(sts.switch(id).place);
    format!("{} {place}", sts.show_switch(id))
}

/// Runs the suite, through its file.
fn verdicts(
    sts: &Arc<Sts>,
    played: &Arc<Sts>,
    relation: Relation,
    theory: Theory,
    tests: Vec<SavedTest>,
    dice: &mut Dice,
    counts: &mut Counts,
) -> Option<Finding> {
    let header = Header {
        suite: SUITE_VERSION,
        model: sts.name().to_owned(),
        hash: String::new(),
        query: None,
    };
    let mut text = serde_json::to_string(&header).unwrap_or_default();
    for test in &tests {
        text.push('\n');
        text += &serde_json::to_string(test).unwrap_or_default();
    }
    let suite = match read(&text, sts, &header.hash) {
        Ok(suite) => suite,
        Err(error) => {
            return Some(Finding {
                kind: "test --suite: its own suite cannot be read".to_owned(),
                detail: error.to_string(),
            });
        }
    };
    let behaviour = Behaviour::random(dice, sts);
    let seed: u64 = dice.random();
    let mut system = System::new(Arc::clone(played), Arc::clone(sts), behaviour, seed);
    let settings = Settings {
        seed: dice.random(),
        strategy: StrategyKind::uniform(),
        stop: StopConditions {
            tests: None,
            steps_per_test: 20,
            failures: None,
            errors: None,
            ..StopConditions::default()
        },
        ..Settings::default()
    };
    let mut tester = Tester::new(semantics(sts, relation), settings);
    let mut session = Session {
        sts,
        theory,
        relation,
        behaviour,
        is_right: false,
    };
    for test in suite.tests.into_iter().take(12) {
        if session.theory.is_over_limit() || system.is_over_limit() {
            return None;
        }
        let first = tester.guided_test(Box::new(SuiteTest::new(test)), system.now())?;
        let (report, log) = run(&mut tester, first, &mut system);
        let found = session.judge(Task::Suite, &report, &log, dice, counts);
        if found.is_some() {
            return found;
        }
    }
    None
}
