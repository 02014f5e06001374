//! The figures as a person reads them: one table per experiment and bug type, the published figure
//! beside each of ours.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::rows::{Origin, Report, Row};
use crate::vending_tables::VendingTable;

/// Figures summed over the traces of several mutants.
#[derive(Default)]
struct Sum {
    traces: usize,
    runs: f64,
    stimuli: f64,
    length: f64,
    /// Shrinking percentages, and of how many traces.
    shrinking: (f64, usize),
    shortest: usize,
}

impl Sum {
    fn add(&mut self, row: &Row, runs: f64, stimuli: f64, lengths: &[usize]) {
        self.traces += row.traces;
        self.runs += runs;
        self.stimuli += stimuli;
        for (length, original) in lengths.iter().zip(&row.original_lengths) {
            self.length += *length as f64;
            self.shortest += usize::from(*length == row.shortest);
            // As in van den Broek 2024: what is already the shortest cannot be shrunk, and does not count.
            if *original > row.shortest {
                self.shrinking.0 += 100.0 * (1.0 - *length as f64 / *original as f64);
                self.shrinking.1 += 1;
            }
        }
    }

    fn cells(&self) -> [String; 5] {
        let traces = self.traces.max(1) as f64;
        let shrinking = self.shrinking.0 / self.shrinking.1.max(1) as f64;
        [
            format!("{:.2}", self.runs / traces),
            format!("{:.1}", self.stimuli / traces),
            format!("{:.2}", self.length / traces),
            format!("{shrinking:.2}"),
            format!("{:.1}", 100.0 * self.shortest as f64 / traces),
        ]
    }
}

const EXPERIMENTS: [(&str, &str); 3] = [
    ("smartdoor", "SmartDoor (van den Broek 2024, Table 6.1)"),
    (
        "koopman",
        "Koopman's vending machine (van den Broek 2024, Table 6.2)",
    ),
    ("atm", "ErrorsOnly machine (van den Broek 2024, Table 6.3)"),
];

/// All tables as text.
pub fn show(report: &Report, vending: Option<&[VendingTable; 2]>) -> String {
    let mut text = String::new();
    text.push_str(
        "Each figure: ours / published. Runs, stimuli and final length are per trace, in steps;\n",
    );
    text.push_str(
        "shrinking and shortest are percentages; shortest is the share of traces that reach the\n",
    );
    text.push_str("shortest failing trace that exists at all.\n\n");
    for (experiment, title) in EXPERIMENTS {
        for bug_type in ["state", "trace"] {
            let wanted = |row: &&Row| {
                row.origin() == Origin::Published
                    && row.experiment == experiment
                    && row.bug_type == bug_type
            };
            let rows: Vec<&Row> = report.rows.iter().filter(wanted).collect();
            table(&mut text, &format!("{title}, {bug_type} bugs"), &rows);
        }
    }
    for origin in [Origin::Published, Origin::Random, Origin::Generated] {
        let rows = report.rows.iter().filter(|row| row.origin() == origin);
        table(&mut text, origin.title(), &rows.collect::<Vec<_>>());
    }
    table(&mut text, "All", &report.rows.iter().collect::<Vec<_>>());
    if let Some([by_seed, by_mutant]) = vending {
        let title = "Koopman et al. 2013, Table 1: one mutant, ten seeds (transitions)";
        issue_table(&mut text, title, by_seed, &PUBLISHED_BY_SEED);
        let title =
            "Koopman et al. 2013, Table 2: ten mutants, averages over ten seeds (transitions)";
        issue_table(&mut text, title, by_mutant, &PUBLISHED_BY_MUTANT);
    }
    text
}

fn table(text: &mut String, title: &str, rows: &[&Row]) {
    if rows.is_empty() {
        return;
    }
    let mut order: Vec<&str> = Vec::new();
    let mut sums: BTreeMap<&str, (Sum, Sum, f64)> = BTreeMap::new();
    for row in rows {
        if !order.contains(&row.shrinker.as_str()) {
            order.push(&row.shrinker);
        }
        let (ours, theirs, seconds) = sums.entry(&row.shrinker).or_default();
        ours.add(row, row.runs as f64, row.stimuli as f64, &row.final_lengths);
        *seconds += row.seconds;
        if let Some(published) = &row.published {
            let lengths: Vec<usize> = published.final_length.iter().map(|l| *l as usize).collect();
            let stimuli = published.sut_inputs.iter().sum::<u64>() as f64;
            theirs.add(row, published.tests as f64, stimuli, &lengths);
        }
    }
    let traces = sums
        .values()
        .map(|(ours, _, _)| ours.traces)
        .max()
        .unwrap_or(0);
    let _ = writeln!(text, "{title}: {traces} traces");
    let header = [
        "runs",
        "stimuli",
        "final length",
        "shrinking %",
        "shortest %",
    ];
    let _ = write!(text, "  {:<20}", "shrinker");
    for name in header {
        let _ = write!(text, " {name:>17}");
    }
    let _ = writeln!(text, " {:>9}", "seconds");
    for name in order {
        let (ours, theirs, seconds) = &sums[name];
        let _ = write!(text, "  {name:<20}");
        // A published figure over fewer traces than ours would mislead.
        let is_comparable = theirs.traces == ours.traces;
        for (own, other) in ours.cells().iter().zip(theirs.cells()) {
            let other = if is_comparable { other } else { "-".to_owned() };
            let _ = write!(text, " {:>17}", format!("{own} / {other}"));
        }
        let _ = writeln!(text, " {seconds:>9.3}");
    }
    text.push('\n');
}

type PublishedIssues = [[f64; 11]; 6];

#[rustfmt::skip]
const PUBLISHED_BY_SEED: PublishedIssues = [
    [730.0, 148.0, 230.0, 726.0, 37.0, 293.0, 304.0, 398.0, 145.0, 665.0, 368.0],
    [7.0, 5.0, 6.0, 5.0, 5.0, 6.0, 6.0, 5.0, 7.0, 6.0, 6.0],
    [266_259.0, 10_992.0, 26_802.0, 263_272.0, 836.0, 45_881.0, 46_420.0, 79_062.0, 10_740.0, 222_087.0, 97_235.0],
    [13.0, 12.0, 23.0, 11.0, 14.0, 10.0, 16.0, 7.0, 20.0, 15.0, 14.0],
    [7.0, 5.0, 7.0, 5.0, 5.0, 6.0, 7.0, 5.0, 7.0, 6.0, 6.0],
    [868.0, 243.0, 656.0, 808.0, 188.0, 3_374.0, 616.0, 440.0, 409.0, 1_911.0, 951.0],
];

#[rustfmt::skip]
const PUBLISHED_BY_MUTANT: PublishedIssues = [
    [368.0, 63.0, 19.0, 469.0, 126.0, 47.0, 149.0, 91.0, 34.0, 368.0, 173.0],
    [6.0, 6.0, 2.0, 5.0, 5.0, 4.0, 4.0, 2.0, 2.0, 6.0, 4.0],
    [97_235.0, 3_524.0, 399.0, 153_464.0, 26_341.0, 2_012.0, 11_906.0, 5_948.0, 968.0, 73_541.0, 37_534.0],
    [14.0, 15.0, 10.0, 11.0, 16.0, 10.0, 10.0, 8.0, 5.0, 14.0, 11.0],
    [6.0, 6.0, 2.0, 5.0, 5.0, 4.0, 4.0, 2.0, 2.0, 6.0, 4.0],
    [951.0, 321.0, 98.0, 1_206.0, 476.0, 142.0, 222.0, 144.0, 61.0, 956.0, 458.0],
];

fn issue_table(text: &mut String, title: &str, table: &VendingTable, published: &PublishedIssues) {
    let _ = writeln!(text, "{title}; each row ours, then published");
    let _ = write!(text, "  {:<16}", "");
    for column in &table.columns {
        let _ = write!(text, " {column:>8}");
    }
    text.push('\n');
    let series = [
        ("issue", &table.issue),
        ("elems", &table.elems),
        ("  transitions", &table.elems_transitions),
        ("cycles", &table.cycles),
        ("both", &table.both),
        ("  transitions", &table.both_transitions),
    ];
    for ((name, own), other) in series.into_iter().zip(published) {
        line(text, name, own);
        line(text, "    published", other);
    }
    line(text, "auto", &table.auto);
    line(text, "  transitions", &table.auto_transitions);
    text.push('\n');
}

fn line(text: &mut String, name: &str, figures: &[f64]) {
    let _ = write!(text, "  {name:<16}");
    for figure in figures {
        let _ = write!(text, " {figure:>8.0}");
    }
    text.push('\n');
}
