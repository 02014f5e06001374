//! Evaluation by the book's chapter on the language. Types are static: a number expression is an
//! integer or a decimal whatever its value is, and that decides what division means.

use std::cmp::Ordering;

use ioco_sts::{BinaryOp, Expr, LabelId, Sts, Type, UnaryOp, Value};
use num_rational::BigRational;
use num_traits::Signed as _;

use super::regex::Regex;
use super::value::{Val, decimal, is_zero, quotient, whole};

/// Why there is no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nothing {
    /// The language says that there is none.
    Undefined,
    /// The reference does not know.
    Unsure,
}

/// The static type of an expression, as far as evaluation depends on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    Integer,
    Decimal,
    List(Box<Kind>),
    Record(u32),
    Other,
}

impl Kind {
    pub fn of_type(ty: &Type) -> Kind {
        match ty {
            Type::Int(_) | Type::Date | Type::Time => Kind::Integer,
            Type::Decimal => Kind::Decimal,
            Type::Array(item) => Kind::List(Box::new(Kind::of_type(item))),
            Type::Struct(id) => Kind::Record(id.0),
            Type::Bool | Type::Str | Type::Enum(_) => Kind::Other,
        }
    }

    fn of_value(value: &Value) -> Kind {
        match value {
            Value::Int(_) => Kind::Integer,
            Value::Decimal(_) => Kind::Decimal,
            Value::Array(items) => Kind::List(Box::new(
                items
                    .iter()
                    .map(Kind::of_value)
                    .fold(Kind::Other, Kind::join),
            )),
            Value::Struct(id, _) => Kind::Record(id.0),
            _ => Kind::Other,
        }
    }

    pub fn join(self, other: Kind) -> Kind {
        match (self, other) {
            (Kind::Decimal, _) | (_, Kind::Decimal) => Kind::Decimal,
            (Kind::List(a), Kind::List(b)) => Kind::List(Box::new(a.join(*b))),
            (Kind::Other, other) | (other, Kind::Other) => other,
            (one, _) => one,
        }
    }
}

/// What names mean while an expression is evaluated.
#[derive(Clone, Copy)]
pub struct Environment<'a> {
    pub sts: &'a Sts,
    pub variables: &'a [Val],
    pub label: Option<LabelId>,
    pub parameters: &'a [Val],
    /// The function whose body this is, with its arguments.
    pub function: Option<(usize, &'a [Val])>,
    pub depth: usize,
}

type Evaluated = Result<Val, Nothing>;

impl Environment<'_> {
    /// Whether a guard holds. One without a value does not.
    pub fn holds(&self, guard: &Expr) -> Result<bool, Nothing> {
        match self.eval(guard) {
            Ok(Val::Bool(holds)) => Ok(holds),
            Ok(_) | Err(Nothing::Undefined) => Ok(false),
            Err(Nothing::Unsure) => Err(Nothing::Unsure),
        }
    }

    pub fn eval(&self, expr: &Expr) -> Evaluated {
        match expr {
            Expr::Const(value) => Ok(Val::of(value)),
            Expr::Var(id) => Ok(self.variables[id.index()].clone()),
            Expr::Param(at) => Ok(self
                .parameters
                .get(*at as usize)
                .cloned()
                .unwrap_or(Val::Void)),
            Expr::Local(at) => {
                let (_, arguments) = self.function.ok_or(Nothing::Unsure)?;
                Ok(arguments.get(*at as usize).cloned().unwrap_or(Val::Void))
            }
            Expr::Unary(op, inner) => self.unary(*op, inner),
            Expr::Binary(BinaryOp::And, both) => match self.truth(&both[0])? {
                true => self.truth(&both[1]).map(Val::Bool),
                false => Ok(Val::Bool(false)),
            },
            Expr::Binary(BinaryOp::Or, both) => match self.truth(&both[0])? {
                true => Ok(Val::Bool(true)),
                false => self.truth(&both[1]).map(Val::Bool),
            },
            Expr::Binary(op, both) => {
                let (left, right) = (self.eval(&both[0])?, self.eval(&both[1])?);
                let kind = self.kind(&both[0]).join(self.kind(&both[1]));
                binary(*op, left, right, &kind)
            }
            Expr::If(parts) => match self.truth(&parts[0])? {
                true => self.eval(&parts[1]),
                false => self.eval(&parts[2]),
            },
            Expr::InSet(subject, items) => {
                let subject = self.eval(subject)?;
                for item in items {
                    if self.eval(item)? == subject {
                        return Ok(Val::Bool(true));
                    }
                }
                Ok(Val::Bool(false))
            }
            Expr::InRange(parts) => {
                let subject = self.eval(&parts[0])?;
                let (low, high) = (self.eval(&parts[1])?, self.eval(&parts[2])?);
                let above = order(&low, &subject)?.is_le();
                let below = order(&subject, &high)?.is_le();
                Ok(Val::Bool(above && below))
            }
            Expr::Array(items) => {
                let items: Result<Vec<Val>, Nothing> = items.iter().map(|i| self.eval(i)).collect();
                items.map(Val::List)
            }
            Expr::Struct(id, fields) => {
                let fields: Result<Vec<Val>, Nothing> =
                    fields.iter().map(|f| self.eval(f)).collect();
                fields.map(|fields| Val::Record(id.0, fields))
            }
            Expr::Field(inner, at) => match self.eval(inner)? {
                Val::Record(_, fields) => {
                    Ok(fields.get(*at as usize).cloned().unwrap_or(Val::Void))
                }
                _ => Err(Nothing::Undefined),
            },
            Expr::Matches(inner, pattern) => match self.eval(inner)? {
                Val::Text(text) => {
                    let regex = Regex::read(pattern.text()).ok_or(Nothing::Unsure)?;
                    Ok(Val::Bool(regex.matches(&text)))
                }
                _ => Err(Nothing::Undefined),
            },
            Expr::Call(id, arguments) => {
                if self.depth > 40 {
                    return Err(Nothing::Unsure);
                }
                let arguments: Result<Vec<Val>, Nothing> =
                    arguments.iter().map(|a| self.eval(a)).collect();
                let arguments = arguments?;
                let body = &self.sts.functions()[id.index()].body;
                Environment {
                    function: Some((id.index(), &arguments)),
                    depth: self.depth + 1,
                    ..*self
                }
                .eval(body)
            }
        }
    }

    fn truth(&self, expr: &Expr) -> Result<bool, Nothing> {
        match self.eval(expr)? {
            Val::Bool(value) => Ok(value),
            _ => Err(Nothing::Undefined),
        }
    }

    fn unary(&self, op: UnaryOp, inner: &Expr) -> Evaluated {
        let value = self.eval(inner)?;
        match (op, value) {
            (UnaryOp::Not, Val::Bool(value)) => Ok(Val::Bool(!value)),
            (UnaryOp::Neg, Val::Num(n)) => in_range(-n, &self.kind(inner)),
            (UnaryOp::Abs, Val::Num(n)) => in_range(n.abs(), &self.kind(inner)),
            (UnaryOp::Length, Val::List(items)) => Ok(Val::int(items.len() as i64)),
            (UnaryOp::Length, Val::Text(text)) => Ok(Val::int(text.chars().count() as i64)),
            (UnaryOp::Last, Val::List(items)) => items.last().cloned().ok_or(Nothing::Undefined),
            _ => Err(Nothing::Undefined),
        }
    }

    fn kind(&self, expr: &Expr) -> Kind {
        match expr {
            Expr::Const(value) => Kind::of_value(value),
            Expr::Var(id) => Kind::of_type(&self.sts.variable(*id).ty),
            Expr::Param(at) => {
                let label = self.label.map(|label| self.sts.label(label));
                label
                    .and_then(|label| label.parameters.get(*at as usize))
                    .map_or(Kind::Other, |parameter| Kind::of_type(&parameter.ty))
            }
            Expr::Local(at) => self
                .function
                .and_then(|(id, _)| self.sts.functions()[id].parameters.get(*at as usize))
                .map_or(Kind::Other, |(_, ty)| Kind::of_type(ty)),
            Expr::Unary(UnaryOp::Neg | UnaryOp::Abs, inner) => self.kind(inner),
            Expr::Unary(UnaryOp::Length, _) => Kind::Integer,
            Expr::Unary(UnaryOp::Last, inner) => item(self.kind(inner)),
            Expr::Unary(UnaryOp::Not, _) => Kind::Other,
            Expr::Binary(op, both) => match op {
                BinaryOp::Index => item(self.kind(&both[0])),
                BinaryOp::Add
                | BinaryOp::Sub
                | BinaryOp::Mul
                | BinaryOp::Div
                | BinaryOp::Rem
                | BinaryOp::Min
                | BinaryOp::Max => self.kind(&both[0]).join(self.kind(&both[1])),
                _ => Kind::Other,
            },
            Expr::If(parts) => self.kind(&parts[1]).join(self.kind(&parts[2])),
            Expr::InSet(..) | Expr::InRange(_) | Expr::Matches(..) => Kind::Other,
            Expr::Array(items) => Kind::List(Box::new(
                items
                    .iter()
                    .map(|i| self.kind(i))
                    .fold(Kind::Other, Kind::join),
            )),
            Expr::Struct(id, _) => Kind::Record(id.0),
            Expr::Field(inner, at) => match self.kind(inner) {
                Kind::Record(id) => self
                    .sts
                    .types()
                    .structs
                    .get(id as usize)
                    .and_then(|s| s.fields.get(*at as usize))
                    .map_or(Kind::Other, |(_, ty)| Kind::of_type(ty)),
                _ => Kind::Other,
            },
            Expr::Call(id, _) => Kind::of_type(&self.sts.functions()[id.index()].result),
        }
    }
}

pub(super) fn item(kind: Kind) -> Kind {
    match kind {
        Kind::List(item) => *item,
        _ => Kind::Other,
    }
}

/// The number, if its type can hold it exactly.
pub(super) fn in_range(number: BigRational, kind: &Kind) -> Evaluated {
    let exists = match kind {
        Kind::Decimal => decimal(&number).is_some(),
        _ => whole(&number).is_some(),
    };
    if exists {
        Ok(Val::Num(number))
    } else {
        Err(Nothing::Undefined)
    }
}

pub(super) fn order(left: &Val, right: &Val) -> Result<Ordering, Nothing> {
    match (left, right) {
        (Val::Num(a), Val::Num(b)) => Ok(a.cmp(b)),
        (Val::Text(a), Val::Text(b)) => Ok(a.cmp(b)),
        (Val::Member(a, x), Val::Member(b, y)) if a == b => Ok(x.cmp(y)),
        _ => Err(Nothing::Undefined),
    }
}

pub(super) fn binary(op: BinaryOp, left: Val, right: Val, kind: &Kind) -> Evaluated {
    let ordered = |test: fn(Ordering) -> bool| order(&left, &right).map(|o| Val::Bool(test(o)));
    match op {
        BinaryOp::Eq => Ok(Val::Bool(left == right)),
        BinaryOp::Ne => Ok(Val::Bool(left != right)),
        BinaryOp::Lt => ordered(Ordering::is_lt),
        BinaryOp::Le => ordered(Ordering::is_le),
        BinaryOp::Gt => ordered(Ordering::is_gt),
        BinaryOp::Ge => ordered(Ordering::is_ge),
        BinaryOp::Min => Ok(if order(&left, &right)?.is_le() {
            left
        } else {
            right
        }),
        BinaryOp::Max => Ok(if order(&left, &right)?.is_ge() {
            left
        } else {
            right
        }),
        BinaryOp::Index => match (left, right) {
            (Val::List(items), Val::Num(at)) => whole(&at)
                .and_then(|at| usize::try_from(at).ok())
                .and_then(|at| items.get(at).cloned())
                .ok_or(Nothing::Undefined),
            _ => Err(Nothing::Undefined),
        },
        BinaryOp::Add => match (left, right) {
            (Val::Text(a), Val::Text(b)) => Ok(Val::Text(a + &b)),
            (Val::List(a), Val::List(b)) => Ok(Val::List(a.into_iter().chain(b).collect())),
            (Val::Num(a), Val::Num(b)) => in_range(a + b, kind),
            _ => Err(Nothing::Undefined),
        },
        BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => {
            let (Val::Num(a), Val::Num(b)) = (left, right) else {
                return Err(Nothing::Undefined);
            };
            let divides = matches!(op, BinaryOp::Div | BinaryOp::Rem);
            if divides && is_zero(&b) {
                return Err(Nothing::Undefined);
            }
            let number = match op {
                BinaryOp::Sub => a - b,
                BinaryOp::Mul => a * b,
                BinaryOp::Div if *kind == Kind::Decimal => {
                    quotient(&a, &b).ok_or(Nothing::Undefined)?
                }
                BinaryOp::Div => (a / b).trunc(),
                _ => &a - &b * (&a / &b).trunc(),
            };
            in_range(number, kind)
        }
        BinaryOp::And | BinaryOp::Or => Err(Nothing::Unsure),
    }
}
