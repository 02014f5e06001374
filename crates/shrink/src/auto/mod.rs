//! The default shrinker: reaches the shortest failing trace in few runs.
//!
//! The idea is to find out what the failure *is*, instead of trying what can be left out.
//!
//! 1. The shortest way of the model to the failing state is tried first. If it fails too, the state
//!    alone decides: a state bug.
//! 2. Otherwise some earlier stimulus, the *cause*, has left the system in another state than the
//!    model without anybody seeing it. Every stimulus of the trace is suspected, the latest first:
//!    the shortest way to where it was given, the stimulus, and then what showed the failure.
//! 3. Once a short failing trace is known, shorter ones are looked for by *analogy*: the same cause
//!    in a nearer state, another stimulus that would show it sooner, steps left out, and near
//!    transitions that no run has seen pass.
//!
//! Two things make this cheap. Every run is remembered in an observation tree, so that nothing that
//! is known is run again. And candidates are *packed*: as long as the system answers as it should,
//! the run goes back to the initial state of the model and on to the next candidate, so that one
//! run clears many. A candidate that fails inside such a run is then run alone, from a reset.
//!
//! Where all this finds nothing, cycles and elements of the trace are removed as the trace-centric
//! shrinkers do, and the search begins again with what is left. A failure that is not explained ends
//! with a pass that leaves out each single stimulus.

mod candidate;
mod observations;
mod pack;
pub(crate) mod routes;
mod trail;

use ioco_sts::Execution;

use crate::graph::{Graph, Nodes};
use crate::leave_one_out::is_allowed;
use crate::session::{Halt, Session, stimuli_of};
use crate::shrunk::BugKind;
use crate::trace_centric::{Compare, Cycles, without};
use crate::walk::Walk;

use candidate::Cause;
pub(crate) use observations::Observations;
use routes::{Originals, Routes};
use trail::Trail;

/// Nodes of a model with data that are explored; values are asked of the solver for each.
const MAX_DATA_NODES: usize = 2_000;

/// Cycles of a trace that are tried before blocks of it.
const MAX_CYCLES: usize = 10;

/// Stimuli of a trace that analogies alone can deal with.
const SHORT: usize = 6;

/// Packed runs that may lead to nothing before a round of candidates is given up.
const MAX_MISSES: usize = 2;

struct Auto<'s, 'a> {
    session: &'s mut Session<'a>,
    routes: Routes,
    seen: Observations,
    best: Execution,
    cause: Cause,
    /// Per label, the number of its family.
    labels: Vec<u32>,
}

pub(crate) fn auto(session: &mut Session<'_>, start: &Execution) -> Result<Execution, Halt> {
    let mut graph = Graph::new(Nodes::Sets, &start.trace);
    let mut originals = Originals::default();
    if let Ok(walk) = Walk::of(session.semantics, start) {
        let steps = walk.sets.iter().zip(&walk.steps);
        originals.extend(steps.map(|(set, step)| (*set, step.clone())));
    }
    let steps = usize::try_from(session.options.budget.steps).unwrap_or(usize::MAX);
    let max_nodes = match session.semantics.sts().is_plain() {
        true => steps,
        false => MAX_DATA_NODES.min(steps),
    };
    let routes = Routes::explore(session, &mut graph, &originals, start.length(), max_nodes)?;
    let mut auto = Auto {
        labels: routes.label_families(session.semantics.sts()),
        routes,
        seen: Observations::new(),
        best: start.clone(),
        cause: Cause::Unknown,
        session,
    };
    auto.seen.record(auto.session.semantics, start);
    let is_explained = auto.shrink()?;
    let best = auto.best;
    session.ends_with_leave_one_out = !is_explained;
    Ok(best)
}

impl Auto<'_, '_> {
    /// Whether the failure is explained in the end.
    fn shrink(&mut self) -> Result<bool, Halt> {
        loop {
            let is_explained = self.find_cause()?;
            // A long failing part of the trace is no explanation yet.
            loop {
                let length = self.best.length();
                let is_long = self.best.stimuli().count() > SHORT && self.cause == Cause::Unknown;
                if !is_long || !self.find_cause()? || self.best.length() == length {
                    break;
                }
            }
            while self.improve()? {}
            // A cause that was found leaves nothing to remove that analogies would not have.
            if is_explained || !self.remove_parts()? {
                return Ok(is_explained);
            }
        }
    }

    /// The failing state alone, or one stimulus before it. Whether either explains the failure.
    fn find_cause(&mut self) -> Result<bool, Halt> {
        let Some(trail) = self.trail() else {
            return Ok(false);
        };
        let candidates = candidate::causes(&self.routes, self.session, &trail, &self.labels)?;
        let direct = candidates
            .first()
            .filter(|s| s.cause == Cause::State)
            .cloned();
        if trail.is_shortest_way(&self.routes) {
            self.session.kind = BugKind::State;
            self.cause = Cause::State;
            return Ok(true);
        }
        let found = self.try_packed(candidates, pack::env("CMISS", 2 * MAX_MISSES))?;
        if self.session.kind == BugKind::Unknown
            && let Some(direct) = direct
        {
            let failed = found.as_ref().is_some_and(|f| f.cause == Cause::State);
            if failed {
                self.session.kind = BugKind::State;
            } else if self.seen.passes(&direct.stimuli) {
                self.session.kind = BugKind::Trace;
            }
        }
        Ok(found.is_some())
    }

    /// One round of analogies; whether it found something shorter.
    fn improve(&mut self) -> Result<bool, Halt> {
        let Some(trail) = self.trail() else {
            return Ok(false);
        };
        let candidates = candidate::analogies(
            &self.routes,
            self.session,
            &self.seen,
            &trail,
            self.cause,
            &self.labels,
        )?;
        // Where the state does not decide there is more to try.
        let more = usize::from(self.session.kind != BugKind::State);
        let found = self.try_packed(candidates, pack::env("MISS", MAX_MISSES) + more)?;
        Ok(found.is_some())
    }

    fn trail(&mut self) -> Option<Trail> {
        Trail::of(self.session.semantics, &self.routes, &self.best)
    }

    /// Runs a list and remembers what it showed.
    fn run(&mut self, stimuli: &[ioco_sts::Action]) -> Result<crate::session::Attempt, Halt> {
        let attempt = self.session.attempt(stimuli)?;
        self.seen.record(self.session.semantics, &attempt.execution);
        Ok(attempt)
    }

    /// Takes over a shorter failing execution.
    fn accept(&mut self, execution: Execution, cause: Cause) {
        if execution.length() < self.best.length() {
            self.best = execution;
            self.cause = cause;
            if cause == Cause::State {
                self.routes.reroute(self.seen.failing());
            }
        }
    }

    /// Cycles, then blocks of stimuli, as far as the model allows it and no run has shown that it
    /// passes. Whether something could go.
    fn remove_parts(&mut self) -> Result<bool, Halt> {
        let Ok(walk) = Walk::of(self.session.semantics, &self.best) else {
            return Ok(false);
        };
        let mut cycles = Cycles::new(self.session, &walk, Compare::States);
        for _ in 0..MAX_CYCLES {
            let Some((from, to)) = cycles.next(self.session)? else {
                break;
            };
            if self.try_alone(&without(&walk, from, to))? {
                return Ok(true);
            }
        }
        let stimuli = stimuli_of(&self.best);
        let mut block = stimuli.len() / 2;
        while block > 0 {
            for from in (0..stimuli.len()).step_by(block) {
                let mut candidate = stimuli.clone();
                candidate.drain(from..stimuli.len().min(from + block));
                if self.try_alone(&candidate)? {
                    return Ok(true);
                }
            }
            block /= 2;
        }
        Ok(false)
    }

    fn try_alone(&mut self, candidate: &[ioco_sts::Action]) -> Result<bool, Halt> {
        if self.seen.passes(candidate) || !is_allowed(self.session.semantics, candidate) {
            return Ok(false);
        }
        let attempt = self.run(candidate)?;
        let is_shorter = attempt.accepted && attempt.execution.length() < self.best.length();
        if is_shorter {
            self.accept(attempt.execution, Cause::Unknown);
        }
        Ok(is_shorter)
    }
}
