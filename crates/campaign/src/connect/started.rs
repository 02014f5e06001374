//! A system that ioco starts for a test or for a run, and the connection to it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ioco_adapters::{
    AdapterError, Arrival, Arrived, Connection, LogLine, NO_RESET, PORT, Server, ServerOptions,
    free_port,
};
use ioco_budget::{Interrupt, size};
use ioco_sts::{Action, Sts};
use serde::{Deserialize, Serialize};

use super::address::without_shell;
use super::{ConnectionSpec, Link, Transport, unusable};
use crate::error::CampaignError;
use crate::project::Project;

/// A free port may be taken by another program before the system listens there: so often another is tried.
const TRIES: usize = 3;

/// How long a system lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fresh {
    /// It is started anew for every test.
    #[default]
    Test,
    /// It is started once, and reset as its connection resets it.
    Run,
}

/// What starts a system; lines for the shell, in which `{port}` stands for a free port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    pub command: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready_log: Option<String>,
    #[serde(default)]
    pub fresh: Fresh,
}

impl Start {
    /// With nothing around it.
    pub fn new(command: &str) -> Start {
        Start {
            command: command.to_owned(),
            before: None,
            after: None,
            ready_log: None,
            fresh: Fresh::Test,
        }
    }

    /// Everything that is run, for a person.
    pub fn commands(&self) -> Vec<&str> {
        let hooks = [&self.before, &self.after].into_iter().flatten();
        let all = hooks.map(String::as_str);
        std::iter::once(self.command.as_str()).chain(all).collect()
    }
}

/// A system that we start, and how we reach it.
pub(super) struct Started {
    server: Server,
    fresh: Fresh,
    /// How to reach it, with `{port}`.
    inner: ConnectionSpec,
    sts: Arc<Sts>,
    project: Project,
    port: Option<u16>,
    link: Option<Link>,
    /// Whether the link and its port were used by an earlier start.
    is_used: bool,
    epoch: Instant,
    /// Where the link's clock began, on ours.
    offset: u64,
    warnings: Vec<String>,
    /// Said before: a connection of its own for every test would repeat itself.
    said: Vec<String>,
}

impl Started {
    pub fn new(
        start: &Start,
        inner: ConnectionSpec,
        restart: bool,
        sts: &Arc<Sts>,
        project: &Project,
    ) -> Result<Started, CampaignError> {
        let patience = Duration::from_nanos(inner.patience);
        let server = Server::new(ServerOptions {
            start: without_shell(&start.command),
            before: start.before.clone(),
            after: start.after.clone(),
            ready_log: start.ready_log.clone(),
            directory: project.root.clone(),
            patience,
            log: size(sts.budget().log),
        });
        let chooses = start.commands().iter().any(|line| line.contains(PORT));
        if inner.way.mentions_port() && !start.command.contains(PORT) {
            return Err(CampaignError::usage(format!(
                "the address has a {PORT}, but the command that starts the system has none"
            ))
            .hint(
                "the command must say where the system listens: start = \"server --port {port}\"",
            ));
        }
        let mut started = Started {
            server,
            fresh: if restart { Fresh::Test } else { start.fresh },
            inner,
            sts: Arc::clone(sts),
            project: project.clone(),
            port: chooses.then_some(0),
            link: None,
            is_used: false,
            epoch: Instant::now(),
            offset: 0,
            warnings: Vec::new(),
            said: Vec::new(),
        };
        // Errors in the settings are reported before anything starts.
        started.make_link()?;
        Ok(started)
    }

    pub fn link(&self) -> Option<&Link> {
        self.link.as_ref()
    }

    /// Who can interrupt it.
    pub fn interrupted_by(&mut self, interrupt: &Interrupt) {
        self.server.interrupted_by(interrupt.clone());
    }

    /// Ends the system; the next reset starts a new one.
    pub fn stop(&mut self) {
        self.collect_warnings();
        // A client that is still connected would keep some servers from ending.
        if !matches!(self.inner.way, Transport::Amp(_)) {
            self.link = None;
        }
        self.server.stop();
    }

    /// A connection to the next port. Nothing is connected before its first reset.
    fn make_link(&mut self) -> Result<(), CampaignError> {
        if self.port.is_some() {
            self.port = Some(free_port().map_err(unusable)?);
        }
        let way = match self.port {
            Some(port) => self.inner.way.with_port(port),
            None => self.inner.way.clone(),
        };
        let spec = ConnectionSpec {
            way,
            ..self.inner.clone()
        };
        let link = spec.connect(&self.sts, &self.project)?;
        self.offset = self.now().saturating_sub(link.now());
        self.link = Some(link);
        self.is_used = false;
        Ok(())
    }

    /// The port at which the system must listen before it can be connected to, where it is known.
    fn listens(&self) -> Option<u16> {
        let fixed = |address: &str| {
            address
                .trim_end_matches('/')
                .rsplit_once(':')?
                .1
                .parse()
                .ok()
        };
        match &self.inner.way {
            Transport::TcpListen(_) | Transport::Amp(_) => None,
            _ if self.port.is_some() => self.port,
            Transport::Tcp(address) | Transport::Http(address) => fixed(address),
            Transport::TcpChannels(channels) => channels.values().find_map(|a| fixed(a)),
            _ => None,
        }
    }

    fn start(&mut self, stop: &dyn Fn() -> bool) -> Result<(), AdapterError> {
        let mut tries = 0;
        loop {
            if self.link.is_none() || (self.is_used && self.port.is_some()) {
                let keeps = matches!(self.inner.way, Transport::Amp(_)) && self.link.is_some();
                if !keeps {
                    self.make_link().map_err(|error| AdapterError {
                        hint: error.hint,
                        ..AdapterError::new(error.message)
                    })?;
                }
            }
            self.is_used = true;
            match self.server.start(self.port, self.listens(), stop) {
                Err(_) if self.port.is_some() && tries + 1 < TRIES && !stop() => tries += 1,
                started => return started,
            }
        }
    }

    fn active(&mut self) -> Result<&mut Link, AdapterError> {
        let link = self.link.as_mut();
        link.ok_or_else(|| AdapterError::new("the system is not running"))
    }

    /// Adds how the system ended, where it did.
    fn explain(&mut self, error: AdapterError) -> AdapterError {
        if !error.ended {
            return error;
        }
        match self.server.exit_status_soon() {
            Some(status) => {
                self.server.await_log();
                let message = format!("{}; the system ended: {status}", error.message);
                AdapterError { message, ..error }
            }
            None => error,
        }
    }

    fn arrived(&mut self, mut arrived: Arrived) -> Result<Arrived, AdapterError> {
        // Silence of a system that is gone is no silence.
        if matches!(arrived.what, Arrival::Silence | Arrival::Quiescent)
            && let Some(status) = self.server.exit_status()
        {
            self.server.await_log();
            return Err(AdapterError::new(format!("the system ended: {status}")).ended(true));
        }
        arrived.at = arrived.at.saturating_add(self.offset);
        Ok(arrived)
    }

    fn collect_warnings(&mut self) {
        let fresh = self.link.as_mut().map(Link::take_warnings);
        let own = self.server.take_warnings();
        let needless = |warning: &String| self.fresh == Fresh::Test && warning == NO_RESET;
        let fresh: Vec<String> = fresh.unwrap_or_default();
        let all = fresh.into_iter().filter(|warning| !needless(warning));
        for warning in all.chain(own) {
            if !self.said.contains(&warning) && self.said.len() < 100 {
                self.said.push(warning.clone());
                self.warnings.push(warning);
            }
        }
    }

    pub fn take_warnings(&mut self) -> Vec<String> {
        self.collect_warnings();
        std::mem::take(&mut self.warnings)
    }

    pub fn take_notices(&mut self) -> Vec<String> {
        self.link
            .as_mut()
            .map(Link::take_notices)
            .unwrap_or_default()
    }
}

impl Connection for Started {
    fn now(&self) -> u64 {
        u64::try_from(self.epoch.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn reset_until(&mut self, stop: &dyn Fn() -> bool) -> Result<(), AdapterError> {
        if self.fresh == Fresh::Test || !self.server.is_running() {
            self.stop();
            self.server.clear_log();
            self.start(stop)?;
        } else {
            self.server.clear_log();
        }
        let reset = self.active()?.reset_until(stop);
        reset.map_err(|error| self.explain(error))
    }

    fn give_until(
        &mut self,
        stimulus: &Action,
        stop: &dyn Fn() -> bool,
    ) -> Result<bool, AdapterError> {
        let given = self.active()?.give_until(stimulus, stop);
        given.map_err(|error| self.explain(error))
    }

    fn poll(&mut self) -> Result<Option<Arrived>, AdapterError> {
        match self.active()?.poll() {
            Ok(Some(arrived)) => self.arrived(arrived).map(Some),
            Ok(None) => Ok(None),
            Err(error) => Err(self.explain(error)),
        }
    }

    fn wait(&mut self, until: u64) -> Result<Arrived, AdapterError> {
        let until = until.saturating_sub(self.offset);
        match self.active()?.wait(until) {
            Ok(arrived) => self.arrived(arrived),
            Err(error) => Err(self.explain(error)),
        }
    }

    fn sent(&self) -> &[u8] {
        self.link.as_ref().map_or(&[], |link| link.sent())
    }

    fn resets_all(&self) -> bool {
        let inner = self.link.as_ref().is_some_and(Link::resets_all);
        inner || (self.fresh == Fresh::Test && !matches!(self.inner.way, Transport::Amp(_)))
    }

    fn catch_up(&mut self) -> Result<(), AdapterError> {
        let caught = self.active()?.catch_up();
        caught.map_err(|error| self.explain(error))
    }

    fn take_log(&mut self) -> Vec<LogLine> {
        let mut log = self.server.take_log(self.epoch);
        let offset = self.offset;
        let own = self.link.as_mut().map(|link| link.take_log());
        log.extend(own.into_iter().flatten().map(|line| LogLine {
            at: line.at.saturating_add(offset),
            ..line
        }));
        log.sort_by_key(|line| line.at);
        log
    }
}
