//! The help: commands by what a person wants to do, examples, and the formats that each command takes. The
//! arguments themselves are in [`crate::args`].

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Arg, Command, CommandFactory as _, ValueEnum as _};

use crate::args::{Arguments, Format};

/// Commands that belong together, in the order in which a person meets them.
struct Group {
    title: &'static str,
    commands: &'static [Entry],
}

/// A command with examples; each is checked to be one that ioco understands.
struct Entry {
    name: &'static str,
    examples: &'static [Example],
}

/// What to type, and what it does.
type Example = (&'static str, &'static str);

const fn entry(name: &'static str, examples: &'static [Example]) -> Entry {
    Entry { name, examples }
}

const GROUPS: &[Group] = &[
    Group {
        title: "Start",
        commands: &[
            entry(
                "new",
                &[
                    ("ioco new door", "a project with a planted bug, in Python"),
                    (
                        "ioco new shop --openapi shop.yaml",
                        "a first model of an HTTP interface",
                    ),
                ],
            ),
            entry(
                "doctor",
                &[
                    ("ioco doctor", "check the project in this folder"),
                    ("ioco doctor --profile ci", "with the settings of a profile"),
                    ("ioco doctor --format json", "for a program"),
                ],
            ),
            entry(
                "connect",
                &[(
                    "ioco connect door.aml --sut 'python3 door.py' --give 'lock passcode=1234'",
                    "give one stimulus, and show the bytes",
                )],
            ),
        ],
    },
    Group {
        title: "Models",
        commands: &[
            entry(
                "check",
                &[
                    ("ioco check door.aml", "errors, warnings and the size"),
                    (
                        "ioco check door.aml --trace traffic.jsonl",
                        "does recorded traffic conform?",
                    ),
                ],
            ),
            entry(
                "fmt",
                &[
                    ("ioco fmt door.aml", "format a file in place"),
                    (
                        "ioco fmt --check door.aml",
                        "exit with 1 if it would change",
                    ),
                ],
            ),
            entry(
                "explore",
                &[("ioco explore door.aml", "walk through it in the terminal")],
            ),
            entry(
                "convert",
                &[
                    ("ioco convert door.aml -o door.svg", "draw it"),
                    (
                        "ioco convert door.aml -o door.aut --flatten",
                        "for other tools, without data",
                    ),
                ],
            ),
            entry(
                "compare",
                &[("ioco compare old.aml new.aml", "what changed in behaviour")],
            ),
            entry(
                "simulate",
                &[(
                    "ioco simulate door.aml --listen 127.0.0.1:7000",
                    "play the model as a system",
                )],
            ),
            entry(
                "record",
                &[(
                    "ioco record door.aml --listen 127.0.0.1:7000 --to 127.0.0.1:8000 -o traffic.jsonl",
                    "record a client and a system",
                )],
            ),
        ],
    },
    Group {
        title: "Testing",
        commands: &[
            entry(
                "test",
                &[
                    ("ioco test", "with the settings of ioco.toml"),
                    (
                        "ioco test door.aml --sut 'python3 door.py'",
                        "another model and system",
                    ),
                    (
                        "ioco test --time 10m --failures 0",
                        "find all failures that ten minutes show",
                    ),
                    (
                        "ioco test --coverage 90 --profile ci --junit results.xml",
                        "in a build",
                    ),
                    (
                        "ioco test --watch",
                        "again whenever the model or the system changes",
                    ),
                ],
            ),
            entry(
                "failures",
                &[
                    ("ioco failures", "the open ones"),
                    (
                        "ioco failures accept 3f2a --reason 'known, fixed in 2.1'",
                        "do not fail because of it",
                    ),
                ],
            ),
            entry(
                "accept",
                &[(
                    "ioco accept 3f2a --why 'known, fixed in 2.1'",
                    "do not fail because of it",
                )],
            ),
            entry(
                "replay",
                &[
                    ("ioco replay 3f2a", "is it fixed?"),
                    ("ioco replay 3f2a --times 20", "how often does it occur?"),
                ],
            ),
            entry(
                "shrink",
                &[(
                    "ioco shrink 3f2a --time 5m",
                    "search longer for a shorter trace",
                )],
            ),
            entry(
                "export",
                &[(
                    "ioco export 3f2a --as python -o show.py",
                    "a script without ioco",
                )],
            ),
        ],
    },
    Group {
        title: "Suites",
        commands: &[entry(
            "generate",
            &[
                (
                    "ioco generate door.aml --cover switches -o suite.jsonl",
                    "a test for every switch",
                ),
                (
                    "ioco generate door.aml --traces 4 --count",
                    "the number of traces of four steps",
                ),
                ("ioco test --suite suite.jsonl", "run it"),
            ],
        )],
    },
    Group {
        title: "Campaigns on many machines",
        commands: &[
            entry(
                "campaign",
                &[
                    (
                        "ioco campaign start door.aml --tests 10000",
                        "hand out tests to the workers of a NATS server",
                    ),
                    (
                        "ioco campaign resume 1794936867-4711",
                        "resume after the coordinator was killed",
                    ),
                    ("ioco campaign status", "campaigns and workers"),
                    (
                        "ioco campaign repeat night 17",
                        "carry out order 17 of campaign night again",
                    ),
                ],
            ),
            entry(
                "worker",
                &[(
                    "ioco worker door.aml --jobs 4",
                    "run tests of campaigns on four systems",
                )],
            ),
            entry(
                "nats",
                &[(
                    "ioco nats",
                    "start a NATS server on this machine, to try it",
                )],
            ),
        ],
    },
    Group {
        title: "Results",
        commands: &[
            entry(
                "coverage",
                &[
                    ("ioco coverage", "what the tests have covered so far"),
                    ("ioco coverage --minimum 90", "exit with 4 below 90 percent"),
                ],
            ),
            entry(
                "report",
                &[
                    (
                        "ioco report --format html -o run.html",
                        "a single file that you can share",
                    ),
                    ("ioco report 7 --format junit", "run 7 for a build server"),
                ],
            ),
            entry(
                "runs",
                &[
                    ("ioco runs", "the newest runs"),
                    ("ioco runs compare 6 7", "what changed"),
                    ("ioco runs prune --keep 50", "delete old ones"),
                ],
            ),
            entry(
                "merge",
                &[("ioco merge shard-1 shard-2", "merge the results of shards")],
            ),
            entry(
                "store",
                &[("ioco store migrate", "upgrade the runs of an older ioco")],
            ),
            entry(
                "serve",
                &[("ioco serve --open", "the page, in your browser")],
            ),
        ],
    },
    Group {
        title: "Reference and tools",
        commands: &[
            entry(
                "explain",
                &[("ioco explain D002", "what a code means, and what to do")],
            ),
            entry(
                "adapters",
                &[("ioco adapters --amp 3001", "list the adapters that connect")],
            ),
            entry("lsp", &[]),
            entry("completions", &[]),
            entry(
                "man",
                &[(
                    "ioco man manual",
                    "a page for each command, in the folder manual",
                )],
            ),
        ],
    },
];

/// All that can be typed, with its help.
pub fn command() -> Command {
    let mut command = Arguments::command();
    let listed = listed(&command);
    command = command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{listed}\nOptions:\n{{options}}{{after-help}}"
    ));
    for entry in GROUPS.iter().flat_map(|group| group.commands) {
        command = command.mut_subcommand(entry.name, |sub| with_help(sub, entry));
    }
    command
}

/// The commands by group, each with what it is for.
fn listed(command: &Command) -> String {
    let names = GROUPS.iter().flat_map(|group| group.commands);
    let width = names.map(|entry| entry.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for group in GROUPS {
        text.push_str(&format!("{}:\n", group.title));
        for entry in group.commands {
            let about = command.find_subcommand(entry.name);
            let about = about.and_then(Command::get_about);
            let about = about.map_or_else(String::new, ToString::to_string);
            text.push_str(&format!("  {:<width$}  {about}\n", entry.name));
        }
        text.push('\n');
    }
    text.push_str("`ioco COMMAND --help` shows the options of a command, with examples.\n");
    text
}

fn with_help(command: Command, entry: &Entry) -> Command {
    let takes: Vec<Format> = Format::value_variants()
        .iter()
        .copied()
        .filter(|format| entry.name == "report" || !format.is_report())
        .collect();
    // It takes the place of the global one, which accepts what any command takes.
    let values = takes.iter().filter_map(|format| format.to_possible_value());
    let parser = PossibleValuesParser::new(values).try_map(|name| Format::from_str(&name, false));
    let command = command.arg(
        Arg::new("format")
            .long("format")
            .global(true)
            .value_name("FORMAT")
            .value_parser(parser)
            .default_value("text")
            .help("The format of results on standard output; messages always go to standard error"),
    );
    if entry.examples.is_empty() {
        return command;
    }
    let examples = entry
        .examples
        .iter()
        .map(|(line, what)| format!("  {line}\n      {what}\n"));
    command.after_help(format!("Examples:\n{}", examples.collect::<String>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words as a shell takes them, for lines without any other magic.
    fn words(line: &str) -> Vec<String> {
        let mut words = Vec::new();
        for (index, part) in line.split('\'').enumerate() {
            match index % 2 {
                0 => words.extend(part.split_whitespace().map(str::to_owned)),
                _ => words.push(part.to_owned()),
            }
        }
        words
    }

    #[test]
    fn every_command_is_in_one_group() {
        let all = Arguments::command();
        let mut there: Vec<&str> = all.get_subcommands().map(Command::get_name).collect();
        let entries = GROUPS.iter().flat_map(|group| group.commands);
        let mut listed: Vec<&str> = entries.map(|entry| entry.name).collect();
        there.sort_unstable();
        listed.sort_unstable();
        assert_eq!(there, listed);
    }

    #[test]
    fn every_example_can_be_typed() {
        let entries = GROUPS.iter().flat_map(|group| group.commands);
        for (line, _) in entries.flat_map(|entry| entry.examples) {
            let parsed = command().try_get_matches_from(words(line));
            assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
        }
    }

    #[test]
    fn a_command_lists_the_formats_that_it_takes() {
        let help = |name: &str| {
            let mut all = command();
            all.build();
            let sub = all.find_subcommand_mut(name).expect("a command");
            sub.render_help().to_string()
        };
        assert!(
            help("check").contains("[possible values: text, json]"),
            "{}",
            help("check")
        );
        assert!(help("report").contains("sarif"), "{}", help("report"));
    }
}
