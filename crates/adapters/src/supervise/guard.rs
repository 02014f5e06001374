//! Child processes that do not outlive us.
//!
//! A child gets a process group of its own, so that Ctrl-C reaches the tester alone and what the child starts
//! ends with it. Three ways lead to the end of a group: its [`Guarded`] is dropped; the program is about to
//! exit without unwinding and calls [`kill_guarded`]; or we die without a word (`kill -9`), and the watchdog
//! does it. The watchdog is one shell that reads the numbers of the groups from a pipe and kills those that
//! are left when the pipe ends. A parent-death signal would need code between fork and exec, reaches the
//! child only and not what it started, and exists on Linux only.

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// Marks what we start, for the watchdog: a child that was being started when we died has reported to nobody its
/// number yet.
const MARK: &str = "IOCO_STARTED_BY";

/// Marks systems and what they start, hooks excepted: a process that has left its group ends with us all the same.
/// Hooks may start what is to stay, such as a database.
const SYSTEM: &str = "IOCO_SYSTEM_OF";

/// Reads `? `, `+ GROUP` and `- GROUP`: a child is being started, runs, has ended. `$1` and `$2` are the marks. What
/// other processes were started with is read from `/proc`, where there is one.
const WATCHDOG: &str = r#"
trap '' INT TERM HUP QUIT PIPE
groups= starting=
while read -r what group; do
  case $what in
    '?') starting=1 ;;
    +) starting=; groups="$groups $group" ;;
    -)
      starting= kept=
      for one in $groups; do [ "$one" = "$group" ] || kept="$kept $one"; done
      groups=$kept ;;
  esac
done
marked() {
  for file in $(grep -ls "$1" /proc/[0-9]*/environ); do
    process=${file#/proc/}
    kill -9 "${process%/environ}"
  done
}
for group in $groups; do kill -9 "-$group"; done
marked "$2"
if [ -n "$starting" ]; then
  for again in 1 2; do
    marked "$1"
    sleep 1
  done
fi
"#;

#[derive(Default)]
struct Register {
    /// The groups that run.
    groups: BTreeSet<i32>,
    /// Where the watchdog listens, once it runs.
    watchdog: Option<ChildStdin>,
}

fn register() -> MutexGuard<'static, Register> {
    static REGISTER: Mutex<Register> = Mutex::new(Register {
        groups: BTreeSet::new(),
        watchdog: None,
    });
    REGISTER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tells this process from all others.
fn mark() -> &'static str {
    static VALUE: OnceLock<String> = OnceLock::new();
    VALUE.get_or_init(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |time| time.as_nanos());
        format!("{}-{now}", std::process::id())
    })
}

impl Register {
    /// Sends a line to the watchdog, and starts one where there is none (any more). Without a shell there is no
    /// watchdog, and everything else works.
    fn send(&mut self, line: &str) {
        if let Some(watchdog) = &mut self.watchdog
            && watchdog.write_all(line.as_bytes()).is_ok()
        {
            return;
        }
        self.watchdog = start_watchdog().ok();
        if let Some(watchdog) = &mut self.watchdog {
            let running = self.groups.iter().map(|group| format!("+ {group}\n"));
            let text = running.chain([line.to_owned()]).collect::<String>();
            if watchdog.write_all(text.as_bytes()).is_err() {
                self.watchdog = None;
            }
        }
    }
}

fn start_watchdog() -> io::Result<ChildStdin> {
    let mut child = Command::new("sh")
        .args(["-c", WATCHDOG, "ioco-watchdog"])
        .arg(format!("{MARK}={}", mark()))
        .arg(format!("{SYSTEM}={}", mark()))
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // What ends our group must not end the watchdog.
        .process_group(0)
        .spawn()?;
    child
        .stdin
        .take()
        .ok_or_else(|| io::ErrorKind::Other.into())
}

/// Kills everything that is guarded, for a program that exits without unwinding.
pub fn kill_guarded() {
    for group in &register().groups {
        if let Some(pid) = Pid::from_raw(*group) {
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }
}

/// A child and what it started. Dropping kills them all.
pub struct Guarded {
    child: Child,
}

impl Guarded {
    pub fn spawn(command: &mut Command) -> io::Result<Guarded> {
        Guarded::spawn_hook(command.env(SYSTEM, mark()))
    }

    /// A command around a system: what it starts in a group of its own may stay.
    pub(crate) fn spawn_hook(command: &mut Command) -> io::Result<Guarded> {
        command.process_group(0).env(MARK, mark());
        // Held until the child is known, so that `kill_guarded` misses none.
        let mut register = register();
        register.send("? \n");
        match command.spawn() {
            Ok(child) => {
                let group = Pid::from_child(&child).as_raw_nonzero().get();
                register.groups.insert(group);
                register.send(&format!("+ {group}\n"));
                Ok(Guarded { child })
            }
            Err(error) => {
                register.send("- 0\n");
                Err(error)
            }
        }
    }

    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Asks all of them to end; [`Guarded::await_exit`] says whether they do.
    pub fn terminate(&mut self) {
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::TERM);
    }

    /// The exit status, if it comes within `time`. The process stays a zombie, so that its id, and
    /// with it the group's, cannot become another's before the group is killed.
    pub fn await_exit(&mut self, time: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + time;
        let mut pause = Duration::from_micros(50);
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        loop {
            let status = waitid(WaitId::Pid(Pid::from_child(&self.child)), options);
            if let Ok(Some(status)) = status {
                let raw = match (status.exit_status(), status.terminating_signal()) {
                    (Some(code), _) => code << 8,
                    (None, Some(signal)) => signal,
                    (None, None) => 0,
                };
                return Some(ExitStatus::from_raw(raw));
            }
            if Instant::now() >= deadline {
                return None;
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(5));
        }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        let pid = Pid::from_child(&self.child);
        // Nothing can be done about either failing, and both mean that no process is left.
        let _ = kill_process_group(pid, Signal::KILL);
        let group = pid.as_raw_nonzero().get();
        let mut register = register();
        register.groups.remove(&group);
        // Before the child is waited for: until then no other can get its number.
        register.send(&format!("- {group}\n"));
        drop(register);
        let _ = self.child.wait();
    }
}
