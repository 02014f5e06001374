//! From what was typed and what ioco.toml says to a connection.

mod address;
mod elsewhere;
mod hubs;
mod jobs;
mod link;
mod started;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use ioco_adapters::{
    AdapterError, Amp, Http, Local, Mapping, PORT, Process, ProcessOptions, ResetBy, Simulated,
    Sockets, Tcp, TcpOptions, TextLines, with_port,
};
use ioco_sts::Sts;
use serde::{Deserialize, Serialize};

use crate::error::{CampaignError, Remedy};
use crate::project::Project;
use crate::sections::amp::AmpWay;
use crate::system::SystemName;
use crate::time;

pub use address::check_listening;
use address::{check_address, find_program, without_shell};
pub use hubs::Hubs;
use link::Kind;
pub use link::Link;
use started::Started;
pub use started::{Fresh, Start};

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
    /// A line for the shell that starts the system, where the other flags say how to reach it.
    pub start: Option<String>,
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
/// earlier version it is only a wish.
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
    /// ioco starts the system, and reaches it as the rest says.
    Started(Start, Box<Transport>),
}

const CONNECT_TIMEOUT: u64 = 10_000_000_000;

impl ConnectionSpec {
    /// What the flags say, else what ioco.toml says.
    pub fn find(choice: &SystemChoice, project: &Project) -> Result<ConnectionSpec, CampaignError> {
        ConnectionSpec::typed(choice, project)?.ok_or_else(|| {
            CampaignError::usage("no system under test is configured").remedy(Remedy::ReachSystem)
        })
    }

    pub fn typed(
        choice: &SystemChoice,
        project: &Project,
    ) -> Result<Option<ConnectionSpec>, CampaignError> {
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
        // An address that was typed is not the system that ioco.toml starts.
        let start = match (&choice.start, choice.is_way()) {
            (Some(command), _) => Some(Start::new(command)),
            (None, true) => None,
            (None, false) => sut.start()?,
        };
        if matches!(&way, Transport::Command(words) if words.is_empty()) {
            return Err(CampaignError::usage("[sut] command in ioco.toml is empty"));
        }
        let for_adapters = !choice.adapters.is_empty() || !choice.configure.is_empty();
        if for_adapters && !matches!(way, Transport::Amp(_)) {
            return Err(CampaignError::usage(
                "only a connection to adapters of the Axini platform has adapters and their settings",
            ));
        }
        if start.is_none() && way.mentions_port() {
            return Err(CampaignError::usage(format!(
                "'{}' has a {PORT}, but ioco does not start a system there",
                way.show()
            ))
            .remedy(Remedy::StartSystem));
        }
        way.with_port(SOME_PORT).with_job(1).check(project)?;
        let is_started = matches!(way, Transport::Command(_) | Transport::Shell(_));
        if choice.restart && !is_started && start.is_none() {
            return Err(CampaignError::usage(
                "ioco can restart only the systems that it starts itself",
            ));
        }
        let is_typed = is_typed || choice.start.is_some();
        let way = match start {
            Some(start) => Transport::Started(start, Box::new(way)),
            None => way,
        };
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
    ) -> Result<ConnectionSpec, CampaignError> {
        Ok(ConnectionSpec {
            name: SystemName::of_typed(&way),
            patience: patience(project)?,
            restart,
            way,
        })
    }

    /// Nothing is started or connected to before the first reset; where others connect to us, they
    /// can from now on.
    pub fn connect(&self, sts: &Arc<Sts>, project: &Project) -> Result<Link, CampaignError> {
        let kind = self.for_job(1).kind(sts, project)?;
        let claims = project.sut.silent_once_answered.unwrap_or(false);
        Ok(Link::new(kind, claims))
    }

    fn kind(&self, sts: &Arc<Sts>, project: &Project) -> Result<Kind, CampaignError> {
        let patience = Duration::from_nanos(self.patience);
        let reset = if self.restart {
            ResetBy::Restarting
        } else {
            ResetBy::Asking
        };
        let text = |sockets: Sockets| {
            let mapping = match &project.lines {
                Some(lines) => lines.checked(sts, &project.file())?,
                None => Mapping::default(),
            };
            let lines = TextLines::new(Arc::clone(sts), &mapping, &sockets, patience);
            Ok::<Kind, CampaignError>(Kind::Text(Box::new(lines.map_err(misused)?)))
        };
        let process = |mut options: ProcessOptions| {
            options.reset = reset;
            options.patience = patience;
            if project.lines.is_some() {
                return text(Sockets::Process(Box::new(options)));
            }
            let process = Process::new(Arc::clone(sts), options);
            Ok(Kind::Process(Box::new(process)))
        };
        Ok(match &self.way {
            Transport::Shell(line) => process(ProcessOptions::shell(&without_shell(line)))?,
            Transport::Command(words) => {
                let program = find_program(&words[0]);
                let arguments: Vec<&str> = words[1..].iter().map(String::as_str).collect();
                let mut options = ProcessOptions::new(&program, &arguments);
                options.directory = Some(project.root.clone());
                process(options)?
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
                Kind::Tcp(Box::new(Tcp::new(Arc::clone(sts), options)))
            }
            Transport::TcpListen(address) => {
                let options = TcpOptions {
                    patience,
                    ..TcpOptions::new(address)
                };
                let tcp = Tcp::listen(Arc::clone(sts), &options).map_err(unusable)?;
                Kind::Tcp(Box::new(tcp))
            }
            Transport::Http(base) => {
                let mapping = project.http.clone().ok_or_else(|| {
                    CampaignError::usage("ioco.toml does not map the labels to HTTP requests")
                        .remedy(Remedy::MapHttp)
                })?;
                let http = Http::new(Arc::clone(sts), base, &mapping, patience);
                Kind::Http(Box::new(http.map_err(misused)?))
            }
            Transport::Amp(amp) => {
                let hub = project.hubs.listen(&amp.hub(project)?).map_err(unusable)?;
                let options = amp.options(project, patience)?;
                Kind::Amp(Box::new(Amp::new(Arc::clone(sts), hub, options)))
            }
            Transport::Simulated(seed) => {
                let played = Simulated::new(Arc::clone(sts), *seed);
                Kind::Simulated(Box::new(Local::new(played)))
            }
            Transport::Started(start, way) => {
                let inner = ConnectionSpec {
                    way: (**way).clone(),
                    // Each start makes everything anew; an adapter is asked to reset by itself.
                    ..self.clone()
                };
                let started = Started::new(start, inner, self.restart, sts, project)?;
                Kind::Started(Box::new(started))
            }
        })
    }

    /// Listens for adapters from now on, where they connect to us, and says where.
    pub fn listen(&self, project: &Project) -> Result<Option<String>, CampaignError> {
        let Transport::Amp(amp) = &self.way else {
            return Ok(None);
        };
        project.hubs.keep();
        let hub = project.hubs.listen(&amp.hub(project)?).map_err(unusable)?;
        Ok(Some(hub.url()))
    }

    /// For a person.
    pub fn show(&self) -> String {
        self.way.show()
    }
}

fn patience(project: &Project) -> Result<u64, CampaignError> {
    match &project.sut.ready_within {
        Some(text) => time::parse(text),
        None => Ok(CONNECT_TIMEOUT),
    }
}

/// Takes the place of `{port}` where an address is only checked.
const SOME_PORT: u16 = 1;

impl Transport {
    /// With `{port}` filled in.
    fn with_port(&self, port: u16) -> Transport {
        let fill = |text: &String| with_port(text, Some(port));
        match self {
            Transport::Command(words) => Transport::Command(words.iter().map(fill).collect()),
            Transport::Shell(line) => Transport::Shell(fill(line)),
            Transport::Tcp(address) => Transport::Tcp(fill(address)),
            Transport::TcpListen(address) => Transport::TcpListen(fill(address)),
            Transport::TcpChannels(channels) => {
                let filled = channels
                    .iter()
                    .map(|(channel, a)| (channel.clone(), fill(a)));
                Transport::TcpChannels(filled.collect())
            }
            Transport::Amp(amp) => Transport::Amp(AmpWay {
                listen: fill(&amp.listen),
                ..amp.clone()
            }),
            Transport::Http(address) => Transport::Http(fill(address)),
            Transport::Simulated(_) | Transport::Started(..) => self.clone(),
        }
    }

    fn mentions_port(&self) -> bool {
        self.with_port(SOME_PORT) != *self
    }

    /// What cannot be right is a mistake of the person.
    fn check(&self, project: &Project) -> Result<(), CampaignError> {
        match self {
            Transport::Tcp(address) => check_address(address),
            Transport::TcpListen(address) => check_listening(address, project.insecure),
            Transport::TcpChannels(channels) => {
                let addresses = channels.values().filter(|a| !channels.contains_key(*a));
                addresses.map(String::as_str).try_for_each(check_address)
            }
            Transport::Amp(amp) => amp.hub(project).map(|_| ()),
            _ => Ok(()),
        }
    }

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
            // With its hooks: what is shown here may be what a person is asked to allow.
            Transport::Started(start, way) => {
                format!("{} at {}", start.commands().join("; "), way.show())
            }
        }
    }
}

/// What the operating system or the network does not allow.
fn unusable(error: AdapterError) -> CampaignError {
    CampaignError {
        hint: error.hint,
        ..CampaignError::system(error.message)
    }
}

/// What is written wrongly in ioco.toml.
fn misused(error: AdapterError) -> CampaignError {
    CampaignError {
        hint: error.hint,
        ..CampaignError::usage(error.message)
    }
}
