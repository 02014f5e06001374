//! What a run has seen of the model: locations, switches, and boundary values of parameters.

mod covered;

use std::collections::BTreeSet;
use std::fmt;

use ioco_sts::{
    Action, Direction, Env, Expr, Gate, LocationId, Requirement, StateSet, Sts, SwitchId, Type,
    Value,
};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::saved::value_to_json;

pub use covered::{Bits, CoverageMap, Covered};

/// The version of [`CoverageSnapshot`].
pub const COVERAGE_VERSION: u32 = 1;

/// Numbers farther out than this are ends of a type that says nothing, not of a condition.
const MAX_BOUNDARY: u64 = 1 << 60;

/// Counts over the items of one model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    locations: Vec<bool>,
    /// How often each switch may have been taken: with non-determinism, every switch that explains
    /// an observation counts.
    switches: Vec<u64>,
    boundaries: Vec<Boundary>,
    /// Per switch, where its boundaries are in `boundaries`.
    boundaries_of: Vec<std::ops::Range<u32>>,
    covered_locations: usize,
    covered_switches: usize,
    covered_boundaries: usize,
}

/// A value at the edge of what a stimulus accepts: the smallest, the largest, or next to a constant
/// that the guard compares with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Boundary {
    pub switch: SwitchId,
    /// Position in the label.
    pub parameter: u32,
    pub value: Value,
    pub covered: bool,
}

/// How much of a whole is covered; all of nothing is.
pub fn percent(covered: u64, all: u64) -> f64 {
    match all {
        0 => 100.0,
        _ => covered as f64 * 100.0 / all as f64,
    }
}

impl Coverage {
    /// Nothing is covered yet. The boundary values are those of the stimuli's guards, as far as
    /// each part of a guard speaks of one parameter alone: what depends on variables moves with
    /// them. Such values are found by evaluation, without a search.
    pub fn new(sts: &Sts) -> Coverage {
        let mut boundaries = Vec::new();
        let mut boundaries_of = Vec::with_capacity(sts.switches().len());
        for index in 0..sts.switches().len() {
            let start = boundaries.len() as u32;
            add_boundaries(sts, SwitchId::from_index(index), &mut boundaries);
            boundaries_of.push(start..boundaries.len() as u32);
        }
        Coverage {
            locations: vec![false; sts.locations().len()],
            switches: vec![0; sts.switches().len()],
            boundaries,
            boundaries_of,
            covered_locations: 0,
            covered_switches: 0,
            covered_boundaries: 0,
        }
    }

    pub fn covers_location(&self, id: LocationId) -> bool {
        self.locations[id.index()]
    }

    pub fn covers_switch(&self, id: SwitchId) -> bool {
        self.switches[id.index()] > 0
    }

    /// How often a switch may have been taken.
    pub fn count(&self, id: SwitchId) -> u64 {
        self.switches[id.index()]
    }

    pub fn boundaries(&self) -> &[Boundary] {
        &self.boundaries
    }

    /// The boundary values of the switch that were not given yet.
    pub fn open_boundaries(&self, id: SwitchId) -> impl Iterator<Item = &Boundary> + '_ {
        self.boundaries_at(id).iter().filter(|b| !b.covered)
    }

    fn boundaries_at(&self, id: SwitchId) -> &[Boundary] {
        let range = &self.boundaries_of[id.index()];
        &self.boundaries[range.start as usize..range.end as usize]
    }

    /// How many locations the model has; likewise the next two.
    pub fn locations(&self) -> usize {
        self.locations.len()
    }

    pub fn switches(&self) -> usize {
        self.switches.len()
    }

    pub fn covered_locations(&self) -> usize {
        self.covered_locations
    }

    pub fn covered_switches(&self) -> usize {
        self.covered_switches
    }

    pub fn covered_boundaries(&self) -> usize {
        self.covered_boundaries
    }

    /// Everything that is covered, of whatever kind.
    pub(crate) fn covered(&self) -> usize {
        self.covered_locations + self.covered_switches + self.covered_boundaries
    }

    /// How often each requirement of the model was shown, in the order of the model.
    pub fn requirements(&self, sts: &Sts) -> Vec<RequirementCoverage> {
        let all = sts.requirements().iter();
        let covered = all.map(|requirement| RequirementCoverage {
            id: requirement.id.clone(),
            text: requirement.text.clone(),
            place: sts.show_place(requirement.place),
            steps: requirement.switches.iter().map(|id| self.count(*id)).sum(),
        });
        covered.collect()
    }

    /// How many requirements of the model were shown.
    pub fn covered_requirements(&self, sts: &Sts) -> usize {
        let is_shown = |requirement: &&Requirement| {
            let mut switches = requirement.switches.iter();
            switches.any(|id| self.covers_switch(*id))
        };
        sts.requirements().iter().filter(is_shown).count()
    }

    /// Percent of the requirements; a model that cites none has shown all.
    pub fn requirements_percent(&self, sts: &Sts) -> f64 {
        let covered = self.covered_requirements(sts);
        percent(covered as u64, sts.requirements().len() as u64)
    }

    /// Percent of the switches; a model without switches is covered.
    pub fn percent(&self) -> f64 {
        percent(self.covered_switches as u64, self.switches.len() as u64)
    }

    /// The model may have been in these states.
    pub fn visit(&mut self, set: &StateSet) {
        for location in set.states.iter().flat_map(|s| s.locations.iter()) {
            let seen = &mut self.locations[location.index()];
            if !*seen {
                *seen = true;
                self.covered_locations += 1;
            }
        }
    }

    /// A step was seen that the model can explain by these switches.
    pub fn take(&mut self, switches: &[SwitchId]) {
        for switch in switches {
            let count = &mut self.switches[switch.index()];
            self.covered_switches += usize::from(*count == 0);
            *count += 1;
        }
    }

    /// A stimulus was given that the model can explain by these switches.
    pub fn give(&mut self, stimulus: &Action, switches: &[SwitchId]) {
        self.take(switches);
        if stimulus.values.is_empty() {
            return;
        }
        for switch in switches {
            let range = self.boundaries_of[switch.index()].clone();
            for boundary in &mut self.boundaries[range.start as usize..range.end as usize] {
                let value = stimulus.values.get(boundary.parameter as usize);
                if !boundary.covered && value == Some(&boundary.value) {
                    boundary.covered = true;
                    self.covered_boundaries += 1;
                }
            }
        }
    }

    /// Adds what another run over the same model has seen.
    pub fn merge(&mut self, other: &Coverage) -> Result<(), CoverageMismatch> {
        let same_boundary = |(a, b): (&Boundary, &Boundary)| {
            (a.switch, a.parameter, &a.value) == (b.switch, b.parameter, &b.value)
        };
        let same = self.locations.len() == other.locations.len()
            && self.switches.len() == other.switches.len()
            && self.boundaries.len() == other.boundaries.len()
            && self
                .boundaries
                .iter()
                .zip(&other.boundaries)
                .all(same_boundary);
        if !same {
            return Err(CoverageMismatch);
        }
        for (mine, theirs) in self.locations.iter_mut().zip(&other.locations) {
            *mine |= theirs;
        }
        for (mine, theirs) in self.switches.iter_mut().zip(&other.switches) {
            *mine = mine.saturating_add(*theirs);
        }
        for (mine, theirs) in self.boundaries.iter_mut().zip(&other.boundaries) {
            mine.covered |= theirs.covered;
        }
        self.recount();
        Ok(())
    }

    fn recount(&mut self) {
        self.covered_locations = self.locations.iter().filter(|seen| **seen).count();
        self.covered_switches = self.switches.iter().filter(|count| **count > 0).count();
        self.covered_boundaries = self.boundaries.iter().filter(|b| b.covered).count();
    }

    /// The coverage as it is saved, by names.
    pub fn snapshot(&self, sts: &Sts) -> CoverageSnapshot {
        let locations = sts.locations().iter().zip(&self.locations);
        let boundary = |b: &Boundary| SavedBoundary {
            switch: b.switch.index(),
            parameter: parameter_name(sts, b).to_owned(),
            value: value_to_json(&b.value, sts.types()),
            covered: b.covered,
        };
        CoverageSnapshot {
            version: COVERAGE_VERSION,
            model: sts.name().to_owned(),
            locations: locations
                .map(|(location, covered)| SavedLocation {
                    process: sts.processes()[location.process.index()].name.clone(),
                    name: location.name.clone(),
                    covered: *covered,
                })
                .collect(),
            switches: (0..self.switches.len())
                .map(|index| {
                    let id = SwitchId::from_index(index);
                    SavedSwitch {
                        place: sts.show_place(sts.switch(id).place),
                        switch: sts.show_switch(id),
                        count: self.switches[index],
                    }
                })
                .collect(),
            boundaries: self.boundaries.iter().map(boundary).collect(),
        }
    }

    /// What was saved, for a model that still has the same locations, switches and boundaries.
    pub fn restore(sts: &Sts, saved: &CoverageSnapshot) -> Result<Coverage, CoverageMismatch> {
        let mut coverage = Coverage::new(sts);
        let expected = coverage.snapshot(sts);
        let same = saved.version <= COVERAGE_VERSION
            && expected.locations.len() == saved.locations.len()
            && expected.switches.len() == saved.switches.len()
            && expected.boundaries.len() == saved.boundaries.len()
            && expected
                .locations
                .iter()
                .zip(&saved.locations)
                .all(|(a, b)| (&a.process, &a.name) == (&b.process, &b.name))
            && expected
                .switches
                .iter()
                .zip(&saved.switches)
                .all(|(a, b)| a.switch == b.switch)
            && expected
                .boundaries
                .iter()
                .zip(&saved.boundaries)
                .all(|(a, b)| {
                    (a.switch, &a.parameter, &a.value) == (b.switch, &b.parameter, &b.value)
                });
        if !same {
            return Err(CoverageMismatch);
        }
        for (seen, location) in coverage.locations.iter_mut().zip(&saved.locations) {
            *seen = location.covered;
        }
        for (count, switch) in coverage.switches.iter_mut().zip(&saved.switches) {
            *count = switch.count;
        }
        for (mine, theirs) in coverage.boundaries.iter_mut().zip(&saved.boundaries) {
            mine.covered = theirs.covered;
        }
        coverage.recount();
        Ok(coverage)
    }
}

fn parameter_name<'a>(sts: &'a Sts, boundary: &Boundary) -> &'a str {
    let label = sts.switch(boundary.switch).gate.label();
    label
        .and_then(|id| sts.label(id).parameters.get(boundary.parameter as usize))
        .map_or("?", |parameter| parameter.name.as_str())
}

/// A requirement of the model, and how many steps showed it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequirementCoverage {
    pub id: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// `door.aml:14`; empty where the model has no text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// Steps whose switch is one of its own; 0 where no test has shown it.
    pub steps: u64,
}

/// Two coverages that are not of the same model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoverageMismatch;

impl fmt::Display for CoverageMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the coverage is of another model, or of an older version of this one")
    }
}

impl std::error::Error for CoverageMismatch {}

/// Coverage as it is saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoverageSnapshot {
    pub version: u32,
    pub model: String,
    pub locations: Vec<SavedLocation>,
    pub switches: Vec<SavedSwitch>,
    pub boundaries: Vec<SavedBoundary>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedLocation {
    pub process: String,
    pub name: String,
    pub covered: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedSwitch {
    /// `door.aml:14`; empty where the model has no text.
    pub place: String,
    /// `Open ──?close──► Closing`.
    pub switch: String,
    pub count: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedBoundary {
    /// Index of the switch in this snapshot.
    pub switch: usize,
    pub parameter: String,
    pub value: Json,
    pub covered: bool,
}

fn add_boundaries(sts: &Sts, id: SwitchId, boundaries: &mut Vec<Boundary>) {
    let switch = sts.switch(id);
    let Gate::Observable(label) = switch.gate else {
        return;
    };
    if sts.label(label).direction != Direction::Stimulus {
        return;
    }
    let conjuncts = about_one_parameter(&switch.guard);
    for (position, parameter) in sts.label(label).parameters.iter().enumerate() {
        let own = conjuncts.iter().filter(|(p, _)| *p as usize == position);
        let conditions: Vec<&Expr> = own.map(|(_, condition)| *condition).collect();
        if conditions.is_empty() {
            continue;
        }
        let mut values = vec![Value::Void; position + 1];
        for value in candidates(&conditions, &parameter.ty) {
            values[position] = value.clone();
            let env = Env {
                variables: &[],
                parameters: &values,
                functions: sts.functions(),
            };
            let holds = |condition: &&Expr| condition.holds(env) == Ok(true);
            if sts.types().fits(&value, &parameter.ty)
                && !is_end_of_type(&value, &parameter.ty)
                && conditions.iter().all(holds)
            {
                boundaries.push(Boundary {
                    switch: id,
                    parameter: position as u32,
                    value,
                    covered: false,
                });
            }
        }
    }
}

/// The conjuncts that speak of a single parameter and of no variable, each with its parameter.
fn about_one_parameter(guard: &Expr) -> Vec<(u32, &Expr)> {
    let found = guard.conjuncts().into_iter().filter_map(|part| {
        let mut parameters = part.params();
        let only = parameters.pop_first()?;
        (parameters.is_empty() && part.vars().is_empty()).then_some((only, part))
    });
    found.collect()
}

/// The ends of the type, the constants that the conditions speak of, and the values next to those.
fn candidates(conditions: &[&Expr], ty: &Type) -> BTreeSet<Value> {
    let mut found = BTreeSet::new();
    if let Some(range) = ty.int_range() {
        found.extend([Value::Int(range.min), Value::Int(range.max)]);
    }
    if *ty == Type::Bool {
        found.extend([Value::Bool(false), Value::Bool(true)]);
    }
    for condition in conditions {
        condition.walk(&mut |expr| match expr {
            Expr::Const(Value::Int(value)) if ty.int_range().is_some() => {
                let near = [value.saturating_sub(1), *value, value.saturating_add(1)];
                found.extend(near.map(Value::Int));
            }
            Expr::Const(Value::Enum(id, member)) => {
                let near = [member.saturating_sub(1), *member, member.saturating_add(1)];
                found.extend(near.map(|member| Value::Enum(*id, member)));
            }
            Expr::Const(value) if !value.is_void() => {
                found.insert(value.clone());
            }
            _ => {}
        });
    }
    found
}

fn is_end_of_type(value: &Value, ty: &Type) -> bool {
    match (value, ty) {
        (Value::Int(value), Type::Int(range)) if range.is_full() => {
            value.unsigned_abs() > MAX_BOUNDARY
        }
        (Value::Int(value), Type::Date | Type::Time) => value.unsigned_abs() > MAX_BOUNDARY,
        (Value::Decimal(value), _) => value.abs() > MAX_BOUNDARY.into(),
        _ => false,
    }
}
