//! Expressions, by the strength with which their operators bind.

use super::{DEPTH_LIMIT, Parsed, Parser};
use crate::diagnostic::{Problem, Span};
use crate::syntax::lexer::Token;
use crate::syntax::tree::{Expr, Kind, Operator};

impl Parser<'_> {
    /// A name with `.` and `[ ]`.
    pub(super) fn path(&mut self) -> Parsed<Expr> {
        let (name, span) = self.name("a name")?;
        let base = if name == "self" {
            Kind::Own
        } else {
            Kind::Name(name)
        };
        self.postfix(make(base, span))
    }

    fn postfix(&mut self, mut expr: Expr) -> Parsed<Expr> {
        let mut chain = Chain(self.depth);
        loop {
            chain.link(self.span())?;
            if self.sign(".") {
                let start = expr.span;
                let field = match self.peek().clone() {
                    Token::Number(number) => {
                        self.bump();
                        number.to_string()
                    }
                    _ => self.name("a name")?.0,
                };
                expr = make(Kind::Dot(expr, field), start.to(self.last_span()));
            } else if self.sign("[") {
                let index = self.expr()?;
                if self.at_sign(":") {
                    return Err(Problem::error(
                        self.span(),
                        "selecting bits of a word is not supported",
                    ));
                }
                self.expect("]")?;
                let span = expr.span.to(self.last_span());
                expr = make(Kind::Index(expr, index), span);
            } else {
                return Ok(expr);
            }
        }
    }

    pub fn expr(&mut self) -> Parsed<Expr> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return Err(too_deep(self.span()));
        }
        let result = self.implication();
        self.depth -= 1;
        result
    }

    fn implication(&mut self) -> Parsed<Expr> {
        let left = self.equivalence()?;
        if self.sign("->") {
            // To the right: a -> b -> c is a -> (b -> c).
            let right = self.expr_nested(Self::implication)?;
            let span = left.span.to(right.span);
            return Ok(make(Kind::Binary(Operator::Implies, left, right), span));
        }
        Ok(left)
    }

    fn expr_nested(&mut self, parse: fn(&mut Self) -> Parsed<Expr>) -> Parsed<Expr> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return Err(too_deep(self.span()));
        }
        let result = parse(self);
        self.depth -= 1;
        result
    }

    fn equivalence(&mut self) -> Parsed<Expr> {
        let mut left = self.conditional()?;
        let mut chain = Chain(self.depth);
        while self.sign("<->") {
            chain.link(self.span())?;
            let right = self.conditional()?;
            let span = left.span.to(right.span);
            left = make(Kind::Binary(Operator::Iff, left, right), span);
        }
        Ok(left)
    }

    fn conditional(&mut self) -> Parsed<Expr> {
        let condition = self.disjunction()?;
        if self.sign("?") {
            let then = self.expr()?;
            self.expect(":")?;
            let otherwise = self.expr_nested(Self::conditional)?;
            let span = condition.span.to(otherwise.span);
            return Ok(make(Kind::Conditional(condition, then, otherwise), span));
        }
        Ok(condition)
    }

    fn disjunction(&mut self) -> Parsed<Expr> {
        let mut left = self.conjunction()?;
        let mut chain = Chain(self.depth);
        loop {
            chain.link(self.span())?;
            if self.at_sign("|") || self.at_sign("||") {
                let mut parts = vec![left];
                while self.sign("|") || self.sign("||") {
                    parts.push(self.conjunction()?);
                }
                let span = parts[0].span.to(parts[parts.len() - 1].span);
                left = make(Kind::Or(parts), span);
            } else if self.at_word("xor") || self.at_word("xnor") {
                let operator = if self.at_word("xor") {
                    Operator::Xor
                } else {
                    Operator::Xnor
                };
                self.bump();
                let right = self.conjunction()?;
                let span = left.span.to(right.span);
                left = make(Kind::Binary(operator, left, right), span);
            } else {
                return Ok(left);
            }
        }
    }

    fn conjunction(&mut self) -> Parsed<Expr> {
        let first = self.binary(RELATIONAL)?;
        if !(self.at_sign("&") || self.at_sign("&&")) {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.sign("&") || self.sign("&&") {
            parts.push(self.binary(RELATIONAL)?);
        }
        let span = parts[0].span.to(parts[parts.len() - 1].span);
        Ok(make(Kind::And(parts), span))
    }

    /// Left-associative operators at and above a level.
    pub(super) fn binary(&mut self, level: usize) -> Parsed<Expr> {
        if level == LEVELS.len() {
            return self.unary();
        }
        let mut left = self.binary(level + 1)?;
        let mut chain = Chain(self.depth);
        if level == UNION && self.sign("..") {
            let right = self.binary(level + 1)?;
            let span = left.span.to(right.span);
            left = make(Kind::Range(left, right), span);
        }
        loop {
            let operator = LEVELS[level].iter().find(|(text, _)| match self.peek() {
                Token::Sign(sign) => sign == text,
                Token::Name(name) => name == text,
                _ => false,
            });
            let Some((_, operator)) = operator else {
                return Ok(left);
            };
            chain.link(self.span())?;
            self.bump();
            let mut right = self.binary(level + 1)?;
            if level == UNION && self.sign("..") {
                let high = self.binary(level + 1)?;
                let span = right.span.to(high.span);
                right = make(Kind::Range(right, high), span);
            }
            let span = left.span.to(right.span);
            left = make(Kind::Binary(*operator, left, right), span);
        }
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let start = self.span();
        if self.sign("!") {
            let inner = self.expr_nested(Self::unary)?;
            let span = start.to(inner.span);
            return Ok(make(Kind::Not(inner), span));
        }
        if self.sign("-") {
            let inner = self.expr_nested(Self::unary)?;
            let span = start.to(inner.span);
            if let Kind::Number(number) = *inner.kind {
                return Ok(make(Kind::Number(-number), span));
            }
            return Ok(make(Kind::Negate(inner), span));
        }
        let primary = self.primary()?;
        self.postfix(primary)
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let start = self.span();
        match self.peek().clone() {
            Token::Number(number) => {
                self.bump();
                Ok(make(Kind::Number(number), start))
            }
            Token::Sign("(") => {
                self.bump();
                let inner = self.expr()?;
                self.expect(")")?;
                Ok(Expr {
                    kind: inner.kind,
                    span: start.to(self.last_span()),
                })
            }
            Token::Sign("{") => {
                self.bump();
                let mut parts = vec![self.expr()?];
                while self.sign(",") {
                    parts.push(self.expr()?);
                }
                self.expect("}")?;
                Ok(make(Kind::Set(parts), start.to(self.last_span())))
            }
            Token::Name(name) => self.named(&name, start),
            _ => Err(self.unexpected("an expression")),
        }
    }

    fn named(&mut self, name: &str, start: Span) -> Parsed<Expr> {
        let call = matches!(self.peek_second(), Token::Sign("("));
        match name {
            "TRUE" | "FALSE" => {
                self.bump();
                Ok(make(Kind::Bool(name == "TRUE"), start))
            }
            "self" => {
                self.bump();
                Ok(make(Kind::Own, start))
            }
            "case" => {
                self.bump();
                let mut branches = Vec::new();
                while !self.word("esac") {
                    let condition = self.expr()?;
                    self.expect(":")?;
                    let value = self.expr()?;
                    self.expect(";")?;
                    branches.push((condition, value));
                }
                let span = start.to(self.last_span());
                if branches.is_empty() {
                    return Err(Problem::error(span, "a `case` needs at least one branch"));
                }
                Ok(make(Kind::Case(branches), span))
            }
            "next" if call => {
                self.bump();
                self.bump();
                let inner = self.expr()?;
                self.expect(")")?;
                Ok(make(Kind::Next(inner), start.to(self.last_span())))
            }
            "count" | "bool" | "toint" | "abs" | "max" | "min" if call => {
                self.bump();
                self.bump();
                let mut arguments = vec![self.expr()?];
                while self.sign(",") {
                    arguments.push(self.expr()?);
                }
                self.expect(")")?;
                Ok(make(
                    Kind::Call(name.to_owned(), arguments),
                    start.to(self.last_span()),
                ))
            }
            "word1" | "extend" | "resize" | "signed" | "unsigned" | "swconst" | "uwconst"
            | "READ" | "WRITE" | "sizeof" | "typeof" | "floor"
                if call =>
            {
                Err(Problem::error(start, format!("`{name}` is not supported")))
            }
            "AG" | "EF" | "AF" | "EG" | "AX" | "EX" | "G" | "F" | "X" | "ABF" | "EBF" | "ABG"
            | "EBG"
                if matches!(self.peek_second(), Token::Name(_) | Token::Sign("(" | "!")) =>
            {
                Err(Problem::error(
                    start,
                    format!("the temporal operator `{name}` is allowed only in a specification"),
                ))
            }
            "esac" | "of" | "mod" | "union" | "in" | "xor" | "xnor" => {
                Err(self.unexpected("an expression"))
            }
            _ => {
                let (name, span) = self.name("an expression")?;
                Ok(make(Kind::Name(name), span))
            }
        }
    }
}

fn make(kind: Kind, span: Span) -> Expr {
    Expr {
        kind: Box::new(kind),
        span,
    }
}

pub(crate) fn too_deep(span: Span) -> Problem {
    Problem::error(
        span,
        format!("expressions nested deeper than {DEPTH_LIMIT} are refused"),
    )
    .hint("name parts of it under DEFINE, or join terms with `&` and `|`, which may be many")
}

/// Counts the links of a chain that associates to the left, which nests as brackets do.
struct Chain(usize);

impl Chain {
    fn link(&mut self, span: Span) -> Parsed<()> {
        self.0 += 1;
        if self.0 > DEPTH_LIMIT {
            return Err(too_deep(span));
        }
        Ok(())
    }
}

const RELATIONAL: usize = 0;
const UNION: usize = 2;
pub(super) const ADDITIVE: usize = 3;

/// Binary operators from weak to strong; connectives above these have their own functions.
const LEVELS: [&[(&str, Operator)]; 5] = [
    &[
        ("=", Operator::Equal),
        ("!=", Operator::Unequal),
        ("<", Operator::Less),
        (">", Operator::Greater),
        ("<=", Operator::LessEqual),
        (">=", Operator::GreaterEqual),
    ],
    &[("in", Operator::In)],
    &[("union", Operator::Union)],
    &[("+", Operator::Add), ("-", Operator::Subtract)],
    &[
        ("*", Operator::Multiply),
        ("/", Operator::Divide),
        ("mod", Operator::Modulo),
    ],
];
