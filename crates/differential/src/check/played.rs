//! `test` and `replay`: a system is tested in virtual time, and every verdict is held against what
//! the reference says about what was observed.

use std::fmt;
use std::sync::Arc;

use ioco_adapters::{Connection as _, drive_watched};
use ioco_engine::{
    Command, Settings, StopConditions, StrategyKind, TestReport, Tester, WaitPolicy,
};
use ioco_generate::guide::{Locations, Scenario};
use ioco_generate::plan::Pattern;
use ioco_sts::{
    Action, Cause, DeviationKind, Direction, LabelId, Observed, Relation, Step, Sts, Time, Verdict,
};
use rand::RngExt as _;

use super::{
    Counts, Finding, WEAKER, hint_all, semantics, show_set, show_verdict, solver_is_unsure,
};
use crate::generate::{Behaviour, Dice, Entry, Log, System, one_in, pick};
use crate::reference::{Event, Judge, Judgement, Observation, Set, Theory};

const TESTS: u64 = 5;
const STEPS: u64 = 20;
/// A test waits for so many responses more while one is due.
const MAX_DUE_RESPONSES: usize = 16;
/// States of a closure, where it matters.
const LIMIT_OF_CLOSURE: usize = 1_000;

/// What the tester was asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    Auto,
    Random,
    Transitions,
    Data,
    Locations,
    Scenario,
    Replay,
    Suite,
}

impl Task {
    fn name(self) -> &'static str {
        match self {
            Task::Auto => "test auto",
            Task::Random => "test random",
            Task::Transitions => "test transitions",
            Task::Data => "test data",
            Task::Locations => "test locations",
            Task::Scenario => "test scenario",
            Task::Replay => "replay",
            Task::Suite => "test --suite",
        }
    }
}

pub fn check(
    sts: &Arc<Sts>,
    played: &Arc<Sts>,
    relation: Relation,
    dice: &mut Dice,
    counts: &mut Counts,
) -> Option<Finding> {
    let ways = [
        Task::Auto,
        Task::Random,
        Task::Transitions,
        Task::Data,
        Task::Locations,
        Task::Scenario,
    ];
    let way = ways[dice.random_range(0..ways.len())];
    let behaviour = Behaviour::random(dice, sts);
    let seed: u64 = dice.random();
    let mut system = System::new(Arc::clone(played), Arc::clone(sts), behaviour, seed);
    let scenario = scenario(sts, dice);
    let mut tester = tester(sts, relation, way, &scenario, dice);
    let mut session = Session {
        sts,
        theory: Theory::new(Arc::clone(sts)),
        relation,
        behaviour,
        is_right: false,
    };
    // Sets that are cut off are large, and say little.
    let endless = session.theory.initial().incomplete;
    let mut scripts: Vec<Vec<Action>> = Vec::new();
    while let Some(first) = tester.next_test(system.now()) {
        if session.theory.is_over_limit() || system.is_over_limit() {
            return None;
        }
        let (report, log) = run(&mut tester, first, &mut system);
        session.is_right =
            Arc::ptr_eq(sts, played) && behaviour.is_right() && system.followed_all();
        scripts.push(report.execution.stimuli().cloned().collect());
        let found = session.judge(way, &report, &log, dice, counts).or_else(|| {
            (way == Task::Scenario).then(|| scenario.missed(sts, &report, behaviour))?
        });
        if found.is_some() || endless {
            return found;
        }
    }
    for script in scripts {
        if session.theory.is_over_limit() || system.is_over_limit() {
            return None;
        }
        let first = tester.script(script, system.now());
        let (report, log) = run(&mut tester, first, &mut system);
        session.is_right =
            Arc::ptr_eq(sts, played) && behaviour.is_right() && system.followed_all();
        let found = session.judge(Task::Replay, &report, &log, dice, counts);
        if found.is_some() {
            return found;
        }
    }
    None
}

/// A scenario: labels that must come in this order, with anything between them.
struct LabelSequence {
    labels: Vec<LabelId>,
    within: u32,
}

fn scenario(sts: &Sts, dice: &mut Dice) -> LabelSequence {
    let labels: Vec<LabelId> = sts
        .labels_of(Direction::Stimulus)
        .chain(sts.labels_of(Direction::Response))
        .collect();
    let count = dice.random_range(1..4);
    LabelSequence {
        labels: (0..count).map(|_| *pick(dice, &labels)).collect(),
        within: dice.random_range(3..13),
    }
}

impl LabelSequence {
    fn pattern(&self, sts: &Sts) -> Pattern {
        let mut text = format!("within {} steps\n", self.within);
        for label in &self.labels {
            text += &format!("...\n{}\n", sts.label(*label).marked_name());
        }
        let query = ioco_aml::query::parse("scenario", &text, sts);
        Pattern::from(&query.unwrap_or_else(|errors| panic!("{text}: {errors:?}")))
    }

    /// A test that passes has shown the scenario. Where stimuli and responses cross, another order may
    /// be the one that did.
    fn missed(&self, sts: &Sts, report: &TestReport, behaviour: Behaviour) -> Option<Finding> {
        let execution = &report.execution;
        let mut wanted = self.labels.iter().peekable();
        for action in execution.trace.iter().filter_map(Step::action) {
            wanted.next_if(|label| **label == action.label);
        }
        let shown = wanted.peek().is_none();
        if shown || behaviour.crossing || execution.verdict != Verdict::Pass {
            return None;
        }
        let trace: Vec<String> = execution.trace.iter().map(|s| s.show(sts)).collect();
        let labels = self.labels.iter();
        let labels: Vec<String> = labels.map(|l| sts.label(*l).marked_name()).collect();
        Some(Finding {
            kind: "test scenario: pass without the scenario".to_owned(),
            detail: format!("{} does not show {}", trace.join(" "), labels.join(" ... ")),
            ..Finding::default()
        })
    }
}

fn tester(
    sts: &Arc<Sts>,
    relation: Relation,
    way: Task,
    scenario: &LabelSequence,
    dice: &mut Dice,
) -> Tester {
    let seed = dice.random();
    let strategy = match way {
        Task::Auto => StrategyKind::Auto,
        Task::Random | Task::Replay | Task::Suite => StrategyKind::uniform(),
        Task::Transitions => StrategyKind::Transitions,
        Task::Data => StrategyKind::Data,
        Task::Locations => StrategyKind::Guided {
            name: "locations".to_owned(),
        },
        Task::Scenario => StrategyKind::Guided {
            name: "scenario".to_owned(),
        },
    };
    // Where the strategy weighs its waits itself, nothing else decides about them.
    let wait = match one_in(dice, 2) && way != Task::Auto {
        true => WaitPolicy::Weighted(1.0),
        false => WaitPolicy::suiting(&strategy),
    };
    let settings = Settings {
        seed,
        strategy,
        wait,
        stop: StopConditions {
            tests: Some(TESTS),
            steps_per_test: STEPS,
            failures: None,
            errors: None,
            ..StopConditions::default()
        },
        ..Settings::default()
    };
    let mut tester = Tester::new(semantics(sts, relation), settings);
    if way == Task::Locations {
        tester.set_guide(Box::new(Locations::new()));
    } else if way == Task::Scenario {
        let guide = Scenario::new(scenario.pattern(sts), scenario.within);
        tester.set_guide(Box::new(guide));
    }
    tester
}

/// Drives one test, and notes which waits the tester took for silence.
pub(super) fn run(
    tester: &mut Tester,
    first: Command,
    system: &mut System,
) -> (TestReport, Vec<(u64, Entry)>) {
    let log: Log = system.log();
    let silences = |tester: &Tester| {
        tester
            .trace()
            .iter()
            .filter(|step| **step == Step::Quiescence)
            .count()
    };
    let mut before = 0;
    drive_watched(
        tester,
        first,
        system,
        &|| false,
        &mut |_| {},
        &mut |tester| {
            let now = silences(tester);
            if now > before {
                take_for_silence(&log);
            }
            before = now;
        },
    );
    let report = tester.finished_test();
    if let Verdict::Fail(deviation) = &report.execution.verdict
        && matches!(deviation.observed, Observed::Silence(_))
    {
        take_for_silence(&log);
    }
    let mut entries = log.borrow().clone();
    entries.retain(|(_, entry)| !matches!(entry, Entry::Waited { .. }));
    (report, entries)
}

fn take_for_silence(log: &Log) {
    if let Some((_, entry)) = log.borrow_mut().last_mut()
        && let Entry::Waited { claimed } = *entry
    {
        *entry = Entry::Silence { claimed };
    }
}

pub(super) struct Session<'a> {
    pub sts: &'a Arc<Sts>,
    pub theory: Theory,
    pub relation: Relation,
    pub behaviour: Behaviour,
    /// The system does what the model says, and nothing else.
    pub is_right: bool,
}

/// What the reference says about a log.
struct Judged {
    /// After how many entries there is a deviation.
    deviation: Option<usize>,
    open: bool,
    /// An order exists in which a stimulus is not specified.
    free: bool,
    /// States may be missing, but those that are known allow everything.
    allowed_at_least: bool,
    /// What is wrong with what the tester did, whatever the verdict.
    misconduct: Option<(Disagreement, String)>,
    /// A response is due at the end.
    due: bool,
    /// The set before the last entry.
    last: Option<Set>,
    sets: Vec<Set>,
}

impl Session<'_> {
    pub fn judge(
        &mut self,
        way: Task,
        report: &TestReport,
        log: &[(u64, Entry)],
        dice: &mut Dice,
        counts: &mut Counts,
    ) -> Option<Finding> {
        let first = judged(&self.theory, self.relation, log);
        let name = way.name();
        if self.problem(way, report, log, &first).is_none() {
            // Where anything may happen, the answer is known: no failure.
            match first.open && !first.free {
                true => counts.open(name),
                false => counts.decided(name),
            }
            return None;
        }
        // The reference tries what the solver suggests, and more states, before it insists.
        hint_all(&self.theory, &first.sets, dice);
        let mut again = judged(&self.theory, self.relation, log);
        if again.open && again.sets.iter().any(|set| set.incomplete) {
            let wide = Theory::new(Arc::clone(self.sts)).with_limit(LIMIT_OF_CLOSURE);
            again = judged(&wide, self.relation, log);
        }
        let Some((kind, detail)) = self.problem(way, report, log, &again) else {
            counts.open(name);
            return None;
        };
        // A label whose guard the solver leaves open may be possible here: silence is then allowed, and
        // a response with this label has a wrong value.
        let silence_came_first = again.deviation.is_some_and(|at| {
            let entry = log.get(at - 1).map(|(_, entry)| entry);
            matches!(entry, Some(Entry::Silence { .. }))
        });
        let rests_on_solver = match kind {
            Disagreement::PassedDeviation | Disagreement::Due | Disagreement::Kind => true,
            Disagreement::Late => silence_came_first,
            _ => false,
        };
        if rests_on_solver && solver_is_unsure(self.sts, &self.theory, &again.sets) {
            counts.open(&format!("{name}: the solver does not know"));
            return None;
        }
        if kind == Disagreement::Open {
            counts.open(&format!("{name}: {WEAKER}"));
            return None;
        }
        let shown: Vec<String> = log
            .iter()
            .map(|(at, entry)| self.show(*at, entry))
            .collect();
        let set = again
            .last
            .as_ref()
            .map_or("-".to_owned(), |set| show_set(set, self.sts));
        Some(Finding {
            kind: format!("{name}: {kind}"),
            detail: format!(
                "{:?}, {:?}\n{}\nverdict: {}\nreference before the last: {set}\n{detail}",
                self.relation,
                self.behaviour,
                shown.join("\n"),
                show_verdict(&report.execution.verdict, self.sts),
            ),
            disagreement: Some(kind),
        })
    }

    fn show(&self, at: u64, entry: &Entry) -> String {
        let what = match entry {
            Entry::Stimulus { action, overtaken } => {
                let mark = if *overtaken {
                    " (may be overtaken)"
                } else {
                    ""
                };
                format!("{}{mark}", action.show(self.sts))
            }
            Entry::Response(action) => action.show(self.sts),
            Entry::Unknown(text) => format!("!{text}, unknown"),
            Entry::Waited { .. } => "waited".to_owned(),
            Entry::Silence { claimed } => format!("δ{}", if *claimed { " (claimed)" } else { "" }),
        };
        format!("  {:>8}  {what}", Time(at).to_string())
    }

    fn problem(
        &self,
        way: Task,
        report: &TestReport,
        log: &[(u64, Entry)],
        judged: &Judged,
    ) -> Option<(Disagreement, String)> {
        if let Some((kind, detail)) = &judged.misconduct
            && !judged.open
        {
            return Some((*kind, detail.clone()));
        }
        let nothing = String::new();
        match &report.execution.verdict {
            Verdict::Fail(_) if judged.free && judged.deviation.is_none() => {
                Some((Disagreement::FailedUnspecified, nothing))
            }
            Verdict::Fail(_) if judged.allowed_at_least => {
                Some((Disagreement::FailedAllowed, nothing))
            }
            // Whatever the reference makes of what was observed.
            Verdict::Fail(_) if self.behaviour.barely_in_time && self.is_right && !judged.open => {
                Some((Disagreement::FailedRightSystem, nothing))
            }
            Verdict::Fail(deviation) => match judged.deviation {
                Some(at) if at == log.len() => self.wrong_kind(deviation.kind, log, judged),
                Some(at) => Some((Disagreement::Late, format!("the deviation is entry {at}"))),
                None if judged.open => None,
                None => Some((Disagreement::FailedAllowed, nothing)),
            },
            Verdict::Pass => match judged.deviation {
                Some(at) => Some((Disagreement::PassedDeviation, format!("entry {at}"))),
                None => {
                    // A system that never stops talking is not listened to for ever.
                    let responses = log.iter().rev();
                    let talk = responses.take_while(|(_, e)| matches!(e, Entry::Response(_)));
                    let early = judged.due && !judged.open && talk.count() < MAX_DUE_RESPONSES;
                    (early && way != Task::Replay).then_some((Disagreement::Due, nothing))
                }
            },
            Verdict::Inconclusive(reason) | Verdict::Error(reason) => {
                match judged.deviation {
                    _ if judged.open => None,
                    // A plan made from the model alone may ask for what these states do not offer.
                    _ if reason.cause == Cause::NotOffered => None,
                    None if way == Task::Suite => None,
                    None if way == Task::Scenario && reason.cause == Cause::GoalMissed => None,
                    _ => Some((Disagreement::Open, reason.text.clone())),
                }
            }
            Verdict::Ended(_) => Some((Disagreement::NotEnded, nothing)),
        }
    }

    /// The kind of deviation: right label with wrong values, or wrong label.
    fn wrong_kind(
        &self,
        kind: DeviationKind,
        log: &[(u64, Entry)],
        judged: &Judged,
    ) -> Option<(Disagreement, String)> {
        let set = judged.last.as_ref()?;
        let expected = match log.last() {
            Some((_, Entry::Silence { .. })) => DeviationKind::MissingResponse,
            Some((_, Entry::Response(action))) => {
                let possible = set.states.iter().any(|state| {
                    let mut ids = self
                        .theory
                        .observable(state, Direction::Response)
                        .into_iter();
                    ids.any(|(id, label)| {
                        label == action.label && self.theory.witness(state, id).is_some()
                    })
                });
                match possible {
                    true => DeviationKind::WrongValue,
                    false => DeviationKind::UnexpectedResponse,
                }
            }
            _ => return None,
        };
        (kind != expected && !self.theory.take_unsure())
            .then(|| (Disagreement::Kind, format!("reference {expected:?}")))
    }
}

/// How a verdict, or a step of the tester, contradicts the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disagreement {
    FailedUnspecified,
    FailedAllowed,
    FailedRightSystem,
    /// The deviation was earlier.
    Late,
    PassedDeviation,
    /// The test ends while a response is due.
    Due,
    /// ioco is inconclusive, or in error, where the reference knows.
    Open,
    /// Both say that there is a deviation, and disagree on what it is.
    Kind,
    NotEnded,
    /// The tester gave a stimulus that the model does not offer.
    NotOffered,
    /// The tester concluded silence before the time-out.
    EarlySilence,
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Disagreement::FailedUnspecified => "fail although unspecified",
            Disagreement::FailedAllowed => "fail although allowed",
            Disagreement::FailedRightSystem => "fail although the system is right",
            Disagreement::Late => "fail is late",
            Disagreement::PassedDeviation => "pass although not allowed",
            Disagreement::Due => "ends while a response is due",
            Disagreement::Open => "inconclusive where the reference knows",
            Disagreement::Kind => "another kind of deviation",
            Disagreement::NotEnded => "the system did not end",
            Disagreement::NotOffered => "gives what may not be given",
            Disagreement::EarlySilence => "concludes silence too early",
        })
    }
}

fn judged(theory: &Theory, relation: Relation, log: &[(u64, Entry)]) -> Judged {
    let mut judge = Judge::new(theory, relation);
    let mut result = Judged {
        deviation: None,
        open: false,
        free: false,
        allowed_at_least: false,
        misconduct: None,
        due: false,
        last: None,
        sets: Vec::new(),
    };
    let mut last_event = None;
    for (index, (at, entry)) in log.iter().enumerate() {
        if theory.is_over_limit() {
            result.open = true;
            return result;
        }
        let settled = judge.settled();
        result.last = judge.certain_set().cloned();
        result.sets.extend(settled.iter().cloned());
        let observation = match entry {
            Entry::Stimulus { action, overtaken } => {
                let event = Event::of(action);
                if !judge.accepts(&event) && !judge.is_free() && result.misconduct.is_none() {
                    let detail = format!("entry {}", index + 1);
                    result.misconduct = Some((Disagreement::NotOffered, detail));
                }
                Observation::Stimulus {
                    event,
                    overtaken: *overtaken,
                }
            }
            Entry::Response(action) => Observation::Response(Event::of(action)),
            Entry::Unknown(_) => Observation::Unknown,
            Entry::Waited { .. } => continue,
            Entry::Silence { claimed } => {
                let timeout = settled
                    .iter()
                    .map(|set| theory.timeout(set))
                    .max()
                    .unwrap_or(0);
                let waited = at - last_event.unwrap_or(0).min(*at);
                if !claimed
                    && last_event.is_some()
                    && waited < timeout
                    && result.misconduct.is_none()
                {
                    let detail = format!("{} instead of {}", Time(waited), Time(timeout));
                    result.misconduct = Some((Disagreement::EarlySilence, detail));
                }
                Observation::Silence
            }
        };
        last_event = Some(*at);
        match judge.observe(&observation) {
            Judgement::Allowed => {}
            Judgement::Deviation => {
                result.deviation = Some(index + 1);
                break;
            }
            Judgement::Open => {
                result.open = true;
                if !judge.is_explained() {
                    break;
                }
            }
        }
    }
    let ends_quiet = matches!(log.last(), Some((_, Entry::Silence { .. })));
    if result.deviation.is_none() && !result.open {
        let settled = judge.settled();
        let silent = settled
            .iter()
            .any(|set| set.incomplete || !theory.after_silence(set).states.is_empty());
        result.due = !silent && !ends_quiet && !settled.is_empty();
        result.sets.extend(settled);
    }
    result.allowed_at_least = result.deviation.is_none() && judge.is_certainly_allowed();
    result.free = judge.is_free() && !judge.is_unsure();
    result.open |= judge.is_free() || judge.is_unsure() || theory.take_unsure();
    result.open |= result.sets.iter().any(|set| set.incomplete);
    result
}
