//! Editing a model in the page: what is wrong with a text that is not saved yet, what can be typed in it, and saving
//! it. Only files that the model consists of can be written, only below the project's folder, and only while they
//! are as the editor saw them: a page cannot make a file, nor overwrite what another program wrote meanwhile.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use ioco_aml::{CompletionKind, Index, SourceFile, Sources};
use ioco_budget::Budget;
use ioco_campaign::model::FileSystem;
use ioco_view::ModelView;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::models::Models;
use crate::refusal::Refusal;

/// A text that is being typed.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(default)]
#[cfg_attr(test, ts(optional_fields = nullable))]
pub struct DraftRequest {
    /// The path of the model.
    pub model: String,
    /// Which of its files, as the model names it.
    pub file: String,
    pub text: String,
    /// Where the cursor stands, in UTF-16 units as browsers count: what can be typed there is asked for.
    pub at: Option<usize>,
}

/// What ioco says about a draft.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Draft {
    /// Of this file; places are in UTF-16 units.
    pub diagnostics: Vec<DraftDiagnostic>,
    pub completions: Vec<DraftCompletion>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, ts_rs::TS))]
pub struct DraftDiagnostic {
    pub from: usize,
    pub to: usize,
    /// `error`, `warning` or `hint`.
    pub severity: String,
    pub code: String,
    pub message: String,
    pub hint: Option<String>,
    /// What would repair it.
    pub fix: Option<DraftFix>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, ts_rs::TS))]
pub struct DraftFix {
    pub from: usize,
    pub to: usize,
    pub text: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, ts_rs::TS))]
pub struct DraftCompletion {
    pub text: String,
    pub detail: String,
    /// `keyword`, or what the name is.
    pub kind: String,
}

#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(default)]
pub struct SaveRequest {
    pub model: String,
    pub file: String,
    pub text: String,
    /// The text that the editor began with: another one on disk is not overwritten.
    pub before: String,
}

/// The files of a model, one of them as it is being typed.
struct Typed<'a> {
    file: &'a str,
    text: &'a str,
    disk: FileSystem,
}

impl Sources for Typed<'_> {
    fn read(&self, path: &str) -> Result<String, String> {
        if path == self.file {
            return Ok(self.text.to_owned());
        }
        self.disk.read(path)
    }
}

impl App {
    /// What is wrong with a text that is being typed, and what can be typed next.
    pub fn draft(&self, request: &DraftRequest) -> Result<Draft, Refusal> {
        let (main, file) = editable(&self.models, &request.model, &request.file)?;
        let budget = Budget::default();
        let typed = Typed {
            file: &file,
            text: &request.text,
            disk: FileSystem::new(Path::new(&main), &self.project, budget),
        };
        let loaded = ioco_aml::load(&main, &typed);
        let of_file = |index: usize| loaded.files.get(index).is_some_and(|f| f.name == file);
        let shown = loaded.diagnostics.iter().filter(|d| of_file(d.file));
        let diagnostics = shown.map(|d| DraftDiagnostic::new(d, &loaded.files));
        let completions = match request.at {
            Some(at) => complete(&main, &typed, &file, byte_of(&request.text, at)),
            None => Vec::new(),
        };
        Ok(Draft {
            diagnostics: diagnostics.collect(),
            completions,
        })
    }

    /// Writes one file of a model; the answer is the model as it is then.
    pub fn save(&self, request: &SaveRequest) -> Result<ModelView, Refusal> {
        let (_, file) = editable(&self.models, &request.model, &request.file)?;
        let place = self.writable(Path::new(&file))?;
        let there = ioco_outside::file::read_text(&place, &Budget::default())
            .map_err(|error| cannot(&file, &error.to_string()))?;
        let mark = there.strip_prefix('\u{feff}');
        if mark.unwrap_or(&there) != request.before {
            return Err(Refusal::conflict(
                format!("{file} was changed by another program"),
                "copy what you typed, and read the model again",
            ));
        }
        let text = match mark {
            Some(_) => format!("\u{feff}{}", request.text),
            None => request.text.clone(),
        };
        replace(&place, text.as_bytes()).map_err(|error| cannot(&file, &error.to_string()))?;
        self.model(&request.model)
    }

    /// The real place of a file, if this page may write it.
    fn writable(&self, file: &Path) -> Result<PathBuf, Refusal> {
        let real = |path: &Path| fs::canonicalize(path);
        let root = match self.project.root.as_os_str().is_empty() {
            true => Path::new("."),
            false => &self.project.root,
        };
        match (real(file), real(root)) {
            (Ok(place), Ok(root)) if place.starts_with(&root) => Ok(place),
            (Ok(_), Ok(_)) => Err(Refusal::wrong(
                format!("{} is not in the project's folder", file.display()),
                "the page writes only there; edit it with another program",
            )),
            _ => Err(cannot(&file.display().to_string(), "it is not there")),
        }
    }
}

fn cannot(file: &str, why: &str) -> Refusal {
    Refusal::wrong(
        format!("cannot write {file}: {why}"),
        "look at the file and its permissions",
    )
}

/// The main file of a model, and the name of one of its files that can be edited here.
fn editable(models: &Models, model: &str, file: &str) -> Result<(String, String), Refusal> {
    let loaded = models.load(model)?;
    let sources = &loaded.view.sources;
    let is_text = |name: &str| Path::new(name).extension().is_some_and(|e| e == "aml");
    let main = sources.first().map(|source| source.file.clone());
    let Some(main) = main.filter(|main| is_text(main)) else {
        return Err(Refusal::wrong(
            format!("{model} is not written in the modelling language"),
            "edit it with the tool that made it",
        ));
    };
    match sources.iter().find(|source| source.file == file) {
        Some(source) if is_text(&source.file) => Ok((main, source.file.clone())),
        _ => Err(Refusal::unknown(
            format!("{file} is no file of this model"),
            "read the model again",
        )),
    }
}

impl DraftDiagnostic {
    fn new(diagnostic: &ioco_aml::Diagnostic, files: &[SourceFile]) -> DraftDiagnostic {
        let text = &files[diagnostic.file].text;
        let place = |offset: usize| units_of(text, offset);
        let fix = ioco_aml::fix(diagnostic, files);
        DraftDiagnostic {
            from: place(diagnostic.span.start),
            to: place(diagnostic.span.end),
            severity: diagnostic.severity.name().to_owned(),
            code: diagnostic.code.to_owned(),
            message: diagnostic.message.clone(),
            hint: diagnostic.hint.clone(),
            fix: fix.map(|fix| DraftFix {
                from: place(fix.span.start),
                to: place(fix.span.end),
                text: fix.text,
            }),
        }
    }
}

fn complete(main: &str, typed: &Typed<'_>, file: &str, offset: usize) -> Vec<DraftCompletion> {
    let Ok(index) = Index::read(main, typed) else {
        return Vec::new();
    };
    let Some(position) = index.file(file) else {
        return Vec::new();
    };
    let found = index.complete(position, offset).into_iter();
    let shown = found.map(|found| DraftCompletion {
        kind: match found.kind {
            CompletionKind::Word => "keyword",
            CompletionKind::Name(kind) => kind.name(),
        }
        .to_owned(),
        text: found.text,
        detail: found.detail,
    });
    shown.collect()
}

/// How many UTF-16 units come before a byte.
fn units_of(text: &str, byte: usize) -> usize {
    let before = text.get(..byte).unwrap_or(text);
    before.encode_utf16().count()
}

/// The byte before which so many UTF-16 units come.
fn byte_of(text: &str, units: usize) -> usize {
    let mut left = units;
    for (byte, character) in text.char_indices() {
        if left < character.len_utf16() {
            return byte;
        }
        left -= character.len_utf16();
    }
    text.len()
}

/// Writes a file whole or not at all, with the permissions that it has.
fn replace(place: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = place.parent().unwrap_or(Path::new("."));
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    let beside = folder.join(format!(".{name}.{}", std::process::id()));
    let write = || {
        let mut file = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&beside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::set_permissions(&beside, fs::metadata(place)?.permissions())?;
        fs::rename(&beside, place)
    };
    let written = write();
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_as_browsers_count() {
        let text = "a€😀b";
        for (byte, units) in [(0, 0), (1, 1), (4, 2), (8, 4), (9, 5)] {
            assert_eq!(units_of(text, byte), units);
            assert_eq!(byte_of(text, units), byte);
        }
        assert_eq!(
            byte_of(text, 3),
            4,
            "the middle of a character is its start"
        );
    }
}
