//! A person may accept a failure while the run that found it still confirms and shrinks it.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::nats::Process;
use crate::support::{PING, TempDir, folder_with, ioco, run};

/// Answers every ping wrongly. From the second reset on, it waits for somebody.
const SYSTEM: &str = r#"
import json, os, sys, time
resets = 0
for line in sys.stdin:
    if json.loads(line).get("reset"):
        resets += 1
        while resets > 1 and not os.path.exists("go"):
            time.sleep(0.01)
        print('{"ready":true}', flush=True)
        continue
    print('{"response":"pang"}', flush=True)
"#;

/// The only failure file, once there is one.
fn kept(folder: &TempDir) -> Option<PathBuf> {
    let files = fs::read_dir(folder.path().join(".ioco/failures")).ok()?;
    let mut files = files.filter_map(|file| Some(file.ok()?.path()));
    files.find(|file| file.extension().is_some_and(|end| end == "json"))
}

#[test]
fn an_acceptance_during_confirmation_is_kept() {
    for more in [&[][..], &["--jobs", "2"][..]] {
        // What a failed test may have left behind is waited for that long.
        let model = PING.replace("timeout 10", "timeout 0.3");
        let folder = folder_with(&[
            ("ping.aml", &model),
            ("system.py", SYSTEM),
            (
                "ioco.toml",
                "model = \"ping.aml\"\n[test]\nseed = 1\nsteps = 10\ntests = 2\n[sut]\nready_within = \"120s\"\n\
                 command = [\"python3\", \"system.py\"]\n",
            ),
        ]);
        let child = ioco()
            .current_dir(folder.path())
            .arg("test")
            .args(more)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let mut testing = Process(child.expect("a run"));
        let begun = Instant::now();
        let file = loop {
            match kept(&folder) {
                Some(file) => break file,
                None => assert!(begun.elapsed() < Duration::from_secs(120), "no failure"),
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        let id = file
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let accepted = run(ioco().current_dir(folder.path()).args([
            "failures",
            "accept",
            &id,
            "--reason",
            "known to us",
        ]));
        assert_eq!(accepted.code, 0, "{}", accepted.all());
        fs::write(folder.path().join("go"), "").expect("written");
        testing.0.wait().expect("it ends");
        let text = fs::read_to_string(kept(&folder).expect("a failure")).expect("read");
        assert!(text.contains("known to us"), "{more:?}: {text}");
    }
}

#[test]
fn an_acceptance_that_is_committed_holds_in_every_clone() {
    let settings = "model = \"ping.aml\"\n[test]\nseed = 1\nsteps = 10\ntests = 2\n[sut]\nready_within = \"120s\"\n\
                    command = [\"python3\", \"system.py\"]\n";
    let model = PING.replace("timeout 10", "timeout 0.3");
    let project = [
        ("ping.aml", &*model),
        ("system.py", SYSTEM),
        ("ioco.toml", settings),
        // It does not wait for anybody.
        ("go", ""),
    ];
    let first = folder_with(&project);
    let failed = run(ioco().current_dir(first.path()).arg("test"));
    assert_eq!(failed.code, 1, "{}", failed.all());
    let file = kept(&first).expect("a failure");
    let id = file.file_stem().expect("a name").to_string_lossy();
    let why = ["accept", &*id, "--why", "the next release mends it"];
    let accepted = run(ioco().current_dir(first.path()).args(why));
    assert_eq!(accepted.code, 0, "{}", accepted.all());
    // A clone has what the project keeps in version control: no store, no list of what was typed.
    let ignored = fs::read_to_string(first.path().join(".ioco/.gitignore"));
    let ignored = ignored.expect("results keep themselves out");
    assert!(ignored.contains("!failures/*.json"), "{ignored}");
    let clone = folder_with(&project);
    let unknown = run(ioco().current_dir(clone.path()).arg("test"));
    assert_eq!(unknown.code, 1, "{}", unknown.all());
    let clone = folder_with(&project);
    let failures = clone.path().join(".ioco/failures");
    fs::create_dir_all(&failures).expect("made");
    fs::copy(&file, failures.join(file.file_name().expect("a name"))).expect("copied");
    let again = run(ioco().current_dir(clone.path()).arg("test"));
    assert_eq!(again.code, 0, "{}", again.all());
    let said = again.all();
    assert!(said.contains("the next release mends it"), "{said}");
}
