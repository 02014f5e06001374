//! Whether a path can go on with a move: by its own parameters first, by all of the path's then.

use std::rc::Rc;

use ioco_budget::Interrupt;
use ioco_solve::{Deadline, Outcome, Solver, Unknown};
use ioco_sts::{BinaryOp, Env, EvalError, Expr, Sts, Value};
use rand::{Rng, RngExt as _};
use rustc_hash::FxHashMap;

use crate::moves::{Move, MoveId};
use crate::symbolic::{Extension, Symbolic};

/// Whether a move can be made.
pub(crate) enum Feasible {
    /// With these values of its own unknowns; all others keep theirs.
    More(Vec<Value>),
    /// With these values of all unknowns of the path.
    Anew(Vec<Value>),
    No,
    Undecided,
}

impl Feasible {
    /// The values of all unknowns, where those before the move had the values of `witness`.
    pub fn witness(self, witness: &[Value]) -> Option<Vec<Value>> {
        match self {
            Feasible::More(own) => {
                let mut all = Vec::with_capacity(witness.len() + own.len());
                all.extend_from_slice(witness);
                all.extend(own);
                Some(all)
            }
            Feasible::Anew(all) => Some(all),
            Feasible::No | Feasible::Undecided => None,
        }
    }
}

/// The end of a path: symbolic, and concrete under a witness.
pub(crate) struct Point<'a> {
    pub symbolic: &'a Symbolic,
    pub valuation: &'a [Value],
}

impl Point<'_> {
    /// Decides a move without touching the values chosen so far; `None` where these may be in the
    /// way.
    pub fn decide(
        &self,
        sts: &Sts,
        step: &Rc<Move>,
        memory: &mut Memory,
        rng: &mut dyn Rng,
        effort: &Effort,
    ) -> Option<Feasible> {
        // Where every variable that the guard reads is known, nothing chosen before can be blamed.
        let is_final = || step.reads.iter().all(|v| self.symbolic.knows(*v));
        match memory.own_values(sts, step, self.valuation, rng, effort) {
            // A hand-shake sends a value wherever one is possible; whether one is, is not asked
            // here.
            Outcome::Sat(own) if !step.observable && own.contains(&Value::Void) => {
                Some(Feasible::Undecided)
            }
            Outcome::Sat(own) => Some(Feasible::More(own)),
            Outcome::Unsat => is_final().then_some(Feasible::No),
            Outcome::Unknown(_) => is_final().then_some(Feasible::Undecided),
        }
    }
}

/// Solutions of the same question that are kept, so that values still vary.
const MAX_KEPT_SOLUTIONS: usize = 4;
/// Questions that are remembered before all are forgotten, so that memory stays the same.
const REMEMBERED: usize = 1 << 16;

/// Answers of [`own_values`]: paths ask again and again about the same move with the same values of
/// the variables it reads. The moves are those of one table.
#[derive(Default)]
pub(crate) struct Memory {
    answers: FxHashMap<MoveId, FxHashMap<Box<[Value]>, Remembered>>,
    size: usize,
    /// The values read, put together here to save an allocation.
    key: Vec<Value>,
    /// The first answers are the smallest and the largest values.
    pub extremes: bool,
}

enum Remembered {
    Sat(Vec<Vec<Value>>),
    Not(Outcome<Vec<Value>>),
}

impl Memory {
    pub fn forget(&mut self) {
        self.answers.clear();
        self.size = 0;
    }

    pub fn own_values(
        &mut self,
        sts: &Sts,
        step: &Rc<Move>,
        valuation: &[Value],
        rng: &mut dyn Rng,
        effort: &Effort,
    ) -> Outcome<Vec<Value>> {
        if step.types.is_empty() {
            return own_values(sts, step, valuation, rng, effort);
        }
        if self.size >= REMEMBERED {
            self.forget();
        }
        self.key.clear();
        let read = step.reads.iter().map(|v| valuation[v.index()].clone());
        self.key.extend(read);
        let known = self.answers.entry(step.id).or_default();
        match known.get_mut(self.key.as_slice()) {
            Some(Remembered::Not(answer)) => answer.clone(),
            Some(Remembered::Sat(found)) if found.len() == MAX_KEPT_SOLUTIONS => {
                Outcome::Sat(found[rng.random_range(0..MAX_KEPT_SOLUTIONS)].clone())
            }
            Some(Remembered::Sat(found)) => {
                let largest = (self.extremes && found.len() == 1)
                    .then(|| extreme_values(sts, step, valuation, true))
                    .flatten();
                if let Some(values) = largest {
                    found.push(values.clone());
                    return Outcome::Sat(values);
                }
                // Another one; the first will do where none is found in time.
                match own_values(sts, step, valuation, rng, effort) {
                    Outcome::Sat(values) => {
                        found.push(values.clone());
                        Outcome::Sat(values)
                    }
                    _ => Outcome::Sat(found[0].clone()),
                }
            }
            None => {
                let smallest = self
                    .extremes
                    .then(|| extreme_values(sts, step, valuation, false));
                let answer = match smallest.flatten() {
                    Some(values) => Outcome::Sat(values),
                    None => own_values(sts, step, valuation, rng, effort),
                };
                let remembered = match &answer {
                    Outcome::Sat(values) => Remembered::Sat(vec![values.clone()]),
                    other => Remembered::Not(other.clone()),
                };
                known.insert(self.key.as_slice().into(), remembered);
                self.size += 1;
                answer
            }
        }
    }
}

/// Values for the unknowns of one move, where the variables are known.
pub(crate) fn own_values(
    sts: &Sts,
    step: &Move,
    valuation: &[Value],
    rng: &mut dyn Rng,
    effort: &Effort,
) -> Outcome<Vec<Value>> {
    match step.label {
        Some(label) if !step.types.is_empty() => {
            let chosen = effort.ask(|deadline| {
                ioco_solve::choose_values(sts, label, &step.guard, valuation, rng, deadline)
            });
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
            match step.guard.holds_within(env, sts.budget()).0 {
                Ok(true) => Outcome::Sat(Vec::new()),
                // It may hold all the same.
                Err(EvalError::Exhausted(why)) => {
                    Outcome::Unknown(Unknown::Incomplete(why.to_string()))
                }
                Ok(false) | Err(_) => Outcome::Unsat,
            }
        }
    }
}

/// As [`own_values`], where they are found. A hand-shake sends a value wherever one is possible: the rare others are
/// left out.
pub(crate) fn choose_own(
    sts: &Sts,
    step: &Move,
    valuation: &[Value],
    rng: &mut dyn Rng,
    effort: &Effort,
) -> Option<Vec<Value>> {
    let own = own_values(sts, step, valuation, rng, effort).sat()?;
    (step.observable || !own.contains(&Value::Void)).then_some(own)
}

/// As [`own_values`], the smallest or the largest of all, where they can be read off the guard.
fn extreme_values(
    sts: &Sts,
    step: &Move,
    valuation: &[Value],
    largest: bool,
) -> Option<Vec<Value>> {
    let values = ioco_solve::extreme_values(sts, step.label?, &step.guard, valuation, largest)?;
    let own = step.unknowns.iter().zip(values);
    let own = own.filter(|(unknown, _)| unknown.is_some());
    Some(own.map(|(_, value)| value).collect())
}

/// Paths whose conditions or variables are written with more than this are left undecided.
pub(crate) const MAX_SIZE: usize = 200_000;
/// Conditions of this size get the whole budget; larger ones cost more a step, and get fewer.
const USUAL_SIZE: u64 = 2_000;

/// What one question to the solver may take: so many steps, and no more once a stop is requested.
#[derive(Clone, Debug)]
pub(crate) struct Effort {
    pub steps: u64,
    interrupt: Interrupt,
}

impl Effort {
    pub fn new(steps: u64, interrupt: &Interrupt) -> Effort {
        Effort {
            steps,
            interrupt: interrupt.clone(),
        }
    }

    /// The effort for a question of this size, so that no question takes much longer than another.
    pub fn fair(&self, size: usize) -> Effort {
        let steps = self.steps.saturating_mul(USUAL_SIZE) / USUAL_SIZE.max(size as u64);
        Effort::new(steps, &self.interrupt)
    }

    pub fn ask<T>(&self, question: impl FnOnce(&Deadline<'_>) -> T) -> T {
        let stop = || self.interrupt.is_raised();
        question(&Deadline::new(&stop).and_steps(self.steps))
    }
}

/// Declares the unknowns of a move and asserts its condition.
pub(crate) fn assert_extension<S: Solver>(solver: &mut S, extension: &Extension) {
    for ty in &extension.types {
        solver.void_unknown(ty);
    }
    solver.assert(&extension.condition);
}

/// Values for all unknowns of a path that the solver has: every one set where that can
/// be, otherwise some unset.
pub(crate) fn find_witness<'m, S: Solver>(
    solver: &mut S,
    steps: impl Iterator<Item = &'m Move>,
    rng: &mut dyn Rng,
    effort: &Effort,
) -> Feasible {
    // Per unknown: whether it is sent in a hand-shake.
    let mut internal: Vec<bool> = Vec::new();
    let mut always_set = true;
    for step in steps {
        always_set &= step.always_set;
        internal.extend(step.types.iter().map(|_| !step.observable));
    }
    solver.push();
    for unknown in 0..internal.len() {
        solver.assert(&is_set(unknown as u32));
    }
    let set = effort.ask(|deadline| solver.random_model(rng, deadline));
    solver.pop();
    match set {
        Outcome::Sat(witness) => return Feasible::Anew(witness),
        Outcome::Unsat if always_set => return Feasible::No,
        _ => {}
    }
    match effort.ask(|deadline| solver.random_model(rng, deadline)) {
        // What a hand-shake leaves unset is not for the solver to choose.
        Outcome::Sat(witness) if unset_in_handshake(&witness, &internal) => Feasible::Undecided,
        Outcome::Sat(witness) => Feasible::Anew(witness),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moves::MoveTable;
    use ioco_sts::{Direction, IntRange, Label, Parameter, Place, StsBuilder, Type};
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng as _;

    #[test]
    fn a_question_ends_when_somebody_asks_to_stop() {
        let interrupt = Interrupt::default();
        let effort = Effort::new(1_000, &interrupt);
        assert!(effort.ask(|deadline| deadline.step()));
        interrupt.raise();
        assert!(!effort.ask(|deadline| deadline.step()));
        assert!(!effort.fair(10).ask(|deadline| deadline.step()));
    }

    #[test]
    fn an_answer_about_one_move_is_not_given_for_another() {
        let mut builder = StsBuilder::new("m");
        let process = builder.process("p");
        let only = builder.named_location(process, "only");
        let label = builder.label(Label {
            name: "put".to_owned(),
            channel: "c".to_owned(),
            direction: Direction::Stimulus,
            parameters: vec![Parameter {
                name: "v".to_owned(),
                ty: Type::Int(IntRange { min: 0, max: 99 }),
            }],
        });
        builder.switch(
            only,
            ioco_sts::Gate::Observable(label),
            Expr::TRUE,
            Vec::new(),
            only,
            Place::default(),
        );
        let sts = builder.build();
        let mut moves = MoveTable::default();
        let plain = Rc::clone(&moves.from(&sts, &[only])[0]);
        let mut memory = Memory::default();
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        let effort = Effort::new(10_000, &Interrupt::default());
        for wanted in 0..50 {
            let value = Expr::Const(Value::Int(wanted));
            let condition = Expr::binary(BinaryOp::Eq, Expr::Param(0), value);
            let asked = moves.narrowed(&sts, &plain, &condition);
            let answer = memory.own_values(&sts, &asked, &[], &mut rng, &effort);
            assert_eq!(answer.sat(), Some(vec![Value::Int(wanted)]));
        }
    }
}
