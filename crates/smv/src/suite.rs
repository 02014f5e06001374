//! Suites of tests: which tests are enough, and how they are written for people and for the runner.

use serde::Serialize;

use crate::eval::{Evaluator, Memo, State};
use crate::expr::VarId;
use crate::generate::{GoalResult, value_json};
use crate::goal::Goal;
use crate::model::{Model, VarKind};

/// A test with the goals that it covers.
#[derive(Clone, Debug)]
pub struct Test {
    pub states: Vec<State>,
    /// Positions in the list of goals.
    pub goals: Vec<usize>,
}

/// The tests of all covered goals; tests that start another test are dropped.
pub fn tests(results: &[GoalResult]) -> Vec<Test> {
    let mut list: Vec<Test> = Vec::new();
    let mut found: Vec<(&[State], usize)> = results
        .iter()
        .filter_map(|result| Some((result.test()?, result.index)))
        .collect();
    found.sort_by_key(|(states, index)| (std::cmp::Reverse(states.len()), *index));
    for (states, goal) in found {
        match list.iter_mut().find(|test| test.states.starts_with(states)) {
            Some(test) => test.goals.push(goal),
            None => list.push(Test {
                states: states.to_vec(),
                goals: vec![goal],
            }),
        }
    }
    for test in &mut list {
        test.goals.sort_unstable();
    }
    list
}

/// A smaller suite for the same goals: greedily the test that covers most of what is missing, the shorter among equals.
/// Every test is first credited with all goals that it happens to cover.
pub fn minimise(model: &Model, goals: &[Goal], tests: &[Test]) -> Vec<Test> {
    let credited: Vec<Vec<usize>> = tests
        .iter()
        .map(|test| covered(model, goals, &test.states))
        .collect();
    let mut missing: Vec<usize> = credited.iter().flatten().copied().collect();
    missing.sort_unstable();
    missing.dedup();
    let mut chosen = Vec::new();
    while !missing.is_empty() {
        let gain = |index: &usize| {
            credited[*index]
                .iter()
                .filter(|goal| missing.binary_search(goal).is_ok())
                .count()
        };
        let best = (0..tests.len()).max_by_key(|index| {
            (
                gain(index),
                std::cmp::Reverse(tests[*index].states.len()),
                std::cmp::Reverse(*index),
            )
        });
        let Some(best) = best.filter(|index| gain(index) > 0) else {
            break;
        };
        missing.retain(|goal| !credited[best].contains(goal));
        chosen.push(Test {
            states: tests[best].states.clone(),
            goals: credited[best].clone(),
        });
    }
    chosen
}

fn covered(model: &Model, goals: &[Goal], states: &[State]) -> Vec<usize> {
    let mut found = vec![false; goals.len()];
    let mut memo = Memo::default();
    for (step, state) in states.iter().enumerate() {
        let next = states.get(step + 1).map(Vec::as_slice);
        let mut evaluator = Evaluator::new(&model.exprs, state, next, &mut memo);
        for (index, goal) in goals.iter().enumerate() {
            if !found[index] && (next.is_some() || !goal.transition) {
                found[index] = evaluator.holds(goal.expr);
            }
        }
    }
    (0..goals.len()).filter(|index| found[*index]).collect()
}

/// A table for people: one row for every state, one column for every variable.
pub fn csv(model: &Model, tests: &[Test]) -> String {
    let mut table = csv::WriterBuilder::new()
        .flexible(false)
        .from_writer(Vec::new());
    let names = model.vars.iter().map(|var| var.name.to_string());
    let head: Vec<String> = ["test", "step"]
        .map(str::to_owned)
        .into_iter()
        .chain(names)
        .collect();
    let mut write = |row: &[String]| table.write_record(row).expect("memory takes every row");
    write(&head);
    for (number, test) in tests.iter().enumerate() {
        for (step, state) in test.states.iter().enumerate() {
            let is_last = step + 1 == test.states.len();
            let values = model.var_ids().map(|var| match model.var(var).kind {
                VarKind::Input if is_last => String::new(),
                _ => model.value_of(state, var),
            });
            let row = [(number + 1).to_string(), step.to_string()];
            write(&row.into_iter().chain(values).collect::<Vec<String>>());
        }
    }
    let bytes = table.into_inner().expect("memory takes every row");
    String::from_utf8(bytes).expect("the rows are text")
}

#[derive(Serialize)]
struct TestLine<'r> {
    test: usize,
    model: &'r str,
    goals: Vec<&'r str>,
    steps: Vec<Step<'r>>,
}

#[derive(Serialize)]
struct Step<'r> {
    inputs: Part<'r>,
    expected: Part<'r>,
}

/// Some variables of a state, in the order of declaration.
struct Part<'r> {
    model: &'r Model,
    state: &'r State,
    vars: Vec<VarId>,
}

impl Serialize for Part<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let entry = |var: &VarId| {
            (
                &self.model.var(*var).name,
                value_json(self.model, self.state[var.index()]),
            )
        };
        serializer.collect_map(self.vars.iter().map(entry))
    }
}

/// The suite for the runner: one test a line. Every step gives the values of the free variables, which the system
/// receives, and the state that is expected with them.
pub fn suite_lines(model: &Model, goals: &[Goal], tests: &[Test]) -> String {
    let mut text = String::new();
    for (number, test) in tests.iter().enumerate() {
        let step = |(step, state)| {
            let last = step + 1 == test.states.len();
            let (given, rest): (Vec<VarId>, Vec<VarId>) =
                model.var_ids().partition(|var| model.var(*var).is_free());
            let is_input = |var: &VarId| model.var(*var).kind == VarKind::Input;
            Step {
                inputs: Part {
                    model,
                    state,
                    vars: given
                        .into_iter()
                        .filter(|var| !(last && is_input(var)))
                        .collect(),
                },
                expected: Part {
                    model,
                    state,
                    vars: rest,
                },
            }
        };
        let line = TestLine {
            test: number + 1,
            model: &model.file,
            goals: test
                .goals
                .iter()
                .map(|goal| goals[*goal].text.as_str())
                .collect(),
            steps: test.states.iter().enumerate().map(step).collect(),
        };
        text.push_str(&serde_json::to_string(&line).unwrap_or_default());
        text.push('\n');
    }
    text
}
