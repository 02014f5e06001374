//! `ioco merge`: the newest runs of several folders as one run of this project.

use ioco_campaign::merge::Shards;
use ioco_campaign::{Observer, Project, history, merge, trust};
use ioco_engine::{RunVerdict, Summary, percent};
use serde::Serialize;

use crate::args::{self, Format};
use crate::exit::{Answer, Exit};
use crate::output::{self, WARNING};
use crate::typed;
use crate::watch::ErrorsOnly;

/// What `--format json` prints.
#[derive(Serialize)]
struct Report {
    run: i64,
    summary: Summary,
    parts: Vec<Part>,
    /// Shards that were not there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing: Vec<String>,
}

#[derive(Serialize)]
struct Part {
    folder: String,
    run: i64,
    tests: u64,
}

/// The exit code is that of the tests of all parts.
pub fn run(arguments: &args::Merge, format: Format) -> Answer {
    let mut project = typed::project_here()?;
    arguments.store.apply(&mut project);
    trust::store(&mut project, &mut ErrorsOnly)?;
    let shards = match arguments.partial {
        true => Shards::Some,
        false => Shards::All,
    };
    let merged = merge::merge(&project, &arguments.folders, shards)?;
    if !merged.missing.is_empty() {
        ErrorsOnly.warning(&format!(
            "not all shards are merged, missing: {}",
            merge::listed(&merged.missing)
        ));
    }
    let (_, row) = history::find(&project, Some(merged.run))?;
    let verdict = RunVerdict::of(&row.summary, row.failures);
    let parts = merged.parts.iter().map(|(folder, run, tests)| Part {
        folder: folder.display().to_string(),
        run: *run,
        tests: *tests,
    });
    let parts: Vec<Part> = parts.collect();
    if format == Format::Json {
        output::json(&Report {
            run: merged.run,
            summary: merged.summary,
            parts,
            missing: merged.missing.iter().map(ToString::to_string).collect(),
        })?;
    } else {
        for part in &parts {
            output::print(&format!(
                "{:>6} tests  run {} of {}\n",
                part.tests, part.run, part.folder
            ));
        }
        output::print(&format!(
            "{} {}  {}\n     {}\n",
            verdict.word(),
            row.model,
            output::tests(&merged.summary),
            output::covered(&merged.summary),
        ));
        let plural = if merged.failures == 1 { "" } else { "s" };
        say!(
            "     run {}, {} new failure{plural} in {}",
            merged.run,
            merged.failures,
            project.results().join("failures").display()
        );
    }
    let is_missed = missed(arguments, &project, &merged.summary);
    Ok(match verdict {
        RunVerdict::Fail => Exit::Deviation,
        RunVerdict::Flaky => Exit::Flaky,
        RunVerdict::Error => Exit::System,
        RunVerdict::Stopped => Exit::Interrupted,
        _ if is_missed => Exit::GoalMissed,
        RunVerdict::Accepted | RunVerdict::Inconclusive | RunVerdict::Pass => Exit::Conforms,
    })
}

/// Whether all tests together miss a goal, of the command line or of ioco.toml. A shard alone may miss it.
fn missed(arguments: &args::Merge, project: &Project, summary: &Summary) -> bool {
    let switches = percent(summary.covered_switches, summary.switches);
    let requirements = percent(summary.covered_requirements, summary.requirements);
    let goals = [
        (
            arguments.coverage.or(project.test.coverage),
            switches,
            "the coverage goal",
            " of the switches",
        ),
        (
            arguments.requirements.or(project.test.requirements),
            requirements,
            "the goal for requirements",
            "",
        ),
    ];
    let mut is_missed = false;
    for (goal, reached, what, of) in goals {
        if let Some(goal) = goal.filter(|goal| reached + 1e-9 < *goal) {
            say!("{WARNING}missed{WARNING:#} {what}: {reached:.1} of {goal} percent{of}");
            is_missed = true;
        }
    }
    is_missed
}
