//! Polynomials over the parts of expressions, and what equations make of them. Every result is
//! exact, or there is none.

use std::collections::BTreeMap;

use ioco_sts::{BinaryOp, Expr, UnaryOp, Value, VarId};
use rustc_hash::FxHashMap;

/// Polynomials with more terms than this are given up.
const MAX_TERMS: usize = 400;

/// What polynomials are made of: variables, parameters, and expressions that are not sums and
/// products.
#[derive(Default)]
pub(super) struct Atoms {
    numbers: FxHashMap<Expr, u32>,
}

impl Atoms {
    pub fn of(&mut self, expr: &Expr) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(expr.clone()).or_insert(next)
    }
}

/// By product of atoms (in order, with repetition), its factor; never 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Polynomial {
    terms: BTreeMap<Vec<u32>, i128>,
}

impl Polynomial {
    pub fn constant(number: i128) -> Polynomial {
        let terms = (number != 0).then(|| (Vec::new(), number));
        Polynomial {
            terms: terms.into_iter().collect(),
        }
    }

    pub fn atom(atom: u32) -> Polynomial {
        Polynomial {
            terms: BTreeMap::from([(vec![atom], 1)]),
        }
    }

    pub fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    pub fn of(expr: &Expr, atoms: &mut Atoms) -> Option<Polynomial> {
        use BinaryOp::{Add, Mul, Sub};
        match expr {
            Expr::Const(Value::Int(number)) => Some(Polynomial::constant(i128::from(*number))),
            Expr::Unary(UnaryOp::Neg, inner) => {
                Polynomial::default().plus(&Polynomial::of(inner, atoms)?, -1)
            }
            Expr::Binary(op @ (Add | Sub | Mul), both) => {
                let left = Polynomial::of(&both[0], atoms)?;
                let right = Polynomial::of(&both[1], atoms)?;
                match op {
                    Add => left.plus(&right, 1),
                    Sub => left.plus(&right, -1),
                    _ => left.times(&right),
                }
            }
            _ => Some(Polynomial::atom(atoms.of(expr))),
        }
    }

    /// The sum with so many times the other.
    pub fn plus(&self, other: &Polynomial, factor: i128) -> Option<Polynomial> {
        let mut sum = self.clone();
        for (product, number) in &other.terms {
            sum.add(product.clone(), number.checked_mul(factor)?)?;
        }
        Some(sum)
    }

    fn times(&self, other: &Polynomial) -> Option<Polynomial> {
        let mut result = Polynomial::default();
        for (left, a) in &self.terms {
            for (right, b) in &other.terms {
                let mut product = [left.as_slice(), right].concat();
                product.sort_unstable();
                result.add(product, a.checked_mul(*b)?)?;
            }
        }
        Some(result)
    }

    fn add(&mut self, product: Vec<u32>, number: i128) -> Option<()> {
        let factor = self.terms.entry(product).or_insert(0);
        *factor = factor.checked_add(number)?;
        self.terms.retain(|_, factor| *factor != 0);
        (self.terms.len() <= MAX_TERMS).then_some(())
    }

    /// With another polynomial in the place of an atom.
    fn with(&self, atom: u32, value: &Polynomial) -> Option<Polynomial> {
        let mut result = Polynomial::default();
        for (product, factor) in &self.terms {
            let mut part = Polynomial::constant(*factor);
            for each in product {
                part = match *each == atom {
                    true => part.times(value)?,
                    false => part.times(&Polynomial::atom(*each))?,
                };
            }
            result = result.plus(&part, 1)?;
        }
        Some(result)
    }
}

/// Atoms that equations allow to be written in terms of others.
#[derive(Default)]
pub(super) struct Substitution {
    /// In the order in which they are put in.
    known: Vec<(u32, Polynomial)>,
}

impl Substitution {
    /// Takes over that a polynomial is 0, as far as that says what one of its atoms is.
    pub fn add(&mut self, zero: Polynomial) {
        let Some(zero) = self.reduce(zero) else {
            return;
        };
        if zero.terms.keys().any(|product| product.len() > 1) {
            return;
        }
        let mut single = zero.terms.iter().filter(|(product, _)| product.len() == 1);
        let Some((product, factor)) = single.find(|(_, factor)| factor.abs() == 1) else {
            return;
        };
        let (atom, factor) = (product[0], *factor);
        let mut rest = zero.clone();
        rest.terms.remove(&vec![atom]);
        if let Some(value) = Polynomial::default().plus(&rest, -factor) {
            self.known.push((atom, value));
        }
    }

    pub fn reduce(&self, mut polynomial: Polynomial) -> Option<Polynomial> {
        for (atom, value) in &self.known {
            let has = |product: &Vec<u32>| product.contains(atom);
            if polynomial.terms.keys().any(has) {
                polynomial = polynomial.with(*atom, value)?;
            }
        }
        Some(polynomial)
    }
}

/// The expression where variables have these values, as far as that chooses between the branches
/// of an `if`.
pub(super) fn resolved(expr: &Expr, case: &BTreeMap<VarId, Value>) -> Expr {
    match expr {
        Expr::Var(variable) => match case.get(variable) {
            Some(value) => Expr::Const(value.clone()),
            None => expr.clone(),
        },
        Expr::If(all) => match resolved(&all[0], case) {
            Expr::Const(Value::Bool(true)) => resolved(&all[1], case),
            Expr::Const(Value::Bool(false)) => resolved(&all[2], case),
            _ => expr.map_children(|child| resolved(child, case)),
        },
        Expr::Binary(BinaryOp::Eq, both) => {
            let sides = [resolved(&both[0], case), resolved(&both[1], case)];
            match &sides {
                [Expr::Const(left), Expr::Const(right)] => Expr::Const(Value::Bool(left == right)),
                _ => Expr::Binary(BinaryOp::Eq, Box::new(sides)),
            }
        }
        _ => expr.map_children(|child| resolved(child, case)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_with_what_an_equation_gives_cancel() {
        let mut atoms = Atoms::default();
        let [a, b, h] = [0, 1, 2].map(Expr::Param);
        let mul = |l: &Expr, r: &Expr| Expr::binary(BinaryOp::Mul, l.clone(), r.clone());
        // a + b == 100, so a * h + b * h is 100 * h.
        let sum = Expr::binary(BinaryOp::Add, a.clone(), b.clone());
        let mut known = Substitution::default();
        let sum = Polynomial::of(&sum, &mut atoms).expect("small");
        known.add(sum.plus(&Polynomial::constant(100), -1).expect("small"));
        let all = Expr::binary(BinaryOp::Add, mul(&a, &h), mul(&b, &h));
        let all = Expr::binary(BinaryOp::Sub, all, mul(&Expr::int(100), &h));
        let all = Polynomial::of(&all, &mut atoms).expect("small");
        assert!(!all.is_zero());
        assert!(known.reduce(all).expect("small").is_zero());
    }
}
