//! Suites as they are written: one test a line, as JSON or as text for people.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path as FilePath;
use std::sync::Mutex;

use ioco_campaign::Stop;
use ioco_engine::SavedStep;
use ioco_generate::PathStep;
use ioco_sts::{Action, Direction, Step, Sts};
use serde::Serialize;

use crate::args::Format;

/// Text is handed on in pieces of about this size, so that threads seldom wait for each other.
const PIECE: usize = 1 << 16;

/// One test of a suite.
#[derive(Debug, Serialize)]
pub struct Test {
    /// Stimuli to give and responses that the model allows, in order.
    pub steps: Vec<SavedStep>,
    /// The switches of the path, internal ones included, numbered in the order of the model text.
    pub switches: Vec<u32>,
}

impl Test {
    pub fn new<'p>(sts: &Sts, path: impl Iterator<Item = PathStep<'p>>) -> Test {
        let mut test = Test {
            steps: Vec::new(),
            switches: Vec::new(),
        };
        for step in path {
            test.switches
                .extend(step.step.switches.iter().map(|id| id.0));
            if let Some(action) = step.action {
                test.steps
                    .push(SavedStep::new(&observable(sts, action), sts));
            }
        }
        test
    }
}

fn observable(sts: &Sts, action: Action) -> Step {
    match sts.label(action.label).direction {
        Direction::Stimulus => Step::Stimulus(action),
        Direction::Response | Direction::Internal => Step::Response(action),
    }
}

/// A test on one line, for people.
pub fn in_words<'p>(sts: &Sts, path: impl Iterator<Item = PathStep<'p>>) -> String {
    let actions = path.filter_map(|step| step.action);
    let shown: Vec<String> = actions.map(|action| action.show(sts)).collect();
    shown.join("  ")
}

/// Where a suite goes: shared by all threads.
pub struct Suite {
    target: Mutex<Target>,
    json: bool,
}

struct Target {
    out: Box<dyn Write + Send>,
    failed: Option<io::Error>,
}

impl Suite {
    /// Into a file always as JSON, so that it can be run later; to standard output in the form
    /// that was asked for.
    pub fn open(file: Option<&FilePath>, format: Format) -> Result<Suite, Stop> {
        let out: Box<dyn Write + Send> = match file {
            Some(path) => Box::new(File::create(path).map_err(|error| {
                Stop::usage(format!("cannot write {}: {error}", path.display()))
            })?),
            None => Box::new(io::stdout()),
        };
        Ok(Suite {
            target: Mutex::new(Target { out, failed: None }),
            json: file.is_some() || format == Format::Json,
        })
    }

    pub fn page(&self) -> Page<'_> {
        Page {
            suite: self,
            text: Vec::new(),
        }
    }

    /// What went wrong with writing. A reader that went away (`| head`) is nothing wrong.
    pub fn close(self) -> Result<(), Stop> {
        let mut target = match self.target.into_inner() {
            Ok(target) => target,
            Err(poisoned) => poisoned.into_inner(),
        };
        let flushed = target.out.flush().err();
        match target.failed.or(flushed) {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Stop::usage(format!("cannot write the suite: {error}")))
            }
            _ => Ok(()),
        }
    }
}

/// What one thread has to write.
pub struct Page<'a> {
    suite: &'a Suite,
    text: Vec<u8>,
}

impl Page<'_> {
    /// Adds a test; false when nothing more can be written.
    pub fn add<'p>(&mut self, sts: &Sts, path: impl Iterator<Item = PathStep<'p>>) -> bool {
        if self.suite.json {
            // Writing into memory cannot fail.
            let _ = serde_json::to_writer(&mut self.text, &Test::new(sts, path));
        } else {
            self.text.extend(in_words(sts, path).into_bytes());
        }
        self.text.push(b'\n');
        self.text.len() < PIECE || self.flush()
    }

    pub fn flush(&mut self) -> bool {
        let mut target = match self.suite.target.lock() {
            Ok(target) => target,
            Err(poisoned) => poisoned.into_inner(),
        };
        if target.failed.is_none() {
            target.failed = target.out.write_all(&self.text).err();
        }
        self.text.clear();
        target.failed.is_none()
    }
}
