//! `ioco serve`: the page, for the browser on this machine.

use std::process::{Command, Stdio};

use ioco_campaign::{Answer, Exit, trust};
use ioco_server::Options;

use crate::watch::Teller;
use crate::{args, interrupt, output, typed};

pub fn run(arguments: &args::Serve) -> Answer {
    let mut project = typed::project(
        arguments.model.as_deref(),
        arguments.system.profile.as_deref(),
    )?;
    arguments.store.apply(&mut project);
    trust::store(&mut project, &mut Teller)?;
    trust::first_use(&project, &arguments.system.choice(), &mut Teller)?;
    let options = Options {
        project,
        system: arguments.system.choice(),
        port: arguments.port,
    };
    ioco_server::serve(options, &interrupt::listen(), |address| {
        output::print(&format!("{address}\n"));
        say!("open this address in a browser on this machine; Ctrl-C ends the server");
        if arguments.open {
            open(address);
        }
    })?;
    Ok(Exit::Conforms)
}

/// Asks the desktop to show an address.
fn open(address: &str) {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let started = Command::new(program)
        .arg(address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if started.is_err() {
        output::warn(&format!(
            "{program} could not be started: open the address yourself"
        ));
    }
}
