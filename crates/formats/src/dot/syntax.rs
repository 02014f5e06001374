//! The part of the Graphviz language that automata are written in: one graph of nodes and edges
//! with attributes. Defaults of nodes and edges are skipped; a subgraph only groups what it holds.

use std::iter::Peekable;

use super::super::FormatError;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// A bare, numeric or quoted name.
    Id(String),
    Arrow,
    Sign(char),
}

/// A node or an edge, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    pub line: u32,
    /// One node, or the nodes that a chain of arrows joins.
    pub nodes: Vec<String>,
    pub attributes: Vec<(String, String)>,
}

impl Statement {
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }
}

/// A directed graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// Nodes and edges, in order.
    pub statements: Vec<Statement>,
    /// The line, name and value of attributes of the graph itself.
    pub attributes: Vec<(u32, String, String)>,
}

/// Reads a directed graph.
pub fn parse(text: &str) -> Result<Graph, FormatError> {
    let tokens = tokens(text)?;
    let last_line = tokens.last().map_or(1, |(line, _)| *line);
    Parser {
        tokens: tokens.into_iter().peekable(),
        last_line,
    }
    .graph()
}

struct Parser<I: Iterator<Item = (u32, Token)>> {
    tokens: Peekable<I>,
    last_line: u32,
}

impl<I: Iterator<Item = (u32, Token)>> Parser<I> {
    fn error<T>(&mut self, expected: &str) -> Result<T, FormatError> {
        let (line, found) = match self.tokens.peek() {
            Some((line, Token::Id(text))) => (*line, format!("`{text}`")),
            Some((line, Token::Arrow)) => (*line, "`->`".to_owned()),
            Some((line, Token::Sign(sign))) => (*line, format!("`{sign}`")),
            None => (self.last_line, "the end of the file".to_owned()),
        };
        Err(FormatError::new(
            line,
            format!("{expected} expected, {found} found"),
        ))
    }

    fn take_sign(&mut self, sign: char) -> bool {
        self.tokens
            .next_if(|(_, token)| *token == Token::Sign(sign))
            .is_some()
    }

    fn take_id(&mut self) -> Option<String> {
        match self.tokens.next_if(|(_, t)| matches!(t, Token::Id(_))) {
            Some((_, Token::Id(text))) => Some(text),
            _ => None,
        }
    }

    fn take_keyword(&mut self, keyword: &str) -> bool {
        self.tokens
            .next_if(|(_, t)| matches!(t, Token::Id(text) if text.eq_ignore_ascii_case(keyword)))
            .is_some()
    }

    fn graph(mut self) -> Result<Graph, FormatError> {
        self.take_keyword("strict");
        if !self.take_keyword("digraph") {
            return self.error("`digraph`");
        }
        self.take_id();
        if !self.take_sign('{') {
            return self.error("`{`");
        }
        let mut graph = Graph::default();
        // How many subgraphs are open.
        let mut depth = 0;
        loop {
            if self.take_sign(';') {
                continue;
            }
            if self.take_sign('}') {
                if depth == 0 {
                    break;
                }
                depth -= 1;
                if matches!(self.tokens.peek(), Some((_, Token::Arrow))) {
                    return self.error("a node (edges from a subgraph are not read)");
                }
                continue;
            }
            if self.take_keyword("subgraph") {
                self.take_id();
                if !matches!(self.tokens.peek(), Some((_, Token::Sign('{')))) {
                    return self.error("`{`");
                }
            }
            if self.take_sign('{') {
                depth += 1;
                continue;
            }
            self.statement(depth == 0, &mut graph)?;
        }
        if self.tokens.peek().is_some() {
            return self.error("the end of the file");
        }
        Ok(graph)
    }

    /// A node, an edge, an attribute of the graph, or something to skip.
    fn statement(&mut self, at_top: bool, graph: &mut Graph) -> Result<(), FormatError> {
        let line = self.tokens.peek().map_or(self.last_line, |(line, _)| *line);
        let Some(first) = self.take_id() else {
            return self.error("a node");
        };
        if self.take_sign('=') {
            return match self.take_id() {
                Some(value) if at_top => {
                    graph.attributes.push((line, first, value));
                    Ok(())
                }
                Some(_) => Ok(()),
                None => self.error("a value"),
            };
        }
        let mut nodes = vec![first];
        self.skip_port()?;
        while self.tokens.next_if(|(_, t)| *t == Token::Arrow).is_some() {
            match self.take_id() {
                Some(node) => nodes.push(node),
                None => return self.error("a node"),
            }
            self.skip_port()?;
        }
        let mut attributes = Vec::new();
        while self.take_sign('[') {
            self.attribute_list(&mut attributes)?;
        }
        let is_default = nodes.len() == 1 && ["graph", "node", "edge"].contains(&nodes[0].as_str());
        if !is_default {
            graph.statements.push(Statement {
                line,
                nodes,
                attributes,
            });
        }
        Ok(())
    }

    /// `node:port:compass`; ports say where an arrow touches, not where it leads.
    fn skip_port(&mut self) -> Result<(), FormatError> {
        while self.take_sign(':') {
            if self.take_id().is_none() {
                return self.error("a port");
            }
        }
        Ok(())
    }

    fn attribute_list(&mut self, found: &mut Vec<(String, String)>) -> Result<(), FormatError> {
        while !self.take_sign(']') {
            if self.take_sign(',') || self.take_sign(';') {
                continue;
            }
            let Some(name) = self.take_id() else {
                return self.error("an attribute or `]`");
            };
            let mut value = "true".to_owned();
            if self.take_sign('=') {
                match self.take_id() {
                    Some(text) => value = text,
                    None => return self.error("a value"),
                }
            }
            found.push((name, value));
        }
        Ok(())
    }
}

fn tokens(text: &str) -> Result<Vec<(u32, Token)>, FormatError> {
    let mut tokens = Vec::new();
    let mut line = 1;
    let mut at_line_start = true;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let start_of_line = std::mem::replace(&mut at_line_start, first == '\n');
        let length = match first {
            '\n' => {
                line += 1;
                1
            }
            _ if first.is_whitespace() || first == '\u{feff}' => {
                at_line_start = start_of_line;
                first.len_utf8()
            }
            // A line that starts with `#` is for a preprocessor.
            '#' if start_of_line => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => {
                let Some(end) = rest.find("*/") else {
                    return Err(FormatError::new(line, "the comment does not end"));
                };
                line += count_lines(&rest[..end]);
                end + 2
            }
            '"' => {
                let Some((value, length)) = quoted(rest) else {
                    return Err(FormatError::new(line, "the quoted text does not end"));
                };
                tokens.push((line, Token::Id(value)));
                line += count_lines(&rest[..length]);
                length
            }
            '-' if rest.starts_with("->") => {
                tokens.push((line, Token::Arrow));
                2
            }
            '{' | '}' | '[' | ']' | ';' | ',' | '=' | ':' => {
                tokens.push((line, Token::Sign(first)));
                1
            }
            _ if is_name(first) || first == '-' => {
                let end = rest
                    .char_indices()
                    .skip(1)
                    .find(|(_, c)| !is_name(*c))
                    .map_or(rest.len(), |(position, _)| position);
                tokens.push((line, Token::Id(rest[..end].to_owned())));
                end
            }
            _ => {
                return Err(FormatError::new(
                    line,
                    format!("`{first}` is not expected here"),
                ));
            }
        };
        rest = &rest[length..];
    }
    Ok(tokens)
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '.'
}

fn count_lines(text: &str) -> u32 {
    text.matches('\n').count() as u32
}

/// A quoted text at the start of `text`: what it says, and how long it is with its quotes.
fn quoted(text: &str) -> Option<(String, usize)> {
    let mut value = String::new();
    let mut characters = text.char_indices().skip(1);
    while let Some((position, c)) = characters.next() {
        match c {
            '"' => return Some((value, position + 1)),
            '\\' => match characters.next()?.1 {
                'n' | 'l' | 'r' => value.push('\n'),
                // A backslash before the end of a line joins it with the next.
                '\n' => {}
                other @ ('"' | '\\') => value.push(other),
                other => {
                    value.push('\\');
                    value.push(other);
                }
            },
            _ => value.push(c),
        }
    }
    None
}
