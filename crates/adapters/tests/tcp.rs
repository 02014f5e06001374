//! The line protocol over TCP, against small servers in a thread.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use ioco_adapters::{Arrival, Connection, Tcp, TcpOptions};
use ioco_sts::{Action, Direction, Label, Sts, StsBuilder};

fn model() -> Arc<Sts> {
    let mut builder = StsBuilder::new("ping");
    for (name, direction) in [("ping", Direction::Stimulus), ("pong", Direction::Response)] {
        builder.label(Label {
            name: name.to_owned(),
            channel: "wire".to_owned(),
            direction,
            parameters: Vec::new(),
        });
    }
    Arc::new(builder.build())
}

/// Serves `connections` connections one after the other; answers so many lines on each, and hangs
/// up at the next.
fn serve(connections: usize, answers: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for _ in 0..connections {
            let (socket, _) = listener.accept().unwrap();
            converse(&socket, answers);
        }
    });
    address
}

fn converse(mut socket: &TcpStream, answers: usize) {
    let lines = BufReader::new(socket).lines().map_while(Result::ok);
    for (number, line) in lines.enumerate() {
        let answer = if line.contains("reset") {
            "{\"ready\":true}\n"
        } else {
            "{\"response\":\"pong\"}\n"
        };
        if number >= answers || socket.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

fn ping_and_wait(connection: &mut Tcp, sts: &Sts) -> Result<Arrival, ioco_adapters::AdapterError> {
    let ping = sts.label_named(Direction::Stimulus, "ping").unwrap();
    connection.give(&Action::plain(ping))?;
    let until = connection.now() + 5_000_000_000;
    connection.wait(until).map(|arrived| arrived.what)
}

#[test]
fn a_system_over_tcp_is_reset_stimulated_and_observed() {
    let sts = model();
    let pong = sts.label_named(Direction::Response, "pong").unwrap();
    let address = serve(1, usize::MAX);
    let mut connection = Tcp::new(Arc::clone(&sts), TcpOptions::new(&address));
    for _ in 0..3 {
        connection.reset().unwrap();
        let answer = ping_and_wait(&mut connection, &sts);
        assert_eq!(answer, Ok(Arrival::Response(Action::plain(pong))));
        let until = connection.now() + 1_000_000;
        assert_eq!(connection.wait(until).unwrap().what, Arrival::Silence);
    }
}

#[test]
fn after_a_hang_up_the_next_reset_connects_anew() {
    let sts = model();
    let address = serve(2, 1);
    let mut connection = Tcp::new(Arc::clone(&sts), TcpOptions::new(&address));
    for _ in 0..2 {
        connection.reset().unwrap();
        let error = ping_and_wait(&mut connection, &sts).unwrap_err();
        assert!(error.message.contains("closed the connection"), "{error:?}");
    }
}

#[test]
fn a_port_without_a_listener_is_an_error() {
    // A port that was free a moment ago.
    let address = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let mut connection = Tcp::new(model(), TcpOptions::new(&address.to_string()));
    let error = connection.reset().unwrap_err();
    assert!(error.message.contains("no connection to"), "{error:?}");
    let mut nonsense = Tcp::new(model(), TcpOptions::new("nonsense"));
    assert!(nonsense.reset().is_err());
}

#[test]
fn a_server_that_does_not_answer_the_reset_is_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut options = TcpOptions::new(&listener.local_addr().unwrap().to_string());
    options.patience = Duration::from_millis(200);
    let mut connection = Tcp::new(model(), options);
    let error = connection.reset().unwrap_err();
    assert!(
        error.message.contains("did not answer the reset"),
        "{error:?}"
    );
}
