//! Conditions as SMT-LIB text, with definedness written out: for every part the text says when it
//! has a value, and conditions are translated twice, as what makes them true and what makes them
//! false.
//!
//! Arrays and structs do not exist in the text: they are taken apart here, down to their items and
//! fields. Arrays of unknown length cannot be, and are refused.

use std::fmt::Write as _;

use ioco_sts::{BinaryOp, Expr, Function, StructId, Type, Types, UnaryOp, Value};
use rust_decimal::Decimal;

use super::regular::regular;

/// Calls within calls beyond this are refused.
const MAX_CALL_DEPTH: u32 = 8;

/// Why a question cannot be put as text.
#[derive(Clone, Debug)]
pub(super) struct Refused(pub String);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Bool,
    Int,
    Real,
    Str,
    /// Members are integers; members of different enumerations are never equal.
    Member(u32),
}

impl Sort {
    fn name(self) -> &'static str {
        match self {
            Sort::Bool => "Bool",
            Sort::Int | Sort::Member(_) => "Int",
            Sort::Real => "Real",
            Sort::Str => "String",
        }
    }
}

#[derive(Clone, Debug)]
pub(super) enum Shape {
    Scalar(Sort, String),
    Items(Vec<Part>),
    Fields(StructId, Vec<Part>),
    /// Only `:void`.
    Nothing,
}

/// A value as text: it exists where `defined`, and is `:void` where `void`.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub shape: Shape,
    pub defined: String,
    pub void: String,
}

/// What makes a condition true, and what makes it false; neither where it has no value.
#[derive(Clone, Debug)]
pub(super) struct Truth {
    pub yes: String,
    pub no: String,
}

pub(super) struct Translator<'a> {
    pub types: &'a Types,
    pub functions: &'a [Function],
    pub unknowns: Vec<Part>,
    /// Declarations, definitions and side conditions, in order.
    pub text: String,
    /// Something that decimals round and real numbers do not: *unsatisfiable* proves nothing then.
    pub rounds: bool,
    /// Characters that SMT-LIB does not have: *unsatisfiable* proves nothing then either.
    pub wide: bool,
    names: u32,
}

fn yes() -> String {
    "true".to_owned()
}

fn no() -> String {
    "false".to_owned()
}

pub(super) fn all(parts: &[&str]) -> String {
    let parts: Vec<&str> = parts.iter().copied().filter(|p| *p != "true").collect();
    if parts.contains(&"false") {
        return no();
    }
    match parts.as_slice() {
        [] => yes(),
        [one] => (*one).to_owned(),
        many => format!("(and {})", many.join(" ")),
    }
}

fn any(parts: &[&str]) -> String {
    let parts: Vec<&str> = parts.iter().copied().filter(|p| *p != "false").collect();
    if parts.contains(&"true") {
        return yes();
    }
    match parts.as_slice() {
        [] => no(),
        [one] => (*one).to_owned(),
        many => format!("(or {})", many.join(" ")),
    }
}

fn not(part: &str) -> String {
    match part {
        "true" => no(),
        "false" => yes(),
        _ => format!("(not {part})"),
    }
}

pub(super) fn integer(value: i128) -> String {
    if value < 0 {
        format!("(- {})", value.unsigned_abs())
    } else {
        value.to_string()
    }
}

fn real(value: Decimal) -> String {
    let magnitude = value.abs().normalize();
    let text = if magnitude.scale() == 0 {
        format!("{magnitude}.0")
    } else {
        magnitude.to_string()
    };
    if value.is_sign_negative() && !value.is_zero() {
        format!("(- {text})")
    } else {
        text
    }
}

pub(super) fn string(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\"\""),
            ' '..='~' if c != '\\' => quoted.push(c),
            // Writing into a String cannot fail.
            _ => {
                let _ = write!(quoted, "\\u{{{:x}}}", u32::from(c));
            }
        }
    }
    quoted.push('"');
    quoted
}

impl<'a> Translator<'a> {
    pub fn new(types: &'a Types, functions: &'a [Function]) -> Translator<'a> {
        Translator {
            types,
            functions,
            unknowns: Vec::new(),
            text: String::new(),
            rounds: false,
            wide: false,
            names: 0,
        }
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn name(&mut self, prefix: char) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    /// Gives a text a name, so that using it twice does not double it.
    fn named(&mut self, sort: &str, text: String) -> String {
        if text.len() < 16 {
            return text;
        }
        let name = self.name('t');
        self.line(&format!("(define-fun {name} () {sort} {text})"));
        name
    }

    pub fn declare(&mut self, ty: &Type, void: bool) -> Result<Part, Refused> {
        let is_void = if void {
            let name = self.name('v');
            self.line(&format!("(declare-const {name} Bool)"));
            name
        } else {
            no()
        };
        let sort = match ty {
            Type::Bool => Sort::Bool,
            Type::Int(_) | Type::Date | Type::Time => Sort::Int,
            Type::Decimal => Sort::Real,
            Type::Str => Sort::Str,
            Type::Enum(id) => Sort::Member(id.0),
            Type::Array(_) => {
                return Err(Refused("an array of unknown length".to_owned()));
            }
            Type::Struct(id) => {
                let Some(declared) = self.types.structs.get(id.index()) else {
                    return Err(Refused("a struct that is not declared".to_owned()));
                };
                let fields = declared
                    .fields
                    .iter()
                    .map(|(_, ty)| self.declare(ty, true))
                    .collect::<Result<Vec<_>, _>>()?;
                return Ok(Part {
                    shape: Shape::Fields(*id, fields),
                    defined: yes(),
                    void: is_void,
                });
            }
        };
        let name = self.name('x');
        self.line(&format!("(declare-const {name} {})", sort.name()));
        let range = match ty {
            Type::Enum(id) => {
                let members = self
                    .types
                    .enums
                    .get(id.index())
                    .map_or(0, |e| e.members.len());
                Some((0, members as i128 - 1))
            }
            _ => ty
                .int_range()
                .map(|r| (i128::from(r.min), i128::from(r.max))),
        };
        if let Some((min, max)) = range {
            let (min, max) = (integer(min), integer(max));
            self.line(&format!("(assert (<= {min} {name} {max}))"));
        }
        Ok(Part {
            shape: Shape::Scalar(sort, name),
            defined: yes(),
            void: is_void,
        })
    }

    fn constant(value: &Value) -> Part {
        let shape = match value {
            Value::Void => Shape::Nothing,
            Value::Bool(value) => Shape::Scalar(Sort::Bool, value.to_string()),
            Value::Int(value) => Shape::Scalar(Sort::Int, integer(i128::from(*value))),
            Value::Decimal(value) => Shape::Scalar(Sort::Real, real(*value)),
            Value::Str(text) => Shape::Scalar(Sort::Str, string(text)),
            Value::Enum(id, member) => Shape::Scalar(Sort::Member(id.0), member.to_string()),
            Value::Array(items) => Shape::Items(items.iter().map(Self::constant).collect()),
            Value::Struct(id, fields) => {
                Shape::Fields(*id, fields.iter().map(Self::constant).collect())
            }
        };
        Part {
            shape,
            defined: yes(),
            void: if value.is_void() { yes() } else { no() },
        }
    }

    pub fn condition(&mut self, expr: &Expr) -> Result<Truth, Refused> {
        self.truth(expr, &[], 0)
    }

    fn truth(&mut self, expr: &Expr, locals: &[Part], depth: u32) -> Result<Truth, Refused> {
        match expr {
            Expr::Unary(UnaryOp::Not, inner) => {
                let inner = self.truth(inner, locals, depth)?;
                Ok(Truth {
                    yes: inner.no,
                    no: inner.yes,
                })
            }
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), both) => {
                let left = self.truth(&both[0], locals, depth)?;
                let right = self.truth(&both[1], locals, depth)?;
                let (yes, no) = if *op == BinaryOp::And {
                    (
                        all(&[&left.yes, &right.yes]),
                        any(&[&left.no, &all(&[&left.yes, &right.no])]),
                    )
                } else {
                    (
                        any(&[&left.yes, &all(&[&left.no, &right.yes])]),
                        all(&[&left.no, &right.no]),
                    )
                };
                Ok(Truth {
                    yes: self.named("Bool", yes),
                    no: self.named("Bool", no),
                })
            }
            _ => {
                let part = self.part(expr, locals, depth)?;
                let Shape::Scalar(Sort::Bool, text) = &part.shape else {
                    return Ok(Truth {
                        yes: no(),
                        no: no(),
                    });
                };
                let exists = all(&[&part.defined, &not(&part.void)]);
                Ok(Truth {
                    yes: all(&[&exists, text]),
                    no: all(&[&exists, &not(text)]),
                })
            }
        }
    }

    /// A boolean that exists where the truth is one or the other.
    fn boolean(&mut self, truth: Truth) -> Part {
        let defined = any(&[&truth.yes, &truth.no]);
        Part {
            shape: Shape::Scalar(Sort::Bool, truth.yes),
            defined: self.named("Bool", defined),
            void: no(),
        }
    }

    fn part(&mut self, expr: &Expr, locals: &[Part], depth: u32) -> Result<Part, Refused> {
        match expr {
            Expr::Const(value) => Ok(Self::constant(value)),
            Expr::Param(position) => Ok(self
                .unknowns
                .get(*position as usize)
                .cloned()
                .unwrap_or_else(|| Self::constant(&Value::Void))),
            Expr::Local(position) => Ok(locals
                .get(*position as usize)
                .cloned()
                .unwrap_or_else(|| Self::constant(&Value::Void))),
            Expr::Var(_) => Err(Refused("a variable in a condition".to_owned())),
            Expr::Unary(UnaryOp::Not, _) | Expr::Binary(BinaryOp::And | BinaryOp::Or, _) => {
                let truth = self.truth(expr, locals, depth)?;
                Ok(self.boolean(truth))
            }
            Expr::Unary(op, inner) => {
                let inner = self.part(inner, locals, depth)?;
                self.unary(*op, &inner)
            }
            Expr::Binary(op, both) => {
                let left = self.part(&both[0], locals, depth)?;
                let right = self.part(&both[1], locals, depth)?;
                self.binary(*op, &left, &right)
            }
            Expr::If(branches) => {
                let condition = self.truth(&branches[0], locals, depth)?;
                let then = self.part(&branches[1], locals, depth)?;
                let otherwise = self.part(&branches[2], locals, depth)?;
                self.either(&condition, &then, &otherwise)
            }
            Expr::InSet(subject, items) => {
                let subject = self.part(subject, locals, depth)?;
                // From the last to the first: an item counts where the ones before it differ.
                let mut truth = Truth {
                    yes: no(),
                    no: yes(),
                };
                for item in items.iter().rev() {
                    let item = self.part(item, locals, depth)?;
                    let equal = self.equal(&subject, &item);
                    truth = Truth {
                        yes: all(&[&item.defined, &any(&[&equal, &truth.yes])]),
                        no: all(&[&item.defined, &not(&equal), &truth.no]),
                    };
                    truth.yes = self.named("Bool", truth.yes);
                    truth.no = self.named("Bool", truth.no);
                }
                truth.yes = all(&[&subject.defined, &truth.yes]);
                truth.no = all(&[&subject.defined, &truth.no]);
                Ok(self.boolean(truth))
            }
            Expr::InRange(parts) => {
                let subject = self.part(&parts[0], locals, depth)?;
                let low = self.part(&parts[1], locals, depth)?;
                let high = self.part(&parts[2], locals, depth)?;
                let above = self.binary(BinaryOp::Le, &low, &subject)?;
                let below = self.binary(BinaryOp::Le, &subject, &high)?;
                let (Shape::Scalar(_, a), Shape::Scalar(_, b)) = (&above.shape, &below.shape)
                else {
                    return Ok(fails());
                };
                Ok(Part {
                    shape: Shape::Scalar(Sort::Bool, all(&[a, b])),
                    defined: all(&[&above.defined, &below.defined]),
                    void: no(),
                })
            }
            Expr::Array(items) => {
                let items = items
                    .iter()
                    .map(|i| self.part(i, locals, depth))
                    .collect::<Result<Vec<_>, _>>()?;
                let defined: Vec<&str> = items.iter().map(|i| i.defined.as_str()).collect();
                let defined = all(&defined);
                Ok(Part {
                    defined,
                    void: no(),
                    shape: Shape::Items(items),
                })
            }
            Expr::Struct(id, fields) => {
                let fields = fields
                    .iter()
                    .map(|f| self.part(f, locals, depth))
                    .collect::<Result<Vec<_>, _>>()?;
                let defined: Vec<&str> = fields.iter().map(|f| f.defined.as_str()).collect();
                Ok(Part {
                    defined: all(&defined),
                    void: no(),
                    shape: Shape::Fields(*id, fields),
                })
            }
            Expr::Field(inner, field) => {
                let inner = self.part(inner, locals, depth)?;
                let Shape::Fields(_, fields) = &inner.shape else {
                    return Ok(fails());
                };
                let mut part = fields
                    .get(*field as usize)
                    .cloned()
                    .unwrap_or_else(|| Self::constant(&Value::Void));
                part.defined = all(&[&part.defined, &inner.defined, &not(&inner.void)]);
                Ok(part)
            }
            Expr::Matches(inner, pattern) => {
                let inner = self.part(inner, locals, depth)?;
                let Shape::Scalar(Sort::Str, text) = &inner.shape else {
                    return Ok(fails());
                };
                let (language, wide) = regular(pattern.text()).map_err(Refused)?;
                self.wide |= wide;
                Ok(Part {
                    shape: Shape::Scalar(Sort::Bool, format!("(str.in_re {text} {language})")),
                    defined: all(&[&inner.defined, &not(&inner.void)]),
                    void: no(),
                })
            }
            Expr::Call(function, arguments) => {
                if depth >= MAX_CALL_DEPTH {
                    return Err(Refused("functions that call each other deeply".to_owned()));
                }
                let Some(function) = self.functions.get(function.index()) else {
                    return Ok(fails());
                };
                let mut arguments = arguments
                    .iter()
                    .map(|a| self.part(a, locals, depth))
                    .collect::<Result<Vec<_>, _>>()?;
                // An argument without a value is an error also where the body does not use it.
                let defined: Vec<String> = arguments
                    .iter_mut()
                    .map(|a| std::mem::replace(&mut a.defined, yes()))
                    .collect();
                let mut part = self.part(&function.body, &arguments, depth + 1)?;
                let defined: Vec<&str> = defined.iter().map(String::as_str).collect();
                part.defined = all(&[&part.defined, &all(&defined)]);
                Ok(part)
            }
        }
    }

    fn either(
        &mut self,
        condition: &Truth,
        then: &Part,
        otherwise: &Part,
    ) -> Result<Part, Refused> {
        let choose = |a: &str, b: &str| {
            if a == b {
                a.to_owned()
            } else {
                format!("(ite {} {a} {b})", condition.yes)
            }
        };
        let shape = match (&then.shape, &otherwise.shape) {
            (Shape::Nothing, other) | (other, Shape::Nothing) => other.clone(),
            (Shape::Scalar(a, left), Shape::Scalar(b, right)) if a == b => {
                Shape::Scalar(*a, self.named(a.name(), choose(left, right)))
            }
            _ => return Err(Refused("alternatives of different shapes".to_owned())),
        };
        let defined = any(&[
            &all(&[&condition.yes, &then.defined]),
            &all(&[&condition.no, &otherwise.defined]),
        ]);
        Ok(Part {
            shape,
            defined: self.named("Bool", defined),
            void: choose(&then.void, &otherwise.void),
        })
    }

    /// Whether two values are equal, both having one.
    fn equal(&mut self, left: &Part, right: &Part) -> String {
        let same = match (&left.shape, &right.shape) {
            (Shape::Scalar(a, x), Shape::Scalar(b, y)) => match (a, b) {
                (Sort::Int, Sort::Real) => format!("(= (to_real {x}) {y})"),
                (Sort::Real, Sort::Int) => format!("(= {x} (to_real {y}))"),
                _ if a == b => format!("(= {x} {y})"),
                _ => no(),
            },
            (Shape::Items(a), Shape::Items(b)) | (Shape::Fields(_, a), Shape::Fields(_, b))
                if a.len() == b.len() =>
            {
                let parts: Vec<String> = a.iter().zip(b).map(|(x, y)| self.equal(x, y)).collect();
                let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
                all(&parts)
            }
            _ => no(),
        };
        let both_set = all(&[&not(&left.void), &not(&right.void), &same]);
        let both_void = all(&[&left.void, &right.void]);
        let equal = any(&[&both_void, &both_set]);
        self.named("Bool", equal)
    }

    fn unary(&mut self, op: UnaryOp, inner: &Part) -> Result<Part, Refused> {
        let exists = all(&[&inner.defined, &not(&inner.void)]);
        let part = |shape, defined| {
            Ok(Part {
                shape,
                defined,
                void: no(),
            })
        };
        match (op, &inner.shape) {
            (UnaryOp::Neg, Shape::Scalar(Sort::Int, x)) => {
                let text = format!("(- {x})");
                Ok(self.bounded(text, exists))
            }
            (UnaryOp::Neg, Shape::Scalar(Sort::Real, x)) => {
                part(Shape::Scalar(Sort::Real, format!("(- {x})")), exists)
            }
            (UnaryOp::Abs, Shape::Scalar(Sort::Int, x)) => {
                let text = format!("(ite (>= {x} 0) {x} (- {x}))");
                Ok(self.bounded(text, exists))
            }
            (UnaryOp::Abs, Shape::Scalar(Sort::Real, x)) => {
                let text = format!("(ite (>= {x} 0.0) {x} (- {x}))");
                part(Shape::Scalar(Sort::Real, text), exists)
            }
            (UnaryOp::Length, Shape::Scalar(Sort::Str, x)) => {
                part(Shape::Scalar(Sort::Int, format!("(str.len {x})")), exists)
            }
            (UnaryOp::Length, Shape::Items(items)) => {
                part(Shape::Scalar(Sort::Int, items.len().to_string()), exists)
            }
            (UnaryOp::Last, Shape::Items(items)) => match items.last() {
                Some(last) => Ok(Part {
                    defined: all(&[&last.defined, &exists]),
                    ..last.clone()
                }),
                None => Ok(fails()),
            },
            _ => Ok(fails()),
        }
    }

    /// An integer that exists only within 64 bits.
    fn bounded(&mut self, text: String, exists: String) -> Part {
        let name = self.named("Int", text);
        let (min, max) = (integer(i128::from(i64::MIN)), integer(i128::from(i64::MAX)));
        let fits = format!("(<= {min} {name} {max})");
        let defined = all(&[&exists, &fits]);
        Part {
            shape: Shape::Scalar(Sort::Int, name),
            defined: self.named("Bool", defined),
            void: no(),
        }
    }

    fn binary(&mut self, op: BinaryOp, left: &Part, right: &Part) -> Result<Part, Refused> {
        let defined = all(&[&left.defined, &right.defined]);
        if matches!(op, BinaryOp::Eq | BinaryOp::Ne) {
            let equal = self.equal(left, right);
            let text = if op == BinaryOp::Eq {
                equal
            } else {
                not(&equal)
            };
            return Ok(Part {
                shape: Shape::Scalar(Sort::Bool, text),
                defined,
                void: no(),
            });
        }
        let exists = all(&[&defined, &not(&left.void), &not(&right.void)]);
        let exists = self.named("Bool", exists);
        if let (BinaryOp::Index, Shape::Items(items), Shape::Scalar(Sort::Int, index)) =
            (op, &left.shape, &right.shape)
        {
            return self.index(items, index, exists);
        }
        if let (BinaryOp::Add, Shape::Items(a), Shape::Items(b)) = (op, &left.shape, &right.shape) {
            return Ok(Part {
                shape: Shape::Items(a.iter().chain(b).cloned().collect()),
                defined: exists,
                void: no(),
            });
        }
        let (Shape::Scalar(a, x), Shape::Scalar(b, y)) = (&left.shape, &right.shape) else {
            return Ok(fails());
        };
        let (sort, x, y) = match (a, b) {
            (Sort::Int, Sort::Real) => (Sort::Real, format!("(to_real {x})"), y.clone()),
            (Sort::Real, Sort::Int) => (Sort::Real, x.clone(), format!("(to_real {y})")),
            _ if a == b => (*a, x.clone(), y.clone()),
            _ => return Ok(fails()),
        };
        let scalar = |sort: Sort, text: String| Part {
            shape: Shape::Scalar(sort, text),
            defined: exists.clone(),
            void: no(),
        };
        let symbol = match op {
            BinaryOp::Lt => "<",
            BinaryOp::Le | BinaryOp::Min => "<=",
            BinaryOp::Gt => ">",
            BinaryOp::Ge | BinaryOp::Max => ">=",
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            _ => "*",
        };
        Ok(match (op, sort) {
            (
                BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge,
                Sort::Int | Sort::Real | Sort::Member(_),
            ) => scalar(Sort::Bool, format!("({symbol} {x} {y})")),
            (BinaryOp::Lt | BinaryOp::Le, Sort::Str) => {
                scalar(Sort::Bool, format!("(str.{symbol} {x} {y})"))
            }
            (BinaryOp::Gt, Sort::Str) => scalar(Sort::Bool, format!("(str.< {y} {x})")),
            (BinaryOp::Ge, Sort::Str) => scalar(Sort::Bool, format!("(str.<= {y} {x})")),
            (BinaryOp::Add, Sort::Str) => scalar(sort, format!("(str.++ {x} {y})")),
            (BinaryOp::Min | BinaryOp::Max, Sort::Int | Sort::Real | Sort::Member(_)) => {
                let text = format!("(ite ({symbol} {x} {y}) {x} {y})");
                scalar(sort, self.named(sort.name(), text))
            }
            (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, Sort::Int) => {
                self.bounded(format!("({symbol} {x} {y})"), exists)
            }
            (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, Sort::Real) => {
                let text = format!("({symbol} {x} {y})");
                scalar(sort, self.named("Real", text))
            }
            (BinaryOp::Div | BinaryOp::Rem, Sort::Int) => self.division(op, &x, &y, &exists),
            (BinaryOp::Div, Sort::Real) => {
                self.rounds = true;
                Part {
                    shape: Shape::Scalar(Sort::Real, format!("(/ {x} {y})")),
                    defined: all(&[&exists, &format!("(not (= {y} 0.0))")]),
                    void: no(),
                }
            }
            (BinaryOp::Rem, Sort::Real) | (BinaryOp::Min | BinaryOp::Max, Sort::Str) => {
                return Err(Refused("an operation on decimals or strings".to_owned()));
            }
            _ => fails(),
        })
    }

    /// Division truncates; `div` rounds so that the remainder is not negative, which is the same for
    /// dividends that are not.
    fn division(&mut self, op: BinaryOp, x: &str, y: &str, exists: &str) -> Part {
        let quotient = format!("(ite (>= {x} 0) (div {x} {y}) (- (div (- {x}) {y})))");
        let quotient = self.named("Int", quotient);
        let nonzero = format!("(not (= {y} 0))");
        let (text, defined) = if op == BinaryOp::Div {
            // The smallest integer by -1 has no quotient in 64 bits; its remainder is 0.
            let least = integer(i128::from(i64::MIN));
            let overflow = format!("(and (= {x} {least}) (= {y} (- 1)))");
            (quotient, all(&[exists, &nonzero, &not(&overflow)]))
        } else {
            let rest = format!("(- {x} (* {y} {quotient}))");
            (rest, all(&[exists, &nonzero]))
        };
        Part {
            shape: Shape::Scalar(Sort::Int, self.named("Int", text)),
            defined: self.named("Bool", defined),
            void: no(),
        }
    }

    fn index(&mut self, items: &[Part], index: &str, exists: String) -> Result<Part, Refused> {
        let Some((last, before)) = items.split_last() else {
            return Ok(fails());
        };
        let mut chosen = last.clone();
        for (position, item) in before.iter().enumerate().rev() {
            let here = format!("(= {index} {position})");
            let condition = Truth {
                no: not(&here),
                yes: here,
            };
            chosen = self.either(&condition, item, &chosen)?;
        }
        let inside = format!("(and (<= 0 {index}) (< {index} {}))", items.len());
        // The whole array has been evaluated, all its items with it.
        chosen.defined = all(&[&exists, &inside, &chosen.defined]);
        Ok(chosen)
    }
}

fn fails() -> Part {
    Part {
        shape: Shape::Nothing,
        defined: no(),
        void: no(),
    }
}
