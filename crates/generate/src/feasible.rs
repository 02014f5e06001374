//! Whether a path can go on with a move: by its own parameters first, by all of the path's then.

use ioco_solve::{Deadline, Outcome, Solver};
use ioco_sts::{BinaryOp, Env, Expr, Sts, Value};
use rand::Rng;

use crate::moves::Move;
use crate::symbolic::{Extension, Symbolic};

/// Whether a move can be made.
pub(crate) enum Feasible {
    /// With these values of all unknowns of the path.
    Yes(Vec<Value>),
    No,
    Undecided,
}

/// The end of a path: symbolic, and concrete under a witness.
pub(crate) struct Point<'a> {
    pub symbolic: &'a Symbolic,
    pub witness: &'a [Value],
    pub valuation: &'a [Value],
}

impl Point<'_> {
    /// Decides a move without touching the values chosen so far; `None` where these may be in the
    /// way.
    pub fn decide(
        &self,
        sts: &Sts,
        step: &Move,
        rng: &mut dyn Rng,
        budget: u64,
    ) -> Option<Feasible> {
        // Where every variable that the guard reads is known, nothing chosen before can be blamed.
        let is_final = || step.reads.iter().all(|v| self.symbolic.knows(*v));
        match own_values(sts, step, self.valuation, rng, budget) {
            Outcome::Sat(values) => {
                let mut witness = self.witness.to_vec();
                witness.extend(values);
                if !step.observable && witness[self.witness.len()..].contains(&Value::Void) {
                    // A hand-shake sends a value wherever one is possible; whether one is, is not
                    // asked here.
                    return Some(Feasible::Undecided);
                }
                Some(Feasible::Yes(witness))
            }
            Outcome::Unsat => is_final().then_some(Feasible::No),
            Outcome::Unknown(_) => is_final().then_some(Feasible::Undecided),
        }
    }
}

/// Values for the unknowns of one move, where the variables are known.
pub(crate) fn own_values(
    sts: &Sts,
    step: &Move,
    valuation: &[Value],
    rng: &mut dyn Rng,
    budget: u64,
) -> Outcome<Vec<Value>> {
    match step.label {
        Some(label) if !step.types.is_empty() => {
            let deadline = Deadline::steps(budget);
            let chosen =
                ioco_solve::choose_values(sts, label, &step.guard, valuation, rng, &deadline);
            chosen.map(|values| {
                let own = step.unknowns.iter().zip(values);
                own.filter(|(unknown, _)| unknown.is_some())
                    .map(|(_, value)| value)
                    .collect()
            })
        }
        _ => {
            let env = Env {
                variables: valuation,
                parameters: &[],
                functions: sts.functions(),
            };
            match step.guard.holds(env) {
                Ok(true) => Outcome::Sat(Vec::new()),
                _ => Outcome::Unsat,
            }
        }
    }
}

/// Declares the unknowns of a move and says its condition.
pub(crate) fn tell<S: Solver>(solver: &mut S, extension: &Extension) {
    for ty in &extension.types {
        solver.void_unknown(ty);
    }
    solver.assert(&extension.condition);
}

/// Values for all unknowns of a path that the solver has been told: every one set where that can
/// be, otherwise some unset.
pub(crate) fn find_witness<'m, S: Solver>(
    solver: &mut S,
    steps: impl Iterator<Item = &'m Move>,
    rng: &mut dyn Rng,
    budget: u64,
) -> Feasible {
    // Per unknown: whether it is sent in a hand-shake.
    let internal: Vec<bool> = steps
        .flat_map(|step| step.types.iter().map(|_| !step.observable))
        .collect();
    solver.push();
    for unknown in 0..internal.len() {
        solver.assert(&is_set(unknown as u32));
    }
    let set = solver.random_model(rng, &Deadline::steps(budget));
    solver.pop();
    if let Outcome::Sat(witness) = set {
        return Feasible::Yes(witness);
    }
    match solver.random_model(rng, &Deadline::steps(budget)) {
        // What a hand-shake leaves unset is not for the solver to choose.
        Outcome::Sat(witness) if unset_in_handshake(&witness, &internal) => Feasible::Undecided,
        Outcome::Sat(witness) => Feasible::Yes(witness),
        Outcome::Unsat => Feasible::No,
        Outcome::Unknown(_) => Feasible::Undecided,
    }
}

fn unset_in_handshake(witness: &[Value], internal: &[bool]) -> bool {
    let mut all = witness.iter().zip(internal);
    all.any(|(value, internal)| *internal && value.is_void())
}

fn is_set(unknown: u32) -> Expr {
    Expr::binary(BinaryOp::Ne, Expr::Param(unknown), Expr::Const(Value::Void))
}
