//! States, internal steps, quiescence and what a trace leads to, as in Tretmans 2008 (Definitions
//! 2, 8 and 9) over the states of a symbolic transition system (Frantzen et al. 2005, Definition 4).

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ioco_sts::{
    Action, Direction, Expr, Gate, LabelId, LocationId, ProcessId, Relation, Sts, SwitchId, Type,
};

use super::eval::{Environment, Nothing};
use super::pool::{Anchors, candidates};
use super::value::{Val, weight};

/// More combinations of values than this are not tried: the reference is then unsure.
const MAX_COMBINATIONS: usize = 15_000;

/// Work in one check: tries of switches, states that are looked up, values in pools. What is large counts
/// by its size. Beyond it the reference looks no further, and is unsure of everything.
const MAX_WORK: u64 = 400_000;
/// So many small values are copied and compared in the time in which a switch is tried.
const VALUES_PER_TRY: u64 = 16;
/// Tries for a list of values of one switch.
const TRIES_TO_LIST: u32 = 3_000;
/// Values of one switch that are listed.
const MAX_LISTED: usize = 1000;

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct State {
    pub locations: Vec<LocationId>,
    pub values: Vec<Val>,
}

/// The states after a trace. Incomplete: internal steps led to more states than were followed, so
/// there may be others.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Set {
    pub states: BTreeSet<State>,
    pub incomplete: bool,
}

/// An observable label with its values.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Event {
    pub label: LabelId,
    pub values: Vec<Val>,
}

impl Event {
    pub fn of(action: &Action) -> Event {
        Event {
            label: action.label,
            values: action.values.iter().map(Val::of).collect(),
        }
    }
}

/// A switch, and the values of the variables.
type SwitchInstance = (SwitchId, Vec<Val>);

/// A model, asked by enumeration.
pub struct Theory {
    sts: Arc<Sts>,
    /// States of one closure.
    limit: usize,
    /// Something could not be decided since the flag was last taken.
    unsure: Cell<bool>,
    /// Work so far.
    work: Cell<u64>,
    /// Values that somebody else says satisfy a guard; they are tried as well.
    hints: RefCell<BTreeMap<LabelId, BTreeSet<Vec<Val>>>>,
    possible: RefCell<BTreeMap<SwitchInstance, Option<Vec<Val>>>>,
    internal: RefCell<BTreeMap<State, Vec<State>>>,
    listed: RefCell<BTreeMap<SwitchInstance, Vec<Vec<Val>>>>,
}

impl Theory {
    pub fn new(sts: Arc<Sts>) -> Theory {
        Theory {
            sts,
            limit: 150,
            unsure: Cell::new(false),
            work: Cell::new(0),
            hints: RefCell::default(),
            possible: RefCell::default(),
            internal: RefCell::default(),
            listed: RefCell::default(),
        }
    }

    /// With another limit on the states of a set.
    pub fn with_limit(self, limit: usize) -> Theory {
        Theory { limit, ..self }
    }

    pub fn sts(&self) -> &Arc<Sts> {
        &self.sts
    }

    /// Whether this model has cost so much that a check should come to an end.
    pub fn is_over_limit(&self) -> bool {
        self.work.get() > MAX_WORK
    }

    fn spend(&self, values: u64) {
        self.work.set(self.work.get() + 1 + values / VALUES_PER_TRY);
    }

    /// Whether something was left undecided since the last call. Over the limit the reference knows nothing for sure.
    pub fn take_unsure(&self) -> bool {
        self.unsure.replace(false) || self.is_over_limit()
    }

    /// Tries these values too from now on. A hint is never believed, only tried.
    pub fn hint(&self, label: LabelId, values: Vec<Val>) {
        let is_new = self
            .hints
            .borrow_mut()
            .entry(label)
            .or_default()
            .insert(values);
        if is_new {
            self.possible
                .borrow_mut()
                .retain(|_, witness| witness.is_some());
        }
    }

    /// The state before any step, internal ones included.
    pub fn start(&self) -> State {
        State {
            locations: self.sts.processes().iter().map(|p| p.initial).collect(),
            values: self
                .sts
                .variables()
                .iter()
                .map(|v| Val::of(&v.initial))
                .collect(),
        }
    }

    pub fn initial(&self) -> Set {
        self.close(BTreeSet::from([self.start()]), false)
    }

    /// The states one step with this switch away, for every combination of values from the pools.
    pub fn single_steps(&self, state: &State, id: SwitchId, most: usize) -> Vec<(Vec<Val>, State)> {
        let values = self.witnesses(state, id, most).into_iter();
        let steps = values.filter_map(|v| self.take(state, id, &v).map(|next| (v, next)));
        steps.collect()
    }

    fn environment<'a>(
        &'a self,
        state: &'a State,
        label: Option<LabelId>,
        values: &'a [Val],
    ) -> Environment<'a> {
        Environment {
            sts: &self.sts,
            variables: &state.values,
            label,
            parameters: values,
            function: None,
            depth: 0,
        }
    }

    /// The state after this switch, if its guard holds, and every assigned value exists and fits.
    fn take(&self, state: &State, id: SwitchId, values: &[Val]) -> Option<State> {
        self.spend(weight(&state.values) + weight(values));
        let switch = self.sts.switch(id);
        let environment = self.environment(state, switch.gate.label(), values);
        let holds = environment.holds(&switch.guard).unwrap_or_else(|_| {
            self.unsure.set(true);
            false
        });
        if !holds {
            return None;
        }
        let mut next = state.clone();
        for assignment in &switch.update {
            let value = environment.eval(&assignment.value);
            if value == Err(Nothing::Unsure) {
                self.unsure.set(true);
            }
            let value = value.ok()?;
            let ty = &self.sts.variable(assignment.variable).ty;
            if !value.fits(ty, self.sts.types()) {
                return None;
            }
            next.values[assignment.variable.index()] = value;
        }
        let process = self.sts.location(switch.source).process;
        next.locations[process.index()] = switch.target;
        Some(next)
    }

    /// The variables after this switch, whatever the locations are.
    pub(crate) fn values_after(
        &self,
        state: &State,
        id: SwitchId,
        values: &[Val],
    ) -> Option<Vec<Val>> {
        let somewhere = State {
            locations: self.sts.processes().iter().map(|p| p.initial).collect(),
            values: state.values.clone(),
        };
        self.take(&somewhere, id, values).map(|state| state.values)
    }

    fn switches(&self, state: &State, process: ProcessId, gate: Gate) -> Vec<SwitchId> {
        let location = state.locations[process.index()];
        let all = self.sts.switches().iter().enumerate();
        all.filter(|(_, s)| s.source == location && s.gate == gate)
            .map(|(index, _)| SwitchId::from_index(index))
            .collect()
    }

    /// The states one internal step away: τ, and hand-shakes.
    pub fn internal_steps(&self, state: &State) -> Vec<State> {
        self.spend(weight(&state.values));
        if let Some(known) = self.internal.borrow().get(state) {
            return known.clone();
        }
        let before = self.unsure.replace(false);
        let mut found = BTreeSet::new();
        for process in self.processes() {
            for id in self.switches(state, process, Gate::Tau) {
                found.extend(self.take(state, id, &[]));
            }
            for label in self.labels(Direction::Internal) {
                for sender in self.switches(state, process, Gate::Send(label)) {
                    self.hand_shakes(state, process, label, sender, &mut found);
                }
            }
        }
        let found: Vec<State> = found.into_iter().collect();
        if self.unsure.get() || self.is_over_limit() {
            return found;
        }
        self.unsure.set(before);
        self.internal
            .borrow_mut()
            .insert(state.clone(), found.clone());
        found
    }

    /// One process sends, and every other process that declares the label receives, at once.
    fn hand_shakes(
        &self,
        state: &State,
        process: ProcessId,
        label: LabelId,
        sender: SwitchId,
        found: &mut BTreeSet<State>,
    ) {
        let mut groups = vec![vec![sender]];
        for other in self.sts.participants(label) {
            if *other == process {
                continue;
            }
            let receivers = self.switches(state, *other, Gate::Receive(label));
            groups = groups
                .iter()
                .flat_map(|group| {
                    receivers.iter().map(|receiver| {
                        let mut group = group.clone();
                        group.push(*receiver);
                        group
                    })
                })
                .collect();
        }
        for group in groups.into_iter().filter(|group| group.len() > 1) {
            for values in self.shared_values(state, label, &group) {
                let steps: Option<Vec<State>> = group
                    .iter()
                    .map(|id| self.take(state, *id, &values))
                    .collect();
                let Some(steps) = steps else { continue };
                let mut next = state.clone();
                for (id, step) in group.iter().zip(steps) {
                    let switch = self.sts.switch(*id);
                    let own = self.sts.location(switch.source).process;
                    next.locations[own.index()] = switch.target;
                    for assignment in &switch.update {
                        let at = assignment.variable.index();
                        next.values[at] = step.values[at].clone();
                    }
                }
                found.insert(next);
            }
        }
    }

    /// The values for which every guard of the group holds. A parameter that no guard mentions is
    /// unset.
    fn shared_values(&self, state: &State, label: LabelId, group: &[SwitchId]) -> Vec<Vec<Val>> {
        let mentioned: BTreeSet<u32> = group
            .iter()
            .flat_map(|id| self.sts.switch(*id).guard.params())
            .collect();
        let pools = self.pools(state, label, group, |at| mentioned.contains(&at));
        let mut allowed = Vec::new();
        self.combinations(&pools, &mut |values| {
            let all = group.iter().all(|id| {
                let environment = self.environment(state, Some(label), values);
                environment
                    .holds(&self.sts.switch(*id).guard)
                    .unwrap_or_else(|_| {
                        self.unsure.set(true);
                        false
                    })
            });
            if all {
                allowed.push(values.to_vec());
            }
            false
        });
        allowed
    }

    fn pools(
        &self,
        state: &State,
        label: LabelId,
        group: &[SwitchId],
        is_open: impl Fn(u32) -> bool,
    ) -> Vec<Vec<Val>> {
        let parameters = &self.sts.label(label).parameters;
        let mut anchors = Anchors::default();
        for id in group {
            let switch = self.sts.switch(*id);
            let environment = self.environment(state, Some(label), &[]);
            anchors.add(&environment, &switch.guard);
            for assignment in &switch.update {
                anchors.add(&environment, &assignment.value);
                let ty = &self.sts.variable(assignment.variable).ty;
                if let Type::Int(range) = ty
                    && !range.is_full()
                {
                    anchors.value(&Val::int(range.min));
                    anchors.value(&Val::int(range.max));
                }
            }
        }
        let pools: Vec<Vec<Val>> = parameters
            .iter()
            .enumerate()
            .map(|(at, parameter)| match is_open(at as u32) {
                true => candidates(&parameter.ty, &anchors, self.sts.types(), 0),
                false => vec![Val::Void],
            })
            .collect();
        self.spend(pools.iter().map(|pool| weight(pool)).sum());
        pools
    }

    /// Calls `visit` on every combination until it says that this is enough.
    fn combinations(&self, pools: &[Vec<Val>], visit: &mut dyn FnMut(&[Val]) -> bool) {
        let count = pools
            .iter()
            .map(Vec::len)
            .try_fold(1usize, usize::checked_mul);
        if count.is_none_or(|count| count > MAX_COMBINATIONS) {
            self.unsure.set(true);
            return;
        }
        let mut at = vec![0; pools.len()];
        loop {
            if self.is_over_limit() {
                self.unsure.set(true);
                return;
            }
            let values: Vec<Val> = pools
                .iter()
                .zip(&at)
                .map(|(pool, i)| pool[*i].clone())
                .collect();
            self.spend(weight(&values));
            if visit(&values) {
                return;
            }
            let mut position = 0;
            loop {
                if position == pools.len() {
                    return;
                }
                at[position] += 1;
                if at[position] < pools[position].len() {
                    break;
                }
                at[position] = 0;
                position += 1;
            }
        }
    }

    fn processes(&self) -> impl Iterator<Item = ProcessId> + use<> {
        (0..self.sts.processes().len()).map(ProcessId::from_index)
    }

    fn labels(&self, direction: Direction) -> Vec<LabelId> {
        self.sts.labels_of(direction).collect()
    }

    /// Values that let the switch be taken in this state, if there are any.
    pub fn witness(&self, state: &State, id: SwitchId) -> Option<Vec<Val>> {
        self.spend(weight(&state.values));
        let key = (id, state.values.clone());
        if let Some(known) = self.possible.borrow().get(&key) {
            return known.clone();
        }
        let Gate::Observable(label) = self.sts.switch(id).gate else {
            return None;
        };
        let before = self.unsure.replace(false);
        let mut found = None;
        let hinted = self.hints.borrow().get(&label).cloned().unwrap_or_default();
        for values in hinted {
            let typed = values
                .iter()
                .zip(&self.sts.label(label).parameters)
                .all(|(v, p)| v.fits(&p.ty, self.sts.types()));
            if typed && self.take(state, id, &values).is_some() {
                found = Some(values);
                break;
            }
        }
        if found.is_none() {
            let switch = self.sts.switch(id);
            let mut read = switch.guard.params();
            for assignment in &switch.update {
                read.extend(assignment.value.params());
            }
            let pools = self.pools(state, label, &[id], |at| read.contains(&at));
            self.combinations(&pools, &mut |values| {
                if self.take(state, id, values).is_some() {
                    found = Some(values.to_vec());
                }
                found.is_some()
            });
        }
        let unsure = found.is_none() && (self.unsure.get() || self.is_beyond_pools(id));
        self.unsure.set(before || unsure);
        if !unsure {
            self.possible.borrow_mut().insert(key, found.clone());
        }
        found
    }

    /// Whether the guard asks methods about its parameters. The pools then prove nothing by having no
    /// values: which arrays have a certain sum, say, is not read off the guard.
    fn is_beyond_pools(&self, id: SwitchId) -> bool {
        let mut beyond = false;
        self.sts.switch(id).guard.walk(&mut |expr| {
            if let Expr::Call(function, arguments) = expr {
                let written_by_ioco = self.sts.functions()[function.index()].name.contains('⟨');
                beyond |= written_by_ioco && arguments.iter().any(Expr::mentions_params);
            }
        });
        beyond
    }

    /// Every combination of values from the pools for which the switch can be taken; for systems
    /// that choose one, and for comparing models.
    pub fn witnesses(&self, state: &State, id: SwitchId, most: usize) -> Vec<Vec<Val>> {
        let Gate::Observable(label) = self.sts.switch(id).gate else {
            return Vec::new();
        };
        let key = (id, state.values.clone());
        if let Some(known) = self.listed.borrow().get(&key) {
            let step = known.len().div_ceil(most.max(1)).max(1);
            return known.iter().step_by(step).take(most).cloned().collect();
        }
        let pools = self.pools(state, label, &[id], |_| true);
        let mut found = Vec::new();
        let mut tried = 0;
        self.combinations(&pools, &mut |values| {
            if self.take(state, id, values).is_some() {
                found.push(values.to_vec());
            }
            tried += 1;
            found.len() >= MAX_LISTED || (!found.is_empty() && tried > TRIES_TO_LIST)
        });
        // Spread over everything, not only the smallest.
        let step = found.len().div_ceil(most.max(1)).max(1);
        let some = found.iter().step_by(step).take(most).cloned().collect();
        self.listed.borrow_mut().insert(key, found);
        some
    }

    /// The switches that some walk over at most `most` states takes. Hand-shakes are left out: which
    /// switches take part is of no interest there.
    pub fn reached_switches(&self, most: usize) -> BTreeSet<SwitchId> {
        let start = self.initial();
        let mut seen = start.states.clone();
        let mut open: std::collections::VecDeque<State> = start.states.into_iter().collect();
        let mut found = BTreeSet::new();
        while let Some(state) = open.pop_front() {
            if seen.len() > most {
                break;
            }
            let mut next = self.internal_steps(&state);
            for process in self.processes() {
                for id in self.switches(&state, process, Gate::Tau) {
                    found.extend(self.take(&state, id, &[]).map(|_| id));
                }
            }
            for direction in [Direction::Stimulus, Direction::Response] {
                for (id, _) in self.observable(&state, direction) {
                    for values in self.witnesses(&state, id, 6) {
                        found.insert(id);
                        next.extend(self.take(&state, id, &values));
                    }
                }
            }
            for state in next {
                if seen.insert(state.clone()) {
                    open.push_back(state);
                }
            }
        }
        found
    }

    /// The observable switches that leave the state.
    pub fn observable(&self, state: &State, direction: Direction) -> Vec<(SwitchId, LabelId)> {
        let mut found = Vec::new();
        for process in self.processes() {
            for label in self.labels(direction) {
                let ids = self.switches(state, process, Gate::Observable(label));
                found.extend(ids.into_iter().map(|id| (id, label)));
            }
        }
        found
    }

    pub fn is_stable(&self, state: &State) -> bool {
        self.internal_steps(state).is_empty()
    }

    /// No internal step, and no response for any values.
    pub fn is_quiescent(&self, state: &State) -> bool {
        self.is_stable(state)
            && self
                .observable(state, Direction::Response)
                .into_iter()
                .all(|(id, _)| self.witness(state, id).is_none())
    }

    /// The states of a set from which internal steps lead back to themselves: there the system may
    /// never show anything.
    fn on_cycles(&self, set: &Set) -> Vec<bool> {
        if set.incomplete {
            self.unsure.set(true);
            return vec![true; set.states.len()];
        }
        let states: Vec<&State> = set.states.iter().collect();
        let targets: Vec<Vec<usize>> = states
            .iter()
            .map(|state| {
                let steps = self.internal_steps(state);
                let found = steps
                    .iter()
                    .filter_map(|next| states.binary_search(&next).ok());
                found.collect()
            })
            .collect();
        let returns = |start: usize| {
            let mut seen = vec![false; states.len()];
            let mut open = targets[start].clone();
            while let Some(next) = open.pop() {
                if next == start {
                    return true;
                }
                if !std::mem::replace(&mut seen[next], true) {
                    open.extend(&targets[next]);
                }
            }
            false
        };
        (0..states.len()).map(returns).collect()
    }

    /// A set larger than the limit is cut off, and incomplete: ioco, whose limit is not far above, may cut it off too.
    fn close(&self, mut start: BTreeSet<State>, incomplete: bool) -> Set {
        let is_large = start.len() > self.limit;
        if let Some(first) = start.iter().nth(self.limit).cloned() {
            start.split_off(&first);
        }
        let mut set = Set {
            states: start.clone(),
            incomplete: incomplete || is_large,
        };
        let mut open: std::collections::VecDeque<State> = start.into_iter().collect();
        while let Some(state) = open.pop_front() {
            if self.is_over_limit() {
                set.incomplete = true;
                return set;
            }
            for next in self.internal_steps(&state) {
                if set.states.contains(&next) {
                    continue;
                }
                if set.states.len() >= self.limit {
                    set.incomplete = true;
                    return set;
                }
                set.states.insert(next.clone());
                open.push_back(next);
            }
        }
        set
    }

    /// The states after an observable label.
    pub fn after(&self, set: &Set, event: &Event) -> Set {
        let mut reached = BTreeSet::new();
        let parameters = &self.sts.label(event.label).parameters;
        let typed = event.values.len() <= parameters.len()
            && event
                .values
                .iter()
                .zip(parameters)
                .all(|(value, p)| value.fits(&p.ty, self.sts.types()));
        if typed {
            for state in &set.states {
                for process in self.processes() {
                    for id in self.switches(state, process, Gate::Observable(event.label)) {
                        reached.extend(self.take(state, id, &event.values));
                    }
                }
            }
        }
        self.close(reached, set.incomplete)
    }

    /// The states after silence: those that are quiescent, and those that may go round in internal
    /// steps for ever.
    pub fn after_silence(&self, set: &Set) -> Set {
        let cycles = self.on_cycles(set);
        let quiet = set.states.iter().zip(cycles);
        let quiet = quiet.filter(|(state, cycle)| *cycle || self.is_quiescent(state));
        let quiet = quiet.map(|(state, _)| state.clone()).collect();
        self.close(quiet, set.incomplete)
    }

    /// Whether the tester may give this stimulus.
    pub fn accepts(&self, set: &Set, event: &Event, relation: Relation) -> bool {
        if self.after(set, event).states.is_empty() {
            return false;
        }
        relation == Relation::Ioco
            || set.states.iter().all(|state| {
                let alone = Set {
                    states: BTreeSet::from([state.clone()]),
                    incomplete: false,
                };
                !self.is_stable(state) || !self.after(&alone, event).states.is_empty()
            })
    }

    /// Nanoseconds of silence that count: the longest of any process in any state, where a process
    /// without a time-out of its own has the model's.
    pub fn timeout(&self, set: &Set) -> u64 {
        let locations = set.states.iter().flat_map(|state| &state.locations);
        let of = |id: &LocationId| self.sts.location(*id).timeout.unwrap_or(self.sts.timeout());
        locations.map(of).max().unwrap_or(self.sts.timeout())
    }
}
