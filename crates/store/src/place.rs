//! Where a store is: a file, or a database server.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::{Duration, Instant};

use sqlx::any::AnyConnectOptions;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::{AnyConnection, ConnectOptions, Connection, Executor, SqlSafeStr};
use tokio::time::timeout;

use crate::error::StoreError;

/// Each with its number; never changed once released, only added to.
static MIGRATIONS: [(i64, &str, &str); 1] =
    [(1, "runs", include_str!("../migrations/0001_runs.sql"))];

/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Files up to so many bytes are read whole before a run is added to them: a tenth of a second.
const MOST_CHECKED: u64 = 64 << 20;

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

    pub(crate) async fn connect(&self) -> Result<AnyConnection, StoreError> {
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
                let folder = fs::create_dir_all(folder)
                    .and_then(|()| folder.canonicalize())
                    .map_err(|error| unreachable(error.to_string()))?;
                let file = folder.join(path.file_name().unwrap_or_default());
                format!("sqlite://{}?mode=rwc", escaped(&file.to_string_lossy()))
            }
        };
        let options: AnyConnectOptions = url
            .parse()
            .map_err(|error: sqlx::Error| unreachable(error.to_string()))?;
        let options = options.disable_statement_logging();
        let opened = timeout(PATIENCE, AnyConnection::connect_with(&options))
            .await
            .map_err(|_| unreachable(format!("no answer in {} s", PATIENCE.as_secs())))?;
        let mut connection = opened.map_err(|error| StoreError::of_opening(&shown, &error))?;
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
                    .map_err(|error| StoreError::of(&shown, &error))?;
            }
        }
        Ok(connection)
    }

    /// Refuses a damaged file before anything is written to it. A large one is not read whole for
    /// that: there the damage shows where it is met.
    pub(crate) async fn check(&self, connection: &mut AnyConnection) -> Result<(), StoreError> {
        let Place::File(path) = self else {
            return Ok(());
        };
        if fs::metadata(path).is_ok_and(|file| file.len() > MOST_CHECKED) {
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

    /// Makes the tables, or brings them up to date; refuses those of a newer ioco.
    pub(crate) async fn migrate(&self, connection: &mut AnyConnection) -> Result<(), StoreError> {
        // SQLite migrates without a lock: of runs that begin side by side, one makes the tables.
        let _alone = match self {
            Place::File(path) => Some(alone(&path.with_extension("lock"))),
            Place::Server(_) => None,
        };
        let migrations = MIGRATIONS.iter().map(|(version, name, sql)| {
            let kind = MigrationType::Simple;
            Migration::new(
                *version,
                Cow::Borrowed(*name),
                kind,
                (*sql).into_sql_str(),
                false,
            )
        });
        Migrator::with_migrations(migrations.collect())
            .run(connection)
            .await
            .map_err(|error| StoreError::of_migration(&self.show(), error))
    }
}

/// Holds a lock on a file until it is dropped. Where that is not possible, or takes too long, we go on
/// without: the worst is an error that says so.
fn alone(path: &Path) -> Option<fs::File> {
    let file = fs::File::create(path).ok()?;
    let begun = Instant::now();
    while let Err(fs::TryLockError::WouldBlock) = file.try_lock() {
        if begun.elapsed() >= PATIENCE {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Some(file)
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
    use super::without_password;

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
