//! Counts of outcomes, printed as a table.

use std::collections::BTreeMap;

use crate::cases::{CaseResult, ConnectionKind};
use crate::rules::Outcome;

#[derive(Clone, Debug, Default)]
pub struct Row {
    pub faults: u64,
    counts: BTreeMap<Outcome, u64>,
    wrong: u64,
    /// Floods of responses in the middle of a test, and how many of these tests passed. One may pass by chance; where
    /// all do, responses are lost.
    floods: (u64, u64),
}

/// So many floods do not all pass by chance.
const FLOODS: u64 = 20;

impl Row {
    fn has_lost_floods(&self) -> bool {
        self.floods.0 >= FLOODS && self.floods.0 == self.floods.1
    }

    fn wrong(&self) -> u64 {
        self.wrong + u64::from(self.has_lost_floods())
    }
}

#[derive(Clone, Debug, Default)]
pub struct Table {
    rows: BTreeMap<ConnectionKind, Row>,
    /// What was wrong, in words; the first few.
    pub complaints: Vec<String>,
}

impl Table {
    /// Counts a case; what was wrong with it, in words.
    pub fn add(&mut self, way: ConnectionKind, what: &str, played: &CaseResult) -> Option<String> {
        let row = self.rows.entry(way).or_default();
        row.faults += u64::from(played.is_injected);
        *row.counts.entry(played.outcome).or_default() += 1;
        if played.is_flooded {
            row.floods.0 += 1;
            row.floods.1 += u64::from(played.outcome == Outcome::Pass);
        }
        if !played.is_wrong {
            return None;
        }
        row.wrong += 1;
        let (outcome, message) = (played.outcome, &played.message);
        let struck = played.struck;
        let complaint = format!("{} {what}: {outcome:?} {message} ({struck:?})", way.name());
        if self.complaints.len() < 20 {
            self.complaints.push(complaint.clone());
        }
        Some(complaint)
    }

    pub fn faults(&self) -> u64 {
        self.rows.values().map(|row| row.faults).sum()
    }

    pub fn wrong(&self) -> u64 {
        self.rows.values().map(Row::wrong).sum()
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
                row.wrong()
            ));
        }
        for (way, row) in self.rows.iter().filter(|(_, row)| row.has_lost_floods()) {
            let (floods, name) = (row.floods.0, way.name());
            text.push_str(&format!(
                "{name}: all {floods} tests with too many responses passed\n"
            ));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::{FLOODS, Table};
    use crate::cases::{CaseResult, ConnectionKind};
    use crate::rules::Outcome;

    #[test]
    fn a_connection_that_loses_every_response_of_a_flood_is_found_out() {
        let played = |outcome| CaseResult {
            outcome,
            is_injected: true,
            struck: None,
            is_flooded: true,
            is_wrong: false,
            message: String::new(),
        };
        let mut table = Table::default();
        for _ in 0..FLOODS {
            table.add(ConnectionKind::Events, "", &played(Outcome::Pass));
        }
        assert_eq!(table.wrong(), 1, "{}", table.show());
        table.add(ConnectionKind::Events, "", &played(Outcome::Fail));
        assert_eq!(table.wrong(), 0, "{}", table.show());
    }
}
