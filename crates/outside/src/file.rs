//! Reading a file that another person may have made: only regular files, and only up to a limit. A
//! model may be a link to `/dev/zero`, which never ends, or a FIFO, which never begins.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use ioco_budget::{Budget, Exhausted, Resource};

/// Why a file is not read.
#[derive(Debug)]
pub enum Unreadable {
    Io(io::Error),
    /// A device, a FIFO, a socket or a folder.
    NotRegular,
    TooLarge(Exhausted),
    NotText,
    /// It lies outside of the folders that may be read.
    Outside(PathBuf),
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unreadable::Io(error) => error.fmt(f),
            Unreadable::NotRegular => f.write_str("it is not a regular file"),
            Unreadable::TooLarge(exhausted) => exhausted.fmt(f),
            Unreadable::NotText => f.write_str("it is not text in UTF-8"),
            Unreadable::Outside(root) => write!(
                f,
                "it is outside of {}; allow its folder with --allow-include DIR",
                root.display()
            ),
        }
    }
}

impl std::error::Error for Unreadable {}

impl From<io::Error> for Unreadable {
    fn from(error: io::Error) -> Unreadable {
        Unreadable::Io(error)
    }
}

/// The bytes of a regular file that is no larger than the budget allows.
pub fn read(path: &Path, budget: &Budget) -> Result<Vec<u8>, Unreadable> {
    // Opening a FIFO waits for a writer unless it is asked not to; a regular file does not care.
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)?;
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(Unreadable::NotRegular);
    }
    let too_large = |size| {
        budget
            .check(Resource::Bytes, size)
            .map_err(Unreadable::TooLarge)
    };
    too_large(about.len())?;
    let mut bytes = Vec::new();
    // It may grow while it is read, and files of /proc say that they are empty.
    file.take(budget.bytes.saturating_add(1))
        .read_to_end(&mut bytes)?;
    too_large(bytes.len() as u64)?;
    Ok(bytes)
}

/// The text of a regular file that is no larger than the budget allows.
pub fn read_text(path: &Path, budget: &Budget) -> Result<String, Unreadable> {
    String::from_utf8(read(path, budget)?).map_err(|_| Unreadable::NotText)
}

/// The bytes of a file of this user's own, that no other could have written.
pub fn read_own(path: &Path, budget: &Budget) -> Result<Vec<u8>, Unreadable> {
    let about = std::fs::symlink_metadata(path)?;
    let is_own = about.uid() == rustix::process::geteuid().as_raw();
    if !about.is_file() || !is_own || about.mode() & 0o022 != 0 {
        return Err(Unreadable::NotRegular);
    }
    read(path, budget)
}

/// The folders that files may be read from: the project's, and those that were allowed.
#[derive(Clone, Debug, Default)]
pub struct AllowedFolders {
    folders: Vec<PathBuf>,
}

impl AllowedFolders {
    /// Folders that are not there hold nothing.
    pub fn new(folders: impl IntoIterator<Item = PathBuf>) -> AllowedFolders {
        let folders = folders.into_iter().filter_map(|folder| {
            let folder = if folder.as_os_str().is_empty() {
                PathBuf::from(".")
            } else {
                folder
            };
            folder.canonicalize().ok()
        });
        AllowedFolders {
            folders: folders.collect(),
        }
    }

    /// Refuses what lies outside, wherever links lead to.
    pub fn check(&self, path: &Path) -> Result<(), Unreadable> {
        let real = path.canonicalize()?;
        if self.folders.iter().any(|folder| real.starts_with(folder)) {
            return Ok(());
        }
        Err(Unreadable::Outside(
            self.folders.first().cloned().unwrap_or_default(),
        ))
    }
}

/// Writes a file that only this user can read, whole or not at all.
pub fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
        make_private_folder(folder)?;
    }
    let mut draft = path.as_os_str().to_owned();
    draft.push(format!(".{}.part", std::process::id()));
    let draft = PathBuf::from(draft);
    // A draft of a process that was killed.
    let _ = std::fs::remove_file(&draft);
    let written = create_private(&draft)
        .and_then(|mut file| file.write_all(bytes))
        .and_then(|()| std::fs::rename(&draft, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&draft);
    }
    written
}

/// A new file that only this user can read. That it is new means that no link leads elsewhere.
pub fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}

/// A folder that only this user can enter; its parents as usual.
pub fn make_private_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    std::fs::create_dir_all(folder)?;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> Budget {
        Budget {
            bytes: 8,
            ..Budget::default()
        }
    }

    #[test]
    fn a_file_is_read_up_to_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.aml");
        std::fs::write(&path, "12345678").unwrap();
        assert_eq!(read_text(&path, &small()).unwrap(), "12345678");
        std::fs::write(&path, "123456789").unwrap();
        let refused = read_text(&path, &small()).unwrap_err().to_string();
        assert!(refused.contains("--limit bytes=N"), "{refused}");
    }

    #[test]
    fn what_never_ends_or_never_begins_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("zero.aml");
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        let fifo = folder.path().join("fifo.aml");
        rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::RUSR).unwrap();
        for path in [link.as_path(), &fifo, folder.path(), Path::new("/dev/zero")] {
            let refused = read_text(path, &small()).unwrap_err();
            assert!(
                matches!(refused, Unreadable::NotRegular),
                "{path:?}: {refused}"
            );
        }
        // It says that it is empty, and is not.
        let refused = read_text(Path::new("/proc/self/maps"), &small()).unwrap_err();
        assert!(matches!(refused, Unreadable::TooLarge(_)), "{refused}");
    }

    #[test]
    fn links_do_not_lead_out_of_the_project() {
        let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let secret = outside.path().join("secret.aml");
        std::fs::write(&secret, "x").unwrap();
        let link = inside.path().join("link.aml");
        std::os::unix::fs::symlink(&secret, &link).unwrap();
        let bounds = AllowedFolders::new([inside.path().to_owned()]);
        assert!(matches!(bounds.check(&link), Err(Unreadable::Outside(_))));
        assert!(matches!(bounds.check(&secret), Err(Unreadable::Outside(_))));
        let both = AllowedFolders::new([inside.path().to_owned(), outside.path().to_owned()]);
        assert!(both.check(&link).is_ok());
    }

    #[test]
    fn a_private_file_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state/ioco/secret");
        write_private(&path, b"1").unwrap();
        write_private(&path, b"2").unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(path.parent().unwrap()), 0o700);
        assert_eq!(std::fs::read(&path).unwrap(), b"2");
    }
}
