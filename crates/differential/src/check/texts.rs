//! Guards on strings: the solver has to decide them.
//!
//! Everywhere else *unknown* is an answer that ioco may give. Where all parameters of a label are
//! strings, the generated guards speak of regular languages, lengths and equations, and the solver
//! decides those. A solver that only tries strings would never be wrong, only useless; so here
//! *unknown* is a finding.

use ioco_sts::{Answer, Direction, Feasibility, Question, Solved, Sts, Type};

use super::{Counts, Finding, show_state, valuation};
use crate::reference::{Set, Theory, Val};

/// States of one set whose guards are asked about.
const STATES: usize = 20;

/// Asks the solver about every guard on strings alone in these states.
pub fn check(
    theory: &Theory,
    set: &Set,
    solver: &mut dyn Feasibility,
    counts: &mut Counts,
) -> Option<Finding> {
    let sts: &Sts = theory.sts();
    for state in set.states.iter().take(STATES) {
        let Some(valuation) = valuation(state, sts) else {
            continue;
        };
        for direction in [Direction::Stimulus, Direction::Response] {
            for (id, label) in theory.observable(state, direction) {
                let parameters = &sts.label(label).parameters;
                if parameters.is_empty() || parameters.iter().any(|p| p.ty != Type::Str) {
                    continue;
                }
                let question = Question {
                    sts,
                    label,
                    guard: &sts.switch(id).enabled,
                    valuation: &valuation,
                };
                let answer = solver.feasible(question);
                // The reference tries what the solver found; it does not believe it.
                if let Solved::Values(values) = solver.solve(question) {
                    theory.hint(label, values.iter().map(Val::of).collect());
                }
                theory.take_unsure();
                let witness = theory.witness(state, id);
                if theory.take_unsure() {
                    counts.open("explore: guard on strings");
                    continue;
                }
                counts.decided("explore: guard on strings");
                let expected = match witness {
                    Some(_) => Answer::Yes,
                    None => Answer::No,
                };
                if answer != expected {
                    let kind = match answer {
                        Answer::Unknown => "explore: a guard on strings is left open",
                        Answer::Yes | Answer::No => "explore: a guard on strings",
                    };
                    let name = sts.label(label).marked_name();
                    return Some(Finding {
                        kind: kind.to_owned(),
                        detail: format!(
                            "{name} in {}: ioco {answer:?}, reference {witness:?}",
                            show_state(state, sts)
                        ),
                        ..Finding::default()
                    });
                }
            }
        }
    }
    None
}
