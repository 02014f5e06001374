//! The coverage file of a model: what all runs of exactly this model text have covered.

use std::path::Path;

use ioco_engine::{Coverage, CoverageSnapshot};
use ioco_sts::Sts;

use crate::exit::Stop;

/// Reads a coverage file; `None` where there is none.
pub fn read(path: &Path, sts: &Sts) -> Result<Option<Coverage>, Stop> {
    let Ok(text) = ioco_outside::file::read_text(path, &ioco_budget::Budget::default()) else {
        return Ok(None);
    };
    let damaged = |why: String| {
        Stop::usage(format!("{} cannot be read: {why}", path.display()))
            .hint("move it away to start anew; ioco does not overwrite it")
    };
    let saved: CoverageSnapshot =
        serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
    Ok(Coverage::restore(sts, &saved).ok())
}
