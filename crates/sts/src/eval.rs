//! Evaluation with checked arithmetic: what cannot be computed is an error, never a wrong value.

mod operation;

use std::cell::Cell;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use ioco_budget::{Budget, Exhausted, Halted, Meter, Resource};

use crate::expr::{BinaryOp, Expr, Pattern, UnaryOp};
use crate::ids::{FunctionId, StructId};
use crate::sts::Function;
use crate::value::Value;

use operation::{BYTES_PER_STEP, binary, size, slot};
pub(crate) use operation::{compare, equal};

/// Evaluation is recursive, so that the stack bounds the nesting of expressions and calls together,
/// whatever the budget says.
const MAX_LEVELS: u64 = 700;

/// Operands of one `&&` or `||`, besides the first, that are kept on the stack.
const FEW_OPERANDS: usize = 6;

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
        // Most are short, and guards are evaluated at every step: those need no allocation.
        let mut few = [expr; FEW_OPERANDS];
        let mut more = Vec::new();
        let mut count = 0;
        let mut first = expr;
        while let Expr::Binary(inner, both) = first
            && *inner == op
        {
            match few.get_mut(count) {
                Some(operand) => *operand = &both[1],
                None => more.push(&both[1]),
            }
            count += 1;
            first = &both[0];
        }
        let few = &few[..count.min(FEW_OPERANDS)];
        let decides = op == BinaryOp::Or;
        if self.truth(first)? == decides {
            return Ok(decides);
        }
        for operand in more.into_iter().rev().chain(few.iter().rev().copied()) {
            self.work.spend(1)?;
            if self.truth(operand)? == decides {
                return Ok(decides);
            }
        }
        Ok(!decides)
    }

    fn eval(&self, expr: &Expr) -> Result<Value, EvalError> {
        if let Some(value) = self.known(expr) {
            return Ok(value.clone());
        }
        match expr {
            Expr::Binary(BinaryOp::And | BinaryOp::Or, _) => self.truth(expr).map(Value::Bool),
            _ => {
                // An error ends the whole evaluation, so that the level no longer matters.
                self.work.enter()?;
                let value = self.operation(expr)?;
                self.work.leave();
                Ok(value)
            }
        }
    }

    /// The value of a constant, a variable or a parameter, where it stands.
    fn known<'v>(&'v self, expr: &'v Expr) -> Option<&'v Value> {
        let env = &self.work.env;
        match expr {
            Expr::Const(value) => Some(value),
            Expr::Var(variable) => Some(slot(env.variables, variable.index())),
            Expr::Param(position) => Some(slot(env.parameters, *position as usize)),
            Expr::Local(position) => Some(slot(self.locals, *position as usize)),
            _ => None,
        }
    }

    /// The value of an operand: only one that has to be computed is put into `computed`.
    fn operand<'v>(
        &'v self,
        expr: &'v Expr,
        computed: &'v mut Value,
    ) -> Result<&'v Value, EvalError> {
        if let Some(value) = self.known(expr) {
            return Ok(value);
        }
        *computed = self.eval(expr)?;
        Ok(computed)
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
            Expr::Struct(id, fields) => self.structure(*id, fields),
            Expr::Field(inner, field) => self.field(inner, *field),
            Expr::Matches(inner, pattern) => self.matches(inner, pattern),
            Expr::Call(function, arguments) => self.call(*function, arguments),
            Expr::Const(_) | Expr::Var(_) | Expr::Param(_) | Expr::Local(_) => self.eval(expr),
        }
    }

    fn both(&self, op: BinaryOp, both: &[Expr; 2]) -> Result<Value, EvalError> {
        let (mut left, mut right) = (Value::Void, Value::Void);
        let left = self.operand(&both[0], &mut left)?;
        let right = self.operand(&both[1], &mut right)?;
        self.binary(op, left, right)
    }

    fn choice(&self, all: &[Expr; 3]) -> Result<Value, EvalError> {
        let chosen = if self.truth(&all[0])? { 1 } else { 2 };
        self.eval(&all[chosen])
    }

    fn array(&self, items: &[Expr]) -> Result<Value, EvalError> {
        let items = items.iter().map(|item| self.eval(item));
        items.collect::<Result<Arc<[_]>, _>>().map(Value::Array)
    }

    fn structure(&self, id: StructId, fields: &[Expr]) -> Result<Value, EvalError> {
        let fields = fields.iter().map(|field| self.eval(field));
        let fields = fields.collect::<Result<Arc<[_]>, _>>()?;
        Ok(Value::Struct(id, fields))
    }

    fn field(&self, inner: &Expr, field: u32) -> Result<Value, EvalError> {
        match self.eval(inner)? {
            Value::Struct(_, fields) => Ok(slot(&fields, field as usize).clone()),
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
        let (mut subject, mut low, mut high) = (Value::Void, Value::Void, Value::Void);
        let subject = self.operand(&all[0], &mut subject)?;
        let low = self.operand(&all[1], &mut low)?;
        let high = self.operand(&all[2], &mut high)?;
        let above = compare("in", low, subject)? != Ordering::Greater;
        let below = compare("in", subject, high)? != Ordering::Greater;
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
        // An item is found at once, however long the array is.
        if size > 0 && op != BinaryOp::Index {
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
