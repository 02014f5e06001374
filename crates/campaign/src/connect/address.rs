//! Addresses and programs as a person writes them: mistakes are reported before anything starts.

use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::{Path, PathBuf};

use crate::error::{CampaignError, Remedy};

/// An address that cannot be right is a mistake of the person, not of the system.
pub(super) fn check_address(address: &str) -> Result<(), CampaignError> {
    let port = address
        .rsplit_once(':')
        .filter(|(host, _)| !host.is_empty());
    match port.map(|(_, port)| port.parse::<u16>()) {
        Some(Ok(port)) if port > 0 => Ok(()),
        _ => Err(
            CampaignError::usage(format!("'{address}' is not an address"))
                .hint("write HOST:PORT, as in localhost:8080; a port is a number from 1 to 65535"),
        ),
    }
}

/// Any client can play the system, and nothing is encrypted: that is for this machine only, unless
/// the person accepts it.
pub fn check_listening(address: &str, insecure: bool) -> Result<(), CampaignError> {
    // The listener reports what is no address at all.
    let sockets: Vec<SocketAddr> = address
        .to_socket_addrs()
        .map_or_else(|_| Vec::new(), Iterator::collect);
    match sockets.iter().find(|socket| !socket.ip().is_loopback()) {
        Some(outside) if !insecure => Err(CampaignError::usage(format!(
            "anyone on the network could connect to {outside}, without encryption"
        ))
        .remedy(Remedy::AllowInsecure {
            instead: "listen on 127.0.0.1",
        })),
        _ => Ok(()),
    }
}

/// A single command takes the shell's place, so that its death and its closed output are seen as
/// its own.
pub(super) fn without_shell(line: &str) -> String {
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
pub(super) fn find_program(name: &str) -> String {
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
