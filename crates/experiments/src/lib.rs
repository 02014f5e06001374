//! The shrinking experiments of van den Broek 2024 and Koopman et al. 2013, run again against our own mutants, with the
//! published figures beside ours.
//!
//! The failing traces and published results come from a folder in the format of the published
//! data, the models of the vending machine and the teller machine from a folder of model texts. The
//! model of the door is the example's own: the published one is not public.
//!
//! [`decomposition`] is the experiment on NuSMV models.

pub mod decomposition;
pub mod detection;
mod flat;
mod generated;
mod published;
mod random;
mod rows;
mod runner;
mod shortest;
mod silence;
mod tables;
mod vending_tables;

use std::path::PathBuf;

pub use flat::{FlatModel, flat_model, flat_runner};
pub use published::{Case, PublishedResult, read_cases};
pub use random::{Choices, Share, random_cases};
pub use rows::{Report, Row, Setup, measure};
pub use runner::ModelRunner;
pub use silence::silence;
pub use tables::show;
pub use vending_tables::{VendingTable, vending_tables};

/// Why an experiment cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    #[error("cannot read {}: {reason}", path.display())]
    Unreadable { path: PathBuf, reason: String },
    #[error("{} is not in the format of the published data: {reason}", path.display())]
    Format { path: PathBuf, reason: String },
    #[error("the model {} has errors:\n{text}", path.display())]
    Model { path: PathBuf, text: String },
    #[error("there is no folder with traces under {}", path.display())]
    NoTraces { path: PathBuf },
    #[error("there is no model.aml in the folders under {}", path.display())]
    NoModels { path: PathBuf },
    #[error("the right {model} fails under {strategy}, so its mutants prove nothing: {shown}")]
    RightFails {
        model: String,
        strategy: String,
        shown: String,
    },
    #[error("{0}")]
    System(String),
    #[error("{experiment} {mutant}: trace {number} does not fail against our mutant")]
    DoesNotFail {
        experiment: String,
        mutant: String,
        number: usize,
    },
    #[error("{0}")]
    Shrink(#[from] ioco_shrink::ShrinkError),
}
