//! The values with which a guard can hold, where there are finitely many: what the domains of the parameters leave
//! is tried, one parameter after the other, and where they leave too much, one alternative of the guard after the
//! other.

use std::collections::BTreeSet;

use ioco_budget::Exhausted;

use crate::domain::{Domain, Effort as _, Facts, Goal, Shape, Steps, Values};
use crate::eval::Env;
use crate::expr::{BinaryOp, Expr};
use crate::ids::LabelId;
use crate::sts::Sts;
use crate::types::Type;
use crate::value::Value;

/// A parameter of more values than this counts as unbounded.
const MAX_VALUES: usize = 65_536;

/// So many combinations of values are tried for each that may be found.
const TRIES_PER_VALUE: usize = 64;

/// Alternatives of a guard that are followed one by one.
const MAX_SPLITS: usize = 256;

/// Structures within structures, at most: one that contains itself has no end.
const MAX_NESTING: usize = 16;

/// Why the values cannot be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlisted {
    /// This parameter has too many values.
    Open(usize),
    /// The guard could not be evaluated.
    Exhausted(Exhausted),
}

/// All values of the label's parameters under which `guard` holds, with the parameters that are not
/// `open` unset; at most `most`, in ascending order. `steps` are those left for evaluation.
pub fn values(
    sts: &Sts,
    label: LabelId,
    guard: &Expr,
    open: &[usize],
    valuation: &[Value],
    most: usize,
    steps: &mut u64,
) -> Result<Vec<Vec<Value>>, Unlisted> {
    let parameters = sts.label(label).parameters.iter().enumerate();
    let unknowns: Vec<(Type, Domain)> = parameters
        .map(|(position, parameter)| {
            let domain = match open.contains(&position) {
                true => Domain::of_type(&parameter.ty, sts.types()),
                false => Domain::exactly(&Value::Void),
            };
            (parameter.ty.clone(), domain)
        })
        .collect();
    let work = Steps::new(*sts.budget(), *steps);
    let facts = Facts {
        variables: valuation,
        ..Facts::new(sts.types(), sts.functions(), &unknowns, &work)
    };
    let mut size = 0;
    guard.walk(&mut |_| size += 1);
    let mut search = Search {
        sts,
        guard,
        valuation,
        size,
        most,
        found: BTreeSet::new(),
        tries: 0,
        splits: 0,
        work: &work,
    };
    let listed = search.choose(facts, &[Goal::holds(guard)], open);
    *steps = work.left();
    match (work.exhausted(), listed) {
        (Some(exhausted), _) => Err(Unlisted::Exhausted(exhausted)),
        (None, Err(position)) => Err(Unlisted::Open(position)),
        (None, Ok(())) => Ok(search.found.into_iter().collect()),
    }
}

struct Search<'a> {
    sts: &'a Sts,
    guard: &'a Expr,
    valuation: &'a [Value],
    /// Of the guard: what narrowing by it costs.
    size: u64,
    most: usize,
    found: BTreeSet<Vec<Value>>,
    tries: usize,
    splits: usize,
    work: &'a Steps,
}

impl Search<'_> {
    /// Gives values to the open parameters, one after the other, the most constrained one first:
    /// what it is given may fix the next. The error is a parameter with too many values.
    fn choose(
        &mut self,
        mut facts: Facts<'_>,
        goals: &[Goal<'_>],
        open: &[usize],
    ) -> Result<(), usize> {
        let Some(first) = open.first() else {
            self.try_values(&facts.domains);
            return Ok(());
        };
        if !self.work.spend(self.size) {
            return Err(*first);
        }
        if facts.assume(goals).is_err() {
            return Ok(());
        }
        let mut best: Option<(usize, Vec<Value>)> = None;
        for &position in open {
            let (ty, _) = &facts.unknowns[position];
            let most = best
                .as_ref()
                .map_or(self.most.min(MAX_VALUES), |b| b.1.len());
            let values = members(self.sts, ty, &facts.domains[position], most, 0);
            if let Some(values) = values
                && best.as_ref().is_none_or(|b| values.len() < b.1.len())
            {
                best = Some((position, values));
            }
        }
        let Some((position, values)) = best else {
            return self.split(&facts, goals, open);
        };
        let rest: Vec<usize> = open.iter().copied().filter(|p| *p != position).collect();
        for value in values {
            let mut next = facts.clone();
            next.domains[position] = Domain::exactly(&value);
            self.choose(next, goals, &rest)?;
            self.tries += 1;
            let most_tries = self.most.saturating_mul(TRIES_PER_VALUE);
            let ended = self.work.exhausted().is_some();
            if ended || self.found.len() > self.most || self.tries > most_tries {
                return Err(position);
            }
        }
        Ok(())
    }

    /// Follows the alternatives of the first goal that has any, each with values of its own.
    fn split(
        &mut self,
        facts: &Facts<'_>,
        goals: &[Goal<'_>],
        open: &[usize],
    ) -> Result<(), usize> {
        self.splits += 1;
        if self.splits > MAX_SPLITS {
            return Err(open[0]);
        }
        let mut goals = goals.to_vec();
        let mut index = 0;
        while index < goals.len() {
            match goals[index].shape() {
                Shape::All(first, second) => {
                    goals[index] = first;
                    goals.push(second);
                }
                Shape::Either(first, not_first, second) => {
                    goals[index] = first;
                    self.choose(facts.clone(), &goals, open)?;
                    goals[index] = not_first;
                    goals.push(second);
                    return self.choose(facts.clone(), &goals, open);
                }
                Shape::One(Goal {
                    expr: Expr::InSet(subject, items),
                    want: true,
                }) => {
                    for item in items {
                        let equal = Expr::binary(BinaryOp::Eq, (**subject).clone(), item.clone());
                        let mut goals = goals.clone();
                        goals[index] = Goal::holds(&equal);
                        self.choose(facts.clone(), &goals, open)?;
                    }
                    return Ok(());
                }
                Shape::One(_) => index += 1,
            }
        }
        Err(open[0])
    }

    /// Every parameter has one value: evaluates the guard as it stands.
    fn try_values(&mut self, domains: &[Domain]) {
        let values = domains.iter().map(|d| d.only().unwrap_or_default());
        let values: Vec<Value> = values.collect();
        let env = Env {
            variables: self.valuation,
            parameters: &values,
            functions: self.sts.functions(),
        };
        if self.work.holds(self.guard, env) == Ok(true) {
            self.found.insert(values);
        }
    }
}

/// The values of a domain, where they are values of the type and not more than `most`.
fn members(
    sts: &Sts,
    ty: &Type,
    domain: &Domain,
    most: usize,
    nesting: usize,
) -> Option<Vec<Value>> {
    if nesting > MAX_NESTING {
        return None;
    }
    let void = domain.void.then_some(Value::Void);
    let values: Vec<Value> = match (&domain.values, ty) {
        (Values::Any, Type::Struct(id)) => {
            let mut combinations: Vec<Vec<Value>> = vec![Vec::new()];
            for (_, field) in &sts.types().structs.get(id.index())?.fields {
                let domain = Domain::of_type(field, sts.types());
                let choices = members(sts, field, &domain, most, nesting + 1)?;
                if combinations.len().saturating_mul(choices.len()) > most {
                    return None;
                }
                combinations = combinations
                    .iter()
                    .flat_map(|start| {
                        choices
                            .iter()
                            .map(move |c| start.iter().chain([c]).cloned().collect())
                    })
                    .collect();
            }
            let structs = combinations.into_iter();
            structs
                .map(|fields| Value::Struct(*id, fields.into()))
                .collect()
        }
        (values, _) => values.members(most)?,
    };
    let values = void.into_iter().chain(values);
    Some(values.filter(|value| sts.types().fits(value, ty)).collect())
}
