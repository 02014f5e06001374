//! Removing data: a plain system with one location per reachable state and one label per label and
//! values, such as `lock(1234)`.
//!
//! The values come from finite types, or from guards that leave only finitely many: equations,
//! memberships and bounds. What is left open in neither way cannot be flattened, and is named.
//!
//! A stimulus is given as a tester gives it: its parameters are set unless only `:void` will do. One
//! that neither guard nor update mentions has all values of a small type; of another type it is left
//! out, because its value does not matter. A stimulus that is given in some state leads on
//! from every state that accepts it, so that sets of states have the same successors as before.

mod alike;

use std::fmt;
use std::sync::Arc;

use ioco_budget::{Exhausted, Interrupt};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::action::Action;
use crate::eval::{Env, EvalError};
use crate::expr::Expr;
use crate::ids::{LabelId, LocationId, SwitchId, VarId};
use crate::label::{Direction, Label};
use crate::listing::{self, Unlisted};
use crate::semantics::{EvaluationOnly, LeftOut, Relation, Semantics};
use crate::state::State;
use crate::sts::{Gate, Location, Sts, StsBuilder, Switch};
use crate::types::Type;
use crate::value::Value;

pub use alike::flatten_alike;

/// Why a system cannot be flattened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FlattenError {
    /// Neither type nor guard leaves few enough values.
    UnboundedParameter {
        label: String,
        parameter: String,
        switch: SwitchId,
    },
    /// More states than the limit; the variable is the one with the most values.
    TooManyStates {
        limit: usize,
        variable: Option<String>,
    },
    /// Evaluating this switch reached a limit.
    Exhausted {
        switch: SwitchId,
        exhausted: Exhausted,
    },
    /// More switches than the limit on states can reasonably have; the label is the one with the
    /// most values.
    TooManySwitches { limit: usize, label: String },
    /// Listing so few states must not take for ever: this switch was the last to be tried.
    TooMuchWork { limit: usize, switch: SwitchId },
    /// A stop is requested.
    Interrupted,
}

impl fmt::Display for FlattenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FlattenError::UnboundedParameter {
                label, parameter, ..
            } => write!(
                f,
                "the parameter '{parameter}' of {label} has too many values to list; give it a \
                 bounded type, or a guard that leaves few values"
            ),
            FlattenError::TooManyStates { limit, variable } => {
                write!(f, "there are more than {limit} states")?;
                if let Some(variable) = variable {
                    write!(
                        f,
                        "; the variable '{variable}' takes the most values, bound it"
                    )?;
                }
                Ok(())
            }
            FlattenError::Exhausted { exhausted, .. } => {
                write!(f, "a switch cannot be evaluated: {exhausted}")
            }
            FlattenError::TooManySwitches { limit, label } => write!(
                f,
                "there are more than {limit} switches; {label} takes the most values, bound them"
            ),
            FlattenError::TooMuchWork { limit, .. } => write!(
                f,
                "trying all values takes more work than {limit} states are worth; bound the values of \
                 the parameters, or allow more states"
            ),
            FlattenError::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for FlattenError {}

/// Values of a parameter that nothing mentions and that is listed all the same.
const MAX_UNMENTIONED: i64 = 256;

/// Values of one label in one state, at least.
const MAX_VALUES: usize = 65_536;

/// Steps of evaluation for each state of the limit: what bounds the states bounds the time.
const STEPS_PER_STATE: u64 = 5_000;

/// Steps of evaluation however few states are allowed.
const LEAST_STEPS: u64 = 1 << 22;

/// What trying one action in one state counts for.
const STEPS_PER_TRY: u64 = 10;

/// Switches allowed per state of the limit.
const SWITCHES_PER_STATE: usize = 64;

/// Enumerates the reachable states, at most `limit` of them. The result is one process; internal
/// steps and hand-shakes become τ.
pub fn flatten(sts: &Sts, limit: usize) -> Result<Sts, FlattenError> {
    Ok(Explorer::explored(sts, limit, &[], &Interrupt::default())?.build())
}

/// A step between two states of [`Explored`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExploredStep {
    pub source: usize,
    /// `None` is an internal step.
    pub action: Option<Action>,
    /// The sender's, of a hand-shake.
    pub switch: SwitchId,
    pub target: usize,
}

/// Every reachable state of a system, the initial one first, and the steps between them.
#[derive(Clone, Debug)]
pub struct Explored {
    pub states: Vec<State>,
    pub steps: Vec<ExploredStep>,
}

/// Enumerates the reachable states, at most `limit` of them, until a stop is requested.
pub fn explore(sts: &Sts, limit: usize, interrupt: &Interrupt) -> Result<Explored, FlattenError> {
    let explorer = Explorer::explored(sts, limit, &[], interrupt)?;
    let actions = explorer.actions;
    let steps = explorer.edges.into_iter().map(|edge| ExploredStep {
        source: edge.source,
        action: edge.action.map(|number| actions[number].clone()),
        switch: edge.switch,
        target: edge.target,
    });
    Ok(Explored {
        steps: steps.collect(),
        states: explorer.states,
    })
}

/// `lock(1234)`; the bare name where every parameter is unset.
fn flat_name(sts: &Sts, label: &Label, values: &[Value]) -> String {
    if values.iter().all(Value::is_void) {
        return label.name.clone();
    }
    let shown: Vec<String> = values
        .iter()
        .map(|value| value.display(sts.types()).to_string())
        .collect();
    format!("{}({})", label.name, shown.join(", "))
}

struct Edge {
    source: usize,
    /// `None` is a τ.
    action: Option<usize>,
    switch: SwitchId,
    target: usize,
}

struct Explorer<'a> {
    sts: &'a Sts,
    semantics: Semantics,
    limit: usize,
    interrupt: Interrupt,
    /// Left for everything.
    steps: u64,
    states: Vec<State>,
    numbers: FxHashMap<State, usize>,
    actions: Vec<Action>,
    action_numbers: FxHashMap<Action, usize>,
    /// Per label, its actions in the order in which they were found.
    by_label: Vec<Vec<usize>>,
    /// Per state and observable switch of it, how many actions of its label have been tried.
    tried: FxHashMap<(usize, SwitchId), usize>,
    edges: Vec<Edge>,
    known_edges: FxHashSet<(usize, Option<usize>, usize)>,
}

impl<'a> Explorer<'a> {
    /// Everything that is reachable, where `given` are tried besides what the system itself asks
    /// for.
    fn explored(
        sts: &'a Sts,
        limit: usize,
        given: &[Action],
        interrupt: &Interrupt,
    ) -> Result<Explorer<'a>, FlattenError> {
        let mut explorer = Explorer::new(sts, limit, interrupt);
        for action in given {
            explorer.add_action(action.clone());
        }
        explorer.explore()?;
        Ok(explorer)
    }

    fn new(sts: &'a Sts, limit: usize, interrupt: &Interrupt) -> Explorer<'a> {
        Explorer {
            sts,
            semantics: Semantics::new(
                Arc::new(sts.clone()),
                Box::new(EvaluationOnly),
                Relation::Ioco,
            ),
            limit,
            interrupt: interrupt.clone(),
            steps: (limit as u64)
                .saturating_mul(STEPS_PER_STATE)
                .max(LEAST_STEPS),
            states: Vec::new(),
            numbers: FxHashMap::default(),
            actions: Vec::new(),
            action_numbers: FxHashMap::default(),
            by_label: vec![Vec::new(); sts.labels().len()],
            tried: FxHashMap::default(),
            edges: Vec::new(),
            known_edges: FxHashSet::default(),
        }
    }

    fn explore(&mut self) -> Result<(), FlattenError> {
        self.state(self.sts.initial_state())?;
        let mut next = 0;
        loop {
            while next < self.states.len() {
                self.go_on()?;
                self.internal_steps(next)?;
                self.find_actions(next)?;
                next += 1;
            }
            // An action found in one state may also be accepted by states visited before it.
            for number in 0..self.states.len() {
                self.go_on()?;
                self.try_actions(number)?;
            }
            if next == self.states.len() {
                return Ok(());
            }
        }
    }

    fn go_on(&self) -> Result<(), FlattenError> {
        match self.interrupt.is_raised() {
            true => Err(FlattenError::Interrupted),
            false => Ok(()),
        }
    }

    fn state(&mut self, state: State) -> Result<usize, FlattenError> {
        if let Some(number) = self.numbers.get(&state) {
            return Ok(*number);
        }
        if self.states.len() >= self.limit {
            return Err(FlattenError::TooManyStates {
                limit: self.limit,
                variable: self.widest_variable(),
            });
        }
        self.states.push(state.clone());
        self.numbers.insert(state, self.states.len() - 1);
        Ok(self.states.len() - 1)
    }

    /// The variable that takes the most values in the states found so far.
    fn widest_variable(&self) -> Option<String> {
        let width = |index: usize| {
            let values: FxHashSet<&Value> =
                self.states.iter().map(|s| &s.valuation[index]).collect();
            values.len()
        };
        (0..self.sts.variables().len())
            .max_by_key(|index| width(*index))
            .map(|index| self.sts.variable(VarId::from_index(index)).name.clone())
    }

    /// The label with the most values found so far.
    fn widest_label(&self) -> String {
        (0..self.by_label.len())
            .max_by_key(|index| self.by_label[*index].len())
            .map(|index| self.sts.label(LabelId::from_index(index)).marked_name())
            .unwrap_or_default()
    }

    fn edge(&mut self, edge: Edge) -> Result<(), FlattenError> {
        let limit = self.limit.saturating_mul(SWITCHES_PER_STATE);
        if self
            .known_edges
            .insert((edge.source, edge.action, edge.target))
        {
            self.edges.push(edge);
        }
        if self.edges.len() > limit {
            let label = self.widest_label();
            return Err(FlattenError::TooManySwitches { limit, label });
        }
        Ok(())
    }

    fn internal_steps(&mut self, source: usize) -> Result<(), FlattenError> {
        let state = self.states[source].clone();
        self.semantics.begin();
        let internal = self.semantics.internal_steps(&state);
        match internal.left_out {
            None => {}
            Some(LeftOut::Exhausted(switch, exhausted)) => {
                return Err(FlattenError::Exhausted { switch, exhausted });
            }
            Some(LeftOut::OpenHandshake(switch)) => {
                let label = self.sts.switch(switch).gate.label();
                let label = label.map(|label| self.sts.label(label));
                let names = label.map_or(&[][..], |l| &l.parameters);
                let names: Vec<&str> = names.iter().map(|p| p.name.as_str()).collect();
                return Err(FlattenError::UnboundedParameter {
                    label: label.map_or_else(String::new, Label::marked_name),
                    parameter: names.join("', '"),
                    switch,
                });
            }
        }
        let steps = internal.steps;
        for (switch, next) in steps {
            // The sender's step stands for the whole hand-shake.
            if matches!(self.sts.switch(switch).gate, Gate::Receive(_)) {
                continue;
            }
            let target = self.state(next)?;
            self.edge(Edge {
                source,
                action: None,
                switch,
                target,
            })?;
        }
        Ok(())
    }

    fn observable(&self, number: usize) -> Vec<(SwitchId, LabelId)> {
        let mut found = Vec::new();
        for location in &self.states[number].locations {
            for &id in self.sts.outgoing(*location) {
                if let Gate::Observable(label) = self.sts.switch(id).gate {
                    found.push((id, label));
                }
            }
        }
        found
    }

    /// Adds the actions that a tester may give, or the system may send, in a state.
    fn find_actions(&mut self, number: usize) -> Result<(), FlattenError> {
        for (id, label) in self.observable(number) {
            let declared = self.sts.label(label);
            let switch = self.sts.switch(id);
            let valuation = &self.states[number].valuation;
            let mut open: Vec<usize> = (0..declared.parameters.len()).collect();
            if declared.direction == Direction::Stimulus {
                open.retain(|position| is_given(declared, switch, *position));
            }
            let most = MAX_VALUES.max(self.limit);
            let guard = &switch.enabled;
            let steps = &mut self.steps;
            let wanted = listing::values(self.sts, label, guard, &open, valuation, most, steps);
            if self.steps == 0 {
                let (limit, switch) = (self.limit, id);
                return Err(FlattenError::TooMuchWork { limit, switch });
            }
            let wanted = wanted.map_err(|unlisted| match unlisted {
                Unlisted::Open(position) => FlattenError::UnboundedParameter {
                    label: declared.marked_name(),
                    parameter: declared.parameters[position].name.clone(),
                    switch: id,
                },
                Unlisted::Exhausted(exhausted) => FlattenError::Exhausted {
                    switch: id,
                    exhausted,
                },
            })?;
            for values in as_given(declared, wanted) {
                self.add_action(Action { label, values });
            }
        }
        Ok(())
    }

    fn add_action(&mut self, action: Action) {
        if !self.action_numbers.contains_key(&action) {
            let number = self.actions.len();
            self.by_label[action.label.index()].push(number);
            self.action_numbers.insert(action.clone(), number);
            self.actions.push(action);
        }
    }

    /// Follows every action known by now that this state accepts and has not tried before.
    fn try_actions(&mut self, source: usize) -> Result<(), FlattenError> {
        for (switch, label) in self.observable(source) {
            let tried = self.tried.entry((source, switch)).or_insert(0);
            let actions = &self.by_label[label.index()];
            let fresh: Vec<usize> = actions[*tried..].to_vec();
            *tried = actions.len();
            for action in fresh {
                self.steps = self.steps.saturating_sub(STEPS_PER_TRY);
                if self.steps == 0 {
                    let limit = self.limit;
                    return Err(FlattenError::TooMuchWork { limit, switch });
                }
                let values = &self.actions[action].values;
                let next = take(self.sts, switch, &self.states[source], values);
                let next =
                    next.map_err(|exhausted| FlattenError::Exhausted { switch, exhausted })?;
                if let Some(next) = next {
                    let target = self.state(next)?;
                    self.edge(Edge {
                        source,
                        action: Some(action),
                        switch,
                        target,
                    })?;
                }
            }
        }
        Ok(())
    }

    fn build(mut self) -> Sts {
        let sts = self.sts;
        let mut builder = StsBuilder::new(sts.name());
        for file in sts.files() {
            builder.file(file);
        }
        builder.timeout(sts.timeout());
        // Labels in the order of the original, their values in ascending order.
        let mut order: Vec<usize> = (0..self.actions.len()).collect();
        order.sort_unstable_by(|a, b| self.actions[*a].cmp(&self.actions[*b]));
        let mut labels = vec![LabelId(0); self.actions.len()];
        for number in order {
            let action = &self.actions[number];
            let label = sts.label(action.label);
            labels[number] = builder.label(Label {
                name: flat_name(sts, label, &action.values),
                parameters: Vec::new(),
                ..label.clone()
            });
        }
        let names: Vec<&str> = sts.processes().iter().map(|p| p.name.as_str()).collect();
        let process = builder.process(&names.join(" | "));
        for state in &self.states {
            let locations = || state.locations.iter().map(|l| sts.location(*l));
            builder.location(Location {
                name: state.show(sts),
                process,
                timeout: Some(sts.timeout_at(&state.locations)).filter(|t| *t != sts.timeout()),
                place: locations().next().map(|l| l.place).unwrap_or_default(),
            });
        }
        self.edges
            .sort_by_key(|edge| (edge.source, edge.switch, edge.action, edge.target));
        for edge in &self.edges {
            let original = sts.switch(edge.switch);
            let id = builder.switch(
                LocationId::from_index(edge.source),
                match edge.action {
                    None => Gate::Tau,
                    Some(action) => Gate::Observable(labels[action]),
                },
                Expr::TRUE,
                Vec::new(),
                LocationId::from_index(edge.target),
                original.place,
            );
            if let Some(note) = &original.note {
                builder.note(id, note);
            }
        }
        builder.build()
    }
}

/// Whether this parameter of a stimulus is listed.
fn is_given(label: &Label, switch: &Switch, position: usize) -> bool {
    let mentions = |expr: &Expr| expr.params().contains(&(position as u32));
    let updates = switch.update.iter().map(|assignment| &assignment.value);
    if mentions(&switch.guard) || updates.into_iter().any(mentions) {
        return true;
    }
    match &label.parameters[position].ty {
        Type::Bool | Type::Enum(_) => true,
        Type::Int(range) => range
            .max
            .checked_sub(range.min)
            .is_some_and(|n| n < MAX_UNMENTIONED),
        _ => false,
    }
}

/// Of the values that a switch allows, the ones that are given: see the head of this file.
fn as_given(label: &Label, mut allowed: Vec<Vec<Value>>) -> Vec<Vec<Value>> {
    if label.direction == Direction::Response {
        return allowed;
    }
    for position in 0..label.parameters.len() {
        if allowed.iter().any(|values| !values[position].is_void()) {
            allowed.retain(|values| !values[position].is_void());
        }
    }
    allowed
}

/// The state after an observable switch, or `None` where it is not enabled.
fn take(
    sts: &Sts,
    id: SwitchId,
    state: &State,
    values: &[Value],
) -> Result<Option<State>, Exhausted> {
    let switch = sts.switch(id);
    let env = Env {
        variables: &state.valuation,
        parameters: values,
        functions: sts.functions(),
    };
    let mut next = state.clone();
    match switch.enabled.holds_within(env, sts.budget()).0 {
        Ok(true) => {}
        Err(EvalError::Exhausted(exhausted)) => return Err(exhausted),
        Ok(false) | Err(_) => return Ok(None),
    }
    for assignment in &switch.update {
        match assignment.value.eval_within(env, sts.budget()).0 {
            Ok(value) => next.valuation[assignment.variable.index()] = value,
            Err(EvalError::Exhausted(exhausted)) => return Err(exhausted),
            Err(_) => return Ok(None),
        }
    }
    let process = sts.location(switch.source).process;
    next.locations[process.index()] = switch.target;
    Ok(Some(next))
}
