//! What this user has typed and trusted, folder by folder. It lies in the user's own state folder
//! (`$XDG_STATE_HOME/ioco`, usually `~/.local/state/ioco`) and not in the project: whoever writes a
//! project cannot write it. Only the user can read it, because commands may hold secrets.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use ioco_budget::Budget;
use serde::{Deserialize, Serialize};

use crate::connect::Transport;
use crate::system::{SystemName, digest};

/// More systems than this of one folder are forgotten, and asked for again.
const MAX_ENTRIES: usize = 200;

/// The ledger of a user; without a folder it knows nothing and remembers nothing.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    folder: Option<PathBuf>,
}

/// What is known about one folder.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Page {
    /// Where it is; the file's name is only a digest of it.
    folder: PathBuf,
    /// Digests of what ioco.toml says, once it was said or allowed.
    #[serde(default)]
    trusted: BTreeSet<String>,
    /// Systems that were typed here, by the digest that failure files hold.
    #[serde(default)]
    systems: BTreeMap<String, Transport>,
    /// Models from elsewhere that were typed here.
    #[serde(default)]
    models: BTreeSet<PathBuf>,
}

impl Ledger {
    /// The ledger of the user who runs this.
    pub fn of_user() -> Ledger {
        let absolute = |name: &str| {
            let path = std::env::var_os(name).map(PathBuf::from);
            path.filter(|path| path.is_absolute())
        };
        let state = absolute("XDG_STATE_HOME")
            .or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
        Ledger {
            folder: state.map(|state| state.join("ioco")),
        }
    }

    pub fn at(folder: PathBuf) -> Ledger {
        Ledger {
            folder: Some(folder),
        }
    }

    /// A place for other private files of this user.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The file about a folder, and that folder's real path.
    fn place(&self, root: &Path) -> Option<(PathBuf, PathBuf)> {
        let root = if root.as_os_str().is_empty() {
            Path::new(".")
        } else {
            root
        };
        let real = root.canonicalize().ok()?;
        let name = format!("{}.json", digest(&[&real.to_string_lossy()]));
        Some((self.folder.as_ref()?.join("folders").join(name), real))
    }

    fn page(&self, root: &Path) -> Page {
        let read = || {
            let (file, real) = self.place(root)?;
            let text = ioco_outside::file::read_own(&file, &Budget::default()).ok()?;
            let page: Page = serde_json::from_slice(&text).ok()?;
            (page.folder == real).then_some(page)
        };
        read().unwrap_or_default()
    }

    /// Changes what is known about a folder. A ledger that cannot be written forgets: the person is
    /// shown or asked again.
    fn change(&self, root: &Path, change: impl FnOnce(&mut Page)) {
        let Some((file, real)) = self.place(root) else {
            return;
        };
        let mut page = self.page(root);
        page.folder = real;
        change(&mut page);
        if let Ok(text) = serde_json::to_vec_pretty(&page) {
            let _ = ioco_outside::file::write_private(&file, &text);
        }
    }

    pub fn trusts(&self, root: &Path, what: &str) -> bool {
        self.page(root).trusted.contains(what)
    }

    pub fn trust(&self, root: &Path, what: &str) {
        self.change(root, |page| {
            page.trusted.insert(what.to_owned());
        });
    }

    /// The system that was typed in this folder, by its digest.
    pub fn system(&self, root: &Path, digest: &str) -> Option<Transport> {
        let way = self.page(root).systems.remove(digest)?;
        // What does not hash to its name was not written by us.
        (SystemName::of_typed(&way) == SystemName::Typed(digest.to_owned())).then_some(way)
    }

    /// Remembers a system that was typed or allowed.
    pub fn remember_system(&self, root: &Path, way: &Transport) {
        let SystemName::Typed(digest) = SystemName::of_typed(way) else {
            return;
        };
        if self.page(root).systems.contains_key(&digest) {
            return;
        }
        self.change(root, |page| {
            if page.systems.len() >= MAX_ENTRIES {
                page.systems.clear();
            }
            page.systems.insert(digest, way.clone());
        });
    }

    pub fn knows_model(&self, root: &Path, model: &Path) -> bool {
        self.page(root).models.contains(model)
    }

    /// Remembers a model that was typed, or allowed, although it lies elsewhere.
    pub fn remember_model(&self, root: &Path, model: &Path) {
        if self.knows_model(root, model) {
            return;
        }
        self.change(root, |page| {
            if page.models.len() >= MAX_ENTRIES {
                page.models.clear();
            }
            page.models.insert(model.to_owned());
        });
    }
}
