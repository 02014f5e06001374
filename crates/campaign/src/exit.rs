//! Exit codes, the same for every command. Documented in the book and in `ioco help`.

use std::process::ExitCode;

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

    pub fn system(message: impl Into<String>) -> CommandError {
        CommandError {
            exit: Exit::System,
            message: message.into(),
            hint: None,
        }
    }

    pub fn hint(mut self, hint: impl Into<String>) -> CommandError {
        self.hint = Some(hint.into());
        self
    }
}

/// What a command answers: an exit code, or why it stopped early.
pub type Answer = Result<Exit, CommandError>;
