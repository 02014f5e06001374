//! Is there really no shorter failing trace? Every list of stimuli that the model allows and that
//! could fail sooner is run, shortest first, so that a budget that runs out still leaves a claim.
//!
//! Where the model leaves the answer to the system, only a run shows it: so the search goes along what
//! runs have shown, not along what the model expects. Each list is made as long as could matter before
//! it is run: the run then also settles all its prefixes.

use std::collections::BTreeMap;

use ioco_sts::{Action, Execution, Semantics, SetId, Step, Verdict};
use rustc_hash::FxHashMap;

use crate::graph::{Graph, Nodes};
use crate::leave_one_out::MAX_ANSWERS;
use crate::session::{Halt, Session};
use crate::shrunk::Proof;
use crate::walk::Walk;

/// A list of stimuli that was run, and what its run showed.
struct Listed {
    next: FxHashMap<Action, usize>,
    shown: Option<Observed>,
}

struct Observed {
    /// What the system answered to the last stimulus.
    answers: Vec<Step>,
    /// Where the next stimulus is given.
    set: SetId,
}

/// All lists that were run, as a tree over stimuli.
struct Lists {
    nodes: Vec<Listed>,
    /// Lists whose stimuli have not been looked at yet, by their steps.
    open: BTreeMap<usize, Vec<(usize, Vec<Action>)>>,
    /// Something about the runs that weakens the claim.
    reservation: Option<&'static str>,
}

const NOT_THE_SAME: &str = "the system does not always answer the same";
const UNDECIDED: &str = "some runs had no verdict";
const NOT_TRIED: &str = "only the values of the trace, boundaries and one choice of the solver were \
                         tried";
const NO_RACES: &str =
    "stimuli were only given when the system was silent, and the model allows them sooner";

/// Looks for something shorter than `best`, which is replaced where it is found. What was shown until a
/// limit was reached is a claim too.
pub(crate) fn prove(session: &mut Session<'_>, best: &mut Execution) -> (Proof, Result<(), Halt>) {
    let (runs, sent) = (session.runs(), session.stimuli_sent());
    let mut proof = Proof {
        no_failure_below: 0,
        shortest: false,
        same: session.options.same,
        runs: 0,
        stimuli_sent: 0,
        remark: None,
    };
    let mut lists = Lists {
        nodes: vec![Listed::new()],
        open: BTreeMap::new(),
        reservation: None,
    };
    let halted = lists.search(session, best, &mut proof);
    proof.runs = session.runs() - runs;
    proof.stimuli_sent = session.stimuli_sent() - sent;
    proof.no_failure_below = proof.no_failure_below.min(best.length());
    let reservation = match lists.reservation {
        None if !session.semantics.sts().is_plain() => Some(NOT_TRIED),
        None if session.options.attempts > 1 => Some(NOT_THE_SAME),
        reservation => reservation,
    };
    if proof.remark.is_none() {
        proof.remark = reservation.map(str::to_owned);
    }
    proof.shortest =
        halted.is_ok() && proof.remark.is_none() && proof.no_failure_below == best.length();
    (proof, halted)
}

impl Listed {
    fn new() -> Listed {
        Listed {
            next: FxHashMap::default(),
            shown: None,
        }
    }
}

impl Lists {
    fn search(
        &mut self,
        session: &mut Session<'_>,
        best: &mut Execution,
        proof: &mut Proof,
    ) -> Result<(), Halt> {
        session.begin_search();
        let first_run = session.runs();
        let mut graph = Graph::new(Nodes::Sets, &session.original.trace, session.options);
        self.record(session, session.original, None)?;
        if self.nodes[0].shown.is_none() {
            // It failed before the first stimulus: nothing is shorter than nothing given.
            proof.no_failure_below = best.length();
        }
        while let Some(mut entry) = self.open.first_entry() {
            let steps = *entry.key();
            // A list of n steps can fail with its next stimulus, at length n + 1 or more.
            proof.no_failure_below = steps + 1;
            if steps + 1 >= best.length() {
                break;
            }
            let Some((node, list)) = entry.get_mut().pop() else {
                entry.remove();
                continue;
            };
            let Some(set) = self.nodes[node].shown.as_ref().map(|shown| shown.set) else {
                continue;
            };
            for action in stimuli(session.semantics, &mut graph, set) {
                session.expand(1)?;
                if self.nodes[node].next.contains_key(&action) {
                    continue;
                }
                if session.runs() - first_run >= session.options.prove_runs {
                    proof.remark = Some("the runs for the proof were used up".to_owned());
                    return Ok(());
                }
                let mut long = list.clone();
                long.push(action.clone());
                prolong(session, &mut graph, set, steps, &mut long, best.length())?;
                let attempt = session.attempt(&long)?;
                let given = attempt.execution.stimuli().count();
                self.record(session, &attempt.execution, Some(&long))?;
                if attempt.accepted && attempt.execution.length() < best.length() {
                    *best = attempt.execution;
                }
                // The system took another way before it came here.
                if given < list.len() {
                    self.reservation.get_or_insert(NOT_THE_SAME);
                }
            }
        }
        proof.no_failure_below = best.length();
        Ok(())
    }

    /// Adds what a run has shown. `wanted` is the list that was to be run.
    fn record(
        &mut self,
        session: &mut Session<'_>,
        execution: &Execution,
        wanted: Option<&[Action]>,
    ) -> Result<(), Halt> {
        let Ok(walk) = Walk::of(session.semantics, execution) else {
            self.reservation.get_or_insert(UNDECIDED);
            return Ok(());
        };
        let positions = walk.stimulus_positions();
        let mut node = 0;
        let mut list: Vec<Action> = Vec::new();
        for index in 0..=positions.len() {
            let from = match index {
                0 => 0,
                _ => positions[index - 1] + 1,
            };
            let to = positions.get(index).copied().unwrap_or(walk.steps.len());
            let is_last = index == positions.len();
            let was_given = is_last
                .then(|| wanted.and_then(|w| w.get(list.len())))
                .flatten();
            self.note_races(session.semantics, &walk.sets[from..=to]);
            if !is_last || self.is_settled(session.semantics, execution, &walk, was_given) {
                let answers = walk.steps[from..to].to_vec();
                // Nothing waits for a silence that is certain.
                let waits = !session.semantics.menu(walk.loud[to]).responses.is_empty();
                let set = if waits { walk.sets[to] } else { walk.loud[to] };
                self.show(session, node, &list, answers, to, set)?;
            }
            if let Some(position) = positions.get(index)
                && let Step::Stimulus(action) = &walk.steps[*position]
            {
                let fresh = self.nodes.len();
                node = *self.nodes[node].next.entry(action.clone()).or_insert(fresh);
                if node == fresh {
                    session.expand(1)?;
                    self.nodes.push(Listed::new());
                }
                list.push(action.clone());
            }
        }
        Ok(())
    }

    /// Whether the system had fallen silent at the end of a run, as it should: the list passed, or the
    /// model refused what was to be given next.
    fn is_settled(
        &mut self,
        semantics: &mut Semantics,
        execution: &Execution,
        walk: &Walk,
        next: Option<&Action>,
    ) -> bool {
        let end = walk.sets[walk.sets.len() - 1];
        let is_refused = next.is_some_and(|action| !semantics.accepts(end, action));
        match &execution.verdict {
            Verdict::Pass => true,
            Verdict::Inconclusive(_) if is_refused => true,
            Verdict::Fail(_) | Verdict::Ended(_) => false,
            Verdict::Inconclusive(_) | Verdict::Error(_) => {
                self.reservation.get_or_insert(UNDECIDED);
                false
            }
        }
    }

    /// Stimuli that the model allows while a response may still come are never given.
    fn note_races(&mut self, semantics: &mut Semantics, sets: &[SetId]) {
        for set in sets {
            let menu = semantics.menu(*set);
            if !menu.stimuli.is_empty() && !menu.responses.is_empty() {
                self.reservation.get_or_insert(NO_RACES);
            }
        }
    }

    fn show(
        &mut self,
        session: &mut Session<'_>,
        node: usize,
        list: &[Action],
        answers: Vec<Step>,
        steps: usize,
        set: SetId,
    ) -> Result<(), Halt> {
        match &self.nodes[node].shown {
            Some(shown) if shown.answers != answers => {
                self.reservation.get_or_insert(NOT_THE_SAME);
            }
            Some(_) => {}
            None => {
                session.expand(list.len() as u64 / 16)?;
                self.nodes[node].shown = Some(Observed { answers, set });
                let open = self.open.entry(steps).or_default();
                open.push((node, list.to_vec()));
            }
        }
        Ok(())
    }
}

/// The stimuli that may be given here, in the order of the model text.
fn stimuli(semantics: &mut Semantics, graph: &mut Graph, set: SetId) -> Vec<Action> {
    let edges = graph.edges(semantics, set);
    let given = edges.iter().filter_map(|edge| match &edge.step {
        Step::Stimulus(action) => Some(action.clone()),
        _ => None,
    });
    given.collect()
}

/// Adds first choices, by what the model expects, until the list is as long as could matter.
fn prolong(
    session: &mut Session<'_>,
    graph: &mut Graph,
    set: SetId,
    steps: usize,
    long: &mut Vec<Action>,
    length: usize,
) -> Result<(), Halt> {
    let (mut set, mut steps) = (set, steps);
    while let Some(last) = long.last().cloned() {
        session.expand(1)?;
        let semantics = &mut *session.semantics;
        let Some(given) = semantics.after(set, &Step::Stimulus(last)) else {
            return Ok(());
        };
        let Some((silent, answers)) = expected(semantics, graph, given) else {
            return Ok(());
        };
        (set, steps) = (silent, steps + 1 + answers);
        if steps + 1 >= length {
            return Ok(());
        }
        match stimuli(semantics, graph, set).into_iter().next() {
            Some(next) => long.push(next),
            None => return Ok(()),
        }
    }
    Ok(())
}

/// Where the first responses that the model allows lead, and how many there are.
fn expected(
    semantics: &mut Semantics,
    graph: &mut Graph,
    mut set: SetId,
) -> Option<(SetId, usize)> {
    for answers in 0..=MAX_ANSWERS {
        if let Some(silent) = semantics.after(set, &Step::Quiescence) {
            return Some((silent, answers));
        }
        let edges = graph.edges(semantics, set);
        let response = edges.iter().find(|e| matches!(e.step, Step::Response(_)))?;
        set = response.target;
    }
    None
}
