//! Lines over file descriptors: reading and writing without threads and without ever blocking in
//! a read or a write.
//!
//! The calling thread reads the pipe or socket itself, so that a response costs no hand-over
//! between threads. Whenever it has to wait, for a line or for room to write, it waits in `poll(2)`
//! on everything at once: the system can always get rid of its output and never waits for us while
//! we wait for it. What the system sends and ioco has not asked for stays in the operating system's
//! own buffer, which is bounded: a system that floods is slowed down, not stored.

use std::io;
use std::os::fd::OwnedFd;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio};

use ioco_budget::{Budget, size};

use crate::connection::LogLine;
use crate::supervise::{Guarded, Lines, Log, TooLong, Until};
use crate::text::{Cut, Framing, Progress};

/// How long the exit status of a program may come after the end of its output.
const EXIT_GRACE: Duration = Duration::from_millis(500);

/// Bytes read at once; the size of a pipe's buffer on Linux.
const CHUNK: usize = 64 << 10;

/// Bytes of an unfinished message that one call takes in.
const AT_ONCE: usize = 256 << 10;

/// Lines of standard error that a message shows.
pub(crate) const LAST_LINES: usize = 12;

/// Why no more lines come or go.
#[derive(Debug)]
pub(crate) enum StreamError {
    /// The other side closed the stream.
    Ended,
    /// The time was up.
    TimedOut,
    /// A line without an end.
    TooLong(TooLong),
    /// What cannot be a message.
    Wrong(String),
    /// The operating system said no.
    Io(io::Error),
}

impl From<TooLong> for StreamError {
    fn from(error: TooLong) -> StreamError {
        StreamError::TooLong(error)
    }
}

impl From<Errno> for StreamError {
    fn from(error: Errno) -> StreamError {
        match error {
            Errno::PIPE | Errno::CONNRESET | Errno::CONNABORTED => StreamError::Ended,
            other => StreamError::Io(other.into()),
        }
    }
}

/// A system that answers at once does so within microseconds. For so long asking again is cheaper
/// than going to sleep and being woken.
const SPIN_TIME: Duration = Duration::from_micros(200);

/// A message without what marks its end, and as it came.
pub(crate) struct Message {
    pub content: Vec<u8>,
    pub raw: Vec<u8>,
}

/// Lines in, bytes out, and the last words on a third stream.
pub(crate) struct Stream {
    input: OwnedFd,
    output: OwnedFd,
    aside: Option<OwnedFd>,
    log: Log,
    lines: Lines,
    /// Of the message that `lines` begins with.
    progress: Progress,
    ended: bool,
    /// It is a TCP connection, as far as is known: what has arrived can be acknowledged at once.
    is_tcp: bool,
    /// The program at the other end, where we started it: it ends with the stream.
    program: Option<Guarded>,
}

impl Stream {
    /// `input` is what the system sends, `output` what it receives, `aside` its standard error.
    pub(crate) fn new(
        input: OwnedFd,
        output: OwnedFd,
        aside: Option<OwnedFd>,
        budget: &Budget,
    ) -> io::Result<Stream> {
        for fd in [&input, &output].into_iter().chain(&aside) {
            ioctl_fionbio(fd, true)?;
        }
        Ok(Stream {
            input,
            output,
            aside,
            log: Log::new(size(budget.log)),
            lines: Lines::new(budget),
            progress: Progress::default(),
            ended: false,
            is_tcp: true,
            program: None,
        })
    }

    /// The next line that is here already, without its newline. `Ok(None)`: nothing yet. The last may come
    /// without a newline.
    pub(crate) fn line(&mut self) -> Result<Option<&[u8]>, StreamError> {
        self.next(true)
    }

    /// The same, for lines that do not show whether they are whole: half of a line at the end is none.
    pub(crate) fn whole_line(&mut self) -> Result<Option<&[u8]>, StreamError> {
        self.next(false)
    }

    fn next(&mut self, unfinished: bool) -> Result<Option<&[u8]>, StreamError> {
        loop {
            if self.lines.next_end()?.is_some() {
                return Ok(self.lines.next()?);
            }
            if self.ended {
                if self.lines.unfinished().is_empty() || !unfinished {
                    return Err(StreamError::Ended);
                }
                return Ok(Some(self.lines.take_unfinished()));
            }
            if !self.fill()? {
                return Ok(None);
            }
        }
    }

    /// Ends a program with the stream.
    pub(crate) fn of_program(mut self, program: Guarded) -> Stream {
        self.program = Some(program);
        self
    }

    /// How the program at the other end ended.
    pub(crate) fn exit_status(&mut self) -> Option<ExitStatus> {
        self.program.as_mut()?.await_exit(EXIT_GRACE)
    }

    /// The other side sees a reset when this stream ends. Where that is not known, an end.
    pub(crate) fn abort_at_end(&self) {
        let _ = rustix::net::sockopt::set_socket_linger(&self.output, Some(Duration::ZERO));
    }

    /// The other side sees an end; what it still sends is read.
    pub(crate) fn shutdown(&self) -> io::Result<()> {
        match rustix::net::shutdown(&self.output, rustix::net::Shutdown::Write) {
            // The other side has closed already, which is the next thing to be seen.
            Ok(()) | Err(Errno::NOTCONN) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The content and the bytes of the next message that is here already.
    pub(crate) fn message(
        &mut self,
        framing: &Framing,
        limit: usize,
    ) -> Result<Option<Message>, StreamError> {
        let mut taken = 0;
        loop {
            let here = self.lines.unfinished();
            let size = here.len();
            match framing.cut(here, limit, &mut self.progress) {
                Cut::Message { bytes, content } => {
                    let raw = self.lines.take(bytes).to_vec();
                    return Ok(Some(Message { content, raw }));
                }
                Cut::Wrong(why) => return Err(StreamError::Wrong(why)),
                Cut::Unfinished if self.ended => return Err(StreamError::Ended),
                Cut::Unfinished if size > limit => return Err(TooLong { limit }.into()),
                Cut::Unfinished => {}
            }
            // The rest of a flood stays where it is, so that others have their turn.
            if taken >= AT_ONCE || !self.fill()? {
                return Ok(None);
            }
            taken += self.lines.unfinished().len() - size;
        }
    }

    /// What has come of a line that has no end yet.
    pub(crate) fn unfinished(&self) -> &[u8] {
        self.lines.unfinished()
    }

    /// One read. Returns whether something changed.
    fn fill(&mut self) -> Result<bool, StreamError> {
        match rustix::io::read(&self.input, self.lines.room(CHUNK)) {
            Ok(0) => {
                self.ended = true;
                Ok(true)
            }
            Ok(count) => {
                self.lines.filled(count);
                self.acknowledge();
                Ok(true)
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(false),
            Err(Errno::CONNRESET) => {
                self.ended = true;
                Ok(true)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// A system that sends two messages, one after the other, may send the second only once the first is acknowledged
    /// (Nagle's algorithm). Linux waits 40 ms with that unless it is asked not to, and forgets soon that it was asked.
    fn acknowledge(&mut self) {
        #[cfg(target_os = "linux")]
        if self.is_tcp {
            self.is_tcp = rustix::net::sockopt::set_tcp_quickack(&self.input, true).is_ok();
        }
    }

    /// Waits until there is something to read, at most until `deadline`. Returns whether there is.
    pub(crate) fn wait(&mut self, deadline: Instant) -> Result<bool, StreamError> {
        let eager = deadline.min(Instant::now() + SPIN_TIME);
        while Instant::now() < eager {
            if self.fill()? {
                return Ok(true);
            }
            std::thread::yield_now();
        }
        loop {
            let time_is_up = Instant::now() >= deadline;
            let aside = self.aside.as_ref().unwrap_or(&self.input);
            let mut fds = [
                PollFd::new(&self.input, PollFlags::IN),
                PollFd::new(aside, PollFlags::IN),
            ];
            let count = 1 + usize::from(self.aside.is_some());
            poll_until(&mut fds[..count], deadline)?;
            let [readable, aside] = fds.map(|fd| !fd.revents().is_empty());
            if aside {
                self.drain_aside();
            }
            if readable {
                return Ok(true);
            }
            if time_is_up {
                return Ok(false);
            }
        }
    }

    /// Writes all of `bytes`, in one call where there is room.
    pub(crate) fn write(&mut self, bytes: &[u8], until: &Until<'_>) -> Result<(), StreamError> {
        let mut rest = bytes;
        loop {
            match rustix::io::write(&self.output, rest) {
                Ok(count) => rest = &rest[count..],
                Err(Errno::AGAIN | Errno::INTR) => self.wait_for_room(until)?,
                Err(error) => return Err(error.into()),
            }
            if rest.is_empty() {
                return Ok(());
            }
        }
    }

    /// The system does not read. Perhaps it cannot, because it waits until we take its output: so
    /// take that, as far as there is room for it.
    fn wait_for_room(&mut self, until: &Until<'_>) -> Result<(), StreamError> {
        if until.is_over() {
            return Err(StreamError::TimedOut);
        }
        let takes = !self.ended && self.lines.has_room();
        let mut fds = vec![PollFd::new(&self.output, PollFlags::OUT)];
        if takes {
            fds.push(PollFd::new(&self.input, PollFlags::IN));
        }
        if let Some(aside) = &self.aside {
            fds.push(PollFd::new(aside, PollFlags::IN));
        }
        poll_until(&mut fds, until.slice())?;
        let ready = |index: usize| fds.get(index).is_some_and(|fd| !fd.revents().is_empty());
        let (readable, aside) = (takes && ready(1), ready(1 + usize::from(takes)));
        if aside {
            self.drain_aside();
        }
        if readable {
            self.fill()?;
        }
        Ok(())
    }

    /// The last lines of standard error, after taking in what is there.
    pub(crate) fn last_words(&mut self) -> Vec<String> {
        self.drain_aside();
        self.log.last(LAST_LINES)
    }

    /// What was written to standard error since the last call.
    pub(crate) fn take_log(&mut self, epoch: Instant) -> Vec<LogLine> {
        self.drain_aside();
        self.log.take(epoch)
    }

    /// Reads standard error until there is nothing more for now.
    fn drain_aside(&mut self) {
        let mut bytes = [0; 4096];
        // A system that writes without end must not keep us here.
        for _ in 0..64 {
            let Some(fd) = &self.aside else { return };
            match rustix::io::read(fd, &mut bytes) {
                Ok(0) => self.aside = None,
                Ok(count) => self.log.take_in(&bytes[..count]),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => self.aside = None,
            }
        }
    }
}

/// Waits until one of several streams has something to read, at most until `deadline`. Returns
/// whether one has.
pub(crate) fn wait_any(
    streams: &mut [&mut Stream],
    deadline: Instant,
) -> Result<bool, StreamError> {
    if let [only] = streams {
        return only.wait(deadline);
    }
    let mut fds: Vec<PollFd<'_>> = streams
        .iter()
        .map(|stream| PollFd::new(&stream.input, PollFlags::IN))
        .collect();
    loop {
        let time_is_up = Instant::now() >= deadline;
        poll_until(&mut fds, deadline)?;
        if fds.iter().any(|fd| !fd.revents().is_empty()) {
            return Ok(true);
        }
        if time_is_up {
            return Ok(false);
        }
    }
}

fn poll_until(fds: &mut [PollFd<'_>], deadline: Instant) -> Result<(), StreamError> {
    let left = deadline.saturating_duration_since(Instant::now());
    let time = Timespec {
        tv_sec: left.as_secs().try_into().unwrap_or(i64::MAX),
        tv_nsec: left.subsec_nanos().into(),
    };
    match poll(fds, Some(&time)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};

    use super::*;
    use crate::supervise::within;

    #[test]
    fn what_arrives_is_acknowledged_at_once() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let socket = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut system, _) = listener.accept().unwrap();
        let output = OwnedFd::from(socket.try_clone().unwrap());
        let budget = Budget::default();
        let mut stream = Stream::new(OwnedFd::from(socket), output, None, &budget).unwrap();
        let never = || false;
        let soon = || Instant::now() + Duration::from_secs(60);
        // A connection on which requests and answers alternate is one where Linux waits with acknowledgements.
        for _ in 0..20 {
            stream
                .write(b"ping\n", &within(Duration::from_secs(60), &never))
                .unwrap();
            system.read_exact(&mut [0; 5]).unwrap();
            system.write_all(b"pong\n").unwrap();
            while stream.line().unwrap().is_none() {
                stream.wait(soon()).unwrap();
            }
        }
        assert!(rustix::net::sockopt::tcp_quickack(&stream.input).unwrap());
    }
}
