//! Cuts a case down to a small one with the same kind of finding.

use crate::check::{Case, Counts, Finding};
use crate::generate::{Draft, Gate};

/// Seeds tried for each smaller case: another model leads to other random choices.
const SEEDS: u64 = 6;
/// Runs at most.
const RUNS: usize = 3000;

/// The smallest case found, and what it shows.
pub fn shrunk(case: &Case, finding: &Finding) -> (Case, Finding) {
    let mut best = (case.clone(), finding.clone());
    let mut runs = 0;
    loop {
        let mut improved = false;
        for smaller in smaller_cases(&best.0) {
            if runs >= RUNS {
                return best;
            }
            if let Some(found) = still_there(&smaller, &best.1.kind, &mut runs) {
                best = found;
                improved = true;
                break;
            }
        }
        if !improved {
            return best;
        }
    }
}

fn still_there(case: &Case, kind: &str, runs: &mut usize) -> Option<(Case, Finding)> {
    for offset in 0..SEEDS {
        let mut case = case.clone();
        case.seed = case.seed.wrapping_add(offset);
        *runs += 1;
        let found = case.run(&mut Counts::default());
        if let Some(finding) = found.filter(|finding| finding.kind == kind) {
            return Some((case, finding));
        }
    }
    None
}

fn smaller_cases(case: &Case) -> Vec<Case> {
    let mut all = Vec::new();
    let same = case.draft == case.other;
    for draft in smaller_drafts(&case.draft) {
        let other = if same {
            draft.clone()
        } else {
            case.other.clone()
        };
        all.push(Case {
            draft,
            other,
            ..case.clone()
        });
    }
    if !same {
        all.insert(
            0,
            Case {
                other: case.draft.clone(),
                ..case.clone()
            },
        );
        for other in smaller_drafts(&case.other) {
            all.push(Case {
                other,
                ..case.clone()
            });
        }
    }
    all
}

/// The draft with one thing less, large things first.
fn smaller_drafts(draft: &Draft) -> Vec<Draft> {
    let mut all = Vec::new();
    let mut with = |change: &dyn Fn(&mut Draft)| {
        let mut other = draft.clone();
        change(&mut other);
        if other != *draft {
            all.push(other);
        }
    };
    for number in (0..draft.processes.len())
        .rev()
        .filter(|_| draft.processes.len() > 1)
    {
        let sends = draft
            .labels
            .iter()
            .any(|label| label.wire_from.is_some_and(|p| p >= number));
        if !sends {
            with(&|d| drop(d.processes.remove(number)));
        }
    }
    for (number, process) in draft.processes.iter().enumerate() {
        for at in (1..process.states.len()).rev() {
            with(&|d| {
                let states = &mut d.processes[number].states;
                states.remove(at);
                for edge in states.iter_mut().flat_map(|state| &mut state.edges) {
                    if edge.target == at {
                        edge.target = 0;
                    } else if edge.target > at {
                        edge.target -= 1;
                    }
                }
            });
        }
        for (at, state) in process.states.iter().enumerate() {
            with(&|d| d.processes[number].states[at].timeout = None);
            for edge in 0..state.edges.len() {
                with(&|d| drop(d.processes[number].states[at].edges.remove(edge)));
            }
        }
    }
    for label in 0..draft.labels.len() {
        if !draft.processes.iter().any(|p| {
            p.states
                .iter()
                .flat_map(|s| &s.edges)
                .any(|e| uses(e.gate, label))
        }) {
            with(&|d| {
                d.labels.remove(label);
                for edge in all_edges(d) {
                    if let Gate::Receive(l) | Gate::Send(l) = &mut edge.gate
                        && *l > label
                    {
                        *l -= 1;
                    }
                }
            });
        }
        for at in 0..draft.labels[label].parameters.len() {
            with(&|d| {
                let (name, _) = d.labels[label].parameters.remove(at);
                for edge in all_edges(d) {
                    edge.guard.retain(|condition| !condition.contains(&name));
                    edge.update.retain(|(_, value)| !value.contains(&name));
                }
            });
        }
    }
    for (number, process) in draft.processes.iter().enumerate() {
        for variable in 0..process.variables.len() {
            with(&|d| {
                let gone = d.processes[number].variables.remove(variable);
                for edge in all_edges(d) {
                    edge.guard
                        .retain(|condition| !condition.contains(&gone.name));
                    edge.update
                        .retain(|(name, value)| *name != gone.name && !value.contains(&gone.name));
                }
            });
        }
        for (at, state) in process.states.iter().enumerate() {
            for (edge, shown) in state.edges.iter().enumerate() {
                for condition in 0..shown.guard.len() {
                    with(&|d| {
                        drop(
                            d.processes[number].states[at].edges[edge]
                                .guard
                                .remove(condition),
                        );
                    });
                }
                for update in 0..shown.update.len() {
                    with(&|d| {
                        drop(
                            d.processes[number].states[at].edges[edge]
                                .update
                                .remove(update),
                        );
                    });
                }
                with(&|d| d.processes[number].states[at].edges[edge].target = 0);
                if let Some((low, _)) = shown.each {
                    let alone = shown.filled(&low.to_string());
                    with(&|d| d.processes[number].states[at].edges[edge] = alone.clone());
                }
            }
        }
    }
    with(&|d| d.sugar = None);
    with(&|d| d.functions.clear());
    with(&|d| d.timeout = 500);
    all
}

fn all_edges(draft: &mut Draft) -> impl Iterator<Item = &mut crate::generate::Edge> {
    draft
        .processes
        .iter_mut()
        .flat_map(|process| &mut process.states)
        .flat_map(|state| &mut state.edges)
}

fn uses(gate: Gate, label: usize) -> bool {
    matches!(gate, Gate::Receive(l) | Gate::Send(l) if l == label)
}
