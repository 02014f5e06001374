//! What can be said of a guard by looking at ranges of integers and at fixed values: enough to find
//! one that can never hold, with no search. "Can hold" here means "was not shown never to hold".

use ioco_sts::{BinaryOp, Expr, IntRange, UnaryOp, Value};
use rustc_hash::FxHashMap;

/// A range of integers that is not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    low: i128,
    high: i128,
}

const ALL: Range = Range {
    low: i64::MIN as i128,
    high: i64::MAX as i128,
};

impl Range {
    fn new(low: i128, high: i128) -> Option<Range> {
        (low <= high).then_some(Range { low, high })
    }

    fn meet(self, other: Range) -> Option<Range> {
        Range::new(self.low.max(other.low), self.high.min(other.high))
    }
}

/// What an expression can be worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IntInterval {
    /// It never has a value.
    Never,
    /// If it is an integer, it is in this range. It may be something else, too.
    Integer(Range),
    Anything,
}

/// What is known of variables and parameters where a guard holds.
#[derive(Clone)]
pub struct Facts<'a> {
    declared: &'a dyn Fn(&Expr) -> Option<IntRange>,
    ranges: FxHashMap<Expr, Range>,
    fixed: FxHashMap<Expr, Value>,
}

impl<'a> Facts<'a> {
    /// `declared` gives the range of a variable's or parameter's type.
    pub fn new(declared: &'a dyn Fn(&Expr) -> Option<IntRange>) -> Facts<'a> {
        Facts {
            declared,
            ranges: FxHashMap::default(),
            fixed: FxHashMap::default(),
        }
    }

    /// Whether `guard` can hold; if so, what follows from it is remembered.
    pub fn assume(&mut self, guard: &Expr) -> bool {
        // What the right side says may bear on the left: look twice.
        self.holds(guard, true) && self.holds(guard, true)
    }

    /// Whether `value` can be in `range`. What is never an integer may be unset, which every variable can be.
    pub fn can_be_in(&self, value: &Expr, range: IntRange) -> bool {
        match self.worth(value) {
            IntInterval::Never | IntInterval::Anything => true,
            IntInterval::Integer(found) => Range::new(range.min.into(), range.max.into())
                .is_some_and(|range| found.meet(range).is_some()),
        }
    }

    /// Whether the expression divides by something that is always zero.
    pub fn divides_by_zero(&self, expr: &Expr) -> bool {
        let mut found = false;
        expr.walk(&mut |e| {
            if let Expr::Binary(BinaryOp::Div | BinaryOp::Rem, both) = e {
                found |= self.worth(&both[1]) == IntInterval::Integer(Range { low: 0, high: 0 });
            }
        });
        found
    }

    /// Whether `expr` can be worth `wanted`.
    fn holds(&mut self, expr: &Expr, wanted: bool) -> bool {
        match expr {
            Expr::Const(Value::Bool(value)) => *value == wanted,
            Expr::Const(_) => false,
            Expr::Var(_) | Expr::Param(_) => self.fix(expr, Value::Bool(wanted)),
            Expr::Unary(UnaryOp::Not, inner) => self.holds(inner, !wanted),
            Expr::Binary(BinaryOp::And | BinaryOp::Or, both) => {
                let all = matches!(expr, Expr::Binary(BinaryOp::And, _)) == wanted;
                if all {
                    self.holds(&both[0], wanted) && self.holds(&both[1], wanted)
                } else {
                    // Either side may decide, so neither teaches anything.
                    self.clone().holds(&both[0], wanted) || self.clone().holds(&both[1], wanted)
                }
            }
            Expr::Binary(op, both) => match (op, wanted) {
                (BinaryOp::Eq, true) | (BinaryOp::Ne, false) => self.equal(&both[0], &both[1]),
                (BinaryOp::Eq, false) | (BinaryOp::Ne, true) => self.different(&both[0], &both[1]),
                (BinaryOp::Lt, true) | (BinaryOp::Ge, false) => self.below(&both[0], &both[1], 1),
                (BinaryOp::Le, true) | (BinaryOp::Gt, false) => self.below(&both[0], &both[1], 0),
                (BinaryOp::Gt, true) | (BinaryOp::Le, false) => self.below(&both[1], &both[0], 1),
                (BinaryOp::Ge, true) | (BinaryOp::Lt, false) => self.below(&both[1], &both[0], 0),
                _ => self.worth(expr) != IntInterval::Never,
            },
            Expr::InRange(all) if wanted => {
                self.below(&all[1], &all[0], 0) && self.below(&all[0], &all[2], 0)
            }
            Expr::InSet(subject, items) if wanted => {
                items.iter().any(|item| self.clone().equal(subject, item))
            }
            Expr::If(all) => {
                let mut then = self.clone();
                let mut otherwise = self.clone();
                then.holds(&all[0], true) && then.holds(&all[1], wanted)
                    || otherwise.holds(&all[0], false) && otherwise.holds(&all[2], wanted)
            }
            _ => true,
        }
    }

    fn is_atom(expr: &Expr) -> bool {
        matches!(expr, Expr::Var(_) | Expr::Param(_))
    }

    fn fix(&mut self, atom: &Expr, value: Value) -> bool {
        let known = self
            .fixed
            .entry(atom.clone())
            .or_insert_with(|| value.clone());
        *known == value
    }

    fn equal(&mut self, left: &Expr, right: &Expr) -> bool {
        match (left, right) {
            (Expr::Const(Value::Int(_)), _) | (_, Expr::Const(Value::Int(_))) => {}
            // An integer may equal a decimal, which `fix` would not see.
            (Expr::Const(Value::Decimal(_)), _) | (_, Expr::Const(Value::Decimal(_))) => {
                return true;
            }
            (Expr::Const(first), Expr::Const(second)) => return first == second,
            (atom, Expr::Const(value)) | (Expr::Const(value), atom) if Self::is_atom(atom) => {
                return self.fix(atom, value.clone());
            }
            _ => {}
        }
        let (first, second) = match (self.worth(left), self.worth(right)) {
            (IntInterval::Never, _) | (_, IntInterval::Never) => {
                // A side that is `:void` here can still equal another `:void`.
                return !self.breaks(left) && !self.breaks(right);
            }
            (IntInterval::Integer(first), IntInterval::Integer(second)) => (first, second),
            (IntInterval::Integer(only), IntInterval::Anything)
            | (IntInterval::Anything, IntInterval::Integer(only)) => {
                // Only a constant is surely an integer.
                if !matches!((left, right), (Expr::Const(_), _) | (_, Expr::Const(_))) {
                    return true;
                }
                (only, only)
            }
            _ => return true,
        };
        let certain = |e: &Expr| matches!(e, Expr::Const(Value::Int(_)));
        let met = first.meet(second);
        if certain(left) || certain(right) {
            return met.is_some_and(|met| self.narrow(left, met) && self.narrow(right, met));
        }
        // Both may be `:void`, and then they are equal, unless one is computed.
        let computed = |e: &Expr| !Self::is_atom(e) && matches!(e, Expr::Binary(..));
        !(computed(left) || computed(right)) || met.is_some()
    }

    /// Whether evaluating the expression always fails, so that it is not even `:void`.
    fn breaks(&self, expr: &Expr) -> bool {
        match expr {
            // It may be an atom that is `:void`.
            Expr::If(all) => self.breaks(&all[1]) && self.breaks(&all[2]),
            _ => !Self::is_atom(expr) && self.worth(expr) == IntInterval::Never,
        }
    }

    fn different(&mut self, left: &Expr, right: &Expr) -> bool {
        if left == right && Self::is_atom(left) {
            return false;
        }
        if self.breaks(left) || self.breaks(right) {
            return false;
        }
        match (left, right) {
            (Expr::Const(first), Expr::Const(second)) => first != second,
            (atom, Expr::Const(value)) | (Expr::Const(value), atom) => {
                self.fixed.get(atom).is_none_or(|known| known != value)
            }
            _ => true,
        }
    }

    /// `left + gap <= right`.
    fn below(&mut self, left: &Expr, right: &Expr, gap: i128) -> bool {
        if left == right && Self::is_atom(left) && gap > 0 {
            return false;
        }
        let (first, second) = match (self.worth(left), self.worth(right)) {
            (IntInterval::Never, _) | (_, IntInterval::Never) => return false,
            (IntInterval::Integer(first), IntInterval::Integer(second)) => (first, second),
            _ => return true,
        };
        first.low + gap <= second.high
            && Range::new(first.low, second.high - gap).is_some_and(|r| self.narrow(left, r))
            && Range::new(first.low + gap, second.high).is_some_and(|r| self.narrow(right, r))
    }

    /// Remembers that an atom is in `range`.
    fn narrow(&mut self, expr: &Expr, range: Range) -> bool {
        if !Self::is_atom(expr) {
            return true;
        }
        match self.worth(expr) {
            IntInterval::Never => false,
            IntInterval::Anything => true,
            IntInterval::Integer(known) => match known.meet(range) {
                Some(met) => {
                    self.ranges.insert(expr.clone(), met);
                    true
                }
                None => false,
            },
        }
    }

    fn worth(&self, expr: &Expr) -> IntInterval {
        match expr {
            Expr::Const(Value::Int(value)) => IntInterval::Integer(Range {
                low: (*value).into(),
                high: (*value).into(),
            }),
            Expr::Var(_) | Expr::Param(_) => self.atom(expr),
            Expr::Unary(op, inner) => match (op, self.worth(inner)) {
                (_, IntInterval::Never) => IntInterval::Never,
                (UnaryOp::Neg, IntInterval::Integer(range)) => clamped(-range.high, -range.low),
                (UnaryOp::Abs, IntInterval::Integer(range)) => {
                    let (low, high) = (range.low.abs(), range.high.abs());
                    let least = if range.low <= 0 && 0 <= range.high {
                        0
                    } else {
                        low.min(high)
                    };
                    clamped(least, low.max(high))
                }
                (UnaryOp::Length, _) => IntInterval::Integer(Range {
                    low: 0,
                    high: ALL.high,
                }),
                _ => IntInterval::Anything,
            },
            Expr::Binary(op, both) => self.computed(*op, &both[0], &both[1]),
            Expr::If(all) => match (self.worth(&all[1]), self.worth(&all[2])) {
                (IntInterval::Never, other) | (other, IntInterval::Never) => other,
                (IntInterval::Integer(a), IntInterval::Integer(b)) => IntInterval::Integer(Range {
                    low: a.low.min(b.low),
                    high: a.high.max(b.high),
                }),
                _ => IntInterval::Anything,
            },
            _ => IntInterval::Anything,
        }
    }

    fn atom(&self, atom: &Expr) -> IntInterval {
        match self.fixed.get(atom) {
            // No arithmetic and no order works on `:void`.
            Some(Value::Void) => return IntInterval::Never,
            Some(Value::Int(value)) => {
                return IntInterval::Integer(Range {
                    low: (*value).into(),
                    high: (*value).into(),
                });
            }
            _ => {}
        }
        if let Some(range) = self.ranges.get(atom) {
            return IntInterval::Integer(*range);
        }
        match (self.declared)(atom) {
            Some(range) => IntInterval::Integer(Range {
                low: range.min.into(),
                high: range.max.into(),
            }),
            None => IntInterval::Anything,
        }
    }

    fn computed(&self, op: BinaryOp, left: &Expr, right: &Expr) -> IntInterval {
        let (a, b) = match (self.worth(left), self.worth(right)) {
            (IntInterval::Never, _) | (_, IntInterval::Never)
                if !matches!(
                    op,
                    BinaryOp::And | BinaryOp::Or | BinaryOp::Eq | BinaryOp::Ne
                ) =>
            {
                return IntInterval::Never;
            }
            (IntInterval::Integer(a), IntInterval::Integer(b)) => (a, b),
            _ => return IntInterval::Anything,
        };
        match op {
            BinaryOp::Add => clamped(a.low + b.low, a.high + b.high),
            BinaryOp::Sub => clamped(a.low - b.high, a.high - b.low),
            BinaryOp::Mul => {
                let corners = [
                    a.low * b.low,
                    a.low * b.high,
                    a.high * b.low,
                    a.high * b.high,
                ];
                let low = corners.iter().copied().fold(i128::MAX, i128::min);
                let high = corners.iter().copied().fold(i128::MIN, i128::max);
                clamped(low, high)
            }
            BinaryOp::Div | BinaryOp::Rem if b.low == 0 && b.high == 0 => IntInterval::Never,
            BinaryOp::Div => {
                let most = a.low.abs().max(a.high.abs());
                let low = if a.low >= 0 && b.low >= 0 { 0 } else { -most };
                clamped(low, most)
            }
            BinaryOp::Rem => {
                let most = b.low.abs().max(b.high.abs()) - 1;
                let low = if a.low >= 0 { 0 } else { -most };
                let high = if a.high <= 0 { 0 } else { most };
                clamped(low, high)
            }
            BinaryOp::Min => clamped(a.low.min(b.low), a.high.min(b.high)),
            BinaryOp::Max => clamped(a.low.max(b.low), a.high.max(b.high)),
            _ => IntInterval::Anything,
        }
    }
}

/// A result outside 64 bits is an overflow, which is no value.
fn clamped(low: i128, high: i128) -> IntInterval {
    match Range::new(low, high).and_then(|range| range.meet(ALL)) {
        Some(range) => IntInterval::Integer(range),
        None => IntInterval::Never,
    }
}
