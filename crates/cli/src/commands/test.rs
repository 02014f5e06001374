//! `ioco test`: tests a running system on the fly; shrinks, explains and keeps what fails.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use ioco_engine::{
    Context, Coverage, EventLevel, Explanation, FailureContext, FailureFile, Settings,
    Stop as StopConditions, StrategyKind, Summary, TestReport,
};
use ioco_shrink::Shrunk;
use ioco_sts::{Action, Execution, Verdict};
use serde::Serialize;

use crate::args::{self, Format};
use crate::exit::{Answer, Exit, Stop};
use crate::failures::{self, Origin};
use crate::interrupt::Interrupt;
use crate::model::{self, Model};
use crate::output::{self, ERROR, FAINT, GOOD, WARNING};
use crate::progress::Progress;
use crate::project::{Project, TestSettings};
use crate::results::{Record, Results};
use crate::session::{Session, sizes, text_options};
use crate::solver::SolverChoice;
use crate::{connect::Reach, shrinking, time};

pub fn run(arguments: &args::Test, format: Format) -> Answer {
    let project = Project::find(
        arguments.model.model.as_deref(),
        arguments.system.profile.as_deref(),
    )?;
    let reach = Reach::find(&arguments.system, &project)?;
    shrinking::pipeline(&arguments.shrinking.shrinker)?;
    let mut model = model::load(&arguments.model, &project)?;
    let wanted = wanted(arguments, &project.test)?;
    let timeout = wanted.timeout.as_deref().map(time::parse).transpose()?;
    if let Some(nanoseconds) = timeout {
        if nanoseconds == 0 {
            return Err(
                Stop::usage("a time-out of nothing makes every system silent")
                    .hint("give it at least 1ms"),
            );
        }
        model.sts = Arc::new(model.sts.with_timeout(nanoseconds));
    }
    let mut settings = settings(&wanted, &model)?;
    let relation = failures::relation(arguments.relation, project.test.relation.as_deref())?;
    let results = Results::at(project.results());
    let origin = Origin::new(
        &arguments.model,
        &model,
        &project,
        relation,
        timeout,
        &reach,
    );
    // Read before the first test: a damaged file must not spoil the end of a long run.
    let covered_before = super::coverage::read(&results.coverage(&model.hash), &model.sts)?;
    let known = if arguments.no_known {
        Vec::new()
    } else {
        known(&results, &model, &origin)
    };
    // Failures of earlier runs come on top of the tests that were asked for.
    settings.stop.tests = settings.stop.tests.map(|tests| tests + known.len() as u64);
    let session = Session::open(
        &model.sts,
        &reach,
        &project,
        relation,
        settings.clone(),
        Interrupt::listen(),
        &SolverChoice::named(wanted.solver.as_deref()),
    )?;
    let record = results.record(&run_name(settings.seed))?;
    let mut campaign = Campaign {
        arguments,
        format,
        goal: settings.stop.coverage,
        seed: settings.seed,
        model,
        session,
        results,
        origin,
        record,
        covered_before,
        progress: Progress::start(),
        found: Vec::new(),
        confirmed: 0,
        flaky: 0,
    };
    campaign.run(known)
}

/// A recorded failure, and the stimuli that show it.
type Known = (PathBuf, FailureFile, Vec<Action>);

/// The failures of earlier runs of this model against this system.
fn known(results: &Results, model: &Model, origin: &Origin) -> Vec<Known> {
    let mut known = Vec::new();
    for path in results.failure_files() {
        let Ok(file) = failures::read(&path) else {
            output::warn(&format!("{} cannot be read; left alone", path.display()));
            continue;
        };
        // A failure of another model or of another system says nothing here.
        let found = serde_json::from_value::<Origin>(file.connection.clone());
        let same_system = found.is_ok_and(|found| found.reach.way == origin.reach.way);
        if file.model != model.sts.name() || !same_system {
            continue;
        }
        match file.stimuli(&model.sts) {
            Ok(stimuli) => known.push((path, file, stimuli)),
            Err(_) => {
                output::warn(&format!(
                    "failure {} does not fit the model any more",
                    file.id
                ));
            }
        }
    }
    known
}

/// The flags, and what ioco.toml says where they are silent.
fn wanted(arguments: &args::Test, configured: &TestSettings) -> Result<TestSettings, Stop> {
    let mut weights = BTreeMap::new();
    for typed in &arguments.weight {
        let parsed = typed
            .split_once('=')
            .and_then(|(l, n)| Some((l, n.parse().ok()?)));
        let (label, weight) = parsed.ok_or_else(|| {
            Stop::usage(format!("'{typed}' is not a weight")).hint("write open=5")
        })?;
        weights.insert(label.trim_start_matches('?').to_owned(), weight);
    }
    let typed = TestSettings {
        strategy: arguments.strategy.map(|s| {
            match s {
                args::Strategy::Random => "random",
                args::Strategy::Transitions => "transitions",
            }
            .to_owned()
        }),
        weights,
        seed: arguments.seed,
        tests: arguments.tests,
        steps: arguments.steps,
        time: arguments.time.clone(),
        coverage: arguments.coverage,
        failures: arguments.failures,
        relation: None,
        solver: arguments.solver.clone(),
        timeout: arguments.timeout.clone(),
    };
    let mut wanted = configured.clone();
    wanted.override_with(&typed);
    Ok(wanted)
}

fn settings(wanted: &TestSettings, model: &Model) -> Result<Settings, Stop> {
    let strategy = match wanted.strategy.as_deref() {
        None | Some("random") => StrategyKind::Random {
            weights: wanted
                .weights
                .iter()
                .map(|(l, w)| (l.clone(), f64::from(*w)))
                .collect(),
        },
        Some("transitions") => StrategyKind::Transitions,
        Some(other) => {
            return Err(Stop::usage(format!("there is no strategy '{other}'"))
                .hint("use random or transitions"));
        }
    };
    let time = wanted.time.as_deref().map(time::parse).transpose()?;
    if wanted.tests == Some(0) || wanted.steps == Some(0) || time == Some(0) {
        return Err(Stop::usage(
            "no tests, no steps or no time leave nothing to test",
        ));
    }
    if wanted
        .coverage
        .is_some_and(|goal| !(goal > 0.0 && goal <= 100.0))
    {
        return Err(Stop::usage(
            "a coverage goal is more than 0 and at most 100 percent",
        ));
    }
    let failures = match wanted.failures {
        None => Some(1),
        Some(0) => None,
        Some(number) => Some(number),
    };
    // A limit on time or coverage takes the place of the usual number of tests.
    let unlimited = time.is_some() || wanted.coverage.is_some();
    let settings = Settings {
        seed: wanted.seed.unwrap_or_else(seed_from_clock),
        strategy,
        stop: StopConditions {
            tests: wanted.tests.or(if unlimited { None } else { Some(100) }),
            steps_per_test: wanted.steps.unwrap_or(100),
            time,
            coverage: wanted.coverage,
            failures,
            ..StopConditions::default()
        },
        events: EventLevel::Steps,
        ..Settings::default()
    };
    let unknown = settings.unknown_labels(&model.sts);
    if let Some(label) = unknown.first() {
        return Err(Stop::usage(format!(
            "there is no stimulus '{label}' to give a weight"
        )));
    }
    Ok(settings)
}

fn since_epoch() -> u128 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_nanos())
}

fn seed_from_clock() -> u64 {
    // Small enough to be typed again.
    (since_epoch() / 1000 % 1_000_000_000) as u64
}

/// Sorts by time; the seed makes it recognisable.
fn run_name(seed: u64) -> String {
    format!("{:013}-seed-{seed}", since_epoch() / 1_000_000)
}

/// One failure that this run has to tell of.
#[derive(Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Found {
    id: String,
    file: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<Explanation>,
    notes: Vec<String>,
    flaky: bool,
}

/// The last line of `--format json`.
#[derive(Serialize)]
#[serde(tag = "event", rename = "run-reported", rename_all = "kebab-case")]
struct Reported<'a> {
    summary: Summary,
    failures: &'a [Found],
    record: String,
}

struct Campaign<'a> {
    arguments: &'a args::Test,
    format: Format,
    /// Percent of the switches to be covered.
    goal: Option<f64>,
    seed: u64,
    model: Model,
    session: Session,
    results: Results,
    origin: Origin,
    record: Record,
    covered_before: Option<Coverage>,
    progress: Progress,
    found: Vec<Found>,
    confirmed: usize,
    flaky: usize,
}

impl Campaign<'_> {
    fn run(&mut self, known: Vec<Known>) -> Answer {
        if self.format == Format::Text {
            eprintln!(
                "testing {} with {} (seed {})",
                self.origin.reach.show(),
                self.model.path.display(),
                self.seed
            );
        }
        for (path, file, stimuli) in known {
            self.run_known(path, file, stimuli)?;
        }
        while let Some(first) = self.session.tester.next_test(self.session.now()) {
            let report = self.session.run(first);
            self.finished(&report, false)?;
        }
        self.write_events()?;
        self.save_coverage()?;
        self.report()
    }

    /// Failures of earlier runs are tried first.
    fn run_known(
        &mut self,
        path: PathBuf,
        file: FailureFile,
        stimuli: Vec<Action>,
    ) -> Result<(), Stop> {
        if self.session.interrupt.asked() {
            return Ok(());
        }
        let first = self
            .session
            .tester
            .scripted_test(stimuli, self.session.now());
        let report = self.session.run(first);
        match &report.execution.verdict {
            Verdict::Fail(_) => {
                let context = Context {
                    test: Some(file.test),
                    seed: Some(file.seed),
                    system: self.model.sts.name().to_owned(),
                    shrunk: file.shrunk_sizes(),
                    confirmed: None,
                    replay: Some(format!("ioco replay {}", file.id)),
                };
                let explanation = self.session.explain(&report.execution, &context);
                let notes = vec!["known from an earlier run, and still failing".to_owned()];
                self.confirmed += 1;
                self.tell(Found {
                    id: file.id,
                    file: path,
                    explanation,
                    notes,
                    flaky: false,
                });
            }
            Verdict::Pass => self.progress.aside(|| {
                anstream::eprintln!("{GOOD}fixed{GOOD:#}  known failure {} passes now", file.id);
            }),
            Verdict::Inconclusive(_) | Verdict::Error(_) => {}
        }
        self.finished(&report, true)
    }

    /// Everything that must be on disk before the next test begins.
    fn finished(&mut self, report: &TestReport, known: bool) -> Result<(), Stop> {
        self.write_events()?;
        if report.is_new_failure && !known {
            self.failed(report)?;
        }
        if let Verdict::Error(_) | Verdict::Inconclusive(_) = &report.execution.verdict
            && !self.session.interrupt.asked()
        {
            self.tell_unusual(report);
        }
        let summary = self.session.tester.summary();
        self.progress.say(|| {
            format!(
                "test {}, {} steps, {} of {} switches, {} failures",
                summary.tests,
                summary.steps(),
                summary.covered_switches,
                summary.switches,
                summary.distinct_failures
            )
        });
        Ok(())
    }

    fn write_events(&mut self) -> Result<(), Stop> {
        for event in self.session.tester.take_events() {
            let line = serde_json::to_string(&event).map_err(|e| Stop::usage(e.to_string()))?;
            self.record.line(&line)?;
            if self.format == Format::Json {
                output::print(&format!("{line}\n"));
            }
        }
        Ok(())
    }

    /// A failure unlike all before: kept at once, then shrunk, and kept again.
    fn failed(&mut self, report: &TestReport) -> Result<(), Stop> {
        let wire = self.session.wire();
        let first = self.failure_file(report, wire.clone(), None)?;
        let first_path = self.path_of(&first);
        self.results.write(&first_path, first.write().as_bytes())?;
        if self.arguments.no_shrink {
            self.confirmed += 1;
            let found = self.found(&first, first_path, &report.execution, None);
            self.tell(found);
            return Ok(());
        }
        let shrunk = self.session.shrink(
            &report.execution,
            &self.arguments.shrinking,
            None,
            &self.progress,
        )?;
        let file = self.failure_file(report, wire, Some(&shrunk))?;
        let path = self.path_of(&file);
        self.results.write(&path, file.write().as_bytes())?;
        if path != first_path {
            // The same failure, now under the id of its shrunk form.
            let _ = std::fs::remove_file(&first_path);
        }
        let mut found = self.found(&file, path, &shrunk.execution, Some(&shrunk));
        let stimuli: Vec<Action> = shrunk.execution.stimuli().cloned().collect();
        if !found.flaky && !self.session.fails_afresh(&stimuli) {
            found.flaky = true;
            found.notes = vec![
                "a freshly started system does not show it: it depends on tests that ran before. \
                 Does the reset reset everything? Try --restart"
                    .to_owned(),
            ];
        }
        if found.flaky {
            self.flaky += 1;
        } else {
            self.confirmed += 1;
        }
        self.tell(found);
        Ok(())
    }

    fn path_of(&self, file: &FailureFile) -> PathBuf {
        self.results.failures().join(format!("{}.json", file.id))
    }

    fn failure_file(
        &self,
        report: &TestReport,
        wire: Vec<ioco_engine::WireLine>,
        shrunk: Option<&Shrunk>,
    ) -> Result<FailureFile, Stop> {
        let connection =
            serde_json::to_value(&self.origin).map_err(|error| Stop::usage(error.to_string()))?;
        let context = FailureContext {
            model_hash: self.model.hash.clone(),
            seed: self.seed,
            wire,
            shrunk: shrunk.map(|s| (s.execution.clone(), s.runs)),
            confirmed: shrunk.map(confirmed),
            connection,
        };
        FailureFile::new(&self.model.sts, report, context)
            .ok_or_else(|| Stop::usage("the test did not fail: nothing to keep"))
    }

    fn found(
        &mut self,
        file: &FailureFile,
        path: PathBuf,
        execution: &Execution,
        shrunk: Option<&Shrunk>,
    ) -> Found {
        let context = Context {
            test: Some(file.test),
            seed: Some(self.seed),
            system: self.model.sts.name().to_owned(),
            shrunk: shrunk.map(sizes),
            confirmed: shrunk.map(confirmed),
            replay: Some(format!(
                "ioco replay {}        ({})",
                file.id,
                path.display()
            )),
        };
        Found {
            id: file.id.clone(),
            file: path,
            explanation: self.session.explain(execution, &context),
            notes: shrunk.map(shrinking::notes).unwrap_or_default(),
            flaky: shrunk.is_some_and(|s| s.confidence.is_flaky()),
        }
    }

    fn tell(&mut self, found: Found) {
        if self.format == Format::Text {
            self.progress.aside(|| {
                if let Some(explanation) = &found.explanation {
                    output::print(&explanation.to_text(text_options()));
                }
                output::print(&format!(
                    "{}\n",
                    shrinking::show(&found.notes, text_options().width)
                ));
                if found.flaky {
                    let words = "flaky: it was seen once and could not be seen again";
                    output::print(&format!("{WARNING}{words}{WARNING:#}\n\n"));
                }
            });
        }
        self.found.push(found);
    }

    /// An error or an inconclusive test.
    fn tell_unusual(&mut self, report: &TestReport) {
        let context = Context {
            test: Some(report.number),
            seed: Some(self.seed),
            system: self.model.sts.name().to_owned(),
            ..Context::default()
        };
        let explanation = self.session.explain(&report.execution, &context);
        let hint = self.session.trouble.as_ref().and_then(|t| t.hint.clone());
        self.progress.aside(|| {
            if let Some(explanation) = explanation {
                eprint!("{}", explanation.to_text(text_options()));
            }
            if let Some(hint) = hint {
                eprintln!("  hint: {hint}");
            }
        });
    }

    /// Adds what this run covered to what earlier runs of the same model covered.
    fn save_coverage(&mut self) -> Result<(), Stop> {
        let path = self.results.coverage(&self.model.hash);
        let mut coverage = self.session.tester.coverage().clone();
        if let Some(earlier) = &self.covered_before {
            // Another reduction of the same text has other switches: the newer run stands alone.
            let _ = coverage.merge(earlier);
        }
        let text = serde_json::to_string(&coverage.snapshot(&self.model.sts))
            .map_err(|error| Stop::usage(error.to_string()))?;
        self.results.write(&path, text.as_bytes())
    }

    fn report(&mut self) -> Answer {
        let summary = self.session.tester.summary();
        let interrupted = self.session.interrupt.asked();
        if self.format == Format::Json {
            output::json(&Reported {
                summary,
                failures: &self.found,
                record: self.record.path().display().to_string(),
            })?;
        } else {
            self.progress.aside(|| self.print_summary(&summary));
        }
        let reached = percent(summary.covered_switches, summary.switches);
        let missed = self.goal.filter(|goal| reached + 1e-9 < *goal);
        if let Some(goal) = missed {
            anstream::eprintln!(
                "{WARNING}missed{WARNING:#} the coverage goal: {reached:.1} of {goal} percent of \
                 the switches"
            );
        }
        Ok(if interrupted {
            Exit::Interrupted
        } else if self.confirmed > 0 {
            Exit::Deviation
        } else if self.flaky > 0 {
            Exit::Flaky
        } else if summary.errors > 0 {
            Exit::System
        } else if missed.is_some() {
            Exit::GoalMissed
        } else {
            Exit::Conforms
        })
    }

    fn print_summary(&self, summary: &Summary) {
        let (style, word) = if self.confirmed > 0 {
            (ERROR, "FAIL")
        } else if summary.errors > 0 {
            (ERROR, "ERROR")
        } else if self.flaky > 0 {
            (WARNING, "FLAKY")
        } else {
            (GOOD, "PASS")
        };
        output::print(&format!(
            "{style}{word}{style:#} {}  {} ({} passed, {} failed, {} inconclusive, {} errors), {} in {:.1} s\n",
            self.model.sts.name(),
            output::count(summary.tests, "test"),
            summary.passed,
            summary.failed,
            summary.inconclusive,
            summary.errors,
            output::count(summary.steps(), "step"),
            summary.duration as f64 / 1e9,
        ));
        output::print(&format!(
            "     covered {} of {} locations, {} of {} switches, {} of {} boundary values\n",
            summary.covered_locations,
            summary.locations,
            summary.covered_switches,
            summary.switches,
            summary.covered_boundaries,
            summary.boundaries,
        ));
        let why = summary.stopped.map_or("", |reason| reason.words());
        anstream::eprintln!(
            "     {FAINT}seed {}; {why}; record {}{FAINT:#}",
            self.seed,
            self.record.path().display()
        );
    }
}

fn confirmed(shrunk: &Shrunk) -> (u64, u64) {
    (
        u64::from(shrunk.confidence.failed),
        u64::from(shrunk.confidence.runs),
    )
}

fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        100.0
    } else {
        part as f64 * 100.0 / whole as f64
    }
}
