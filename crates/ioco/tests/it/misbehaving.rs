//! Systems that do what no model speaks of: each is a clear failure, and never a wrong verdict.

use std::time::Duration;

use ioco::{Check, Error, Model, Response, Stimulus, Switch, System, Type};

use crate::failure;

fn echo() -> Model {
    Model::builder("echo")
        .stimulus("ping", [("n", Type::Range(0, 9))])
        .response("pong", [("n", Type::Range(0, 9))])
        .variable("sent", Type::Integer, 0)
        .switch(
            Switch::from("idle")
                .on("?ping")
                .update("sent = n")
                .to("busy"),
        )
        .switch(
            Switch::from("busy")
                .on("!pong")
                .when("n == sent")
                .to("idle"),
        )
        .build()
        .unwrap()
}

fn answering(answer: impl FnMut(&mut (), &Stimulus) -> Vec<Response>) -> ioco::Failure {
    failure(ioco::check(echo(), ioco::from_fn(|| (), answer)))
}

#[test]
fn a_response_that_the_model_does_not_know_is_named() {
    let found = answering(|(), _| vec!["bang".into()]);
    assert_eq!(found.code(), "D001");
    assert_eq!(found.trace()[1], "!bang (the model has no response `bang`)");
}

#[test]
fn a_value_of_another_type_is_named() {
    let found = answering(|(), _| vec![Response::new("pong").with("n", "one")]);
    let text = found.to_string();
    assert!(text.contains("`n` is"), "{text}");
    assert!(text.contains("which \"one\" is not"), "{text}");
    let found = answering(|(), _| vec![Response::new("pong").with("n", 10)]);
    assert!(found.trace()[1].contains("which 10 is not"), "{found}");
    let found = answering(|(), _| vec![Response::new("pong").with("n", u64::MAX)]);
    assert!(found.trace()[1].contains("18446744073709551615"), "{found}");
    let found = answering(|(), _| vec![Response::new("pong").with("m", 1)]);
    assert!(found.trace()[1].contains("no parameter `m`"), "{found}");
}

#[test]
fn a_value_that_was_left_out_is_not_the_right_one() {
    let found = answering(|(), _| vec!["pong".into()]);
    assert_eq!(found.code(), "D003");
}

#[test]
fn a_panic_is_reported_with_its_message_and_the_shortest_way_to_it() {
    let found = failure(ioco::check(
        echo(),
        ioco::from_fn(
            || 0,
            |pings, ping| {
                *pings += 1;
                assert!(*pings < 3, "cannot count to {pings}");
                vec![Response::new("pong").with("n", ping.integer("n"))]
            },
        ),
    ));
    assert_eq!(found.code(), "E004");
    assert_eq!(found.title(), "the system panicked: cannot count to 3");
    assert_eq!(found.trace().len(), 6);
    assert!(found.to_string().starts_with("ERROR echo"), "{found}");
}

#[test]
fn a_panic_in_a_reset_is_reported_too() {
    let found = failure(ioco::check(
        echo(),
        ioco::from_fn(|| panic!("no memory"), |(), _| vec![]),
    ));
    assert!(found.title().contains("no memory"), "{found}");
}

#[test]
fn a_parameter_that_the_model_does_not_have_is_a_panic_with_a_message() {
    let found = answering(|(), ping| vec![Response::new("pong").with("n", ping.integer("m"))]);
    assert!(found.title().contains("has no integer `m`"), "{found}");
}

#[test]
fn a_timer_that_stands_still_is_an_error() {
    struct Stuck;
    impl System for Stuck {
        fn reset(&mut self) {}
        fn give(&mut self, _: &Stimulus) -> Vec<Response> {
            vec![]
        }
        fn timer(&self) -> Option<Duration> {
            Some(Duration::ZERO)
        }
    }
    let found = failure(ioco::check(echo(), Stuck));
    assert!(found.title().contains("timer"), "{found}");
    assert!(
        found.to_string().contains("names a later time, or none"),
        "{found}"
    );
}

#[test]
fn a_system_that_does_not_always_answer_the_same_is_flaky() {
    let mut pings = 0;
    let found = failure(ioco::check(
        echo(),
        ioco::from_fn(
            || (),
            |(), ping| {
                pings += 1;
                match pings {
                    40 => vec![],
                    _ => vec![Response::new("pong").with("n", ping.integer("n"))],
                }
            },
        ),
    ));
    assert!(found.is_flaky());
    let text = found.to_string();
    assert!(text.starts_with("FLAKY echo"), "{text}");
    assert!(text.contains("confirmed      0 of 5 runs"), "{text}");
    assert!(text.contains("reset does not reset everything"), "{text}");
}

/// Ticks every second by itself; a door of the kind that the documentation shows.
#[derive(Default)]
struct Clock {
    ticks: u32,
    every: Duration,
}

impl System for Clock {
    fn reset(&mut self) {
        self.ticks = 0;
    }
    fn give(&mut self, _: &Stimulus) -> Vec<Response> {
        vec![]
    }
    fn timer(&self) -> Option<Duration> {
        Some((self.ticks + 1) * self.every)
    }
    fn fire(&mut self) -> Vec<Response> {
        self.ticks += 1;
        vec![Response::new("tick").with("n", self.ticks)]
    }
}

#[test]
fn a_system_may_send_responses_by_itself() {
    let model = Model::builder("clock")
        .timeout(Duration::from_secs(1))
        .variable("ticks", Type::Integer, 0)
        .response("tick", [("n", Type::Integer)])
        .switch(
            Switch::from("running")
                .on("!tick")
                .when("n == ticks + 1")
                .update("ticks += 1")
                .to("running"),
        )
        .build()
        .unwrap();
    let clock = |milliseconds| Clock {
        every: Duration::from_millis(milliseconds),
        ..Clock::default()
    };
    let report = ioco::check(&model, clock(1000)).unwrap();
    assert_eq!(report.tests(), 100);
    // A moment too late is silence where a tick is due.
    let found = failure(ioco::check(&model, clock(1001)));
    assert_eq!(found.code(), "D002");
}

#[test]
fn a_check_that_decides_nothing_is_not_a_success() {
    // An internal step counts up for ever: not all states can be known, so nothing can be judged.
    let model = Model::builder("endless")
        .variable("n", Type::Integer, 0)
        .response("tick", [("n", Type::Integer)])
        .switch(Switch::from("counting").update("n = n + 1").to("counting"))
        .switch(
            Switch::from("counting")
                .on("!tick")
                .when("n < 0")
                .to("counting"),
        )
        .build()
        .unwrap();
    struct Ticks;
    impl System for Ticks {
        fn reset(&mut self) {}
        fn give(&mut self, _: &Stimulus) -> Vec<Response> {
            vec![]
        }
        fn timer(&self) -> Option<Duration> {
            Some(Duration::ZERO)
        }
        fn fire(&mut self) -> Vec<Response> {
            vec![Response::new("tick").with("n", 1_000_000_000)]
        }
    }
    let outcome = Check::new(model).unwrap().tests(3).run(Ticks);
    let Err(Error::Inconclusive(first)) = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(first.code(), "I004");
}

#[test]
fn a_solver_that_is_not_there_is_an_error() {
    let solver = ioco::Solver::Program("no-such-solver".to_owned());
    let check = Check::new(echo()).unwrap().solver(solver);
    let outcome = check.run(ioco::from_fn(|| (), |(), _| vec![]));
    assert!(matches!(outcome, Err(Error::Solver(_))), "{outcome:?}");
}
