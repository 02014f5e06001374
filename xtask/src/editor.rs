//! `cargo xtask editor`: the extension for Visual Studio Code as one file.

use std::fs;
use std::process::Command;

use crate::tools;

/// The packager of Visual Studio Code. It is fetched when it is needed, because it has two hundred dependencies that
/// no test uses.
const PACKAGER: &str = "@vscode/vsce@3.6.2";

/// What must be in the extension.
const CONTENTS: &[&str] = &[
    "extension/package.json",
    "extension/extension.js",
    "extension/explorer.js",
    "extension/icon.png",
    "extension/ioco.schema.json",
    "extension/LICENSE.txt",
    "extension/syntaxes/aml.tmLanguage.json",
    "extension/node_modules/vscode-languageclient/package.json",
];

pub fn package() -> Result<(), String> {
    let folder = tools::root().join("editors/vscode");
    let made = tools::target_directory().join("ioco.vsix");
    let text = |error: std::io::Error| error.to_string();
    fs::create_dir_all(tools::target_directory()).map_err(text)?;
    // The packager wants one licence file beside the manifest.
    let licence = folder.join("LICENSE.txt");
    let mut both =
        String::from("This extension is licensed under MIT OR Apache-2.0, at your choice.\n");
    for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
        let one = fs::read_to_string(tools::root().join(name)).map_err(text)?;
        both.push_str(&format!("\n{one}"));
    }
    fs::write(&licence, both).map_err(text)?;
    let packed = pack(&folder, &made);
    fs::remove_file(&licence).map_err(text)?;
    packed?;
    check(&made)?;
    eprintln!("made: {}", made.display());
    Ok(())
}

fn pack(folder: &std::path::Path, made: &std::path::Path) -> Result<(), String> {
    tools::run(
        "packages of the extension",
        Command::new("npm")
            .args(["ci", "--silent", "--no-audit", "--no-fund"])
            .current_dir(folder),
    )?;
    tools::run(
        "extension",
        Command::new("npx")
            .args([
                "--yes",
                PACKAGER,
                "package",
                "--allow-missing-repository",
                "--out",
            ])
            .arg(made)
            .current_dir(folder),
    )
}

/// The file is a zip archive; what it lists is what an editor gets.
fn check(made: &std::path::Path) -> Result<(), String> {
    let listed = Command::new("python3")
        .args(["-m", "zipfile", "-l"])
        .arg(made)
        .output()
        .map_err(|error| error.to_string())?;
    let listed = String::from_utf8_lossy(&listed.stdout);
    let names: Vec<&str> = (listed
        .lines()
        .filter_map(|line| line.split_whitespace().next()))
    .collect();
    match CONTENTS.iter().find(|name| !names.contains(name)) {
        None => Ok(()),
        Some(name) => Err(format!("{} lacks {name}", made.display())),
    }
}
