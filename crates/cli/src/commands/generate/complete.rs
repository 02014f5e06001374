//! `ioco generate --cover ioco`: a suite that every non-conforming implementation of a bounded size fails.

use ioco_budget::Halted;
use ioco_generate::fsm::MachineError;
use ioco_generate::suspension::{Automaton, NotFinite, suite};
use ioco_sts::{FlattenError, Step};
use serde::Serialize;

use super::Subject;
use super::bounded::{Bounded, MAX_STIMULI, walked};
use crate::args::{self, Format};
use crate::exit::{Answer, CommandError};
use crate::output;

/// The size of a suite: what `--format json` prints last.
#[derive(Serialize)]
struct Size {
    method: &'static str,
    extra: u32,
    /// States of the suspension automaton, those that behave alike merged.
    states: usize,
    inputs: usize,
    /// Pairs of states that one implementation state may conform to.
    compatible: usize,
    /// States that every conforming implementation can be brought to.
    certain: usize,
    tests: u64,
    /// Stimuli, responses and silences of all tests.
    steps: u64,
}

pub fn run(arguments: &args::Generate, model: &Subject, format: Format) -> Answer {
    let bounded = Bounded::begin(arguments, model, format)?;
    let halt = bounded.halt();
    let limit = arguments.model.reading.states;
    let automaton = match Automaton::of_model(&model.sts, model.meaning.relation, limit, &halt) {
        Ok(automaton) => automaton,
        Err(NotFinite::Listing(FlattenError::Interrupted)) => return Ok(bounded.ended()),
        Err(error) => {
            return Err(CommandError::usage(format!(
                "--cover ioco needs a model with a finite suspension automaton: {error}"
            ))
            .hint("for other models use --cover switches or --traces N"));
        }
    };
    let meter = Bounded::meter(&halt);
    let found = match suite(&automaton, bounded.extra(), MAX_STIMULI, &meter) {
        Ok(found) => found,
        Err(MachineError::Halted(Halted::Interrupted)) => return Ok(bounded.ended()),
        Err(error) => {
            return Err(CommandError::usage(error.to_string()).hint(
                "a smaller --extra makes fewer tests; states that are compatible make more",
            ));
        }
    };
    let (tests, steps) = found.sequences.size();
    let size = Size {
        method: "ioco",
        extra: bounded.extra(),
        states: automaton.states(),
        inputs: automaton.inputs(),
        compatible: found.compatible,
        certain: found.certain,
        tests,
        steps,
    };
    let in_words = in_words(&size);
    bounded.write(&found.sequences, &size, &in_words, |semantics, sequence| {
        let labels = sequence.iter().map(|label| automaton.label(*label).clone());
        let steps: Vec<Step> = labels.collect();
        let switches = walked(semantics, &steps)?;
        Some((steps, switches))
    })
}

fn in_words(size: &Size) -> String {
    let Size {
        extra,
        states,
        inputs,
        compatible,
        certain,
        tests,
        steps,
        ..
    } = size;
    format!(
        "ioco: {}, {}, for every implementation of up to {}; the suspension automaton has {}, {certain} of them reached \
         for certain, {} and {}\n",
        output::count(*tests, "test"),
        output::count(*steps, "step"),
        output::count(*states as u64 + u64::from(*extra), "state"),
        output::count(*states as u64, "state"),
        output::count(*compatible as u64, "compatible pair"),
        output::count(*inputs as u64, "stimulus"),
    )
}
