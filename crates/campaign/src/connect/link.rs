//! The connection to the system of a campaign, of whatever kind it is.

use ioco_adapters::{
    AdapterError, Amp, Arrival, Arrived, Connection, Http, Local, LogLine, Process, Simulated, Tcp,
    TextLines,
};
use ioco_budget::Interrupt;
use ioco_sts::Action;

use super::elsewhere::Elsewhere;
use super::started::Started;

/// How the system is reached.
pub(super) enum Kind {
    Process(Box<Process>),
    Tcp(Box<Tcp>),
    Text(Box<TextLines>),
    Http(Box<Http>),
    Amp(Box<Amp>),
    Simulated(Box<Local<Simulated>>),
    Started(Box<Started>),
    Elsewhere(Elsewhere),
}

impl Kind {
    fn inner(&self) -> &dyn Connection {
        match self {
            Kind::Process(process) => process.as_ref(),
            Kind::Tcp(tcp) => tcp.as_ref(),
            Kind::Text(text) => text.as_ref(),
            Kind::Http(http) => http.as_ref(),
            Kind::Amp(amp) => amp.as_ref(),
            Kind::Simulated(played) => played.as_ref(),
            Kind::Started(started) => started.as_ref(),
            Kind::Elsewhere(elsewhere) => elsewhere,
        }
    }

    fn inner_mut(&mut self) -> &mut dyn Connection {
        match self {
            Kind::Process(process) => process.as_mut(),
            Kind::Tcp(tcp) => tcp.as_mut(),
            Kind::Text(text) => text.as_mut(),
            Kind::Http(http) => http.as_mut(),
            Kind::Amp(amp) => amp.as_mut(),
            Kind::Simulated(played) => played.as_mut(),
            Kind::Started(started) => started.as_mut(),
            Kind::Elsewhere(elsewhere) => elsewhere,
        }
    }
}

/// A connection of any kind.
pub struct Link {
    kind: Kind,
    /// Where the person says that the system is silent once it has answered.
    answers: Option<Answers>,
}

/// Which answers are still to come, where every stimulus has one and nothing else comes.
#[derive(Default)]
struct Answers {
    /// Before the first stimulus nothing is claimed: a system may greet.
    has_begun: bool,
    outstanding: u64,
}

impl Answers {
    fn are_complete(&self) -> bool {
        self.has_begun && self.outstanding == 0
    }

    fn note(&mut self, arrived: &Arrived) {
        match arrived.what {
            Arrival::Response(_) | Arrival::Unknown(_) => {
                self.outstanding = self.outstanding.saturating_sub(1);
            }
            // A wait may be cut into slices: only the caller knows that the time is up.
            Arrival::Silence => {}
            Arrival::Quiescent => self.outstanding = 0,
        }
    }
}

impl Link {
    pub(super) fn new(kind: Kind, silent_once_answered: bool) -> Link {
        Link {
            kind,
            answers: silent_once_answered.then(Answers::default),
        }
    }

    /// Reaches no system: workers do.
    pub(crate) fn elsewhere() -> Link {
        Link::elsewhere_from(0)
    }

    /// The same, with a clock that goes on from this time.
    pub(crate) fn elsewhere_from(nanoseconds: u64) -> Link {
        Link::new(Kind::Elsewhere(Elsewhere::from(nanoseconds)), false)
    }

    fn inner(&self) -> &dyn Connection {
        self.kind.inner()
    }

    fn inner_mut(&mut self) -> &mut dyn Connection {
        self.kind.inner_mut()
    }

    /// Who can cut short what a call without a request to stop waits for.
    pub fn interrupted_by(&mut self, interrupt: &Interrupt) {
        if let Kind::Started(started) = &mut self.kind {
            started.interrupted_by(interrupt);
        }
    }

    /// Whether ioco starts the system itself, so that it can be started again.
    pub fn is_ours(&self) -> bool {
        match &self.kind {
            Kind::Process(_) | Kind::Simulated(_) | Kind::Started(_) => true,
            Kind::Text(text) => text.is_program(),
            Kind::Tcp(_) | Kind::Http(_) | Kind::Amp(_) | Kind::Elsewhere(_) => false,
        }
    }

    /// Ends the system, so that the next reset starts a new one; false where it is not ours to
    /// start.
    pub fn start_afresh(&mut self) -> bool {
        match &mut self.kind {
            Kind::Process(process) => process.stop(),
            Kind::Started(started) => started.stop(),
            Kind::Text(text) if text.is_program() => text.stop(),
            Kind::Tcp(_)
            | Kind::Text(_)
            | Kind::Http(_)
            | Kind::Amp(_)
            | Kind::Simulated(_)
            | Kind::Elsewhere(_) => return false,
        }
        true
    }

    /// What others must do before a test can begin: connect to us, and where.
    pub fn invitation(&self) -> Option<String> {
        let waiting = |address: &str| format!("waiting for the system to connect to {address}");
        match &self.kind {
            Kind::Amp(amp) => Some(format!("waiting for an adapter at {}", amp.url())),
            Kind::Tcp(tcp) => tcp.listening().map(waiting),
            Kind::Text(text) => text.listening().map(waiting),
            Kind::Started(started) => started.link().and_then(Link::invitation),
            Kind::Process(_) | Kind::Http(_) | Kind::Simulated(_) | Kind::Elsewhere(_) => None,
        }
    }

    /// Who has connected, since the last call.
    pub fn take_notices(&mut self) -> Vec<String> {
        match &mut self.kind {
            Kind::Amp(amp) => amp.take_notices(),
            Kind::Started(started) => started.take_notices(),
            Kind::Process(_)
            | Kind::Tcp(_)
            | Kind::Text(_)
            | Kind::Http(_)
            | Kind::Simulated(_)
            | Kind::Elsewhere(_) => Vec::new(),
        }
    }

    /// What a person should know about the system's side, since the last call.
    pub fn take_warnings(&mut self) -> Vec<String> {
        match &mut self.kind {
            Kind::Process(process) => process.take_warnings(),
            Kind::Tcp(tcp) => tcp.take_warnings(),
            Kind::Text(_) | Kind::Simulated(_) | Kind::Elsewhere(_) => Vec::new(),
            Kind::Http(http) => http.take_warnings(),
            Kind::Amp(amp) => amp.take_warnings(),
            Kind::Started(started) => started.take_warnings(),
        }
    }
}

impl Connection for Link {
    fn now(&self) -> u64 {
        self.inner().now()
    }

    fn is_virtual(&self) -> bool {
        self.inner().is_virtual()
    }

    fn resets_all(&self) -> bool {
        self.inner().resets_all()
    }

    fn catch_up(&mut self) -> Result<(), AdapterError> {
        self.inner_mut().catch_up()
    }

    fn take_log(&mut self) -> Vec<LogLine> {
        self.inner_mut().take_log()
    }

    fn reset_until(&mut self, stop: &dyn Fn() -> bool) -> Result<(), AdapterError> {
        self.answers = self.answers.take().map(|_| Answers::default());
        self.inner_mut().reset_until(stop)
    }

    fn give_until(
        &mut self,
        stimulus: &Action,
        stop: &dyn Fn() -> bool,
    ) -> Result<bool, AdapterError> {
        let overtaken = self.inner_mut().give_until(stimulus, stop)?;
        let Some(answers) = &mut self.answers else {
            return Ok(overtaken);
        };
        let was_complete = answers.are_complete();
        answers.has_begun = true;
        answers.outstanding += 1;
        Ok(overtaken && !was_complete)
    }

    fn sent(&self) -> &[u8] {
        self.inner().sent()
    }

    fn poll(&mut self) -> Result<Option<Arrived>, AdapterError> {
        let polled = self.inner_mut().poll()?;
        if let (Some(answers), Some(arrived)) = (&mut self.answers, &polled) {
            answers.note(arrived);
        }
        Ok(polled)
    }

    fn wait(&mut self, until: u64) -> Result<Arrived, AdapterError> {
        if self.answers.as_ref().is_some_and(Answers::are_complete) {
            let polled = self.poll()?;
            return Ok(polled.unwrap_or_else(|| Arrived {
                what: Arrival::Quiescent,
                at: self.now(),
                raw: Vec::new(),
            }));
        }
        let arrived = self.inner_mut().wait(until)?;
        if let Some(answers) = &mut self.answers {
            answers.note(&arrived);
        }
        Ok(arrived)
    }
}
