//! Which stimulus the messages of a client are, for a simulator of the system.
//!
//! A stimulus may be several messages, and one template may have several lines, which come as messages of their own:
//! what fits the beginning of a stimulus waits for the rest. Of several stimuli that fit, those that the model takes
//! now come first; among them the order in which labels are tried decides.

use ioco_sts::{Action, Direction, LabelId, Value};

use super::format::show;
use super::labels::{Form, SocketAction, Templates, messages};
use super::template::{NoMatch, Template};
use crate::values::Mismatch;

/// What messages of a client are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    Stimulus {
        action: Action,
        /// The end of the connection belongs to it.
        ends: bool,
    },
    Reset,
    /// No stimulus: the message, and why it is none.
    Unknown(String),
}

/// What the model takes now.
pub(crate) trait Acceptance {
    fn takes(&mut self, stimulus: &Action) -> bool;
    /// A stimulus of this label, with some values.
    fn takes_label(&mut self, label: LabelId) -> bool;
}

/// What a client has said and is no stimulus yet.
#[derive(Default)]
pub(crate) struct Recogniser {
    heard: Vec<Vec<u8>>,
}

/// How the messages so far go with a label.
enum Fit {
    Whole(Action),
    /// They are its beginning.
    Begun,
    /// They have its shape with a value of another type.
    Wrong(String),
    No,
}

impl Recogniser {
    pub fn hear(&mut self, message: Vec<u8>) {
        self.heard.push(message);
    }

    /// The next stimulus, if what was heard is one. `ended`: nothing more will come.
    pub fn next(
        &mut self,
        templates: &Templates,
        reset: Option<&str>,
        is_channel: &dyn Fn(&str) -> bool,
        model: &mut dyn Acceptance,
        ended: bool,
    ) -> Option<Heard> {
        let first = self.heard.first()?;
        if reset.map(str::as_bytes) == Some(first.as_slice()) {
            self.heard.remove(0);
            return Some(Heard::Reset);
        }
        let limit = usize::try_from(templates.budget().message).unwrap_or(usize::MAX);
        let is_long = self.heard.iter().map(Vec::len).sum::<usize>() > limit;
        let all = self.heard.len();
        let mut why = None;
        match self.fit(all, templates, is_channel, model) {
            Fit::Whole(action) => return Some(self.take(all, action, templates)),
            Fit::Begun if !ended && !is_long => return None,
            Fit::Wrong(wrong) => why = Some(wrong),
            Fit::Begun | Fit::No => {}
        }
        // The last message does not go on with those before it: they were something shorter.
        for length in (1..all).rev() {
            if let Fit::Whole(action) = self.fit(length, templates, is_channel, model) {
                return Some(self.take(length, action, templates));
            }
        }
        let first = self.heard.remove(0);
        let why = why.filter(|_| all == 1);
        Some(Heard::Unknown(why.unwrap_or_else(|| show(&first))))
    }

    fn take(&mut self, length: usize, action: Action, templates: &Templates) -> Heard {
        self.heard.drain(..length);
        let ends = match templates.form(action.label) {
            Some(Form::Several(parts)) => is_end(parts.last()),
            _ => false,
        };
        Heard::Stimulus { action, ends }
    }

    /// What the first messages are.
    fn fit(
        &self,
        length: usize,
        templates: &Templates,
        is_channel: &dyn Fn(&str) -> bool,
        model: &mut dyn Acceptance,
    ) -> Fit {
        let messages = &self.heard[..length];
        let (mut refused, mut wrong) = (None, None);
        let mut is_begun = false;
        let mut taken: Option<(LabelId, Fit)> = None;
        for &label in templates.order() {
            let known = templates.label(label);
            if known.direction != Direction::Stimulus || !is_channel(&known.channel) {
                continue;
            }
            if let Some((first, _)) = &taken
                && !templates.is_tie(*first, label)
            {
                break;
            }
            let fit = fit(label, templates, messages);
            let is_taken = match &fit {
                Fit::Whole(action) => model.takes(action),
                Fit::Begun => model.takes_label(label),
                Fit::Wrong(_) | Fit::No => false,
            };
            match fit {
                // Of equals the one that is longer: the others are its beginning.
                Fit::Begun if is_taken => return Fit::Begun,
                fit if is_taken => {
                    taken.get_or_insert((label, fit));
                }
                Fit::Whole(action) => {
                    refused.get_or_insert(action);
                }
                Fit::Begun => is_begun = true,
                Fit::Wrong(why) => {
                    wrong.get_or_insert(why);
                }
                Fit::No => {}
            }
        }
        match (taken, refused) {
            (Some((_, fit)), _) => fit,
            (None, Some(action)) => Fit::Whole(action),
            (None, None) if is_begun => Fit::Begun,
            (None, None) => wrong.map_or(Fit::No, Fit::Wrong),
        }
    }
}

/// Whether the client ends its connection, or its half of it.
fn is_end(part: Option<&Form>) -> bool {
    use SocketAction::{Abort, Close, Shutdown};
    matches!(part, Some(Form::Action(Close | Abort | Shutdown)))
}

/// Why a stimulus cannot be recognised.
pub(super) fn unrecognisable(form: &Form) -> Option<&'static str> {
    let Form::Several(parts) = form else {
        return None;
    };
    let parts = match parts.split_first() {
        Some((Form::Action(SocketAction::Connect), rest)) => rest,
        _ => parts.as_slice(),
    };
    let parts = match parts.split_last() {
        Some((last, before)) if is_end(Some(last)) => before,
        _ => parts,
    };
    if parts.is_empty() {
        Some("is several actions and no message")
    } else if messages(parts).count() < parts.len() {
        Some("has an action between its messages")
    } else {
        None
    }
}

fn fit(label: LabelId, templates: &Templates, heard: &[Vec<u8>]) -> Fit {
    let form = templates.form(label);
    let forms = match form {
        Some(Form::Several(parts)) => parts.as_slice(),
        Some(form) => std::slice::from_ref(form),
        None => &[],
    };
    let wanted = messages(forms).filter_map(|form| match form {
        Form::Template(template) => Some(template),
        _ => None,
    });
    let wanted: Vec<&Template> = wanted.collect();
    if wanted.is_empty() {
        return Fit::No;
    }
    let mut values = vec![Value::Void; templates.label(label).parameters.len()];
    fit_rest(label, templates, &wanted, heard, &mut values)
}

/// Templates that are wanted after one another, and what is left of the messages.
fn fit_rest(
    label: LabelId,
    templates: &Templates,
    wanted: &[&Template],
    heard: &[Vec<u8>],
    values: &mut Vec<Value>,
) -> Fit {
    let Some((template, rest)) = wanted.split_first() else {
        return match heard {
            [] => Fit::Whole(Action {
                label,
                values: values.clone(),
            }),
            _ => Fit::No,
        };
    };
    if heard.is_empty() {
        return Fit::Begun;
    }
    let newline = templates.newline().filter(|_| template.spans_lines());
    // The last one needs all that is left; others may take one line or more.
    let shortest = match (rest, newline) {
        ([], Some(_)) => heard.len(),
        _ => 1,
    };
    let longest = match newline {
        Some(_) => heard.len(),
        None => 1,
    };
    let mut found = Fit::No;
    for length in shortest..=longest {
        let message = heard[..length].join(newline.unwrap_or_default());
        let known = templates.label(label);
        let read = match template.read(&message, known, templates.types()) {
            None => continue,
            Some(Err(Mismatch(why))) => {
                found = Fit::Wrong(format!("{} ({why})", show(&message)));
                continue;
            }
            Some(Ok(read)) => read,
        };
        let before = values.clone();
        let is_same = (values.iter_mut().zip(read)).all(|(value, read)| {
            if value.is_void() {
                *value = read;
                true
            } else {
                read.is_void() || *value == read
            }
        });
        if is_same {
            match fit_rest(label, templates, rest, &heard[length..], values) {
                Fit::No => {}
                fit => return fit,
            }
        }
        *values = before;
    }
    if let Some(newline) = newline {
        let mut begun = heard.join(newline);
        begun.extend(newline);
        let places = template.take_apart(&begun);
        if matches!(places, Err(NoMatch::Unfinished)) {
            return Fit::Begun;
        }
    }
    found
}
