//! The files for build servers, run as a build server runs them.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value as Json;

use crate::support::{PING, PONG, Ran, folder_with, root, run, state};

const PROJECT: &str = "model = \"ping.aml\"\n[sut]\ncommand = [\"python3\", \"system.py\"]\n[profile.ci.test]\ntests = 2\nsteps = 4\nseed = 1\n";

fn read(name: &str) -> Json {
    let text = std::fs::read_to_string(root().join(name)).expect("a file");
    serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Runs lines as a build server does: one shell, which stops at the first that fails.
fn shell(script: &str, folder: &Path, variables: &[(&str, String)]) -> Ran {
    let programs = Path::new(env!("CARGO_BIN_EXE_ioco"))
        .parent()
        .expect("a folder");
    let old = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(programs.to_owned()).chain(std::env::split_paths(&old));
    let mut command = Command::new("bash");
    command
        .args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script])
        .current_dir(folder)
        .env("PATH", std::env::join_paths(paths).expect("paths"))
        .env("XDG_STATE_HOME", state())
        .env("NO_COLOR", "1");
    for (name, value) in variables {
        command.env(name, value);
    }
    run(&mut command)
}

fn project(system: &str) -> tempfile::TempDir {
    folder_with(&[
        ("ioco.toml", PROJECT),
        ("ping.aml", PING),
        ("system.py", system),
    ])
}

fn wrong() -> String {
    PONG.replace("else answer", "else 'pang'")
}

/// The steps of the action that run a script, with their variables filled in.
fn action(folder: &Path, inputs: &[(&str, &str)]) -> (Ran, PathBuf) {
    let action = read("action.yml");
    let input = |name: &str| {
        let given = inputs.iter().find(|(key, _)| *key == name);
        let default = action["inputs"][name]["default"].as_str();
        given.map_or_else(
            || default.unwrap_or_default().to_owned(),
            |(_, v)| (*v).to_owned(),
        )
    };
    let output = folder.join("output");
    let mut ran = None;
    for step in action["runs"]["steps"].as_array().expect("steps") {
        if step["name"] == "Install ioco" {
            continue;
        }
        let mut variables = vec![
            ("GITHUB_OUTPUT", output.display().to_string()),
            (
                "GITHUB_STEP_SUMMARY",
                folder.join("summary.md").display().to_string(),
            ),
        ];
        for (name, value) in step["env"].as_object().expect("variables") {
            let value = value.as_str().expect("text");
            let named = value
                .strip_prefix("${{ inputs.")
                .and_then(|rest| rest.strip_suffix(" }}"))
                .unwrap_or_else(|| panic!("{value} is no input"));
            variables.push((name.as_str(), input(named)));
        }
        let script = step["run"].as_str().expect("a script");
        assert!(
            !script.contains("${{"),
            "text of a workflow in a script can be a command: {script}"
        );
        let one = shell(script, folder, &variables);
        let failed = one.code != 0;
        ran = Some(one);
        if failed {
            break;
        }
    }
    (ran.expect("a step"), output)
}

#[test]
fn the_action_tests_and_reports() {
    let here = project(&wrong());
    let (ran, output) = action(
        here.path(),
        &[("profile", "ci"), ("arguments", "--no-shrink")],
    );
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.out.contains("::error file=ping.aml"), "{}", ran.all());
    let said = std::fs::read_to_string(output).expect("outputs");
    assert!(said.contains("exit-code=1"), "{said}");
    for name in ["junit.xml", "ioco.sarif", "ioco.html"] {
        assert!(
            here.path().join("ioco-results").join(name).exists(),
            "{name}: {}",
            ran.all()
        );
    }
    let summary = std::fs::read_to_string(here.path().join("summary.md")).expect("a summary");
    assert!(summary.contains("ping"), "{summary}");
}

#[test]
fn the_action_passes_where_the_system_conforms_and_stops_at_a_wrong_project() {
    let here = project(PONG);
    let (ran, _) = action(here.path(), &[("profile", "ci")]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    let (ran, output) = action(here.path(), &[("profile", "no-such-profile")]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    let said = std::fs::read_to_string(output).expect("outputs");
    assert_eq!(
        said.matches("exit-code").count(),
        1,
        "no test was run: {said}"
    );
}

#[test]
fn the_template_for_gitlab_tests_and_reports() {
    let template = read("ci/gitlab.yml");
    let job = &template[".ioco"];
    let lines = |name: &str| -> String {
        let lines = job[name].as_array().expect("lines").iter();
        lines
            .map(|line| format!("{}\n", line.as_str().expect("text")))
            .collect()
    };
    let variables: Vec<(&str, String)> = vec![
        ("IOCO_FOLDER", ".".to_owned()),
        ("IOCO_PROFILE", "ci".to_owned()),
        ("IOCO_ARGUMENTS", "--no-shrink".to_owned()),
    ];
    for (system, code) in [(wrong(), 1), (PONG.to_owned(), 0)] {
        let here = project(&system);
        let ran = shell(&lines("script"), here.path(), &variables);
        assert_eq!(ran.code, code, "{}", ran.all());
        let after = shell(&lines("after_script"), here.path(), &variables);
        assert_eq!(after.code, 0, "{}", after.all());
        for name in ["junit.xml", "ioco.html"] {
            assert!(
                here.path().join("ioco-results").join(name).exists(),
                "{name}"
            );
        }
    }
    assert_eq!(job["allow_failure"]["exit_codes"], 5);
}

#[test]
fn the_installer_takes_an_archive_with_the_right_sum_and_no_other() {
    let here = folder_with(&[]);
    let machine = match std::env::consts::ARCH {
        "x86_64" => "x86_64",
        "aarch64" => "aarch64",
        _ => return,
    };
    let system = match std::env::consts::OS {
        "linux" => "unknown-linux-gnu",
        "macos" => "apple-darwin",
        _ => return,
    };
    let name = format!("ioco-0.1.0-{machine}-{system}");
    let sum = match system {
        "apple-darwin" => "shasum -a 256",
        _ => "sha256sum",
    };
    let program = env!("CARGO_BIN_EXE_ioco");
    let release = format!(
        "mkdir {name} && ln -s {program} {name}/ioco && tar czhf {name}.tar.gz {name} \
         && {sum} {name}.tar.gz > SHA256SUMS"
    );
    let made = shell(&release, here.path(), &[]);
    assert_eq!(made.code, 0, "{}", made.all());
    let variables = [
        ("IOCO_RELEASES", here.path().display().to_string()),
        ("IOCO_TO", here.path().join("bin").display().to_string()),
    ];
    let script = std::fs::read_to_string(root().join("install.sh")).expect("the installer");
    let installed = shell(&script, here.path(), &variables);
    assert_eq!(installed.code, 0, "{}", installed.all());
    assert!(installed.err.contains("installed: "), "{}", installed.all());
    std::fs::remove_dir_all(here.path().join("bin")).expect("removed");
    let damaged = shell(&format!("echo more >> {name}.tar.gz"), here.path(), &[]);
    assert_eq!(damaged.code, 0, "{}", damaged.all());
    let refused = shell(&script, here.path(), &variables);
    assert_eq!(refused.code, 1, "{}", refused.all());
    assert!(refused.err.contains("damaged"), "{}", refused.all());
    assert!(!here.path().join("bin").exists());
}
