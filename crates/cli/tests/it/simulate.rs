//! `ioco simulate`: a model played as a system, tested against the same model.

use std::fs;
use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};

use crate::support::{Ran, TempDir, folder_with, ioco, root, run};

const SHOP: &str = "
timeout 5
external 'shop'
process('shop') {
  channel('shop') {
    stimulus 'order', {'count' => :integer}
    responses 'paid', 'refused'
    response 'shipped', {'count' => :integer}
  }
  var 'wanted', :integer, 0
  state 'idle'
  repeat {
    o {
      receive 'order', constraint: 'count > 0 && count < 10', update: 'wanted = count'
      choice {
        o { send 'refused' }
        o { send 'paid'; send 'shipped', constraint: 'count == wanted' }
      }
    }
  }
}
";

fn shop(settings: &str) -> TempDir {
    folder_with(&[("shop.aml", SHOP), ("ioco.toml", settings)])
}

fn program() -> &'static str {
    env!("CARGO_BIN_EXE_ioco")
}

/// Tests what `ioco simulate` plays with these flags.
fn test(folder: &TempDir, flags: &str) -> Ran {
    let sut = format!("exec '{}' simulate shop.aml {flags}", program());
    run(ioco()
        .current_dir(folder.path())
        .args(["test", "shop.aml", "--sut", &sut, "--seed", "3"])
        .args(["--tests", "20", "--steps", "12", "--no-shrink"])
        .args(["--strategy", "random"]))
}

/// A variable that is not set, and a set that cannot take such a value.
const NOTES: &str = "
timeout 5
external 'notes'
process('notes') {
  channel('notes') {
    stimulus 'put', {'at' => integer(0..3), 'note' => integer(0..9)}
    response 'done'
  }
  var 'latest', [:integer], [1, 2, 3]
  var 'all', set(:integer), [1]
  var 'author', :string
  state 'open'
  repeat {
    o {
      receive 'put', constraint: 'at < latest.length', update: 'latest[at] = note; all = all.add(note)'
      send 'done'
    }
  }
}
";

#[test]
fn values_that_auto_only_tries_give_no_warning() {
    let folder = folder_with(&[("notes.aml", NOTES)]);
    let sut = format!("exec '{}' simulate notes.aml", program());
    let ran = run(ioco()
        .current_dir(folder.path())
        .args(["test", "notes.aml", "--sut", &sut, "--seed", "1"])
        .args(["--tests", "1", "--steps", "30", "--strategy", "auto"]));
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(!ran.err.contains("not enabled"), "{}", ran.all());
}

#[test]
fn a_model_that_is_played_conforms_to_itself() {
    let folder = shop("");
    let ran = test(&folder, "--seed 5");
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.all().contains("20 tests (20 passed"), "{}", ran.all());
}

#[test]
fn faults_that_are_asked_for_are_found() {
    for (fault, code, exit) in [
        ("drop", "D002", 1),
        ("ignore", "D002", 1),
        ("duplicate", "D001", 1),
        ("value", "D003", 1),
        ("end=0.5", "E004", 3),
    ] {
        let folder = shop("");
        let ran = test(&folder, &format!("--fault {fault}"));
        assert_eq!(ran.code, exit, "{fault}: {}", ran.all());
        assert!(ran.all().contains(code), "{fault}: {}", ran.all());
    }
    let folder = shop("");
    for (wrong, why) in [("lose=1", "no fault 'lose'"), ("drop=2", "from 0 to 1")] {
        let ran = run(ioco()
            .current_dir(folder.path())
            .args(["simulate", "shop.aml", "--fault", wrong]));
        assert_eq!(ran.code, 2, "{}", ran.all());
        assert!(ran.err.contains(why), "{}", ran.all());
    }
}

/// What it says to these lines.
fn says(folder: &TempDir, seed: &str, lines: &str) -> Ran {
    let mut command = Command::new(program());
    command
        .current_dir(folder.path())
        .args(["simulate", "shop.aml", "--fault", "drop=0.3"])
        .args(["--seed", seed])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(lines.as_bytes()).expect("written");
    drop(input);
    let output = child.wait_with_output().expect("its end");
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

#[test]
fn the_same_seed_and_the_same_messages_give_the_same_answers() {
    let folder = shop("");
    let orders = "{\"stimulus\":\"order\",\"values\":{\"count\":3}}\n".repeat(40);
    let lines = format!("{{\"reset\":true}}\n{orders}");
    let first = says(&folder, "7", &lines);
    assert_eq!(first.code, 0, "{}", first.all());
    assert!(
        first
            .out
            .contains("{\"response\":\"shipped\",\"values\":{\"count\":3}}")
    );
    assert_eq!(first.out, says(&folder, "7", &lines).out);
    assert_ne!(first.out, says(&folder, "8", &lines).out);
}

#[test]
fn what_is_no_stimulus_of_the_model_is_answered_with_an_error() {
    let folder = shop("");
    let ran = says(
        &folder,
        "1",
        "nonsense\u{1b}]52;c;x\u{7}\n{\"stimulus\":\"beg\"}\n{\"reset\":true}\n",
    );
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert_eq!(ran.out.matches("\"error\"").count(), 2, "{}", ran.out);
    assert!(ran.out.contains("{\"ready\":true}"), "{}", ran.out);
    assert!(!ran.err.contains('\u{1b}'), "{:?}", ran.err);
}

#[test]
fn messages_that_ioco_toml_describes_are_played_over_tcp() {
    let settings = format!(
        r#"
model = "shop.aml"
[sut]
start = "exec '{}' simulate --listen 127.0.0.1:{{port}} --seed 4"
tcp = "127.0.0.1:{{port}}"
[lines]
banner = "hello"
[lines.frame]
length = "u16"
[lines.stimuli]
order = "ORDER {{count:u8}}"
[lines.responses]
paid = "PAID"
refused = "REFUSED"
shipped = "SHIPPED {{count:u8}}"
"#,
        program()
    );
    let folder = shop(&settings);
    let test = |more: &[&str]| {
        run(ioco()
            .current_dir(folder.path())
            .args([
                "test",
                "--tests",
                "3",
                "--steps",
                "6",
                "--seed",
                "1",
                "--timeout",
                "1s",
            ])
            .args(["--no-shrink"])
            .args(more))
    };
    let ran = test(&[]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    let wrong = settings.replace("--seed 4", "--seed 4 --fault value");
    fs::write(folder.path().join("ioco.toml"), wrong).expect("written");
    let ran = test(&[]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.all().contains("D003"), "{}", ran.all());
    // Where a regular expression reads a message, one that it matches is sent.
    let regex = settings
        .replace("paid = \"PAID\"", "paid = { regex = \"PAID [a-z]+\" }")
        .replace(
            "\"SHIPPED {count:u8}\"",
            "{ regex = 'S\\w* (?<count>\\d+)' }",
        )
        .replace("banner = \"hello\"", "banner = { regex = \"hello .+\" }");
    assert_eq!(regex.matches("regex").count(), 3, "{regex}");
    fs::write(folder.path().join("ioco.toml"), &regex).expect("written");
    let ran = test(&[]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    let wrong = regex.replace("--seed 4", "--seed 4 --fault value");
    fs::write(folder.path().join("ioco.toml"), wrong).expect("written");
    let ran = test(&[]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.all().contains("D003"), "{}", ran.all());
    // What nothing can match, and what nobody can recognise, is refused at once.
    for (old, new, why) in [
        (
            "\"hello .+\"",
            "'hello\\b\\B'",
            "[lines] banner: no message was found",
        ),
        (
            "\"ORDER {count:u8}\"",
            "[\"ORDER\", { action = \"close\" }, { action = \"connect\" }, \"{count:u8}\"]",
            "?order has an action between its messages",
        ),
    ] {
        let refused = regex.replace(old, new);
        assert_ne!(refused, regex);
        fs::write(folder.path().join("ioco.toml"), refused).expect("written");
        let ran = run(ioco()
            .current_dir(folder.path())
            .arg("simulate")
            .stdin(Stdio::null()));
        assert_eq!(ran.code, 2, "{}", ran.all());
        assert!(ran.err.contains(why), "{}", ran.all());
    }
}

#[test]
fn the_two_smart_doors_differ_at_the_third_incorrect_passcode() {
    let folder = shop("");
    let door = |name: &str| root().join("examples/smartdoor").join(name);
    let test = |model: &str, played: &str| {
        let sut = format!("exec '{}' simulate '{}'", program(), door(played).display());
        run(ioco()
            .current_dir(folder.path())
            .arg("test")
            .arg(door(model))
            .args(["--sut", &sut, "--seed", "1", "--no-shrink"]))
    };
    let ran = test("public.aml", "public.aml");
    assert_eq!(ran.code, 0, "{}", ran.all());
    let ran = test("public.aml", "model.aml");
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(
        ran.all()
            .contains("D001 unexpected response: the SmartDoor sent !shut_off"),
        "{}",
        ran.all()
    );
    let ran = test("model.aml", "public.aml");
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(
        ran.all().contains("sent !incorrect_passcode"),
        "{}",
        ran.all()
    );
}

#[test]
fn an_unspecified_stimulus_is_not_called_silence() {
    let model = "timeout 0.2\nexternal 'c'\ninternal 'wire'\nprocess('p') {\n  \
                 channel('wire') { response 'tell', {'v' => :integer} }\n  \
                 state 'S'\n  send 'tell', constraint: 'v > 0'\n}\n\
                 process('q') {\n  channel('wire') { stimulus 'tell', {'v' => :integer} }\n  \
                 channel('c') { response 'done', {'v' => :integer} }\n  var 'kept', :integer, 0\n  \
                 state 'S'\n  receive 'tell', update: 'kept = v'\n  send 'done', constraint: 'v == kept'\n}\n";
    let folder = folder_with(&[("m.aml", model), ("input", "{\"reset\":true}\n")]);
    let input = fs::File::open(folder.path().join("input")).expect("input");
    let ran = run(ioco()
        .current_dir(folder.path())
        .args(["simulate", "m.aml"])
        .stdin(input));
    assert_eq!(ran.code, 0, "{}", ran.all());
    // Some values of the hand-shake are known, so that silence before `done` is not.
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines.len(), 3, "{}", ran.all());
    assert!(lines[1].contains("\"done\""), "{}", ran.all());
    assert!(lines[2].contains("quiescent"), "{}", ran.all());
}

#[test]
fn responses_go_out_before_the_next_is_chosen() {
    // The client leaves after the first response of a model that never stops.
    let model = "timeout 5\nexternal 'c'\nprocess('p') {\n  channel('c') { response 'tick', {'n' => integer(0..9)} }\n  \
                 state 'S'\n  repeat { o { send 'tick', constraint: 'n != 3' } }\n}\n";
    let folder = folder_with(&[("m.aml", model)]);
    let mut child = ioco()
        .current_dir(folder.path())
        .args(["simulate", "m.aml"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("started");
    let mut input = child.stdin.take().expect("input");
    input.write_all(b"{\"reset\":true}\n").expect("written");
    let mut output = child.stdout.take().expect("output");
    let mut first = [0; 64];
    let mut read = 0;
    while !first[..read].windows(6).any(|part| part == b"\"tick\"") {
        read += output.read(&mut first[read..]).expect("readable");
    }
    let before = first[..read].iter().filter(|byte| **byte == b'\n').count();
    assert!(before <= 2, "{}", String::from_utf8_lossy(&first[..read]));
    drop((input, output));
    child.wait().expect("it ends");
}

/// The shop of `examples/http`, played with these flags instead of the real one.
fn http_shop(flags: &str) -> TempDir {
    let example = root().join("examples/http");
    let read = |name: &str| fs::read_to_string(example.join(name)).expect(name);
    let start = format!(
        "[sut]\nstart = \"exec '{}' simulate --listen 127.0.0.1:{{port}} {flags}\"\n\
         http = \"http://127.0.0.1:{{port}}\"",
        program()
    );
    let settings = read("ioco.toml").replace("[sut]\nhttp = \"http://127.0.0.1:8000\"", &start);
    assert!(settings.contains("simulate"), "{settings}");
    folder_with(&[("model.aml", &read("model.aml")), ("ioco.toml", &settings)])
}

fn test_here(folder: &TempDir) -> Ran {
    run(ioco()
        .current_dir(folder.path())
        .args(["test", "--tests", "4", "--steps", "12", "--seed", "2"])
        .args(["--timeout", "1s", "--no-shrink"]))
}

#[test]
fn a_service_over_http_is_played_with_its_answers_and_events() {
    let ran = test_here(&http_shop(""));
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.all().contains("4 tests (4 passed"), "{}", ran.all());
    for (fault, code, exit) in [
        // A wrong id is one that the model allows, until it is used.
        ("value", "D00", 1),
        ("drop", "D002", 1),
        ("ignore", "D002", 1),
        ("end", "", 3),
    ] {
        let ran = test_here(&http_shop(&format!("--fault {fault}")));
        assert_eq!(ran.code, exit, "{fault}: {}", ran.all());
        assert!(ran.all().contains(code), "{fault}: {}", ran.all());
    }
    // There is no HTTP on standard input.
    let folder = http_shop("");
    let ran = run(ioco().current_dir(folder.path()).arg("simulate"));
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.err.contains("--listen"), "{}", ran.all());
}

/// Two clients that connect, talk and leave; each hears how many there are.
const ROOM: &str = "
timeout 5
external 'a'
external 'b'
def client(c, n, m)
  choice {
    o { receive \"#{c}.enter\", constraint: \"!on[#{n}]\", update: \"on[#{n}] = true\"; send \"#{c}.hello\" }
    o { receive \"#{c}.who\", constraint: \"on[#{n}]\"; send \"#{c}.here\", constraint: \"count == (if on[#{m}] then 2 else 1)\" }
    o { receive \"#{c}.quit\", constraint: \"on[#{n}]\", update: \"on[#{n}] = false\"; send \"#{c}.bye\"; send \"#{c}.closed\" }
    o { receive \"#{c}.vanish\", constraint: \"on[#{n}]\", update: \"on[#{n}] = false\" }
  }
end
process('room') {
  channel('a') { stimuli 'enter', 'who', 'quit', 'vanish'; responses 'hello', 'bye', 'closed'; response 'here', {'count' => :integer} }
  channel('b') { stimuli 'enter', 'who', 'quit', 'vanish'; responses 'hello', 'bye', 'closed'; response 'here', {'count' => :integer} }
  var 'on', [:boolean], [false, false]
  state 'idle', timeout: 0.1
  choice {
    o { client('a', 0, 1) }
    o { client('b', 1, 0) }
  }
  goto 'idle'
}
";

/// Two ports that nobody uses.
fn two_ports() -> [u16; 2] {
    let free = || std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let both = [free(), free()];
    both.map(|listener| listener.local_addr().expect("an address").port())
}

#[test]
fn clients_of_several_channels_reach_one_played_system() {
    let play = |fault: &str| {
        let [a, b] = two_ports();
        let settings = format!(
            r#"
model = "room.aml"
[sut]
start = "exec '{}' simulate --listen a=127.0.0.1:{a} --listen b=127.0.0.1:{b} {fault}"
ready_log = "playing b"
fresh = "run"
[lines.channels]
a = "127.0.0.1:{a}"
b = "127.0.0.1:{b}"
[lines.stimuli]
enter = [{{ action = "connect" }}, "HELLO"]
who = "WHO"
quit = "QUIT"
vanish = {{ action = "close" }}
[lines.responses]
hello = "WELCOME"
here = "HERE {{count}}"
bye = "BYE"
closed = {{ event = "closed" }}
"#,
            program()
        );
        test_here(&folder_with(&[
            ("room.aml", ROOM),
            ("ioco.toml", &settings),
        ]))
    };
    let ran = play("");
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.all().contains("4 tests (4 passed"), "{}", ran.all());
    let ran = play("--fault value");
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.all().contains("D003"), "{}", ran.all());
}

#[test]
fn a_model_is_played_as_an_adapter() {
    let folder = shop("");
    for (fault, code) in [(&[][..], 0), (&["--fault", "value"], 1)] {
        let [port, _] = two_ports();
        let mut adapter = Command::new(program())
            .current_dir(folder.path())
            .args(["simulate", "shop.aml", "--clients", "1", "--amp"])
            .arg(format!("ws://127.0.0.1:{port}/adapters"))
            .args(fault)
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let ran = run(ioco()
            .current_dir(folder.path())
            .args(["test", "shop.aml", "--amp", &port.to_string()])
            .args([
                "--tests",
                "4",
                "--steps",
                "12",
                "--seed",
                "3",
                "--no-shrink",
            ]));
        assert_eq!(ran.code, code, "{}", ran.all());
        // No label is missing on either side.
        for missing in ["does not announce", "the model does not have"] {
            assert!(!ran.all().contains(missing), "{}", ran.all());
        }
        assert!(adapter.wait().expect("it ends").success());
    }
}

/// An example of `examples/real` whose model, or another one of its folder, is played in place of the public system.
fn real(name: &str, model: &str, fault: &str) -> Ran {
    let example = root().join("examples/real").join(name);
    let read = |file: &str| fs::read_to_string(example.join(file)).expect(file);
    let settings = read("ioco.toml");
    // Profiles are of other systems.
    let settings = settings.split("\n[profile.").next().expect("a beginning");
    let is_of_system = |line: &&str| {
        ["before", "start", "after"]
            .iter()
            .any(|key| line.starts_with(key))
    };
    let settings: Vec<&str> = settings
        .lines()
        .filter(|line| !is_of_system(line))
        .collect();
    let settings = settings
        .join("\n")
        .replace("\"model.aml\"", &format!("{model:?}"));
    let (listen, settings) = if settings.contains("[lines.channels]") {
        let [a, b] = two_ports();
        let settings = settings
            .replace(
                "a = \"127.0.0.1:{port}\"",
                &format!("a = \"127.0.0.1:{a}\""),
            )
            .replace(
                "b = \"127.0.0.1:{port}\"",
                &format!("b = \"127.0.0.1:{b}\""),
            );
        let settings = settings.replace("[sut]", "[sut]\nready_log = \"playing b\"");
        (
            format!("a=127.0.0.1:{a} --listen b=127.0.0.1:{b}"),
            settings,
        )
    } else {
        ("127.0.0.1:{port}".to_owned(), settings)
    };
    let start = format!(
        "[sut]\nstart = \"exec '{}' simulate --listen {listen} --seed 2 {fault}\"",
        program()
    );
    let settings = settings.replace("[sut]", &start);
    let folder = folder_with(&[(model, &read(model)), ("ioco.toml", &settings)]);
    run(ioco()
        .current_dir(folder.path())
        .args(["test", "--tests", "10", "--steps", "40", "--seed", "1"])
        .args(["--no-shrink", "--failures", "1"]))
}

#[test]
fn the_models_of_public_systems_are_played_as_those_systems() {
    for (name, model) in [
        ("json-server", "model.aml"),
        ("memcached", "first.aml"),
        ("memcached", "model.aml"),
        ("smtp", "model.aml"),
        ("mqtt", "model.aml"),
    ] {
        let ran = real(name, model, "");
        assert_eq!(ran.code, 0, "{name}/{model}: {}", ran.all());
        assert!(ran.out.starts_with("PASS"), "{name}/{model}: {}", ran.all());
        assert!(
            !ran.all().contains("not understood"),
            "{name}/{model}: {}",
            ran.all()
        );
        let ran = real(name, model, "--fault value=0.2");
        assert_eq!(ran.code, 1, "{name}/{model}: {}", ran.all());
        let is_found = ["D001", "D002", "D003"]
            .iter()
            .any(|code| ran.all().contains(code));
        assert!(is_found, "{name}/{model}: {}", ran.all());
    }
}
