//! Carries out what the tester wants, on a connection, and tells it what happened.
//!
//! Silence is concluded only from time in which the driver listened. A wait is cut into slices; a slice
//! that ends late shows that this thread was not scheduled, perhaps because the whole machine was busy
//! or asleep, and the system gets that time again. What had arrived by the end of the wait is read
//! before it counts as silence, also where another thread reads ([`Connection::catch_up`]).

use ioco_budget::{Budget, size};
use ioco_engine::{Command, Input, Tester};
use ioco_shrink::Runner;
use ioco_sts::{Action, Execution};

use crate::connection::{AdapterError, Arrival, Arrived, Connection, LogLine};

/// The longest that a wait goes on without looking whether a stop is requested.
const SLICE: u64 = 50_000_000;

/// A slice that ends later than this after its time was not listened to whole.
const MAX_LATENESS: u64 = 1_000_000;

/// What crossed the border between tester and system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Crossed {
    /// A reset begins: everything before belongs to another test.
    Reset,
    /// The system is in its initial state.
    Ready,
    Stimulus,
    /// A response, known to the model or not.
    Response,
    /// The time was up, or the system said that it is silent.
    Silence,
}

/// One thing that crossed the border, when, and as which bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossing<'a> {
    pub what: Crossed,
    /// Nanoseconds on the connection's clock.
    pub at: u64,
    pub raw: &'a [u8],
}

/// Carries out commands, from `first` on, until the test is finished. Returns the error that
/// ended it, if any did: the tester keeps its message, and the caller also gets the hint.
///
/// `stop` is asked before every command and during every wait; `on_crossing` sees everything in
/// the order in which the tester does.
pub fn drive<C: Connection + ?Sized>(
    tester: &mut Tester,
    first: Command,
    connection: &mut C,
    stop: &dyn Fn() -> bool,
    on_crossing: &mut dyn FnMut(Crossing<'_>),
) -> Option<AdapterError> {
    drive_watched(tester, first, connection, stop, on_crossing, &mut |_| {})
}

/// As [`drive`]; `on_handled` sees the tester after each thing that it handled, and the test goes
/// on when it returns.
pub fn drive_watched<C: Connection + ?Sized>(
    tester: &mut Tester,
    first: Command,
    connection: &mut C,
    stop: &dyn Fn() -> bool,
    on_crossing: &mut dyn FnMut(Crossing<'_>),
    on_handled: &mut dyn FnMut(&mut Tester),
) -> Option<AdapterError> {
    let mut command = first;
    let mut ended_by = None;
    // The time of the tester's last input: its waits count from then.
    let mut told_at = connection.now();
    loop {
        if command == Command::Finished {
            return ended_by;
        }
        if stop() {
            command = tester.handle(Input::Interrupted, connection.now());
            continue;
        }
        let done = match &command {
            Command::Reset { drain } => reset(*drain, connection, stop, on_crossing),
            Command::Give(stimulus) => give(stimulus, connection, stop, on_crossing),
            Command::Await { until } => wait(told_at, *until, connection, stop, on_crossing),
            Command::Finished => continue,
        };
        command = match done {
            Ok((input, at)) => {
                told_at = at;
                tester.handle(input, at)
            }
            Err(error) => {
                let text = error.message.clone();
                let input = if error.ended {
                    Input::Ended(text)
                } else {
                    Input::AdapterError(text)
                };
                ended_by = Some(error);
                tester.handle(input, connection.now())
            }
        };
        on_handled(tester);
    }
}

type Done = Result<(Input, u64), AdapterError>;

fn reset<C: Connection + ?Sized>(
    drain: u64,
    connection: &mut C,
    stop: &dyn Fn() -> bool,
    on_crossing: &mut dyn FnMut(Crossing<'_>),
) -> Done {
    if drain > 0 && !connection.resets_all() {
        let_go(drain, connection, stop);
    }
    let crossing = |what, at| Crossing { what, at, raw: &[] };
    on_crossing(crossing(Crossed::Reset, connection.now()));
    let done = connection.reset_until(stop);
    if stop() {
        return Ok((Input::Interrupted, connection.now()));
    }
    done?;
    let at = connection.now();
    on_crossing(crossing(Crossed::Ready, at));
    Ok((Input::Ready, at))
}

/// Gives the stimulus unless something has arrived: that comes first, and the tester decides anew.
#[inline]
fn give<C: Connection + ?Sized>(
    stimulus: &Action,
    connection: &mut C,
    stop: &dyn Fn() -> bool,
    on_crossing: &mut dyn FnMut(Crossing<'_>),
) -> Done {
    while let Some(arrived) = connection.poll()? {
        // Silence is of interest to who waits for it; a claim of it that happens to be early must
        // not make one run differ from another.
        if arrived.what != Arrival::Quiescent {
            return Ok(pass_on(arrived, on_crossing));
        }
    }
    let overtaken = match connection.give_until(stimulus, stop) {
        Err(_) if stop() => return Ok((Input::Interrupted, connection.now())),
        given => given?,
    };
    let at = connection.now();
    on_crossing(Crossing {
        what: Crossed::Stimulus,
        at,
        raw: connection.sent(),
    });
    Ok((Input::Given { overtaken }, at))
}

/// Discards what the previous test left behind. The reset reports what goes wrong here.
fn let_go<C: Connection + ?Sized>(drain: u64, connection: &mut C, stop: &dyn Fn() -> bool) {
    let deadline = connection.now().saturating_add(drain);
    while !stop() && connection.now() < deadline {
        let slice = deadline.min(connection.now().saturating_add(SLICE));
        match connection.wait(slice) {
            Ok(arrived) if arrived.what == Arrival::Quiescent => return,
            Ok(_) => {}
            Err(_) => return,
        }
    }
}

#[inline]
fn wait<C: Connection + ?Sized>(
    since: u64,
    until: u64,
    connection: &mut C,
    stop: &dyn Fn() -> bool,
    on_crossing: &mut dyn FnMut(Crossing<'_>),
) -> Done {
    // The whole time from when we begin to listen.
    let late = if connection.is_virtual() {
        0
    } else {
        connection.now().saturating_sub(since)
    };
    Ok(
        match listen(until.saturating_add(late), connection, stop)? {
            Some(arrived) => pass_on(arrived, on_crossing),
            None => (Input::Interrupted, connection.now()),
        },
    )
}

/// Listens until something arrives, or until this time on the connection's clock: then what arrived is silence.
/// `None`: a stop is requested.
pub fn listen<C: Connection + ?Sized>(
    until: u64,
    connection: &mut C,
    stop: &dyn Fn() -> bool,
) -> Result<Option<Arrived>, AdapterError> {
    if connection.is_virtual() {
        return connection.wait(until).map(Some);
    }
    let mut deadline = until;
    loop {
        let slice = deadline.min(connection.now().saturating_add(SLICE));
        let arrived = connection.wait(slice)?;
        if arrived.what != Arrival::Silence {
            return Ok(Some(arrived));
        }
        let late = arrived.at.saturating_sub(slice);
        if late > MAX_LATENESS {
            deadline = deadline.saturating_add(late);
        }
        if arrived.at < deadline {
            if stop() {
                return Ok(None);
            }
            continue;
        }
        connection.catch_up()?;
        let last = connection.poll()?;
        return Ok(Some(last.unwrap_or(arrived)));
    }
}

#[inline]
fn pass_on(arrived: Arrived, on_crossing: &mut dyn FnMut(Crossing<'_>)) -> (Input, u64) {
    let Arrived { what, at, raw } = arrived;
    let (what, input) = match what {
        Arrival::Response(action) => (Crossed::Response, Input::Response(action)),
        Arrival::Unknown(text) => (Crossed::Response, Input::Unknown(text)),
        // A connection passes a claim of quiescence on only when it is about now. So it is as good
        // as having waited: nothing is on its way any more.
        Arrival::Quiescent | Arrival::Silence => (Crossed::Silence, Input::Silence),
    };
    on_crossing(Crossing {
        what,
        at,
        raw: &raw,
    });
    (input, at)
}

/// One line of a [`Recorder`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    pub what: Crossed,
    /// Nanoseconds since the system was ready.
    pub at: u64,
    pub raw: Vec<u8>,
}

/// So many messages of the greatest length are kept of a test; of later ones, one part in so many each.
const KEPT_WHOLE: usize = 64;

/// Keeps what crossed the border in the test under way, for the failure file. Long messages are cut: the
/// steps of the failure have their values.
#[derive(Clone, Debug)]
pub struct Recorder {
    /// Bytes of one message that are kept.
    most: usize,
    ready_at: u64,
    exchanges: Vec<Exchange>,
    /// Bytes in `exchanges`.
    kept: usize,
}

impl Recorder {
    pub fn new(budget: &Budget) -> Recorder {
        Recorder {
            most: size(budget.wire),
            ready_at: 0,
            exchanges: Vec::new(),
            kept: 0,
        }
    }

    pub fn note(&mut self, crossing: Crossing<'_>) {
        match crossing.what {
            Crossed::Reset => {
                self.exchanges.clear();
                self.kept = 0;
            }
            Crossed::Ready => self.ready_at = crossing.at,
            what => {
                let most = match self.kept < self.most.saturating_mul(KEPT_WHOLE) {
                    true => self.most,
                    false => self.most / KEPT_WHOLE,
                };
                let raw = cut(crossing.raw, most);
                self.kept += raw.len();
                self.exchanges.push(Exchange {
                    what,
                    at: crossing.at.saturating_sub(self.ready_at),
                    raw,
                });
            }
        }
    }

    /// When the system was ready, on the connection's clock.
    pub fn ready_at(&self) -> u64 {
        self.ready_at
    }

    /// Since the last reset, in order.
    pub fn exchanges(&self) -> &[Exchange] {
        &self.exchanges
    }
}

/// At most so many bytes, and how many more there were. Text stays text.
fn cut(raw: &[u8], most: usize) -> Vec<u8> {
    if raw.len() <= most {
        return raw.to_vec();
    }
    let is_inside = |end: &usize| raw[*end] & 0xc0 == 0x80;
    let end = (most.saturating_sub(3)..=most)
        .rev()
        .find(|end| !is_inside(end));
    let end = end.unwrap_or(most);
    let mut kept = raw[..end].to_vec();
    kept.extend_from_slice(format!("… ({} more bytes)", raw.len() - end).as_bytes());
    kept
}

/// Runs lists of stimuli for a shrinker or a replay, with a tester and a connection.
pub struct ScriptRunner<'a, C: ?Sized> {
    pub tester: &'a mut Tester,
    pub connection: &'a mut C,
    pub stop: &'a dyn Fn() -> bool,
    /// What crossed the border in the last run.
    pub recorder: Recorder,
    /// When its steps were, as in a report of a test.
    pub times: Vec<u64>,
    /// What ended the last run, with the hint for a person.
    pub error: Option<AdapterError>,
    /// What the system wrote to its log in the last run.
    pub log: Vec<LogLine>,
    /// The last run that failed, and its log with times since the system was ready.
    pub failed: Option<(Execution, Vec<LogLine>)>,
    spent: Spent,
}

/// What resets and stimuli have cost so far, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    resets: u64,
    tests: u64,
    runs: u64,
    stimuli: u64,
}

impl Spent {
    /// How many stimuli take as long as a reset, roughly: a power of two, so that it seldom changes. Nothing
    /// before a few runs.
    fn reset_cost(&self) -> Option<usize> {
        let reset = self.resets / self.runs.max(1);
        let stimulus = self.tests / self.stimuli.max(1);
        let cost = usize::try_from(reset.checked_div(stimulus)?).unwrap_or(usize::MAX >> 1);
        (self.runs >= 3).then(|| cost.checked_next_power_of_two().unwrap_or(cost))
    }
}

impl<'a, C: Connection + ?Sized> ScriptRunner<'a, C> {
    pub fn new(
        tester: &'a mut Tester,
        connection: &'a mut C,
        stop: &'a dyn Fn() -> bool,
    ) -> ScriptRunner<'a, C> {
        let recorder = Recorder::new(tester.sts().budget());
        ScriptRunner {
            tester,
            connection,
            stop,
            recorder,
            times: Vec::new(),
            error: None,
            log: Vec::new(),
            failed: None,
            spent: Spent::default(),
        }
    }
}

impl<C: Connection + ?Sized> Runner for ScriptRunner<'_, C> {
    fn run(&mut self, stimuli: &[Action]) -> Execution {
        let began = self.connection.now();
        let first = self.tester.script(stimuli.to_vec(), began);
        let recorder = &mut self.recorder;
        self.error = drive(self.tester, first, self.connection, self.stop, &mut |c| {
            recorder.note(c);
        });
        let report = self.tester.finished_test();
        let all = self.connection.now().saturating_sub(began);
        self.spent.resets += all.saturating_sub(report.duration);
        self.spent.tests += report.duration;
        self.spent.runs += 1;
        self.spent.stimuli += report.execution.stimuli().count() as u64;
        self.times = report.times;
        self.log = self.connection.take_log();
        let ready_at = self.recorder.ready_at();
        for line in &mut self.log {
            line.at = line.at.saturating_sub(ready_at);
        }
        if report.execution.deviation().is_some() && !self.log.is_empty() {
            self.failed = Some((report.execution.clone(), self.log.clone()));
        }
        report.execution
    }

    fn reset_cost(&self) -> Option<usize> {
        self.spent.reset_cost()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reset_costs_as_many_stimuli_as_take_its_time() {
        let mut spent = Spent {
            resets: 300,
            tests: 90,
            runs: 2,
            stimuli: 9,
        };
        assert_eq!(spent.reset_cost(), None, "two runs say little");
        spent.runs = 3;
        assert_eq!(spent.reset_cost(), Some(16));
        spent.tests = 0;
        assert_eq!(spent.reset_cost(), None, "no time to divide by");
    }

    #[test]
    fn a_recorder_keeps_a_bounded_part_of_long_messages() {
        let mut recorder = Recorder::new(&Budget::default());
        let raw = "ä".repeat(1 << 20);
        for at in 0..200 {
            let what = Crossed::Response;
            recorder.note(Crossing {
                what,
                at,
                raw: raw.as_bytes(),
            });
        }
        let kept: usize = recorder.exchanges().iter().map(|e| e.raw.len()).sum();
        assert!(kept < 2 * KEPT_WHOLE * recorder.most, "{kept}");
        for exchange in recorder.exchanges() {
            let text = std::str::from_utf8(&exchange.raw).expect("still text");
            assert!(text.ends_with("more bytes)"));
        }
        let short = Crossing {
            what: Crossed::Response,
            at: 0,
            raw: b"short",
        };
        recorder.note(short);
        assert_eq!(recorder.exchanges()[200].raw, b"short");
    }
}
