//! Where the engines put their answers. A test counts only after the interpreter has replayed it on the whole model,
//! and it discharges every other goal that it happens to cover.

use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Edge, GoalResult, Options, Verdict};
use crate::complete::{Completer, Gait};
use crate::engine::Budget;
use crate::engine::unroll::Trace;
use crate::eval::{Evaluator, State};
use crate::expr::VarId;
use crate::goal::Goal;
use crate::model::{Model, VarKind};

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
}

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
            }),
            sender,
        }
    }

    pub fn budget(&self) -> Budget<'a> {
        Budget {
            clock: self.edge.clock,
            stop: self.edge.stop,
            until: self.until,
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
    pub fn stroll(
        &self,
        start: Vec<State>,
        steps: usize,
        seed: u64,
        gait: Gait,
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
            .stroll(start, steps, seed, gait, &inside, budget)
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
        let mut open = self.open_goals();
        let run = Arc::new(run);
        let mut found = 0;
        let mut useful = 0;
        for step in 0..run.len() {
            if open.is_empty() {
                break;
            }
            let next = run.get(step + 1).map(Vec::as_slice);
            let mut evaluator = Evaluator::new(&self.model.exprs, &run[step], next);
            let mut hit = Vec::new();
            open.retain(|goal| {
                let entry = &self.goals[*goal];
                if (entry.transition && next.is_none()) || !evaluator.holds(entry.expr) {
                    return true;
                }
                hit.push((*goal, step + 1 + usize::from(entry.transition)));
                false
            });
            for (goal, length) in hit {
                found += 1;
                useful = useful.max(length);
                self.answer(goal, Verdict::Covered, method, Some((run.clone(), length)));
            }
        }
        self.keep(&run, useful);
        found
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

    /// Replays a run of the whole model that nobody has checked yet, and discharges what it covers.
    pub fn offer(&self, run: Vec<State>, method: &str) -> usize {
        if run.is_empty() || self.model.check_run(&run).is_err() {
            return 0;
        }
        self.discharge(run, method)
    }

    pub fn infeasible(&self, goal: usize, method: &str) {
        self.answer(goal, Verdict::Infeasible, method, None);
    }

    pub fn unknown(&self, goal: usize, how_far: &str) {
        self.answer(goal, Verdict::Unknown, how_far, None);
    }

    /// Everything that is still open stays unknown.
    pub fn give_up(&self, why: &str) {
        for goal in self.open_goals() {
            self.unknown(goal, why);
        }
    }
}
