//! The mail server of `mail.aml`, with planted faults: what shrinking has to hold on.

use ioco_examples::{Message, System};
use ioco_sts::Value;

/// The model that the server should conform to.
pub const MODEL: &str = include_str!("mail.aml");

/// The planted faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// `whoami` has the name of the first login of the session.
    FirstName,
    /// The third message is not counted.
    Miscount,
    /// `reset` forgets the sender but not the recipients.
    KeepsRecipients,
    /// A message whose text begins with a dot loses it.
    LosesDot,
    /// After three wrong passwords in a row the right one is denied too.
    LocksOut,
    /// `quit` keeps the messages.
    KeepsMessages,
    /// `retrieve` of a message that does not exist is not answered while none was ever sent.
    SilentRetrieve,
    /// The tenth command of a session that is a `noop` is not understood.
    TenthNoop,
}

impl Fault {
    pub const ALL: [Fault; 8] = [
        Fault::FirstName,
        Fault::Miscount,
        Fault::KeepsRecipients,
        Fault::LosesDot,
        Fault::LocksOut,
        Fault::KeepsMessages,
        Fault::SilentRetrieve,
        Fault::TenthNoop,
    ];

    /// Stimuli of the shortest trace that shows it.
    pub fn shortest(self) -> usize {
        match self {
            Fault::FirstName | Fault::LosesDot => 7,
            Fault::Miscount => 13,
            Fault::KeepsRecipients => 8,
            Fault::LocksOut => 9,
            Fault::KeepsMessages => 11,
            Fault::SilentRetrieve => 4,
            Fault::TenthNoop => 10,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Start,
    Greeted,
    Named,
    In,
    Writing,
}

#[derive(Clone, Debug, Default)]
struct Session {
    phase: Phase,
    who: String,
    first: Option<String>,
    wrong: usize,
    recipients: i64,
    sent: i64,
    newest: String,
    commands: usize,
}

/// The server, right or with one fault.
#[derive(Clone, Debug)]
pub struct Mail {
    fault: Option<Fault>,
    session: Session,
}

impl Mail {
    pub fn new(fault: Option<Fault>) -> Mail {
        Mail {
            fault,
            session: Session::default(),
        }
    }

    fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    fn answer(&mut self, label: &str, text: &str, number: i64) -> Message {
        let is_tenth = self.has(Fault::TenthNoop) && self.session.commands >= 10;
        let (first, locks) = (self.has(Fault::FirstName), self.has(Fault::LocksOut));
        let plain = Message::plain;
        let s = &mut self.session;
        match (s.phase, label) {
            (_, "noop") if is_tenth => plain("order"),
            (_, "noop") => plain("ok"),
            (Phase::Start | Phase::Greeted, "helo") => {
                s.phase = Phase::Greeted;
                with("hello", "host", Value::str(text))
            }
            (Phase::Greeted, "user") => {
                s.phase = Phase::Named;
                s.who = text.to_owned();
                plain("ok")
            }
            (Phase::Named, "pass") if text == "secret" && !(locks && s.wrong >= 3) => {
                s.phase = Phase::In;
                s.wrong = 0;
                s.first.get_or_insert(s.who.clone());
                plain("ok")
            }
            (Phase::Named, "pass") => {
                s.phase = Phase::Greeted;
                s.wrong += 1;
                plain("denied")
            }
            (Phase::In | Phase::Writing, "whoami") => {
                let who = match (&s.first, first) {
                    (Some(first), true) => first,
                    _ => &s.who,
                };
                with("you", "name", Value::str(who))
            }
            (Phase::In, "stat") => with("count", "number", Value::Int(s.sent)),
            (Phase::In, "retrieve") if number == s.sent => {
                with("message", "text", Value::str(&s.newest))
            }
            (Phase::In, "retrieve") => plain("missing"),
            (Phase::In, "from") => {
                s.phase = Phase::Writing;
                plain("ok")
            }
            (Phase::In, "logout") => {
                s.phase = Phase::Greeted;
                plain("ok")
            }
            (Phase::Writing, "to") => {
                s.recipients += 1;
                plain("ok")
            }
            (Phase::Writing, "data") if s.recipients > 0 => self.deliver(text),
            (Phase::Writing, "reset") => {
                s.phase = Phase::In;
                if self.fault != Some(Fault::KeepsRecipients) {
                    self.session.recipients = 0;
                }
                plain("ok")
            }
            (Phase::Greeted | Phase::In, "quit") => {
                let kept = match self.has(Fault::KeepsMessages) {
                    true => self.session.sent,
                    false => 0,
                };
                self.session = Session {
                    sent: kept,
                    ..Session::default()
                };
                plain("bye")
            }
            _ => plain("order"),
        }
    }

    fn deliver(&mut self, text: &str) -> Message {
        let text = match self.has(Fault::LosesDot) {
            true => text.strip_prefix('.').unwrap_or(text),
            false => text,
        };
        let is_lost = self.has(Fault::Miscount) && self.session.sent == 2;
        let s = &mut self.session;
        s.phase = Phase::In;
        s.newest = text.to_owned();
        s.sent += i64::from(!is_lost);
        with(
            "accepted",
            "copies",
            Value::Int(std::mem::take(&mut s.recipients)),
        )
    }
}

fn with(label: &str, parameter: &str, value: Value) -> Message {
    let mut message = Message::plain(label);
    message.values.push((parameter.to_owned(), value));
    message
}

impl System for Mail {
    fn reset(&mut self) {
        self.session = Session::default();
    }

    fn give(&mut self, stimulus: &Message) -> Vec<Message> {
        let value = stimulus.values.first().map(|(_, value)| value);
        let text = match value {
            Some(Value::Str(text)) => text.to_string(),
            _ => String::new(),
        };
        let number = match value {
            Some(Value::Int(number)) => *number,
            _ => 0,
        };
        let silent = self.has(Fault::SilentRetrieve) && self.session.sent == 0;
        self.session.commands += 1;
        match stimulus.label.as_str() {
            "retrieve" if silent && self.session.phase == Phase::In => Vec::new(),
            label => vec![self.answer(label, &text, number)],
        }
    }

    fn check(&self, _stimulus: &Message) -> Result<(), String> {
        Ok(())
    }
}
