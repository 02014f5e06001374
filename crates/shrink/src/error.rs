//! What can be wrong with a request to shrink, before anything is run.

/// Why a failure cannot be shrunk.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShrinkError {
    #[error("there is no shrinker named `{name}`; known are {}", known.join(", "))]
    UnknownShrinker { name: String, known: Vec<String> },
    #[error("the execution to shrink does not end in a deviation")]
    NotAFailure,
    #[error("the model does not allow step {step} of the execution to shrink, `{shown}`")]
    NotATrace { step: usize, shown: String },
}
