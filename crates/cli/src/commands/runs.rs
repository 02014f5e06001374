//! `ioco runs`: the history of a project.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::exit::{Answer, CommandError, Exit};
use ioco_campaign::{Project, history, time, trust};
use ioco_engine::{RunVerdict, SavedVerdict};
use ioco_outside::Untrusted;
use ioco_store::{Comparison, RunRow, Sighting, Store, TestRow};
use ioco_view::{StepKind, TestView};
use serde::Serialize;

use crate::args::{self, Format, RunsCommand};
use crate::watch::ErrorsOnly;
use crate::{output, typed};

/// More tests than this are counted, not listed.
const MAX_TESTS: usize = 20;

pub fn run(arguments: &args::Runs, format: Format) -> Answer {
    let mut project = typed::project_here()?;
    arguments.store.apply(&mut project);
    trust::store(&mut project, &mut ErrorsOnly)?;
    match &arguments.command {
        None => list(arguments, &project, format),
        Some(RunsCommand::Show { run, test: None }) => show(&project, *run, format),
        Some(RunsCommand::Show {
            run,
            test: Some(test),
        }) => show_test(&project, *run, *test, format),
        Some(RunsCommand::Compare { from, to }) => compare(&project, *from, *to, format),
        Some(RunsCommand::Prune { keep, older_than }) => {
            prune(&project, *keep, older_than.as_deref())
        }
    }
}

fn list(arguments: &args::Runs, project: &Project, format: Format) -> Answer {
    let runs = match history::open(project)? {
        Some(store) => store
            .runs(arguments.model.as_deref(), arguments.limit)
            .map_err(history::stop)?,
        None => Vec::new(),
    };
    if format == Format::Json {
        for run in &runs {
            output::json(&ioco_server::summary(run))?;
        }
        return Ok(Exit::Conforms);
    }
    if runs.is_empty() {
        say!("no runs");
        return Ok(Exit::Conforms);
    }
    let name = runs.iter().map(|run| run.model.chars().count()).max();
    let width = name.unwrap_or_default().max(5);
    output::print(&format!(
        "{:>5}  {:<20}  {:<width$}  {:<12}  {:>7}  {:>9}  {:>8}  {:>10}\n",
        "run", "started", "model", "verdict", "tests", "steps", "failures", "switches"
    ));
    for run in &runs {
        let summary = &run.summary;
        let end = if run.finished { "" } else { "  not finished" };
        output::print(&format!(
            "{:>5}  {:<20}  {:<width$}  {:<12}  {:>7}  {:>9}  {:>8}  {:>10}{end}\n",
            run.id,
            time::iso(run.started),
            Untrusted::new(&*run.model),
            RunVerdict::of(summary, run.failures).word(),
            summary.tests,
            summary.steps(),
            run.failures.all(),
            format!("{}/{}", summary.covered_switches, summary.switches),
        ));
    }
    Ok(Exit::Conforms)
}

/// What `ioco runs show --format json` prints.
#[derive(Serialize)]
struct RunJson<'a> {
    #[serde(flatten)]
    run: &'a RunRow,
    tests: &'a [TestRow],
    failures: Vec<Seen<'a>>,
}

#[derive(Serialize)]
struct Seen<'a> {
    id: &'a str,
    code: &'a str,
    title: &'a str,
    test: u64,
    flaky: bool,
}

impl<'a> From<&'a Sighting> for Seen<'a> {
    fn from(sighting: &'a Sighting) -> Seen<'a> {
        Seen {
            id: &sighting.fingerprint,
            code: &sighting.code,
            title: &sighting.title,
            test: sighting.test,
            flaky: sighting.flaky,
        }
    }
}

fn show(project: &Project, typed: Option<i64>, format: Format) -> Answer {
    let (store, run) = history::find(project, typed)?;
    let tests = store.tests(run.id).map_err(history::stop)?;
    let failures = store.sightings(run.id).map_err(history::stop)?;
    if format == Format::Json {
        output::json(&RunJson {
            run: &run,
            tests: &tests,
            failures: failures.iter().map(Seen::from).collect(),
        })?;
        return Ok(Exit::Conforms);
    }
    output::print(&numbers(&run));
    output::print(&format!(
        "     system  {}\n",
        history::system(project, &run)
    ));
    for failure in &failures {
        output::print(&format!("\n{}\n", sighting(failure)));
    }
    let unusual: Vec<&TestRow> = tests
        .iter()
        .filter(|test| !matches!(test.verdict, Some(SavedVerdict::Pass)))
        .collect();
    if !unusual.is_empty() {
        output::print("\ntests that did not pass\n");
    }
    for test in unusual.iter().take(MAX_TESTS) {
        output::print(&format!(
            "  {:>6}  {:>5} steps  {}\n",
            test.number,
            test.steps,
            words(test)
        ));
    }
    if unusual.len() > MAX_TESTS {
        output::print(&format!("  and {} more\n", unusual.len() - MAX_TESTS));
    }
    Ok(Exit::Conforms)
}

/// One test of a run over time.
fn show_test(project: &Project, typed: Option<i64>, number: u64, format: Format) -> Answer {
    let (store, run) = history::find(project, typed)?;
    let events = store.test_events(run.id, number).map_err(history::stop)?;
    let model = history::model(&store, &run)?;
    let mut semantics = history::semantics(&model, &run);
    let known = ioco_server::recorded(&history::failures(&store, run.id)?);
    let test = TestView::new(&mut semantics, number, events.iter(), &known);
    let Some(test) = test else {
        let message = format!("run {} has no finished test {number}", run.id);
        return Err(CommandError::usage(message).hint(format!(
            "it has {}",
            output::count(run.summary.tests, "test")
        )));
    };
    if format == Format::Json {
        output::json(&test)?;
    } else {
        output::print(&over_time(&test, run.id));
    }
    Ok(Exit::Conforms)
}

/// Columns of the longest bar.
const BAR: u64 = 24;

fn over_time(test: &TestView, run: i64) -> String {
    let steps = &test.trace.steps;
    let mut text = format!("{} test {} of run {run}", test.verdict, test.number);
    if let Some(name) = &test.name {
        text.push_str(&format!("  {}", Untrusted::new(&**name)));
    }
    text.push_str(&format!("  seed {}\n", test.seed));
    if let Some(reason) = &test.reason {
        text.push_str(&format!("     {}\n", Untrusted::new(&**reason)));
    }
    if let Some(failure) = &test.failure {
        text.push_str(&format!(
            "     ioco replay {}\n",
            Untrusted::new(&**failure)
        ));
    }
    let longest = steps.iter().filter_map(|step| step.took).max().unwrap_or(0);
    let milliseconds =
        |time: Option<u64>| time.map_or(String::new(), |time| format!("{:.1}", time as f64 / 1e6));
    text.push_str(&format!(
        "\n{:>6}  {:>11}  {:>11}\n",
        "step", "at ms", "took ms"
    ));
    for step in steps {
        let part = step.took.unwrap_or(0).saturating_mul(BAR);
        // What took any time is seen.
        let length = part.div_ceil(longest.max(1)) as usize;
        let sign = match step.kind {
            StepKind::Stimulus => "▒",
            StepKind::Silence => "┄",
            StepKind::Response | StepKind::Deviation => "█",
        };
        let bar = format!("{:<width$}", sign.repeat(length), width = BAR as usize);
        let wrong = if step.kind == StepKind::Deviation {
            " ✗"
        } else {
            ""
        };
        text.push_str(&format!(
            "{:>6}  {:>11}  {:>11}  {bar}  {}{wrong}\n",
            step.number,
            milliseconds(step.at),
            milliseconds(step.took),
            Untrusted::new(&*step.text),
        ));
    }
    if let Some(time) = test.trace.time {
        text.push_str(&format!(
            "\n     █ responses {} ms   ┄ silence {} ms   ▒ before stimuli {} ms\n",
            milliseconds(Some(time.responses)),
            milliseconds(Some(time.silences)),
            milliseconds(Some(time.stimuli)),
        ));
    }
    text
}

/// The numbers of a run, as `ioco test` ends with them.
pub fn numbers(run: &RunRow) -> String {
    let summary = &run.summary;
    let ended = match summary.stopped {
        Some(reason) => reason.words(),
        None => "it did not finish",
    };
    let line = |line| format!("     {line}\n");
    let restarts = output::restarts(summary).map_or(String::new(), line);
    let silence = output::silence(summary).map_or(String::new(), line);
    format!(
        "{} run {}  {}  {}  seed {}, strategy {}\n     {}; {ended}\n     {}\n{restarts}{silence}",
        RunVerdict::of(summary, run.failures).word(),
        run.id,
        Untrusted::new(&*run.model),
        time::iso(run.started),
        run.seed,
        run.strategy,
        output::tests(summary),
        output::covered(summary),
    )
}

fn sighting(failure: &Sighting) -> String {
    let flaky = if failure.flaky { " (flaky)" } else { "" };
    format!(
        "{} {}{flaky}\n     test {}, ioco replay {}",
        Untrusted::new(&*failure.code),
        Untrusted::new(&*failure.title),
        failure.test,
        Untrusted::new(&*failure.fingerprint)
    )
}

fn words(test: &TestRow) -> String {
    match &test.verdict {
        None => "did not finish".to_owned(),
        Some(SavedVerdict::Pass) => "pass".to_owned(),
        Some(SavedVerdict::Fail { deviation }) => {
            format!(
                "fail  {} {}",
                Untrusted::new(&*deviation.code),
                Untrusted::new(&*deviation.observed)
            )
        }
        Some(SavedVerdict::Inconclusive { reason }) => {
            format!("inconclusive  {}", Untrusted::new(&**reason))
        }
        Some(SavedVerdict::Error { reason, .. }) => format!("error  {}", Untrusted::new(&**reason)),
    }
}

fn compare(project: &Project, from: i64, to: i64, format: Format) -> Answer {
    let (store, before) = history::find(project, Some(from))?;
    let (_, after) = history::find(project, Some(to))?;
    let Comparison {
        gained,
        lost,
        new_failures,
        fixed_failures,
        same_failures,
    } = history::compare(&store, &before, &after)?;
    if format == Format::Json {
        let seen = |all: &[Sighting]| -> Vec<serde_json::Value> {
            let shown = all.iter().map(|one| serde_json::json!(Seen::from(one)));
            shown.collect()
        };
        output::json(&serde_json::json!({
            "from": from,
            "to": to,
            "gained": gained,
            "lost": lost,
            "new_failures": seen(&new_failures),
            "fixed_failures": seen(&fixed_failures),
            "same_failures": seen(&same_failures),
        }))?;
        return Ok(Exit::Conforms);
    }
    let mut text = format!("from run {from} to run {to}\n");
    for (what, lines) in [("covered now", &gained), ("no longer covered", &lost)] {
        text.push_str(&format!("\n{what}: {}\n", lines.len()));
        for line in lines {
            text.push_str(&format!("  {line}\n"));
        }
    }
    for (what, failures) in [
        ("new failures", &new_failures),
        ("failures that no longer occur", &fixed_failures),
        ("failures in both", &same_failures),
    ] {
        text.push_str(&format!("\n{what}: {}\n", failures.len()));
        for failure in failures {
            text.push_str(&format!("  {}\n", sighting(failure)));
        }
    }
    output::print(&text);
    Ok(Exit::Conforms)
}

fn prune(project: &Project, keep: Option<usize>, older_than: Option<&str>) -> Answer {
    if keep.is_none() && older_than.is_none() {
        return Err(CommandError::usage("name the runs to delete")
            .hint("use --keep 20, or --older-than 30d"));
    }
    let before = older_than.map(time::parse).transpose()?.map(|age| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |time| time.as_millis() as u64);
        now.saturating_sub(age / 1_000_000)
    });
    let store: Option<Store> = history::open_to_change(project)?;
    let forgotten = match store {
        Some(store) => store.prune(keep, before).map_err(history::stop)?,
        None => 0,
    };
    say!("forgotten: {}", output::count(forgotten, "run"));
    Ok(Exit::Conforms)
}
