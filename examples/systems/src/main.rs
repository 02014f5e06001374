//! `ioco-example`: plays a system under test on standard input and output.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;
use std::time::Duration;

use ioco_examples::misbehaving::{Ending, Misbehaviour, Schedule};
use ioco_examples::{flat, line, misbehaving, mutants, names, system, websocket};

const USAGE: &str = "\
Plays a system under test: one JSON object a line on standard input and output.

Usage: ioco-example NAME [OPTIONS]
       ioco-example --list

Options:
  --mutant M        with this planted bug; --list shows them
  --flat            labels without data, as published traces write them (smartdoor, koopman, atm)
  --websocket ADDR  smartdoor: listen here and speak its plain words instead: LOCK:1234, LOCKED
  --no-quiescent    never announce silence
  --after N         crash, hang, flood, rubbish, late: behave for N stimuli first [3]
  --delay-ms N      late: how late an answer comes [1000]
  --list            the systems and their mutants
  -h, --help        this text
";

const BAD_USAGE: u8 = 2;
const CRASHED: u8 = 70;

#[derive(Default)]
struct Arguments {
    name: Option<String>,
    mutant: Option<String>,
    flat: bool,
    no_quiescent: bool,
    websocket: Option<String>,
    after: Option<u64>,
    delay_ms: Option<u64>,
    list: bool,
    help: bool,
}

fn parse(arguments: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let mut parsed = Arguments::default();
    let mut arguments = arguments;
    while let Some(argument) = arguments.next() {
        let mut value = || {
            arguments
                .next()
                .ok_or_else(|| format!("{argument} needs a value"))
        };
        match argument.as_str() {
            "--mutant" => parsed.mutant = Some(value()?),
            "--websocket" => parsed.websocket = Some(value()?),
            "--after" => parsed.after = Some(number(&argument, &value()?)?),
            "--delay-ms" => parsed.delay_ms = Some(number(&argument, &value()?)?),
            "--flat" => parsed.flat = true,
            "--no-quiescent" => parsed.no_quiescent = true,
            "--list" => parsed.list = true,
            "-h" | "--help" => parsed.help = true,
            other if other.starts_with('-') => return Err(format!("unknown option {other}")),
            other if parsed.name.is_none() => parsed.name = Some(other.to_owned()),
            other => return Err(format!("unexpected argument {other}")),
        }
    }
    Ok(parsed)
}

fn number(option: &str, text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| format!("{option} needs a number, not \"{text}\""))
}

fn list() -> String {
    let mut text = String::new();
    for name in names() {
        text.push_str(name);
        text.push('\n');
        for (mutant, bug_type, description) in mutants(name) {
            text.push_str(&format!("  {mutant}  {bug_type:<5}  {description}\n"));
        }
    }
    for misbehaviour in Misbehaviour::ALL {
        text.push_str(&format!(
            "{:<7}  {}\n",
            misbehaviour.name(),
            misbehaviour.description()
        ));
    }
    text
}

fn bad_usage(message: &str) -> ExitCode {
    eprintln!("ioco-example: {message}\nTry ioco-example --help.");
    ExitCode::from(BAD_USAGE)
}

fn main() -> ExitCode {
    let arguments = match parse(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(message) => return bad_usage(&message),
    };
    let shown = if arguments.help {
        Some(USAGE.to_owned())
    } else {
        arguments.list.then(list)
    };
    if let Some(text) = shown {
        return ending(io::stdout().write_all(text.as_bytes()));
    }
    let Some(name) = &arguments.name else {
        return bad_usage("which system? Name one of --list");
    };
    match Misbehaviour::from_name(name) {
        Some(misbehaviour) => misbehave(misbehaviour, &arguments),
        None => behave(name, &arguments),
    }
}

fn behave(name: &str, arguments: &Arguments) -> ExitCode {
    if arguments.after.is_some() || arguments.delay_ms.is_some() {
        return bad_usage("--after and --delay-ms are for systems that misbehave");
    }
    let mutant = arguments.mutant.as_deref();
    let built = if arguments.flat {
        flat::system(name, mutant)
    } else {
        system(name, mutant)
    };
    let mut system = match built {
        Ok(system) => system,
        Err(message) => return bad_usage(&message),
    };
    if let Some(address) = &arguments.websocket {
        return ending(websocket::serve(system.as_mut(), address));
    }
    let output = BufWriter::new(io::stdout().lock());
    ending(line::serve(
        system.as_mut(),
        io::stdin().lock(),
        output,
        !arguments.no_quiescent,
    ))
}

fn misbehave(misbehaviour: Misbehaviour, arguments: &Arguments) -> ExitCode {
    if arguments.mutant.is_some() || arguments.flat || arguments.no_quiescent {
        return bad_usage("a system that misbehaves takes --after and --delay-ms only");
    }
    let schedule = Schedule {
        after: arguments.after.unwrap_or(3),
        delay: Duration::from_millis(arguments.delay_ms.unwrap_or(1000)),
    };
    let output = BufWriter::new(io::stdout().lock());
    match misbehaving::serve(misbehaviour, schedule, io::stdin().lock(), output) {
        Ok(Ending::Crashed) => ExitCode::from(CRASHED),
        other => ending(other.map(|_| ())),
    }
}

/// A tester that has closed its end is the usual way to stop.
fn ending(result: io::Result<()>) -> ExitCode {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            eprintln!("ioco-example: {error}");
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    }
}
