//! The independent interpreter: what an expression can be in a state, and whether a run is a run of the model.
//! It works on the expressions themselves and shares nothing with the engines whose answers it checks.
//!
//! Most expressions leave no choice, so they are computed as one value ([`Evaluator::one`]); the others as all values
//! that they can have ([`Evaluator::values`]).

mod operations;

use std::ops::Deref;

use crate::expr::{ExprId, Exprs, Node, VarId};
use crate::model::{Model, VarKind};
use crate::syntax::tree::Operator;
use crate::value::Value;

use operations::{
    absolute, apply, larger, map, negate, not, pairs, smaller, to_boolean, to_integer,
};

/// A value for every variable of the model. In the last state of a run, inputs have no meaning.
pub type State = Vec<Value>;

/// The possible values of an expression: one, unless the model leaves a choice; none, when no branch of a `case` holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Values {
    #[default]
    None,
    One(Value),
    /// In order, without doubles.
    Several(Vec<Value>),
}

impl Values {
    pub(crate) fn of(mut values: Vec<Value>) -> Self {
        values.sort_unstable();
        values.dedup();
        match values[..] {
            [] => Self::None,
            [value] => Self::One(value),
            _ => Self::Several(values),
        }
    }
}

impl Deref for Values {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        match self {
            Self::None => &[],
            Self::One(value) => std::slice::from_ref(value),
            Self::Several(values) => values,
        }
    }
}

impl From<Option<Value>> for Values {
    fn from(value: Option<Value>) -> Self {
        value.map_or(Self::None, Self::One)
    }
}

/// What was computed already for the state that is looked at. Reused from state to state, so that its room is taken
/// once.
#[derive(Clone, Debug, Default)]
pub struct Memo {
    moment: u32,
    /// An expression had more values than are listed, so what was computed from it means nothing.
    crowded: bool,
    known: Vec<(u32, Values)>,
}

impl Memo {
    /// Forgets everything: another state is looked at.
    pub fn clear(&mut self) {
        self.moment += 1;
        self.crowded = false;
        if self.moment == NEVER {
            *self = Self::default();
        }
    }

    fn get(&self, slot: u32) -> Option<&Values> {
        match self.known.get(slot as usize) {
            Some((moment, values)) if *moment == self.moment => Some(values),
            _ => None,
        }
    }

    fn set(&mut self, slot: u32, slots: usize, values: Values) {
        if self.known.len() < slots {
            self.known.resize(slots, (NEVER, Values::None));
        }
        self.known[slot as usize] = (self.moment, values);
    }
}

const NEVER: u32 = u32::MAX;

/// An expression with more values than this is not computed with. A range that is only asked whether it contains a value
/// may be wider.
const MAX_VALUES: usize = 1 << 16;

/// Evaluates expressions over a state and, where given, its successor.
pub struct Evaluator<'m> {
    exprs: &'m Exprs,
    current: &'m [Value],
    next: Option<&'m [Value]>,
    memo: &'m mut Memo,
}

impl<'m> Evaluator<'m> {
    /// What the memo holds is forgotten.
    pub fn new(
        exprs: &'m Exprs,
        current: &'m [Value],
        next: Option<&'m [Value]>,
        memo: &'m mut Memo,
    ) -> Self {
        memo.clear();
        Self::further(exprs, current, next, memo)
    }

    /// Goes on with the same states, which may have got values for variables that nothing in the memo depends on.
    pub(crate) fn further(
        exprs: &'m Exprs,
        current: &'m [Value],
        next: Option<&'m [Value]>,
        memo: &'m mut Memo,
    ) -> Self {
        Self {
            exprs,
            current,
            next,
            memo,
        }
    }

    /// A constraint holds when TRUE is among its values.
    pub fn holds(&mut self, id: ExprId) -> bool {
        match self.exprs.node(id) {
            Node::And(parts) => parts.iter().all(|part| self.holds(*part)),
            Node::Or(parts) => parts.iter().any(|part| self.holds(*part)),
            _ => self.may_be(id, Value::Bool(true)) && !self.memo.crowded,
        }
    }

    /// Whether it is known that a variable may get a value by its assignment.
    fn takes(&mut self, id: ExprId, value: Value) -> bool {
        self.may_be(id, value) && !self.memo.crowded
    }

    /// An expression had too many values to compute with, and what depends on it is not known.
    pub fn is_crowded(&self) -> bool {
        self.memo.crowded
    }

    /// Whether there is a value at all, without listing a range.
    fn has_value(&mut self, id: ExprId) -> bool {
        if self.surely_has_value(id) {
            return true;
        }
        match self.exprs.node(id) {
            Node::Range(low, high) => {
                let least = self.values(*low).first().copied();
                let most = self.values(*high).last().copied();
                least.is_some() && most.is_some() && least <= most
            }
            Node::Set(parts) => parts.iter().any(|part| self.has_value(*part)),
            Node::Binary(Operator::Union, left, right) => {
                self.has_value(*left) || self.has_value(*right)
            }
            _ => !self.values(id).is_empty(),
        }
    }

    /// Whether a value is among those that an expression can have.
    pub fn may_be(&mut self, id: ExprId, value: Value) -> bool {
        if self.exprs.traits(id).single {
            return self.one(id) == Some(value);
        }
        match self.exprs.node(id) {
            Node::Set(parts) => parts.iter().any(|part| self.may_be(*part, value)),
            Node::Binary(Operator::Union, left, right) => {
                self.may_be(*left, value) || self.may_be(*right, value)
            }
            Node::Range(low, high) => {
                // The widest range that can be chosen contains all others.
                let least = self.values(*low).first().copied();
                let most = self.values(*high).last().copied();
                matches!(value, Value::Int(_))
                    && least.is_some_and(|least| least <= value)
                    && most.is_some_and(|most| value <= most)
            }
            Node::Case(branches) => {
                for (condition, result) in branches {
                    let (may, must) = self.condition(*condition);
                    if may && self.may_be(*result, value) {
                        return true;
                    }
                    if must {
                        return false;
                    }
                }
                false
            }
            _ => self.values(id).contains(&value),
        }
    }

    /// Whether a condition can hold, and whether the branches after it are out of reach.
    fn condition(&mut self, id: ExprId) -> (bool, bool) {
        if self.exprs.traits(id).single {
            return match self.one(id) {
                Some(Value::Bool(truth)) => (truth, truth),
                _ => (false, true),
            };
        }
        let values = self.values(id);
        (
            values.contains(&Value::Bool(true)),
            !values.contains(&Value::Bool(false)),
        )
    }

    /// Whether an expression has a value whatever the state is, so that it need not be looked at for that.
    fn surely_has_value(&self, id: ExprId) -> bool {
        let traits = self.exprs.traits(id);
        traits.total && (self.next.is_some() || !traits.next)
    }

    /// The value of an expression that has at most one.
    fn one(&mut self, id: ExprId) -> Option<Value> {
        match self.exprs.node(id) {
            Node::Const(value) => return Some(*value),
            Node::Var(var) => return Some(self.current[var.index()]),
            Node::Next(var) => return self.next.map(|next| next[var.index()]),
            _ => {}
        }
        let Some(slot) = self.exprs.traits(id).slot else {
            return self.compute_one(id);
        };
        if let Some(values) = self.memo.get(slot) {
            return values.first().copied();
        }
        let value = self.compute_one(id);
        self.memo.set(slot, self.exprs.slots(), value.into());
        value
    }

    fn compute_one(&mut self, id: ExprId) -> Option<Value> {
        match self.exprs.node(id) {
            Node::Const(_) | Node::Var(_) | Node::Next(_) => self.one(id),
            Node::Not(inner) => not(self.one(*inner)?),
            Node::Negate(inner) => negate(self.one(*inner)?),
            Node::Abs(inner) => absolute(self.one(*inner)?),
            Node::ToInt(inner) => to_integer(self.one(*inner)?),
            Node::ToBool(inner) => to_boolean(self.one(*inner)?),
            Node::And(parts) => self.one_connective(id, parts, true),
            Node::Or(parts) => self.one_connective(id, parts, false),
            Node::Count(parts) => {
                let mut sum = 0;
                for part in parts {
                    match self.one(*part)? {
                        Value::Bool(truth) => sum += i64::from(truth),
                        _ => return None,
                    }
                }
                Some(Value::Int(sum))
            }
            // There is but one part, or there would be a choice.
            Node::Set(parts) => self.one(*parts.first()?),
            Node::Case(branches) => {
                for (condition, value) in branches {
                    match self.one(*condition)? {
                        Value::Bool(true) => return self.one(*value),
                        Value::Bool(false) => {}
                        _ => return None,
                    }
                }
                None
            }
            Node::Min(left, right) => smaller(self.one(*left)?, self.one(*right)?),
            Node::Max(left, right) => larger(self.one(*left)?, self.one(*right)?),
            Node::Binary(Operator::In, left, right) => {
                let value = self.one(*left)?;
                if self.may_be(*right, value) {
                    Some(Value::Bool(true))
                } else if self.has_value(*right) {
                    Some(Value::Bool(false))
                } else {
                    None
                }
            }
            Node::Binary(operator, left, right) => {
                apply(*operator, self.one(*left)?, self.one(*right)?)
            }
            Node::Range(..) => self.values(id).first().copied(),
        }
    }

    fn one_connective(&mut self, id: ExprId, parts: &[ExprId], conjunction: bool) -> Option<Value> {
        // A part without a value takes the whole its value, so all must be looked at unless each has one.
        let hasty = self.surely_has_value(id);
        let mut result = conjunction;
        for part in parts {
            match self.one(*part)? {
                Value::Bool(truth) if truth != conjunction => {
                    result = truth;
                    if hasty {
                        break;
                    }
                }
                Value::Bool(_) => {}
                _ => return None,
            }
        }
        Some(Value::Bool(result))
    }

    pub fn values(&mut self, id: ExprId) -> Values {
        let traits = self.exprs.traits(id);
        if traits.single && !matches!(self.exprs.node(id), Node::Range(..)) {
            return self.one(id).into();
        }
        let Some(slot) = traits.slot else {
            return self.compute(id);
        };
        if let Some(values) = self.memo.get(slot) {
            return values.clone();
        }
        let values = self.compute(id);
        self.memo.set(slot, self.exprs.slots(), values.clone());
        values
    }

    fn compute(&mut self, id: ExprId) -> Values {
        match self.exprs.node(id) {
            Node::Const(_) | Node::Var(_) | Node::Next(_) => self.one(id).into(),
            Node::Not(inner) => map(&self.values(*inner), not),
            Node::Negate(inner) => map(&self.values(*inner), negate),
            Node::Abs(inner) => map(&self.values(*inner), absolute),
            Node::ToInt(inner) => map(&self.values(*inner), to_integer),
            Node::ToBool(inner) => map(&self.values(*inner), to_boolean),
            Node::And(parts) => self.connective(parts, true),
            Node::Or(parts) => self.connective(parts, false),
            Node::Count(parts) => {
                let mut sums = Values::One(Value::Int(0));
                for part in parts {
                    let values = self.values(*part);
                    sums = self.pairs(&sums, &values, |sum, value| match (sum, value) {
                        (Value::Int(sum), Value::Bool(truth)) => {
                            Some(Value::Int(sum + i64::from(truth)))
                        }
                        _ => None,
                    });
                }
                sums
            }
            Node::Set(parts) => {
                let mut all = Vec::new();
                for part in parts {
                    all.extend_from_slice(&self.values(*part));
                }
                Values::of(all)
            }
            Node::Range(low, high) => {
                let mut all = Vec::new();
                let (lows, highs) = (self.values(*low), self.values(*high));
                for low in lows.iter() {
                    for high in highs.iter() {
                        if let (Value::Int(low), Value::Int(high)) = (low, high) {
                            let width = usize::try_from(high.saturating_sub(*low));
                            if width.unwrap_or(0) >= MAX_VALUES.saturating_sub(all.len()) {
                                self.memo.crowded = true;
                                return Values::None;
                            }
                            all.extend((*low..=*high).map(Value::Int));
                        }
                    }
                }
                Values::of(all)
            }
            Node::Case(branches) => {
                let mut all = Vec::new();
                for (condition, value) in branches {
                    let (may, must) = self.condition(*condition);
                    if may {
                        let values = self.values(*value);
                        if must && all.is_empty() {
                            return values;
                        }
                        all.extend_from_slice(&values);
                    }
                    if must {
                        break;
                    }
                }
                Values::of(all)
            }
            Node::Min(left, right) => self.both(*left, *right, smaller),
            Node::Max(left, right) => self.both(*left, *right, larger),
            Node::Binary(Operator::Union, left, right) => {
                let mut all = self.values(*left).to_vec();
                all.extend_from_slice(&self.values(*right));
                Values::of(all)
            }
            Node::Binary(Operator::In, left, right) => {
                let left = self.values(*left);
                if !self.has_value(*right) {
                    return Values::None;
                }
                let truths = left.iter().map(|value| self.may_be(*right, *value));
                Values::of(truths.map(Value::Bool).collect())
            }
            Node::Binary(operator, left, right) => {
                self.both(*left, *right, |a, b| apply(*operator, a, b))
            }
        }
    }

    /// The parts of a conjunction or disjunction choose independently.
    fn connective(&mut self, parts: &[ExprId], conjunction: bool) -> Values {
        let (mut all_can_keep, mut one_can_break) = (true, false);
        for part in parts {
            let values = self.values(*part);
            if values.is_empty() {
                return Values::None;
            }
            all_can_keep &= values.contains(&Value::Bool(conjunction));
            one_can_break |= values.contains(&Value::Bool(!conjunction));
        }
        let mut result = Vec::new();
        if all_can_keep {
            result.push(Value::Bool(conjunction));
        }
        if one_can_break {
            result.push(Value::Bool(!conjunction));
        }
        Values::of(result)
    }

    fn both(
        &mut self,
        left: ExprId,
        right: ExprId,
        apply: impl Fn(Value, Value) -> Option<Value>,
    ) -> Values {
        let (left, right) = (self.values(left), self.values(right));
        self.pairs(&left, &right, apply)
    }

    fn pairs(
        &mut self,
        left: &[Value],
        right: &[Value],
        apply: impl Fn(Value, Value) -> Option<Value>,
    ) -> Values {
        if left.len().saturating_mul(right.len()) > MAX_VALUES {
            self.memo.crowded = true;
            return Values::None;
        }
        pairs(left, right, apply)
    }
}

/// Why a sequence of states is not a run of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotARun {
    pub step: usize,
    pub reason: String,
}

impl std::fmt::Display for NotARun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "step {}: {}", self.step, self.reason)
    }
}

impl Model {
    /// Whether the state is one in which the model may start.
    pub fn check_initial(&self, state: &State, memo: &mut Memo) -> Result<(), String> {
        self.check_state(state, memo)?;
        let mut evaluator = Evaluator::further(&self.exprs, state, None, memo);
        for var in self.var_ids() {
            if let Some(value) = self.var(var).init
                && !evaluator.takes(value, state[var.index()])
            {
                return Err(format!(
                    "`{}` does not start with this value",
                    self.var(var).name
                ));
            }
        }
        for constraint in &self.init {
            if !evaluator.holds(constraint.expr) {
                return Err(format!("INIT at {} does not hold", constraint.place));
            }
        }
        Ok(())
    }

    /// Domains and everything that holds in every state.
    pub fn check_state(&self, state: &State, memo: &mut Memo) -> Result<(), String> {
        let mut evaluator = Evaluator::new(&self.exprs, state, None, memo);
        for var in self.var_ids() {
            let entry = self.var(var);
            if !entry.domain.contains(state[var.index()]) {
                return Err(format!(
                    "`{}` has a value outside of its domain",
                    entry.name
                ));
            }
            if let Some(value) = entry.always
                && !evaluator.takes(value, state[var.index()])
            {
                return Err(format!("`{}` is not what its assignment says", entry.name));
            }
        }
        for constraint in &self.invar {
            if !evaluator.holds(constraint.expr) {
                return Err(format!("INVAR at {} does not hold", constraint.place));
            }
        }
        Ok(())
    }

    /// Whether the model may go from one state to the other, with the inputs that the first one carries.
    pub fn check_step(&self, state: &State, next: &State, memo: &mut Memo) -> Result<(), String> {
        self.check_state(next, memo)?;
        let mut evaluator = Evaluator::new(&self.exprs, state, Some(next), memo);
        for var in self.var_ids() {
            let entry = self.var(var);
            if entry.kind == VarKind::Frozen && state[var.index()] != next[var.index()] {
                return Err(format!("the frozen variable `{}` changes", entry.name));
            }
            if let Some(value) = entry.next
                && !evaluator.takes(value, next[var.index()])
            {
                return Err(format!(
                    "next(`{}`) is not what its assignment says",
                    entry.name
                ));
            }
        }
        for constraint in &self.trans {
            if !evaluator.holds(constraint.expr) {
                return Err(format!("TRANS at {} does not hold", constraint.place));
            }
        }
        Ok(())
    }

    /// Whether the states are a run of the model from one of its initial states.
    pub fn check_run(&self, run: &[State]) -> Result<(), NotARun> {
        let at = |step| move |reason| NotARun { step, reason };
        let Some(first) = run.first() else {
            return Err(NotARun {
                step: 0,
                reason: "there is no state".to_owned(),
            });
        };
        let mut memo = Memo::default();
        self.check_initial(first, &mut memo).map_err(at(0))?;
        for (index, pair) in run.windows(2).enumerate() {
            self.check_step(&pair[0], &pair[1], &mut memo)
                .map_err(at(index + 1))?;
        }
        Ok(())
    }

    /// The first step of a run at which an expression holds. One that speaks of next() needs a successor.
    pub fn first_hit(&self, run: &[State], goal: ExprId, transition: bool) -> Option<usize> {
        let mut memo = Memo::default();
        (0..run.len()).find(|step| {
            let next = run.get(step + 1).map(Vec::as_slice);
            (next.is_some() || !transition)
                && Evaluator::new(&self.exprs, &run[*step], next, &mut memo).holds(goal)
        })
    }

    pub fn value_of(&self, state: &State, var: VarId) -> String {
        self.symbols.text(state[var.index()])
    }
}
