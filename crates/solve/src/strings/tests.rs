//! What is read off conditions on strings, against evaluation for a few short strings.

use ioco_sts::{Env, Pattern};
use rand::SeedableRng as _;

use super::*;

use BinaryOp::{Add, And, Eq, Ge, Gt, Le, Lt, Ne, Or};

const WORDS: [&str; 9] = ["", "a", "b", "ab", "ba", "aa", "aab", "aba", "abab"];
const COMPARISONS: [BinaryOp; 6] = [Eq, Ne, Lt, Le, Gt, Ge];

fn bin(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr::binary(op, left, right)
}

fn x() -> Expr {
    Expr::Param(0)
}

fn y() -> Expr {
    Expr::Param(1)
}

/// A boolean.
fn flag() -> Expr {
    Expr::Param(2)
}

fn text(text: &str) -> Expr {
    Expr::Const(Value::str(text))
}

fn plus(left: Expr, right: Expr) -> Expr {
    bin(Add, left, right)
}

fn length(of: Expr) -> Expr {
    Expr::unary(UnaryOp::Length, of)
}

fn matches(subject: Expr, pattern: &str) -> Expr {
    let pattern = Pattern::new(pattern).expect("a regular expression");
    Expr::Matches(Box::new(subject), pattern)
}

fn choice(condition: Expr, then: Expr, otherwise: Expr) -> Expr {
    Expr::If(Box::new([condition, then, otherwise]))
}

fn is_string(unknown: u32) -> bool {
    unknown < 2
}

fn is_boolean(unknown: u32) -> bool {
    unknown == 2
}

fn values() -> Vec<[Value; 3]> {
    let flags = [Value::Bool(false), Value::Bool(true), Value::Void];
    let mut all = Vec::new();
    for x in WORDS {
        for y in WORDS {
            all.extend(flags.clone().map(|f| [Value::str(x), Value::str(y), f]));
        }
    }
    all
}

/// The truth of an expression that has one.
fn truth(expr: &Expr, values: &[Value]) -> Option<bool> {
    let env = Env {
        variables: &[],
        parameters: values,
        functions: &[],
    };
    expr.holds(env).ok()
}

fn terms() -> Vec<Expr> {
    vec![
        x(),
        y(),
        text("ab"),
        text(""),
        plus(text("a"), x()),
        plus(x(), text("b")),
        plus(plus(text("a"), x()), text("b")),
        plus(text("b"), y()),
        plus(x(), y()),
        plus(y(), plus(text("a"), x())),
        plus(x(), x()),
    ]
}

#[test]
fn equalities_without_what_both_sides_share_mean_the_same() {
    let mut simpler = 0;
    for left in terms() {
        for right in terms() {
            for (op, want) in COMPARISONS
                .into_iter()
                .flat_map(|op| [(op, true), (op, false)])
            {
                let expr = bin(op, left.clone(), right.clone());
                let goal = Goal { expr: &expr, want };
                let Some((index, found)) = simplified(&[goal], &is_string) else {
                    continue;
                };
                assert_eq!(index, 0);
                simpler += 1;
                for values in values() {
                    let expected = truth(&expr, &values).map(|t| t == want);
                    assert_eq!(truth(&found, &values), expected, "{expr:?} {values:?}");
                }
            }
        }
    }
    assert_eq!(simpler, 228);
}

#[test]
fn equalities_lose_all_that_both_sides_share() {
    let none = |left: Expr, right: Expr| {
        let expr = bin(Eq, left, right);
        simplified(&[Goal::holds(&expr)], &is_string).map(|(_, found)| found)
    };
    let equal = |left: Expr, right: Expr| Some(bin(Eq, left, right));
    let (a, b) = (|| text("a"), || text("b"));
    assert_eq!(none(plus(a(), x()), plus(a(), y())), equal(x(), y()));
    assert_eq!(none(plus(x(), b()), plus(y(), b())), equal(x(), y()));
    assert_eq!(none(plus(x(), b()), b()), equal(x(), text("")));
    assert_eq!(none(plus(a(), x()), text("abab")), equal(x(), text("bab")));
    let between = plus(plus(x(), a()), y());
    assert_eq!(none(plus(x(), y()), between.clone()), Some(Expr::FALSE));
    assert_eq!(
        none(plus(b(), between), plus(text("ba"), plus(y(), b()))),
        equal(plus(plus(x(), a()), y()), plus(plus(a(), y()), b())),
    );
    assert_eq!(none(plus(a(), x()), plus(b(), y())), Some(Expr::FALSE));
    assert_eq!(none(plus(x(), a()), plus(y(), b())), Some(Expr::FALSE));
    assert_eq!(none(plus(x(), a()), plus(x(), a())), Some(Expr::TRUE));
    assert_eq!(none(plus(x(), a()), plus(a(), x())), None);
    assert_eq!(none(x(), y()), None);
    // Not strings for sure.
    assert_eq!(none(plus(flag(), a()), plus(flag(), b())), None);
}

#[test]
fn a_string_is_replaced_by_what_it_equals() {
    let found = |op: BinaryOp, left: Expr, right: Expr, want: bool| {
        let expr = bin(op, left, right);
        let parts = [Goal::holds(&Expr::TRUE), Goal { expr: &expr, want }];
        substitution(&parts, &is_string).map(|(index, unknown, term)| {
            assert_eq!(index, 1);
            (unknown, term)
        })
    };
    let joined = || plus(y(), text("a"));
    assert_eq!(found(Eq, x(), y(), true), Some((0, y())));
    assert_eq!(found(Ne, x(), joined(), false), Some((0, joined())));
    assert_eq!(found(Eq, joined(), x(), true), Some((0, joined())));
    assert_eq!(found(Ne, x(), y(), true), None);
    assert_eq!(found(Eq, x(), y(), false), None);
    assert_eq!(found(Eq, x(), plus(x(), y()), true), None);
    assert_eq!(found(Eq, x(), text("a"), true), None);
    assert_eq!(found(Eq, x(), flag(), true), None);
    assert_eq!(found(Eq, flag(), x(), true), None);
    assert_eq!(found(Eq, x(), plus(flag(), text("a")), true), None);
}

fn passes(literal: &Literal, word: &str) -> bool {
    let whole = format!("{}{word}{}", literal.prefix, literal.suffix);
    let count = whole.chars().count() as i64;
    let passes = match &literal.test {
        Test::Matches(pattern) => pattern.matches(&whole),
        Test::OneOf(words) => words.contains(&whole),
        Test::Ordered(Lt, word) => whole < *word,
        Test::Ordered(Le, word) => whole <= *word,
        Test::Ordered(Gt, word) => whole > *word,
        Test::Ordered(_, word) => whole >= *word,
        Test::Length(min, max) => (*min..=*max).contains(&count),
    };
    passes == literal.want
}

#[test]
fn literals_say_what_their_condition_says() {
    let mut conditions = Vec::new();
    let numbers = [-1, 0, 1, 2, 5, i64::MIN, i64::MAX].map(Expr::int);
    let constants = [
        text(""),
        text("ab"),
        text("b"),
        Expr::int(1),
        Expr::Const(Value::Void),
    ];
    for term in terms() {
        let subject = || term.clone();
        conditions.extend(["^a", "b$", "^(ab)*$"].map(|p| matches(subject(), p)));
        for op in COMPARISONS {
            for number in &numbers {
                conditions.push(bin(op, length(subject()), number.clone()));
                conditions.push(bin(op, number.clone(), length(subject())));
            }
            for constant in &constants {
                conditions.push(bin(op, subject(), constant.clone()));
                conditions.push(bin(op, constant.clone(), subject()));
            }
        }
        let set = |items: &[Expr]| Expr::InSet(Box::new(subject()), items.to_vec());
        conditions.extend([set(&constants), set(&[text("a"), y()])]);
        let range =
            |of, low: &Expr, high: &Expr| Expr::InRange(Box::new([of, low.clone(), high.clone()]));
        conditions.extend([
            range(subject(), &text("a"), &text("ab")),
            range(subject(), &text("a"), &Expr::int(3)),
            range(length(subject()), &numbers[2], &numbers[3]),
            range(length(subject()), &numbers[2], &text("b")),
            range(length(subject()), &numbers[2], &length(y())),
        ]);
    }
    let mut read = 0;
    for expr in &conditions {
        for want in [true, false] {
            let goal = Goal { expr, want };
            let Some(found) = literals(goal, 0) else {
                continue;
            };
            read += 1;
            for word in WORDS {
                let values = [Value::str(word), Value::Void, Value::Void];
                let met = truth(expr, &values) == Some(want);
                let all = found.iter().all(|l| passes(l, word));
                assert_eq!(all, met, "{expr:?} {want} {word:?} {found:?}");
            }
        }
    }
    assert_eq!(read, 1032);
}

/// Exactly one way is met wherever the part is, and none elsewhere.
#[test]
fn ways_are_met_where_their_part_is() {
    let a = || bin(Eq, x(), text("a"));
    let starts = || matches(y(), "^a");
    let short = || bin(Lt, length(x()), Expr::int(2));
    let one = || choice(a(), y(), text("b"));
    // It has no value where the flag is not set.
    let unclear = || choice(flag(), y(), text("a"));
    let in_range = Expr::InRange(Box::new([x(), text("a"), text("b")]));
    let in_set = Expr::InSet(Box::new(x()), vec![text("a"), text("ab")]);
    let mut parts = vec![
        bin(Or, a(), starts()),
        bin(And, a(), starts()),
        bin(Eq, one(), x()),
        bin(Ne, plus(x(), one()), text("aa")),
        bin(Lt, length(one()), Expr::int(2)),
        Expr::InSet(Box::new(one()), vec![text("b"), one()]),
        Expr::InSet(Box::new(x()), vec![text("b"), one()]),
        bin(
            Eq,
            choice(short(), x(), choice(starts(), y(), x())),
            text("b"),
        ),
        matches(one(), "b$"),
        Expr::InSet(Box::new(x()), vec![text("b"), unclear()]),
        bin(
            Eq,
            bin(Or, a(), bin(Eq, unclear(), x())),
            Expr::Const(Value::Void),
        ),
        a(),
        short(),
        flag(),
    ];
    let truths = [
        a(),
        starts(),
        short(),
        Expr::unary(UnaryOp::Not, a()),
        in_range,
        in_set,
        flag(),
    ];
    for left in &truths {
        for right in &truths {
            parts.extend([Eq, Ne].map(|op| bin(op, left.clone(), right.clone())));
        }
    }
    let mut taken_apart = 0;
    for expr in &parts {
        for want in [true, false] {
            let goal = Goal { expr, want };
            let Some((index, ways)) = branches(&[goal], &[0, 1], &is_boolean) else {
                continue;
            };
            assert_eq!(index, 0);
            taken_apart += 1;
            for values in values() {
                let met = truth(expr, &values) == Some(want);
                let met_ways = ways.iter().filter(|way| {
                    let mut conditions = way.iter();
                    conditions.all(|c| truth(c, &values) == Some(true))
                });
                let count = met_ways.count();
                assert_eq!(count, usize::from(met), "{expr:?} {want} {values:?}");
            }
        }
    }
    assert_eq!(taken_apart, 206);
    // Parts about others stay whole.
    let expr = bin(Or, a(), short());
    assert!(branches(&[Goal::holds(&expr)], &[1], &is_boolean).is_none());
}

#[test]
fn strings_compared_with_each_other_are_a_group() {
    let p = Expr::Param;
    let all = [
        bin(Eq, p(0), p(1)),
        bin(Or, bin(Ne, p(3), p(1)), Expr::FALSE),
        bin(Lt, p(4), p(0)),
        Expr::InSet(Box::new(p(5)), vec![p(6), text("a"), p(3)]),
        bin(Eq, p(7), text("a")),
        bin(Eq, p(8), text("a")),
    ];
    let goals: Vec<Goal<'_>> = all.iter().map(Goal::holds).collect();
    let group = |unknown| {
        let mut group = equal_group(&goals, unknown);
        assert_eq!(group[0], unknown);
        group.sort_unstable();
        group
    };
    assert_eq!(group(0), [0, 1, 3, 5, 6]);
    assert_eq!(group(6), [0, 1, 3, 5, 6]);
    assert_eq!(group(4), [4]);
    assert_eq!(group(7), [7]);
    for (expr, only) in [
        (bin(Eq, x(), y()), true),
        (bin(Ne, text("a"), x()), true),
        (bin(Or, bin(Eq, x(), y()), bin(Ne, x(), text("b"))), true),
        (Expr::InSet(Box::new(x()), vec![y(), text("a")]), true),
        (
            Expr::InSet(Box::new(x()), vec![plus(y(), text("a"))]),
            false,
        ),
        (
            Expr::InSet(Box::new(plus(x(), y())), vec![text("a")]),
            false,
        ),
        (
            Expr::InSet(Box::new(plus(y(), y())), vec![plus(y(), y())]),
            true,
        ),
        (bin(Eq, plus(x(), y()), text("a")), false),
        (bin(Eq, plus(y(), y()), x()), false),
        (bin(Lt, x(), y()), false),
        (bin(Lt, y(), y()), true),
        (x(), false),
    ] {
        assert_eq!(compared_only(&expr, 0), only, "{expr:?}");
    }
}

#[test]
fn a_reading_is_settled_where_nothing_else_is_said() {
    let settled = |conditions: &[Expr]| {
        let goals: Vec<Goal<'_>> = conditions.iter().map(Goal::holds).collect();
        Reading::new(&goals, 0).is_settled()
    };
    let digits = || matches(y(), "^a");
    assert!(settled(&[bin(Eq, x(), y()), digits()]));
    assert!(settled(&[bin(Lt, x(), text("a"))]));
    assert!(!settled(&[bin(Lt, x(), y())]));
    assert!(!settled(&[bin(Eq, x(), y()), bin(Lt, y(), Expr::Param(3))]));
    assert!(settled(&[
        bin(Eq, x(), text("a")),
        bin(Lt, y(), Expr::Param(3))
    ]));
    let group =
        |count: u32| -> Vec<Expr> { (1..count).map(|u| bin(Ne, x(), Expr::Param(u))).collect() };
    assert!(settled(&group(5)));
    assert!(!settled(&group(6)));
}

fn language(pattern: &str) -> Language {
    let literal = Literal {
        prefix: String::new(),
        suffix: String::new(),
        test: Test::Matches(Pattern::new(pattern).expect("a regular expression")),
        want: true,
    };
    Language::new(&[literal], &Deadline::never()).expect("small")
}

#[test]
fn fresh_words_are_new_and_enough_or_all() {
    let named = ["ab", "abab", "b"].map(str::to_owned);
    for (pattern, others, count) in [
        ("^(ab)*$", 0, 1),
        ("^(ab)*$", 1, 2),
        ("^(ab)*$", 4, 5),
        ("^(ab|abab|b|)$", 0, 1),
        ("^(ab|abab|b|)$", 3, 1),
        ("^(ab|abab|b)$", 2, 0),
        ("^[ab]{3}$", 2, 3),
        ("^[ab]{1,2}$", 20, 4),
        ("^x{40}(y{30})*$", 2, 3),
    ] {
        let mut language = language(pattern);
        let mut found = Vec::new();
        let deadline = Deadline::never();
        assert!(fresh(&mut language, &named, others, &deadline, &mut found));
        let pattern = Pattern::new(pattern).expect("a regular expression");
        assert!(
            found
                .iter()
                .all(|w| pattern.matches(w) && !named.contains(w))
        );
        assert!(
            found.len() >= count,
            "{} {others} {found:?}",
            pattern.text()
        );
        let distinct: std::collections::BTreeSet<_> = found.iter().collect();
        assert_eq!(distinct.len(), found.len());
        let mut unnamed = Vec::new();
        let enough = fresh(&mut language, &[], others, &deadline, &mut unnamed);
        assert!(enough && unnamed.len() >= count, "{unnamed:?}");
        let over = Deadline::steps(0);
        over.step();
        assert!(!fresh(
            &mut language,
            &named,
            others,
            &over,
            &mut Vec::new()
        ));
    }
}

#[test]
fn words_are_spread_over_the_lengths_that_matter() {
    let lengths = |range: (i64, i64), integers: &[i64]| -> Vec<usize> {
        let constants = Constants {
            integers: integers.to_vec(),
            ..Constants::default()
        };
        let mut choice = Choice::Plain;
        let mut dice = Dice::new(&mut choice, 1);
        let deadline = Deadline::never();
        let mut found = Vec::new();
        spread(
            &mut language("^a*$"),
            range,
            &constants,
            &mut dice,
            &deadline,
            &mut found,
        );
        let mut lengths: Vec<usize> = found.iter().map(String::len).collect();
        lengths.dedup();
        lengths
    };
    let to = |first: usize, last: usize| -> Vec<usize> { (first..=last).collect() };
    assert_eq!(lengths((0, i64::MAX), &[]), to(0, 9));
    assert_eq!(lengths((3, 5), &[]), to(3, 5));
    assert_eq!(lengths((3, 50), &[]), [to(3, 12), vec![50]].concat());
    assert_eq!(
        lengths((0, 30), &[20, -4]),
        [to(0, 9), to(19, 21), vec![30]].concat()
    );
    assert_eq!(
        lengths((0, MAX_LENGTH + 1), &[MAX_LENGTH]),
        [to(0, 9), to(4095, 4096)].concat()
    );
    let many: Vec<i64> = (1..40).map(|n| n * 10).collect();
    assert_eq!(lengths((0, i64::MAX), &many).len(), 30);
}

#[test]
fn words_by_chance_have_many_lengths() {
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(4);
    let mut choice = Choice::Random(&mut rng);
    let mut dice = Dice::new(&mut choice, 0);
    let mut found = Vec::new();
    let deadline = Deadline::never();
    random_words(
        &mut language("^[ab]{3,}$"),
        &mut dice,
        &deadline,
        &mut found,
    );
    assert_eq!(found.len(), 13);
    assert_eq!(found.last().map(String::len), Some(3));
    let lengths: std::collections::BTreeSet<usize> = found.iter().map(String::len).collect();
    assert!(
        lengths.iter().all(|l| (3..12).contains(l)) && lengths.len() > 4,
        "{found:?}"
    );
}
