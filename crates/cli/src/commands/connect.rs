//! `ioco connect`: gives stimuli by hand and shows what crosses the border, as labels and as bytes. No
//! verdict: it is for finding out whether a connection is described rightly.

use ioco_adapters::{Arrival, Connection as _};
use ioco_campaign::{ConnectionSpec, time, trust};
use ioco_engine::{Sender, WireLine};
use ioco_outside::Untrusted;
use ioco_sts::{Action, Direction, Sts};
use serde::Serialize;

use crate::args::{self, Format};
use crate::exit::{Answer, CommandError, Exit};
use crate::output::{self, FAINT};
use crate::watch::ErrorsOnly;
use crate::{interrupt, model, step, typed};

/// What `--format json` prints, one on each line.
#[derive(Serialize)]
struct Crossed<'a> {
    /// A stimulus, a response, what is no response of the model, or silence.
    label: &'a str,
    is_known: bool,
    #[serde(flatten)]
    wire: WireLine,
}

pub fn run(arguments: &args::Connect, format: Format) -> Answer {
    let project = typed::project(
        arguments.model.model.as_deref(),
        arguments.system.profile.as_deref(),
    )?;
    let choice = arguments.system.choice();
    let reach = ConnectionSpec::find(&choice, &project)?;
    trust::first_use(&project, &choice, &mut ErrorsOnly)?;
    let sts = model::load(&arguments.model, &project)?.sts;
    let given = arguments.give.iter().map(|text| stimulus(text, &sts));
    let given: Vec<Action> = given.collect::<Result<_, _>>()?;
    let wait = arguments.wait.as_deref().map(time::parse).transpose()?;
    let wait = wait.unwrap_or(sts.timeout());
    let interrupt = interrupt::listen();
    let stop = || interrupt.is_raised();
    let mut link = reach.connect(&sts, &project)?;
    link.interrupted_by(&interrupt);
    if let Some(invitation) = link.invitation() {
        say!("{invitation}");
    }
    link.reset_until(&stop)?;
    let ready_at = link.now();
    let show = |label: &str, is_known: bool, at: u64, from: Sender, raw: &[u8]| {
        let wire = WireLine::new(at.saturating_sub(ready_at), from, raw);
        match format {
            Format::Json => output::json(&Crossed {
                label,
                is_known,
                wire,
            }),
            _ => {
                let arrow = match from {
                    Sender::Tester => "►",
                    Sender::System | Sender::Log => "◄",
                };
                let known = if is_known {
                    ""
                } else {
                    "   not a label of the model"
                };
                let label = Untrusted::new(label);
                output::print(&format!("{arrow} {label}{known}\n"));
                if !raw.is_empty() {
                    output::print(&format!("{FAINT}    {}{FAINT:#}\n", bytes(raw)));
                }
                Ok(())
            }
        }
    };
    let mut ended = None;
    // What comes by itself is shown first.
    let mut next = std::iter::once(None).chain(given.iter().map(Some));
    while let Some(stimulus) = next.next().filter(|_| !stop() && ended.is_none()) {
        if let Some(stimulus) = stimulus {
            link.give_until(stimulus, &stop)?;
            let sent = link.sent().to_vec();
            show(
                &stimulus.show(&sts),
                true,
                link.now(),
                Sender::Tester,
                &sent,
            )?;
        }
        let deadline = link.now().saturating_add(wait);
        loop {
            let slice = deadline.min(link.now().saturating_add(50_000_000));
            let arrived = match link.wait(slice) {
                Ok(arrived) => arrived,
                Err(error) => {
                    ended = Some(error);
                    break;
                }
            };
            let (at, raw) = (arrived.at, &arrived.raw);
            match &arrived.what {
                Arrival::Response(response) => {
                    show(&response.show(&sts), true, at, Sender::System, raw)?;
                }
                Arrival::Unknown(text) => show(text, false, at, Sender::System, raw)?,
                Arrival::Quiescent => break,
                Arrival::Silence if at >= deadline => {
                    ended = link.catch_up().err();
                    break;
                }
                Arrival::Silence => {}
            }
            // A system that never pauses is not waited for.
            if stop() || at >= deadline.saturating_add(wait) {
                break;
            }
        }
    }
    for line in link.take_log() {
        if format != Format::Json {
            let text = Untrusted::new(line.text);
            output::print(&format!("{FAINT}log {text}{FAINT:#}\n"));
        }
    }
    for warning in link.take_warnings() {
        output::warn(&warning);
    }
    match ended {
        Some(error) => Err(error.into()),
        None if stop() => Ok(Exit::Interrupted),
        None => Ok(Exit::Conforms),
    }
}

fn stimulus(text: &str, sts: &Sts) -> Result<Action, CommandError> {
    let wrong = |step::Wrong { message, hint }| CommandError {
        hint,
        ..CommandError::usage(message)
    };
    let marked = match text.trim().starts_with(['?', '!']) {
        true => text.trim().to_owned(),
        false => format!("?{}", text.trim()),
    };
    match step::read(&marked, sts).map_err(wrong)? {
        (Direction::Stimulus, action) => Ok(action),
        _ => Err(CommandError::usage(format!("'{text}' is not a stimulus"))),
    }
}

/// Text as it would be typed in a program; other bytes in hexadecimal digits.
fn bytes(raw: &[u8]) -> String {
    match std::str::from_utf8(raw) {
        Ok(text) => Untrusted::of(format_args!("{text:?}")).to_string(),
        Err(_) => {
            let digits: Vec<String> = raw.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("0x {}", digits.join(" "))
        }
    }
}
