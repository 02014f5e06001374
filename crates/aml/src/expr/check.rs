//! Resolves the names of an expression, checks its types and gives an expression of the domain.

use ioco_budget::Budget;
use ioco_sts::{BinaryOp, Expr, Pattern, StructKind, Type, UnaryOp, Value, read_decimal};

use crate::ast::{Span, Text};
use crate::codes::{self, Code};
use crate::diagnostic::Diagnostic;
use crate::expr::generated::Generated;
use crate::expr::known::{ExpectedType, Known, coerce, wanted_by};
use crate::expr::names::{Names, Resolution, Signature};
use crate::expr::parse::{self, ExprError, MethodCall, Node, NodeKind, Update};
use crate::suggest::did_you_mean;

/// `variable := value`, checked.
pub struct CheckedUpdate {
    pub variable: ioco_sts::VarId,
    pub value: Expr,
    /// What is given a value, where that is not the whole variable: `xs[0]`.
    pub parts: Vec<String>,
    /// The name that is assigned, and the value, as places in the file.
    pub target_span: Span,
    pub value_span: Span,
}

/// Checks expressions that stand in one text.
pub struct Checker<'a> {
    pub names: Names<'a>,
    pub text: &'a Text,
    pub file: usize,
    /// Limits the height of expressions.
    pub budget: Budget,
    pub diagnostics: &'a mut Vec<Diagnostic>,
    /// The functions that blocks become.
    pub generated: Generated<'a>,
}

impl Checker<'_> {
    /// A condition; `true` with a diagnostic when it is wrong.
    pub fn condition(&mut self) -> Expr {
        let (node, mistakes) = parse::expression(&self.text.value, &self.budget);
        if self.report(mistakes) {
            return Expr::TRUE;
        }
        let (expr, known) = self.check(&node, None);
        match known {
            Known::Wrong => Expr::TRUE,
            Known::Of(Type::Bool) => expr,
            other => {
                let shown = self.shown(&other);
                let hint = match other {
                    Known::Of(_) => "compare it with something, such as `x == 1`",
                    _ => "write a comparison, such as `x == :void`",
                };
                self.error(
                    codes::NOT_A_CONDITION,
                    &node,
                    format!("a condition is true or false; this is {shown}"),
                    Some(hint.to_owned()),
                );
                Expr::TRUE
            }
        }
    }

    /// An expression of any type; `None` when it is wrong.
    pub fn any(&mut self) -> Option<Expr> {
        let (node, mistakes) = parse::expression(&self.text.value, &self.budget);
        if self.report(mistakes) {
            return None;
        }
        let (expr, known) = self.check(&node, None);
        (known != Known::Wrong).then_some(expr)
    }

    /// An expression of type `ty`; `:void` with a diagnostic when it is wrong.
    pub fn of_type(&mut self, ty: &Type) -> Expr {
        let (node, mistakes) = parse::expression(&self.text.value, &self.budget);
        if self.report(mistakes) {
            return Expr::Const(Value::Void);
        }
        self.expect(&node, ty, |shown, wanted| {
            format!("the result is {wanted}; this is {shown}")
        })
    }

    pub fn updates(&mut self) -> Vec<CheckedUpdate> {
        let (updates, mistakes) = parse::updates(&self.text.value, &self.budget);
        let readable = !self.report(mistakes);
        let mut checked: Vec<CheckedUpdate> = Vec::new();
        for update in updates {
            if let Some(whole) = part_of(&update.target) {
                self.part_update(&update, whole, &mut checked);
                continue;
            }
            let Some((variable, ty)) = self.target(&update.target) else {
                continue;
            };
            let value = match update.with {
                None => update.value,
                Some(op) => {
                    let span = update.target.span.start..update.value.span.end;
                    let both = Box::new([update.target.clone(), update.value]);
                    Node::new(NodeKind::Binary(op, both), span)
                }
            };
            let name = self.word(&update.target).to_owned();
            let expr = self.expect(&value, &ty, |shown, wanted| {
                format!("`{name}` is {wanted}; this is {shown}")
            });
            let target_span = self.text.source_span(update.target.span.clone());
            if let Some(first) = checked.iter().find(|c| c.variable == variable && readable) {
                let first = first.target_span.clone();
                self.diagnostics.push(
                    Diagnostic::new(
                        codes::ASSIGNED_TWICE,
                        self.file,
                        target_span,
                        format!("`{name}` is given a value twice in one step"),
                    )
                    .label(self.file, first, "first here"),
                );
                continue;
            }
            checked.push(CheckedUpdate {
                variable,
                value: expr,
                parts: Vec::new(),
                target_span,
                value_span: self.text.source_span(value.span),
            });
        }
        checked
    }

    /// `xs[i] = e`, `shop.name = e`: the variable with that part changed. Several parts of one variable
    /// may be given values in one step.
    fn part_update(&mut self, update: &Update, whole: &Node, checked: &mut Vec<CheckedUpdate>) {
        if let NodeKind::Field(inner, name, _) = &update.target.kind
            && let NodeKind::Name(qualifier) = &inner.kind
            && self.names.qualified(qualifier, name).is_some()
        {
            // `main.tries` is a variable of another process, or no variable at all.
            let _ = self.target(&update.target);
            return;
        }
        let Some((variable, ty)) = self.target(whole) else {
            return;
        };
        let value = match update.with {
            None => update.value.clone(),
            Some(op) => {
                let span = update.target.span.start..update.value.span.end;
                let both = Box::new([update.target.clone(), update.value.clone()]);
                Node::new(NodeKind::Binary(op, both), span)
            }
        };
        let target_span = self.text.source_span(update.target.span.clone());
        let earlier = checked.iter().position(|c| c.variable == variable);
        if let Some(first) = earlier.map(|first| &checked[first]) {
            let part = self.word(&update.target);
            if first.parts.is_empty() || first.parts.iter().any(|first| first == part) {
                let first = first.target_span.clone();
                let name = self.word(&update.target).to_owned();
                let message = format!("`{name}` is given a value twice in one step");
                self.diagnostics.push(
                    Diagnostic::new(codes::ASSIGNED_TWICE, self.file, target_span, message).label(
                        self.file,
                        first,
                        "first here",
                    ),
                );
                return;
            }
        }
        let base = earlier.map_or(Expr::Var(variable), |at| checked[at].value.clone());
        let mut parts = earlier.map_or_else(Vec::new, |at| checked[at].parts.clone());
        parts.push(self.word(&update.target).to_owned());
        let Some(expr) = self.with_part(&update.target, base, &ty, &value) else {
            return;
        };
        let new = CheckedUpdate {
            variable,
            value: expr,
            parts,
            target_span,
            value_span: self.text.source_span(value.span),
        };
        match earlier {
            Some(at) => checked[at] = new,
            None => checked.push(new),
        }
    }

    /// The value of a variable, of which `base` is the value so far, with the part `target` changed.
    fn with_part(&mut self, target: &Node, base: Expr, ty: &Type, value: &Node) -> Option<Expr> {
        // The parts from the variable inwards, with the value and type around each.
        let mut path = Vec::new();
        let mut node = target;
        while let Some((inner, part)) = outermost(node) {
            path.push((node, part));
            node = inner;
        }
        path.reverse();
        let mut around = Vec::new();
        let (mut whole, mut ty) = (base, ty.clone());
        for (node, part) in path {
            let before = (whole.clone(), ty.clone());
            let step = match part {
                PartNode::Index(index)
                    if matches!(&ty, Type::Struct(id)
                        if self.names.types.kind_of(*id) == StructKind::Hash) =>
                {
                    let (id, key, value_type) = self.key_of(&ty, index)?;
                    whole = self
                        .generated
                        .lookup(self.names.types, id, whole, key.clone())?;
                    ty = value_type;
                    Part::Key(id, key)
                }
                PartNode::Index(index) => {
                    let Type::Array(item) = &ty else {
                        self.needs(node, "`[ ]`", "an array", &Known::Of(ty.clone()));
                        return None;
                    };
                    let at = self.integer(index)?;
                    whole = Expr::binary(BinaryOp::Index, whole, at.clone());
                    ty = (**item).clone();
                    Part::Index(at)
                }
                PartNode::Field(name, span) => {
                    let Type::Struct(id) = &ty else {
                        self.needs(node, "a field", "a struct", &Known::Of(ty.clone()));
                        return None;
                    };
                    let declared = &self.names.types.structs[id.index()];
                    let fields = &declared.fields;
                    let Some(position) = fields.iter().position(|(f, _)| f == name) else {
                        let hint = did_you_mean(name, fields.iter().map(|(f, _)| f.as_str()));
                        let message = format!("`{}` has no field `{name}`", declared.name);
                        self.error_at(codes::UNKNOWN_FIELD, span.clone(), message, hint);
                        return None;
                    };
                    let (id, count) = (*id, fields.len());
                    whole = field_of(&whole, position);
                    ty = fields[position].1.clone();
                    Part::Field(id, position, count)
                }
            };
            around.push((before, step));
        }
        let name = self.word(target).to_owned();
        let before = self.diagnostics.len();
        let mut changed = self.expect(value, &ty, |shown, wanted| {
            format!("`{name}` is {wanted}; this is {shown}")
        });
        if self.diagnostics.len() > before {
            return None;
        }
        for ((whole, ty), step) in around.into_iter().rev() {
            changed = match (step, ty) {
                (Part::Index(at), Type::Array(item)) => {
                    self.with_item(target, whole, &item, at, changed).0
                }
                (Part::Key(id, key), _) => {
                    let types = self.names.types;
                    self.generated
                        .with_entry(types, id, whole, [key, changed])?
                }
                (Part::Field(id, position, count), _) => {
                    let mut fields: Vec<Expr> = (0..count).map(|i| field_of(&whole, i)).collect();
                    fields[position] = changed;
                    Expr::Struct(id, fields)
                }
                _ => return None,
            };
        }
        Some(changed)
    }

    fn target(&mut self, node: &Node) -> Option<(ioco_sts::VarId, Type)> {
        let meaning = match &node.kind {
            NodeKind::Name(name) => self.names.meaning(name, None),
            NodeKind::Field(inner, name, _) => match &inner.kind {
                NodeKind::Name(qualifier) => self
                    .names
                    .qualified(qualifier, name)
                    .unwrap_or(Resolution::Ambiguous(Vec::new())),
                _ => Resolution::Ambiguous(Vec::new()),
            },
            NodeKind::Wrong => return None,
            _ => Resolution::Ambiguous(Vec::new()),
        };
        let word = self.word(node).to_owned();
        match meaning {
            Resolution::Variable(variable, ty) => return Some((variable, ty)),
            Resolution::Unknown => self.unknown_name(node, &word),
            Resolution::Parameter(..) => self.error(
                codes::NOT_ASSIGNABLE,
                node,
                format!("`{word}` is a parameter; only variables can be given a value"),
                None,
            ),
            _ => self.error(
                codes::NOT_ASSIGNABLE,
                node,
                format!("`{word}` is no variable, so it cannot be given a value"),
                None,
            ),
        }
        None
    }

    fn word(&self, node: &Node) -> &str {
        self.text.value.get(node.span.clone()).unwrap_or("")
    }

    fn report(&mut self, mistakes: Vec<ExprError>) -> bool {
        let any = !mistakes.is_empty();
        let too_deep = mistakes.iter().any(|m| m.too_deep);
        // What was cut off by the depth is not wrong in itself.
        for mistake in mistakes.into_iter().filter(|m| m.too_deep == too_deep) {
            let code = if mistake.too_deep {
                codes::TOO_DEEP
            } else {
                codes::EXPRESSION_SYNTAX
            };
            let span = self.text.source_span(mistake.span);
            self.diagnostics.push(
                Diagnostic::new(code, self.file, span, mistake.message).maybe_hint(mistake.hint),
            );
        }
        any
    }

    pub(super) fn error(&mut self, code: Code, node: &Node, message: String, hint: Option<String>) {
        self.error_at(code, node.span.clone(), message, hint);
    }

    pub(super) fn error_at(
        &mut self,
        code: Code,
        span: Span,
        message: String,
        hint: Option<String>,
    ) {
        let span = self.text.source_span(span);
        self.diagnostics
            .push(Diagnostic::new(code, self.file, span, message).maybe_hint(hint));
    }

    /// A type in the words of a message.
    pub(super) fn shown(&self, known: &Known) -> String {
        match known {
            Known::Wrong => "something unknown".to_owned(),
            Known::Void => ":void".to_owned(),
            Known::EmptyArray => "an empty array".to_owned(),
            Known::Of(ty) => self.shown_type(ty),
        }
    }

    fn shown_type(&self, ty: &Type) -> String {
        match ty {
            Type::Bool => "a boolean".to_owned(),
            Type::Int(_) => "an integer".to_owned(),
            Type::Decimal => "a decimal".to_owned(),
            Type::Str => "a string".to_owned(),
            Type::Date => "a date".to_owned(),
            Type::Time => "a time".to_owned(),
            Type::Enum(id) => format!("a {}", self.names.types.enums[id.index()].name),
            Type::Struct(id) => {
                let declared = &self.names.types.structs[id.index()];
                match declared.kind {
                    StructKind::Plain => format!("a struct {}", declared.name),
                    StructKind::Set => format!("a {}", declared.name),
                    StructKind::Hash => format!("a hash {}", declared.name),
                    StructKind::Entry => format!("an entry {}", declared.name),
                }
            }
            Type::Array(item) => format!("an array of {}", self.names.types.type_name(item)),
        }
    }

    fn unknown_name(&mut self, node: &Node, name: &str) {
        if self.names.broken.iter().any(|broken| broken == name) {
            return;
        }
        let hint = match name {
            "nil" | "null" | "void" => {
                Some("a value that is not set is written `:void`".to_owned())
            }
            _ if self.names.constants.iter().any(|(known, _)| known == name) => Some(format!(
                "`{name}` is a constant; expressions read numbers, strings and lists of them"
            )),
            _ => did_you_mean(name, self.names.all()),
        };
        self.error(
            codes::UNKNOWN_NAME,
            node,
            format!("unknown name `{name}`"),
            hint,
        );
    }

    /// An expression that must fit a variable, parameter or result of type `ty`.
    pub(super) fn expect(
        &mut self,
        node: &Node,
        ty: &Type,
        message: impl FnOnce(&str, &str) -> String,
    ) -> Expr {
        let (expr, known) = self.check(node, wanted_by(ty));
        let (expr, known) = self.as_keyed(expr, known, ty);
        match coerce(expr, &known, ty) {
            Ok(expr) => expr,
            Err(()) => {
                let shown = self.shown(&known);
                let wanted = self.shown_type(ty);
                let text = message(&shown, &wanted);
                let hint = self.mismatch_hint(node, &known, &Known::Of(ty.clone()));
                self.error(codes::TYPE_MISMATCH, node, text, hint);
                Expr::Const(Value::Void)
            }
        }
    }

    pub(super) fn mismatch_hint(
        &self,
        node: &Node,
        known: &Known,
        wanted: &Known,
    ) -> Option<String> {
        match (&node.kind, known, wanted) {
            (NodeKind::Str(text), _, Known::Of(Type::Enum(id))) => {
                let members = &self.names.types.enums[id.index()].members;
                members
                    .contains(text)
                    .then(|| format!("write `{text}` without quotes"))
            }
            (NodeKind::Str(text), _, Known::Of(Type::Int(_))) if text.parse::<i64>().is_ok() => {
                Some(format!("write {text} without quotes"))
            }
            (_, Known::Of(item), Known::Of(Type::Array(wanted))) if item == &**wanted => {
                Some("an array of one item is written `[x]`".to_owned())
            }
            _ => None,
        }
    }

    pub(super) fn wrong() -> (Expr, Known) {
        (Expr::Const(Value::Void), Known::Wrong)
    }

    pub(super) fn check(&mut self, node: &Node, expected: Option<ExpectedType>) -> (Expr, Known) {
        match &node.kind {
            NodeKind::Wrong => Self::wrong(),
            NodeKind::Void => (Expr::Const(Value::Void), Known::Void),
            NodeKind::Bool(value) => (Expr::Const(Value::Bool(*value)), Known::Of(Type::Bool)),
            NodeKind::Str(text) => (Expr::Const(Value::str(text)), Known::Of(Type::Str)),
            NodeKind::Integer(digits) => match digits.parse::<i64>() {
                Ok(value) => (Expr::int(value), Known::Of(Type::INTEGER)),
                Err(_) => self.bad_number(node, "an integer has 64 bits"),
            },
            NodeKind::Decimal(digits) => match read_decimal(digits) {
                Some(value) => (Expr::Const(Value::from(value)), Known::Of(Type::Decimal)),
                None => self.bad_number(node, "a decimal has at most 28 digits"),
            },
            NodeKind::Name(name) => self.name(node, name, expected),
            NodeKind::Unary(op, inner) => self.unary(*op, inner),
            NodeKind::Binary(op, both) => self.binary(node, *op, &both[0], &both[1], expected),
            NodeKind::If(all) => self.conditional(all, expected),
            NodeKind::In(both) => self.membership(&both[0], &both[1]),
            NodeKind::InRange(all) => self.range(node, all),
            NodeKind::Array(items) => self.array(items, expected),
            NodeKind::Set(items) => self.set_literal(node, items, expected),
            NodeKind::Hash(pairs) => self.hash_literal(node, pairs, expected),
            NodeKind::Joined(op, both) => self.joined_sets(node, *op, both, expected),
            NodeKind::Field(inner, name, span) => self.field(node, inner, name, span),
            NodeKind::Matches(subject, pattern, span) => self.matches(subject, pattern, span),
            NodeKind::Call(name, span, arguments) => self.call(node, name, span, arguments),
            NodeKind::Prefix(both) => self.prefix(node, both),
            NodeKind::Range(both) => self.range_value(node, both),
            NodeKind::Slice(all) => self.slice(node, all),
            NodeKind::Record(name, span, fields) => self.record(name, span, fields),
            NodeKind::Changed(record, span, fields) => self.changed(node, record, span, fields),
            NodeKind::Method(call) => self.method(node, call, expected),
        }
    }

    fn name(&mut self, node: &Node, name: &str, expected: Option<ExpectedType>) -> (Expr, Known) {
        if let Some(value) = self.constant(node) {
            return self.check(&value, expected);
        }
        let member = expected.and_then(ExpectedType::member);
        let meaning = self.names.meaning(name, member);
        self.named(node, name, meaning)
    }

    fn bad_number(&mut self, node: &Node, why: &str) -> (Expr, Known) {
        let message = format!("the number does not fit: {why}");
        self.error(codes::BAD_NUMBER, node, message, None);
        Self::wrong()
    }

    fn named(&mut self, node: &Node, name: &str, meaning: Resolution) -> (Expr, Known) {
        match meaning {
            Resolution::Local(position, ty) => (Expr::Local(position), Known::Of(ty)),
            Resolution::Parameter(position, ty) => (Expr::Param(position), Known::Of(ty)),
            Resolution::Variable(variable, ty) => (Expr::Var(variable), Known::Of(ty)),
            Resolution::Member(id, member) => (
                Expr::Const(Value::Enum(id, member)),
                Known::Of(Type::Enum(id)),
            ),
            Resolution::Ambiguous(candidates) => {
                let hint = format!("write {}", candidates.join(" or "));
                self.error(
                    codes::AMBIGUOUS_NAME,
                    node,
                    format!("`{name}` could mean several things"),
                    Some(hint),
                );
                Self::wrong()
            }
            Resolution::Unknown => {
                self.unknown_name(node, name);
                Self::wrong()
            }
        }
    }

    pub(super) fn needs(
        &mut self,
        node: &Node,
        operation: &str,
        wanted: &str,
        known: &Known,
    ) -> (Expr, Known) {
        if *known != Known::Wrong {
            let shown = self.shown(known);
            let hint = match known {
                Known::Void => Some("compare with `:void` by `==` and `!=` only".to_owned()),
                _ => None,
            };
            self.error(
                codes::TYPE_MISMATCH,
                node,
                format!("{operation} needs {wanted}; this is {shown}"),
                hint,
            );
        }
        Self::wrong()
    }

    fn field(&mut self, node: &Node, inner: &Node, name: &str, span: &Span) -> (Expr, Known) {
        if let NodeKind::Name(qualifier) = &inner.kind
            && let Some(meaning) = self.names.qualified(qualifier, name)
        {
            if meaning != Resolution::Unknown {
                return self.named(node, name, meaning);
            }
            let enums = &self.names.types.enums;
            let members = enums.iter().find(|e| e.name == *qualifier);
            let hint = members.and_then(|e| did_you_mean(name, e.members.iter().map(|m| &**m)));
            let message = format!("`{qualifier}` has no `{name}`");
            self.error_at(codes::UNKNOWN_FIELD, span.clone(), message, hint);
            return Self::wrong();
        }
        let plain = || MethodCall {
            receiver: inner.clone(),
            name: name.to_owned(),
            name_span: span.clone(),
            arguments: Vec::new(),
            block: None,
        };
        if name == "nil?" || matches!(inner.kind, NodeKind::Range(_)) {
            return self.method(node, &plain(), None);
        }
        let (expr, known) = self.check(inner, None);
        match &known {
            Known::Of(Type::Array(_) | Type::Str) => self.method(node, &plain(), None),
            Known::Of(Type::Struct(id)) if self.names.types.kind_of(*id) != StructKind::Plain => {
                self.method(node, &plain(), None)
            }
            Known::Of(Type::Struct(id)) => {
                let declared = &self.names.types.structs[id.index()];
                if let Some(position) = declared.fields.iter().position(|(f, _)| f == name) {
                    let ty = declared.fields[position].1.clone();
                    return (Expr::Field(Box::new(expr), position as u32), Known::Of(ty));
                }
                let hint = did_you_mean(name, declared.fields.iter().map(|(f, _)| f.as_str()));
                let message = format!("`{}` has no field `{name}`", declared.name);
                self.error_at(codes::UNKNOWN_FIELD, span.clone(), message, hint);
                Self::wrong()
            }
            _ => self.needs(inner, "a field", "a struct", &known),
        }
    }

    fn matches(&mut self, subject: &Node, pattern: &str, span: &Span) -> (Expr, Known) {
        let (expr, known) = self.check(subject, None);
        if known != Known::Of(Type::Str) {
            return self.needs(subject, "`=~`", "a string", &known);
        }
        match Pattern::new(pattern) {
            Ok(pattern) => (
                Expr::Matches(Box::new(expr), pattern),
                Known::Of(Type::Bool),
            ),
            Err(error) => {
                let text = error.to_string();
                let reason = text
                    .lines()
                    .last()
                    .unwrap_or("")
                    .trim_start_matches("error: ");
                let message = format!("the pattern cannot be read: {reason}");
                self.error_at(codes::BAD_PATTERN, span.clone(), message, None);
                Self::wrong()
            }
        }
    }

    fn call(&mut self, node: &Node, name: &str, span: &Span, arguments: &[Node]) -> (Expr, Known) {
        if let Some(signature) = self.names.functions.iter().find(|f| f.name == name) {
            let signature = signature.clone();
            return self.function(node, &signature, arguments);
        }
        match (name, arguments) {
            ("length", [inner]) => self.unary(UnaryOp::Length, inner),
            ("last", [inner]) => self.unary(UnaryOp::Last, inner),
            ("abs", [inner]) => self.unary(UnaryOp::Abs, inner),
            ("min", [left, right]) => self.binary(node, BinaryOp::Min, left, right, None),
            ("max", [left, right]) => self.binary(node, BinaryOp::Max, left, right, None),
            ("length" | "last" | "abs", _) => self.count(node, name, 1, arguments.len()),
            ("min" | "max", _) => self.count(node, name, 2, arguments.len()),
            _ if self.names.broken.iter().any(|broken| broken == name) => Self::wrong(),
            _ => {
                let built_in = ["length", "last", "min", "max", "abs"];
                let declared = self.names.functions.iter().map(|f| f.name.as_str());
                let hint = did_you_mean(name, declared.chain(built_in));
                let message = format!("unknown function `{name}`");
                self.error_at(codes::UNKNOWN_FUNCTION, span.clone(), message, hint);
                Self::wrong()
            }
        }
    }

    fn count(&mut self, node: &Node, name: &str, wanted: usize, given: usize) -> (Expr, Known) {
        let plural = if wanted == 1 { "" } else { "s" };
        self.error(
            codes::ARGUMENT_COUNT,
            node,
            format!("`{name}` takes {wanted} argument{plural}, not {given}"),
            None,
        );
        Self::wrong()
    }

    fn function(
        &mut self,
        node: &Node,
        signature: &Signature,
        arguments: &[Node],
    ) -> (Expr, Known) {
        if signature.parameters.len() != arguments.len() {
            let wanted = signature.parameters.len();
            return self.count(node, &signature.name, wanted, arguments.len());
        }
        let name = &signature.name;
        let checked = arguments
            .iter()
            .zip(&signature.parameters)
            .map(|(argument, ty)| {
                self.expect(argument, ty, |shown, wanted| {
                    format!("`{name}` takes {wanted} here; this is {shown}")
                })
            })
            .collect();
        (
            Expr::Call(signature.id, checked),
            Known::Of(signature.result.clone()),
        )
    }
}

/// A part of a variable that an update changes, as it is written.
enum PartNode<'n> {
    Index(&'n Node),
    Field(&'n str, &'n Span),
}

/// The same, resolved; a structure's field with the number of fields.
enum Part {
    Index(Expr),
    /// Of a hash.
    Key(ioco_sts::StructId, Expr),
    Field(ioco_sts::StructId, usize, usize),
}

/// `xs[i]` as `xs` and its part.
fn outermost(node: &Node) -> Option<(&Node, PartNode<'_>)> {
    match &node.kind {
        NodeKind::Binary(BinaryOp::Index, both) => Some((&both[0], PartNode::Index(&both[1]))),
        NodeKind::Field(inner, name, span) => Some((inner, PartNode::Field(name, span))),
        _ => None,
    }
}

/// The variable of which a target is a part; `None` where it is the variable itself.
fn part_of(target: &Node) -> Option<&Node> {
    let mut node = outermost(target)?.0;
    while let Some((inner, _)) = outermost(node) {
        node = inner;
    }
    Some(node)
}

fn field_of(whole: &Expr, position: usize) -> Expr {
    match whole {
        Expr::Struct(_, fields) => fields[position].clone(),
        _ => Expr::Field(Box::new(whole.clone()), position as u32),
    }
}
