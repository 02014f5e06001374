//! ioco's own format (`.json`): a whole system, without loss, with a version.

mod expression;
mod parts;
mod read;
mod saved;
mod write;

pub(super) use parts::{
    Drawn, DrawnLocation, DrawnStart, DrawnSwitch, head, locations, same_label, switches,
};
pub use read::{read, read_within};
pub use write::write;

/// Whether a text of JSON says that it is a system in this format.
pub fn looks_like(text: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct Head {
        format: String,
    }
    let head: Result<Head, _> = serde_json::from_str(text);
    head.is_ok_and(|head| head.format == saved::FORMAT)
}
