//! Sets against their members: every operation on sets is held against trying the values of a small
//! world, and equality and order against evaluation.

use crate::{BinaryOp, Env, Expr, IntRange, StructId};

use super::*;

const COLOUR: EnumId = EnumId(0);
const OTHER: EnumId = EnumId(1);

fn half(count: i64) -> Decimal {
    Decimal::new(count * 5, 1)
}

fn array(items: &[Value]) -> Value {
    Value::Array(items.into())
}

fn boxed(of: u32, item: Value) -> Value {
    Value::Struct(StructId(of), [item].into())
}

/// All values that are tried.
fn world() -> Vec<Value> {
    let mut all = vec![Value::Void, Value::Bool(false), Value::Bool(true)];
    all.extend((-4..=4).map(Value::Int));
    all.extend([i64::MIN, i64::MAX].map(Value::Int));
    all.extend((-8..=8).map(|n| Value::Decimal(half(n))));
    all.extend([i64::MIN, i64::MAX].map(|n| Value::Decimal(Decimal::from(n))));
    all.extend([Decimal::MIN, Decimal::MAX].map(Value::Decimal));
    all.extend((0..4).flat_map(|m| [Value::Enum(COLOUR, m), Value::Enum(OTHER, m)]));
    all.extend(["", "a", "b", "ü", "ab", "aba", "abab"].map(Value::str));
    all.extend([
        array(&[]),
        array(&[Value::Int(1)]),
        array(&[Value::Decimal(half(2))]),
        array(&[Value::Int(2)]),
        array(&[Value::str("a"), Value::Int(1)]),
        array(&[Value::Int(1), Value::Int(2), Value::Int(3)]),
        boxed(0, Value::Int(1)),
        boxed(0, Value::Decimal(half(2))),
        boxed(0, Value::Int(2)),
        boxed(1, Value::Int(1)),
        boxed(1, array(&[Value::Int(1)])),
    ]);
    all
}

fn says(op: BinaryOp, left: &Value, right: &Value) -> Option<bool> {
    let sides = [left, right].map(|v| Expr::Const(v.clone()));
    let env = Env {
        variables: &[],
        parameters: &[],
        functions: &[],
    };
    Expr::Binary(op, Box::new(sides)).holds(env).ok()
}

fn same(left: &Value, right: &Value) -> bool {
    says(BinaryOp::Eq, left, right) == Some(true)
}

fn ranges<T: Copy>(ends: &[T]) -> Vec<(T, T)> {
    let from = |start: usize| ends[start..].iter().map(move |end| (ends[start], *end));
    (0..ends.len()).flat_map(from).collect()
}

/// A set, and those of the world that are in it.
type Listed = (Values, Vec<Value>);

fn sets() -> Vec<Listed> {
    let world = world();
    let having = |test: &dyn Fn(&Value) -> bool| -> Vec<Value> {
        let set = world.iter().filter(|v| !v.is_void());
        set.filter(|v| test(v)).cloned().collect()
    };
    let mut all = vec![
        (Values::None, Vec::new()),
        (Values::Any, having(&|_| true)),
        (Values::BOOL, having(&|v| matches!(v, Value::Bool(_)))),
        (Values::truth(true), vec![Value::Bool(true)]),
        (Values::truth(false), vec![Value::Bool(false)]),
    ];
    for (min, max) in ranges(&[i64::MIN, -2, 0, 1, 3, i64::MAX]) {
        let inside = |v: &Value| matches!(v, Value::Int(n) if *n >= min && *n <= max);
        all.push((Values::int(min, max), having(&inside)));
    }
    for (min, max) in ranges(&[
        Decimal::MIN,
        half(-3),
        half(0),
        half(2),
        half(3),
        Decimal::MAX,
    ]) {
        let inside = |v: &Value| matches!(v, Value::Decimal(n) if *n >= min && *n <= max);
        all.push((Values::decimal(min, max), having(&inside)));
    }
    for of in [COLOUR, OTHER] {
        for (min, max) in ranges(&[0, 1, 2, 3]) {
            let inside =
                |v: &Value| matches!(v, Value::Enum(id, m) if *id == of && *m >= min && *m <= max);
            all.push((Values::Member { of, min, max }, having(&inside)));
        }
    }
    for (min, max) in ranges(&[0, 1, 2, 3, i64::MAX]) {
        if min == i64::MAX {
            continue;
        }
        let inside = |length: usize| length as i64 >= min && length as i64 <= max;
        let text = |v: &Value| matches!(v, Value::Str(t) if inside(t.chars().count()));
        all.push((Values::Str { min, max }, having(&text)));
        let items = |v: &Value| matches!(v, Value::Array(i) if inside(i.len()));
        all.push((Values::Array { min, max }, having(&items)));
    }
    for value in &world {
        if let Value::Str(_) | Value::Array(_) | Value::Struct(..) = value {
            let equal = having(&|v| same(v, value));
            all.push((Values::One(value.clone()), equal));
        }
    }
    all
}

/// Two sets of the same kind of value, which have an order or a length.
fn rank(value: &Value) -> Option<(u8, Decimal)> {
    Some(match value {
        Value::Bool(_) => (0, Decimal::ZERO),
        Value::Int(n) => (1, Decimal::from(*n)),
        Value::Decimal(n) => (2, *n),
        Value::Enum(of, m) => (3 + of.0 as u8, Decimal::from(*m)),
        Value::Str(text) => (10, Decimal::from(text.chars().count())),
        Value::Array(items) => (11, Decimal::from(items.len())),
        Value::Void | Value::Struct(..) => return None,
    })
}

#[test]
fn equality_is_that_of_evaluation() {
    for left in world() {
        for right in world() {
            assert_eq!(
                equal(&left, &right),
                same(&left, &right),
                "{left:?} {right:?}"
            );
        }
    }
}

#[test]
fn sets_have_their_members() {
    for (set, members) in sets() {
        for value in world() {
            assert_eq!(
                set.contains(&value),
                members.contains(&value),
                "{set:?} {value:?}"
            );
        }
        assert_eq!(set.is_none(), members.is_empty(), "{set:?}");
        for truth in [false, true] {
            assert_eq!(
                set.may_be(truth),
                members.contains(&Value::Bool(truth)),
                "{set:?}"
            );
        }
    }
    for value in world() {
        let set = Values::exactly(&value);
        for other in world() {
            let inside = !value.is_void()
                && match value {
                    Value::Str(_) | Value::Array(_) | Value::Struct(..) => same(&value, &other),
                    _ => value == other,
                };
            assert_eq!(set.contains(&other), inside, "{value:?} {other:?}");
        }
        assert_eq!(Domain::exactly(&value).only(), Some(value));
    }
    assert_eq!(Values::int(3, 2), Values::None);
    assert_eq!(Values::decimal(half(3), half(2)), Values::None);
}

#[test]
fn what_is_in_both_is_in_the_meet() {
    for (one, ones) in sets() {
        for (other, others) in sets() {
            let met = one.meet(&other);
            for value in world() {
                let both = ones.contains(&value) && others.contains(&value);
                assert_eq!(met.contains(&value), both, "{one:?} {other:?} {value:?}");
            }
            let common = ones.iter().any(|v| others.contains(v));
            assert_eq!(met.is_none(), !common, "{one:?} {other:?}");
            let mut domain = Domain::set(one.clone());
            let narrowed = domain.narrow(&Domain::set(other.clone()));
            match met.is_none() {
                true => assert_eq!(narrowed, Err(Empty), "{one:?} {other:?}"),
                false => assert_eq!((narrowed, domain.values), (Ok(met != one), met)),
            }
        }
    }
}

#[test]
fn the_join_is_the_smallest_set_with_both() {
    for (one, ones) in sets() {
        for (other, others) in sets() {
            let joined = one.join(&other);
            let all: Vec<&Value> = ones.iter().chain(&others).collect();
            let ranks: Option<Vec<(u8, Decimal)>> = all.iter().map(|v| rank(v)).collect();
            let alike = ranks.filter(|r| r.windows(2).all(|w| w[0].0 == w[1].0));
            for value in world() {
                let inside = match (&alike, rank(&value)) {
                    _ if value.is_void() || all.is_empty() => false,
                    _ if all.contains(&&value) => true,
                    (_, _) if one == other || one.is_none() || other.is_none() => false,
                    (Some(_), _) if matches!(value, Value::Bool(_)) => false,
                    (Some(ranks), Some(rank)) => {
                        let (min, max) = (ranks.iter().min(), ranks.iter().max());
                        min.is_some_and(|m| rank >= *m) && max.is_some_and(|m| rank <= *m)
                    }
                    (Some(_), None) => false,
                    (None, _) => true,
                };
                assert_eq!(
                    joined.contains(&value),
                    inside,
                    "{one:?} {other:?} {value:?}"
                );
            }
        }
    }
}

#[test]
fn sizes_and_only_values_are_those_of_the_members() {
    for (set, members) in sets() {
        let size = match &set {
            Values::Int { min, max } => Some((i128::from(*max) - i128::from(*min) + 1) as u128),
            Values::Bool { .. } | Values::Member { .. } => Some(members.len() as u128),
            Values::None => Some(0),
            _ => None,
        };
        let only = match &set {
            Values::One(value) => Some(value.clone()),
            Values::Any => None,
            Values::Str { max: 1.., .. } | Values::Array { max: 1.., .. } => None,
            Values::Decimal { min, max } if min < max => None,
            _ if size.is_some_and(|s| s > 1) => None,
            Values::Int { min, .. } => Some(Value::Int(*min)),
            Values::Decimal { min, .. } => Some(Value::Decimal(*min)),
            _ => members.first().cloned(),
        };
        assert_eq!(set.only(), only, "{set:?}");
        let size = size.unwrap_or(if only.is_some() { 1 } else { u128::MAX });
        assert_eq!(set.size(), size, "{set:?}");
        let both = Domain {
            values: set.clone(),
            void: true,
        };
        assert_eq!(both.size(), size.saturating_add(1), "{set:?}");
        let unset = set.is_none().then_some(Value::Void);
        assert_eq!((both.only(), both.is_empty()), (unset, false));
        let domain = Domain::set(set.clone());
        assert_eq!((domain.only(), domain.is_empty()), (only, set.is_none()));
    }
}

#[test]
fn values_that_can_equal_one_of_another_set_are_kept() {
    for (one, ones) in sets() {
        for (other, others) in sets() {
            let kept = one.equal_to(&other);
            for value in &ones {
                let equals = others.iter().any(|o| same(value, o));
                // A range of decimals keeps what lies between the integers. Of anything, numbers of the
                // other kind are lost: who narrows must not use that (`backward::is_mixed`).
                let exact = match (&one, &other) {
                    (Values::Any, Values::Int { .. } | Values::Decimal { .. }) => {
                        rank(value).map(|r| r.0) == others.first().and_then(rank).map(|r| r.0)
                    }
                    (Values::Decimal { .. }, Values::Int { .. }) => equals,
                    _ => true,
                };
                if exact {
                    assert_eq!(kept.contains(value), equals, "{one:?} {other:?} {value:?}");
                }
            }
            if let (Values::Decimal { .. }, Values::Int { min, max }) = (&one, &other) {
                let range = Values::decimal(Decimal::from(*min), Decimal::from(*max));
                assert_eq!(kept, one.meet(&range));
            }
        }
    }
}

#[test]
fn sets_compare_as_their_members() {
    for (one, ones) in sets() {
        for (other, others) in sets() {
            let (mut less, mut greater, mut equal, mut comparable) = (false, false, false, false);
            for a in &ones {
                for b in &others {
                    less |= says(BinaryOp::Lt, a, b) == Some(true);
                    greater |= says(BinaryOp::Gt, a, b) == Some(true);
                    let ordered = says(BinaryOp::Le, a, b).is_some();
                    comparable |= ordered;
                    equal |= ordered && same(a, b);
                }
            }
            let whole = |s: &Values| matches!(s, Values::Str { .. } | Values::Any);
            let Some(found) = one.comparison(&other) else {
                assert!(!comparable, "{one:?} {other:?}");
                continue;
            };
            // Of strings by their length and of anything, nothing is said.
            if whole(&one) || whole(&other) {
                let open = (found.least, found.greatest) == (Ordering::Less, Ordering::Greater);
                assert!(open, "{one:?} {other:?}");
                continue;
            }
            assert_eq!(found.least == Ordering::Less, less, "{one:?} {other:?}");
            assert_eq!(
                found.greatest == Ordering::Greater,
                greater,
                "{one:?} {other:?}"
            );
            assert_eq!(
                found.least != Ordering::Greater,
                less || equal,
                "{one:?} {other:?}"
            );
            assert_eq!(
                found.greatest != Ordering::Less,
                greater || equal,
                "{one:?} {other:?}"
            );
        }
    }
}

#[test]
fn integers_between_decimals_are_counted_exactly() {
    for min in -9..=9 {
        for max in -9..=9 {
            let inside = (-9..=9)
                .filter(|n| half(min) <= Decimal::from(*n) && Decimal::from(*n) <= half(max));
            let inside: Vec<i64> = inside.collect();
            let expected = match inside.as_slice() {
                [] => Values::None,
                [first, .., last] => Values::int(*first, *last),
                [one] => Values::int(*one, *one),
            };
            assert_eq!(
                integers_between(half(min), half(max)),
                expected,
                "{min} {max}"
            );
        }
    }
    let (least, greatest) = (Decimal::from(i64::MIN), Decimal::from(i64::MAX));
    let one = Decimal::ONE;
    let all = Values::int(i64::MIN, i64::MAX);
    assert_eq!(integers_between(Decimal::MIN, Decimal::MAX), all);
    assert_eq!(integers_between(least, greatest), all);
    assert_eq!(
        integers_between(Decimal::MIN, least),
        Values::int(i64::MIN, i64::MIN)
    );
    assert_eq!(
        integers_between(greatest, Decimal::MAX),
        Values::int(i64::MAX, i64::MAX)
    );
    assert_eq!(integers_between(Decimal::MIN, least - one), Values::None);
    assert_eq!(integers_between(greatest + one, Decimal::MAX), Values::None);
}

#[test]
fn unset_values_meet_and_join_as_others_do() {
    let unset = Domain::exactly(&Value::Void);
    let set = Domain::set(Values::int(1, 2));
    let both = unset.join(&set);
    assert_eq!((both.void, &both.values), (true, &set.values));
    assert_eq!(both.meet(&unset), unset);
    assert_eq!(both.meet(&set), set);
    assert!(set.meet(&unset).is_empty());
    assert!(!set.join(&set).void);
}

#[test]
fn types_have_their_values() {
    let mut types = Types::default();
    for members in [0, 3] {
        types.enums.push(crate::EnumType {
            name: String::new(),
            members: vec![String::new(); members],
        });
    }
    let of = |ty: Type| Values::of_type(&ty, &types);
    assert_eq!(of(Type::Bool), Values::BOOL);
    assert_eq!(
        of(Type::Int(IntRange { min: -3, max: 4 })),
        Values::int(-3, 4)
    );
    for ty in [Type::Date, Type::Time] {
        let range = ty.int_range().expect("integers");
        assert_eq!(of(ty), Values::int(range.min, range.max));
    }
    assert_eq!(of(Type::Decimal), Values::DECIMAL);
    let max = i64::MAX;
    assert_eq!(of(Type::Str), Values::Str { min: 0, max });
    assert_eq!(
        of(Type::Array(Box::new(Type::Bool))),
        Values::Array { min: 0, max }
    );
    assert_eq!(of(Type::Struct(StructId(0))), Values::Any);
    assert_eq!(of(Type::Enum(EnumId(0))), Values::None);
    assert_eq!(of(Type::Enum(EnumId(2))), Values::None);
    let members = Values::Member {
        of: OTHER,
        min: 0,
        max: 2,
    };
    assert_eq!(of(Type::Enum(OTHER)), members);
    assert_eq!(Values::One(Value::str("üb")).lengths(), (2, 2));
    assert_eq!(Values::One(array(&[Value::Void])).lengths(), (1, 1));
    assert_eq!(Values::Any.lengths(), (0, max));
}
