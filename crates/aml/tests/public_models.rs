//! The public models load as they are, with the sizes that are known of them.

// The ban on files, clocks and threads is for the crate, not for its tests.
#![allow(clippy::disallowed_methods)]

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

#[test]
fn every_location_and_switch_of_the_public_models_has_its_place() {
    for name in ["koopman", "atm"] {
        if let Some(loaded) = public(name) {
            let sts = loaded.sts.expect("no errors");
            assert!(sts.locations().iter().all(|l| l.place.line > 0));
            assert!(sts.switches().iter().all(|s| s.place.line > 0));
        }
    }
}

#[test]
fn formatting_the_public_models_keeps_what_they_mean() {
    for name in ["koopman", "atm"] {
        let Some(loaded) = public(name) else {
            continue;
        };
        struct Formatted(Vec<ioco_aml::SourceFile>);
        impl Sources for Formatted {
            fn read(&self, path: &str) -> Result<String, String> {
                let file = self.0.iter().find(|f| f.name == path);
                let text = &file.ok_or("no such file")?.text;
                let once = ioco_aml::format(text).map_err(|_| "not formatted")?;
                assert_eq!(ioco_aml::format(&once).as_ref(), Ok(&once));
                Ok(once)
            }
        }
        let main = loaded.files[0].name.clone();
        let again = ioco_aml::load(&main, &Formatted(loaded.files)).sts;
        let (before, after) = (loaded.sts.expect("no errors"), again.expect("no errors"));
        assert_eq!(before.labels(), after.labels());
        let shape = |sts: &ioco_sts::Sts| -> Vec<_> {
            let switches = sts.switches().iter();
            switches.map(|s| (s.source, s.gate, s.target)).collect()
        };
        assert_eq!(shape(&before), shape(&after));
    }
}
