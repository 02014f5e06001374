//! Candidate values for the parameters of a label: enough of them to decide the guards that the
//! generator writes.
//!
//! Guards compare parameters, or small linear terms of one parameter, with terms that have none.
//! The values of those terms are the *anchors*. Between two neighbouring anchors (and their small
//! sums and halves) a guard does not change, so one value of each gap stands for all of it. Strings
//! decide by equality, length and patterns: constants, their parts, members of each pattern's
//! language and fresh strings of each length stand for all.

use std::collections::{BTreeMap, BTreeSet};

use ioco_sts::{Expr, StructId, Type, Types};
use num_rational::BigRational;

use super::eval::Environment;
use super::regex::Regex;
use super::value::{Val, whole};

/// What expressions mention, once everything but parameters is known.
#[derive(Default)]
pub struct Anchors {
    values: BTreeSet<Val>,
    patterns: BTreeSet<String>,
    /// Functions whose bodies are in: one may call itself.
    functions: BTreeSet<usize>,
}

impl Anchors {
    /// Adds every part of the expression that has no parameters.
    pub fn add(&mut self, environment: &Environment<'_>, expr: &Expr) {
        if let Expr::Matches(_, pattern) = expr {
            self.patterns.insert(pattern.text().to_owned());
        }
        let closed = !expr.mentions_params() && !mentions_locals(expr);
        if closed && let Ok(value) = environment.eval(expr) {
            self.value(&value);
        }
        if let Expr::Call(id, _) = expr
            && self.functions.insert(id.index())
        {
            // The constants inside a function matter as well.
            let body = &environment.sts.functions()[id.index()].body;
            self.add(environment, body);
        }
        for child in expr.children() {
            self.add(environment, child);
        }
    }

    /// Adds a value with all its parts.
    pub fn value(&mut self, value: &Val) {
        if let Val::List(parts) | Val::Record(_, parts) = value {
            for part in parts {
                self.value(part);
            }
        }
        self.values.insert(value.clone());
    }

    fn numbers(&self) -> Vec<BigRational> {
        let numbers = self.values.iter().filter_map(|v| match v {
            Val::Num(n) => Some(n.clone()),
            _ => None,
        });
        numbers.collect()
    }
}

fn mentions_locals(expr: &Expr) -> bool {
    matches!(expr, Expr::Local(_)) || expr.children().into_iter().any(mentions_locals)
}

/// Candidates of one type, `:void` last. `width` bounds how many there are in compound types.
pub fn candidates(ty: &Type, anchors: &Anchors, types: &Types, depth: usize) -> Vec<Val> {
    let mut found: BTreeSet<Val> = match ty {
        Type::Bool => [true, false].map(Val::Bool).into(),
        Type::Int(_) | Type::Date | Type::Time => integers(ty, anchors, depth),
        Type::Decimal => decimals(anchors, depth),
        Type::Str => texts(anchors, depth),
        Type::Enum(id) => {
            let members = types.enums[id.index()].members.len() as u32;
            (0..members).map(|m| Val::Member(id.0, m)).collect()
        }
        Type::Array(item) => lists(item, anchors, types, depth),
        Type::Struct(id) if types.item_of(*id).is_some() => keyed(ty, *id, anchors, types, depth),
        Type::Struct(id) => {
            let fields = &types.structs[id.index()].fields;
            let mut all = vec![Vec::new()];
            for (_, ty) in fields {
                let options = candidates(ty, anchors, types, depth + 1);
                all = extended(&all, &options);
            }
            all.into_iter()
                .map(|fields| Val::Record(id.0, fields))
                .collect()
        }
    };
    found.extend(anchors.values.iter().filter(|v| v.fits(ty, types)).cloned());
    found.remove(&Val::Void);
    found.retain(|value| value.fits(ty, types));
    let mut found: Vec<Val> = found.into_iter().collect();
    found.push(Val::Void);
    found
}

fn extended(all: &[Vec<Val>], options: &[Val]) -> Vec<Vec<Val>> {
    let mut longer = Vec::new();
    for begin in all {
        for option in options {
            let mut values = begin.clone();
            values.push(option.clone());
            longer.push(values);
        }
    }
    longer
}

fn integers(ty: &Type, anchors: &Anchors, depth: usize) -> BTreeSet<Val> {
    let range = ty.int_range().unwrap_or(ioco_sts::IntRange::FULL);
    if depth == 0 && (range.max as i128 - range.min as i128) < 64 {
        return (range.min..=range.max).map(Val::int).collect();
    }
    let mut known: Vec<i64> = anchors
        .numbers()
        .iter()
        .filter_map(|n| whole(&n.floor()))
        .collect();
    if depth > 0 {
        known.extend(known.clone().iter().map(|n| n / 2));
    }
    known.push(0);
    let margin: i64 = if depth == 0 { 10 } else { 1 };
    let (low, high) = (
        known.iter().min().unwrap_or(&0),
        known.iter().max().unwrap_or(&0),
    );
    let near = low.checked_sub(margin).zip(high.checked_add(margin));
    match near {
        Some((low, high)) if depth == 0 && high as i128 - (low as i128) < 80 => {
            (low..=high).map(Val::int).collect()
        }
        _ => known
            .iter()
            .flat_map(|n| (-margin.min(3)..=margin.min(3)).filter_map(|d| n.checked_add(d)))
            .map(Val::int)
            .collect(),
    }
}

fn decimals(anchors: &Anchors, depth: usize) -> BTreeSet<Val> {
    let two = BigRational::from_integer(2.into());
    let one = BigRational::from_integer(1.into());
    let known = anchors.numbers();
    let mut points: BTreeSet<BigRational> = known.iter().cloned().collect();
    points.insert(BigRational::from_integer(0.into()));
    for a in &known {
        points.insert(a / &two);
        if depth == 0 {
            points.insert(a * &two);
            if known.len() <= 5 {
                points.extend(known.iter().flat_map(|b| [a + b, a - b]));
            }
        }
    }
    let sorted: Vec<BigRational> = points.iter().take(40).cloned().collect();
    for pair in sorted.windows(2) {
        points.insert((&pair[0] + &pair[1]) / &two);
    }
    if let (Some(low), Some(high)) = (sorted.first(), sorted.last()) {
        points.extend([low - &one, high + &one]);
    }
    points.into_iter().map(Val::Num).collect()
}

fn texts(anchors: &Anchors, depth: usize) -> BTreeSet<Val> {
    let mut found: BTreeSet<String> = ["", "q", "zq"].map(str::to_owned).into();
    for value in &anchors.values {
        let Val::Text(text) = value else { continue };
        found.insert(text.clone());
        if depth == 0 {
            let chars: Vec<char> = text.chars().collect();
            for cut in 0..chars.len().min(3) {
                found.insert(chars[..cut].iter().collect());
                found.insert(chars[chars.len() - cut..].iter().collect());
            }
        }
    }
    for pattern in &anchors.patterns {
        let samples = Regex::read(pattern).map(|regex| regex.samples());
        let most = if depth == 0 { 25 } else { 3 };
        found.extend(samples.unwrap_or_default().into_iter().take(most));
    }
    if depth == 0 {
        for number in anchors.numbers() {
            let length = whole(&number).and_then(|n| usize::try_from(n).ok());
            found.extend(length.filter(|n| *n <= 8).map(|n| "q".repeat(n)));
        }
        for length in 0..4 {
            found.insert("q".repeat(length));
        }
    }
    found.into_iter().map(Val::Text).collect()
}

/// Sets, or hashes, of a few items, and those that are mentioned with an item more or less.
fn keyed(ty: &Type, id: StructId, anchors: &Anchors, types: &Types, depth: usize) -> BTreeSet<Val> {
    let few = |ty: &Type, most: usize| {
        let mut items = candidates(ty, anchors, types, depth + 2);
        items.retain(|item| *item != Val::Void);
        items.sort_by_key(|value| !anchors.values.contains(value));
        items.truncate(most);
        items
    };
    // Each with one choice: an item that is there, or a key with a value.
    let choices: Vec<Vec<(Val, Val)>> = match (types.entry_of(id), types.item_of(id)) {
        (Some((key, value)), _) => {
            let mut values = few(value, 2);
            values.push(Val::Void);
            let keys = few(key, 3).into_iter();
            keys.map(|key| values.iter().map(|v| (key.clone(), v.clone())).collect())
                .collect()
        }
        (None, Some(item)) => {
            let items = few(item, if depth == 0 { 5 } else { 2 }).into_iter();
            items.map(|item| vec![(item, Val::Void)]).collect()
        }
        (None, None) => Vec::new(),
    };
    let made = |pairs: &BTreeMap<Val, Val>| match types.entry_of(id) {
        Some(_) => Val::Hash(pairs.clone()),
        None => Val::Set(pairs.keys().cloned().collect()),
    };
    let mut all: BTreeSet<BTreeMap<Val, Val>> = [BTreeMap::new()].into();
    let known = anchors.values.iter().filter(|value| value.fits(ty, types));
    for value in known {
        let pairs = match value.unordered(types) {
            Val::Hash(pairs) => pairs,
            Val::Set(items) => items.into_iter().map(|item| (item, Val::Void)).collect(),
            _ => continue,
        };
        all.insert(pairs);
    }
    for pairs in all.clone() {
        for gone in pairs.keys() {
            let mut fewer = pairs.clone();
            fewer.remove(gone);
            all.insert(fewer);
        }
    }
    for options in choices {
        for pairs in all.clone().into_iter().take(MAX_KEYED) {
            for (key, value) in &options {
                let mut more = pairs.clone();
                more.insert(key.clone(), value.clone());
                all.insert(more);
            }
        }
    }
    all.iter()
        .filter_map(|pairs| made(pairs).ordered(ty, types))
        .collect()
}

/// Sets and hashes that each further item is added to.
const MAX_KEYED: usize = 60;

fn lists(item: &Type, anchors: &Anchors, types: &Types, depth: usize) -> BTreeSet<Val> {
    let mut items = candidates(item, anchors, types, depth + 2);
    // Values that the guards mention first; the rest stands for "something else".
    items.sort_by_key(|value| !anchors.values.contains(value));
    items.truncate(if depth == 0 { 4 } else { 2 });
    let mut all: Vec<Vec<Val>> = vec![Vec::new()];
    let mut level = all.clone();
    let longest = if depth == 0 { 3 } else { 1 };
    for _ in 0..longest {
        level = extended(&level, &items);
        all.extend(level.iter().cloned());
    }
    let known: Vec<Vec<Val>> = anchors
        .values
        .iter()
        .filter_map(|v| match v {
            Val::List(items) => Some(items.clone()),
            _ => None,
        })
        .collect();
    if depth == 0 {
        all.extend(extended(&known, &items));
    }
    all.into_iter().map(Val::List).collect()
}
