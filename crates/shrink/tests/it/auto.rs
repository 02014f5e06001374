//! The default shrinker against the shortest failing trace that exists at all.

use ioco_shrink::{Options, Pipeline, shrink};

use crate::flat_model::semantics;
use crate::published_data::cases;

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
