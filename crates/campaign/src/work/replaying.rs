//! Stimuli that workers give once more: to confirm a failure, to shrink it, to show it.

use ioco_shrink::{Confidence, Confirmation, Runner};
use ioco_sts::{Action, Execution, Verdict};

use super::dispatch::{Dispatch, Issued, OrderBook, Purpose};
use super::{Task, saved};
use crate::error::{CampaignError, ErrorKind};
use crate::session::ReplayedRun;
use crate::shrinking::ShrinkSettings;

impl Dispatch {
    fn replay(
        &mut self,
        stimuli: &[Action],
        afresh: bool,
        book: &mut OrderBook<'_>,
    ) -> Result<u64, CampaignError> {
        let task = Task::Replay {
            stimuli: saved(stimuli, &book.session.sts),
            afresh,
        };
        let issued = Issued {
            purpose: Purpose::Replay,
            test: 0,
            name: None,
            aim: Vec::new(),
            steps: 0,
        };
        self.issue(task, issued, book)
    }

    /// Waits for a replay. Tests go on meanwhile, on the other workers.
    fn await_replay(
        &mut self,
        number: u64,
        book: &mut OrderBook<'_>,
    ) -> Result<ReplayedRun, CampaignError> {
        loop {
            if let Some(outcome) = self.replayed.remove(&number) {
                let execution = outcome.execution(book.session.tester.semantics());
                book.session.carried(&execution, &outcome);
                return Ok(ReplayedRun {
                    execution,
                    times: outcome.times,
                    wire: outcome.wire,
                    afresh: outcome.afresh,
                });
            }
            self.refill(book)?;
            if self.is_given_up(book.session) {
                return Err(CampaignError::interrupted());
            }
            self.pump(book)?;
        }
    }

    /// Runs stimuli once more.
    pub fn show(
        &mut self,
        stimuli: &[Action],
        book: &mut OrderBook<'_>,
    ) -> Result<ReplayedRun, CampaignError> {
        let number = self.replay(stimuli, true, book)?;
        self.await_replay(number, book)
    }

    /// As [`Session::confirm`], with the runs side by side.
    pub fn confirm(
        &mut self,
        failure: &Execution,
        settings: &ShrinkSettings,
        book: &mut OrderBook<'_>,
    ) -> Result<Confirmation, CampaignError> {
        let stimuli: Vec<Action> = failure.stimuli().cloned().collect();
        let mut confirmation = Confirmation::default();
        let mut wanted = settings.confirm;
        while confirmation.confidence.runs < wanted && !book.session.is_over() {
            let together = wanted - confirmation.confidence.runs;
            let numbers: Result<Vec<u64>, _> = (0..together)
                .map(|_| self.replay(&stimuli, false, book))
                .collect();
            for number in numbers? {
                let again = self.await_replay(number, book)?.execution;
                if book.session.is_over() || matches!(again.verdict, Verdict::Error(_)) {
                    wanted = 0;
                    continue;
                }
                confirmation.count(failure, again);
            }
            let Confidence { failed, runs } = confirmation.confidence;
            if wanted > 0 && failed == 0 && runs >= settings.confirm {
                wanted = settings.attempts;
            }
        }
        Ok(confirmation)
    }

    /// Runs stimuli so many times, side by side.
    pub fn replay_times(
        &mut self,
        stimuli: &[Action],
        times: u32,
        book: &mut OrderBook<'_>,
    ) -> Result<Vec<Execution>, CampaignError> {
        let numbers: Result<Vec<u64>, _> = (0..times)
            .map(|_| self.replay(stimuli, false, book))
            .collect();
        let replayed = numbers?.into_iter().map(|number| {
            let shown = self.await_replay(number, book)?;
            Ok(shown.execution)
        });
        replayed.collect()
    }

    /// Runs stimuli for a shrinker.
    pub fn runner<'a>(&'a mut self, book: OrderBook<'a>) -> DispatchRunner<'a> {
        DispatchRunner {
            dispatch: self,
            book,
            begun: Vec::new(),
            broken: None,
        }
    }
}

/// A shrinker's way to the workers.
pub(crate) struct DispatchRunner<'a> {
    dispatch: &'a mut Dispatch,
    book: OrderBook<'a>,
    /// Lists that are run already, and the orders that run them.
    begun: Vec<(Vec<Action>, u64)>,
    /// Why workers cannot be reached any more. What was run after that says nothing about the failure.
    pub broken: Option<CampaignError>,
}

impl Runner for DispatchRunner<'_> {
    fn run(&mut self, stimuli: &[Action]) -> Execution {
        let begun = self.begun.iter().position(|(list, _)| list == stimuli);
        let number = match begun {
            Some(position) => Ok(self.begun.swap_remove(position).1),
            None => self.dispatch.replay(stimuli, false, &mut self.book),
        };
        let shown = number.and_then(|number| self.dispatch.await_replay(number, &mut self.book));
        match shown {
            Ok(shown) => shown.execution,
            Err(error) => {
                let verdict = Verdict::unusable(error.message.clone());
                if error.kind != ErrorKind::Interrupted {
                    self.broken.get_or_insert(error);
                }
                Execution {
                    trace: Vec::new(),
                    verdict,
                }
            }
        }
    }

    fn width(&self) -> usize {
        self.dispatch.executor.capacity()
    }

    fn begin(&mut self, likely: &[Vec<Action>]) {
        let mut already: Vec<&Vec<Action>> = self.begun.iter().map(|(list, _)| list).collect();
        let mut new = Vec::new();
        for list in likely {
            match already.iter().position(|begun| *begun == list) {
                Some(position) => {
                    already.swap_remove(position);
                }
                None => new.push(list.clone()),
            }
        }
        for list in new {
            // Whoever asks for it later hears of the error.
            if let Ok(number) = self.dispatch.replay(&list, false, &mut self.book) {
                self.begun.push((list, number));
            }
        }
    }
}
