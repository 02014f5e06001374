//! `ioco check`: diagnostics, and the size of the model.

use crate::exit::{Answer, Exit};
use serde::Serialize;

use ioco_sts::Direction;

use crate::args::{self, Format};
use crate::commands::{nusmv, passive};
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
    diagnostics: Vec<ioco_aml::Diagnostic>,
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
        return passive::check(trace, &arguments.model, &project, format);
    }
    let read = ioco_campaign::model::read(&arguments.model.options(), &project)?;
    let errors = read.diagnostics.iter().filter(|d| d.is_error()).count();
    let warnings = read
        .diagnostics
        .iter()
        .filter(|d| d.severity == ioco_aml::Severity::Warning)
        .count();
    // What ioco.toml says about messages must fit the labels of the model.
    if let (Some(lines), Some(sts)) = (&project.lines, &read.sts) {
        lines.checked(sts, &project.file())?;
    }
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
        diagnostics: read.diagnostics,
    };
    if format == Format::Json {
        output::json(&checked)?;
    } else {
        model::show(&checked.diagnostics, &read.files);
        if sts.is_some() {
            output::print(&format!(
                "{}: {} locations, {} switches, {} stimuli, {} responses, {} variables\n",
                read.path.display(),
                checked.locations,
                checked.switches,
                checked.stimuli,
                checked.responses,
                checked.variables,
            ));
        }
        if errors + warnings > 0 {
            say!(
                "{}, {}",
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
