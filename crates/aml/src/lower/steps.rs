//! The statements that make a step: `receive`, `send` and `tau`.

use ioco_sts::{Assignment, Direction, Expr, Gate, LabelId, Parameter};

use crate::ast::{Command, Text};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::expr::check::{CheckedUpdate, Checker};
use crate::expr::generated::Generated;
use crate::expr::names::{Names, Resolution};
use crate::lower::flow::Walker;
use crate::lower::graph::{Edge, NodeId};
use crate::suggest::did_you_mean;

const KEYWORDS: &[&str] = &["constraint", "update", "note", "requirement"];

impl Walker<'_, '_> {
    /// Adds the step of a statement, and gives the location after it.
    pub(super) fn step(&mut self, command: &Command, from: NodeId) -> NodeId {
        let target = self.graph.node(command.site());
        let gate = if command.word == "tau" {
            self.lowering.no_more_arguments(command, 0, KEYWORDS);
            Some(Gate::Tau)
        } else {
            let gate = self.gate(command);
            self.lowering.no_more_arguments(command, 1, KEYWORDS);
            gate
        };
        let constraint = self.lowering.text_keyword(command, "constraint");
        let update = self.lowering.text_keyword(command, "update");
        let note = self.lowering.text_keyword(command, "note");
        if let Some(id) = self.lowering.text_keyword(command, "requirement") {
            let site = command.site();
            let cited = self.lowering.cite(&id.value, "", site);
            self.pending.push(cited);
        }
        let mut requirements = std::mem::take(&mut self.pending);
        requirements.extend_from_slice(&self.shown);
        // With an unknown label nothing can be said of the names in the expressions.
        let Some(gate) = gate else {
            return target;
        };
        let before = self.lowering.diagnostics.len();
        let label = gate.label();
        let parameters: Vec<Parameter> = label.map_or_else(Vec::new, |label| {
            self.lowering.labels[label.index()].label.parameters.clone()
        });
        let guard = match constraint.filter(|text| !text.value.trim().is_empty()) {
            Some(text) => self.checker(text, command.file, &parameters).condition(),
            None => Expr::TRUE,
        };
        let updates = match update {
            Some(text) => self.checker(text, command.file, &parameters).updates(),
            None => Vec::new(),
        };
        if let Some(note) = note {
            self.note(note, command.file, &parameters);
        }
        // An expression that is wrong must not be blamed for what it does not say.
        let said = &self.lowering.diagnostics[before..];
        let decided = said.iter().any(|d| d.code == codes::NEVER_HOLDS.name);
        if !decided && !said.iter().any(Diagnostic::is_error) {
            self.lint_step(command, gate, &parameters, &guard, constraint, &updates);
        }
        self.graph.edges.push(Edge {
            source: from,
            target,
            gate,
            guard,
            update: updates
                .into_iter()
                .map(|update| Assignment {
                    variable: update.variable,
                    value: update.value,
                })
                .collect(),
            note: note.map(|text| text.value.clone()),
            requirements,
            site: command.site(),
        });
        target
    }

    fn names<'n>(&'n self, parameters: &'n [Parameter]) -> Names<'n> {
        Names {
            types: &self.lowering.types,
            variables: &self.scope.variables,
            parameters,
            locals: &[],
            functions: &self.lowering.functions,
            broken: &self.lowering.broken,
            constants: &self.lowering.constants,
        }
    }

    fn checker<'c>(
        &'c mut self,
        text: &'c Text,
        file: usize,
        parameters: &'c [Parameter],
    ) -> Checker<'c> {
        Checker {
            names: Names {
                types: &self.lowering.types,
                variables: &self.scope.variables,
                parameters,
                locals: &[],
                functions: &self.lowering.functions,
                broken: &self.lowering.broken,
                constants: &self.lowering.constants,
            },
            text,
            file,
            budget: self.lowering.budget,
            diagnostics: &mut self.lowering.diagnostics,
            generated: Generated {
                known: &[],
                first: self.lowering.functions.len(),
                new: Some(&mut self.lowering.generated),
            },
        }
    }

    fn gate(&mut self, command: &Command) -> Option<Gate> {
        let receives = command.word == "receive";
        let what = if receives {
            "the name of a stimulus"
        } else {
            "the name of a response"
        };
        let (name, span) = self.lowering.name_argument(command, what)?;
        let (own, other) = if receives {
            (&self.scope.receives, &self.scope.sends)
        } else {
            (&self.scope.sends, &self.scope.receives)
        };
        let Some(&label) = own.get(&name.value) else {
            let kind = if receives { "stimulus" } else { "response" };
            if let Some(channels) = self.scope.shared.get(&name.value) {
                let names: Vec<String> = channels
                    .iter()
                    .filter(|channel| own.contains_key(&format!("{channel}.{}", name.value)))
                    .map(|channel| format!("'{channel}.{}'", name.value))
                    .collect();
                if names.len() > 1 {
                    let message = format!("the {kind} `{}` is on several channels", name.value);
                    let hint = format!("write {}", names.join(" or "));
                    self.lowering
                        .report(codes::AMBIGUOUS_NAME, command.file, span, message)
                        .hint = Some(hint);
                    return None;
                }
            }
            if other.contains_key(&name.value) {
                let (is, use_instead) = if receives {
                    ("response", "send")
                } else {
                    ("stimulus", "receive")
                };
                let message = format!("`{}` is a {is}, not a {kind}", name.value);
                self.lowering
                    .report(codes::WRONG_DIRECTION, command.file, span, message)
                    .hint = Some(format!(
                    "write `{use_instead} '{}'`, or declare it as a {kind}",
                    name.value
                ));
                return None;
            }
            let hint = did_you_mean(&name.value, own.keys().map(String::as_str));
            let message = format!("unknown {kind} `{}`", name.value);
            self.lowering
                .report(codes::UNKNOWN_LABEL, command.file, span, message)
                .hint = hint;
            return None;
        };
        let declared = &mut self.lowering.labels[label.index()];
        if receives {
            declared.received = true;
        } else {
            declared.sent = true;
        }
        Some(self.gate_of(label, receives))
    }

    fn gate_of(&self, label: LabelId, receives: bool) -> Gate {
        match self.lowering.labels[label.index()].label.direction {
            Direction::Internal if receives => Gate::Receive(label),
            Direction::Internal => Gate::Send(label),
            Direction::Stimulus | Direction::Response => Gate::Observable(label),
        }
    }

    /// The `$name`s of a note must be known.
    fn note(&mut self, note: &Text, file: usize, parameters: &[Parameter]) {
        let text = &note.value;
        for (position, _) in text.match_indices('$') {
            let rest = &text[position + 1..];
            let length = rest
                .find(|c: char| !(c.is_alphanumeric() || c == '_'))
                .unwrap_or(rest.len());
            let name = &rest[..length];
            // `$5` is an amount of money.
            if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
                continue;
            }
            let names = self.names(parameters);
            if names.meaning(name, None) == Resolution::Unknown {
                let hint = did_you_mean(name, names.all());
                let span = note.source_span(position..position + 1 + length);
                let message = format!("unknown name `{name}` in a note");
                self.lowering
                    .report(codes::NOTE_NAME, file, &span, message)
                    .hint = hint;
            }
            if let Resolution::Variable(variable, _) = self.names(parameters).meaning(name, None) {
                self.lowering.variables[variable.index()].read = true;
            }
        }
    }

    fn lint_step(
        &mut self,
        command: &Command,
        gate: Gate,
        parameters: &[Parameter],
        guard: &Expr,
        constraint: Option<&Text>,
        updates: &[CheckedUpdate],
    ) {
        let lowering = &mut *self.lowering;
        for variable in guard.vars() {
            lowering.variables[variable.index()].read = true;
        }
        for update in updates {
            // `x = x + 1` alone does not make x matter.
            for variable in update.value.vars() {
                if variable != update.variable {
                    lowering.variables[variable.index()].read = true;
                }
            }
        }
        lowering.lint_parameters(command, gate, parameters, guard);
        lowering.lint_hidden(command, parameters, &self.scope.variables);
        lowering.lint_update_order(command.file, updates);
        lowering.lint_values(command, parameters, guard, constraint, updates);
    }
}
