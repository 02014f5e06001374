//! Sets and hashes: what is written out, their operators and their methods.
//!
//! Both are structures around an array in the order of its keys ([`StructKind`]). Every operation is a function that
//! ioco writes ([`Generated`](crate::expr::generated::Generated)) and that keeps this order, so that equal sets are equal values.

use ioco_sts::{BinaryOp, Expr, StructId, StructKind, Type, Value};

use crate::codes;
use crate::expr::check::Checker;
use crate::expr::generated::Items;
use crate::expr::keyed_functions::{empty, unless_void};
use crate::expr::known::{ExpectedType, Known, coerce, comparable};
use crate::expr::methods::{ITEM_METHODS, VALUE_METHODS, field};
use crate::expr::parse::{MethodCall, Node, NodeKind, SetOp};

const SET_METHODS: &[&str] = &["add", "member?", "subset?", "superset?"];

const HASH_METHODS: &[&str] = &[
    "key?", "has_key?", "member?", "fetch", "keys", "values", "with", "store", "merge",
];

type Typed = (Expr, Known);

impl Checker<'_> {
    fn keyed(&self, known: &Known, kind: StructKind) -> Option<StructId> {
        match known {
            Known::Of(Type::Struct(id)) if self.names.types.kind_of(*id) == kind => Some(*id),
            _ => None,
        }
    }

    /// The type of a set or a hash that is written out: the one around it, or the type of the model that its first
    /// item (and, of a hash, the value beside it) fits. Of several that differ in the bounds of integers it is the widest;
    /// where none of them has the values of all the others, nothing is guessed.
    fn written_type(
        &mut self,
        kind: StructKind,
        first: Option<(&Node, Option<&Node>)>,
        expected: Option<ExpectedType>,
    ) -> Option<StructId> {
        let types = self.names.types;
        if let Some(ExpectedType::Struct(id)) = expected
            && types.kind_of(id) == kind
        {
            return Some(id);
        }
        let (key, value) = first?;
        // What is wrong with them is said once their type is known.
        let said = self.diagnostics.len();
        let (_, key) = self.check(key, None);
        let value = value.map_or(Known::Void, |value| self.check(value, None).1);
        self.diagnostics.truncate(said);
        let fits = |ty: Option<&Type>, known: &Known| {
            ty.is_some_and(|ty| comparable(&Known::Of(ty.clone()), known))
        };
        let all = (0..types.structs.len()).map(StructId::from_index);
        let fitting: Vec<StructId> = all
            .filter(|id| types.kind_of(*id) == kind)
            .filter(|id| match kind {
                StructKind::Set => fits(types.item_of(*id), &key),
                _ => {
                    let entry = types.entry_of(*id);
                    fits(entry.map(|(key, _)| key), &key)
                        && fits(entry.map(|(_, value)| value), &value)
                }
            })
            .collect();
        let widest = |id: &&StructId| fitting.iter().all(|other| self.is_wider(**id, *other));
        fitting.iter().find(widest).copied()
    }

    /// Whether a set or hash type has all values of another one.
    fn is_wider(&self, wide: StructId, narrow: StructId) -> bool {
        let covers = |wide: &Type, narrow: &Type| match (wide.int_range(), narrow.int_range()) {
            (Some(wide), Some(narrow)) => wide.min <= narrow.min && narrow.max <= wide.max,
            _ => wide == narrow,
        };
        let types = self.names.types;
        match (types.entry_of(wide), types.entry_of(narrow)) {
            (Some((key, value)), Some((narrow_key, narrow_value))) => {
                covers(key, narrow_key) && covers(value, narrow_value)
            }
            _ => match (types.item_of(wide), types.item_of(narrow)) {
                (Some(wide), Some(narrow)) => covers(wide, narrow),
                _ => false,
            },
        }
    }

    fn unknown_type(&mut self, node: &Node, what: &str, example: &str) -> Typed {
        let message = format!("the type of the elements of this {what} is unknown here");
        let hint = format!(
            "assign it to a variable, or compare it with one, of a type such as `{example}`"
        );
        self.error(codes::TYPE_MISMATCH, node, message, Some(hint));
        Self::wrong()
    }

    /// `Set[1, 2]`.
    pub(super) fn set_literal(
        &mut self,
        node: &Node,
        items: &[Node],
        expected: Option<ExpectedType>,
    ) -> Typed {
        let types = self.names.types;
        let first = items.first().map(|item| (item, None));
        let Some(id) = self.written_type(StructKind::Set, first, expected) else {
            return self.unknown_type(node, "set", "set(:integer)");
        };
        let Some(item) = types.item_of(id) else {
            return Self::wrong();
        };
        let known = Known::Of(Type::Struct(id));
        let mut set = Expr::Const(empty(id));
        let mut constants: Vec<Value> = Vec::new();
        for node in items {
            let (value, right) = self.fitting(node, item);
            if !right {
                return Self::wrong();
            }
            match (value, &set) {
                (Expr::Const(value), Expr::Const(_)) => {
                    constants.retain(|known| *known != value);
                    constants.push(value);
                    match types.keyed(id, constants.clone()) {
                        Some(value) => set = Expr::Const(value),
                        None => return self.never_void(node, "an item of a set"),
                    }
                }
                (value, _) => match self.generated.added(types, id, set, value) {
                    Some(added) => set = added,
                    None => return self.made(node, None, Type::Struct(id)),
                },
            }
        }
        (set, known)
    }

    fn never_void(&mut self, node: &Node, what: &str) -> Typed {
        let message = format!("{what} is never `:void`");
        self.error(codes::TYPE_MISMATCH, node, message, None);
        Self::wrong()
    }

    /// `{"a" => 1}`.
    pub(super) fn hash_literal(
        &mut self,
        node: &Node,
        pairs: &[[Node; 2]],
        expected: Option<ExpectedType>,
    ) -> Typed {
        let types = self.names.types;
        let first = pairs.first().map(|[key, value]| (key, Some(value)));
        let Some(id) = self.written_type(StructKind::Hash, first, expected) else {
            return self.unknown_type(node, "hash", "{:string => :integer}");
        };
        let (Some((key, value)), Some(Type::Struct(entry))) =
            (types.entry_of(id), types.item_of(id))
        else {
            return Self::wrong();
        };
        let mut hash = Expr::Const(empty(id));
        let mut constants: Vec<Value> = Vec::new();
        for [key_node, value_node] in pairs {
            let (key, key_right) = self.fitting(key_node, key);
            let value = self.expect(value_node, value, |shown, wanted| {
                format!("the values are {wanted}; this is {shown}")
            });
            if !key_right {
                return Self::wrong();
            }
            match (key, value, &hash) {
                (Expr::Const(key), Expr::Const(value), Expr::Const(_)) => {
                    constants.retain(|known| *types.key(known) != key);
                    constants.push(Value::Struct(*entry, [key, value].into()));
                    match types.keyed(id, constants.clone()) {
                        Some(value) => hash = Expr::Const(value),
                        None => return self.never_void(key_node, "a key of a hash"),
                    }
                }
                (key, value, _) => match self.generated.with_entry(types, id, hash, [key, value]) {
                    Some(with) => hash = with,
                    None => return self.made(node, None, Type::Struct(id)),
                },
            }
        }
        (hash, Known::Of(Type::Struct(id)))
    }

    /// A set or hash as one of another type, where its items, or its keys and values, are of that type: bounds of
    /// integers may differ.
    pub(super) fn as_keyed(&mut self, expr: Expr, known: Known, ty: &Type) -> Typed {
        let types = self.names.types;
        let (Known::Of(Type::Struct(found)), Type::Struct(wanted)) = (&known, ty) else {
            return (expr, known);
        };
        let (found, wanted) = (*found, *wanted);
        if found == wanted || types.kind_of(found) != types.kind_of(wanted) {
            return (expr, known);
        }
        let alike = |found: &Type, wanted: &Type| {
            found == wanted || found.int_range().is_some() && wanted.int_range().is_some()
        };
        let made = match (types.entry_of(found), types.entry_of(wanted)) {
            (Some(from), Some(to)) if alike(from.0, to.0) && alike(from.1, to.1) => {
                self.generated.retyped(types, [found, wanted], &expr)
            }
            (None, None) => match (types.item_of(found), types.item_of(wanted)) {
                (Some(from), Some(to)) if alike(from, to) => Some(match &expr {
                    Expr::Const(Value::Struct(_, fields)) => {
                        Expr::Const(Value::Struct(wanted, fields.clone()))
                    }
                    other => unless_void(other, Expr::Struct(wanted, vec![field(other, 0)])),
                }),
                _ => None,
            },
            _ => None,
        };
        match made {
            Some(made) => (made, Known::Of(ty.clone())),
            None => (expr, known),
        }
    }

    /// An operator between sets or hashes; the operands again where it is none.
    #[expect(
        clippy::result_large_err,
        reason = "both are taken apart at once, by the only caller"
    )]
    pub(super) fn keyed_binary(
        &mut self,
        node: &Node,
        op: BinaryOp,
        nodes: [&Node; 2],
        [first, second]: [Typed; 2],
    ) -> Result<Typed, [Typed; 2]> {
        let types = self.names.types;
        let set = self.keyed(&first.1, StructKind::Set);
        let hash = self.keyed(&first.1, StructKind::Hash);
        match (op, set, hash) {
            (BinaryOp::Index, _, Some(id)) => {
                let Some((key, value)) = types.entry_of(id) else {
                    return Err([first, second]);
                };
                let Ok(key) = coerce(second.0, &second.1, key) else {
                    let wanted = self.shown(&Known::Of(key.clone()));
                    return Ok(self.needs(nodes[1], "a key of this hash", &wanted, &second.1));
                };
                let found = self.generated.lookup(types, id, first.0, key);
                Ok(self.made(node, found, value.clone()))
            }
            (BinaryOp::Add | BinaryOp::Sub, Some(id), _) => {
                let op = match op {
                    BinaryOp::Add => Some(SetOp::Union),
                    _ => None,
                };
                Ok(self.of_sets(node, op, id, nodes[1], [first, second]))
            }
            (BinaryOp::Eq | BinaryOp::Ne, Some(id), _)
            | (BinaryOp::Eq | BinaryOp::Ne, _, Some(id)) => {
                let second = self.as_keyed(second.0, second.1, &Type::Struct(id));
                Err([first, second])
            }
            _ => Err([first, second]),
        }
    }

    /// `a | b`, `a & b`.
    pub(super) fn joined_sets(
        &mut self,
        node: &Node,
        op: SetOp,
        both: &[Node; 2],
        expected: Option<ExpectedType>,
    ) -> Typed {
        let (first, second) = self.operands(&both[0], &both[1], expected);
        if first.1 == Known::Wrong || second.1 == Known::Wrong {
            return Self::wrong();
        }
        let operation = match op {
            SetOp::Union => "`|`",
            SetOp::Intersection => "`&`",
        };
        let Some(id) = self.keyed(&first.1, StructKind::Set) else {
            return self.needs(&both[0], operation, "a set", &first.1);
        };
        self.of_sets(node, Some(op), id, &both[1], [first, second])
    }

    /// The union, the intersection or (without `op`) the difference of two sets.
    fn of_sets(
        &mut self,
        node: &Node,
        op: Option<SetOp>,
        id: StructId,
        right: &Node,
        [first, second]: [Typed; 2],
    ) -> Typed {
        let ty = Type::Struct(id);
        let (second, known) = self.as_keyed(second.0, second.1, &ty);
        if known != Known::Of(ty.clone()) {
            let wanted = self.shown(&Known::Of(ty));
            return self.needs(right, "this operator", &wanted, &known);
        }
        let types = self.names.types;
        let made = match op {
            Some(SetOp::Union) => self.generated.union(types, id, [first.0, second]),
            Some(SetOp::Intersection) => self.generated.kept(types, id, [first.0, second], true),
            None => self.generated.kept(types, id, [first.0, second], false),
        };
        self.made(node, made, ty)
    }

    /// The hash that `index` is a key of, the key, and the type of the values.
    pub(super) fn key_of(&mut self, ty: &Type, index: &Node) -> Option<(StructId, Expr, Type)> {
        let Type::Struct(id) = ty else { return None };
        let (key, value) = self.names.types.entry_of(*id)?;
        let (key, right) = self.fitting(index, key);
        right.then(|| (*id, key, value.clone()))
    }

    /// `x in set`, `k in hash`.
    pub(super) fn is_key(
        &mut self,
        node: &Node,
        keyed: Expr,
        id: StructId,
        subject: &Node,
    ) -> Typed {
        let types = self.names.types;
        let Some(item) = types.item_of(id) else {
            return Self::wrong();
        };
        let Some((key, _)) = types.entry_of(id) else {
            let items = Items::of_array(field(&keyed, 0), item.clone());
            return self.includes(node, items, subject);
        };
        let (key, right) = self.fitting(subject, key);
        if !right {
            return Self::wrong();
        }
        let made = self.generated.has_key(types, id, keyed, key);
        self.made(node, made, Type::Bool)
    }

    pub(super) fn keyed_method(
        &mut self,
        node: &Node,
        keyed: Expr,
        id: StructId,
        call: &MethodCall,
    ) -> Typed {
        let types = self.names.types;
        let Some(item) = types.item_of(id) else {
            return Self::wrong();
        };
        let ty = Type::Struct(id);
        let is_set = types.kind_of(id) == StructKind::Set;
        let (what, known) = match is_set {
            true => ("a set", [ITEM_METHODS, VALUE_METHODS, SET_METHODS].concat()),
            false => ("a hash", [ITEM_METHODS, HASH_METHODS].concat()),
        };
        let name = call.name.as_str();
        if !known.contains(&name) {
            return self.no_method(call, what, &known);
        }
        match (name, &call.block, call.arguments.as_slice()) {
            ("include?" | "member?" | "key?" | "has_key?", None, [subject]) => {
                self.is_key(node, keyed, id, subject)
            }
            ("select" | "filter" | "reject", Some(_), []) => {
                let (items, known) = self.items_method(node, &keyed, item, call);
                match known {
                    Known::Wrong => Self::wrong(),
                    _ => (Expr::Struct(id, vec![items]), Known::Of(ty)),
                }
            }
            ("delete", None, [subject]) => self.without_key(node, keyed, id, subject),
            ("add", None, [subject]) => {
                let (value, right) = self.fitting(subject, item);
                let made = self.generated.added(types, id, keyed, value);
                if right {
                    self.made(node, made, ty)
                } else {
                    Self::wrong()
                }
            }
            ("subset?" | "superset?", None, [other]) => {
                let (other, right) = self.fitting(other, &ty);
                if !right {
                    return Self::wrong();
                }
                let both = if name == "subset?" {
                    [keyed, other]
                } else {
                    [other, keyed]
                };
                let made = self.generated.subset(types, id, both);
                self.made(node, made, Type::Bool)
            }
            ("keys" | "values", None, []) => {
                let position = u32::from(name == "values");
                let Some((key, value)) = types.entry_of(id) else {
                    return Self::wrong();
                };
                let side = if position == 0 { key } else { value };
                let made = self.generated.sides(types, id, keyed, position, side);
                self.made(node, made, Type::Array(Box::new(side.clone())))
            }
            ("fetch", None, [subject, default]) => {
                let Some((_, key, value)) = self.key_of(&ty, subject) else {
                    return Self::wrong();
                };
                let default = self.expect(default, &value, |shown, wanted| {
                    format!("the values are {wanted}; this is {shown}")
                });
                let made = self
                    .generated
                    .fetched(types, id, [keyed, key], Some(default));
                self.made(node, made, value)
            }
            ("with" | "store", None, [subject, new]) => {
                let Some((_, key, value)) = self.key_of(&ty, subject) else {
                    return Self::wrong();
                };
                let new = self.expect(new, &value, |shown, wanted| {
                    format!("the values are {wanted}; this is {shown}")
                });
                let made = self.generated.with_entry(types, id, keyed, [key, new]);
                self.made(node, made, ty)
            }
            ("merge", None, [other]) => {
                let (other, right) = self.fitting(other, &ty);
                let made = self.generated.union(types, id, [keyed, other]);
                if right {
                    self.made(node, made, ty)
                } else {
                    Self::wrong()
                }
            }
            (
                "add" | "delete" | "include?" | "member?" | "key?" | "has_key?" | "subset?"
                | "superset?" | "fetch" | "with" | "store" | "merge" | "keys" | "values",
                ..,
            ) => {
                let message = format!("`.{name}` is not used like this");
                let span = call.name_span.clone();
                self.error_at(codes::UNKNOWN_FUNCTION, span, message, None);
                Self::wrong()
            }
            _ => self.items_method(node, &keyed, item, call),
        }
    }

    /// A method of the array of the items.
    fn items_method(&mut self, node: &Node, keyed: &Expr, item: &Type, call: &MethodCall) -> Typed {
        let array = field(keyed, 0);
        let items = Items::of_array(array.clone(), item.clone());
        self.over_items(node, items, Some(array), call)
    }

    /// `set.delete(x)`, `hash.delete(k)`.
    fn without_key(&mut self, node: &Node, keyed: Expr, id: StructId, subject: &Node) -> Typed {
        let types = self.names.types;
        let key = match types.entry_of(id) {
            Some((key, _)) => Some(key),
            None => types.item_of(id),
        };
        let Some(key) = key else {
            return Self::wrong();
        };
        let (value, right) = self.fitting(subject, key);
        let made = self.generated.deleted(types, id, keyed, value);
        if right {
            self.made(node, made, Type::Struct(id))
        } else {
            Self::wrong()
        }
    }

    /// `xs.to_set`.
    pub(super) fn set_of_items(&mut self, node: &Node, array: Expr, item: &Type) -> Typed {
        let types = self.names.types;
        let known = Known::Of(item.clone());
        let fits = |id: &StructId| {
            types.kind_of(*id) == StructKind::Set
                && types.item_of(*id).is_some_and(|own| {
                    own == item || own.int_range().is_some() && item.int_range().is_some()
                })
        };
        let mut all = (0..types.structs.len()).map(StructId::from_index);
        let Some(id) = all.find(fits) else {
            let example = format!("set({})", types.type_name(item));
            return self.unknown_type(node, "set", &example);
        };
        debug_assert!(known != Known::Wrong);
        let made = self.generated.collected(types, id, array, item);
        self.made(node, made, Type::Struct(id))
    }
}

/// Whether a method gives a set or hash of the type that it is called on.
pub(super) fn keeps_type(name: &str) -> bool {
    let keeps = [
        "add", "delete", "with", "store", "merge", "select", "filter", "reject",
    ];
    keeps.contains(&name)
}

/// Whether only what is around an expression says what it holds: a set or hash that is written out, also below
/// methods and operators that keep its type.
pub(super) fn is_written_out(node: &Node) -> bool {
    match &node.kind {
        NodeKind::Set(_) | NodeKind::Hash(_) => true,
        NodeKind::Method(call) => keeps_type(&call.name) && is_written_out(&call.receiver),
        NodeKind::Joined(_, both) => both.iter().all(is_written_out),
        _ => false,
    }
}
