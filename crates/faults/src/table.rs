//! Counts of outcomes, printed as a table.

use std::collections::BTreeMap;

use crate::cases::{Played, Way};
use crate::rules::Outcome;

#[derive(Clone, Debug, Default)]
pub struct Row {
    pub faults: u64,
    counts: BTreeMap<Outcome, u64>,
    pub wrong: u64,
}

#[derive(Clone, Debug, Default)]
pub struct Table {
    rows: BTreeMap<Way, Row>,
    /// What was wrong, in words; the first few.
    pub complaints: Vec<String>,
}

impl Table {
    pub fn add(&mut self, way: Way, what: &str, played: &Played) {
        let row = self.rows.entry(way).or_default();
        row.faults += u64::from(played.is_injected);
        *row.counts.entry(played.outcome).or_default() += 1;
        if played.is_wrong {
            row.wrong += 1;
            if self.complaints.len() < 20 {
                let (outcome, message) = (played.outcome, &played.message);
                let complaint = format!("{} {what}: {outcome:?} {message}", way.name());
                self.complaints.push(complaint);
            }
        }
    }

    pub fn faults(&self) -> u64 {
        self.rows.values().map(|row| row.faults).sum()
    }

    pub fn wrong(&self) -> u64 {
        self.rows.values().map(|row| row.wrong).sum()
    }

    pub fn hung(&self) -> u64 {
        let hung = |row: &Row| row.counts.get(&Outcome::Hang).copied().unwrap_or(0);
        self.rows.values().map(hung).sum()
    }

    pub fn show(&self) -> String {
        let mut text = format!(
            "{:<14} {:>7} {:>7} {:>7} {:>7} {:>7} {:>6} {:>6} {:>6}\n",
            "connection", "faults", "pass", "fail", "inconc.", "error", "hung", "panic", "wrong"
        );
        for (way, row) in &self.rows {
            let count = |outcome| row.counts.get(&outcome).copied().unwrap_or(0);
            text.push_str(&format!(
                "{:<14} {:>7} {:>7} {:>7} {:>7} {:>7} {:>6} {:>6} {:>6}\n",
                way.name(),
                row.faults,
                count(Outcome::Pass),
                count(Outcome::Fail),
                count(Outcome::Inconclusive),
                count(Outcome::Error),
                count(Outcome::Hang),
                count(Outcome::Panic),
                row.wrong
            ));
        }
        text
    }
}
