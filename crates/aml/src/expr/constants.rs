//! Constants of the model in expressions: `MAX = 3`, and then `count < MAX`.

use crate::ast::{Span, Value, ValueKind};
use crate::expr::check::Checker;
use crate::expr::names::Resolution;
use crate::expr::parse::{Node, NodeKind};

impl Checker<'_> {
    /// The value of a name that means a constant and nothing else, as if it were written here.
    pub(super) fn constant(&self, node: &Node) -> Option<Node> {
        let NodeKind::Name(name) = &node.kind else {
            return None;
        };
        if self.names.meaning(name, None) != Resolution::Unknown {
            return None;
        }
        let mut constants = self.names.constants.iter();
        let (_, value) = constants.find(|(constant, _)| constant == name)?;
        written(value, &node.span)
    }
}

/// What an expression has for a value of the declarative part; not all of them have a place there.
fn written(value: &Value, span: &Span) -> Option<Node> {
    let kind = match &value.kind {
        ValueKind::Number(digits) if digits.contains('.') => NodeKind::Decimal(digits.clone()),
        ValueKind::Number(digits) => NodeKind::Integer(digits.clone()),
        ValueKind::Str(text) => NodeKind::Str(text.value.clone()),
        // Members of enumerations, and what was no constant where this one was declared.
        ValueKind::Name(name) => match name.as_str() {
            "true" => NodeKind::Bool(true),
            "false" => NodeKind::Bool(false),
            _ => return None,
        },
        ValueKind::Array(values) => {
            let items = values.iter().map(|value| written(value, span));
            NodeKind::Array(items.collect::<Option<Vec<Node>>>()?)
        }
        _ => return None,
    };
    Some(Node::new(kind, span.clone()))
}
