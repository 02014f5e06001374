//! Every shrinker over every trace: the figures, one row per mutant and shrinker.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use ioco_shrink::{Options, Pipeline, Runner, SHRINKERS, shrink};
use ioco_sts::{Action, Direction, Execution, Sts};
use serde::Serialize;

use crate::ExperimentError;
use crate::flat::{FlatRunner, flat_model, semantics};
use crate::published::{Case, PublishedResult};
use crate::shortest::shortest;

/// The figures of one shrinker on one mutant. Lengths are in steps.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub experiment: String,
    pub mutant: String,
    pub shrinker: String,
    pub bug_type: String,
    pub traces: usize,
    /// Summed over the traces, as are the stimuli.
    pub runs: usize,
    pub stimuli: usize,
    pub final_lengths: Vec<usize>,
    /// The shortest failing trace that exists for this mutant.
    pub shortest: usize,
    pub seconds: f64,
    /// Per trace, before shrinking.
    #[serde(skip)]
    pub original_lengths: Vec<usize>,
    #[serde(skip)]
    pub published: Option<PublishedResult>,
}

/// All rows.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub rows: Vec<Row>,
}

impl Report {
    /// One JSON object: `{"rows": [...]}`.
    pub fn to_json(&self) -> Result<String, ExperimentError> {
        let text = serde_json::to_string_pretty(self);
        text.map_err(|error| ExperimentError::System(error.to_string()))
    }
}

/// The shrinkers that are measured: all, and the pipelines that were published.
fn measured() -> Result<Vec<Pipeline>, ExperimentError> {
    let names = SHRINKERS.iter().map(|shrinker| shrinker.name);
    let pipelines = ["cycle+elem", "cycle+binary", "cycle+delta"];
    let parsed = names.chain(pipelines).map(str::parse::<Pipeline>);
    Ok(parsed.collect::<Result<Vec<_>, _>>()?)
}

/// Runs every shrinker over every trace of the cases.
pub fn measure(cases: &[Case], models: &Path) -> Result<Report, ExperimentError> {
    let mut known_models: BTreeMap<String, Arc<Sts>> = BTreeMap::new();
    let mut rows = Vec::new();
    for case in cases {
        let sts = match known_models.get(&case.experiment) {
            Some(sts) => Arc::clone(sts),
            None => {
                let sts = flat_model(&case.experiment, models)?;
                known_models.insert(case.experiment.clone(), Arc::clone(&sts));
                sts
            }
        };
        rows.extend(measure_case(case, &sts)?);
    }
    Ok(Report { rows })
}

fn measure_case(case: &Case, sts: &Arc<Sts>) -> Result<Vec<Row>, ExperimentError> {
    let failures = failures(case, sts)?;
    let mut rows = Vec::new();
    for pipeline in measured()? {
        rows.push(measure_one(case, sts, &failures, &pipeline)?);
    }
    let lengths = rows.iter().flat_map(|row| row.final_lengths.iter());
    let known = lengths.chain(&rows[0].original_lengths).min().copied();
    let mut runner = FlatRunner::new(sts, &case.experiment, &case.mutant)?;
    let known = known.unwrap_or(usize::MAX);
    let shortest = shortest(&mut runner, known).unwrap_or(known);
    for row in &mut rows {
        row.shortest = shortest;
    }
    Ok(rows)
}

fn measure_one(
    case: &Case,
    sts: &Arc<Sts>,
    failures: &[Execution],
    pipeline: &Pipeline,
) -> Result<Row, ExperimentError> {
    let name = pipeline.to_string();
    let mut row = Row {
        experiment: case.experiment.clone(),
        mutant: case.mutant.clone(),
        bug_type: case.bug_type().to_owned(),
        traces: failures.len(),
        runs: 0,
        stimuli: 0,
        final_lengths: Vec::new(),
        shortest: 0,
        seconds: 0.0,
        original_lengths: failures.iter().map(Execution::length).collect(),
        published: case.published.get(&name).cloned(),
        shrinker: name,
    };
    let mut runner = FlatRunner::new(sts, &case.experiment, &case.mutant)?;
    let mut model = semantics(sts);
    let started = Instant::now();
    for failure in failures {
        let options = Options::default();
        let shrunk = shrink(
            pipeline,
            &mut model,
            failure,
            &mut runner,
            &options,
            &mut (),
        )?;
        row.runs += shrunk.runs;
        row.stimuli += shrunk.stimuli_sent;
        row.final_lengths.push(shrunk.execution.length());
    }
    row.seconds = started.elapsed().as_secs_f64();
    Ok(row)
}

/// The failing traces, run against our mutant.
fn failures(case: &Case, sts: &Arc<Sts>) -> Result<Vec<Execution>, ExperimentError> {
    let mut runner = FlatRunner::new(sts, &case.experiment, &case.mutant)?;
    let mut failures = Vec::new();
    for (index, trace) in case.failing_traces.iter().enumerate() {
        let mut stimuli = Vec::new();
        for name in trace.iter().filter_map(|step| step.strip_prefix('?')) {
            let label = sts.label_named(Direction::Stimulus, name).ok_or_else(|| {
                ExperimentError::System(format!("the model has no stimulus `{name}`"))
            })?;
            stimuli.push(Action::plain(label));
        }
        let execution = runner.run(&stimuli);
        if execution.deviation().is_none() || execution.length() != trace.len() {
            return Err(ExperimentError::DoesNotFail {
                experiment: case.experiment.clone(),
                mutant: case.mutant.clone(),
                number: index + 1,
            });
        }
        failures.push(execution);
    }
    Ok(failures)
}
