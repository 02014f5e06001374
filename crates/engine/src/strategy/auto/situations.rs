//! What a step shows that no step before it has shown: the situations that `auto` counts.
//!
//! A situation is a switch in some company: alone, after the one or two switches before it, with the values of the
//! variables and parameters by kind, with the two sides of a comparison equal or next to each other, taken several times.
//! Each has a weight, and is worth less the more often it was seen. Faults hide in such combinations: off by one at a
//! limit, an update that is forgotten in one case, a counter that overflows.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use ioco_sts::{
    Action, Assignment, BinaryOp, Env, Expr, Gate, IntRange, State, Sts, SwitchId, Type, Value,
    VarId,
};
use rustc_hash::{FxHashMap, FxHasher};

/// A situation by its hash: two that collide are taken for one, which costs nothing but a little novelty.
pub(super) type Key = u64;

/// What situations are worth when they are seen for the first time. The numbers were set by hand and not searched
/// systematically; `cargo xtask experiment detection --share tune` compares others.
pub(super) mod weight {
    pub const SWITCH: f32 = 8.0;
    /// Two and three stimuli in a row, by their switches.
    pub const PAIR: f32 = 2.5;
    pub const TRIPLE: f32 = 0.6;
    pub const REPETITION: f32 = 0.8;
    /// A variable's value by kind: one that the switch looks at, another one, two together.
    pub const USED_VARIABLE: f32 = 1.5;
    pub const OTHER_VARIABLE: f32 = 0.5;
    pub const PAIR_OF_VARIABLES: f32 = 0.5;
    /// A parameter's value by kind, two together, and the very value where there are few.
    pub const PARAMETER: f32 = 1.5;
    pub const PAIR_OF_PARAMETERS: f32 = 0.8;
    pub const VALUE: f32 = 0.4;
    /// A comparison whose sides are at most one apart, or farther; all comparisons of a guard together.
    pub const AT_LIMIT: f32 = 3.0;
    pub const OFF_LIMIT: f32 = 1.0;
    pub const COMPARISONS: f32 = 2.5;
    /// A fault of a switch that an observation refutes: at all, after the stimulus before, with a variable's value.
    pub const FAULT: f32 = 3.0;
    pub const FAULT_AFTER: f32 = 0.6;
    pub const FAULT_WITH: f32 = 0.4;
}

/// What is left of a weight the second time.
const AGAIN: f32 = 0.2;

/// Switches of one location and label whose comparisons are looked at.
const MAX_ALTERNATIVES: usize = 12;
/// Variables that are looked at in one step.
const MAX_VARIABLES: usize = 12;
/// Variables and parameters that are looked at two by two.
const MAX_PAIRED: usize = 6;
/// Repetitions in one test that are told apart.
const MAX_REPETITIONS: u32 = 8;
/// Numbers of a type with fewer values than this are told apart.
const FEW_VALUES: i64 = 256;

pub(super) fn key(parts: impl Hash) -> Key {
    let mut hasher = FxHasher::default();
    parts.hash(&mut hasher);
    hasher.finish()
}

/// That a switch is taken.
pub(super) fn of_switch(switch: SwitchId) -> Key {
    key((1u8, switch))
}

/// How often each situation was seen.
#[derive(Default)]
pub(super) struct Seen {
    counts: FxHashMap<Key, u32>,
}

/// Situations that are remembered; beyond it all counts start anew.
const MAX_KEYS: usize = 1 << 20;

impl Seen {
    pub fn add(&mut self, key: Key) {
        if self.counts.len() >= MAX_KEYS {
            self.counts.clear();
        }
        *self.counts.entry(key).or_default() += 1;
    }

    pub fn count(&self, key: Key) -> u32 {
        self.counts.get(&key).copied().unwrap_or(0)
    }

    /// What a situation of this weight is worth now.
    pub fn worth(&self, key: Key, weight: f32) -> f32 {
        match self.count(key) {
            0 => weight,
            count => weight * AGAIN / (count * count) as f32,
        }
    }
}

/// What came before a step in the same test, as far as situations speak of it.
#[derive(Clone, Default)]
pub(super) struct History {
    /// The switches of the last two stimuli, the last one first.
    stimuli: [Option<SwitchId>; 2],
    /// How often the last one was taken in a row.
    in_a_row: u32,
    /// How often each switch was taken in this test; few are taken often.
    taken: FxHashMap<SwitchId, u32>,
}

impl History {
    pub fn take(&mut self, switch: SwitchId, is_stimulus: bool) {
        *self.taken.entry(switch).or_default() += 1;
        if !is_stimulus {
            return;
        }
        let again = self.stimuli[0] == Some(switch);
        self.in_a_row = if again { self.in_a_row + 1 } else { 1 };
        self.stimuli = [Some(switch), self.stimuli[0]];
    }

    /// The switch of the last stimulus.
    pub fn last(&self) -> Option<SwitchId> {
        self.stimuli[0]
    }
}

/// The comparisons that a stimulus decides, as pairs whose difference says how near a limit is.
type Comparisons = Arc<[(Expr, Expr)]>;

/// Comparisons of one switch that are looked at.
const MAX_COMPARISONS: usize = 16;

/// What the model says about where limits are, per switch, worked out once.
#[derive(Default)]
pub(super) struct Limits {
    comparisons: FxHashMap<SwitchId, Comparisons>,
    variables: FxHashMap<SwitchId, Arc<[(usize, bool)]>>,
}

impl Limits {
    /// The variables of the switch's process, and whether its guard or its update looks at them.
    fn variables(&mut self, sts: &Sts, id: SwitchId) -> Arc<[(usize, bool)]> {
        let known = self.variables.entry(id).or_insert_with(|| {
            let switch = sts.switch(id);
            let mut used = switch.guard.vars();
            for assignment in &switch.update {
                used.insert(assignment.variable);
                used.extend(assignment.value.vars());
            }
            let process = sts.location(switch.source).process;
            let all = sts.variables().iter().enumerate();
            let own = all.filter(|(_, variable)| variable.process == process);
            let own = own.map(|(index, _)| (index, used.contains(&VarId::from_index(index))));
            let mut own: Vec<(usize, bool)> = own.collect();
            own.sort_by_key(|(_, is_used)| !is_used);
            own.truncate(MAX_VARIABLES);
            own.into()
        });
        Arc::clone(known)
    }

    /// The comparisons of a switch's own guard, and those of the guards behind it as they are before its update.
    pub fn of(&mut self, sts: &Sts, id: SwitchId) -> Comparisons {
        let known = self.comparisons.entry(id).or_insert_with(|| {
            let switch = sts.switch(id);
            let mut found = Vec::new();
            comparisons(&switch.guard, &mut found);
            for next in sts.outgoing(switch.target) {
                let mut behind = Vec::new();
                comparisons(&sts.switch(*next).guard, &mut behind);
                let free =
                    |pair: &(Expr, Expr)| !pair.0.mentions_params() && !pair.1.mentions_params();
                let before = |expr: &Expr| before_update(&switch.update, expr);
                let pairs = behind.iter().filter(|pair| free(pair));
                found.extend(pairs.map(|(left, right)| (before(left), before(right))));
            }
            found.dedup();
            found.truncate(MAX_COMPARISONS);
            found.into()
        });
        Arc::clone(known)
    }
}

/// An expression over the variables after an update, as one over those before it.
fn before_update(update: &[Assignment], expr: &Expr) -> Expr {
    expr.substitute(&|part| match part {
        Expr::Var(variable) => {
            let set = update.iter().find(|a| a.variable == *variable);
            set.map(|a| a.value.clone())
        }
        _ => None,
    })
}

fn comparisons(guard: &Expr, found: &mut Vec<(Expr, Expr)>) {
    guard.walk(&mut |expr| match expr {
        Expr::Binary(
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge,
            both,
        ) => found.push((both[0].clone(), both[1].clone())),
        Expr::InRange(all) => {
            found.push((all[0].clone(), all[1].clone()));
            found.push((all[0].clone(), all[2].clone()));
        }
        _ => {}
    });
}

/// One step that was taken or may be: where, by which switch, with which values.
pub(super) struct Taken<'a> {
    pub state: &'a State,
    pub switch: SwitchId,
    pub action: &'a Action,
    pub is_stimulus: bool,
}

/// All situations of a step with their weights.
pub(super) fn situations(
    sts: &Sts,
    limits: &mut Limits,
    history: &History,
    step: &Taken<'_>,
    found: &mut Vec<(Key, f32)>,
) {
    let switch = step.switch;
    found.push((of_switch(switch), weight::SWITCH));
    if step.is_stimulus {
        let [last, before] = history.stimuli;
        if let Some(last) = last {
            found.push((key((2u8, last, switch)), weight::PAIR));
            if let Some(before) = before {
                found.push((key((3u8, before, last, switch)), weight::TRIPLE));
            }
            let again = u32::from(last == switch) * history.in_a_row;
            if again > 0 {
                found.push((
                    key((4u8, switch, again.min(MAX_REPETITIONS))),
                    weight::REPETITION,
                ));
            }
        }
    }
    let times = history.taken.get(&switch).copied().unwrap_or(0);
    found.push((
        key((5u8, switch, times.min(MAX_REPETITIONS))),
        weight::REPETITION,
    ));
    of_variables(sts, limits, step, found);
    if !step.is_stimulus {
        return;
    }
    let parameters = &sts.label(step.action.label).parameters;
    for (index, (value, parameter)) in step.action.values.iter().zip(parameters).enumerate() {
        let class = match sts.constants().contains(value) {
            true => key((0u8, value)),
            false => class_of(value, &parameter.ty, None),
        };
        found.push((key((7u8, switch, index, class)), weight::PARAMETER));
        let few = |range: IntRange| range.max.saturating_sub(range.min) < FEW_VALUES;
        if parameter.ty.int_range().is_some_and(few) {
            found.push((key((10u8, switch, index, value)), weight::VALUE));
        }
    }
    if let [.., _, _] = &step.action.values[..] {
        pairs_of_values(sts, step, found);
    }
    near_limits(sts, limits, step, found);
}

/// Each two parameters together.
fn pairs_of_values(sts: &Sts, step: &Taken<'_>, found: &mut Vec<(Key, f32)>) {
    let parameters = &sts.label(step.action.label).parameters;
    let values = step.action.values.iter().zip(parameters).take(MAX_PAIRED);
    let classes: Vec<u64> = values.map(|(v, p)| class_of(v, &p.ty, None)).collect();
    for (second, class) in classes.iter().enumerate() {
        for (first, other) in classes[..second].iter().enumerate() {
            let pair = (11u8, step.switch, first, other, second, class);
            found.push((key(pair), weight::PAIR_OF_PARAMETERS));
        }
    }
}

/// The variables of the switch's process, and each two of those that it looks at.
fn of_variables(sts: &Sts, limits: &mut Limits, step: &Taken<'_>, found: &mut Vec<(Key, f32)>) {
    let switch = step.switch;
    let known = limits.variables(sts, switch);
    let class = |index: usize| {
        let variable = &sts.variables()[index];
        class_of(
            &step.state.valuation[index],
            &variable.ty,
            Some(&variable.initial),
        )
    };
    for (index, is_used) in known.iter() {
        let worth = if *is_used {
            weight::USED_VARIABLE
        } else {
            weight::OTHER_VARIABLE
        };
        found.push((key((6u8, switch, index, class(*index))), worth));
    }
    let used = known.iter().filter(|(_, is_used)| *is_used);
    let used: Vec<(usize, u64)> = used
        .take(MAX_PAIRED)
        .map(|(i, _)| (*i, class(*i)))
        .collect();
    for (place, second) in used.iter().enumerate() {
        for first in &used[..place] {
            found.push((
                key((12u8, switch, first, second)),
                weight::PAIR_OF_VARIABLES,
            ));
        }
    }
}

/// How far the two sides of each comparison are apart, for the guards of all switches that this stimulus could mean.
fn near_limits(sts: &Sts, limits: &mut Limits, step: &Taken<'_>, found: &mut Vec<(Key, f32)>) {
    let source = sts.switch(step.switch).source;
    let gate = Gate::Observable(step.action.label);
    let env = Env {
        variables: &step.state.valuation,
        parameters: &step.action.values,
        functions: sts.functions(),
    };
    let alternatives = sts.outgoing(source).iter().copied();
    let same = alternatives.filter(|id| sts.switch(*id).gate == gate);
    for other in same.take(MAX_ALTERNATIVES) {
        let mut all = FxHasher::default();
        let comparisons = limits.of(sts, other);
        for (index, (left, right)) in comparisons.iter().enumerate() {
            let (Ok(left), Ok(right)) = (left.eval(env), right.eval(env)) else {
                continue;
            };
            let apart = match (&left, &right) {
                (Value::Int(left), Value::Int(right)) => left.saturating_sub(*right).clamp(-2, 2),
                _ => i64::from(left != right) * 2,
            };
            (index, apart.signum()).hash(&mut all);
            let worth = if apart.abs() < 2 {
                weight::AT_LIMIT
            } else {
                weight::OFF_LIMIT
            };
            found.push((key((8u8, other, index, apart)), worth));
        }
        // Which of the comparisons hold, all together.
        if comparisons.len() > 1 {
            found.push((key((9u8, other, all.finish())), weight::COMPARISONS));
        }
    }
}

/// Values that are likely to be treated alike.
pub(super) fn class_of(value: &Value, ty: &Type, initial: Option<&Value>) -> u64 {
    if Some(value) == initial {
        return 0;
    }
    let bucket = |magnitude: u64| u64::from(u64::BITS - magnitude.leading_zeros());
    match value {
        Value::Bool(_) | Value::Enum(..) | Value::Void | Value::Decimal(_) => key(value),
        Value::Int(number) => match ty.int_range() {
            Some(range) if !range.is_full() && *number == range.min => 1,
            Some(range) if !range.is_full() && *number == range.max => 2,
            _ => 3 + 2 * bucket(number.unsigned_abs()) + u64::from(*number < 0),
        },
        Value::Str(text) => 3 + bucket(text.len() as u64),
        Value::Array(items) => 3 + bucket(items.len() as u64),
        Value::Struct(_, _) => 3,
    }
}
