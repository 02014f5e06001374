//! A model before it is text: simple enough to cut pieces out of it.

use std::fmt::Write as _;

use super::sugar::Sugar;

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
    Set(Box<Ty>),
    Hash(Box<Ty>, Box<Ty>),
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
            Ty::Set(item) => format!("set({})", item.text()),
            Ty::Hash(key, value) => format!("{{{} => {}}}", key.text(), value.text()),
        }
    }

    /// What a collection is made of.
    pub fn parts(&self) -> Vec<&Ty> {
        match self {
            Ty::List(item) | Ty::Set(item) => vec![item],
            Ty::Hash(key, value) => vec![key, value],
            _ => Vec::new(),
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
    /// Variable, or a part of one with the sign of its change, and value.
    pub update: Vec<(String, String)>,
    pub target: usize,
    /// Stands for one edge per number of this range, which [`HOLE`] in its texts stands for.
    pub each: Option<(i64, i64)>,
}

/// Where the number of a repeated edge goes.
pub const HOLE: &str = "§";

impl Edge {
    /// The edges that this one stands for.
    pub fn expanded(&self) -> Vec<Edge> {
        let (low, high) = self.each.unwrap_or((0, 0));
        (low..=high).map(|n| self.filled(&n.to_string())).collect()
    }

    /// The edge with a text in place of the number.
    pub fn filled(&self, text: &str) -> Edge {
        let fill = |part: &String| part.replace(HOLE, text);
        Edge {
            guard: self.guard.iter().map(fill).collect(),
            update: self
                .update
                .iter()
                .map(|(name, value)| (fill(name), fill(value)))
                .collect(),
            each: None,
            ..self.clone()
        }
    }

    /// The whole guard.
    pub fn condition(&self) -> Option<String> {
        match self.guard.as_slice() {
            [] => None,
            [alone] => Some(alone.clone()),
            several => {
                let parts: Vec<String> = several.iter().map(|c| parenthesised(c)).collect();
                Some(parts.join(" && "))
            }
        }
    }

    /// The updates as they are written.
    pub fn updates(&self) -> String {
        let parts = self
            .update
            .iter()
            .map(|(name, value)| match name.strip_suffix(" +") {
                Some(part) => format!("{part} += {value}"),
                None => format!("{name} = {value}"),
            });
        parts.collect::<Vec<String>>().join("; ")
    }
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
    /// Written with constants, loops, macros and requirements, which this seed chooses.
    pub sugar: Option<u64>,
}

impl Draft {
    /// The model as AML.
    pub fn text(&self) -> String {
        self.written(self.sugar.map(Sugar::new))
    }

    /// The same model without constants, loops, macros and requirements.
    pub fn plain_text(&self) -> String {
        self.written(None)
    }

    fn written(&self, mut sugar: Option<Sugar>) -> String {
        let mut processes = String::new();
        for (number, process) in self.processes.iter().enumerate() {
            self.process(number, process, &mut sugar, &mut processes);
        }
        let mut out = format!("timeout {}\nexternal 'door'\n", seconds(self.timeout));
        out += &sugar.map_or(String::new(), |sugar| sugar.declarations);
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
        out + &processes
    }

    fn process(
        &self,
        number: usize,
        process: &ProcessDraft,
        sugar: &mut Option<Sugar>,
        out: &mut String,
    ) {
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
            self.options(number, index, state, sugar, out);
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
    fn options(
        &self,
        number: usize,
        index: usize,
        state: &StateDraft,
        sugar: &mut Option<Sugar>,
        out: &mut String,
    ) {
        let loops = state.edges.iter().any(|edge| edge.target == index);
        let _ = writeln!(out, "  {} {{", if loops { "repeat" } else { "choice" });
        if state.edges.is_empty() {
            let name = state_name(number, index);
            let _ = writeln!(out, "    o {{ tau constraint: 'false'; goto '{name}' }}");
        }
        for edge in &state.edges {
            let (word, label) = match edge.gate {
                Gate::Tau => ("tau", None),
                Gate::Receive(label) => ("receive", Some(self.labels[label].name.as_str())),
                Gate::Send(label) => ("send", Some(self.labels[label].name.as_str())),
            };
            let jump = (edge.target != index).then(|| state_name(number, edge.target));
            let step = Written {
                word,
                label: label.map(|name| format!("'{name}'")),
                jump,
            };
            match sugar {
                Some(sugar) => sugar.option(edge, &step, out),
                None => {
                    for edge in edge.expanded() {
                        let _ = writeln!(out, "    o {{ {} }}", step.line(&edge, ["'", "'"]));
                    }
                }
            }
        }
        out.push_str("  }\n");
    }
}

/// How an edge is written, besides its guard and its updates.
pub struct Written<'a> {
    pub word: &'a str,
    pub label: Option<String>,
    pub jump: Option<String>,
}

impl Written<'_> {
    /// The statements, with these marks around expressions.
    pub fn line(&self, edge: &Edge, quotes: [&str; 2]) -> String {
        let [open, close] = quotes;
        let mut parts: Vec<String> = self.label.iter().cloned().collect();
        let condition = edge.condition();
        parts.extend(condition.map(|guard| format!("constraint: {open}{guard}{close}")));
        if !edge.update.is_empty() {
            parts.push(format!("update: {open}{}{close}", edge.updates()));
        }
        let jump = self.jump.as_ref().map(|name| format!("; goto '{name}'"));
        let step = format!("{} {}", self.word, parts.join(", "));
        format!("{}{}", step.trim_end(), jump.unwrap_or_default())
    }
}

fn parenthesised(condition: &str) -> String {
    match condition.contains("||") || condition.starts_with("if ") {
        true => format!("({condition})"),
        false => condition.to_owned(),
    }
}

pub fn state_name(process: usize, state: usize) -> String {
    format!("S{process}{}", char::from(b'a' + (state % 26) as u8))
}

fn seconds(milliseconds: u64) -> String {
    format!("{}.{:03}", milliseconds / 1000, milliseconds % 1000)
}
