//! The independent interpreter: what an expression can be in a state, and whether a run is a run of the model.
//! It works on the expressions themselves and shares nothing with the engines whose answers it checks.

use rustc_hash::FxHashMap;

use crate::expr::{ExprId, Exprs, Node, VarId};
use crate::model::{Model, VarKind};
use crate::syntax::tree::Operator;
use crate::value::Value;

/// A value for every variable of the model. In the last state of a run, inputs have no meaning.
pub type State = Vec<Value>;

/// The possible values of an expression: one, unless the model leaves a choice; none, when no branch of a `case` holds.
pub type Values = Vec<Value>;

/// Evaluates expressions over a state and, where given, its successor.
pub struct Evaluator<'m> {
    exprs: &'m Exprs,
    current: &'m [Value],
    next: Option<&'m [Value]>,
    known: FxHashMap<ExprId, Values>,
}

impl<'m> Evaluator<'m> {
    pub fn new(exprs: &'m Exprs, current: &'m [Value], next: Option<&'m [Value]>) -> Self {
        Self {
            exprs,
            current,
            next,
            known: FxHashMap::default(),
        }
    }

    /// A constraint holds when TRUE is among its values.
    pub fn holds(&mut self, id: ExprId) -> bool {
        match self.exprs.node(id) {
            // Spares the tables: most constraints are plain.
            Node::And(parts) => parts.iter().all(|part| self.holds(*part)),
            Node::Or(parts) => parts.iter().any(|part| self.holds(*part)),
            _ => self.values(id).contains(&Value::Bool(true)),
        }
    }

    pub fn values(&mut self, id: ExprId) -> Values {
        match self.exprs.node(id) {
            Node::Const(value) => return vec![*value],
            Node::Var(var) => return vec![self.current[var.index()]],
            Node::Next(var) => {
                return self
                    .next
                    .map_or_else(Vec::new, |next| vec![next[var.index()]]);
            }
            _ => {}
        }
        if let Some(values) = self.known.get(&id) {
            return values.clone();
        }
        let values = self.compute(id);
        self.known.insert(id, values.clone());
        values
    }

    fn compute(&mut self, id: ExprId) -> Values {
        match self.exprs.node(id) {
            Node::Const(_) | Node::Var(_) | Node::Next(_) => self.values(id),
            Node::Not(inner) => map(self.values(*inner), |value| match value {
                Value::Bool(truth) => Some(Value::Bool(!truth)),
                _ => None,
            }),
            Node::Negate(inner) => map(self.values(*inner), |value| match value {
                Value::Int(number) => Some(Value::Int(-number)),
                _ => None,
            }),
            Node::Abs(inner) => map(self.values(*inner), |value| match value {
                Value::Int(number) => Some(Value::Int(number.abs())),
                _ => None,
            }),
            Node::ToInt(inner) => map(self.values(*inner), |value| match value {
                Value::Bool(truth) => Some(Value::Int(i64::from(truth))),
                Value::Int(_) => Some(value),
                Value::Symbol(_) => None,
            }),
            Node::ToBool(inner) => map(self.values(*inner), |value| match value {
                Value::Int(number) => Some(Value::Bool(number != 0)),
                Value::Bool(_) => Some(value),
                Value::Symbol(_) => None,
            }),
            Node::And(parts) => self.connective(parts, true),
            Node::Or(parts) => self.connective(parts, false),
            Node::Count(parts) => {
                let mut sums = vec![Value::Int(0)];
                for part in parts {
                    let values = self.values(*part);
                    sums = pairs(&sums, &values, |sum, value| match (sum, value) {
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
                    all.extend(self.values(*part));
                }
                distinct(all)
            }
            Node::Range(low, high) => {
                let mut all = Vec::new();
                for low in self.values(*low) {
                    for high in self.values(*high) {
                        if let (Value::Int(low), Value::Int(high)) = (low, high) {
                            all.extend((low..=high).map(Value::Int));
                        }
                    }
                }
                distinct(all)
            }
            Node::Case(branches) => {
                let mut all = Vec::new();
                for (condition, value) in branches {
                    let conditions = self.values(*condition);
                    if conditions.contains(&Value::Bool(true)) {
                        all.extend(self.values(*value));
                    }
                    if !conditions.contains(&Value::Bool(false)) {
                        break;
                    }
                }
                distinct(all)
            }
            Node::Min(left, right) => self.arithmetic(*left, *right, |a, b| Some(a.min(b))),
            Node::Max(left, right) => self.arithmetic(*left, *right, |a, b| Some(a.max(b))),
            Node::Binary(operator, left, right) => self.binary(*operator, *left, *right),
        }
    }

    /// The parts of a conjunction or disjunction choose independently.
    fn connective(&mut self, parts: &[ExprId], conjunction: bool) -> Values {
        let (mut all_can_keep, mut one_can_break) = (true, false);
        for part in parts {
            let values = self.values(*part);
            if values.is_empty() {
                return Vec::new();
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
        result
    }

    fn arithmetic(
        &mut self,
        left: ExprId,
        right: ExprId,
        apply: impl Fn(i64, i64) -> Option<i64>,
    ) -> Values {
        let (left, right) = (self.values(left), self.values(right));
        pairs(&left, &right, |a, b| match (a, b) {
            (Value::Int(a), Value::Int(b)) => apply(a, b).map(Value::Int),
            _ => None,
        })
    }

    fn compare(&mut self, left: ExprId, right: ExprId, apply: impl Fn(i64, i64) -> bool) -> Values {
        let (left, right) = (self.values(left), self.values(right));
        pairs(&left, &right, |a, b| match (a, b) {
            (Value::Int(a), Value::Int(b)) => Some(Value::Bool(apply(a, b))),
            _ => None,
        })
    }

    fn logical(
        &mut self,
        left: ExprId,
        right: ExprId,
        apply: impl Fn(bool, bool) -> bool,
    ) -> Values {
        let (left, right) = (self.values(left), self.values(right));
        pairs(&left, &right, |a, b| match (a, b) {
            (Value::Bool(a), Value::Bool(b)) => Some(Value::Bool(apply(a, b))),
            _ => None,
        })
    }

    fn binary(&mut self, operator: Operator, left: ExprId, right: ExprId) -> Values {
        match operator {
            Operator::Xor => self.logical(left, right, |a, b| a != b),
            Operator::Xnor | Operator::Iff => self.logical(left, right, |a, b| a == b),
            Operator::Implies => self.logical(left, right, |a, b| !a || b),
            Operator::Equal | Operator::Unequal => {
                let (left, right) = (self.values(left), self.values(right));
                pairs(&left, &right, |a, b| {
                    Some(Value::Bool((a == b) == (operator == Operator::Equal)))
                })
            }
            Operator::Less => self.compare(left, right, |a, b| a < b),
            Operator::LessEqual => self.compare(left, right, |a, b| a <= b),
            Operator::Greater => self.compare(left, right, |a, b| a > b),
            Operator::GreaterEqual => self.compare(left, right, |a, b| a >= b),
            Operator::Add => self.arithmetic(left, right, i64::checked_add),
            Operator::Subtract => self.arithmetic(left, right, i64::checked_sub),
            Operator::Multiply => self.arithmetic(left, right, i64::checked_mul),
            Operator::Divide => self.arithmetic(left, right, i64::checked_div),
            Operator::Modulo => self.arithmetic(left, right, i64::checked_rem),
            Operator::Union => {
                let mut all = self.values(left);
                all.extend(self.values(right));
                distinct(all)
            }
            Operator::In => {
                let (left, right) = (self.values(left), self.values(right));
                if right.is_empty() {
                    return Vec::new();
                }
                distinct(
                    left.into_iter()
                        .map(|value| Value::Bool(right.contains(&value)))
                        .collect(),
                )
            }
        }
    }
}

fn map(values: Values, apply: impl Fn(Value) -> Option<Value>) -> Values {
    distinct(values.into_iter().filter_map(apply).collect())
}

fn pairs(left: &[Value], right: &[Value], apply: impl Fn(Value, Value) -> Option<Value>) -> Values {
    let mut all = Vec::with_capacity(left.len() * right.len());
    for a in left {
        for b in right {
            all.extend(apply(*a, *b));
        }
    }
    distinct(all)
}

fn distinct(mut values: Values) -> Values {
    if values.len() > 1 {
        values.sort_unstable();
        values.dedup();
    }
    values
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
    pub fn check_initial(&self, state: &State) -> Result<(), String> {
        self.check_state(state)?;
        let mut evaluator = Evaluator::new(&self.exprs, state, None);
        for var in self.var_ids() {
            if let Some(value) = self.var(var).init
                && !evaluator.values(value).contains(&state[var.index()])
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
    pub fn check_state(&self, state: &State) -> Result<(), String> {
        let mut evaluator = Evaluator::new(&self.exprs, state, None);
        for var in self.var_ids() {
            let entry = self.var(var);
            if !entry.domain.contains(state[var.index()]) {
                return Err(format!(
                    "`{}` has a value outside of its domain",
                    entry.name
                ));
            }
            if let Some(value) = entry.always
                && !evaluator.values(value).contains(&state[var.index()])
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
    pub fn check_step(&self, state: &State, next: &State) -> Result<(), String> {
        self.check_state(next)?;
        let mut evaluator = Evaluator::new(&self.exprs, state, Some(next));
        for var in self.var_ids() {
            let entry = self.var(var);
            if entry.kind == VarKind::Frozen && state[var.index()] != next[var.index()] {
                return Err(format!("the frozen variable `{}` changes", entry.name));
            }
            if let Some(value) = entry.next
                && !evaluator.values(value).contains(&next[var.index()])
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
        self.check_initial(first).map_err(at(0))?;
        for (index, pair) in run.windows(2).enumerate() {
            self.check_step(&pair[0], &pair[1]).map_err(at(index + 1))?;
        }
        Ok(())
    }

    /// The first step of a run at which an expression holds. One that speaks of next() needs a successor.
    pub fn first_hit(&self, run: &[State], goal: ExprId, transition: bool) -> Option<usize> {
        (0..run.len()).find(|step| self.hits(run, *step, goal, transition))
    }

    pub(crate) fn hits(&self, run: &[State], step: usize, goal: ExprId, transition: bool) -> bool {
        let next = run.get(step + 1);
        if transition && next.is_none() {
            return false;
        }
        Evaluator::new(&self.exprs, &run[step], next.map(Vec::as_slice)).holds(goal)
    }

    pub fn value_of(&self, state: &State, var: VarId) -> String {
        self.symbols.text(state[var.index()])
    }
}
