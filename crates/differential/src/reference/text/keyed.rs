//! Sets and hashes by the book: a set has each item once, a hash one value for each key, and keys have an order.

use std::collections::{BTreeMap, BTreeSet};

use ioco_sts::{StructId, StructKind};

use super::eval::{Evaluated, Source};
use super::read::{Block, Node};
use crate::reference::Val;
use crate::reference::eval::{Kind, Nothing, item};

/// An item of a set or a key of a hash, which is never unset.
pub(super) fn key(value: Val) -> Evaluated {
    match value {
        Val::Void => Err(Nothing::Undefined),
        value => Ok(value),
    }
}

/// Union, intersection and difference.
pub(super) fn joined(mark: &str, left: Val, right: Val) -> Evaluated {
    let (Val::Set(left), Val::Set(right)) = (left, right) else {
        return Err(Nothing::Undefined);
    };
    Ok(Val::Set(match mark {
        "&" => left.intersection(&right).cloned().collect(),
        "-" => left.difference(&right).cloned().collect(),
        _ => left.union(&right).cloned().collect(),
    }))
}

fn pair((key, value): (Val, Val)) -> Val {
    Val::List(vec![key, value])
}

fn entry(pair: Val) -> Option<(Val, Val)> {
    match pair {
        Val::List(parts) => <[Val; 2]>::try_from(parts).ok().map(|[k, v]| (k, v)),
        _ => None,
    }
}

impl Source<'_> {
    pub(super) fn set(&self, items: &[Node]) -> Evaluated {
        let items: Result<BTreeSet<Val>, Nothing> = items
            .iter()
            .map(|item| self.eval(item).and_then(key))
            .collect();
        items.map(Val::Set)
    }

    pub(super) fn hash(&self, pairs: &[[Node; 2]]) -> Evaluated {
        let pairs: Result<BTreeMap<Val, Val>, Nothing> = pairs
            .iter()
            .map(|[k, v]| Ok((key(self.eval(k)?)?, self.eval(v)?)))
            .collect();
        pairs.map(Val::Hash)
    }

    pub(super) fn set_method(
        &self,
        mut items: BTreeSet<Val>,
        own: &Kind,
        name: &str,
        arguments: &[Node],
        block: Option<&Block>,
    ) -> Evaluated {
        if let Some(block) = block {
            let kinds = self.item_kinds(own);
            let items = items.into_iter().collect();
            return match self.block_method(items, &kinds, name, block)? {
                Val::List(kept) if name != "map" => Ok(Val::Set(kept.into_iter().collect())),
                other => Ok(other),
            };
        }
        match (name, arguments) {
            ("add", [value]) => {
                items.insert(key(self.eval(value)?)?);
                Ok(Val::Set(items))
            }
            ("delete", [value]) => {
                items.remove(&self.eval(value)?);
                Ok(Val::Set(items))
            }
            ("subset?" | "superset?", [other]) => match self.eval(other)? {
                Val::Set(other) if name == "subset?" => Ok(Val::Bool(items.is_subset(&other))),
                Val::Set(other) => Ok(Val::Bool(items.is_superset(&other))),
                _ => Err(Nothing::Undefined),
            },
            _ => {
                let kind = self.item_kinds(own).pop().unwrap_or(Kind::Other);
                self.list_method(items.into_iter().collect(), &kind, name, arguments)
            }
        }
    }

    pub(super) fn hash_method(
        &self,
        mut pairs: BTreeMap<Val, Val>,
        own: &Kind,
        name: &str,
        arguments: &[Node],
        block: Option<&Block>,
    ) -> Evaluated {
        if let Some(block) = block {
            let items = pairs.into_iter().map(pair).collect();
            return match self.block_method(items, &self.item_kinds(own), name, block)? {
                Val::List(kept) if name != "map" => {
                    let kept: Option<BTreeMap<Val, Val>> = kept.into_iter().map(entry).collect();
                    kept.map(Val::Hash).ok_or(Nothing::Unsure)
                }
                other => Ok(other),
            };
        }
        match (name, arguments) {
            ("length" | "size" | "count", []) => Ok(Val::int(pairs.len() as i64)),
            ("empty?", []) => Ok(Val::Bool(pairs.is_empty())),
            ("keys", []) => Ok(Val::List(pairs.into_keys().collect())),
            ("values", []) => Ok(Val::List(pairs.into_values().collect())),
            ("key?" | "include?", [k]) => Ok(Val::Bool(pairs.contains_key(&self.eval(k)?))),
            ("fetch", [k, default]) => {
                let (k, default) = (self.eval(k)?, self.eval(default)?);
                Ok(pairs.get(&k).cloned().unwrap_or(default))
            }
            ("with", [k, v]) => {
                let (k, v) = (self.eval(k)?, self.eval(v)?);
                pairs.insert(key(k)?, v);
                Ok(Val::Hash(pairs))
            }
            ("delete", [k]) => {
                pairs.remove(&self.eval(k)?);
                Ok(Val::Hash(pairs))
            }
            ("merge", [other]) => match self.eval(other)? {
                Val::Hash(other) => {
                    pairs.extend(other);
                    Ok(Val::Hash(pairs))
                }
                _ => Err(Nothing::Undefined),
            },
            _ => Err(Nothing::Unsure),
        }
    }

    /// The kinds of what a block gets: an item, or a key and a value.
    pub(super) fn item_kinds(&self, own: &Kind) -> Vec<Kind> {
        let types = self.sts.types();
        let Kind::Record(id) = own else {
            return vec![item(own.clone())];
        };
        let id = StructId(*id);
        match (types.entry_of(id), types.item_of(id)) {
            (Some((k, v)), _) => vec![Kind::of_type(k), Kind::of_type(v)],
            (None, Some(item)) => vec![Kind::of_type(item)],
            (None, None) => vec![Kind::Other],
        }
    }

    /// The kind of `x[i]`.
    pub(super) fn indexed_kind(&self, own: Kind) -> Kind {
        self.item_kinds(&own).pop().unwrap_or(Kind::Other)
    }

    /// The kind of what a method of a set or a hash gives; `None` for the methods that depend on a block, and for
    /// other receivers.
    pub(super) fn keyed_method_kind(&self, own: &Kind, name: &str, block: bool) -> Option<Kind> {
        let Kind::Record(id) = own else {
            return None;
        };
        let kinds = self.item_kinds(own);
        let list = |kind: &Kind| Some(Kind::List(Box::new(kind.clone())));
        match (self.sts.types().kind_of(StructId(*id)), name) {
            (StructKind::Plain | StructKind::Entry, _) => None,
            (_, "map" | "sum") if block => None,
            (_, "select" | "filter" | "reject" | "delete" | "add" | "with" | "merge") => {
                Some(own.clone())
            }
            (StructKind::Set, "sum" | "min" | "max" | "first" | "last") => kinds.first().cloned(),
            (StructKind::Set, "to_a") => kinds.first().and_then(list),
            (StructKind::Hash, "fetch") => kinds.last().cloned(),
            (StructKind::Hash, "keys") => kinds.first().and_then(list),
            (StructKind::Hash, "values") => kinds.last().and_then(list),
            (_, "length" | "size" | "count") => Some(Kind::Integer),
            _ => Some(Kind::Other),
        }
    }
}
