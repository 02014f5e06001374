//! The public flat models, where they stand beside the repository.

use std::sync::Arc;

use ioco_examples::flat::Case;
use ioco_sts::Sts;

use crate::walk::{examples, load_model};

/// Loads the public model of a case, if there is one. It may be untidy.
pub fn public_model(case: Case) -> Option<Arc<Sts>> {
    let folder = examples().join("../../shared/bench/aml").join(case.name());
    let path = folder.join("model.aml");
    if !path.is_file() {
        eprintln!("skipped: no public model of {case:?} beside the repository");
        return None;
    }
    let (sts, diagnostics) = load_model(&path);
    assert!(sts.is_some(), "{case:?}: {diagnostics:#?}");
    sts
}
