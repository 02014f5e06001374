//! Systems that no tester can use: they crash, hang, flood, talk rubbish or answer late.
//!
//! They play the echo system until the stimulus at which they go wrong. A tester must neither hang
//! nor take what they do for a deviation of the system.

use std::io::{self, BufRead, Write};
use std::time::Duration;

use crate::System;
use crate::line::{self, Request};
use crate::registry;

/// How a system goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misbehaviour {
    /// The process ends with an error in the middle of a test, with no answer.
    Crash,
    /// Nothing is read or said any more.
    Hang,
    /// Responses come without end.
    Flood,
    /// Lines come that are not of the protocol.
    Rubbish,
    /// The response comes after a delay, and silence is never announced.
    Late,
}

impl Misbehaviour {
    pub const ALL: [Misbehaviour; 5] = [
        Misbehaviour::Crash,
        Misbehaviour::Hang,
        Misbehaviour::Flood,
        Misbehaviour::Rubbish,
        Misbehaviour::Late,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Misbehaviour::Crash => "crash",
            Misbehaviour::Hang => "hang",
            Misbehaviour::Flood => "flood",
            Misbehaviour::Rubbish => "rubbish",
            Misbehaviour::Late => "late",
        }
    }

    pub fn description(self) -> &'static str {
        match self {
            Misbehaviour::Crash => "echo that ends with exit code 70 at a stimulus",
            Misbehaviour::Hang => "echo that neither reads nor answers any more",
            Misbehaviour::Flood => "echo that answers one stimulus without end",
            Misbehaviour::Rubbish => "echo that sends lines outside the protocol",
            Misbehaviour::Late => "echo that answers after a delay",
        }
    }

    pub fn from_name(name: &str) -> Option<Misbehaviour> {
        Misbehaviour::ALL.into_iter().find(|m| m.name() == name)
    }
}

/// When and how long a system misbehaves.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    /// So many stimuli are answered well; the misbehaviour comes with the next.
    pub after: u64,
    /// Of the late answer.
    pub delay: Duration,
}

/// Why a misbehaving system stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    InputEnded,
    Crashed,
}

/// A hanging process that is not ended goes away by itself after this time.
const LONGEST_HANG: Duration = Duration::from_secs(600);

const RUBBISH: &[u8] =
    b"segmentation fault (core dumped)\n{\"response\":\n[1,2]\n{\"response\":7}\n\xff\xfe\n";

/// Serves the echo system, with its misbehaviour, until the input ends.
pub fn serve(
    misbehaviour: Misbehaviour,
    schedule: Schedule,
    mut input: impl BufRead,
    mut output: impl Write,
) -> io::Result<Ending> {
    let mut echo: Box<dyn System> = registry::system("echo", None).map_err(io::Error::other)?;
    let announces_quiescence = misbehaviour != Misbehaviour::Late;
    let mut stimuli = 0;
    let mut line = String::new();
    loop {
        line.clear();
        if input.read_line(&mut line)? == 0 {
            return Ok(Ending::InputEnded);
        }
        let answer = line::answer(echo.as_mut(), &line, announces_quiescence);
        if matches!(line::parse(&line), Ok(Request::Stimulus(_))) {
            stimuli += 1;
            if stimuli > schedule.after {
                match misbehaviour {
                    Misbehaviour::Crash => return Ok(Ending::Crashed),
                    Misbehaviour::Hang => std::thread::sleep(LONGEST_HANG),
                    Misbehaviour::Flood => loop {
                        output.write_all(answer.as_bytes())?;
                    },
                    Misbehaviour::Rubbish => output.write_all(RUBBISH)?,
                    Misbehaviour::Late => std::thread::sleep(schedule.delay),
                }
            }
        }
        output.write_all(answer.as_bytes())?;
        output.flush()?;
    }
}
