//! Bounds against trying values. Over small sets of values, for every construct: evaluation over sets
//! misses no value and no error, and narrowing takes away no value that is possible. How much both
//! leave is kept in `tests/bounds.txt`, so that a lost bound shows as a changed line. After a change
//! that is meant to change bounds:
//!
//!     IOCO_LEDGER=write cargo test -p ioco-sts --lib bounds
#![allow(
    clippy::disallowed_methods,
    reason = "a test that keeps its expectations in a file reads and writes it"
)]

use std::fmt::Write as _;
use std::hash::{Hash as _, Hasher as _};

use crate::domain::Steps;
use crate::{EnumId, Env, FunctionId, Pattern, StructId, Type};
use rustc_hash::FxHasher;

use super::*;

const OTHER: EnumId = EnumId(1);
const COLOUR: EnumId = EnumId(0);

fn decimal(tenths: i64) -> Decimal {
    Decimal::new(tenths, 1)
}

fn array(items: &[Value]) -> Value {
    Value::Array(items.into())
}

fn pair(n: i64, s: &str) -> Value {
    Value::Struct(StructId(0), [Value::Int(n), Value::str(s)].into())
}

/// `twice(x)`, `rest(x, y)` and `down(x)`, which calls itself.
fn functions() -> Vec<Function> {
    use BinaryOp::{Add, Le, Rem, Sub};
    let (x, y) = (|| Expr::Local(0), || Expr::Local(1));
    let function = |name: &str, parameters: &[&str], body: Expr| Function {
        name: name.to_owned(),
        parameters: { parameters.iter() }
            .map(|name| ((*name).to_owned(), Type::INTEGER))
            .collect(),
        result: Type::INTEGER,
        body,
    };
    let further = Expr::Call(FunctionId(2), vec![Expr::binary(Sub, x(), Expr::int(1))]);
    let down = Expr::If(Box::new([
        Expr::binary(Le, x(), Expr::int(0)),
        x(),
        further,
    ]));
    vec![
        function("twice", &["x"], Expr::binary(Add, x(), x())),
        function("rest", &["x", "y"], Expr::binary(Rem, x(), y())),
        function("down", &["x"], down),
    ]
}

/// Sets of values of one kind each.
fn kinds() -> Vec<(&'static str, Vec<Values>)> {
    let int = Values::int;
    let tenths = |min, max| Values::decimal(decimal(min), decimal(max));
    let member = |of, min, max| Values::Member { of, min, max };
    let one = Values::One;
    vec![
        (
            "booleans",
            vec![Values::truth(false), Values::truth(true), Values::BOOL],
        ),
        (
            "integers",
            vec![
                int(-9, -4),
                int(-5, -5),
                int(-4, 0),
                int(-3, 5),
                int(0, 0),
                int(0, 7),
                int(1, 1),
                int(2, 9),
                int(i64::MIN, i64::MIN + 2),
                int(i64::MAX - 2, i64::MAX),
            ],
        ),
        (
            "decimals",
            vec![
                tenths(-25, -10),
                tenths(-15, 20),
                tenths(0, 0),
                tenths(30, 30),
                tenths(5, 45),
                Values::decimal(Decimal::MAX - Decimal::ONE, Decimal::MAX),
                Values::DECIMAL,
            ],
        ),
        (
            "members",
            vec![
                member(COLOUR, 0, 0),
                member(COLOUR, 0, 2),
                member(COLOUR, 1, 2),
                member(OTHER, 0, 1),
            ],
        ),
        (
            "strings",
            vec![
                Values::Str { min: 0, max: 0 },
                Values::Str { min: 0, max: 2 },
                Values::Str {
                    min: 1,
                    max: i64::MAX,
                },
                Values::Str { min: 3, max: 3 },
                one(Value::str("a")),
                one(Value::str("ab")),
            ],
        ),
        (
            "arrays",
            vec![
                Values::Array { min: 0, max: 0 },
                Values::Array { min: 0, max: 2 },
                Values::Array {
                    min: 2,
                    max: i64::MAX,
                },
                one(array(&[Value::Int(1)])),
                one(array(&[Value::Decimal(decimal(10))])),
                one(array(&[Value::Int(3), Value::Void, Value::Int(5)])),
            ],
        ),
        (
            "structs",
            vec![Values::Any, one(pair(2, "a")), one(pair(-1, ""))],
        ),
    ]
}

/// Values to try: all of a small set of integers, else some that are near every bound.
fn samples(domain: &Domain) -> Vec<Value> {
    let mut pool: Vec<Value> = match &domain.values {
        Values::Int { min, max } => (*min..=*max).map(Value::Int).collect(),
        Values::One(value) => vec![value.clone()],
        _ => Vec::new(),
    };
    if pool.is_empty() {
        let tenths = [
            -30, -25, -20, -15, -10, -1, 0, 1, 5, 10, 20, 25, 30, 31, 45, 50,
        ];
        pool.extend(tenths.map(|n| Value::Decimal(decimal(n))));
        let far = [Decimal::MAX, Decimal::MAX - Decimal::ONE, Decimal::MIN];
        pool.extend(far.map(Value::Decimal));
        pool.extend([false, true].map(Value::Bool));
        pool.extend((0..3).map(|member| Value::Enum(COLOUR, member)));
        pool.extend((0..2).map(|member| Value::Enum(OTHER, member)));
        pool.extend(["", "a", "b", "ab", "ba", "aab", "ü1", "abab"].map(Value::str));
        let items = [
            Value::Int(1),
            Value::Void,
            Value::Decimal(decimal(10)),
            Value::Int(5),
        ];
        pool.extend((0..=4).map(|length| array(&items[..length])));
        pool.extend([array(&[Value::Int(3), Value::Void, Value::Int(5)])]);
        pool.extend([pair(2, "a"), pair(-1, ""), pair(0, "b")]);
        pool.extend([-1, 0, 2].map(Value::Int));
    }
    pool.retain(|value| domain.values.contains(value));
    if domain.void {
        pool.push(Value::Void);
    }
    pool
}

/// Every construct over one or two unknowns.
fn constructs() -> Vec<(String, Expr)> {
    use BinaryOp::{Add, And, Div, Eq, Ge, Gt, Index, Le, Lt, Max, Min, Mul, Ne, Or, Rem, Sub};
    let (x, y) = (|| Expr::Param(0), || Expr::Param(1));
    let constant = |value: Value| Expr::Const(value);
    let mut all: Vec<(String, Expr)> = Vec::new();
    for op in [
        And, Or, Eq, Ne, Lt, Le, Gt, Ge, Add, Sub, Mul, Div, Rem, Min, Max, Index,
    ] {
        all.push((format!("{op:?}"), Expr::binary(op, x(), y())));
        all.push((format!("{op:?} with itself"), Expr::binary(op, x(), x())));
    }
    for op in [
        UnaryOp::Not,
        UnaryOp::Neg,
        UnaryOp::Abs,
        UnaryOp::Length,
        UnaryOp::Last,
    ] {
        all.push((format!("{op:?}"), Expr::unary(op, x())));
    }
    let mut add = |name: &str, expr: Expr| all.push((name.to_owned(), expr));
    let two_or = |first: Expr| Expr::Array(vec![first, Expr::int(2), y()]);
    add(
        "In",
        Expr::InSet(
            Box::new(x()),
            vec![y(), Expr::int(3), constant(Value::str("a"))],
        ),
    );
    add("In one", Expr::InSet(Box::new(x()), vec![y()]));
    add(
        "In range",
        Expr::InRange(Box::new([x(), y(), Expr::int(4)])),
    );
    add(
        "In range to",
        Expr::InRange(Box::new([x(), Expr::int(-3), y()])),
    );
    let above = Expr::binary(Gt, x(), Expr::int(1));
    add("If", Expr::If(Box::new([above, x(), y()])));
    add(
        "If same",
        Expr::If(Box::new([Expr::binary(Eq, x(), y()), x(), Expr::int(7)])),
    );
    add(
        "If void",
        Expr::If(Box::new([
            Expr::binary(Ne, x(), constant(Value::Void)),
            y(),
            x(),
        ])),
    );
    add("Array", two_or(x()));
    add("Array of both", Expr::Array(vec![x(), y()]));
    add("Item", Expr::binary(Index, two_or(Expr::int(7)), x()));
    add(
        "Item of both",
        Expr::binary(Index, Expr::Array(vec![x(), y(), x()]), Expr::int(1)),
    );
    add(
        "Last of both",
        Expr::unary(UnaryOp::Last, Expr::Array(vec![x(), y()])),
    );
    add("Field", Expr::Field(Box::new(x()), 0));
    add("Missing field", Expr::Field(Box::new(x()), 1));
    for pattern in ["^a", "^$", "^[ab]{2}$"] {
        let pattern = Pattern::new(pattern).expect("right");
        add(
            &format!("Matches {}", pattern.text()),
            Expr::Matches(Box::new(x()), pattern),
        );
    }
    for (number, function) in functions().iter().enumerate() {
        let arguments = [x(), y()][..function.parameters.len()].to_vec();
        add(
            &function.name,
            Expr::Call(FunctionId(number as u32), arguments),
        );
    }
    add("Start", Expr::binary(Add, constant(Value::str("a")), x()));
    add("End", Expr::binary(Add, x(), constant(Value::str("b"))));
    add(
        "Nested",
        Expr::binary(Mul, Expr::binary(Sub, x(), y()), Expr::int(3)),
    );
    for (op, by) in [(Rem, 3), (Rem, -4), (Div, 3), (Div, -2), (Mul, -3)] {
        add(
            &format!("{op:?} by {by}"),
            Expr::binary(op, x(), Expr::int(by)),
        );
    }
    for less in [1, 2] {
        let argument = Expr::binary(Sub, x(), Expr::int(less));
        add(
            &format!("Down from {less} less"),
            Expr::Call(FunctionId(2), vec![argument]),
        );
    }
    add("If itself", Expr::If(Box::new([x(), y(), Expr::int(7)])));
    let quotient = Expr::binary(Div, Expr::int(4), y());
    add(
        "In quotients",
        Expr::InSet(Box::new(x()), vec![quotient, Expr::int(1)]),
    );
    add("No slot", Expr::Param(9));
    add("Unset", Expr::binary(Eq, x(), Expr::Param(9)));
    all
}

/// What the construct is wanted to come to.
fn targets(values: &Values) -> Vec<Domain> {
    let alike = |target: &Values| {
        matches!(values, Values::Any | Values::None)
            || matches!(
                (values, target),
                (Values::Bool { .. }, Values::Bool { .. })
                    | (
                        Values::Int { .. },
                        Values::Int { .. } | Values::Decimal { .. }
                    )
                    | (
                        Values::Decimal { .. },
                        Values::Int { .. } | Values::Decimal { .. }
                    )
                    | (Values::Member { .. }, Values::Member { .. })
                    | (
                        Values::Str { .. } | Values::Array { .. } | Values::One(_),
                        Values::Str { .. } | Values::Array { .. } | Values::One(_)
                    )
            )
    };
    let mut targets: Vec<Domain> = { kinds() }
        .into_iter()
        .flat_map(|(_, sets)| sets)
        .filter(alike)
        .map(Domain::set)
        .collect();
    targets.push(Domain::exactly(&Value::Void));
    targets
}

#[derive(Default)]
struct Line {
    cases: u64,
    errors: u64,
    refuted: u64,
    left: u64,
    digest: FxHasher,
}

struct Case<'a> {
    name: &'a str,
    expr: &'a Expr,
    domains: [Domain; 2],
    functions: &'a [Function],
    /// Values of the unknowns, and what the construct then comes to.
    tried: Vec<([Value; 2], Option<Value>)>,
}

impl Case<'_> {
    fn reached(&self, line: &mut Line) -> ExprValues {
        let found = View {
            domains: &self.domains,
            variables: &[],
            functions: self.functions,
            effort: &Steps::default(),
        }
        .values_of(self.expr);
        for (values, result) in &self.tried {
            let foreseen = match result {
                None => found.error,
                Some(Value::Void) => found.void,
                Some(value) => found.values.contains(value),
            };
            assert!(
                foreseen,
                "{} of {values:?} is {result:?}, not in {found:?}",
                self.name
            );
        }
        line.cases += 1;
        line.errors += u64::from(found.error);
        format!("{found:?}").hash(&mut line.digest);
        found
    }

    /// Narrows, and checks that nothing possible is lost.
    fn narrowed(
        &self,
        what: &str,
        wanted: impl Fn(&Value) -> bool,
        narrow: impl Fn(&mut Narrower<'_>) -> Narrowed,
        line: &mut Line,
    ) {
        let mut domains = self.domains.clone();
        let effort = Steps::default();
        let mut narrower = Narrower {
            domains: &mut domains,
            types: &Types::default(),
            type_of: &|_| None,
            variables: &[],
            functions: self.functions,
            effort: &effort,
            changed: false,
        };
        let outcome = narrow(&mut narrower);
        let changed = narrower.changed;
        let supported = self
            .tried
            .iter()
            .filter(|(_, result)| result.as_ref().is_some_and(&wanted));
        for (values, _) in supported {
            let kept = outcome == Ok(())
                && values
                    .iter()
                    .zip(&domains)
                    .all(|(value, domain)| match value {
                        Value::Void => domain.void,
                        value => domain.values.contains(value),
                    });
            let before = &self.domains;
            assert!(
                kept,
                "{} {what} takes {values:?} from {before:?}: {domains:?}",
                self.name
            );
        }
        match outcome {
            Ok(()) => {
                assert!(changed || domains == self.domains, "{} {what}", self.name);
                line.left += domains
                    .iter()
                    .map(|domain| samples(domain).len() as u64)
                    .sum::<u64>();
                format!("{domains:?} {changed}").hash(&mut line.digest);
            }
            Err(Empty) => line.refuted += 1,
        }
        line.digest.write_u8(u8::from(outcome.is_ok()));
    }
}

fn measure(kind: &str, name: &str, expr: &Expr, pairs: &[[Domain; 2]]) -> String {
    let functions = functions();
    let mut line = Line::default();
    for domains in pairs {
        let [left, right] = domains.each_ref().map(samples);
        let mut tried = Vec::new();
        for x in &left {
            for y in &right {
                let values = [x.clone(), y.clone()];
                let env = Env {
                    variables: &[],
                    parameters: &values,
                    functions: &functions,
                };
                let result = expr.eval(env).ok();
                tried.push((values, result));
            }
        }
        let case = Case {
            name,
            expr,
            domains: domains.clone(),
            functions: &functions,
            tried,
        };
        let found = case.reached(&mut line);
        for want in [false, true] {
            let wanted = |value: &Value| *value == Value::Bool(want);
            case.narrowed("truth", wanted, |n| n.truth(expr, want), &mut line);
        }
        for target in targets(&found.values) {
            let wanted = |value: &Value| match value {
                Value::Void => target.void,
                value => target.values.contains(value),
            };
            let what = format!("to {target:?}");
            case.narrowed(&what, wanted, |n| n.value(expr, &target), &mut line);
        }
    }
    let Line {
        cases,
        errors,
        refuted,
        left,
        digest,
    } = line;
    let digest = digest.finish();
    format!(
        "{kind}: {name}: {cases} cases, {errors} errors, {refuted} refuted, {left} left, {digest:016x}\n"
    )
}

#[test]
fn bounds_are_sound_and_as_tight_as_they_were() {
    let kinds = kinds();
    let mut mixed: Vec<(String, Vec<[Domain; 2]>)> = Vec::new();
    let with_void = |values: &Values, void: bool| Domain {
        values: values.clone(),
        void,
    };
    for (name, sets) in &kinds {
        let mut pairs = Vec::new();
        for (number, left) in sets.iter().enumerate() {
            for (other, right) in sets.iter().enumerate() {
                let void = |n: usize| (n + 2 * other + number).is_multiple_of(5);
                pairs.push([with_void(left, void(0)), with_void(right, void(1))]);
            }
        }
        mixed.push(((*name).to_owned(), pairs));
    }
    let set = |name: &str| &kinds.iter().find(|kind| kind.0 == name).expect("there").1;
    for (left, right) in [
        ("integers", "decimals"),
        ("decimals", "integers"),
        ("arrays", "integers"),
        ("integers", "structs"),
        ("structs", "decimals"),
        ("strings", "members"),
    ] {
        let mut pairs = Vec::new();
        for (number, one) in set(left).iter().enumerate() {
            for (other, two) in set(right).iter().step_by(2).enumerate() {
                let void = |n: usize| (number + 2 * other + n).is_multiple_of(3);
                pairs.push([with_void(one, void(0)), with_void(two, void(1))]);
            }
        }
        mixed.push((format!("{left} and {right}"), pairs));
    }
    let constructs = constructs();
    let mut text = String::new();
    for (kind, pairs) in &mixed {
        for (name, expr) in &constructs {
            let _ = write!(text, "{}", measure(kind, name, expr, pairs));
        }
    }
    let path = format!("{}/tests/bounds.txt", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("IOCO_LEDGER").is_some_and(|mode| mode == "write") {
        std::fs::write(&path, &text).expect("the file can be written");
        return;
    }
    let kept = std::fs::read_to_string(&path).expect("the file can be read");
    for (new, old) in text.lines().zip(kept.lines()) {
        assert_eq!(new, old, "a bound changed");
    }
    assert_eq!(text.lines().count(), kept.lines().count());
}
