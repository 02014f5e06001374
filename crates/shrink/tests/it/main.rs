//! Tests of the shrinkers from outside, most of them against published data where it is there.

mod auto;
mod flat_model;
mod flat_runner;
mod flat_systems;
mod published_data;
mod sps;
mod trace_centric;
