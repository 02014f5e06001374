//! `ioco generate --cover w|wp|hsi`: suites that find every fault in systems with up to so many more
//! states than the model.

use super::Subject;
use crate::exit::{Answer, CommandError, Exit};
use ioco_budget::{Budget, Halted, Interrupt, Meter};
use ioco_campaign::StopFlag;
use ioco_generate::fsm::{
    MachineError, Method, ModelMachine, NotAMachine, Sequences, suite_within,
};
use ioco_sts::{FlattenError, Semantics, Step};
use serde::Serialize;

use super::suite::Suite;
use crate::args::{self, Format};
use crate::output;

/// Stimuli of all tests together, counted once where tests begin alike: about a gigabyte.
pub(super) const MAX_STIMULI: usize = 20_000_000;

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
    refuse_others(arguments)?;
    let extra = arguments.extra.unwrap_or(0);
    let sts = &model.sts;
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
    let read = ModelMachine::new(sts, arguments.model.reading.states, &halt);
    if let Err(NotAMachine::Listing(FlattenError::Interrupted)) = read {
        return Ok(ended());
    }
    let read = read.map_err(|error| {
        CommandError::usage(format!(
            "--cover {} needs a model that responds to every stimulus in one way: {error}",
            method.name()
        ))
        .hint("for other models use --cover switches or --traces N")
    })?;
    let budget = Budget {
        steps: u64::MAX,
        ..Budget::default()
    };
    let meter = Meter::new(&budget, Some(&halt));
    let found = match suite_within(read.machine(), method, extra, MAX_STIMULI, &meter) {
        Ok(found) => found,
        Err(MachineError::Halted(Halted::Interrupted)) => return Ok(ended()),
        Err(error) => return Err(refusal(&error, &read, model, method)),
    };
    let (tests, stimuli) = found.size();
    let size = Size {
        method: method.name(),
        extra,
        states: read.machine().states(),
        inputs: read.inputs().len(),
        tests,
        stimuli,
    };
    let unconfirmed = match arguments.count {
        true => 0,
        false => write(&found, &read, arguments, model, format, &halt)?,
    };
    match format {
        Format::Json => output::json(&size)?,
        // On standard output only where there is nothing else.
        _ if arguments.count || arguments.output.is_some() => {
            output::print(&in_words(&size, read.waiting()));
        }
        _ => output::message(&in_words(&size, read.waiting())),
    }
    if unconfirmed > 0 {
        output::warn(&format!(
            "{unconfirmed} tests are omitted: replaying them on the model does not confirm them"
        ));
        return Ok(Exit::GoalMissed);
    }
    Ok(Exit::Conforms)
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
        "{method}: {tests} tests, {stimuli} stimuli, for every system of up to {} states; the model \
         has {states} states{merged} and {inputs} stimuli\n",
        states + *extra as usize
    )
}

pub(super) fn refuse_others(arguments: &args::Generate) -> Result<(), CommandError> {
    let given = [
        ("--loops", arguments.loops.is_some()),
        ("--jobs", arguments.jobs.is_some()),
        ("--data", arguments.data.is_some()),
        ("--depth", arguments.depth.is_some()),
        ("--svg", arguments.svg.is_some()),
        ("--minimise", arguments.smv.minimise),
    ];
    match given.iter().find(|(_, given)| *given) {
        Some((flag, _)) => Err(CommandError::usage(format!(
            "{flag} does not go with --cover w, wp, hsi or ioco"
        ))),
        None if arguments.count && arguments.output.is_some() => Err(CommandError::usage(
            "--count writes no tests, so there is nothing for --output",
        )),
        None => Ok(()),
    }
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

/// Writes the tests that a second walk confirms, and returns how many it does not.
fn write(
    found: &Sequences,
    read: &ModelMachine,
    arguments: &args::Generate,
    model: &Subject,
    format: Format,
    halt: &Interrupt,
) -> Result<u64, CommandError> {
    let sts = &model.sts;
    let mut semantics = model.semantics();
    let suite = Suite::open(arguments, format, model, None, halt)?;
    let mut page = suite.page();
    let mut unconfirmed = 0;
    for sequence in found.tests() {
        let (steps, switches) = read.test(&sequence);
        if !is_allowed(&mut semantics, &steps) {
            unconfirmed += 1;
        } else if !page.add_steps(sts, steps, &switches) {
            break;
        }
    }
    page.flush();
    drop(page);
    suite.close()?;
    Ok(unconfirmed)
}

/// Whether the meaning of the model allows the steps, one after the other.
fn is_allowed(semantics: &mut Semantics, steps: &[Step]) -> bool {
    let mut set = semantics.initial();
    for step in steps {
        match semantics.after(set, step) {
            Some(next) => set = next,
            None => return false,
        }
    }
    true
}
