//! The public models, which are not part of the project.

// Only the domain itself may not read files.
#![allow(clippy::disallowed_methods)]

use std::path::PathBuf;

use ioco_formats::LabelMap;

/// The text of a public file; where it is not there, a test has nothing to do.
pub fn public_text(path: &str) -> Option<String> {
    let bench = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/bench");
    let text = std::fs::read_to_string(bench.join(path)).ok();
    if text.is_none() {
        eprintln!("skipped: the public file {path} is not here");
    }
    text
}

/// The alternating bit protocol, with its border named and the rest hidden.
pub fn alternating_bit() -> Option<(String, LabelMap)> {
    let map = LabelMap {
        stimuli: vec!["r1(*)".to_owned()],
        responses: vec!["s4(*)".to_owned()],
        hide_others: true,
        ..LabelMap::default()
    };
    Some((public_text("lts/abp.aut")?, map))
}
