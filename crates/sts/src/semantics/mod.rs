//! What a model means: which state sets a trace leads to, what each of them offers, and whether
//! silence is allowed there.
//!
//! State sets are interned, and steps between them remembered, so that a plain model is
//! determinised as far as a run walks and no farther. Parallel processes are composed on the fly:
//! a state holds one location per process, and only states that are reached are ever built.

mod closure;
mod handshake;
mod menu;

use std::borrow::Cow;
use std::sync::Arc;

use ioco_budget::{Budget, Exhausted, Resource};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::action::{Action, Step};
use crate::eval::{Env, EvalError};
use crate::expr::Expr;
use crate::ids::{LabelId, SetId, SwitchId};
use crate::label::Direction;
use crate::state::{State, StateSet};
use crate::sts::{Gate, Sts};
use crate::value::Value;

use handshake::Handshakes;

pub(crate) use closure::LeftOut;
use menu::Answers;
pub use menu::{Menu, Offer, OfferedSwitch, OpenSilence};

/// One state set may use as many steps as this many evaluations.
const EVALUATIONS: u64 = 64;

/// What a solver can answer. *Unknown* is never taken for *no*.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    Yes,
    No,
    Unknown,
}

/// Can `guard` hold for some values of the label's parameters, where the variables have the values
/// of `valuation`?
#[derive(Clone, Copy)]
pub struct Question<'a> {
    pub sts: &'a Sts,
    pub label: LabelId,
    pub guard: &'a Expr,
    pub valuation: &'a [Value],
}

/// What a solver says of the parameter values for which a guard holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Solved {
    /// It holds for these.
    Values(Vec<Value>),
    /// It holds for none.
    None,
    Unknown,
}

/// The questions that the meaning of a model asks of a solver.
pub trait Feasibility {
    fn feasible(&mut self, question: Question<'_>) -> Answer;

    /// Parameter values for which the guard holds, where this solver finds some. Asked only where
    /// quicker ways of choosing values have failed.
    fn example(&mut self, _question: Question<'_>) -> Option<Vec<Value>> {
        None
    }

    /// Some parameter values for which the guard holds, or that there are none. Hand-shakes list
    /// their values by it.
    fn solve(&mut self, question: Question<'_>) -> Solved {
        match self.feasible(question) {
            Answer::No => Solved::None,
            Answer::Yes | Answer::Unknown => match self.example(question) {
                Some(values) => Solved::Values(values),
                None => Solved::Unknown,
            },
        }
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
    /// A limit was reached by this switch: it could not be evaluated, or the states that it leads to
    /// could not be followed. The state set is not complete.
    Exhausted {
        switch: SwitchId,
        exhausted: Exhausted,
    },
    /// The values of a hand-shake cannot be listed; the state set is not complete.
    OpenHandshake { switch: SwitchId },
    /// The solver does not know whether any values of the parameters meet the guard.
    Undecided { switch: SwitchId },
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
    /// The longest time-out of any place in the model, in nanoseconds.
    longest_timeout: u64,
    solver: Box<dyn Feasibility + Send>,
    relation: Relation,
    nodes: Vec<Node>,
    index: FxHashMap<Arc<StateSet>, SetId>,
    initial: SetId,
    initial_switches: Arc<[SwitchId]>,
    warnings: Vec<Warning>,
    warned: FxHashSet<(SwitchId, std::mem::Discriminant<Warning>)>,
    budget: Budget,
    /// Steps of evaluation left for the state set that is being computed.
    left: u64,
    /// About how much memory the state sets take.
    bytes: usize,
    handshakes: Handshakes,
    answers: Answers,
    /// What is found out now is not about the model: warnings are not kept.
    muted: bool,
    /// Steps of evaluation so far.
    evaluated: u64,
}

/// What became of an attempt to take a switch.
enum Taken {
    To(State),
    /// It is not enabled.
    No,
    /// Evaluation reached a limit: it may be enabled, and lead anywhere.
    Unknown(Exhausted),
}

impl Semantics {
    /// Every evaluation and every state set keeps to the model's budget ([`Sts::set_budget`]); what
    /// does not is truncated, with a warning that says which limit was reached.
    pub fn new(sts: Arc<Sts>, solver: Box<dyn Feasibility + Send>, relation: Relation) -> Self {
        let budget = *sts.budget();
        let start = sts.initial_state();
        let timeouts = sts.locations().iter().filter_map(|l| l.timeout);
        let longest_timeout = timeouts.chain([sts.timeout()]).max().unwrap_or_default();
        let mut semantics = Semantics {
            sts,
            longest_timeout,
            solver,
            relation,
            nodes: Vec::new(),
            index: FxHashMap::default(),
            initial: SetId(0),
            initial_switches: Arc::from([]),
            warnings: Vec::new(),
            warned: FxHashSet::default(),
            budget,
            left: 0,
            bytes: 0,
            handshakes: Handshakes::default(),
            answers: Answers::default(),
            muted: false,
            evaluated: 0,
        };
        semantics.begin();
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
    /// asks for. A state that is missing may be anywhere.
    pub fn timeout(&self, id: SetId) -> u64 {
        let set = self.set(id);
        if set.truncated {
            return self.longest_timeout;
        }
        let states = set.states.iter();
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
        self.begin();
        let sts = Arc::clone(&self.sts);
        let label = sts.label(action.label);
        if action.values.len() > label.parameters.len() {
            return None;
        }
        let typed = || action.values.iter().zip(&label.parameters);
        // Most values have the parameter's type as they are, and need no copy.
        let values: Cow<'_, [Value]> = if typed().all(|(value, p)| sts.types().fits(value, &p.ty)) {
            Cow::Borrowed(&action.values)
        } else {
            let converted = typed().map(|(value, p)| sts.types().converted(value, &p.ty));
            Cow::Owned(converted.collect::<Option<_>>()?)
        };
        let set = Arc::clone(self.set(from));
        let mut reached = Vec::new();
        let mut taken = Vec::new();
        let mut truncated = set.truncated;
        for state in &set.states {
            for location in &state.locations {
                for &id in sts.outgoing(*location) {
                    if sts.switch(id).gate != Gate::Observable(action.label) {
                        continue;
                    }
                    match self.take(&sts, id, state, &values) {
                        Taken::To(next) => {
                            reached.push(next);
                            taken.push(id);
                        }
                        Taken::No => {}
                        Taken::Unknown(_) => truncated = true,
                    }
                }
            }
        }
        let may_be_missed = label.direction == Direction::Response && truncated;
        if reached.is_empty() && !may_be_missed {
            return None;
        }
        Some(self.settle(reached, truncated, taken))
    }

    fn follow_silence(&mut self, from: SetId) -> Option<Followed> {
        if let Some(known) = &self.nodes[from.index()].silence {
            return known.clone();
        }
        let menu = self.menu(from);
        self.begin();
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

    /// A new piece of work begins: what is left of the one before does not count.
    pub(crate) fn begin(&mut self) {
        self.left = self.budget.steps.saturating_mul(EVALUATIONS);
    }

    /// Evaluates within what is left for this piece of work.
    fn evaluate<T>(
        &mut self,
        evaluation: impl FnOnce(&Budget) -> (Result<T, EvalError>, u64),
    ) -> Result<T, EvalError> {
        let budget = Budget {
            steps: self.budget.steps.min(self.left),
            ..self.budget
        };
        let (result, spent) = evaluation(&budget);
        self.left = self.left.saturating_sub(spent);
        self.evaluated = self.evaluated.saturating_add(spent);
        result
    }

    /// The state after taking a switch alone.
    fn take(&mut self, sts: &Sts, id: SwitchId, state: &State, parameters: &[Value]) -> Taken {
        let switch = sts.switch(id);
        match self.holds(sts, id, &switch.enabled, state, parameters) {
            Ok(true) => {}
            Ok(false) => return Taken::No,
            Err(exhausted) => return Taken::Unknown(exhausted),
        }
        let env = Env {
            variables: &state.valuation,
            parameters,
            functions: sts.functions(),
        };
        let mut next = state.clone();
        for assignment in &switch.update {
            match self.evaluate(|budget| assignment.value.eval_within(env, budget)) {
                Ok(value) => next.valuation[assignment.variable.index()] = value,
                Err(error) => {
                    return match self.report(id, error, state, parameters) {
                        Some(exhausted) => Taken::Unknown(exhausted),
                        None => Taken::No,
                    };
                }
            }
        }
        let process = sts.location(switch.source).process;
        next.locations[process.index()] = switch.target;
        Taken::To(next)
    }

    /// Whether a guard holds; the error is that this is not known.
    fn holds(
        &mut self,
        sts: &Sts,
        id: SwitchId,
        guard: &Expr,
        state: &State,
        parameters: &[Value],
    ) -> Result<bool, Exhausted> {
        let env = Env {
            variables: &state.valuation,
            parameters,
            functions: sts.functions(),
        };
        match self.evaluate(|budget| guard.holds_within(env, budget)) {
            Ok(value) => Ok(value),
            Err(error) => match self.report(id, error, state, parameters) {
                Some(exhausted) => Err(exhausted),
                None => Ok(false),
            },
        }
    }

    /// Warns of a switch that has no value, or that could not be evaluated.
    fn report(
        &mut self,
        switch: SwitchId,
        error: EvalError,
        state: &State,
        values: &[Value],
    ) -> Option<Exhausted> {
        let EvalError::Exhausted(mut exhausted) = error else {
            self.warn_not_evaluable(switch, error, state, values);
            return None;
        };
        if exhausted.resource == Resource::Steps {
            // What was left for the set may have been less.
            exhausted.limit = self.budget.steps;
        }
        self.warn(Warning::Exhausted { switch, exhausted });
        Some(exhausted)
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
        if self.muted {
            return;
        }
        let switch = match &warning {
            Warning::NotEvaluable { switch, .. }
            | Warning::Divergence { switch }
            | Warning::Exhausted { switch, .. }
            | Warning::OpenHandshake { switch }
            | Warning::Undecided { switch } => *switch,
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
        let most = usize::try_from(self.budget.states).unwrap_or(usize::MAX);
        let too_many = states.len() > most;
        states.truncate(most);
        self.intern(StateSet {
            states,
            divergent: left.divergent || right.divergent,
            truncated: too_many || left.truncated || right.truncated,
        })
    }

    /// The id of a set that came from this model, also one that was forgotten since.
    pub fn id_of(&mut self, set: &Arc<StateSet>) -> SetId {
        self.intern_shared(Arc::clone(set))
    }

    /// The set of a state that the model need not be able to reach, and of what internal steps lead to from there.
    pub fn suppose(&mut self, state: State) -> SetId {
        self.begin();
        let set = self.close(vec![state], false, &mut Vec::new());
        self.intern(set)
    }

    /// While muted, nothing becomes a warning: steps are followed from states that were only supposed.
    pub fn mute(&mut self, muted: bool) {
        self.muted = muted;
    }

    /// How many steps of evaluation the questions so far have taken: what they cost, the same on every machine.
    pub fn evaluated(&self) -> u64 {
        self.evaluated
    }

    /// Whether more than `sets` state sets are remembered, or so large ones that it is time to
    /// forget.
    pub fn is_crowded(&self, sets: usize) -> bool {
        self.nodes.len() > sets || self.bytes as u64 > self.budget.bytes.saturating_mul(4)
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
        self.bytes = 0;
        // What was asked about the sets keeps their values.
        self.answers.forget();
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
        self.bytes += set.states.iter().map(State::bytes).sum::<usize>();
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
