//! A model played as a system: a mutant, an automaton, or the model itself.
//!
//! The simulated system takes whatever the model says it may do, and a seeded generator chooses
//! where the model leaves a choice: which response, with which values, or silence. Its traces are
//! exactly those of the model. A stimulus that the model does not accept is ignored.

use ioco_sts::{Action, Expr, LabelId, Semantics, SetId, Step, Sts, Value};
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

use crate::connection::Trouble;
use crate::in_process::{InProcess, Outbox};

/// Finds values for a response's parameters that make a condition true; the last argument is the
/// random bits to choose by. `None`: none found.
pub type ChooseValues = dyn FnMut(&Sts, LabelId, &Expr, u64) -> Option<Vec<Value>> + Send;

/// More remembered state sets than this are forgotten, to bound the memory of long runs.
const REMEMBERED: usize = 20_000;

/// A model as a system under test.
pub struct Simulated {
    semantics: Semantics,
    set: SetId,
    rng: ChaCha8Rng,
    choose: Box<ChooseValues>,
}

impl Simulated {
    /// `choose` is only asked about responses whose parameters the model speaks of.
    pub fn new(semantics: Semantics, seed: u64, choose: Box<ChooseValues>) -> Simulated {
        Simulated {
            set: semantics.initial(),
            semantics,
            rng: ChaCha8Rng::seed_from_u64(seed),
            choose,
        }
    }

    fn bound_memory(&mut self) {
        if self.semantics.remembered() > REMEMBERED {
            self.set = self.semantics.forget_all_but(self.set);
        }
    }

    /// Sends the response of number `index` on the menu, if values for it are found.
    fn respond(&mut self, label: LabelId, condition: Option<&Expr>, out: &mut Outbox) -> bool {
        let values = match condition {
            None => Vec::new(),
            Some(condition) => {
                let bits = self.rng.random();
                let sts = self.semantics.sts();
                match (self.choose)(sts, label, condition, bits) {
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
                let silent = self.semantics.after(self.set, &Step::Quiescence);
                self.set = silent.unwrap_or(self.set);
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
        if choices > 0 {
            let label = menu.responses[0].label;
            let name = self.semantics.sts().label(label).marked_name();
            out.give_up(Trouble {
                message: format!("the simulated system found no values for its response {name}"),
                hint: None,
            });
        }
        until
    }
}
