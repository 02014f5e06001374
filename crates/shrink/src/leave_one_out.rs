//! Can a stimulus be left out? Each of them is left out once, alone, until none can go: only then
//! does a claim that none can go rest on what was tried.

use ioco_sts::{Action, Execution, Semantics, Step};

use crate::session::{Halt, Session, stimuli_of, without};

/// Responses to one stimulus that are followed; a model may send for ever. A tester waits for as many
/// before it gives the next stimulus.
pub(crate) const MAX_ANSWERS: usize = 256;

/// Leaves out single stimuli as long as something shorter fails. Lists that were run before, and lists
/// that the model does not allow, are not run.
pub(crate) fn leave_one_out(session: &mut Session<'_>, best: &mut Execution) -> Result<(), Halt> {
    let mut position = 0;
    let mut stimuli = stimuli_of(best);
    while position < stimuli.len() {
        let candidate = without(&stimuli, position);
        position += 1;
        if session.was_tried(&candidate) {
            continue;
        }
        session.poll()?;
        if !is_allowed(session.semantics, &candidate) {
            session.refuse(&candidate);
            continue;
        }
        if session.width() > 1 {
            let likely = likely(session, &stimuli, position - 1);
            session.begin(&likely);
        }
        let attempt = session.attempt(&candidate)?;
        if attempt.accepted && attempt.execution.length() < best.length() {
            *best = attempt.execution;
            stimuli = stimuli_of(best);
            position = 0;
        }
    }
    Ok(())
}

/// The lists that come next if none of them fails, as many as can be run at the same time.
fn likely(session: &mut Session<'_>, stimuli: &[Action], from: usize) -> Vec<Vec<Action>> {
    let mut likely = Vec::new();
    for position in from..stimuli.len() {
        let candidate = without(stimuli, position);
        if !session.was_tried(&candidate) && is_allowed(session.semantics, &candidate) {
            likely.push(candidate);
        }
        if likely.len() == session.width() {
            break;
        }
    }
    likely
}

/// Whether the model may take all these stimuli. Where it leaves the answer open only the system knows,
/// and the answer is yes.
pub(crate) fn is_allowed(semantics: &mut Semantics, stimuli: &[Action]) -> bool {
    let mut set = semantics.initial();
    for stimulus in stimuli {
        match settled(semantics, set) {
            Some(next) => set = next,
            None => return true,
        }
        if !semantics.accepts(set, stimulus) {
            return false;
        }
        match semantics.after(set, &Step::Stimulus(stimulus.clone())) {
            Some(next) => set = next,
            None => return false,
        }
    }
    true
}

/// The set after the only answer that the model allows, when the system has fallen silent. `None` when
/// there are several, or too many.
fn settled(semantics: &mut Semantics, mut set: ioco_sts::SetId) -> Option<ioco_sts::SetId> {
    for _ in 0..=MAX_ANSWERS {
        let menu = semantics.menu(set);
        match menu.responses.as_slice() {
            // A tester may or may not wait for the silence that follows.
            [] => {
                let silent = semantics.after(set, &Step::Quiescence);
                return (silent == Some(set)).then_some(set);
            }
            [offer] if !menu.silence => {
                let response = Action::plain(offer.label);
                set = semantics.after(set, &Step::Response(response))?;
            }
            _ => return None,
        }
    }
    None
}
