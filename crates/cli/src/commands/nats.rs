//! `ioco nats`: a NATS server on this machine, for a try.

use std::time::Duration;

use ioco_campaign::Results;
use ioco_nats::LocalServer;

use crate::args;
use crate::exit::{Answer, CommandError, Exit};
use crate::{interrupt, typed};

/// How often to look whether the server still runs.
const LOOK: Duration = Duration::from_millis(100);

pub fn run(arguments: &args::Nats) -> Answer {
    let results = Results::at(typed::project_here()?.results());
    let folder = results.folder("nats")?;
    let interrupt = interrupt::listen();
    let mut server = LocalServer::start(&folder, "127.0.0.1", arguments.port)?;
    say!(
        "nats://127.0.0.1:{}  (files in {}; Ctrl-C ends it)",
        arguments.port,
        folder.display()
    );
    while !interrupt.is_raised() {
        if server.has_ended() {
            let log = folder.join("nats.log");
            return Err(CommandError {
                exit: Exit::System,
                ..CommandError::usage("the NATS server ended")
            }
            .hint(format!("see {}", log.display())));
        }
        std::thread::sleep(LOOK);
    }
    Ok(Exit::Interrupted)
}
