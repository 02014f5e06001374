//! The default shrinker against the shortest failing trace that exists at all.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use ioco_shrink::{Options, Pipeline, Runner, shrink};
use ioco_sts::{Action, Direction, Execution, SetId, Step, Sts, Verdict};

use crate::flat_model::{door, public_model, semantics, sts};
use crate::flat_runner::FlatRunner;
use crate::flat_systems::{FlatSystem, MUTANTS, system};
use crate::published_data::cases;

/// The length of the shortest failing trace: breadth first over model and system together.
fn shortest_failing(sts: &Arc<Sts>, mut start: impl FnMut() -> Box<dyn FlatSystem>) -> usize {
    let mut model = semantics(sts);
    let mut best = usize::MAX;
    let mut seen: BTreeSet<(SetId, String)> = BTreeSet::new();
    let mut queue: VecDeque<(SetId, Box<dyn FlatSystem>, usize)> = VecDeque::new();
    queue.push_back((model.initial(), start(), 0));
    // Not in the order of steps, since a stimulus may have responses: goes on until nothing that is
    // open can be shorter.
    while let Some((set, system, steps)) = queue.pop_front() {
        if steps + 1 >= best || !seen.insert((set, format!("{system:?}"))) {
            continue;
        }
        for label in sts.labels_of(Direction::Stimulus) {
            let Some(given) = model.after(set, &Step::Stimulus(Action::plain(label))) else {
                continue;
            };
            let mut system = system.fork();
            let mut at = Some(given);
            let mut length = steps + 1;
            for response in system.give(&sts.label(label).name) {
                length += 1;
                at = at.and_then(|set| {
                    let label = sts.label_named(Direction::Response, &response)?;
                    model.after(set, &Step::Response(Action::plain(label)))
                });
                if at.is_none() {
                    break;
                }
            }
            match at.and_then(|set| model.after(set, &Step::Quiescence)) {
                Some(set) => queue.push_back((set, system, length)),
                None => best = best.min(length),
            }
        }
    }
    best
}

/// Failing traces of pseudo-random walks, as an on-the-fly tester finds them.
fn random_failures(
    sts: &Arc<Sts>,
    runner: &mut impl Runner,
    count: usize,
    mut seed: u64,
) -> Vec<Execution> {
    let mut next = move |bound: usize| {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (seed >> 33) as usize % bound
    };
    let mut model = semantics(sts);
    let mut failures = Vec::new();
    for _ in 0..50 * count {
        if failures.len() == count {
            break;
        }
        let mut stimuli = Vec::new();
        let mut set = model.initial();
        while stimuli.len() < 400 {
            let menu = model.menu(set);
            if menu.silence && !menu.stimuli.is_empty() {
                let action = Action::plain(menu.stimuli[next(menu.stimuli.len())].label);
                stimuli.push(action.clone());
                set = model.after(set, &Step::Stimulus(action)).expect("offered");
            } else if let Some(offer) = menu.responses.first() {
                let action = Action::plain(offer.label);
                set = model.after(set, &Step::Response(action)).expect("offered");
            } else {
                break;
            }
        }
        let execution = runner.run(&stimuli);
        if matches!(execution.verdict, Verdict::Fail(_)) {
            failures.push(execution);
        }
    }
    failures
}

#[test]
fn zz_random() {
    let pipeline: Pipeline = "auto".parse().expect("the default");
    let per: usize = std::env::var("PER")
        .ok()
        .and_then(|v| v.parse().ok())
        .unwrap_or(5);
    let seed: u64 = std::env::var("SEED")
        .ok()
        .and_then(|v| v.parse().ok())
        .unwrap_or(1);
    let (mut all, mut all_runs, mut all_reached) = (0, 0, 0);
    for (experiment, mutants) in MUTANTS {
        let transitions = match experiment {
            "smartdoor" => Some(door()),
            _ => public_model(experiment),
        };
        let Some(transitions) = transitions else {
            continue;
        };
        let sts = sts(experiment, &transitions);
        for mutant in 1..=mutants {
            let mutant = format!("m{mutant:02}");
            if let Ok(only) = std::env::var("ONLY")
                && !only
                    .split(',')
                    .any(|o| o == format!("{experiment} {mutant}"))
            {
                continue;
            }
            let start = || system(experiment, &mutant);
            let mut runner = FlatRunner::new(&sts, start);
            let shortest = shortest_failing(&sts, start);
            eprintln!("shortest {shortest}");
            let failures = random_failures(&sts, &mut runner, per, seed);
            eprintln!(
                "failures {:?}",
                failures.iter().map(|f| f.length()).collect::<Vec<_>>()
            );
            let mut model = semantics(&sts);
            let (mut runs, mut sent, mut reached, mut rows) = (0, 0, 0, Vec::new());
            for failure in &failures {
                runner.log.clear();
                let shrunk = shrink(
                    &pipeline,
                    &mut model,
                    failure,
                    &mut runner,
                    &Options::default(),
                    &mut (),
                )
                .unwrap();
                let limit: usize = std::env::var("LOG")
                    .ok()
                    .and_then(|v| v.parse().ok())
                    .unwrap_or(10000);
                if shrunk.execution.length() != shortest && limit < 10000 || shrunk.runs > limit {
                    let log = runner.log.clone();
                    let name = |a: &Action| sts.label(a.label).name.clone();
                    let steps: Vec<String> = failure
                        .trace
                        .iter()
                        .filter(|s| s.action().is_some())
                        .map(|s| s.show(&sts))
                        .collect();
                    eprintln!(
                        "== {} -> {} [{shortest}] {} {:?} {:?}",
                        failure.length(),
                        shrunk.execution.length(),
                        steps[steps.len().saturating_sub(16)..].join(" "),
                        failure.deviation().unwrap().observed.show(&sts),
                        shrunk.kind
                    );
                    for l in log.iter().take(12) {
                        let e = runner.run(l);
                        eprintln!(
                            "   {}/{} {} {}",
                            e.stimuli().count(),
                            l.len(),
                            if e.deviation().is_some() {
                                "FAIL"
                            } else {
                                "pass"
                            },
                            l.iter().map(name).collect::<Vec<_>>().join(" ")
                        );
                    }
                }
                runs += shrunk.runs;
                sent += shrunk.stimuli_sent;
                reached += usize::from(shrunk.execution.length() == shortest);
                if shrunk.execution.length() != shortest {
                    rows.push(format!(
                        "{}>{} {}r",
                        failure.length(),
                        shrunk.execution.length(),
                        shrunk.runs
                    ));
                }
            }
            all += failures.len();
            all_runs += runs;
            all_reached += reached;
            let n = failures.len().max(1) as f64;
            let start: usize = failures.iter().map(|f| f.length()).sum();
            eprintln!(
                "{experiment} {mutant}: shortest {shortest} of {:.1}; {reached}/{} reached, {:.2} runs, {:.1} stimuli {rows:?}",
                start as f64 / n,
                failures.len(),
                runs as f64 / n,
                sent as f64 / n
            );
        }
    }
    eprintln!("{all_reached}/{all} {:.2}", all_runs as f64 / all as f64);
}

#[test]
fn zz_auto() {
    let pipeline: Pipeline = "auto".parse().expect("the default");
    let (mut traces, mut runs, mut sent, mut reached) = (0, 0, 0, 0);
    for case in cases() {
        let shortest = 0;
        let mut model = semantics(&case.sts);
        let mut rows = Vec::new();
        for (index, failure) in case.failures().iter().enumerate() {
            let mut runner = case.runner();
            let shrunk = shrink(
                &pipeline,
                &mut model,
                failure,
                &mut runner,
                &Options::default(),
                &mut (),
            )
            .expect("a failing trace");
            traces += 1;
            runs += shrunk.runs;
            sent += shrunk.stimuli_sent;
            reached += usize::from(shrunk.execution.length() == shortest);
            let best = case
                .published
                .values()
                .map(|p| p.final_length[index])
                .min()
                .unwrap();
            rows.push(format!(
                "{}({}) {}r {}s {:?}",
                shrunk.execution.length(),
                best,
                shrunk.runs,
                shrunk.stimuli_sent,
                shrunk.kind
            ));
        }
        eprintln!("{} {}: {}", case.experiment, case.mutant, rows.join("  "));
    }
    eprintln!(
        "{traces} traces {:.2} runs {:.1} stimuli {reached}",
        runs as f64 / traces as f64,
        sent as f64 / traces as f64
    );
}

#[test]
fn zz_log() {
    let pipeline: Pipeline = "auto".parse().expect("the default");
    let wanted = std::env::var("CASE").unwrap_or_default();
    for case in cases() {
        for (index, failure) in case.failures().iter().enumerate() {
            let who = format!("{} {} {index}", case.experiment, case.mutant);
            if !wanted.split(',').any(|w| w == who) {
                continue;
            }
            let mut model = semantics(&case.sts);
            let mut runner = case.runner();
            let shrunk = shrink(
                &pipeline,
                &mut model,
                failure,
                &mut runner,
                &Options::default(),
                &mut (),
            )
            .unwrap();
            let original = case.show(failure);
            eprintln!(
                "== {who}: {} runs -> {:?}   from {} .. {:?}",
                shrunk.runs,
                case.show(&shrunk.execution),
                original.len(),
                &original[original.len().saturating_sub(14)..]
            );
            let log = runner.log.clone();
            for l in &log {
                use ioco_shrink::Runner;
                let e = runner.run(l);
                let names: Vec<String> = l
                    .iter()
                    .map(|a| case.sts.label(a.label).name.clone())
                    .collect();
                eprintln!(
                    "   {}/{} {} {}",
                    e.stimuli().count(),
                    l.len(),
                    if e.deviation().is_some() {
                        "FAIL"
                    } else {
                        "pass"
                    },
                    names.join(" ")
                );
            }
        }
    }
}
