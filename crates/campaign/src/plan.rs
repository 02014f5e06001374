//! What a campaign is to run.

use ioco_sts::Action;

use crate::connect::ConnectionSpec;
use crate::model::{Model, ModelOptions};
use crate::order::Script;
use crate::project::{Project, TestSettings};
use crate::shard::Shard;
use crate::shrinking::ShrinkSettings;

/// What is to be run.
#[derive(Clone)]
pub struct Plan {
    pub project: Project,
    pub model: Model,
    pub options: ModelOptions,
    pub reach: ConnectionSpec,
    /// What ioco.toml says, overridden by what was asked for.
    pub test: TestSettings,
    /// How to shrink what fails; `None` does not.
    pub shrinking: Option<ShrinkSettings>,
    /// Run the recorded failures first.
    pub known: bool,
    /// Stimuli that every test begins with.
    pub beginning: Vec<Action>,
    /// Systems that are tested side by side.
    pub jobs: usize,
    /// The share of the tests that is run; `None` runs all.
    pub shard: Option<Shard>,
    /// Exactly these tests instead of those of the strategy.
    pub scripts: Vec<Script>,
}
