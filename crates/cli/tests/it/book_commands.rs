//! Every command of the book and of the README is run, or said to be run by a test that is named. A command that is
//! not in the list fails the test, and so does an entry of the list that stands in no chapter.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value as Json;

use crate::support::{Ran, TempDir, folder, ioco, root, run, state};

/// What is done with a command.
#[derive(Clone, Copy)]
enum Plan {
    /// In the project of `ioco new door`, with two runs and a failure; the exit code that it ends with.
    Door(i32),
    /// In a folder with the examples and small models.
    Files(i32),
    /// It waits for others, needs a server or takes long: this test runs it.
    Test(&'static str),
    /// It needs a public system of this name, which `cargo xtask real` installs and tests.
    Installed(&'static str),
    /// Not a command line but a list of commands, with words like MODEL for what is typed.
    Overview,
}
use Plan::{Door, Files, Installed, Overview, Test};

/// Chapter, beginning of the command, and what is done with it. The first entry that fits counts.
const PLANS: &[(&str, &str, Plan)] = &[
    (
        "README.md",
        "ioco new door && cd door && ioco test",
        Files(1),
    ),
    (
        "README.md",
        "ioco test --jobs 8",
        Test("the_readme_as_printed"),
    ),
    ("README.md", "ioco nats", Test("the_readme_as_printed")),
    ("README.md", "ioco worker", Test("the_readme_as_printed")),
    (
        "README.md",
        "ioco campaign start",
        Test("the_readme_as_printed"),
    ),
    ("README.md", "ioco ", Overview),
    ("auto.md", "ioco test", Door(1)),
    ("campaigns.md", "ioco test --jobs 4", Door(1)),
    (
        "campaigns.md",
        "ioco test --seed 42 --tests 800 --shard",
        Test("shards_share_out_the_tests_of_a_campaign"),
    ),
    (
        "campaigns.md",
        "ioco merge",
        Test("merging_shards_gives_one_run"),
    ),
    ("campaigns.md", "ioco replay", Door(1)),
    ("campaigns.md", "ioco shrink", Door(1)),
    ("campaigns.md", "ioco nats", Test("one_machine_as_printed")),
    (
        "campaigns.md",
        "ioco worker --jobs 4",
        Test("one_machine_as_printed"),
    ),
    (
        "campaigns.md",
        "ioco campaign start --tests 1000",
        Test("one_machine_as_printed"),
    ),
    (
        "campaigns.md",
        "ioco campaign repeat",
        Test("an_order_is_repeated_from_the_store"),
    ),
    (
        "campaigns.md",
        "ioco worker --nats",
        Test("the_files_of_deploy_as_printed"),
    ),
    (
        "campaigns.md",
        "ioco campaign start --nats",
        Test("the_files_of_deploy_as_printed"),
    ),
    (
        "campaigns.md",
        "deploy/certificates.sh",
        Test("the_files_of_deploy_as_printed"),
    ),
    (
        "campaigns.md",
        "nats-server -c deploy/nats.conf",
        Test("the_files_of_deploy_as_printed"),
    ),
    (
        "campaigns.md",
        "../deploy/certificates.sh",
        Test("two_machines_as_printed"),
    ),
    (
        "campaigns.md",
        "nats-server -c nats.conf",
        Test("two_machines_as_printed"),
    ),
    ("comparing.md", "ioco compare SPECIFICATION", Overview),
    ("comparing.md", "ioco compare mosquitto.dot", Files(1)),
    ("complete-suites.md", "ioco generate", Files(0)),
    ("complete-suites.md", "ioco test lock.dot", Files(0)),
    (
        "connecting.md",
        "ioco test lock.aml",
        Test("the_adapter_in_the_book"),
    ),
    (
        "connecting.md",
        "ioco test door.aml --amp",
        Test("the_right_door_passes_also"),
    ),
    // One message in twenty gets lost: confirming runs do not show it again.
    (
        "connecting.md",
        "ioco test door.aml --sut 'ioco simulate door.aml --fault",
        Door(5),
    ),
    (
        "connecting.md",
        "ioco test door.aml --sut 'ioco simulate door.aml'",
        Door(0),
    ),
    (
        "connecting.md",
        "ioco connect",
        Test("stimuli_are_given_by_hand"),
    ),
    (
        "connecting.md",
        "ioco record",
        Test("traffic_is_recorded_and_judged_from_the_book"),
    ),
    (
        "connecting.md",
        "ioco check --trace",
        Test("traffic_is_recorded_and_judged_from_the_book"),
    ),
    (
        "connecting.md",
        "ioco test",
        Test("the_example_over_http_runs_from_the_book"),
    ),
    ("first-project.md", "ioco test", Door(1)),
    ("first-project.md", "ioco replay", Door(1)),
    ("first-project.md", "ioco ", Door(0)),
    (
        "generation.md",
        "ioco test examples/smartdoor --suite",
        Files(0),
    ),
    (
        "generation.md",
        "ioco generate examples/calculator --cover switches",
        Files(0),
    ),
    ("generation.md", "ioco generate", Files(0)),
    ("install.md", "ioco doctor", Door(0)),
    ("nusmv.md", "ioco test tests.aml", Files(0)),
    ("nusmv.md", "ioco ", Files(0)),
    ("other-tools.md", "ioco ", Files(0)),
    ("page.md", "ioco new door", Door(0)),
    (
        "page.md",
        "ioco serve",
        Test("a_new_project_is_served_until_it_is_interrupted"),
    ),
    ("page.md", "ioco report", Door(0)),
    (
        "real-broker.md",
        "ioco test --profile amqtt",
        Installed("amqtt"),
    ),
    (
        "real-broker.md",
        "ioco ",
        Test("a_real_broker_is_tested_as_the_chapter_says"),
    ),
    (
        "reports.md",
        "ioco test --store",
        Test("a_team_keeps_its_runs_in_one_database"),
    ),
    ("reports.md", "ioco test", Door(1)),
    ("reports.md", "ioco ", Door(0)),
    ("silence.md", "ioco test --silence", Door(1)),
    ("testing.md", "ioco test [MODEL]", Overview),
    (
        "testing.md",
        "ioco test --watch",
        Test("a_changed_system_a_wrong_model"),
    ),
    (
        "your-system.md",
        "ioco ",
        Test("your_own_system_is_tested_as_the_chapter_says"),
    ),
];

/// A model for `lock.dot`, `vending.aml` and the like: what the chapters write about, in a few lines.
const FILES: &[(&str, &str)] = &[
    (
        "lock.dot",
        "digraph { __start0 -> s0; s0 -> s1 [label=\"close / ok\"]; s0 -> s0 [label=\"open / no\"]; s1 -> s0 [label=\"open / ok\"]; s1 -> s1 [label=\"close / no\"]; }\n",
    ),
    (
        "mosquitto.dot",
        "digraph { __start0 -> s0; s0 -> s1 [label=\"connect / connack\"]; s1 -> s1 [label=\"connect / closed\"]; }\n",
    ),
    (
        "hbmqtt.dot",
        "digraph { __start0 -> s0; s0 -> s1 [label=\"connect / connack\"]; s1 -> s1 [label=\"connect / connack\"]; }\n",
    ),
    (
        "abp.aut",
        "des (0, 2, 2)\n(0, \"r1(d1)\", 1)\n(1, \"s4(d1)\", 0)\n",
    ),
    (
        "vending.aml",
        "external 'machine'\nprocess('machine') {\n  channel('machine') { stimuli 'button'; responses 'tea', 'coffee' }\n  state 'Idle'\n  repeat { o { receive 'button'; choice { o { send 'tea' }; o { send 'coffee' } } } }\n}\n",
    ),
    (
        "door.aml",
        "external 'door'\nprocess('door') {\n  channel('door') { stimulus 'open', {'code' => integer(1..3)}; responses 'opened' }\n  repeat { o { receive 'open'; send 'opened' } }\n}\n",
    ),
    (
        "lock.py",
        "import json, sys\nclosed = False\nfor line in sys.stdin:\n    message = json.loads(line)\n    if message.get('reset'):\n        closed = False\n        print(json.dumps({'ready': True}), flush=True)\n        continue\n    want = message['stimulus'] == 'close'\n    answer = 'no' if want == closed else 'ok'\n    closed = want\n    print(json.dumps({'response': answer}), flush=True)\n",
    ),
];

/// Whether a line begins with a program of the project, or of its `deploy` folder.
fn is_command(line: &str) -> bool {
    let program = line.split_whitespace().next().unwrap_or_default();
    let is_script = program.trim_start_matches("../").starts_with("deploy/");
    let is_known = ["ioco", "nats-server"].contains(&program) || line.starts_with("cargo xtask");
    (is_known || is_script) && !line.contains("::")
}

/// The command lines of a chapter: in blocks of their own, with or without a prompt, without the words beside them.
pub fn commands(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in text.lines() {
        let Some(line) = line.strip_prefix("    ").or(line.strip_prefix("$ ")) else {
            goes_on = false;
            continue;
        };
        let line = line
            .split("  ")
            .next()
            .filter(|_| !goes_on)
            .unwrap_or(line.trim());
        let line = line.split(" #").next().unwrap_or(line).trim_end();
        let (piece, more) = match line.strip_suffix('\\') {
            Some(piece) => (piece.trim_end(), true),
            None => (line, false),
        };
        match found.last_mut() {
            Some(last) if goes_on => *last = format!("{last} {piece}"),
            _ if is_command(piece) => found.push(piece.to_owned()),
            _ => continue,
        }
        goes_on = more;
    }
    found
}

struct Stage {
    here: TempDir,
    id: String,
}

impl Stage {
    /// A project with two runs and a failure.
    fn door() -> Stage {
        let here = folder();
        assert_eq!(
            run(ioco().current_dir(here.path()).args(["new", "door"])).code,
            0
        );
        let place = here.path().join("door");
        for seed in ["1", "2"] {
            let ran = run(ioco().current_dir(&place).args(["test", "--seed", seed]));
            assert_eq!(ran.code, 1, "{}", ran.all());
        }
        let listed = run(ioco()
            .current_dir(&place)
            .args(["failures", "--format", "json"]));
        let first: Json =
            serde_json::from_str(listed.out.lines().next().expect("a failure")).expect("JSON");
        let id = first["id"].as_str().expect("an id").to_owned();
        Stage { here, id }
    }

    fn files() -> Stage {
        let here = folder();
        std::os::unix::fs::symlink(root().join("examples"), here.path().join("examples"))
            .expect("linked");
        fs::create_dir_all(here.path().join("book/src")).expect("made");
        for (name, text) in FILES {
            fs::write(here.path().join(name), text).expect("written");
        }
        let chapter =
            fs::read_to_string(root().join("book/src/generation.md")).expect("the chapter");
        let (_, rest) = chapter
            .split_once("in the file `door.query`:\n\n")
            .expect("the query");
        let lines = rest.lines().map_while(|line| line.strip_prefix("    "));
        let query: String = lines.map(|line| format!("{line}\n")).collect();
        fs::write(here.path().join("door.query"), query).expect("written");
        Stage {
            here,
            id: String::new(),
        }
    }

    /// Runs a command as a shell does, with the failure and the runs that there are.
    fn run(&self, command: &str, system: &str) -> Ran {
        let at = match self.id.is_empty() {
            true => self.here.path().to_owned(),
            false => self.here.path().join("door"),
        };
        let mut line = command.replace("COMMAND", &format!("'{system}'"));
        for id in ["59130852", "7ed75b09", "f9f3"] {
            line = line.replace(id, &self.id);
        }
        for (printed, there) in [
            ("show 12", "show 2"),
            ("compare 11 12", "compare 1 2"),
            ("report 12", "report 2"),
        ] {
            line = line.replace(printed, there);
        }
        let programs = Path::new(env!("CARGO_BIN_EXE_ioco"))
            .parent()
            .expect("a folder");
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let paths = std::iter::once(programs.to_owned()).chain(std::env::split_paths(&paths));
        run(Command::new("bash")
            .args(["-c", &line])
            .current_dir(at)
            .env("PATH", std::env::join_paths(paths).expect("paths"))
            .env("XDG_STATE_HOME", state())
            .env("NO_COLOR", "1"))
    }
}

/// The chapters with their texts, the README among them.
fn chapters() -> Vec<(String, String)> {
    let mut files = vec![root().join("README.md")];
    let book = fs::read_dir(root().join("book/src")).expect("the book");
    files.extend(book.map(|entry| entry.expect("an entry").path()));
    files.sort();
    files
        .into_iter()
        .filter(|file| file.extension().is_some_and(|ending| ending == "md"))
        .map(|file| {
            let name = file
                .file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            (name, fs::read_to_string(&file).expect("a chapter"))
        })
        .collect()
}

#[test]
fn every_command_of_the_book_does_what_the_book_says() {
    let mut unused: Vec<usize> = (0..PLANS.len()).collect();
    let mut wrong = Vec::new();
    let mut ran_commands = 0;
    let tasks = Tasks::read();
    for (chapter, text) in chapters() {
        let (mut door, mut files) = (None, None);
        for command in commands(&text) {
            if let Some(words) = command.strip_prefix("cargo xtask ") {
                wrong.extend(wrong_task(words, &tasks).map(|why| format!("{chapter}: {why}")));
                continue;
            }
            let fits = |(of, begins, _): &(&str, &str, Plan)| {
                *of == chapter && command.starts_with(begins)
            };
            let Some(position) = PLANS.iter().position(fits) else {
                wrong.push(format!("{chapter}: nothing is said about: {command}"));
                continue;
            };
            unused.retain(|other| *other != position);
            let (stage, code) = match PLANS[position].2 {
                Door(code) => (door.get_or_insert_with(Stage::door), code),
                Files(code) => (files.get_or_insert_with(Stage::files), code),
                Test(_) | Installed(_) | Overview => continue,
            };
            let ran = stage.run(&command, &system(&chapter));
            ran_commands += 1;
            if ran.code != code {
                wrong.push(format!("{chapter}: {command}\n{}", ran.all()));
            }
        }
    }
    for position in unused {
        let (chapter, begins, _) = PLANS[position];
        wrong.push(format!(
            "{chapter} has no command that begins with: {begins}"
        ));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(ran_commands > 40, "{ran_commands}");
}

/// The developers' commands, as their sources say.
struct Tasks {
    /// What `cargo xtask` prints.
    usage: String,
    /// What reads flags: xtask, and the examples and experiments that it starts.
    sources: String,
}

impl Tasks {
    fn read() -> Tasks {
        let main = fs::read_to_string(root().join("xtask/src/main.rs")).expect("the commands");
        let (_, usage) = main
            .split_once("const USAGE: &str = \"")
            .expect("the usage text");
        let (usage, _) = usage.split_once("\";").expect("its end");
        let mut sources = String::new();
        for folder in ["xtask/src", "crates"] {
            sources.push_str(&sources_below(folder));
        }
        Tasks {
            usage: usage.to_owned(),
            sources,
        }
    }
}

impl Tasks {
    /// Whether a source compares words with the flag, or declares it as an argument.
    fn reads(&self, flag: &str) -> bool {
        let field = flag.trim_start_matches('-').replace('-', "_");
        let is_declared = || {
            let arguments = self.sources.split("#[arg(").skip(1);
            let mut fields = arguments.filter_map(|after| after.split_once(")]\n"));
            fields.any(|(_, after)| {
                let after = after.trim_start().trim_start_matches("pub ");
                after.starts_with(&format!("{field}:"))
            })
        };
        let name = flag.trim_start_matches('-');
        let names = [format!("\"{flag}\""), format!("long = \"{name}\"")];
        names.iter().any(|name| self.sources.contains(name)) || is_declared()
    }
}

/// What is wrong with the words after `cargo xtask`.
fn wrong_task(words: &str, tasks: &Tasks) -> Option<String> {
    let words: Vec<&str> = words.split_whitespace().collect();
    let name = words.first()?;
    let mut listed = tasks
        .usage
        .lines()
        .filter_map(|line| line.strip_prefix("  "));
    if !listed.any(|line| line.split_whitespace().next() == Some(name) && !line.starts_with(' ')) {
        return Some(format!("cargo xtask lists no command {name}"));
    }
    let plain = |word: &&str| word.trim_matches(['[', ']']).to_owned();
    let mut flags = words
        .iter()
        .map(plain)
        .filter(|word| word.starts_with("--"));
    let unknown = flags.find(|flag| !tasks.reads(flag));
    unknown.map(|flag| format!("nothing of cargo xtask {name} reads {flag}"))
}

#[test]
fn the_developers_commands_that_are_mentioned_exist() {
    let tasks = Tasks::read();
    let mut texts = chapters();
    for name in ["CONTRIBUTING.md", "ARCHITECTURE.md"] {
        let text = fs::read_to_string(root().join(name)).expect("a text");
        texts.push((name.to_owned(), text));
    }
    let mut mentioned = 0;
    for (file, text) in texts {
        // In running text, between back quotes: it may go over the end of a line.
        for after in text.split("`cargo xtask ").skip(1) {
            let words = after.split('`').next().unwrap_or_default();
            let wrong = wrong_task(words, &tasks);
            assert!(wrong.is_none(), "{file}: {wrong:?}");
            mentioned += 1;
        }
    }
    assert!(mentioned > 20, "{mentioned}");
    assert!(wrong_task("tset", &tasks).is_some());
    assert!(wrong_task("bench jobs --clocks real", &tasks).is_some());
    assert!(wrong_task("bench jobs --clock real", &tasks).is_none());
}

/// What `COMMAND` stands for in a chapter.
fn system(chapter: &str) -> String {
    match chapter {
        "complete-suites.md" => "python3 lock.py".to_owned(),
        _ => format!("{} smartdoor", crate::support::example_program().display()),
    }
}

/// The text of all Rust files below a folder.
fn sources_below(folder: &str) -> String {
    let mut sources = String::new();
    let mut open = vec![root().join(folder)];
    while let Some(place) = open.pop() {
        for entry in fs::read_dir(place).expect("a folder").flatten() {
            match entry.path() {
                path if path.is_dir() && !path.ends_with("target") => open.push(path),
                path if path.extension().is_some_and(|ending| ending == "rs") => {
                    sources.push_str(&fs::read_to_string(path).expect("a source"));
                }
                _ => {}
            }
        }
    }
    sources
}

#[test]
fn tests_that_are_named_for_commands_exist() {
    let sources = sources_below("crates") + &sources_below("xtask/src");
    let installed = fs::read_to_string(root().join("xtask/src/real/systems.rs")).expect("systems");
    for (_, command, plan) in PLANS {
        if let Test(name) = plan {
            let is_there = sources.contains(&format!("fn {name}"));
            assert!(is_there, "{command}: there is no test {name}");
        }
        if let Installed(name) = plan {
            let is_there = installed.contains(&format!("\"{name}\""));
            assert!(is_there, "{command}: `cargo xtask real` has no {name}");
        }
    }
}

#[test]
fn the_first_failure_in_the_book_is_the_one_that_a_reader_sees() {
    let here = folder();
    assert_eq!(
        run(ioco().current_dir(here.path()).args(["new", "door"])).code,
        0
    );
    let ran = run(ioco().current_dir(here.path().join("door")).arg("test"));
    assert_eq!(ran.code, 1, "{}", ran.all());
    let chapter =
        fs::read_to_string(root().join("book/src/first-project.md")).expect("the chapter");
    let (_, shown) = chapter
        .split_once("finds the bug:\n\n")
        .expect("the failure");
    let shown = shown
        .lines()
        .take_while(|line| line.is_empty() || line.starts_with("    "));
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let said: Vec<String> = ran.out.lines().map(plain).collect();
    let mut lines = 0;
    for line in shown.map(plain).filter(|line| !line.is_empty()) {
        assert!(said.contains(&line), "{line}\n{}", ran.all());
        lines += 1;
    }
    assert!(lines > 10, "{lines}");
    let (_, id) = chapter.split_once("ioco replay ").expect("the replay");
    let id = id.split_whitespace().next().expect("an id");
    assert!(
        ran.out.contains(&format!("ioco replay {id}")),
        "{}",
        ran.all()
    );
}
