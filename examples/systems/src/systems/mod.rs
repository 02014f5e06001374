//! One module per system: the right behaviour and its planted bugs side by side.

pub mod atm;
pub mod blockbuster;
pub mod calculator;
mod chance;
pub mod coffee;
pub mod echo;
pub mod koopman;
pub mod queue;
pub mod retransmission;
pub mod smartdoor;
