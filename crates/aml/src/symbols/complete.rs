//! What may be typed at a place: the words of the language, and names where a name is wanted.

use super::uses::{Within, text};
use super::{Index, Space, Symbol, SymbolKind};
use crate::ast::{Block, Command, Item, ValueKind};
use crate::words::{self, Context};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionKind {
    Word,
    Name(SymbolKind),
}

/// Something that can be typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    pub kind: CompletionKind,
    pub text: String,
    /// Its declaration, or nothing for a word.
    pub detail: String,
}

/// Where the cursor stands.
struct CursorContext<'a> {
    /// The innermost command that the cursor is in or right after.
    command: Option<&'a Command>,
    context: Context,
    within: Within,
}

impl Index {
    /// What may be typed at an offset of a file.
    pub fn complete(&self, file: usize, offset: usize) -> Vec<Completion> {
        let mut found = CursorContext {
            command: None,
            context: Context::File,
            within: Within::default(),
        };
        self.descend(&self.items, file, offset, &mut found);
        match found.command {
            Some(command) if offset > command.word_span.end => {
                self.argument(command, offset, found.within)
            }
            _ => self.words(found.context),
        }
    }

    /// Follows the blocks around the offset inwards.
    fn descend<'a>(
        &self,
        items: &'a [Item],
        file: usize,
        offset: usize,
        found: &mut CursorContext<'a>,
    ) {
        for item in items {
            let (block, context) = match item {
                Item::Macro(definition) => {
                    if definition.file != file || offset < definition.name_span.end {
                        continue;
                    }
                    let last = definition.body.iter().filter_map(end_of).max();
                    if last.is_some_and(|end| offset <= end) {
                        found.context = Context::Statements;
                        found.within.body = self.scopes.get(Space::Macro, None, &definition.name);
                        self.descend(&definition.body, file, offset, found);
                    }
                    continue;
                }
                Item::Command(command) => {
                    if command.file != file {
                        if let Some(Block::Items(inner)) = &command.block {
                            self.descend(inner, file, offset, found);
                        }
                        continue;
                    }
                    if offset < command.word_span.start {
                        continue;
                    }
                    let on_line = self.same_line(file, command.span.end, offset);
                    if offset <= command.span.end || on_line && command.block.is_none() {
                        found.command = Some(command);
                    }
                    let Some(Block::Items(inner)) = &command.block else {
                        continue;
                    };
                    if offset <= command.span.end || offset > self.block_end(command) {
                        continue;
                    }
                    found.command = None;
                    let context = match command.word.as_str() {
                        "process" => Context::Process,
                        "channel" => Context::Channel,
                        "choice" | "repeat" => Context::Options,
                        _ => Context::Statements,
                    };
                    let name = command.arguments.first().and_then(text);
                    if let Some(name) = name {
                        match command.word.as_str() {
                            "process" => {
                                found.within.process =
                                    self.scopes.get(Space::Process, None, &name.value);
                            }
                            "behavior" => {
                                found.within.body = self.scopes.get(
                                    Space::Behavior,
                                    found.within.process,
                                    &name.value,
                                );
                            }
                            _ => {}
                        }
                    }
                    (inner, context)
                }
            };
            found.context = context;
            self.descend(block, file, offset, found);
        }
    }

    /// The end of a command's block: the bracket that closes it, as far as the text has one.
    fn block_end(&self, command: &Command) -> usize {
        let source = &self.files[command.file].text;
        let mut depth = 0usize;
        let mut offset = command.span.end;
        for (kind, span) in crate::syntax::lex(&source[command.span.end..]) {
            use crate::syntax::SyntaxKind as K;
            offset = command.span.end + span.end;
            match kind {
                K::LBrace | K::Do => depth += 1,
                K::RBrace | K::End => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return offset;
                    }
                }
                _ => {}
            }
        }
        offset
    }

    fn same_line(&self, file: usize, from: usize, to: usize) -> bool {
        let text = &self.files[file].text;
        let between = text.get(from..to);
        between.is_some_and(|t| !t.contains(['\n', ';', '}', '{']))
    }

    fn words(&self, context: Context) -> Vec<Completion> {
        let mut all: Vec<Completion> = words::all()
            .filter(|word| words::allowed(word, context) == Some(true))
            .map(|word| Completion {
                kind: CompletionKind::Word,
                text: word.to_owned(),
                detail: String::new(),
            })
            .collect();
        if matches!(context, Context::Process | Context::Statements) {
            all.extend(self.of(|s| s.kind == SymbolKind::Macro).map(|mut found| {
                found.text.push_str("()");
                found
            }));
        }
        all
    }

    fn argument(&self, command: &Command, offset: usize, within: Within) -> Vec<Completion> {
        let around = command
            .arguments
            .iter()
            .find(|value| value.span.start <= offset && offset <= value.span.end);
        if let Some(value) = around
            && let ValueKind::Keyword(key, _) = &value.kind
            && matches!(key.as_str(), "constraint" | "update")
        {
            return self.in_expression(command, within);
        }
        let first = around.is_none_or(|value| {
            command
                .arguments
                .first()
                .is_some_and(|first| first.span == value.span)
        });
        let of_process = |kind: SymbolKind| {
            move |symbol: &Symbol| {
                symbol.kind == kind && (within.process.is_none() || symbol.within == within.process)
            }
        };
        match command.word.as_str() {
            "goto" => self
                .of(|s| {
                    s.kind == SymbolKind::State
                        && (s.within == within.process
                            || s.within == within.body
                            || within.process.is_none())
                })
                .collect(),
            "call" | "behave_as" => self.of(of_process(SymbolKind::Behavior)).collect(),
            "receive" if first => self.labels(Space::Received, within),
            "send" if first => self.labels(Space::Sent, within),
            "receive" | "send" | "tau" => ["constraint: ", "update: ", "note: ", "requirement: "]
                .into_iter()
                .map(|key| Completion {
                    kind: CompletionKind::Word,
                    text: key.to_owned(),
                    detail: String::new(),
                })
                .collect(),
            "external" | "internal" => self.of(|s| s.kind == SymbolKind::Channel).collect(),
            "var" | "stimulus" | "response" | "struct" if !first => self.type_choices(),
            _ => Vec::new(),
        }
    }

    fn in_expression(&self, command: &Command, within: Within) -> Vec<Completion> {
        let label = self.label_of(command, within);
        self.of(|s| match s.kind {
            SymbolKind::Parameter => label.is_some() && s.within == label,
            SymbolKind::Variable => within.process.is_none() || s.within == within.process,
            SymbolKind::Member | SymbolKind::Function => true,
            _ => false,
        })
        .collect()
    }

    fn labels(&self, space: Space, within: Within) -> Vec<Completion> {
        let mut found: Vec<usize> = self
            .scopes
            .known
            .iter()
            .filter(|((s, scope, _), _)| {
                *s == space
                    && scope.is_some()
                    && (*scope == within.process || within.process.is_none())
            })
            .map(|(_, id)| *id)
            .collect();
        found.sort_unstable();
        found.dedup();
        found
            .into_iter()
            .map(|id| completion(&self.symbols[id]))
            .collect()
    }

    fn type_choices(&self) -> Vec<Completion> {
        let built_in = [
            ":integer", ":string", ":boolean", ":decimal", ":date", ":time",
        ];
        let word = |text: &str| Completion {
            kind: CompletionKind::Word,
            text: text.to_owned(),
            detail: String::new(),
        };
        let own = self.of(|s| matches!(s.kind, SymbolKind::Enum | SymbolKind::Struct));
        built_in.into_iter().map(word).chain(own).collect()
    }

    fn of(&self, wanted: impl Fn(&Symbol) -> bool) -> impl Iterator<Item = Completion> {
        let found: Vec<Completion> = self
            .symbols
            .iter()
            .filter(|symbol| wanted(symbol))
            .map(completion)
            .collect();
        found.into_iter()
    }
}

fn completion(symbol: &Symbol) -> Completion {
    Completion {
        kind: CompletionKind::Name(symbol.kind),
        text: symbol.name.clone(),
        detail: symbol.detail.clone(),
    }
}

/// Where an item ends, its blocks included.
fn end_of(item: &Item) -> Option<usize> {
    match item {
        Item::Macro(_) => None,
        Item::Command(command) => {
            let inner = match &command.block {
                Some(Block::Items(items)) => items.iter().filter_map(end_of).max(),
                _ => None,
            };
            Some(inner.unwrap_or(0).max(command.span.end))
        }
    }
}
