//! Goes on with new seeds until the time is up, and writes what it finds, shrunk, to
//! `target/differential/`.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::Parser;
use ioco_differential::check::{Case, Counts, Finding};
use ioco_differential::shrink::shrunk;

/// After so many distinct findings there is enough to look at.
const MAX_FINDINGS: usize = 25;

#[derive(Parser)]
#[command(name = "cargo xtask differential")]
struct Options {
    #[arg(long, value_name = "N", default_value = "1", value_parser = minutes)]
    minutes: Duration,

    /// Where the cases begin [default: where no run began before]
    #[arg(long, value_name = "S", default_value_t = new_seed(), hide_default_value = true)]
    seed: u64,

    /// Only this one
    #[arg(long, value_name = "SEED")]
    case: Option<u64>,

    /// Where the findings go
    #[arg(long, value_name = "FOLDER", default_value = "target/differential")]
    out: String,
}

fn minutes(text: &str) -> Result<Duration, String> {
    let minutes: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    Duration::try_from_secs_f64(minutes * 60.0).map_err(|error| error.to_string())
}

/// One that no run had before.
fn new_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(1, |now| now.as_secs())
}

fn main() -> ExitCode {
    let options = Options::parse();
    // A panic is a finding; its message is in the description.
    std::panic::set_hook(Box::new(|_| {}));
    let started = Instant::now();
    let mut counts = Counts::default();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let mut cases = 0;
    let most = if options.case.is_some() { 1 } else { u64::MAX };
    while started.elapsed() < options.minutes && cases < most {
        let next = options.seed.wrapping_mul(1_000_000_007).wrapping_add(cases);
        let seed = options.case.unwrap_or(next);
        cases += 1;
        let case = Case::random(seed);
        if options.case.is_some() {
            println!("{:?} {:?}\n{}", case.kind, case.flavour, case.draft.text());
            if case.other != case.draft {
                println!("{}", case.other.text());
            }
        }
        let began = Instant::now();
        let found = case.run(&mut counts);
        if began.elapsed() > Duration::from_secs(5) {
            eprintln!(
                "slow: seed {seed}, {:?} {:?}, {:?}",
                case.kind,
                case.flavour,
                began.elapsed()
            );
        }
        let Some(finding) = found else { continue };
        if !seen.insert(format!("{:?} {}", case.flavour, finding.kind)) {
            continue;
        }
        let passed = started.elapsed().as_secs_f64();
        println!(
            "seed {seed}: {} (case {cases}, after {passed:.0} s)",
            finding.kind
        );
        // As it is first: making it small may take long.
        let small = write(&options.out, seen.len(), &case, &finding).and_then(|()| {
            let (case, finding) = shrunk(&case, &finding);
            println!("finding {}: {}", seen.len(), finding.kind);
            write(&options.out, seen.len(), &case, &finding)
        });
        if let Err(error) = small {
            eprintln!("cannot write to {}: {error}", options.out);
            return ExitCode::from(2);
        }
        if seen.len() >= MAX_FINDINGS {
            break;
        }
    }
    print!("{counts}");
    println!(
        "{cases} cases in {:.0} s from seed {}, {} kinds of findings",
        started.elapsed().as_secs_f64(),
        options.seed,
        seen.len()
    );
    if seen.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn write(out: &str, number: usize, case: &Case, finding: &Finding) -> std::io::Result<()> {
    let folder = Path::new(out);
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join(format!("{number:02}.aml")), case.draft.text())?;
    if case.other != case.draft {
        std::fs::write(
            folder.join(format!("{number:02}-other.aml")),
            case.other.text(),
        )?;
    }
    let Finding { kind, detail, .. } = finding;
    let text = format!(
        "{kind}\n{:?}, seed {}\n\n{detail}\n",
        case.flavour, case.seed
    );
    std::fs::write(folder.join(format!("{number:02}.txt")), text)
}
