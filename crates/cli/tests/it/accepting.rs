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
