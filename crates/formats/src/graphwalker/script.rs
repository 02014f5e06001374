//! The simple kind of JavaScript: expressions of numbers, truth values and texts, and assignments
//! to variables. What it does not know it names, with its column.

use std::str::FromStr as _;

use ioco_budget::{Budget, Resource};
use rust_decimal::Decimal;

use ioco_sts::{BinaryOp, UnaryOp, Value};

/// A part of an expression, and the column where it begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub column: usize,
    pub kind: Kind,
    /// Levels from here down to the deepest leaf, which has one.
    pub height: u64,
}

impl Node {
    fn new(column: usize, kind: Kind) -> Node {
        let of = |node: &Node| node.height;
        let below = match &kind {
            Kind::Const(_) | Kind::Name(_) => 0,
            Kind::Unary(_, inner) => inner.height,
            Kind::Binary(_, both) | Kind::Quotient(both) => both[0].height.max(both[1].height),
            Kind::If(all) => all.iter().map(of).max().unwrap_or(0),
        };
        Node {
            column,
            kind,
            height: below + 1,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    Const(Value),
    Name(String),
    Unary(UnaryOp, Box<Node>),
    Binary(BinaryOp, Box<[Node; 2]>),
    If(Box<[Node; 3]>),
    /// `Math.trunc(a / b)`: division as a model knows it.
    Quotient(Box<[Node; 2]>),
}

/// `name = value`.
#[derive(Clone, Debug, PartialEq)]
pub struct Assigned {
    pub column: usize,
    pub name: String,
    pub value: Node,
}

/// Why a script is not understood: the column, counted from one, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadScript {
    pub column: usize,
    pub message: String,
}

pub fn bad<T>(column: usize, message: impl Into<String>) -> Result<T, BadScript> {
    Err(BadScript {
        column,
        message: message.into(),
    })
}

/// A guard.
pub fn expression(text: &str, budget: &Budget) -> Result<Node, BadScript> {
    let mut parser = Parser::new(text, budget)?;
    let node = parser.expression()?;
    while parser.take(";") {}
    match parser.peek() {
        None => Ok(node),
        Some((column, token)) => bad(column, format!("{} is not understood", token.show())),
    }
}

/// An action: assignments with semicolons between them.
pub fn statements(text: &str, budget: &Budget) -> Result<Vec<Assigned>, BadScript> {
    let mut parser = Parser::new(text, budget)?;
    let mut found = Vec::new();
    while parser.peek().is_some() {
        if parser.take(";") {
            continue;
        }
        found.push(parser.assignment()?);
        if parser.peek().is_some() && !parser.take(";") {
            return parser.unexpected("`;`");
        }
    }
    Ok(found)
}

/// What is nested too deep would not fit on the stack of a walk.
pub fn limited(node: Node, budget: &Budget) -> Result<Node, BadScript> {
    match budget.check(Resource::Depth, node.height) {
        Ok(()) => Ok(node),
        Err(exhausted) => bad(node.column, exhausted.to_string()),
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Name(String),
    Value(Value),
    Sign(&'static str),
}

impl Token {
    fn show(&self) -> String {
        match self {
            Token::Name(name) => format!("`{name}`"),
            Token::Value(Value::Str(text)) => format!("{text:?}"),
            Token::Value(_) => "a number".to_owned(),
            Token::Sign(sign) => format!("`{sign}`"),
        }
    }
}

/// Longest first.
const SIGNS: [&str; 30] = [
    "===", "!==", "==", "!=", "<=", ">=", "&&", "||", "++", "--", "+=", "-=", "*=", "=>", "<", ">",
    "=", "!", "+", "-", "*", "/", "%", "(", ")", "?", ":", ";", ",", "{",
];

fn tokens(text: &str) -> Result<Vec<(usize, Token)>, BadScript> {
    let mut tokens = Vec::new();
    let mut rest = text;
    let mut column = 1;
    while let Some(first) = rest.chars().next() {
        let length = if first.is_whitespace() {
            first.len_utf8()
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if first.is_ascii_digit() {
            let end = rest
                .find(|c: char| !(c.is_ascii_alphanumeric() || c == '.'))
                .unwrap_or(rest.len());
            let number = &rest[..end];
            let value = match (number.parse::<i64>(), Decimal::from_str(number)) {
                (Ok(value), _) => Value::Int(value),
                (_, Ok(value)) => Value::Decimal(value),
                _ => {
                    return bad(
                        column,
                        format!("`{number}` is not a number that is understood"),
                    );
                }
            };
            tokens.push((column, Token::Value(value)));
            end
        } else if first == '\'' || first == '"' {
            let Some((value, length)) = quoted(rest, first) else {
                return bad(column, "the text does not end");
            };
            tokens.push((column, Token::Value(Value::str(&value))));
            length
        } else if is_name(first) {
            let end = rest
                .find(|c: char| !(is_name(c) || c.is_ascii_digit() || c == '.'))
                .unwrap_or(rest.len());
            tokens.push((column, Token::Name(rest[..end].to_owned())));
            end
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            tokens.push((column, Token::Sign(sign)));
            sign.len()
        } else {
            return bad(column, format!("`{first}` is not understood"));
        };
        column += rest[..length].chars().count();
        rest = &rest[length..];
    }
    Ok(tokens)
}

fn is_name(c: char) -> bool {
    c.is_alphabetic() || c == '_' || c == '$'
}

fn quoted(text: &str, quote: char) -> Option<(String, usize)> {
    let mut value = String::new();
    let mut characters = text.char_indices().skip(1);
    while let Some((position, c)) = characters.next() {
        match c {
            '\\' => match characters.next()?.1 {
                'n' => value.push('\n'),
                't' => value.push('\t'),
                other => value.push(other),
            },
            _ if c == quote => return Some((value, position + 1)),
            _ => value.push(c),
        }
    }
    None
}

struct Parser {
    tokens: Vec<(usize, Token)>,
    next: usize,
    depth: u64,
    end: usize,
    budget: Budget,
}

impl Parser {
    fn new(text: &str, budget: &Budget) -> Result<Parser, BadScript> {
        Ok(Parser {
            tokens: tokens(text)?,
            next: 0,
            depth: 0,
            end: text.chars().count() + 1,
            budget: *budget,
        })
    }

    fn peek(&self) -> Option<(usize, &Token)> {
        self.tokens.get(self.next).map(|(at, token)| (*at, token))
    }

    fn column(&self) -> usize {
        self.peek().map_or(self.end, |(column, _)| column)
    }

    fn take(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Some((_, Token::Sign(s))) if *s == sign);
        self.next += usize::from(found);
        found
    }

    fn take_any(&mut self, signs: &[(&str, BinaryOp)]) -> Option<BinaryOp> {
        let found = signs.iter().find(|(sign, _)| self.take(sign));
        found.map(|(_, op)| *op)
    }

    fn take_name(&mut self) -> Option<String> {
        match self.peek() {
            Some((_, Token::Name(name))) => {
                let name = name.clone();
                self.next += 1;
                Some(name)
            }
            _ => None,
        }
    }

    fn unexpected<T>(&self, wanted: &str) -> Result<T, BadScript> {
        let found = self.peek().map_or("nothing".to_owned(), |(_, t)| t.show());
        bad(self.column(), format!("{wanted} expected, {found} found"))
    }

    /// `x = e`, `x += e`, `x++`, `++x`, with or without `var`.
    fn assignment(&mut self) -> Result<Assigned, BadScript> {
        let column = self.column();
        let one = |name: &str, op| Assigned {
            column,
            name: name.to_owned(),
            value: binary(op, named(column, name), constant(column, Value::Int(1))),
        };
        for (sign, op) in [("++", BinaryOp::Add), ("--", BinaryOp::Sub)] {
            if self.take(sign) {
                let name = self.variable()?;
                return Ok(one(&name, op));
            }
        }
        let mut name = self.variable()?;
        if matches!(name.as_str(), "var" | "let" | "const") {
            name = self.variable()?;
        }
        for (sign, op) in [("++", BinaryOp::Add), ("--", BinaryOp::Sub)] {
            if self.take(sign) {
                return Ok(one(&name, op));
            }
        }
        let changed = [
            ("+=", BinaryOp::Add),
            ("-=", BinaryOp::Sub),
            ("*=", BinaryOp::Mul),
        ];
        let value = if self.take("=") {
            self.expression()?
        } else if let Some(op) = self.take_any(&changed) {
            let right = self.expression()?;
            binary(op, named(column, &name), right)
        } else {
            return self.unexpected("an assignment such as `x = 1`");
        };
        Ok(Assigned {
            column,
            name,
            value,
        })
    }

    fn variable(&mut self) -> Result<String, BadScript> {
        let column = self.column();
        match self.take_name() {
            Some(name) => known_name(column, name),
            None => self.unexpected("a variable"),
        }
    }

    fn deeper(&mut self) -> Result<(), BadScript> {
        self.depth += 1;
        match self.budget.check(Resource::Depth, self.depth) {
            Ok(()) => Ok(()),
            Err(exhausted) => bad(self.column(), exhausted.to_string()),
        }
    }

    /// `left op right`, where that is not too deep.
    fn join(&self, op: BinaryOp, left: Node, right: Node) -> Result<Node, BadScript> {
        limited(binary(op, left, right), &self.budget)
    }

    fn expression(&mut self) -> Result<Node, BadScript> {
        self.deeper()?;
        let condition = self.any_of()?;
        let node = if self.take("?") {
            let then = self.expression()?;
            if !self.take(":") {
                return self.unexpected("`:`");
            }
            let otherwise = self.expression()?;
            let column = condition.column;
            let node = Node::new(column, Kind::If(Box::new([condition, then, otherwise])));
            limited(node, &self.budget)?
        } else {
            condition
        };
        self.depth -= 1;
        Ok(node)
    }

    fn any_of(&mut self) -> Result<Node, BadScript> {
        let mut operands = vec![self.all_of()?];
        while self.take("||") {
            operands.push(self.all_of()?);
        }
        limited(balanced(BinaryOp::Or, operands), &self.budget)
    }

    fn all_of(&mut self) -> Result<Node, BadScript> {
        let mut operands = vec![self.comparison()?];
        while self.take("&&") {
            operands.push(self.comparison()?);
        }
        limited(balanced(BinaryOp::And, operands), &self.budget)
    }

    fn comparison(&mut self) -> Result<Node, BadScript> {
        const EQUALITIES: [(&str, BinaryOp); 4] = [
            ("===", BinaryOp::Eq),
            ("==", BinaryOp::Eq),
            ("!==", BinaryOp::Ne),
            ("!=", BinaryOp::Ne),
        ];
        const ORDERS: [(&str, BinaryOp); 4] = [
            ("<=", BinaryOp::Le),
            (">=", BinaryOp::Ge),
            ("<", BinaryOp::Lt),
            (">", BinaryOp::Gt),
        ];
        let mut node = self.sum()?;
        while let Some(op) = self.take_any(&ORDERS) {
            let right = self.sum()?;
            node = self.join(op, node, right)?;
        }
        while let Some(op) = self.take_any(&EQUALITIES) {
            let mut right = self.sum()?;
            while let Some(op) = self.take_any(&ORDERS) {
                let next = self.sum()?;
                right = self.join(op, right, next)?;
            }
            node = self.join(op, node, right)?;
        }
        Ok(node)
    }

    fn sum(&mut self) -> Result<Node, BadScript> {
        const SIGNS: [(&str, BinaryOp); 2] = [("+", BinaryOp::Add), ("-", BinaryOp::Sub)];
        let mut node = self.product()?;
        while let Some(op) = self.take_any(&SIGNS) {
            let right = self.product()?;
            node = self.join(op, node, right)?;
        }
        Ok(node)
    }

    fn product(&mut self) -> Result<Node, BadScript> {
        const SIGNS: [(&str, BinaryOp); 3] = [
            ("*", BinaryOp::Mul),
            ("/", BinaryOp::Div),
            ("%", BinaryOp::Rem),
        ];
        let mut node = self.prefix()?;
        while let Some(op) = self.take_any(&SIGNS) {
            let right = self.prefix()?;
            node = self.join(op, node, right)?;
        }
        Ok(node)
    }

    fn prefix(&mut self) -> Result<Node, BadScript> {
        let column = self.column();
        let op = if self.take("!") {
            UnaryOp::Not
        } else if self.take("-") {
            UnaryOp::Neg
        } else {
            return self.operand();
        };
        self.deeper()?;
        let operand = self.prefix()?;
        self.depth -= 1;
        limited(
            Node::new(column, Kind::Unary(op, Box::new(operand))),
            &self.budget,
        )
    }

    fn operand(&mut self) -> Result<Node, BadScript> {
        let column = self.column();
        if self.take("(") {
            let node = self.expression()?;
            if !self.take(")") {
                return self.unexpected("`)`");
            }
            return Ok(node);
        }
        if let Some((_, Token::Value(value))) = self.peek() {
            let value = value.clone();
            self.next += 1;
            return Ok(constant(column, value));
        }
        let Some(name) = self.take_name() else {
            return self.unexpected("a value");
        };
        match name.as_str() {
            "true" => Ok(constant(column, Value::Bool(true))),
            "false" => Ok(constant(column, Value::Bool(false))),
            "null" | "undefined" => Ok(constant(column, Value::Void)),
            _ if self.take("(") => self.call(column, &name),
            _ => Ok(named(column, &known_name(column, name)?)),
        }
    }

    fn call(&mut self, column: usize, name: &str) -> Result<Node, BadScript> {
        let mut arguments = Vec::new();
        while !self.take(")") {
            arguments.push(self.expression()?);
            let more = self.take(",");
            if !more && !matches!(self.peek(), Some((_, Token::Sign(")")))) {
                return self.unexpected("`)`");
            }
        }
        let kind = match (name, arguments.as_slice()) {
            ("Math.abs", [one]) => Kind::Unary(UnaryOp::Abs, Box::new(one.clone())),
            ("Math.min", [a, b]) => Kind::Binary(BinaryOp::Min, Box::new([a.clone(), b.clone()])),
            ("Math.max", [a, b]) => Kind::Binary(BinaryOp::Max, Box::new([a.clone(), b.clone()])),
            (
                "Math.trunc",
                [
                    Node {
                        kind: Kind::Binary(BinaryOp::Div, both),
                        ..
                    },
                ],
            ) => Kind::Quotient(both.clone()),
            _ => {
                return bad(
                    column,
                    format!(
                        "the call of `{name}` is not understood; Math.abs, Math.min, Math.max and \
                         Math.trunc(a / b) are"
                    ),
                );
            }
        };
        limited(Node::new(column, kind), &self.budget)
    }
}

/// Of names with a point, only those of the variables that all models share are known.
fn known_name(column: usize, name: String) -> Result<String, BadScript> {
    const WORDS: [&str; 10] = [
        "if", "else", "for", "while", "function", "return", "new", "do", "switch", "typeof",
    ];
    let plain = name.strip_prefix("global.").unwrap_or(&name);
    if plain.contains('.') || plain.is_empty() {
        return bad(
            column,
            format!("`{name}` is a part of an object; plain variables are understood"),
        );
    }
    if WORDS.contains(&plain) {
        return bad(
            column,
            format!("`{name}` is not understood; expressions and assignments are"),
        );
    }
    Ok(name)
}

fn constant(column: usize, value: Value) -> Node {
    Node::new(column, Kind::Const(value))
}

fn named(column: usize, name: &str) -> Node {
    Node::new(column, Kind::Name(name.to_owned()))
}

fn binary(op: BinaryOp, left: Node, right: Node) -> Node {
    let column = left.column;
    Node::new(column, Kind::Binary(op, Box::new([left, right])))
}

/// `a && b && c ...` as a tree of logarithmic depth: both operators may be grouped at will.
fn balanced(op: BinaryOp, mut operands: Vec<Node>) -> Node {
    if operands.len() <= 2 {
        let right = operands.pop();
        return match (operands.pop(), right) {
            (Some(left), Some(right)) => binary(op, left, right),
            (_, Some(only)) => only,
            _ => unreachable!("there is an operand"),
        };
    }
    let right = operands.split_off(operands.len().div_ceil(2));
    binary(op, balanced(op, operands), balanced(op, right))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_understood_is_named_with_its_column() {
        for (text, column, part) in [
            ("x >", 4, "a value expected, nothing found"),
            ("foo(1)", 1, "`foo` is not understood"),
            ("a.b > 1", 1, "part of an object"),
            ("x == 1 y", 8, "`y` is not understood"),
            ("x[0]", 2, "`[` is not understood"),
            ("'abc", 1, "does not end"),
            ("(x", 3, "`)` expected"),
            ("1x", 1, "not a number"),
        ] {
            let error = expression(text, &Budget::default()).unwrap_err();
            assert_eq!(error.column, column, "{text}: {error:?}");
            assert!(error.message.contains(part), "{text}: {error:?}");
        }
        for (text, column, part) in [
            ("x", 2, "an assignment such as"),
            ("x = 1 y = 2", 7, "`;` expected"),
            ("if (x) y = 1", 1, "`if` is not understood"),
            ("foo()", 4, "an assignment such as"),
        ] {
            let error = statements(text, &Budget::default()).unwrap_err();
            assert_eq!(error.column, column, "{text}: {error:?}");
            assert!(error.message.contains(part), "{text}: {error:?}");
        }
        let deep = format!("{}x{}", "(".repeat(500), ")".repeat(500));
        assert!(expression(&deep, &Budget::default()).is_err());
        assert!(expression(&"!".repeat(5000), &Budget::default()).is_err());
    }

    #[test]
    fn assignments_of_all_kinds_are_read() {
        let text = "var x = 1; y += x * 2;z++; --w; global.g = 'a' // the end";
        let found = statements(text, &Budget::default()).unwrap();
        let names: Vec<&str> = found.iter().map(|a| a.name.as_str()).collect();
        assert_eq!(names, ["x", "y", "z", "w", "global.g"]);
    }
}
