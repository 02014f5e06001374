//! One module per command: each turns what was typed into calls on the parts.

pub mod adapters;
pub mod check;
pub mod compare;
pub mod connect;
pub mod convert;
pub mod coverage;
pub mod explain;
pub mod explore;
pub mod export;
pub mod failures;
pub mod fmt;
pub mod generate;
pub mod manual;
pub mod merge;
pub mod new;
pub mod nusmv;
mod openapi;
mod passive;
pub mod record;
pub mod replay;
pub mod report;
pub mod runs;
pub mod serve;
pub mod shrink;
pub mod simulate;
pub mod store;
pub mod test;
