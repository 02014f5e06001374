//! `cargo xtask faults`: the long run of the suite of bad peers, against the program as it is released.

use std::fs;
use std::path::{Path, PathBuf};

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
    // Copies: a build beside the run, which takes long, would exchange the programs under it.
    let folder = std::env::temp_dir().join(format!("ioco-faults-{}", std::process::id()));
    let programs = Copies::new(&target_directory().join(profile), folder)?;
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
        std::process::Command::new(programs.folder.join("ioco-faults")).args(arguments),
    )
}

/// The programs that the run needs, in a folder of their own that goes when it is over.
struct Copies {
    folder: PathBuf,
}

impl Copies {
    fn new(from: &Path, folder: PathBuf) -> Result<Copies, String> {
        let copies = Copies { folder };
        fs::create_dir_all(&copies.folder).map_err(|error| error.to_string())?;
        for program in ["ioco", "ioco-bad-peer", "ioco-faults"] {
            let copied = fs::copy(from.join(program), copies.folder.join(program));
            copied.map_err(|error| format!("cannot copy {program}: {error}"))?;
        }
        Ok(copies)
    }
}

impl Drop for Copies {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}
