//! `ioco convert`: a model in another form.

use std::fs;
use std::path::Path;

use crate::exit::{Answer, CommandError, Exit};
use ioco_sts::Sts;

use crate::args;
use crate::commands::nusmv;
use crate::{model, output};

const FORMS: &str = "json, aut, dot, mmd, svg or graphwalker";

pub fn run(arguments: &args::Convert) -> Answer {
    if let Some(path) = arguments
        .model
        .model
        .as_deref()
        .filter(|path| nusmv::is_model(path))
    {
        let options = arguments.model.options();
        let goal = arguments.decompose.as_deref();
        return nusmv::convert(path, &options, &arguments.output, goal);
    }
    if arguments.decompose.is_some() {
        return Err(CommandError::usage("--decompose is for NuSMV models only"));
    }
    let project = crate::typed::project(arguments.model.model.as_deref(), None)?;
    let model = model::load(&arguments.model, &project)?;
    let ending = arguments
        .output
        .extension()
        .map(|e| e.to_string_lossy().into_owned());
    let form = arguments.to.clone().or(ending).unwrap_or_default();
    let text = write(&model.sts, &form)?;
    if arguments.output == Path::new("-") {
        output::data(&text);
    } else {
        fs::write(&arguments.output, text).map_err(|error| {
            CommandError::usage(format!(
                "cannot write {}: {error}",
                arguments.output.display()
            ))
        })?;
        say!(
            "{}: {} locations, {} switches",
            arguments.output.display(),
            model.sts.locations().len(),
            model.sts.switches().len()
        );
    }
    Ok(Exit::Conforms)
}

fn write(sts: &Sts, form: &str) -> Result<String, CommandError> {
    match form {
        "json" => Ok(ioco_formats::json::write(sts)),
        "dot" | "gv" => Ok(ioco_formats::dot::write(sts)),
        "mmd" | "mermaid" => Ok(ioco_formats::mermaid::write(sts)),
        "svg" => {
            let picture = ioco_draw::svg(sts, &ioco_draw::Style::default());
            Ok(ioco_formats::svg::embed(&picture, sts))
        }
        "aut" => ioco_formats::aut::write(sts).map_err(|error| unfit(".aut", &error)),
        "graphwalker" => {
            ioco_formats::graphwalker::write(sts).map_err(|error| unfit("GraphWalker", &error))
        }
        "" => Err(
            CommandError::usage("the extension of the output file does not select a format")
                .hint(format!("use --to with {FORMS}")),
        ),
        other => Err(
            CommandError::usage(format!("'{other}' is not a format that ioco writes"))
                .hint(format!("use {FORMS}")),
        ),
    }
}

fn unfit(form: &str, error: &ioco_formats::FormatError) -> CommandError {
    CommandError::usage(format!("the model cannot be written as {form}: {error}"))
        .hint("--flatten removes data first")
}
