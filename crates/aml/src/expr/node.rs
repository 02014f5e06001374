//! What an expression is parsed to: a small tree with the place of every part.

use std::ops::Range;

use ioco_sts::{BinaryOp, UnaryOp};

/// Every walk over an expression recurses once per level, so its height is limited here and nowhere
/// else. Operators in a row count as levels. Conditions joined with `&&` or `||` do not: they make a
/// shallow tree however many there are.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub kind: NodeKind,
    pub span: Range<usize>,
    /// Levels from here down to the deepest leaf, which has one.
    pub height: u64,
}

impl Node {
    pub fn new(kind: NodeKind, span: Range<usize>) -> Node {
        let of = |node: &Node| node.height;
        let below = match &kind {
            NodeKind::Void
            | NodeKind::Bool(_)
            | NodeKind::Integer(_)
            | NodeKind::Decimal(_)
            | NodeKind::Str(_)
            | NodeKind::Name(_)
            | NodeKind::Wrong => 0,
            NodeKind::Unary(_, inner)
            | NodeKind::Field(inner, ..)
            | NodeKind::Matches(inner, ..) => inner.height,
            NodeKind::Binary(_, both) | NodeKind::In(both) | NodeKind::Joined(_, both) => {
                both[0].height.max(both[1].height)
            }
            NodeKind::If(all) | NodeKind::InRange(all) => all.iter().map(of).max().unwrap_or(0),
            NodeKind::Array(items) | NodeKind::Set(items) | NodeKind::Call(_, _, items) => {
                items.iter().map(of).max().unwrap_or(0)
            }
            NodeKind::Hash(pairs) => {
                let height = |[key, value]: &[Node; 2]| key.height.max(value.height);
                pairs.iter().map(height).max().unwrap_or(0)
            }
            NodeKind::Prefix(both) | NodeKind::Range(both) => both[0].height.max(both[1].height),
            NodeKind::Slice(all) => all.iter().map(of).max().unwrap_or(0),
            NodeKind::Record(_, _, fields) => fields
                .iter()
                .map(|(_, _, node)| of(node))
                .max()
                .unwrap_or(0),
            NodeKind::Changed(record, _, fields) => fields
                .iter()
                .map(|(_, _, node)| of(node))
                .fold(record.height, u64::max),
            NodeKind::Method(call) => {
                let block = call.block.as_ref().map_or(0, |block| block.body.height);
                let arguments = call.arguments.iter().map(of).max().unwrap_or(0);
                call.receiver.height.max(arguments).max(block)
            }
        };
        let height = below + 1;
        Node { kind, span, height }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum NodeKind {
    Void,
    Bool(bool),
    Integer(String),
    Decimal(String),
    Str(String),
    Name(String),
    Unary(UnaryOp, Box<Node>),
    Binary(BinaryOp, Box<[Node; 2]>),
    If(Box<[Node; 3]>),
    /// `x in [a, b]`, or `x in xs`.
    In(Box<[Node; 2]>),
    InRange(Box<[Node; 3]>),
    Array(Vec<Node>),
    /// `Set[1, 2]`.
    Set(Vec<Node>),
    /// `{"a" => 1}`: keys and values.
    Hash(Vec<[Node; 2]>),
    /// `a | b`, `a & b`.
    Joined(SetOp, Box<[Node; 2]>),
    Field(Box<Node>, String, Range<usize>),
    /// The pattern, and where it stands.
    Matches(Box<Node>, String, Range<usize>),
    Call(String, Range<usize>, Vec<Node>),
    /// `a <~ b`: an array is the beginning of another.
    Prefix(Box<[Node; 2]>),
    /// `(1..n)`, both included.
    Range(Box<[Node; 2]>),
    /// `xs[a..b]`: array, first and last index.
    Slice(Box<[Node; 3]>),
    /// `Shop(action: 1)`: the name of the structure and where it stands, the fields and their values.
    Record(String, Range<usize>, Vec<(String, Range<usize>, Node)>),
    /// `shop.with(action: 1)`: the structure, where `with` stands, the fields that change and their values.
    Changed(Box<Node>, Range<usize>, Vec<(String, Range<usize>, Node)>),
    Method(Box<MethodCall>),
    /// Reported already.
    Wrong,
}

/// An operator of sets that arrays do not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetOp {
    Union,
    Intersection,
}

/// `xs.all? { |x| x > 0 }`, `xs.include?(3)`.
#[derive(Clone, Debug, PartialEq)]
pub struct MethodCall {
    pub receiver: Node,
    pub name: String,
    pub name_span: Range<usize>,
    pub arguments: Vec<Node>,
    pub block: Option<BlockNode>,
}

/// `{ |x| body }`.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockNode {
    pub parameters: Vec<String>,
    pub body: Node,
    /// From bracket to bracket.
    pub span: Range<usize>,
}

/// `x = e`, with `x += e` written out by the parser's caller.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    pub target: Node,
    /// The operator of `+=` and the like.
    pub with: Option<BinaryOp>,
    pub value: Node,
}
