//! Evaluation with checked arithmetic: what cannot be computed is an error, never a wrong value.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use rust_decimal::Decimal;

use crate::expr::{BinaryOp, Expr, UnaryOp};
use crate::sts::Function;
use crate::value::Value;

/// Functions may call functions; a model that recurses without end gets an error, not a crash.
const MAX_CALL_DEPTH: u32 = 64;

/// Why an expression has no value. A guard that has none does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum EvalError {
    DivisionByZero,
    Overflow,
    /// Index and length.
    BadIndex(i64, usize),
    /// `last` of an empty array.
    Empty,
    /// The operation, and the kind of value it cannot work on.
    Kind(&'static str, &'static str),
    /// A function that calls itself too deeply.
    TooDeep,
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EvalError::DivisionByZero => f.write_str("division by zero"),
            EvalError::Overflow => f.write_str("the number does not fit"),
            EvalError::BadIndex(index, length) => {
                write!(f, "index {index} is outside an array of {length}")
            }
            EvalError::Empty => f.write_str("last() of an empty array"),
            EvalError::Kind(operation, kind) => write!(f, "{operation} does not work on {kind}"),
            EvalError::TooDeep => f.write_str("functions call each other too deeply"),
        }
    }
}

impl std::error::Error for EvalError {}

/// The values that an expression is evaluated with.
#[derive(Clone, Copy)]
pub struct Env<'a> {
    /// By [`crate::VarId`].
    pub variables: &'a [Value],
    /// By position in the label.
    pub parameters: &'a [Value],
    pub functions: &'a [Function],
}

impl Expr {
    pub fn eval(&self, env: Env<'_>) -> Result<Value, EvalError> {
        Frame {
            env,
            locals: &[],
            depth: 0,
        }
        .eval(self)
    }

    /// Whether a guard holds.
    pub fn holds(&self, env: Env<'_>) -> Result<bool, EvalError> {
        Frame {
            env,
            locals: &[],
            depth: 0,
        }
        .truth(self)
    }
}

struct Frame<'a> {
    env: Env<'a>,
    locals: &'a [Value],
    depth: u32,
}

impl Frame<'_> {
    fn truth(&self, expr: &Expr) -> Result<bool, EvalError> {
        // Guards are mostly conjunctions of comparisons: decide them without building values.
        match expr {
            Expr::Const(Value::Bool(value)) => Ok(*value),
            Expr::Unary(UnaryOp::Not, inner) => Ok(!self.truth(inner)?),
            Expr::Binary(BinaryOp::And, both) => Ok(self.truth(&both[0])? && self.truth(&both[1])?),
            Expr::Binary(BinaryOp::Or, both) => Ok(self.truth(&both[0])? || self.truth(&both[1])?),
            _ => match self.eval(expr)? {
                Value::Bool(value) => Ok(value),
                other => Err(EvalError::Kind("a condition", other.kind())),
            },
        }
    }

    fn eval(&self, expr: &Expr) -> Result<Value, EvalError> {
        match expr {
            Expr::Const(value) => Ok(value.clone()),
            Expr::Var(variable) => Ok(slot(self.env.variables, variable.index())),
            Expr::Param(position) => Ok(slot(self.env.parameters, *position as usize)),
            Expr::Local(position) => Ok(slot(self.locals, *position as usize)),
            Expr::Unary(op, inner) => self.unary(*op, inner),
            Expr::Binary(BinaryOp::And | BinaryOp::Or, _) => self.truth(expr).map(Value::Bool),
            Expr::Binary(op, both) => {
                let left = self.eval(&both[0])?;
                let right = self.eval(&both[1])?;
                binary(*op, &left, &right)
            }
            Expr::If(all) => {
                if self.truth(&all[0])? {
                    self.eval(&all[1])
                } else {
                    self.eval(&all[2])
                }
            }
            Expr::InSet(subject, items) => {
                let subject = self.eval(subject)?;
                for item in items {
                    if equal(&subject, &self.eval(item)?) {
                        return Ok(Value::Bool(true));
                    }
                }
                Ok(Value::Bool(false))
            }
            Expr::InRange(all) => {
                let subject = self.eval(&all[0])?;
                let low = self.eval(&all[1])?;
                let high = self.eval(&all[2])?;
                let above = compare("in", &low, &subject)? != Ordering::Greater;
                let below = compare("in", &subject, &high)? != Ordering::Greater;
                Ok(Value::Bool(above && below))
            }
            Expr::Array(items) => items
                .iter()
                .map(|item| self.eval(item))
                .collect::<Result<Arc<[_]>, _>>()
                .map(Value::Array),
            Expr::Field(inner, field) => match self.eval(inner)? {
                Value::Struct(_, fields) => Ok(slot(&fields, *field as usize)),
                other => Err(EvalError::Kind("a field", other.kind())),
            },
            Expr::Matches(inner, pattern) => match self.eval(inner)? {
                Value::Str(text) => Ok(Value::Bool(pattern.matches(&text))),
                other => Err(EvalError::Kind("=~", other.kind())),
            },
            Expr::Call(function, arguments) => {
                if self.depth >= MAX_CALL_DEPTH {
                    return Err(EvalError::TooDeep);
                }
                let arguments = arguments
                    .iter()
                    .map(|a| self.eval(a))
                    .collect::<Result<Vec<_>, _>>()?;
                let Some(function) = self.env.functions.get(function.index()) else {
                    return Err(EvalError::Kind("a call", "an unknown function"));
                };
                Frame {
                    env: self.env,
                    locals: &arguments,
                    depth: self.depth + 1,
                }
                .eval(&function.body)
            }
        }
    }

    fn unary(&self, op: UnaryOp, inner: &Expr) -> Result<Value, EvalError> {
        if op == UnaryOp::Not {
            return Ok(Value::Bool(!self.truth(inner)?));
        }
        let value = self.eval(inner)?;
        match (op, &value) {
            (UnaryOp::Neg, Value::Int(v)) => {
                v.checked_neg().map(Value::Int).ok_or(EvalError::Overflow)
            }
            (UnaryOp::Neg, Value::Decimal(v)) => Ok(Value::Decimal(-v)),
            (UnaryOp::Abs, Value::Int(v)) => {
                v.checked_abs().map(Value::Int).ok_or(EvalError::Overflow)
            }
            (UnaryOp::Abs, Value::Decimal(v)) => Ok(Value::Decimal(v.abs())),
            (UnaryOp::Length, Value::Array(items)) => Ok(Value::Int(items.len() as i64)),
            (UnaryOp::Length, Value::Str(text)) => Ok(Value::Int(text.chars().count() as i64)),
            (UnaryOp::Last, Value::Array(items)) => items.last().cloned().ok_or(EvalError::Empty),
            (UnaryOp::Neg, other) => Err(EvalError::Kind("-", other.kind())),
            (UnaryOp::Abs, other) => Err(EvalError::Kind("abs()", other.kind())),
            (UnaryOp::Length, other) => Err(EvalError::Kind("length()", other.kind())),
            (UnaryOp::Last, other) => Err(EvalError::Kind("last()", other.kind())),
            (UnaryOp::Not, _) => unreachable!("handled above"),
        }
    }
}

/// A variable or parameter that has no slot is unset.
fn slot(values: &[Value], index: usize) -> Value {
    values.get(index).cloned().unwrap_or_default()
}

fn binary(op: BinaryOp, left: &Value, right: &Value) -> Result<Value, EvalError> {
    let ordered = |symbol, test: fn(Ordering) -> bool| {
        compare(symbol, left, right).map(|ordering| Value::Bool(test(ordering)))
    };
    match op {
        BinaryOp::Eq => Ok(Value::Bool(equal(left, right))),
        BinaryOp::Ne => Ok(Value::Bool(!equal(left, right))),
        BinaryOp::Lt => ordered("<", Ordering::is_lt),
        BinaryOp::Le => ordered("<=", Ordering::is_le),
        BinaryOp::Gt => ordered(">", Ordering::is_gt),
        BinaryOp::Ge => ordered(">=", Ordering::is_ge),
        BinaryOp::Index => match (left, right) {
            (Value::Array(items), Value::Int(index)) => usize::try_from(*index)
                .ok()
                .and_then(|index| items.get(index))
                .cloned()
                .ok_or(EvalError::BadIndex(*index, items.len())),
            (Value::Array(_), other) => Err(EvalError::Kind("an index", other.kind())),
            (other, _) => Err(EvalError::Kind("[ ]", other.kind())),
        },
        BinaryOp::Min => compare("min()", left, right).map(|o| {
            if o.is_gt() {
                right.clone()
            } else {
                left.clone()
            }
        }),
        BinaryOp::Max => compare("max()", left, right).map(|o| {
            if o.is_lt() {
                right.clone()
            } else {
                left.clone()
            }
        }),
        BinaryOp::Add => match (left, right) {
            (Value::Str(a), Value::Str(b)) => Ok(Value::Str(Arc::from(format!("{a}{b}")))),
            (Value::Array(a), Value::Array(b)) => {
                Ok(Value::Array(a.iter().chain(b.iter()).cloned().collect()))
            }
            _ => arithmetic("+", left, right, i64::checked_add, Decimal::checked_add),
        },
        BinaryOp::Sub => arithmetic("-", left, right, i64::checked_sub, Decimal::checked_sub),
        BinaryOp::Mul => arithmetic("*", left, right, i64::checked_mul, Decimal::checked_mul),
        BinaryOp::Div | BinaryOp::Rem => {
            let zero = match right {
                Value::Int(divisor) => *divisor == 0,
                Value::Decimal(divisor) => divisor.is_zero(),
                _ => false,
            };
            if zero {
                Err(EvalError::DivisionByZero)
            } else if op == BinaryOp::Div {
                arithmetic("/", left, right, i64::checked_div, Decimal::checked_div)
            } else {
                arithmetic("%", left, right, i64::checked_rem, Decimal::checked_rem)
            }
        }
        BinaryOp::And | BinaryOp::Or => unreachable!("decided by `truth`"),
    }
}

/// Equality over all kinds; an integer equals the decimal of the same size.
fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Int(a), Value::Decimal(b)) | (Value::Decimal(b), Value::Int(a)) => {
            Decimal::from(*a) == *b
        }
        _ => left == right,
    }
}

fn compare(operation: &'static str, left: &Value, right: &Value) -> Result<Ordering, EvalError> {
    match (left, right) {
        (Value::Int(a), Value::Int(b)) => Ok(a.cmp(b)),
        (Value::Decimal(a), Value::Decimal(b)) => Ok(a.cmp(b)),
        (Value::Int(a), Value::Decimal(b)) => Ok(Decimal::from(*a).cmp(b)),
        (Value::Decimal(a), Value::Int(b)) => Ok(a.cmp(&Decimal::from(*b))),
        (Value::Str(a), Value::Str(b)) => Ok(a.cmp(b)),
        // Members of an enumeration are ordered as they are declared.
        (Value::Enum(a, x), Value::Enum(b, y)) if a == b => Ok(x.cmp(y)),
        (Value::Int(_) | Value::Decimal(_), other) | (other, _) => {
            Err(EvalError::Kind(operation, other.kind()))
        }
    }
}

fn arithmetic(
    operation: &'static str,
    left: &Value,
    right: &Value,
    integers: fn(i64, i64) -> Option<i64>,
    decimals: fn(Decimal, Decimal) -> Option<Decimal>,
) -> Result<Value, EvalError> {
    let decimal = |a, b| {
        decimals(a, b)
            .map(Value::Decimal)
            .ok_or(EvalError::Overflow)
    };
    match (left, right) {
        (Value::Int(a), Value::Int(b)) => {
            integers(*a, *b).map(Value::Int).ok_or(EvalError::Overflow)
        }
        (Value::Decimal(a), Value::Decimal(b)) => decimal(*a, *b),
        (Value::Int(a), Value::Decimal(b)) => decimal(Decimal::from(*a), *b),
        (Value::Decimal(a), Value::Int(b)) => decimal(*a, Decimal::from(*b)),
        (Value::Int(_) | Value::Decimal(_), other) | (other, _) => {
            Err(EvalError::Kind(operation, other.kind()))
        }
    }
}
