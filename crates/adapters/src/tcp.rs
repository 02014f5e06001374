//! The line protocol over TCP, for systems that ioco does not start: they listen, or we do.
//!
//! The connection is made at the first reset and kept; after any error the next reset makes a
//! new one.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ioco_sts::{Action, Sts};

use crate::connection::{AdapterError, Arrived, Connection};
use crate::endpoint::Endpoint;
use crate::line::Codec;
use crate::session::{LearnedBehaviour, Session, SessionError, nanoseconds};
use crate::stream::StreamError;
use crate::supervise::{Until, Warnings, within};

/// Where the system listens, and how patient to be.
#[derive(Clone, Debug)]
pub struct TcpOptions {
    /// `host:port`.
    pub address: String,
    /// How long the whole of a reset may take, connecting included.
    pub patience: Duration,
}

impl TcpOptions {
    pub fn new(address: &str) -> TcpOptions {
        TcpOptions {
            address: address.to_owned(),
            patience: Duration::from_secs(10),
        }
    }
}

/// A connection to a system that listens, or that calls us.
pub struct Tcp {
    endpoint: Endpoint,
    patience: Duration,
    codec: Arc<Codec>,
    epoch: Instant,
    session: Option<Session>,
    habits: Option<LearnedBehaviour>,
    warnings: Warnings,
}

impl Tcp {
    /// Nothing is connected before the first reset.
    pub fn new(sts: Arc<Sts>, options: TcpOptions) -> Tcp {
        Tcp::over(sts, Endpoint::Call(options.address), options.patience)
    }

    /// The system can connect to `options.address` from now on.
    pub fn listen(sts: Arc<Sts>, options: &TcpOptions) -> Result<Tcp, AdapterError> {
        let endpoint = Endpoint::answer(&options.address)?;
        Ok(Tcp::over(sts, endpoint, options.patience))
    }

    fn over(sts: Arc<Sts>, endpoint: Endpoint, patience: Duration) -> Tcp {
        Tcp {
            endpoint,
            patience,
            codec: Arc::new(Codec::new(sts)),
            epoch: Instant::now(),
            session: None,
            habits: None,
            warnings: Warnings::default(),
        }
    }

    /// What a person should know about the system's side, since the last call.
    pub fn take_warnings(&mut self) -> Vec<String> {
        if let Some(session) = &mut self.session {
            self.warnings.extend(session.warnings.take());
        }
        self.warnings.take()
    }

    /// Where we listen, if we do.
    pub fn listening(&self) -> Option<&str> {
        match &self.endpoint {
            Endpoint::Answer(_, address) => Some(address),
            Endpoint::Call(_) | Endpoint::Start(_) => None,
        }
    }

    fn connect(&self, until: &Until<'_>) -> Result<Session, AdapterError> {
        let stream = self.endpoint.connect(self.codec.sts().budget(), until)?;
        let codec = Arc::clone(&self.codec);
        Ok(Session::new(codec, stream, self.epoch, self.habits))
    }

    /// Says why the conversation stopped, and hangs up.
    fn explain(&mut self, stopped: SessionError, in_reset: bool) -> AdapterError {
        if let Some(mut session) = self.session.take() {
            self.habits = Some(session.habits());
            self.warnings.extend(session.warnings.take());
        }
        let address = self.endpoint.address();
        let patience = self.patience;
        let ended = matches!(
            stopped,
            SessionError::StreamError(StreamError::Ended | StreamError::Io(_))
        );
        let message = match stopped {
            SessionError::AdapterError(error) => return error,
            SessionError::StreamError(StreamError::Ended) => {
                format!("{address} closed the connection")
            }
            SessionError::StreamError(StreamError::TimedOut) if in_reset => {
                format!("{address} did not answer the reset within {patience:?}")
            }
            SessionError::StreamError(StreamError::TimedOut) => {
                format!("{address} did not read what was sent for {patience:?}")
            }
            SessionError::StreamError(StreamError::TooLong(line)) => {
                format!("{address} sent {line}")
            }
            SessionError::StreamError(StreamError::Wrong(why)) => format!("{address} sent {why}"),
            SessionError::StreamError(StreamError::Io(error)) => {
                format!("the connection to {address} failed: {error}")
            }
        };
        AdapterError::new(message)
            .hint("its own log may say why; the next test connects to it again")
            .ended(ended)
    }

    fn session(&mut self) -> Result<&mut Session, AdapterError> {
        let address = self.endpoint.address();
        self.session
            .as_mut()
            .ok_or_else(|| AdapterError::new(format!("there is no connection to {address}")))
    }
}

impl Connection for Tcp {
    fn now(&self) -> u64 {
        nanoseconds(self.epoch.elapsed())
    }

    fn reset_until(&mut self, stop: &dyn Fn() -> bool) -> Result<(), AdapterError> {
        let until = within(self.patience, stop);
        if self.session.is_none() {
            self.session = Some(self.connect(&until)?);
        }
        let result = self.session()?.reset(&until);
        result.map_err(|stopped| self.explain(stopped, true))
    }

    fn give_until(
        &mut self,
        stimulus: &Action,
        stop: &dyn Fn() -> bool,
    ) -> Result<bool, AdapterError> {
        let until = within(self.patience, stop);
        let result = self.session()?.give(stimulus, &until);
        // Nobody knows when the system reads what it was sent.
        result
            .map(|()| true)
            .map_err(|stopped| self.explain(stopped, false))
    }

    fn poll(&mut self) -> Result<Option<Arrived>, AdapterError> {
        let result = self.session()?.poll();
        result.map_err(|stopped| self.explain(stopped, false))
    }

    fn wait(&mut self, until: u64) -> Result<Arrived, AdapterError> {
        let result = self.session()?.wait(until);
        result.map_err(|stopped| self.explain(stopped, false))
    }

    fn catch_up(&mut self) -> Result<(), AdapterError> {
        let result = self.session()?.catch_up();
        result.map_err(|stopped| self.explain(stopped, false))
    }

    fn sent(&self) -> &[u8] {
        self.session.as_ref().map_or(&[], Session::sent)
    }
}
