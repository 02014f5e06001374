//! Strong and weak test generation: the tree of subsystems is visited in pre-order, every child is asked for the inputs
//! that its parent used, and the runs are merged. Sound, because the result is replayed on the whole model; not
//! complete: a child that cannot provide the inputs says nothing about other runs of the parent.

use super::board::Board;
use super::single::{self, Decision};
use crate::decompose::Tree;
use crate::depend::Dependencies;
use crate::diagnostic::Place;
use crate::engine::Budget;
use crate::engine::sat::Answer;
use crate::engine::unroll::Unrolling;
use crate::expr::{ExprId, Node, VarId};
use crate::model::{Model, Relations, Var, VarKind};
use crate::syntax::tree::Operator;
use crate::system::{Circuit, System};
use crate::value::{Domain, Value};

pub(crate) fn run(board: &Board, weak: bool) {
    let dependencies = Dependencies::of(board.model);
    for (index, goal) in board.goals.iter().enumerate() {
        let budget = board.budget();
        if budget.over() {
            break;
        }
        let budget = budget.within(board.options.time_per_goal);
        let tree = Tree::of(board.model, &dependencies, goal.expr);
        answer(board, &tree, index, weak, budget);
    }
    board.close();
}

/// Answers one goal over its tree.
fn answer(board: &Board, tree: &Tree, goal: usize, weak: bool, budget: Budget) {
    if let Err(miss) = attempt(board, tree, goal, weak, budget) {
        board.unknown(goal, &miss.reason);
    }
}

/// Answers one goal over its tree, or says why it cannot.
pub(crate) fn attempt(
    board: &Board,
    tree: &Tree,
    goal: usize,
    weak: bool,
    budget: Budget,
) -> Result<(), Miss> {
    let visit = Visit {
        model: board.model,
        tree,
        weak,
        nodes: board.options.nodes,
        budget,
    };
    let method = if weak { "weak" } else { "strong" };
    match visit.root(board.goals[goal].expr) {
        Visited::Merged(merged) => {
            let run = board.complete(&merged.vars, &merged.states, goal);
            if run.is_some_and(|run| board.cover_only(run, goal, method)) {
                Ok(())
            } else {
                Err(Miss::from(
                    "the whole model cannot follow the merged run".to_owned(),
                ))
            }
        }
        // The root allows more than the model: what it cannot reach, the model cannot.
        Visited::RootUnreachable(proof) => {
            board.infeasible(goal, &format!("{method}, root by {proof}"));
            Ok(())
        }
        Visited::Missed(miss) => Err(Miss {
            reason: format!("{method}: {}", miss.reason),
            ..miss
        }),
    }
}

/// A run over the variables of one or more subsystems.
#[derive(Clone, Debug)]
pub(crate) struct Merged {
    pub vars: Vec<VarId>,
    pub states: Vec<Vec<Value>>,
    /// For every state, which input of the parent it provides.
    positions: Vec<usize>,
}

/// Why a tree does not give a test.
pub(crate) struct Miss {
    pub reason: String,
    /// The linking variable whose values its subsystem does not provide.
    pub link: Option<VarId>,
}

impl From<String> for Miss {
    fn from(reason: String) -> Self {
        Self { reason, link: None }
    }
}

pub(crate) enum Visited {
    Merged(Merged),
    RootUnreachable(&'static str),
    Missed(Miss),
}

pub(crate) struct Visit<'v> {
    pub model: &'v Model,
    pub tree: &'v Tree,
    pub weak: bool,
    pub nodes: usize,
    pub budget: Budget<'v>,
}

impl Visit<'_> {
    fn system(&self, index: usize) -> System {
        let subsystem = &self.tree.subsystems[index];
        System::restrict(self.model, &subsystem.vars, &subsystem.inputs)
    }

    pub fn root(&self, goal: ExprId) -> Visited {
        let system = self.system(0);
        // With children there must be time left for them.
        let share = if self.tree.subsystems.len() > 1 {
            0.5
        } else {
            1.0
        };
        let budget = self.budget.within(self.budget.left() * share);
        match single::decide(self.model, &system, goal, self.nodes, budget) {
            Decision::Unreachable { method } => Visited::RootUnreachable(method),
            Decision::Unknown { how_far } => Visited::Missed(how_far.into()),
            Decision::Reached { trace, .. } => {
                let positions = (0..trace.len()).collect();
                let merged = self.without_inputs(Merged {
                    vars: system.vars,
                    states: trace,
                    positions,
                });
                match self.children(0, merged) {
                    Ok(merged) => Visited::Merged(merged),
                    Err(miss) => Visited::Missed(miss),
                }
            }
        }
    }

    /// Inputs of the model (`IVAR`) are chosen again at the end, when the whole run is known.
    fn without_inputs(&self, merged: Merged) -> Merged {
        let keep: Vec<bool> = merged
            .vars
            .iter()
            .map(|var| self.model.var(*var).kind != VarKind::Input)
            .collect();
        let filter = |row: Vec<Value>| {
            row.into_iter()
                .zip(&keep)
                .filter(|(_, keep)| **keep)
                .map(|(value, _)| value)
                .collect()
        };
        Merged {
            vars: merged
                .vars
                .iter()
                .copied()
                .zip(&keep)
                .filter(|(_, keep)| **keep)
                .map(|(var, _)| var)
                .collect(),
            states: merged.states.into_iter().map(filter).collect(),
            positions: merged.positions,
        }
    }

    /// Visits the children of a subsystem, one after the other, and merges their runs into its own.
    fn children(&self, index: usize, mut merged: Merged) -> Result<Merged, Miss> {
        let mut visited = vec![index];
        for (link, child) in &self.tree.subsystems[index].children {
            let column = merged
                .vars
                .iter()
                .position(|var| var == link)
                .ok_or_else(|| "the linking variable has no values".to_owned())?;
            let inputs: Vec<Value> = merged.states.iter().map(|state| state[column]).collect();
            // Only a state that may follow itself can be held while the child takes its time.
            let patient: Vec<bool> = if self.weak {
                merged
                    .states
                    .iter()
                    .map(|state| self.stutters(&visited, &merged.vars, state))
                    .collect()
            } else {
                vec![false; inputs.len()]
            };
            let below = self.child(*child, *link, &inputs, &patient)?;
            merged = merge(&merged, &below);
            visited.push(*child);
            self.descend(*child, &mut visited);
        }
        Ok(merged)
    }

    fn descend(&self, index: usize, visited: &mut Vec<usize>) {
        for (_, child) in &self.tree.subsystems[index].children {
            visited.push(*child);
            self.descend(*child, visited);
        }
    }

    /// Whether the subsystems visited so far may stay in this state.
    fn stutters(&self, visited: &[usize], vars: &[VarId], state: &[Value]) -> bool {
        let mut keep = Vec::new();
        let mut free = Vec::new();
        for index in visited {
            keep.extend(&self.tree.subsystems[*index].vars);
            free.extend(&self.tree.subsystems[*index].inputs);
        }
        // An input whose provider was visited is not free any more.
        for index in visited {
            for (link, child) in &self.tree.subsystems[*index].children {
                if visited.contains(child) {
                    free.retain(|var| var != link);
                }
            }
        }
        let system = System::restrict(self.model, &keep, &free);
        let Ok(circuit) = Circuit::compile(self.model, &system, &[]) else {
            return false;
        };
        let mut step = Unrolling::new(self.model, &circuit, self.budget, false);
        step.extend();
        let mut assumptions = Vec::new();
        for (var, value) in vars.iter().zip(state) {
            assumptions.extend(step.fix(0, *var, *value));
            assumptions.extend(step.fix(1, *var, *value));
        }
        step.solve(&assumptions) == Answer::Yes
    }

    /// A run of a child that provides the inputs in their order, each for one state, or longer where the parent is patient.
    fn child(
        &self,
        index: usize,
        link: VarId,
        inputs: &[Value],
        patient: &[bool],
    ) -> Result<Merged, Miss> {
        let name = &self.model.var(link).name;
        let missed = |reason: String| Miss {
            reason,
            link: Some(link),
        };
        let run = if patient.iter().any(|patient| *patient) {
            self.stretched(index, link, inputs, patient)
        } else {
            self.exact(index, link, inputs)
        };
        let run = run.map_err(missed)?.ok_or_else(|| {
            missed(format!(
                "subsystem M{} cannot provide the values of {name}",
                index + 1
            ))
        })?;
        let positions = run.positions.clone();
        let below = self.children(
            index,
            self.without_inputs(Merged {
                positions: (0..run.states.len()).collect(),
                ..run
            }),
        )?;
        // The child itself may have been stretched by its own children.
        Ok(Merged {
            positions: below
                .positions
                .iter()
                .map(|position| positions[*position])
                .collect(),
            ..below
        })
    }

    /// in0 & X (in1 & X (... X inn)): the length is known, so one question to the solver suffices.
    fn exact(&self, index: usize, link: VarId, inputs: &[Value]) -> Result<Option<Merged>, String> {
        let system = self.system(index);
        let circuit = Circuit::compile(self.model, &system, &[]).map_err(|error| error.0)?;
        let mut unrolling = Unrolling::new(self.model, &circuit, self.budget, true);
        let mut assumptions = Vec::new();
        for (frame, value) in inputs.iter().enumerate() {
            if frame > 0 {
                unrolling.extend();
            }
            if !self.model.var(link).domain.contains(*value) {
                return Ok(None);
            }
            assumptions.extend(unrolling.fix(frame, link, *value));
        }
        match unrolling.solve(&assumptions) {
            Answer::Yes => Ok(Some(Merged {
                vars: system.vars.clone(),
                states: unrolling.trace(inputs.len() - 1),
                positions: (0..inputs.len()).collect(),
            })),
            Answer::No => Ok(None),
            Answer::Unknown => Err(format!("time out in subsystem M{}", index + 1)),
        }
    }

    /// in0 SXU (in1 SXU ... inn), where only patient states are held: a counter walks along the inputs.
    fn stretched(
        &self,
        index: usize,
        link: VarId,
        inputs: &[Value],
        patient: &[bool],
    ) -> Result<Option<Merged>, String> {
        let mut model = self.model.clone();
        let mut system = self.system(index);
        let last = inputs.len() as i64 - 1;
        let counter = VarId(u32::try_from(model.vars.len()).map_err(|error| error.to_string())?);
        model.vars.push(Var {
            name: "_position_".to_owned(),
            domain: Domain::Range(0, last),
            kind: VarKind::State,
            init: None,
            next: None,
            always: None,
            place: Place {
                file: String::new(),
                line: 1,
                column: 1,
            },
        });
        model.relations.push(Relations::default());
        let exprs = &mut model.exprs;
        let position = exprs.var(counter);
        let later = exprs.add(Node::Next(counter));
        system.vars.push(counter);
        let start = exprs.equals(position, Value::Int(0));
        system.init.push(start);
        let one = exprs.constant(Value::Int(1));
        let forward = exprs.binary(Operator::Add, position, one);
        let mut moves = vec![exprs.binary(Operator::Equal, later, forward)];
        let waits: Vec<ExprId> = (0..inputs.len())
            .filter(|at| patient[*at] && (*at as i64) < last)
            .map(|at| exprs.constant(Value::Int(at as i64)))
            .collect();
        if !waits.is_empty() {
            let set = exprs.add(Node::Set(waits.into()));
            let waiting = exprs.binary(Operator::In, position, set);
            let same = exprs.binary(Operator::Equal, later, position);
            moves.push(exprs.and([waiting, same]));
        }
        let step = exprs.or(moves);
        system.trans.push(step);
        let input = exprs.var(link);
        for (at, value) in inputs.iter().enumerate() {
            let here = exprs.equals(position, Value::Int(at as i64));
            let given = exprs.equals(input, *value);
            let condition = exprs.binary(Operator::Implies, here, given);
            system.invar.push(condition);
        }
        let goal = exprs.equals(position, Value::Int(last));
        match single::decide(&model, &system, goal, self.nodes, self.budget) {
            Decision::Reached { trace, .. } => {
                let column = system.vars.len() - 1;
                let positions = trace
                    .iter()
                    .map(|state| match state[column] {
                        Value::Int(at) => usize::try_from(at).unwrap_or(0),
                        _ => 0,
                    })
                    .collect();
                let states = trace
                    .into_iter()
                    .map(|state| state[..column].to_vec())
                    .collect();
                system.vars.pop();
                Ok(Some(Merged {
                    vars: system.vars,
                    states,
                    positions,
                }))
            }
            Decision::Unreachable { .. } => Ok(None),
            Decision::Unknown { .. } => Err(format!("time out in subsystem M{}", index + 1)),
        }
    }
}

/// Every state of the child together with the state of the parent that it provides for.
fn merge(parent: &Merged, child: &Merged) -> Merged {
    let fresh: Vec<usize> = (0..child.vars.len())
        .filter(|column| !parent.vars.contains(&child.vars[*column]))
        .collect();
    let mut vars = parent.vars.clone();
    vars.extend(fresh.iter().map(|column| child.vars[*column]));
    let states = child
        .states
        .iter()
        .zip(&child.positions)
        .map(|(state, position)| {
            let mut joined = parent.states[*position].clone();
            joined.extend(fresh.iter().map(|column| state[*column]));
            joined
        })
        .collect();
    Merged {
        vars,
        states,
        positions: child
            .positions
            .iter()
            .map(|position| parent.positions[*position])
            .collect(),
    }
}
