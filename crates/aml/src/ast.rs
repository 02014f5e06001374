//! The tree as plain data: commands with values and blocks, every part with its place in the text.

use std::ops::Range;

use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::escape;
use crate::syntax::{SyntaxElement, SyntaxKind, SyntaxNode, SyntaxToken};

pub type Span = Range<usize>;

/// A file and a span in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    pub file: usize,
    pub span: Span,
}

/// The text of a string, and where each of its characters stands in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    pub value: String,
    /// The file offset of the first character.
    start: usize,
    /// From this offset of `value` on, characters stand this much farther into the file, or less far:
    /// one entry per escape and per value that was put in.
    shifts: Vec<(usize, isize)>,
    /// Where `#{name}` stands in `value`.
    pub holes: Vec<Span>,
}

impl Text {
    pub fn plain(value: &str, start: usize) -> Text {
        Text {
            value: value.to_owned(),
            start,
            shifts: Vec::new(),
            holes: Vec::new(),
        }
    }

    /// A text that is not in the file; all of it stands for the place where it is used.
    pub fn standing_at(value: &str, place: usize) -> Text {
        Text {
            shifts: all_at(0, 0, value.len()).collect(),
            ..Text::plain(value, place)
        }
    }

    fn source_offset(&self, offset: usize) -> usize {
        let shift = self.shifts.iter().rev().find(|(from, _)| *from <= offset);
        (self.start + offset).saturating_add_signed(shift.map_or(0, |(_, shift)| *shift))
    }

    /// The place in the file of a span of the text.
    pub fn source_span(&self, span: Span) -> Span {
        self.source_offset(span.start)..self.source_offset(span.end)
    }

    /// The text of a quoted string, and the places in the file of escapes that mean nothing.
    fn from_quoted(quoted: &str, start: usize, closed: bool) -> (Text, Vec<Span>) {
        let opening = if quoted.starts_with('%') { 2 } else { 1 };
        let closing = usize::from(closed);
        let inner = &quoted[opening..quoted.len() - closing];
        let mut text = Text {
            value: String::with_capacity(inner.len()),
            start: start + opening,
            shifts: Vec::new(),
            holes: Vec::new(),
        };
        let single = quoted.starts_with('\'');
        let (mut unknown, mut literal) = (Vec::new(), Vec::new());
        let mut characters = inner.chars();
        let mut shift = 0;
        while let Some(character) = characters.next() {
            if character != '\\' {
                text.value.push(character);
                continue;
            }
            let before = characters.as_str();
            if before.is_empty() {
                text.value.push('\\');
                break;
            }
            let meant = if single {
                // Single quotes keep every backslash but the one before a quote or a backslash.
                let next = characters.next().unwrap_or_default();
                if !matches!(next, '\'' | '\\') {
                    text.value.push('\\');
                }
                Some(next)
            } else {
                escape::read(&mut characters)
            };
            let at = start + opening + inner.len() - before.len() - 1;
            let read = 1 + before.len() - characters.as_str().len();
            if meant.is_none() {
                unknown.push(at..at + read);
            }
            if !single && meant == Some('#') {
                literal.push(text.value.len());
            }
            text.value.push(meant.unwrap_or('_'));
            let here = start + opening + text.value.len();
            let moved = (at + read) as isize - here as isize;
            if moved != shift {
                shift = moved;
                text.shifts.push((text.value.len(), shift));
            }
        }
        if !single {
            text.find_holes(&literal);
        }
        (text, unknown)
    }

    /// `literal`: where a `#` stands that was escaped.
    fn find_holes(&mut self, literal: &[usize]) {
        let mut from = 0;
        while let Some(at) = self.value[from..].find("#{") {
            let start = from + at;
            if literal.contains(&start) {
                from = start + 1;
                continue;
            }
            let end = self.value[start..].find('}');
            let end = end.map_or(self.value.len(), |end| start + end + 1);
            self.holes.push(start..end);
            from = end;
        }
    }

    /// The text with what `fill` gives for each `#{name}`; the error is the place of a name that it does
    /// not know.
    pub fn filled(&self, fill: impl Fn(&str) -> Option<String>) -> Result<Text, Span> {
        let mut text = Text::plain("", self.start);
        let mut from = 0;
        let escapes = |text: &mut Text, from: usize, to: usize| {
            let moved = text.value.len() as isize - from as isize;
            let before = self.shifts.iter().rev().find(|(at, _)| *at <= from);
            let first = (from, before.map_or(0, |(_, shift)| *shift));
            let inside = self.shifts.iter().filter(|(at, _)| from < *at && *at <= to);
            for (at, shift) in std::iter::once(&first).chain(inside) {
                let at = at.saturating_add_signed(moved);
                text.shifts.push((at, shift - moved));
            }
            text.value.push_str(&self.value[from..to]);
        };
        for hole in &self.holes {
            escapes(&mut text, from, hole.start);
            let name = self.value[hole.clone()].trim_start_matches("#{");
            let name = name.trim_end_matches('}').trim();
            let value = fill(name).ok_or_else(|| self.source_span(hole.clone()))?;
            let place = (
                text.value.len(),
                self.shift_at(hole.start, text.value.len()),
            );
            text.shifts.push(place);
            text.value.push_str(&value);
            from = hole.end;
        }
        escapes(&mut text, from, self.value.len());
        Ok(text)
    }

    /// How far a character at `new` is from its place in the file, if it stands for the one at `old`.
    fn shift_at(&self, old: usize, new: usize) -> isize {
        self.source_offset(old) as isize - (self.start + new) as isize
    }
}

/// The shifts of `length` characters from `start` on that all stand where the first does.
fn all_at(start: usize, shift: isize, length: usize) -> impl Iterator<Item = (usize, isize)> {
    (0..=length).map(move |more| (start + more, shift - more as isize))
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueKind {
    Str(Text),
    Symbol(String),
    Number(String),
    Name(String),
    Range(Box<Value>, Box<Value>),
    Array(Vec<Value>),
    Hash(Vec<Value>),
    Pair(Box<Value>, Box<Value>),
    Keyword(String, Box<Value>),
    Call(String, Vec<Value>),
    /// A mistake that the parser has reported.
    Missing,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    pub kind: ValueKind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    Items(Vec<Item>),
    Function {
        parameters: Vec<(String, Span)>,
        body: Text,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    pub file: usize,
    /// From the word to the end of its arguments, without the block.
    pub span: Span,
    pub word: String,
    pub word_span: Span,
    pub arguments: Vec<Value>,
    /// Whether the arguments stand in parentheses, as `open_door()` does.
    pub parenthesised: bool,
    pub block: Option<Block>,
    /// The name of a constant, or the parameter of `each`.
    pub parameters: Vec<String>,
    /// The statements of a macro with parameters, with the arguments in their place.
    pub expansion: Option<Vec<Item>>,
}

impl Command {
    pub fn site(&self) -> Site {
        Site {
            file: self.file,
            span: self.span.clone(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Macro {
    pub file: usize,
    pub name: String,
    pub name_span: Span,
    pub parameters: Vec<String>,
    pub body: Vec<Item>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    Command(Command),
    Macro(Macro),
}

/// Reads the items of a file's tree.
pub fn read(tree: &SyntaxNode, file: usize, diagnostics: &mut Vec<Diagnostic>) -> Vec<Item> {
    TreeReader { file, diagnostics }.items(tree)
}

struct TreeReader<'a> {
    file: usize,
    diagnostics: &'a mut Vec<Diagnostic>,
}

fn span_of(range: rowan::TextRange) -> Span {
    range.start().into()..range.end().into()
}

/// The place of a node without the spaces and comments at its ends.
fn node_span(node: &SyntaxNode) -> Span {
    let mut tokens = node
        .descendants_with_tokens()
        .filter_map(SyntaxElement::into_token)
        .filter(|t| !t.kind().is_trivia() && t.kind() != SyntaxKind::Newline)
        .map(|t| span_of(t.text_range()));
    let first = tokens.next();
    let last = tokens.last().or(first.clone());
    match (first, last) {
        (Some(first), Some(last)) => first.start..last.end,
        _ => span_of(node.text_range()),
    }
}

fn first_token(node: &SyntaxNode, kind: SyntaxKind) -> Option<SyntaxToken> {
    node.children_with_tokens()
        .filter_map(SyntaxElement::into_token)
        .find(|t| t.kind() == kind)
}

/// The parameters of a block, `|x, y|`.
fn parameters(block: &SyntaxNode) -> impl Iterator<Item = (String, Span)> {
    block
        .children()
        .filter(|n| n.kind() == SyntaxKind::BlockParameters)
        .flat_map(|n| n.children_with_tokens().collect::<Vec<_>>())
        .filter_map(SyntaxElement::into_token)
        .filter(|t| t.kind() == SyntaxKind::Ident)
        .map(|t| (t.text().to_owned(), span_of(t.text_range())))
}

impl TreeReader<'_> {
    fn items(&mut self, node: &SyntaxNode) -> Vec<Item> {
        let mut items = Vec::new();
        for child in node.children() {
            match child.kind() {
                SyntaxKind::Command => items.extend(self.command(&child).map(Item::Command)),
                SyntaxKind::Macro => items.extend(self.definition(&child).map(Item::Macro)),
                _ => {}
            }
        }
        items
    }

    fn command(&mut self, node: &SyntaxNode) -> Option<Command> {
        let word = first_token(node, SyntaxKind::Ident)?;
        let word_span = span_of(word.text_range());
        let mut command = Command {
            file: self.file,
            span: word_span.clone(),
            word: word.text().to_owned(),
            word_span,
            arguments: Vec::new(),
            parenthesised: false,
            block: None,
            parameters: Vec::new(),
            expansion: None,
        };
        let sign = first_token(node, SyntaxKind::Other);
        if sign.is_some_and(|sign| sign.text() == "=") {
            command.parameters.push(command.word);
            command.word = "=".to_owned();
        }
        for child in node.children() {
            match child.kind() {
                SyntaxKind::Block => {
                    command.block = Some(self.block(&child));
                    if command.word == "each" {
                        command.parameters = parameters(&child).map(|(name, _)| name).collect();
                    }
                }
                SyntaxKind::Arguments => {
                    command.parenthesised = true;
                    command.span.end = node_span(&child).end;
                    command.arguments.extend(self.values(&child));
                }
                SyntaxKind::Error => {}
                _ => {
                    let value = self.value(&child);
                    // What `each` goes over stands before the word.
                    command.span.start = command.span.start.min(value.span.start);
                    command.span.end = command.span.end.max(value.span.end);
                    command.arguments.push(value);
                }
            }
        }
        Some(command)
    }

    fn definition(&mut self, node: &SyntaxNode) -> Option<Macro> {
        let name = first_token(node, SyntaxKind::Ident)?;
        let name_span = span_of(name.text_range());
        let arguments = node.children().find(|n| n.kind() == SyntaxKind::Arguments);
        let mut parameters = Vec::new();
        for value in arguments.map_or_else(Vec::new, |arguments| self.values(&arguments)) {
            match value.kind {
                ValueKind::Name(name) => parameters.push(name),
                _ => self.diagnostics.push(
                    Diagnostic::new(
                        codes::NOT_SUPPORTED,
                        self.file,
                        value.span,
                        "not supported: a parameter of a macro that is not a name",
                    )
                    .hint("def answer(label, text)"),
                ),
            }
        }
        Some(Macro {
            file: self.file,
            name: name.text().to_owned(),
            name_span,
            parameters,
            body: self.items(node),
        })
    }

    fn block(&mut self, node: &SyntaxNode) -> Block {
        let Some(body) = node.children().find(|n| n.kind() == SyntaxKind::Body) else {
            return Block::Items(self.items(node));
        };
        let parameters = parameters(node).collect();
        let start = span_of(body.text_range()).start;
        Block::Function {
            parameters,
            body: Text::plain(&body.text().to_string(), start),
        }
    }

    fn values(&mut self, node: &SyntaxNode) -> Vec<Value> {
        node.children()
            .filter(|child| child.kind() != SyntaxKind::Error)
            .map(|child| self.value(&child))
            .collect()
    }

    fn value(&mut self, node: &SyntaxNode) -> Value {
        let kind = match node.kind() {
            SyntaxKind::Literal => return self.literal(node),
            SyntaxKind::IntegerRange => {
                let (low, high) = self.two(node);
                ValueKind::Range(low, high)
            }
            SyntaxKind::Pair => {
                let (key, value) = self.two(node);
                ValueKind::Pair(key, value)
            }
            SyntaxKind::Array => ValueKind::Array(self.values(node)),
            SyntaxKind::Hash => ValueKind::Hash(self.values(node)),
            SyntaxKind::Keyword => {
                let name = first_token(node, SyntaxKind::Ident);
                let value = self.nth_value(node, 0);
                ValueKind::Keyword(
                    name.map_or_else(String::new, |t| t.text().to_owned()),
                    Box::new(value),
                )
            }
            SyntaxKind::Call => {
                let name = first_token(node, SyntaxKind::Ident);
                let arguments = node
                    .children()
                    .find(|n| n.kind() == SyntaxKind::Arguments)
                    .map_or_else(Vec::new, |n| self.values(&n));
                ValueKind::Call(
                    name.map_or_else(String::new, |t| t.text().to_owned()),
                    arguments,
                )
            }
            _ => ValueKind::Missing,
        };
        Value {
            kind,
            span: node_span(node),
        }
    }

    fn two(&mut self, node: &SyntaxNode) -> (Box<Value>, Box<Value>) {
        (
            Box::new(self.nth_value(node, 0)),
            Box::new(self.nth_value(node, 1)),
        )
    }

    fn nth_value(&mut self, node: &SyntaxNode, position: usize) -> Value {
        match node.children().nth(position) {
            Some(child) => self.value(&child),
            None => Value {
                kind: ValueKind::Missing,
                span: node_span(node),
            },
        }
    }

    fn literal(&mut self, node: &SyntaxNode) -> Value {
        let mut minus = None;
        for token in node
            .children_with_tokens()
            .filter_map(SyntaxElement::into_token)
        {
            let span = span_of(token.text_range());
            let text = token.text();
            let kind = match token.kind() {
                SyntaxKind::Minus => {
                    minus = Some(span);
                    continue;
                }
                SyntaxKind::String | SyntaxKind::UnclosedString => {
                    self.string(text, span.start, token.kind() == SyntaxKind::String)
                }
                SyntaxKind::Symbol => ValueKind::Symbol(text[1..].to_owned()),
                SyntaxKind::Number => {
                    let digits = text.replace('_', "");
                    let sign = if minus.is_some() { "-" } else { "" };
                    ValueKind::Number(format!("{sign}{digits}"))
                }
                SyntaxKind::Ident => ValueKind::Name(text.to_owned()),
                _ => continue,
            };
            let start = minus.map_or(span.start, |m| m.start);
            return Value {
                kind,
                span: start..span.end,
            };
        }
        Value {
            kind: ValueKind::Missing,
            span: node_span(node),
        }
    }

    fn string(&mut self, quoted: &str, start: usize, closed: bool) -> ValueKind {
        let (text, unknown) = Text::from_quoted(quoted, start, closed);
        for place in unknown {
            let after = quoted[place.start - start + 1..].chars().next();
            let (message, hint) = escape::unknown(after, "single quotes keep it as it is");
            self.diagnostics
                .push(Diagnostic::new(codes::SYNTAX, self.file, place, message).hint(hint));
        }
        ValueKind::Str(text)
    }
}
