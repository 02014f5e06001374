//! The experiment on a part of the published data.

use std::path::Path;

use ioco_experiments::{Setup, measure, read_cases};

#[test]
fn a_subset_of_mutants_gives_one_row_per_mutant_and_shrinker_with_the_published_figures() {
    let bench = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/bench");
    let Ok(mut cases) = read_cases(&bench.join("shrinking")) else {
        eprintln!("skipped: no published data here");
        return;
    };
    cases.retain(|case| ["m06", "m09"].contains(&case.mutant.as_str()));
    let report =
        measure(&cases, &bench.join("aml"), &Setup::default()).expect("the experiment runs");
    let shrinkers = ioco_shrink::SHRINKERS.len() + 3;
    assert_eq!(report.rows.len(), cases.len() * shrinkers);
    for row in &report.rows {
        let who = format!("{} {} {}", row.experiment, row.mutant, row.shrinker);
        assert_eq!(row.final_lengths.len(), row.traces, "{who}");
        assert!(
            row.final_lengths
                .iter()
                .all(|length| *length >= row.shortest),
            "{who}"
        );
        if row.shrinker == "auto" {
            assert!(
                row.final_lengths.iter().all(|l| *l == row.shortest),
                "{who}"
            );
        }
        if let (true, Some(published)) = (row.shrinker.starts_with("cycle"), &row.published) {
            let lengths: Vec<u64> = row.final_lengths.iter().map(|l| *l as u64).collect();
            assert_eq!(
                (row.runs as u64, lengths),
                (published.tests, published.final_length.clone()),
                "{who}"
            );
        }
    }
    let json: serde_json::Value =
        serde_json::from_str(&report.to_json().expect("JSON")).expect("valid JSON");
    let names: Vec<&String> = json["rows"][0].as_object().expect("a row").keys().collect();
    let wanted = [
        "bug_type",
        "experiment",
        "final_lengths",
        "mutant",
        "runs",
        "seconds",
        "shortest",
        "shrinker",
        "stimuli",
        "traces",
    ];
    assert_eq!(names, wanted);
}

#[test]
fn the_names_of_labels_mean_nothing_to_a_shrinker() {
    let bench = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/bench");
    let Ok(mut cases) = read_cases(&bench.join("shrinking")) else {
        eprintln!("skipped: no published data here");
        return;
    };
    cases.retain(|case| case.experiment == "smartdoor");
    let figures = |rename: bool| {
        let setup = Setup {
            rename,
            shrinkers: vec!["auto".to_owned()],
            ..Setup::default()
        };
        let report = measure(&cases, &bench.join("aml"), &setup).expect("the experiment runs");
        let rows = report.rows.into_iter();
        rows.map(|row| (row.mutant, row.shrinker, row.costs, row.final_lengths))
            .collect::<Vec<_>>()
    };
    assert_eq!(figures(false), figures(true));
}

#[test]
fn a_folder_without_traces_is_an_error_with_its_name() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let error = read_cases(&folder)
        .expect_err("no traces there")
        .to_string();
    assert!(error.contains("no folder with traces"), "{error}");
}
