//! A model before it is text: simple enough to cut pieces out of it.

use std::fmt::Write as _;

/// A type of the language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ty {
    Bool,
    Small(i64, i64),
    Int,
    Dec,
    Str,
    Enum,
    Struct,
    List(Box<Ty>),
}

impl Ty {
    pub fn text(&self) -> String {
        match self {
            Ty::Bool => ":boolean".to_owned(),
            Ty::Small(low, high) => format!("integer({low}..{high})"),
            Ty::Int => ":integer".to_owned(),
            Ty::Dec => ":decimal".to_owned(),
            Ty::Str => ":string".to_owned(),
            Ty::Enum => "'Colour'".to_owned(),
            Ty::Struct => "'Pair'".to_owned(),
            Ty::List(item) => format!("[{}]", item.text()),
        }
    }

    pub fn is_integer(&self) -> bool {
        matches!(self, Ty::Small(..) | Ty::Int)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    Tau,
    Receive(usize),
    Send(usize),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelDraft {
    pub name: String,
    /// On the channel between processes; this process sends it.
    pub wire_from: Option<usize>,
    /// A response of the system; otherwise a stimulus. Of no interest for a wire.
    pub response: bool,
    pub parameters: Vec<(String, Ty)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VarDraft {
    pub name: String,
    pub ty: Ty,
    /// `None`: `:void` at first.
    pub initial: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    pub gate: Gate,
    /// Conditions that must all hold.
    pub guard: Vec<String>,
    /// Variable and value.
    pub update: Vec<(String, String)>,
    pub target: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateDraft {
    /// Milliseconds.
    pub timeout: Option<u64>,
    pub edges: Vec<Edge>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessDraft {
    pub variables: Vec<VarDraft>,
    pub states: Vec<StateDraft>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    /// Milliseconds.
    pub timeout: u64,
    pub with_enum: bool,
    /// The types of the two fields of `Pair`.
    pub pair: Option<(Ty, Ty)>,
    /// Whole lines.
    pub functions: Vec<String>,
    pub labels: Vec<LabelDraft>,
    pub processes: Vec<ProcessDraft>,
}

impl Draft {
    /// The model as AML.
    pub fn text(&self) -> String {
        let mut out = format!("timeout {}\nexternal 'door'\n", seconds(self.timeout));
        if self.labels.iter().any(|l| l.wire_from.is_some()) {
            out += "internal 'wire'\n";
        }
        if self.with_enum {
            out += "enum 'Colour', 'Red', 'Green', 'Blue'\n";
        }
        if let Some((first, second)) = &self.pair {
            let (first, second) = (first.text(), second.text());
            let _ = writeln!(
                out,
                "struct 'Pair', {{'one' => {first}, 'two' => {second}}}"
            );
        }
        for function in &self.functions {
            out += function;
            out.push('\n');
        }
        for (number, process) in self.processes.iter().enumerate() {
            self.process(number, process, &mut out);
        }
        out
    }

    fn process(&self, number: usize, process: &ProcessDraft, out: &mut String) {
        let _ = writeln!(out, "\nprocess('p{number}') {{");
        self.channel("door", number, false, out);
        self.channel("wire", number, true, out);
        for variable in &process.variables {
            let initial = variable
                .initial
                .as_ref()
                .map_or(String::new(), |i| format!(", {i}"));
            let _ = writeln!(
                out,
                "  var '{}', {}{initial}",
                variable.name,
                variable.ty.text()
            );
        }
        for (index, state) in process.states.iter().enumerate() {
            let timeout = state
                .timeout
                .map_or(String::new(), |t| format!(", timeout: {}", seconds(t)));
            let _ = writeln!(out, "  state '{}'{timeout}", state_name(number, index));
            self.options(number, index, state, out);
        }
        out.push_str("}\n");
    }

    fn channel(&self, name: &str, number: usize, wires: bool, out: &mut String) {
        let own: Vec<(usize, &LabelDraft)> = self
            .labels
            .iter()
            .enumerate()
            .filter(|(index, label)| {
                label.wire_from.is_some() == wires
                    && (label.wire_from.unwrap_or(0) == number || self.uses(number, *index))
            })
            .collect();
        if own.is_empty() {
            return;
        }
        let _ = writeln!(out, "  channel('{name}') {{");
        for (_, label) in own {
            let word = match label.wire_from {
                Some(sender) if sender == number => "response",
                Some(_) => "stimulus",
                None if label.response => "response",
                None => "stimulus",
            };
            let parameters: Vec<String> = label
                .parameters
                .iter()
                .map(|(name, ty)| format!("'{name}' => {}", ty.text()))
                .collect();
            let parameters = match parameters.len() {
                0 => String::new(),
                _ => format!(", {{{}}}", parameters.join(", ")),
            };
            let _ = writeln!(out, "    {word} '{}'{parameters}", label.name);
        }
        out.push_str("  }\n");
    }

    fn uses(&self, process: usize, label: usize) -> bool {
        let edges = self.processes[process].states.iter().flat_map(|s| &s.edges);
        edges
            .into_iter()
            .any(|e| matches!(e.gate, Gate::Receive(l) | Gate::Send(l) if l == label))
    }

    /// An edge back to the state itself is an option of a `repeat`, the others jump.
    fn options(&self, number: usize, index: usize, state: &StateDraft, out: &mut String) {
        let loops = state.edges.iter().any(|edge| edge.target == index);
        let _ = writeln!(out, "  {} {{", if loops { "repeat" } else { "choice" });
        if state.edges.is_empty() {
            let name = state_name(number, index);
            let _ = writeln!(out, "    o {{ tau constraint: 'false'; goto '{name}' }}");
        }
        for edge in &state.edges {
            let mut line = match edge.gate {
                Gate::Tau => "tau".to_owned(),
                Gate::Receive(label) => format!("receive '{}'", self.labels[label].name),
                Gate::Send(label) => format!("send '{}'", self.labels[label].name),
            };
            let mut separator = if edge.gate == Gate::Tau { " " } else { ", " };
            if !edge.guard.is_empty() {
                let guard = match edge.guard.as_slice() {
                    [alone] => alone.clone(),
                    several => {
                        let parts: Vec<String> = several.iter().map(|c| parenthesised(c)).collect();
                        parts.join(" && ")
                    }
                };
                let _ = write!(line, "{separator}constraint: '{guard}'");
                separator = ", ";
            }
            if !edge.update.is_empty() {
                let parts: Vec<String> = edge
                    .update
                    .iter()
                    .map(|(name, value)| format!("{name} = {value}"))
                    .collect();
                let _ = write!(line, "{separator}update: '{}'", parts.join("; "));
            }
            if edge.target != index {
                let _ = write!(line, "; goto '{}'", state_name(number, edge.target));
            }
            let _ = writeln!(out, "    o {{ {line} }}");
        }
        out.push_str("  }\n");
    }
}

fn parenthesised(condition: &str) -> String {
    match condition.contains("||") || condition.starts_with("if ") {
        true => format!("({condition})"),
        false => condition.to_owned(),
    }
}

fn state_name(process: usize, state: usize) -> String {
    format!("S{process}{}", char::from(b'a' + (state % 26) as u8))
}

fn seconds(milliseconds: u64) -> String {
    format!("{}.{:03}", milliseconds / 1000, milliseconds % 1000)
}
