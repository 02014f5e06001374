//! The files in `deploy/` are checked by the tools that read them: the manifest against the schemas of Kubernetes, the
//! unit by systemd, the script by the shell. A tool that cannot be had is named, and its check skipped.

use std::process::Command;

use crate::tools::{self, answers, need_kubernetes_validate};

pub fn check() -> Result<(), String> {
    let folder = tools::root().join("deploy");
    tools::run(
        "certificates.sh",
        Command::new("sh")
            .arg("-n")
            .arg(folder.join("certificates.sh")),
    )?;
    if let Some(program) = need_kubernetes_validate() {
        let manifest = folder.join("kubernetes.yaml");
        let mut validate = Command::new(program);
        tools::run("kubernetes.yaml", validate.arg("--strict").arg(manifest))?;
    }
    if !answers(Command::new("systemd-analyze").arg("--version")) {
        eprintln!("   no systemd-analyze: the unit is not checked");
        return Ok(());
    }
    check_unit(&folder.join("ioco-worker.service"))
}

/// The program that the unit starts need not be installed here; everything else has to be right.
fn check_unit(unit: &std::path::Path) -> Result<(), String> {
    let mut verify = Command::new("systemd-analyze");
    let output = verify.args(["verify", "--man=no"]).arg(unit).output();
    let output = output.map_err(|error| format!("systemd-analyze: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let name = unit.file_name().unwrap_or_default().to_string_lossy();
    let wrong = said.lines().find(|line| {
        line.contains(&*name)
            && !line.contains("is not executable")
            && !line.contains("Failed to create")
    });
    match wrong {
        Some(line) => Err(line.to_owned()),
        None => Ok(()),
    }
}
