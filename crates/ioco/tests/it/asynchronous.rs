//! Async systems, without a runtime and with one.

use std::pin::Pin;
use std::sync::mpsc;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use ioco::{AsyncSystem, Model, Response, Stimulus, Switch};

use crate::failure;

fn echo() -> Model {
    Model::builder("echo")
        .stimulus("ping", [])
        .response("pong", [])
        .switch(Switch::from("idle").on("?ping").to("busy"))
        .switch(Switch::from("busy").on("!pong").to("idle"))
        .build()
        .unwrap()
}

/// Ready when another thread says so.
struct Elsewhere {
    asked: Option<mpsc::Sender<Waker>>,
    is_asked: bool,
}

impl Future for Elsewhere {
    type Output = ();

    fn poll(mut self: Pin<&mut Elsewhere>, context: &mut Context<'_>) -> Poll<()> {
        if self.is_asked {
            return Poll::Ready(());
        }
        self.is_asked = true;
        if let Some(asked) = self.asked.take() {
            asked.send(context.waker().clone()).unwrap();
        }
        Poll::Pending
    }
}

#[test]
fn a_future_that_another_thread_wakes_is_waited_for() {
    let (asked, wakers) = mpsc::channel::<Waker>();
    let waking = thread::spawn(move || wakers.iter().map(Waker::wake).count());
    let system = ioco::from_async_fn(
        async || (),
        async |(), _: &Stimulus| {
            let elsewhere = Elsewhere {
                asked: Some(asked.clone()),
                is_asked: false,
            };
            elsewhere.await;
            vec!["pong".into()]
        },
    );
    let report = ioco::Check::new(echo())
        .unwrap()
        .tests(3)
        .run(system)
        .unwrap();
    assert_eq!(report.passed(), 3);
    drop(asked);
    assert!(waking.join().unwrap() > 100);
}

/// An async system with a timer.
#[derive(Default)]
struct Bell {
    now: Duration,
    rings_at: Option<Duration>,
    is_broken: bool,
}

impl AsyncSystem for Bell {
    async fn reset(&mut self) {
        self.rings_at = None;
    }
    async fn give(&mut self, _: &Stimulus) -> Vec<Response> {
        self.rings_at = (!self.is_broken).then(|| self.now + Duration::from_millis(100));
        vec![]
    }
    fn clock(&mut self, now: Duration) {
        self.now = now;
    }
    fn timer(&self) -> Option<Duration> {
        self.rings_at
    }
    async fn fire(&mut self) -> Vec<Response> {
        self.rings_at = None;
        vec!["pong".into()]
    }
}

#[test]
fn async_systems_have_timers_too() {
    ioco::check(echo(), ioco::blocking(Bell::default())).unwrap();
    let broken = Bell {
        is_broken: true,
        ..Bell::default()
    };
    assert_eq!(
        failure(ioco::check(echo(), ioco::blocking(broken))).code(),
        "D002"
    );
}

#[test]
fn an_executor_that_gives_up_is_a_panic_of_the_system() {
    let system = ioco::blocking_by(Bell::default(), |_| {});
    let found = failure(ioco::check(echo(), system));
    assert!(found.title().contains("executor"), "{found}");
}
