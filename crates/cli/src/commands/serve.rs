//! `ioco serve`: the page, for the browser on this machine.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::exit::{Answer, Exit};
use ioco_campaign::{ConnectionSpec, trust};
use ioco_outside::file::write_private;
use ioco_server::Options;

use crate::watch::ErrorsOnly;
use crate::{args, interrupt, output, typed};

pub fn run(arguments: &args::Serve) -> Answer {
    let mut project = typed::project(
        arguments.model.as_deref(),
        arguments.system.profile.as_deref(),
    )?;
    arguments.store.apply(&mut project);
    project.limits = project.limits.overridden_by(arguments.limits.limits());
    trust::store(&mut project, &mut ErrorsOnly)?;
    trust::first_use(&project, &arguments.system.choice(), &mut ErrorsOnly)?;
    project.hubs.keep();
    // A project without a system can be looked at.
    if let Some(reach) = ConnectionSpec::typed(&arguments.system.choice(), &project)?
        && let Some(url) = reach.listen(&project)?
    {
        say!("adapters connect to {url}");
    }
    let folder = project.ledger.folder().map(Path::to_owned);
    let mut door = None;
    let options = Options {
        project,
        system: arguments.system.choice(),
        port: arguments.port,
    };
    ioco_server::serve(options, &interrupt::listen(), |address| {
        output::print(&format!("{address}\n"));
        say!("open this address in a browser on this machine; Ctrl-C ends the server");
        if arguments.open {
            door = open(address, folder.as_deref());
        }
    })?;
    drop(door);
    Ok(Exit::Conforms)
}

/// A page that leads to the address, which only this user can read. Programs show their arguments to
/// all users of the machine, so the address itself, with its token, is none of them.
struct Door(PathBuf);

impl Door {
    fn new(address: &str, folder: Option<&Path>) -> std::io::Result<Door> {
        let folder = folder.map_or_else(std::env::temp_dir, Path::to_owned);
        let path = folder.join(format!("open-{}.html", std::process::id()));
        let page = format!(
            "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\
             <meta http-equiv=\"refresh\" content=\"0; url={address}\">\
             <a href=\"{address}\">ioco</a>\n"
        );
        write_private(&path, page.as_bytes())?;
        Ok(Door(path))
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Asks the desktop to show an address.
fn open(address: &str, folder: Option<&Path>) -> Option<Door> {
    let door = match Door::new(address, folder) {
        Ok(door) => door,
        Err(error) => {
            output::warn(&format!("{error}: open the address yourself"));
            return None;
        }
    };
    let program = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let started = Command::new(program)
        .arg(&door.0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if started.is_err() {
        output::warn(&format!(
            "{program} could not be started: open the address yourself"
        ));
    }
    Some(door)
}
