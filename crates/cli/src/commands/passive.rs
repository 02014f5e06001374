//! `ioco check --trace`: passive testing, of traffic that was recorded.

use std::path::Path;

use crate::exit::{Answer, CommandError, Exit};
use ioco_adapters::read_traces;
use ioco_campaign::{Project, SemanticsOptions};
use ioco_engine::{Context, Explanation, explain, monitor};
use ioco_sts::Verdict;
use serde::Serialize;

use crate::args::{self, Format};
use crate::model;
use crate::output::{self, ERROR, GOOD, WARNING};
use crate::watch::{ErrorsOnly, text_options};

/// What `--format json` prints.
#[derive(Serialize)]
struct Report {
    traces: usize,
    passed: usize,
    failed: usize,
    inconclusive: usize,
    explanations: Vec<Explanation>,
}

pub fn check(path: &Path, arguments: &args::Check, project: &Project, format: Format) -> Answer {
    model::refuse_flat(&arguments.model)?;
    let model = model::load(&arguments.model, project)?;
    let text = ioco_outside::file::read_text(path, model.sts.budget())
        .map_err(|error| CommandError::usage(format!("cannot read {}: {error}", path.display())))?;
    let traces = read_traces(&text, &model.sts)
        .map_err(|why| CommandError::usage(format!("{}, {why}", path.display())))?;
    if traces.is_empty() {
        return Err(CommandError::usage(format!(
            "{} has no traces",
            path.display()
        )));
    }
    let mut report = Report {
        traces: traces.len(),
        passed: 0,
        failed: 0,
        inconclusive: 0,
        explanations: Vec::new(),
    };
    let solver = arguments.solver.as_deref();
    let meaning = SemanticsOptions::of_project(project, solver, &mut ErrorsOnly)?;
    for (index, trace) in traces.iter().enumerate() {
        let mut semantics = meaning.semantics(&model.sts)?;
        let execution = monitor(&mut semantics, trace);
        match &execution.verdict {
            Verdict::Pass => report.passed += 1,
            Verdict::Fail(_) => report.failed += 1,
            Verdict::Inconclusive(_) | Verdict::Error(_) | Verdict::Ended(_) => {
                report.inconclusive += 1
            }
        }
        if execution.verdict == Verdict::Pass {
            continue;
        }
        let context = Context {
            test: Some(index as u64 + 1),
            system: model.sts.name().to_owned(),
            ..Context::default()
        };
        report
            .explanations
            .extend(explain(&mut semantics, &execution, &context));
    }
    let exit = if report.failed > 0 {
        Exit::Deviation
    } else {
        Exit::Conforms
    };
    if format == Format::Json {
        output::json(&report)?;
        return Ok(exit);
    }
    for explanation in &report.explanations {
        output::picture(&format!(
            "{}\n",
            ioco_explain::text(explanation, text_options())
        ));
    }
    let (style, word) = if report.failed > 0 {
        (ERROR, "FAIL")
    } else if report.passed == 0 {
        (WARNING, "INCONCLUSIVE")
    } else {
        (GOOD, "PASS")
    };
    output::print(&format!(
        "{style}{word}{style:#} {}  {} ({} conform, {} deviate, {} are inconclusive)\n",
        model.sts.name(),
        output::count(report.traces as u64, "trace"),
        report.passed,
        report.failed,
        report.inconclusive,
    ));
    Ok(exit)
}
