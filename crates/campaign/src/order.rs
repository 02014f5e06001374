//! One test to be run next, in the terms of the model.

use ioco_generate::suite::{ReadTest, SuiteTest};
use ioco_sts::Action;

use crate::observer::Observer;
use crate::session::Session;
use ioco_engine::TestReport;

/// Which test to run.
pub(crate) enum NextTest {
    /// One that is written down.
    Script(Script),
    /// One of a suite, which may branch.
    Suite(ReadTest),
    /// The next one of the strategy, after these stimuli.
    Strategy { beginning: Vec<Action> },
}

/// A test that is written down.
#[derive(Clone, Debug)]
pub struct Script {
    /// What it is for.
    pub name: String,
    pub stimuli: Vec<Action>,
}

impl Session {
    /// Runs a test to its end. `None` where the conditions to stop say that there is no further test; one that
    /// is written down is run all the same.
    pub(crate) fn carry_out(
        &mut self,
        next: NextTest,
        observer: &mut dyn Observer,
    ) -> Option<TestReport> {
        let now = self.now();
        let tester = &mut self.tester;
        let first = match next {
            NextTest::Script(Script { name, stimuli }) => {
                tester.name_next(name);
                tester.scripted_test(stimuli, now)
            }
            NextTest::Suite(test) => {
                tester.name_next(test.name.clone());
                tester.guided_test(Box::new(SuiteTest::new(test)), now)?
            }
            NextTest::Strategy { beginning } if beginning.is_empty() => tester.next_test(now)?,
            NextTest::Strategy { beginning } => tester.next_test_after(beginning, now)?,
        };
        Some(self.run(first, observer))
    }
}
