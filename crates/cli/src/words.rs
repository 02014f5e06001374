//! What a campaign says as data, in words for the person at the terminal: with the flags and commands of ioco.

use ioco_campaign::failures::ShrinkResult;
use ioco_campaign::{FoundFailure, Note, Remedy};
use ioco_engine::Explanation;

/// What to type.
pub fn remedy(remedy: &Remedy) -> String {
    match remedy {
        Remedy::MakeProject => "name a model file, or make a project with `ioco new NAME`",
        Remedy::TestFirst => "run `ioco test` first",
        Remedy::NameShards => {
            "name the folders of all shards; `--partial` merges the ones that are there"
        }
        Remedy::ChooseRun { newest } => {
            return format!("the newest is {newest}; `ioco runs` lists them");
        }
        Remedy::NameLabels { instead } => {
            return format!("{instead}, or name labels with --stimuli and --responses");
        }
        Remedy::LeaveOutLabels => {
            "leave out --stimuli, --responses, --internal, --silent and --vertices"
        }
        Remedy::DrawModel => {
            "draw the model with `ioco convert MODEL -o FILE.svg` to have it inside"
        }
        Remedy::SuiteOrStrategy => "leave out --strategy and the weights, or the suite",
        Remedy::QueryOrStrategy => "leave out --query, or add --strategy scenario",
        Remedy::StrategyOrWeights => "leave out --strategy, or the weights",
        Remedy::NameQuery => "name its file with --query FILE",
        Remedy::ChooseSolver => {
            "--solver takes embedded, z3, cvc5, or the command of another SMT-LIB solver"
        }
        Remedy::NameSolverAgain => "name it again with --solver",
        Remedy::AskSolver => "`--solver z3` may know",
        Remedy::ReachSystem => {
            "say how to reach it: --sut COMMAND, --tcp HOST:PORT, --amp PORT or --http URL"
        }
        Remedy::ReachSystemOrProfile => "say how to reach it: --sut COMMAND, or --profile NAME",
        Remedy::StartSystem => {
            "write start = \"COMMAND\" into [sut] of ioco.toml, or use --start COMMAND"
        }
        Remedy::ShrinkOrNot => "give it at least 1s, or leave shrinking out with --no-shrink",
        Remedy::MapHttp => {
            "write [http] into ioco.toml, or make it from an OpenAPI description: ioco new NAME --openapi FILE"
        }
        Remedy::AllowInsecure { instead } => {
            return format!("{instead}, or accept it with --insecure");
        }
        Remedy::TrustSystem => {
            "look at it first; --trust allows it, --sut COMMAND uses another system"
        }
        Remedy::TrustModel => "look at it first; --trust allows it",
        Remedy::TrustStore => {
            "`ioco runs --trust` in this folder allows it, for this folder and this address; \
             --store URL uses another one"
        }
    }
    .to_owned()
}

/// A warning with what helps.
pub fn warning(message: &str, helps: &Remedy) -> String {
    format!("{message}; {}", remedy(helps))
}

/// The notes about the failure of this id.
pub fn notes(notes: &[Note], id: &str) -> Vec<String> {
    notes.iter().map(|one| note(one, id)).collect()
}

fn note(note: &Note, id: &str) -> String {
    match note {
        Note::Text(text) => text.clone(),
        Note::Unconfirmed(confidence) => {
            let seen = match confidence.failed {
                0 => "it did not occur again".to_owned(),
                failed => format!("it occurred again in {failed} of {} runs", confidence.runs),
            };
            format!(
                "{seen}: the system does not always respond in the same way, or its reset does not reset \
                 everything (try --restart)"
            )
        }
        Note::NotStarted => format!(
            "ioco does not start this system: start it again, and `ioco shrink {id}` shrinks this"
        ),
        Note::NotSeenAgain => {
            format!("not shrunk, because it did not occur again; `ioco shrink {id}` tries anyway")
        }
        Note::DependsOnEarlierTests => "a freshly started system does not show it: it depends on \
             tests that ran before. Does the reset reset everything? Try --restart"
            .to_owned(),
    }
}

/// The explanation of a failure, with the command that shows it again.
pub fn found(found: &FoundFailure) -> Option<Explanation> {
    let (id, file) = (&found.id, found.file.display());
    let replay = match (found.is_known, found.is_elsewhere) {
        (true, _) => format!("ioco replay {id}"),
        (false, true) => format!("ioco replay {file}"),
        (false, false) => format!("ioco replay {id}        ({file})"),
    };
    with_replay(found.explanation.as_ref(), replay)
}

/// The explanation of a failure that was shrunk again, with the command that shows it again.
pub fn shrunk(result: &ShrinkResult) -> Option<Explanation> {
    let replay = format!("ioco replay {}", result.saved.id);
    with_replay(result.explanation.as_ref(), replay)
}

fn with_replay(explanation: Option<&Explanation>, replay: String) -> Option<Explanation> {
    explanation.map(|explanation| Explanation {
        replay: Some(replay),
        ..explanation.clone()
    })
}
