//! The meaning of models against brute force, on random models.

mod common;

use std::collections::BTreeSet;
use std::sync::Arc;

use common::models::{Model, model};
use common::reference::{self, ByEnumeration, States};
use ioco_sts::{
    Action, Answer, BinaryOp, Direction, Env, Expr, LabelId, Relation, Semantics, SetId, Step, Sts,
};
use proptest::prelude::*;

fn states(semantics: &Semantics, set: SetId) -> States {
    semantics.set(set).states.iter().cloned().collect()
}

/// Every step of the model's alphabet, with every value.
fn all_steps(sts: &Sts) -> Vec<Step> {
    let stimuli = reference::actions(sts, Direction::Stimulus);
    let responses = reference::actions(sts, Direction::Response);
    let mut steps: Vec<Step> = stimuli.into_iter().map(Step::Stimulus).collect();
    steps.extend(responses.into_iter().map(Step::Response));
    steps.push(Step::Quiescence);
    steps
}

/// What a state set offers, with the reference's answers beside it.
fn check_set(semantics: &mut Semantics, set: SetId, expected: &States) {
    let sts = Arc::clone(semantics.sts());
    let shared = Arc::clone(semantics.set(set));
    assert_eq!(states(semantics, set), *expected, "states");
    assert!(!shared.truncated);
    let cycle = expected
        .iter()
        .any(|state| reference::is_on_internal_cycle(&sts, state));
    assert_eq!(shared.divergent, cycle, "divergence");

    let menu = semantics.menu(set);
    for (state, answer) in shared.states.iter().zip(&menu.quiescent) {
        let quiescent = reference::is_quiescent(&sts, state);
        let quiescent = if quiescent { Answer::Yes } else { Answer::No };
        assert_eq!(*answer, quiescent, "{} is quiescent", state.show(&sts));
    }
    let silence = !reference::after(&sts, expected, &Step::Quiescence).is_empty();
    assert_eq!(menu.silence, silence, "silence");

    let responses: BTreeSet<LabelId> = reference::actions(&sts, Direction::Response)
        .into_iter()
        .filter(|a| !reference::after(&sts, expected, &Step::Response(a.clone())).is_empty())
        .map(|a| a.label)
        .collect();
    let offered: BTreeSet<LabelId> = menu.responses.iter().map(|o| o.label).collect();
    assert_eq!(offered, responses, "responses");

    for stimulus in reference::actions(&sts, Direction::Stimulus) {
        let accepted = match semantics.relation() {
            Relation::Ioco => reference::accepted_ioco(&sts, expected, &stimulus),
            Relation::Uioco => reference::accepted_uioco(&sts, expected, &stimulus),
        };
        let shown = stimulus.show(&sts);
        assert_eq!(semantics.accepts(set, &stimulus), accepted, "{shown}");
        let offer = menu.stimuli.iter().find(|o| o.label == stimulus.label);
        assert!(offer.is_some() || !accepted, "{shown} is not on the menu");
        if let Some(offer) = offer {
            let condition = semantics.offer_condition(set, offer);
            let env = Env {
                variables: &[],
                parameters: &stimulus.values,
                functions: sts.functions(),
            };
            let holds = condition.holds(env) == Ok(true);
            assert!(!holds || accepted, "condition {condition:?} of {shown}");
            let some_way = holds_some_way(&condition, env);
            assert!(some_way || !accepted, "condition {condition:?} of {shown}");
        }
    }
}

/// As evaluation, but an alternative without a value does not hide the ones to its right.
fn holds_some_way(condition: &Expr, env: Env<'_>) -> bool {
    match condition {
        Expr::Binary(BinaryOp::Or, both) => both.iter().any(|e| holds_some_way(e, env)),
        Expr::Binary(BinaryOp::And, both) => both.iter().all(|e| holds_some_way(e, env)),
        _ => condition.holds(env) == Ok(true),
    }
}

/// Walks every trace up to a depth, each pair of sets once.
fn compare(sts: Sts, relation: Relation, depth: usize) {
    let sts = Arc::new(sts);
    let mut semantics = Semantics::new(Arc::clone(&sts), Box::new(ByEnumeration), relation);
    let steps = all_steps(&sts);
    let mut level = vec![(semantics.initial(), reference::initial(&sts))];
    let mut seen: BTreeSet<SetId> = BTreeSet::from([semantics.initial()]);
    for _ in 0..=depth {
        let mut next = Vec::new();
        for (set, expected) in level {
            check_set(&mut semantics, set, &expected);
            for step in &steps {
                let reached = reference::after(&sts, &expected, step);
                let followed = semantics.follow(set, step);
                let shown = step.show(&sts);
                assert_eq!(followed.is_some(), !reached.is_empty(), "{shown}");
                let Some(followed) = followed else { continue };
                assert_eq!(states(&semantics, followed.set), reached, "{shown}");
                if seen.insert(followed.set) {
                    next.push((followed.set, reached));
                }
            }
        }
        level = next;
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn state_sets_and_what_they_offer_are_those_of_brute_force(Model(sts) in model()) {
        compare(sts, Relation::Ioco, 3);
    }

    #[test]
    fn under_uioco_a_stimulus_is_given_only_where_no_stable_state_refuses_it(Model(sts) in model()) {
        compare(sts, Relation::Uioco, 2);
    }

    /// What a tester may give is what leads somewhere.
    #[test]
    fn the_union_of_two_sets_allows_what_either_allows(Model(sts) in model()) {
        let sts = Arc::new(sts);
        let mut semantics =
            Semantics::new(Arc::clone(&sts), Box::new(ByEnumeration), Relation::Ioco);
        let start = semantics.initial();
        let steps = all_steps(&sts);
        let sets: Vec<SetId> = steps.iter().filter_map(|s| semantics.after(start, s)).collect();
        for pair in sets.windows(2) {
            let both = semantics.union(pair[0], pair[1]);
            let expected: States = &states(&semantics, pair[0]) | &states(&semantics, pair[1]);
            prop_assert_eq!(states(&semantics, both), expected.clone());
            for step in &steps {
                let followed = semantics.after(both, step);
                let reached = reference::after(&sts, &expected, step);
                let found = followed.map(|set| states(&semantics, set)).unwrap_or_default();
                prop_assert_eq!(found, reached);
            }
        }
    }
}

#[test]
fn values_that_do_not_fit_their_parameter_are_not_accepted() {
    let mut builder = ioco_sts::StsBuilder::new("t");
    let label = builder.label(ioco_sts::Label {
        name: "put".to_owned(),
        channel: "c".to_owned(),
        direction: Direction::Stimulus,
        parameters: vec![ioco_sts::Parameter {
            name: "amount".to_owned(),
            ty: ioco_sts::Type::Bool,
        }],
    });
    let process = builder.process("p");
    let here = builder.named_location(process, "l");
    let gate = ioco_sts::Gate::Observable(label);
    builder.switch(
        here,
        gate,
        ioco_sts::Expr::TRUE,
        vec![],
        here,
        Default::default(),
    );
    let sts = Arc::new(builder.build());
    let mut semantics = Semantics::new(sts, Box::new(ByEnumeration), Relation::Ioco);
    let start = semantics.initial();
    let mut accepts =
        |values: Vec<ioco_sts::Value>| semantics.accepts(start, &Action { label, values });
    assert!(accepts(vec![true.into()]));
    assert!(accepts(vec![]));
    assert!(!accepts(vec![1.into()]));
    assert!(!accepts(vec![true.into(), true.into()]));
}
