//! How many paths and traces there are, and how many there can be at most, against enumeration: random
//! models with parallel processes and internal steps.

use std::collections::BTreeSet;
use std::sync::Arc;

use ioco_generate::{Distinct, Extent, Path, Share, Tally, Traces, Walk, bounds};
use ioco_solve::Embedded;
use ioco_sts::{
    Direction, Expr, Gate, Label, LabelId, LocationId, Place, Sts, StsBuilder, Type, VarId,
};
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Per process its switches: source, label (`None` is internal), target.
type Processes = Vec<Vec<(usize, Option<usize>, usize)>>;

const LABELS: [&str; 3] = ["a", "b", "c"];

fn model(processes: &Processes) -> Arc<Sts> {
    let mut builder = StsBuilder::new("random");
    let labels: Vec<LabelId> = LABELS
        .iter()
        .map(|name| {
            builder.label(Label {
                name: (*name).to_owned(),
                channel: "x".to_owned(),
                direction: Direction::Stimulus,
                parameters: Vec::new(),
            })
        })
        .collect();
    for (number, switches) in processes.iter().enumerate() {
        let process = builder.process(&format!("p{number}"));
        let locations: Vec<LocationId> = (0..3)
            .map(|l| builder.named_location(process, &format!("p{number}l{l}")))
            .collect();
        for (source, label, target) in switches {
            let gate = label.map_or(Gate::Tau, |l| Gate::Observable(labels[l]));
            let (source, target) = (locations[*source], locations[*target]);
            builder.switch(
                source,
                gate,
                Expr::TRUE,
                Vec::new(),
                target,
                Place::default(),
            );
        }
    }
    Arc::new(builder.build())
}

/// Every path of `length` observable steps, as its labels. Internal steps that come back to a state of
/// the same run of internal steps are left out.
fn enumerate(
    processes: &Processes,
    at: &[usize],
    length: usize,
    silent: &[Vec<usize>],
    labels: &mut Vec<usize>,
    found: &mut Vec<Vec<usize>>,
) {
    if labels.len() == length {
        found.push(labels.clone());
        return;
    }
    let mut goes_on = false;
    for (process, switches) in processes.iter().enumerate() {
        for (source, label, target) in switches {
            if at[process] != *source {
                continue;
            }
            goes_on = true;
            let mut next = at.to_vec();
            next[process] = *target;
            match label {
                Some(label) => {
                    labels.push(*label);
                    enumerate(processes, &next, length, &[next.clone()], labels, found);
                    labels.pop();
                }
                None if silent.contains(&next) => {}
                None => {
                    let run = [silent, &[next.clone()]].concat();
                    enumerate(processes, &next, length, &run, labels, found);
                }
            }
        }
    }
    if !goes_on {
        found.push(labels.clone());
    }
}

fn walked(sts: &Sts, length: u32) -> (Tally, Traces) {
    let solver = Embedded::new(sts.types(), sts.functions());
    let extent = Extent::of_length(length);
    let mut walk = Walk::new(sts, extent, solver, ChaCha8Rng::seed_from_u64(0));
    let mut distinct = Distinct::new(sts, length);
    let tally = walk.run(&Share::whole(), &mut |path: &Path<'_>| {
        distinct.note(path);
        true
    });
    assert!(!distinct.count().more);
    (tally, distinct.count())
}

fn check(processes: &Processes, length: u32) -> (u64, u64) {
    let sts = model(processes);
    let mut found = Vec::new();
    let start = vec![0; processes.len()];
    enumerate(
        processes,
        &start,
        length as usize,
        std::slice::from_ref(&start),
        &mut Vec::new(),
        &mut found,
    );
    let different: BTreeSet<&Vec<usize>> = found.iter().collect();
    let (tally, traces) = walked(&sts, length);
    assert_eq!(tally.paths, found.len() as u64, "paths");
    let whole = different
        .iter()
        .filter(|labels| labels.len() == length as usize);
    assert_eq!(traces.whole, whole.count() as u64, "traces");
    assert_eq!(traces.all(), different.len() as u64, "traces of any length");
    let bound = bounds::bounds(&sts, length);
    let at_most = |log: f64, count: u64| 10f64.powf(log) * (1.0 + 1e-9) >= count as f64;
    assert!(at_most(bound.traces, traces.whole), "{traces:?}: {bound:?}");
    assert!(at_most(bound.paths, tally.paths), "{tally:?}: {bound:?}");
    (tally.paths, traces.whole)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn walks_and_bounds_agree_with_enumeration(
        processes in proptest::collection::vec(
            proptest::collection::vec(
                (0usize..3, proptest::option::of(0usize..3), 0usize..3),
                1..4,
            ),
            1..3,
        ),
        length in 1u32..4,
    ) {
        check(&processes, length);
    }
}

#[test]
fn processes_side_by_side_offer_all_their_switches() {
    let loops = vec![(0, Some(0), 0), (0, Some(1), 0), (0, Some(2), 0)];
    // Six paths of one step, which show three traces.
    assert_eq!(check(&vec![loops.clone(), loops], 1), (6, 3));
}

#[test]
fn internal_diamonds_multiply_paths_but_not_traces() {
    let diamonds = vec![
        (0, None, 1),
        (0, None, 1),
        (1, None, 2),
        (1, None, 2),
        (2, Some(0), 2),
    ];
    assert_eq!(check(&vec![diamonds], 2), (4, 1));
}

#[test]
fn a_path_of_a_hundred_thousand_steps_needs_no_stack() {
    let sts = model(&vec![vec![(0, Some(0), 0)]]);
    let (tally, traces) = walked(&sts, 100_000);
    assert_eq!((tally.paths, traces.whole), (1, 1));
}

#[test]
fn a_value_that_is_nested_too_deep_ends_the_walk_with_a_remark() {
    let mut builder = StsBuilder::new("sum");
    let process = builder.process("p");
    let only = builder.named_location(process, "only");
    let sum: VarId = builder.variable(ioco_sts::Variable {
        name: "sum".to_owned(),
        process,
        place: Place::default(),
        ty: Type::INTEGER,
        initial: ioco_sts::Value::Int(0),
    });
    let label = builder.label(Label {
        name: "add".to_owned(),
        channel: "x".to_owned(),
        direction: Direction::Stimulus,
        parameters: vec![ioco_sts::Parameter {
            name: "v".to_owned(),
            ty: Type::Int(ioco_sts::IntRange { min: 0, max: 9 }),
        }],
    });
    let value = Expr::binary(ioco_sts::BinaryOp::Add, Expr::Var(sum), Expr::Param(0));
    let update = vec![ioco_sts::Assignment {
        variable: sum,
        value,
    }];
    let gate = Gate::Observable(label);
    builder.switch(only, gate, Expr::TRUE, update, only, Place::default());
    let (tally, _) = walked(&builder.build(), 1_000);
    assert!(
        tally.exhausted.is_some() && tally.undecided > 0,
        "{tally:?}"
    );
}
