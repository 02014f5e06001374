//! Questions about campaigns on many machines.

use sqlx::Row;
use sqlx::any::AnyRow;

use crate::error::StoreError;
use crate::query::Store;
use crate::read::number;
use crate::rows::{CampaignRow, OrderRow, OutcomeRow, Tally};

/// Outcomes are read so many at a time, so that a long campaign is not in memory whole.
const AT_A_TIME: i64 = 200;

impl Store {
    /// All campaigns, the newest first.
    pub fn campaigns(&self) -> Result<Vec<CampaignRow>, StoreError> {
        self.ask(async |connection| {
            let rows = sqlx::query(
                "SELECT c.id AS id, c.run AS run, c.plan AS plan, c.coordinator AS coordinator,
                        r.summary AS summary
                 FROM campaigns c JOIN runs r ON r.id = c.run ORDER BY c.run DESC",
            )
            .fetch_all(connection)
            .await?;
            let row = |row: &AnyRow| -> sqlx::Result<CampaignRow> {
                Ok(CampaignRow {
                    id: row.try_get("id")?,
                    run: row.try_get("run")?,
                    plan: row.try_get("plan")?,
                    coordinators: number(row, "coordinator")?,
                    finished: row.try_get::<Option<String>, _>("summary")?.is_some(),
                })
            };
            rows.iter().map(row).collect()
        })
    }

    pub fn campaign(&self, id: &str) -> Result<Option<CampaignRow>, StoreError> {
        let campaigns = self.campaigns()?;
        Ok(campaigns.into_iter().find(|campaign| campaign.id == id))
    }

    /// What became of the orders of a campaign, as it arrived.
    pub fn outcomes(
        &self,
        campaign: &str,
        emit: &mut dyn FnMut(OutcomeRow),
    ) -> Result<(), StoreError> {
        let mut last = 0;
        loop {
            let id = campaign.to_owned();
            let rows = self.ask(async |connection| {
                sqlx::query(
                    "SELECT u.number AS number, u.arrived AS arrived, u.body AS body,
                            o.purpose AS purpose
                     FROM outcomes u
                     JOIN orders o ON o.campaign = u.campaign AND o.number = u.number
                     WHERE u.campaign = $1 AND u.arrived > $2 ORDER BY u.arrived LIMIT $3",
                )
                .bind(id)
                .bind(last)
                .bind(AT_A_TIME)
                .fetch_all(connection)
                .await?
                .iter()
                .map(|row| {
                    last = row.try_get("arrived")?;
                    Ok(OutcomeRow {
                        number: number(row, "number")?,
                        purpose: row.try_get("purpose")?,
                        body: row.try_get("body")?,
                    })
                })
                .collect::<sqlx::Result<Vec<OutcomeRow>>>()
            })?;
            if rows.is_empty() {
                return Ok(());
            }
            for row in rows {
                emit(row);
            }
        }
    }

    /// The orders of a campaign that have no outcome, as they were handed out.
    pub fn open_orders(&self, campaign: &str) -> Result<Vec<OrderRow>, StoreError> {
        let id = campaign.to_owned();
        self.ask(async |connection| {
            let rows = sqlx::query(
                "SELECT o.number AS number, o.purpose AS purpose, o.body AS body FROM orders o
                 LEFT JOIN outcomes u ON u.campaign = o.campaign AND u.number = o.number
                 WHERE o.campaign = $1 AND u.number IS NULL ORDER BY o.number",
            )
            .bind(id)
            .fetch_all(connection)
            .await?;
            rows.iter().map(order_row).collect()
        })
    }

    /// One order, to be repeated.
    pub fn order(&self, campaign: &str, order: u64) -> Result<Option<OrderRow>, StoreError> {
        let id = campaign.to_owned();
        self.ask(async |connection| {
            let row = sqlx::query(
                "SELECT number, purpose, body FROM orders WHERE campaign = $1 AND number = $2",
            )
            .bind(id)
            .bind(order.cast_signed())
            .fetch_optional(connection)
            .await?;
            row.as_ref().map(order_row).transpose()
        })
    }

    /// What became of one order; `None` where nothing has come back.
    pub fn outcome(&self, campaign: &str, order: u64) -> Result<Option<OutcomeRow>, StoreError> {
        let id = campaign.to_owned();
        self.ask(async |connection| {
            let row = sqlx::query(
                "SELECT u.number AS number, u.body AS body, o.purpose AS purpose
                 FROM outcomes u
                 JOIN orders o ON o.campaign = u.campaign AND o.number = u.number
                 WHERE u.campaign = $1 AND u.number = $2",
            )
            .bind(id)
            .bind(order.cast_signed())
            .fetch_optional(connection)
            .await?;
            let read = |row: AnyRow| -> sqlx::Result<OutcomeRow> {
                Ok(OutcomeRow {
                    number: number(&row, "number")?,
                    purpose: row.try_get("purpose")?,
                    body: row.try_get("body")?,
                })
            };
            row.map(read).transpose()
        })
    }

    /// What the clock of a campaign's run showed at its beginning, and what it showed last.
    pub fn clock(&self, run: i64) -> Result<(u64, u64), StoreError> {
        self.ask(async |connection| {
            let (began, ended, clock): (Option<i64>, Option<i64>, Option<i64>) = sqlx::query_as(
                "SELECT (SELECT began FROM runs WHERE id = $1) AS began,
                        (SELECT MAX(ended) FROM tests WHERE run = $1) AS ended,
                        (SELECT MAX(clock) FROM campaigns WHERE run = $1) AS clock",
            )
            .bind(run)
            .fetch_one(connection)
            .await?;
            let began = began.unwrap_or(0);
            let last = began.max(ended.unwrap_or(0)).max(clock.unwrap_or(0));
            Ok((began.cast_unsigned(), last.cast_unsigned()))
        })
    }

    /// What the orders of a campaign add up to.
    pub fn tally(&self, campaign: &str) -> Result<Tally, StoreError> {
        let id = campaign.to_owned();
        self.ask(async |connection| {
            let row = sqlx::query(
                "SELECT
                    (SELECT COUNT(*) FROM orders WHERE campaign = $1) AS orders,
                    (SELECT COUNT(*) FROM outcomes WHERE campaign = $1 AND body IS NOT NULL)
                        AS outcomes,
                    (SELECT COUNT(*) FROM outcomes WHERE campaign = $1 AND body IS NULL)
                        AS withdrawn,
                    (SELECT discarded FROM campaigns WHERE id = $1) AS discarded",
            )
            .bind(id.clone())
            .fetch_one(&mut *connection)
            .await?;
            let workers = sqlx::query(
                "SELECT worker, COUNT(*) AS outcomes FROM outcomes
                 WHERE campaign = $1 AND body IS NOT NULL GROUP BY worker ORDER BY worker",
            )
            .bind(id)
            .fetch_all(connection)
            .await?;
            let [orders, outcomes, withdrawn] = [
                number(&row, "orders")?,
                number(&row, "outcomes")?,
                number(&row, "withdrawn")?,
            ];
            let discarded: Option<i64> = row.try_get("discarded")?;
            Ok(Tally {
                orders,
                outcomes,
                withdrawn,
                open: orders.saturating_sub(outcomes + withdrawn),
                discarded: discarded.unwrap_or(0).cast_unsigned(),
                workers: workers
                    .iter()
                    .map(|row| Ok((row.try_get("worker")?, number(row, "outcomes")?)))
                    .collect::<sqlx::Result<_>>()?,
            })
        })
    }
}

fn order_row(row: &AnyRow) -> sqlx::Result<OrderRow> {
    Ok(OrderRow {
        number: number(row, "number")?,
        purpose: row.try_get("purpose")?,
        body: row.try_get("body")?,
    })
}
