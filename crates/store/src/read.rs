//! From rows back to what they stand for.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use ioco_engine::{
    Event, FailureCounts, FailureId, SavedDeviation, SavedStep, SavedVerdict, Summary,
};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row};

use crate::body;
use crate::rows::{RunRow, TestRow};

/// Tests are read so many at a time, so that a long run is not in memory whole.
const TESTS_AT_A_TIME: i64 = 200;

pub(crate) fn number(row: &AnyRow, column: &str) -> sqlx::Result<u64> {
    Ok(row.try_get::<i64, _>(column)?.cast_unsigned())
}

/// A column that holds JSON.
pub(crate) fn parsed<T: serde::de::DeserializeOwned>(
    row: &AnyRow,
    column: &str,
) -> sqlx::Result<T> {
    let text: String = row.try_get(column)?;
    read(&text)
}

fn read<T: serde::de::DeserializeOwned>(text: &str) -> sqlx::Result<T> {
    serde_json::from_str(text).map_err(|error| sqlx::Error::Decode(Box::new(error)))
}

pub(crate) async fn run_row(connection: &mut AnyConnection, row: &AnyRow) -> sqlx::Result<RunRow> {
    let summary: Option<String> = row.try_get("summary")?;
    let id: i64 = row.try_get("id")?;
    let seed = number(row, "seed")?;
    let finished = summary.is_some();
    let summary = match summary {
        Some(text) => read(&text)?,
        None => Summary {
            seed,
            locations: number(row, "locations")?,
            switches: number(row, "switches")?,
            ..so_far(connection, id).await?
        },
    };
    Ok(RunRow {
        id,
        started: number(row, "started")?,
        model: row.try_get("model")?,
        model_hash: row.try_get("model_hash")?,
        options: row.try_get("options")?,
        connection: row.try_get("connection")?,
        seed,
        strategy: row.try_get("strategy")?,
        summary,
        failures: FailureCounts {
            confirmed: number(row, "confirmed")?,
            flaky: number(row, "flaky")?,
            accepted: number(row, "accepted")?,
            ended: number(row, "ended")?,
        },
        finished,
    })
}

/// The numbers of a run that has no summary, from its finished tests. How its steps divide into
/// stimuli, responses and silences is not known: they count as responses.
async fn so_far(connection: &mut AnyConnection, run: i64) -> sqlx::Result<Summary> {
    let mut summary = Summary::default();
    let rows = sqlx::query(
        "SELECT verdict, COUNT(*) AS tests, CAST(SUM(steps) AS BIGINT) AS steps,
                MAX(ended) AS ended, MIN(began) AS began
         FROM tests WHERE run = $1 AND verdict IS NOT NULL GROUP BY verdict",
    )
    .bind(run)
    .fetch_all(&mut *connection)
    .await?;
    let (mut began, mut ended) = (u64::MAX, 0);
    for row in &rows {
        let tests = number(row, "tests")?;
        summary.tests += tests;
        summary.responses += number(row, "steps")?;
        began = began.min(number(row, "began")?);
        ended = ended.max(number(row, "ended")?);
        *match row.try_get::<String, _>("verdict")?.as_str() {
            "pass" => &mut summary.passed,
            "fail" => &mut summary.failed,
            "inconclusive" => &mut summary.inconclusive,
            _ => &mut summary.errors,
        } += tests;
    }
    summary.duration = ended.saturating_sub(began);
    let row = sqlx::query(
        "SELECT COALESCE(MAX(locations), 0) AS locations, COALESCE(MAX(switches), 0) AS switches,
                COALESCE(MAX(boundaries), 0) AS boundaries
         FROM growth WHERE run = $1",
    )
    .bind(run)
    .fetch_one(&mut *connection)
    .await?;
    summary.covered_locations = number(&row, "locations")?;
    summary.covered_switches = number(&row, "switches")?;
    summary.covered_boundaries = number(&row, "boundaries")?;
    let row = sqlx::query("SELECT COUNT(*) AS failures FROM found WHERE run = $1")
        .bind(run)
        .fetch_one(connection)
        .await?;
    summary.distinct_failures = number(&row, "failures")?;
    Ok(summary)
}

pub(crate) fn test_row(row: &AnyRow) -> sqlx::Result<TestRow> {
    let verdict: Option<String> = row.try_get("verdict")?;
    let detail: Option<String> = row.try_get("detail")?;
    let verdict = match (verdict.as_deref(), detail) {
        (None, _) => None,
        (Some(_), Some(detail)) => Some(read::<SavedVerdict>(&detail)?),
        (Some(_), None) => Some(SavedVerdict::Pass),
    };
    Ok(TestRow {
        number: number(row, "number")?,
        seed: number(row, "seed")?,
        name: row.try_get("name")?,
        began: number(row, "began")?,
        ended: number(row, "ended")?,
        steps: number(row, "steps")?,
        duration: number(row, "duration")?,
        verdict,
    })
}

/// The steps of some tests, by the test's number.
pub(crate) async fn steps_between(
    connection: &mut AnyConnection,
    run: i64,
    from: i64,
    to: i64,
) -> sqlx::Result<Vec<(i64, Vec<(u64, SavedStep)>)>> {
    let rows = sqlx::query(
        "SELECT test, body FROM steps WHERE run = $1 AND test >= $2 AND test <= $3
         ORDER BY test, first",
    )
    .bind(run)
    .bind(from)
    .bind(to)
    .fetch_all(&mut *connection)
    .await?;
    let labels: Vec<(i64, String)> =
        sqlx::query_as("SELECT number, label FROM labels WHERE run = $1")
            .bind(run)
            .fetch_all(connection)
            .await?;
    let labels: HashMap<i64, String> = labels.into_iter().collect();
    let row = |row: &AnyRow| {
        let text: String = row.try_get("body")?;
        let damaged = || sqlx::Error::Decode("a row of steps cannot be read".into());
        let steps = body::read(&text, &labels).ok_or_else(damaged)?;
        Ok((row.try_get("test")?, steps))
    };
    rows.iter().map(row).collect()
}

/// Tells of the next tests among these; returns the number of the last one.
pub(crate) async fn emit_tests(
    connection: &mut AnyConnection,
    run: i64,
    tests: RangeInclusive<i64>,
    emit: &mut dyn FnMut(Event),
) -> sqlx::Result<Option<i64>> {
    let rows = sqlx::query(
        "SELECT number, seed, name, began, verdict, detail, steps, duration, ended
         FROM tests WHERE run = $1 AND number >= $2 AND number <= $3 ORDER BY number LIMIT $4",
    )
    .bind(run)
    .bind(*tests.start())
    .bind(*tests.end())
    .bind(TESTS_AT_A_TIME)
    .fetch_all(&mut *connection)
    .await?;
    let tests: Vec<TestRow> = rows.iter().map(test_row).collect::<sqlx::Result<_>>()?;
    let (Some(first), Some(last)) = (tests.first(), tests.last()) else {
        return Ok(None);
    };
    let (from, to) = (first.number.cast_signed(), last.number.cast_signed());
    let mut steps = steps_between(connection, run, from, to)
        .await?
        .into_iter()
        .peekable();
    let found = sqlx::query(
        "SELECT failure, test, deviation FROM found
         WHERE run = $1 AND test >= $2 AND test <= $3 ORDER BY failure",
    )
    .bind(run)
    .bind(from)
    .bind(to)
    .fetch_all(&mut *connection)
    .await?;
    let growth = sqlx::query(
        "SELECT test, locations, switches, boundaries FROM growth
         WHERE run = $1 AND test >= $2 AND test <= $3",
    )
    .bind(run)
    .bind(from)
    .bind(to)
    .fetch_all(connection)
    .await?;
    for test in &tests {
        let own = test.number.cast_signed();
        emit(Event::TestStarted {
            test: test.number,
            seed: test.seed,
            name: test.name.clone(),
            at: test.began,
        });
        let mut step = 0;
        while let Some((_, row)) = steps.next_if(|(number, _)| *number == own) {
            for (at, what) in row {
                step += 1;
                emit(Event::StepTaken {
                    test: test.number,
                    step,
                    at,
                    what,
                });
            }
        }
        let Some(verdict) = &test.verdict else {
            continue;
        };
        emit(Event::TestFinished {
            test: test.number,
            seed: test.seed,
            verdict: verdict.clone(),
            steps: test.steps,
            duration: test.duration,
            at: test.ended,
        });
        for row in &found {
            if row.try_get::<i64, _>("test")? == own {
                let failure = row.try_get::<i64, _>("failure")?;
                emit(Event::FailureFound {
                    test: test.number,
                    failure: FailureId(u32::try_from(failure).unwrap_or(u32::MAX)),
                    deviation: parsed::<SavedDeviation>(row, "deviation")?,
                });
            }
        }
        for row in &growth {
            if row.try_get::<i64, _>("test")? == own {
                emit(Event::CoverageGrew {
                    test: test.number,
                    covered_switches: number(row, "switches")? as usize,
                    covered_locations: number(row, "locations")? as usize,
                    covered_boundaries: number(row, "boundaries")? as usize,
                });
            }
        }
    }
    Ok(Some(to))
}
