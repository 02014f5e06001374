//! Every shrinker on random models and systems: what it returns fails and is not longer, it keeps to its
//! runs, and what it claims is what trying everything shows.

use ioco_shrink::{Ended, Options, Runner as _, SHRINKERS, Shrunk};
use ioco_sts::{Action, Execution, Verdict};
use proptest::prelude::*;

use crate::flat_model::semantics;
use crate::random_system::{Mistaken, RandomRunner, mistaken, model};
use crate::shrink_by;

/// The length of the shortest failing trace below `bound`, by running every list that the model takes.
fn shortest_below(runner: &mut RandomRunner, bound: usize) -> Option<usize> {
    let mut best = bound;
    let mut open = vec![Vec::new()];
    while let Some(list) = open.pop() {
        let execution = runner.run(&list);
        match execution.verdict {
            Verdict::Fail(_) => best = best.min(execution.length()),
            Verdict::Pass if execution.length() + 1 < best => {
                for stimulus in runner.stimuli() {
                    let mut longer = list.clone();
                    longer.push(stimulus);
                    open.push(longer);
                }
            }
            _ => {}
        }
    }
    (best < bound).then_some(best)
}

/// Random stimuli that the model allows, until something fails.
fn walk(runner: &mut RandomRunner, inputs: &[usize]) -> Execution {
    let mut list = Vec::new();
    let mut execution = runner.run(&list);
    for input in inputs {
        if execution.deviation().is_some() {
            break;
        }
        let stimuli = runner.stimuli();
        for number in 0..stimuli.len() {
            list.push(stimuli[(input + number) % stimuli.len()].clone());
            execution = runner.run(&list);
            if !matches!(execution.verdict, Verdict::Inconclusive(_)) {
                break;
            }
            list.pop();
        }
    }
    execution
}

fn shrunk(
    name: &str,
    system: &Mistaken,
    failure: &Execution,
    options: &Options,
) -> (Shrunk, usize) {
    let sts = system.model.sts();
    let mut runner = RandomRunner::new(&sts, system.clone());
    let mut model = semantics(&sts);
    let shrunk = shrink_by(name, &mut model, failure, &mut runner, options);
    (shrunk.expect("a failing trace"), runner.runs)
}

fn check(
    name: &str,
    system: &Mistaken,
    failure: &Execution,
    options: &Options,
) -> Result<(), TestCaseError> {
    let (shrunk, runs) = shrunk(name, system, failure, options);
    let proving = shrunk.proved.as_ref().map_or(0, |proof| proof.runs);
    prop_assert_eq!(shrunk.runs + proving, runs, "{}", name);
    if let Some(limit) = options.runs {
        prop_assert!(runs <= limit, "{name}: {runs} runs of {limit}");
    }
    prop_assert!(!matches!(
        shrunk.ended,
        Ended::Limit(_) | Ended::Interrupted
    ));
    prop_assert!(shrunk.execution.deviation().is_some());
    prop_assert!(shrunk.execution.length() <= failure.length(), "{}", name);
    if system.takes_turns {
        return Ok(());
    }
    let mut runner = RandomRunner::new(&system.model.sts(), system.clone());
    let stimuli: Vec<Action> = shrunk.execution.stimuli().cloned().collect();
    prop_assert_eq!(&runner.run(&stimuli), &shrunk.execution, "{}", name);
    if let Some(left_out) = shrunk.minimal {
        prop_assert_eq!(left_out.stimuli, stimuli.len());
        for position in 0..stimuli.len() {
            let mut rest = stimuli.clone();
            rest.remove(position);
            let again = runner.run(&rest);
            prop_assert!(again.deviation().is_none(), "{name}: {position} can go");
        }
    }
    if let Some(proof) = &shrunk.proved {
        let shorter = shortest_below(&mut runner, proof.no_failure_below);
        prop_assert_eq!(shorter, None, "{}: {:?}", name, proof);
        if proof.shortest {
            prop_assert_eq!(proof.no_failure_below, shrunk.execution.length());
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 150,
        max_global_rejects: 20_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn shrinkers_claim_what_trying_everything_shows(
        system in model().prop_flat_map(mistaken),
        inputs in proptest::collection::vec(0usize..3, 1..12),
        limit in proptest::option::of(0usize..30),
    ) {
        let mut runner = RandomRunner::new(&system.model.sts(), system.clone());
        let failure = walk(&mut runner, &inputs);
        prop_assume!(failure.deviation().is_some());
        for shrinker in SHRINKERS {
            let options = Options { runs: limit, ..Options::default() };
            check(shrinker.name, &system, &failure, &options)?;
        }
        for name in ["auto", "cycle"] {
            let options = Options {
                runs: limit.map(|limit| 20 * limit),
                prove: true,
                prove_runs: 300,
                ..Options::default()
            };
            check(name, &system, &failure, &options)?;
        }
    }
}
