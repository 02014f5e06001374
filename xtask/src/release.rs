//! `cargo xtask release`: an archive for this machine with the program, its manual pages and completions, the sums of
//! all files, and a software bill of materials (CycloneDX 1.5) from what cargo knows about the dependencies.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value as Json, json};

use crate::tools::{self, cargo};

pub fn make() -> Result<(), String> {
    tools::run(
        "program",
        cargo().args([
            "build",
            "--release",
            "--locked",
            "--package",
            "ioco-cli",
            "--bin",
            "ioco",
        ]),
    )?;
    let program = tools::target_directory()
        .join("release")
        .join(format!("ioco{}", std::env::consts::EXE_SUFFIX));
    let archive = assemble(&program, &tools::target_directory().join("dist"))?;
    eprintln!("made: {}", archive.display());
    Ok(())
}

/// Puts the archive of a program together, with the sums of everything in the folder.
pub fn assemble(program: &Path, folder: &Path) -> Result<PathBuf, String> {
    let text = |error: std::io::Error| error.to_string();
    let target = host()?;
    let name = format!("ioco-{}-{target}", env!("CARGO_PKG_VERSION"));
    let inside = folder.join(&name);
    if inside.exists() {
        fs::remove_dir_all(&inside).map_err(text)?;
    }
    fs::create_dir_all(inside.join("completions")).map_err(text)?;
    fs::copy(
        program,
        inside.join(program.file_name().unwrap_or_default()),
    )
    .map_err(text)?;
    for file in [
        "LICENSE-MIT",
        "LICENSE-APACHE",
        "README.md",
        "CHANGELOG.md",
        "SECURITY.md",
    ] {
        fs::copy(tools::root().join(file), inside.join(file)).map_err(text)?;
    }
    tools::run(
        "manual pages",
        Command::new(program).arg("man").arg(inside.join("man")),
    )?;
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let script = Command::new(program)
            .args(["completions", shell])
            .output()
            .map_err(text)?;
        fs::write(
            inside.join("completions").join(format!("ioco.{shell}")),
            script.stdout,
        )
        .map_err(text)?;
    }
    let bill = bill(&metadata(&target)?, &target);
    let written = serde_json::to_string_pretty(&bill).map_err(|error| error.to_string())?;
    fs::write(inside.join("ioco.cdx.json"), &written).map_err(text)?;
    fs::write(folder.join(format!("{name}.cdx.json")), &written).map_err(text)?;
    let archive = format!("{name}.tar.gz");
    tools::run(
        "archive",
        Command::new("tar")
            .args(["czf", &archive, &name])
            .current_dir(folder),
    )?;
    sums(folder)?;
    Ok(folder.join(archive))
}

/// The machine that this is built for, as Rust calls it.
fn host() -> Result<String, String> {
    let said = Command::new("rustc")
        .arg("-vV")
        .output()
        .map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let line = said.lines().find_map(|line| line.strip_prefix("host: "));
    line.map(str::to_owned)
        .ok_or_else(|| "rustc does not say its host".to_owned())
}

fn metadata(target: &str) -> Result<Json, String> {
    let said = cargo()
        .args([
            "metadata",
            "--format-version",
            "1",
            "--locked",
            "--filter-platform",
            target,
        ])
        .output()
        .map_err(|error| error.to_string())?;
    serde_json::from_slice(&said.stdout).map_err(|error| format!("cargo metadata: {error}"))
}

/// The packages that are inside the program: what `ioco-cli` needs to run, directly or not. Tools that only build or
/// test it are not.
fn bill(metadata: &Json, target: &str) -> Json {
    let empty = Vec::new();
    let list = |json: &Json| json.as_array().unwrap_or(&empty).clone();
    let nodes = list(&metadata["resolve"]["nodes"]);
    let packages = list(&metadata["packages"]);
    let named = |id: &Json| packages.iter().find(|package| package["id"] == *id);
    let root = packages
        .iter()
        .find(|package| package["name"] == "ioco-cli");
    let root = root.map_or(Json::Null, |package| package["id"].clone());
    let mut inside = vec![root.clone()];
    let mut at = 0;
    while let Some(id) = inside.get(at).cloned() {
        at += 1;
        let node = nodes.iter().find(|node| node["id"] == id);
        for needed in node.map_or_else(Vec::new, |node| list(&node["deps"])) {
            // A kind of null is a dependency at run time.
            let runs = list(&needed["dep_kinds"])
                .iter()
                .any(|kind| kind["kind"].is_null());
            if runs && !inside.contains(&needed["pkg"]) {
                inside.push(needed["pkg"].clone());
            }
        }
    }
    let reference = |package: &Json| {
        let (name, version) = (package["name"].as_str(), package["version"].as_str());
        format!(
            "pkg:cargo/{}@{}",
            name.unwrap_or_default(),
            version.unwrap_or_default()
        )
    };
    let component = |package: &Json, kind: &str| {
        let licence = package["license"]
            .as_str()
            .unwrap_or("NOASSERTION")
            .replace('/', " OR ");
        json!({
            "type": kind,
            "bom-ref": reference(package),
            "name": package["name"],
            "version": package["version"],
            "purl": reference(package),
            "licenses": [{ "expression": licence }],
        })
    };
    let mut components: Vec<Json> = inside[1..]
        .iter()
        .filter_map(named)
        .map(|package| component(package, "library"))
        .collect();
    components.sort_by_key(|component| component["purl"].to_string());
    let dependencies = inside.iter().filter_map(|id| {
        let node = nodes.iter().find(|node| node["id"] == *id)?;
        let needed = list(&node["deps"]);
        let needed = needed
            .iter()
            .map(|one| &one["pkg"])
            .filter(|id| inside.contains(id));
        let mut on: Vec<String> = needed.filter_map(named).map(reference).collect();
        on.sort();
        on.dedup();
        Some(json!({ "ref": reference(named(id)?), "dependsOn": on }))
    });
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": named(&root).map(|package| component(package, "application")),
            "properties": [{ "name": "target", "value": target }],
        },
        "components": components,
        "dependencies": dependencies.collect::<Vec<_>>(),
    })
}

/// `SHA256SUMS` of everything in the folder, as `sha256sum -c` reads it.
fn sums(folder: &Path) -> Result<(), String> {
    let text = |error: std::io::Error| error.to_string();
    let mut files: Vec<String> = fs::read_dir(folder)
        .map_err(text)?
        .filter_map(Result::ok)
        .filter(|entry| entry.path().is_file())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with("ioco-"))
        .collect();
    files.sort();
    let (program, arguments): (&str, &[&str]) = match cfg!(target_os = "macos") {
        true => ("shasum", &["-a", "256"]),
        false => ("sha256sum", &[]),
    };
    let said = Command::new(program)
        .args(arguments)
        .args(&files)
        .current_dir(folder)
        .output()
        .map_err(text)?;
    if !said.status.success() {
        return Err(format!("{program}: {}", said.status));
    }
    fs::write(folder.join("SHA256SUMS"), said.stdout).map_err(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bill_of_materials_has_what_is_in_the_program_and_no_tool_that_tests_it() {
        let metadata = metadata(&host().expect("a host")).expect("metadata");
        let bill = bill(&metadata, "here");
        assert_eq!(bill["metadata"]["component"]["name"], "ioco-cli");
        let components = bill["components"].as_array().expect("components");
        let has = |name: &str| components.iter().any(|component| component["name"] == name);
        assert!(has("clap") && has("ioco-sts") && has("serde"), "{bill}");
        assert!(
            !has("insta") && !has("ioco-examples") && !has("ioco-cli"),
            "{bill}"
        );
        for component in components {
            assert_ne!(
                component["licenses"][0]["expression"], "NOASSERTION",
                "{component}"
            );
        }
        let dependencies = bill["dependencies"].as_array().expect("dependencies");
        assert_eq!(dependencies.len(), components.len() + 1);
    }
}
