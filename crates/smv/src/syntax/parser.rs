//! Recursive descent over the tokens. After a mistake it goes on at the next section, so that one run reports several.

mod expression;

use super::lexer::{Lexeme, Token, lex};
use super::tree::{Constraint, Expr, Item, Module, Section, Type, TypeKind, When};
use crate::diagnostic::{Problem, Span};

/// Expressions nested deeper than this are refused rather than risked on the stack: by brackets, and by long chains of
/// operators that associate to the left.
pub(crate) const DEPTH_LIMIT: usize = 3000;

const ARRAY_DEPTH: usize = 32;

const SECTIONS: [&str; 29] = [
    "MODULE",
    "VAR",
    "IVAR",
    "FROZENVAR",
    "DEFINE",
    "ASSIGN",
    "INIT",
    "TRANS",
    "INVAR",
    "FAIRNESS",
    "JUSTICE",
    "COMPASSION",
    "CONSTANTS",
    "ISA",
    "INVARSPEC",
    "SPEC",
    "CTLSPEC",
    "LTLSPEC",
    "PSLSPEC",
    "COMPUTE",
    "PRED",
    "MIRROR",
    "GOTO",
    "CONSTRAINT",
    "SIMPWFF",
    "CTLWFF",
    "LTLWFF",
    "PSLWFF",
    "COMPID",
];

use expression::ADDITIVE;
pub(crate) use expression::too_deep;

type Parsed<T> = Result<T, Problem>;

pub(crate) struct Parser<'t> {
    text: &'t str,
    lexemes: Vec<Lexeme>,
    at: usize,
    depth: usize,
    pub problems: Vec<Problem>,
}

pub(crate) fn parse(text: &str) -> (Vec<Module>, Vec<Problem>) {
    let (lexemes, problems) = lex(text);
    let mut parser = Parser {
        text,
        lexemes,
        at: 0,
        depth: 0,
        problems,
    };
    let modules = parser.modules();
    (modules, parser.problems)
}

/// A single expression, as given on the command line for a goal.
pub(crate) fn parse_expression(text: &str) -> Result<Expr, Problem> {
    let (lexemes, mut problems) = lex(text);
    if !problems.is_empty() {
        return Err(problems.remove(0));
    }
    let mut parser = Parser {
        text,
        lexemes,
        at: 0,
        depth: 0,
        problems: Vec::new(),
    };
    let expr = parser.expr()?;
    match parser.peek() {
        Token::End => Ok(expr),
        _ => Err(parser.unexpected("the end of the expression")),
    }
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        &self.lexemes[self.at].token
    }

    fn peek_second(&self) -> &Token {
        &self.lexemes[(self.at + 1).min(self.lexemes.len() - 1)].token
    }

    fn span(&self) -> Span {
        self.lexemes[self.at].span
    }

    fn last_span(&self) -> Span {
        self.lexemes[self.at.saturating_sub(1)].span
    }

    fn bump(&mut self) {
        if self.at + 1 < self.lexemes.len() {
            self.at += 1;
        }
    }

    fn sign(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Token::Sign(s) if *s == sign);
        if found {
            self.bump();
        }
        found
    }

    fn at_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Token::Sign(s) if *s == sign)
    }

    fn word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.bump();
        }
        found
    }

    fn at_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Name(name) if name == word)
    }

    fn unexpected(&self, wanted: &str) -> Problem {
        let found = match self.peek() {
            Token::Name(name) => format!("`{name}`"),
            Token::Number(number) => format!("`{number}`"),
            Token::Sign(sign) => format!("`{sign}`"),
            Token::End => "the end of the text".to_owned(),
        };
        Problem::error(self.span(), format!("expected {wanted}, found {found}"))
    }

    fn expect(&mut self, sign: &str) -> Parsed<()> {
        if self.sign(sign) {
            Ok(())
        } else {
            Err(self.unexpected(&format!("`{sign}`")))
        }
    }

    fn name(&mut self, wanted: &str) -> Parsed<(String, Span)> {
        match self.peek() {
            Token::Name(name) if !SECTIONS.contains(&name.as_str()) => {
                let name = name.clone();
                let span = self.span();
                self.bump();
                Ok((name, span))
            }
            _ => Err(self.unexpected(wanted)),
        }
    }

    fn at_section(&self) -> bool {
        match self.peek() {
            Token::Name(name) => SECTIONS.contains(&name.as_str()),
            Token::End => true,
            _ => false,
        }
    }

    fn skip_to_section(&mut self) {
        while !self.at_section() {
            self.bump();
        }
    }

    fn modules(&mut self) -> Vec<Module> {
        let mut modules = Vec::new();
        loop {
            match self.peek() {
                Token::End => return modules,
                Token::Name(name) if name == "MODULE" => {
                    self.bump();
                    match self.module() {
                        Ok(module) => modules.push(module),
                        Err(problem) => {
                            self.problems.push(problem);
                            self.skip_to_module();
                        }
                    }
                }
                _ => {
                    let problem = self.unexpected("`MODULE`");
                    self.problems.push(problem);
                    self.skip_to_module();
                }
            }
        }
    }

    fn skip_to_module(&mut self) {
        while !matches!(self.peek(), Token::End) && !self.at_word("MODULE") {
            self.bump();
        }
    }

    fn module(&mut self) -> Parsed<Module> {
        let (name, span) = self.name("the name of the module")?;
        let mut parameters = Vec::new();
        if self.sign("(") && !self.sign(")") {
            loop {
                parameters.push(self.name("a parameter")?.0);
                if self.sign(")") {
                    break;
                }
                self.expect(",")?;
            }
        }
        let mut module = Module {
            name,
            parameters,
            items: Vec::new(),
            span,
        };
        loop {
            if matches!(self.peek(), Token::End) || self.at_word("MODULE") {
                return Ok(module);
            }
            if self.sign(";") {
                continue;
            }
            if let Err(problem) = self.section(&mut module.items) {
                self.problems.push(problem);
                if !self.at_section() {
                    self.bump();
                }
                self.skip_to_section();
            }
        }
    }

    fn section(&mut self, items: &mut Vec<Item>) -> Parsed<()> {
        if !self.at_section() {
            return Err(self.unexpected("a section such as `VAR` or `ASSIGN`"));
        }
        let (keyword, span) = match self.peek() {
            Token::Name(name) => (name.clone(), self.span()),
            _ => return Err(self.unexpected("a section")),
        };
        self.bump();
        match keyword.as_str() {
            "VAR" => self.variables(Section::Var, items),
            "IVAR" => self.variables(Section::Input, items),
            "FROZENVAR" => self.variables(Section::Frozen, items),
            "DEFINE" => self.defines(items),
            "ASSIGN" => self.assigns(items),
            "INIT" => self.constraint(Constraint::Init, items),
            "TRANS" => self.constraint(Constraint::Trans, items),
            "INVAR" => self.constraint(Constraint::Invar, items),
            "FAIRNESS" | "JUSTICE" => {
                let body = self.expr()?;
                self.sign(";");
                items.push(Item::Fairness { bodies: vec![body] });
                Ok(())
            }
            "COMPASSION" => {
                self.expect("(")?;
                let first = self.expr()?;
                self.expect(",")?;
                let second = self.expr()?;
                self.expect(")")?;
                self.sign(";");
                items.push(Item::Fairness {
                    bodies: vec![first, second],
                });
                Ok(())
            }
            "CONSTANTS" => {
                let mut names = Vec::new();
                loop {
                    match self.peek() {
                        // Numbers are constants anyway.
                        Token::Number(_) => self.bump(),
                        Token::Sign("-") => {
                            self.bump();
                            self.bump();
                        }
                        _ => names.push(self.name("a constant")?),
                    }
                    if !self.sign(",") {
                        break;
                    }
                }
                self.sign(";");
                items.push(Item::Constants(names));
                Ok(())
            }
            "ISA" => {
                let (name, span) = self.name("the name of a module")?;
                self.sign(";");
                items.push(Item::Inherit(name, span));
                Ok(())
            }
            "INVARSPEC" => {
                let name = self.specification_name();
                let body = self.expr()?;
                self.sign(";");
                items.push(Item::Invarspec { name, body });
                Ok(())
            }
            "SPEC" | "CTLSPEC" | "LTLSPEC" | "PSLSPEC" | "COMPUTE" => {
                let start = self.span().start as usize;
                while !self.at_section() && !self.at_sign(";") {
                    self.bump();
                }
                let end = self.last_span().end as usize;
                self.sign(";");
                items.push(Item::Specification {
                    keyword,
                    text: self
                        .text
                        .get(start..end)
                        .unwrap_or_default()
                        .trim()
                        .to_owned(),
                });
                Ok(())
            }
            _ => Err(Problem::error(
                span,
                format!("a `{keyword}` section is not supported"),
            )),
        }
    }

    fn specification_name(&mut self) -> Option<String> {
        if self.at_word("NAME") && matches!(self.peek_second(), Token::Name(_)) {
            self.bump();
            let name = self.name("a name").ok().map(|(name, _)| name);
            self.sign(":=");
            return name;
        }
        None
    }

    fn constraint(&mut self, kind: Constraint, items: &mut Vec<Item>) -> Parsed<()> {
        let body = self.expr()?;
        self.sign(";");
        items.push(Item::Constraint { kind, body });
        Ok(())
    }

    fn variables(&mut self, section: Section, items: &mut Vec<Item>) -> Parsed<()> {
        while !self.at_section() {
            let name = self.path()?;
            self.expect(":")?;
            let type_ = self.type_()?;
            self.expect(";")?;
            items.push(Item::Variable {
                section,
                name,
                type_,
            });
        }
        Ok(())
    }

    fn type_(&mut self) -> Parsed<Type> {
        let start = self.span();
        let kind = match self.peek().clone() {
            Token::Name(word) if word == "boolean" => {
                self.bump();
                TypeKind::Boolean
            }
            Token::Name(word) if word == "array" => {
                self.bump();
                let low = self.binary(ADDITIVE)?;
                self.expect("..")?;
                let high = self.binary(ADDITIVE)?;
                if !self.word("of") {
                    return Err(self.unexpected("`of`"));
                }
                self.depth += 1;
                if self.depth > ARRAY_DEPTH {
                    return Err(Problem::error(start, "arrays are nested too deep"));
                }
                let element = self.type_();
                self.depth -= 1;
                TypeKind::Array(low, high, Box::new(element?))
            }
            Token::Name(word)
                if matches!(
                    word.as_str(),
                    "word" | "unsigned" | "signed" | "integer" | "real"
                ) =>
            {
                let word = match word.as_str() {
                    sign @ ("unsigned" | "signed") => format!("{sign} word"),
                    other => other.to_owned(),
                };
                return Err(Problem::error(
                    start,
                    format!("variables of type `{word}` are not supported"),
                )
                .hint(
                    "use boolean, a range such as 0..255, an enumeration, or an array of these",
                ));
            }
            Token::Name(word) if word == "process" => {
                self.bump();
                self.instance(true)?
            }
            Token::Sign("{") => {
                self.bump();
                let mut values = Vec::new();
                while !self.sign("}") {
                    values.push(self.binary(ADDITIVE)?);
                    if !self.at_sign("}") {
                        self.expect(",")?;
                    }
                }
                TypeKind::Enum(values)
            }
            Token::Name(_)
                if !matches!(
                    self.peek_second(),
                    Token::Sign(".." | "+" | "-" | "*" | "/")
                ) =>
            {
                self.instance(false)?
            }
            _ => {
                let low = self.binary(ADDITIVE)?;
                self.expect("..")?;
                TypeKind::Range(low, self.binary(ADDITIVE)?)
            }
        };
        Ok(Type {
            kind,
            span: start.to(self.last_span()),
        })
    }

    fn instance(&mut self, process: bool) -> Parsed<TypeKind> {
        let (module, _) = self.name("the name of a module")?;
        let mut arguments = Vec::new();
        if self.sign("(") && !self.sign(")") {
            loop {
                arguments.push(self.expr()?);
                if self.sign(")") {
                    break;
                }
                self.expect(",")?;
            }
        }
        Ok(TypeKind::Instance {
            module,
            arguments,
            process,
        })
    }

    fn defines(&mut self, items: &mut Vec<Item>) -> Parsed<()> {
        while !self.at_section() {
            let name = self.path()?;
            self.expect(":=")?;
            let body = self.expr()?;
            self.expect(";")?;
            items.push(Item::Define { name, body });
        }
        Ok(())
    }

    fn assigns(&mut self, items: &mut Vec<Item>) -> Parsed<()> {
        while !self.at_section() {
            if self.sign(";") {
                continue;
            }
            let when = match (self.peek(), self.peek_second()) {
                (Token::Name(word), Token::Sign("(")) if word == "init" => When::Init,
                (Token::Name(word), Token::Sign("(")) if word == "next" => When::Next,
                _ => When::Always,
            };
            let target = if when == When::Always {
                self.path()?
            } else {
                self.bump();
                self.bump();
                let target = self.path()?;
                self.expect(")")?;
                target
            };
            self.expect(":=")?;
            let value = self.expr()?;
            if !self.at_section() {
                self.expect(";")?;
            }
            items.push(Item::Assign {
                when,
                target,
                value,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::tree::{Kind, Operator};

    #[test]
    fn negation_binds_tighter_than_comparison() {
        let expr = parse_expression("!a = b").unwrap();
        assert!(matches!(*expr.kind, Kind::Binary(Operator::Equal, _, _)));
    }

    #[test]
    fn implication_associates_to_the_right() {
        let expr = parse_expression("a -> b -> c").unwrap();
        let Kind::Binary(Operator::Implies, _, right) = *expr.kind else {
            panic!("an implication");
        };
        assert!(matches!(*right.kind, Kind::Binary(Operator::Implies, _, _)));
    }

    #[test]
    fn one_run_reports_several_mistakes() {
        let (_, problems) = parse("MODULE main\nVAR x : ;\nASSIGN\n init(x := 1;\n");
        assert_eq!(problems.len(), 2);
    }

    #[test]
    fn nesting_without_end_is_refused() {
        let text = "(".repeat(20_000);
        let problem = crate::stack::with_room(|| parse_expression(&text).unwrap_err());
        assert!(problem.message.contains("nested"));
    }
}
