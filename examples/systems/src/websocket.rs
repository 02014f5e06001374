//! A system behind a WebSocket that speaks plain words, as the public SmartDoor does:
//! `LOCK:1234` is answered `LOCKED`, and `RESET` `RESET_PERFORMED`.
//!
//! Existing adapters can connect to it, and ioco to them.

use std::io;
use std::net::{TcpListener, TcpStream};

use ioco_sts::{Message, Value};
use tungstenite::Message as Frame;

use crate::System;

/// Serves one connection after the other, for ever. Says on standard output where it listens.
pub fn serve(system: &mut dyn System, address: &str) -> io::Result<()> {
    let listener = TcpListener::bind(address)?;
    println!("ws://{}", listener.local_addr()?);
    loop {
        let (socket, _) = listener.accept()?;
        // A client that hangs up makes room for the next.
        let _ = converse(system, socket);
    }
}

fn converse(system: &mut dyn System, socket: TcpStream) -> tungstenite::Result<()> {
    socket.set_nodelay(true)?;
    let Ok(mut socket) = tungstenite::accept(socket) else {
        return Ok(());
    };
    loop {
        if let Frame::Text(text) = socket.read()? {
            for word in answer(system, &text) {
                socket.send(Frame::text(word))?;
            }
        }
    }
}

/// The words that `system` answers to `text`.
fn answer(system: &mut dyn System, text: &str) -> Vec<String> {
    if text == "RESET" {
        system.reset();
        return vec!["RESET_PERFORMED".to_owned()];
    }
    let (label, passcode) = match text.split_once(':') {
        Some((label, passcode)) => (label, passcode.parse().ok()),
        None => (text, None),
    };
    let values = passcode.map(|code| ("passcode".to_owned(), Value::Int(code)));
    let stimulus = Message {
        label: label.to_lowercase(),
        values: values.into_iter().collect(),
    };
    match system.check(&stimulus) {
        Err(_) => vec!["INVALID_COMMAND".to_owned()],
        Ok(()) => {
            let responses = system.give(&stimulus);
            responses.iter().map(|r| r.label.to_uppercase()).collect()
        }
    }
}
