//! Systems under test in this process, at the level of the model's actions: the examples' own systems, and models
//! that are played.

use std::sync::Arc;

use ioco_examples::{Message, System};
use ioco_solve::{Deadline, choose_values};
use ioco_sts::{Action, Direction, Relation, Semantics, SetId, Step, Sts, Value};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// What a system sends: a response of the model, or something that the model has no label for.
pub enum Sent {
    Known(Action),
    Unknown(String),
}

/// A system that answers at once.
pub trait Play {
    /// Back to the initial state; what it then says by itself.
    fn reset(&mut self) -> Vec<Sent>;
    fn give(&mut self, stimulus: &Action) -> Vec<Sent>;
}

/// An example's system.
pub struct Planted {
    sts: Arc<Sts>,
    system: Box<dyn System>,
}

impl Planted {
    pub fn new(sts: &Arc<Sts>, system: Box<dyn System>) -> Planted {
        Planted {
            sts: Arc::clone(sts),
            system,
        }
    }
}

impl Play for Planted {
    fn reset(&mut self) -> Vec<Sent> {
        self.system.reset();
        Vec::new()
    }

    fn give(&mut self, stimulus: &Action) -> Vec<Sent> {
        let responses = self.system.give(&to_message(&self.sts, stimulus));
        let sent = responses.iter().map(|m| match to_action(&self.sts, m) {
            Some(action) => Sent::Known(action),
            None => Sent::Unknown(m.label.clone()),
        });
        sent.collect()
    }
}

/// A stimulus as the examples' systems know it.
fn to_message(sts: &Sts, action: &Action) -> Message {
    let label = sts.label(action.label);
    let mut message = Message::plain(&label.name);
    for (parameter, value) in label.parameters.iter().zip(&action.values) {
        let value = match value {
            Value::Enum(id, member) => Value::str(sts.types().member_name(*id, *member)),
            other => other.clone(),
        };
        message.values.push((parameter.name.clone(), value));
    }
    message
}

/// A response in the model's terms; `None` where it has no label or no type for it.
fn to_action(sts: &Sts, message: &Message) -> Option<Action> {
    let label = sts.label_named(Direction::Response, &message.label)?;
    let given = |name: &str| message.values.iter().find(|(n, _)| n == name);
    let values = sts.label(label).parameters.iter().map(|parameter| {
        let value = given(&parameter.name).map_or(Value::Void, |(_, value)| value.clone());
        match (&parameter.ty, &value) {
            (ioco_sts::Type::Enum(id), Value::Str(name)) => {
                let members = &sts.types().enums[id.index()].members;
                let member = members.iter().position(|m| **m == **name)?;
                Some(Value::Enum(*id, member as u32))
            }
            _ => Some(value),
        }
    });
    Some(Action {
        label,
        values: values.collect::<Option<_>>()?,
    })
}

/// At most so many responses to one stimulus: a mutant may send for ever.
const MAX_RESPONSES: usize = 20;
/// State sets that are remembered.
const REMEMBER: usize = 4_000;

/// A model that plays the system. Where it leaves a choice, chance decides.
pub struct Played {
    semantics: Semantics,
    at: SetId,
    rng: ChaCha8Rng,
}

impl Played {
    pub fn new(sts: &Arc<Sts>, seed: u64) -> Played {
        let semantics = ioco_solve::semantics(sts, Relation::Ioco);
        Played {
            at: semantics.initial(),
            semantics,
            rng: ChaCha8Rng::seed_from_u64(seed),
        }
    }

    fn below(&mut self, bound: usize) -> usize {
        self.rng.random_range(0..bound)
    }

    /// What the model says now; at the end it is silent.
    fn speak(&mut self) -> Vec<Sent> {
        let mut sent = Vec::new();
        while sent.len() < MAX_RESPONSES {
            let menu = self.semantics.menu(self.at);
            if menu.responses.is_empty() || menu.silence && self.below(2) == 0 {
                break;
            }
            let Some((action, next)) = self.response() else {
                break;
            };
            self.at = next;
            sent.push(Sent::Known(action));
        }
        if let Some(next) = self.semantics.after(self.at, &Step::Quiescence) {
            self.at = next;
        }
        sent
    }

    /// One of the responses that are possible here.
    fn response(&mut self) -> Option<(Action, SetId)> {
        let menu = self.semantics.menu(self.at);
        let all = menu.responses.iter();
        let switches: Vec<_> = all
            .flat_map(|offer| offer.switches.iter().map(move |s| (offer.label, *s)))
            .collect();
        let first = self.below(switches.len());
        let sts = Arc::clone(self.semantics.sts());
        for turn in 0..switches.len() {
            let (label, offered) = switches[(first + turn) % switches.len()];
            let set = Arc::clone(self.semantics.set(self.at));
            let valuation = &set.states[offered.state as usize].valuation;
            let guard = &sts.switch(offered.switch).enabled;
            let deadline = Deadline::steps(20_000);
            let chosen = choose_values(&sts, label, guard, valuation, &mut self.rng, &deadline);
            let Some(values) = chosen.sat() else {
                continue;
            };
            let action = Action { label, values };
            let step = Step::Response(action.clone());
            if let Some(next) = self.semantics.after(self.at, &step) {
                return Some((action, next));
            }
        }
        None
    }
}

impl Play for Played {
    fn reset(&mut self) -> Vec<Sent> {
        let initial = self.semantics.initial();
        self.at = match self.semantics.is_crowded(REMEMBER) {
            true => self.semantics.forget_all_but(initial),
            false => initial,
        };
        self.speak()
    }

    fn give(&mut self, stimulus: &Action) -> Vec<Sent> {
        if self.semantics.is_crowded(REMEMBER) {
            self.at = self.semantics.forget_all_but(self.at);
        }
        let step = Step::Stimulus(stimulus.clone());
        // A stimulus that is not understood is ignored.
        match self.semantics.after(self.at, &step) {
            Some(next) => self.at = next,
            None => return Vec::new(),
        }
        self.speak()
    }
}
