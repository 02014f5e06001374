//! Expressions of guards and updates, over variables of the model and parameters of one label.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use crate::eval::Env;
use crate::ids::{FunctionId, StructId, VarId};
use crate::sts::Function;
use crate::value::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    Not,
    Neg,
    Abs,
    /// Number of items of an array, or of characters of a string.
    Length,
    /// The last item of an array.
    Last,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// Short-circuits, as does `Or`: an error on the right is not seen when the left decides.
    And,
    Or,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// Numbers add; strings and arrays are joined.
    Add,
    Sub,
    Mul,
    /// Integer division truncates towards zero.
    Div,
    /// The remainder has the sign of the dividend.
    Rem,
    Min,
    Max,
    /// `xs[i]`, counted from zero; a negative index is an error.
    Index,
}

impl BinaryOp {
    /// How it is written between its operands; `None` for the ones written as functions or
    /// brackets.
    pub fn symbol(self) -> Option<&'static str> {
        Some(match self {
            BinaryOp::And => "&&",
            BinaryOp::Or => "||",
            BinaryOp::Eq => "==",
            BinaryOp::Ne => "!=",
            BinaryOp::Lt => "<",
            BinaryOp::Le => "<=",
            BinaryOp::Gt => ">",
            BinaryOp::Ge => ">=",
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Rem => "%",
            BinaryOp::Min | BinaryOp::Max | BinaryOp::Index => return None,
        })
    }
}

/// A regular expression of `=~`, compiled once. A string matches when a part of it matches, as in
/// the original language; anchors are written out.
#[derive(Clone)]
pub struct Pattern {
    text: Arc<str>,
    regex: regex::Regex,
}

impl Pattern {
    pub fn new(text: &str) -> Result<Pattern, regex::Error> {
        Ok(Pattern {
            text: Arc::from(text),
            regex: regex::Regex::new(text)?,
        })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn matches(&self, subject: &str) -> bool {
        self.regex.is_match(subject)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        self.text == other.text
    }
}

impl Eq for Pattern {}

impl std::hash::Hash for Pattern {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/{}/", self.text)
    }
}

/// An expression. Front ends check types; evaluation checks them again and answers with an error,
/// so that a wrong expression can never be taken for a true one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    Const(Value),
    Var(VarId),
    /// A parameter of the switch's label, by position.
    Param(u32),
    /// A parameter of the function whose body this is, by position.
    Local(u32),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<[Expr; 2]>),
    /// `if c then a else b`.
    If(Box<[Expr; 3]>),
    /// `x in [a, b, c]`.
    InSet(Box<Expr>, Vec<Expr>),
    /// `x in low..high`, both included: subject, low, high.
    InRange(Box<[Expr; 3]>),
    Array(Vec<Expr>),
    /// A structure by its fields, in their order.
    Struct(StructId, Vec<Expr>),
    /// `r.f`, by position of the field.
    Field(Box<Expr>, u32),
    /// `s =~ /pattern/`.
    Matches(Box<Expr>, Pattern),
    /// A function of the model; evaluated on known values only.
    Call(FunctionId, Vec<Expr>),
}

impl Expr {
    pub const TRUE: Expr = Expr::Const(Value::Bool(true));
    pub const FALSE: Expr = Expr::Const(Value::Bool(false));

    pub fn int(value: i64) -> Expr {
        Expr::Const(Value::Int(value))
    }

    pub fn unary(op: UnaryOp, operand: Expr) -> Expr {
        Expr::Unary(op, Box::new(operand))
    }

    pub fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
        Expr::Binary(op, Box::new([left, right]))
    }

    /// `left && right`, leaving out a constant `true` on either side.
    pub fn and(left: Expr, right: Expr) -> Expr {
        if left == Expr::TRUE {
            right
        } else if right == Expr::TRUE {
            left
        } else {
            Expr::binary(BinaryOp::And, left, right)
        }
    }

    /// All of the conditions, in their order, as a tree of logarithmic depth.
    pub fn all(conditions: Vec<Expr>) -> Expr {
        fn balanced(mut conditions: Vec<Expr>) -> Expr {
            if conditions.len() <= 2 {
                let right = conditions.pop().unwrap_or(Expr::TRUE);
                let left = conditions.pop().unwrap_or(Expr::TRUE);
                return Expr::and(left, right);
            }
            let right = conditions.split_off(conditions.len().div_ceil(2));
            Expr::and(balanced(conditions), balanced(right))
        }
        balanced(
            conditions
                .into_iter()
                .filter(|c| *c != Expr::TRUE)
                .collect(),
        )
    }

    /// The direct sub-expressions, left to right.
    pub fn children(&self) -> Vec<&Expr> {
        match self {
            Expr::Const(_) | Expr::Var(_) | Expr::Param(_) | Expr::Local(_) => Vec::new(),
            Expr::Unary(_, inner) | Expr::Field(inner, _) | Expr::Matches(inner, _) => vec![inner],
            Expr::Binary(_, both) => both.iter().collect(),
            Expr::If(all) | Expr::InRange(all) => all.iter().collect(),
            Expr::InSet(subject, items) => std::iter::once(subject.as_ref())
                .chain(items.iter())
                .collect(),
            Expr::Array(items) | Expr::Struct(_, items) | Expr::Call(_, items) => {
                items.iter().collect()
            }
        }
    }

    /// This expression with `change` applied to its direct sub-expressions.
    pub fn map_children(&self, mut change: impl FnMut(&Expr) -> Expr) -> Expr {
        match self {
            Expr::Const(_) | Expr::Var(_) | Expr::Param(_) | Expr::Local(_) => self.clone(),
            Expr::Unary(op, inner) => Expr::Unary(*op, Box::new(change(inner))),
            Expr::Field(inner, field) => Expr::Field(Box::new(change(inner)), *field),
            Expr::Matches(inner, pattern) => {
                Expr::Matches(Box::new(change(inner)), pattern.clone())
            }
            Expr::Binary(op, both) => {
                let [left, right] = &**both;
                Expr::Binary(*op, Box::new([change(left), change(right)]))
            }
            Expr::If(all) => {
                let [condition, then, otherwise] = &**all;
                Expr::If(Box::new([
                    change(condition),
                    change(then),
                    change(otherwise),
                ]))
            }
            Expr::InRange(all) => {
                let [subject, low, high] = &**all;
                Expr::InRange(Box::new([change(subject), change(low), change(high)]))
            }
            Expr::InSet(subject, items) => Expr::InSet(
                Box::new(change(subject)),
                items.iter().map(change).collect(),
            ),
            Expr::Array(items) => Expr::Array(items.iter().map(change).collect()),
            Expr::Struct(id, fields) => Expr::Struct(*id, fields.iter().map(change).collect()),
            Expr::Call(function, items) => {
                Expr::Call(*function, items.iter().map(change).collect())
            }
        }
    }

    /// What `&&` joins, from left to right.
    pub fn conjuncts(&self) -> Vec<&Expr> {
        let (mut found, mut open) = (Vec::new(), vec![self]);
        while let Some(part) = open.pop() {
            match part {
                Expr::Binary(BinaryOp::And, both) => open.extend(both.iter().rev()),
                _ => found.push(part),
            }
        }
        found
    }

    /// The expression with every part for which `replace` has something else replaced by that, outermost first.
    pub fn substitute(&self, replace: &dyn Fn(&Expr) -> Option<Expr>) -> Expr {
        let replaced = replace(self);
        replaced.unwrap_or_else(|| self.map_children(|child| child.substitute(replace)))
    }

    /// The expression with variables replaced by their values.
    pub fn with_values(&self, valuation: &[Value]) -> Expr {
        self.substitute(&|part| match part {
            Expr::Var(variable) => {
                let value = valuation.get(variable.index()).cloned();
                Some(Expr::Const(value.unwrap_or_default()))
            }
            _ => None,
        })
    }

    /// The body of a function with these arguments for its parameters.
    pub fn with_arguments(&self, arguments: &[Expr]) -> Expr {
        self.substitute(&|part| match part {
            Expr::Local(position) => {
                let argument = arguments.get(*position as usize).cloned();
                Some(argument.unwrap_or(Expr::Const(Value::Void)))
            }
            _ => None,
        })
    }

    /// The expression with its outermost operation computed where constants decide it; its operands are simple
    /// already. An expression without a value stays as it is, so that it still makes a guard false.
    pub fn simplified(self, functions: &[Function]) -> Expr {
        match &self {
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), both) => {
                let decides = Value::Bool(*op == BinaryOp::Or);
                return match (&both[0], &both[1]) {
                    (Expr::Const(left), _) if *left == decides => Expr::Const(decides),
                    (Expr::Const(Value::Bool(_)), right) => right.clone(),
                    (left, Expr::Const(right @ Value::Bool(_))) if *right != decides => {
                        left.clone()
                    }
                    _ => self,
                };
            }
            Expr::If(all) => {
                if let Expr::Const(Value::Bool(condition)) = &all[0] {
                    return all[if *condition { 1 } else { 2 }].clone();
                }
            }
            _ => {}
        }
        let operands = self.children();
        if operands.is_empty() || !operands.iter().all(|e| matches!(e, Expr::Const(_))) {
            return self;
        }
        let env = Env {
            variables: &[],
            parameters: &[],
            functions,
        };
        self.eval(env).map_or(self, Expr::Const)
    }

    /// Calls `visit` on this expression and on everything in it, outermost first.
    pub fn walk<'a>(&'a self, visit: &mut impl FnMut(&'a Expr)) {
        visit(self);
        for child in self.children() {
            child.walk(visit);
        }
    }

    /// The positions of the label's parameters that occur.
    pub fn params(&self) -> BTreeSet<u32> {
        let mut found = BTreeSet::new();
        self.walk(&mut |e| {
            if let Expr::Param(position) = e {
                found.insert(*position);
            }
        });
        found
    }

    /// The variables that occur.
    pub fn vars(&self) -> BTreeSet<VarId> {
        let mut found = BTreeSet::new();
        self.walk(&mut |e| {
            if let Expr::Var(variable) = e {
                found.insert(*variable);
            }
        });
        found
    }

    pub fn mentions_params(&self) -> bool {
        match self {
            Expr::Param(_) => true,
            _ => self.children().into_iter().any(Expr::mentions_params),
        }
    }
}
