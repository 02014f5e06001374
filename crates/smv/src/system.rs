//! What an engine is asked about: some variables of a model and the conditions that bind them.

use crate::circuit::code::width;
use crate::circuit::encode::{Encoder, TooLarge};
use crate::circuit::{Aig, Lit};
use crate::expr::{ExprId, Exprs, Node, VarId};
use crate::model::{Model, VarKind};
use crate::syntax::tree::Operator;
use crate::value::Domain;

/// A part of a model as conditions on states and steps. Variables that no condition binds are free.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct System {
    pub vars: Vec<VarId>,
    pub init: Vec<ExprId>,
    pub trans: Vec<ExprId>,
    pub invar: Vec<ExprId>,
}

impl System {
    /// The part of the model over some variables. Conditions that speak of any other variable are left out, and so
    /// are the assignments of the variables in `free`: what remains allows more runs than the model, never fewer.
    pub fn restrict(model: &Model, keep: &[VarId], free: &[VarId]) -> Self {
        let mut inside = vec![false; model.vars.len()];
        for var in keep {
            inside[var.index()] = true;
        }
        let mut system = Self {
            vars: model.var_ids().filter(|var| inside[var.index()]).collect(),
            ..Self::default()
        };
        let within = |expr: ExprId| {
            let (current, next) = model.exprs.variables(expr);
            current.iter().chain(&next).all(|var| inside[var.index()])
        };
        for var in &system.vars {
            let relation = model.relations[var.index()];
            let bound = !free.contains(var);
            // An input of a subsystem keeps its initial value where that depends on nothing outside.
            system
                .init
                .extend(relation.init.filter(|expr| within(*expr)));
            system
                .invar
                .extend(relation.always.filter(|expr| bound && within(*expr)));
            system
                .trans
                .extend(relation.next.filter(|expr| bound && within(*expr)));
        }
        for constraint in &model.init {
            split(&model.exprs, constraint.expr, &within, &mut system.init);
        }
        for constraint in &model.trans {
            split(&model.exprs, constraint.expr, &within, &mut system.trans);
        }
        for constraint in &model.invar {
            split(&model.exprs, constraint.expr, &within, &mut system.invar);
        }
        system
    }

    pub fn whole(model: &Model) -> Self {
        let all: Vec<VarId> = model.var_ids().collect();
        Self::restrict(model, &all, &[])
    }
}

/// Takes a conjunction apart: small conditions are better for every engine.
fn split(exprs: &Exprs, root: ExprId, within: &dyn Fn(ExprId) -> bool, into: &mut Vec<ExprId>) {
    let mut open = vec![root];
    while let Some(expr) = open.pop() {
        match exprs.node(expr) {
            Node::And(parts) => open.extend(parts.iter().rev()),
            _ if within(expr) => into.push(expr),
            _ => {}
        }
    }
}

/// A bit of the state, or of an input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bit {
    pub var: VarId,
    pub current: Lit,
    pub next: Lit,
    /// Chosen anew on every step, not part of the state.
    pub input: bool,
}

/// A system with its goals as gates.
#[derive(Clone, Debug)]
pub(crate) struct Circuit {
    pub aig: Aig,
    pub vars: Vec<VarId>,
    /// Of the variables, in their order.
    pub domains: Vec<Domain>,
    /// In the order of the variables, the least significant bit first.
    pub bits: Vec<Bit>,
    /// Over the current state.
    pub init: Vec<Lit>,
    /// Over the current state, the inputs and the next state.
    pub trans: Vec<StepGate>,
    /// Over the current state.
    pub invar: Vec<Lit>,
    /// Those of `invar` that are not just the domain of a variable.
    pub user_invar: Vec<Lit>,
    /// Proved of every state that can be reached. Solvers get them as a help; diagrams are as well off without.
    pub lemmas: Vec<Lit>,
    pub goals: Vec<GoalGate>,
}

/// A condition on steps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepGate {
    pub lit: Lit,
    /// It comes from an assignment: it only says what the next value of this variable is, and there always is one.
    pub decides: Option<VarId>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct GoalGate {
    pub lit: Lit,
    /// It speaks of a step, not of a state.
    pub transition: bool,
}

impl Circuit {
    pub fn compile(model: &Model, system: &System, goals: &[ExprId]) -> Result<Self, TooLarge> {
        let mut encoder = Encoder::new(&model.exprs, &model.vars, &system.vars);
        encoder.trusting = model.trusted;
        let all = |encoder: &mut Encoder, exprs: &[ExprId]| -> Result<Vec<Lit>, TooLarge> {
            let mut lits = Vec::new();
            for expr in exprs {
                let lit = encoder.condition(*expr)?;
                if lit != Lit::TRUE && !lits.contains(&lit) {
                    lits.push(lit);
                }
            }
            Ok(lits)
        };
        let init = all(&mut encoder, &system.init)?;
        let mut trans: Vec<StepGate> = Vec::new();
        for expr in &system.trans {
            let lit = encoder.condition(*expr)?;
            let decides = match model.exprs.node(*expr) {
                Node::Binary(Operator::In, target, _) => match model.exprs.node(*target) {
                    Node::Next(var)
                        if model
                            .relations
                            .get(var.index())
                            .is_some_and(|r| r.next == Some(*expr))
                            && model.trusted =>
                    {
                        Some(*var)
                    }
                    _ => None,
                },
                _ => None,
            };
            if lit != Lit::TRUE {
                trans.push(StepGate { lit, decides });
            }
        }
        let mut invar = all(&mut encoder, &system.invar)?;
        let user_invar = invar.clone();
        let mut bits = Vec::new();
        for var in &system.vars {
            let input = model.var(*var).kind == VarKind::Input;
            let domain = encoder.in_domain(*var, false);
            if domain != Lit::TRUE {
                if input {
                    trans.push(StepGate {
                        lit: domain,
                        decides: None,
                    });
                } else {
                    invar.push(domain);
                }
            }
            for index in 0..width(&model.var(*var).domain) {
                bits.push(Bit {
                    var: *var,
                    current: encoder.current[var.index()][index],
                    next: encoder.next[var.index()][index],
                    input,
                });
            }
        }
        // A goal may be a part of the model that is looked at where the model does not: nothing was proved of it.
        encoder.trusting = false;
        let goals = goals
            .iter()
            .map(|goal| {
                Ok(GoalGate {
                    lit: encoder.condition(*goal)?,
                    transition: is_transition(model, *goal),
                })
            })
            .collect::<Result<Vec<_>, TooLarge>>()?;
        Ok(Self {
            aig: encoder.aig,
            vars: system.vars.clone(),
            domains: system
                .vars
                .iter()
                .map(|var| model.var(*var).domain.clone())
                .collect(),
            bits,
            init,
            trans,
            invar,
            user_invar,
            lemmas: Vec::new(),
            goals,
        })
    }
}

/// Whether a condition speaks of a step: it mentions the next state or an input.
pub(crate) fn is_transition(model: &Model, expr: ExprId) -> bool {
    let (current, next) = model.exprs.variables(expr);
    !next.is_empty()
        || current
            .iter()
            .any(|var| model.var(*var).kind == VarKind::Input)
}
