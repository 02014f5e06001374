//! Processes that behave, and every way not to: each gives an observation or an error, in bounded
//! time, and the connection can be used again.

use std::sync::Arc;
use std::time::Duration;

use ioco_adapters::{AdapterError, Arrival, Connection, Process, ProcessOptions, ResetBy};
use ioco_sts::{Action, Direction, Label, Parameter, Sts, StsBuilder, Type, Value};

const MILLISECOND: u64 = 1_000_000;

/// `?ping(n)`, `!pong(n)`, `!count(n)`.
fn model() -> Arc<Sts> {
    let mut builder = StsBuilder::new("ping");
    for (name, direction) in [
        ("ping", Direction::Stimulus),
        ("pong", Direction::Response),
        ("count", Direction::Response),
    ] {
        builder.label(Label {
            name: name.to_owned(),
            channel: "wire".to_owned(),
            direction,
            parameters: vec![Parameter {
                name: "n".to_owned(),
                ty: Type::INTEGER,
            }],
        });
    }
    Arc::new(builder.build())
}

fn ping(sts: &Sts) -> Action {
    Action {
        label: sts.label_named(Direction::Stimulus, "ping").unwrap(),
        values: vec![Value::Int(7)],
    }
}

fn response(sts: &Sts, name: &str, value: impl Into<Option<i64>>) -> Arrival {
    Arrival::Response(Action {
        label: sts.label_named(Direction::Response, name).unwrap(),
        values: vec![value.into().map_or(Value::Void, Value::Int)],
    })
}

/// A system that answers resets and does `on_ping`, written in shell, for each stimulus.
fn script(on_ping: &str) -> String {
    format!(
        r#"while read -r line; do
             case "$line" in
               *reset*) echo '{{"ready":true}}';;
               *) {on_ping};;
             esac
           done"#
    )
}

const PONG: &str = r#"echo '{"response":"pong","values":{}}'"#;

struct Fixture {
    sts: Arc<Sts>,
    process: Process,
}

impl Fixture {
    fn new(command: &str) -> Fixture {
        Fixture::with(ProcessOptions::shell(command))
    }

    /// Not patient at all.
    fn hasty(command: &str) -> Fixture {
        let mut options = ProcessOptions::shell(command);
        options.patience = Duration::from_secs(3);
        Fixture::with(options)
    }

    fn with(options: ProcessOptions) -> Fixture {
        let sts = model();
        let process = Process::new(Arc::clone(&sts), options);
        Fixture { sts, process }
    }

    fn give(&mut self) -> Result<bool, AdapterError> {
        let stimulus = ping(&self.sts);
        self.process.give(&stimulus)
    }

    fn wait(&mut self, milliseconds: u64) -> Result<Arrival, AdapterError> {
        let until = self.process.now() + milliseconds * MILLISECOND;
        self.process.wait(until).map(|arrived| arrived.what)
    }

    /// Resets, gives one stimulus and waits long for what comes.
    fn first_answer(&mut self) -> Result<Arrival, AdapterError> {
        self.process.reset()?;
        self.give()?;
        self.wait(5000)
    }
}

#[test]
fn a_system_is_reset_stimulated_and_observed() {
    let mut system = Fixture::new(&script(PONG));
    for _ in 0..3 {
        let pong = response(&system.sts, "pong", None);
        assert_eq!(system.first_answer(), Ok(pong));
        assert_eq!(system.wait(20), Ok(Arrival::Silence));
        assert_eq!(system.process.poll(), Ok(None));
    }
}

#[test]
fn the_bytes_of_both_directions_are_there_for_the_record() {
    let mut system = Fixture::new(&script(PONG));
    system.process.reset().unwrap();
    system.give().unwrap();
    let sent = String::from_utf8(system.process.sent().to_vec()).unwrap();
    assert_eq!(sent, "{\"stimulus\":\"ping\",\"values\":{\"n\":7}}\n");
    let until = system.process.now() + 5000 * MILLISECOND;
    let arrived = system.process.wait(until).unwrap();
    assert_eq!(arrived.raw, br#"{"response":"pong","values":{}}"#);
}

#[test]
fn a_crash_is_an_error_with_status_and_last_output_and_the_next_reset_starts_a_new_process() {
    let mut system = Fixture::new(&script("echo 'out of paper' >&2; exit 3"));
    for _ in 0..2 {
        let error = system.first_answer().unwrap_err();
        assert!(error.message.contains("exit status: 3"), "{error:?}");
        assert!(error.message.contains("out of paper"), "{error:?}");
        assert!(system.process.poll().is_err());
    }
}

#[test]
fn what_was_sent_before_a_crash_is_observed_first() {
    let mut system = Fixture::new(&script(&format!("{PONG}; exit 1")));
    let pong = response(&system.sts, "pong", None);
    assert_eq!(system.first_answer(), Ok(pong));
    let error = system.wait(5000).unwrap_err();
    assert!(error.message.contains("exit status: 1"), "{error:?}");
}

#[test]
fn a_killed_system_names_the_signal() {
    let mut system = Fixture::new(&script("kill -9 $$"));
    let error = system.first_answer().unwrap_err();
    assert!(error.message.contains("SIGKILL"), "{error:?}");
}

#[test]
fn a_system_that_died_between_two_tests_is_not_restarted_in_silence() {
    let mut system = Fixture::new(&script(&format!("{PONG}; exit 4")));
    assert!(system.first_answer().is_ok());
    let error = system.process.reset().unwrap_err();
    assert!(error.message.contains("exit status: 4"), "{error:?}");
    assert_eq!(system.process.reset(), Ok(()));
}

#[test]
fn a_missing_command_is_an_error() {
    let mut shell = Fixture::new("no-such-program-anywhere");
    let error = shell.process.reset().unwrap_err();
    assert!(error.message.contains("not found"), "{error:?}");
    let mut direct = Fixture::with(ProcessOptions::new("no-such-program-anywhere", &[]));
    let error = direct.process.reset().unwrap_err();
    assert!(error.message.contains("could not be started"), "{error:?}");
}

#[test]
fn a_reset_without_an_answer_is_an_error() {
    let mut deaf = Fixture::hasty("while read -r line; do :; done");
    let error = deaf.process.reset().unwrap_err();
    assert!(
        error.message.contains("did not answer the reset"),
        "{error:?}"
    );
    // A fresh process, which does the same.
    assert!(deaf.process.reset().is_err());
    let mut hanging = Fixture::hasty("sleep 1000");
    assert!(hanging.process.reset().is_err());
}

#[test]
fn a_system_that_says_nothing_is_silent() {
    let mut system = Fixture::new(&script(":"));
    system.process.reset().unwrap();
    system.give().unwrap();
    assert_eq!(system.wait(30), Ok(Arrival::Silence));
}

#[test]
fn a_late_answer_is_observed_after_the_silence() {
    let mut system = Fixture::new(&script(&format!("sleep 2; {PONG}")));
    system.process.reset().unwrap();
    system.give().unwrap();
    assert_eq!(system.wait(20), Ok(Arrival::Silence));
    let pong = response(&system.sts, "pong", None);
    assert_eq!(system.wait(5000), Ok(pong));
}

#[test]
fn a_flood_is_observed_piece_by_piece_and_discarded_by_a_reset() {
    let flood = r#"i=0; while [ $i -lt 20000 ]; do echo '{"response":"pong","values":{"n":1}}'; i=$((i+1)); done"#;
    let mut system = Fixture::new(&script(flood));
    system.process.reset().unwrap();
    system.give().unwrap();
    let pong = response(&system.sts, "pong", 1);
    for _ in 0..1000 {
        assert_eq!(system.wait(5000), Ok(pong.clone()));
    }
    system.give().unwrap();
    assert_eq!(system.wait(5000), Ok(pong));
    assert_eq!(system.process.reset(), Ok(()));
    assert_eq!(system.wait(20), Ok(Arrival::Silence));
}

#[test]
fn an_endless_flood_ends_at_the_next_reset() {
    let flood = format!("yes '{}'", r#"{"response":"pong","values":{}}"#);
    let mut system = Fixture::hasty(&script(&flood));
    let pong = response(&system.sts, "pong", None);
    assert_eq!(system.first_answer(), Ok(pong.clone()));
    let error = system.process.reset().unwrap_err();
    assert!(
        error.message.contains("did not answer the reset"),
        "{error:?}"
    );
    assert_eq!(system.first_answer(), Ok(pong));
}

#[test]
fn endless_blank_lines_do_not_hold_up_a_wait() {
    let mut system = Fixture::hasty(&script("yes ''"));
    system.process.reset().unwrap();
    system.give().unwrap();
    assert_eq!(system.wait(50), Ok(Arrival::Silence));
    assert_eq!(system.process.poll(), Ok(None));
}

#[test]
fn an_invalid_line_is_an_error_that_shows_the_line() {
    for rubbish in [
        "Starting up...",
        "[1,2]",
        "17",
        r#"{"hello":1}"#,
        r#"{"ready":1}"#,
    ] {
        let mut system = Fixture::new(&script(&format!("echo '{rubbish}'")));
        let error = system.first_answer().unwrap_err();
        assert!(error.message.contains(rubbish), "{error:?}");
        assert!(error.hint.unwrap().contains("standard error"));
    }
}

#[test]
fn bytes_that_are_not_utf8_are_an_error() {
    let mut system = Fixture::new(&script(r#"printf '{"response":"\377\376"}\n'"#));
    let error = system.first_answer().unwrap_err();
    assert!(error.message.contains("not of the protocol"), "{error:?}");
}

#[test]
fn a_response_outside_the_model_is_an_observation() {
    for (line, shown) in [
        (r#"{"response":"boom"}"#, "boom"),
        (r#"{"response":"ping","values":{}}"#, "ping"),
        (
            r#"{"response":"boom","values":{"x":[1,2]}}"#,
            "boom(x=[1,2])",
        ),
        (
            r#"{"response":"pong","values":{"n":"seven"}}"#,
            "pong(n=\"seven\") (n: \"seven\" is not :integer)",
        ),
        (
            r#"{"response":"pong","values":{"m":7}}"#,
            "pong(m=7) (the model knows no \"m\" here)",
        ),
    ] {
        let mut system = Fixture::new(&script(&format!("echo '{line}'")));
        assert_eq!(
            system.first_answer(),
            Ok(Arrival::Unknown(shown.to_owned()))
        );
    }
}

#[test]
fn the_last_line_needs_no_newline() {
    let mut system = Fixture::new(&script(
        r#"printf '{"response":"pong","values":{}}'; exit 0"#,
    ));
    let pong = response(&system.sts, "pong", None);
    assert_eq!(system.first_answer(), Ok(pong));
    let error = system.wait(5000).unwrap_err();
    assert!(error.message.contains("exit status: 0"), "{error:?}");
}

#[test]
fn a_long_line_is_read_and_an_endless_one_is_an_error() {
    let long = r#"printf '{"response":"boom","values":{"x":"'; head -c 3000000 /dev/zero | tr '\0' x; echo '"}}'"#;
    let mut system = Fixture::new(&script(long));
    match system.first_answer() {
        Ok(Arrival::Unknown(text)) => assert!(text.starts_with("boom(x=\"xxx"), "{text}"),
        other => panic!("{other:?}"),
    }
    let mut system = Fixture::new(&script("cat /dev/zero"));
    let error = system.first_answer().unwrap_err();
    assert!(error.message.contains("--limit message=N"), "{error:?}");
}

#[test]
fn a_closed_output_is_an_error_although_the_system_keeps_running() {
    let mut system = Fixture::new(&script("exec >&-; sleep 1000"));
    let error = system.first_answer().unwrap_err();
    assert!(error.message.contains("goes on running"), "{error:?}");
}

#[test]
fn a_system_that_never_reads_is_an_error_once_its_input_is_full() {
    let mut system = Fixture::hasty(r#"read -r line; echo '{"ready":true}'; sleep 1000"#);
    system.process.reset().unwrap();
    let error = (0..100_000).find_map(|_| system.give().err()).unwrap();
    assert!(error.message.contains("did not read"), "{error:?}");
}

#[test]
fn a_full_standard_error_does_not_block_the_system() {
    let chatty = format!("head -c 300000 /dev/zero | tr '\\0' x >&2; {PONG}");
    let mut system = Fixture::new(&script(&chatty));
    let pong = response(&system.sts, "pong", None);
    assert_eq!(system.first_answer(), Ok(pong.clone()));
    system.give().unwrap();
    assert_eq!(system.wait(5000), Ok(pong));
}

#[test]
fn an_error_line_is_an_error_with_its_text() {
    let mut system = Fixture::new(&script(r#"echo '{"error":"no such door"}'"#));
    let error = system.first_answer().unwrap_err();
    assert!(error.message.contains("no such door"), "{error:?}");
}

#[test]
fn a_system_without_reset_is_started_anew() {
    let counting = r#"while read -r line; do
        n=$((n+1)); echo "{\"response\":\"count\",\"values\":{\"n\":$n}}"; done"#;
    let announcing = format!(r#"echo '{{"ready":true}}'; {counting}"#);
    for (command, reset) in [
        (announcing.as_str(), ResetBy::Restarting),
        (counting, ResetBy::RestartingAfter(Duration::ZERO)),
    ] {
        let mut options = ProcessOptions::shell(command);
        options.reset = reset;
        let mut system = Fixture::with(options);
        for _ in 0..2 {
            let one = response(&system.sts, "count", 1);
            assert_eq!(system.first_answer(), Ok(one));
            let two = response(&system.sts, "count", 2);
            system.give().unwrap();
            assert_eq!(system.wait(5000), Ok(two));
        }
    }
}

#[test]
fn a_claim_of_quiescence_saves_the_wait() {
    let silent = script(r#"echo '{"quiescent":true}'"#);
    let also_ready = silent.replace(r#""ready":true"#, r#""ready":true,"quiescent":true"#);
    for command in [silent, also_ready] {
        let mut system = Fixture::new(&command);
        for _ in 0..2 {
            system.process.reset().unwrap();
            for _ in 0..3 {
                system.give().unwrap();
                assert_eq!(system.wait(60_000), Ok(Arrival::Quiescent));
            }
        }
    }
}

#[test]
fn a_claim_from_before_the_stimulus_is_not_believed() {
    // Says so after each reset too, in a line of its own, and needs a moment to answer.
    let system = r#"while read -r line; do
        case "$line" in
          *reset*) echo '{"ready":true}';;
          *) sleep 0.1; echo '{"response":"pong"}';;
        esac; echo '{"quiescent":true}'; done"#;
    let mut system = Fixture::new(system);
    let pong = response(&system.sts, "pong", None);
    system.process.reset().unwrap();
    assert_eq!(system.wait(60_000), Ok(Arrival::Quiescent));
    for _ in 0..3 {
        assert_eq!(system.first_answer(), Ok(pong.clone()));
        system.give().unwrap();
        assert_eq!(system.wait(5000), Ok(pong.clone()));
        assert_eq!(system.wait(60_000), Ok(Arrival::Quiescent));
    }
}

#[test]
fn a_claim_that_the_system_breaks_holds_no_longer() {
    let hasty = format!(r#"echo '{{"quiescent":true}}'; sleep 0.1; {PONG}"#);
    let mut system = Fixture::new(&script(&hasty));
    assert_eq!(system.first_answer(), Ok(Arrival::Quiescent));
    let answer = loop {
        match system.wait(20).unwrap() {
            Arrival::Quiescent => std::thread::sleep(Duration::from_millis(5)),
            other => break other,
        }
    };
    assert_eq!(answer, response(&system.sts, "pong", None));
    assert_eq!(system.wait(20), Ok(Arrival::Silence));
}

#[test]
fn announced_labels_that_differ_from_the_model_are_warnings() {
    let announcing = format!(
        r#"echo '{{"labels":["?ping","!pong","!bang"]}}'; {}"#,
        script(PONG)
    );
    let mut system = Fixture::new(&announcing);
    assert!(system.first_answer().is_ok());
    assert_eq!(
        system.process.take_warnings(),
        [
            "the model has !count, which the adapter does not announce",
            "the adapter announces !bang, which the model does not have",
        ]
    );
}

#[test]
fn everything_that_the_system_started_ends_with_the_connection() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("alive");
    let command = format!(
        "(while sleep 0.01; do echo x >> '{}'; done) & {}",
        file.display(),
        script(PONG)
    );
    let mut system = Fixture::new(&command);
    assert!(system.first_answer().is_ok());
    while !file.exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(system);
    let size = || std::fs::metadata(&file).unwrap().len();
    let before = size();
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(size(), before);
}

/// A wait that is over at once leaves lines unread. They are whole: nobody forgot a newline.
#[test]
fn lines_that_are_still_to_be_read_are_not_called_unfinished() {
    let says =
        r#"printf '{"quiescent":true}\n{"quiescent":true}\n{"response":"pong","values":{}}\n'"#;
    let mut system = Fixture::new(&script(says));
    system.process.reset().unwrap();
    let ping = ping(&system.sts);
    system.process.give(&ping).unwrap();
    for _ in 0..100 {
        if matches!(system.process.wait(0).unwrap().what, Arrival::Response(_)) {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(system.process.take_warnings(), Vec::<String>::new());
}

/// A line that comes in two halves is a whole line; the tester asks for what is missing in slices of its wait.
#[test]
fn half_a_line_is_reported_only_where_silence_is_concluded() {
    let says = r#"printf '{"resp'; read -r line; printf 'onse":"pong"}\n'"#;
    let mut system = Fixture::new(&script(says));
    for concludes in [false, true] {
        system.process.reset().unwrap();
        system.give().unwrap();
        // Half of it is here some time; the end of a slice of the wait says nothing.
        for _ in 0..10 {
            assert_eq!(system.wait(20), Ok(Arrival::Silence));
        }
        let mut warnings = system.process.take_warnings();
        assert_eq!(warnings, Vec::<String>::new());
        if concludes {
            for _ in 0..250 {
                system.process.catch_up().unwrap();
                warnings.extend(system.process.take_warnings());
                if !warnings.is_empty() {
                    break;
                }
                assert_eq!(system.wait(20), Ok(Arrival::Silence));
            }
            let warning = warnings.join("\n");
            assert!(warning.contains("without a newline"), "{warning}");
        }
        system.give().unwrap();
        let pong = response(&system.sts, "pong", None);
        assert_eq!(system.wait(5000), Ok(pong));
        assert_eq!(system.process.take_warnings(), Vec::<String>::new());
    }
}

/// What comes before the end of the wait is found by looking once more.
#[test]
fn catching_up_loses_nothing() {
    let mut system = Fixture::new(&script(PONG));
    system.process.reset().unwrap();
    system.give().unwrap();
    let pong = response(&system.sts, "pong", None);
    let came = loop {
        system.process.catch_up().unwrap();
        if let Some(arrived) = system.process.poll().unwrap() {
            break arrived.what;
        }
    };
    assert_eq!(came, pong);
    assert_eq!(system.wait(20), Ok(Arrival::Silence));
}
