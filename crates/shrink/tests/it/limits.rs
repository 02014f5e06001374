//! Every search ends: at its limit, or when somebody asks.

use std::sync::Arc;

use ioco_shrink::{Ended, Options, Pipeline, Runner, SHRINKERS, ShrinkObserver, shrink};
use ioco_solve::GuardSolver;
use ioco_sts::{
    Action, Deviation, DeviationKind, Direction, Execution, Observed, Relation, Semantics, Step,
    Sts, Value, Verdict,
};

use crate::flat_model::{Transition, semantics, sts};
use crate::shrink_by;

fn aml(text: &str) -> Arc<Sts> {
    let loaded = ioco_aml::load_text("model.aml", text);
    loaded.sts.expect("a model without errors")
}

fn with_solver(sts: &Arc<Sts>) -> Semantics {
    Semantics::new(
        Arc::clone(sts),
        Box::new(GuardSolver::new()),
        Relation::Ioco,
    )
}

fn stimulus(sts: &Sts, name: &str, values: &[i64]) -> Action {
    Action {
        label: sts.label_named(Direction::Stimulus, name).expect("known"),
        values: values.iter().map(|v| Value::Int(*v)).collect(),
    }
}

/// A system that is silent, and answers `!error` to the lists that `fails` names.
struct Silent<F> {
    semantics: Semantics,
    fails: F,
    log: Vec<Vec<Action>>,
}

impl<F: Fn(&[Action]) -> bool> Runner for Silent<F> {
    fn run(&mut self, stimuli: &[Action]) -> Execution {
        self.log.push(stimuli.to_vec());
        let (mut set, mut trace) = (self.semantics.initial(), Vec::new());
        for (index, action) in stimuli.iter().enumerate() {
            let step = Step::Stimulus(action.clone());
            let Some(next) = self.semantics.after(set, &step) else {
                let verdict = Verdict::inconclusive(ioco_sts::Cause::NotOffered, "not offered");
                return Execution { trace, verdict };
            };
            (set, _) = (next, trace.push(step));
            if (self.fails)(&stimuli[..=index]) {
                let verdict = Verdict::Fail(Deviation {
                    kind: DeviationKind::UnexpectedResponse,
                    observed: Observed::Unknown("error".to_owned()),
                    states: Arc::clone(self.semantics.set(set)),
                });
                return Execution { trace, verdict };
            }
        }
        let verdict = Verdict::Pass;
        Execution { trace, verdict }
    }
}

#[test]
fn auto_ends_on_a_model_that_may_send_for_ever() {
    let text = |s: &str, l: &str, t: &str| -> Transition { (s.into(), l.into(), t.into()) };
    let transitions = [
        text("0", "?a", "1"),
        text("0", "!tick", "0"),
        text("1", "!tick", "1"),
        text("1", "?a", "0"),
        text("1", "?b", "1"),
    ];
    let sts = sts("ticks", &transitions);
    let list = ["a", "b", "a", "a", "b", "b"].map(|name| stimulus(&sts, name, &[]));
    let fails = |list: &[Action]| list.len() >= 4;
    let mut runner = Silent {
        semantics: semantics(&sts),
        fails,
        log: Vec::new(),
    };
    let failure = runner.run(&list);
    for shrinker in SHRINKERS {
        let options = Options {
            runs: Some(200),
            prove: true,
            ..Options::default()
        };
        let mut model = semantics(&sts);
        let shrunk = shrink_by(shrinker.name, &mut model, &failure, &mut runner, &options);
        assert_eq!(shrunk.expect("a failing trace").execution.length(), 5);
    }
}

/// Three counters: as many states as anybody wants.
const COUNTERS: &str = "
external 'e'
process('Counters') {
  channel('e') {
    stimulus 'i'
    stimulus 'j'
    stimulus 'k'
    response 'never'
  }
  var 'a', :integer, 0
  var 'b', :integer, 0
  var 'c', :integer, 0
  state 'S'
  repeat {
    o { receive 'i', update: 'a = a + 1' }
    o { receive 'j', update: 'b = b + 1' }
    o { receive 'k', update: 'c = c + 1' }
  }
}
";

/// Stops after a number of looks.
struct Patience(usize);

impl ShrinkObserver for Patience {
    fn stop(&mut self) -> bool {
        self.0 = self.0.saturating_sub(1);
        self.0 == 0
    }
}

#[test]
fn no_search_is_deaf_to_the_stop() {
    let sts = aml(COUNTERS);
    let names = ["i", "j", "k"];
    let list: Vec<Action> = (0..300)
        .map(|n| stimulus(&sts, names[n % 3], &[]))
        .collect();
    for shrinker in SHRINKERS {
        let mut runner = Silent {
            semantics: with_solver(&sts),
            fails: |list: &[Action]| list.len() == 300,
            log: Vec::new(),
        };
        let failure = runner.run(&list);
        let pipeline: Pipeline = shrinker.name.parse().expect("a shrinker");
        let options = Options {
            prove: true,
            ..Options::default()
        };
        let mut model = with_solver(&sts);
        let mut watch = Patience(20);
        let shrunk = shrink(
            &pipeline,
            &mut model,
            &failure,
            &mut runner,
            &options,
            &mut watch,
        )
        .expect("a failing trace");
        assert_eq!(shrunk.ended, Ended::Interrupted, "{}", shrinker.name);
        // The trace itself has three hundred states.
        let states = model.remembered();
        assert!(states < 5_000, "{}: {states} states", shrinker.name);
    }
}

/// Three thousand ways into a state that leads nowhere: each waits for a search of its own, and all those searches
/// end without a path. They must not be nested in each other.
#[test]
fn a_queue_of_paths_that_lead_nowhere_needs_no_stack() {
    const WAYS: usize = 3_000;
    const SMALL_STACK: usize = 256 << 10;
    let shrinks = || {
        let line = |s: &str, l: &str, t: &str| -> Transition { (s.into(), l.into(), t.into()) };
        let mut transitions = vec![line("0", "?go", "1"), line("0", "?x", "0")];
        transitions.extend((0..WAYS).map(|way| line("0", &format!("?way{way}"), "nowhere")));
        let sts = sts("ways", &transitions);
        let list = ["x", "go"].map(|name| stimulus(&sts, name, &[]));
        for name in ["sps-por-label-count", "sps-por-subpaths"] {
            // It fails once, so that every path is tried.
            let failed = std::cell::Cell::new(false);
            let mut runner = Silent {
                semantics: semantics(&sts),
                fails: |list: &[Action]| list.len() == 2 && !failed.replace(true),
                log: Vec::new(),
            };
            let failure = runner.run(&list);
            assert!(failure.deviation().is_some());
            let mut model = semantics(&sts);
            let shrunk = shrink_by(name, &mut model, &failure, &mut runner, &Options::default());
            assert!(shrunk.is_ok(), "{name}");
            assert!(runner.log.len() > 1, "{name}");
        }
    };
    std::thread::scope(|scope| {
        let small = std::thread::Builder::new().stack_size(SMALL_STACK);
        let thread = small.spawn_scoped(scope, shrinks).expect("a thread");
        thread.join().expect("no overflow");
    });
}

const STACK: &str = "
external 'e'
process('Stack') {
  channel('e') {
    stimulus 'push', {'v' => integer(0..9)}
    stimulus 'undo'
    stimulus 'check'
    response 'never'
  }
  state 'A'
  receive 'push'
  goto 'B'
  state 'B'
  choice {
    o { receive 'undo'; goto 'A' }
    o { receive 'check'; goto 'C' }
  }
  state 'C'
  receive 'push'
  goto 'A'
}
";

fn stack_runner(sts: &Arc<Sts>) -> Silent<impl Fn(&[Action]) -> bool + use<>> {
    let check = stimulus(sts, "check", &[]).label;
    let is_push = |action: &Action, value: i64| action.values == [Value::Int(value)];
    Silent {
        semantics: with_solver(sts),
        // A seven makes the next check fail; a three does not.
        fails: move |list: &[Action]| {
            let (last, before) = list.split_last().expect("not empty");
            last.label == check && before.iter().any(|a| is_push(a, 7))
        },
        log: Vec::new(),
    }
}

#[test]
fn actions_with_other_values_are_other_actions() {
    let sts = aml(STACK);
    for (first, second) in [(7, 3), (3, 7)] {
        let list = [
            stimulus(&sts, "push", &[first]),
            stimulus(&sts, "undo", &[]),
            stimulus(&sts, "push", &[second]),
            stimulus(&sts, "check", &[]),
        ];
        for name in ["auto", "sps-por-label-count", "sps-all-paths", "delta"] {
            let mut runner = stack_runner(&sts);
            let failure = runner.run(&list);
            assert!(failure.deviation().is_some());
            let options = Options {
                simplify_values: false,
                ..Options::default()
            };
            let mut model = with_solver(&sts);
            let shrunk = shrink_by(name, &mut model, &failure, &mut runner, &options)
                .expect("a failing trace");
            let stimuli: Vec<Action> = shrunk.execution.stimuli().cloned().collect();
            let wanted = [stimulus(&sts, "push", &[7]), stimulus(&sts, "check", &[])];
            assert_eq!(stimuli, wanted, "{name}, {first} before {second}");
        }
    }
}

#[test]
fn the_search_by_length_gives_values() {
    let sts = aml(STACK);
    let list = [
        stimulus(&sts, "push", &[7]),
        stimulus(&sts, "undo", &[]),
        stimulus(&sts, "push", &[3]),
        stimulus(&sts, "check", &[]),
    ];
    let mut runner = stack_runner(&sts);
    let failure = runner.run(&list);
    let mut model = with_solver(&sts);
    let options = Options::default();
    let shrunk = shrink_by("length-search", &mut model, &failure, &mut runner, &options)
        .expect("a failing trace");
    let given = runner.log.iter().flatten();
    assert!(given.clone().any(|action| !action.values.is_empty()));
    assert_eq!(shrunk.execution.stimuli().count(), 2);
}

/// Silent until the second `?a`, although the model demands `!x` from the beginning on.
struct Late(Semantics);

impl Runner for Late {
    fn run(&mut self, _stimuli: &[Action]) -> Execution {
        missing(&mut self.0, Vec::new())
    }
}

fn missing(semantics: &mut Semantics, trace: Vec<Step>) -> Execution {
    let set = trace.iter().fold(semantics.initial(), |set, step| {
        semantics.after(set, step).expect("a trace of the model")
    });
    let verdict = Verdict::Fail(Deviation {
        kind: DeviationKind::MissingResponse,
        observed: Observed::Silence(1),
        states: Arc::clone(semantics.set(set)),
    });
    Execution { trace, verdict }
}

#[test]
fn a_prefix_that_was_interrupted_is_not_taken_for_one_that_passed() {
    let text = |s: &str, l: &str, t: &str| -> Transition { (s.into(), l.into(), t.into()) };
    let transitions = [
        text("0", "!x", "0"),
        text("0", "?a", "2"),
        text("2", "?a", "0"),
    ];
    let sts = sts("late", &transitions);
    let mut model = semantics(&sts);
    let a = Step::Stimulus(stimulus(&sts, "a", &[]));
    let x = sts.label_named(Direction::Response, "x").expect("known");
    let x = Step::Response(Action::plain(x));
    let failure = missing(&mut model, vec![x.clone(), a.clone(), a, x]);
    let options = Options {
        interrupted: true,
        same: true,
        ..Options::default()
    };
    let mut runner = Late(semantics(&sts));
    let shrunk = shrink_by("auto", &mut model, &failure, &mut runner, &options);
    let shrunk = shrunk.expect("a failing trace");
    assert_eq!(shrunk.execution.length(), 0);
    assert!(shrunk.runs > 0);
}
