//! Binary search on the length with other pseudo-random traces (seed 003, section 3): what people
//! did before there was shrinking, and the baseline to compare with.

use ioco_sts::{Action, Execution, Semantics, Step};

use crate::random::Random;
use crate::session::{Halt, Session, Shortest};

/// Traces tried for each upper bound before it is given up.
const TRACES_PER_BOUND: usize = 100;

/// Halves the distance between a length at which an issue was found and one at which none was.
pub(crate) fn length_search(
    session: &mut Session<'_>,
    start: &Execution,
) -> Result<Execution, Halt> {
    let mut random = Random::new(session.options.seed);
    let mut shortest = Shortest(start.clone());
    let mut without_issue = 0;
    let mut with_issue = start.stimuli().count();
    while with_issue > without_issue + 1 {
        let bound = without_issue + (with_issue - without_issue) / 2;
        let mut found = None;
        for _ in 0..TRACES_PER_BOUND {
            let stimuli = random_stimuli(session.semantics, &mut random, bound);
            let attempt = session.attempt(&stimuli)?;
            shortest.offer(&attempt);
            if attempt.accepted {
                found = Some(attempt.execution.stimuli().count());
                break;
            }
        }
        match found {
            Some(count) => with_issue = count.min(bound),
            None => without_issue = bound,
        }
    }
    Ok(shortest.0)
}

/// A random walk through the model with at most `count` stimuli, chosen before it is run; where
/// the model leaves the response open, one is guessed.
fn random_stimuli(semantics: &mut Semantics, random: &mut Random, count: usize) -> Vec<Action> {
    // A model may send responses for ever; this many in a row are enough for a guess.
    const MAX_RESPONSES: usize = 64;
    let mut stimuli = Vec::new();
    let mut set = semantics.initial();
    let mut responses = 0;
    while stimuli.len() < count {
        let menu = semantics.menu(set);
        let (offers, is_stimulus) = if menu.silence || menu.responses.is_empty() {
            (&menu.stimuli, true)
        } else {
            (&menu.responses, false)
        };
        let actions: Vec<Action> = offers
            .iter()
            .map(|offer| Action::plain(offer.label))
            .filter(|action| {
                let step = if is_stimulus {
                    Step::Stimulus(action.clone())
                } else {
                    Step::Response(action.clone())
                };
                semantics.after(set, &step).is_some()
            })
            .collect();
        if actions.is_empty() || responses > MAX_RESPONSES {
            break;
        }
        let action = actions[random.below(actions.len())].clone();
        let step = if is_stimulus {
            responses = 0;
            stimuli.push(action.clone());
            Step::Stimulus(action)
        } else {
            responses += 1;
            Step::Response(action)
        };
        match semantics.after(set, &step) {
            Some(next) => set = next,
            None => break,
        }
    }
    stimuli
}
