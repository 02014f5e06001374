//! Is there really no shorter failing trace? Every list of stimuli that the model allows and that
//! could fail sooner is run, shortest first, so that a budget that runs out still leaves a claim.
//!
//! Each list is made as long as could matter before it is run: the run then also settles all its
//! prefixes.

use ioco_sts::{Action, Execution};

use crate::auto::Observations;
use crate::auto::routes::{NodeId, Originals, Routes};
use crate::graph::{Graph, Nodes};
use crate::session::{Halt, Session};
use crate::shrunk::{Ended, Proof};

/// A list of stimuli, the steps that it takes by the model, and where it leads.
#[derive(Clone)]
struct List {
    stimuli: Vec<Action>,
    steps: usize,
    node: NodeId,
}

/// Lists that may be open at a time.
const MAX_OPEN: usize = 2_000_000;

/// Looks for something shorter than `best`, which is replaced where it is found.
pub(crate) fn prove(session: &mut Session<'_>, best: &mut Execution) -> Result<Proof, Halt> {
    let (runs, sent) = (session.runs(), session.stimuli_sent());
    let mut graph = Graph::new(Nodes::Sets, &session.original.trace);
    let routes = Routes::explore(
        session.semantics,
        &mut graph,
        &Originals::default(),
        best.length(),
        session.options.max_nodes,
    );
    let mut seen = Observations::new();
    seen.record(session.semantics, session.original);
    let mut level = vec![List {
        stimuli: Vec::new(),
        steps: 0,
        node: NodeId(0),
    }];
    let mut proof = Proof {
        no_failure_below: 1,
        shortest: false,
        runs: 0,
        stimuli_sent: 0,
        remark: remark(session, &routes),
    };
    // A list of n steps can fail with its next stimulus, at length n + 1 or more.
    while proof.no_failure_below < best.length() {
        let length = proof.no_failure_below;
        let mut next = Vec::new();
        for list in level {
            if list.steps >= length {
                next.push(list);
                continue;
            }
            let actions: Vec<Action> = routes.stimuli(list.node).cloned().collect();
            for action in actions {
                let mut stimuli = list.stimuli.clone();
                stimuli.push(action.clone());
                if !seen.passes(&stimuli) {
                    if session.runs() - runs >= session.options.prove_runs {
                        proof.remark = Some("the budget for the proof was used up".to_owned());
                        return Ok(finished(proof, session, runs, sent));
                    }
                    let long = prolong(&routes, &stimuli, &list, &action, best.length());
                    let attempt = session.attempt(&long)?;
                    seen.record(session.semantics, &attempt.execution);
                    if attempt.accepted && attempt.execution.length() < best.length() {
                        *best = attempt.execution;
                    }
                }
                if let Some(effect) = routes.effect(list.node, &action) {
                    next.push(List {
                        stimuli,
                        steps: list.steps + 1 + effect.responses,
                        node: effect.target,
                    });
                }
            }
            if next.len() > MAX_OPEN {
                return Err(Halt(Ended::Limit(
                    "too many traces to go through".to_owned(),
                )));
            }
        }
        level = next;
        proof.no_failure_below += 1;
    }
    proof.no_failure_below = best.length();
    proof.shortest = proof.remark.is_none();
    Ok(finished(proof, session, runs, sent))
}

fn finished(mut proof: Proof, session: &Session<'_>, runs: usize, sent: usize) -> Proof {
    proof.runs = session.runs() - runs;
    proof.stimuli_sent = session.stimuli_sent() - sent;
    proof
}

/// What the exhaustive check cannot cover.
fn remark(session: &Session<'_>, routes: &Routes) -> Option<String> {
    if routes.is_cut {
        Some("the model is too large to go through all of it".to_owned())
    } else if !session.semantics.sts().is_plain() {
        Some(
            "only the values of the trace, boundaries and one choice of the solver were tried"
                .to_owned(),
        )
    } else if session.options.attempts > 1 {
        Some("the system does not always answer the same".to_owned())
    } else {
        None
    }
}

/// Adds first choices until the list is as long as could matter.
fn prolong(
    routes: &Routes,
    stimuli: &[Action],
    before: &List,
    action: &Action,
    length: usize,
) -> Vec<Action> {
    let mut long = stimuli.to_vec();
    let (mut node, mut steps, mut action) = (before.node, before.steps, action.clone());
    loop {
        let Some(effect) = routes.effect(node, &action) else {
            return long;
        };
        node = effect.target;
        steps += 1 + effect.responses;
        let Some(next) = routes.stimuli(node).next().filter(|_| steps + 1 < length) else {
            return long;
        };
        action = next.clone();
        long.push(action.clone());
    }
}
