//! The trait between the tester's driver and a system under test.

use ioco_sts::Action;

/// Something that came from the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    Response(Action),
    /// A response that the model has no label for, or values that do not have its types.
    Unknown(String),
    /// The system says that it will stay silent until the next stimulus. Connections pass this on
    /// only when it was said after the system saw the last stimulus.
    Quiescent,
    /// Nothing came until the time given.
    Silence,
}

/// One arrival, with its time on the connection's clock and the bytes behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrived {
    pub what: Arrival,
    pub at: u64,
    /// The bytes as they came over the wire, for the failure file; empty where there are none.
    pub raw: Vec<u8>,
}

/// A line that the system wrote to its log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// On the connection's clock, when it was read.
    pub at: u64,
    pub text: String,
}

/// The system or its adapter cannot be used: the test ends in an error, never in a fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdapterError {
    pub message: String,
    /// What the person can do about it.
    pub hint: Option<String>,
    /// The system itself is gone: it crashed, or its connection broke off. What led there is worth
    /// keeping, like a failure.
    pub ended: bool,
}

impl AdapterError {
    pub fn new(message: impl Into<String>) -> AdapterError {
        AdapterError {
            message: message.into(),
            hint: None,
            ended: false,
        }
    }

    pub fn hint(self, hint: impl Into<String>) -> AdapterError {
        AdapterError {
            hint: Some(hint.into()),
            ..self
        }
    }

    /// The system is gone, if `ended`.
    pub fn ended(self, ended: bool) -> AdapterError {
        AdapterError { ended, ..self }
    }
}

/// A connection to a system under test. A response may come at any time, also while a stimulus is
/// under way: implementations queue arrivals and keep their order.
pub trait Connection {
    /// Nanoseconds on this connection's clock; virtual for systems in the same process.
    fn now(&self) -> u64;

    /// Brings the system into its initial state, starting it if needed. What arrived before is
    /// discarded. Gives up soon after `stop` says so; what it then returns is of no interest.
    fn reset_until(&mut self, stop: &dyn Fn() -> bool) -> Result<(), AdapterError>;

    fn reset(&mut self) -> Result<(), AdapterError> {
        self.reset_until(&|| false)
    }

    /// Hands a stimulus over. Returns whether responses that arrive from now on may have been sent
    /// before the system saw the stimulus. Gives up soon after `stop` says so; what it then returns is
    /// of no interest.
    fn give_until(
        &mut self,
        stimulus: &Action,
        stop: &dyn Fn() -> bool,
    ) -> Result<bool, AdapterError>;

    fn give(&mut self, stimulus: &Action) -> Result<bool, AdapterError> {
        self.give_until(stimulus, &|| false)
    }

    /// What has arrived already; does not wait.
    fn poll(&mut self) -> Result<Option<Arrived>, AdapterError>;

    /// Waits for the next arrival, at most until `until` on this connection's clock.
    fn wait(&mut self, until: u64) -> Result<Arrived, AdapterError>;

    /// The last stimulus given, as bytes on the wire; empty where there are none.
    fn sent(&self) -> &[u8] {
        &[]
    }

    /// Whether waiting takes no real time, because the clock is virtual.
    fn is_virtual(&self) -> bool {
        false
    }

    /// Whether a reset leaves nothing behind: nothing that the system sent before it can arrive after
    /// it, whatever its adapter does.
    fn resets_all(&self) -> bool {
        false
    }

    /// Makes sure that [`Connection::poll`] finds everything that has reached this machine: asked
    /// before silence is concluded. A connection that reads in the calling thread may look
    /// once more; one with a thread that reads waits until that thread has had its turn.
    fn catch_up(&mut self) -> Result<(), AdapterError> {
        Ok(())
    }

    /// What the system wrote to its log since the last reset began, or since the last call.
    fn take_log(&mut self) -> Vec<LogLine> {
        Vec::new()
    }
}

impl<C: Connection + ?Sized> Connection for Box<C> {
    fn now(&self) -> u64 {
        (**self).now()
    }

    fn reset_until(&mut self, stop: &dyn Fn() -> bool) -> Result<(), AdapterError> {
        (**self).reset_until(stop)
    }

    fn give_until(
        &mut self,
        stimulus: &Action,
        stop: &dyn Fn() -> bool,
    ) -> Result<bool, AdapterError> {
        (**self).give_until(stimulus, stop)
    }

    fn poll(&mut self) -> Result<Option<Arrived>, AdapterError> {
        (**self).poll()
    }

    fn wait(&mut self, until: u64) -> Result<Arrived, AdapterError> {
        (**self).wait(until)
    }

    fn sent(&self) -> &[u8] {
        (**self).sent()
    }

    fn is_virtual(&self) -> bool {
        (**self).is_virtual()
    }

    fn resets_all(&self) -> bool {
        (**self).resets_all()
    }

    fn catch_up(&mut self) -> Result<(), AdapterError> {
        (**self).catch_up()
    }

    fn take_log(&mut self) -> Vec<LogLine> {
        (**self).take_log()
    }
}
