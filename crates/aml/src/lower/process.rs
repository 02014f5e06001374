//! A process: its channels, variables and behaviors, then its statements.

use ioco_sts::{Direction, Label, LabelId, ProcessId, Value as Literal, Variable};
use rustc_hash::FxHashMap;

use crate::ast::{Block, Command, Item, Site, ValueKind};
use crate::codes;
use crate::expr::names::SeenVariable;
use crate::lower::flow::Walker;
use crate::lower::{DeclaredLabel, DeclaredVariable, Lowering};
use crate::words::{self, Context};

/// What the statements of one process can name.
pub(super) struct ProcessScope<'a> {
    pub process: ProcessId,
    /// The labels that the process may receive and send, by name.
    pub receives: FxHashMap<String, LabelId>,
    pub sends: FxHashMap<String, LabelId>,
    /// The names of labels that the process has on several channels, with those channels: the channel has to be
    /// written as well.
    pub shared: FxHashMap<String, Vec<String>>,
    pub variables: Vec<SeenVariable>,
    pub behaviors: FxHashMap<String, Behavior<'a>>,
    /// The behaviors in the order of the text.
    pub behavior_order: Vec<String>,
}

#[derive(Clone, Copy)]
pub(super) struct Behavior<'a> {
    pub command: &'a Command,
    pub body: &'a [Item],
    pub non_terminating: bool,
}

/// The commands in the block of a command.
fn inner(command: &Command) -> impl Iterator<Item = &Command> {
    let items = match &command.block {
        Some(Block::Items(items)) => items.as_slice(),
        _ => &[],
    };
    items.iter().filter_map(|item| match item {
        Item::Command(command) => Some(command),
        Item::Macro(_) => None,
    })
}

impl<'a> Lowering<'a> {
    pub(super) fn process(&mut self, command: &'a Command) {
        let name = self.name_argument(command, "a name for the process");
        self.no_more_arguments(command, 1, &[]);
        let Some(Block::Items(items)) = &command.block else {
            let message = "a process needs a block";
            self.report(codes::ARGUMENTS, command.file, &command.span, message)
                .hint = Some("process('main') { ... }".to_owned());
            return;
        };
        let name = name.map_or("", |(text, _)| text.value.as_str());
        if let Some(first) = self.processes.get(name) {
            let first = (first.file, first.span.clone());
            let message = format!("the process `{name}` is declared twice");
            self.twice(&command.site(), message, first);
        } else {
            self.processes.insert(name.to_owned(), command.site());
        }
        let mut scope = ProcessScope {
            process: self.builder.process(name),
            receives: FxHashMap::default(),
            sends: FxHashMap::default(),
            shared: FxHashMap::default(),
            variables: Vec::new(),
            behaviors: FxHashMap::default(),
            behavior_order: Vec::new(),
        };
        for item in items {
            let Item::Command(declaration) = item else {
                continue;
            };
            match declaration.word.as_str() {
                "channel" => self.channel(declaration, &mut scope),
                "var" => self.variable(declaration, &mut scope, name),
                "behavior" => self.behavior(declaration, &mut scope),
                _ => {}
            }
        }
        Walker::new(self, &scope).process(command, items);
    }

    fn channel(&mut self, command: &'a Command, scope: &mut ProcessScope<'a>) {
        let Some((name, span)) = self.name_argument(command, "the name of a channel") else {
            return;
        };
        self.no_more_arguments(command, 1, &[]);
        let Some(Block::Items(items)) = &command.block else {
            let message = "a channel needs a block";
            self.report(codes::ARGUMENTS, command.file, &command.span, message)
                .hint = Some("channel('door') { stimulus 'open' }".to_owned());
            return;
        };
        let site = Site {
            file: command.file,
            span: span.clone(),
        };
        self.channels.entry(name.value.clone()).or_insert(site);
        for item in items {
            let Item::Command(declaration) = item else {
                self.definition_misplaced(item);
                continue;
            };
            match (
                words::allowed(&declaration.word, Context::Channel),
                declaration.word.as_str(),
            ) {
                (Some(true), "stimulus" | "response") => {
                    self.one_label(declaration, &name.value, scope);
                }
                (Some(true), _) => self.plain_labels(declaration, &name.value, scope),
                (Some(false), _) => self.wrong_place(declaration),
                (None, _) => self.unknown_word(declaration),
            }
        }
    }

    pub(super) fn definition_misplaced(&mut self, item: &Item) {
        if let Item::Macro(definition) = item {
            let message = "a macro is defined at the top of the file";
            let span = definition.name_span.clone();
            self.report(codes::WRONG_PLACE, definition.file, &span, message);
        }
    }

    fn one_label(&mut self, command: &Command, channel: &str, scope: &mut ProcessScope<'a>) {
        let what = format!("a name for the {}", command.word);
        let Some((name, span)) = self.name_argument(command, &what) else {
            return;
        };
        let parameters = self.parameters(command.file, &command.arguments[1..]);
        let site = Site {
            file: command.file,
            span: span.clone(),
        };
        let receives = command.word == "stimulus";
        self.label(&name.value, channel, receives, parameters, site, scope);
    }

    fn plain_labels(&mut self, command: &Command, channel: &str, scope: &mut ProcessScope<'a>) {
        if command.arguments.is_empty() {
            let message = format!("`{}` needs names", command.word);
            self.report(codes::ARGUMENTS, command.file, &command.span, message);
        }
        let receives = command.word == "stimuli";
        for value in &command.arguments {
            match &value.kind {
                ValueKind::Str(name) => {
                    let site = Site {
                        file: command.file,
                        span: value.span.clone(),
                    };
                    self.label(&name.value, channel, receives, Vec::new(), site, scope);
                }
                ValueKind::Missing => {}
                _ => {
                    let single = if receives { "stimulus" } else { "response" };
                    let message = format!("`{}` takes names only", command.word);
                    self.report(codes::ARGUMENTS, command.file, &value.span, message)
                        .hint = Some(format!("a label with parameters is a `{single}`"));
                }
            }
        }
    }

    fn label(
        &mut self,
        name: &str,
        channel: &str,
        receives: bool,
        parameters: Vec<ioco_sts::Parameter>,
        site: Site,
        scope: &mut ProcessScope<'a>,
    ) {
        let direction = if self.internal.contains_key(channel) {
            Direction::Internal
        } else if receives {
            Direction::Stimulus
        } else {
            Direction::Response
        };
        let qualified = format!("{channel}.{name}");
        let is_shared = self.shared_labels.contains(&(direction, name.to_owned()));
        let label = Label {
            name: if is_shared { &qualified } else { name }.to_owned(),
            channel: channel.to_owned(),
            direction,
            parameters,
        };
        let known = self
            .labels
            .iter()
            .position(|l| l.label.direction == direction && l.label.name == label.name);
        let own = if receives {
            &scope.receives
        } else {
            &scope.sends
        };
        let id = match known {
            Some(index) => {
                let first = &self.labels[index];
                let first_site = (first.site.file, first.site.span.clone());
                let id = LabelId::from_index(index);
                if own.contains_key(&qualified) {
                    let message = format!("`{name}` is declared twice");
                    self.twice(&site, message, first_site);
                    return;
                }
                if first.label.channel != channel || first.label.parameters != label.parameters {
                    let message = format!("`{name}` is declared in two ways");
                    self.twice(&site, message, first_site);
                }
                id
            }
            None => {
                let id = self.builder.label(label.clone());
                self.labels.push(DeclaredLabel {
                    label,
                    site,
                    received: false,
                    sent: false,
                });
                id
            }
        };
        if direction == Direction::Internal {
            self.builder.participant(id, scope.process);
        }
        let own = if receives {
            &mut scope.receives
        } else {
            &mut scope.sends
        };
        own.insert(qualified, id);
        match scope.shared.get_mut(name) {
            Some(channels) => channels.push(channel.to_owned()),
            None => {
                if let Some(other) = own.insert(name.to_owned(), id).filter(|other| *other != id) {
                    own.remove(name);
                    let first = self.labels[other.index()].label.channel.clone();
                    let channels = vec![first, channel.to_owned()];
                    scope.shared.insert(name.to_owned(), channels);
                }
            }
        }
    }

    /// Finds the names of labels that several channels have: such a label is called by its channel too.
    pub(super) fn find_shared_labels(&mut self, commands: &[&'a Command]) {
        let mut seen: FxHashMap<(Direction, &str), &str> = FxHashMap::default();
        let channels = commands.iter().filter(|command| command.word == "process");
        let channels = channels
            .flat_map(|process| inner(process))
            .filter(|c| c.word == "channel");
        for channel in channels {
            let Some(ValueKind::Str(name)) = channel.arguments.first().map(|value| &value.kind)
            else {
                continue;
            };
            for declaration in inner(channel) {
                let (direction, several) = match declaration.word.as_str() {
                    "stimulus" => (Direction::Stimulus, false),
                    "stimuli" => (Direction::Stimulus, true),
                    "response" => (Direction::Response, false),
                    "responses" => (Direction::Response, true),
                    _ => continue,
                };
                let direction = match self.internal.contains_key(&name.value) {
                    true => Direction::Internal,
                    false => direction,
                };
                let labels = if several { usize::MAX } else { 1 };
                for label in declaration.arguments.iter().take(labels) {
                    let ValueKind::Str(label) = &label.kind else {
                        continue;
                    };
                    let first = seen.entry((direction, &label.value)).or_insert(&name.value);
                    if *first != name.value {
                        self.shared_labels.insert((direction, label.value.clone()));
                    }
                }
            }
        }
    }

    fn variable(&mut self, command: &Command, scope: &mut ProcessScope<'a>, process: &str) {
        let Some((name, span)) = self.name_argument(command, "a name for the variable") else {
            return;
        };
        let site = Site {
            file: command.file,
            span: span.clone(),
        };
        let word = name.value.chars().enumerate().all(|(position, c)| {
            c == '_' || c.is_alphabetic() || position > 0 && (c.is_alphanumeric() || c == '?')
        });
        if !word {
            let message = "the name of a variable is a word, so that expressions can use it";
            self.report(codes::ARGUMENTS, site.file, &site.span, message);
            return;
        }
        if scope.variables.iter().any(|v| v.name == name.value) {
            let first = self
                .variables
                .iter()
                .rfind(|v| v.seen.name == name.value)
                .map_or((site.file, site.span.clone()), |v| {
                    (v.site.file, v.site.span.clone())
                });
            let message = format!("the variable `{}` is declared twice", name.value);
            self.twice(&site, message, first);
            return;
        }
        let Some(ty) = command.arguments.get(1) else {
            let message = "a variable needs a type";
            self.report(codes::ARGUMENTS, command.file, &command.span, message)
                .hint = Some(format!("var '{}', :integer, 0", name.value));
            return;
        };
        let Some(ty) = self.type_of(command.file, ty) else {
            self.broken.push(name.value.clone());
            return;
        };
        let initial = command
            .arguments
            .get(2)
            .and_then(|value| self.literal(command.file, value, &ty))
            .unwrap_or(Literal::Void);
        self.no_more_arguments(command, 3, &[]);
        let place = self.place(command.file, command.span.start);
        let id = self.builder.variable(Variable {
            name: name.value.clone(),
            process: scope.process,
            ty: ty.clone(),
            initial,
            place,
        });
        let seen = SeenVariable {
            name: name.value.clone(),
            id,
            ty,
            process: process.to_owned(),
        };
        scope.variables.push(seen.clone());
        self.variables.push(DeclaredVariable {
            seen,
            site,
            read: false,
        });
    }

    fn behavior(&mut self, command: &'a Command, scope: &mut ProcessScope<'a>) {
        let Some((name, _)) = self.name_argument(command, "a name for the behavior") else {
            return;
        };
        let non_terminating = match command.arguments.get(1).map(|value| &value.kind) {
            None => false,
            Some(ValueKind::Symbol(symbol)) if symbol == "non_terminating" => true,
            Some(ValueKind::Symbol(symbol)) if symbol == "terminating" => false,
            Some(_) => {
                let span = &command.arguments[1].span;
                let message = "a behavior takes `:non_terminating` and nothing else";
                self.report(codes::ARGUMENTS, command.file, span, message);
                false
            }
        };
        self.no_more_arguments(command, 2, &[]);
        let Some(Block::Items(body)) = &command.block else {
            let message = "a behavior needs a block";
            self.report(codes::ARGUMENTS, command.file, &command.span, message);
            return;
        };
        if let Some(first) = scope.behaviors.get(&name.value) {
            let first = (first.command.file, first.command.span.clone());
            let message = format!("the behavior `{}` is declared twice", name.value);
            self.twice(&command.site(), message, first);
            return;
        }
        scope.behavior_order.push(name.value.clone());
        scope.behaviors.insert(
            name.value.clone(),
            Behavior {
                command,
                body,
                non_terminating,
            },
        );
    }
}
