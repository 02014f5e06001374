//! Expressions: the text inside `constraint:` and `update:` strings, function bodies and queries.
//!
//! They are parsed to a small tree with places ([`parse`]), then names are resolved and types
//! checked ([`check`]), which gives an expression of the domain.

pub mod check;
mod constants;
pub mod generated;
mod keyed;
mod keyed_functions;
pub mod known;
pub mod lexer;
mod methods;
pub mod names;
mod node;
mod operators;
pub mod parse;
