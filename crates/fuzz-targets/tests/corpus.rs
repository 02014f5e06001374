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

/// Mutations of what is rejected try little more than how the reader rejects it.
#[test]
fn every_corpus_has_something_that_its_reader_accepts() {
    let accepts = |target: &ioco_fuzz_targets::Target| {
        let kept = corpus(target);
        kept.iter().filter(|input| (target.run)(input)).count()
    };
    let without = TARGETS.iter().filter(|target| accepts(target) == 0);
    let without: Vec<&str> = without.map(|target| target.name).collect();
    assert_eq!(without, [""; 0]);
}

/// Mutations of a file that is not read try nothing but the first line of its reader.
#[test]
fn a_failure_file_with_every_field_is_kept() {
    let target = ioco_fuzz_targets::target("failure").expect("a target");
    let read = |data: &Vec<u8>| {
        let text = String::from_utf8_lossy(data);
        ioco_engine::FailureFile::read(&text).ok()
    };
    let is_whole = |file: &ioco_engine::FailureFile| {
        let shrunk = file.shrunk.as_ref();
        file.wire.len() > 1
            && file.confirmed.is_some()
            && !file.deviation.values.is_empty()
            && shrunk.is_some_and(|s| s.minimal && !s.times.is_empty() && !s.wire.is_empty())
    };
    let kept = corpus(target);
    assert!(kept.iter().filter_map(read).any(|file| is_whole(&file)));
}
