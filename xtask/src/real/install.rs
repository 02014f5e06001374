//! Installs the exact versions from the package registries into `target/real`, once.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::systems::Source;
use crate::tools::{self, answers, cargo, target_directory};

/// What a program needs to be found.
#[derive(Clone, Debug, Default)]
pub struct Installed {
    /// Folders for the front of `PATH`.
    pub programs: Vec<PathBuf>,
    /// Folder of packages for node.
    pub node_path: Option<PathBuf>,
}

impl Installed {
    pub fn path(&self) -> Result<OsString, String> {
        let old = env::var_os("PATH").unwrap_or_default();
        let folders = self.programs.iter().cloned().chain(env::split_paths(&old));
        env::join_paths(folders).map_err(|error| error.to_string())
    }
}

/// The folder of everything that this command installs.
pub fn cache() -> PathBuf {
    target_directory().join("real")
}

pub fn install(name: &str, source: Source) -> Result<Installed, String> {
    let folder = cache().join(name);
    match source {
        Source::Debian(package, program) => {
            if find(program).is_none() && !tools::apt_install(package) {
                return Err(format!("the Debian package {package} cannot be installed"));
            }
            let program = find(program).ok_or(format!("there is no program {program}"))?;
            Ok(in_folder(program.parent()))
        }
        Source::Npm(package, version) => {
            let modules = folder.join("node_modules");
            let wanted = format!("{package}@{version}");
            once(&folder, &wanted, || {
                let mut npm = Command::new("npm");
                npm.args(["install", "--silent", "--no-audit", "--no-fund", "--prefix"])
                    .arg(&folder)
                    .arg(&wanted);
                tools::run(&format!("install {wanted}"), &mut npm)
            })?;
            Ok(Installed {
                programs: vec![modules.join(".bin")],
                node_path: Some(modules),
            })
        }
        Source::Python(requirements, newest) => {
            once(&folder, &requirements.join(" "), || {
                python_environment(&folder, requirements, newest)
            })?;
            Ok(in_folder(Some(&folder.join("bin"))))
        }
        Source::Package(package) => {
            let sources = crate::tools::root().join("xtask/src/real").join(package);
            let lock = fs::read_to_string(sources.join("Cargo.lock"));
            let wanted = lock.map_err(|error| format!("{package}: {error}"))?;
            once(&folder, &wanted, || {
                let mut install = cargo();
                install.args(["install", "--locked", "--debug", "--quiet", "--path"]);
                install.arg(&sources).arg("--root").arg(&folder);
                // Not beside the sources, which belong to the repository.
                install.env("CARGO_TARGET_DIR", folder.join("build"));
                tools::run(&format!("build {package}"), &mut install)
            })?;
            Ok(in_folder(Some(&folder.join("bin"))))
        }
        Source::PythonItself(minor) => {
            let python = python(minor).ok_or(format!("there is no Python 3.{minor}"))?;
            once(&folder, &format!("Python 3.{minor}"), || {
                let mut venv = Command::new(&python);
                venv.args(["-m", "venv", "--without-pip"]).arg(&folder);
                tools::run("an environment of Python", &mut venv)
            })?;
            Ok(in_folder(Some(&folder.join("bin"))))
        }
        Source::Postgres => {
            let python = python_with(&["psycopg[binary]==3.2.3"], "psycopg")?;
            Ok(in_folder(Some(&python)))
        }
    }
}

/// The version of what is installed.
pub fn version(source: Source) -> String {
    let said = |command: &mut Command| {
        let output = command.output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    };
    let version = match source {
        Source::Debian(package, _) => {
            said(Command::new("dpkg-query").args(["-W", "-f", "${Version}", package]))
        }
        Source::Npm(_, version) => Some(version.to_owned()),
        Source::Python(requirements, _) => {
            let first = requirements
                .first()
                .and_then(|wanted| wanted.split_once("=="));
            first.map(|(_, version)| version.to_owned())
        }
        Source::Package(package) => locked(package),
        Source::PythonItself(minor) => Some(format!("Python 3.{minor}")),
        Source::Postgres => said(Command::new("psql").arg("--version"))
            .and_then(|text| text.split(' ').nth(2).map(str::to_owned)),
    };
    version.unwrap_or_else(|| "unknown".to_owned())
}

/// The version of a crate in the lock file of the package that is named after it.
fn locked(package: &str) -> Option<String> {
    let sources = crate::tools::root().join("xtask/src/real").join(package);
    let lock = fs::read_to_string(sources.join("Cargo.lock")).ok()?;
    let (_, after) = lock.split_once(&format!("name = \"{package}\"\nversion = \""))?;
    after.split_once('"').map(|(version, _)| version.to_owned())
}

/// The folder of a Python that has these packages.
pub fn python_with(requirements: &[&str], name: &str) -> Result<PathBuf, String> {
    let folder = cache().join(name);
    once(&folder, &requirements.join(" "), || {
        python_environment(&folder, requirements, None)
    })?;
    Ok(folder.join("bin"))
}

fn python_environment(folder: &Path, wanted: &[&str], newest: Option<u32>) -> Result<(), String> {
    let python = match newest {
        None => PathBuf::from("python3"),
        Some(newest) => (6..=newest).rev().find_map(python).ok_or(format!(
            "{} runs on Python 3.{newest} at most, and there is none",
            wanted.join(", ")
        ))?,
    };
    let mut venv = Command::new(python);
    venv.args(["-m", "venv", "--clear"]).arg(folder);
    tools::run("an environment of Python", &mut venv)?;
    let mut pip = Command::new(folder.join("bin/python"));
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]);
    tools::run(&format!("install {}", wanted.join(", ")), pip.args(wanted))
}

/// A Python of this minor version: on the search path, or one of pyenv's.
fn python(minor: u32) -> Option<PathBuf> {
    let is_it = |program: &PathBuf| {
        let check = format!("import sys; sys.exit(sys.version_info[:2] != (3, {minor}))");
        answers(Command::new(program).args(["-c", &check]))
    };
    let pyenv = env::var_os("PYENV_ROOT").map(PathBuf::from);
    let pyenv = pyenv.or_else(|| env::home_dir().map(|home| home.join(".pyenv")));
    let versions = pyenv.and_then(|root| fs::read_dir(root.join("versions")).ok());
    let others = versions.into_iter().flatten().flatten();
    let others = others.map(|version| version.path().join("bin/python3"));
    let mut all = [PathBuf::from(format!("python3.{minor}")), "python3".into()]
        .into_iter()
        .chain(others);
    all.find(is_it)
}

fn in_folder(folder: Option<&Path>) -> Installed {
    Installed {
        programs: folder.map(PathBuf::from).into_iter().collect(),
        node_path: None,
    }
}

/// A program on the search path, or where Debian keeps servers.
fn find(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let servers = ["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from);
    let mut folders = env::split_paths(&path).chain(servers);
    folders.find_map(|folder| Some(folder.join(program)).filter(|file| file.is_file()))
}

/// Does something unless it was done before, for the same wanted version.
fn once(
    folder: &Path,
    wanted: &str,
    install: impl FnOnce() -> Result<(), String>,
) -> Result<(), String> {
    let mark = folder.join(".installed");
    if fs::read_to_string(&mark).is_ok_and(|text| text == wanted) {
        return Ok(());
    }
    let text = |error: std::io::Error| error.to_string();
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(text)?;
    }
    fs::create_dir_all(folder).map_err(text)?;
    install()?;
    fs::write(mark, wanted).map_err(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_those_that_are_installed() {
        assert_eq!(version(Source::Package("rumqttd")), "0.20.0");
        let python = Source::Python(&["aiosmtpd==1.4.6", "other==1"], None);
        assert_eq!(version(python), "1.4.6");
        let missing = Source::Debian("no-such-package", "no-such-program");
        assert_eq!(version(missing), "unknown");
    }
}
