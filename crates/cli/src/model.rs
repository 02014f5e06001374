//! Reading a model for a command, and showing a person what is wrong with it.

use std::collections::BTreeMap;

use crate::exit::CommandError;
use ioco_aml::{Diagnostic, Severity, SourceFile};
use ioco_campaign::{Model, Project};

use crate::args::ModelArguments;
use crate::output;
use crate::watch::ErrorsOnly;

/// Refuses `--flatten` where the model meets what a system sends: its labels have the values in their
/// names, which no system knows.
pub fn refuse_flat(arguments: &ModelArguments) -> Result<(), CommandError> {
    if !arguments.reading.flatten {
        return Ok(());
    }
    Err(CommandError::usage(
        "--flatten puts the values into the names of the labels, which the system does not know. It is for \
         `ioco convert` and for questions about the model; omit it here",
    ))
}

/// Reads a model for a command that needs one: errors are shown and end the command, warnings are
/// shown and do not.
pub fn load(arguments: &ModelArguments, project: &Project) -> Result<Model, CommandError> {
    let options = arguments.options();
    Ok(ioco_campaign::model::load(
        &options,
        project,
        &mut ErrorsOnly,
    )?)
}

/// Shows diagnostics to a person.
pub fn show(diagnostics: &[Diagnostic], files: &[SourceFile]) {
    let colour = output::colour_on_stderr();
    for diagnostic in diagnostics {
        output::picture_message(&format!(
            "{}\n",
            ioco_aml::render(diagnostic, files, colour)
        ));
    }
}

/// What a command that only uses a model says about it: its errors, or one line about its warnings.
pub fn summarise(diagnostics: &[Diagnostic], files: &[SourceFile]) {
    if diagnostics.iter().any(Diagnostic::is_error) {
        return show(diagnostics, files);
    }
    let warnings = diagnostics
        .iter()
        .filter(|d| d.severity == Severity::Warning);
    let mut codes: BTreeMap<&str, usize> = BTreeMap::new();
    for warning in warnings {
        *codes.entry(warning.code).or_default() += 1;
    }
    let count = codes.values().sum::<usize>() as u64;
    if count == 0 {
        return;
    }
    let named = codes.iter().map(|(code, times)| match times {
        1 => (*code).to_owned(),
        _ => format!("{code} ×{times}"),
    });
    let named = named.collect::<Vec<_>>().join(", ");
    let file = files.first().map_or("the model", |file| file.name.as_str());
    let warnings = output::count(count, "warning");
    output::warn(&format!(
        "{file}: {warnings} ({named}); `ioco check` shows more"
    ));
}
