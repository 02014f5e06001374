//! `ioco check`: diagnostics, and the size of the model.

use crate::exit::{Answer, Exit};
use serde::Serialize;

use ioco_campaign::AMBIGUOUS;
use ioco_sts::{Direction, Sts};

use crate::args::{self, Format};
use crate::commands::{nusmv, passive};
use crate::output::WARNING;
use crate::{model, output};

/// What `--format json` prints.
#[derive(Serialize)]
struct Checked {
    locations: usize,
    switches: usize,
    processes: usize,
    variables: usize,
    stimuli: usize,
    responses: usize,
    errors: usize,
    warnings: usize,
    /// Warnings and hints that the model or the project allows.
    silenced: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    requirements: Vec<Requirement>,
    /// Messages of `[lines]` that could be read in several ways.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ambiguous: Vec<String>,
    diagnostics: Vec<ioco_aml::Diagnostic>,
}

/// A requirement that the model cites.
#[derive(Serialize)]
struct Requirement {
    id: String,
    text: String,
    place: String,
    /// How many switches show it.
    switches: usize,
}

fn requirements(sts: &Sts) -> Vec<Requirement> {
    let all = sts.requirements().iter();
    let listed = all.map(|requirement| Requirement {
        id: requirement.id.clone(),
        text: requirement.text.clone(),
        place: sts.show_place(requirement.place),
        switches: requirement.switches.len(),
    });
    listed.collect()
}

pub fn run(arguments: &args::Check, format: Format) -> Answer {
    if let Some(path) = arguments
        .model
        .model
        .as_deref()
        .filter(|path| nusmv::is_model(path))
    {
        return nusmv::check(path, &arguments.model.options(), format);
    }
    let project = crate::typed::project(arguments.model.model.as_deref(), None)?;
    if let Some(trace) = &arguments.trace {
        return passive::check(trace, arguments, &project, format);
    }
    let read = ioco_campaign::model::read(&arguments.model.options(), &project)?;
    let errors = read.diagnostics.iter().filter(|d| d.is_error()).count();
    let warnings = read
        .diagnostics
        .iter()
        .filter(|d| d.severity == ioco_aml::Severity::Warning)
        .count();
    let mut ambiguous = Vec::new();
    // What ioco.toml says about messages must fit the labels of the model.
    if let (Some(lines), Some(sts)) = (&project.lines, &read.sts) {
        lines.checked(sts, &project.file())?;
        if !project.check.allow.iter().any(|code| code == AMBIGUOUS.0) {
            ambiguous = lines.ambiguities(sts, &project.file())?;
        }
    }
    let warnings = warnings + ambiguous.len();
    let sts = read.sts.as_deref();
    let count = |direction| sts.map_or(0, |s| s.labels_of(direction).count());
    let checked = Checked {
        locations: sts.map_or(0, |s| s.locations().len()),
        switches: sts.map_or(0, |s| s.switches().len()),
        processes: sts.map_or(0, |s| s.processes().len()),
        variables: sts.map_or(0, |s| s.variables().len()),
        stimuli: count(Direction::Stimulus),
        responses: count(Direction::Response),
        errors,
        warnings,
        silenced: read.silenced,
        requirements: sts.map_or_else(Vec::new, requirements),
        diagnostics: read.diagnostics,
        ambiguous,
    };
    if format == Format::Json {
        output::json(&checked)?;
    } else {
        model::show(&checked.diagnostics, &read.files);
        for warning in &checked.ambiguous {
            say!("{WARNING}warning[{}]{WARNING:#}: {warning}", AMBIGUOUS.0);
        }
        if sts.is_some() {
            let sizes = [
                (checked.locations, "location"),
                (checked.switches, "switch"),
                (checked.stimuli, "stimulus"),
                (checked.responses, "response"),
                (checked.variables, "variable"),
            ];
            let sizes = sizes.map(|(number, thing)| output::count(number as u64, thing));
            output::print(&format!("{}: {}\n", read.path.display(), sizes.join(", ")));
        }
        for requirement in &checked.requirements {
            let switches = output::count(requirement.switches as u64, "switch");
            let Requirement {
                id, text, place, ..
            } = requirement;
            let line = format!("  {id}  {place}  {switches}  {text}");
            output::print(&format!("{}\n", line.trim_end()));
        }
        if errors + warnings + checked.silenced > 0 {
            let silenced = match checked.silenced {
                0 => String::new(),
                count => format!(", {count} allowed"),
            };
            say!(
                "{}, {}{silenced}",
                output::count(errors as u64, "error"),
                output::count(warnings as u64, "warning")
            );
        }
    }
    Ok(if errors > 0 {
        Exit::Usage
    } else {
        Exit::Conforms
    })
}
