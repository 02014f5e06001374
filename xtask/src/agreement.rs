//! `cargo xtask agreement [--models N]`: generated NuSMV models, every technique held against explicit enumeration.

use crate::tools::{self, cargo};

pub fn run(args: &[String]) -> Result<(), String> {
    let models = match args {
        [] => "2000",
        [flag, number] if flag == "--models" && number.parse::<u64>().is_ok() => number,
        _ => return Err("usage: cargo xtask agreement [--models N]".to_owned()),
    };
    let mut command = cargo();
    command.args([
        "test",
        "--release",
        "--package",
        "ioco-smv",
        "--test",
        "constructs",
        "--",
        "--nocapture",
    ]);
    command.env("IOCO_AGREEMENT_MODELS", models);
    tools::run("NuSMV models against enumeration", &mut command)
}
