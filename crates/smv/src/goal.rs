//! Test goals: conditions that some state (or step) of a test must fulfil, derived from coverage criteria or given by the user.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

use crate::diagnostic::{Diagnostic, LineIndex};
use crate::expr::{ExprId, Node, Seen};
use crate::model::{Model, Var, VarKind};
use crate::syntax::parser::parse_expression;
use crate::syntax::tree::Operator;
use crate::system::is_transition;
use crate::value::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Criterion {
    /// Every value of every variable.
    Value,
    /// Every decision both ways.
    Decision,
    /// Every atomic condition of every decision both ways.
    Condition,
    /// Every atomic condition decides the outcome of its decision, both ways.
    Mcdc,
    /// Every `INVARSPEC` violated: a test shows that it does not hold, a proof that it does.
    Invariant,
    /// Given by the user.
    User,
}

impl Criterion {
    pub fn name(self) -> &'static str {
        match self {
            Self::Value => "value",
            Self::Decision => "decision",
            Self::Condition => "condition",
            Self::Mcdc => "mcdc",
            Self::Invariant => "invariant",
            Self::User => "user",
        }
    }
}

/// What the definitions of the criteria leave open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoalOptions {
    /// At most so many values of a variable, chosen by `seed`; all when none is given.
    pub max_values: Option<usize>,
    pub seed: u64,
    /// Whether value coverage counts inputs (`IVAR`). NuSMV cannot state such a goal as an invariant.
    pub inputs: bool,
    /// Whether a guard counts only where the guards before it fail, that is, where it is evaluated.
    pub reached_guards: bool,
    /// Whether the right-hand side of an assignment to a boolean is a decision.
    pub boolean_sides: bool,
    /// Whether guards in INIT, TRANS and INVAR count, not only those in assignments.
    pub constraints: bool,
}

impl Default for GoalOptions {
    fn default() -> Self {
        Self {
            max_values: None,
            seed: 1,
            inputs: false,
            reached_guards: false,
            boolean_sides: false,
            constraints: true,
        }
    }
}

/// A variable gets at most so many goals, one for each value.
const MAX_VALUES: u64 = 1 << 20;

/// A variable whose values are not all goals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortened {
    pub variable: String,
    pub values: u64,
    pub goals: u64,
}

impl std::fmt::Display for Shortened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Shortened {
            variable,
            values,
            goals,
        } = self;
        write!(
            f,
            "`{variable}` has {values} values; only the first {goals} are goals"
        )
    }
}

/// A condition to be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Goal {
    /// As NuSMV reads it.
    pub text: String,
    pub criterion: Criterion,
    pub expr: ExprId,
    /// It speaks of a step: it mentions next() or an input.
    pub transition: bool,
}

impl Model {
    /// The goals of some criteria, without doubles. Takes `&mut` because goals are new expressions of the model.
    pub fn goals(&mut self, criteria: &[Criterion], options: &GoalOptions) -> Vec<Goal> {
        crate::stack::with_room(|| self.derive(criteria, options))
    }

    fn derive(&mut self, criteria: &[Criterion], options: &GoalOptions) -> Vec<Goal> {
        let mut found: Vec<(Criterion, ExprId)> = Vec::new();
        for criterion in criteria {
            match criterion {
                Criterion::Value => self.value_goals(options, &mut found),
                Criterion::Decision => {
                    for decision in self.decisions(options) {
                        let [yes, no] = self.both(decision.expr);
                        let reached = decision.reached;
                        found.push((Criterion::Decision, self.under(reached, yes)));
                        found.push((Criterion::Decision, self.under(reached, no)));
                    }
                }
                Criterion::Condition => {
                    for decision in self.decisions(options) {
                        for condition in self.conditions(decision.expr) {
                            let [yes, no] = self.both(condition);
                            found.push((Criterion::Condition, self.under(decision.reached, yes)));
                            found.push((Criterion::Condition, self.under(decision.reached, no)));
                        }
                    }
                }
                Criterion::Mcdc => self.mcdc_goals(options, &mut found),
                Criterion::Invariant => {
                    let invariants: Vec<ExprId> =
                        self.invariants.iter().map(|entry| entry.expr).collect();
                    for invariant in invariants {
                        found.push((Criterion::Invariant, self.exprs.not(invariant)));
                    }
                }
                Criterion::User => {}
            }
        }
        let mut seen = FxHashSet::default();
        found.retain(|(_, expr)| seen.insert(*expr));
        found
            .into_iter()
            .map(|(criterion, expr)| self.goal_of(criterion, expr))
            .collect()
    }

    fn goal_of(&self, criterion: Criterion, expr: ExprId) -> Goal {
        Goal {
            text: self.print(expr),
            criterion,
            expr,
            transition: is_transition(self, expr),
        }
    }

    /// A goal given as text, over the full names of variables and definitions.
    pub fn user_goal(&mut self, text: &str) -> Result<Goal, Diagnostic> {
        let built = crate::stack::with_room(|| {
            let expr = parse_expression(text)?;
            crate::flatten::build_goal(self, &expr, text)
        });
        match built {
            Ok(expr) => Ok(self.goal_of(Criterion::User, expr)),
            Err(problem) => Err(LineIndex::new("goal", text).diagnostic(problem)),
        }
    }

    fn value_goals(&mut self, options: &GoalOptions, found: &mut Vec<(Criterion, ExprId)>) {
        for var in self.var_ids() {
            let entry = self.var(var);
            if (entry.kind == VarKind::Input && !options.inputs)
                || Some(var) == self.process_selector
            {
                continue;
            }
            let size = entry.domain.len();
            let positions = match options.max_values {
                Some(limit) if size > limit as u64 => {
                    pick(size, limit, options.seed ^ u64::from(var.0))
                }
                _ => (0..size.min(MAX_VALUES)).collect(),
            };
            let values: Vec<Value> = positions
                .into_iter()
                .map(|position| entry.domain.value(position))
                .collect();
            let variable = self.exprs.var(var);
            for value in values {
                found.push((Criterion::Value, self.exprs.equals(variable, value)));
            }
        }
    }

    /// Variables with more values than there are goals for, so that a warning can say so.
    pub fn shortened(&self, criteria: &[Criterion], options: &GoalOptions) -> Vec<Shortened> {
        if !criteria.contains(&Criterion::Value) || options.max_values.is_some() {
            return Vec::new();
        }
        let counted = |var: &&Var| options.inputs || var.kind != VarKind::Input;
        let wide = (self.vars.iter().filter(counted)).filter(|var| var.domain.len() > MAX_VALUES);
        wide.map(|var| Shortened {
            variable: var.name.clone(),
            values: var.domain.len(),
            goals: MAX_VALUES,
        })
        .collect()
    }

    fn both(&mut self, expr: ExprId) -> [ExprId; 2] {
        [expr, self.exprs.not(expr)]
    }

    fn under(&mut self, reached: Option<ExprId>, expr: ExprId) -> ExprId {
        match reached {
            Some(reached) => self.exprs.and([reached, expr]),
            None => expr,
        }
    }

    /// Masking MC/DC, as the book defines it for AML models too: a pair of tests in which the condition has different
    /// values and decides the outcome, which differs as well.
    ///
    /// ioco searches for the two tests independently, so a pair must fix in which direction the condition decides.
    /// Where it may decide in either, as beside `xor`, each direction has its own pair: one of them may be infeasible.
    fn mcdc_goals(&mut self, options: &GoalOptions, found: &mut Vec<(Criterion, ExprId)>) {
        for decision in self.decisions(options) {
            let directions = self.directions(decision.expr);
            for condition in self.conditions(decision.expr) {
                let is_both = [true, false].map(|direct| directions.contains(&(condition, direct)));
                let deciding = self.deciding(decision.expr, condition, is_both == [true, true]);
                for decides in deciding {
                    for expr in self.both(condition) {
                        let goal = match decides {
                            Some(decides) => self.exprs.and([expr, decides]),
                            None => expr,
                        };
                        found.push((Criterion::Mcdc, self.under(decision.reached, goal)));
                    }
                }
            }
        }
    }

    /// Where a condition decides, for every direction; `None` where it always does.
    fn deciding(
        &mut self,
        decision: ExprId,
        condition: ExprId,
        is_both: bool,
    ) -> Vec<Option<ExprId>> {
        if decision == condition {
            return vec![None];
        }
        let with = self.replace(decision, condition, true);
        let without = self.replace(decision, condition, false);
        if with == without {
            return vec![Some(self.exprs.boolean(false))];
        }
        if !is_both {
            return vec![Some(self.exprs.binary(Operator::Xor, with, without))];
        }
        let mut only = |one: ExprId, other: ExprId| {
            let other = self.exprs.not(other);
            Some(self.exprs.and([one, other]))
        };
        vec![only(with, without), only(without, with)]
    }

    /// The parts of a decision, each with the directions in which it may decide: directly, or so that the decision
    /// is false where the part is true.
    fn directions(&self, decision: ExprId) -> FxHashSet<(ExprId, bool)> {
        let mut met = FxHashSet::default();
        let mut open = vec![(decision, true)];
        while let Some((expr, direct)) = open.pop() {
            if !met.insert((expr, direct)) {
                continue;
            }
            match self.exprs.node(expr) {
                Node::Not(inner) => open.push((*inner, !direct)),
                Node::And(parts) | Node::Or(parts) => {
                    open.extend(parts.iter().map(|part| (*part, direct)));
                }
                Node::Binary(Operator::Implies, left, right) => {
                    open.extend([(*left, !direct), (*right, direct)]);
                }
                Node::Binary(Operator::Xor | Operator::Xnor | Operator::Iff, left, right) => {
                    let sides = [*left, *right].into_iter();
                    open.extend(sides.flat_map(|side| [(side, true), (side, false)]));
                }
                _ => {}
            }
        }
        met
    }

    fn decisions(&mut self, options: &GoalOptions) -> Vec<Decision> {
        let mut roots = Vec::new();
        for var in &self.vars {
            for value in [var.init, var.always, var.next].into_iter().flatten() {
                roots.push((
                    value,
                    options.boolean_sides && var.domain == crate::value::Domain::Bool,
                ));
            }
        }
        if options.constraints {
            let constraints = self.init.iter().chain(&self.trans).chain(&self.invar);
            roots.extend(constraints.map(|constraint| (constraint.expr, false)));
        }
        let mut decisions: Vec<Decision> = Vec::new();
        let mut seen = Seen::default();
        for (root, whole) in roots {
            let mut cases = Vec::new();
            self.exprs.visit(root, &mut seen, &mut |_, node| {
                if let Node::Case(branches) = node {
                    cases.push(branches.clone());
                }
            });
            // Outer cases come first, in the order of the text.
            for branches in cases {
                let mut before = Vec::new();
                for (condition, _) in &branches {
                    let constant = matches!(self.exprs.node(*condition), Node::Const(_));
                    if !constant && !self.is_scheduling(*condition) {
                        let reached = if options.reached_guards && !before.is_empty() {
                            Some(self.exprs.and(before.clone()))
                        } else {
                            None
                        };
                        decisions.push(Decision {
                            expr: *condition,
                            reached,
                        });
                    }
                    let negated = self.exprs.not(*condition);
                    before.push(negated);
                }
            }
            let plain = matches!(self.exprs.node(root), Node::Const(_) | Node::Case(_));
            if whole && !plain {
                decisions.push(Decision {
                    expr: root,
                    reached: None,
                });
            }
        }
        let mut known = FxHashSet::default();
        decisions.retain(|decision| known.insert((decision.expr, decision.reached)));
        decisions
    }

    /// The guard that says which process runs is not a decision of the model.
    fn is_scheduling(&self, expr: ExprId) -> bool {
        match (self.exprs.node(expr), self.process_selector) {
            (Node::Binary(Operator::Equal, left, _), Some(selector)) => {
                matches!(self.exprs.node(*left), Node::Var(var) if *var == selector)
            }
            _ => false,
        }
    }

    /// The atomic conditions of a decision, in the order of the text.
    fn conditions(&self, decision: ExprId) -> Vec<ExprId> {
        let mut found = Vec::new();
        let mut open = vec![decision];
        let mut seen = Seen::default();
        while let Some(expr) = open.pop() {
            if !seen.first(expr) {
                continue;
            }
            match self.exprs.node(expr) {
                Node::Not(inner) => open.push(*inner),
                Node::And(parts) | Node::Or(parts) => open.extend(parts.iter().rev()),
                Node::Binary(
                    Operator::Xor | Operator::Xnor | Operator::Iff | Operator::Implies,
                    left,
                    right,
                ) => {
                    open.extend([*right, *left]);
                }
                Node::Const(_) => {}
                _ => found.push(expr),
            }
        }
        found
    }

    /// The decision with one of its conditions fixed.
    fn replace(&mut self, decision: ExprId, condition: ExprId, value: bool) -> ExprId {
        let mut memo = FxHashMap::default();
        let constant = self.exprs.boolean(value);
        memo.insert(condition, constant);
        self.replace_in(decision, &mut memo)
    }

    fn replace_in(&mut self, expr: ExprId, memo: &mut FxHashMap<ExprId, ExprId>) -> ExprId {
        if let Some(known) = memo.get(&expr) {
            return *known;
        }
        let result = match self.exprs.node(expr).clone() {
            Node::Not(inner) => {
                let inner = self.replace_in(inner, memo);
                self.exprs.not(inner)
            }
            Node::And(parts) => {
                let parts: Vec<ExprId> = parts
                    .iter()
                    .map(|part| self.replace_in(*part, memo))
                    .collect();
                self.exprs.add(Node::And(parts.into()))
            }
            Node::Or(parts) => {
                let parts: Vec<ExprId> = parts
                    .iter()
                    .map(|part| self.replace_in(*part, memo))
                    .collect();
                self.exprs.add(Node::Or(parts.into()))
            }
            Node::Binary(
                operator @ (Operator::Xor | Operator::Xnor | Operator::Iff | Operator::Implies),
                left,
                right,
            ) => {
                let (left, right) = (self.replace_in(left, memo), self.replace_in(right, memo));
                self.exprs.binary(operator, left, right)
            }
            _ => expr,
        };
        memo.insert(expr, result);
        result
    }
}

struct Decision {
    expr: ExprId,
    /// The guards before it fail.
    reached: Option<ExprId>,
}

/// Some different positions below `size`, in order, decided by the seed.
pub fn pick(size: u64, count: usize, seed: u64) -> Vec<u64> {
    let mut state = seed ^ 0x9e37_79b9_7f4a_7c15;
    let mut chosen = std::collections::BTreeSet::new();
    while chosen.len() < count.min(usize::try_from(size).unwrap_or(usize::MAX)) {
        state = next_random(state);
        chosen.insert(state % size);
    }
    chosen.into_iter().collect()
}

/// The number after this one: enough to choose, the same everywhere.
pub(crate) fn next_random(state: u64) -> u64 {
    SplitMix64::seed_from_u64(state).next_u64()
}
