//! A walk by hand on the project's system: one at a time, as long as no other wants the system.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ioco_campaign::hand::{HandState, HandWalk};
use ioco_campaign::{Interrupt, SemanticsOptions, SolverChoice, time};
use ioco_generate::suite::{Header, SUITE_VERSION, SavedTest, SavedTree};
use ioco_outside::Untrusted;
use ioco_view::{Exploration, Given, explore_taken};
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::refusal::Refusal;
use crate::slot::InUse;

/// Which model to walk. The system is the project's own: a page names no other one.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(default, deny_unknown_fields)]
pub struct WalkRequest {
    pub model: String,
}

/// What to do next on the system.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(tag = "action", rename_all = "kebab-case")]
pub enum WalkStepRequest {
    Give(Given),
    /// Wait for a response, or for silence.
    Listen,
    /// Take in what has arrived.
    Look,
    /// Let go of the system.
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum WalkState {
    /// Nobody walks.
    None,
    Going,
    /// The system did what the model does not allow.
    Failed,
    /// It cannot go on: the message says why.
    Over,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, ts_rs::TS))]
pub struct WalkView {
    pub state: WalkState,
    pub model: String,
    /// How the system is reached.
    pub system: String,
    pub message: Option<String>,
    pub exploration: Option<Exploration>,
}

/// Where a walk was kept.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, ts_rs::TS))]
pub struct KeptWalk {
    /// A suite, below the project's folder.
    pub file: String,
    /// How many tests it has now.
    pub tests: usize,
    pub command: String,
}

/// A walk under way.
pub struct Walk {
    model: String,
    hash: String,
    system: String,
    hand: HandWalk,
    _in_use: InUse,
}

/// The walk of this server, if there is one.
#[derive(Default)]
pub struct Walks {
    walk: Mutex<Option<Walk>>,
    /// Cuts short what the walk waits for.
    interrupt: Mutex<Interrupt>,
}

impl Walks {
    /// Lets go of the system.
    pub fn end(&self) {
        let waits = self.interrupt.lock();
        waits.unwrap_or_else(PoisonError::into_inner).raise();
        *self.lock() = None;
    }

    fn lock(&self) -> MutexGuard<'_, Option<Walk>> {
        self.walk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl App {
    /// Resets the project's system, for a walk by hand.
    pub fn begin_walk(&self, request: &WalkRequest) -> Result<WalkView, Refusal> {
        self.walks.end();
        let loaded = self.models.load(&request.model)?;
        let reach = self.own_system()?;
        let in_use = self.slot.take("a walk by hand is under way")?;
        let sts = &loaded.usable()?.sts;
        let sts = match &self.project.test.timeout {
            Some(text) => Arc::new(sts.with_timeout(time::parse(text)?)),
            None => Arc::clone(sts),
        };
        let meaning = SemanticsOptions {
            relation: self.project.test.relation()?,
            solver: SolverChoice::named(self.project.test.solver.as_deref()),
        };
        let interrupt = Interrupt::default();
        let waits = self.walks.interrupt.lock();
        *waits.unwrap_or_else(PoisonError::into_inner) = interrupt.clone();
        let hand = HandWalk::begin(&sts, &reach, &self.project, meaning, interrupt)?;
        let mut place = self.walks.lock();
        let walk = place.insert(Walk {
            model: request.model.clone(),
            hash: loaded.view.hash.clone(),
            system: reach.show(),
            hand,
            _in_use: in_use,
        });
        Ok(walk.view())
    }

    pub fn walk(&self) -> Result<WalkView, Refusal> {
        Ok(match &mut *self.walks.lock() {
            Some(walk) => {
                walk.hand.look();
                walk.view()
            }
            None => nothing_walked(),
        })
    }

    pub fn step_walk(&self, request: &WalkStepRequest) -> Result<WalkView, Refusal> {
        if matches!(request, WalkStepRequest::End) {
            self.walks.end();
            return Ok(nothing_walked());
        }
        let mut place = self.walks.lock();
        let walk = place.as_mut().ok_or_else(no_walk)?;
        match request {
            WalkStepRequest::Give(given) => {
                let action = given
                    .action(walk.hand.sts())
                    .map_err(|why| Refusal::wrong(why, "choose one of what the model offers"))?;
                if !walk.hand.give(&action) && *walk.hand.state() == HandState::Going {
                    return Ok(WalkView {
                        message: Some(format!(
                            "{} was not given: the model does not offer it any more",
                            action.show(walk.hand.sts())
                        )),
                        ..walk.view()
                    });
                }
            }
            WalkStepRequest::Listen => walk.hand.listen(),
            WalkStepRequest::Look | WalkStepRequest::End => walk.hand.look(),
        }
        Ok(walk.view())
    }

    /// Adds the walk to the suite of walks of its model.
    pub fn keep_walk(&self) -> Result<KeptWalk, Refusal> {
        let place = self.walks.lock();
        let walk = place.as_ref().ok_or_else(no_walk)?;
        let steps = walk.hand.steps();
        if steps.is_empty() {
            return Err(Refusal::wrong(
                "the walk has no steps yet",
                "give a stimulus first",
            ));
        }
        let test = SavedTest {
            goal: None,
            tree: SavedTree {
                steps: steps.iter().map(|step| step.what.clone()).collect(),
                branches: Vec::new(),
            },
            switches: Vec::new(),
        };
        let sts = walk.hand.sts();
        let (name, path) = self.suite_of_walks(sts.name())?;
        let cannot = |why: String| {
            Refusal::wrong(
                format!("cannot write {name}: {why}"),
                "look at the file and its permissions",
            )
        };
        let there = match path.exists() {
            true => ioco_outside::file::read_text(&path, sts.budget())
                .map_err(|error| cannot(error.to_string()))?,
            false => {
                let header = Header {
                    suite: SUITE_VERSION,
                    model: sts.name().to_owned(),
                    hash: walk.hash.clone(),
                    query: None,
                };
                format!("{}\n", line(&header))
            }
        };
        let text = format!("{}\n{}\n", there.trim_end(), line(&test));
        // What is there already is not written over, unless it is a suite of this model.
        let suite = ioco_generate::suite::read(&text, sts, &walk.hash);
        let suite = suite.map_err(|bad| cannot(format!("it is no suite of this model: {bad}")))?;
        let mut file = fs::File::create(&path).map_err(|error| cannot(error.to_string()))?;
        file.write_all(text.as_bytes())
            .and_then(|()| file.sync_all())
            .map_err(|error| cannot(error.to_string()))?;
        Ok(KeptWalk {
            tests: suite.tests.len(),
            command: format!("ioco test --suite {name}"),
            file: name,
        })
    }

    /// Below the project's folder, whatever the model is called.
    fn suite_of_walks(&self, model: &str) -> Result<(String, PathBuf), Refusal> {
        let plain = |c: char| if c.is_alphanumeric() { c } else { '-' };
        let name = format!(
            "{}-walks.jsonl",
            model.chars().map(plain).collect::<String>()
        );
        let path = self.project.root.join(&name);
        match fs::symlink_metadata(&path) {
            Ok(found) if !found.is_file() => Err(Refusal::wrong(
                format!("{} is not a plain file", Untrusted::new(&*name)),
                "move it away",
            )),
            _ => Ok((name, path)),
        }
    }
}

fn line(value: &impl Serialize) -> String {
    // Names, numbers and lists: always JSON.
    serde_json::to_string(value).unwrap_or_default()
}

fn nothing_walked() -> WalkView {
    WalkView {
        state: WalkState::None,
        model: String::new(),
        system: String::new(),
        message: None,
        exploration: None,
    }
}

fn no_walk() -> Refusal {
    Refusal::conflict(
        "the walk by hand has ended",
        "begin again; a run, a replay or another walk ends a walk",
    )
}

impl Walk {
    fn view(&self) -> WalkView {
        let hand = &self.hand;
        let (state, deviation, why) = match hand.state() {
            HandState::Going => (WalkState::Going, None, None),
            HandState::Failed(deviation, at) => {
                let title = deviation.title(hand.sts().name());
                let said = format!("{} {title}", deviation.code);
                (WalkState::Failed, Some((&**deviation, *at)), Some(said))
            }
            HandState::Over(why) => (WalkState::Over, None, Some(why.clone())),
        };
        let mut semantics = hand.semantics();
        let exploration = explore_taken(&mut semantics, hand.steps(), deviation, hand.wire(), 1);
        WalkView {
            state,
            model: self.model.clone(),
            system: self.system.clone(),
            message: why,
            exploration: Some(exploration),
        }
    }
}
