//! Symbolic transition systems (Sietsma 2009, Definitions 1-3), as a network of processes.

use std::collections::BTreeSet;

use ioco_budget::Budget;
use serde::{Deserialize, Serialize};

use crate::expr::{BinaryOp, Expr, UnaryOp};
use crate::fits;
use crate::ids::{FunctionId, LabelId, LocationId, ProcessId, SwitchId, VarId};
use crate::label::{Direction, Label};
use crate::state::State;
use crate::title::Titles;
use crate::types::{IntRange, Type, Types};
use crate::value::Value;

/// Where in the model text something stands. `file` indexes [`Sts::files`]; lines and columns
/// count from one, and line zero means that there is no text behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    pub file: u32,
    pub line: u32,
    pub column: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The state's name in the model, or `_N` for a location without one.
    pub name: String,
    pub process: ProcessId,
    /// Nanoseconds of silence that count as quiescence here, where it differs from the model's.
    pub timeout: Option<u64>,
    pub place: Place,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    pub name: String,
    pub process: ProcessId,
    pub ty: Type,
    pub initial: Value,
    pub place: Place,
}

/// What a switch does at the border of its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Gate {
    /// τ: an internal step.
    Tau,
    /// An observable stimulus or response; the label's direction tells which.
    Observable(LabelId),
    /// The sending side of a hand-shake between processes.
    Send(LabelId),
    /// The receiving side of a hand-shake.
    Receive(LabelId),
}

impl Gate {
    pub fn label(self) -> Option<LabelId> {
        match self {
            Gate::Tau => None,
            Gate::Observable(label) | Gate::Send(label) | Gate::Receive(label) => Some(label),
        }
    }
}

impl Switch {
    /// The parameters on whose values it depends whether the switch can be taken. That an update stores one in a
    /// bounded variable is no reason to choose it with care.
    pub fn deciding_parameters(&self) -> BTreeSet<u32> {
        let is_stored = |demand: &&Demand| {
            let Subject::Variable(variable) = demand.subject else {
                return true;
            };
            let mut made = self.update.iter().filter(|a| a.variable == variable);
            made.any(|a| matches!(a.value, Expr::Param(_)))
        };
        let demands = self.requires.iter().filter(|demand| !is_stored(demand));
        let conditions = demands.map(|demand| &demand.condition);
        let all = std::iter::once(&self.guard).chain(conditions);
        all.flat_map(Expr::params).collect()
    }
}

/// `variable := value`. All assignments of a switch read the old values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Assignment {
    pub variable: VarId,
    pub value: Expr,
}

/// What a demand asks of an assigned value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demanded {
    /// That it can be computed: no overflow, no division by zero, no bad index, nothing unset.
    Exists,
    /// That it can be computed and lies in the range of the variable.
    InRange(IntRange),
    /// That everything inside of it lies in the ranges of its types.
    Fits,
}

/// What a demand is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The variable that is assigned.
    Variable(VarId),
    /// A parameter of the label, whose sets and hashes are in order.
    Parameter(u32),
}

/// A condition under which an assignment can be made, or a parameter is a value of its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demand {
    pub subject: Subject,
    pub demanded: Demanded,
    /// Over variables and parameters, as a guard.
    pub condition: Expr,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    pub source: LocationId,
    pub gate: Gate,
    /// The guard as the model states it.
    pub guard: Expr,
    /// What the update demands: that every assigned value exists and fits its variable.
    pub requires: Vec<Demand>,
    /// `guard` and the conditions of `requires` in one. This, not `guard`, decides whether the switch can be taken.
    pub enabled: Expr,
    pub update: Vec<Assignment>,
    pub target: LocationId,
    pub note: Option<String>,
    pub place: Place,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    pub name: String,
    pub initial: LocationId,
}

/// A requirement that the model cites: a clause of a standard, an entry of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// `MQTT-3.1.0-2`.
    pub id: String,
    /// What it says; empty where the model gives its name alone.
    pub text: String,
    /// The switches that show it, sorted.
    pub switches: Vec<SwitchId>,
    pub place: Place,
}

/// A function of the model: its body reads its parameters as [`Expr::Local`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    pub parameters: Vec<(String, Type)>,
    pub result: Type,
    pub body: Expr,
}

impl Function {
    /// Whether the function, of this number, calls itself more than once: written out without end, it doubles at
    /// each level.
    pub fn is_branching(&self, id: FunctionId) -> bool {
        let mut calls = 0;
        self.body.walk(&mut |e| {
            calls += u32::from(matches!(e, Expr::Call(called, _) if *called == id));
        });
        calls > 1
    }
}

/// The default time of silence that counts as quiescence: 500 ms.
pub const DEFAULT_TIMEOUT: u64 = 500_000_000;

/// A symbolic transition system. Built by [`StsBuilder`], then unchanging.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sts {
    name: String,
    files: Vec<String>,
    types: Types,
    functions: Vec<Function>,
    requirements: Vec<Requirement>,
    labels: Vec<Label>,
    variables: Vec<Variable>,
    processes: Vec<Process>,
    locations: Vec<Location>,
    switches: Vec<Switch>,
    timeout: u64,
    budget: Budget,
    outgoing: Vec<Vec<SwitchId>>,
    /// Per label, the processes that take part in its hand-shake.
    participants: Vec<Vec<ProcessId>>,
    constants: Vec<Value>,
    titles: Titles,
}

impl Sts {
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names of the model's files, for messages.
    pub fn files(&self) -> &[String] {
        &self.files
    }

    pub fn types(&self) -> &Types {
        &self.types
    }

    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// The requirements that the model cites, in the order of its text.
    pub fn requirements(&self) -> &[Requirement] {
        &self.requirements
    }

    pub fn labels(&self) -> &[Label] {
        &self.labels
    }

    /// Where every run begins, before internal steps.
    pub fn initial_state(&self) -> State {
        State {
            locations: self.processes().iter().map(|p| p.initial).collect(),
            valuation: self.variables().iter().map(|v| v.initial.clone()).collect(),
        }
    }

    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    pub fn processes(&self) -> &[Process] {
        &self.processes
    }

    pub fn locations(&self) -> &[Location] {
        &self.locations
    }

    pub fn switches(&self) -> &[Switch] {
        &self.switches
    }

    /// Nanoseconds of silence that count as quiescence.
    pub fn timeout(&self) -> u64 {
        self.timeout
    }

    /// How much one piece of work on this model may use.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    pub fn set_budget(&mut self, budget: Budget) {
        self.budget = budget;
    }

    /// Nanoseconds of silence that count as quiescence in these locations, one per process: each
    /// process counts with its own time-out or, without one, with the model's; the longest counts.
    pub fn timeout_at(&self, locations: &[LocationId]) -> u64 {
        let of_process = |id: &LocationId| self.location(*id).timeout.unwrap_or(self.timeout);
        locations
            .iter()
            .map(of_process)
            .max()
            .unwrap_or(self.timeout)
    }

    /// The same model with another time of silence, everywhere.
    pub fn with_timeout(&self, nanoseconds: u64) -> Sts {
        let mut sts = self.clone();
        sts.timeout = nanoseconds;
        for location in &mut sts.locations {
            location.timeout = None;
        }
        sts
    }

    /// The same model with other names for its labels.
    pub fn with_label_names(&self, name: impl Fn(&Label) -> String) -> Sts {
        let mut sts = self.clone();
        for label in &mut sts.labels {
            label.name = name(label);
        }
        sts
    }

    pub fn label(&self, id: LabelId) -> &Label {
        &self.labels[id.index()]
    }

    pub fn variable(&self, id: VarId) -> &Variable {
        &self.variables[id.index()]
    }

    pub fn location(&self, id: LocationId) -> &Location {
        &self.locations[id.index()]
    }

    pub fn switch(&self, id: SwitchId) -> &Switch {
        &self.switches[id.index()]
    }

    /// The switches that leave a location, in the order of the model text.
    pub fn outgoing(&self, location: LocationId) -> &[SwitchId] {
        &self.outgoing[location.index()]
    }

    /// The numbers and strings that guards and updates mention, sorted: values at which a model
    /// decides, and so worth trying everywhere.
    pub fn constants(&self) -> &[Value] {
        &self.constants
    }

    /// The processes that must take part in a hand-shake on `label`.
    pub fn participants(&self, label: LabelId) -> &[ProcessId] {
        &self.participants[label.index()]
    }

    /// The switches of every hand-shake on `label` that `sender` can start with the processes in these locations:
    /// itself, and one receiver of every other participant, in all combinations.
    pub fn handshakes(
        &self,
        locations: &[LocationId],
        sender: SwitchId,
        label: LabelId,
    ) -> Vec<Vec<SwitchId>> {
        let own = self.location(self.switch(sender).source).process;
        let mut groups = vec![vec![sender]];
        for process in self.participants(label).iter().filter(|p| **p != own) {
            let outgoing = self.outgoing(locations[process.index()]).iter().copied();
            let receives = |id: &SwitchId| self.switch(*id).gate == Gate::Receive(label);
            let receivers: Vec<SwitchId> = outgoing.filter(receives).collect();
            let with_each = |group: Vec<SwitchId>| {
                let longer = |receiver: &SwitchId| [group.as_slice(), &[*receiver]].concat();
                receivers.iter().map(longer).collect::<Vec<_>>()
            };
            groups = groups.into_iter().flat_map(with_each).collect();
        }
        // A hand-shake needs a receiver.
        groups.retain(|group| group.len() > 1);
        groups
    }

    /// The label of this name; with its channel before it, as in `door.open`, it is understood too.
    pub fn label_named(&self, direction: Direction, name: &str) -> Option<LabelId> {
        let own = |l: &Label| l.direction == direction;
        let mut labels = self.labels.iter();
        let exact = labels.position(|l| own(l) && l.name == name);
        let exact = exact.or_else(|| {
            let (channel, plain) = name.split_once('.')?;
            let mut labels = self.labels.iter();
            labels.position(|l| own(l) && l.channel == channel && l.name == plain)
        });
        exact.map(LabelId::from_index)
    }

    /// All labels that a name means: that of [`Sts::label_named`], or all that share it in several channels.
    pub fn labels_called(&self, direction: Direction, name: &str) -> Vec<LabelId> {
        match self.label_named(direction, name) {
            Some(label) => vec![label],
            None => self
                .labels_of(direction)
                .filter(|id| self.plain_name(*id) == name)
                .collect(),
        }
    }

    /// The name of a label within its channel. Labels of several channels may share it: the model then calls each
    /// by its channel too, as in `a.ping` and `b.ping`.
    pub fn plain_name(&self, id: LabelId) -> &str {
        let label = self.label(id);
        let within = |label: &'_ Label| {
            let rest = label.name.strip_prefix(label.channel.as_str());
            rest.and_then(|rest| rest.strip_prefix('.')).map(str::len)
        };
        let plain = |label: &'_ Label| within(label).map(|length| label.name.len() - length);
        let Some(own) = plain(label).map(|start| &label.name[start..]) else {
            return &label.name;
        };
        let shares = |other: &Label| {
            other.direction == label.direction
                && other.channel != label.channel
                && plain(other).is_some_and(|start| &other.name[start..] == own)
        };
        match self.labels.iter().any(shares) {
            true => own,
            false => &label.name,
        }
    }

    pub fn location_named(&self, name: &str) -> Option<LocationId> {
        self.locations
            .iter()
            .position(|l| l.name == name)
            .map(LocationId::from_index)
    }

    pub fn labels_of(&self, direction: Direction) -> impl Iterator<Item = LabelId> + '_ {
        self.labels
            .iter()
            .enumerate()
            .filter(move |(_, l)| l.direction == direction)
            .map(|(index, _)| LabelId::from_index(index))
    }

    /// No variables and no parameters: a plain labelled transition system.
    pub fn is_plain(&self) -> bool {
        self.variables.is_empty() && self.labels.iter().all(|l| l.parameters.is_empty())
    }

    /// `door.aml:14` for messages; empty where there is no text.
    pub fn show_place(&self, place: Place) -> String {
        match self.files.get(place.file as usize) {
            Some(file) if place.line > 0 => format!("{file}:{}", place.line),
            _ => String::new(),
        }
    }

    /// The name of a location for people: `locked, after ?unlock` where the model text gives it none.
    pub fn location_title(&self, id: LocationId) -> &str {
        let title = self.titles.of(self, id);
        title.unwrap_or(&self.location(id).name)
    }

    /// Whether the model text gives a location a name.
    pub fn is_named(&self, id: LocationId) -> bool {
        !crate::title::is_unnamed(&self.location(id).name)
    }

    /// `Open ──?close──► Closing`, with the names of the model text: files keep it.
    pub fn show_switch(&self, id: SwitchId) -> String {
        self.drawn_switch(id, |location| &self.location(location).name)
    }

    /// `Open ──?close──► Open, after ?close`, for people.
    pub fn switch_title(&self, id: SwitchId) -> String {
        self.drawn_switch(id, |location| self.location_title(location))
    }

    /// A text that was stored under names, such as that of a test's goal, with titles for people.
    pub fn titled(&self, text: &str) -> String {
        crate::title::titled(self, text)
    }

    fn drawn_switch<'a>(&self, id: SwitchId, name: impl Fn(LocationId) -> &'a str) -> String {
        let switch = self.switch(id);
        let gate = match switch.gate.label() {
            None => "τ".to_owned(),
            Some(label) => self.label(label).marked_name(),
        };
        let (source, target) = (name(switch.source), name(switch.target));
        format!("{source} ──{gate}──► {target}")
    }
}

/// Collects the parts of an [`Sts`].
#[derive(Clone, Debug)]
pub struct StsBuilder {
    sts: Sts,
    /// Hand-shake labels that a process declares although it has no switch on them: it takes part,
    /// and so blocks them.
    declared: Vec<(LabelId, ProcessId)>,
}

impl StsBuilder {
    pub fn new(name: &str) -> StsBuilder {
        StsBuilder {
            sts: Sts {
                name: name.to_owned(),
                files: Vec::new(),
                types: Types::default(),
                functions: Vec::new(),
                requirements: Vec::new(),
                labels: Vec::new(),
                variables: Vec::new(),
                processes: Vec::new(),
                locations: Vec::new(),
                switches: Vec::new(),
                timeout: DEFAULT_TIMEOUT,
                budget: Budget::default(),
                outgoing: Vec::new(),
                participants: Vec::new(),
                constants: Vec::new(),
                titles: Titles::default(),
            },
            declared: Vec::new(),
        }
    }

    pub fn rename(&mut self, name: &str) {
        name.clone_into(&mut self.sts.name);
    }

    pub fn file(&mut self, name: &str) -> u32 {
        self.sts.files.push(name.to_owned());
        (self.sts.files.len() - 1) as u32
    }

    pub fn timeout(&mut self, nanoseconds: u64) {
        self.sts.timeout = nanoseconds;
    }

    pub fn types(&mut self) -> &mut Types {
        &mut self.sts.types
    }

    /// The functions so far.
    pub fn functions(&self) -> &[Function] {
        &self.sts.functions
    }

    pub fn function(&mut self, function: Function) -> FunctionId {
        self.sts.functions.push(function);
        FunctionId::from_index(self.sts.functions.len() - 1)
    }

    pub fn label(&mut self, label: Label) -> LabelId {
        self.sts.labels.push(label);
        LabelId::from_index(self.sts.labels.len() - 1)
    }

    pub fn variable(&mut self, variable: Variable) -> VarId {
        self.sts.variables.push(variable);
        VarId::from_index(self.sts.variables.len() - 1)
    }

    /// A process starts at its first location unless [`StsBuilder::initial`] says otherwise.
    pub fn process(&mut self, name: &str) -> ProcessId {
        let initial = LocationId::from_index(self.sts.locations.len());
        self.sts.processes.push(Process {
            name: name.to_owned(),
            initial,
        });
        ProcessId::from_index(self.sts.processes.len() - 1)
    }

    pub fn initial(&mut self, process: ProcessId, location: LocationId) {
        self.sts.processes[process.index()].initial = location;
    }

    pub fn location(&mut self, location: Location) -> LocationId {
        self.sts.locations.push(location);
        LocationId::from_index(self.sts.locations.len() - 1)
    }

    /// A nameless shorthand for [`StsBuilder::location`].
    pub fn named_location(&mut self, process: ProcessId, name: &str) -> LocationId {
        self.location(Location {
            name: name.to_owned(),
            process,
            timeout: None,
            place: Place::default(),
        })
    }

    /// `process` takes part in the hand-shake on `label`.
    pub fn participant(&mut self, label: LabelId, process: ProcessId) {
        self.declared.push((label, process));
    }

    pub fn switch(
        &mut self,
        source: LocationId,
        gate: Gate,
        guard: Expr,
        update: Vec<Assignment>,
        target: LocationId,
        place: Place,
    ) -> SwitchId {
        let demands = update.iter().filter_map(|a| self.demand(a));
        let requires: Vec<Demand> = demands.collect();
        let conditions = requires.iter().map(|demand| demand.condition.clone());
        let enabled = Expr::all(std::iter::once(guard.clone()).chain(conditions).collect());
        self.sts.switches.push(Switch {
            source,
            gate,
            guard,
            requires,
            enabled,
            update,
            target,
            note: None,
            place,
        });
        SwitchId::from_index(self.sts.switches.len() - 1)
    }

    /// Adds a requirement; of one that is known already, the switches and, if it has none, the text.
    pub fn requirement(&mut self, requirement: Requirement) {
        let mut known = self.sts.requirements.iter_mut();
        let Some(known) = known.find(|r| r.id == requirement.id) else {
            self.sts.requirements.push(requirement);
            return;
        };
        known.switches.extend(requirement.switches);
        if known.text.is_empty() {
            known.text = requirement.text;
        }
    }

    pub fn note(&mut self, switch: SwitchId, text: &str) {
        self.sts.switches[switch.index()].note = Some(text.to_owned());
    }

    /// What an assignment demands at once: the value exists and is in range.
    fn demand(&self, assignment: &Assignment) -> Option<Demand> {
        let Assignment { variable, value } = assignment;
        let range = self.sts.variables[variable.index()].ty.int_range();
        let (demanded, condition) = match (value, range) {
            (Expr::Const(Value::Int(v)), Some(range)) if !range.contains(*v) => {
                (Demanded::InRange(range), Expr::FALSE)
            }
            (Expr::Const(_), _) => return None,
            // A copy exists always; it fits where the types are as wide as each other.
            (Expr::Var(v), _) if self.sts.variables[v.index()].ty.int_range() == range => {
                return None;
            }
            (Expr::Param(_), None) => return None,
            (Expr::Param(_), Some(range)) if range.is_full() => return None,
            (_, Some(range)) => {
                let bounds = [value.clone(), Expr::int(range.min), Expr::int(range.max)];
                let fits = Expr::InRange(Box::new(bounds));
                let condition = match may_be_void(value) {
                    // Assigning `:void` is allowed.
                    true => fits::or_void(value, fits),
                    false => fits,
                };
                match range.is_full() {
                    true => (Demanded::Exists, condition),
                    false => (Demanded::InRange(range), condition),
                }
            }
            // Equal to itself: true exactly where the value exists.
            (_, None) => {
                let condition = Expr::binary(BinaryOp::Eq, value.clone(), value.clone());
                (Demanded::Exists, condition)
            }
        };
        Some(Demand {
            subject: Subject::Variable(*variable),
            demanded,
            condition,
        })
    }

    pub fn build(self) -> Sts {
        let StsBuilder { mut sts, declared } = self;
        sts.outgoing = vec![Vec::new(); sts.locations.len()];
        sts.participants = vec![Vec::new(); sts.labels.len()];
        let mut takes_part = declared;
        for (index, switch) in sts.switches.iter().enumerate() {
            sts.outgoing[switch.source.index()].push(SwitchId::from_index(index));
            if let Gate::Send(label) | Gate::Receive(label) = switch.gate {
                takes_part.push((label, sts.locations[switch.source.index()].process));
            }
        }
        for (label, process) in takes_part {
            sts.participants[label.index()].push(process);
        }
        for requirement in &mut sts.requirements {
            requirement.switches.sort_unstable();
            requirement.switches.dedup();
        }
        for processes in &mut sts.participants {
            processes.sort_unstable();
            processes.dedup();
        }
        sts.constants = constants(&sts.switches);
        let (demands, functions) = fits::demands(&sts);
        sts.functions.extend(functions);
        for (switch, demands) in sts.switches.iter_mut().zip(demands) {
            let conditions = demands.iter().map(|demand| demand.condition.clone());
            let all = Expr::all(conditions.collect());
            switch.enabled = Expr::and(switch.enabled.clone(), all);
            switch.requires.extend(demands);
        }
        sts
    }
}

/// Whether the value of an expression can be `:void`; every other operation has an error instead.
fn may_be_void(expr: &Expr) -> bool {
    match expr {
        Expr::Const(value) => value.is_void(),
        Expr::Var(_)
        | Expr::Param(_)
        | Expr::Local(_)
        | Expr::Field(..)
        | Expr::Call(..)
        | Expr::Unary(UnaryOp::Last, _)
        | Expr::Binary(BinaryOp::Index, _) => true,
        Expr::If(all) => may_be_void(&all[1]) || may_be_void(&all[2]),
        _ => false,
    }
}

fn constants(switches: &[Switch]) -> Vec<Value> {
    let mut found = Vec::new();
    let mut note = |expr: &Expr| {
        if let Expr::Const(value @ (Value::Int(_) | Value::Decimal(_) | Value::Str(_))) = expr {
            found.push(value.clone());
        }
    };
    for switch in switches {
        switch.guard.walk(&mut note);
        for assignment in &switch.update {
            assignment.value.walk(&mut note);
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}
