//! `cargo xtask bench scale`: time and peak memory over the size of the model, with the fitted exponent.
//!
//! The models are random and plain: two stimuli in every resting location, one response behind each. The system under
//! test is this program (`xtask play MODEL`), which follows the model; with `--fault N` it answers wrongly once it has
//! come to the location N. Networks are independent processes of four locations each.

use std::fmt::Write as _;
use std::io::{BufRead as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use crate::tools::{self, cargo, target_directory};

/// Locations of the models; there are one and a half times as many switches.
const SIZES: [usize; 3] = [2_000, 20_000, 200_000];
/// Independent processes of one model.
const PROCESSES: [usize; 3] = [16, 32, 64];
/// Commands are ended after this time.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(120);
/// How often the memory of a command is looked at.
const LOOK: Duration = Duration::from_millis(5);

/// What was measured of one command.
struct Cost {
    time: Duration,
    /// The most resident memory seen, in bytes.
    memory: u64,
    finished: bool,
}

pub fn run() -> Result<(), String> {
    tools::run(
        "build ioco",
        cargo().args(["build", "--quiet", "--release", "--package", "ioco-cli"]),
    )?;
    let ioco = target_directory().join("release").join("ioco");
    let player = tools::own_program()?;
    let folder = target_directory().join("scale");
    let wrong = |error: std::io::Error| error.to_string();
    std::fs::create_dir_all(&folder).map_err(wrong)?;
    let mut models = Vec::new();
    for size in SIZES {
        let path = folder.join(format!("random-{size}.aut"));
        std::fs::write(&path, random_model(size, 1)).map_err(wrong)?;
        models.push((size, path));
    }
    let large = &models;
    let command = |parts: &[&str], model: &Path, work: &Path| {
        let mut command = Command::new(&ioco);
        command.args(parts).arg(model).current_dir(work);
        command
    };
    let row = |name: &str, models: &[(usize, PathBuf)], make: &dyn Fn(&Path, &Path) -> Command| {
        let mut costs = Vec::new();
        for (size, model) in models {
            let work = fresh(&folder.join("work"))?;
            costs.push((*size, measure(&mut make(model, &work))?));
        }
        print_row(name, &costs);
        Ok::<(), String>(())
    };
    println!(
        "  locations{:>29}{:>19}{:>19}",
        SIZES[0], SIZES[1], SIZES[2]
    );
    row("check", large, &|model, work| {
        command(&["check"], model, work)
    })?;
    row("reduce", large, &|model, work| {
        let mut reduce = command(&["check"], model, work);
        reduce.arg("--reduce");
        reduce
    })?;
    row("compare", large, &|model, work| {
        let mut compare = command(&["compare"], model, work);
        compare.arg(model);
        compare
    })?;
    row("cover switches", large, &|model, work| {
        let mut cover = command(&["generate"], model, work);
        cover.args(["--cover", "switches", "-o", "suite.jsonl"]);
        cover
    })?;
    for strategy in ["random", "transitions", "auto"] {
        row(&format!("test {strategy}"), large, &|model, work| {
            let mut test = command(&["test"], model, work);
            test.args(test_arguments(&player, model, None));
            test.args(["--strategy", strategy]);
            test
        })?;
    }
    row("coverage view", large, &|model, work| {
        // What is viewed comes from a run that is not measured.
        let mut test = command(&["test"], model, work);
        test.args(test_arguments(&player, model, None));
        let _ = test.stdout(Stdio::null()).stderr(Stdio::null()).status();
        command(&["coverage"], model, work)
    })?;
    row("test and shrink", large, &|model, work| {
        let mut test = command(&["test"], model, work);
        test.args(test_arguments(&player, model, Some(3)));
        test
    })?;
    row("hsi", large, &|model, work| {
        let mut hsi = command(&["generate"], model, work);
        hsi.args(["--cover", "hsi", "--count"]);
        hsi
    })?;
    let mut networks = Vec::new();
    for count in PROCESSES {
        let path = folder.join(format!("processes-{count}.aml"));
        std::fs::write(&path, independent_processes(count)).map_err(wrong)?;
        networks.push((count, path));
    }
    println!(
        "  processes{:>29}{:>19}{:>19}",
        PROCESSES[0], PROCESSES[1], PROCESSES[2]
    );
    row("cover switches", &networks, &|model, work| {
        let mut cover = command(&["generate"], model, work);
        cover.args(["--cover", "switches", "-o", "suite.jsonl"]);
        cover
    })?;
    println!(
        "Exponents of time and memory, fitted over the sizes; memory includes the program itself.\n\
         Asked: at most 1.2; 300,000 switches covered in 10 s and 1 GB; `transitions` and `auto` within 3 times `random`;\n\
         64 processes in a second."
    );
    Ok(())
}

fn test_arguments(player: &Path, model: &Path, fault: Option<usize>) -> Vec<String> {
    let mut sut = format!("exec '{}' play '{}'", player.display(), model.display());
    if let Some(location) = fault {
        let _ = write!(sut, " --fault {location}");
    }
    let mut all: Vec<String> = ["--tests", "20", "--steps", "1000", "--seed", "1", "--sut"]
        .map(str::to_owned)
        .to_vec();
    all.push(sut);
    all
}

/// An empty folder.
fn fresh(folder: &Path) -> Result<PathBuf, String> {
    let _ = std::fs::remove_dir_all(folder);
    std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    Ok(folder.to_owned())
}

fn print_row(name: &str, costs: &[(usize, Cost)]) {
    let mut line = format!("  {name:<20}");
    for (_, cost) in costs {
        let time = cost.time.as_secs_f64();
        let shown = match cost.finished {
            true => format!("{time:.2} s {:>5.0} MB", cost.memory as f64 / 1e6),
            false => format!("not in {time:.0} s"),
        };
        let _ = write!(line, "{shown:>19}");
    }
    let fitted = |of: fn(&Cost) -> f64| {
        let finished = costs.iter().filter(|(_, cost)| cost.finished);
        let points: Vec<(f64, f64)> = finished
            .map(|(size, cost)| ((*size as f64).ln(), of(cost).max(1e-4).ln()))
            .collect();
        exponent(&points)
    };
    let time = fitted(|cost| cost.time.as_secs_f64());
    let memory = fitted(|cost| cost.memory as f64);
    match (time, memory) {
        (Some(time), Some(memory)) => {
            println!("{line}   exponents {time:.2}, {memory:.2}");
        }
        _ => println!("{line}"),
    }
}

/// The slope of the line through the points, by least squares.
fn exponent(points: &[(f64, f64)]) -> Option<f64> {
    if points.len() < 2 {
        return None;
    }
    let count = points.len() as f64;
    let mean = |part: fn(&(f64, f64)) -> f64| points.iter().map(part).sum::<f64>() / count;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let above: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    let below: f64 = points.iter().map(|p| (p.0 - x) * (p.0 - x)).sum();
    Some(above / below)
}

/// Runs a command to its end, or until it has taken too long.
fn measure(command: &mut Command) -> Result<Cost, String> {
    let start = Instant::now();
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = child
        .spawn()
        .map_err(|error| format!("{command:?}: {error}"))?;
    let mut memory = 0;
    loop {
        memory = memory.max(resident_peak(&child));
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            let time = start.elapsed();
            // Deviations are found where faults are planted.
            return match status.code() {
                Some(0 | 1) => Ok(Cost {
                    time,
                    memory,
                    finished: true,
                }),
                _ => Err(format!("{command:?} ended with {status}")),
            };
        }
        if start.elapsed() > COMMAND_TIMEOUT {
            let _ = child.kill();
            let _ = child.wait();
            return Ok(Cost {
                time: COMMAND_TIMEOUT,
                memory,
                finished: false,
            });
        }
        std::thread::sleep(LOOK);
    }
}

/// The most resident memory of a process so far; 0 where the system does not say.
fn resident_peak(child: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()));
    let status = status.unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    number.unwrap_or(0) * 1024
}

/// A random plain model in the Aldebaran format: half of its locations rest and accept two stimuli, the others respond.
fn random_model(locations: usize, seed: u64) -> String {
    let resting = locations / 2;
    // The same models on every machine.
    let mut numbers = SplitMix64::seed_from_u64(seed);
    let mut below = |end: usize| (numbers.next_u64() % end as u64) as usize;
    let mut text = format!("des (0,{},{})\n", 3 * resting, 2 * resting);
    for source in 0..resting {
        for stimulus in ["a", "b"] {
            let target = resting + below(resting);
            let _ = writeln!(text, "({source},\"?{stimulus}\",{target})");
        }
    }
    for source in resting..2 * resting {
        let response = ["x", "y", "z"][below(3)];
        let _ = writeln!(text, "({source},\"!{response}\",{})", below(resting));
    }
    text
}

/// So many processes that know nothing of each other: a ring of four locations, with a response in its middle.
fn independent_processes(count: usize) -> String {
    let mut text = String::from("external 'x'\n");
    for number in 0..count {
        let _ = write!(
            text,
            "process('p{number}') {{\n  channel('x') {{ stimuli 'a{number}', 'b{number}', 'c{number}'; \
             response 'r{number}' }}\n  repeat {{ o {{ receive 'a{number}'; send 'r{number}'; receive 'b{number}'; \
             receive 'c{number}' }} }}\n}}\n"
        );
    }
    text
}

/// `xtask play MODEL [--fault N]`: follows a model of [`random_model`] over the line protocol.
pub fn play(arguments: &[String]) -> ExitCode {
    match follow(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask play: {message}");
            ExitCode::FAILURE
        }
    }
}

fn follow(arguments: &[String]) -> Result<(), String> {
    let (path, fault) = match arguments {
        [path] => (path, None),
        [path, flag, number] if flag == "--fault" => (path, number.parse::<usize>().ok()),
        _ => return Err("give a model, and --fault N where it is to answer wrongly".to_owned()),
    };
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    // Per location: where the two stimuli lead, or the response and where it leads.
    let mut stimuli: Vec<[usize; 2]> = Vec::new();
    let mut responses: Vec<(char, usize)> = Vec::new();
    for line in text.lines().skip(1) {
        let mut parts = line.trim_matches(['(', ')']).split(',');
        let (Some(source), Some(label), Some(target)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err(format!("not a transition: {line}"));
        };
        let number = |text: &str| text.parse::<usize>().map_err(|error| error.to_string());
        let (source, target) = (number(source)?, number(target)?);
        let size = source + 1;
        match label.trim_matches('"').as_bytes() {
            [b'?', name] => {
                stimuli.resize(stimuli.len().max(size), [0; 2]);
                stimuli[source][usize::from(*name == b'b')] = target;
            }
            [b'!', name] => {
                responses.resize(responses.len().max(size), ('x', 0));
                responses[source] = (char::from(*name), target);
            }
            _ => return Err(format!("not a label of these models: {line}")),
        }
    }
    let mut out = std::io::stdout().lock();
    let mut at = 0;
    let mut broken = false;
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|error| error.to_string())?;
        let answer = if line.contains("\"reset\"") {
            (at, broken) = (0, false);
            "{\"ready\":true}".to_owned()
        } else if line.contains("\"stimulus\"") {
            let middle = stimuli[at][usize::from(line.contains(":\"b\""))];
            let (response, target) = responses[middle];
            at = target;
            broken |= fault == Some(at);
            let response = if broken { 'w' } else { response };
            format!("{{\"response\":\"{response}\"}}\n{{\"quiescent\":true}}")
        } else {
            continue;
        };
        writeln!(out, "{answer}")
            .and_then(|()| out.flush())
            .map_err(|error| error.to_string())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponent_is_the_slope_of_the_logarithms() {
        let quadratic = [10.0_f64, 100.0, 1000.0].map(|size| (size.ln(), (3.0 * size * size).ln()));
        let found = exponent(&quadratic).expect("three points");
        assert!((found - 2.0).abs() < 1e-9, "{found}");
        assert_eq!(exponent(&quadratic[..1]), None);
    }

    #[test]
    fn random_models_have_two_stimuli_per_resting_location() {
        let text = random_model(10, 3);
        assert_eq!(text.lines().next(), Some("des (0,15,10)"));
        assert_eq!(text.matches("\"?").count(), 10);
        assert_eq!(text.matches("\"!").count(), 5);
    }
}
