//! Disks that refuse: full, nearly full, read-only. A deviation is reported whatever becomes of the disk, and a run
//! passes only if it is kept.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

use crate::model;
use crate::program::Programs;

/// How a disk refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disk {
    /// No file may grow beyond so many blocks.
    Blocks(u64),
    /// A file system of so many KiB, with the temporary folder on it.
    Full(u64),
    /// The project's folder cannot be written; the temporary folder can.
    ReadOnly,
    /// Neither can.
    ReadOnlyEverywhere,
}

impl Disk {
    pub fn random(random: &mut ChaCha8Rng) -> Disk {
        match random.random_range(0..6) {
            0 => Disk::ReadOnly,
            1 => Disk::ReadOnlyEverywhere,
            2 | 3 => Disk::Full(random.random_range(4..400)),
            _ => Disk::Blocks(random.random_range(0..400)),
        }
    }

    /// The script that makes the disk in `$1` and runs the rest there. File systems are made where only this
    /// process and its children see them.
    fn script(self) -> String {
        let run = "exec \"$@\"";
        let mount = |size: u64| {
            format!(
                "set -e; mount -t tmpfs -o size={size}k none \"$1\"; cp ../ping.aml \"$1\"; cd \"$1\"; shift; "
            )
        };
        match self {
            Disk::Blocks(blocks) => format!("shift; trap '' XFSZ; ulimit -f {blocks}; {run}"),
            Disk::Full(size) => format!("{} export TMPDIR=$PWD; {run}", mount(size)),
            Disk::ReadOnly => format!("{} mount -o remount,ro none .; {run}", mount(1000)),
            Disk::ReadOnlyEverywhere => format!(
                "{} export TMPDIR=$PWD; mount -o remount,ro none .; {run}",
                mount(1000)
            ),
        }
    }

    fn is_mounted(self) -> bool {
        !matches!(self, Disk::Blocks(_))
    }
}

/// Whether file systems can be made here; without that, only limits on files are played.
pub fn can_mount() -> bool {
    let made = Command::new("unshare")
        .args(["-rm", "sh", "-c", "mount -t tmpfs none /tmp"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    made.is_ok_and(|status| status.success())
}

/// Tests a system that answers wrongly, and one that does not. Says what was wrong.
pub fn play(programs: &Programs, disk: Disk) -> io::Result<Option<String>> {
    // Two pongs to one ping.
    let output = test(programs, disk, "duplicate 1 0")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.code() != Some(1) || !text.contains("D001") {
        let (code, said) = (output.status, said(&output));
        return Ok(Some(format!("{disk:?}: a deviation, and {code}: {said}")));
    }
    let output = test(programs, disk, "nothing 0 0")?;
    let said = said(&output);
    let is_told = said.contains("not recorded") || said.contains("cannot");
    Ok(match output.status.code() {
        // All is kept, in the project's folder or in the one that is named.
        Some(0) if disk != Disk::ReadOnlyEverywhere => {
            let is_elsewhere =
                disk != Disk::ReadOnly || said.contains("results of this run are in");
            (!is_elsewhere).then(|| format!("{disk:?}: passed and kept nothing: {said}"))
        }
        Some(2) if is_told => None,
        other => Some(format!("{disk:?}: no deviation, and {other:?}: {said}")),
    })
}

fn test(programs: &Programs, disk: Disk, fault: &str) -> io::Result<Output> {
    let folder = tempfile::tempdir()?;
    let project = folder.path().join("project");
    fs::create_dir(&project)?;
    fs::write(folder.path().join("ping.aml"), model::TEXT)?;
    fs::write(project.join("ping.aml"), model::TEXT)?;
    let sut = format!("exec '{}' {fault}", programs.peer.display());
    let mut command = match disk.is_mounted() {
        true => {
            let mut unshare = Command::new("unshare");
            unshare.args(["-rm", "sh"]);
            unshare
        }
        false => Command::new("sh"),
    };
    command
        .current_dir(&project)
        .args(["-c", &disk.script(), "sh"])
        .arg(Path::new(&project))
        .arg(&programs.ioco)
        .args(["test", "ping.aml", "--sut", &sut, "--timeout", "200ms"])
        .args([
            "--no-shrink",
            "--seed",
            "1",
            "--tests",
            "20",
            "--steps",
            "6",
        ])
        .env("TMPDIR", folder.path())
        .stdin(Stdio::null())
        .output()
}
