//! Suites that are complete for ioco: every implementation of up to so many states that does not conform fails.
//!
//! The suites of [`crate::fsm`] are for deterministic machines. A model for ioco may allow several responses, say
//! nothing about some stimuli, and be silent where it could respond; an implementation conforms when it shows a part of
//! what is allowed. So two states of the model need not be told apart: an implementation state may conform to both
//! (they are *compatible*). Suites of this kind work on the suspension automaton of the model ([`Automaton`], Tretmans
//! 2008), and follow van den Bos, Janssen and Moerman (2019): access sequences, then words, then experiments that tell
//! *incompatible* states apart.
//!
//! # Why a suite is complete
//!
//! Let the implementation have at most *m* states, and let *P* be the access sequences of the states that every
//! conforming implementation can be brought to ([`Automaton::certain`]). Take a failing trace *p·w* with *p* in *P* and
//! *w* as short as possible. After every beginning of *w* the implementation is in some state *q* and the model in some
//! state *s*. No pair *(q, s)* occurs twice, and none is the pair of a sequence of *P*, or *w* could be shorter. If two
//! of these pairs have the same *q* and incompatible states of the model, one of the experiments fails, because both
//! pairs were asked. So for every set *A* of pairwise incompatible states, the pairs with a state of *A* have different
//! *q*: there are at most *m* of them, those of *P* included. A word that visits *A* more often is asked as well, so that its
//! last pair counts, but not extended: a failing trace that goes on from there would need more than *m* states. Since
//! every state is in one of the sets, words end.
//!
//! Where all states are incompatible and reached for certain, the words have up to *extra* + 1 steps, as in the W
//! method. Every compatible pair makes them longer.
//!
//! A silent implementation stays where it is, and is silent again. So no shortest failing trace has two silences in a
//! row, and no test does.
//!
//! An implementation chooses among its responses. Completeness assumes, as usual, that every test is repeated until
//! the implementation has shown all of them.

mod automaton;
mod compatible;

use ioco_budget::Meter;

use crate::fsm::{MachineError, Sequences};

pub use automaton::{Automaton, NotFinite};
pub use compatible::Compatibility;

/// A complete suite, and what it promises.
#[derive(Debug)]
pub struct CompleteSuite {
    /// Of labels. The last label of each test is a response or silence that the model allows: there the test looks.
    pub sequences: Sequences,
    /// Every implementation of up to so many states that does not conform fails.
    pub states: usize,
    /// Pairs of states of the model that one implementation state may conform to.
    pub compatible: usize,
    /// States that every conforming implementation can be brought to.
    pub certain: usize,
}

/// The suite for implementations with up to `extra` more states than the automaton. `limit` bounds the steps of all
/// tests together, counted once where tests begin alike.
pub fn suite(
    automaton: &Automaton,
    extra: u32,
    limit: usize,
    meter: &Meter<'_>,
) -> Result<CompleteSuite, MachineError> {
    let most = automaton.states() + extra as usize;
    let compatibility = Compatibility::new(automaton, meter)?;
    let access = automaton.certain();
    let families = compatibility.incompatible_sets();
    // Per set, how many states of the implementation the access sequences need.
    let taken: Vec<usize> = families
        .iter()
        .map(|set| {
            access
                .iter()
                .filter(|(state, _)| set.contains(state))
                .count()
        })
        .collect();
    let mut sequences = Sequences::new(limit);
    for (start, prefix) in &access {
        // A word, the state after it, and how often each set was visited.
        let mut open = vec![(prefix.clone(), *start, taken.clone())];
        while let Some((word, state, visits)) = open.pop() {
            meter.spend(1)?;
            add(automaton, &mut sequences, &word, &[])?;
            for experiment in compatibility.experiments(state) {
                meter.spend(1)?;
                add(automaton, &mut sequences, &word, experiment)?;
            }
            if visits.iter().any(|count| *count > most) {
                continue;
            }
            for (label, target) in automaton.steps(state) {
                // After silence, silence shows nothing new.
                if automaton.is_silence(label) && word.last() == Some(&label) {
                    continue;
                }
                let mut visits = visits.clone();
                for (set, count) in families.iter().zip(&mut visits) {
                    *count += usize::from(set.contains(&target));
                }
                let mut longer = word.clone();
                longer.push(label);
                open.push((longer, target, visits));
            }
        }
    }
    Ok(CompleteSuite {
        sequences,
        states: most,
        compatible: compatibility.compatible_pairs(),
        certain: access.len(),
    })
}

/// Adds a word with a look at what the system does after it. Silence after silence is left out: a system that is silent
/// stays where it is.
fn add(
    automaton: &Automaton,
    sequences: &mut Sequences,
    word: &[usize],
    experiment: &[usize],
) -> Result<(), MachineError> {
    let mut whole = word.to_vec();
    whole.extend_from_slice(experiment);
    whole.dedup_by(|next, last| next == last && automaton.is_silence(*last));
    let is_silent = whole
        .last()
        .is_some_and(|label| automaton.is_silence(*label));
    let end = automaton.after(&whole).filter(|_| !is_silent);
    let look = end.and_then(|end| automaton.outputs(end).next());
    match look {
        Some((output, _)) => sequences.add(&whole, &[output]),
        None => sequences.add(&whole, &[]),
    }
}
