//! The search for traces with wanted values.

use std::rc::Rc;

use ioco_solve::{Outcome, Solver};
use ioco_sts::{BinaryOp, Expr, LocationId, Sts, Value};
use rand::Rng;
use rand::seq::SliceRandom as _;

use super::goals::{boundaries, equal, extremes, pairs};
use super::{Data, Proof, ValueGoal, ValueVerdict, WantedValues, test_covers};
use crate::cover::{Instance, ReachableValues, Stepper};
use crate::feasible::{Feasible, own_values};
use crate::moves::Move;
use crate::traces::{Node, Walk};

/// Internal steps in a row after which a test is not carried on.
const MAX_SILENT: u32 = 64;

/// When to stop.
pub struct DataLimits<'a> {
    pub stop: &'a mut dyn FnMut() -> bool,
}

/// What came out: every goal with its verdict, and the tests that reach the values.
#[derive(Debug, Default)]
pub struct DataPlan {
    pub goals: Vec<ValueGoal>,
    pub verdicts: Vec<ValueVerdict>,
    pub tests: Vec<Instance>,
    /// Questions about whole paths given to the solver.
    pub calls: u64,
    pub interrupted: bool,
}

impl DataPlan {
    /// The tests that are needed for the goals that `is_open`, as few as are easily found.
    pub fn needed(&self, sts: &Sts, is_open: impl Fn(usize) -> bool) -> Vec<&Instance> {
        let mut open: Vec<usize> = (0..self.goals.len()).filter(|g| is_open(*g)).collect();
        open.retain(|goal| matches!(self.verdicts[*goal], ValueVerdict::Reached { .. }));
        let covers = |goal: usize, test: &Instance| {
            test_covers(sts, &self.goals[goal], &self.verdicts[goal], test)
        };
        let mut kept: Vec<&Instance> = Vec::new();
        // Each goal has a test that was made for it; a later one may cover it too.
        while let Some(goal) = open.first().copied() {
            let ValueVerdict::Reached { test, .. } = self.verdicts[goal] else {
                break;
            };
            let test = &self.tests[test];
            open.retain(|other| *other != goal && !covers(*other, test));
            kept.push(test);
        }
        kept
    }
}

/// Decides for every value that `data` asks for whether a trace of the walk's extent has it.
pub fn plan<S: Solver, R: Rng>(
    walk: &mut Walk<'_, S, R>,
    data: Data,
    limits: &mut DataLimits<'_>,
) -> DataPlan {
    let sts = walk.sts;
    let mut reach = ReachableValues::new(sts, &walk.extent.effort(), limits.stop);
    let mut goals = extremes(sts);
    if data != Data::MinMax {
        goals.extend(boundaries(sts, &mut reach, limits.stop));
    }
    let first = decide(walk, goals, &mut reach, limits);
    if data != Data::Pairs || first.interrupted {
        return first;
    }
    let combined = pairs(sts, |switch, position| {
        let mut values: Vec<Expr> = Vec::new();
        for (goal, verdict) in first.goals.iter().zip(&first.verdicts) {
            let ValueVerdict::Reached { extreme, .. } = verdict else {
                continue;
            };
            let value = match (&goal.wanted, extreme) {
                (WantedValues::Least(p) | WantedValues::Greatest(p), Some((value, _)))
                    if *p == position =>
                {
                    Expr::Const(value.clone())
                }
                (WantedValues::Values(all), _) => match &all[..] {
                    [(p, expr)] if *p == position => expr.clone(),
                    _ => continue,
                },
                _ => continue,
            };
            if goal.switch == switch && !values.contains(&value) {
                values.push(value);
            }
        }
        values
    });
    let second = decide(walk, combined, &mut reach, limits);
    let mut all = first;
    let tests = all.tests.len();
    all.goals.extend(second.goals);
    all.verdicts
        .extend(second.verdicts.into_iter().map(|verdict| match verdict {
            ValueVerdict::Reached { test, extreme } => ValueVerdict::Reached {
                test: test + tests,
                extreme,
            },
            other => other,
        }));
    all.tests.extend(second.tests);
    all.calls += second.calls;
    all.interrupted |= second.interrupted;
    all
}

/// How far a goal has come.
#[derive(Clone, Default)]
struct Progress {
    /// A value that nothing is beyond.
    bound: Option<Value>,
    /// The best value so far, and the test that has it.
    best: Option<(Option<Value>, usize)>,
    /// The solver could not decide something about it.
    undecided: bool,
    decided: Option<Proof>,
}

fn decide<S: Solver, R: Rng>(
    walk: &mut Walk<'_, S, R>,
    goals: Vec<ValueGoal>,
    reach: &mut ReachableValues<'_>,
    limits: &mut DataLimits<'_>,
) -> DataPlan {
    let sts = walk.sts;
    let mut progress = vec![Progress::default(); goals.len()];
    let mut open = vec![Vec::new(); sts.switches().len()];
    for (number, goal) in goals.iter().enumerate() {
        if (limits.stop)() {
            break;
        }
        let impossible = reach.is_dead(goal.switch)
            || match &goal.wanted {
                WantedValues::Least(position) | WantedValues::Greatest(position) => {
                    let largest = matches!(goal.wanted, WantedValues::Greatest(_));
                    progress[number].bound = reach.extreme(goal.switch, *position, largest);
                    false
                }
                WantedValues::Values(all) => reach.never(goal.switch, &condition(all)),
            };
        match impossible {
            true => progress[number].decided = Some(Proof::Bound),
            false => open[goal.switch.index()].push(number),
        }
    }
    let mut planner = Planner {
        stepper: Stepper::new(sts, walk.extent.effort()),
        nearest: Vec::new(),
        goals: &goals,
        progress,
        open,
        tests: Vec::new(),
        interrupted: false,
        limits,
    };
    planner.measure();
    walk.tally = Default::default();
    let start = walk.start();
    let finished = planner.descend(walk, start);
    while !walk.path.is_empty() {
        walk.leave();
    }
    let tally = std::mem::take(&mut walk.tally);
    let exhausted = finished && tally.undecided == 0 && tally.runaway.is_none() && !tally.stopped;
    let interrupted = planner.interrupted || tally.stopped;
    let Planner {
        progress, tests, ..
    } = planner;
    let verdicts = progress.into_iter().map(|one| {
        let walked = match exhausted && !one.undecided {
            true => Proof::Walked,
            false => Proof::Missing,
        };
        match (one.best, one.decided) {
            (Some((value, test)), decided) => ValueVerdict::Reached {
                test,
                extreme: value.map(|value| (value, decided.unwrap_or(walked))),
            },
            (None, Some(proof)) => ValueVerdict::Unreachable(proof),
            (None, None) if walked == Proof::Walked => ValueVerdict::Unreachable(walked),
            (None, None) => ValueVerdict::Unknown,
        }
    });
    DataPlan {
        verdicts: verdicts.collect(),
        goals,
        tests,
        calls: tally.solver_calls,
        interrupted,
    }
}

fn condition(values: &[(u32, Expr)]) -> Expr {
    let parts = values.iter().map(|(p, expr)| equal(*p, expr.clone()));
    parts.reduce(Expr::and).unwrap_or(Expr::TRUE)
}

/// A value beyond the best so far.
fn beyond(position: u32, best: &Value, largest: bool) -> Expr {
    match best {
        // Booleans are not compared; `false` comes first.
        Value::Bool(value) if *value == largest => Expr::FALSE,
        Value::Bool(value) => equal(position, Expr::Const(Value::Bool(!*value))),
        _ => {
            let op = if largest { BinaryOp::Gt } else { BinaryOp::Lt };
            Expr::binary(op, Expr::Param(position), Expr::Const(best.clone()))
        }
    }
}

/// A point of the walk, and the move to try next.
struct Level {
    node: Node,
    moves: Rc<[Rc<Move>]>,
    next: usize,
}

struct Planner<'p, 'a, 'l> {
    stepper: Stepper<'a>,
    goals: &'p [ValueGoal],
    progress: Vec<Progress>,
    /// Per switch, the goals that are not decided.
    open: Vec<Vec<usize>>,
    /// Per location, the observable steps to the end of a switch with an open goal, whatever the
    /// data.
    nearest: Vec<u32>,
    tests: Vec<Instance>,
    interrupted: bool,
    limits: &'p mut DataLimits<'l>,
}

impl<'a> Planner<'_, 'a, '_> {
    fn measure(&mut self) {
        let sts = self.stepper.sts;
        self.nearest = vec![u32::MAX; sts.locations().len()];
        loop {
            let mut changed = false;
            for (index, switch) in sts.switches().iter().enumerate() {
                let observable = matches!(switch.gate, ioco_sts::Gate::Observable(_));
                let through =
                    self.nearest[switch.target.index()].saturating_add(u32::from(observable));
                let here = match self.open[index].is_empty() {
                    true => through,
                    false => 1,
                };
                let known = &mut self.nearest[switch.source.index()];
                if here < *known {
                    *known = here;
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }

    fn is_useful(&self, locations: &[LocationId], left: u32) -> bool {
        locations.iter().any(|l| self.nearest[l.index()] <= left)
    }

    /// Walks every way on from `start`; false when there is no more to do, or the walk was given up.
    /// The caller takes back the moves that are left of the path.
    fn descend<S: Solver, R: Rng>(&mut self, walk: &mut Walk<'a, S, R>, start: Node) -> bool {
        let mut levels = Vec::new();
        if self.goes_on(walk, &start) {
            let moves = walk.moves_from(&start);
            levels.push(Level {
                node: start,
                moves,
                next: 0,
            });
        }
        while let Some(level) = levels.last_mut() {
            let Some(step) = level.moves.get(level.next).map(Rc::clone) else {
                levels.pop();
                if !levels.is_empty() {
                    walk.leave();
                }
                continue;
            };
            level.next += 1;
            let node = &level.node;
            self.interrupted |= (self.limits.stop)();
            if self.interrupted || walk.interrupted() {
                return false;
            }
            let left = walk.extent.length.saturating_sub(node.observed);
            let wanted = step.observable && !self.open[step.switches[0].index()].is_empty();
            let leads_on = !(step.observable && left == 1);
            if !wanted && !leads_on {
                continue;
            }
            let Some(feasible) = walk.admissible(node, &step, &mut false) else {
                if walk.tally.runaway.is_some() {
                    return false;
                }
                continue;
            };
            if wanted {
                self.attempt(walk, node, &step);
            }
            if leads_on {
                let witness = feasible.witness(&node.witness).unwrap_or_default();
                let next = walk.enter(node, &step, witness);
                if !walk.goes_round(&next) && self.goes_on(walk, &next) {
                    let moves = walk.moves_from(&next);
                    levels.push(Level {
                        node: next,
                        moves,
                        next: 0,
                    });
                } else {
                    walk.leave();
                }
            }
        }
        true
    }

    fn goes_on<S: Solver, R: Rng>(&self, walk: &Walk<'a, S, R>, node: &Node) -> bool {
        let left = walk.extent.length.saturating_sub(node.observed);
        left > 0 && self.is_useful(&node.symbolic.locations, left)
    }

    /// Tries a move with every value that is wanted of it.
    fn attempt<S: Solver, R: Rng>(
        &mut self,
        walk: &mut Walk<'a, S, R>,
        node: &Node,
        step: &Rc<Move>,
    ) {
        let switch = step.switches[0].index();
        for number in self.open[switch].clone() {
            let decided = match self.goals[number].wanted.clone() {
                WantedValues::Values(all) => {
                    self.try_values(walk, node, step, number, &condition(&all))
                }
                WantedValues::Least(position) => {
                    self.try_extreme(walk, node, step, number, position, false)
                }
                WantedValues::Greatest(position) => {
                    self.try_extreme(walk, node, step, number, position, true)
                }
            };
            if decided {
                self.progress[number].decided = Some(Proof::Bound);
                self.open[switch].retain(|other| *other != number);
            }
        }
        if self.open[switch].is_empty() {
            self.measure();
        }
    }

    fn try_values<S: Solver, R: Rng>(
        &mut self,
        walk: &mut Walk<'a, S, R>,
        node: &Node,
        step: &Rc<Move>,
        number: usize,
        condition: &Expr,
    ) -> bool {
        let Some((asked, witness)) = self.ask(walk, node, step, number, condition) else {
            return false;
        };
        self.keep(walk, node, &asked, witness, number, None)
    }

    /// True when the value is known to be the extreme of all.
    fn try_extreme<S: Solver, R: Rng>(
        &mut self,
        walk: &mut Walk<'a, S, R>,
        node: &Node,
        step: &Rc<Move>,
        number: usize,
        position: u32,
        largest: bool,
    ) -> bool {
        if let Some((Some(best), _)) = self.progress[number].best.clone() {
            let better = beyond(position, &best, largest);
            if self.ask(walk, node, step, number, &better).is_none() {
                return false;
            }
        }
        if let Some(bound) = self.progress[number].bound.clone() {
            let at_bound = equal(position, Expr::Const(bound.clone()));
            if let Some((asked, witness)) = self.ask(walk, node, step, number, &at_bound) {
                return self.keep(walk, node, &asked, witness, number, Some(bound));
            }
        }
        match walk.extreme(node, step, position, largest) {
            Outcome::Sat(value) => {
                let exactly = equal(position, Expr::Const(value.clone()));
                if let Some((asked, witness)) = self.ask(walk, node, step, number, &exactly) {
                    self.keep(walk, node, &asked, witness, number, Some(value));
                }
            }
            Outcome::Unsat => {}
            Outcome::Unknown(_) => self.progress[number].undecided = true,
        }
        false
    }

    fn ask<S: Solver, R: Rng>(
        &mut self,
        walk: &mut Walk<'a, S, R>,
        node: &Node,
        step: &Rc<Move>,
        number: usize,
        condition: &Expr,
    ) -> Option<(Rc<Move>, Vec<Value>)> {
        let asked = walk.moves.narrowed(walk.sts, step, condition);
        let feasible = walk.feasible(node, &asked);
        self.progress[number].undecided |= matches!(feasible, Feasible::Undecided);
        let witness = feasible.witness(&node.witness)?;
        Some((asked, witness))
    }

    /// Makes a test of the path that ends with the move. False where that fails, which it should
    /// not.
    fn keep<S: Solver, R: Rng>(
        &mut self,
        walk: &mut Walk<'a, S, R>,
        node: &Node,
        asked: &Rc<Move>,
        witness: Vec<Value>,
        number: usize,
        value: Option<Value>,
    ) -> bool {
        let sts = walk.sts;
        let mut test = Instance {
            steps: Vec::new(),
            states: vec![sts.initial_state()],
        };
        let taken = walk.path.iter().map(|taken| (&taken.step, taken.base));
        for (step, base) in taken.chain(std::iter::once((asked, node.symbolic.unknowns))) {
            let unknowns = &witness[base as usize..];
            let Some(state) = self
                .stepper
                .take(test.end(), step, &step.parameters(unknowns))
            else {
                self.progress[number].undecided = true;
                return false;
            };
            test.steps
                .push((Rc::clone(Move::plain(step)), step.action(unknowns)));
            test.states.push(state);
        }
        let extent = (walk.extent.length, walk.extent.loops);
        self.carry_on(&mut test, extent, &mut walk.rng);
        self.tests.push(test);
        self.progress[number].best = Some((value, self.tests.len() - 1));
        true
    }

    /// Makes a whole trace of a beginning: by any way on, as long as there is one.
    fn carry_on(
        &mut self,
        test: &mut Instance,
        (length, loops): (u32, Option<u32>),
        rng: &mut dyn Rng,
    ) {
        let mut observed = test
            .steps
            .iter()
            .filter(|(step, _)| step.observable)
            .count() as u32;
        let mut silent = 0;
        while observed < length && silent < MAX_SILENT {
            let mut moves = self.stepper.moves_from(&test.end().locations).to_vec();
            moves.shuffle(rng);
            // Internal steps only where nothing else can be done, so that they cannot go round.
            moves.sort_by_key(|step| !step.observable);
            let taken = moves.iter().find_map(|step| {
                if loops.is_some_and(|limit| self.visits(test, step) >= limit) {
                    return None;
                }
                let valuation = &test.end().valuation;
                let own = own_values(self.stepper.sts, step, valuation, rng, &self.stepper.effort);
                let own = own.sat()?;
                if !step.observable && own.contains(&Value::Void) {
                    return None;
                }
                let state = self
                    .stepper
                    .take(test.end(), step, &step.parameters(&own))?;
                Some((Rc::clone(step), step.action(&own), state))
            });
            let Some((step, action, state)) = taken else {
                return;
            };
            observed += u32::from(step.observable);
            silent = if step.observable { 0 } else { silent + 1 };
            test.steps.push((step, action));
            test.states.push(state);
        }
    }

    /// How often a test has been where a move leads.
    fn visits(&self, test: &Instance, step: &Move) -> u32 {
        let sts = self.stepper.sts;
        let been = |location: LocationId| {
            let start = test.states[0].locations.contains(&location);
            let entered = test.steps.iter().flat_map(|(step, _)| &step.switches);
            let entered = entered.filter(|id| sts.switch(**id).target == location);
            u32::from(start) + entered.count() as u32
        };
        let targets = step.switches.iter().map(|id| sts.switch(*id).target);
        targets.map(been).max().unwrap_or(0)
    }
}
