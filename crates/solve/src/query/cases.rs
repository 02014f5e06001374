//! Strings, arrays and structs taken apart: a question becomes several simpler ones, one for each shape.

use std::collections::BTreeSet;

use ioco_sts::domain::{Domain, Values};
use ioco_sts::{Env, EvalError, Expr, Type, Value};

use super::rewriting::{replace, replace_fields};
use super::{Query, shuffle};
use crate::goal::{Constants, Goal, each_unknown};
use crate::outcome::{Deadline, Outcome, Unknown};
use crate::pipeline::Part;
use crate::search::Choice;
use crate::strings;
use crate::unfold::unfolded;

/// Arrays longer than this are not made up, unless they must be.
const USUAL_LENGTH: i64 = 4;
const MAX_LENGTH: i64 = 64;

/// How the value of an unknown that was taken apart is put together again.
#[derive(Clone)]
enum Whole {
    Items(Vec<u32>),
    Fields(ioco_sts::StructId, Vec<u32>),
}

impl<'a> Query<'a> {
    /// Tries the shapes of one string, array or struct after another.
    pub(super) fn split(
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
    pub(super) fn conditions_on(&self, unknown: usize) -> Vec<&Expr> {
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
}
