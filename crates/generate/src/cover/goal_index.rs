//! Goals by the places where they can be covered.

use std::collections::BTreeSet;
use std::rc::Rc;

use ioco_sts::{Env, Expr, LocationId, Sts, SwitchId, Value};
use rustc_hash::FxHashMap;

use super::conditions::{Where, condition, count, evaluating, holds, part};
use super::goal::Goal;
use super::instance::{Instance, Stepper};
use crate::moves::{Move, MoveId};

/// Which goals a move or a state may cover, and what it takes.
///
/// What a goal takes is put together only for a move that is asked for: a guard with many
/// conditions has as many goals, and each takes the whole guard.
pub(crate) struct GoalIndex<'a> {
    sts: &'a Sts,
    by_switch: Vec<Vec<Goal>>,
    by_location: Vec<Vec<Goal>>,
    /// Moves with what goals ask of them.
    asked: FxHashMap<(MoveId, Goal), Rc<Move>>,
}

impl<'a> GoalIndex<'a> {
    pub fn new(sts: &'a Sts, goals: &BTreeSet<Goal>) -> GoalIndex<'a> {
        let mut by_switch = vec![Vec::new(); sts.switches().len()];
        let mut by_location = vec![Vec::new(); sts.locations().len()];
        let mut evaluated: FxHashMap<SwitchId, (usize, Where)> = FxHashMap::default();
        for goal in goals {
            let (switch, number) = match *goal {
                Goal::Location(location) => {
                    by_location[location.index()].push(*goal);
                    continue;
                }
                Goal::Switch(switch) => {
                    by_switch[switch.index()].push(*goal);
                    continue;
                }
                Goal::Decision { switch, .. } => (switch, None),
                Goal::Condition { switch, number, .. }
                | Goal::Independent { switch, number, .. } => (switch, Some(number as usize)),
            };
            let (conditions, places) = evaluated
                .entry(switch)
                .or_insert_with(|| (count(&sts.switch(switch).guard), evaluating(sts, switch)));
            if number.is_some_and(|number| number >= *conditions) {
                continue;
            }
            match places {
                Where::At(location) => by_location[location.index()].push(*goal),
                Where::Taking(switches) => {
                    for id in switches {
                        by_switch[id.index()].push(*goal);
                    }
                }
            }
        }
        GoalIndex {
            sts,
            by_switch,
            by_location,
            asked: FxHashMap::default(),
        }
    }

    /// The open goals that a move may cover, from these locations.
    pub fn goals(&self, locations: &[LocationId], step: &Move, open: &BTreeSet<Goal>) -> Vec<Goal> {
        let mut found = Vec::new();
        for id in &step.switches {
            let taking = self.by_switch[id.index()].iter();
            found.extend(taking.filter(|g| open.contains(g)));
        }
        self.after(locations, step, &mut |location, entered| {
            let there = self.by_location[location.index()].iter();
            let there = there.filter(|goal| open.contains(goal));
            found.extend(there.filter(|goal| entered || self.changes(step, **goal)));
        });
        found
    }

    /// The move of the stepper as it must be made for a goal.
    pub fn asked(&mut self, stepper: &mut Stepper<'_>, step: &Rc<Move>, goal: Goal) -> Rc<Move> {
        if let Some(known) = self.asked.get(&(step.id, goal)) {
            return Rc::clone(known);
        }
        let mut switches = step.switches.iter();
        let taking = switches.any(|id| self.by_switch[id.index()].contains(&goal));
        let condition = condition(self.sts, goal).unwrap_or(Expr::TRUE);
        let condition = match taking || condition == Expr::TRUE {
            true => condition,
            false => self.before(step, &condition),
        };
        let asked = stepper.narrowed(step, &condition);
        self.asked.insert((step.id, goal), Rc::clone(&asked));
        asked
    }

    /// The open goals that a path with all its values covers; not all of them once `stop` says so.
    pub fn covered(
        &self,
        path: &Instance,
        open: &BTreeSet<Goal>,
        stop: &dyn Fn() -> bool,
    ) -> Vec<Goal> {
        let holds = |goal: Goal, variables: &[Value], parameters: &[Value]| {
            let env = Env {
                variables,
                parameters,
                functions: self.sts.functions(),
            };
            holds(self.sts, goal, env)
        };
        let mut found = BTreeSet::new();
        for state in &path.states {
            for location in &state.locations {
                for goal in &self.by_location[location.index()] {
                    if open.contains(goal)
                        && !found.contains(goal)
                        && !stop()
                        && holds(*goal, &state.valuation, &[])
                    {
                        found.insert(*goal);
                    }
                }
            }
        }
        for ((step, action), state) in path.steps.iter().zip(&path.states) {
            let parameters = action.as_ref().map_or(&[][..], |action| &action.values);
            for id in &step.switches {
                for goal in &self.by_switch[id.index()] {
                    if !open.contains(goal) || found.contains(goal) || stop() {
                        continue;
                    }
                    // What a hand-shake sent is not written down.
                    let known = action.is_some()
                        || part(self.sts, *goal).is_none_or(|expr| !expr.mentions_params());
                    if known && holds(*goal, &state.valuation, parameters) {
                        found.insert(*goal);
                    }
                }
            }
        }
        found.into_iter().collect()
    }

    /// Per location: whether switches of its process lead from it to an open goal, whatever the
    /// data.
    pub fn leads_to(&self, open: &BTreeSet<Goal>) -> Vec<bool> {
        let asks = |all: &[Goal]| all.iter().any(|goal| open.contains(goal));
        let at: Vec<bool> = self.by_location.iter().map(|all| asks(all)).collect();
        let taking: Vec<bool> = self.by_switch.iter().map(|all| asks(all)).collect();
        let mut leads: Vec<bool> = self
            .by_location
            .iter()
            .map(|all| {
                // What is said of variables may become true while the path stays.
                let mut values = all.iter().filter(|g| !matches!(g, Goal::Location(_)));
                values.any(|goal| open.contains(goal))
            })
            .collect();
        loop {
            let mut changed = false;
            for (index, switch) in self.sts.switches().iter().enumerate() {
                let target = switch.target.index();
                let reaches = leads[target] || taking[index] || at[target];
                if reaches && !leads[switch.source.index()] {
                    leads[switch.source.index()] = true;
                    changed = true;
                }
            }
            if !changed {
                return leads;
            }
        }
    }

    /// Calls with every location after a move, and whether the move enters it.
    fn after(
        &self,
        locations: &[LocationId],
        step: &Move,
        visit: &mut dyn FnMut(LocationId, bool),
    ) {
        for (index, location) in locations.iter().enumerate() {
            let mut switches = step.switches.iter().map(|id| self.sts.switch(*id));
            let moved = switches.find(|s| self.sts.location(s.source).process.index() == index);
            match moved {
                Some(switch) => visit(switch.target, true),
                None => visit(*location, false),
            }
        }
    }

    /// Whether a move assigns to a variable that decides whether a goal is covered.
    fn changes(&self, step: &Move, goal: Goal) -> bool {
        let read = part(self.sts, goal).map(Expr::vars).unwrap_or_default();
        let mut switches = step.switches.iter().map(|id| self.sts.switch(*id));
        switches.any(|s| s.update.iter().any(|a| read.contains(&a.variable)))
    }

    /// What must hold before a move for `expr` to hold after it.
    fn before(&self, step: &Move, expr: &Expr) -> Expr {
        expr.substitute(&|part| match part {
            Expr::Var(variable) => {
                let switches = step.switches.iter().map(|id| self.sts.switch(*id));
                // In a hand-shake, the last one to assign has its way.
                let assigned = switches
                    .flat_map(|switch| &switch.update)
                    .rfind(|assignment| assignment.variable == *variable);
                assigned.map(|a| a.value.clone())
            }
            _ => None,
        })
    }
}
