//! What a campaign says as data, in words for the person before the page: what to choose there, and what only
//! the terminal or ioco.toml can do.

use ioco_campaign::{CampaignError, Note, Remedy};

/// What to do.
pub fn remedy(remedy: &Remedy) -> String {
    match remedy {
        Remedy::MakeProject => "start `ioco serve` with a model, or in the folder of a project",
        Remedy::TestFirst => "start a run first",
        Remedy::NameShards => "name the folders of all shards",
        Remedy::ChooseRun { newest } => {
            return format!("the newest is {newest}; the history shows those that there are");
        }
        Remedy::NameLabels { instead } => {
            return (*instead).to_owned();
        }
        Remedy::LeaveOutLabels => "say nothing about its labels",
        Remedy::DrawModel => {
            "draw the model with `ioco convert MODEL -o FILE.svg` to have it inside"
        }
        Remedy::SuiteOrStrategy => "leave the strategy out, or the suite of ioco.toml",
        Remedy::QueryOrStrategy => {
            "leave the query out of ioco.toml, or choose the strategy scenario"
        }
        Remedy::StrategyOrWeights => "choose the strategy random, or leave the weights out",
        Remedy::NameQuery => "name its file in ioco.toml: [test] query = \"FILE\"",
        Remedy::ChooseSolver => {
            "[test] solver in ioco.toml takes embedded, z3, cvc5, or the command of another \
             SMT-LIB solver"
        }
        Remedy::NameSolverAgain => "name it in ioco.toml: [test] solver",
        Remedy::AskSolver => "z3 may know: [test] solver = \"z3\" in ioco.toml",
        Remedy::ReachSystem => {
            "choose the connection here, or say how to reach the system in ioco.toml, under [sut]"
        }
        Remedy::ReachSystemOrProfile => {
            "choose the connection here, or start `ioco serve --profile NAME`"
        }
        Remedy::StartSystem => "write start = \"COMMAND\" into [sut] of ioco.toml",
        Remedy::ShrinkOrNot => "give it at least 1s",
        Remedy::MapHttp => {
            "write [http] into ioco.toml, or make it from an OpenAPI description: ioco new NAME --openapi FILE"
        }
        Remedy::AllowInsecure { instead } => {
            return format!("{instead}, or accept it with `ioco serve --insecure`");
        }
        Remedy::TrustSystem => {
            "look at it first; `ioco serve --trust` allows it, or choose another connection here"
        }
        Remedy::TrustModel => "look at it first; `ioco serve --trust` allows it",
        Remedy::TrustStore => {
            "`ioco serve --trust` in this folder allows it, for this folder and this address"
        }
    }
    .to_owned()
}

/// What helps against an error, if anything is known to.
pub fn hint(error: &CampaignError) -> Option<String> {
    let helps = error.remedy.as_ref().map(remedy);
    helps.or_else(|| error.hint.clone())
}

/// An error as one text.
pub fn error(error: &CampaignError) -> String {
    match hint(error) {
        Some(hint) => format!("{}; {hint}", error.message),
        None => error.message.clone(),
    }
}

/// A warning with what helps.
pub fn warning(message: &str, helps: &Remedy) -> String {
    format!("{message}; {}", remedy(helps))
}

pub fn note(note: &Note) -> String {
    match note {
        Note::Text(text) => text,
        Note::Unconfirmed(confidence) => {
            let seen = match confidence.failed {
                0 => "it did not occur again".to_owned(),
                failed => format!("it occurred again in {failed} of {} runs", confidence.runs),
            };
            return format!(
                "{seen}: the system does not always respond in the same way, or its reset does not reset \
                 everything"
            );
        }
        Note::NotStarted => "ioco does not start this system: start it again, and shrink this",
        Note::NotSeenAgain => "not shrunk, because it did not occur again",
        Note::DependsOnEarlierTests => {
            "a freshly started system does not show it: it depends on tests that ran before. Does \
             the reset reset everything?"
        }
    }
    .to_owned()
}
