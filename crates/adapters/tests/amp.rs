//! How the platform's side keeps an eye on adapters, with a client of its own.

use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ioco_adapters::{Amp, AmpOptions, Chosen, Connection as _, Hub, HubOptions};
use tungstenite::stream::MaybeTlsStream;
use tungstenite::{Message, WebSocket};

const MODEL: &str = "
external 'wire'
process('ping') {
  channel('wire') { stimulus 'ping'; response 'pong' }
  state 'idle'
  repeat { o { receive 'ping'; send 'pong' } }
}
";

/// Quick enough to see many beats in a test.
fn hub(heartbeat: u64, given_up_after: u64) -> Hub {
    let options = HubOptions {
        heartbeat: Duration::from_millis(heartbeat),
        given_up_after: Duration::from_millis(given_up_after),
        ..HubOptions::new("0")
    };
    Hub::listen(&options).expect("it listens")
}

type Socket = WebSocket<MaybeTlsStream<TcpStream>>;

/// An adapter that has announced itself as `Beat` and does nothing by itself.
fn announced(hub: &Hub) -> Socket {
    let socket = announce(&hub.url(), *b"Beat");
    await_count(hub, 1);
    socket
}

fn announce(url: &str, name: [u8; 4]) -> Socket {
    let (mut socket, _) = tungstenite::connect(url).expect("connected");
    // An announcement with nothing but a name.
    let announcement = [[0x12, 6, 0x0A, 4].as_slice(), &name].concat();
    socket.send(Message::binary(announcement)).expect("sent");
    socket
}

fn await_count(hub: &Hub, count: usize) {
    let patience = Instant::now() + Duration::from_secs(60);
    while hub.present(None).len() != count {
        assert!(Instant::now() < patience, "nobody came or went");
        hub.await_change(Instant::now() + Duration::from_millis(20));
    }
}

#[test]
fn an_adapter_that_answers_pings_stays() {
    let hub = hub(20, 60_000);
    let mut socket = announced(&hub);
    let mut pings = 0;
    while pings < 10 {
        // Reading answers them.
        let message = socket.read().expect("still connected");
        pings += usize::from(message.is_ping());
    }
    assert_eq!(hub.present(None).len(), 1);
}

#[test]
fn an_adapter_that_never_answers_is_given_up() {
    let hub = hub(20, 200);
    let _socket = announced(&hub);
    await_count(&hub, 0);
}

#[test]
fn a_slow_adapter_is_not_given_up_between_two_pings() {
    // Less often than it is given up: being given up does not wait for the next ping.
    let hub = hub(60_000, 200);
    let _socket = announced(&hub);
    await_count(&hub, 0);
}

#[test]
fn a_run_whose_adapter_falls_silent_says_so() {
    let model = ioco_aml::load_text("ping.aml", MODEL).sts.expect("a model");
    let hub = hub(20, 200);
    let _socket = announced(&hub);
    let options = AmpOptions {
        patience: Duration::from_secs(60),
        ..AmpOptions::default()
    };
    let mut amp = Amp::new(Arc::clone(&model), Arc::new(hub), options);
    let error = amp.reset().expect_err("it is not ready");
    let words = "the adapter Beat has not been heard of for 200ms";
    assert!(error.message.contains(words), "{}", error.message);
    assert!(error.hint.is_some());
}

#[test]
fn adapters_stay_or_come_back_from_one_run_to_the_next() {
    let model = ioco_aml::load_text("ping.aml", MODEL).sts.expect("a model");
    let hub = Arc::new(hub(10_000, 60_000));
    let _idle = announce(&hub.url(), *b"Idle");
    let url = hub.url();
    // Ready when it is configured; after a close it connects again, as the public ones do.
    let working = std::thread::spawn(move || {
        let mut configured = 0;
        while configured < 2 {
            let mut socket = announce(&url, *b"Work");
            while let Ok(message) = socket.read() {
                if message.is_binary() {
                    configured += 1;
                    let ready = Message::binary(vec![0x32, 0]);
                    socket.send(ready).expect("sent");
                }
            }
        }
    });
    for _ in 0..2 {
        let options = AmpOptions {
            chosen: Chosen::Named("Work".to_owned()),
            ..AmpOptions::default()
        };
        let mut amp = Amp::new(Arc::clone(&model), Arc::clone(&hub), options);
        amp.reset().expect("it is ready");
        drop(amp);
        let present = hub.present(None);
        assert!(present.iter().any(|p| p.name == "Idle"), "{present:?}");
    }
    working.join().expect("it was configured twice");
}

#[test]
fn connections_that_dawdle_do_not_shut_adapters_out() {
    let hub = hub(20, 60_000);
    let address = hub.url();
    let address = address
        .trim_start_matches("ws://")
        .trim_end_matches("/adapters");
    let dawdling: Vec<TcpStream> = (0..200)
        .map(|_| {
            let mut socket = TcpStream::connect(address).expect("connected");
            std::io::Write::write_all(&mut socket, b"G").expect("sent");
            socket
        })
        .collect();
    let _socket = announced(&hub);
    drop(dawdling);
}

#[test]
fn at_the_end_of_the_last_run_nobody_listens_any_more_when_adapters_are_released() {
    let model = ioco_aml::load_text("ping.aml", MODEL).sts.expect("a model");
    let hub = Arc::new(hub(1000, 60_000));
    let address = hub.url();
    let address = address.trim_start_matches("ws://").replace("/adapters", "");
    let mut socket = announced(&hub);
    // It tries to come back as soon as it is released, as public adapters do.
    let adapter = std::thread::spawn(move || {
        let mut configured = false;
        loop {
            match socket.read() {
                Ok(Message::Binary(_)) if !configured => {
                    configured = true;
                    let ready = Message::binary(vec![0x32, 0]);
                    socket.send(ready).expect("sent");
                }
                Ok(Message::Close(_)) | Err(_) => return TcpStream::connect(&address).is_err(),
                Ok(_) => {}
            }
        }
    });
    let options = AmpOptions {
        patience: Duration::from_secs(60),
        is_last: true,
        ..AmpOptions::default()
    };
    let mut amp = Amp::new(model, Arc::clone(&hub), options);
    amp.reset().expect("the adapter is ready");
    drop(amp);
    assert!(adapter.join().expect("it ends"), "nobody listens");
}

#[test]
fn an_adapter_that_vanishes_during_a_reset_is_taken_up_again() {
    let model = ioco_aml::load_text("ping.aml", MODEL).sts.expect("a model");
    let hub = Arc::new(hub(10_000, 60_000));
    let url = hub.url();
    // Its first connection ends at the reset; the second one does what it is asked.
    let adapter = std::thread::spawn(move || {
        let mut socket = announce(&url, *b"Weak");
        let mut messages = 0;
        while let Ok(message) = socket.read() {
            if message.is_binary() {
                messages += 1;
                if messages > 1 {
                    break;
                }
                let ready = Message::binary(vec![0x32, 0]);
                socket.send(ready).expect("sent");
            }
        }
        drop(socket);
        let mut socket = announce(&url, *b"Weak");
        while let Ok(message) = socket.read() {
            if message.is_binary() {
                let ready = Message::binary(vec![0x32, 0]);
                socket.send(ready).expect("sent");
            }
        }
    });
    let options = AmpOptions {
        patience: Duration::from_secs(60),
        connect_within: Duration::from_secs(60),
        is_last: true,
        ..AmpOptions::default()
    };
    let mut amp = Amp::new(Arc::clone(&model), Arc::clone(&hub), options);
    amp.reset().expect("it is configured and ready");
    amp.reset().expect("it came back");
    let warnings = amp.take_warnings();
    assert!(
        warnings
            .iter()
            .any(|w| w.contains("waits for it to come back")),
        "{warnings:?}"
    );
    amp.reset().expect("it stays");
    drop(amp);
    adapter.join().expect("it is released");
}
