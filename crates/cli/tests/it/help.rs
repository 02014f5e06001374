//! The help is for people: it names no type of the program.

use crate::support::{ioco, run};

/// Names of programs and formats that are written like types.
const NAMES: &[&str] = &[
    "GitHub",
    "GraphWalker",
    "NuSMV",
    "OpenAPI",
    "PostgreSQL",
    "PowerShell",
    "SQLite",
];

/// Whether a word is written as a type is: `CommandError`.
fn is_like_a_type(word: &str) -> bool {
    let is_joined = |pair: &[u8]| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase();
    word.starts_with(|first: char| first.is_ascii_uppercase())
        && word.as_bytes().windows(2).any(is_joined)
}

#[test]
fn no_help_names_a_type_of_the_program() {
    let whole = run(ioco().arg("--help"));
    let listed = whole.out.lines().skip_while(|line| *line != "Commands:");
    let commands: Vec<&str> = listed
        .skip(1)
        .take_while(|line| line.starts_with("  "))
        // Longer lines of the list go on below, further in.
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(commands.contains(&"test"), "{}", whole.all());
    for command in commands {
        let help = run(ioco().args([command, "--help"]));
        assert_eq!(help.code, 0, "{}", help.all());
        let words = help.out.split(|c: char| !c.is_ascii_alphanumeric());
        let types: Vec<&str> = words
            .filter(|word| is_like_a_type(word) && !NAMES.contains(word))
            .collect();
        assert!(types.is_empty(), "ioco {command} --help: {types:?}");
    }
}
