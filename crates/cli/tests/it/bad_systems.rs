//! Systems that die, hang, flood, lie or answer late: the right verdict or exit code 3, never a
//! hang, never a wrong fail.

use std::process::Stdio;

use crate::support::{self, Ran, folder_with, interrupt, ioco, run, test_ping};

/// A system: `give` answers one stimulus. It says when it is silent, so that no test has to wait for
/// that, and no time-out is so short that a busy machine passes it.
fn system(give: &str) -> String {
    format!(
        "import json, sys, time, os\n\
         def say(text):\n    sys.stdout.write(text + '\\n'); sys.stdout.flush()\n\
         count = 0\n\
         def give():\n    global count\n    count += 1\n    {give}\n\
         for line in sys.stdin:\n    message = json.loads(line)\n    \
         if message.get('reset'):\n        say('{{\"ready\": true}}')\n    \
         else:\n        give()\n        say('{{\"quiescent\": true}}')\n"
    )
}

const PONG: &str = r#"say('{"response": "pong", "values": {}}')"#;

fn expect(ran: &Ran, code: i32, words: &str) {
    assert_eq!(ran.code, code, "{}", ran.all());
    let text = format!("{}{}", ran.out, ran.err);
    assert!(text.contains(words), "no '{words}' in\n{}", ran.all());
}

#[test]
fn a_system_that_does_its_duty_passes() {
    expect(&test_ping(&system(PONG), "20", &[]), 0, "PASS ping");
}

#[test]
fn a_system_that_crashes_is_an_error_with_its_last_words() {
    let program = system("sys.stderr.write('out of coffee\\n'); sys.stderr.flush(); os._exit(7)");
    expect(&test_ping(&program, "20", &[]), 3, "out of coffee");
}

/// The one failure that is kept in this folder.
fn kept(folder: &support::TempDir) -> String {
    let failures = std::fs::read_dir(folder.path().join(".ioco/failures")).expect("failures");
    let names: Vec<String> = failures
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(names.len(), 1, "{names:?}");
    names[0].trim_end_matches(".json").to_owned()
}

/// A folder with a model that also takes `nothing`, to which no answer is due, and a system.
fn with_nothing(program: &str) -> support::TempDir {
    let model = support::PING.replace("repeat {", "repeat {\n    o { receive 'nothing' }");
    let model = model.replace("stimulus 'ping'", "stimuli 'ping', 'nothing'");
    folder_with(&[("ping.aml", &model), ("system.py", program)])
}

const TEST_WITH_NOTHING: [&str; 6] = [
    "test",
    "ping.aml",
    "--seed",
    "3",
    "--sut",
    "exec python3 system.py",
];

#[test]
fn a_crash_is_kept_shrunk_and_replayed_like_a_failure_and_stays_an_error() {
    // It dies of the second ping, whatever else it is sent.
    let program = system(
        "is_ping = message['stimulus'] == 'ping'\n    \
         count -= not is_ping\n    \
         sys.stderr.write('out of coffee\\n' if count > 1 else '')\n    \
         sys.stderr.flush()\n    \
         os._exit(7) if count > 1 else None\n    \
         say('{\"response\": \"pong\"}') if is_ping else None",
    );
    let folder = with_nothing(&program);
    let ioco_here = |arguments: &[&str]| run(ioco().current_dir(folder.path()).args(arguments));
    let ran = ioco_here(&TEST_WITH_NOTHING);
    assert_eq!(ran.code, 3, "{}", ran.all());
    let id = kept(&folder);
    let replayed = format!("ioco replay {id}");
    for words in [
        "ERROR ping",
        "E004",
        "out of coffee",
        "exit status: 7",
        "3 of 3 runs",
        "the command was",
        &replayed,
    ] {
        assert!(ran.out.contains(words), "no {words} in {}", ran.all());
    }
    // Two pings and the pong between them are left.
    let steps = ran.out.lines().filter(|line| line.contains("───"));
    assert_eq!(steps.count(), 3, "{}", ran.all());
    let again = ioco_here(&["replay", &id]);
    assert_eq!(again.code, 3, "{}", again.all());
    assert!(again.out.contains("still failing"), "{}", again.all());
    let shrunk = ioco_here(&["shrink", &id]);
    assert_eq!(shrunk.code, 3, "{}", shrunk.all());
    let known = ioco_here(&TEST_WITH_NOTHING);
    assert_eq!(known.code, 3, "{}", known.all());
    let told = "known from an earlier run";
    assert!(known.out.contains(told), "{}", known.all());
    let junit = ioco_here(&["report", "--format", "junit"]);
    for words in ["<error", "?ping", "errors=\"1\"", "failures=\"0\""] {
        assert!(junit.out.contains(words), "no {words} in {}", junit.all());
    }
    let repaired = program.replace("count > 1", "False");
    std::fs::write(folder.path().join("system.py"), repaired).expect("written");
    let fixed = ioco_here(&["replay", &id]);
    assert_eq!(fixed.code, 0, "{}", fixed.all());
    assert!(fixed.out.contains("fixed"), "{}", fixed.all());
}

#[test]
fn a_failure_does_not_become_a_crash_by_shrinking() {
    // The third ping is answered wrongly if there was a `nothing`; without one the system dies.
    let program = system(
        "global nothing\n    \
         is_ping = message['stimulus'] == 'ping'\n    \
         nothing = (count > 1 and nothing) or not is_ping\n    \
         third = is_ping and count > 3\n    \
         os._exit(7) if third and not nothing else None\n    \
         say('{\"response\": \"quack\"}') if third else None\n    \
         say('{\"response\": \"pong\"}') if is_ping and not third else None",
    );
    // A fresh start for every reset: the counts begin anew.
    let program = program.replace(
        "say('{\"ready\": true}')",
        "count = 0; say('{\"ready\": true}')",
    );
    let folder = with_nothing(&program);
    let ran = run(ioco().current_dir(folder.path()).args(TEST_WITH_NOTHING));
    expect(&ran, 1, "D001 unexpected response");
    assert!(ran.out.contains("?nothing"), "{}", ran.all());
}

#[test]
fn a_system_that_never_becomes_ready_is_an_error() {
    let settings =
        "model = \"ping.aml\"\n[sut]\ncommand = [\"sleep\", \"60\"]\nready_within = \"300ms\"\n";
    let folder = folder_with(&[("ping.aml", support::PING), ("ioco.toml", settings)]);
    let ran = run(ioco()
        .current_dir(folder.path())
        .args(["test", "--tests", "1"]));
    assert_eq!(ran.code, 3, "{}", ran.all());
}

#[test]
fn a_system_that_falls_silent_fails_by_a_missing_response() {
    expect(
        &test_ping(&system("pass"), "20", &[]),
        1,
        "D002 missing response",
    );
}

#[test]
fn a_system_that_floods_fails_by_an_unexpected_response() {
    let program = system(&format!("[{PONG} for _ in range(5000)]"));
    expect(
        &test_ping(&program, "20", &[]),
        1,
        "D001 unexpected response",
    );
}

#[test]
fn a_system_that_sends_an_invalid_line_is_an_error_that_shows_it() {
    expect(
        &test_ping(&system("say('Segmentation fault')"), "20", &[]),
        3,
        "Segmentation fault",
    );
}

#[test]
fn a_response_that_the_model_does_not_know_fails() {
    let program = system(r#"say('{"response": "quack", "values": {}}')"#);
    expect(&test_ping(&program, "20", &[]), 1, "quack");
}

#[test]
fn a_system_that_answers_within_the_time_out_passes() {
    expect(
        &test_ping(&system(&format!("time.sleep(0.1); {PONG}")), "6", &[]),
        0,
        "PASS",
    );
}

#[test]
fn a_system_that_answers_after_the_time_out_fails_by_a_missing_response() {
    let program = system(&format!("time.sleep(1.0); {PONG}"));
    expect(
        &test_ping(&program, "20", &["--no-shrink", "--timeout", "300ms"]),
        1,
        "D002 missing response",
    );
}

#[test]
fn a_system_that_fails_only_once_is_flaky() {
    // It fails in its first life only: a file remembers that it has failed.
    let give = "first = not os.path.exists('failed')\n    open('failed', 'w').close()\n    \
                say('{\"response\": \"pong\", \"values\": {}}') if not first else say('{\"response\": \"quack\", \"values\": {}}')";
    let ran = test_ping(&system(give), "20", &[]);
    expect(&ran, 5, "flaky");
}

/// Answers with a quack in the tests whose number, counted by resets, `wrong` holds for.
fn counting(wrong: &str) -> String {
    format!(
        "import json, sys\n\
         def say(what):\n    sys.stdout.write(json.dumps(what) + '\\n'); sys.stdout.flush()\n\
         def resets():\n    try: return int(open('resets').read())\n    except OSError: return 0\n\
         for line in sys.stdin:\n    \
         if json.loads(line).get('reset'):\n        \
         n = resets() + 1\n        open('resets', 'w').write(str(n))\n        \
         say({{'ready': True}})\n    \
         else:\n        \
         say({{'response': 'quack' if {wrong} else 'pong', 'values': {{}}}})\n        \
         say({{'quiescent': True}})\n"
    )
}

fn test_counting(wrong: &str) -> (Ran, u64) {
    let folder = folder_with(&[("ping.aml", support::PING), ("system.py", &counting(wrong))]);
    let ran = run(ioco()
        .current_dir(folder.path())
        .args(["test", "ping.aml", "--sut", "exec python3 system.py"])
        .args(["--seed", "1", "--steps", "40", "--tests", "1"]));
    let resets = std::fs::read_to_string(folder.path().join("resets")).expect("counted");
    (ran, resets.parse().expect("a number"))
}

#[test]
fn a_failure_that_cannot_be_seen_again_is_not_shrunk() {
    let (ran, resets) = test_counting("n == 1");
    expect(&ran, 5, "not shrunk, because it did not occur again");
    // The test, and three runs that should confirm it.
    assert_eq!(resets, 4, "{}", ran.all());
}

#[test]
fn a_failure_that_is_not_seen_in_every_run_is_flaky() {
    let (ran, _) = test_counting("n % 3 == 1");
    expect(&ran, 5, "FLAKY");
    let text: Vec<&str> = ran.out.split_whitespace().collect();
    assert!(
        text.join(" ").contains("it occurred again in"),
        "{}",
        ran.all()
    );
}

#[test]
fn a_failure_is_replayed_with_the_solver_it_was_found_with() {
    // Never asked, because this model leaves nothing open.
    let solver = "import sys\nfor line in sys.stdin: pass\n";
    let folder = folder_with(&[
        ("ping.aml", support::PING),
        ("system.py", &counting("True")),
        ("solver.py", solver),
    ]);
    let ioco_here = |arguments: &[&str]| run(ioco().current_dir(folder.path()).args(arguments));
    let system = [
        "--sut",
        "exec python3 system.py",
        "--solver",
        "python3 solver.py",
    ];
    let test = ioco_here(&[["test", "ping.aml", "--seed", "1"].as_slice(), &system].concat());
    expect(&test, 1, "D001");
    let (_, id) = test.out.split_once("ioco replay ").expect("it was kept");
    let id = id.split_whitespace().next().expect("an id");
    for command in ["replay", "shrink"] {
        // A file names a solver; it never starts a command.
        expect(&ioco_here(&[command, id]), 1, "name it again with --solver");
        let with = [command, id, "--solver", "python3 solver.py"];
        let again = ioco_here(&with);
        assert_eq!(again.code, 1, "{}", again.all());
        assert!(!again.err.contains("--solver"), "{}", again.all());
        expect(
            &ioco_here(&[command, id, "--solver", "no-such-solver"]),
            2,
            "no-such-solver",
        );
    }
}

#[test]
fn a_command_that_does_not_exist_is_an_error_that_names_it() {
    let folder = folder_with(&[("ping.aml", support::PING)]);
    let ran =
        run(ioco()
            .current_dir(folder.path())
            .args(["test", "ping.aml", "--sut", "no-such-thing"]));
    expect(&ran, 3, "no-such-thing");
}

#[test]
fn a_reset_that_does_not_reset_is_not_called_a_bug_of_the_trace() {
    // After twenty stimuli, over all tests, it answers wrongly until it is started anew.
    let give = "say('{\"response\": \"pong\", \"values\": {}}') if count < 20 else say('{\"response\": \"quack\", \"values\": {}}')";
    let ran = test_ping(&system(give), "20", &[]);
    expect(&ran, 5, "Try --restart");
}

#[test]
fn what_the_system_says_cannot_move_the_cursor() {
    let program = system(r#"say('{"response": "\\u001b[31mred", "values": {}}')"#);
    let ran = test_ping(&program, "20", &[]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(!ran.out.contains('\u{1b}'), "{:?}", ran.out);
}

#[test]
fn a_reset_that_hangs_can_be_interrupted() {
    let program =
        "import sys, time\nsys.stdin.readline()\nopen('asked', 'w').close()\ntime.sleep(3600)\n";
    // Nobody would wait that long for this test.
    let settings = "model = \"ping.aml\"\n[sut]\ncommand = [\"python3\", \"system.py\"]\n\
                    ready_within = \"3600s\"\n";
    let folder = folder_with(&[
        ("ping.aml", support::PING),
        ("system.py", program),
        ("ioco.toml", settings),
    ]);
    let child = ioco()
        .current_dir(folder.path())
        .arg("test")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("ioco starts");
    while !folder.path().join("asked").exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    interrupt(&child);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
}

#[test]
fn a_folder_that_cannot_be_written_to_is_no_reason_not_to_test() {
    let wrong = system(r#"say('{"response": "quack"}')"#);
    let folder = folder_with(&[
        ("ping.aml", support::PING),
        ("system.py", &wrong),
        // Nobody, whatever his rights, can make a folder where a file is.
        (".ioco", ""),
    ]);
    let elsewhere = folder.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).expect("made");
    let ioco_here = |arguments: &[&str]| {
        run(ioco()
            .current_dir(folder.path())
            .env("TMPDIR", &elsewhere)
            .args(arguments))
    };
    let test = ["test", "ping.aml", "--sut", "exec python3 system.py"];
    let limits = ["--tests", "2", "--steps", "4", "--junit", "report.xml"];
    let ran = ioco_here(&[test.as_slice(), &limits].concat());
    expect(&ran, 1, "D001 unexpected response");
    let told = "the results of this run are in";
    assert!(ran.err.contains(told), "{}", ran.all());
    let report = std::fs::read_to_string(folder.path().join("report.xml")).expect("a report");
    assert!(report.contains("failures=\"1\""), "{report}");
    let replay = ran
        .out
        .lines()
        .find_map(|line| line.split_once("ioco replay "));
    let (_, file) = replay.expect("how to see it again");
    let again = ioco_here(&["replay", file.trim()]);
    expect(&again, 1, "still failing");
}
