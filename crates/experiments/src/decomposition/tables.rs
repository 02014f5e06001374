//! The tables of the paper as text.

use std::fmt::Write as _;

use super::{MONOLITHIC as BASE, Outcome, Row, nusmv};

/// Rows of another checker stand apart.
const NUSMV: [(&str, &str); 2] = [
    (nusmv::B, "B, one process for all goals"),
    (nusmv::A, "A, a process for every goal"),
];

#[derive(Clone, Copy, Default)]
struct Sum {
    goals: usize,
    covered: usize,
    infeasible: usize,
    unknown: usize,
    seconds: f64,
    cpu: f64,
}

impl Sum {
    fn of<'r>(rows: impl Iterator<Item = &'r Row>) -> Self {
        rows.fold(Self::default(), |sum, row| Self {
            goals: sum.goals + row.goals,
            covered: sum.covered + row.covered,
            infeasible: sum.infeasible + row.infeasible,
            unknown: sum.unknown + row.unknown,
            seconds: sum.seconds + row.scaled(row.seconds),
            cpu: sum.cpu + row.scaled(row.cpu.unwrap_or(0.0)),
        })
    }
}

/// A row of the paper: its name and the criteria that it sums up.
const CRITERIA: [(&str, &[&str]); 3] = [
    ("DC", &["decision"]),
    ("VC", &["value"]),
    ("AllTP", &["value", "decision"]),
];

fn change(value: f64, base: f64) -> String {
    if base == 0.0 {
        return if value == 0.0 {
            "+0.00%".to_owned()
        } else {
            "new".to_owned()
        };
    }
    format!("{:+.2}%", 100.0 * (value - base) / base)
}

fn percent(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        0.0
    } else {
        100.0 * part as f64 / whole as f64
    }
}

/// Tables 1 to 4, the size reduction, and the list of models.
pub fn tables(outcome: &Outcome) -> String {
    let mut text = String::new();
    let mut techniques: Vec<&str> = Vec::new();
    for row in &outcome.rows {
        let own = !nusmv::is_row(row);
        if own && !techniques.contains(&row.technique.as_str()) {
            techniques.push(&row.technique);
        }
    }
    let sum =
        |technique: &str, criteria: &[&str]| {
            Sum::of(outcome.rows.iter().filter(|row| {
                row.technique == technique && criteria.contains(&row.criterion.as_str())
            }))
        };
    table_1(outcome, &mut text);
    let _ = writeln!(
        text,
        "\nTable 2. Feasible (F), infeasible (I) and unknown (U) goals; change against {BASE}"
    );
    let answers = |text: &mut String, cell: &dyn Fn(usize, usize, usize, usize) -> String| {
        for (name, criteria) in CRITERIA {
            let base = sum(BASE, criteria);
            for technique in &techniques {
                let own = sum(technique, criteria);
                let _ = write!(text, "  {name:<6} {technique:<12}");
                for (letter, value, before) in [
                    ("F", own.covered, base.covered),
                    ("I", own.infeasible, base.infeasible),
                    ("U", own.unknown, base.unknown),
                ] {
                    let cell = cell(value, own.goals, before, base.goals);
                    let _ = write!(text, " {letter} {cell}");
                }
                text.push('\n');
            }
        }
    };
    answers(&mut text, &|value, _, before, _| {
        format!("{value:>6} {:>9}", change(value as f64, before as f64))
    });
    let _ = writeln!(
        text,
        "\nTable 3. The same in percent; difference in percentage points against {BASE}"
    );
    answers(&mut text, &|value, goals, before, goals_before| {
        let (share, share_before) = (percent(value, goals), percent(before, goals_before));
        format!("{share:>6.2}% {:>+7.2}", share - share_before)
    });
    let _ = writeln!(
        text,
        "\nTable 4. Generation time in seconds; change against {BASE}; processor time"
    );
    for (name, criteria) in CRITERIA {
        let base = sum(BASE, criteria);
        for technique in &techniques {
            let own = sum(technique, criteria);
            let _ = writeln!(
                text,
                "  {name:<6} {technique:<12} {:>12.2} {:>9} {:>12.2}",
                own.seconds,
                change(own.seconds, base.seconds),
                own.cpu
            );
        }
    }
    checks(outcome, &mut text);
    if outcome.nusmv_limit.is_some() {
        beside_nusmv(outcome, &mut text);
    }
    reductions(outcome, &mut text);
    if let Some(limit) = outcome.model_limit {
        let _ = writeln!(
            text,
            "\nTechniques but auto had at most {limit:.0} s for a model and criterion."
        );
    }
    let _ = writeln!(text, "\nModels");
    for row in &outcome.rows {
        let _ = writeln!(
            text,
            "  {:<60} {:<12} {:<9} goals {:>5} F {:>5} I {:>5} U {:>5} {:>9.2} s",
            row.model,
            row.technique,
            row.criterion,
            row.goals,
            row.covered,
            row.infeasible,
            row.unknown,
            row.seconds
        );
        if let Some(all) = row.sampled_from {
            let _ = writeln!(text, "{:>76} a sample of {all} goals", "");
        }
    }
    for (model, reason) in &outcome.skipped {
        let _ = writeln!(text, "  {model:<60} skipped: {reason}");
    }
    text
}

fn checks(outcome: &Outcome, text: &mut String) {
    let _ = writeln!(text, "\nChecks. Answers compared and contradictions");
    for entry in outcome.comparisons() {
        let _ = writeln!(
            text,
            "  {:<12} {:<36} {:>7}, contradictions {}",
            entry.technique, entry.with, entry.answers, entry.contradictions
        );
    }
}

/// The time of `auto` beside NuSMV's on the same models and criteria.
fn beside_nusmv(outcome: &Outcome, text: &mut String) {
    let _ = writeln!(
        text,
        "\nNuSMV in the same run, {} with a script; at most {:.0} s of processor time for a model and \
         criterion.\nTimes of both with reading the model.",
        nusmv::FLAGS.join(" "),
        outcome.nusmv_limit.unwrap_or_default()
    );
    for (name, meaning) in NUSMV {
        let rows: Vec<&Row> = outcome
            .rows
            .iter()
            .filter(|row| row.technique == name)
            .collect();
        let sampled = rows.iter().any(|row| row.sampled_from.is_some());
        let _ = writeln!(
            text,
            "  {meaning}{}",
            if sampled {
                " (a sample of the goals by a fixed seed, time scaled to all)"
            } else {
                ""
            }
        );
        for (finished, word) in [(true, "finished"), (false, "not finished")] {
            let theirs: Vec<&Row> = rows
                .iter()
                .copied()
                .filter(|row| (row.unknown == 0) == finished)
                .collect();
            let ours = outcome.rows.iter().filter(|row| {
                row.technique == "auto"
                    && theirs
                        .iter()
                        .any(|other| other.model == row.model && other.criterion == row.criterion)
            });
            let own = Sum::of(ours);
            let their = Sum::of(theirs.iter().copied());
            let _ = writeln!(
                text,
                "    {word:<12} {:>4} models and criteria: NuSMV {:>10.2} s (cpu {:.2}), auto \
                 {:>9.2} s (cpu {:.2}, {} unknown)",
                theirs.len(),
                their.seconds,
                their.cpu,
                own.seconds,
                own.cpu,
                own.unknown
            );
            if finished && own.seconds > 0.0 && own.cpu > 0.0 {
                let _ = writeln!(
                    text,
                    "    ratio        {:>9.1} by time, {:.1} by processor time",
                    their.seconds / own.seconds,
                    their.cpu / own.cpu
                );
            }
        }
    }
}

fn table_1(outcome: &Outcome, text: &mut String) {
    let _ = writeln!(text, "Table 1. Number of goals");
    let _ = writeln!(
        text,
        "  criterion  generated  selected      max      min      avg"
    );
    let own = outcome.rows.iter().find(|row| !nusmv::is_row(row));
    let Some(first) = own.map(|row| row.technique.clone()) else {
        return;
    };
    for (name, criteria) in CRITERIA {
        let generated: usize = outcome
            .generated
            .iter()
            .map(|(_, values, decisions)| {
                let value_part = if criteria.contains(&"value") {
                    *values
                } else {
                    0
                };
                let decision_part = if criteria.contains(&"decision") {
                    *decisions
                } else {
                    0
                };
                value_part.saturating_add(decision_part)
            })
            .fold(0, usize::saturating_add);
        let per_model: Vec<usize> = outcome
            .generated
            .iter()
            .map(|(model, _, _)| {
                outcome
                    .rows
                    .iter()
                    .filter(|row| {
                        row.model == *model
                            && row.technique == first
                            && criteria.contains(&row.criterion.as_str())
                    })
                    .map(|row| row.goals)
                    .sum()
            })
            .collect();
        let total: usize = per_model.iter().sum();
        let _ = writeln!(
            text,
            "  {name:<9} {generated:>10} {total:>9} {:>8} {:>8} {:>8.2}",
            per_model.iter().max().copied().unwrap_or(0),
            per_model.iter().min().copied().unwrap_or(0),
            total as f64 / per_model.len().max(1) as f64
        );
    }
}

fn reductions(outcome: &Outcome, text: &mut String) {
    let count = outcome.reductions.len().max(1) as f64;
    let mean = |pick: fn(&super::Reduction) -> f64| {
        outcome.reductions.iter().map(pick).sum::<f64>() / count
    };
    let _ = writeln!(
        text,
        "\nSize reduction of the largest subsystem (mean over the models)"
    );
    let _ = writeln!(
        text,
        "  against the whole model     {:>7.2}%",
        mean(|reduction| reduction.against_model)
    );
    let _ = writeln!(
        text,
        "  against the cone            {:>7.2}%",
        mean(|reduction| reduction.against_cone)
    );
    let split = outcome
        .reductions
        .iter()
        .filter(|reduction| reduction.split > 0.0)
        .count();
    let _ = writeln!(
        text,
        "  models that split           {split:>7} of {}",
        outcome.reductions.len()
    );
    for reduction in &outcome.reductions {
        let _ = writeln!(
            text,
            "  {:<60} {:>4} bits  split {:>6.1}% of goals  model {:>7.2}%  cone {:>7.2}%",
            reduction.model,
            reduction.bits,
            100.0 * reduction.split,
            reduction.against_model,
            reduction.against_cone
        );
    }
}
