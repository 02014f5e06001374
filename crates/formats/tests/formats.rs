//! Files keep what they are given, and what is wrong with a file is said.

mod common;

use common::everything::everything;
use common::models::{Model, model};
use ioco_formats::graphwalker::{self, GraphWalkerOptions};
use ioco_formats::{LabelMap, aut, dot, json, mermaid, svg};
use ioco_sts::{
    BinaryOp, CompareOptions, Equivalence, Expr, Gate, Place, Relation, Sts, StsBuilder, UnaryOp,
    VarId, compare, flatten, reduce,
};
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

/// Every format that can hold the system gives it back.
fn check_round_trips(sts: &Sts) {
    let options = dot::MealyOptions::default();
    assert_eq!(json::read(&json::write(sts)).as_ref(), Ok(sts));
    assert_eq!(dot::read("t", &dot::write(sts), &options).as_ref(), Ok(sts));
    let text = mermaid::write(sts);
    assert_eq!(mermaid::read("t", &text, &options).as_ref(), Ok(sts));
    let picture = svg::embed("<svg>\n</svg>\n", sts);
    assert_eq!(svg::read(&picture).as_ref(), Ok(sts));
    if let Ok(text) = graphwalker::write(sts) {
        assert!(graphwalker::looks_like(&text));
        let again = graphwalker::read("t", &text, &GraphWalkerOptions::default());
        assert_eq!(again.as_ref(), Ok(sts));
    }
}

#[test]
fn every_form_that_can_hold_it_gives_everything_back() {
    check_round_trips(&everything());
}

#[test]
fn what_a_form_cannot_hold_is_refused_with_a_word() {
    let sts = everything();
    let error = graphwalker::write(&sts).unwrap_err();
    assert!(error.message.contains("side by side"), "{error}");
    let error = aut::write(&sts).unwrap_err();
    assert!(error.message.contains("flatten it first"), "{error}");
    let error = svg::read("<svg></svg>").unwrap_err();
    assert!(error.message.contains("carries no model"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_form_keeps_every_system(Model(sts) in model()) {
        check_round_trips(&sts);
        let flat = reduce(&flatten(&sts, 2000).unwrap()).sts;
        check_round_trips(&flat);
        // Without data there is nothing that GraphWalker could not have.
        prop_assert!(graphwalker::write(&flat).is_ok());
    }

    #[test]
    fn aut_keeps_every_plain_system(Model(sts) in model()) {
        let flat = flatten(&sts, 2000).unwrap();
        let text = aut::write(&flat).unwrap();
        let again = aut::read("t", &text, &LabelMap::default()).unwrap();
        prop_assert_eq!(aut::write(&again).unwrap(), text);
        let options = CompareOptions {
            equivalence: Equivalence::Strong,
            relation: Relation::Ioco,
            limit: 100_000,
        };
        prop_assert!(compare(&flat, &again, options).unwrap().bisimilar);
    }

    /// Any one place of a good file overwritten, cut out or doubled: it still reads, or there is an
    /// error.
    #[test]
    fn a_damaged_file_never_crashes(
        Model(sts) in model(),
        form in 0..6usize,
        position in any::<prop::sample::Index>(),
        length in 0..40usize,
        new in prop::sample::select(vec!["", "0", "99", "{", "]", "\"", "->", " : ", "é", "null", "-"]),
    ) {
        let flat = flatten(&sts, 2000).unwrap();
        let text = match form {
            0 => json::write(&sts),
            1 => dot::write(&sts),
            2 => mermaid::write(&sts),
            3 => svg::embed("<svg></svg>", &sts),
            4 => graphwalker::write(&flat).unwrap(),
            _ => aut::write(&flat).unwrap(),
        };
        let characters: Vec<char> = text.chars().collect();
        let at = position.index(characters.len());
        let end = (at + length).min(characters.len());
        let before: String = characters[..at].iter().collect();
        let after: String = characters[end..].iter().collect();
        let damaged = format!("{before}{new}{after}");
        let options = dot::MealyOptions::default();
        let read = match form {
            0 => json::read(&damaged),
            1 => dot::read("t", &damaged, &options),
            2 => mermaid::read("t", &damaged, &options),
            3 => svg::read(&damaged),
            4 => graphwalker::read("t", &damaged, &GraphWalkerOptions::default()),
            _ => aut::read("t", &damaged, &LabelMap::default()),
        };
        if let Ok(sts) = read {
            // What was read makes sense: it can be written and explored.
            prop_assert_eq!(json::read(&json::write(&sts)), Ok(sts));
        }
    }

    #[test]
    fn text_that_is_not_a_system_is_an_error_and_never_a_crash(text in any::<String>()) {
        prop_assert!(json::read(&text).is_err());
        prop_assert!(dot::read("t", &text, &dot::MealyOptions::default()).is_err());
        prop_assert!(aut::read("t", &text, &LabelMap::default()).is_err());
        prop_assert!(mermaid::read("t", &text, &dot::MealyOptions::default()).is_err());
        prop_assert!(graphwalker::read("t", &text, &GraphWalkerOptions::default()).is_err());
        prop_assert!(svg::read(&text).is_err());
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
    // Errors in an item of a list name its line.
    if error.message.contains("]: ") {
        let line = text.lines().position(|line| line.contains(from)).unwrap() as u32 + 1;
        assert_eq!(error.line, line, "{error}");
    }
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
        assert_eq!(ioco_sts::show_expr(&sts, None, &expr), text);
    }
}
