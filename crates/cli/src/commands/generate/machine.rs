//! `ioco generate --cover w|wp|hsi`: suites that find every fault in systems with up to so many more
//! states than the model.

use ioco_budget::Halted;
use ioco_generate::fsm::{MachineError, Method, ModelMachine, NotAMachine, suite_within};
use ioco_sts::FlattenError;
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
    /// States of the minimal machine.
    states: usize,
    inputs: usize,
    tests: u64,
    stimuli: u64,
}

pub fn run(method: Method, arguments: &args::Generate, model: &Subject, format: Format) -> Answer {
    let suite = Bounded::begin(arguments, model, format)?;
    let halt = suite.halt();
    let read = match ModelMachine::new(&model.sts, arguments.model.reading.states, &halt) {
        Ok(read) => read,
        Err(NotAMachine::Listing(FlattenError::Interrupted)) => return Ok(suite.ended()),
        Err(error) => {
            return Err(CommandError::usage(format!(
                "--cover {} needs a model that responds to every stimulus in one way: {error}",
                method.name()
            ))
            .hint("for other models use --cover switches or --traces N"));
        }
    };
    let meter = Bounded::meter(&halt);
    let found = match suite_within(read.machine(), method, suite.extra(), MAX_STIMULI, &meter) {
        Ok(found) => found,
        Err(MachineError::Halted(Halted::Interrupted)) => return Ok(suite.ended()),
        Err(error) => return Err(refusal(&error, &read, model, method)),
    };
    let (tests, stimuli) = found.size();
    let size = Size {
        method: method.name(),
        extra: suite.extra(),
        states: read.machine().states(),
        inputs: read.inputs().len(),
        tests,
        stimuli,
    };
    let in_words = in_words(&size, read.waiting());
    suite.write(&found, &size, &in_words, |semantics, sequence| {
        let (steps, switches) = read.test(sequence);
        walked(semantics, &steps).map(|_| (steps, switches))
    })
}

fn in_words(size: &Size, waiting: usize) -> String {
    let Size {
        method,
        extra,
        states,
        inputs,
        tests,
        stimuli,
    } = size;
    let merged = match waiting == *states {
        true => String::new(),
        false => format!(" ({waiting} before states that behave alike were merged)"),
    };
    format!(
        "{method}: {}, {}, for every system of up to {}; the model has {}{merged} and {}\n",
        output::count(*tests, "test"),
        output::count(*stimuli, "stimulus"),
        output::count(*states as u64 + u64::from(*extra), "state"),
        output::count(*states as u64, "state"),
        output::count(*inputs as u64, "stimulus"),
    )
}

fn refusal(
    error: &MachineError,
    read: &ModelMachine,
    model: &Subject,
    method: Method,
) -> CommandError {
    let why = read.explain(&model.sts, error);
    let name = method.name();
    match error {
        MachineError::Partial { .. } => CommandError::usage(format!(
            "--cover {name} needs a model that accepts every stimulus everywhere: {why}"
        ))
        .hint("--cover hsi also works for models that do not accept every stimulus"),
        MachineError::Alike { .. } => CommandError::usage(format!(
            "--cover {name} needs states that tests can distinguish: {why}"
        ))
        .hint("add what one of them does with a stimulus of the other to the model"),
        MachineError::TooLarge(_) => {
            CommandError::usage(why).hint("a smaller --extra, or --cover hsi, makes fewer tests")
        }
        MachineError::TooManyStates(_) => {
            CommandError::usage(why).hint("for models of this size use --cover switches")
        }
        MachineError::Halted(_) => CommandError::usage(why),
    }
}
