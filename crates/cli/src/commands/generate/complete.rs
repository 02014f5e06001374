//! `ioco generate --cover ioco`: a suite that every non-conforming implementation of a bounded size fails.

use super::Subject;
use super::machine::{MAX_STIMULI, refuse_others};
use crate::exit::{Answer, CommandError, Exit};
use ioco_budget::{Budget, Halted, Interrupt, Meter};
use ioco_campaign::StopFlag;
use ioco_generate::fsm::{MachineError, Sequences};
use ioco_generate::suspension::{Automaton, NotFinite, suite};
use ioco_sts::{FlattenError, Semantics, Step, SwitchId};
use serde::Serialize;

use super::suite::Suite;
use crate::args::{self, Format};
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
    refuse_others(arguments)?;
    let extra = arguments.extra.unwrap_or(0);
    let interrupt = crate::interrupt::listen();
    let flag = StopFlag::new(super::deadline(arguments)?, &interrupt);
    let halt = flag.raised();
    let ended = || match interrupt.is_raised() {
        true => Exit::Interrupted,
        false => {
            output::warn("the time was up: there is no suite");
            Exit::GoalMissed
        }
    };
    let limit = arguments.model.reading.states;
    let automaton = match Automaton::of_model(&model.sts, model.relation, limit, &halt) {
        Ok(automaton) => automaton,
        Err(NotFinite::Listing(FlattenError::Interrupted)) => return Ok(ended()),
        Err(error) => {
            return Err(CommandError::usage(format!(
                "--cover ioco needs a model with a finite suspension automaton: {error}"
            ))
            .hint("for other models use --cover switches or --traces N"));
        }
    };
    let budget = Budget {
        steps: u64::MAX,
        ..Budget::default()
    };
    let meter = Meter::new(&budget, Some(&halt));
    let found = match suite(&automaton, extra, MAX_STIMULI, &meter) {
        Ok(found) => found,
        Err(MachineError::Halted(Halted::Interrupted)) => return Ok(ended()),
        Err(error) => {
            return Err(CommandError::usage(error.to_string()).hint(
                "a smaller --extra makes fewer tests; states that are compatible make more",
            ));
        }
    };
    let (tests, steps) = found.sequences.size();
    let size = Size {
        method: "ioco",
        extra,
        states: automaton.states(),
        inputs: automaton.inputs(),
        compatible: found.compatible,
        certain: found.certain,
        tests,
        steps,
    };
    let unconfirmed = match arguments.count {
        true => 0,
        false => write(
            &found.sequences,
            &automaton,
            arguments,
            model,
            format,
            &halt,
        )?,
    };
    match format {
        Format::Json => output::json(&size)?,
        // On standard output only where there is nothing else.
        _ if arguments.count || arguments.output.is_some() => output::print(&in_words(&size)),
        _ => output::message(&in_words(&size)),
    }
    if unconfirmed > 0 {
        output::warn(&format!(
            "{unconfirmed} tests are omitted: replaying them on the model does not confirm them"
        ));
        return Ok(Exit::GoalMissed);
    }
    Ok(Exit::Conforms)
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
        "ioco: {tests} tests, {steps} steps, for every implementation of up to {} states; the suspension automaton has \
         {states} states, {certain} of them reached for certain, {compatible} compatible pairs and {inputs} stimuli\n",
        states + *extra as usize
    )
}

/// Writes the tests that a second walk confirms, and returns how many it does not.
fn write(
    found: &Sequences,
    automaton: &Automaton,
    arguments: &args::Generate,
    model: &Subject,
    format: Format,
    halt: &Interrupt,
) -> Result<u64, CommandError> {
    let mut semantics = model.semantics();
    let suite = Suite::open(arguments, format, model, None, halt)?;
    let mut page = suite.page();
    let mut unconfirmed = 0;
    for sequence in found.tests() {
        let steps: Vec<Step> = sequence
            .iter()
            .map(|label| automaton.label(*label).clone())
            .collect();
        let Some(switches) = walked(&mut semantics, &steps) else {
            unconfirmed += 1;
            continue;
        };
        if !page.add_steps(&model.sts, steps, &switches) {
            break;
        }
    }
    page.flush();
    drop(page);
    suite.close()?;
    Ok(unconfirmed)
}

/// The switches that explain the steps; `None` where the meaning of the model does not allow them.
fn walked(semantics: &mut Semantics, steps: &[Step]) -> Option<Vec<SwitchId>> {
    let mut set = semantics.initial();
    let mut switches = Vec::new();
    for step in steps {
        let followed = semantics.follow(set, step)?;
        switches.extend(followed.taken.iter().copied());
        set = followed.set;
    }
    Some(switches)
}
