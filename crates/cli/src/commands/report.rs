//! `ioco report`: a recorded run for people, build servers and browsers.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;

use crate::exit::{Answer, CommandError, Exit};
use ioco_campaign::{Model, Project, history, lifecycle, time};
use ioco_engine::{FailureFile, RequirementCoverage};
use ioco_report::{
    Document, Failure, Gathering, Paths, Run, github, html, json_line, junit, markdown, sarif,
};
use ioco_store::{Covered, RunRow, Store};
use ioco_sts::SwitchId;
use ioco_view::{ConnectionView, Facts, ModelName, ModelView, ProjectView};

use crate::args::{self, Format};
use crate::output;

/// Older runs that the page lists.
const HISTORY: usize = 100;

pub fn run(arguments: &args::Report, format: Format) -> Answer {
    let mut project = crate::typed::project_here()?;
    arguments.store.apply(&mut project);
    ioco_campaign::trust::store(&mut project, &mut crate::watch::ErrorsOnly)?;
    let (store, row) = history::find(&project, arguments.run)?;
    if format == Format::Jsonl {
        return write_events(&store, &row, arguments.output.as_deref());
    }
    let reported = Reported::new(&store, row)?;
    let paths = paths();
    let (run, failures) = (&reported.run, &reported.failures);
    let text = match format {
        Format::Text => reported.text(),
        Format::Json => {
            let document = reported.document(&store)?;
            let text = serde_json::to_string(&document);
            text.map_err(|error| CommandError::usage(error.to_string()))? + "\n"
        }
        Format::Junit => junit(run, failures),
        Format::Markdown => markdown(run, failures, &paths),
        Format::Github => github(run, failures, &paths),
        Format::Sarif => sarif(run, failures, &paths, env!("CARGO_PKG_VERSION")),
        Format::Html => html(&reported.document(&store)?),
        Format::Jsonl => String::new(),
    };
    write(arguments.output.as_deref(), &text)
}

/// The JUnit report of a run that has just ended.
pub fn write_junit(project: &Project, run: i64, file: &Path) -> Result<(), CommandError> {
    let (store, row) = history::find(project, Some(run))?;
    let reported = Reported::new(&store, row)?;
    write(Some(file), &junit(&reported.run, &reported.failures)).map(|_| ())
}

fn cannot_write(file: &Path, error: &std::io::Error) -> CommandError {
    CommandError::usage(format!("cannot write {}: {error}", file.display()))
}

pub fn write(file: Option<&Path>, text: &str) -> Answer {
    match file {
        None => output::data(text),
        Some(file) => {
            fs::write(file, text).map_err(|error| cannot_write(file, &error))?;
            say!("written: {}", file.display());
        }
    }
    Ok(Exit::Conforms)
}

/// Events are written as they are read: a long run has millions.
fn write_events(store: &Store, row: &RunRow, file: Option<&Path>) -> Answer {
    let mut failed = None;
    match file {
        None => {
            store
                .events(row.id, &mut |event| output::data(&json_line(&event)))
                .map_err(history::stop)?;
        }
        Some(path) => {
            let made = fs::File::create(path).map_err(|error| cannot_write(path, &error))?;
            let mut writer = BufWriter::new(made);
            let read = store.events(row.id, &mut |event| {
                if failed.is_none() {
                    failed = writer.write_all(json_line(&event).as_bytes()).err();
                }
            });
            read.map_err(history::stop)?;
            let failed = failed.or_else(|| writer.flush().err());
            if let Some(error) = failed {
                return Err(cannot_write(path, &error));
            }
            say!("written: {}", path.display());
        }
    }
    Ok(Exit::Conforms)
}

/// Everything that the reports say.
struct Reported {
    row: RunRow,
    model: Model,
    run: Run,
    failures: Vec<Failure>,
}

impl Reported {
    fn new(store: &Store, row: RunRow) -> Result<Reported, CommandError> {
        let model = history::model(store, &row)?;
        let mut run = Run {
            id: row.id.to_string(),
            started: time::iso(row.started),
            path: model.path.display().to_string(),
            connection: row.connection.clone(),
            ..Run::default()
        };
        store
            .events(row.id, &mut |event| run.event(&event))
            .map_err(history::stop)?;
        // A run without tests has no events.
        run.model.clone_from(&row.model);
        run.seed = row.seed;
        run.strategy.clone_from(&row.strategy);
        let covered = history::covered(store, &row)?;
        run.missing = missing(&covered, &model);
        run.requirements = requirements(&covered, &model);
        run.failures = row.failures;
        let mut semantics = history::semantics(&model, &row);
        let seen = history::failures(store, row.id)?;
        let files: Vec<FailureFile> = seen.iter().map(|(file, ..)| file.clone()).collect();
        let known = lifecycle::lifecycles(store, &files)?;
        let failure = |(file, test, flaky): (FailureFile, u64, bool)| {
            let facts = Facts {
                connection: row.connection.clone(),
                ..known
                    .get(&*file.id)
                    .map(ioco_server::facts)
                    .unwrap_or_default()
            };
            Failure::new(&mut semantics, file, &facts, test, flaky)
        };
        let failures = seen.into_iter().map(failure).collect();
        Ok(Reported {
            row,
            model,
            run,
            failures,
        })
    }

    /// As the terminal showed it.
    fn text(&self) -> String {
        let mut text = String::new();
        for failure in &self.failures {
            text.push_str(&failure.detail.explanation);
            text.push('\n');
        }
        text.push_str(&super::runs::numbers(&self.row));
        for requirement in &self.run.requirements {
            let RequirementCoverage {
                id,
                text: said,
                steps,
                ..
            } = requirement;
            let touches = |failure: &&Failure| failure.requirements.contains(id);
            let failures = self.failures.iter().filter(touches);
            let failures: Vec<&str> = failures.map(|failure| &*failure.file.id).collect();
            let touched = match failures.as_slice() {
                [] => String::new(),
                ids => format!(", touched by {}", ids.join(", ")),
            };
            let shown = ioco_report::count(*steps, "step");
            text.push_str(&format!("{id}: {shown}{touched}  {said}\n"));
        }
        text
    }

    fn document(&self, store: &Store) -> Result<Document, CommandError> {
        let known = history::failures(store, self.row.id)?;
        let mut gathering = Gathering::new(
            history::semantics(&self.model, &self.row),
            ioco_server::summary(&self.row),
            ioco_server::recorded(&known),
        );
        store
            .events(self.row.id, &mut |event| gathering.event(event))
            .map_err(history::stop)?;
        let (mut run, tests, goals) =
            gathering.finish(&mut history::semantics(&self.model, &self.row));
        run.summary = ioco_server::summary(&self.row);
        let runs = store
            .runs(Some(&self.row.model), HISTORY)
            .map_err(history::stop)?;
        let path = self.model.path.display().to_string();
        Ok(Document {
            project: ProjectView {
                name: self.row.model.clone(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                models: vec![ModelName {
                    path: path.clone(),
                    name: self.row.model.clone(),
                }],
                model: path.clone(),
                connection: Some(ConnectionView {
                    kind: "process".to_owned(),
                    text: self.row.connection.clone(),
                }),
                strategy: self.row.strategy.clone(),
                ..ProjectView::default()
            },
            model: ModelView::new(
                &path,
                &self.model.hash,
                Some(&self.model.sts),
                &self.model.files,
                &[],
            ),
            run,
            failures: self.failures.iter().map(|f| f.detail.clone()).collect(),
            tests,
            runs: runs.iter().map(ioco_server::summary).collect(),
            goals,
        })
    }
}

/// The switches that the run did not take.
fn missing(covered: &Covered, model: &Model) -> Vec<String> {
    let sts = &model.sts;
    let all = (0..sts.switches().len()).map(|index| {
        let id = SwitchId::from_index(index);
        (id, sts.show_place(sts.switch(id).place))
    });
    let taken: HashSet<(&str, &str)> = (covered.switches.iter())
        .map(|s| (s.place.as_str(), s.switch.as_str()))
        .collect();
    let missing = all.filter(|(id, place)| {
        let switch = sts.show_switch(*id);
        !taken.contains(&(place.as_str(), switch.as_str()))
    });
    missing
        .map(|(id, place)| format!("{place}  {}", sts.switch_title(id)))
        .collect()
}

/// The requirements of the model, and how many steps of the run showed each.
fn requirements(covered: &Covered, model: &Model) -> Vec<RequirementCoverage> {
    let sts = &model.sts;
    let counts: HashMap<(&str, &str), u64> = (covered.switches.iter())
        .map(|s| ((s.place.as_str(), s.switch.as_str()), s.count))
        .collect();
    let steps = |id: &SwitchId| {
        let place = sts.show_place(sts.switch(*id).place);
        let switch = sts.show_switch(*id);
        let count = counts.get(&(place.as_str(), switch.as_str()));
        count.copied().unwrap_or_default()
    };
    let all = sts.requirements().iter();
    all.map(|requirement| RequirementCoverage {
        id: requirement.id.clone(),
        text: requirement.text.clone(),
        place: sts.show_place(requirement.place),
        steps: requirement.switches.iter().map(steps).sum(),
    })
    .collect()
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
