//! `ioco coverage`: what the tests so far have covered, as numbers and as a picture.

use std::path::Path;

use crate::exit::{Answer, CommandError, Exit};
use ioco_campaign::Results;
use ioco_engine::{Coverage, percent};
use ioco_sts::{LocationId, Sts, SwitchId};
use serde::Serialize;

use crate::args::{self, Format};
use crate::{model, output};

/// What `--format json` prints.
#[derive(Serialize)]
struct Report {
    locations: usize,
    covered_locations: usize,
    switches: usize,
    covered_switches: usize,
    boundaries: usize,
    covered_boundaries: usize,
    percent: f64,
    missing_locations: Vec<String>,
    missing_switches: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    requirements: Vec<ioco_engine::RequirementCoverage>,
}

pub fn run(arguments: &args::Coverage, format: Format) -> Answer {
    if let Some(file) = &arguments.output
        && file.extension().is_none_or(|ending| ending != "svg")
    {
        return Err(
            CommandError::usage(format!("{} does not end in .svg", file.display()))
                .hint("ioco draws only SVG; other programs can convert it"),
        );
    }
    let project = crate::typed::project(arguments.model.model.as_deref(), None)?;
    let model = model::load(&arguments.model, &project)?;
    let results = Results::at(project.results());
    let path = results.coverage(&model.hash);
    let Some(coverage) = ioco_campaign::coverage::read(&path, &model.sts)? else {
        return Err(
            CommandError::usage("no test of this model has been recorded here")
                .hint("run `ioco test` first; a changed model starts without coverage"),
        );
    };
    let sts = &model.sts;
    let missing_locations: Vec<String> = (0..sts.locations().len())
        .map(LocationId::from_index)
        .filter(|id| !coverage.covers_location(*id))
        .map(|id| {
            let location = sts.location(id);
            format!(
                "{}  {}",
                sts.show_place(location.place),
                sts.location_title(id)
            )
        })
        .collect();
    let missing_switches: Vec<String> = (0..sts.switches().len())
        .map(SwitchId::from_index)
        .filter(|id| !coverage.covers_switch(*id))
        .map(|id| {
            format!(
                "{}  {}",
                sts.show_place(sts.switch(id).place),
                sts.switch_title(id)
            )
        })
        .collect();
    let report = Report {
        locations: coverage.locations(),
        covered_locations: coverage.covered_locations(),
        switches: coverage.switches(),
        covered_switches: coverage.covered_switches(),
        boundaries: coverage.boundaries().len(),
        covered_boundaries: coverage.covered_boundaries(),
        percent: coverage.percent(),
        missing_locations,
        missing_switches,
        requirements: coverage.requirements(sts),
    };
    if format == Format::Json {
        output::json(&report)?;
    } else {
        print(&report);
    }
    if let Some(file) = &arguments.output {
        draw(file, sts, &coverage)?;
    }
    let missed = arguments
        .minimum
        .is_some_and(|minimum| report.percent + 1e-9 < minimum);
    Ok(if missed {
        Exit::GoalMissed
    } else {
        Exit::Conforms
    })
}

fn print(report: &Report) {
    for (what, covered, all) in [
        ("locations", report.covered_locations, report.locations),
        ("switches", report.covered_switches, report.switches),
        (
            "boundary values",
            report.covered_boundaries,
            report.boundaries,
        ),
    ] {
        let share = percent(covered as u64, all as u64);
        let filled = (share / 5.0).round() as usize;
        let bar = format!("{}{}", "█".repeat(filled), "░".repeat(20 - filled.min(20)));
        output::print(&format!(
            "{what:<16} {bar} {share:>5.1} %  {covered} of {all}\n"
        ));
    }
    if !report.requirements.is_empty() {
        output::print("\nrequirements, and the steps that showed them\n");
        for requirement in &report.requirements {
            let ioco_engine::RequirementCoverage {
                id, text, steps, ..
            } = requirement;
            let line = format!("  {steps:>8}  {id}  {text}");
            output::print(&format!("{}\n", line.trim_end()));
        }
    }
    for (what, missing) in [
        ("locations", &report.missing_locations),
        ("switches", &report.missing_switches),
    ] {
        if !missing.is_empty() {
            output::print(&format!("\nnot covered: {} {what}\n", missing.len()));
            for line in missing.iter().take(20) {
                output::print(&format!("  {line}\n"));
            }
            if missing.len() > 20 {
                output::print(&format!("  and {} more\n", missing.len() - 20));
            }
        }
    }
}

/// How often each location was entered; one that was only the start counts once.
fn entered(sts: &Sts, coverage: &Coverage) -> Vec<u64> {
    let mut counts: Vec<u64> = (0..sts.locations().len())
        .map(|index| u64::from(coverage.covers_location(LocationId::from_index(index))))
        .collect();
    for (index, switch) in sts.switches().iter().enumerate() {
        let taken = coverage.count(SwitchId::from_index(index));
        if taken > 0 {
            let count = &mut counts[switch.target.index()];
            *count = count.saturating_add(taken);
        }
    }
    for (index, count) in counts.iter_mut().enumerate() {
        let is_initial = sts.processes().iter().any(|p| p.initial.index() == index);
        if *count > 1 && !is_initial {
            *count -= 1;
        }
    }
    counts
}

fn draw(file: &Path, sts: &Sts, coverage: &Coverage) -> Result<(), CommandError> {
    let counts = ioco_draw::Counts {
        locations: entered(sts, coverage),
        switches: (0..sts.switches().len())
            .map(|index| coverage.count(SwitchId::from_index(index)))
            .collect(),
    };
    output::draw(file, sts, &counts)
}
