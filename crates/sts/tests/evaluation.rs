//! Every operator, and every way in which an expression has no value.

use std::sync::Arc;

use ioco_budget::{Budget, Exhausted, Resource};
use ioco_sts::{
    Assignment, BinaryOp, Demanded, Direction, EnumId, Env, EvalError, Expr, Function, FunctionId,
    Gate, IntRange, Label, Parameter, Pattern, Place, StructId, StsBuilder, Subject, Type, UnaryOp,
    Value, VarId, Variable,
};
use proptest::prelude::*;

fn eval(expr: &Expr) -> Result<Value, EvalError> {
    let twice = Function {
        name: "twice".to_owned(),
        parameters: vec![("x".to_owned(), Type::INTEGER)],
        result: Type::INTEGER,
        body: Expr::binary(BinaryOp::Mul, Expr::Local(0), Expr::int(2)),
    };
    let endless = Function {
        name: "endless".to_owned(),
        body: Expr::Call(FunctionId(1), vec![Expr::Local(0)]),
        ..twice.clone()
    };
    expr.eval(Env {
        variables: &[Value::Int(7), Value::Void],
        parameters: &[Value::Bool(true)],
        functions: &[twice, endless],
    })
}

fn constant(value: impl Into<Value>) -> Expr {
    Expr::Const(value.into())
}

fn decimal(text: &str) -> Value {
    Value::Decimal(text.parse().unwrap())
}

fn array(items: &[i64]) -> Value {
    Value::Array(items.iter().map(|i| Value::Int(*i)).collect())
}

fn enum_member(member: u32) -> Value {
    Value::Enum(EnumId(0), member)
}

fn check(
    op: BinaryOp,
    left: impl Into<Value>,
    right: impl Into<Value>,
    expected: impl Into<Value>,
) {
    let expr = Expr::binary(op, constant(left), constant(right));
    assert_eq!(eval(&expr), Ok(expected.into()), "{expr:?}");
}

fn check_error(op: BinaryOp, left: impl Into<Value>, right: impl Into<Value>, expected: EvalError) {
    let expr = Expr::binary(op, constant(left), constant(right));
    assert_eq!(eval(&expr), Err(expected), "{expr:?}");
}

#[test]
fn arithmetic_on_integers_is_exact_and_checked() {
    check(BinaryOp::Add, 2, 3, 5);
    check(BinaryOp::Sub, 2, 3, -1);
    check(BinaryOp::Mul, -4, 3, -12);
    check(BinaryOp::Div, -7, 2, -3);
    check(BinaryOp::Rem, -7, 2, -1);
    check(BinaryOp::Rem, 7, -2, 1);
    check(BinaryOp::Min, 2, 3, 2);
    check(BinaryOp::Max, 2, 3, 3);
    for op in [BinaryOp::Add, BinaryOp::Mul] {
        check_error(op, i64::MAX, 2, EvalError::Overflow);
    }
    check_error(BinaryOp::Sub, i64::MIN, 1, EvalError::Overflow);
    check_error(BinaryOp::Div, i64::MIN, -1, EvalError::Overflow);
    check(BinaryOp::Rem, i64::MIN, -1, 0);
    check_error(BinaryOp::Div, 1, 0, EvalError::DivisionByZero);
    check_error(BinaryOp::Rem, 1, 0, EvalError::DivisionByZero);
    check_error(BinaryOp::Div, 1, decimal("0.0"), EvalError::DivisionByZero);
}

#[test]
fn decimals_are_not_floats_and_mix_with_integers() {
    check(
        BinaryOp::Add,
        decimal("0.1"),
        decimal("0.2"),
        decimal("0.3"),
    );
    check(BinaryOp::Mul, decimal("1.5"), 2, decimal("3.0"));
    check(BinaryOp::Sub, 1, decimal("0.9"), decimal("0.1"));
    check(BinaryOp::Div, decimal("1"), 4, decimal("0.25"));
    check(BinaryOp::Rem, decimal("5.5"), 2, decimal("1.5"));
    check(BinaryOp::Eq, 2, decimal("2.00"), true);
    check(BinaryOp::Lt, 2, decimal("2.01"), true);
    check(BinaryOp::Ge, decimal("2.01"), 2, true);
    let huge = decimal("79228162514264337593543950335");
    check_error(BinaryOp::Mul, huge.clone(), huge, EvalError::Overflow);
    let third = decimal("0.3333333333333333333333333333");
    check(BinaryOp::Div, decimal("1"), 3, third.clone());
    check_error(BinaryOp::Mul, third.clone(), third, EvalError::Inexact);
    let large = decimal("7922816251426433759354395033.5");
    check_error(
        BinaryOp::Add,
        large.clone(),
        decimal("0.1"),
        EvalError::Inexact,
    );
    check_error(BinaryOp::Sub, large, decimal("0.01"), EvalError::Inexact);
}

#[test]
fn numbers_of_both_kinds_are_decimals_together() {
    let smaller = Expr::binary(BinaryOp::Min, Expr::int(3), Expr::Const(decimal("4.5")));
    let half = Expr::binary(BinaryOp::Div, smaller, Expr::int(2));
    assert_eq!(eval(&half), Ok(decimal("1.5")));
    let decimals = |numbers: &[&str]| Value::Array(numbers.iter().map(|n| decimal(n)).collect());
    check(BinaryOp::Eq, array(&[3]), decimals(&["3.00"]), true);
    check(BinaryOp::Ne, array(&[3, 4]), decimals(&["3.00"]), true);
    let fields = |value: Value| Value::Struct(StructId(0), Arc::from([value]));
    check(BinaryOp::Eq, fields(3.into()), fields(decimal("3")), true);
}

#[test]
fn work_without_an_end_is_cut_off_by_the_budget() {
    let grow = |value: Expr| {
        let call = || Expr::Call(FunctionId(0), vec![value.clone()]);
        Expr::binary(BinaryOp::Add, call(), call())
    };
    let done = Expr::binary(BinaryOp::Le, Expr::Local(0), Expr::int(0));
    let less = Expr::binary(BinaryOp::Sub, Expr::Local(0), Expr::int(1));
    let functions = [Function {
        name: "f".to_owned(),
        parameters: vec![("n".to_owned(), Type::INTEGER)],
        result: Type::INTEGER,
        body: Expr::If(Box::new([done, Expr::int(1), grow(less)])),
    }];
    let at = |number: i64| {
        Expr::Call(FunctionId(0), vec![Expr::int(number)]).eval(Env {
            variables: &[],
            parameters: &[],
            functions: &functions,
        })
    };
    assert_eq!(at(10), Ok(Value::Int(1024)));
    let steps = at(50);
    assert!(
        matches!(&steps, Err(EvalError::Exhausted(e)) if e.resource == Resource::Steps),
        "{steps:?}"
    );
    // A value that doubles.
    let mut doubled = Expr::Const(Value::str("0123456789abcdef"));
    for _ in 0..12 {
        doubled = Expr::binary(BinaryOp::Add, doubled.clone(), doubled);
    }
    let small = Budget {
        bytes: 1024,
        ..Budget::default()
    };
    let env = Env {
        variables: &[],
        parameters: &[],
        functions: &[],
    };
    let (result, _) = doubled.eval_within(env, &small);
    let limit = Exhausted {
        resource: Resource::Bytes,
        limit: 1024,
    };
    assert_eq!(result, Err(EvalError::Exhausted(limit)));
    assert!(doubled.eval(env).is_ok());
}

#[test]
fn nesting_is_cut_off_before_the_stack_ends() {
    let mut deep = Expr::int(1);
    let mut long = Expr::TRUE;
    for _ in 0..1200 {
        deep = Expr::binary(BinaryOp::Add, deep, Expr::int(1));
        long = Expr::binary(BinaryOp::And, long, Expr::TRUE);
    }
    let result = eval(&deep);
    assert!(
        matches!(&result, Err(EvalError::Exhausted(e)) if e.resource == Resource::Depth),
        "{result:?}"
    );
    // A long conjunction is not nested.
    assert_eq!(eval(&long), Ok(Value::Bool(true)));
}

#[test]
fn comparisons_order_numbers_texts_and_enum_members() {
    for (op, less, equal, more) in [
        (BinaryOp::Lt, true, false, false),
        (BinaryOp::Le, true, true, false),
        (BinaryOp::Gt, false, false, true),
        (BinaryOp::Ge, false, true, true),
        (BinaryOp::Eq, false, true, false),
        (BinaryOp::Ne, true, false, true),
    ] {
        let pairs = [
            (Value::Int(1), Value::Int(2)),
            (Value::str("a"), Value::str("b")),
            (enum_member(0), enum_member(1)),
            (decimal("1.1"), decimal("1.2")),
        ];
        for (small, large) in pairs {
            check(op, small.clone(), large.clone(), less);
            check(op, small.clone(), small.clone(), equal);
            check(op, large, small, more);
        }
    }
}

#[test]
fn equality_works_on_all_kinds_and_order_only_within_one() {
    check(BinaryOp::Eq, Value::Void, Value::Void, true);
    check(BinaryOp::Eq, Value::Void, 1, false);
    check(BinaryOp::Ne, true, 1, true);
    check(BinaryOp::Eq, array(&[1, 2]), array(&[1, 2]), true);
    check_error(BinaryOp::Lt, Value::Void, 1, EvalError::Kind("<", ":void"));
    check_error(BinaryOp::Lt, 1, Value::Void, EvalError::Kind("<", ":void"));
    check_error(BinaryOp::Ge, 1, "a", EvalError::Kind(">=", "a string"));
    check_error(BinaryOp::Gt, true, false, EvalError::Kind(">", "a boolean"));
    check_error(
        BinaryOp::Max,
        1,
        Value::Void,
        EvalError::Kind("max()", ":void"),
    );
    check_error(BinaryOp::Add, 1, Value::Void, EvalError::Kind("+", ":void"));
    check_error(BinaryOp::Sub, "a", 1, EvalError::Kind("-", "a string"));
    let other = Value::Enum(EnumId(1), 0);
    check_error(
        BinaryOp::Lt,
        enum_member(0),
        other,
        EvalError::Kind("<", "an enum member"),
    );
}

#[test]
fn texts_and_arrays_are_joined_measured_and_indexed() {
    check(BinaryOp::Add, "ab", "c", "abc");
    check(
        BinaryOp::Add,
        array(&[1]),
        array(&[2, 3]),
        array(&[1, 2, 3]),
    );
    check(BinaryOp::Index, array(&[4, 5]), 1, 5);
    check_error(
        BinaryOp::Index,
        array(&[4, 5]),
        2,
        EvalError::BadIndex(2, 2),
    );
    check_error(
        BinaryOp::Index,
        array(&[4, 5]),
        -1,
        EvalError::BadIndex(-1, 2),
    );
    check_error(
        BinaryOp::Index,
        array(&[4]),
        true,
        EvalError::Kind("an index", "a boolean"),
    );
    check_error(BinaryOp::Index, 4, 0, EvalError::Kind("[ ]", "an integer"));
    let unary = |op, value: Value| eval(&Expr::unary(op, Expr::Const(value)));
    assert_eq!(unary(UnaryOp::Length, array(&[4, 5])), Ok(Value::Int(2)));
    assert_eq!(unary(UnaryOp::Length, Value::str("Zoë")), Ok(Value::Int(3)));
    assert_eq!(unary(UnaryOp::Last, array(&[4, 5])), Ok(Value::Int(5)));
    assert_eq!(unary(UnaryOp::Last, array(&[])), Err(EvalError::Empty));
    assert_eq!(
        unary(UnaryOp::Last, Value::Int(1)),
        Err(EvalError::Kind("last()", "an integer"))
    );
    assert_eq!(
        unary(UnaryOp::Length, Value::Void),
        Err(EvalError::Kind("length()", ":void"))
    );
}

#[test]
fn signs_and_negation() {
    let unary = |op, value: Value| eval(&Expr::unary(op, Expr::Const(value)));
    assert_eq!(unary(UnaryOp::Neg, Value::Int(3)), Ok(Value::Int(-3)));
    assert_eq!(unary(UnaryOp::Neg, decimal("1.5")), Ok(decimal("-1.5")));
    assert_eq!(unary(UnaryOp::Abs, Value::Int(-3)), Ok(Value::Int(3)));
    assert_eq!(unary(UnaryOp::Abs, decimal("-1.5")), Ok(decimal("1.5")));
    assert_eq!(
        unary(UnaryOp::Not, Value::Bool(true)),
        Ok(Value::Bool(false))
    );
    assert_eq!(
        unary(UnaryOp::Neg, Value::Int(i64::MIN)),
        Err(EvalError::Overflow)
    );
    assert_eq!(
        unary(UnaryOp::Abs, Value::Int(i64::MIN)),
        Err(EvalError::Overflow)
    );
    assert_eq!(
        unary(UnaryOp::Neg, Value::Void),
        Err(EvalError::Kind("-", ":void"))
    );
    assert_eq!(
        unary(UnaryOp::Abs, Value::Bool(true)),
        Err(EvalError::Kind("abs()", "a boolean"))
    );
    assert_eq!(
        unary(UnaryOp::Not, Value::Int(1)),
        Err(EvalError::Kind("a condition", "an integer"))
    );
}

#[test]
fn a_decided_condition_does_not_look_to_its_right() {
    let error = || {
        let quotient = Expr::binary(BinaryOp::Div, Expr::int(1), Expr::int(0));
        Expr::binary(BinaryOp::Eq, quotient, Expr::int(1))
    };
    let both = |op, left, right| eval(&Expr::binary(op, left, right));
    assert_eq!(
        both(BinaryOp::And, Expr::FALSE, error()),
        Ok(Value::Bool(false))
    );
    assert_eq!(
        both(BinaryOp::Or, Expr::TRUE, error()),
        Ok(Value::Bool(true))
    );
    assert_eq!(
        both(BinaryOp::And, Expr::TRUE, error()),
        Err(EvalError::DivisionByZero)
    );
    assert_eq!(
        both(BinaryOp::Or, error(), Expr::TRUE),
        Err(EvalError::DivisionByZero)
    );
    let choose = |condition| eval(&Expr::If(Box::new([condition, Expr::int(1), error()])));
    assert_eq!(choose(Expr::TRUE), Ok(Value::Int(1)));
    assert_eq!(choose(Expr::FALSE), Err(EvalError::DivisionByZero));
}

#[test]
fn membership_in_lists_and_ranges() {
    let items = || {
        vec![
            Expr::int(1),
            constant(decimal("2.0")),
            constant(Value::Void),
        ]
    };
    let in_set = |value: Value| eval(&Expr::InSet(Box::new(Expr::Const(value)), items()));
    assert_eq!(in_set(Value::Int(2)), Ok(Value::Bool(true)));
    assert_eq!(in_set(Value::Void), Ok(Value::Bool(true)));
    assert_eq!(in_set(Value::Int(3)), Ok(Value::Bool(false)));
    let in_range = |value: Value| {
        eval(&Expr::InRange(Box::new([
            Expr::Const(value),
            Expr::int(1),
            Expr::int(3),
        ])))
    };
    for (value, expected) in [(0, false), (1, true), (3, true), (4, false)] {
        assert_eq!(in_range(Value::Int(value)), Ok(Value::Bool(expected)));
    }
    assert_eq!(in_range(decimal("3.1")), Ok(Value::Bool(false)));
    assert_eq!(in_range(Value::Void), Err(EvalError::Kind("in", ":void")));
}

#[test]
fn variables_parameters_fields_patterns_and_functions() {
    assert_eq!(eval(&Expr::Var(VarId(0))), Ok(Value::Int(7)));
    assert_eq!(eval(&Expr::Var(VarId(1))), Ok(Value::Void));
    assert_eq!(eval(&Expr::Param(0)), Ok(Value::Bool(true)));
    assert_eq!(
        eval(&Expr::Param(5)),
        Ok(Value::Void),
        "a parameter that is not given is unset"
    );
    let fields: Arc<[Value]> = Arc::from([Value::Int(1), Value::Int(2)]);
    let structure = Expr::Const(Value::Struct(StructId(0), fields));
    assert_eq!(
        eval(&Expr::Field(Box::new(structure), 1)),
        Ok(Value::Int(2))
    );
    let wrong = Expr::Field(Box::new(Expr::int(1)), 0);
    assert_eq!(eval(&wrong), Err(EvalError::Kind("a field", "an integer")));
    let pattern = Pattern::new("b+").unwrap();
    let matches = |value: Value| {
        eval(&Expr::Matches(
            Box::new(Expr::Const(value)),
            pattern.clone(),
        ))
    };
    assert_eq!(matches(Value::str("abba")), Ok(Value::Bool(true)));
    assert_eq!(matches(Value::str("aa")), Ok(Value::Bool(false)));
    assert_eq!(
        matches(Value::Int(1)),
        Err(EvalError::Kind("=~", "an integer"))
    );
    let call = |function| eval(&Expr::Call(FunctionId(function), vec![Expr::int(21)]));
    assert_eq!(call(0), Ok(Value::Int(42)));
    let too_deep = Exhausted {
        resource: Resource::Depth,
        limit: Budget::default().depth,
    };
    assert_eq!(call(1), Err(EvalError::Exhausted(too_deep)));
    assert_eq!(
        call(2),
        Err(EvalError::Kind("a call", "an unknown function"))
    );
    let made = Expr::Array(vec![Expr::int(1), Expr::Var(VarId(0))]);
    assert_eq!(eval(&made), Ok(array(&[1, 7])));
}

#[test]
fn a_guard_without_a_truth_value_does_not_hold() {
    let env = Env {
        variables: &[],
        parameters: &[],
        functions: &[],
    };
    assert_eq!(Expr::TRUE.holds(env), Ok(true));
    assert_eq!(
        Expr::int(1).holds(env),
        Err(EvalError::Kind("a condition", "an integer"))
    );
    let void = Expr::Const(Value::Void);
    assert_eq!(
        void.holds(env),
        Err(EvalError::Kind("a condition", ":void"))
    );
}

proptest! {
    /// Against arithmetic wide enough for every result.
    #[test]
    fn integer_arithmetic_is_that_of_wide_integers(left in any::<i64>(), right in any::<i64>()) {
        let (a, b) = (i128::from(left), i128::from(right));
        for (op, wide) in [
            (BinaryOp::Add, Some(a + b)),
            (BinaryOp::Sub, Some(a - b)),
            (BinaryOp::Mul, Some(a * b)),
            (BinaryOp::Div, (b != 0).then(|| a / b)),
        ] {
            let result = eval(&Expr::binary(op, Expr::int(left), Expr::int(right)));
            let expected = match wide {
                None => Err(EvalError::DivisionByZero),
                Some(wide) => i64::try_from(wide).map(Value::Int).map_err(|_| EvalError::Overflow),
            };
            prop_assert_eq!(result, expected);
        }
    }

    #[test]
    fn exactly_one_of_less_equal_and_greater_holds(left in -3..3i64, right in any::<i8>()) {
        let right = decimal(&format!("{}.{}", right / 10, (right % 10).abs()));
        let holds = |op| {
            eval(&Expr::binary(op, Expr::int(left), Expr::Const(right.clone()))) == Ok(Value::Bool(true))
        };
        let count = [BinaryOp::Lt, BinaryOp::Eq, BinaryOp::Gt].into_iter().filter(|op| holds(*op)).count();
        prop_assert_eq!(count, 1);
        prop_assert_eq!(holds(BinaryOp::Le), !holds(BinaryOp::Gt));
        prop_assert_eq!(holds(BinaryOp::Ge), !holds(BinaryOp::Lt));
        prop_assert_eq!(holds(BinaryOp::Ne), !holds(BinaryOp::Eq));
    }
}

#[test]
fn conjuncts_come_from_left_to_right_however_they_are_nested() {
    let var = |number| Expr::Var(VarId(number));
    let and = |left, right| Expr::binary(BinaryOp::And, left, right);
    let or = Expr::binary(BinaryOp::Or, and(var(4), var(5)), var(6));
    let guard = and(and(var(0), and(var(1), var(2))), and(or.clone(), var(3)));
    let parts = [var(0), var(1), var(2), or, var(3)];
    assert_eq!(guard.conjuncts(), parts.iter().collect::<Vec<_>>());
    assert_eq!(var(0).conjuncts(), [&var(0)]);
}

#[test]
fn substitution_replaces_the_outermost_part_and_not_what_it_is_replaced_by() {
    let sum = Expr::binary(BinaryOp::Add, Expr::Var(VarId(0)), Expr::Param(0));
    // A swap: what comes in is not replaced again.
    let swapped = sum.substitute(&|part| match part {
        Expr::Var(VarId(number)) => Some(Expr::Param(*number)),
        Expr::Param(position) => Some(Expr::Var(VarId(*position))),
        _ => None,
    });
    let expected = Expr::binary(BinaryOp::Add, Expr::Param(0), Expr::Var(VarId(0)));
    assert_eq!(swapped, expected);
    let known = sum.with_values(&[Value::Int(3)]);
    let expected = Expr::binary(BinaryOp::Add, Expr::int(3), Expr::Param(0));
    assert_eq!(known, expected);
}

/// What an update demands is listed with its reason, and what it merely stores decides nothing.
#[test]
fn an_update_demands_that_its_values_exist_and_fit() {
    use Demanded::{Exists, Fits, InRange};
    let small = IntRange { min: 0, max: 9 };
    let digits = Type::Array(Box::new(Type::Int(small)));
    let numbers = Type::Array(Box::new(Type::INTEGER));
    let sum = |left: Expr| Expr::binary(BinaryOp::Add, left, Expr::int(1));
    let (var, param) = (|v: u32| Expr::Var(VarId(v)), Expr::Param);
    // Variables: a digit, an integer, digits. Parameters: an integer, integers.
    for (variable, value, expected, deciding) in [
        (0, Expr::int(9), None, vec![]),
        (0, Expr::int(10), Some(InRange(small)), vec![]),
        (0, param(0), Some(InRange(small)), vec![]),
        (0, sum(param(0)), Some(InRange(small)), vec![0]),
        (0, sum(var(1)), Some(InRange(small)), vec![]),
        (1, param(0), None, vec![]),
        (1, sum(param(0)), Some(Exists), vec![0]),
        (1, var(0), Some(Exists), vec![]),
        (2, var(2), None, vec![]),
        (2, param(1), Some(Fits), vec![]),
        (2, Expr::Array(vec![param(0)]), Some(Fits), vec![0]),
    ] {
        let mut builder = StsBuilder::new("demands");
        let place = Place::default();
        let parameters = [("n", Type::INTEGER), ("ns", numbers.clone())];
        let label = builder.label(Label {
            name: "put".to_owned(),
            channel: String::new(),
            direction: Direction::Stimulus,
            parameters: { parameters.into_iter() }
                .map(|(name, ty)| Parameter {
                    name: name.to_owned(),
                    ty,
                })
                .collect(),
        });
        let process = builder.process("p");
        for (name, ty) in [
            ("digit", Type::Int(small)),
            ("number", Type::INTEGER),
            ("digits", digits.clone()),
        ] {
            builder.variable(Variable {
                name: name.to_owned(),
                process,
                ty,
                initial: Value::Void,
                place,
            });
        }
        let here = builder.named_location(process, "here");
        let variable = VarId(variable);
        let update = vec![Assignment { variable, value }];
        let gate = Gate::Observable(label);
        let id = builder.switch(here, gate, Expr::TRUE, update.clone(), here, place);
        let sts = builder.build();
        let switch = sts.switch(id);
        let of_kind = |kind: Demanded| switch.requires.iter().any(|d| d.demanded == kind);
        assert!(
            expected.is_none_or(of_kind),
            "{update:?}: {:?}",
            switch.requires
        );
        assert_eq!(switch.requires.is_empty(), expected.is_none(), "{update:?}");
        assert!(
            switch
                .requires
                .iter()
                .all(|d| d.subject == Subject::Variable(variable))
        );
        let found: Vec<u32> = switch.deciding_parameters().into_iter().collect();
        assert_eq!(found, deciding, "{update:?}");
        // Together with the guard they are what enables the switch.
        let conditions = switch.requires.iter().map(|d| d.condition.clone());
        assert_eq!(
            Expr::all(conditions.collect()),
            switch.enabled,
            "{update:?}"
        );
    }
}
