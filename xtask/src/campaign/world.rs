//! The machines of a campaign as processes of this one: NATS servers, workers, coordinators; and what can happen to them.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A process that ends with its owner.
pub struct Process {
    child: Child,
    is_paused: bool,
}

impl Process {
    pub fn spawn(command: &mut Command) -> Result<Process, String> {
        let child = command
            .stdin(Stdio::null())
            .spawn()
            .map_err(|error| format!("{command:?}: {error}"))?;
        Ok(Process {
            child,
            is_paused: false,
        })
    }

    pub fn signal(&mut self, signal: &str) {
        let id = self.child.id().to_string();
        // One that has ended takes no signal.
        let _ = Command::new("kill")
            .args([signal, &id])
            .stderr(Stdio::null())
            .status();
        self.is_paused = signal == "-STOP";
    }

    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Kilobytes that it holds, and those of its children.
    pub fn memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let size = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        size.unwrap_or(0)
    }

    /// Seconds of processor time that it has used.
    pub fn processor(&self) -> f64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()));
        let stat = stat.unwrap_or_default();
        let after = stat.rsplit_once(')').map_or("", |(_, after)| after);
        let fields: Vec<&str> = after.split_whitespace().collect();
        let ticks = |at: usize| fields.get(at).and_then(|text| text.parse::<f64>().ok());
        (ticks(11).unwrap_or(0.0) + ticks(12).unwrap_or(0.0)) / 100.0
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.is_paused {
            self.signal("-CONT");
        }
        self.kill();
    }
}

/// A port that nothing listens at.
pub fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    Ok(address.port())
}

/// One NATS server, alone or in a cluster.
pub struct Nats {
    program: PathBuf,
    pub folder: PathBuf,
    pub port: u16,
    /// Where its messages are.
    pub data: PathBuf,
    /// The name of the server, its port for others and theirs.
    cluster: Option<(String, u16, Vec<u16>)>,
    process: Option<Process>,
}

impl Nats {
    pub fn new(program: &Path, folder: &Path) -> Result<Nats, String> {
        fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        Ok(Nats {
            program: program.to_owned(),
            folder: folder.to_owned(),
            data: folder.join("data"),
            port: free_port()?,
            cluster: None,
            process: None,
        })
    }

    /// Servers that know each other.
    pub fn cluster(program: &Path, folder: &Path, size: usize) -> Result<Vec<Nats>, String> {
        let ports = (0..size)
            .map(|_| free_port())
            .collect::<Result<Vec<u16>, String>>()?;
        let server = |(at, port): (usize, &u16)| {
            let mut nats = Nats::new(program, &folder.join(format!("n{at}")))?;
            nats.cluster = Some((format!("n{at}"), *port, ports.clone()));
            nats.start()?;
            Ok(nats)
        };
        let servers: Result<Vec<Nats>, String> = ports.iter().enumerate().map(server).collect();
        let servers = servers?;
        // Nothing can be kept before they have a leader, and each of them knows it.
        let begun = Instant::now();
        while !servers
            .iter()
            .all(|server| server.said().contains("metadata leader"))
        {
            if begun.elapsed() > Duration::from_secs(120) {
                return Err("the NATS servers elect no leader".to_owned());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(servers)
    }

    pub fn start(&mut self) -> Result<(), String> {
        let mut text = format!(
            "listen: \"0.0.0.0:{}\"\nmax_payload: 8MB\njetstream {{ store_dir: {:?}, sync_interval: always }}\n",
            self.port,
            self.data.display().to_string()
        );
        if let Some((name, port, ports)) = &self.cluster {
            let routes: Vec<String> = ports
                .iter()
                .map(|port| format!("\"nats://127.0.0.1:{port}\""))
                .collect();
            text.push_str(&format!(
                "server_name: {name}\ncluster {{ name: ioco, listen: \"127.0.0.1:{port}\", routes: [{}] }}\n",
                routes.join(", ")
            ));
        }
        let config = self.folder.join("nats.conf");
        fs::write(&config, text).map_err(|error| error.to_string())?;
        let log = fs::File::create(self.folder.join("log")).map_err(|error| error.to_string())?;
        let process = Process::spawn(
            Command::new(&self.program)
                .arg("-c")
                .arg(&config)
                .stdout(Stdio::null())
                .stderr(log),
        )?;
        self.process = Some(process);
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            if begun.elapsed() > Duration::from_secs(30) {
                return Err("the NATS server does not listen".to_owned());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    pub fn kill(&mut self) {
        self.process = None;
    }

    pub fn signal(&mut self, signal: &str) {
        if let Some(process) = &mut self.process {
            process.signal(signal);
        }
    }

    pub fn process(&self) -> Option<&Process> {
        self.process.as_ref()
    }

    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub fn said(&self) -> String {
        fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }
}

/// A file system of its own with little room; it goes when dropped.
pub struct SmallDisk(pub PathBuf);

impl SmallDisk {
    /// `None` where this user may not mount one.
    pub fn mount(folder: &Path, megabytes: u32) -> Option<SmallDisk> {
        fs::create_dir_all(folder).ok()?;
        let size = format!("size={megabytes}m");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "tmpfs"])
            .arg(folder)
            .stderr(Stdio::null())
            .status();
        let is_mounted = mounted.is_ok_and(|status| status.success());
        is_mounted.then(|| SmallDisk(folder.to_owned()))
    }

    /// Takes all the room that is left.
    pub fn fill(&self) {
        let block = vec![0; 64 * 1024];
        let Ok(mut file) = fs::File::create(self.0.join("full")) else {
            return;
        };
        while std::io::Write::write_all(&mut file, &block).is_ok() {}
        while std::io::Write::write_all(&mut file, &[0]).is_ok() {}
    }

    pub fn empty(&self) {
        let _ = fs::remove_file(self.0.join("full"));
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

/// A network of its own, joined to this machine's by one line that can be cut.
pub struct Network {
    name: String,
    line: String,
    /// The address of this machine in it.
    pub address: String,
}

impl Network {
    /// `None` where this user may not make one.
    pub fn make(number: u32) -> Option<Network> {
        let own = std::process::id() % 10_000;
        let network = Network {
            name: format!("ioco-{own}-{number}"),
            line: format!("ioco{own}x{number}"),
            address: format!("10.77.{number}.1"),
        };
        let inside = format!("ioco{own}y{number}");
        let (name, line) = (&network.name, &network.line);
        let commands = [
            format!("netns add {name}"),
            format!("link add {line} type veth peer name {inside}"),
            format!("link set {inside} netns {name}"),
            format!("addr add {}/24 dev {line}", network.address),
            format!("link set {line} up"),
            format!("-n {name} addr add 10.77.{number}.2/24 dev {inside}"),
            format!("-n {name} link set {inside} up"),
            format!("-n {name} link set lo up"),
        ];
        let is_made = commands.iter().all(|command| ip(command));
        is_made.then_some(network)
    }

    /// A command that runs inside.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.name]).arg(program);
        command
    }

    pub fn cut(&self, is_cut: bool) {
        let state = if is_cut { "down" } else { "up" };
        ip(&format!("link set {} {state}", self.line));
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        ip(&format!("link del {}", self.line));
        ip(&format!("netns del {}", self.name));
    }
}

fn ip(arguments: &str) -> bool {
    Command::new("ip")
        .args(arguments.split(' '))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
