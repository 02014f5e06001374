//! The folder `.ioco`: failures, the record of runs, coverage. Every file is written whole or not
//! at all; the record of a run grows by one line per event, each in the file before the run goes
//! on.

use std::fs::{self, File, OpenOptions};
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

    /// In the current folder.
    pub fn here() -> Results {
        Results::at(PathBuf::from(".").join(".ioco"))
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

    /// Opens the record of a new run.
    pub fn record(&self, name: &str) -> Result<Record, Stop> {
        let path = self.root.join("runs").join(format!("{name}.jsonl"));
        let open = || -> io::Result<File> {
            fs::create_dir_all(self.root.join("runs"))?;
            // Results are nobody's source: keep them out of version control by themselves.
            let ignore = self.root.join(".gitignore");
            if !ignore.exists() {
                fs::write(ignore, "*\n!failures/\n!failures/*.json\n")?;
            }
            OpenOptions::new().create(true).append(true).open(&path)
        };
        let file = open().map_err(|error| trouble("write", &path, &error))?;
        Ok(Record { file, path })
    }
}

/// The growing record of one run.
pub struct Record {
    file: File,
    path: PathBuf,
}

impl Record {
    /// Adds one line; it has left this process when this returns.
    pub fn line(&mut self, text: &str) -> Result<(), Stop> {
        let mut bytes = Vec::with_capacity(text.len() + 1);
        bytes.extend_from_slice(text.as_bytes());
        bytes.push(b'\n');
        self.file
            .write_all(&bytes)
            .map_err(|error| trouble("write", &self.path, &error))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}
