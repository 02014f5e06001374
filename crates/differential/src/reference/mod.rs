//! The theory by enumeration. Nothing here is clever, and nothing calls `sts::Semantics`,
//! `sts::eval`, the solver or the engine.

mod eval;
mod judge;
mod pool;
mod regex;
pub mod text;
mod theory;
mod value;

pub use eval::{Kind, Nothing};
pub use judge::{Judge, Judgement, Observation};
pub use theory::{Event, Set, State, Theory};
pub use value::Val;
