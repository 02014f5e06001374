//! `cargo xtask fuzz [--minutes N] [TARGET]`: every reader on new inputs. On the stable toolchain with mutations of the
//! kept corpora; with cargo-fuzz too, where it and a nightly toolchain are installed.

use std::fs;

use crate::tools::{self, cargo};

pub fn run(args: &[String]) -> Result<(), String> {
    let mut minutes = 3.0;
    let mut target = None;
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if arg == "--minutes" {
            let number = args.next().and_then(|text| text.parse().ok());
            minutes = number.ok_or("--minutes needs a number")?;
        } else {
            target = Some(arg.clone());
        }
    }
    let found = tools::root().join("fuzz/found");
    fs::create_dir_all(&found).map_err(|error| error.to_string())?;
    let seconds = (minutes * 60.0).to_string();
    let mut stable = cargo();
    stable.args([
        "run",
        "--quiet",
        "--package",
        "ioco-fuzz-targets",
        "--bin",
        "ioco-fuzz",
        "--",
    ]);
    stable.arg(&seconds).arg(&found).args(&target);
    tools::run("readers on mutated inputs", &mut stable)?;
    let fuzz = tools::root().join("fuzz");
    if !tools::answers(
        cargo()
            .args(["+nightly", "fuzz", "list"])
            .current_dir(&fuzz),
    ) {
        eprintln!("── cargo-fuzz: skipped, it or a nightly toolchain is not installed");
        return Ok(());
    }
    if let Some(target) = target {
        let limit = format!("-max_total_time={}", (minutes * 60.0) as u64);
        let args = ["+nightly", "fuzz", "run", &target, "--", &limit];
        tools::run("cargo-fuzz", cargo().args(args).current_dir(&fuzz))?;
    }
    Ok(())
}
