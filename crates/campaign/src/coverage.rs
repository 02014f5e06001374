//! The coverage file of a model: what all runs of exactly this model text have covered.

use std::path::Path;

use ioco_budget::Until;
use ioco_engine::{Coverage, CoverageSnapshot};
use ioco_sts::Sts;

use crate::error::CampaignError;
use crate::results::Results;

/// Reads a coverage file; `None` where there is none.
pub fn read(path: &Path, sts: &Sts) -> Result<Option<Coverage>, CampaignError> {
    let Ok(text) = ioco_outside::file::read_text(path, sts.budget()) else {
        return Ok(None);
    };
    let damaged = |why: String| {
        CampaignError::usage(format!("{} cannot be read: {why}", path.display()))
            .hint("move it away to start anew; ioco does not overwrite it")
    };
    let saved: CoverageSnapshot =
        serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
    Ok(Coverage::restore(sts, &saved).ok())
}

/// Adds what a run covered to the coverage file, whatever other runs added to it meanwhile.
pub fn add(
    results: &Results,
    hash: &str,
    sts: &Sts,
    covered: &Coverage,
    until: &Until,
) -> Result<(), CampaignError> {
    results.update(&results.coverage(hash), until, |path| {
        let mut coverage = covered.clone();
        if let Some(earlier) = read(path, sts)? {
            // Another reduction of the same text has other switches: the newer run stands alone.
            let _ = coverage.merge(&earlier);
        }
        serde_json::to_vec(&coverage.snapshot(sts))
            .map_err(|error| CampaignError::usage(error.to_string()))
    })
}
