//! How many stimulus-response pairs a second go through a process connection, against a system
//! that does nothing but answer: `cargo run --release -p ioco-adapters --example process_speed`.
//!
//! The example starts itself as the system, with the argument `echo`.

use std::io::{BufRead as _, Write as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ioco_adapters::{Arrival, Connection, Process, ProcessOptions, Trouble};
use ioco_sts::{Action, Direction, Label, LabelId, Sts, StsBuilder};

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("echo") => echo(),
        _ => match measure(Duration::from_secs(2)) {
            Ok(pairs_per_second) => println!("{pairs_per_second:.0} pairs a second"),
            Err(trouble) => {
                eprintln!("{}", trouble.message);
                std::process::exit(3);
            }
        },
    }
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

fn measure(time: Duration) -> Result<f64, Trouble> {
    let (sts, ping) = ping_pong();
    let program = std::env::current_exe().unwrap_or_default();
    let options = ProcessOptions::new(&program.to_string_lossy(), &["echo"]);
    let mut connection = Process::new(Arc::new(sts), options);
    connection.reset()?;
    let stimulus = Action::plain(ping);
    let start = Instant::now();
    let mut pairs = 0u32;
    while start.elapsed() < time {
        for _ in 0..1000 {
            // What a driver does: look whether something came, then give, then wait.
            connection.poll()?;
            connection.give(&stimulus)?;
            let until = connection.now() + 1_000_000_000;
            let arrived = connection.wait(until)?;
            assert!(matches!(arrived.what, Arrival::Response(_)));
            pairs += 1;
        }
    }
    Ok(f64::from(pairs) / start.elapsed().as_secs_f64())
}

fn ping_pong() -> (Sts, LabelId) {
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
    label("pong", Direction::Response);
    (builder.build(), ping)
}
