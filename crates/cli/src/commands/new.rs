//! `ioco new`: a project in which the first `ioco test` finds a planted bug, or one made from an
//! OpenAPI description.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::args::{self, AdapterLanguage};
use crate::commands::openapi;
use crate::exit::{Answer, CommandError, Exit};

const SETTINGS: &str = include_str!("../../templates/door/ioco.toml");
const MODEL: (&str, &str) = ("door.aml", include_str!("../../templates/door/door.aml"));
const README: &str = include_str!("../../templates/door/README.md");

type Files = Vec<(String, String)>;

pub fn run(arguments: &args::New) -> Answer {
    let folder = arguments.name.as_path();
    let files = match &arguments.openapi {
        Some(description) => openapi::import(description, &arguments.limits.limits().budget())?,
        None => door(arguments.adapter),
    };
    if folder.exists() && fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_some())
    {
        return Err(CommandError::usage(format!(
            "{} exists already and is not an empty folder",
            folder.display()
        ))
        .hint("choose another name; ioco has written nothing"));
    }
    let failed = |path: &Path, error: std::io::Error| {
        CommandError::usage(format!("cannot write {}: {error}", path.display()))
    };
    fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    for (name, text) in files {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| failed(&path, error))?;
    }
    if arguments.openapi.is_some() {
        say!(
            "made {}: labels and a first model, to be refined, and ioco.toml",
            folder.display()
        );
        say!(
            "now:  cd {} && ioco check, start the system, ioco test",
            quoted(folder)
        );
        return Ok(Exit::Conforms);
    }
    say!(
        "made {}: a model, a system with a planted bug, and ioco.toml",
        folder.display()
    );
    let program = arguments
        .adapter
        .map_or("python3", AdapterLanguage::program);
    if !answers(program) {
        say!("note: the example system needs {program}, which is not on the search path here");
    }
    say!("now:  cd {} && ioco test", quoted(folder));
    Ok(Exit::Conforms)
}

/// A path as a shell reads it.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./+:@%,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// The door in the language that was asked for; plain Python where none was.
fn door(language: Option<AdapterLanguage>) -> Files {
    let (system, command, mut files) = match language {
        None => (
            "door.py",
            "\"python3\", \"door.py\"",
            vec![("door.py", include_str!("../../templates/door/door.py"))],
        ),
        Some(AdapterLanguage::Python) => (
            "door.py",
            "\"python3\", \"door.py\"",
            vec![
                ("door.py", include_str!("../../templates/adapters/door.py")),
                (
                    "ioco_adapter.py",
                    include_str!("../../templates/adapters/ioco_adapter.py"),
                ),
            ],
        ),
        Some(AdapterLanguage::Node) => (
            "door.mjs",
            "\"node\", \"door.mjs\"",
            vec![(
                "door.mjs",
                include_str!("../../templates/adapters/door.mjs"),
            )],
        ),
        Some(AdapterLanguage::Rust) => (
            "door.rs",
            "\"cargo\", \"run\", \"--quiet\"",
            vec![
                ("door.rs", include_str!("../../templates/adapters/door.rs")),
                (
                    "Cargo.toml",
                    include_str!("../../templates/adapters/Cargo.toml.txt"),
                ),
                (".gitignore", "target\n"),
            ],
        ),
    };
    files.push(MODEL);
    let mut files: Files = files
        .into_iter()
        .map(|(name, text)| (name.to_owned(), text.to_owned()))
        .collect();
    let mut settings = SETTINGS.replace("\"python3\", \"door.py\"", command);
    if language == Some(AdapterLanguage::Rust) {
        // The first start builds it.
        settings = settings.replace("\n[test]", "ready_within = \"60s\"\n\n[test]");
    }
    files.push(("ioco.toml".to_owned(), settings));
    files.push(("README.md".to_owned(), README.replace("door.py", system)));
    files
}

fn answers(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
