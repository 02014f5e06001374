//! The figures as a person reads them: one table per model, one for the planted mutants, one over all.

use std::fmt::Write as _;

use super::{Report, Row, Trial};

/// One row on one line.
pub(super) fn line(row: &Row) -> String {
    let mut text = format!("{} {} ({})", row.model, row.mutant, row.kind);
    for trials in &row.trials {
        let _ = write!(text, " {:.1}", mean(trials));
        let missed = trials.iter().filter(|trial| !trial.found).count();
        if missed > 0 {
            let _ = write!(text, "({missed} missed)");
        }
    }
    if let Some(shortest) = row.shortest {
        let _ = write!(text, " shortest {shortest}");
    }
    text
}

/// Mean number of stimuli; a trial without success counts with the stimuli that it was given.
fn mean(trials: &[Trial]) -> f64 {
    let sum: u64 = trials.iter().map(|trial| trial.stimuli).sum();
    sum as f64 / trials.len().max(1) as f64
}

fn geometric(values: &[f64]) -> f64 {
    let sum: f64 = values.iter().map(|value| value.max(1.0).ln()).sum();
    (sum / values.len().max(1) as f64).exp()
}

/// The figures of one strategy over some mutants.
struct Figures {
    geometric: f64,
    mean: f64,
    median: u64,
    /// Percent of trials that found the fault within 100, 1,000 and 10,000 stimuli.
    within: [f64; 3],
    resets: f64,
}

impl Figures {
    fn of(rows: &[&Row], strategy: usize) -> Figures {
        let means: Vec<f64> = rows.iter().map(|row| mean(&row.trials[strategy])).collect();
        let trials = || rows.iter().flat_map(|row| &row.trials[strategy]);
        let mut stimuli: Vec<u64> = trials().map(|trial| trial.stimuli).collect();
        stimuli.sort_unstable();
        let count = stimuli.len().max(1) as f64;
        let within = [100, 1_000, 10_000].map(|most| {
            let found = trials().filter(|trial| trial.found && trial.stimuli <= most);
            100.0 * found.count() as f64 / count
        });
        Figures {
            geometric: geometric(&means),
            mean: means.iter().sum::<f64>() / means.len().max(1) as f64,
            median: stimuli.get(stimuli.len() / 2).copied().unwrap_or(0),
            within,
            resets: trials().map(|trial| trial.resets).sum::<u64>() as f64 / count,
        }
    }
}

/// The models whose planted mutants are counted together: 27 mutants.
const PLANTED: [&str; 4] = ["smartdoor", "koopman", "atm", "calculator"];

/// All tables as text.
pub fn show(report: &Report) -> String {
    let mut text = String::from(
        "Stimuli until the first failure. geo: geometric mean over the mutants of the mean over the seeds; mean, median:\n\
         over all trials; 100, 1k, 10k: percent of trials that succeed within so many stimuli. A trial without success\n\
         counts with its limit. ratio: geometric mean divided by that of random; to best: by the\n\
         best of the other strategies.\n\n",
    );
    let rows = || report.rows.iter().filter(|row| row.is_found());
    for facts in &report.models {
        for planted in [true, false] {
            let of_model =
                |row: &&Row| row.model == facts.name && (row.kind == "planted") == planted;
            let own: Vec<&Row> = rows().filter(of_model).collect();
            let kind = if planted { "planted" } else { "generated" };
            let all = report.rows.iter().filter(of_model).count();
            let title = format!("{}, {kind} mutants", facts.name);
            table(&mut text, report, &title, &own, all - own.len());
        }
        let _ = write!(
            text,
            "  {}: {} generated mutants conform;",
            facts.name, facts.equivalent
        );
        let _ = match facts.hsi {
            Some((tests, stimuli)) => {
                writeln!(text, " HSI suite: {tests} tests, {stimuli} stimuli\n")
            }
            None => writeln!(text, " no HSI suite\n"),
        };
    }
    let planted =
        rows().filter(|row| row.kind == "planted" && PLANTED.contains(&row.model.as_str()));
    let title = "Planted mutants of smartdoor, koopman, atm, calculator";
    table(&mut text, report, title, &planted.collect::<Vec<_>>(), 0);
    let generated: Vec<&Row> = rows().filter(|row| row.kind != "planted").collect();
    table(&mut text, report, "Generated mutants", &generated, 0);
    let mut kinds: Vec<&str> = generated.iter().map(|row| row.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    for kind in kinds {
        let own: Vec<&Row> = generated
            .iter()
            .filter(|row| row.kind == kind)
            .copied()
            .collect();
        table(&mut text, report, &format!("Generated: {kind}"), &own, 0);
    }
    worst(&mut text, report);
    text
}

fn table(text: &mut String, report: &Report, title: &str, rows: &[&Row], missed: usize) {
    if rows.is_empty() {
        return;
    }
    let _ = write!(text, "{title}: {} mutants", rows.len());
    if missed > 0 {
        let _ = write!(text, ", {missed} more that no trial found");
    }
    let shortest: Vec<f64> = rows
        .iter()
        .filter_map(|row| row.shortest)
        .map(|n| n as f64)
        .collect();
    let exact = rows.iter().all(|row| row.exact);
    let bound = if exact { "" } else { " at most" };
    let _ = writeln!(
        text,
        "; shortest failing trace, geometric mean{bound} {:.1}",
        geometric(&shortest)
    );
    let _ = writeln!(
        text,
        "  {:<14}{:>9}{:>9}{:>9}{:>8}{:>8}{:>8}{:>9}{:>8}{:>9}",
        "strategy", "geo", "mean", "median", "100", "1k", "10k", "resets", "ratio", "to best"
    );
    let random = report.strategies.iter().position(|name| name == "random");
    let random = random.map(|index| Figures::of(rows, index).geometric);
    let count = report.strategies.len();
    let geometrics: Vec<f64> = (0..count).map(|i| Figures::of(rows, i).geometric).collect();
    for (index, strategy) in report.strategies.iter().enumerate() {
        let others = { geometrics.iter().enumerate() }.filter(|(other, _)| *other != index);
        let best = others.map(|(_, geometric)| *geometric).reduce(f64::min);
        let to_best = best.map_or_else(
            || "-".to_owned(),
            |best| format!("{:.2}", geometrics[index] / best),
        );
        let figures = Figures::of(rows, index);
        let [hundred, thousand, most] = figures.within;
        let ratio = random.map_or_else(
            || "-".to_owned(),
            |r| format!("{:.2}", figures.geometric / r),
        );
        let _ = writeln!(
            text,
            "  {strategy:<14}{:>9.1}{:>9.1}{:>9}{hundred:>8.1}{thousand:>8.1}{most:>8.1}{:>9.1}{ratio:>8}{to_best:>9}",
            figures.geometric, figures.mean, figures.median, figures.resets
        );
    }
    text.push('\n');
}

/// The mutants that the last strategy is slowest to find, beside the best of the others.
fn worst(text: &mut String, report: &Report) {
    let Some(last) = report.strategies.len().checked_sub(1) else {
        return;
    };
    let mut rows: Vec<(&Row, f64)> = report
        .rows
        .iter()
        .filter(|row| row.is_found())
        .map(|row| (row, mean(&row.trials[last])))
        .collect();
    rows.sort_by(|a, b| b.1.total_cmp(&a.1));
    let _ = writeln!(
        text,
        "Found last by {}; mean stimuli by strategy:",
        report.strategies[last]
    );
    for (row, _) in rows.iter().take(12) {
        let _ = writeln!(text, "  {}", line(row));
    }
}
