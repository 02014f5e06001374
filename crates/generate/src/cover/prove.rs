//! Proofs that a goal cannot be reached: by the structure of the model, by a guard that never
//! holds, and by the values that variables can have.
//!
//! For the last, every location gets a range of values per variable that includes all that can
//! occur there: beginning with the initial values, switches carry ranges from location to location
//! until nothing changes. Limits are found by the solver, so that a guard counts. In a network of
//! processes there is one range per variable for all locations.

use std::collections::{BTreeMap, BTreeSet};

use ioco_solve::{Deadline, Embedded, Outcome, Solver};
use ioco_sts::{Assignment, BinaryOp, Expr, Sts, Switch, Type, Value, VarId};

use super::goal::{Goal, Reason};

/// Rounds after which a range that still grows is widened.
const PATIENCE: u32 = 4;
/// Rounds after which there is no proof.
const ROUNDS: u32 = 60;

/// The goals that are proved unreachable.
pub(crate) fn unreachable(
    sts: &Sts,
    goals: &BTreeSet<Goal>,
    budget: u64,
    calls: &mut u64,
) -> Vec<(Goal, Reason)> {
    let mut proved = Vec::new();
    let mut left = BTreeSet::new();
    let structure = by_structure(sts);
    for goal in goals {
        let source = match goal {
            Goal::Location(location) => *location,
            Goal::Switch(switch) => sts.switch(*switch).source,
        };
        if !structure[source.index()] {
            proved.push((*goal, Reason::Structure));
        } else {
            left.insert(*goal);
        }
    }
    let mut analysis = Analysis {
        sts,
        budget,
        calls,
        thresholds: thresholds(sts),
    };
    let anything: Vec<Range> = sts.variables().iter().map(|v| Range::all(&v.ty)).collect();
    left.retain(|goal| {
        let Goal::Switch(id) = goal else { return true };
        let never = analysis.take(&anything, sts.switch(*id)).is_none();
        if never {
            proved.push((*goal, Reason::Guard));
        }
        !never
    });
    if left.is_empty() {
        return proved;
    }
    if let Some(found) = analysis.run() {
        for goal in left {
            let reachable = match goal {
                Goal::Location(location) => found.reached[location.index()],
                Goal::Switch(switch) => found.taken[switch.index()],
            };
            if !reachable {
                proved.push((goal, Reason::Values));
            }
        }
    }
    proved
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
enum Range {
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

struct Fixpoint {
    reached: Vec<bool>,
    taken: Vec<bool>,
}

struct Analysis<'a> {
    sts: &'a Sts,
    budget: u64,
    calls: &'a mut u64,
    thresholds: BTreeSet<i64>,
}

impl Analysis<'_> {
    /// What can be reached, at least that; `None` where the ranges did not settle.
    fn run(&mut self) -> Option<Fixpoint> {
        let sts = self.sts;
        // One process: ranges per location. Several: for all together.
        let single = sts.processes().len() == 1;
        let slot = |location: ioco_sts::LocationId| if single { location.index() } else { 0 };
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
            ranges.insert(slot(process.initial), initial.clone());
        }
        // The ranges that each switch was last taken with, and what it then assigned: asked again
        // only where a variable that it reads has changed.
        let mut done: Vec<Option<Vec<Range>>> = vec![None; sts.switches().len()];
        let mut effects: Vec<Option<Effect>> = vec![None; sts.switches().len()];
        for round in 0..ROUNDS {
            let mut changed = false;
            for (index, switch) in sts.switches().iter().enumerate() {
                let Some(before) = ranges.get(&slot(switch.source)).cloned() else {
                    continue;
                };
                if !reached[switch.source.index()] || done[index].as_ref() == Some(&before) {
                    continue;
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
                let known = ranges.get(&slot(switch.target)).cloned();
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
                ranges.insert(slot(switch.target), joined);
            }
            if !changed {
                return Some(Fixpoint { reached, taken });
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

    /// The ranges after a switch; `None` when it cannot be taken.
    fn take(&mut self, before: &[Range], switch: &Switch) -> Option<Vec<Range>> {
        let sts = self.sts;
        let mut solver = Embedded::new(sts.types(), sts.functions());
        for variable in sts.variables() {
            solver.void_unknown(&variable.ty);
        }
        let parameters = switch
            .gate
            .label()
            .map_or(&[][..], |l| &sts.label(l).parameters);
        for parameter in parameters {
            solver.void_unknown(&parameter.ty);
        }
        for (index, (range, variable)) in before.iter().zip(sts.variables()).enumerate() {
            solver.assert(&range.condition(index as u32, &variable.ty));
        }
        solver.assert(&self.renamed(&switch.enabled));
        *self.calls += 1;
        if solver.check(&Deadline::steps(self.budget)).is_unsat() {
            return None;
        }
        let mut after = before.to_vec();
        for assignment in &switch.update {
            after[assignment.variable.index()] = self.assigned(before, assignment, &mut solver);
        }
        Some(after)
    }

    /// Variables come first among the unknowns, then parameters.
    fn renamed(&self, expr: &Expr) -> Expr {
        match expr {
            Expr::Var(variable) => Expr::Param(variable.0),
            Expr::Param(position) => Expr::Param(self.sts.variables().len() as u32 + position),
            _ => expr.map_children(|child| self.renamed(child)),
        }
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
        *self.calls += 3;
        let low = solver.minimum(result, &Deadline::steps(self.budget));
        let high = solver.maximum(result, &Deadline::steps(self.budget));
        let unset = Expr::binary(BinaryOp::Eq, unknown, Expr::Const(Value::Void));
        solver.assert(&unset);
        let void = !solver.check(&Deadline::steps(self.budget)).is_unsat();
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
