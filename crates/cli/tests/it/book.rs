//! The commands of the book about connections, run as they are printed, and its pictures.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use serde_json::Value as Json;

use crate::support::{Ran, TempDir, folder, ioco, root, run, state};

fn chapter() -> String {
    std::fs::read_to_string(root().join("book/src/connecting.md")).expect("the chapter")
}

/// The text under a heading, up to the next one.
fn section<'c>(chapter: &'c str, heading: &str) -> &'c str {
    let (_, rest) = chapter.split_once(heading).expect("the heading is there");
    rest.split_once("\n#").map_or(rest, |(section, _)| section)
}

/// The commands of a section: its indented lines from the first `cd` on.
fn commands(section: &str) -> Vec<String> {
    let indented = section.lines().filter_map(|line| line.strip_prefix("    "));
    let commands = indented.skip_while(|line| !line.starts_with("cd "));
    commands.map(str::to_owned).collect()
}

fn free_port() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener
        .local_addr()
        .expect("an address")
        .port()
        .to_string()
}

/// A copy of the examples, in which files may be written.
fn examples() -> TempDir {
    let here = folder();
    for example in ["http", "tcp"] {
        let to = here.path().join("examples").join(example);
        std::fs::create_dir_all(&to).expect("made");
        let from = std::fs::read_dir(root().join("examples").join(example)).expect("an example");
        for file in from.flatten().filter(|file| file.path().is_file()) {
            std::fs::copy(file.path(), to.join(file.file_name())).expect("copied");
        }
    }
    here
}

/// Runs the commands of a section, with ports that are free in place of `ports`, also in the
/// project file. `with` is put after every program that a section starts in the background.
fn run_section(heading: &str, ports: &[&str], with: &str) -> Ran {
    let here = examples();
    let mut script = String::from("trap 'kill $(jobs -p) 2>/dev/null' EXIT\n");
    let chapter = chapter();
    let commands = commands(section(&chapter, heading));
    assert!(commands.len() > 2, "{heading}: {commands:?}");
    for command in &commands {
        match command.strip_suffix(" &") {
            // A person types slower than a program starts.
            Some(program) => {
                script.push_str(&format!("{program} {with} &\n"));
                let digits = |word: &str| word.chars().all(|c| c.is_ascii_digit());
                let port = |word: &&str| word.len() == 4 && digits(word);
                let words = program.split([' ', ':']).filter(port);
                for port in words.filter(|word| program.contains("--listen") == (*word == "9000")) {
                    script.push_str(&format!(
                        "until (exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null; do sleep 0.05; done\n"
                    ));
                }
            }
            None => script.push_str(&format!("{command}\n")),
        }
    }
    for port in ports {
        let free = free_port();
        script = script.replace(port, &free);
        for example in ["http", "tcp"] {
            let file = here.path().join("examples").join(example).join("ioco.toml");
            let text = std::fs::read_to_string(&file).expect("read");
            std::fs::write(&file, text.replace(port, &free)).expect("written");
        }
    }
    let programs = Path::new(env!("CARGO_BIN_EXE_ioco"))
        .parent()
        .expect("a folder");
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(programs.to_owned()).chain(std::env::split_paths(&paths));
    run(Command::new("bash")
        .env("XDG_STATE_HOME", state())
        .current_dir(here.path())
        .env("PATH", std::env::join_paths(paths).expect("paths"))
        .env("NO_COLOR", "1")
        .args(["-c", &script]))
}

#[test]
fn the_example_over_tcp_runs_from_the_book() {
    let right = run_section("### Messages of your own", &["7001", "7002"], "");
    assert_eq!(right.code, 0, "{}", right.all());
    assert!(right.out.contains("PASS"), "{}", right.all());
    let wrong = run_section("### Messages of your own", &["7001", "7002"], "--bug");
    assert_eq!(wrong.code, 1, "{}", wrong.all());
}

#[test]
fn the_example_over_http_runs_from_the_book() {
    let right = run_section("## Over HTTP", &["8000"], "");
    assert_eq!(right.code, 0, "{}", right.all());
    assert!(right.out.contains("PASS"), "{}", right.all());
    let wrong = run_section("## Over HTTP", &["8000"], "--bug");
    assert_eq!(wrong.code, 1, "{}", wrong.all());
}

#[test]
fn traffic_is_recorded_and_judged_from_the_book() {
    if Command::new("curl").arg("--version").output().is_err() {
        eprintln!("skipped: curl is not here");
        return;
    }
    let ran = run_section("## Recorded traffic", &["8000", "9000"], "");
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.out.contains("1 trace (1 conform"), "{}", ran.all());
}

#[test]
fn the_settings_in_the_book_are_those_of_the_examples() {
    let chapter = chapter();
    for (heading, example) in [
        ("### Messages of your own", "tcp"),
        ("## Over HTTP", "http"),
    ] {
        let (_, rest) = section(&chapter, heading)
            .split_once("```toml\n")
            .expect("settings");
        let (shown, _) = rest.split_once("```").expect("their end");
        let file = root().join("examples").join(example).join("ioco.toml");
        let file = std::fs::read_to_string(file).expect("read");
        let plain = |line: &str| -> String {
            line.split(" #")
                .next()
                .unwrap_or_default()
                .trim()
                .to_owned()
        };
        let there: Vec<String> = file.lines().map(plain).collect();
        for line in shown.lines().map(plain).filter(|line| !line.is_empty()) {
            assert!(there.contains(&line), "{example} has no line {line}");
        }
    }
}

#[test]
fn the_pictures_of_the_glossary_are_drawn_from_its_models() {
    let book = root().join("book/src");
    let glossary = std::fs::read_to_string(book.join("glossary.md")).expect("the chapter");
    let here = folder();
    let models: Vec<&str> = (glossary.split("```aml\n").skip(1))
        .map(|rest| rest.split_once("```").expect("the end of a model").0)
        .collect();
    let pictures: Vec<&str> = (glossary.split("](images/").skip(1))
        .map(|rest| rest.split_once(')').expect("the name of a file").0)
        .collect();
    assert_eq!((models.len(), pictures.len()), (7, 7));
    for (number, (model, picture)) in models.iter().zip(pictures).enumerate() {
        std::fs::write(here.path().join("model.aml"), model).expect("written");
        std::fs::write(here.path().join(format!("{number}.aml")), model).expect("written");
        let ran =
            run(ioco()
                .current_dir(here.path())
                .args(["convert", "model.aml", "-o", "drawn.svg"]));
        assert_eq!(ran.code, 0, "{}", ran.all());
        let drawn = std::fs::read_to_string(here.path().join("drawn.svg")).expect("a picture");
        let shown = std::fs::read_to_string(book.join("images").join(picture)).expect("a picture");
        assert!(drawn == shown, "{picture} is not what ioco draws now");
    }
    for (model, system, relation, code) in [
        ("2.aml", "3.aml", "ioco", 0),
        ("2.aml", "4.aml", "ioco", 1),
        ("5.aml", "6.aml", "ioco", 1),
        ("5.aml", "6.aml", "uioco", 0),
    ] {
        let compared = run(ioco().current_dir(here.path()).args([
            "compare",
            model,
            system,
            "--relation",
            relation,
        ]));
        assert_eq!(compared.code, code, "{}", compared.all());
    }
}

/// Whether what is shown has the keys and the kinds of values of what is there.
fn has_shape(shown: &Json, there: &Json) -> bool {
    match (shown, there) {
        (Json::Object(shown), Json::Object(there)) => {
            let same = |(key, one): (&String, &Json)| {
                there.get(key).is_some_and(|other| has_shape(one, other))
            };
            shown.len() == there.len() && shown.iter().all(same)
        }
        (Json::Array(shown), Json::Array(there)) => {
            shown.len() == there.len() && shown.iter().zip(there).all(|(a, b)| has_shape(a, b))
        }
        _ => std::mem::discriminant(shown) == std::mem::discriminant(there),
    }
}

#[test]
fn the_sarif_result_of_the_book_is_like_one_that_ioco_writes() {
    let chapter = std::fs::read_to_string(root().join("book/src/ci.md")).expect("the chapter");
    let (_, rest) = chapter.split_once("```json\n").expect("a result");
    let (shown, _) = rest.split_once("```").expect("its end");
    let shown: Json = serde_json::from_str(shown).expect("JSON");
    let here = folder();
    let ask =
        |folder: &Path, arguments: &[&str]| run(ioco().current_dir(folder).args(arguments)).out;
    ask(here.path(), &["new", "door"]);
    let door = here.path().join("door");
    ask(&door, &["test", "--seed", "1"]);
    let report: Json =
        serde_json::from_str(&ask(&door, &["report", "--format", "sarif"])).expect("JSON");
    let run = &report["runs"][0];
    let mut result = run["results"][0].clone();
    let flows = result
        .as_object_mut()
        .and_then(|one| one.remove("codeFlows"));
    assert!(flows.is_some(), "{result}");
    assert!(has_shape(&shown, &result), "{result:#}");
    let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
    assert!(rules.iter().any(|rule| rule["id"] == shown["ruleId"]));
}
