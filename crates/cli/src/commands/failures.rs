//! `ioco failures`: the recorded failures, and what became of them.

use std::collections::HashMap;

use crate::exit::{Answer, CommandError, Exit};
use ioco_campaign::{Project, Results, failures, history, lifecycle, trust};
use ioco_engine::FailureFile;
use ioco_outside::Untrusted;
use ioco_view::{Facts, FailureStatus, FailureSummary};

use crate::args::{self, FailuresCommand, Format};
use crate::output::{self, ERROR, FAINT, GOOD, WARNING};
use crate::typed;
use crate::watch::ErrorsOnly;

pub fn run(arguments: &args::Failures, format: Format) -> Answer {
    let project = project(&arguments.store)?;
    match &arguments.command {
        None => list(arguments, &project, format),
        Some(FailuresCommand::Accept(arguments)) => accept_in(&project, arguments, format),
        Some(FailuresCommand::Reopen { failure }) => change(&project, failure, None, format),
    }
}

pub fn accept(arguments: &args::AcceptNow, format: Format) -> Answer {
    let project = project(&arguments.store)?;
    accept_in(&project, &arguments.accept, format)
}

fn project(store: &args::StoreArguments) -> Result<Project, CommandError> {
    let mut project = typed::project_here()?;
    store.apply(&mut project);
    trust::store(&mut project, &mut ErrorsOnly)?;
    Ok(project)
}

fn accept_in(project: &Project, arguments: &args::Accept, format: Format) -> Answer {
    let reason = arguments.reason.trim();
    if reason.is_empty() {
        return Err(
            CommandError::usage("the reason is empty").hint("say why this failure is accepted")
        );
    }
    change(project, &arguments.failure, Some(reason), format)
}

fn list(arguments: &args::Failures, project: &Project, format: Format) -> Answer {
    let wanted = arguments.model.as_deref();
    let mut files = Vec::new();
    for path in Results::at(project.results()).failure_files().iter().rev() {
        match failures::read(path, &project.limits.budget()) {
            Ok(file) if wanted.is_none_or(|model| model == file.model) => files.push(file),
            Ok(_) => {}
            Err(stop) => output::warn(&stop.message),
        }
    }
    let known = match history::open(project)? {
        Some(store) => lifecycle::lifecycles(&store, &files)?,
        None => HashMap::new(),
    };
    let summary = |file: &FailureFile| {
        let facts = known.get(&*file.id).map(ioco_server::facts);
        FailureSummary::new(file, &facts.unwrap_or_default())
    };
    let all: Vec<FailureSummary> = files.iter().map(summary).collect();
    let total = all.len();
    let shown: Vec<FailureSummary> = (all.into_iter())
        .filter(|failure| arguments.all || failure.status.is_open())
        .collect();
    if format == Format::Json {
        for failure in &shown {
            output::json(failure)?;
        }
        return Ok(Exit::Conforms);
    }
    for failure in &shown {
        output::print(&lines(failure));
    }
    let hidden = (total - shown.len()) as u64;
    if total == 0 {
        say!("no failures");
    } else if hidden > 0 {
        say!("{hidden} more accepted, fixed or allowed now: `ioco failures --all` lists them");
    }
    Ok(Exit::Conforms)
}

fn lines(failure: &FailureSummary) -> String {
    let style = match failure.status {
        FailureStatus::New | FailureStatus::Confirmed => ERROR,
        FailureStatus::Flaky | FailureStatus::Accepted => WARNING,
        FailureStatus::Fixed | FailureStatus::Allowed => GOOD,
    };
    let status = failure.status_words();
    let mut facts = vec![match failure.to < failure.from {
        true => format!("{} → {} steps", failure.from, failure.to),
        false => output::count(failure.to as u64, "step"),
    }];
    if let Some((seen, runs)) = failure.confirmed {
        facts.push(format!("confirmed in {seen} of {runs} runs"));
    }
    if let (Some(run), Some(at)) = (&failure.run, &failure.first_seen) {
        facts.push(format!("first in run {run}, {at}"));
    }
    if let (Some(run), Some(at)) = (&failure.last_run, &failure.last_seen)
        && failure.last_run != failure.run
    {
        facts.push(format!("last in run {run}, {at}"));
    }
    if failure.seen_in > 0 {
        facts.push(format!(
            "{} in {}",
            output::count(failure.tests, "test"),
            output::count(failure.seen_in, "run")
        ));
    }
    let mut text = format!(
        "{}  {style}{status}{style:#}  {} {}\n          {FAINT}{}{FAINT:#}\n",
        failure.id,
        Untrusted::new(&*failure.code),
        Untrusted::new(&*failure.title),
        facts.join("; ")
    );
    if let Some(reason) = &failure.accepted {
        text.push_str(&format!(
            "          accepted: {}\n",
            Untrusted::new(&**reason)
        ));
    }
    if !failure.aliases.is_empty() {
        text.push_str(&format!(
            "          it was {}\n",
            failure.aliases.join(", ")
        ));
    }
    text
}

fn change(project: &Project, typed: &str, reason: Option<&str>, format: Format) -> Answer {
    let results = Results::at(project.results());
    let budget = project.limits.budget();
    let path = failures::find(&results, typed, project, &budget, &mut ErrorsOnly)?;
    let file = failures::accept(&path, reason, project)?;
    if format == Format::Json {
        output::json(&FailureSummary::new(&file, &Facts::default()))?;
    } else if reason.is_some() {
        say!(
            "accepted {}: it is in {}, to be kept with the project",
            file.id,
            path.display()
        );
    } else {
        say!("open again: {}", file.id);
    }
    Ok(Exit::Conforms)
}
