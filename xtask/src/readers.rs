//! Reports and drawings, opened with programs that are not ioco's: libraries and viewers of JUnit, tools for SARIF,
//! Graphviz, AltWalker's reader of GraphWalker files; the archive of a release by a validator of bills of materials and
//! by the installer. Mermaid is opened by the browser tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tools::{self, answers};

/// In exact versions: another one may read otherwise.
const PACKAGES: &[&str] = &[
    "junitparser==5.0.3",
    "junit2html==31.1.4",
    "sarif-tools==3.0.5",
    "altwalker==0.4.0",
    "cyclonedx-python-lib[json-validation]==11.12.0",
];

const MERMAID: &str = "12.3.0";

/// GraphWalker has no parameters of labels: a model without data.
const BELL: &str = "external 'bell'
process('bell') {
  channel('bell') { stimuli 'press'; responses 'ring' }
  state 'Silent'
  receive 'press'
  state 'Rings'
  send 'ring'
  goto 'Silent'
}
";

/// Runs the program, which has to be built, on a system with a bug, and has every report read by others.
pub fn check() -> Result<(), String> {
    let Some(programs) = tools::python_environment("sarif", PACKAGES) else {
        return tools::without("readers of reports", "they cannot be installed");
    };
    let there = || answers(Command::new("dot").arg("-V"));
    if !(there() || tools::apt_install("graphviz") && there()) {
        return tools::without("Graphviz", "it is not here and cannot be installed");
    }
    let folder = tools::target_directory().join("readers");
    write(&folder)?;
    let release = folder.join("release");
    crate::release::assemble(&program(), &release)?;
    tools::run(
        "reports and the archive of a release in programs of others",
        Command::new(programs.join("python"))
            .arg(tools::root().join("xtask/src/readers.py"))
            .args([folder.join("door"), release.clone()]),
    )?;
    install(&release)
}

fn program() -> PathBuf {
    tools::target_directory()
        .join("debug")
        .join(format!("ioco{}", std::env::consts::EXE_SUFFIX))
}

/// The installer takes the archive, and what it installs runs.
fn install(release: &Path) -> Result<(), String> {
    let to = release.join("installed");
    tools::run(
        "installer",
        Command::new("sh")
            .arg(tools::root().join("install.sh"))
            .env("IOCO_RELEASES", release)
            .env("IOCO_TO", &to),
    )?;
    let said = Command::new(to.join("ioco")).arg("--version").output();
    match said.map(|said| String::from_utf8_lossy(&said.stdout).into_owned()) {
        Ok(said) if said.starts_with("ioco ") => Ok(()),
        other => Err(format!("the installed program does not run: {other:?}")),
    }
}

fn write(folder: &Path) -> Result<(), String> {
    let text = |error: std::io::Error| error.to_string();
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(text)?;
    }
    fs::create_dir_all(folder).map_err(text)?;
    let program = program();
    let ioco = |at: &Path, arguments: &[&str], code: i32| -> Result<Vec<u8>, String> {
        let ran = Command::new(&program)
            .args(arguments)
            .current_dir(at)
            .env("XDG_STATE_HOME", folder.join("state"))
            .output()
            .map_err(text)?;
        match ran.status.code() {
            Some(found) if found == code => Ok(ran.stdout),
            _ => Err(format!(
                "ioco {arguments:?}: {}\n{}",
                ran.status,
                String::from_utf8_lossy(&ran.stderr)
            )),
        }
    };
    ioco(folder, &["new", "door"], 0)?;
    let door = folder.join("door");
    // Two runs: the second has known failures, many failing tests and passing ones.
    ioco(&door, &["test", "--seed", "2"], 1)?;
    ioco(
        &door,
        &["test", "--seed", "2", "--failures", "0", "--tests", "40"],
        1,
    )?;
    for (format, file) in [
        ("junit", "junit.xml"),
        ("sarif", "ioco.sarif"),
        ("jsonl", "events.jsonl"),
        ("markdown", "report.md"),
    ] {
        ioco(&door, &["report", "--format", format, "-o", file], 0)?;
    }
    fs::write(door.join("bell.aml"), BELL).map_err(text)?;
    let drawings: [&[&str]; 3] = [
        &["door.aml", "-o", "door.dot"],
        &["door.aml", "-o", "door.mmd"],
        &[
            "bell.aml",
            "--to",
            "graphwalker",
            "-o",
            "bell.graphwalker.json",
        ],
    ];
    for drawing in drawings {
        ioco(&door, &[&["convert"], drawing].concat(), 0)?;
    }
    for model in ["door", "bell"] {
        let size = ioco(
            &door,
            &["check", &format!("{model}.aml"), "--format", "json"],
            0,
        )?;
        fs::write(door.join(format!("{model}.json")), size).map_err(text)?;
    }
    Ok(())
}

/// Mermaid as one script, for the browser tests: the package alone, without the hundred others that it is built from.
pub fn mermaid() -> Option<PathBuf> {
    let folder = tools::target_directory().join("mermaid");
    let script = folder.join("package/dist/mermaid.min.js");
    if script.exists() {
        return Some(script);
    }
    fs::create_dir_all(&folder).ok()?;
    let packed = Command::new("npm")
        .args(["pack", "--silent", &format!("mermaid@{MERMAID}")])
        .current_dir(&folder)
        .status();
    let archive = format!("mermaid-{MERMAID}.tgz");
    let unpacked = Command::new("tar")
        .args(["xzf", &archive, "package/dist/mermaid.min.js"])
        .current_dir(&folder)
        .status();
    let worked = [packed, unpacked]
        .into_iter()
        .all(|done| done.is_ok_and(|status| status.success()));
    if !worked {
        eprintln!("   Mermaid cannot be had: its drawings are not opened");
        return None;
    }
    Some(script)
}
