//! From tokens to the lossless tree, by recursive descent.
//!
//! The grammar here is the general shape of the language (words with arguments and blocks); which
//! words there are, and what may stand where, is decided later, on the tree. After a mistake the
//! parser goes on with the next statement.

use std::ops::Range;

use rowan::{GreenNode, GreenNodeBuilder, Language as _};

use crate::codes::{self, Code};
use crate::diagnostic::Diagnostic;
use crate::ruby;
use crate::syntax::SyntaxKind::{self, *};
use crate::syntax::{Aml, SyntaxNode, lex};

/// Blocks and brackets inside each other; far more than a person writes.
const MAX_DEPTH: usize = 120;

/// A tree that holds every character of the text, and what is wrong with it.
pub struct Parse {
    green: GreenNode,
    pub errors: Vec<Diagnostic>,
}

impl Parse {
    pub fn tree(&self) -> SyntaxNode {
        SyntaxNode::new_root(self.green.clone())
    }
}

/// Parses one file. `file` is its number, for the diagnostics.
pub fn parse(text: &str, file: usize) -> Parse {
    let mut parser = Parser {
        text,
        file,
        tokens: lex(text),
        position: 0,
        builder: GreenNodeBuilder::new(),
        errors: Vec::new(),
        owners: Vec::new(),
        depth: 0,
    };
    parser.start(File);
    loop {
        parser.statements();
        match parser.peek() {
            EndOfFile => break,
            kind => {
                let closing = parser.text_of_next();
                let message = format!("`{closing}` closes nothing");
                parser.error_here(codes::SYNTAX, message);
                debug_assert!(matches!(kind, RBrace | End));
                parser.start(Error);
                parser.bump();
                parser.finish();
            }
        }
    }
    parser.trivia();
    parser.finish();
    Parse {
        green: parser.builder.finish(),
        errors: parser.errors,
    }
}

struct Parser<'a> {
    text: &'a str,
    file: usize,
    tokens: Vec<(SyntaxKind, Range<usize>)>,
    position: usize,
    builder: GreenNodeBuilder<'static>,
    errors: Vec<Diagnostic>,
    /// The words whose blocks are open, outermost first.
    owners: Vec<&'a str>,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn start(&mut self, kind: SyntaxKind) {
        self.builder.start_node(Aml::kind_to_raw(kind));
    }

    fn finish(&mut self) {
        self.builder.finish_node();
    }

    /// The position of the next token that is not trivia, at or after `from`.
    fn significant(&self, from: usize, newlines: bool) -> usize {
        let mut position = from;
        while let Some((kind, _)) = self.tokens.get(position) {
            if !(kind.is_trivia() || newlines && *kind == Newline) {
                break;
            }
            position += 1;
        }
        position
    }

    fn kind_at(&self, position: usize) -> SyntaxKind {
        self.tokens.get(position).map_or(EndOfFile, |t| t.0)
    }

    fn peek(&self) -> SyntaxKind {
        self.kind_at(self.significant(self.position, false))
    }

    /// The kind of the token after the next one.
    fn peek_second(&self) -> SyntaxKind {
        let next = self.significant(self.position, false);
        self.kind_at(self.significant(next + 1, false))
    }

    fn span_of_next(&self) -> Range<usize> {
        let next = self.significant(self.position, false);
        self.tokens
            .get(next)
            .map_or(self.text.len()..self.text.len(), |t| t.1.clone())
    }

    fn text_of_next(&self) -> &'a str {
        &self.text[self.span_of_next()]
    }

    fn push_token(&mut self) {
        if let Some((kind, span)) = self.tokens.get(self.position) {
            self.builder
                .token(Aml::kind_to_raw(*kind), &self.text[span.clone()]);
            self.position += 1;
        }
    }

    fn trivia(&mut self) {
        while self.kind_at(self.position).is_trivia() {
            self.push_token();
        }
    }

    /// Takes the next token, with the trivia before it.
    fn bump(&mut self) {
        self.trivia();
        self.push_token();
    }

    fn skip_newlines(&mut self) {
        while self.peek() == Newline {
            self.bump();
        }
    }

    fn eat(&mut self, kind: SyntaxKind) -> bool {
        let found = self.peek() == kind;
        if found {
            self.bump();
        }
        found
    }

    fn error(&mut self, diagnostic: Diagnostic) {
        self.errors.push(diagnostic);
    }

    fn error_here(&mut self, code: Code, message: impl Into<std::string::String>) {
        let mut span = self.span_of_next();
        if self.peek() == Newline {
            span.end = span.start;
        }
        self.error(Diagnostic::new(code, self.file, span, message));
    }

    /// What comes next, in the words of a message.
    fn found(&self) -> std::string::String {
        match self.peek() {
            Newline => "the end of the line".to_owned(),
            EndOfFile => "the end of the file".to_owned(),
            UnclosedString | String => "a string".to_owned(),
            _ => format!("`{}`", self.text_of_next()),
        }
    }

    /// Statements up to a `}`, an `end` or the end of the file.
    fn statements(&mut self) {
        loop {
            match self.peek() {
                Newline | Semicolon => self.bump(),
                EndOfFile | RBrace | End => return,
                Ident if self.belongs_outside() => return,
                Def => self.macro_definition(),
                Ident if self.names_a_constant() => self.constant(),
                Ident if self.starts_each() => self.each(),
                Ident => self.command(),
                LBracket | LParen if self.starts_each() => self.each(),
                Number | LBracket => self.unsupported(false),
                Other if matches!(self.text_of_next(), "@" | "$") => self.unsupported(false),
                _ => {
                    let found = self.found();
                    self.error_here(
                        codes::SYNTAX,
                        format!("expected a statement, found {found}"),
                    );
                    self.skip_statement();
                }
            }
        }
    }

    /// A word that cannot stand in the innermost block, but can in one around it: most likely a
    /// `}` is missing before it. Blocks are then closed as if it were there.
    fn belongs_outside(&self) -> bool {
        let Some((innermost, around)) = self.owners.split_last() else {
            return false;
        };
        match self.text_of_next() {
            "o" => *innermost == "o" && matches!(around.last(), Some(&"choice" | &"repeat")),
            "process" => true,
            "channel" | "behavior" => *innermost != "process" && around.contains(&"process"),
            _ => false,
        }
    }

    fn macro_definition(&mut self) {
        self.trivia();
        let opening = self.span_of_next();
        self.start(Macro);
        self.bump();
        if self.peek() == Ident {
            self.bump();
        } else {
            let found = self.found();
            self.error_here(
                codes::SYNTAX,
                format!("expected the name of the macro, found {found}"),
            );
        }
        if self.peek() == LParen {
            self.parenthesised();
        }
        self.nested("def", |parser| parser.statements());
        self.close(End, "end", opening);
        self.finish();
        self.end_of_statement();
    }

    /// Runs `inside` with the nesting one deeper, or skips what is nested too deeply.
    fn nested(&mut self, owner: &'a str, inside: impl FnOnce(&mut Self)) {
        if self.depth >= MAX_DEPTH {
            self.error_here(codes::TOO_DEEP, "this is nested too deeply");
            self.start(Error);
            self.skip_balanced();
            self.finish();
            return;
        }
        self.depth += 1;
        self.owners.push(owner);
        inside(self);
        self.owners.pop();
        self.depth -= 1;
    }

    /// Skips to the bracket that closes the current one, without recursion.
    fn skip_balanced(&mut self) {
        let mut depth = 0usize;
        loop {
            match self.kind_at(self.position) {
                EndOfFile => return,
                LParen | LBrace | LBracket | Do | Def => depth += 1,
                RParen | RBrace | RBracket | End if depth == 0 => return,
                RParen | RBrace | RBracket | End => depth -= 1,
                _ => {}
            }
            self.push_token();
        }
    }

    fn close(&mut self, kind: SyntaxKind, written: &str, opening: Range<usize>) {
        if self.eat(kind) {
            return;
        }
        let file = self.file;
        let opened = &self.text[opening.clone()];
        let message = format!("`{opened}` is not closed: `{written}` is missing");
        let mut here = self.span_of_next();
        here.end = here.start;
        let reached = format!("`{written}` expected before this");
        self.error(
            Diagnostic::new(codes::NOT_CLOSED, file, opening, message).label(file, here, reached),
        );
    }

    fn command(&mut self) {
        if let Some(kind) = ruby::starts_ruby(self.text_of_next()) {
            self.unsupported(kind == ruby::Ruby::Block);
            return;
        }
        if self.ruby_follows() {
            self.unsupported(false);
            return;
        }
        self.trivia();
        self.start(Command);
        let word = self.text_of_next();
        self.bump();
        if self.peek() == LParen {
            self.parenthesised();
        } else if self.starts_value() {
            self.arguments(false);
        }
        let opening = self.span_of_next();
        let has_block = matches!(self.peek(), LBrace | Do);
        match self.peek() {
            LBrace if matches!(word, "stimulus" | "response" | "struct" | "var") => {
                self.error_here(codes::SYNTAX, "a comma is missing before `{`");
                self.value();
            }
            LBrace if word == "function" => self.function_block(opening),
            LBrace => {
                self.start(Block);
                self.bump();
                self.nested(word, |parser| parser.statements());
                self.close(RBrace, "}", opening);
                self.finish();
            }
            Do => {
                self.start(Block);
                self.bump();
                self.nested(word, |parser| parser.statements());
                self.close(End, "end", opening);
                self.finish();
            }
            _ => {}
        }
        self.finish();
        // `o { ... } o { ... }`: the bracket is enough of an end.
        if !(has_block && matches!(self.peek(), Ident | Def)) {
            self.end_of_statement();
        }
    }

    /// `MAX = 3`.
    fn names_a_constant(&self) -> bool {
        let name = self.significant(self.position, false);
        let mut sign = self.significant(name + 1, false);
        let is = |position: usize| {
            let token = self.tokens.get(position);
            token.is_some_and(|(_, span)| &self.text[span.clone()] == "=")
        };
        let upper = self.text_of_next().starts_with(|c: char| c.is_uppercase());
        let first = sign;
        sign += 1;
        upper && is(first) && !is(sign)
    }

    fn constant(&mut self) {
        self.trivia();
        self.start(Command);
        self.bump();
        self.bump();
        self.value();
        self.finish();
        self.end_of_statement();
    }

    /// Whether `[...].each`, `(...).each` or `NAME.each` comes next.
    fn starts_each(&self) -> bool {
        let mut position = self.significant(self.position, false);
        let mut depth = 0usize;
        loop {
            match self.kind_at(position) {
                EndOfFile | LBrace | RBrace | Do | Def | End => return false,
                LBracket | LParen => depth += 1,
                RBracket | RParen => depth = depth.saturating_sub(1),
                _ => {}
            }
            position += 1;
            if depth == 0 {
                break;
            }
        }
        let word = |position: usize| {
            let token = self.tokens.get(position);
            token.map_or("", |(_, span)| &self.text[span.clone()])
        };
        word(position) == "." && word(position + 1) == "each"
    }

    /// `[1, 2].each { |x| ... }`: the statements once for each item.
    fn each(&mut self) {
        self.trivia();
        self.start(Command);
        if self.peek() == LParen {
            self.bump();
            self.value();
            let opening = self.span_of_next();
            self.close(RParen, ")", opening);
        } else {
            self.value();
        }
        self.bump();
        self.bump();
        let opening = self.span_of_next();
        let (closing, written) = match self.peek() {
            LBrace => (RBrace, "}"),
            Do => (End, "end"),
            _ => {
                let found = self.found();
                let message = format!("expected `{{ |x| ... }}` after `each`, found {found}");
                self.error_here(codes::SYNTAX, message);
                self.finish();
                self.skip_statement();
                return;
            }
        };
        self.start(Block);
        self.bump();
        self.block_parameters();
        self.nested("each", |parser| parser.statements());
        self.close(closing, written, opening);
        self.finish();
        self.finish();
        if !matches!(self.peek(), Ident | Def | LBracket) {
            self.end_of_statement();
        }
    }

    /// Whether an assignment or a method call follows the word: Ruby, not a mistyped statement.
    fn ruby_follows(&self) -> bool {
        let word = self.significant(self.position, false);
        let after = self.significant(word + 1, false);
        let text = self
            .tokens
            .get(after)
            .map_or("", |(_, span)| &self.text[span.clone()]);
        matches!(text, "=" | "." | "+" | "*" | "<" | "&")
    }

    /// Ruby that is not part of the language, up to the end of its line or of its block.
    fn unsupported(&mut self, has_end: bool) {
        let from = self.span_of_next().start;
        let line = ruby::line_from(self.text, from);
        self.error(
            Diagnostic::new(
                codes::NOT_SUPPORTED,
                self.file,
                from..from + line.len(),
                format!("not supported: `{line}`"),
            )
            .hint("ioco reads the declarative part of the language, and no other Ruby"),
        );
        self.trivia();
        self.start(Error);
        let mut open = 0usize;
        loop {
            let kind = self.kind_at(self.position);
            let word = self
                .tokens
                .get(self.position)
                .map_or("", |t| &self.text[t.1.clone()]);
            match kind {
                EndOfFile => break,
                // `while x do` opens one block, not two.
                Do if !(has_end && open == 1) => open += 1,
                Def => open += 1,
                Ident if ruby::starts_ruby(word) == Some(ruby::Ruby::Block) => open += 1,
                End => {
                    open = open.saturating_sub(1);
                    if open == 0 {
                        self.push_token();
                        break;
                    }
                }
                RBrace if open == 0 => break,
                Newline if open == 0 => break,
                LBrace => {
                    self.push_token();
                    self.skip_balanced();
                }
                _ => {}
            }
            self.push_token();
        }
        self.finish();
    }

    fn end_of_statement(&mut self) {
        match self.peek() {
            Newline | Semicolon | RBrace | End | EndOfFile => {}
            _ => {
                let found = self.found();
                let message = format!("expected the end of the statement, found {found}");
                let previous_is_value = self.starts_value();
                self.error_here(codes::SYNTAX, message);
                if previous_is_value && let Some(last) = self.errors.last_mut() {
                    last.hint = Some("is a comma missing before it?".to_owned());
                }
                self.skip_statement();
            }
        }
    }

    /// Skips to the end of the statement, over whole brackets.
    fn skip_statement(&mut self) {
        self.trivia();
        self.start(Error);
        loop {
            match self.peek() {
                Newline | Semicolon | RBrace | End | EndOfFile => break,
                LParen | LBrace | LBracket | Do => {
                    self.bump();
                    self.skip_balanced();
                    if self.peek() != EndOfFile {
                        self.bump();
                    }
                }
                _ => self.bump(),
            }
        }
        self.finish();
    }

    fn starts_value(&self) -> bool {
        matches!(
            self.peek(),
            String | UnclosedString | Symbol | Number | Minus | LBracket | Ident
        )
    }

    fn parenthesised(&mut self) {
        self.trivia();
        let opening = self.span_of_next();
        self.start(Arguments);
        self.bump();
        self.nested("(", |parser| parser.arguments(true));
        self.close(RParen, ")", opening);
        self.finish();
    }

    /// Values separated by commas. Inside brackets the ends of lines do not matter; outside, a line
    /// goes on after a comma.
    fn arguments(&mut self, bracketed: bool) {
        loop {
            if bracketed {
                self.skip_newlines();
            }
            if matches!(self.peek(), RParen | RBracket | RBrace | EndOfFile | End) {
                return;
            }
            if !self.value() {
                return;
            }
            if bracketed {
                // A line end inside brackets is only a separator of what a person reads.
                let next = self.significant(self.position, true);
                if matches!(self.kind_at(next), Comma | RParen | RBracket | RBrace) {
                    self.skip_newlines();
                }
            }
            if self.peek() != Comma {
                return;
            }
            self.bump();
            if !bracketed {
                let next = self.significant(self.position, true);
                let word = self
                    .tokens
                    .get(next)
                    .map_or("", |t| &self.text[t.1.clone()]);
                let after = self.kind_at(self.significant(next + 1, false));
                let statement = self.kind_at(next) == Ident
                    && crate::words::is_statement(word)
                    && after != Colon;
                if statement || matches!(self.kind_at(next), RBrace | End | EndOfFile) {
                    self.error_here(codes::SYNTAX, "expected an argument after the comma");
                    return;
                }
                self.skip_newlines();
            }
        }
    }

    /// One value; `false` when there is none.
    fn value(&mut self) -> bool {
        self.trivia();
        let checkpoint = self.builder.checkpoint();
        match self.peek() {
            String | Symbol => self.literal(),
            UnclosedString => {
                let quote = self.text_of_next().chars().next().unwrap_or('\'');
                let written = if quote == '%' { ')' } else { quote };
                let message = format!("the string is not closed: {written} is missing");
                self.error_here(codes::NOT_CLOSED, message);
                self.literal();
            }
            Number => self.literal(),
            Minus => {
                self.start(Literal);
                self.bump();
                if !self.eat(Number) {
                    let found = self.found();
                    self.error_here(codes::SYNTAX, format!("expected a number, found {found}"));
                }
                self.finish();
            }
            LBracket => {
                let opening = self.span_of_next();
                self.start(Array);
                self.bump();
                self.nested("[", |parser| parser.arguments(true));
                self.close(RBracket, "]", opening);
                self.finish();
            }
            LBrace => {
                let opening = self.span_of_next();
                self.start(Hash);
                self.bump();
                self.nested("{", |parser| parser.arguments(true));
                self.close(RBrace, "}", opening);
                self.finish();
            }
            Ident if self.peek_second() == Colon => {
                self.start(Keyword);
                self.bump();
                self.bump();
                self.skip_newlines();
                self.nested(":", |parser| {
                    parser.value();
                });
                self.finish();
                return true;
            }
            Ident if self.peek_second() == LParen => {
                self.start(Call);
                self.bump();
                self.parenthesised();
                self.finish();
            }
            Ident => self.literal(),
            _ => {
                let found = self.found();
                self.error_here(codes::SYNTAX, format!("expected a value, found {found}"));
                return false;
            }
        }
        match self.peek() {
            DotDot => {
                self.builder
                    .start_node_at(checkpoint, Aml::kind_to_raw(IntegerRange));
                self.bump();
                self.nested("..", |parser| {
                    parser.value();
                });
                self.finish();
            }
            FatArrow => {
                self.builder
                    .start_node_at(checkpoint, Aml::kind_to_raw(Pair));
                self.bump();
                self.skip_newlines();
                self.nested("=>", |parser| {
                    parser.value();
                });
                self.finish();
            }
            _ => {}
        }
        true
    }

    fn literal(&mut self) {
        self.start(Literal);
        self.bump();
        self.finish();
    }

    /// `{ |x, y| expression }`: the body is kept as it stands.
    fn function_block(&mut self, opening: Range<usize>) {
        self.start(Block);
        self.bump();
        self.skip_newlines();
        self.block_parameters();
        self.start(Body);
        self.skip_balanced();
        self.finish();
        self.close(RBrace, "}", opening);
        self.finish();
    }

    /// `|x, y|`, where it comes next.
    fn block_parameters(&mut self) {
        if self.peek() != Pipe {
            return;
        }
        self.start(BlockParameters);
        self.bump();
        while matches!(self.peek(), Ident | Comma) {
            self.bump();
        }
        if !self.eat(Pipe) {
            let found = self.found();
            self.error_here(codes::SYNTAX, format!("expected `|`, found {found}"));
        }
        self.finish();
    }
}
