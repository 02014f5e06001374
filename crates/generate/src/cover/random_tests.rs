//! Random tests, and ways that lead on from their ends to the nearest open goals.

use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

use ioco_solve::{Embedded, Outcome};
use ioco_sts::{Action, Expr, LocationId, State, SwitchId};
use rand::seq::SliceRandom as _;

use super::{Cover, CoverObserver, Goal, Instance};
use crate::feasible::{Feasible, MAX_SIZE, assert_extension, find_witness, own_values};
use crate::moves::{Move, target};
use crate::symbolic::Symbolic;

/// A way from a place on a path to an uncovered goal.
pub(super) struct Plan {
    /// The locations where it begins.
    from: Box<[LocationId]>,
    /// The last move is as the goal asks for it.
    pub(super) route: Vec<Rc<Move>>,
    pub(super) tried: Tried,
}

/// Where a way has come to, and its moves.
type QueuedRoute = (Box<[LocationId]>, Vec<Rc<Move>>);

/// What is counted as tried: the first move of a way; where goals differ in values only, for each
/// goal apart.
pub(super) type Tried = (Vec<SwitchId>, Option<Goal>);

fn tried(first: &Move, goal: Goal) -> Tried {
    let apart = !matches!(goal, Goal::Location(_) | Goal::Switch(_));
    (first.switches.clone(), apart.then_some(goal))
}

impl Cover<'_> {
    pub(super) fn replay(&mut self, actions: &[Action]) -> Vec<Instance> {
        let mut paths = self.stepper.start(self.rng);
        for action in actions {
            let longer = self.stepper.process(&paths, action, self.rng);
            if longer.is_empty() {
                break;
            }
            paths = longer;
        }
        paths
    }

    /// Algorithm 4, until nothing can be done or nothing new is seen any more.
    pub(super) fn random_test(&mut self) -> Vec<Instance> {
        let mut paths = self.stepper.start(self.rng);
        let mut seen: BTreeSet<LocationId> = BTreeSet::new();
        let patience = self.stepper.sts.locations().len().clamp(4, 50);
        let mut idle = 0;
        while idle < patience {
            let visited = paths.iter().flat_map(|p| p.states.iter());
            let before = seen.len();
            seen.extend(visited.flat_map(|s| s.locations.iter().copied()));
            idle = if seen.len() > before { 0 } else { idle + 1 };
            let Some(action) = self.random_action(&paths) else {
                break;
            };
            paths = self.stepper.process(&paths, &action, self.rng);
        }
        paths
    }

    pub(super) fn random_action(&mut self, paths: &[Instance]) -> Option<Action> {
        let mut order: Vec<&Instance> = paths.iter().collect();
        order.shuffle(self.rng);
        for path in order {
            let mut moves = self.stepper.moves_from(&path.end().locations).to_vec();
            moves.shuffle(self.rng);
            for step in moves.iter().filter(|step| step.observable) {
                let (sts, effort) = (self.stepper.sts, self.limits.effort());
                let values = own_values(sts, step, &path.end().valuation, self.rng, &effort);
                if let Outcome::Sat(values) = values {
                    return step.action(&values);
                }
            }
        }
        None
    }

    /// The way to the uncovered goal that is nearest to a place on the paths, tries counted as
    /// distance.
    pub(super) fn nearest(&mut self, paths: &[Instance]) -> Option<Plan> {
        let states = || paths.iter().flat_map(|p| p.states.iter());
        let visited: BTreeSet<LocationId> = states().flat_map(|s| s.locations.to_vec()).collect();
        let taken: BTreeSet<SwitchId> = paths
            .iter()
            .flat_map(|p| p.steps.iter().flat_map(|(step, _)| step.switches.clone()))
            .collect();
        let wants_switches = self.open.iter().any(|g| matches!(g, Goal::Switch(_)));
        // A step that was taken may still be wanted with other values.
        let wants_values = self
            .open
            .iter()
            .any(|g| !matches!(g, Goal::Location(_) | Goal::Switch(_)));
        let mut best = self.stepper.sts.locations().len() as u32 + 1;
        let mut plan = None;
        let mut examined: BTreeSet<Box<[LocationId]>> = BTreeSet::new();
        for path in paths {
            for state in path.states.iter().rev() {
                if !examined.insert(state.locations.clone()) {
                    continue;
                }
                for step in self.stepper.moves_from(&state.locations).iter() {
                    let occurs = step.switches.iter().all(|id| {
                        let target = self.stepper.sts.switch(*id).target;
                        (!wants_switches && visited.contains(&target))
                            || (wants_switches && taken.contains(id))
                    });
                    if occurs && !wants_values {
                        continue;
                    }
                    if let Some((cost, found)) = self.route(&state.locations, step, best) {
                        best = cost;
                        plan = Some(found);
                    }
                    if best == 0 {
                        return plan;
                    }
                }
            }
        }
        plan
    }

    /// The way to an uncovered goal that begins with `first` and costs the least, less than
    /// `limit`: the moves after the first, and how often it was tried (Algorithm 6).
    pub(super) fn route(
        &mut self,
        from: &[LocationId],
        first: &Rc<Move>,
        limit: u32,
    ) -> Option<(u32, Plan)> {
        let sts = self.stepper.sts;
        let mut best = limit;
        let mut plan = None;
        let mut searched: BTreeSet<Box<[LocationId]>> = BTreeSet::new();
        let mut queue: VecDeque<QueuedRoute> = VecDeque::new();
        let mut next = Some((Box::from(from), Vec::new()));
        while let Some((locations, route)) = next.take().or_else(|| queue.pop_front()) {
            // One move more would not be an improvement.
            if route.len() as u32 >= best {
                break;
            }
            let moves = match route.is_empty() {
                true => Rc::from([Rc::clone(first)]),
                false => self.stepper.moves_from(&locations),
            };
            for step in moves.iter() {
                for goal in self.goal_index.goals(&locations, step, &self.open) {
                    let tried = tried(first, goal);
                    let tries = self.tries.get(&tried).copied().unwrap_or(0);
                    let cost = route.len() as u32 + tries;
                    if cost < best {
                        best = cost;
                        let mut route = route.clone();
                        route.push(self.goal_index.asked(&mut self.stepper, step, goal));
                        plan = Some(Plan {
                            from: from.into(),
                            route,
                            tried,
                        });
                    }
                }
                if best == route.len() as u32 {
                    break;
                }
                let there = target(sts, &locations, step);
                if searched.insert(there.clone()) {
                    let mut longer = route.clone();
                    longer.push(Rc::clone(step));
                    queue.push_back((there, longer));
                }
            }
        }
        plan.map(|plan| (best, plan))
    }

    /// Algorithm 7: a test that follows one of the paths and then the plan. With every failure one
    /// step more of every path is left open.
    pub(super) fn follow(
        &mut self,
        paths: &[Instance],
        plan: &Plan,
        watch: &mut dyn CoverObserver,
    ) -> Option<Vec<Instance>> {
        struct Front<'p> {
            path: &'p Instance,
            /// Where the plan begins.
            end: usize,
            /// Up to here the values of the path are kept.
            kept: usize,
        }
        let mut fronts: Vec<Front<'_>> = Vec::new();
        for path in paths {
            for (position, state) in path.states.iter().enumerate() {
                // Paths of one test often begin in the same way.
                let known = fronts.iter().any(|front| {
                    front.end == position && front.path.steps[..position] == path.steps[..position]
                });
                if state.locations == plan.from && !known {
                    fronts.push(Front {
                        path,
                        end: position,
                        kept: position,
                    });
                }
            }
        }
        let undecided = self.undecided;
        while !fronts.is_empty() && !watch.stop() {
            for front in &mut fronts {
                // What is too hard with few values open does not get easier with more.
                if self.undecided > undecided + 1 {
                    return None;
                }
                let state = &front.path.states[front.kept];
                let again = front.path.steps[front.kept..front.end].iter();
                let route: Vec<Rc<Move>> = again
                    .map(|(step, _)| Rc::clone(step))
                    .chain(plan.route.iter().cloned())
                    .collect();
                let witness = self.solve(state, &route);
                watch.propagated(&state.locations, witness.is_some());
                if let Some(witness) = witness {
                    let steps = &front.path.steps[..front.kept];
                    let states = &front.path.states[..=front.kept];
                    let path = self.instantiate(steps, states, &route, &witness)?;
                    let mut paths = self.replay(&path.actions());
                    if !paths.contains(&path) {
                        paths.insert(0, path);
                    }
                    return Some(paths);
                }
            }
            fronts.retain(|front| front.kept > 0);
            for front in &mut fronts {
                front.kept -= 1;
            }
        }
        None
    }

    /// Values for a route from a known state.
    pub(super) fn solve(
        &mut self,
        state: &State,
        route: &[Rc<Move>],
    ) -> Option<Vec<ioco_sts::Value>> {
        self.calls += 1;
        let sts = self.stepper.sts;
        let mut symbolic = Symbolic::known(state);
        let mut solver = Embedded::new(sts.types(), sts.functions());
        let mut size = 0;
        for step in route {
            let extension = symbolic.extend(sts, step);
            size += extension.size();
            if extension.condition == Expr::FALSE
                || size > MAX_SIZE
                || extension.is_larger(MAX_SIZE)
            {
                return None;
            }
            assert_extension(&mut solver, &extension);
            symbolic = extension.state;
        }
        let steps = route.iter().map(|step| &**step);
        let effort = self.limits.effort().fair(size);
        let found = find_witness(&mut solver, steps, self.rng, &effort);
        self.undecided += u32::from(matches!(found, Feasible::Undecided));
        found.witness(&[])
    }
}
