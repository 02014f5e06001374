//! Exit codes, the same for every command. Documented in the book and in `ioco help`.

use std::process::ExitCode;

use ioco_adapters::AdapterError;
use ioco_campaign::failures::Replay;
use ioco_campaign::{CampaignError, ErrorKind, Outcome};
use ioco_engine::Replayed;

use crate::words;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// No deviation.
    Conforms = 0,
    /// A deviation was found.
    Deviation = 1,
    /// Wrong usage or a wrong model.
    Usage = 2,
    /// The system or its adapter could not be used.
    System = 3,
    /// A coverage goal was missed.
    GoalMissed = 4,
    /// Only deviations that could not be confirmed.
    Flaky = 5,
    /// Stopped by the user; what there was is written.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

impl From<&Outcome> for Exit {
    fn from(outcome: &Outcome) -> Exit {
        if outcome.interrupted {
            Exit::Interrupted
        } else if outcome.confirmed > 0 {
            Exit::Deviation
        } else if outcome.flaky > 0 {
            Exit::Flaky
        } else if outcome.summary.errors > 0 {
            Exit::System
        } else if outcome.missed_goal.is_some() || outcome.missed_requirements.is_some() {
            Exit::GoalMissed
        } else if !outcome.is_kept {
            Exit::Usage
        } else {
            Exit::Conforms
        }
    }
}

impl From<&Replay> for Exit {
    fn from(replay: &Replay) -> Exit {
        match &replay.said {
            Replayed::Fixed | Replayed::Allowed { .. } => Exit::Conforms,
            // Another way that the model allows is no deviation.
            Replayed::Different(_) if replay.failed == 0 => Exit::Conforms,
            Replayed::StillFailing | Replayed::Different(_) if replay.is_error() => Exit::System,
            Replayed::StillFailing | Replayed::Different(_) => Exit::Deviation,
            Replayed::Flaky { .. } | Replayed::Unseen { .. } => Exit::Flaky,
            Replayed::Unusable(_) => Exit::System,
        }
    }
}

/// Why a command ends early: what to tell the person, and the exit code.
#[derive(Debug)]
pub struct CommandError {
    pub exit: Exit,
    pub message: String,
    pub hint: Option<String>,
}

impl CommandError {
    pub fn usage(message: impl Into<String>) -> CommandError {
        CommandError {
            exit: Exit::Usage,
            message: message.into(),
            hint: None,
        }
    }

    pub fn hint(mut self, hint: impl Into<String>) -> CommandError {
        self.hint = Some(hint.into());
        self
    }
}

impl From<CampaignError> for CommandError {
    fn from(error: CampaignError) -> CommandError {
        CommandError {
            exit: match error.kind {
                ErrorKind::Usage => Exit::Usage,
                ErrorKind::System => Exit::System,
                ErrorKind::Interrupted => Exit::Interrupted,
            },
            message: error.message,
            hint: error.remedy.as_ref().map(words::remedy).or(error.hint),
        }
    }
}

impl From<AdapterError> for CommandError {
    fn from(error: AdapterError) -> CommandError {
        CommandError {
            exit: Exit::System,
            message: error.message,
            hint: error.hint,
        }
    }
}

/// What a command answers: an exit code, or why it stopped early.
pub type Answer = Result<Exit, CommandError>;
