//! ioco's own format (`.json`): a whole system, without loss, with a version.

mod expression;
mod read;
mod saved;
mod write;

pub use read::read;
pub use write::write;
