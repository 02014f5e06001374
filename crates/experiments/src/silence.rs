//! What waiting for silence costs: steps a second and time to detection, against slow systems in virtual time.
//!
//! A system answers after 1 to 20 ms, and silence is certain only after the model's time-out. Each way of waiting tests
//! the right system for a number of steps, and tests every mutant: the planted ones, and every response of the
//! model left out once. Connections cannot exclude that a response crossed a stimulus, so none does here.

use std::collections::VecDeque;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use ioco_engine::{
    Command, EventLevel, Input, Settings, StopConditions, StrategyKind, Tester, WaitPolicy,
};
use ioco_sts::{Direction, Gate, Relation, Sts, SwitchId};

use crate::ExperimentError;
use crate::detection::{Planted, Play, Played, Sent, without_response};
use crate::random::{Choices, Share};
use crate::runner::read_model;

/// The time-out of both models.
const TIMEOUT: u64 = 500_000_000;
const MILLISECOND: u64 = 1_000_000;
/// Steps of the right system.
const STEPS: u64 = 5_000;
/// A trial ends after this time.
const TRIAL_TIMEOUT: u64 = 600_000_000_000;

/// What is compared: a strategy, and how it waits.
struct Way {
    name: &'static str,
    strategy: StrategyKind,
    wait: WaitPolicy,
}

fn ways() -> [Way; 4] {
    let worthwhile = WaitPolicy::Worthwhile {
        share: WaitPolicy::SHARE,
    };
    // So heavy that no stimulus comes before silence.
    let everywhere = WaitPolicy::Weighted(1e18);
    let way = |name, strategy, wait| Way {
        name,
        strategy,
        wait,
    };
    [
        way("random, everywhere", StrategyKind::uniform(), everywhere),
        way("random, worthwhile", StrategyKind::uniform(), worthwhile),
        way("auto, everywhere", StrategyKind::Auto, everywhere),
        way("auto, worthwhile", StrategyKind::Auto, worthwhile),
    ]
}

/// How long a run took, and what it did.
struct Run {
    found: bool,
    time: u64,
    steps: u64,
    waited: u64,
    silences: u64,
    new: u64,
}

/// Runs a tester against a system whose answers take their time.
fn run(sts: &Arc<Sts>, way: &Way, seed: u64, system: &mut dyn Play, steps: Option<u64>) -> Run {
    let settings = Settings {
        seed,
        strategy: way.strategy.clone(),
        wait: way.wait,
        events: EventLevel::None,
        stop: StopConditions {
            tests: None,
            total_steps: steps,
            time: Some(TRIAL_TIMEOUT),
            errors: None,
            ..StopConditions::default()
        },
        ..Settings::default()
    };
    let semantics = ioco_solve::semantics(sts, Relation::Ioco);
    let mut tester = Tester::new(semantics, settings);
    let mut delays = Choices::new(seed);
    let mut now = 0;
    let mut found = false;
    while let Some(first) = tester.next_test(now) {
        let mut command = first;
        let mut coming: VecDeque<(u64, Sent)> = VecDeque::new();
        loop {
            let arrives = coming.front().map(|(at, _)| *at);
            let input = match (command, arrives) {
                (Command::Finished, _) => break,
                (Command::Reset { drain }, _) => {
                    now += drain + MILLISECOND;
                    coming = delayed(system.reset(), now, &mut delays);
                    Input::Ready
                }
                (Command::Await { until }, Some(at)) if at <= until => {
                    now = now.max(at);
                    taken(&mut coming)
                }
                (Command::Await { until }, _) => {
                    now = now.max(until);
                    Input::Silence
                }
                // What has arrived is passed on first.
                (Command::Give(_), Some(at)) if at <= now => taken(&mut coming),
                (Command::Give(stimulus), _) => {
                    let last = coming.back().map_or(now, |(at, _)| (*at).max(now));
                    coming.extend(delayed(system.give(&stimulus), last, &mut delays));
                    Input::Given { overtaken: true }
                }
            };
            command = tester.handle(input, now);
        }
        found |= tester.finished_test().execution.deviation().is_some();
    }
    let price = tester.silence_price();
    Run {
        found,
        time: now,
        steps: tester.summary().steps(),
        waited: price.waited,
        silences: price.observed,
        new: price.new,
    }
}

fn taken(coming: &mut VecDeque<(u64, Sent)>) -> Input {
    match coming.pop_front() {
        Some((_, Sent::Known(action))) => Input::Response(action),
        Some((_, Sent::Unknown(text))) => Input::Unknown(text),
        None => Input::Silence,
    }
}

/// The responses, each 1 to 20 ms after the one before it.
fn delayed(sent: Vec<Sent>, now: u64, delays: &mut Choices) -> VecDeque<(u64, Sent)> {
    let mut at = now;
    let with_time = sent.into_iter().map(|sent| {
        at += MILLISECOND * (1 + delays.below(20) as u64);
        (at, sent)
    });
    with_time.collect()
}

type Build = Box<dyn Fn(u64) -> Result<Box<dyn Play>, ExperimentError>>;

/// The planted mutants of a system, and its model with one response left out.
fn faults(name: &'static str, sts: &Arc<Sts>) -> Vec<(String, Build)> {
    let mut found: Vec<(String, Build)> = Vec::new();
    for (mutant, _, _) in ioco_examples::mutants(name) {
        let sts = Arc::clone(sts);
        let build = move |_| -> Result<Box<dyn Play>, ExperimentError> {
            let system = ioco_examples::system(name, Some(mutant));
            let system = system.map_err(ExperimentError::System)?;
            Ok(Box::new(Planted::new(&sts, system)))
        };
        found.push(((*mutant).to_owned(), Box::new(build)));
    }
    for (index, switch) in sts.switches().iter().enumerate() {
        let Gate::Observable(label) = switch.gate else {
            continue;
        };
        if sts.label(label).direction != Direction::Response {
            continue;
        }
        let id = SwitchId::from_index(index);
        let mutated = Arc::new(without_response(sts, id));
        let build = move |seed| -> Result<Box<dyn Play>, ExperimentError> {
            Ok(Box::new(Played::new(&mutated, seed)))
        };
        let shown = sts.label(label).marked_name();
        let place = sts.show_place(switch.place);
        found.push((format!("no {shown} ({place})"), Box::new(build)));
    }
    found
}

/// Writes the tables line by line, as they are measured. `models` is the folder of the examples.
pub fn silence(
    models: &Path,
    share: Share,
    seeds: u64,
    text: &mut dyn Write,
) -> Result<(), ExperimentError> {
    let _ = write!(
        text,
        "Slow systems in virtual time: time-out 0.5 s, answers after 1 to 20 ms. everywhere: silence is observed before\n\
         every stimulus. worthwhile: only where it is worth its time.\n\n"
    );
    let ways = ways();
    for name in ["smartdoor", "atm"] {
        let sts = read_model(&models.join(name).join("model.aml"))?;
        let sts = Arc::new(sts.with_timeout(TIMEOUT));
        let _ = writeln!(
            text,
            "{name}, the right system, {STEPS} steps:\n  {:<22}{:>10}{:>12}{:>12}{:>10}{:>8}",
            "way", "steps/s", "time s", "waited s", "silences", "new"
        );
        for way in &ways {
            let system = ioco_examples::system(name, None).map_err(ExperimentError::System)?;
            let mut system = Planted::new(&sts, system);
            let run = run(&sts, way, share.seed(), &mut system, Some(STEPS));
            let seconds = run.time as f64 / 1e9;
            let _ = writeln!(
                text,
                "  {:<22}{:>10.1}{seconds:>12.1}{:>12.1}{:>10}{:>8}",
                way.name,
                run.steps as f64 / seconds,
                run.waited as f64 / 1e9,
                run.silences,
                run.new
            );
        }
        let _ = writeln!(
            text,
            "\n{name}, seconds to detection, mean of {seeds} seeds:"
        );
        let _ = write!(text, "  {:<44}", "mutant");
        for way in &ways {
            let _ = write!(text, "{:>20}", way.name);
        }
        let _ = writeln!(text, "{:>9}", "ratio");
        for (fault, build) in faults(name, &sts) {
            let mut means = Vec::new();
            let mut missed = 0;
            for way in &ways {
                let mut sum = 0;
                for seed in share.seed()..share.seed() + seeds {
                    let run = run(&sts, way, seed, build(seed)?.as_mut(), None);
                    sum += run.time;
                    missed += u32::from(!run.found);
                }
                means.push(sum as f64 / 1e9 / seeds as f64);
            }
            let _ = write!(text, "  {fault:<44}");
            for mean in &means {
                let _ = write!(text, "{mean:>20.2}");
            }
            let _ = write!(text, "{:>9.3}", means[3] / means[0]);
            let _ = match missed {
                0 => writeln!(text),
                missed => writeln!(text, "  {missed} trials without success"),
            };
        }
        let _ = writeln!(text);
    }
    let _ = writeln!(text, "ratio: auto, worthwhile / random, everywhere");
    Ok(())
}
