//! One campaign after the other, in an arena where things happen to its parts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::check::{Database, Sums};
use super::rooms;
use super::world::{Network, Process};

/// A campaign that makes no progress for so long hangs.
const HANGS: Duration = Duration::from_secs(300);

/// What all campaigns of a run share.
pub struct Arena {
    pub ioco: PathBuf,
    pub nats: PathBuf,
    pub database: Database,
    /// The address of the same database by a socket in a folder, for other networks.
    pub socket: String,
    pub folder: PathBuf,
    /// Tests of each campaign, and the run of one machine that has the same ones.
    pub tests: u64,
    pub reference: u64,
    /// Tests a second on one machine with one system.
    pub alone: f64,
    pub campaigns: u32,
    pub workers: u32,
}

/// How a process gets to its server.
#[derive(Clone, Copy, Default)]
pub struct Way<'a> {
    pub network: Option<&'a Network>,
    /// Variables of the environment.
    pub variables: &'a [(String, String)],
}

impl Arena {
    /// A folder with the project in it.
    fn project(&self, name: &str) -> Result<PathBuf, String> {
        let folder = self.folder.join(name);
        if !folder.join("ioco.toml").exists() {
            rooms::project(&folder, ANSWER, STEPS)?;
        }
        Ok(folder)
    }

    fn ioco(&self, project: &Path, log: &str, way: Way<'_>) -> Result<Command, String> {
        let log = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.folder.join(format!("{log}.log")))
            .map_err(|error| error.to_string())?;
        let mut command = match way.network {
            Some(network) => network.command(&self.ioco),
            None => Command::new(&self.ioco),
        };
        command
            .current_dir(project)
            .env("XDG_STATE_HOME", self.folder.join("state"))
            .env("NO_COLOR", "1")
            .envs(way.variables.iter().cloned())
            .stdout(log.try_clone().map_err(|error| error.to_string())?)
            .stderr(log);
        Ok(command)
    }

    pub fn worker(&mut self, url: &str, jobs: usize, way: Way<'_>) -> Result<Process, String> {
        self.workers += 1;
        let name = format!("w{}", self.workers);
        let project = self.project("worker")?;
        let mut command = self.ioco(&project, &name, way)?;
        command.args(["worker", "--nats", url, "--name", &name]);
        command.args(["--jobs", &jobs.to_string()]);
        Process::spawn(&mut command)
    }

    pub fn workers(
        &mut self,
        url: &str,
        count: usize,
        jobs: usize,
    ) -> Result<Vec<Process>, String> {
        (0..count)
            .map(|_| self.worker(url, jobs, Way::default()))
            .collect()
    }

    /// Runs the tests on one machine, with so many systems, and keeps the time that it took.
    pub fn run_alone(&mut self, jobs: usize) -> Result<(), String> {
        let project = self.project("alone")?;
        let begun = Instant::now();
        let mut command = self.ioco(&project, "alone", Way::default())?;
        let (tests, jobs) = (self.tests.to_string(), jobs.to_string());
        command.args(["test", "--tests", &tests, "--jobs", &jobs]);
        command.args(["--store", self.database.url(), "--no-known"]);
        let status = command.status().map_err(|error| error.to_string())?;
        // There is a broken door.
        if status.code() != Some(1) {
            let said = fs::read_to_string(self.folder.join("alone.log")).unwrap_or_default();
            return Err(format!("the run of one machine: {status}\n{said}"));
        }
        self.alone = self.tests as f64 / begun.elapsed().as_secs_f64();
        self.reference = self.database.last_run()?;
        Ok(())
    }
}

/// Milliseconds that the system takes to answer, and steps of a test.
pub const ANSWER: u64 = 20;
pub const STEPS: u64 = 20;

/// A campaign under way, whose coordinators can be killed.
pub struct Campaign {
    pub id: String,
    project: PathBuf,
    url: String,
    store: Option<String>,
    more: Vec<String>,
    process: Option<Process>,
    begun: Instant,
}

impl Campaign {
    pub fn start(
        arena: &mut Arena,
        url: &str,
        more: &[&str],
        way: Way<'_>,
    ) -> Result<Campaign, String> {
        let store = arena.database.url().to_owned();
        Campaign::begin(arena, url, Some(store), more, way)
    }

    /// In a network of its own, from where the store is reached by a socket.
    pub fn start_inside(arena: &mut Arena, url: &str, way: Way<'_>) -> Result<Campaign, String> {
        let store = arena.socket.clone();
        Campaign::begin(arena, url, Some(store), &[], way)
    }

    /// Keeps its store in the folder of its project instead.
    pub fn start_with_file(arena: &mut Arena, url: &str) -> Result<Campaign, String> {
        Campaign::begin(arena, url, None, &[], Way::default())
    }

    fn begin(
        arena: &mut Arena,
        url: &str,
        store: Option<String>,
        more: &[&str],
        way: Way<'_>,
    ) -> Result<Campaign, String> {
        arena.campaigns += 1;
        let id = format!("c{}-{}", arena.campaigns, std::process::id());
        let mut campaign = Campaign {
            project: arena.project(&id)?,
            id,
            url: url.to_owned(),
            store,
            more: more.iter().map(|word| (*word).to_owned()).collect(),
            process: None,
            begun: Instant::now(),
        };
        campaign.launch(arena, false, way)?;
        Ok(campaign)
    }

    fn launch(&mut self, arena: &Arena, is_resumed: bool, way: Way<'_>) -> Result<(), String> {
        let mut command = arena.ioco(&self.project, &self.id, way)?;
        command.args(["campaign"]);
        match is_resumed {
            true => command.args(["resume", &self.id, "--take-over"]),
            false => command
                .args(["start", "--campaign", &self.id, "--no-known"])
                .args(["--lease", "2s", "--tests", &arena.tests.to_string()])
                .args(&self.more),
        };
        command.args(["--nats", &self.url]);
        if let Some(store) = &self.store {
            command.args(["--store", store]);
        }
        self.process = Some(Process::spawn(&mut command)?);
        Ok(())
    }

    /// Another coordinator takes over; the one before, if it is still there.
    pub fn resume(&mut self, arena: &Arena, way: Way<'_>) -> Result<Option<Process>, String> {
        let before = self.process.take();
        self.launch(arena, true, way)?;
        Ok(before)
    }

    pub fn coordinator(&mut self) -> Option<&mut Process> {
        self.process.as_mut()
    }

    /// Looks after the coordinator: one that has ended before its time is followed by another. Whether the campaign
    /// is over.
    pub fn tend(&mut self, arena: &Arena, way: Way<'_>) -> Result<bool, String> {
        let Some(process) = &mut self.process else {
            return Ok(true);
        };
        let Some(status) = process.ended() else {
            return Ok(false);
        };
        if self.is_finished(arena)? {
            return match status.code() {
                Some(0 | 1) => Ok(true),
                // Killed after its last word.
                None => Ok(true),
                Some(2) => Ok(true),
                Some(code) => Err(format!(
                    "{} ended with {code}\n{}",
                    self.id,
                    self.said(arena)
                )),
            };
        }
        std::thread::sleep(Duration::from_millis(200));
        self.resume_or_start(arena, way)?;
        Ok(false)
    }

    /// A coordinator that was killed before it had begun left nothing to resume.
    fn resume_or_start(&mut self, arena: &Arena, way: Way<'_>) -> Result<(), String> {
        let is_known = match &self.store {
            None => self.show(arena).is_some(),
            Some(_) => {
                let question = format!("SELECT COUNT(*) FROM campaigns WHERE id = '{}'", self.id);
                arena.database.number(&question) == Ok(1)
            }
        };
        self.launch(arena, is_known, way)
    }

    fn is_finished(&self, arena: &Arena) -> Result<bool, String> {
        match &self.store {
            Some(_) => Ok(arena.database.is_finished(&self.id)),
            None => Ok(self
                .show(arena)
                .is_some_and(|shown| shown["finished"] == true)),
        }
    }

    /// What `ioco campaign show` says.
    pub fn show(&self, arena: &Arena) -> Option<serde_json::Value> {
        let output = Command::new(&arena.ioco)
            .current_dir(&self.project)
            .env("XDG_STATE_HOME", arena.folder.join("state"))
            .args(["campaign", "show", &self.id, "--format", "json"])
            .stdin(Stdio::null())
            .output()
            .ok()?;
        serde_json::from_slice(&output.stdout).ok()
    }

    pub fn said(&self, arena: &Arena) -> String {
        let log = arena.folder.join(format!("{}.log", self.id));
        let said = fs::read_to_string(log).unwrap_or_default();
        let lines: Vec<&str> = said.lines().collect();
        lines[lines.len().saturating_sub(30)..].join("\n")
    }

    /// Waits until so many outcomes are in the store.
    pub fn until(&mut self, arena: &Arena, outcomes: u64, way: Way<'_>) -> Result<(), String> {
        let begun = Instant::now();
        while arena.database.outcomes(&self.id) < outcomes {
            if self.tend(arena, way)? {
                return Ok(());
            }
            if begun.elapsed() > HANGS {
                return Err(format!("{} hangs\n{}", self.id, self.said(arena)));
            }
            std::thread::sleep(Duration::from_millis(30));
        }
        Ok(())
    }

    /// Waits for the end of the campaign.
    pub fn end(&mut self, arena: &Arena, way: Way<'_>) -> Result<(), String> {
        let begun = Instant::now();
        while !self.tend(arena, way)? {
            if begun.elapsed() > HANGS {
                return Err(format!("{} hangs\n{}", self.id, self.said(arena)));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// The same for a store in a file, as far as ioco itself reports it.
    pub fn check_file(mut self, arena: &Arena) -> Result<Checked, String> {
        self.end(arena, Way::default())?;
        let seconds = self.begun.elapsed().as_secs_f64();
        let shown = self.show(arena).ok_or("ioco shows no campaign")?;
        let tally = |name: &str| shown["tally"][name].as_u64().unwrap_or(0);
        let listed = Command::new(&arena.ioco)
            .current_dir(&self.project)
            .env("XDG_STATE_HOME", arena.folder.join("state"))
            .args(["runs", "--format", "json"])
            .output()
            .map_err(|error| error.to_string())?;
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        let row = listed.lines().next().unwrap_or_default();
        let row: serde_json::Value = serde_json::from_str(row).unwrap_or_default();
        let sums = Sums {
            orders: tally("orders"),
            outcomes: tally("outcomes"),
            withdrawn: tally("withdrawn"),
            discarded: tally("discarded"),
            losses: tally("open"),
            doubles: (tally("outcomes") + tally("withdrawn")).saturating_sub(tally("orders")),
            tests: row["tests"].as_u64().unwrap_or(0),
            failed: 0,
            switches: row["coverage"]["switches"][0].as_u64().unwrap_or(0),
            coordinators: shown["coordinators"].as_u64().unwrap_or(0),
        };
        let reference = arena.database.covered(arena.reference)?;
        let found = row["failures"].as_u64().unwrap_or(0);
        let is_right = sums.losses == 0
            && sums.doubles == 0
            && (sums.tests, sums.switches, found) == (arena.tests, reference.0, reference.1);
        match is_right {
            true => Ok(Checked { sums, seconds }),
            false => Err(format!("{} does not add up: {sums:?}; {row}", self.id)),
        }
    }

    /// Waits for its end, and checks that everything adds up.
    pub fn check(mut self, arena: &Arena, way: Way<'_>) -> Result<Checked, String> {
        self.end(arena, way)?;
        let seconds = self.begun.elapsed().as_secs_f64();
        let sums = arena.database.check(&self.id, arena.reference);
        let sums = sums.map_err(|why| format!("{why}\n{}", self.said(arena)))?;
        Ok(Checked { sums, seconds })
    }
}

/// A campaign that adds up.
#[derive(Clone, Default)]
pub struct Checked {
    pub sums: Sums,
    pub seconds: f64,
}
