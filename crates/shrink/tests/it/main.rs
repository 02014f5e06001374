//! Tests of the shrinkers from outside, most of them against published data where it is there.

// Tests read models and published data; the library itself does not touch files.
#![allow(clippy::disallowed_methods)]

mod auto;
mod claims;
mod costs;
mod flat_model;
mod flat_runner;
mod flat_systems;
mod generated;
mod limits;
mod published_data;
mod random_system;
mod reconstruction;
mod sps;
mod trace_centric;

use ioco_shrink::{Options, Pipeline, Runner, ShrinkError, Shrunk, shrink};
use ioco_sts::{Execution, Semantics};

/// Shrinks with the shrinkers of this name.
fn shrink_by(
    name: &str,
    model: &mut Semantics,
    failure: &Execution,
    runner: &mut dyn Runner,
    options: &Options,
) -> Result<Shrunk, ShrinkError> {
    let pipeline: Pipeline = name.parse().expect("a shrinker");
    shrink(&pipeline, model, failure, runner, options, &mut ())
}
