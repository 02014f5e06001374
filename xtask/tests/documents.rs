//! What the documents say of the manifests.

use std::fs;
use std::path::PathBuf;

fn read(path: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn readers_learn_the_minimum_rust_version() {
    let manifest: toml::Table = read("Cargo.toml").parse().expect("a manifest");
    let version = manifest["workspace"]["package"]["rust-version"].as_str();
    let said = format!("Rust {} or newer", version.expect("a version"));
    for document in ["README.md", "book/src/install.md"] {
        assert!(
            read(document).contains(&said),
            "{document} does not say '{said}'"
        );
    }
}
