//! Tests as trees: the steps that are planned, and at every point what else the model allows and
//! what to do then. Where the goal can still be reached the tree goes on; otherwise the test is
//! inconclusive, because the system did nothing wrong.
//!
//! A tree is grown along the meaning of the model ([`Semantics`]), which shares no code with the
//! search that found the plan: a step that the meaning does not allow ends up in no tree.

use ioco_budget::Interrupt;
use ioco_solve::{Embedded, Outcome, Solver as _};
use ioco_sts::{
    Action, BinaryOp, Direction, Expr, LabelId, Offer, Semantics, SetId, State, Step, Sts, Value,
};
use rand::Rng;
use std::sync::Arc;

use crate::feasible::Effort;
use crate::plan::{Follower, Limits, Pattern, PatternState, Search};

/// Different values of one response that get branches of their own.
const MAX_VALUES: usize = 3;
/// Branches of one test that are planned on.
const MAX_PLANNED: usize = 24;

/// A test.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    pub steps: Vec<Step>,
    /// Before the first step, and after each.
    pub points: Vec<Point>,
    /// What else may come, by the number of steps before it.
    pub branches: Vec<Branch>,
}

impl Tree {
    /// Puts `steps` in the place of the planned ones: the same, with silences between them. A
    /// silence changes nothing about what comes before and after it.
    pub fn plan_silences(&mut self, steps: Vec<Step>) {
        for (position, step) in steps.iter().enumerate() {
            if *step == Step::Quiescence {
                self.points.insert(position + 1, self.points[position]);
                for branch in &mut self.branches {
                    branch.after += usize::from(branch.after > position);
                }
            }
        }
        self.steps = steps;
    }
}

/// What the model says about silence at a point of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// Silence is allowed.
    pub silence: bool,
    /// Nanoseconds that count as silence.
    pub timeout: u64,
}

/// A response that the model allows although it is not the planned step. After the last step it is
/// what the system may still say, and the test has passed all the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    pub after: usize,
    pub label: LabelId,
    pub allowed: Allowed,
    /// How to go on; `None` is inconclusive.
    pub then: Option<Tree>,
}

/// The values of a response.
#[derive(Clone, Debug, PartialEq)]
pub enum Allowed {
    Values(Vec<Value>),
    /// Those that satisfy this condition on the label's parameters.
    Where(Expr),
}

/// What a test is for, so that branches can be planned on.
#[derive(Clone)]
pub struct Purpose<'a> {
    pub pattern: &'a Pattern,
    pub limits: Limits,
}

/// Grows trees for one model.
pub struct Grower {
    semantics: Semantics,
    budget: u64,
    interrupt: Interrupt,
}

impl Grower {
    /// Every question to the solver takes at most `budget` steps, and ends when interrupted.
    pub fn new(semantics: Semantics, budget: u64, interrupt: Interrupt) -> Grower {
        Grower {
            semantics,
            budget,
            interrupt,
        }
    }

    /// The tree of a planned test; `None` where the meaning of the model does not allow it, or where
    /// not all of its states are known: what such a set does not allow may be right all the same.
    pub fn grow(
        &mut self,
        plan: &[Action],
        purpose: Option<&Purpose<'_>>,
        rng: &mut dyn Rng,
    ) -> Option<Tree> {
        let start = self.semantics.initial();
        let mut left = MAX_PLANNED;
        self.from(start, &mut Vec::new(), plan, purpose, &mut left, rng)
    }

    /// The tree from a set on that `trace` led to.
    fn from(
        &mut self,
        start: SetId,
        trace: &mut Vec<Step>,
        plan: &[Action],
        purpose: Option<&Purpose<'_>>,
        left: &mut usize,
        rng: &mut dyn Rng,
    ) -> Option<Tree> {
        let sts = Arc::clone(self.semantics.sts());
        let mut tree = Tree {
            steps: Vec::new(),
            points: vec![self.point(start)],
            branches: Vec::new(),
        };
        let begun = trace.len();
        let mut set = start;
        for number in 0..=plan.len() {
            if self.semantics.set(set).truncated {
                trace.truncate(begun);
                return None;
            }
            let planned = plan.get(number);
            for (label, allowed) in self.responses(set) {
                let is_planned = planned.is_some_and(|action| {
                    action.label == label && allowed == Allowed::Values(action.values.clone())
                });
                if is_planned {
                    continue;
                }
                let then = match (&allowed, planned, purpose) {
                    (Allowed::Values(values), Some(_), Some(purpose)) if *left > 0 => {
                        *left -= 1;
                        let action = Action {
                            label,
                            values: values.clone(),
                        };
                        self.plan_on(set, trace, action, purpose, left, rng)
                    }
                    _ => None,
                };
                tree.branches.push(Branch {
                    after: number,
                    label,
                    allowed,
                    then,
                });
            }
            let Some(action) = planned else { break };
            let step = as_step(&sts, action.clone());
            let Some(next) = self.semantics.after(set, &step) else {
                trace.truncate(begun);
                return None;
            };
            set = next;
            trace.push(step.clone());
            tree.steps.push(step);
            tree.points.push(self.point(set));
        }
        trace.truncate(begun);
        Some(tree)
    }

    /// The tree after a response that was not planned, where the goal can still be reached.
    fn plan_on(
        &mut self,
        set: SetId,
        trace: &mut Vec<Step>,
        action: Action,
        purpose: &Purpose<'_>,
        left: &mut usize,
        rng: &mut dyn Rng,
    ) -> Option<Tree> {
        let sts = Arc::clone(self.semantics.sts());
        let step = Step::Response(action);
        let next = self.semantics.after(set, &step)?;
        let states = Arc::clone(self.semantics.set(next));
        trace.push(step);
        let pattern = purpose.pattern;
        let (budget, interrupt) = (self.budget, &self.interrupt);
        let mut follower = Follower::new(&sts, pattern.clone(), budget, interrupt, rng);
        follower.catch_up(&sts, trace, &states, rng);
        let plan = if follower.is_complete() {
            Some(Vec::new())
        } else {
            let starts: Vec<PatternState> = follower.beliefs().cloned().collect();
            let limits = Limits {
                steps: purpose.limits.steps.saturating_sub(trace.len() as u32),
                ..purpose.limits.clone()
            };
            let (way, _) = Search::new(&sts, pattern, limits).shortest(&starts, rng);
            way.map(|way| way.actions())
        };
        let grown = plan.and_then(|plan| {
            // Walked again by plain evaluation before it counts.
            for action in &plan {
                follower.take(&sts, action, rng);
            }
            let right = follower.is_complete();
            right.then(|| self.from(next, trace, &plan, Some(purpose), left, rng))?
        });
        trace.pop();
        grown
    }

    fn point(&mut self, set: SetId) -> Point {
        Point {
            silence: self.semantics.menu(set).silence,
            timeout: self.semantics.timeout(set),
        }
    }

    /// What the system may say in a set, the few possible values one by one.
    fn responses(&mut self, set: SetId) -> Vec<(LabelId, Allowed)> {
        let menu = self.semantics.menu(set);
        let states = Arc::clone(self.semantics.set(set));
        let sts = Arc::clone(self.semantics.sts());
        let effort = Effort::new(self.budget, &self.interrupt);
        let mut found = Vec::new();
        for offer in &menu.responses {
            let condition = condition(&sts, offer, &states.states);
            match few_values(&sts, offer.label, &condition, &effort) {
                Some(values) => found.extend(
                    values
                        .into_iter()
                        .map(|values| (offer.label, Allowed::Values(values))),
                ),
                None => found.push((offer.label, Allowed::Where(condition))),
            }
        }
        found
    }
}

pub(crate) fn as_step(sts: &Sts, action: Action) -> Step {
    match sts.label(action.label).direction {
        Direction::Stimulus => Step::Stimulus(action),
        Direction::Response | Direction::Internal => Step::Response(action),
    }
}

/// The condition on the parameters under which some state of the set sends the label.
fn condition(sts: &Sts, offer: &Offer, states: &[State]) -> Expr {
    let one = |offered: &ioco_sts::OfferedSwitch| {
        let state = &states[offered.state as usize];
        let guard = &sts.switch(offered.switch).enabled;
        guard.with_values(&state.valuation)
    };
    let all = offer.switches.iter().map(one);
    let all = all.reduce(|left, right| match left == right {
        true => left,
        false => Expr::binary(BinaryOp::Or, left, right),
    });
    all.unwrap_or(Expr::FALSE)
}

/// All values of a label's parameters that satisfy the condition, where they are few.
fn few_values(
    sts: &Sts,
    label: LabelId,
    condition: &Expr,
    effort: &Effort,
) -> Option<Vec<Vec<Value>>> {
    let parameters = &sts.label(label).parameters;
    if parameters.is_empty() {
        return Some(vec![Vec::new()]);
    }
    let mut solver = Embedded::new(sts.types(), sts.functions());
    for parameter in parameters {
        solver.void_unknown(&parameter.ty);
    }
    solver.assert(condition);
    let mut found: Vec<Vec<Value>> = Vec::new();
    loop {
        match effort.ask(|deadline| solver.model(deadline)) {
            Outcome::Unsat => return Some(found),
            Outcome::Sat(values) if found.len() < MAX_VALUES => {
                let differs = values.iter().enumerate().map(|(position, value)| {
                    let value = Expr::Const(value.clone());
                    Expr::binary(BinaryOp::Ne, Expr::Param(position as u32), value)
                });
                let differs = differs.reduce(|l, r| Expr::binary(BinaryOp::Or, l, r))?;
                solver.assert(&differs);
                found.push(values);
            }
            Outcome::Sat(_) | Outcome::Unknown(_) => return None,
        }
    }
}
