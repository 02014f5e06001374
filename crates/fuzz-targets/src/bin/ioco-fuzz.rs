//! `ioco-fuzz SECONDS FOLDER [TARGET]`: runs the targets with new seeds, and keeps inputs that fail in the folder.

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};

use ioco_fuzz_targets::{TARGETS, fuzz, target};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (Some(seconds), Some(folder)) = (
        arguments.first().and_then(|text| text.parse::<f64>().ok()),
        arguments.get(1),
    ) else {
        eprintln!("usage: ioco-fuzz SECONDS FOLDER [TARGET]");
        return ExitCode::from(2);
    };
    let chosen: Vec<_> = match arguments.get(2) {
        None => TARGETS.iter().collect(),
        Some(name) => match target(name) {
            Some(target) => vec![target],
            None => {
                let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
                eprintln!("there is no target '{name}', only {}", names.join(", "));
                return ExitCode::from(2);
            }
        },
    };
    let seed = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(1, |now| now.as_nanos() as u64);
    let each = Duration::from_secs_f64(seconds / chosen.len() as f64);
    let mut found = 0;
    for target in chosen {
        let start = Instant::now();
        // An input that ends the program is left in this file.
        let running = Path::new(folder).join(format!("{}.running", target.name));
        let begin = |input: &[u8]| {
            let _ = std::fs::write(&running, input);
        };
        let outcome = fuzz(target, seed, begin, |_| start.elapsed() < each);
        let _ = std::fs::remove_file(&running);
        println!(
            "{:<12} {:>9} inputs (seed {seed})",
            target.name, outcome.inputs
        );
        if let Some(finding) = outcome.finding {
            found += 1;
            let file = Path::new(folder).join(format!("{}-{seed}", target.name));
            let kept = match std::fs::write(&file, &finding.input) {
                Ok(()) => format!("kept as {}", file.display()),
                Err(error) => format!("{error}; it was {:?}", finding.input),
            };
            println!("  {}\n  {kept}", finding.message);
        }
    }
    ExitCode::from(u8::from(found > 0))
}
