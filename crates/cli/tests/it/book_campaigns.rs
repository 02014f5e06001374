//! The commands of campaigns, as the book and the README print them, with a real NATS server: in the order in which they
//! stand there, each as in a terminal of its own. Only addresses, and the number of tests, are the test's own.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::book_commands::commands;
use crate::nats::{Process, adds_up, end, project};
use crate::support::{Ran, TempDir, folder, root, run, state};

/// Machines, and what runs on them.
struct Scene {
    /// Where the project and `deploy` are; the server's data too.
    place: TempDir,
    port: u16,
    /// Where the programs are.
    paths: std::ffi::OsString,
    /// Servers and workers.
    running: Vec<Process>,
    campaign: Option<Child>,
}

/// Tests of a campaign, instead of as many as are printed.
const TESTS: u64 = 24;

impl Scene {
    /// `None` where `cargo xtask test` did not name a server.
    fn set() -> Option<Scene> {
        let Some(server) = std::env::var_os("IOCO_TEST_NATS").map(PathBuf::from) else {
            eprintln!("skipped: IOCO_TEST_NATS names no server");
            return None;
        };
        let place = folder();
        let free = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr());
        let programs = Path::new(env!("CARGO_BIN_EXE_ioco")).parent();
        let programs = [programs, server.parent()].map(|path| path.expect("a folder").to_owned());
        let old = std::env::var_os("PATH").unwrap_or_default();
        let paths = programs.into_iter().chain(std::env::split_paths(&old));
        let scene = Scene {
            port: free.expect("a port").port(),
            paths: std::env::join_paths(paths).expect("paths"),
            running: Vec::new(),
            campaign: None,
            place,
        };
        scene.copy_project("project");
        scene.copy(&root().join("deploy"), "deploy");
        Some(scene)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    fn copy(&self, from: &Path, to: &str) {
        let to = self.path(to);
        fs::create_dir_all(&to).expect("made");
        for entry in fs::read_dir(from).expect("a folder").flatten() {
            if entry.path().is_file() {
                fs::copy(entry.path(), to.join(entry.file_name())).expect("copied");
            }
        }
    }

    fn copy_project(&self, name: &str) {
        self.copy(project().path(), name);
    }

    /// A copy of the configuration, with paths and an address of this test.
    fn configure(&self, file: &str, tls: &str) {
        let text = fs::read_to_string(root().join("deploy/nats.conf")).expect("a configuration");
        let data = self.path("data").display().to_string();
        let tls = self.path(tls).display().to_string();
        let own = text
            .replace(
                "port: 4222",
                &format!("listen: \"127.0.0.1:{}\"", self.port),
            )
            .replace("\"/data\"", &format!("\"{data}\""))
            .replace("/etc/nats/tls", &tls);
        assert!(!own.contains("4222") && !own.contains("/etc/"), "{own}");
        fs::write(self.path(file), own).expect("written");
    }

    /// The command as a shell of this test runs it.
    fn shell(&self, command: &str, at: &str) -> Command {
        let port = self.port.to_string();
        let mut line = command
            .replace("queue.example:4222", &format!("localhost:{port}"))
            .replace("--tests 1000", &format!("--tests {TESTS}"));
        let is_local = !line.contains("--nats");
        let is_client = ["ioco worker", "ioco campaign"].map(|name| line.starts_with(name));
        if line.starts_with("ioco nats") {
            line.push_str(&format!(" --port {port}"));
        } else if is_client.contains(&true) && is_local {
            line.push_str(&format!(" --nats nats://127.0.0.1:{port}"));
        }
        if line.starts_with("ioco campaign start") {
            // A campaign without workers would wait for ever.
            line.push_str(" --format json --time 3m");
            if !line.contains("--tests") {
                line.push_str(&format!(" --tests {TESTS}"));
            }
        }
        let mut shell = Command::new("bash");
        // Signals reach the program itself.
        shell
            .args(["-c", &format!("exec {line}")])
            .current_dir(self.path(at))
            .env("PATH", &self.paths)
            .env("XDG_STATE_HOME", state())
            .env("NO_COLOR", "1");
        shell
    }

    /// Runs a command: servers, workers and the campaign go on beside what comes next.
    fn play(&mut self, command: &str, at: &str) {
        let mut shell = self.shell(command, at);
        let words: Vec<&str> = command.split_whitespace().collect();
        match words.as_slice() {
            ["ioco", "nats", ..] | ["nats-server", ..] => {
                self.go_on(shell);
                let begun = Instant::now();
                while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
                    assert!(begun.elapsed() < Duration::from_secs(60), "{command}");
                    std::thread::sleep(Duration::from_millis(20));
                }
            }
            ["ioco", "worker", ..] => self.go_on(shell),
            ["ioco", "campaign", "start", ..] => {
                let child = shell.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
                self.campaign = Some(child.expect("a campaign"));
                // It has created its queues once it is announced.
                let flags = command.split_once(" --nats ").map(|(_, flags)| flags);
                let flags = flags.map_or(String::new(), |flags| format!(" --nats {flags}"));
                let status = format!("ioco campaign status{flags}");
                self.until_shown(&status, at, &["running".to_owned()]);
            }
            _ => {
                let ran = run(&mut shell);
                assert_eq!(ran.code, 0, "{command}\n{}", ran.all());
            }
        }
    }

    fn go_on(&mut self, mut shell: Command) {
        let name = format!("said-{}", self.running.len());
        let said = fs::File::create(self.path(&name)).expect("a file");
        let child = shell.stdout(Stdio::null()).stderr(said).spawn();
        self.running.push(Process(child.expect("bash")));
    }

    /// Waits until a command prints all of these.
    fn until_shown(&self, command: &str, at: &str, wanted: &[String]) {
        let begun = Instant::now();
        loop {
            let ran = run(&mut self.shell(command, at));
            if wanted.iter().all(|word| ran.out.contains(word)) {
                return;
            }
            let is_late = begun.elapsed() > Duration::from_secs(120);
            assert!(!is_late, "{command}: {wanted:?}\n{}", ran.all());
        }
    }

    fn end(&mut self) -> Ran {
        let mut ran = end(self.campaign.take().expect("a campaign"));
        for number in 0..self.running.len() {
            let said = fs::read_to_string(self.path(&format!("said-{number}")));
            ran.err.push_str(&said.expect("what it said"));
        }
        ran
    }
}

fn chapter(path: &str) -> String {
    fs::read_to_string(root().join(path)).expect("a chapter")
}

/// The commands of the first block after these words.
fn block(text: &str, after: &str) -> Vec<String> {
    let (_, rest) = text
        .split_once(after)
        .unwrap_or_else(|| panic!("no '{after}'"));
    let lines = rest.lines().skip_while(|line| !line.starts_with("    "));
    let lines = lines.take_while(|line| line.starts_with("    "));
    commands(&lines.collect::<Vec<&str>>().join("\n"))
}

/// All commands between these words and the next heading.
fn section(text: &str, heading: &str) -> Vec<String> {
    let (_, rest) = text
        .split_once(heading)
        .unwrap_or_else(|| panic!("no '{heading}'"));
    commands(rest.split("\n#").next().unwrap_or_default())
}

#[test]
fn one_machine_as_printed() {
    let Some(mut scene) = Scene::set() else {
        return;
    };
    let printed = block(
        &chapter("book/src/campaigns.md"),
        "To try it on one machine",
    );
    assert_eq!(printed.len(), 3, "{printed:?}");
    for command in printed {
        scene.play(&command, "project");
    }
    adds_up(&scene.end(), TESTS);
}

#[test]
fn the_readme_as_printed() {
    let Some(mut scene) = Scene::set() else {
        return;
    };
    let printed = section(&chapter("README.md"), "## Many systems, many machines");
    assert_eq!(printed.len(), 4, "{printed:?}");
    for command in printed {
        scene.play(&command, "project");
    }
    adds_up(&scene.end(), TESTS);
}

#[test]
fn two_machines_as_printed() {
    let Some(mut scene) = Scene::set() else {
        return;
    };
    let printed = section(&chapter("book/src/campaigns.md"), "### Two machines");
    assert!(printed.len() >= 4, "{printed:?}");
    scene.configure("project/nats.conf", "project/tls");
    for command in &printed {
        scene.play(command, "project");
    }
    // The second machine has the project, and of the certificates those that the chapter names.
    scene.copy_project("second");
    fs::create_dir(scene.path("second/tls")).expect("made");
    for name in ["ca.pem", "worker.pem", "worker.key"] {
        let file = format!("tls/{name}");
        let from = scene.path("project").join(&file);
        fs::copy(from, scene.path("second").join(file)).expect("copied");
    }
    let worker = printed.iter().find(|line| line.starts_with("ioco worker"));
    let worker = worker.expect("a worker");
    scene.play(worker, "second");
    // As the chapter says: the same flags.
    let start = printed
        .iter()
        .find(|line| line.starts_with("ioco campaign start"));
    let (_, flags) = start
        .expect("a campaign")
        .split_once(" --nats ")
        .expect("flags");
    let status = format!("ioco campaign status --nats {flags}");
    let workers = scene.running.iter().skip(1);
    let names: Vec<String> = workers
        .map(|worker| format!("-{}  ", worker.0.id()))
        .collect();
    assert_eq!(names.len(), 2);
    scene.until_shown(&status, "project", &names);
    adds_up(&scene.end(), TESTS);
    let runs = run(&mut scene.shell("ioco runs", "project"));
    assert_eq!(runs.code, 0, "{}", runs.all());
}

#[test]
fn the_files_of_deploy_as_printed() {
    let Some(mut scene) = Scene::set() else {
        return;
    };
    let printed = section(&chapter("book/src/campaigns.md"), "### Who may do what");
    assert!(printed.len() >= 4, "{printed:?}");
    // The folder with ioco.toml and `deploy` in it.
    scene.copy_project(".");
    scene.configure("deploy/nats.conf", "tls");
    for command in printed {
        scene.play(&command, ".");
    }
    adds_up(&scene.end(), TESTS);
}
