//! What is known of unknowns, and what follows from conditions on them, without a search.

use super::Effort;
use super::backward::Narrower;
use super::forward::{ExprValues, View};
use super::goal::{Goal, Shape};
use super::set::{Domain, Empty};
use crate::expr::Expr;
use crate::sts::Function;
use crate::types::{Type, Types};
use crate::value::Value;

/// Rounds of narrowing: what a condition says at its end may bear on its beginning.
const MAX_ROUNDS: u32 = 4;

/// The expression with numbers for all unknowns: variables come first, then parameters.
pub fn numbered(expr: &Expr, variables: usize) -> Expr {
    expr.substitute(&|part| match part {
        Expr::Var(variable) => Some(Expr::Param(variable.0)),
        Expr::Param(position) => Some(Expr::Param(variables as u32 + position)),
        _ => None,
    })
}

/// The domains of unknowns. A condition that is assumed narrows them.
#[derive(Clone)]
pub struct Facts<'a> {
    pub types: &'a Types,
    pub functions: &'a [Function],
    pub effort: &'a dyn Effort,
    /// The values of variables, where they are known.
    pub variables: &'a [Value],
    /// The types of the unknowns, and what they were at first.
    pub unknowns: &'a [(Type, Domain)],
    pub domains: Vec<Domain>,
}

impl<'a> Facts<'a> {
    pub fn new(
        types: &'a Types,
        functions: &'a [Function],
        unknowns: &'a [(Type, Domain)],
        effort: &'a dyn Effort,
    ) -> Facts<'a> {
        let domains = unknowns.iter().map(|(_, domain)| domain.clone()).collect();
        Facts {
            types,
            functions,
            effort,
            variables: &[],
            unknowns,
            domains,
        }
    }

    /// What an expression can be.
    pub fn values_of(&self, expr: &Expr) -> ExprValues {
        let view = View {
            domains: &self.domains,
            variables: self.variables,
            functions: self.functions,
            effort: self.effort,
        };
        view.values_of(expr)
    }

    /// The goals are met. After an error the domains mean nothing.
    pub fn assume(&mut self, goals: &[Goal<'_>]) -> Result<(), Empty> {
        for _ in 0..MAX_ROUNDS {
            let mut changed = false;
            for goal in goals {
                changed |= self.once(*goal)?;
            }
            if !changed {
                break;
            }
        }
        Ok(())
    }

    /// One round; whether anything changed.
    fn once(&mut self, goal: Goal<'_>) -> Result<bool, Empty> {
        match goal.shape() {
            Shape::All(first, second) => Ok(self.once(first)? | self.once(second)?),
            Shape::Either(first, not_first, second) => self.either(
                |facts| facts.once(first),
                |facts| Ok(facts.narrow(not_first)? | facts.once(second)?),
            ),
            Shape::One(goal) => match goal.expr {
                Expr::If(all) => {
                    let [condition, then, otherwise] = &**all;
                    let branch = |truth: bool, expr| {
                        move |facts: &mut Self| {
                            let condition = Goal {
                                expr: condition,
                                want: truth,
                            };
                            Ok(facts.narrow(condition)? | facts.once(Goal { expr, ..goal })?)
                        }
                    };
                    self.either(branch(true, then), branch(false, otherwise))
                }
                _ => self.narrow(goal),
            },
        }
    }

    /// What either of two assumptions leaves.
    fn either(
        &mut self,
        first: impl FnOnce(&mut Self) -> Result<bool, Empty>,
        second: impl FnOnce(&mut Self) -> Result<bool, Empty>,
    ) -> Result<bool, Empty> {
        let mut other = self.clone();
        let before = self.domains.clone();
        match (first(self), second(&mut other)) {
            (Err(Empty), Err(Empty)) => return Err(Empty),
            (Err(Empty), Ok(_)) => self.domains = other.domains,
            (Ok(_), Err(Empty)) => {}
            (Ok(_), Ok(_)) => {
                let both = self.domains.iter_mut().zip(&other.domains);
                both.for_each(|(domain, other)| *domain = domain.join(other));
            }
        }
        Ok(self.domains != before)
    }

    fn narrow(&mut self, goal: Goal<'_>) -> Result<bool, Empty> {
        if !self.values_of(goal.expr).may_be(goal.want) {
            return Err(Empty);
        }
        let mut narrower = Narrower {
            domains: &mut self.domains,
            types: self.types,
            type_of: &|unknown| self.unknowns.get(unknown as usize).map(|(ty, _)| ty),
            variables: self.variables,
            functions: self.functions,
            effort: self.effort,
            changed: false,
        };
        narrower.truth(goal.expr, goal.want)?;
        Ok(narrower.changed)
    }
}
