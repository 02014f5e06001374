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
const PATIENCE: u32 = 4;
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
    let anything: Vec<Range> = sts.variables().iter().map(|v| Range::all(&v.ty)).collect();
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
    anything: Vec<Range>,
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
            anything: sts.variables().iter().map(|v| Range::all(&v.ty)).collect(),
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

    fn ranges(&self, switch: SwitchId) -> &[Range] {
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

/// The values that a variable may have, at least those.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Range {
    /// Any.
    All,
    Between {
        void: bool,
        /// Of the number, of `false` and `true`, or of the position of an enum's member.
        limits: Option<(i64, i64)>,
    },
}

impl Range {
    fn all(ty: &Type) -> Range {
        match ty {
            Type::Int(range) => Range::Between {
                void: true,
                limits: Some((range.min, range.max)),
            },
            _ => Range::All,
        }
    }

    fn only(value: &Value) -> Range {
        match value {
            Value::Void => Range::Between {
                void: true,
                limits: None,
            },
            _ => match number(value) {
                Some(number) => Range::Between {
                    void: false,
                    limits: Some((number, number)),
                },
                None => Range::All,
            },
        }
    }

    fn is_empty(&self) -> bool {
        matches!(
            self,
            Range::Between {
                void: false,
                limits: None,
            }
        )
    }

    fn join(&self, other: &Range) -> Range {
        let (
            Range::Between { void, limits },
            Range::Between {
                void: or_void,
                limits: or_limits,
            },
        ) = (self, other)
        else {
            return Range::All;
        };
        let limits = match (limits, or_limits) {
            (Some((a, b)), Some((c, d))) => Some((*a.min(c), *b.max(d))),
            (one, None) => *one,
            (None, other) => *other,
        };
        Range::Between {
            void: *void || *or_void,
            limits,
        }
    }

    /// This range as a condition on an unknown of type `ty`.
    fn condition(&self, unknown: u32, ty: &Type) -> Expr {
        let Range::Between { void, limits } = self else {
            return Expr::TRUE;
        };
        let unknown = Expr::Param(unknown);
        let compare = |op, number| {
            let limit = Expr::Const(value(number, ty));
            Expr::binary(op, unknown.clone(), limit)
        };
        let unset = Expr::binary(BinaryOp::Eq, unknown.clone(), Expr::Const(Value::Void));
        let within = limits.map(|(low, high)| match ty {
            Type::Bool if low == high => compare(BinaryOp::Eq, low),
            Type::Bool => Expr::binary(BinaryOp::Ne, unknown.clone(), Expr::Const(Value::Void)),
            _ => Expr::and(compare(BinaryOp::Ge, low), compare(BinaryOp::Le, high)),
        });
        match (void, within) {
            (true, Some(within)) => Expr::binary(BinaryOp::Or, unset, within),
            (true, None) => unset,
            (false, Some(within)) => within,
            (false, None) => Expr::FALSE,
        }
    }
}

fn number(value: &Value) -> Option<i64> {
    match value {
        Value::Int(number) => Some(*number),
        Value::Bool(value) => Some(i64::from(*value)),
        Value::Enum(_, member) => Some(i64::from(*member)),
        _ => None,
    }
}

fn value(number: i64, ty: &Type) -> Value {
    match ty {
        Type::Bool => Value::Bool(number != 0),
        Type::Enum(id) => Value::Enum(*id, number as u32),
        _ => Value::Int(number),
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
type Effect = (Vec<Range>, Option<Vec<Range>>);

pub(super) struct Fixpoint {
    reached: Vec<bool>,
    pub taken: Vec<bool>,
    /// By [`Analysis::slot`] of a location.
    pub ranges: BTreeMap<usize, Vec<Range>>,
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
        let mut ranges: BTreeMap<usize, Vec<Range>> = BTreeMap::new();
        let initial: Vec<Range> = sts
            .variables()
            .iter()
            .map(|v| Range::only(&v.initial))
            .collect();
        for process in sts.processes() {
            reached[process.initial.index()] = true;
            ranges.insert(self.slot(process.initial), initial.clone());
        }
        // The ranges that each switch was last taken with, and what it then assigned: asked again
        // only where a variable that it reads has changed.
        let mut done: Vec<Option<Vec<Range>>> = vec![None; sts.switches().len()];
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
                let read: Vec<Range> = read_by(switch)
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
                            match round >= PATIENCE {
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
    fn widen(&self, old: &Range, new: Range, ty: &Type) -> Range {
        let (
            Range::Between {
                limits: Some((old_low, old_high)),
                ..
            },
            Range::Between {
                void,
                limits: Some((low, high)),
            },
            Some(whole),
        ) = (old, &new, ty.int_range())
        else {
            return new;
        };
        let low = match low < old_low {
            true => *self
                .thresholds
                .range(..=low)
                .next_back()
                .unwrap_or(&whole.min),
            false => *low,
        };
        let high = match high > old_high {
            true => *self.thresholds.range(high..).next().unwrap_or(&whole.max),
            false => *high,
        };
        Range::Between {
            void: *void,
            limits: Some((low.max(whole.min), high.min(whole.max))),
        }
    }

    /// Whether no values within these ranges will do.
    fn never(&mut self, ranges: &[Range], target: &Target) -> bool {
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
        ranges: &[Range],
        parameters: impl IntoIterator<Item = &'t Type>,
    ) -> Embedded {
        let sts = self.sts;
        let mut solver = Embedded::new(sts.types(), sts.functions());
        for variable in sts.variables() {
            solver.void_unknown(&variable.ty);
        }
        for parameter in parameters {
            solver.void_unknown(parameter);
        }
        for (index, (range, variable)) in ranges.iter().zip(sts.variables()).enumerate() {
            solver.assert(&range.condition(index as u32, &variable.ty));
        }
        solver
    }

    /// The ranges after a switch; `None` when it cannot be taken.
    fn take(&mut self, before: &[Range], switch: &Switch) -> Option<Vec<Range>> {
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
        let variables = self.sts.variables().len() as u32;
        expr.substitute(&|part| match part {
            Expr::Var(variable) => Some(Expr::Param(variable.0)),
            Expr::Param(position) => Some(Expr::Param(variables + position)),
            _ => None,
        })
    }

    fn assigned(
        &mut self,
        before: &[Range],
        assignment: &Assignment,
        solver: &mut Embedded,
    ) -> Range {
        let ty = &self.sts.variable(assignment.variable).ty;
        match &assignment.value {
            Expr::Const(value) => return Range::only(value),
            Expr::Var(VarId(index)) => return before[*index as usize].clone(),
            _ => {}
        }
        if !matches!(ty, Type::Int(_) | Type::Bool | Type::Enum(_)) {
            return Range::All;
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
        let limits = match (low, high) {
            (Outcome::Unsat, _) | (_, Outcome::Unsat) => None,
            (Outcome::Sat(low), Outcome::Sat(high)) => match (number(&low), number(&high)) {
                (Some(low), Some(high)) => Some((low, high)),
                _ => return Range::All,
            },
            _ => match ty.int_range() {
                Some(whole) => Some((whole.min, whole.max)),
                None => return Range::All,
            },
        };
        Range::Between { void, limits }
    }
}
