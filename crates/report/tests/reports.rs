//! Every form of report of one run of a small shop that forgets what was paid before.

mod shop;

use ioco_engine::RequirementCoverage;
use ioco_report::{
    Document, EVENTS_SCHEMA, Failure, Gathering, Paths, Run, github, html, json_line, junit,
    markdown, sarif,
};
use ioco_view::{Facts, ModelView, ProjectView, RunSummary};

use shop::Shop;

fn paths() -> Paths {
    Paths {
        prefix: "tests/".to_owned(),
    }
}

fn reported(shop: &Shop) -> (Run, Vec<Failure>) {
    let mut run = Run {
        id: "7".to_owned(),
        started: "2026-01-31T12:00:00Z".to_owned(),
        path: "shop.aml".to_owned(),
        connection: "python3 shop.py".to_owned(),
        missing: vec!["shop.aml:15  open ──?leave──► _3".to_owned()],
        ..Run::default()
    };
    for event in &shop.events {
        run.event(event);
    }
    let mut semantics = shop.semantics();
    let failures = (shop.failures.iter())
        .map(|file| {
            let facts = Facts::default();
            Failure::new(&mut semantics, file.clone(), &facts, file.test, false)
        })
        .collect();
    (run, failures)
}

#[test]
fn junit_has_a_case_for_every_test_and_text_for_every_failure() {
    let (run, failures) = reported(&Shop::new());
    insta::assert_snapshot!(junit(&run, &failures));
}

#[test]
fn markdown_has_the_numbers_and_a_chart() {
    let (run, failures) = reported(&Shop::new());
    insta::assert_snapshot!(markdown(&run, &failures, &paths()));
}

#[test]
fn github_annotates_the_line_of_the_model() {
    let (run, failures) = reported(&Shop::new());
    insta::assert_snapshot!(github(&run, &failures, &paths()));
}

#[test]
fn sarif_has_the_trace_as_a_code_flow() {
    let (run, failures) = reported(&Shop::new());
    insta::assert_snapshot!(sarif(&run, &failures, &paths(), "0.0.0"));
}

#[test]
fn every_report_says_how_each_requirement_did() {
    let (mut run, mut failures) = reported(&Shop::new());
    let requirement = |id: &str, steps| RequirementCoverage {
        id: id.to_owned(),
        text: "What was paid counts.".to_owned(),
        place: "shop.aml:3".to_owned(),
        steps,
    };
    run.requirements = vec![requirement("R-1", 12), requirement("R-2", 0)];
    run.summary.requirements = 2;
    run.summary.covered_requirements = 1;
    let id = failures[0].file.id.to_string();
    failures[0].requirements = vec!["R-1".to_owned()];
    let touched = format!("shown by 12 steps, touched by {id}");
    let text = junit(&run, &failures);
    for part in [
        format!("<property name=\"requirement R-1\" value=\"{touched}\"/>"),
        "<property name=\"requirement R-2\" value=\"not shown\"/>".to_owned(),
        "<property name=\"requirements\" value=\"R-1\"/>".to_owned(),
    ] {
        assert!(text.contains(&part), "{part}\n{text}");
    }
    let text = markdown(&run, &failures, &paths());
    for part in [
        format!("| R-1 | What was paid counts. | {touched} |"),
        "| R-2 | What was paid counts. | not shown |".to_owned(),
        "Requirements: R-1".to_owned(),
    ] {
        assert!(text.contains(&part), "{part}\n{text}");
    }
    let log: serde_json::Value =
        serde_json::from_str(&sarif(&run, &failures, &paths(), "0.0.0")).expect("JSON");
    let all = &log["runs"][0]["properties"]["requirements"];
    assert_eq!(
        (&all[0]["id"], &all[0]["failures"][0]),
        (&"R-1".into(), &id.as_str().into())
    );
    assert_eq!(
        (&all[1]["id"], &all[1]["steps"]),
        (&"R-2".into(), &0.into())
    );
    let touched = &log["runs"][0]["results"][0]["properties"]["requirements"];
    assert_eq!(touched, &serde_json::json!(["R-1"]));
    assert!(github(&run, &failures, &paths()).contains("1 of 2 requirements shown"));
}

#[test]
fn every_event_keeps_to_the_published_schema() {
    let schema: serde_json::Value = serde_json::from_str(EVENTS_SCHEMA).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let shop = Shop::new();
    let mut names = std::collections::BTreeSet::new();
    for event in &shop.events {
        let line = json_line(event);
        let value: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        let errors: Vec<String> = validator
            .iter_errors(&value)
            .map(|e| e.to_string())
            .collect();
        assert!(errors.is_empty(), "{line}{errors:?}");
        names.insert(value["event"].as_str().expect("a name").to_owned());
        // The schema is no rubber stamp: what is not declared does not pass.
        let mut more = value.clone();
        more["surprise"] = serde_json::json!(1);
        assert!(!validator.is_valid(&more), "{more}");
        let keys: Vec<String> = (value.as_object().expect("an object").keys())
            .filter(|&key| key != "values")
            .cloned()
            .collect();
        for key in keys {
            let mut less = value.clone();
            less.as_object_mut().expect("an object").remove(&key);
            assert!(!validator.is_valid(&less), "{less}");
        }
    }
    assert_eq!(names.len(), 7, "{names:?}");
}

fn document(shop: &Shop) -> Document {
    let mut gathering = Gathering::new(shop.semantics(), RunSummary::default(), Vec::new());
    for event in &shop.events {
        gathering.event(event.clone());
    }
    let mut semantics = shop.semantics();
    let (run, tests, goals) = gathering.finish(&mut semantics);
    let (_, failures) = reported(shop);
    Document {
        project: ProjectView::default(),
        model: ModelView::new("shop.aml", "1234", Some(&shop.sts), &[], &[]),
        run,
        failures: failures.into_iter().map(|f| f.detail).collect(),
        tests,
        runs: Vec::new(),
        goals,
    }
}

/// The data of an html report, as the page reads it.
fn data(page: &str) -> serde_json::Value {
    let begin = "id=\"ioco-report\">";
    let start = page.find(begin).expect("the element") + begin.len();
    let end = start + page[start..].find("</script>").expect("its end");
    serde_json::from_str(&page[start..end]).expect("JSON")
}

#[test]
fn html_is_one_small_file_that_carries_the_run() {
    let shop = Shop::new();
    let page = html(&document(&shop));
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    let data = data(&page);
    assert_eq!(data["model"]["name"], "shop");
    assert_eq!(
        data["failures"].as_array().map(Vec::len),
        Some(shop.failures.len())
    );
    let verdicts: Vec<&str> = (data["tests"].as_array().expect("tests").iter())
        .filter_map(|test| test["verdict"].as_str())
        .collect();
    assert!(
        verdicts.contains(&"fail") && verdicts.contains(&"pass"),
        "{verdicts:?}"
    );
    // Nothing is loaded from elsewhere.
    for outside in ["src=\"http", "src='http", "@import", "url(http"] {
        assert!(!page.contains(outside), "{outside}");
    }
}

#[test]
fn html_of_a_long_run_stays_small_and_keeps_its_failures() {
    let shop = Shop::new();
    let mut document = document(&shop);
    let failing = document
        .tests
        .iter()
        .find(|t| t.verdict == "fail")
        .expect("one")
        .clone();
    let mut passing = document
        .tests
        .iter()
        .find(|t| t.verdict == "pass")
        .expect("one")
        .clone();
    let steps = passing.trace.steps.clone();
    passing.trace.steps = steps.iter().cycle().take(2000).cloned().collect();
    document.tests = std::iter::repeat_n(passing, 20).collect();
    document.tests.push(failing);
    let page = html(&document);
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    let data = data(&page);
    let tests = data["tests"].as_array().expect("tests");
    assert!(tests.iter().any(|test| test["verdict"] == "fail"));
    assert_eq!(
        data["failures"].as_array().map(Vec::len),
        Some(shop.failures.len())
    );
}

#[test]
fn text_of_a_system_does_not_end_the_element_that_carries_it() {
    let shop = Shop::new();
    let mut document = document(&shop);
    let nasty = "</script><script>alert(1)</script>";
    document.failures[0].because.push(nasty.to_owned());
    let page = html(&document);
    let read = data(&page);
    let because = read["failures"][0]["because"].as_array().expect("reasons");
    assert!(because.iter().any(|line| line == nasty));
}
