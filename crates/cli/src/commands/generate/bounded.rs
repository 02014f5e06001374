//! What the suites for systems of a bounded size share (`--cover w`, `wp`, `hsi` and `ioco`): the time that they may
//! take, and how their tests and their size are written.

use ioco_budget::{Budget, Interrupt, Meter};
use ioco_campaign::StopFlag;
use ioco_generate::fsm::Sequences;
use ioco_sts::{Semantics, Step, SwitchId};
use serde::Serialize;

use super::Subject;
use super::suite::Suite;
use crate::args::{self, Format};
use crate::exit::{Answer, CommandError, Exit};
use crate::output;

/// Stimuli of all tests together, counted once where tests begin alike: about a gigabyte.
pub const MAX_STIMULI: usize = 20_000_000;

/// A suite that is being made.
pub struct Bounded<'a> {
    pub arguments: &'a args::Generate,
    pub model: &'a Subject,
    format: Format,
    interrupt: Interrupt,
    /// Raised when the time is up too.
    flag: StopFlag,
}

impl<'a> Bounded<'a> {
    pub fn begin(
        arguments: &'a args::Generate,
        model: &'a Subject,
        format: Format,
    ) -> Result<Bounded<'a>, CommandError> {
        refuse_others(arguments)?;
        let interrupt = crate::interrupt::listen();
        Ok(Bounded {
            arguments,
            model,
            format,
            flag: StopFlag::new(super::deadline(arguments)?, &interrupt),
            interrupt,
        })
    }

    /// More states than the model has.
    pub fn extra(&self) -> u32 {
        self.arguments.extra.unwrap_or(0)
    }

    pub fn halt(&self) -> Interrupt {
        self.flag.raised()
    }

    /// The exit where there is no suite, because it was interrupted.
    pub fn ended(&self) -> Exit {
        if self.interrupt.is_raised() {
            return Exit::Interrupted;
        }
        output::warn("the time limit was reached: there is no suite");
        Exit::GoalMissed
    }

    /// Counts no steps: the time and the number of stimuli are the limits.
    pub fn meter(halt: &Interrupt) -> Meter<'_> {
        let budget = Budget {
            steps: u64::MAX,
            ..Budget::default()
        };
        Meter::new(&budget, Some(halt))
    }

    /// Writes the tests, and says how large the suite is. `test` has the steps of a sequence and the switches that
    /// explain them, where the meaning of the model allows them.
    pub fn write(
        &self,
        found: &Sequences,
        size: &impl Serialize,
        in_words: &str,
        test: impl FnMut(&mut Semantics, &[usize]) -> Option<(Vec<Step>, Vec<SwitchId>)>,
    ) -> Answer {
        let unconfirmed = match self.arguments.count {
            true => 0,
            false => self.write_tests(found, test)?,
        };
        match self.format {
            Format::Json => output::json(size)?,
            // On standard output only where there is nothing else.
            _ if self.arguments.count || self.arguments.output.is_some() => {
                output::print(in_words);
            }
            _ => output::message(in_words),
        }
        if unconfirmed > 0 {
            output::warn(&format!(
                "{unconfirmed} tests are omitted: replaying them on the model does not confirm them"
            ));
            return Ok(Exit::GoalMissed);
        }
        Ok(Exit::Conforms)
    }

    /// Writes the tests that a second walk confirms, and returns how many it does not.
    fn write_tests(
        &self,
        found: &Sequences,
        mut test: impl FnMut(&mut Semantics, &[usize]) -> Option<(Vec<Step>, Vec<SwitchId>)>,
    ) -> Result<u64, CommandError> {
        let mut semantics = self.model.semantics();
        let suite = Suite::open(self.arguments, self.format, self.model, None, &self.halt())?;
        let mut page = suite.page();
        let mut unconfirmed = 0;
        for sequence in found.tests() {
            let Some((steps, switches)) = test(&mut semantics, &sequence) else {
                unconfirmed += 1;
                continue;
            };
            if !page.add_steps(&self.model.sts, steps, &switches) {
                break;
            }
        }
        page.flush();
        drop(page);
        suite.close()?;
        Ok(unconfirmed)
    }
}

/// The switches that explain the steps; `None` where the meaning of the model does not allow them.
pub fn walked(semantics: &mut Semantics, steps: &[Step]) -> Option<Vec<SwitchId>> {
    let mut set = semantics.initial();
    let mut switches = Vec::new();
    for step in steps {
        let followed = semantics.follow(set, step)?;
        switches.extend(followed.taken.iter().copied());
        set = followed.set;
    }
    Some(switches)
}

fn refuse_others(arguments: &args::Generate) -> Result<(), CommandError> {
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
            "--count writes no tests, so --output has no effect",
        )),
        None => Ok(()),
    }
}
