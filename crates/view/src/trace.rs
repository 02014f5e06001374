//! A trace followed through the model once more: for every step the states that the model may be
//! in, what changed, what was allowed, and what crossed the wire.

use std::sync::Arc;

use ioco_engine::{SavedDeviation, SavedStep, Sender, WireLine, allowed_in};
use ioco_sts::{Gate, Semantics, SetId, StateSet, Step, Sts, SwitchId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::model::place;

/// More states of a set than this are counted, not listed.
const MAX_STATES: usize = 16;
/// More different values of one variable than this are not listed.
const MAX_VALUES: usize = 4;
/// As many stimuli may have been on their way when a response came.
const MAX_CROSSED: usize = 8;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct TraceView {
    /// Stimuli and responses, a deviating response included; silence does not count.
    pub length: usize,
    pub steps: Vec<StepView>,
    /// Where the time of the test went; `None` where the times of its steps are not known.
    #[serde(default)]
    pub time: Option<TimeSpent>,
}

/// Nanoseconds of a test, by what they ended with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct TimeSpent {
    /// Waiting for responses that came.
    pub responses: u64,
    /// Waiting for silence.
    pub silences: u64,
    /// Before stimuli: ioco chose them, looked whether something comes, or slowed down.
    pub stimuli: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum StepKind {
    Stimulus,
    Response,
    Silence,
    /// What the model does not allow.
    Deviation,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct StepView {
    /// Counted from one.
    pub number: usize,
    pub kind: StepKind,
    /// `?open(code=17)`, `silence`.
    pub text: String,
    /// Without values: `?open`.
    pub label: String,
    #[cfg_attr(feature = "schema", ts(type = "Values"))]
    pub values: Map<String, Json>,
    /// Nanoseconds since the system was ready.
    pub at: Option<u64>,
    /// Nanoseconds since the step before it.
    #[serde(default)]
    pub took: Option<u64>,
    /// After the step; for a deviation those in which it was not allowed.
    pub states: Vec<StateView>,
    pub more_states: usize,
    pub changes: Vec<Change>,
    /// What the system was allowed to do before this step.
    pub allowed: Vec<String>,
    /// The switches that can explain the step, internal ones included.
    pub switches: Vec<u32>,
    pub file: Option<String>,
    pub line: Option<u32>,
    pub wire: Vec<WireView>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct StateView {
    pub locations: Vec<u32>,
    pub text: String,
}

/// A variable whose value is another one after the step. Where the model may be in several states,
/// all its values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Change {
    pub variable: String,
    pub from: String,
    pub to: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct WireView {
    /// `tester`, `system` or `log`.
    #[cfg_attr(feature = "schema", ts(type = "\"tester\" | \"system\" | \"log\""))]
    pub from: String,
    pub text: String,
    pub at: u64,
}

impl StateView {
    /// The states of a set that are listed, and how many are not.
    pub fn list(set: &StateSet, sts: &Sts) -> (Vec<StateView>, usize) {
        let listed = set.states.iter().take(MAX_STATES).map(|state| StateView {
            locations: state.locations.iter().map(|l| l.0).collect(),
            text: state.title(sts),
        });
        (
            listed.collect(),
            set.states.len().saturating_sub(MAX_STATES),
        )
    }
}

/// Follows one trace step by step and keeps what there is to see.
pub struct Tracer<'a> {
    semantics: &'a mut Semantics,
    sts: Arc<Sts>,
    /// The set before each step and after the last; `None` from where the model does not follow.
    sets: Vec<Option<SetId>>,
    /// `None`: a step that the model does not know.
    trace: Vec<Option<Step>>,
    steps: Vec<StepView>,
}

impl<'a> Tracer<'a> {
    pub fn new(semantics: &'a mut Semantics) -> Tracer<'a> {
        let sts = Arc::clone(semantics.sts());
        let initial = semantics.initial();
        Tracer {
            semantics,
            sts,
            sets: vec![Some(initial)],
            trace: Vec::new(),
            steps: Vec::new(),
        }
    }

    /// Where the model may be now; `None` where it could not follow.
    pub fn set(&self) -> Option<SetId> {
        self.sets.last().copied().flatten()
    }

    pub fn semantics(&mut self) -> &mut Semantics {
        self.semantics
    }

    /// Follows one step that the model allowed when it was recorded.
    pub fn step(&mut self, step: &Step, at: Option<u64>) {
        self.follow(&SavedStep::new(step, &self.sts), Some(step.clone()), at);
    }

    /// As [`Tracer::step`], for a step that the model may not know any more.
    pub fn saved(&mut self, saved: &SavedStep, at: Option<u64>) {
        self.follow(saved, saved.restore(&self.sts).ok(), at);
    }

    fn follow(&mut self, saved: &SavedStep, step: Option<Step>, at: Option<u64>) {
        let followed = step.as_ref().and_then(|step| {
            match self.set().and_then(|set| self.semantics.follow(set, step)) {
                Some(followed) => Some((followed.set, followed.taken.to_vec())),
                None => self.crossed(step),
            }
        });
        let after = followed.as_ref().map(|(set, _)| *set);
        let taken = followed.map(|(_, taken)| taken).unwrap_or_default();
        self.push(
            Seen::new(saved, step.as_ref(), &self.sts, at),
            after,
            &taken,
        );
        self.trace.push(step);
        self.sets.push(after);
    }

    /// The observation that the model does not allow, after all steps.
    pub fn deviation(&mut self, deviation: &SavedDeviation, at: Option<u64>) {
        let here = self.set();
        let seen = Seen {
            kind: StepKind::Deviation,
            text: deviation.observed.clone(),
            label: deviation.label.clone(),
            values: deviation.values.clone(),
            at,
        };
        self.push(seen, here, &[]);
        // Nothing changes by what is not allowed. Where the model could not follow, the states
        // that were saved still tell where it was.
        if let (None, Some(last)) = (here, self.steps.last_mut()) {
            last.states = saved_states(deviation, &self.sts);
        }
        if let Some(last) = self.steps.last_mut() {
            last.changes.clear();
        }
    }

    /// Hands out the view, with what crossed the wire put beside its steps.
    pub fn finish(self, wire: &[WireLine]) -> TraceView {
        let mut steps = self.steps;
        place_wire(&mut steps, wire);
        let time = spend(&mut steps);
        let silent = |step: &StepView| {
            step.kind == StepKind::Silence
                || step.kind == StepKind::Deviation && ["silence", "end"].contains(&&*step.label)
        };
        TraceView {
            length: steps.iter().filter(|step| !silent(step)).count(),
            steps,
            time,
        }
    }

    /// A response may have been sent before the last stimuli reached the system, and be recorded
    /// after them.
    fn crossed(&mut self, step: &Step) -> Option<(SetId, Vec<SwitchId>)> {
        if matches!(step, Step::Stimulus(_)) {
            return None;
        }
        let end = self.trace.len();
        for back in 1..=MAX_CROSSED.min(end) {
            let stimuli = &self.trace[end - back..];
            if !matches!(stimuli[0], Some(Step::Stimulus(_))) {
                return None;
            }
            let before = self.sets[end - back]?;
            let Some(first) = self.semantics.follow(before, step) else {
                continue;
            };
            let mut taken = first.taken.to_vec();
            let mut set = Some(first.set);
            for stimulus in stimuli.iter().flatten() {
                let next = set.and_then(|set| self.semantics.follow(set, stimulus));
                taken.extend(next.iter().flat_map(|next| next.taken.iter().copied()));
                set = next.map(|next| next.set);
            }
            if let Some(set) = set {
                return Some((set, taken));
            }
        }
        None
    }

    fn push(&mut self, seen: Seen, after: Option<SetId>, taken: &[SwitchId]) {
        let before = self.set();
        let allowed = before.map_or_else(Vec::new, |set| allowed_in(self.semantics, set));
        let set_of = |id: Option<SetId>| id.map(|id| Arc::clone(self.semantics.set(id)));
        let (old, new) = (set_of(before), set_of(after));
        let (states, more_states) = new
            .as_ref()
            .map_or_else(Default::default, |set| StateView::list(set, &self.sts));
        let changes = match (&old, &new) {
            (Some(old), Some(new)) => changes(&self.sts, old, new),
            _ => Vec::new(),
        };
        let (file, line) = self.place_of(taken);
        let Seen {
            kind,
            text,
            label,
            values,
            at,
        } = seen;
        self.steps.push(StepView {
            number: self.steps.len() + 1,
            kind,
            text,
            label,
            values,
            at,
            took: None,
            states,
            more_states,
            changes,
            allowed,
            switches: taken.iter().map(|id| id.0).collect(),
            file,
            line,
            wire: Vec::new(),
        });
    }

    /// The place of the switch that a person would point at: an observable one with text.
    fn place_of(&self, taken: &[SwitchId]) -> (Option<String>, Option<u32>) {
        let mut observable = taken
            .iter()
            .map(|id| self.sts.switch(*id))
            .filter(|switch| matches!(switch.gate, Gate::Observable(_)));
        observable
            .find(|switch| switch.place.line > 0)
            .map_or((None, None), |switch| place(&self.sts, switch.place))
    }
}

/// What a step shows before the model has its say.
struct Seen {
    kind: StepKind,
    text: String,
    label: String,
    values: Map<String, Json>,
    at: Option<u64>,
}

impl Seen {
    fn new(saved: &SavedStep, step: Option<&Step>, sts: &Sts, at: Option<u64>) -> Seen {
        let (kind, label, values) = match saved {
            SavedStep::Stimulus { stimulus, values } => {
                (StepKind::Stimulus, format!("?{stimulus}"), values.clone())
            }
            SavedStep::Response { response, values } => {
                (StepKind::Response, format!("!{response}"), values.clone())
            }
            SavedStep::Silence { .. } => (StepKind::Silence, "silence".to_owned(), Map::new()),
        };
        let text = match step.and_then(Step::action) {
            Some(action) => action.show(sts),
            None if values.is_empty() => label.clone(),
            None => {
                let shown: Vec<String> = values.iter().map(|(n, v)| format!("{n}={v}")).collect();
                format!("{label}({})", shown.join(", "))
            }
        };
        Seen {
            kind,
            text,
            label,
            values,
            at,
        }
    }
}

fn changes(sts: &Sts, old: &StateSet, new: &StateSet) -> Vec<Change> {
    let values = |set: &StateSet, variable: usize| -> String {
        let mut all: Vec<String> = Vec::new();
        for state in &set.states {
            let shown = state.valuation[variable].display(sts.types()).to_string();
            if !all.contains(&shown) {
                all.push(shown);
            }
        }
        if all.len() > MAX_VALUES {
            all.truncate(MAX_VALUES);
            all.push("…".to_owned());
        }
        all.join(" or ")
    };
    let mut found = Vec::new();
    for (index, variable) in sts.variables().iter().enumerate() {
        let (from, to) = (values(old, index), values(new, index));
        if from != to {
            found.push(Change {
                variable: variable.name.clone(),
                from,
                to,
            });
        }
    }
    found
}

/// States that are known by their text alone; their locations by name, where those are unique.
fn saved_states(deviation: &SavedDeviation, sts: &Sts) -> Vec<StateView> {
    let of_text = |text: &str| -> Vec<u32> {
        let names = text.split(" {").next().unwrap_or_default();
        let ids = names
            .split(" | ")
            .filter_map(|name| sts.location_named(name));
        ids.map(|id| id.0).collect()
    };
    // Files keep the names of the model text.
    let titled = |text: &str| {
        let (names, rest) = text.split_at(text.find(" {").unwrap_or(text.len()));
        let titles = names.split(" | ").map(|name| {
            let location = sts.location_named(name);
            location.map_or(name, |id| sts.location_title(id))
        });
        format!("{}{rest}", titles.collect::<Vec<_>>().join(" | "))
    };
    deviation
        .states
        .iter()
        .map(|text| StateView {
            locations: of_text(text),
            text: titled(text),
        })
        .collect()
}

/// Says how long every step took, and where the time of all of them went. Steps that changed places have taken none.
fn spend(steps: &mut [StepView]) -> Option<TimeSpent> {
    if steps.is_empty() || steps.iter().any(|step| step.at.is_none()) {
        return None;
    }
    let mut spent = TimeSpent::default();
    let mut last = 0;
    for step in steps {
        let at = step.at.unwrap_or(last);
        let took = at.saturating_sub(last);
        step.took = Some(took);
        last = last.max(at);
        let silent = ["silence", "end"].contains(&&*step.label);
        *match step.kind {
            StepKind::Stimulus => &mut spent.stimuli,
            StepKind::Silence => &mut spent.silences,
            StepKind::Deviation if silent => &mut spent.silences,
            StepKind::Response | StepKind::Deviation => &mut spent.responses,
        } += took;
    }
    Some(spent)
}

/// Puts every message beside the step that it belongs to: the one of its side at its time, else,
/// where stimulus and response changed places, the next of its side without a message.
fn place_wire(steps: &mut [StepView], wire: &[WireLine]) {
    let belongs = |step: &StepView, line: &WireLine| {
        (step.kind == StepKind::Stimulus) == (line.from == Sender::Tester)
    };
    let mut left: Vec<&WireLine> = Vec::new();
    for line in wire.iter().filter(|line| line.from != Sender::Log) {
        let at_its_time = steps
            .iter_mut()
            .find(|step| step.at == Some(line.at) && belongs(step, line) && step.wire.is_empty());
        match at_its_time {
            Some(step) => step.wire.push(wire_view(line)),
            None => left.push(line),
        }
    }
    for line in left {
        let free = steps.iter_mut().find(|step| {
            belongs(step, line) && step.kind != StepKind::Silence && step.wire.is_empty()
        });
        let place = match free {
            Some(step) => Some(step),
            None => steps
                .iter_mut()
                .rev()
                .find(|step| step.at.is_some_and(|at| at <= line.at)),
        };
        if let Some(step) = place {
            step.wire.push(wire_view(line));
        }
    }
    // A line of a log stands at the last step before it.
    for line in wire.iter().filter(|line| line.from == Sender::Log) {
        let place = steps
            .iter()
            .rposition(|step| step.at.is_some_and(|at| at <= line.at));
        if let Some(step) = steps.get_mut(place.unwrap_or(0)) {
            step.wire.push(wire_view(line));
        }
    }
}

fn wire_view(line: &WireLine) -> WireView {
    let text = match (&line.text, &line.hex) {
        (Some(text), _) => text.trim_end_matches(['\n', '\r']).to_owned(),
        (None, Some(hex)) => format!("hex {hex}"),
        (None, None) => String::new(),
    };
    WireView {
        from: match line.from {
            Sender::Tester => "tester",
            Sender::System => "system",
            Sender::Log => "log",
        }
        .to_owned(),
        text,
        at: line.at,
    }
}
