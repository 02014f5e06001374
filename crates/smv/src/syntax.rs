//! The NuSMV text: tokens, tree, parser. Nothing here knows what a name means.

pub(crate) mod lexer;
pub(crate) mod parser;
pub mod tree;
