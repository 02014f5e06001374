//! `cargo xtask book`: renders the book with mdBook and opens every chapter in a browser.

use std::path::PathBuf;
use std::process::Command;

use crate::tools::{self, cargo};

/// The renderer. Cargo builds it once, below `target`, where the machine has none.
const RENDERER: &str = "mdbook@0.5.4";

pub fn render() -> Result<(), String> {
    let renderer = need_renderer()?;
    let book = tools::root().join("book");
    let made = tools::target_directory().join("book");
    tools::run(
        "book",
        Command::new(renderer)
            .arg("build")
            .arg("--dest-dir")
            .arg(&made)
            .arg(&book),
    )?;
    if !crate::web::need_chromium() {
        return tools::without("Chromium", "it is not here and cannot be installed");
    }
    let page = tools::root().join("web");
    if !page.join("node_modules").exists() {
        tools::run(
            "packages of the page",
            Command::new("npm")
                .args(["ci", "--silent", "--no-audit", "--no-fund"])
                .current_dir(&page),
        )?;
    }
    tools::run(
        "the book in a browser",
        Command::new("node")
            .arg("browser/book.mjs")
            .arg(&made)
            .current_dir(&page),
    )?;
    eprintln!("made: {}", made.join("index.html").display());
    Ok(())
}

fn need_renderer() -> Result<PathBuf, String> {
    if tools::answers(Command::new("mdbook").arg("--version")) {
        return Ok(PathBuf::from("mdbook"));
    }
    let environment = tools::target_directory().join("mdbook");
    let program = environment.join("bin").join("mdbook");
    if !program.exists() {
        tools::run(
            "mdBook",
            cargo()
                .args(["install", RENDERER, "--locked", "--root"])
                .arg(&environment)
                .args(["--no-default-features", "--features", "search"]),
        )?;
    }
    Ok(program)
}
