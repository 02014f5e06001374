//! What may fail, and be shorter than what is known to fail.

use std::cell::RefCell;

use ioco_sts::{Action, LabelId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::observations::{Observations, Place};
use super::routes::{NodeId, Routes};
use super::trail::Trail;
use crate::session::{Halt, Session};

/// What made the system and the model part, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    Unknown,
    /// The last stimulus, in the state it was given in.
    State,
    /// The stimulus at this position of the failing list.
    Stimulus(usize),
}

/// A list of stimuli from the initial state that is worth a run.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub stimuli: Vec<Action>,
    /// The length of the failing execution if it fails at its end.
    pub predicted: usize,
    pub cause: Cause,
    /// Where the model is at the end, if it passes.
    pub end: NodeId,
    assumptions: Assumptions,
}

impl Candidate {
    /// A list that nothing has to be assumed for.
    pub fn new(stimuli: Vec<Action>, predicted: usize, cause: Cause, end: NodeId) -> Candidate {
        Candidate {
            stimuli,
            predicted,
            cause,
            end,
            assumptions: 0,
        }
    }
}

/// How much has to be assumed for a candidate to be right. Those with few assumptions are tried
/// first, and short ones of them.
type Assumptions = u32;

/// A step of the trail that is left out may matter.
const LEFT_OUT: Assumptions = 1;
/// The failing stimulus may be fine in another state.
const OTHER_STATE: Assumptions = 1;
/// A stimulus that does something else in the other state, as the model has it.
const OTHER_EFFECT: Assumptions = 1;
/// The failure may not show as a response that does not come.
const OTHER_REVEAL: Assumptions = 1;
/// A transition that no run has seen pass, but that no run has seen fail either.
const UNSEEN: Assumptions = 1;
/// A stimulus that is not known to be the cause.
const OTHER_CAUSE: Assumptions = 2;
/// A stimulus that needs no response may get one.
const UNASKED_RESPONSE: Assumptions = 3;

/// Stimuli of the trail that are suspected before longer parts of it are.
const MAX_RECENT: usize = 6;

/// Candidates that differ only in labels of the same families.
const MAX_ALIKE: usize = 3;

/// At most so many candidates make a round.
const MAX_SUSPICIONS: usize = 60;

/// With more assumptions than this a candidate is worth some stimuli, but not another run.
const LIKELY: Assumptions = 1;

/// Leaves out unlikely candidates for which so many stimuli leave no room.
pub(super) fn keep_likely(candidates: &mut Vec<Candidate>, mut stimuli: usize) {
    candidates.retain(|candidate| {
        let fits = candidate.stimuli.len() <= stimuli;
        stimuli = stimuli.saturating_sub(candidate.stimuli.len());
        fits || candidate.assumptions <= LIKELY
    });
}

/// Collects candidates for one trail.
struct Collector<'r, 'a> {
    routes: &'r Routes,
    session: &'r Session<'a>,
    /// Set once the search has to stop: then nothing more is found.
    halted: RefCell<Option<Halt>>,
    /// Only what is shorter than this.
    length: usize,
    found: Vec<Candidate>,
    /// Where in `found` a list is.
    known: FxHashMap<Vec<Action>, usize>,
    /// Transitions that fail whenever they are taken: nothing new lies behind them.
    failing: FxHashSet<Place>,
    /// Per label, its family.
    families: &'r [u32],
}

/// A list of stimuli in the making.
#[derive(Clone)]
struct Draft {
    stimuli: Vec<Action>,
    steps: usize,
    node: NodeId,
}

impl<'r, 'a> Collector<'r, 'a> {
    fn new(
        routes: &'r Routes,
        session: &'r Session<'a>,
        families: &'r [u32],
        length: usize,
    ) -> Collector<'r, 'a> {
        session.begin_search();
        Collector {
            routes,
            session,
            halted: RefCell::new(None),
            length,
            found: Vec::new(),
            known: FxHashMap::default(),
            failing: FxHashSet::default(),
            families,
        }
    }

    /// Counts one node; whether to go on.
    fn goes_on(&self) -> bool {
        let mut halted = self.halted.borrow_mut();
        if halted.is_none() {
            *halted = self.session.expand(1).err();
        }
        halted.is_none()
    }

    fn way_to(&self, node: NodeId) -> Draft {
        Draft {
            stimuli: self.routes.way_to(node),
            steps: self.routes.distance(node),
            node,
        }
    }

    /// The shortest way, and those equally short ones that arrive by a stimulus of the trail: the
    /// order of stimuli may matter to the system where it does not to the model.
    fn ways_to(&self, node: NodeId, trail: &Trail) -> Vec<Draft> {
        let mut ways = vec![self.way_to(node)];
        for (before, action) in self.routes.arrivals(node) {
            if !trail.stimuli.iter().any(|known| known == action) {
                continue;
            }
            if let Some(draft) = self.give(self.way_to(before), action)
                && draft.steps == self.routes.distance(node)
                && draft.stimuli != ways[0].stimuli
            {
                ways.push(draft);
            }
        }
        ways
    }

    fn give(&self, mut draft: Draft, action: &Action) -> Option<Draft> {
        if !self.goes_on() {
            return None;
        }
        let place = (self.routes.set(draft.node), action.clone());
        if self.failing.contains(&place) {
            return None;
        }
        let effect = self.routes.effect(draft.node, action)?;
        draft.stimuli.push(action.clone());
        draft.steps += 1 + effect.responses;
        draft.node = effect.target;
        Some(draft)
    }

    /// `draft` and then the shortest way to a node, if it is worth going there.
    fn go(&self, draft: &Draft, node: NodeId) -> Option<Draft> {
        let limit = self.length.saturating_sub(draft.steps);
        let goes_on = || self.goes_on();
        let (stimuli, steps) = self.routes.way_between(draft.node, node, limit, goes_on)?;
        let mut there = draft.clone();
        there.stimuli.extend(stimuli);
        there.steps += steps;
        there.node = node;
        Some(there)
    }

    /// `draft` and then a last stimulus that fails with `tail` steps.
    fn suspect(
        &mut self,
        draft: &Draft,
        last: &Action,
        tail: usize,
        cause: Cause,
        assumptions: Assumptions,
    ) {
        let predicted = draft.steps + tail;
        if predicted >= self.length {
            return;
        }
        let Some(given) = self.give(draft.clone(), last) else {
            return;
        };
        let fresh = self.found.len();
        let index = *self.known.entry(given.stimuli.clone()).or_insert(fresh);
        if index < fresh {
            // The same list for a better reason.
            let known = &mut self.found[index];
            if assumptions < known.assumptions {
                (known.assumptions, known.cause) = (assumptions, cause);
            }
            return;
        }
        self.found.push(Candidate {
            stimuli: given.stimuli,
            predicted,
            cause,
            end: given.node,
            assumptions,
        });
    }

    /// Whether runs have shown that what the candidate takes for the cause does no harm, from the same state on.
    fn is_refuted(&self, seen: &Observations, candidate: &Candidate) -> bool {
        let since = match candidate.cause {
            Cause::State => candidate.stimuli.len() - 1,
            Cause::Stimulus(position) => position,
            Cause::Unknown => 0,
        };
        let mut node = NodeId(0);
        let mut places = Vec::with_capacity(candidate.stimuli.len());
        for action in &candidate.stimuli {
            places.push((self.routes.set(node), action.clone()));
            match self.routes.effect(node, action) {
                Some(effect) => node = effect.target,
                None => return false,
            }
        }
        seen.passed_in_a_row(&places[since..])
    }

    /// The candidates, without those that are too much alike.
    fn finish(self, max: usize) -> Result<Vec<Candidate>, Halt> {
        // A search that came to its limit leaves what it found.
        if self.halted.into_inner().is_some() {
            self.session.poll()?;
        }
        let families = self.families;
        let mut kinds: FxHashMap<Vec<(u32, Vec<Value>)>, usize> = FxHashMap::default();
        let mut found = self.found;
        found.retain(|candidate| {
            let stimuli = candidate.stimuli.iter();
            let kind = stimuli.map(|a| (families[a.label.index()], a.values.clone()));
            let alike = kinds.entry(kind.collect()).or_insert(0);
            *alike += 1;
            *alike <= MAX_ALIKE
        });
        found.truncate(max);
        Ok(found)
    }

    /// The stimulus at `at` that does what `action` does at `from`: the same one, or one of the same
    /// family with the same effect, since flat models have a label of its own for each state.
    fn analog(&self, action: &Action, from: NodeId, at: NodeId) -> Option<Action> {
        let routes = self.routes;
        if routes.effect(at, action).is_some() {
            return Some(action.clone());
        }
        let same_label = routes.stimuli(at).find(|a| a.label == action.label);
        if let Some(same) = same_label {
            return Some(same.clone());
        }
        let shape = shape(routes, from, action)?;
        routes
            .stimuli(at)
            .filter(|a| self.families[a.label.index()] == self.families[action.label.index()])
            .filter(|a| routes.effect(from, a).is_none())
            .find(|a| self::shape(routes, at, a) == Some(shape))
            .cloned()
    }

    fn shape_differs(&self, action: &Action, from: NodeId, other: &Action, at: NodeId) -> bool {
        shape(self.routes, from, action) != shape(self.routes, at, other)
    }
}

/// Whether a stimulus takes the place of another one that only the other node offers: the same label with
/// other values, or one of the same family that does the same.
pub(super) fn is_alike(
    routes: &Routes,
    families: &[u32],
    (action, from): (&Action, NodeId),
    (other, at): (&Action, NodeId),
) -> bool {
    let family = |action: &Action| families.get(action.label.index());
    other.label == action.label
        || family(other) == family(action)
            && routes.effect(from, other).is_none()
            && shape(routes, from, action) == shape(routes, at, other)
}

/// How many responses, and whether the state stays the same.
fn shape(routes: &Routes, node: NodeId, action: &Action) -> Option<(usize, bool)> {
    let effect = routes.effect(node, action)?;
    Some((effect.responses, effect.target == node))
}

/// The failing state alone, and then each stimulus of the trail as the one that matters, the
/// latest first; of those with the same label and the same answer the latest, the others behind.
pub(super) fn causes(
    routes: &Routes,
    session: &Session<'_>,
    seen: &Observations,
    trail: &Trail,
    labels: &[u32],
) -> Result<Vec<Candidate>, Halt> {
    let mut collector = Collector::new(routes, session, labels, trail.length);
    let last = trail.last();
    let (failing, reveal) = (trail.nodes[last], &trail.stimuli[last]);
    let direct = collector.way_to(failing);
    collector.suspect(&direct, reveal, trail.tail, Cause::State, 0);
    let mut kinds = FxHashSet::default();
    let mut transitions = FxHashSet::default();
    let (mut first, mut later) = (Vec::new(), Vec::new());
    for position in (0..last).rev() {
        let (node, action) = (trail.nodes[position], &trail.stimuli[position]);
        let Some(effect) = routes.effect(node, action) else {
            continue;
        };
        let is_new = transitions.insert((node, action.clone()));
        let kind = (action, families(&effect.answers, labels));
        // What is done again, and what changes nothing in the model, is suspected later.
        if effect.target != node && kinds.insert(kind) {
            first.push(position);
        } else if is_new {
            later.push(position);
        }
    }
    let recent = first.len().min(MAX_RECENT);
    for &position in &first[..recent] {
        suspect_cause(&mut collector, trail, &[position], 0);
    }
    for length in [2, 3, 4, 8, 16, 32] {
        if length <= last {
            suspect_suffix(&mut collector, trail, last + 1 - length);
        }
    }
    for &position in first[recent..].iter().chain(&later) {
        suspect_cause(&mut collector, trail, &[position], 0);
    }
    // Two things together, or one thing twice.
    let pool: Vec<usize> = later
        .iter()
        .chain(&first)
        .copied()
        .take(MAX_RECENT)
        .collect();
    for &one in &pool {
        suspect_cause(&mut collector, trail, &[one, one], 0);
    }
    for &one in &pool {
        for &other in pool.iter().filter(|other| **other > one) {
            suspect_cause(&mut collector, trail, &[one, other], 0);
        }
    }
    // What did no harm before may still do so the third time.
    let mut found = std::mem::take(&mut collector.found);
    found.sort_by_cached_key(|candidate| collector.is_refuted(seen, candidate));
    collector.found = found;
    collector.finish(2 * MAX_SUSPICIONS)
}

fn families(answers: &[LabelId], labels: &[u32]) -> Vec<u32> {
    answers.iter().map(|label| labels[label.index()]).collect()
}

/// The shortest way to where a stimulus was given, the stimulus, and what showed the failure: at
/// once, or in the failing state.
fn suspect_cause(
    collector: &mut Collector<'_, '_>,
    trail: &Trail,
    positions: &[usize],
    assumptions: Assumptions,
) {
    let last = trail.last();
    let (failing, reveal) = (trail.nodes[last], &trail.stimuli[last]);
    let mut draft = collector.way_to(trail.nodes[positions[0]]);
    let cause = Cause::Stimulus(draft.stimuli.len());
    for &position in positions {
        let there = collector.go(&draft, trail.nodes[position]);
        let Some(given) = there.and_then(|d| collector.give(d, &trail.stimuli[position])) else {
            return;
        };
        draft = given;
    }
    if let Some(reveal) = collector.analog(reveal, failing, draft.node) {
        collector.suspect(&draft, &reveal, trail.tail, cause, assumptions);
    }
    if let Some(there) = collector.go(&draft, failing) {
        collector.suspect(&there, reveal, trail.tail, cause, assumptions);
    }
}

/// The shortest way to where a stimulus was given, and everything from there on.
fn suspect_suffix(collector: &mut Collector<'_, '_>, trail: &Trail, position: usize) {
    let last = trail.last();
    let mut draft = collector.way_to(trail.nodes[position]);
    let cause = match last - position {
        1 => Cause::Stimulus(draft.stimuli.len()),
        _ => Cause::Unknown,
    };
    for action in &trail.stimuli[position..last] {
        match collector.give(draft, action) {
            Some(next) => draft = next,
            None => return,
        }
    }
    collector.suspect(&draft, &trail.stimuli[last], trail.tail, cause, 0);
}

/// What is like the failing trail, and shorter.
pub(super) fn analogies(
    routes: &Routes,
    session: &Session<'_>,
    seen: &Observations,
    trail: &Trail,
    cause: Cause,
    labels: &[u32],
) -> Result<Vec<Candidate>, Halt> {
    let mut collector = Collector::new(routes, session, labels, trail.length);
    if cause == Cause::State {
        collector.failing = seen.failing().clone();
    }
    let settled = routes.settled();
    elsewhere(&mut collector, seen, trail, &settled, cause);
    for position in 0..trail.last() {
        let is_cause = cause == Cause::Stimulus(position);
        let assumptions = if is_cause { 0 } else { OTHER_CAUSE };
        cause_elsewhere(&mut collector, trail, position, &settled, assumptions);
    }
    without_one(&mut collector, trail);
    for position in 0..trail.last() {
        suspect_cause(&mut collector, trail, &[position], LEFT_OUT);
    }
    unseen(&mut collector, seen, trail, &settled, labels);
    let mut found = std::mem::take(&mut collector.found);
    found.retain(|candidate| !collector.is_refuted(seen, candidate));
    found.sort_by_key(|s| (s.assumptions, s.predicted));
    collector.found = found;
    collector.finish(MAX_SUSPICIONS)
}

/// The last stimulus in a nearer state.
fn elsewhere(
    collector: &mut Collector<'_, '_>,
    seen: &Observations,
    trail: &Trail,
    settled: &[NodeId],
    cause: Cause,
) {
    let last = trail.last();
    let (failing, reveal) = (trail.nodes[last], &trail.stimuli[last]);
    for &node in settled {
        if collector.routes.distance(node) + trail.tail >= trail.length {
            break;
        }
        let Some(analog) = collector.analog(reveal, failing, node) else {
            continue;
        };
        if seen.passed(&(collector.routes.set(node), analog.clone())) {
            continue;
        }
        let mut assumptions = OTHER_STATE;
        if cause != Cause::State {
            assumptions += OTHER_CAUSE;
        }
        if collector.shape_differs(reveal, failing, &analog, node) {
            assumptions += OTHER_EFFECT;
        }
        for draft in collector.ways_to(node, trail) {
            collector.suspect(&draft, &analog, trail.tail, Cause::State, assumptions);
        }
    }
}

/// The cause in a nearer state, and what would show it there.
fn cause_elsewhere(
    collector: &mut Collector<'_, '_>,
    trail: &Trail,
    position: usize,
    settled: &[NodeId],
    assumptions: Assumptions,
) {
    let (from, action) = (trail.nodes[position], &trail.stimuli[position]);
    for &node in settled {
        if collector.routes.distance(node) + 2 >= trail.length {
            break;
        }
        let Some(analog) = collector.analog(action, from, node) else {
            continue;
        };
        let differs = collector.shape_differs(action, from, &analog, node);
        let assumptions = assumptions + if differs { OTHER_EFFECT } else { 0 };
        let before = collector.way_to(node);
        let cause = Cause::Stimulus(before.stimuli.len());
        if let Some(draft) = collector.give(before, &analog) {
            reveals(collector, trail, position, &draft, cause, assumptions);
        }
    }
}

/// What follows a cause: the same as in the trail, only the last of it, or anything that would show
/// the failure sooner.
fn reveals(
    collector: &mut Collector<'_, '_>,
    trail: &Trail,
    position: usize,
    draft: &Draft,
    cause: Cause,
    assumptions: Assumptions,
) {
    let last = trail.last();
    if let Some((replayed, reveal)) = replay(collector, trail, draft, position + 1..last) {
        collector.suspect(&replayed, &reveal, trail.tail, cause, assumptions);
    }
    let mut same = None;
    if let Some((replayed, reveal)) = replay(collector, trail, draft, last..last) {
        collector.suspect(&replayed, &reveal, trail.tail, cause, assumptions);
        same = Some(reveal);
    }
    let others: Vec<Action> = collector.routes.stimuli(draft.node).cloned().collect();
    // What the same stimulus shows is known: no reason to expect silence of it.
    for other in others
        .into_iter()
        .filter(|other| Some(other) != same.as_ref())
    {
        let Some(effect) = collector.routes.effect(draft.node, &other) else {
            continue;
        };
        if effect.responses > 0 {
            // A response that does not come is seen one step sooner than a wrong one.
            collector.suspect(draft, &other, 1, cause, assumptions + OTHER_REVEAL);
        } else {
            collector.suspect(draft, &other, 2, cause, assumptions + UNASKED_RESPONSE);
        }
    }
}

/// The stimuli of a range of the trail, by analogy from where the draft is, and the last stimulus.
fn replay(
    collector: &Collector<'_, '_>,
    trail: &Trail,
    draft: &Draft,
    range: std::ops::Range<usize>,
) -> Option<(Draft, Action)> {
    let mut draft = draft.clone();
    for position in range {
        let action =
            collector.analog(&trail.stimuli[position], trail.nodes[position], draft.node)?;
        draft = collector.give(draft, &action)?;
    }
    let last = trail.last();
    let reveal = collector.analog(&trail.stimuli[last], trail.nodes[last], draft.node)?;
    Some((draft, reveal))
}

/// One stimulus left out, the others by analogy.
fn without_one(collector: &mut Collector<'_, '_>, trail: &Trail) {
    let last = trail.last();
    for position in 0..last {
        let start = Draft {
            stimuli: Vec::new(),
            steps: 0,
            node: NodeId(0),
        };
        let mut draft = Some(start);
        for index in (0..last).filter(|i| *i != position) {
            draft = draft.and_then(|draft| {
                let (action, node) = (&trail.stimuli[index], trail.nodes[index]);
                let action = collector.analog(action, node, draft.node)?;
                collector.give(draft, &action)
            });
        }
        let Some(draft) = draft else { continue };
        if let Some((draft, reveal)) = replay(collector, trail, &draft, last..last) {
            collector.suspect(&draft, &reveal, trail.tail, Cause::Unknown, LEFT_OUT);
        }
    }
}

/// Near transitions the like of which no run has seen pass: a fault is rarely in one place only.
fn unseen(
    collector: &mut Collector<'_, '_>,
    seen: &Observations,
    trail: &Trail,
    settled: &[NodeId],
    labels: &[u32],
) {
    let routes = collector.routes;
    let kind = |node: NodeId, action: &Action| {
        let effect = routes.effect(node, action)?;
        let family = routes.family(node, labels);
        Some((
            family,
            (labels[action.label.index()], action.values.clone()),
            families(&effect.answers, labels),
        ))
    };
    let mut known = FxHashSet::default();
    for (set, action) in seen.all_passed() {
        if let Some(node) = routes.node(*set) {
            known.extend(kind(node, action));
        }
    }
    // A wrong response is seen at once.
    let tail = trail.tail.min(2);
    for &node in settled {
        if routes.distance(node) + tail >= trail.length {
            break;
        }
        let draft = collector.way_to(node);
        for action in routes.stimuli(node) {
            let asks = routes.effect(node, action).is_some_and(|e| e.responses > 0);
            if kind(node, action).is_some_and(|kind| known.insert(kind)) {
                let assumptions = UNSEEN + if asks { 0 } else { UNASKED_RESPONSE };
                collector.suspect(&draft, action, tail, Cause::State, assumptions);
            }
        }
    }
}
