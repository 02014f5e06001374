//! A run over some variables becomes a run of the whole model: the others follow by evaluation, or by the solver where
//! conditions tie them. The result is always checked by the interpreter.

use crate::circuit::encode::TooLarge;
use crate::engine::Budget;
use crate::engine::sat::Answer;
use crate::engine::unroll::{Trace, Unrolling};
use crate::eval::{Evaluator, Memo, State, Values};
use crate::expr::{ExprId, VarId};
use crate::goal::next_random;
use crate::model::{Model, VarKind};
use crate::system::{Circuit, System};
use crate::value::Domain;

/// How a random walk chooses among the values that a variable may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WalkPolicy {
    /// All alike.
    Uniform,
    /// Rather another value than the present one: where everything may also wait, a uniform walk hardly moves.
    PreferChange,
    /// Rather the present value, so that little changes at a time: circuits lose their way when all gates switch at once.
    PreferStay,
}

/// Completes runs of a model.
pub(crate) struct Completer<'m> {
    model: &'m Model,
    /// Orders of evaluation: first state, further states.
    first: Vec<VarId>,
    later: Vec<VarId>,
    /// Assignments decide everything: a state that follows them needs no further check on the way.
    assigned: bool,
}

impl<'m> Completer<'m> {
    pub fn new(model: &'m Model) -> Self {
        let first = order(
            model,
            |var| model.var(var).init.or(model.var(var).always),
            false,
        );
        let later = order(
            model,
            |var| model.var(var).next.or(model.var(var).always),
            true,
        );
        Self {
            model,
            first,
            later,
            assigned: model.trans.is_empty() && model.invar.is_empty() && model.init.is_empty(),
        }
    }

    /// A random run by evaluation alone, from the start of the model or from where another run ends: quick where
    /// assignments decide everything, and `None` where conditions make blind choices fail. It is a guess that must be
    /// replayed before it counts. All policies but the uniform one refuse to stand still among the variables in `focus`.
    pub fn random_walk(
        &self,
        start: Vec<State>,
        steps: usize,
        seed: u64,
        policy: WalkPolicy,
        focus: &[bool],
        budget: Budget,
    ) -> Option<Vec<State>> {
        let mut random = seed;
        let steps = start.len() + steps;
        let mut run = start;
        let blank = vec![Vec::new(); 1];
        let mut memos = (Memo::default(), Memo::default());
        let inputs: Vec<VarId> = self
            .model
            .var_ids()
            .filter(|var| self.model.var(*var).kind == VarKind::Input)
            .collect();
        while run.len() <= steps && !(run.len().is_multiple_of(16) && budget.over()) {
            let mut done = false;
            for attempt in 0..24 {
                random = next_random(random);
                let (state, sure) = match run.last_mut() {
                    None => (self.evaluate(&[], &blank, random).remove(0), false),
                    Some(last) => {
                        let mut dice = random;
                        for var in &inputs {
                            dice = next_random(dice);
                            let domain = &self.model.var(*var).domain;
                            last[var.index()] = domain.value(dice % domain.len());
                        }
                        self.evaluate_step(last, dice, policy, &mut memos)
                    }
                };
                if policy != WalkPolicy::Uniform
                    && attempt < IDLE
                    && run.last().is_some_and(|last| !moves(last, &state, focus))
                {
                    continue;
                }
                let fits = sure
                    || match run.last() {
                        None => self.model.check_initial(&state, &mut memos.0).is_ok(),
                        Some(last) => self.model.check_step(last, &state, &mut memos.0).is_ok(),
                    };
                if fits {
                    run.push(state);
                    done = true;
                    break;
                }
            }
            if !done {
                return if run.len() > 20 { Some(run) } else { None };
            }
        }
        Some(run)
    }

    /// A state that may follow, and whether that is sure. The memos are for the step and for the state after it.
    fn evaluate_step(
        &self,
        last: &State,
        seed: u64,
        policy: WalkPolicy,
        memos: &mut (Memo, Memo),
    ) -> (State, bool) {
        let mut random = seed;
        let mut sure = self.assigned;
        let mut state = last.clone();
        memos.0.clear();
        memos.1.clear();
        let exprs = &self.model.exprs;
        for var in &self.later {
            random = next_random(random);
            let entry = self.model.var(*var);
            let now = last[var.index()];
            let candidates = match (entry.next, entry.always) {
                (Some(value), always) => {
                    sure &= always.is_none();
                    let mut evaluator = Evaluator::further(exprs, last, Some(&state), &mut memos.0);
                    candidates(&mut evaluator, value, &entry.domain, random)
                }
                (None, Some(value)) => {
                    let mut evaluator = Evaluator::further(exprs, &state, None, &mut memos.1);
                    candidates(&mut evaluator, value, &entry.domain, random)
                }
                (None, None) if entry.kind == VarKind::Frozen => Values::One(now),
                (None, None) => {
                    state[var.index()] = entry.domain.value((random >> 8) % entry.domain.len());
                    continue;
                }
            };
            state[var.index()] = match candidates {
                Values::One(value) if entry.domain.contains(value) => value,
                candidates => {
                    let mut values = candidates.to_vec();
                    values.retain(|value| entry.domain.contains(*value));
                    match policy {
                        WalkPolicy::PreferChange
                            if values.len() > 1 && !random.is_multiple_of(5) =>
                        {
                            values.retain(|value| *value != now);
                        }
                        WalkPolicy::PreferStay
                            if !random.is_multiple_of(6) && values.contains(&now) =>
                        {
                            values = vec![now];
                        }
                        _ => {}
                    }
                    match values.len() {
                        0 => {
                            sure = false;
                            now
                        }
                        count => values[usize::try_from((random >> 8) % count as u64).unwrap_or(0)],
                    }
                }
            };
        }
        (state, sure)
    }

    /// The whole run, or none when the rest of the model cannot follow.
    pub fn complete(
        &self,
        vars: &[VarId],
        trace: &Trace,
        seed: u64,
        budget: Budget,
    ) -> Option<Vec<State>> {
        if vars.len() == self.model.vars.len() {
            return self.model.check_run(trace).is_ok().then(|| trace.clone());
        }
        let run = self.evaluate(vars, trace, seed);
        if self.model.check_run(&run).is_ok() {
            return Some(run);
        }
        self.solve(vars, trace, budget).ok().flatten()
    }

    fn evaluate(&self, vars: &[VarId], trace: &Trace, seed: u64) -> Vec<State> {
        let mut random = seed;
        let mut memo = Memo::default();
        let mut run: Vec<State> = Vec::with_capacity(trace.len());
        for (step, values) in trace.iter().enumerate() {
            let mut state: State = self
                .model
                .vars
                .iter()
                .map(|var| var.domain.value(0))
                .collect();
            let mut given = vec![false; state.len()];
            for (var, value) in vars.iter().zip(values) {
                state[var.index()] = *value;
                given[var.index()] = true;
            }
            for var in if step == 0 { &self.first } else { &self.later } {
                if given[var.index()] {
                    continue;
                }
                random = next_random(random);
                let entry = self.model.var(*var);
                let candidates = if step == 0 || entry.next.is_none() {
                    let value = if step == 0 {
                        entry.init.or(entry.always)
                    } else {
                        entry.always
                    };
                    value.map(|value| {
                        let exprs = &self.model.exprs;
                        let mut evaluator = Evaluator::new(exprs, &state, None, &mut memo);
                        candidates(&mut evaluator, value, &entry.domain, random)
                    })
                } else {
                    entry.next.map(|value| {
                        let (exprs, last) = (&self.model.exprs, &run[step - 1]);
                        let mut evaluator = Evaluator::new(exprs, last, Some(&state), &mut memo);
                        candidates(&mut evaluator, value, &entry.domain, random)
                    })
                };
                state[var.index()] = match candidates {
                    Some(values) => {
                        let mut values = values.to_vec();
                        values.retain(|value| entry.domain.contains(*value));
                        match values.len() {
                            0 => entry.domain.value(0),
                            count => values[usize::try_from(random % count as u64).unwrap_or(0)],
                        }
                    }
                    None if step > 0 && entry.kind == VarKind::Frozen => run[step - 1][var.index()],
                    None => entry.domain.value(random % entry.domain.len()),
                };
            }
            run.push(state);
        }
        run
    }

    fn solve(
        &self,
        vars: &[VarId],
        trace: &Trace,
        budget: Budget,
    ) -> Result<Option<Vec<State>>, TooLarge> {
        let circuit = Circuit::compile(self.model, &System::whole(self.model), &[])?;
        let mut unrolling = Unrolling::new(self.model, &circuit, budget, true);
        while unrolling.depth() + 1 < trace.len() {
            unrolling.extend();
        }
        let mut assumptions = Vec::new();
        for (frame, values) in trace.iter().enumerate() {
            for (var, value) in vars.iter().zip(values) {
                let last_input =
                    frame + 1 == trace.len() && self.model.var(*var).kind == VarKind::Input;
                if !last_input {
                    assumptions.extend(unrolling.fix(frame, *var, *value));
                }
            }
        }
        if unrolling.solve(&assumptions) != Answer::Yes {
            return Ok(None);
        }
        let run = unrolling.trace(trace.len() - 1);
        Ok(self.model.check_run(&run).is_ok().then_some(run))
    }
}

/// The values that an assignment leaves; of more than can be listed, some that a guess finds.
fn candidates(evaluator: &mut Evaluator, expr: ExprId, domain: &Domain, seed: u64) -> Values {
    let values = evaluator.values(expr);
    if !evaluator.is_crowded() {
        return values;
    }
    let mut random = seed;
    let mut found = Vec::new();
    for _ in 0..GUESSES {
        random = next_random(random);
        let value = domain.value(random % domain.len());
        if evaluator.may_be(expr, value) {
            found.push(value);
        }
    }
    Values::of(found)
}

/// Values tried where there are too many to list.
const GUESSES: usize = 8;

/// How often a walk refuses to stand still.
const IDLE: usize = 8;

fn moves(last: &State, state: &State, focus: &[bool]) -> bool {
    last.iter()
        .zip(state)
        .zip(focus)
        .any(|((before, after), focus)| *focus && before != after)
}

/// Variables after what their values are computed from; there are no circles, that was checked.
fn order(model: &Model, value: impl Fn(VarId) -> Option<ExprId>, step: bool) -> Vec<VarId> {
    let mut order = Vec::with_capacity(model.vars.len());
    let mut done = vec![false; model.vars.len()];
    for root in model.var_ids() {
        let mut open = vec![root];
        while let Some(var) = open.last().copied() {
            if done[var.index()] {
                open.pop();
                continue;
            }
            let needs: Vec<VarId> = value(var).map_or_else(Vec::new, |expr| {
                let (current, next) = model.exprs.variables(expr);
                if step && model.var(var).next.is_some() {
                    next
                } else {
                    current
                }
            });
            let missing: Vec<VarId> = needs
                .into_iter()
                .filter(|need| !done[need.index()] && !open.contains(need))
                .collect();
            if missing.is_empty() {
                done[var.index()] = true;
                order.push(var);
                open.pop();
            } else {
                open.extend(missing);
            }
        }
    }
    order
}
