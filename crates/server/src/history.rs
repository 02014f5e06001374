//! Runs of earlier days and of other programs, from the store. It is opened for every call: nobody
//! holds a file that may be moved away, or a connection that may be lost.

use std::collections::HashMap;

use ioco_campaign::history;
use ioco_campaign::lifecycle::{self, End, Lifecycle};
use ioco_campaign::time::iso;
use ioco_engine::{FailureFile, RunVerdict};
use ioco_store::{RunRow, Sighting, Store};
use ioco_view::{
    CoverageView, Facts, FailureSummary, Recorded, RunDetail, RunState, RunSummary, RunWalk,
    SilenceView, TestView,
};
use serde::Serialize;

use crate::app::{App, no_run};
use crate::refusal::Refusal;

/// Runs that the history lists, the newest.
const MAX_RUNS: usize = 500;

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Comparison {
    a: RunSummary,
    b: RunSummary,
    gained: Vec<String>,
    lost: Vec<String>,
    new_failures: Vec<FailureSummary>,
    fixed_failures: Vec<FailureSummary>,
    same_failures: Vec<FailureSummary>,
}

impl App {
    /// Newest first; only those of one model, by name or path, if it is named.
    pub fn run_list(&self, model: Option<&str>) -> Result<Vec<RunSummary>, Refusal> {
        let Some(store) = history::open(&self.project)? else {
            return Ok(Vec::new());
        };
        let name = model.map(|model| self.model_name(model));
        let rows = store
            .runs(name.as_deref(), MAX_RUNS)
            .map_err(history::stop)?;
        // A run of this server says more of itself, and says it sooner.
        let shown = |row: &RunRow| match self.own_run(&row.id.to_string()) {
            Some(run) => run.summary(),
            None => summary(row),
        };
        Ok(rows.iter().map(shown).collect())
    }

    pub fn run(&self, id: &str) -> Result<RunDetail, Refusal> {
        if let Some(run) = self.own_run(id) {
            return Ok(run.detail());
        }
        let (store, row) = self.stored(id)?;
        let summary = summary(&row);
        // What is drawn is the model as it is now; where that is gone, the run has its numbers.
        let Some(loaded) = self.models.named(&row.model) else {
            return Ok(RunDetail {
                summary,
                ..RunDetail::default()
            });
        };
        let known = recorded(&history::failures(&store, row.id)?);
        let semantics = loaded.semantics(history::relation(&row))?;
        let mut walk = RunWalk::new(semantics, summary.clone(), known);
        store
            .events(row.id, &mut |event| walk.event(&event))
            .map_err(history::stop)?;
        Ok(RunDetail {
            summary,
            ..walk.finish()
        })
    }

    /// A test of a run, followed through the model as the run used it.
    pub fn test(&self, id: &str, number: u64) -> Result<TestView, Refusal> {
        let (store, row) = self.stored(id)?;
        let events = store.test_events(row.id, number).map_err(history::stop)?;
        let model = history::model(&store, &row)?;
        let mut semantics = history::semantics(&model, &row);
        let known = recorded(&history::failures(&store, row.id)?);
        TestView::new(&mut semantics, number, events.iter(), &known).ok_or_else(|| {
            Refusal::unknown(
                format!("run {id} has no finished test {number}"),
                format!("it has {} tests", row.summary.tests),
            )
        })
    }

    pub fn compare(&self, a: &str, b: &str) -> Result<Comparison, Refusal> {
        let (store, before) = self.stored(a)?;
        let (_, after) = self.stored(b)?;
        let compared = history::compare(&store, &before, &after)?;
        let read = |all: &[Sighting]| -> Vec<FailureFile> {
            let files = all.iter().map(|one| FailureFile::read(&one.file));
            files.filter_map(Result::ok).collect()
        };
        let files = [
            read(&compared.new_failures),
            read(&compared.fixed_failures),
            read(&compared.same_failures),
        ];
        let known = self.lifecycles(&files.concat())?;
        let none = Facts::default();
        let [new_failures, fixed_failures, same_failures] = files.map(|files| {
            let facts = |file: &FailureFile| known.get(&*file.id).unwrap_or(&none);
            let shown = files
                .iter()
                .map(|file| FailureSummary::new(file, facts(file)));
            shown.collect()
        });
        Ok(Comparison {
            a: summary(&before),
            b: summary(&after),
            gained: compared.gained,
            lost: compared.lost,
            new_failures,
            fixed_failures,
            same_failures,
        })
    }

    /// What became of each of these failures, by its id.
    pub fn lifecycles(&self, files: &[FailureFile]) -> Result<HashMap<String, Facts>, Refusal> {
        match history::open(&self.project)? {
            Some(store) => {
                let known = lifecycle::lifecycles(&store, files)?;
                Ok(known
                    .iter()
                    .map(|(id, known)| (id.clone(), facts(known)))
                    .collect())
            }
            None => Ok(HashMap::new()),
        }
    }

    pub fn stored(&self, id: &str) -> Result<(Store, RunRow), Refusal> {
        let number: i64 = id.parse().map_err(|_| no_run(id))?;
        let store = history::open(&self.project)?.ok_or_else(|| no_run(id))?;
        let row = store.run(number).map_err(history::stop)?;
        Ok((store, row.ok_or_else(|| no_run(id))?))
    }
}

/// A run as the page and the reports list it.
pub fn summary(run: &RunRow) -> RunSummary {
    let numbers = &run.summary;
    RunSummary {
        run: run.id.to_string(),
        model: run.model.clone(),
        model_hash: run.model_hash.clone(),
        started: iso(run.started),
        state: RunState::ended(numbers.stopped),
        verdict: RunVerdict::of(numbers, run.failures),
        seed: run.seed,
        strategy: run.strategy.clone(),
        tests: numbers.tests,
        steps: numbers.steps(),
        failures: run.failures.all(),
        coverage: CoverageView::of_summary(numbers),
        seconds: numbers.duration as f64 / 1e9,
        message: numbers.stopped.map(|reason| reason.words().to_owned()),
        silence: SilenceView::of(numbers),
        delay_ms: 0,
    }
}

/// The failures of a run, to be recognised in its tests.
pub fn recorded(failures: &[(FailureFile, u64, bool)]) -> Vec<Recorded> {
    failures
        .iter()
        .map(|(file, ..)| Recorded::new(file))
        .collect()
}

/// What became of a failure, as the page and the reports show it.
pub fn facts(known: &Lifecycle) -> Facts {
    Facts {
        first_seen: Some(iso(known.first_seen)),
        last_seen: Some(iso(known.last_seen)),
        run: Some(known.first_run.to_string()),
        last_run: Some(known.last_run.to_string()),
        seen_in: known.runs,
        tests: known.tests,
        is_new: known.is_new,
        fixed_in: match known.end {
            Some(End::Fixed(run)) => Some(run.to_string()),
            _ => None,
        },
        allowed_in: match known.end {
            Some(End::Allowed(run)) => Some(run.to_string()),
            _ => None,
        },
        ..Facts::default()
    }
}
