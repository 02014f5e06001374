//! The experiment of the decomposition paper over a folder of models: value and decision coverage with every technique,
//! and Tables 1 to 4 of the paper for these models.

pub mod nusmv;
mod tables;

use ioco_smv::decompose::{Tree, bits};
use ioco_smv::depend::{Dependencies, vars_of};
use ioco_smv::explicit::{Limits, Reachable, reachable};
use ioco_smv::generate::{Edge, Event, GoalResult, Options, Technique, Verdict, generate};
use ioco_smv::goal::{Criterion, Goal, GoalOptions};
use ioco_smv::{Model, load};
use serde::{Deserialize, Serialize};

pub use tables::tables;

/// One model with one technique and one criterion, as it is kept in the file of rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub model: String,
    pub technique: String,
    pub criterion: String,
    pub goals: usize,
    pub covered: usize,
    pub infeasible: usize,
    pub unknown: usize,
    /// With reading the model.
    pub seconds: f64,
    /// Seconds of processor time, of all threads, where they are known.
    pub cpu: Option<f64>,
    /// Goals that the row stands for, when only some of them were asked.
    pub sampled_from: Option<usize>,
    /// For every goal of the model a letter: [`COVERED`], [`INFEASIBLE`], [`UNKNOWN`] or [`NOT_ASKED`].
    pub verdicts: String,
    pub checks: Checks,
}

/// What was looked at once more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checks {
    pub replayed: usize,
    pub refused: usize,
    pub enumerated: usize,
    pub contradicted: usize,
}

pub const COVERED: char = 'C';
pub const INFEASIBLE: char = 'I';
pub const UNKNOWN: char = 'U';
pub const NOT_ASKED: char = '-';

impl Row {
    /// A row with its counts, from the letters of its goals.
    pub fn new(model: &str, technique: &str, criterion: &str, verdicts: String) -> Self {
        let count = |letter| verdicts.chars().filter(|other| *other == letter).count();
        let (covered, infeasible, unknown) = (count(COVERED), count(INFEASIBLE), count(UNKNOWN));
        Self {
            model: model.to_owned(),
            technique: technique.to_owned(),
            criterion: criterion.to_owned(),
            goals: covered + infeasible + unknown,
            covered,
            infeasible,
            unknown,
            verdicts,
            ..Self::default()
        }
    }

    /// The time for all goals, from the time for those that were asked.
    pub fn scaled(&self, seconds: f64) -> f64 {
        match self.sampled_from {
            Some(all) if self.goals > 0 => seconds * all as f64 / self.goals as f64,
            _ => seconds,
        }
    }

    pub fn is_for(&self, model: &str, technique: &str, criterion: &str) -> bool {
        self.model == model && self.technique == technique && self.criterion == criterion
    }
}

impl std::fmt::Display for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} {} {}: {} goals, {} covered, {} infeasible, {} unknown, {:.2} s, cpu {:.2} s",
            self.model,
            self.technique,
            self.criterion,
            self.goals,
            self.covered,
            self.infeasible,
            self.unknown,
            self.seconds,
            self.cpu.unwrap_or(f64::NAN)
        )
    }
}

/// What others read of a row.
#[derive(Serialize)]
struct PublicRow<'r> {
    model: &'r str,
    technique: &'r str,
    criterion: &'r str,
    goals: usize,
    covered: usize,
    infeasible: usize,
    unknown: usize,
    seconds: f64,
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
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    pub rows: Vec<Row>,
    pub reductions: Vec<Reduction>,
    /// Goals before at most ten values of a variable were chosen.
    pub generated: Vec<(String, usize, usize)>,
    /// Models that could not be read, with the reason.
    pub skipped: Vec<(String, String)>,
    /// Processor seconds for NuSMV on one model and criterion.
    pub nusmv_limit: Option<f64>,
    /// Seconds for one of our techniques but `auto` on one model and criterion.
    pub model_limit: Option<f64>,
}

/// Answers compared with those of another program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    pub technique: String,
    pub with: &'static str,
    pub answers: usize,
    pub contradictions: usize,
}

impl Outcome {
    /// `{"rows": [...]}`, with what the tables are made from.
    pub fn to_json(&self) -> serde_json::Value {
        let rows: Vec<PublicRow> = self
            .rows
            .iter()
            .map(|row| PublicRow {
                model: &row.model,
                technique: &row.technique,
                criterion: &row.criterion,
                goals: row.goals,
                covered: row.covered,
                infeasible: row.infeasible,
                unknown: row.unknown,
                seconds: row.seconds,
            })
            .collect();
        serde_json::json!({ "rows": rows })
    }

    pub fn row(&self, model: &str, technique: &str, criterion: &str) -> Option<&Row> {
        self.rows
            .iter()
            .find(|row| row.is_for(model, technique, criterion))
    }

    /// For every technique of ours: its tests replayed, its answers against enumeration, NuSMV B and the paper's baseline,
    /// of which `auto` must lose no test.
    pub fn comparisons(&self) -> Vec<Comparison> {
        let mut all: Vec<Comparison> = Vec::new();
        let mut add = |technique: &str, with, answers, contradictions| {
            let known = all
                .iter_mut()
                .find(|entry| entry.technique == technique && entry.with == with);
            match known {
                Some(entry) => {
                    entry.answers += answers;
                    entry.contradictions += contradictions;
                }
                None => all.push(Comparison {
                    technique: technique.to_owned(),
                    with,
                    answers,
                    contradictions,
                }),
            }
        };
        for row in self.rows.iter().filter(|row| !nusmv::is_row(row)) {
            let checks = row.checks;
            add(
                &row.technique,
                "tests replayed on the whole model",
                checks.replayed,
                checks.refused,
            );
            add(
                &row.technique,
                "answers against enumeration",
                checks.enumerated,
                checks.contradicted,
            );
            let others = [
                (nusmv::B, "answers against NuSMV"),
                (MONOLITHIC, "answers against monolithic"),
            ];
            for (name, with) in others {
                let other = self.row(&row.model, name, &row.criterion);
                if let Some(other) = other.filter(|_| row.technique != name) {
                    let (known, wrong) = contradictions(&row.verdicts, &other.verdicts);
                    add(&row.technique, with, known, wrong);
                }
            }
            if row.technique == Technique::Auto.name()
                && let Some(other) = self.row(&row.model, MONOLITHIC, &row.criterion)
            {
                let pairs = row.verdicts.chars().zip(other.verdicts.chars());
                let theirs = pairs.filter(|(_, theirs)| *theirs == COVERED);
                let lost = theirs.filter(|(ours, _)| *ours != COVERED).count();
                let with = "goals that monolithic covers";
                add(&row.technique, with, other.covered, lost);
            }
        }
        all
    }
}

/// The technique that the paper compares with.
const MONOLITHIC: &str = "monolithic";

/// How many goals both have decided, and how many of them differently.
fn contradictions(ours: &str, theirs: &str) -> (usize, usize) {
    let decided = |letter| letter == COVERED || letter == INFEASIBLE;
    let both = || {
        let pairs = ours.chars().zip(theirs.chars());
        pairs.filter(|(ours, theirs)| decided(*ours) && decided(*theirs))
    };
    (both().count(), both().filter(|(a, b)| a != b).count())
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
    /// Seconds for a technique but `auto` on one model and criterion.
    pub model_limit: Option<f64>,
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
            model_limit: None,
        }
    }
}

/// A model of the folder.
pub struct Source {
    pub name: String,
    pub text: String,
}

/// Runs one model with everything that the outcome has no row for yet. `done` gets every new row, `note` what else there
/// is to say. The answer has the goals of both criteria, to ask another program.
pub fn run_model(
    source: &Source,
    settings: &Settings,
    edge: Edge,
    outcome: &mut Outcome,
    done: &mut dyn FnMut(&Row),
    note: &mut dyn FnMut(&str),
) -> Vec<(Criterion, Vec<Goal>)> {
    let (start, cpu) = ((edge.clock)(), (settings.cpu)());
    let (model, diagnostics) = load(&source.text, &source.name);
    // NuSMV reads the model too, so that is part of every row.
    let reading = (
        (edge.clock)() - start,
        (settings.cpu)().zip(cpu).map(|(now, before)| now - before),
    );
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
        .filter(|var| var.kind != ioco_smv::model::VarKind::Input)
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
    let criteria = vec![(Criterion::Value, values), (Criterion::Decision, decisions)];
    let all_states = std::cell::OnceCell::new();
    let all_states = || {
        all_states
            .get_or_init(|| {
                (whole_bits(&model) <= 40)
                    .then(|| reachable(&model, ENUMERATED))
                    .flatten()
            })
            .as_ref()
    };
    for technique in &settings.techniques {
        for (criterion, goals) in &criteria {
            let known = outcome.row(&source.name, technique.name(), criterion.name());
            if known.is_some() || (edge.stop)() {
                continue;
            }
            let options = Options {
                technique: *technique,
                time_per_goal: settings.time_per_goal,
                time: settings
                    .model_limit
                    .filter(|_| *technique != Technique::Auto),
                jobs: settings.jobs,
                seed: settings.seed,
                ..Options::default()
            };
            let start = (edge.clock)();
            let cpu = (settings.cpu)();
            let results = generate(&model, goals, &options, edge, &mut |_: Event| {});
            let seconds = (edge.clock)() - start + reading.0;
            let cpu = (settings.cpu)()
                .zip(cpu)
                .zip(reading.1)
                .map(|((now, before), reading)| now - before + reading);
            let verdicts = results
                .iter()
                .map(|result| match result.verdict {
                    Verdict::Covered => COVERED,
                    Verdict::Infeasible => INFEASIBLE,
                    Verdict::Unknown => UNKNOWN,
                })
                .collect();
            let row = Row {
                seconds,
                cpu,
                checks: verify(
                    &model,
                    goals,
                    &results,
                    all_states(),
                    technique.name(),
                    note,
                ),
                ..Row::new(&source.name, technique.name(), criterion.name(), verdicts)
            };
            done(&row);
            outcome.rows.push(row);
        }
    }
    criteria
}

fn whole_bits(model: &Model) -> u32 {
    model.vars.iter().map(|var| var.domain.bits()).sum()
}

/// Replays every test once more, and compares with enumeration where there is one.
fn verify(
    model: &Model,
    goals: &[Goal],
    results: &[GoalResult],
    all_states: Option<&Reachable>,
    technique: &str,
    note: &mut dyn FnMut(&str),
) -> Checks {
    let mut checks = Checks::default();
    for (goal, result) in goals.iter().zip(results) {
        if let Some(test) = result.test() {
            checks.replayed += 1;
            let sound = model.check_run(test).is_ok()
                && model
                    .first_hit(test, goal.expr, goal.transition)
                    .is_some_and(|step| step + usize::from(goal.transition) < test.len());
            if !sound {
                checks.refused += 1;
                note(&format!(
                    "{technique}: the test of {} does not hold",
                    goal.text
                ));
            }
        }
        if let Some(states) = all_states
            && result.verdict != Verdict::Unknown
        {
            checks.enumerated += 1;
            let feasible = states.distance(model, goal.expr, goal.transition).is_some();
            if feasible != (result.verdict == Verdict::Covered) {
                checks.contradicted += 1;
                note(&format!(
                    "{technique}: enumeration contradicts {:?} for {}",
                    result.verdict, goal.text
                ));
            }
        }
    }
    checks
}

fn reduction(name: &str, model: &Model, values: &[Goal], decisions: &[Goal]) -> Reduction {
    let dependencies = Dependencies::of(model);
    let whole = whole_bits(model);
    let (mut split, mut against_model, mut against_cone, mut count) = (0.0, 0.0, 0.0, 0.0);
    // Sizes are numbers of states, so a difference of bits is a factor of a power of two.
    let shrink =
        |small: u32, large: u32| 100.0 * (1.0 - (f64::from(small) - f64::from(large)).exp2());
    let mut known = std::collections::BTreeMap::new();
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
