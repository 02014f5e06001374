//! The protocols of the cookbook: each configuration and model, as printed, against a small server that speaks the
//! protocol, and against one that makes a mistake.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use crate::support::{Ran, folder_with, ioco, root, run};

type Reader = BufReader<TcpStream>;

/// A connection to a server: the number of the connection, what the client says, and where answers go.
type Serve = fn(&State, usize, &mut Reader, &mut TcpStream);

/// What the connections of a server share.
struct State {
    makes_a_mistake: bool,
    /// By the test, which makes two connections, and the name.
    clients: Mutex<BTreeMap<(usize, String), TcpStream>>,
}

fn serve(serve: Serve, makes_a_mistake: bool) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let state = Arc::new(State {
        makes_a_mistake,
        clients: Mutex::default(),
    });
    std::thread::spawn(move || {
        for (number, socket) in listener.incoming().flatten().enumerate() {
            let state = Arc::clone(&state);
            std::thread::spawn(move || {
                let mut answers = socket.try_clone().expect("a socket");
                serve(&state, number, &mut BufReader::new(socket), &mut answers);
            });
        }
    });
    port
}

/// A line without its end; empty at the end of the connection.
fn line(from: &mut Reader) -> Option<String> {
    let mut line = String::new();
    let read = from.read_line(&mut line).ok()?;
    (read > 0).then(|| {
        line.strip_suffix("\r\n")
            .expect("the end of a line")
            .to_owned()
    })
}

fn say(to: &mut TcpStream, text: &str) {
    let _ = to.write_all(format!("{text}\r\n").as_bytes());
}

/// The part of a chapter between this heading and the next one, and its two blocks: ioco.toml and the model.
fn printed(heading: &str) -> (String, String) {
    let chapter = std::fs::read_to_string(root().join("book/src/cookbook.md")).expect("a chapter");
    let (_, section) = chapter.split_once(heading).expect("the heading is there");
    let block = |language: &str| {
        let (_, block) = section
            .split_once(&format!("```{language}\n"))
            .expect("a block");
        block.split_once("```").expect("its end").0.to_owned()
    };
    (block("toml"), block("aml"))
}

/// Tests a server that runs already with what the book prints under the heading.
fn test(heading: &str, server: Serve, makes_a_mistake: bool) -> Ran {
    let (settings, model) = printed(heading);
    let port = serve(server, makes_a_mistake).to_string();
    // No server is started here.
    let starts = |line: &&str| line.starts_with("start = ") || line.starts_with("fresh = ");
    let settings: Vec<&str> = settings.lines().filter(|line| !starts(line)).collect();
    let settings = settings.join("\n").replace("{port}", &port);
    let name = settings.split('"').nth(1).expect("the name of the model");
    let here = folder_with(&[("ioco.toml", &settings), (name, &model)]);
    let checked = run(ioco().current_dir(here.path()).arg("check"));
    assert_eq!(checked.code, 0, "{}", checked.all());
    assert!(!checked.all().contains("warning"), "{}", checked.all());
    run(ioco()
        .current_dir(here.path())
        .args(["test", "--seed", "1", "--tests", "12", "--steps", "25"]))
}

fn is_tested(heading: &str, server: Serve) {
    let right = test(heading, server, false);
    assert_eq!(right.code, 0, "{}", right.all());
    let wrong = test(heading, server, true);
    assert_eq!(wrong.code, 1, "{}", wrong.all());
}

fn redis(state: &State, _: usize, from: &mut Reader, to: &mut TcpStream) {
    let mut kept: Option<String> = None;
    while let Some(count) = line(from) {
        let count: usize = count
            .strip_prefix('*')
            .expect("an array")
            .parse()
            .expect("a number");
        let mut words = Vec::new();
        for _ in 0..count {
            let length = line(from).expect("a length");
            let length: usize = length
                .strip_prefix('$')
                .expect("a string")
                .parse()
                .expect("a number");
            let mut bytes = vec![0; length + 2];
            from.read_exact(&mut bytes).expect("a string");
            assert!(bytes.ends_with(b"\r\n"), "{bytes:?}");
            bytes.truncate(length);
            words.push(String::from_utf8(bytes).expect("text"));
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["FLUSHALL"] => {
                kept = None;
                say(to, "+OK");
            }
            ["SET", "k", value] => {
                kept = Some((*value).to_owned());
                say(to, "+OK");
            }
            ["GET", "k"] => match &kept {
                None => say(to, "$-1"),
                Some(value) => say(to, &format!("${}\r\n{value}", value.len())),
            },
            ["INCR", "k"] => match &kept {
                None => {
                    kept = Some("1".to_owned());
                    say(to, ":1");
                }
                Some(_) if state.makes_a_mistake => say(to, ":1"),
                Some(_) => say(to, "-ERR value is not an integer or out of range"),
            },
            ["DEL", "k"] => say(to, &format!(":{}", i32::from(kept.take().is_some()))),
            other => panic!("{other:?}"),
        }
    }
}

fn ftp(state: &State, _: usize, from: &mut Reader, to: &mut TcpStream) {
    say(to, "220-A small server\r\n220 ready.");
    let mut is_inside = false;
    while let Some(command) = line(from) {
        match command.as_str() {
            "USER tester" => say(to, "331 Password?"),
            "PASS secret" => {
                is_inside = true;
                say(to, "230 Welcome.");
            }
            "PASS guess" => say(to, "530 No."),
            "PWD" if is_inside => say(to, "257 \"/\" is here."),
            "PWD" => say(to, "530 Log in first."),
            "FEAT" => say(to, "211-Features:\r\n UTF8\r\n211 End."),
            "QUIT" => {
                say(to, "221 Bye.");
                if state.makes_a_mistake {
                    // It forgets to close.
                    let _ = from.read(&mut [0]);
                }
                return;
            }
            other => panic!("{other}"),
        }
    }
}

fn irc(state: &State, number: usize, from: &mut Reader, to: &mut TcpStream) {
    let mut own = String::new();
    while let Some(command) = line(from) {
        if let Some(name) = command.strip_prefix("NICK ") {
            name.clone_into(&mut own);
        } else if command.starts_with("USER ") {
            let socket = to.try_clone().expect("a socket");
            state
                .clients
                .lock()
                .expect("whole")
                .insert((number / 2, own.clone()), socket);
            say(
                to,
                &format!(
                    ":srv 001 {own} :Welcome\r\n:srv 002 {own} :Your host\r\n:srv 422 {own} :No MOTD"
                ),
            );
        } else if let Some(token) = command.strip_prefix("PING ") {
            say(to, &format!(":srv PONG srv :{token}"));
        } else if let Some(rest) = command.strip_prefix("PRIVMSG ") {
            let (other, text) = rest.split_once(" :").expect("a text");
            let mut clients = state.clients.lock().expect("whole");
            let text = match text.split_once(':') {
                Some((_, after)) if state.makes_a_mistake => after,
                _ => text,
            };
            match clients.get_mut(&(number / 2, other.to_owned())) {
                Some(client) => say(
                    client,
                    &format!(":{own}!{own}@host PRIVMSG {other} :{text}"),
                ),
                None => say(to, &format!(":srv 401 {own} {other} :No such nick")),
            }
        } else {
            panic!("{command}");
        }
    }
}

#[test]
fn redis_as_the_cookbook_describes_it() {
    is_tested("### Redis (RESP)", redis);
}

#[test]
fn ftp_as_the_cookbook_describes_it() {
    is_tested("### FTP", ftp);
}

#[test]
fn irc_as_the_cookbook_describes_it() {
    is_tested("### IRC", irc);
}
