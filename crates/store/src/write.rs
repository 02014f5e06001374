//! From messages to rows.

use std::sync::Arc;

use ioco_engine::{CoverageSnapshot, EVENT_VERSION, Event, FailureFile, SavedVerdict};
use sqlx::AnyConnection;

use crate::body::Body;
use crate::rows::{Covered, CoveredLocation, CoveredSwitch, NewRun, Sighting};

/// A row of steps is written when it has as many.
const STEPS_PER_ROW: u64 = 1000;

/// Something to be written.
pub(crate) enum Message {
    Events(Arc<Vec<Event>>),
    Failure(Box<Sighting>, String),
    Coverage(Box<CoverageSnapshot>),
}

/// A test under way.
#[derive(Default)]
struct Test {
    number: u64,
    seed: u64,
    name: Option<String>,
    began: u64,
    /// Its row is there, without a verdict.
    written: bool,
    /// The number of the first step of `body`.
    first: u64,
    body: Body,
}

/// Writes one run.
pub(crate) struct Writer {
    run: i64,
    test: Test,
}

type Written = Result<(), sqlx::Error>;

/// The signed number with the same bits.
fn signed(number: u64) -> i64 {
    number.cast_signed()
}

fn json(value: &impl serde::Serialize) -> String {
    // Plain data with string keys: always JSON.
    serde_json::to_string(value).unwrap_or_default()
}

impl Writer {
    /// Makes the row of a run, under the next number.
    pub async fn begin(
        connection: &mut AnyConnection,
        new: &NewRun,
    ) -> Result<Writer, sqlx::Error> {
        let sources: Vec<_> = (new.model.sources.iter())
            .map(|(file, text)| serde_json::json!({"file": file, "text": text}))
            .collect();
        sqlx::query(
            "INSERT INTO models (hash, name, path, sources) VALUES ($1, $2, $3, $4)
             ON CONFLICT (hash) DO NOTHING",
        )
        .bind(new.model.hash.clone())
        .bind(new.model.name.clone())
        .bind(new.model.path.clone())
        .bind(json(&sources))
        .execute(&mut *connection)
        .await?;
        let (run,): (i64,) = sqlx::query_as("UPDATE numbers SET last = last + 1 RETURNING last")
            .fetch_one(&mut *connection)
            .await?;
        sqlx::query(
            "INSERT INTO runs (id, started, model, model_hash, connection, version, seed,
                               strategy, locations, switches, options)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        )
        .bind(run)
        .bind(signed(new.started))
        .bind(new.model.name.clone())
        .bind(new.model.hash.clone())
        .bind(new.connection.clone())
        .bind(i64::from(EVENT_VERSION))
        .bind(signed(new.seed))
        .bind(new.strategy.clone())
        .bind(signed(new.locations))
        .bind(signed(new.switches))
        .bind(new.options.clone())
        .execute(&mut *connection)
        .await?;
        Ok(Writer {
            run,
            test: Test::default(),
        })
    }

    pub fn run(&self) -> i64 {
        self.run
    }

    pub async fn write(&mut self, connection: &mut AnyConnection, message: Message) -> Written {
        match message {
            Message::Events(events) => {
                for event in events.iter() {
                    self.event(connection, event).await?;
                }
                Ok(())
            }
            Message::Failure(sighting, model) => self.failure(connection, *sighting, model).await,
            Message::Coverage(snapshot) => self.coverage(connection, *snapshot).await,
        }
    }

    /// Writes also what belongs to a test that has not finished.
    pub async fn settle(&mut self, connection: &mut AnyConnection) -> Written {
        if self.test.body.count > 0 {
            self.unfinished(connection).await?;
            self.steps(connection).await?;
        }
        Ok(())
    }

    async fn event(&mut self, connection: &mut AnyConnection, event: &Event) -> Written {
        match event {
            Event::RunStarted { at, .. } => {
                sqlx::query("UPDATE runs SET began = $1 WHERE id = $2")
                    .bind(signed(*at))
                    .bind(self.run)
                    .execute(connection)
                    .await?;
            }
            Event::TestStarted {
                test,
                seed,
                name,
                at,
            } => {
                self.test = Test {
                    number: *test,
                    seed: *seed,
                    name: name.clone(),
                    began: *at,
                    first: 1,
                    ..Test::default()
                };
            }
            Event::StepTaken { at, what, .. } => {
                self.test.body.push(*at, what);
                if self.test.body.count >= STEPS_PER_ROW {
                    self.unfinished(connection).await?;
                    self.steps(connection).await?;
                }
            }
            Event::TestFinished {
                test,
                verdict,
                steps,
                duration,
                at,
                ..
            } => {
                self.steps(connection).await?;
                let finished = (verdict, *steps, *duration, *at);
                self.test_row(connection, *test, Some(finished)).await?;
            }
            Event::FailureFound {
                test,
                failure,
                deviation,
            } => {
                sqlx::query(
                    "INSERT INTO found (run, failure, test, deviation) VALUES ($1, $2, $3, $4)",
                )
                .bind(self.run)
                .bind(i64::from(failure.0))
                .bind(signed(*test))
                .bind(json(deviation))
                .execute(connection)
                .await?;
            }
            Event::CoverageGrew {
                test,
                covered_switches,
                covered_locations,
                covered_boundaries,
            } => {
                sqlx::query(
                    "INSERT INTO growth (run, test, locations, switches, boundaries)
                     VALUES ($1, $2, $3, $4, $5)",
                )
                .bind(self.run)
                .bind(signed(*test))
                .bind(signed(*covered_locations as u64))
                .bind(signed(*covered_switches as u64))
                .bind(signed(*covered_boundaries as u64))
                .execute(connection)
                .await?;
            }
            Event::RunFinished { summary } => {
                sqlx::query("UPDATE runs SET summary = $1 WHERE id = $2")
                    .bind(json(summary))
                    .bind(self.run)
                    .execute(connection)
                    .await?;
            }
        }
        Ok(())
    }

    async fn unfinished(&mut self, connection: &mut AnyConnection) -> Written {
        if self.test.written {
            return Ok(());
        }
        self.test.written = true;
        let number = self.test.number;
        self.test_row(connection, number, None).await
    }

    async fn test_row(
        &mut self,
        connection: &mut AnyConnection,
        number: u64,
        finished: Option<(&SavedVerdict, u64, u64, u64)>,
    ) -> Written {
        let (verdict, detail, steps, duration, ended) = match finished {
            None => (None, None, 0, 0, self.test.began),
            Some((verdict, steps, duration, at)) => {
                let detail = match verdict {
                    SavedVerdict::Pass => None,
                    other => Some(json(other)),
                };
                (Some(name(verdict)), detail, steps, duration, at)
            }
        };
        sqlx::query(
            "INSERT INTO tests (run, number, seed, name, began, verdict, detail, steps, duration,
                                ended)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
             ON CONFLICT (run, number) DO UPDATE
             SET verdict = excluded.verdict, detail = excluded.detail, steps = excluded.steps,
                 duration = excluded.duration, ended = excluded.ended",
        )
        .bind(self.run)
        .bind(signed(number))
        .bind(signed(self.test.seed))
        .bind(self.test.name.clone())
        .bind(signed(self.test.began))
        .bind(verdict)
        .bind(detail)
        .bind(signed(steps))
        .bind(signed(duration))
        .bind(signed(ended))
        .execute(connection)
        .await?;
        Ok(())
    }

    async fn steps(&mut self, connection: &mut AnyConnection) -> Written {
        let count = self.test.body.count;
        if count == 0 {
            return Ok(());
        }
        let first = self.test.first;
        self.test.first += count;
        sqlx::query("INSERT INTO steps (run, test, first, body) VALUES ($1, $2, $3, $4)")
            .bind(self.run)
            .bind(signed(self.test.number))
            .bind(signed(first))
            .bind(self.test.body.take())
            .execute(connection)
            .await?;
        Ok(())
    }

    async fn failure(
        &mut self,
        connection: &mut AnyConnection,
        sighting: Sighting,
        model: String,
    ) -> Written {
        put_failure(connection, &sighting, model).await?;
        sqlx::query(
            "INSERT INTO sightings (run, fingerprint, test, flaky) VALUES ($1, $2, $3, $4)
             ON CONFLICT (run, fingerprint) DO NOTHING",
        )
        .bind(self.run)
        .bind(sighting.fingerprint)
        .bind(signed(sighting.test))
        .bind(i64::from(sighting.flaky))
        .execute(connection)
        .await?;
        Ok(())
    }

    async fn coverage(
        &mut self,
        connection: &mut AnyConnection,
        snapshot: CoverageSnapshot,
    ) -> Written {
        let covered = Covered::from(snapshot);
        sqlx::query("INSERT INTO coverage (run, locations, switches) VALUES ($1, $2, $3)")
            .bind(self.run)
            .bind(json(&covered.locations))
            .bind(json(&covered.switches))
            .execute(connection)
            .await?;
        Ok(())
    }
}

/// The row of a failure, with the file as it is now.
pub(crate) async fn put_failure(
    connection: &mut AnyConnection,
    failure: &Sighting,
    model: String,
) -> Written {
    sqlx::query(
        "INSERT INTO failures (fingerprint, model, code, title, file)
         VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (fingerprint) DO UPDATE SET file = excluded.file",
    )
    .bind(failure.fingerprint.clone())
    .bind(model)
    .bind(failure.code.clone())
    .bind(failure.title.clone())
    .bind(failure.file.clone())
    .execute(connection)
    .await?;
    Ok(())
}

fn name(verdict: &SavedVerdict) -> String {
    match verdict {
        SavedVerdict::Pass => "pass",
        SavedVerdict::Fail { .. } => "fail",
        SavedVerdict::Inconclusive { .. } => "inconclusive",
        SavedVerdict::Error { .. } => "error",
    }
    .to_owned()
}

impl From<CoverageSnapshot> for Covered {
    fn from(snapshot: CoverageSnapshot) -> Covered {
        let locations = snapshot.locations.into_iter().filter(|l| l.covered);
        let switches = snapshot.switches.into_iter().filter(|s| s.count > 0);
        Covered {
            locations: locations
                .map(|l| CoveredLocation {
                    process: l.process,
                    name: l.name,
                })
                .collect(),
            switches: switches
                .map(|s| CoveredSwitch {
                    place: s.place,
                    switch: s.switch,
                    count: s.count,
                })
                .collect(),
        }
    }
}

impl Sighting {
    /// A failure seen in test number `test` of the run.
    pub(crate) fn of(file: &FailureFile, test: u64, flaky: bool) -> Sighting {
        let deviation = file.last_deviation();
        Sighting {
            fingerprint: file.id.clone(),
            code: deviation.code.clone(),
            title: deviation.title(&file.model),
            test,
            flaky,
            file: file.write(),
        }
    }
}
