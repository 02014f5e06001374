//! Values worth trying where the search found none: those at which the two sides of a comparison are
//! equal, read backwards through the arithmetic. They are proposals, because quotients are rounded:
//! evaluation decides.

use ioco_sts::domain::comparison;
use ioco_sts::{BinaryOp, Env, Expr, Type, Value};

use crate::backwards::{backwards, known, rounded_inverse};
use crate::goal::each_unknown;
use crate::outcome::{Deadline, Outcome};
use crate::pipeline::Part;
use crate::query::Query;
use crate::search::Choice;

/// Steps for all proposals to one question, together.
const MAX_STEPS: u64 = 4_000;
/// So many values are tried at most.
const MAX_VALUES: usize = 16;

/// What the search said, or values that were found by a proposal where it did not know.
pub(crate) fn or_proposed(
    outcome: Outcome<Vec<Value>>,
    query: &Query<'_>,
    asked: &Deadline<'_>,
) -> Outcome<Vec<Value>> {
    if !matches!(outcome, Outcome::Unknown(_)) || !query.pipeline.has(Part::Proposals) {
        return outcome;
    }
    let deadline = Deadline::steps(MAX_STEPS);
    for (unknown, value) in proposals(query, &deadline) {
        let equal = Expr::binary(BinaryOp::Eq, Expr::Param(unknown), Expr::Const(value));
        let mut fixed = query.clone();
        fixed.conditions.insert(0, equal);
        let found = fixed.solve(&mut Choice::Plain, &deadline);
        if found.is_sat() {
            asked.answer_by(Part::Proposals);
            return found;
        }
        if deadline.is_over() {
            break;
        }
    }
    outcome
}

fn proposals(query: &Query<'_>, deadline: &Deadline<'_>) -> Vec<(u32, Value)> {
    let env = Env {
        variables: &[],
        parameters: &[],
        functions: query.functions,
    };
    let mut found: Vec<(u32, Value)> = Vec::new();
    for condition in &query.conditions {
        condition.walk(&mut |expr| {
            let Expr::Binary(op, both) = expr else {
                return;
            };
            if comparison(*op, true).is_none() {
                return;
            }
            for (subject, other) in [(&both[0], &both[1]), (&both[1], &both[0])] {
                // Quotients of integers are cut off, unless they are about decimals.
                let other = known(other, env, deadline).map(|value| {
                    let decimal = is_about_decimals(subject, query);
                    let exact = decimal.then(|| query.types.converted(&value, &Type::Decimal));
                    exact.flatten().unwrap_or(value)
                });
                let Some((unknown, value)) = other
                    .and_then(|value| backwards(subject, value, env, rounded_inverse, deadline))
                else {
                    continue;
                };
                let Some((ty, _)) = query.unknowns.get(unknown as usize) else {
                    continue;
                };
                if let Some(value) = query.types.converted(&value, ty)
                    && found.len() < MAX_VALUES
                    && !found.contains(&(unknown, value.clone()))
                {
                    found.push((unknown, value));
                }
            }
        });
    }
    found
}

fn is_about_decimals(subject: &Expr, query: &Query<'_>) -> bool {
    let mut found = false;
    each_unknown(subject, &mut |unknown| {
        let unknown = query.unknowns.get(unknown as usize);
        found |= unknown.is_some_and(|(ty, _)| *ty == Type::Decimal);
    });
    found
}
