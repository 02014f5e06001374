//! Why a test did not pass, as plain data that any report can show: where in the model, what
//! happened, what was allowed, and because of which guards.

mod because;

use ioco_sts::{Execution, Observed, Semantics, SetId, Step, Sts, SwitchId, Time, Verdict};
use serde::{Deserialize, Serialize};

use crate::codes::code_of;
use crate::event::title;
use crate::failure::{Sender, WireLine};
use because::Reasons;

pub use because::allowed_in;

/// What the caller knows of a failure besides the execution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    pub test: Option<u64>,
    pub seed: Option<u64>,
    /// What to call the system in the chart; "system" where empty.
    pub system: String,
    pub shrunk: Option<Shrunk>,
    /// In how many of how many runs the failure was seen again.
    pub confirmed: Option<(u64, u64)>,
    /// The command that shows it again.
    pub replay: Option<String>,
}

/// From how many steps to how many, in how many runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shrunk {
    pub from: usize,
    pub to: usize,
    pub runs: usize,
    /// Every single stimulus was left out once, alone, and what was left did not fail.
    #[serde(default)]
    pub minimal: bool,
}

/// A failure (or an inconclusive or erroneous test) explained.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explanation {
    /// `fail`, `inconclusive` or `error`.
    pub verdict: String,
    pub code: String,
    pub title: String,
    pub model: String,
    pub test: Option<u64>,
    pub seed: Option<u64>,
    /// The number of the row at which it went wrong.
    pub step: usize,
    /// The lines of the model that say so.
    pub places: Vec<PlaceLine>,
    pub system: String,
    pub rows: Vec<Row>,
    /// The responses allowed at the end, with the values they may have, or silence.
    pub allowed: Vec<String>,
    pub because: Vec<String>,
    /// The names of the requirements that it touches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<String>,
    pub shrunk: Option<Shrunk>,
    pub confirmed: Option<(u64, u64)>,
    pub replay: Option<String>,
    /// What the system wrote to its log in this test, with times in nanoseconds since it was ready.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<WireLine>,
}

impl Explanation {
    /// Adds what the system wrote to its log, from what crossed the wire.
    #[must_use]
    pub fn with_log(mut self, wire: &[WireLine]) -> Explanation {
        let log = wire.iter().filter(|line| line.from == Sender::Log);
        self.log = log.cloned().collect();
        self
    }
}

/// A switch and where it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlaceLine {
    /// `door.aml:14`; empty where the model has no text.
    pub place: String,
    /// `Open ──?close──► Closing`.
    pub switch: String,
}

/// One row of the two-column chart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Counted from one.
    pub number: usize,
    pub side: Side,
    pub text: String,
    /// The observation that the model does not allow.
    pub deviates: bool,
    /// The model's annotation of this step.
    pub note: Option<String>,
}

/// Who acts in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    Tester,
    System,
    /// The system, by staying silent.
    Silence,
}

/// At most so many switches are named as the place of a failure.
const MAX_PLACES: usize = 4;

/// Explains why this execution did not pass; `None` if it did.
pub fn explain(
    semantics: &mut Semantics,
    execution: &Execution,
    context: &Context,
) -> Option<Explanation> {
    let code = code_of(&execution.verdict)?;
    let sts = semantics.sts().clone();
    let mut walk = Walk::new(semantics, execution, &sts);
    let system = match context.system.as_str() {
        "" => "system",
        name => name,
    };
    let (verdict, title, reasons) = match &execution.verdict {
        Verdict::Fail(deviation) => {
            let number = walk.rows.len() + 1;
            walk.rows
                .push(deviating_row(&sts, &deviation.observed, number));
            let title = title(deviation.kind, &deviation.observed.show(&sts), system);
            let reasons = Reasons::of(semantics, deviation, number - 1);
            ("fail", title, reasons)
        }
        Verdict::Ended(deviation) => {
            walk.rows.push(Row {
                number: walk.rows.len() + 1,
                side: Side::Silence,
                text: "the end".to_owned(),
                deviates: true,
                note: None,
            });
            ("error", deviation.observed.show(&sts), Reasons::default())
        }
        Verdict::Inconclusive(reason) => ("inconclusive", reason.text.clone(), Reasons::default()),
        Verdict::Error(reason) => ("error", reason.text.clone(), Reasons::default()),
        Verdict::Pass => return None,
    };
    let switches: Vec<SwitchId> = walk.last.into_iter().chain(reasons.switches).collect();
    let mut because = reasons.because;
    let mut requirements = Vec::new();
    for requirement in sts.requirements() {
        let touches = |id: &SwitchId| switches.contains(id) || reasons.due.contains(id);
        if requirement.switches.iter().any(touches) {
            requirements.push(requirement.id.clone());
            because.push(match requirement.text.as_str() {
                "" => format!("it touches the requirement {}", requirement.id),
                text => format!("it touches the requirement {}: {text}", requirement.id),
            });
        }
    }
    let mut places: Vec<PlaceLine> = Vec::new();
    for id in switches {
        let line = place_line(&sts, id);
        if !places.contains(&line) && places.len() < MAX_PLACES {
            places.push(line);
        }
    }
    Some(Explanation {
        verdict: verdict.to_owned(),
        code: code.to_owned(),
        title,
        model: sts.name().to_owned(),
        test: context.test,
        seed: context.seed,
        step: walk.rows.len(),
        places,
        system: system.to_owned(),
        rows: walk.rows,
        allowed: reasons.allowed,
        because,
        requirements,
        shrunk: context.shrunk,
        confirmed: context.confirmed,
        replay: context.replay.clone(),
        log: Vec::new(),
    })
}

fn place_line(sts: &Sts, id: SwitchId) -> PlaceLine {
    PlaceLine {
        place: sts.show_place(sts.switch(id).place),
        switch: sts.switch_title(id),
    }
}

fn deviating_row(sts: &Sts, observed: &Observed, number: usize) -> Row {
    let (side, text) = match observed {
        Observed::Silence(nanoseconds) => {
            (Side::Silence, format!("silence for {}", Time(*nanoseconds)))
        }
        _ => (Side::System, observed.show(sts)),
    };
    Row {
        number,
        side,
        text,
        deviates: true,
        note: None,
    }
}

/// The trace followed once more, for what each step took.
struct Walk {
    rows: Vec<Row>,
    /// The switches that explain the last step that was not silence.
    last: Vec<SwitchId>,
}

impl Walk {
    fn new(semantics: &mut Semantics, execution: &Execution, sts: &Sts) -> Walk {
        let mut walk = Walk {
            rows: Vec::with_capacity(execution.trace.len() + 1),
            last: Vec::new(),
        };
        // Where both orders of a crossing were possible the trace may not be one of the model's;
        // then the rest goes without notes and places.
        let mut set: Option<SetId> = Some(semantics.initial());
        for (index, step) in execution.trace.iter().enumerate() {
            let followed = set.and_then(|set| semantics.follow(set, step));
            set = followed.as_ref().map(|f| f.set);
            let mut note = None;
            if *step != Step::Quiescence {
                walk.last.clear();
                if let Some(followed) = &followed {
                    walk.last.extend_from_slice(&followed.taken);
                    note = note_of(semantics, followed.set, step, &followed.taken);
                }
            }
            let (side, text) = match step {
                Step::Stimulus(_) => (Side::Tester, step.show(sts)),
                Step::Response(_) => (Side::System, step.show(sts)),
                Step::Quiescence => (Side::Silence, "silence".to_owned()),
            };
            walk.rows.push(Row {
                number: index + 1,
                side,
                text,
                deviates: false,
                note,
            });
        }
        walk
    }
}

/// The model's annotation of a step, where there is exactly one, with `$x` replaced by the value
/// of `x` after the step and a leading `#colour` left out.
fn note_of(semantics: &Semantics, set: SetId, step: &Step, taken: &[SwitchId]) -> Option<String> {
    let sts = semantics.sts();
    let mut notes = taken
        .iter()
        .filter_map(|id| sts.switch(*id).note.as_deref());
    let (Some(note), None) = (notes.next(), notes.next()) else {
        return None;
    };
    let state = semantics.set(set).states.first()?;
    let mut names: Vec<(&str, String)> = sts
        .variables()
        .iter()
        .zip(&state.valuation)
        .map(|(v, value)| (v.name.as_str(), value.display(sts.types()).to_string()))
        .collect();
    if let Some(action) = step.action() {
        let parameters = &sts.label(action.label).parameters;
        names.extend(
            parameters
                .iter()
                .zip(&action.values)
                .map(|(p, value)| (p.name.as_str(), value.display(sts.types()).to_string())),
        );
    }
    // Longer names first: `$total` is not `$to` and `tal`.
    names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    let text = match note.strip_prefix('#') {
        Some(coloured) => coloured.split_once(' ').map_or("", |(_, rest)| rest),
        None => note,
    };
    let mut text = text.trim().to_owned();
    for (name, value) in names {
        text = text.replace(&format!("${name}"), &value);
    }
    Some(text)
}
