//! Which states of a suspension automaton one implementation state may conform to, and experiments that tell the
//! others apart.
//!
//! Two states are compatible when something conforms to both: they have a response in common after which they are
//! compatible, and are compatible after every stimulus that both accept (van den Bos et al. 2019, Definition 9). The
//! relation is the largest of this kind: all pairs, without those that are refuted, round by round. What refutes a pair is the
//! next step of its experiment.

use ioco_budget::Meter;

use super::automaton::Automaton;
use crate::fsm::MachineError;

/// Why two states are incompatible: what an experiment does next.
#[derive(Clone, Copy, Debug)]
enum Refuted {
    /// After this stimulus they are incompatible.
    Stimulus(usize),
    /// After every response that both allow they are incompatible, or there is none.
    Responses,
}

/// The compatibility of all pairs of states.
#[derive(Debug)]
pub struct Compatibility {
    states: usize,
    refuted: Vec<Option<Refuted>>,
    /// Per state, words that tell it from all states that are incompatible with it.
    experiments: Vec<Vec<Vec<usize>>>,
}

impl Compatibility {
    pub fn new(automaton: &Automaton, meter: &Meter<'_>) -> Result<Compatibility, MachineError> {
        let states = automaton.states();
        let mut found = Compatibility {
            states,
            refuted: vec![None; states * states],
            experiments: Vec::new(),
        };
        loop {
            // A round uses only what earlier rounds refuted, so that experiments are short and end.
            let mut fresh = Vec::new();
            for left in 0..states {
                for right in left + 1..states {
                    meter.spend(1)?;
                    if found.is_compatible(left, right)
                        && let Some(why) = found.refute(automaton, left, right)
                    {
                        fresh.push((left, right, why));
                    }
                }
            }
            if fresh.is_empty() {
                break;
            }
            for (left, right, why) in fresh {
                found.refuted[left * states + right] = Some(why);
                found.refuted[right * states + left] = Some(why);
            }
        }
        for state in 0..states {
            let mut words = Vec::new();
            for other in (0..states).filter(|other| !found.is_compatible(state, *other)) {
                found.distinguish(automaton, state, other, &mut Vec::new(), &mut words, meter)?;
            }
            words.sort_unstable();
            words.dedup();
            found.experiments.push(words);
        }
        Ok(found)
    }

    pub fn is_compatible(&self, left: usize, right: usize) -> bool {
        self.refuted[left * self.states + right].is_none()
    }

    /// Different states that are compatible, in pairs.
    pub fn compatible_pairs(&self) -> usize {
        let all = self.refuted.iter().filter(|refuted| refuted.is_none());
        (all.count() - self.states) / 2
    }

    /// What to do from a state to tell it from all states that are incompatible with it; the last step is a look.
    pub fn experiments(&self, state: usize) -> &[Vec<usize>] {
        &self.experiments[state]
    }

    /// Sets of pairwise incompatible states that are as large as can be; every state is in one.
    pub fn incompatible_sets(&self) -> Vec<Vec<usize>> {
        let mut sets: Vec<Vec<usize>> = Vec::new();
        for first in 0..self.states {
            let mut set = vec![first];
            for state in 0..self.states {
                if set.iter().all(|member| !self.is_compatible(*member, state)) {
                    set.push(state);
                }
            }
            set.sort_unstable();
            if !sets.contains(&set) {
                sets.push(set);
            }
        }
        sets
    }

    fn refute(&self, automaton: &Automaton, left: usize, right: usize) -> Option<Refuted> {
        let common = automaton
            .steps(left)
            .filter_map(|(label, target)| Some((label, target, automaton.step(right, label)?)));
        let mut responses = true;
        for (label, left, right) in common {
            let apart = !self.is_compatible(left, right);
            if label < automaton.inputs() {
                if apart {
                    return Some(Refuted::Stimulus(label));
                }
            } else {
                responses &= apart;
            }
        }
        responses.then_some(Refuted::Responses)
    }

    /// The words of the experiment on two incompatible states.
    fn distinguish(
        &self,
        automaton: &Automaton,
        left: usize,
        right: usize,
        word: &mut Vec<usize>,
        words: &mut Vec<Vec<usize>>,
        meter: &Meter<'_>,
    ) -> Result<(), MachineError> {
        meter.spend(1)?;
        let next: Vec<usize> = match self.refuted[left * self.states + right] {
            Some(Refuted::Stimulus(label)) => vec![label],
            Some(Refuted::Responses) => automaton.outputs(left).map(|(label, _)| label).collect(),
            None => Vec::new(),
        };
        let mut ends = true;
        for label in next {
            let after = (automaton.step(left, label), automaton.step(right, label));
            if let (Some(left), Some(right)) = after {
                ends = false;
                word.push(label);
                self.distinguish(automaton, left, right, word, words, meter)?;
                word.pop();
            }
        }
        if ends {
            words.push(word.clone());
        }
        Ok(())
    }
}
