//! How much faster N jobs are, for a system that takes 20 ms to answer: in steps, in switches covered and in the
//! time to the first failure. `cargo xtask bench jobs` prints the table.
//!
//! The system is this program itself: rooms with four doors each, and one door that is broken.
//!
//! First in virtual time: the real coordinator and real tests, on a clock on which only the system takes time. That says
//! how well the work is shared out, on any machine. Then as it is, where starting systems, threads and the machine's
//! load count: runs with fewer jobs go side by side, so that the machine always carries the same number of systems.
//!
//! The time to the first failure is a mean over many planted faults, spread over all doors and each met by its own seed:
//! its standard error is printed beside the share, because a few faults say nothing about a time that is spread like a
//! geometric one.
//!
//! `-- --rooms 150 --jobs 1,32 --runs 8 --faults 64 --clock virtual --strategies auto` measures less or more.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::fmt::Write as _;
use std::io::{BufRead, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use ioco_campaign::work::{Executor, Order, Outcome, Worker, WorkerSetup};
use ioco_campaign::{
    Campaign, CampaignError, ConnectionSpec, ExecutorKind, Interrupt, ModelOptions, NoObserver,
    Observer, Plan, Project, SolverChoice, TestSettings, Transport, model,
};
use ioco_engine::{SavedStep, Tester};

const DOORS: usize = 4;
const ANSWER: Duration = Duration::from_millis(20);
/// Steps of a test: half of them are doors.
const STEPS: u64 = 20;
/// Percent of the switches that the time is measured for.
const COVERAGE: f64 = 90.0;

/// What to measure.
struct Bench {
    rooms: usize,
    jobs: Vec<usize>,
    /// Runs that covering is the mean of, each with another seed.
    runs: u64,
    /// Runs that the time to the first failure is the mean of, each with another seed and another broken door.
    faults: u64,
    clocks: Vec<Clock>,
    strategies: Vec<String>,
}

/// Which time is measured.
#[derive(Clone, Copy, PartialEq)]
enum Clock {
    /// Only the system takes time.
    Virtual,
    Real,
}

fn main() -> Result<(), String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == "--system") {
        let mut numbers = words[1..].iter().filter_map(|word| word.parse().ok());
        let answer = Duration::from_millis(numbers.next().unwrap_or(0) as u64);
        let rooms: usize = numbers.next().unwrap_or(1);
        return system(answer, rooms, numbers.next().zip(numbers.next()));
    }
    let bench = Bench::of(&words)?;
    println!(
        "{} switches, tests of {STEPS} steps, means of {} runs and {} faults; no number of jobs finds a failure before \
         its shortest way, {:.2} s in the mean",
        bench.rooms * DOORS * 2,
        bench.runs,
        bench.faults,
        bench.shortest()
    );
    for clock in &bench.clocks {
        let table = bench.table(*clock);
        table.map_err(|error| error.message)?;
    }
    Ok(())
}

/// What one strategy came to with so many jobs: means over the runs.
#[derive(Clone, Copy)]
struct Figures {
    /// `None` for a strategy that does not go for switches.
    cover: Option<Cover>,
    /// Seconds to the first failure.
    failure: Mean,
    /// Steps per second until then.
    steps: f64,
}

#[derive(Clone, Copy)]
struct Cover {
    steps: f64,
    switches: Mean,
    /// Tests until the switches were covered.
    tests: f64,
}

/// A mean, and its standard error.
#[derive(Clone, Copy)]
struct Mean {
    value: f64,
    error: f64,
}

impl Mean {
    fn of(values: &[f64]) -> Mean {
        let count = values.len() as f64;
        let value = values.iter().sum::<f64>() / count;
        let squares = values.iter().map(|one| (one - value).powi(2)).sum::<f64>();
        let error = match values.len() {
            0 | 1 => f64::NAN,
            _ => (squares / (count - 1.0) / count).sqrt(),
        };
        Mean { value, error }
    }

    /// How many times as large this is as `other`, as if the two were independent.
    fn over(self, other: Mean) -> Mean {
        let value = self.value / other.value;
        let relative = (self.error / self.value).hypot(other.error / other.value);
        Mean {
            value,
            error: value * relative,
        }
    }
}

/// What one run came to.
#[derive(Clone, Copy)]
struct Run {
    /// Seconds until what was looked for.
    seconds: f64,
    tests: f64,
    steps: f64,
    switches: f64,
}

#[derive(Clone, Copy, PartialEq)]
enum Goal {
    Coverage,
    Failure,
}

/// Notes when the goal was reached.
struct Watch {
    goal: Goal,
    begun: Instant,
    /// What the virtual clock shows.
    passed: Option<Arc<AtomicU64>>,
    reached: Option<Run>,
}

impl Observer for Watch {
    fn handled(&mut self, tester: &mut Tester) {
        let summary = tester.summary();
        let is_reached = match self.goal {
            Goal::Coverage => tester.coverage().percent() >= COVERAGE,
            Goal::Failure => summary.failed > 0,
        };
        if is_reached && self.reached.is_none() {
            self.reached = Some(Run {
                seconds: match &self.passed {
                    None => self.begun.elapsed().as_secs_f64(),
                    Some(passed) => match passed.load(Ordering::Relaxed) {
                        // One job, which nobody simulates: each stimulus takes its time.
                        0 => summary.stimuli as f64 * ANSWER.as_secs_f64(),
                        passed => passed as f64 * ANSWER.as_secs_f64(),
                    },
                },
                tests: summary.tests as f64,
                steps: summary.steps() as f64,
                switches: tester.coverage().covered_switches() as f64,
            });
        }
    }
}

/// Workers in virtual time, which is counted in answers of the system. One real worker carries out every order at once,
/// because an order says all that its test depends on.
struct Simulated {
    worker: Worker,
    count: usize,
    now: Arc<AtomicU64>,
    /// By the time at which they come, and by number.
    coming: BinaryHeap<Reverse<(u64, u64)>>,
    outcomes: BTreeMap<u64, Outcome>,
}

impl Simulated {
    fn new(worker: Worker, count: usize, now: Arc<AtomicU64>) -> Simulated {
        Simulated {
            worker,
            count,
            now,
            coming: BinaryHeap::new(),
            outcomes: BTreeMap::new(),
        }
    }
}

impl Executor for Simulated {
    fn capacity(&self) -> usize {
        self.count
    }

    /// There are never more orders than workers: each begins now.
    fn submit(&mut self, order: Order) -> Result<(), CampaignError> {
        let outcome = self.worker.run(&order)?;
        let stimuli = outcome
            .steps
            .iter()
            .filter(|step| matches!(step, SavedStep::Stimulus { .. }));
        let ends = self.now.load(Ordering::Relaxed) + stimuli.count().max(1) as u64;
        self.coming.push(Reverse((ends, order.number)));
        self.outcomes.insert(order.number, outcome);
        Ok(())
    }

    /// Only a wait lets time pass: who asks without one gets what is there now, and hands out the next order before
    /// other workers are done.
    fn next(&mut self, wait: Duration) -> Result<Option<Outcome>, CampaignError> {
        let now = self.now.load(Ordering::Relaxed);
        let is_later = |Reverse((at, _)): &Reverse<(u64, u64)>| *at > now;
        if wait.is_zero() && self.coming.peek().is_some_and(is_later) {
            return Ok(None);
        }
        let Some(Reverse((at, number))) = self.coming.pop() else {
            return Ok(None);
        };
        self.now.fetch_max(at, Ordering::Relaxed);
        Ok(self.outcomes.remove(&number))
    }
}

impl Bench {
    fn of(words: &[String]) -> Result<Bench, String> {
        let mut bench = Bench {
            rooms: 600,
            jobs: vec![1, 2, 4, 8, 16, 32],
            runs: 8,
            faults: 64,
            clocks: vec![Clock::Virtual, Clock::Real],
            strategies: ["random", "transitions", "auto"].map(str::to_owned).into(),
        };
        for pair in words.chunks(2) {
            let value = pair.get(1).map_or("", String::as_str);
            let number = |text: &str| text.parse::<usize>().ok().filter(|number| *number > 0);
            let numbers: Option<Vec<usize>> = value.split(',').map(number).collect();
            match (pair[0].as_str(), numbers.as_deref()) {
                ("--clock", _) if value == "virtual" => bench.clocks = vec![Clock::Virtual],
                ("--clock", _) if value == "real" => bench.clocks = vec![Clock::Real],
                ("--strategies", _) if !value.is_empty() => {
                    bench.strategies = value.split(',').map(str::to_owned).collect();
                }
                ("--rooms", Some([rooms])) => bench.rooms = *rooms,
                ("--runs", Some([runs])) => bench.runs = *runs as u64,
                ("--faults", Some([faults])) => bench.faults = *faults as u64,
                ("--jobs", Some(jobs)) => bench.jobs = jobs.to_vec(),
                _ => return Err(format!("no such setting: {}", pair.join(" "))),
            }
        }
        Ok(bench)
    }

    /// The broken door of a run, in its room: spread over all doors of the model.
    fn broken(&self, run: u64) -> (usize, usize) {
        let doors = self.rooms * DOORS;
        let door = (run * 2 + 1) as usize * doors / (2 * self.faults as usize);
        (door / DOORS, door % DOORS)
    }

    /// Seconds that the shortest ways to the broken doors take, in the mean.
    fn shortest(&self) -> f64 {
        let mut depth: Vec<Option<u32>> = vec![None; self.rooms];
        depth[0] = Some(0);
        let mut queue = VecDeque::from([0]);
        while let Some(room) = queue.pop_front() {
            for door in 0..DOORS {
                let next = behind(room, door, self.rooms);
                if depth[next].is_none() {
                    depth[next] = depth[room].map(|depth| depth + 1);
                    queue.push_back(next);
                }
            }
        }
        let doors = (0..self.faults).map(|run| depth[self.broken(run).0].map_or(0, |d| d + 1));
        doors.sum::<u32>() as f64 / self.faults as f64 * ANSWER.as_secs_f64()
    }

    fn table(&self, clock: Clock) -> Result<(), CampaignError> {
        match clock {
            Clock::Virtual => println!("\nvirtual time: only the system takes time"),
            Clock::Real => println!("\nreal time"),
        }
        for strategy in &self.strategies {
            self.table_of(strategy, clock)?;
        }
        Ok(())
    }

    fn table_of(&self, strategy: &str, clock: Clock) -> Result<(), CampaignError> {
        println!(
            "\n{strategy}\n{:>6}  {:>9} {:>6}  {:>12} {:>11} {:>7}  {:>15} {:>11}",
            "jobs", "steps/s", "/N", "switches/s", "/N", "tests", "first failure", "/N",
        );
        let mut first: Option<Figures> = None;
        for jobs in &self.jobs {
            let now = self.measure(*jobs, strategy, clock)?;
            let one = *first.get_or_insert(now);
            // As a share of what N times as fast would be.
            let share = |faster: f64| faster * self.jobs[0] as f64 / *jobs as f64;
            let shown =
                |times: Mean| format!("{:.2} ± {:.2}", share(times.value), share(times.error));
            let cover = match (now.cover, one.cover) {
                (Some(now), Some(one)) => format!(
                    "{:>12.1} {:>11} {:>7.0}",
                    now.switches.value,
                    shown(now.switches.over(one.switches)),
                    now.tests
                ),
                _ => format!("{:>32}", ""),
            };
            println!(
                "{jobs:>6}  {:>9.0} {:>6.2}  {cover}  {:>13.2} s {:>11}",
                now.steps,
                share(now.steps / one.steps),
                now.failure.value,
                shown(one.failure.over(now.failure)),
            );
        }
        Ok(())
    }

    fn measure(&self, jobs: usize, strategy: &str, clock: Clock) -> Result<Figures, CampaignError> {
        let mean = |runs: &[Run], figure: fn(&Run) -> f64| {
            Mean::of(&runs.iter().map(figure).collect::<Vec<f64>>())
        };
        let cover = match strategy {
            // Most of its time would go into the last switches.
            "random" => None,
            _ => {
                let runs = self.runs(jobs, strategy, Goal::Coverage, clock)?;
                Some(Cover {
                    steps: mean(&runs, |run| run.steps / run.seconds).value,
                    switches: mean(&runs, |run| run.switches / run.seconds),
                    tests: mean(&runs, |run| run.tests).value,
                })
            }
        };
        let failures = self.runs(jobs, strategy, Goal::Failure, clock)?;
        let steps = mean(&failures, |run| run.steps / run.seconds).value;
        Ok(Figures {
            steps: cover.map_or(steps, |cover| cover.steps),
            cover,
            failure: mean(&failures, |run| run.seconds),
        })
    }

    /// All runs, as many at a time as keep the number of systems at that of the most jobs.
    fn runs(
        &self,
        jobs: usize,
        strategy: &str,
        goal: Goal,
        clock: Clock,
    ) -> Result<Vec<Run>, CampaignError> {
        let most = self.jobs.iter().max().copied().unwrap_or(1);
        let together = match clock {
            Clock::Real => (most / jobs).max(1),
            Clock::Virtual => 1,
        };
        let mut runs = Vec::new();
        let seeds: Vec<u64> = match goal {
            Goal::Coverage => (0..self.runs).collect(),
            Goal::Failure => (0..self.faults).collect(),
        };
        for seeds in seeds.chunks(together) {
            let done: Vec<Result<Run, CampaignError>> = std::thread::scope(|scope| {
                let started = seeds
                    .iter()
                    .map(|seed| scope.spawn(move || self.run(jobs, strategy, *seed, goal, clock)));
                let started: Vec<_> = started.collect();
                let ended = started.into_iter().map(|thread| {
                    let panicked = |_| Err(CampaignError::system("a run panicked"));
                    thread.join().unwrap_or_else(panicked)
                });
                ended.collect()
            });
            for run in done {
                runs.push(run?);
            }
        }
        Ok(runs)
    }

    fn run(
        &self,
        jobs: usize,
        strategy: &str,
        seed: u64,
        goal: Goal,
        clock: Clock,
    ) -> Result<Run, CampaignError> {
        let io_error = |error: std::io::Error| CampaignError::system(error.to_string());
        let folder = tempfile::tempdir().map_err(io_error)?;
        let file = folder.path().join("rooms.aut");
        std::fs::write(&file, rooms(self.rooms)).map_err(io_error)?;
        let mut project = Project {
            root: folder.path().to_owned(),
            model: Some(file),
            ..Project::default()
        };
        // Every stimulus has one answer.
        project.sut.silent_once_answered = Some(true);
        let options = ModelOptions::default();
        let program = std::env::current_exe().map_err(io_error)?;
        let mut words = vec![program.display().to_string(), "--system".to_owned()];
        words.push(match clock {
            Clock::Virtual => "0".to_owned(),
            Clock::Real => ANSWER.as_millis().to_string(),
        });
        words.push(self.rooms.to_string());
        if goal == Goal::Failure {
            let (room, door) = self.broken(seed);
            words.extend([room.to_string(), door.to_string()]);
        }
        let test = TestSettings {
            strategy: Some(strategy.to_owned()),
            seed: Some(seed + 1),
            steps: Some(STEPS),
            time: Some("30m".to_owned()),
            // A busy machine must not look like a missing response.
            timeout: Some("30s".to_owned()),
            coverage: (goal == Goal::Coverage).then_some(COVERAGE),
            ..TestSettings::default()
        };
        let plan = Plan {
            model: model::load(&options, &project, &mut NoObserver)?,
            reach: ConnectionSpec::of_way(Transport::Command(words), false, &project)?,
            options,
            test,
            shrinking: None,
            known: false,
            beginning: Vec::new(),
            jobs,
            shard: None,
            scripts: Vec::new(),
            project,
        };
        let interrupt = Interrupt::default();
        let passed = Arc::new(AtomicU64::new(0));
        let hands = match clock {
            Clock::Virtual if jobs > 1 => {
                let worker = Worker::new(WorkerSetup {
                    name: "virtual".to_owned(),
                    model: plan.model.clone(),
                    project: plan.project.clone(),
                    reach: plan.reach.clone(),
                    solver: SolverChoice::Embedded,
                    interrupt: interrupt.clone(),
                });
                let workers = Simulated::new(worker, jobs, Arc::clone(&passed));
                ExecutorKind::Executor("virtual".to_owned(), Box::new(workers))
            }
            _ if jobs > 1 => ExecutorKind::Threads(jobs),
            _ => ExecutorKind::Own,
        };
        let campaign = Campaign::open_with(plan, hands, interrupt, &mut NoObserver)?;
        let mut watch = Watch {
            goal,
            begun: Instant::now(),
            passed: (clock == Clock::Virtual).then_some(passed),
            reached: None,
        };
        let outcome = campaign.run(&mut watch)?;
        let missed = || {
            let summary = &outcome.summary;
            CampaignError::usage(format!(
                "what was looked for was not found: {strategy}, {jobs} jobs, seed {seed}: {summary:?}"
            ))
        };
        watch.reached.ok_or_else(missed)
    }
}

/// The room behind a door.
fn behind(room: usize, door: usize, rooms: usize) -> usize {
    (room * DOORS + door + 1) % rooms
}

fn rooms(rooms: usize) -> String {
    let mut edges = String::new();
    let (mut between, mut count) = (rooms, 0);
    for room in 0..rooms {
        for door in 0..DOORS {
            let next = behind(room, door, rooms);
            let _ = writeln!(edges, "({room},\"?door{door}\",{between})");
            let _ = writeln!(edges, "({between},\"!done\",{next})");
            between += 1;
            count += 2;
        }
    }
    format!("des (0,{count},{between})\n{edges}")
}

fn system(answer: Duration, rooms: usize, broken: Option<(usize, usize)>) -> Result<(), String> {
    let mut room = 0;
    let mut out = std::io::stdout();
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|error| error.to_string())?;
        let message: serde_json::Value =
            serde_json::from_str(&line).map_err(|error| error.to_string())?;
        let name = message["stimulus"].as_str().unwrap_or_default();
        let door = name.strip_prefix("door").and_then(|door| door.parse().ok());
        let said = match door {
            Some(door) => {
                std::thread::sleep(answer);
                let is_stuck = broken == Some((room, door));
                room = behind(room, door, rooms);
                match is_stuck {
                    true => "{\"response\":\"stuck\"}",
                    false => "{\"response\":\"done\"}",
                }
            }
            None => {
                room = 0;
                "{\"ready\":true}"
            }
        };
        writeln!(out, "{said}").map_err(|error| error.to_string())?;
        out.flush().map_err(|error| error.to_string())?;
    }
    Ok(())
}
