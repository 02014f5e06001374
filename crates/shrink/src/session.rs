//! One attempt to shrink: the only place that runs candidates, counts, decides what is accepted
//! and remembers the best so far.

use std::cell::{Cell, RefCell};

use ioco_budget::{Exhausted, Resource};
use ioco_sts::{Action, Deviation, DeviationKind, Execution, Semantics, Step, Verdict};
use rustc_hash::FxHashMap;

use crate::options::Options;
use crate::run::{Counted, Runner};
use crate::shrunk::{BugKind, Ended, LeaveOneOut, Milestone};

/// Nodes of a search between two looks at the stop.
const NODES_PER_POLL: u64 = 16;

/// Stimuli of all lists that are remembered as not failing. Beyond it nothing is remembered, and
/// nothing is claimed.
const MAX_REMEMBERED: usize = 1_000_000;

/// How far shrinking has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    pub runs: usize,
    pub stimuli_sent: usize,
    /// The shortest length so far.
    pub length: usize,
}

/// Looks on from outside: shows progress, and stops when a deadline has passed or a person wants
/// it. `()` does neither.
pub trait ShrinkObserver {
    fn progressed(&mut self, _progress: Progress) {}

    /// Asked before every run, and every few nodes of a search.
    fn stop(&mut self) -> bool {
        false
    }
}

impl ShrinkObserver for () {}

/// Shrinking stops here, with the best so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Halt(pub Ended);

/// One candidate, run.
pub(crate) struct Attempt {
    pub execution: Execution,
    /// It failed, in a way that counts.
    pub accepted: bool,
}

pub(crate) struct Session<'a> {
    pub semantics: &'a mut Semantics,
    pub options: &'a Options,
    pub original: &'a Execution,
    pub kind: BugKind,
    pub explanation: Vec<String>,
    pub history: Vec<Milestone>,
    /// The shortest failing execution of the whole session.
    pub best: Execution,
    /// The shortest execution that fails in another way than the one to shrink.
    pub other: Option<Execution>,
    /// The last shrinker has no reason of its own to believe that no single stimulus can go.
    pub ends_with_leave_one_out: bool,
    runner: Counted<'a>,
    /// In a cell, because searches that only read ask for the stop too.
    watch: RefCell<&'a mut dyn ShrinkObserver>,
    /// The nodes of the current search.
    nodes: Cell<u64>,
    /// Lists that were run from a reset and did not fail in a way that counts.
    unaccepted: Lists,
}

impl<'a> Session<'a> {
    pub fn new(
        semantics: &'a mut Semantics,
        original: &'a Execution,
        runner: &'a mut dyn Runner,
        options: &'a Options,
        watch: &'a mut dyn ShrinkObserver,
    ) -> Session<'a> {
        let mut session = Session {
            semantics,
            options,
            original,
            kind: BugKind::Unknown,
            explanation: Vec::new(),
            history: Vec::new(),
            best: original.clone(),
            other: None,
            ends_with_leave_one_out: false,
            runner: Counted::new(runner),
            watch: RefCell::new(watch),
            nodes: Cell::new(0),
            unaccepted: Lists::default(),
        };
        // The prefixes of the failing trace passed when it was found, as far as it shows that.
        if options.interrupted {
            session.remember_silences();
        } else {
            let attempt = Attempt {
                execution: original.clone(),
                accepted: true,
            };
            session.remember(&stimuli_of(original), &attempt);
        }
        session
    }

    pub fn runs(&self) -> usize {
        self.runner.runs()
    }

    pub fn stimuli_sent(&self) -> usize {
        self.runner.stimuli_sent()
    }

    /// How many stimuli a reset costs as much as, on this system.
    pub fn reset_cost(&self) -> usize {
        self.runner.reset_cost()
    }

    /// How many lists can be run at the same time.
    pub fn width(&self) -> usize {
        self.runner.width()
    }

    /// These lists are likely to be run next.
    pub fn begin(&mut self, likely: &[Vec<Action>]) {
        self.runner.begin(likely);
    }

    /// The runs that the budget still allows.
    pub fn runs_left(&self) -> usize {
        let budget = self.options.runs.unwrap_or(usize::MAX);
        budget.saturating_sub(self.runs())
    }

    /// A search begins: its nodes are counted from here.
    pub fn begin_search(&self) {
        self.nodes.set(0);
    }

    /// Counts nodes of a search. It ends when a stop or a deadline comes, and at the limit.
    pub fn expand(&self, nodes: u64) -> Result<(), Halt> {
        let before = self.nodes.get();
        let after = before.saturating_add(nodes);
        self.nodes.set(after);
        self.options
            .budget
            .check(Resource::Steps, after)
            .map_err(limit)?;
        if before / NODES_PER_POLL != after / NODES_PER_POLL {
            self.poll()?;
        }
        Ok(())
    }

    /// An error once a stop or a deadline comes.
    pub fn poll(&self) -> Result<(), Halt> {
        if self.watch.borrow_mut().stop() {
            return Err(Halt(Ended::Interrupted));
        }
        Ok(())
    }

    /// Runs a candidate, several times where the system does not always answer the same.
    pub fn attempt(&mut self, stimuli: &[Action]) -> Result<Attempt, Halt> {
        let mut attempt = self.attempt_once(stimuli)?;
        for _ in 1..self.options.attempts {
            let verdict = &attempt.execution.verdict;
            if !matches!(verdict, Verdict::Pass | Verdict::Inconclusive(_)) {
                break;
            }
            attempt = self.attempt_once(stimuli)?;
        }
        self.remember(stimuli, &attempt);
        Ok(attempt)
    }

    fn attempt_once(&mut self, stimuli: &[Action]) -> Result<Attempt, Halt> {
        if self.runs_left() == 0 {
            return Err(Halt(Ended::Budget));
        }
        self.poll()?;
        let execution = self.runner.run(stimuli);
        if let Verdict::Error(reason) = &execution.verdict {
            return Err(Halt(Ended::AdapterError(reason.text.clone())));
        }
        let accepted = self.accepts(&execution);
        if !accepted && execution.deviation().is_some() {
            self.note_other(&execution);
        }
        if accepted && execution.length() < self.best.length() {
            self.best = execution.clone();
            self.history.push(Milestone {
                runs: self.runs(),
                length: self.best.length(),
            });
        }
        self.watch.borrow_mut().progressed(Progress {
            runs: self.runner.runs(),
            stimuli_sent: self.runner.stimuli_sent(),
            length: self.best.length(),
        });
        Ok(Attempt {
            execution,
            accepted,
        })
    }

    /// The prefixes of the failing trace after which the system fell silent, and the model allowed that.
    fn remember_silences(&mut self) {
        let original = self.original;
        let ended = |deviation: &Deviation| deviation.kind == DeviationKind::Ended;
        // The end of a system is noticed late, and a list counts only with all its attempts.
        if self.options.attempts > 1 || original.deviation().is_some_and(ended) {
            return;
        }
        let mut given = Vec::new();
        for step in &original.trace {
            match step {
                Step::Stimulus(action) => given.push(action.clone()),
                Step::Quiescence => self.unaccepted.insert(&given),
                Step::Response(_) => {}
            }
        }
        // The whole list fails, whatever silences came before its end.
        self.unaccepted.remove(&given);
    }

    /// What did not fail. A run shows as much of every prefix of its list: after each stimulus it takes in
    /// what the system answers.
    fn remember(&mut self, stimuli: &[Action], attempt: &Attempt) {
        if !attempt.accepted {
            self.unaccepted.insert(stimuli);
        }
        // Where the system does not always answer the same, a list counts only with all its attempts.
        if self.options.attempts <= 1 {
            let done = stimuli_of(&attempt.execution);
            let passed = match attempt.execution.deviation() {
                None => done.len(),
                // The end of a system is noticed late: it may have come before the last stimuli were given.
                Some(deviation) if deviation.kind == DeviationKind::Ended => 0,
                Some(_) => done.len().saturating_sub(1),
            };
            self.unaccepted.insert_prefixes(&done[..passed]);
        }
    }

    /// Whether every stimulus of an execution was left out once, alone, and the rest did not fail in a way that
    /// counts.
    pub fn left_out_each(&self, execution: &Execution) -> Option<LeaveOneOut> {
        let stimuli = stimuli_of(execution);
        let was_tried = |position: usize| self.unaccepted.contains(&without(&stimuli, position));
        (0..stimuli.len()).all(was_tried).then_some(LeaveOneOut {
            stimuli: stimuli.len(),
        })
    }

    /// Whether this list was run, and did not fail in a way that counts.
    pub fn was_tried(&self, stimuli: &[Action]) -> bool {
        self.unaccepted.contains(stimuli)
    }

    /// A list that the model does not allow, whatever the system answers: it needs no run.
    pub fn refuse(&mut self, stimuli: &[Action]) {
        self.unaccepted.insert(stimuli);
    }

    /// Another failure than the one to shrink: the shortest is offered as a finding of its own.
    fn note_other(&mut self, execution: &Execution) {
        let known = self.other.as_ref().map_or(usize::MAX, Execution::length);
        if execution.length() < known {
            self.other = Some(execution.clone());
        }
    }

    /// The acceptance gate: any failure, or only the same one. A system that ends does not stand
    /// for a failure, nor the other way round.
    pub fn accepts(&self, execution: &Execution) -> bool {
        let ended = |deviation: &Deviation| deviation.kind == DeviationKind::Ended;
        match (execution.deviation(), self.original.deviation()) {
            (Some(found), Some(wanted)) if ended(found) == ended(wanted) => {
                !self.options.same || found.is_like(wanted)
            }
            _ => false,
        }
    }

    /// Runs the final trace again, outside the counting.
    pub fn confirm(&mut self, stimuli: &[Action]) -> Execution {
        self.runner.run(stimuli)
    }
}

/// Lists of stimuli, as a tree.
struct Lists {
    nodes: Vec<(FxHashMap<Action, usize>, bool)>,
}

impl Default for Lists {
    fn default() -> Lists {
        Lists {
            nodes: vec![(FxHashMap::default(), false)],
        }
    }
}

impl Lists {
    fn insert(&mut self, list: &[Action]) {
        if let Some(end) = self.walk(list, |_| {}) {
            self.nodes[end].1 = true;
        }
    }

    fn insert_prefixes(&mut self, list: &[Action]) {
        self.walk(list, |is_in| *is_in = true);
    }

    /// Goes along a list, and makes the way where there is none. `None` when there is no more room.
    fn walk(&mut self, list: &[Action], visit: impl Fn(&mut bool)) -> Option<usize> {
        let mut at = 0;
        visit(&mut self.nodes[0].1);
        for action in list {
            let fresh = self.nodes.len();
            at = match self.nodes[at].0.get(action) {
                Some(next) => *next,
                None if fresh > MAX_REMEMBERED => return None,
                None => {
                    self.nodes[at].0.insert(action.clone(), fresh);
                    self.nodes.push((FxHashMap::default(), false));
                    fresh
                }
            };
            visit(&mut self.nodes[at].1);
        }
        Some(at)
    }

    fn contains(&self, list: &[Action]) -> bool {
        self.find(list).is_some_and(|at| self.nodes[at].1)
    }

    fn remove(&mut self, list: &[Action]) {
        if let Some(at) = self.find(list) {
            self.nodes[at].1 = false;
        }
    }

    fn find(&self, list: &[Action]) -> Option<usize> {
        let mut at = 0;
        for action in list {
            at = *self.nodes[at].0.get(action)?;
        }
        Some(at)
    }
}

/// The shortest failing execution that one shrinker has seen, its starting point included.
pub(crate) struct Shortest(pub Execution);

impl Shortest {
    pub fn offer(&mut self, attempt: &Attempt) {
        if attempt.accepted && attempt.execution.length() < self.0.length() {
            self.0 = attempt.execution.clone();
        }
    }
}

/// The stimuli of an execution.
pub(crate) fn stimuli_of(execution: &Execution) -> Vec<Action> {
    execution.stimuli().cloned().collect()
}

/// A list without one of its stimuli.
pub(crate) fn without(stimuli: &[Action], position: usize) -> Vec<Action> {
    let mut rest = stimuli.to_vec();
    rest.remove(position);
    rest
}

/// A search came to its limit.
pub(crate) fn limit(exhausted: Exhausted) -> Halt {
    Halt(Ended::Limit(exhausted.to_string()))
}
