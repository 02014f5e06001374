//! How many stimulus-response pairs a second go through a process connection, against a system
//! that does nothing but answer: `cargo run --release -p ioco-adapters --example process_speed`.
//!
//! The example starts itself as the system, with the argument `echo`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ioco_adapters::{AdapterError, Arrival, Connection, Process, ProcessOptions, drive};
use ioco_engine::{EventLevel, Settings, StopConditions, Tester};
use ioco_sts::{
    Action, Direction, EvaluationOnly, Expr, Gate, Label, LabelId, Place, Relation, Semantics, Sts,
    StsBuilder, Verdict,
};

const TIME: Duration = Duration::from_secs(1);

fn main() {
    if std::env::args().nth(1).as_deref() == Some("echo") {
        return echo();
    }
    if let Err(error) = measure() {
        eprintln!("{}", error.message);
        std::process::exit(3);
    }
}

fn measure() -> Result<(), AdapterError> {
    let bare = bare_pipe();
    let show = |name: &str, speed: f64| {
        let ratio = speed / bare;
        println!("  {name:<26} {speed:>9.0} pairs/s ({ratio:.2} of a bare pipe)");
    };
    show("bare pipe", bare);
    show("connection", connection_alone()?);
    show("connection and tester", with_tester()?);
    Ok(())
}

fn program() -> String {
    let program = std::env::current_exe().unwrap_or_default();
    program.to_string_lossy().into_owned()
}

/// What the machine can do: a line there, a line back, no JSON and no clock.
fn bare_pipe() -> f64 {
    let mut child = Command::new(program())
        .arg("echo")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("this program can be started");
    let mut output = child.stdin.take().expect("asked for a pipe");
    let mut input = BufReader::new(child.stdout.take().expect("asked for a pipe"));
    let mut line = String::new();
    let speed = per_second(|| {
        line.clear();
        let pair = output
            .write_all(b"{\"stimulus\":\"ping\",\"values\":{}}\n")
            .and_then(|()| input.read_line(&mut line));
        pair.map(|_| ())
    });
    drop(output);
    // It ends with its input.
    let _ = child.wait();
    speed.expect("the pipe holds")
}

/// Calls `pair` for a while, and says how often a second it could.
fn per_second<E>(mut pair: impl FnMut() -> Result<(), E>) -> Result<f64, E> {
    let start = Instant::now();
    let mut pairs = 0u32;
    while start.elapsed() < TIME {
        for _ in 0..100 {
            pair()?;
        }
        pairs += 100;
    }
    Ok(f64::from(pairs) / start.elapsed().as_secs_f64())
}

fn connection_alone() -> Result<f64, AdapterError> {
    let (sts, ping) = ping_pong();
    let mut connection = Process::new(sts, ProcessOptions::new(&program(), &["echo"]));
    connection.reset()?;
    let stimulus = Action::plain(ping);
    per_second(|| {
        // What a driver does: look whether something came, then give, then wait.
        connection.poll()?;
        connection.give(&stimulus)?;
        let until = connection.now() + 1_000_000_000;
        let arrived = connection.wait(until)?;
        assert!(matches!(arrived.what, Arrival::Response(_)));
        Ok(())
    })
}

fn with_tester() -> Result<f64, AdapterError> {
    let (sts, _) = ping_pong();
    let options = ProcessOptions::new(&program(), &["echo"]);
    let mut connection = Process::new(Arc::clone(&sts), options);
    let settings = Settings {
        events: EventLevel::None,
        stop: StopConditions {
            tests: None,
            steps_per_test: 10_000,
            time: Some(TIME.as_nanos() as u64),
            ..StopConditions::default()
        },
        // Silence costs a time-out, and is not what is measured.
        wait: ioco_engine::WaitPolicy::Sensible {
            observe: 1.0,
            idle: 0.0,
        },
        ..Settings::default()
    };
    let semantics = Semantics::new(sts, Box::new(EvaluationOnly), Relation::Ioco);
    let mut tester = Tester::new(semantics, settings);
    let start = Instant::now();
    while let Some(first) = tester.next_test(connection.now()) {
        if let Some(error) = drive(&mut tester, first, &mut connection, &|| false, &mut |_| {}) {
            return Err(error);
        }
        assert_eq!(tester.finished_test().execution.verdict, Verdict::Pass);
    }
    Ok(tester.summary().responses as f64 / start.elapsed().as_secs_f64())
}

/// The system: reads a line, answers a line.
fn echo() {
    let mut input = std::io::stdin().lock();
    let mut output = std::io::stdout().lock();
    let mut line = String::new();
    while input.read_line(&mut line).is_ok_and(|count| count > 0) {
        let answer: &[u8] = if line.starts_with("{\"reset\"") {
            b"{\"ready\":true}\n"
        } else {
            b"{\"response\":\"pong\",\"values\":{}}\n"
        };
        if output
            .write_all(answer)
            .and_then(|()| output.flush())
            .is_err()
        {
            return;
        }
        line.clear();
    }
}

fn ping_pong() -> (Arc<Sts>, LabelId) {
    let mut builder = StsBuilder::new("ping");
    let mut label = |name: &str, direction| {
        builder.label(Label {
            name: name.to_owned(),
            channel: "wire".to_owned(),
            direction,
            parameters: Vec::new(),
        })
    };
    let ping = label("ping", Direction::Stimulus);
    let pong = label("pong", Direction::Response);
    let main = builder.process("main");
    let [idle, busy] = ["Idle", "Busy"].map(|name| builder.named_location(main, name));
    let mut switch = |source, label, target| {
        let gate = Gate::Observable(label);
        builder.switch(source, gate, Expr::TRUE, vec![], target, Place::default());
    };
    switch(idle, ping, busy);
    switch(busy, pong, idle);
    (Arc::new(builder.build()), ping)
}
