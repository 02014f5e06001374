//! Systems with async methods, run to the end in the calling thread. No runtime is needed, and any can
//! be used.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use crate::message::{Response, Stimulus};
use crate::system::System;

/// A [`System`] whose methods are async.
///
/// ```
/// use ioco::{AsyncSystem, Response, Stimulus};
///
/// #[derive(Default)]
/// struct Lamp { on: bool }
///
/// impl AsyncSystem for Lamp {
///     async fn reset(&mut self) {
///         self.on = false;
///     }
///
///     async fn give(&mut self, _press: &Stimulus) -> Vec<Response> {
///         std::future::ready(()).await;
///         self.on = !self.on;
///         vec![Response::from(if self.on { "bright" } else { "dark" })]
///     }
/// }
///
/// # let model = ioco::Model::builder("lamp").stimulus("press", []).response("bright", []).response("dark", [])
/// #     .switch(ioco::Switch::from("off").on("?press").to("on-going"))
/// #     .switch(ioco::Switch::from("on-going").on("!bright").to("on"))
/// #     .switch(ioco::Switch::from("on").on("?press").to("off-going"))
/// #     .switch(ioco::Switch::from("off-going").on("!dark").to("off")).build()?;
/// ioco::check(model, ioco::blocking(Lamp::default()))?;
/// # Ok::<(), ioco::Error>(())
/// ```
pub trait AsyncSystem {
    /// As [`System::reset`].
    fn reset(&mut self) -> impl Future<Output = ()>;

    /// As [`System::give`]: the test waits until the future is ready, for as long as that takes, and
    /// no virtual time passes.
    fn give(&mut self, stimulus: &Stimulus) -> impl Future<Output = Vec<Response>>;

    /// As [`System::clock`].
    fn clock(&mut self, _now: Duration) {}

    /// As [`System::timer`].
    fn timer(&self) -> Option<Duration> {
        None
    }

    /// As [`System::fire`].
    fn fire(&mut self) -> impl Future<Output = Vec<Response>> {
        std::future::ready(Vec::new())
    }
}

/// An [`AsyncSystem`] as a [`System`]: each future runs to its end in the calling thread.
///
/// Futures that need a runtime find it when the test enters one (`let _guard = runtime.enter();` with
/// tokio's multi-threaded runtime), or with [`blocking_by`].
///
/// ```
/// # struct Echo;
/// # impl ioco::AsyncSystem for Echo {
/// #     async fn reset(&mut self) {}
/// #     async fn give(&mut self, _: &ioco::Stimulus) -> Vec<ioco::Response> { vec!["pong".into()] }
/// # }
/// # let model = ioco::Model::builder("echo").stimulus("ping", []).response("pong", [])
/// #     .switch(ioco::Switch::from("idle").on("?ping").to("busy"))
/// #     .switch(ioco::Switch::from("busy").on("!pong").to("idle")).build()?;
/// ioco::check(model, ioco::blocking(Echo))?;
/// # Ok::<(), ioco::Error>(())
/// ```
pub fn blocking(system: impl AsyncSystem) -> impl System {
    blocking_by(system, block_on)
}

/// As [`blocking`], with an executor of your own: `|future| runtime.block_on(future)`.
///
/// ```
/// # use std::{future::Future, pin::Pin, task::{Context, Poll, Waker}};
/// # struct Echo;
/// # impl ioco::AsyncSystem for Echo {
/// #     async fn reset(&mut self) {}
/// #     async fn give(&mut self, _: &ioco::Stimulus) -> Vec<ioco::Response> { vec!["pong".into()] }
/// # }
/// # struct Runtime;
/// # impl Runtime {
/// #     fn block_on(&self, mut future: Pin<&mut dyn Future<Output = ()>>) {
/// #         while future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {}
/// #     }
/// # }
/// # let runtime = Runtime;
/// # let model = ioco::Model::builder("echo").stimulus("ping", []).response("pong", [])
/// #     .switch(ioco::Switch::from("idle").on("?ping").to("busy"))
/// #     .switch(ioco::Switch::from("busy").on("!pong").to("idle")).build()?;
/// ioco::check(model, ioco::blocking_by(Echo, |future| runtime.block_on(future)))?;
/// # Ok::<(), ioco::Error>(())
/// ```
pub fn blocking_by(
    system: impl AsyncSystem,
    executor: impl FnMut(Pin<&mut dyn Future<Output = ()>>),
) -> impl System {
    Blocking { system, executor }
}

/// A system made of two async functions: one that makes its initial state, one that takes a stimulus.
///
/// ```
/// use ioco::{Response, Stimulus};
///
/// async fn add(total: &mut i64, stimulus: &Stimulus) -> Vec<Response> {
///     *total += stimulus.integer("n");
///     vec![Response::new("total").with("n", *total)]
/// }
///
/// # let model = ioco::Model::builder("sum").variable("sum", ioco::Type::Integer, 0)
/// #     .stimulus("add", [("n", ioco::Type::Range(0, 9))]).response("total", [("n", ioco::Type::Integer)])
/// #     .switch(ioco::Switch::from("idle").on("?add").update("sum += n").to("busy"))
/// #     .switch(ioco::Switch::from("busy").on("!total").when("n == sum").to("idle")).build()?;
/// ioco::check(model, ioco::from_async_fn(async || 0, add))?;
/// # Ok::<(), ioco::Error>(())
/// ```
pub fn from_async_fn<S>(
    initial: impl AsyncFnMut() -> S,
    give: impl AsyncFnMut(&mut S, &Stimulus) -> Vec<Response>,
) -> impl System {
    blocking(FromAsyncFn {
        initial,
        give,
        state: None,
    })
}

struct FromAsyncFn<S, I, G> {
    initial: I,
    give: G,
    /// Nothing before the first reset.
    state: Option<S>,
}

impl<S, I, G> AsyncSystem for FromAsyncFn<S, I, G>
where
    I: AsyncFnMut() -> S,
    G: AsyncFnMut(&mut S, &Stimulus) -> Vec<Response>,
{
    async fn reset(&mut self) {
        self.state = None;
        self.state = Some((self.initial)().await);
    }

    async fn give(&mut self, stimulus: &Stimulus) -> Vec<Response> {
        let state = match self.state.take() {
            Some(state) => state,
            None => (self.initial)().await,
        };
        (self.give)(self.state.insert(state), stimulus).await
    }
}

struct Blocking<S, E> {
    system: S,
    executor: E,
}

impl<S: AsyncSystem, E: FnMut(Pin<&mut dyn Future<Output = ()>>)> System for Blocking<S, E> {
    fn reset(&mut self) {
        run(&mut self.executor, self.system.reset());
    }

    fn give(&mut self, stimulus: &Stimulus) -> Vec<Response> {
        run(&mut self.executor, self.system.give(stimulus))
    }

    fn clock(&mut self, now: Duration) {
        self.system.clock(now);
    }

    fn timer(&self) -> Option<Duration> {
        self.system.timer()
    }

    fn fire(&mut self) -> Vec<Response> {
        run(&mut self.executor, self.system.fire())
    }
}

/// The output of a future, by an executor that knows nothing of its type.
fn run<T>(
    executor: &mut impl FnMut(Pin<&mut dyn Future<Output = ()>>),
    future: impl Future<Output = T>,
) -> T {
    let mut output = None;
    executor(pin!(async { output = Some(future.await) }));
    output.expect("the executor runs a future to its end")
}

/// Wakes the thread that waits for a future.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Unpark>) {
        self.0.unpark();
    }
}

fn block_on(mut future: Pin<&mut dyn Future<Output = ()>>) {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    while future.as_mut().poll(&mut context) == Poll::Pending {
        // A wake-up between the poll and this returns at once. One for another reason polls once more.
        thread::park();
    }
}
