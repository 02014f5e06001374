//! The program tested as a program: what it prints, what it leaves on disk, and its exit codes.

#![expect(
    clippy::disallowed_macros,
    reason = "tests print for whoever runs them"
)]

mod accepting;
mod amp;
mod bad_systems;
mod book;
mod book_campaigns;
mod book_commands;
mod book_protocols;
mod book_systems;
mod ci;
mod compare;
mod connections;
mod doctor;
mod edge;
mod examples;
mod executors;
mod export;
mod exported;
mod generate;
mod help;
mod hostile;
mod jobs;
mod libraries;
mod lifecycle;
mod limits;
mod machines;
mod models;
mod nats;
mod nats_access;
mod nats_resume;
mod nothing_is_lost;
mod nusmv;
mod one_place_two_causes;
mod openapi;
mod printable;
mod project;
mod queries;
mod recording;
mod reports;
mod runs;
mod serve;
mod settings;
mod signals;
mod simulate;
mod started;
mod suites;
mod support;
mod trust;
mod watching;
mod words;
