//! Coverage of models without data: by graph search, in a few long tests, region by region.

use std::collections::BTreeSet;
use std::sync::Arc;

use ioco_generate::Confirm;
use ioco_generate::cover::{
    Cover, CoverLimits, CoverObserver, Covered, Goal, GoalVerdict, Instance, Reason,
};
use ioco_sts::{
    Direction, Expr, Gate, Label, LabelId, LocationId, Place, ProcessId, Relation, Sts, StsBuilder,
    SwitchId,
};
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

struct Silent;

impl CoverObserver for Silent {
    fn decided(&mut self, _: Goal, _: &GoalVerdict, _: Option<&Instance>, _: u64) {}
}

fn cover(sts: &Arc<Sts>, goals: &[Goal], limits: CoverLimits) -> Covered {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let confirm = Confirm::new(ioco_solve::semantics(sts, Relation::Ioco));
    let covered = Cover::new(sts, goals, limits, confirm, &mut rng).run(None, &mut Silent);
    assert_eq!(covered.unconfirmed, 0);
    assert_eq!(covered.goals.len(), goals.len());
    covered
}

fn label(builder: &mut StsBuilder, direction: Direction, name: &str) -> LabelId {
    builder.label(Label {
        name: name.to_owned(),
        channel: "c".to_owned(),
        direction,
        parameters: Vec::new(),
    })
}

fn plain(builder: &mut StsBuilder, source: LocationId, gate: Gate, target: LocationId) -> SwitchId {
    builder.switch(
        source,
        gate,
        Expr::TRUE,
        Vec::new(),
        target,
        Place::default(),
    )
}

/// Two stimuli in every resting location, and one response behind each.
fn random_model(resting: usize, seed: u64) -> Arc<Sts> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut builder = StsBuilder::new("random");
    let process = builder.process("p");
    let all: Vec<LocationId> = (0..2 * resting)
        .map(|number| builder.named_location(process, &format!("l{number}")))
        .collect();
    let stimuli = ["a", "b"].map(|name| label(&mut builder, Direction::Stimulus, name));
    let responses = ["x", "y"].map(|name| label(&mut builder, Direction::Response, name));
    for rest in 0..resting {
        for stimulus in stimuli {
            let target = all[resting + rng.random_range(0..resting)];
            plain(&mut builder, all[rest], Gate::Observable(stimulus), target);
        }
        let response = responses[rng.random_range(0..2)];
        let target = all[rng.random_range(0..resting)];
        plain(
            &mut builder,
            all[resting + rest],
            Gate::Observable(response),
            target,
        );
    }
    Arc::new(builder.build())
}

/// The switches that a walk can take, by following all of them.
fn reachable(sts: &Sts) -> BTreeSet<SwitchId> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<LocationId> = sts.processes().iter().map(|p| p.initial).collect();
    let mut taken = BTreeSet::new();
    while let Some(location) = open.pop() {
        if seen.insert(location) {
            taken.extend(sts.outgoing(location));
            open.extend(
                sts.outgoing(location)
                    .iter()
                    .map(|id| sts.switch(*id).target),
            );
        }
    }
    taken
}

fn steps(covered: &Covered) -> usize {
    covered.tests.iter().map(|test| test.steps.len()).sum()
}

#[test]
fn random_plain_models_are_covered_or_proved_in_few_steps() {
    for seed in 0..30 {
        let sts = random_model(40, seed);
        let covered = cover(&sts, &Goal::switches(&sts), CoverLimits::default());
        let reachable = reachable(&sts);
        for (goal, verdict) in &covered.goals {
            let Goal::Switch(id) = goal else { continue };
            match verdict {
                GoalVerdict::Covered { .. } => assert!(reachable.contains(id), "seed {seed}"),
                GoalVerdict::Unreachable(reason) => {
                    assert!(!reachable.contains(id), "seed {seed}");
                    assert_eq!(*reason, Reason::Structure);
                }
                GoalVerdict::Unknown(_) => panic!("seed {seed}: {goal:?} is unknown"),
            }
        }
        assert_eq!(covered.calls, 0, "seed {seed}: no question to the solver");
        let fewest = covered.fewest_steps.expect("a model without data");
        let taken = steps(&covered);
        assert!(
            taken >= fewest,
            "seed {seed}: {taken} below the bound {fewest}"
        );
        assert!(
            taken <= 3 * fewest,
            "seed {seed}: {taken} steps, {fewest} are needed"
        );
    }
}

#[test]
fn locations_of_a_plain_model_are_covered_too() {
    let sts = random_model(40, 7);
    let covered = cover(&sts, &Goal::locations(&sts), CoverLimits::default());
    let entered: BTreeSet<LocationId> = reachable(&sts)
        .iter()
        .map(|id| sts.switch(*id).target)
        .chain([sts.processes()[0].initial])
        .collect();
    for (goal, verdict) in &covered.goals {
        let Goal::Location(id) = goal else { continue };
        let is_covered = matches!(verdict, GoalVerdict::Covered { .. });
        assert_eq!(is_covered, entered.contains(id), "{goal:?}");
    }
}

#[test]
fn a_model_in_which_everything_is_connected_takes_one_test() {
    let mut builder = StsBuilder::new("ring");
    let process = builder.process("p");
    let stimulus = label(&mut builder, Direction::Stimulus, "next");
    let back = label(&mut builder, Direction::Stimulus, "back");
    let ring: Vec<LocationId> = (0..30)
        .map(|number| builder.named_location(process, &format!("l{number}")))
        .collect();
    for number in 0..30 {
        plain(
            &mut builder,
            ring[number],
            Gate::Observable(stimulus),
            ring[(number + 1) % 30],
        );
        plain(
            &mut builder,
            ring[number],
            Gate::Observable(back),
            ring[(number + 29) % 30],
        );
    }
    let sts = Arc::new(builder.build());
    let goals = Goal::switches(&sts);
    let covered = cover(&sts, &goals, CoverLimits::default());
    assert_eq!(covered.tests.len(), 1);
    assert_eq!(covered.fewest_steps, Some(60));
    // No test is longer than what was asked for.
    let limits = CoverLimits {
        length: 20,
        ..CoverLimits::default()
    };
    let covered = cover(&sts, &goals, limits);
    assert!(covered.tests.len() > 1);
    assert!(covered.tests.iter().all(|test| test.steps.len() <= 20));
}

/// A process of four locations with a stimulus from each to the next and a response back from the second.
fn member(builder: &mut StsBuilder, number: usize) -> ProcessId {
    let process = builder.process(&format!("p{number}"));
    let on = label(builder, Direction::Stimulus, &format!("on{number}"));
    let ack = label(builder, Direction::Response, &format!("ack{number}"));
    let all: Vec<LocationId> = (0..4)
        .map(|at| builder.named_location(process, &format!("p{number}_{at}")))
        .collect();
    plain(builder, all[0], Gate::Observable(on), all[1]);
    plain(builder, all[1], Gate::Observable(ack), all[2]);
    plain(builder, all[2], Gate::Observable(on), all[3]);
    plain(builder, all[3], Gate::Observable(ack), all[0]);
    process
}

#[test]
fn independent_processes_are_covered_one_after_the_other() {
    let mut builder = StsBuilder::new("network");
    for number in 0..64 {
        member(&mut builder, number);
    }
    let sts = Arc::new(builder.build());
    let covered = cover(&sts, &Goal::switches(&sts), CoverLimits::default());
    let all = covered.goals.values();
    assert!(
        all.clone()
            .all(|v| matches!(v, GoalVerdict::Covered { .. }))
    );
    assert_eq!(covered.calls, 0);
    assert_eq!((covered.tests.len(), steps(&covered)), (1, 256));
    // While one process owes a response, no other one is given a stimulus.
    let test = &covered.tests[0];
    for ((step, _), state) in test.steps.iter().zip(&test.states) {
        let process = sts.location(sts.switch(step.switches[0]).source).process;
        for (other, location) in state.locations.iter().enumerate() {
            let owes = sts.outgoing(*location).iter().any(|id| {
                let label = sts.switch(*id).gate.label();
                label.is_some_and(|l| sts.label(l).direction == Direction::Response)
            });
            assert!(!owes || other == process.index());
        }
    }
}

#[test]
fn processes_that_shake_hands_are_planned_together() {
    let mut builder = StsBuilder::new("pair");
    let pass = label(&mut builder, Direction::Internal, "pass");
    let go = label(&mut builder, Direction::Stimulus, "go");
    let done = label(&mut builder, Direction::Response, "done");
    let sender = builder.process("sender");
    let idle = builder.named_location(sender, "Idle");
    let loaded = builder.named_location(sender, "Loaded");
    let receiver = builder.process("receiver");
    let empty = builder.named_location(receiver, "Empty");
    let full = builder.named_location(receiver, "Full");
    let never = builder.named_location(receiver, "Never");
    plain(&mut builder, idle, Gate::Observable(go), loaded);
    plain(&mut builder, loaded, Gate::Send(pass), idle);
    plain(&mut builder, empty, Gate::Receive(pass), full);
    plain(&mut builder, full, Gate::Observable(done), empty);
    let lost = plain(&mut builder, never, Gate::Receive(pass), full);
    let sts = Arc::new(builder.build());
    let covered = cover(&sts, &Goal::switches(&sts), CoverLimits::default());
    for (goal, verdict) in &covered.goals {
        match goal {
            Goal::Switch(id) if *id == lost => {
                assert_eq!(*verdict, GoalVerdict::Unreachable(Reason::Structure));
            }
            _ => assert!(matches!(verdict, GoalVerdict::Covered { .. }), "{goal:?}"),
        }
    }
    assert_eq!(covered.tests.len(), 1);
}

/// After every stimulus the system answers `x` or `y`: a test that counts on many answers hardly ever goes as planned.
#[test]
fn a_test_counts_on_few_choices_of_the_system() {
    let mut builder = StsBuilder::new("choices");
    let process = builder.process("p");
    let go = label(&mut builder, Direction::Stimulus, "go");
    let answers = ["x", "y"].map(|name| label(&mut builder, Direction::Response, name));
    let all: Vec<LocationId> = (0..100)
        .map(|number| builder.named_location(process, &format!("l{number}")))
        .collect();
    for number in (0..100).step_by(2) {
        plain(
            &mut builder,
            all[number],
            Gate::Observable(go),
            all[number + 1],
        );
        for answer in answers {
            let target = all[(number + 2) % 100];
            plain(
                &mut builder,
                all[number + 1],
                Gate::Observable(answer),
                target,
            );
        }
    }
    let sts = Arc::new(builder.build());
    let near: Vec<Goal> = (0..9)
        .map(|n| Goal::Switch(SwitchId::from_index(n)))
        .collect();
    let covered = cover(&sts, &near, CoverLimits::default());
    let responses = |test: &Instance| {
        let chosen = test.steps.iter().filter(|(_, action)| {
            let label = action.as_ref().map(|action| action.label);
            label.is_some_and(|l| sts.label(l).direction == Direction::Response)
        });
        chosen.count()
    };
    assert!(
        covered
            .goals
            .values()
            .all(|v| matches!(v, GoalVerdict::Covered { .. }))
    );
    assert!(covered.tests.iter().all(|test| responses(test) <= 8));
}
