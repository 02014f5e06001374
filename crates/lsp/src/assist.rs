//! What helps beside the answers about names: quick fixes, folding, what to run, and the manual of a word.

use std::collections::HashMap;
use std::path::Path;

use gen_lsp_types::{
    CodeAction, CodeActionKind, CodeActionParams, CodeLens, CodeLensParams, Command, FoldingRange,
    FoldingRangeParams, TextEdit, WorkspaceEdit,
};
use ioco_aml::SymbolKind;
use ioco_campaign::{Project, Results};

use crate::answers::last_run;
use crate::documents::{Documents, project_folder, uri};
use crate::positions;

/// Commands of the editor, which opens a terminal for them: the argument is what to type there, and where.
pub const RUN: &str = "ioco.run";

/// At most so many failures have a lens of their own.
const MAX_LENSES: usize = 3;

/// The edit of every "did you mean" that the range touches.
pub fn actions(documents: &Documents, p: &CodeActionParams) -> Result<Vec<CodeAction>, String> {
    let (path, _) = documents.text(&p.text_document.uri)?;
    let loaded = documents.load(&p.text_document.uri)?;
    let mut found = Vec::new();
    for diagnostic in &loaded.diagnostics {
        let Some(file) = loaded.files.get(diagnostic.file) else {
            continue;
        };
        let place = positions::range(&file.text, &diagnostic.span);
        let touches = file.name == path && place.start <= p.range.end && p.range.start <= place.end;
        let (true, Some(fix)) = (touches, ioco_aml::fix(diagnostic, &loaded.files)) else {
            continue;
        };
        let Some(document) = uri(&file.name) else {
            continue;
        };
        let edit = TextEdit {
            range: positions::range(&file.text, &fix.span),
            new_text: fix.text.clone(),
        };
        let of_this = |shown: &&gen_lsp_types::Diagnostic| shown.range == place;
        let shown: Vec<_> = p
            .context
            .diagnostics
            .iter()
            .filter(of_this)
            .cloned()
            .collect();
        found.push(CodeAction {
            title: format!("Write `{}`", fix.text),
            kind: Some(CodeActionKind::QuickFix),
            diagnostics: (!shown.is_empty()).then_some(shown),
            is_preferred: Some(true),
            edit: Some(WorkspaceEdit {
                changes: Some(HashMap::from([(document, vec![edit])])),
                ..WorkspaceEdit::default()
            }),
            ..CodeAction::default()
        });
    }
    Ok(found)
}

/// Blocks in braces, and comments of several lines.
pub fn folding(documents: &Documents, p: &FoldingRangeParams) -> Result<Vec<FoldingRange>, String> {
    let (_, text) = documents.text(&p.text_document.uri)?;
    let mut found = Vec::new();
    let mut open: Vec<u32> = Vec::new();
    let mut comment: Option<u32> = None;
    let mut fold = |start: u32, end: u32| {
        if end > start {
            found.push(FoldingRange {
                start_line: start,
                end_line: end,
                ..FoldingRange::default()
            });
        }
    };
    for (number, line) in (0u32..).zip(text.lines()) {
        if line.trim_start().starts_with('#') {
            comment = comment.or(Some(number));
            continue;
        }
        if let Some(start) = comment.take() {
            fold(start, number.saturating_sub(1));
        }
        let mut quote: Option<char> = None;
        let mut characters = line.chars();
        while let Some(character) = characters.next() {
            match (quote, character) {
                (Some(_), '\\') => {
                    characters.next();
                }
                (Some(mark), _) if mark == character => quote = None,
                (Some(_), _) => {}
                (None, '\'' | '"') => quote = Some(character),
                (None, '#') => break,
                (None, '{') => open.push(number),
                (None, '}') => {
                    if let Some(start) = open.pop() {
                        // The line of the closing brace stays in sight.
                        fold(start, number.saturating_sub(1));
                    }
                }
                _ => {}
            }
        }
    }
    if let Some(start) = comment {
        fold(start, (text.lines().count() as u32).saturating_sub(1));
    }
    Ok(found)
}

/// Above the first process of a project's model: run it, replay its failures, what the last run covered.
pub fn lenses(documents: &Documents, p: &CodeLensParams) -> Result<Vec<CodeLens>, String> {
    let (path, _) = documents.text(&p.text_document.uri)?;
    let (index, file) = documents.index(&p.text_document.uri)?;
    let mut symbols = index.symbols.iter();
    let process = symbols.find(|s| s.kind == SymbolKind::Process && s.extent.file == file);
    let (Some(process), Some(folder)) = (process, project_folder(&path)) else {
        return Ok(Vec::new());
    };
    if documents.main_of(&path) != path {
        return Ok(Vec::new());
    }
    let range = positions::range(&index.files[file].text, &process.definitions[0].span);
    let lens = |title: String, line: String| CodeLens {
        range,
        command: Some(Command {
            title,
            tooltip: Some(line.clone()),
            command: RUN.to_owned(),
            arguments: Some(vec![
                serde_json::json!({ "line": line, "folder": Path::display(&folder).to_string() }),
            ]),
        }),
        data: None,
    };
    let mut found = vec![lens("▶ run".to_owned(), "ioco test".to_owned())];
    if let Ok(project) = Project::find(Some(&folder), None) {
        let files = Results::at(project.results()).failure_files();
        let ids = files.iter().filter_map(|file| file.file_stem()?.to_str());
        for id in ids.take(MAX_LENSES) {
            found.push(lens(format!("replay {id}"), format!("ioco replay {id}")));
        }
        if files.len() > MAX_LENSES {
            let all = format!("all {} failures", files.len());
            found.push(lens(all, "ioco failures".to_owned()));
        }
    }
    if let Some(sts) = documents.load(&p.text_document.uri)?.sts
        && let Ok(Some((run, covered))) = last_run(&sts, &path)
    {
        let taken = covered.switches.iter().filter(|switch| switch.count > 0);
        let words = format!(
            "{} of {} switches in run {}",
            taken.count(),
            sts.switches().len(),
            run.id
        );
        found.push(lens(words, "ioco coverage".to_owned()));
    }
    Ok(found)
}

/// The manual of the word at an offset, unless it stands in a string or a comment.
pub fn manual(text: &str, offset: usize) -> Option<String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let line = text[..offset].rfind('\n').map_or(0, |at| at + 1);
    let start = text[..offset].rfind(|c| !is_word(c)).map_or(0, |at| at + 1);
    let before = &text[line..start.max(line)];
    let is_quoted = |mark: char| before.matches(mark).count() % 2 == 1;
    if before.contains('#') || is_quoted('\'') || is_quoted('"') {
        return None;
    }
    let rest = &text[start..];
    let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
    let (form, meaning) = ioco_aml::manual(&rest[..end])?;
    Some(format!("```aml\n{form}\n```\n\n{meaning}"))
}
