//! The description of the image, held to the workspace that it builds: no build of an image is needed to see that a file
//! it copies is not there, or that it builds with another Rust than the workspace asks for.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// One instruction with its words: comments and line ends are gone.
struct Instruction {
    name: String,
    words: Vec<String>,
}

/// What is built from one base.
struct Stage {
    name: Option<String>,
    base: String,
    instructions: Vec<Instruction>,
}

fn instructions(text: &str) -> Vec<Instruction> {
    let mut found = Vec::new();
    let mut open = String::new();
    for line in text
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'))
    {
        let (piece, goes_on) = match line.trim_end().strip_suffix('\\') {
            Some(piece) => (piece, true),
            None => (line, false),
        };
        open.push_str(piece);
        open.push(' ');
        if goes_on {
            continue;
        }
        let mut words = open.split_whitespace().map(str::to_owned);
        if let Some(name) = words.next() {
            let name = name.to_uppercase();
            let words = words.collect();
            found.push(Instruction { name, words });
        }
        open.clear();
    }
    found
}

fn stages(text: &str) -> Result<Vec<Stage>, String> {
    let mut stages: Vec<Stage> = Vec::new();
    for instruction in instructions(text) {
        let Instruction { name, words } = &instruction;
        if name == "FROM" {
            let (base, name) = match words.as_slice() {
                [base] => (base, None),
                [base, word, name] if word.eq_ignore_ascii_case("as") => (base, Some(name.clone())),
                _ => return Err(format!("FROM {}", words.join(" "))),
            };
            let base = base.clone();
            let instructions = Vec::new();
            stages.push(Stage {
                name,
                base,
                instructions,
            });
            continue;
        }
        let stage = stages.last_mut();
        let stage = stage.ok_or_else(|| format!("{name} stands before FROM"))?;
        stage.instructions.push(instruction);
    }
    Ok(stages)
}

/// A program that a stage builds.
struct Program {
    package: String,
    name: String,
    file: String,
}

impl Stage {
    /// The folder in which its instructions stand at the end.
    fn folder(&self) -> &str {
        let mut folders = self.instructions.iter().filter(|i| i.name == "WORKDIR");
        let last = folders.next_back().and_then(|folder| folder.words.first());
        last.map_or("/", String::as_str)
    }

    /// The programs that Cargo builds in it: package, name and file.
    fn programs(&self) -> Vec<Program> {
        let runs = self.instructions.iter().filter(|i| i.name == "RUN");
        let builds = runs.filter(|run| {
            run.words
                .starts_with(&["cargo".to_owned(), "build".to_owned()])
        });
        builds
            .filter_map(|build| {
                let after = |flag: &str| {
                    let at = build.words.iter().position(|word| word == flag)?;
                    build.words.get(at + 1).cloned()
                };
                let profile = match build.words.iter().any(|word| word == "--release") {
                    true => "release",
                    false => "debug",
                };
                let name = after("--bin")?;
                Some(Program {
                    package: after("--package")?,
                    file: format!("{}/target/{profile}/{name}", self.folder()),
                    name,
                })
            })
            .collect()
    }
}

/// What of the workspace the description has to fit.
struct Workspace {
    root: PathBuf,
    /// The Rust that it asks for: `1.95`.
    rust: String,
    /// Its packages, with their programs.
    packages: BTreeMap<String, Vec<String>>,
}

impl Workspace {
    fn read() -> Workspace {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let manifest = |folder: &Path| -> toml::Table {
            let text = fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
            text.parse().expect("TOML")
        };
        let package = |entry: fs::DirEntry| {
            let manifest = manifest(&entry.path());
            let name = |table: &toml::Value| table["name"].as_str().expect("a name").to_owned();
            let programs = manifest.get("bin").and_then(toml::Value::as_array);
            let programs = programs.map_or(Vec::new(), |all| all.iter().map(name).collect());
            (name(&manifest["package"]), programs)
        };
        let crates = fs::read_dir(root.join("crates")).expect("crates");
        let rust = &manifest(&root)["workspace"]["package"]["rust-version"];
        Workspace {
            rust: rust.as_str().expect("a version").to_owned(),
            packages: crates
                .map(|entry| package(entry.expect("a crate")))
                .collect(),
            root,
        }
    }
}

/// Why the description does not fit the workspace.
fn check(text: &str, workspace: &Workspace) -> Result<(), String> {
    let stages = stages(text)?;
    let mut installed: Vec<&str> = Vec::new();
    for (position, stage) in stages.iter().enumerate() {
        let image = stage.base.rsplit('/').next().unwrap_or_default();
        if let Some(version) = image.strip_prefix("rust:") {
            let version = version.split('-').next().unwrap_or_default();
            if version != workspace.rust {
                return Err(format!(
                    "{}: the workspace asks for Rust {}",
                    stage.base, workspace.rust
                ));
            }
        }
        for Program { package, name, .. } in stage.programs() {
            let programs = workspace.packages.get(&package);
            if !programs.is_some_and(|programs| programs.contains(&name)) {
                return Err(format!("cargo build: {package} has no program {name}"));
            }
        }
        for copy in stage.instructions.iter().filter(|i| i.name == "COPY") {
            let (flags, paths): (Vec<&String>, Vec<&String>) =
                copy.words.iter().partition(|word| word.starts_with("--"));
            let Some((to, from)) = paths.split_last() else {
                return Err("COPY without paths".to_owned());
            };
            let earlier = flags.iter().find_map(|flag| flag.strip_prefix("--from="));
            let Some(earlier) = earlier else {
                match from.iter().find(|path| !workspace.root.join(path).exists()) {
                    Some(missing) => return Err(format!("COPY {missing}: it is not there")),
                    None => continue,
                }
            };
            let source = stages[..position]
                .iter()
                .find(|stage| stage.name.as_deref() == Some(earlier));
            let source = source.ok_or_else(|| {
                format!("COPY --from={earlier}: there is no such stage before it")
            })?;
            let programs = source.programs();
            for path in from {
                if !programs.iter().any(|program| program.file == **path) {
                    return Err(format!(
                        "COPY --from={earlier} {path}: that stage does not build it"
                    ));
                }
            }
            installed.push(to.rsplit('/').next().unwrap_or_default());
        }
    }
    let last = stages.last().ok_or("no stage")?;
    let entry = last.instructions.iter().find(|i| i.name == "ENTRYPOINT");
    let entry = entry.ok_or("the image has no ENTRYPOINT")?.words.join(" ");
    let starts = |program: &&str| entry.starts_with(&format!("[\"{program}\""));
    if !installed.iter().any(starts) {
        return Err(format!("ENTRYPOINT {entry}: the image has no such program"));
    }
    let user = last
        .instructions
        .iter()
        .any(|i| i.name == "USER" && i.words != ["root"]);
    match user {
        true => Ok(()),
        false => Err("the image runs as root".to_owned()),
    }
}

#[test]
fn the_image_builds_what_the_workspace_has_and_copies_what_is_there() {
    let workspace = Workspace::read();
    let text = fs::read_to_string(workspace.root.join("Containerfile")).expect("the file");
    assert_eq!(check(&text, &workspace), Ok(()));
    let rust = format!("rust:{}", workspace.rust);
    let changes = [
        (rust.as_str(), "rust:1.70"),
        ("COPY LICENSE-MIT", "COPY LICENCE-MIT"),
        ("COPY --from=build", "COPY --from=builder"),
        ("/source/target/release/ioco", "/source/target/debug/ioco"),
        ("WORKDIR /source", "WORKDIR /src"),
        ("--package ioco-cli", "--package ioco"),
        ("--bin ioco", "--bin iocod"),
        ("[\"ioco\"]", "[\"oico\"]"),
        ("USER ioco", "USER root"),
    ];
    for (old, new) in changes {
        assert!(text.contains(old), "{old}");
        let changed = check(&text.replace(old, new), &workspace);
        assert!(changed.is_err(), "{new}");
    }
}
