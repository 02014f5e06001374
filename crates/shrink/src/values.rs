//! Making parameter values small and simple, keeping the failure.
//!
//! One total order says what is simpler: shorter texts and lists, numbers nearer to zero, positive
//! before negative, whole before broken, `false` and the first member of an enumeration first.

use std::sync::Arc;

use ioco_sts::{Action, Execution, Sts, Type, Types, Value};

use crate::session::{Halt, Session, stimuli_of};

/// Runs for the values of one execution, at most.
const MAX_RUNS: usize = 200;

/// Tries simpler values: for all parameters at once, and then for each of every stimulus.
pub(crate) fn simplify(session: &mut Session<'_>, best: &mut Execution) -> Result<(), Halt> {
    let last_run = session.runs() + MAX_RUNS;
    let before = stimuli_of(best);
    let sts = Arc::clone(session.semantics.sts());
    let simplest: Vec<Action> = before.iter().map(|s| simplest(&sts, s)).collect();
    if simplest != before {
        try_values(session, best, &simplest)?;
    }
    let mut position = 0;
    while position < best.stimuli().count() {
        for index in 0..stimuli_of(best)[position].values.len() {
            while session.runs() < last_run && simplify_one(session, best, position, index)? {}
        }
        position += 1;
    }
    let changed = before.iter().zip(best.stimuli()).filter(|(b, a)| b != a);
    for (old, new) in changed {
        let (old, new) = (old.show(&sts), new.show(&sts));
        session
            .explanation
            .push(format!("{old} fails as {new} too."));
    }
    Ok(())
}

/// The stimulus with the simplest values that its parameters can have.
fn simplest(sts: &Sts, stimulus: &Action) -> Action {
    let parameters = &sts.label(stimulus.label).parameters;
    let mut simple = stimulus.clone();
    for (value, parameter) in simple.values.iter_mut().zip(parameters) {
        if let Some(first) = simpler_values(value, &parameter.ty, sts.types())
            .into_iter()
            .next()
        {
            *value = first;
        }
    }
    simple
}

/// One simpler value for one parameter of one stimulus; whether there was one.
fn simplify_one(
    session: &mut Session<'_>,
    best: &mut Execution,
    position: usize,
    index: usize,
) -> Result<bool, Halt> {
    let sts = Arc::clone(session.semantics.sts());
    let stimuli = stimuli_of(best);
    let Some(stimulus) = stimuli.get(position) else {
        return Ok(false);
    };
    let Some(parameter) = sts.label(stimulus.label).parameters.get(index) else {
        return Ok(false);
    };
    for simpler in simpler_values(&stimulus.values[index], &parameter.ty, sts.types()) {
        let mut candidate = stimuli.clone();
        candidate[position] = with_value(stimulus, index, simpler);
        if try_values(session, best, &candidate)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn try_values(
    session: &mut Session<'_>,
    best: &mut Execution,
    candidate: &[Action],
) -> Result<bool, Halt> {
    let attempt = session.attempt(candidate)?;
    let fails = attempt.accepted && attempt.execution.length() <= best.length();
    if fails {
        *best = attempt.execution;
    }
    Ok(fails)
}

fn with_value(action: &Action, index: usize, value: Value) -> Action {
    let mut action = action.clone();
    action.values[index] = value;
    action
}

/// Values that are simpler than this one, the simplest first.
fn simpler_values(value: &Value, ty: &Type, types: &Types) -> Vec<Value> {
    let candidates: Vec<Value> = match value {
        Value::Void => Vec::new(),
        Value::Bool(_) => vec![Value::Bool(false)],
        Value::Int(number) => simpler_integers(*number)
            .into_iter()
            .map(Value::Int)
            .collect(),
        Value::Decimal(number) => {
            let whole = number.trunc();
            [0.into(), 1.into(), whole].map(Value::Decimal).to_vec()
        }
        Value::Str(text) => simpler_texts(text),
        Value::Enum(id, member) => (0..*member).map(|m| Value::Enum(*id, m)).collect(),
        Value::Array(items) => {
            let half = items.len() / 2;
            let mut lists: Vec<Value> = vec![Value::Array(Arc::from([]))];
            for part in [&items[..half], &items[half..]] {
                lists.push(Value::Array(part.iter().cloned().collect()));
            }
            lists
        }
        Value::Struct(..) => Vec::new(),
    };
    let fits = |candidate: &Value| types.fits(candidate, ty) && is_simpler(candidate, value);
    candidates.into_iter().filter(fits).collect()
}

/// Zero, one, powers of ten on the way, and then nearer and nearer to the number itself.
fn simpler_integers(number: i64) -> Vec<i64> {
    let mut found = vec![0, 1, number.checked_neg().unwrap_or(0)];
    let mut distance = number / 2;
    while distance != 0 {
        found.push(number - distance);
        distance /= 2;
    }
    let mut seen = Vec::new();
    found.retain(|candidate| {
        let is_new = !seen.contains(candidate);
        seen.push(*candidate);
        is_new
    });
    found
}

fn simpler_texts(text: &str) -> Vec<Value> {
    let letters: Vec<char> = text.chars().collect();
    let half = letters.len() / 2;
    let part = |letters: &[char]| Value::str(&letters.iter().collect::<String>());
    let mut texts = vec![Value::str(""), Value::str("a")];
    texts.push(part(&letters[..half]));
    texts.push(part(&letters[half..]));
    texts.push(part(&letters[..letters.len().saturating_sub(1)]));
    texts
}

fn is_simpler(candidate: &Value, value: &Value) -> bool {
    match (candidate, value) {
        (Value::Bool(a), Value::Bool(b)) => a < b,
        (Value::Int(a), Value::Int(b)) => (a.unsigned_abs(), *a < 0) < (b.unsigned_abs(), *b < 0),
        (Value::Decimal(a), Value::Decimal(b)) => {
            (a.abs(), a.scale(), a.is_sign_negative()) < (b.abs(), b.scale(), b.is_sign_negative())
        }
        (Value::Str(a), Value::Str(b)) => (a.chars().count(), a) < (b.chars().count(), b),
        (Value::Enum(_, a), Value::Enum(_, b)) => a < b,
        (Value::Array(a), Value::Array(b)) => a.len() < b.len(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simpler_is_a_strict_order_so_that_simplifying_ends() {
        let integer = Type::INTEGER;
        let types = Types::default();
        for number in [-1_000_000, -7, -1, 0, 1, 2, 41, 1234, i64::MIN, i64::MAX] {
            for candidate in simpler_values(&Value::Int(number), &integer, &types) {
                assert!(
                    is_simpler(&candidate, &Value::Int(number)),
                    "{candidate:?} {number}"
                );
                assert!(
                    !is_simpler(&Value::Int(number), &candidate),
                    "{candidate:?} {number}"
                );
            }
        }
        assert!(simpler_values(&Value::Int(0), &integer, &types).is_empty());
        assert!(simpler_values(&Value::str(""), &Type::Str, &types).is_empty());
    }
}
