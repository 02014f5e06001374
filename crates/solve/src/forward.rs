//! Evaluation over sets of values: what an expression may come to, and whether it may have no value
//! at all, when its unknowns range over their domains.

use std::cmp::Ordering;

use ioco_sts::{BinaryOp, Env, EvalError, Expr, Function, UnaryOp, Value};
use rust_decimal::Decimal;

use crate::domain::{Domain, Values};
use crate::outcome::Deadline;
use crate::unfold::is_branching;

/// Deeper calls are not looked into; they may then come to anything.
const MAX_CALL_DEPTH: u32 = 8;

/// What an expression may come to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reach {
    pub values: Values,
    pub void: bool,
    /// It may have no value: overflow, division by zero, a bad index, a wrong kind.
    pub error: bool,
}

impl Reach {
    fn of(values: Values) -> Reach {
        Reach {
            values,
            void: false,
            error: false,
        }
    }

    const FAILS: Reach = Reach {
        values: Values::None,
        void: false,
        error: true,
    };

    const ANYTHING: Reach = Reach {
        values: Values::Any,
        void: true,
        error: true,
    };

    fn with_error(mut self, error: bool) -> Reach {
        self.error |= error;
        self
    }

    fn join(&self, other: &Reach) -> Reach {
        Reach {
            values: self.values.join(&other.values),
            void: self.void || other.void,
            error: self.error || other.error,
        }
    }

    pub fn may_be(&self, value: bool) -> bool {
        self.values.may_be(value)
    }

    /// It has a value, and that is this truth.
    pub fn is_always(&self, value: bool) -> bool {
        !self.error && !self.void && self.values == Values::truth(value)
    }

    pub fn domain(&self) -> Domain {
        Domain {
            values: self.values.clone(),
            void: self.void,
        }
    }

    pub fn never_has_a_value(&self) -> bool {
        self.values.is_none() && !self.void
    }
}

/// The domains of the unknowns, and what calls mean.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub domains: &'a [Domain],
    pub functions: &'a [Function],
    /// Counts what calls cost: one may be as much work as all the rest of a search.
    pub deadline: &'a Deadline<'a>,
}

impl View<'_> {
    pub fn reach(self, expr: &Expr) -> Reach {
        Frame {
            view: self,
            locals: &[],
            depth: 0,
        }
        .reach(expr)
    }
}

struct Frame<'a> {
    view: View<'a>,
    locals: &'a [Domain],
    depth: u32,
}

impl Frame<'_> {
    fn reach(&self, expr: &Expr) -> Reach {
        match expr {
            Expr::Const(value) => from_domain(&Domain::exactly(value)),
            Expr::Param(position) => slot(self.view.domains, *position),
            Expr::Local(position) => slot(self.locals, *position),
            // Conditions have no variables; one that slips in may be anything.
            Expr::Var(_) => Reach::ANYTHING,
            Expr::Unary(op, inner) => self.unary(*op, inner),
            Expr::Binary(BinaryOp::And, both) => self.junction(both, false),
            Expr::Binary(BinaryOp::Or, both) => self.junction(both, true),
            Expr::Binary(BinaryOp::Index, both) => {
                if let Expr::Array(items) = &both[0] {
                    self.index_of_items(items, &self.reach(&both[1]))
                } else {
                    index(&self.reach(&both[0]), &self.reach(&both[1]))
                }
            }
            Expr::Binary(BinaryOp::Eq, both) if both[0] == both[1] => {
                equality_with_itself(&self.reach(&both[0]), true)
            }
            Expr::Binary(BinaryOp::Ne, both) if both[0] == both[1] => {
                equality_with_itself(&self.reach(&both[0]), false)
            }
            Expr::Binary(BinaryOp::Mul, both) if both[0] == both[1] => {
                let factor = self.reach(&both[0]);
                if factor.never_has_a_value() {
                    return Reach::FAILS;
                }
                let product = binary(BinaryOp::Mul, &factor, &factor);
                match product.values {
                    // A square is not negative.
                    Values::Int { min, max } => Reach {
                        values: Values::int(min.max(0), max),
                        ..product
                    },
                    _ => product,
                }
            }
            Expr::Binary(op, both) => {
                let left = self.reach(&both[0]);
                if left.never_has_a_value() {
                    return Reach::FAILS;
                }
                let right = self.reach(&both[1]);
                if right.never_has_a_value() {
                    return Reach::FAILS;
                }
                binary(*op, &left, &right)
            }
            Expr::If(all) => {
                let condition = self.reach(&all[0]);
                let error = condition.error || condition.void || !is_bool(&condition.values);
                let mut result = Reach {
                    values: Values::None,
                    void: false,
                    error,
                };
                if condition.may_be(true) {
                    result = result.join(&self.reach(&all[1]));
                }
                if condition.may_be(false) {
                    result = result.join(&self.reach(&all[2]));
                }
                result
            }
            Expr::InSet(subject, items) => {
                let subject = self.reach(subject);
                if subject.never_has_a_value() {
                    return Reach::FAILS;
                }
                let mut error = subject.error;
                let (mut yes, mut no) = (false, true);
                for item in items {
                    let item = self.reach(item);
                    let equal = binary(BinaryOp::Eq, &subject, &item);
                    error |= item.error;
                    yes |= equal.may_be(true);
                    if !item.error && equal.is_always(true) {
                        // Later items are not looked at.
                        no = false;
                        break;
                    }
                }
                Reach {
                    values: Values::Bool { no, yes },
                    void: false,
                    error,
                }
            }
            Expr::InRange(all) => {
                let [subject, low, high] = &**all;
                let (subject, low, high) = (self.reach(subject), self.reach(low), self.reach(high));
                let above = binary(BinaryOp::Le, &low, &subject);
                let below = binary(BinaryOp::Le, &subject, &high);
                if above.never_has_a_value() || below.never_has_a_value() {
                    return Reach::FAILS;
                }
                Reach {
                    values: Values::Bool {
                        no: above.may_be(false) || below.may_be(false),
                        yes: above.may_be(true) && below.may_be(true),
                    },
                    void: false,
                    error: above.error || below.error,
                }
            }
            Expr::Array(items) => {
                let items: Vec<Reach> = items.iter().map(|i| self.reach(i)).collect();
                let error = items.iter().any(|i| i.error);
                if items.iter().any(Reach::never_has_a_value) {
                    return Reach::FAILS;
                }
                let known: Option<Vec<Value>> = items.iter().map(|i| i.domain().only()).collect();
                let length = items.len() as i64;
                let values = match known {
                    Some(known) => Values::One(Value::Array(known.into())),
                    None => Values::Array {
                        min: length,
                        max: length,
                    },
                };
                Reach::of(values).with_error(error)
            }
            Expr::Struct(id, fields) => {
                let fields: Vec<Reach> = fields.iter().map(|f| self.reach(f)).collect();
                let error = fields.iter().any(|f| f.error);
                if fields.iter().any(Reach::never_has_a_value) {
                    return Reach::FAILS;
                }
                let known: Option<Vec<Value>> = fields.iter().map(|f| f.domain().only()).collect();
                let values = match known {
                    Some(known) => Values::One(Value::Struct(*id, known.into())),
                    None => Values::Any,
                };
                Reach::of(values).with_error(error)
            }
            Expr::Field(inner, field) => {
                if let Expr::Struct(_, fields) = &**inner
                    && let Some(own) = fields.get(*field as usize)
                {
                    // The other fields must have values, too.
                    let fields: Vec<Reach> = fields.iter().map(|f| self.reach(f)).collect();
                    if fields.iter().any(Reach::never_has_a_value) {
                        return Reach::FAILS;
                    }
                    let error = fields.iter().any(|f| f.error);
                    return self.reach(own).with_error(error);
                }
                let inner = self.reach(inner);
                match &inner.values {
                    Values::One(Value::Struct(_, fields)) => {
                        let value = fields.get(*field as usize).cloned().unwrap_or_default();
                        from_domain(&Domain::exactly(&value)).with_error(inner.error || inner.void)
                    }
                    Values::Any => Reach::ANYTHING,
                    _ => Reach::FAILS,
                }
            }
            Expr::Matches(inner, pattern) => {
                let inner = self.reach(inner);
                let error = inner.error || inner.void;
                match &inner.values {
                    Values::One(Value::Str(text)) => {
                        Reach::of(Values::truth(pattern.matches(text))).with_error(error)
                    }
                    Values::Str { min: 0, max: 0 } => {
                        Reach::of(Values::truth(pattern.matches(""))).with_error(error)
                    }
                    Values::Str { .. } => Reach::of(Values::BOOL).with_error(error),
                    Values::Any => Reach::of(Values::BOOL).with_error(true),
                    _ => Reach::FAILS,
                }
            }
            Expr::Call(function, arguments) => {
                if !self.view.deadline.step() {
                    return Reach::ANYTHING;
                }
                let reached: Vec<Reach> = arguments.iter().map(|a| self.reach(a)).collect();
                if reached.iter().any(Reach::never_has_a_value) {
                    return Reach::FAILS;
                }
                let error = reached.iter().any(|a| a.error);
                let locals: Vec<Domain> = reached.iter().map(Reach::domain).collect();
                let known: Option<Vec<Expr>> =
                    locals.iter().map(|l| l.only().map(Expr::Const)).collect();
                if let Some(known) = known {
                    let env = Env {
                        variables: &[],
                        parameters: &[],
                        functions: self.view.functions,
                    };
                    let deadline = self.view.deadline;
                    return match deadline.eval(&Expr::Call(*function, known), env) {
                        Ok(value) => from_domain(&Domain::exactly(&value)).with_error(error),
                        Err(EvalError::Exhausted(_)) => Reach::ANYTHING,
                        Err(_) => Reach::FAILS,
                    };
                }
                let id = *function;
                match self.view.functions.get(id.index()) {
                    Some(function) if self.depth < MAX_CALL_DEPTH => Frame {
                        view: self.view,
                        locals: &locals,
                        // One that doubles at each level is looked into half as deep.
                        depth: self.depth + 1 + u32::from(is_branching(function, id)),
                    }
                    .reach(&function.body)
                    .with_error(error),
                    Some(_) => Reach::ANYTHING,
                    None => Reach::FAILS,
                }
            }
        }
    }

    /// `&&` (`decides` is false) and `||` (`decides` is true): the right side counts only where the
    /// left does not decide.
    fn junction(&self, both: &[Expr; 2], decides: bool) -> Reach {
        let left = self.reach(&both[0]);
        let mut error = left.error || left.void || !is_bool(&left.values);
        let mut deciding = left.may_be(decides);
        let mut other = false;
        if left.may_be(!decides) {
            let right = self.reach(&both[1]);
            error |= right.error || right.void || !is_bool(&right.values);
            deciding |= right.may_be(decides);
            other = right.may_be(!decides);
        }
        let values = match (deciding, other) {
            (false, false) => return Reach::FAILS,
            _ if decides => Values::Bool {
                no: other,
                yes: deciding,
            },
            _ => Values::Bool {
                no: deciding,
                yes: other,
            },
        };
        Reach::of(values).with_error(error)
    }

    fn unary(&self, op: UnaryOp, inner: &Expr) -> Reach {
        if let (UnaryOp::Last, Expr::Array(items)) = (op, inner) {
            let all = self.reach(inner);
            return match items.last() {
                Some(last) => self.reach(last).with_error(all.error),
                None => Reach::FAILS,
            };
        }
        let inner = self.reach(inner);
        let error = inner.error || inner.void;
        let result = match (op, &inner.values) {
            (_, Values::Any) => Reach {
                values: match op {
                    UnaryOp::Not => Values::BOOL,
                    UnaryOp::Length => Values::int(0, i64::MAX),
                    _ => Values::Any,
                },
                void: op == UnaryOp::Last,
                error: true,
            },
            (UnaryOp::Not, Values::Bool { no, yes }) => {
                Reach::of(Values::Bool { no: *yes, yes: *no })
            }
            (UnaryOp::Neg, Values::Int { min, max }) => {
                integers(-i128::from(*max), -i128::from(*min))
            }
            (UnaryOp::Neg, Values::Decimal { min, max }) => {
                Reach::of(Values::decimal(-*max, -*min))
            }
            (UnaryOp::Abs, Values::Int { min, max }) => {
                let (min, max) = absolute(i128::from(*min), i128::from(*max), 0);
                integers(min, max)
            }
            (UnaryOp::Abs, Values::Decimal { min, max }) => {
                let (min, max) = absolute(*min, *max, Decimal::ZERO);
                Reach::of(Values::decimal(min, max))
            }
            (
                UnaryOp::Length,
                Values::Str { .. }
                | Values::Array { .. }
                | Values::One(Value::Str(_) | Value::Array(_)),
            ) => {
                let (min, max) = inner.values.lengths();
                Reach::of(Values::int(min, max))
            }
            (UnaryOp::Last, Values::One(Value::Array(items))) => match items.last() {
                Some(last) => from_domain(&Domain::exactly(last)),
                None => Reach::FAILS,
            },
            (UnaryOp::Last, Values::Array { .. }) => Reach::ANYTHING,
            _ => Reach::FAILS,
        };
        result.with_error(error)
    }

    fn index_of_items(&self, items: &[Expr], position: &Reach) -> Reach {
        let all: Vec<Reach> = items.iter().map(|i| self.reach(i)).collect();
        let broken = all.iter().any(Reach::never_has_a_value);
        let Values::Int { min, max } = position.values else {
            let maybe = matches!(position.values, Values::Any) && !broken;
            return if maybe { Reach::ANYTHING } else { Reach::FAILS };
        };
        let (first, last) = (min.max(0), max.min(items.len() as i64 - 1));
        if broken || first > last {
            return Reach::FAILS;
        }
        let outside = min < 0 || max >= items.len() as i64;
        let error = outside || position.error || position.void || all.iter().any(|i| i.error);
        all[first as usize..=last as usize]
            .iter()
            .fold(
                Reach {
                    values: Values::None,
                    void: false,
                    error,
                },
                |joined, item| joined.join(item),
            )
            .with_error(error)
    }
}

fn slot(domains: &[Domain], position: u32) -> Reach {
    match domains.get(position as usize) {
        Some(domain) => from_domain(domain),
        // What has no slot is unset.
        None => from_domain(&Domain::exactly(&Value::Void)),
    }
}

fn from_domain(domain: &Domain) -> Reach {
    Reach {
        values: domain.values.clone(),
        void: domain.void,
        error: false,
    }
}

fn is_bool(values: &Values) -> bool {
    matches!(values, Values::Bool { .. })
}

fn equality_with_itself(operand: &Reach, outcome: bool) -> Reach {
    if operand.never_has_a_value() {
        return Reach::FAILS;
    }
    Reach::of(Values::truth(outcome)).with_error(operand.error)
}

pub(crate) fn absolute<N: Copy + Ord + std::ops::Neg<Output = N>>(
    min: N,
    max: N,
    zero: N,
) -> (N, N) {
    if min >= zero {
        (min, max)
    } else if max <= zero {
        (-max, -min)
    } else {
        (zero, max.max(-min))
    }
}

/// Integers between bounds that may lie outside 64 bits; what lies outside is an error.
fn integers(min: i128, max: i128) -> Reach {
    let (least, greatest) = (i128::from(i64::MIN), i128::from(i64::MAX));
    if max < least || min > greatest {
        return Reach::FAILS;
    }
    Reach::of(Values::int(min.max(least) as i64, max.min(greatest) as i64))
        .with_error(min < least || max > greatest)
}

fn index(array: &Reach, position: &Reach) -> Reach {
    let error = array.error || array.void || position.error || position.void;
    match (&array.values, &position.values) {
        (Values::One(Value::Array(items)), Values::Int { min, max }) => {
            let (first, last) = ((*min).max(0), (*max).min(items.len() as i64 - 1));
            if first > last {
                return Reach::FAILS;
            }
            let outside = *min < 0 || *max >= items.len() as i64;
            let mut result = Reach {
                values: Values::None,
                void: false,
                error: error || outside,
            };
            for item in &items[first as usize..=last as usize] {
                result = result.join(&from_domain(&Domain::exactly(item)));
            }
            result
        }
        (Values::Array { .. } | Values::Any, Values::Int { .. } | Values::Any)
        | (Values::One(Value::Array(_)), Values::Any) => Reach::ANYTHING,
        _ => Reach::FAILS,
    }
}

fn binary(op: BinaryOp, left: &Reach, right: &Reach) -> Reach {
    let error = left.error || right.error;
    match op {
        BinaryOp::Eq | BinaryOp::Ne => {
            let common = left.values.equal_to(&right.values);
            let same_void = left.void && right.void;
            let may_equal = !common.is_none() || same_void;
            // Equal for certain only where both are one and the same.
            let one = match (left.domain().only(), right.domain().only()) {
                (Some(_), Some(_)) => may_equal,
                _ => false,
            };
            let (yes, no) = if op == BinaryOp::Eq {
                (may_equal, !one)
            } else {
                (!one, may_equal)
            };
            Reach::of(Values::Bool { no, yes }).with_error(error)
        }
        BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
            let Some(comparison) = left.values.comparison(&right.values) else {
                return Reach::FAILS;
            };
            let (yes, no) = match op {
                BinaryOp::Lt => (
                    comparison.least == Ordering::Less,
                    comparison.greatest != Ordering::Less,
                ),
                BinaryOp::Le => (
                    comparison.least != Ordering::Greater,
                    comparison.greatest == Ordering::Greater,
                ),
                BinaryOp::Gt => (
                    comparison.greatest == Ordering::Greater,
                    comparison.least != Ordering::Greater,
                ),
                _ => (
                    comparison.greatest != Ordering::Less,
                    comparison.least == Ordering::Less,
                ),
            };
            let unclear = matches!(left.values, Values::Any) || matches!(right.values, Values::Any);
            Reach::of(Values::Bool { no, yes })
                .with_error(error || left.void || right.void || unclear)
        }
        _ => arithmetic(op, left, right),
    }
}

fn arithmetic(op: BinaryOp, left: &Reach, right: &Reach) -> Reach {
    let error = left.error || right.error || left.void || right.void;
    let result = match (&left.values, &right.values) {
        (Values::Int { min: a, max: b }, Values::Int { min: c, max: d }) => {
            integer_arithmetic(op, (*a, *b), (*c, *d))
        }
        (
            Values::Int { .. } | Values::Decimal { .. },
            Values::Int { .. } | Values::Decimal { .. },
        ) => match (left.values.decimal_bounds(), right.values.decimal_bounds()) {
            (Some(a), Some(b)) => decimal_arithmetic(op, a, b),
            _ => Reach::ANYTHING,
        },
        (Values::One(Value::Str(a)), Values::One(Value::Str(b))) => match op {
            BinaryOp::Add => Reach::of(Values::One(Value::from(format!("{a}{b}").as_str()))),
            BinaryOp::Min => Reach::of(Values::One(Value::Str(a.min(b).clone()))),
            BinaryOp::Max => Reach::of(Values::One(Value::Str(a.max(b).clone()))),
            _ => Reach::FAILS,
        },
        (Values::One(Value::Array(a)), Values::One(Value::Array(b))) if op == BinaryOp::Add => {
            let items = a.iter().chain(b.iter()).cloned().collect();
            Reach::of(Values::One(Value::Array(items)))
        }
        (
            Values::Str { .. } | Values::One(Value::Str(_)),
            Values::Str { .. } | Values::One(Value::Str(_)),
        ) => {
            let ((a, b), (c, d)) = (left.values.lengths(), right.values.lengths());
            match op {
                BinaryOp::Add => Reach::of(Values::Str {
                    min: a.saturating_add(c),
                    max: b.saturating_add(d),
                }),
                BinaryOp::Min | BinaryOp::Max => Reach::of(Values::Str {
                    min: a.min(c),
                    max: b.max(d),
                }),
                _ => Reach::FAILS,
            }
        }
        (
            Values::Array { .. } | Values::One(Value::Array(_)),
            Values::Array { .. } | Values::One(Value::Array(_)),
        ) if op == BinaryOp::Add => {
            let ((a, b), (c, d)) = (left.values.lengths(), right.values.lengths());
            Reach::of(Values::Array {
                min: a.saturating_add(c),
                max: b.saturating_add(d),
            })
        }
        (
            Values::Member { of, min: a, max: b },
            Values::Member {
                of: other,
                min: c,
                max: d,
            },
        ) if of == other && matches!(op, BinaryOp::Min | BinaryOp::Max) => {
            let (min, max) = if op == BinaryOp::Min {
                (*a.min(c), *b.min(d))
            } else {
                (*a.max(c), *b.max(d))
            };
            Reach::of(Values::Member { of: *of, min, max })
        }
        (Values::Any, _) | (_, Values::Any) => Reach {
            values: Values::Any,
            void: false,
            error: true,
        },
        _ => Reach::FAILS,
    };
    result.with_error(error)
}

fn integer_arithmetic(op: BinaryOp, (a, b): (i64, i64), (c, d): (i64, i64)) -> Reach {
    let wide = i128::from;
    match op {
        BinaryOp::Add => integers(wide(a) + wide(c), wide(b) + wide(d)),
        BinaryOp::Sub => integers(wide(a) - wide(d), wide(b) - wide(c)),
        BinaryOp::Mul => {
            let corners = [
                wide(a) * wide(c),
                wide(a) * wide(d),
                wide(b) * wide(c),
                wide(b) * wide(d),
            ];
            let min = corners.iter().min().copied().unwrap_or_default();
            let max = corners.iter().max().copied().unwrap_or_default();
            integers(min, max)
        }
        BinaryOp::Min => integers(wide(a.min(c)), wide(b.min(d))),
        BinaryOp::Max => integers(wide(a.max(c)), wide(b.max(d))),
        BinaryOp::Div => {
            let mut reached = Reach {
                values: Values::None,
                void: false,
                error: c <= 0 && d >= 0,
            };
            for (low, high) in [(c, d.min(-1)), (c.max(1), d)] {
                if low <= high {
                    let corners =
                        [(a, low), (a, high), (b, low), (b, high)].map(|(x, y)| wide(x) / wide(y));
                    let min = corners.iter().min().copied().unwrap_or_default();
                    let max = corners.iter().max().copied().unwrap_or_default();
                    reached = reached.join(&integers(min, max));
                }
            }
            reached
        }
        BinaryOp::Rem => {
            let error = (c <= 0 && d >= 0) || (a == i64::MIN && c <= -1 && d >= -1);
            if c == 0 && d == 0 {
                return Reach::FAILS;
            }
            if a == b && c == d {
                return match a.checked_rem(c) {
                    Some(rest) => Reach::of(Values::int(rest, rest)),
                    None => Reach::FAILS,
                };
            }
            let largest = wide(c).abs().max(wide(d).abs()) - 1;
            let min = if a >= 0 { 0 } else { wide(a).max(-largest) };
            let max = if b <= 0 { 0 } else { wide(b).min(largest) };
            integers(min, max).with_error(error)
        }
        _ => Reach::FAILS,
    }
}

/// Quotients by numbers of one sign. A corner that is rounded counts with one unit of its last place on either
/// side; a quotient that does not fit is an error, and the bound towards it the largest number.
fn quotients((a, b): (Decimal, Decimal), (c, d): (Decimal, Decimal)) -> Reach {
    let (mut min, mut max, mut error) = (Decimal::MAX, Decimal::MIN, false);
    for (x, y) in [(a, c), (a, d), (b, c), (b, d)] {
        let (low, high) = match x.checked_div(y) {
            Some(quotient) => {
                // A product with all its digits was not rounded.
                let whole = |product: &Decimal| product.scale() == quotient.scale() + y.scale();
                let is_exact = quotient.checked_mul(y).filter(whole) == Some(x);
                let unit = match is_exact {
                    true => Decimal::ZERO,
                    false => Decimal::new(1, quotient.scale()),
                };
                (quotient.saturating_sub(unit), quotient.saturating_add(unit))
            }
            None => {
                error = true;
                let end = match x.is_sign_positive() == y.is_sign_positive() {
                    true => Decimal::MAX,
                    false => Decimal::MIN,
                };
                (end, end)
            }
        };
        min = min.min(low);
        max = max.max(high);
    }
    Reach::of(Values::decimal(min, max)).with_error(error)
}

fn decimal_arithmetic(
    op: BinaryOp,
    (a, b): (Decimal, Decimal),
    (c, d): (Decimal, Decimal),
) -> Reach {
    // Exactly as evaluation computes.
    let exact = |x: Decimal, y: Decimal| {
        let both = [x, y].map(|n| Expr::Const(Value::Decimal(n)));
        let env = Env {
            variables: &[],
            parameters: &[],
            functions: &[],
        };
        match Expr::Binary(op, Box::new(both)).eval(env) {
            Ok(Value::Decimal(value)) => Some(value),
            _ => None,
        }
    };
    if a == b && c == d {
        return match exact(a, c) {
            Some(value) => Reach::of(Values::decimal(value, value)),
            None => Reach::FAILS,
        };
    }
    // Operands, what they come to, perhaps rounded, and whether that lies above zero.
    let between = |corners: &[(Decimal, Decimal, Option<Decimal>, bool)]| {
        let mut error = false;
        let mut ends: Vec<Decimal> = Vec::new();
        for (x, y, rounded, up) in corners {
            match (exact(*x, *y), rounded) {
                (Some(value), _) => ends.push(value),
                // What was rounded lies within one unit of its last place.
                (None, Some(rounded)) => {
                    error = true;
                    let unit = Decimal::new(1, rounded.scale());
                    ends.push(rounded.saturating_sub(unit));
                    ends.push(rounded.saturating_add(unit));
                }
                // A corner that does not fit is an error there; towards it the bound is the largest
                // number.
                (None, None) => {
                    error = true;
                    ends.push(if *up { Decimal::MAX } else { Decimal::MIN });
                }
            }
        }
        let min = ends.iter().min().copied().unwrap_or(Decimal::MIN);
        let max = ends.iter().max().copied().unwrap_or(Decimal::MAX);
        // Between the corners lie sums and products with more digits than fit, too; the values that
        // are tried seldom have as many, and what is found is evaluated.
        Reach::of(Values::decimal(min, max)).with_error(error)
    };
    match op {
        BinaryOp::Add => between(&[
            (a, c, a.checked_add(c), a.is_sign_positive()),
            (b, d, b.checked_add(d), b.is_sign_positive()),
        ]),
        BinaryOp::Sub => between(&[
            (a, d, a.checked_sub(d), a.is_sign_positive()),
            (b, c, b.checked_sub(c), b.is_sign_positive()),
        ]),
        BinaryOp::Mul => {
            let corner = |x: Decimal, y: Decimal| {
                let up = x.is_sign_positive() == y.is_sign_positive();
                (x, y, x.checked_mul(y), up)
            };
            between(&[corner(a, c), corner(a, d), corner(b, c), corner(b, d)])
        }
        BinaryOp::Min => Reach::of(Values::decimal(a.min(c), b.min(d))),
        BinaryOp::Max => Reach::of(Values::decimal(a.max(c), b.max(d))),
        BinaryOp::Div | BinaryOp::Rem if c.is_zero() && d.is_zero() => Reach::FAILS,
        BinaryOp::Div if c > Decimal::ZERO || d < Decimal::ZERO => quotients((a, b), (c, d)),
        BinaryOp::Div | BinaryOp::Rem => Reach::of(Values::DECIMAL).with_error(true),
        _ => Reach::FAILS,
    }
}

#[cfg(test)]
mod tests;
