//! What the tests of the formats share with each other and with the tests of the domain.

// Every test file compiles this for itself and uses its own part of it.
#![allow(dead_code)]

pub mod everything;
#[path = "../../../sts/tests/common/models.rs"]
pub mod models;
#[path = "../../../sts/tests/common/public.rs"]
pub mod public;
