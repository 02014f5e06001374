//! Binary search on the length with other pseudo-random traces (Koopman et al. 2013, section 3): what people
//! did before there was shrinking, and the baseline to compare with.

use ioco_sts::{Action, Execution, Step};

use crate::graph::{Graph, Nodes};
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
    let graph = Graph::new(Nodes::Sets, &start.trace, session.options);
    let mut shortest = Shortest(start.clone());
    let mut without_issue = 0;
    let mut with_issue = start.stimuli().count();
    while with_issue > without_issue + 1 {
        let bound = without_issue + (with_issue - without_issue) / 2;
        let mut found = None;
        for _ in 0..TRACES_PER_BOUND {
            let stimuli = random_stimuli(session, &graph, &mut random, bound)?;
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
fn random_stimuli(
    session: &mut Session<'_>,
    graph: &Graph,
    random: &mut Random,
    count: usize,
) -> Result<Vec<Action>, Halt> {
    // A model may send responses for ever; this many in a row are enough for a guess.
    const MAX_RESPONSES: usize = 64;
    let mut stimuli = Vec::new();
    let mut set = session.semantics.initial();
    let mut responses = 0;
    while stimuli.len() < count {
        session.poll()?;
        let semantics = &mut *session.semantics;
        let menu = semantics.menu(set);
        let (offers, is_stimulus) = if menu.silence || menu.responses.is_empty() {
            (&menu.stimuli, true)
        } else {
            (&menu.responses, false)
        };
        let mut actions: Vec<Action> = Vec::new();
        for offer in offers {
            actions.extend(graph.actions(semantics, set, offer));
        }
        actions.retain(|action| {
            if session.options.excluded.contains(&action.label) {
                return false;
            }
            let step = if is_stimulus {
                Step::Stimulus(action.clone())
            } else {
                Step::Response(action.clone())
            };
            semantics.after(set, &step).is_some()
        });
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
    Ok(stimuli)
}
