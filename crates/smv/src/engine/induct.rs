//! Many conjectures proved together, by k-induction. Each says that something never holds: a goal that no
//! walk has met, a value that no variable was seen to take. What fails from a state that respects all of them is given
//! up, until those left hold up each other (the Houdini algorithm). One small solver decides hundreds of goals at once,
//! and what is proved makes every other engine stronger.

use super::Budget;
use super::sat::{Answer, Literal};
use super::unroll::Unrolling;
use crate::circuit::Lit;
use crate::circuit::code::encode_value;
use crate::expr::VarId;
use crate::model::Model;
use crate::system::Circuit;
use crate::value::Value;

/// Values that no run is known to show: of one variable, or of two together.
pub(crate) struct Unseen<'u> {
    pub single: Vec<(VarId, Value)>,
    /// There are many of them, so they are asked for only when they are needed.
    pub pairs: &'u dyn Fn() -> Vec<[(VarId, Value); 2]>,
}

/// How hard to try: how many steps a conjecture is assumed to have held before it is asked to hold again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// One step.
    Little,
    /// One step with conjectures on pairs of values, then several steps.
    Much,
}

/// Proves what it can of "no goal holds" and "these values are never taken", and returns the goals for which it could.
/// What holds in every reachable state becomes a lemma of the circuit.
pub(crate) fn strengthen(
    model: &Model,
    circuit: &mut Circuit,
    unseen: &Unseen,
    effort: Effort,
    budget: Budget,
) -> Vec<usize> {
    let mut conjectures: Vec<Lit> = circuit
        .goals
        .iter()
        .filter(|goal| !goal.transition)
        .map(|goal| goal.lit)
        .collect();
    for (var, value) in &unseen.single {
        let lit = equality(model, circuit, *var, *value);
        conjectures.push(lit);
    }
    conjectures.sort_unstable();
    conjectures.dedup();
    conjectures.retain(|lit| *lit != Lit::FALSE && *lit != Lit::TRUE);
    let mut refuted = vec![false; circuit.goals.len()];
    let rounds: &[usize] = match effort {
        Effort::Little => &[1],
        Effort::Much => &[1, 2, 4],
    };
    for steps in rounds.iter().copied() {
        let mut asked = conjectures.clone();
        if effort == Effort::Much && steps == 1 {
            for pair in (unseen.pairs)() {
                let both = pair.map(|(var, value)| equality(model, circuit, var, value));
                asked.push(circuit.aig.and(both[0], both[1]));
            }
            asked.sort_unstable();
            asked.dedup();
        }
        let proved = prove(model, circuit, asked, steps, budget);
        for (goal, refuted) in circuit.goals.iter().zip(&mut refuted) {
            *refuted |= goal.lit == Lit::FALSE
                || (!goal.transition && proved.binary_search(&goal.lit).is_ok());
        }
        conjectures.retain(|lit| proved.binary_search(lit).is_err());
        circuit.lemmas.extend(proved.into_iter().map(|lit| !lit));
        refute_steps(model, circuit, &mut refuted, budget);
        if budget.over() || refuted.iter().all(|refuted| *refuted) {
            break;
        }
    }
    (0..refuted.len()).filter(|goal| refuted[*goal]).collect()
}

fn equality(model: &Model, circuit: &mut Circuit, var: VarId, value: Value) -> Lit {
    let bits = encode_value(&model.var(var).domain, value);
    let lits: Vec<Lit> = circuit
        .bits
        .iter()
        .filter(|bit| bit.var == var)
        .zip(bits)
        .map(|(bit, value)| bit.current.flip_if(!value))
        .collect();
    circuit.aig.and_all(&lits)
}

/// Goals on steps that no step from a state that respects the invariants can meet.
fn refute_steps(model: &Model, circuit: &Circuit, refuted: &mut [bool], budget: Budget) {
    let asked: Vec<usize> = (0..refuted.len())
        .filter(|index| circuit.goals[*index].transition && !refuted[*index])
        .collect();
    if asked.is_empty() {
        return;
    }
    let mut step = Unrolling::new(model, circuit, budget, false);
    step.extend();
    for index in asked {
        let goal = step.goal(0, index);
        refuted[index] = step.solve(&[goal]) == Answer::No;
    }
}

/// The conjectures that hold. None when time runs out.
fn prove(
    model: &Model,
    circuit: &Circuit,
    mut live: Vec<Lit>,
    steps: usize,
    budget: Budget,
) -> Vec<Lit> {
    let mut start = Unrolling::new(model, circuit, budget, true);
    for frame in 0..steps {
        if frame > 0 {
            start.extend();
        }
        if !thin_out(&mut start, frame, &mut live, &[]) {
            return Vec::new();
        }
    }
    let mut further = Unrolling::new(model, circuit, budget, false);
    for _ in 0..steps {
        further.extend();
    }
    let respects: Vec<(Lit, Literal)> = live
        .iter()
        .map(|lit| {
            let switch = further.fresh();
            for frame in 0..steps {
                let violated = further.gate(frame, *lit);
                further.clause(&[!switch, !violated]);
            }
            (*lit, switch)
        })
        .collect();
    loop {
        let before = live.len();
        let switches: Vec<Literal> = respects
            .iter()
            .filter(|(lit, _)| live.binary_search(lit).is_ok())
            .map(|(_, switch)| *switch)
            .collect();
        if !thin_out(&mut further, steps, &mut live, &switches) {
            return Vec::new();
        }
        if live.len() == before {
            return live;
        }
    }
}

/// Gives up the conjectures that can fail in a frame under the assumptions. False when time runs out.
fn thin_out(
    unrolling: &mut Unrolling,
    frame: usize,
    live: &mut Vec<Lit>,
    assumptions: &[Literal],
) -> bool {
    let mut violated: Vec<(Lit, Literal)> = live
        .iter()
        .map(|lit| (*lit, unrolling.gate(frame, *lit)))
        .collect();
    while !violated.is_empty() {
        let any = unrolling.fresh();
        let mut clause = vec![!any];
        clause.extend(violated.iter().map(|(_, lit)| *lit));
        unrolling.clause(&clause);
        let mut question = assumptions.to_vec();
        question.push(any);
        match unrolling.solve(&question) {
            Answer::No => break,
            Answer::Unknown => return false,
            Answer::Yes => violated.retain(|(_, lit)| !unrolling.value(*lit)),
        }
        unrolling.clause(&[!any]);
    }
    *live = violated.into_iter().map(|(lit, _)| lit).collect();
    true
}
