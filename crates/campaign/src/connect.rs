//! From what was typed and what ioco.toml says to a connection.

use std::collections::BTreeMap;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ioco_adapters::{
    AdapterError, Amp, Arrived, Connection, Http, Hub, HubOptions, Local, Process, ProcessOptions,
    ResetBy, Simulated, Sockets, Tcp, TcpOptions, TextLines,
};
use ioco_sts::{Action, Sts};
use serde::{Deserialize, Serialize};

use crate::exit::CommandError;
use crate::project::Project;
use crate::sections::amp::AmpWay;
use crate::sections::lines::LinesSection;
use crate::system::SystemName;
use crate::time;

/// What a person chose for this run; the rest is in ioco.toml.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SystemChoice {
    /// A line for the shell.
    pub sut: Option<String>,
    /// `host:port`.
    pub tcp: Option<String>,
    /// The system connects to us: `host:port`.
    pub tcp_listen: Option<String>,
    /// Where adapters connect: a port, or `host:port`.
    pub amp: Option<String>,
    /// Where the system answers requests: `http://host:port`.
    pub http: Option<String>,
    /// Which adapter: `NAME`, or `CHANNEL=NAME` for each channel.
    pub adapters: Vec<String>,
    /// Settings of adapters: `KEY=VALUE`.
    pub configure: Vec<String>,
    pub restart: bool,
    /// A part of ioco.toml.
    pub profile: Option<String>,
}

impl SystemChoice {
    /// Whether it says by itself how to reach the system.
    pub fn is_way(&self) -> bool {
        let ways = [
            &self.sut,
            &self.tcp,
            &self.tcp_listen,
            &self.amp,
            &self.http,
        ];
        ways.iter().any(|way| way.is_some())
    }
}

/// How to reach the system. Never kept in a file of the project: those hold its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionSpec {
    pub name: SystemName,
    pub way: Transport,
    /// A fresh start for every test instead of a reset.
    pub restart: bool,
    /// Nanoseconds that a reset may take.
    pub patience: u64,
}

/// What connects. Written only to the ledger of the person who typed it; in a failure file of an
/// earlier version it is somebody's wish.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// A program and its arguments, started in the project's folder.
    Command(Vec<String>),
    /// A line for the shell, started in the current folder.
    Shell(String),
    /// `host:port`.
    Tcp(String),
    /// The system connects to us: `host:port`.
    TcpListen(String),
    /// `host:port` of each channel, for systems that speak lines of text.
    TcpChannels(BTreeMap<String, String>),
    /// Adapters of the plugin-adapter protocol connect to us.
    Amp(AmpWay),
    /// The model plays the system; where it leaves a choice, a generator with this seed decides.
    Simulated(u64),
    /// `http://host:port`; ioco.toml says which requests labels are.
    Http(String),
}

const PATIENCE: u64 = 10_000_000_000;

impl ConnectionSpec {
    /// What the flags say, else what ioco.toml says.
    pub fn find(choice: &SystemChoice, project: &Project) -> Result<ConnectionSpec, CommandError> {
        ConnectionSpec::typed(choice, project)?.ok_or_else(|| {
            CommandError::usage("nothing says how to reach the system under test").hint(
                "use --sut COMMAND, --tcp HOST:PORT or --amp PORT, or write [sut] command = \
                 [\"...\"] into ioco.toml",
            )
        })
    }

    pub fn typed(
        choice: &SystemChoice,
        project: &Project,
    ) -> Result<Option<ConnectionSpec>, CommandError> {
        let amp = |listen: String| {
            Transport::Amp(AmpWay {
                listen,
                adapters: choice.adapters.clone(),
                configure: choice.configure.clone(),
            })
        };
        let typed = (choice.sut.clone().map(Transport::Shell))
            .or_else(|| choice.tcp.clone().map(Transport::Tcp))
            .or_else(|| choice.tcp_listen.clone().map(Transport::TcpListen))
            .or_else(|| choice.amp.clone().map(amp))
            .or_else(|| choice.http.clone().map(Transport::Http));
        let is_typed =
            typed.is_some() || !choice.adapters.is_empty() || !choice.configure.is_empty();
        let sut = &project.sut;
        let way = typed
            .or_else(|| sut.command.clone().map(Transport::Command))
            .or_else(|| sut.tcp.clone().map(Transport::Tcp))
            .or_else(|| sut.tcp_listen.clone().map(Transport::TcpListen))
            .or_else(|| sut.amp.clone().map(amp))
            .or_else(|| sut.http.clone().map(Transport::Http))
            .or_else(|| {
                let channels = project.lines.as_ref().map(|lines| lines.channels.clone());
                channels
                    .filter(|c| !c.is_empty())
                    .map(Transport::TcpChannels)
            });
        let Some(way) = way else { return Ok(None) };
        if matches!(&way, Transport::Command(words) if words.is_empty()) {
            return Err(CommandError::usage("[sut] command in ioco.toml is empty"));
        }
        let for_adapters = !choice.adapters.is_empty() || !choice.configure.is_empty();
        if for_adapters && !matches!(way, Transport::Amp(_)) {
            return Err(CommandError::usage(
                "--adapter and --configure belong to --amp",
            ));
        }
        if let Transport::Amp(amp) = &way {
            amp.hub(project)?;
        }
        match &way {
            Transport::Tcp(address) => check_address(address)?,
            Transport::TcpListen(address) => check_listening(address, project.insecure)?,
            Transport::TcpChannels(channels) => {
                channels.values().try_for_each(|a| check_address(a))?;
            }
            _ => {}
        }
        if choice.restart && !matches!(way, Transport::Command(_) | Transport::Shell(_)) {
            return Err(CommandError::usage(
                "--restart is for systems that ioco starts itself",
            ));
        }
        let name = if is_typed {
            SystemName::of_typed(&way)
        } else {
            match &project.sut_profile {
                Some(profile) => SystemName::Profile(profile.clone()),
                None => SystemName::Project,
            }
        };
        let restart = choice.restart || project.sut.restart.unwrap_or(false);
        Ok(Some(ConnectionSpec {
            name,
            restart,
            patience: patience(project)?,
            way,
        }))
    }

    /// A system that this person typed before, or allowed.
    pub fn of_way(
        way: Transport,
        restart: bool,
        project: &Project,
    ) -> Result<ConnectionSpec, CommandError> {
        Ok(ConnectionSpec {
            name: SystemName::of_typed(&way),
            patience: patience(project)?,
            restart,
            way,
        })
    }

    /// Nothing is started or connected to before the first reset; where others connect to us, they
    /// can from now on.
    pub fn connect(&self, sts: &Arc<Sts>, project: &Project) -> Result<Link, CommandError> {
        let patience = Duration::from_nanos(self.patience);
        let reset = if self.restart {
            ResetBy::Restarting
        } else {
            ResetBy::Asking
        };
        let process = |mut options: ProcessOptions| {
            options.reset = reset;
            options.patience = patience;
            Link::Process(Box::new(Process::new(Arc::clone(sts), options)))
        };
        let text = |sockets: Sockets| {
            let mapping = project.lines.as_ref().map(LinesSection::mapping);
            let mapping = mapping.unwrap_or_default();
            let lines = TextLines::new(Arc::clone(sts), &mapping, &sockets, patience);
            Ok::<Link, CommandError>(Link::Text(Box::new(lines.map_err(misused)?)))
        };
        Ok(match &self.way {
            Transport::Shell(line) => process(ProcessOptions::shell(&without_shell(line))),
            Transport::Command(words) => {
                let program = find_program(&words[0]);
                let arguments: Vec<&str> = words[1..].iter().map(String::as_str).collect();
                let mut options = ProcessOptions::new(&program, &arguments);
                options.directory = Some(project.root.clone());
                process(options)
            }
            Transport::Tcp(address) if project.lines.is_some() => {
                text(Sockets::Shared(address.clone()))?
            }
            Transport::TcpListen(address) if project.lines.is_some() => {
                text(Sockets::Listening(address.clone()))?
            }
            Transport::TcpChannels(channels) => text(Sockets::PerChannel(channels.clone()))?,
            Transport::Tcp(address) => {
                let options = TcpOptions {
                    patience,
                    ..TcpOptions::new(address)
                };
                Link::Tcp(Box::new(Tcp::new(Arc::clone(sts), options)))
            }
            Transport::TcpListen(address) => {
                let options = TcpOptions {
                    patience,
                    ..TcpOptions::new(address)
                };
                let tcp = Tcp::listen(Arc::clone(sts), &options).map_err(unusable)?;
                Link::Tcp(Box::new(tcp))
            }
            Transport::Http(base) => {
                let mapping = project.http.clone().ok_or_else(|| {
                    CommandError::usage("nothing says which requests the labels are")
                        .hint("write [http] into ioco.toml, or make it from an OpenAPI description: ioco new NAME --openapi FILE")
                })?;
                let http = Http::new(Arc::clone(sts), base, &mapping, patience);
                Link::Http(Box::new(http.map_err(misused)?))
            }
            Transport::Amp(amp) => {
                let hub = project.hubs.listen(&amp.hub(project)?).map_err(unusable)?;
                let options = amp.options(project, patience)?;
                Link::Amp(Box::new(Amp::new(Arc::clone(sts), hub, options)))
            }
            Transport::Simulated(seed) => {
                let played = Simulated::new(Arc::clone(sts), *seed);
                Link::Simulated(Box::new(Local::new(played)))
            }
        })
    }

    /// For a person.
    pub fn show(&self) -> String {
        self.way.show()
    }
}

fn patience(project: &Project) -> Result<u64, CommandError> {
    match &project.sut.ready_within {
        Some(text) => time::parse(text),
        None => Ok(PATIENCE),
    }
}

impl Transport {
    /// For a person.
    pub fn show(&self) -> String {
        match self {
            Transport::Command(words) => words.join(" "),
            Transport::Shell(line) => line.clone(),
            Transport::Tcp(address) | Transport::Http(address) => address.clone(),
            Transport::TcpListen(address) => format!("a system that connects to {address}"),
            Transport::TcpChannels(channels) => {
                let addresses: Vec<&str> = channels.values().map(String::as_str).collect();
                addresses.join(", ")
            }
            Transport::Amp(amp) => match amp.adapters.as_slice() {
                [] => format!("an adapter at {}", amp.listen),
                adapters => adapters.join(", "),
            },
            Transport::Simulated(_) => "the model itself".to_owned(),
        }
    }
}

/// Where adapters connect, kept from one run of a project to the next: adapters that are idle stay
/// connected, and those that a run has used come back. Clones share them.
#[derive(Clone, Default)]
pub struct Hubs(Arc<Mutex<BTreeMap<String, Arc<Hub>>>>);

impl std::fmt::Debug for Hubs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hubs")
    }
}

impl Hubs {
    fn listen(&self, options: &HubOptions) -> Result<Arc<Hub>, AdapterError> {
        let mut hubs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(hub) = hubs.get(&options.address) {
            return Ok(Arc::clone(hub));
        }
        let hub = Arc::new(Hub::listen(options)?);
        hubs.insert(options.address.clone(), Arc::clone(&hub));
        Ok(hub)
    }
}

/// What the operating system or the network does not allow.
fn unusable(trouble: AdapterError) -> CommandError {
    CommandError {
        hint: trouble.hint,
        ..CommandError::system(trouble.message)
    }
}

/// What is written wrongly in ioco.toml.
fn misused(trouble: AdapterError) -> CommandError {
    CommandError {
        hint: trouble.hint,
        ..CommandError::usage(trouble.message)
    }
}

/// An address that cannot be right is a mistake of the person, not of the system.
fn check_address(address: &str) -> Result<(), CommandError> {
    let port = address
        .rsplit_once(':')
        .filter(|(host, _)| !host.is_empty());
    match port.map(|(_, port)| port.parse::<u16>()) {
        Some(Ok(port)) if port > 0 => Ok(()),
        _ => Err(
            CommandError::usage(format!("'{address}' is not an address"))
                .hint("write HOST:PORT, as in localhost:8080; a port is a number from 1 to 65535"),
        ),
    }
}

/// Whoever connects plays the system, and nothing is encrypted: that is for this machine only, unless
/// the person accepts it.
pub fn check_listening(address: &str, insecure: bool) -> Result<(), CommandError> {
    // What is no address at all is said by whoever listens there.
    let sockets: Vec<SocketAddr> = address
        .to_socket_addrs()
        .map_or_else(|_| Vec::new(), Iterator::collect);
    match sockets.iter().find(|socket| !socket.ip().is_loopback()) {
        Some(outside) if !insecure => Err(CommandError::usage(format!(
            "listening on {outside} lets anybody on the network connect, without encryption"
        ))
        .hint("listen on 127.0.0.1, or accept it with --insecure")),
        _ => Ok(()),
    }
}

/// A single command takes the shell's place, so that its death and its closed output are seen as
/// its own.
fn without_shell(line: &str) -> String {
    let compound = line.contains([';', '&', '|', '(', '\n', '`']);
    let assigns = line
        .split_whitespace()
        .next()
        .is_some_and(|word| word.contains('='));
    if compound || assigns || line.trim_start().starts_with("exec ") {
        line.to_owned()
    } else {
        format!("exec {line}")
    }
}

/// A program beside ioco itself is found even where it is not on the search path: so the example
/// systems work from a build folder.
fn find_program(name: &str) -> String {
    if name.contains(std::path::MAIN_SEPARATOR) || on_search_path(name) {
        return name.to_owned();
    }
    let beside = std::env::current_exe()
        .ok()
        .and_then(|exe| Some(exe.parent()?.join(name)));
    match beside {
        Some(path) if path.is_file() => path.to_string_lossy().into_owned(),
        _ => name.to_owned(),
    }
}

fn on_search_path(name: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths)
        .map(|folder: PathBuf| folder.join(name))
        .any(|p: PathBuf| Path::is_file(&p))
}

/// A connection of either kind.
pub enum Link {
    Process(Box<Process>),
    Tcp(Box<Tcp>),
    Text(Box<TextLines>),
    Http(Box<Http>),
    Amp(Box<Amp>),
    Simulated(Box<Local<Simulated>>),
}

impl Link {
    fn inner(&self) -> &dyn Connection {
        match self {
            Link::Process(process) => process.as_ref(),
            Link::Tcp(tcp) => tcp.as_ref(),
            Link::Text(text) => text.as_ref(),
            Link::Http(http) => http.as_ref(),
            Link::Amp(amp) => amp.as_ref(),
            Link::Simulated(played) => played.as_ref(),
        }
    }

    fn inner_mut(&mut self) -> &mut dyn Connection {
        match self {
            Link::Process(process) => process.as_mut(),
            Link::Tcp(tcp) => tcp.as_mut(),
            Link::Text(text) => text.as_mut(),
            Link::Http(http) => http.as_mut(),
            Link::Amp(amp) => amp.as_mut(),
            Link::Simulated(played) => played.as_mut(),
        }
    }

    /// Whether ioco starts the system itself, so that it can be started again.
    pub fn is_ours(&self) -> bool {
        matches!(self, Link::Process(_) | Link::Simulated(_))
    }

    /// Ends the system, so that the next reset starts a new one; false where it is not ours to
    /// start.
    pub fn start_afresh(&mut self) -> bool {
        match self {
            Link::Process(process) => {
                process.stop();
                true
            }
            Link::Tcp(_) | Link::Text(_) | Link::Http(_) | Link::Amp(_) | Link::Simulated(_) => {
                false
            }
        }
    }

    /// What others must do before a test can begin: connect to us, and where.
    pub fn invitation(&self) -> Option<String> {
        let waiting = |address: &str| format!("waiting for the system to connect to {address}");
        match self {
            Link::Amp(amp) => Some(format!("waiting for an adapter at {}", amp.url())),
            Link::Tcp(tcp) => tcp.listening().map(waiting),
            Link::Text(text) => text.listening().map(waiting),
            Link::Process(_) | Link::Http(_) | Link::Simulated(_) => None,
        }
    }

    /// Who has connected, since the last call.
    pub fn take_notices(&mut self) -> Vec<String> {
        match self {
            Link::Amp(amp) => amp.take_notices(),
            Link::Process(_)
            | Link::Tcp(_)
            | Link::Text(_)
            | Link::Http(_)
            | Link::Simulated(_) => Vec::new(),
        }
    }

    /// What a person should know about the system's side, since the last call.
    pub fn take_warnings(&mut self) -> Vec<String> {
        match self {
            Link::Process(process) => process.take_warnings(),
            Link::Tcp(tcp) => tcp.take_warnings(),
            Link::Text(_) | Link::Simulated(_) => Vec::new(),
            Link::Http(http) => http.take_warnings(),
            Link::Amp(amp) => amp.take_warnings(),
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

    fn reset(&mut self) -> Result<(), AdapterError> {
        self.inner_mut().reset()
    }

    fn reset_heeding(&mut self, stop: &dyn Fn() -> bool) -> Result<(), AdapterError> {
        self.inner_mut().reset_heeding(stop)
    }

    fn give(&mut self, stimulus: &Action) -> Result<bool, AdapterError> {
        self.inner_mut().give(stimulus)
    }

    fn give_heeding(
        &mut self,
        stimulus: &Action,
        stop: &dyn Fn() -> bool,
    ) -> Result<bool, AdapterError> {
        self.inner_mut().give_heeding(stimulus, stop)
    }

    fn sent(&self) -> &[u8] {
        self.inner().sent()
    }

    fn poll(&mut self) -> Result<Option<Arrived>, AdapterError> {
        self.inner_mut().poll()
    }

    fn wait(&mut self, until: u64) -> Result<Arrived, AdapterError> {
        self.inner_mut().wait(until)
    }
}
