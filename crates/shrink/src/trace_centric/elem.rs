//! Element removal: one pass over the stimuli, front to back, each left out once.

use ioco_sts::Execution;

use crate::session::{Halt, Session, Shortest, stimuli_of};

/// Exactly as many runs as there are stimuli; the last one is tried too.
pub(crate) fn elem(session: &mut Session<'_>, start: &Execution) -> Result<Execution, Halt> {
    let mut shortest = Shortest(start.clone());
    let mut current = stimuli_of(start);
    let mut position = 0;
    while position < current.len() {
        let mut candidate = current.clone();
        candidate.remove(position);
        let attempt = session.attempt(&candidate)?;
        shortest.offer(&attempt);
        if attempt.accepted {
            current = candidate;
        } else {
            position += 1;
        }
    }
    Ok(shortest.0)
}
