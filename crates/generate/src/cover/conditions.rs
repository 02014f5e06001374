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

/// The conditions of a guard from left to right. A guard that is a constant has none.
pub(crate) fn conditions(guard: &Expr) -> Vec<Condition> {
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
    let numbered = |switch: SwitchId, number: u32| {
        let mut all = conditions(&sts.switch(switch).guard);
        let number = number as usize;
        (number < all.len()).then(|| all.swap_remove(number))
    };
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
