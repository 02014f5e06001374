//! However ioco ends, no system stays behind, and what was done is written.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{PING, TempDir, folder_with, ioco, run};

/// Nothing waits this long; a hang is found all the same.
const HANG: Duration = Duration::from_secs(60);

/// Says who it is and whom it started, and answers every ping. One of those is in a session of its own, where ioco
/// can find it.
const SYSTEM: &str = r#"
import json, os, subprocess, sys
helper = subprocess.Popen(["sleep", "3600"])
pids = f"{os.getpid()} {helper.pid}"
if os.path.exists("/proc/self/environ"):
    daemon = subprocess.Popen(["sleep", "3600"], start_new_session=True)
    pids += f" {daemon.pid}"
with open("pids.part", "w") as file:
    file.write(pids)
os.rename("pids.part", "pids")
for line in sys.stdin:
    answer = {"ready": True} if json.loads(line).get("reset") else {"response": "pong"}
    sys.stdout.write(json.dumps(answer) + "\n"); sys.stdout.flush()
"#;

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < HANG, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn send(signal: &str, child: &Child) {
    let sent = Command::new("kill")
        .args([signal, &child.id().to_string()])
        .status();
    assert!(sent.expect("kill runs").success());
}

/// A zombie that nobody has waited for counts as gone.
fn is_alive(pid: &str) -> bool {
    let shown = Command::new("ps").args(["-o", "stat=", "-p", pid]).output();
    let state = String::from_utf8_lossy(&shown.expect("ps runs").stdout).into_owned();
    !state.trim().is_empty() && !state.trim().starts_with('Z')
}

/// A run without end against a system, and the processes of that system.
fn start(system: &str, more: &[&str]) -> (TempDir, Child, Vec<String>) {
    let folder = folder_with(&[("ping.aml", PING), ("system.py", system)]);
    let child = ioco()
        .current_dir(folder.path())
        .args(["test", "ping.aml", "--sut", "exec python3 system.py"])
        .args(["--tests", "1000000000"])
        .args(more)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("ioco starts");
    let file = folder.path().join("pids");
    until("the system starts", || file.exists());
    let pids = std::fs::read_to_string(file).expect("pids");
    let pids = pids.split_whitespace().map(str::to_owned).collect();
    (folder, child, pids)
}

fn code(mut child: Child) -> Option<i32> {
    until("ioco ends", || {
        child.try_wait().expect("a status").is_some()
    });
    child.wait().expect("a status").code()
}

fn is_finished(folder: &Path) -> bool {
    let report = run(ioco()
        .current_dir(folder)
        .args(["report", "--format", "jsonl"]));
    report.out.contains("\"run-finished\"")
}

#[test]
fn every_signal_that_asks_to_end_ends_the_system_and_keeps_the_run() {
    for signal in ["-INT", "-TERM", "-HUP", "-QUIT"] {
        let (folder, child, pids) = start(SYSTEM, &[]);
        send(signal, &child);
        assert_eq!(code(child), Some(130), "{signal}");
        for pid in &pids {
            until(signal, || !is_alive(pid));
        }
        assert!(is_finished(folder.path()), "{signal}");
    }
}

#[test]
fn a_killed_ioco_leaves_no_system_behind() {
    let (_folder, child, pids) = start(SYSTEM, &[]);
    send("-KILL", &child);
    assert_eq!(code(child), None);
    for pid in &pids {
        until("the system ends", || !is_alive(pid));
    }
}

#[test]
fn a_killed_ioco_leaves_no_solver_behind() {
    // It computes and reads nothing, so it does not see that nobody writes any more.
    let solver = "import os, time\n\
                  open('solver.part', 'w').write(str(os.getpid()))\n\
                  os.rename('solver.part', 'solver.pid')\n\
                  while True: time.sleep(3600)\n";
    let folder = folder_with(&[
        ("ping.aml", PING),
        ("system.py", SYSTEM),
        ("solver.py", solver),
    ]);
    let child = ioco()
        .current_dir(folder.path())
        .args(["test", "ping.aml", "--sut", "exec python3 system.py"])
        .args(["--tests", "1000000000", "--solver", "python3 solver.py"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("ioco starts");
    let file = folder.path().join("solver.pid");
    until("the solver starts", || file.exists());
    let pid = std::fs::read_to_string(file).expect("a pid");
    send("-KILL", &child);
    assert_eq!(code(child), None);
    let begun = Instant::now();
    while is_alive(&pid) && begun.elapsed() < HANG {
        std::thread::sleep(Duration::from_millis(20));
    }
    let is_left = is_alive(&pid);
    if is_left {
        let _ = Command::new("kill").args(["-9", &pid]).status();
    }
    assert!(!is_left, "the solver goes on");
}

#[test]
fn a_second_signal_ends_ioco_at_once_and_the_system_with_it() {
    // Nothing else could end it: the store is locked by another program.
    let (folder, child, pids) = start(SYSTEM, &[]);
    send("-STOP", &child);
    let locker = "import sqlite3, sys, time\n\
                  store = sqlite3.connect('.ioco/ioco.db', isolation_level=None)\n\
                  store.execute('BEGIN EXCLUSIVE')\n\
                  print('locked', flush=True)\ntime.sleep(3600)\n";
    let mut locking = Command::new("python3")
        .args(["-c", locker])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python starts");
    send("-INT", &child);
    send("-CONT", &child);
    let mut child = child;
    until("ioco ends", || {
        send_if_running("-INT", &mut child);
        child.try_wait().expect("a status").is_some()
    });
    for pid in &pids {
        until("the system ends", || !is_alive(pid));
    }
    locking.kill().expect("killed");
    locking.wait().expect("ended");
}

fn send_if_running(signal: &str, child: &mut Child) {
    if child.try_wait().expect("a status").is_none() {
        send(signal, child);
    }
}

/// Starts a program as a terminal does, waits for a file, and closes the terminal. Prints how it ended.
const TERMINAL: &str = r#"
import os, pty, sys, time
waits_for, *command = sys.argv[1:]
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(command[0], command)
while not os.path.exists(waits_for):
    time.sleep(0.02)
os.close(terminal)
_, status = os.waitpid(pid, 0)
print(os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status))
"#;

#[test]
fn a_closed_terminal_ends_the_system_and_keeps_the_run() {
    let folder = folder_with(&[
        ("ping.aml", PING),
        ("system.py", SYSTEM),
        ("terminal.py", TERMINAL),
    ]);
    let ioco_itself = ioco();
    let mut command = Command::new("python3");
    for (name, value) in ioco_itself.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let mut terminal = command
        .current_dir(folder.path())
        .args(["terminal.py", "pids"])
        .arg(ioco_itself.get_program())
        .args(["test", "ping.aml", "--sut", "exec python3 system.py"])
        .args(["--tests", "1000000000"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python starts");
    until("ioco ends", || {
        terminal.try_wait().expect("a status").is_some()
    });
    let output = terminal.wait_with_output().expect("it has ended");
    let ended = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(ended.trim(), "130");
    let pids = std::fs::read_to_string(folder.path().join("pids")).expect("pids");
    for pid in pids.split_whitespace() {
        until("the system ends", || !is_alive(pid));
    }
    assert!(is_finished(folder.path()));
}

#[test]
fn a_run_that_was_interrupted_does_not_pass() {
    let folder = folder_with(&[("ping.aml", PING), ("system.py", SYSTEM)]);
    let child = ioco()
        .current_dir(folder.path())
        .args(["test", "ping.aml", "--sut", "exec python3 system.py"])
        .args(["--tests", "1000000000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("ioco starts");
    let file = folder.path().join("pids");
    until("the system starts", || file.exists());
    send("-INT", &child);
    let ended = child.wait_with_output().expect("ioco ends");
    assert_eq!(ended.status.code(), Some(130));
    let said = String::from_utf8_lossy(&ended.stdout);
    assert!(said.contains("STOPPED ping"), "{said}");
    let runs = run(ioco().current_dir(folder.path()).arg("runs"));
    assert!(runs.out.contains("STOPPED"), "{}", runs.out);
}
