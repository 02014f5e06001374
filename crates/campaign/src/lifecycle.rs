//! What became of each failure: which runs and tests showed it, whether it was fixed, and which
//! recorded failures are the same one.

use std::collections::HashMap;

use ioco_engine::{Event, FailureFile, RecordedFailure, Resolution, SavedStep, known_failure};
use ioco_store::Store;

use crate::error::CampaignError;
use crate::history::stop;

/// Deviating tests that are counted, the newest: more would make the list of failures slow.
const MAX_TESTS: usize = 100_000;

/// Passing tests that are looked at for the end of one failure: so many of the oldest, which say since when it is
/// over, and so many of the newest, which say how. What lies between is taken to be like the oldest.
const MAX_PASSED: usize = 10;

/// What became of one failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifecycle {
    /// Milliseconds since 1970.
    pub first_seen: u64,
    pub last_seen: u64,
    pub first_run: i64,
    pub last_run: i64,
    /// The number of runs and of tests that showed it.
    pub runs: u64,
    pub tests: u64,
    /// The newest run of its model found it.
    pub is_new: bool,
    pub end: Option<End>,
}

/// How a failure came to its end, and in which run, after the last that showed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The system did something else where it had deviated.
    Fixed(i64),
    /// The system did the same, and the model allows it now.
    Allowed(i64),
}

/// What the store knows of these failures, by their ids.
pub fn lifecycles(
    store: &Store,
    files: &[FailureFile],
) -> Result<HashMap<String, Lifecycle>, CampaignError> {
    let rows = store.failures(None).map_err(stop)?;
    let mut newest: HashMap<&str, i64> = HashMap::new();
    for file in files {
        if !newest.contains_key(file.model.as_str()) {
            let run = store.runs(Some(&file.model), 1).map_err(stop)?;
            newest.insert(&file.model, run.first().map_or(0, |run| run.id));
        }
    }
    let tests = tests(store, files)?;
    let mut lifecycles = HashMap::new();
    for file in files {
        let id = file.id.to_string();
        let Some(row) = rows.iter().find(|row| row.fingerprint == id) else {
            continue;
        };
        // One that was never certain may pass by chance.
        let end = match file.is_flaky() {
            true => None,
            false => end(store, file, row.last_run)?,
        };
        let known = Lifecycle {
            first_seen: row.first_seen,
            last_seen: row.last_seen,
            first_run: row.first_run,
            last_run: row.last_run,
            runs: row.runs,
            tests: tests.get(&id).copied().unwrap_or(row.runs),
            is_new: newest.get(file.model.as_str()) == Some(&row.first_run),
            end,
        };
        lifecycles.insert(id, known);
    }
    Ok(lifecycles)
}

/// What the tests say of its end that passed with the stimuli of the failure after it was last seen: the last of them
/// says how it ended, and the first that said the same ever since says when.
fn end(store: &Store, file: &FailureFile, last: i64) -> Result<Option<End>, CampaignError> {
    let mut passed = Vec::new();
    for name in [&file.id].into_iter().chain(&file.aliases) {
        let name = known_failure(name);
        passed.extend(store.passed_after(&name, last).map_err(stop)?);
    }
    passed.sort_unstable();
    let newest = passed.len().saturating_sub(MAX_PASSED).max(MAX_PASSED);
    let mut end: Option<(Resolution, i64)> = None;
    for (index, (run, test)) in passed.into_iter().enumerate() {
        if (MAX_PASSED..newest).contains(&index) {
            continue;
        }
        let events = store.test_events(run, test).map_err(stop)?;
        let steps = events.into_iter().filter_map(|event| match event {
            Event::StepTaken { what, .. } => Some(what),
            _ => None,
        });
        let steps: Vec<SavedStep> = steps.collect();
        end = match (end, file.resolution_after(&steps)) {
            (Some((before, _)), Some(now)) if before == now => end,
            (_, Some(now)) => Some((now, run)),
            (_, None) => end,
        };
    }
    Ok(end.map(|(resolution, run)| match resolution {
        Resolution::Fixed => End::Fixed(run),
        Resolution::Allowed => End::Allowed(run),
    }))
}

/// How many tests showed each failure.
fn tests(store: &Store, files: &[FailureFile]) -> Result<HashMap<String, u64>, CampaignError> {
    let known: HashMap<String, RecordedFailure> = files
        .iter()
        .map(|file| (file.id.to_string(), RecordedFailure::new(file)))
        .collect();
    let mut seen: HashMap<i64, Vec<RecordedFailure>> = HashMap::new();
    for (run, id) in store.seen().map_err(stop)? {
        seen.entry(run).or_default().extend(known.get(&id).cloned());
    }
    let mut tests = HashMap::new();
    for (run, test) in store.deviating_tests(MAX_TESTS).map_err(stop)? {
        let deviation = test
            .verdict
            .as_ref()
            .and_then(|verdict| verdict.deviation());
        let (Some(known), Some(deviation)) = (seen.get(&run), deviation) else {
            continue;
        };
        if let Some(found) = RecordedFailure::find(known, test.name.as_deref(), deviation) {
            *tests.entry(found.id.clone()).or_default() += 1;
        }
    }
    Ok(tests)
}

/// Both are one failure: the same code, label and locations after shrinking.
pub(crate) fn is_same(one: &FailureFile, other: &FailureFile) -> bool {
    one.model == other.model && one.last_deviation().is_like(other.last_deviation())
}

/// Both are one failure for a person who has decided about one of them. An acceptance is about its own trace: another
/// trace that fails in the same place may have another cause.
pub(crate) fn is_same_decision(one: &FailureFile, other: &FailureFile) -> bool {
    let is_called = |file: &FailureFile, by: &FailureFile| {
        file.is_called(&by.id) || by.aliases.iter().any(|id| file.is_called(id))
    };
    one.accepted.is_some() == other.accepted.is_some()
        || is_called(one, other)
        || is_called(other, one)
}

/// Puts a failure that was found again together with what is recorded of it. `passes`: the recorded trace does not
/// fail any more. A trace that fails stays rather than one that passes, a certain one rather than a flaky one, then the
/// shorter one, and of two that are as long the recorded one, so that its id does not change.
pub(crate) fn merge(recorded: &FailureFile, again: &FailureFile, passes: bool) -> FailureFile {
    let length = |file: &FailureFile| match &file.shrunk {
        Some(shrunk) => shrunk.steps.len(),
        None => file.steps.len(),
    };
    let rank = |file: &FailureFile, passes: bool| (passes, file.is_flaky(), length(file));
    let is_replaced = rank(again, false) < rank(recorded, passes);
    let (kept, dropped) = match is_replaced {
        true => (again, recorded),
        false => (recorded, again),
    };
    let mut merged = shown_also_by(kept, dropped);
    merged.accepted = recorded.accepted.clone().or(again.accepted.clone());
    if is_replaced {
        take_over_ids(&mut merged, recorded);
    }
    merged
}

/// The failure as it is recorded, to be recognised in what showed it again.
pub(crate) fn shown_also_by(recorded: &FailureFile, again: &FailureFile) -> FailureFile {
    let mut recorded = recorded.clone();
    for deviation in [&again.deviation].into_iter().chain(&again.also) {
        if !recorded.is_shown_by(deviation) {
            recorded.also.push(deviation.clone());
        }
    }
    recorded
}

/// What was known by an old id stays known by it.
pub(crate) fn take_over_ids(file: &mut FailureFile, old: &FailureFile) {
    for id in [&old.id].into_iter().chain(&old.aliases) {
        if !file.is_called(id) {
            file.aliases.push(id.clone());
        }
    }
}
