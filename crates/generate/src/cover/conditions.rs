//! What guards are made of: the *decision* is the whole guard, its *conditions* are what `&&`, `||`
//! and `!` join.
//!
//! A guard that speaks of parameters is evaluated when a step with its label is taken from where
//! its switch begins, by this switch or by another. A guard on variables alone is evaluated
//! whenever a path is there.
//!
//! MC/DC is *masking* MC/DC (Chilenski 2001), per occurrence of a condition: for every condition there is an
//! evaluation in which it is true and one in which it is false, and both times nothing else masks
//! it: what it is joined to by `&&` is true, and by `||` is false, all the way up. So it decides the
//! outcome of the guard both times, differently: neither operator lets it decide in both directions, as
//! `xor` in the guards of `ioco_smv` does. (Unique-cause MC/DC, which keeps all other
//! conditions the same, asks for what conditions on the same variable often cannot give.)

use ioco_sts::{BinaryOp, Env, Expr, LocationId, Sts, SwitchId, UnaryOp};

use super::goal::Goal;

/// One way to cover a goal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Target {
    /// A path is at the location, and the condition on variables holds.
    At(LocationId, Expr),
    /// A path takes the switch, and the condition on variables and parameters holds before it.
    Taking(SwitchId, Expr),
}

/// A condition of a guard, and what must be so that nothing masks it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Condition {
    pub expr: Expr,
    pub unmasked: Expr,
}

/// One condition of a guard, by its number from left to right. A guard that is a constant has none.
/// A guard with many of them has as many goals, so the others are not put together for it.
pub(crate) fn numbered(guard: &Expr, number: usize) -> Option<Condition> {
    let place = place(guard, number)?;
    let mut unmasked = Expr::TRUE;
    for (other, outcome) in place.beside.iter().rev() {
        unmasked = Expr::and(unmasked, with_outcome(other, *outcome));
    }
    Some(Condition {
        expr: place.condition.clone(),
        unmasked,
    })
}

/// Where a condition stands in its guard. Nothing is copied: a large guard has many conditions, and
/// every one of them is as large as the guard once it says what masks it.
pub(crate) struct Place<'e> {
    pub condition: &'e Expr,
    /// What it is joined to, the nearest first, and how that must come out so as not to mask it.
    pub beside: Vec<(&'e Expr, bool)>,
}

pub(crate) fn place(guard: &Expr, mut number: usize) -> Option<Place<'_>> {
    let mut beside = Vec::new();
    let condition = seek(guard, &mut number, &mut beside)?;
    Some(Place { condition, beside })
}

fn seek<'e>(
    part: &'e Expr,
    number: &mut usize,
    beside: &mut Vec<(&'e Expr, bool)>,
) -> Option<&'e Expr> {
    match part {
        Expr::Const(_) => None,
        Expr::Unary(UnaryOp::Not, inner) => seek(inner, number, beside),
        Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), both) => {
            let [left, right] = &**both;
            let (found, other) = match seek(left, number, beside) {
                Some(found) => (found, right),
                None => (seek(right, number, beside)?, left),
            };
            beside.push((other, *op == BinaryOp::And));
            Some(found)
        }
        _ if *number == 0 => Some(part),
        _ => {
            *number -= 1;
            None
        }
    }
}

/// How many conditions a guard has.
pub(crate) fn count(guard: &Expr) -> usize {
    match guard {
        Expr::Const(_) => 0,
        Expr::Unary(UnaryOp::Not, inner) => count(inner),
        Expr::Binary(BinaryOp::And | BinaryOp::Or, both) => both.iter().map(count).sum(),
        _ => 1,
    }
}

pub(crate) fn negated(expr: &Expr) -> Expr {
    Expr::unary(UnaryOp::Not, expr.clone())
}

fn with_outcome(expr: &Expr, outcome: bool) -> Expr {
    match outcome {
        true => expr.clone(),
        false => negated(expr),
    }
}

/// The ways to cover a goal; each of them will do.
pub(crate) fn targets(sts: &Sts, goal: Goal) -> Vec<Target> {
    match (goal, condition(sts, goal)) {
        (_, None) => Vec::new(),
        (Goal::Location(location), Some(condition)) => vec![Target::At(location, condition)],
        (Goal::Switch(switch), Some(condition)) => vec![Target::Taking(switch, condition)],
        (
            Goal::Decision { switch, .. }
            | Goal::Condition { switch, .. }
            | Goal::Independent { switch, .. },
            Some(condition),
        ) => match evaluating(sts, switch) {
            Where::At(location) => vec![Target::At(location, condition)],
            Where::Taking(switches) => switches
                .into_iter()
                .map(|other| Target::Taking(other, condition.clone()))
                .collect(),
        },
    }
}

/// What must hold where a goal is covered; `None` where the guard has no such condition.
pub(crate) fn condition(sts: &Sts, goal: Goal) -> Option<Expr> {
    let numbered =
        |switch: SwitchId, number: u32| numbered(&sts.switch(switch).guard, number as usize);
    Some(match goal {
        Goal::Location(_) | Goal::Switch(_) => Expr::TRUE,
        Goal::Decision { switch, outcome } => with_outcome(&sts.switch(switch).guard, outcome),
        Goal::Condition {
            switch,
            number,
            outcome,
        } => with_outcome(&numbered(switch, number)?.expr, outcome),
        Goal::Independent {
            switch,
            number,
            outcome,
        } => {
            let found = numbered(switch, number)?;
            Expr::and(with_outcome(&found.expr, outcome), found.unmasked)
        }
    })
}

/// The part of a guard that decides whether a goal is covered; `None` where no guard does.
pub(crate) fn part(sts: &Sts, goal: Goal) -> Option<&Expr> {
    match goal {
        Goal::Location(_) | Goal::Switch(_) => None,
        // What may mask the condition is all the rest of the guard.
        Goal::Decision { switch, .. } | Goal::Independent { switch, .. } => {
            Some(&sts.switch(switch).guard)
        }
        Goal::Condition { switch, number, .. } => {
            let place = place(&sts.switch(switch).guard, number as usize)?;
            Some(place.condition)
        }
    }
}

/// Whether [`condition`] holds, without putting it together.
pub(crate) fn holds(sts: &Sts, goal: Goal, env: Env<'_>) -> bool {
    let comes_out = |expr: &Expr, outcome: bool| expr.holds(env) == Ok(outcome);
    let placed = |switch: SwitchId, number: u32| place(&sts.switch(switch).guard, number as usize);
    match goal {
        Goal::Location(_) | Goal::Switch(_) => true,
        Goal::Decision { switch, outcome } => comes_out(&sts.switch(switch).guard, outcome),
        Goal::Condition {
            switch,
            number,
            outcome,
        } => placed(switch, number).is_some_and(|place| comes_out(place.condition, outcome)),
        Goal::Independent {
            switch,
            number,
            outcome,
        } => placed(switch, number).is_some_and(|place| {
            comes_out(place.condition, outcome)
                && place
                    .beside
                    .iter()
                    .all(|(expr, value)| comes_out(expr, *value))
        }),
    }
}

/// Where a guard is evaluated.
pub(crate) enum Where {
    /// Whenever a path is there.
    At(LocationId),
    /// When one of these switches is taken.
    Taking(Vec<SwitchId>),
}

pub(crate) fn evaluating(sts: &Sts, id: SwitchId) -> Where {
    let switch = sts.switch(id);
    if !switch.guard.mentions_params() {
        return Where::At(switch.source);
    }
    let outgoing = sts.outgoing(switch.source).iter().copied();
    let taken = outgoing.filter(|other| sts.switch(*other).gate == switch.gate);
    Where::Taking(taken.collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The conditions of a guard from left to right. A guard that is a constant has none.
    fn conditions(guard: &Expr) -> Vec<Condition> {
        let mut found = Vec::new();
        collect(guard, Expr::TRUE, &mut found);
        found
    }

    fn collect(part: &Expr, unmasked: Expr, found: &mut Vec<Condition>) {
        match part {
            Expr::Const(_) => {}
            Expr::Unary(UnaryOp::Not, inner) => collect(inner, unmasked, found),
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), both) => {
                let [left, right] = &**both;
                let passes = |other: &Expr| match op {
                    BinaryOp::And => other.clone(),
                    _ => negated(other),
                };
                collect(left, Expr::and(unmasked.clone(), passes(right)), found);
                collect(right, Expr::and(unmasked, passes(left)), found);
            }
            _ => found.push(Condition {
                expr: part.clone(),
                unmasked,
            }),
        }
    }

    #[test]
    fn a_condition_by_its_number_is_the_one_of_the_list() {
        let var = |number| Expr::Var(ioco_sts::VarId(number));
        let or = |l, r| Expr::binary(BinaryOp::Or, l, r);
        let guard = or(
            negated(&Expr::and(var(0), or(var(1), var(2)))),
            Expr::and(or(var(3), var(4)), negated(&var(5))),
        );
        let all = conditions(&guard);
        assert_eq!((all.len(), count(&guard)), (6, 6));
        for (number, condition) in all.iter().enumerate() {
            assert_eq!(numbered(&guard, number).as_ref(), Some(condition));
        }
        assert_eq!(numbered(&guard, 6), None);
        assert_eq!(numbered(&Expr::TRUE, 0), None);
    }
    /// The value of a guard on boolean variables, a bit each, where the condition of this number has the other value.
    fn flipped(guard: &Expr, number: &mut Option<usize>, values: u32) -> bool {
        match guard {
            Expr::Unary(UnaryOp::Not, inner) => !flipped(inner, number, values),
            Expr::Binary(op, both) => {
                let [left, right] = [&both[0], &both[1]].map(|e| flipped(e, number, values));
                match op {
                    BinaryOp::And => left && right,
                    _ => left || right,
                }
            }
            Expr::Var(variable) => {
                let is_flipped = *number == Some(0);
                *number = number.and_then(|number| number.checked_sub(1));
                (values >> variable.0 & 1 == 1) != is_flipped
            }
            other => panic!("{other:?}"),
        }
    }

    fn guard() -> impl Strategy<Value = Expr> {
        let variable = (0..4_u32).prop_map(|number| Expr::Var(ioco_sts::VarId(number)));
        variable.prop_recursive(5, 16, 2, |inner| {
            let operator = prop::sample::select(vec![BinaryOp::And, BinaryOp::Or]);
            prop_oneof![
                1 => inner.clone().prop_map(|inner| negated(&inner)),
                3 => (operator, inner.clone(), inner)
                    .prop_map(|(op, left, right)| Expr::Binary(op, Box::new([left, right]))),
            ]
        })
    }

    proptest! {
        /// The definition itself, over all assignments: a condition is unmasked where the guard changes with it. Two
        /// evaluations in which it has different values then give the guard different ones.
        #[test]
        fn a_condition_is_unmasked_where_the_guard_changes_with_it(guard in guard()) {
            for number in 0..count(&guard) {
                let condition = numbered(&guard, number).expect("a condition");
                let mut outcomes = [Vec::new(), Vec::new()];
                for values in 0..16_u32 {
                    let value = |expr: &Expr| flipped(expr, &mut None, values);
                    let decides = value(&guard) != flipped(&guard, &mut Some(number), values);
                    let is_unmasked = condition.unmasked == Expr::TRUE || value(&condition.unmasked);
                    prop_assert_eq!(is_unmasked, decides);
                    if decides {
                        outcomes[usize::from(value(&condition.expr))].push(value(&guard));
                    }
                }
                let [without, with] = &outcomes;
                let differ = with.iter().all(|with| without.iter().all(|without| with != without));
                prop_assert!(differ, "condition {number}: {outcomes:?}");
            }
        }
    }
}
