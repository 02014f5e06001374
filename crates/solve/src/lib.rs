//! Constraint solving over model expressions.
//!
//! Known values and ranges come first: most guards need no search at all. What they leave open is
//! searched under a limit on steps, so that no question runs away and every run repeats. Three
//! answers are possible, and *unknown* is never taken for *unsatisfiable*; every model is checked
//! by evaluation before it is handed out.

mod asserted;
mod backward;
mod choose;
mod cp;
mod domain;
mod embedded;
mod fallback;
mod fast;
mod forward;
mod goal;
mod guard_solver;
mod language;
mod linear;
mod optimum;
mod outcome;
pub mod process;
mod propose;
mod query;
mod samples;
mod search;
mod smt;
mod solver;
mod strings;

pub use choose::{Boundaries, boundary_values, choose_values, extreme_values};
pub use embedded::Embedded;
pub use fallback::FallbackSolver;
pub use guard_solver::GuardSolver;
pub use outcome::{Deadline, Outcome, Unknown};
pub use smt::{Pipe, PipeError, SmtLib};
pub use solver::Solver;
