//! One question from start to answer: strings, arrays and structs are taken apart or chosen first;
//! what is left are numbers, booleans and enum members, for the search.

use ioco_sts::domain::{Domain, Values};
use ioco_sts::{Expr, Function, Type, Types, Value};
use rand::RngExt as _;
use rust_decimal::Decimal;

mod cases;
mod rewriting;

use rewriting::inlined;

use crate::cp::{self, Solved};
use crate::goal::{Constants, Goal, each_unknown};
use crate::outcome::{Deadline, Outcome, Unknown};
use crate::pipeline::{Part, Pipeline};
use crate::samples;
use crate::search::{Choice, NarrowingEnd, Search, SearchOutcome, all_hold, concrete};

/// Integers are looked for within this distance of zero first, or of the constants in sight.
pub(crate) const DEFAULT_WINDOW: i64 = 1_000_000;
/// Steps of the first searches: enough for most questions, and little lost on the others.
const FIRST_STEPS: u64 = 600;
/// With more goals than this a plain search seldom succeeds, and gets fewer steps.
const MANY_GOALS: usize = 12;
const STEPS_PER_GOAL: u64 = 4;
/// Steps of the last one, over domains that are not capped.
const LAST_STEPS: u64 = 40_000;
/// Strings, arrays and structs within each other.
const MAX_NESTING: u32 = 48;

/// What the unknowns are made of, and what must hold.
#[derive(Clone)]
pub(crate) struct Query<'a> {
    pub types: &'a Types,
    pub functions: &'a [Function],
    pub pipeline: Pipeline,
    /// The unknowns of the question come first; parts of arrays and structs follow.
    pub unknowns: Vec<(Type, Domain)>,
    pub conditions: Vec<Expr>,
}

impl<'a> Query<'a> {
    pub fn new(types: &'a Types, functions: &'a [Function]) -> Query<'a> {
        Query {
            types,
            functions,
            pipeline: Pipeline::WHOLE,
            unknowns: Vec::new(),
            conditions: Vec::new(),
        }
    }

    pub fn unknown(&mut self, ty: &Type, void: bool) -> u32 {
        let values = Values::of_type(ty, self.types);
        self.unknowns.push((ty.clone(), Domain { values, void }));
        (self.unknowns.len() - 1) as u32
    }

    /// The domains after narrowing alone; `None` when nothing is left.
    pub fn narrowed(&self, deadline: &Deadline<'_>) -> Option<Vec<Domain>> {
        let constants = Constants::default();
        let mut search = self.search(&constants, deadline, FIRST_STEPS);
        let mut domains = self.domains();
        let mut goals = self.goals();
        match search.narrow(&mut domains, &mut goals) {
            Err(NarrowingEnd::Nothing) => None,
            Ok(()) | Err(NarrowingEnd::GaveUp) => Some(domains),
        }
    }

    fn domains(&self) -> Vec<Domain> {
        self.unknowns.iter().map(|(_, d)| d.clone()).collect()
    }

    fn goals(&self) -> Vec<Goal<'_>> {
        self.conditions.iter().map(Goal::holds).collect()
    }

    fn search<'s>(
        &'s self,
        constants: &'s Constants,
        deadline: &'s Deadline<'s>,
        budget: u64,
    ) -> Search<'s, 's> {
        Search {
            types: self.types,
            unknowns: &self.unknowns,
            functions: self.functions,
            pipeline: self.pipeline,
            constants,
            deadline,
            budget,
            skipped: false,
            part: Part::Narrowing,
        }
    }

    /// Values for all unknowns, checked by evaluation.
    pub fn solve(&self, choice: &mut Choice<'_>, deadline: &Deadline<'_>) -> Outcome<Vec<Value>> {
        #[cfg(feature = "record")]
        crate::record::question(self, choice);
        let mut written_out = self.clone();
        for condition in &mut written_out.conditions {
            *condition = inlined(condition, self.functions, 0);
        }
        let outcome = written_out.solve_nested(choice, deadline, 0);
        self.checked(outcome, deadline)
    }

    /// The outcome, where its values are ones that the unknowns may have and meet the conditions.
    pub fn checked(
        &self,
        outcome: Outcome<Vec<Value>>,
        deadline: &Deadline<'_>,
    ) -> Outcome<Vec<Value>> {
        if let Outcome::Sat(values) = &outcome {
            let fits = |(value, (ty, domain)): (&Value, &(Type, Domain))| {
                self.types.fits(value, ty) && domain.contains(value)
            };
            if !values.iter().zip(&self.unknowns).all(fits)
                || !all_hold(&self.conditions, values, self.functions, deadline)
            {
                return Outcome::incomplete("the values found do not pass the check by evaluation");
            }
        }
        outcome
    }

    fn solve_nested(
        &self,
        choice: &mut Choice<'_>,
        deadline: &Deadline<'_>,
        nesting: u32,
    ) -> Outcome<Vec<Value>> {
        let constants = Constants::of(&self.conditions, self.functions);
        let mut domains = self.domains();
        let mut goals = self.goals();
        let mut search = self.search(&constants, deadline, FIRST_STEPS);
        match search.narrow(&mut domains, &mut goals) {
            Err(NarrowingEnd::Nothing) => {
                deadline.answer_by(Part::Narrowing);
                return Outcome::Unsat;
            }
            Err(NarrowingEnd::GaveUp) if deadline.is_over() => {
                return Outcome::Unknown(Unknown::Deadline);
            }
            Ok(()) | Err(NarrowingEnd::GaveUp) => {}
        }
        let mut mentioned = vec![false; domains.len()];
        for goal in &goals {
            each_unknown(goal.expr, &mut |u| {
                if let Some(seen) = mentioned.get_mut(u as usize) {
                    *seen = true;
                }
            });
        }
        let composite = (0..domains.len()).find(|&u| {
            mentioned[u] && is_composite(&domains[u].values) && domains[u].only().is_none()
        });
        let Some(unknown) = composite else {
            let outcome = self.solve_numbers(domains.clone(), goals, &constants, choice, deadline);
            return outcome.map(|mut values| {
                for (index, (ty, _)) in self.unknowns.iter().enumerate() {
                    if is_composite(&domains[index].values) && domains[index].only().is_none() {
                        values[index] = self.anything(ty, &domains[index], choice, 0);
                    }
                }
                values
            });
        };
        if nesting == MAX_NESTING {
            return Outcome::incomplete("arrays and structs within each other too deeply");
        }
        self.split(unknown, &domains, &constants, choice, deadline, nesting + 1)
    }

    /// A value of a type that nothing asks anything of.
    fn anything(&self, ty: &Type, domain: &Domain, choice: &mut Choice<'_>, depth: u32) -> Value {
        let (min, max) = domain.values.lengths();
        match ty {
            Type::Str => {
                let shortest = min.clamp(0, i64::from(samples::MAX_LENGTH)) as u32;
                let spare = max.saturating_sub(min).clamp(0, 8) as u32;
                Value::str(&samples::any_word(shortest, spare, choice))
            }
            Type::Array(item) => {
                let domain = Domain::set(Values::of_type(item, self.types));
                let items = (0..min.clamp(0, 1024))
                    .map(|_| self.anything(item, &domain, choice, depth + 1))
                    .collect();
                Value::Array(items)
            }
            Type::Struct(id) => {
                let fields = match self.types.structs.get(id.index()) {
                    Some(s) if depth < 8 => s.fields.as_slice(),
                    _ => return Value::Void,
                };
                let fields = fields
                    .iter()
                    .map(|(_, ty)| {
                        let domain = Domain::set(Values::of_type(ty, self.types));
                        self.anything(ty, &domain, choice, depth + 1)
                    })
                    .collect();
                Value::Struct(*id, fields)
            }
            _ => {
                let (capped, _) = cap(std::slice::from_ref(domain), &Constants::default());
                concrete(&capped, &Constants::default(), choice).remove(0)
            }
        }
    }

    /// Numbers, booleans and enum members only.
    fn solve_numbers<'s>(
        &'s self,
        domains: Vec<Domain>,
        goals: Vec<Goal<'s>>,
        constants: &Constants,
        choice: &mut Choice<'_>,
        deadline: &Deadline<'_>,
    ) -> Outcome<Vec<Value>> {
        // Close to zero and to the constants first, where values are readable.
        let (near, cut) = cap(&domains, constants);
        // Many conditions at once are what learning is for: only a quick try before it.
        let steps = if goals.len() > MANY_GOALS {
            STEPS_PER_GOAL * goals.len() as u64
        } else {
            FIRST_STEPS
        };
        let mut why = "the search took too many steps";
        for part in [Part::Nearby, Part::Learning, Part::Exhaustive] {
            if !self.pipeline.has(part) {
                continue;
            }
            let (domains, cut, steps) = match part {
                Part::Nearby => (&near, cut, steps),
                _ => (&domains, false, LAST_STEPS),
            };
            if part == Part::Learning {
                match self.learn(&near, domains, &goals, constants, choice, deadline) {
                    Solved::Model(model) => {
                        deadline.answer_by(part);
                        return self.model(&model, constants, choice);
                    }
                    Solved::Nothing { cut: false } => {
                        deadline.answer_by(part);
                        return Outcome::Unsat;
                    }
                    _ => {}
                }
            } else {
                let mut search = self.search(constants, deadline, steps);
                let found = search.run(domains.clone(), goals.clone(), choice);
                let answers = if search.part == Part::Nearby {
                    part
                } else {
                    search.part
                };
                match found {
                    SearchOutcome::Model(model) => {
                        deadline.answer_by(answers);
                        return self.model(&model, constants, choice);
                    }
                    SearchOutcome::Nothing if !cut && !search.skipped => {
                        deadline.answer_by(answers);
                        return Outcome::Unsat;
                    }
                    SearchOutcome::Nothing => why = "not every decimal number was tried",
                    SearchOutcome::GaveUp => why = "the search took too many steps",
                }
            }
            if deadline.is_over() {
                return Outcome::Unknown(Unknown::Deadline);
            }
        }
        Outcome::incomplete(why)
    }

    /// Asks the solver that learns from conflicts; for a random model first within random halves of
    /// the domains.
    fn learn(
        &self,
        near: &[Domain],
        domains: &[Domain],
        goals: &[Goal<'_>],
        constants: &Constants,
        choice: &mut Choice<'_>,
        deadline: &Deadline<'_>,
    ) -> Solved {
        if let Choice::Random(rng) = choice {
            for share in [2, 4] {
                let mut part = near.to_vec();
                for domain in &mut part {
                    if let Values::Int { min, max } = &mut domain.values
                        && rng.random_range(0..share) == 0
                    {
                        let pivot = rng.random_range(*min..=*max);
                        if rng.random() {
                            *max = pivot;
                        } else {
                            *min = pivot;
                        }
                    }
                }
                let solved = cp::solve(goals, &part, self.functions, constants, deadline);
                if matches!(solved, Solved::Model(_) | Solved::Unfit) {
                    return solved;
                }
            }
        }
        cp::solve(goals, domains, self.functions, constants, deadline)
    }

    fn model(
        &self,
        domains: &[Domain],
        constants: &Constants,
        choice: &mut Choice<'_>,
    ) -> Outcome<Vec<Value>> {
        let (near, _) = cap(domains, constants);
        Outcome::Sat(concrete(&near, constants, choice))
    }
}

fn shuffle<T>(items: &mut [T], choice: &mut Choice<'_>) {
    if let Choice::Random(rng) = choice {
        for index in (1..items.len()).rev() {
            items.swap(index, rng.random_range(0..=index));
        }
    }
}

fn is_composite(values: &Values) -> bool {
    matches!(
        values,
        Values::Str { .. } | Values::Array { .. } | Values::Any
    )
}

/// The domains, with numbers no farther away than is usual; and whether that took anything away.
pub(crate) fn cap(domains: &[Domain], constants: &Constants) -> (Vec<Domain>, bool) {
    let widest = constants
        .integers
        .iter()
        .map(|c| c.saturating_abs().saturating_mul(2))
        .fold(DEFAULT_WINDOW, i64::max);
    let decimals = constants
        .decimals
        .iter()
        .map(|c| c.abs().saturating_mul(Decimal::TWO))
        .fold(Decimal::from(widest), Decimal::max);
    let mut cut = false;
    let near = domains
        .iter()
        .map(|domain| {
            let values = match &domain.values {
                Values::Int { min, max } => {
                    let (low, high) = window(*min, *max, widest);
                    Values::int(low, high)
                }
                Values::Decimal { min, max } => {
                    let low = (*min).max((-decimals).min(max.saturating_sub(decimals)));
                    let high = (*max).min(decimals.max(min.saturating_add(decimals)));
                    Values::decimal(low, high)
                }
                other => other.clone(),
            };
            cut |= values != domain.values;
            Domain {
                values,
                void: domain.void,
            }
        })
        .collect();
    (near, cut)
}

/// The part of a range that is at most `width` from zero, or from the bound that is closest to it.
pub(crate) fn window(min: i64, max: i64, width: i64) -> (i64, i64) {
    let low = min.max((-width).min(max.saturating_sub(width)));
    let high = max.min(width.max(min.saturating_add(width)));
    (low, high)
}

#[cfg(test)]
mod tests;
