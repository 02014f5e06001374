//! Recorded failures: from a typed id to the failure, its model and its system.

use std::fs;
use std::path::{Path, PathBuf};

use ioco_engine::{FailureFile, Settings};
use ioco_sts::Relation;
use serde::{Deserialize, Serialize};

use crate::args::{self, ModelArguments, SystemArguments};
use crate::connect::Reach;
use crate::exit::Stop;
use crate::interrupt::Interrupt;
use crate::model::{self, Model};
use crate::output;
use crate::project::Project;
use crate::results::Results;
use crate::session::Session;
use crate::solver::SolverChoice;

/// How a failure was found: what a failure file says besides the failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Origin {
    /// Relative to the folder that holds `.ioco`.
    pub model: PathBuf,
    #[serde(default)]
    pub reduce: bool,
    #[serde(default)]
    pub flatten: bool,
    pub states: usize,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stimuli: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub responses: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub silent: Vec<String>,
    #[serde(default)]
    pub uioco: bool,
    /// Nanoseconds, where the model's time-out was overridden.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
    pub reach: Reach,
}

impl Origin {
    pub fn new(
        arguments: &ModelArguments,
        model: &Model,
        project: &Project,
        relation: Relation,
        timeout: Option<u64>,
        reach: &Reach,
    ) -> Origin {
        let path = model
            .path
            .strip_prefix(&project.root)
            .unwrap_or(&model.path);
        Origin {
            model: path.to_owned(),
            reduce: arguments.reduce,
            flatten: arguments.flatten,
            states: arguments.states,
            stimuli: arguments.stimuli.clone(),
            responses: arguments.responses.clone(),
            silent: arguments.silent.clone(),
            uioco: relation == Relation::Uioco,
            timeout,
            reach: reach.clone(),
        }
    }

    pub fn relation(&self) -> Relation {
        if self.uioco {
            Relation::Uioco
        } else {
            Relation::Ioco
        }
    }
}

/// A recorded failure with everything that is needed to run it again.
pub struct Opened {
    pub file: FailureFile,
    pub path: PathBuf,
    pub session: Session,
}

/// Opens the failure that a person means by `typed`.
pub fn open(typed: &str, system: &SystemArguments, interrupt: Interrupt) -> Result<Opened, Stop> {
    // In a project ioco.toml may say how to reach the system; a failure file alone says it too.
    let here = Project::find(None, system.profile.as_deref()).ok();
    let results = Results::at(PathBuf::from(".").join(".ioco"));
    let path = results.find_failure(typed)?;
    let file = read(&path)?;
    let origin: Origin = serde_json::from_value(file.connection.clone()).map_err(|error| {
        Stop::usage(format!(
            "{} does not say how it was found: {error}",
            path.display()
        ))
    })?;
    let root = home(&path);
    let project = Project {
        root: root.clone(),
        ..here.unwrap_or_default()
    };
    let arguments = ModelArguments {
        model: None,
        reduce: origin.reduce,
        flatten: origin.flatten,
        states: origin.states,
        stimuli: origin.stimuli.clone(),
        responses: origin.responses.clone(),
        silent: origin.silent.clone(),
    };
    let located = Project {
        model: Some(root.join(&origin.model)),
        ..project.clone()
    };
    let model = model::load(&arguments, &located)?;
    if model.hash != file.model_hash {
        output::warn("the model has changed since this failure was found");
    }
    let typed_reach = system.sut.is_some() || system.tcp.is_some();
    let reach = if typed_reach {
        Reach::find(system, &project)?
    } else {
        origin.reach.clone()
    };
    let sts = match origin.timeout {
        Some(nanoseconds) => std::sync::Arc::new(model.sts.with_timeout(nanoseconds)),
        None => model.sts,
    };
    let session = Session::open(
        &sts,
        &reach,
        &project,
        origin.relation(),
        Settings {
            seed: file.seed,
            ..Settings::default()
        },
        interrupt,
        &SolverChoice::default(),
    )?;
    Ok(Opened {
        file,
        path,
        session,
    })
}

pub fn read(path: &Path) -> Result<FailureFile, Stop> {
    let text = fs::read_to_string(path)
        .map_err(|error| Stop::usage(format!("cannot read {}: {error}", path.display())))?;
    FailureFile::read(&text).map_err(|error| Stop::usage(format!("{}: {error}", path.display())))
}

/// The folder that holds `.ioco/failures/`; the current one for a file that lies elsewhere.
fn home(path: &Path) -> PathBuf {
    let named = |path: &Path, name: &str| path.file_name().is_some_and(|n| n == name);
    let failures = path.parent().filter(|p| named(p, "failures"));
    let results = failures
        .and_then(Path::parent)
        .filter(|p| named(p, ".ioco"));
    let root = results
        .and_then(Path::parent)
        .filter(|p| !p.as_os_str().is_empty());
    root.map_or_else(|| PathBuf::from("."), Path::to_owned)
}

/// Why a run that could not go on ended, as the person should see it.
pub fn unusable(session: &Session, message: &str) -> Stop {
    let hint = session
        .trouble
        .as_ref()
        .and_then(|trouble| trouble.hint.clone());
    Stop {
        hint,
        ..Stop::system(message)
    }
}

/// The relation, from the flag or else from ioco.toml.
pub fn relation(typed: Option<args::Relation>, configured: Option<&str>) -> Result<Relation, Stop> {
    match (typed, configured) {
        (Some(args::Relation::Ioco), _) | (None, None | Some("ioco")) => Ok(Relation::Ioco),
        (Some(args::Relation::Uioco), _) | (None, Some("uioco")) => Ok(Relation::Uioco),
        (None, Some(other)) => Err(Stop::usage(format!(
            "ioco.toml: there is no relation '{other}'"
        ))
        .hint("use ioco or uioco")),
    }
}
