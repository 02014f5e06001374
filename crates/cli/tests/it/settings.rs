//! The schema of ioco.toml that editors use names exactly the settings that ioco reads.

use serde_json::Value as Json;

use crate::support::{folder_with, ioco, root, run};

/// The settings of a section, as ioco itself lists them when one is unknown.
fn known(section: &str) -> Vec<String> {
    let text = format!("{section}\nno-such-setting = 1\n");
    let here = folder_with(&[("ioco.toml", &text)]);
    let ran = run(ioco().current_dir(here.path()).arg("check"));
    let (_, listed) = ran
        .err
        .split_once("expected ")
        .unwrap_or_else(|| panic!("{section}: {}", ran.all()));
    let line = listed.lines().next().unwrap_or_default();
    let names = line.split('`').skip(1).step_by(2);
    let mut names: Vec<String> = names.map(str::to_owned).collect();
    names.sort();
    names
}

fn schema() -> Json {
    let file = root().join("editors/vscode/ioco.schema.json");
    let text = std::fs::read_to_string(file).expect("the schema");
    serde_json::from_str(&text).expect("JSON")
}

fn named(part: &Json) -> Vec<String> {
    let properties = part["properties"].as_object().expect("properties");
    let mut names: Vec<String> = properties.keys().cloned().collect();
    names.sort();
    names
}

#[test]
fn the_schema_of_editors_has_every_setting_and_no_other() {
    let schema = schema();
    assert_eq!(named(&schema), known(""));
    for section in ["sut", "test", "store", "limits"] {
        let part = &schema["definitions"][section];
        assert_eq!(named(part), known(&format!("[{section}]")), "{section}");
    }
    assert_eq!(named(&schema["properties"]["check"]), known("[check]"));
    let profile = &schema["properties"]["profile"]["additionalProperties"];
    assert_eq!(named(profile), known("[profile.ci]"));
}

#[test]
fn weights_of_the_file_give_way_to_a_typed_strategy_and_typed_ones_do_not() {
    let here = folder_with(&[]);
    run(ioco().current_dir(here.path()).args(["new", "door"]));
    let door = here.path().join("door");
    let file = door.join("ioco.toml");
    let text = std::fs::read_to_string(&file).expect("ioco.toml");
    let weights = "[test.weights]\nopen = 3\n\n[profile.plan.test]\nstrategy = \"data\"\n";
    std::fs::write(&file, format!("{text}\n{weights}")).expect("ioco.toml");
    let query = "within 2 steps\n?open\n!opened\n";
    std::fs::write(door.join("open.query"), query).expect("a query");
    let test = |flags: &[&str]| {
        let short = ["test", "--tests", "1", "--steps", "3", "--no-known"];
        run(ioco().current_dir(&door).args(short).args(flags))
    };
    let ignored = "the weights of ioco.toml belong to the strategy random and are ignored";
    for flags in [
        &["--strategy", "transitions"][..],
        &["--strategy", "scenario", "--query", "open.query"],
    ] {
        let ran = test(flags);
        assert_eq!(ran.code, 0, "{flags:?}: {}", ran.all());
        assert!(ran.err.contains(ignored), "{flags:?}: {}", ran.all());
    }
    for flags in [&[][..], &["--strategy", "random"], &["--profile", "plan"]] {
        let ran = test(flags);
        assert_eq!(ran.code, 0, "{flags:?}: {}", ran.all());
        assert!(!ran.err.contains(ignored), "{flags:?}: {}", ran.all());
    }
    let ran = test(&["--strategy", "transitions", "--weight", "open=5"]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    let why = "weights belong to the strategy random";
    assert!(ran.err.contains(why), "{}", ran.all());
}

#[test]
fn shrinking_stops_in_time_and_what_is_left_is_confirmed() {
    let here = folder_with(&[]);
    run(ioco().current_dir(here.path()).args(["new", "door"]));
    let door = here.path().join("door");
    let test = |flags: &[&str]| {
        let seed = ["test", "--seed", "1", "--no-known"];
        run(ioco().current_dir(&door).args(seed).args(flags))
    };
    let early = "stopped early: a shorter one may exist";
    let ran = test(&["--shrink-time", "1ms"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.all().contains(early), "{}", ran.all());
    assert!(ran.all().contains("3 of 3 runs"), "{}", ran.all());
    let ran = test(&["--shrink-time", "10m"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(!ran.all().contains(early), "{}", ran.all());
    let file = door.join("ioco.toml");
    let text = std::fs::read_to_string(&file).expect("ioco.toml");
    let text = text.replacen("[test]", "[test]\nshrink_time = \"1ms\"", 1);
    std::fs::write(&file, text).expect("ioco.toml");
    let ran = test(&[]);
    assert!(ran.all().contains(early), "{}", ran.all());
    assert_eq!(test(&["--shrink-time", "0s"]).code, 2);
}
