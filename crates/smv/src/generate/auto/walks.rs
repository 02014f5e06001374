//! Random walks over the whole model, which find most tests.

use super::SMALL_BITS;
use crate::complete::WalkPolicy;
use crate::expr::VarId;
use crate::generate::board::Board;
use crate::simulate;
use crate::system::{Circuit, System};

/// States; a walk that is longer is not prolonged.
pub(super) const LONGEST_WALK: usize = 4000;

/// How long to walk.
#[derive(Clone, Copy)]
pub(super) struct WalkLimits {
    /// Seconds without any success.
    pub patience: f64,
    /// Walks without any success.
    pub stamina: usize,
    pub most_seconds: f64,
    /// Where the numbers begin from which walks are chosen, so that no walk is made twice.
    pub seed: u64,
}

pub(super) const SHORT_WALKS: WalkLimits = WalkLimits {
    patience: 0.01,
    stamina: 3,
    most_seconds: 1.0,
    seed: 0,
};

pub(super) const THOROUGH: WalkLimits = WalkLimits {
    patience: 0.4,
    stamina: 9,
    most_seconds: 12.0,
    seed: 1 << 20,
};

pub(super) fn walks(board: &Board, limits: WalkLimits) {
    let bits: u32 = board.model.vars.iter().map(|var| var.domain.bits()).sum();
    // A small model is soon known.
    let small = bits <= SMALL_BITS;
    let share = board.options.time_per_goal * board.goals.len() as f64 * 0.05;
    let budget = board.budget().within(share.min(limits.most_seconds));
    let start = budget.now();
    let mut fruitful = start;
    let mut circuit = None;
    let mut blind = true;
    let everything: Vec<VarId> = board.model.var_ids().collect();
    let mut poor = 0;
    for round in 0..400_u64 {
        // A walk that has found nothing for half as long as it once took to find something will hardly find more.
        let patience = limits.patience + (fruitful - start) / 2.0;
        let exhausted = poor > limits.stamina || (poor > 0 && budget.now() > fruitful + patience);
        if budget.over() || exhausted || board.open_goals().is_empty() {
            break;
        }
        let budget = budget.within(fruitful + patience - budget.now());
        let seed = board.options.seed.wrapping_add(limits.seed + round * 7919);
        let policy = [
            WalkPolicy::Uniform,
            WalkPolicy::PreferChange,
            WalkPolicy::PreferStay,
        ][(round % 3) as usize];
        let steps = match (small, policy) {
            (true, _) => 30,
            (false, WalkPolicy::Uniform) => 80,
            (false, _) if round < 6 => 400,
            (false, _) => 3000,
        };
        let (mut run, mut known) = (None, 0);
        if blind {
            // Every second time further from where a walk was last of use.
            let start = match board.some_run(0) {
                Some(known) if !small && round % 6 > 2 && known.len() < LONGEST_WALK => {
                    known.to_vec()
                }
                _ => Vec::new(),
            };
            known = start.len();
            run = board.random_walk(start, steps, seed, policy, &everything, budget);
            blind = run.is_some();
        }
        let found = match run {
            Some(run) => board.offer(run, known, "random walk"),
            None => {
                let compiled = circuit.get_or_insert_with(|| {
                    Circuit::compile(board.model, &System::whole(board.model), &[])
                });
                let Ok(compiled) = compiled else { return };
                let prefer_change = policy == WalkPolicy::PreferChange;
                let steps = steps.min(300);
                board.offer(
                    simulate::walk(board.model, compiled, steps, seed, prefer_change, budget),
                    0,
                    "random walk",
                )
            }
        };
        if found == 0 {
            poor += 1;
        } else {
            poor = 0;
            fruitful = budget.now();
        }
    }
}
