//! What values an expression can have: booleans, symbols, integers between two bounds.

use crate::expr::{ExprId, Exprs, Node};
use crate::model::Var;
use crate::syntax::tree::Operator;
use crate::value::{Domain, Value};

/// Integers beyond this magnitude are refused, so that no sum of two can overflow.
pub(crate) const INTEGER_LIMIT: i64 = 1 << 60;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Type {
    pub boolean: bool,
    pub symbol: bool,
    pub integer: Option<(i64, i64)>,
    /// It may have several values at once.
    pub choice: bool,
}

impl Type {
    pub const BOOLEAN: Self = Self {
        boolean: true,
        symbol: false,
        integer: None,
        choice: false,
    };

    fn integer(low: i64, high: i64) -> Self {
        Self {
            integer: Some((low, high)),
            ..Self::default()
        }
    }

    pub fn is_boolean(self) -> bool {
        self.boolean && !self.symbol && self.integer.is_none()
    }

    pub fn is_integer(self) -> bool {
        self.integer.is_some() && !self.boolean && !self.symbol
    }

    fn join(self, other: Self) -> Self {
        Self {
            boolean: self.boolean || other.boolean,
            symbol: self.symbol || other.symbol,
            integer: match (self.integer, other.integer) {
                (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
                (some, None) | (None, some) => some,
            },
            choice: self.choice || other.choice,
        }
    }

    pub fn words(self) -> &'static str {
        match (self.boolean, self.symbol, self.integer.is_some()) {
            (true, false, false) => "a boolean",
            (false, true, false) => "a symbolic constant",
            (false, false, true) => "an integer",
            _ => "a mixture of types",
        }
    }
}

fn domain_type(domain: &Domain) -> Type {
    match domain {
        Domain::Bool => Type::BOOLEAN,
        Domain::Range(low, high) => Type::integer(*low, *high),
        Domain::Enum(values) => values
            .iter()
            .fold(Type::default(), |all, value| all.join(value_type(*value))),
    }
}

fn value_type(value: Value) -> Type {
    match value {
        Value::Bool(_) => Type::BOOLEAN,
        Value::Int(number) => Type::integer(number, number),
        Value::Symbol(_) => Type {
            symbol: true,
            ..Type::default()
        },
    }
}

/// Types of expressions, computed once for each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Types {
    known: Vec<Option<Type>>,
}

impl Types {
    pub fn of(&mut self, exprs: &Exprs, vars: &[Var], id: ExprId) -> Type {
        let index = id.0 as usize;
        if let Some(Some(found)) = self.known.get(index) {
            return *found;
        }
        let result = self.infer(exprs, vars, id);
        if index >= self.known.len() {
            self.known.resize(exprs.len().max(index + 1), None);
        }
        self.known[index] = Some(result);
        result
    }

    fn infer(&mut self, exprs: &Exprs, vars: &[Var], id: ExprId) -> Type {
        let mut of = |id| self.of(exprs, vars, id);
        match exprs.node(id) {
            Node::Const(value) => value_type(*value),
            Node::Var(var) | Node::Next(var) => domain_type(&vars[var.index()].domain),
            Node::Not(inner) | Node::ToBool(inner) => Type {
                choice: of(*inner).choice,
                ..Type::BOOLEAN
            },
            Node::And(parts) | Node::Or(parts) => Type {
                choice: parts
                    .iter()
                    .fold(false, |choice, part| of(*part).choice | choice),
                ..Type::BOOLEAN
            },
            Node::Negate(inner) => {
                let inner = of(*inner);
                Type {
                    integer: inner.integer.map(|(low, high)| (-high, -low)),
                    choice: inner.choice,
                    ..Type::default()
                }
            }
            Node::ToInt(inner) => {
                let inner = of(*inner);
                let bit = inner.boolean.then_some((0, 1));
                Type {
                    choice: inner.choice,
                    ..Type {
                        integer: inner.integer,
                        ..Type::default()
                    }
                    .join(Type {
                        integer: bit,
                        ..Type::default()
                    })
                }
            }
            Node::Abs(inner) => {
                let inner = of(*inner);
                Type {
                    integer: inner.integer.map(|(low, high)| {
                        let least = if low <= 0 && high >= 0 {
                            0
                        } else {
                            low.abs().min(high.abs())
                        };
                        (least, low.abs().max(high.abs()))
                    }),
                    choice: inner.choice,
                    ..Type::default()
                }
            }
            Node::Count(parts) => {
                let choice = parts
                    .iter()
                    .fold(false, |choice, part| of(*part).choice | choice);
                Type {
                    choice,
                    ..Type::integer(0, parts.len() as i64)
                }
            }
            Node::Min(left, right) | Node::Max(left, right) => of(*left).join(of(*right)),
            Node::Set(parts) => {
                let joined = parts
                    .iter()
                    .fold(Type::default(), |all, part| all.join(of(*part)));
                Type {
                    choice: joined.choice || parts.len() > 1,
                    ..joined
                }
            }
            Node::Range(low, high) => Type {
                choice: true,
                ..of(*low).join(of(*high))
            },
            Node::Case(branches) => {
                branches
                    .iter()
                    .fold(Type::default(), |all, (condition, value)| {
                        let condition = of(*condition);
                        let mut joined = all.join(of(*value));
                        joined.choice |= condition.choice;
                        joined
                    })
            }
            Node::Binary(operator, left, right) => {
                let (left, right) = (of(*left), of(*right));
                binary_type(*operator, left, right)
            }
        }
    }
}

fn binary_type(operator: Operator, left: Type, right: Type) -> Type {
    let choice = left.choice || right.choice;
    let bounds = left.integer.zip(right.integer);
    let arithmetic = |integer: Option<(i64, i64)>| Type {
        integer,
        choice,
        ..Type::default()
    };
    match operator {
        Operator::Union => Type {
            choice: true,
            ..left.join(right)
        },
        // Membership asks for one of the values: the set on its right is not a choice any more.
        Operator::In => Type {
            choice: left.choice,
            ..Type::BOOLEAN
        },
        Operator::Add => {
            arithmetic(bounds.map(|((a, b), (c, d))| (a.saturating_add(c), b.saturating_add(d))))
        }
        Operator::Subtract => {
            arithmetic(bounds.map(|((a, b), (c, d))| (a.saturating_sub(d), b.saturating_sub(c))))
        }
        Operator::Multiply => arithmetic(bounds.map(|((a, b), (c, d))| {
            let corners = [
                a.saturating_mul(c),
                a.saturating_mul(d),
                b.saturating_mul(c),
                b.saturating_mul(d),
            ];
            (
                corners.into_iter().min().unwrap_or_default(),
                corners.into_iter().max().unwrap_or_default(),
            )
        })),
        Operator::Divide => arithmetic(bounds.map(|((a, b), _)| {
            let most = a.saturating_abs().max(b.saturating_abs());
            (-most, most)
        })),
        Operator::Modulo => arithmetic(bounds.map(|((a, b), (c, d))| {
            let most = (c.saturating_abs().max(d.saturating_abs()) - 1).max(0);
            let most_left = a.saturating_abs().max(b.saturating_abs());
            let most = most.min(most_left);
            (if a < 0 { -most } else { 0 }, if b > 0 { most } else { 0 })
        })),
        _ => Type {
            choice,
            ..Type::BOOLEAN
        },
    }
}
