//! Failures that are kept in a folder and run first.

use std::fs;
use std::path::Path;

use ioco::{Check, Model, Response, Switch, System, Type};

use crate::failure;

fn model(name: &str) -> Model {
    Model::builder(name)
        .variable("sum", Type::Integer, 0)
        .stimulus("add", [("n", Type::Range(1, 9))])
        .response("total", [("n", Type::Integer)])
        .switch(
            Switch::from("idle")
                .on("?add")
                .update("sum += n")
                .to("busy"),
        )
        .switch(
            Switch::from("busy")
                .on("!total")
                .when("n == sum")
                .to("idle"),
        )
        .build()
        .unwrap()
}

/// Adds, and counts its resets. Wrong as soon as the sum is more than `limit`.
fn adder<'a>(limit: i64, resets: &'a mut u32) -> impl System + 'a {
    ioco::from_fn(
        || {
            *resets += 1;
            0
        },
        move |sum, add| {
            *sum += add.integer("n");
            vec![Response::new("total").with("n", (*sum).min(limit))]
        },
    )
}

fn check(name: &str, folder: &Path) -> Check {
    Check::new(model(name)).unwrap().keep_failures_in(folder)
}

#[test]
fn a_failure_runs_first_until_it_is_fixed() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("tests/failures");
    let mut resets = 0;
    let first = failure(check("sum", &folder).run(adder(20, &mut resets)));
    let kept = first.kept_in().unwrap().to_owned();
    assert!(kept.is_file());
    assert!(
        first.to_string().contains("runs first from now on"),
        "{first}"
    );

    // Another seed, and no new test at all: one run and its confirmation.
    let mut resets = 0;
    let again = failure(check("sum", &folder).seed(99).run(adder(20, &mut resets)));
    assert_eq!(resets, 6);
    assert_eq!(again.kept_in(), Some(&*kept));
    assert_eq!(again.trace(), first.trace());
    assert!(
        again.to_string().contains("known from an earlier run"),
        "{again}"
    );

    let mut resets = 0;
    let report = check("sum", &folder)
        .run(adder(i64::MAX, &mut resets))
        .unwrap();
    assert_eq!((report.passed(), resets), (100, 101));
    assert!(kept.is_file());
}

#[test]
fn failures_of_other_models_are_left_alone() {
    let place = tempfile::tempdir().unwrap();
    let mut resets = 0;
    failure(check("one", place.path()).run(adder(20, &mut resets)));
    let mut resets = 0;
    let report = check("other", place.path())
        .run(adder(i64::MAX, &mut resets))
        .unwrap();
    assert_eq!((report.passed(), resets), (100, 100));
}

#[test]
fn what_cannot_be_replayed_is_reported_and_not_run() {
    let place = tempfile::tempdir().unwrap();
    let mut resets = 0;
    failure(check("sum", place.path()).run(adder(20, &mut resets)));
    fs::write(place.path().join("zzz.json"), "{ not json").unwrap();
    fs::write(place.path().join("README.md"), "not a failure").unwrap();
    // The stimulus has another name now.
    let renamed = Model::builder("sum")
        .stimulus("plus", [])
        .switch(Switch::from("idle").on("?plus"))
        .build()
        .unwrap();
    let check = Check::new(renamed).unwrap().keep_failures_in(place.path());
    let report = check.run(ioco::from_fn(|| (), |(), _| vec![])).unwrap();
    let skipped = report.skipped_failures();
    assert_eq!(skipped.len(), 2, "{skipped:?}");
    assert!(skipped[0].contains("?add"), "{skipped:?}");
    assert!(skipped[1].contains("not a failure file"), "{skipped:?}");
}

#[test]
fn a_folder_that_cannot_be_written_does_not_hide_the_failure() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("file");
    fs::write(&file, "in the way").unwrap();
    let mut resets = 0;
    let outcome = check("sum", &file).run(adder(20, &mut resets));
    // It cannot be read either, which comes first.
    assert!(
        matches!(outcome, Err(ioco::Error::Folder(..))),
        "{outcome:?}"
    );
    // Something comes in the way while the tests run.
    let folder = place.path().join("folder");
    let broken = ioco::from_fn(
        || (),
        |(), _| {
            fs::write(&folder, "in the way").unwrap();
            vec![]
        },
    );
    let found = failure(check("sum", &folder).run(broken));
    assert_eq!(found.kept_in(), None);
    assert!(found.to_string().contains("not kept in"), "{found}");
}
