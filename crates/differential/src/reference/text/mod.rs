//! Expressions by their text: a reader and an evaluator written from the book's chapter on the
//! language. They share nothing with ioco's reader, which turns methods, blocks, slices and updates of
//! parts into functions; here they mean what Ruby means by them.

mod eval;
mod keyed;
mod read;

pub use eval::{Function, Source};
pub use read::{Block, Node, Target, Update, expression, updates};
