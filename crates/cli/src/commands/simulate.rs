//! `ioco simulate`: plays the model as a system, for clients and tests that need one.

use std::io;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use ioco_adapters::{Left, Player};
use ioco_campaign::connect::check_listening;
use ioco_outside::Untrusted;

use crate::args;
use crate::exit::{Answer, CommandError, Exit};
use crate::{model, output};

pub fn run(arguments: &args::Simulate) -> Answer {
    let project = crate::typed::project(arguments.model.model.as_deref(), None)?;
    let model = model::load(&arguments.model, &project)?;
    let lines = project.lines.as_ref();
    let mapping = lines.map(|lines| lines.checked(&model.sts, &project.file()));
    let mapping = mapping.transpose()?;
    let sts = Arc::clone(&model.sts);
    let player = Player::new(sts, mapping.as_ref(), arguments.seed, &arguments.fault);
    // Nothing is connected yet: what is wrong is in ioco.toml.
    let mut player = player.map_err(|error| CommandError {
        exit: Exit::Usage,
        ..CommandError::from(error)
    })?;
    match &arguments.listen {
        Some(listen) => {
            check_listening(listen, project.insecure)?;
            serve(&mut player, listen, arguments.clients)
        }
        None => {
            // Not `output`: what goes to standard output here is for a program.
            let mut notes = Notes::default();
            let mut note = |what| notes.show(what);
            let served = player.serve(&mut io::stdin(), &mut io::stdout(), &mut note);
            end(served.map_err(|error| lost(&error))?)
        }
    }
}

/// One client after the other. Nothing has to be kept, so Ctrl-C ends the program.
fn serve(player: &mut Player, listen: &str, clients: Option<u64>) -> Answer {
    let listener = TcpListener::bind(listen);
    let listener = listener.map_err(|error| {
        CommandError::usage(format!("cannot listen on {listen}: {error}"))
            .hint("write HOST:PORT with a port that is free")
    })?;
    let address = listener.local_addr().map_err(|error| lost(&error))?;
    say!("playing the model at {address}; Ctrl-C ends it");
    let mut served = 0;
    while clients.is_none_or(|clients| served < clients) {
        let (client, _) = listener.accept().map_err(|error| lost(&error))?;
        match talk(player, client) {
            Ok(Left::System) => return end(Left::System),
            Ok(Left::Client) => {}
            // One client's end is not that of the others.
            Err(error) => output::warn(&lost(&error).message),
        }
        served += 1;
    }
    Ok(Exit::Conforms)
}

fn talk(player: &mut Player, client: TcpStream) -> io::Result<Left> {
    client.set_nodelay(true)?;
    let mut notes = Notes::default();
    player.serve(&mut &client, &mut &client, &mut |what| notes.show(what))
}

/// So many messages of one client that nobody understands are shown.
const NOTES: usize = 20;

/// What one client sent and nobody understands.
#[derive(Default)]
struct Notes(usize);

impl Notes {
    fn show(&mut self, what: String) {
        self.0 = self.0.saturating_add(1);
        if self.0 <= NOTES {
            output::warn(&format!("not understood: {}", Untrusted::new(what)));
        }
        if self.0 == NOTES {
            output::warn("ioco does not show further messages of this client that it cannot read");
        }
    }
}

fn lost(error: &io::Error) -> CommandError {
    unusable(format!("the client is gone: {}", Untrusted::of(error)))
}

/// A system that ends as a fault does so with another exit code than one whose client left.
fn end(left: Left) -> Answer {
    match left {
        Left::Client => Ok(Exit::Conforms),
        Left::System => Err(unusable("the played system ended (--fault end)".to_owned())),
    }
}

fn unusable(message: String) -> CommandError {
    CommandError {
        exit: Exit::System,
        ..CommandError::usage(message)
    }
}
