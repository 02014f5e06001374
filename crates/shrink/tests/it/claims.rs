//! A claim says what was tried, and no more.

use std::sync::Arc;

use ioco_shrink::{Confidence, Confirmation, Options, Runner, Shrunk};
use ioco_sts::{
    Action, Deviation, DeviationKind, Direction, Execution, Observed, Step, Sts, Verdict,
};

use crate::flat_model::{Transition, semantics, sts};
use crate::flat_runner::FlatRunner;
use crate::flat_systems::FlatSystem;
use crate::shrink_by;

fn transitions(text: &str) -> Vec<Transition> {
    let lines = text.split_whitespace().map(|line| {
        let parts: Vec<&str> = line.split(',').collect();
        let [source, label, target] = parts[..] else {
            panic!("source,label,target: {line}");
        };
        (source.to_owned(), label.to_owned(), target.to_owned())
    });
    lines.collect()
}

fn list(sts: &Sts, names: &str) -> Vec<Action> {
    let label = |name| sts.label_named(Direction::Stimulus, name).expect("a label");
    let names = names.split_whitespace();
    names.map(|name| Action::plain(label(name))).collect()
}

fn shrunk(
    name: &str,
    sts: &Arc<Sts>,
    failure: &Execution,
    runner: &mut dyn Runner,
    options: &Options,
) -> Shrunk {
    let mut model = semantics(sts);
    shrink_by(name, &mut model, failure, runner, options).expect("a failing trace")
}

/// Answers `!error` to every `?last`.
#[derive(Clone, Debug)]
struct FailsAtLast;

impl FlatSystem for FailsAtLast {
    fn give(&mut self, stimulus: &str) -> Vec<String> {
        match stimulus {
            "last" => vec!["error".to_owned()],
            _ => Vec::new(),
        }
    }

    fn fork(&self) -> Box<dyn FlatSystem> {
        Box::new(self.clone())
    }
}

#[test]
fn delta_claims_nothing_about_stimuli_that_it_never_left_out() {
    let sts = sts("two", &transitions("0,?first,0 0,?last,0"));
    let mut runner = FlatRunner::new(&sts, || Box::new(FailsAtLast) as Box<dyn FlatSystem>);
    let failure = runner.run(&list(&sts, "first last"));
    let delta = shrunk("delta", &sts, &failure, &mut runner, &Options::default());
    // Two stimuli: it tries nothing, and the first could go.
    assert_eq!((delta.runs, delta.execution.length()), (0, 3));
    assert_eq!(delta.minimal, None);
    let elem = shrunk(
        "delta+elem",
        &sts,
        &failure,
        &mut runner,
        &Options::default(),
    );
    assert_eq!(elem.execution.length(), 2);
    assert_eq!(elem.minimal.map(|left_out| left_out.stimuli), Some(1));
}

#[test]
fn auto_leaves_out_every_stimulus_of_what_it_cannot_explain() {
    // Three stimuli in order, none of which changes the model.
    #[derive(Clone, Debug)]
    struct InOrder(usize);
    impl FlatSystem for InOrder {
        fn give(&mut self, stimulus: &str) -> Vec<String> {
            self.0 += usize::from(stimulus == ["a", "b", "c"][self.0 % 3]);
            match self.0 == 3 {
                true => vec!["error".to_owned()],
                false => Vec::new(),
            }
        }
        fn fork(&self) -> Box<dyn FlatSystem> {
            Box::new(self.clone())
        }
    }
    let sts = sts("order", &transitions("0,?a,0 0,?b,0 0,?c,0"));
    let mut runner = FlatRunner::new(&sts, || Box::new(InOrder(0)) as Box<dyn FlatSystem>);
    let failure = runner.run(&list(&sts, "a b c"));
    assert!(failure.deviation().is_some());
    runner.log.clear();
    let auto = shrunk("auto", &sts, &failure, &mut runner, &Options::default());
    assert_eq!(auto.minimal.map(|left_out| left_out.stimuli), Some(3));
    // `a b` is known from the failing trace itself. A run shows what every prefix of it does.
    for candidate in ["b c", "a c"] {
        let wanted = list(&sts, candidate);
        assert!(
            runner.log.iter().any(|run| run.starts_with(&wanted)),
            "{candidate}"
        );
    }
}

/// Answers `!b` to `?go`; `?w` is fine, `?y` and `?z` are not answered.
#[derive(Clone, Debug)]
struct TakesTheSecondWay;

impl FlatSystem for TakesTheSecondWay {
    fn give(&mut self, stimulus: &str) -> Vec<String> {
        match stimulus {
            "go" => vec!["b".to_owned()],
            "w" => vec!["ok".to_owned()],
            "y" | "z" => vec!["wrong".to_owned()],
            _ => Vec::new(),
        }
    }

    fn fork(&self) -> Box<dyn FlatSystem> {
        Box::new(self.clone())
    }
}

#[test]
fn a_proof_follows_what_the_system_answers() {
    let text = "0,?go,1 1,!a,2 1,!b,3 2,?x,2 3,?w,4 4,!ok,5 5,?y,6 6,!ok,7 3,?z,8 8,!ok,7";
    let sts = sts("ways", &transitions(text));
    let mut runner = FlatRunner::new(&sts, || Box::new(TakesTheSecondWay) as Box<dyn FlatSystem>);
    let failure = runner.run(&list(&sts, "go w y"));
    assert_eq!(failure.length(), 6);
    for name in ["auto", "cycle", "sps-all-paths"] {
        let options = Options {
            prove: true,
            ..Options::default()
        };
        let shrunk = shrunk(name, &sts, &failure, &mut runner, &options);
        let proof = shrunk.proved.expect("a proof");
        assert_eq!(shrunk.execution.length(), 4, "{name}");
        assert!(proof.shortest && proof.no_failure_below == 4, "{proof:?}");
    }
}

#[test]
fn a_proof_says_that_stimuli_were_never_given_before_a_response() {
    // `?b` may be given while `!x` is due: such traces are not tried.
    let text = "0,?a,1 1,!x,2 1,?b,3 3,!x,2 2,?last,2";
    let sts = sts("race", &transitions(text));
    #[derive(Clone, Debug)]
    struct Answers;
    impl FlatSystem for Answers {
        fn give(&mut self, stimulus: &str) -> Vec<String> {
            match stimulus {
                "a" => vec!["x".to_owned()],
                _ => vec!["error".to_owned()],
            }
        }
        fn fork(&self) -> Box<dyn FlatSystem> {
            Box::new(self.clone())
        }
    }
    let mut runner = FlatRunner::new(&sts, || Box::new(Answers) as Box<dyn FlatSystem>);
    let failure = runner.run(&list(&sts, "a last"));
    let options = Options {
        prove: true,
        ..Options::default()
    };
    let shrunk = shrunk("auto", &sts, &failure, &mut runner, &options);
    let proof = shrunk.proved.expect("a proof");
    assert!(!proof.shortest && proof.no_failure_below == 4, "{proof:?}");
    insta::assert_snapshot!(proof.remark.unwrap_or_default(), @"stimuli were only given when the system was silent, and the model allows them sooner");
}

/// Ends at `?first`, which shows only once the tester has given all it has: as a process whose end is noticed late.
struct EndsUnnoticed(Arc<Sts>);

impl Runner for EndsUnnoticed {
    fn run(&mut self, stimuli: &[Action]) -> Execution {
        let trace = stimuli.iter().cloned().map(Step::Stimulus).collect();
        let model = semantics(&self.0);
        let ended = Deviation {
            kind: DeviationKind::Ended,
            observed: Observed::End("exit status: 0".to_owned()),
            states: Arc::clone(model.set(model.initial())),
        };
        let first = self.0.label_named(Direction::Stimulus, "first");
        let verdict = match stimuli.iter().any(|given| Some(given.label) == first) {
            true => Verdict::Fail(ended),
            false => Verdict::Pass,
        };
        Execution { trace, verdict }
    }
}

#[test]
fn the_end_of_a_system_may_have_come_before_the_last_stimuli() {
    let sts = sts("two", &transitions("0,?first,0 0,?last,0"));
    let mut runner = EndsUnnoticed(Arc::clone(&sts));
    let failure = runner.run(&list(&sts, "first last"));
    for name in ["delta", "elem", "auto"] {
        let shrunk = shrunk(name, &sts, &failure, &mut runner, &Options::default());
        let stimuli = shrunk.execution.stimuli().count();
        assert!(
            stimuli == 1 || shrunk.minimal.is_none(),
            "{name}: {shrunk:?}"
        );
    }
    let auto = shrunk("auto", &sts, &failure, &mut runner, &Options::default());
    assert_eq!(auto.execution.stimuli().count(), 1);
}

#[test]
fn a_failure_that_is_seen_again_in_another_place_is_confirmed_and_shrunk_from_there() {
    let sts = sts("late", &transitions("0,?quiet,0 0,?ask,1 1,!answer,0"));
    let mut model = semantics(&sts);
    let one = |states| Deviation {
        kind: DeviationKind::UnexpectedResponse,
        observed: Observed::Unknown("one".to_owned()),
        states,
    };
    let mut at = |names: &str| {
        let trace: Vec<Step> = list(&sts, names).into_iter().map(Step::Stimulus).collect();
        let mut set = model.initial();
        for step in &trace {
            set = model.after(set, step).expect("allowed");
        }
        let verdict = Verdict::Fail(one(Arc::clone(model.set(set))));
        Execution { trace, verdict }
    };
    // The response crossed `?ask` when it was found, and never again.
    let (found, again) = (at("quiet ask"), at("quiet"));
    let mut confirmation = Confirmation::default();
    confirmation.count(&found, again.clone());
    confirmation.count(&found, again.clone());
    assert!(!confirmation.confidence.is_flaky());
    assert_eq!(confirmation.execution(&found), &again);
    // Where it is seen as it was found as well, that is what is shrunk.
    confirmation.count(&found, found.clone());
    assert_eq!(confirmation.execution(&found), &found);
    // Nothing, and another response, are not that failure.
    let passed = Execution {
        verdict: Verdict::Pass,
        ..again.clone()
    };
    let other = Execution {
        verdict: Verdict::Fail(Deviation {
            observed: Observed::Unknown("two".to_owned()),
            ..one(Arc::clone(&again.deviation().expect("a failure").states))
        }),
        ..again
    };
    confirmation.count(&found, passed);
    confirmation.count(&found, other);
    let Confidence { failed, runs } = confirmation.confidence;
    assert_eq!((failed, runs), (3, 5));
}
