//! Recording the traffic of others, and judging what was recorded.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use crate::connections::{serve_lines, serve_ping};
use crate::support::{
    Listening, PING, Ran, TempDir, example, folder_with, ioco, python, run, start,
};

fn check(folder: &TempDir, model: &str) -> Ran {
    let arguments = ["check", model, "--trace", "trace.jsonl"];
    run(ioco().current_dir(folder.path()).args(arguments))
}

#[test]
fn recorded_traffic_is_judged_like_a_test() {
    let here = folder_with(&[("ping.aml", PING)]);
    let check = |trace: &str| {
        std::fs::write(here.path().join("trace.jsonl"), trace).expect("written");
        check(&here, "ping.aml")
    };
    let good =
        "{\"reset\":true}\n{\"at\":0,\"stimulus\":\"ping\"}\n{\"at\":9,\"response\":\"pong\"}\n";
    assert_eq!(check(good).code, 0, "{}", check(good).all());
    let twice = format!("{good}{{\"at\":12,\"response\":\"pong\"}}\n");
    let ran = check(&twice);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.out.contains("D001"), "{}", ran.all());
    let silent = "{\"at\":0,\"stimulus\":\"ping\"}\n{\"at\":20000000000,\"end\":true}\n";
    let ran = check(silent);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.out.contains("D002"), "{}", ran.all());
    // Two pings at once: the second pong may answer either, in any order on the wire.
    let pipelined = "{\"at\":0,\"stimulus\":\"ping\"}\n{\"at\":1,\"response\":\"pong\"}\n\
                     {\"at\":2,\"stimulus\":\"ping\"}\n{\"at\":5,\"response\":\"pong\"}\n";
    assert_eq!(check(pipelined).code, 0, "{}", check(pipelined).all());
    // What the client did is not described: nothing after it proves anything.
    let undescribed = format!("{good}{{\"undescribed\":\"PUT /x\"}}\n{{\"response\":\"pong\"}}\n");
    let ran = check(&undescribed);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.out.contains("PUT /x"), "{}", ran.all());
    let wrong = check("{\"stimulus\":\"kick\"}\n");
    assert_eq!(wrong.code, 2, "{}", wrong.all());
    assert!(wrong.err.contains("line 1"), "{}", wrong.all());
}

#[test]
fn recorded_traffic_is_judged_with_the_solver_that_is_named() {
    // The two factors are prime: whether they exist is too hard for the embedded solver.
    let model = "external 'factory'
process('factory') {
  channel('factory') {
    stimulus 'go'
    response 'made', {'n' => integer(2..9_000_000), 'm' => integer(2..9_000_000)}
  }
  state 'Start'
  receive 'go'
  send 'made', constraint: 'n * m == 1000036000099'
  goto 'Start'
}
";
    // It says of everything that it cannot be.
    let solver = "import sys\nfor line in sys.stdin:\n    \
                  if 'check-sat' in line: print('unsat', flush=True)\n";
    let silent = "{\"reset\":true}\n{\"at\":0,\"stimulus\":\"go\"}\n\
                  {\"at\":20000000000,\"end\":true}\n";
    let here = folder_with(&[
        ("model.aml", model),
        ("trace.jsonl", silent),
        ("solver.py", solver),
    ]);
    let checked = check(&here, "model.aml");
    assert!(checked.out.contains("I005"), "{}", checked.all());
    let arguments = ["check", "model.aml", "--trace", "trace.jsonl", "--solver"];
    let with = |solver: &str| {
        let mut ioco = ioco();
        run(ioco.current_dir(here.path()).args(arguments).arg(solver))
    };
    let checked = with("python3 solver.py");
    assert_eq!(checked.code, 0, "{}", checked.all());
    assert!(checked.out.contains("PASS"), "{}", checked.all());
    let missing = with("no-such-solver");
    assert_eq!(missing.code, 2, "{}", missing.all());
    let settings = here.path().join("ioco.toml");
    std::fs::write(settings, "[test]\nsolver = \"python3 solver.py\"\n").expect("written");
    let checked = check(&here, "model.aml");
    assert!(checked.out.contains("PASS"), "{}", checked.all());
    // It is said once what ioco.toml starts.
    assert!(
        checked.err.contains("starts the solver"),
        "{}",
        checked.all()
    );
    assert!(!check(&here, "model.aml").err.contains("starts the solver"));
}

#[test]
fn recorded_traffic_is_judged_by_the_relation_of_the_project() {
    // After ?a the stimulus ?b is accepted by one of two states: uioco says nothing about what follows.
    let model = "des (0,4,4)\n(0,\"?a\",1)\n(0,\"?a\",2)\n(1,\"?b\",3)\n(3,\"!x\",3)\n";
    let trace = "{\"reset\":true}\n{\"at\":0,\"stimulus\":\"a\"}\n\
                 {\"at\":20000000000,\"stimulus\":\"b\"}\n{\"at\":20000000001,\"end\":true}\n\
                 {\"reset\":true}\n{\"at\":0,\"stimulus\":\"a\"}\n\
                 {\"at\":20000000000,\"stimulus\":\"b\"}\n{\"at\":40000000000,\"end\":true}\n";
    let here = folder_with(&[("model.aut", model), ("trace.jsonl", trace)]);
    let checked = check(&here, "model.aut");
    assert_eq!(checked.code, 1, "{}", checked.all());
    let settings = here.path().join("ioco.toml");
    std::fs::write(settings, "[test]\nrelation = \"uioco\"\n").expect("written");
    let checked = check(&here, "model.aut");
    assert_eq!(checked.code, 0, "{}", checked.all());
}

/// Records while `ioco test` plays the client with these arguments and the recorder's address.
fn record(folder: &TempDir, model: &str, to: &str, client: &[&str]) -> Ran {
    let recorder = Listening::start(
        ioco()
            .current_dir(folder.path())
            .args(["record", model, "--listen", "127.0.0.1:0", "--to", to])
            .args(["-o", "trace.jsonl"]),
    );
    let tested = run(ioco()
        .current_dir(folder.path())
        .args(["test", model, "--seed", "1"])
        .args(client)
        .arg(&recorder.address));
    recorder.interrupt();
    let recorded = recorder.finish();
    assert_eq!(recorded.code, 0, "{}", recorded.all());
    tested
}

fn trace(folder: &TempDir) -> String {
    std::fs::read_to_string(folder.path().join("trace.jsonl")).expect("a trace")
}

#[test]
fn traffic_in_the_line_protocol_is_recorded() {
    let here = folder_with(&[("ping.aml", PING)]);
    let listener = TcpListener::bind("127.0.0.1:0").expect("listens");
    let system = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            serve_ping(&socket);
        }
    });
    let client = ["--tests", "3", "--steps", "4", "--tcp"];
    let tested = record(&here, "ping.aml", &system, &client);
    assert_eq!(tested.code, 0, "{}", tested.all());
    let trace = trace(&here);
    assert!(trace.matches("\"pong\"").count() >= 3, "{trace}");
    // Connecting and the reset that follows it begin one trace.
    assert!(
        !trace.contains("{\"reset\":true}\n{\"reset\":true}"),
        "{trace}"
    );
    let checked = check(&here, "ping.aml");
    assert_eq!(checked.code, 0, "{}\n{trace}", checked.all());
    assert!(
        checked.out.contains("3 traces (3 conform"),
        "{}",
        checked.all()
    );
}

#[test]
fn claims_of_silence_are_recorded_and_judged() {
    let here = folder_with(&[("ping.aml", PING)]);
    let answers = |answer: &'static str| {
        serve_lines(move |line| match line.contains("reset") {
            true => "{\"ready\":true,\"quiescent\":true}".to_owned(),
            false => answer.to_owned(),
        })
    };
    let client = ["--tests", "2", "--steps", "4", "--tcp"];
    let right = answers("{\"response\":\"pong\"}\n{\"quiescent\":true}");
    let tested = record(&here, "ping.aml", &right, &client);
    assert_eq!(tested.code, 0, "{}", tested.all());
    let recorded = trace(&here);
    let claims = recorded.matches("\"quiescent\":true").count();
    // One after each reset, and one after each answer.
    let expected = recorded.matches("\"ready\"").count() + recorded.matches("\"pong\"").count();
    assert_eq!(claims, expected, "{recorded}");
    let checked = check(&here, "ping.aml");
    assert_eq!(checked.code, 0, "{}\n{recorded}", checked.all());
    // It claims to be silent where an answer is due: nobody has to wait for that.
    let mute = answers("{\"quiescent\":true}");
    let tested = record(&here, "ping.aml", &mute, &["--no-shrink", "--tcp"]);
    assert_eq!(tested.code, 1, "{}", tested.all());
    let checked = check(&here, "ping.aml");
    assert_eq!(checked.code, 1, "{}\n{}", checked.all(), trace(&here));
    assert!(checked.out.contains("D002"), "{}", checked.all());
}

#[test]
fn traffic_in_lines_of_its_own_is_recorded() {
    let lines = "model = \"ping.aml\"\n[lines]\nreset = \"RESET\"\nready = \"OK\"\n\
                 [lines.stimuli]\nping = \"PING\"\n[lines.responses]\npong = \"PONG\"\n";
    for (answer, code) in [("PONG", 0), ("QUACK", 1)] {
        let here = folder_with(&[("ping.aml", PING), ("ioco.toml", lines)]);
        let system = serve_lines(move |line| match line {
            "RESET" => "OK".to_owned(),
            _ => answer.to_owned(),
        });
        let client = ["--tests", "3", "--steps", "4", "--no-shrink", "--tcp"];
        // A typed model does not bring ioco.toml with it; the folder does.
        let tested = record(&here, ".", &system, &client);
        assert_eq!(tested.code, code, "{answer}: {}", tested.all());
        let checked = check(&here, ".");
        assert_eq!(checked.code, code, "{}\n{}", checked.all(), trace(&here));
    }
}

/// The lines of an explanation that say what is wrong and why.
fn verdict(ran: &Ran) -> Vec<&str> {
    let is_verdict = |line: &&str| line.starts_with('D') || line.starts_with("  expected");
    ran.out.lines().filter(is_verdict).collect()
}

fn record_shop(bug: &[&str]) -> (TempDir, Ran) {
    let (_shop, url) = start(python("examples/http/shop.py").arg("0").args(bug));
    let here = example("http");
    let client = [
        "--no-shrink",
        "--tests",
        "30",
        "--strategy",
        "random",
        "--http",
    ];
    let tested = record(&here, ".", &url, &client);
    (here, tested)
}

#[test]
fn traffic_over_http_is_recorded_and_conforms() {
    let (here, tested) = record_shop(&[]);
    assert_eq!(tested.code, 0, "{}", tested.all());
    let trace = trace(&here);
    for words in [
        "\"order\"",
        "\"ordered\"",
        "\"paid\"",
        "\"cancel\"",
        "\"conflict\"",
    ] {
        assert!(trace.contains(words), "no {words} in {trace}");
    }
    let checked = check(&here, ".");
    assert_eq!(checked.code, 0, "{}\n{trace}", checked.all());
    assert!(
        checked.out.contains("30 traces (30 conform"),
        "{}",
        checked.all()
    );
}

#[test]
fn a_deviation_over_http_is_found_in_the_recording_with_the_same_explanation() {
    let (here, tested) = record_shop(&["--bug"]);
    assert_eq!(tested.code, 1, "{}", tested.all());
    let checked = check(&here, ".");
    assert_eq!(checked.code, 1, "{}\n{}", checked.all(), trace(&here));
    assert_eq!(verdict(&checked), verdict(&tested), "{}", checked.all());
    assert!(verdict(&checked).len() >= 2, "{}", checked.all());
}

/// Asks as a client would; the status of the answer.
fn ask(address: &str, request: &str, body: &str) -> String {
    let address = address.trim_start_matches("http://");
    let mut socket = TcpStream::connect(address).expect("the recorder listens");
    let length = body.len();
    let request = format!("{request} HTTP/1.1\r\nContent-Length: {length}\r\n\r\n{body}");
    socket.write_all(request.as_bytes()).expect("written");
    let mut answer = String::new();
    socket.read_to_string(&mut answer).expect("read");
    answer.split(' ').nth(1).unwrap_or_default().to_owned()
}

#[test]
fn what_cannot_be_read_or_is_not_described_proves_nothing() {
    // Whatever it is asked, its answer is packed.
    let system = TcpListener::bind("127.0.0.1:0").expect("listens");
    let url = format!("http://{}", system.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for mut socket in system.incoming().flatten() {
            let mut head = BufReader::new(socket.try_clone().expect("a socket"));
            let mut line = String::from("-");
            while !line.trim().is_empty() {
                line.clear();
                head.read_line(&mut line).expect("a line");
            }
            let answer =
                "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n???";
            let _ = socket.write_all(answer.as_bytes());
        }
    });
    for (request, body, told) in [
        ("POST /orders", "{\"amount\":7}", "packed with gzip"),
        ("PATCH /orders", "", "PATCH /orders"),
        ("POST /orders/first/payment", "", "first"),
        ("GET /", "", ""),
    ] {
        let here = example("http");
        let recorder = Listening::start(
            ioco()
                .current_dir(here.path())
                .args(["record", "--listen", "127.0.0.1:0", "--to", &url])
                .args(["-o", "trace.jsonl"]),
        );
        assert_eq!(ask(&recorder.address, request, body), "200", "{request}");
        recorder.interrupt();
        assert_eq!(recorder.finish().code, 0, "{request}");
        let checked = check(&here, ".");
        assert_eq!(checked.code, 0, "{request}: {}", checked.all());
        assert!(checked.out.contains(told), "{request}: {}", checked.all());
        let recorded = trace(&here).contains("undescribed");
        assert_eq!(recorded, !told.is_empty(), "{request}: {}", trace(&here));
    }
}

#[test]
fn a_recorder_that_cannot_pass_on_says_so() {
    let here = example("http");
    let record = |more: &[&str]| {
        run(ioco()
            .current_dir(here.path())
            .args(["record", "--listen", "127.0.0.1:0", "-o", "trace.jsonl"])
            .args(more))
    };
    let encrypted = record(&["--to", "https://127.0.0.1:1"]);
    assert_eq!(encrypted.code, 3, "{}", encrypted.all());
    assert!(encrypted.err.contains("encrypted"), "{}", encrypted.all());
    std::fs::write(here.path().join("ioco.toml"), "model = \"model.aml\"\n").expect("written");
    let unmapped = record(&["--to", "http://127.0.0.1:1"]);
    assert_eq!(unmapped.code, 2, "{}", unmapped.all());
    assert!(unmapped.err.contains("[http]"), "{}", unmapped.all());
}
