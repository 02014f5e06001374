//! What a tree means: the values of the book, with the static types that decide what division is.

use std::collections::BTreeMap;

use ioco_sts::{BinaryOp, Sts};
use num_traits::Signed as _;

use super::keyed::{joined, key};
use super::read::{Block, Node, Target, Update};
use crate::reference::Val;
use crate::reference::eval::{Kind, Nothing, binary, in_range, item, order};
use crate::reference::regex::Regex;
use crate::reference::value::whole;

/// A function of the model, by its text.
#[derive(Clone, Debug)]
pub struct Function {
    pub parameters: Vec<(String, Kind)>,
    pub result: Kind,
    pub body: Node,
}

/// Names and what they stand for.
#[derive(Clone)]
pub struct Source<'a> {
    pub(super) sts: &'a Sts,
    functions: &'a BTreeMap<String, Function>,
    names: BTreeMap<String, (Val, Kind)>,
}

pub(super) type Evaluated = Result<Val, Nothing>;

fn operator(mark: &str) -> Option<BinaryOp> {
    Some(match mark {
        "==" => BinaryOp::Eq,
        "!=" => BinaryOp::Ne,
        "<" => BinaryOp::Lt,
        "<=" => BinaryOp::Le,
        ">" => BinaryOp::Gt,
        ">=" => BinaryOp::Ge,
        "+" => BinaryOp::Add,
        "-" => BinaryOp::Sub,
        "*" => BinaryOp::Mul,
        "/" => BinaryOp::Div,
        "%" => BinaryOp::Rem,
        _ => return None,
    })
}

impl<'a> Source<'a> {
    pub fn new(
        sts: &'a Sts,
        functions: &'a BTreeMap<String, Function>,
        names: BTreeMap<String, (Val, Kind)>,
    ) -> Source<'a> {
        Source {
            sts,
            functions,
            names,
        }
    }
}

impl Source<'_> {
    /// Whether a guard holds. One without a value does not.
    pub fn holds(&self, guard: &Node) -> Result<bool, Nothing> {
        match self.eval(guard) {
            Ok(Val::Bool(holds)) => Ok(holds),
            Ok(_) | Err(Nothing::Undefined) => Ok(false),
            Err(Nothing::Unsure) => Err(Nothing::Unsure),
        }
    }

    /// The variables after these updates, which all read the values from before.
    pub fn updated(&self, updates: &[Update]) -> Result<BTreeMap<String, Val>, Nothing> {
        let mut after: BTreeMap<String, Val> = BTreeMap::new();
        for update in updates {
            let mut value = self.eval(&update.value)?;
            if let Some(mark) = &update.with {
                let before = self.part(&update.target)?;
                let kind = self
                    .part_kind(&update.target)
                    .join(self.kind(&update.value));
                value = binary(operator(mark).ok_or(Nothing::Unsure)?, before, value, &kind)?;
            }
            let name = update.target.variable().to_owned();
            let whole = match after.get(&name) {
                Some(changed) => changed.clone(),
                None => self.named(&name)?,
            };
            let whole = self.replaced(whole, &update.target, value)?;
            after.insert(name, whole);
        }
        Ok(after)
    }

    fn named(&self, name: &str) -> Evaluated {
        self.names
            .get(name)
            .map(|(value, _)| value.clone())
            .ok_or(Nothing::Unsure)
    }

    fn part(&self, target: &Target) -> Evaluated {
        match target {
            Target::Variable(name) => self.named(name),
            Target::Index(inner, at) => indexed(self.part(inner)?, self.eval(at)?),
            Target::Field(inner, field) => self.field(self.part(inner)?, field),
        }
    }

    fn part_kind(&self, target: &Target) -> Kind {
        match target {
            Target::Variable(name) => self.names.get(name).map_or(Kind::Other, |n| n.1.clone()),
            Target::Index(inner, _) => self.indexed_kind(self.part_kind(inner)),
            Target::Field(inner, field) => self.field_kind(self.part_kind(inner), field),
        }
    }

    /// The variable's value with the part replaced.
    fn replaced(&self, whole: Val, target: &Target, value: Val) -> Evaluated {
        let mut steps = Vec::new();
        let mut at = target;
        loop {
            match at {
                Target::Variable(_) => break,
                Target::Index(inner, _) | Target::Field(inner, _) => {
                    steps.push(at);
                    at = inner;
                }
            }
        }
        self.replace_along(whole, &steps, value)
    }

    fn replace_along(&self, whole: Val, steps: &[&Target], value: Val) -> Evaluated {
        let Some((step, inner)) = steps.split_last() else {
            return Ok(value);
        };
        match (step, whole) {
            (Target::Index(_, at), Val::List(mut items)) => {
                let at = position(&self.eval(at)?, items.len())?;
                items[at] = self.replace_along(items[at].clone(), inner, value)?;
                Ok(Val::List(items))
            }
            (Target::Index(_, at), Val::Hash(mut pairs)) => {
                let key = key(self.eval(at)?)?;
                let before = pairs.get(&key).cloned().unwrap_or(Val::Void);
                let after = self.replace_along(before, inner, value)?;
                pairs.insert(key, after);
                Ok(Val::Hash(pairs))
            }
            (Target::Field(_, field), Val::Record(id, mut fields)) => {
                let at = self.field_position(id, field).ok_or(Nothing::Unsure)?;
                fields[at] = self.replace_along(fields[at].clone(), inner, value)?;
                Ok(Val::Record(id, fields))
            }
            _ => Err(Nothing::Undefined),
        }
    }

    fn field_position(&self, id: u32, field: &str) -> Option<usize> {
        let fields = &self.sts.types().structs.get(id as usize)?.fields;
        fields.iter().position(|(name, _)| name == field)
    }

    fn field(&self, value: Val, field: &str) -> Evaluated {
        let Val::Record(id, fields) = value else {
            return Err(Nothing::Undefined);
        };
        let at = self.field_position(id, field).ok_or(Nothing::Unsure)?;
        Ok(fields.get(at).cloned().unwrap_or(Val::Void))
    }

    fn field_kind(&self, kind: Kind, field: &str) -> Kind {
        let Kind::Record(id) = kind else {
            return Kind::Other;
        };
        let at = self.field_position(id, field);
        let fields = self.sts.types().structs.get(id as usize).map(|s| &s.fields);
        match (fields, at) {
            (Some(fields), Some(at)) => Kind::of_type(&fields[at].1),
            _ => Kind::Other,
        }
    }

    fn member(&self, name: &str) -> Option<Val> {
        let enums = self.sts.types().enums.iter().enumerate();
        let mut found = enums.filter_map(|(id, declared)| {
            let member = declared.members.iter().position(|m| m == name)?;
            Some(Val::Member(id as u32, member as u32))
        });
        found.next()
    }

    fn truth(&self, node: &Node) -> Result<bool, Nothing> {
        match self.eval(node)? {
            Val::Bool(value) => Ok(value),
            _ => Err(Nothing::Undefined),
        }
    }

    fn list(&self, node: &Node) -> Result<Vec<Val>, Nothing> {
        match self.eval(node)? {
            Val::List(items) => Ok(items),
            _ => Err(Nothing::Undefined),
        }
    }

    pub fn eval(&self, node: &Node) -> Evaluated {
        match node {
            Node::Value(value, _) => Ok(value.clone()),
            Node::Name(name) => match self.names.get(name) {
                Some((value, _)) => Ok(value.clone()),
                None => self.member(name).ok_or(Nothing::Unsure),
            },
            Node::Not(inner) => self.truth(inner).map(|value| Val::Bool(!value)),
            Node::Negative(inner) => match self.eval(inner)? {
                Val::Num(number) => in_range(-number, &self.kind(inner)),
                _ => Err(Nothing::Undefined),
            },
            Node::Binary(mark, both) => self.binary(mark, &both[0], &both[1]),
            Node::If(parts) => match self.truth(&parts[0])? {
                true => self.eval(&parts[1]),
                false => self.eval(&parts[2]),
            },
            Node::Range(ends) => {
                let (low, high) = (self.integer(&ends[0])?, self.integer(&ends[1])?);
                if high.saturating_sub(low) > 1000 {
                    return Err(Nothing::Unsure);
                }
                Ok(Val::List((low..=high).map(Val::int).collect()))
            }
            Node::List(items) => {
                let items: Result<Vec<Val>, Nothing> = items.iter().map(|i| self.eval(i)).collect();
                items.map(Val::List)
            }
            Node::Set(items) => self.set(items),
            Node::Hash(pairs) => self.hash(pairs),
            Node::Index(both) => indexed(self.eval(&both[0])?, self.eval(&both[1])?),
            Node::Slice(parts) => {
                let items = self.list(&parts[0])?;
                let (low, high) = (self.integer(&parts[1])?, self.integer(&parts[2])?);
                slice(&items, low, high)
            }
            Node::Field(inner, field) => match &**inner {
                // `Product.Coffee`
                Node::Name(name) if !self.names.contains_key(name) => {
                    self.member(field).ok_or(Nothing::Unsure)
                }
                _ => self.field(self.eval(inner)?, field),
            },
            Node::Record(name, given) => {
                let structs = &self.sts.types().structs;
                let id = structs
                    .iter()
                    .position(|s| s.name == *name)
                    .ok_or(Nothing::Unsure)?;
                let mut fields = vec![Val::Void; structs[id].fields.len()];
                for (field, value) in given {
                    let at = self
                        .field_position(id as u32, field)
                        .ok_or(Nothing::Unsure)?;
                    fields[at] = self.eval(value)?;
                }
                Ok(Val::Record(id as u32, fields))
            }
            Node::Matches(inner, pattern) => match self.eval(inner)? {
                Val::Text(text) => {
                    let regex = Regex::read(pattern).ok_or(Nothing::Unsure)?;
                    Ok(Val::Bool(regex.matches(&text)))
                }
                _ => Err(Nothing::Undefined),
            },
            Node::Call(name, arguments) => self.call(name, arguments),
            Node::Method(receiver, name, arguments, block) => {
                self.method(receiver, name, arguments, block.as_ref())
            }
        }
    }

    fn integer(&self, node: &Node) -> Result<i64, Nothing> {
        match self.eval(node)? {
            Val::Num(number) => whole(&number).ok_or(Nothing::Undefined),
            _ => Err(Nothing::Undefined),
        }
    }

    fn binary(&self, mark: &str, left: &Node, right: &Node) -> Evaluated {
        match mark {
            "&&" => {
                return match self.truth(left)? {
                    true => self.truth(right).map(Val::Bool),
                    false => Ok(Val::Bool(false)),
                };
            }
            "||" => {
                return match self.truth(left)? {
                    true => Ok(Val::Bool(true)),
                    false => self.truth(right).map(Val::Bool),
                };
            }
            "in" => return self.is_in(left, right),
            "<~" => {
                let (short, long) = (self.list(left)?, self.list(right)?);
                return Ok(Val::Bool(long.starts_with(&short)));
            }
            _ => {}
        }
        let (a, b) = (self.eval(left)?, self.eval(right)?);
        if let ("-", Val::List(items), Val::List(others)) = (mark, &a, &b) {
            let kept = items.iter().filter(|item| !others.contains(item));
            return Ok(Val::List(kept.cloned().collect()));
        }
        if matches!(mark, "|" | "&" | "-" | "+") && matches!(a, Val::Set(_)) {
            return joined(mark, a, b);
        }
        let kind = self.kind(left).join(self.kind(right));
        binary(operator(mark).ok_or(Nothing::Unsure)?, a, b, &kind)
    }

    fn is_in(&self, subject: &Node, set: &Node) -> Evaluated {
        let subject = self.eval(subject)?;
        match set {
            Node::Range(ends) => {
                let (low, high) = (self.eval(&ends[0])?, self.eval(&ends[1])?);
                let above = order(&low, &subject)?.is_le();
                Ok(Val::Bool(above && order(&subject, &high)?.is_le()))
            }
            // The items of a list that is written out are looked at one by one.
            Node::List(items) => {
                for item in items {
                    if self.eval(item)? == subject {
                        return Ok(Val::Bool(true));
                    }
                }
                Ok(Val::Bool(false))
            }
            _ => Ok(Val::Bool(match self.eval(set)? {
                Val::List(items) => items.contains(&subject),
                Val::Set(items) => items.contains(&subject),
                Val::Hash(pairs) => pairs.contains_key(&subject),
                _ => return Err(Nothing::Undefined),
            })),
        }
    }

    fn call(&self, name: &str, arguments: &[Node]) -> Evaluated {
        let values: Result<Vec<Val>, Nothing> = arguments.iter().map(|a| self.eval(a)).collect();
        let mut values = values?;
        let kind = arguments
            .iter()
            .map(|a| self.kind(a))
            .fold(Kind::Other, Kind::join);
        match (name, values.as_slice()) {
            ("length", [Val::List(items)]) => Ok(Val::int(items.len() as i64)),
            ("length", [Val::Text(text)]) => Ok(Val::int(text.chars().count() as i64)),
            ("last", [Val::List(items)]) => items.last().cloned().ok_or(Nothing::Undefined),
            ("abs", [Val::Num(number)]) => in_range(number.abs(), &kind),
            ("min" | "max", [_, _]) => {
                let op = if name == "min" {
                    BinaryOp::Min
                } else {
                    BinaryOp::Max
                };
                let right = values.pop().unwrap_or(Val::Void);
                let left = values.pop().unwrap_or(Val::Void);
                binary(op, left, right, &kind)
            }
            ("length" | "last" | "abs", _) => Err(Nothing::Undefined),
            _ => {
                let function = self.functions.get(name).ok_or(Nothing::Unsure)?;
                let named = function.parameters.iter().zip(values);
                let named =
                    named.map(|((name, kind), value)| (name.clone(), (value, kind.clone())));
                let inner = Source {
                    names: named.collect(),
                    ..self.clone()
                };
                inner.eval(&function.body)
            }
        }
    }

    /// Inside of a block: the names of its parameters, with the item, or the key and the value of an entry.
    pub(super) fn with(&self, names: &[String], value: &Val, kinds: &[Kind]) -> Self {
        let mut inner = self.clone();
        let values: Vec<Val> = match (value, names.len()) {
            (value, 1) => vec![value.clone()],
            (Val::List(parts), _) => parts.clone(),
            (_, several) => vec![Val::Void; several],
        };
        for (at, (name, value)) in names.iter().zip(values).enumerate() {
            let kind = kinds.get(at).cloned().unwrap_or(Kind::Other);
            inner.names.insert(name.clone(), (value, kind));
        }
        inner
    }

    fn method(
        &self,
        receiver: &Node,
        name: &str,
        arguments: &[Node],
        block: Option<&Block>,
    ) -> Evaluated {
        let subject = self.eval(receiver)?;
        if name == "nil?" {
            return Ok(Val::Bool(subject == Val::Void));
        }
        if let Val::Text(text) = &subject {
            return self.text_method(text, name, arguments);
        }
        let own = self.kind(receiver);
        let items = match subject {
            Val::List(items) => items,
            Val::Set(items) => return self.set_method(items, &own, name, arguments, block),
            Val::Hash(pairs) => return self.hash_method(pairs, &own, name, arguments, block),
            _ => return Err(Nothing::Undefined),
        };
        if let Some(block) = block {
            return self.block_method(items, &[item(own)], name, block);
        }
        self.list_method(items, &item(own), name, arguments)
    }

    pub(super) fn list_method(
        &self,
        items: Vec<Val>,
        kind: &Kind,
        name: &str,
        arguments: &[Node],
    ) -> Evaluated {
        match (name, arguments) {
            ("length" | "size" | "count", []) => Ok(Val::int(items.len() as i64)),
            ("empty?", []) => Ok(Val::Bool(items.is_empty())),
            ("first", []) => items.first().cloned().ok_or(Nothing::Undefined),
            ("last", []) => items.last().cloned().ok_or(Nothing::Undefined),
            ("to_a", []) => Ok(Val::List(items)),
            ("to_set", []) => {
                let keys: Result<_, Nothing> = items.into_iter().map(key).collect();
                keys.map(Val::Set)
            }
            ("sum", []) => sum(items, kind),
            ("min" | "max", []) => {
                let op = if name == "min" {
                    BinaryOp::Min
                } else {
                    BinaryOp::Max
                };
                let mut items = items.into_iter();
                let first = items.next().ok_or(Nothing::Undefined)?;
                items.try_fold(first, |best, item| binary(op, best, item, kind))
            }
            ("include?", [value]) => Ok(Val::Bool(items.contains(&self.eval(value)?))),
            ("delete", [value]) => {
                let value = self.eval(value)?;
                Ok(Val::List(
                    items.into_iter().filter(|i| *i != value).collect(),
                ))
            }
            ("delete_at", [at]) => {
                let mut items = items;
                let at = position(&self.eval(at)?, items.len())?;
                items.remove(at);
                Ok(Val::List(items))
            }
            ("with", [at, value]) => {
                let mut items = items;
                let at = position(&self.eval(at)?, items.len())?;
                items[at] = self.eval(value)?;
                Ok(Val::List(items))
            }
            ("take", [count]) => {
                // Ruby refuses a negative count.
                let count =
                    usize::try_from(self.integer(count)?).map_err(|_| Nothing::Undefined)?;
                Ok(Val::List(items.into_iter().take(count).collect()))
            }
            ("drop", [count]) => {
                let count =
                    usize::try_from(self.integer(count)?).map_err(|_| Nothing::Undefined)?;
                Ok(Val::List(items.into_iter().skip(count).collect()))
            }
            _ => Err(Nothing::Unsure),
        }
    }

    fn text_method(&self, text: &str, name: &str, arguments: &[Node]) -> Evaluated {
        match (name, arguments) {
            ("length" | "size", []) => Ok(Val::int(text.chars().count() as i64)),
            ("empty?", []) => Ok(Val::Bool(text.is_empty())),
            (_, [Node::Value(Val::Text(part), _)]) => match name {
                "start_with?" => Ok(Val::Bool(text.starts_with(part.as_str()))),
                "end_with?" => Ok(Val::Bool(text.ends_with(part.as_str()))),
                "include?" => Ok(Val::Bool(text.contains(part.as_str()))),
                _ => Err(Nothing::Unsure),
            },
            _ => Err(Nothing::Unsure),
        }
    }

    pub(super) fn block_method(
        &self,
        items: Vec<Val>,
        kinds: &[Kind],
        name: &str,
        (parameters, body): &Block,
    ) -> Evaluated {
        let inside = |value: &Val| self.with(parameters, value, kinds);
        let holds = |value: &Val| inside(value).truth(body);
        match name {
            "all?" | "any?" | "none?" => {
                // The first item that decides ends it.
                for value in &items {
                    if holds(value)? != (name == "all?") {
                        return Ok(Val::Bool(name == "any?"));
                    }
                }
                Ok(Val::Bool(name != "any?"))
            }
            "map" => {
                let mapped: Result<Vec<Val>, Nothing> =
                    items.iter().map(|value| inside(value).eval(body)).collect();
                mapped.map(Val::List)
            }
            "sum" => {
                let mapped: Result<Vec<Val>, Nothing> =
                    items.iter().map(|value| inside(value).eval(body)).collect();
                sum(mapped?, &inside(&Val::Void).kind(body))
            }
            "select" | "filter" | "reject" | "count" => {
                let mut kept = Vec::new();
                for value in items {
                    if holds(&value)? == (name != "reject") {
                        kept.push(value);
                    }
                }
                Ok(match name {
                    "count" => Val::int(kept.len() as i64),
                    _ => Val::List(kept),
                })
            }
            _ => Err(Nothing::Unsure),
        }
    }

    pub(super) fn kind(&self, node: &Node) -> Kind {
        match node {
            Node::Value(Val::Num(_), true) => Kind::Decimal,
            Node::Value(Val::Num(_), false) | Node::Range(_) => match node {
                Node::Range(_) => Kind::List(Box::new(Kind::Integer)),
                _ => Kind::Integer,
            },
            Node::Value(..) | Node::Not(_) | Node::Matches(..) | Node::Set(_) | Node::Hash(_) => {
                Kind::Other
            }
            Node::Name(name) => self.names.get(name).map_or(Kind::Other, |(_, k)| k.clone()),
            Node::Negative(inner) => self.kind(inner),
            Node::Binary(mark, both) => match mark.as_str() {
                "+" | "*" | "/" | "%" | "|" | "&" => self.kind(&both[0]).join(self.kind(&both[1])),
                "-" => match self.kind(&both[0]) {
                    list @ Kind::List(_) => list,
                    left => left.join(self.kind(&both[1])),
                },
                _ => Kind::Other,
            },
            Node::If(parts) => self.kind(&parts[1]).join(self.kind(&parts[2])),
            Node::List(items) => Kind::List(Box::new(
                items
                    .iter()
                    .map(|i| self.kind(i))
                    .fold(Kind::Other, Kind::join),
            )),
            Node::Index(both) => self.indexed_kind(self.kind(&both[0])),
            Node::Slice(parts) => self.kind(&parts[0]),
            Node::Field(inner, field) => self.field_kind(self.kind(inner), field),
            Node::Record(name, _) => {
                let structs = &self.sts.types().structs;
                let id = structs.iter().position(|s| s.name == *name);
                id.map_or(Kind::Other, |id| Kind::Record(id as u32))
            }
            Node::Call(name, arguments) => match name.as_str() {
                "length" => Kind::Integer,
                "last" => arguments
                    .first()
                    .map_or(Kind::Other, |a| item(self.kind(a))),
                "abs" | "min" | "max" => arguments
                    .iter()
                    .map(|a| self.kind(a))
                    .fold(Kind::Other, Kind::join),
                _ => self
                    .functions
                    .get(name)
                    .map_or(Kind::Other, |f| f.result.clone()),
            },
            Node::Method(receiver, name, _, block) => {
                let own = self.kind(receiver);
                let of_block = |(parameters, body): &Block| {
                    let kinds = self.item_kinds(&own);
                    self.with(parameters, &Val::Void, &kinds).kind(body)
                };
                if let Some(kind) = self.keyed_method_kind(&own, name, block.is_some()) {
                    return kind;
                }
                match (name.as_str(), block) {
                    ("map", Some(block)) => Kind::List(Box::new(of_block(block))),
                    ("sum", Some(block)) => of_block(block),
                    ("sum" | "min" | "max" | "first" | "last", _) => item(own),
                    ("length" | "size" | "count", _) => Kind::Integer,
                    (
                        "select" | "filter" | "reject" | "delete" | "delete_at" | "with" | "take"
                        | "drop" | "to_a",
                        _,
                    ) => own,
                    _ => Kind::Other,
                }
            }
        }
    }
}

fn sum(items: Vec<Val>, kind: &Kind) -> Evaluated {
    let mut items = items.into_iter();
    items.try_fold(Val::int(0), |sum, item| {
        binary(BinaryOp::Add, sum, item, kind)
    })
}

fn position(at: &Val, length: usize) -> Result<usize, Nothing> {
    let Val::Num(at) = at else {
        return Err(Nothing::Undefined);
    };
    let at = whole(at).and_then(|at| usize::try_from(at).ok());
    at.filter(|at| *at < length).ok_or(Nothing::Undefined)
}

fn indexed(list: Val, at: Val) -> Evaluated {
    match list {
        Val::List(items) => {
            let at = position(&at, items.len())?;
            Ok(items[at].clone())
        }
        Val::Hash(pairs) => Ok(pairs.get(&at).cloned().unwrap_or(Val::Void)),
        _ => Err(Nothing::Undefined),
    }
}

/// The items from one index to another, as far as there are any. A negative index has no meaning.
fn slice(items: &[Val], low: i64, high: i64) -> Evaluated {
    let low = usize::try_from(low).map_err(|_| Nothing::Undefined)?;
    let taken = match usize::try_from(high.saturating_add(1)) {
        Ok(end) => end.saturating_sub(low),
        Err(_) => return Err(Nothing::Undefined),
    };
    Ok(Val::List(
        items.iter().skip(low).take(taken).cloned().collect(),
    ))
}
