//! Work on models and systems happens on threads of its own: with a stack that a deeply nested model
//! does not exhaust, and so that what goes wrong in one call is the error of that call.

use std::io;
use std::thread::{Builder, JoinHandle};

use tokio::sync::{Semaphore, oneshot};

/// Only what is used of it takes memory.
const STACK: usize = 256 << 20;
/// Calls beyond these wait for their turn, so that a client cannot start a thousand threads.
static TURNS: Semaphore = Semaphore::const_new(16);

/// Starts a thread with a large stack.
pub fn spawn(work: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    let thread = Builder::new().name("ioco-work".to_owned());
    thread.stack_size(STACK).spawn(work)
}

/// Does work away from the threads that answer; `None` when it panicked or could not be started.
pub async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let _turn = TURNS.acquire().await.ok()?;
    let (done, result) = oneshot::channel();
    spawn(move || {
        let _ = done.send(work());
    })
    .ok()?;
    result.await.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_the_end_of_one_call_and_others_get_their_turn() {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime.expect("a runtime").block_on(async {
            // More than there are turns: each one must come back.
            for number in 0..40 {
                let failed: Option<u32> = aside(move || {
                    assert_eq!(number, 40, "a call that goes wrong");
                    number
                })
                .await;
                assert_eq!(failed, None);
            }
            assert_eq!(aside(|| 5).await, Some(5));
        });
    }
}
