//! Proofs that a goal cannot be reached: by the structure of the model, by a guard that never
//! holds, and by the values that variables can have.
//!
//! The last is interval analysis with widening (Cousot and Cousot 1977). Every location gets a range of
//! values per variable that includes all that can occur there: beginning with the initial values, switches
//! carry ranges from location to location until nothing changes. The solver finds the limits, so that a
//! guard counts. In a network of processes there is one range per variable for all locations. What is left
//! is tried by weakest preconditions (see [`super::backward`]).

use std::collections::{BTreeMap, BTreeSet};

use ioco_solve::{Embedded, Outcome, Solver};
use ioco_sts::domain::{Domain, Values, numbered};
use ioco_sts::{
    Assignment, BinaryOp, Expr, LocationId, State, Sts, Switch, SwitchId, Type, Value, VarId,
};

use super::backward::Backward;
use super::conditions::{Target, targets};
use super::equations::equations;
use super::goal::{Goal, Reason};
use crate::feasible::Effort;
use crate::moves::is_contradictory;

/// Rounds after which a range that still grows is widened.
const ROUNDS_BEFORE_WIDENING: u32 = 4;
/// Rounds after which there is no proof.
const ROUNDS: u32 = 60;

/// The goals that are proved unreachable, until `stop` says that it is enough.
pub(crate) fn unreachable(
    sts: &Sts,
    goals: &BTreeSet<Goal>,
    seen: &BTreeMap<LocationId, Vec<State>>,
    effort: &Effort,
    calls: &mut u64,
    stop: &mut dyn FnMut() -> bool,
) -> Vec<(Goal, Reason)> {
    let mut proved = Vec::new();
    let structure = by_structure(sts);
    let source = |target: &Target| match target {
        Target::At(location, _) => *location,
        Target::Taking(switch, _) => sts.switch(*switch).source,
    };
    // Targets are put together for one goal at a time: each may be as large as a guard, and there
    // may be many.
    let mut left: Vec<Goal> = Vec::new();
    for goal in goals {
        let possible = || {
            let targets = targets(sts, *goal);
            let mut sources = targets.iter().map(source);
            sources.any(|location| structure[location.index()])
        };
        match stop() || possible() {
            true => left.push(*goal),
            false => proved.push((*goal, Reason::Structure)),
        }
    }
    let mut analysis = Analysis::new(sts, effort.clone());
    let anything: Vec<Domain> = sts
        .variables()
        .iter()
        .map(|v| Domain::of_type(&v.ty, sts.types()))
        .collect();
    left.retain(|goal| {
        let trivial = matches!(goal, Goal::Location(_));
        let mut never = || {
            let targets = targets(sts, *goal);
            targets.iter().all(|t| analysis.never(&anything, t))
        };
        let never = !trivial && !stop() && never();
        if never {
            let reason = match goal {
                Goal::Switch(_) => Reason::Guard,
                _ => Reason::Condition,
            };
            proved.push((*goal, reason));
        }
        !never
    });
    let found = match left.is_empty() || stop() {
        true => None,
        false => analysis.run(stop),
    };
    if let Some(found) = &found {
        left.retain(|goal| {
            let never = !stop()
                && targets(sts, *goal).iter().all(|target| {
                    let place = source(target);
                    match (&found.ranges.get(&analysis.slot(place)), target) {
                        _ if !found.reached[place.index()] => true,
                        (_, Target::At(_, expr)) if *expr == Expr::TRUE => false,
                        (_, Target::Taking(switch, expr)) if *expr == Expr::TRUE => {
                            !found.taken[switch.index()]
                        }
                        (Some(ranges), target) => analysis.never(ranges, target),
                        (None, _) => false,
                    }
                });
            if never {
                proved.push((*goal, Reason::Values));
            }
            !never
        });
    }
    if !left.is_empty() && !stop() && sts.processes().len() == 1 {
        let equations = equations(sts, seen);
        let found = found.as_ref();
        let mut back = Backward::new(sts, &mut analysis, found, &anything, &equations);
        for goal in left {
            if !stop() && targets(sts, goal).iter().all(|target| back.never(target)) {
                proved.push((goal, Reason::Before));
            }
        }
    }
    *calls += analysis.calls;
    proved
}

/// What values can be at most, wherever a switch begins: nothing is beyond it.
pub(crate) struct ReachableValues<'a> {
    analysis: Analysis<'a>,
    anything: Vec<Domain>,
    found: Option<Fixpoint>,
}

impl<'a> ReachableValues<'a> {
    pub fn new(
        sts: &'a Sts,
        effort: &Effort,
        stop: &mut dyn FnMut() -> bool,
    ) -> ReachableValues<'a> {
        let mut analysis = Analysis::new(sts, effort.clone());
        ReachableValues {
            found: analysis.run(stop),
            anything: sts
                .variables()
                .iter()
                .map(|v| Domain::of_type(&v.ty, sts.types()))
                .collect(),
            analysis,
        }
    }

    /// Whether the switch can never be taken.
    pub fn is_dead(&self, switch: SwitchId) -> bool {
        let found = self.found.as_ref();
        found.is_some_and(|found| !found.taken[switch.index()])
    }

    /// Whether the switch can never be taken such that `condition` holds before it.
    pub fn never(&mut self, switch: SwitchId, condition: &Expr) -> bool {
        let ranges = self.ranges(switch).to_vec();
        let target = Target::Taking(switch, condition.clone());
        self.analysis.never(&ranges, &target)
    }

    /// Whether the condition contradicts the guard, whatever the variables are.
    pub fn contradicts(&mut self, switch: SwitchId, condition: &Expr) -> bool {
        let target = Target::Taking(switch, condition.clone());
        self.analysis.never(&self.anything, &target)
    }

    /// A value that a parameter is never below, or never above.
    pub fn extreme(&mut self, id: SwitchId, position: u32, largest: bool) -> Option<Value> {
        let ranges = self.ranges(id);
        let switch = self.analysis.sts.switch(id);
        let mut solver = self.analysis.solver(ranges, self.analysis.types(switch));
        solver.assert(&self.analysis.renamed(&switch.enabled));
        let unknown = self.analysis.sts.variables().len() as u32 + position;
        self.analysis.calls += 1;
        let found = self.analysis.effort.ask(|deadline| match largest {
            true => solver.maximum(unknown, deadline),
            false => solver.minimum(unknown, deadline),
        });
        found.sat()
    }

    fn ranges(&self, switch: SwitchId) -> &[Domain] {
        let source = self.analysis.sts.switch(switch).source;
        let slot = self.analysis.slot(source);
        let found = self.found.as_ref().and_then(|f| f.ranges.get(&slot));
        found.map_or(&self.anything, Vec::as_slice)
    }
}

/// Which locations switches lead to, whatever the data.
fn by_structure(sts: &Sts) -> Vec<bool> {
    let mut reached = vec![false; sts.locations().len()];
    for process in sts.processes() {
        reached[process.initial.index()] = true;
    }
    loop {
        let mut changed = false;
        for switch in sts.switches() {
            if reached[switch.source.index()] && !reached[switch.target.index()] {
                reached[switch.target.index()] = true;
                changed = true;
            }
        }
        if !changed {
            return reached;
        }
    }
}

/// The integers that the model speaks of, and their neighbours: where ranges tend to end.
fn thresholds(sts: &Sts) -> BTreeSet<i64> {
    let mut found = BTreeSet::new();
    for switch in sts.switches() {
        let values = switch.update.iter().map(|assignment| &assignment.value);
        for expr in std::iter::once(&switch.enabled).chain(values) {
            expr.walk(&mut |part| {
                if let Expr::Const(Value::Int(number)) = part {
                    found.extend([number.saturating_sub(1), *number, number.saturating_add(1)]);
                }
            });
        }
    }
    found
}

/// The variables that a guard or an update reads.
fn read_by(switch: &Switch) -> BTreeSet<VarId> {
    let mut read = switch.enabled.vars();
    for assignment in &switch.update {
        read.extend(assignment.value.vars());
    }
    read
}

/// The ranges that a switch read, and all ranges after it where it could be taken.
type Effect = (Vec<Domain>, Option<Vec<Domain>>);

pub(super) struct Fixpoint {
    reached: Vec<bool>,
    pub taken: Vec<bool>,
    /// By [`Analysis::slot`] of a location.
    pub ranges: BTreeMap<usize, Vec<Domain>>,
}

pub(super) struct Analysis<'a> {
    sts: &'a Sts,
    pub effort: Effort,
    pub calls: u64,
    thresholds: BTreeSet<i64>,
}

impl<'a> Analysis<'a> {
    fn new(sts: &'a Sts, effort: Effort) -> Analysis<'a> {
        Analysis {
            sts,
            effort,
            calls: 0,
            thresholds: thresholds(sts),
        }
    }

    /// One process: ranges per location. Several: for all together.
    pub fn slot(&self, location: LocationId) -> usize {
        match self.sts.processes().len() {
            1 => location.index(),
            _ => 0,
        }
    }

    /// What can be reached, at least that; `None` where the ranges did not settle.
    fn run(&mut self, stop: &mut dyn FnMut() -> bool) -> Option<Fixpoint> {
        let sts = self.sts;
        let mut reached = vec![false; sts.locations().len()];
        let mut taken = vec![false; sts.switches().len()];
        let mut ranges: BTreeMap<usize, Vec<Domain>> = BTreeMap::new();
        let initial: Vec<Domain> = sts
            .variables()
            .iter()
            .map(|v| Domain::exactly(&v.initial))
            .collect();
        for process in sts.processes() {
            reached[process.initial.index()] = true;
            ranges.insert(self.slot(process.initial), initial.clone());
        }
        // The ranges that each switch was last taken with, and what it then assigned: asked again
        // only where a variable that it reads has changed.
        let mut done: Vec<Option<Vec<Domain>>> = vec![None; sts.switches().len()];
        let mut effects: Vec<Option<Effect>> = vec![None; sts.switches().len()];
        for round in 0..ROUNDS {
            let mut changed = false;
            for (index, switch) in sts.switches().iter().enumerate() {
                let Some(before) = ranges.get(&self.slot(switch.source)).cloned() else {
                    continue;
                };
                if !reached[switch.source.index()] || done[index].as_ref() == Some(&before) {
                    continue;
                }
                if stop() {
                    return None;
                }
                let read: Vec<Domain> = read_by(switch)
                    .iter()
                    .map(|variable| before[variable.index()].clone())
                    .collect();
                let after = match &effects[index] {
                    Some((same, None)) if *same == read => None,
                    Some((same, Some(known))) if *same == read => {
                        let mut after = before.clone();
                        for assignment in &switch.update {
                            let variable = assignment.variable.index();
                            after[variable] = known[variable].clone();
                        }
                        Some(after)
                    }
                    _ => {
                        let after = self.take(&before, switch);
                        effects[index] = Some((read, after.clone()));
                        after
                    }
                };
                done[index] = Some(before);
                changed = true;
                let Some(after) = after else { continue };
                taken[index] = true;
                reached[switch.target.index()] = true;
                let known = ranges.get(&self.slot(switch.target)).cloned();
                let joined = match known {
                    None => after,
                    Some(known) => known
                        .iter()
                        .zip(&after)
                        .zip(sts.variables())
                        .map(|((old, new), variable)| {
                            let joined = old.join(new);
                            match round >= ROUNDS_BEFORE_WIDENING {
                                true => self.widen(old, joined, &variable.ty),
                                false => joined,
                            }
                        })
                        .collect(),
                };
                ranges.insert(self.slot(switch.target), joined);
            }
            if !changed {
                return Some(Fixpoint {
                    reached,
                    taken,
                    ranges,
                });
            }
        }
        None
    }

    /// A limit that moved goes on to the next number of the model, or to the end of the type.
    fn widen(&self, old: &Domain, new: Domain, ty: &Type) -> Domain {
        let (Values::Int { min: a, max: b }, Values::Int { min, max }, Some(whole)) =
            (&old.values, &new.values, ty.int_range())
        else {
            return new;
        };
        let mut below = self.thresholds.range(..=min).rev();
        let mut above = self.thresholds.range(max..);
        let low = match min < a {
            true => *below.next().unwrap_or(&whole.min),
            false => *min,
        };
        let high = match max > b {
            true => *above.next().unwrap_or(&whole.max),
            false => *max,
        };
        Domain {
            values: Values::int(low.max(whole.min), high.min(whole.max)),
            void: new.void,
        }
    }

    /// Whether no values within these ranges will do.
    fn never(&mut self, ranges: &[Domain], target: &Target) -> bool {
        let (mut solver, expr) = match target {
            Target::At(_, expr) => (self.solver(ranges, []), expr),
            Target::Taking(id, expr) => {
                let switch = self.sts.switch(*id);
                if is_contradictory(&Expr::and(switch.enabled.clone(), expr.clone())) {
                    return true;
                }
                let mut solver = self.solver(ranges, self.types(switch));
                solver.assert(&self.renamed(&switch.enabled));
                (solver, expr)
            }
        };
        solver.assert(&self.renamed(expr));
        self.calls += 1;
        self.effort
            .ask(|deadline| solver.check(deadline))
            .is_unsat()
    }

    /// The types of the parameters of a switch.
    pub fn types(&self, switch: &Switch) -> impl Iterator<Item = &'a Type> + use<'a> {
        let label = switch.gate.label();
        let parameters = label.map_or(&[][..], |label| &self.sts.label(label).parameters);
        parameters.iter().map(|parameter| &parameter.ty)
    }

    /// A solver that knows the ranges of the variables, which come first, and has unknowns for the
    /// parameters.
    pub fn solver<'t>(
        &self,
        ranges: &[Domain],
        parameters: impl IntoIterator<Item = &'t Type>,
    ) -> Embedded {
        let sts = self.sts;
        let mut solver = Embedded::new(sts.types(), sts.functions());
        for (range, variable) in ranges.iter().zip(sts.variables()) {
            solver.unknown_in(&variable.ty, range.clone());
        }
        for parameter in parameters {
            solver.void_unknown(parameter);
        }
        solver
    }

    /// The ranges after a switch; `None` when it cannot be taken.
    fn take(&mut self, before: &[Domain], switch: &Switch) -> Option<Vec<Domain>> {
        let mut solver = self.solver(before, self.types(switch));
        solver.assert(&self.renamed(&switch.enabled));
        self.calls += 1;
        if self
            .effort
            .ask(|deadline| solver.check(deadline))
            .is_unsat()
        {
            return None;
        }
        let mut after = before.to_vec();
        for assignment in &switch.update {
            let assigned = self.assigned(before, assignment, &mut solver);
            // No value at all: the guard was too hard, and still nothing comes of it. Ranges are never
            // empty, so that what a switch does depends on the variables that it reads alone.
            if assigned.is_empty() {
                return None;
            }
            after[assignment.variable.index()] = assigned;
        }
        Some(after)
    }

    /// Variables come first among the unknowns, then parameters.
    pub fn renamed(&self, expr: &Expr) -> Expr {
        numbered(expr, self.sts.variables().len())
    }

    fn assigned(
        &mut self,
        before: &[Domain],
        assignment: &Assignment,
        solver: &mut Embedded,
    ) -> Domain {
        let ty = &self.sts.variable(assignment.variable).ty;
        match &assignment.value {
            Expr::Const(value) => return Domain::exactly(value),
            Expr::Var(VarId(index)) => return before[*index as usize].clone(),
            _ => {}
        }
        let whole = Domain::of_type(ty, self.sts.types());
        if !matches!(ty, Type::Int(_) | Type::Bool | Type::Enum(_)) {
            return whole;
        }
        solver.push();
        let result = solver.void_unknown(ty);
        let unknown = Expr::Param(result);
        let value = self.renamed(&assignment.value);
        solver.assert(&Expr::binary(BinaryOp::Eq, unknown.clone(), value));
        self.calls += 3;
        let low = self.effort.ask(|deadline| solver.minimum(result, deadline));
        let high = self.effort.ask(|deadline| solver.maximum(result, deadline));
        let unset = Expr::binary(BinaryOp::Eq, unknown, Expr::Const(Value::Void));
        solver.assert(&unset);
        let void = !self
            .effort
            .ask(|deadline| solver.check(deadline))
            .is_unsat();
        solver.pop();
        let values = match (low, high) {
            (Outcome::Unsat, _) | (_, Outcome::Unsat) => Values::None,
            (Outcome::Sat(low), Outcome::Sat(high)) => {
                Values::exactly(&low).join(&Values::exactly(&high))
            }
            _ => whole.values,
        };
        Domain { values, void }
    }
}
