//! Search for values: narrow the domains, split alternatives, then try values and halves of
//! domains. Complete where the domains are small, and stopped by a number of steps elsewhere.

use ioco_sts::domain::{Domain, Narrower, Values, View};
use ioco_sts::{EvalError, Expr, Function, Type, Types, Value};
use rand::{Rng, RngExt as _};
use rust_decimal::Decimal;

use crate::goal::{Constants, Goal, Shape, each_unknown};
use crate::linear;
use crate::outcome::Deadline;
use crate::pipeline::{Part, Pipeline};

/// Rounds of narrowing at one node. Narrowing that has not settled by then is crawling; stopping
/// early only leaves the domains wider.
const MAX_ROUNDS: u32 = 16;
/// Deeper searches are given up, long before the stack ends.
const MAX_DEPTH: u32 = 400;

/// Where to look first.
pub(crate) enum Choice<'r> {
    /// Close to zero, deterministic.
    Plain,
    /// Anywhere, with bounds and constants of the conditions more often than their share.
    Random(&'r mut dyn Rng),
}

impl Choice<'_> {
    fn coin(&mut self) -> bool {
        match self {
            Choice::Plain => false,
            Choice::Random(rng) => rng.random(),
        }
    }

    fn below(&mut self, count: usize) -> usize {
        match self {
            Choice::Plain => 0,
            Choice::Random(rng) => rng.random_range(0..count.max(1)),
        }
    }
}

/// How a search ended.
#[derive(Debug)]
pub(crate) enum SearchOutcome {
    /// Every choice from these domains meets all goals, up to a check by evaluation.
    Model(Vec<Domain>),
    /// There is nothing in the domains that were given.
    Nothing,
    /// Out of steps.
    GaveUp,
}

pub(crate) struct Search<'a, 's> {
    pub types: &'a Types,
    /// The types of the unknowns.
    pub unknowns: &'a [(Type, Domain)],
    pub functions: &'a [Function],
    pub pipeline: Pipeline,
    pub constants: &'s Constants,
    pub deadline: &'s Deadline<'s>,
    /// Steps that this search may take; the deadline counts besides.
    pub budget: u64,
    /// Values between the ones tried were left out, so `Nothing` proves nothing.
    pub skipped: bool,
    /// What decided: narrowing, elimination, or, with any splits, the search itself.
    pub part: Part,
}

/// Narrowing left nothing, or ran out of steps.
pub(crate) enum NarrowingEnd {
    Nothing,
    GaveUp,
}

impl<'a> Search<'a, '_> {
    fn step(&mut self) -> Result<(), NarrowingEnd> {
        if self.budget == 0 || !self.deadline.step() {
            return Err(NarrowingEnd::GaveUp);
        }
        self.budget -= 1;
        Ok(())
    }

    /// Narrows `domains` by `goals` and takes out the goals that hold in all of what is left.
    pub fn narrow(
        &mut self,
        domains: &mut [Domain],
        goals: &mut Vec<Goal<'a>>,
    ) -> Result<(), NarrowingEnd> {
        for _ in 0..MAX_ROUNDS {
            let mut changed = false;
            let mut index = 0;
            while index < goals.len() {
                self.step()?;
                match goals[index].shape() {
                    Shape::All(first, second) => {
                        goals[index] = first;
                        goals.insert(index + 1, second);
                        continue;
                    }
                    Shape::One(goal) => goals[index] = goal,
                    Shape::Either(..) => {}
                }
                let Goal { expr, want } = goals[index];
                let view = View {
                    domains,
                    variables: &[],
                    functions: self.functions,
                    effort: self.deadline,
                };
                let found = view.values_of(expr);
                if !found.may_be(want) {
                    return Err(NarrowingEnd::Nothing);
                }
                if found.is_always(want) {
                    goals.swap_remove(index);
                    continue;
                }
                if !self.pipeline.has(Part::Narrowing) {
                    index += 1;
                    continue;
                }
                let mut narrower = Narrower {
                    domains,
                    types: self.types,
                    type_of: &|unknown| self.unknowns.get(unknown as usize).map(|(ty, _)| ty),
                    variables: &[],
                    functions: self.functions,
                    effort: self.deadline,
                    changed: false,
                };
                if narrower.truth(expr, want).is_err() {
                    return Err(NarrowingEnd::Nothing);
                }
                changed |= narrower.changed;
                index += 1;
            }
            if !changed {
                break;
            }
        }
        Ok(())
    }

    pub fn run(
        &mut self,
        domains: Vec<Domain>,
        goals: Vec<Goal<'a>>,
        choice: &mut Choice<'_>,
    ) -> SearchOutcome {
        self.node(domains, goals, choice, false, 0)
    }

    fn node(
        &mut self,
        mut domains: Vec<Domain>,
        mut goals: Vec<Goal<'a>>,
        choice: &mut Choice<'_>,
        refuted: bool,
        depth: u32,
    ) -> SearchOutcome {
        if depth > MAX_DEPTH {
            return SearchOutcome::GaveUp;
        }
        match self.narrow(&mut domains, &mut goals) {
            Err(NarrowingEnd::Nothing) => return SearchOutcome::Nothing,
            Err(NarrowingEnd::GaveUp) => return SearchOutcome::GaveUp,
            Ok(()) => {}
        }
        if goals.is_empty() {
            return SearchOutcome::Model(domains);
        }
        if let Some(found) = self.alternatives(&domains, &goals, choice, depth) {
            return found;
        }
        // All alternatives are chosen: what is left is a conjunction, once per branch.
        if !refuted
            && self.pipeline.has(Part::Elimination)
            && linear::refutes(&goals, &domains, self.functions, self.deadline)
        {
            if self.part == Part::Narrowing {
                self.part = Part::Elimination;
            }
            return SearchOutcome::Nothing;
        }
        let Some(unknown) = self.open_unknown(&domains, &goals, choice) else {
            return self.decide(domains, &goals);
        };
        self.part = Part::Nearby;
        let mut parts = self.parts(&domains[unknown], choice);
        let mut gave_up = false;
        // The value to try first stays first; the rest in any order.
        let rest = parts.len() - 1;
        if rest > 1 {
            let turn = 1 + choice.below(rest);
            parts.swap(1, turn);
        }
        for part in parts {
            let mut next = domains.clone();
            next[unknown] = part;
            match self.node(next, goals.clone(), choice, true, depth + 1) {
                SearchOutcome::Nothing => {}
                SearchOutcome::GaveUp => {
                    gave_up = true;
                    if self.budget == 0 || self.deadline.is_over() {
                        break;
                    }
                }
                model => return model,
            }
        }
        if gave_up {
            SearchOutcome::GaveUp
        } else {
            SearchOutcome::Nothing
        }
    }

    /// Splits on an alternative, where a goal has one.
    fn alternatives(
        &mut self,
        domains: &[Domain],
        goals: &[Goal<'a>],
        choice: &mut Choice<'_>,
        depth: u32,
    ) -> Option<SearchOutcome> {
        let either: Vec<usize> = (0..goals.len())
            .filter(|i| matches!(goals[*i].shape(), Shape::Either(..)))
            .collect();
        let index = *either.get(choice.below(either.len()))?;
        let Shape::Either(first, not_first, second) = goals[index].shape() else {
            return None;
        };
        let mut branches = [vec![first], vec![not_first, second]];
        if choice.coin() {
            branches.swap(0, 1);
        }
        let mut gave_up = false;
        for branch in branches {
            let mut next = goals.to_vec();
            next.swap_remove(index);
            next.extend(branch);
            match self.node(domains.to_vec(), next, choice, false, depth + 1) {
                SearchOutcome::Nothing => {}
                SearchOutcome::GaveUp => {
                    gave_up = true;
                    if self.budget == 0 || self.deadline.is_over() {
                        break;
                    }
                }
                model => return Some(model),
            }
        }
        Some(if gave_up {
            SearchOutcome::GaveUp
        } else {
            SearchOutcome::Nothing
        })
    }

    /// The unknown to split next: the one with the fewest values, or any.
    fn open_unknown(
        &self,
        domains: &[Domain],
        goals: &[Goal<'a>],
        choice: &mut Choice<'_>,
    ) -> Option<usize> {
        let mut open = Vec::new();
        for goal in goals {
            each_unknown(goal.expr, &mut |unknown| {
                let unknown = unknown as usize;
                if domains.get(unknown).is_some_and(|d| d.size() > 1) && !open.contains(&unknown) {
                    open.push(unknown);
                }
            });
        }
        if let Choice::Random(_) = choice
            && !open.is_empty()
            && choice.coin()
        {
            return Some(open[choice.below(open.len())]);
        }
        open.into_iter().min_by_key(|u| domains[*u].size())
    }

    /// Every unknown of the goals has one value: evaluate.
    fn decide(&self, domains: Vec<Domain>, goals: &[Goal<'a>]) -> SearchOutcome {
        let values: Vec<Value> = domains
            .iter()
            .map(|d| d.only().unwrap_or_default())
            .collect();
        for goal in goals {
            match goal.is_met(&values, self.functions, self.deadline) {
                Ok(true) => {}
                // It may be met.
                Err(EvalError::Exhausted(_)) => return SearchOutcome::GaveUp,
                Ok(false) | Err(_) => return SearchOutcome::Nothing,
            }
        }
        SearchOutcome::Model(domains)
    }

    /// The parts of a domain to search one after another; together they are the whole of it, but
    /// for the numbers between two decimals.
    fn parts(&mut self, domain: &Domain, choice: &mut Choice<'_>) -> Vec<Domain> {
        if domain.void {
            let unset = Domain {
                values: Values::None,
                void: true,
            };
            let set = Domain::set(domain.values.clone());
            return vec![set, unset];
        }
        let sets = match &domain.values {
            Values::Bool { .. } => {
                let first = choice.coin();
                vec![Values::truth(first), Values::truth(!first)]
            }
            Values::Int { min, max } => {
                let pivot = pick_integer(*min, *max, self.constants, choice);
                let mut sets = vec![Values::int(pivot, pivot)];
                let mut halves = |low: i64, high: i64| {
                    if low <= high {
                        let middle = low + (high.wrapping_sub(low) as u64 / 2) as i64;
                        sets.push(Values::int(low, middle));
                        // At the end of 64 bits nothing comes after the middle.
                        if let Some(next) = middle.checked_add(1) {
                            sets.push(Values::int(next, high));
                        }
                    }
                };
                if pivot > *min {
                    halves(*min, pivot - 1);
                }
                if pivot < *max {
                    halves(pivot + 1, *max);
                }
                sets
            }
            Values::Member { of, min, max } => {
                let span = (max - min + 1) as usize;
                let pivot = min + choice.below(span) as u32;
                let member = |min: u32, max: u32| Values::Member { of: *of, min, max };
                let mut sets = vec![member(pivot, pivot)];
                if pivot > *min {
                    sets.push(member(*min, pivot - 1));
                }
                if pivot < *max {
                    sets.push(member(pivot + 1, *max));
                }
                sets
            }
            Values::Decimal { min, max } => {
                self.skipped = true;
                decimal_parts(*min, *max, self.constants, choice)
            }
            // Strings, arrays and structs are chosen before this search begins.
            other => {
                self.skipped = true;
                vec![other.clone()]
            }
        };
        let parts: Vec<Domain> = sets
            .into_iter()
            .filter(|s| !s.is_none() && *s != domain.values)
            .map(Domain::set)
            .collect();
        if parts.is_empty() {
            // Nothing smaller to try: give this unknown up rather than loop.
            self.skipped = true;
            return vec![Domain::set(Values::None)];
        }
        parts
    }
}

/// A value to try, of a range of integers.
pub(crate) fn pick_integer(
    min: i64,
    max: i64,
    constants: &Constants,
    choice: &mut Choice<'_>,
) -> i64 {
    match choice {
        Choice::Plain => 0.clamp(min, max),
        Choice::Random(rng) => match rng.random_range(0..16_u32) {
            0 | 1 => min,
            2 | 3 => max,
            4..=6 => {
                let near = (0..4).find_map(|_| {
                    let count = constants.integers.len();
                    let constant = *constants.integers.get(rng.random_range(0..count.max(1)))?;
                    let value = constant.saturating_add(rng.random_range(-1..=1));
                    (min <= value && value <= max).then_some(value)
                });
                near.unwrap_or_else(|| rng.random_range(min..=max))
            }
            7 => {
                // Small numbers matter in wide ranges.
                let value = rng.random_range(-16..=16_i64);
                if min <= value && value <= max {
                    value
                } else {
                    rng.random_range(min..=max)
                }
            }
            _ => rng.random_range(min..=max),
        },
    }
}

/// A value to try, of a range of decimals: on the grid of one digit more than the conditions have.
pub(crate) fn pick_decimal(
    min: Decimal,
    max: Decimal,
    constants: &Constants,
    choice: &mut Choice<'_>,
) -> Decimal {
    let scale = (constants.scale + 1).min(20);
    let Some((low, high)) = grid(min, max, scale) else {
        return min;
    };
    let at = |units: i128| Decimal::try_from_i128_with_scale(units, scale).unwrap_or(min);
    match choice {
        Choice::Plain => at(0.clamp(low, high)).normalize(),
        Choice::Random(rng) => {
            let units = match rng.random_range(0..8_u32) {
                0 => low,
                1 => high,
                2 | 3 => {
                    // Whole numbers, where there are any.
                    let whole = 10_i128.pow(scale);
                    let (first, last) =
                        ((low + whole - 1).div_euclid(whole), high.div_euclid(whole));
                    if first <= last {
                        rng.random_range(first..=last) * whole
                    } else {
                        rng.random_range(low..=high)
                    }
                }
                _ => rng.random_range(low..=high),
            };
            at(units).normalize()
        }
    }
}

/// The bounds in units of the last of `scale` digits, where there is something on the grid.
pub(crate) fn grid(min: Decimal, max: Decimal, scale: u32) -> Option<(i128, i128)> {
    let units = |value: Decimal, up: bool| {
        let mantissa = value.mantissa();
        if value.scale() <= scale {
            mantissa.checked_mul(10_i128.checked_pow(scale - value.scale())?)
        } else {
            let unit = 10_i128.checked_pow(value.scale() - scale)?;
            let floor = mantissa.div_euclid(unit);
            Some(floor + i128::from(up && mantissa.rem_euclid(unit) != 0))
        }
    };
    let (low, high) = (units(min, true)?, units(max, false)?);
    let fits = |units: i128| Decimal::try_from_i128_with_scale(units, scale).is_ok();
    (low <= high && fits(low) && fits(high)).then_some((low, high))
}

fn decimal_parts(
    min: Decimal,
    max: Decimal,
    constants: &Constants,
    choice: &mut Choice<'_>,
) -> Vec<Values> {
    let pivot = pick_decimal(min, max, constants, choice);
    let scale = (constants.scale + 1).min(20);
    let unit = Decimal::new(1, scale);
    let mut sets = vec![Values::decimal(pivot, pivot)];
    let mut halves = |low: Decimal, high: Decimal| {
        if low > high {
            return;
        }
        let middle = low
            .checked_add(high)
            .map_or(Decimal::ZERO, |sum| {
                (sum / Decimal::TWO).trunc_with_scale(scale)
            })
            .max(low)
            .min(high);
        sets.push(Values::decimal(low, middle));
        if let Some(next) = middle.checked_add(unit) {
            sets.push(Values::decimal(next, high));
        }
    };
    if let Some(below) = pivot.checked_sub(unit) {
        halves(min, below);
    }
    if let Some(above) = pivot.checked_add(unit) {
        halves(above, max);
    }
    sets
}

/// Values for every unknown from the domains of a model.
pub(crate) fn concrete(
    domains: &[Domain],
    constants: &Constants,
    choice: &mut Choice<'_>,
) -> Vec<Value> {
    domains
        .iter()
        .map(|domain| match &domain.values {
            Values::None => Value::Void,
            Values::Bool { .. } => match domain.values.only() {
                Some(value) => value,
                None => Value::Bool(choice.coin()),
            },
            Values::Int { min, max } => Value::Int(pick_integer(*min, *max, constants, choice)),
            Values::Decimal { min, max } => {
                Value::Decimal(pick_decimal(*min, *max, constants, choice))
            }
            Values::Member { of, min, max } => {
                let span = (max - min + 1) as usize;
                Value::Enum(*of, min + choice.below(span) as u32)
            }
            Values::One(value) => value.clone(),
            // The empty string and the empty array; others are chosen before.
            Values::Str { .. } | Values::Array { .. } | Values::Any => {
                domain.values.only().unwrap_or_default()
            }
        })
        .collect()
}

/// Whether every one of `conditions` holds.
pub(crate) fn all_hold(
    conditions: &[Expr],
    values: &[Value],
    functions: &[Function],
    deadline: &Deadline<'_>,
) -> bool {
    conditions
        .iter()
        .all(|c| Goal::holds(c).is_met(values, functions, deadline) == Ok(true))
}

#[cfg(test)]
mod tests;
