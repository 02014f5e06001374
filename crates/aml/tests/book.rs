//! The models in the user's guide are models.

// The ban on files, clocks and threads is for the crate, not for its tests.
#![allow(clippy::disallowed_methods)]

#[test]
fn every_model_in_the_guide_loads_without_a_warning() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../book/src/language.md");
    let text = std::fs::read_to_string(path).expect("the guide is part of the repository");
    let models: Vec<&str> = text
        .split("```aml\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    assert!(models.len() >= 3);
    for model in models {
        let loaded = ioco_aml::load_text("guide.aml", model);
        let said: Vec<String> = loaded
            .diagnostics
            .iter()
            .map(|d| ioco_aml::render(d, &loaded.files, false))
            .collect();
        assert!(said.is_empty(), "{}", said.join("\n"));
        assert_eq!(ioco_aml::format(model).as_deref(), Ok(model));
    }
}
