//! A model played as a system: a mutant, an automaton, or the model itself.
//!
//! The simulated system takes whatever the model says it may do, and a seeded generator chooses
//! where the model leaves a choice: which response, with which values, or silence. Its traces are
//! exactly those of the model. A stimulus that the model does not accept is ignored.

use std::sync::Arc;

use ioco_solve::{Deadline, choose_values};
use ioco_sts::{Action, Answer, Expr, LabelId, Relation, Semantics, SetId, Step, Sts};
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

use crate::connection::AdapterError;
use crate::in_process::{InProcess, Outbox};

/// More remembered state sets than this are forgotten, to bound the memory of long runs.
const REMEMBERED: usize = 20_000;

/// Steps of the solver for the values of one response.
const STEPS: u64 = 100_000;

/// A model as a system under test.
pub struct Simulated {
    semantics: Semantics,
    set: SetId,
    rng: ChaCha8Rng,
}

impl Simulated {
    pub fn new(sts: Arc<Sts>, seed: u64) -> Simulated {
        let semantics = ioco_solve::semantics(&sts, Relation::Ioco);
        Simulated {
            set: semantics.initial(),
            semantics,
            rng: ChaCha8Rng::seed_from_u64(seed),
        }
    }

    fn bound_memory(&mut self) {
        if self.semantics.is_crowded(REMEMBERED) {
            self.set = self.semantics.forget_all_but(self.set);
        }
    }

    /// Whether the model takes this stimulus now.
    pub fn takes(&mut self, stimulus: &Action) -> bool {
        let step = Step::Stimulus(stimulus.clone());
        self.semantics.after(self.set, &step).is_some()
    }

    /// Whether the model takes a stimulus of this label now.
    pub fn takes_label(&mut self, label: LabelId) -> bool {
        let menu = self.semantics.menu(self.set);
        menu.stimuli.iter().any(|offer| offer.label == label)
    }

    /// Sends this response, if values are found that make the condition true.
    fn respond(&mut self, label: LabelId, condition: Option<&Expr>, out: &mut Outbox) -> bool {
        let values = match condition {
            None => Vec::new(),
            Some(condition) => {
                let sts = self.semantics.sts();
                let deadline = Deadline::steps(STEPS);
                let found = choose_values(sts, label, condition, &[], &mut self.rng, &deadline);
                match found.sat() {
                    Some(values) => values,
                    None => return false,
                }
            }
        };
        let step = Step::Response(Action { label, values });
        let Some(next) = self.semantics.after(self.set, &step) else {
            return false;
        };
        self.set = next;
        if let Step::Response(action) = step {
            out.send(action);
        }
        true
    }
}

impl InProcess for Simulated {
    fn reset(&mut self, _: &mut Outbox) {
        self.set = self.semantics.initial();
    }

    fn give(&mut self, stimulus: &Action, _: u64, _: &mut Outbox) {
        let step = Step::Stimulus(stimulus.clone());
        if let Some(next) = self.semantics.after(self.set, &step) {
            self.set = next;
        }
    }

    fn elapse(&mut self, now: u64, until: u64, out: &mut Outbox) -> u64 {
        self.bound_memory();
        let menu = self.semantics.menu(self.set);
        let responses = menu.responses.len();
        let choices = responses + usize::from(menu.silence);
        let first = match choices {
            0 | 1 => 0,
            _ => self.rng.random_range(0..choices),
        };
        // The choice drawn first, and the others in turn where no values are found for it.
        for offset in 0..choices {
            let index = (first + offset) % choices;
            if index == responses {
                let is_truncated = self.semantics.set(self.set).truncated;
                if is_truncated && !menu.quiescent.contains(&Answer::Yes) {
                    // Silence may be allowed by a state that is missing, or by none.
                    continue;
                }
                let silent = self.semantics.after(self.set, &Step::Quiescence);
                // A set without states would never answer again.
                let known = silent.filter(|set| !self.semantics.set(*set).is_empty());
                self.set = known.unwrap_or(self.set);
                return until;
            }
            let offer = &menu.responses[index];
            let plain = self
                .semantics
                .sts()
                .label(offer.label)
                .parameters
                .is_empty();
            let condition = (!plain).then(|| self.semantics.offer_condition(self.set, offer));
            if self.respond(offer.label, condition.as_ref(), out) {
                return now;
            }
        }
        out.give_up(match menu.responses.first() {
            Some(offer) => {
                let name = self.semantics.sts().label(offer.label).marked_name();
                AdapterError::new(format!(
                    "the simulated system found no values for its response {name}"
                ))
            }
            None => AdapterError::new(
                "states of the model are missing here, because a limit was reached or the values of a hand-shake could not be listed",
            )
            .hint("`ioco check` warns of such hand-shakes; `ioco explore` shows where a limit is reached"),
        });
        until
    }
}
