//! `ioco generate`: test suites from the model alone.

mod suite;
mod traces;

use crate::args::{self, Format};
use crate::commands::nusmv;
use crate::exit::{Answer, Stop};
use crate::model;
use crate::project::Project;

pub fn run(arguments: &args::Generate, format: Format) -> Answer {
    if let Some(path) = arguments
        .model
        .model
        .as_deref()
        .filter(|path| nusmv::is_model(path))
    {
        return nusmv::generate(arguments, path, format);
    }
    let project = Project::find(arguments.model.model.as_deref(), None)?;
    let model = model::load(&arguments.model, &project)?;
    let Some(length) = arguments.traces else {
        return Err(Stop::usage("nothing says what to generate").hint("use --traces N"));
    };
    traces::run(arguments, length, &model, format)
}
