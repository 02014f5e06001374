//! Runs targets over corpora and mutations of them, on a stack as small as a thread's.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use crate::{Mutator, Target};

/// What `std` gives a thread.
const STACK: usize = 2 << 20;

/// An input on which a target panicked.
pub struct Finding {
    pub input: Vec<u8>,
    pub message: String,
}

/// What became of the inputs.
pub struct Outcome {
    pub inputs: u64,
    pub finding: Option<Finding>,
}

/// The kept inputs of a target, in the order of their names.
pub fn corpus(target: &Target) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let files = std::fs::read_dir(folder.join(target.name));
    let mut paths: Vec<PathBuf> = (files.into_iter().flatten().flatten())
        .map(|entry| entry.path())
        .collect();
    paths.sort();
    let read = |path: &PathBuf| std::fs::read(path).ok();
    paths.iter().filter_map(read).collect()
}

/// Runs the corpus, then mutations of it, until `go_on` says no (it is asked with the number of the next input).
/// A stack overflow ends the program: the input that is about to run is given to `begin` first.
pub fn fuzz(
    target: &'static Target,
    seed: u64,
    mut begin: impl FnMut(&[u8]) + Send,
    mut go_on: impl FnMut(u64) -> bool + Send,
) -> Outcome {
    let corpus = corpus(target);
    std::thread::scope(|scope| {
        let work = || {
            let mut mutator = Mutator::new(seed, target.tokens);
            let mut inputs = 0;
            let mut kept = corpus.iter();
            while go_on(inputs) {
                let input = match kept.next() {
                    Some(input) => input.clone(),
                    None => mutator.mutate(&corpus),
                };
                begin(&input);
                inputs += 1;
                let run = AssertUnwindSafe(|| (target.run)(&input));
                if let Err(panic) = catch_unwind(run) {
                    let message = (panic.downcast_ref::<String>().cloned())
                        .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
                        .unwrap_or_default();
                    let finding = Some(Finding { input, message });
                    return Outcome { inputs, finding };
                }
            }
            Outcome {
                inputs,
                finding: None,
            }
        };
        let thread = std::thread::Builder::new()
            .name(target.name.to_owned())
            .stack_size(STACK)
            .spawn_scoped(scope, work);
        match thread.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => panic!("no thread could be started: {error}"),
        }
    })
}
