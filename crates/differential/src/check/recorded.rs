//! `check --trace`: traffic between a random client and a random system, judged passively.

use std::sync::Arc;

use ioco_adapters::{Arrival, Connection as _};
use ioco_engine::{Recorded, monitor};
use ioco_sts::{Action, Direction, Relation, Sts, Value, Verdict};
use rand::RngExt as _;

use super::{Counts, Finding, WEAKER, hint_all, semantics, show_verdict, solver_is_unsure};
use crate::generate::{Behaviour, Dice, System, one_in, pick, simple_values};
use crate::reference::{Event, Judge, Judgement, Observation, Set, Theory};

const RECORDINGS: usize = 3;
const LENGTH: usize = 12;
const NAME: &str = "check --trace";

const PASSES: &str = "pass although not allowed";

type Recording = Vec<(u64, Recorded)>;

pub fn check(
    sts: &Arc<Sts>,
    played: &Arc<Sts>,
    relation: Relation,
    dice: &mut Dice,
    counts: &mut Counts,
) -> Option<Finding> {
    let theory = Theory::new(Arc::clone(sts));
    for _ in 0..RECORDINGS {
        if theory.is_over_limit() {
            return None;
        }
        let mut behaviour = Behaviour::random(dice, sts);
        if !one_in(dice, 3) {
            behaviour = behaviour.crossing(sts);
        }
        let seed: u64 = dice.random();
        let mut system = System::new(Arc::clone(played), Arc::clone(sts), behaviour, seed);
        let recording = record(&theory, &mut system, dice);
        let mut semantics = semantics(sts, relation);
        let execution = monitor(&mut semantics, &recording);
        let mut sets = Vec::new();
        let mut judged = judge(&theory, relation, &recording, &mut sets);
        if differs(&execution.verdict, judged).is_some() {
            hint_all(&theory, &sets, dice);
            judged = judge(&theory, relation, &recording, &mut sets);
        }
        match differs(&execution.verdict, judged) {
            Some(PASSES) if solver_is_unsure(sts, &theory, &sets) => {
                counts.open(&format!("{NAME}: the solver does not know"));
            }
            Some(kind) => {
                let shown: Vec<String> = recording
                    .iter()
                    .map(|(at, what)| show(*at, what, sts))
                    .collect();
                return Some(Finding {
                    kind: format!("{NAME}: {kind}"),
                    detail: format!(
                        "{relation:?}\n{}\nverdict: {}",
                        shown.join("\n"),
                        show_verdict(&execution.verdict, sts)
                    ),
                    ..Finding::default()
                });
            }
            None => match (judged, &execution.verdict) {
                (judged, _) if judged.is_open() => counts.open(NAME),
                // The theory says nothing about what follows an unspecified stimulus, and so does ioco.
                (Judged::Unspecified, Verdict::Inconclusive(_)) => counts.decided(NAME),
                (_, Verdict::Inconclusive(_)) => {
                    counts.open(&format!("{NAME}: {WEAKER}"));
                }
                _ => counts.decided(NAME),
            },
        }
    }
    None
}

/// What the reference says about a recording.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Judged {
    Allowed,
    Deviation,
    /// An order is possible in which the model does not say what the system does.
    Unspecified,
    /// States may be missing, but those that are known allow everything.
    AllowedAtLeast,
    Open,
}

impl Judged {
    fn is_open(self) -> bool {
        matches!(self, Judged::AllowedAtLeast | Judged::Open)
    }
}

fn differs(verdict: &Verdict, judged: Judged) -> Option<&'static str> {
    match (verdict, judged) {
        (Verdict::Fail(_), Judged::Allowed | Judged::AllowedAtLeast) => {
            Some("fail although allowed")
        }
        (Verdict::Fail(_), Judged::Unspecified) => Some("fail although unspecified"),
        (Verdict::Pass, Judged::Deviation) => Some(PASSES),
        (Verdict::Error(_) | Verdict::Ended(_), _) => Some("an error"),
        _ => None,
    }
}

/// A client that gives what the model may accept, and waits, at random.
fn record(theory: &Theory, system: &mut System, dice: &mut Dice) -> Recording {
    let sts = Arc::clone(theory.sts());
    let mut recording = Recording::new();
    // A connection of this kind always resets.
    let _ = system.reset();
    // Not every recorder knows when the system began to run.
    if !one_in(dice, 3) {
        recording.push((system.now(), Recorded::Ready));
    }
    let mut judge = Judge::new(theory, Relation::Ioco);
    // Somebody who waits for silence before each stimulus crosses nothing; somebody who does not
    // wait at all sends many at once.
    let patient = one_in(dice, 3);
    // Few clients do what the model does not describe: it says nothing about what follows.
    let wild = one_in(dice, 8);
    for _ in 0..4 * LENGTH {
        if recording.len() >= LENGTH {
            break;
        }
        let burst = match (patient, one_in(dice, 4)) {
            (false, true) if one_in(dice, 20) => dice.random_range(60..75),
            (false, true) => dice.random_range(1..13),
            _ => usize::from(one_in(dice, 2)),
        };
        for _ in 0..burst {
            let settled = judge.settled();
            if let Some(action) = stimulus(theory, &settled, &sts, wild, dice) {
                let at = system.now();
                if system.give(&action).is_err() {
                    break;
                }
                judge.observe(&Observation::Stimulus {
                    event: Event::of(&action),
                    overtaken: true,
                });
                recording.push((at, Recorded::Stimulus(action)));
            }
        }
        let timeout = sts.timeout();
        let patience = match patient {
            true => timeout * 50,
            false => *pick(dice, &[0, timeout / 10, timeout / 2, timeout * 3]),
        };
        let Ok(arrived) = system.wait(system.now() + patience) else {
            break;
        };
        match arrived.what {
            Arrival::Response(action) => {
                judge.observe(&Observation::Response(Event::of(&action)));
                recording.push((arrived.at, Recorded::Response(action)));
            }
            Arrival::Unknown(text) => recording.push((arrived.at, Recorded::Unknown(text))),
            Arrival::Silence | Arrival::Quiescent => {
                judge.observe(&Observation::Silence);
                if one_in(dice, 6) {
                    break;
                }
            }
        }
    }
    recording.push((system.now(), Recorded::End));
    recording
}

fn stimulus(
    theory: &Theory,
    settled: &[Set],
    sts: &Sts,
    wild: bool,
    dice: &mut Dice,
) -> Option<Action> {
    let mut options = Vec::new();
    for state in settled.iter().flat_map(|set| &set.states).take(10) {
        for (id, label) in theory.observable(state, Direction::Stimulus) {
            let values = theory.witnesses(state, id, 5);
            options.extend(values.into_iter().map(|values| (label, values)));
        }
    }
    if wild && one_in(dice, 8) {
        let labels: Vec<_> = sts.labels_of(Direction::Stimulus).collect();
        if labels.is_empty() {
            return None;
        }
        let label = *pick(dice, &labels);
        let simple = simple_values(sts);
        let values = sts.label(label).parameters.iter().map(|p| {
            let fitting: Vec<_> = simple
                .iter()
                .filter(|v| v.fits(&p.ty, sts.types()))
                .collect();
            (*pick(dice, &fitting)).clone()
        });
        options.push((label, values.collect()));
    }
    if options.is_empty() {
        return None;
    }
    let (label, values) = pick(dice, &options).clone();
    let both = values.iter().zip(&sts.label(label).parameters);
    let values: Option<Vec<Value>> = both.map(|(v, p)| v.to_value(&p.ty, sts.types())).collect();
    Some(Action {
        label,
        values: values?,
    })
}

fn judge(
    theory: &Theory,
    relation: Relation,
    recording: &Recording,
    sets: &mut Vec<Set>,
) -> Judged {
    let mut judge = Judge::new(theory, relation);
    let mut last = recording.first().map_or(0, |(at, _)| *at);
    let mut silent = false;
    for (at, what) in recording {
        let settled = judge.settled();
        let timeout = settled.iter().map(|set| theory.timeout(set)).max();
        sets.extend(settled);
        if timeout.is_some_and(|timeout| at - last >= timeout) && !silent {
            silent = true;
            if judge.observe(&Observation::Silence) == Judgement::Deviation {
                return Judged::Deviation;
            }
        }
        last = *at;
        let observation = match what {
            Recorded::Stimulus(action) => Observation::Stimulus {
                event: Event::of(action),
                overtaken: true,
            },
            Recorded::Response(action) => Observation::Response(Event::of(action)),
            Recorded::Unknown(_) | Recorded::Undescribed(_) => Observation::Unknown,
            Recorded::Ready | Recorded::Quiescent | Recorded::End => continue,
        };
        silent = false;
        if judge.observe(&observation) == Judgement::Deviation {
            return Judged::Deviation;
        }
    }
    sets.extend(judge.settled());
    let unsure = judge.is_unsure() || sets.iter().any(|set| set.incomplete);
    match unsure {
        true if judge.is_certainly_allowed() => Judged::AllowedAtLeast,
        true => Judged::Open,
        false if judge.is_free() => Judged::Unspecified,
        false => Judged::Allowed,
    }
}

fn show(at: u64, what: &Recorded, sts: &Sts) -> String {
    let what = match what {
        Recorded::Stimulus(action) | Recorded::Response(action) => action.show(sts),
        Recorded::Unknown(text) | Recorded::Undescribed(text) => format!("!{text}, unknown"),
        Recorded::Ready => "ready".to_owned(),
        Recorded::Quiescent => "quiescent".to_owned(),
        Recorded::End => "end".to_owned(),
    };
    format!("  {at:>12} ns  {what}")
}
