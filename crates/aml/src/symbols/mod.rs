//! The names of a model and where they stand: what an editor needs to jump, rename, complete and
//! outline. Made from the tree alone, so that it works while the text is being typed.

mod collect;
mod complete;
mod uses;

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::ast::Item;
use crate::diagnostic::SourceFile;
use crate::include::{self, Sources};

pub use complete::{Completion, CompletionKind};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SymbolKind {
    Process,
    Channel,
    Stimulus,
    Response,
    /// A label of an internal channel: sent by one process, received by others.
    Internal,
    Parameter,
    Variable,
    State,
    Behavior,
    Macro,
    Enum,
    Member,
    Struct,
    Function,
}

impl SymbolKind {
    pub fn name(self) -> &'static str {
        match self {
            SymbolKind::Process => "process",
            SymbolKind::Channel => "channel",
            SymbolKind::Stimulus => "stimulus",
            SymbolKind::Response => "response",
            SymbolKind::Internal => "internal label",
            SymbolKind::Parameter => "parameter",
            SymbolKind::Variable => "variable",
            SymbolKind::State => "state",
            SymbolKind::Behavior => "behavior",
            SymbolKind::Macro => "macro",
            SymbolKind::Enum => "enum",
            SymbolKind::Member => "enum value",
            SymbolKind::Struct => "struct",
            SymbolKind::Function => "function",
        }
    }

    /// Whether expressions use the name, so that it must be a word.
    pub fn is_word(self) -> bool {
        matches!(
            self,
            SymbolKind::Parameter
                | SymbolKind::Variable
                | SymbolKind::Macro
                | SymbolKind::Member
                | SymbolKind::Enum
                | SymbolKind::Function
        )
    }
}

/// Where a name stands: a file by its position among those that were read, and a span in it,
/// without quotes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Occurrence {
    pub file: usize,
    pub span: Range<usize>,
}

/// A declared name with everything that speaks of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    pub kind: SymbolKind,
    pub name: String,
    /// The declaration as written, on one line.
    pub detail: String,
    /// The symbol that this one belongs to: a state to its process, a parameter to its label.
    pub within: Option<usize>,
    /// The whole declaration.
    pub extent: Occurrence,
    pub definitions: Vec<Occurrence>,
    pub uses: Vec<Occurrence>,
}

impl Symbol {
    /// Every place of the name, definitions first.
    pub fn occurrences(&self) -> impl Iterator<Item = &Occurrence> {
        self.definitions.iter().chain(&self.uses)
    }
}

/// The names of a model.
#[derive(Clone, Debug)]
pub struct Index {
    pub files: Vec<SourceFile>,
    pub symbols: Vec<Symbol>,
    items: Vec<Item>,
    scopes: Scopes,
}

/// Where a name means something: everywhere, or inside one symbol.
type ProcessScope = Option<usize>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Space {
    Process,
    Channel,
    Received,
    Sent,
    Parameter,
    Variable,
    State,
    Behavior,
    Macro,
    Type,
    Member,
    Function,
}

/// What each name means in each scope.
#[derive(Clone, Debug, Default)]
struct Scopes {
    known: FxHashMap<(Space, ProcessScope, String), usize>,
}

impl Scopes {
    fn get(&self, space: Space, scope: ProcessScope, name: &str) -> Option<usize> {
        self.known.get(&(space, scope, name.to_owned())).copied()
    }
}

impl Index {
    /// Reads a model from its main file, as [`crate::load`] does.
    pub fn read(path: &str, sources: &dyn Sources) -> Result<Index, String> {
        let text = sources.read(path)?;
        let read = include::read(path, text, sources);
        let mut index = Index {
            files: read.files,
            symbols: Vec::new(),
            items: read.items,
            scopes: Scopes::default(),
        };
        let items = std::mem::take(&mut index.items);
        index.collect(&items);
        index.find_uses(&items);
        index.items = items;
        Ok(index)
    }

    /// The symbol whose name stands at an offset, and the name's place.
    pub fn at(&self, file: usize, offset: usize) -> Option<(&Symbol, &Occurrence)> {
        let covers = |o: &&Occurrence| {
            o.file == file && o.span.start <= offset && offset <= o.span.end && !o.span.is_empty()
        };
        self.symbols.iter().find_map(|symbol| {
            let place = symbol.occurrences().find(covers)?;
            Some((symbol, place))
        })
    }

    /// The file of this name.
    pub fn file(&self, name: &str) -> Option<usize> {
        self.files.iter().position(|file| file.name == name)
    }

    /// Whether a symbol may be called `name` without being taken for another.
    pub fn can_rename(&self, symbol: &Symbol, name: &str) -> Result<(), String> {
        if name.trim().is_empty() || name.contains(['\'', '"', '\\', '\n']) {
            return Err("a name needs letters, and no quotes".to_owned());
        }
        let word = name.chars().enumerate().all(|(position, c)| {
            c == '_' || c.is_alphabetic() || position > 0 && (c.is_alphanumeric() || c == '?')
        });
        if symbol.kind.is_word() && !word {
            return Err(format!(
                "the name of a {} is a word, so that expressions can use it",
                symbol.kind.name()
            ));
        }
        let taken = self.symbols.iter().find(|other| {
            other.name == name && other.kind == symbol.kind && other.within == symbol.within
        });
        match taken {
            Some(_) if name != symbol.name => Err(format!(
                "there is a {} `{name}` already",
                symbol.kind.name()
            )),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
