//! Which files a run depends on, and whether one of them has changed: for `ioco test --watch` and the page. Files are
//! looked at from time to time instead of through the operating system's notices, which network and container file
//! systems do not give.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::connect::{ConnectionSpec, Transport};
use crate::model::{self, ModelOptions};
use crate::project::Project;

/// Files below folders in folders in folders are followed, no deeper.
const MAX_DEPTH: usize = 8;
/// More files than this are not followed.
const MAX_FILES: usize = 5_000;
/// More entries of folders than this are not looked at: folders need not have files, and links may lead round.
const MAX_ENTRIES: usize = 50_000;

/// What can be seen of a file without reading it.
type Seen = Option<(SystemTime, u64)>;

/// Files as they were at one moment.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    files: Vec<(PathBuf, Seen)>,
    /// What was asked for: a folder may get new files.
    roots: BTreeSet<PathBuf>,
}

impl Watched {
    /// The files and folders, as they are now.
    pub fn new(roots: impl IntoIterator<Item = PathBuf>) -> Watched {
        let roots: BTreeSet<PathBuf> = roots.into_iter().collect();
        let mut search = Search::default();
        for root in &roots {
            search.collect(root, MAX_DEPTH);
        }
        Watched {
            files: search.found,
            roots,
        }
    }

    /// The first file that is not as it was: written, made or taken away.
    pub fn changed(&self) -> Option<PathBuf> {
        let other = |(path, before): &&(PathBuf, Seen)| seen(path) != *before;
        if let Some((path, _)) = self.files.iter().find(other) {
            return Some(path.clone());
        }
        // New files appear only below folders.
        if !self.roots.iter().any(|root| root.is_dir()) {
            return None;
        }
        let now = Watched::new(self.roots.iter().cloned());
        let known: BTreeSet<&Path> = self.files.iter().map(|(path, _)| path.as_path()).collect();
        let mut paths = now.files.into_iter().map(|(path, _)| path);
        paths.find(|path| !known.contains(path.as_path()))
    }

    /// What was asked for, for a person.
    pub fn show(&self) -> String {
        let shown = self.roots.iter().map(|path| {
            let path = path.strip_prefix(".").unwrap_or(path);
            path.display().to_string()
        });
        shown.collect::<Vec<_>>().join(", ")
    }
}

fn seen(path: &Path) -> Seen {
    let data = fs::metadata(path).ok()?;
    Some((data.modified().ok()?, data.len()))
}

#[derive(Default)]
struct Search {
    found: Vec<(PathBuf, Seen)>,
    entries: usize,
}

impl Search {
    fn collect(&mut self, path: &Path, depth: usize) {
        if self.found.len() >= MAX_FILES || self.entries >= MAX_ENTRIES {
            return;
        }
        if !path.is_dir() {
            self.found.push((path.to_owned(), seen(path)));
            return;
        }
        let Ok(entries) = fs::read_dir(path) else {
            return;
        };
        for entry in entries.filter_map(Result::ok) {
            if self.entries >= MAX_ENTRIES {
                return;
            }
            self.entries += 1;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let is_made = ["node_modules", "target", "__pycache__"].contains(&name.as_ref());
            if depth > 0 && !name.starts_with('.') && !is_made {
                self.collect(&entry.path(), depth - 1);
            }
        }
    }
}

/// The files of the model, which may have errors, and ioco.toml.
pub fn model_files(project: &Project) -> Vec<PathBuf> {
    let mut files = vec![project.file()];
    files.extend(project.model.clone());
    if let Ok(read) = model::read(&ModelOptions::default(), project) {
        files.extend(read.files.iter().map(|file| PathBuf::from(&file.name)));
    }
    files
}

/// The files of the system: what `[sut] watch` lists, or else the files that its commands name.
pub fn system_files(reach: Option<&ConnectionSpec>, project: &Project) -> Vec<PathBuf> {
    let root = project.root.as_path();
    if !project.sut.watch.is_empty() {
        let listed = project.sut.watch.iter();
        return listed.map(|path| root.join(path)).collect();
    }
    let (folder, words): (&Path, Vec<String>) = match reach.map(|reach| &reach.way) {
        Some(Transport::Command(words)) => (root, words.clone()),
        Some(Transport::Shell(line)) => (Path::new("."), plain_words(line)),
        Some(Transport::Started(start, _)) => {
            let lines = start.commands().into_iter().flat_map(plain_words);
            (root, lines.collect())
        }
        _ => return Vec::new(),
    };
    // A program on the search path is not the person's.
    let files = words.iter().map(|word| folder.join(word));
    files.filter(|path| path.is_file()).collect()
}

/// The words of a line for the shell, without its quotes.
fn plain_words(line: &str) -> Vec<String> {
    let is_mark = |c: char| c.is_whitespace() || "'\";&|()<>".contains(c);
    let words = line.split(is_mark).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().expect("a folder")
    }

    #[test]
    fn a_written_a_new_and_a_deleted_file_are_changes() {
        let here = folder();
        let (file, new) = (here.path().join("door.py"), here.path().join("lock.py"));
        fs::write(&file, "one").expect("written");
        let watched = || Watched::new([here.path().to_owned()]);
        let before = watched();
        assert_eq!(before.changed(), None);
        fs::write(&file, "longer").expect("written");
        assert_eq!(before.changed(), Some(file.clone()));
        let before = watched();
        fs::write(&new, "").expect("written");
        assert_eq!(before.changed(), Some(new.clone()));
        let before = watched();
        fs::remove_file(&new).expect("removed");
        assert_eq!(before.changed(), Some(new));
    }

    #[test]
    fn links_that_lead_round_are_not_followed_for_ever() {
        let here = folder();
        for number in 0..20 {
            let link = here.path().join(format!("again{number}"));
            std::os::unix::fs::symlink(here.path(), link).expect("linked");
        }
        let mut search = Search::default();
        search.collect(here.path(), MAX_DEPTH);
        // Without a limit it looks at 20 to the power of 9.
        assert!(search.entries <= MAX_ENTRIES, "{}", search.entries);
        assert_eq!(Watched::new([here.path().to_owned()]).changed(), None);
    }

    #[test]
    fn results_and_build_folders_are_not_followed() {
        let here = folder();
        for name in [".ioco", "target", "node_modules"] {
            fs::create_dir(here.path().join(name)).expect("made");
        }
        let before = Watched::new([here.path().to_owned()]);
        for name in [".ioco", "target", "node_modules"] {
            fs::write(here.path().join(name).join("file"), "x").expect("written");
        }
        assert_eq!(before.changed(), None);
    }

    #[test]
    fn the_files_that_a_command_names_belong_to_the_system() {
        let here = folder();
        fs::write(here.path().join("door.py"), "").expect("written");
        let project = Project {
            root: here.path().to_owned(),
            ..Project::default()
        };
        let way = Transport::Command(["python3", "door.py", "--fast"].map(str::to_owned).to_vec());
        let reach = ConnectionSpec::of_way(way, false, &project).expect("a system");
        let files = system_files(Some(&reach), &project);
        assert_eq!(files, [here.path().join("door.py")]);
    }

    #[test]
    fn the_project_may_list_the_files_of_its_system() {
        let here = folder();
        fs::write(here.path().join("ioco.toml"), "[sut]\nwatch = [\"src\"]\n").expect("written");
        let project = Project::find(Some(here.path()), None).expect("a project");
        assert_eq!(system_files(None, &project), [here.path().join("src")]);
    }
}
