//! W, Wp and HSI: textbook machines, every machine of a small size as a mutant, and models.

use std::collections::BTreeSet;

use ioco_budget::Interrupt;
use ioco_formats::dot::{self, MealyOptions};
use ioco_generate::fsm::{
    Identifiers, Machine, MachineError, Method, ModelMachine, NotAMachine, Response, Sequences,
    suite, suite_within,
};
use ioco_sts::{CompareOptions, Equivalence, FlattenError, Relation, Sts, compare};
use proptest::prelude::*;

const LIMIT: usize = 1_000_000;

/// A machine from rows of `(output, target)`, one per input.
fn machine(rows: &[&[(usize, usize)]]) -> Machine {
    let row = |row: &&[(usize, usize)]| {
        let entries = row.iter().map(|(output, target)| {
            Some(Response {
                output: *output,
                target: *target,
            })
        });
        entries.collect()
    };
    Machine::new(0, rows[0].len(), rows.iter().map(row).collect())
}

/// The machine that Mathur's "Foundations of Software Testing" explains the W and Wp methods with.
fn textbook() -> Machine {
    machine(&[
        &[(0, 0), (1, 3)],
        &[(0, 0), (1, 4)],
        &[(0, 4), (1, 0)],
        &[(1, 2), (1, 3)],
        &[(1, 1), (1, 4)],
    ])
}

fn words(sequences: &[Vec<usize>]) -> Vec<String> {
    let word = |sequence: &Vec<usize>| sequence.iter().map(|i| ['a', 'b', 'c'][*i]).collect();
    sequences.iter().map(word).collect()
}

#[test]
fn the_textbook_machine_has_its_published_sets() {
    let machine = textbook();
    assert_eq!(
        words(&machine.state_cover()),
        ["", "b", "ba", "baa", "baaa"]
    );
    // Published as {a, aa, aaa, baaa}; two of these are enough.
    let identifiers = Identifiers::new(&machine).unwrap();
    assert_eq!(words(identifiers.characterisation()), ["a", "baaa"]);
    // Only the third state answers `a` with 0 after `b`.
    assert_eq!(words(identifiers.of_state(2)), ["ba"]);
}

/// The definitions, word for word, with sets of sequences.
fn by_definition(machine: &Machine, method: Method, extra: u32) -> BTreeSet<Vec<usize>> {
    let identifiers = Identifiers::new(machine).unwrap();
    let join = |left: &BTreeSet<Vec<usize>>, right: &[Vec<usize>]| -> BTreeSet<Vec<usize>> {
        let mut all = BTreeSet::new();
        for first in left {
            for second in right {
                all.insert([&first[..], second].concat());
            }
        }
        all
    };
    let inputs: Vec<Vec<usize>> = (0..machine.inputs()).map(|input| vec![input]).collect();
    let mut up_to: BTreeSet<Vec<usize>> = BTreeSet::from([Vec::new()]);
    for _ in 0..extra {
        let longer = join(&up_to, &inputs);
        up_to.extend(longer);
    }
    let up_to: Vec<Vec<usize>> = up_to.into_iter().collect();
    let cover: BTreeSet<Vec<usize>> = machine.state_cover().into_iter().collect();
    let mut transition_cover = join(&cover, &inputs);
    transition_cover.extend(cover.clone());
    let accepted = |sequence: &Vec<usize>| machine.after(machine.initial(), sequence).is_some();
    transition_cover.retain(accepted);
    let asked = |prefixes: BTreeSet<Vec<usize>>, which: &dyn Fn(usize) -> Vec<Vec<usize>>| {
        let mut all = BTreeSet::new();
        for prefix in prefixes.into_iter().filter(accepted) {
            let state = machine.after(machine.initial(), &prefix).unwrap();
            all.extend(join(&BTreeSet::from([prefix]), &which(state)));
        }
        all
    };
    let whole = |_: usize| identifiers.characterisation().to_vec();
    let all = match method {
        Method::W => asked(join(&transition_cover, &up_to), &whole),
        Method::Wp => {
            let mut all = asked(join(&cover, &up_to), &whole);
            let rest = transition_cover.difference(&cover).cloned().collect();
            let own = |state: usize| identifiers.of_state(state).to_vec();
            all.extend(asked(join(&rest, &up_to), &own));
            all
        }
        Method::Hsi => {
            let own = |state: usize| identifiers.harmonised(state).to_vec();
            asked(join(&transition_cover, &up_to), &own)
        }
    };
    let is_beginning = |one: &Vec<usize>| {
        let mut others = all.iter();
        others.any(|other| other.len() > one.len() && other.starts_with(one))
    };
    all.iter()
        .filter(|one| !is_beginning(one))
        .cloned()
        .collect()
}

#[test]
fn suites_are_what_the_definitions_say() {
    let machine = textbook();
    // Counted by hand for W: eleven sequences in the transition cover, each followed by a and by
    // baaa; ten of these twenty-two begin others.
    let sizes = [
        (Method::W, (12, 78)),
        (Method::Wp, (12, 78)),
        (Method::Hsi, (12, 76)),
    ];
    for (method, size) in sizes {
        assert_eq!(suite(&machine, method, 0, LIMIT).unwrap().size(), size);
    }
    for method in Method::ALL {
        for extra in 0..3 {
            let found = suite(&machine, method, extra, LIMIT).unwrap();
            let tests: BTreeSet<Vec<usize>> = found.tests().collect();
            assert_eq!(tests, by_definition(&machine, method, extra));
            let stimuli: usize = tests.iter().map(Vec::len).sum();
            assert_eq!(found.size(), (tests.len() as u64, stimuli as u64));
        }
    }
}

/// Whether a system fails some test: it answers otherwise than the machine.
fn fails(specification: &Machine, tests: &Sequences, system: &Machine) -> bool {
    tests.tests().any(|test| {
        specification.outputs(specification.initial(), &test)
            != system.outputs(system.initial(), &test)
    })
}

/// Whether a system that accepts everything answers as the machine wherever that says something.
fn equivalent(specification: &Machine, system: &Machine) -> bool {
    let start = (specification.initial(), system.initial());
    let mut seen = BTreeSet::from([start]);
    let mut open = vec![start];
    while let Some((left, right)) = open.pop() {
        for (input, specified) in specification.responses(left) {
            let answered = system.response(right, input).unwrap();
            if specified.output != answered.output {
                return false;
            }
            let next = (specified.target, answered.target);
            if seen.insert(next) {
                open.push(next);
            }
        }
    }
    true
}

/// Every machine of so many states, inputs and outputs that accepts everything.
fn all_machines(states: usize, inputs: usize, outputs: usize) -> impl Iterator<Item = Machine> {
    let entries = states * inputs;
    let choices = states * outputs;
    (0..choices.pow(entries as u32)).map(move |number| {
        let mut rest = number;
        let mut table = vec![vec![None; inputs]; states];
        for row in &mut table {
            for entry in row {
                *entry = Some(Response {
                    output: rest % outputs,
                    target: (rest / outputs) % states,
                });
                rest /= choices;
            }
        }
        Machine::new(0, inputs, table)
    })
}

#[test]
fn no_machine_of_the_size_escapes() {
    let toggle: Machine = machine(&[&[(0, 1), (0, 0)], &[(1, 0), (0, 1)]]);
    let lock: Machine = machine(&[&[(0, 1), (1, 0)], &[(0, 1), (0, 0)]]);
    for specification in [toggle, lock] {
        for method in Method::ALL {
            for extra in 0..2 {
                let tests = suite(&specification, method, extra, LIMIT).unwrap();
                let (mut killed, mut equal) = (0, 0);
                for states in 1..=2 + extra as usize {
                    for system in all_machines(states, 2, 2) {
                        let same = equivalent(&specification, &system);
                        assert_eq!(fails(&specification, &tests, &system), !same);
                        *(if same { &mut equal } else { &mut killed }) += 1;
                    }
                }
                assert!(killed > 200 && equal > 0);
            }
        }
    }
}

/// With one state more than was bargained for, some fault escapes: the suites are not simply
/// everything.
#[test]
fn a_larger_machine_can_escape() {
    let specification = machine(&[&[(0, 1), (0, 0)], &[(1, 0), (0, 1)]]);
    let tests = suite(&specification, Method::Hsi, 0, LIMIT).unwrap();
    let escapes = all_machines(3, 2, 2).any(|system| {
        !equivalent(&specification, &system) && !fails(&specification, &tests, &system)
    });
    assert!(escapes);
}

fn random_machine(states: usize, inputs: usize, partial: bool) -> impl Strategy<Value = Machine> {
    let entry = (0..2usize, 0..states).prop_map(|(output, target)| Response { output, target });
    let entry = if partial {
        prop::option::weighted(0.75, entry).boxed()
    } else {
        entry.prop_map(Some).boxed()
    };
    prop::collection::vec(prop::collection::vec(entry, inputs), states)
        .prop_map(move |table| Machine::new(0, inputs, table))
}

/// The part of a machine that is reached, minimal, and with enough to tell its states apart.
fn usable(machine: &Machine) -> Option<Machine> {
    let cover = machine.state_cover();
    let number: Vec<usize> = cover
        .iter()
        .map(|access| machine.after(machine.initial(), access).unwrap())
        .collect();
    let place = |state: usize| number.iter().position(|known| *known == state).unwrap();
    let row = |state: &usize| {
        let inputs = 0..machine.inputs();
        let entries = inputs.map(|input| {
            machine.response(*state, input).map(|r| Response {
                target: place(r.target),
                ..r
            })
        });
        entries.collect()
    };
    let reached = Machine::new(0, machine.inputs(), number.iter().map(row).collect());
    let (minimal, _) = reached.minimal();
    Identifiers::new(&minimal).is_ok().then_some(minimal)
}

/// A system with some entries changed and some states more, which accepts everything.
fn mutant(
    specification: &Machine,
    extra: usize,
    changes: &[(usize, usize, usize, usize)],
) -> Machine {
    let states = specification.states() + extra;
    let inputs = specification.inputs();
    let mut table: Vec<Vec<Option<Response>>> = (0..states)
        .map(|state| {
            let original = state % specification.states();
            let entries = (0..inputs).map(|input| {
                let known = specification.response(original, input);
                known.or(Some(Response {
                    output: 0,
                    target: original,
                }))
            });
            entries.collect()
        })
        .collect();
    for (state, input, output, target) in changes {
        table[state % states][input % inputs] = Some(Response {
            output: *output,
            target: target % states,
        });
    }
    Machine::new(specification.initial(), inputs, table)
}

/// A machine as text, and from it as a system: output 0 is silence.
fn as_model(machine: &Machine) -> Sts {
    let mut text = "digraph {\n".to_owned();
    for state in 0..machine.states() {
        for (input, response) in machine.responses(state) {
            let output = ["", "x", "y"][response.output];
            let target = response.target;
            text.push_str(&format!(
                "s{state} -> s{target} [label=\"i{input} / {output}\"];\n"
            ));
        }
    }
    text.push_str(&format!("__start0 -> s{};\n}}", machine.initial()));
    dot::read("t", &text, &MealyOptions::default()).unwrap()
}

fn changes() -> impl Strategy<Value = Vec<(usize, usize, usize, usize)>> {
    prop::collection::vec((0..8usize, 0..3usize, 0..2usize, 0..8usize), 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn mutants_fail_exactly_where_they_differ(
        drawn in (2..6usize).prop_flat_map(|states| random_machine(states, 3, false)),
        extra in 0..2u32,
        changes in prop::collection::vec(changes(), 10),
    ) {
        let Some(specification) = usable(&drawn) else { return Ok(()) };
        let options = CompareOptions {
            equivalence: Equivalence::Weak,
            relation: Relation::Ioco,
            limit: 10_000,
        };
        for method in Method::ALL {
            let tests = suite(&specification, method, extra, LIMIT).unwrap();
            for changes in &changes {
                let system = mutant(&specification, extra as usize, changes);
                let same = equivalent(&specification, &system);
                prop_assert_eq!(fails(&specification, &tests, &system), !same);
                // The comparison of models agrees.
                let found = compare(&as_model(&specification), &as_model(&system), options).unwrap();
                prop_assert_eq!(found.bisimilar, same);
                prop_assert_eq!(found.conforms, same);
            }
        }
    }

    #[test]
    fn partial_machines_are_tested_with_what_they_accept(
        drawn in (2..6usize).prop_flat_map(|states| random_machine(states, 3, true)),
        extra in 0..2u32,
        changes in prop::collection::vec(changes(), 10),
    ) {
        let Some(specification) = usable(&drawn) else { return Ok(()) };
        if let Some((state, input)) = specification.undefined() {
            let error = suite(&specification, Method::W, extra, LIMIT).unwrap_err();
            prop_assert_eq!(error, MachineError::Partial { state, input });
        }
        let tests = suite(&specification, Method::Hsi, extra, LIMIT).unwrap();
        for test in tests.tests() {
            prop_assert!(specification.after(specification.initial(), &test).is_some());
        }
        for changes in &changes {
            let system = mutant(&specification, extra as usize, changes);
            let same = equivalent(&specification, &system);
            prop_assert_eq!(fails(&specification, &tests, &system), !same);
        }
    }

    #[test]
    fn wp_and_hsi_are_never_larger_than_w(
        drawn in (1..8usize).prop_flat_map(|states| random_machine(states, 3, false)),
        extra in 0..3u32,
    ) {
        let Some(specification) = usable(&drawn) else { return Ok(()) };
        let size = |method| suite(&specification, method, extra, LIMIT).unwrap().size();
        let (tests, stimuli) = size(Method::W);
        for method in [Method::Wp, Method::Hsi] {
            let smaller = size(method);
            prop_assert!(smaller.0 <= tests && smaller.1 <= stimuli);
        }
    }
}

fn read_model(text: &str) -> Sts {
    dot::read("t", text, &MealyOptions::default()).unwrap()
}

#[test]
fn a_model_is_read_as_a_machine() {
    // The third state behaves as the first one.
    let sts = read_model(
        "digraph { a -> b [label=\"coin/beep\"]; b -> c [label=\"coin/\"]; c -> b [label=\"coin/beep\"] }",
    );
    let model = ModelMachine::new(&sts, 100, &Interrupt::default()).unwrap();
    assert_eq!((model.waiting(), model.machine().states()), (3, 2));
    let (steps, switches) = model.test(&[0, 0]);
    let shown: Vec<String> = steps.iter().map(|step| step.show(&sts)).collect();
    assert_eq!(shown, ["?coin", "!beep", "?coin", "δ"]);
    assert_eq!(switches.len(), 3);
}

#[test]
fn reading_a_model_ends_when_somebody_asks_to_stop() {
    let interrupt = Interrupt::default();
    interrupt.raise();
    let sts = read_model("digraph { a -> a [label=\"coin/beep\"] }");
    let read = ModelMachine::new(&sts, 100, &interrupt);
    assert_eq!(
        read.unwrap_err(),
        NotAMachine::Listing(FlattenError::Interrupted)
    );
}

#[test]
fn a_model_that_is_no_machine_is_refused_with_its_reason() {
    let check = |edges: &str, part: &str| {
        let error: NotAMachine =
            ModelMachine::new(&read_model(edges), 100, &Interrupt::default()).unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
    };
    check(
        "digraph { a -> a [label=\"?x\"]; a -> a [label=i] }",
        "an internal step in a",
    );
    check(
        "digraph { a -> b [label=\"?x\"]; b -> a [label=\"!y\"]; b -> a [label=\"!z\"] }",
        "in b it may respond in different ways: !y, !z",
    );
    check(
        "digraph { a -> b [label=\"?x\"]; a -> a [label=\"?x\"] }",
        "the stimulus ?x may lead to different states",
    );
    check(
        "digraph { a -> b [label=\"!y\"]; b -> b [label=\"?x\"] }",
        "before it receives a stimulus",
    );
    check(
        "digraph { a -> b [label=\"?x\"]; b -> b [label=\"!y\"] }",
        "sends responses forever",
    );
    check(
        "digraph { a -> b [label=\"?x\"]; b -> a [label=\"!y\"]; b -> a [label=\"?x\"] }",
        "although a response is due",
    );
}

#[test]
fn distinguishing_states_can_be_interrupted() {
    let row = |state: usize| {
        let answer = |input: usize| {
            Some(Response {
                output: usize::from(state == 0 && input == 0),
                target: (state + 1) % 40,
            })
        };
        (0..5).map(answer).collect()
    };
    let machine = Machine::new(0, 5, (0..40).map(row).collect());
    let interrupt = Interrupt::default();
    let budget = ioco_budget::Budget::default();
    let meter = ioco_budget::Meter::new(&budget, Some(&interrupt));
    let halted = |found| matches!(found, Err(MachineError::Halted(_)));
    assert!(!halted(suite_within(
        &machine,
        Method::Wp,
        0,
        100_000,
        &meter
    )));
    interrupt.raise();
    for method in Method::ALL {
        let meter = ioco_budget::Meter::new(&budget, Some(&interrupt));
        assert!(halted(suite_within(&machine, method, 0, 100_000, &meter)));
    }
}

#[test]
fn states_that_nothing_distinguishes_are_reported() {
    // Only the first state accepts the second input.
    let sts = read_model(
        "digraph { a -> b [label=\"i/x\"]; b -> a [label=\"i/x\"]; a -> a [label=\"j/x\"] }",
    );
    let model = ModelMachine::new(&sts, 100, &Interrupt::default()).unwrap();
    let error = suite(model.machine(), Method::Hsi, 0, LIMIT).unwrap_err();
    assert_eq!(
        model.explain(&sts, &error),
        "no stimuli that both accept distinguish a from b"
    );
    let error = suite(model.machine(), Method::W, 0, LIMIT).unwrap_err();
    assert_eq!(model.explain(&sts, &error), "b does not accept ?j");
    let few = suite(&textbook(), Method::W, 2, 100).unwrap_err();
    assert_eq!(few, MachineError::TooLarge(100));
}

/// A ring that answers once a round: every state needs a sequence of its own length.
fn ring(states: usize) -> Machine {
    let row = |state: usize| {
        vec![Some(Response {
            output: usize::from(state == 0),
            target: (state + 1) % states,
        })]
    };
    Machine::new(0, 1, (0..states).map(row).collect())
}

#[test]
fn too_many_states_to_distinguish_are_refused() {
    let refused = |machine: &Machine| match suite(machine, Method::W, 0, LIMIT) {
        Err(MachineError::TooManyStates(limit)) => Some(limit),
        _ => None,
    };
    let limit = refused(&ring(10_000)).expect("too many states");
    assert_eq!(refused(&ring(limit + 1)), Some(limit));
    assert_eq!(refused(&ring(40)), None);
}

#[test]
fn a_suite_ends_with_its_steps() {
    let machine = ring(40);
    let within = |method, steps| {
        let budget = ioco_budget::Budget {
            steps,
            ..ioco_budget::Budget::default()
        };
        let meter = ioco_budget::Meter::new(&budget, None);
        suite_within(&machine, method, 0, LIMIT, &meter)
    };
    for method in Method::ALL {
        let whole = within(method, 10_000_000).expect("enough steps").size();
        assert_eq!(whole, suite(&machine, method, 0, LIMIT).unwrap().size());
        for steps in [0, 10, 100, 1_000] {
            let found = within(method, steps);
            let halted = matches!(
                found,
                Err(MachineError::Halted(ioco_budget::Halted::Exhausted(_)))
            );
            assert!(halted, "{method:?} within {steps} steps");
        }
    }
}

/// A machine with two inputs and three outputs, by chance.
fn by_chance(states: usize, rng: &mut impl rand::RngExt) -> Machine {
    let mut row = |_| {
        let mut entry = || Response {
            output: rng.random_range(0..3),
            target: rng.random_range(0..states),
        };
        vec![Some(entry()), Some(entry())]
    };
    Machine::new(0, 2, (0..states).map(&mut row).collect())
}

/// With every two states compared, four times as many states take more than sixteen times as many steps.
#[test]
fn the_work_for_a_suite_grows_little_faster_than_the_machine() {
    use rand::SeedableRng as _;
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(3);
    let steps = [120, 480].map(|states| {
        let machine = by_chance(states, &mut rng);
        let budget = ioco_budget::Budget {
            steps: u64::MAX,
            ..ioco_budget::Budget::default()
        };
        let meter = ioco_budget::Meter::new(&budget, None);
        let suite = suite_within(&machine, Method::Hsi, 0, LIMIT, &meter).expect("all differ");
        meter.spent() + suite.size().1
    });
    assert!(steps[1] < 8 * steps[0], "{steps:?}");
}

/// Comparing every two states of this machine would take gigabytes.
#[test]
fn states_of_a_large_machine_are_told_apart_without_comparing_all_pairs() {
    use rand::{RngExt as _, SeedableRng as _};
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(7);
    let states = 20_000;
    let machine = by_chance(states, &mut rng);
    let identifiers = Identifiers::new(&machine).expect("all differ");
    for _ in 0..2_000 {
        let (left, right) = (rng.random_range(0..states), rng.random_range(0..states));
        if left == right {
            continue;
        }
        let asked = |state: usize, question: &[usize]| {
            let mut known = identifiers.harmonised(state).iter();
            known.any(|sequence| sequence.starts_with(question))
        };
        let shared = identifiers.harmonised(left).iter().any(|sequence| {
            let length = machine.distinguished(left, right, sequence);
            length.is_some_and(|length| asked(right, &sequence[..length]))
        });
        assert!(shared, "{left} and {right}");
    }
}
