//! The folder `.ioco`: failures and coverage. Every file is written whole or not at all. What runs
//! did is kept by the store.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::exit::{Exit, Stop};

pub struct Results {
    root: PathBuf,
}

/// Trouble with the results folder is the user's to mend (permissions, a full disk).
fn trouble(doing: &str, path: &Path, error: &io::Error) -> Stop {
    Stop {
        exit: Exit::Usage,
        message: format!("cannot {doing} {}: {error}", path.display()),
        hint: None,
    }
}

impl Results {
    pub fn at(root: PathBuf) -> Results {
        Results { root }
    }

    pub fn failures(&self) -> PathBuf {
        self.root.join("failures")
    }

    pub fn coverage(&self, model_hash: &str) -> PathBuf {
        self.root
            .join("coverage")
            .join(format!("{model_hash}.json"))
    }

    /// The files of all recorded failures, oldest first.
    pub fn failure_files(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.failures()) else {
            return Vec::new();
        };
        let mut files: Vec<(std::time::SystemTime, PathBuf)> = entries
            .filter_map(Result::ok)
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|e| e == "json"))
            .filter_map(|path| Some((fs::metadata(&path).ok()?.modified().ok()?, path)))
            .collect();
        files.sort();
        files.into_iter().map(|(_, path)| path).collect()
    }

    /// The failure that a person means by `typed`: a file, an id, or the beginning of one.
    pub fn find_failure(&self, typed: &str) -> Result<PathBuf, Stop> {
        let path = Path::new(typed);
        if path.is_file() {
            return Ok(path.to_owned());
        }
        let named = |path: &PathBuf| {
            path.file_stem()
                .is_some_and(|stem| stem.to_string_lossy().starts_with(typed))
        };
        let all = self.failure_files();
        let found: Vec<&PathBuf> = all.iter().filter(|path| named(path)).collect();
        match found.as_slice() {
            [one] => Ok((*one).clone()),
            [] => {
                let known: Vec<String> = all
                    .iter()
                    .filter_map(|p| p.file_stem().map(|s| s.to_string_lossy().into_owned()))
                    .collect();
                let stop = Stop::usage(format!("there is no failure '{typed}'"));
                Err(if known.is_empty() {
                    stop.hint(format!("{} holds no failures", self.failures().display()))
                } else {
                    stop.hint(format!("there are: {}", known.join(", ")))
                })
            }
            several => Err(
                Stop::usage(format!("'{typed}' may be {} failures", several.len()))
                    .hint("type more of the id"),
            ),
        }
    }

    /// Writes a file so that it is there whole or not at all, also after a crash.
    pub fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), Stop> {
        let put = || -> io::Result<()> {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            let draft = path.with_extension("part");
            let mut file = File::create(&draft)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            fs::rename(&draft, path)
        };
        put().map_err(|error| trouble("write", path, &error))
    }

    /// The file of the store.
    pub fn store(&self) -> PathBuf {
        self.root.join("ioco.db")
    }

    /// Makes the folder. Results are nobody's source: it keeps itself out of version control.
    pub fn make(&self) -> Result<(), Stop> {
        let ignore = self.root.join(".gitignore");
        let make = || -> io::Result<()> {
            fs::create_dir_all(&self.root)?;
            if !ignore.exists() {
                fs::write(&ignore, "*\n!failures/\n!failures/*.json\n")?;
            }
            Ok(())
        };
        make().map_err(|error| trouble("write", &ignore, &error))
    }

    /// A folder for temporary files that nobody else uses, for where nothing can be written.
    pub fn elsewhere() -> Result<PathBuf, Stop> {
        let root = std::env::temp_dir().join(format!("ioco-{}", std::process::id()));
        fs::create_dir(&root).map_err(|error| trouble("make", &root, &error))?;
        Ok(root)
    }
}
