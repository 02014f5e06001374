//! Plans: ways through a model that match a pattern, with values (Sietsma 2009, sections 4.4 and 7).
//!
//! A [`Pattern`] says what a way must do, in order. [`Search`] finds the shortest ways from known
//! states, or shows that there is none within a number of steps; it also draws ways by chance. [`Follower`] keeps track of a
//! pattern along what really happened, by plain evaluation; it is also what confirms a found way.

mod distances;
mod draw;
mod follow;
mod pattern;
mod search;

pub use follow::{Follower, PatternState};
pub use pattern::{Pattern, Progress};
pub use search::{Limits, MatchingPath, Search, SearchSummary};

pub(crate) use search::other_values;
