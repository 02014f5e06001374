//! Room for recursion over deep expressions: generated models nest hundreds of levels.

/// Address space only; pages are taken when they are touched.
const STACK_BYTES: usize = 1 << 29;

/// Runs `work` on a thread of its own with a large stack and waits for it.
pub(crate) fn with_room<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let handle = std::thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, work);
        match handle {
            Ok(handle) => match handle.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            },
            Err(error) => panic!("no thread could be started: {error}"),
        }
    })
}

/// Starts `work` within `scope` on a thread with a large stack.
pub(crate) fn spawn_with_room<'scope, 'env, T: Send + 'scope>(
    scope: &'scope std::thread::Scope<'scope, 'env>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> std::io::Result<std::thread::ScopedJoinHandle<'scope, T>> {
    std::thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn_scoped(scope, work)
}

/// Starts `work` on a thread with a large stack that nothing waits for.
pub(crate) fn spawn_alone(work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    std::thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(work)
        .map(|_| ())
}
