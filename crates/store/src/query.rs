//! Questions to the store, and forgetting.

use std::sync::Mutex;

use ioco_engine::{Event, FailureFile, SavedStep};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Connection, Row};
use tokio::runtime::{Builder, Runtime};

use crate::caught::caught;
use crate::error::StoreError;
use crate::migrations::{Age, MIGRATIONS};
use crate::place::Place;
use crate::read::{emit_tests, number, parsed, run_row, steps_between, test_row};
use crate::record::Recording;
use crate::rows::{Covered, FailureRow, NewRun, RunRow, Sighting, StoredModel, TestRow, TrendRow};
use crate::write::put_failure;

/// An open store. May be shared between threads; one question is answered at a time.
pub struct Store {
    place: Place,
    shown: String,
    runtime: Runtime,
    /// There until the store is dropped.
    connection: Mutex<Option<AnyConnection>>,
}

impl Drop for Store {
    /// Dropping a connection leaves closing the file to a thread that nothing waits for.
    fn drop(&mut self) {
        let connection = self.connection.get_mut().ok().and_then(Option::take);
        if let Some(connection) = connection {
            // Everything is written; a failure to close changes nothing.
            let _ = self.runtime.block_on(connection.close());
        }
    }
}

pub(crate) fn runtime(place: &Place) -> Result<Runtime, StoreError> {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| StoreError::Failed {
            place: place.show(),
            why: error.to_string(),
        })
}

/// Sightings of a run, of failures whose code begins with a letter, of a kind: 0 confirmed, 1 flaky,
/// 2 accepted (the column `flaky`).
macro_rules! seen {
    ($code:literal, $kind:literal) => {
        concat!(
            "(SELECT COUNT(*) FROM sightings s JOIN failures f ON f.fingerprint = s.fingerprint
              WHERE s.run = runs.id AND f.code LIKE '",
            $code,
            "%'",
            $kind,
            ")"
        )
    };
}

/// A question for rows of runs.
macro_rules! runs {
    ($which:literal) => {
        concat!(
            "SELECT id, started, model, model_hash, connection, seed, strategy, summary, locations,
                    switches, options, ",
            seen!("D", " AND s.flaky = 0"),
            " AS confirmed, ",
            seen!("D", " AND s.flaky = 1"),
            " AS flaky, ",
            seen!("D", " AND s.flaky = 2"),
            " AS accepted, ",
            seen!("E", ""),
            " AS ended FROM runs ",
            $which
        )
    };
}

type Stored<T> = Result<T, StoreError>;

impl Store {
    /// Opens a store to change it; makes it where there is none.
    pub fn open(place: &Place) -> Stored<Store> {
        let runtime = runtime(place)?;
        let connection = caught(&place.show(), || {
            runtime.block_on(async {
                let mut connection = place.connect().await?;
                place.prepare(&mut connection).await?;
                Ok(connection)
            })
        })?;
        Ok(Store::new(place, runtime, connection))
    }

    /// Opens a store to read it, and leaves it as it is; `None` where there is nothing in it.
    pub fn read(place: &Place) -> Stored<Option<Store>> {
        let runtime = runtime(place)?;
        let opened = caught(&place.show(), || {
            runtime.block_on(async {
                let mut connection = place.connect_to_read().await?;
                match place.age(&mut connection).await? {
                    Age::Empty => Ok(None),
                    Age::Current => {
                        place.check_tables(&MIGRATIONS, &mut connection).await?;
                        Ok(Some(connection))
                    }
                    Age::Older => Err(StoreError::Older {
                        place: place.show(),
                    }),
                    Age::Newer => Err(StoreError::Newer {
                        place: place.show(),
                    }),
                }
            })
        })?;
        Ok(opened.map(|connection| Store::new(place, runtime, connection)))
    }

    /// Brings a store up to date; whether there was anything to do.
    pub fn migrate(place: &Place) -> Stored<bool> {
        let runtime = runtime(place)?;
        caught(&place.show(), || {
            runtime.block_on(async {
                let mut connection = place.connect().await?;
                place.check(&mut connection).await?;
                let was = place.age(&mut connection).await?;
                place.migrate(&mut connection).await?;
                let _ = connection.close().await;
                Ok(was != Age::Current)
            })
        })
    }

    fn new(place: &Place, runtime: Runtime, connection: AnyConnection) -> Store {
        Store {
            place: place.clone(),
            shown: place.show(),
            runtime,
            connection: Mutex::new(Some(connection)),
        }
    }

    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Begins to record a run, on a connection and a thread of its own.
    pub fn record(&self, run: NewRun) -> Stored<Recording> {
        Recording::begin(&self.place, run)
    }

    /// Runs one question to its end.
    pub(crate) fn ask<T>(
        &self,
        ask: impl AsyncFnOnce(&mut AnyConnection) -> sqlx::Result<T>,
    ) -> Stored<T> {
        let mut connection = match self.connection.lock() {
            Ok(connection) => connection,
            // A question that panicked did not change anything.
            Err(poisoned) => poisoned.into_inner(),
        };
        let mut open = connection.take().ok_or_else(|| StoreError::Failed {
            place: self.shown.clone(),
            why: "it is closed".to_owned(),
        })?;
        // After a panic the state of the connection is unknown: it is not put back.
        let (open, answer) = caught(&self.shown, || {
            let answer = self.runtime.block_on(ask(&mut open));
            Ok((open, answer))
        })?;
        *connection = Some(open);
        answer.map_err(|error| StoreError::of(&self.shown, &error))
    }

    /// Newest first; of one model by name, or of all.
    pub fn runs(&self, model: Option<&str>, limit: usize) -> Stored<Vec<RunRow>> {
        let model = model.unwrap_or_default().to_owned();
        self.ask(async |connection| {
            let rows = sqlx::query(runs!(
                "WHERE $1 = '' OR model = $2 ORDER BY id DESC LIMIT $3"
            ))
            .bind(model.clone())
            .bind(model)
            .bind(i64::try_from(limit).unwrap_or(i64::MAX))
            .fetch_all(&mut *connection)
            .await?;
            let mut runs = Vec::with_capacity(rows.len());
            for row in &rows {
                runs.push(run_row(connection, row).await?);
            }
            Ok(runs)
        })
    }

    pub fn run(&self, id: i64) -> Stored<Option<RunRow>> {
        self.ask(async |connection| {
            let row = sqlx::query(runs!("WHERE id = $1"))
                .bind(id)
                .fetch_optional(&mut *connection)
                .await?;
            match row {
                Some(row) => Ok(Some(run_row(connection, &row).await?)),
                None => Ok(None),
            }
        })
    }

    /// The tests of a run in their order.
    pub fn tests(&self, run: i64) -> Stored<Vec<TestRow>> {
        self.ask(async |connection| {
            let rows = sqlx::query(
                "SELECT number, seed, name, began, verdict, detail, steps, duration, ended
                 FROM tests WHERE run = $1 ORDER BY number",
            )
            .bind(run)
            .fetch_all(connection)
            .await?;
            rows.iter().map(test_row).collect()
        })
    }

    /// The steps of one test with their times.
    pub fn steps(&self, run: i64, test: u64) -> Stored<Vec<(u64, SavedStep)>> {
        self.ask(async |connection| {
            let number = test.cast_signed();
            let rows = steps_between(connection, run, number, number).await?;
            Ok(rows.into_iter().flat_map(|(_, steps)| steps).collect())
        })
    }

    /// Everything that happened in a run, oldest first; `None` if there is no such run. A run that
    /// goes on or was killed has no [`Event::RunFinished`].
    pub fn events(&self, run: i64, emit: &mut dyn FnMut(Event)) -> Stored<Option<()>> {
        let Some(row) = self.run(run)? else {
            return Ok(None);
        };
        self.ask(async |connection| {
            let begun = sqlx::query("SELECT began, version FROM runs WHERE id = $1")
                .bind(run)
                .fetch_one(&mut *connection)
                .await?;
            if let Some(at) = begun.try_get::<Option<i64>, _>("began")? {
                emit(Event::RunStarted {
                    version: u32::try_from(begun.try_get::<i64, _>("version")?).unwrap_or(0),
                    model: row.model.clone(),
                    seed: row.seed,
                    strategy: row.strategy.clone(),
                    locations: row.summary.locations as usize,
                    switches: row.summary.switches as usize,
                    at: at.cast_unsigned(),
                });
            }
            // A run that goes on may write faster than this reads: what comes from here on is left out.
            let newest = sqlx::query("SELECT MAX(number) AS newest FROM tests WHERE run = $1")
                .bind(run)
                .fetch_one(&mut *connection)
                .await?;
            let newest = newest.try_get::<Option<i64>, _>("newest")?.unwrap_or(0);
            let mut from = 0;
            while let Some(last) = emit_tests(connection, run, from..=newest, emit).await? {
                from = last.saturating_add(1);
            }
            Ok(())
        })?;
        if row.finished {
            emit(Event::RunFinished {
                summary: row.summary,
            });
        }
        Ok(Some(()))
    }

    /// What a run covered; `None` where it did not finish.
    pub fn coverage(&self, run: i64) -> Stored<Option<Covered>> {
        self.ask(async |connection| {
            let row = sqlx::query("SELECT locations, switches FROM coverage WHERE run = $1")
                .bind(run)
                .fetch_optional(connection)
                .await?;
            row.map(|row| {
                Ok(Covered {
                    locations: parsed(&row, "locations")?,
                    switches: parsed(&row, "switches")?,
                })
            })
            .transpose()
        })
    }

    /// The failures of a model over all runs, last seen first; of all models without a name.
    pub fn failures(&self, model: Option<&str>) -> Stored<Vec<FailureRow>> {
        let model = model.unwrap_or_default().to_owned();
        self.ask(async |connection| {
            let rows = sqlx::query(
                "SELECT f.fingerprint AS fingerprint, f.model AS model, f.code AS code,
                        f.title AS title, COUNT(*) AS runs, MIN(s.run) AS first_run,
                        MAX(s.run) AS last_run, MIN(r.started) AS first_seen,
                        MAX(r.started) AS last_seen
                 FROM failures f
                 JOIN sightings s ON s.fingerprint = f.fingerprint
                 JOIN runs r ON r.id = s.run
                 WHERE $1 = '' OR f.model = $2
                 GROUP BY f.fingerprint, f.model, f.code, f.title
                 ORDER BY last_run DESC, fingerprint",
            )
            .bind(model.clone())
            .bind(model)
            .fetch_all(connection)
            .await?;
            let row = |row: &AnyRow| -> sqlx::Result<FailureRow> {
                Ok(FailureRow {
                    fingerprint: row.try_get("fingerprint")?,
                    model: row.try_get("model")?,
                    code: row.try_get("code")?,
                    title: row.try_get("title")?,
                    runs: number(row, "runs")?,
                    first_run: row.try_get("first_run")?,
                    last_run: row.try_get("last_run")?,
                    first_seen: number(row, "first_seen")?,
                    last_seen: number(row, "last_seen")?,
                })
            };
            rows.iter().map(row).collect()
        })
    }

    /// The failures that one run saw.
    pub fn sightings(&self, run: i64) -> Stored<Vec<Sighting>> {
        self.ask(async |connection| {
            let rows = sqlx::query(
                "SELECT f.fingerprint AS fingerprint, f.code AS code, f.title AS title,
                        s.test AS test, s.flaky AS flaky, f.file AS file
                 FROM sightings s JOIN failures f ON f.fingerprint = s.fingerprint
                 WHERE s.run = $1 ORDER BY s.test, f.fingerprint",
            )
            .bind(run)
            .fetch_all(connection)
            .await?;
            let row = |row: &AnyRow| -> sqlx::Result<Sighting> {
                Ok(Sighting {
                    fingerprint: row.try_get("fingerprint")?,
                    code: row.try_get("code")?,
                    title: row.try_get("title")?,
                    test: number(row, "test")?,
                    flaky: row.try_get::<i64, _>("flaky")? == 1,
                    accepted: row.try_get::<i64, _>("flaky")? == 2,
                    file: row.try_get("file")?,
                })
            };
            rows.iter().map(row).collect()
        })
    }

    /// Which failure each run saw: all sightings, the newest run first.
    pub fn seen(&self) -> Stored<Vec<(i64, String)>> {
        self.ask(async |connection| {
            let rows = sqlx::query("SELECT run, fingerprint FROM sightings ORDER BY run DESC")
                .fetch_all(connection)
                .await?;
            rows.iter()
                .map(|row| Ok((row.try_get("run")?, row.try_get("fingerprint")?)))
                .collect()
        })
    }

    /// The tests of all runs that deviated, the newest first, at most so many.
    pub fn deviating_tests(&self, limit: usize) -> Stored<Vec<(i64, TestRow)>> {
        self.ask(async |connection| {
            let rows = sqlx::query(
                "SELECT run, number, seed, name, began, verdict, detail, steps, duration, ended
                 FROM tests WHERE verdict IN ('fail', 'error') ORDER BY run DESC, number DESC
                 LIMIT $1",
            )
            .bind(i64::try_from(limit).unwrap_or(i64::MAX))
            .fetch_all(connection)
            .await?;
            rows.iter()
                .map(|row| Ok((row.try_get("run")?, test_row(row)?)))
                .collect()
        })
    }

    /// The tests of this name that passed after `run`: their runs and numbers, the oldest first.
    pub fn passed_after(&self, name: &str, run: i64) -> Stored<Vec<(i64, u64)>> {
        let name = name.to_owned();
        self.ask(async |connection| {
            let rows = sqlx::query(
                "SELECT run, number FROM tests
                 WHERE name = $1 AND verdict = 'pass' AND run > $2 ORDER BY run, number",
            )
            .bind(name)
            .bind(run)
            .fetch_all(connection)
            .await?;
            let read = |row: &AnyRow| Ok((row.try_get("run")?, number(row, "number")?));
            rows.iter().map(read).collect()
        })
    }

    /// The text of a failure file, by the failure's fingerprint.
    pub fn failure_file(&self, fingerprint: &str) -> Stored<Option<String>> {
        let fingerprint = fingerprint.to_owned();
        self.ask(async |connection| {
            let row = sqlx::query("SELECT file FROM failures WHERE fingerprint = $1")
                .bind(fingerprint)
                .fetch_optional(connection)
                .await?;
            row.map(|row| row.try_get("file")).transpose()
        })
    }

    /// A failure was shrunk further, and has a new fingerprint: the runs that saw it saw this one.
    pub fn replace_failure(&self, old: &str, new: &FailureFile) -> Stored<()> {
        let old = old.to_owned();
        let row = Sighting::of(new, new.test, false);
        let model = new.model.clone();
        self.ask(async |connection| {
            let mut transaction = connection.begin().await?;
            put_failure(&mut transaction, &row, model).await?;
            if old != row.fingerprint {
                for statement in [
                    // A run that saw both has seen this one already.
                    "UPDATE sightings SET fingerprint = $1 WHERE fingerprint = $2 AND run NOT IN
                         (SELECT run FROM sightings WHERE fingerprint = $1)",
                    "DELETE FROM failures WHERE fingerprint <> $1 AND fingerprint = $2",
                ] {
                    sqlx::query(statement)
                        .bind(row.fingerprint.clone())
                        .bind(old.clone())
                        .execute(&mut *transaction)
                        .await?;
                }
            }
            transaction.commit().await
        })
    }

    /// What happened in one test of a run; nothing where there is no such test.
    pub fn test_events(&self, run: i64, test: u64) -> Stored<Vec<Event>> {
        self.ask(async |connection| {
            let mut events = Vec::new();
            let tests = test.cast_signed()..=test.cast_signed();
            emit_tests(connection, run, tests, &mut |event| events.push(event)).await?;
            Ok(events)
        })
    }

    /// Coverage and failures over the runs of a model, oldest first.
    pub fn trend(&self, model: &str) -> Stored<Vec<TrendRow>> {
        let runs = self.runs(Some(model), usize::MAX)?;
        let point = |run: RunRow| TrendRow {
            run: run.id,
            started: run.started,
            model_hash: run.model_hash,
            tests: run.summary.tests,
            failed: run.summary.failed,
            failures: run.summary.distinct_failures,
            locations: (run.summary.covered_locations, run.summary.locations),
            switches: (run.summary.covered_switches, run.summary.switches),
            boundaries: (run.summary.covered_boundaries, run.summary.boundaries),
        };
        Ok(runs.into_iter().rev().map(point).collect())
    }

    /// A model as some run used it.
    pub fn model(&self, hash: &str) -> Stored<Option<StoredModel>> {
        #[derive(serde::Deserialize)]
        struct Source {
            file: String,
            text: String,
        }
        let hash = hash.to_owned();
        self.ask(async |connection| {
            let row = sqlx::query("SELECT hash, name, path, sources FROM models WHERE hash = $1")
                .bind(hash)
                .fetch_optional(connection)
                .await?;
            row.map(|row| {
                let sources: Vec<Source> = parsed(&row, "sources")?;
                Ok(StoredModel {
                    hash: row.try_get("hash")?,
                    name: row.try_get("name")?,
                    path: row.try_get("path")?,
                    sources: sources.into_iter().map(|s| (s.file, s.text)).collect(),
                })
            })
            .transpose()
        })
    }

    /// Forgets runs with everything that belongs to them alone: all but the newest `keep`, or those
    /// that started before a time, or both. Returns how many.
    pub fn prune(&self, keep: Option<usize>, before: Option<u64>) -> Stored<u64> {
        let runs = self.runs(None, usize::MAX)?;
        let doomed = runs.iter().enumerate().filter(|(index, run)| {
            let too_many = keep.is_some_and(|keep| *index >= keep);
            let too_old = before.is_some_and(|before| run.started < before);
            too_many || too_old
        });
        let ids: Vec<i64> = doomed.map(|(_, run)| run.id).collect();
        for id in &ids {
            self.ask(async |connection| {
                sqlx::query("DELETE FROM runs WHERE id = $1")
                    .bind(*id)
                    .execute(connection)
                    .await
            })?;
        }
        if !ids.is_empty() {
            self.ask(async |connection| {
                for orphans in [
                    "DELETE FROM failures
                     WHERE fingerprint NOT IN (SELECT fingerprint FROM sightings)",
                    "DELETE FROM models WHERE hash NOT IN (SELECT model_hash FROM runs)",
                ] {
                    sqlx::query(orphans).execute(&mut *connection).await?;
                }
                Ok(())
            })?;
        }
        if let (Place::File(_), false) = (&self.place, ids.is_empty()) {
            // Gives the space back. Another ioco that writes at this moment is no reason to fail.
            let _ = self.ask(async |connection| sqlx::query("VACUUM").execute(connection).await);
        }
        Ok(ids.len() as u64)
    }
}
