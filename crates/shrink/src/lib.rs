//! Shrinking failing traces: from hundreds of steps to the few that matter.
//!
//! A shrinker gets the model, a failing execution and a [`Runner`]; it proposes lists of stimuli,
//! looks at what their runs show, and returns the shortest failing execution that it has seen.
//! [`shrink`] is the way in: it takes a [`Pipeline`] by name (`auto`, `cycle+delta`, ...), does all
//! the counting, and keeps to the budget. Nothing here knows a clock, a file or a socket.

mod auto;
mod error;
mod explain;
mod graph;
mod koopman;
mod leave_one_out;
mod length_search;
mod live;
mod options;
mod prove;
mod random;
mod registry;
mod run;
mod session;
mod shrunk;
mod sps;
mod trace_centric;
mod values;
mod walk;

pub use error::ShrinkError;
pub use options::{Options, Pruning};
pub use registry::{Pipeline, SHRINKERS, ShrinkerInfo, shrink};
pub use run::Runner;
pub use session::{Progress, ShrinkObserver};
pub use shrunk::{BugKind, Confidence, Confirmation, Ended, LeaveOneOut, Milestone, Proof, Shrunk};
