//! `ioco report`: a recorded run for people, build servers and browsers.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ioco_campaign::{
    Answer, Exit, Model, ModelOptions, Origin, Project, Results, Stop, failures, time,
};
use ioco_engine::{Event, FailureFile, SavedVerdict};
use ioco_report::{
    Document, Failure, Gathering, Paths, Run, github, html, json_line, junit, markdown, sarif,
};
use ioco_solve::Oracle;
use ioco_sts::{Relation, Semantics, SwitchId};
use ioco_view::{
    ConnectionView, CoverageView, Facts, ModelName, ModelView, ProjectView, RunState, RunSummary,
};

use crate::args::{self, Format};
use crate::output;
use crate::watch::Teller;

pub fn run(arguments: &args::Report, format: Format) -> Answer {
    let record = find(arguments.run.as_deref())?;
    if format == Format::Jsonl {
        let mut text = String::new();
        read(&record, &mut |event| text.push_str(&json_line(&event)))?;
        return write(arguments.output.as_deref(), &text);
    }
    let reported = Reported::new(record, arguments.model.as_deref())?;
    let paths = paths();
    let (run, failures) = (&reported.run, &reported.failures);
    let text = match format {
        Format::Text => reported.text(),
        Format::Json => {
            let text = serde_json::to_string(&reported.document()?);
            text.map_err(|error| Stop::usage(error.to_string()))? + "\n"
        }
        Format::Junit => junit(run, failures),
        Format::Markdown => markdown(run, failures, &paths),
        Format::Github => github(run, failures, &paths),
        Format::Sarif => sarif(run, failures, &paths, env!("CARGO_PKG_VERSION")),
        Format::Html => html(&reported.document()?),
        Format::Jsonl => String::new(),
    };
    write(arguments.output.as_deref(), &text)
}

/// The JUnit report of a run that has just ended.
pub fn write_junit(record: &Path, file: &Path) -> Result<(), Stop> {
    let reported = Reported::new(record.to_owned(), None)?;
    write(Some(file), &junit(&reported.run, &reported.failures)).map(|_| ())
}

fn write(file: Option<&Path>, text: &str) -> Answer {
    match file {
        None => output::print(text),
        Some(file) => {
            fs::write(file, text).map_err(|error| {
                Stop::usage(format!("cannot write {}: {error}", file.display()))
            })?;
            eprintln!("written: {}", file.display());
        }
    }
    Ok(Exit::Conforms)
}

/// The record that a person means: a file, a part of the name of one, or the newest.
fn find(typed: Option<&str>) -> Result<PathBuf, Stop> {
    if let Some(path) = typed.map(Path::new).filter(|path| path.is_file()) {
        return Ok(path.to_owned());
    }
    let entries = fs::read_dir(".ioco/runs").into_iter().flatten();
    let mut records: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"))
        .filter(|path| name(path).contains(typed.unwrap_or_default()))
        .collect();
    records.sort();
    match (records.pop(), typed) {
        (Some(newest), None) => Ok(newest),
        (Some(only), Some(_)) if records.is_empty() => Ok(only),
        (Some(_), Some(typed)) => Err(Stop::usage(format!(
            "'{typed}' may be {} runs",
            records.len() + 1
        ))
        .hint("type more of the name")),
        (None, Some(typed)) => Err(Stop::usage(format!("there is no run '{typed}'"))
            .hint("the files in .ioco/runs are the runs")),
        (None, None) => {
            Err(Stop::usage("no run has been recorded here").hint("run `ioco test` first"))
        }
    }
}

/// The name of a run is that of its record.
fn name(record: &Path) -> String {
    let stem = record.file_stem().map(|stem| stem.to_string_lossy());
    stem.unwrap_or_default().into_owned()
}

/// The events of a record. The last line of a run that was killed may be cut off; anything else
/// that cannot be read is told.
fn read(record: &Path, tell: &mut dyn FnMut(Event)) -> Result<(), Stop> {
    let wrong = |why: String| Stop::usage(format!("cannot read {}: {why}", record.display()));
    let file = fs::File::open(record).map_err(|error| wrong(error.to_string()))?;
    let mut lines = BufReader::new(file).lines().enumerate().peekable();
    while let Some((index, line)) = lines.next() {
        let line = line.map_err(|error| wrong(error.to_string()))?;
        match serde_json::from_str(&line) {
            Ok(event) => tell(event),
            Err(_) if lines.peek().is_none() => {}
            Err(error) => return Err(wrong(format!("line {}: {error}", index + 1))),
        }
    }
    Ok(())
}

/// Everything that the reports say.
struct Reported {
    record: PathBuf,
    run: Run,
    failures: Vec<Failure>,
    /// Where it is known.
    model: Option<Model>,
}

impl Reported {
    fn new(record: PathBuf, model: Option<&Path>) -> Result<Reported, Stop> {
        let id = name(&record);
        let began = id.split('-').next().and_then(|text| text.parse().ok());
        let mut run = Run {
            started: began.map(time::iso).unwrap_or_default(),
            id,
            ..Run::default()
        };
        read(&record, &mut |event| run.event(&event))?;
        let files = kept(&record, &run);
        let origin = files.first().and_then(|(_, _, origin)| origin.clone());
        let model = load(model, origin.as_ref(), &run)?;
        if let Some(model) = &model {
            run.path = model.path.display().to_string();
            run.missing = missing(&record, &run, model)?;
        }
        run.connection = origin.map(|origin| origin.reach.show()).unwrap_or_default();
        let facts = Facts {
            run: Some(run.id.clone()),
            connection: run.connection.clone(),
            ..Facts::default()
        };
        let failures = match &model {
            None => Vec::new(),
            Some(model) => {
                let mut semantics = semantics(model);
                let failure = |(file, test, _): (FailureFile, u64, _)| {
                    Failure::new(&mut semantics, file, &facts, test, false)
                };
                files.into_iter().map(failure).collect()
            }
        };
        Ok(Reported {
            record,
            run,
            failures,
            model,
        })
    }

    /// As the terminal told it.
    fn text(&self) -> String {
        let mut text = String::new();
        for failure in &self.failures {
            text.push_str(&failure.detail.explanation);
            text.push('\n');
        }
        let (run, summary) = (&self.run, &self.run.summary);
        text.push_str(&format!(
            "{}  {}  {}\n     {} ({} passed, {} failed, {} inconclusive, {}), {} in {:.1} s\n     \
             covered {} of {} locations, {} of {} switches, {} of {} boundary values\n",
            run.model,
            run.started,
            run.id,
            output::count(summary.tests, "test"),
            summary.passed,
            summary.failed,
            summary.inconclusive,
            output::count(summary.errors, "error"),
            output::count(summary.steps(), "step"),
            summary.duration as f64 / 1e9,
            summary.covered_locations,
            summary.locations,
            summary.covered_switches,
            summary.switches,
            summary.covered_boundaries,
            summary.boundaries,
        ));
        text
    }

    fn document(&self) -> Result<Document, Stop> {
        let Some(model) = &self.model else {
            return Err(Stop::usage("the model of this run is not known here")
                .hint("name it with --model FILE"));
        };
        let known = (self.failures.iter())
            .map(|failure| (failure.file.id.clone(), failure.file.deviation.clone()))
            .collect();
        let summary = self.summary(model);
        let mut gathering = Gathering::new(semantics(model), summary.clone(), known);
        read(&self.record, &mut |event| gathering.event(event))?;
        let (mut run, tests) = gathering.finish(&mut semantics(model));
        run.summary = summary.clone();
        let path = model.path.display().to_string();
        Ok(Document {
            project: ProjectView {
                name: self.run.model.clone(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                models: vec![ModelName {
                    path: path.clone(),
                    name: self.run.model.clone(),
                }],
                model: path.clone(),
                connection: (!self.run.connection.is_empty()).then(|| ConnectionView {
                    kind: "process".to_owned(),
                    text: self.run.connection.clone(),
                }),
                strategy: self.run.strategy.clone(),
                ..ProjectView::default()
            },
            model: ModelView::new(&path, &model.hash, Some(&model.sts), &model.files, &[]),
            run,
            failures: self.failures.iter().map(|f| f.detail.clone()).collect(),
            tests,
            runs: vec![summary],
            goals: Vec::new(),
        })
    }

    fn summary(&self, model: &Model) -> RunSummary {
        let numbers = &self.run.summary;
        RunSummary {
            run: self.run.id.clone(),
            model: self.run.model.clone(),
            model_hash: model.hash.clone(),
            started: self.run.started.clone(),
            state: RunState::ended(numbers.stopped),
            seed: self.run.seed,
            strategy: self.run.strategy.clone(),
            tests: numbers.tests,
            steps: numbers.steps(),
            failures: numbers.distinct_failures,
            coverage: CoverageView::of_summary(numbers),
            seconds: numbers.duration as f64 / 1e9,
            message: numbers.stopped.map(|reason| reason.words().to_owned()),
        }
    }
}

type Kept = (FailureFile, u64, Option<Origin>);

/// The recorded failures that tests of this run showed, with the first test of each.
fn kept(record: &Path, run: &Run) -> Vec<Kept> {
    let results = record.parent().and_then(Path::parent);
    let results = Results::at(results.unwrap_or(Path::new(".ioco")).to_owned());
    let mut kept: Vec<Kept> = Vec::new();
    for path in results.failure_files() {
        // A file that cannot be read is told of by `ioco test`.
        let Ok(file) = failures::read(&path) else {
            continue;
        };
        let shows = |test: &&ioco_report::TestLine| match &test.verdict {
            SavedVerdict::Fail { deviation } => {
                file.deviation.is_like(deviation) || file.last_deviation().is_like(deviation)
            }
            _ => false,
        };
        let first = run.tests.iter().find(shows).map(|test| test.number);
        if let (Some(test), true) = (first, file.model == run.model) {
            let origin = serde_json::from_value(file.connection.clone()).ok();
            kept.push((file, test, origin));
        }
    }
    kept.sort_by_key(|(_, test, _)| *test);
    kept
}

/// The model: the one named, that of the project, or where the failures were found. `None` where
/// nothing says it, or where it is another one.
fn load(typed: Option<&Path>, origin: Option<&Origin>, run: &Run) -> Result<Option<Model>, Stop> {
    let options = origin.map(|origin| origin.options.clone());
    let options: ModelOptions = options.unwrap_or_default();
    if let Some(path) = typed {
        let project = Project::find(Some(path), None)?;
        let model = ioco_campaign::model::load(&options, &project, &mut Teller)?;
        if model.sts.name() != run.model {
            return Err(Stop::usage(format!(
                "the run was of the model '{}', not of '{}'",
                run.model,
                model.sts.name()
            )));
        }
        return Ok(Some(model));
    }
    let project = Project::find(None, None).unwrap_or_else(|_| Project {
        root: PathBuf::from("."),
        ..Project::default()
    });
    let found = origin.map(|origin| origin.model.clone());
    let candidates = [
        found.map(|path| project.root.join(path)),
        project.model.clone(),
    ];
    for path in candidates
        .into_iter()
        .flatten()
        .filter(|path| path.exists())
    {
        let located = Project {
            model: Some(path),
            ..project.clone()
        };
        let model = ioco_campaign::model::load(&options, &located, &mut Teller)?;
        if model.sts.name() == run.model {
            return Ok(Some(model));
        }
    }
    Ok(None)
}

fn semantics(model: &Model) -> Semantics {
    let solver = Box::new(Oracle::new());
    Semantics::new(Arc::clone(&model.sts), solver, Relation::Ioco)
}

/// The switches that the run did not take.
fn missing(record: &Path, run: &Run, model: &Model) -> Result<Vec<String>, Stop> {
    let mut gathering = Gathering::new(semantics(model), RunSummary::default(), Vec::new());
    if run.tests.is_empty() {
        return Ok(Vec::new());
    }
    read(record, &mut |event| gathering.event(event))?;
    let (detail, _) = gathering.finish(&mut semantics(model));
    let taken: std::collections::HashSet<u32> =
        detail.switch_counts.iter().map(|(id, _)| *id).collect();
    let sts = &model.sts;
    let missing = (0..sts.switches().len())
        .map(SwitchId::from_index)
        .filter(|id| !taken.contains(&id.0));
    Ok(missing
        .map(|id| {
            let place = sts.show_place(sts.switch(id).place);
            format!("{place}  {}", sts.show_switch(id))
        })
        .collect())
}

/// Build servers know files from the root of the repository.
fn paths() -> Paths {
    let Ok(here) = std::env::current_dir() else {
        return Paths::default();
    };
    let root = here.ancestors().find(|folder| folder.join(".git").exists());
    let inside = root.and_then(|root| here.strip_prefix(root).ok());
    let prefix = match inside {
        Some(path) if !path.as_os_str().is_empty() => format!("{}/", path.display()),
        _ => String::new(),
    };
    Paths { prefix }
}
