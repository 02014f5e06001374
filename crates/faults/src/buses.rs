//! NATS servers that misbehave.

use std::io::{self, BufRead as _, BufReader};
use std::time::{Duration, Instant};

use ioco_budget::Until;
use ioco_nats::{Access, Bus};

use crate::fault::{Injector, Role};
use crate::peers::listen;
use crate::rules::Outcome;

const INFO: &[u8] = b"INFO {\"server_id\":\"x\",\"server_name\":\"x\",\"version\":\"2.11.0\",\"proto\":1,\
    \"go\":\"go\",\"host\":\"127.0.0.1\",\"port\":4222,\"headers\":true,\"max_payload\":1048576,\"client_id\":1}\r\n";

/// A server that greets and answers pings, and has no streams. The wait for it ends when the time is up.
pub fn bad_server(injector: Injector) -> io::Result<(Outcome, String)> {
    let server = listen(move |socket| {
        injector.send(Role::Greeting, INFO, &mut &socket)?;
        for line in BufReader::new(&socket).lines() {
            let answer: &[u8] = match line?.trim() {
                "PING" => b"PONG\r\n",
                said if said.starts_with("SUB") => b"+OK\r\n",
                _ => continue,
            };
            injector.send(Role::Confirmation, answer, &mut &socket)?;
        }
        Ok(())
    })?;
    let access = Access {
        url: format!("nats://{}", server.address),
        ..Access::default()
    };
    let deadline = Instant::now() + Duration::from_millis(300);
    let until = Until::forever(Instant::now).by(Some(deadline));
    Ok(match Bus::open_until(&access, "a client", 1, until) {
        Ok(_) => (Outcome::Pass, String::new()),
        Err(error) => (Outcome::Error, error.message),
    })
}
