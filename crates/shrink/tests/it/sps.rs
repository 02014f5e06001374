//! The shortest-path shrinkers: the example of van den Broek 2024, section 4.5, candidate by candidate, and
//! the published figures.

use ioco_shrink::{BugKind, Ended, Options, Runner as _};
use ioco_sts::{Action, Direction};

use crate::flat_model::{Transition, semantics, sts};
use crate::flat_runner::FlatRunner;
use crate::flat_systems::FlatSystem;
use crate::published_data::cases;
use crate::shrink_by;

/// Figure 4.5, stimuli only: three diamonds and a short cut from state 1 to state 14.
fn figure() -> Vec<Transition> {
    let text = "1 q 2, 1 r 3, 1 s 4, 1 t 14, 2 a 5, 2 x 6, 3 b 7, 3 y 8, 4 c 9, 4 z 10, 5 x 11, \
                6 a 11, 7 y 12, 8 b 12, 9 z 13, 10 c 13, 11 q 14, 12 r 14, 13 s 14, 14 u 1";
    text.split(", ")
        .map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            (
                words[0].to_owned(),
                format!("?{}", words[1]),
                words[2].to_owned(),
            )
        })
        .collect()
}

/// Answers `!error` when it comes to state 14 after an `?s`.
#[derive(Clone, Debug)]
struct Remembers {
    state: String,
    saw_s: bool,
}

impl FlatSystem for Remembers {
    fn fork(&self) -> Box<dyn FlatSystem> {
        Box::new(self.clone())
    }

    fn give(&mut self, stimulus: &str) -> Vec<String> {
        let label = format!("?{stimulus}");
        let mut transitions = figure().into_iter();
        if let Some(found) = transitions.find(|t| t.0 == self.state && t.1 == label) {
            self.state = found.2;
        }
        self.saw_s |= stimulus == "s";
        match self.state == "14" && self.saw_s {
            true => vec!["error".to_owned()],
            false => Vec::new(),
        }
    }
}

/// The candidates that a shrinker runs on a failing trace of the figure, one a line.
fn candidates(shrinker: &str, trace: &str) -> String {
    let sts = sts("figure", &figure());
    let mut runner = FlatRunner::new(&sts, || {
        Box::new(Remembers {
            state: "1".to_owned(),
            saw_s: false,
        }) as Box<dyn FlatSystem>
    });
    let stimuli: Vec<Action> = trace
        .split_whitespace()
        .map(|name| Action::plain(sts.label_named(Direction::Stimulus, name).expect("a label")))
        .collect();
    let failure = runner.run(&stimuli);
    runner.log.clear();
    let shrunk = shrink_by(
        shrinker,
        &mut semantics(&sts),
        &failure,
        &mut runner,
        &Options::default(),
    )
    .expect("a failing trace");
    assert_eq!(shrunk.kind, BugKind::Trace);
    let name = |action: &Action| sts.label(action.label).name.clone();
    let line = |list: &Vec<Action>| list.iter().map(name).collect::<Vec<_>>().join(" ");
    runner.log.iter().map(line).collect::<Vec<_>>().join("\n")
}

const ORIGINAL: &str = "q a x q u s z c s";

#[test]
fn all_paths_of_the_example_come_in_the_published_order() {
    insta::assert_snapshot!(candidates("sps-all-paths", ORIGINAL), @"
    t
    t u t
    q a x q
    q x a q
    r b y r
    r y b r
    s c z s
    ");
}

#[test]
fn label_count_tries_one_order_of_each_diamond() {
    insta::assert_snapshot!(candidates("sps-por-label-count", ORIGINAL), @"
    t
    t u t
    q a x q
    r b y r
    s c z s
    ");
}

#[test]
fn subpaths_prefers_what_the_trace_did() {
    insta::assert_snapshot!(candidates("sps-por-subpaths", ORIGINAL), @"
    t
    t u t
    q a x q
    s z c s
    ");
}

#[test]
fn subpaths_of_a_trace_with_few_transitions_are_few() {
    insta::assert_snapshot!(candidates("sps-por-subpaths", "t u t u s z c s"), @"
    t
    t u t
    s z c s
    ");
}

#[test]
fn subpaths_of_a_trace_with_many_transitions_are_many() {
    let trace = "t u q a x q u q x a q u r y b r u s z c s";
    insta::assert_snapshot!(candidates("sps-por-subpaths", trace), @"
    t
    t u t
    q a x q
    q x a q
    r y b r
    s z c s
    ");
}

/// What van den Broek 2024 calls state bugs, in its Tables 5.2 to 5.4.
const STATE_BUGS: [&str; 11] = [
    "smartdoor m01",
    "smartdoor m02",
    "smartdoor m04",
    "smartdoor m05",
    "smartdoor m06",
    "smartdoor m07",
    "koopman m03",
    "koopman m06",
    "atm m01",
    "atm m03",
    "atm m04",
];

#[test]
fn state_bugs_take_one_run_and_reach_the_published_length() {
    for case in cases() {
        let who = format!("{} {}", case.experiment, case.mutant);
        if !STATE_BUGS.contains(&who.as_str()) {
            continue;
        }
        for name in ["sps-all-paths", "sps-por-label-count", "sps-por-subpaths"] {
            let mut model = semantics(&case.sts);
            let mut lengths = Vec::new();
            for failure in case.failures() {
                let mut runner = case.runner();
                let options = Options::default();
                let shrunk = shrink_by(name, &mut model, &failure, &mut runner, &options)
                    .expect("a failing trace of the model");
                assert_eq!(
                    (shrunk.runs, shrunk.kind),
                    (1, BugKind::State),
                    "{who} {name}"
                );
                lengths.push(shrunk.execution.length() as u64);
            }
            if let Some(published) = case.published.get(name) {
                assert_eq!(lengths, published.final_length, "{who} {name}");
            }
        }
    }
}

#[test]
fn all_paths_finishes_where_the_published_one_ran_out_of_time() {
    for case in cases() {
        if case.experiment != "koopman" {
            continue;
        }
        // One trace each keeps the test short; the experiment runs them all.
        let failure = &case.failures()[0];
        let shrunk = shrink_by(
            "sps-all-paths",
            &mut semantics(&case.sts),
            failure,
            &mut case.runner(),
            &Options::default(),
        )
        .expect("a failing trace of the model");
        assert_eq!(shrunk.ended, Ended::Finished, "{}", case.mutant);
        assert!(shrunk.execution.length() < failure.length());
    }
}
