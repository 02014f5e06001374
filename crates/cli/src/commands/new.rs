//! `ioco new`: a project in which the first `ioco test` finds a planted bug.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::args;
use ioco_campaign::{Answer, Exit, Stop};

const FILES: [(&str, &str); 4] = [
    ("ioco.toml", include_str!("../../templates/door/ioco.toml")),
    ("door.aml", include_str!("../../templates/door/door.aml")),
    ("door.py", include_str!("../../templates/door/door.py")),
    ("README.md", include_str!("../../templates/door/README.md")),
];

pub fn run(arguments: &args::New) -> Answer {
    let folder = arguments.name.as_path();
    if folder.exists() && fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_some())
    {
        return Err(Stop::usage(format!(
            "{} exists already and is not an empty folder",
            folder.display()
        ))
        .hint("choose another name; nothing was written"));
    }
    let failed = |path: &Path, error: std::io::Error| {
        Stop::usage(format!("cannot write {}: {error}", path.display()))
    };
    fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    for (name, text) in FILES {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| failed(&path, error))?;
    }
    eprintln!(
        "made {}: a model, a system with a planted bug, and ioco.toml",
        folder.display()
    );
    if !has_python() {
        eprintln!("note: the example system needs python3, which is not on the search path here");
    }
    eprintln!("now:  cd {} && ioco test", folder.display());
    Ok(Exit::Conforms)
}

fn has_python() -> bool {
    Command::new("python3")
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
