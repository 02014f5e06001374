//! Reading a model from whatever file holds it.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use ioco_aml::{Diagnostic, Sources};
use ioco_budget::Budget;
use ioco_engine::Fingerprint;
use ioco_formats::LabelMap;
use ioco_formats::dot::MealyOptions;
use ioco_formats::graphwalker::GraphWalkerOptions;
use ioco_outside::Untrusted;
use ioco_outside::file::{AllowedFolders, read_text};
use ioco_sts::Sts;
use serde::{Deserialize, Serialize};

use crate::error::{CampaignError, Remedy};
use crate::observer::Observer;
use crate::project::Project;
use crate::sections::limits::Limits;

/// How a model is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelOptions {
    /// Merge locations with the same behaviour.
    #[serde(default)]
    pub reduce: bool,
    /// Remove data by enumerating all values.
    #[serde(default)]
    pub flatten: bool,
    /// Flattening gives up above this many states.
    pub states: usize,
    /// In files of other tools: patterns of the labels that are stimuli.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stimuli: Vec<String>,
    /// In files of other tools: patterns of the labels that are responses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub responses: Vec<String>,
    /// In files of other tools: patterns of the labels that are internal, besides the usual ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub internal: Vec<String>,
    /// In drawings: outputs that mean silence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub silent: Vec<String>,
    /// In GraphWalker files: a vertex is also a response.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub vertices: bool,
    /// Limits that were typed; they override those of ioco.toml.
    #[serde(default, skip_serializing_if = "Limits::is_empty")]
    pub limits: Limits,
}

impl Default for ModelOptions {
    fn default() -> ModelOptions {
        ModelOptions {
            reduce: false,
            flatten: false,
            states: 200_000,
            stimuli: Vec::new(),
            responses: Vec::new(),
            internal: Vec::new(),
            silent: Vec::new(),
            vertices: false,
            limits: Limits::default(),
        }
    }
}

impl ModelOptions {
    /// Something is said about labels, which only files of other tools need.
    pub fn speaks_of_labels(&self) -> bool {
        let lists = [&self.stimuli, &self.responses, &self.internal, &self.silent];
        self.vertices || lists.iter().any(|list| !list.is_empty())
    }

    /// The same, with nothing said about labels.
    pub fn without_labels(&self) -> ModelOptions {
        ModelOptions {
            reduce: self.reduce,
            flatten: self.flatten,
            states: self.states,
            limits: self.limits,
            ..ModelOptions::default()
        }
    }

    /// How much work on the model may use: what was typed, else what ioco.toml says.
    pub fn budget(&self, project: &Project) -> Budget {
        project.limits.overridden_by(self.limits).budget()
    }

    fn labels(&self) -> LabelMap {
        let usual = LabelMap::default();
        LabelMap {
            stimuli: self.stimuli.clone(),
            responses: self.responses.clone(),
            internal: [usual.internal, self.internal.clone()].concat(),
            hide_others: !(self.stimuli.is_empty() && self.responses.is_empty()),
        }
    }
}

/// A model, ready to use.
#[derive(Clone)]
pub struct Model {
    pub sts: Arc<Sts>,
    /// Of the model's text; a failure or a coverage belongs to the model of the same hash.
    pub hash: String,
    pub path: PathBuf,
    /// The text, to be shown.
    pub files: Vec<ioco_aml::SourceFile>,
}

/// The outcome of reading model text: with errors there is no system.
pub struct Read {
    pub sts: Option<Arc<Sts>>,
    pub diagnostics: Vec<Diagnostic>,
    /// Warnings and hints that comments or `[check]` in ioco.toml allow.
    pub silenced: usize,
    pub files: Vec<ioco_aml::SourceFile>,
    pub path: PathBuf,
}

/// The files of a model: its main file, and those that it includes, which must lie where they may.
pub struct FileSystem {
    main: PathBuf,
    bounds: AllowedFolders,
    budget: Budget,
}

impl FileSystem {
    pub fn new(main: &Path, project: &Project, budget: Budget) -> FileSystem {
        FileSystem {
            main: main.to_owned(),
            bounds: project.bounds(main),
            budget,
        }
    }
}

impl Sources for FileSystem {
    fn read(&self, path: &str) -> Result<String, String> {
        let file = Path::new(path);
        if file != self.main {
            self.bounds.check(file).map_err(|why| why.to_string())?;
        }
        let text = read_text(file, &self.budget).map_err(|error| error.to_string())?;
        // Some editors begin a file with a byte-order mark.
        Ok(text
            .strip_prefix('\u{feff}')
            .map(str::to_owned)
            .unwrap_or(text))
    }
}

/// A path without detours, so that two ways to the same file are the same.
fn plain(path: &str) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in Path::new(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if plain.file_name().is_some() => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

/// Text that was kept.
struct Kept<'a>(&'a [(String, String)]);

impl Sources for Kept<'_> {
    fn read(&self, path: &str) -> Result<String, String> {
        let found = (self.0.iter()).find(|(file, _)| plain(file) == plain(path));
        found
            .map(|(_, text)| text.clone())
            .ok_or_else(|| "it was not kept".to_owned())
    }
}

/// Where the model is: typed, or named by ioco.toml.
fn path(project: &Project) -> Result<PathBuf, CampaignError> {
    project.model.clone().ok_or_else(|| {
        let place = project.file();
        CampaignError::usage(format!("{} names no model", place.display()))
            .hint("add a line: model = \"my.aml\"")
    })
}

/// Reads a model and changes it as the arguments ask; diagnostics are returned, not shown.
pub fn read(options: &ModelOptions, project: &Project) -> Result<Read, CampaignError> {
    let path = path(project)?;
    if path.extension().is_some_and(|ending| ending == "aml") && !path.exists() {
        return Err(CampaignError::usage(format!(
            "there is no file {}",
            path.display()
        )));
    }
    let budget = options.budget(project);
    let files = FileSystem::new(&path, project, budget);
    let mut read = read_from(options, budget, path, &files)?;
    let all = read.diagnostics.len();
    let allowed = &project.check.allow;
    read.diagnostics
        .retain(|d| d.is_error() || !allowed.iter().any(|code| code == d.code));
    read.silenced += all - read.diagnostics.len();
    Ok(read)
}

/// A model as it was when a run used it, whatever has become of its files.
pub fn restore(
    kept: &ioco_store::StoredModel,
    options: &ModelOptions,
) -> Result<Model, CampaignError> {
    // It names a file, and a row may say anything.
    if Fingerprint::new(&kept.hash).is_err() {
        return Err(CampaignError::usage("the hash of the kept model is none"));
    }
    let budget = options.limits.budget();
    let path = PathBuf::from(&kept.path);
    let read = read_from(options, budget, path, &Kept(&kept.sources))?;
    let sts = read.sts.ok_or_else(|| {
        CampaignError::usage(format!("{} as the run used it cannot be read", kept.path))
            .hint("it was written for another version of ioco")
    })?;
    Ok(Model {
        sts,
        hash: kept.hash.clone(),
        path: read.path,
        files: read.files,
    })
}

fn read_from(
    options: &ModelOptions,
    budget: Budget,
    path: PathBuf,
    sources: &dyn Sources,
) -> Result<Read, CampaignError> {
    let ending = path
        .extension()
        .map(|e| e.to_string_lossy().to_lowercase())
        .unwrap_or_default();
    let mut read = match ending.as_str() {
        "aml" => {
            if options.speaks_of_labels() {
                return Err(
                    CampaignError::usage("an .aml model says itself what its labels are")
                        .remedy(Remedy::LeaveOutLabels),
                );
            }
            let loaded = ioco_aml::load_within(&path.to_string_lossy(), sources, &budget);
            Read {
                sts: loaded.sts,
                diagnostics: loaded.diagnostics,
                silenced: loaded.silenced,
                files: loaded.files,
                path: path.clone(),
            }
        }
        "json" | "aut" | "dot" | "gv" | "mmd" | "mermaid" | "svg" => {
            read_other(options, budget, &path, &ending, sources)?
        }
        "txs" => {
            let message = format!(
                "{} is a TorXakis model, a process algebra with data, which ioco does not read",
                path.display()
            );
            return Err(CampaignError::usage(message).hint(
                "write it as .aml (the book's chapter on models of other tools shows how its parts \
                 translate), or export its state space as .aut; systems that TorXakis tests over a \
                 socket are tested with [sut] tcp and [lines] in ioco.toml",
            ));
        }
        _ => {
            let hint = "models end in .aml, .json, .dot, .aut, .mmd or .svg";
            return Err(
                CampaignError::usage(format!("{} is not a model file", path.display())).hint(hint),
            );
        }
    };
    if let Some(sts) = read.sts.take() {
        read.sts = Some(transform(options, budget, sts)?);
    }
    Ok(read)
}

fn read_other(
    options: &ModelOptions,
    budget: Budget,
    path: &Path,
    ending: &str,
    sources: &dyn Sources,
) -> Result<Read, CampaignError> {
    let text = sources.read(&path.to_string_lossy()).map_err(|error| {
        CampaignError::usage(format!("cannot read {}: {error}", path.display()))
    })?;
    let name = path
        .file_stem()
        .map(|s| s.to_string_lossy().into_owned())
        .unwrap_or_default();
    let labels = options.labels();
    let mut mealy = MealyOptions {
        labels: labels.clone(),
        budget,
        ..MealyOptions::default()
    };
    if !options.silent.is_empty() {
        mealy.silent.clone_from(&options.silent);
    }
    let graphwalker = ending == "json" && ioco_formats::graphwalker::looks_like(&text);
    let (sts, hint): (_, Result<&str, Remedy>) = match ending {
        "json" if graphwalker => {
            let options = GraphWalkerOptions {
                labels,
                vertices: options.vertices,
                budget,
            };
            let sts = ioco_formats::graphwalker::read(&name, &text, &options);
            let hint =
                "of GraphWalker's JavaScript, ioco reads assignments and expressions of variables";
            (sts, Ok(hint))
        }
        "json" => (
            ioco_formats::json::read_within(&text, &budget),
            Ok(
                "ioco reads its own JSON (the book's schema/model.json says what is in it) and \
                GraphWalker's (\"models\": [...])",
            ),
        ),
        "aut" => (
            ioco_formats::aut::read(&name, &text, &labels),
            Err(Remedy::NameLabels {
                instead: "mark labels `?x` and `!x`",
            }),
        ),
        "svg" => (
            ioco_formats::svg::read_within(&text, &budget),
            Err(Remedy::DrawModel),
        ),
        "mmd" | "mermaid" => (
            ioco_formats::mermaid::read(&name, &text, &mealy),
            Err(Remedy::NameLabels {
                instead: "label arrows `?x`, `!x`, `i` or `input / output`",
            }),
        ),
        _ => (
            ioco_formats::dot::read(&name, &text, &mealy),
            Err(Remedy::NameLabels {
                instead: "label edges `?x`, `!x`, `i` or `input / output`",
            }),
        ),
    };
    let sts = sts.map_err(|error| {
        // It quotes the file.
        let said = Untrusted::of(error).lines();
        let error = CampaignError::usage(format!("{}: {said}", path.display()));
        match hint {
            Ok(text) => error.hint(text),
            Err(remedy) => error.remedy(remedy),
        }
    })?;
    let file = ioco_aml::SourceFile {
        name: path.display().to_string(),
        text,
    };
    Ok(Read {
        sts: Some(Arc::new(sts)),
        diagnostics: Vec::new(),
        silenced: 0,
        files: vec![file],
        path: path.to_owned(),
    })
}

fn transform(
    options: &ModelOptions,
    budget: Budget,
    mut sts: Arc<Sts>,
) -> Result<Arc<Sts>, CampaignError> {
    Arc::make_mut(&mut sts).set_budget(budget);
    if options.flatten {
        let flat = ioco_sts::flatten(&sts, options.states).map_err(|error| {
            CampaignError::usage(format!("the model cannot be flattened: {error}"))
        })?;
        sts = Arc::new(flat);
    }
    if options.reduce {
        sts = Arc::new(ioco_sts::reduce(&sts).sts);
    }
    Arc::make_mut(&mut sts).set_budget(budget);
    Ok(sts)
}

/// Reads a model for work that needs one: errors are reported and end the work, warnings are reported and
/// do not.
pub fn load(
    options: &ModelOptions,
    project: &Project,
    observer: &mut dyn Observer,
) -> Result<Model, CampaignError> {
    let read = read(options, project)?;
    if !read.diagnostics.is_empty() {
        observer.diagnostics(&read.diagnostics, &read.files);
    }
    let Some(sts) = read.sts else {
        let errors = read.diagnostics.iter().filter(|d| d.is_error()).count();
        let plural = if errors == 1 { "" } else { "s" };
        return Err(CampaignError::usage(format!(
            "{} has {errors} error{plural}",
            read.path.display()
        )));
    };
    Ok(Model {
        sts,
        hash: hash(&read.files),
        path: read.path,
        files: read.files,
    })
}

/// A short name for exactly this model text.
pub fn hash(files: &[ioco_aml::SourceFile]) -> String {
    use sha2::{Digest, Sha256};
    let mut hasher = Sha256::new();
    for file in files {
        hasher.update((file.text.len() as u64).to_le_bytes());
        hasher.update(file.text.as_bytes());
    }
    hasher
        .finalize()
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
