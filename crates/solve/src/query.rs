//! One question from start to answer: strings, arrays and structs are taken apart or chosen first;
//! what is left are numbers, booleans and enum members, for the search.

use std::collections::BTreeSet;

use ioco_sts::domain::{Domain, Values};
use ioco_sts::{BinaryOp, Env, EvalError, Expr, Function, Type, Types, UnaryOp, Value};
use rand::RngExt as _;
use rust_decimal::Decimal;

use crate::cp::{self, Solved};
use crate::goal::{Constants, Goal, each_unknown};
use crate::outcome::{Deadline, Outcome, Unknown};
use crate::pipeline::{Part, Pipeline};
use crate::search::{Choice, NarrowingEnd, Search, SearchOutcome, all_hold, concrete};
use crate::unfold::unfolded;
use crate::{samples, strings};

/// Integers are looked for within this distance of zero first, or of the constants in sight.
pub(crate) const DEFAULT_WINDOW: i64 = 1_000_000;
/// Steps of the first searches: enough for most questions, and little lost on the others.
const FIRST_STEPS: u64 = 600;
/// With more goals than this a plain search seldom succeeds, and gets fewer steps.
const MANY_GOALS: usize = 12;
const STEPS_PER_GOAL: u64 = 4;
/// Steps of the last one, over domains that are not capped.
const LAST_STEPS: u64 = 40_000;
/// Arrays longer than this are not made up, unless they must be.
const USUAL_LENGTH: i64 = 4;
const MAX_LENGTH: i64 = 64;
/// Strings, arrays and structs within each other.
const MAX_NESTING: u32 = 48;
/// Functions that call each other are written out so deep.
const MAX_CALLS: u32 = 4;
/// Larger expressions are not made of calls.
const MAX_INLINED: usize = 400;

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

/// How the value of an unknown that was taken apart is put together again.
#[derive(Clone)]
enum Whole {
    Items(Vec<u32>),
    Fields(ioco_sts::StructId, Vec<u32>),
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

    /// Tries the shapes of one string, array or struct after another.
    fn split(
        &self,
        unknown: usize,
        domains: &[Domain],
        constants: &Constants,
        choice: &mut Choice<'_>,
        deadline: &Deadline<'_>,
        nesting: u32,
    ) -> Outcome<Vec<Value>> {
        let (ty, _) = &self.unknowns[unknown];
        let domain = &domains[unknown];
        let mut complete = true;
        let mut unknown_why: Option<Unknown> = None;
        let mut cases: Vec<(Query<'a>, Option<Whole>)> = Vec::new();
        let mut base = self.clone();
        for (slot, domain) in base.unknowns.iter_mut().zip(domains) {
            slot.1 = domain.clone();
        }
        match ty {
            Type::Array(item) => {
                let (min, max) = domain.values.lengths();
                let mut lengths: Vec<i64> =
                    (min..=max.min(min.saturating_add(USUAL_LENGTH))).collect();
                let near = constants.integers.iter().flat_map(|constant| {
                    let (below, above) = (constant.saturating_sub(1), constant.saturating_add(1));
                    [below, *constant, above]
                });
                for length in near.chain(constants.lengths.iter().copied()) {
                    if min <= length && length <= max && !lengths.contains(&length) {
                        lengths.push(length);
                    }
                }
                lengths.retain(|l| *l <= MAX_LENGTH.max(min.min(1024)));
                complete &= lengths.len() as i128 == i128::from(max) - i128::from(min) + 1;
                shuffle(&mut lengths, choice);
                for length in lengths {
                    cases.push(base.with_items(unknown, item, length));
                }
            }
            Type::Struct(id) => match base.with_fields(unknown, *id) {
                Some(case) => cases.push(case),
                None => {
                    complete = false;
                    for value in &constants.others {
                        if self.types.fits(value, ty) {
                            cases.push((base.with_value(unknown, value), None));
                        }
                    }
                    let any = self.anything(ty, domain, choice, 0);
                    cases.push((base.with_value(unknown, &any), None));
                }
            },
            _ => {
                return base.split_string(unknown, constants, choice, deadline, nesting);
            }
        }
        if domain.void {
            cases.push((base.with_value(unknown, &Value::Void), None));
        }
        for (case, whole) in cases {
            match case.solve_nested(choice, deadline, nesting) {
                Outcome::Sat(mut values) => {
                    match whole {
                        Some(Whole::Items(parts)) => {
                            values[unknown] = Value::Array(
                                parts.iter().map(|p| values[*p as usize].clone()).collect(),
                            );
                        }
                        Some(Whole::Fields(id, parts)) => {
                            let fields =
                                parts.iter().map(|p| values[*p as usize].clone()).collect();
                            values[unknown] = Value::Struct(id, fields);
                        }
                        None => {}
                    }
                    values.truncate(self.unknowns.len());
                    return Outcome::Sat(values);
                }
                Outcome::Unsat => {}
                Outcome::Unknown(Unknown::Deadline) => return Outcome::Unknown(Unknown::Deadline),
                Outcome::Unknown(why) => unknown_why = Some(why),
            }
        }
        match unknown_why {
            Some(why) => Outcome::Unknown(why),
            None if complete => Outcome::Unsat,
            None => Outcome::incomplete("not every string, array or struct was tried"),
        }
    }

    /// Takes the conditions on one string apart, until they say which strings are worth trying.
    fn split_string(
        &self,
        unknown: usize,
        constants: &Constants,
        choice: &mut Choice<'_>,
        deadline: &Deadline<'_>,
        nesting: u32,
    ) -> Outcome<Vec<Value>> {
        let is = |wanted: Type| {
            move |u: u32| {
                let ty = self.unknowns.get(u as usize).map(|(ty, _)| ty);
                ty.is_some_and(|ty| *ty == wanted)
            }
        };
        let parts = strings::parts(&self.conditions);
        let without = |index: usize| {
            let others = parts.iter().enumerate().filter(move |(i, _)| *i != index);
            others.map(|(_, goal)| strings::condition(*goal))
        };
        // Strings that are joined are set.
        let set_joined = |case: &mut Query<'_>, term: &Expr| {
            let mut parameters = Vec::new();
            each_unknown(term, &mut |u| parameters.push(u as usize));
            parameters.into_iter().all(|parameter| {
                case.unknowns[parameter].1.void = false;
                !case.unknowns[parameter].1.is_empty()
            })
        };
        let languages = self.pipeline.has(Part::Languages);
        if languages && let Some((index, simpler)) = strings::simplified(&parts, &is(Type::Str)) {
            let mut case = self.clone();
            if !set_joined(&mut case, parts[index].expr) {
                return Outcome::Unsat;
            }
            case.conditions = without(index).chain([simpler]).collect();
            return case.solve_nested(choice, deadline, nesting);
        }
        if languages
            && let Some((index, equal, term)) = strings::substitution(&parts, &is(Type::Str))
        {
            let mut case = self.clone();
            case.conditions = without(index).map(|c| replace(&c, equal, &term)).collect();
            let equal = equal as usize;
            if let Expr::Param(other) = term {
                let slot = &mut case.unknowns[other as usize].1;
                *slot = slot.meet(&self.unknowns[equal].1);
                if slot.is_empty() {
                    return Outcome::Unsat;
                }
            } else if !set_joined(&mut case, &term) {
                return Outcome::Unsat;
            }
            case.unknowns[equal].1 = Domain::exactly(&Value::Void);
            let outcome = case.solve_nested(choice, deadline, nesting);
            return match outcome {
                Outcome::Sat(mut values) => {
                    let env = Env {
                        variables: &[],
                        parameters: &values,
                        functions: self.functions,
                    };
                    match term.eval(env) {
                        Ok(value) => values[equal] = value,
                        Err(_) => return Outcome::incomplete("a joined string has no value"),
                    }
                    Outcome::Sat(values)
                }
                other => other,
            };
        }
        let mut cases: Vec<Query<'a>> = Vec::new();
        let mut complete = true;
        let domain = &self.unknowns[unknown].1;
        let reading = strings::Reading::new(&parts, unknown as u32);
        if domain.void {
            let mut set = self.clone();
            set.unknowns[unknown].1.void = false;
            if !set.unknowns[unknown].1.is_empty() {
                cases.push(set);
            }
            cases.push(self.with_value(unknown, &Value::Void));
        } else if languages
            && !reading.is_settled()
            && let Some((index, mut ways)) =
                strings::branches(&parts, &reading.members(), &is(Type::Bool))
        {
            shuffle(&mut ways, choice);
            for way in ways {
                let mut case = self.clone();
                case.conditions = without(index).chain(way).collect();
                cases.push(case);
            }
        } else {
            let lengths = domain.values.lengths();
            let candidates = if languages {
                reading.candidates(lengths, &self.conditions, constants, choice, deadline)
            } else {
                reading.samples(lengths, &self.conditions, constants, choice, deadline)
            };
            complete = candidates.complete;
            let mut found = candidates.strings;
            let mut seen = BTreeSet::new();
            found.retain(|text| seen.insert(text.clone()));
            if let Choice::Random(_) = choice {
                shuffle(&mut found, choice);
            }
            let own: Vec<&Expr> = self.conditions_on(unknown);
            let mut values = vec![Value::Void; self.unknowns.len()];
            for text in &found {
                if !deadline.step() {
                    return Outcome::Unknown(Unknown::Deadline);
                }
                let value = Value::str(text);
                values[unknown] = value.clone();
                // What reached a limit may be met; the search for the others finds out.
                let met = |c: &&Expr| {
                    let met = Goal::holds(c).is_met(&values, self.functions, deadline);
                    matches!(met, Ok(true) | Err(EvalError::Exhausted(_)))
                };
                if domain.values.contains(&value) && own.iter().all(met) {
                    cases.push(self.with_value(unknown, &value));
                }
            }
        }
        let mut unknown_why: Option<Unknown> = None;
        for case in cases {
            match case.solve_nested(choice, deadline, nesting) {
                Outcome::Sat(values) => {
                    deadline.answer_by(Part::Languages);
                    return Outcome::Sat(values);
                }
                Outcome::Unsat => {}
                Outcome::Unknown(Unknown::Deadline) => return Outcome::Unknown(Unknown::Deadline),
                Outcome::Unknown(why) => unknown_why = Some(why),
            }
        }
        match unknown_why {
            Some(why) => Outcome::Unknown(why),
            None if deadline.is_over() => Outcome::Unknown(Unknown::Deadline),
            None if complete => {
                deadline.answer_by(Part::Languages);
                Outcome::Unsat
            }
            None => Outcome::incomplete("not every string was tried"),
        }
    }

    /// The conditions that speak of one unknown alone.
    fn conditions_on(&self, unknown: usize) -> Vec<&Expr> {
        // The last ones first: they were added when others were taken apart.
        let conditions = self.conditions.iter().rev();
        let parts = conditions.flat_map(|condition| condition.conjuncts().into_iter().rev());
        let own = BTreeSet::from([unknown as u32]);
        parts.filter(|part| part.params() == own).collect()
    }

    fn with_value(&self, unknown: usize, value: &Value) -> Query<'a> {
        let mut case = self.clone();
        case.unknowns[unknown].1 = Domain::exactly(value);
        let replacement = Expr::Const(value.clone());
        case.replace(unknown, &replacement);
        case
    }

    fn with_items(&self, unknown: usize, item: &Type, length: i64) -> (Query<'a>, Option<Whole>) {
        let mut case = self.clone();
        let parts: Vec<u32> = (0..length).map(|_| case.unknown(item, true)).collect();
        let replacement = Expr::Array(parts.iter().map(|p| Expr::Param(*p)).collect());
        // The unknown itself is settled by its items.
        case.unknowns[unknown].1 = Domain::exactly(&Value::Void);
        case.replace(unknown, &replacement);
        (case, Some(Whole::Items(parts)))
    }

    /// The struct as its fields; `None` where it is used as a whole in a way that fields cannot
    /// stand for.
    fn with_fields(
        &self,
        unknown: usize,
        id: ioco_sts::StructId,
    ) -> Option<(Query<'a>, Option<Whole>)> {
        let mut case = self.clone();
        let fields = &self.types.structs.get(id.index())?.fields;
        let parts: Vec<u32> = fields
            .iter()
            .map(|(_, ty)| case.unknown(ty, true))
            .collect();
        let replaced: Option<Vec<Expr>> = case
            .conditions
            .iter()
            .map(|c| replace_fields(c, unknown as u32, &parts))
            .collect();
        case.conditions = replaced?;
        case.unknowns[unknown].1 = Domain::exactly(&Value::Void);
        if let Some(most) = self.most_items(id) {
            // Longer ones would be refuted only after a search through their items.
            case.unknowns[parts[0] as usize].1 = Domain::set(Values::Array { min: 0, max: most });
        }
        Some((case, Some(Whole::Fields(id, parts))))
    }

    /// The most items that a set or a hash can have: one for every key. `None` for other structs.
    fn most_items(&self, id: ioco_sts::StructId) -> Option<i64> {
        let item = self.types.item_of(id)?;
        let key = self.types.entry_of(id).map_or(item, |(key, _)| key);
        let keys = Values::of_type(key, self.types).size();
        Some(i64::try_from(keys).unwrap_or(i64::MAX))
    }

    fn replace(&mut self, unknown: usize, replacement: &Expr) {
        for condition in &mut self.conditions {
            let replaced = replace(condition, unknown as u32, replacement);
            *condition = unfolded(replaced, self.functions);
        }
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

/// Sets of one as equalities, and calls as what they come to, where that is the same: an argument without a value is an error also
/// where the function does not use it.
fn inlined(expr: &Expr, functions: &[Function], depth: u32) -> Expr {
    let expr = expr.map_children(|child| inlined(child, functions, depth));
    if let Expr::InSet(subject, items) = &expr
        && let [item] = items.as_slice()
    {
        return Expr::binary(BinaryOp::Eq, (**subject).clone(), item.clone());
    }
    let Expr::Call(function, arguments) = &expr else {
        return expr;
    };
    let id = *function;
    let Some(function) = functions.get(id.index()) else {
        return expr;
    };
    let same = |(position, argument): (u32, &Expr)| {
        matches!(argument, Expr::Const(_) | Expr::Param(_))
            || always_evaluates(&function.body, position)
    };
    if depth >= MAX_CALLS || function.is_branching(id) || !(0..).zip(arguments).all(same) {
        return expr;
    }
    let body = function.body.with_arguments(arguments);
    let mut size = 0;
    body.walk(&mut |_| size += 1);
    if size > MAX_INLINED {
        return expr;
    }
    inlined(&body, functions, depth + 1)
}

/// Whether the value of a local is needed wherever the expression is evaluated.
fn always_evaluates(expr: &Expr, local: u32) -> bool {
    match expr {
        Expr::Local(position) => *position == local,
        Expr::Binary(BinaryOp::And | BinaryOp::Or, both) => always_evaluates(&both[0], local),
        Expr::If(all) => {
            always_evaluates(&all[0], local)
                || (always_evaluates(&all[1], local) && always_evaluates(&all[2], local))
        }
        Expr::InSet(subject, _) => always_evaluates(subject, local),
        _ => expr
            .children()
            .into_iter()
            .any(|e| always_evaluates(e, local)),
    }
}

fn replace(expr: &Expr, unknown: u32, replacement: &Expr) -> Expr {
    match expr {
        Expr::Param(position) if *position == unknown => replacement.clone(),
        _ => item_of(expr.map_children(|child| replace(child, unknown, replacement))),
    }
}

/// `[a, b][1]` as `b` and `length([a, b])` as 2, where all items have values for sure: then the fields
/// of a structure among them can stand for it.
fn item_of(expr: Expr) -> Expr {
    let is_safe = |items: &[Expr]| {
        let mut items = items.iter();
        items.all(|item| matches!(item, Expr::Param(_) | Expr::Const(_)))
    };
    match &expr {
        Expr::Binary(BinaryOp::Index, both) => match &**both {
            [Expr::Array(items), Expr::Const(Value::Int(index))] if is_safe(items) => {
                let index = usize::try_from(*index).ok();
                index.and_then(|i| items.get(i)).cloned().unwrap_or(expr)
            }
            _ => expr,
        },
        Expr::Unary(UnaryOp::Length, inner) => match &**inner {
            Expr::Array(items) if is_safe(items) => Expr::int(items.len() as i64),
            _ => expr,
        },
        _ => expr,
    }
}

fn replace_fields(expr: &Expr, unknown: u32, parts: &[u32]) -> Option<Expr> {
    let is_it = |e: &Expr| matches!(e, Expr::Param(p) if *p == unknown);
    match expr {
        Expr::Field(inner, field) if is_it(inner) => {
            Some(Expr::Param(*parts.get(*field as usize)?))
        }
        Expr::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), both) if both.iter().any(is_it) => {
            let other = if is_it(&both[0]) { &both[1] } else { &both[0] };
            let equal = match other {
                Expr::Param(p) if *p == unknown => Expr::TRUE,
                Expr::Const(Value::Struct(_, fields)) if fields.len() == parts.len() => parts
                    .iter()
                    .zip(fields.iter())
                    .map(|(p, v)| {
                        Expr::binary(BinaryOp::Eq, Expr::Param(*p), Expr::Const(v.clone()))
                    })
                    .fold(Expr::TRUE, Expr::and),
                Expr::Const(_) => Expr::FALSE,
                Expr::Struct(_, fields) if fields.len() == parts.len() => {
                    let fields = fields.iter().map(|f| replace_fields(f, unknown, parts));
                    let fields: Vec<Expr> = fields.collect::<Option<_>>()?;
                    let pairs = parts.iter().zip(fields);
                    pairs
                        .map(|(p, field)| Expr::binary(BinaryOp::Eq, Expr::Param(*p), field))
                        .fold(Expr::TRUE, Expr::and)
                }
                _ => return None,
            };
            Some(if *op == BinaryOp::Eq {
                equal
            } else {
                Expr::unary(ioco_sts::UnaryOp::Not, equal)
            })
        }
        Expr::Param(p) if *p == unknown => None,
        _ => {
            let mut failed = false;
            let replaced = expr.map_children(|child| {
                replace_fields(child, unknown, parts).unwrap_or_else(|| {
                    failed = true;
                    Expr::FALSE
                })
            });
            (!failed).then_some(replaced)
        }
    }
}

#[cfg(test)]
mod tests;
