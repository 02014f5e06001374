//! Reading a model for a command, and showing a person what is wrong with it.

use crate::exit::CommandError;
use ioco_aml::{Diagnostic, SourceFile};
use ioco_campaign::{Model, Project};

use crate::args::ModelArguments;
use crate::output;
use crate::watch::Teller;

/// Reads a model for a command that needs one: errors are shown and end the command, warnings are
/// shown and do not.
pub fn load(arguments: &ModelArguments, project: &Project) -> Result<Model, CommandError> {
    let options = arguments.options();
    Ok(ioco_campaign::model::load(&options, project, &mut Teller)?)
}

/// Shows diagnostics to a person.
pub fn show(diagnostics: &[Diagnostic], files: &[SourceFile]) {
    let colour = output::colour_on_stderr();
    for diagnostic in diagnostics {
        say!("{}", ioco_aml::render(diagnostic, files, colour));
    }
}
