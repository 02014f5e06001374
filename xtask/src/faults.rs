//! `cargo xtask faults`: the long run of the suite of bad peers, against the program as it is released.

use crate::postgres::Postgres;
use crate::tools::{self, cargo, target_directory};

pub fn run(arguments: &[String]) -> Result<(), String> {
    // In the profile of the tests unless it is to be fast: a soak is.
    let is_soak = arguments.iter().any(|word| word == "--soak");
    let mut build = cargo();
    build.args(["build", "--workspace", "--bins"]);
    if is_soak {
        build.arg("--release");
    }
    tools::run("build", &mut build)?;
    let profile = if is_soak { "release" } else { "debug" };
    let program = target_directory().join(profile).join("ioco-faults");
    let mut arguments = arguments.to_vec();
    if arguments.last().is_some_and(|word| word == "--soak") {
        arguments.push("10000000".to_owned());
    }
    // A database that dies, and one that stalls.
    let server = if is_soak { None } else { Postgres::start()? };
    if let Some(server) = &server {
        let words = ["--database", "--database-pid", "--database-start"];
        let values = [server.url(), server.pid_file(), server.start_command()];
        arguments.extend(
            words
                .into_iter()
                .zip(values)
                .flat_map(|(w, v)| [w.to_owned(), v]),
        );
    }
    tools::run(
        "faults",
        std::process::Command::new(program).args(arguments),
    )
}
