//! Questions about expressions that decide whether a model is well formed: can it have no value, can it leave a domain?

use rustc_hash::FxHashMap;

use super::Lit;
use super::encode::{Encoded, Encoder, Single};
use crate::expr::{ExprId, Node};
use crate::syntax::tree::Operator;
use crate::types::Type;
use crate::value::Domain;

impl Encoder<'_> {
    /// When an expression has no value at all: no branch of a `case` holds, or a divisor is zero.
    pub fn undefined(&mut self, id: ExprId, memo: &mut FxHashMap<ExprId, Lit>) -> Encoded<Lit> {
        if let Some(known) = memo.get(&id) {
            return Ok(*known);
        }
        let result = match self.exprs.node(id) {
            Node::Case(branches) => {
                let mut reached = Lit::TRUE;
                let mut ways = Vec::new();
                for (condition, value) in branches {
                    let fails = self.undefined(*condition, memo)?;
                    ways.push(self.aig.and(reached, fails));
                    let (can_hold, can_fail) = self.possible(*condition)?;
                    let value = self.undefined(*value, memo)?;
                    let here = self.aig.and(reached, can_hold);
                    ways.push(self.aig.and(here, value));
                    reached = self.aig.and(reached, can_fail);
                }
                ways.push(reached);
                self.aig.or_all(&ways)
            }
            Node::Binary(operator, left, right) => {
                let (a, b) = (self.undefined(*left, memo)?, self.undefined(*right, memo)?);
                let mut result = self.aig.or(a, b);
                if matches!(operator, Operator::Divide | Operator::Modulo)
                    && !self.type_of(*right).choice
                {
                    let divisor = self.word(*right)?;
                    let zero = self.aig.word_equal(&divisor, &[Lit::FALSE]);
                    result = self.aig.or(result, zero);
                }
                result
            }
            _ => {
                let mut ways = Vec::new();
                for child in self.exprs.children(id) {
                    ways.push(self.undefined(child, memo)?);
                }
                self.aig.or_all(&ways)
            }
        };
        memo.insert(id, result);
        Ok(result)
    }

    /// When an expression can have a value outside of a domain.
    pub fn outside(&mut self, id: ExprId, domain: &Domain) -> Encoded<Lit> {
        let mut ways = Vec::new();
        self.outside_of(id, domain, Lit::TRUE, &mut ways)?;
        Ok(self.aig.or_all(&ways))
    }

    fn outside_of(
        &mut self,
        id: ExprId,
        domain: &Domain,
        reached: Lit,
        ways: &mut Vec<Lit>,
    ) -> Encoded<()> {
        let type_ = self.type_of(id);
        if reached == Lit::FALSE || fits(type_, domain) {
            return Ok(());
        }
        match self.exprs.node(id) {
            Node::Case(branches) => {
                let mut reached = reached;
                for (condition, value) in branches {
                    let (can_hold, can_fail) = self.possible(*condition)?;
                    let here = self.aig.and(reached, can_hold);
                    self.outside_of(*value, domain, here, ways)?;
                    reached = self.aig.and(reached, can_fail);
                }
            }
            Node::Set(parts) => {
                for part in parts {
                    self.outside_of(*part, domain, reached, ways)?;
                }
            }
            Node::Binary(Operator::Union, left, right) => {
                self.outside_of(*left, domain, reached, ways)?;
                self.outside_of(*right, domain, reached, ways)?;
            }
            _ => {
                for (guard, value) in self.alternatives(id)? {
                    let inside = self.inside(&value, domain);
                    let here = self.aig.and(reached, guard);
                    ways.push(self.aig.and(here, !inside));
                }
            }
        }
        Ok(())
    }

    fn inside(&mut self, value: &Single, domain: &Domain) -> Lit {
        match (value, domain) {
            (Single::Bool(_), Domain::Bool) => Lit::TRUE,
            (Single::Bool(_), _) | (_, Domain::Bool) => Lit::FALSE,
            (_, Domain::Range(low, high)) => self.between(value, *low, *high),
            (_, Domain::Enum(values)) => self.one_of(value, values),
        }
    }
}

/// Certain without looking closer that all values are in the domain.
fn fits(type_: Type, domain: &Domain) -> bool {
    match domain {
        Domain::Bool => type_.is_boolean(),
        Domain::Range(low, high) => {
            !type_.boolean
                && !type_.symbol
                && type_
                    .integer
                    .is_some_and(|(least, most)| least >= *low && most <= *high)
        }
        Domain::Enum(_) => false,
    }
}
