//! One campaign against one system, and its figures.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::install::{Installed, cache};
use super::systems::{Accepted, Source, System};
use crate::postgres::Postgres;
use crate::tools::{answers, root};

/// Distinct deviations after which a campaign ends.
const DEVIATIONS: &str = "20";

/// Steps in which the deviations of a system that has some are looked for.
const SEARCH: u64 = 10_000;

/// How long a campaign may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Of a system that conforms; fewer if its time is over before.
    pub steps: u64,
    /// Of any system. One that deviates needs time too: each deviation is confirmed and shrunk.
    pub minutes: u64,
    pub seed: u64,
}

#[derive(Clone, Debug, Default)]
pub struct Figures {
    pub tests: u64,
    pub steps: u64,
    pub time: Duration,
    /// The time of tests up to the first deviation, without that of starting systems and before it is confirmed and
    /// shrunk.
    pub first: Option<Duration>,
    pub deviations: Vec<Deviation>,
    /// Deviations that are known.
    pub accepted: Vec<Deviation>,
    /// Deviations that did not occur again: a race in the system, or a busy machine.
    pub unconfirmed: Vec<Deviation>,
    /// The clauses that the model cites, and how many steps showed each.
    pub clauses: Vec<(String, u64)>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deviation {
    pub title: String,
    /// The clauses of the standard that it touches.
    pub clauses: Vec<String>,
    /// The shortest trace, step by step.
    pub trace: Vec<String>,
}

pub fn run(
    program: &Path,
    system: &System,
    installed: &Installed,
    Limits {
        steps,
        minutes,
        seed,
    }: Limits,
) -> Result<Figures, String> {
    let work = prepare(system)?;
    let server = match system.source {
        Source::Postgres => Some(Postgres::start()?.ok_or("there is no PostgreSQL server")?),
        _ => None,
    };
    let mut command = isolated(program)?;
    command.args(["test", "--format", "json", "--seed", &seed.to_string()]);
    command.args(["--steps", &system.length.to_string()]);
    if let Some(profile) = system.profile {
        command.args(["--profile", profile]);
    }
    if !system.conforms || !system.accepted.is_empty() {
        command.args(["--failures", DEVIATIONS]);
    }
    // Tests end early where the model does, so a campaign counts steps, not tests.
    let least = if system.conforms { 1 } else { 20 };
    let steps = if system.conforms {
        steps
    } else {
        steps.min(SEARCH)
    };
    let tests = steps.div_ceil(system.average).max(least);
    command.args(["--tests", &tests.to_string()]);
    command.args(["--time", &format!("{minutes}m")]);
    if system.jobs > 1 {
        command.args(["--jobs", &system.jobs.to_string()]);
    }
    command.current_dir(&work).env("PATH", installed.path()?);
    if let Some(node_path) = &installed.node_path {
        command.env("NODE_PATH", node_path);
    }
    if let Some(server) = &server {
        command.envs(server.environment());
    }
    let mut figures = watch(&mut command)?;
    figures.accept(system.accepted);
    Ok(figures)
}

impl Figures {
    /// Whether some deviation touches a clause and has a text in its title.
    pub fn shows(&self, clause: &str, what: &str) -> bool {
        let mut found = self.deviations.iter().chain(&self.unconfirmed);
        found.any(|d| d.clauses.iter().any(|c| c == clause) && d.title.contains(what))
    }

    /// The clauses that some deviation touches; a flaky one counts too.
    pub fn touched(&self) -> Vec<&str> {
        let found = self
            .deviations
            .iter()
            .chain(&self.accepted)
            .chain(&self.unconfirmed);
        let mut clauses: Vec<&str> = found
            .flat_map(|d| d.clauses.iter().map(String::as_str))
            .collect();
        clauses.sort_unstable();
        clauses.dedup();
        clauses
    }

    /// Sets known deviations apart.
    fn accept(&mut self, known: &[Accepted]) {
        let is_known = |found: &Deviation| known.iter().any(|known| found.is(known));
        let all = std::mem::take(&mut self.deviations);
        (self.accepted, self.deviations) = all.into_iter().partition(is_known);
    }
}

/// A copy of the example, so that results of earlier runs do not count.
fn prepare(system: &System) -> Result<std::path::PathBuf, String> {
    let text = |error: std::io::Error| error.to_string();
    let work = cache().join("runs").join(system.name);
    if work.exists() {
        fs::remove_dir_all(&work).map_err(text)?;
    }
    fs::create_dir_all(&work).map_err(text)?;
    let example = root().join("examples/real").join(system.folder);
    for entry in fs::read_dir(example).map_err(text)?.flatten() {
        if entry.path().is_file() {
            fs::copy(entry.path(), work.join(entry.file_name())).map_err(text)?;
        }
    }
    if let Some(model) = system.model {
        fs::copy(work.join(model), work.join("model.aml")).map_err(text)?;
    }
    Ok(work)
}

/// A command in a network namespace of its own, with a loopback device and nothing else: some systems listen
/// on every address.
pub fn isolated(program: &Path) -> Result<Command, String> {
    let up = "ip link set lo up && exec \"$@\"";
    for flags in [&["--net"][..], &["--net", "--map-root-user"]] {
        let namespace = || {
            let mut unshare = Command::new("unshare");
            unshare.args(flags).args(["sh", "-c", up, "sh"]);
            unshare
        };
        if answers(namespace().arg("true")) {
            let mut command = namespace();
            command.arg(program);
            return Ok(command);
        }
    }
    Err("no network namespace can be made: unshare and ip are needed".to_owned())
}

/// Runs ioco and reads its events.
fn watch(command: &mut Command) -> Result<Figures, String> {
    let start = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot start ioco: {error}"))?;
    let mut figures = Figures::default();
    let (mut reported, mut tested) = (false, Duration::ZERO);
    let output = child.stdout.take().ok_or("ioco has no output")?;
    for line in BufReader::new(output).lines() {
        let line = line.map_err(|error| error.to_string())?;
        let event: Value = serde_json::from_str(&line).map_err(|error| error.to_string())?;
        match event["event"].as_str() {
            Some("test-finished") => {
                tested += Duration::from_nanos(event["duration"].as_u64().unwrap_or_default());
                if event["verdict"] == "fail" {
                    figures.first.get_or_insert(tested);
                }
            }
            Some("run-reported") => {
                reported = true;
                read_report(&event, &mut figures)?;
            }
            _ => {}
        }
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    figures.time = start.elapsed();
    match status.code() {
        Some(0 | 1 | 5) if reported => Ok(figures),
        _ => Err(format!("ioco test: {status}")),
    }
}

fn read_report(event: &Value, figures: &mut Figures) -> Result<(), String> {
    let summary = &event["summary"];
    let number = |key: &str| {
        summary[key]
            .as_u64()
            .ok_or(format!("no {key} in the report"))
    };
    figures.tests = number("tests")?;
    figures.steps = number("stimuli")? + number("responses")? + number("silences")?;
    let failures = event["failures"].as_array().into_iter().flatten();
    let flaky = |failure: &&Value| failure["flaky"] == true;
    let (flaky, certain): (Vec<_>, Vec<_>) = failures.partition(flaky);
    figures.unconfirmed = flaky.into_iter().map(read_failure).collect();
    figures.deviations = certain.into_iter().map(read_failure).collect();
    let clauses = event["requirements"].as_array().into_iter().flatten();
    let clause = |clause: &Value| {
        let id = clause["id"].as_str()?.to_owned();
        Some((id, clause["steps"].as_u64()?))
    };
    figures.clauses = clauses.filter_map(clause).collect();
    Ok(())
}

fn read_failure(failure: &Value) -> Deviation {
    let explanation = &failure["explanation"];
    let clauses = explanation["requirements"].as_array().into_iter().flatten();
    let rows = explanation["rows"].as_array().into_iter().flatten();
    let trace = rows.filter_map(|row| row["text"].as_str().map(str::to_owned));
    Deviation {
        title: explanation["title"].as_str().unwrap_or_default().to_owned(),
        clauses: clauses
            .filter_map(|c| c.as_str().map(str::to_owned))
            .collect(),
        trace: trace.collect(),
    }
}

impl Deviation {
    /// Whether it is this known one.
    pub fn is(&self, known: &Accepted) -> bool {
        let touches = |clause: &&str| self.clauses.iter().any(|touched| touched == clause);
        known.clauses.iter().all(touches)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_report_gives_steps_clauses_and_the_shortest_trace() {
        let event = json!({
            "summary": {"tests": 3, "stimuli": 4, "responses": 5, "silences": 6},
            "failures": [
                {"flaky": true, "explanation": {"title": "by chance"}},
                {"flaky": false, "explanation": {
                    "title": "missing response",
                    "requirements": ["R-1", "R-2"],
                    "rows": [{"text": "?go"}, {"text": "silence"}],
                }},
            ],
            "requirements": [{"id": "R-1", "steps": 3}, {"id": "R-3", "steps": 0}],
        });
        let mut figures = Figures::default();
        read_report(&event, &mut figures).unwrap();
        assert_eq!((figures.tests, figures.steps), (3, 15));
        let deviation = Deviation {
            title: "missing response".to_owned(),
            clauses: vec!["R-1".to_owned(), "R-2".to_owned()],
            trace: vec!["?go".to_owned(), "silence".to_owned()],
        };
        assert_eq!(figures.deviations, [deviation]);
        assert_eq!(figures.unconfirmed[0].title, "by chance");
        let clauses = [("R-1".to_owned(), 3), ("R-3".to_owned(), 0)];
        assert_eq!(figures.clauses, clauses);
        let accepted = |clauses| Accepted { clauses, why: "" };
        figures.accept(&[accepted(&["R-3"]), accepted(&["R-1", "R-3"])]);
        assert_eq!((figures.deviations.len(), figures.accepted.len()), (1, 0));
        figures.accept(&[accepted(&["R-2"])]);
        assert_eq!((figures.deviations.len(), figures.accepted.len()), (0, 1));
    }
}
