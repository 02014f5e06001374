//! `ioco export`: a failure as a script that needs no ioco.

use crate::exit::{Answer, CommandError};
use ioco_adapters::{OneOrMore, Statuses};
use ioco_campaign::{Project, Transport, failures};
use ioco_engine::FailureFile;
use ioco_report::{ScriptForm, Target, script};

use crate::args::{self, ExportForm};
use crate::watch::Teller;

pub fn run(arguments: &args::Export) -> Answer {
    let here = crate::typed::project_here()?;
    let choice = arguments.system.choice();
    let (file, project, reach) =
        failures::look_up(&arguments.failure, &here, &choice, &mut Teller)?;
    let form = match arguments.form {
        ExportForm::Curl => ScriptForm::Curl,
        ExportForm::Python => ScriptForm::Python,
        ExportForm::Pytest => ScriptForm::Pytest,
        ExportForm::Jsonl => ScriptForm::Jsonl,
        ExportForm::Rust => ScriptForm::Rust,
    };
    let target = target(reach.way, &project, &file)?;
    let text = script(form, &file, &target)
        .map_err(|why| CommandError::usage(format!("no script for failure {}: {why}", file.id)))?;
    super::report::write(arguments.output.as_deref(), &text)
}

fn target(way: Transport, project: &Project, file: &FailureFile) -> Result<Target, CommandError> {
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
                return Err(CommandError::usage(format!(
                    "!{label} is an event of a stream, and scripts see answers only"
                ))
                .hint("use `ioco replay`"));
            }
            let statuses = response.map(|response| {
                let statuses = match &response.status {
                    OneOrMore::One(one) => std::slice::from_ref(one),
                    OneOrMore::More(more) => more,
                };
                let pattern = |status: &Statuses| match status {
                    Statuses::Code(code) => code.to_string(),
                    Statuses::Class(class) => class.replace('x', "?"),
                };
                statuses.iter().map(pattern).collect::<Vec<String>>()
            });
            Target::Http {
                base: base.trim_end_matches('/').to_owned(),
                reset,
                // A label without a code is any answer.
                statuses: statuses
                    .filter(|statuses| !statuses.is_empty())
                    .unwrap_or_else(|| vec!["*".to_owned()]),
            }
        }
        _ => {
            return Err(CommandError::usage(
                "a script reaches systems that ioco starts, that listen, or that have an HTTP \
                 interface, and this one is none of these",
            )
            .hint(
                "use `ioco replay`, or name another way to the system, such as --tcp HOST:PORT",
            ));
        }
    })
}
