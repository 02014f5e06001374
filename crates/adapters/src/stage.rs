//! A model on stage: it takes stimuli and says what the model allows, with faults where they are asked for. Who
//! plays it to others speaks their protocol.
//!
//! The same seed and the same stimuli give the same responses.

use std::str::FromStr;
use std::sync::Arc;

use ioco_sts::{Action, LabelId, Sts, Value};
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

use crate::connection::Arrival;
use crate::in_process::{InProcess as _, Outbox};
use crate::simulated::Simulated;

/// What a played system does wrongly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlayedFault {
    /// A response is not sent.
    Drop,
    /// A response is sent twice.
    Duplicate,
    /// A response has another value; one without values is as it should be.
    Value,
    /// A stimulus has no effect.
    Ignore,
    /// The system ends instead of answering.
    End,
}

/// A fault and how probable it is, wherever it can happen: `drop=0.1`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FaultRate {
    pub fault: PlayedFault,
    pub probability: f64,
}

impl FromStr for FaultRate {
    type Err = String;

    fn from_str(text: &str) -> Result<FaultRate, String> {
        let (name, probability) = text.split_once('=').unwrap_or((text, "1"));
        let fault = match name {
            "drop" => PlayedFault::Drop,
            "duplicate" => PlayedFault::Duplicate,
            "value" => PlayedFault::Value,
            "ignore" => PlayedFault::Ignore,
            "end" => PlayedFault::End,
            _ => {
                return Err(format!(
                    "there is no fault '{name}'; write drop, duplicate, value, ignore or end"
                ));
            }
        };
        let probability = probability.parse().ok();
        let probability = probability.filter(|p| (0.0..=1.0).contains(p));
        Ok(FaultRate {
            fault,
            probability: probability
                .ok_or("a probability is a number from 0 to 1, as in drop=0.1")?,
        })
    }
}

/// The played system.
pub(crate) struct Stage {
    system: Simulated,
    faults: Vec<FaultRate>,
    rng: ChaCha8Rng,
    has_ended: bool,
}

impl Stage {
    pub fn new(sts: Arc<Sts>, seed: u64, faults: &[FaultRate]) -> Stage {
        Stage {
            system: Simulated::new(sts, seed),
            faults: faults.to_vec(),
            // Another stream of random numbers than that of the model's own choices.
            rng: ChaCha8Rng::seed_from_u64(seed ^ 0x6661_756c_7473),
            has_ended: false,
        }
    }

    /// [`PlayedFault::End`] has struck.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// In its initial state, and alive.
    pub fn reset(&mut self) {
        self.has_ended = false;
        self.system.reset(&mut Outbox::default());
    }

    pub fn give(&mut self, stimulus: &Action) {
        if self.strikes(PlayedFault::End) {
            self.has_ended = true;
        } else if !self.strikes(PlayedFault::Ignore) {
            self.system.give(stimulus, 0, &mut Outbox::default());
        }
    }

    /// Whether the model takes this stimulus now.
    pub fn takes(&mut self, stimulus: &Action) -> bool {
        self.system.takes(stimulus)
    }

    /// What it says next: a response once, twice, or not at all. `None`: it is silent.
    pub fn next(&mut self) -> Result<Option<Vec<Action>>, String> {
        if self.has_ended {
            return Ok(None);
        }
        let mut outbox = Outbox::default();
        self.system.elapse(0, 1, &mut outbox);
        match outbox.take().map_err(|error| error.message)? {
            Some(Arrival::Response(response)) => Ok(Some(self.with_faults(response))),
            _ => Ok(None),
        }
    }

    fn with_faults(&mut self, mut response: Action) -> Vec<Action> {
        if self.strikes(PlayedFault::Drop) {
            return Vec::new();
        }
        if self.strikes(PlayedFault::Value)
            && let Some((value, other)) = response.values.iter_mut().find_map(|value| {
                let other = other(value)?;
                Some((value, other))
            })
        {
            *value = other;
        }
        let copies = 1 + usize::from(self.strikes(PlayedFault::Duplicate));
        vec![response; copies]
    }

    fn strikes(&mut self, fault: PlayedFault) -> bool {
        let mut rates = self.faults.iter().filter(|rate| rate.fault == fault);
        let Some(rate) = rates.next() else {
            return false;
        };
        self.rng.random_bool(rate.probability)
    }
}

impl crate::text::Acceptance for Stage {
    fn takes(&mut self, stimulus: &Action) -> bool {
        self.system.takes(stimulus)
    }

    fn takes_label(&mut self, label: LabelId) -> bool {
        self.system.takes_label(label)
    }
}

/// A value of the same type.
fn other(value: &Value) -> Option<Value> {
    match value {
        Value::Int(number) => Some(Value::Int(number.wrapping_add(1))),
        Value::Bool(flag) => Some(Value::Bool(!flag)),
        Value::Str(text) => Some(Value::from(format!("{text}x").as_str())),
        _ => None,
    }
}
