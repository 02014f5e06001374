//! When silence counts, and what a test leaves behind for the next: on a clock that the tests move.

#[allow(dead_code)] // the door as a model is enough here
mod door;

use std::collections::VecDeque;
use std::sync::Arc;

use ioco_adapters::{AdapterError, Arrival, Arrived, Connection, drive};
use ioco_engine::{Settings, StopConditions, Tester};
use ioco_solve::GuardSolver;
use ioco_sts::{Action, DeviationKind, Direction, Relation, Semantics, Sts, Value, Verdict};

use door::{TIMEOUT, door};

const MILLISECOND: u64 = 1_000_000;

/// A connection whose clock runs as these tests say. The system answers `?open` by `!opened`, and
/// closes the door by itself.
struct Simulated {
    sts: Arc<Sts>,
    now: u64,
    opened: i64,
    /// What the system will send, and when it reaches this machine.
    due: VecDeque<(u64, Action)>,
    /// How long after a stimulus the system answers.
    answers_after: u64,
    /// The machine stands still once, from this time on, for so long: tester and system both.
    pause: Option<(u64, u64)>,
    /// Another thread reads, and only when it is asked to catch up.
    lazy_reader: bool,
    caught_up_at: u64,
    /// A reset forgets what the system has not sent yet.
    resets: bool,
    /// The answer is `!closed`, which is wrong.
    wrong: bool,
    given: u64,
}

impl Simulated {
    fn new(sts: &Arc<Sts>) -> Simulated {
        Simulated {
            sts: Arc::clone(sts),
            now: 0,
            opened: 0,
            due: VecDeque::new(),
            answers_after: MILLISECOND,
            pause: None,
            lazy_reader: false,
            caught_up_at: 0,
            resets: true,
            wrong: false,
            given: 0,
        }
    }

    fn label(&self, name: &str) -> ioco_sts::LabelId {
        self.sts.label_named(Direction::Response, name).unwrap()
    }

    /// Lets the time pass to `until`; a pause on the way makes it later.
    fn pass(&mut self, until: u64) {
        self.now = self.now.max(until);
        if let Some((from, time)) = self.pause
            && self.now >= from
        {
            self.pause = None;
            self.now += time;
            // The system was not running either.
            for (at, _) in &mut self.due {
                if *at >= from {
                    *at += time;
                }
            }
        }
    }

    fn readable(&mut self) -> Option<Arrived> {
        let seen = if self.lazy_reader {
            self.caught_up_at
        } else {
            self.now
        };
        let (at, _) = self.due.front()?;
        if *at > seen {
            return None;
        }
        let (_, action) = self.due.pop_front()?;
        Some(Arrived {
            what: Arrival::Response(action),
            at: self.now,
            raw: Vec::new(),
        })
    }
}

impl Connection for Simulated {
    fn now(&self) -> u64 {
        self.now
    }

    fn reset_until(&mut self, _stop: &dyn Fn() -> bool) -> Result<(), AdapterError> {
        self.opened = 0;
        if self.resets {
            self.due.clear();
        }
        Ok(())
    }

    fn give_until(&mut self, _: &Action, _stop: &dyn Fn() -> bool) -> Result<bool, AdapterError> {
        self.given += 1;
        self.opened += 1;
        let at = self.now + self.answers_after;
        let opened = Action {
            label: self.label("opened"),
            values: vec![Value::Int(self.opened)],
        };
        let closed = Action::plain(self.label("closed"));
        if !self.wrong {
            self.due.push_back((at, opened));
        }
        self.due.push_back((at, closed));
        Ok(false)
    }

    fn poll(&mut self) -> Result<Option<Arrived>, AdapterError> {
        Ok(self.readable())
    }

    fn wait(&mut self, until: u64) -> Result<Arrived, AdapterError> {
        if let Some(arrived) = self.readable() {
            return Ok(arrived);
        }
        let next = self.due.front().map(|(at, _)| *at);
        let wakes = next.filter(|at| *at <= until && !self.lazy_reader);
        self.pass(wakes.unwrap_or(until));
        Ok(self.readable().unwrap_or(Arrived {
            what: Arrival::Silence,
            at: self.now,
            raw: Vec::new(),
        }))
    }

    fn catch_up(&mut self) -> Result<(), AdapterError> {
        self.caught_up_at = self.now;
        Ok(())
    }
}

fn tester(sts: &Arc<Sts>) -> Tester {
    let semantics = Semantics::new(
        Arc::clone(sts),
        Box::new(GuardSolver::new()),
        Relation::Ioco,
    );
    let settings = Settings {
        stop: StopConditions {
            failures: None,
            ..StopConditions::default()
        },
        ..Settings::default()
    };
    Tester::new(semantics, settings)
}

fn open_once(tester: &mut Tester, system: &mut Simulated) -> Verdict {
    let open = Action::plain(system.sts.label_named(Direction::Stimulus, "open").unwrap());
    let first = tester.script(vec![open], system.now);
    drive(tester, first, system, &|| false, &mut |_| {});
    tester.finished_test().execution.verdict
}

fn verdict(change: impl FnOnce(&mut Simulated)) -> Verdict {
    let sts = door();
    let mut system = Simulated::new(&sts);
    change(&mut system);
    open_once(&mut tester(&sts), &mut system)
}

fn is_missing(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Fail(d) if d.kind == DeviationKind::MissingResponse)
}

#[test]
fn a_slow_answer_within_the_time_out_passes_and_a_later_one_does_not() {
    assert_eq!(
        verdict(|system| system.answers_after = TIMEOUT),
        Verdict::Pass
    );
    let late = verdict(|system| system.answers_after = TIMEOUT + MILLISECOND);
    assert!(is_missing(&late), "{late:?}");
}

#[test]
fn silence_is_not_concluded_from_a_time_in_which_nobody_listened() {
    for from in [0, 10, 60, 290] {
        let paused = verdict(|system| {
            system.answers_after = TIMEOUT - MILLISECOND;
            system.pause = Some((from * MILLISECOND, 100 * TIMEOUT));
        });
        assert_eq!(paused, Verdict::Pass, "paused at {from} ms");
    }
}

#[test]
fn a_system_that_stays_silent_after_a_pause_still_fails() {
    let paused = verdict(|system| {
        system.answers_after = 3 * TIMEOUT;
        system.pause = Some((10 * MILLISECOND, 100 * TIMEOUT));
    });
    assert!(is_missing(&paused), "{paused:?}");
}

#[test]
fn what_another_thread_has_not_read_yet_is_no_silence() {
    assert_eq!(verdict(|system| system.lazy_reader = true), Verdict::Pass);
}

/// The verdict of the second of two tests; the first is spoiled by `change`.
fn second(change: impl FnOnce(&mut Simulated)) -> (Verdict, Verdict) {
    let sts = door();
    let mut tester = tester(&sts);
    let mut system = Simulated::new(&sts);
    // It says that it is ready before its system is.
    system.resets = false;
    change(&mut system);
    let first = open_once(&mut tester, &mut system);
    system.answers_after = MILLISECOND;
    system.wrong = false;
    (first, open_once(&mut tester, &mut system))
}

#[test]
fn a_response_that_comes_after_its_time_out_does_not_fall_into_the_next_test() {
    let (first, second) = second(|system| system.answers_after = TIMEOUT + 50 * MILLISECOND);
    assert!(is_missing(&first), "{first:?}");
    assert_eq!(second, Verdict::Pass);
}

#[test]
fn what_follows_a_wrong_response_does_not_fall_into_the_next_test() {
    let (first, second) = second(|system| {
        system.wrong = true;
        let stray = Action::plain(system.label("closed"));
        system.due.push_back((100 * MILLISECOND, stray.clone()));
        system.due.push_back((200 * MILLISECOND, stray));
    });
    assert!(matches!(first, Verdict::Fail(_)), "{first:?}");
    assert_eq!(second, Verdict::Pass);
}
