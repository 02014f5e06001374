//! Goals by the places where they can be covered.

use std::collections::BTreeSet;
use std::rc::Rc;

use ioco_sts::{Env, Expr, LocationId, Sts, SwitchId, Value};
use rustc_hash::FxHashMap;

use super::conditions::{Target, targets};
use super::goal::Goal;
use super::instance::Instance;
use crate::moves::Move;

/// Which goals a move or a state may cover, and what it takes.
pub(crate) struct Aims<'a> {
    sts: &'a Sts,
    by_switch: Vec<Vec<(Goal, Expr)>>,
    by_location: Vec<Vec<(Goal, Expr)>>,
    /// Moves with what goals ask of them. Keyed by address: the plain move is kept alive by its
    /// variant.
    asked: FxHashMap<(*const Move, Goal), Rc<Move>>,
}

impl<'a> Aims<'a> {
    pub fn new(sts: &'a Sts, goals: &BTreeSet<Goal>) -> Aims<'a> {
        let mut by_switch = vec![Vec::new(); sts.switches().len()];
        let mut by_location = vec![Vec::new(); sts.locations().len()];
        for goal in goals {
            for target in targets(sts, *goal) {
                match target {
                    Target::At(location, expr) => by_location[location.index()].push((*goal, expr)),
                    Target::Taking(switch, expr) => by_switch[switch.index()].push((*goal, expr)),
                }
            }
        }
        Aims {
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
            found.extend(taking.map(|(goal, _)| *goal).filter(|g| open.contains(g)));
        }
        self.after(locations, step, &mut |location, entered| {
            let there = self.by_location[location.index()].iter();
            let there = there.filter(|(_, expr)| entered || self.changes(step, expr));
            found.extend(there.map(|(goal, _)| *goal).filter(|g| open.contains(g)));
        });
        found
    }

    /// The move as it must be made for a goal.
    pub fn asked(&mut self, step: &Rc<Move>, goal: Goal) -> Rc<Move> {
        if let Some(known) = self.asked.get(&(Rc::as_ptr(step), goal)) {
            return Rc::clone(known);
        }
        let taking = step.switches.iter().find_map(|id| {
            let mut all = self.by_switch[id.index()].iter();
            all.find(|(other, _)| *other == goal)
                .map(|(_, e)| e.clone())
        });
        let condition = taking.unwrap_or_else(|| {
            let mut all = self.by_location.iter().flatten();
            let there = all.find(|(other, _)| *other == goal);
            there.map_or(Expr::TRUE, |(_, expr)| self.before(step, expr))
        });
        let asked = match condition == Expr::TRUE {
            true => Rc::clone(step),
            false => Rc::new(Move::on_condition(self.sts, step, &condition)),
        };
        let key = (Rc::as_ptr(step), goal);
        self.asked.insert(key, Rc::clone(&asked));
        asked
    }

    /// The open goals that a path with all its values covers.
    pub fn covered(&self, path: &Instance, open: &BTreeSet<Goal>) -> Vec<Goal> {
        let holds = |expr: &Expr, variables: &[Value], parameters: &[Value]| {
            let env = Env {
                variables,
                parameters,
                functions: self.sts.functions(),
            };
            *expr == Expr::TRUE || expr.holds(env) == Ok(true)
        };
        let mut found = BTreeSet::new();
        for state in &path.states {
            for location in &state.locations {
                for (goal, expr) in &self.by_location[location.index()] {
                    if open.contains(goal) && holds(expr, &state.valuation, &[]) {
                        found.insert(*goal);
                    }
                }
            }
        }
        for ((step, action), state) in path.steps.iter().zip(&path.states) {
            let parameters = action.as_ref().map_or(&[][..], |action| &action.values);
            for id in &step.switches {
                for (goal, expr) in &self.by_switch[id.index()] {
                    // What a hand-shake sent is not written down.
                    let known = action.is_some() || !expr.mentions_params();
                    if known && open.contains(goal) && holds(expr, &state.valuation, parameters) {
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
        let asks = |all: &[(Goal, Expr)]| all.iter().any(|(goal, _)| open.contains(goal));
        let mut leads: Vec<bool> = self
            .by_location
            .iter()
            .map(|all| {
                // What is said of variables may become true while the path stays.
                let mut values = all.iter().filter(|(_, expr)| *expr != Expr::TRUE);
                values.any(|(goal, _)| open.contains(goal))
            })
            .collect();
        loop {
            let mut changed = false;
            for (index, switch) in self.sts.switches().iter().enumerate() {
                let reaches = leads[switch.target.index()]
                    || asks(&self.by_switch[SwitchId::from_index(index).index()])
                    || asks(&self.by_location[switch.target.index()]);
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

    /// Whether a move assigns to a variable of an expression.
    fn changes(&self, step: &Move, expr: &Expr) -> bool {
        let read = expr.vars();
        let mut switches = step.switches.iter().map(|id| self.sts.switch(*id));
        switches.any(|s| s.update.iter().any(|a| read.contains(&a.variable)))
    }

    /// What must hold before a move for `expr` to hold after it.
    fn before(&self, step: &Move, expr: &Expr) -> Expr {
        match expr {
            Expr::Var(variable) => {
                let switches = step.switches.iter().map(|id| self.sts.switch(*id));
                // In a hand-shake, the last one to assign has its way.
                let assigned = switches
                    .flat_map(|switch| &switch.update)
                    .rfind(|assignment| assignment.variable == *variable);
                assigned.map_or_else(|| expr.clone(), |a| a.value.clone())
            }
            _ => expr.map_children(|child| self.before(step, child)),
        }
    }
}
