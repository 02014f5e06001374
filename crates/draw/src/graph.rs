//! One process as nodes and edges: parallel switches are one edge with a line for each.

use std::collections::BTreeMap;

use ioco_sts::{Direction, Gate, LocationId, Sts, SwitchId, show_switch_label};

use crate::Counts;

/// Whether something was level, where coverage is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoverageLevel {
    /// Coverage is not shown.
    Unknown,
    Never,
    /// Of several switches, some.
    Partly,
    Fully,
}

impl CoverageLevel {
    /// The class that the style sheet knows it by.
    pub fn class(self) -> &'static str {
        match self {
            CoverageLevel::Unknown => "",
            CoverageLevel::Never => " missed",
            CoverageLevel::Partly => " partly",
            CoverageLevel::Fully => " covered",
        }
    }

    fn of(count: Option<u64>) -> CoverageLevel {
        match count {
            None => CoverageLevel::Unknown,
            Some(0) => CoverageLevel::Never,
            Some(_) => CoverageLevel::Fully,
        }
    }
}

pub struct Node {
    pub location: LocationId,
    pub name: String,
    pub count: Option<u64>,
    pub level: CoverageLevel,
}

/// One switch of an edge.
pub struct Line {
    pub text: String,
    pub count: Option<u64>,
    pub level: CoverageLevel,
    /// The class of its gate: who sends it.
    pub class: &'static str,
}

impl Line {
    /// The count comes first, where no line break parts it from its switch.
    pub fn shown(&self) -> String {
        match self.count {
            Some(count) => format!("×{count} {}", self.text),
            None => self.text.clone(),
        }
    }
}

pub struct Edge {
    pub source: usize,
    pub target: usize,
    pub lines: Vec<Line>,
    pub level: CoverageLevel,
}

pub struct Graph {
    pub process: String,
    pub initial: usize,
    pub nodes: Vec<Node>,
    /// By source, then target.
    pub edges: Vec<Edge>,
}

impl Graph {
    pub fn of_process(sts: &Sts, process: usize, coverage: Option<&Counts>) -> Graph {
        let mut nodes = Vec::new();
        let mut number_of: BTreeMap<LocationId, usize> = BTreeMap::new();
        for (index, location) in sts.locations().iter().enumerate() {
            if location.process.index() != process {
                continue;
            }
            let id = LocationId::from_index(index);
            let count = coverage.map(|c| c.locations.get(index).copied().unwrap_or(0));
            number_of.insert(id, nodes.len());
            nodes.push(Node {
                location: id,
                name: location.name.clone(),
                count,
                level: CoverageLevel::of(count),
            });
        }
        let mut lines_of: BTreeMap<(usize, usize), Vec<Line>> = BTreeMap::new();
        for (index, switch) in sts.switches().iter().enumerate() {
            let (Some(source), Some(target)) =
                (number_of.get(&switch.source), number_of.get(&switch.target))
            else {
                continue;
            };
            let id = SwitchId::from_index(index);
            let count = coverage.map(|c| c.switches.get(index).copied().unwrap_or(0));
            lines_of.entry((*source, *target)).or_default().push(Line {
                text: show_switch_label(sts, id),
                count,
                level: CoverageLevel::of(count),
                class: gate_class(sts, switch.gate),
            });
        }
        let edges = lines_of
            .into_iter()
            .map(|((source, target), lines)| Edge {
                source,
                target,
                level: together(&lines),
                lines,
            })
            .collect();
        let initial = sts.processes()[process].initial;
        Graph {
            process: sts.processes()[process].name.clone(),
            initial: number_of.get(&initial).copied().unwrap_or(0),
            nodes,
            edges,
        }
    }
}

fn gate_class(sts: &Sts, gate: Gate) -> &'static str {
    match gate {
        Gate::Observable(label) if sts.label(label).direction == Direction::Stimulus => "stimulus",
        Gate::Observable(_) => "response",
        Gate::Tau | Gate::Send(_) | Gate::Receive(_) => "internal",
    }
}

fn together(lines: &[Line]) -> CoverageLevel {
    let all = |level| lines.iter().all(|line| line.level == level);
    [
        CoverageLevel::Unknown,
        CoverageLevel::Never,
        CoverageLevel::Fully,
    ]
    .into_iter()
    .find(|level| all(*level))
    .unwrap_or(CoverageLevel::Partly)
}

/// ` ×3`, where coverage is shown.
pub fn times(count: Option<u64>) -> String {
    count.map_or_else(String::new, |count| format!(" ×{count}"))
}
