//! The models in the user's guide are models.

// The ban on files, clocks and threads is for the crate, not for its tests.
#![allow(clippy::disallowed_methods)]

use std::path::Path;

/// The chapters and the models in them, in the order of their names.
fn models() -> Vec<(String, String)> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../book/src"));
    let mut chapters: Vec<_> = folder
        .read_dir()
        .expect("the guide is part of the repository")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .collect();
    chapters.sort();
    let mut models = Vec::new();
    for chapter in chapters {
        let text = std::fs::read_to_string(&chapter).expect("a chapter");
        let name = chapter.file_name().expect("a name").to_string_lossy();
        for rest in text.split("```aml\n").skip(1) {
            let (model, _) = rest.split_once("```").expect("the end of a model");
            models.push((name.clone().into_owned(), model.to_owned()));
        }
    }
    models
}

#[test]
fn every_model_in_the_guide_loads_without_a_warning() {
    let models = models();
    for chapter in ["language.md", "cookbook.md", "glossary.md"] {
        assert!(models.iter().any(|(name, _)| name == chapter), "{chapter}");
    }
    for (chapter, model) in models {
        let loaded = ioco_aml::load_text(&chapter, &model);
        let said: Vec<String> = loaded
            .diagnostics
            .iter()
            .map(|d| ioco_aml::render(d, &loaded.files, false))
            .collect();
        assert!(said.is_empty(), "{}", said.join("\n"));
        assert_eq!(ioco_aml::format(&model), Ok(model), "{chapter}");
    }
}
