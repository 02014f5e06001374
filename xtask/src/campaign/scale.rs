//! How much campaigns carry: orders, bytes, events and memory, with more and more worker processes on this machine. The
//! systems wait most of the time, so that the cores are not the limit.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use super::Folder;
use super::check::Database;
use super::rooms;
use super::world::{Nats, Process};
use crate::postgres::Postgres;
use crate::tools::{self, need_nats};

const TIME: &str = "15s";

/// What one campaign came to.
struct Figures {
    orders: f64,
    steps: f64,
    /// Events that the coordinator took and kept: every step, and the beginning and the end of every test.
    events: f64,
    /// Bytes of an order and of its outcome.
    order: u64,
    outcome: u64,
    /// Milliseconds of processor time for each order.
    coordinator: f64,
    server: f64,
    /// Kilobytes.
    worker_memory: u64,
    coordinator_memory: u64,
    server_memory: u64,
}

pub fn run(ioco: &Path, counts: &[usize]) -> Result<(), String> {
    let Some(nats) = need_nats() else {
        return tools::without("nats-server", "nothing can be measured");
    };
    let Some(postgres) = Postgres::start()? else {
        return Err("nothing can be measured without PostgreSQL".to_owned());
    };
    let folder = Folder::new()?;
    let database = Database::new(&postgres.program("psql"), &postgres.url(), "scale")?;
    println!("campaigns of {TIME}; PostgreSQL; NATS with sync_interval: always; tests of 20 steps");
    println!(
        "{:>7} {:>6}  {:>8} {:>7} {:>5} {:>8}  {:>7} {:>8}  {:>11} {:>7}  {:>8} {:>11} {:>7}",
        "", "", "", "", "", "", "bytes", "bytes", "ms/order", "ms", "MB per", "MB", "MB"
    );
    println!(
        "{:>7} {:>6}  {:>8} {:>7} {:>5} {:>8}  {:>7} {:>8}  {:>11} {:>7}  {:>8} {:>11} {:>7}",
        "workers",
        "answer",
        "orders/s",
        "steps/s",
        "/N",
        "events/s",
        "order",
        "outcome",
        "coordinator",
        "NATS",
        "worker",
        "coordinator",
        "NATS"
    );
    let mut first: Option<f64> = None;
    let slow = counts.iter().map(|count| (*count, 20));
    // Systems that answer at once: what the coordinator takes.
    for (workers, answer) in slow.chain([(16, 0)]) {
        let place = folder.0.join(format!("scale-{workers}-{answer}"));
        let figures = measure(ioco, &nats, &database, &place, workers, answer)?;
        let one = *first.get_or_insert(figures.steps / workers as f64);
        let share = match answer {
            0 => String::new(),
            _ => format!("{:.2}", figures.steps / one / workers as f64),
        };
        let megabytes = |kilobytes: u64| kilobytes as f64 / 1024.0;
        println!(
            "{workers:>7} {:>6}  {:>8.1} {:>7.0} {share:>5} {:>8.0}  {:>7} {:>8}  {:>11.2} {:>7.2}  {:>8.1} {:>11.1} {:>7.1}",
            format!("{answer} ms"),
            figures.orders,
            figures.steps,
            figures.events,
            figures.order,
            figures.outcome,
            figures.coordinator,
            figures.server,
            megabytes(figures.worker_memory),
            megabytes(figures.coordinator_memory),
            megabytes(figures.server_memory),
        );
    }
    Ok(())
}

fn measure(
    ioco: &Path,
    nats: &Path,
    database: &Database,
    folder: &Path,
    workers: usize,
    answer: u64,
) -> Result<Figures, String> {
    let mut server = Nats::new(nats, &folder.join("nats"))?;
    server.start()?;
    rooms::project(&folder.join("project"), answer, 20)?;
    let program = |words: &[&str]| {
        let mut command = Command::new(ioco);
        command
            .current_dir(folder.join("project"))
            .env("XDG_STATE_HOME", folder.join("state"))
            .args(words)
            .args(["--nats", &server.url()])
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    };
    let hands = (0..workers)
        .map(|number| Process::spawn(&mut program(&["worker", "--name", &format!("w{number}")])))
        .collect::<Result<Vec<Process>, String>>()?;
    // They all wait for campaigns before this one begins.
    std::thread::sleep(std::time::Duration::from_secs(1 + workers as u64 / 8));
    let before = server.process().map_or(0.0, Process::processor);
    let id = format!("scale-{workers}-{answer}");
    let mut start = program(&["campaign", "start", "--campaign", &id, "--no-shrink"]);
    start.args(["--time", TIME, "--tests", "100000000", "--no-known"]);
    start.args(["--store", database.url()]);
    let begun = Instant::now();
    let mut coordinator = Process::spawn(&mut start)?;
    let (mut processor, mut memory) = (0.0, 0);
    let mut worker_memory = 0;
    while coordinator.ended().is_none() {
        processor = coordinator.processor().max(processor);
        memory = coordinator.memory().max(memory);
        let all: u64 = hands.iter().map(Process::memory).sum();
        worker_memory = (all / workers as u64).max(worker_memory);
        std::thread::sleep(std::time::Duration::from_millis(250));
    }
    let seconds = begun.elapsed().as_secs_f64();
    let (server_processor, server_memory) = match server.process() {
        Some(process) => (process.processor() - before, process.memory()),
        None => (0.0, 0),
    };
    let of = |what: &str| database.number(&what.replace("$1", &id));
    let outcomes = of("SELECT COUNT(*) FROM outcomes WHERE campaign = '$1' AND body IS NOT NULL")?;
    let steps = of(
        "SELECT COALESCE(SUM(steps), 0) FROM tests WHERE run = (SELECT run FROM campaigns WHERE id = '$1')",
    )?;
    let tests =
        of("SELECT COUNT(*) FROM tests WHERE run = (SELECT run FROM campaigns WHERE id = '$1')")?;
    let each = |total: f64| total * 1000.0 / outcomes.max(1) as f64;
    Ok(Figures {
        orders: outcomes as f64 / seconds,
        steps: steps as f64 / seconds,
        events: (steps + 2 * tests) as f64 / seconds,
        order: of(
            "SELECT COALESCE(AVG(octet_length(body)), 0)::BIGINT FROM orders WHERE campaign = '$1'",
        )?,
        // The store keeps the steps of a test beside its outcome.
        outcome: of(
            "SELECT COALESCE(AVG(octet_length(body)), 0)::BIGINT FROM outcomes
             WHERE campaign = '$1'",
        )?,
        coordinator: each(processor),
        server: each(server_processor),
        worker_memory,
        coordinator_memory: memory,
        server_memory,
    })
}
