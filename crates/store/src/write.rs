//! Rows into the database.

use std::collections::HashMap;

use ioco_engine::{CoverageSnapshot, EVENT_VERSION, FailureFile};
use sqlx::{AnyConnection, AssertSqlSafe};

use crate::encode::{Rows, StepsLine, TestLine, json};
use crate::rows::{Covered, CoveredLocation, CoveredSwitch, NewRun, OrderRow, Sighting};

/// Rows of tests or steps that one statement writes. A statement is a message to the database and
/// back, which takes longer than the rows.
const ROWS_AT_ONCE: usize = 100;

/// Something to be written.
pub(crate) enum Message {
    Rows(Box<Rows>),
    Failure(Box<Sighting>, String),
    Coverage(Box<CoverageSnapshot>),
    Order(Box<OrderRow>),
    /// What became of an order, with everything that it adds to the run.
    Outcome(Box<Arrived>),
    /// So many more outcomes count for nothing.
    Discarded(u64),
    /// What the clock of the run shows.
    Clock(u64),
}

/// An outcome to be written.
pub(crate) struct Arrived {
    pub number: u64,
    pub arrived: u64,
    pub worker: String,
    /// `None` withdraws the order.
    pub body: Option<String>,
    pub rows: Rows,
}

/// Writes one run.
pub(crate) struct Writer {
    run: i64,
    campaign: Option<Coordinated>,
}

/// The campaign that a run belongs to, and which of its coordinators writes.
struct Coordinated {
    id: String,
    coordinator: i64,
}

/// What a writer goes on with.
pub(crate) struct Begun {
    pub run: i64,
    /// Which coordinator of its campaign writes; 0 without a campaign.
    pub coordinator: u64,
    pub labels: Vec<(usize, String)>,
    /// How many orders have an outcome.
    pub arrived: u64,
}

type Written = Result<(), sqlx::Error>;

/// The signed number with the same bits.
fn signed(number: u64) -> i64 {
    number.cast_signed()
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
        let mut campaign = None;
        if let Some(new) = &new.campaign {
            sqlx::query(
                "INSERT INTO campaigns (id, run, plan, coordinator, clock, discarded)
                 VALUES ($1, $2, $3, 1, 0, 0)",
            )
            .bind(new.id.clone())
            .bind(run)
            .bind(new.plan.clone())
            .execute(&mut *connection)
            .await?;
            campaign = Some(Coordinated {
                id: new.id.clone(),
                coordinator: 1,
            });
        }
        Ok(Writer { run, campaign })
    }

    /// Goes on with a campaign. From now on, the coordinators before this one cannot write.
    pub async fn resume(connection: &mut AnyConnection, campaign: &str) -> sqlx::Result<Writer> {
        let (run, coordinator): (i64, i64) = sqlx::query_as(
            "UPDATE campaigns SET coordinator = coordinator + 1
             WHERE id = $1 AND (SELECT summary FROM runs WHERE id = campaigns.run) IS NULL
             RETURNING run, coordinator",
        )
        .bind(campaign.to_owned())
        .fetch_one(connection)
        .await?;
        let id = campaign.to_owned();
        let campaign = Some(Coordinated { id, coordinator });
        Ok(Writer { run, campaign })
    }

    /// What is there already.
    pub async fn begun(&self, connection: &mut AnyConnection) -> sqlx::Result<Begun> {
        let Some(campaign) = &self.campaign else {
            return Ok(Begun {
                run: self.run,
                coordinator: 0,
                labels: Vec::new(),
                arrived: 0,
            });
        };
        let labels: Vec<(i64, String)> =
            sqlx::query_as("SELECT number, label FROM labels WHERE run = $1")
                .bind(self.run)
                .fetch_all(&mut *connection)
                .await?;
        let (arrived,): (Option<i64>,) =
            sqlx::query_as("SELECT MAX(arrived) FROM outcomes WHERE campaign = $1")
                .bind(campaign.id.clone())
                .fetch_one(connection)
                .await?;
        let number = |number: i64| usize::try_from(number).unwrap_or(0);
        Ok(Begun {
            run: self.run,
            coordinator: campaign.coordinator.cast_unsigned(),
            labels: labels.into_iter().map(|(n, l)| (number(n), l)).collect(),
            arrived: arrived.unwrap_or(0).cast_unsigned(),
        })
    }

    /// Whether this coordinator may still write, in the transaction of what it writes: the row stays locked until
    /// its end.
    pub async fn is_in_charge(&self, connection: &mut AnyConnection) -> sqlx::Result<bool> {
        let Some(campaign) = &self.campaign else {
            return Ok(true);
        };
        let done = sqlx::query(
            "UPDATE campaigns SET coordinator = coordinator WHERE id = $1 AND coordinator = $2",
        )
        .bind(campaign.id.clone())
        .bind(campaign.coordinator)
        .execute(connection)
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// The campaign that the run belongs to.
    pub fn campaign(&self) -> &str {
        self.campaign.as_ref().map_or("", |campaign| &campaign.id)
    }

    pub async fn write(&mut self, connection: &mut AnyConnection, message: Message) -> Written {
        match message {
            Message::Rows(rows) => self.rows(connection, *rows).await,
            Message::Failure(sighting, model) => self.failure(connection, *sighting, model).await,
            Message::Coverage(snapshot) => self.coverage(connection, *snapshot).await,
            Message::Order(order) => self.order(connection, *order).await,
            Message::Outcome(arrived) => self.arrived(connection, *arrived).await,
            Message::Clock(now) => self.clock(connection, now).await,
            Message::Discarded(more) => {
                sqlx::query("UPDATE campaigns SET discarded = discarded + $1 WHERE id = $2")
                    .bind(signed(more))
                    .bind(self.campaign().to_owned())
                    .execute(connection)
                    .await?;
                Ok(())
            }
        }
    }

    async fn clock(&mut self, connection: &mut AnyConnection, now: u64) -> Written {
        sqlx::query("UPDATE campaigns SET clock = $1 WHERE id = $2")
            .bind(signed(now))
            .bind(self.campaign().to_owned())
            .execute(connection)
            .await?;
        Ok(())
    }

    async fn order(&mut self, connection: &mut AnyConnection, order: OrderRow) -> Written {
        sqlx::query("INSERT INTO orders (campaign, number, purpose, body) VALUES ($1, $2, $3, $4)")
            .bind(self.campaign().to_owned())
            .bind(signed(order.number))
            .bind(order.purpose)
            .bind(order.body)
            .execute(connection)
            .await?;
        Ok(())
    }

    /// The key refuses a second outcome of an order, and with it everything that it would add.
    async fn arrived(&mut self, connection: &mut AnyConnection, outcome: Arrived) -> Written {
        sqlx::query(
            "INSERT INTO outcomes (campaign, number, arrived, worker, body)
             VALUES ($1, $2, $3, $4, $5)",
        )
        .bind(self.campaign().to_owned())
        .bind(signed(outcome.number))
        .bind(signed(outcome.arrived))
        .bind(outcome.worker)
        .bind(outcome.body)
        .execute(&mut *connection)
        .await?;
        self.rows(connection, outcome.rows).await
    }

    async fn rows(&mut self, connection: &mut AnyConnection, rows: Rows) -> Written {
        if let Some(at) = rows.began {
            sqlx::query("UPDATE runs SET began = $1 WHERE id = $2")
                .bind(signed(at))
                .bind(self.run)
                .execute(&mut *connection)
                .await?;
        }
        for (number, label) in rows.labels {
            sqlx::query("INSERT INTO labels (run, number, label) VALUES ($1, $2, $3)")
                .bind(self.run)
                .bind(signed(number as u64))
                .bind(label)
                .execute(&mut *connection)
                .await?;
        }
        put_tests(connection, self.run, rows.tests).await?;
        put_steps(connection, self.run, rows.steps).await?;
        for found in rows.found {
            sqlx::query(
                "INSERT INTO found (run, failure, test, deviation) VALUES ($1, $2, $3, $4)",
            )
            .bind(self.run)
            .bind(i64::from(found.failure))
            .bind(signed(found.test))
            .bind(found.deviation)
            .execute(&mut *connection)
            .await?;
        }
        for grown in rows.growth {
            sqlx::query(
                "INSERT INTO growth (run, test, locations, switches, boundaries)
                 VALUES ($1, $2, $3, $4, $5)",
            )
            .bind(self.run)
            .bind(signed(grown.test))
            .bind(signed(grown.locations as u64))
            .bind(signed(grown.switches as u64))
            .bind(signed(grown.boundaries as u64))
            .execute(&mut *connection)
            .await?;
        }
        if let Some(summary) = rows.summary {
            sqlx::query("UPDATE runs SET summary = $1 WHERE id = $2")
                .bind(summary)
                .bind(self.run)
                .execute(connection)
                .await?;
        }
        Ok(())
    }

    async fn failure(
        &mut self,
        connection: &mut AnyConnection,
        sighting: Sighting,
        model: String,
    ) -> Written {
        put_failure(connection, &sighting, model).await?;
        // One test may have shown it for certain where another did not.
        sqlx::query(
            "INSERT INTO sightings (run, fingerprint, test, flaky) VALUES ($1, $2, $3, $4)
             ON CONFLICT (run, fingerprint) DO UPDATE SET flaky = excluded.flaky
             WHERE sightings.flaky = 1 AND excluded.flaky = 0",
        )
        .bind(self.run)
        .bind(sighting.fingerprint)
        .bind(signed(sighting.test))
        .bind(if sighting.accepted {
            2
        } else {
            i64::from(sighting.flaky)
        })
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

/// `($1, $2), ($3, $4)`: places for so many rows. SQLite looks named places up one by one, every
/// time; there they are nameless.
fn places(connection: &AnyConnection, rows: usize, columns: usize) -> String {
    let nameless = connection.backend_name() == "SQLite";
    let row = |row: usize| {
        let place = |column: usize| match nameless {
            true => "?".to_owned(),
            false => format!("${}", row * columns + column),
        };
        let all: Vec<String> = (1..=columns).map(place).collect();
        format!("({})", all.join(", "))
    };
    (0..rows).map(row).collect::<Vec<_>>().join(", ")
}

async fn put_tests(connection: &mut AnyConnection, run: i64, mut tests: Vec<TestLine>) -> Written {
    // One statement must not write a row twice: a test that began and ended since the last time is
    // there once, as it ended.
    let mut last: HashMap<u64, usize> = HashMap::new();
    for (index, test) in tests.iter().enumerate() {
        last.insert(test.number, index);
    }
    let mut index = 0;
    tests.retain(|test| {
        index += 1;
        last.get(&test.number) == Some(&(index - 1))
    });
    let mut tests = tests.into_iter().peekable();
    while tests.peek().is_some() {
        let some: Vec<TestLine> = tests.by_ref().take(ROWS_AT_ONCE).collect();
        put_some_tests(connection, run, some).await?;
    }
    Ok(())
}

async fn put_some_tests(connection: &mut AnyConnection, run: i64, tests: Vec<TestLine>) -> Written {
    let statement = format!(
        "INSERT INTO tests (run, number, seed, name, began, verdict, detail, steps, duration, ended)
         VALUES {}
         ON CONFLICT (run, number) DO UPDATE
         SET verdict = excluded.verdict, detail = excluded.detail, steps = excluded.steps,
             duration = excluded.duration, ended = excluded.ended",
        places(connection, tests.len(), 10)
    );
    let mut query = sqlx::query(AssertSqlSafe(statement));
    for test in tests {
        query = query
            .bind(run)
            .bind(signed(test.number))
            .bind(signed(test.seed))
            .bind(test.name)
            .bind(signed(test.began))
            .bind(test.verdict.map(str::to_owned))
            .bind(test.detail)
            .bind(signed(test.steps))
            .bind(signed(test.duration))
            .bind(signed(test.ended));
    }
    query.execute(connection).await?;
    Ok(())
}

async fn put_steps(connection: &mut AnyConnection, run: i64, steps: Vec<StepsLine>) -> Written {
    let mut steps = steps.into_iter().peekable();
    while steps.peek().is_some() {
        let some: Vec<StepsLine> = steps.by_ref().take(ROWS_AT_ONCE).collect();
        put_some_steps(connection, run, some).await?;
    }
    Ok(())
}

async fn put_some_steps(
    connection: &mut AnyConnection,
    run: i64,
    steps: Vec<StepsLine>,
) -> Written {
    let statement = format!(
        "INSERT INTO steps (run, test, first, body) VALUES {}",
        places(connection, steps.len(), 4)
    );
    let mut query = sqlx::query(AssertSqlSafe(statement));
    for line in steps {
        query = query
            .bind(run)
            .bind(signed(line.test))
            .bind(signed(line.first))
            .bind(line.body);
    }
    query.execute(connection).await?;
    Ok(())
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
            fingerprint: file.id.to_string(),
            code: deviation.code.clone(),
            title: deviation.title(&file.model),
            test,
            flaky,
            accepted: file.accepted.is_some(),
            file: file.write(),
        }
    }
}
