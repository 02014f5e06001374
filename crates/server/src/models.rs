//! The models of a project: which there are, and each as it is on disk now.

use std::collections::HashMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use ioco_aml::{Diagnostic, SourceFile};
use ioco_budget::Budget;
use ioco_campaign::watch::Watched;
use ioco_campaign::{
    CampaignError, Model, ModelOptions, Observer, Project, SemanticsOptions, model,
};
use ioco_outside::file::read_text;
use ioco_sts::{Relation, Semantics};
use ioco_view::{ModelName, ModelView};

use crate::refusal::Refusal;

/// Folders in folders that are looked into for models.
const MAX_DEPTH: usize = 3;
/// More models than this are not listed.
const MAX_MODELS: usize = 500;
const ENDINGS: [&str; 6] = ["aml", "aut", "dot", "gv", "mmd", "mermaid"];
/// Bytes; a larger file of JSON is not looked into.
const MAX_JSON_BYTES: u64 = 4 << 20;

/// File systems stamp files with a clock that may stand still for so long: a file that was written just before it was
/// read may be written again without another time.
const COARSEST_CLOCK: Duration = Duration::from_millis(100);

/// A model as it was read: with errors there is only its text and what is wrong.
pub struct Loaded {
    pub view: ModelView,
    pub model: Option<Model>,
    /// Of every file of the model, to see whether it has changed.
    written: Vec<(PathBuf, Option<SystemTime>)>,
    /// Whether a later change of a file shows in its time.
    settled: bool,
}

pub struct Models {
    project: Project,
    known: Mutex<HashMap<PathBuf, Arc<Loaded>>>,
}

impl Loaded {
    /// The model itself, for work that needs one.
    pub fn usable(&self) -> Result<&Model, Refusal> {
        self.model.as_ref().ok_or_else(|| {
            let errors = self.view.diagnostics.iter();
            let first = errors.into_iter().find(|d| d.severity == "error");
            let what = first.map_or_else(String::new, |d| format!(", first: {}", d.message));
            let path = &self.view.path;
            Refusal::from(
                CampaignError::usage(format!("{path} has errors{what}"))
                    .hint("the model's page shows them all"),
            )
        })
    }

    pub fn semantics(&self, relation: Relation) -> Result<Semantics, Refusal> {
        let sts = Arc::clone(&self.usable()?.sts);
        Ok(SemanticsOptions::of(relation).shown(&sts))
    }

    fn is_current(&self) -> bool {
        let same = |(path, time): &(PathBuf, Option<SystemTime>)| modified(path) == *time;
        self.settled && self.written.iter().all(same)
    }
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|data| data.modified()).ok()
}

impl Models {
    pub fn new(project: Project) -> Models {
        Models {
            project,
            known: Mutex::default(),
        }
    }

    /// The models below the project's folder, the default one first.
    pub fn list(&self) -> Vec<ModelName> {
        let mut paths = Vec::new();
        collect(&self.project.root, MAX_DEPTH, &mut paths);
        paths.sort();
        let default = self.default_path();
        let found = paths.iter().map(|path| self.shown(path));
        let mut names: Vec<String> = default.into_iter().collect();
        for path in found {
            if !names.contains(&path) {
                names.push(path);
            }
        }
        let name = |path: String| ModelName {
            name: Path::new(&path)
                .file_stem()
                .map_or_else(String::new, |stem| stem.to_string_lossy().into_owned()),
            path,
        };
        names.into_iter().map(name).collect()
    }

    /// The path of the model that ioco.toml names, or that was typed.
    pub fn default_path(&self) -> Option<String> {
        self.project.model.as_deref().map(|path| self.shown(path))
    }

    /// Relative to the project's folder, where it is below that.
    fn shown(&self, path: &Path) -> String {
        let path = path.strip_prefix(&self.project.root).unwrap_or(path);
        path.strip_prefix(".").unwrap_or(path).display().to_string()
    }

    /// The model of this path, which must be one of the project's.
    pub fn load(&self, path: &str) -> Result<Arc<Loaded>, Refusal> {
        let place = self.place(path)?;
        self.load_at(path, &place, &ModelOptions::default())
    }

    /// The model of a recorded failure, read as it was then.
    pub fn load_as(&self, path: &Path, options: &ModelOptions) -> Result<Arc<Loaded>, Refusal> {
        let shown = self.shown(path);
        let place = self.place(&shown)?;
        self.load_at(&shown, &place, options)
    }

    /// The model with this name, or of this path.
    pub fn named(&self, name: &str) -> Option<Arc<Loaded>> {
        let known = |model: &Loaded| model.model.is_some() && model.view.name == name;
        // Mostly the name is that of the file, and the default comes first.
        let mut all = self.list();
        all.sort_by_key(|model| model.name != name);
        all.iter()
            .filter_map(|model| self.load(&model.path).ok())
            .find(|model| known(model) || model.view.path == name)
    }

    fn place(&self, path: &str) -> Result<PathBuf, Refusal> {
        if self.default_path().as_deref() == Some(path)
            && let Some(default) = &self.project.model
        {
            return Ok(default.clone());
        }
        let outside = || {
            Refusal::wrong(
                format!("'{path}' is not in the project's folder"),
                "start `ioco serve` in the folder of that model",
            )
        };
        let typed = Path::new(path);
        let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        if path.is_empty() || !typed.components().all(plain) {
            return Err(outside());
        }
        let place = self.project.root.join(typed);
        let real = |path: &Path| fs::canonicalize(path);
        match (real(&place), real(&self.project.root)) {
            (Ok(place), Ok(root)) if !place.starts_with(&root) => Err(outside()),
            (Ok(_), Ok(_)) => Ok(place),
            _ => Err(Refusal::unknown(
                format!("there is no model {path}"),
                "choose one of the project's models",
            )),
        }
    }

    /// The files of a model, as they are now; its main file where it cannot be read.
    pub fn files_of(&self, path: &str) -> Watched {
        match self.load(path) {
            Ok(loaded) => Watched::new(loaded.written.iter().map(|(path, _)| path.clone())),
            Err(_) => Watched::new(self.place(path).ok()),
        }
    }

    fn load_at(
        &self,
        shown: &str,
        place: &Path,
        options: &ModelOptions,
    ) -> Result<Arc<Loaded>, Refusal> {
        let plain = *options == ModelOptions::default();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(loaded) = known.get(place).filter(|l| plain && l.is_current()) {
            return Ok(Arc::clone(loaded));
        }
        let mut loaded = read(shown, place, options, &self.project)?;
        if let Some(before) = known.get(place).filter(|_| plain && loaded.model.is_none()) {
            loaded.view = loaded.view.over(&before.view);
        }
        let loaded = Arc::new(loaded);
        if plain {
            known.insert(place.to_owned(), Arc::clone(&loaded));
        }
        Ok(loaded)
    }
}

/// Keeps what is wrong with the text.
#[derive(Default)]
struct Diagnosed {
    diagnostics: Vec<Diagnostic>,
    files: Vec<SourceFile>,
}

impl Observer for Diagnosed {
    fn diagnostics(&mut self, diagnostics: &[Diagnostic], files: &[SourceFile]) {
        self.diagnostics = diagnostics.to_vec();
        self.files = files.to_vec();
    }
}

fn read(
    shown: &str,
    place: &Path,
    options: &ModelOptions,
    project: &Project,
) -> Result<Loaded, Refusal> {
    let located = Project {
        // `door.aml`, not `./door.aml`: it stands in every message.
        model: Some(place.strip_prefix(".").unwrap_or(place).to_owned()),
        ..project.clone()
    };
    let mut said = Diagnosed::default();
    let before = SystemTime::now().checked_sub(COARSEST_CLOCK);
    let model = match model::load(options, &located, &mut said) {
        Ok(model) => Some(model),
        Err(stop) if said.diagnostics.is_empty() => return Err(stop.into()),
        Err(_) => None,
    };
    let (sts, hash, files) = match &model {
        Some(model) => (Some(&*model.sts), model.hash.as_str(), &model.files),
        None => (None, "", &said.files),
    };
    let written = files.iter().map(|file| {
        let path = PathBuf::from(&file.name);
        let time = modified(&path);
        (path, time)
    });
    let written: Vec<_> = written.collect();
    Ok(Loaded {
        view: ModelView::new(shown, hash, sts, files, &said.diagnostics),
        settled: written.iter().all(|(_, time)| *time < before),
        written,
        model,
    })
}

fn collect(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with('.') || found.len() >= MAX_MODELS {
            continue;
        }
        let path = entry.path();
        let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        if path.is_dir() {
            if depth > 0 && name != "node_modules" && name != "target" {
                collect(&path, depth - 1, found);
            }
        } else if ending.is_some_and(|ending| {
            ENDINGS.contains(&ending.as_str()) || (ending == "json" && is_json_model(&path))
        }) {
            found.push(path);
        }
    }
}

/// Most files of JSON in a project are no models, so they are asked.
fn is_json_model(path: &Path) -> bool {
    let budget = Budget {
        bytes: MAX_JSON_BYTES,
        ..Budget::default()
    };
    read_text(path, &budget).is_ok_and(|text| {
        ioco_formats::json::looks_like(&text) || ioco_formats::graphwalker::looks_like(&text)
    })
}
