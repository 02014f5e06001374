//! Messages described by configuration alone, against small servers in a thread: SMTP, RESP and MQTT as
//! their specifications have them, the end of connections, and several clients.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use ioco_adapters::{
    Arrival, Connection as _, Continued, Framing, Integer, LineRelay, Mapping, Pattern,
    ProcessOptions, Relay as _, Shape, SocketAction, Sockets, TextLines, read_traces,
};
use ioco_engine::Recorded;
use ioco_sts::{Action, Direction, Label, Parameter, Sts, StsBuilder, Type, Value};
use regex::bytes::Regex;

/// `?name` or `!name`, its channel, and its parameters.
type Row<'a> = (&'a str, &'a str, &'a [(&'a str, Type)]);

fn model(rows: &[Row<'_>]) -> Arc<Sts> {
    let mut builder = StsBuilder::new("model");
    for (name, channel, parameters) in rows {
        let parameters = parameters.iter().map(|(name, ty)| Parameter {
            name: (*name).to_owned(),
            ty: ty.clone(),
        });
        builder.label(Label {
            name: name[1..].to_owned(),
            channel: (*channel).to_owned(),
            direction: match &name[..1] {
                "?" => Direction::Stimulus,
                _ => Direction::Response,
            },
            parameters: parameters.collect(),
        });
    }
    Arc::new(builder.build())
}

fn action(sts: &Sts, name: &str, values: &[Value]) -> Action {
    let direction = match &name[..1] {
        "?" => Direction::Stimulus,
        _ => Direction::Response,
    };
    Action {
        label: sts.label_named(direction, &name[1..]).expect("a label"),
        values: values.to_vec(),
    }
}

fn shapes(shapes: &[(&str, Shape)]) -> BTreeMap<String, Shape> {
    let owned = shapes.iter();
    owned
        .map(|(name, shape)| ((*name).to_owned(), shape.clone()))
        .collect()
}

fn regex(text: &str) -> Shape {
    Shape::Regex {
        regex: text.to_owned(),
        formats: BTreeMap::new(),
    }
}

fn continued(when: &str, until: Option<&str>) -> Continued {
    Continued {
        when: Regex::new(when).unwrap(),
        until: until.map(|until| Regex::new(until).unwrap()),
    }
}

/// Serves clients, each in a thread.
fn serve(serve: impl Fn(TcpStream, usize) + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let serve = Arc::new(serve);
    std::thread::spawn(move || {
        for (number, socket) in listener.incoming().flatten().enumerate() {
            let serve = Arc::clone(&serve);
            std::thread::spawn(move || serve(socket, number));
        }
    });
    address
}

fn connect(sts: &Arc<Sts>, mapping: &Mapping, sockets: &Sockets) -> TextLines {
    TextLines::new(Arc::clone(sts), mapping, sockets, Duration::from_secs(60)).unwrap()
}

/// What comes next; nothing waits this long.
fn next(lines: &mut TextLines) -> Arrival {
    let until = lines.now() + 60_000_000_000;
    lines.wait(until).unwrap().what
}

#[test]
fn a_mail_server_greets_replies_in_several_lines_and_closes() {
    let address = serve(|mut socket, _| {
        socket.write_all(b"220 mail at your service\r\n").unwrap();
        for line in BufReader::new(socket.try_clone().unwrap()).lines() {
            let answer: &[u8] = match line.unwrap().as_str() {
                "EHLO me" => b"250-mail\r\n250-SIZE 9\r\n250 HELP\r\n",
                "AUTH c2VzYW1l" => b"235 2.7.0 fine\r\n",
                "DATA\u{0}" => return,
                "QUIT" => {
                    let _ = socket.write_all(b"221 bye\r\n");
                    return;
                }
                _ => b"500 what\r\n",
            };
            socket.write_all(answer).unwrap();
        }
    });
    let sts = model(&[
        ("?ehlo", "c", &[("name", Type::Str)]),
        ("?auth", "c", &[("secret", Type::Str)]),
        ("?quit", "c", &[]),
        ("!capable", "c", &[("size", Type::INTEGER)]),
        ("!reply", "c", &[("code", Type::INTEGER)]),
        ("!bye", "c", &[]),
        ("!closed", "c", &[]),
    ]);
    let mapping = Mapping {
        stimuli: shapes(&[
            ("ehlo", "EHLO {name}".into()),
            ("auth", "AUTH {secret:base64}".into()),
            ("quit", "QUIT".into()),
        ]),
        responses: shapes(&[
            ("capable", regex(r"(?s)250-.*SIZE (?<size>\d+)\r\n.*")),
            ("reply", regex(r"(?<code>\d\d\d) .*")),
            ("bye", "221 bye".into()),
            ("closed", Shape::Closed),
        ]),
        banner: Some(Pattern::regex("220 .*").unwrap()),
        framing: Framing::Delimited {
            end: b"\r\n".to_vec(),
            continued: vec![continued(r"^\d\d\d-", Some(r"^\d\d\d( |$)"))],
        },
        ..Mapping::default()
    };
    let mut lines = connect(&sts, &mapping, &Sockets::Shared(address));
    for _ in 0..2 {
        lines.reset().unwrap();
        lines.give(&action(&sts, "?ehlo", &["me".into()])).unwrap();
        assert_eq!(lines.sent(), b"EHLO me\r\n");
        let capable = action(&sts, "!capable", &[Value::Int(9)]);
        assert_eq!(next(&mut lines), Arrival::Response(capable));
        lines
            .give(&action(&sts, "?auth", &["sesame".into()]))
            .unwrap();
        let reply = action(&sts, "!reply", &[Value::Int(235)]);
        assert_eq!(next(&mut lines), Arrival::Response(reply));
        lines.give(&action(&sts, "?quit", &[])).unwrap();
        // The template that fixes more bytes wins over the expression.
        assert_eq!(
            next(&mut lines),
            Arrival::Response(action(&sts, "!bye", &[]))
        );
        assert_eq!(
            next(&mut lines),
            Arrival::Response(action(&sts, "!closed", &[]))
        );
        let until = lines.now() + 1_000_000;
        assert_eq!(lines.wait(until).unwrap().what, Arrival::Silence);
        let error = lines.give(&action(&sts, "?quit", &[])).unwrap_err();
        assert!(error.message.contains("not connected"), "{}", error.message);
    }
}

#[test]
fn redis_is_described_by_lengths_and_counts() {
    let address = serve(|mut socket, _| {
        let mut bytes = [0; 1000];
        let count = socket.read(&mut bytes).unwrap();
        assert_eq!(&bytes[..count], b"*2\r\n$3\r\nGET\r\n$4\r\na\r\nb\r\n");
        for part in [&b"$4\r\nx\r"[..], b"\ny\r\n*2\r\n$1\r\na\r\n:7\r\n$-1\r\n"] {
            socket.write_all(part).unwrap();
            socket.flush().unwrap();
        }
        let _ = socket.read(&mut bytes);
    });
    let sts = model(&[
        ("?get", "c", &[("key", Type::Str)]),
        ("!value", "c", &[("value", Type::Str)]),
        (
            "!pair",
            "c",
            &[("key", Type::Str), ("number", Type::INTEGER)],
        ),
        ("!nothing", "c", &[]),
    ]);
    let mapping = Mapping {
        stimuli: shapes(&[("get", "*2\r\n$3\r\nGET\r\n${#key}\r\n{key}".into())]),
        responses: shapes(&[
            ("value", "${#value}\r\n{value}".into()),
            ("pair", "*2\r\n${#key}\r\n{key}\r\n:{number}".into()),
            ("nothing", "$-1".into()),
        ]),
        framing: Framing::Delimited {
            end: b"\r\n".to_vec(),
            continued: vec![
                continued(r"^\$(?<length>\d+)$", None),
                continued(r"^\*(?<count>\d+)$", None),
            ],
        },
        ..Mapping::default()
    };
    let mut lines = connect(&sts, &mapping, &Sockets::Shared(address));
    lines.reset().unwrap();
    lines
        .give(&action(&sts, "?get", &["a\r\nb".into()]))
        .unwrap();
    for expected in [
        action(&sts, "!value", &["x\r\ny".into()]),
        action(&sts, "!pair", &["a".into(), Value::Int(7)]),
        action(&sts, "!nothing", &[]),
    ] {
        assert_eq!(next(&mut lines), Arrival::Response(expected));
    }
}

#[test]
fn mqtt_is_described_by_bytes_and_a_length() {
    let address = serve(|mut socket, _| {
        let mut bytes = [0; 1000];
        let count = socket.read(&mut bytes).unwrap();
        let connect = b"\x10\x0e\x00\x04MQTT\x04\x02\x00\x3c\x00\x02me";
        assert_eq!(&bytes[..count], connect);
        let mut publish = vec![0x30, 0xcc, 0x01, 0, 1, b't'];
        publish.extend([b'x'; 201]);
        socket.write_all(b"\x20\x02\x01\x00").unwrap();
        socket.write_all(&publish).unwrap();
        let _ = socket.read(&mut bytes);
    });
    let sts = model(&[
        ("?connect", "c", &[("id", Type::Str)]),
        (
            "!connack",
            "c",
            &[("present", Type::Bool), ("code", Type::INTEGER)],
        ),
        (
            "!publish",
            "c",
            &[("topic", Type::Str), ("payload", Type::Str)],
        ),
    ]);
    let mapping = Mapping {
        stimuli: shapes(&[(
            "connect",
            "{0x10}{0x0004}MQTT{0x04 02 003c}{id:u16+text}".into(),
        )]),
        responses: shapes(&[
            ("connack", "{0x20}{present:u8}{code:u8}".into()),
            ("publish", "{0x30}{topic:u16+text}{payload}".into()),
        ]),
        framing: Framing::Prefixed {
            skip: 1,
            length: Integer::Varint,
            add: 0,
        },
        ..Mapping::default()
    };
    let mut lines = connect(&sts, &mapping, &Sockets::Shared(address));
    lines.reset().unwrap();
    lines
        .give(&action(&sts, "?connect", &["me".into()]))
        .unwrap();
    for expected in [
        action(&sts, "!connack", &[Value::Bool(true), Value::Int(0)]),
        action(
            &sts,
            "!publish",
            &["t".into(), "x".repeat(201).as_str().into()],
        ),
    ] {
        assert_eq!(next(&mut lines), Arrival::Response(expected));
    }
}

/// Says how each connection ended: by an end, or by a reset.
fn watch_ends() -> (String, Receiver<&'static str>) {
    let (sender, ends) = channel();
    let sender = std::sync::Mutex::new(sender);
    let address = serve(move |mut socket, _| {
        let mut bytes = [0; 100];
        let end = loop {
            match socket.read(&mut bytes) {
                Ok(0) => break "end",
                Ok(count) => socket.write_all(&bytes[..count]).unwrap(),
                Err(_) => break "reset",
            }
        };
        sender.lock().unwrap().send(end).unwrap();
    });
    (address, ends)
}

#[test]
fn a_client_connects_closes_and_resets_when_the_model_says_so() {
    let (address, ends) = watch_ends();
    let sts = model(&[
        ("?connect", "c", &[]),
        ("?close", "c", &[]),
        ("?abort", "c", &[]),
        ("?ping", "c", &[]),
        ("!pong", "c", &[]),
        ("!closed", "c", &[]),
    ]);
    let mapping = Mapping {
        stimuli: shapes(&[
            ("connect", Shape::Action(SocketAction::Connect)),
            ("close", Shape::Action(SocketAction::Close)),
            ("abort", Shape::Action(SocketAction::Abort)),
            ("ping", "echo".into()),
        ]),
        responses: shapes(&[("pong", "echo".into()), ("closed", Shape::Closed)]),
        ..Mapping::default()
    };
    let mut lines = connect(&sts, &mapping, &Sockets::Shared(address));
    lines.reset().unwrap();
    let give = |lines: &mut TextLines, name| lines.give(&action(&sts, name, &[]));
    assert!(give(&mut lines, "?ping").is_err(), "not connected yet");
    for (end, seen) in [("?close", "end"), ("?abort", "reset")] {
        give(&mut lines, "?connect").unwrap();
        give(&mut lines, "?ping").unwrap();
        assert_eq!(
            next(&mut lines),
            Arrival::Response(action(&sts, "!pong", &[]))
        );
        give(&mut lines, end).unwrap();
        assert_eq!(ends.recv(), Ok(seen));
    }
    // What the client does itself is not a response of the system.
    let until = lines.now() + 1_000_000;
    assert_eq!(lines.wait(until).unwrap().what, Arrival::Silence);
}

#[test]
fn a_stimulus_can_be_several_messages_and_actions() {
    let address = serve(|mut socket, number| {
        for line in BufReader::new(socket.try_clone().unwrap()).lines() {
            let answer = format!("{number} {}\n", line.unwrap());
            socket.write_all(answer.as_bytes()).unwrap();
        }
    });
    let sts = model(&[
        ("?hello", "c", &[("name", Type::Str)]),
        (
            "!heard",
            "c",
            &[("number", Type::INTEGER), ("word", Type::Str)],
        ),
    ]);
    let parts = [
        Shape::Action(SocketAction::Connect),
        "I am {name}".into(),
        "bye".into(),
    ];
    let mapping = Mapping {
        stimuli: shapes(&[("hello", Shape::Several(parts.to_vec()))]),
        responses: shapes(&[("heard", "{number} {word}".into())]),
        ..Mapping::default()
    };
    let mut lines = connect(&sts, &mapping, &Sockets::Shared(address));
    lines.reset().unwrap();
    // Each stimulus is a connection of its own, and both messages go over it.
    for number in 0..2 {
        let hello = action(&sts, "?hello", &[Value::from("Ann")]);
        lines.give(&hello).unwrap();
        assert_eq!(lines.sent(), b"I am Ann\nbye\n");
        for word in ["I am Ann", "bye"] {
            let heard = action(&sts, "!heard", &[Value::Int(number), Value::from(word)]);
            assert_eq!(next(&mut lines), Arrival::Response(heard));
        }
    }
}

#[test]
fn after_a_shutdown_the_system_sees_an_end_and_the_client_still_reads() {
    let address = serve(|mut socket, _| {
        let mut all = Vec::new();
        socket.read_to_end(&mut all).unwrap();
        socket.write_all(&all).unwrap();
    });
    let sts = model(&[
        ("?say", "c", &[]),
        ("?done", "c", &[]),
        ("!echo", "c", &[]),
        ("!closed", "c", &[]),
    ]);
    let mapping = Mapping {
        stimuli: shapes(&[
            ("say", "hello".into()),
            ("done", Shape::Action(SocketAction::Shutdown)),
        ]),
        responses: shapes(&[("echo", "hello".into()), ("closed", Shape::Closed)]),
        ..Mapping::default()
    };
    let mut lines = connect(&sts, &mapping, &Sockets::Shared(address));
    lines.reset().unwrap();
    for stimulus in ["?say", "?done"] {
        lines.give(&action(&sts, stimulus, &[])).unwrap();
    }
    for response in ["!echo", "!closed"] {
        let response = Arrival::Response(action(&sts, response, &[]));
        assert_eq!(next(&mut lines), response);
    }
    // Nothing is left to shut down, which is no error.
    lines.give(&action(&sts, "?done", &[])).unwrap();
}

#[test]
fn one_shape_is_that_of_every_label_that_fits_its_pattern() {
    let sts = model(&[
        ("?a_ask", "a", &[]),
        ("?b_ask", "b", &[]),
        ("?b_ask_more", "b", &[]),
        ("!told", "a", &[]),
    ]);
    let mapping = |keys: &[(&str, &str)]| Mapping {
        stimuli: keys
            .iter()
            .map(|(key, text)| ((*key).to_owned(), Shape::from(*text)))
            .collect(),
        ..Mapping::default()
    };
    let address = serve(|socket, _| drop(socket));
    let mapped = mapping(&[("*", "any"), ("*_ask", "ASK"), ("b_ask", "own")]);
    let mut lines = connect(&sts, &mapped, &Sockets::Shared(address));
    for (name, bytes) in [
        ("?a_ask", &b"ASK\n"[..]),
        ("?b_ask", b"own\n"),
        ("?b_ask_more", b"any\n"),
    ] {
        lines.reset().unwrap();
        // The server hangs up, and what was sent is known all the same.
        let _ = lines.give(&action(&sts, name, &[]));
        assert_eq!(lines.sent(), bytes, "{name}");
    }
    let nobody = mapping(&[("*_answer", "ASK")]).check(&sts).unwrap_err();
    assert_eq!(nobody.key, "stimuli.*_answer");
    let wrong = mapping(&[("*_ask", "ASK {who}")]).check(&sts).unwrap_err();
    assert_eq!(wrong.key, "stimuli.*_ask", "the line that somebody wrote");
}

#[test]
fn a_list_is_for_stimuli_and_holds_messages_and_actions() {
    let sts = model(&[("?ask", "c", &[]), ("!told", "c", &[])]);
    let list = |parts: &[Shape]| Shape::Several(parts.to_vec());
    for (shape, why) in [
        (list(&[]), "a stimulus needs at least one message"),
        (list(&[list(&[])]), "a list in a list"),
        (list(&["{who}".into()]), "no parameter 'who'"),
        (list(&[Shape::Closed]), "write action"),
    ] {
        let mapping = Mapping {
            stimuli: shapes(&[("ask", shape)]),
            ..Mapping::default()
        };
        let error = mapping.check(&sts).unwrap_err();
        assert!(error.message.contains(why), "{}", error.message);
    }
    let mapping = Mapping {
        responses: shapes(&[("told", list(&["one".into(), "two".into()]))]),
        ..Mapping::default()
    };
    let error = mapping.check(&sts).unwrap_err();
    assert!(error.message.contains("a response is one message"));
}

#[test]
fn every_channel_is_a_client_of_its_own_at_the_same_address() {
    let address = serve(|mut socket, number| {
        for line in BufReader::new(socket.try_clone().unwrap()).lines() {
            let answer = format!("{number} {}\n", line.unwrap());
            socket.write_all(answer.as_bytes()).unwrap();
        }
    });
    let sts = model(&[
        ("?ask_a", "a", &[]),
        ("!told_a", "a", &[("number", Type::INTEGER)]),
        ("?ask_b", "b", &[]),
        ("!told_b", "b", &[("number", Type::INTEGER)]),
        ("?ask_c", "c", &[]),
        ("!told_c", "c", &[("number", Type::INTEGER)]),
    ]);
    let each = |before: &str, shape: &str| {
        let names = ["a", "b", "c"].map(|channel| format!("{before}_{channel}"));
        names
            .map(|name| (name, Shape::from(shape)))
            .into_iter()
            .collect()
    };
    let mapping = Mapping {
        stimuli: each("ask", "ask"),
        responses: each("told", "{number} ask"),
        ..Mapping::default()
    };
    let channels = [("a", address.as_str()), ("b", &address), ("c", "b")];
    let channels = channels.map(|(name, place)| (name.to_owned(), place.to_owned()));
    let mut lines = connect(&sts, &mapping, &Sockets::PerChannel(channels.into()));
    lines.reset().unwrap();
    let mut told = Vec::new();
    for name in ["?ask_a", "?ask_b"] {
        lines.give(&action(&sts, name, &[])).unwrap();
        match next(&mut lines) {
            Arrival::Response(told_to) => {
                let label = sts.label(told_to.label);
                assert_eq!(label.channel, name[5..], "the label of this channel");
                told.push(told_to.values[0].clone());
            }
            other => panic!("{other:?}"),
        }
    }
    assert_ne!(told[0], told[1], "two sockets");
    // `c` shares the socket of `b`: nothing shows which of them a message is for, so the first counts.
    lines.give(&action(&sts, "?ask_c", &[])).unwrap();
    assert_eq!(
        next(&mut lines),
        Arrival::Response(action(&sts, "!told_b", &[told[1].clone()]))
    );
}

#[test]
fn a_program_speaks_messages_of_its_own_too() {
    let sts = model(&[("?ping", "c", &[]), ("!pong", "c", &[("n", Type::INTEGER)])]);
    let mapping = Mapping {
        responses: shapes(&[("pong", "pong {n}".into())]),
        ..Mapping::default()
    };
    let program =
        "n=0; while read line; do n=$((n+1)); echo \"got $line\" >&2; echo \"pong $n\"; done";
    let options = ProcessOptions::shell(program);
    let mut lines = connect(&sts, &mapping, &Sockets::Process(Box::new(options)));
    // Every reset starts it anew.
    for _ in 0..2 {
        lines.reset().unwrap();
        for number in 1..3 {
            lines.give(&action(&sts, "?ping", &[])).unwrap();
            let pong = action(&sts, "!pong", &[Value::Int(number)]);
            assert_eq!(next(&mut lines), Arrival::Response(pong));
        }
        let log: Vec<String> = lines.take_log().into_iter().map(|line| line.text).collect();
        assert_eq!(log, ["got ping", "got ping"]);
    }
}

#[test]
fn half_a_message_before_the_end_is_not_lost() {
    let address = serve(|mut socket, _| {
        let _ = socket.write_all(b"whole\nha");
    });
    let sts = model(&[("!whole", "c", &[]), ("!closed", "c", &[])]);
    let mapping = Mapping {
        responses: shapes(&[("closed", Shape::Closed)]),
        ..Mapping::default()
    };
    let mut lines = connect(&sts, &mapping, &Sockets::Shared(address));
    lines.reset().unwrap();
    assert_eq!(
        next(&mut lines),
        Arrival::Response(action(&sts, "!whole", &[]))
    );
    assert_eq!(
        next(&mut lines),
        Arrival::Unknown("\"ha\" without an end".to_owned())
    );
    assert_eq!(
        next(&mut lines),
        Arrival::Response(action(&sts, "!closed", &[]))
    );
}

#[test]
fn an_end_that_the_model_does_not_know_is_an_error_that_shows_half_a_message() {
    let address = serve(|mut socket, _| {
        let _ = socket.write_all(b"whole\nha");
    });
    let sts = model(&[("!whole", "c", &[])]);
    let mut lines = connect(&sts, &Mapping::default(), &Sockets::Shared(address));
    lines.reset().unwrap();
    assert_eq!(
        next(&mut lines),
        Arrival::Response(action(&sts, "!whole", &[]))
    );
    let until = lines.now() + 60_000_000_000;
    let error = lines.wait(until).unwrap_err();
    assert!(error.ended, "{error:?}");
    let shown = "closed the connection after \"ha\", a message without an end";
    assert!(error.message.contains(shown), "{}", error.message);
}

#[test]
fn what_is_preferred_wins_and_the_rest_is_in_the_written_order() {
    let rows: &[Row<'_>] = &[
        ("!any", "c", &[("text", Type::Str)]),
        ("!shaped", "c", &[("text", Type::Str)]),
        ("!short", "c", &[("text", Type::Str)]),
        ("!long", "c", &[("text", Type::Str)]),
    ];
    for (prefer, expected) in [
        (vec![], "!long"),
        (vec!["short".to_owned()], "!short"),
        (vec!["shaped".to_owned(), "any".to_owned()], "!shaped"),
    ] {
        let address = serve(|mut socket, _| {
            let _ = socket.write_all(b"say: hello\n");
            let _ = socket.read(&mut [0]);
        });
        let sts = model(rows);
        let mapping = Mapping {
            responses: shapes(&[
                ("any", "{text}".into()),
                ("shaped", regex("say: (?<text>.*)")),
                ("short", "say{text}".into()),
                ("long", "say: {text}".into()),
            ]),
            prefer,
            ..Mapping::default()
        };
        let mut lines = connect(&sts, &mapping, &Sockets::Shared(address));
        lines.reset().unwrap();
        let text = if expected == "!short" {
            ": hello"
        } else {
            "hello"
        };
        let expected = action(&sts, expected, &[text.into()]);
        assert_eq!(next(&mut lines), Arrival::Response(expected));
    }
}

#[test]
fn an_empty_line_that_fits_a_template_is_that_response() {
    let address = serve(|mut socket, _| {
        let _ = socket.write_all(b"\r\n\n \nPONG\r\n\n");
        let _ = socket.read(&mut [0]);
    });
    let sts = model(&[
        ("!pong", "c", &[]),
        ("!blank", "c", &[]),
        ("!echo", "c", &[("text", Type::Str)]),
    ]);
    for (name, shape, values) in [
        ("blank", "", vec![]),
        ("echo", "{text}", vec![Value::from("")]),
    ] {
        let mapping = Mapping {
            responses: shapes(&[("pong", "PONG".into()), (name, shape.into())]),
            ..Mapping::default()
        };
        let mut lines = connect(&sts, &mapping, &Sockets::Shared(address.clone()));
        lines.reset().unwrap();
        let empty = || Arrival::Response(action(&sts, &format!("!{name}"), &values));
        assert_eq!(next(&mut lines), empty());
        assert_eq!(next(&mut lines), empty());
        let space = match name {
            "echo" => Arrival::Response(action(&sts, "!echo", &[" ".into()])),
            _ => Arrival::Unknown("\" \"".to_owned()),
        };
        assert_eq!(next(&mut lines), space);
        let pong = Arrival::Response(action(&sts, "!pong", &[]));
        assert_eq!(next(&mut lines), pong);
        assert_eq!(next(&mut lines), empty());
    }
}

#[test]
fn what_arrives_is_shown_without_the_end_of_its_line() {
    let address = serve(|mut socket, _| {
        let _ = socket.write_all(b"250-one\r\n250 two\r\n");
        let _ = socket.read(&mut [0]);
    });
    let sts = model(&[("!reply", "c", &[])]);
    let of = |continued, expected: &[&[u8]]| {
        let mapping = Mapping {
            responses: shapes(&[("reply", regex("(?s)250.*"))]),
            framing: Framing::Delimited {
                end: b"\r\n".to_vec(),
                continued,
            },
            ..Mapping::default()
        };
        let mut lines = connect(&sts, &mapping, &Sockets::Shared(address.clone()));
        lines.reset().unwrap();
        for expected in expected {
            let until = lines.now() + 60_000_000_000;
            assert_eq!(lines.wait(until).unwrap().raw, *expected);
        }
    };
    of(Vec::new(), &[b"250-one", b"250 two"]);
    let reply = vec![continued("^250-", Some("^250 "))];
    of(reply, &[b"250-one\r\n250 two"]);
}

#[test]
fn a_reset_of_several_lines_has_their_ends() {
    let (heard, hears) = channel();
    let address = serve(move |mut socket, _| {
        let mut bytes = [0; 100];
        let count = socket.read(&mut bytes).unwrap();
        heard.send(bytes[..count].to_vec()).unwrap();
        let _ = socket.write_all(b"+OK\r\n");
        let _ = socket.read(&mut bytes);
    });
    let sts = model(&[("!ok", "c", &[])]);
    let mapping = Mapping {
        reset: Some("*1\n$8\nFLUSHALL".to_owned()),
        ready: Some("+OK".into()),
        framing: Framing::Delimited {
            end: b"\r\n".to_vec(),
            continued: Vec::new(),
        },
        ..Mapping::default()
    };
    let mut lines = connect(&sts, &mapping, &Sockets::Shared(address));
    lines.reset().unwrap();
    assert_eq!(hears.recv().unwrap(), b"*1\r\n$8\r\nFLUSHALL\r\n");
}

#[test]
fn an_empty_line_that_fits_no_template_is_unknown_however_many_come() {
    const EMPTY: usize = 2_000;
    let address = serve(|mut socket, _| {
        let text = format!("{}PONG\r\n", "\r\n".repeat(EMPTY));
        let _ = socket.write_all(text.as_bytes());
        let _ = socket.read(&mut [0]);
    });
    let sts = model(&[("!pong", "c", &[])]);
    let mapping = Mapping {
        responses: shapes(&[("pong", "PONG".into())]),
        ..Mapping::default()
    };
    let mut lines = connect(&sts, &mapping, &Sockets::Shared(address));
    lines.reset().unwrap();
    for _ in 0..EMPTY {
        assert_eq!(next(&mut lines), Arrival::Unknown("\"\"".to_owned()));
    }
    let pong = Arrival::Response(action(&sts, "!pong", &[]));
    assert_eq!(next(&mut lines), pong);
}

/// The first trace of what is recorded while this client talks to the system.
fn recorded(
    system: &str,
    sts: &Arc<Sts>,
    mapping: &Mapping,
    client: impl FnOnce(TcpStream) + Send + 'static,
) -> Vec<Recorded> {
    let relay = LineRelay::listen("127.0.0.1:0", system, Arc::clone(sts), Some(mapping));
    let relay = relay.unwrap();
    let address = relay.address();
    let client = std::thread::spawn(move || client(TcpStream::connect(address).unwrap()));
    let mut written = String::new();
    let served = relay.run(Some(1), &|| false, &mut |line| {
        written.push_str(line);
        written.push('\n');
        Ok(())
    });
    assert_eq!(served, Ok(1));
    client.join().unwrap();
    let traces = read_traces(&written, sts).unwrap();
    traces[0].iter().map(|(_, step)| step.clone()).collect()
}

/// A recording has the empty lines that a test would observe, and the blanks of messages.
#[test]
fn empty_lines_are_recorded() {
    let system = serve(|mut socket, _| {
        let _ = socket.read_exact(&mut [0; 1]);
        let _ = socket.write_all(b"\n x \n");
        let _ = socket.read(&mut [0]);
    });
    let sts = model(&[
        ("?say", "c", &[("text", Type::Str)]),
        ("!echo", "c", &[("text", Type::Str)]),
    ]);
    let mapping = Mapping {
        stimuli: shapes(&[("say", "{text}".into())]),
        responses: shapes(&[("echo", "{text}".into())]),
        ..Mapping::default()
    };
    let steps = recorded(&system, &sts, &mapping, |mut socket| {
        socket.write_all(b"\n").unwrap();
        socket.read_exact(&mut [0; 5]).unwrap();
    });
    assert_eq!(
        steps,
        [
            Recorded::Ready,
            Recorded::Stimulus(action(&sts, "?say", &["".into()])),
            Recorded::Response(action(&sts, "!echo", &["".into()])),
            Recorded::Response(action(&sts, "!echo", &[" x ".into()])),
            Recorded::End,
        ]
    );
}

#[test]
fn traffic_of_framed_messages_is_recorded() {
    let system = serve(|mut socket, _| {
        let _ = socket.write_all(b"\x00\x05hello");
        let mut head = [0; 2];
        while socket.read_exact(&mut head).is_ok() {
            let mut message = vec![0; usize::from(u16::from_be_bytes(head))];
            socket.read_exact(&mut message).unwrap();
            let answer: &[u8] = match &message[..] {
                b"\x01" => b"\x00\x02\x02\x07",
                _ => b"\x00\x01\xfe",
            };
            let _ = socket.write_all(answer);
        }
    });
    let sts = model(&[
        ("?ping", "c", &[]),
        ("!pong", "c", &[("number", Type::INTEGER)]),
    ]);
    let mapping = Mapping {
        stimuli: shapes(&[("ping", "{0x01}".into())]),
        responses: shapes(&[("pong", "{0x02}{number:u8}".into())]),
        banner: Some("hello".into()),
        framing: Framing::Prefixed {
            skip: 0,
            length: Integer::named("u16").unwrap(),
            add: 0,
        },
        ..Mapping::default()
    };
    let steps = recorded(&system, &sts, &mapping, |mut socket| {
        socket.read_exact(&mut [0; 7]).unwrap();
        socket.write_all(b"\x00\x01\x01").unwrap();
        socket.read_exact(&mut [0; 4]).unwrap();
        socket.write_all(b"\x00\x01\xff").unwrap();
        socket.read_exact(&mut [0; 3]).unwrap();
    });
    assert_eq!(
        steps,
        [
            Recorded::Ready,
            Recorded::Stimulus(action(&sts, "?ping", &[])),
            Recorded::Response(action(&sts, "!pong", &[Value::Int(7)])),
            Recorded::Undescribed("0xff".to_owned()),
            Recorded::Unknown("0xfe".to_owned()),
            Recorded::End,
        ]
    );
}

#[test]
fn a_message_that_goes_on_and_on_does_not_hold_up_a_wait() {
    let address = serve(|mut socket, _| {
        // Slower than it is read, so that it does not reach the limit on messages.
        while socket.write_all(b"250-more\r\n").is_ok() {
            std::thread::sleep(Duration::from_micros(100));
        }
    });
    let sts = model(&[("!end", "c", &[])]);
    let mapping = Mapping {
        framing: Framing::Delimited {
            end: b"\r\n".to_vec(),
            continued: vec![continued(r"^\d{3}-", Some(r"^\d{3} "))],
        },
        ..Mapping::default()
    };
    let mut lines = connect(&sts, &mapping, &Sockets::Shared(address));
    lines.reset().unwrap();
    // Without a look at the clock this would never return.
    let until = lines.now() + 200_000_000;
    assert_eq!(lines.wait(until).unwrap().what, Arrival::Silence);
}

#[test]
fn a_value_that_holds_the_end_of_a_message_is_not_sent_as_two() {
    let sts = model(&[
        ("?put", "c", &[("text", Type::Str)]),
        ("?send", "c", &[("text", Type::Str)]),
    ]);
    let ends = |end: &[u8]| Framing::Delimited {
        end: end.to_vec(),
        continued: Vec::new(),
    };
    for (framing, stimulus, value, is_sent) in [
        (ends(b"\n"), "?put", "x", true),
        (ends(b"\n"), "?put", "x\ny", false),
        (ends(b"\n"), "?put", "x\r", false),
        (ends(b"\n"), "?put", "x\ry", true),
        (ends(b"\r\n"), "?put", "x\ny", false),
        (ends(b"\0"), "?put", "x\ny\r", true),
        (ends(b"\0"), "?put", "x\0", false),
        // The template has lines of its own.
        (ends(b"\n"), "?send", "x\ny", true),
    ] {
        let address = serve(|mut socket, _| {
            let _ = socket.read(&mut [0; 64]);
        });
        let mapping = Mapping {
            framing,
            stimuli: shapes(&[
                ("put", "PUT {text}".into()),
                ("send", "DATA\n{text}\n.".into()),
            ]),
            ..Mapping::default()
        };
        let mut lines = connect(&sts, &mapping, &Sockets::Shared(address));
        lines.reset().unwrap();
        let given = lines.give(&action(&sts, stimulus, &[value.into()]));
        assert_eq!(given.is_ok(), is_sent, "{stimulus} {value:?}: {given:?}");
    }
}

#[test]
fn sockets_distinguish_channels_that_share_the_names_of_labels() {
    let address = serve(|mut socket, number| {
        for line in BufReader::new(socket.try_clone().unwrap()).lines() {
            let answer = format!("{number} {}\n", line.unwrap());
            socket.write_all(answer.as_bytes()).unwrap();
        }
    });
    let sts = model(&[
        ("?a.ask", "a", &[]),
        ("!a.told", "a", &[("number", Type::INTEGER)]),
        ("?b.ask", "b", &[]),
        ("!b.told", "b", &[("number", Type::INTEGER)]),
    ]);
    // One key for both, one for `b` alone, and nothing for `?a.ask`: its name within its channel.
    let mapping = Mapping {
        stimuli: shapes(&[("b.ask", "ASK".into())]),
        responses: shapes(&[
            ("told", "{number} ask".into()),
            ("b.told", "{number} ASK".into()),
        ]),
        ..Mapping::default()
    };
    let channels = ["a", "b"].map(|name| (name.to_owned(), address.clone()));
    let mut lines = connect(&sts, &mapping, &Sockets::PerChannel(channels.into()));
    lines.reset().unwrap();
    let mut told = Vec::new();
    for (name, bytes, answer) in [
        ("?a.ask", "ask\n", "!a.told"),
        ("?b.ask", "ASK\n", "!b.told"),
    ] {
        lines.give(&action(&sts, name, &[])).unwrap();
        assert_eq!(lines.sent(), bytes.as_bytes());
        let Arrival::Response(response) = next(&mut lines) else {
            panic!("no response to {name}");
        };
        assert_eq!(response.label, action(&sts, answer, &[]).label);
        told.push(response.values[0].clone());
    }
    assert_ne!(told[0], told[1], "two sockets");
}

/// What is said about responses with these shapes on one socket.
fn ambiguities(rows: &[Row<'_>], responses: &[(&str, Shape)], prefer: &[&str]) -> Vec<String> {
    let sts = model(rows);
    let mapping = Mapping {
        responses: shapes(responses),
        prefer: prefer.iter().map(|name| (*name).to_owned()).collect(),
        ..Mapping::default()
    };
    let found = mapping
        .ambiguities(&sts, &|one, other| one == other)
        .unwrap();
    found
        .into_iter()
        .map(|w| format!("{}: {}", w.key, w.message))
        .collect()
}

#[test]
fn messages_that_fit_two_labels_are_warned_of() {
    let text: &[(&str, Type)] = &[("text", Type::Str)];
    let rows: &[Row<'_>] = &[("!one", "c", text), ("!two", "c", text)];
    let both = [("one", "SAY {text}".into()), ("two", "SAY {text}".into())];
    assert_eq!(
        ambiguities(rows, &both, &[]),
        [
            "responses.one: \"SAY x\" fits !one and !two, so the order in the model decides: it is !one; set `prefer`"
        ]
    );
    assert_eq!(
        ambiguities(rows, &both, &["two"]),
        [""; 0],
        "somebody has decided"
    );
    let apart: &[Row<'_>] = &[("!one", "c", text), ("!two", "d", text)];
    assert_eq!(ambiguities(apart, &both, &[]), [""; 0], "two sockets");
    let differ = [("one", "SAY {text}".into()), ("two", "TELL {text}".into())];
    assert_eq!(ambiguities(rows, &differ, &[]), [""; 0]);
    let numbers: &[Row<'_>] = &[("!one", "c", &[("n", Type::INTEGER)]), ("!two", "c", text)];
    let covered = [("one", "{n}".into()), ("two", regex(".*"))];
    assert_eq!(
        ambiguities(numbers, &covered, &[]),
        ["responses.one: \"7\" is read as !two, so !one is never seen; `prefer` can change that"]
    );
    assert_eq!(ambiguities(numbers, &covered, &["one"]), [""; 0]);
    let same = [("one", regex("a.*")), ("two", regex("a.*"))];
    assert!(ambiguities(rows, &same, &[])[0].contains("have the same expression"));
    let more = [("one", regex("a.*")), ("two", regex("b.*"))];
    assert_eq!(ambiguities(rows, &more, &[]), [""; 0]);
}

#[test]
fn texts_that_may_hold_what_ends_them_are_warned_of() {
    let two: &[(&str, Type)] = &[("a", Type::Str), ("b", Type::Str)];
    let warned = |template: &str, parameters: &[(&str, Type)]| {
        let rows: &[Row<'_>] = &[("!got", "c", parameters)];
        ambiguities(rows, &[("got", template.into())], &[])
    };
    assert_eq!(
        warned("GOT {a} {b}", two),
        [
            "responses.got: !got: a value of a that contains \" \" ends there; use a length, `json` or a regular expression"
        ]
    );
    let number: &[(&str, Type)] = &[("a", Type::INTEGER), ("b", Type::Str)];
    for template in ["GOT {a} {b}", "GOT {b} NOW {a}"] {
        assert_eq!(
            warned(template, number).len(),
            usize::from(template.starts_with("GOT {b}"))
        );
    }
    for template in [
        "GOT {a:json} {b}",
        "GOT {a:u8+text} {b}",
        "{#a} {a} {b}",
        "GOT {a}",
    ] {
        assert_eq!(warned(template, two), [""; 0], "{template}");
    }
}
