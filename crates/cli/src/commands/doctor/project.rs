//! The project: its file, its model, its system, and where its results are kept.

use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ioco_campaign::{
    ConnectionSpec, FILE_NAME, ModelOptions, Project, Results, SolverChoice, Transport, history,
};

use super::machine::{self, which};
use super::{Finding, State};
use crate::args;
use crate::commands::nusmv;
use crate::exit::CommandError;
use crate::{output, typed};

const PROJECT: &str = "project";
const SYSTEM: &str = "system";
const RESULTS: &str = "results";

/// A system on this machine answers sooner than this, or does not.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

pub fn findings(arguments: &args::Doctor) -> Vec<Finding> {
    if arguments.model.is_none()
        && arguments.system.profile.is_none()
        && !Path::new(FILE_NAME).exists()
    {
        return vec![
            Finding::note(
                PROJECT,
                FILE_NAME,
                "this folder has no project: ioco checks only the machine",
            )
            .hint("`ioco new NAME` makes a project"),
        ];
    }
    let profile = arguments.system.profile.as_deref();
    let mut project = match typed::project(arguments.model.as_deref(), profile) {
        Ok(project) => project,
        Err(error) => return vec![Finding::error(PROJECT, FILE_NAME, error)],
    };
    arguments.store.apply(&mut project);
    let file = project.file();
    let mut found = vec![if file.exists() {
        Finding::ok(PROJECT, FILE_NAME, file.display().to_string())
    } else {
        Finding::note(
            PROJECT,
            FILE_NAME,
            "no such file: the flags have all settings",
        )
    }];
    let reached = ConnectionSpec::typed(&arguments.system.choice(), &project);
    let (finding, sts) = model(&project);
    found.push(finding);
    found.extend(solver(&project));
    match reached {
        Err(error) => found.push(Finding::error(SYSTEM, "connection", error.into())),
        Ok(None) => found.push(
            Finding::warning(SYSTEM, "connection", "no system under test is configured").hint(
                "write [sut] into ioco.toml, or use --sut COMMAND, --tcp HOST:PORT, --http URL or --amp PORT",
            ),
        ),
        Ok(Some(reach)) => {
            // Everything that can be wrong before something is started: the mapping of labels, ports in use.
            let connected = sts.map(|sts| reach.connect(&sts, &project).map(drop));
            match connected {
                Some(Err(error)) => found.push(Finding::error(SYSTEM, "connection", error.into())),
                _ => found.push(Finding::ok(SYSTEM, "connection", reach.show())),
            }
            found.extend(way(&reach.way, &project.root));
        }
    }
    found.push(results(&project));
    found.push(store(&project));
    found
}

/// The model, and what it is where it can be used.
fn model(project: &Project) -> (Finding, Option<std::sync::Arc<ioco_sts::Sts>>) {
    let Some(path) = &project.model else {
        let error = CommandError::usage("ioco.toml names no model")
            .hint("write model = \"FILE.aml\" into it");
        return (Finding::error(PROJECT, "model", error), None);
    };
    let shown = path.strip_prefix(".").unwrap_or(path).display();
    if nusmv::is_model(path) {
        let words = format!("{shown}: NuSMV; `ioco generate` makes tests from it");
        return (Finding::note(PROJECT, "model", words), None);
    }
    let options = ModelOptions {
        limits: project.limits,
        ..ModelOptions::default()
    };
    let read = match ioco_campaign::model::read(&options, project) {
        Ok(read) => read,
        Err(error) => return (Finding::error(PROJECT, "model", error.into()), None),
    };
    let errors = read.diagnostics.iter().filter(|d| d.is_error()).count();
    let Some(sts) = read.sts.filter(|_| errors == 0) else {
        let errors = output::count(errors as u64, "error");
        let error = CommandError::usage(format!("{shown} has {errors}"))
            .hint(format!("`ioco check {shown}` shows them"));
        return (Finding::error(PROJECT, "model", error), None);
    };
    let warnings = read.diagnostics.iter();
    let warnings = warnings
        .filter(|d| d.severity == ioco_aml::Severity::Warning)
        .count();
    let size = format!(
        "{shown}: {}, {}",
        output::count(sts.locations().len() as u64, "location"),
        match sts.switches().len() {
            1 => "1 switch".to_owned(),
            switches => format!("{switches} switches"),
        },
    );
    let finding = match warnings {
        0 => Finding::ok(PROJECT, "model", size),
        some => Finding::warning(
            PROJECT,
            "model",
            format!("{size}, {}", output::count(some as u64, "warning")),
        )
        .hint(format!("`ioco check {shown}` shows them")),
    };
    (finding, Some(sts))
}

/// A solver that the project asks for has to be there.
fn solver(project: &Project) -> Option<Finding> {
    let SolverChoice::Program(command) = SolverChoice::named(project.test.solver.as_deref()) else {
        return None;
    };
    Some(program(PROJECT, "solver", &command, Path::new(".")))
}

/// What a connection needs of this machine.
fn way(way: &Transport, root: &Path) -> Vec<Finding> {
    match way {
        Transport::Command(words) => words
            .first()
            .map(|word| located(SYSTEM, "program", word, root))
            .into_iter()
            .collect(),
        Transport::Shell(line) => vec![program(SYSTEM, "program", line, Path::new("."))],
        Transport::Started(start, _) => (start.commands().iter())
            .map(|line| program(SYSTEM, "program", line, root))
            .collect(),
        Transport::Tcp(address) => vec![answers(address)],
        Transport::TcpChannels(channels) => channels
            .values()
            .filter(|address| !channels.contains_key(*address))
            .map(|address| answers(address))
            .collect(),
        Transport::Http(url) => {
            let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
            let host = rest.split('/').next().unwrap_or_default();
            let port = if scheme == "https" { 443 } else { 80 };
            let has_port = host
                .rsplit_once(':')
                .is_some_and(|(_, p)| p.parse::<u16>().is_ok());
            vec![answers(&match has_port {
                true => host.to_owned(),
                false => format!("{host}:{port}"),
            })]
        }
        // They connect to us: the port was tried when the connection was made.
        Transport::TcpListen(_) | Transport::Amp(_) | Transport::Simulated(_) => Vec::new(),
    }
}

/// The program that a line for the shell starts, as far as that can be seen without running it.
fn program(group: &'static str, name: &str, line: &str, folder: &Path) -> Finding {
    let mut words = line.split_whitespace();
    let first = words.find(|word| !word.contains('=') && *word != "exec");
    let word = first.unwrap_or_default().trim_end_matches(';');
    // What the shell works out itself is not looked at.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    if word.is_empty() || !word.chars().all(is_plain) {
        return Finding::note(
            group,
            name,
            format!("{line}: not checked, because a shell interprets it"),
        );
    }
    located(group, name, word, folder)
}

fn located(group: &'static str, name: &str, word: &str, folder: &Path) -> Finding {
    let beside = || {
        let own = std::env::current_exe().ok()?;
        Some(own.parent()?.join(word)).filter(|path| path.is_file())
    };
    let place: Option<PathBuf> = if word.contains('/') {
        Some(folder.join(word)).filter(|path| path.is_file())
    } else {
        which(word).or_else(beside)
    };
    match place {
        Some(place) if machine::is_executable(&place) => {
            Finding::ok(group, name, format!("{word} ({})", place.display()))
        }
        Some(place) => Finding::unusable(
            group,
            name,
            format!("{} is not executable", place.display()),
        )
        .hint(format!("chmod +x {}", place.display())),
        None if word.contains('/') => Finding::unusable(
            group,
            name,
            format!("there is no {}", folder.join(word).display()),
        ),
        None => Finding::unusable(group, name, format!("{word} is not on the search path"))
            .hint("install it, or write the whole path"),
    }
}

/// Whether something listens at an address. Only this machine is asked: looking at a project sends nothing over
/// the network.
fn answers(address: &str) -> Finding {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    // Another name would have to be asked for, and its owner learns of that.
    let is_here = host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
    let sockets: Vec<SocketAddr> = match is_here {
        true => (address.to_socket_addrs()).map_or_else(|_| Vec::new(), Iterator::collect),
        false => Vec::new(),
    };
    let name = "address";
    if !is_here || sockets.iter().any(|socket| !socket.ip().is_loopback()) {
        let words = format!("{address} is on the network: not tried");
        return Finding::note(SYSTEM, name, words).hint("`ioco connect` talks to it");
    }
    let connects = |socket: &SocketAddr| TcpStream::connect_timeout(socket, ANSWER_TIMEOUT).is_ok();
    if sockets.iter().any(connects) {
        Finding::ok(SYSTEM, name, format!("{address} accepts connections"))
    } else {
        Finding::unusable(SYSTEM, name, format!("nothing listens at {address}"))
            .hint("start the system, or let ioco start it: [sut] start in ioco.toml")
    }
}

fn results(project: &Project) -> Finding {
    let folder = project.results();
    // It is made by the first run.
    let place = if folder.exists() {
        folder.clone()
    } else {
        project.root.clone()
    };
    let shown = folder.strip_prefix(".").unwrap_or(&folder).display();
    match machine::try_writing(&place) {
        Ok(()) => Finding::ok(RESULTS, "folder", shown.to_string()),
        Err(error) => {
            let error =
                CommandError::usage(format!("cannot write to {}: {error}", place.display()))
                    .hint("ioco would keep the results of a run in another folder, and say where");
            Finding {
                state: State::Warning,
                ..Finding::error(RESULTS, "folder", error)
            }
        }
    }
}

fn store(project: &Project) -> Finding {
    let newest = history::open(project).and_then(|store| match store {
        None => Ok(None),
        Some(store) => {
            let runs = store.runs(None, 1).map_err(history::stop)?;
            Ok(runs.first().map(|run| run.id))
        }
    });
    let failures = Results::at(project.results()).failure_files().len() as u64;
    match newest {
        Ok(None) => Finding::ok(RESULTS, "store", "no run yet"),
        Ok(Some(run)) => Finding::ok(
            RESULTS,
            "store",
            format!("newest run {run}, {}", output::count(failures, "failure")),
        ),
        Err(error) => Finding::error(RESULTS, "store", error.into()),
    }
}
