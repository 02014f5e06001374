//! The files in `deploy/` and the descriptions for build servers are checked by the tools that read them: the manifest
//! against the schemas of Kubernetes, actions and the Compose file against theirs, the unit by systemd, the script by the
//! shell. A tool that cannot be had is named, and its check skipped. `xtask/tests/containerfile.rs` holds the description
//! of the image to the workspace.

use std::process::Command;

use crate::tools::{self, answers, need_check_jsonschema, need_kubernetes_validate};

/// Files, and the arguments that name the schemas which check-jsonschema brings along.
const SCHEMAS: [(&str, &[&str]); 3] = [
    ("action.yml", &["vendor.github-actions"]),
    (
        "ci/gitlab.yml",
        &["vendor.gitlab-ci", "--data-transform", "gitlab-ci"],
    ),
    ("deploy/compose.yaml", &["vendor.compose-spec"]),
];

/// Holds every container of a manifest to what the schemas leave open: it does not run as root, cannot gain rights, and
/// says how much it needs.
const PODS: &str = r#"
import sys, yaml
wrong = []
for document in yaml.safe_load_all(open(sys.argv[1])):
    pod = document.get("spec", {}).get("template", {}).get("spec")
    if not pod:
        continue
    name = document["metadata"]["name"]
    if pod.get("securityContext", {}).get("runAsNonRoot") is not True:
        wrong.append(f"{name}: may run as root")
    if pod.get("automountServiceAccountToken") is not False:
        wrong.append(f"{name}: gets a token of the cluster")
    for container in pod["containers"]:
        own = container.get("securityContext", {})
        if own.get("allowPrivilegeEscalation") is not False or own.get("capabilities", {}).get("drop") != ["ALL"]:
            wrong.append(f"{name}: {container['name']} may gain rights")
        resources = container.get("resources", {})
        if not resources.get("requests") or "memory" not in resources.get("limits", {}):
            wrong.append(f"{name}: {container['name']} does not say how much it needs")
sys.exit("\n".join(wrong) or None)
"#;

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
        let mut validate = Command::new(&program);
        tools::run("kubernetes.yaml", validate.arg("--strict").arg(&manifest))?;
        // It reads YAML with a library that lies beside it.
        let mut pods = Command::new(program.with_file_name("python"));
        let pods = pods.args(["-c", PODS]).arg(&manifest);
        tools::run("containers of kubernetes.yaml", pods)?;
    }
    if let Some(program) = need_check_jsonschema() {
        for (file, schema) in SCHEMAS {
            let mut check = Command::new(&program);
            let check = check.arg("--builtin-schema").args(schema);
            tools::run(file, check.arg(tools::root().join(file)))?;
        }
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
