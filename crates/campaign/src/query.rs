//! Reading a query or scenario from its file.

use std::path::Path;

use ioco_aml::SourceFile;
use ioco_aml::query::{self, Query};
use ioco_sts::Sts;

use crate::error::CampaignError;
use crate::observer::Observer;

/// The text of a query.
pub(crate) fn text(path: &Path, sts: &Sts) -> Result<String, CampaignError> {
    ioco_outside::file::read_text(path, sts.budget())
        .map_err(|error| CampaignError::usage(format!("cannot read {}: {error}", path.display())))
}

/// Reads a query; what is wrong with its text is shown to the observer.
pub fn load(path: &Path, sts: &Sts, observer: &mut dyn Observer) -> Result<Query, CampaignError> {
    let text = text(path, sts)?;
    let name = path.display().to_string();
    query::parse(&name, &text, sts).map_err(|diagnostics| {
        let errors = diagnostics.len();
        let files = [SourceFile { name, text }];
        observer.diagnostics(&diagnostics, &files);
        let plural = if errors == 1 { "" } else { "s" };
        CampaignError::usage(format!("{} has {errors} error{plural}", path.display()))
            .hint("the grammar of queries is in the guide, chapter \"Generating suites\"")
    })
}
