//! The tree that the parser builds: modules with their declarations, as written.

use crate::diagnostic::Span;

#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub kind: Box<Kind>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Bool(bool),
    Number(i64),
    Name(String),
    Own,
    Dot(Expr, String),
    Index(Expr, Expr),
    Not(Expr),
    Negate(Expr),
    /// Chains are kept flat, so that a conjunction of thousands does not nest.
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Binary(Operator, Expr, Expr),
    Case(Vec<(Expr, Expr)>),
    Conditional(Expr, Expr, Expr),
    Set(Vec<Expr>),
    Range(Expr, Expr),
    Next(Expr),
    Call(String, Vec<Expr>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operator {
    Xor,
    Xnor,
    Iff,
    Implies,
    Equal,
    Unequal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Union,
    In,
}

impl Operator {
    pub fn sign(self) -> &'static str {
        match self {
            Self::Xor => "xor",
            Self::Xnor => "xnor",
            Self::Iff => "<->",
            Self::Implies => "->",
            Self::Equal => "=",
            Self::Unequal => "!=",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Modulo => "mod",
            Self::Union => "union",
            Self::In => "in",
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum TypeKind {
    Boolean,
    Range(Expr, Expr),
    Enum(Vec<Expr>),
    Array(Expr, Expr, Box<Type>),
    Instance {
        module: String,
        arguments: Vec<Expr>,
        process: bool,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct Type {
    pub kind: TypeKind,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    Var,
    Input,
    Frozen,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    Init,
    Next,
    Always,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Constraint {
    Init,
    Trans,
    Invar,
}

#[derive(Clone, Debug)]
pub(crate) enum Item {
    Variable {
        section: Section,
        name: Expr,
        type_: Type,
    },
    Define {
        name: Expr,
        body: Expr,
    },
    Assign {
        when: When,
        target: Expr,
        value: Expr,
    },
    Constraint {
        kind: Constraint,
        body: Expr,
    },
    Fairness {
        bodies: Vec<Expr>,
    },
    Constants(Vec<(String, Span)>),
    Inherit(String, Span),
    Invarspec {
        name: Option<String>,
        body: Expr,
    },
    /// A temporal specification, kept as text.
    Specification {
        keyword: String,
        text: String,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct Module {
    pub name: String,
    pub parameters: Vec<String>,
    pub items: Vec<Item>,
    pub span: Span,
}
