//! The folder `.ioco`: failures and coverage. Every file is written whole or not at all. What runs
//! did is kept by the store.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use ioco_budget::Until;
use ioco_outside::Untrusted;

use crate::error::CampaignError;

/// How long to wait for other runs that write the same file: a busy disk may take seconds for each of them.
const LOCK_TIMEOUT: Duration = Duration::from_secs(30);
/// How long to wait for them once a stop is requested, or once the time of the run is up and none of them writes.
const LOCK_GRACE_PERIOD: Duration = Duration::from_millis(500);

pub struct Results {
    root: PathBuf,
}

/// The user can fix an error of the results folder (permissions, a full disk).
fn io_error(doing: &str, path: &Path, error: &io::Error) -> CampaignError {
    CampaignError::usage(format!("cannot {doing} {}: {error}", path.display()))
}

/// When the file was last written: another time for every run that writes it.
fn changed(path: &Path) -> u64 {
    let at = fs::metadata(path).and_then(|file| file.modified());
    let since = at.ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| since.as_micros() as u64)
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
            io_error("write", path, &error)
        })
    }

    /// Changes a file that runs side by side may change too, one after the other: `change` gets its path, and
    /// returns what to write.
    pub fn update(
        &self,
        path: &Path,
        until: &Until,
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
            let patience = until.now() + LOCK_TIMEOUT;
            let mut wait = until.with_grace(LOCK_GRACE_PERIOD);
            while let Err(fs::TryLockError::WouldBlock) = file.try_lock() {
                if until.now() >= patience || wait.is_over(changed(path)) {
                    // Its holder has stopped, or nothing waits any more: better a file that misses something than
                    // none.
                    break;
                }
                std::thread::sleep(Duration::from_millis(5));
            }
            Ok(file)
        };
        let locked = lock().map_err(|error| io_error("write", path, &error))?;
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
        make().map_err(|error| io_error("use", &folder, &error))?;
        Ok(folder)
    }

    /// Makes the folder. Results are no source: it keeps itself out of version control.
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
        make().map_err(|error| io_error("write", &ignore, &error))
    }

    /// A folder for temporary files that no other uses, for where nothing can be written.
    pub fn elsewhere() -> Result<PathBuf, CampaignError> {
        let mut root = std::env::temp_dir().join(format!("ioco-{}", std::process::id()));
        // An earlier process of the same number may have left one.
        for again in 1..100 {
            match fs::create_dir(&root) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    root.set_file_name(format!("ioco-{}-{again}", std::process::id()));
                }
                made => {
                    made.map_err(|error| io_error("make", &root, &error))?;
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
    use std::cell::Cell;
    use std::sync::LazyLock;
    use std::time::Instant;

    use ioco_budget::Interrupt;

    use super::*;

    static BEGINNING: LazyLock<Instant> = LazyLock::new(Instant::now);

    thread_local! {
        static ASKED: Cell<u32> = const { Cell::new(0) };
    }

    /// A clock on which 10 ms pass whenever somebody looks at it.
    fn clock() -> Instant {
        ASKED.set(ASKED.get() + 1);
        *BEGINNING + ASKED.get() * Duration::from_millis(10)
    }

    #[test]
    fn a_lock_that_stays_is_waited_for_a_moment_once_the_run_is_to_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let results = Results::at(folder.path().to_owned());
        let path = results.coverage("held");
        let raised = Interrupt::default();
        raised.raise();
        let late = Until::forever(clock).by(Some(clock()));
        for until in [Until::raised(clock, &raised), late] {
            results
                .update(&path, &until, |_| Ok(b"0".to_vec()))
                .expect("written");
            let holder = File::open(path.with_extension("lock")).expect("a lock");
            holder.lock().expect("held");
            let begun = clock();
            let written = results.update(&path, &until, |_| Ok(b"1".to_vec()));
            let waited = clock() - begun;
            written.expect("written");
            assert_eq!(fs::read(&path).expect("a file"), b"1");
            assert!(
                LOCK_GRACE_PERIOD <= waited && waited < 2 * LOCK_GRACE_PERIOD,
                "{waited:?}"
            );
        }
    }

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
                        let until = Until::forever(Instant::now);
                        results.update(&path, &until, more).expect("written");
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
