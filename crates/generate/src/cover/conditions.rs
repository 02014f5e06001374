//! What guards are made of: the *decision* is the whole guard, its *conditions* are what `&&`, `||`
//! and `!` join.
//!
//! A guard that speaks of parameters is evaluated when a step with its label is taken from where
//! its switch begins, by this switch or by another. A guard on variables alone is evaluated
//! whenever a path is there.
//!
//! MC/DC is *masking* MC/DC, per occurrence of a condition: for every condition there is an
//! evaluation in which it is true and one in which it is false, and both times nothing else masks
//! it: what it is joined to by `&&` is true, and by `||` is false, all the way up. So it decides the
//! outcome of the guard both times, differently. (Unique-cause MC/DC, which keeps all other
//! conditions the same, asks for what conditions on the same variable often cannot give.)

use ioco_sts::{BinaryOp, Expr, LocationId, Sts, SwitchId, UnaryOp};

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

/// One condition of a guard, by its number from left to right. A guard that is a constant has none. A guard with many of them has as many goals, so the others
/// are not put together for it.
pub(crate) fn numbered(guard: &Expr, mut number: usize) -> Option<Condition> {
    let (mut part, mut unmasked) = (guard, Expr::TRUE);
    loop {
        match part {
            Expr::Const(_) => return None,
            Expr::Unary(UnaryOp::Not, inner) => part = inner,
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), both) => {
                let [left, right] = &**both;
                let before = count(left);
                let (next, other) = match number < before {
                    true => (left, right),
                    false => (right, left),
                };
                if number >= before {
                    number -= before;
                }
                let passes = match op {
                    BinaryOp::And => other.clone(),
                    _ => negated(other),
                };
                (part, unmasked) = (next, Expr::and(unmasked, passes));
            }
            _ => {
                return (number == 0).then(|| Condition {
                    expr: part.clone(),
                    unmasked,
                });
            }
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
    let numbered =
        |switch: SwitchId, number: u32| numbered(&sts.switch(switch).guard, number as usize);
    match goal {
        Goal::Location(location) => vec![Target::At(location, Expr::TRUE)],
        Goal::Switch(switch) => vec![Target::Taking(switch, Expr::TRUE)],
        Goal::Decision { switch, outcome } => evaluating(
            sts,
            switch,
            with_outcome(&sts.switch(switch).guard, outcome),
        ),
        Goal::Condition {
            switch,
            number,
            outcome,
        } => match numbered(switch, number) {
            Some(condition) => evaluating(sts, switch, with_outcome(&condition.expr, outcome)),
            None => Vec::new(),
        },
        Goal::Independent {
            switch,
            number,
            outcome,
        } => match numbered(switch, number) {
            Some(condition) => {
                let comes_out = with_outcome(&condition.expr, outcome);
                evaluating(sts, switch, Expr::and(comes_out, condition.unmasked))
            }
            None => Vec::new(),
        },
    }
}

/// Where the guard of a switch is evaluated such that `condition` holds.
fn evaluating(sts: &Sts, id: SwitchId, condition: Expr) -> Vec<Target> {
    let switch = sts.switch(id);
    if !switch.guard.mentions_params() {
        return vec![Target::At(switch.source, condition)];
    }
    sts.outgoing(switch.source)
        .iter()
        .filter(|other| sts.switch(**other).gate == switch.gate)
        .map(|other| Target::Taking(*other, condition.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
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
}
