//! The shortest failing trace that exists at all, by going through every list of stimuli that the
//! model allows and that could be shorter: slow and obvious.

use std::collections::VecDeque;

use ioco_shrink::Runner;
use ioco_sts::{Action, SetId, Verdict};

use crate::flat::FlatRunner;

/// Lists that are tried at most; beyond it the answer is only a bound.
const MAX_LISTS: usize = 20_000_000;

/// The length of the shortest failing trace, where one of `known` steps is known. `None` when there
/// are too many lists to go through.
pub(crate) fn shortest(runner: &mut FlatRunner, known: usize) -> Option<usize> {
    let mut best = known;
    let mut tried = 0;
    let start = runner.semantics.initial();
    let mut open: VecDeque<(Vec<Action>, SetId, usize)> = VecDeque::from([(Vec::new(), start, 0)]);
    while let Some((list, set, steps)) = open.pop_front() {
        // One more stimulus that is not answered is one more step.
        if steps + 1 >= best {
            continue;
        }
        let menu = runner.semantics.menu(set);
        for offer in &menu.stimuli {
            let mut longer = list.clone();
            longer.push(Action::plain(offer.label));
            tried += 1;
            if tried > MAX_LISTS {
                return None;
            }
            let execution = runner.run(&longer);
            match execution.verdict {
                Verdict::Fail(_) => best = best.min(execution.length()),
                Verdict::Pass if execution.length() + 1 < best => {
                    let length = execution.length();
                    open.push_back((longer, runner.reached, length));
                }
                _ => {}
            }
        }
    }
    Some(best)
}
