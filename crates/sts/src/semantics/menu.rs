//! What a state set offers: the stimuli that may be given, the responses that may come, and
//! whether silence is allowed.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{Answer, Question, Relation, Semantics, Taken, Warning};
use crate::action::{Action, Step};
use crate::expr::{BinaryOp, Expr};
use crate::ids::{LabelId, SetId, SwitchId, VarId};
use crate::label::Direction;
use crate::state::State;
use crate::sts::{Gate, Sts};
use crate::value::Value;

/// Answers of the solver that are remembered.
const REMEMBERED: usize = 4096;

/// What the solver said about the switches of a model. States of parallel processes often differ in what a guard
/// does not read, and a question that the solver cannot decide costs all its steps each time.
#[derive(Default)]
pub(super) struct Answers {
    /// The variables that a switch reads.
    reads: FxHashMap<SwitchId, Arc<[VarId]>>,
    known: FxHashMap<(SwitchId, Box<[Value]>), Answer>,
}

impl Answers {
    /// The switch, with the values on which the answer depends.
    fn question(&mut self, sts: &Sts, id: SwitchId, state: &State) -> (SwitchId, Box<[Value]>) {
        let read = || sts.switch(id).enabled.vars().into_iter().collect();
        let reads = self.reads.entry(id).or_insert_with(read);
        let values = reads.iter().map(|v| state.valuation[v.index()].clone());
        (id, values.collect())
    }

    pub(super) fn forget(&mut self) {
        self.known.clear();
    }

    fn remember(&mut self, question: (SwitchId, Box<[Value]>), answer: Answer) {
        if self.known.len() >= REMEMBERED {
            self.known.clear();
        }
        self.known.insert(question, answer);
    }
}

/// A switch of one state of the set, and whether its guard can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OfferedSwitch {
    /// Index into [`crate::StateSet::states`].
    pub state: u32,
    pub switch: SwitchId,
    /// Never [`Answer::No`].
    pub feasible: Answer,
}

/// A label that can happen, by which switches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    pub label: LabelId,
    pub switches: Vec<OfferedSwitch>,
}

/// What can happen in a state set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Menu {
    /// The stimuli that may be given under the relation in force.
    pub stimuli: Vec<Offer>,
    pub responses: Vec<Offer>,
    /// Per state of the set: is it quiescent?
    pub quiescent: Vec<Answer>,
    /// Silence is allowed: some state is or may be quiescent, or the model may loop internally, or
    /// states are missing that may be silent.
    pub silence: bool,
}

/// Why it is not known whether silence is allowed in a state set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenSilence {
    /// It is allowed unless this response is possible.
    Response(LabelId),
    /// It is allowed unless an internal step is possible, or unless internal steps that were not followed to their end
    /// have one.
    InternalStep,
}

impl Semantics {
    /// Why it is not known whether silence is allowed in a set; `None` where it certainly is, or
    /// certainly is not.
    pub fn open_silence(&mut self, id: SetId) -> Option<OpenSilence> {
        let menu = self.menu(id);
        let is_open = |state: usize| menu.quiescent[state] == Answer::Unknown;
        let set = self.set(id);
        // Of a set that was cut off it is only assumed that its internal steps go on for ever.
        if (set.divergent && !set.truncated)
            || menu.quiescent.contains(&Answer::Yes)
            || !(set.divergent || (0..menu.quiescent.len()).any(is_open))
        {
            return None;
        }
        let undecided = menu.responses.iter().find(|offer| {
            let mut switches = offer.switches.iter();
            switches.any(|s| s.feasible == Answer::Unknown && is_open(s.state as usize))
        });
        Some(match undecided {
            Some(offer) => OpenSilence::Response(offer.label),
            None => OpenSilence::InternalStep,
        })
    }

    /// What the set offers; computed once per set.
    pub fn menu(&mut self, id: SetId) -> Arc<Menu> {
        if let Some(menu) = &self.nodes[id.index()].menu {
            return Arc::clone(menu);
        }
        let menu = Arc::new(self.compute_menu(id));
        self.nodes[id.index()].menu = Some(Arc::clone(&menu));
        menu
    }

    fn compute_menu(&mut self, id: SetId) -> Menu {
        self.begin();
        let set = Arc::clone(self.set(id));
        let mut stimuli: Vec<Offer> = Vec::new();
        let mut responses: Vec<Offer> = Vec::new();
        let mut quiescent = Vec::with_capacity(set.states.len());
        let mut stable = Vec::with_capacity(set.states.len());
        for (index, state) in set.states.iter().enumerate() {
            let is_stable = self.internal_steps(state).stable();
            let mut silent = is_stable;
            for (switch, label, feasible) in self.observable_switches(state) {
                let offered = OfferedSwitch {
                    state: index as u32,
                    switch,
                    feasible,
                };
                if self.sts.label(label).direction == Direction::Stimulus {
                    add_offer(&mut stimuli, label, offered);
                } else {
                    add_offer(&mut responses, label, offered);
                    silent = match (silent, feasible) {
                        (Answer::No, _) | (_, Answer::Yes) => Answer::No,
                        _ => Answer::Unknown,
                    };
                }
            }
            quiescent.push(silent);
            stable.push(is_stable != Answer::No);
        }
        if self.relation == Relation::Uioco {
            // A state that is missing here may refuse every stimulus.
            stimuli.retain(|offer| !set.truncated && accepted_by_all(offer, &stable));
        }
        let silence = set.divergent || set.truncated || quiescent.iter().any(|q| *q != Answer::No);
        Menu {
            stimuli,
            responses,
            quiescent,
            silence,
        }
    }

    fn observable_switches(&mut self, state: &State) -> Vec<(SwitchId, LabelId, Answer)> {
        let sts = Arc::clone(&self.sts);
        let mut found = Vec::new();
        for location in &state.locations {
            for &id in sts.outgoing(*location) {
                let switch = sts.switch(id);
                let Gate::Observable(label) = switch.gate else {
                    continue;
                };
                let feasible = if switch.enabled.mentions_params() {
                    let question = self.answers.question(&sts, id, state);
                    let answer = match self.answers.known.get(&question) {
                        Some(answer) => *answer,
                        None => {
                            let answer = self.solver.feasible(Question {
                                sts: &sts,
                                label,
                                guard: &switch.enabled,
                                valuation: &state.valuation,
                            });
                            self.answers.remember(question, answer);
                            answer
                        }
                    };
                    if answer == Answer::Unknown {
                        self.warn(Warning::Undecided { switch: id });
                    }
                    answer
                } else {
                    match self.holds(&sts, id, &switch.enabled, state, &[]) {
                        Ok(true) => Answer::Yes,
                        Ok(false) => Answer::No,
                        Err(_) => Answer::Unknown,
                    }
                };
                if feasible != Answer::No {
                    found.push((id, label, feasible));
                }
            }
        }
        found
    }

    /// Whether this stimulus, with these values, may be given here.
    pub fn accepts(&mut self, id: SetId, stimulus: &Action) -> bool {
        let some_state_accepts = self.after(id, &Step::Stimulus(stimulus.clone())).is_some();
        self.begin();
        match self.relation {
            Relation::Ioco => some_state_accepts,
            // A divergent set may have no stable state at all, so asking those is not enough.
            Relation::Uioco => {
                let set = Arc::clone(self.set(id));
                some_state_accepts
                    && !set.truncated
                    && set.states.iter().all(|state| {
                        self.internal_steps(state).stable() == Answer::No
                            || self.state_accepts(state, stimulus)
                    })
            }
        }
    }

    fn state_accepts(&mut self, state: &State, stimulus: &Action) -> bool {
        let sts = Arc::clone(&self.sts);
        let gate = Gate::Observable(stimulus.label);
        state.locations.iter().any(|location| {
            sts.outgoing(*location).iter().any(|id| {
                let mut taken = || self.take(&sts, *id, state, &stimulus.values);
                sts.switch(*id).gate == gate && matches!(taken(), Taken::To(_))
            })
        })
    }

    /// The condition on an offer's parameters alone, with the values of the variables put in: some
    /// switch holds (ioco), or for every stable state some switch of it holds (uioco).
    ///
    /// An alternative that has no value (it compares with what is unset, say) hides those to its
    /// right from plain evaluation, so the condition may miss values that [`Semantics::accepts`]
    /// takes; it never holds for values that are not accepted.
    pub fn offer_condition(&mut self, id: SetId, offer: &Offer) -> Expr {
        self.begin();
        let set = Arc::clone(self.set(id));
        let stable: Vec<u32> = match self.relation {
            Relation::Ioco => Vec::new(),
            Relation::Uioco => (0..set.states.len() as u32)
                .filter(|index| {
                    let state = &set.states[*index as usize];
                    self.internal_steps(state).stable() != Answer::No
                })
                .collect(),
        };
        let guard = |offered: &OfferedSwitch| {
            let state = &set.states[offered.state as usize];
            let guard = &self.sts.switch(offered.switch).enabled;
            guard.with_values(&state.valuation)
        };
        if stable.is_empty() {
            return any_of(offer.switches.iter().map(guard));
        }
        let of_state = |index: &u32| {
            let own = offer.switches.iter().filter(|s| s.state == *index);
            any_of(own.map(guard))
        };
        stable.iter().map(of_state).fold(Expr::TRUE, Expr::and)
    }
}

fn any_of(alternatives: impl Iterator<Item = Expr>) -> Expr {
    alternatives
        .reduce(|left, right| Expr::binary(BinaryOp::Or, left, right))
        .unwrap_or(Expr::FALSE)
}

fn add_offer(offers: &mut Vec<Offer>, label: LabelId, switch: OfferedSwitch) {
    match offers.iter_mut().find(|offer| offer.label == label) {
        Some(offer) => offer.switches.push(switch),
        None => offers.push(Offer {
            label,
            switches: vec![switch],
        }),
    }
}

fn accepted_by_all(offer: &Offer, stable: &[bool]) -> bool {
    stable
        .iter()
        .enumerate()
        .all(|(index, stable)| !stable || offer.switches.iter().any(|s| s.state as usize == index))
}
