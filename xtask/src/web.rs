//! The page: its types, its logic, whether the checked-in bundle is the one that its source makes,
//! and the page in a real browser.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tools;

/// Everything about the page. The program `ioco` has to be built: the browser tests start it.
pub fn check() -> Result<(), String> {
    let folder = tools::root().join("web");
    let npm = || {
        let mut command = Command::new("npm");
        command.current_dir(&folder);
        command
    };
    tools::run(
        "packages of the page",
        npm().args(["ci", "--silent", "--no-audit", "--no-fund"]),
    )?;
    tools::run(
        "types of the page",
        npm().args(["run", "--silent", "check"]),
    )?;
    tools::run("logic of the page", npm().args(["run", "--silent", "test"]))?;
    check_bundle(&folder)?;
    if !need_chromium() {
        return tools::without("Chromium", "it is not here and cannot be installed");
    }
    let program = tools::target_directory()
        .join("debug")
        .join(format!("ioco{}", std::env::consts::EXE_SUFFIX));
    let mut browser = npm();
    browser
        .args(["run", "--silent", "browser"])
        .env("IOCO", program);
    if let Some(script) = crate::readers::mermaid() {
        browser.env("IOCO_MERMAID", script);
    }
    tools::run("the page in a browser", &mut browser)
}

/// Finds or installs the browser of the tests: Debian's Chromium, or the one that `CHROMIUM` names.
pub fn need_chromium() -> bool {
    let program = std::env::var_os("CHROMIUM").unwrap_or_else(|| "/usr/bin/chromium".into());
    let there = || tools::answers(Command::new(&program).arg("--version"));
    there() || (tools::apt_install("chromium") && there())
}

/// Builds the page again and compares it with the files that are checked in.
fn check_bundle(folder: &Path) -> Result<(), String> {
    let made = tools::target_directory().join("web-bundle");
    for mode in [&["build"][..], &["build", "--mode", "report"]] {
        tools::run(
            "bundle of the page",
            Command::new("npx")
                .arg("vite")
                .args(mode)
                .args(["--logLevel", "warn", "--outDir"])
                .arg(&made)
                .arg(if mode.len() == 1 {
                    "--emptyOutDir"
                } else {
                    "--emptyOutDir=false"
                })
                .current_dir(folder),
        )?;
    }
    let kept = folder.join("dist");
    let (old, new) = (files(&kept)?, files(&made)?);
    let differs = old
        .iter()
        .chain(&new)
        .find(|name| !same(&kept.join(name), &made.join(name)));
    match differs {
        None => Ok(()),
        Some(name) => Err(format!(
            "web/dist/{} is not what web/ builds: run `npm run build` in web/ and commit the result",
            name.display()
        )),
    }
}

fn same(one: &Path, other: &Path) -> bool {
    matches!((fs::read(one), fs::read(other)), (Ok(one), Ok(other)) if one == other)
}

/// The files below a folder, by their paths in it.
fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        let entries =
            fs::read_dir(&next).map_err(|error| format!("{}: {error}", next.display()))?;
        for entry in entries {
            let path = entry.map_err(|error| error.to_string())?.path();
            if path.is_dir() {
                open.push(path);
            } else if let Ok(name) = path.strip_prefix(folder) {
                found.push(name.to_path_buf());
            }
        }
    }
    found.sort();
    Ok(found)
}
