//! A failure as a script that needs no ioco, for who asks for it here or at the terminal.

use ioco_campaign::{CampaignError, NoObserver, Project, Transport, failures};
use ioco_engine::FailureFile;
use ioco_report::{ScriptForm, Target};
use serde::Serialize;

use crate::app::App;
use crate::refusal::Refusal;

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, ts_rs::TS))]
pub struct ScriptView {
    /// A name for the file.
    pub name: String,
    pub text: String,
}

impl App {
    /// The script of a failure in a language: `curl`, `python`, `pytest`, `rust` or `jsonl`.
    pub fn script(&self, id: &str, form: &str) -> Result<ScriptView, Refusal> {
        let (form, name) = match form {
            "curl" => (ScriptForm::Curl, format!("failure-{id}.sh")),
            "python" => (ScriptForm::Python, format!("failure-{id}.py")),
            "pytest" => (ScriptForm::Pytest, format!("test_failure_{id}.py")),
            "rust" => (ScriptForm::Rust, format!("failure_{id}.rs")),
            "jsonl" => (ScriptForm::Jsonl, format!("failure-{id}.jsonl")),
            other => {
                return Err(Refusal::wrong(
                    format!("there is no script in '{other}'"),
                    "use curl, python, pytest, rust or jsonl",
                ));
            }
        };
        let path = self.failure_path(id)?.display().to_string();
        let (file, project, reach) =
            failures::look_up(&path, &self.project, &self.choice, &mut NoObserver)?;
        let text = script(form, &file, reach.way, &project)?;
        Ok(ScriptView { name, text })
    }
}

/// A script that shows the failure against the system that is reached in this way.
pub fn script(
    form: ScriptForm,
    file: &FailureFile,
    way: Transport,
    project: &Project,
) -> Result<String, CampaignError> {
    let target = target(way, project, file)?;
    ioco_report::script(form, file, &target)
        .map_err(|why| CampaignError::usage(format!("no script for failure {}: {why}", file.id)))
}

fn target(way: Transport, project: &Project, file: &FailureFile) -> Result<Target, CampaignError> {
    if project.lines.is_some() && !matches!(way, Transport::Http(_)) {
        // Framing and templates would have to be written again in every language.
        return Err(CampaignError::usage(
            "scripts speak the line protocol of ioco, and [lines] describes messages of another one",
        )
        .hint("use `ioco replay`, or give the stimuli by hand with `ioco connect`"));
    }
    Ok(match way {
        Transport::Command(command) => Target::Command(command),
        Transport::Shell(line) => Target::Command(vec!["sh".to_owned(), "-c".to_owned(), line]),
        Transport::Tcp(address) => Target::Tcp(address),
        Transport::Http(base) => {
            let reset = project.http.as_ref().and_then(|http| http.reset.as_ref());
            let reset = reset.map(|request| {
                let method = request.method.clone().unwrap_or_else(|| "POST".to_owned());
                let body = request.body.as_ref().map(ToString::to_string);
                (method, request.path.clone(), body.unwrap_or_default())
            });
            let label = file.last_deviation().label.trim_start_matches('!');
            let http = project.http.as_ref();
            let response = http.and_then(|http| http.responses.get(label));
            if response.is_some_and(|response| response.event.is_some() || response.message) {
                return Err(CampaignError::usage(format!(
                    "!{label} is an event of a stream, and scripts see answers only"
                ))
                .hint("use `ioco replay`"));
            }
            Target::Http {
                base: base.trim_end_matches('/').to_owned(),
                reset,
            }
        }
        Transport::Started(..) => {
            return Err(CampaignError::usage(
                "a script does not start this system, and its port changes with every start",
            )
            .hint("start it yourself and name its address: --http URL or --tcp HOST:PORT"));
        }
        _ => {
            return Err(CampaignError::usage(
                "a script reaches systems that ioco starts, that listen, or that have an HTTP \
                 interface, and this one is none of these",
            )
            .hint(
                "use `ioco replay`, or name another way to the system, such as --tcp HOST:PORT",
            ));
        }
    })
}
