//! The shapes of the tables, one after the other, and how a store gets from one to the next.

use std::borrow::Cow;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::{AnyConnection, SqlSafeStr};

use crate::error::StoreError;
use crate::place::{ANSWER_TIMEOUT, Place};

/// Migrations with their numbers and names, in order.
pub(crate) type Migrations = [(i64, &'static str, &'static str)];

/// Those of this ioco. Never changed once released, only added to.
pub(crate) static MIGRATIONS: [(i64, &str, &str); 2] = [
    (1, "runs", include_str!("../migrations/0001_runs.sql")),
    (
        2,
        "campaigns",
        include_str!("../migrations/0002_campaigns.sql"),
    ),
];

/// The tables of a store, compared with those that this ioco knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Age {
    /// There are none.
    Empty,
    Older,
    Current,
    Newer,
}

impl Place {
    /// How the tables are compared with those that this ioco knows.
    pub(crate) async fn age(&self, connection: &mut AnyConnection) -> Result<Age, StoreError> {
        self.age_for(&MIGRATIONS, connection).await
    }

    async fn age_for(
        &self,
        known: &Migrations,
        connection: &mut AnyConnection,
    ) -> Result<Age, StoreError> {
        let asked: sqlx::Result<(Option<i64>,)> =
            sqlx::query_as("SELECT MAX(version) FROM _sqlx_migrations")
                .fetch_one(connection)
                .await;
        let version = match asked {
            Ok((version,)) => version,
            Err(error) if no_such_table(&error) => None,
            Err(error) => return Err(StoreError::of(&self.show(), &error)),
        };
        let newest = known.iter().map(|(version, ..)| *version).max();
        Ok(match version {
            None => Age::Empty,
            _ if version == newest => Age::Current,
            _ if version < newest => Age::Older,
            _ => Age::Newer,
        })
    }

    /// Gets a store ready to be written to: makes its tables, and brings those of a file up to date.
    /// A server is shared, and others may use an older ioco: it is upgraded only on request.
    pub(crate) async fn prepare(&self, connection: &mut AnyConnection) -> Result<(), StoreError> {
        self.prepare_for(&MIGRATIONS, connection).await
    }

    async fn prepare_for(
        &self,
        known: &Migrations,
        connection: &mut AnyConnection,
    ) -> Result<(), StoreError> {
        let is_server = matches!(self, Place::Server(_));
        if is_server && self.age_for(known, connection).await? == Age::Older {
            return Err(StoreError::Older { place: self.show() });
        }
        self.migrate_for(known, connection).await
    }

    /// Makes the tables, or brings them up to date; refuses those of a newer ioco.
    pub(crate) async fn migrate(&self, connection: &mut AnyConnection) -> Result<(), StoreError> {
        self.migrate_for(&MIGRATIONS, connection).await
    }

    async fn migrate_for(
        &self,
        known: &Migrations,
        connection: &mut AnyConnection,
    ) -> Result<(), StoreError> {
        // SQLite migrates without a lock: of runs that begin side by side, one makes the tables.
        let _alone = match self {
            Place::File(path) => Some(alone(&path.with_extension("lock"))),
            Place::Server(_) => None,
        };
        let migrations = known.iter().map(|(version, name, sql)| {
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
            .run(&mut *connection)
            .await
            .map_err(|error| StoreError::of_migration(&self.show(), error))?;
        self.check_tables(known, connection).await
    }
}

fn no_such_table(error: &sqlx::Error) -> bool {
    let Some(error) = error.as_database_error() else {
        return false;
    };
    // PostgreSQL has a code for it, SQLite only words.
    error.code().as_deref() == Some("42P01") || error.message().contains("no such table")
}

/// Holds a lock on a file until it is dropped. Where that is not possible, or takes too long, we go on
/// without: the worst is an error that says so.
fn alone(path: &Path) -> Option<fs::File> {
    // The author of the project may have put a link here.
    if path.is_symlink() {
        return None;
    }
    let file = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .ok()?;
    let begun = Instant::now();
    while let Err(fs::TryLockError::WouldBlock) = file.try_lock() {
        if begun.elapsed() >= ANSWER_TIMEOUT {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Some(file)
}

#[cfg(test)]
mod tests {
    use sqlx::{Connection as _, Executor as _, Row as _};

    use super::*;
    use crate::Store;
    use crate::query::runtime;

    /// A store with one run, written by the first version.
    const FIRST: &str = include_str!("../tests/version-1.sql");

    /// What a program of tomorrow knows.
    static TOMORROW: [(i64, &str, &str); 3] = [
        MIGRATIONS[0],
        MIGRATIONS[1],
        (
            3,
            "notes",
            "CREATE TABLE notes (run BIGINT NOT NULL REFERENCES runs (id), note TEXT NOT NULL);
             INSERT INTO notes SELECT id, 'of ' || model FROM runs;",
        ),
    ];

    fn written_today() -> (tempfile::TempDir, Place) {
        let (folder, place) = written_first();
        Store::migrate(&place).expect("upgraded");
        (folder, place)
    }

    fn written_first() -> (tempfile::TempDir, Place) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ioco.db");
        fs::write(&path, "").expect("an empty file");
        let place = Place::File(path);
        on(&place, async |connection| {
            connection
                .execute(FIRST)
                .await
                .expect("the old store is read");
        });
        (folder, place)
    }

    /// Does something on a connection of its own.
    fn on<T>(place: &Place, work: impl AsyncFnOnce(&mut AnyConnection) -> T) -> T {
        runtime(place).expect("a runtime").block_on(async {
            let mut connection = place.connect().await.expect("connects");
            let done = work(&mut connection).await;
            connection.close().await.expect("closed");
            done
        })
    }

    #[test]
    fn a_store_of_the_first_version_is_upgraded_and_its_run_can_be_read() {
        let (_folder, place) = written_first();
        assert!(Store::migrate(&place).expect("upgraded"), "it was older");
        assert!(
            !Store::migrate(&place).expect("looked at"),
            "it is up to date"
        );
        let store = Store::read(&place).expect("opens").expect("is not empty");
        let runs = store.runs(None, 9).expect("runs");
        assert_eq!(runs.len(), 1);
        assert_eq!(runs[0].model, "ping");
    }

    #[test]
    fn a_newer_program_upgrades_a_file_and_an_older_one_then_says_what_to_do() {
        let (_folder, place) = written_today();
        let notes = on(&place, async |connection| {
            let age = place.age_for(&TOMORROW, connection).await.expect("an age");
            assert_eq!(age, Age::Older);
            place
                .prepare_for(&TOMORROW, connection)
                .await
                .expect("upgraded");
            let age = place.age_for(&TOMORROW, connection).await.expect("an age");
            assert_eq!(age, Age::Current);
            // Once more changes nothing.
            place
                .migrate_for(&TOMORROW, connection)
                .await
                .expect("again");
            let rows = sqlx::query("SELECT note FROM notes")
                .fetch_all(connection)
                .await;
            rows.expect("notes")
                .iter()
                .map(|row| row.get("note"))
                .collect::<Vec<String>>()
        });
        assert_eq!(notes, ["of ping"], "what was there was carried over");
        // The program of today on the store of tomorrow.
        let Place::File(path) = &place else {
            panic!("a file");
        };
        let before = fs::read(path).expect("a file");
        let refusals = [
            Store::open(&place).err(),
            Store::read(&place).err(),
            Store::migrate(&place).err(),
        ];
        for error in refusals.map(|error| error.expect("refused")) {
            assert!(matches!(error, StoreError::Newer { .. }), "{error}");
            assert!(
                error.hint().contains("use a newer ioco"),
                "{}",
                error.hint()
            );
        }
        assert!(before == fs::read(path).expect("a file"), "it was changed");
    }

    #[test]
    fn a_migration_that_fails_leaves_the_store_as_it_was() {
        static BROKEN: [(i64, &str, &str); 3] = [
            MIGRATIONS[0],
            MIGRATIONS[1],
            (
                3,
                "broken",
                "CREATE TABLE half (a BIGINT); SELECT nonsense FROM nowhere;",
            ),
        ];
        let (_folder, place) = written_today();
        on(&place, async |connection| {
            let error = place
                .migrate_for(&BROKEN, connection)
                .await
                .expect_err("refused");
            assert!(error.to_string().contains("nowhere"), "{error}");
            let half = sqlx::query("SELECT a FROM half")
                .fetch_all(connection)
                .await;
            assert!(half.is_err(), "half of a migration was done");
        });
        let store = Store::read(&place).expect("opens").expect("is not empty");
        assert_eq!(store.runs(None, 9).expect("runs").len(), 1);
    }
}
