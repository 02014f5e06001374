//! A PostgreSQL server for the tests of the store: made in a folder of its own, started, stopped
//! and removed.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::tools;

/// A running server; stopped when dropped.
pub struct Postgres {
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
}

impl Postgres {
    /// Starts one, installing it first where that is possible. On a developer's machine without
    /// one the tests that need it are skipped, and this says so; a build server has to have it.
    pub fn start() -> Result<Option<Postgres>, String> {
        eprintln!("── PostgreSQL for the tests");
        match Postgres::try_start() {
            Ok(server) => Ok(Some(server)),
            Err(why) => tools::without("PostgreSQL", &why).map(|()| None),
        }
    }

    fn try_start() -> Result<Postgres, String> {
        let text = |error: std::io::Error| error.to_string();
        let server = Postgres {
            programs: programs()
                .or_else(install)
                .ok_or("it is not here and cannot be installed")?,
            folder: std::env::temp_dir().join(format!("ioco-postgres-{}", std::process::id())),
            port: TcpListener::bind("127.0.0.1:0")
                .and_then(|free| free.local_addr())
                .map_err(text)?
                .port(),
        };
        server.make_and_start()?;
        Ok(server)
    }

    /// An address with the right to make databases.
    pub fn url(&self) -> String {
        format!("postgres://ioco@127.0.0.1:{}/postgres", self.port)
    }

    /// The address of a database by a socket in its folder, which is there in every network namespace.
    pub fn socket_url(&self, database: &str) -> String {
        let folder = self.folder.display().to_string().replace('/', "%2F");
        format!("postgres://ioco@{folder}:{}/{database}", self.port)
    }

    /// One of its programs.
    pub fn program(&self, name: &str) -> PathBuf {
        self.programs.join(name)
    }

    /// What a client of PostgreSQL's own library needs to find it: by a socket in its folder, which is there in
    /// every network namespace.
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        vec![
            ("PGHOST", self.folder.display().to_string()),
            ("PGPORT", self.port.to_string()),
            ("PGUSER", "ioco".to_owned()),
            ("PGDATABASE", "postgres".to_owned()),
        ]
    }

    /// The file with the number of its first process, while it runs.
    pub fn pid_file(&self) -> String {
        self.folder
            .join("data/postmaster.pid")
            .display()
            .to_string()
    }

    /// The shell command that starts it again.
    pub fn start_command(&self) -> String {
        let mut command = as_postgres(&self.programs.join("pg_ctl"));
        command
            .args(["--wait", "start", "--pgdata"])
            .arg(self.folder.join("data"))
            .arg("--log")
            .arg(self.folder.join("log"))
            .arg("--options")
            .arg(self.options());
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        let quoted = words.map(|word| format!("'{}'", word.to_string_lossy()));
        quoted.collect::<Vec<String>>().join(" ")
    }

    fn options(&self) -> String {
        format!(
            "-p {} -c listen_addresses=127.0.0.1 -c unix_socket_directories={}",
            self.port,
            self.folder.display()
        )
    }

    fn make_and_start(&self) -> Result<(), String> {
        fs::create_dir_all(&self.folder).map_err(|error| error.to_string())?;
        if is_root() {
            let owned = Command::new("chown")
                .arg("postgres")
                .arg(&self.folder)
                .status();
            if !owned.is_ok_and(|status| status.success()) {
                return Err("there is no user 'postgres' to run it".to_owned());
            }
        }
        let data = self.folder.join("data");
        self.run(
            "initdb",
            &["--auth=trust", "--username=ioco", "--pgdata"],
            &data,
            None,
        )?;
        self.run(
            "pg_ctl",
            &["--wait", "start", "--pgdata"],
            &data,
            Some(&self.options()),
        )
    }

    fn run(
        &self,
        program: &str,
        arguments: &[&str],
        data: &Path,
        options: Option<&str>,
    ) -> Result<(), String> {
        let mut command = as_postgres(&self.programs.join(program));
        command
            .args(arguments)
            .arg(data)
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if let Some(options) = options {
            command.arg("--log").arg(self.folder.join("log"));
            command.arg("--options").arg(options);
        }
        let status = command
            .status()
            .map_err(|error| format!("{program}: {error}"))?;
        if status.success() {
            Ok(())
        } else {
            Err(format!("{program}: {status}"))
        }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let data = self.folder.join("data");
        let stop = ["--mode=immediate", "stop", "--pgdata"];
        if data.join("postmaster.pid").exists() {
            let _ = self.run("pg_ctl", &stop, &data, None);
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// PostgreSQL refuses to run as root.
fn as_postgres(program: &Path) -> Command {
    if is_root() {
        let mut command = Command::new("runuser");
        command.args(["-u", "postgres", "--"]).arg(program);
        command
    } else {
        Command::new(program)
    }
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|output| output.stdout.starts_with(b"0\n"))
}

/// The folder with `initdb`: the newest that is installed.
fn programs() -> Option<PathBuf> {
    let debian = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let mut folders: Vec<PathBuf> = debian
        .filter_map(Result::ok)
        .map(|entry| entry.path().join("bin"))
        .collect();
    folders.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    folders.splice(0..0, std::env::split_paths(&path));
    folders
        .into_iter()
        .rev()
        .find(|folder| folder.join("initdb").exists())
}

fn install() -> Option<PathBuf> {
    tools::apt_install("postgresql").then(programs).flatten()
}
