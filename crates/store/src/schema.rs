//! Whether the tables of a file are those that ioco makes. SQLite evaluates what a file itself defines: a view that
//! stands in for a table, a trigger, a computed column or a check can use any time and memory. The author of a project
//! may have put such a file there, and an editor opens it for a hover.

use std::fs;
use std::path::{Path, PathBuf};

use sqlx::{AnyConnection, Executor as _, Row as _};

use crate::error::StoreError;
use crate::migrations::Migrations;
use crate::place::Place;

/// What SQLite keeps beside a store.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// The table in which the migrations that were made are listed. Its text is the library's, and changes with it.
const LISTED: &str = "_sqlx_migrations";

impl Place {
    /// Refuses files that cannot be a store before SQLite opens them: opening a FIFO waits for ever, and what
    /// SQLite keeps beside the store is written through links.
    pub(crate) fn check_files(&self, path: &Path) -> Result<(), StoreError> {
        let no_file =
            |path: &Path| self.no_store(format!("{} is not a regular file", path.display()));
        if fs::metadata(path).is_ok_and(|file| !file.is_file()) {
            return Err(no_file(path));
        }
        for end in BESIDE {
            let mut name = path.as_os_str().to_owned();
            name.push(end);
            let beside = PathBuf::from(name);
            if fs::symlink_metadata(&beside).is_ok_and(|file| !file.is_file()) {
                return Err(no_file(&beside));
            }
        }
        Ok(())
    }

    /// Refuses a file that defines anything besides plain tables and their indexes.
    pub(crate) async fn check_definitions(
        &self,
        connection: &mut AnyConnection,
    ) -> Result<(), StoreError> {
        if let Place::Server(_) = self {
            return Ok(());
        }
        let failed = |error: sqlx::Error| StoreError::of(&self.show(), &error);
        connection
            .execute("PRAGMA trusted_schema = OFF")
            .await
            .map_err(failed)?;
        // Generated columns are hidden in one of two ways. Nothing here evaluates what the file defines.
        let (unusual,): (i64,) = sqlx::query_as(
            "SELECT COUNT(*) FROM sqlite_schema AS s
             WHERE s.type NOT IN ('table', 'index')
                OR (s.type = 'table' AND s.sql NOT LIKE 'CREATE TABLE %')
                OR (s.type = 'table' AND EXISTS
                    (SELECT 1 FROM pragma_table_xinfo(s.name) AS c WHERE c.hidden > 1))",
        )
        .fetch_one(connection)
        .await
        .map_err(failed)?;
        match unusual {
            0 => Ok(()),
            _ => Err(self.foreign()),
        }
    }

    /// Refuses tables and indexes that no migration makes in exactly these words.
    pub(crate) async fn check_tables(
        &self,
        known: &Migrations,
        connection: &mut AnyConnection,
    ) -> Result<(), StoreError> {
        if let Place::Server(_) = self {
            return Ok(());
        }
        let rows = sqlx::query(
            "SELECT tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_stat%'",
        )
        .fetch_all(connection)
        .await
        .map_err(|error| StoreError::of(&self.show(), &error))?;
        for row in rows {
            let read = |column: &str| row.try_get::<String, _>(column);
            let (Ok(table), Ok(text)) = (read("tbl_name"), read("sql")) else {
                return Err(self.foreign());
            };
            let is_made = known.iter().any(|(_, _, made)| made.contains(&text));
            if table != LISTED && !is_made {
                return Err(self.foreign());
            }
        }
        Ok(())
    }

    fn foreign(&self) -> StoreError {
        self.no_store("it defines tables, views or triggers that ioco does not make".to_owned())
    }

    fn no_store(&self, why: String) -> StoreError {
        StoreError::Damaged {
            place: self.show(),
            why,
        }
    }
}
