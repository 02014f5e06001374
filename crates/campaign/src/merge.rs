//! The newest runs of several folders put together as one run: its tests, coverage and failures are those of all.
//! For shards, which know nothing of each other.

use std::path::{Path, PathBuf};
use std::time::Instant;

use ioco_budget::Until;
use ioco_engine::{
    CoverageWalk, EVENT_VERSION, Event, FailureFile, FailureId, SavedDeviation, SavedVerdict,
    StopReason, Summary,
};
use ioco_store::{NewRun, Place, Recording, RunRow, Store};

use crate::error::{CampaignError, Remedy};
use crate::history::{self, stop};
use crate::model::Model;
use crate::project::Project;
use crate::results::Results;
use crate::shard::Shard;
use crate::{coverage, failures, lifecycle};

/// What came of putting runs together.
#[derive(Clone, Debug)]
pub struct Merged {
    /// The number of the new run.
    pub run: i64,
    pub summary: Summary,
    /// Per folder, the run that was taken and its tests.
    pub parts: Vec<(PathBuf, i64, u64)>,
    pub failures: usize,
    /// Shards that were not named, where that was allowed.
    pub missing: Vec<Shard>,
}

/// A run of another folder.
struct Part {
    folder: PathBuf,
    results: Results,
    store: Store,
    row: RunRow,
}

/// Which shards a run is put together from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shards {
    /// All of a campaign, where the runs are shards.
    All,
    /// Those that there are.
    Some,
}

/// Puts the newest run of each folder together, as a new run of this project.
pub fn merge(
    project: &Project,
    folders: &[PathBuf],
    shards: Shards,
) -> Result<Merged, CampaignError> {
    let parts: Vec<Part> = folders.iter().map(|f| part(f)).collect::<Result<_, _>>()?;
    let Some(first) = parts.first() else {
        return Err(CampaignError::usage("no folders to merge"));
    };
    for (index, part) in parts.iter().enumerate() {
        if let Some(same) = parts[..index]
            .iter()
            .find(|one| is_same(&one.row, &part.row))
        {
            return Err(CampaignError::usage(format!(
                "{} and {} hold the same run: its tests would count twice",
                same.folder.display(),
                part.folder.display()
            ))
            .hint("name each run once"));
        }
        let (own, others) = (history::whole(&part.row)?, history::whole(&first.row)?);
        if part.row.model_hash != first.row.model_hash || own != others {
            return Err(CampaignError::usage(format!(
                "{} and {} tested different models",
                first.folder.display(),
                part.folder.display()
            ))
            .hint("merge the runs of one model text, read with the same options"));
        }
        if !part.row.finished {
            return Err(CampaignError::usage(format!(
                "run {} of {} did not finish",
                part.row.id,
                part.folder.display()
            )));
        }
    }
    let missing = missing(&parts)?;
    if !missing.is_empty() && shards == Shards::All {
        let plural = if missing.len() == 1 { " is" } else { "s are" };
        return Err(CampaignError::usage(format!(
            "shard{plural} missing: {}; the merged run would lack their tests",
            listed(&missing)
        ))
        .remedy(Remedy::NameShards));
    }
    let model = history::model(&first.store, &first.row)?;
    let kept = first.store.model(&first.row.model_hash).map_err(stop)?;
    let kept = kept.ok_or_else(|| CampaignError::usage("the model was not kept"))?;
    let new = NewRun {
        started: parts.iter().map(|p| p.row.started).min().unwrap_or(0),
        model: kept,
        options: history::whole(&first.row)?,
        connection: first.row.connection.clone(),
        seed: first.row.seed,
        strategy: first.row.strategy.clone(),
        locations: model.sts.locations().len() as u64,
        switches: model.sts.switches().len() as u64,
        campaign: None,
    };
    let results = Results::at(project.results());
    results.make()?;
    let mut recording = Recording::begin(&history::place(project)?, new).map_err(stop)?;
    let mut joined = Joined::new(&model, &first.row);
    recording.events(&[joined.begin()]).map_err(stop)?;
    let mut found = Vec::new();
    let mut taken = Vec::new();
    for part in &parts {
        let offset = joined.summary.tests;
        let mut events = Vec::new();
        let read = part.store.events(part.row.id, &mut |event| {
            joined.take(event, offset, &mut events)
        });
        read.map_err(stop)?;
        recording.events(&events).map_err(stop)?;
        joined.end_part(&part.row.summary);
        for (file, test, flaky) in history::failures(&part.store, part.row.id)? {
            found.push((file, test.saturating_add(offset), flaky));
        }
        // What all runs of that folder covered, with the values at limits.
        if let Some(covered) = coverage::read(&part.results.coverage(&model.hash), &model.sts)? {
            let until = Until::forever(Instant::now);
            coverage::add(&results, &model.hash, &model.sts, &covered, &until)?;
        }
        taken.push((part.folder.clone(), part.row.id, part.row.summary.tests));
    }
    let failures = keep(found, &results, &mut recording, &model)?;
    let snapshot = joined.walk.coverage().snapshot(&model.sts);
    let summary = joined.end();
    recording
        .events(&[Event::RunFinished { summary }])
        .map_err(stop)?;
    recording.coverage(snapshot).map_err(stop)?;
    recording.flush().map_err(stop)?;
    Ok(Merged {
        run: recording.run(),
        summary,
        parts: taken,
        failures,
        missing,
    })
}

/// Shards, as a person writes them.
pub fn listed(shards: &[Shard]) -> String {
    let words: Vec<String> = shards.iter().map(Shard::to_string).collect();
    words.join(", ")
}

/// The shards of the same campaign that are not among the parts. Refuses one that comes twice, and shares of another
/// size.
fn missing(parts: &[Part]) -> Result<Vec<Shard>, CampaignError> {
    let given: Vec<(Shard, &Part)> = parts
        .iter()
        .filter_map(|part| Some((history::shard(&part.row)?, part)))
        .collect();
    let Some((first, of_first)) = given.first() else {
        return Ok(Vec::new());
    };
    for (index, (shard, part)) in given.iter().enumerate() {
        if let Some((_, other)) = given[..index].iter().find(|(other, _)| other == shard) {
            return Err(CampaignError::usage(format!(
                "{} and {} both hold shard {shard}: its tests would count twice",
                other.folder.display(),
                part.folder.display()
            ))
            .hint("name one of them"));
        }
        if !shard.fits(*first) {
            return Err(CampaignError::usage(format!(
                "{} holds shard {first}, and {} shard {shard}: they are not of one campaign",
                of_first.folder.display(),
                part.folder.display()
            )));
        }
    }
    let others = first.others();
    let is_given = |shard: &Shard| given.iter().any(|(one, _)| one == shard);
    Ok(others.filter(|shard| !is_given(shard)).collect())
}

/// Whether both are one run, in one folder or in a copy of it. Shards differ in how long they took, to the nanosecond.
fn is_same(one: &RunRow, other: &RunRow) -> bool {
    one.id == other.id
        && one.started == other.started
        && one.seed == other.seed
        && one.model_hash == other.model_hash
        && one.summary == other.summary
}

/// Keeps each failure once, together with what is recorded of it here; how many are new here.
fn keep(
    found: Vec<(FailureFile, u64, bool)>,
    results: &Results,
    recording: &mut Recording,
    model: &Model,
) -> Result<usize, CampaignError> {
    let paths = results.failure_files().into_iter();
    let recorded = paths.filter_map(|path| failures::read(&path, model.sts.budget()).ok());
    let mut kept: Vec<FailureFile> = recorded.collect();
    let before = kept.len();
    let mut places = vec![0; found.len()];
    // What a person has decided comes first, so that the order of the folders does not matter.
    let (decided, open): (Vec<usize>, Vec<usize>) =
        (0..found.len()).partition(|at| found[*at].0.accepted.is_some());
    for at in decided.into_iter().chain(open) {
        let file = &found[at].0;
        let is_same = |known: &&FailureFile| {
            lifecycle::is_same(known, file) && lifecycle::is_same_decision(known, file)
        };
        let by_id = kept.iter().position(|known| known.is_called(&file.id));
        let place = by_id.or_else(|| kept.iter().position(|known| is_same(&known)));
        places[at] = match place {
            Some(place) => {
                let merged = lifecycle::merge(&kept[place], file, false);
                if merged.id != kept[place].id {
                    // The same failure, now under another id.
                    let old = results.failures().join(kept[place].id.file_name());
                    let _ = std::fs::remove_file(old);
                }
                kept[place] = merged;
                place
            }
            None => {
                kept.push(file.clone());
                kept.len() - 1
            }
        };
    }
    for ((_, test, flaky), place) in found.iter().zip(places) {
        let known = &kept[place];
        let path = results.failures().join(known.id.file_name());
        results.write(&path, known.write().as_bytes())?;
        recording.failure(known, *test, *flaky).map_err(stop)?;
    }
    Ok(kept.len() - before)
}

/// The newest run of a folder: of a project, or of a copy of its `.ioco`.
fn part(folder: &Path) -> Result<Part, CampaignError> {
    let nothing = || {
        CampaignError::usage(format!("no run has been recorded in {}", folder.display()))
            .remedy(Remedy::TestFirst)
    };
    for results in [folder.join(".ioco"), folder.to_owned()] {
        let results = Results::at(results);
        let place = Place::new(&results.store(), None).map_err(stop)?;
        if !place.exists() {
            continue;
        }
        let store = Store::read(&place).map_err(stop)?.ok_or_else(nothing)?;
        let row = store.runs(None, 1).map_err(stop)?.into_iter().next();
        return Ok(Part {
            folder: folder.to_owned(),
            results,
            row: row.ok_or_else(nothing)?,
            store,
        });
    }
    Err(nothing())
}

/// The events of all parts as those of one run.
struct Joined {
    walk: CoverageWalk,
    failures: Vec<SavedDeviation>,
    summary: Summary,
    started: Event,
    covered: usize,
}

impl Joined {
    fn new(model: &Model, row: &RunRow) -> Joined {
        let started = Event::RunStarted {
            version: EVENT_VERSION,
            model: row.model.clone(),
            seed: row.seed,
            strategy: row.strategy.clone(),
            locations: model.sts.locations().len(),
            switches: model.sts.switches().len(),
            at: 0,
        };
        Joined {
            walk: CoverageWalk::new(history::semantics(model, row)),
            failures: Vec::new(),
            summary: Summary {
                seed: row.seed,
                ..Summary::default()
            },
            started,
            covered: 0,
        }
    }

    fn begin(&self) -> Event {
        self.started.clone()
    }

    /// Takes over an event, with the number that its test has now.
    fn take(&mut self, mut event: Event, offset: u64, events: &mut Vec<Event>) {
        self.walk.event(&event);
        let number = match &mut event {
            Event::TestStarted { test, .. }
            | Event::StepTaken { test, .. }
            | Event::TestFinished { test, .. } => {
                *test = test.saturating_add(offset);
                *test
            }
            // Said anew: what is new in a part need not be new in the whole.
            Event::FailureFound { .. }
            | Event::CoverageGrew { .. }
            | Event::RunStarted { .. }
            | Event::RunFinished { .. } => return,
        };
        let verdict = match &event {
            Event::TestFinished { verdict, .. } => Some(verdict.clone()),
            _ => None,
        };
        events.push(event);
        if let Some(verdict) = verdict {
            self.finished(number, &verdict, events);
        }
    }

    fn finished(&mut self, test: u64, verdict: &SavedVerdict, events: &mut Vec<Event>) {
        if let Some(deviation) = verdict.deviation()
            && !self.failures.iter().any(|known| known.is_like(deviation))
        {
            events.push(Event::FailureFound {
                test,
                failure: FailureId(self.failures.len() as u32),
                deviation: deviation.clone(),
            });
            self.failures.push(deviation.clone());
        }
        let coverage = self.walk.coverage();
        let covered = coverage.covered_switches()
            + coverage.covered_locations()
            + coverage.covered_boundaries();
        if covered > self.covered {
            self.covered = covered;
            events.push(Event::CoverageGrew {
                test,
                covered_switches: coverage.covered_switches(),
                covered_locations: coverage.covered_locations(),
                covered_boundaries: coverage.covered_boundaries(),
            });
        }
    }

    /// Adds the numbers of a part. The parts ran side by side: the longest says how long it took.
    fn end_part(&mut self, part: &Summary) {
        let sum = &mut self.summary;
        // The numbers of a store may be anything.
        for (all, own) in [
            (&mut sum.tests, part.tests),
            (&mut sum.restarts, part.restarts),
            (&mut sum.passed, part.passed),
            (&mut sum.failed, part.failed),
            (&mut sum.inconclusive, part.inconclusive),
            (&mut sum.errors, part.errors),
            (&mut sum.stimuli, part.stimuli),
            (&mut sum.responses, part.responses),
            (&mut sum.silences, part.silences),
        ] {
            *all = all.saturating_add(own);
        }
        // What is new in a part need not be new in the whole: that is not known any more.
        sum.silence = None;
        sum.duration = sum.duration.max(part.duration);
        sum.stopped = match (sum.stopped, part.stopped) {
            (Some(StopReason::Interrupted), _) | (_, Some(StopReason::Interrupted)) => {
                Some(StopReason::Interrupted)
            }
            (None, own) => own,
            (before, _) => before,
        };
    }

    fn end(&self) -> Summary {
        let coverage = self.walk.coverage();
        Summary {
            distinct_failures: self.failures.len() as u64,
            locations: coverage.locations() as u64,
            covered_locations: coverage.covered_locations() as u64,
            switches: coverage.switches() as u64,
            covered_switches: coverage.covered_switches() as u64,
            boundaries: coverage.boundaries().len() as u64,
            covered_boundaries: coverage.covered_boundaries() as u64,
            requirements: self.walk.sts().requirements().len() as u64,
            covered_requirements: coverage.covered_requirements(self.walk.sts()) as u64,
            ..self.summary
        }
    }
}
