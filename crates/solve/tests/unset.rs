//! A parameter that nothing is asked of is never left unset, whatever its type is and whatever stands beside it.

use std::sync::Arc;

use ioco_aml::load_text;
use ioco_solve::{Deadline, Outcome, choose_values};
use ioco_sts::{LabelId, Sts, Value};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

const TYPES: &[&str] = &[
    "integer(0..2)",
    ":integer",
    ":boolean",
    ":string",
    ":decimal",
    "[integer(0..2)]",
    "set(integer(0..2))",
    "set(:string)",
    "{integer(0..2) => integer(0..2)}",
    "{:string => :integer}",
];

/// The steps that the tester gives for one stimulus.
const STEPS: u64 = 20_000;

fn model(types: &[&str], constraint: &str) -> Arc<Sts> {
    let parameters: Vec<String> = types
        .iter()
        .enumerate()
        .map(|(number, ty)| format!("'p{number}' => {ty}"))
        .collect();
    let text = format!(
        "external 'c'
process('m') {{
  channel('c') {{ stimulus 'set', {{{}}} }}
  state 'A'
  receive 'set'{constraint}
}}
",
        parameters.join(", ")
    );
    let loaded = load_text("m.aml", &text);
    let errors: Vec<_> = loaded.diagnostics.iter().filter(|d| d.is_error()).collect();
    assert!(errors.is_empty(), "{text}\n{errors:?}");
    loaded.sts.expect("a model without errors")
}

fn values(sts: &Sts, rng: &mut ChaCha8Rng) -> Vec<Value> {
    let switch = &sts.switches()[0];
    let deadline = Deadline::steps(STEPS);
    match choose_values(sts, LabelId(0), &switch.enabled, &[], rng, &deadline) {
        Outcome::Sat(values) => values,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_nothing_is_asked_of_has_a_value_of_its_type() {
    for seed in 0..60 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let count = rng.random_range(1..=6);
        let types: Vec<&str> = (0..count)
            .map(|_| TYPES[rng.random_range(0..TYPES.len())])
            .collect();
        let sts = model(&types, "");
        for _ in 0..5 {
            let values = values(&sts, &mut rng);
            for (value, parameter) in values.iter().zip(&sts.labels()[0].parameters) {
                assert!(!value.is_void(), "{types:?}: {values:?}");
                assert!(sts.types().fits(value, &parameter.ty), "{types:?}");
            }
        }
    }
}

#[test]
fn one_that_must_be_unset_does_not_unset_the_others() {
    let types = ["set(integer(0..2))", "{:string => :integer}", ":string"];
    let sts = model(&types, ", constraint: 'p1 == :void'");
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    for _ in 0..20 {
        let unset: Vec<bool> = values(&sts, &mut rng).iter().map(Value::is_void).collect();
        assert_eq!(unset, [false, true, false]);
    }
}
