//! Panics of the database driver, as errors of ours.
//!
//! What a server sends is read by the driver, which takes some nonsense for impossible and panics. That is
//! an error of the server, and no reason to end, nor to show a person where in the driver it happened.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use crate::error::StoreError;

thread_local! {
    /// This thread is in the driver: its panics are not shown.
    static IN_DRIVER: Cell<bool> = const { Cell::new(false) };
}

/// Runs what uses the driver; a panic is an error. Nothing that it used may be used afterwards.
pub(crate) fn caught<T>(
    place: &str,
    work: impl FnOnce() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |panic| {
            if !IN_DRIVER.get() {
                usual(panic);
            }
        }));
    });
    let was = IN_DRIVER.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    IN_DRIVER.set(was);
    done.unwrap_or_else(|_| Err(StoreError::not_understood(place)))
}

#[cfg(test)]
mod tests {
    use super::caught;

    #[test]
    fn a_panic_is_an_error_that_names_the_store() {
        let done = caught::<()>("postgres://db/runs", || panic!("in the driver"));
        let error = done.expect_err("an error").to_string();
        assert!(error.contains("postgres://db/runs"), "{error}");
        assert!(!error.contains("in the driver"), "{error}");
        assert_eq!(caught("x", || Ok(1)).expect("no panic"), 1);
    }
}
