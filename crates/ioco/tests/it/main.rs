//! The facade as its users meet it.

mod asynchronous;
mod bank;
mod built;
mod containers;
mod documented;
mod kept;
mod misbehaving;
mod values;

use ioco::{Error, Failure, Report};

/// The failure that a check found.
#[track_caller]
fn failure(outcome: Result<Report, Error>) -> Failure {
    match outcome {
        Err(Error::Failed(failure)) => *failure,
        Err(other) => panic!("another error: {other}"),
        Ok(report) => panic!("found nothing: {report}"),
    }
}
