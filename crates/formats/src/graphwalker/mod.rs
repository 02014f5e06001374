//! GraphWalker's JSON: models of vertices and edges, with guards and actions in JavaScript.
//!
//! An edge is what the tester does, so it becomes a stimulus, unless its name is marked (`!x`) or
//! the options say otherwise; an edge without a name is an internal step. A vertex is a location.
//! Vertices with the same `sharedState` are one location: that is how models are joined. Of
//! JavaScript the simple kind is read ([`script`]); variables get the types of the values that they
//! are given.
//!
//! What ioco writes it reads back without loss: `properties` carry the exact data under `ioco`.

mod read;
mod script;
mod typed;
mod write;

pub use read::{GraphWalkerOptions, read};
pub use write::write;

/// Whether a text of JSON is a GraphWalker file, as far as its keys tell.
pub fn looks_like(text: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct Keys {
        models: Option<serde::de::IgnoredAny>,
        format: Option<serde::de::IgnoredAny>,
    }
    let keys: Result<Keys, _> = serde_json::from_str(text);
    keys.is_ok_and(|keys| keys.models.is_some() && keys.format.is_none())
}

/// The key of the exact data among `properties`.
const DATA: &str = "ioco";
