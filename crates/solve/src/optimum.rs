//! The smallest and the largest value of an unknown: the bound itself where it is possible, else
//! halving between what is excluded and what is found.

use ioco_sts::domain::Values;
use ioco_sts::{BinaryOp, Expr, Value};

use crate::embedded::is_set;
use crate::outcome::{Deadline, Outcome};
use crate::query::Query;
use crate::search::Choice;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sense {
    Smallest,
    Largest,
}

/// How a question with more conditions is answered.
type Ask<'s> = &'s mut dyn FnMut(&Query<'_>) -> Outcome<Vec<Value>>;

/// By the embedded solver.
pub(crate) fn optimum(
    query: &Query<'_>,
    unknown: u32,
    sense: Sense,
    deadline: &Deadline<'_>,
) -> Outcome<Value> {
    let mut ask = |query: &Query<'_>| query.solve(&mut Choice::Plain, deadline);
    optimum_by(query, unknown, sense, deadline, &mut ask)
}

/// By any solver.
pub(crate) fn optimum_by(
    query: &Query<'_>,
    unknown: u32,
    sense: Sense,
    deadline: &Deadline<'_>,
    ask: Ask<'_>,
) -> Outcome<Value> {
    let index = unknown as usize;
    if index >= query.unknowns.len() {
        return Outcome::incomplete("there is no such unknown");
    }
    let mut query = query.clone();
    if query.unknowns[index].1.void {
        query.conditions.push(is_set(unknown));
    }
    let first = match ask(&query) {
        Outcome::Sat(values) => values[index].clone(),
        Outcome::Unsat => return Outcome::Unsat,
        Outcome::Unknown(why) => return Outcome::Unknown(why),
    };
    match first {
        Value::Bool(_) | Value::Int(_) | Value::Enum(..) => {
            discrete(&query, unknown, first, sense, deadline, ask)
        }
        Value::Decimal(_) => decimal(&query, unknown, sense, deadline, ask),
        _ => Outcome::incomplete("only numbers, booleans and enum members have a smallest value"),
    }
}

/// A value as a number whose smallest is wanted, and back.
struct Ordered {
    like: Value,
    sense: Sense,
}

impl Ordered {
    /// The number with the sign that makes the wanted one the smallest, and back.
    fn turned(&self, number: i128) -> i128 {
        match self.sense {
            Sense::Smallest => number,
            Sense::Largest => -number,
        }
    }

    fn number(&self, value: &Value) -> i128 {
        self.turned(match value {
            Value::Int(value) => i128::from(*value),
            Value::Bool(value) => i128::from(*value),
            Value::Enum(_, member) => i128::from(*member),
            _ => 0,
        })
    }

    fn value(&self, number: i128) -> Value {
        let number = self.turned(number);
        match self.like {
            Value::Bool(_) => Value::Bool(number != 0),
            Value::Enum(id, _) => Value::Enum(id, number as u32),
            _ => Value::Int(number as i64),
        }
    }

    fn lowest(&self, values: &Values) -> Option<i128> {
        let (min, max) = match values {
            Values::Int { min, max } => (i128::from(*min), i128::from(*max)),
            Values::Bool { no, yes } => (i128::from(!*no), i128::from(*yes)),
            Values::Member { min, max, .. } => (i128::from(*min), i128::from(*max)),
            _ => return None,
        };
        Some(self.turned(min).min(self.turned(max)))
    }

    /// `unknown` is at most `number` in the order that is wanted.
    fn at_most(&self, unknown: u32, number: i128) -> Expr {
        let value = self.value(number);
        // Booleans have no order in conditions.
        if let Value::Bool(_) = value {
            return Expr::binary(BinaryOp::Eq, Expr::Param(unknown), Expr::Const(value));
        }
        let op = match self.sense {
            Sense::Smallest => BinaryOp::Le,
            Sense::Largest => BinaryOp::Ge,
        };
        Expr::binary(op, Expr::Param(unknown), Expr::Const(value))
    }

    fn above(&self, unknown: u32, number: i128) -> Expr {
        Expr::unary(ioco_sts::UnaryOp::Not, self.at_most(unknown, number))
    }
}

fn discrete(
    query: &Query<'_>,
    unknown: u32,
    first: Value,
    sense: Sense,
    deadline: &Deadline<'_>,
    ask: Ask<'_>,
) -> Outcome<Value> {
    let ordered = Ordered {
        sense,
        like: first.clone(),
    };
    let mut query = query.clone();
    let mut best = ordered.number(&first);
    let mut try_bound = true;
    // What is excluded so far, also where narrowing cannot use it: every round makes headway.
    let mut floor = i128::MIN;
    while floor < best {
        let Some(domains) = query.narrowed(deadline) else {
            // Nothing is better than what was found: everything below is excluded.
            break;
        };
        let Some(lowest) = ordered.lowest(&domains[unknown as usize].values) else {
            return Outcome::incomplete("the kind of the value is not clear");
        };
        let lowest = lowest.max(floor);
        if lowest >= best {
            break;
        }
        // The bound first: it is often possible. Then halves.
        let middle = if try_bound {
            lowest
        } else {
            lowest + (best - lowest - 1) / 2
        };
        try_bound = false;
        let mut half = query.clone();
        half.conditions.push(ordered.at_most(unknown, middle));
        match ask(&half) {
            Outcome::Sat(values) => best = ordered.number(&values[unknown as usize]),
            Outcome::Unsat => {
                query.conditions.push(ordered.above(unknown, middle));
                floor = middle + 1;
            }
            Outcome::Unknown(why) => return Outcome::Unknown(why),
        }
    }
    Outcome::Sat(ordered.value(best))
}

/// Decimals lie so close together that halving does not end: only a bound that is possible counts.
fn decimal(
    query: &Query<'_>,
    unknown: u32,
    sense: Sense,
    deadline: &Deadline<'_>,
    ask: Ask<'_>,
) -> Outcome<Value> {
    let bounds = query
        .narrowed(deadline)
        .and_then(|domains| domains[unknown as usize].values.decimal_bounds());
    let Some((min, max)) = bounds else {
        return Outcome::incomplete("the kind of the value is not clear");
    };
    let bound = Value::Decimal(match sense {
        Sense::Smallest => min,
        Sense::Largest => max,
    });
    let mut query = query.clone();
    query.conditions.push(Expr::binary(
        BinaryOp::Eq,
        Expr::Param(unknown),
        Expr::Const(bound.clone()),
    ));
    match ask(&query) {
        Outcome::Sat(_) => Outcome::Sat(bound),
        Outcome::Unsat => Outcome::incomplete("the decimals approach a bound but never reach it"),
        Outcome::Unknown(why) => Outcome::Unknown(why),
    }
}
