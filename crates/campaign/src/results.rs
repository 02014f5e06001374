//! The folder `.ioco`: failures and coverage. Every file is written whole or not at all. What runs
//! did is kept by the store.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use ioco_outside::Untrusted;

use crate::error::CampaignError;

/// How long to wait for other runs that write the same file: a busy disk may take seconds for each of them.
const PATIENCE: Duration = Duration::from_secs(30);

pub struct Results {
    root: PathBuf,
}

/// The user can fix an error of the results folder (permissions, a full disk).
fn trouble(doing: &str, path: &Path, error: &io::Error) -> CampaignError {
    CampaignError::usage(format!("cannot {doing} {}: {error}", path.display()))
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
    pub fn find_failure(&self, typed: &str) -> Result<PathBuf, CampaignError> {
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
                    .filter_map(|p| {
                        Some(Untrusted::new(p.file_stem()?.to_string_lossy()).to_string())
                    })
                    .collect();
                let stop = CampaignError::usage(format!("there is no failure '{typed}'"));
                Err(if known.is_empty() {
                    stop.hint(format!("{} holds no failures", self.failures().display()))
                } else {
                    stop.hint(format!("there are: {}", known.join(", ")))
                })
            }
            several => Err(CampaignError::usage(format!(
                "'{typed}' may be {} failures",
                several.len()
            ))
            .hint("type more of the id")),
        }
    }

    /// Writes a file so that it is there whole or not at all, also after a crash. Runs side by side write
    /// drafts of different names.
    pub fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), CampaignError> {
        static DRAFTS: AtomicU64 = AtomicU64::new(0);
        let number = DRAFTS.fetch_add(1, Ordering::Relaxed);
        let draft = path.with_extension(format!("{}-{number}.part", std::process::id()));
        let put = || -> io::Result<()> {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            self.check_inside(path)?;
            // A new file: no link leads the draft elsewhere.
            let mut file = File::create_new(&draft)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            fs::rename(&draft, path)
        };
        put().map_err(|error| {
            let _ = fs::remove_file(&draft);
            trouble("write", path, &error)
        })
    }

    /// Changes a file that runs side by side may change too, one after the other: `change` gets its path, and
    /// returns what to write.
    pub fn update(
        &self,
        path: &Path,
        change: impl FnOnce(&Path) -> Result<Vec<u8>, CampaignError>,
    ) -> Result<(), CampaignError> {
        let lock = || -> io::Result<File> {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            let lock = path.with_extension("lock");
            self.check_inside(&lock)?;
            let file = fs::OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(false)
                .open(lock)?;
            let begun = Instant::now();
            while let Err(fs::TryLockError::WouldBlock) = file.try_lock() {
                if begun.elapsed() > PATIENCE {
                    // Its holder has stopped: better a file that misses something than none.
                    break;
                }
                std::thread::sleep(Duration::from_millis(5));
            }
            Ok(file)
        };
        let locked = lock().map_err(|error| trouble("write", path, &error))?;
        self.write(path, &change(path)?)?;
        drop(locked);
        Ok(())
    }

    /// Refuses to write a file of this folder when links lead it out of the project: whoever made the
    /// project may have put them here.
    pub fn check_inside(&self, path: &Path) -> io::Result<()> {
        if !path.starts_with(&self.root) {
            return Ok(());
        }
        let real = |path: &Path| {
            let here = Path::new(".");
            let path = if path.as_os_str().is_empty() {
                here
            } else {
                path
            };
            path.canonicalize()
        };
        let project = real(self.root.parent().unwrap_or(Path::new("/")))?;
        let folder = real(path.parent().unwrap_or(&self.root));
        let file = real(path);
        let leads_out = |found: &io::Result<PathBuf>| {
            found
                .as_ref()
                .is_ok_and(|found| !found.starts_with(&project))
        };
        // A link to a file that is not there yet would make it.
        let dangles = file.is_err() && path.is_symlink();
        if leads_out(&folder) || leads_out(&file) || dangles {
            return Err(io::Error::other("a link leads it out of the project"));
        }
        Ok(())
    }

    /// The file of the store.
    pub fn store(&self) -> PathBuf {
        self.root.join("ioco.db")
    }

    /// A folder for the files of another program. What is there already must not lead out of the project: that
    /// program writes it.
    pub fn folder(&self, name: &str) -> Result<PathBuf, CampaignError> {
        self.make()?;
        let folder = self.root.join(name);
        let make = || -> io::Result<()> {
            self.check_inside(&folder)?;
            fs::create_dir_all(&folder)?;
            for entry in fs::read_dir(&folder)? {
                self.check_inside(&entry?.path())?;
            }
            Ok(())
        };
        make().map_err(|error| trouble("use", &folder, &error))?;
        Ok(folder)
    }

    /// Makes the folder. Results are nobody's source: it keeps itself out of version control.
    pub fn make(&self) -> Result<(), CampaignError> {
        let ignore = self.root.join(".gitignore");
        let make = || -> io::Result<()> {
            fs::create_dir_all(&self.root)?;
            self.check_inside(&ignore)?;
            match File::create_new(&ignore) {
                Ok(mut file) => file.write_all(b"*\n!failures/\n!failures/*.json\n"),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
                Err(error) => Err(error),
            }
        };
        make().map_err(|error| trouble("write", &ignore, &error))
    }

    /// A folder for temporary files that nobody else uses, for where nothing can be written.
    pub fn elsewhere() -> Result<PathBuf, CampaignError> {
        let mut root = std::env::temp_dir().join(format!("ioco-{}", std::process::id()));
        // An earlier process of the same number may have left one.
        for again in 1..100 {
            match fs::create_dir(&root) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    root.set_file_name(format!("ioco-{}-{again}", std::process::id()));
                }
                made => {
                    made.map_err(|error| trouble("make", &root, &error))?;
                    return Ok(root);
                }
            }
        }
        Err(CampaignError::usage(format!(
            "cannot make {}",
            root.display()
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_change_of_a_file_that_many_change_is_lost() {
        const THREADS: u64 = 16;
        const CHANGES: u64 = 50;
        let folder = tempfile::tempdir().expect("a folder");
        let results = Results::at(folder.path().to_owned());
        let path = results.coverage("counted");
        let read = |path: &Path| -> u64 {
            let text = fs::read_to_string(path).unwrap_or_else(|_| "0".to_owned());
            text.parse().expect("a whole number")
        };
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for _ in 0..CHANGES {
                        let more = |path: &Path| Ok((read(path) + 1).to_string().into_bytes());
                        results.update(&path, more).expect("written");
                    }
                });
            }
        });
        assert_eq!(read(&path), THREADS * CHANGES);
        let left = fs::read_dir(path.parent().expect("a folder")).expect("files");
        let mut names: Vec<_> = left.flatten().map(|entry| entry.file_name()).collect();
        names.sort();
        assert_eq!(names, ["counted.json", "counted.lock"]);
    }
}
