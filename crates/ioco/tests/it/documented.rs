//! Every public item has an example.

use std::path::Path;

/// The public functions and types of a source file whose documentation has no example.
fn without_example(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut has_example = false;
    let lines = text.lines().map(str::trim);
    for line in lines.take_while(|line| *line != "#[cfg(test)]") {
        if line.starts_with("///") {
            has_example |= line.contains("```");
            continue;
        }
        let words = ["fn", "async", "struct", "enum", "trait", "type", "const"];
        let item = line.strip_prefix("pub ").unwrap_or_default();
        let is_item = item
            .split(' ')
            .next()
            .is_some_and(|word| words.contains(&word));
        if is_item && !has_example {
            found.push(line);
        }
        has_example &= line.starts_with("#[");
    }
    found
}

#[test]
fn every_public_item_has_an_example() {
    let text = "/// A.\n///\n/// ```\n/// ```\n#[must_use]\npub fn a() {}\n/// B.\npub struct B;\nfn c() {}\n";
    assert_eq!(without_example(text), ["pub struct B;"]);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for file in std::fs::read_dir(folder).expect("the sources") {
        let path = file.expect("a file").path();
        let text = std::fs::read_to_string(&path).expect("text");
        assert_eq!(without_example(&text), [""; 0], "{}", path.display());
    }
}
