//! Expressions by operator precedence (Pratt), with the place of every part.

use std::ops::Range;

use ioco_budget::{Budget, Exhausted, Resource};
use ioco_sts::{BinaryOp, UnaryOp};

use crate::escape;
use crate::expr::lexer::{Token, lex};

pub use crate::expr::node::{BlockNode, MethodCall, Node, NodeKind, SetOp, Update};

/// A mistake, with its place in the expression's text.
#[derive(Clone, Debug, PartialEq)]
pub struct ExprError {
    pub too_deep: bool,
    pub message: String,
    pub span: Range<usize>,
    pub hint: Option<String>,
}

/// Parses one expression that is all of `text`.
pub fn expression(text: &str, budget: &Budget) -> (Node, Vec<ExprError>) {
    let mut parser = Parser::new(text, budget);
    let node = parser.expression(0);
    parser.expect_end();
    (node, parser.mistakes)
}

/// Parses the updates of a switch.
pub fn updates(text: &str, budget: &Budget) -> (Vec<Update>, Vec<ExprError>) {
    let mut parser = Parser::new(text, budget);
    let mut updates = Vec::new();
    loop {
        while parser.peek() == Token::Semicolon {
            parser.position += 1;
        }
        if parser.peek() == Token::End {
            break;
        }
        let before = parser.mistakes.len();
        updates.extend(parser.update());
        let ended = matches!(parser.peek(), Token::Semicolon | Token::End)
            || parser.peek() == Token::Name && parser.on_new_line();
        if !ended {
            if parser.mistakes.len() == before {
                let found = parser.found();
                parser.mistake(format!("expected `;`, found {found}"), None);
            }
            while !matches!(parser.peek(), Token::Semicolon | Token::End) {
                parser.position += 1;
            }
        }
    }
    (updates, parser.mistakes)
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<(Token, Range<usize>)>,
    position: usize,
    depth: u64,
    most: u64,
    mistakes: Vec<ExprError>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, budget: &Budget) -> Parser<'a> {
        Parser {
            text,
            tokens: lex(text),
            position: 0,
            depth: 0,
            most: budget.depth,
            mistakes: Vec::new(),
        }
    }

    fn peek(&self) -> Token {
        self.tokens
            .get(self.position)
            .map_or(Token::End, |(token, _)| *token)
    }

    fn span(&self) -> Range<usize> {
        match self.tokens.get(self.position) {
            Some((_, span)) => span.clone(),
            None => {
                let end = self.text.trim_end().len();
                end..end
            }
        }
    }

    fn word(&self) -> &'a str {
        &self.text[self.span()]
    }

    fn bump(&mut self) -> Range<usize> {
        let span = self.span();
        self.position += 1;
        span
    }

    fn eat(&mut self, token: Token) -> bool {
        let found = self.peek() == token;
        if found {
            self.position += 1;
        }
        found
    }

    /// Whether the next token is the first of its line.
    fn on_new_line(&self) -> bool {
        let before = self.position.checked_sub(1);
        let end = before.map_or(0, |p| self.tokens[p].1.end);
        self.text[end..self.span().start].contains('\n')
    }

    fn found(&self) -> String {
        match self.peek() {
            Token::End => "the end of the expression".to_owned(),
            _ => format!("`{}`", self.word()),
        }
    }

    fn mistake(&mut self, message: String, hint: Option<&str>) {
        let span = self.span();
        self.mistakes.push(ExprError {
            too_deep: false,
            message,
            span,
            hint: hint.map(str::to_owned),
        });
    }

    fn expect(&mut self, token: Token, written: &str) {
        if !self.eat(token) {
            let found = self.found();
            self.mistake(format!("expected `{written}`, found {found}"), None);
        }
    }

    fn expect_end(&mut self) {
        // One mistake is enough: what follows it is guesswork.
        if self.peek() == Token::End || !self.mistakes.is_empty() {
            return;
        }
        let found = self.found();
        let hint = match self.peek() {
            Token::Assign => Some("a comparison is written `==`"),
            Token::Semicolon => Some("a constraint is one condition; join several with `&&`"),
            Token::Name if self.word() == "and" => Some("write `&&`"),
            Token::Name if self.word() == "or" => Some("write `||`"),
            _ => None,
        };
        self.mistake(format!("expected an operator, found {found}"), hint);
    }

    fn update(&mut self) -> Option<Update> {
        let target = self.postfix();
        let with = match self.peek() {
            Token::Assign => None,
            Token::PlusAssign => Some(BinaryOp::Add),
            Token::MinusAssign => Some(BinaryOp::Sub),
            Token::TimesAssign => Some(BinaryOp::Mul),
            _ => {
                if self.mistakes.is_empty() {
                    let found = self.found();
                    let hint =
                        (self.peek() == Token::EqEq).then_some("an update is written `x = e`");
                    self.mistake(format!("expected `=` or `+=`, found {found}"), hint);
                }
                return None;
            }
        };
        self.position += 1;
        let value = self.expression(0);
        Some(Update {
            target,
            with,
            value,
        })
    }

    fn too_deep(&mut self, span: Range<usize>) -> Node {
        if !self.mistakes.iter().any(|m| m.too_deep) {
            self.mistakes.push(ExprError {
                too_deep: true,
                message: Exhausted {
                    resource: Resource::Depth,
                    limit: self.most,
                }
                .to_string(),
                span: span.clone(),
                hint: None,
            });
        }
        self.position = self.tokens.len();
        Node::new(NodeKind::Wrong, span)
    }

    /// The node itself, where it is not too high.
    fn limited(&mut self, node: Node) -> Node {
        if node.height > self.most {
            return self.too_deep(node.span);
        }
        node
    }

    /// An expression whose operators bind at least as tightly as `tightness`.
    fn expression(&mut self, tightness: u8) -> Node {
        if self.depth >= self.most {
            let span = self.span();
            return self.too_deep(span);
        }
        self.depth += 1;
        let node = self.operators(tightness);
        self.depth -= 1;
        self.limited(node)
    }

    fn operators(&mut self, tightness: u8) -> Node {
        let mut left = self.prefix();
        loop {
            left = self.limited(left);
            let Some((binds, operator)) = self.operator() else {
                return left;
            };
            if binds < tightness {
                return left;
            }
            left = match operator {
                Infix::Binary(op @ (BinaryOp::And | BinaryOp::Or)) => {
                    let token = self.peek();
                    let mut operands = vec![left];
                    while self.eat(token) {
                        operands.push(self.expression(binds + 1));
                    }
                    balanced(op, operands)
                }
                Infix::Binary(op) => {
                    self.position += 1;
                    let right = self.expression(binds + 1);
                    binary(op, left, right)
                }
                Infix::In => {
                    self.position += 1;
                    self.membership(left, binds)
                }
                Infix::Match => {
                    self.position += 1;
                    self.pattern(left)
                }
                Infix::Prefix => self.both(left, binds, NodeKind::Prefix),
                Infix::Set(op) => self.both(left, binds, |both| NodeKind::Joined(op, both)),
            };
        }
    }

    /// An operator with its right side. Not a part of `operators`: what a frame holds there counts for every level of
    /// an expression.
    fn both(
        &mut self,
        left: Node,
        binds: u8,
        kind: impl FnOnce(Box<[Node; 2]>) -> NodeKind,
    ) -> Node {
        self.position += 1;
        let right = self.expression(binds + 1);
        let span = left.span.start..right.span.end;
        Node::new(kind(Box::new([left, right])), span)
    }

    /// The operator that comes next, and how tightly it binds.
    fn operator(&self) -> Option<(u8, Infix)> {
        Some(match self.peek() {
            Token::OrOr => (1, Infix::Binary(BinaryOp::Or)),
            Token::AndAnd => (2, Infix::Binary(BinaryOp::And)),
            Token::EqEq => (3, Infix::Binary(BinaryOp::Eq)),
            Token::NotEq => (3, Infix::Binary(BinaryOp::Ne)),
            Token::Match => (3, Infix::Match),
            Token::Less => (4, Infix::Binary(BinaryOp::Lt)),
            Token::LessEq => (4, Infix::Binary(BinaryOp::Le)),
            Token::Greater => (4, Infix::Binary(BinaryOp::Gt)),
            Token::GreaterEq => (4, Infix::Binary(BinaryOp::Ge)),
            Token::PrefixOf => (4, Infix::Prefix),
            Token::Name if self.word() == "in" => (4, Infix::In),
            Token::Pipe => (5, Infix::Set(SetOp::Union)),
            Token::Ampersand => (6, Infix::Set(SetOp::Intersection)),
            Token::Plus => (7, Infix::Binary(BinaryOp::Add)),
            Token::Minus => (7, Infix::Binary(BinaryOp::Sub)),
            Token::Star => (8, Infix::Binary(BinaryOp::Mul)),
            Token::Slash => (8, Infix::Binary(BinaryOp::Div)),
            Token::Percent => (8, Infix::Binary(BinaryOp::Rem)),
            _ => return None,
        })
    }

    fn membership(&mut self, subject: Node, binds: u8) -> Node {
        let first = self.expression(binds + 1);
        let start = subject.span.start;
        if self.eat(Token::DotDot) {
            let high = self.expression(binds + 1);
            let span = start..high.span.end;
            let kind = NodeKind::InRange(Box::new([subject, first, high]));
            return Node::new(kind, span);
        }
        let span = start..first.span.end;
        let kind = NodeKind::In(Box::new([subject, first]));
        Node::new(kind, span)
    }

    fn pattern(&mut self, subject: Node) -> Node {
        if self.peek() != Token::Pattern {
            let found = self.found();
            self.mistake(format!("expected a /pattern/, found {found}"), None);
            return subject;
        }
        let written = self.word();
        let span = self.bump();
        let Some(inner) = written
            .strip_prefix('/')
            .and_then(|w| w.strip_suffix('/'))
            .filter(|_| written.len() > 1)
        else {
            self.mistakes.push(ExprError {
                too_deep: false,
                message: "the pattern is not closed: `/` is missing".to_owned(),
                span,
                hint: None,
            });
            return subject;
        };
        let whole = subject.span.start..span.end;
        let pattern = span.start + 1..span.end - 1;
        let kind = NodeKind::Matches(Box::new(subject), inner.replace("\\/", "/"), pattern);
        Node::new(kind, whole)
    }

    fn prefix(&mut self) -> Node {
        let start = self.span().start;
        match self.peek() {
            Token::Not => {
                self.position += 1;
                let operand = self.expression(9);
                unary(UnaryOp::Not, start, operand)
            }
            Token::Name if self.word() == "not" => {
                self.mistake(
                    "expected a value, found `not`".to_owned(),
                    Some("write `!`"),
                );
                self.position += 1;
                self.expression(9)
            }
            Token::Minus => {
                self.position += 1;
                // The smallest integer has no positive twin, so the sign belongs to the digits.
                if matches!(self.peek(), Token::Integer | Token::Decimal) {
                    let mut number = self.postfix();
                    number.span.start = start;
                    match &mut number.kind {
                        NodeKind::Integer(digits) | NodeKind::Decimal(digits) => {
                            digits.insert(0, '-');
                            return number;
                        }
                        _ => return unary(UnaryOp::Neg, start, number),
                    }
                }
                let operand = self.expression(9);
                unary(UnaryOp::Neg, start, operand)
            }
            Token::Name if self.word() == "if" => {
                self.position += 1;
                let condition = self.expression(0);
                self.keyword("then");
                let then = self.expression(0);
                self.keyword("else");
                let otherwise = self.expression(0);
                // Ruby closes its `if`; here the bracket or the line does.
                if self.peek() == Token::Name && self.word() == "end" {
                    self.position += 1;
                }
                let span = start..otherwise.span.end;
                Node::new(NodeKind::If(Box::new([condition, then, otherwise])), span)
            }
            _ => self.postfix(),
        }
    }

    fn keyword(&mut self, word: &str) {
        if self.peek() == Token::Name && self.word() == word {
            self.position += 1;
        } else if self.mistakes.is_empty() {
            let found = self.found();
            self.mistake(format!("expected `{word}`, found {found}"), None);
        }
    }

    fn postfix(&mut self) -> Node {
        let mut node = self.primary();
        loop {
            node = self.limited(node);
            match self.peek() {
                // On a new line a bracket starts something else.
                Token::LBracket => {
                    self.position += 1;
                    let index = self.expression(0);
                    let high = self.eat(Token::DotDot).then(|| self.expression(0));
                    let end = self.span().end;
                    self.expect(Token::RBracket, "]");
                    if let Some(high) = high {
                        let whole = node.span.start..end;
                        node = Node::new(NodeKind::Slice(Box::new([node, index, high])), whole);
                        continue;
                    }
                    let mut whole = binary(BinaryOp::Index, node, index);
                    whole.span.end = end;
                    node = whole;
                }
                Token::Dot => {
                    self.position += 1;
                    if self.peek() != Token::Name {
                        let found = self.found();
                        self.mistake(format!("expected a field, found {found}"), None);
                        return node;
                    }
                    let field = self.word().to_owned();
                    let span = self.bump();
                    node = match self.peek() {
                        Token::LParen | Token::LBrace => self.method(node, field, span),
                        _ => {
                            let whole = node.span.start..span.end;
                            Node::new(NodeKind::Field(Box::new(node), field, span), whole)
                        }
                    };
                }
                _ => return node,
            }
        }
    }

    /// The arguments and the block of a method, after its name.
    fn method(&mut self, receiver: Node, name: String, name_span: Range<usize>) -> Node {
        let start = receiver.span.start;
        let mut end = name_span.end;
        let mut arguments = Vec::new();
        if self.eat(Token::LParen) {
            if name == "with" && self.is_field() {
                let fields = self.fields();
                let whole = start..self.span().end;
                self.expect(Token::RParen, ")");
                let changed = NodeKind::Changed(Box::new(receiver), name_span, fields);
                return Node::new(changed, whole);
            }
            arguments = self.list(Token::RParen);
            end = self.span().end;
            self.expect(Token::RParen, ")");
        }
        let mut block = None;
        if self.peek() == Token::LBrace {
            let opening = self.bump().start;
            let mut parameters = Vec::new();
            self.expect(Token::Pipe, "|");
            while self.peek() == Token::Name {
                parameters.push(self.word().to_owned());
                self.position += 1;
                if !self.eat(Token::Comma) {
                    break;
                }
            }
            self.expect(Token::Pipe, "|");
            let body = self.expression(0);
            end = self.span().end;
            if self.mistakes.is_empty() {
                self.expect(Token::RBrace, "}");
            }
            block = Some(BlockNode {
                parameters,
                body,
                span: opening..end,
            });
        }
        let call = MethodCall {
            receiver,
            name,
            name_span,
            arguments,
            block,
        };
        Node::new(NodeKind::Method(Box::new(call)), start..end)
    }

    /// The text of the string that comes next.
    fn text(&mut self, quoted: &str) -> String {
        let (text, unknown) = unquoted(quoted);
        let start = self.span().start;
        for place in unknown {
            let after = quoted[place.start + 1..].chars().next();
            let (message, hint) =
                escape::unknown(after, "the quotes around an expression need it twice");
            self.mistakes.push(ExprError {
                too_deep: false,
                message,
                span: start + place.start..start + place.end,
                hint: Some(hint),
            });
        }
        text
    }

    fn primary(&mut self) -> Node {
        let word = self.word();
        let kind = match self.peek() {
            Token::Void => NodeKind::Void,
            Token::Integer => NodeKind::Integer(word.replace('_', "")),
            Token::Decimal => NodeKind::Decimal(word.replace('_', "")),
            Token::Str => NodeKind::Str(self.text(word)),
            Token::Name if self.reserved(word) => {
                let found = self.found();
                self.mistake(format!("expected a value, found {found}"), None);
                return Node::new(NodeKind::Wrong, self.span());
            }
            Token::Name => match word {
                "true" => NodeKind::Bool(true),
                "false" => NodeKind::Bool(false),
                _ => return self.name(word),
            },
            Token::LParen => {
                let start = self.bump().start;
                let mut inner = self.expression(0);
                if self.eat(Token::DotDot) {
                    let high = self.expression(0);
                    let kind = NodeKind::Range(Box::new([inner, high]));
                    inner = Node::new(kind, start..start);
                }
                let end = self.span().end;
                self.expect(Token::RParen, ")");
                inner.span = start..end;
                return inner;
            }
            Token::LBracket => {
                let start = self.bump().start;
                let items = self.list(Token::RBracket);
                let end = self.span().end;
                self.expect(Token::RBracket, "]");
                return Node::new(NodeKind::Array(items), start..end);
            }
            Token::LBrace => return self.hash(),
            _ => {
                let found = self.found();
                self.mistake(format!("expected a value, found {found}"), None);
                let span = self.span();
                if self.peek() == Token::Other {
                    self.position += 1;
                }
                return Node::new(NodeKind::Wrong, span);
            }
        };
        let span = self.bump();
        Node::new(kind, span)
    }

    fn reserved(&self, word: &str) -> bool {
        matches!(word, "then" | "else" | "in" | "and" | "or")
    }

    /// `{"a" => 1, "b" => 2}`.
    fn hash(&mut self) -> Node {
        let start = self.bump().start;
        let mut pairs = Vec::new();
        while !matches!(self.peek(), Token::RBrace | Token::End) {
            let key = self.expression(0);
            if self.mistakes.is_empty() {
                self.expect(Token::Arrow, "=>");
            }
            pairs.push([key, self.expression(0)]);
            if !self.eat(Token::Comma) {
                break;
            }
        }
        let end = self.span().end;
        if self.mistakes.is_empty() {
            self.expect(Token::RBrace, "}");
        }
        Node::new(NodeKind::Hash(pairs), start..end)
    }

    fn name(&mut self, word: &str) -> Node {
        let span = self.bump();
        if word == "Set" && self.peek() == Token::LBracket {
            self.position += 1;
            let items = self.list(Token::RBracket);
            let end = self.span().end;
            self.expect(Token::RBracket, "]");
            return Node::new(NodeKind::Set(items), span.start..end);
        }
        if self.peek() != Token::LParen {
            let kind = NodeKind::Name(word.to_owned());
            return Node::new(kind, span);
        }
        self.position += 1;
        if self.is_field() {
            return self.record(word, span);
        }
        let arguments = self.list(Token::RParen);
        let end = self.span().end;
        self.expect(Token::RParen, ")");
        let whole = span.start..end;
        Node::new(NodeKind::Call(word.to_owned(), span, arguments), whole)
    }

    /// `Shop(action: 1, name: "x")`, after the bracket.
    fn record(&mut self, name: &str, name_span: Range<usize>) -> Node {
        let fields = self.fields();
        let whole = name_span.start..self.span().end;
        self.expect(Token::RParen, ")");
        Node::new(NodeKind::Record(name.to_owned(), name_span, fields), whole)
    }

    /// Whether the name of a field and a colon come next.
    fn is_field(&self) -> bool {
        self.peek() == Token::Name
            && self.tokens.get(self.position + 1).map(|t| t.0) == Some(Token::Colon)
    }

    /// `action: 1, name: "x"`.
    fn fields(&mut self) -> Vec<(String, Range<usize>, Node)> {
        let mut fields = Vec::new();
        while self.peek() == Token::Name {
            let field = self.word().to_owned();
            let span = self.bump();
            self.expect(Token::Colon, ":");
            fields.push((field, span, self.expression(0)));
            if !self.eat(Token::Comma) {
                break;
            }
        }
        fields
    }

    fn list(&mut self, close: Token) -> Vec<Node> {
        let mut items = Vec::new();
        while self.peek() != close && self.peek() != Token::End {
            items.push(self.expression(0));
            if !self.eat(Token::Comma) {
                break;
            }
        }
        items
    }
}

enum Infix {
    Binary(BinaryOp),
    In,
    Match,
    Prefix,
    Set(SetOp),
}

fn unary(op: UnaryOp, start: usize, operand: Node) -> Node {
    let span = start..operand.span.end;
    Node::new(NodeKind::Unary(op, Box::new(operand)), span)
}

fn binary(op: BinaryOp, left: Node, right: Node) -> Node {
    let span = left.span.start..right.span.end;
    Node::new(NodeKind::Binary(op, Box::new([left, right])), span)
}

/// `a && b && c ...` as a tree of logarithmic depth: both operators may be grouped at will.
fn balanced(op: BinaryOp, mut operands: Vec<Node>) -> Node {
    if operands.len() <= 2 {
        let right = operands.pop();
        let left = operands.pop();
        return match (left, right) {
            (Some(left), Some(right)) => binary(op, left, right),
            (None, Some(only)) => only,
            _ => unreachable!("an operator has operands"),
        };
    }
    let right = operands.split_off(operands.len().div_ceil(2));
    binary(op, balanced(op, operands), balanced(op, right))
}

/// The characters of a quoted string, and where escapes stand that mean nothing, counted from its quote.
fn unquoted(quoted: &str) -> (String, Vec<Range<usize>>) {
    let end = quoted.len() - 1;
    let inner = &quoted[1..end];
    let (mut text, mut unknown) = (String::with_capacity(inner.len()), Vec::new());
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            text.push(character);
            continue;
        }
        let start = end - characters.as_str().len() - 1;
        match escape::read(&mut characters) {
            Some(meant) => text.push(meant),
            None => unknown.push(start..end - characters.as_str().len()),
        }
    }
    (text, unknown)
}
