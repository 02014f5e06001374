//! What a coordinator takes over from those before it.

use ioco_engine::SavedStep;
use ioco_store::{OrderRow, OutcomeRow};

use super::dispatch::{Dispatch, Finished, Issued, OrderBook, Planned, Purpose};
use super::{Order, Outcome};
use crate::error::CampaignError;
use crate::session::Session;

impl Dispatch {
    /// Takes over what a coordinator before this one kept: an outcome. Returns the test that it is, where it is one.
    pub fn restore(
        &mut self,
        row: OutcomeRow,
        steps: impl FnOnce(u64) -> Result<Vec<SavedStep>, CampaignError>,
        session: &mut Session,
    ) -> Result<Option<Finished>, CampaignError> {
        let issued: Issued = self.issued_before(row.number, &row.purpose)?;
        let Some(body) = row.body else {
            return Ok(None);
        };
        if let Purpose::Replay = issued.purpose {
            return Ok(None);
        }
        let mut outcome: Outcome = parsed(&body)?;
        if outcome.steps.is_empty() {
            outcome.steps = steps(issued.test)?;
        }
        let carried = self.carried(&outcome, &issued, session);
        let finished = self.absorb(carried, issued.purpose, outcome, session);
        // The record has them.
        session.tester.take_events();
        Ok(finished)
    }

    /// Takes over an order without an outcome: it is handed out again, unless nothing waits for it any more.
    pub fn restore_open(
        &mut self,
        row: OrderRow,
        book: &mut OrderBook<'_>,
    ) -> Result<(), CampaignError> {
        let issued = self.issued_before(row.number, &row.purpose)?;
        if let Purpose::Replay = issued.purpose {
            if let Some(record) = &mut book.record {
                record.outcome(row.number, "", None, Vec::new());
            }
            return Ok(());
        }
        let order: Order = parsed(&row.body)?;
        self.unsent.push(Order {
            time: book.session.time_left(),
            ..order
        });
        self.under_way.insert(row.number, issued);
        Ok(())
    }

    /// A test that came back before, and whose failure is still to be looked at.
    pub fn look_again(&mut self, finished: Finished) {
        self.finished.push_back(finished);
    }

    fn issued_before(&mut self, number: u64, purpose: &str) -> Result<Issued, CampaignError> {
        let issued: Issued = parsed(purpose)?;
        self.orders = self.orders.max(number);
        self.tests = self.tests.max(issued.test);
        self.planned
            .retain(|planned| match (planned, &issued.purpose) {
                (Planned::Known(index, _), Purpose::Known(issued)) => index != issued,
                (Planned::Suite { index, .. }, Purpose::Suite(issued, _)) => index != issued,
                _ => true,
            });
        Ok(issued)
    }
}

fn parsed<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, CampaignError> {
    serde_json::from_str(text).map_err(|error| {
        CampaignError::usage(format!(
            "the store's record of the campaign is unreadable: {error}"
        ))
        .hint("resume it with the version of ioco that began it")
    })
}
