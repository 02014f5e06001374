//! Values along traces, against all values of explicit enumeration.

#[path = "../../sts/tests/common/mod.rs"]
mod common;
mod explicit;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use common::models::{Model, model};
use explicit::{initial, taken_with};
use ioco_generate::data::{
    Data, DataLimits, DataPlan, Proof, ValueVerdict, WantedValues, plan, test_covers,
};
use ioco_generate::{Confirm, Extent, Walk, moves_from};
use ioco_solve::{Embedded, GuardSolver};
use ioco_sts::{Env, Relation, Semantics, State, Sts, SwitchId, Value};
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

fn planned(sts: &Sts, data: Data, length: u32) -> DataPlan {
    let solver = Embedded::new(sts.types(), sts.functions());
    let extent = Extent {
        silent: 8,
        ..Extent::of_length(length)
    };
    let mut walk = Walk::new(sts, extent, solver, ChaCha8Rng::seed_from_u64(5));
    let mut stop = || false;
    plan(&mut walk, data, &mut DataLimits { stop: &mut stop })
}

/// Every observable step within so many, with the state before it.
fn steps(sts: &Sts, length: u32) -> BTreeSet<(SwitchId, State, Vec<Value>)> {
    let start = (initial(sts), 0);
    let mut seen = BTreeSet::from([start.clone()]);
    let mut open = vec![start];
    let mut found = BTreeSet::new();
    while let Some((state, observed)) = open.pop() {
        for step in moves_from(sts, &state.locations) {
            if step.observable && observed == length {
                continue;
            }
            if step.observable {
                for values in taken_with(sts, &state, &step) {
                    found.insert((step.switches[0], state.clone(), values));
                }
            }
            for next in explicit::successors(sts, &state, &step) {
                let next = (next, observed + u32::from(step.observable));
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
    }
    found
}

fn check(
    sts: Sts,
    data: Data,
    length: u32,
    proved: &mut BTreeMap<bool, u32>,
) -> Result<(), TestCaseError> {
    let steps = steps(&sts, length);
    let plan = planned(&sts, data, length);
    let sts = Arc::new(sts);
    let semantics = Semantics::new(
        Arc::clone(&sts),
        Box::new(GuardSolver::new()),
        Relation::Ioco,
    );
    let mut confirm = Confirm::new(semantics);
    for test in &plan.tests {
        prop_assert_eq!(confirm.steps(test.path()), Ok(()));
        prop_assert!(test.actions().len() <= length as usize);
    }
    for (goal, verdict) in plan.goals.iter().zip(&plan.verdicts) {
        let shown = format!(
            "{} {}: {verdict:?}",
            sts.show_switch(goal.switch),
            goal.show(&sts)
        );
        let taken = steps.iter().filter(|(switch, ..)| *switch == goal.switch);
        if let ValueVerdict::Reached { test, .. } = verdict {
            prop_assert!(
                test_covers(&sts, goal, verdict, &plan.tests[*test]),
                "{shown}"
            );
        }
        match &goal.wanted {
            WantedValues::Least(position) | WantedValues::Greatest(position) => {
                let values = taken.map(|(_, _, values)| &values[*position as usize]);
                let values = values.filter(|value| !value.is_void());
                let best = match goal.wanted {
                    WantedValues::Least(_) => values.min(),
                    _ => values.max(),
                };
                match verdict {
                    ValueVerdict::Reached {
                        extreme: Some((value, proof)),
                        ..
                    } if *proof != Proof::Missing => {
                        prop_assert_eq!(Some(value), best, "{}", shown);
                    }
                    ValueVerdict::Unreachable(_) => prop_assert_eq!(best, None, "{}", shown),
                    _ => {}
                }
            }
            WantedValues::Values(all) => {
                let reached = taken.clone().any(|(_, state, values)| {
                    let env = Env {
                        variables: &state.valuation,
                        parameters: &[],
                        functions: sts.functions(),
                    };
                    all.iter()
                        .all(|(p, expr)| expr.eval(env).as_ref() == Ok(&values[*p as usize]))
                });
                match verdict {
                    ValueVerdict::Reached { .. } => prop_assert!(reached, "{shown}"),
                    ValueVerdict::Unreachable(_) => prop_assert!(!reached, "{shown}"),
                    ValueVerdict::Unknown => {}
                }
            }
        }
        let known = match verdict {
            ValueVerdict::Reached { extreme, .. } => extreme
                .as_ref()
                .is_none_or(|(_, proof)| *proof != Proof::Missing),
            ValueVerdict::Unreachable(_) => true,
            ValueVerdict::Unknown => false,
        };
        *proved.entry(known).or_default() += 1;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 80,
        failure_persistence: None,
        // The same models every time: a few of all possible ones have more paths than a test
        // should walk.
        rng_seed: proptest::test_runner::RngSeed::Fixed(4),
        ..ProptestConfig::default()
    })]

    #[test]
    fn smallest_and_largest_values_are_those_of_enumeration(
        Model(sts) in model(),
        length in 1..=3u32,
    ) {
        check(sts, Data::MinMax, length, &mut BTreeMap::new())?;
    }

    #[test]
    fn limits_and_pairs_are_reached_where_enumeration_reaches_them(
        Model(sts) in model(),
        length in 1..=2u32,
    ) {
        check(sts, Data::Pairs, length, &mut BTreeMap::new())?;
    }
}

#[test]
fn most_values_of_small_models_are_decided() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut proved = BTreeMap::new();
    for _ in 0..60 {
        let Model(sts) = model().new_tree(&mut runner).unwrap().current();
        check(sts, Data::Boundaries, 2, &mut proved).unwrap();
    }
    let count = |known| proved.get(&known).copied().unwrap_or(0);
    assert!(
        count(true) > 100 && count(false) * 10 < count(true),
        "{proved:?}"
    );
}
