//! Random walks: cheap, and most goals need nothing better.

use crate::circuit::code::encode_value;
use crate::engine::Budget;
use crate::engine::sat::{Answer, Sat};
use crate::engine::unroll::Unrolling;
use crate::eval::State;
use crate::goal::next_random;
use crate::model::{Model, VarKind};
use crate::system::Circuit;

/// A random run from a random initial state, of at most so many steps. Shorter when the model blocks or time is up.
/// An prefer_change walk prefers that things change: where everything may also wait, a fair walk hardly moves.
pub(crate) fn walk(
    model: &Model,
    circuit: &Circuit,
    steps: usize,
    seed: u64,
    prefer_change: bool,
    budget: Budget,
) -> Vec<State> {
    let mut random = seed;
    let mut next_seed = || {
        random = next_random(random);
        (random % 1_000_003) as f64 + 1.0
    };
    let mut first = Unrolling::with(model, circuit, Sat::random(budget, next_seed()), true);
    if first.solve(&[]) != Answer::Yes {
        return Vec::new();
    }
    let mut run = vec![first.state(0)];
    let mut step = Unrolling::with(model, circuit, Sat::random(budget, next_seed()), false);
    step.extend();
    while run.len() <= steps && !budget.over() {
        let last = run.len() - 1;
        let mut assumptions = Vec::new();
        let mut bits = Vec::with_capacity(circuit.bits.len());
        for (var, value) in circuit.vars.iter().zip(&run[last]) {
            bits.extend(encode_value(&model.var(*var).domain, *value));
            if model.var(*var).kind != VarKind::Input {
                assumptions.extend(step.fix(0, *var, *value));
            }
        }
        // Some bits of the next state are thrown like dice, or asked to change; what cannot be is dropped again.
        let mut dice = Vec::new();
        let now = step.bit_lits(0).to_vec();
        let then = step.bit_lits(1).to_vec();
        for (index, (lit, later)) in now.iter().zip(&then).enumerate() {
            random = next_random(random);
            let roll = if random & 8 == 0 { *lit } else { !*lit };
            if circuit.bits[index].input {
                dice.push(roll);
            } else if prefer_change {
                if !random.is_multiple_of(4) {
                    dice.push(if bits[index] { !*later } else { *later });
                }
            } else if random.is_multiple_of(3) {
                dice.push(if random & 8 == 0 { *later } else { !*later });
            }
        }
        let mut answer = Answer::No;
        for _ in 0..12 {
            let mut all = assumptions.clone();
            all.extend(&dice);
            answer = step.solve(&all);
            if answer != Answer::No {
                break;
            }
            let core = step.core();
            dice.retain(|lit| !core.contains(lit));
            if dice.is_empty() {
                break;
            }
        }
        if answer == Answer::No {
            answer = step.solve(&assumptions);
        }
        if answer != Answer::Yes {
            break;
        }
        // The inputs that were chosen belong to the state before.
        run[last] = step.state(0);
        run.push(step.state(1));
    }
    run
}
