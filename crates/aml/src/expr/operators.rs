//! The types of operators: what they work on, and what they give.

use ioco_sts::{BinaryOp, Expr, Type, UnaryOp, Value};

use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::expr::check::Checker;
use crate::expr::keyed::is_written_out;
use crate::expr::known::{
    ExpectedType, Known, arithmetic, coerce, coerce_both, comparable, is_array, is_number, joined,
    wanted,
};
use crate::expr::names::Resolution;
use crate::expr::parse::{Node, NodeKind};

impl Checker<'_> {
    pub(super) fn unary(&mut self, op: UnaryOp, inner: &Node) -> (Expr, Known) {
        let (expr, known) = self.check(inner, None);
        let (operation, wanted) = match op {
            UnaryOp::Not => ("`!`", "a boolean"),
            UnaryOp::Neg => ("`-`", "a number"),
            UnaryOp::Abs => ("`abs`", "a number"),
            UnaryOp::Length => ("`length`", "an array or a string"),
            UnaryOp::Last => ("`last`", "an array"),
        };
        let result = match (op, &known) {
            (UnaryOp::Not, Known::Of(Type::Bool)) => Type::Bool,
            (UnaryOp::Neg | UnaryOp::Abs, Known::Of(Type::Int(_))) => Type::INTEGER,
            (UnaryOp::Neg | UnaryOp::Abs, Known::Of(Type::Decimal)) => Type::Decimal,
            (UnaryOp::Length, Known::Of(Type::Array(_) | Type::Str) | Known::EmptyArray) => {
                Type::INTEGER
            }
            (UnaryOp::Last, Known::Of(Type::Array(item))) => (**item).clone(),
            _ => return self.needs(inner, operation, wanted, &known),
        };
        (Expr::unary(op, expr), Known::Of(result))
    }

    /// Both operands; the one whose type decides between members of the same name goes first.
    pub(super) fn operands(
        &mut self,
        left: &Node,
        right: &Node,
        expected: Option<ExpectedType>,
    ) -> ((Expr, Known), (Expr, Known)) {
        let member = expected.and_then(ExpectedType::member);
        let left_waits = matches!(&left.kind, NodeKind::Name(name)
            if matches!(self.names.meaning(name, member), Resolution::Ambiguous(_)))
            || is_written_out(left);
        if left_waits {
            let second = self.check(right, expected);
            let first = self.check(left, wanted(&second.1).or(expected));
            (first, second)
        } else {
            let first = self.check(left, expected);
            let second = self.check(right, wanted(&first.1).or(expected));
            (first, second)
        }
    }

    pub(super) fn binary(
        &mut self,
        node: &Node,
        op: BinaryOp,
        left: &Node,
        right: &Node,
        expected: Option<ExpectedType>,
    ) -> (Expr, Known) {
        let operands = self.operands(left, right, expected);
        self.operation(node, op, [left, right], operands)
    }

    /// An operation on operands that were checked. It is a function of its own because deep expressions have many
    /// operators under way at once, and what is here would take up their stack.
    fn operation(
        &mut self,
        node: &Node,
        op: BinaryOp,
        [left, right]: [&Node; 2],
        ((first, first_type), (second, second_type)): ((Expr, Known), (Expr, Known)),
    ) -> (Expr, Known) {
        if first_type == Known::Wrong || second_type == Known::Wrong {
            return Self::wrong();
        }
        let operands = [(first, first_type), (second, second_type)];
        let [(first, first_type), (second, second_type)] =
            match self.keyed_binary(node, op, [left, right], operands) {
                Ok(done) => return done,
                Err(others) => others,
            };
        let symbol = op.symbol().unwrap_or(match op {
            BinaryOp::Min => "min",
            BinaryOp::Max => "max",
            _ => "[ ]",
        });
        let operation = format!("`{symbol}`");
        let bool_type = Known::Of(Type::Bool);
        let result = match op {
            BinaryOp::And | BinaryOp::Or => {
                for (known, operand) in [(&first_type, left), (&second_type, right)] {
                    if *known != bool_type {
                        return self.needs(operand, &operation, "a boolean", known);
                    }
                }
                bool_type
            }
            BinaryOp::Eq | BinaryOp::Ne => {
                if !comparable(&first_type, &second_type) {
                    return self.never_equal(op, [left, right], [&first_type, &second_type]);
                }
                bool_type
            }
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
                if let Some(wrong) =
                    self.ordered(&operation, [(left, &first_type), (right, &second_type)])
                {
                    return wrong;
                }
                if !comparable(&first_type, &second_type) {
                    return self.mismatch(node, left, right, &first_type, &second_type);
                }
                bool_type
            }
            BinaryOp::Min | BinaryOp::Max => {
                if let Some(wrong) =
                    self.ordered(&operation, [(left, &first_type), (right, &second_type)])
                {
                    return wrong;
                }
                if !comparable(&first_type, &second_type) {
                    return self.mismatch(node, left, right, &first_type, &second_type);
                }
                joined(&first_type, &second_type)
            }
            BinaryOp::Index => {
                if !matches!(second_type, Known::Of(Type::Int(_))) {
                    return self.needs(right, "an index", "an integer", &second_type);
                }
                if self.is_negative_index(right) {
                    return Self::wrong();
                }
                match &first_type {
                    Known::Of(Type::Array(item)) => Known::Of((**item).clone()),
                    _ => return self.needs(left, "`[ ]`", "an array", &first_type),
                }
            }
            BinaryOp::Add
                if is_array(&first_type)
                    || is_array(&second_type)
                    || first_type == Known::Of(Type::Str)
                    || second_type == Known::Of(Type::Str) =>
            {
                if !comparable(&first_type, &second_type)
                    || first_type == Known::Void
                    || second_type == Known::Void
                {
                    return self.mismatch(node, left, right, &first_type, &second_type);
                }
                joined(&first_type, &second_type)
            }
            BinaryOp::Sub if is_array(&first_type) && is_array(&second_type) => {
                if !comparable(&first_type, &second_type) {
                    return self.mismatch(node, left, right, &first_type, &second_type);
                }
                // From nothing, nothing is taken, and taking nothing changes nothing.
                let (Known::Of(Type::Array(item)), Known::Of(removed)) =
                    (&first_type, &second_type)
                else {
                    return (first, first_type);
                };
                return self.without(node, first, item, (second, removed));
            }
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => {
                for (known, operand) in [(&first_type, left), (&second_type, right)] {
                    if !is_number(known) {
                        let wanted = match op {
                            BinaryOp::Add => "numbers, strings or arrays",
                            _ => "numbers",
                        };
                        return self.needs(operand, &operation, wanted, known);
                    }
                }
                arithmetic(&first_type, &second_type)
            }
        };
        // What is compared or joined has one type, also within arrays.
        let joint = joined(&first_type, &second_type);
        let alike = match op {
            BinaryOp::Min | BinaryOp::Max => true,
            BinaryOp::Add | BinaryOp::Eq | BinaryOp::Ne => is_array(&joint),
            _ => false,
        };
        if !alike {
            return (Expr::binary(op, first, second), result);
        }
        let as_is = [first.clone(), second.clone()];
        let [first, second] =
            match coerce_both((first, &first_type), (second, &second_type), &joint) {
                Ok(both) => both,
                // Arrays that cannot be turned are compared item by item.
                Err(()) if matches!(op, BinaryOp::Eq | BinaryOp::Ne) => as_is,
                Err(()) => return self.mismatch(node, left, right, &first_type, &second_type),
            };
        (Expr::binary(op, first, second), result)
    }

    fn ordered(
        &mut self,
        operation: &str,
        operands: [(&Node, &Known); 2],
    ) -> Option<(Expr, Known)> {
        let wrong = operands.into_iter().find(|(_, known)| {
            !(is_number(known) || matches!(known, Known::Of(Type::Str | Type::Enum(_))))
        })?;
        Some(self.needs(
            wrong.0,
            operation,
            "numbers, strings or enum members",
            wrong.1,
        ))
    }

    pub(super) fn mismatch(
        &mut self,
        node: &Node,
        left: &Node,
        right: &Node,
        first: &Known,
        second: &Known,
    ) -> (Expr, Known) {
        let hint = self
            .mismatch_hint(right, second, first)
            .or_else(|| self.mismatch_hint(left, first, second));
        let (first, second) = (self.shown(first), self.shown(second));
        let span = self.text.source_span(node.span.clone());
        let left_span = self.text.source_span(left.span.clone());
        let right_span = self.text.source_span(right.span.clone());
        self.diagnostics.push(
            Diagnostic::new(
                codes::TYPE_MISMATCH,
                self.file,
                span,
                format!("{first} and {second} do not go together"),
            )
            .label(self.file, left_span, first)
            .label(self.file, right_span, second)
            .maybe_hint(hint),
        );
        Self::wrong()
    }

    /// A comparison of values that have nothing in common is decided: most likely a slip.
    fn never_equal(
        &mut self,
        op: BinaryOp,
        operands: [&Node; 2],
        types: [&Known; 2],
    ) -> (Expr, Known) {
        let [left, right] = operands;
        let hint = self
            .mismatch_hint(right, types[1], types[0])
            .or_else(|| self.mismatch_hint(left, types[0], types[1]));
        let (first, second) = (self.shown(types[0]), self.shown(types[1]));
        let equal = op == BinaryOp::Eq;
        let holds = if equal { "never" } else { "always" };
        let span = self.text.source_span(left.span.start..right.span.end);
        let message = format!("{first} and {second} are never equal: this {holds} holds");
        self.diagnostics
            .push(Diagnostic::new(codes::NEVER_HOLDS, self.file, span, message).maybe_hint(hint));
        (Expr::Const(Value::Bool(!equal)), Known::Of(Type::Bool))
    }

    fn boolean(&mut self, node: &Node) -> Expr {
        let (expr, known) = self.check(node, None);
        if known != Known::Of(Type::Bool) {
            self.needs(node, "a condition", "a boolean", &known);
        }
        expr
    }

    pub(super) fn conditional(
        &mut self,
        all: &[Node; 3],
        expected: Option<ExpectedType>,
    ) -> (Expr, Known) {
        let condition = self.boolean(&all[0]);
        let ((then, then_type), (otherwise, otherwise_type)) =
            self.operands(&all[1], &all[2], expected);
        if then_type == Known::Wrong || otherwise_type == Known::Wrong {
            return Self::wrong();
        }
        let whole = Node::new(NodeKind::Wrong, all[1].span.start..all[2].span.end);
        if !comparable(&then_type, &otherwise_type) {
            return self.mismatch(&whole, &all[1], &all[2], &then_type, &otherwise_type);
        }
        let result = joined(&then_type, &otherwise_type);
        let both = coerce_both((then, &then_type), (otherwise, &otherwise_type), &result);
        let Ok([then, otherwise]) = both else {
            return self.mismatch(&whole, &all[1], &all[2], &then_type, &otherwise_type);
        };
        (Expr::If(Box::new([condition, then, otherwise])), result)
    }

    pub(super) fn membership(&mut self, subject: &Node, set: &Node) -> (Expr, Known) {
        let constant = self.constant(set);
        let set = constant.as_ref().unwrap_or(set);
        let (NodeKind::Array(items) | NodeKind::Set(items)) = &set.kind else {
            let whole = Node::new(NodeKind::Wrong, subject.span.start..set.span.end);
            return self.is_item(&whole, subject, set);
        };
        let (expr, known) = self.check(subject, None);
        let mut checked = Vec::with_capacity(items.len());
        let mut right = known != Known::Wrong;
        for item in items {
            let (item_expr, item_type) = self.check(item, wanted(&known));
            if item_type == Known::Wrong {
                right = false;
            } else if right && !comparable(&known, &item_type) {
                self.mismatch(item, subject, item, &known, &item_type);
                right = false;
            }
            // Arrays of integers become arrays of decimals; single numbers are compared as they are.
            let as_subject = match &known {
                Known::Of(ty @ Type::Array(_)) => coerce(item_expr.clone(), &item_type, ty).ok(),
                _ => None,
            };
            checked.push(as_subject.unwrap_or(item_expr));
        }
        if !right {
            return Self::wrong();
        }
        (Expr::InSet(Box::new(expr), checked), Known::Of(Type::Bool))
    }

    pub(super) fn range(&mut self, node: &Node, all: &[Node; 3]) -> (Expr, Known) {
        let (subject, subject_type) = self.check(&all[0], None);
        let (low, low_type) = self.check(&all[1], wanted(&subject_type));
        let (high, high_type) = self.check(&all[2], wanted(&subject_type));
        let types = [subject_type, low_type, high_type];
        if types.contains(&Known::Wrong) {
            return Self::wrong();
        }
        for (operand, known) in all.iter().zip(&types) {
            if let Some(wrong) = self.ordered("`in` a range", [(operand, known), (operand, known)])
            {
                return wrong;
            }
        }
        for other in 1..3 {
            if !comparable(&types[0], &types[other]) {
                return self.mismatch(node, &all[0], &all[other], &types[0], &types[other]);
            }
        }
        if let (Expr::Const(Value::Int(low)), Expr::Const(Value::Int(high))) = (&low, &high)
            && low > high
        {
            self.error_at(
                codes::EMPTY_RANGE,
                all[1].span.start..all[2].span.end,
                format!("the range {low}..{high} is empty"),
                None,
            );
            return Self::wrong();
        }
        (
            Expr::InRange(Box::new([subject, low, high])),
            Known::Of(Type::Bool),
        )
    }

    pub(super) fn array(
        &mut self,
        items: &[Node],
        expected: Option<ExpectedType>,
    ) -> (Expr, Known) {
        let mut checked = Vec::with_capacity(items.len());
        let mut joint: Option<Known> = None;
        for item in items {
            let (expr, known) = self.check(item, joint.as_ref().and_then(wanted).or(expected));
            if known == Known::Wrong {
                return Self::wrong();
            }
            joint = Some(match joint {
                None => known.clone(),
                Some(joint) if comparable(&joint, &known) => joined(&joint, &known),
                Some(joint) => return self.mismatch(item, &items[0], item, &joint, &known),
            });
            checked.push((expr, known));
        }
        match joint {
            None => (Expr::Array(Vec::new()), Known::EmptyArray),
            Some(Known::Of(ty)) => {
                let mut coerced = Vec::with_capacity(checked.len());
                for ((expr, known), item) in checked.into_iter().zip(items) {
                    match coerce(expr, &known, &ty) {
                        Ok(expr) => coerced.push(expr),
                        Err(()) => {
                            let joint = Known::Of(ty);
                            return self.mismatch(item, &items[0], item, &joint, &known);
                        }
                    }
                }
                (Expr::Array(coerced), Known::Of(Type::Array(Box::new(ty))))
            }
            // An array of nothing but `:void` or `[]` fits any array.
            Some(_) => {
                let items = checked.into_iter().map(|(expr, _)| expr).collect();
                (Expr::Array(items), Known::EmptyArray)
            }
        }
    }
}
