//! The open texts, the models that they belong to, and what is wrong with them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use gen_lsp_types::{
    Code, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location,
    PublishDiagnosticsParams, TextDocumentContentChangeEvent, Uri,
};
use ioco_aml::{Index, Loaded, Severity, SourceFile, Sources};
use ioco_budget::Budget;
use ioco_campaign::model::FileSystem;
use ioco_campaign::{FILE_NAME, Project};
use serde_json::Value as Json;

use crate::positions;

#[derive(Default)]
pub struct Documents {
    /// The open texts by path.
    open: BTreeMap<String, String>,
    /// The files whose diagnostics the editor shows.
    with_errors: BTreeSet<String>,
}

/// The files of one model: what is being typed comes before what is on disk.
struct Files<'a> {
    open: &'a BTreeMap<String, String>,
    disk: FileSystem,
}

impl Sources for Files<'_> {
    fn read(&self, path: &str) -> Result<String, String> {
        match self.open.get(path) {
            Some(text) => Ok(text.clone()),
            None => self.disk.read(path),
        }
    }
}

impl Documents {
    /// The files of the model with this main file. An editor opens whatever folder was cloned: includes
    /// stay in the project, or beside the model.
    fn files(&self, main: &str) -> Files<'_> {
        let main = Path::new(main);
        let folder = main.parent().map(Path::to_owned).unwrap_or_default();
        let project = Project {
            root: folder,
            ..Project::default()
        };
        Files {
            open: &self.open,
            disk: FileSystem::new(main, &project, Budget::default()),
        }
    }

    pub fn opened(&mut self, params: Json) -> Option<()> {
        let params: gen_lsp_types::DidOpenTextDocumentParams =
            serde_json::from_value(params).ok()?;
        let path = path(&params.text_document.uri)?;
        self.open.insert(path, params.text_document.text);
        Some(())
    }

    pub fn changed(&mut self, params: Json) -> Option<()> {
        let params: gen_lsp_types::DidChangeTextDocumentParams =
            serde_json::from_value(params).ok()?;
        let path = path(&params.text_document.text_document_identifier.uri)?;
        let text = self.open.entry(path).or_default();
        for change in params.content_changes {
            match change {
                TextDocumentContentChangeEvent::TextDocumentContentChangeWholeDocument(whole) => {
                    *text = whole.text;
                }
                TextDocumentContentChangeEvent::TextDocumentContentChangePartial(part) => {
                    let from = positions::offset(text, part.range.start);
                    let to = positions::offset(text, part.range.end).max(from);
                    text.replace_range(from..to, &part.text);
                }
            }
        }
        Some(())
    }

    pub fn closed(&mut self, params: Json) -> Option<()> {
        let params: gen_lsp_types::DidCloseTextDocumentParams =
            serde_json::from_value(params).ok()?;
        self.open.remove(&path(&params.text_document.uri)?);
        Some(())
    }

    pub fn text(&self, uri: &Uri) -> Result<(String, String), String> {
        let path = path(uri).ok_or_else(|| format!("{uri} is not a file"))?;
        let text = self.files(&path).read(&path)?;
        Ok((path, text))
    }

    /// The main file of the model that a file belongs to: itself, unless a project's model or an
    /// open file includes it.
    pub fn main_of(&self, file: &str) -> String {
        let includes = |main: &str| {
            let index = Index::read(main, &self.files(main));
            index.is_ok_and(|index| index.file(file).is_some())
        };
        if let Some(main) = project_model(file)
            && main != file
            && includes(&main)
        {
            return main;
        }
        let other = self
            .open
            .keys()
            .find(|open| *open != file && includes(open));
        other.map_or_else(|| file.to_owned(), Clone::clone)
    }

    /// The names of the model that a document belongs to, and which of its files the document is.
    pub fn index(&self, uri: &Uri) -> Result<(Index, usize), String> {
        let path = path(uri).ok_or_else(|| format!("{uri} is not a file"))?;
        let main = self.main_of(&path);
        let index = Index::read(&main, &self.files(&main))?;
        let file = index
            .file(&path)
            .ok_or_else(|| format!("{path} is not part of the model"))?;
        Ok((index, file))
    }

    /// The names of every model that has an open file.
    pub fn indexes(&self) -> Vec<Index> {
        let mains: BTreeSet<String> = self.open.keys().map(|file| self.main_of(file)).collect();
        let read = mains
            .iter()
            .filter_map(|main| Index::read(main, &self.files(main)).ok());
        read.collect()
    }

    pub fn load(&self, uri: &Uri) -> Result<Loaded, String> {
        let path = path(uri).ok_or_else(|| format!("{uri} is not a file"))?;
        let main = self.main_of(&path);
        Ok(ioco_aml::load(&main, &self.files(&main)))
    }

    /// What is wrong with every model that has an open file, by file; files that have become right
    /// are published once more, empty.
    pub fn check(&mut self) -> Vec<PublishDiagnosticsParams> {
        let mains: BTreeSet<String> = self.open.keys().map(|file| self.main_of(file)).collect();
        let mut wrong: BTreeMap<String, Vec<Diagnostic>> = BTreeMap::new();
        for main in mains {
            let loaded = ioco_aml::load(&main, &self.files(&main));
            for file in &loaded.files {
                wrong.entry(file.name.clone()).or_default();
            }
            for diagnostic in &loaded.diagnostics {
                let Some(file) = loaded.files.get(diagnostic.file) else {
                    continue;
                };
                let shown = show(diagnostic, &loaded.files);
                let of_file = wrong.entry(file.name.clone()).or_default();
                if !of_file.contains(&shown) {
                    of_file.push(shown);
                }
            }
        }
        for file in std::mem::take(&mut self.with_errors) {
            wrong.entry(file).or_default();
        }
        self.with_errors = wrong
            .iter()
            .filter(|(_, diagnostics)| !diagnostics.is_empty())
            .map(|(file, _)| file.clone())
            .collect();
        wrong
            .into_iter()
            .filter_map(|(file, diagnostics)| {
                Some(PublishDiagnosticsParams {
                    uri: uri(&file)?,
                    version: None,
                    diagnostics,
                })
            })
            .collect()
    }
}

fn show(diagnostic: &ioco_aml::Diagnostic, files: &[SourceFile]) -> Diagnostic {
    let text = &files[diagnostic.file].text;
    let message = match &diagnostic.hint {
        Some(hint) => format!("{}\nhint: {hint}", diagnostic.message),
        None => diagnostic.message.clone(),
    };
    let related: Vec<DiagnosticRelatedInformation> = diagnostic
        .labels
        .iter()
        .filter_map(|(file, span, words)| {
            let file = files.get(*file)?;
            let location = Location {
                uri: uri(&file.name)?,
                range: positions::range(&file.text, span),
            };
            Some(DiagnosticRelatedInformation {
                location,
                message: words.clone(),
            })
        })
        .collect();
    Diagnostic {
        range: positions::range(text, &diagnostic.span),
        severity: Some(match diagnostic.severity {
            Severity::Error => DiagnosticSeverity::Error,
            Severity::Warning => DiagnosticSeverity::Warning,
            Severity::Hint => DiagnosticSeverity::Hint,
        }),
        code: Some(Code::String(diagnostic.code.to_owned())),
        source: Some("ioco".to_owned()),
        message: message.into(),
        related_information: (!related.is_empty()).then_some(related),
        ..Diagnostic::default()
    }
}

/// The model that the nearest ioco.toml above a file names.
fn project_model(file: &str) -> Option<String> {
    let folder = project_folder(file)?;
    let project = Project::find(Some(&folder), None).ok()?;
    Some(project.model?.to_string_lossy().into_owned())
}

/// The nearest folder above a file that holds ioco.toml.
pub fn project_folder(file: &str) -> Option<PathBuf> {
    let folders = Path::new(file).ancestors().skip(1);
    let mut with_file = folders.filter(|folder| folder.join(FILE_NAME).is_file());
    with_file.next().map(Path::to_owned)
}

fn path(uri: &Uri) -> Option<String> {
    let path = uri.to_file_path().ok()?;
    Some(path.to_string_lossy().into_owned())
}

pub fn uri(path: &str) -> Option<Uri> {
    Uri::from_file_path(path).ok()
}
