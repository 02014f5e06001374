//! The experiment of the decomposition paper over a folder of models: value and decision coverage with every technique,
//! and Tables 1 to 4 of the paper for these models.

pub mod nusmv;
mod tables;

use serde::Serialize;

use crate::decompose::{Tree, bits};
use crate::depend::{Dependencies, vars_of};
use crate::generate::{Edge, Event, Options, Technique, Verdict, generate};
use crate::goal::{Criterion, Goal, GoalOptions};
use crate::load;

pub use tables::tables;

/// One model with one technique and one criterion.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub model: String,
    pub technique: String,
    pub criterion: &'static str,
    pub goals: usize,
    pub covered: usize,
    pub infeasible: usize,
    pub unknown: usize,
    pub seconds: f64,
}

/// How much smaller the largest subsystem is, as the mean over the goals of a model.
#[derive(Clone, Debug, Serialize)]
pub struct Reduction {
    pub model: String,
    pub bits: u32,
    /// Share of the goals whose tree has more than one subsystem.
    pub split: f64,
    /// Percentage by which the number of states shrinks, against the whole model.
    pub against_model: f64,
    /// The same against the cone of influence.
    pub against_cone: f64,
}

/// Everything that the experiment found.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Outcome {
    pub rows: Vec<Row>,
    #[serde(skip)]
    pub reductions: Vec<Reduction>,
    /// Goals before at most ten values of a variable were chosen.
    #[serde(skip)]
    pub generated: Vec<(String, usize, usize)>,
    /// Models that could not be read, with the reason.
    #[serde(skip)]
    pub skipped: Vec<(String, String)>,
}

#[derive(Clone, Debug)]
pub struct Settings {
    pub time_per_goal: f64,
    pub techniques: Vec<Technique>,
    pub jobs: usize,
    pub seed: u64,
    /// At most so many values of a variable.
    pub max_values: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            time_per_goal: 10.0,
            techniques: Technique::ALL.to_vec(),
            jobs: 2,
            seed: 1,
            max_values: 10,
        }
    }
}

/// A model of the folder.
pub struct Source {
    pub name: String,
    pub text: String,
}

/// Runs one model. `note` gets a line whenever something is finished. The answer has the goals of both criteria with
/// the verdicts of the last technique, to compare with another checker.
pub fn run_model(
    source: &Source,
    settings: &Settings,
    edge: Edge,
    outcome: &mut Outcome,
    note: &mut dyn FnMut(&str),
) -> Vec<(Criterion, Vec<(Goal, Verdict)>)> {
    let (model, diagnostics) = load(&source.text, &source.name);
    let Some(mut model) = model else {
        let reason = diagnostics
            .first()
            .map_or_else(String::new, ToString::to_string);
        note(&format!("{}: skipped: {reason}", source.name));
        outcome.skipped.push((source.name.clone(), reason));
        return Vec::new();
    };
    let goal_options = GoalOptions {
        max_values: Some(settings.max_values),
        seed: settings.seed,
        ..GoalOptions::default()
    };
    let all_values: usize = model
        .vars
        .iter()
        .filter(|var| var.kind != crate::model::VarKind::Input)
        .map(|var| usize::try_from(var.domain.len()).unwrap_or(usize::MAX))
        .fold(0, usize::saturating_add);
    let values = model.goals(&[Criterion::Value], &goal_options);
    let decisions = model.goals(&[Criterion::Decision], &goal_options);
    outcome
        .generated
        .push((source.name.clone(), all_values, decisions.len()));
    outcome
        .reductions
        .push(reduction(&source.name, &model, &values, &decisions));
    let mut last = Vec::new();
    for technique in &settings.techniques {
        last.clear();
        for (criterion, goals) in [
            (Criterion::Value, &values),
            (Criterion::Decision, &decisions),
        ] {
            if (edge.stop)() {
                return last;
            }
            let options = Options {
                technique: *technique,
                time_per_goal: settings.time_per_goal,
                jobs: settings.jobs,
                seed: settings.seed,
                ..Options::default()
            };
            let start = (edge.clock)();
            let results = generate(&model, goals, &options, edge, &mut |_: Event| {});
            let count = |verdict| {
                results
                    .iter()
                    .filter(|result| result.verdict == verdict)
                    .count()
            };
            let row = Row {
                model: source.name.clone(),
                technique: technique.name().to_owned(),
                criterion: criterion.name(),
                goals: goals.len(),
                covered: count(Verdict::Covered),
                infeasible: count(Verdict::Infeasible),
                unknown: count(Verdict::Unknown),
                seconds: (edge.clock)() - start,
            };
            note(&format!(
                "{} {} {}: {} goals, {} covered, {} infeasible, {} unknown, {:.2} s",
                row.model,
                row.technique,
                row.criterion,
                row.goals,
                row.covered,
                row.infeasible,
                row.unknown,
                row.seconds
            ));
            outcome.rows.push(row);
            let verdicts = results.iter().map(|result| result.verdict);
            last.push((criterion, goals.iter().cloned().zip(verdicts).collect()));
        }
    }
    last
}

fn reduction(name: &str, model: &crate::Model, values: &[Goal], decisions: &[Goal]) -> Reduction {
    let dependencies = Dependencies::of(model);
    let whole: u32 = model.vars.iter().map(|var| var.domain.bits()).sum();
    let (mut split, mut against_model, mut against_cone, mut count) = (0.0, 0.0, 0.0, 0.0);
    // Sizes are numbers of states, so a difference of bits is a factor of a power of two.
    let shrink =
        |small: u32, large: u32| 100.0 * (1.0 - (f64::from(small) - f64::from(large)).exp2());
    let mut known = rustc_hash::FxHashMap::default();
    for goal in values.iter().chain(decisions) {
        let vars = vars_of(model, goal.expr);
        let (parts, largest, cone) = *known.entry(vars.clone()).or_insert_with(|| {
            let tree = Tree::of(model, &dependencies, goal.expr);
            (
                tree.subsystems.len(),
                tree.largest_bits(model),
                bits(model, &dependencies.cone(&vars)),
            )
        });
        split += f64::from(u8::from(parts > 1));
        against_model += shrink(largest, whole);
        against_cone += shrink(largest, cone);
        count += 1.0;
    }
    let mean = |sum: f64| if count > 0.0 { sum / count } else { 0.0 };
    Reduction {
        model: name.to_owned(),
        bits: whole,
        split: mean(split),
        against_model: mean(against_model),
        against_cone: mean(against_cone),
    }
}
