//! Symbolic walks: where a path leads, the variables as expressions over the parameters chosen on
//! the way, and the condition under which it can be walked (seed 001, Definition 14).
//!
//! Parameters of the path are numbered through: unknown `k` is [`Expr::Param`]`(k)`.

use ioco_sts::{Env, Expr, LocationId, Sts, Type, Value};

use crate::moves::Move;

/// A symbolic state at the end of a path.
#[derive(Clone, Debug, PartialEq)]
pub struct Symbolic {
    pub locations: Vec<LocationId>,
    /// Per variable, its value in terms of the unknowns.
    pub valuation: Vec<Expr>,
    /// The number of unknowns so far.
    pub unknowns: u32,
}

/// What one more move asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Extension {
    pub state: Symbolic,
    /// The condition, over all unknowns; simplified, so that a constant says it all.
    pub condition: Expr,
    /// Per parameter of the move's label: the unknown that stands for it, or `None` where it is
    /// sent unset because no guard mentions it.
    pub parameters: Vec<Option<u32>>,
    /// The types of the new unknowns.
    pub types: Vec<Type>,
}

impl Symbolic {
    /// The start of every path.
    pub fn initial(sts: &Sts) -> Symbolic {
        Symbolic {
            locations: sts.processes().iter().map(|p| p.initial).collect(),
            valuation: sts
                .variables()
                .iter()
                .map(|v| Expr::Const(v.initial.clone()))
                .collect(),
            unknowns: 0,
        }
    }

    /// The state and condition after one more move.
    pub fn extend(&self, sts: &Sts, step: &Move) -> Extension {
        let declared = step
            .label
            .map_or(&[][..], |label| &sts.label(label).parameters);
        let mut mentioned = vec![false; declared.len()];
        for id in &step.switches {
            for position in sts.switch(*id).enabled.params() {
                mentioned[position as usize] = true;
            }
        }
        let mut unknowns = self.unknowns;
        let mut types = Vec::new();
        let parameters: Vec<Option<u32>> = declared
            .iter()
            .zip(&mentioned)
            .map(|(parameter, mentioned)| {
                mentioned.then(|| {
                    types.push(parameter.ty.clone());
                    unknowns += 1;
                    unknowns - 1
                })
            })
            .collect();
        let mut condition = Expr::TRUE;
        let mut state = Symbolic {
            locations: self.locations.clone(),
            valuation: self.valuation.clone(),
            unknowns,
        };
        for id in &step.switches {
            let switch = sts.switch(*id);
            let guard = self.rewrite(sts, &switch.enabled, &parameters);
            condition = Expr::and(condition, guard);
            for assignment in &switch.update {
                let value = self.rewrite(sts, &assignment.value, &parameters);
                state.valuation[assignment.variable.index()] = value;
            }
            let process = sts.location(switch.source).process;
            state.locations[process.index()] = switch.target;
        }
        Extension {
            state,
            condition,
            parameters,
            types,
        }
    }

    /// An expression of a switch in terms of the path's unknowns, with what is constant computed.
    pub fn rewrite(&self, sts: &Sts, expr: &Expr, parameters: &[Option<u32>]) -> Expr {
        match expr {
            Expr::Const(_) | Expr::Local(_) => expr.clone(),
            Expr::Var(variable) => self.valuation[variable.index()].clone(),
            Expr::Param(position) => match parameters.get(*position as usize).copied().flatten() {
                Some(unknown) => Expr::Param(unknown),
                None => Expr::Const(Value::Void),
            },
            _ => simplify(
                sts,
                expr.map_children(|child| self.rewrite(sts, child, parameters)),
            ),
        }
    }
}

/// Computes what is constant at the top of an expression whose parts are simplified already. An
/// expression that has no value is left as it is, so that it still makes a guard false.
fn simplify(sts: &Sts, expr: Expr) -> Expr {
    use ioco_sts::BinaryOp::{And, Or};
    match &expr {
        Expr::Binary(op @ (And | Or), both) => {
            let decides = Value::Bool(*op == Or);
            return match (&both[0], &both[1]) {
                (Expr::Const(left), _) if *left == decides => Expr::Const(decides),
                (Expr::Const(Value::Bool(_)), right) => right.clone(),
                (left, Expr::Const(Value::Bool(value))) if *value == (*op == And) => left.clone(),
                _ => expr,
            };
        }
        Expr::If(all) => {
            if let Expr::Const(Value::Bool(condition)) = &all[0] {
                return all[if *condition { 1 } else { 2 }].clone();
            }
        }
        _ => {}
    }
    if expr
        .children()
        .iter()
        .all(|child| matches!(child, Expr::Const(_)))
    {
        let env = Env {
            variables: &[],
            parameters: &[],
            functions: sts.functions(),
        };
        if let Ok(value) = expr.eval(env) {
            return Expr::Const(value);
        }
    }
    expr
}
