//! The long comparison of the embedded solver with z3, on seeds that no run had before.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::tools::{cargo, need_z3, run as run_command};

/// Seeds of a run start at a multiple of this, so that runs do not share questions.
const SEEDS_PER_SECOND: u64 = 1_000;

pub fn run(args: &[String]) -> Result<(), String> {
    let mut minutes = 10;
    let mut seed = None;
    let mut rest = args.iter();
    while let Some(option) = rest.next() {
        let number = |text: Option<&String>| {
            text.and_then(|t| t.parse::<u64>().ok())
                .ok_or_else(|| format!("{option} needs a number"))
        };
        match option.as_str() {
            "--minutes" => minutes = number(rest.next())?,
            "--seed" => seed = Some(number(rest.next())?),
            other => return Err(format!("solver: there is no option '{other}'")),
        }
    }
    let seed = seed.unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        now.map_or(1, |now| now.as_secs()) * SEEDS_PER_SECOND
    });
    let mut command = cargo();
    command
        .args(["test", "-p", "ioco-solve", "--test", "comparison", "--"])
        .args(["--ignored", "--nocapture", "--exact"])
        .arg("a_long_run_with_new_seeds_finds_nothing")
        .env("IOCO_SOLVER_MINUTES", minutes.to_string())
        .env("IOCO_SOLVER_SEED", seed.to_string());
    if let Some(programs) = need_z3() {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let all = std::iter::once(programs).chain(std::env::split_paths(&path));
        let path = std::env::join_paths(all).map_err(|e| e.to_string())?;
        command.env("PATH", path);
    }
    run_command("compare the solvers", &mut command)
}
