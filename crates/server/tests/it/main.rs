//! The server driven over HTTP, as the page does it, with real systems behind it.

mod bad_input;
mod client;
mod editing;
mod entering;
mod exploring;
mod failing;
mod running;
mod walking;
