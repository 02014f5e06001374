//! Where declared names are used: in statements, types, and inside constraint and update strings.

use ioco_budget::Budget;

use super::collect::inside;
use super::{Index, Occurrence, ProcessScope, Space};
use crate::ast::{Block, Command, Item, Text, Value, ValueKind};
use crate::expr::parse::{self, Node, NodeKind};

/// What the names of a statement can mean.
#[derive(Clone, Copy, Default)]
pub(super) struct Within {
    pub process: ProcessScope,
    /// The behavior or macro around the statement.
    pub body: ProcessScope,
}

impl Index {
    pub(super) fn find_uses(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Macro(definition) => {
                    let body = self.scopes.get(Space::Macro, None, &definition.name);
                    let within = Within {
                        process: None,
                        body,
                    };
                    self.statements(&definition.body, within);
                }
                Item::Command(command) => self.top_uses(command),
            }
        }
    }

    fn top_uses(&mut self, command: &Command) {
        match command.word.as_str() {
            "external" | "internal" => self.channel_names(command),
            "struct" => self.types(command, 1),
            "function" => {
                self.types(command, 1);
                if let Some(Block::Function { parameters, body }) = &command.block {
                    let locals: Vec<&str> = parameters.iter().map(|(n, _)| n.as_str()).collect();
                    let (node, _) = parse::expression(&body.value, &Budget::default());
                    self.names(&node, body, command.file, None, Within::default(), &locals);
                }
            }
            "process" => {
                let name = command.arguments.first().and_then(text);
                let process = name.and_then(|t| self.scopes.get(Space::Process, None, &t.value));
                let Some(Block::Items(items)) = &command.block else {
                    return;
                };
                let within = Within {
                    process,
                    body: None,
                };
                self.statements(items, within);
            }
            _ => {}
        }
    }

    fn channel_names(&mut self, command: &Command) {
        for value in &command.arguments {
            if let Some(name) = text(value) {
                let id = self.scopes.get(Space::Channel, None, &name.value);
                self.used(id, command.file, name);
            }
        }
    }

    fn statements(&mut self, items: &[Item], within: Within) {
        for item in items {
            let Item::Command(command) = item else {
                continue;
            };
            self.statement(command, within);
        }
    }

    fn statement(&mut self, command: &Command, within: Within) {
        let name = command.arguments.first().and_then(text);
        match command.word.as_str() {
            "external" | "internal" => self.channel_names(command),
            "channel" => {
                if let Some(Block::Items(labels)) = &command.block {
                    for label in labels {
                        if let Item::Command(label) = label {
                            self.types(label, 1);
                        }
                    }
                }
            }
            "var" => self.types(command, 1),
            "behavior" => {
                let found = name.and_then(|name| {
                    self.scopes
                        .get(Space::Behavior, within.process, &name.value)
                });
                if let Some(Block::Items(items)) = &command.block {
                    let body = found.or(within.body);
                    self.statements(items, Within { body, ..within });
                }
            }
            "goto" => {
                if let Some(name) = name {
                    let id = self.state(&name.value, within);
                    self.used(id, command.file, name);
                }
            }
            "call" | "behave_as" => {
                if let Some(name) = name {
                    let id = self.in_process(Space::Behavior, within, &name.value);
                    self.used(id, command.file, name);
                }
            }
            "receive" | "send" | "tau" => self.step(command, within),
            "choice" | "repeat" | "o" | "each" => {
                if let Some(Block::Items(items)) = &command.block {
                    self.statements(items, within);
                }
            }
            word => {
                if let Some(id) = self.scopes.get(Space::Macro, None, word) {
                    self.use_at(id, command.file, command.word_span.clone());
                }
            }
        }
    }

    fn step(&mut self, command: &Command, within: Within) {
        let label = self.label_of(command, within);
        if let (Some(id), Some(name)) = (label, command.arguments.first().and_then(text)) {
            // Without its channel, which may stand before it.
            let span = inside(name);
            let start = span.end.saturating_sub(self.symbols[id].name.len());
            self.use_at(id, command.file, start.max(span.start)..span.end);
        }
        for argument in &command.arguments {
            let ValueKind::Keyword(key, value) = &argument.kind else {
                continue;
            };
            let Some(text) = text(value) else { continue };
            match key.as_str() {
                "constraint" => {
                    let (node, _) = parse::expression(&text.value, &Budget::default());
                    self.names(&node, text, command.file, label, within, &[]);
                }
                "update" => {
                    let (updates, _) = parse::updates(&text.value, &Budget::default());
                    for update in &updates {
                        self.names(&update.target, text, command.file, label, within, &[]);
                        self.names(&update.value, text, command.file, label, within, &[]);
                    }
                }
                "note" => self.noted(text, command.file, within),
                _ => {}
            }
        }
    }

    /// The label that a `receive` or `send` speaks of.
    pub(super) fn label_of(&self, command: &Command, within: Within) -> Option<usize> {
        let space = match command.word.as_str() {
            "receive" => Space::Received,
            "send" => Space::Sent,
            _ => return None,
        };
        let name = command.arguments.first().and_then(text)?;
        self.in_process(space, within, &name.value)
    }

    /// `$name` in a note.
    fn noted(&mut self, text: &Text, file: usize, within: Within) {
        for (at, _) in text.value.match_indices('$') {
            let rest = &text.value[at + 1..];
            let end = rest
                .find(|c: char| !(c == '_' || c.is_alphanumeric()))
                .unwrap_or(rest.len());
            if let Some(id) = self.in_process(Space::Variable, within, &rest[..end]) {
                self.use_at(id, file, text.source_span(at + 1..at + 1 + end));
            }
        }
    }

    /// The names of an expression. A name at the head of its text means, in this order: a local, a
    /// parameter, a variable, an enum value.
    fn names(
        &mut self,
        node: &Node,
        text: &Text,
        file: usize,
        label: Option<usize>,
        within: Within,
        locals: &[&str],
    ) {
        let visit = |index: &mut Index, node: &Node| {
            index.names(node, text, file, label, within, locals);
        };
        match &node.kind {
            NodeKind::Name(name) => {
                if locals.contains(&name.as_str()) {
                    return;
                }
                if let Some(id) = self.named(name, label, within) {
                    self.use_at(id, file, text.source_span(node.span.clone()));
                }
            }
            NodeKind::Field(of, name, span) => {
                if let NodeKind::Name(qualifier) = &of.kind
                    && self.named(qualifier, label, within).is_none()
                    && self.qualified(qualifier, name, file, text, &of.span, span)
                {
                    return;
                }
                visit(self, of);
            }
            NodeKind::Call(name, span, arguments) => {
                if let Some(id) = self.scopes.get(Space::Function, None, name) {
                    self.use_at(id, file, text.source_span(span.clone()));
                }
                for argument in arguments {
                    visit(self, argument);
                }
            }
            NodeKind::Unary(_, of) | NodeKind::Matches(of, _, _) => visit(self, of),
            NodeKind::Binary(_, parts) | NodeKind::In(parts) | NodeKind::Joined(_, parts) => {
                parts.iter().for_each(|part| visit(self, part));
            }
            NodeKind::If(parts) | NodeKind::InRange(parts) => {
                parts.iter().for_each(|part| visit(self, part));
            }
            NodeKind::Array(parts) | NodeKind::Set(parts) => {
                parts.iter().for_each(|part| visit(self, part));
            }
            NodeKind::Hash(pairs) => {
                pairs.iter().flatten().for_each(|part| visit(self, part));
            }
            NodeKind::Prefix(parts) | NodeKind::Range(parts) => {
                parts.iter().for_each(|part| visit(self, part));
            }
            NodeKind::Slice(parts) => parts.iter().for_each(|part| visit(self, part)),
            NodeKind::Record(name, span, fields) => {
                if let Some(id) = self.scopes.get(Space::Type, None, name) {
                    self.use_at(id, file, text.source_span(span.clone()));
                }
                fields.iter().for_each(|(_, _, part)| visit(self, part));
            }
            NodeKind::Changed(record, _, fields) => {
                visit(self, record);
                fields.iter().for_each(|(_, _, part)| visit(self, part));
            }
            NodeKind::Method(call) => {
                visit(self, &call.receiver);
                call.arguments.iter().for_each(|part| visit(self, part));
                if let Some(block) = &call.block {
                    let own = block.parameters.iter().map(String::as_str);
                    let locals: Vec<&str> = locals.iter().copied().chain(own).collect();
                    self.names(&block.body, text, file, label, within, &locals);
                }
            }
            NodeKind::Void
            | NodeKind::Bool(_)
            | NodeKind::Integer(_)
            | NodeKind::Decimal(_)
            | NodeKind::Str(_)
            | NodeKind::Wrong => {}
        }
    }

    fn named(&self, name: &str, label: Option<usize>, within: Within) -> Option<usize> {
        label
            .and_then(|label| self.scopes.get(Space::Parameter, Some(label), name))
            .or_else(|| self.in_process(Space::Variable, within, name))
            .or_else(|| self.scopes.get(Space::Member, None, name))
    }

    /// `Product.Coffee` or `main.tries`; false if it is neither.
    fn qualified(
        &mut self,
        qualifier: &str,
        name: &str,
        file: usize,
        text: &Text,
        of: &std::ops::Range<usize>,
        span: &std::ops::Range<usize>,
    ) -> bool {
        let (owner, member) = if let Some(id) = self.scopes.get(Space::Type, None, qualifier) {
            let members = self.symbols.iter();
            let member = members
                .enumerate()
                .find(|(_, s)| s.within == Some(id) && s.name == name)
                .map(|(position, _)| position);
            (id, member)
        } else if let Some(id) = self.scopes.get(Space::Process, None, qualifier) {
            (id, self.scopes.get(Space::Variable, Some(id), name))
        } else {
            return false;
        };
        self.use_at(owner, file, text.source_span(of.clone()));
        if let Some(member) = member {
            self.use_at(member, file, text.source_span(span.clone()));
        }
        true
    }

    /// Names of types, as strings, in the arguments from `from` on.
    fn types(&mut self, command: &Command, from: usize) {
        for value in command.arguments.iter().skip(from) {
            self.type_names(value, command.file);
        }
    }

    fn type_names(&mut self, value: &Value, file: usize) {
        match &value.kind {
            ValueKind::Str(name) => {
                let id = self.scopes.get(Space::Type, None, &name.value);
                self.used(id, file, name);
            }
            ValueKind::Array(values) | ValueKind::Hash(values) | ValueKind::Call(_, values) => {
                values.iter().for_each(|v| self.type_names(v, file));
            }
            // A key names a parameter or a field; of a function it is the list of its types.
            ValueKind::Pair(key, value) => {
                if matches!(key.kind, ValueKind::Array(_)) {
                    self.type_names(key, file);
                }
                self.type_names(value, file);
            }
            _ => {}
        }
    }

    /// The state that a `goto` means: of the behavior or macro around it, of its process, or of a
    /// behavior that the process behaves as.
    fn state(&self, name: &str, within: Within) -> Option<usize> {
        if let Some(id) = within
            .body
            .and_then(|body| self.scopes.get(Space::State, Some(body), name))
        {
            return Some(id);
        }
        self.in_process(Space::State, within, name).or_else(|| {
            let of_process = |symbol: &super::Symbol| {
                let owner = symbol.within.map(|owner| &self.symbols[owner]);
                owner.is_some_and(|owner| owner.within == within.process)
            };
            self.symbols.iter().position(|symbol| {
                symbol.kind == super::SymbolKind::State && symbol.name == name && of_process(symbol)
            })
        })
    }

    /// A name of the process around a statement; of any process, for a statement of a macro.
    fn in_process(&self, space: Space, within: Within, name: &str) -> Option<usize> {
        if within.process.is_some() {
            return self.scopes.get(space, within.process, name);
        }
        let processes = (0..self.symbols.len())
            .filter(|id| self.symbols[*id].kind == super::SymbolKind::Process);
        processes
            .into_iter()
            .find_map(|process| self.scopes.get(space, Some(process), name))
    }

    fn used(&mut self, id: Option<usize>, file: usize, name: &Text) {
        if let Some(id) = id {
            self.use_at(id, file, inside(name));
        }
    }

    fn use_at(&mut self, id: usize, file: usize, span: std::ops::Range<usize>) {
        let place = Occurrence { file, span };
        let symbol = &mut self.symbols[id];
        if !symbol.uses.contains(&place) && !symbol.definitions.contains(&place) {
            symbol.uses.push(place);
        }
    }
}

pub(super) fn text(value: &Value) -> Option<&Text> {
    match &value.kind {
        ValueKind::Str(text) => Some(text),
        _ => None,
    }
}
