//! A second implementation of the theory, and what holds ioco's answers against it.
//!
//! [`mod@reference`] is small, slow and obvious: it enumerates. It is written from the definitions
//! (Tretmans 2008; Frantzen, Tretmans and Willemse 2005 for symbolic transition systems; the book's
//! chapter on the language) and shares with the program only the parsed model. [`generate`] makes
//! random models, as text, and random systems. [`check`] asks ioco and the reference the same
//! questions. [`shrink`] cuts a model on which they differ down to a small one.

pub mod check;
pub mod generate;
pub mod reference;
pub mod shrink;
