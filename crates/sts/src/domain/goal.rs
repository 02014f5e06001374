//! Conditions that must hold, one level of them at a time.

use super::Effort;
use crate::eval::{Env, EvalError};
use crate::expr::{BinaryOp, Expr, UnaryOp};
use crate::sts::Function;
use crate::value::Value;

/// `expr` must have a value, and that must be `want`.
#[derive(Clone, Copy, Debug)]
pub struct Goal<'a> {
    pub expr: &'a Expr,
    pub want: bool,
}

/// What a goal asks for, one level deep.
pub enum Shape<'a> {
    /// Both.
    All(Goal<'a>, Goal<'a>),
    /// The first, or else the second and the third: an alternative counts only where what stands
    /// before it has a value.
    Either(Goal<'a>, Goal<'a>, Goal<'a>),
    One(Goal<'a>),
}

impl<'a> Goal<'a> {
    pub fn holds(expr: &'a Expr) -> Goal<'a> {
        Goal { expr, want: true }
    }

    pub fn shape(self) -> Shape<'a> {
        let side = |expr: &'a Expr, want: bool| Goal { expr, want };
        match self.expr {
            Expr::Unary(UnaryOp::Not, inner) => side(inner, !self.want).shape(),
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), both) => {
                let decides = *op == BinaryOp::Or;
                let [left, right] = &**both;
                if self.want == decides {
                    Shape::Either(
                        side(left, decides),
                        side(left, !decides),
                        side(right, decides),
                    )
                } else {
                    Shape::All(side(left, self.want), side(right, self.want))
                }
            }
            _ => Shape::One(self),
        }
    }

    pub fn is_met(
        self,
        values: &[Value],
        functions: &[Function],
        effort: &dyn Effort,
    ) -> Result<bool, EvalError> {
        let env = Env {
            variables: &[],
            parameters: values,
            functions,
        };
        Ok(effort.holds(self.expr, env)? == self.want)
    }
}
