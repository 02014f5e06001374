//! ARCHITECTURE.md is the code map, and the code keeps to it: which crate may use which, and which crates are pure.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

type Map = BTreeMap<String, BTreeSet<String>>;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The lines `crate: a b c` of the block that follows a line with this marker.
fn block(marker: &str) -> Map {
    let text = read("ARCHITECTURE.md");
    let lines = text.lines().skip_while(|line| !line.contains(marker));
    let lines = lines.skip_while(|line| !line.starts_with("    "));
    lines
        .take_while(|line| line.starts_with("    "))
        .map(|line| {
            let (name, rest) = line.split_once(':').expect("crate: what it uses");
            let uses = rest.split_whitespace().map(str::to_owned).collect();
            (name.trim().to_owned(), uses)
        })
        .collect()
}

/// What the crates use of each other, tests apart.
fn dependencies() -> Map {
    let folders = fs::read_dir(root().join("crates")).expect("the crates");
    let mut map = Map::new();
    for folder in folders {
        let name = folder.expect("a folder").file_name();
        let name = name.to_str().expect("a plain name").to_owned();
        let manifest = read(&format!("crates/{name}/Cargo.toml"));
        let manifest: toml::Table = manifest.parse().expect("a manifest");
        let targets = manifest.get("target").and_then(toml::Value::as_table);
        let targets = targets.into_iter().flat_map(toml::Table::values);
        let targets = targets.filter_map(toml::Value::as_table);
        let tables = std::iter::once(&manifest)
            .chain(targets)
            .flat_map(|table| ["dependencies", "build-dependencies"].map(|kind| table.get(kind)));
        let tables = tables.flatten().filter_map(toml::Value::as_table);
        let used = tables.flat_map(toml::Table::keys);
        let used = used.filter_map(|name| match name.as_str() {
            // The library has the name of the whole.
            "ioco" => Some("ioco"),
            name => name.strip_prefix("ioco-"),
        });
        map.insert(name, used.map(str::to_owned).collect());
    }
    map
}

#[test]
fn crates_use_only_what_the_map_allows() {
    let allowed = block("uses only these");
    let actual = dependencies();
    assert_eq!(
        allowed.keys().collect::<Vec<_>>(),
        actual.keys().collect::<Vec<_>>(),
        "every crate stands in the list of ARCHITECTURE.md"
    );
    for (name, uses) in &actual {
        let extra: Vec<_> = uses.difference(&allowed[name]).collect();
        assert!(extra.is_empty(), "{name} must not use {extra:?}");
        let unused: Vec<_> = allowed[name].difference(uses).collect();
        assert!(unused.is_empty(), "{name} does not use {unused:?}");
    }
}

#[test]
fn pure_crates_ban_clocks_files_processes_and_threads() {
    let pure = &block("These are pure")["pure"];
    let bans = read("crates/sts/clippy.toml");
    for name in pure {
        assert_eq!(read(&format!("crates/{name}/clippy.toml")), bans, "{name}");
    }
    let bans: toml::Table = bans.parse().expect("clippy's settings");
    let banned: Vec<&str> = bans["disallowed-methods"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|ban| ban["path"].as_str())
        .collect();
    for kind in [
        "std::time",
        "std::fs",
        "std::process",
        "std::thread",
        "std::env",
        "std::net",
        "std::io",
        "std::path",
    ] {
        assert!(
            banned.iter().any(|path| path.starts_with(kind)),
            "nothing of {kind} is banned"
        );
    }
}

/// The Rust files below a folder.
fn sources(folder: &std::path::Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
    found
}

/// What helps is data there: a person at the terminal types a flag, and the page has no flags.
#[test]
fn campaigns_name_no_flags() {
    // The command of a system.
    let allowed = ["server --port"];
    for path in sources(&root().join("crates/campaign/src")) {
        let text = fs::read_to_string(&path).expect("a source file");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for line in code
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
        {
            let mut parts = line.split("--").skip(1);
            let is_flag = parts.any(|after| after.starts_with(|c: char| c.is_ascii_lowercase()));
            let is_allowed = allowed.iter().any(|allowed| line.contains(allowed));
            assert!(!is_flag || is_allowed, "{}: {line}", path.display());
        }
    }
}
