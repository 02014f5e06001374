//! Shrinkers that take parts out of the failing trace and put nothing in. The exact meaning of
//! each was recovered from the published raw data; costs are counted as there.

mod binary;
mod cycle;
mod delta;
mod elem;

pub(crate) use binary::binary;
pub(crate) use cycle::{Compare, Cycles, cycle, without};
pub(crate) use delta::delta;
pub(crate) use elem::elem;
