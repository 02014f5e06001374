//! The adapters of a run: which ones play the system, and what is said about them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ioco_outside::Untrusted;

use super::peer::{Disconnected, Peer};
use super::values::{Clocks, Units};
use super::wire;
use crate::connection::AdapterError;

/// Which adapter plays the system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Chosen {
    /// The only one that is there.
    #[default]
    Only,
    Named(String),
    /// One for each channel of the model.
    PerChannel(BTreeMap<String, String>),
}

/// An adapter of the run, and the channels that go to it.
pub(super) struct Member {
    pub peer: Arc<Peer>,
    pub channels: Vec<String>,
    pub clocks: Clocks,
    pub gone: Option<Disconnected>,
}

impl Member {
    fn new(peer: &Arc<Peer>, channels: Vec<String>, units: Units) -> Member {
        let mut clocks = Clocks::new(units);
        let parameters = peer.announcement.labels.iter().flat_map(|l| &l.parameters);
        parameters
            .filter_map(|p| p.value.as_ref())
            .for_each(|value| clocks.learn(value));
        Member {
            peer: Arc::clone(peer),
            channels,
            clocks,
            gone: None,
        }
    }

    pub fn name(&self) -> &str {
        &self.peer.announcement.name
    }

    /// An announcement in one line.
    pub fn describe(&self) -> String {
        let labels = &self.peer.announcement.labels;
        let responses = labels.iter().filter(|l| l.is_response()).count();
        let stimuli = match labels.len() - responses {
            1 => "1 stimulus".to_owned(),
            count => format!("{count} stimuli"),
        };
        let responses = match responses {
            1 => "1 response".to_owned(),
            count => format!("{count} responses"),
        };
        let name = Untrusted::new(self.name());
        format!("adapter {name} announces {stimuli} and {responses}")
    }

    pub fn reported(&self, error: &wire::Error, when: &str) -> AdapterError {
        let name = self.name();
        AdapterError::new(format!(
            "the adapter {name} reported an error {when}: {}",
            error.message
        ))
        .hint("its log may say more; it can connect again at any time")
    }

    pub fn lost(&mut self, gone: Disconnected, when: &str) -> AdapterError {
        let message = format!("the adapter {} {gone} {when}", self.name());
        let ended = matches!(gone, Disconnected::Vanished | Disconnected::Closed { .. });
        let hint = match &gone {
            Disconnected::Fault(_) => {
                "it does not speak the protocol as ioco does; its log may say more"
            }
            _ => "its log may say why; it can connect again at any time",
        };
        self.gone = Some(gone);
        AdapterError::new(message).hint(hint).ended(ended)
    }
}

/// `Ok(Err(name))`: this adapter, or any where there is no name, is not there yet.
pub(super) fn choose(
    chosen: &Chosen,
    channels: &[&str],
    units: Units,
    peers: &[Arc<Peer>],
) -> Result<Result<Vec<Member>, String>, AdapterError> {
    let all: Vec<String> = channels.iter().map(|&channel| channel.to_owned()).collect();
    let member = |peer: &Arc<Peer>, channels| Member::new(peer, channels, units);
    match chosen {
        Chosen::Only => match peers {
            [] => Ok(Err(String::new())),
            [only] => Ok(Ok(vec![member(only, all)])),
            several => Err(AdapterError::new(format!(
                "several adapters are connected: {}",
                names(several)
            ))
            .hint(
                "name one with --adapter NAME, or one for each channel with --adapter \
                     CHANNEL=NAME",
            )),
        },
        Chosen::Named(name) => Ok(match find(peers, name) {
            Some(peer) => Ok(vec![member(peer, all)]),
            None => Err(name.clone()),
        }),
        Chosen::PerChannel(chosen) => {
            if let Some(channel) = all.iter().find(|channel| !chosen.contains_key(*channel)) {
                return Err(AdapterError::new(format!(
                    "no adapter is named for channel '{channel}'"
                ))
                .hint(format!("add --adapter {channel}=NAME")));
            }
            if let Some(channel) = chosen.keys().find(|channel| !all.contains(channel)) {
                return Err(
                    AdapterError::new(format!("the model has no channel '{channel}'"))
                        .hint(format!("its channels are: {}", all.join(", "))),
                );
            }
            let mut members: Vec<Member> = Vec::new();
            for (channel, name) in chosen {
                let Some(peer) = find(peers, name) else {
                    return Ok(Err(name.clone()));
                };
                match members.iter_mut().find(|m| m.peer.number == peer.number) {
                    Some(known) => known.channels.push(channel.clone()),
                    None => members.push(member(peer, vec![channel.clone()])),
                }
            }
            Ok(Ok(members))
        }
    }
}

/// Says that no adapter connected in time.
pub(super) fn none_connected(
    missing: &str,
    peers: &[Arc<Peer>],
    url: &str,
    within: Duration,
) -> AdapterError {
    let (who, named) = match missing {
        "" => ("no adapter has".to_owned(), String::new()),
        name => (
            format!("the adapter {name} has not"),
            format!(" of the name {name}"),
        ),
    };
    let message = format!("{who} connected to {url} within {within:?}");
    let there = match peers {
        [] => String::new(),
        some => format!("; connected are: {}", names(some)),
    };
    AdapterError::new(message).hint(format!(
        "start the adapter{named} with this address and the token{there}"
    ))
}

/// Keeps adapters from other runs; false if one of them serves a run already.
pub(super) fn take(members: &[Member]) -> bool {
    let is_free = |member: &&Member| !member.peer.is_taken.swap(true, Ordering::Relaxed);
    let taken: Vec<&Member> = members.iter().take_while(is_free).collect();
    if taken.len() == members.len() {
        return true;
    }
    for member in taken {
        member.peer.is_taken.store(false, Ordering::Relaxed);
    }
    false
}

/// By its name, or by the part of it before `@`. The newest counts: an older one of the same name
/// is a connection that has not noticed its end.
fn find<'p>(peers: &'p [Arc<Peer>], name: &str) -> Option<&'p Arc<Peer>> {
    let newest = |matches: &dyn Fn(&str) -> bool| {
        let named = peers.iter().filter(|p| matches(&p.announcement.name));
        named.max_by_key(|p| p.number)
    };
    newest(&|own| own == name)
        .or_else(|| newest(&|own| own.split_once('@').is_some_and(|(kind, _)| kind == name)))
}

fn names(peers: &[Arc<Peer>]) -> String {
    let names: Vec<&str> = peers.iter().map(|p| p.announcement.name.as_str()).collect();
    names.join(", ")
}
