//! Tester, driver and connection together: what each kind of system leads to.

mod door;

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use ioco_adapters::{
    AdapterError, Arrival, Arrived, Connection, Crossed, InProcess, Local, Process, ProcessOptions,
    Recorder, ScriptRunner, Simulated, drive,
};
use ioco_engine::{Settings, StopConditions, Tester};
use ioco_shrink::Runner;
use ioco_solve::GuardSolver;
use ioco_sts::{
    Action, DeviationKind, Direction, Observed, Relation, Semantics, Step, Sts, Value, Verdict,
};

use door::{Door, TIMEOUT, door, door_with};

fn tester(sts: &Arc<Sts>, tests: u64) -> Tester {
    let semantics = Semantics::new(
        Arc::clone(sts),
        Box::new(GuardSolver::new()),
        Relation::Ioco,
    );
    let stop = StopConditions {
        tests: Some(tests),
        steps_per_test: 30,
        ..StopConditions::default()
    };
    let settings = Settings {
        seed: 7,
        stop,
        ..Settings::default()
    };
    Tester::new(semantics, settings)
}

/// Runs tests until the tester has had enough; the last verdict and error.
fn run(tester: &mut Tester, connection: &mut dyn Connection) -> (Verdict, Option<AdapterError>) {
    let mut last = (Verdict::Pass, None);
    while let Some(first) = tester.next_test(connection.now()) {
        let error = drive(tester, first, connection, &|| false, &mut |_| {});
        last = (tester.finished_test().execution.verdict, error);
    }
    last
}

fn failure(verdict: &Verdict) -> Option<DeviationKind> {
    match verdict {
        Verdict::Fail(deviation) => Some(deviation.kind),
        _ => None,
    }
}

fn verdict_of<S: InProcess>(system: S) -> (Verdict, Option<AdapterError>) {
    let sts = door();
    let mut connection = Local::new(system);
    run(&mut tester(&sts, 200), &mut connection)
}

#[test]
fn a_right_system_passes() {
    assert_eq!(verdict_of(Door::default()), (Verdict::Pass, None));
}

#[test]
fn a_wrong_label_a_wrong_value_and_a_missing_response_are_failures() {
    let kind = |change: fn(&mut Door)| {
        let mut wrong = Door::default();
        change(&mut wrong);
        failure(&verdict_of(wrong).0)
    };
    let unexpected = Some(DeviationKind::UnexpectedResponse);
    assert_eq!(kind(|d| d.answer = "closed"), unexpected);
    assert_eq!(kind(|d| d.answer = "exploded"), unexpected);
    assert_eq!(kind(|d| d.counts_by = 2), Some(DeviationKind::WrongValue));
    let missing = Some(DeviationKind::MissingResponse);
    assert_eq!(kind(|d| d.close_after = None), missing);
    assert_eq!(kind(|d| d.close_after = Some(TIMEOUT + 1)), missing);
    // As late as is allowed: the wait ends when the response comes.
    assert_eq!(kind(|d| d.close_after = Some(TIMEOUT)), None);
}

/// What is known about the end of the system, if that is the verdict.
fn end_of(verdict: &Verdict) -> &str {
    match verdict {
        Verdict::Ended(deviation) => match &deviation.observed {
            Observed::End(text) => text,
            _ => "",
        },
        _ => "",
    }
}

#[test]
fn a_model_played_as_a_system_conforms_to_itself() {
    for seed in 0..5 {
        let sts = door();
        let mut connection = Local::new(Simulated::new(Arc::clone(&sts), seed));
        let mut tester = tester(&sts, 100);
        assert_eq!(run(&mut tester, &mut connection), (Verdict::Pass, None));
        let coverage = tester.coverage();
        assert_eq!(coverage.covered_switches(), coverage.switches());
    }
}

#[test]
fn a_changed_model_played_as_a_system_is_found_out() {
    let sts = door();
    for (mutant, kind) in [
        (
            door_with("opened", "opened", 1),
            DeviationKind::UnexpectedResponse,
        ),
        (door_with("opened", "closed", 2), DeviationKind::WrongValue),
    ] {
        let mut connection = Local::new(Simulated::new(mutant, 1));
        let (verdict, _) = run(&mut tester(&sts, 200), &mut connection);
        assert_eq!(failure(&verdict), Some(kind));
    }
}

#[test]
fn the_same_seeds_give_the_same_run() {
    let trace = || {
        let sts = door();
        let mut connection = Local::new(Simulated::new(Arc::clone(&sts), 3));
        let mut tester = tester(&sts, 1);
        let first = tester.next_test(0).unwrap();
        drive(&mut tester, first, &mut connection, &|| false, &mut |_| {});
        tester.finished_test().execution.trace
    };
    assert_eq!(trace(), trace());
}

#[test]
fn a_script_runs_from_a_reset_and_is_recorded() {
    let sts = door();
    let mut tester = tester(&sts, 1);
    let mut connection = Local::new(Door::default());
    let stop = || false;
    let mut runner = ScriptRunner::new(&mut tester, &mut connection, &stop);
    let open = Action::plain(sts.label_named(Direction::Stimulus, "open").unwrap());
    for _ in 0..2 {
        let execution = runner.run(std::slice::from_ref(&open));
        assert_eq!(execution.verdict, Verdict::Pass);
        let shown: Vec<String> = execution.trace.iter().map(|s| s.show(&sts)).collect();
        assert_eq!(shown, ["?open", "!opened(times=1)", "!closed", "δ"]);
        let crossings: Vec<(Crossed, u64)> = runner
            .recorder
            .exchanges()
            .iter()
            .map(|e| (e.what, e.at))
            .collect();
        assert_eq!(
            crossings,
            [
                (Crossed::Stimulus, 0),
                (Crossed::Response, 0),
                (Crossed::Response, TIMEOUT / 2),
                (Crossed::Silence, TIMEOUT / 2 + TIMEOUT),
            ]
        );
    }
}

#[test]
fn a_process_that_crashes_is_an_error_with_a_hint() {
    let sts = door();
    let crash = r#"while read -r line; do
        case "$line" in *reset*) echo '{"ready":true}';; *) exit 9;; esac; done"#;
    let mut connection = Process::new(Arc::clone(&sts), ProcessOptions::shell(crash));
    let (verdict, error) = run(&mut tester(&sts, 10), &mut connection);
    assert!(end_of(&verdict).contains("exit status: 9"), "{verdict:?}");
    assert!(error.unwrap().hint.unwrap().contains("the command was"));
}

#[test]
fn a_stop_ends_a_long_wait_soon() {
    struct Sleepy;
    impl Connection for Sleepy {
        fn now(&self) -> u64 {
            0
        }
        fn reset_until(&mut self, _stop: &dyn Fn() -> bool) -> Result<(), AdapterError> {
            Ok(())
        }
        fn give_until(
            &mut self,
            _: &Action,
            _stop: &dyn Fn() -> bool,
        ) -> Result<bool, AdapterError> {
            Ok(false)
        }
        fn poll(&mut self) -> Result<Option<Arrived>, AdapterError> {
            Ok(None)
        }
        fn wait(&mut self, until: u64) -> Result<Arrived, AdapterError> {
            // The clock stands still: only a stop can end this.
            assert!(Duration::from_nanos(until) <= Duration::from_millis(50));
            Ok(Arrived {
                what: Arrival::Silence,
                at: 0,
                raw: Vec::new(),
            })
        }
    }
    let sts = door();
    let mut tester = tester(&sts, 10);
    let asked = Cell::new(0);
    let stop = || {
        asked.set(asked.get() + 1);
        asked.get() > 100
    };
    let first = tester.next_test(0).unwrap();
    drive(&mut tester, first, &mut Sleepy, &stop, &mut |_| {});
    let verdict = tester.finished_test().execution.verdict;
    assert!(matches!(verdict, Verdict::Inconclusive(_)), "{verdict:?}");
    assert_eq!(tester.next_test(0), None);
}

/// Answers from a list: per poll or wait, what arrives.
struct Scripted {
    arrivals: VecDeque<Option<Arrival>>,
    given: Vec<Action>,
    now: u64,
}

impl Connection for Scripted {
    fn now(&self) -> u64 {
        self.now
    }
    fn reset_until(&mut self, _stop: &dyn Fn() -> bool) -> Result<(), AdapterError> {
        Ok(())
    }
    fn give_until(
        &mut self,
        stimulus: &Action,
        _stop: &dyn Fn() -> bool,
    ) -> Result<bool, AdapterError> {
        self.given.push(stimulus.clone());
        Ok(true)
    }
    fn poll(&mut self) -> Result<Option<Arrived>, AdapterError> {
        let what = self.arrivals.pop_front().flatten();
        Ok(what.map(|what| Arrived {
            what,
            at: self.now,
            raw: b"raw".to_vec(),
        }))
    }
    fn wait(&mut self, until: u64) -> Result<Arrived, AdapterError> {
        let arrived = self.poll()?;
        Ok(arrived.unwrap_or_else(|| {
            self.now = until;
            Arrived {
                what: Arrival::Silence,
                at: until,
                raw: Vec::new(),
            }
        }))
    }
}

#[test]
fn what_arrived_is_judged_before_a_stimulus_is_given() {
    let sts = door();
    let opened = sts.label_named(Direction::Response, "opened").unwrap();
    let mut tester = tester(&sts, 1);
    let mut connection = Scripted {
        arrivals: VecDeque::from([Some(Arrival::Response(Action {
            label: opened,
            values: vec![Value::Int(1)],
        }))]),
        given: Vec::new(),
        now: 0,
    };
    let mut recorder = Recorder::new(&ioco_budget::Budget::default());
    let open = Action::plain(sts.label_named(Direction::Stimulus, "open").unwrap());
    let first = tester.script(vec![open], 0);
    drive(&mut tester, first, &mut connection, &|| false, &mut |c| {
        recorder.note(c);
    });
    let execution = tester.finished_test().execution;
    assert_eq!(
        failure(&execution.verdict),
        Some(DeviationKind::UnexpectedResponse)
    );
    assert_eq!(connection.given, []);
    assert_eq!(recorder.exchanges()[0].raw, b"raw");
}

#[test]
fn a_claim_of_quiescence_ends_a_wait_for_a_response() {
    let sts = door();
    let mut tester = tester(&sts, 1);
    let mut connection = Scripted {
        // Nothing before the stimulus; after it the system says that it will not answer.
        arrivals: VecDeque::from([None, Some(Arrival::Quiescent)]),
        given: Vec::new(),
        now: 0,
    };
    let open = Action::plain(sts.label_named(Direction::Stimulus, "open").unwrap());
    let first = tester.script(vec![open.clone()], 0);
    drive(&mut tester, first, &mut connection, &|| false, &mut |_| {});
    let execution = tester.finished_test().execution;
    assert_eq!(
        failure(&execution.verdict),
        Some(DeviationKind::MissingResponse)
    );
    assert_eq!(execution.trace, [Step::Stimulus(open)]);
    assert!(connection.now < TIMEOUT);
}
