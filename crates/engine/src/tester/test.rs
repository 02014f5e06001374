//! The test under way.

use std::sync::Arc;

use ioco_sts::{Action, Followed, Menu, Reason, SetId, Trace, Verdict};

use super::ending::Ending;
use crate::in_flight::InFlight;
use crate::random::{TestRng, test_rng};
use crate::strategy::Strategy;

/// What the tester last asked for.
pub(super) enum Phase {
    /// No test was begun yet.
    Idle,
    Resetting,
    Giving {
        stimulus: Action,
        followed: Followed,
    },
    Awaiting {
        since: u64,
        /// Long enough for silence to count as quiescence.
        whole: bool,
    },
    Finished,
}

/// Where the stimuli come from.
pub(super) enum Plan {
    Strategy,
    /// A strategy for this test alone.
    Guide(Strategy),
    Script {
        stimuli: Vec<Action>,
        next: usize,
        /// The system was given the time to answer the last thing that happened.
        listened: bool,
        /// After the last stimulus the strategy goes on.
        goes_on: bool,
    },
}

pub(super) struct Test {
    pub number: u64,
    pub seed: u64,
    /// What it is for, where that is known.
    pub name: Option<String>,
    /// Counts towards the run: its coverage, its numbers and its stop conditions.
    pub counts: bool,
    pub rng: TestRng,
    pub plan: Plan,
    pub phase: Phase,
    /// Where the model may be.
    pub set: SetId,
    /// What it offers there; computed when the next step is chosen.
    pub menu: Arc<Menu>,
    pub in_flight: InFlight,
    pub trace: Trace,
    pub times: Vec<u64>,
    pub started: u64,
    pub ended: u64,
    /// The last thing seen was silence: waiting again shows nothing new.
    pub quiet: bool,
    /// A look showed nothing, and nothing has happened since.
    pub looked: bool,
    /// Why a silence of this test was not judged, if one was not: then it does not pass.
    pub not_judged: Option<Reason>,
    /// How it ends, once that is decided.
    pub ending: Option<Ending>,
    /// Responses since the last stimulus.
    pub responses_in_a_row: u64,
    /// What the strategy was told that a reset costs, in thousandths of a stimulus.
    pub reset_cost: Option<u32>,
    /// How much was covered when the test began.
    pub covered_before: usize,
    pub verdict: Verdict,
    pub failure: Option<(crate::report::FailureId, bool)>,
}

impl Test {
    pub fn new(number: u64, seed: u64, counts: bool, plan: Plan, initial: SetId, now: u64) -> Test {
        Test {
            number,
            seed,
            name: None,
            counts,
            rng: test_rng(seed),
            plan,
            phase: Phase::Resetting,
            set: initial,
            menu: Arc::default(),
            in_flight: InFlight::default(),
            trace: Trace::new(),
            times: Vec::new(),
            started: now,
            ended: now,
            quiet: false,
            looked: false,
            not_judged: None,
            ending: None,
            responses_in_a_row: 0,
            reset_cost: None,
            covered_before: 0,
            verdict: Verdict::Pass,
            failure: None,
        }
    }

    /// No test yet.
    pub fn none(initial: SetId) -> Test {
        let mut test = Test::new(0, 0, false, Plan::Strategy, initial, 0);
        test.phase = Phase::Idle;
        test
    }

    pub fn steps(&self) -> u64 {
        self.trace.len() as u64
    }
}
