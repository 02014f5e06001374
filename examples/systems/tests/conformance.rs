//! The right systems conform to the models, and every mutant is found by a plain random walk.

mod frames;
mod shops;
mod walk;

use ioco_examples::flat::Case;
use ioco_examples::{Message, mutants, names, system};
use ioco_sts::{Direction, Semantics, SetId, Step};
use walk::{examples, model, semantics, step};

/// Repeatable random numbers for a test.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % sides
    }
}

fn model_of(name: &str) -> &'static str {
    match name {
        "smartdoor" => "smartdoor/model.aml",
        "koopman" => "koopman/model.aml",
        "atm" => "atm/model.aml",
        "blockbuster" => "blockbuster/model.aml",
        "calculator" => "calculator/model.aml",
        "coffee-1" => "coffee/figure1.aml",
        "coffee-2" => "coffee/model.aml",
        "coffee-8" => "coffee/figure8.aml",
        "coffee-9" => "coffee/figure9.aml",
        "coffee-10" => "coffee/figure10.aml",
        "queue" => "queue/model.aml",
        "retransmission" => "retransmission/model.aml",
        _ => "echo/model.aml",
    }
}

/// The stimuli to choose from: those of the dictionary, or values at and around the borders.
fn alphabet(name: &str) -> Vec<Message> {
    if let Some(case) = Case::from_name(name) {
        let labels = case.labels(Direction::Stimulus);
        let mut messages = Vec::new();
        for label in labels {
            let message = case
                .to_data(Direction::Stimulus, &label)
                .expect("a known label");
            if !messages.contains(&message) {
                messages.push(message);
            }
        }
        return messages;
    }
    let with = |label: &str, parameter: &str, values: &[i64]| -> Vec<Message> {
        let message = |value: &i64| Message::plain(label).with(parameter, *value);
        values.iter().map(message).collect()
    };
    let numbers = [-11, -1, 1, 2, 5, 9, 10, 12];
    let coins = [5, 10, 19, 20, 40, 49, 50, 51, 60, 80, 200];
    match name {
        "calculator" | "coffee-10" => {
            [with("x", "value", &numbers), with("y", "value", &numbers)].concat()
        }
        "coffee-8" => [
            with("coin", "value", &coins),
            with("button", "number", &[1, 2]),
        ]
        .concat(),
        "queue" => vec![
            Message::plain("enqueue").with("value", 3),
            Message::plain("enqueue").with("value", 4),
            Message::plain("dequeue"),
        ],
        "retransmission" => frames::alphabet(),
        "blockbuster" => [
            shops::profiles(),
            (0..60).map(shops::shop).collect::<Vec<_>>(),
        ]
        .concat(),
        "echo" => with("ping", "number", &[1, 12, 13]),
        _ => with("coin", "value", &coins),
    }
}

/// How many tests of how many stimuli find every mutant.
fn budget(name: &str) -> (usize, usize) {
    match name {
        "queue" => (2, 1000),
        "atm" => (60, 60),
        "blockbuster" => (12, 20),
        _ => (200, 60),
    }
}

/// The set after a response, or `None` where the model does not allow it.
fn after(semantics: &mut Semantics, from: SetId, response: &Message) -> Option<SetId> {
    let step = step(semantics.sts(), Direction::Response, response)?;
    semantics.after(from, &step)
}

/// Tests a system; the trace of the first deviation, if there is one.
fn deviation(name: &str, mutant: Option<&str>, semantics: &mut Semantics) -> Option<Vec<String>> {
    let mut system = system(name, mutant).expect("a listed system");
    let (tests, steps) = budget(name);
    let mut stimuli = Vec::new();
    for stimulus in alphabet(name) {
        let step = step(semantics.sts(), Direction::Stimulus, &stimulus);
        stimuli.push((stimulus, step.expect("a stimulus of the model")));
    }
    let mut dice = Dice(7);
    for _ in 0..tests {
        system.reset();
        let mut set = semantics.initial();
        let mut trace = Vec::new();
        for _ in 0..steps {
            let offered: Vec<_> = stimuli
                .iter()
                .filter_map(|(stimulus, step)| Some((stimulus, semantics.after(set, step)?)))
                .collect();
            if offered.is_empty() {
                break;
            }
            let (stimulus, next) = offered[dice.below(offered.len())];
            trace.push(format!("?{stimulus:?}"));
            set = next;
            for response in system.give(stimulus) {
                trace.push(format!("!{response:?}"));
                match after(semantics, set, &response) {
                    Some(next) => set = next,
                    None => return Some(trace),
                }
            }
            match semantics.after(set, &Step::Quiescence) {
                Some(next) => set = next,
                None => return Some(trace),
            }
        }
    }
    None
}

#[test]
fn the_right_systems_never_fail_and_every_mutant_is_found() {
    for name in names() {
        let sts = model(&examples().join(model_of(name)));
        let mut semantics = semantics(&sts);
        assert_eq!(deviation(name, None, &mut semantics), None, "{name}");
        for (mutant, _, _) in mutants(name) {
            let found = deviation(name, Some(mutant), &mut semantics);
            assert!(found.is_some(), "{name} {mutant} is not found");
        }
    }
}

#[test]
fn the_dropped_element_needs_43_enqueues_and_43_dequeues() {
    let sts = model(&examples().join("queue/model.aml"));
    let mut semantics = semantics(&sts);
    let mut fails = |enqueues: i64, dequeues: usize| {
        let mut queue = system("queue", Some("m01")).expect("a listed mutant");
        let mut set = semantics.initial();
        let given = (0..enqueues).map(|n| Message::plain("enqueue").with("value", n));
        let taken = std::iter::repeat_n(Message::plain("dequeue"), dequeues);
        for stimulus in given.chain(taken) {
            let step = step(&sts, Direction::Stimulus, &stimulus).expect("a stimulus");
            set = semantics.after(set, &step).expect("an offered stimulus");
            for response in queue.give(&stimulus) {
                match after(&mut semantics, set, &response) {
                    Some(next) => set = next,
                    None => return true,
                }
            }
        }
        false
    };
    assert!(fails(43, 43));
    assert!(!fails(42, 60));
    assert!(!fails(60, 42));
}
