//! `ioco compare`: are two models bisimilar, does the second conform to the first, and where do
//! they first differ?

use std::path::Path;

use crate::exit::{Answer, CommandError, Exit};
use ioco_campaign::{Model, ModelOptions};
use ioco_sts::{CompareError, CompareOptions, Comparison, Distinction, Equivalence, compare};
use serde::Serialize;

use crate::args::{self, Format, Relation};
use crate::output;
use crate::watch::ErrorsOnly;

/// What `--format json` prints.
#[derive(Serialize)]
struct Compared {
    bisimilar: bool,
    conforms: bool,
    /// Null where no trace tells the two apart.
    trace: Option<Vec<String>>,
    allowed: Option<Vec<String>>,
    observed: Option<Vec<String>>,
}

impl From<Comparison> for Compared {
    fn from(found: Comparison) -> Compared {
        let Comparison {
            bisimilar,
            conforms,
            distinction,
        } = found;
        let (mut trace, mut allowed, mut observed) = (None, None, None);
        if let Some(distinction) = distinction {
            trace = Some(distinction.trace);
            allowed = Some(distinction.allowed);
            observed = Some(distinction.observed);
        }
        Compared {
            bisimilar,
            conforms,
            trace,
            allowed,
            observed,
        }
    }
}

pub fn run(arguments: &args::Compare, format: Format) -> Answer {
    let options = arguments.reading.options();
    let first = load(&arguments.first, &options)?;
    let second = load(&arguments.second, &options)?;
    let how = CompareOptions {
        equivalence: match arguments.strong {
            true => Equivalence::Strong,
            false => Equivalence::Weak,
        },
        relation: match arguments.relation {
            Relation::Ioco => ioco_sts::Relation::Ioco,
            Relation::Uioco => ioco_sts::Relation::Uioco,
        },
        limit: options.states,
    };
    let found = compare(&first.sts, &second.sts, how).map_err(refusal)?;
    let exit = match found.conforms {
        true => Exit::Conforms,
        false => Exit::Deviation,
    };
    if format == Format::Json {
        output::json(&Compared::from(found))?;
    } else {
        output::print(&in_words(&found, arguments));
    }
    Ok(exit)
}

/// Flags about labels are for the files that need them.
fn load(path: &Path, options: &ModelOptions) -> Result<Model, CommandError> {
    let says_itself = path.is_dir() || path.extension().is_some_and(|ending| ending == "aml");
    let options = match says_itself {
        true => options.without_labels(),
        false => options.clone(),
    };
    let project = crate::typed::project(Some(path), None)?;
    Ok(ioco_campaign::model::load(
        &options,
        &project,
        &mut ErrorsOnly,
    )?)
}

fn refusal(error: CompareError) -> CommandError {
    let hint = match &error {
        CompareError::Flatten(..) => {
            "bound the values in the model, or allow more states with --states N"
        }
        CompareError::TooMany(_) => "allow more with --states N",
        CompareError::Endless(_) => "look for a loop of internal steps that counts without end",
    };
    CommandError::usage(format!("the models cannot be compared: {error}")).hint(hint)
}

fn in_words(found: &Comparison, arguments: &args::Compare) -> String {
    let (first, second) = (&arguments.first, &arguments.second);
    let named = first.file_name() != second.file_name();
    let name = |path: &Path| match path.file_name() {
        Some(name) if named => name.to_string_lossy().into_owned(),
        _ => path.display().to_string(),
    };
    let (first, second) = (name(first), name(second));
    let (relation, bisimilarity) = (
        arguments.relation.name(),
        if arguments.strong { "strongly " } else { "" },
    );
    let mut text = match found.bisimilar {
        true => format!("bisimilar   yes: {first} and {second} are {bisimilarity}bisimilar\n"),
        false => format!("bisimilar   no: {first} and {second} are not {bisimilarity}bisimilar\n"),
    };
    text += &match found.conforms {
        true => format!("conforms    yes: {second} {relation} {first}\n"),
        false => format!("conforms    no: {second} does what {first} does not allow\n"),
    };
    match &found.distinction {
        Some(distinction) => text += &shown(distinction, found.conforms),
        None if found.bisimilar => {}
        None => text += "they have the same traces but choose between them at different moments\n",
    }
    text
}

fn shown(distinction: &Distinction, conforms: bool) -> String {
    let trace = match distinction.trace.is_empty() {
        true => "(at the start)".to_owned(),
        false => distinction.trace.join("  "),
    };
    let list = |steps: &[String], others: &[String]| {
        let mark = |step: &String| match others.contains(step) {
            true => step.clone(),
            false => format!("{step} (*)"),
        };
        let marked: Vec<String> = steps.iter().map(mark).collect();
        match marked.is_empty() {
            true => "nothing".to_owned(),
            false => marked.join(", "),
        }
    };
    // Where only deviations count, what is allowed and not done needs no mark.
    let allowed = match conforms {
        true => list(&distinction.allowed, &distinction.observed),
        false => list(&distinction.allowed, &distinction.allowed),
    };
    let observed = list(&distinction.observed, &distinction.allowed);
    format!("after       {trace}\nallowed     {allowed}\nobserved    {observed}\n")
}
