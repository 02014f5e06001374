//! The declarations of a model, as symbols.

use rustc_hash::FxHashSet;

use super::{Index, Occurrence, ProcessScope, Space, Symbol, SymbolKind};
use crate::ast::{Block, Command, Item, Span, Text, Value, ValueKind};

/// A symbol that is being declared.
struct Declared<'a> {
    kind: SymbolKind,
    space: Space,
    /// Where the name can be used.
    scope: ProcessScope,
    within: Option<usize>,
    name: &'a str,
    file: usize,
    span: Span,
    extent: Span,
}

impl Index {
    pub(super) fn collect(&mut self, items: &[Item]) {
        let internal = internal_channels(items);
        for item in items {
            match item {
                Item::Macro(definition) => {
                    let id = self.declare(&Declared {
                        kind: SymbolKind::Macro,
                        space: Space::Macro,
                        scope: None,
                        within: None,
                        name: &definition.name,
                        file: definition.file,
                        span: definition.name_span.clone(),
                        extent: definition.name_span.clone(),
                    });
                    self.states(&definition.body, Some(id));
                }
                Item::Command(command) => self.top(command, &internal),
            }
        }
    }

    fn top(&mut self, command: &Command, internal: &FxHashSet<String>) {
        match command.word.as_str() {
            "enum" => {
                let Some(id) = self.first(command, SymbolKind::Enum, Space::Type, None) else {
                    return;
                };
                for value in command.arguments.iter().skip(1) {
                    for (text, span) in texts(value) {
                        self.declare(&Declared {
                            kind: SymbolKind::Member,
                            space: Space::Member,
                            scope: None,
                            within: Some(id),
                            name: &text.value,
                            file: command.file,
                            span: span.clone(),
                            extent: span,
                        });
                    }
                }
            }
            "struct" => {
                self.first(command, SymbolKind::Struct, Space::Type, None);
            }
            "function" => {
                self.first(command, SymbolKind::Function, Space::Function, None);
            }
            "process" => self.process(command, internal),
            _ => {}
        }
    }

    fn process(&mut self, command: &Command, internal: &FxHashSet<String>) {
        let Some(id) = self.first(command, SymbolKind::Process, Space::Process, None) else {
            return;
        };
        let Some(Block::Items(items)) = &command.block else {
            return;
        };
        for item in items {
            let Item::Command(inner) = item else { continue };
            match inner.word.as_str() {
                "channel" => self.channel(inner, id, internal),
                "var" => {
                    self.first(inner, SymbolKind::Variable, Space::Variable, Some(id));
                }
                "behavior" => {
                    let found = self.first(inner, SymbolKind::Behavior, Space::Behavior, Some(id));
                    if let (Some(behavior), Some(Block::Items(body))) = (found, &inner.block) {
                        self.states(body, Some(behavior));
                    }
                }
                _ => {}
            }
        }
        self.states(items, Some(id));
    }

    fn channel(&mut self, command: &Command, process: usize, internal: &FxHashSet<String>) {
        let Some(id) = self.first(command, SymbolKind::Channel, Space::Channel, None) else {
            return;
        };
        let is_internal = internal.contains(&self.symbols[id].name);
        let Some(Block::Items(items)) = &command.block else {
            return;
        };
        for item in items {
            let Item::Command(label) = item else { continue };
            let (received, several) = match label.word.as_str() {
                "stimulus" => (true, false),
                "stimuli" => (true, true),
                "response" => (false, false),
                "responses" => (false, true),
                _ => continue,
            };
            let kind = match (is_internal, received) {
                (true, _) => SymbolKind::Internal,
                (false, true) => SymbolKind::Stimulus,
                (false, false) => SymbolKind::Response,
            };
            let names = if several { usize::MAX } else { 1 };
            for value in label.arguments.iter().take(names) {
                let ValueKind::Str(text) = &value.kind else {
                    continue;
                };
                let declared = Declared {
                    kind,
                    space: if received {
                        Space::Received
                    } else {
                        Space::Sent
                    },
                    // Channels may share the names of labels.
                    scope: Some(id),
                    within: Some(id),
                    name: &text.value,
                    file: label.file,
                    span: inside(text),
                    extent: label.span.clone(),
                };
                let symbol = self.declare_label(&declared, is_internal);
                // A process sees only what its own channels declare.
                let channel = &self.symbols[id].name;
                for name in [text.value.clone(), format!("{channel}.{}", text.value)] {
                    let key = (declared.space, Some(process), name);
                    self.scopes.known.insert(key, symbol);
                }
                if !several {
                    self.parameters(label, symbol);
                }
            }
        }
    }

    /// The two ends of an internal label are one symbol.
    fn declare_label(&mut self, declared: &Declared<'_>, internal: bool) -> usize {
        let other = match declared.space {
            Space::Received => Space::Sent,
            _ => Space::Received,
        };
        if internal
            && let Some(id) = self.scopes.get(other, declared.scope, declared.name)
            && self.symbols[id].kind == SymbolKind::Internal
        {
            let key = (declared.space, declared.scope, declared.name.to_owned());
            self.scopes.known.insert(key, id);
        }
        self.declare(declared)
    }

    fn parameters(&mut self, command: &Command, label: usize) {
        for value in command.arguments.iter().skip(1) {
            let pairs: Vec<&Value> = match &value.kind {
                ValueKind::Hash(pairs) => pairs.iter().collect(),
                ValueKind::Pair(..) => vec![value],
                _ => continue,
            };
            for pair in pairs {
                let ValueKind::Pair(key, _) = &pair.kind else {
                    continue;
                };
                let ValueKind::Str(text) = &key.kind else {
                    continue;
                };
                self.declare(&Declared {
                    kind: SymbolKind::Parameter,
                    space: Space::Parameter,
                    scope: Some(label),
                    within: Some(label),
                    name: &text.value,
                    file: command.file,
                    span: inside(text),
                    extent: pair.span.clone(),
                });
            }
        }
    }

    /// The states among statements, also inside options.
    fn states(&mut self, items: &[Item], scope: ProcessScope) {
        for item in items {
            let Item::Command(command) = item else {
                continue;
            };
            match command.word.as_str() {
                "state" => {
                    self.first(command, SymbolKind::State, Space::State, scope);
                }
                "choice" | "repeat" | "o" => {
                    if let Some(Block::Items(inner)) = &command.block {
                        self.states(inner, scope);
                    }
                }
                _ => {}
            }
        }
    }

    /// Declares the name that is the first argument.
    fn first(
        &mut self,
        command: &Command,
        kind: SymbolKind,
        space: Space,
        scope: ProcessScope,
    ) -> Option<usize> {
        let value = command.arguments.first()?;
        let ValueKind::Str(text) = &value.kind else {
            return None;
        };
        Some(self.declare(&Declared {
            kind,
            space,
            scope,
            within: scope,
            name: &text.value,
            file: command.file,
            span: inside(text),
            extent: command.span.clone(),
        }))
    }

    fn declare(&mut self, declared: &Declared<'_>) -> usize {
        let key = (declared.space, declared.scope, declared.name.to_owned());
        let place = Occurrence {
            file: declared.file,
            span: declared.span.clone(),
        };
        if let Some(id) = self.scopes.known.get(&key).copied() {
            let symbol = &mut self.symbols[id];
            // A file that is included twice declares nothing new the second time.
            if !symbol.definitions.contains(&place) {
                symbol.definitions.push(place);
            }
            return id;
        }
        let text = &self.files[declared.file].text;
        let written = text.get(declared.extent.clone()).unwrap_or("");
        let id = self.symbols.len();
        self.symbols.push(Symbol {
            kind: declared.kind,
            name: declared.name.to_owned(),
            detail: written.split_whitespace().collect::<Vec<_>>().join(" "),
            within: declared.within,
            extent: Occurrence {
                file: declared.file,
                span: declared.extent.clone(),
            },
            definitions: vec![place],
            uses: Vec::new(),
        });
        self.scopes.known.insert(key, id);
        id
    }
}

/// The place of a string's text, without its quotes.
pub(super) fn inside(text: &Text) -> Span {
    text.source_span(0..text.value.len())
}

/// The strings of a value, also inside an array.
fn texts(value: &Value) -> Vec<(&Text, Span)> {
    match &value.kind {
        ValueKind::Str(text) => vec![(text, inside(text))],
        ValueKind::Array(values) => values.iter().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

/// What kind a channel is may be said anywhere, so it is found first.
fn internal_channels(items: &[Item]) -> FxHashSet<String> {
    let mut found = FxHashSet::default();
    for item in items {
        let Item::Command(command) = item else {
            continue;
        };
        if command.word == "internal" {
            let names = command.arguments.iter().flat_map(texts);
            found.extend(names.map(|(text, _)| text.value.clone()));
        } else if command.word == "process"
            && let Some(Block::Items(inner)) = &command.block
        {
            found.extend(internal_channels(inner));
        }
    }
    found
}
