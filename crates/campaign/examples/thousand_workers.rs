//! What a coordinator takes: the real coordinator with its store, and simulated workers in virtual time. How long a
//! worker takes is computed; how long the coordinator takes is measured, and passes on the same clock. So a thousand
//! workers fit on one machine, and what they wait for shows. `cargo xtask bench workers` prints the table;
//! `--workers 1000` the lines with so many workers alone. At the end stands what a worker needs.
//!
//! The system is this program itself: rooms with four doors each.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fmt::Write as _;
use std::io::{BufRead, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use ioco_campaign::work::{
    Executor, Order, Outcome, Recipe, Task, WORK_VERSION, Worker, WorkerSetup,
};
use ioco_campaign::{
    Campaign, CampaignError, ConnectionSpec, ExecutorKind, Interrupt, ModelOptions, NoObserver,
    Plan, Project, SolverChoice, TestSettings, Transport, model,
};
use ioco_engine::{Bits, Coverage};

const ROOMS: usize = 150;
const DOORS: usize = 4;
/// What the system takes to answer, and a message on its way from one machine to another.
const ANSWER: u64 = 20_000_000;
const LATENCY: u64 = 1_000_000;
/// Outcomes that a real worker makes.
const MADE: usize = 100;

fn main() -> Result<(), String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let only: Option<usize> = match words.iter().map(String::as_str).collect::<Vec<&str>>()[..] {
        [] => None,
        ["--system"] => return system(),
        ["--workers", count] => Some(count.parse().map_err(|_| format!("'{count}' workers"))?),
        _ => return Err(format!("no such setting: {}", words.join(" "))),
    };
    println!("a system that answers in 20 ms, messages that take 1 ms, a store in one file\n");
    println!(
        "{:>7} {:>5} {:>7}  {:>8} {:>8} {:>6}  {:>13} {:>8} {:>11} {:>9}  {:>8}  {:>8} {:>8}",
        "", "", "", "", "", "", "", "", "", "", "events/s", "MB/M", "MB/M"
    );
    println!(
        "{:>7} {:>5} {:>7}  {:>8} {:>8} {:>6}  {:>13} {:>8} {:>11} {:>9}  {:>8}  {:>8} {:>8}",
        "workers",
        "steps",
        "orders",
        "orders/s",
        "steps/s",
        "/N",
        "million a day",
        "ms/order",
        "coordinator",
        "waits, ms",
        "at most",
        "memory",
        "store"
    );
    let rows = ROWS
        .iter()
        .filter(|row| only.is_none_or(|wanted| row.0 == wanted));
    for &(workers, steps, orders) in rows {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let line = simulate(folder.path(), workers, steps, orders);
        println!("{}", line.map_err(|error| error.message)?);
    }
    let line = worker_memory().map_err(|error| error.message)?;
    println!("\n{line}");
    Ok(())
}

/// Workers, steps of a test, orders.
const ROWS: &[(usize, u64, u64)] = &[
    (1, 20, 200),
    (10, 20, 1000),
    (100, 20, 4000),
    (1000, 20, 12_000),
    (1000, 100, 6000),
    (4000, 100, 12_000),
    (1000, 500, 3000),
];

/// Bytes that this process holds; 0 where the system does not say.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

/// Megabytes for each million of steps.
fn for_each_million(bytes: u64, steps: u64) -> f64 {
    bytes as f64 / steps as f64
}

/// What a worker holds, and how that grows: one that takes many steps on a system that answers at once.
fn worker_memory() -> Result<String, CampaignError> {
    const ORDERS: u64 = 2000;
    const STEPS: u64 = 200;
    let folder = tempfile::tempdir().map_err(|error| CampaignError::system(error.to_string()))?;
    let plan = plan(folder.path(), STEPS, ORDERS)?;
    let recipe = Recipe {
        seed: 1,
        strategy: "transitions".to_owned(),
        weights: BTreeMap::new(),
        query: None,
        uioco: false,
        solver: None,
        timeout: None,
        silence: None,
    };
    let mut worker = worker(&plan, Interrupt::default());
    let (mut steps, mut begun) = (0, 0);
    for number in 1..=ORDERS {
        let outcome = worker.run(&Order {
            version: WORK_VERSION,
            campaign: String::new(),
            number,
            model: plan.model.hash.clone(),
            system: plan.reach.name.clone(),
            recipe: recipe.clone(),
            time: None,
            task: Task::Strategy {
                test: number,
                steps: STEPS,
                beginning: Vec::new(),
                known: Coverage::new(&plan.model.sts).map(0),
                aim: Bits::default(),
                reserved: Bits::default(),
                lessons: Vec::new(),
            },
        })?;
        // After a tenth, what it keeps of the model is there.
        if number == ORDERS / 10 {
            begun = memory();
        } else if number > ORDERS / 10 {
            steps += outcome.steps.len() as u64;
        }
    }
    let ended = memory();
    Ok(format!(
        "one worker, {steps} steps: from {:.1} MB to {:.1} MB, {:.2} MB for each million of steps",
        begun as f64 / 1e6,
        ended as f64 / 1e6,
        for_each_million(ended.saturating_sub(begun), steps)
    ))
}

/// A campaign of so many orders.
fn plan(folder: &Path, steps: u64, orders: u64) -> Result<Plan, CampaignError> {
    let system = |error: std::io::Error| CampaignError::system(error.to_string());
    std::fs::write(folder.join("rooms.aut"), rooms()).map_err(system)?;
    let mut project = Project {
        root: folder.to_owned(),
        model: Some(folder.join("rooms.aut")),
        ..Project::default()
    };
    // Every stimulus has one answer.
    project.sut.silent_once_answered = Some(true);
    let options = ModelOptions::default();
    let program = std::env::current_exe().map_err(system)?;
    let words = vec![program.display().to_string(), "--system".to_owned()];
    Ok(Plan {
        model: model::load(&options, &project, &mut NoObserver)?,
        reach: ConnectionSpec::of_way(Transport::Command(words), false, &project)?,
        options,
        test: TestSettings {
            strategy: Some("random".to_owned()),
            seed: Some(1),
            steps: Some(steps),
            tests: Some(orders),
            ..TestSettings::default()
        },
        shrinking: None,
        known: false,
        beginning: Vec::new(),
        jobs: 1,
        shard: None,
        scripts: Vec::new(),
        project,
    })
}

fn worker(plan: &Plan, interrupt: Interrupt) -> Worker {
    Worker::new(WorkerSetup {
        name: "simulated".to_owned(),
        model: plan.model.clone(),
        project: plan.project.clone(),
        reach: plan.reach.clone(),
        solver: SolverChoice::Embedded,
        interrupt,
    })
}

/// A campaign in virtual time, and what it came to.
fn simulate(
    folder: &Path,
    workers: usize,
    steps: u64,
    orders: u64,
) -> Result<String, CampaignError> {
    let plan = plan(folder, steps, orders)?;
    let interrupt = Interrupt::default();
    let worker = worker(&plan, interrupt.clone());
    let (sender, receiver) = std::sync::mpsc::channel();
    let executor = Simulated::new(worker, workers, sender);
    let hands = ExecutorKind::Executor("simulated".to_owned(), Box::new(executor));
    let campaign = Campaign::open_with(plan, hands, interrupt, &mut NoObserver)?;
    let outcome = campaign.run(&mut NoObserver)?;
    let sums: Sums = receiver
        .recv()
        .map_err(|error| CampaignError::system(error.to_string()))?;
    let seconds = sums.end as f64 / 1e9;
    let steps_a_second = outcome.summary.steps() as f64 / seconds;
    // Its steps, and the beginning and the end of every test.
    let events = outcome.summary.steps() + 2 * outcome.summary.tests;
    let kept: u64 = std::fs::read_dir(folder.join(".ioco"))
        .map_err(|error| CampaignError::system(error.to_string()))?
        .filter_map(|entry| entry.ok()?.metadata().ok())
        .map(|file| file.len())
        .sum();
    let share = sums.busy as f64 / sums.end as f64 / workers as f64;
    Ok(format!(
        "{workers:>7} {steps:>5} {orders:>7}  {:>8.1} {steps_a_second:>8.0} {share:>6.2}  {:>13.1} {:>8.2} {:>10.0}% {:>9.1}  {:>8.0}  {:>8.1} {:>8.1}",
        orders as f64 / seconds,
        steps_a_second * 86_400.0 / 1e6,
        sums.coordinating as f64 / 1e6 / orders as f64,
        100.0 * sums.coordinating as f64 / sums.end as f64,
        sums.waited as f64 / 1e6 / orders as f64,
        events as f64 / (sums.coordinating as f64 / 1e9),
        for_each_million(
            sums.memory.1.saturating_sub(sums.memory.0),
            outcome.summary.steps()
        ),
        for_each_million(kept, outcome.summary.steps()),
    ))
}

/// What happened in virtual time, in nanoseconds.
#[derive(Clone, Copy, Default)]
struct Sums {
    end: u64,
    /// What workers did, together.
    busy: u64,
    /// What the coordinator took, measured.
    coordinating: u64,
    /// How long outcomes waited for the coordinator.
    waited: u64,
    /// Bytes that this process held when every worker had brought an outcome, and at the end.
    memory: (u64, u64),
    outcomes: usize,
}

/// Workers in virtual time. One real worker makes the first outcomes, outside of that time; they come again and again.
struct Simulated {
    worker: Worker,
    made: Vec<Outcome>,
    count: usize,
    /// What the clock shows.
    now: u64,
    /// Since when the coordinator has been at it.
    since: Instant,
    /// When each worker is free.
    free: BinaryHeap<Reverse<u64>>,
    /// Outcomes, as messages, by the time at which they reach the coordinator.
    coming: BinaryHeap<Reverse<(u64, Vec<u8>)>>,
    sums: Sums,
    done: std::sync::mpsc::Sender<Sums>,
}

impl Simulated {
    fn new(worker: Worker, count: usize, done: std::sync::mpsc::Sender<Sums>) -> Simulated {
        Simulated {
            worker,
            made: Vec::new(),
            count,
            now: 0,
            since: Instant::now(),
            free: std::iter::repeat_n(Reverse(0), count).collect(),
            coming: BinaryHeap::new(),
            sums: Sums::default(),
            done,
        }
    }

    fn outcome(&mut self, order: &Order) -> Result<Outcome, CampaignError> {
        if self.made.len() < MADE {
            self.made.push(self.worker.run(order)?);
        }
        let position = usize::try_from(order.number).unwrap_or(0) % self.made.len();
        Ok(Outcome {
            order: order.number,
            ..self.made[position].clone()
        })
    }

    /// The coordinator's time passes for everybody.
    fn pass(&mut self) {
        let took = u64::try_from(self.since.elapsed().as_nanos()).unwrap_or(0);
        self.now += took;
        self.sums.coordinating += took;
        self.since = Instant::now();
    }
}

impl Executor for Simulated {
    fn capacity(&self) -> usize {
        self.count
    }

    fn lead(&mut self, _coordinator: u64) -> Result<(), CampaignError> {
        self.since = Instant::now();
        Ok(())
    }

    fn submit(&mut self, order: Order) -> Result<(), CampaignError> {
        let message = json(&order)?;
        self.pass();
        let order: Order = read(&message)?;
        let outcome = self.outcome(&order)?;
        let stimuli = outcome.steps.len().div_ceil(2) as u64;
        let begins = self.free.pop().map_or(0, |Reverse(at)| at);
        let begins = begins.max(self.now + LATENCY);
        let ends = begins + stimuli * ANSWER;
        self.sums.busy += ends - begins;
        self.free.push(Reverse(ends));
        self.coming.push(Reverse((ends + LATENCY, json(&outcome)?)));
        self.since = Instant::now();
        Ok(())
    }

    fn next(&mut self, wait: Duration) -> Result<Option<Outcome>, CampaignError> {
        self.pass();
        let until = self.now + u64::try_from(wait.as_nanos()).unwrap_or(0);
        match self.coming.peek() {
            Some(Reverse((at, _))) if *at <= until => {}
            _ => {
                self.now = until;
                return Ok(None);
            }
        }
        let Some(Reverse((at, message))) = self.coming.pop() else {
            return Ok(None);
        };
        self.sums.waited += self.now.saturating_sub(at);
        self.now = self.now.max(at);
        self.sums.end = self.now;
        self.sums.outcomes += 1;
        // From then on, as many outcomes are under way as later: what grows is the coordinator's.
        if self.sums.outcomes == self.count {
            self.sums.memory.0 = memory();
        }
        self.since = Instant::now();
        read(&message).map(Some)
    }

    fn close(&mut self) {
        self.sums.memory.1 = memory();
        // Nobody listens where the campaign has failed.
        let _ = self.done.send(self.sums);
    }
}

fn json(value: &impl serde::Serialize) -> Result<Vec<u8>, CampaignError> {
    serde_json::to_vec(value).map_err(|error| CampaignError::system(error.to_string()))
}

fn read<T: serde::de::DeserializeOwned>(message: &[u8]) -> Result<T, CampaignError> {
    serde_json::from_slice(message).map_err(|error| CampaignError::system(error.to_string()))
}

/// From room `r`, door `d` leads to room `(4r + d + 1) mod ROOMS`.
fn rooms() -> String {
    let mut edges = String::new();
    let (mut between, mut count) = (ROOMS, 0);
    for room in 0..ROOMS {
        for door in 0..DOORS {
            let next = (room * DOORS + door + 1) % ROOMS;
            let _ = writeln!(edges, "({room},\"?door{door}\",{between})");
            let _ = writeln!(edges, "({between},\"!done\",{next})");
            between += 1;
            count += 2;
        }
    }
    format!("des (0,{count},{between})\n{edges}")
}

/// Answers at once: the time of an answer is virtual.
fn system() -> Result<(), String> {
    let mut out = std::io::stdout();
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|error| error.to_string())?;
        let answer = match line.contains("\"stimulus\"") {
            true => "{\"response\":\"done\"}",
            false => "{\"ready\":true}",
        };
        writeln!(out, "{answer}").map_err(|error| error.to_string())?;
        out.flush().map_err(|error| error.to_string())?;
    }
    Ok(())
}
