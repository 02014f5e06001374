//! Every case's `ioco.toml` names a model and a system that exist.

use std::fs;
use std::path::Path;

use ioco_examples::system;

#[test]
fn every_project_file_names_a_model_and_a_system_that_exist() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut projects = 0;
    for folder in fs::read_dir(&examples).expect("the examples") {
        let folder = folder.expect("a folder").path();
        let Ok(text) = fs::read_to_string(folder.join("ioco.toml")) else {
            continue;
        };
        let name = folder.display().to_string();
        let project: toml::Table = text.parse().expect("valid TOML");
        let model = project["model"].as_str().expect("a file name");
        assert!(folder.join(model).is_file(), "{name}: no {model}");
        assert!(folder.join("README.md").is_file(), "{name}: no page");

        // A case may be there for its model alone, or bring a system of its own.
        let sut = project.get("sut");
        let Some(sut) = sut.filter(|sut| sut.get("http").is_none()) else {
            continue;
        };
        projects += 1;
        let command = |sut: &toml::Value| -> Vec<String> {
            let words = sut["command"].as_array().expect("an array");
            let word = |word: &toml::Value| word.as_str().expect("a word").to_owned();
            words.iter().map(word).collect()
        };
        let mutant = command(sut);
        let right = command(&project["profile"]["right"]["sut"]);
        assert_eq!(
            (mutant[0].as_str(), mutant[2].as_str()),
            ("ioco-example", "--mutant")
        );
        assert!(system(&mutant[1], Some(&mutant[3])).is_ok(), "{name}");
        assert_eq!(right, ["ioco-example", mutant[1].as_str()], "{name}");
    }
    assert_eq!(projects, 9);
}
