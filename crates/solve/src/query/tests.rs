//! Every rewriting of a question keeps what it means: held against evaluation for small values.

use ioco_sts::{BinaryOp, Env, EvalError, FunctionId, IntRange, StructId, StructType, UnaryOp};
use rand::SeedableRng as _;

use super::rewriting::{MAX_CALLS, MAX_INLINED, replace, replace_fields};
use super::*;

use BinaryOp::{Add, And, Div, Eq, Gt, Index, Ne, Or, Rem};

fn bin(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr::binary(op, left, right)
}

fn eval(expr: &Expr, parameters: &[Value], functions: &[Function]) -> Result<Value, EvalError> {
    expr.eval(Env {
        variables: &[],
        parameters,
        functions,
    })
}

fn positive(expr: Expr) -> Expr {
    bin(Gt, expr, Expr::int(0))
}

fn function(body: Expr) -> Function {
    Function {
        name: "f".to_owned(),
        parameters: ["a", "b"].map(|n| (n.to_owned(), Type::INTEGER)).to_vec(),
        result: Type::INTEGER,
        body,
    }
}

fn size(expr: &Expr) -> usize {
    let mut size = 0;
    expr.walk(&mut |_| size += 1);
    size
}

#[test]
fn calls_that_are_written_out_mean_the_same() {
    let (a, b) = (|| Expr::Local(0), || Expr::Local(1));
    let choice = |c, t, e| Expr::If(Box::new([c, t, e]));
    let again = |x: Expr, y: Expr| Expr::Call(FunctionId(0), vec![x, y]);
    let less = bin(BinaryOp::Sub, a(), Expr::int(1));
    let bodies = [
        a(),
        Expr::int(1),
        bin(Add, a(), b()),
        choice(positive(a()), b(), Expr::int(0)),
        choice(positive(a()), b(), bin(Add, b(), Expr::int(1))),
        choice(positive(b()), a(), b()),
        bin(And, positive(a()), positive(b())),
        bin(Or, positive(b()), positive(a())),
        bin(And, bin(Eq, a(), b()), positive(b())),
        Expr::InSet(Box::new(a()), vec![Expr::int(1), b()]),
        Expr::InSet(Box::new(b()), vec![a()]),
        Expr::InRange(Box::new([a(), b(), Expr::int(3)])),
        Expr::Local(2),
        choice(positive(a()), again(less, b()), bin(Add, a(), b())),
    ];
    let p = || Expr::Param(0);
    let arguments = [
        p(),
        Expr::int(2),
        bin(Div, Expr::int(6), p()),
        bin(Rem, p(), Expr::Param(1)),
    ];
    let mut written_out = 0;
    for body in bodies {
        let functions = [function(body)];
        for first in &arguments {
            for second in &arguments {
                let call = Expr::Call(FunctionId(0), vec![first.clone(), second.clone()]);
                let inlined = inlined(&call, &functions, 0);
                written_out += usize::from(inlined != call);
                for (x, y) in (0..9).map(|n| (n / 3 - 1, n % 3 - 1)) {
                    let values = [x, y].map(Value::Int);
                    let expected = eval(&call, &values, &functions);
                    let found = eval(&inlined, &values, &functions);
                    assert_eq!(found.ok(), expected.ok(), "{call:?} {values:?}");
                }
            }
        }
    }
    assert!(written_out > 120, "{written_out}");
    let missing = Expr::Call(FunctionId(7), vec![p()]);
    assert_eq!(inlined(&missing, &[], 0), missing);
}

#[test]
fn calls_are_written_out_up_to_a_size_and_a_depth() {
    let sum = |count| (1..count).fold(Expr::Local(0), |sum, _| bin(Add, sum, Expr::Local(0)));
    let call = |inner: Expr| Expr::Call(FunctionId(0), vec![inner, Expr::int(0)]);
    let largest = Expr::unary(UnaryOp::Neg, sum(200));
    for (body, size_after) in [(sum(3), 5), (largest, MAX_INLINED), (sum(201), 3)] {
        let written_out = inlined(&call(Expr::Param(0)), &[function(body)], 0);
        assert_eq!(size(&written_out), size_after);
    }
    let again = call(bin(BinaryOp::Sub, Expr::Local(0), Expr::int(1)));
    let body = Expr::If(Box::new([positive(Expr::Local(0)), again, Expr::int(0)]));
    let written_out = inlined(&call(Expr::Param(0)), &[function(body)], 0);
    let mut depth = 0;
    written_out.walk(&mut |e| depth += u32::from(matches!(e, Expr::If(_))));
    assert_eq!(depth, MAX_CALLS);
}

#[test]
fn sets_of_one_are_equalities() {
    let set = |items: &[i64]| {
        let items = items.iter().map(|n| Expr::int(*n)).collect();
        Expr::InSet(Box::new(Expr::Param(0)), items)
    };
    let equal = bin(Eq, Expr::Param(0), Expr::int(4));
    assert_eq!(inlined(&set(&[4]), &[], 0), equal);
    assert_eq!(inlined(&set(&[4, 5]), &[], 0), set(&[4, 5]));
}

#[test]
fn items_in_the_place_of_an_array_mean_the_same() {
    let array = || Expr::Param(0);
    let length = || Expr::unary(UnaryOp::Length, array());
    let mut all: Vec<Expr> = (-1..4).map(|i| bin(Index, array(), Expr::int(i))).collect();
    all.extend([
        length(),
        bin(Index, array(), Expr::Param(1)),
        Expr::unary(UnaryOp::Last, array()),
        bin(Add, length(), bin(Index, array(), Expr::int(1))),
        bin(
            Eq,
            array(),
            Expr::Const(Value::Array([3, 4].map(Value::Int).into())),
        ),
        bin(
            Index,
            Expr::Array(vec![bin(Div, Expr::int(1), Expr::Param(1)), array()]),
            Expr::int(1),
        ),
        Expr::unary(
            UnaryOp::Length,
            Expr::Array(vec![bin(Div, Expr::int(1), Expr::Param(1))]),
        ),
    ]);
    for items in [vec![], vec![3], vec![3, 4], vec![3, 4, 5]] {
        let items: Vec<Value> = items.into_iter().map(Value::Int).collect();
        let parts = (2..).take(items.len()).map(Expr::Param).collect();
        for position in 0..3 {
            let mut before = vec![Value::Array(items.clone().into()), Value::Int(position)];
            before.extend(items.iter().cloned());
            let mut after = before.clone();
            after[0] = Value::Void;
            let replacement = Expr::Array(Vec::clone(&parts));
            for expr in &all {
                let replaced = replace(expr, 0, &replacement);
                let expected = eval(expr, &before, &[]).ok();
                assert_eq!(eval(&replaced, &after, &[]).ok(), expected, "{expr:?}");
            }
            let second = replace(&bin(Index, array(), Expr::int(1)), 0, &replacement);
            assert_eq!(matches!(second, Expr::Param(3)), items.len() > 1);
            let length = replace(&length(), 0, &replacement);
            assert_eq!(length, Expr::int(items.len() as i64));
        }
    }
}

#[test]
fn fields_in_the_place_of_a_struct_mean_the_same() {
    let it = || Expr::Param(0);
    let field = |index| Expr::Field(Box::new(it()), index);
    let value = |n: i64, s: &str| Value::Struct(StructId(0), [Value::Int(n), Value::str(s)].into());
    let constant = |n, s| Expr::Const(value(n, s));
    let short = Expr::Const(Value::Struct(StructId(0), [Value::Int(1)].into()));
    let replaceable = [
        field(0),
        bin(Add, field(0), Expr::int(1)),
        bin(Eq, field(1), Expr::Const(Value::str("a"))),
        bin(Eq, it(), constant(1, "a")),
        bin(Ne, constant(1, "a"), it()),
        bin(Eq, it(), it()),
        bin(Ne, it(), it()),
        bin(Eq, it(), short),
        bin(Ne, it(), Expr::Const(Value::Void)),
        bin(And, bin(Eq, it(), constant(2, "b")), positive(field(0))),
    ];
    for values in [value(1, "a"), value(1, "b"), value(2, "b")] {
        let Value::Struct(_, parts) = &values else {
            unreachable!()
        };
        let before = [values.clone(), Value::Void, Value::Void];
        let after = [Value::Void, parts[0].clone(), parts[1].clone()];
        for expr in &replaceable {
            let replaced = replace_fields(expr, 0, &[1, 2]).expect("fields");
            let expected = eval(expr, &before, &[]).ok();
            assert_eq!(eval(&replaced, &after, &[]).ok(), expected, "{expr:?}");
        }
    }
    for whole in [
        it(),
        bin(Eq, it(), Expr::Param(3)),
        bin(
            Add,
            Expr::int(1),
            bin(Index, Expr::Array(vec![it()]), Expr::int(0)),
        ),
        field(2),
    ] {
        assert_eq!(replace_fields(&whole, 0, &[1, 2]), None, "{whole:?}");
    }
    let other = bin(Eq, Expr::Param(3), constant(1, "a"));
    assert_eq!(replace_fields(&other, 0, &[1, 2]), Some(other));
}

#[test]
fn a_window_is_what_lies_close_to_zero_or_to_the_nearest_bound() {
    for (range, window_of_ten) in [
        ((-3, 4), (-3, 4)),
        ((-30, 4), (-10, 4)),
        ((-3, 40), (-3, 10)),
        ((i64::MIN, i64::MAX), (-10, 10)),
        ((20, 25), (20, 25)),
        ((20, 90), (20, 30)),
        ((-90, -20), (-30, -20)),
        ((i64::MAX - 1, i64::MAX), (i64::MAX - 1, i64::MAX)),
        ((i64::MIN, i64::MIN + 1), (i64::MIN, i64::MIN + 1)),
    ] {
        assert_eq!(window(range.0, range.1, 10), window_of_ten, "{range:?}");
    }
}

#[test]
fn domains_are_cut_at_twice_the_constants() {
    let int = |min, max| Domain::set(Values::int(min, max));
    let decimal = |min: i64, max: i64| Domain::set(Values::decimal(min.into(), max.into()));
    let none = Constants::default();
    let far = 3 * DEFAULT_WINDOW;
    for (domain, near, cut) in [
        (int(-5, 5), int(-5, 5), false),
        (int(-far, far), int(-DEFAULT_WINDOW, DEFAULT_WINDOW), true),
        (int(far, 3 * far), int(far, far + DEFAULT_WINDOW), true),
        (decimal(-5, 5), decimal(-5, 5), false),
        (
            decimal(-far, far),
            decimal(-DEFAULT_WINDOW, DEFAULT_WINDOW),
            true,
        ),
        (
            decimal(far, 3 * far),
            decimal(far, far + DEFAULT_WINDOW),
            true,
        ),
        (
            decimal(-3 * far, -far),
            decimal(-far - DEFAULT_WINDOW, -far),
            true,
        ),
        (Domain::set(Values::BOOL), Domain::set(Values::BOOL), false),
    ] {
        let (found, was_cut) = cap(std::slice::from_ref(&domain), &none);
        assert_eq!((&found, was_cut), (&vec![near.clone()], cut), "{domain:?}");
        let unset = Domain {
            void: true,
            ..domain
        };
        let (found, was_cut) = cap(&[unset, int(0, 1)], &none);
        assert_eq!((found[0].void, was_cut), (true, cut));
    }
    let integers = Constants {
        integers: vec![-far],
        ..Constants::default()
    };
    let (found, _) = cap(
        &[int(-9 * far, 9 * far), decimal(-9 * far, 9 * far)],
        &integers,
    );
    assert_eq!(found, [int(-2 * far, 2 * far), decimal(-2 * far, 2 * far)]);
    let decimals = Constants {
        decimals: vec![Decimal::from(-far)],
        ..Constants::default()
    };
    let (found, _) = cap(
        &[int(-9 * far, 9 * far), decimal(-9 * far, 9 * far)],
        &decimals,
    );
    assert_eq!(
        found,
        [
            int(-DEFAULT_WINDOW, DEFAULT_WINDOW),
            decimal(-2 * far, 2 * far)
        ]
    );
}

#[test]
fn only_conditions_on_one_unknown_alone_are_its_own() {
    let types = Types::default();
    let mut query = Query::new(&types, &[]);
    let (own, both) = (
        positive(Expr::Param(0)),
        bin(Eq, Expr::Param(0), Expr::Param(1)),
    );
    let other = positive(Expr::Param(1));
    query.conditions = vec![bin(And, own.clone(), other.clone()), both, Expr::TRUE];
    assert_eq!(query.conditions_on(0), [&own]);
    assert_eq!(query.conditions_on(1), [&other]);
}

#[test]
fn an_order_by_chance_has_all_items() {
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
    let (mut firsts, mut lasts) = ([false; 5], [false; 5]);
    for _ in 0..100 {
        let mut items = [0, 1, 2, 3, 4];
        shuffle(&mut items, &mut Choice::Random(&mut rng));
        firsts[items[0]] = true;
        lasts[items[4]] = true;
        items.sort_unstable();
        assert_eq!(items, [0, 1, 2, 3, 4]);
    }
    assert_eq!((firsts, lasts), ([true; 5], [true; 5]));
    let mut items = [2, 0, 1];
    shuffle(&mut items, &mut Choice::Plain);
    assert_eq!(items, [2, 0, 1]);
}

/// What nothing asks anything of fits its type and its length, also where structs contain themselves.
#[test]
fn any_value_fits_its_type_and_length() {
    let list = Type::Struct(StructId(0));
    let small = Type::Int(IntRange { min: 3, max: 9 });
    let fields = [("n", small.clone()), ("next", list.clone())];
    let types = Types {
        enums: Vec::new(),
        structs: vec![StructType {
            name: "List".to_owned(),
            fields: fields.map(|(name, ty)| (name.to_owned(), ty)).to_vec(),
            kind: ioco_sts::StructKind::Plain,
        }],
    };
    let query = Query::new(&types, &[]);
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(2);
    let strings = |min, max| Values::Str { min, max };
    let arrays = |min, max| Values::Array { min, max };
    let integers = Type::Array(Box::new(small));
    for (ty, values) in [
        (Type::Str, strings(0, i64::MAX)),
        (Type::Str, strings(3, 3)),
        (Type::Str, strings(20, 24)),
        (integers.clone(), arrays(0, i64::MAX)),
        (integers, arrays(3, 3)),
        (Type::Array(Box::new(list.clone())), arrays(2, 2)),
        (list, Values::Any),
        (Type::Bool, Values::truth(true)),
    ] {
        let domain = Domain::set(values.clone());
        for random in [false, true] {
            let mut choice = match random {
                true => Choice::Random(&mut rng),
                false => Choice::Plain,
            };
            let value = query.anything(&ty, &domain, &mut choice, 0);
            assert!(
                types.fits(&value, &ty) && values.contains(&value),
                "{value:?}"
            );
            let (mut depth, mut inner) = (0, &value);
            if let Value::Array(items) = &value
                && let Some(item @ Value::Struct(..)) = items.first()
            {
                (depth, inner) = (1, item);
            }
            while let Value::Struct(_, fields) = inner {
                (inner, depth) = (&fields[1], depth + 1);
            }
            assert!(depth == 0 || depth == 8, "{depth}");
        }
    }
}
