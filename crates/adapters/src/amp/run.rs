//! A run of tests through adapters: a [`Connection`] over the plugin-adapter protocol.
//!
//! The run begins with a configuration for each adapter, which brings its system into the initial
//! state; every further test begins with a reset. A stimulus counts as given when the adapter
//! confirms it. Adapters confirm before they pass it on, so a response that comes after the
//! confirmation may still have been sent before.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use ioco_sts::{Action, Sts};
use prost::Message as _;

use super::configure::{Choice, configuration};
use super::hub::Hub;
use super::labels::Labels;
use super::members::{Chosen, Member, choose, none_connected, take};
use super::peer::{Happened, Order, Peer, PeerEvent};
use super::values::{Units, loses_digits};
use super::wire::{self, Body};
use crate::connection::{AdapterError, Arrival, Arrived, Connection};
use crate::session::nanoseconds;
use crate::supervise::{Received, Receiver, Warnings, queue, within};

/// How a run treats its adapters.
#[derive(Clone, Debug)]
pub struct AmpOptions {
    pub chosen: Chosen,
    /// For every adapter that announces such an item.
    pub configuration: BTreeMap<String, Choice>,
    /// For the adapter of this name.
    pub configuration_of: BTreeMap<String, BTreeMap<String, Choice>>,
    pub units: Units,
    /// How long a reset, and the confirmation of a stimulus, may take.
    pub patience: Duration,
    /// How long to wait for an adapter to connect. The public Python adapter needs ten seconds to
    /// come back after an error.
    pub connect_within: Duration,
    /// No other uses the hub afterwards: it listens no more before adapters are released.
    pub is_last: bool,
}

impl Default for AmpOptions {
    fn default() -> AmpOptions {
        AmpOptions {
            chosen: Chosen::Only,
            configuration: BTreeMap::new(),
            configuration_of: BTreeMap::new(),
            units: Units::Learned,
            patience: Duration::from_secs(10),
            connect_within: Duration::from_secs(30),
            is_last: false,
        }
    }
}

/// Responses that an adapter may send before it confirms a stimulus.
const MAX_UNCONFIRMED: usize = 10_000;

/// Their bytes.
const MAX_UNCONFIRMED_BYTES: usize = 64 << 20;

struct Run {
    members: Vec<Member>,
    happened: Receiver<Happened>,
}

/// A connection through adapters of the plugin-adapter protocol.
pub struct Amp {
    hub: Arc<Hub>,
    labels: Labels,
    options: AmpOptions,
    epoch: Instant,
    run: Option<Run>,
    arrived: VecDeque<Arrived>,
    correlation: u64,
    /// Where the test is, for messages: `after ?lock`.
    place: String,
    sent: Vec<u8>,
    warnings: Warnings,
    notices: Vec<String>,
    /// Announcements are reported once, not again when an adapter reconnects.
    announced: BTreeSet<String>,
}

impl Amp {
    /// Adapters may connect to `hub` before this or later. It may serve several runs, one after
    /// the other: adapters that are idle stay connected.
    pub fn new(sts: Arc<Sts>, hub: Arc<Hub>, options: AmpOptions) -> Amp {
        Amp {
            hub,
            labels: Labels::new(sts),
            options,
            epoch: Instant::now(),
            run: None,
            arrived: VecDeque::new(),
            correlation: 0,
            place: String::new(),
            sent: Vec::new(),
            warnings: Warnings::default(),
            notices: Vec::new(),
            announced: BTreeSet::new(),
        }
    }

    /// Where adapters are to connect.
    pub fn url(&self) -> String {
        self.hub.url()
    }

    /// What a person should know about the adapters, since the last call.
    pub fn take_warnings(&mut self) -> Vec<String> {
        self.warnings.extend(self.hub.take_warnings());
        self.warnings.take()
    }

    /// Which adapters a run uses and what they announce, since the last call.
    pub fn take_notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }

    fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }

    /// Waits for the adapters of the run and configures them.
    fn begin(&mut self, stop: &dyn Fn() -> bool) -> Result<(), AdapterError> {
        let members = self.gather(stop)?;
        let (tell, happened) = queue(self.labels.budget());
        let mut configurations = Vec::new();
        for member in &members {
            let channels: Vec<&str> = member.channels.iter().map(String::as_str).collect();
            let name = member.name().to_owned();
            for difference in self.labels.compare(&member.peer.announcement, &channels) {
                self.warn(format!("adapter {name}: {difference}"));
            }
            let announced = member.describe();
            if self.announced.insert(announced.clone()) {
                self.notices.push(announced);
            }
            let mut choices = self.options.configuration.clone();
            if let Some(own) = self.options.configuration_of.get(&name) {
                choices.extend(own.iter().map(|(k, v)| (k.clone(), v.clone())));
            }
            let mut warnings = Vec::new();
            let announcement = &member.peer.announcement;
            configurations.push(configuration(announcement, choices, &mut warnings)?);
            self.warnings.extend(warnings);
        }
        for (member, configuration) in members.iter().zip(configurations) {
            member.peer.order(Order::Report(tell.clone()));
            member.peer.send(Body::Configuration(configuration));
        }
        self.run = Some(Run { members, happened });
        Ok(())
    }

    /// The adapters that were chosen, once they are all there.
    fn gather(&mut self, stop: &dyn Fn() -> bool) -> Result<Vec<Member>, AdapterError> {
        let until = within(self.options.connect_within, stop);
        loop {
            let mut peers = self.hub.peers();
            peers.retain(|peer| !peer.is_taken.load(Ordering::Relaxed));
            let channels = self.labels.channels();
            let chosen = &self.options.chosen;
            match choose(chosen, &channels, self.options.units, &peers)? {
                Ok(members) if take(&members) => return Ok(members),
                // Another run was quicker.
                Ok(_) => {}
                Err(missing) => {
                    if until.is_over() {
                        let within = self.options.connect_within;
                        return Err(none_connected(&missing, &peers, &self.url(), within));
                    }
                }
            }
            self.hub.await_change(until.slice());
        }
    }

    /// Discards what comes until every adapter is ready.
    fn await_ready(&mut self, stop: &dyn Fn() -> bool) -> Result<(), AdapterError> {
        let until = within(self.options.patience, stop);
        let Some(run) = &mut self.run else {
            return Err(no_run());
        };
        let mut waiting: Vec<u64> = run.members.iter().map(|m| m.peer.number).collect();
        while !waiting.is_empty() {
            // An adapter that floods always has a message; the time is up all the same.
            if until.is_over() {
                let is_late = |m: &&Member| waiting.contains(&m.peer.number);
                let name = run.members.iter().find(is_late).map_or("?", Member::name);
                return Err(AdapterError::new(format!(
                    "the adapter {name} was not ready within {:?}",
                    self.options.patience
                ))
                .hint(
                    "it says Ready when its system is in the initial state; can it reach the \
                     system? ready_within in ioco.toml gives it more time",
                ));
            }
            let Received::Entry((number, _, happening)) = run.happened.take_until(until.slice())
            else {
                continue;
            };
            let member = run.members.iter_mut().find(|m| m.peer.number == number);
            let Some(member) = member else { continue };
            match happening {
                PeerEvent::Message(Body::Ready(_)) => waiting.retain(|n| *n != number),
                PeerEvent::Message(Body::Error(error)) => {
                    return Err(member.reported(&error, "while it got ready"));
                }
                PeerEvent::Message(_) => {}
                PeerEvent::Disconnected(gone) => {
                    return Err(member.lost(gone, "before it was ready"));
                }
            }
        }
        Ok(())
    }

    /// Whether all adapters of the run are still there; what they said meanwhile is discarded.
    fn is_whole(&mut self) -> bool {
        let Some(run) = &mut self.run else {
            return false;
        };
        let now = Instant::now();
        while let Received::Entry((number, when, happening)) = run.happened.take() {
            if let PeerEvent::Disconnected(gone) = happening
                && let Some(member) = run.members.iter_mut().find(|m| m.peer.number == number)
            {
                member.gone = Some(gone);
            }
            // An adapter that floods always has a message.
            if when > now {
                break;
            }
        }
        run.members.iter().all(|member| member.gone.is_none())
    }

    /// Ends the run, so that the next reset begins another with adapters that come back.
    fn end_run(&mut self) {
        self.arrived.clear();
        if let Some(Run { members, happened }) = self.run.take() {
            // A thread that waits for room in the queue has to see that nothing wants it.
            drop(happened);
            let peers: Vec<Arc<Peer>> = members.into_iter().map(|m| m.peer).collect();
            self.hub.release(&peers);
        }
    }

    /// Ends the run with an error.
    fn failed<T>(&mut self, result: Result<T, AdapterError>) -> Result<T, AdapterError> {
        if result.is_err() {
            self.end_run();
        }
        result
    }

    /// Takes in one happening. `Ok(Some(echo))`: a stimulus was confirmed.
    fn take_in(&mut self, happened: Happened) -> Result<Option<wire::Label>, AdapterError> {
        let (number, when, happening) = happened;
        let Some(run) = &mut self.run else {
            return Ok(None);
        };
        let Some(member) = run.members.iter_mut().find(|m| m.peer.number == number) else {
            return Ok(None);
        };
        match happening {
            PeerEvent::Disconnected(gone) => return Err(member.lost(gone, &self.place)),
            PeerEvent::Message(Body::Error(error)) => {
                return Err(member.reported(&error, &self.place));
            }
            PeerEvent::Message(Body::Label(label)) if label.is_response() => {
                let what = self.labels.read(&label, &mut member.clocks);
                let name = member.name().to_owned();
                if let Arrival::Unknown(text) = &what {
                    self.warn(format!(
                        "adapter {name} sent !{text}, which the model does not describe; if \
                         it is correct, add it to the model"
                    ));
                }
                let at = nanoseconds(when.saturating_duration_since(self.epoch));
                let raw = physical(&label);
                self.arrived.push_back(Arrived { what, at, raw });
            }
            PeerEvent::Message(Body::Label(echo)) => return Ok(Some(echo)),
            // Said out of turn; nothing depends on it.
            PeerEvent::Message(
                Body::Ready(_) | Body::Reset(_) | Body::Configuration(_) | Body::Announcement(_),
            ) => {
                let name = member.name().to_owned();
                self.warn(format!(
                    "adapter {name}: it sent an unexpected message during a test; ioco ignores it"
                ));
            }
        }
        Ok(None)
    }

    fn give_confirmed(
        &mut self,
        stimulus: &Action,
        stop: &dyn Fn() -> bool,
    ) -> Result<(), AdapterError> {
        self.correlation += 1;
        let correlation = self.correlation;
        let channel = self.labels.channel(stimulus).to_owned();
        let shown = self.labels.name(stimulus);
        self.place = format!("during a test, before it confirmed {shown}");
        let Some(run) = &mut self.run else {
            return Err(no_run());
        };
        let member = run.members.iter().find(|m| m.channels.contains(&channel));
        let Some(member) = member else {
            return Err(AdapterError::new(format!(
                "no adapter of this run serves channel '{channel}'"
            )));
        };
        let label = self.labels.write(stimulus, correlation, &member.clocks);
        self.sent = label.encode_to_vec();
        member.peer.send(Body::Label(label));
        let (number, name) = (member.peer.number, member.name().to_owned());
        if stimulus.values.iter().any(loses_digits) {
            self.warn(format!(
                "{shown}: a decimal has more digits than the adapter protocol can carry"
            ));
        }
        let until = within(self.options.patience, stop);
        loop {
            let waited: usize = self.arrived.iter().map(|arrived| arrived.raw.len()).sum();
            if self.arrived.len() > MAX_UNCONFIRMED || waited > MAX_UNCONFIRMED_BYTES {
                return Err(AdapterError::new(format!(
                    "the adapter {name} sent {} responses ({} MiB) and did not confirm {shown}",
                    self.arrived.len(),
                    waited >> 20
                )));
            }
            let happened = self
                .run
                .as_ref()
                .map(|run| run.happened.take_until(until.slice()));
            match happened {
                Some(Received::Nothing) if !until.is_over() => {}
                Some(Received::Entry(happened)) if !until.is_over() => {
                    let from = happened.0;
                    let echo = self.take_in(happened)?;
                    let confirms =
                        |echo: &wire::Label| self.labels.confirms(echo, stimulus, correlation);
                    if let Some(echo) = echo.filter(|echo| from == number && confirms(echo)) {
                        if !echo.physical_label.is_empty() {
                            self.sent = echo.physical_label;
                        }
                        self.place = format!("during a test, after {shown}");
                        return Ok(());
                    }
                }
                _ => {
                    return Err(AdapterError::new(format!(
                        "the adapter {name} did not confirm {shown} within {:?}",
                        self.options.patience
                    ))
                    .hint(
                        "an adapter sends every stimulus back, with the time, before it \
                             passes it on",
                    ));
                }
            }
        }
    }

    fn poll_arrivals(&mut self) -> Result<Option<Arrived>, AdapterError> {
        loop {
            if let Some(arrived) = self.arrived.pop_front() {
                return Ok(Some(arrived));
            }
            match self.run.as_ref().map(|run| run.happened.take()) {
                Some(Received::Entry(happened)) => {
                    self.take_in(happened)?;
                }
                Some(Received::Nothing) => return Ok(None),
                Some(Received::Ended) | None => return Err(no_run()),
            }
        }
    }

    fn wait_for_arrival(&mut self, until: u64) -> Result<Arrived, AdapterError> {
        let deadline = self.epoch + Duration::from_nanos(until);
        loop {
            if let Some(arrived) = self.arrived.pop_front() {
                return Ok(arrived);
            }
            let run = self.run.as_ref();
            match run.map(|run| run.happened.take_until(deadline)) {
                Some(Received::Entry(happened)) => {
                    self.take_in(happened)?;
                }
                Some(Received::Nothing) => {
                    return Ok(Arrived {
                        what: Arrival::Silence,
                        at: self.now(),
                        raw: Vec::new(),
                    });
                }
                Some(Received::Ended) | None => return Err(no_run()),
            }
        }
    }
}

impl Connection for Amp {
    fn now(&self) -> u64 {
        nanoseconds(self.epoch.elapsed())
    }

    fn reset_until(&mut self, stop: &dyn Fn() -> bool) -> Result<(), AdapterError> {
        self.arrived.clear();
        self.sent.clear();
        self.place = "during a test, before the first stimulus".to_owned();
        if self.is_whole() {
            for member in self.run.iter().flat_map(|run| &run.members) {
                member.peer.send(Body::Reset(wire::Reset {}));
            }
            let ready = self.await_ready(stop);
            match self.failed(ready) {
                // Nothing of a test is lost yet: one that comes back is as good as one that is ready.
                Err(error) if error.ended && !stop() => {
                    self.warn(format!("{}; ioco waits for it to come back", error.message));
                }
                ready => return ready,
            }
        }
        self.end_run();
        self.begin(stop)?;
        let ready = self.await_ready(stop);
        self.failed(ready)
    }

    fn give_until(
        &mut self,
        stimulus: &Action,
        stop: &dyn Fn() -> bool,
    ) -> Result<bool, AdapterError> {
        let given = self.give_confirmed(stimulus, stop);
        self.failed(given).map(|()| true)
    }

    fn poll(&mut self) -> Result<Option<Arrived>, AdapterError> {
        let polled = self.poll_arrivals();
        self.failed(polled)
    }

    fn wait(&mut self, until: u64) -> Result<Arrived, AdapterError> {
        let waited = self.wait_for_arrival(until);
        self.failed(waited)
    }

    fn sent(&self) -> &[u8] {
        &self.sent
    }

    fn catch_up(&mut self) -> Result<(), AdapterError> {
        let (waiting, done) = std::sync::mpsc::channel();
        for member in self.run.iter().flat_map(|run| &run.members) {
            member.peer.order(Order::CatchUp(waiting.clone()));
        }
        drop(waiting);
        // Ends when all threads have dropped their end; one that hangs is noticed elsewhere.
        let _ = done.recv_timeout(self.options.patience);
        Ok(())
    }
}

impl Drop for Amp {
    fn drop(&mut self) {
        if self.options.is_last {
            self.hub.close_door();
        }
        self.end_run();
    }
}

/// What crossed the border to the system, where the adapter tells; else what it sent to us.
fn physical(label: &wire::Label) -> Vec<u8> {
    if label.physical_label.is_empty() {
        label.encode_to_vec()
    } else {
        label.physical_label.clone()
    }
}

fn no_run() -> AdapterError {
    AdapterError::new("no adapter is connected")
}
