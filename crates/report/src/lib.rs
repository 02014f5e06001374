//! Reports: events, failures and coverage in; text for people, build servers and browsers out.
//!
//! A [`Run`] is what one pass over the events of a run leaves; [`Failure`]s are followed through
//! the model. Each form of report is a function from these to text. Nothing here reads a file or a
//! clock: who calls knows where runs, failures and models are kept.

mod failure;
mod github;
mod html;
mod jsonl;
mod junit;
mod markdown;
mod run;
mod sarif;
mod script;

pub use failure::{Failure, Paths};
pub use github::github;
pub use html::{Document, Gathering, html};
pub use jsonl::{EVENTS_SCHEMA, json_line};
pub use junit::junit;
pub use markdown::markdown;
pub use run::{Run, TestLine, count, tests};
pub use sarif::sarif;
pub use script::{ScriptForm, Target, script};
