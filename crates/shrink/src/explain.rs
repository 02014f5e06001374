//! What was left out, and why it did not matter, in sentences for a person.

use ioco_sts::{Action, Deviation, Execution, Sts};

use crate::shrunk::BugKind;

pub(crate) fn explain(
    sts: &Sts,
    original: &Execution,
    shrunk: &Execution,
    kind: BugKind,
    other: Option<&Execution>,
) -> Vec<String> {
    let mut sentences = Vec::new();
    let before: Vec<&Action> = original.stimuli().collect();
    let after: Vec<&Action> = shrunk.stimuli().collect();
    if shrunk.length() < original.length()
        && let Some(kept) = common(&before, &after)
    {
        let mut sentence = format!(
            "{} of the {} stimuli are left out: without them the system fails as well.",
            before.len() - kept,
            before.len()
        );
        match after.len() - kept {
            0 => {}
            1 => sentence.push_str(" One stimulus is new: a short cut that the model offers."),
            new => sentence.push_str(&format!(
                " {new} are new: short cuts that the model offers."
            )),
        }
        sentences.push(sentence);
    }
    match kind {
        BugKind::State => sentences.push(
            "A state bug: the model's shortest path to the failing state fails too, so the \
             earlier steps do not matter."
                .to_owned(),
        ),
        BugKind::Trace => sentences.push(
            "A trace bug: the model's shortest path to the failing state passes, so an earlier \
             step matters."
                .to_owned(),
        ),
        BugKind::Unknown => {}
    }
    if let (Some(first), Some(last)) = (original.deviation(), shrunk.deviation())
        && !last.is_like(first)
    {
        sentences.push(format!(
            "The short trace fails elsewhere: {} in {}, not {} in {}.",
            last.observed.show(sts),
            place(sts, last),
            first.observed.show(sts),
            place(sts, first)
        ));
    }
    if let Some(other) = other
        && let Some(deviation) = other.deviation()
    {
        let stimuli: Vec<String> = other.stimuli().map(|action| action.show(sts)).collect();
        sentences.push(format!(
            "Another failure takes {} steps only: after {}, {} in {}.",
            other.length(),
            stimuli.join(", "),
            deviation.observed.show(sts),
            place(sts, deviation)
        ));
    }
    sentences
}

/// At most three states, by name.
fn place(sts: &Sts, deviation: &Deviation) -> String {
    let states = &deviation.states.states;
    let mut names: Vec<String> = states.iter().take(3).map(|s| s.show(sts)).collect();
    if states.len() > 3 {
        names.push("...".to_owned());
    }
    names.join(" or ")
}

/// Comparisons of stimuli, at most.
const MAX_COMPARISONS: usize = 20_000_000;

/// How many stimuli of the one list are found in the other, in order. `None` for lists that are too
/// long.
fn common(before: &[&Action], after: &[&Action]) -> Option<usize> {
    if before.len().saturating_mul(after.len()) > MAX_COMPARISONS {
        return None;
    }
    let mut row = vec![0; after.len() + 1];
    for action in before {
        let mut diagonal = 0;
        for (column, other) in after.iter().enumerate() {
            let above = row[column + 1];
            row[column + 1] = if action == other {
                diagonal + 1
            } else {
                above.max(row[column])
            };
            diagonal = above;
        }
    }
    Some(row[after.len()])
}
