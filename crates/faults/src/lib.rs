//! The suite of bad peers: honest systems for every kind of connection, faults that are put between them and
//! ioco, and the rules by which the outcome is judged.
//!
//! A fault is injected into the bytes that a system sends ([`fault::Bad`]). What it may lead to is known
//! beforehand ([`rules`]): a lost response may fail a test, a broken connection never does. A test that does
//! not end is a hang. [`cases`] plays one fault against one kind of connection inside this process;
//! [`program`] kills the program `ioco` itself, [`disks`] starves it, [`database`] takes its database away,
//! [`stops`] measures how soon it stops, and [`soak`] how its memory behaves over a long run.

pub mod buses;
pub mod cases;
pub mod database;
pub mod disks;
pub mod fault;
pub mod model;
pub mod peers;
pub mod program;
pub mod rules;
pub mod soak;
pub mod stops;
pub mod stores;
pub mod table;
pub mod tls;
