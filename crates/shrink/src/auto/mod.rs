//! The default shrinker: reaches the shortest failing trace in few runs.
//!
//! The idea is to find out what the failure *is*, instead of trying what can be left out.
//!
//! 1. Single faults are looked for that explain the failing trace: a link of the model that leads elsewhere, or that
//!    says something else ([`diagnosis`]). Most of the trace went well, which refutes nearly all of them. What is left
//!    has shortest traces, and these are tried, the likeliest first.
//! 2. Where there is no such fault, the shortest way of the model to the failing state is tried. If it fails too, the
//!    state alone decides: a state bug. Otherwise some earlier stimulus, the *cause*, has left the system in another state than the
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
//! Where all this finds nothing, cycles and blocks of the trace are removed as the trace-centric
//! shrinkers do, and the search begins again with what is left ([`parts`]). Each round ends with a pass
//! that leaves out each single stimulus. States are compared without dead data ([`crate::live`]), labels by
//! what they do and never by their names.

mod candidate;
mod diagnosis;
mod fault;
mod observations;
mod pack;
mod parts;
pub(crate) mod routes;
mod trail;

use ioco_sts::Execution;

use rustc_hash::FxHashSet;

use crate::graph::{Graph, Nodes};
use crate::live::Live;
use crate::session::{Halt, Session};
use crate::shrunk::BugKind;
use crate::walk::Walk;

use candidate::Cause;
use diagnosis::Diagnosis;
use fault::ObservedRun;
pub(crate) use observations::Observations;
use routes::{Originals, Routes};
use trail::Trail;

/// Nodes of a model with data that are explored; values are asked of the solver for each.
const MAX_DATA_NODES: usize = 2_000;

/// Stimuli of a trace that analogies alone can deal with.
const SHORT: usize = 6;

/// Packed runs that may lead to nothing before the cause is looked for in another way.
const MAX_CAUSE_MISSES: usize = 3;

/// Packed runs that may lead to nothing before a round of analogies is given up.
const MAX_MISSES: usize = 1;

/// Stimuli of a packed run that looks for the cause, for each stimulus that a reset costs as much as.
const LONG_PACK: usize = 5;

/// Steps that something shorter may save. A run that looks for it may have as many stimuli as so many resets cost,
/// and one more.
const MAX_GAIN: usize = 2;

struct Auto<'s, 'a> {
    session: &'s mut Session<'a>,
    routes: Routes,
    graph: Graph,
    live: Live,
    seen: Observations,
    /// What each run has shown; nothing more once a run cannot be told from the model alone.
    shown: Option<Vec<ObservedRun>>,
    best: Execution,
    cause: Cause,
    /// Per label, the number of its family.
    labels: Vec<u32>,
}

pub(crate) fn auto(session: &mut Session<'_>, start: &Execution) -> Result<Execution, Halt> {
    let mut graph = Graph::new(Nodes::Sets, &start.trace, session.options);
    let mut live = Live::new(session.semantics.sts());
    let mut originals = Originals::default();
    let walk = Walk::of(session.semantics, start).ok();
    let walk = walk.map(|walk| walk.abstracted(session.semantics, &mut live));
    if let Some(walk) = &walk {
        let steps = walk.sets.iter().zip(&walk.steps);
        originals.extend(steps.map(|(set, step)| (*set, step.clone())));
    }
    let steps = usize::try_from(session.options.budget.steps).unwrap_or(usize::MAX);
    let max_nodes = match session.semantics.sts().is_plain() {
        true => steps,
        false => MAX_DATA_NODES.min(steps),
    };
    let length = start.length();
    let routes = Routes::explore(
        session, &mut graph, &mut live, &originals, length, max_nodes,
    )?;
    let mut auto = Auto {
        labels: routes.label_families(session.semantics.sts()),
        routes,
        seen: Observations::new(),
        shown: Some(Vec::new()),
        best: start.clone(),
        cause: Cause::Unknown,
        graph,
        live,
        session,
    };
    auto.remember(start);
    auto.shrink()?;
    let best = auto.best;
    session.ends_with_leave_one_out = true;
    Ok(best)
}

impl Auto<'_, '_> {
    /// Cause and analogies; parts of the trace where they explain nothing; and at the end each stimulus.
    fn shrink(&mut self) -> Result<(), Halt> {
        loop {
            let is_explained = self.diagnose()? || self.find_cause()?;
            // A long failing part of the trace is no explanation yet.
            loop {
                let length = self.best.length();
                let is_long = self.best.stimuli().count() > SHORT && self.cause == Cause::Unknown;
                if !is_long || !self.find_cause()? || self.best.length() == length {
                    break;
                }
            }
            while self.improve()? {}
            let is_short = is_explained && self.best.stimuli().count() <= SHORT;
            if !is_short && self.remove_parts()? {
                continue;
            }
            if !self.remove_one()? {
                return Ok(());
            }
        }
    }

    /// Single faults that explain all that was seen, the likeliest first, until none of them has a trace shorter
    /// than what is known. Whether one was found.
    fn diagnose(&mut self) -> Result<bool, Halt> {
        let mut has_found = false;
        loop {
            let Some(failed) = ObservedRun::of(&self.best, &self.routes) else {
                return Ok(has_found);
            };
            let Some(shown) = &self.shown else {
                return Ok(has_found);
            };
            self.session.begin_search();
            let session = &*self.session;
            let goes_on = || session.expand(1).is_ok();
            let diagnosis = Diagnosis::new(&self.routes, &self.labels, &goes_on);
            let explanations = diagnosis.explain(shown, &failed, self.best.length());
            let candidates = diagnosis.order(&explanations, session.reset_cost());
            self.session.poll()?;
            let stimuli = LONG_PACK * self.session.reset_cost();
            let found = self.try_packed(candidates, MAX_MISSES, stimuli)?;
            if found.is_none() {
                break;
            }
            has_found = true;
        }
        if has_found {
            self.judge();
        }
        Ok(has_found && self.cause != Cause::Unknown)
    }

    /// Whether the state alone decides, as far as the runs so far say.
    fn judge(&mut self) {
        if self.session.kind != BugKind::Unknown {
            return;
        }
        let Some(trail) = self.trail() else {
            return;
        };
        let last = trail.last();
        let place = (
            self.routes.set(trail.nodes[last]),
            trail.stimuli[last].clone(),
        );
        if trail.is_shortest_way(&self.routes) {
            self.session.kind = BugKind::State;
        } else if self.seen.passed(&place) {
            self.session.kind = BugKind::Trace;
        }
    }

    /// The failing state alone, or one stimulus before it. Whether either explains the failure.
    fn find_cause(&mut self) -> Result<bool, Halt> {
        let Some(trail) = self.trail() else {
            return Ok(false);
        };
        let candidates =
            candidate::causes(&self.routes, self.session, &self.seen, &trail, &self.labels)?;
        let mut states = candidates.iter().filter(|s| s.cause == Cause::State);
        let direct = states.next().cloned();
        if trail.is_shortest_way(&self.routes) {
            self.session.kind = BugKind::State;
            self.cause = Cause::State;
            return Ok(true);
        }
        let found = self.try_packed(
            candidates,
            MAX_CAUSE_MISSES,
            LONG_PACK * self.session.reset_cost(),
        )?;
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
        let mut candidates = candidate::analogies(
            &self.routes,
            self.session,
            &self.seen,
            &trail,
            self.cause,
            &self.labels,
        )?;
        // Where the state does not decide there is more to try.
        let more = usize::from(self.session.kind != BugKind::State);
        // What is short already can gain little.
        let gain = self.best.length().saturating_sub(2).min(MAX_GAIN);
        let stimuli = (gain + 1) * self.session.reset_cost();
        candidate::keep_likely(&mut candidates, stimuli);
        let found = self.try_packed(candidates, MAX_MISSES + more, stimuli)?;
        Ok(found.is_some())
    }

    fn trail(&mut self) -> Option<Trail> {
        let walk = self.walk(&self.best.clone())?;
        let failing = match self.cause {
            Cause::State => self.seen.failing().clone(),
            _ => FxHashSet::default(),
        };
        self.routes
            .add_walk(self.session.semantics, &walk, &failing);
        Trail::of(&walk, &self.routes, &self.best)
    }

    /// Runs a list and remembers what it showed.
    fn run(&mut self, stimuli: &[ioco_sts::Action]) -> Result<crate::session::Attempt, Halt> {
        let attempt = self.session.attempt(stimuli)?;
        self.remember(&attempt.execution);
        Ok(attempt)
    }

    fn walk(&mut self, execution: &Execution) -> Option<Walk> {
        let walk = Walk::of(self.session.semantics, execution).ok()?;
        Some(walk.abstracted(self.session.semantics, &mut self.live))
    }

    fn remember(&mut self, execution: &Execution) {
        let walk = self.walk(execution);
        self.seen.record(execution, walk.as_ref());
        if let Some(runs) = &mut self.shown {
            match ObservedRun::of(execution, &self.routes) {
                Some(shown) => runs.push(shown),
                None => self.shown = None,
            }
        }
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
}
