//! Complete suites against explicit enumeration, on random models and on small ones that a person
//! can count.

#[path = "../../sts/tests/common/mod.rs"]
mod common;
mod explicit;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use common::models::{Model, model};
use common::reference::ByEnumeration;
use explicit::{initial, successors};
use ioco_generate::{Confirm, Extent, Path, Share, Tally, Walk, moves_from};
use ioco_solve::Embedded;
use ioco_sts::{Relation, Semantics, State, Sts, SwitchId};
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// A path as the switches of its moves.
type Switches = Vec<Vec<SwitchId>>;

fn walk(sts: &Sts, extent: Extent) -> Walk<'_, Embedded, ChaCha8Rng> {
    let solver = Embedded::new(sts.types(), sts.functions());
    Walk::new(sts, extent, solver, ChaCha8Rng::seed_from_u64(7))
}

/// All paths, each confirmed by a second walk.
fn generated(sts: &Sts, extent: &Extent, share: &Share) -> (Vec<Switches>, Tally) {
    let shared = Arc::new(sts.clone());
    let mut confirm = Confirm::new(Semantics::new(
        shared,
        Box::new(ByEnumeration),
        Relation::Ioco,
    ));
    let mut found = Vec::new();
    let mut sink = |path: &Path<'_>| {
        let switches: Switches = path.moves().map(|m| m.switches.clone()).collect();
        if let Err(objection) = confirm.path(path) {
            panic!("{switches:?}: {objection}");
        }
        found.push(switches);
        found.len() < MAX_PATHS
    };
    let tally = walk(sts, extent.clone()).run(share, &mut sink);
    assert_eq!(tally.paths, found.len() as u64);
    (found, tally)
}

/// Explicit enumeration: with every path, all states it can lead to. Internal steps in a row are
/// limited, because nothing here notices that they go round.
fn enumerated(sts: &Sts, extent: &Extent) -> BTreeSet<Switches> {
    let start = initial(sts);
    let mut visits = BTreeMap::new();
    for location in &start.locations {
        *visits.entry(*location).or_insert(0) += 1;
    }
    let mut found = BTreeSet::new();
    let begin = Begin {
        states: BTreeSet::from([start]),
        observed: 0,
        silent: 0,
        visits,
    };
    enumerate(sts, extent, &begin, &mut Vec::new(), &mut found);
    found
}

struct Begin {
    states: BTreeSet<State>,
    observed: u32,
    silent: u32,
    visits: BTreeMap<ioco_sts::LocationId, u32>,
}

fn enumerate(
    sts: &Sts,
    extent: &Extent,
    begin: &Begin,
    path: &mut Switches,
    found: &mut BTreeSet<Switches>,
) {
    if found.len() > MAX_PATHS {
        return;
    }
    if begin.observed == extent.length {
        found.insert(path.clone());
        return;
    }
    let Some(any) = begin.states.first() else {
        return;
    };
    let mut goes_on = false;
    for step in moves_from(sts, &any.locations) {
        let states: BTreeSet<State> = begin
            .states
            .iter()
            .flat_map(|state| successors(sts, state, &step))
            .collect();
        let mut visits = begin.visits.clone();
        let mut too_often = false;
        for id in &step.switches {
            let times = visits.entry(sts.switch(*id).target).or_insert(0);
            *times += 1;
            too_often |= extent.loops.is_some_and(|limit| *times > limit);
        }
        if states.is_empty() || too_often {
            continue;
        }
        goes_on = true;
        if !step.observable && begin.silent == SILENT {
            continue;
        }
        let next = Begin {
            states,
            observed: begin.observed + u32::from(step.observable),
            silent: if step.observable { 0 } else { begin.silent + 1 },
            visits,
        };
        path.push(step.switches.clone());
        enumerate(sts, extent, &next, path, found);
        path.pop();
    }
    if !goes_on {
        found.insert(path.clone());
    }
}

const SILENT: u32 = 4;

/// Models with more paths than this are left out: there is no end to some of them.
const MAX_PATHS: usize = 2000;

/// The generated paths are the enumerated ones; where internal steps go round, or something could
/// not be decided, some of them.
fn compare(sts: &Sts, extent: &Extent) -> Result<(), TestCaseError> {
    let (found, tally) = generated(sts, extent, &Share::whole());
    let paths: BTreeSet<Switches> = found.iter().cloned().collect();
    prop_assert_eq!(paths.len(), found.len(), "a path twice");
    if tally.runaway.is_some() || tally.stopped {
        return Ok(());
    }
    let expected = enumerated(sts, extent);
    if expected.len() > MAX_PATHS {
        return Ok(());
    }
    let short_runs = |path: &Switches| {
        let mut silent = 0;
        path.iter().all(|group| {
            let gate = sts.switch(group[0]).gate;
            let observable = matches!(gate, ioco_sts::Gate::Observable(_));
            silent = if observable { 0 } else { silent + 1 };
            silent <= SILENT
        })
    };
    for path in paths.iter().filter(|path| short_runs(path)) {
        prop_assert!(expected.contains(path), "{path:?} cannot be walked");
    }
    if tally.undecided + tally.circular == 0 {
        for path in expected.iter().filter(|path| short_runs(path)) {
            prop_assert!(paths.contains(path), "{path:?} is missing");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 500,
        failure_persistence: None,
        // The same models every time: a few of all possible ones have more paths than a test
        // should walk.
        rng_seed: proptest::test_runner::RngSeed::Fixed(4),
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_paths_are_those_of_explicit_enumeration(Model(sts) in model(), length in 0..=3u32) {
        let extent = Extent { silent: 5, ..Extent::of_length(length) };
        compare(&sts, &extent)?;
    }

    #[test]
    fn a_limit_on_visits_is_that_of_explicit_enumeration(
        Model(sts) in model(),
        length in 1..=4u32,
        loops in 1..=2u32,
    ) {
        let extent = Extent { silent: 5, loops: Some(loops), ..Extent::of_length(length) };
        compare(&sts, &extent)?;
    }

    #[test]
    fn shares_make_up_the_whole(
        Model(sts) in model(),
        count in 1..=9usize,
        depth in 1..=3usize,
    ) {
        let extent = Extent { silent: 5, ..Extent::of_length(3) };
        let (whole, tally) = generated(&sts, &extent, &Share::whole());
        prop_assume!(tally.runaway.is_none() && tally.undecided == 0 && !tally.stopped);
        let (shares, _) = walk(&sts, extent.clone()).shares(count, depth);
        let mut parts: Vec<Switches> = Vec::new();
        for share in &shares {
            parts.extend(generated(&sts, &extent, share).0);
        }
        prop_assert_eq!(parts, whole);
    }
}

#[test]
fn random_models_are_decided_often_enough_to_mean_something() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut exact = 0;
    let mut longer = 0;
    for _ in 0..200 {
        let Model(sts) = model().new_tree(&mut runner).unwrap().current();
        let extent = Extent {
            silent: 5,
            ..Extent::of_length(2)
        };
        let (found, tally) = generated(&sts, &extent, &Share::whole());
        let decided = tally.undecided + tally.circular == 0 && tally.runaway.is_none();
        exact += u32::from(decided);
        longer += u32::from(decided && found.len() > 1);
    }
    assert!(exact > 120, "{exact} of 200 models compared exactly");
    assert!(
        longer > 10,
        "{longer} of 200 models with more than one path"
    );
}
