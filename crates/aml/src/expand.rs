//! Ruby that is carried out when a model is read: constants, `each`, macros with parameters, and `#{name}`
//! in strings.
//!
//! What comes out are plain statements: everything after this sees neither loops nor constants.

use rustc_hash::FxHashMap;

use crate::ast::{Block, Command, Item, Macro, Text, Value, ValueKind};
use crate::codes;
use crate::diagnostic::Diagnostic;

/// Statements that loops and macros may become.
const MAX_ITEMS: usize = 200_000;

type Bindings = FxHashMap<String, Value>;

/// The constants of a model, for the expressions, which are read later.
pub type Constants = Vec<(String, Value)>;

/// The items with loops, constants and arguments of macros put in place, and the constants.
pub fn expand(items: Vec<Item>, diagnostics: &mut Vec<Diagnostic>) -> (Vec<Item>, Constants) {
    let mut expander = Expander {
        macros: FxHashMap::default(),
        active: Vec::new(),
        made: 0,
        diagnostics,
    };
    for item in &items {
        if let Item::Macro(definition) = item {
            let macros = &mut expander.macros;
            let name = definition.name.clone();
            macros.entry(name).or_insert_with(|| definition.clone());
        }
    }
    let mut constants = Bindings::default();
    let items = expander.items(items, &mut constants, true);
    let mut constants: Constants = constants.into_iter().collect();
    constants.sort_by(|(one, _), (other, _)| one.cmp(other));
    (items, constants)
}

struct Expander<'d> {
    macros: FxHashMap<String, Macro>,
    /// The macros that are being put in place.
    active: Vec<String>,
    made: usize,
    diagnostics: &'d mut Vec<Diagnostic>,
}

impl Expander<'_> {
    fn items(&mut self, items: Vec<Item>, bound: &mut Bindings, top: bool) -> Vec<Item> {
        let mut expanded = Vec::with_capacity(items.len());
        for item in items {
            match item {
                // With its arguments at each of its uses; without any, once and for all.
                Item::Macro(mut definition) => {
                    if top {
                        let name = definition.name.clone();
                        self.macros.insert(name, definition.clone());
                    }
                    if definition.parameters.is_empty() {
                        definition.body = self.items(definition.body, &mut bound.clone(), false);
                    }
                    expanded.push(Item::Macro(definition));
                }
                Item::Command(command) => self.command(command, bound, top, &mut expanded),
            }
        }
        expanded
    }

    fn command(
        &mut self,
        mut command: Command,
        bound: &mut Bindings,
        top: bool,
        expanded: &mut Vec<Item>,
    ) {
        self.made += 1;
        if self.made > MAX_ITEMS {
            if self.made == MAX_ITEMS + 1 {
                let message = "with all loops and macros put in place, the model is too large";
                self.error(codes::TOO_LARGE, &command, message);
            }
            return;
        }
        for value in &mut command.arguments {
            self.value(value, command.file, bound);
        }
        match command.word.as_str() {
            "=" => self.constant(&command, bound, top),
            "each" if !command.parameters.is_empty() || !command.arguments.is_empty() => {
                self.each(command, bound, expanded);
            }
            _ => {
                self.with_arguments(&mut command, bound);
                if let Some(Block::Items(inner)) = &mut command.block {
                    *inner = self.items(std::mem::take(inner), &mut bound.clone(), false);
                }
                expanded.push(Item::Command(command));
            }
        }
    }

    fn error(&mut self, code: codes::Code, command: &Command, message: &str) {
        let span = command.span.clone();
        self.diagnostics
            .push(Diagnostic::new(code, command.file, span, message));
    }

    fn constant(&mut self, command: &Command, bound: &mut Bindings, top: bool) {
        let (Some(name), [value]) = (command.parameters.first(), command.arguments.as_slice())
        else {
            return;
        };
        if !top {
            let message = "a constant is declared at the top of the file";
            self.error(codes::WRONG_PLACE, command, message);
        } else if bound.insert(name.clone(), value.clone()).is_some() {
            let message = format!("the constant `{name}` is declared twice");
            self.error(codes::DECLARED_TWICE, command, &message);
        }
    }

    fn each(&mut self, command: Command, bound: &Bindings, expanded: &mut Vec<Item>) {
        let [parameter] = command.parameters.as_slice() else {
            let message = "the block of `each` has one parameter: `[1, 2].each { |x| ... }`";
            self.error(codes::ARGUMENTS, &command, message);
            return;
        };
        let Some(Block::Items(body)) = &command.block else {
            return;
        };
        let values = command.arguments.first().and_then(listed);
        let Some(values) = values else {
            let message = "`each` goes over an array or a range of numbers that are written out";
            self.error(codes::NOT_SUPPORTED, &command, message);
            return;
        };
        for value in values {
            let mut bound = bound.clone();
            bound.insert(parameter.clone(), value);
            expanded.extend(self.items(body.clone(), &mut bound, false));
            if self.made > MAX_ITEMS {
                return;
            }
        }
    }

    /// Gives the call of a macro the statements with its arguments in place.
    fn with_arguments(&mut self, command: &mut Command, bound: &Bindings) {
        let Some(definition) = self.macros.get(&command.word) else {
            return;
        };
        let parameters = &definition.parameters;
        // A wrong number, and a macro inside itself, are reported where statements are put in place.
        if parameters.is_empty()
            || parameters.len() != command.arguments.len()
            || self.active.contains(&command.word)
        {
            return;
        }
        let mut inner = bound.clone();
        inner.extend(
            parameters
                .iter()
                .cloned()
                .zip(command.arguments.iter().cloned()),
        );
        let body = definition.body.clone();
        self.active.push(command.word.clone());
        command.expansion = Some(self.items(body, &mut inner, false));
        self.active.pop();
    }

    fn value(&mut self, value: &mut Value, file: usize, bound: &Bindings) {
        match &mut value.kind {
            ValueKind::Name(name) => {
                if let Some(known) = bound.get(name) {
                    value.kind = match &known.kind {
                        // Where it stands now matters to messages, not where it was written.
                        ValueKind::Str(text) => {
                            ValueKind::Str(Text::standing_at(&text.value, value.span.start))
                        }
                        other => other.clone(),
                    };
                }
            }
            ValueKind::Str(text) if !text.holes.is_empty() => {
                match text.filled(|name| bound.get(name).and_then(as_text)) {
                    Ok(filled) => *text = filled,
                    Err(span) => {
                        self.diagnostics.push(
                            Diagnostic::new(
                                codes::NOT_SUPPORTED,
                                file,
                                span,
                                "not supported: only a constant, a parameter of a macro or of `each` \
                                 can be put into a string",
                            )
                            .hint("write the text out, or use single quotes for the text itself"),
                        );
                        value.kind = ValueKind::Missing;
                    }
                }
            }
            ValueKind::Range(low, high) | ValueKind::Pair(low, high) => {
                self.value(low, file, bound);
                self.value(high, file, bound);
            }
            ValueKind::Array(values) | ValueKind::Hash(values) | ValueKind::Call(_, values) => {
                for value in values {
                    self.value(value, file, bound);
                }
            }
            ValueKind::Keyword(_, value) => self.value(value, file, bound),
            _ => {}
        }
    }
}

/// The values that a loop goes over.
fn listed(value: &Value) -> Option<Vec<Value>> {
    let number = |value: &Value| match &value.kind {
        ValueKind::Number(digits) => digits.parse::<i64>().ok(),
        _ => None,
    };
    match &value.kind {
        ValueKind::Array(values) => Some(values.clone()),
        ValueKind::Range(low, high) => {
            let (low, high) = (number(low)?, number(high)?);
            let numbers = (low..=high).take(MAX_ITEMS);
            let values = numbers.map(|n| Value {
                kind: ValueKind::Number(n.to_string()),
                span: value.span.clone(),
            });
            Some(values.collect())
        }
        _ => None,
    }
}

/// A value as the text that a string takes in.
fn as_text(value: &Value) -> Option<String> {
    match &value.kind {
        ValueKind::Str(text) => Some(text.value.clone()),
        ValueKind::Number(text) | ValueKind::Symbol(text) | ValueKind::Name(text) => {
            Some(text.clone())
        }
        _ => None,
    }
}
