//! The shortest failing trace that exists at all, by going through every list of stimuli that the
//! model allows and that could be shorter: slow and obvious.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use ioco_examples::{Message, System as _};
use ioco_shrink::Runner;
use ioco_sts::{Action, Direction, SetId, Step, Verdict};

use crate::flat::{FlatModel, semantics};
use crate::generated::generated;
use crate::runner::ModelRunner;

/// Lists that are tried at most; beyond it the answer is only a bound.
const MAX_LISTS: usize = 1_000_000;

/// The length of the shortest failing trace of a system whose state can be seen: breadth first over the
/// states of model and system together.
pub(crate) fn shortest_of_played(model: &FlatModel, mutant: &str) -> Option<usize> {
    let mut system = generated(model, mutant)?;
    let mut semantics = semantics(&model.sts);
    let mut best = usize::MAX;
    let mut seen: BTreeSet<(SetId, Option<SetId>)> = BTreeSet::new();
    // By steps: a stimulus may have several responses.
    let mut open: BTreeMap<usize, Vec<(SetId, Option<SetId>)>> = BTreeMap::new();
    open.entry(0)
        .or_default()
        .push((semantics.initial(), system.at));
    while let Some((steps, states)) = open.pop_first() {
        if steps + 1 >= best {
            break;
        }
        for (set, at) in states {
            if !seen.insert((set, at)) {
                continue;
            }
            for offer in &semantics.menu(set).stimuli {
                system.at = at;
                let step = Step::Stimulus(Action::plain(offer.label));
                let mut given = semantics.after(set, &step);
                let mut length = steps + 1;
                for response in system.give(&Message::plain(&model.names[offer.label.index()])) {
                    length += 1;
                    let mut labels = model.sts.labels_of(Direction::Response);
                    let label = labels.find(|label| model.names[label.index()] == response.label);
                    given = label.zip(given).and_then(|(label, set)| {
                        semantics.after(set, &Step::Response(Action::plain(label)))
                    });
                    if given.is_none() {
                        break;
                    }
                }
                match given.and_then(|set| semantics.after(set, &Step::Quiescence)) {
                    Some(set) => open.entry(length).or_default().push((set, system.at)),
                    None => best = best.min(length),
                }
            }
        }
    }
    (best < usize::MAX).then_some(best)
}

/// The length of the shortest failing trace, where one of `known` steps is known. `None` when there
/// are too many lists to go through.
pub(crate) fn shortest(runner: &mut ModelRunner, known: usize) -> Option<usize> {
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
