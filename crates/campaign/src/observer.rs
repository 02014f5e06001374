//! Who watches a campaign: the terminal, the page, a test. Everything has a default, so that a
//! watcher says only what it wants to know.

use ioco_aml::{Diagnostic, SourceFile};
use ioco_engine::{Event, Resolution, TestReport, Tester};
use ioco_shrink::Progress;

use crate::error::Remedy;
use crate::outcome::FoundFailure;
use crate::work::WorkerRow;

pub trait Observer {
    /// An event of the run. It is in the store when this is called.
    fn event(&mut self, _event: &Event) {}

    /// The system is ready for its next test. The tester thinks about the first stimulus now, which may
    /// take a while: [`Observer::handled`] comes only after that.
    fn ready(&mut self) {}

    /// The tester has handled something that crossed the border. The run goes on when this
    /// returns: blocking here is how a run is paused, stepped or slowed down.
    fn handled(&mut self, _tester: &mut Tester) {}

    /// A test has finished, and everything about it is in the store. Where tests are over faster
    /// than that, several are reported at once, and the tester has gone on.
    fn finished(&mut self, _report: &TestReport, _tester: &mut Tester) {}

    /// Several workers carry out the tests: what each has done and does, several times a second.
    fn workers(&mut self, _workers: &[WorkerRow], _tester: &mut Tester) {}

    /// A failure unlike all before, shrunk if that was wanted, is kept.
    fn found(&mut self, _found: &FoundFailure) {}

    /// A failure that this run has shown already was found once more, in another way.
    fn again(&mut self, _id: &str) {}

    /// A failure of an earlier run passes now: the system is fixed, or the model allows what it does.
    fn resolved(&mut self, _id: &str, _resolution: Resolution) {}

    /// A test that ended as an error or inconclusively, in words, and what to do about it.
    fn unusual(&mut self, _explanation: Option<&ioco_engine::Explanation>, _hint: Option<&str>) {}

    /// Shrinking goes on; the length that it started from.
    fn shrinking(&mut self, _from: usize, _now: Progress) {}

    /// What is going on, where a person may have to do something: an adapter is waited for.
    fn notice(&mut self, _message: &str) {}

    /// The run goes on, but a person should know.
    fn warning(&mut self, _message: &str) {}

    /// A warning, and what helps. Who has no words for it gives the warning alone.
    fn warning_with(&mut self, message: &str, _remedy: &Remedy) {
        self.warning(message);
    }

    /// Something that the person did not ask for is about to be run, read or connected to: is it
    /// allowed? Nobody to ask means no.
    fn allow(&mut self, _question: &str) -> bool {
        false
    }

    /// What is wrong with the model's text.
    fn diagnostics(&mut self, _diagnostics: &[Diagnostic], _files: &[SourceFile]) {}
}

/// Watches nothing.
pub struct NoObserver;

impl Observer for NoObserver {}
