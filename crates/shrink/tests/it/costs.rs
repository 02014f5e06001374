//! What an irreducible trace costs, and random machines with a random mistake.

use std::sync::Arc;

use ioco_shrink::{Ended, Options, Runner as _};
use ioco_sts::{Action, Direction, Sts};
use proptest::prelude::*;

use crate::flat_model::{Transition, semantics, sts};
use crate::flat_runner::FlatRunner;
use crate::flat_systems::FlatSystem;
use crate::shrink_by;

/// One state, `n` stimuli that change nothing; the system says `!error` once it has had all of
/// them, in order.
#[derive(Clone, Debug)]
struct Combination {
    wanted: usize,
    had: usize,
}

impl FlatSystem for Combination {
    fn give(&mut self, stimulus: &str) -> Vec<String> {
        if stimulus == format!("s{}", self.had) {
            self.had += 1;
        }
        match self.had == self.wanted {
            true => vec!["error".to_owned()],
            false => Vec::new(),
        }
    }

    fn fork(&self) -> Box<dyn FlatSystem> {
        Box::new(self.clone())
    }
}

fn stimulus(sts: &Sts, name: &str) -> Action {
    Action::plain(
        sts.label_named(Direction::Stimulus, name)
            .expect("a stimulus"),
    )
}

/// Runs that a shrinker needs for an irreducible trace of `n` stimuli.
fn cost(shrinker: &str, n: usize) -> usize {
    let text = |i: usize| ("only".to_owned(), format!("?s{i}"), "only".to_owned());
    let transitions: Vec<Transition> = (0..n).map(text).collect();
    let sts = sts("combination", &transitions);
    let mut runner = FlatRunner::new(&sts, move || {
        Box::new(Combination { wanted: n, had: 0 }) as Box<dyn FlatSystem>
    });
    let stimuli: Vec<Action> = (0..n).map(|i| stimulus(&sts, &format!("s{i}"))).collect();
    let failure = runner.run(&stimuli);
    let options = Options::default();
    let mut model = semantics(&sts);
    let shrunk = shrink_by(shrinker, &mut model, &failure, &mut runner, &options);
    let shrunk = shrunk.expect("a failing trace");
    assert_eq!(shrunk.execution, failure, "{shrinker} {n}");
    shrunk.runs
}

#[test]
fn an_irreducible_trace_costs_what_the_definitions_say() {
    for n in 3..=17 {
        assert_eq!(cost("elem", n), n);
        assert_eq!(cost("binary", n), 2 * (n - 1) - 1);
        assert_eq!(cost("delta", n), 4 * n - 10);
    }
}

#[test]
fn auto_does_not_shrink_what_cannot_be_shrunk() {
    for n in [1, 2, 5, 12] {
        cost("auto", n);
    }
}

/// A Mealy machine: per state and input, the output and the next state.
#[derive(Clone, Debug)]
struct Machine {
    table: Vec<Vec<(u8, usize)>>,
    at: usize,
}

impl FlatSystem for Machine {
    fn give(&mut self, stimulus: &str) -> Vec<String> {
        let input: usize = stimulus[1..].parse().expect("i0, i1, ...");
        let (output, next) = self.table[self.at][input];
        self.at = next;
        // Output zero is silence.
        match output {
            0 => Vec::new(),
            output => vec![format!("o{output}")],
        }
    }

    fn fork(&self) -> Box<dyn FlatSystem> {
        Box::new(self.clone())
    }
}

fn model_of(machine: &Machine) -> Arc<Sts> {
    let mut transitions: Vec<Transition> = Vec::new();
    for (state, row) in machine.table.iter().enumerate() {
        for (input, (output, next)) in row.iter().enumerate() {
            let (source, target) = (format!("q{state}"), format!("q{next}"));
            if *output == 0 {
                transitions.push((source, format!("?i{input}"), target));
            } else {
                let between = format!("q{state}i{input}");
                transitions.push((source, format!("?i{input}"), between.clone()));
                transitions.push((between, format!("!o{output}"), target));
            }
        }
    }
    sts("machine", &transitions)
}

fn machine(states: usize, inputs: usize) -> impl Strategy<Value = Machine> {
    let cell = (0u8..3, 0..states);
    let row = proptest::collection::vec(cell, inputs);
    proptest::collection::vec(row, states).prop_map(|table| Machine { table, at: 0 })
}

/// Five states in a ring: `i0` goes on, `i1` asks and is answered differently in the last state only, `i2` goes back
/// to the first.
fn ring() -> Machine {
    let row = |state: usize| {
        let answer = if state == 4 { 2 } else { 1 };
        vec![(0, (state + 1) % 5), (answer, state), (0, 0)]
    };
    Machine {
        table: (0..5).map(row).collect(),
        at: 0,
    }
}

#[test]
fn a_wrong_target_that_shows_late_is_explained() {
    let sts = model_of(&ring());
    let mut mutant = ring();
    // Back to the first state, but from the third one to the second.
    mutant.table[2][2] = (0, 1);
    let mut runner = FlatRunner::new(&sts, move || mutant.fork());
    let list = |inputs: &[usize]| -> Vec<Action> {
        let name = |input: &usize| stimulus(&sts, &format!("i{input}"));
        inputs.iter().map(name).collect()
    };
    let failure = runner.run(&list(&[1, 0, 1, 0, 1, 2, 1, 0, 1, 0, 1, 0, 1]));
    assert!(failure.deviation().is_some());
    let (mut model, options) = (semantics(&sts), Options::default());
    let shrunk =
        shrink_by("auto", &mut model, &failure, &mut runner, &options).expect("a failing trace");
    let stimuli: Vec<Action> = shrunk.execution.stimuli().cloned().collect();
    assert_eq!(stimuli, list(&[0, 0, 2, 0, 0, 0, 1]));
    // A few runs find it, and each of the seven stimuli is left out once.
    assert!(shrunk.runs <= 14, "{} runs", shrunk.runs);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_shrinker_returns_a_trace_that_fails_again_and_is_not_longer(
        right in machine(5, 3),
        place in (0usize..5, 0usize..3),
        wrong in (0u8..3, 0usize..5),
        inputs in proptest::collection::vec(0usize..3, 40),
    ) {
        let sts = model_of(&right);
        let mut mutant = right.clone();
        mutant.table[place.0][place.1] = wrong;
        let mut runner = FlatRunner::new(&sts, move || mutant.fork());
        // Labels that the reachable part of the model does not have cannot be given.
        let names = inputs.iter().map(|i| format!("i{i}"));
        let known: Vec<Action> = names
            .filter_map(|name| sts.label_named(Direction::Stimulus, &name))
            .map(Action::plain)
            .collect();
        let failure = runner.run(&known);
        prop_assume!(failure.deviation().is_some());
        for name in ["auto", "cycle+delta", "binary", "koopman-cycle", "sps-por-subpaths"] {
            let mut model = semantics(&sts);
            let options = Options::default();
            let shrunk = shrink_by(name, &mut model, &failure, &mut runner, &options)
                .expect("a failing trace");
            prop_assert_eq!(&shrunk.ended, &Ended::Finished);
            prop_assert!(name.starts_with("sps") || shrunk.execution.length() <= failure.length());
            let stimuli: Vec<Action> = shrunk.execution.stimuli().cloned().collect();
            prop_assert_eq!(&runner.run(&stimuli), &shrunk.execution, "{}", name);
        }
    }
}
