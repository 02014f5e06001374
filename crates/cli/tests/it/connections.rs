//! HTTP, TCP and lines of text: each with a real system.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};

use crate::support::{Listening, PING, Ran, example, folder_with, ioco, python, run, start};

fn test_shop(bug: &[&str]) -> Ran {
    let (_shop, url) = start(python("examples/http/shop.py").arg("0").args(bug));
    let here = example("http");
    run(ioco()
        .current_dir(here.path())
        .args(["test", "--http", &url, "--no-shrink"]))
}

#[test]
fn a_service_is_tested_over_http_by_configuration_alone() {
    let right = test_shop(&[]);
    assert_eq!(right.code, 0, "{}", right.all());
    let wrong = test_shop(&["--bug"]);
    assert_eq!(wrong.code, 1, "{}", wrong.all());
    assert!(wrong.out.contains("?cancel"), "{}", wrong.all());
}

#[test]
fn a_service_that_is_not_there_is_an_error() {
    let here = example("http");
    let ran = run(ioco()
        .current_dir(here.path())
        .args(["test", "--http", "http://127.0.0.1:1"]));
    assert_eq!(ran.code, 3, "{}", ran.all());
    assert!(ran.err.contains("http://127.0.0.1:1"), "{}", ran.all());
}

#[test]
fn a_mapping_that_does_not_fit_the_model_is_an_error() {
    let here = example("http");
    let path = here.path().join("ioco.toml");
    let text = std::fs::read_to_string(&path).expect("read");
    std::fs::write(&path, text.replace("{id}/payment", "{number}/payment")).expect("written");
    let ran = run(ioco().current_dir(here.path()).arg("test"));
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(
        ran.err.contains("?pay has no parameter 'number'"),
        "{}",
        ran.all()
    );
}

fn test_queue(bug: &[&str]) -> Ran {
    let (_queue, ports) = start(python("examples/tcp/queue.py").args(["0", "0"]).args(bug));
    let (inlet, outlet) = ports.split_once(' ').expect("two ports");
    let here = example("tcp");
    let path = here.path().join("ioco.toml");
    let text = std::fs::read_to_string(&path).expect("read");
    let text = text.replace("7001", inlet).replace("7002", outlet);
    std::fs::write(&path, text).expect("written");
    let test = ["test", "--no-shrink"];
    run(ioco().current_dir(here.path()).args(test))
}

#[test]
fn a_system_with_lines_of_its_own_is_tested_on_one_socket_for_each_channel() {
    let right = test_queue(&[]);
    assert_eq!(right.code, 0, "{}", right.all());
    let wrong = test_queue(&["--bug"]);
    assert_eq!(wrong.code, 1, "{}", wrong.all());
}

#[test]
fn an_address_that_cannot_be_right_is_wrong_usage() {
    let here = folder_with(&[("ping.aml", PING)]);
    for address in ["nonsense", "localhost:", "localhost:99999", ":80"] {
        let ran = run(ioco()
            .current_dir(here.path())
            .args(["test", "ping.aml", "--tcp", address]));
        assert_eq!(ran.code, 2, "{address}: {}", ran.all());
        assert!(ran.err.contains("HOST:PORT"), "{address}: {}", ran.all());
    }
}

/// `ioco test` that listens; `serve` plays the system that connects to it.
fn test_listening(folder: &tempfile::TempDir, model: &str, serve: fn(&TcpStream)) -> Ran {
    let ioco = Listening::start(
        ioco()
            .current_dir(folder.path())
            .args(["test", model, "--tcp-listen", "127.0.0.1:0"])
            .args(["--tests", "3", "--steps", "4", "--seed", "1"]),
    );
    let socket = TcpStream::connect(&ioco.address).expect("ioco listens");
    let serving = std::thread::spawn(move || serve(&socket));
    let ran = ioco.finish();
    serving.join().expect("served");
    ran
}

#[test]
fn the_system_may_connect_to_us() {
    let here = folder_with(&[("ping.aml", PING)]);
    let ran = test_listening(&here, "ping.aml", serve_ping);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.out.contains("3 passed"), "{}", ran.all());
}

/// A system that listens and answers every line with a line; its address.
pub fn serve_lines(answer: impl Fn(&str) -> String + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("listens");
    let address = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            answer_lines(&socket, &answer);
        }
    });
    address
}

fn answer_lines(mut socket: &TcpStream, answer: &dyn Fn(&str) -> String) {
    for line in BufReader::new(socket).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line);
        if socket.write_all((answer(&line) + "\n").as_bytes()).is_err() {
            return;
        }
    }
}

#[test]
fn a_system_that_listens_is_tested_over_tcp() {
    for (answer, code, words) in [
        (
            "{\"response\":\"pong\"}\n{\"quiescent\":true}",
            0,
            "3 passed",
        ),
        ("{\"response\":\"quack\"}\n{\"quiescent\":true}", 1, "D001"),
        ("{\"nonsense\":1}", 3, "nonsense"),
        ("Segmentation fault", 3, "Segmentation fault"),
    ] {
        let here = folder_with(&[("ping.aml", PING)]);
        let address = serve_lines(move |line| match line.contains("reset") {
            true => "{\"ready\":true}".to_owned(),
            false => answer.to_owned(),
        });
        let ran = run(ioco()
            .current_dir(here.path())
            .args(["test", "ping.aml", "--tcp", &address])
            .args(["--tests", "3", "--steps", "4", "--seed", "1"]));
        assert_eq!(ran.code, code, "{answer}: {}", ran.all());
        let text = format!("{}{}", ran.out, ran.err);
        assert!(text.contains(words), "{answer}: {}", ran.all());
    }
}

#[test]
fn a_connection_that_breaks_off_is_an_error_with_the_steps_that_led_there() {
    let here = folder_with(&[("ping.aml", PING)]);
    let listener = TcpListener::bind("127.0.0.1:0").expect("listens");
    let address = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        for mut socket in listener.incoming().flatten() {
            // The reset, and one ping that is never answered.
            let mut lines = BufReader::new(socket.try_clone().expect("a socket")).lines();
            lines.next();
            let _ = socket.write_all(b"{\"ready\":true}\n");
            lines.next();
        }
    });
    let test = ["test", "ping.aml", "--tcp", &address, "--seed", "1"];
    let ran = run(ioco().current_dir(here.path()).args(test));
    assert_eq!(ran.code, 3, "{}", ran.all());
    for words in [
        "E004",
        "closed the connection",
        "?ping",
        "ioco replay",
        "ioco shrink",
    ] {
        assert!(ran.out.contains(words), "no {words} in {}", ran.all());
    }
}

/// One model with two channels, as lines on one socket.
const TWO_CHANNELS: &str = "
timeout 5
external 'in'
external 'out'
process('counter') {
  channel('in') {
    stimulus 'add', {'number' => :integer}
  }
  channel('out') {
    response 'sum', {'number' => :integer}
  }
  var 'total', :integer, 0
  state 'idle', timeout: 0.05
  repeat {
    o {
      receive 'add', constraint: 'number in 1..9 && total < 50', update: 'total += number'
      send 'sum', constraint: 'number == total'
    }
  }
}
";

const TWO_CHANNELS_AS_LINES: &str = "model = \"counter.aml\"
[lines]
reset = \"AGAIN\"
ready = \"AGAIN\"
end = \"\\r\\n\"
[lines.stimuli]
add = \"+{number}\"
[lines.responses]
sum = \"= {number}.\"
";

/// Adds up what it gets; `forgets` is a number that it does not add.
fn count(forgets: i64) -> impl Fn(&str) -> String + Send {
    let total = std::sync::Mutex::new(0);
    move |line| {
        let mut total = total.lock().expect("not poisoned");
        let line = line.strip_suffix('\r').expect("a carriage return");
        if line == "AGAIN" {
            *total = 0;
            return "AGAIN\r".to_owned();
        }
        let number: i64 = line[1..].parse().expect("a number");
        *total += if number == forgets { 0 } else { number };
        format!("= {total}.\r")
    }
}

#[test]
fn several_channels_share_one_socket_as_lines_of_text() {
    for (forgets, code) in [(0, 0), (9, 1)] {
        let here = folder_with(&[
            ("counter.aml", TWO_CHANNELS),
            ("ioco.toml", TWO_CHANNELS_AS_LINES),
        ]);
        let address = serve_lines(count(forgets));
        let ran = run(ioco()
            .current_dir(here.path())
            .args(["test", "--tcp", &address, "--seed", "1", "--tests", "20"])
            .arg("--no-shrink"));
        assert_eq!(ran.code, code, "{}", ran.all());
        let listening = test_listening(&here, ".", |socket| answer_lines(socket, &count(0)));
        assert_eq!(listening.code, 0, "{}", listening.all());
    }
}

pub fn serve_ping(mut socket: &TcpStream) {
    for line in BufReader::new(socket).lines().map_while(Result::ok) {
        let answer = if line.contains("reset") {
            "{\"ready\":true}\n"
        } else {
            "{\"response\":\"pong\"}\n{\"quiescent\":true}\n"
        };
        if socket.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

/// A model of work that is taken by a request and done later; nothing is answered.
const WORK: &str = "
timeout 5
external 'work'
process('worker') {
  channel('work') {
    stimulus 'work', {'number' => :integer, 'by' => :string}
    response 'done', {'number' => :integer, 'by' => :string}
  }
  var 'given', :integer
  var 'whose', :string
  state 'idle', timeout: 0.05
  repeat {
    o {
      receive 'work', constraint: 'number in 1..9 && by in [\"me\", \"you\"]',
          update: 'given = number; whose = by'
      send 'done', constraint: 'number == given && by == whose'
    }
  }
}
";

fn test_work(source: &str, more: &[&str]) -> Ran {
    let (how, mapped) = match source {
        "events" => ("events = \"/told\"", "event = \"done\""),
        _ => ("websocket = \"/told\"", "message = true"),
    };
    let settings = format!(
        "model = \"work.aml\"\n[http]\nreset = {{ path = \"/reset\" }}\n{how}\n\
         [http.stimuli.work]\nmethod = \"POST\"\npath = \"/jobs/{{number}}\"\nsilent = [202]\n\
         [http.responses.done]\n{mapped}\n"
    );
    let here = folder_with(&[("work.aml", WORK), ("ioco.toml", &settings)]);
    let script = "crates/cli/tests/systems/notifier.py";
    let (_system, url) = start(python(script).args(["0", source]).args(more));
    run(ioco()
        .current_dir(here.path())
        .args(["test", "--http", &url, "--seed", "1", "--tests", "6"])
        .args(["--steps", "12", "--no-shrink"]))
}

#[test]
fn responses_come_as_events_or_over_a_web_socket() {
    for source in ["events", "socket"] {
        let right = test_work(source, &[]);
        assert_eq!(right.code, 0, "{source}: {}", right.all());
        assert!(right.out.contains("6 passed"), "{source}: {}", right.all());
        let wrong = test_work(source, &["--bug"]);
        assert_eq!(wrong.code, 1, "{source}: {}", wrong.all());
        assert!(wrong.out.contains("D003"), "{source}: {}", wrong.all());
        assert!(wrong.out.contains("!done"), "{source}: {}", wrong.all());
    }
}

#[test]
fn a_web_socket_over_an_encrypted_connection_is_refused() {
    let settings = "model = \"work.aml\"\n[http]\nwebsocket = \"/told\"\n\
                    stimuli.work = { path = \"/jobs\" }\nresponses.done = { message = true }\n";
    let here = folder_with(&[("work.aml", WORK), ("ioco.toml", settings)]);
    let ran = run(ioco()
        .current_dir(here.path())
        .args(["test", "--http", "https://127.0.0.1:1"]));
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.err.contains("http:// only"), "{}", ran.all());
}

#[test]
fn a_service_that_dies_is_an_error_with_the_steps_that_led_there() {
    let ran = test_work("events", &["--die"]);
    assert_eq!(ran.code, 3, "{}", ran.all());
    for words in ["E004", "?work(number=7", "ioco replay"] {
        assert!(ran.out.contains(words), "no {words} in {}", ran.all());
    }
}
