//! A model as a graph with its text: locations and switches by number, each with its place.

use ioco_aml::{Diagnostic, SourceFile};
use ioco_sts::{
    Direction, Expr, Gate, Label, LocationId, Place, Sts, Switch, show_expr, show_gate,
};
use serde::{Deserialize, Serialize};

/// A model with errors has its text and its diagnostics, and the graph of its last text without errors, if that is
/// known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct ModelView {
    pub name: String,
    pub path: String,
    pub hash: String,
    pub sources: Vec<SourceView>,
    /// By number.
    pub processes: Vec<String>,
    pub locations: Vec<LocationView>,
    pub switches: Vec<SwitchView>,
    pub labels: Vec<LabelView>,
    pub variables: Vec<VariableView>,
    pub diagnostics: Vec<DiagnosticView>,
    /// The text has errors: the graph is that of an earlier text, or empty.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<bool>", optional))]
    pub stale: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct SourceView {
    pub file: String,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct LocationView {
    pub id: u32,
    pub name: String,
    pub process: u32,
    pub initial: bool,
    /// Whether the model text gives it a name; others are called by what led there.
    #[serde(default)]
    pub named: bool,
    pub file: Option<String>,
    pub line: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct SwitchView {
    pub id: u32,
    pub from: u32,
    pub to: u32,
    /// `?open(code)`, `τ`.
    pub label: String,
    /// `stimulus`, `response` or `internal`.
    #[cfg_attr(
        feature = "schema",
        ts(type = "\"stimulus\" | \"response\" | \"internal\"")
    )]
    pub kind: String,
    pub guard: Option<String>,
    pub update: Option<String>,
    pub file: Option<String>,
    pub line: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct LabelView {
    pub name: String,
    /// `stimulus`, `response` or `internal`.
    #[cfg_attr(
        feature = "schema",
        ts(type = "\"stimulus\" | \"response\" | \"internal\"")
    )]
    pub kind: String,
    pub parameters: Vec<ParameterView>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct ParameterView {
    pub name: String,
    #[serde(rename = "type")]
    pub ty: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct VariableView {
    pub name: String,
    #[serde(rename = "type")]
    pub ty: String,
    pub initial: String,
    pub process: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct DiagnosticView {
    /// `error`, `warning` or `hint`.
    pub severity: String,
    pub code: String,
    pub message: String,
    pub hint: Option<String>,
    pub file: String,
    pub line: u32,
    pub column: u32,
}

impl ModelView {
    /// `sts` is missing where the text has errors.
    pub fn new(
        path: &str,
        hash: &str,
        sts: Option<&Sts>,
        files: &[SourceFile],
        diagnostics: &[Diagnostic],
    ) -> ModelView {
        let sources = files.iter().map(|file| SourceView {
            file: file.name.clone(),
            text: file.text.clone(),
        });
        let diagnostics = diagnostics.iter().map(|d| DiagnosticView::new(d, files));
        let empty = ModelView {
            name: path.to_owned(),
            path: path.to_owned(),
            hash: hash.to_owned(),
            sources: sources.collect(),
            diagnostics: diagnostics.collect(),
            ..ModelView::default()
        };
        let Some(sts) = sts else {
            return ModelView {
                stale: true,
                ..empty
            };
        };
        let types = sts.types();
        let indexed = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
        ModelView {
            name: sts.name().to_owned(),
            processes: sts.processes().iter().map(|p| p.name.clone()).collect(),
            locations: sts
                .locations()
                .iter()
                .enumerate()
                .map(|(index, location)| {
                    let (file, line) = place(sts, location.place);
                    let id = LocationId::from_index(index);
                    LocationView {
                        id: indexed(index),
                        named: sts.is_named(id),
                        name: sts.location_title(id).to_owned(),
                        process: location.process.0,
                        initial: sts.processes()[location.process.index()].initial.index() == index,
                        file,
                        line,
                    }
                })
                .collect(),
            switches: sts
                .switches()
                .iter()
                .enumerate()
                .map(|(index, switch)| SwitchView::new(indexed(index), switch, sts))
                .collect(),
            labels: sts
                .labels()
                .iter()
                .map(|l| LabelView::new(l, sts))
                .collect(),
            variables: sts
                .variables()
                .iter()
                .map(|variable| VariableView {
                    name: variable.name.clone(),
                    ty: types.type_name(&variable.ty),
                    initial: variable.initial.display(types).to_string(),
                    process: Some(variable.process.0),
                })
                .collect(),
            ..empty
        }
    }
}

impl ModelView {
    /// This text, which has errors, with the graph that was known before.
    pub fn over(&self, before: &ModelView) -> ModelView {
        ModelView {
            path: self.path.clone(),
            sources: self.sources.clone(),
            diagnostics: self.diagnostics.clone(),
            stale: true,
            ..before.clone()
        }
    }
}

impl SwitchView {
    fn new(id: u32, switch: &Switch, sts: &Sts) -> SwitchView {
        let label = switch.gate.label();
        let mut shown = show_gate(sts, switch.gate);
        let parameters = label.map_or(&[][..], |id| &sts.label(id).parameters);
        if !parameters.is_empty() {
            let names: Vec<&str> = parameters.iter().map(|p| p.name.as_str()).collect();
            shown.push_str(&format!("({})", names.join(", ")));
        }
        let updates: Vec<String> = switch
            .update
            .iter()
            .map(|assignment| {
                let name = &sts.variable(assignment.variable).name;
                format!("{name} := {}", show_expr(sts, label, &assignment.value))
            })
            .collect();
        let (file, line) = place(sts, switch.place);
        SwitchView {
            id,
            from: switch.source.0,
            to: switch.target.0,
            label: shown,
            kind: match switch.gate {
                Gate::Observable(label) => kind(sts.label(label).direction),
                Gate::Tau | Gate::Send(_) | Gate::Receive(_) => "internal",
            }
            .to_owned(),
            guard: (switch.guard != Expr::TRUE).then(|| show_expr(sts, label, &switch.guard)),
            update: (!updates.is_empty()).then(|| updates.join("; ")),
            file,
            line,
        }
    }
}

impl LabelView {
    fn new(label: &Label, sts: &Sts) -> LabelView {
        LabelView {
            name: label.name.clone(),
            kind: kind(label.direction).to_owned(),
            parameters: label
                .parameters
                .iter()
                .map(|parameter| ParameterView {
                    name: parameter.name.clone(),
                    ty: sts.types().type_name(&parameter.ty),
                })
                .collect(),
        }
    }
}

impl DiagnosticView {
    fn new(diagnostic: &Diagnostic, files: &[SourceFile]) -> DiagnosticView {
        let (line, column) = diagnostic.line_column();
        DiagnosticView {
            severity: diagnostic.severity.name().to_owned(),
            code: diagnostic.code.to_owned(),
            message: diagnostic.message.clone(),
            hint: diagnostic.hint.clone(),
            file: files
                .get(diagnostic.file)
                .map_or_else(String::new, |file| file.name.clone()),
            line,
            column,
        }
    }
}

fn kind(direction: Direction) -> &'static str {
    match direction {
        Direction::Stimulus => "stimulus",
        Direction::Response => "response",
        Direction::Internal => "internal",
    }
}

/// File and line, where there is text behind the item.
pub(crate) fn place(sts: &Sts, place: Place) -> (Option<String>, Option<u32>) {
    match sts.files().get(place.file as usize) {
        Some(file) if place.line > 0 => (Some(file.clone()), Some(place.line)),
        _ => (None, None),
    }
}
