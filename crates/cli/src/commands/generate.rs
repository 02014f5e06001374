//! `ioco generate`: test suites from the model alone.

mod bounded;
mod complete;
mod cover;
mod data;
mod machine;
mod query;
mod suite;
mod traces;
mod words;

use crate::args::{self, Format};
use crate::commands::nusmv;
use crate::model;
use crate::watch::ErrorsOnly;
use std::ops::Deref;
use std::time::{Duration, Instant};

use crate::exit::{Answer, CommandError};
use ioco_campaign::{Model, SemanticsOptions, time};
use ioco_generate::fsm::Method;
use ioco_sts::Semantics;

pub fn run(arguments: &args::Generate, format: Format) -> Answer {
    if let Some(path) = arguments
        .model
        .model
        .as_deref()
        .filter(|path| nusmv::is_model(path))
    {
        return nusmv::generate(arguments, path, format);
    }
    refuse_smv(&arguments.smv)?;
    let project = crate::typed::project(arguments.model.model.as_deref(), None)?;
    let model = Subject {
        model: model::load(&arguments.model, &project)?,
        meaning: SemanticsOptions::of_project(&project, None, &mut ErrorsOnly)?,
    };
    // Says now what is wrong with the solver.
    model.meaning.semantics(&model.sts)?;
    let method = arguments.cover.as_deref().and_then(Method::named);
    let for_ioco = arguments.cover.as_deref() == Some("ioco");
    if arguments.extra.is_some() && method.is_none() && !for_ioco {
        return Err(CommandError::usage(
            "--extra goes with --cover w, wp, hsi or ioco",
        ));
    }
    match (arguments.traces, &arguments.cover, &arguments.query) {
        (None, Some(_), None) if let Some(method) = method => {
            machine::run(method, arguments, &model, format)
        }
        (None, Some(_), None) if for_ioco => complete::run(arguments, &model, format),
        (Some(length), None, None) => traces::run(arguments, length, &model, format),
        (None, Some(goals), None) => cover::run(goals, arguments, &model, format),
        (None, None, Some(file)) => query::run(file, arguments, &model, format),
        (None, None, None) => Err(CommandError::usage("the kind of suite is missing")
            .hint("use --traces 3, --cover locations or --query FILE")),
        _ => Err(
            CommandError::usage("--traces, --cover and --query cannot be combined")
                .hint("generate them one after the other"),
        ),
    }
}

/// What is generated from: a model, with the relation that its tests are for and the solver.
#[derive(Clone)]
pub struct Subject {
    model: Model,
    meaning: SemanticsOptions,
}

impl Subject {
    fn semantics(&self) -> Semantics {
        let semantics = self.meaning.semantics(&self.model.sts);
        // A program that could be started a moment ago; without it some guards stay open.
        semantics.unwrap_or_else(|_| self.meaning.shown(&self.model.sts))
    }
}

impl Deref for Subject {
    type Target = Model;

    fn deref(&self) -> &Model {
        &self.model
    }
}

/// When the time given by `--time` is over.
fn deadline(arguments: &args::Generate) -> Result<Option<Instant>, CommandError> {
    let Some(text) = &arguments.smv.time else {
        return Ok(None);
    };
    let time = Duration::from_nanos(time::parse(text)?);
    Ok(Instant::now().checked_add(time))
}

/// What only NuSMV models have is refused, not ignored.
fn refuse_smv(smv: &args::SmvArguments) -> Result<(), CommandError> {
    let given = [
        ("--goal", !smv.goal.is_empty()),
        ("--technique", smv.technique != "auto"),
        ("--time-per-goal", smv.time_per_goal != "10s"),
        ("--max-values", smv.max_values.is_some()),
        ("--inputs", smv.inputs),
        ("--reached-guards", smv.reached_guards),
        ("--boolean-sides", smv.boolean_sides),
        ("--assignments-only", smv.assignments_only),
    ];
    match given.iter().find(|(_, given)| *given) {
        Some((name, _)) => Err(CommandError::usage(format!(
            "{name} is for NuSMV models only"
        ))),
        None => Ok(()),
    }
}
