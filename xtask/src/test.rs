//! `cargo xtask test`: every check and every test, in the order in which they fail fastest.

use std::env;
use std::process::Command;

use crate::deployment;
use crate::library;
use crate::postgres::Postgres;
use crate::schemas;
use crate::tools::{
    self, cargo, need_cargo_deny, need_mosquitto, need_nats, need_pytest, need_typescript, need_z3,
};

pub fn run() -> Result<(), String> {
    tools::run("formatting", cargo().args(["fmt", "--all", "--check"]))?;
    tools::run(
        "lints",
        cargo().args([
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "--deny",
            "warnings",
        ]),
    )?;
    // The program tests run the example systems as programs, so both are built first; with the tests, because
    // Cargo would otherwise build many dependencies twice, with other features.
    tools::run(
        "build",
        cargo().args(["build", "--workspace", "--bins", "--tests"]),
    )?;
    let mut tests = cargo();
    tests.args(["test", "--workspace", "--no-fail-fast"]);
    // The same random cases every time. `cargo test` and the long runs draw new ones.
    tests.env("PROPTEST_RNG_SEED", "1");
    let z3 = need_z3();
    if z3.is_some() || tools::answers(Command::new("z3").arg("--version")) {
        tests.env("IOCO_TEST_NEEDS_Z3", "1");
    }
    let programs: Vec<_> = z3.into_iter().chain(need_typescript()).collect();
    if !programs.is_empty() {
        let old = env::var_os("PATH").unwrap_or_default();
        let paths = programs.into_iter().chain(env::split_paths(&old));
        let joined = env::join_paths(paths).map_err(|error| error.to_string())?;
        tests.env("PATH", joined);
    }
    if let Some(python) = need_pytest() {
        tests.env("IOCO_TEST_PYTHON", python);
    }
    if let Some(server) = need_nats() {
        tests.env("IOCO_TEST_NATS", server);
    }
    need_mosquitto();
    tests.env("IOCO_TEST_SCHEMAS", schemas::fetch());
    let postgres = Postgres::start()?;
    if let Some(postgres) = &postgres {
        tests.env("IOCO_TEST_POSTGRES", postgres.url());
    }
    tools::run("tests", &mut tests)?;
    drop(postgres);
    crate::campaign::share()?;
    library::check()?;
    deployment::check()?;
    crate::readers::check()?;
    editor()?;
    crate::editor::package()?;
    crate::web::check()?;
    need_cargo_deny()?;
    let what = [
        "deny",
        "--all-features",
        "check",
        "licenses",
        "bans",
        "sources",
    ];
    tools::run("licences and sources", cargo().args(what))?;
    check_advisories()
}

/// The extension: its types, its grammar by the engine that editors use, its test explorer with the real program.
fn editor() -> Result<(), String> {
    let folder = tools::root().join("editors/vscode");
    tools::run(
        "packages of the editor's tests",
        Command::new("npm")
            .args(["ci", "--silent", "--no-audit", "--no-fund"])
            .current_dir(&folder),
    )?;
    tools::run(
        "types, grammar and test explorer of the extension",
        Command::new("npm")
            .args(["test", "--silent"])
            .env("IOCO", tools::target_directory().join("debug/ioco"))
            .current_dir(&folder),
    )
}

/// Known defects of dependencies, from a database on the network: where that cannot be reached,
/// says so instead of failing, because the tests must pass off line.
fn check_advisories() -> Result<(), String> {
    if !tools::answers(cargo().args(["deny", "fetch", "db"])) {
        eprintln!("── advisories: skipped, the database cannot be reached from here");
        return Ok(());
    }
    let what = ["deny", "--all-features", "check", "advisories"];
    tools::run("advisories", cargo().args(what))
}
