//! Delta debugging (ddmin) over all stimuli but the last.

use std::collections::BTreeSet;

use ioco_sts::{Action, Execution};

use crate::session::{Halt, Session, Shortest, stimuli_of};

/// Subsets first, then complements, with finer and finer parts; a set that was tried already is
/// not run again.
pub(crate) fn delta(session: &mut Session<'_>, start: &Execution) -> Result<Execution, Halt> {
    let stimuli = stimuli_of(start);
    let mut shortest = Shortest(start.clone());
    let mut current: Vec<usize> = (0..stimuli.len().saturating_sub(1)).collect();
    let mut tried: BTreeSet<Vec<usize>> = BTreeSet::from([current.clone()]);
    let mut parts = 2;
    while current.len() >= 2 {
        parts = parts.min(current.len());
        let mut reduced = None;
        for (kept, next_parts) in splits(&current, parts) {
            if !tried.insert(kept.clone()) {
                continue;
            }
            let candidate: Vec<Action> = kept
                .iter()
                .map(|i| stimuli[*i].clone())
                .chain(stimuli.last().cloned())
                .collect();
            let attempt = session.attempt(&candidate)?;
            shortest.offer(&attempt);
            if attempt.accepted {
                reduced = Some((kept, next_parts));
                break;
            }
        }
        match reduced {
            Some((kept, next_parts)) => {
                current = kept;
                parts = next_parts;
            }
            None if parts >= current.len() => break,
            None => parts *= 2,
        }
    }
    Ok(shortest.0)
}

/// The parts, and then what is left without each part; with the number of parts to go on with if
/// it fails.
fn splits(current: &[usize], parts: usize) -> impl Iterator<Item = (Vec<usize>, usize)> + '_ {
    let bound = move |part: usize| part * current.len() / parts;
    let subsets = (0..parts).map(move |i| (current[bound(i)..bound(i + 1)].to_vec(), 2));
    let complements = (0..parts).map(move |i| {
        let rest = [&current[..bound(i)], &current[bound(i + 1)..]].concat();
        (rest, (parts - 1).max(2))
    });
    subsets.chain(complements)
}
