//! The two chapters that lead a reader to a system of their own, followed from an empty folder: the files are those of
//! the book, and so are the steps.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{Ran, folder, ioco, root, run};

/// The blocks of a chapter in one language, in their order.
fn blocks(chapter: &str, language: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join("book/src").join(chapter)).expect("the chapter");
    let begin = format!("```{language}\n");
    let pieces = text.split(begin.as_str()).skip(1);
    pieces
        .map(|piece| {
            let (block, _) = piece.split_once("\n```").expect("the end of a block");
            format!("{block}\n")
        })
        .collect()
}

fn at(place: &Path, arguments: &[&str]) -> Ran {
    run(ioco().current_dir(place).args(arguments))
}

#[test]
fn your_own_system_is_tested_as_the_chapter_says() {
    let here = folder();
    let write = |name: &str, text: &str| fs::write(here.path().join(name), text).expect("written");
    let server = blocks("your-system.md", "python").remove(0);
    // A busy machine takes long to start a server.
    let settings = blocks("your-system.md", "toml").remove(0);
    let settings = settings.replace("[sut]\n", "[sut]\nready_within = \"120s\"\n");
    let models = blocks("your-system.md", "aml");
    write("server.py", &server);
    write("ioco.toml", &settings);
    write("model.aml", &models[0]);
    let given = at(here.path(), &["connect", "--give", "create title=a"]);
    assert_eq!(given.code, 0, "{}", given.all());
    assert!(given.out.contains("!created(id=1)"), "{}", given.all());
    let first = at(here.path(), &["test", "--tests", "2", "--steps", "10"]);
    assert_eq!(first.code, 0, "{}", first.all());

    write("model.aml", &models[1]);
    let settings = settings
        .replace(
            "[http.stimuli]\n",
            "[http.stimuli]\nremove = { method = \"DELETE\", path = \"/posts/{id}\" }\n",
        )
        .replace(
            "[http.responses]\n",
            "[http.responses]\nremoved = { to = \"remove\", status = 200 }\n",
        );
    write("ioco.toml", &settings);
    // Each test starts a server: the long way to the shortest trace is for readers. This trace leads to the same place
    // with other identifiers.
    let second = at(
        here.path(),
        &[
            "test",
            "--strategy",
            "random",
            "--seed",
            "1",
            "--steps",
            "30",
            "--no-shrink",
        ],
    );
    assert_eq!(second.code, 1, "{}", second.all());
    for part in ["D003 wrong value", "◄──✗─ !created(id="] {
        assert!(second.out.contains(part), "{part}: {}", second.all());
    }

    // Identifiers that are counted, not posts.
    let fixed = server
        .replace("posts = {}\n", "posts = {}\nlast = 0\n")
        .replace(
            "        number = len(posts) + 1\n",
            "        global last\n        last = number = last + 1\n",
        );
    assert_ne!(fixed, server);
    write("server.py", &fixed);
    let kept = fs::read_dir(here.path().join(".ioco/failures")).expect("failures");
    let kept = kept.flatten().next().expect("a failure").path();
    let id = kept.file_stem().expect("a name").to_string_lossy();
    let replayed = at(here.path(), &["replay", &id]);
    assert_eq!(replayed.code, 0, "{}", replayed.all());
    assert!(replayed.out.contains("fixed"), "{}", replayed.all());
    let last = at(
        here.path(),
        &[
            "test",
            "--tests",
            "2",
            "--steps",
            "20",
            "--failures",
            "0",
            "--strategy",
            "random",
            "--seed",
            "1",
        ],
    );
    assert_eq!(last.code, 0, "{}", last.all());

    write("chat.aml", &models[2]);
    let chat = at(here.path(), &["check", "chat.aml"]);
    assert_eq!(chat.code, 0, "{}", chat.all());
}

/// Debian puts the broker where the search path of a user does not look.
fn mosquitto() -> Option<&'static str> {
    let there = |program: &&str| Command::new(program).arg("-h").output().is_ok();
    ["mosquitto", "/usr/sbin/mosquitto"].into_iter().find(there)
}

#[test]
fn a_real_broker_is_tested_as_the_chapter_says() {
    let Some(broker) = mosquitto() else {
        eprintln!("skipped: mosquitto is not here");
        return;
    };
    let here = folder();
    let write = |name: &str, text: &str| fs::write(here.path().join(name), text).expect("written");
    let settings = blocks("real-broker.md", "toml").remove(0);
    let settings = settings.replace("\"mosquitto -p", &format!("\"{broker} -p"));
    let model = blocks("real-broker.md", "aml").remove(0);
    write("ioco.toml", &settings);
    write("broker.aml", &model);
    assert_eq!(at(here.path(), &["check"]).code, 0);
    let given = at(
        here.path(),
        &["connect", "--give", "connect id=tester", "--give", "ping"],
    );
    assert_eq!(given.code, 0, "{}", given.all());
    // What the chapter prints, line by line.
    let printed = blocks("real-broker.md", "text").remove(0);
    for line in printed.lines().skip(1) {
        assert!(given.out.contains(line), "{line}: {}", given.all());
    }
    let tested = at(here.path(), &["test", "--tests", "2", "--steps", "20"]);
    assert_eq!(tested.code, 0, "{}", tested.all());

    let broken = model.replacen(
        "o { receive 'ping'; send 'pingresp' }",
        "o { receive 'ping'; send 'closed' }",
        1,
    );
    assert_ne!(broken, model);
    write("broker.aml", &broken);
    let failed = at(here.path(), &["test", "--seed", "1", "--no-shrink"]);
    assert_eq!(failed.code, 1, "{}", failed.all());
    for part in ["◄──✗─ !pingresp", "expected       !closed"] {
        assert!(failed.out.contains(part), "{part}: {}", failed.all());
    }
}
