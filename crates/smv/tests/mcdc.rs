//! MC/DC goals come in pairs: in both tests of a pair the condition decides the guard, with different outcomes.

use ioco_smv::explicit::{Limits, reachable};
use ioco_smv::{Criterion, GoalOptions, Model, load};
use proptest::prelude::*;

/// A model in which all variables are free and the guard is the only decision.
fn model(guard: &str) -> Model {
    let text = format!(
        "MODULE main VAR a : boolean; b : boolean; c : boolean; d : boolean; out : boolean;\n\
         ASSIGN init(out) := case {guard} : TRUE; TRUE : FALSE; esac;"
    );
    let (model, diagnostics) = load(&text, "m.smv");
    model.unwrap_or_else(|| panic!("{diagnostics:?}"))
}

fn goals(guard: &str) -> Vec<String> {
    let goals = model(guard).goals(&[Criterion::Mcdc], &GoalOptions::default());
    goals.into_iter().map(|goal| goal.text).collect()
}

#[test]
fn every_occurrence_of_a_condition_is_unmasked() {
    assert_eq!(goals("a"), ["a", "!a"]);
    assert_eq!(goals("a & b"), ["a & b", "!a & b", "b & a", "!b & a"]);
    assert_eq!(goals("a -> b"), ["a & !b", "!a & !b", "b & a", "!b & a"]);
    let twice = goals("a & b | a & c");
    assert_eq!(twice.len(), 8, "{twice:?}");
}

#[test]
fn under_xor_the_other_side_has_the_same_value_in_both_tests() {
    assert_eq!(goals("a xor b"), ["a & !b", "!a & !b", "b & !a", "!b & !a"]);
    assert_eq!(goals("a <-> b"), ["a & b", "!a & b", "b & a", "!b & a"]);
}

fn guard() -> impl Strategy<Value = String> {
    let variable = prop::sample::select(vec!["a", "b", "c", "d"]).prop_map(str::to_owned);
    variable.prop_recursive(4, 12, 2, |inner| {
        let operator = prop::sample::select(vec!["&", "|", "->", "xor", "xnor", "<->"]);
        prop_oneof![
            inner.clone().prop_map(|inner| format!("!({inner})")),
            (inner.clone(), operator, inner)
                .prop_map(|(left, operator, right)| format!("(({left}) {operator} ({right}))")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn the_tests_of_a_pair_have_different_outcomes(guard in guard()) {
        let mut model = model(&guard);
        let reach = reachable(&model, Limits::default()).expect("32 states");
        let mut outcomes = |goal: &str| -> Vec<bool> {
            let mut possible = |outcome: &bool| {
                let negated = if *outcome { "" } else { "!" };
                let asked = format!("({goal}) & {negated}({guard})");
                let asked = model.user_goal(&asked).expect("a goal");
                reach.distance(&model, asked.expr, asked.transition).is_some()
            };
            [true, false].into_iter().filter(|outcome| possible(outcome)).collect()
        };
        for pair in goals(&guard).chunks(2) {
            let (yes, no) = (outcomes(&pair[0]), outcomes(&pair[1]));
            prop_assert!(yes.len() <= 1 && no.len() <= 1, "{pair:?}");
            prop_assert!(yes.is_empty() || yes != no, "{pair:?}");
        }
    }
}
