//! Goals over numbers, booleans and enum members for the constraint solver aries, which learns from
//! conflicts where the plain search would repeat them. Rebuilt for every question.
//!
//! Domains are kept narrow, because aries moves bounds one by one on some unsatisfiable questions
//! and does not look at its limits meanwhile; the number of decisions is limited, and the deadline
//! is looked at between slices of them. What has no exact counterpart is left to the plain search.

use aries_solver::prelude::{
    IntCst, LinSum, Lit, Model, SearchLimit, Solver, Var, eq, eq_max, eq_mul, leq, neq, or,
};
use ioco_sts::{BinaryOp, Expr, Function, UnaryOp, Value};
use rust_decimal::Decimal;

use crate::backward::comparison;
use crate::domain::{Domain, Values};
use crate::form::Form;
use crate::forward::View;
use crate::goal::{Constants, Goal, Shape, each_unknown};
use crate::outcome::Deadline;

/// Wider domains are cut to this many values. One crawl over that takes a few milliseconds.
const MAX_WIDTH: i64 = 20_000;
/// Numbers beyond this do not go to aries, which needs room for sums.
const MAX_NUMBER: i128 = 1 << 58;
const MAX_FACTOR: i128 = 1 << 44;
const MAX_SUM: i128 = 1 << 60;
/// Decisions in all, and between two looks at the deadline.
const MAX_DECISIONS: u64 = 4_000;
const SLICE: u64 = 50;
/// What a decision counts for in steps.
const STEPS_PER_DECISION: u64 = 4;

pub(crate) enum Solved {
    Model(Vec<Domain>),
    /// There is nothing; the flag tells whether domains had been cut.
    Nothing {
        cut: bool,
    },
    GaveUp,
    /// The goals have something that aries has no counterpart for.
    Unfit,
}

struct Builder<'a> {
    model: Model,
    view: View<'a>,
    /// The variable of each unknown that occurs.
    variables: Vec<Option<Var>>,
    /// Digits after the point of decimal unknowns.
    scale: u32,
}

/// Something without a counterpart.
struct Unfit;

pub(crate) fn solve(
    goals: &[Goal<'_>],
    domains: &[Domain],
    functions: &[Function],
    constants: &Constants,
    deadline: &Deadline<'_>,
) -> Solved {
    let mut narrow = domains.to_vec();
    let mut cut = false;
    let scale = (constants.scale + 1).min(6);
    let mut occurs = vec![false; domains.len()];
    for goal in goals {
        each_unknown(goal.expr, &mut |u| {
            if let Some(occurs) = occurs.get_mut(u as usize) {
                *occurs = true;
            }
        });
    }
    for (domain, _) in narrow.iter_mut().zip(&occurs).filter(|(_, o)| **o) {
        if domain.void {
            return Solved::Unfit;
        }
        match &mut domain.values {
            Values::Int { min, max } => {
                let (low, high) = crate::query::window(*min, *max, MAX_WIDTH / 2);
                cut |= (low, high) != (*min, *max);
                (*min, *max) = (low, high);
            }
            Values::Decimal { min, max } => {
                // Numbers between two of the grid are left out.
                cut = true;
                let reach = Decimal::from(MAX_WIDTH) / Decimal::from(10_i64.pow(scale));
                let low = (*min).max((-reach).min(max.saturating_sub(reach)));
                let high = (*max).min(reach.max(min.saturating_add(reach)));
                (*min, *max) = (low, high);
            }
            Values::Bool { .. } | Values::Member { .. } => {}
            _ => return Solved::Unfit,
        }
    }
    let mut builder = Builder {
        model: Model::new(),
        view: View {
            domains: &narrow,
            functions,
            deadline,
        },
        variables: vec![None; domains.len()],
        scale,
    };
    for (index, _) in occurs.iter().enumerate().filter(|(_, o)| **o) {
        if builder.declare(index).is_err() {
            return Solved::Unfit;
        }
    }
    for goal in goals {
        if builder.goal(*goal, Lit::TRUE).is_err() {
            return Solved::Unfit;
        }
    }
    let Builder {
        model, variables, ..
    } = builder;
    let mut solver = Solver::new(model);
    let mut decisions = 0;
    loop {
        decisions += SLICE;
        if decisions > MAX_DECISIONS || !deadline.spend(SLICE * STEPS_PER_DECISION) {
            return Solved::GaveUp;
        }
        match solver.solve(SearchLimit::NumDecisions(decisions)) {
            Ok(None) => return Solved::Nothing { cut },
            Err(_) => {}
            Ok(Some(solution)) => {
                for (domain, variable) in narrow.iter_mut().zip(&variables) {
                    if let Some(value) = variable.and_then(|v| solution.eval(v)) {
                        domain.values = exactly(&domain.values, value, scale);
                    }
                }
                return Solved::Model(narrow);
            }
        }
    }
}

/// The value that a number of aries stands for.
fn exactly(values: &Values, number: IntCst, scale: u32) -> Values {
    match values {
        Values::Bool { .. } => Values::truth(number != 0),
        Values::Member { of, .. } => Values::exactly(&Value::Enum(*of, number as u32)),
        Values::Decimal { .. } => {
            Values::exactly(&Value::Decimal(Decimal::new(number, scale).normalize()))
        }
        _ => Values::int(number, number),
    }
}

impl<'a> Builder<'a> {
    fn declare(&mut self, unknown: usize) -> Result<(), Unfit> {
        let (min, max) = match &self.view.domains[unknown].values {
            Values::Int { min, max } => (*min, *max),
            Values::Bool { no, yes } => (i64::from(!*no), i64::from(*yes)),
            Values::Member { min, max, .. } => (i64::from(*min), i64::from(*max)),
            Values::Decimal { min, max } => {
                use rust_decimal::prelude::ToPrimitive as _;
                let unit = Decimal::from(10_i64.pow(self.scale));
                let units = |d: Decimal| d.checked_mul(unit);
                let low = units(*min).and_then(|d| d.ceil().to_i64()).ok_or(Unfit)?;
                let high = units(*max).and_then(|d| d.floor().to_i64()).ok_or(Unfit)?;
                (low, high)
            }
            _ => return Err(Unfit),
        };
        let large = |n: i64| i128::from(n).abs() > MAX_NUMBER;
        if min > max || large(min) || large(max) {
            return Err(Unfit);
        }
        self.variables[unknown] = Some(self.model.new_variable(min, max));
        Ok(())
    }

    fn literal(&mut self) -> Lit {
        self.model.new_variable(0, 1).geq(1)
    }

    /// Whenever `when` is true, `goal` is met.
    fn goal(&mut self, goal: Goal<'a>, when: Lit) -> Result<(), Unfit> {
        match goal.shape() {
            Shape::All(first, second) => {
                self.goal(first, when)?;
                self.goal(second, when)
            }
            Shape::Either(first, not_first, second) => {
                let (a, b) = (self.literal(), self.literal());
                self.model.enforce(or([!when, a, b]));
                self.goal(first, a)?;
                self.goal(not_first, b)?;
                self.goal(second, b)
            }
            Shape::One(goal) => self.part(goal, when),
        }
    }

    fn part(&mut self, goal: Goal<'a>, when: Lit) -> Result<(), Unfit> {
        let Goal { expr, want } = goal;
        match expr {
            Expr::Const(value) => {
                if *value != Value::Bool(want) {
                    self.model.enforce(or([!when]));
                }
                Ok(())
            }
            Expr::Param(unknown) => {
                let is_bool = matches!(
                    self.view.domains.get(*unknown as usize).map(|d| &d.values),
                    Some(Values::Bool { .. })
                );
                let variable = self.variable(*unknown)?;
                if !is_bool {
                    return Err(Unfit);
                }
                let literal = if want {
                    variable.geq(1)
                } else {
                    variable.leq(0)
                };
                self.model.enforce(or([!when, literal]));
                Ok(())
            }
            Expr::Binary(op, both) => {
                let op = comparison(*op, want).ok_or(Unfit)?;
                self.compare(op, &both[0], &both[1], when)
            }
            Expr::InRange(all) => {
                let [subject, low, high] = &**all;
                if want {
                    self.compare(BinaryOp::Le, low, subject, when)?;
                    return self.compare(BinaryOp::Le, subject, high, when);
                }
                let (a, b) = (self.literal(), self.literal());
                self.model.enforce(or([!when, a, b]));
                // Both sides must have values, whichever fails.
                self.form(low, when)?;
                self.form(high, when)?;
                self.compare(BinaryOp::Gt, low, subject, a)?;
                self.compare(BinaryOp::Gt, subject, high, b)
            }
            Expr::InSet(subject, items) => {
                // An item without a value would count or not, depending on the ones before it.
                if items.iter().any(|i| self.view.reach(i).error) {
                    return Err(Unfit);
                }
                if !want {
                    for item in items {
                        self.compare(BinaryOp::Ne, subject, item, when)?;
                    }
                    return Ok(());
                }
                let mut alternatives = vec![!when];
                for item in items {
                    let literal = self.literal();
                    self.compare(BinaryOp::Eq, subject, item, literal)?;
                    alternatives.push(literal);
                }
                self.model.enforce(or(alternatives));
                Ok(())
            }
            Expr::If(all) => {
                let (a, b) = (self.literal(), self.literal());
                self.model.enforce(or([!when, a, b]));
                let side = |expr: &'a Expr, want: bool| Goal { expr, want };
                self.goal(side(&all[0], true), a)?;
                self.goal(side(&all[1], want), a)?;
                self.goal(side(&all[0], false), b)?;
                self.goal(side(&all[2], want), b)
            }
            _ => Err(Unfit),
        }
    }

    fn compare(
        &mut self,
        op: BinaryOp,
        left: &'a Expr,
        right: &'a Expr,
        when: Lit,
    ) -> Result<(), Unfit> {
        let kinds = (self.view.reach(left), self.view.reach(right));
        if kinds.0.void || kinds.1.void {
            return Err(Unfit);
        }
        match (&kinds.0.values, &kinds.1.values) {
            (Values::Bool { .. }, Values::Bool { .. }) => {
                let same = match op {
                    BinaryOp::Eq => true,
                    BinaryOp::Ne => false,
                    _ => return Err(Unfit),
                };
                let (a, b) = (self.literal(), self.literal());
                self.model.enforce(or([!when, a, b]));
                for (literal, truth) in [(a, true), (b, false)] {
                    let side = |expr: &'a Expr, want: bool| Goal { expr, want };
                    self.goal(side(left, truth), literal)?;
                    self.goal(side(right, truth == same), literal)?;
                }
                return Ok(());
            }
            (
                Values::Int { .. } | Values::Decimal { .. },
                Values::Int { .. } | Values::Decimal { .. },
            ) => {}
            (Values::Member { of, .. }, Values::Member { of: other, .. }) if of == other => {}
            _ => return Err(Unfit),
        }
        let (left, right) = (self.form(left, when)?, self.form(right, when)?);
        let difference = left.minus(&right).ok_or(Unfit)?;
        let total = self.sum(&difference)?;
        let negated = self.sum(&difference.times(-1, 0).ok_or(Unfit)?)?;
        // Everything is whole in units of the last digit, so strict comparisons move by one.
        match op {
            BinaryOp::Eq => self.model.enforce_if(when, eq(total, 0)),
            BinaryOp::Ne => self.model.enforce_if(when, neq(total, 0)),
            BinaryOp::Le => self.model.enforce_if(when, leq(total, 0)),
            BinaryOp::Lt => self.model.enforce_if(when, leq(total, -1)),
            BinaryOp::Ge => self.model.enforce_if(when, leq(negated, 0)),
            _ => self.model.enforce_if(when, leq(negated, -1)),
        }
        Ok(())
    }

    fn variable(&self, unknown: u32) -> Result<Var, Unfit> {
        self.variables
            .get(unknown as usize)
            .copied()
            .flatten()
            .ok_or(Unfit)
    }

    /// The number that `expr` comes to; that it has a value is enforced where `when` is true.
    fn form(&mut self, expr: &'a Expr, when: Lit) -> Result<Form<Var>, Unfit> {
        let reach = self.view.reach(expr);
        if reach.void || reach.never_has_a_value() {
            return Err(Unfit);
        }
        match expr {
            Expr::Const(Value::Enum(_, member)) => {
                Form::number(&Value::Int(i64::from(*member))).ok_or(Unfit)
            }
            Expr::Const(value) => Form::number(value).ok_or(Unfit),
            Expr::Param(unknown) => {
                let is_decimal = matches!(reach.values, Values::Decimal { .. });
                let scale = if is_decimal { self.scale } else { 0 };
                Ok(Form::of(self.variable(*unknown)?, scale))
            }
            Expr::Unary(UnaryOp::Neg, inner) if !reach.error => {
                self.form(inner, when)?.times(-1, 0).ok_or(Unfit)
            }
            Expr::Unary(UnaryOp::Abs, inner) if !reach.error => {
                let inner = self.form(inner, when)?;
                let number = self.whole(&inner)?;
                let result = self.fresh(&reach.values)?;
                let positive = self.literal();
                self.split_by_sign(number, positive);
                self.model.enforce_if(positive, eq(result, number));
                self.model
                    .enforce_if(!positive, eq(LinSum::from(result) + number, 0));
                Ok(Form::of(result, 0))
            }
            Expr::Binary(op, both) => self.arithmetic(*op, both, &reach.values, reach.error, when),
            Expr::If(all) => {
                let (a, b) = (self.literal(), self.literal());
                let result = self.fresh(&reach.values)?;
                self.model.enforce(or([!when, a, b]));
                for (literal, truth, branch) in [(a, true, &all[1]), (b, false, &all[2])] {
                    let condition = Goal {
                        expr: &all[0],
                        want: truth,
                    };
                    self.goal(condition, literal)?;
                    let branch = self.form(branch, literal)?;
                    if branch.scale != 0 {
                        return Err(Unfit);
                    }
                    let branch = self.sum(&branch)?;
                    self.model.enforce_if(literal, eq(branch, result));
                }
                Ok(Form::of(result, 0))
            }
            _ => Err(Unfit),
        }
    }

    fn arithmetic(
        &mut self,
        op: BinaryOp,
        both: &'a [Expr; 2],
        values: &Values,
        error: bool,
        when: Lit,
    ) -> Result<Form<Var>, Unfit> {
        // Overflow is possible, or a zero divisor: not to be modelled here.
        if error {
            return Err(Unfit);
        }
        let left = self.form(&both[0], when)?;
        let right = self.form(&both[1], when)?;
        match op {
            BinaryOp::Add => left.plus(&right).ok_or(Unfit),
            BinaryOp::Sub => left.minus(&right).ok_or(Unfit),
            BinaryOp::Mul if left.terms.is_empty() => {
                right.times(left.constant, left.scale).ok_or(Unfit)
            }
            BinaryOp::Mul if right.terms.is_empty() => {
                left.times(right.constant, right.scale).ok_or(Unfit)
            }
            BinaryOp::Mul => {
                let (a, b) = (self.whole(&left)?, self.whole(&right)?);
                let product = self.fresh(values)?;
                self.model.enforce(eq_mul(product, a, b));
                Ok(Form::of(product, 0))
            }
            BinaryOp::Max => {
                let (a, b) = (self.whole(&left)?, self.whole(&right)?);
                let result = self.fresh(values)?;
                self.model.enforce(eq_max::<Var>(result, [a, b]));
                Ok(Form::of(result, 0))
            }
            BinaryOp::Min => {
                let (a, b) = (self.whole(&left)?, self.whole(&right)?);
                let result = self.fresh(values)?;
                self.model
                    .enforce(aries_solver::prelude::eq_min::<Var, _>(result, [a, b]));
                Ok(Form::of(result, 0))
            }
            BinaryOp::Div | BinaryOp::Rem => {
                if !right.terms.is_empty() || left.scale != 0 || right.scale != 0 {
                    return Err(Unfit);
                }
                self.division(op, &left, right.constant, &both[0])
            }
            _ => Err(Unfit),
        }
    }

    /// `n = d * q + r`, where `r` has the sign of `n` and is smaller than `d`.
    fn division(
        &mut self,
        op: BinaryOp,
        dividend: &Form<Var>,
        divisor: i128,
        expr: &Expr,
    ) -> Result<Form<Var>, Unfit> {
        let number = self.whole(dividend)?;
        if divisor.abs() > MAX_FACTOR {
            return Err(Unfit);
        }
        let divisor = IntCst::try_from(divisor).map_err(|_| Unfit)?;
        let Values::Int { min, max } = self.view.reach(expr).values else {
            return Err(Unfit);
        };
        let most = divisor.checked_abs().ok_or(Unfit)? - 1;
        if divisor == 0 || i128::from(most) > MAX_NUMBER {
            return Err(Unfit);
        }
        let corners = [min.checked_div(divisor), max.checked_div(divisor)];
        let [Some(a), Some(b)] = corners else {
            return Err(Unfit);
        };
        let quotient = self.model.new_variable(a.min(b), a.max(b));
        let rest = self.model.new_variable(
            if min < 0 { -most } else { 0 },
            if max > 0 { most } else { 0 },
        );
        let positive = self.literal();
        self.split_by_sign(number, positive);
        self.model.enforce(or([!positive, rest.geq(0)]));
        self.model.enforce(or([positive, rest.leq(0)]));
        self.model
            .enforce(eq(LinSum::from(divisor * quotient) + rest, number));
        Ok(Form::of(
            if op == BinaryOp::Div { quotient } else { rest },
            0,
        ))
    }

    /// `positive` is true exactly where the number is not negative.
    fn split_by_sign(&mut self, number: Var, positive: Lit) {
        self.model.enforce(or([!positive, number.geq(0)]));
        self.model.enforce(or([positive, number.leq(-1)]));
    }

    /// A variable for every integer of the set.
    fn fresh(&mut self, values: &Values) -> Result<Var, Unfit> {
        match values {
            Values::Int { min, max }
                if i128::from(*min).abs() < MAX_NUMBER && i128::from(*max).abs() < MAX_NUMBER =>
            {
                Ok(self.model.new_variable(*min, *max))
            }
            _ => Err(Unfit),
        }
    }

    /// The numerator of a form as aries has it, where the numbers leave room: aries adds up in 64 bits.
    fn sum(&self, form: &Form<Var>) -> Result<LinSum, Unfit> {
        let fits = |n: i128| n.abs() < MAX_FACTOR;
        if !fits(form.constant) || !form.terms.iter().all(|(_, c)| fits(*c)) {
            return Err(Unfit);
        }
        let mut most = form.constant.abs();
        let mut total = LinSum::cst(form.constant as IntCst);
        for (variable, factor) in &form.terms {
            let (low, high) = bounds(&self.model, *variable);
            let largest = i128::from(low).abs().max(i128::from(high).abs());
            most += factor.abs() * largest;
            total += (*factor as IntCst) * *variable;
        }
        if most > MAX_SUM {
            return Err(Unfit);
        }
        Ok(total)
    }

    /// A variable that equals a form of integers.
    fn whole(&mut self, form: &Form<Var>) -> Result<Var, Unfit> {
        if form.scale != 0 {
            return Err(Unfit);
        }
        if let ([(variable, 1)], 0) = (form.terms.as_slice(), form.constant) {
            return Ok(*variable);
        }
        let (mut min, mut max) = (form.constant, form.constant);
        for (variable, factor) in &form.terms {
            let (low, high) = bounds(&self.model, *variable);
            let corners = [i128::from(low) * factor, i128::from(high) * factor];
            min += corners[0].min(corners[1]);
            max += corners[0].max(corners[1]);
        }
        if min < -MAX_NUMBER || max > MAX_NUMBER {
            return Err(Unfit);
        }
        let variable = self.model.new_variable(min as IntCst, max as IntCst);
        let total = self.sum(form)?;
        self.model.enforce(eq(total, variable));
        Ok(variable)
    }
}

fn bounds(model: &Model, variable: Var) -> (IntCst, IntCst) {
    use aries_solver::prelude::Dom as _;
    model.bounds(variable)
}

#[cfg(test)]
#[path = "../tests/common/mod.rs"]
mod common;

#[cfg(test)]
mod tests {
    use ioco_sts::{IntRange, Type};
    use rand::SeedableRng as _;

    use super::common::{functions, problem, types};
    use super::*;
    use crate::search::{Choice, concrete};

    fn moderate(expr: &Expr) -> Expr {
        match expr {
            Expr::Const(Value::Int(value)) => Expr::int((*value).clamp(-9, 9)),
            _ => expr.map_children(moderate),
        }
    }

    /// Every answer that aries gives must be what enumeration says; and it must give some.
    #[test]
    fn answers_are_what_enumeration_says() {
        let (types, functions) = (types(), functions());
        let (mut models, mut refuted) = (0, 0);
        for seed in 0..8_000 {
            let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
            let mut problem = problem(&mut rng);
            // Aries takes neither unset values nor numbers at the edge of 64 bits.
            for unknown in &mut problem.unknowns {
                unknown.1 = false;
                if let Type::Int(range) = &mut unknown.0 {
                    *range = IntRange { min: -5, max: 6 };
                }
            }
            problem.conditions = problem.conditions.iter().map(moderate).collect();
            let domains: Vec<Domain> = problem
                .unknowns
                .iter()
                .map(|(ty, _)| Domain::set(Values::of_type(ty, &types)))
                .collect();
            let goals: Vec<Goal<'_>> = problem.conditions.iter().map(Goal::holds).collect();
            let constants = Constants::of(&problem.conditions, &functions);
            let deadline = Deadline::never();
            match solve(&goals, &domains, &functions, &constants, &deadline) {
                Solved::Model(model) => {
                    let values = concrete(&model, &constants, &mut Choice::Plain);
                    assert!(
                        problem.holds(&values, &functions),
                        "{values:?} for {:#?}",
                        problem.conditions
                    );
                    models += 1;
                }
                Solved::Nothing { cut } => {
                    assert!(!cut);
                    assert!(
                        problem.solutions(&functions).is_empty(),
                        "{:#?}",
                        problem.conditions
                    );
                    refuted += 1;
                }
                Solved::GaveUp | Solved::Unfit => {}
            }
        }
        assert!(
            models > 800 && refuted > 400,
            "{models} models, {refuted} refuted"
        );
    }
}
