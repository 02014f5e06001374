//! The public models load as they are, with the sizes that are known of them.

use ioco_aml::{Loaded, Sources};

struct Folder;

impl Sources for Folder {
    fn read(&self, path: &str) -> Result<String, String> {
        std::fs::read_to_string(path).map_err(|error| error.to_string())
    }
}

/// Loads a public model, where the material is at hand.
fn public(name: &str) -> Option<Loaded> {
    let path = format!(
        "{}/../../../shared/bench/aml/{name}/model.aml",
        env!("CARGO_MANIFEST_DIR")
    );
    if !std::path::Path::new(&path).exists() {
        eprintln!("skipped: the public model {name} is not at hand");
        return None;
    }
    Some(ioco_aml::load(&path, &Folder))
}

fn sizes(name: &str) -> Option<(usize, usize)> {
    let loaded = public(name)?;
    let sts = loaded.sts.unwrap_or_else(|| {
        let first = &loaded.diagnostics[0];
        panic!("{}", ioco_aml::render(first, &loaded.files, false))
    });
    Some((sts.locations().len(), sts.switches().len()))
}

#[test]
fn the_vending_machine_has_its_known_size() {
    if let Some(sizes) = sizes("koopman") {
        assert_eq!(sizes, (273, 1119));
    }
}

#[test]
fn the_teller_machine_has_its_known_size() {
    if let Some(sizes) = sizes("atm") {
        assert_eq!(sizes, (1970, 3548));
    }
}

#[test]
fn the_public_models_start_at_their_first_state() {
    for (name, first) in [("koopman", "None_0"), ("atm", "Idle")] {
        if let Some(loaded) = public(name) {
            let sts = loaded.sts.expect("no errors");
            let initial = sts.processes()[0].initial;
            assert_eq!(sts.location(initial).name, first);
        }
    }
}
