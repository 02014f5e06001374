//! The functions of the model that the operators and methods of sets and hashes become.

use ioco_sts::{BinaryOp, Expr, StructId, StructKind, Type, Types, UnaryOp, Value};

use crate::expr::generated::{Fold, Generated, Items, choice, index, joined, last_index, missing};
use crate::expr::methods::field;

pub(super) fn unless_void(tested: &Expr, value: Expr) -> Expr {
    let void = Expr::Const(Value::Void);
    let unset = Expr::binary(BinaryOp::Eq, tested.clone(), void.clone());
    choice(unset, void, value)
}

/// The set or hash without items.
pub(super) fn empty(id: StructId) -> Value {
    Value::Struct(id, [Value::Array([].into())].into())
}

/// The key of an item, and its type.
pub(super) fn key(types: &Types, item: &Expr, ty: &Type) -> (Expr, Type) {
    match ty {
        Type::Struct(id) if types.kind_of(*id) == StructKind::Entry => {
            let fields = &types.structs[id.index()].fields;
            (field(item, 0), fields[0].1.clone())
        }
        _ => (item.clone(), ty.clone()),
    }
}

impl Generated<'_> {
    /// The items whose keys compare with a key in this way.
    pub(super) fn compared(
        &mut self,
        types: &Types,
        id: StructId,
        op: BinaryOp,
        [keyed, key_value]: [Expr; 2],
    ) -> Option<Expr> {
        let item = types.item_of(id)?;
        let items = Items::of_array(field(&keyed, 0), item.clone());
        let (own_key, key_type) = key(types, &items.item(), item);
        let one = Expr::Array(vec![items.item()]);
        let condition = Expr::binary(op, own_key, Expr::Local(items.own()));
        let fold = Fold {
            shown: format!(
                ".select {{ |x| x {} ⟨{}⟩ }}",
                op.symbol()?,
                items.own_shown()
            ),
            none: Some(Expr::Array(Vec::new())),
            one: choice(condition, one, Expr::Array(Vec::new())),
            join: joined,
            given: vec![(key_value, "key".to_owned(), key_type)],
            result: Type::Array(Box::new(item.clone())),
        };
        self.fold(items, fold)
    }

    /// A function of a set or hash, and of more, that gives such a set or hash.
    pub(super) fn keyed_function(
        &mut self,
        name: &str,
        id: StructId,
        others: &[(&str, Type)],
        body: &Expr,
    ) -> Option<ioco_sts::FunctionId> {
        let own = Type::Struct(id);
        let mut parameters = vec![("all".to_owned(), own.clone())];
        parameters.extend(
            others
                .iter()
                .map(|(name, ty)| ((*name).to_owned(), ty.clone())),
        );
        self.function(name, &parameters, &own, |_| body.clone())
    }

    /// What lies below the new item, the item, and what lies above; without a key there is no value.
    pub(super) fn inserted(
        &mut self,
        types: &Types,
        id: StructId,
        new_key: Expr,
        new: Expr,
    ) -> Option<Expr> {
        let all = Expr::Local(0);
        let below = self.compared(types, id, BinaryOp::Lt, [all.clone(), new_key.clone()])?;
        let above = self.compared(types, id, BinaryOp::Gt, [all, new_key.clone()])?;
        let items = joined(joined(below, Expr::Array(vec![new])), above);
        let unset = Expr::binary(BinaryOp::Eq, new_key, Expr::Const(Value::Void));
        Some(Expr::Struct(
            id,
            vec![choice(unset, Expr::Array(vec![missing()]), items)],
        ))
    }

    /// `set.add(x)`.
    pub(super) fn added(
        &mut self,
        types: &Types,
        id: StructId,
        set: Expr,
        value: Expr,
    ) -> Option<Expr> {
        let item = types.item_of(id)?.clone();
        let body = self.inserted(types, id, Expr::Local(1), Expr::Local(1))?;
        let function = self.keyed_function("⟨0⟩.add(⟨1⟩)", id, &[("item", item)], &body)?;
        Some(Expr::Call(function, vec![set, value]))
    }

    /// `hash.with(k, v)`, which is also `hash[k] = v`.
    pub(super) fn with_entry(
        &mut self,
        types: &Types,
        id: StructId,
        hash: Expr,
        [new_key, new_value]: [Expr; 2],
    ) -> Option<Expr> {
        let (key, value) = types.entry_of(id)?;
        let Type::Struct(entry) = types.item_of(id)? else {
            return None;
        };
        let new = Expr::Struct(*entry, vec![Expr::Local(1), Expr::Local(2)]);
        let body = self.inserted(types, id, Expr::Local(1), new)?;
        let others = [("key", key.clone()), ("value", value.clone())];
        let function = self.keyed_function("⟨0⟩.with(⟨1⟩, ⟨2⟩)", id, &others, &body)?;
        Some(Expr::Call(function, vec![hash, new_key, new_value]))
    }

    /// `hash[k]`: `:void` where there is no such key.
    pub(super) fn lookup(
        &mut self,
        types: &Types,
        id: StructId,
        hash: Expr,
        key: Expr,
    ) -> Option<Expr> {
        self.fetched(types, id, [hash, key], None)
    }

    /// The value of a key, or another one where there is none.
    pub(super) fn fetched(
        &mut self,
        types: &Types,
        id: StructId,
        [hash, key_value]: [Expr; 2],
        default: Option<Expr>,
    ) -> Option<Expr> {
        let (key, value) = types.entry_of(id)?;
        let entries = Type::Array(Box::new(types.item_of(id)?.clone()));
        let found = Expr::Local(0);
        let some = Expr::binary(
            BinaryOp::Gt,
            Expr::unary(UnaryOp::Length, found.clone()),
            Expr::int(0),
        );
        let first = field(&index(found, Expr::int(0)), 1);
        let first = choice(some, first, Expr::Local(1));
        let parameters = [
            ("found".to_owned(), entries),
            ("default".to_owned(), value.clone()),
        ];
        let name = "the value in ⟨0⟩ or ⟨1⟩";
        let first = self.function(name, &parameters, value, |_| first.clone())?;
        let found = self.compared(types, id, BinaryOp::Eq, [Expr::Local(0), Expr::Local(1)])?;
        let mut parameters = vec![
            ("hash".to_owned(), Type::Struct(id)),
            ("key".to_owned(), key.clone()),
        ];
        let mut arguments = vec![hash, key_value];
        let (name, otherwise) = match default {
            None => ("⟨0⟩[⟨1⟩]", Expr::Const(Value::Void)),
            Some(default) => {
                parameters.push(("default".to_owned(), value.clone()));
                arguments.push(default);
                ("⟨0⟩.fetch(⟨1⟩, ⟨2⟩)", Expr::Local(2))
            }
        };
        let body = Expr::Call(first, vec![found, otherwise]);
        let function = self.function(name, &parameters, value, |_| body.clone())?;
        Some(Expr::Call(function, arguments))
    }

    /// `hash.key?(k)`.
    pub(super) fn has_key(
        &mut self,
        types: &Types,
        id: StructId,
        hash: Expr,
        key_value: Expr,
    ) -> Option<Expr> {
        let (key, _) = types.entry_of(id)?;
        let found = self.compared(types, id, BinaryOp::Eq, [Expr::Local(0), Expr::Local(1)])?;
        let length = Expr::unary(UnaryOp::Length, found);
        let body = Expr::binary(BinaryOp::Gt, length, Expr::int(0));
        let parameters = [
            ("hash".to_owned(), Type::Struct(id)),
            ("key".to_owned(), key.clone()),
        ];
        let function = self.function("⟨0⟩.key?(⟨1⟩)", &parameters, &Type::Bool, |_| {
            body.clone()
        })?;
        Some(Expr::Call(function, vec![hash, key_value]))
    }

    /// `set.delete(x)`, `hash.delete(k)`.
    pub(super) fn deleted(
        &mut self,
        types: &Types,
        id: StructId,
        keyed: Expr,
        value: Expr,
    ) -> Option<Expr> {
        let item = types.item_of(id)?;
        let (_, key_type) = key(types, &Expr::Local(0), item);
        let rest = self.compared(types, id, BinaryOp::Ne, [Expr::Local(0), Expr::Local(1)])?;
        let body = Expr::Struct(id, vec![rest]);
        let function = self.keyed_function("⟨0⟩.delete(⟨1⟩)", id, &[("key", key_type)], &body)?;
        Some(Expr::Call(function, vec![keyed, value]))
    }

    /// A set or hash with the items of an array, from one index to another, put in one after the other.
    pub(super) fn filled(
        &mut self,
        types: &Types,
        id: StructId,
        item: &Type,
    ) -> Option<ioco_sts::FunctionId> {
        let (all, xs, low, high) = (
            Expr::Local(0),
            Expr::Local(1),
            Expr::Local(2),
            Expr::Local(3),
        );
        let new = index(xs.clone(), low.clone());
        let one = match types.entry_of(id) {
            Some(_) => self.with_entry(types, id, all.clone(), [field(&new, 0), field(&new, 1)])?,
            None => self.added(types, id, all.clone(), new)?,
        };
        let own = Type::Struct(id);
        let parameters = [
            ("all".to_owned(), own.clone()),
            ("xs".to_owned(), Type::Array(Box::new(item.clone()))),
            ("low".to_owned(), Type::INTEGER),
            ("high".to_owned(), Type::INTEGER),
        ];
        self.function(
            "⟨0⟩ with ⟨1⟩ from ⟨2⟩ to ⟨3⟩",
            &parameters,
            &own,
            |function| {
                let again = |all: Expr, from: Expr, to: Expr| {
                    Expr::Call(function, vec![all, xs.clone(), from, to])
                };
                let distance = Expr::binary(BinaryOp::Sub, high.clone(), low.clone());
                let half = Expr::binary(BinaryOp::Div, distance, Expr::int(2));
                let middle = Expr::binary(BinaryOp::Add, low.clone(), half);
                let after = Expr::binary(BinaryOp::Add, middle.clone(), Expr::int(1));
                let first = again(all.clone(), low.clone(), middle);
                let compared = |op| Expr::binary(op, low.clone(), high.clone());
                choice(
                    compared(BinaryOp::Gt),
                    all.clone(),
                    choice(
                        compared(BinaryOp::Eq),
                        one.clone(),
                        again(first, after, high.clone()),
                    ),
                )
            },
        )
    }

    /// `a | b`, `a.merge(b)`.
    pub(super) fn union(&mut self, types: &Types, id: StructId, both: [Expr; 2]) -> Option<Expr> {
        let item = types.item_of(id)?.clone();
        let filled = self.filled(types, id, &item)?;
        let others = field(&Expr::Local(1), 0);
        let last = last_index(others.clone());
        // What is unset has no items, also where nothing is put in.
        let own = Expr::Struct(id, vec![field(&Expr::Local(0), 0)]);
        let body = Expr::Call(filled, vec![own, others, Expr::int(0), last]);
        let name = match types.kind_of(id) {
            StructKind::Hash => "⟨0⟩.merge(⟨1⟩)",
            _ => "⟨0⟩ | ⟨1⟩",
        };
        let function = self.keyed_function(name, id, &[("others", Type::Struct(id))], &body)?;
        Some(Expr::Call(function, both.into()))
    }

    /// `xs.to_set`.
    pub(super) fn collected(
        &mut self,
        types: &Types,
        id: StructId,
        array: Expr,
        item: &Type,
    ) -> Option<Expr> {
        let filled = self.filled(types, id, item)?;
        let xs = Expr::Local(0);
        let last = last_index(xs.clone());
        let body = Expr::Call(filled, vec![Expr::Const(empty(id)), xs, Expr::int(0), last]);
        let parameters = [("xs".to_owned(), Type::Array(Box::new(item.clone())))];
        let own = Type::Struct(id);
        let function = self.function("⟨0⟩.to_set", &parameters, &own, |_| body.clone())?;
        Some(Expr::Call(function, vec![array]))
    }

    /// The items of one set that are, or are not, in another.
    pub(super) fn kept(
        &mut self,
        types: &Types,
        id: StructId,
        both: [Expr; 2],
        keep: bool,
    ) -> Option<Expr> {
        let item = types.item_of(id)?.clone();
        let whole = Type::Array(Box::new(item.clone()));
        let items = Items::of_array(field(&Expr::Local(0), 0), item.clone());
        let others = Items::of_array(Expr::Local(items.own()), item.clone());
        let is_in = self.membership(others, items.item(), item.clone())?;
        let (one, none) = (Expr::Array(vec![items.item()]), Expr::Array(Vec::new()));
        let fold = Fold {
            shown: format!(" {} ⟨1⟩", if keep { "&" } else { "-" }),
            none: Some(Expr::Array(Vec::new())),
            one: if keep {
                choice(is_in, one, none)
            } else {
                choice(is_in, none, one)
            },
            join: joined,
            given: vec![(
                field(&Expr::Local(1), 0),
                "others".to_owned(),
                whole.clone(),
            )],
            result: whole,
        };
        let body = Expr::Struct(id, vec![self.fold(items, fold)?]);
        let name = if keep {
            "⟨0⟩ & ⟨1⟩"
        } else {
            "⟨0⟩ - ⟨1⟩"
        };
        let function = self.keyed_function(name, id, &[("others", Type::Struct(id))], &body)?;
        Some(Expr::Call(function, both.into()))
    }

    /// `a.subset?(b)`.
    pub(super) fn subset(&mut self, types: &Types, id: StructId, both: [Expr; 2]) -> Option<Expr> {
        let item = types.item_of(id)?.clone();
        let items = Items::of_array(field(&Expr::Local(0), 0), item.clone());
        let others = Items::of_array(Expr::Local(items.own()), item.clone());
        let fold = Fold {
            shown: ".all? { |x| x in ⟨1⟩ }".to_owned(),
            none: Some(Expr::TRUE),
            one: self.membership(others, items.item(), item.clone())?,
            join: |left, right| Expr::binary(BinaryOp::And, left, right),
            given: vec![(
                field(&Expr::Local(1), 0),
                "others".to_owned(),
                Type::Array(Box::new(item)),
            )],
            result: Type::Bool,
        };
        let body = self.fold(items, fold)?;
        let parameters = [
            ("all".to_owned(), Type::Struct(id)),
            ("others".to_owned(), Type::Struct(id)),
        ];
        let name = "⟨0⟩.subset?(⟨1⟩)";
        let function = self.function(name, &parameters, &Type::Bool, |_| body.clone())?;
        Some(Expr::Call(function, both.into()))
    }

    /// A hash as one of another type, entry by entry.
    pub(super) fn retyped(
        &mut self,
        types: &Types,
        [found, wanted]: [StructId; 2],
        hash: &Expr,
    ) -> Option<Expr> {
        let item = types.item_of(found)?.clone();
        let result = types.item_of(wanted)?.clone();
        let Type::Struct(entry) = result else {
            return None;
        };
        let items = Items::of_array(field(hash, 0), item);
        let fold = Fold {
            shown: String::new(),
            none: Some(Expr::Array(Vec::new())),
            one: Expr::Array(vec![Expr::Struct(
                entry,
                vec![field(&items.item(), 0), field(&items.item(), 1)],
            )]),
            join: joined,
            given: Vec::new(),
            result: Type::Array(Box::new(Type::Struct(entry))),
        };
        let entries = self.fold(items, fold)?;
        Some(unless_void(hash, Expr::Struct(wanted, vec![entries])))
    }

    /// `hash.keys`, `hash.values`.
    pub(super) fn sides(
        &mut self,
        types: &Types,
        id: StructId,
        hash: Expr,
        position: u32,
        side: &Type,
    ) -> Option<Expr> {
        let items = Items::of_array(field(&hash, 0), types.item_of(id)?.clone());
        let fold = Fold {
            shown: if position == 0 { ".keys" } else { ".values" }.to_owned(),
            none: Some(Expr::Array(Vec::new())),
            one: Expr::Array(vec![field(&items.item(), position)]),
            join: joined,
            given: Vec::new(),
            result: Type::Array(Box::new(side.clone())),
        };
        self.fold(items, fold)
    }
}
