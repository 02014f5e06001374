//! On-the-fly testing as a pure state machine: time, observations and random bits in; commands and
//! events out. Nothing here waits, reads a clock or touches a file.
//!
//! A [`Tester`] follows a model and a system together. A driver carries out its [`Command`]s and
//! hands it [`Input`]s; it reports what happened as [`Event`]s, and each test ends in a
//! [`TestReport`].

mod codes;
mod coverage;
mod coverage_walk;
mod event;
mod explain;
mod failure;
mod fingerprint;
mod guide;
mod in_flight;
mod monitor;
mod nearest;
mod port;
mod random;
mod report;
mod saved;
mod settings;
mod silence;
mod strategy;
mod tester;
mod values;

pub use codes::{code_of, codes, describe};
pub use coverage::{
    Bits, Boundary, COVERAGE_VERSION, Coverage, CoverageMap, CoverageMismatch, CoverageSnapshot,
    Covered, RequirementCoverage, SavedBoundary, SavedLocation, SavedSwitch,
};
pub use coverage_walk::CoverageWalk;
pub use event::{EVENT_VERSION, Event, MAX_SAVED_STATES, SavedDeviation, SavedVerdict};
pub use explain::{Context, Explanation, PlaceLine, Row, Shrunk, Side, allowed_in, explain};
pub use failure::{
    FAILURE_VERSION, FailureContext, FailureError, FailureFile, RecordedFailure, Replayed,
    Resolution, SavedShrunk, Sender, TimedStep, WireLine, known_failure,
};
pub use fingerprint::{Fingerprint, NoFingerprint};
pub use guide::{Advice, Guide, View};
pub use monitor::{Recorded, monitor};
pub use nearest::{Edge, Nearest, ShortestPath, UNREACHABLE};
pub use port::{Command, Input};
pub use random::test_seed;
pub use report::{
    FailureCounts, FailureId, KnownFailure, RunVerdict, StopReason, Summary, TestReport,
};
pub use saved::{ModelChanged, SavedStep, value_from_json, value_to_json};
pub use settings::{EventLevel, Settings, StopConditions, StrategyKind, WaitPolicy, weight_of};
pub use silence::SilencePrice;
pub use tester::{Carried, Conditions, TestContext, Tester};
