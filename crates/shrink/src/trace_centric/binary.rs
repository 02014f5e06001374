//! Recursive halving: leave out a block of stimuli, or else each half of it.

use ioco_sts::{Action, Execution};

use crate::session::{Halt, Session, Shortest, stimuli_of};

/// The last stimulus is always kept. That it fails alone is tried last, not first: so says the
/// published data, where a block as a whole is skipped once the half before it could go.
pub(crate) fn binary(session: &mut Session<'_>, start: &Execution) -> Result<Execution, Halt> {
    let stimuli = stimuli_of(start);
    let removable = stimuli.len().saturating_sub(1);
    let mut halving = Halving {
        kept: vec![true; stimuli.len()],
        stimuli,
        shortest: Shortest(start.clone()),
        session,
    };
    halving.reduce(0, removable, true)?;
    halving.fails_without(0, removable)?;
    Ok(halving.shortest.0)
}

struct Halving<'s, 'a> {
    session: &'s mut Session<'a>,
    stimuli: Vec<Action>,
    kept: Vec<bool>,
    shortest: Shortest,
}

impl Halving<'_, '_> {
    /// Returns whether testing the sibling as a whole can be skipped. `skip`: it is known that
    /// this block cannot be left out as a whole.
    fn reduce(&mut self, from: usize, to: usize, skip: bool) -> Result<bool, Halt> {
        if from == to {
            return Ok(false);
        }
        if !skip && self.fails_without(from, to)? {
            self.kept[from..to].fill(false);
            return Ok(true);
        }
        if to - from == 1 {
            return Ok(false);
        }
        let middle = from + (to - from) / 2;
        let left = self.reduce(from, middle, false)?;
        self.reduce(middle, to, left)
    }

    fn fails_without(&mut self, from: usize, to: usize) -> Result<bool, Halt> {
        let candidate: Vec<Action> = (0..self.stimuli.len())
            .filter(|i| self.kept[*i] && !(from..to).contains(i))
            .map(|i| self.stimuli[i].clone())
            .collect();
        let attempt = self.session.attempt(&candidate)?;
        self.shortest.offer(&attempt);
        Ok(attempt.accepted)
    }
}
