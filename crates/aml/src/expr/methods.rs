//! Methods of arrays, ranges and strings, with and without blocks, as Ruby has them.

use ioco_sts::{BinaryOp, Expr, Pattern, StructId, StructKind, Type, UnaryOp, Value};
use rust_decimal::Decimal;

use crate::ast::Span;
use crate::codes;
use crate::expr::check::Checker;
use crate::expr::generated::{Fold, Generated, Items, choice, joined};
use crate::expr::keyed::keeps_type;
use crate::expr::known::{ExpectedType, Known, comparable, is_array, is_number, wanted};
use crate::expr::names::Names;
use crate::expr::parse::{BlockNode, MethodCall, Node, NodeKind};
use crate::suggest::did_you_mean;

/// Of everything that has items: arrays, sets and hashes.
pub(super) const ITEM_METHODS: &[&str] = &[
    "all?", "any?", "none?", "count", "map", "select", "filter", "reject", "sum", "include?",
    "delete", "length", "size", "empty?",
];

/// Of items that are values by themselves: those of arrays and sets.
pub(super) const VALUE_METHODS: &[&str] = &["min", "max", "first", "last", "to_a"];

const ARRAY_METHODS: &[&str] = &["delete_at", "with", "take", "drop", "to_set"];

const STRING_METHODS: &[&str] = &[
    "start_with?",
    "end_with?",
    "include?",
    "length",
    "size",
    "empty?",
];

/// The meaning of a block, inside the function that is made of it.
struct Body {
    expr: Expr,
    known: Known,
    /// The variables and parameters that it reads.
    given: Vec<(Expr, String, Type)>,
}

impl Checker<'_> {
    pub(super) fn method(
        &mut self,
        node: &Node,
        call: &MethodCall,
        expected: Option<ExpectedType>,
    ) -> (Expr, Known) {
        let MethodCall {
            receiver,
            name,
            name_span,
            arguments,
            block,
        } = call;
        if let NodeKind::Range(ends) = &receiver.kind {
            let Some(items) = self.range_items(ends) else {
                return Self::wrong();
            };
            return self.over_items(node, items, None, call);
        }
        let (expr, known) = self.check(receiver, expected.filter(|_| keeps_type(name)));
        match &known {
            Known::Wrong => Self::wrong(),
            _ if name == "nil?" && arguments.is_empty() && block.is_none() => {
                let void = Expr::Const(Value::Void);
                (
                    Expr::binary(BinaryOp::Eq, expr, void),
                    Known::Of(Type::Bool),
                )
            }
            Known::Of(Type::Array(item)) => {
                let items = Items::of_array(expr.clone(), (**item).clone());
                self.over_items(node, items, Some(expr), call)
            }
            Known::Of(Type::Str) => self.string_method(node, expr, call),
            Known::Of(Type::Struct(id)) if self.names.types.item_of(*id).is_some() => {
                self.keyed_method(node, expr, *id, call)
            }
            _ => {
                let shown = self.shown(&known);
                let message = format!("`.{name}` needs an array or a string; this is {shown}");
                self.error_at(codes::TYPE_MISMATCH, name_span.clone(), message, None);
                Self::wrong()
            }
        }
    }

    fn range_items(&mut self, ends: &[Node; 2]) -> Option<Items> {
        let mut checked = Vec::new();
        for end in ends {
            let (expr, known) = self.check(end, None);
            if !matches!(known, Known::Of(Type::Int(_))) {
                self.needs(end, "a range", "integers", &known);
                return None;
            }
            checked.push(expr);
        }
        let high = checked.pop()?;
        Some(Items::of_range(checked.pop()?, high))
    }

    /// `(1..3)` on its own: the array of its numbers.
    pub(super) fn range_value(&mut self, node: &Node, ends: &[Node; 2]) -> (Expr, Known) {
        match self.range_items(ends) {
            Some(items) => self.numbers(node, items),
            None => Self::wrong(),
        }
    }

    fn numbers(&mut self, node: &Node, items: Items) -> (Expr, Known) {
        let result = Type::Array(Box::new(Type::INTEGER));
        let fold = Fold {
            shown: ".to_a".to_owned(),
            none: Some(Expr::Array(Vec::new())),
            one: Expr::Array(vec![items.item()]),
            join: joined,
            given: Vec::new(),
            result: result.clone(),
        };
        let made = self.generated.fold(items, fold);
        self.made(node, made, result)
    }

    /// The call of a function that was made, or why there is none.
    pub(super) fn made(&mut self, node: &Node, made: Option<Expr>, ty: Type) -> (Expr, Known) {
        match made {
            Some(expr) => (expr, Known::Of(ty)),
            None => {
                let message = "the model has no function that does this".to_owned();
                let hint = "declare it in the model as a `function`, and call that".to_owned();
                self.error(codes::NOT_SUPPORTED, node, message, Some(hint));
                Self::wrong()
            }
        }
    }

    /// A method of an array, or of a range, which is no `array`.
    pub(super) fn over_items(
        &mut self,
        node: &Node,
        items: Items,
        array: Option<Expr>,
        call: &MethodCall,
    ) -> (Expr, Known) {
        let name = call.name.as_str();
        let item = items.item.clone();
        let whole = Type::Array(Box::new(item.clone()));
        match (name, &call.block, call.arguments.as_slice(), array) {
            ("to_a", None, [], Some(array)) => (array, Known::Of(whole)),
            ("to_set", None, [], Some(array)) => self.set_of_items(node, array, &item),
            ("to_a", None, [], None) => self.numbers(node, items),
            (
                "all?" | "any?" | "none?" | "count" | "map" | "select" | "filter" | "reject"
                | "sum",
                Some(block),
                [],
                _,
            ) => self.block_method(node, items, name, block),
            ("sum" | "min" | "max", None, [], _) => self.without_block(node, items, name),
            ("include?", None, [value], _) => self.includes(node, items, value),
            ("length" | "size" | "count", None, [], Some(array)) => (
                Expr::unary(UnaryOp::Length, array),
                Known::Of(Type::INTEGER),
            ),
            ("empty?", None, [], Some(array)) => {
                let length = Expr::unary(UnaryOp::Length, array);
                let empty = Expr::binary(BinaryOp::Eq, length, Expr::int(0));
                (empty, Known::Of(Type::Bool))
            }
            ("first", None, [], Some(array)) => {
                let first = Expr::binary(BinaryOp::Index, array, Expr::int(0));
                (first, Known::Of(item))
            }
            ("last", None, [], Some(array)) => (Expr::unary(UnaryOp::Last, array), Known::Of(item)),
            ("take" | "drop", None, [count], Some(array)) => {
                let Some(count) = self.integer(count) else {
                    return Self::wrong();
                };
                let made = self.generated.part(name, array, &item, vec![count]);
                self.made(node, made, whole)
            }
            ("delete", None, [value], Some(array)) => {
                let (value, _) = self.fitting(value, &item);
                let removed = Expr::Array(vec![value]);
                self.without(node, array, &item, (removed, &whole))
            }
            ("delete_at", None, [at], Some(array)) => {
                let Some(at) = self.integer(at) else {
                    return Self::wrong();
                };
                let made = self.generated.changed(array, &item, at, None);
                self.made(node, made, whole)
            }
            ("with", None, [at, value], Some(array)) => {
                let Some(at) = self.integer(at) else {
                    return Self::wrong();
                };
                let (value, right) = self.fitting(value, &item);
                if !right {
                    return Self::wrong();
                }
                self.with_item(node, array, &item, at, value)
            }
            _ => {
                let known = [ITEM_METHODS, VALUE_METHODS, ARRAY_METHODS].concat();
                self.no_method(call, "an array", &known)
            }
        }
    }

    /// The array with another item at an index.
    pub(super) fn with_item(
        &mut self,
        node: &Node,
        array: Expr,
        item: &Type,
        at: Expr,
        value: Expr,
    ) -> (Expr, Known) {
        let made = self.generated.changed(array, item, at, Some(value));
        self.made(node, made, Type::Array(Box::new(item.clone())))
    }

    pub(super) fn no_method(
        &mut self,
        call: &MethodCall,
        what: &str,
        known: &[&str],
    ) -> (Expr, Known) {
        let name = &call.name;
        let (message, hint) = if known.contains(&name.as_str()) {
            let message = format!("`.{name}` is not used like this");
            let form = match name.as_str() {
                "include?" | "delete" => "(x)",
                "delete_at" | "take" | "drop" => "(n)",
                "with" => "(index, value)",
                "start_with?" | "end_with?" => "(\"text\")",
                "all?" | "any?" | "none?" | "map" | "select" | "filter" | "reject" => {
                    " { |x| ... }"
                }
                _ => "",
            };
            (message, Some(format!("write `.{name}{form}`")))
        } else {
            let message = format!("{what} has no method `{name}`");
            (message, did_you_mean(name, known.iter().copied()))
        };
        let span = call.name_span.clone();
        self.error_at(codes::UNKNOWN_FUNCTION, span, message, hint);
        Self::wrong()
    }

    pub(super) fn integer(&mut self, node: &Node) -> Option<Expr> {
        let (expr, known) = self.check(node, None);
        if !matches!(known, Known::Of(Type::Int(_))) {
            self.needs(node, "an index", "an integer", &known);
            return None;
        }
        (!self.is_negative_index(node)).then_some(expr)
    }

    /// Refuses a literal such as `-1`. In Ruby it counts from the end; here it never has a value, which
    /// nobody would notice.
    pub(super) fn is_negative_index(&mut self, node: &Node) -> bool {
        let negative = matches!(&node.kind, NodeKind::Integer(digits) if digits.starts_with('-'));
        if negative {
            let message = "an index is never negative: indices start at zero".to_owned();
            let hint = "use `xs.last`, `xs.drop(1)` or `xs[1..length(xs) - 1]`".to_owned();
            self.error(codes::NOT_SUPPORTED, node, message, Some(hint));
        }
        negative
    }

    /// A value that can be an item; whether it is one.
    pub(super) fn fitting(&mut self, node: &Node, item: &Type) -> (Expr, bool) {
        let before = self.diagnostics.len();
        let value = self.expect(node, item, |shown, wanted| {
            format!("the items are {wanted}; this is {shown}")
        });
        (value, self.diagnostics.len() == before)
    }

    fn block_method(
        &mut self,
        node: &Node,
        items: Items,
        name: &str,
        block: &BlockNode,
    ) -> (Expr, Known) {
        let Some(body) = self.body(&items, block) else {
            return Self::wrong();
        };
        let wanted = match name {
            "map" => None,
            "sum" => Some(("a number", is_number(&body.known))),
            _ => Some(("a boolean", body.known == Known::Of(Type::Bool))),
        };
        if let Some((wanted, false)) = wanted {
            return self.needs(&block.body, &format!("`.{name}`"), wanted, &body.known);
        }
        let Known::Of(ty) = body.known else {
            return self.needs(
                &block.body,
                "`.map`",
                "a value of a known type",
                &body.known,
            );
        };
        let kept = |condition: Expr, keep: bool| {
            let (one, none) = (Expr::Array(vec![items.item()]), Expr::Array(Vec::new()));
            match keep {
                true => choice(condition, one, none),
                false => choice(condition, none, one),
            }
        };
        let same = Type::Array(Box::new(items.item.clone()));
        let empty = || Expr::Array(Vec::new());
        type Join = fn(Expr, Expr) -> Expr;
        let and: Join = |left, right| Expr::binary(BinaryOp::And, left, right);
        let or: Join = |left, right| Expr::binary(BinaryOp::Or, left, right);
        let expr = body.expr;
        let (result, none, one, join): (Type, Expr, Expr, Join) = match name {
            "all?" => (Type::Bool, Expr::TRUE, expr, and),
            "none?" => (Type::Bool, Expr::TRUE, Expr::unary(UnaryOp::Not, expr), and),
            "any?" => (Type::Bool, Expr::FALSE, expr, or),
            "count" => {
                let one = choice(expr, Expr::int(1), Expr::int(0));
                (Type::INTEGER, Expr::int(0), one, joined)
            }
            "map" => {
                let result = Type::Array(Box::new(ty));
                (result, empty(), Expr::Array(vec![expr]), joined)
            }
            "sum" => (summed(&ty), zero(&ty), joined(zero(&ty), expr), joined),
            "reject" => (same, empty(), kept(expr, false), joined),
            _ => (same, empty(), kept(expr, true), joined),
        };
        let written = self.text.value.get(block.span.clone()).unwrap_or("");
        let written: Vec<&str> = written.split_whitespace().collect();
        let fold = Fold {
            shown: format!(".{name} {}", written.join(" ")),
            none: Some(none),
            one,
            join,
            given: body.given,
            result: result.clone(),
        };
        let made = self.generated.fold(items, fold);
        self.made(node, made, result)
    }

    fn without_block(&mut self, node: &Node, items: Items, name: &str) -> (Expr, Known) {
        let item = items.item.clone();
        let ordered = matches!(item, Type::Str | Type::Enum(_)) && name != "sum";
        if !is_number(&Known::Of(item.clone())) && !ordered {
            let shown = self.shown(&Known::Of(Type::Array(Box::new(item))));
            let message = format!("`.{name}` needs an array of numbers; this is {shown}");
            self.error(codes::TYPE_MISMATCH, node, message, None);
            return Self::wrong();
        }
        type Join = fn(Expr, Expr) -> Expr;
        let (result, none, join): (Type, Option<Expr>, Join) = match name {
            "sum" => (summed(&item), Some(zero(&item)), joined),
            "min" => (item.clone(), None, |a, b| Expr::binary(BinaryOp::Min, a, b)),
            _ => (item.clone(), None, |a, b| Expr::binary(BinaryOp::Max, a, b)),
        };
        let one = match name {
            // An item that is unset is no sum of one.
            "sum" => joined(zero(&item), items.item()),
            _ => items.item(),
        };
        let fold = Fold {
            shown: format!(".{name}"),
            none,
            one,
            join,
            given: Vec::new(),
            result: result.clone(),
        };
        let made = self.generated.fold(items, fold);
        self.made(node, made, result)
    }

    /// Whether a value is among the items.
    pub(super) fn includes(&mut self, node: &Node, items: Items, value: &Node) -> (Expr, Known) {
        let wanted = wanted(&Known::Of(items.item.clone()));
        let (value_expr, known) = self.check(value, wanted);
        let item = Known::Of(items.item.clone());
        if known == Known::Wrong || !comparable(&item, &known) {
            let wanted = self.shown(&item);
            return self.needs(value, "`include?`", &wanted, &known);
        }
        let ty = match known {
            Known::Of(ty) => ty,
            _ => items.item.clone(),
        };
        let made = self.generated.membership(items, value_expr, ty);
        self.made(node, made, Type::Bool)
    }

    /// `x in xs`.
    pub(super) fn is_item(&mut self, node: &Node, subject: &Node, set: &Node) -> (Expr, Known) {
        let items = match &set.kind {
            NodeKind::Range(ends) => self.range_items(ends),
            _ => match self.check(set, None) {
                (array, Known::Of(Type::Array(item))) => Some(Items::of_array(array, *item)),
                (keyed, Known::Of(Type::Struct(id))) if self.names.types.item_of(id).is_some() => {
                    return self.is_key(node, keyed, id, subject);
                }
                (_, known) => {
                    if known != Known::Wrong {
                        self.error(
                            codes::TYPE_MISMATCH,
                            set,
                            "`in` needs a list of values or a range".to_owned(),
                            Some("write `x in [1, 2, 3]` or `x in 1..10`".to_owned()),
                        );
                    }
                    None
                }
            },
        };
        match items {
            Some(items) => self.includes(node, items, subject),
            None => Self::wrong(),
        }
    }

    /// `xs - ys`: the items of the first that are not among those of the second.
    pub(super) fn without(
        &mut self,
        node: &Node,
        array: Expr,
        item: &Type,
        removed: (Expr, &Type),
    ) -> (Expr, Known) {
        let whole = Type::Array(Box::new(item.clone()));
        let made = self.generated.difference(array, item, removed);
        self.made(node, made, whole)
    }

    /// `xs[a..b]`.
    pub(super) fn slice(&mut self, node: &Node, all: &[Node; 3]) -> (Expr, Known) {
        let (array, known) = self.check(&all[0], None);
        let Known::Of(Type::Array(item)) = &known else {
            return self.needs(&all[0], "`[ ]`", "an array", &known);
        };
        let (Some(low), Some(high)) = (self.integer(&all[1]), self.integer(&all[2])) else {
            return Self::wrong();
        };
        let made = self.generated.part("[ ]", array, item, vec![low, high]);
        self.made(node, made, Type::Array(item.clone()))
    }

    /// `a <~ b`.
    pub(super) fn prefix(&mut self, node: &Node, both: &[Node; 2]) -> (Expr, Known) {
        let (first, first_type) = self.check(&both[0], None);
        let (second, second_type) = self.check(&both[1], None);
        for (known, operand) in [(&first_type, &both[0]), (&second_type, &both[1])] {
            if !is_array(known) {
                return self.needs(operand, "`<~`", "an array", known);
            }
        }
        if !comparable(&first_type, &second_type) {
            return self.mismatch(node, &both[0], &both[1], &first_type, &second_type);
        }
        let item = |known: &Known, other: &Known| match (known, other) {
            (Known::Of(Type::Array(item)), _) | (_, Known::Of(Type::Array(item))) => {
                (**item).clone()
            }
            _ => Type::INTEGER,
        };
        let items = [
            item(&first_type, &second_type),
            item(&second_type, &first_type),
        ];
        let made = self
            .generated
            .is_prefix([first, second], [&items[0], &items[1]]);
        self.made(node, made, Type::Bool)
    }

    /// The body of a block as an expression inside a function: the item in the place of its parameter,
    /// and what it reads around it as parameters of the function.
    fn body(&mut self, items: &Items, block: &BlockNode) -> Option<Body> {
        // The block of a hash has the key and the value of an entry.
        let entry = match &items.item {
            Type::Struct(id) if self.names.types.kind_of(*id) == StructKind::Entry => {
                Some(&self.names.types.structs[id.index()].fields)
            }
            _ => None,
        };
        let types: Vec<Type> = match entry {
            Some(fields) => fields.iter().map(|(_, ty)| ty.clone()).collect(),
            None => vec![items.item.clone()],
        };
        if block.parameters.len() != types.len() {
            let message = match entry {
                Some(_) => "the block of a hash has two parameters, as in `{ |k, v| v > 0 }`",
                None => "a block has one parameter, as in `{ |x| x > 0 }`",
            };
            let span = block.span.clone();
            self.error_at(codes::ARGUMENT_COUNT, span, message.to_owned(), None);
            return None;
        }
        let outer = self.names.locals.len();
        let mut locals = self.names.locals.to_vec();
        locals.extend(block.parameters.iter().cloned().zip(types));
        let (expr, known) = Checker {
            names: Names {
                locals: &locals,
                ..self.names
            },
            text: self.text,
            file: self.file,
            budget: self.budget,
            diagnostics: &mut *self.diagnostics,
            generated: Generated {
                known: self.generated.known,
                first: self.generated.first,
                new: self.generated.new.as_deref_mut(),
            },
        }
        .check(&block.body, None);
        if known == Known::Wrong {
            return None;
        }
        let mut given = Vec::new();
        let item = items.item();
        let own = match entry {
            Some(_) => vec![field(&item, 0), field(&item, 1)],
            None => vec![item],
        };
        let expr = self.inside(&expr, outer, &own, items.own(), &mut given);
        Some(Body { expr, known, given })
    }

    fn inside(
        &self,
        expr: &Expr,
        outer: usize,
        item: &[Expr],
        own: u32,
        given: &mut Vec<(Expr, String, Type)>,
    ) -> Expr {
        match expr {
            Expr::Local(position) if *position as usize >= outer => {
                item[*position as usize - outer].clone()
            }
            Expr::Var(_) | Expr::Param(_) | Expr::Local(_) => {
                let known = given.iter().position(|(value, ..)| value == expr);
                let position = known.unwrap_or_else(|| {
                    let (name, ty) = self.atom(expr);
                    given.push((expr.clone(), name, ty));
                    given.len() - 1
                });
                Expr::Local(own + position as u32)
            }
            _ => expr.map_children(|child| self.inside(child, outer, item, own, given)),
        }
    }

    /// The name and the type of a variable, a parameter or a local.
    fn atom(&self, atom: &Expr) -> (String, Type) {
        let found = match atom {
            Expr::Var(id) => {
                let mut variables = self.names.variables.iter();
                let found = variables.find(|v| v.id == *id);
                found.map(|v| (v.name.clone(), v.ty.clone()))
            }
            Expr::Param(position) => {
                let found = self.names.parameters.get(*position as usize);
                found.map(|p| (p.name.clone(), p.ty.clone()))
            }
            Expr::Local(position) => self.names.locals.get(*position as usize).cloned(),
            _ => None,
        };
        found.unwrap_or_else(|| ("?".to_owned(), Type::INTEGER))
    }

    fn string_method(&mut self, node: &Node, text: Expr, call: &MethodCall) -> (Expr, Known) {
        match (call.name.as_str(), &call.block, call.arguments.as_slice()) {
            ("length" | "size", None, []) => {
                (Expr::unary(UnaryOp::Length, text), Known::Of(Type::INTEGER))
            }
            ("empty?", None, []) => {
                // As for an array: whether an unset text is empty has no answer.
                let length = Expr::unary(UnaryOp::Length, text);
                let empty = Expr::binary(BinaryOp::Eq, length, Expr::int(0));
                (empty, Known::Of(Type::Bool))
            }
            (name @ ("start_with?" | "end_with?" | "include?"), None, [argument]) => {
                let NodeKind::Str(part) = &argument.kind else {
                    let message = format!("`.{name}` needs a text in quotes");
                    let hint = "the pattern must be known when the model is read".to_owned();
                    self.error(codes::NOT_SUPPORTED, argument, message, Some(hint));
                    return Self::wrong();
                };
                let part = escaped(part);
                let pattern = match name {
                    "start_with?" => format!("^{part}"),
                    "end_with?" => format!("{part}$"),
                    _ => part,
                };
                match Pattern::new(&pattern) {
                    Ok(pattern) => {
                        let matches = Expr::Matches(Box::new(text), pattern);
                        (matches, Known::Of(Type::Bool))
                    }
                    Err(_) => {
                        let message = "the text is too long for a pattern".to_owned();
                        self.error(codes::BAD_PATTERN, node, message, None);
                        Self::wrong()
                    }
                }
            }
            _ => self.no_method(call, "a string", STRING_METHODS),
        }
    }

    /// `Shop(action: 1, name: "x")`; a field that is not mentioned is `:void`.
    pub(super) fn record(
        &mut self,
        name: &str,
        name_span: &Span,
        given: &[(String, Span, Node)],
    ) -> (Expr, Known) {
        let structs = &self.names.types.structs;
        let Some(index) = structs.iter().position(|s| s.name == name) else {
            let hint = did_you_mean(name, structs.iter().map(|s| s.name.as_str()));
            let message = format!("no struct is called `{name}`");
            self.error_at(codes::UNKNOWN_TYPE, name_span.clone(), message, hint);
            return Self::wrong();
        };
        let id = StructId::from_index(index);
        let mut fields = vec![Expr::Const(Value::Void); structs[index].fields.len()];
        for (position, value) in self.given_fields(id, given) {
            fields[position] = value;
        }
        (Expr::Struct(id, fields), Known::Of(Type::Struct(id)))
    }

    /// `shop.with(name: "x")`: the same structure with other values of some fields. It is a function, so that the
    /// structure is computed once.
    pub(super) fn changed(
        &mut self,
        node: &Node,
        record: &Node,
        name_span: &Span,
        given: &[(String, Span, Node)],
    ) -> (Expr, Known) {
        let (whole, known) = self.check(record, None);
        let types = self.names.types;
        let id = match &known {
            Known::Wrong => return Self::wrong(),
            Known::Of(Type::Struct(id)) if types.kind_of(*id) == StructKind::Plain => *id,
            _ => {
                let shown = self.shown(&known);
                let message = format!("`.with` and a field need a struct; this is {shown}");
                self.error_at(codes::TYPE_MISMATCH, name_span.clone(), message, None);
                return Self::wrong();
            }
        };
        let before = self.diagnostics.len();
        let values = self.given_fields(id, given);
        if self.diagnostics.len() > before {
            return Self::wrong();
        }
        let declared = &types.structs[id.index()].fields;
        let mut fields: Vec<Expr> = (0..declared.len() as u32)
            .map(|position| field(&Expr::Local(0), position))
            .collect();
        let mut parameters = vec![("all".to_owned(), Type::Struct(id))];
        let (mut arguments, mut shown) = (vec![whole], Vec::new());
        for (position, value) in values {
            let (name, ty) = &declared[position];
            let own = arguments.len();
            shown.push(format!("{name}: ⟨{own}⟩"));
            fields[position] = Expr::Local(own as u32);
            parameters.push((name.clone(), ty.clone()));
            arguments.push(value);
        }
        let (ty, body) = (Type::Struct(id), Expr::Struct(id, fields));
        let name = format!("⟨0⟩.with({})", shown.join(", "));
        let function = self
            .generated
            .function(&name, &parameters, &ty, |_| body.clone());
        let call = function.map(|function| Expr::Call(function, arguments));
        self.made(node, call, ty)
    }

    /// The fields that are written out, by position, and their values.
    fn given_fields(&mut self, id: StructId, given: &[(String, Span, Node)]) -> Vec<(usize, Expr)> {
        let structure = &self.names.types.structs[id.index()];
        let declared = &structure.fields;
        let mut values: Vec<(usize, Expr)> = Vec::new();
        for (field, span, node) in given {
            let Some(position) = declared.iter().position(|(name, _)| name == field) else {
                let hint = did_you_mean(field, declared.iter().map(|(f, _)| f.as_str()));
                let message = format!("`{}` has no field `{field}`", structure.name);
                self.error_at(codes::UNKNOWN_FIELD, span.clone(), message, hint);
                continue;
            };
            let value = self.expect(node, &declared[position].1, |shown, wanted| {
                format!("`{field}` is {wanted}; this is {shown}")
            });
            values.retain(|(earlier, _)| *earlier != position);
            values.push((position, value));
        }
        values
    }
}

/// A field of a structure, by its position.
pub(super) fn field(structure: &Expr, position: u32) -> Expr {
    Expr::Field(Box::new(structure.clone()), position)
}

impl Generated<'_> {
    pub(super) fn membership(&mut self, items: Items, value: Expr, ty: Type) -> Option<Expr> {
        let own = items.own();
        let fold = Fold {
            shown: format!(".include?(⟨{}⟩)", items.own_shown()),
            none: Some(Expr::FALSE),
            one: Expr::binary(BinaryOp::Eq, items.item(), Expr::Local(own)),
            join: |left, right| Expr::binary(BinaryOp::Or, left, right),
            given: vec![(value, "value".to_owned(), ty)],
            result: Type::Bool,
        };
        self.fold(items, fold)
    }

    pub(super) fn difference(
        &mut self,
        array: Expr,
        item: &Type,
        removed: (Expr, &Type),
    ) -> Option<Expr> {
        let items = Items::of_array(array, item.clone());
        let (removed, removed_type) = removed;
        let inner = match removed_type {
            Type::Array(inner) => (**inner).clone(),
            other => other.clone(),
        };
        let others = Items::of_array(Expr::Local(items.own()), inner);
        let is_removed = self.membership(others, items.item(), item.clone())?;
        let one = Expr::Array(vec![items.item()]);
        let fold = Fold {
            shown: " - ⟨1⟩".to_owned(),
            none: Some(Expr::Array(Vec::new())),
            one: choice(is_removed, Expr::Array(Vec::new()), one),
            join: joined,
            given: vec![(removed, "removed".to_owned(), removed_type.clone())],
            result: Type::Array(Box::new(item.clone())),
        };
        self.fold(items, fold)
    }
}

/// The type of a sum of such numbers: a bounded integer's sum is not bounded.
fn summed(item: &Type) -> Type {
    match item {
        Type::Decimal => Type::Decimal,
        _ => Type::INTEGER,
    }
}

fn zero(item: &Type) -> Expr {
    match item {
        Type::Decimal => Expr::Const(Value::Decimal(Decimal::ZERO)),
        _ => Expr::int(0),
    }
}

/// A text as a pattern that matches it alone.
fn escaped(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for character in text.chars() {
        if "\\.+*?()|[]{}^$#&-~/".contains(character) {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern
}
