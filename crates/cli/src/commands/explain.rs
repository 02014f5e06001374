//! `ioco explain`: what a code means and what to do about it.

use crate::exit::{Answer, CommandError, Exit};
use serde::Serialize;

use crate::args::{self, Format};
use crate::output;

#[derive(Serialize)]
struct Explained<'a> {
    code: &'a str,
    text: &'a str,
}

pub fn run(arguments: &args::Explain, format: Format) -> Answer {
    let Some(typed) = &arguments.code else {
        for (code, text) in all() {
            show(code, first_sentence(text), format)?;
        }
        return Ok(Exit::Conforms);
    };
    let code = typed.to_uppercase();
    match all().find(|(known, _)| *known == code) {
        Some((code, text)) => {
            show(code, text, format)?;
            Ok(Exit::Conforms)
        }
        None => Err(CommandError::usage(format!("there is no code '{typed}'"))
            .hint("`ioco explain` without a code lists them all")),
    }
}

/// Deviations and their like first, then what can be wrong with a model, then with a configuration.
fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    let model = ioco_aml::codes().filter_map(|code| Some((code, ioco_aml::explain(code)?)));
    let lines = std::iter::once(ioco_campaign::AMBIGUOUS);
    ioco_engine::codes().chain(model).chain(lines)
}

fn show(code: &str, text: &str, format: Format) -> Result<(), CommandError> {
    if format == Format::Json {
        output::json(&Explained { code, text })
    } else {
        output::print(&format!("{code}  {text}\n"));
        Ok(())
    }
}

fn first_sentence(text: &str) -> &str {
    let line = text.split('\n').next().unwrap_or_default();
    line.split_once(". ")
        .map_or(line, |(sentence, _)| sentence)
        .trim_end_matches('.')
}
