//! The table: a row for every system, and below it every deviation with its clauses and its shortest trace.

use std::fmt::Write as _;
use std::time::Duration;

use super::campaign::{Deviation, Figures};
use super::hypothesis::{Comparison, Lines, lines};
use super::install::version;
use super::systems::System;
use crate::tools::root;

type Row<'a> = (&'a System, Result<Figures, String>);

/// A system, ioco's figures up to its first deviation, and those of the other tool.
type Compared<'a> = (
    &'a System,
    Result<Figures, String>,
    Result<Comparison, String>,
);

pub fn show(rows: &[Row<'_>], others: &[Compared<'_>]) -> String {
    let mut out = String::from(
        "| system | version | model | configuration | adapter | tests | steps | time | deviations | accepted | shortest | clauses |\n\
         |---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|\n",
    );
    for (system, figures) in rows {
        let _ = writeln!(out, "{}", row(system, figures));
    }
    for (system, figures) in rows {
        let Ok(figures) = figures else { continue };
        for deviation in &figures.deviations {
            let _ = writeln!(out, "\n{}: {}", system.name, described(deviation));
        }
        for deviation in &figures.accepted {
            let text = described(deviation);
            let mut known = system.accepted.iter();
            let why = known
                .find(|known| deviation.is(known))
                .map_or("", |known| known.why);
            let _ = writeln!(out, "\n{}, accepted, {why}: {text}", system.name);
        }
        for deviation in &figures.unconfirmed {
            let text = described(deviation);
            let _ = writeln!(out, "\n{}, not confirmed: {text}", system.name);
        }
    }
    out.push_str(&clauses(rows));
    if !others.is_empty() {
        out.push_str(
            "\n| system | tool | lines | with comments | first deviation | with shrinking | stimuli of the counterexample |\n\
             |---|---|---:|---:|---:|---:|---:|\n",
        );
    }
    for (system, ours, theirs) in others {
        let ours = ours.as_ref().map(|figures| Comparison {
            lines: total(&written(system)),
            first: figures.first,
            time: figures.time,
            length: figures.deviations.first().map(stimuli),
        });
        let _ = writeln!(out, "{}", compared(system, "ioco", ours));
        let _ = writeln!(
            out,
            "{}",
            compared(system, "Hypothesis", theirs.as_ref().cloned())
        );
    }
    out
}

fn compared<E: std::fmt::Display>(
    system: &System,
    tool: &str,
    figures: Result<Comparison, E>,
) -> String {
    let name = system.name;
    let Comparison {
        lines: Lines { all, code },
        first,
        time,
        length,
    } = match figures {
        Ok(figures) => figures,
        Err(why) => return format!("| {name} | {tool} | {why} | | | | |"),
    };
    let length = length.map_or("none".to_owned(), |length| length.to_string());
    let [first, time] = [first, Some(time)].map(seconds);
    format!("| {name} | {tool} | {code} | {all} | {first} | {time} | {length} |")
}

fn row(system: &System, figures: &Result<Figures, String>) -> String {
    let [model, configuration, adapter] = written(system).map(|lines| lines.code);
    let start = format!(
        "| {} | {} | {model} | {configuration} | {adapter} ",
        system.name,
        version(system.source)
    );
    match figures {
        Err(why) => format!("{start}| not run: {why} | | | | | | |"),
        Ok(figures) => {
            let found = figures.deviations.iter().chain(&figures.accepted);
            let shortest = found.map(|found| found.trace.len()).min();
            let shortest = shortest.map_or(String::new(), |steps| steps.to_string());
            format!(
                "{start}| {} | {} | {} | {} | {} | {shortest} | {} |",
                figures.tests,
                figures.steps,
                seconds(Some(figures.time)),
                figures.deviations.len(),
                figures.accepted.len(),
                figures.touched().join(", ")
            )
        }
    }
}

/// Lines of the model, of the configuration and of the adapter.
fn written(system: &System) -> [Lines; 3] {
    let folder = root().join("examples/real").join(system.folder);
    let count = |file: &str| lines(&folder.join(file)).unwrap_or_default();
    let adapter: Vec<Lines> = system.adapter.iter().map(|file| count(file)).collect();
    [
        count(system.model.unwrap_or("model.aml")),
        count("ioco.toml"),
        total(&adapter),
    ]
}

fn total(files: &[Lines]) -> Lines {
    Lines {
        all: files.iter().map(|lines| lines.all).sum(),
        code: files.iter().map(|lines| lines.code).sum(),
    }
}

/// Clause by clause, what became of it with every system of one model.
fn clauses(rows: &[Row<'_>]) -> String {
    let mut out = String::new();
    let mut folders: Vec<&str> = rows.iter().map(|(system, _)| system.folder).collect();
    folders.dedup();
    for folder in folders {
        let of = rows.iter().filter(|(system, _)| system.folder == folder);
        let of: Vec<(&str, &Figures)> = of
            .filter_map(|(system, figures)| Some((system.name, figures.as_ref().ok()?)))
            .collect();
        let all: Vec<&str> = of.first().map_or_else(Vec::new, |(_, figures)| {
            figures.clauses.iter().map(|c| c.0.as_str()).collect()
        });
        if all.is_empty() {
            continue;
        }
        let names: Vec<&str> = of.iter().map(|(name, _)| *name).collect();
        let _ = writeln!(out, "\n| clause | {} |", names.join(" | "));
        let _ = writeln!(out, "|---|{}", "---|".repeat(names.len()));
        for clause in all {
            let cells = of.iter().map(|(_, figures)| {
                let steps = figures.clauses.iter().find(|(id, _)| id == clause);
                match steps {
                    _ if figures.touched().contains(&clause) => "deviates",
                    Some((_, 1..)) => "shown",
                    _ => "not shown",
                }
            });
            let _ = writeln!(
                out,
                "| {clause} | {} |",
                cells.collect::<Vec<_>>().join(" | ")
            );
        }
    }
    out
}

fn described(deviation: &Deviation) -> String {
    let clauses = match deviation.clauses.as_slice() {
        [] => String::new(),
        clauses => format!(" [{}]", clauses.join(", ")),
    };
    let trace = deviation.trace.join(" ");
    format!("{}{clauses}\n    {trace}", deviation.title)
}

fn stimuli(deviation: &Deviation) -> u64 {
    let stimuli = deviation.trace.iter().filter(|step| step.starts_with('?'));
    stimuli.count() as u64
}

fn seconds(time: Option<Duration>) -> String {
    time.map_or("none".to_owned(), |time| {
        format!("{:.1} s", time.as_secs_f64())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::real::systems::SYSTEMS;

    #[test]
    fn the_table_has_lines_figures_and_every_deviation() {
        let system = SYSTEMS
            .iter()
            .find(|system| system.name == "smtpd")
            .unwrap();
        let figures = Figures {
            tests: 20,
            steps: 300,
            time: Duration::from_millis(2500),
            first: Some(Duration::from_millis(400)),
            deviations: vec![Deviation {
                title: "wrong value".to_owned(),
                clauses: vec!["RFC5321-4.1.4".to_owned()],
                trace: ["?ehlo", "!reply(code=250)", "?ehlo", "!reply(code=503)"]
                    .map(str::to_owned)
                    .to_vec(),
            }],
            accepted: Vec::new(),
            unconfirmed: vec![Deviation {
                title: "by chance".to_owned(),
                ..Deviation::default()
            }],
            clauses: vec![
                ("RFC5321-4.1.4".to_owned(), 9),
                ("RFC5321-4.1.1.10".to_owned(), 2),
                ("RFC5321-0".to_owned(), 0),
            ],
        };
        let hypothesis = Comparison {
            lines: Lines { all: 44, code: 40 },
            first: Some(Duration::from_secs(1)),
            time: Duration::from_secs(3),
            length: Some(2),
        };
        let first = figures.clone();
        let table = show(
            &[(system, Ok(figures))],
            &[(system, Ok(first), Ok(hypothesis))],
        );
        assert!(
            table.contains("| 20 | 300 | 2.5 s | 1 | 0 | 4 | RFC5321-4.1.4 |"),
            "{table}"
        );
        assert!(
            table.contains("smtpd: wrong value [RFC5321-4.1.4]\n    ?ehlo !reply(code=250) ?ehlo"),
            "{table}"
        );
        assert!(table.contains("| 0.4 s | 2.5 s | 2 |"), "{table}");
        assert!(table.contains("smtpd, not confirmed: by chance"), "{table}");
        assert!(
            table.contains("| smtpd | Hypothesis | 40 | 44 | 1.0 s | 3.0 s | 2 |"),
            "{table}"
        );
        for row in [
            "| clause | smtpd |",
            "| RFC5321-4.1.4 | deviates |",
            "| RFC5321-4.1.1.10 | shown |",
            "| RFC5321-0 | not shown |",
        ] {
            assert!(table.contains(row), "{table}");
        }
        let missing = show(&[(system, Err("no Python".to_owned()))], &[]);
        assert!(missing.contains("not run: no Python"), "{missing}");
    }
}
