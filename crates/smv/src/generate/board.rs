//! Where the engines put their answers. A test counts only after the interpreter has replayed it on the whole model,
//! and it discharges every other goal that it happens to cover.

use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashSet;

use super::{Edge, GoalResult, Options, Verdict};
use crate::complete::{Completer, WalkPolicy};
use crate::engine::Budget;
use crate::engine::unroll::Trace;
use crate::eval::{Evaluator, Memo, State};
use crate::expr::VarId;
use crate::goal::Goal;
use crate::model::{Model, VarKind};
use crate::value::Value;

pub(crate) struct Board<'a> {
    pub model: &'a Model,
    pub goals: &'a [Goal],
    pub options: &'a Options,
    pub edge: Edge<'a>,
    /// The moment at which everything ends.
    pub until: f64,
    completer: Completer<'a>,
    state: Mutex<Answers>,
    sender: Sender<GoalResult>,
}

struct Answers {
    open: Vec<bool>,
    last: f64,
    /// Some runs of the whole model, the newest last.
    runs: Vec<Arc<Vec<State>>>,
    /// For every variable, the values that it was seen to have.
    seen: Vec<FxHashSet<Value>>,
    /// States from the walks, and how many there were to choose from.
    samples: Vec<State>,
    walked: usize,
}

/// Variables with more values are not watched one by one.
const MAX_VALUES: u64 = 64;

/// Variables with more values are not watched two by two.
const FEW_VALUES: u64 = 16;
const MAX_PAIRS: usize = 12_000;
const MAX_SAMPLES: usize = 4096;

/// How many runs are kept to start from.
const KEPT_RUNS: usize = 40;

impl<'a> Board<'a> {
    pub fn new(
        model: &'a Model,
        goals: &'a [Goal],
        options: &'a Options,
        edge: Edge<'a>,
        until: f64,
        sender: Sender<GoalResult>,
    ) -> Self {
        Self {
            model,
            goals,
            options,
            edge,
            until,
            completer: Completer::new(model),
            state: Mutex::new(Answers {
                open: vec![true; goals.len()],
                last: (edge.clock)(),
                runs: Vec::new(),
                seen: vec![FxHashSet::default(); model.vars.len()],
                samples: Vec::new(),
                walked: 0,
            }),
            sender,
        }
    }

    pub fn budget(&self) -> Budget<'a> {
        Budget {
            clock: self.edge.clock,
            stop: self.edge.stop,
            until: self.until,
            literals: self.options.literals,
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Answers> {
        // A worker that panicked leaves whole answers behind: they are sent one by one.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn is_open(&self, goal: usize) -> bool {
        self.lock().open[goal]
    }

    pub fn open_goals(&self) -> Vec<usize> {
        self.lock()
            .open
            .iter()
            .enumerate()
            .filter(|(_, open)| **open)
            .map(|(index, _)| index)
            .collect()
    }

    fn answer(
        &self,
        goal: usize,
        verdict: Verdict,
        method: &str,
        run: Option<(Arc<Vec<State>>, usize)>,
    ) {
        let mut state = self.lock();
        if !std::mem::replace(&mut state.open[goal], false) {
            return;
        }
        let now = (self.edge.clock)();
        let seconds = (now - state.last).max(0.0);
        state.last = now;
        let (run, length) = run.unzip();
        // The receiver lives as long as the work.
        let _ = self.sender.send(GoalResult {
            index: goal,
            goal: self.goals[goal].text.clone(),
            verdict,
            method: method.to_owned(),
            seconds,
            run,
            length,
        });
    }

    /// A run over some variables that should reach a goal. False when the whole model cannot follow it.
    pub fn cover(&self, vars: &[VarId], trace: &Trace, goal: usize, method: &str) -> bool {
        let seed = self.options.seed ^ (goal as u64) << 8;
        let Some(run) = self.completer.complete(vars, trace, seed, self.budget()) else {
            return false;
        };
        self.discharge(run, method);
        !self.is_open(goal)
    }

    /// The run of the whole model that a run over some variables can be completed to, checked by the interpreter.
    pub fn complete(&self, vars: &[VarId], trace: &Trace, goal: usize) -> Option<Vec<State>> {
        self.completer.complete(
            vars,
            trace,
            self.options.seed ^ (goal as u64) << 8,
            self.budget(),
        )
    }

    /// A random run of the whole model, by evaluation alone, that moves the given variables.
    pub fn random_walk(
        &self,
        start: Vec<State>,
        steps: usize,
        seed: u64,
        policy: WalkPolicy,
        focus: &[VarId],
        budget: Budget,
    ) -> Option<Vec<State>> {
        let mut inside = vec![false; self.model.vars.len()];
        for var in focus
            .iter()
            .filter(|var| self.model.var(**var).kind != VarKind::Input)
        {
            inside[var.index()] = true;
        }
        self.completer
            .random_walk(start, steps, seed, policy, &inside, budget)
    }

    /// Answers one goal by a run of the whole model that the interpreter has accepted, if it reaches the goal.
    pub fn cover_only(&self, run: Vec<State>, goal: usize, method: &str) -> bool {
        let entry = &self.goals[goal];
        match self.model.first_hit(&run, entry.expr, entry.transition) {
            Some(step) => {
                let length = step + 1 + usize::from(entry.transition);
                self.answer(
                    goal,
                    Verdict::Covered,
                    method,
                    Some((Arc::new(run), length)),
                );
                true
            }
            None => false,
        }
    }

    /// Answers every open goal that a run reaches. The run has been accepted by the interpreter.
    pub fn discharge(&self, run: Vec<State>, method: &str) -> usize {
        let hits = self.hits(&run, 0);
        self.settle(run, &hits, method)
    }

    /// A run that is not checked yet, but for so many states at its beginning. What it reaches counts when the
    /// interpreter accepts it.
    pub fn offer(&self, mut run: Vec<State>, known: usize, method: &str) -> usize {
        let from = known.saturating_sub(1);
        self.see(run.get(from..).unwrap_or_default());
        let hits = self.hits(&run, from);
        let useful = hits.iter().map(|(_, length)| *length).max().unwrap_or(0);
        if useful == 0 && self.some_run(0).is_some() {
            return 0;
        }
        if useful > 0 {
            run.truncate(useful);
        }
        if self.model.check_run(&run).is_err() {
            return 0;
        }
        self.settle(run, &hits, method)
    }

    fn see(&self, run: &[State]) {
        let mut answers = self.lock();
        let answers = &mut *answers;
        for state in run {
            answers.walked += 1;
            if answers.samples.len() < MAX_SAMPLES {
                answers.samples.push(state.clone());
            } else if answers.walked.is_multiple_of(8) {
                // Some of the later ones too: they are from other places.
                answers.samples[answers.walked / 8 % MAX_SAMPLES].clone_from(state);
            }
        }
        for (var, seen) in answers.seen.iter_mut().enumerate() {
            let mut last = None;
            for state in run {
                if last != Some(state[var]) {
                    last = Some(state[var]);
                    seen.insert(state[var]);
                }
            }
        }
    }

    /// Values that no walk has shown: perhaps no run does.
    pub fn unseen(&self, vars: &[VarId]) -> Vec<(VarId, Value)> {
        let answers = self.lock();
        let mut unseen = Vec::new();
        for var in vars {
            let entry = self.model.var(*var);
            if entry.kind == VarKind::Input || entry.domain.len() > MAX_VALUES {
                continue;
            }
            let seen = &answers.seen[var.index()];
            let missing = entry.domain.values().filter(|value| !seen.contains(value));
            unseen.extend(missing.map(|value| (*var, value)));
        }
        unseen
    }

    /// Values of two variables that walks have shown, but never together.
    pub fn distinguishing(&self, vars: &[VarId]) -> Vec<[(VarId, Value); 2]> {
        let answers = self.lock();
        let mut shown: Vec<(VarId, Value, Vec<u64>)> = Vec::new();
        for var in vars {
            let entry = self.model.var(*var);
            if entry.kind == VarKind::Input || entry.domain.len() > FEW_VALUES {
                continue;
            }
            for value in entry.domain.values() {
                let mut moments = vec![0_u64; answers.samples.len().div_ceil(64)];
                for (at, state) in answers.samples.iter().enumerate() {
                    if state[var.index()] == value {
                        moments[at / 64] |= 1 << (at % 64);
                    }
                }
                if moments.iter().any(|word| *word != 0) {
                    shown.push((*var, value, moments));
                }
            }
        }
        let mut pairs = Vec::new();
        for (at, (left, left_value, left_moments)) in shown.iter().enumerate() {
            for (right, right_value, right_moments) in &shown[at + 1..] {
                let together = left_moments
                    .iter()
                    .zip(right_moments)
                    .any(|(a, b)| a & b != 0);
                if left != right && !together {
                    pairs.push([(*left, *left_value), (*right, *right_value)]);
                }
            }
            if pairs.len() > MAX_PAIRS {
                return Vec::new();
            }
        }
        pairs
    }

    /// The open goals that a run reaches from a state on, each with the length of its test.
    fn hits(&self, run: &[State], from: usize) -> Vec<(usize, usize)> {
        let mut open = self.open_goals();
        let mut hits = Vec::new();
        let mut memo = Memo::default();
        for step in from..run.len() {
            if open.is_empty() {
                break;
            }
            let next = run.get(step + 1).map(Vec::as_slice);
            let mut evaluator = Evaluator::new(&self.model.exprs, &run[step], next, &mut memo);
            open.retain(|goal| {
                let entry = &self.goals[*goal];
                if (entry.transition && next.is_none()) || !evaluator.holds(entry.expr) {
                    return true;
                }
                hits.push((*goal, step + 1 + usize::from(entry.transition)));
                false
            });
        }
        hits
    }

    fn settle(&self, run: Vec<State>, hits: &[(usize, usize)], method: &str) -> usize {
        let run = Arc::new(run);
        let mut useful = 0;
        for (goal, length) in hits {
            useful = useful.max(*length);
            self.answer(
                *goal,
                Verdict::Covered,
                method,
                Some((run.clone(), *length)),
            );
        }
        self.keep(&run, useful);
        hits.len()
    }

    /// Remembers a run as a place to start from. New goals are often near the last one found, so what comes after it is
    /// cut off; a run that found nothing is kept only when there is no other.
    fn keep(&self, run: &Arc<Vec<State>>, useful: usize) {
        let mut answers = self.lock();
        if useful == 0 && !answers.runs.is_empty() {
            return;
        }
        if answers.runs.len() >= KEPT_RUNS {
            answers.runs.remove(0);
        }
        answers.runs.push(if useful == 0 || useful == run.len() {
            run.clone()
        } else {
            Arc::new(run[..useful].to_vec())
        });
    }

    /// A known run, picked by a random number; the newest as often as all others.
    pub fn some_run(&self, random: u64) -> Option<Arc<Vec<State>>> {
        let answers = self.lock();
        let count = answers.runs.len();
        if count == 0 {
            return None;
        }
        let pick = if random & 1 == 0 {
            count - 1
        } else {
            usize::try_from((random >> 1) % count as u64).unwrap_or(0)
        };
        Some(answers.runs[pick].clone())
    }

    pub fn infeasible(&self, goal: usize, method: &str) {
        self.answer(goal, Verdict::Infeasible, method, None);
    }

    pub fn unknown(&self, goal: usize, how_far: &str) {
        self.answer(goal, Verdict::Unknown, how_far, None);
    }

    /// Everything that is still open stays unknown: the time for all goals is over, or the work was stopped.
    pub fn close(&self) {
        let stopped = (self.edge.stop)();
        self.give_up(if stopped {
            "interrupted"
        } else {
            "the time for all goals is over"
        });
    }

    /// Everything that is still open stays unknown.
    pub fn give_up(&self, why: &str) {
        for goal in self.open_goals() {
            self.unknown(goal, why);
        }
    }
}
