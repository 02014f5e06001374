//! What changed on disk: the page is sent when the model's files or the system's files were written.

use std::sync::Arc;

use ioco_campaign::watch::{Watched, system_files};
use ioco_campaign::{ConnectionSpec, Project, SystemChoice};
use serde::Serialize;

use crate::app::App;

/// How often each was seen to change since the page began to listen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Changes {
    pub model: u32,
    pub system: u32,
    /// What changed last.
    pub file: Option<String>,
}

/// One page that listens.
pub struct Listener {
    app: Arc<App>,
    path: String,
    sent: Option<Changes>,
    now: Changes,
    model: Watched,
    system: Watched,
    beats: u32,
}

/// Files are looked at this many times a second less often than a page is served.
const BEATS: u32 = 3;

impl Listener {
    pub fn new(app: Arc<App>, path: String) -> Listener {
        let system = system(&app.choice, &app.project);
        Listener {
            model: app.models.files_of(&path),
            app,
            path,
            sent: None,
            now: Changes::default(),
            system,
            beats: 0,
        }
    }

    /// News, if there are any; it never ends by itself.
    pub fn news(&mut self) -> (Option<Changes>, bool) {
        self.beats = (self.beats + 1) % BEATS;
        if self.beats == 0 {
            self.look();
        }
        if self.sent.as_ref() == Some(&self.now) {
            return (None, false);
        }
        self.sent = Some(self.now.clone());
        (self.sent.clone(), false)
    }

    fn look(&mut self) {
        if let Some(path) = self.model.changed() {
            self.now.model += 1;
            self.now.file = Some(path.display().to_string());
            self.model = self.app.models.files_of(&self.path);
        }
        if let Some(path) = self.system.changed() {
            self.now.system += 1;
            self.now.file = Some(path.display().to_string());
            self.system = system(&self.app.choice, &self.app.project);
        }
    }
}

fn system(choice: &SystemChoice, project: &Project) -> Watched {
    let reach = ConnectionSpec::typed(choice, project).ok().flatten();
    Watched::new(system_files(reach.as_ref(), project))
}
