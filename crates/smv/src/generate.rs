//! Finding tests: every goal ends as covered (with a test), infeasible (with the method that proved it) or unknown.

mod auto;
mod board;
mod chase;
pub(crate) mod single;
pub(crate) mod tree;

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value as Json;

use crate::eval::State;
use crate::goal::Goal;
use crate::model::{Model, VarKind};
use crate::value::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Technique {
    /// The cone of influence and a model checker, one goal after the other.
    Monolithic,
    /// Decomposition; children provide the inputs of their parent step by step.
    Strong,
    /// Decomposition; children may take longer where the parent can wait.
    Weak,
    /// Everything together, sharing work among goals. Never loses a goal that `Monolithic` finds.
    Auto,
}

impl Technique {
    pub const ALL: [Self; 4] = [Self::Monolithic, Self::Strong, Self::Weak, Self::Auto];

    pub fn name(self) -> &'static str {
        match self {
            Self::Monolithic => "monolithic",
            Self::Strong => "strong",
            Self::Weak => "weak",
            Self::Auto => "auto",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Options {
    pub technique: Technique,
    /// Seconds for each goal; work shared by several goals may use their sum.
    pub time_per_goal: f64,
    /// Seconds for all goals.
    pub time: Option<f64>,
    /// Engines side by side.
    pub jobs: usize,
    pub seed: u64,
    /// Limit of decision diagram nodes, and so of memory.
    pub nodes: usize,
    /// Limit of the literals in the clauses of one solver, and so of memory.
    pub literals: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            technique: Technique::Auto,
            time_per_goal: 10.0,
            time: None,
            jobs: 2,
            seed: 1,
            nodes: 6_000_000,
            literals: 40_000_000,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    Covered,
    Infeasible,
    Unknown,
}

/// The answer for one goal.
#[derive(Clone, Debug)]
pub struct GoalResult {
    /// Position in the list of goals.
    pub index: usize,
    pub goal: String,
    pub verdict: Verdict,
    /// The engine that found the test or the proof; for an unknown goal, how far the search went.
    pub method: String,
    /// Time since the answer before, so that the sum over all goals is the whole time.
    pub seconds: f64,
    /// The run that covers the goal; only its first `length` states are the test.
    pub run: Option<Arc<Vec<State>>>,
    /// States of the test.
    pub length: Option<usize>,
}

impl GoalResult {
    /// The states of the test.
    pub fn test(&self) -> Option<&[State]> {
        match (&self.run, self.length) {
            (Some(run), Some(length)) => Some(&run[..length]),
            _ => None,
        }
    }

    /// One line of the output: goal, verdict, method, length, seconds, test.
    pub fn to_json<'r>(&'r self, model: &'r Model) -> impl Serialize + 'r {
        let test = self.test().map(|states| {
            let last = states.len() - 1;
            let view = |(step, state)| StateView {
                model,
                state,
                last: step == last,
            };
            states.iter().enumerate().map(view).collect()
        });
        Line {
            goal: &self.goal,
            verdict: self.verdict,
            method: &self.method,
            length: self.length,
            seconds: (self.seconds * 1e6).round() / 1e6,
            test,
        }
    }
}

#[derive(Serialize)]
struct Line<'r> {
    goal: &'r str,
    verdict: Verdict,
    method: &'r str,
    length: Option<usize>,
    seconds: f64,
    test: Option<Vec<StateView<'r>>>,
}

/// A state as an object from names to values, in the order of declaration. The inputs of the last state decide nothing
/// and are left out.
pub(crate) struct StateView<'r> {
    pub model: &'r Model,
    pub state: &'r State,
    pub last: bool,
}

impl Serialize for StateView<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let vars = self
            .model
            .var_ids()
            .filter(|var| !(self.last && self.model.var(*var).kind == VarKind::Input));
        serializer.collect_map(vars.map(|var| {
            (
                &self.model.var(var).name,
                value_json(self.model, self.state[var.index()]),
            )
        }))
    }
}

pub(crate) fn value_json(model: &Model, value: Value) -> Json {
    match value {
        Value::Bool(truth) => Json::Bool(truth),
        Value::Int(number) => Json::from(number),
        Value::Symbol(symbol) => Json::from(model.symbols.name(symbol)),
    }
}

/// How far the work has come.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Progress {
    pub goals: usize,
    pub done: usize,
    pub covered: usize,
    pub infeasible: usize,
    pub unknown: usize,
    pub seconds: f64,
    /// Until the limits are reached; the work may end earlier.
    pub seconds_left: f64,
}

/// What the generator tells while it works.
pub enum Event<'r> {
    Result(&'r GoalResult),
    Progress(Progress),
}

/// The clock and the interruption, which belong to the caller.
#[derive(Clone, Copy)]
pub struct Edge<'a> {
    /// Seconds since some fixed moment.
    pub clock: &'a (dyn Fn() -> f64 + Sync),
    /// Asked often; true ends the work, and what there is is kept.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

/// Answers all goals, in the order in which answers are found; the result is in the order of the goals.
pub fn generate(
    model: &Model,
    goals: &[Goal],
    options: &Options,
    edge: Edge,
    report: &mut dyn FnMut(Event),
) -> Vec<GoalResult> {
    let start = (edge.clock)();
    let most = options.time_per_goal * goals.len() as f64;
    let limit = options.time.map_or(most, |time| time.min(most));
    let (sender, receiver) = std::sync::mpsc::channel();
    let board = board::Board::new(model, goals, options, edge, start + limit, sender);
    let mut results: Vec<Option<GoalResult>> = vec![None; goals.len()];
    std::thread::scope(|scope| {
        let worker = crate::stack::spawn_with_room(scope, || match options.technique {
            Technique::Auto => auto::run(&board),
            Technique::Monolithic => single::run(&board),
            Technique::Strong => tree::run(&board, false),
            Technique::Weak => tree::run(&board, true),
        });
        if worker.is_err() {
            board.give_up("no thread could be started");
        }
        let mut progress = Progress {
            goals: goals.len(),
            done: 0,
            covered: 0,
            infeasible: 0,
            unknown: 0,
            seconds: 0.0,
            seconds_left: limit,
        };
        while progress.done < goals.len() {
            let finished = worker
                .as_ref()
                .map_or(true, std::thread::ScopedJoinHandle::is_finished);
            match receiver.recv_timeout(std::time::Duration::from_millis(100)) {
                Ok(result) => {
                    let result: GoalResult = result;
                    progress.done += 1;
                    match result.verdict {
                        Verdict::Covered => progress.covered += 1,
                        Verdict::Infeasible => progress.infeasible += 1,
                        Verdict::Unknown => progress.unknown += 1,
                    }
                    report(Event::Result(&result));
                    let index = result.index;
                    results[index] = Some(result);
                }
                Err(_) if finished => board.give_up("interrupted"),
                Err(_) => {}
            }
            progress.seconds = (edge.clock)() - start;
            progress.seconds_left = (limit - progress.seconds).max(0.0);
            report(Event::Progress(progress.clone()));
        }
    });
    results.into_iter().flatten().collect()
}
