//! The declarations at the top of a model: types, functions, channels' kinds, macros, time-outs.

use ioco_sts::{
    EnumType, Expr, Function, FunctionId, Requirement, StructType, Type, Value as Literal,
};

use crate::ast::{Block, Command, Item, Site, Text, Value, ValueKind};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::expr::check::Checker;
use crate::expr::generated::Generated;
use crate::expr::names::{Names, Signature};
use crate::lower::{Cited, Lowering};
use crate::suggest::did_you_mean;
use crate::words::{self, Context};

/// A function whose types are known and whose body is not yet checked.
struct OpenFunction<'a> {
    file: usize,
    name: String,
    locals: Vec<(String, Type)>,
    result: Type,
    body: &'a Text,
}

impl<'a> Lowering<'a> {
    /// Lowers a whole model.
    pub(super) fn model(&mut self, items: &'a [Item]) {
        self.check_places(items);
        let commands: Vec<&'a Command> = items
            .iter()
            .filter_map(|item| match item {
                Item::Command(command) => Some(command),
                Item::Macro(_) => None,
            })
            .collect();
        for item in items {
            if let Item::Macro(definition) = item {
                let name = definition.name.clone();
                self.macros.entry(name).or_insert(definition);
            }
        }
        self.named_types(&commands);
        let mut open_functions = Vec::new();
        let mut timeout: Option<Site> = None;
        for command in &commands {
            match command.word.as_str() {
                "timeout" => {
                    if let Some(first) = &timeout {
                        let first = (first.file, first.span.clone());
                        self.twice(&command.site(), "`timeout` is given twice".into(), first);
                    }
                    timeout = Some(command.site());
                    match command.arguments.first() {
                        Some(value) => {
                            if let Some(nanoseconds) = self.seconds(command.file, value) {
                                self.builder.timeout(nanoseconds);
                            }
                        }
                        None => {
                            let message = "`timeout` needs a number of seconds";
                            self.report(codes::ARGUMENTS, command.file, &command.span, message);
                        }
                    }
                    self.no_more_arguments(command, 1, &[]);
                }
                "external" | "internal" => self.channel_kind(command),
                // What kind a channel is must be known before any process declares its labels.
                "process" => {
                    if let Some(Block::Items(inner)) = &command.block {
                        for item in inner {
                            if let Item::Command(inside) = item
                                && matches!(inside.word.as_str(), "external" | "internal")
                            {
                                self.channel_kind(inside);
                            }
                        }
                    }
                }
                "requirement" => {
                    self.requirement(command);
                }
                "function" => open_functions.extend(self.function_signature(command)),
                _ => {}
            }
        }
        self.function_bodies(open_functions);
        self.find_shared_labels(&commands);
        let mut any = false;
        for item in items {
            match item {
                Item::Command(command) if command.word == "process" => {
                    any = true;
                    self.process(command);
                }
                Item::Command(_) => {}
                // Defined again: from here on, this one counts.
                Item::Macro(definition) => {
                    self.macros.insert(definition.name.clone(), definition);
                }
            }
        }
        // A model whose only process could not be read has enough diagnostics already.
        if !any && !self.diagnostics.iter().any(Diagnostic::is_error) {
            let message = "the model has no process";
            self.report(codes::NO_PROCESS, 0, &(0..0), message).hint =
                Some("process('main') { ... }".to_owned());
        }
        *self.builder.types() = self.types.clone();
        for function in std::mem::take(&mut self.generated) {
            self.builder.function(function);
        }
        self.lint_model();
        for cited in std::mem::take(&mut self.requirements) {
            let Site { file, span } = &cited.site;
            if cited.switches.is_empty() && !self.diagnostics.iter().any(Diagnostic::is_error) {
                let message = format!("no step shows the requirement `{}`", cited.id);
                self.report(codes::UNSHOWN_REQUIREMENT, *file, span, message);
            }
            let place = self.place(*file, span.start);
            self.builder.requirement(Requirement {
                id: cited.id,
                text: cited.text,
                switches: cited.switches,
                place,
            });
        }
    }

    /// The position of a requirement that a statement cites.
    pub(super) fn requirement(&mut self, command: &Command) -> Option<usize> {
        let (id, span) = self.name_argument(command, "the name of a requirement")?;
        let text = match command.arguments.get(1).map(|value| &value.kind) {
            None | Some(ValueKind::Missing) => "",
            Some(ValueKind::Str(text)) => &text.value,
            Some(_) => {
                let message = "put the text of a requirement in quotes";
                self.report(codes::ARGUMENTS, command.file, &command.span, message);
                ""
            }
        };
        self.no_more_arguments(command, 2, &[]);
        let site = Site {
            file: command.file,
            span: span.clone(),
        };
        Some(self.cite(&id.value, text, site))
    }

    /// The position of a requirement; of one that is cited again, the text that it has.
    pub(super) fn cite(&mut self, id: &str, text: &str, site: Site) -> usize {
        let known = self.requirements.iter().position(|r| r.id == id);
        let position = known.unwrap_or_else(|| {
            self.requirements.push(Cited {
                id: id.to_owned(),
                text: String::new(),
                site,
                switches: Vec::new(),
            });
            self.requirements.len() - 1
        });
        let cited = &mut self.requirements[position];
        if cited.text.is_empty() {
            text.clone_into(&mut cited.text);
        }
        position
    }

    pub(super) fn twice(&mut self, site: &Site, message: String, first: (usize, crate::ast::Span)) {
        let (file, span) = first;
        let report = self.report(codes::DECLARED_TWICE, site.file, &site.span, message);
        report.labels.push((file, span, "first here".to_owned()));
    }

    /// At the top of the file: reports what cannot stand there, a run of such statements once.
    fn check_places(&mut self, items: &[Item]) {
        let mut reported = false;
        for item in items {
            let Item::Command(command) = item else {
                reported = false;
                continue;
            };
            match words::allowed(&command.word, Context::File) {
                Some(true) => reported = false,
                Some(false) if reported => {}
                Some(false) => {
                    self.wrong_place(command);
                    reported = true;
                }
                None => self.unknown_word(command),
            }
        }
    }

    pub(super) fn wrong_place(&mut self, command: &Command) {
        let message = format!(
            "`{}` is not allowed here, only {}",
            command.word,
            words::belongs_in(&command.word)
        );
        self.report(
            codes::WRONG_PLACE,
            command.file,
            &command.word_span,
            message,
        );
    }

    pub(super) fn unknown_word(&mut self, command: &Command) {
        let names = words::all().chain(self.macros.keys().map(String::as_str));
        let hint = did_you_mean(&command.word, names);
        let macro_call = command.parenthesised && command.arguments.is_empty();
        let (code, message) = if macro_call {
            (
                codes::UNKNOWN_MACRO,
                format!("unknown macro `{}`", command.word),
            )
        } else {
            (
                codes::UNKNOWN_STATEMENT,
                format!("unknown statement `{}`", command.word),
            )
        };
        self.report(code, command.file, &command.word_span, message)
            .hint = hint;
    }

    /// Enumerations and structures. All names come first, so that a structure may use a later one.
    fn named_types(&mut self, commands: &[&'a Command]) {
        let mut structs: Vec<&Command> = Vec::new();
        for command in commands {
            if !matches!(command.word.as_str(), "enum" | "struct") {
                continue;
            }
            let what = format!("a name for the {}", command.word);
            let Some((name, span)) = self.name_argument(command, &what) else {
                continue;
            };
            let site = Site {
                file: command.file,
                span: span.clone(),
            };
            if let Some(first) = self.type_sites.get(&name.value) {
                let first = (first.file, first.span.clone());
                self.twice(&site, format!("`{}` is declared twice", name.value), first);
                continue;
            }
            self.type_sites.insert(name.value.clone(), site);
            if command.word == "enum" {
                let members = self.members(command);
                let name = name.value.clone();
                self.types.enums.push(EnumType { name, members });
            } else {
                let name = name.value.clone();
                let fields = Vec::new();
                self.types.structs.push(StructType::plain(&name, fields));
                structs.push(command);
            }
        }
        for (index, command) in structs.into_iter().enumerate() {
            let parameters = self.parameters(command.file, &command.arguments[1..]);
            if parameters.is_empty() {
                let message = "a struct needs at least one field";
                self.report(codes::ARGUMENTS, command.file, &command.span, message)
                    .hint = Some("struct 'Shop', {'action' => :integer}".to_owned());
            }
            let fields = parameters.into_iter().map(|p| (p.name, p.ty)).collect();
            self.types.structs[index].fields = fields;
        }
        self.endless_structs(commands);
    }

    /// A structure that holds itself has no value but `:void` inside `:void`.
    fn endless_structs(&mut self, commands: &[&'a Command]) {
        let nesting = self.types.nesting();
        for (index, depth) in nesting.into_iter().enumerate() {
            let declared = self.types.structs[index].clone();
            let too_deep = depth
                .and_then(|depth| self.budget.check(ioco_budget::Resource::Depth, depth).err());
            let itself = depth.is_none() && holds_itself(&self.types, index);
            let command = commands.iter().find(|c| {
                c.word == "struct"
                    && matches!(c.arguments.first(), Some(Value { kind: ValueKind::Str(text), .. })
                        if text.value == declared.name)
            });
            let found = match too_deep {
                Some(exhausted) => Some((codes::TOO_DEEP, exhausted.to_string())),
                None => itself.then(|| {
                    let message = format!("the struct `{}` holds itself", declared.name);
                    (codes::RECURSION, message)
                }),
            };
            if let (Some(command), Some((code, message))) = (command, found) {
                self.report(code, command.file, &command.span, message);
                // Nothing may walk the fields for ever.
                self.types.structs[index].fields.clear();
            }
        }
    }

    fn members(&mut self, command: &Command) -> Vec<String> {
        let mut members: Vec<(String, crate::ast::Span)> = Vec::new();
        for value in command.arguments.iter().skip(1) {
            let name = match &value.kind {
                ValueKind::Str(text) => text.value.clone(),
                ValueKind::Symbol(name) | ValueKind::Name(name) => name.clone(),
                ValueKind::Missing => continue,
                _ => {
                    let message = "a member of an enum is a name in quotes";
                    self.report(codes::ARGUMENTS, command.file, &value.span, message);
                    continue;
                }
            };
            if let Some((_, first)) = members.iter().find(|(m, _)| *m == name) {
                let first = (command.file, first.clone());
                let site = Site {
                    file: command.file,
                    span: value.span.clone(),
                };
                self.twice(&site, format!("`{name}` is a member twice"), first);
                continue;
            }
            let word = name.chars().enumerate().all(|(position, c)| {
                c == '_' || c.is_alphabetic() || position > 0 && c.is_alphanumeric()
            });
            if !word || name.is_empty() {
                let message = "a member of an enum is a word, so that expressions can use it";
                self.report(codes::ARGUMENTS, command.file, &value.span, message);
                continue;
            }
            members.push((name, value.span.clone()));
        }
        if members.is_empty() {
            let message = "an enum needs at least one member";
            self.report(codes::ARGUMENTS, command.file, &command.span, message)
                .hint = Some("enum 'Product', 'Coffee', 'Tea'".to_owned());
        }
        members.into_iter().map(|(name, _)| name).collect()
    }

    pub(super) fn channel_kind(&mut self, command: &Command) {
        if self
            .name_argument(command, "the name of a channel")
            .is_none()
        {
            return;
        }
        for value in &command.arguments {
            let ValueKind::Str(name) = &value.kind else {
                let message = "put the name of a channel in quotes";
                self.report(codes::ARGUMENTS, command.file, &value.span, message);
                continue;
            };
            let site = Site {
                file: command.file,
                span: value.span.clone(),
            };
            let other = match command.word.as_str() {
                "external" => self.internal.get(&name.value),
                _ => self.external.get(&name.value),
            };
            if let Some(first) = other {
                let first = (first.file, first.span.clone());
                let message = format!("`{}` is both external and internal", name.value);
                self.twice(&site, message, first);
            } else if command.word == "external" {
                self.external.entry(name.value.clone()).or_insert(site);
            } else {
                self.internal.entry(name.value.clone()).or_insert(site);
            }
        }
    }

    fn function_signature(&mut self, command: &'a Command) -> Option<OpenFunction<'a>> {
        let (name, span) = self.name_argument(command, "a name for the function")?;
        let site = Site {
            file: command.file,
            span: span.clone(),
        };
        let usage = "function('add', [:integer, :integer] => :integer) { |x, y| x + y }";
        let (Some(ValueKind::Pair(types, result)), Some(Block::Function { parameters, body })) = (
            command.arguments.get(1).map(|value| &value.kind),
            &command.block,
        ) else {
            let message = "a function needs its types and a body";
            self.report(codes::ARGUMENTS, command.file, &command.span, message)
                .hint = Some(usage.to_owned());
            return None;
        };
        let ValueKind::Array(types) = &types.kind else {
            let message = "put the types of the parameters in brackets";
            self.report(codes::ARGUMENTS, command.file, &types.span, message)
                .hint = Some(usage.to_owned());
            return None;
        };
        let types: Vec<Option<Type>> = types
            .iter()
            .map(|ty| self.type_of(command.file, ty))
            .collect();
        let result = self.type_of(command.file, result);
        let types: Option<Vec<Type>> = types.into_iter().collect();
        let (Some(result), Some(types)) = (result, types) else {
            self.broken.push(name.value.clone());
            return None;
        };
        if types.len() != parameters.len() {
            let message = format!(
                "the function has {} types and {} parameters",
                types.len(),
                parameters.len()
            );
            self.report(codes::ARGUMENTS, command.file, &command.span, message);
            return None;
        }
        if matches!(
            name.value.as_str(),
            "length" | "last" | "min" | "max" | "abs"
        ) {
            let message = format!("`{}` is built in", name.value);
            self.report(codes::DECLARED_TWICE, site.file, &site.span, message);
            return None;
        }
        if self.functions.iter().any(|f| f.name == name.value) {
            let message = format!("the function `{}` is declared twice", name.value);
            self.report(codes::DECLARED_TWICE, site.file, &site.span, message);
            return None;
        }
        self.functions.push(Signature {
            name: name.value.clone(),
            id: FunctionId::from_index(self.functions.len()),
            parameters: types.clone(),
            result: result.clone(),
        });
        let names = parameters.iter().map(|(name, _)| name.clone());
        Some(OpenFunction {
            file: command.file,
            name: name.value.clone(),
            locals: names.zip(types).collect(),
            result,
            body,
        })
    }

    fn function_bodies(&mut self, functions: Vec<OpenFunction<'a>>) {
        for function in functions {
            let body = if function.body.value.trim().is_empty() {
                Expr::Const(Literal::Void)
            } else {
                Checker {
                    names: Names {
                        types: &self.types,
                        variables: &[],
                        parameters: &[],
                        locals: &function.locals,
                        functions: &self.functions,
                        broken: &self.broken,
                        constants: &self.constants,
                    },
                    text: function.body,
                    file: function.file,
                    budget: self.budget,
                    diagnostics: &mut self.diagnostics,
                    generated: Generated {
                        known: &[],
                        first: self.functions.len(),
                        new: Some(&mut self.generated),
                    },
                }
                .of_type(&function.result)
            };
            self.builder.function(Function {
                name: function.name,
                parameters: function.locals,
                result: function.result,
                body,
            });
        }
    }
}

/// Whether a structure is inside itself, not only something in it.
fn holds_itself(types: &ioco_sts::Types, wanted: usize) -> bool {
    let mut seen = vec![false; types.structs.len()];
    let mut open = vec![wanted];
    while let Some(index) = open.pop() {
        for (_, ty) in &types.structs[index].fields {
            let mut ty = ty;
            while let Type::Array(item) = ty {
                ty = item;
            }
            let Type::Struct(id) = ty else { continue };
            if id.index() == wanted {
                return true;
            }
            if !std::mem::replace(&mut seen[id.index()], true) {
                open.push(id.index());
            }
        }
    }
    false
}
