//! Every shrinker over every trace: the figures, one row per mutant and shrinker.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use ioco_shrink::{Options, Pipeline, Runner, SHRINKERS, shrink};
use ioco_sts::Execution;
use serde::Serialize;

use crate::ExperimentError;
use crate::flat::{FlatModel, flat_model, flat_runner, semantics};
use crate::published::{Case, PublishedResult};
use crate::shortest::{shortest, shortest_of_played};

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
    /// Per trace: runs and stimuli.
    #[serde(skip)]
    pub costs: Vec<(usize, usize)>,
    /// Per trace, before shrinking.
    #[serde(skip)]
    pub original_lengths: Vec<usize>,
    #[serde(skip)]
    pub published: Option<PublishedResult>,
    #[serde(skip)]
    pub is_published: bool,
}

/// Where the traces of a row come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Published,
    /// Our random walks against the mutants of the examples.
    Random,
    /// Our random walks against mutants that change one switch of the model.
    Generated,
}

impl Origin {
    pub fn title(self) -> &'static str {
        match self {
            Origin::Published => "Published traces",
            Origin::Random => "Fresh random traces of the examples' mutants",
            Origin::Generated => "Fresh random traces of generated mutants",
        }
    }
}

impl Row {
    pub(crate) fn origin(&self) -> Origin {
        match self.is_published {
            true => Origin::Published,
            false if self.mutant.starts_with('g') => Origin::Generated,
            false => Origin::Random,
        }
    }
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
fn measured(only: &[String]) -> Result<Vec<Pipeline>, ExperimentError> {
    if !only.is_empty() {
        let parsed = only.iter().map(|name| name.parse::<Pipeline>());
        return Ok(parsed.collect::<Result<Vec<_>, _>>()?);
    }
    let names = SHRINKERS.iter().map(|shrinker| shrinker.name);
    let pipelines = ["cycle+elem", "cycle+binary", "cycle+delta"];
    let parsed = names.chain(pipelines).map(str::parse::<Pipeline>);
    Ok(parsed.collect::<Result<Vec<_>, _>>()?)
}

/// What is measured.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// Give every label a name without meaning.
    pub rename: bool,
    /// Only these shrinkers; all, and the published pipelines, where it is empty.
    pub shrinkers: Vec<String>,
    /// Print the traces of `auto` that do not end at the shortest, to the error stream.
    pub verbose: bool,
}

/// Runs every shrinker over every trace of the cases.
pub fn measure(cases: &[Case], models: &Path, setup: &Setup) -> Result<Report, ExperimentError> {
    let mut known_models: BTreeMap<String, FlatModel> = BTreeMap::new();
    let mut rows = Vec::new();
    for case in cases {
        let model = match known_models.get(&case.experiment) {
            Some(model) => model.clone(),
            None => {
                let model = flat_model(&case.experiment, models, setup.rename)?;
                known_models.insert(case.experiment.clone(), model.clone());
                model
            }
        };
        rows.extend(measure_case(case, &model, setup)?);
    }
    Ok(Report { rows })
}

fn measure_case(
    case: &Case,
    model: &FlatModel,
    setup: &Setup,
) -> Result<Vec<Row>, ExperimentError> {
    let failures = failures(case, model)?;
    let mut rows = Vec::new();
    for pipeline in measured(&setup.shrinkers)? {
        rows.push(measure_one(case, model, &failures, &pipeline)?);
    }
    let lengths = rows.iter().flat_map(|row| row.final_lengths.iter());
    let known = lengths.chain(&rows[0].original_lengths).min().copied();
    let mut runner = flat_runner(model, &case.mutant)?;
    let known = known.unwrap_or(usize::MAX);
    let shortest = shortest_of_played(model, &case.mutant)
        .or_else(|| shortest(&mut runner, known))
        .unwrap_or(known);
    for row in &mut rows {
        row.shortest = shortest;
        for (index, cost) in row.costs.iter().enumerate().filter(|_| setup.verbose) {
            let (length, from) = (row.final_lengths[index], row.original_lengths[index]);
            let note = if length > shortest { " LONG" } else { "" };
            eprintln!(
                "{} {} {} {index}: {from} -> {length} ({shortest}), {} runs, {} stimuli{note}",
                row.shrinker, row.experiment, row.mutant, cost.0, cost.1
            );
        }
    }
    Ok(rows)
}

fn measure_one(
    case: &Case,
    flat: &FlatModel,
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
        costs: Vec::new(),
        shortest: 0,
        seconds: 0.0,
        original_lengths: failures.iter().map(Execution::length).collect(),
        published: case.published.get(&name).cloned(),
        is_published: !case.published.is_empty(),
        shrinker: name,
    };
    let mut runner = flat_runner(flat, &case.mutant)?;
    let mut model = semantics(&flat.sts);
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
        row.costs.push((shrunk.runs, shrunk.stimuli_sent));
        row.runs += shrunk.runs;
        row.stimuli += shrunk.stimuli_sent;
        row.final_lengths.push(shrunk.execution.length());
    }
    row.seconds = started.elapsed().as_secs_f64();
    Ok(row)
}

/// The failing traces, run against our mutant.
fn failures(case: &Case, model: &FlatModel) -> Result<Vec<Execution>, ExperimentError> {
    let mut runner = flat_runner(model, &case.mutant)?;
    let mut failures = Vec::new();
    for (index, trace) in case.failing_traces.iter().enumerate() {
        let mut stimuli = Vec::new();
        for name in trace.iter().filter_map(|step| step.strip_prefix('?')) {
            stimuli.push(model.stimulus(name).ok_or_else(|| {
                ExperimentError::System(format!("the model has no stimulus `{name}`"))
            })?);
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
