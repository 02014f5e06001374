//! What a model means, by brute force: sets of states, every value of every parameter tried.
//!
//! Only for models whose parameters and variables have small finite types. Nothing is remembered,
//! nothing is clever, and of the crate only the evaluation of single expressions is used, which has
//! its own tests.

use std::collections::BTreeSet;

use ioco_sts::{
    Action, Answer, Direction, Env, Expr, Feasibility, Gate, LabelId, ProcessId, Question, State,
    Step, Sts, Switch, SwitchId, Type, Value,
};

pub type States = BTreeSet<State>;

/// Every value of a type, `:void` first.
pub fn domain(sts: &Sts, ty: &Type) -> Vec<Value> {
    let mut values = vec![Value::Void];
    match ty {
        Type::Bool => values.extend([Value::Bool(false), Value::Bool(true)]),
        Type::Int(range) => {
            assert!(range.max - range.min < 100, "not a small type");
            values.extend((range.min..=range.max).map(Value::Int));
        }
        Type::Enum(id) => {
            let members = sts.types().enums[id.index()].members.len() as u32;
            values.extend((0..members).map(|member| Value::Enum(*id, member)));
        }
        _ => panic!("not a small type"),
    }
    values
}

/// Every combination of values for the parameters of a label.
pub fn combinations(sts: &Sts, label: LabelId) -> Vec<Vec<Value>> {
    let mut all = vec![Vec::new()];
    for parameter in &sts.label(label).parameters {
        let mut longer = Vec::new();
        for start in &all {
            for value in domain(sts, &parameter.ty) {
                let mut values: Vec<Value> = start.clone();
                values.push(value);
                longer.push(values);
            }
        }
        all = longer;
    }
    all
}

/// Every action of the given direction.
pub fn actions(sts: &Sts, direction: Direction) -> Vec<Action> {
    let mut all = Vec::new();
    for label in sts.labels_of(direction) {
        for values in combinations(sts, label) {
            all.push(Action { label, values });
        }
    }
    all
}

pub fn initial(sts: &Sts) -> States {
    let start = State {
        locations: sts.processes().iter().map(|p| p.initial).collect(),
        valuation: sts.variables().iter().map(|v| v.initial.clone()).collect(),
    };
    closure(sts, &States::from([start]))
}

fn guard_holds(sts: &Sts, guard: &Expr, state: &State, values: &[Value]) -> bool {
    let env = Env {
        variables: &state.valuation,
        parameters: values,
        functions: sts.functions(),
    };
    guard.holds(env) == Ok(true)
}

/// The new values of the variables that a switch assigns, where it can be taken: its guard holds,
/// every assigned value exists, and every one fits its variable.
fn effect(
    sts: &Sts,
    switch: &Switch,
    state: &State,
    values: &[Value],
) -> Option<Vec<(usize, Value)>> {
    if !guard_holds(sts, &switch.guard, state, values) {
        return None;
    }
    let env = Env {
        variables: &state.valuation,
        parameters: values,
        functions: sts.functions(),
    };
    let mut assigned = Vec::new();
    for assignment in &switch.update {
        let value = assignment.value.eval(env).ok()?;
        let ty = &sts.variable(assignment.variable).ty;
        if !sts.types().fits(&value, ty) {
            return None;
        }
        assigned.push((assignment.variable.index(), value));
    }
    Some(assigned)
}

/// The state after several switches of different processes at once.
fn together(sts: &Sts, group: &[SwitchId], state: &State, values: &[Value]) -> Option<State> {
    let mut next = state.clone();
    for id in group {
        let switch = sts.switch(*id);
        for (variable, value) in effect(sts, switch, state, values)? {
            next.valuation[variable] = value;
        }
        let process = sts.location(switch.source).process;
        next.locations[process.index()] = switch.target;
    }
    Some(next)
}

fn switches_at(sts: &Sts, state: &State, process: ProcessId) -> Vec<SwitchId> {
    let here = state.locations[process.index()];
    (0..sts.switches().len())
        .map(SwitchId::from_index)
        .filter(|id| sts.switch(*id).source == here)
        .collect()
}

fn processes(sts: &Sts) -> Vec<ProcessId> {
    (0..sts.processes().len())
        .map(ProcessId::from_index)
        .collect()
}

/// The states that one internal step leads to.
pub fn internal_successors(sts: &Sts, state: &State) -> States {
    let mut found = States::new();
    for process in processes(sts) {
        for id in switches_at(sts, state, process) {
            match sts.switch(id).gate {
                Gate::Tau => found.extend(together(sts, &[id], state, &[])),
                Gate::Send(label) => {
                    for group in handshake_groups(sts, state, id, process, label) {
                        found.extend(handshakes(sts, state, &group, label));
                    }
                }
                Gate::Observable(_) | Gate::Receive(_) => {}
            }
        }
    }
    found
}

/// The sender with one receiving switch of every other participant, in every way.
fn handshake_groups(
    sts: &Sts,
    state: &State,
    sender: SwitchId,
    own: ProcessId,
    label: LabelId,
) -> Vec<Vec<SwitchId>> {
    let mut groups = vec![vec![sender]];
    for &other in sts.participants(label) {
        if other == own {
            continue;
        }
        let mut longer = Vec::new();
        for group in &groups {
            for id in switches_at(sts, state, other) {
                if sts.switch(id).gate == Gate::Receive(label) {
                    let mut group = group.clone();
                    group.push(id);
                    longer.push(group);
                }
            }
        }
        groups = longer;
    }
    groups.retain(|group| group.len() > 1);
    groups
}

/// All results of a hand-shake. A parameter that no guard mentions is unset.
fn handshakes(sts: &Sts, state: &State, group: &[SwitchId], label: LabelId) -> States {
    let all_guards_hold = |values: &[Value]| {
        group
            .iter()
            .all(|id| guard_holds(sts, &sts.switch(*id).guard, state, values))
    };
    let mut allowed: Vec<Vec<Value>> = combinations(sts, label)
        .into_iter()
        .filter(|values| all_guards_hold(values))
        .collect();
    for position in 0..sts.label(label).parameters.len() {
        let mentioned = group
            .iter()
            .any(|id| sts.switch(*id).guard.params().contains(&(position as u32)));
        if !mentioned {
            allowed.retain(|values| values[position].is_void());
        }
    }
    allowed
        .iter()
        .filter_map(|values| together(sts, group, state, values))
        .collect()
}

pub fn closure(sts: &Sts, states: &States) -> States {
    let mut closed = states.clone();
    loop {
        let mut more = closed.clone();
        for state in &closed {
            more.extend(internal_successors(sts, state));
        }
        if more == closed {
            return closed;
        }
        closed = more;
    }
}

/// The states that an action leads to from one state, before any internal step.
fn action_successors(sts: &Sts, state: &State, action: &Action) -> States {
    let mut found = States::new();
    for process in processes(sts) {
        for id in switches_at(sts, state, process) {
            if sts.switch(id).gate == Gate::Observable(action.label) {
                found.extend(together(sts, &[id], state, &action.values));
            }
        }
    }
    found
}

pub fn is_stable(sts: &Sts, state: &State) -> bool {
    internal_successors(sts, state).is_empty()
}

pub fn is_quiescent(sts: &Sts, state: &State) -> bool {
    is_stable(sts, state)
        && actions(sts, Direction::Response)
            .iter()
            .all(|response| action_successors(sts, state, response).is_empty())
}

/// Whether internal steps lead from a state back to it.
pub fn is_on_internal_cycle(sts: &Sts, state: &State) -> bool {
    let successors = internal_successors(sts, state);
    closure(sts, &successors).contains(state)
}

pub fn after(sts: &Sts, states: &States, step: &Step) -> States {
    let mut reached = States::new();
    for state in states {
        match step {
            Step::Quiescence => {
                if is_quiescent(sts, state) || is_on_internal_cycle(sts, state) {
                    reached.insert(state.clone());
                }
            }
            Step::Stimulus(action) | Step::Response(action) => {
                reached.extend(action_successors(sts, state, action));
            }
        }
    }
    closure(sts, &reached)
}

/// Some state accepts the stimulus.
pub fn accepted_ioco(sts: &Sts, states: &States, stimulus: &Action) -> bool {
    states
        .iter()
        .any(|state| !action_successors(sts, state, stimulus).is_empty())
}

/// No stable state refuses the stimulus, and some state accepts it.
pub fn accepted_uioco(sts: &Sts, states: &States, stimulus: &Action) -> bool {
    accepted_ioco(sts, states, stimulus)
        && states.iter().all(|state| {
            !is_stable(sts, state) || !action_successors(sts, state, stimulus).is_empty()
        })
}

/// Answers every question by trying all values.
pub struct ByEnumeration;

impl Feasibility for ByEnumeration {
    fn feasible(&mut self, question: Question<'_>) -> Answer {
        let sts = question.sts;
        let feasible = combinations(sts, question.label).iter().any(|values| {
            let env = Env {
                variables: question.valuation,
                parameters: values,
                functions: sts.functions(),
            };
            question.guard.holds(env) == Ok(true)
        });
        if feasible { Answer::Yes } else { Answer::No }
    }
}
