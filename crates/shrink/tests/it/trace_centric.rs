//! The trace-centric shrinkers against the published figures.

use ioco_shrink::Options;

use crate::flat_model::semantics;
use crate::published_data::cases;
use crate::shrink_by;

#[test]
fn runs_stimuli_and_lengths_are_the_published_ones() {
    let mut differences = Vec::new();
    for case in cases() {
        for name in ["cycle", "cycle+elem", "cycle+binary"] {
            let published = &case.published[name];
            let mut model = semantics(&case.sts);
            let mut runs = 0;
            let (mut sent, mut lengths) = (Vec::new(), Vec::new());
            for failure in case.failures() {
                let mut runner = case.runner();
                let shrunk =
                    shrink_by(name, &mut model, &failure, &mut runner, &Options::default())
                        .expect("a failing trace of the model");
                runs += shrunk.runs as u64;
                sent.push(shrunk.stimuli_sent as u64);
                lengths.push(shrunk.execution.length() as u64);
            }
            let mut difference = String::new();
            if runs != published.tests {
                difference += &format!(" runs {runs} not {}", published.tests);
            }
            if sent != published.sut_inputs {
                difference += &format!(" stimuli {sent:?} not {:?}", published.sut_inputs);
            }
            if lengths != published.final_length {
                difference += &format!(" lengths {lengths:?} not {:?}", published.final_length);
            }
            if !difference.is_empty() {
                differences.push(format!(
                    "{} {} {name}:{difference}",
                    case.experiment, case.mutant
                ));
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
