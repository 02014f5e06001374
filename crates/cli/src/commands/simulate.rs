//! `ioco simulate`: plays the model as a system, for clients and tests that need one.

use std::io;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use ioco_adapters::{
    AdapterError, AmpPlayer, ChannelPlayer, HttpMapping, HttpPlayer, Left, Mapping, Player,
};
use ioco_campaign::connect::check_listening;
use ioco_outside::Untrusted;
use ioco_sts::Sts;

use crate::args;
use crate::exit::{Answer, CommandError, Exit};
use crate::{model, output};

/// How long an adapter tries to reach its platform.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(60);

/// How long it waits before it tries again.
const RETRY_DELAY: Duration = Duration::from_millis(100);

pub fn run(arguments: &args::Simulate) -> Answer {
    let project = crate::typed::project(arguments.model.model.as_deref(), None)?;
    let model = model::load(&arguments.model, &project)?;
    let lines = project.lines.as_ref();
    let mapping = lines.map(|lines| lines.checked(&model.sts, &project.file()));
    let mapping = mapping.transpose()?;
    let sts = Arc::clone(&model.sts);
    if let Some(url) = &arguments.amp {
        return adapter(arguments, &sts, url);
    }
    for listen in &arguments.listen {
        check_listening(address(listen), project.insecure)?;
    }
    if let (Some(http), None) = (&project.http, &mapping) {
        return over_http(arguments, &sts, http);
    }
    if arguments.listen.iter().any(|listen| listen.contains('=')) {
        let mapping = mapping.ok_or_else(|| {
            CommandError::usage("channels have addresses of their own only with [lines]")
                .hint("describe the messages of the labels in [lines] of ioco.toml")
        })?;
        return channels(arguments, &sts, &mapping);
    }
    let player = Player::new(sts, mapping.as_ref(), arguments.seed, &arguments.fault);
    let mut player = player.map_err(misdescribed)?;
    match arguments.listen.as_slice() {
        [listen] => serve(&mut player, listen, arguments.clients),
        [] => {
            // Not `output`: what goes to standard output here is for a program.
            let mut notes = Notes::default();
            let mut note = |what| notes.show(what);
            let served = player.serve(&mut io::stdin(), &mut io::stdout(), &mut note);
            end(served.map_err(|error| lost(&error))?)
        }
        _ => Err(CommandError::usage("there is one address for all clients")
            .hint("write CHANNEL=HOST:PORT where every channel has its own")),
    }
}

/// Nothing is connected yet: what is wrong is in ioco.toml.
fn misdescribed(error: AdapterError) -> CommandError {
    CommandError {
        exit: Exit::Usage,
        ..CommandError::from(error)
    }
}

/// `HOST:PORT` of `CHANNEL=HOST:PORT`.
fn address(listen: &str) -> &str {
    listen
        .split_once('=')
        .map_or(listen, |(_, address)| address)
}

fn bind(address: &str) -> Result<TcpListener, CommandError> {
    TcpListener::bind(address).map_err(|error| {
        CommandError::usage(format!("cannot listen on {address}: {error}"))
            .hint("write HOST:PORT with a port that is free")
    })
}

/// A note to a person from any thread.
fn notes() -> Box<dyn Fn(String) + Send + Sync> {
    let notes = Mutex::new(Notes::default());
    Box::new(move |what| {
        let mut notes = notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.show(what);
    })
}

fn over_http(arguments: &args::Simulate, sts: &Arc<Sts>, mapping: &HttpMapping) -> Answer {
    let [listen] = arguments.listen.as_slice() else {
        return Err(
            CommandError::usage("a model that [http] describes is played at an address")
                .hint("add --listen 127.0.0.1:8000"),
        );
    };
    let listener = bind(listen)?;
    let at = listener.local_addr().map_err(|error| lost(&error))?;
    let (seed, faults) = (arguments.seed, &arguments.fault);
    let player = HttpPlayer::listen(listener, sts, mapping, seed, faults, notes());
    let player = player.map_err(misdescribed)?;
    say!("playing the model at http://{at}; Ctrl-C ends it");
    player
        .run(arguments.clients)
        .map_err(|error| lost(&error))?;
    end(if player.has_ended() {
        Left::System
    } else {
        Left::Client
    })
}

/// Connects as an adapter, and again when the platform has closed the connection.
fn adapter(arguments: &args::Simulate, sts: &Arc<Sts>, url: &str) -> Answer {
    let mut player = AmpPlayer::new(sts, sts.name(), arguments.seed, &arguments.fault);
    let token = std::env::var("IOCO_AMP_TOKEN").ok();
    let mut notes = Notes::default();
    say!("playing the model as an adapter of {url}; Ctrl-C ends it");
    let (mut served, mut since) = (0, Instant::now());
    while arguments.clients.is_none_or(|clients| served < clients) {
        match player.serve(url, token.as_deref(), &mut |what| notes.show(what)) {
            Ok(Left::System) => return end(Left::System),
            Ok(Left::Client | Left::Model) => {
                served += 1;
                since = Instant::now();
            }
            // No program listens between two runs.
            Err(error) if since.elapsed() > CONNECT_TIMEOUT => return Err(lost(&error)),
            Err(_) => {}
        }
        std::thread::sleep(RETRY_DELAY);
    }
    Ok(Exit::Conforms)
}

/// Every channel at an address of its own. The first that ends, ends all.
fn channels(arguments: &args::Simulate, sts: &Arc<Sts>, mapping: &Mapping) -> Answer {
    let mut listeners = Vec::new();
    for listen in &arguments.listen {
        let named = listen.split_once('=').filter(|(channel, _)| {
            let mut labels = sts.labels().iter();
            labels.any(|label| label.channel == *channel)
        });
        let (channel, address) = named.ok_or_else(|| {
            CommandError::usage(format!("'{listen}' names no channel of the model"))
                .hint("write CHANNEL=HOST:PORT")
        })?;
        listeners.push((channel.to_owned(), bind(address)?));
    }
    let player = ChannelPlayer::new(
        Arc::clone(sts),
        mapping,
        arguments.seed,
        &arguments.fault,
        notes(),
    );
    let player = Arc::new(player.map_err(misdescribed)?);
    let (tell, ended) = mpsc::channel();
    for (channel, listener) in listeners {
        let at = listener.local_addr().map_err(|error| lost(&error))?;
        say!("playing {channel} at {at}; Ctrl-C ends it");
        let (player, tell) = (Arc::clone(&player), tell.clone());
        std::thread::spawn(move || tell.send(player.run(&channel, &listener)));
    }
    match ended.recv() {
        Ok(Err(error)) => Err(lost(&error)),
        Ok(Ok(())) | Err(_) => end(Left::System),
    }
}

/// One client after the other. Nothing has to be kept, so Ctrl-C ends the program.
fn serve(player: &mut Player, listen: &str, clients: Option<u64>) -> Answer {
    let listener = bind(listen)?;
    let address = listener.local_addr().map_err(|error| lost(&error))?;
    say!("playing the model at {address}; Ctrl-C ends it");
    let mut served = 0;
    while clients.is_none_or(|clients| served < clients) {
        let (client, _) = listener.accept().map_err(|error| lost(&error))?;
        match talk(player, client) {
            Ok(Left::System) => return end(Left::System),
            Ok(Left::Client | Left::Model) => {}
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

/// So many messages of one client that ioco does not understand are shown.
const NOTES: usize = 20;

/// What one client sent that ioco does not understand.
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
    unusable(format!("the client disconnected: {}", Untrusted::of(error)))
}

/// A system that ends as a fault does so with another exit code than one whose client left.
fn end(left: Left) -> Answer {
    match left {
        Left::Client | Left::Model => Ok(Exit::Conforms),
        Left::System => Err(unusable("the played system ended (--fault end)".to_owned())),
    }
}

fn unusable(message: String) -> CommandError {
    CommandError {
        exit: Exit::System,
        ..CommandError::usage(message)
    }
}
