//! Every target over its kept corpus and a fixed number of mutations of it. `cargo xtask fuzz` goes on with other seeds.

use ioco_fuzz_targets::{TARGETS, corpus, fuzz};

/// The same in every run of the tests.
const SEED: u64 = 13;
const MUTATIONS: u64 = 250;

fn check(name: &str) {
    let target = ioco_fuzz_targets::target(name).expect("a target");
    let kept = corpus(target).len() as u64;
    assert!(kept > 0, "{name} has no corpus");
    let outcome = fuzz(target, SEED, |_| {}, |number| number < kept + MUTATIONS);
    if let Some(finding) = outcome.finding {
        let input = String::from_utf8_lossy(&finding.input).into_owned();
        panic!("{name}: {}\ninput: {input:?}", finding.message);
    }
    assert_eq!(outcome.inputs, kept + MUTATIONS);
}

macro_rules! targets {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                check(stringify!($name));
            }
        )*

        #[test]
        fn every_target_is_tested() {
            let tested = [$(stringify!($name)),*];
            let all: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
            assert_eq!(all, tested);
        }
    };
}

targets! {
    aml expression query smv json dot aut mermaid graphwalker svg toml suite failure traces line amp http events
}
