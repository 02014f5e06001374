//! What the comparison makes of a solver that tries strings instead of reading their language.

use ioco_differential::check::{Counts, texts};
use ioco_differential::generate::{Flavour, dice, draft};
use ioco_differential::reference::Theory;
use ioco_solve::{GuardSolver, Part, Pipeline};

/// The models, of so many, in whose initial states the answers on strings are not the reference's.
fn differing(models: u64, pipeline: Pipeline) -> (Vec<String>, Counts) {
    let mut found = Vec::new();
    let mut counts = Counts::default();
    for seed in 0..models {
        let text = draft(&mut dice(seed), Flavour::Texts).text();
        let loaded = ioco_aml::load_text("model.aml", &text);
        let theory = Theory::new(loaded.sts.expect("generated models load"));
        let mut solver = GuardSolver::new().with_pipeline(pipeline);
        let initial = theory.initial();
        if let Some(finding) = texts::check(&theory, &initial, &mut solver, &mut counts) {
            found.push(format!("{}\n{}\n{text}", finding.kind, finding.detail));
        }
    }
    (found, counts)
}

#[test]
fn guards_on_strings_are_decided() {
    let (found, counts) = differing(150, Pipeline::WHOLE);
    assert!(found.is_empty(), "{}\n{counts}", found[0]);
}

#[test]
fn a_solver_that_only_tries_strings_is_found_out() {
    let (found, counts) = differing(150, Pipeline::WHOLE.without(Part::Languages));
    println!("{} of 150 models\n{counts}", found.len());
    assert!(found.len() >= 5, "{counts}");
}
