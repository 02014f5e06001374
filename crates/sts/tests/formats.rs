//! Files keep what they are given, and what is wrong with a file is said.

mod common;

use common::everything::everything;
use common::models::{Model, model};
use ioco_sts::format::{dot, json, mermaid};
use ioco_sts::{BinaryOp, Expr, Gate, Place, StsBuilder, UnaryOp, VarId, flatten, format, reduce};
use proptest::prelude::*;

#[test]
fn json_keeps_everything() {
    let sts = everything();
    let text = json::write(&sts);
    assert_eq!(json::read(&text), Ok(sts));
    insta::assert_snapshot!(text);
}

#[test]
fn dot_and_mermaid_show_guards_updates_and_processes() {
    insta::assert_snapshot!("everything.dot", dot::write(&everything()));
    insta::assert_snapshot!("everything.mmd", mermaid::write(&everything()));
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn json_keeps_every_system(Model(sts) in model()) {
        prop_assert_eq!(json::read(&json::write(&sts)), Ok(sts.clone()));
        let flat = reduce(&flatten(&sts, 2000).unwrap()).sts;
        prop_assert_eq!(json::read(&json::write(&flat)), Ok(flat));
    }

    #[test]
    fn aut_keeps_every_plain_system(Model(sts) in model()) {
        let flat = flatten(&sts, 2000).unwrap();
        let text = format::aut::write(&flat).unwrap();
        let again = format::aut::read("t", &text, &format::LabelMap::default()).unwrap();
        prop_assert_eq!(format::aut::write(&again).unwrap(), text);
    }

    #[test]
    fn text_that_is_not_a_system_is_an_error_and_never_a_crash(text in any::<String>()) {
        prop_assert!(json::read(&text).is_err());
        prop_assert!(dot::read("t", &text, &dot::MealyOptions::default()).is_err());
        prop_assert!(format::aut::read("t", &text, &format::LabelMap::default()).is_err());
    }

    /// One number of a good file changed: either it still reads, or there is an error.
    #[test]
    fn a_file_with_a_wrong_number_never_crashes(position in any::<prop::sample::Index>(), new in 0..20u32) {
        let text = json::write(&everything());
        let digits: Vec<usize> = text
            .char_indices()
            .filter(|(_, c)| c.is_ascii_digit())
            .map(|(at, _)| at)
            .collect();
        let at = *position.get(&digits);
        let changed = format!("{}{new}{}", &text[..at], &text[at + 1..]);
        if let Ok(sts) = json::read(&changed) {
            prop_assert_eq!(json::read(&json::write(&sts)), Ok(sts));
        }
    }
}

fn check_json_error(from: &str, to: &str, part: &str) {
    let text = json::write(&everything());
    assert!(text.contains(from), "{from}");
    let error = json::read(&text.replacen(from, to, 1)).unwrap_err();
    assert!(error.message.contains(part), "{error}");
}

#[test]
fn what_is_wrong_with_a_json_file_is_said() {
    check_json_error("ioco-sts", "other", "the format is \"other\"");
    check_json_error("\"version\": 1", "\"version\": 2", "version 2");
    check_json_error(
        "\"timeout\": 123456789",
        "\"time\": 1",
        "unknown field `time`",
    );
    check_json_error(
        "\"target\": 0",
        "\"target\": 77",
        "switches[0]: there is no location 77",
    );
    check_json_error("\"target\": 0", "\"target\": 2", "of another process");
    check_json_error(
        "\"observable\": 0",
        "\"observable\": 2",
        "pass is not observable",
    );
    check_json_error("\"send\": 2", "\"send\": 0", "order is not a hand-shake");
    check_json_error(
        "\"param\": 1",
        "\"param\": 7",
        "there is no parameter 7 here",
    );
    check_json_error(
        "\"local\": 0",
        "\"local\": 1",
        "functions[0]: there is no argument 1",
    );
    check_json_error(
        "\"-1.50\"",
        "\"-1.5.0\"",
        "variables[1]: \"-1.5.0\" is not a decimal",
    );
    check_json_error(
        "\"initial\": \"void\"",
        "\"initial\": {\"int\": 3}",
        "does not fit",
    );
    check_json_error("\"lt\"", "\"not\"", "operands that no operator takes");
    check_json_error(
        "\"in_range\"",
        "\"if\", \"if\"",
        "lacks some of its 3 operands",
    );
    check_json_error("^a/b+$", "a(", "not a regular expression");
    check_json_error("\"initial\": 1", "\"initial\": 2", "is one of process 1");
    let cut = json::write(&everything());
    let error = json::read(&cut[..cut.len() / 2]).unwrap_err();
    assert!(error.line > 1, "{error}");
}

#[test]
fn a_long_guard_is_kept_and_an_endless_one_refused() {
    let guard = |count: usize| {
        let mut builder = StsBuilder::new("long");
        let process = builder.process("p");
        let here = builder.named_location(process, "l");
        let guard = (0..count).fold(Expr::FALSE, |left, _| {
            Expr::binary(BinaryOp::Or, left, Expr::TRUE)
        });
        builder.switch(here, Gate::Tau, guard, Vec::new(), here, Place::default());
        builder.build()
    };
    let long = guard(390);
    assert_eq!(json::read(&json::write(&long)), Ok(long));
    let error = json::read(&json::write(&guard(410))).unwrap_err();
    assert!(error.message.contains("nested deeper"), "{error}");
}

#[test]
fn parentheses_stand_exactly_where_they_are_needed() {
    let sts = everything();
    let number = || Expr::Var(VarId(0));
    let binary = Expr::binary;
    let sum = || binary(BinaryOp::Add, number(), Expr::int(1));
    let less = || binary(BinaryOp::Lt, sum(), Expr::int(2));
    for (expr, text) in [
        (
            binary(BinaryOp::Mul, sum(), sum()),
            "(total + 1) * (total + 1)",
        ),
        (
            binary(BinaryOp::Sub, sum(), sum()),
            "total + 1 - (total + 1)",
        ),
        (
            binary(BinaryOp::And, less(), less()),
            "total + 1 < 2 && total + 1 < 2",
        ),
        (
            binary(BinaryOp::And, binary(BinaryOp::Or, less(), less()), less()),
            "(total + 1 < 2 || total + 1 < 2) && total + 1 < 2",
        ),
        (Expr::unary(UnaryOp::Not, less()), "!(total + 1 < 2)"),
        (Expr::unary(UnaryOp::Neg, sum()), "-(total + 1)"),
        (
            binary(BinaryOp::Eq, less(), less()),
            "(total + 1 < 2) == (total + 1 < 2)",
        ),
        (
            binary(BinaryOp::Min, sum(), number()),
            "min(total + 1, total)",
        ),
        (
            Expr::If(Box::new([less(), number(), sum()])),
            "if total + 1 < 2 then total else total + 1",
        ),
    ] {
        assert_eq!(format::show_expr(&sts, None, &expr), text);
    }
}
