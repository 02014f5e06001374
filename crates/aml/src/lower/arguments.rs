//! Takes the arguments of a command apart, and says what is wrong with them.

use crate::ast::{Command, Span, Text, Value, ValueKind};
use crate::codes;
use crate::lower::Lowering;
use crate::suggest::did_you_mean;

impl Lowering<'_> {
    /// The first argument as a string: the name of what is declared or used.
    pub(super) fn name_argument<'c>(
        &mut self,
        command: &'c Command,
        what: &str,
    ) -> Option<(&'c Text, &'c Span)> {
        match command.arguments.first() {
            Some(Value {
                kind: ValueKind::Str(text),
                span,
            }) => {
                if text.value.is_empty() {
                    let message = format!("expected {what}; this is empty");
                    self.report(codes::ARGUMENTS, command.file, span, message);
                    return None;
                }
                Some((text, span))
            }
            Some(Value {
                kind: ValueKind::Missing,
                ..
            }) => None,
            Some(other) => {
                let message = format!("expected {what}, in quotes");
                let hint = match &other.kind {
                    ValueKind::Name(name) | ValueKind::Symbol(name) => {
                        Some(format!("{} '{name}'", command.word))
                    }
                    _ => None,
                };
                let span = other.span.clone();
                self.report(codes::ARGUMENTS, command.file, &span, message)
                    .hint = hint;
                None
            }
            None => {
                let span = &command.word_span;
                let message = format!("`{}` needs {what}", command.word);
                self.report(codes::ARGUMENTS, command.file, span, message);
                None
            }
        }
    }

    /// Reports every argument from position `from` on that is not a keyword of `known`.
    pub(super) fn no_more_arguments(&mut self, command: &Command, from: usize, known: &[&str]) {
        let mut seen: Vec<&str> = Vec::new();
        for value in command.arguments.iter().skip(from) {
            match &value.kind {
                ValueKind::Missing => {}
                ValueKind::Keyword(name, _) if known.contains(&name.as_str()) => {
                    if seen.contains(&name.as_str()) {
                        let message = format!("`{name}:` is given twice");
                        self.report(codes::ARGUMENTS, command.file, &value.span, message);
                    }
                    seen.push(name);
                }
                ValueKind::Keyword(name, _) => {
                    let message = format!("`{}` has no `{name}:`", command.word);
                    let hint = did_you_mean(name, known.iter().copied()).or_else(|| {
                        let list: Vec<String> = known.iter().map(|k| format!("`{k}:`")).collect();
                        (!list.is_empty()).then(|| format!("it takes {}", list.join(", ")))
                    });
                    self.report(codes::ARGUMENTS, command.file, &value.span, message)
                        .hint = hint;
                }
                _ => {
                    let message = format!("`{}` takes no such argument", command.word);
                    self.report(codes::ARGUMENTS, command.file, &value.span, message);
                    return;
                }
            }
        }
    }

    /// The value of a keyword that must be a string.
    pub(super) fn text_keyword<'c>(
        &mut self,
        command: &'c Command,
        keyword: &str,
    ) -> Option<&'c Text> {
        let value = keyword_value(command, keyword)?;
        match &value.kind {
            ValueKind::Str(text) => Some(text),
            ValueKind::Missing => None,
            _ => {
                let message = format!("`{keyword}:` needs a string");
                self.report(codes::ARGUMENTS, command.file, &value.span, message)
                    .hint = Some(format!("{keyword}: '...'"));
                None
            }
        }
    }

    /// A time in seconds, as nanoseconds.
    pub(super) fn seconds(&mut self, file: usize, value: &Value) -> Option<u64> {
        let ValueKind::Number(digits) = &value.kind else {
            if value.kind != ValueKind::Missing {
                let message = "a time-out is a number of seconds";
                self.report(codes::ARGUMENTS, file, &value.span, message);
            }
            return None;
        };
        let nanoseconds = digits
            .parse::<rust_decimal::Decimal>()
            .ok()
            .and_then(|seconds| seconds.checked_mul(rust_decimal::Decimal::from(1_000_000_000)))
            .filter(|n| !n.is_sign_negative())
            // Up: silence is never concluded before the time that the model says.
            .and_then(|n| u64::try_from(n.ceil()).ok());
        if nanoseconds.is_none_or(|n| n == 0) {
            let message = "a time-out is more than zero seconds and less than 500 years";
            self.report(codes::ARGUMENTS, file, &value.span, message);
            return None;
        }
        nanoseconds
    }
}

pub(super) fn keyword_value<'c>(command: &'c Command, keyword: &str) -> Option<&'c Value> {
    command
        .arguments
        .iter()
        .find_map(|value| match &value.kind {
            ValueKind::Keyword(name, inner) if name == keyword => Some(&**inner),
            _ => None,
        })
}
