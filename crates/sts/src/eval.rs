//! Evaluation with checked arithmetic: what cannot be computed is an error, never a wrong value.

use std::cell::Cell;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use ioco_budget::{Budget, Exhausted, Halted, Meter, Resource};
use rust_decimal::Decimal;

use crate::decimal;
use crate::expr::{BinaryOp, Expr, Pattern, UnaryOp};
use crate::ids::FunctionId;
use crate::sts::Function;
use crate::value::Value;

/// Evaluation is recursive, so that the stack bounds the nesting of expressions and calls together,
/// whatever the budget says.
const MAX_LEVELS: u64 = 700;

/// Why an expression has no value. A guard that has none does not hold, unless it is
/// [`EvalError::Exhausted`]: then nothing is known about it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum EvalError {
    DivisionByZero,
    Overflow,
    /// A sum, difference or product of decimals with more digits than a decimal has.
    Inexact,
    /// Index and length.
    BadIndex(i64, usize),
    /// `last` of an empty array.
    Empty,
    /// The operation, and the kind of value it cannot work on.
    Kind(&'static str, &'static str),
    /// A limit was reached: there may be a value.
    Exhausted(Exhausted),
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EvalError::DivisionByZero => f.write_str("division by zero"),
            EvalError::Overflow => f.write_str("the number does not fit"),
            EvalError::Inexact => f.write_str("the decimal has more digits than fit"),
            EvalError::BadIndex(index, length) => {
                write!(f, "index {index} is outside an array of {length}")
            }
            EvalError::Empty => f.write_str("last() of an empty array"),
            EvalError::Kind(operation, kind) => write!(f, "{operation} does not work on {kind}"),
            EvalError::Exhausted(exhausted) => exhausted.fmt(f),
        }
    }
}

impl std::error::Error for EvalError {}

impl From<Exhausted> for EvalError {
    fn from(exhausted: Exhausted) -> EvalError {
        EvalError::Exhausted(exhausted)
    }
}

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
    /// The value, within the default budget.
    pub fn eval(&self, env: Env<'_>) -> Result<Value, EvalError> {
        self.eval_within(env, &Budget::default()).0
    }

    /// Whether a guard holds, within the default budget.
    pub fn holds(&self, env: Env<'_>) -> Result<bool, EvalError> {
        self.holds_within(env, &Budget::default()).0
    }

    /// The value, and the steps that were spent on it.
    pub fn eval_within(&self, env: Env<'_>, budget: &Budget) -> (Result<Value, EvalError>, u64) {
        let work = Work::new(env, budget);
        (work.frame().eval(self), work.meter.spent())
    }

    /// As [`Expr::eval_within`], for a guard.
    pub fn holds_within(&self, env: Env<'_>, budget: &Budget) -> (Result<bool, EvalError>, u64) {
        let work = Work::new(env, budget);
        (work.frame().truth(self), work.meter.spent())
    }
}

/// One evaluation, with what it may use.
struct Work<'a> {
    env: Env<'a>,
    budget: &'a Budget,
    meter: Meter<'static>,
    level: Cell<u64>,
}

impl<'a> Work<'a> {
    fn new(env: Env<'a>, budget: &'a Budget) -> Work<'a> {
        Work {
            env,
            budget,
            meter: Meter::new(budget, None),
            level: Cell::new(0),
        }
    }

    fn frame(&self) -> Frame<'_> {
        Frame {
            work: self,
            locals: &[],
            calls: 0,
        }
    }

    fn spend(&self, steps: u64) -> Result<(), EvalError> {
        self.meter.spend(steps).map_err(|halted| match halted {
            Halted::Exhausted(exhausted) => EvalError::Exhausted(exhausted),
            Halted::Interrupted => unreachable!("no evaluation has an interrupt"),
        })
    }

    /// Counts one operation, nested in those that are under way; [`Work::leave`] ends it.
    fn enter(&self) -> Result<(), EvalError> {
        self.spend(1)?;
        let level = self.level.get() + 1;
        if level > MAX_LEVELS {
            return Err(EvalError::Exhausted(Exhausted {
                resource: Resource::Depth,
                limit: MAX_LEVELS,
            }));
        }
        self.level.set(level);
        Ok(())
    }

    fn leave(&self) {
        self.level.set(self.level.get() - 1);
    }
}

/// One call of a function, or the expression itself.
struct Frame<'a> {
    work: &'a Work<'a>,
    locals: &'a [Value],
    /// Calls under way.
    calls: u64,
}

impl Frame<'_> {
    fn truth(&self, expr: &Expr) -> Result<bool, EvalError> {
        // Guards are mostly conjunctions of comparisons: decide them without building values.
        match expr {
            Expr::Const(Value::Bool(value)) => Ok(*value),
            Expr::Unary(UnaryOp::Not, inner) => {
                self.work.enter()?;
                let value = self.truth(inner)?;
                self.work.leave();
                Ok(!value)
            }
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), _) => {
                self.work.enter()?;
                let value = self.decided(*op, expr)?;
                self.work.leave();
                Ok(value)
            }
            _ => match self.eval(expr)? {
                Value::Bool(value) => Ok(value),
                other => Err(EvalError::Kind("a condition", other.kind())),
            },
        }
    }

    /// `a && b && c` nests to the left; long ones must not nest evaluation.
    fn decided(&self, op: BinaryOp, expr: &Expr) -> Result<bool, EvalError> {
        let mut right = Vec::new();
        let mut first = expr;
        while let Expr::Binary(inner, both) = first
            && *inner == op
        {
            right.push(&both[1]);
            first = &both[0];
        }
        let decides = op == BinaryOp::Or;
        if self.truth(first)? == decides {
            return Ok(decides);
        }
        for operand in right.into_iter().rev() {
            self.work.spend(1)?;
            if self.truth(operand)? == decides {
                return Ok(decides);
            }
        }
        Ok(!decides)
    }

    fn eval(&self, expr: &Expr) -> Result<Value, EvalError> {
        let env = &self.work.env;
        match expr {
            Expr::Const(value) => Ok(value.clone()),
            Expr::Var(variable) => Ok(slot(env.variables, variable.index())),
            Expr::Param(position) => Ok(slot(env.parameters, *position as usize)),
            Expr::Local(position) => Ok(slot(self.locals, *position as usize)),
            Expr::Binary(BinaryOp::And | BinaryOp::Or, _) => self.truth(expr).map(Value::Bool),
            _ => {
                // An error ends the whole evaluation, so that nobody looks at the level any more.
                self.work.enter()?;
                let value = self.operation(expr)?;
                self.work.leave();
                Ok(value)
            }
        }
    }

    /// One function per operation: what all of them need together would take the stack of each.
    fn operation(&self, expr: &Expr) -> Result<Value, EvalError> {
        match expr {
            Expr::Unary(op, inner) => self.unary(*op, inner),
            Expr::Binary(op, both) => self.both(*op, both),
            Expr::If(all) => self.choice(all),
            Expr::InSet(subject, items) => self.in_set(subject, items),
            Expr::InRange(all) => self.in_range(all),
            Expr::Array(items) => self.array(items),
            Expr::Field(inner, field) => self.field(inner, *field),
            Expr::Matches(inner, pattern) => self.matches(inner, pattern),
            Expr::Call(function, arguments) => self.call(*function, arguments),
            Expr::Const(_) | Expr::Var(_) | Expr::Param(_) | Expr::Local(_) => self.eval(expr),
        }
    }

    fn both(&self, op: BinaryOp, both: &[Expr; 2]) -> Result<Value, EvalError> {
        let left = self.eval(&both[0])?;
        let right = self.eval(&both[1])?;
        self.binary(op, &left, &right)
    }

    fn choice(&self, all: &[Expr; 3]) -> Result<Value, EvalError> {
        let chosen = if self.truth(&all[0])? { 1 } else { 2 };
        self.eval(&all[chosen])
    }

    fn array(&self, items: &[Expr]) -> Result<Value, EvalError> {
        let items = items.iter().map(|item| self.eval(item));
        items.collect::<Result<Arc<[_]>, _>>().map(Value::Array)
    }

    fn field(&self, inner: &Expr, field: u32) -> Result<Value, EvalError> {
        match self.eval(inner)? {
            Value::Struct(_, fields) => Ok(slot(&fields, field as usize)),
            other => Err(EvalError::Kind("a field", other.kind())),
        }
    }

    fn matches(&self, inner: &Expr, pattern: &Pattern) -> Result<Value, EvalError> {
        match self.eval(inner)? {
            Value::Str(text) => {
                self.work.spend(text.len() as u64 / BYTES_PER_STEP)?;
                Ok(Value::Bool(pattern.matches(&text)))
            }
            other => Err(EvalError::Kind("=~", other.kind())),
        }
    }

    fn in_set(&self, subject: &Expr, items: &[Expr]) -> Result<Value, EvalError> {
        let subject = self.eval(subject)?;
        for item in items {
            let item = self.eval(item)?;
            self.work.spend(1 + size(&item))?;
            if equal(&subject, &item) {
                return Ok(Value::Bool(true));
            }
        }
        Ok(Value::Bool(false))
    }

    fn in_range(&self, all: &[Expr; 3]) -> Result<Value, EvalError> {
        let subject = self.eval(&all[0])?;
        let low = self.eval(&all[1])?;
        let high = self.eval(&all[2])?;
        let above = compare("in", &low, &subject)? != Ordering::Greater;
        let below = compare("in", &subject, &high)? != Ordering::Greater;
        Ok(Value::Bool(above && below))
    }

    fn call(&self, function: FunctionId, arguments: &[Expr]) -> Result<Value, EvalError> {
        let calls = self.calls + 1;
        self.work.budget.check(Resource::Depth, calls)?;
        let arguments = arguments
            .iter()
            .map(|a| self.eval(a))
            .collect::<Result<Vec<_>, _>>()?;
        let Some(function) = self.work.env.functions.get(function.index()) else {
            return Err(EvalError::Kind("a call", "an unknown function"));
        };
        Frame {
            work: self.work,
            locals: &arguments,
            calls,
        }
        .eval(&function.body)
    }

    fn binary(&self, op: BinaryOp, left: &Value, right: &Value) -> Result<Value, EvalError> {
        let size = size(left) + size(right);
        if size > 0 {
            self.work.spend(size)?;
        }
        match (op, left, right) {
            (BinaryOp::Add, Value::Str(a), Value::Str(b)) => {
                self.fits(a.len() + b.len())?;
                Ok(Value::Str(Arc::from(format!("{a}{b}"))))
            }
            (BinaryOp::Add, Value::Array(a), Value::Array(b)) => {
                self.fits((a.len() + b.len()) * size_of::<Value>())?;
                Ok(Value::Array(a.iter().chain(b.iter()).cloned().collect()))
            }
            _ => binary(op, left, right),
        }
    }

    fn fits(&self, bytes: usize) -> Result<(), EvalError> {
        Ok(self.work.budget.check(Resource::Bytes, bytes as u64)?)
    }

    fn unary(&self, op: UnaryOp, inner: &Expr) -> Result<Value, EvalError> {
        if op == UnaryOp::Not {
            return Ok(Value::Bool(!self.truth(inner)?));
        }
        let value = self.eval(inner)?;
        self.work.spend(size(&value))?;
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

/// Bytes of text that cost one step to compare, to join or to search.
const BYTES_PER_STEP: u64 = 64;

/// The steps that an operation on a value costs beyond the first.
fn size(value: &Value) -> u64 {
    match value {
        Value::Str(text) => text.len() as u64 / BYTES_PER_STEP,
        Value::Array(items) => items.len() as u64 / 8,
        _ => 0,
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
        BinaryOp::Min => compare("min()", left, right).map(|ordering| {
            let smaller = if ordering.is_gt() { right } else { left };
            alike(smaller, left, right)
        }),
        BinaryOp::Max => compare("max()", left, right).map(|ordering| {
            let larger = if ordering.is_lt() { right } else { left };
            alike(larger, left, right)
        }),
        BinaryOp::Add => arithmetic(
            "+",
            left,
            right,
            i64::checked_add,
            (decimal::add, Decimal::checked_add),
        ),
        BinaryOp::Sub => arithmetic(
            "-",
            left,
            right,
            i64::checked_sub,
            (decimal::subtract, Decimal::checked_sub),
        ),
        BinaryOp::Mul => arithmetic(
            "*",
            left,
            right,
            i64::checked_mul,
            (decimal::multiply, Decimal::checked_mul),
        ),
        BinaryOp::Div | BinaryOp::Rem => {
            let zero = match right {
                Value::Int(divisor) => *divisor == 0,
                Value::Decimal(divisor) => divisor.is_zero(),
                _ => false,
            };
            if zero {
                Err(EvalError::DivisionByZero)
            } else if op == BinaryOp::Div {
                arithmetic(
                    "/",
                    left,
                    right,
                    i64::checked_div,
                    (decimal::divide, Decimal::checked_div),
                )
            } else {
                arithmetic(
                    "%",
                    left,
                    right,
                    i64::checked_rem,
                    (decimal::remainder, Decimal::checked_rem),
                )
            }
        }
        BinaryOp::And | BinaryOp::Or => unreachable!("decided by `truth`"),
    }
}

/// One of two numbers, as a decimal where the other is one: the operation has one type.
fn alike(chosen: &Value, left: &Value, right: &Value) -> Value {
    match (chosen, left, right) {
        (Value::Int(number), Value::Decimal(_), _) | (Value::Int(number), _, Value::Decimal(_)) => {
            Value::Decimal(Decimal::from(*number))
        }
        _ => chosen.clone(),
    }
}

/// Equality over all kinds; an integer equals the decimal of the same size, also in an array or a
/// structure.
fn equal(left: &Value, right: &Value) -> bool {
    let all = |a: &[Value], b: &[Value]| {
        a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| equal(a, b))
    };
    match (left, right) {
        (Value::Int(a), Value::Decimal(b)) | (Value::Decimal(b), Value::Int(a)) => {
            Decimal::from(*a) == *b
        }
        (Value::Array(a), Value::Array(b)) => all(a, b),
        (Value::Struct(a, x), Value::Struct(b, y)) => a == b && all(x, y),
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
    // Exact, and rounded.
    decimals: (
        fn(Decimal, Decimal) -> Option<Decimal>,
        fn(Decimal, Decimal) -> Option<Decimal>,
    ),
) -> Result<Value, EvalError> {
    let decimal = |a, b| {
        let exact = decimals.0(a, b).map(Value::Decimal);
        exact.ok_or_else(|| match decimals.1(a, b) {
            Some(_) => EvalError::Inexact,
            None => EvalError::Overflow,
        })
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
