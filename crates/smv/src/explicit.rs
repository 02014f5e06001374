//! Explicit enumeration of small models: slow, obvious, and the reference for every clever engine.
//! It uses only the interpreter.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::eval::{Evaluator, Memo, State};
use crate::expr::{ExprId, VarId};
use crate::model::{Model, VarKind};
use crate::value::Value;

/// All reachable states, each with the state (and inputs) it was first reached from.
#[derive(Clone, Debug)]
pub struct Reachable {
    states: Vec<State>,
    parent: Vec<Option<(usize, State)>>,
    /// Every step, with its inputs in the source state; kept when steps were asked for.
    steps: Vec<(State, usize)>,
    /// The first state without any step, as a position.
    dead_end: Option<usize>,
}

/// How much to enumerate before giving up.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub states: usize,
    /// Candidate values tried, over all states.
    pub work: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            states: 20_000,
            work: 20_000_000,
        }
    }
}

/// What a person should know of a model before its tests: it cannot start, or it can get stuck. Looks at models only
/// that are small enough to be enumerated at once.
pub fn remarks(model: &Model) -> Vec<String> {
    let limits = Limits {
        states: 2000,
        work: 100_000,
    };
    let Some(reach) = reachable(model, limits) else {
        return Vec::new();
    };
    if reach.is_empty() {
        return vec!["the model has no initial state, so no goal can be reached".to_owned()];
    }
    let stuck = reach.dead_end().map(|state| {
        let values: Vec<String> = model
            .var_ids()
            .filter(|var| model.var(*var).kind != VarKind::Input)
            .map(|var| format!("{} = {}", model.var(var).name, model.value_of(state, var)))
            .collect();
        format!(
            "the relation blocks: no step leads on from the reachable state {}; tests may end there",
            values.join(", ")
        )
    });
    stuck.into_iter().collect()
}

/// Enumerates the reachable states, or gives up beyond the limits.
pub fn reachable(model: &Model, limits: Limits) -> Option<Reachable> {
    crate::stack::with_room(|| enumerate(model, limits))
}

fn enumerate(model: &Model, limits: Limits) -> Option<Reachable> {
    let mut search = Search::new(model, limits);
    let mut result = Reachable {
        states: Vec::new(),
        parent: Vec::new(),
        steps: Vec::new(),
        dead_end: None,
    };
    let mut index: FxHashMap<State, usize> = FxHashMap::default();
    let mut open = VecDeque::new();
    for state in search.initial()? {
        if !index.contains_key(&state) {
            index.insert(state.clone(), result.states.len());
            open.push_back(result.states.len());
            result.states.push(state);
            result.parent.push(None);
        }
    }
    while let Some(at) = open.pop_front() {
        let source = result.states[at].clone();
        let successors = search.successors(&source)?;
        if successors.is_empty() {
            result.dead_end.get_or_insert(at);
        }
        for (from, to) in successors {
            let target = match index.get(&to) {
                Some(known) => *known,
                None => {
                    if result.states.len() >= limits.states {
                        return None;
                    }
                    let new = result.states.len();
                    index.insert(to.clone(), new);
                    result.states.push(to);
                    result.parent.push(Some((at, from.clone())));
                    open.push_back(new);
                    new
                }
            };
            if result.steps.len() >= limits.states * 50 {
                return None;
            }
            result.steps.push((from, target));
        }
    }
    Some(result)
}

impl Reachable {
    pub fn len(&self) -> usize {
        self.states.len()
    }

    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// The nearest state from which the model cannot go on.
    pub fn dead_end(&self) -> Option<&State> {
        self.dead_end.map(|at| &self.states[at])
    }

    /// The shortest run to a goal, as the number of its steps.
    pub fn distance(&self, model: &Model, goal: ExprId, transition: bool) -> Option<usize> {
        let depth = |mut at: usize| {
            let mut steps = 0;
            while let Some((parent, _)) = &self.parent[at] {
                at = *parent;
                steps += 1;
            }
            steps
        };
        let mut memo = Memo::default();
        if transition {
            return self
                .steps
                .iter()
                .filter(|(from, to)| {
                    Evaluator::new(&model.exprs, from, Some(&self.states[*to]), &mut memo)
                        .holds(goal)
                })
                .map(|(_, to)| depth(*to))
                .min();
        }
        // States are in breadth-first order.
        (0..self.states.len())
            .find(|at| Evaluator::new(&model.exprs, &self.states[*at], None, &mut memo).holds(goal))
            .map(depth)
    }
}

/// What must hold as soon as enough variables have values.
enum Check {
    Holds(ExprId),
    Assigned(VarId, ExprId),
}

struct Search<'m> {
    model: &'m Model,
    work: usize,
    memo: Memo,
}

impl<'m> Search<'m> {
    fn new(model: &'m Model, limits: Limits) -> Self {
        Self {
            model,
            work: limits.work,
            memo: Memo::default(),
        }
    }

    fn blank(&self) -> State {
        self.model
            .vars
            .iter()
            .map(|var| var.domain.value(0))
            .collect()
    }

    fn initial(&mut self) -> Option<Vec<State>> {
        let model = self.model;
        let vars: Vec<VarId> = model
            .var_ids()
            .filter(|var| model.var(*var).kind != VarKind::Input)
            .collect();
        let mut checks = Vec::new();
        for var in &vars {
            let entry = model.var(*var);
            checks.extend(
                entry
                    .init
                    .into_iter()
                    .chain(entry.always)
                    .map(|value| Check::Assigned(*var, value)),
            );
        }
        checks.extend(
            model
                .init
                .iter()
                .chain(&model.invar)
                .map(|constraint| Check::Holds(constraint.expr)),
        );
        let plan = self.plan(&vars, checks, false);
        let mut found = Vec::new();
        let mut state = self.blank();
        self.fill(&plan, 0, &mut state, None, &mut found)?;
        Some(found)
    }

    fn successors(&mut self, source: &State) -> Option<Vec<(State, State)>> {
        let model = self.model;
        let inputs: Vec<VarId> = model
            .var_ids()
            .filter(|var| model.var(*var).kind == VarKind::Input)
            .collect();
        let states: Vec<VarId> = model
            .var_ids()
            .filter(|var| model.var(*var).kind != VarKind::Input)
            .collect();
        let mut sources = Vec::new();
        let input_plan = self.plan(&inputs, Vec::new(), false);
        self.fill(&input_plan, 0, &mut source.clone(), None, &mut sources)?;
        let mut checks_of = Vec::new();
        for var in &states {
            let entry = model.var(*var);
            checks_of.extend(entry.next.map(|value| Check::Assigned(*var, value)));
        }
        checks_of.extend(
            model
                .trans
                .iter()
                .map(|constraint| Check::Holds(constraint.expr)),
        );
        let plan = self.plan(&states, checks_of, true);
        let mut all = Vec::new();
        for from in sources {
            let mut found = Vec::new();
            let mut next = self.blank();
            self.fill(&plan, 0, &mut next, Some(&from), &mut found)?;
            all.extend(found.into_iter().map(|to| (from.clone(), to)));
        }
        Some(all)
    }

    /// Orders the variables so that assignments come after what they read, and hangs every check where its last variable is.
    fn plan(&self, vars: &[VarId], checks: Vec<Check>, step: bool) -> Vec<(VarId, Vec<Check>)> {
        let needs = |check: &Check| -> Vec<VarId> {
            let expr = match check {
                Check::Holds(expr) | Check::Assigned(_, expr) => *expr,
            };
            let (current, next) = self.model.exprs.variables(expr);
            let mut needed = if step { next } else { current };
            if let Check::Assigned(var, _) = check {
                needed.push(*var);
            }
            needed
        };
        let mut order: Vec<VarId> = Vec::new();
        let mut left: Vec<VarId> = vars.to_vec();
        while !left.is_empty() {
            let ready = left.iter().position(|var| {
                checks.iter().all(|check| match check {
                    Check::Assigned(target, _) if target == var => {
                        needs(check).iter().all(|needed| {
                            needed == var || order.contains(needed) || !vars.contains(needed)
                        })
                    }
                    _ => true,
                })
            });
            order.push(left.remove(ready.unwrap_or(0)));
        }
        let mut plan: Vec<(VarId, Vec<Check>)> =
            order.into_iter().map(|var| (var, Vec::new())).collect();
        let mut loose = Vec::new();
        for check in checks {
            let needed = needs(&check);
            match plan.iter().rposition(|(var, _)| needed.contains(var)) {
                Some(at) => plan[at].1.push(check),
                None => loose.push(check),
            }
        }
        if let Some((_, first)) = plan.first_mut() {
            first.extend(loose);
        }
        plan
    }

    fn fill(
        &mut self,
        plan: &[(VarId, Vec<Check>)],
        at: usize,
        state: &mut State,
        source: Option<&State>,
        found: &mut Vec<State>,
    ) -> Option<()> {
        let Some((var, checks)) = plan.get(at) else {
            let model = self.model;
            let complete = match source {
                Some(source) => model.check_step(source, state, &mut self.memo).is_ok(),
                None => true,
            };
            if complete {
                found.push(state.clone());
            }
            return Some(());
        };
        let assigned = checks.iter().find_map(|check| match check {
            Check::Assigned(target, value) if target == var => Some(*value),
            _ => None,
        });
        let candidates: Vec<Value> = match assigned {
            Some(value) => {
                let mut evaluator = evaluator(self.model, source, state, &mut self.memo);
                let candidates = evaluator.values(value).to_vec();
                if evaluator.is_crowded() {
                    return None;
                }
                candidates
            }
            None if self.model.var(*var).domain.len() > self.work as u64 => return None,
            None => self.model.var(*var).domain.values().collect(),
        };
        for candidate in candidates {
            self.work = self.work.checked_sub(1)?;
            if !self.model.var(*var).domain.contains(candidate) {
                continue;
            }
            state[var.index()] = candidate;
            let fits = {
                let mut evaluator = evaluator(self.model, source, state, &mut self.memo);
                let fits = checks.iter().all(|check| match check {
                    Check::Holds(expr) => evaluator.holds(*expr),
                    Check::Assigned(target, value) => {
                        evaluator.may_be(*value, state[target.index()])
                    }
                });
                if evaluator.is_crowded() {
                    return None;
                }
                fits
            };
            if fits {
                self.fill(plan, at + 1, state, source, found)?;
            }
        }
        state[var.index()] = self.model.var(*var).domain.value(0);
        Some(())
    }
}

/// Over the step from a state, or over a first state.
fn evaluator<'e>(
    model: &'e Model,
    source: Option<&'e State>,
    state: &'e State,
    memo: &'e mut Memo,
) -> Evaluator<'e> {
    match source {
        Some(source) => Evaluator::new(&model.exprs, source, Some(state), memo),
        None => Evaluator::new(&model.exprs, state, None, memo),
    }
}
