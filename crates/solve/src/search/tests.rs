//! The parts into which domains are split are the whole of them, and values are picked from inside.

use rand::SeedableRng as _;

use super::*;

fn tenths(tenths: i64) -> Decimal {
    Decimal::new(tenths, 1)
}

fn rng() -> rand_chacha::ChaCha8Rng {
    rand_chacha::ChaCha8Rng::seed_from_u64(8)
}

/// Runs a test with the plain choice, and many times with random ones.
fn with_choices(mut test: impl FnMut(&mut Choice<'_>)) {
    test(&mut Choice::Plain);
    let mut rng = rng();
    for _ in 0..60 {
        test(&mut Choice::Random(&mut rng));
    }
}

fn parts_of(domain: &Domain, choice: &mut Choice<'_>) -> (Vec<Domain>, bool) {
    let (types, constants, deadline) = (Types::default(), constants(), Deadline::never());
    let mut search = Search {
        types: &types,
        unknowns: &[],
        functions: &[],
        pipeline: Pipeline::WHOLE,
        constants: &constants,
        deadline: &deadline,
        budget: 0,
        skipped: false,
        part: Part::Narrowing,
    };
    let parts = search.parts(domain, choice);
    (parts, search.skipped)
}

fn constants() -> Constants {
    Constants {
        integers: vec![-3, 40],
        ..Constants::default()
    }
}

#[test]
fn every_value_is_in_exactly_one_part() {
    let int = Values::int;
    let member = |min, max| Values::Member {
        of: ioco_sts::EnumId(0),
        min,
        max,
    };
    let all: Vec<Value> = [i64::MIN, i64::MIN + 1, i64::MAX - 1, i64::MAX]
        .into_iter()
        .chain(-20..60)
        .map(Value::Int)
        .chain((0..6).map(|m| Value::Enum(ioco_sts::EnumId(0), m)))
        .chain([Value::Bool(false), Value::Bool(true)])
        .collect();
    for values in [
        int(0, 1),
        int(-5, 7),
        int(3, 50),
        int(-9, -2),
        int(i64::MIN, i64::MAX),
        int(i64::MAX - 2, i64::MAX),
        int(i64::MIN, i64::MIN + 3),
        member(0, 1),
        member(1, 4),
        Values::BOOL,
    ] {
        let domain = Domain::set(values);
        with_choices(|choice| {
            let (parts, skipped) = parts_of(&domain, choice);
            assert!(!skipped);
            assert!(parts[0].only().is_some(), "{parts:?}");
            assert!(parts.iter().all(|p| !p.is_empty() && !p.void));
            for value in &all {
                let found = parts.iter().filter(|p| p.values.contains(value)).count();
                let inside = domain.values.contains(value);
                assert_eq!(found, usize::from(inside), "{parts:?} {value:?}");
            }
            let both = Domain {
                void: true,
                ..domain.clone()
            };
            let unset = Domain::exactly(&Value::Void);
            let expected = vec![domain.clone(), unset];
            assert_eq!(parts_of(&both, choice), (expected, false));
        });
    }
    for values in [
        Values::decimal(tenths(3), tenths(3)),
        Values::Str { min: 1, max: 2 },
    ] {
        let (parts, skipped) = parts_of(&Domain::set(values), &mut Choice::Plain);
        assert!(skipped && parts == [Domain::set(Values::None)]);
    }
}

#[test]
fn halves_are_no_larger_than_needed() {
    let (parts, _) = parts_of(&Domain::set(Values::int(-8, 15)), &mut Choice::Plain);
    let ranges = [(0, 0), (-8, -5), (-4, -1), (1, 8), (9, 15)];
    let expected = ranges.map(|(min, max)| Domain::set(Values::int(min, max)));
    assert_eq!(parts, expected);
}

/// All numbers of the grid are in exactly one part; only those between are left out, which is said.
#[test]
fn every_decimal_of_the_grid_is_in_exactly_one_part() {
    for (min, max) in [(-25, 31), (0, 1), (7, 7), (-40, -38), (12, 90)] {
        let (min, max) = (tenths(min), tenths(max));
        with_choices(|choice| {
            let (parts, skipped) = parts_of(&Domain::set(Values::decimal(min, max)), choice);
            assert!(skipped);
            if min == max {
                return;
            }
            assert!(parts[0].only().is_some(), "{parts:?}");
            for number in (-50..100).map(tenths) {
                let value = Value::Decimal(number);
                let found = parts.iter().filter(|p| p.values.contains(&value)).count();
                let inside = min <= number && number <= max;
                assert_eq!(found, usize::from(inside), "{parts:?} {number}");
            }
        });
    }
    let whole = Domain::set(Values::DECIMAL);
    let (parts, _) = parts_of(&whole, &mut Choice::Plain);
    for number in [
        Decimal::MIN,
        Decimal::MAX,
        Decimal::ZERO,
        Decimal::ONE,
        -Decimal::ONE,
    ] {
        let value = Value::Decimal(number);
        assert!(parts.iter().any(|p| p.values.contains(&value)), "{number}");
    }
}

#[test]
fn the_grid_lies_within_its_bounds() {
    for scale in 0..4 {
        let unit = Decimal::from(10_i64.pow(scale));
        for min in -130..130 {
            for width in [0, 1, 3, 9, 17, 40] {
                let (low, high) = (Decimal::new(min, 2), Decimal::new(min + width, 2));
                let first =
                    (low * unit).ceil().mantissa() / 10_i128.pow((low * unit).ceil().scale());
                let last =
                    (high * unit).floor().mantissa() / 10_i128.pow((high * unit).floor().scale());
                let expected = (first <= last).then_some((first, last));
                assert_eq!(grid(low, high, scale), expected, "{low} {high} {scale}");
            }
        }
    }
    assert_eq!(grid(Decimal::MIN, Decimal::MAX, 2), None);
    assert!(grid(Decimal::MIN, Decimal::MAX, 0).is_some());
}

#[test]
fn integers_are_picked_from_inside_and_from_everywhere() {
    let mut rng = rng();
    let constants = constants();
    for (min, max, plain) in [(-4, 60, 0), (5, 9, 5), (-9, -5, -5), (2, 2, 2)] {
        assert_eq!(
            pick_integer(min, max, &constants, &mut Choice::Plain),
            plain
        );
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..4_000 {
            let picked = pick_integer(min, max, &constants, &mut Choice::Random(&mut rng));
            *seen.entry(picked).or_insert(0) += 1;
        }
        let all: Vec<i64> = (min..=max).collect();
        assert!(seen.keys().copied().eq(all), "{seen:?}");
        let count = |value| seen.get(&value).copied().unwrap_or(0);
        assert!(count(min) > 350 && count(max) > 350, "{seen:?}");
    }
    // Far away nothing but bounds, constants, their neighbours and small numbers is picked twice.
    let mut seen = std::collections::BTreeMap::new();
    for _ in 0..4_000 {
        let picked = pick_integer(
            i64::MIN,
            i64::MAX,
            &constants,
            &mut Choice::Random(&mut rng),
        );
        *seen.entry(picked).or_insert(0) += 1;
    }
    seen.retain(|_, count| *count > 1);
    let near = seen.keys().filter(|n| n.unsigned_abs() < 1_000).copied();
    let small = (-16..=16).chain(39..=41);
    assert!(near.eq(small), "{seen:?}");
    assert_eq!(seen.len(), 33 + 3 + 2);
    let count = |value| seen.get(&value).copied().unwrap_or(0);
    assert!(
        [-4, -3, -2, 39, 40, 41].iter().all(|n| count(*n) > 60),
        "{seen:?}"
    );
}

#[test]
fn decimals_are_picked_from_the_grid() {
    let mut rng = rng();
    let constants = Constants::default();
    for (min, max, plain) in [(-14, 25, 0), (12, 31, 12), (-31, -12, -12), (41, 48, 41)] {
        let (low, high) = (tenths(min), tenths(max));
        let picked = pick_decimal(low, high, &constants, &mut Choice::Plain);
        assert_eq!(picked, tenths(plain));
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..2_000 {
            let picked = pick_decimal(low, high, &constants, &mut Choice::Random(&mut rng));
            *seen.entry(picked).or_insert(0) += 1;
        }
        assert!(seen.keys().copied().eq((min..=max).map(tenths)), "{seen:?}");
        let count = |value| seen.get(&value).copied().unwrap_or(0);
        assert!(count(low) > 200 && count(high) > 200, "{seen:?}");
        for whole in (min..=max).filter(|n| n % 10 == 0).map(tenths) {
            assert!(count(whole) > 120, "{whole} {seen:?}");
        }
    }
    let (low, high) = (Decimal::new(11, 3), Decimal::new(12, 3));
    assert_eq!(pick_decimal(low, high, &constants, &mut Choice::Plain), low);
    let fine = Constants {
        scale: 3,
        ..Constants::default()
    };
    let picked = pick_decimal(low, high, &fine, &mut Choice::Plain);
    assert_eq!(picked, low);
}

/// `left < right || right < left`, of two unknowns that the rest of a question leaves open.
fn unequal(left: u32, right: u32) -> Expr {
    use ioco_sts::BinaryOp::{Lt, Or};
    let less = |a, b| Expr::binary(Lt, Expr::Param(a), Expr::Param(b));
    Expr::binary(Or, less(left, right), less(right, left))
}

/// How a search for values of `goals` ends, where each unknown is 0 or 1.
fn found(
    goals: &[Expr],
    functions: &[Function],
    unknowns: u32,
    choice: &mut Choice<'_>,
) -> SearchOutcome {
    let (types, constants, deadline) = (Types::default(), constants(), Deadline::never());
    let bits = Domain::set(Values::int(0, 1));
    let unknowns = vec![(Type::INTEGER, bits.clone()); unknowns as usize];
    let mut search = Search {
        types: &types,
        unknowns: &unknowns,
        functions,
        pipeline: Pipeline::WHOLE,
        constants: &constants,
        deadline: &deadline,
        budget: 300_000,
        skipped: false,
        part: Part::Narrowing,
    };
    let domains = vec![bits; unknowns.len()];
    search.run(domains, goals.iter().map(Goal::holds).collect(), choice)
}

#[test]
fn alternatives_are_chosen_up_to_the_limit_on_depth_and_then_given_up() {
    // No alternative is decided by the others.
    let alternatives =
        |count: u32| -> Vec<Expr> { (0..count).map(|i| unequal(2 * i, 2 * i + 1)).collect() };
    let search = |count| found(&alternatives(count), &[], 2 * count, &mut Choice::Plain);
    let model = search(MAX_DEPTH);
    assert!(matches!(model, SearchOutcome::Model(_)), "{model:?}");
    let model = search(MAX_DEPTH + 1);
    assert!(matches!(model, SearchOutcome::GaveUp), "{model:?}");
}

#[test]
fn one_alternative_that_is_given_up_leaves_the_other() {
    let call = |argument| Expr::Call(ioco_sts::FunctionId(0), vec![argument]);
    let endless = Function {
        name: "endless".to_owned(),
        parameters: vec![("n".to_owned(), Type::INTEGER)],
        result: Type::INTEGER,
        body: Expr::binary(ioco_sts::BinaryOp::Add, call(Expr::Local(0)), Expr::int(1)),
    };
    let is_one = |expr| Expr::binary(ioco_sts::BinaryOp::Eq, expr, Expr::int(1));
    let without_end = is_one(call(Expr::Param(0)));
    let either = Expr::binary(
        ioco_sts::BinaryOp::Or,
        is_one(Expr::Param(1)),
        without_end.clone(),
    );
    with_choices(|choice| {
        let functions = [endless.clone()];
        let model = found(std::slice::from_ref(&without_end), &functions, 2, choice);
        assert!(matches!(model, SearchOutcome::GaveUp), "{model:?}");
        let model = found(std::slice::from_ref(&either), &functions, 2, choice);
        assert!(matches!(model, SearchOutcome::Model(_)), "{model:?}");
    });
}
