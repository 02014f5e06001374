//! Systems under test in this process: what a user writes, and how the tester reaches it.

use std::any::Any;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use ioco_adapters::{AdapterError, InProcess, Outbox};
use ioco_sts::{Action, Direction, LabelId, Sts};

use crate::message::{Response, Stimulus};
use crate::value::Value;

/// A system under test in this process.
///
/// Two methods are enough for a system that answers what it is given. To stay silent, return no
/// response. Time is virtual: waiting for a time-out of the model takes no time.
///
/// ```
/// use ioco::{Response, Stimulus, System};
///
/// #[derive(Default)]
/// struct Lamp { on: bool }
///
/// impl System for Lamp {
///     fn reset(&mut self) {
///         *self = Lamp::default();
///     }
///
///     fn give(&mut self, _press: &Stimulus) -> Vec<Response> {
///         self.on = !self.on;
///         vec![Response::new("light").with("on", self.on)]
///     }
/// }
///
/// ioco::check(r#"
///     external 'button'
///     process('lamp') {
///       channel('button') {
///         stimulus 'press'
///         response 'light', { 'on' => :boolean }
///       }
///       var 'lit', :boolean, false
///       repeat {
///         o {
///           receive 'press', update: 'lit = !lit'
///           send 'light', constraint: 'on == lit'
///         }
///       }
///     }
/// "#, Lamp::default())?;
/// # Ok::<(), ioco::Error>(())
/// ```
///
/// # Systems that send something by themselves
///
/// A system with a timer says when the timer runs out ([`System::timer`]) and what happens then
/// ([`System::fire`]); [`System::clock`] tells the time. All times count from the last reset.
///
/// ```
/// use std::time::Duration;
/// use ioco::{Response, Stimulus, System};
///
/// /// A door that closes by itself after two seconds.
/// #[derive(Default)]
/// struct Door { now: Duration, closes_at: Option<Duration> }
///
/// impl System for Door {
///     fn reset(&mut self) {
///         *self = Door::default();
///     }
///     fn give(&mut self, _open: &Stimulus) -> Vec<Response> {
///         self.closes_at = Some(self.now + Duration::from_secs(2));
///         vec!["opened".into()]
///     }
///     fn clock(&mut self, now: Duration) {
///         self.now = now;
///     }
///     fn timer(&self) -> Option<Duration> {
///         self.closes_at
///     }
///     fn fire(&mut self) -> Vec<Response> {
///         self.closes_at = None;
///         vec!["closed".into()]
///     }
/// }
///
/// ioco::check(r#"
///     timeout 3
///     external 'door'
///     process('door') {
///       channel('door') { stimulus 'open'
///                         responses 'opened', 'closed' }
///       repeat { o { receive 'open'
///                    send 'opened'
///                    send 'closed' } }
///     }
/// "#, Door::default())?;
/// # Ok::<(), ioco::Error>(())
/// ```
///
/// # Panics
///
/// A panic of the system ends the test. [`check`](crate::check) reports it with its message and the
/// shortest way to it that was found, and resets the system before it is used again.
pub trait System {
    /// Goes back to the initial state. Every test begins with this.
    fn reset(&mut self);

    /// Takes a stimulus and returns the responses that come at once, in order.
    fn give(&mut self, stimulus: &Stimulus) -> Vec<Response>;

    /// Called before `give`, `timer` and `fire`: the time since the reset.
    fn clock(&mut self, _now: Duration) {}

    /// When the system will next do something by itself, if it will. A time that has passed is now: a
    /// system that sends something right after its reset names zero.
    fn timer(&self) -> Option<Duration> {
        None
    }

    /// The time of the timer has come. Returns what the system sends. Afterwards the timer must name
    /// another time, or none.
    fn fire(&mut self) -> Vec<Response> {
        Vec::new()
    }
}

macro_rules! system_by_reference {
    ($($reference:ty),*) => {
        $(impl<S: System + ?Sized> System for $reference {
            fn reset(&mut self) {
                (**self).reset();
            }

            fn give(&mut self, stimulus: &Stimulus) -> Vec<Response> {
                (**self).give(stimulus)
            }

            fn clock(&mut self, now: Duration) {
                (**self).clock(now);
            }

            fn timer(&self) -> Option<Duration> {
                (**self).timer()
            }

            fn fire(&mut self) -> Vec<Response> {
                (**self).fire()
            }
        })*
    };
}

system_by_reference!(&mut S, Box<S>);

/// A system made of two functions: one that makes its initial state, one that takes a stimulus.
///
/// ```
/// use ioco::Response;
///
/// let counter = ioco::from_fn(|| 0, |count, _stimulus| {
///     *count += 1;
///     vec![Response::new("count").with("n", *count)]
/// });
/// # let model = ioco::Model::builder("counter").variable("count", ioco::Type::Integer, 0)
/// #     .stimulus("add", []).response("count", [("n", ioco::Type::Integer)])
/// #     .switch(ioco::Switch::from("idle").on("?add").update("count += 1").to("told"))
/// #     .switch(ioco::Switch::from("told").on("!count").when("n == count").to("idle")).build()?;
/// ioco::check(model, counter)?;
/// # Ok::<(), ioco::Error>(())
/// ```
pub fn from_fn<S>(
    initial: impl FnMut() -> S,
    give: impl FnMut(&mut S, &Stimulus) -> Vec<Response>,
) -> impl System {
    FromFn {
        initial,
        give,
        state: None,
    }
}

struct FromFn<S, I, G> {
    initial: I,
    give: G,
    /// Nothing before the first reset.
    state: Option<S>,
}

impl<S, I: FnMut() -> S, G: FnMut(&mut S, &Stimulus) -> Vec<Response>> System for FromFn<S, I, G> {
    fn reset(&mut self) {
        // What the old state holds (a file, a lock) is released before the new one is made.
        self.state = None;
        self.state = Some((self.initial)());
    }

    fn give(&mut self, stimulus: &Stimulus) -> Vec<Response> {
        let state = self.state.get_or_insert_with(&mut self.initial);
        (self.give)(state, stimulus)
    }
}

/// A timer that fires so often at the same moment does not run at all.
const MAX_FIRES: usize = 10_000;

/// A [`System`] with its labels bound to those of a model.
pub(crate) struct Bound<S> {
    system: S,
    sts: Arc<Sts>,
    /// By name, and by channel and name.
    responses: HashMap<String, Vec<LabelId>>,
}

impl<S: System> Bound<S> {
    pub(crate) fn new(sts: Arc<Sts>, system: S) -> Bound<S> {
        let mut responses: HashMap<String, Vec<LabelId>> = HashMap::new();
        for id in sts.labels_of(Direction::Response) {
            let label = sts.label(id);
            let qualified = format!("{}.{}", label.channel, label.name);
            responses.entry(label.name.clone()).or_default().push(id);
            responses.entry(qualified).or_default().push(id);
        }
        Bound {
            system,
            sts,
            responses,
        }
    }

    fn stimulus(&self, stimulus: &Action) -> Stimulus {
        let label = self.sts.label(stimulus.label);
        let values = label.parameters.iter().zip(&stimulus.values);
        let values = values
            .filter(|(_, value)| !value.is_void())
            .map(|(p, value)| (p.name.clone(), Value::of_model(value, self.sts.types())));
        Stimulus::new(&label.name, &label.channel, values.collect())
    }

    fn send(&self, responses: Vec<Response>, out: &mut Outbox) {
        for response in responses {
            match self.action(&response) {
                Ok(action) => out.send(action),
                Err(why) => {
                    let shown = response.to_string();
                    let shown = shown.trim_start_matches('!');
                    out.send_unknown(format!("{shown} ({why})"));
                }
            }
        }
    }

    /// The response as an action of the model, or why it is none.
    fn action(&self, response: &Response) -> Result<Action, String> {
        let name = response.name();
        let labels = self.responses.get(name).map_or(&[][..], Vec::as_slice);
        let mut why = format!("the model has no response `{name}`");
        for label in labels {
            match self.values(*label, response) {
                Ok(values) => {
                    let label = *label;
                    return Ok(Action { label, values });
                }
                Err(wrong) => why = wrong,
            }
        }
        Err(why)
    }

    fn values(&self, label: LabelId, response: &Response) -> Result<Vec<ioco_sts::Value>, String> {
        let (parameters, types) = (&self.sts.label(label).parameters, self.sts.types());
        let mut values = vec![ioco_sts::Value::Void; parameters.len()];
        for (name, value) in response.values() {
            let Some(position) = parameters.iter().position(|p| p.name == *name) else {
                return Err(format!("it has no parameter `{name}` in the model"));
            };
            let ty = &parameters[position].ty;
            values[position] = value.to_model(ty, types).ok_or_else(|| {
                let expected = types.type_name(ty);
                format!("`{name}` is {expected} in the model, which {value} is not")
            })?;
        }
        Ok(values)
    }
}

impl<S: System> InProcess for Bound<S> {
    fn reset(&mut self, out: &mut Outbox) {
        guarded(out, || self.system.reset());
    }

    fn give(&mut self, stimulus: &Action, now: u64, out: &mut Outbox) {
        let stimulus = self.stimulus(stimulus);
        let answers = guarded(out, || {
            self.system.clock(Duration::from_nanos(now));
            self.system.give(&stimulus)
        });
        self.send(answers.unwrap_or_default(), out);
    }

    fn elapse(&mut self, now: u64, until: u64, out: &mut Outbox) -> u64 {
        let mut time = now;
        for _ in 0..MAX_FIRES {
            let fired = guarded(out, || {
                self.system.clock(Duration::from_nanos(time));
                let due = self.system.timer()?;
                // A time beyond all time-outs never comes.
                let due = u64::try_from(due.as_nanos()).unwrap_or(u64::MAX).max(time);
                if due > until {
                    return None;
                }
                self.system.clock(Duration::from_nanos(due));
                Some((due, self.system.fire()))
            });
            let Some(Some((due, responses))) = fired else {
                return until;
            };
            time = due;
            if !responses.is_empty() {
                self.send(responses, out);
                return time;
            }
        }
        out.give_up(
            AdapterError::new(format!(
                "the system's timer fired {MAX_FIRES} times without sending anything"
            ))
            .hint("after `fire`, `timer` names a later time, or none"),
        );
        time
    }
}

/// Runs a part of the system. A panic ends the system, as the crash of a process would.
fn guarded<T>(out: &mut Outbox, part: impl FnOnce() -> T) -> Option<T> {
    // The system is reset before it is used again, as after any error.
    match catch_unwind(AssertUnwindSafe(part)) {
        Ok(value) => Some(value),
        Err(panic) => {
            let message = format!("the system panicked: {}", panic_text(&*panic));
            out.give_up(AdapterError::new(message).ended(true));
            None
        }
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message")
}
