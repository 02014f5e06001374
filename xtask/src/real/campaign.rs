//! One campaign against one system, and its figures.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::install::{Installed, cache};
use super::systems::{Accepted, Known, Sign, Source, System};
use crate::postgres::Postgres;
use crate::tools::{answers, root};

/// Distinct deviations after which a campaign against a system that has some ends.
const DEVIATIONS: &str = "20";

/// Steps in which the deviations of such a system are looked for.
const SEARCH: u64 = 10_000;

/// Minutes in which they are looked for.
const SEARCH_MINUTES: u64 = 10;

/// What shrinking one deviation may take: some systems need seconds for every run.
const SHRINKING: &str = "30s";

/// How long a campaign may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Of a system that conforms.
    pub steps: u64,
    /// Of any system, if fewer than usual.
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

/// The campaign, and a search for every known deviation that it did not show.
pub fn run(
    program: &Path,
    system: &System,
    installed: &Installed,
    limits: Limits,
) -> Result<Figures, String> {
    let prepared = Prepared::new(program, system, installed)?;
    let mut command = prepared.test(limits.seed)?;
    let mut minutes = limits.minutes;
    let mut enough = limits.steps;
    if !system.conforms {
        minutes = minutes.min(SEARCH_MINUTES);
        enough = enough.min(SEARCH);
        command.args(["--failures", DEVIATIONS]);
    } else if !system.accepted.is_empty() {
        command.args(["--failures", "0"]);
    }
    if let Some(strategy) = system.strategy {
        command.args(["--strategy", strategy]);
    }
    // Tests end early where the model does, or where ioco has seen enough of them: a campaign counts steps, not tests.
    let tests = (2 * enough).div_ceil(system.average).max(20);
    command.args(["--tests", &tests.to_string()]);
    command.args(["--time", &format!("{minutes}m")]);
    let jobs = side_by_side(system.jobs);
    if jobs > 1 {
        command.args(["--jobs", &jobs.to_string()]);
    }
    let mut figures = watch(&mut command, enough)?;
    for known in system.known {
        let Some(query) = known.query.filter(|_| !figures.shows(known)) else {
            continue;
        };
        eprintln!("   {}: {query}", known.clause);
        let mut command = prepared.test(limits.seed)?;
        command.args(["--strategy", "scenario", "--query", query, "--no-known"]);
        command.args(["--tests", "5", "--failures", "0", "--no-shrink"]);
        command.args(["--time", "1m"]);
        figures.add(watch(&mut command, u64::MAX)?);
    }
    figures.accept(system.accepted);
    Ok(figures)
}

/// Up to the first deviation, one system after the other: what other tools are compared with.
pub fn first_deviation(
    program: &Path,
    system: &System,
    installed: &Installed,
    limits: Limits,
) -> Result<Figures, String> {
    let prepared = Prepared::new(program, system, installed)?;
    let mut command = prepared.test(limits.seed)?;
    command.args(["--failures", "1", "--tests", "1000"]);
    command.args(["--time", &format!("{}m", limits.minutes)]);
    watch(&mut command, u64::MAX)
}

/// A machine that starts more systems than this makes each of them late.
fn side_by_side(most: u64) -> u64 {
    let cores = thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    most.min(8).min(2 * cores)
}

/// A system that is installed, and a copy of its example.
struct Prepared<'a> {
    program: &'a Path,
    system: &'a System,
    installed: &'a Installed,
    work: std::path::PathBuf,
    server: Option<Postgres>,
}

impl<'a> Prepared<'a> {
    fn new(
        program: &'a Path,
        system: &'a System,
        installed: &'a Installed,
    ) -> Result<Prepared<'a>, String> {
        let server = match system.source {
            Source::Postgres => Some(Postgres::start()?.ok_or("there is no PostgreSQL server")?),
            _ => None,
        };
        Ok(Prepared {
            program,
            system,
            installed,
            work: prepare(system)?,
            server,
        })
    }

    /// `ioco test`, as far as every run has it.
    fn test(&self, seed: u64) -> Result<Command, String> {
        let mut command = isolated(self.program)?;
        command.args(["test", "--format", "json", "--seed", &seed.to_string()]);
        command.args(["--steps", &self.system.length.to_string()]);
        command.args(["--shrink-time", SHRINKING]);
        if let Some(profile) = self.system.profile {
            command.args(["--profile", profile]);
        }
        command.current_dir(&self.work);
        command.env("PATH", self.installed.path()?);
        if let Some(node_path) = &self.installed.node_path {
            command.env("NODE_PATH", node_path);
        }
        if let Some(server) = &self.server {
            command.envs(server.environment());
        }
        Ok(command)
    }
}

impl Figures {
    /// Whether some deviation is this known one.
    pub fn shows(&self, known: &Known) -> bool {
        let mut found = self.deviations.iter().chain(&self.unconfirmed);
        found.any(|found| match known.sign {
            Sign::Clause => found.clauses.iter().any(|clause| clause == known.clause),
            Sign::Unasked { response, stimulus } => ["a", "b"].iter().any(|client| {
                let asked = format!("?{client}{stimulus}");
                found.title.contains(&format!("!{client}{response}"))
                    && !found.trace.iter().any(|step| step.starts_with(&asked))
            }),
        })
    }

    /// Adds what another run of the same model against the same system has shown.
    fn add(&mut self, more: Figures) {
        self.tests += more.tests;
        self.steps += more.steps;
        self.time += more.time;
        for found in more.deviations {
            let is_same = |other: &Deviation| {
                (&other.title, &other.clauses) == (&found.title, &found.clauses)
            };
            if !self.deviations.iter().any(is_same) {
                self.deviations.push(found);
            }
        }
        self.unconfirmed.extend(more.unconfirmed);
        for (id, steps) in more.clauses {
            match self.clauses.iter_mut().find(|(known, _)| *known == id) {
                Some((_, before)) => *before += steps,
                None => self.clauses.push((id, steps)),
            }
        }
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

/// Runs ioco and reads its events. Ends the run once it has enough steps.
fn watch(command: &mut Command, enough: u64) -> Result<Figures, String> {
    let start = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot start ioco: {error}"))?;
    let mut figures = Figures::default();
    let (mut reported, mut tested) = (false, Duration::ZERO);
    let (mut steps, mut is_ended) = (0, false);
    let output = child.stdout.take().ok_or("ioco has no output")?;
    for line in BufReader::new(output).lines() {
        let line = line.map_err(|error| error.to_string())?;
        let event: Value = serde_json::from_str(&line).map_err(|error| error.to_string())?;
        match event["event"].as_str() {
            Some("test-finished") => {
                tested += Duration::from_nanos(event["duration"].as_u64().unwrap_or_default());
                steps += event["steps"].as_u64().unwrap_or_default();
                if steps >= enough && !is_ended {
                    // As Ctrl-C does: it reports what there is.
                    is_ended =
                        answers(Command::new("kill").args(["-INT", &child.id().to_string()]));
                }
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
        Some(130) if reported && is_ended => Ok(figures),
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
        let [missing, odd] = ["R-1", "R-3"].map(|clause| Known {
            clause,
            sign: Sign::Clause,
            query: None,
        });
        assert!(figures.shows(&missing) && !figures.shows(&odd));
        figures.add(Figures {
            tests: 1,
            steps: 2,
            deviations: [figures.deviations.clone(), figures.deviations.clone()].concat(),
            clauses: vec![("R-1".to_owned(), 4), ("R-9".to_owned(), 1)],
            ..Figures::default()
        });
        assert_eq!((figures.tests, figures.steps), (4, 17));
        assert_eq!((figures.clauses[0].1, figures.clauses.len()), (7, 3));
        assert_eq!(figures.deviations.len(), 1);
        let accepted = |clauses| Accepted { clauses, why: "" };
        figures.accept(&[accepted(&["R-3"]), accepted(&["R-1", "R-3"])]);
        assert_eq!((figures.deviations.len(), figures.accepted.len()), (1, 0));
        figures.accept(&[accepted(&["R-2"])]);
        assert_eq!((figures.deviations.len(), figures.accepted.len()), (0, 1));
    }

    #[test]
    fn a_message_that_a_client_never_asked_for_is_recognised_wherever_it_comes() {
        let known = Known {
            clause: "R-1",
            sign: Sign::Unasked {
                response: "_retained",
                stimulus: "_subscribe",
            },
            query: None,
        };
        let shows = |title: &str, trace: &[&str]| {
            let deviation = Deviation {
                title: title.to_owned(),
                clauses: Vec::new(),
                trace: trace.iter().map(|step| (*step).to_owned()).collect(),
            };
            let deviations = vec![deviation];
            Figures {
                deviations,
                ..Figures::default()
            }
            .shows(&known)
        };
        let sent = "the broker sent !b_retained0(topic=0)";
        assert!(shows(
            sent,
            &["?a_subscribe(topic=0)", "?b_connect(id=1)", "?b_ping"]
        ));
        assert!(!shows(sent, &["?b_subscribe(topic=0)", "!b_suback"]));
        assert!(!shows("the broker sent !b_closed", &["?b_connect(id=1)"]));
    }
}
