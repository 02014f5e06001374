//! Adapters of the plugin-adapter protocol: one in Python, with nothing of ioco in it, and the
//! SmartDoor behind it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::{
    Listening, Ran, Running, TempDir, background, example_program, folder, folder_with, ioco,
    patient, python, root, run, start,
};

/// A SmartDoor and where it listens.
fn door(mutant: Option<&str>) -> (Running, String) {
    let mut command = Command::new(example_program());
    command.args(["smartdoor", "--websocket", "127.0.0.1:0"]);
    if let Some(mutant) = mutant {
        command.args(["--mutant", mutant]);
    }
    start(&mut command)
}

fn adapter(url: &str, more: &[&str]) -> Running {
    let mut script = python("crates/cli/tests/amp/adapter.py");
    background(script.args(["-u", url]).args(more).stderr(Stdio::null()))
}

/// The model of the door, in this folder, with time-outs for a busy machine.
fn model(folder: &TempDir) -> PathBuf {
    let path = root().join("examples/smartdoor/model.aml");
    let text = std::fs::read_to_string(path).expect("the model is there");
    let path = folder.path().join("model.aml");
    std::fs::write(&path, patient(&text)).expect("written");
    path
}

/// `ioco test` of the door through `--amp`, with one adapter for each list of arguments.
fn test_through(adapters: &[&[&str]], folder: &TempDir, more: &[&str]) -> Ran {
    test_model(&model(folder), adapters, folder, more)
}

fn test_model(model: &Path, adapters: &[&[&str]], folder: &TempDir, more: &[&str]) -> Ran {
    let ioco = Listening::start(
        ioco()
            .current_dir(folder.path())
            .arg("test")
            .arg(model)
            .args(["--amp", "0", "--seed", "1"])
            .args(more),
    );
    let url = ioco.address.clone();
    let _running: Vec<Running> = adapters.iter().map(|more| adapter(&url, more)).collect();
    ioco.finish()
}

/// A failing test is followed by a time-out in which what is left of it is discarded: shrinking would
/// take long.
const BUDGET: [&str; 5] = ["--tests", "40", "--steps", "100", "--no-shrink"];

/// The line of the explanation that says what went wrong.
fn deviation(ran: &Ran) -> String {
    let line = ran.out.lines().find(|line| line.starts_with('D'));
    line.unwrap_or_default().to_owned()
}

#[test]
fn every_mutant_of_the_door_is_found_as_it_is_without_an_adapter() {
    for (mutant, ..) in ioco_examples::mutants("smartdoor") {
        let (_door, endpoint) = door(Some(mutant));
        let through = test_through(&[&["--endpoint", &endpoint]], &folder(), &BUDGET);
        assert_eq!(through.code, 1, "{mutant}: {}", through.all());
        let sut = format!(
            "{} smartdoor --mutant {mutant}",
            example_program().display()
        );
        let here = folder();
        let directly = run(ioco()
            .current_dir(here.path())
            .arg("test")
            .arg(model(&here))
            .args(["--sut", &sut, "--seed", "1"])
            .args(BUDGET));
        assert_eq!(directly.code, 1, "{mutant}: {}", directly.all());
        assert_eq!(deviation(&through), deviation(&directly), "{mutant}");
        assert!(deviation(&through).starts_with('D'), "{}", through.all());
    }
}

#[test]
fn the_right_door_passes_also_where_adapters_are_peculiar() {
    // Late: it answers for the last test after a reset. Plain: no bytes, no numbers, no
    // configuration, no labels. Inject-first: it confirms what the door has answered already.
    for behave in ["", "late", "plain", "once", "inject-first", "no-channel"] {
        let (_door, endpoint) = door(None);
        let arguments = ["--endpoint", &endpoint, "--behave", behave];
        let more = ["--tests", "6", "--strategy", "random"];
        let ran = test_through(&[&arguments], &folder(), &more);
        assert_eq!(ran.code, 0, "{behave}: {}", ran.all());
        assert!(ran.out.contains("6 passed"), "{behave}: {}", ran.all());
    }
}

/// What an adapter that misbehaves in this way comes to.
fn misbehave(behave: &str, connect_within: &str) -> Ran {
    let (_door, endpoint) = door(None);
    // One that vanishes must be seen to vanish, however slow the machine is; others are waited for in vain.
    let ready_within = if behave.starts_with("vanish") {
        "60s"
    } else {
        "3s"
    };
    let settings = format!(
        "[sut]\nready_within = \"{ready_within}\"\n[amp]\nconnect_within = \"{connect_within}\"\n"
    );
    let here = folder_with(&[("ioco.toml", &settings)]);
    let arguments = ["--endpoint", &endpoint, "--behave", behave];
    let limits = ["--tests", "4", "--steps", "10"];
    test_through(&[&arguments], &here, &limits)
}

fn expect_error(behave: &str, ran: &Ran, words: &[&str]) {
    assert_eq!(ran.code, 3, "{behave}: {}", ran.all());
    // Explanations are broken into lines.
    let text = format!("{} {}", ran.out, ran.err);
    let text: Vec<&str> = text.split_whitespace().collect();
    let text = text.join(" ");
    for words in words {
        assert!(
            text.contains(words),
            "{behave}, no '{words}': {}",
            ran.all()
        );
    }
    assert!(text.contains("hint"), "{behave}: {}", ran.all());
}

#[test]
fn an_adapter_that_never_announces_itself_is_reported() {
    let cases = [
        ("vanish-before-handshake", "no adapter has connected"),
        ("vanish-before-announcement", "no adapter has connected"),
        ("text-frame", "sent a text frame"),
        ("garbage", "is not a message of the protocol"),
        ("ready-first", "did not begin with an announcement"),
    ];
    // They are waited for in vain, which is done for all at once.
    std::thread::scope(|scope| {
        for (behave, words) in cases {
            scope.spawn(move || expect_error(behave, &misbehave(behave, "4s"), &[words]));
        }
    });
}

#[test]
fn errors_of_adapters_name_the_adapter_and_the_label() {
    let vanished = "the adapter Smartdoor@test vanished";
    let cases: [(&str, &[&str]); 12] = [
        ("vanish-before-ready", &[vanished, "before it was ready"]),
        (
            "error-before-ready",
            &["Smartdoor@test", "the door is not there"],
        ),
        ("vanish-after-ready", &[vanished, "before"]),
        (
            "vanish-before-confirmation",
            &[vanished, "before it confirmed ?"],
        ),
        ("vanish-in-a-frame", &[vanished, "before it confirmed ?"]),
        ("vanish-after-confirmation", &[vanished, "after ?"]),
        ("vanish-after-response", &[vanished, "during a test"]),
        (
            "close",
            &["Smartdoor@test closed the connection", "1001: going home"],
        ),
        ("hang-in-reset", &["Smartdoor@test was not ready within 3s"]),
        ("no-confirmation", &["Smartdoor@test did not confirm ?"]),
        (
            "big",
            &["Smartdoor@test sent a message of", "more than 16777216"],
        ),
        (
            "error",
            &[
                "Smartdoor@test reported an error during a test",
                "?",
                "the door is on fire",
            ],
        ),
    ];
    for (behave, words) in cases {
        expect_error(behave, &misbehave(behave, "30s"), words);
    }
}

#[test]
fn an_adapter_that_vanishes_while_idle_is_reported() {
    // It may be noticed at once, or when the adapter is needed; then others may come in its place.
    for behave in ["vanish-after-announcement", "vanish-after-reset"] {
        let ran = misbehave(behave, "4s");
        expect_error(behave, &ran, &[]);
        let told = ["vanished", "no adapter has connected"];
        let text = format!("{}{}", ran.out, ran.err);
        assert!(
            told.iter().any(|t| text.contains(t)),
            "{behave}: {}",
            ran.all()
        );
    }
}

#[test]
fn an_adapter_that_vanishes_while_it_is_reset_is_taken_up_again_when_it_comes_back() {
    let ran = misbehave("vanish-in-reset", "60s");
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.err.contains("vanished"), "{}", ran.all());
    assert!(ran.out.contains("4 passed"), "{}", ran.all());
}

#[test]
fn what_the_model_does_not_know_is_a_deviation() {
    let cases = [("unknown-label", "exploded"), ("wrong-type", "colour")];
    for (behave, shown) in cases {
        let (_door, endpoint) = door(None);
        let arguments = ["--endpoint", &endpoint, "--behave", behave];
        let ran = test_through(&[&arguments], &folder(), &["--tests", "4", "--no-shrink"]);
        assert_eq!(ran.code, 1, "{behave}: {}", ran.all());
        assert!(ran.out.contains(shown), "{behave}: {}", ran.all());
        let told = ran
            .err
            .lines()
            .find(|line| line.contains("adapter Smartdoor@test sent !"));
        assert!(
            told.is_some_and(|l| l.contains(shown)),
            "{behave}: {}",
            ran.all()
        );
    }
}

fn typed_model() -> PathBuf {
    root().join("crates/cli/tests/amp/typed.aml")
}

/// Tests the echo with these arguments of the adapter.
fn test_echo(settings: &str, more: &[&str]) -> Ran {
    let here = folder_with(&[("ioco.toml", settings)]);
    let echo = ["--system", "echo", "-n", "Echo@1", "--channel", "wire"];
    let adapter = [echo.as_slice(), more].concat();
    let limits = ["--tests", "4", "--steps", "20", "--no-shrink"];
    test_model(&typed_model(), &[&adapter], &here, &limits)
}

#[test]
fn values_of_every_type_go_there_and_back() {
    let thousandths = "[amp]\nunits = \"thousandths\"\n";
    for (settings, more) in [
        ("", [].as_slice()),
        ("", &["--behave", "hash"]),
        ("", &["--behave", "no-channel"]),
        // Noticed by what is announced, and said for certain.
        ("", &["--units", "thousandths"]),
        (thousandths, &["--units", "thousandths"]),
        (
            thousandths,
            &["--units", "thousandths", "--behave", "plain"],
        ),
    ] {
        let ran = test_echo(settings, more);
        assert_eq!(ran.code, 0, "{more:?}: {}", ran.all());
        assert!(ran.out.contains("4 passed"), "{more:?}: {}", ran.all());
    }
}

#[test]
fn values_that_change_on_the_way_are_found() {
    for (behave, shown) in [
        ("forget", "list"),
        ("off-by-one", "number"),
        ("string-for-integer", "\"7\""),
    ] {
        let ran = test_echo("", &["--behave", behave]);
        assert_eq!(ran.code, 1, "{behave}: {}", ran.all());
        assert!(ran.out.contains("D003"), "{behave}: {}", ran.all());
        assert!(ran.out.contains(shown), "{behave}: {}", ran.all());
    }
}

#[test]
fn moments_in_the_wrong_units_are_not_taken_for_others() {
    let ran = test_echo("[amp]\nunits = \"protocol\"\n", &["--units", "thousandths"]);
    assert_eq!(ran.code, 3, "{}", ran.all());
    assert!(ran.err.contains("reported an error"), "{}", ran.all());
}

/// One label each way on two channels.
const TWO_CHANNELS: &str = "
timeout 5
external 'left'
external 'right'
process('both') {
  channel('left') {
    stimulus 'tell_left', {'number' => :integer}
    response 'left_says', {'number' => :integer}
  }
  channel('right') {
    stimulus 'tell_right', {'number' => :integer}
    response 'right_says', {'number' => :integer}
  }
  var 'told', :integer
  state 'idle', timeout: 0.05
  repeat {
    o {
      receive 'tell_left', constraint: 'number in 1..9', update: 'told = number'
      send 'left_says', constraint: 'number == told'
    }
    o {
      receive 'tell_right', constraint: 'number in 1..9', update: 'told = number'
      send 'right_says', constraint: 'number == told'
    }
  }
}
";

fn test_both(right: &[&str], channels: &[&str]) -> Ran {
    let here = folder_with(&[("both.aml", TWO_CHANNELS)]);
    let side = |side: &str| {
        let words = [
            "--system",
            "echo",
            "--channel",
            side,
            "-n",
            side,
            "--hears",
            "tell_",
            "--says",
            "_says",
        ];
        let mut words = words.map(str::to_owned);
        words[7].push_str(side);
        words[9].insert_str(0, side);
        words.to_vec()
    };
    let (left, mut other) = (side("left"), side("right"));
    other.extend(right.iter().map(|word| (*word).to_owned()));
    let left: Vec<&str> = left.iter().map(String::as_str).collect();
    let other: Vec<&str> = other.iter().map(String::as_str).collect();
    let limits = ["--tests", "5", "--steps", "12", "--no-shrink"];
    let more = [channels, limits.as_slice()].concat();
    test_model(
        &here.path().join("both.aml"),
        &[&left, &other],
        &here,
        &more,
    )
}

#[test]
fn each_channel_has_an_adapter_of_its_own() {
    let channels = ["--adapter", "left=left", "--adapter", "right=right"];
    let right = test_both(&[], &channels);
    assert_eq!(right.code, 0, "{}", right.all());
    assert!(right.out.contains("5 passed"), "{}", right.all());
    for announced in ["adapter left announces", "adapter right announces"] {
        assert!(right.err.contains(announced), "{}", right.all());
    }
    let wrong = test_both(&["--behave", "off-by-one"], &channels);
    assert_eq!(wrong.code, 1, "{}", wrong.all());
    assert!(wrong.out.contains("!right_says"), "{}", wrong.all());
    let gone = test_both(&["--behave", "vanish-before-confirmation"], &channels);
    assert_eq!(gone.code, 3, "{}", gone.all());
    let missing = test_both(&[], &["--adapter", "left=left"]);
    assert_eq!(missing.code, 3, "{}", missing.all());
    let told = "no adapter is named for channel 'right'";
    assert!(missing.err.contains(told), "{}", missing.all());
}

#[test]
fn differences_between_announcement_and_model_are_reported() {
    let (_door, endpoint) = door(None);
    let arguments = ["--endpoint", &endpoint, "--channel", "gate"];
    let ran = test_through(&[&arguments], &folder(), &["--tests", "1", "--no-shrink"]);
    let told =
        "adapter Smartdoor@test: the model has ?open on channel 'door', the adapter on 'gate'";
    assert!(ran.err.contains(told), "{}", ran.all());
    // What it then sends on that channel is a response that the model does not have.
    assert_eq!(ran.code, 1, "{}", ran.all());
}

#[test]
fn one_of_several_adapters_is_chosen_by_name() {
    let (_one, first) = door(Some("m01"));
    let (_other, second) = door(None);
    let adapters: [&[&str]; 2] = [
        &["--endpoint", &first, "-n", "Bad@1"],
        &["--endpoint", &second, "-n", "Good@1"],
    ];
    let limits = ["--tests", "5", "--no-shrink"];
    for (name, code) in [("Good", 0), ("Bad@1", 1)] {
        let more = [&["--adapter", name], limits.as_slice()].concat();
        let ran = test_through(&adapters, &folder(), &more);
        assert_eq!(ran.code, code, "{name}: {}", ran.all());
    }
    let more = [&["--adapter", "door=Good@1"], limits.as_slice()].concat();
    let ran = test_through(&adapters, &folder(), &more);
    assert_eq!(ran.code, 0, "{}", ran.all());
}

#[test]
fn the_endpoint_can_be_configured() {
    let (_door, endpoint) = door(None);
    let typed = format!("endpoint={endpoint}");
    let typed = ["--configure", &typed];
    let for_all = format!("[amp.configuration]\nendpoint = \"{endpoint}\"\n");
    let for_one = format!("[amp.configuration.\"Smartdoor@test\"]\nendpoint = \"{endpoint}\"\n");
    let limits = ["--tests", "2"];
    for (settings, typed) in [("", typed.as_slice()), (&for_all, &[]), (&for_one, &[])] {
        let here = folder_with(&[("ioco.toml", settings)]);
        let ran = test_through(&[&[]], &here, &[typed, &limits].concat());
        assert_eq!(ran.code, 0, "{settings}: {}", ran.all());
    }
    let unknown = [
        "--configure",
        "endpoint=ws://127.0.0.1:1",
        "--configure",
        "colour=red",
    ];
    let ran = test_through(&[&[]], &folder(), &[unknown.as_slice(), &limits].concat());
    let told = "adapter Smartdoor@test has no setting 'colour'";
    assert!(ran.err.contains(told), "{}", ran.all());
}

#[test]
fn an_adapter_that_vanished_comes_back_for_the_next_run() {
    let (_door, endpoint) = door(None);
    let here = folder();
    let arguments = [
        "--endpoint",
        &endpoint,
        "--behave",
        "vanish-after-confirmation",
    ];
    let limits = ["--tests", "4", "--steps", "10"];
    let ran = test_through(&[&arguments], &here, &limits);
    assert_eq!(ran.code, 3, "{}", ran.all());
    let (_, replay) = ran.out.split_once("ioco replay ").expect("it was kept");
    let id = replay.split_whitespace().next().expect("an id");
    // Three runs: after each the adapter connects anew, as the public ones do.
    let replaying = ["replay", id, "--times", "3"];
    let ioco = Listening::start(ioco().current_dir(here.path()).args(replaying));
    let _adapter = adapter(&ioco.address, &arguments);
    let ran = ioco.finish();
    assert_eq!(ran.code, 3, "{}", ran.all());
    assert!(ran.out.contains("3 of 3 runs"), "{}", ran.all());
}

#[test]
fn a_token_is_asked_for() {
    let (_door, endpoint) = door(None);
    let settings = "[amp]\ntoken = \"sesame\"\nconnect_within = \"8s\"\n";
    let here = folder_with(&[("ioco.toml", settings)]);
    let limits = ["--tests", "2"];
    let right = ["--endpoint", &endpoint, "-t", "sesame"];
    let ran = test_through(&[&right], &here, &limits);
    assert_eq!(ran.code, 0, "{}", ran.all());
    let wrong = ["--endpoint", &endpoint, "-t", "simsalabim"];
    let ran = test_through(&[&wrong], &here, &limits);
    assert_eq!(ran.code, 3, "{}", ran.all());
    assert!(
        ran.err.contains("was refused: its token is wrong"),
        "{}",
        ran.all()
    );
}

#[test]
fn listening_to_the_network_without_a_token_is_refused() {
    let here = folder();
    let ran = run(ioco()
        .current_dir(here.path())
        .arg("test")
        .arg(model(&here))
        .args(["--amp", "0.0.0.0:0"]));
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.err.contains("IOCO_AMP_TOKEN"), "{}", ran.all());
}

#[test]
fn the_connection_can_be_encrypted() {
    let settings = "[amp]\ncertificate = \"cert.pem\"\nkey = \"key.pem\"\n";
    let here = folder_with(&[("ioco.toml", settings)]);
    let made = Command::new("openssl")
        .current_dir(here.path())
        .args([
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
        ])
        .args([
            "-keyout",
            "key.pem",
            "-out",
            "cert.pem",
            "-subj",
            "/CN=127.0.0.1",
        ])
        .args(["-addext", "subjectAltName=IP:127.0.0.1"])
        .output();
    if !made.is_ok_and(|made| made.status.success()) {
        eprintln!("skipped: openssl is not here");
        return;
    }
    let (_door, endpoint) = door(None);
    let certificate = here.path().join("cert.pem");
    let certificate = certificate.to_str().expect("text");
    let arguments = ["--endpoint", &endpoint, "--certificate", certificate];
    let ran = test_through(&[&arguments], &here, &["--tests", "2"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.err.contains("wss://"), "{}", ran.all());
}

#[test]
fn an_adapter_that_does_not_accept_our_certificate_is_no_adapter_and_says_why() {
    use rcgen::{
        BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd,
    };
    let authority = |name: &str| {
        let mut params = CertificateParams::new(Vec::new()).expect("parameters");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params
            .distinguished_name
            .push(rcgen::DnType::CommonName, name);
        let key = KeyPair::generate().expect("a key");
        CertifiedIssuer::self_signed(params, key).expect("an authority")
    };
    let (known, unknown) = (authority("known"), authority("unknown"));
    let settings =
        "[amp]\nconnect_within = \"10s\"\ncertificate = \"cert.pem\"\nkey = \"key.pem\"\n";
    for (host, expires, issuer, code, said) in [
        ("127.0.0.1", 2090, &known, 0, ""),
        ("127.0.0.1", 2020, &known, 3, "it has expired"),
        ("192.0.2.1", 2090, &known, 3, "not one for this address"),
        ("127.0.0.1", 2090, &unknown, 3, "does not know its issuer"),
    ] {
        let here = folder_with(&[("ioco.toml", settings)]);
        let mut params = CertificateParams::new([host.to_owned()]).expect("parameters");
        params.not_after = date_time_ymd(expires, 1, 1);
        let key = KeyPair::generate().expect("a key");
        let own = params.signed_by(&key, issuer).expect("a certificate");
        let known = known.pem();
        let files = [
            ("cert.pem", own.pem()),
            ("key.pem", key.serialize_pem()),
            ("known.pem", known),
        ];
        for (name, text) in files {
            std::fs::write(here.path().join(name), text).expect("written");
        }
        let (_door, endpoint) = door(None);
        let trusted = here.path().join("known.pem");
        let trusted = trusted.to_str().expect("text");
        let arguments = ["--endpoint", &endpoint, "--certificate", trusted];
        let ran = test_through(&[&arguments], &here, &["--tests", "2"]);
        assert_eq!(ran.code, code, "{said}: {}", ran.all());
        let words = "it does not accept the certificate in [amp] of ioco.toml";
        assert_eq!(ran.err.contains(words), code == 3, "{}", ran.all());
        assert!(ran.err.contains(said), "{said}: {}", ran.all());
    }
}

#[test]
fn who_is_connected_is_listed() {
    let here = folder();
    let ioco = Listening::start(
        ioco()
            .current_dir(here.path())
            .arg("adapters")
            .arg(model(&here))
            .args(["--amp", "0", "--wait", "2s", "--format", "json"]),
    );
    let _adapter = adapter(&ioco.address, &[]);
    let Ran { code, out, .. } = ioco.finish();
    let listed: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let adapter = &listed["adapters"][0];
    assert_eq!(adapter["name"], "Smartdoor@test", "{out}");
    assert_eq!(
        adapter["configuration"][0]["default"],
        "ws://localhost:3001"
    );
    assert_eq!(adapter["labels"].as_array().map(Vec::len), Some(12));
    assert!(adapter.get("differences").is_none(), "{out}");
    assert_eq!(code, 0, "{out}");
}

#[test]
fn the_name_of_an_adapter_controls_no_terminal() {
    const NAME: &str = "Good\u{1b}[33m\u{1b}]0;x\u{7}\u{1b}[2J\u{202e}@1";
    let (_door, endpoint) = door(None);
    let here = folder();
    let path = model(&here);
    let with_adapter = |arguments: &[&str]| {
        let mut command = ioco();
        // As a terminal would get it: nothing is left out because it is none.
        command.env_remove("NO_COLOR").env("CLICOLOR_FORCE", "1");
        command.current_dir(here.path()).args(arguments).arg(&path);
        let ioco = Listening::start(command.args(["--amp", "0"]));
        let _adapter = adapter(&ioco.address, &["--endpoint", &endpoint, "-n", NAME]);
        let ran = ioco.finish();
        for text in [&ran.out, &ran.err] {
            // The first is a colour that ioco uses too.
            for command in ["Good\u{1b}", "\u{1b}]", "\u{7}", "\u{1b}[2J", "\u{202e}"] {
                assert!(!text.contains(command), "{command:?} in {text:?}");
            }
        }
        ran
    };
    // It has no such setting: a warning names it.
    let ran = with_adapter(&[
        "test",
        "--tests",
        "1",
        "--steps",
        "2",
        "--configure",
        "colour=red",
    ]);
    assert!(ran.err.contains("Good"), "{}", ran.all());
    // The list has those who came within the time; on a busy machine that takes longer.
    let is_listed = ["2s", "20s", "60s"].iter().any(|wait| {
        let ran = with_adapter(&["adapters", "--wait", wait]);
        ran.out.contains("Good")
    });
    assert!(is_listed);
}
