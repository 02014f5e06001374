#![doc = include_str!("../README.md")]
#![warn(missing_docs)]
#![allow(
    clippy::test_attr_in_doctest,
    reason = "`cargo xtask test` runs this example as a test of another crate"
)]

mod asynchronous;
mod builder;
mod check;
mod files;
mod message;
mod model;
mod outcome;
mod system;
mod value;

pub use asynchronous::{AsyncSystem, blocking, blocking_by, from_async_fn};
pub use builder::{ModelBuilder, Switch, Type};
pub use check::{Check, Relation, Solver, Strategy, check};
pub use message::{Response, Stimulus};
pub use model::{Model, ModelError};
pub use outcome::{Error, Failure, Report};
pub use rust_decimal::Decimal;
pub use system::{System, from_fn};
pub use value::Value;

/// The examples of the book's page about this crate are run too.
#[cfg(doctest)]
#[doc = include_str!("../../../book/src/in-your-tests.md")]
struct Book;
