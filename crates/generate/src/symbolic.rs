//! Symbolic walks: where a path leads, the variables as expressions over the parameters chosen on
//! the way, and the condition under which it can be walked (Sietsma 2009, Definition 14).
//!
//! Parameters of the path are numbered through: unknown `k` is [`Expr::Param`]`(k)`.

use ioco_sts::{Env, Expr, LocationId, State, Sts, Type, Value, VarId};

use crate::moves::Move;

/// A symbolic state at the end of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// The types of the unknowns that the move adds, in order.
    pub types: Vec<Type>,
}

impl Extension {
    /// How many operators, values and unknowns the condition is written with.
    pub fn size(&self) -> usize {
        let mut size = 0;
        self.condition.walk(&mut |_| size += 1);
        size
    }

    /// Whether the variables are written with more than `most`: what a variable is in terms of the
    /// unknowns can double with every move.
    pub fn is_larger(&self, most: usize) -> bool {
        let mut size = 0;
        self.state.valuation.iter().any(|expr| {
            expr.walk(&mut |_| size += 1);
            size > most
        })
    }
}

impl Symbolic {
    /// The start of every path.
    pub fn initial(sts: &Sts) -> Symbolic {
        Symbolic::known(&sts.initial_state())
    }

    /// A state in which everything is known.
    pub fn known(state: &State) -> Symbolic {
        Symbolic {
            locations: state.locations.to_vec(),
            valuation: state.valuation.iter().cloned().map(Expr::Const).collect(),
            unknowns: 0,
        }
    }

    /// The state and condition after one more move, whose unknowns are new ones.
    pub fn extend(&self, sts: &Sts, step: &Move) -> Extension {
        let own = self.unknowns..self.unknowns + step.types.len() as u32;
        let own: Vec<Expr> = own.map(Expr::Param).collect();
        let mut extension = self.extend_with(sts, step, &own);
        extension.state.unknowns += step.types.len() as u32;
        extension
    }

    /// The state and condition after one more move, where its unknowns are these.
    pub(crate) fn extend_with(&self, sts: &Sts, step: &Move, own: &[Expr]) -> Extension {
        let parameter = |unknown: &Option<u32>| unknown.map(|number| &own[number as usize]);
        let parameters: Vec<Option<&Expr>> = step.unknowns.iter().map(parameter).collect();
        let mut state = self.clone();
        for id in &step.switches {
            let switch = sts.switch(*id);
            for assignment in &switch.update {
                let value = self.rewrite(sts, &assignment.value, &parameters);
                state.valuation[assignment.variable.index()] = value;
            }
            let process = sts.location(switch.source).process;
            state.locations[process.index()] = switch.target;
        }
        Extension {
            condition: self.rewrite(sts, &step.guard, &parameters),
            state,
            types: step.types.clone(),
        }
    }

    /// The variables under these values of the unknowns. The condition of a path includes that they exist.
    pub(crate) fn evaluate(&self, sts: &Sts, witness: &[Value]) -> Vec<Value> {
        let env = Env {
            variables: &[],
            parameters: witness,
            functions: sts.functions(),
        };
        let values = self.valuation.iter();
        values.map(|e| e.eval(env).unwrap_or_default()).collect()
    }

    /// Whether the value of a variable is the same whatever the unknowns are.
    pub fn knows(&self, variable: VarId) -> bool {
        matches!(self.valuation[variable.index()], Expr::Const(_))
    }

    /// An expression of a switch in terms of the path's unknowns, with what is constant computed.
    pub(crate) fn rewrite(&self, sts: &Sts, expr: &Expr, parameters: &[Option<&Expr>]) -> Expr {
        match expr {
            Expr::Const(_) | Expr::Local(_) => expr.clone(),
            Expr::Var(variable) => self.valuation[variable.index()].clone(),
            Expr::Param(position) => match parameters.get(*position as usize).copied().flatten() {
                Some(unknown) => unknown.clone(),
                None => Expr::Const(Value::Void),
            },
            _ => {
                let rewritten = expr.map_children(|child| self.rewrite(sts, child, parameters));
                rewritten.simplified(sts.functions())
            }
        }
    }
}
