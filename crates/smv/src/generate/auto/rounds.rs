//! The first rounds: every engine in turn, in little time, then in more. Whichever is good at a model gets to it soon, and
//! the others have not cost much more until then. Most models need no more.

use super::task::Task;
use super::walks::{WalkLimits, walks};
use super::{
    Group, LIGHT_SHARE, PARTS_SECONDS, PARTS_SHARE, prepare, prove_together, slice, smaller_parts,
};
use crate::engine::bdd::Halt;
use crate::engine::ic3::Ic3;
use crate::engine::induct::Effort;
use crate::engine::order;
use crate::engine::unroll::Unrolling;
use crate::generate::board::Board;

const ROUNDS: [Round; 4] = [
    Round {
        seconds: 0.02,
        nodes: 60_000,
        solvers: true,
    },
    Round {
        seconds: 0.15,
        nodes: 1_500_000,
        solvers: true,
    },
    Round {
        seconds: 0.3,
        nodes: 0,
        solvers: true,
    },
    Round {
        seconds: 1.0,
        nodes: 1_500_000,
        solvers: false,
    },
];

struct Round {
    /// For one engine.
    seconds: f64,
    /// Of a decision diagram; none where it would only fail again. Making room for many takes longer than most models
    /// need in all.
    nodes: usize,
    /// Whether solvers are asked. They get a long time later, with what they have learned by then.
    solvers: bool,
}

impl Round {
    /// Walks again, others than before.
    fn limits(&self, number: usize, group: usize) -> WalkLimits {
        WalkLimits {
            patience: self.seconds * 0.5,
            stamina: 9,
            most_seconds: self.seconds * 5.0,
            seed: ((1 + number + ROUNDS.len() * group) as u64) << 32,
        }
    }
}

/// Seconds that a single goal needs at least for a proof to be worth its beginning.
const SHORTEST_SHARE: f64 = 0.03;

/// A decision diagram gets so many times the seconds of the others: it answers all goals at once.
const DIAGRAM: f64 = 8.0;

/// Circuits with more bits seldom fit into a little more room.
const MIDDLE_BITS: usize = 100;

/// Walks, a short unrolling, induction, a small decision diagram and a moment for every goal.
pub(super) fn light(board: &Board, group: &Group, group_number: usize) {
    let Some((open, system, mut circuit)) = prepare(board, group) else {
        return;
    };
    // Lemmas that are found later are not missed here.
    let plain = circuit.clone();
    let mut unrolling = Unrolling::new(board.model, &plain, board.budget(), true);
    let (mut near, mut proved, mut full) = (false, false, false);
    for (number, round) in ROUNDS.iter().enumerate() {
        let task = Task::new(board, &open, &system.vars, &circuit);
        if number > 0 {
            walks(board, round.limits(number, group_number));
        }
        if task.left().is_empty() {
            return;
        }
        if round.solvers && !near {
            near = task.near(&mut unrolling, slice(board, round.seconds));
            task.unblock();
        }
        if task.left().is_empty() {
            return;
        }
        if round.solvers && !proved {
            let budget = slice(board, round.seconds);
            proved = prove_together(board, &open, &system, &mut circuit, Effort::Much, budget);
        }
        let task = Task::new(board, &open, &system.vars, &circuit);
        if task.left().is_empty() {
            return;
        }
        // Large circuits seldom fit into a little more room.
        full |= number > 0 && circuit.bits.len() > MIDDLE_BITS;
        if round.nodes > 0 && !full {
            let order = match number {
                0 => order::force(&circuit, &order::declared(&circuit)),
                _ => order::force_best(&circuit, 12),
            };
            let budget = slice(board, round.seconds * DIAGRAM);
            let result = task.diagram(&order, round.nodes, budget);
            full |= number > 0 && result == Err(Halt::Memory);
            task.unblock();
        }
        let left = task.left().len();
        if left == 0 {
            return;
        }
        if round.solvers && number > 0 {
            let budget = slice(board, round.seconds);
            let mut ic3 = Ic3::new(board.model, &circuit, budget);
            let share = round.seconds / left as f64;
            task.one_by_one(&mut ic3, share.max(SHORTEST_SHARE), budget);
            task.unblock();
        }
    }
    let left: Vec<usize> = open
        .into_iter()
        .filter(|goal| board.is_open(*goal))
        .collect();
    let seconds = PARTS_SECONDS.min(board.budget().left() * LIGHT_SHARE);
    smaller_parts(board, &left, seconds, PARTS_SHARE);
}
