//! The adapter libraries and the projects in several languages, each really run.

use std::path::PathBuf;
use std::process::Command;

use crate::support::{folder, ioco, patient, root, run};

/// Tests the lock of the libraries, played by this command.
fn test_lock(folder: &std::path::Path, sut: &str) {
    let model = std::fs::read_to_string(root().join("adapters/lock.aml")).expect("a model");
    std::fs::write(folder.join("lock.aml"), patient(&model)).expect("written");
    let ran = run(ioco()
        .current_dir(folder)
        .args(["test", "lock.aml"])
        .args(["--sut", sut, "--tests", "5", "--steps", "20"]));
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(!ran.err.contains("warning"), "{}", ran.all());
}

#[test]
fn the_library_for_python_works() {
    let lock = root().join("adapters/python/lock.py");
    test_lock(folder().path(), &format!("python3 {}", lock.display()));
}

/// The folder of TypeScript's compiler, as `cargo xtask test` installs it.
fn typescript() -> Option<PathBuf> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).find(|folder| folder.join("tsc").exists())
}

#[test]
fn the_library_for_typescript_works() {
    let Some(programs) = typescript() else {
        eprintln!("skipped: tsc is not here");
        return;
    };
    let here = folder();
    let types = programs.parent().expect("a folder").join("@types");
    let compiled = run(Command::new(programs.join("tsc"))
        .args(["--strict", "--target", "es2022", "--module", "es2022"])
        .args(["--moduleResolution", "bundler"])
        .args(["--rewriteRelativeImportExtensions", "--typeRoots"])
        .arg(types)
        .args(["--types", "node", "--outDir"])
        .arg(here.path())
        .arg(root().join("adapters/typescript/lock.ts")));
    assert_eq!(compiled.code, 0, "{}", compiled.all());
    std::fs::write(here.path().join("package.json"), "{\"type\":\"module\"}").expect("written");
    test_lock(here.path(), "node lock.js");
}

#[test]
fn projects_are_made_in_several_languages_and_find_their_bug() {
    for (language, program) in [("python", "python3"), ("node", "node"), ("rust", "cargo")] {
        if Command::new(program).arg("--version").output().is_err() {
            eprintln!("skipped: {program} is not here");
            continue;
        }
        let here = folder();
        let made = ["new", "door", "--adapter", language];
        let made = run(ioco().current_dir(here.path()).args(made));
        assert_eq!(made.code, 0, "{language}: {}", made.all());
        let ran = run(ioco()
            .current_dir(here.path().join("door"))
            .env_remove("CARGO_TARGET_DIR")
            .arg("test"));
        assert_eq!(ran.code, 1, "{language}: {}", ran.all());
        assert!(ran.out.contains("D001"), "{language}: {}", ran.all());
        assert!(!ran.err.contains("warning"), "{language}: {}", ran.all());
    }
}
