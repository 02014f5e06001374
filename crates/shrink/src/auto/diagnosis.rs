//! Which single faults explain everything that was seen, and what each of them lets one expect.
//!
//! This is diagnosis of finite machines (Ghedamsi and von Bochmann 1992): a fault is one link of the model that leads
//! elsewhere or says something else. The failing trace is long, and nearly all of it went well, so that most
//! faults are refuted before anything is run. Each of the others has a shortest trace that would show it.

use std::collections::BTreeMap;

use ioco_sts::Action;
use rustc_hash::{FxHashMap, FxHashSet};

use super::candidate::{Candidate, Cause};
use super::fault::{Effect, Fault, ObservedRun, UnseenLabels, give, settle, take};
use super::routes::{NodeId, Routes};

/// Faults that are held against each other.
const MAX_FAULTS: usize = 100;

/// Stimuli of the trace, from its end, that may have gone wrong.
const MAX_POSITIONS: usize = 1_000;

/// Stimuli behind a fault until it shows.
const MAX_HIDDEN: usize = 12;

/// Lists that are put in order.
const MAX_CANDIDATES: usize = 12;

/// Links of one answer.
const MAX_LINKS: usize = 16;

/// A fault, and the shortest trace that shows it.
pub(super) struct Explanation {
    pub fault: Fault,
    /// How likely, beside others.
    pub weight: f64,
    pub stimuli: Vec<Action>,
    /// Steps, the deviation included.
    pub length: usize,
    /// Which stimulus goes wrong.
    pub position: usize,
}

pub(super) struct Diagnosis<'r> {
    routes: &'r Routes,
    families: &'r [u32],
    /// Asked for every node: whether to go on.
    goes_on: &'r dyn Fn() -> bool,
    /// The nearest stimulus that takes a link: where it is given, and what it is.
    nearest: FxHashMap<(NodeId, usize), (NodeId, Action)>,
    settled: Vec<NodeId>,
}

impl<'r> Diagnosis<'r> {
    pub fn new(
        routes: &'r Routes,
        families: &'r [u32],
        goes_on: &'r dyn Fn() -> bool,
    ) -> Diagnosis<'r> {
        let mut nearest = FxHashMap::default();
        let settled = routes.settled();
        for &node in &settled {
            for action in routes.stimuli(node) {
                for link in links_of(routes, node, action) {
                    nearest
                        .entry(link)
                        .or_insert_with(|| (node, action.clone()));
                }
            }
        }
        Diagnosis {
            routes,
            families,
            goes_on,
            nearest,
            settled,
        }
    }

    /// The faults that explain all runs, of which `failed` is the one that failed, each with its shortest trace of
    /// less than `limit` steps.
    pub fn explain(
        &self,
        runs: &[ObservedRun],
        failed: &ObservedRun,
        limit: usize,
    ) -> Vec<Explanation> {
        let mut explanations = Vec::new();
        for unseen in [UnseenLabels::Ignored, UnseenLabels::Alike] {
            for fault in self.suspects(runs, failed, unseen) {
                if explanations.len() >= MAX_FAULTS {
                    break;
                }
                explanations.extend(self.shortest(fault, limit));
            }
        }
        explanations
    }

    /// Whether a system with this fault would have shown this run.
    pub fn agrees(&self, fault: &Fault, run: &ObservedRun) -> bool {
        let mut actual = NodeId(0);
        for (index, stimulus) in run.stimuli.iter().enumerate() {
            let effect = self.give(Some(fault), run.nodes[index], actual, stimulus);
            let Some(effect) = effect.filter(|effect| effect.agrees(&run.replies[index])) else {
                return false;
            };
            match effect.target {
                Some(target) => actual = target,
                None => return true,
            }
        }
        true
    }

    /// Whether a system with this fault would fail on this list.
    pub fn fails(&self, fault: &Fault, stimuli: &[Action]) -> bool {
        let (mut model, mut actual) = (NodeId(0), NodeId(0));
        for stimulus in stimuli {
            let expected = self.give(None, model, model, stimulus);
            let effect = self.give(Some(fault), model, actual, stimulus);
            let (Some(expected), Some(effect)) = (expected, effect) else {
                return false;
            };
            match (expected.target, effect.target) {
                (Some(next), Some(there)) if expected.responses == effect.responses => {
                    (model, actual) = (next, there);
                }
                _ => return true,
            }
        }
        false
    }

    fn give(
        &self,
        fault: Option<&Fault>,
        model: NodeId,
        actual: NodeId,
        stimulus: &Action,
    ) -> Option<Effect> {
        give(self.routes, fault, self.families, model, actual, stimulus)
    }

    /// Faults that explain the end of the run, from the last stimulus backwards. Behind the fault the system is in a
    /// wrong node, and from there the model shows the rest of the run: the nodes for which that holds are found
    /// backwards, and where there are none any more nothing before can be the cause. Each fault is told once, and only if
    /// all runs agree with it: the same link is taken again and again in a long trace.
    fn suspects(
        &self,
        runs: &[ObservedRun],
        run: &ObservedRun,
        unseen: UnseenLabels,
    ) -> Vec<Fault> {
        let mut found = Vec::new();
        let mut seen: FxHashSet<Fault> = FxHashSet::default();
        let mut tell = |found: &mut Vec<Fault>, fault: Fault| {
            if seen.insert(fault) && runs.iter().all(|run| self.agrees(&fault, run)) {
                found.push(fault);
            }
        };
        let Some(last) = run.stimuli.len().checked_sub(1) else {
            return found;
        };
        let fault_at = |node, link, wrong| Fault {
            node,
            link,
            wrong,
            unseen,
        };
        // A fault that no link has, for what systems do with unseen labels.
        let nowhere = fault_at(NodeId(u32::MAX), usize::MAX, None);
        if let Some(link) = self
            .routes
            .stimulus_link(run.nodes[last], &run.stimuli[last])
        {
            tell(&mut found, fault_at(run.nodes[last], link, None));
        }
        // Where the system may be behind the stimulus that is looked at; `None`: anywhere.
        let mut behind: Option<FxHashSet<NodeId>> = None;
        for position in (0..=last).rev().take(MAX_POSITIONS) {
            let (model, stimulus) = (run.nodes[position], &run.stimuli[position]);
            let reply = &run.replies[position];
            let fits = |effect: &Effect| {
                let is_there = |target| behind.as_ref().is_none_or(|set| set.contains(&target));
                effect.agrees(reply) && effect.target.is_some_and(is_there)
            };
            let mut before = Effect {
                responses: Vec::new(),
                target: Some(model),
                uses_fault: false,
            };
            for (node, link) in links_of(self.routes, model, stimulus) {
                for wrong in self.routes.all() {
                    if !(self.goes_on)() {
                        return found;
                    }
                    if wrong == self.routes.target(node, link) {
                        continue;
                    }
                    let mut effect = before.clone();
                    let fault = fault_at(node, link, Some(wrong));
                    take(self.routes, Some(&fault), &mut effect, link);
                    if settle(self.routes, None, &mut effect).is_some() && fits(&effect) {
                        tell(&mut found, fault);
                    }
                }
                take(self.routes, None, &mut before, link);
            }
            let mut possible = FxHashSet::default();
            for &node in &self.settled {
                if !(self.goes_on)() {
                    return found;
                }
                let effect = self.give(Some(&nowhere), model, node, stimulus);
                if effect.is_some_and(|effect| fits(&effect)) {
                    possible.insert(node);
                }
            }
            if possible.is_empty() || found.len() > 4 * MAX_FAULTS {
                break;
            }
            behind = Some(possible);
        }
        found
    }

    /// The shortest trace of less than `limit` steps that shows a fault.
    fn shortest(&self, fault: Fault, limit: usize) -> Option<Explanation> {
        let (start, first) = self.nearest.get(&(fault.node, fault.link))?;
        let way = self.routes.way_to(*start);
        let position = way.len();
        let mut known: FxHashSet<(NodeId, NodeId)> = FxHashSet::default();
        // By steps: where model and system are, and the stimuli that led there.
        let mut open: BTreeMap<usize, Vec<Pair>> = BTreeMap::new();
        let mut best: Option<(usize, Vec<Action>)> = None;
        let mut next = vec![(
            self.routes.distance(*start),
            (*start, *start, way),
            vec![first],
        )];
        loop {
            for (steps, (model, actual, way), actions) in next.drain(..) {
                for action in actions {
                    let shown = self.step(&fault, (model, actual), action);
                    let Some((more, ends)) = shown else { continue };
                    let length = steps + more;
                    if length >= best.as_ref().map_or(limit, |(known, _)| *known) {
                        continue;
                    }
                    let way = || way.iter().chain([action]).cloned().collect::<Vec<Action>>();
                    match ends {
                        None => best = Some((length, way())),
                        Some((model, actual))
                            if model != actual && way().len() <= position + MAX_HIDDEN =>
                        {
                            open.entry(length).or_default().push((model, actual, way()));
                        }
                        Some(_) => {}
                    }
                }
            }
            let Some((steps, pairs)) = open.pop_first() else {
                break;
            };
            // One more stimulus is one more step.
            if best
                .as_ref()
                .is_some_and(|(length, _)| steps + 1 >= *length)
            {
                break;
            }
            for (model, actual, way) in pairs {
                if !(self.goes_on)() {
                    return None;
                }
                if known.insert((model, actual)) {
                    let actions = self.routes.stimuli(model).collect();
                    next.push((steps, (model, actual, way), actions));
                }
            }
        }
        let (length, stimuli) = best?;
        Some(Explanation {
            weight: self.weight(&fault),
            fault,
            stimuli,
            length,
            position,
        })
    }

    /// What a stimulus shows of a fault: the steps until it is seen, or until both are silent again and where they
    /// are then.
    fn step(
        &self,
        fault: &Fault,
        (model, actual): (NodeId, NodeId),
        action: &Action,
    ) -> Option<(usize, Option<(NodeId, NodeId)>)> {
        let expected = self.give(None, model, model, action)?;
        let effect = self.give(Some(fault), model, actual, action)?;
        if let Some(shown) = shown_after(&expected, &effect) {
            return Some((shown, None));
        }
        let ends = expected.target.zip(effect.target)?;
        Some((1 + expected.responses.len(), Some(ends)))
    }

    /// A stimulus without effect, or a wrong response, is one thing that a programmer gets wrong; a wrong target is
    /// one of as many as there are nodes.
    fn weight(&self, fault: &Fault) -> f64 {
        let is_lost = fault.wrong == Some(fault.node);
        match fault.wrong {
            Some(_) if !is_lost => 1.0 / self.settled.len() as f64,
            _ => 1.0,
        }
    }

    /// The lists to try, in the order that finds the right one soonest if each of them passes: how likely it is to
    /// fail, by what it costs.
    pub fn order(&self, explanations: &[Explanation], reset_cost: usize) -> Vec<Candidate> {
        let mut lists: Vec<&Explanation> = Vec::new();
        for explanation in explanations {
            if lists
                .iter()
                .all(|known| known.stimuli != explanation.stimuli)
            {
                lists.push(explanation);
            }
        }
        // Per list, the explanations that are right only if it fails.
        let mut failing: Vec<Vec<bool>> = Vec::with_capacity(lists.len());
        for list in &lists {
            if !(self.goes_on)() {
                break;
            }
            let fails = explanations
                .iter()
                .map(|e| self.fails(&e.fault, &list.stimuli));
            failing.push(fails.collect());
        }
        let mut is_open = vec![true; explanations.len()];
        let mut candidates = Vec::new();
        while candidates.len() < MAX_CANDIDATES {
            let worth = |list: usize| {
                let open = explanations.iter().zip(&is_open).zip(&failing[list]);
                let open = open.filter(|((_, is_open), fails)| **is_open && **fails);
                let chance: f64 = open.map(|((explanation, _), _)| explanation.weight).sum();
                chance / (reset_cost + lists[list].stimuli.len()) as f64
            };
            let best = (0..failing.len()).map(|list| (list, worth(list)));
            // Among equals the first.
            let best = best.rev().max_by(|a, b| a.1.total_cmp(&b.1));
            let Some((best, _)) = best.filter(|(_, worth)| *worth > 0.0) else {
                break;
            };
            for (is_open, fails) in is_open.iter_mut().zip(&failing[best]) {
                *is_open &= !fails;
            }
            let chosen = lists[best];
            let cause = match chosen.position + 1 == chosen.stimuli.len() {
                true => Cause::State,
                false => Cause::Stimulus(chosen.position),
            };
            if let Some(end) = self.end_of(&chosen.stimuli) {
                let stimuli = chosen.stimuli.clone();
                candidates.push(Candidate::new(stimuli, chosen.length, cause, end));
            }
        }
        candidates
    }

    /// Where the model is behind a list.
    fn end_of(&self, stimuli: &[Action]) -> Option<NodeId> {
        let mut node = NodeId(0);
        for stimulus in stimuli {
            node = self.give(None, node, node, stimulus)?.target?;
        }
        Some(node)
    }
}

/// Where model and system are, and the stimuli that led there.
type Pair = (NodeId, NodeId, Vec<Action>);

/// The steps from a stimulus to where system and model part, both included; `None` where they do not.
fn shown_after(expected: &Effect, effect: &Effect) -> Option<usize> {
    let same = expected.responses.iter().zip(&effect.responses);
    let same = same.take_while(|(wanted, said)| wanted == said).count();
    let has_said_more = effect.responses.len() > same || effect.target.is_none();
    match (has_said_more, expected.responses.len() > same) {
        (true, _) => Some(1 + same + 1),
        (false, true) => Some(1 + same),
        (false, false) => None,
    }
}

/// The links that the model takes at a stimulus and until it is silent.
fn links_of(routes: &Routes, node: NodeId, action: &Action) -> Vec<(NodeId, usize)> {
    let mut links = Vec::new();
    let mut at = node;
    let mut next = routes.stimulus_link(node, action);
    while let Some(link) = next {
        links.push((at, link));
        at = routes.target(at, link);
        next = routes.answer_link(at).filter(|_| links.len() <= MAX_LINKS);
    }
    links
}
