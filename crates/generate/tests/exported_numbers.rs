//! The runner of an exported Rust suite compares numbers exactly. It needs nothing but the standard library, so
//! it is compiled here as a person would compile it.

// The ban on files, clocks and threads is for the crate, not for its tests.
#![allow(clippy::disallowed_methods)]

use std::path::Path;
use std::process::Command;

use ioco_generate::suite::export::Export;

const CHECKS: &str = r#"
#[test]
fn numbers_are_compared_exactly() {
    let alike = |left: &str, right: &str| same(&Json::parse(left), &Json::parse(right));
    for (left, right) in [
        ("2.50", "2.5"),
        ("3", "3.0"),
        ("3e0", "3"),
        ("25e-1", "2.5"),
        ("1E2", "100"),
        ("-0", "0"),
        ("[1.0, 2]", "[1, 2.00]"),
        ("{\"a\": 1.0, \"b\": 2}", "{\"b\": 2, \"a\": 1}"),
    ] {
        assert!(alike(left, right), "{left} and {right}");
    }
    for (left, right) in [
        ("9007199254740993", "9007199254740992"),
        ("9007199254740993.0", "9007199254740992.0"),
        ("0.1", "0.10000000000000000001"),
        ("1", "-1"),
        ("10", "1"),
        ("1", "true"),
        ("[1]", "[1, 1]"),
    ] {
        assert!(!alike(left, right), "{left} and {right}");
    }
}
"#;

#[test]
fn an_exported_rust_suite_compares_numbers_exactly() {
    let model = "external 'm'\nprocess('m') { channel('m') { stimulus 'a' }\n state 'A' }\n";
    let sts = ioco_aml::load_text("m.aml", model).sts.expect("a model");
    let export = Export::named("rust").expect("an export");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (file, program) = (folder.join("numbers.rs"), folder.join("numbers.program"));
    let text = format!("{}\n{CHECKS}", export.begin(&sts, None));
    std::fs::write(&file, text).expect("a file");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let built = Command::new(rustc)
        .args(["--test", "-A", "dead_code", "-o"])
        .args([&program, &file])
        .output()
        .expect("rustc starts");
    let said = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success(), "{said}");
    let ran = Command::new(&program).output().expect("the test starts");
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{said}");
}
