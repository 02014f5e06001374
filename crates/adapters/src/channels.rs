//! A model played as a system with several clients: every channel listens at an address of its own, and all reach one
//! system. What a client does with its connection is a stimulus, where `[lines]` says so.

use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ioco_sts::{Action, Sts};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::connection::AdapterError;
use crate::player::MAX_IN_A_ROW;
use crate::stage::{FaultRate, Stage};
use crate::text::{
    Heard, Mapping, MessageSplitter, Recogniser, SocketAction, Templates, TextResponder,
};

/// How often it is looked whether a client that has left was served.
const LOOK: Duration = Duration::from_millis(1);

/// A model as a system whose channels have sockets of their own.
pub struct ChannelPlayer {
    inner: Arc<Inner>,
}

struct Inner {
    sts: Arc<Sts>,
    templates: Templates,
    mapping: Mapping,
    shared: Mutex<Shared>,
    note: Box<dyn Fn(String) + Send + Sync>,
}

struct Shared {
    stage: Stage,
    responder: TextResponder,
    /// By channel, who is connected.
    clients: BTreeMap<String, Client>,
    /// How many have been.
    number: u64,
}

struct Client {
    number: u64,
    stream: TcpStream,
}

impl Shared {
    fn is_connected(&self, channel: &str, number: u64) -> bool {
        let client = self.clients.get(channel);
        client.is_some_and(|client| client.number == number)
    }

    fn hang_up(&mut self) {
        for (_, client) in std::mem::take(&mut self.clients) {
            let _ = client.stream.shutdown(Shutdown::Both);
        }
    }
}

impl ChannelPlayer {
    pub fn new(
        sts: Arc<Sts>,
        mapping: &Mapping,
        seed: u64,
        faults: &[FaultRate],
        note: Box<dyn Fn(String) + Send + Sync>,
    ) -> Result<ChannelPlayer, AdapterError> {
        let templates = Templates::new(Arc::clone(&sts), mapping)?;
        let responder = TextResponder::new(&sts, &templates, mapping, seed)?;
        let stage = Stage::new(Arc::clone(&sts), seed, faults);
        Ok(ChannelPlayer {
            inner: Arc::new(Inner {
                sts,
                templates,
                mapping: mapping.clone(),
                shared: Mutex::new(Shared {
                    stage,
                    responder,
                    clients: BTreeMap::new(),
                    number: 0,
                }),
                note,
            }),
        })
    }

    /// Serves the clients of one channel, one after the other. It returns when the played system has ended.
    pub fn run(&self, channel: &str, listener: &TcpListener) -> io::Result<()> {
        loop {
            let (client, _) = listener.accept()?;
            client.set_nodelay(true)?;
            if let Err(error) = self.inner.serve(channel, &client) {
                (self.inner.note)(format!("the client of {channel} disconnected: {error}"));
            }
            let _ = client.shutdown(Shutdown::Both);
            let mut shared = self.inner.shared();
            shared.clients.remove(channel);
            if shared.stage.has_ended() {
                shared.hang_up();
                return Ok(());
            }
        }
    }
}

impl Inner {
    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A client may have closed its connection before another one connects: that comes first, although another
    /// thread sees to it.
    fn when_the_others_are_served(&self) -> MutexGuard<'_, Shared> {
        loop {
            let shared = self.shared();
            let mut clients = shared.clients.values();
            if !clients.any(|client| has_left(&client.stream)) {
                drop(clients);
                return shared;
            }
            drop(clients);
            drop(shared);
            std::thread::sleep(LOOK);
        }
    }

    fn serve(&self, channel: &str, mut client: &TcpStream) -> io::Result<()> {
        let number = self.welcome(channel, client)?;
        let mut splitter = MessageSplitter::new(self.mapping.framing.clone(), self.sts.budget());
        let mut bytes = vec![0; 16 << 10];
        let mut recogniser = Recogniser::default();
        let mut ends = false;
        loop {
            let ended_by: &[SocketAction] = match client.read(&mut bytes) {
                Ok(0) => &[SocketAction::Shutdown, SocketAction::Close],
                Ok(count) => {
                    splitter.feed(&bytes[..count]);
                    while let Some(message) = splitter.next().map_err(io::Error::other)? {
                        recogniser.hear(message);
                        ends = self.take(channel, number, &mut recogniser, false)?;
                    }
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                    &[SocketAction::Abort, SocketAction::Close]
                }
                Err(error) => return Err(error),
            };
            ends |= self.take(channel, number, &mut recogniser, true)?;
            let mut shared = self.shared();
            // Not where the model closed the connection itself, or where the end belongs to the last stimulus.
            if !ends
                && shared.is_connected(channel, number)
                && let Some(left) = self.templates.does(channel, ended_by)
            {
                shared.stage.give(&left);
                self.respond(&mut shared)?;
            }
            return Ok(());
        }
    }

    /// A client has connected; its number.
    fn welcome(&self, channel: &str, mut client: &TcpStream) -> io::Result<u64> {
        let mut shared = self.when_the_others_are_served();
        // Whoever comes first meets the system in its initial state, unless the model says what it is for a client to
        // come: then it also knows what is left of the clients before.
        if shared.clients.is_empty() && !self.templates.connects(&|_| true) {
            shared.stage.reset();
        }
        shared.number += 1;
        let number = shared.number;
        let stream = client.try_clone()?;
        let new = Client { number, stream };
        shared.clients.insert(channel.to_owned(), new);
        let banner = self.mapping.banner.as_ref();
        let banner = shared.responder.greeting(banner, &self.mapping);
        client.write_all(&banner.map_err(io::Error::other)?)?;
        if let Some(connected) = self.templates.does(channel, &[SocketAction::Connect]) {
            shared.stage.give(&connected);
        }
        self.respond(&mut shared)?;
        Ok(number)
    }

    /// Takes the stimuli that were heard. True: the end of the connection belongs to the last one. `ended`: the client
    /// says nothing more.
    fn take(
        &self,
        channel: &str,
        number: u64,
        recogniser: &mut Recogniser,
        ended: bool,
    ) -> io::Result<bool> {
        let own = |other: &str| other == channel;
        let mut is_last = false;
        loop {
            let mut shared = self.shared();
            if !shared.is_connected(channel, number) {
                return Ok(is_last);
            }
            let reset = self.mapping.reset.as_deref();
            match recogniser.next(&self.templates, reset, &own, &mut shared.stage, ended) {
                None => return Ok(is_last),
                Some(Heard::Reset) => {
                    shared.stage.reset();
                    let ready = self.mapping.ready.as_ref();
                    let ready = shared.responder.greeting(ready, &self.mapping);
                    let ready = ready.map_err(io::Error::other)?;
                    if let Some(client) = shared.clients.get(channel) {
                        (&client.stream).write_all(&ready)?;
                    }
                }
                Some(Heard::Stimulus { action, ends }) => {
                    shared.stage.give(&action);
                    is_last = ends;
                }
                Some(Heard::Unknown(why)) => {
                    (self.note)(why);
                    continue;
                }
            }
            self.respond(&mut shared)?;
        }
    }

    /// Sends what the system says now, up to its silence.
    fn respond(&self, shared: &mut Shared) -> io::Result<()> {
        for _ in 0..MAX_IN_A_ROW {
            let Some(said) = shared.stage.next().map_err(io::Error::other)? else {
                break;
            };
            for response in &said {
                self.send(shared, response)?;
            }
        }
        if shared.stage.has_ended() {
            shared.hang_up();
        }
        Ok(())
    }

    fn send(&self, shared: &mut Shared, response: &Action) -> io::Result<()> {
        let label = self.sts.label(response.label);
        let channel = label.channel.as_str();
        if self.templates.closes(response.label) {
            if let Some(client) = shared.clients.remove(channel) {
                let _ = client.stream.shutdown(Shutdown::Both);
            }
            return Ok(());
        }
        let own = |other: &str| other == channel;
        let wire = (shared.responder).response(&self.templates, &self.mapping, response, &own);
        let wire = wire.map_err(io::Error::other)?;
        match shared.clients.get(channel) {
            // A client that is gone is noticed where it is read.
            Some(client) => drop((&client.stream).write_all(&wire)),
            None => (self.note)(format!(
                "{} is lost: no client is connected to {channel}",
                label.marked_name()
            )),
        }
        Ok(())
    }
}

/// Whether the other side has closed its connection, also where not everything that it sent was read.
fn has_left(stream: &TcpStream) -> bool {
    #[cfg(target_os = "linux")]
    let end = PollFlags::RDHUP | PollFlags::HUP;
    #[cfg(not(target_os = "linux"))]
    let end = PollFlags::HUP;
    let mut asked = [PollFd::new(stream, end)];
    let now = Timespec::default();
    poll(&mut asked, Some(&now)).is_ok_and(|ready| ready > 0)
}
