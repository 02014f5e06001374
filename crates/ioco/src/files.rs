//! The facade's edge to files: models that lie in one, and failures that are kept in a folder.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use ioco_budget::{Budget, Resource};
use ioco_engine::FailureFile;

/// The text of a file of at most so many bytes.
pub(crate) fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    let mut text = String::new();
    let mut file = File::open(path)?.take(limit.saturating_add(1));
    file.read_to_string(&mut text)?;
    let budget = Budget {
        bytes: limit,
        ..Budget::default()
    };
    let size = text.len() as u64;
    match budget.check(Resource::Bytes, size) {
        Ok(()) => Ok(text),
        Err(_) => Err(io::Error::other(format!("it is larger than {limit} bytes"))),
    }
}

/// A folder of failures that run first.
#[derive(Clone, Debug)]
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    /// The files of failures of this model, by name, with what they hold or why that cannot be read.
    pub(crate) fn failures(
        &self,
        model: &str,
    ) -> io::Result<Vec<(PathBuf, Result<FailureFile, String>)>> {
        let entries = match fs::read_dir(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let paths = entries.map(|entry| entry.map(|entry| entry.path()));
        let mut paths: Vec<PathBuf> = paths.collect::<io::Result<_>>()?;
        paths.retain(|path| path.extension().is_some_and(|e| e == "json"));
        // The same order everywhere, whatever the file system says.
        paths.sort_unstable();
        let read = |path: &Path| {
            let text = read_text(path, Budget::default().bytes);
            let text = text.map_err(|error| error.to_string())?;
            FailureFile::read(&text).map_err(|error| error.to_string())
        };
        let read = paths.into_iter().map(|path| {
            let file = read(&path);
            (path, file)
        });
        // Failures of other models belong to other tests.
        let is_ours = |file: &Result<FailureFile, String>| match file {
            Ok(file) => file.model == model,
            Err(_) => true,
        };
        Ok(read.filter(|(_, file)| is_ours(file)).collect())
    }

    /// Writes the file of a failure, whole or not at all: tests run side by side.
    pub(crate) fn keep(&self, file: &FailureFile) -> io::Result<PathBuf> {
        static DRAFTS: AtomicU64 = AtomicU64::new(0);
        let number = DRAFTS.fetch_add(1, Ordering::Relaxed);
        fs::create_dir_all(&self.0)?;
        let path = self.0.join(file.id.file_name());
        let draft = path.with_extension(format!("{}-{number}.part", std::process::id()));
        let write = || -> io::Result<()> {
            File::create_new(&draft)?.write_all(file.write().as_bytes())?;
            fs::rename(&draft, &path)
        };
        match write() {
            Ok(()) => Ok(path),
            Err(error) => {
                let _ = fs::remove_file(&draft);
                Err(error)
            }
        }
    }
}
