//! Goals over numbers, booleans and enum members for the constraint solver aries, which learns from
//! conflicts where the plain search would repeat them. Rebuilt for every question.
//!
//! Domains are kept narrow, because aries moves bounds one by one on some unsatisfiable questions
//! and does not look at its limits meanwhile; the number of decisions is limited, and the deadline
//! is looked at between slices of them. What has no exact counterpart is left to the plain search.

use aries_solver::prelude::{
    IntCst, LinSum, Lit, Model, SearchLimit, Solver, Var, eq, eq_max, eq_mul, leq, neq, or,
};
use ioco_sts::domain::{Domain, Values, View, comparison};
use ioco_sts::{BinaryOp, Expr, Function, UnaryOp, Value};
use rust_decimal::Decimal;

use crate::form::Form;
use crate::goal::{Constants, Goal, Shape, each_unknown};
use crate::outcome::Deadline;

/// Wider domains are cut to this many values. One crawl over that takes a few milliseconds.
const MAX_WIDTH: i64 = 20_000;
/// Numbers and sums beyond this do not go to aries, which adds up in 64 bits.
const MAX_NUMBER: i128 = 1 << 58;
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
    let scale = (constants.scale + 1).min(6);
    let mut occurs = vec![false; domains.len()];
    for goal in goals {
        each_unknown(goal.expr, &mut |u| {
            if let Some(occurs) = occurs.get_mut(u as usize) {
                *occurs = true;
            }
        });
    }
    let mut model = Model::new();
    let mut cut = false;
    let mut variables = vec![None; domains.len()];
    for (index, _) in occurs.iter().enumerate().filter(|(_, o)| **o) {
        match declare(&mut model, &mut narrow[index], scale) {
            Err(Unfit) => return Solved::Unfit,
            Ok((variable, narrowed)) => {
                variables[index] = Some(variable);
                cut |= narrowed;
            }
        }
    }
    let mut builder = Builder {
        model,
        view: View {
            domains: &narrow,
            variables: &[],
            functions,
            effort: deadline,
        },
        variables,
        scale,
    };
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

/// A variable for an unknown, whose domain is cut to what aries gets; and whether that cut anything off.
fn declare(model: &mut Model, domain: &mut Domain, scale: u32) -> Result<(Var, bool), Unfit> {
    if domain.void {
        return Err(Unfit);
    }
    let mut cut = false;
    let (min, max) = match &mut domain.values {
        Values::Int { min, max } => {
            let (low, high) = crate::query::window(*min, *max, MAX_WIDTH / 2);
            cut = (low, high) != (*min, *max);
            (*min, *max) = (low, high);
            (i128::from(low), i128::from(high))
        }
        Values::Decimal { min, max } => {
            // Numbers between two of the grid are left out.
            cut = true;
            let width = Decimal::new(MAX_WIDTH, scale);
            let low = (*min).max((-width).min(max.saturating_sub(width)));
            let high = (*max).min(width.max(min.saturating_add(width)));
            (*min, *max) = (low, high);
            crate::search::grid(low, high, scale).ok_or(Unfit)?
        }
        Values::Bool { no, yes } => (i128::from(!*no), i128::from(*yes)),
        Values::Member { min, max, .. } => (i128::from(*min), i128::from(*max)),
        _ => return Err(Unfit),
    };
    Ok((variable_between(model, min, max)?, cut))
}

fn variable_between(model: &mut Model, min: i128, max: i128) -> Result<Var, Unfit> {
    if min < -MAX_NUMBER || max > MAX_NUMBER {
        return Err(Unfit);
    }
    Ok(model.new_variable(min as IntCst, max as IntCst))
}

impl<'a> Builder<'a> {
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
                let variable = self.variable(*unknown)?;
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
                if items.iter().any(|i| self.view.values_of(i).error) {
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
        let kinds = (self.view.values_of(left), self.view.values_of(right));
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
        let (left, right, op) = match op {
            BinaryOp::Ge => (right, left, BinaryOp::Le),
            BinaryOp::Gt => (right, left, BinaryOp::Lt),
            op => (left, right, op),
        };
        let (left, right) = (self.form(left, when)?, self.form(right, when)?);
        let total = self.sum(&left.minus(&right).ok_or(Unfit)?)?;
        match op {
            BinaryOp::Eq => self.model.enforce_if(when, eq(total, 0)),
            BinaryOp::Ne => self.model.enforce_if(when, neq(total, 0)),
            BinaryOp::Le => self.model.enforce_if(when, leq(total, 0)),
            // Everything is whole in units of the last digit, so strict comparisons move by one.
            _ => self.model.enforce_if(when, leq(total, -1)),
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
        let found = self.view.values_of(expr);
        match expr {
            Expr::Const(Value::Enum(_, member)) => {
                Form::number(&Value::Int(i64::from(*member))).ok_or(Unfit)
            }
            Expr::Const(value) => Form::number(value).ok_or(Unfit),
            Expr::Param(unknown) => {
                let is_decimal = matches!(found.values, Values::Decimal { .. });
                let scale = if is_decimal { self.scale } else { 0 };
                Ok(Form::of(self.variable(*unknown)?, scale))
            }
            Expr::Unary(UnaryOp::Neg, inner) if !found.error => {
                self.form(inner, when)?.times(-1, 0).ok_or(Unfit)
            }
            Expr::Unary(UnaryOp::Abs, inner) if !found.error => {
                let inner = self.form(inner, when)?;
                let number = self.whole(&inner)?;
                let result = self.fresh(&found.values)?;
                let positive = self.literal();
                self.split_by_sign(number, positive);
                self.model.enforce_if(positive, eq(result, number));
                self.model
                    .enforce_if(!positive, eq(LinSum::from(result) + number, 0));
                Ok(Form::of(result, 0))
            }
            Expr::Binary(op, both) => self.arithmetic(*op, both, &found.values, found.error, when),
            Expr::If(all) => {
                let (a, b) = (self.literal(), self.literal());
                let result = self.fresh(&found.values)?;
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
                // Quotients of decimals are rounded.
                if !right.terms.is_empty() || !matches!(values, Values::Int { .. }) {
                    return Err(Unfit);
                }
                self.division(op, &left, right.constant)
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
    ) -> Result<Form<Var>, Unfit> {
        let number = self.whole(dividend)?;
        let most = divisor.abs() - 1;
        let rest = variable_between(&mut self.model, -most, most)?;
        let divisor = divisor as IntCst;
        let (min, max) = bounds(&self.model, number);
        let (a, b) = (min / divisor, max / divisor);
        let quotient = self.model.new_variable(a.min(b), a.max(b));
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
            Values::Int { min, max } => {
                variable_between(&mut self.model, i128::from(*min), i128::from(*max))
            }
            _ => Err(Unfit),
        }
    }

    /// The numerator of a form as aries has it.
    fn sum(&self, form: &Form<Var>) -> Result<LinSum, Unfit> {
        let mut most = form.constant.saturating_abs();
        let mut total = LinSum::cst(form.constant as IntCst);
        for (variable, factor) in &form.terms {
            let (low, high) = bounds(&self.model, *variable);
            let largest = low.unsigned_abs().max(high.unsigned_abs()).max(1);
            let largest = factor.saturating_mul(i128::from(largest));
            most = most.saturating_add(largest.saturating_abs());
            total += (*factor as IntCst) * *variable;
        }
        if most > MAX_NUMBER {
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
        let total = self.sum(form)?;
        let (mut min, mut max) = (form.constant, form.constant);
        for (variable, factor) in &form.terms {
            let (low, high) = bounds(&self.model, *variable);
            let corners = [i128::from(low) * factor, i128::from(high) * factor];
            min += corners[0].min(corners[1]);
            max += corners[0].max(corners[1]);
        }
        let variable = variable_between(&mut self.model, min, max)?;
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
mod tests;
