//! The formatter: one way to write a model, with the author's line breaks and all comments kept.
//!
//! It goes over the tokens of the tree and decides what stands between each two of them; the tokens
//! themselves stay as they are, except for semicolons that separate nothing.

use crate::diagnostic::{self, Diagnostic, SourceFile};
use crate::parser;
use crate::syntax::{SyntaxElement, SyntaxKind, SyntaxNode};

const INDENT: usize = 2;
/// How much farther in the later lines of a statement stand.
const CONTINUATION: usize = 4;

/// The text in the standard form, or what is wrong with it. Formatting twice changes nothing more.
pub fn format(text: &str) -> Result<String, Vec<Diagnostic>> {
    let parse = parser::parse(text, 0);
    if !parse.errors.is_empty() {
        let files = [SourceFile {
            name: "model".to_owned(),
            text: text.to_owned(),
        }];
        let mut errors = parse.errors;
        diagnostic::finish(&mut errors, &files);
        return Err(errors);
    }
    let mut collector = Collector {
        pieces: Vec::new(),
        newlines: 0,
        starts: false,
        force: false,
    };
    collector.node(&parse.tree(), 0);
    let pieces = without_idle_semicolons(collector.pieces);
    Ok(written(&pieces))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Plain,
    /// The first token of a statement.
    Statement,
    /// Opens or closes a block; whether the block has more than one line.
    Open(bool),
    Close(bool),
    Comment,
}

struct Piece {
    text: String,
    kind: SyntaxKind,
    parent: SyntaxKind,
    role: Role,
    /// Blocks around.
    depth: usize,
    /// Line ends before it in the source.
    newlines: usize,
}

struct Collector {
    pieces: Vec<Piece>,
    newlines: usize,
    /// The next token is the first of a statement.
    starts: bool,
    /// The next statement begins a line, whatever the source says.
    force: bool,
}

impl Collector {
    fn node(&mut self, node: &SyntaxNode, depth: usize) {
        let kind = node.kind();
        let several_lines = kind == SyntaxKind::Macro || has_lines(node);
        let mut statements = 0;
        for child in node.children_with_tokens() {
            match child {
                SyntaxElement::Node(child) => match child.kind() {
                    SyntaxKind::Block => self.node(&child, depth + 1),
                    SyntaxKind::Body => self.body(&child, depth),
                    SyntaxKind::Command | SyntaxKind::Macro => {
                        self.starts = true;
                        self.force = kind == SyntaxKind::Macro && statements == 0;
                        statements += 1;
                        let inside = depth + usize::from(child.kind() == SyntaxKind::Macro);
                        self.node(&child, inside);
                    }
                    _ => self.node(&child, depth),
                },
                SyntaxElement::Token(token) => {
                    let role = match token.kind() {
                        SyntaxKind::Whitespace => continue,
                        SyntaxKind::Newline => {
                            self.newlines += 1;
                            continue;
                        }
                        SyntaxKind::Semicolon if kind == SyntaxKind::Macro && statements == 0 => {
                            continue;
                        }
                        SyntaxKind::Comment => Role::Comment,
                        SyntaxKind::LBrace | SyntaxKind::Do if kind == SyntaxKind::Block => {
                            Role::Open(several_lines)
                        }
                        SyntaxKind::RBrace | SyntaxKind::End if kind == SyntaxKind::Block => {
                            Role::Close(several_lines)
                        }
                        SyntaxKind::End if kind == SyntaxKind::Macro => Role::Close(true),
                        _ => Role::Plain,
                    };
                    self.push(token.text().trim_end(), token.kind(), kind, role, depth);
                }
            }
        }
    }

    fn push(&mut self, text: &str, kind: SyntaxKind, parent: SyntaxKind, role: Role, depth: usize) {
        let mut role = role;
        let mut depth = depth;
        if self.starts && role == Role::Plain {
            role = Role::Statement;
            self.starts = false;
            if std::mem::take(&mut self.force) {
                self.newlines = self.newlines.max(1);
            }
            // The word `def` stands outside its own block.
            if parent == SyntaxKind::Macro {
                depth -= 1;
            }
        }
        if matches!(role, Role::Close(_)) {
            depth -= 1;
        }
        self.pieces.push(Piece {
            text: text.to_owned(),
            kind,
            parent,
            role,
            depth,
            newlines: std::mem::take(&mut self.newlines),
        });
    }

    /// The body of a function stays as it is.
    fn body(&mut self, node: &SyntaxNode, depth: usize) {
        let text = node.text().to_string();
        let text = text.trim();
        if !text.is_empty() {
            self.newlines = 0;
            self.push(
                text,
                SyntaxKind::Body,
                SyntaxKind::Block,
                Role::Plain,
                depth,
            );
        }
        // A comment at its end must not swallow the bracket.
        let comment = node
            .descendants_with_tokens()
            .any(|e| e.kind() == SyntaxKind::Comment);
        self.newlines = usize::from(comment);
    }
}

/// Whether a block is written on several lines: a line ends in it outside its strings and outside
/// the body of a function.
fn has_lines(node: &SyntaxNode) -> bool {
    node.kind() == SyntaxKind::Block
        && node
            .descendants_with_tokens()
            .filter_map(SyntaxElement::into_token)
            .any(|token| {
                token.kind() == SyntaxKind::Newline
                    && !token
                        .parent_ancestors()
                        .any(|a| a.kind() == SyntaxKind::Body)
            })
}

/// Leaves out the semicolons that do not stand between two statements of one line.
fn without_idle_semicolons(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut kept: Vec<Piece> = Vec::with_capacity(pieces.len());
    let mut moved = 0;
    let mut pieces = pieces.into_iter().peekable();
    while let Some(mut piece) = pieces.next() {
        piece.newlines += std::mem::take(&mut moved);
        if piece.kind == SyntaxKind::Semicolon {
            let after_statement = kept.last().is_some_and(|before| {
                !matches!(before.role, Role::Open(_) | Role::Comment)
                    && before.kind != SyntaxKind::Semicolon
            });
            let before_statement = pieces
                .peek()
                .is_some_and(|next| next.role == Role::Statement && next.newlines == 0);
            if piece.newlines > 0 || !after_statement || !before_statement {
                moved = piece.newlines;
                continue;
            }
        }
        kept.push(piece);
    }
    kept
}

fn written(pieces: &[Piece]) -> String {
    let mut text = String::new();
    for (index, piece) in pieces.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| &pieces[before]);
        match before.map_or(Gap::None, |before| gap(before, piece)) {
            Gap::None => {}
            Gap::Space => text.push(' '),
            Gap::Lines(count) => {
                text.extend(std::iter::repeat_n('\n', count));
                let further = if continues(piece) { CONTINUATION } else { 0 };
                let columns = piece.depth * INDENT + further;
                text.extend(std::iter::repeat_n(' ', columns));
            }
        }
        text.push_str(&piece.text);
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

/// Whether a piece that begins a line goes on with the statement of an earlier line.
fn continues(piece: &Piece) -> bool {
    match piece.role {
        Role::Statement | Role::Open(_) | Role::Close(_) => false,
        Role::Comment => !matches!(
            piece.parent,
            SyntaxKind::File | SyntaxKind::Block | SyntaxKind::Macro
        ),
        Role::Plain => !matches!(
            piece.kind,
            SyntaxKind::RParen | SyntaxKind::RBracket | SyntaxKind::RBrace
        ),
    }
}

enum Gap {
    None,
    Space,
    Lines(usize),
}

fn gap(before: &Piece, piece: &Piece) -> Gap {
    let lines = piece.newlines;
    match (before.role, piece.role) {
        (Role::Comment, Role::Close(_)) => Gap::Lines(1),
        (Role::Open(_), Role::Comment) if lines > 0 => Gap::Lines(1),
        (_, Role::Comment) if lines == 0 => Gap::Space,
        // The parameters of a block stand beside its bracket.
        (Role::Open(_), _) if piece.parent == SyntaxKind::BlockParameters => Gap::Space,
        (Role::Open(true), _) | (_, Role::Close(true)) => Gap::Lines(1),
        (Role::Comment, _) | (_, Role::Comment) => {
            let inside = continues(piece);
            Gap::Lines(lines.clamp(1, if inside { 1 } else { 2 }))
        }
        (_, Role::Close(false)) if lines > 0 => Gap::Lines(1),
        (Role::Open(false), _) | (_, Role::Close(false)) => Gap::Space,
        (_, Role::Statement) if lines > 0 => Gap::Lines(lines.min(2)),
        (_, Role::Statement | Role::Open(_)) => Gap::Space,
        _ if lines > 0 => Gap::Lines(1),
        _ => spacing(before, piece),
    }
}

/// Between two tokens of one line.
fn spacing(before: &Piece, piece: &Piece) -> Gap {
    use SyntaxKind::*;
    let hash = |p: &Piece| p.parent == Hash;
    match (before.kind, piece.kind) {
        (_, Comma | Semicolon | RParen | RBracket | Colon) => Gap::None,
        (LParen | LBracket, _) => Gap::None,
        (LBrace, _) if hash(before) => Gap::None,
        (_, RBrace) if hash(piece) => Gap::None,
        (DotDot, _) | (_, DotDot) => Gap::None,
        (Minus, _) => Gap::None,
        (Ident, LParen) => Gap::None,
        (Pipe, Ident) if before.parent == BlockParameters => Gap::None,
        (_, Pipe) if piece.parent == BlockParameters && !matches!(before.kind, LBrace | Do) => {
            Gap::None
        }
        (Other, _) if before.text == "." => Gap::None,
        (_, Other) if piece.text == "." => Gap::None,
        _ => Gap::Space,
    }
}
