//! Systems that die, hang, flood, lie or answer late: the right verdict or exit code 3, never a
//! hang, never a wrong fail.

use crate::support::{self, Ran, folder, ioco, run, test_ping};

/// The beginning of a system: `give()` answers one stimulus.
fn system(give: &str) -> String {
    format!(
        "import json, sys, time, os\n\
         def say(text):\n    sys.stdout.write(text + '\\n'); sys.stdout.flush()\n\
         count = 0\n\
         def give():\n    global count\n    count += 1\n    {give}\n\
         for line in sys.stdin:\n    message = json.loads(line)\n    \
         if message.get('reset'):\n        say('{{\"ready\": true}}')\n    \
         else:\n        give()\n"
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

#[test]
fn a_system_that_never_becomes_ready_is_an_error() {
    let folder = folder();
    std::fs::write(folder.path().join("ping.aml"), support::PING).unwrap();
    let settings =
        "model = \"ping.aml\"\n[sut]\ncommand = [\"sleep\", \"60\"]\nready_within = \"300ms\"\n";
    std::fs::write(folder.path().join("ioco.toml"), settings).unwrap();
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
fn a_system_that_sends_rubbish_is_an_error_that_shows_the_line() {
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
        &test_ping(&program, "20", &["--no-shrink"]),
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

#[test]
fn a_command_that_does_not_exist_is_an_error_that_names_it() {
    let folder = folder();
    std::fs::write(folder.path().join("ping.aml"), support::PING).unwrap();
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
