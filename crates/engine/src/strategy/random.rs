//! `random`: any stimulus that is offered, uniformly or by the weight of its label.

use std::collections::BTreeMap;

use ioco_sts::{Direction, LabelId, Sts};
use rand::RngExt;

use super::{Choice, Situation};
use crate::settings::weight_of;
use crate::values::{SolverSteps, choose_stimulus};

pub(crate) struct Random {
    /// By label; empty when all weigh the same.
    weights: Vec<f64>,
}

impl Random {
    pub fn new(weights: &BTreeMap<String, f64>, sts: &Sts) -> Random {
        if weights.is_empty() {
            return Random {
                weights: Vec::new(),
            };
        }
        let labels = (0..sts.labels().len()).map(LabelId::from_index);
        let weight = |id: LabelId| match sts.label(id).direction {
            Direction::Stimulus => weight_of(weights, sts, id),
            _ => 0.0,
        };
        Random {
            weights: labels.map(weight).collect(),
        }
    }

    /// With these weights, by label.
    pub fn weighted(weights: Vec<f64>) -> Random {
        Random { weights }
    }

    pub fn choose(&mut self, mut situation: Situation<'_>) -> Choice {
        let offers = situation.menu.stimuli.len();
        if offers == 0 {
            return situation.wait_or_end();
        }
        let total = self.total(&situation);
        if total <= 0.0 || situation.observes(total) {
            return situation.wait_or_end();
        }
        let first = self.pick(&mut situation, total);
        // An offer whose values are not found is not the end: the ones after it, going round, are
        // tried in turn.
        for turn in 0..offers {
            let index = (first + turn) % offers;
            let offer = &situation.menu.stimuli[index];
            if turn > 0 && self.weight(offer.label.index()) <= 0.0 {
                continue;
            }
            let Situation {
                semantics,
                set,
                rng,
                budget,
                ..
            } = &mut situation;
            let mut steps = SolverSteps::new(*budget);
            let chosen = choose_stimulus(semantics, *set, offer, None, &mut steps, rng);
            if let Some((action, followed)) = chosen {
                return Choice::Give(action, followed);
            }
        }
        situation.wait_or_end()
    }

    fn weight(&self, label: usize) -> f64 {
        self.weights.get(label).copied().unwrap_or(1.0)
    }

    fn total(&self, situation: &Situation<'_>) -> f64 {
        let offers = &situation.menu.stimuli;
        if self.weights.is_empty() {
            return offers.len() as f64;
        }
        offers.iter().map(|o| self.weight(o.label.index())).sum()
    }

    fn pick(&self, situation: &mut Situation<'_>, total: f64) -> usize {
        let offers = &situation.menu.stimuli;
        if self.weights.is_empty() {
            return situation.rng.random_range(0..offers.len());
        }
        let mut left = situation.rng.random::<f64>() * total;
        for (index, offer) in offers.iter().enumerate() {
            left -= self.weight(offer.label.index());
            if left < 0.0 {
                return index;
            }
        }
        offers.len() - 1
    }
}
