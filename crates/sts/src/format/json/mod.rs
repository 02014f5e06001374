//! ioco's own format (`.json`): a whole system, without loss, with a version.

mod expression;
mod parts;
mod read;
mod saved;
mod write;

pub(super) use parts::{
    Drawn, DrawnLocation, DrawnStart, DrawnSwitch, head, locations, same_label, switches,
};
pub use read::read;
pub use write::write;
