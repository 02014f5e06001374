//! Random small models, systems that follow them but for one mistake, and a runner for them.
//!
//! A model may leave the answer open and may send for ever. A system resolves every choice: always in
//! the same way, or in turn.

use std::sync::Arc;

use ioco_shrink::Runner;
use ioco_sts::{
    Action, Deviation, DeviationKind, Direction, Execution, LabelId, Observed, Semantics, SetId,
    Step, Sts, Verdict,
};
use proptest::prelude::*;

use crate::flat_model::{Transition, semantics, sts};

/// Responses that the runner waits for before it gives the next stimulus all the same.
const MAX_ANSWERS: usize = 8;

/// Labels by number: stimuli first.
pub const STIMULI: usize = 3;
const LABELS: [&str; 5] = ["?a", "?b", "?c", "!x", "!y"];

/// A transition system over numbers: source, label, target.
#[derive(Clone, Debug)]
pub struct Flat(pub Vec<(usize, usize, usize)>);

impl Flat {
    pub fn sts(&self) -> Arc<Sts> {
        let transitions: Vec<Transition> = self
            .0
            .iter()
            .map(|(s, l, t)| (format!("q{s}"), LABELS[*l].to_owned(), format!("q{t}")))
            .collect();
        sts("random", &transitions)
    }

    fn outgoing(&self, state: usize, stimuli: bool) -> Vec<(usize, usize)> {
        let all = self.0.iter().filter(|t| t.0 == state);
        all.filter(|t| (t.1 < STIMULI) == stimuli)
            .map(|t| (t.1, t.2))
            .collect()
    }
}

/// Up to five states; the first transition leaves the initial state with a stimulus.
pub fn model() -> impl Strategy<Value = Flat> {
    let transition = (0usize..5, 0usize..LABELS.len(), 0usize..5);
    let first = (Just(0usize), 0usize..STIMULI, 0usize..5);
    (first, proptest::collection::vec(transition, 3..12)).prop_map(|(first, mut rest)| {
        rest.insert(0, first);
        rest.sort_unstable_by_key(|t| t.0 != 0);
        let position = rest.iter().position(|t| *t == first).unwrap_or(0);
        rest.swap(0, position);
        rest.dedup();
        Flat(rest)
    })
}

/// Follows the model, but for one state and stimulus after which it answers something else.
#[derive(Clone, Debug)]
pub struct Mistaken {
    pub model: Flat,
    pub place: (usize, usize),
    pub answer: usize,
    /// Which of several ways it takes, per state.
    pub choice: usize,
    /// It takes them in turn instead.
    pub takes_turns: bool,
    at: usize,
    turn: usize,
}

pub fn mistaken(model: Flat) -> impl Strategy<Value = Mistaken> {
    let place = (0usize..5, 0usize..STIMULI);
    (place, STIMULI..=LABELS.len(), 0usize..7, any::<bool>()).prop_map(
        move |(place, answer, choice, takes_turns)| Mistaken {
            model: model.clone(),
            place,
            answer,
            choice,
            takes_turns,
            at: 0,
            turn: 0,
        },
    )
}

impl Mistaken {
    fn pick<T: Copy>(&mut self, ways: &[T]) -> Option<T> {
        if self.takes_turns {
            self.turn += 1;
        }
        let number = (self.choice + self.at).wrapping_add(self.turn);
        ways.get(number % ways.len().max(1)).copied()
    }

    fn reset(&mut self) {
        self.at = 0;
    }

    fn talk(&mut self) -> Vec<usize> {
        let mut said = Vec::new();
        while said.len() < MAX_ANSWERS {
            let ways = self.model.outgoing(self.at, false);
            // It may be silent where a response and a stimulus are possible.
            let Some((label, target)) = self.pick(&ways) else {
                break;
            };
            said.push(label);
            self.at = target;
        }
        said
    }

    fn give(&mut self, stimulus: usize) -> Vec<usize> {
        let is_place = self.place == (self.at, stimulus);
        let mut ways = self.model.outgoing(self.at, true);
        ways.retain(|(label, _)| *label == stimulus);
        if let Some((_, target)) = self.pick(&ways) {
            self.at = target;
        }
        if is_place {
            return match self.answer {
                silence if silence == LABELS.len() => Vec::new(),
                label => vec![label],
            };
        }
        self.talk()
    }
}

/// Runs lists on such a system with the model following.
pub struct RandomRunner {
    semantics: Semantics,
    labels: Vec<Option<LabelId>>,
    system: Mistaken,
    pub runs: usize,
}

impl RandomRunner {
    pub fn new(sts: &Arc<Sts>, system: Mistaken) -> RandomRunner {
        let label = |(number, name): (usize, &&str)| {
            let direction = match number < STIMULI {
                true => Direction::Stimulus,
                false => Direction::Response,
            };
            sts.label_named(direction, &name[1..])
        };
        RandomRunner {
            semantics: semantics(sts),
            labels: LABELS.iter().enumerate().map(label).collect(),
            system,
            runs: 0,
        }
    }

    /// The stimuli that the model knows.
    pub fn stimuli(&self) -> Vec<Action> {
        let known = self.labels[..STIMULI].iter().flatten();
        known.map(|label| Action::plain(*label)).collect()
    }

    fn fail(&self, trace: Vec<Step>, set: SetId, observed: Observed) -> Execution {
        let kind = match &observed {
            Observed::Silence(_) => DeviationKind::MissingResponse,
            _ => DeviationKind::UnexpectedResponse,
        };
        let states = Arc::clone(self.semantics.set(set));
        let verdict = Verdict::Fail(Deviation {
            kind,
            observed,
            states,
        });
        Execution { trace, verdict }
    }

    /// Takes in what the system says; an error is the deviation.
    fn listen(
        &mut self,
        said: Vec<usize>,
        set: &mut SetId,
        trace: &mut Vec<Step>,
    ) -> Result<(), Execution> {
        let talks = said.len() >= MAX_ANSWERS;
        for label in said {
            let Some(known) = self.labels[label] else {
                let observed = Observed::Unknown(LABELS[label].to_owned());
                return Err(self.fail(trace.clone(), *set, observed));
            };
            let action = Action::plain(known);
            let step = Step::Response(action.clone());
            match self.semantics.after(*set, &step) {
                Some(next) => *set = next,
                None => return Err(self.fail(trace.clone(), *set, Observed::Response(action))),
            }
            trace.push(step);
        }
        if !talks {
            match self.semantics.after(*set, &Step::Quiescence) {
                Some(next) => *set = next,
                None => return Err(self.fail(trace.clone(), *set, Observed::Silence(1))),
            }
            trace.push(Step::Quiescence);
        }
        Ok(())
    }
}

impl Runner for RandomRunner {
    fn run(&mut self, stimuli: &[Action]) -> Execution {
        self.runs += 1;
        self.system.reset();
        let (mut set, mut trace) = (self.semantics.initial(), Vec::new());
        let said = self.system.talk();
        if let Err(failed) = self.listen(said, &mut set, &mut trace) {
            return failed;
        }
        for stimulus in stimuli {
            if !self.semantics.accepts(set, stimulus) {
                let verdict = Verdict::inconclusive(ioco_sts::Cause::NotOffered, "not offered");
                return Execution { trace, verdict };
            }
            let step = Step::Stimulus(stimulus.clone());
            set = self.semantics.after(set, &step).expect("accepted");
            trace.push(step);
            let number = self
                .labels
                .iter()
                .position(|label| *label == Some(stimulus.label))
                .expect("a label of the model");
            let said = self.system.give(number);
            if let Err(failed) = self.listen(said, &mut set, &mut trace) {
                return failed;
            }
        }
        let verdict = Verdict::Pass;
        Execution { trace, verdict }
    }
}
