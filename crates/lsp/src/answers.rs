//! The answer to each question of an editor.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use gen_lsp_types::{
    BaseSymbolInformation, CompletionItem, CompletionItemKind, CompletionParams, DefinitionParams,
    DocumentFormattingParams, DocumentSymbol, DocumentSymbolParams, Hover, HoverParams, Location,
    MarkupContent, MarkupKind, PrepareRenameParams, PrepareRenamePlaceholder, ReferenceParams,
    RenameParams, SymbolInformation, SymbolKind as Shown, TextDocumentPositionParams, TextEdit,
    Uri, WorkspaceEdit, WorkspaceSymbolParams,
};
use ioco_aml::{CompletionKind, Index, Occurrence, Symbol, SymbolKind};
use ioco_campaign::{CampaignError, Project, history};
use ioco_store::{Covered, CoveredSwitch, RunRow};
use ioco_sts::{Sts, SwitchId};

use crate::assist;
use crate::documents::{Documents, project_folder, uri};
use crate::positions;

/// Runs that are looked at for one that came to its end.
const LATEST: usize = 20;

/// Where the cursor stands in a model.
struct Cursor {
    index: Index,
    file: usize,
    offset: usize,
}

fn cursor(documents: &Documents, at: &TextDocumentPositionParams) -> Result<Cursor, String> {
    let (index, file) = documents.index(&at.text_document.uri)?;
    let offset = positions::offset(&index.files[file].text, at.position);
    Ok(Cursor {
        index,
        file,
        offset,
    })
}

impl Cursor {
    fn symbol(&self) -> Option<(&Symbol, &Occurrence)> {
        self.index.at(self.file, self.offset)
    }
}

fn location(index: &Index, place: &Occurrence) -> Option<Location> {
    let file = &index.files[place.file];
    Some(Location {
        uri: uri(&file.name)?,
        range: positions::range(&file.text, &place.span),
    })
}

pub fn definition(documents: &Documents, p: &DefinitionParams) -> Result<Vec<Location>, String> {
    let cursor = cursor(documents, &p.text_document_position_params)?;
    let found = cursor.symbol().map(|(symbol, _)| symbol);
    let places = found.into_iter().flat_map(|symbol| &symbol.definitions);
    Ok(places
        .filter_map(|place| location(&cursor.index, place))
        .collect())
}

pub fn references(documents: &Documents, p: &ReferenceParams) -> Result<Vec<Location>, String> {
    let cursor = cursor(documents, &p.text_document_position_params)?;
    let Some((symbol, _)) = cursor.symbol() else {
        return Ok(Vec::new());
    };
    let definitions: &[Occurrence] = if p.context.include_declaration {
        &symbol.definitions
    } else {
        &[]
    };
    let places = definitions.iter().chain(&symbol.uses);
    Ok(places
        .filter_map(|place| location(&cursor.index, place))
        .collect())
}

pub fn prepare(
    documents: &Documents,
    p: &PrepareRenameParams,
) -> Result<Option<PrepareRenamePlaceholder>, String> {
    let cursor = cursor(documents, &p.text_document_position_params)?;
    Ok(cursor
        .symbol()
        .map(|(symbol, place)| PrepareRenamePlaceholder {
            range: positions::range(&cursor.index.files[place.file].text, &place.span),
            placeholder: symbol.name.clone(),
        }))
}

pub fn rename(documents: &Documents, p: &RenameParams) -> Result<WorkspaceEdit, String> {
    let cursor = cursor(documents, &p.text_document_position_params)?;
    let (symbol, _) = cursor
        .symbol()
        .ok_or("there is no name here that can be changed")?;
    cursor.index.can_rename(symbol, &p.new_name)?;
    let mut changes: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
    for place in symbol.occurrences() {
        if let Some(Location { uri, range }) = location(&cursor.index, place) {
            changes.entry(uri).or_default().push(TextEdit {
                range,
                new_text: p.new_name.clone(),
            });
        }
    }
    Ok(WorkspaceEdit {
        changes: Some(changes),
        ..WorkspaceEdit::default()
    })
}

pub fn formatting(
    documents: &Documents,
    p: &DocumentFormattingParams,
) -> Result<Option<Vec<TextEdit>>, String> {
    let (_, text) = documents.text(&p.text_document.uri)?;
    // A text with mistakes is left as it is: the diagnostics say what is wrong.
    let Ok(formatted) = ioco_aml::format(&text) else {
        return Ok(None);
    };
    if formatted == text {
        return Ok(Some(Vec::new()));
    }
    Ok(Some(vec![TextEdit {
        range: positions::range(&text, &(0..text.len())),
        new_text: formatted,
    }]))
}

pub fn completion(
    documents: &Documents,
    p: &CompletionParams,
) -> Result<Vec<CompletionItem>, String> {
    let cursor = cursor(documents, &p.text_document_position_params)?;
    let found = cursor.index.complete(cursor.file, cursor.offset);
    Ok(found
        .into_iter()
        .map(|found| CompletionItem {
            label: found.text,
            kind: Some(match found.kind {
                CompletionKind::Word => CompletionItemKind::Keyword,
                CompletionKind::Name(kind) => completion_kind(kind),
            }),
            detail: (!found.detail.is_empty()).then_some(found.detail),
            ..CompletionItem::default()
        })
        .collect())
}

fn completion_kind(kind: SymbolKind) -> CompletionItemKind {
    match kind {
        SymbolKind::Stimulus | SymbolKind::Response | SymbolKind::Internal => {
            CompletionItemKind::Event
        }
        SymbolKind::Parameter | SymbolKind::Variable => CompletionItemKind::Variable,
        SymbolKind::Member => CompletionItemKind::EnumMember,
        SymbolKind::Enum => CompletionItemKind::Enum,
        SymbolKind::Struct => CompletionItemKind::Struct,
        SymbolKind::Function | SymbolKind::Macro | SymbolKind::Behavior => {
            CompletionItemKind::Function
        }
        SymbolKind::State => CompletionItemKind::Reference,
        SymbolKind::Process | SymbolKind::Channel => CompletionItemKind::Module,
    }
}

pub fn symbols(
    documents: &Documents,
    p: &DocumentSymbolParams,
) -> Result<Vec<DocumentSymbol>, String> {
    let (index, file) = documents.index(&p.text_document.uri)?;
    Ok(outline(&index, file, None))
}

/// Longer answers are cut: people do not read them.
const MAX_FOUND: usize = 200;

/// The names of all models with an open file that contain what was typed.
pub fn workspace_symbols(
    documents: &Documents,
    p: &WorkspaceSymbolParams,
) -> Result<Vec<SymbolInformation>, String> {
    let typed = p.query.to_lowercase();
    let mut found: Vec<SymbolInformation> = Vec::new();
    for index in documents.indexes() {
        for symbol in &index.symbols {
            let is_wanted = symbol.name.to_lowercase().contains(&typed);
            let place = symbol.definitions.first().filter(|_| is_wanted);
            let Some(location) = place.and_then(|place| location(&index, place)) else {
                continue;
            };
            let owner = symbol.within.map(|owner| index.symbols[owner].name.clone());
            let shown = SymbolInformation {
                location,
                base_symbol_information: BaseSymbolInformation {
                    name: symbol.name.clone(),
                    kind: outline_kind(symbol.kind),
                    tags: None,
                    container_name: owner,
                },
                #[allow(deprecated)]
                deprecated: None,
            };
            // Two models may include the same file.
            if found.len() < MAX_FOUND && !found.contains(&shown) {
                found.push(shown);
            }
        }
    }
    Ok(found)
}

/// The symbols of a file inside another symbol. One whose owner stands in another file is told at
/// the top.
fn outline(index: &Index, file: usize, within: Option<usize>) -> Vec<DocumentSymbol> {
    let text = &index.files[file].text;
    let here = |symbol: &Symbol| symbol.extent.file == file;
    let mut found = Vec::new();
    for (position, symbol) in index.symbols.iter().enumerate() {
        let owner = symbol.within.filter(|owner| here(&index.symbols[*owner]));
        if !here(symbol) || owner != within {
            continue;
        }
        let children = outline(index, file, Some(position));
        let name = &symbol.definitions[0].span;
        let extent = symbol.extent.span.start.min(name.start)..symbol.extent.span.end.max(name.end);
        found.push(DocumentSymbol {
            name: symbol.name.clone(),
            detail: Some(symbol.kind.name().to_owned()),
            kind: outline_kind(symbol.kind),
            range: positions::range(text, &extent),
            selection_range: positions::range(text, name),
            children: (!children.is_empty()).then_some(children),
            tags: None,
            #[allow(deprecated)]
            deprecated: None,
        });
    }
    found
}

fn outline_kind(kind: SymbolKind) -> Shown {
    match kind {
        SymbolKind::Process => Shown::Module,
        SymbolKind::Channel => Shown::Interface,
        SymbolKind::Stimulus | SymbolKind::Response | SymbolKind::Internal => Shown::Event,
        SymbolKind::Parameter => Shown::Field,
        SymbolKind::Variable => Shown::Variable,
        SymbolKind::State => Shown::Class,
        SymbolKind::Behavior | SymbolKind::Macro | SymbolKind::Function => Shown::Function,
        SymbolKind::Enum => Shown::Enum,
        SymbolKind::Member => Shown::EnumMember,
        SymbolKind::Struct => Shown::Struct,
    }
}

pub fn hover(documents: &Documents, p: &HoverParams) -> Result<Option<Hover>, String> {
    let at = &p.text_document_position_params;
    let cursor = cursor(documents, at)?;
    let mut words = Vec::new();
    let mut range = None;
    if let Some((symbol, place)) = cursor.symbol() {
        let owner = symbol.within.map(|owner| &cursor.index.symbols[owner]);
        let of = owner.map_or_else(String::new, |owner| {
            format!(" of {} {}", owner.kind.name(), owner.name)
        });
        words.push(format!("**{}** {}{of}", symbol.kind.name(), symbol.name));
        words.push(format!("```aml\n{}\n```", symbol.detail));
        range = Some(positions::range(
            &cursor.index.files[place.file].text,
            &place.span,
        ));
    }
    if words.is_empty() {
        let text = &cursor.index.files[cursor.file].text;
        words.extend(assist::manual(text, cursor.offset));
    }
    words.extend(covered(documents, at));
    if words.is_empty() {
        return Ok(None);
    }
    let content = MarkupContent {
        kind: MarkupKind::Markdown,
        value: words.join("\n\n"),
    };
    Ok(Some(Hover {
        contents: content.into(),
        range,
    }))
}

/// How often the last run took the switches that stand on the cursor's line.
fn covered(documents: &Documents, at: &TextDocumentPositionParams) -> Vec<String> {
    let Ok(loaded) = documents.load(&at.text_document.uri) else {
        return Vec::new();
    };
    let (Some(sts), Ok((path, _))) = (&loaded.sts, documents.text(&at.text_document.uri)) else {
        return Vec::new();
    };
    let Some(file) = loaded.files.iter().position(|file| file.name == path) else {
        return Vec::new();
    };
    let line = at.position.line + 1;
    let here: Vec<SwitchId> = (0..sts.switches().len())
        .map(SwitchId::from_index)
        .filter(|id| {
            let place = sts.switch(*id).place;
            place.file as usize == file && place.line == line
        })
        .collect();
    if here.is_empty() {
        return Vec::new();
    }
    let (run, covered) = match last_run(sts, &path) {
        Ok(Some(found)) => found,
        Ok(None) => return vec!["no run of this model is recorded".to_owned()],
        Err(stop) => {
            return [Some(stop.message), stop.hint]
                .into_iter()
                .flatten()
                .collect();
        }
    };
    let same_text = run.model_hash == ioco_campaign::model::hash(&loaded.files);
    let on_line = format!(":{line}");
    let mut words: Vec<String> = here
        .into_iter()
        .map(|id| {
            let shown = sts.show_switch(id);
            // Lines of another text are other lines.
            let same = |taken: &&CoveredSwitch| {
                taken.switch == shown && (!same_text || taken.place.ends_with(&on_line))
            };
            let count: u64 = covered.switches.iter().filter(same).map(|s| s.count).sum();
            let times = match count {
                0 => "never taken".to_owned(),
                1 => "taken once".to_owned(),
                many => format!("taken {many} times"),
            };
            format!("{}: {times} in run {}", sts.switch_title(id), run.id)
        })
        .collect();
    if !same_text {
        words.push("(the text has changed since)".to_owned());
    }
    words
}

/// The last run of a model that came to its end, and what it covered.
pub fn last_run(sts: &Sts, path: &str) -> Result<Option<(RunRow, Covered)>, CampaignError> {
    let project = match project_folder(path) {
        Some(folder) => Project::find(Some(&folder), None)?,
        None => Project {
            root: Path::new(path)
                .parent()
                .map_or_else(PathBuf::new, Path::to_owned),
            ..Project::default()
        },
    };
    let Some(store) = history::open(&project)? else {
        return Ok(None);
    };
    for run in store
        .runs(Some(sts.name()), LATEST)
        .map_err(history::stop)?
    {
        if let Some(covered) = store.coverage(run.id).map_err(history::stop)? {
            return Ok(Some((run, covered)));
        }
    }
    Ok(None)
}
