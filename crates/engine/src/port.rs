//! The border between the tester and whatever carries its stimuli: plain values both ways.
//!
//! A driver (in the adapters) carries out one [`Command`] after the other and answers each with
//! [`Input`]s. A response may come at any time, also while a stimulus is under way; the driver
//! passes on what has arrived, in the order of arrival, before it carries out the next command.

use ioco_sts::Action;

/// What the tester wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Bring the system into its initial state; answered by [`Input::Ready`]. The test before may
    /// have left responses behind: listen for `drain` nanoseconds first, and discard what comes. A
    /// connection whose reset leaves nothing behind need not.
    Reset { drain: u64 },
    /// Give this stimulus; answered by [`Input::Given`].
    Give(Action),
    /// Wait for a response, at most until this time (nanoseconds on the driver's clock); answered
    /// by [`Input::Response`], [`Input::Unknown`], [`Input::Quiescent`] or [`Input::Silence`].
    Await { until: u64 },
    /// The test is over.
    Finished,
}

/// What happened outside. Every input comes with the time at which it happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    Ready,
    /// The stimulus was handed over. `overtaken`: the connection cannot exclude that responses
    /// that arrive from now on were sent before the system saw the stimulus.
    Given {
        overtaken: bool,
    },
    Response(Action),
    /// A response that the model has no label for, or values that do not have its types.
    Unknown(String),
    /// The time passed without a response.
    Silence,
    /// The system itself says that it will stay silent: no need to wait.
    Quiescent,
    /// The system or its adapter cannot be used any more.
    AdapterError(String),
    /// The system is gone: it crashed, or its connection broke off.
    Ended(String),
    /// The run is to stop now.
    Interrupted,
}
