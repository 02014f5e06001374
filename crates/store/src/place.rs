//! Where a store is: a file, or a database server.

use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Duration;

use sqlx::any::AnyConnectOptions;
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use sqlx::{AnyConnection, ConnectOptions, Connection, Executor};
use tokio::time::timeout;

use crate::error::StoreError;

/// How long a server may take to answer.
pub(crate) const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// Files up to so many bytes are read whole before a run is added to them: a tenth of a second.
const MAX_CHECKED: u64 = 64 << 20;

/// Where the runs are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    File(PathBuf),
    /// `postgres://user@host/database`.
    Server(String),
}

impl Place {
    /// The file, unless a connection string names a server.
    pub fn new(file: &Path, url: Option<&str>) -> Result<Place, StoreError> {
        match url {
            None => Ok(Place::File(file.to_owned())),
            Some(url) if url.starts_with("postgres://") || url.starts_with("postgresql://") => {
                Ok(Place::Server(url.to_owned()))
            }
            Some(url) => Err(StoreError::Unreachable {
                place: without_password(url),
                why: "a store is a file in .ioco, or begins with postgres://".to_owned(),
            }),
        }
    }

    /// A server that the project chose and not the person. Its host may be any host: a password
    /// (of the address, of PGPASSWORD or of a password file) goes there only encrypted, and not over a
    /// connection that a relay in between has opened.
    pub fn of_project(url: &str) -> Result<Place, StoreError> {
        let place = Place::new(Path::new(""), Some(url))?;
        let refused = |why: String| StoreError::Unreachable {
            place: without_password(url),
            why,
        };
        let options: PgConnectOptions = url
            .parse()
            .map_err(|error: sqlx::Error| refused(error.to_string()))?;
        if options.get_socket().is_some() || is_loopback(options.get_host()) {
            return Ok(place);
        }
        match options.get_ssl_mode() {
            PgSslMode::Require | PgSslMode::VerifyCa | PgSslMode::VerifyFull => Ok(place),
            PgSslMode::Prefer => {
                let separator = if url.contains('?') { '&' } else { '?' };
                Ok(Place::Server(format!(
                    "{url}{separator}sslmode=verify-full"
                )))
            }
            PgSslMode::Disable | PgSslMode::Allow => Err(refused(
                "a password would be sent unencrypted to a host that ioco.toml chose; leave \
                 sslmode out of the address, or give the address with --store"
                    .to_owned(),
            )),
        }
    }

    /// An address of a server for messages: never a password.
    pub fn show_url(url: &str) -> String {
        without_password(url)
    }

    /// For messages: never a password.
    pub fn show(&self) -> String {
        match self {
            Place::File(path) => path.display().to_string(),
            Place::Server(url) => without_password(url),
        }
    }

    /// Whether there is anything to read yet.
    pub fn exists(&self) -> bool {
        match self {
            Place::File(path) => path.exists(),
            Place::Server(_) => true,
        }
    }

    /// Opens it to be changed; a file is made where there is none.
    pub(crate) async fn connect(&self) -> Result<AnyConnection, StoreError> {
        if let Place::File(path) = self
            && let Some(folder) = path.parent()
        {
            fs::create_dir_all(folder).map_err(|error| StoreError::Unreachable {
                place: self.show(),
                why: error.to_string(),
            })?;
        }
        let mut connection = self.opened("mode=rwc").await?;
        if let Place::File(_) = self {
            // The log is written with every commit, so a killed process loses nothing; readers do
            // not wait for the writer.
            for setting in [
                // Many runs may write side by side.
                "PRAGMA busy_timeout = 20000",
                "PRAGMA journal_mode = WAL",
                "PRAGMA synchronous = NORMAL",
                "PRAGMA foreign_keys = ON",
            ] {
                connection
                    .execute(setting)
                    .await
                    .map_err(|error| StoreError::of(&self.show(), &error))?;
            }
        }
        self.check_definitions(&mut connection).await?;
        Ok(connection)
    }

    /// A coordinator that is paused in the middle of a transaction, or cut off, must not keep the next one out: the
    /// server ends its transaction after this time. With a file, the operating system keeps the lock as long as the
    /// process lives, and the next coordinator is told so.
    pub(crate) async fn let_go_when_paused(
        &self,
        connection: &mut AnyConnection,
    ) -> Result<(), StoreError> {
        if let Place::Server(_) = self {
            connection
                .execute("SET idle_in_transaction_session_timeout = '10s'")
                .await
                .map_err(|error| StoreError::of(&self.show(), &error))?;
        }
        Ok(())
    }

    /// Opens it to be read: the database itself refuses changes.
    pub(crate) async fn connect_to_read(&self) -> Result<AnyConnection, StoreError> {
        let Place::Server(_) = self else {
            let mut connection = match self.opened("mode=ro").await {
                // In a folder that cannot be written, nobody writes it meanwhile either.
                Err(StoreError::Unreachable { .. }) => self.opened("mode=ro&immutable=1").await?,
                opened => opened?,
            };
            self.check_definitions(&mut connection).await?;
            return Ok(connection);
        };
        let mut connection = self.opened("").await?;
        connection
            .execute("SET default_transaction_read_only = on")
            .await
            .map_err(|error| StoreError::of(&self.show(), &error))?;
        Ok(connection)
    }

    async fn opened(&self, mode: &str) -> Result<AnyConnection, StoreError> {
        static DRIVERS: Once = Once::new();
        DRIVERS.call_once(sqlx::any::install_default_drivers);
        let shown = self.show();
        let unreachable = |why: String| StoreError::Unreachable {
            place: shown.clone(),
            why,
        };
        let url = match self {
            Place::Server(url) => url.clone(),
            Place::File(path) => {
                let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
                let folder = folder.unwrap_or(Path::new("."));
                let folder = folder
                    .canonicalize()
                    .map_err(|error| unreachable(error.to_string()))?;
                let file = folder.join(path.file_name().unwrap_or_default());
                self.check_files(&file)?;
                format!("sqlite://{}?{mode}", escaped(&file.to_string_lossy()))
            }
        };
        let options: AnyConnectOptions = url
            .parse()
            .map_err(|error: sqlx::Error| unreachable(error.to_string()))?;
        let options = options.disable_statement_logging();
        let opened = timeout(ANSWER_TIMEOUT, AnyConnection::connect_with(&options))
            .await
            .map_err(|_| unreachable(format!("no answer in {} s", ANSWER_TIMEOUT.as_secs())))?;
        opened.map_err(|error| StoreError::of_opening(&shown, &error))
    }

    /// Refuses a damaged file before anything is written to it. A large one is not read whole for
    /// that: there the damage shows where it is met.
    pub(crate) async fn check(&self, connection: &mut AnyConnection) -> Result<(), StoreError> {
        let Place::File(path) = self else {
            return Ok(());
        };
        if fs::metadata(path).is_ok_and(|file| file.len() > MAX_CHECKED) {
            return Ok(());
        }
        let (found,): (String,) = sqlx::query_as("PRAGMA quick_check(1)")
            .fetch_one(connection)
            .await
            .map_err(|error| StoreError::of(&self.show(), &error))?;
        if found == "ok" {
            return Ok(());
        }
        Err(StoreError::Damaged {
            place: self.show(),
            why: found.replace('\n', "; "),
        })
    }
}

fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || host
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

/// As part of an address.
fn escaped(path: &str) -> String {
    let mut text = String::with_capacity(path.len());
    for character in path.chars() {
        match character {
            '%' => text.push_str("%25"),
            '?' => text.push_str("%3F"),
            '#' => text.push_str("%23"),
            other => text.push(other),
        }
    }
    text
}

fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let authority_end = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(authority_end);
    let path = path.split('?').next().unwrap_or_default();
    match authority.rsplit_once('@') {
        Some((who, host)) => {
            let user = who.split(':').next().unwrap_or_default();
            format!("{scheme}://{user}@{host}{path}")
        }
        None => format!("{scheme}://{authority}{path}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Place, without_password};

    #[test]
    fn a_host_that_the_project_chose_gets_no_password_unencrypted() {
        let of = |url: &str| {
            Place::of_project(url).map(|place| match place {
                Place::Server(url) => url,
                Place::File(path) => panic!("{path:?}"),
            })
        };
        for (url, used) in [
            (
                "postgres://db.example/runs",
                "postgres://db.example/runs?sslmode=verify-full",
            ),
            (
                "postgres://db.example/runs?user=me",
                "postgres://db.example/runs?user=me&sslmode=verify-full",
            ),
            (
                "postgres://db.example/runs?sslmode=prefer",
                "postgres://db.example/runs?sslmode=prefer&sslmode=verify-full",
            ),
            (
                "postgres://db.example/runs?sslmode=require",
                "postgres://db.example/runs?sslmode=require",
            ),
            ("postgres://localhost/runs", "postgres://localhost/runs"),
            (
                "postgres://[::1]/runs?sslmode=disable",
                "postgres://[::1]/runs?sslmode=disable",
            ),
            (
                "postgres:///runs?host=/run/postgresql",
                "postgres:///runs?host=/run/postgresql",
            ),
        ] {
            assert_eq!(of(url).unwrap(), used);
        }
        for url in [
            "postgres://me:secret@db.example/runs?sslmode=disable",
            "postgres://localhost/runs?host=db.example&sslmode=disable",
            "postgres://localhost/runs?hostaddr=192.0.2.1&sslmode=allow",
        ] {
            let refused = of(url).unwrap_err().to_string();
            assert!(
                refused.contains("unencrypted") && !refused.contains("secret"),
                "{refused}"
            );
        }
    }

    #[test]
    fn a_password_is_never_shown() {
        for (url, shown) in [
            (
                "postgres://me:secret@db:5432/runs",
                "postgres://me@db:5432/runs",
            ),
            (
                "postgres://me:a@b:c@db/runs?password=x",
                "postgres://me@db/runs",
            ),
            ("postgres://db/runs", "postgres://db/runs"),
        ] {
            assert_eq!(without_password(url), shown);
        }
    }
}
