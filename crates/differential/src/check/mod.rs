//! Asks ioco and the reference the same questions.

mod bisimulation;
mod compared;
mod explored;
pub mod language;
mod played;
mod recorded;
mod suites;
pub mod texts;

pub use played::Disagreement;

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use ioco_budget::Budget;
pub(crate) use ioco_solve::semantics;
use ioco_solve::{Deadline, GuardSolver, choose_values};
use ioco_sts::{
    Answer, Direction, Feasibility as _, Gate, Question, Relation, Sts, SwitchId, Value, Verdict,
};
use rand::RngExt as _;

use crate::generate::{Dice, Draft, Flavour, dice, draft, mutated, one_in, pick};
use crate::reference::{Set, State, Theory, Val};

/// ioco and the reference differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Finding {
    /// What was asked and how the answers differ, without details: what a shrinker keeps.
    pub kind: String,
    pub detail: String,
    /// How a test contradicts the reference, where it is a test that does.
    pub disagreement: Option<Disagreement>,
}

/// Verdicts that say less than the reference knows are counted under this name.
pub(crate) const WEAKER: &str = "unexpectedly inconclusive";

/// How many answers were compared, and how many of them were open.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    rows: BTreeMap<String, (u64, u64)>,
}

impl Counts {
    pub fn decided(&mut self, check: &str) {
        self.rows.entry(check.to_owned()).or_default().0 += 1;
    }

    /// ioco or the reference left it open.
    pub fn open(&mut self, check: &str) {
        self.rows.entry(check.to_owned()).or_default().1 += 1;
    }

    /// How many answers were compared and how many were open, of the checks whose names have this in them.
    pub fn of(&self, part: &str) -> (u64, u64) {
        let rows = self.rows.iter().filter(|(name, _)| name.contains(part));
        rows.fold((0, 0), |sum, (_, row)| (sum.0 + row.0, sum.1 + row.1))
    }

    /// The same of cases with small limits: what says less there than the reference is as it should be.
    fn of_small_limits(self) -> Counts {
        let rows = self.rows.into_iter().map(|(name, row)| {
            let name = name.replace(WEAKER, "cut off");
            (format!("small limits, {name}"), row)
        });
        Counts {
            rows: rows.collect(),
        }
    }

    pub fn add(&mut self, other: &Counts) {
        for (name, (decided, open)) in &other.rows {
            let row = self.rows.entry(name.clone()).or_default();
            row.0 += decided;
            row.1 += open;
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, (decided, open)) in &self.rows {
            let all = decided + open;
            let share = *open as f64 * 100.0 / all.max(1) as f64;
            writeln!(
                f,
                "{name:<44} {decided:>9} compared {open:>8} open ({share:.1} %)"
            )?;
        }
        Ok(())
    }
}

/// Which checks a case runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    Explore,
    Test,
    Trace,
    Compare,
    Suite,
}

/// One random case: a model, what is asked of it, and the seed of the rest.
#[derive(Clone, Debug)]
pub struct Case {
    pub kind: Kind,
    pub flavour: Flavour,
    pub draft: Draft,
    /// Another model: what the system plays, or the second model of a comparison.
    pub other: Draft,
    pub seed: u64,
}

impl Case {
    pub fn random(seed: u64) -> Case {
        let mut dice = dice(seed);
        let kind = match dice.random_range(0..10) {
            0..3 => Kind::Explore,
            3..6 => Kind::Test,
            6..8 => Kind::Trace,
            8 => Kind::Compare,
            _ => Kind::Suite,
        };
        let flavour = flavour(&mut dice, kind);
        let model = draft(&mut dice, flavour);
        let mutant = kind == Kind::Compare || dice.random_range(0..3) == 0;
        let other = match mutant {
            true => mutated(&mut dice, &model, flavour),
            false => model.clone(),
        };
        Case {
            kind,
            flavour,
            draft: model,
            other,
            seed,
        }
    }

    /// The relation that this case asks about.
    pub fn relation(&self) -> Relation {
        relation(self.seed).0
    }

    /// Runs the check. A model that does not load, or a panic, is a finding too.
    pub fn run(&self, counts: &mut Counts) -> Option<Finding> {
        let run = catch_unwind(AssertUnwindSafe(|| {
            let mut fresh = Counts::default();
            let found = self.checked(&mut fresh);
            match self.small_limits() {
                // Where states may be missing, no response is certainly due.
                Some(_) => {
                    let found = found.filter(|f| f.disagreement != Some(Disagreement::Due));
                    (found, fresh.of_small_limits())
                }
                None => (found, fresh),
            }
        }));
        match run {
            Ok((found, fresh)) => {
                counts.add(&fresh);
                found
            }
            Err(panic) => {
                let text = panic
                    .downcast_ref::<String>()
                    .map(String::as_str)
                    .or_else(|| panic.downcast_ref::<&str>().copied())
                    .unwrap_or("no message");
                Some(Finding {
                    kind: "panic".to_owned(),
                    detail: text.to_owned(),
                    ..Finding::default()
                })
            }
        }
    }

    /// The limits of a case in which ioco reaches them soon: it may then know less than the reference, and must
    /// not say anything else.
    pub fn small_limits(&self) -> Option<Budget> {
        let mut dice = dice(self.seed ^ 0x1111);
        let suits = matches!(self.kind, Kind::Test | Kind::Trace);
        if !suits || !one_in(&mut dice, 6) {
            return None;
        }
        let budget = self.budget();
        Some(match dice.random_range(0..3) {
            0 => Budget {
                states: *pick(&mut dice, &[1, 2, 4]),
                ..budget
            },
            1 => Budget {
                steps: *pick(&mut dice, &[2, 5, 12, 30]),
                ..budget
            },
            _ => Budget {
                bytes: *pick(&mut dice, &[8, 64]),
                depth: *pick(&mut dice, &[2, 4, 8]),
                ..budget
            },
        })
    }

    fn budget(&self) -> Budget {
        let states = match self.flavour {
            Flavour::Endless => FEW_STATES,
            _ => MAX_STATES,
        };
        Budget {
            states,
            ..Budget::default()
        }
    }

    fn checked(&self, counts: &mut Counts) -> Option<Finding> {
        let budget = self.budget();
        let sts = match loaded(&self.draft, budget) {
            Ok(sts) => sts,
            Err(finding) => return Some(finding),
        };
        if let Some(finding) = language::check(&self.draft, &sts, self.seed, counts) {
            return Some(finding);
        }
        let sts = match self.small_limits() {
            Some(small) => limited(sts, small),
            None => sts,
        };
        let other = match self.other == self.draft {
            true => Arc::clone(&sts),
            false => loaded(&self.other, budget).unwrap_or_else(|_| Arc::clone(&sts)),
        };
        ask(self.kind, &sts, &other, self.seed, counts)
    }
}

/// The states of one set that ioco follows: more than the reference does, so that nothing is lost by
/// it, and no case takes long.
const MAX_STATES: u64 = 300;
/// Fewer than the reference follows: it then knows states that ioco has cut off.
const FEW_STATES: u64 = 20;

/// Which corner of the language suits what is asked.
fn flavour(dice: &mut Dice, kind: Kind) -> Flavour {
    let roll = dice.random_range(0..40);
    match kind {
        // Both sides must be able to list everything.
        Kind::Compare => match roll {
            0..12 => Flavour::Plain,
            12..26 => Flavour::Finite,
            26..38 => Flavour::FiniteNetwork,
            _ => Flavour::Data,
        },
        Kind::Trace => match roll {
            0..5 => Flavour::Plain,
            5..11 => Flavour::Finite,
            11..14 => Flavour::Data,
            14..16 => Flavour::Collections,
            16..18 => Flavour::Keyed,
            18..20 => Flavour::Texts,
            20..25 => Flavour::Network,
            25..29 => Flavour::Endless,
            _ => Flavour::Counting,
        },
        Kind::Suite if roll < 10 => Flavour::FiniteNetwork,
        Kind::Explore | Kind::Test | Kind::Suite => match roll {
            0..5 => Flavour::Plain,
            5..10 => Flavour::Finite,
            10..14 => Flavour::Data,
            14..17 => Flavour::Collections,
            17..21 => Flavour::Keyed,
            21..23 => Flavour::Texts,
            23..31 => Flavour::Network,
            31..37 if kind != Kind::Suite => Flavour::Endless,
            _ => Flavour::Counting,
        },
    }
}

/// Asks about one model. `other` is what the system plays, or the second model of a comparison.
pub fn ask(
    kind: Kind,
    sts: &Arc<Sts>,
    other: &Arc<Sts>,
    seed: u64,
    counts: &mut Counts,
) -> Option<Finding> {
    let (relation, mut dice) = relation(seed);
    match kind {
        Kind::Explore => explored::check(sts, relation, &mut dice, counts),
        Kind::Test => played::check(sts, other, relation, &mut dice, counts),
        Kind::Trace => recorded::check(sts, other, relation, &mut dice, counts),
        Kind::Compare => compared::check(sts, other, relation, counts),
        Kind::Suite => suites::check(sts, other, relation, &mut dice, counts),
    }
}

/// The relation of a seed, and what the rest is drawn from.
fn relation(seed: u64) -> (Relation, Dice) {
    let mut dice = dice(seed ^ 0x5eed);
    let relation = match dice.random_range(0..3) {
        0 => Relation::Uioco,
        _ => Relation::Ioco,
    };
    (relation, dice)
}

fn limited(sts: Arc<Sts>, budget: Budget) -> Arc<Sts> {
    let mut sts = Arc::unwrap_or_clone(sts);
    sts.set_budget(budget);
    Arc::new(sts)
}

fn loaded(draft: &Draft, budget: Budget) -> Result<Arc<Sts>, Finding> {
    let text = draft.text();
    let loaded = ioco_aml::load_text("model.aml", &text);
    let limited = loaded.sts.map(|sts| limited(sts, budget));
    limited.ok_or_else(|| {
        let errors: Vec<&str> = loaded
            .diagnostics
            .iter()
            .map(|d| d.message.as_str())
            .collect();
        Finding {
            kind: "a generated model does not load".to_owned(),
            detail: errors.join("\n"),
            ..Finding::default()
        }
    })
}

/// The state as ioco has it.
fn valuation(state: &State, sts: &Sts) -> Option<Vec<Value>> {
    let both = state.values.iter().zip(sts.variables());
    both.map(|(value, variable)| value.to_value(&variable.ty, sts.types()))
        .collect()
}

/// Asks the solver for values of every observable switch of these states, as hints for the reference. What
/// the solver says is only tried, never believed.
pub(crate) fn hint_all(theory: &Theory, sets: &[Set], dice: &mut Dice) {
    let sts = Arc::clone(theory.sts());
    for state in sets.iter().flat_map(|set| &set.states).take(50) {
        let Some(valuation) = valuation(state, &sts) else {
            continue;
        };
        let responses = theory.observable(state, Direction::Response).into_iter();
        for (id, label) in responses.chain(theory.observable(state, Direction::Stimulus)) {
            if theory.witness(state, id).is_some() {
                continue;
            }
            let guard = &sts.switch(id).enabled;
            let deadline = Deadline::steps(100_000);
            let found = choose_values(&sts, label, guard, &valuation, dice, &deadline);
            if let Some(values) = found.sat() {
                theory.hint(label, values.iter().map(Val::of).collect());
            }
        }
    }
}

/// Whether ioco's solver leaves open if one of these states can respond. It then takes silence as
/// possible, which is weaker than the theory and by design.
pub(crate) fn solver_is_unsure(sts: &Sts, theory: &Theory, sets: &[Set]) -> bool {
    let mut oracle = GuardSolver::new();
    sets.iter().flat_map(|set| &set.states).any(|state| {
        let Some(valuation) = valuation(state, sts) else {
            return true;
        };
        let mut responses = theory.observable(state, Direction::Response).into_iter();
        responses.any(|(id, label)| {
            let guard = &sts.switch(id).enabled;
            let question = Question {
                sts,
                label,
                guard,
                valuation: &valuation,
            };
            oracle.feasible(question) == Answer::Unknown
        })
    })
}

/// The observable switches of a model on a label.
pub(crate) fn on_label(sts: &Sts, id: SwitchId) -> Option<ioco_sts::LabelId> {
    match sts.switch(id).gate {
        Gate::Observable(label) => Some(label),
        _ => None,
    }
}

pub(crate) fn show_set(set: &Set, sts: &Sts) -> String {
    let states: Vec<String> = set
        .states
        .iter()
        .take(6)
        .map(|s| show_state(s, sts))
        .collect();
    let more = if set.states.len() > 6 { " ..." } else { "" };
    let incomplete = if set.incomplete { " (incomplete)" } else { "" };
    format!("{}{more}{incomplete}", states.join(" / "))
}

fn show_state(state: &State, sts: &Sts) -> String {
    let locations: Vec<&str> = state
        .locations
        .iter()
        .map(|l| sts.location(*l).name.as_str())
        .collect();
    let values: Vec<String> = sts
        .variables()
        .iter()
        .zip(&state.values)
        .map(|(variable, value)| {
            let shown = value.to_value(&variable.ty, sts.types());
            let shown = shown.map_or("?".to_owned(), |v| v.display(sts.types()).to_string());
            format!("{}={shown}", variable.name)
        })
        .collect();
    format!("{} {{{}}}", locations.join("|"), values.join(", "))
}

pub(crate) fn show_verdict(verdict: &Verdict, sts: &Sts) -> String {
    match verdict {
        Verdict::Pass => "pass".to_owned(),
        Verdict::Fail(deviation) => {
            format!(
                "fail: {} {}",
                deviation.kind.name(),
                deviation.observed.show(sts)
            )
        }
        Verdict::Inconclusive(reason) => format!("inconclusive: {reason}"),
        Verdict::Error(reason) => format!("error: {reason}"),
        Verdict::Ended(deviation) => format!("ended: {}", deviation.observed.show(sts)),
    }
}
