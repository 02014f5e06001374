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
