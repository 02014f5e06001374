//! Evaluation over sets of values: what an expression may come to, and whether it may have no value
//! at all, when its unknowns range over their domains.

use rust_decimal::Decimal;

use super::Effort;
use super::arithmetic::{absolute, binary, integers};
use super::set::{Domain, Values};
use crate::eval::{Env, EvalError};
use crate::expr::{BinaryOp, Expr, UnaryOp};
use crate::sts::Function;
use crate::value::Value;

/// Deeper calls are not looked into; they may then come to anything.
const MAX_CALL_DEPTH: u32 = 8;

/// What an expression may come to.
#[derive(Clone, Debug, PartialEq)]
pub struct ExprValues {
    pub values: Values,
    pub void: bool,
    /// It may have no value: overflow, division by zero, a bad index, a wrong kind.
    pub error: bool,
}

impl ExprValues {
    pub(super) fn of(values: Values) -> ExprValues {
        ExprValues {
            values,
            void: false,
            error: false,
        }
    }

    pub(super) const FAILS: ExprValues = ExprValues {
        values: Values::None,
        void: false,
        error: true,
    };

    pub(super) const ANYTHING: ExprValues = ExprValues {
        values: Values::Any,
        void: true,
        error: true,
    };

    pub(super) fn with_error(mut self, error: bool) -> ExprValues {
        self.error |= error;
        self
    }

    pub(super) fn join(&self, other: &ExprValues) -> ExprValues {
        ExprValues {
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
pub struct View<'a> {
    pub domains: &'a [Domain],
    /// The values of variables, where they are known.
    pub variables: &'a [Value],
    pub functions: &'a [Function],
    /// Counts what calls cost: one may be as much work as all the rest of a search.
    pub effort: &'a dyn Effort,
}

impl View<'_> {
    /// What `left op right` may come to.
    pub fn compared(self, op: BinaryOp, left: &Expr, right: &Expr) -> ExprValues {
        let (left, right) = (self.values_of(left), self.values_of(right));
        match left.never_has_a_value() || right.never_has_a_value() {
            true => ExprValues::FAILS,
            false => binary(op, &left, &right),
        }
    }

    pub fn values_of(self, expr: &Expr) -> ExprValues {
        Frame {
            view: self,
            locals: &[],
            depth: 0,
        }
        .values_of(expr)
    }
}

struct Frame<'a> {
    view: View<'a>,
    locals: &'a [Domain],
    depth: u32,
}

impl Frame<'_> {
    fn values_of(&self, expr: &Expr) -> ExprValues {
        match expr {
            Expr::Const(value) => from_domain(&Domain::exactly(value)),
            Expr::Param(position) => slot(self.view.domains, *position),
            Expr::Local(position) => slot(self.locals, *position),
            Expr::Var(variable) => match self.view.variables.get(variable.index()) {
                Some(value) => from_domain(&Domain::exactly(value)),
                None => ExprValues::ANYTHING,
            },
            Expr::Unary(op, inner) => self.unary(*op, inner),
            Expr::Binary(BinaryOp::And, both) => self.junction(both, false),
            Expr::Binary(BinaryOp::Or, both) => self.junction(both, true),
            Expr::Binary(BinaryOp::Index, both) => {
                if let Expr::Array(items) = &both[0] {
                    self.index_of_items(items, &self.values_of(&both[1]))
                } else {
                    index(&self.values_of(&both[0]), &self.values_of(&both[1]))
                }
            }
            Expr::Binary(BinaryOp::Eq, both) if both[0] == both[1] => {
                equality_with_itself(&self.values_of(&both[0]), true)
            }
            Expr::Binary(BinaryOp::Ne, both) if both[0] == both[1] => {
                equality_with_itself(&self.values_of(&both[0]), false)
            }
            Expr::Binary(BinaryOp::Mul, both) if both[0] == both[1] => {
                let factor = self.values_of(&both[0]);
                if factor.never_has_a_value() {
                    return ExprValues::FAILS;
                }
                let product = binary(BinaryOp::Mul, &factor, &factor);
                match product.values {
                    // A square is not negative.
                    Values::Int { min, max } => ExprValues {
                        values: Values::int(min.max(0), max),
                        ..product
                    },
                    Values::Decimal { min, max } => ExprValues {
                        values: Values::decimal(min.max(Decimal::ZERO), max),
                        ..product
                    },
                    _ => product,
                }
            }
            Expr::Binary(op, both) => {
                let left = self.values_of(&both[0]);
                if left.never_has_a_value() {
                    return ExprValues::FAILS;
                }
                let right = self.values_of(&both[1]);
                if right.never_has_a_value() {
                    return ExprValues::FAILS;
                }
                binary(*op, &left, &right)
            }
            Expr::If(all) => {
                let condition = self.values_of(&all[0]);
                let error = condition.error || condition.void || !is_bool(&condition.values);
                let mut result = ExprValues {
                    values: Values::None,
                    void: false,
                    error,
                };
                if condition.may_be(true) {
                    result = result.join(&self.values_of(&all[1]));
                }
                if condition.may_be(false) {
                    result = result.join(&self.values_of(&all[2]));
                }
                result
            }
            Expr::InSet(subject, items) => {
                let subject = self.values_of(subject);
                if subject.never_has_a_value() {
                    return ExprValues::FAILS;
                }
                let mut error = subject.error;
                let (mut yes, mut no) = (false, true);
                for item in items {
                    let item = self.values_of(item);
                    let equal = binary(BinaryOp::Eq, &subject, &item);
                    error |= item.error;
                    yes |= equal.may_be(true);
                    if !item.error && equal.is_always(true) {
                        // Later items are not looked at.
                        no = false;
                        break;
                    }
                }
                ExprValues {
                    values: Values::Bool { no, yes },
                    void: false,
                    error,
                }
            }
            Expr::InRange(all) => {
                let [subject, low, high] = &**all;
                let (subject, low, high) = (
                    self.values_of(subject),
                    self.values_of(low),
                    self.values_of(high),
                );
                let above = binary(BinaryOp::Le, &low, &subject);
                let below = binary(BinaryOp::Le, &subject, &high);
                if above.never_has_a_value() || below.never_has_a_value() {
                    return ExprValues::FAILS;
                }
                ExprValues {
                    values: Values::Bool {
                        no: above.may_be(false) || below.may_be(false),
                        yes: above.may_be(true) && below.may_be(true),
                    },
                    void: false,
                    error: above.error || below.error,
                }
            }
            Expr::Array(items) => {
                let items: Vec<ExprValues> = items.iter().map(|i| self.values_of(i)).collect();
                let error = items.iter().any(|i| i.error);
                if items.iter().any(ExprValues::never_has_a_value) {
                    return ExprValues::FAILS;
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
                ExprValues::of(values).with_error(error)
            }
            Expr::Struct(id, fields) => {
                let fields: Vec<ExprValues> = fields.iter().map(|f| self.values_of(f)).collect();
                let error = fields.iter().any(|f| f.error);
                if fields.iter().any(ExprValues::never_has_a_value) {
                    return ExprValues::FAILS;
                }
                let known: Option<Vec<Value>> = fields.iter().map(|f| f.domain().only()).collect();
                let values = match known {
                    Some(known) => Values::One(Value::Struct(*id, known.into())),
                    None => Values::Any,
                };
                ExprValues::of(values).with_error(error)
            }
            Expr::Field(inner, field) => {
                if let Expr::Struct(_, fields) = &**inner
                    && let Some(own) = fields.get(*field as usize)
                {
                    // The other fields must have values, too.
                    let fields: Vec<ExprValues> =
                        fields.iter().map(|f| self.values_of(f)).collect();
                    if fields.iter().any(ExprValues::never_has_a_value) {
                        return ExprValues::FAILS;
                    }
                    let error = fields.iter().any(|f| f.error);
                    return self.values_of(own).with_error(error);
                }
                let inner = self.values_of(inner);
                match &inner.values {
                    Values::One(Value::Struct(_, fields)) => {
                        let value = fields.get(*field as usize).cloned().unwrap_or_default();
                        from_domain(&Domain::exactly(&value)).with_error(inner.error || inner.void)
                    }
                    Values::Any => ExprValues::ANYTHING,
                    _ => ExprValues::FAILS,
                }
            }
            Expr::Matches(inner, pattern) => {
                let inner = self.values_of(inner);
                let error = inner.error || inner.void;
                match &inner.values {
                    Values::One(Value::Str(text)) => {
                        ExprValues::of(Values::truth(pattern.matches(text))).with_error(error)
                    }
                    Values::Str { min: 0, max: 0 } => {
                        ExprValues::of(Values::truth(pattern.matches(""))).with_error(error)
                    }
                    Values::Str { .. } => ExprValues::of(Values::BOOL).with_error(error),
                    Values::Any => ExprValues::of(Values::BOOL).with_error(true),
                    _ => ExprValues::FAILS,
                }
            }
            Expr::Call(function, arguments) => {
                if !self.view.effort.step() {
                    return ExprValues::ANYTHING;
                }
                let reached: Vec<ExprValues> =
                    arguments.iter().map(|a| self.values_of(a)).collect();
                if reached.iter().any(ExprValues::never_has_a_value) {
                    return ExprValues::FAILS;
                }
                let error = reached.iter().any(|a| a.error);
                let locals: Vec<Domain> = reached.iter().map(ExprValues::domain).collect();
                let known: Option<Vec<Expr>> =
                    locals.iter().map(|l| l.only().map(Expr::Const)).collect();
                if let Some(known) = known {
                    let env = Env {
                        variables: &[],
                        parameters: &[],
                        functions: self.view.functions,
                    };
                    let effort = self.view.effort;
                    return match effort.eval(&Expr::Call(*function, known), env) {
                        Ok(value) => from_domain(&Domain::exactly(&value)).with_error(error),
                        Err(EvalError::Exhausted(_)) => ExprValues::ANYTHING,
                        Err(_) => ExprValues::FAILS,
                    };
                }
                let id = *function;
                match self.view.functions.get(id.index()) {
                    Some(function) if self.depth < MAX_CALL_DEPTH => Frame {
                        view: self.view,
                        locals: &locals,
                        // One that doubles at each level is looked into half as deep.
                        depth: self.depth + 1 + u32::from(function.is_branching(id)),
                    }
                    .values_of(&function.body)
                    .with_error(error),
                    Some(_) => ExprValues::ANYTHING,
                    None => ExprValues::FAILS,
                }
            }
        }
    }

    /// `&&` (`decides` is false) and `||` (`decides` is true): the right side counts only where the
    /// left does not decide.
    fn junction(&self, both: &[Expr; 2], decides: bool) -> ExprValues {
        let left = self.values_of(&both[0]);
        let mut error = left.error || left.void || !is_bool(&left.values);
        let mut deciding = left.may_be(decides);
        let mut other = false;
        if left.may_be(!decides) {
            let right = self.values_of(&both[1]);
            error |= right.error || right.void || !is_bool(&right.values);
            deciding |= right.may_be(decides);
            other = right.may_be(!decides);
        }
        let values = match (deciding, other) {
            (false, false) => return ExprValues::FAILS,
            _ if decides => Values::Bool {
                no: other,
                yes: deciding,
            },
            _ => Values::Bool {
                no: deciding,
                yes: other,
            },
        };
        ExprValues::of(values).with_error(error)
    }

    fn unary(&self, op: UnaryOp, inner: &Expr) -> ExprValues {
        if let (UnaryOp::Last, Expr::Array(items)) = (op, inner) {
            let all = self.values_of(inner);
            return match items.last() {
                Some(last) => self.values_of(last).with_error(all.error),
                None => ExprValues::FAILS,
            };
        }
        let inner = self.values_of(inner);
        let error = inner.error || inner.void;
        let result = match (op, &inner.values) {
            (_, Values::Any) => ExprValues {
                values: match op {
                    UnaryOp::Not => Values::BOOL,
                    UnaryOp::Length => Values::int(0, i64::MAX),
                    _ => Values::Any,
                },
                void: op == UnaryOp::Last,
                error: true,
            },
            (UnaryOp::Not, Values::Bool { no, yes }) => {
                ExprValues::of(Values::Bool { no: *yes, yes: *no })
            }
            (UnaryOp::Neg, Values::Int { min, max }) => {
                integers(-i128::from(*max), -i128::from(*min))
            }
            (UnaryOp::Neg, Values::Decimal { min, max }) => {
                ExprValues::of(Values::decimal(-*max, -*min))
            }
            (UnaryOp::Abs, Values::Int { min, max }) => {
                let (min, max) = absolute(i128::from(*min), i128::from(*max), 0);
                integers(min, max)
            }
            (UnaryOp::Abs, Values::Decimal { min, max }) => {
                let (min, max) = absolute(*min, *max, Decimal::ZERO);
                ExprValues::of(Values::decimal(min, max))
            }
            (
                UnaryOp::Length,
                Values::Str { .. }
                | Values::Array { .. }
                | Values::One(Value::Str(_) | Value::Array(_)),
            ) => {
                let (min, max) = inner.values.lengths();
                ExprValues::of(Values::int(min, max))
            }
            (UnaryOp::Last, Values::One(Value::Array(items))) => match items.last() {
                Some(last) => from_domain(&Domain::exactly(last)),
                None => ExprValues::FAILS,
            },
            (UnaryOp::Last, Values::Array { .. }) => ExprValues::ANYTHING,
            _ => ExprValues::FAILS,
        };
        result.with_error(error)
    }

    fn index_of_items(&self, items: &[Expr], position: &ExprValues) -> ExprValues {
        let all: Vec<ExprValues> = items.iter().map(|i| self.values_of(i)).collect();
        let broken = all.iter().any(ExprValues::never_has_a_value);
        let Values::Int { min, max } = position.values else {
            let maybe = matches!(position.values, Values::Any) && !broken;
            return if maybe {
                ExprValues::ANYTHING
            } else {
                ExprValues::FAILS
            };
        };
        let (first, last) = (min.max(0), max.min(items.len() as i64 - 1));
        if broken || first > last {
            return ExprValues::FAILS;
        }
        let outside = min < 0 || max >= items.len() as i64;
        let error = outside || position.error || position.void || all.iter().any(|i| i.error);
        all[first as usize..=last as usize]
            .iter()
            .fold(
                ExprValues {
                    values: Values::None,
                    void: false,
                    error,
                },
                |joined, item| joined.join(item),
            )
            .with_error(error)
    }
}

fn slot(domains: &[Domain], position: u32) -> ExprValues {
    match domains.get(position as usize) {
        Some(domain) => from_domain(domain),
        // What has no slot is unset.
        None => from_domain(&Domain::exactly(&Value::Void)),
    }
}

fn from_domain(domain: &Domain) -> ExprValues {
    ExprValues {
        values: domain.values.clone(),
        void: domain.void,
        error: false,
    }
}

fn is_bool(values: &Values) -> bool {
    matches!(values, Values::Bool { .. })
}

fn equality_with_itself(operand: &ExprValues, outcome: bool) -> ExprValues {
    if operand.never_has_a_value() {
        return ExprValues::FAILS;
    }
    ExprValues::of(Values::truth(outcome)).with_error(operand.error)
}

fn index(array: &ExprValues, position: &ExprValues) -> ExprValues {
    let error = array.error || array.void || position.error || position.void;
    match (&array.values, &position.values) {
        (Values::One(Value::Array(items)), Values::Int { min, max }) => {
            let (first, last) = ((*min).max(0), (*max).min(items.len() as i64 - 1));
            if first > last {
                return ExprValues::FAILS;
            }
            let outside = *min < 0 || *max >= items.len() as i64;
            let mut result = ExprValues {
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
        | (Values::One(Value::Array(_)), Values::Any) => ExprValues::ANYTHING,
        _ => ExprValues::FAILS,
    }
}
