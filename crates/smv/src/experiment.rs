//! The experiment of the decomposition paper over a folder of models: value and decision coverage with every technique,
//! and Tables 1 to 4 of the paper for these models.

pub mod nusmv;
mod tables;

use serde::Serialize;

use crate::decompose::{Tree, bits};
use crate::depend::{Dependencies, vars_of};
use crate::explicit::{Limits, Reachable, reachable};
use crate::generate::{Edge, Event, GoalResult, Options, Technique, Verdict, generate};
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
    /// Seconds of processor time, of all threads, where they are known.
    #[serde(skip)]
    pub cpu: Option<f64>,
    /// Goals that the row stands for, when only some of them were asked.
    #[serde(skip)]
    pub sampled_from: Option<usize>,
}

impl Row {
    /// The time for all goals, from the time for those that were asked.
    pub fn scaled(&self, seconds: f64) -> f64 {
        match self.sampled_from {
            Some(all) if self.goals > 0 => seconds * all as f64 / self.goals as f64,
            _ => seconds,
        }
    }
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
    /// Answers that were compared with another checker, and those that differ.
    #[serde(skip)]
    pub compared: Vec<Comparison>,
    /// Seconds for NuSMV on one model and criterion.
    #[serde(skip)]
    pub nusmv_limit: Option<f64>,
}

/// Answers compared with somebody else's.
#[derive(Clone, Debug)]
pub struct Comparison {
    pub technique: String,
    /// `replay`, `enumeration` or `nusmv`.
    pub with: &'static str,
    pub answers: usize,
    pub contradictions: usize,
}

impl Outcome {
    /// Adds to the comparisons of a technique with somebody.
    pub fn compare(&mut self, technique: &str, with: &'static str, answers: usize, wrong: usize) {
        let known = self
            .compared
            .iter_mut()
            .find(|entry| entry.technique == technique && entry.with == with);
        match known {
            Some(entry) => {
                entry.answers += answers;
                entry.contradictions += wrong;
            }
            None => self.compared.push(Comparison {
                technique: technique.to_owned(),
                with,
                answers,
                contradictions: wrong,
            }),
        }
    }

    pub fn contradictions(&self) -> usize {
        self.compared.iter().map(|entry| entry.contradictions).sum()
    }
}

/// What is small enough to be enumerated beside every technique.
const ENUMERATED: Limits = Limits {
    states: 5000,
    work: 2_000_000,
};

#[derive(Clone, Debug)]
pub struct Settings {
    pub time_per_goal: f64,
    pub techniques: Vec<Technique>,
    pub jobs: usize,
    pub seed: u64,
    /// At most so many values of a variable.
    pub max_values: usize,
    /// Processor time of this process so far, where it is known.
    pub cpu: fn() -> Option<f64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            time_per_goal: 10.0,
            techniques: Technique::ALL.to_vec(),
            jobs: 2,
            seed: 1,
            max_values: 10,
            cpu: || None,
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
    let all_states = (whole_bits(&model) <= 40)
        .then(|| reachable(&model, ENUMERATED))
        .flatten();
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
            let cpu = (settings.cpu)();
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
                cpu: (settings.cpu)().zip(cpu).map(|(now, before)| now - before),
                sampled_from: None,
            };
            verify(
                &model,
                goals,
                &results,
                all_states.as_ref(),
                technique.name(),
                outcome,
                note,
            );
            note(&format!(
                "{} {} {}: {} goals, {} covered, {} infeasible, {} unknown, {:.2} s, cpu {:.2} s",
                row.model,
                row.technique,
                row.criterion,
                row.goals,
                row.covered,
                row.infeasible,
                row.unknown,
                row.seconds,
                row.cpu.unwrap_or(f64::NAN)
            ));
            outcome.rows.push(row);
            let verdicts = results.iter().map(|result| result.verdict);
            last.push((criterion, goals.iter().cloned().zip(verdicts).collect()));
        }
    }
    last
}

fn whole_bits(model: &crate::Model) -> u32 {
    model.vars.iter().map(|var| var.domain.bits()).sum()
}

/// Replays every test once more, and compares with enumeration where there is one.
fn verify(
    model: &crate::Model,
    goals: &[Goal],
    results: &[GoalResult],
    all_states: Option<&Reachable>,
    technique: &str,
    outcome: &mut Outcome,
    note: &mut dyn FnMut(&str),
) {
    let (mut tests, mut refused, mut known, mut wrong) = (0, 0, 0, 0);
    for (goal, result) in goals.iter().zip(results) {
        if let Some(test) = result.test() {
            tests += 1;
            let sound = model.check_run(test).is_ok()
                && model
                    .first_hit(test, goal.expr, goal.transition)
                    .is_some_and(|step| step + usize::from(goal.transition) < test.len());
            if !sound {
                refused += 1;
                note(&format!(
                    "{technique}: the test of {} does not hold",
                    goal.text
                ));
            }
        }
        if let Some(states) = all_states
            && result.verdict != Verdict::Unknown
        {
            known += 1;
            let feasible = states.distance(model, goal.expr, goal.transition).is_some();
            if feasible != (result.verdict == Verdict::Covered) {
                wrong += 1;
                note(&format!(
                    "{technique}: enumeration contradicts {:?} for {}",
                    result.verdict, goal.text
                ));
            }
        }
    }
    outcome.compare(technique, "replay", tests, refused);
    outcome.compare(technique, "enumeration", known, wrong);
}

fn reduction(name: &str, model: &crate::Model, values: &[Goal], decisions: &[Goal]) -> Reduction {
    let dependencies = Dependencies::of(model);
    let whole = whole_bits(model);
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
