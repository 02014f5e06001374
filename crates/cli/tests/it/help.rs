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
    let listed = whole.out.lines().take_while(|line| *line != "Options:");
    let commands: Vec<&str> = listed
        .filter_map(|line| line.strip_prefix("  "))
        .filter_map(|line| line.split_whitespace().next())
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

#[test]
fn commands_stand_in_groups_and_have_examples() {
    let whole = run(ioco().arg("help"));
    for title in ["Start:", "Models:", "Testing:", "Results:"] {
        assert!(whole.out.contains(title), "{title}: {}", whole.all());
    }
    let test = run(ioco().args(["test", "--help"]));
    assert!(test.out.contains("Examples:"), "{}", test.all());
    assert!(test.out.contains("ioco test --watch"), "{}", test.all());
}

#[test]
fn a_format_is_refused_with_those_that_the_command_takes() {
    let ran = run(ioco().args(["check", "x.aml", "--format", "sarif"]));
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.err.contains("text, json"), "{}", ran.all());
    assert!(!ran.err.contains("junit"), "{}", ran.all());
    let before = run(ioco().args(["--format", "sarif", "check", "x.aml"]));
    assert_eq!(before.code, 2, "{}", before.all());
    let help = run(ioco().args(["report", "--help"]));
    assert!(help.out.contains("sarif"), "{}", help.all());
}

#[test]
fn colour_is_forced_and_forbidden_by_the_environment() {
    let coloured = |variables: &[(&str, &str)]| {
        let mut command = ioco();
        command.env_remove("NO_COLOR").args(["doctor", "--help"]);
        for (name, value) in variables {
            command.env(name, value);
        }
        run(&mut command).out.contains('\u{1b}')
    };
    assert!(!coloured(&[]), "no terminal, no colour");
    assert!(coloured(&[("FORCE_COLOR", "1")]));
    assert!(coloured(&[("CLICOLOR_FORCE", "1")]));
    assert!(!coloured(&[("FORCE_COLOR", "0")]));
    assert!(!coloured(&[("NO_COLOR", "1")]));
    assert!(
        coloured(&[("FORCE_COLOR", "1"), ("NO_COLOR", "1")]),
        "as in other programs"
    );
}
