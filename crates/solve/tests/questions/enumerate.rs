//! The obvious way to answer a question: try values. Small domains are tried completely; of the
//! others, the values near what the conditions name.

use ioco_sts::{Expr, Function, IntRange, Type, Value};
use rust_decimal::Decimal;

use super::{COLOUR, PAIR, Question};

/// Assignments that are tried at most.
const MAX_ASSIGNMENTS: usize = 20_000;

pub struct Tried {
    pub solutions: Vec<Vec<Value>>,
    /// Nothing was left out: no solution means that there is none.
    pub complete: bool,
}

pub fn solutions(question: &Question, functions: &[Function]) -> Tried {
    solutions_among(MAX_ASSIGNMENTS, question, functions)
}

/// With another limit on the assignments that are tried.
pub fn solutions_among(most: usize, question: &Question, functions: &[Function]) -> Tried {
    let mut named: Vec<Value> = Vec::new();
    for condition in &question.conditions {
        condition.walk(&mut |e| {
            if let Expr::Const(value) = e {
                name(value, &mut named);
            }
        });
    }
    named.sort();
    named.dedup();
    let mut complete = true;
    let mut domains: Vec<Vec<Value>> = Vec::new();
    for (ty, void) in &question.unknowns {
        let (mut values, all) = values(ty, &named);
        complete &= all;
        if *void {
            values.push(Value::Void);
        }
        domains.push(values);
    }
    // The largest lists lose their ends first.
    let count = |domains: &[Vec<Value>]| {
        let sizes = domains.iter().map(Vec::len);
        sizes.fold(1_usize, usize::saturating_mul)
    };
    while count(&domains) > most {
        complete = false;
        if let Some(longest) = domains.iter_mut().max_by_key(|d| d.len()) {
            let shorter = longest.len() * 3 / 4;
            longest.truncate(shorter);
        }
    }
    let mut solutions = Vec::new();
    let mut indices = vec![0; domains.len()];
    'all: loop {
        let values: Vec<Value> = indices
            .iter()
            .zip(&domains)
            .map(|(i, d): (&usize, _)| d[*i].clone())
            .collect();
        if question.holds(&values, functions) {
            solutions.push(values);
        }
        for (index, domain) in indices.iter_mut().zip(&domains) {
            *index += 1;
            if *index < domain.len() {
                continue 'all;
            }
            *index = 0;
        }
        break;
    }
    Tried {
        solutions,
        complete,
    }
}

fn name(value: &Value, named: &mut Vec<Value>) {
    match value {
        Value::Array(items) | Value::Struct(_, items) => {
            items.iter().for_each(|item| name(item, named));
            named.push(value.clone());
        }
        Value::Void | Value::Bool(_) | Value::Enum(..) => {}
        _ => named.push(value.clone()),
    }
}

/// Values of a type, the likelier ones first, and whether these are all.
fn values(ty: &Type, named: &[Value]) -> (Vec<Value>, bool) {
    let mut found: Vec<Value> = Vec::new();
    let mut complete = false;
    match ty {
        Type::Bool => return (vec![Value::Bool(false), Value::Bool(true)], true),
        Type::Enum(_) => return ((0..3).map(|m| Value::Enum(COLOUR, m)).collect(), true),
        Type::Int(range) if range.max.saturating_sub(range.min) < 20 => {
            return ((range.min..=range.max).map(Value::Int).collect(), true);
        }
        Type::Int(_) | Type::Date | Type::Time => {
            found.extend([0, 1, -1, 2, 3, -2].map(Value::Int));
            for value in named {
                if let Value::Int(n) = value {
                    for near in [n.checked_sub(1), Some(*n), n.checked_add(1)] {
                        found.extend(near.map(Value::Int));
                    }
                }
            }
            found.extend(
                [4, 5, 6, 7, -3, -4, -5, -6, i64::MAX, i64::MIN, i64::MIN + 1].map(Value::Int),
            );
            // No date and no time is below zero.
            let range = ty.int_range().unwrap_or(IntRange::FULL);
            found.retain(|value| matches!(value, Value::Int(n) if range.contains(*n)));
        }
        Type::Decimal => {
            let unit = Decimal::new(1, 1);
            found.extend([0, 1, -1, 2].map(|n| Value::Decimal(Decimal::from(n))));
            for value in named {
                let n = match value {
                    Value::Int(n) => Decimal::from(*n),
                    Value::Decimal(n) => *n,
                    _ => continue,
                };
                for near in [n.checked_sub(unit), Some(n), n.checked_add(unit)] {
                    found.extend(near.map(Value::Decimal));
                }
            }
            found.extend((-9..=9).map(|n| Value::Decimal(Decimal::new(n * 5, 1))));
            found.push(Value::Decimal(Decimal::MAX));
            found.push(Value::Decimal(Decimal::new(1, 28)));
        }
        Type::Str => {
            let texts = named.iter().filter_map(|v| match v {
                Value::Str(text) => Some(text.to_string()),
                _ => None,
            });
            let texts: Vec<String> = texts.collect();
            found.extend(["", "a", "b", "0", "ab", "a0"].map(Value::str));
            found.extend(texts.iter().map(|t| Value::str(t)));
            for text in &texts {
                for end in ["a", "b", "0", "-"] {
                    found.push(Value::str(&format!("{text}{end}")));
                    found.push(Value::str(&format!("{end}{text}")));
                }
                for (cut, _) in text.char_indices() {
                    found.push(Value::str(&text[..cut]));
                    found.push(Value::str(&text[cut..]));
                }
            }
            for a in ["a", "b", "0", "B", "-"] {
                for b in ["a", "b", "0"] {
                    found.push(Value::str(&format!("{a}{b}")));
                    for c in ["a", "b", "0"] {
                        found.push(Value::str(&format!("{a}{b}{c}")));
                    }
                }
            }
            found.extend(
                ["abab", "a-b", "a-0", "00000", "aaaaaaa", "zzzzzzzzz", "é"].map(Value::str),
            );
        }
        Type::Array(item) => {
            let (mut items, _) = values(item, named);
            items.truncate(12);
            items.push(Value::Void);
            found.push(Value::Array([].into()));
            found.extend(items.iter().map(|i| Value::Array([i.clone()].into())));
            found.extend(
                named
                    .iter()
                    .filter(|v| matches!(v, Value::Array(_)))
                    .cloned(),
            );
            for a in &items {
                for b in &items {
                    found.push(Value::Array([a.clone(), b.clone()].into()));
                }
            }
            for a in items.iter().take(3) {
                found.push(Value::Array(vec![a.clone(); 3].into()));
                found.push(Value::Array(vec![a.clone(); 4].into()));
            }
        }
        Type::Struct(_) => {
            found.extend(
                named
                    .iter()
                    .filter(|v| matches!(v, Value::Struct(..)))
                    .cloned(),
            );
            let mut fields: Vec<Vec<Value>> = Vec::new();
            for ty in [super::generate::small(), Type::Str, Type::Decimal] {
                let (mut values, _) = values(&ty, named);
                values.retain(|v| *v != Value::Int(-4));
                values.truncate(10);
                values.push(Value::Void);
                fields.push(values);
            }
            for a in &fields[0] {
                for b in &fields[1] {
                    for c in &fields[2] {
                        let all = [a.clone(), b.clone(), c.clone()];
                        found.push(Value::Struct(PAIR, all.into()));
                    }
                }
            }
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|v| super::types().fits(v, ty) && seen.insert(v.clone()));
    if found.is_empty() {
        complete = true;
    }
    (found, complete)
}
