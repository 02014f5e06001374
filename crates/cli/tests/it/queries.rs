//! `ioco generate --query` and `ioco test --strategy scenario`.

use std::fs;

use serde_json::Value as Json;

use crate::support::{Ran, example_program, folder, ioco, root, run};

fn ask(model: &str, query: &str, more: &[&str]) -> Ran {
    let folder = folder();
    let file = folder.path().join("wish.query");
    fs::write(&file, query).expect("a file");
    let model = root().join("examples").join(model);
    run(ioco()
        .arg("generate")
        .arg(model)
        .arg("--query")
        .arg(file)
        .args(more))
}

fn lines(text: &str) -> Vec<Json> {
    text.lines()
        .map(|line| serde_json::from_str(line).expect("a JSON object a line"))
        .collect()
}

#[test]
fn a_query_is_answered_with_a_test_and_what_else_is_allowed() {
    let query = "within 3 steps\n?x(value=2)\n?y(value=5)\n!result where value > 14\n";
    let ran = ask("calculator", query, &[]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    let expected = "test 1  3 steps\n    1  ?x(value=2)\n    2  ?y(value=5)\n    3  \
                    !result(value=20)\n       or !result(value=14): inconclusive\n";
    assert_eq!(ran.out, expected, "{}", ran.all());
    let ran = ask("calculator", query, &["--format", "json"]);
    let found = lines(&ran.out);
    assert_eq!(found[0]["steps"][2]["values"]["value"], 20, "{}", ran.out);
    assert_eq!(
        found[0]["branches"][0]["values"]["value"], 14,
        "{}",
        ran.out
    );
    assert_eq!(found[1]["verdict"], "found");
    assert_eq!(found[1]["within"], 3);
}

#[test]
fn as_many_different_tests_as_wanted() {
    let query = "within 3 steps\n?coin where value <= 21\n?coin(value=10)\n!tea\n";
    let ran = ask("coffee/figure9.aml", query, &["--number", "5"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert_eq!(ran.out.matches("!tea").count(), 2, "{}", ran.out);
    assert!(
        ran.err.contains("there are no others within 3 steps"),
        "{}",
        ran.err
    );
}

#[test]
fn that_there_is_none_is_said() {
    let ran = ask("calculator", "within 2 steps\nvisits 6\n", &[]);
    assert_eq!((ran.code, ran.out.as_str()), (4, ""), "{}", ran.all());
    assert!(
        ran.err.contains("there is none within 2 steps"),
        "{}",
        ran.err
    );
}

#[test]
fn a_query_without_a_length_reports_its_bound() {
    let ran = ask(
        "queue",
        "...\n!dequeued where value == 1\n...\nvisits nowhere\n",
        &[],
    );
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.err.contains("wish.query:"), "{}", ran.err);
    let ran = ask(
        "coffee",
        "...\n!coffee\n... without ?coin\n!coffee\n",
        &["--format", "json"],
    );
    assert_eq!(ran.code, 4, "{}", ran.all());
    assert!(ran.err.contains("at most 30 steps"), "{}", ran.err);
    let verdict = &lines(&ran.out)[0];
    assert_ne!(verdict["verdict"], "found", "{}", ran.out);
    assert_eq!(verdict["default_bound"], true);
}

fn scenario(mutant: &str, query: &str) -> Ran {
    let folder = folder();
    fs::write(folder.path().join("wish.query"), query).expect("a file");
    let model = root().join("examples/smartdoor/model.aml");
    let system = format!("exec {} smartdoor{mutant}", example_program().display());
    run(ioco()
        .current_dir(folder.path())
        .arg("test")
        .arg(model.canonicalize().expect("the model is there"))
        .args([
            "--sut",
            &system,
            "--strategy",
            "scenario",
            "--query",
            "wish.query",
        ])
        .args(["--tests", "2", "--seed", "1"]))
}

#[test]
fn a_scenario_leads_the_tests() {
    let query = "within 12 steps\nvisits locked\n... without ?open or ?close\nat shut_off\n";
    let ran = scenario("", query);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.out.contains("2 passed"), "{}", ran.all());
    let ran = scenario("", "within 3 steps\nvisits shut_off\n");
    assert!(ran.out.contains("2 inconclusive"), "{}", ran.all());
    let ran = scenario("", "within 3 steps\n?opne\n");
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.err.contains("did you mean `open`?"), "{}", ran.err);
}

#[test]
fn locations_and_data_are_strategies() {
    for (strategy, covered) in [
        ("locations", "7 of 7 locations"),
        ("data", "7 of 7 switches"),
    ] {
        let folder = folder();
        let model = root().join("examples/calculator/model.aml");
        let system = format!("exec {} calculator", example_program().display());
        let ran = run(ioco()
            .current_dir(folder.path())
            .arg("test")
            .arg(model.canonicalize().expect("the model is there"))
            .args([
                "--sut",
                &system,
                "--strategy",
                strategy,
                "--seed",
                "1",
                "--tests",
                "40",
            ]));
        assert_eq!(ran.code, 0, "{}", ran.all());
        assert!(ran.out.contains(covered), "{strategy}: {}", ran.all());
    }
}
