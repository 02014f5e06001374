//! Affine invariants: linear equations between variables that hold whenever a path is at a location,
//! such as `a + b == 100`.
//!
//! They are guessed and then proved. A guess is an equation that holds in every state that tests
//! have come by. It is proved by induction: it holds at the start, and every switch that leads to
//! the location makes it true, given what is guessed where the switch begins. What a switch assigns
//! is written as a polynomial over variables, parameters and whatever else is not understood; with
//! the equations of the guard put in, nothing may be left. A guess that one switch breaks is dropped,
//! and with it whatever rested on it, until nothing changes.

use std::collections::{BTreeMap, BTreeSet};

use ioco_sts::{Expr, LocationId, State, Sts, Switch, Type, Value, VarId};

use super::kernel::kernel;
use super::polynomial::{Atoms, Polynomial, Substitution, resolved};

/// States of a location that are looked at, in all and of one path.
pub(super) const MAX_STATES: usize = 400;
pub(super) const MAX_OF_PATH: usize = 4;
/// Equations with more variables than this are not guessed.
const MAX_TERMS: usize = 12;
/// Cases of enum variables that are told apart for one switch.
const MAX_CASES: usize = 64;

/// Sum of `terms` is `constant`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Equation {
    terms: BTreeMap<VarId, i128>,
    constant: i128,
}

impl Equation {
    pub fn variables(&self) -> impl Iterator<Item = VarId> + '_ {
        self.terms.keys().copied()
    }

    /// As a condition, where the variables lie between these bounds; `None` where evaluating it could
    /// overflow: a condition without a value does not hold, but the equation does.
    pub fn condition(&self, bounds: impl Fn(VarId) -> (i64, i64)) -> Option<Expr> {
        use ioco_sts::BinaryOp::{Add, Eq, Mul, Sub};
        let number = |n: i128| i64::try_from(n).ok().map(Expr::int);
        let fits =
            |(low, high): (i128, i128)| i64::try_from(low).is_ok() && i64::try_from(high).is_ok();
        // A difference starts with what it is taken from: `0 - x` overflows where `y - x` need not.
        let mut terms: Vec<(VarId, i128)> = self.terms.iter().map(|(v, f)| (*v, *f)).collect();
        terms.sort_by_key(|(_, factor)| *factor < 0);
        let mut products: Vec<(i128, i128)> = Vec::new();
        for (variable, factor) in &terms {
            let (low, high) = bounds(*variable);
            let ends = [
                factor.checked_mul(i128::from(low))?,
                factor.checked_mul(i128::from(high))?,
            ];
            products.push((ends[0].min(ends[1]), ends[0].max(ends[1])));
        }
        let plus =
            |a: (i128, i128), b: (i128, i128)| Some((a.0.checked_add(b.0)?, a.1.checked_add(b.1)?));
        // What is left to add bounds a partial sum too, because the whole sum is the constant.
        let mut left = products.iter().try_fold((0, 0), |sum, p| plus(sum, *p))?;
        let mut partial = (0, 0);
        let mut sum = Expr::int(0);
        for ((variable, factor), product) in terms.iter().zip(products) {
            partial = plus(partial, product)?;
            left = plus(left, (-product.0, -product.1))?;
            let low = partial.0.max(self.constant.checked_sub(left.1)?);
            let high = partial.1.min(self.constant.checked_sub(left.0)?);
            // Terms with a negative factor are subtracted: `-1 * x` overflows where `- x` need not.
            let (op, size) = match *factor < 0 {
                true => (Sub, (-product.1, -product.0)),
                false => (Add, product),
            };
            if !fits(size) || !fits((low, high)) {
                return None;
            }
            let factor = number(factor.checked_abs()?)?;
            let term = Expr::binary(Mul, factor, Expr::Var(*variable));
            sum = Expr::binary(op, sum, term);
        }
        Some(Expr::binary(Eq, sum, number(self.constant)?))
    }
}

/// The equations that always hold, by location. Only models of one process are looked at: in a
/// network another process may move in between.
pub(crate) fn equations(sts: &Sts, seen: &BTreeMap<LocationId, Vec<State>>) -> Vec<Vec<Equation>> {
    let mut all = vec![Vec::new(); sts.locations().len()];
    if sts.processes().len() != 1 {
        return all;
    }
    let set = always_set(sts);
    let is_number = |v: &VarId| matches!(sts.variable(*v).ty, Type::Int(_));
    let numbers: Vec<VarId> = set.iter().copied().filter(is_number).collect();
    let rows: BTreeMap<LocationId, Vec<Vec<i64>>> = seen
        .iter()
        .map(|(location, states)| (*location, values(states, &numbers)))
        .collect();
    // What shows at one location may hold at others, and not show there among what holds by chance.
    let mut guesses: Vec<Vec<i128>> = Vec::new();
    for rows in rows.values() {
        guesses.extend(guess(rows, numbers.len()));
    }
    guesses.sort();
    guesses.dedup();
    for (location, rows) in &rows {
        let equations = guesses.iter().filter_map(|v| holding(v, rows, &numbers));
        all[location.index()] = equations.collect();
    }
    let initial = sts.processes()[0].initial;
    all[initial.index()].retain(|equation| {
        let value = |v: VarId| match &sts.variable(v).initial {
            Value::Int(number) => Some(i128::from(*number)),
            _ => None,
        };
        let terms = equation.terms.iter();
        let product = |(v, factor): (&VarId, &i128)| factor.checked_mul(value(*v)?);
        let sum = terms
            .map(product)
            .try_fold(0i128, |sum, part| sum.checked_add(part?));
        sum == Some(equation.constant)
    });
    loop {
        let mut changed = false;
        for switch in sts.switches() {
            // A place that no test has come by has no guesses, and breaks those that follow it.
            let after = &all[switch.target.index()];
            if after.is_empty() {
                continue;
            }
            let kept = preserved(sts, switch, &all[switch.source.index()], after, &set);
            if kept.len() < after.len() {
                all[switch.target.index()] = kept;
                changed = true;
            }
        }
        if !changed {
            return all;
        }
    }
}

/// The variables with a whole number or a member of an enum that are never unset, whatever is
/// assigned.
fn always_set(sts: &Sts) -> BTreeSet<VarId> {
    let mut all: BTreeSet<VarId> = (0..sts.variables().len())
        .map(VarId::from_index)
        .filter(|v| matches!(sts.variable(*v).ty, Type::Int(_) | Type::Enum(_)))
        .filter(|v| !sts.variable(*v).initial.is_void())
        .collect();
    loop {
        let before = all.len();
        for switch in sts.switches() {
            let set = set_parameters(sts, switch);
            for assignment in &switch.update {
                if !is_set(&assignment.value, &all, &set) {
                    all.remove(&assignment.variable);
                }
            }
        }
        if all.len() == before {
            return all;
        }
    }
}

/// The parameters with a whole number without which a switch is not taken.
fn set_parameters(sts: &Sts, switch: &Switch) -> BTreeSet<u32> {
    let mut set = BTreeSet::new();
    crate::moves::must_be_set(&switch.enabled, &mut set);
    let label = switch.gate.label().map(|label| sts.label(label));
    set.retain(|position| {
        let parameter = label.and_then(|label| label.parameters.get(*position as usize));
        parameter.is_some_and(|p| matches!(p.ty, Type::Int(_)))
    });
    set
}

/// Whether an expression is not `:void` where it has a value at all.
fn is_set(expr: &Expr, variables: &BTreeSet<VarId>, parameters: &BTreeSet<u32>) -> bool {
    use ioco_sts::BinaryOp::{Add, Div, Max, Min, Mul, Rem, Sub};
    match expr {
        Expr::Const(value) => !value.is_void(),
        Expr::Var(variable) => variables.contains(variable),
        Expr::Param(position) => parameters.contains(position),
        Expr::Unary(ioco_sts::UnaryOp::Neg | ioco_sts::UnaryOp::Abs, inner) => {
            is_set(inner, variables, parameters)
        }
        Expr::Binary(Add | Sub | Mul | Div | Rem | Min | Max, both) => {
            both.iter().all(|side| is_set(side, variables, parameters))
        }
        Expr::If(all) => all[1..]
            .iter()
            .all(|side| is_set(side, variables, parameters)),
        _ => false,
    }
}

/// The equations of `after` that hold after the switch where those of `before` hold before it.
fn preserved(
    sts: &Sts,
    switch: &Switch,
    before: &[Equation],
    after: &[Equation],
    always_set: &BTreeSet<VarId>,
) -> Vec<Equation> {
    let mut atoms = Atoms::default();
    let mut known = Substitution::default();
    for equation in before {
        let sum = sum(equation, |v| {
            Some(Polynomial::atom(atoms.of(&Expr::Var(v))))
        });
        if let Some(sum) = sum {
            known.add(sum);
        }
    }
    let set = set_parameters(sts, switch);
    for part in switch.enabled.conjuncts() {
        if let Expr::Binary(ioco_sts::BinaryOp::Eq, both) = part
            && both.iter().all(|side| is_set(side, always_set, &set))
            && let Some(left) = Polynomial::of(&both[0], &mut atoms)
            && let Some(right) = Polynomial::of(&both[1], &mut atoms)
            && let Some(difference) = left.plus(&right, -1)
        {
            known.add(difference);
        }
    }
    let cases = cases(sts, switch, always_set);
    let mut kept = Vec::new();
    for equation in after {
        let holds = cases.iter().all(|case| {
            let assigned = |variable: VarId| {
                let mut all = switch.update.iter();
                let assignment = all.rfind(|a| a.variable == variable);
                let value = match assignment {
                    Some(assignment) => resolved(&assignment.value, case),
                    None => Expr::Var(variable),
                };
                Polynomial::of(&value, &mut atoms)
            };
            sum(equation, assigned)
                .and_then(|sum| known.reduce(sum))
                .is_some_and(|left| left.is_zero())
        });
        if holds {
            kept.push(equation.clone());
        }
    }
    kept
}

/// The left side of an equation without its right side, where the variables are these.
fn sum(
    equation: &Equation,
    mut value: impl FnMut(VarId) -> Option<Polynomial>,
) -> Option<Polynomial> {
    let mut sum = Polynomial::constant(equation.constant.checked_neg()?);
    for (variable, factor) in &equation.terms {
        sum = sum.plus(&value(*variable)?, *factor)?;
    }
    Some(sum)
}

/// The values of the enum variables that choose what a switch assigns, in every combination; one
/// empty case where they are too many.
fn cases(sts: &Sts, switch: &Switch, always_set: &BTreeSet<VarId>) -> Vec<BTreeMap<VarId, Value>> {
    let mut choosing = BTreeSet::new();
    for assignment in &switch.update {
        assignment.value.walk(&mut |part| {
            if let Expr::If(all) = part {
                choosing.extend(all[0].vars());
            }
        });
    }
    let mut cases = vec![BTreeMap::new()];
    for variable in choosing {
        let Type::Enum(id) = sts.variable(variable).ty else {
            continue;
        };
        let members = sts.types().enums[id.index()].members.len() as u32;
        let unset = (!always_set.contains(&variable)).then_some(Value::Void);
        let members = (0..members).map(|member| Value::Enum(id, member));
        let values: Vec<Value> = members.chain(unset).collect();
        if cases.len() * values.len() > MAX_CASES {
            return vec![BTreeMap::new()];
        }
        cases = values
            .iter()
            .flat_map(|value| {
                cases.iter().map(move |case| {
                    let mut case = case.clone();
                    case.insert(variable, value.clone());
                    case
                })
            })
            .collect();
    }
    cases
}

/// The values of these variables in states; a state in which one has none is left out.
fn values(states: &[State], variables: &[VarId]) -> Vec<Vec<i64>> {
    let row = |state: &State| -> Option<Vec<i64>> {
        let number = |v: &VarId| match &state.valuation[v.index()] {
            Value::Int(number) => Some(*number),
            _ => None,
        };
        variables.iter().map(number).collect()
    };
    states.iter().filter_map(row).collect()
}

/// Factors with which the values of all rows seem to have the same sum.
fn guess(rows: &[Vec<i64>], columns: usize) -> Vec<Vec<i128>> {
    let Some((first, others)) = rows.split_first() else {
        return Vec::new();
    };
    let difference = |row: &Vec<i64>| {
        let both = row.iter().zip(first);
        both.map(|(a, b)| a.saturating_sub(*b)).collect()
    };
    let differences: Vec<Vec<i64>> = others.iter().map(difference).collect();
    let mut vectors = kernel(&differences, columns);
    vectors.retain(|vector| vector.iter().filter(|f| **f != 0).count() <= MAX_TERMS);
    vectors
}

/// The equation with these factors, where it holds in all rows.
fn holding(factors: &[i128], rows: &[Vec<i64>], variables: &[VarId]) -> Option<Equation> {
    let sum = |row: &Vec<i64>| {
        let products = factors.iter().zip(row).filter(|(factor, _)| **factor != 0);
        let mut products = products.map(|(factor, n)| factor.checked_mul(i128::from(*n)));
        products.try_fold(0i128, |sum, part| sum.checked_add(part?))
    };
    let constant = sum(rows.first()?)?;
    let same = rows.iter().all(|row| sum(row) == Some(constant));
    same.then(|| {
        let terms = variables.iter().copied().zip(factors.iter().copied());
        Equation {
            terms: terms.filter(|(_, factor)| *factor != 0).collect(),
            constant,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn equation(factors: &[i128], constant: i128) -> Equation {
        let terms = factors.iter().enumerate();
        Equation {
            terms: terms.map(|(v, f)| (VarId::from_index(v), *f)).collect(),
            constant,
        }
    }

    /// An equation that holds must not look unsatisfiable because its sum overflows.
    #[test]
    fn an_equation_whose_sum_may_overflow_is_no_condition() {
        let any = |_| (i64::MIN, i64::MAX);
        let small = |_| (-100, 100);
        // The partial sums are a variable and the constant.
        assert!(equation(&[1, 1], 100).condition(any).is_some());
        // `x + y` may overflow although `x + y + z` does not, and so may `2 * x`.
        assert!(equation(&[1, 1, 1], 100).condition(any).is_none());
        assert!(equation(&[2, 1], 100).condition(any).is_none());
        assert!(equation(&[1, -1], 1).condition(any).is_some());
        assert!(equation(&[-1, 1], 1).condition(any).is_some());
        assert!(equation(&[-1, -1], 1).condition(any).is_none());
        assert!(equation(&[2, 3, -1], 100).condition(small).is_some());
        assert!(equation(&[i128::MAX, 1], 1).condition(any).is_none());
    }
}
