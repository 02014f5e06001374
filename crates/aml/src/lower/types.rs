//! Types and literal values as declarations write them.

use ioco_sts::{
    EnumId, IntRange, Parameter, StructId, StructKind, StructType, Type, Value as Literal,
    read_decimal,
};

use crate::ast::{Span, Value, ValueKind};
use crate::codes;
use crate::lower::Lowering;
use crate::suggest::did_you_mean;

const SIMPLE: &[(&str, Type)] = &[
    ("string", Type::Str),
    ("integer", Type::INTEGER),
    ("decimal", Type::Decimal),
    ("boolean", Type::Bool),
    ("date", Type::Date),
    ("time", Type::Time),
];

impl Lowering<'_> {
    pub(super) fn type_of(&mut self, file: usize, value: &Value) -> Option<Type> {
        match &value.kind {
            ValueKind::Symbol(name) => {
                let found = SIMPLE.iter().find(|(simple, _)| simple == name);
                if found.is_none() {
                    let hint = did_you_mean(name, SIMPLE.iter().map(|(simple, _)| *simple))
                        .or_else(|| self.named_type(name).map(|_| format!("write '{name}'")));
                    let message = format!("unknown type `:{name}`");
                    self.report(codes::UNKNOWN_TYPE, file, &value.span, message)
                        .hint = hint;
                }
                found.map(|(_, ty)| ty.clone())
            }
            ValueKind::Str(text) => {
                let found = self.named_type(&text.value);
                if found.is_none() {
                    let names = self.type_sites.keys().map(String::as_str);
                    let hint = did_you_mean(&text.value, names);
                    let message = format!("no enum or struct is called `{}`", text.value);
                    self.report(codes::UNKNOWN_TYPE, file, &value.span, message)
                        .hint = hint;
                }
                found
            }
            ValueKind::Array(items) => match items.as_slice() {
                [item] => self
                    .type_of(file, item)
                    .map(|item| Type::Array(Box::new(item))),
                _ => {
                    let message = "an array type has one item type, as in `[:integer]`";
                    self.report(codes::UNKNOWN_TYPE, file, &value.span, message);
                    None
                }
            },
            ValueKind::Call(name, arguments) if name == "integer" => {
                self.bounded(file, &value.span, arguments)
            }
            ValueKind::Call(name, arguments) if name == "set" => match arguments.as_slice() {
                [item] => {
                    let item_type = self.type_of(file, item)?;
                    self.set_of(file, &item.span, item_type)
                }
                _ => {
                    let message = "a set is written `set(:integer)`";
                    self.report(codes::UNKNOWN_TYPE, file, &value.span, message);
                    None
                }
            },
            ValueKind::Call(name, pairs) if name == "hash" => {
                self.hash_of(file, &value.span, pairs)
            }
            ValueKind::Hash(pairs) => self.hash_of(file, &value.span, pairs),
            ValueKind::Missing => None,
            _ => {
                let message = "this is not a type";
                self.report(codes::UNKNOWN_TYPE, file, &value.span, message)
                    .hint = Some(
                    "a type is written `:integer`, `[:string]`, `set(:string)` or `'Name'`"
                        .to_owned(),
                );
                None
            }
        }
    }

    /// The type of a set or a hash, and what it is made of.
    fn structure(
        &mut self,
        kind: StructKind,
        name: String,
        fields: Vec<(String, Type)>,
    ) -> StructId {
        let structs = &mut self.types.structs;
        let known = structs
            .iter()
            .position(|known| known.kind == kind && known.fields == fields);
        let index = known.unwrap_or_else(|| {
            structs.push(StructType { name, fields, kind });
            structs.len() - 1
        });
        StructId::from_index(index)
    }

    fn set_of(&mut self, file: usize, span: &Span, item: Type) -> Option<Type> {
        if !self.has_order(file, span, &item, "the items of a set") {
            return None;
        }
        let name = format!("set({})", self.types.type_name(&item));
        let items = ("items".to_owned(), Type::Array(Box::new(item)));
        let id = self.structure(StructKind::Set, name, vec![items]);
        Some(Type::Struct(id))
    }

    /// `{:string => :integer}`.
    fn hash_of(&mut self, file: usize, span: &Span, pairs: &[Value]) -> Option<Type> {
        let [
            Value {
                kind: ValueKind::Pair(key, value),
                ..
            },
        ] = pairs
        else {
            let message = "a hash is written `{:string => :integer}`";
            self.report(codes::UNKNOWN_TYPE, file, span, message);
            return None;
        };
        let (key_type, value_type) = (self.type_of(file, key)?, self.type_of(file, value)?);
        if !self.has_order(file, &key.span, &key_type, "the keys of a hash") {
            return None;
        }
        let inside = [&key_type, &value_type].map(|ty| self.types.type_name(ty));
        let name = inside.join(" => ");
        let fields = vec![
            ("key".to_owned(), key_type),
            ("value".to_owned(), value_type),
        ];
        let entry = self.structure(StructKind::Entry, name.clone(), fields);
        let entries = Type::Array(Box::new(Type::Struct(entry)));
        let entries = ("entries".to_owned(), entries);
        let id = self.structure(StructKind::Hash, format!("{{{name}}}"), vec![entries]);
        Some(Type::Struct(id))
    }

    fn has_order(&mut self, file: usize, span: &Span, ty: &Type, what: &str) -> bool {
        let ordered = ioco_sts::Types::is_ordered(ty);
        if !ordered {
            let shown = self.types.type_name(ty);
            let message =
                format!("{what} are numbers, strings, dates, times or enum members, not {shown}");
            self.report(codes::UNKNOWN_TYPE, file, span, message);
        }
        ordered
    }

    fn named_type(&self, name: &str) -> Option<Type> {
        let enums = self.types.enums.iter().position(|e| e.name == name);
        let structs = self.types.structs.iter().position(|s| s.name == name);
        enums
            .map(|index| Type::Enum(EnumId::from_index(index)))
            .or(structs.map(|index| Type::Struct(StructId::from_index(index))))
    }

    fn bounded(&mut self, file: usize, span: &Span, arguments: &[Value]) -> Option<Type> {
        let ends = match arguments {
            [
                Value {
                    kind: ValueKind::Range(low, high),
                    ..
                },
            ] => integer(low).zip(integer(high)),
            _ => None,
        };
        let Some((min, max)) = ends else {
            let message = "a bounded integer is written `integer(0..9999)`";
            self.report(codes::UNKNOWN_TYPE, file, span, message);
            return None;
        };
        if min > max {
            let message = format!("the range {min}..{max} is empty");
            self.report(codes::EMPTY_RANGE, file, span, message);
            return None;
        }
        Some(Type::Int(IntRange { min, max }))
    }

    /// `'p' => :integer, 'q' => :string`, with or without braces around.
    pub(super) fn parameters(&mut self, file: usize, values: &[Value]) -> Vec<Parameter> {
        let mut parameters: Vec<(Parameter, Span)> = Vec::new();
        for value in values {
            match &value.kind {
                ValueKind::Hash(pairs) => {
                    for parameter in pairs {
                        self.parameter(file, parameter, &mut parameters);
                    }
                }
                _ => self.parameter(file, value, &mut parameters),
            }
        }
        parameters.into_iter().map(|(p, _)| p).collect()
    }

    fn parameter(&mut self, file: usize, value: &Value, found: &mut Vec<(Parameter, Span)>) {
        let (name, span, ty) = match &value.kind {
            ValueKind::Pair(key, ty) => match &key.kind {
                ValueKind::Str(name) => (name.value.as_str(), &key.span, &**ty),
                ValueKind::Symbol(name) => (name.as_str(), &key.span, &**ty),
                _ => return self.not_a_parameter(file, value),
            },
            // `{ passcode: :integer }` says the same.
            ValueKind::Keyword(name, ty) => (name.as_str(), &value.span, &**ty),
            ValueKind::Missing => return,
            _ => return self.not_a_parameter(file, value),
        };
        if let Some((_, first)) = found.iter().find(|(p, _)| p.name == name) {
            let first = first.clone();
            let message = format!("`{name}` is declared twice");
            let report = self.report(codes::DECLARED_TWICE, file, span, message);
            report.labels.push((file, first, "first here".to_owned()));
            return;
        }
        let name = name.to_owned();
        match self.type_of(file, ty) {
            Some(ty) => found.push((Parameter { name, ty }, span.clone())),
            None => self.broken.push(name),
        }
    }

    fn not_a_parameter(&mut self, file: usize, value: &Value) {
        let message = "expected a name and its type";
        self.report(codes::ARGUMENTS, file, &value.span, message)
            .hint = Some("'name' => :integer".to_owned());
    }

    /// A literal of type `ty`, as the initial value of a variable.
    pub(super) fn literal(&mut self, file: usize, value: &Value, ty: &Type) -> Option<Literal> {
        let literal = self.literal_value(value, ty);
        let fits = literal
            .as_ref()
            .is_some_and(|literal| self.types.fits(literal, ty));
        if !fits && value.kind != ValueKind::Missing {
            let message = format!("this is not a value of {}", self.types.type_name(ty));
            let hint = match ty {
                Type::Enum(id) => {
                    let members = self.types.enums[id.index()].members.join(", ");
                    Some(format!("one of {members}"))
                }
                Type::Bool => Some("true or false".to_owned()),
                _ => None,
            };
            self.report(codes::INITIAL_VALUE, file, &value.span, message)
                .hint = hint;
        }
        literal.filter(|_| fits)
    }

    fn literal_value(&self, value: &Value, ty: &Type) -> Option<Literal> {
        let member = |name: &str, id: EnumId| {
            let members = &self.types.enums[id.index()].members;
            let position = members.iter().position(|m| m == name)?;
            Some(Literal::Enum(id, position as u32))
        };
        match (&value.kind, ty) {
            (ValueKind::Symbol(name), _) if name == "void" => Some(Literal::Void),
            (ValueKind::Name(name), Type::Bool) if name == "true" => Some(Literal::Bool(true)),
            (ValueKind::Name(name), Type::Bool) if name == "false" => Some(Literal::Bool(false)),
            (ValueKind::Str(text), Type::Enum(id)) => member(&text.value, *id),
            (ValueKind::Name(name) | ValueKind::Symbol(name), Type::Enum(id)) => member(name, *id),
            (ValueKind::Str(text), Type::Str) => Some(Literal::str(&text.value)),
            (ValueKind::Number(digits), Type::Decimal) => read_decimal(digits).map(Literal::from),
            (ValueKind::Number(digits), _) => digits.parse::<i64>().ok().map(Literal::Int),
            (ValueKind::Array(items), Type::Array(item)) => items
                .iter()
                .map(|value| self.literal_value(value, item))
                .collect::<Option<Vec<_>>>()
                .map(|items| Literal::Array(items.into())),
            (ValueKind::Array(items), Type::Struct(id))
                if self.types.kind_of(*id) == StructKind::Set =>
            {
                let item = self.types.item_of(*id)?;
                let mut values: Vec<Literal> = Vec::new();
                for value in items {
                    let value = self.literal_value(value, item)?;
                    if !values.contains(&value) {
                        values.push(value);
                    }
                }
                self.types.keyed(*id, values)
            }
            (ValueKind::Hash(pairs), Type::Struct(id))
                if self.types.kind_of(*id) == StructKind::Hash =>
            {
                let (key_type, value_type) = self.types.entry_of(*id)?;
                let Type::Struct(entry) = self.types.item_of(*id)? else {
                    return None;
                };
                let mut entries = Vec::new();
                for pair in pairs {
                    let ValueKind::Pair(key, value) = &pair.kind else {
                        return None;
                    };
                    let key = self.literal_value(key, key_type)?;
                    let value = self.literal_value(value, value_type)?;
                    entries.push(Literal::Struct(*entry, [key, value].into()));
                }
                self.types.keyed(*id, entries)
            }
            (ValueKind::Hash(pairs), Type::Struct(id)) => {
                let declared = &self.types.structs[id.index()];
                let mut fields = vec![Literal::Void; declared.fields.len()];
                for pair in pairs {
                    let (name, value) = match &pair.kind {
                        ValueKind::Pair(key, value) => match &key.kind {
                            ValueKind::Str(name) => (&name.value, value),
                            _ => return None,
                        },
                        ValueKind::Keyword(name, value) => (name, value),
                        _ => return None,
                    };
                    let position = declared.fields.iter().position(|(f, _)| f == name)?;
                    fields[position] = self.literal_value(value, &declared.fields[position].1)?;
                }
                Some(Literal::Struct(*id, fields.into()))
            }
            _ => None,
        }
    }
}

fn integer(value: &Value) -> Option<i64> {
    match &value.kind {
        ValueKind::Number(digits) => digits.parse().ok(),
        _ => None,
    }
}
