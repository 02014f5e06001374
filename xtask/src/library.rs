//! The library as a stranger meets it: a new crate outside of this workspace runs the example of the
//! README in its `cargo test`. And what publishing needs: light dependencies, documentation without
//! warnings, packages.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::tools::{self, answers, cargo, root, target_directory, without};

/// More dependencies than these, each counted once, are not light any more.
const MAX_DEPENDENCIES: usize = 76;

/// Runtimes, sockets, databases and bindings to one operating system have no place in a test in process.
const HEAVY: &[&str] = &[
    "axum", "clap", "hyper", "ring", "rustix", "rustls", "sqlx", "tokio", "ureq",
];

/// For the developers of ioco alone: these are not published.
const PRIVATE: &[&str] = &[
    "ioco-differential",
    "ioco-examples",
    "ioco-experiments",
    "ioco-faults",
    "ioco-fuzz-targets",
    "xtask",
];

/// Other systems than this one, for which the library is type-checked.
const TARGETS: &[&str] = &["x86_64-pc-windows-gnu", "aarch64-apple-darwin"];

pub fn check() -> Result<(), String> {
    light()?;
    documented()?;
    outside()?;
    for target in TARGETS {
        other_system(target)?;
    }
    oldest_rust()?;
    packages()
}

/// What `cargo add --dev ioco` compiles.
fn light() -> Result<(), String> {
    let tree = cargo()
        .args(["tree", "--package", "ioco", "--edges", "normal"])
        .args(["--prefix", "none", "--no-dedupe"])
        .output()
        .map_err(|error| format!("cannot start cargo: {error}"))?;
    let text = String::from_utf8_lossy(&tree.stdout);
    let mut crates: Vec<&str> = text.lines().map(str::trim).collect();
    crates.sort_unstable();
    crates.dedup();
    if !tree.status.success() || crates.is_empty() {
        return Err(format!(
            "cargo tree: {}",
            String::from_utf8_lossy(&tree.stderr)
        ));
    }
    let name = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
    let heavy = crates.iter().map(|line| name(line));
    let heavy: Vec<String> = heavy.filter(|name| HEAVY.contains(&&**name)).collect();
    if !heavy.is_empty() {
        return Err(format!("the library depends on {heavy:?}"));
    }
    if crates.len() > MAX_DEPENDENCIES {
        return Err(format!(
            "the library has {} crates, more than {MAX_DEPENDENCIES}: {crates:?}",
            crates.len()
        ));
    }
    eprintln!("── the library compiles {} crates", crates.len());
    Ok(())
}

fn documented() -> Result<(), String> {
    tools::run(
        "documentation of the library",
        cargo()
            .args(["doc", "--package", "ioco", "--no-deps"])
            .env("RUSTDOCFLAGS", "--deny warnings"),
    )
}

/// The example of the README in a crate of its own, as it is and with a bug.
fn outside() -> Result<(), String> {
    let readme = fs::read_to_string(root().join("README.md")).map_err(|e| e.to_string())?;
    let (_, rest) = readme
        .split_once("```rust\n")
        .ok_or("the README has no example")?;
    let (example, _) = rest
        .split_once("```")
        .ok_or("the README's example has no end")?;
    let folder = std::env::temp_dir().join(format!("ioco-outside-{}", std::process::id()));
    let outcome = run_outside(&folder, example);
    // A leftover in a folder for temporary files does no harm.
    let _ = fs::remove_dir_all(&folder);
    outcome
}

fn run_outside(folder: &Path, example: &str) -> Result<(), String> {
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        let parent = path.parent().unwrap_or(folder);
        let written = fs::create_dir_all(parent).and_then(|()| fs::write(&path, text));
        written.map_err(|error| format!("cannot write {}: {error}", path.display()))
    };
    let library = root().join("crates/ioco");
    let manifest = format!(
        "[package]\nname = \"outside\"\nedition = \"2024\"\n\n[dev-dependencies]\nioco = {{ path = {:?} }}\n",
        library.display().to_string()
    );
    write("Cargo.toml", &manifest)?;
    write("src/lib.rs", "")?;
    // The versions that are here already.
    let lock = fs::read_to_string(root().join("Cargo.lock")).map_err(|e| e.to_string())?;
    write("Cargo.lock", &lock)?;
    write("tests/example.rs", example)?;
    let test = || {
        let mut test = cargo();
        test.args(["test", "--offline", "--test", "example"])
            .env("CARGO_TARGET_DIR", target_directory().join("outside"))
            .env("RUST_BACKTRACE", "0")
            .current_dir(folder);
        test
    };
    tools::run("the README's example in a crate of its own", &mut test())?;
    let wrong = example.replace("add.integer(\"n\")", "add.integer(\"n\") % 9");
    if wrong == example {
        return Err("the README's example has no place for a bug".to_owned());
    }
    write("tests/example.rs", &wrong)?;
    eprintln!("── the README's example with a bug");
    let output = test().output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let expected = [
        "FAIL counter",
        "D003 wrong value",
        "?add(n=9)",
        "expected       !total(n=9)",
    ];
    match expected.iter().find(|part| !text.contains(**part)) {
        _ if output.status.success() => Err("the bug was not found".to_owned()),
        Some(part) => Err(format!("{part:?} is not in the explanation:\n{text}")),
        None => Ok(()),
    }
}

/// The library is type-checked for this target, where its standard library is there or can be installed.
fn other_system(target: &str) -> Result<(), String> {
    let folder = Command::new("rustc")
        .args(["--print", "target-libdir", "--target", target])
        .output()
        .map_err(|error| format!("cannot start rustc: {error}"))?;
    let folder = String::from_utf8_lossy(&folder.stdout).trim().to_owned();
    let is_there = Path::new(&folder).is_dir();
    if !is_there && !answers(Command::new("rustup").args(["target", "add", target])) {
        return without(target, "its standard library cannot be installed");
    }
    tools::run(
        &format!("the library for {target}"),
        cargo().args(["check", "--package", "ioco", "--target", target]),
    )
}

/// The library is type-checked by the oldest Rust that its manifest promises.
fn oldest_rust() -> Result<(), String> {
    let manifest = root().join("Cargo.toml");
    let manifest = fs::read_to_string(manifest).map_err(|error| error.to_string())?;
    let version = manifest.lines().find_map(|line| {
        let value = line.strip_prefix("rust-version = ")?;
        Some(value.trim_matches('"').to_owned())
    });
    let version = version.ok_or("Cargo.toml names no rust-version")?;
    let toolchain = format!("{version}.0");
    let rustc = ["run", &toolchain, "rustc", "--version"];
    let install = ["toolchain", "install", &toolchain, "--profile", "minimal"];
    if !answers(Command::new("rustup").args(rustc))
        && !answers(Command::new("rustup").args(install))
    {
        return without(&format!("Rust {version}"), "it cannot be installed");
    }
    tools::run(
        &format!("the library with Rust {version}"),
        Command::new("rustup")
            .args(["run", &toolchain, "cargo", "check", "--package", "ioco"])
            .env("CARGO_TARGET_DIR", target_directory().join("oldest"))
            // Cargo sets these to the compiler of this program.
            .env_remove("RUSTC")
            .env_remove("CARGO")
            .current_dir(root()),
    )
}

/// Every crate that is to be published can be packed. Packing them is quick; compiling each package again
/// would take as long as all the other checks.
fn packages() -> Result<(), String> {
    let mut package = cargo();
    package.args([
        "package",
        "--workspace",
        "--no-verify",
        "--allow-dirty",
        "--quiet",
    ]);
    for private in PRIVATE {
        package.args(["--exclude", private]);
    }
    tools::run("packages", &mut package)
}
