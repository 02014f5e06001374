//! Systems in this process that speak of labels by name: what a user writes in `cargo test`.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use ioco_sts::{Action, Direction, LabelId, Message, Sts, Type, Types, Value};
use rust_decimal::Decimal;
use rustc_hash::FxHashMap;

use crate::connection::AdapterError;
use crate::in_process::{InProcess, Outbox};

/// A system under test. Times are virtual: nanoseconds since the reset.
pub trait System {
    /// Back to the initial state.
    fn reset(&mut self);

    /// Takes a stimulus and returns the responses that come at once, in order.
    fn give(&mut self, stimulus: &Message) -> Vec<Message>;

    /// Told before every `give`, `timer` and `fire`: how late it is.
    fn clock(&mut self, _now: u64) {}

    /// When the system will next do something by itself, if it will.
    fn timer(&self) -> Option<u64> {
        None
    }

    /// The time of the timer has come. Returns what the system sends; the timer must then be
    /// another one, or none.
    fn fire(&mut self) -> Vec<Message> {
        Vec::new()
    }
}

impl<S: System + ?Sized> System for Box<S> {
    fn reset(&mut self) {
        (**self).reset();
    }

    fn give(&mut self, stimulus: &Message) -> Vec<Message> {
        (**self).give(stimulus)
    }

    fn clock(&mut self, now: u64) {
        (**self).clock(now);
    }

    fn timer(&self) -> Option<u64> {
        (**self).timer()
    }

    fn fire(&mut self) -> Vec<Message> {
        (**self).fire()
    }
}

/// A timer that fires so often at the same moment does not run at all.
const MAX_FIRES: usize = 10_000;

/// A [`System`] with its labels bound to those of a model. A panic of the system is trouble, as
/// the crash of a process would be.
#[derive(Debug)]
pub struct Bound<S> {
    system: S,
    sts: Arc<Sts>,
    responses: FxHashMap<String, LabelId>,
}

impl<S: System> Bound<S> {
    pub fn new(sts: Arc<Sts>, system: S) -> Bound<S> {
        let responses = sts
            .labels_of(Direction::Response)
            .map(|id| (sts.label(id).name.clone(), id))
            .collect();
        Bound {
            system,
            sts,
            responses,
        }
    }

    pub fn system(&self) -> &S {
        &self.system
    }

    fn message(&self, stimulus: &Action) -> Message {
        let label = self.sts.label(stimulus.label);
        let values = label.parameters.iter().zip(&stimulus.values);
        Message {
            label: label.name.clone(),
            values: values
                .filter(|(_, value)| !value.is_void())
                .map(|(p, value)| (p.name.clone(), with_names(value, self.sts.types())))
                .collect(),
        }
    }

    fn send(&self, messages: Vec<Message>, out: &mut Outbox) {
        for message in messages {
            match self.action(&message) {
                Some(action) => out.send(action),
                None => out.send_unknown(self.show(&message)),
            }
        }
    }

    /// The message as an action of the model; `None` when the model has no such label or values.
    fn action(&self, message: &Message) -> Option<Action> {
        let label = *self.responses.get(&message.label)?;
        let parameters = &self.sts.label(label).parameters;
        let mut values = vec![Value::Void; parameters.len()];
        for (name, value) in &message.values {
            let position = parameters.iter().position(|p| p.name == *name)?;
            values[position] = with_members(value, &parameters[position].ty, self.sts.types())?;
        }
        Some(Action { label, values })
    }

    fn show(&self, message: &Message) -> String {
        if message.values.is_empty() {
            return message.label.clone();
        }
        let values: Vec<String> = message
            .values
            .iter()
            .map(|(name, value)| format!("{name}={}", value.display(self.sts.types())))
            .collect();
        format!("{}({})", message.label, values.join(", "))
    }
}

impl<S: System> InProcess for Bound<S> {
    fn reset(&mut self, out: &mut Outbox) {
        guarded(out, || self.system.reset());
    }

    fn give(&mut self, stimulus: &Action, now: u64, out: &mut Outbox) {
        let message = self.message(stimulus);
        let answers = guarded(out, || {
            self.system.clock(now);
            self.system.give(&message)
        });
        self.send(answers.unwrap_or_default(), out);
    }

    fn elapse(&mut self, now: u64, until: u64, out: &mut Outbox) -> u64 {
        let mut time = now;
        for _ in 0..MAX_FIRES {
            let fired = guarded(out, || {
                self.system.clock(time);
                let due = self.system.timer()?.max(time);
                if due > until {
                    return None;
                }
                self.system.clock(due);
                Some((due, self.system.fire()))
            });
            let Some(Some((due, messages))) = fired else {
                return until;
            };
            time = due;
            if !messages.is_empty() {
                self.send(messages, out);
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

/// Runs a part of the system. A panic becomes trouble.
fn guarded<T>(out: &mut Outbox, part: impl FnOnce() -> T) -> Option<T> {
    // The system is reset before it is used again, as after any trouble.
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

/// `value` with the members of enumerations as strings.
fn with_names(value: &Value, types: &Types) -> Value {
    match value {
        Value::Enum(id, member) => Value::str(types.member_name(*id, *member)),
        Value::Array(items) => Value::Array(items.iter().map(|i| with_names(i, types)).collect()),
        Value::Struct(id, fields) => {
            Value::Struct(*id, fields.iter().map(|f| with_names(f, types)).collect())
        }
        other => other.clone(),
    }
}

/// `value` as one of type `ty`: strings become members where the type is an enumeration, and
/// integers decimals. `None` when it does not fit.
fn with_members(value: &Value, ty: &Type, types: &Types) -> Option<Value> {
    let value = match (value, ty) {
        (Value::Str(name), Type::Enum(id)) => {
            let members = &types.enums.get(id.index())?.members;
            let member = members.iter().position(|m| **m == **name)?;
            Value::Enum(*id, member as u32)
        }
        (Value::Int(number), Type::Decimal) => Value::Decimal(Decimal::from(*number)),
        (Value::Array(items), Type::Array(item)) => {
            let items = items.iter().map(|i| with_members(i, item, types));
            Value::Array(items.collect::<Option<_>>()?)
        }
        (Value::Struct(id, fields), Type::Struct(_)) => {
            let declared = &types.structs.get(id.index())?.fields;
            let fields = fields.iter().zip(declared);
            let fields = fields.map(|(field, (_, ty))| with_members(field, ty, types));
            Value::Struct(*id, fields.collect::<Option<_>>()?)
        }
        (other, _) => other.clone(),
    };
    types.fits(&value, ty).then_some(value)
}
