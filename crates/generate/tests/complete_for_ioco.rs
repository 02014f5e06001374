//! Suites that are complete for ioco, against all implementations of a bounded size: those that do not conform fail,
//! those that conform pass.

use std::collections::BTreeSet;

use ioco_budget::{Budget, Meter};
use ioco_generate::suspension::{Automaton, Compatibility, CompleteSuite, suite};
use ioco_sts::{Action, LabelId, Step};
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

/// `inputs` stimuli, `responses` responses, and silence.
fn labels(inputs: u32, responses: u32) -> Vec<Step> {
    let action = |number| Action {
        label: LabelId(number),
        values: Vec::new(),
    };
    let stimuli = (0..inputs).map(|n| Step::Stimulus(action(n)));
    let responses = (inputs..inputs + responses).map(|n| Step::Response(action(n)));
    stimuli.chain(responses).chain([Step::Quiescence]).collect()
}

fn complete(model: &Automaton, extra: u32) -> CompleteSuite {
    let budget = Budget {
        steps: u64::MAX,
        ..Budget::default()
    };
    let meter = Meter::new(&budget, None);
    suite(model, extra, 5_000_000, &meter).expect("a small suite")
}

/// A row per state, an entry per label.
type Table = Vec<Vec<Option<usize>>>;

/// Whether everything that the implementation shows after a trace of the model is allowed: all pairs of states.
fn conforms(model: &Automaton, implementation: &Table) -> bool {
    let mut seen = BTreeSet::from([(0, 0)]);
    let mut open = vec![(0, 0)];
    while let Some((state, real)) = open.pop() {
        for (label, target) in implementation[real].iter().enumerate() {
            let Some(target) = target else { continue };
            match model.step(state, label) {
                Some(next) => {
                    let pair = (next, *target);
                    open.extend(seen.insert(pair).then_some(pair));
                }
                None if label >= model.inputs() => return false,
                None => {}
            }
        }
    }
    true
}

/// Whether no test of the suite sees what the model does not allow, if every test is repeated until the implementation
/// has shown all its responses.
fn passes(model: &Automaton, tests: &[Vec<usize>], implementation: &Table) -> bool {
    tests.iter().all(|test| {
        let (mut state, mut real) = (0, 0);
        for label in test {
            if *label >= model.inputs() {
                let shown = (model.inputs()..implementation[real].len())
                    .filter(|output| implementation[real][*output].is_some());
                if shown
                    .into_iter()
                    .any(|output| model.step(state, output).is_none())
                {
                    return false;
                }
            }
            let Some(next) = implementation[real][*label] else {
                // It never shows this response: the test ends without a verdict.
                return true;
            };
            real = next;
            state = model
                .step(state, *label)
                .expect("tests are traces of the model");
        }
        true
    })
}

/// All rows of an implementation state: a target for every stimulus, and for every response that it may give, of
/// which there is one at least.
fn rows(states: usize, inputs: usize, outputs: usize) -> Vec<Vec<Option<usize>>> {
    let mut all: Vec<Vec<Option<usize>>> = vec![Vec::new()];
    for position in 0..inputs + outputs {
        let targets = (0..states)
            .map(Some)
            .chain((position >= inputs).then_some(None));
        let targets: Vec<Option<usize>> = targets.collect();
        all = all
            .iter()
            .flat_map(|row| {
                targets.iter().map(|target| {
                    let mut longer = row.clone();
                    longer.push(*target);
                    longer
                })
            })
            .collect();
    }
    all.retain(|row| row[inputs..].iter().any(Option::is_some));
    all
}

/// Whether silence leads to a state that is silent alone, and stays there.
fn is_suspension(table: &Table, inputs: usize) -> bool {
    table.iter().all(|row| {
        let silence = row.len() - 1;
        row[silence].is_none_or(|quiet| {
            let responses = &table[quiet][inputs..silence];
            responses.iter().all(Option::is_none) && table[quiet][silence] == Some(quiet)
        })
    })
}

/// Tries all implementations with up to `states` states; how many conform, and how many do not.
fn exhaust(model: &Automaton, found: &CompleteSuite, states: usize, outputs: usize) -> (u32, u32) {
    assert_eq!(found.states, states);
    let tests: Vec<Vec<usize>> = found.sequences.tests().collect();
    let rows = rows(states, model.inputs(), outputs);
    let mut numbers = vec![0; states];
    let (mut good, mut bad) = (0, 0);
    loop {
        let implementation: Table = numbers.iter().map(|n| rows[*n].clone()).collect();
        if is_suspension(&implementation, model.inputs()) {
            let is_right = conforms(model, &implementation);
            let passed = passes(model, &tests, &implementation);
            assert_eq!(passed, is_right, "{implementation:?} against {model:?}");
            *(if is_right { &mut good } else { &mut bad }) += 1;
        }
        let Some(position) = numbers.iter().position(|n| n + 1 < rows.len()) else {
            return (good, bad);
        };
        numbers[position] += 1;
        numbers[..position].fill(0);
    }
}

/// A random suspension automaton: which stimuli are accepted and which responses allowed is drawn.
fn random_model(states: usize, inputs: u32, responses: u32, seed: u64) -> Automaton {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let labels = labels(inputs, responses);
    loop {
        let table: Table = (0..states)
            .map(|_| {
                let targets = labels.iter();
                targets
                    .map(|_| (rng.random_range(0..3) > 0).then(|| rng.random_range(0..states)))
                    .collect()
            })
            .collect();
        let shows = |row: &Vec<Option<usize>>| row[inputs as usize..].iter().any(Option::is_some);
        if table.iter().all(shows) && is_suspension(&table, inputs as usize) {
            return Automaton::new(labels, table);
        }
    }
}

#[test]
fn every_implementation_of_two_states_fails_if_and_only_if_it_does_not_conform() {
    let (mut good, mut bad) = (0, 0);
    for seed in 0..60 {
        let model = random_model(2, 1, 1, seed);
        let extra = 2 - model.states() as u32;
        let found = complete(&model, extra);
        let (conforming, others) = exhaust(&model, &found, 2, 2);
        good += conforming;
        bad += others;
    }
    // Both kinds were tried.
    assert!(good > 200 && bad > 200, "{good} {bad}");
}

#[test]
fn extra_states_are_found_too() {
    let mut tried = 0;
    for seed in 0..40 {
        let model = random_model(2, 1, 1, seed);
        if model.states() != 2 {
            continue;
        }
        let found = complete(&model, 1);
        if found.sequences.size().0 > 400 {
            continue;
        }
        tried += 1;
        let (_, bad) = exhaust(&model, &found, 3, 2);
        assert!(bad > 0);
        if tried == 3 {
            return;
        }
    }
    panic!("no models to try");
}

#[test]
fn no_test_waits_for_silence_twice_in_a_row() {
    for seed in 0..20 {
        let model = random_model(3, 1, 1, seed);
        for test in complete(&model, 1).sequences.tests() {
            let twice = test
                .windows(2)
                .any(|two| two.iter().all(|label| model.is_silence(*label)));
            assert!(!twice, "seed {seed}: {test:?}");
        }
    }
}

#[test]
fn a_suite_without_its_words_misses_an_extra_state() {
    // After `a` the system answers `x` and is where it was. An implementation may answer `y` the second time.
    let labels = labels(1, 2);
    let model = Automaton::new(
        labels,
        vec![
            vec![Some(1), None, None, Some(0)],
            vec![None, Some(0), None, None],
        ],
    );
    let wrong: Table = vec![
        vec![Some(1), None, None, Some(0)],
        vec![Some(1), Some(2), None, None],
        vec![Some(3), None, None, Some(2)],
        vec![Some(3), None, Some(0), None],
    ];
    assert!(!conforms(&model, &wrong));
    let tests = |extra| {
        complete(&model, extra)
            .sequences
            .tests()
            .collect::<Vec<_>>()
    };
    assert!(passes(&model, &tests(0), &wrong));
    assert!(!passes(&model, &tests(2), &wrong));
}

#[test]
fn states_with_a_common_response_are_compatible() {
    let labels = labels(1, 2);
    // Both may answer x and stay; one of them may also answer y.
    let model = Automaton::new(
        labels,
        vec![
            vec![Some(1), Some(0), None, None],
            vec![Some(0), Some(1), Some(0), None],
        ],
    );
    let budget = Budget::default();
    let found = Compatibility::new(&model, &Meter::new(&budget, None)).expect("two states");
    assert!(found.is_compatible(0, 1));
    assert_eq!(found.compatible_pairs(), 1);
    assert_eq!(found.incompatible_sets(), [vec![0], vec![1]]);
    assert!(found.experiments(0).is_empty());
}
