//! The program as a program: lines in, lines out, exit codes.

use std::io::Write;
use std::process::{Command, Output, Stdio};

fn run(arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ioco-example"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    // A program that refuses its arguments does not read.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    child.wait_with_output().expect("the program ends")
}

fn lines(arguments: &[&str], input: &str) -> String {
    let output = run(arguments, input);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn stimuli_are_answered_with_responses_and_quiescence() {
    let input = concat!(
        "{\"stimulus\":\"lock\",\"values\":{\"passcode\":1234}}\n",
        "\n",
        "{\"stimulus\":\"unlock\",\"values\":{\"passcode\":1}}\n",
        "{\"reset\":true}\n",
        "{\"stimulus\":\"open\"}\n",
    );
    assert_eq!(
        lines(&["smartdoor", "--mutant", "m04"], input),
        concat!(
            "{\"response\":\"locked\",\"values\":{}}\n{\"quiescent\":true}\n",
            "{\"response\":\"unlocked\",\"values\":{}}\n{\"quiescent\":true}\n",
            "{\"ready\":true,\"quiescent\":true}\n",
            "{\"response\":\"opened\",\"values\":{}}\n{\"quiescent\":true}\n",
        )
    );
}

#[test]
fn values_travel_both_ways_and_quiescence_can_be_left_out() {
    let input = concat!(
        "{\"stimulus\":\"Choice\",\"values\":{\"product\":\"French\"}}\n",
        "{\"stimulus\":\"Coin\",\"values\":{\"value\":2}}\n",
        "{\"stimulus\":\"Info\",\"values\":{}}\n",
    );
    assert_eq!(
        lines(&["koopman", "--no-quiescent"], input),
        "{\"response\":\"Info\",\"values\":{\"amount\":2,\"product\":\"French\"}}\n"
    );
}

#[test]
fn flat_labels_stand_for_the_same_system() {
    let input = "{\"stimulus\":\"Insert_card_valid_55\"}\n{\"stimulus\":\"Incorrect_PIN_55\"}\n";
    assert_eq!(
        lines(&["atm", "--flat", "--no-quiescent"], input),
        concat!(
            "{\"response\":\"Card_valid\",\"values\":{}}\n",
            "{\"response\":\"PIN_incorrect\",\"values\":{}}\n",
        )
    );
}

#[test]
fn what_is_not_understood_is_an_error_and_the_service_goes_on() {
    let input = concat!(
        "hello\n",
        "[]\n",
        "{\"stimulus\":\"knock\"}\n",
        "{\"stimulus\":\"lock\",\"values\":{\"passcode\":[1]}}\n",
        "{\"stimulus\":\"lock\",\"values\":{\"passcode\":1.5}}\n",
        "{\"stimulus\":\"lock\",\"values\":7}\n",
        "{\"reset\":false}\n",
        "{\"reset\":true}\n",
    );
    let output = lines(&["smartdoor"], input);
    let answers: Vec<&str> = output.lines().collect();
    assert_eq!(answers.len(), 8);
    assert!(
        answers[..7]
            .iter()
            .all(|line| line.starts_with("{\"error\":\"")),
        "{output}"
    );
    assert_eq!(answers[7], "{\"ready\":true,\"quiescent\":true}");
}

#[test]
fn bad_usage_has_exit_code_2_and_says_why() {
    for (arguments, reason) in [
        (&[][..], "which system"),
        (&["toaster"], "unknown system"),
        (&["atm", "--mutant"], "--mutant needs a value"),
        (&["atm", "--mutant", "m77"], "no mutant"),
        (&["queue", "--flat"], "no flat view"),
        (&["atm", "--after", "3"], "misbehave"),
        (&["crash", "--after", "x"], "needs a number"),
        (&["atm", "koopman"], "unexpected argument"),
        (&["atm", "--quick"], "unknown option"),
    ] {
        let output = run(arguments, "");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(text.contains(reason), "{arguments:?}: {text}");
    }
}

#[test]
fn the_list_names_every_mutant() {
    let list = lines(&["--list"], "");
    for name in ioco_examples::names() {
        assert!(list.contains(name));
        for (_, _, description) in ioco_examples::mutants(name) {
            assert!(list.contains(description));
        }
    }
    assert!(list.contains("rubbish"));
}

const PINGS: &str = concat!(
    "{\"stimulus\":\"ping\",\"values\":{\"number\":1}}\n",
    "{\"stimulus\":\"ping\",\"values\":{\"number\":2}}\n",
);

#[test]
fn a_crash_comes_with_its_stimulus() {
    let output = run(&["crash", "--after", "1"], PINGS);
    assert_eq!(output.status.code(), Some(70));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        said.contains("\"number\":1") && !said.contains("\"number\":2"),
        "{said}"
    );
}

#[test]
fn invalid_lines_are_answered_and_late_answers_come() {
    let output = run(&["rubbish", "--after", "1"], PINGS);
    assert!(String::from_utf8(output.stdout).is_err());
    let said = lines(&["late", "--after", "1", "--delay-ms", "1"], PINGS);
    assert_eq!(said.lines().count(), 2, "{said}");
}
