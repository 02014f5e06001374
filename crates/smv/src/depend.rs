//! Which variable depends on which (Definition 4 and 5 of the decomposition paper), and the cone of influence.
//! A section INIT, TRANS or INVAR makes its variables depend on each other.

use crate::expr::{ExprId, VarId};
use crate::model::Model;

/// Direct dependencies of every variable, and their closure.
#[derive(Clone, Debug)]
pub struct Dependencies {
    direct: Vec<Vec<VarId>>,
    /// One bit for every variable, by rows.
    closure: Vec<Vec<u64>>,
}

impl Dependencies {
    pub fn of(model: &Model) -> Self {
        let count = model.vars.len();
        let mut direct: Vec<Vec<VarId>> = vec![Vec::new(); count];
        for var in model.var_ids() {
            let entry = model.var(var);
            for value in [entry.init, entry.next, entry.always].into_iter().flatten() {
                direct[var.index()].extend(vars_of(model, value));
            }
        }
        // The parts of a conjunction are conditions of their own.
        for constraint in model.init.iter().chain(&model.trans).chain(&model.invar) {
            let mut open = vec![constraint.expr];
            while let Some(expr) = open.pop() {
                if let crate::expr::Node::And(parts) = model.exprs.node(expr) {
                    open.extend(parts.iter());
                    continue;
                }
                let vars = vars_of(model, expr);
                // A chain in both directions ties them as well as all pairs would.
                for pair in vars.windows(2) {
                    direct[pair[0].index()].push(pair[1]);
                    direct[pair[1].index()].push(pair[0]);
                }
                if let [only] = vars[..] {
                    direct[only.index()].push(only);
                }
            }
        }
        for list in &mut direct {
            list.sort_unstable();
            list.dedup();
        }
        let words = count.div_ceil(64).max(1);
        let mut closure = vec![vec![0_u64; words]; count];
        for (index, row) in closure.iter_mut().enumerate() {
            let mut open: Vec<VarId> = direct[index].clone();
            while let Some(var) = open.pop() {
                let (word, bit) = (var.index() / 64, 1 << (var.index() % 64));
                if row[word] & bit == 0 {
                    row[word] |= bit;
                    open.extend(&direct[var.index()]);
                }
            }
        }
        Self { direct, closure }
    }

    /// The variables that occur in the assignments or conditions of this one.
    pub fn direct(&self, var: VarId) -> &[VarId] {
        &self.direct[var.index()]
    }

    /// Whether one variable depends on the other, directly or not.
    pub fn depends(&self, var: VarId, on: VarId) -> bool {
        self.closure[var.index()][on.index() / 64] >> (on.index() % 64) & 1 == 1
    }

    pub fn all(&self, var: VarId) -> Vec<VarId> {
        (0..self.direct.len())
            .map(|index| VarId(u32::try_from(index).unwrap_or(u32::MAX)))
            .filter(|on| self.depends(var, *on))
            .collect()
    }

    /// Whether two variables depend on something in common.
    pub fn share(&self, a: VarId, b: VarId) -> bool {
        self.closure[a.index()]
            .iter()
            .zip(&self.closure[b.index()])
            .any(|(a, b)| a & b != 0)
    }

    /// The cone of influence: the variables and everything that they depend on.
    pub fn cone(&self, vars: &[VarId]) -> Vec<VarId> {
        let mut cone: Vec<VarId> = vars.to_vec();
        for var in vars {
            cone.extend(self.all(*var));
        }
        cone.sort_unstable();
        cone.dedup();
        cone
    }
}

/// The variables of an expression, in either state.
pub fn vars_of(model: &Model, expr: ExprId) -> Vec<VarId> {
    let (mut vars, next) = model.exprs.variables(expr);
    vars.extend(next);
    vars.sort_unstable();
    vars.dedup();
    vars
}
