//! What a model means: which state sets a trace leads to, what each of them offers, and whether
//! silence is allowed there.
//!
//! State sets are interned, and steps between them remembered, so that a plain model is
//! determinised as far as a run walks and no farther. Parallel processes are composed on the fly:
//! a state holds one location per process, and only states that are reached are ever built.

mod closure;
mod handshake;
mod menu;

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::action::{Action, Step};
use crate::eval::{Env, EvalError};
use crate::expr::Expr;
use crate::ids::{LabelId, SetId, SwitchId};
use crate::label::Direction;
use crate::state::{State, StateSet};
use crate::sts::{Gate, Sts};
use crate::value::Value;

pub use menu::{Menu, Offer, OfferedSwitch};

/// What a solver can answer. *Unknown* is never taken for *no*.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    Yes,
    No,
    Unknown,
}

/// Can `guard` hold for some values of the label's parameters, where the variables have the values
/// of `valuation`?
pub struct Question<'a> {
    pub sts: &'a Sts,
    pub label: LabelId,
    pub guard: &'a Expr,
    pub valuation: &'a [Value],
}

/// The one question that the meaning of a model asks of a solver.
pub trait Feasibility {
    fn feasible(&mut self, question: Question<'_>) -> Answer;

    /// Parameter values for which the guard holds, where this solver finds some. Asked only where
    /// quicker ways of choosing values have failed.
    fn example(&mut self, _question: Question<'_>) -> Option<Vec<Value>> {
        None
    }
}

/// Knows nothing: enough for models whose guards do not speak of parameters.
pub struct EvaluationOnly;

impl Feasibility for EvaluationOnly {
    fn feasible(&mut self, _: Question<'_>) -> Answer {
        Answer::Unknown
    }
}

/// When a stimulus may be given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Relation {
    /// Some state of the set accepts it.
    #[default]
    Ioco,
    /// Every stable state of the set accepts it.
    Uioco,
}

/// Something about the model that a run found out and that a person should know. Each is reported
/// once per switch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Warning {
    /// A guard or update has no value for the values shown; it was taken as not enabled.
    NotEvaluable {
        switch: SwitchId,
        error: EvalError,
        variables: Vec<Value>,
        parameters: Vec<Value>,
    },
    /// Internal steps go round without end.
    Divergence { switch: SwitchId },
    /// More internal steps than can be followed; the state set is not complete.
    ClosureLimit { switch: SwitchId },
    /// The sender of a hand-shake leaves a parameter open that cannot be enumerated.
    OpenHandshake { switch: SwitchId },
}

/// A step that the model allows: where it leads, and the switches that can explain it, internal
/// ones included.
#[derive(Clone, Debug)]
pub struct Followed {
    pub set: SetId,
    pub taken: Arc<[SwitchId]>,
}

struct Node {
    set: Arc<StateSet>,
    menu: Option<Arc<Menu>>,
    /// Steps by labels without parameters, once walked. `None` is a step that is not allowed.
    next: FxHashMap<LabelId, Option<Followed>>,
    silence: Option<Option<Followed>>,
}

/// A model, a solver for its questions, and the state sets seen so far.
pub struct Semantics {
    sts: Arc<Sts>,
    solver: Box<dyn Feasibility + Send>,
    relation: Relation,
    nodes: Vec<Node>,
    index: FxHashMap<Arc<StateSet>, SetId>,
    initial: SetId,
    initial_switches: Arc<[SwitchId]>,
    warnings: Vec<Warning>,
    warned: FxHashSet<(SwitchId, std::mem::Discriminant<Warning>)>,
}

impl Semantics {
    pub fn new(sts: Arc<Sts>, solver: Box<dyn Feasibility + Send>, relation: Relation) -> Self {
        let start = State {
            locations: sts.processes().iter().map(|p| p.initial).collect(),
            valuation: sts.variables().iter().map(|v| v.initial.clone()).collect(),
        };
        let mut semantics = Semantics {
            sts,
            solver,
            relation,
            nodes: Vec::new(),
            index: FxHashMap::default(),
            initial: SetId(0),
            initial_switches: Arc::from([]),
            warnings: Vec::new(),
            warned: FxHashSet::default(),
        };
        let mut taken = Vec::new();
        let set = semantics.close(vec![start], false, &mut taken);
        semantics.initial = semantics.intern(set);
        semantics.initial_switches = distinct(taken);
        semantics
    }

    pub fn sts(&self) -> &Arc<Sts> {
        &self.sts
    }

    pub fn relation(&self) -> Relation {
        self.relation
    }

    /// The state set before the first step.
    pub fn initial(&self) -> SetId {
        self.initial
    }

    /// The internal switches that the model may take before the first step.
    pub fn initial_switches(&self) -> &[SwitchId] {
        &self.initial_switches
    }

    pub fn set(&self, id: SetId) -> &Arc<StateSet> {
        &self.nodes[id.index()].set
    }

    /// What the model found out about itself since the last call.
    pub fn take_warnings(&mut self) -> Vec<Warning> {
        std::mem::take(&mut self.warnings)
    }

    /// Nanoseconds of silence that count as quiescence in a set: the longest that any state of it
    /// asks for.
    pub fn timeout(&self, id: SetId) -> u64 {
        let states = self.set(id).states.iter();
        states
            .map(|state| self.sts.timeout_at(&state.locations))
            .max()
            .unwrap_or(self.sts.timeout())
    }

    /// Asks the solver for parameter values of `label` for which `guard` holds.
    pub fn example(
        &mut self,
        label: LabelId,
        guard: &Expr,
        valuation: &[Value],
    ) -> Option<Vec<Value>> {
        let sts = &self.sts;
        self.solver.example(Question {
            sts,
            label,
            guard,
            valuation,
        })
    }

    /// Follows one observable step; `None` when the model does not allow it.
    ///
    /// Where states are missing (`StateSet::truncated`), one of those may allow a response or a
    /// silence that no known state allows: it leads to a set without states, from which nothing can
    /// be concluded. A stimulus is followed only where a known state accepts it.
    pub fn follow(&mut self, from: SetId, step: &Step) -> Option<Followed> {
        match step {
            Step::Quiescence => self.follow_silence(from),
            Step::Stimulus(action) | Step::Response(action) => self.follow_action(from, action),
        }
    }

    /// As [`Semantics::follow`], where only the set is of interest.
    pub fn after(&mut self, from: SetId, step: &Step) -> Option<SetId> {
        self.follow(from, step).map(|followed| followed.set)
    }

    fn follow_action(&mut self, from: SetId, action: &Action) -> Option<Followed> {
        let plain = action.values.is_empty();
        if plain && let Some(known) = self.nodes[from.index()].next.get(&action.label) {
            return known.clone();
        }
        let followed = self.compute_action(from, action);
        if plain {
            self.nodes[from.index()]
                .next
                .insert(action.label, followed.clone());
        }
        followed
    }

    fn compute_action(&mut self, from: SetId, action: &Action) -> Option<Followed> {
        let sts = Arc::clone(&self.sts);
        let label = sts.label(action.label);
        let typed = action.values.len() <= label.parameters.len()
            && action
                .values
                .iter()
                .zip(&label.parameters)
                .all(|(v, p)| sts.types().fits(v, &p.ty));
        if !typed {
            return None;
        }
        let set = Arc::clone(self.set(from));
        let mut reached = Vec::new();
        let mut taken = Vec::new();
        for state in &set.states {
            for location in &state.locations {
                for &id in sts.outgoing(*location) {
                    let is_gate = sts.switch(id).gate == Gate::Observable(action.label);
                    if is_gate && let Some(next) = self.take(id, state, &action.values) {
                        reached.push(next);
                        taken.push(id);
                    }
                }
            }
        }
        let may_be_missed = label.direction == Direction::Response && set.truncated;
        if reached.is_empty() && !may_be_missed {
            return None;
        }
        Some(self.settle(reached, set.truncated, taken))
    }

    fn follow_silence(&mut self, from: SetId) -> Option<Followed> {
        if let Some(known) = &self.nodes[from.index()].silence {
            return known.clone();
        }
        let menu = self.menu(from);
        let set = Arc::clone(self.set(from));
        // A model that may loop internally for ever may also be silent for ever, and is then
        // somewhere on the loop.
        let loops = if set.divergent {
            self.in_endless_steps(&set)
        } else {
            vec![false; set.states.len()]
        };
        let keeps = |index: usize| loops[index] || menu.quiescent[index] != Answer::No;
        let reached: Vec<State> = (0..set.states.len())
            .filter(|i| keeps(*i))
            .map(|i| set.states[i].clone())
            .collect();
        let followed = (!reached.is_empty() || set.truncated)
            .then(|| self.settle(reached, set.truncated, Vec::new()));
        self.nodes[from.index()].silence = Some(followed.clone());
        followed
    }

    /// Whatever follows from a truncated set is truncated, even if what was observed leaves one
    /// state.
    fn settle(
        &mut self,
        reached: Vec<State>,
        truncated: bool,
        mut taken: Vec<SwitchId>,
    ) -> Followed {
        let set = self.close(reached, truncated, &mut taken);
        Followed {
            set: self.intern(set),
            taken: distinct(taken),
        }
    }

    /// The state after taking a switch alone, or `None` if it is not enabled.
    fn take(&mut self, id: SwitchId, state: &State, parameters: &[Value]) -> Option<State> {
        let sts = Arc::clone(&self.sts);
        let switch = sts.switch(id);
        if !self.holds(id, &switch.enabled, state, parameters) {
            return None;
        }
        let env = Env {
            variables: &state.valuation,
            parameters,
            functions: sts.functions(),
        };
        let mut next = state.clone();
        for assignment in &switch.update {
            match assignment.value.eval(env) {
                Ok(value) => next.valuation[assignment.variable.index()] = value,
                Err(error) => {
                    self.warn_not_evaluable(id, error, state, parameters);
                    return None;
                }
            }
        }
        let process = sts.location(switch.source).process;
        next.locations[process.index()] = switch.target;
        Some(next)
    }

    fn holds(&mut self, id: SwitchId, guard: &Expr, state: &State, parameters: &[Value]) -> bool {
        let env = Env {
            variables: &state.valuation,
            parameters,
            functions: self.sts.functions(),
        };
        match guard.holds(env) {
            Ok(value) => value,
            Err(error) => {
                self.warn_not_evaluable(id, error, state, parameters);
                false
            }
        }
    }

    fn warn_not_evaluable(
        &mut self,
        switch: SwitchId,
        error: EvalError,
        state: &State,
        values: &[Value],
    ) {
        // Comparing with what is unset is how models ask whether it is set; not worth a word.
        if !matches!(error, EvalError::Kind(..)) {
            let variables = state.valuation.to_vec();
            self.warn(Warning::NotEvaluable {
                switch,
                error,
                variables,
                parameters: values.to_vec(),
            });
        }
    }

    fn warn(&mut self, warning: Warning) {
        let switch = match &warning {
            Warning::NotEvaluable { switch, .. }
            | Warning::Divergence { switch }
            | Warning::ClosureLimit { switch }
            | Warning::OpenHandshake { switch } => *switch,
        };
        if self
            .warned
            .insert((switch, std::mem::discriminant(&warning)))
        {
            self.warnings.push(warning);
        }
    }

    /// The set of all states of both; used where two orders of events are possible.
    pub fn union(&mut self, left: SetId, right: SetId) -> SetId {
        if left == right {
            return left;
        }
        let (left, right) = (Arc::clone(self.set(left)), Arc::clone(self.set(right)));
        let mut states: Vec<State> = left.states.iter().chain(&right.states).cloned().collect();
        states.sort_unstable();
        states.dedup();
        self.intern(StateSet {
            states,
            divergent: left.divergent || right.divergent,
            truncated: left.truncated || right.truncated,
        })
    }

    /// The id of a set that came from this model, also one that was forgotten since.
    pub fn id_of(&mut self, set: &Arc<StateSet>) -> SetId {
        self.intern_shared(Arc::clone(set))
    }

    /// How many state sets are remembered.
    pub fn remembered(&self) -> usize {
        self.nodes.len()
    }

    /// Forgets every state set but `keep`, whose new id it returns, and the initial one. All other
    /// ids become invalid. Keeps memory bounded in runs over models with data.
    pub fn forget_all_but(&mut self, keep: SetId) -> SetId {
        let initial = Arc::clone(self.set(self.initial));
        let keep = Arc::clone(self.set(keep));
        self.nodes.clear();
        self.index.clear();
        self.initial = self.intern_shared(initial);
        self.intern_shared(keep)
    }

    fn intern(&mut self, set: StateSet) -> SetId {
        match self.index.get(&set) {
            Some(id) => *id,
            None => self.intern_shared(Arc::new(set)),
        }
    }

    fn intern_shared(&mut self, set: Arc<StateSet>) -> SetId {
        if let Some(id) = self.index.get(&set) {
            return *id;
        }
        let id = SetId::from_index(self.nodes.len());
        self.index.insert(Arc::clone(&set), id);
        self.nodes.push(Node {
            set,
            menu: None,
            next: FxHashMap::default(),
            silence: None,
        });
        id
    }
}

fn distinct(mut switches: Vec<SwitchId>) -> Arc<[SwitchId]> {
    switches.sort_unstable();
    switches.dedup();
    Arc::from(switches)
}
