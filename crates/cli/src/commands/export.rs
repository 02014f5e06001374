//! `ioco export`: a failure as a script that needs no ioco.

use crate::exit::Answer;
use ioco_campaign::failures;
use ioco_report::ScriptForm;

use crate::args::{self, ExportForm};
use crate::watch::ErrorsOnly;

pub fn run(arguments: &args::Export) -> Answer {
    let here = crate::typed::project_here()?;
    let choice = arguments.system.choice();
    let (file, project, reach) =
        failures::look_up(&arguments.failure, &here, &choice, &mut ErrorsOnly)?;
    let form = match arguments.form {
        ExportForm::Curl => ScriptForm::Curl,
        ExportForm::Python => ScriptForm::Python,
        ExportForm::Pytest => ScriptForm::Pytest,
        ExportForm::Jsonl => ScriptForm::Jsonl,
        ExportForm::Rust => ScriptForm::Rust,
    };
    let text = ioco_server::script(form, &file, reach.way, &project)?;
    super::report::write(arguments.output.as_deref(), &text)
}
