//! Systems that ioco starts beside the connection to them, for every test or once for a run, and what
//! they write to their logs.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;

use crate::support::{PING, Ran, TempDir, example, folder_with, ioco, root, run};

/// A server of the line protocol: one more process in `starts`, one more line in its log.
const SERVER: &str = r#"
import json, os, socket, sys
answer = sys.argv[2] if len(sys.argv) > 2 else "pong"
with open("starts", "a") as file:
    file.write(f"{os.getpid()} {sys.argv[1]}\n")
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("listening", file=sys.stderr, flush=True)
while True:
    client, _ = server.accept()
    count = 0
    for line in client.makefile():
        if json.loads(line).get("reset"):
            count = 0
            client.sendall(b'{"ready":true}\n')
            continue
        count += 1
        print(f"ping {count} \x1b[31mred", file=sys.stderr, flush=True)
        if answer == "crash" and count == 2:
            print("out of memory", file=sys.stderr, flush=True)
            os._exit(3)
        word = "pong" if count == 1 else answer
        client.sendall(json.dumps({"response": word}).encode() + b"\n")
"#;

fn project(sut: &str) -> TempDir {
    let settings =
        format!("model = \"ping.aml\"\n[test]\ntests = 4\nsteps = 6\nseed = 1\n[sut]\n{sut}\n");
    folder_with(&[
        ("ping.aml", PING),
        ("server.py", SERVER),
        ("ioco.toml", &settings),
    ])
}

fn starts(folder: &TempDir) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(folder.path().join("starts")).unwrap_or_default();
    let words = |line: &str| {
        line.split_once(' ')
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
    };
    text.lines().filter_map(words).collect()
}

fn test(folder: &TempDir, more: &[&str]) -> Ran {
    run(ioco().current_dir(folder.path()).arg("test").args(more))
}

fn is_alive(pid: &str) -> bool {
    std::path::Path::new("/proc").join(pid).exists()
}

#[test]
fn every_test_gets_a_system_and_a_port_of_its_own_and_none_stays_behind() {
    let folder = project("start = \"python3 server.py {port}\"\ntcp = \"127.0.0.1:{port}\"");
    let ran = test(&folder, &[]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(
        ran.err.contains("starts: python3 server.py {port}"),
        "{}",
        ran.all()
    );
    let starts = starts(&folder);
    assert_eq!(starts.len(), 4, "{starts:?}");
    assert!(starts.iter().all(|(pid, _)| !is_alive(pid)), "{starts:?}");
}

#[test]
fn one_system_serves_a_whole_run_where_that_is_wanted() {
    let folder = project(
        "start = \"python3 server.py {port}\"\ntcp = \"127.0.0.1:{port}\"\nfresh = \"run\"\n\
         before = \"echo before {port} >> hooks\"\nafter = \"echo after {port} >> hooks\"",
    );
    let ran = test(&folder, &[]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    let starts = starts(&folder);
    assert_eq!(starts.len(), 1, "{starts:?}");
    let hooks = std::fs::read_to_string(folder.path().join("hooks")).expect("hooks ran");
    let port = &starts[0].1;
    assert_eq!(hooks, format!("before {port}\nafter {port}\n"));
}

#[test]
fn a_command_can_be_an_adapter_for_the_system_that_is_started() {
    let folder = project(
        "start = \"python3 server.py {port}\"\ncommand = [\"python3\", \"adapter.py\", \"{port}\"]\n\
         restart = true",
    );
    let adapter = "
import socket, sys
system = socket.create_connection(('127.0.0.1', int(sys.argv[1]))).makefile('rw')
print('{\"ready\":true}', flush=True)
for line in sys.stdin:
    system.write(line); system.flush()
    print(system.readline(), end='', flush=True)
";
    std::fs::write(folder.path().join("adapter.py"), adapter).expect("written");
    let ran = test(&folder, &[]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert_eq!(starts(&folder).len(), 4);
}

/// The shop, started at a port of its own, with a planted fault.
fn shop(change: impl Fn(String) -> String) -> TempDir {
    let folder = example("http");
    let path = folder.path().join("ioco.toml");
    let text = std::fs::read_to_string(&path).expect("read");
    let shop = root().join("examples/http/shop.py");
    let start = format!(
        "start = 'python3 {} {{port}} --bug'\nhttp = ",
        shop.display()
    );
    let text = text.replace("http = ", &start).replace(":8000", ":{port}");
    std::fs::write(&path, change(text)).expect("written");
    folder
}

#[test]
fn a_service_over_http_is_started_for_every_test() {
    let ran = test(&shop(|text| text), &["--no-shrink"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.out.contains("?cancel"), "{}", ran.all());
}

#[test]
fn what_is_started_for_every_test_needs_no_request_that_resets_it() {
    for (fresh, is_warned) in [("test", false), ("run", true)] {
        let folder = shop(|text| {
            let fresh = format!("fresh = \"{fresh}\"\nhttp = ");
            let text = text.replacen("http = ", &fresh, 1);
            text.replace("reset = { method = \"POST\", path = \"/reset\" }\n", "")
        });
        let said = test(&folder, &["--no-shrink", "--tests", "1"]).all();
        let warned = said.contains("no request resets the system between tests");
        assert_eq!(warned, is_warned, "{fresh}: {said}");
    }
}

#[test]
fn the_log_of_a_failing_test_is_shown_kept_and_reported() {
    let folder = project("start = \"python3 server.py {port} wrong\"\ntcp = \"127.0.0.1:{port}\"");
    let ran = test(&folder, &[]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.out.contains("log of the system"), "{}", ran.all());
    assert!(ran.out.contains("ms  ping 2 "), "{}", ran.all());
    assert!(!ran.out.contains("\x1b[31m"), "escaped: {}", ran.all());
    let failures = folder.path().join(".ioco/failures");
    let file = std::fs::read_dir(failures).expect("failures").next();
    let text = std::fs::read_to_string(file.expect("one").expect("read").path()).expect("text");
    let kept: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    for wire in [&kept["wire"], &kept["shrunk"]["wire"]] {
        let lines = wire.as_array().expect("lines").iter();
        let log: Vec<&str> = (lines.filter(|line| line["from"] == "log"))
            .filter_map(|line| line["text"].as_str())
            .collect();
        assert!(log.contains(&"listening"), "{log:?}");
        assert!(log.iter().any(|line| line.starts_with("ping 2")), "{log:?}");
    }
    let report = run(ioco()
        .current_dir(folder.path())
        .args(["report", "--format", "markdown"]));
    assert!(report.out.contains("ping 2"), "{}", report.all());
}

#[test]
fn standard_error_of_a_command_is_a_log_too() {
    let folder = folder_with(&[("ping.aml", PING)]);
    let program = "
import json, sys
for line in sys.stdin:
    print('got', line.strip(), file=sys.stderr, flush=True)
    say = {'ready': True} if json.loads(line).get('reset') else {'response': 'wrong'}
    print(json.dumps(say), flush=True)
";
    std::fs::write(folder.path().join("system.py"), program).expect("written");
    let ran = test(
        &folder,
        &[
            "ping.aml",
            "--sut",
            "python3 system.py",
            "--seed",
            "1",
            "--no-shrink",
        ],
    );
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(
        ran.out.contains("got {\"stimulus\":\"ping\""),
        "{}",
        ran.all()
    );
}

#[test]
fn a_crash_is_reported_with_the_status_and_the_last_output() {
    let folder = project("start = \"python3 server.py {port} crash\"\ntcp = \"127.0.0.1:{port}\"");
    let ran = test(&folder, &[]);
    assert_eq!(ran.code, 3, "{}", ran.all());
    let said = ran.all();
    assert!(said.contains("the system ended: exit status: 3"), "{said}");
    assert!(said.contains("out of memory"), "{said}");
}

#[test]
fn a_system_that_cannot_be_started_is_reported() {
    for (sut, code, words) in [
        (
            "tcp = \"127.0.0.1:{port}\"",
            2,
            "ioco does not start a system there",
        ),
        (
            "start = \"server\"\ntcp = \"127.0.0.1:{port}\"",
            2,
            "has none",
        ),
        (
            "before = \"x\"\ntcp = \"127.0.0.1:9\"",
            2,
            "there is no start",
        ),
        ("start = \" \"\ntcp = \"127.0.0.1:9\"", 2, "is empty"),
        (
            "start = \"x\"\nfresh = \"often\"\ntcp = \"127.0.0.1:9\"",
            2,
            "fresh",
        ),
        (
            "start = \"echo no such thing; exit 4 # {port}\"\ntcp = \"127.0.0.1:{port}\"",
            3,
            "no such thing",
        ),
    ] {
        let ran = test(&project(sut), &[]);
        assert_eq!(ran.code, code, "{sut}: {}", ran.all());
        assert!(ran.all().contains(words), "{sut}: {}", ran.all());
    }
}

#[test]
fn a_failure_of_a_started_system_is_replayed_by_its_name() {
    let folder = project("tcp = \"127.0.0.1:9\"");
    let start = "python3 server.py {port} wrong";
    let ran = test(&folder, &["--start", start, "--tcp", "127.0.0.1:{port}"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    let failures = folder.path().join(".ioco/failures");
    let file = std::fs::read_dir(failures).expect("failures").next();
    let name = file.expect("one").expect("read").file_name();
    let id = name.to_string_lossy().replace(".json", "");
    let again = run(ioco().current_dir(folder.path()).args(["replay", &id]));
    assert_eq!(again.code, 1, "{}", again.all());
}

/// Speaks lines of its own: greets, answers with a code, says the end and closes.
const GREETER: &str = r#"
import socket, sys
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
broken = "--broken" in sys.argv
while True:
    client, _ = server.accept()
    client.sendall(b"220 hello\r\n")
    lines = client.makefile("rb")
    for line in lines:
        if line == b"QUIT\r\n":
            client.sendall(b"221-so long\r\n221 bye\r\n")
            if not broken:
                break
        else:
            client.sendall(b"250 " + line)
    if broken:
        continue
    lines.close(); client.close()
"#;

const TALK: &str = "
timeout 10
external 'wire'
process('talk') {
  channel('wire') {
    stimulus 'say', text: :string
    stimulus 'quit'
    response 'ok', code: :integer, text: :string
    response 'bye'
    response 'closed'
  }
  var 'said', :string, ''
  state 'idle', timeout: 0.05
  repeat {
    o {
      receive 'say', constraint: 'text =~ /[a-z]{1,5}/', update: 'said = text'
      send 'ok', constraint: 'code == 250 && text == said'
    }
    o { receive 'quit'; send 'bye'; send 'closed'; stop_repetition }
  }
  state 'over', timeout: 0.05
}
";

const TALK_SETTINGS: &str = r#"model = "talk.aml"
[test]
tests = 5
steps = 12
seed = 3
[sut]
start = "python3 server.py {port}"
tcp = "127.0.0.1:{port}"
fresh = "run"
[lines]
end = "\r\n"
banner = { regex = "220 .*" }
[[lines.continued]]
when = '^\d{3}-'
until = '^\d{3} '
[lines.stimuli]
say = "SAY {text}"
quit = "QUIT"
[lines.responses]
ok = { regex = '(?<code>\d+) SAY (?<text>.*)' }
bye = "221-so long\n221 bye"
closed = { event = "closed" }
"#;

fn talk(settings: &str) -> TempDir {
    folder_with(&[
        ("talk.aml", TALK),
        ("server.py", GREETER),
        ("ioco.toml", settings),
    ])
}

#[test]
fn a_protocol_is_described_by_configuration_alone_and_its_end_is_judged() {
    let folder = talk(TALK_SETTINGS);
    let ran = test(&folder, &[]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    // A server that does not close is found.
    let broken = talk(&TALK_SETTINGS.replace("server.py {port}", "server.py {port} --broken"));
    let ran = test(&broken, &["--timeout", "400ms", "--no-shrink"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.out.contains("!closed"), "{}", ran.all());
}

#[test]
fn stimuli_are_given_by_hand_and_bytes_are_shown_both_ways() {
    let folder = talk(TALK_SETTINGS);
    let connect = [
        "connect",
        "--give",
        "say text=hi there",
        "--give",
        "quit",
        "--wait",
        "2s",
    ];
    let ran = run(ioco().current_dir(folder.path()).args(connect));
    assert_eq!(ran.code, 0, "{}", ran.all());
    for words in [
        "► ?say(text=\"hi there\")",
        r#""SAY hi there\r\n""#,
        "◄ !ok(code=250, text=\"hi there\")",
        r#""250 SAY hi there""#,
        "◄ !bye",
        "◄ !closed",
    ] {
        assert!(ran.out.contains(words), "{words}: {}", ran.all());
    }
    let wrong = run(ioco()
        .current_dir(folder.path())
        .args(["connect", "--give", "sing"]));
    assert_eq!(wrong.code, 2, "{}", wrong.all());
    assert!(wrong.err.contains("say, quit"), "{}", wrong.all());
}

#[test]
fn errors_in_lines_are_reported_with_their_line_before_anything_starts() {
    for (right, wrong, place, words) in [
        ("SAY {text}", "SAY {txt}", 17, "?say has no parameter 'txt'"),
        ("(?<code>", "(?<kode>", 20, "!ok has no parameter 'kode'"),
        ("say = ", "sing = ", 17, "the model has no ?sing"),
        (
            "until = '^\\d{3} '\n",
            "",
            13,
            "the end of the message is missing",
        ),
        ("220 .*", "220 (", 12, "is not a regular expression"),
        ("\"closed\" }", "\"shut\" }", 22, "there is no event 'shut'"),
        (
            "SAY {text}",
            "SAY {text:u8}",
            17,
            "cannot be written in this format",
        ),
    ] {
        let settings = TALK_SETTINGS.replace(right, wrong);
        assert_ne!(settings, TALK_SETTINGS);
        let folder = talk(&settings);
        for command in ["check", "test"] {
            let ran = run(ioco().current_dir(folder.path()).arg(command));
            assert_eq!(ran.code, 2, "{wrong}: {}", ran.all());
            assert!(ran.err.contains(words), "{wrong}: {}", ran.all());
            // The table of `continued` begins at its head.
            let line = format!("ioco.toml:{place}: ");
            assert!(ran.err.contains(&line), "{wrong}: {}", ran.all());
        }
    }
}

#[test]
fn a_system_that_is_silent_once_it_has_answered_costs_no_waiting() {
    // With a minute for every silence this would not end.
    let model = PING
        .replace("timeout: 0.05", "timeout: 60.0")
        .replace("timeout 10", "timeout 60");
    let folder = project(
        "start = \"python3 server.py {port}\"\ntcp = \"127.0.0.1:{port}\"\nfresh = \"run\"\n\
         silent_once_answered = true",
    );
    std::fs::write(folder.path().join("ping.aml"), model).expect("written");
    let begun = std::time::Instant::now();
    let ran = test(&folder, &["--tests", "1", "--steps", "20"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(begun.elapsed().as_secs() < 110, "{:?}", begun.elapsed());
}

#[test]
fn the_log_of_a_build_says_that_ioco_waits_until_the_system_is_ready() {
    let folder = project(
        "start = \"sh late.sh {port}\"\ntcp = \"127.0.0.1:{port}\"\nready_within = \"100s\"\nfresh = \"run\"",
    );
    let late = "while [ ! -e go ]; do sleep 0.05; done\nexec python3 server.py $1\n";
    std::fs::write(folder.path().join("late.sh"), late).expect("written");
    let mut child = ioco()
        .current_dir(folder.path())
        .args(["test", "--tests", "1"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("ioco starts");
    let mut err = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut told = String::new();
    // The system is ready once this line was written.
    while !told.contains(" s: waiting for the system to be ready, at most 100 s") {
        assert!(err.read_line(&mut told).expect("a line") > 0, "{told}");
    }
    std::fs::write(folder.path().join("go"), "").expect("written");
    err.read_to_string(&mut told).expect("text");
    assert_eq!(child.wait().expect("ioco ends").code(), Some(0), "{told}");
}
