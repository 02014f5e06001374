//! Complete suites: every feasible path of N observable steps (Gentraces of seed 004, chapter 3).
//!
//! Paths grow from the start location, depth first, and an infeasible prefix is never extended.
//! Every path carries a *witness*: values of all its parameters that make it walkable. Most moves
//! are decided without a search: a guard that is constant under the symbolic valuation is decided
//! at once, and one that holds for some values of its own parameters under the witness so far only
//! adds to the witness. Only where the witness is in the way is the condition of the whole path
//! given to the solver, incrementally, and a new witness asked for.

use ioco_solve::{Deadline, Outcome, Solver};
use ioco_sts::{Action, Env, Expr, Sts, Value};
use rand::Rng;

use crate::moves::{Move, moves_from};
use crate::symbolic::{Extension, Symbolic};

/// What to enumerate.
#[derive(Clone, Debug)]
pub struct Extent {
    /// Observable steps of a path; internal ones are not counted.
    pub length: u32,
    /// How often a path may visit a location, where that is limited.
    pub loops: Option<u32>,
    /// Internal steps in a row after which a path is given up: the model diverges.
    pub silent: u32,
    /// Solver steps for one question.
    pub budget: u64,
}

impl Extent {
    pub fn of_length(length: u32) -> Extent {
        Extent {
            length,
            loops: None,
            silent: 256,
            budget: 50_000,
        }
    }
}

/// One step of a found path.
#[derive(Clone, Debug, PartialEq)]
pub struct PathStep {
    pub step: Move,
    /// The label with the witness's values; `None` for an internal step.
    pub action: Option<Action>,
}

/// Where the walk goes with what it finds. Answering `false` stops it.
pub trait Sink {
    /// A complete path.
    fn found(&mut self, path: &[PathStep]) -> bool;
}

impl<F: FnMut(&[PathStep]) -> bool> Sink for F {
    fn found(&mut self, path: &[PathStep]) -> bool {
        self(path)
    }
}

/// What a walk did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub paths: u64,
    /// Moves that no values allow.
    pub infeasible: u64,
    /// Moves whose feasibility the solver could not decide: paths may be missing.
    pub undecided: u64,
    /// Paths given up because internal steps went on and on.
    pub divergent: u64,
    /// Questions about whole paths given to the solver.
    pub solver_calls: u64,
    /// The sink wanted no more.
    pub stopped: bool,
}

impl Tally {
    pub fn add(&mut self, other: Tally) {
        self.paths += other.paths;
        self.infeasible += other.infeasible;
        self.undecided += other.undecided;
        self.divergent += other.divergent;
        self.solver_calls += other.solver_calls;
        self.stopped |= other.stopped;
    }
}

/// A point on a path: symbolic and concrete side by side.
#[derive(Clone)]
struct Node {
    symbolic: Symbolic,
    /// Values of the unknowns that make the path walkable.
    witness: Vec<Value>,
    /// The variables under the witness.
    valuation: Vec<Value>,
}

/// A walk through all paths of a model.
pub struct Walk<'a, S> {
    sts: &'a Sts,
    extent: Extent,
    solver: S,
    rng: &'a mut dyn Rng,
    path: Vec<PathStep>,
    /// Per step of the path: its condition and how many unknowns it added, for the solver.
    conditions: Vec<Extension>,
    /// How many of the conditions the solver has been told.
    told: usize,
    visits: Vec<u32>,
    tally: Tally,
}

enum Feasible {
    Yes(Vec<Value>),
    No,
    Undecided,
}

impl<'a, S: Solver> Walk<'a, S> {
    pub fn new(sts: &'a Sts, extent: Extent, solver: S, rng: &'a mut dyn Rng) -> Walk<'a, S> {
        Walk {
            sts,
            extent,
            solver,
            rng,
            path: Vec::new(),
            conditions: Vec::new(),
            told: 0,
            visits: vec![0; sts.locations().len()],
            tally: Tally::default(),
        }
    }

    /// Walks every path, or those that begin with the first moves given by number (see
    /// [`Walk::first_moves`]), so that several walks can share the work.
    pub fn run(mut self, only: Option<&[usize]>, sink: &mut dyn Sink) -> Tally {
        let symbolic = Symbolic::initial(self.sts);
        let valuation = self
            .sts
            .variables()
            .iter()
            .map(|v| v.initial.clone())
            .collect();
        for location in &symbolic.locations {
            self.visits[location.index()] += 1;
        }
        let start = Node {
            symbolic,
            witness: Vec::new(),
            valuation,
        };
        self.walk(&start, 0, 0, only, sink);
        self.tally
    }

    /// How many moves leave the start.
    pub fn first_moves(sts: &Sts) -> usize {
        moves_from(sts, &Symbolic::initial(sts).locations).len()
    }

    /// Walks on from `node`. Returns false when the sink wants no more.
    fn walk(
        &mut self,
        node: &Node,
        observed: u32,
        silent: u32,
        only: Option<&[usize]>,
        sink: &mut dyn Sink,
    ) -> bool {
        if observed >= self.extent.length {
            return self.complete(sink);
        }
        let mut goes_on = false;
        for (number, step) in moves_from(self.sts, &node.symbolic.locations)
            .into_iter()
            .enumerate()
        {
            if only.is_some_and(|only| !only.contains(&number)) {
                // Another walk takes this one; the path is not at its end here.
                goes_on = true;
                continue;
            }
            let extension = node.symbolic.extend(self.sts, &step);
            match self.feasible(node, &step, &extension) {
                Feasible::No => {
                    self.tally.infeasible += 1;
                    continue;
                }
                Feasible::Undecided => {
                    self.tally.undecided += 1;
                    goes_on = true;
                    continue;
                }
                Feasible::Yes(witness) => {
                    goes_on = true;
                    if !step.observable && silent >= self.extent.silent {
                        self.tally.divergent += 1;
                        continue;
                    }
                    if self.visited_too_often(&extension.state) {
                        continue;
                    }
                    let (observed, silent) = if step.observable {
                        (observed + 1, 0)
                    } else {
                        (observed, silent + 1)
                    };
                    if !self.descend(step, extension, witness, observed, silent, sink) {
                        return false;
                    }
                }
            }
        }
        if goes_on || observed == 0 && self.path.is_empty() {
            true
        } else {
            self.complete(sink)
        }
    }

    fn complete(&mut self, sink: &mut dyn Sink) -> bool {
        self.tally.paths += 1;
        let more = sink.found(&self.path);
        self.tally.stopped |= !more;
        more
    }

    fn descend(
        &mut self,
        step: Move,
        extension: Extension,
        witness: Vec<Value>,
        observed: u32,
        silent: u32,
        sink: &mut dyn Sink,
    ) -> bool {
        let valuation = self.concrete(&extension.state, &witness);
        let action = step.label.filter(|_| step.observable).map(|label| Action {
            label,
            values: extension
                .parameters
                .iter()
                .map(|p| p.map_or(Value::Void, |unknown| witness[unknown as usize].clone()))
                .collect(),
        });
        let node = Node {
            symbolic: extension.state.clone(),
            witness,
            valuation,
        };
        for id in &step.switches {
            self.visits[self.sts.switch(*id).target.index()] += 1;
        }
        let targets: Vec<usize> = step
            .switches
            .iter()
            .map(|id| self.sts.switch(*id).target.index())
            .collect();
        self.path.push(PathStep { step, action });
        self.conditions.push(extension);
        let more = self.walk(&node, observed, silent, None, sink);
        self.path.pop();
        self.conditions.pop();
        if self.told > self.conditions.len() {
            self.solver.pop();
            self.told -= 1;
        }
        for target in targets {
            self.visits[target] -= 1;
        }
        more
    }

    fn visited_too_often(&self, state: &Symbolic) -> bool {
        let Some(limit) = self.extent.loops else {
            return false;
        };
        state
            .locations
            .iter()
            .any(|location| self.visits[location.index()] >= limit)
    }

    fn concrete(&self, state: &Symbolic, witness: &[Value]) -> Vec<Value> {
        let env = Env {
            variables: &[],
            parameters: witness,
            functions: self.sts.functions(),
        };
        // The condition of the path includes that every assigned value exists.
        state
            .valuation
            .iter()
            .map(|expr| expr.eval(env).unwrap_or_default())
            .collect()
    }

    fn feasible(&mut self, node: &Node, step: &Move, extension: &Extension) -> Feasible {
        if extension.condition == Expr::FALSE {
            return Feasible::No;
        }
        let deadline = Deadline::steps(self.extent.budget);
        let local = match (step.label, extension.types.is_empty()) {
            (Some(label), false) => {
                let guard = self.guard(step);
                ioco_solve::choose_values(
                    self.sts,
                    label,
                    &guard,
                    &node.valuation,
                    self.rng,
                    &deadline,
                )
            }
            _ => {
                let env = Env {
                    variables: &[],
                    parameters: &node.witness,
                    functions: self.sts.functions(),
                };
                if extension.condition.holds(env) == Ok(true) {
                    Outcome::Sat(Vec::new())
                } else {
                    Outcome::Unsat
                }
            }
        };
        if let Outcome::Sat(values) = local {
            let mut witness = node.witness.clone();
            let chosen = extension.parameters.iter().zip(values);
            witness.extend(chosen.filter(|(p, _)| p.is_some()).map(|(_, value)| value));
            return Feasible::Yes(witness);
        }
        // Nothing chosen before can be blamed: the answer is final.
        let earlier = extension
            .condition
            .params()
            .iter()
            .any(|p| *p < node.symbolic.unknowns);
        if !earlier {
            return if local.is_unsat() {
                Feasible::No
            } else {
                Feasible::Undecided
            };
        }
        self.ask(extension, &deadline)
    }

    /// The guards of all switches of a move, as one.
    fn guard(&self, step: &Move) -> Expr {
        step.switches
            .iter()
            .map(|id| self.sts.switch(*id).enabled.clone())
            .reduce(Expr::and)
            .unwrap_or(Expr::TRUE)
    }

    /// Asks for a new witness of the whole path with `extension` at its end.
    fn ask(&mut self, extension: &Extension, deadline: &Deadline<'_>) -> Feasible {
        self.tally.solver_calls += 1;
        while self.told < self.conditions.len() {
            self.solver.push();
            tell(&mut self.solver, &self.conditions[self.told]);
            self.told += 1;
        }
        self.solver.push();
        tell(&mut self.solver, extension);
        let answer = self.solver.random_model(self.rng, deadline);
        self.solver.pop();
        match answer {
            Outcome::Sat(witness) => Feasible::Yes(witness),
            Outcome::Unsat => Feasible::No,
            Outcome::Unknown(_) => Feasible::Undecided,
        }
    }
}

fn tell<S: Solver>(solver: &mut S, extension: &Extension) {
    for ty in &extension.types {
        solver.unknown(ty);
    }
    solver.assert(&extension.condition);
}
