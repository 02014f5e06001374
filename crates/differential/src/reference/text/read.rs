//! Text to tree, by recursive descent. Binding follows Ruby: `||`, `&&`, equality and patterns,
//! comparison, sums, products, signs, and then whatever follows a value.

use num_bigint::BigInt;
use num_rational::BigRational;

use crate::reference::Val;

#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// A value, and whether it is written as a decimal.
    Value(Val, bool),
    Name(String),
    Not(Box<Node>),
    Negative(Box<Node>),
    Binary(String, Box<[Node; 2]>),
    If(Box<[Node; 3]>),
    Range(Box<[Node; 2]>),
    List(Vec<Node>),
    /// `Set[1, 2]`.
    Set(Vec<Node>),
    /// `{"a" => 1}`.
    Hash(Vec<[Node; 2]>),
    Index(Box<[Node; 2]>),
    Slice(Box<[Node; 3]>),
    Field(Box<Node>, String),
    Record(String, Vec<(String, Node)>),
    Matches(Box<Node>, String),
    Call(String, Vec<Node>),
    Method(Box<Node>, String, Vec<Node>, Option<Block>),
}

/// The names of a block's parameters, and its body.
pub type Block = (Vec<String>, Box<Node>);

/// A variable, or a part of one.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    Variable(String),
    Index(Box<Target>, Node),
    Field(Box<Target>, String),
}

impl Target {
    pub fn variable(&self) -> &str {
        match self {
            Target::Variable(name) => name,
            Target::Index(inner, _) | Target::Field(inner, _) => inner.variable(),
        }
    }
}

/// `target = value`; the operator of `+=` and the like.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    pub target: Target,
    pub with: Option<String>,
    pub value: Node,
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Number(String),
    Text(String),
    Pattern(String),
    Name(String),
    Mark(String),
}

/// The whole text as one expression; `None` where it is none.
pub fn expression(text: &str) -> Option<Node> {
    let mut tokens = TokenStream::new(text)?;
    let node = tokens.choice()?;
    (tokens.at == tokens.tokens.len()).then_some(node)
}

/// Updates with `;` between them.
pub fn updates(text: &str) -> Option<Vec<Update>> {
    let mut tokens = TokenStream::new(text)?;
    let mut found = Vec::new();
    while tokens.at < tokens.tokens.len() {
        let target = target(tokens.postfix()?)?;
        let sign = ["=", "+=", "-=", "*="]
            .into_iter()
            .find(|s| tokens.take(s))?;
        found.push(Update {
            target,
            with: sign
                .strip_suffix('=')
                .filter(|s| !s.is_empty())
                .map(str::to_owned),
            value: tokens.choice()?,
        });
        tokens.take(";");
    }
    Some(found)
}

fn target(node: Node) -> Option<Target> {
    Some(match node {
        Node::Name(name) => Target::Variable(name),
        Node::Index(both) => {
            let [inner, at] = *both;
            Target::Index(Box::new(target(inner)?), at)
        }
        Node::Field(inner, field) => Target::Field(Box::new(target(*inner)?), field),
        _ => return None,
    })
}

const MARKS: [&str; 36] = [
    "..", "==", "!=", "<=", ">=", "=~", "=>", "<~", "&&", "||", "+=", "-=", "*=", "<", ">", "=",
    "+", "-", "&", "*", "/", "%", "!", "(", ")", "[", "]", "{", "}", "|", ",", ";", ":", ".", "?",
    "$",
];

fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut found: Vec<Token> = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let end = if first.is_ascii_digit() {
            let whole = rest
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(rest.len());
            let fraction = rest[whole..].strip_prefix('.').map_or(0, |after| {
                let digits = after.find(|c: char| !c.is_ascii_digit());
                digits.unwrap_or(after.len())
            });
            let end = if fraction > 0 {
                whole + 1 + fraction
            } else {
                whole
            };
            found.push(Token::Number(rest[..end].to_owned()));
            end
        } else if first == '"' {
            let end = rest[1..].find('"')? + 1;
            found.push(Token::Text(rest[1..end].to_owned()));
            end + 1
        } else if first == '/' && found.last() == Some(&Token::Mark("=~".to_owned())) {
            let end = rest[1..].find('/')? + 1;
            found.push(Token::Pattern(rest[1..end].to_owned()));
            end + 1
        } else if first.is_alphabetic() || first == '_' || rest.starts_with(":void") {
            let after = rest[1..].find(|c: char| !c.is_alphanumeric() && c != '_');
            let end = after.map_or(rest.len(), |n| n + 1);
            // A method may end in a question mark.
            let end = end + usize::from(rest[end..].starts_with('?'));
            found.push(Token::Name(rest[..end].to_owned()));
            end
        } else {
            let mark = MARKS.into_iter().find(|mark| rest.starts_with(mark))?;
            found.push(Token::Mark(mark.to_owned()));
            mark.len()
        };
        rest = rest[end..].trim_start();
    }
    Some(found)
}

struct TokenStream {
    tokens: Vec<Token>,
    at: usize,
}

impl TokenStream {
    fn new(text: &str) -> Option<TokenStream> {
        let tokens = tokens(text)?;
        Some(TokenStream { tokens, at: 0 })
    }

    fn is(&self, wanted: &str) -> bool {
        let token = self.tokens.get(self.at);
        matches!(token, Some(Token::Mark(text) | Token::Name(text)) if text == wanted)
    }

    fn take(&mut self, wanted: &str) -> bool {
        let there = self.is(wanted);
        self.at += usize::from(there);
        there
    }

    fn need(&mut self, wanted: &str) -> Option<()> {
        self.take(wanted).then_some(())
    }

    fn name(&mut self) -> Option<String> {
        let Token::Name(name) = self.tokens.get(self.at)?.clone() else {
            return None;
        };
        self.at += 1;
        Some(name)
    }

    fn choice(&mut self) -> Option<Node> {
        if !self.take("if") {
            return self.level(0);
        }
        let condition = self.choice()?;
        self.need("then")?;
        let then = self.choice()?;
        self.need("else")?;
        let otherwise = self.choice()?;
        Some(Node::If(Box::new([condition, then, otherwise])))
    }

    fn level(&mut self, level: usize) -> Option<Node> {
        const LEVELS: [&[&str]; 8] = [
            &["||"],
            &["&&"],
            &["==", "!=", "=~"],
            &["<=", ">=", "<", ">", "in", "<~"],
            &["|"],
            &["&"],
            &["+", "-"],
            &["*", "/", "%"],
        ];
        let Some(operators) = LEVELS.get(level) else {
            return self.sign();
        };
        let mut left = self.level(level + 1)?;
        while let Some(operator) = operators.iter().find(|o| self.is(o)) {
            self.at += 1;
            if *operator == "=~" {
                let Token::Pattern(pattern) = self.tokens.get(self.at)?.clone() else {
                    return None;
                };
                self.at += 1;
                left = Node::Matches(Box::new(left), pattern);
                continue;
            }
            let mut right = self.level(level + 1)?;
            if *operator == "in" && self.take("..") {
                right = Node::Range(Box::new([right, self.level(level + 1)?]));
            }
            left = Node::Binary((*operator).to_owned(), Box::new([left, right]));
        }
        Some(left)
    }

    fn sign(&mut self) -> Option<Node> {
        if self.take("!") {
            return Some(Node::Not(Box::new(self.sign()?)));
        }
        if self.take("-") {
            return Some(Node::Negative(Box::new(self.sign()?)));
        }
        self.postfix()
    }

    fn postfix(&mut self) -> Option<Node> {
        let mut node = self.value()?;
        loop {
            if self.take("[") {
                let at = self.choice()?;
                node = if self.take("..") {
                    Node::Slice(Box::new([node, at, self.choice()?]))
                } else {
                    Node::Index(Box::new([node, at]))
                };
                self.need("]")?;
            } else if self.take(".") {
                let name = self.name()?;
                let called = self.is("(") || self.is("{") || METHODS.contains(&name.as_str());
                if !called {
                    node = Node::Field(Box::new(node), name);
                    continue;
                }
                let arguments = match self.take("(") {
                    true => self.list(")")?,
                    false => Vec::new(),
                };
                let block = match self.take("{") {
                    true => {
                        self.need("|")?;
                        let mut names = vec![self.name()?];
                        while self.take(",") {
                            names.push(self.name()?);
                        }
                        self.need("|")?;
                        let body = self.choice()?;
                        self.need("}")?;
                        Some((names, Box::new(body)))
                    }
                    false => None,
                };
                node = Node::Method(Box::new(node), name, arguments, block);
            } else {
                return Some(node);
            }
        }
    }

    fn list(&mut self, end: &str) -> Option<Vec<Node>> {
        let mut items = Vec::new();
        while !self.take(end) {
            items.push(self.choice()?);
            if !self.take(",") {
                self.need(end)?;
                break;
            }
        }
        Some(items)
    }

    fn value(&mut self) -> Option<Node> {
        if self.take("(") {
            let node = self.choice()?;
            let node = match self.take("..") {
                true => Node::Range(Box::new([node, self.choice()?])),
                false => node,
            };
            self.need(")")?;
            return Some(node);
        }
        if self.take("[") {
            return self.list("]").map(Node::List);
        }
        if self.take("{") {
            return self.pairs().map(Node::Hash);
        }
        let token = self.tokens.get(self.at)?.clone();
        self.at += 1;
        match token {
            Token::Number(digits) => Some(number(&digits)),
            Token::Text(text) => Some(Node::Value(Val::Text(text), false)),
            Token::Name(name) => match name.as_str() {
                "true" => Some(Node::Value(Val::Bool(true), false)),
                "false" => Some(Node::Value(Val::Bool(false), false)),
                ":void" => Some(Node::Value(Val::Void, false)),
                "Set" if self.take("[") => self.list("]").map(Node::Set),
                _ if self.is("(") => self.called(name),
                _ => Some(Node::Name(name)),
            },
            Token::Pattern(_) | Token::Mark(_) => None,
        }
    }

    /// The entries of a hash, up to the brace.
    fn pairs(&mut self) -> Option<Vec<[Node; 2]>> {
        let mut pairs = Vec::new();
        while !self.take("}") {
            let key = self.choice()?;
            self.need("=>")?;
            pairs.push([key, self.choice()?]);
            if !self.take(",") {
                self.need("}")?;
                break;
            }
        }
        Some(pairs)
    }

    /// `f(a, b)` or `Shop(action: 1)`.
    fn called(&mut self, name: String) -> Option<Node> {
        self.need("(")?;
        if !name.starts_with(char::is_uppercase) {
            return Some(Node::Call(name, self.list(")")?));
        }
        let mut fields = Vec::new();
        while !self.take(")") {
            let field = self.name()?;
            self.need(":")?;
            fields.push((field, self.choice()?));
            self.take(",");
        }
        Some(Node::Record(name, fields))
    }
}

/// Methods that need neither arguments nor a block; other words behind a dot are fields.
const METHODS: [&str; 15] = [
    "length", "size", "count", "empty?", "first", "last", "sum", "min", "max", "nil?", "to_a",
    "none?", "to_set", "keys", "values",
];

fn number(digits: &str) -> Node {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all: BigInt = format!("{whole}{fraction}").parse().unwrap_or_default();
    let scale = BigInt::from(10u8).pow(fraction.len() as u32);
    let value = Val::Num(BigRational::new(all, scale));
    Node::Value(value, digits.contains('.'))
}
