//! `ioco test`: tests a running system on the fly; shrinks, explains and keeps what fails.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::exit::{Answer, CommandError, Exit};
use ioco_campaign::{
    Campaign, ConnectionSpec, FoundFailure, Interrupt, ModelOptions, Outcome, Plan, SuiteRow,
    TestSettings, shrinking, trust,
};
use ioco_engine::{Explanation, RequirementCoverage, RunVerdict, Summary};
use ioco_sts::Sts;
use serde::Serialize;

use crate::args::{self, Format};
use crate::output::{self, ERROR, FAINT, GOOD, WARNING};
use crate::watch::{ErrorsOnly, Terminal};
use crate::{interrupt, model, typed, words};

pub fn run(arguments: &args::Test, format: Format) -> Answer {
    if arguments.watch {
        return super::watching::run(arguments, format);
    }
    once(arguments, format, interrupt::listen())
}

/// One run, to its end or until it is interrupted.
pub fn once(arguments: &args::Test, format: Format, interrupt: Interrupt) -> Answer {
    let plan = plan(arguments)?;
    let patience = Duration::from_nanos(plan.reach.patience);
    let mut terminal = Terminal::new(format);
    let campaign = Campaign::open(plan, interrupt, &mut terminal)?;
    terminal.wait("the system to be ready", patience);
    carry_out(campaign, terminal, arguments.junit.as_deref(), format)
}

/// What the flags ask for.
pub fn plan(arguments: &args::Test) -> Result<Plan, CommandError> {
    model::refuse_flat(&arguments.model)?;
    let mut project = typed::project(
        arguments.model.model.as_deref(),
        arguments.system.profile.as_deref(),
    )?;
    arguments.store.apply(&mut project);
    let choice = arguments.system.choice();
    let reach = ConnectionSpec::find(&choice, &project)?;
    trust::store(&mut project, &mut ErrorsOnly)?;
    trust::first_use(&project, &choice, &mut ErrorsOnly)?;
    let shrinking = arguments.shrinking.settings();
    shrinking::pipeline(&shrinking.shrinker)?;
    Ok(Plan {
        model: model::load(&arguments.model, &project)?,
        options: ModelOptions {
            limits: project.limits.overridden_by(arguments.model.limits()),
            ..arguments.model.options()
        },
        reach,
        test: wanted(arguments, &project.test)?,
        shrinking: (!arguments.no_shrink).then_some(shrinking),
        known: !arguments.no_known,
        beginning: Vec::new(),
        jobs: arguments.jobs,
        shard: arguments.shard,
        scripts: Vec::new(),
        project,
    })
}

/// Runs a campaign to its end, and shows what came of it.
pub fn carry_out(
    campaign: Campaign,
    mut terminal: Terminal,
    junit: Option<&Path>,
    format: Format,
) -> Answer {
    let stored = campaign.project.clone();
    let (name, seed) = (campaign.model.sts.name().to_owned(), campaign.seed);
    if format == Format::Text {
        say!(
            "testing {} with {} (seed {seed})",
            campaign.system(),
            campaign.model.path.display(),
        );
    }
    let sts = Arc::clone(&campaign.model.sts);
    let outcome = campaign.run(&mut terminal)?;
    drop(terminal);
    if format == Format::Text {
        print_suite(&outcome.suite, &sts);
    }
    if format == Format::Json {
        output::json(&Reported {
            summary: outcome.summary,
            failures: outcome.found.iter().map(FailureLine::new).collect(),
            requirements: &outcome.requirements,
            run: outcome.run,
        })?;
    } else {
        print_summary(&outcome, &name, seed);
    }
    if let Some(file) = junit {
        super::report::write_junit(&stored, outcome.run, file)?;
    }
    if let Some((goal, reached)) = outcome.missed_goal {
        say!(
            "{WARNING}missed{WARNING:#} the coverage goal: {reached:.1} of {goal} percent of the \
             switches"
        );
    }
    if let Some((goal, reached)) = outcome.missed_requirements {
        say!(
            "{WARNING}missed{WARNING:#} the goal for requirements: {reached:.1} of {goal} percent"
        );
    }
    Ok(Exit::from(&outcome))
}

/// The flags, and what ioco.toml says where they are silent.
fn wanted(arguments: &args::Test, configured: &TestSettings) -> Result<TestSettings, CommandError> {
    let mut weights = BTreeMap::new();
    for typed in &arguments.weight {
        let parsed = typed
            .split_once('=')
            .and_then(|(l, n)| Some((l, n.parse().ok()?)));
        let (label, weight) = parsed.ok_or_else(|| {
            CommandError::usage(format!("'{typed}' is not a weight")).hint("write open=5")
        })?;
        weights.insert(label.trim_start_matches('?').to_owned(), weight);
    }
    let typed = TestSettings {
        strategy: arguments.strategy.map(|s| {
            match s {
                args::Strategy::Auto => "auto",
                args::Strategy::Random => "random",
                args::Strategy::Transitions => "transitions",
                args::Strategy::Locations => "locations",
                args::Strategy::Data => "data",
                args::Strategy::Scenario => "scenario",
            }
            .to_owned()
        }),
        query: arguments.query.clone(),
        suite: arguments.suite.clone(),
        weights,
        seed: arguments.seed,
        tests: arguments.tests,
        steps: arguments.steps,
        time: arguments.time.clone(),
        coverage: arguments.coverage,
        requirements: arguments.requirements,
        failures: arguments.failures,
        relation: arguments.relation.map(|r| r.name().to_owned()),
        solver: arguments.solver.clone(),
        timeout: arguments.timeout.clone(),
        silence: arguments.silence,
        shrink_time: arguments.shrink_time.clone(),
    };
    let mut wanted = configured.clone();
    wanted.override_with(&typed);
    if wanted.weights.is_empty() && !configured.weights.is_empty() {
        say!("the weights of ioco.toml belong to the strategy random and are ignored");
    }
    Ok(wanted)
}

/// The last line of `--format json`.
#[derive(Serialize)]
#[serde(tag = "event", rename = "run-reported")]
struct Reported<'a> {
    summary: Summary,
    failures: Vec<FailureLine<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    requirements: &'a [RequirementCoverage],
    run: i64,
}

/// A failure in that line.
#[derive(Serialize)]
struct FailureLine<'a> {
    id: &'a str,
    file: &'a Path,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<Explanation>,
    notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
    flaky: bool,
}

impl<'a> FailureLine<'a> {
    fn new(found: &'a FoundFailure) -> FailureLine<'a> {
        FailureLine {
            id: &found.id,
            file: &found.file,
            explanation: words::found(found),
            notes: words::notes(&found.notes, &found.id),
            hint: found.hint.as_deref(),
            flaky: found.flaky,
        }
    }
}

/// The tests of a suite, one a line.
fn print_suite(rows: &[SuiteRow], sts: &Sts) {
    let names: Vec<String> = rows.iter().map(|row| sts.titled(&row.name)).collect();
    let width = names.iter().map(|name| name.chars().count()).max();
    let width = width.unwrap_or(0).min(60);
    for (index, (row, name)) in rows.iter().zip(&names).enumerate() {
        let style = match row.verdict {
            "pass" => GOOD,
            "fail" | "error" => ERROR,
            _ => WARNING,
        };
        let name: String = name.chars().take(60).collect();
        let seconds = row.duration as f64 / 1e9;
        let mut line = format!(
            "{:>5}  {style}{:<12}{style:#}  {name:<width$}  {:>4} steps  {seconds:>7.2} s",
            index + 1,
            row.verdict,
            row.steps
        );
        if let Some(reason) = &row.reason {
            line.push_str(&format!("  {reason}"));
        }
        output::print(&format!("{line}\n"));
    }
}

fn print_summary(outcome: &Outcome, name: &str, seed: u64) {
    let summary = &outcome.summary;
    let verdict = outcome.verdict();
    let style = match verdict {
        RunVerdict::Fail | RunVerdict::Error => ERROR,
        RunVerdict::Pass => GOOD,
        _ => WARNING,
    };
    let word = verdict.word();
    output::print(&format!(
        "{style}{word}{style:#} {name}  {}\n     {}\n",
        output::tests(summary),
        output::covered(summary),
    ));
    if let Some(line) = output::restarts(summary) {
        output::print(&format!("     {line}\n"));
    }
    if let Some(line) = output::silence(summary) {
        output::print(&format!("     {line}\n"));
    }
    if let Some(line) = output::requirements(&outcome.requirements) {
        output::print(&format!("     {line}\n"));
    }
    if summary.steps() == 0 && summary.tests > 0 && summary.passed == summary.tests {
        say!(
            "     {WARNING}nothing was tested{WARNING:#}: the model allows no stimulus and no \
             response at its start"
        );
    }
    let why = summary.stopped.map_or("", |reason| reason.words());
    say!(
        "     {FAINT}seed {seed}; {why}; run {}{FAINT:#}",
        outcome.run
    );
}
