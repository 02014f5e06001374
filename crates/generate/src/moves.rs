//! One step of the whole network of processes: a switch alone, or the switches of a hand-shake.

use std::collections::BTreeSet;
use std::rc::Rc;

use ioco_solve::Deadline;
use ioco_sts::{
    Action, BinaryOp, Direction, Env, Expr, Gate, LabelId, LocationId, State, Sts, SwitchId, Type,
    UnaryOp, Value, VarId,
};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;
use rustc_hash::FxHashMap;

/// Solver steps for values that nothing asks for.
const FREE_STEPS: u64 = 10_000;

/// The number of a move in its [`MoveTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MoveId(u32);

/// Hands out the numbers.
#[derive(Default)]
pub(crate) struct MoveIds(u32);

impl MoveIds {
    fn next(&mut self) -> MoveId {
        self.0 += 1;
        MoveId(self.0)
    }
}

/// A step that locations allow, whatever the data says, with what is worth knowing about it before
/// any value is.
#[derive(Clone, Debug)]
pub struct Move {
    pub(crate) id: MoveId,
    /// The switches that are taken together: one, or the sender of a hand-shake and then its
    /// receivers.
    pub switches: Vec<SwitchId>,
    /// The label whose parameters the guards speak of.
    pub label: Option<LabelId>,
    /// Seen from outside, so counted.
    pub observable: bool,
    /// Under which condition on variables and parameters it can be made.
    pub guard: Expr,
    /// The variables that the guard reads.
    pub reads: Vec<VarId>,
    /// Per parameter of the label: its number among the unknowns of this move, or `None` where
    /// nothing speaks of it.
    pub unknowns: Vec<Option<u32>>,
    /// Per parameter of the label, its value where nothing speaks of it: any of its type for a stimulus, which
    /// the tester has to send; unset otherwise.
    pub(crate) free: Vec<Value>,
    /// The types of the unknowns.
    pub types: Vec<Type>,
    /// The guard holds only where every unknown has a value.
    pub always_set: bool,
    /// The move that this one is, when something more is asked of it.
    pub plain: Option<Rc<Move>>,
}

/// What moves are compared by: the rest follows from it, and the number says only which table made the move, and when.
impl PartialEq for Move {
    fn eq(&self, other: &Move) -> bool {
        self.switches == other.switches
            && self.guard == other.guard
            && self.unknowns == other.unknowns
            && self.plain.is_some() == other.plain.is_some()
    }
}

impl Eq for Move {}

impl Move {
    /// The same move where a condition on variables and parameters, before the update, holds too.
    fn on_condition(sts: &Sts, id: MoveId, plain: &Rc<Move>, condition: &Expr) -> Move {
        let switches = plain.switches.clone();
        let mut narrowed = Move::with(
            sts,
            id,
            switches,
            plain.label,
            plain.observable,
            Some(condition),
        );
        narrowed.plain = Some(Rc::clone(plain));
        if is_contradictory(&narrowed.guard) {
            narrowed.guard = Expr::FALSE;
            narrowed.reads.clear();
        }
        narrowed
    }

    fn with(
        sts: &Sts,
        id: MoveId,
        switches: Vec<SwitchId>,
        label: Option<LabelId>,
        observable: bool,
        condition: Option<&Expr>,
    ) -> Move {
        let mut spoken_of = BTreeSet::new();
        if let Some(condition) = condition.filter(|_| observable) {
            spoken_of.extend(condition.params());
        }
        for id in &switches {
            let switch = sts.switch(*id);
            spoken_of.extend(switch.guard.params());
            // In a hand-shake, what no guard mentions is never sent.
            if observable {
                for assignment in &switch.update {
                    spoken_of.extend(assignment.value.params());
                }
            }
        }
        let mut types = Vec::new();
        let parameters = label.map_or(&[][..], |label| &sts.label(label).parameters);
        let unknowns: Vec<Option<u32>> = parameters
            .iter()
            .enumerate()
            .map(|(position, parameter)| {
                spoken_of.contains(&(position as u32)).then(|| {
                    types.push(parameter.ty.clone());
                    types.len() as u32 - 1
                })
            })
            .collect();
        let guard = switches
            .iter()
            .map(|id| &sts.switch(*id).enabled)
            .chain(condition)
            .map(|part| unset_where_unknown(part, &unknowns))
            .reduce(Expr::and)
            .unwrap_or(Expr::TRUE);
        let mut set = BTreeSet::new();
        must_be_set(&guard, &mut set);
        let free = free_values(sts, label.filter(|_| observable), &unknowns);
        Move {
            id,
            always_set: set.len() == types.len(),
            reads: guard.vars().into_iter().collect(),
            switches,
            label,
            observable,
            guard,
            unknowns,
            free,
            types,
            plain: None,
        }
    }

    /// The move without what is asked of it in addition.
    pub(crate) fn plain(step: &Rc<Move>) -> &Rc<Move> {
        step.plain.as_ref().unwrap_or(step)
    }

    /// Whether the tester makes it.
    pub(crate) fn is_stimulus(&self, sts: &Sts) -> bool {
        let label = self.label.filter(|_| self.observable);
        label.is_some_and(|label| sts.label(label).direction == Direction::Stimulus)
    }

    /// The state after the move with these values of the label's parameters; `None` where it cannot be made.
    pub(crate) fn fire(&self, sts: &Sts, state: &State, values: &[Value]) -> Option<State> {
        let env = Env {
            variables: &state.valuation,
            parameters: values,
            functions: sts.functions(),
        };
        if self.guard.holds(env) != Ok(true) {
            return None;
        }
        let mut next = state.clone();
        for id in &self.switches {
            let switch = sts.switch(*id);
            for assignment in &switch.update {
                next.valuation[assignment.variable.index()] = assignment.value.eval(env).ok()?;
            }
            next.locations[sts.location(switch.source).process.index()] = switch.target;
        }
        Some(next)
    }

    /// The values of the label's parameters, where the unknowns of this move are the first of
    /// `unknowns`.
    pub fn parameters(&self, unknowns: &[Value]) -> Vec<Value> {
        let value = |(unknown, free): (&Option<u32>, &Value)| match unknown {
            Some(number) => unknowns[*number as usize].clone(),
            None => free.clone(),
        };
        self.unknowns.iter().zip(&self.free).map(value).collect()
    }

    /// The label with these values; `None` for an internal step.
    pub fn action(&self, unknowns: &[Value]) -> Option<Action> {
        let label = self.label.filter(|_| self.observable)?;
        Some(Action {
            label,
            values: self.parameters(unknowns),
        })
    }
}

/// Whether something and its negation are asked for, word by word. A solver may take long to see it.
pub(crate) fn is_contradictory(guard: &Expr) -> bool {
    let all = guard.conjuncts();
    all.iter().any(|part| match part {
        Expr::Unary(UnaryOp::Not, inner) => inner.conjuncts().iter().all(|part| all.contains(part)),
        _ => false,
    })
}

/// The parameters without which a guard does not hold, as far as is easily seen: `:void` is neither
/// more nor less than anything, and no arithmetic works on it.
pub(crate) fn must_be_set(guard: &Expr, found: &mut BTreeSet<u32>) {
    use BinaryOp::{And, Eq, Ge, Gt, Le, Lt};
    match guard {
        Expr::Binary(And, both) => both.iter().for_each(|part| must_be_set(part, found)),
        Expr::Binary(Lt | Le | Gt | Ge, both) => both.iter().for_each(|side| needed(side, found)),
        Expr::Binary(Eq, both) => match &**both {
            [side, Expr::Const(value)] | [Expr::Const(value), side] if !value.is_void() => {
                needed(side, found);
            }
            // Equal to each other they may be unset, but not as parts of a sum.
            [left, right] => {
                let sides = [left, right].into_iter();
                let computed = sides.filter(|side| !matches!(side, Expr::Param(_)));
                computed.for_each(|side| needed(side, found));
            }
        },
        _ => {}
    }
}

/// The parameters that an operand cannot do without.
fn needed(operand: &Expr, found: &mut BTreeSet<u32>) {
    use BinaryOp::{Add, Div, Mul, Rem, Sub};
    match operand {
        Expr::Param(position) => {
            found.insert(*position);
        }
        Expr::Binary(Add | Sub | Mul | Div | Rem, both) => {
            both.iter().for_each(|side| needed(side, found));
        }
        _ => {}
    }
}

/// The guard with the parameters that stay unset replaced by `:void`.
fn unset_where_unknown(guard: &Expr, unknowns: &[Option<u32>]) -> Expr {
    let is_unset = |position: u32| unknowns.get(position as usize).copied().flatten().is_none();
    guard.substitute(&|part| match part {
        Expr::Param(position) if is_unset(*position) => Some(Expr::Const(Value::Void)),
        _ => None,
    })
}

/// Values for the parameters that nothing speaks of, one for each parameter of the label.
fn free_values(sts: &Sts, label: Option<LabelId>, unknowns: &[Option<u32>]) -> Vec<Value> {
    let unset = || vec![Value::Void; unknowns.len()];
    let is_stimulus = |label: &LabelId| sts.label(*label).direction == Direction::Stimulus;
    let Some(label) = label.filter(is_stimulus) else {
        return unset();
    };
    if unknowns.iter().all(Option::is_some) {
        return unset();
    }
    // The same for every move with this label, so that suites repeat.
    let mut rng = ChaCha8Rng::seed_from_u64(label.index() as u64);
    let deadline = Deadline::steps(FREE_STEPS);
    let any = ioco_solve::choose_values(sts, label, &Expr::TRUE, &[], &mut rng, &deadline);
    any.sat().unwrap_or_else(unset)
}

/// The moves that leave locations, and those that a condition narrows; each is made once.
#[derive(Default)]
pub(crate) struct MoveTable {
    ids: MoveIds,
    moves: FxHashMap<Box<[LocationId]>, Rc<[Rc<Move>]>>,
    narrowed: FxHashMap<(MoveId, Expr), Rc<Move>>,
    /// The processes that move, where not all do.
    processes: Option<BTreeSet<usize>>,
}

impl MoveTable {
    pub fn from(&mut self, sts: &Sts, locations: &[LocationId]) -> Rc<[Rc<Move>]> {
        if let Some(known) = self.moves.get(locations) {
            return Rc::clone(known);
        }
        let ids = &mut self.ids;
        let moves = match &self.processes {
            None => moves_of(sts, locations, 0..locations.len(), ids),
            Some(processes) => moves_of(sts, locations, processes.iter().copied(), ids),
        };
        let moves: Rc<[Rc<Move>]> = moves.into_iter().map(Rc::new).collect();
        self.moves.insert(locations.into(), Rc::clone(&moves));
        moves
    }

    /// A move of this table, where a condition on variables and parameters, before the update, holds too.
    pub fn narrowed(&mut self, sts: &Sts, step: &Rc<Move>, condition: &Expr) -> Rc<Move> {
        if *condition == Expr::TRUE {
            return Rc::clone(step);
        }
        let ids = &mut self.ids;
        let narrowed = self.narrowed.entry((step.id, condition.clone()));
        let make = || Rc::new(Move::on_condition(sts, ids.next(), step, condition));
        Rc::clone(narrowed.or_insert_with(make))
    }

    /// A condition on variables, as a move that changes nothing.
    pub fn condition_alone(&mut self, condition: Expr) -> Rc<Move> {
        Rc::new(Move {
            id: self.ids.next(),
            switches: Vec::new(),
            label: None,
            observable: false,
            reads: condition.vars().into_iter().collect(),
            guard: condition,
            unknowns: Vec::new(),
            free: Vec::new(),
            types: Vec::new(),
            always_set: true,
            plain: None,
        })
    }

    /// From now on, only these processes move.
    pub fn restrict(&mut self, processes: &BTreeSet<usize>) {
        if self.processes.as_ref() != Some(processes) {
            self.processes = Some(processes.clone());
            self.moves.clear();
            self.narrowed.clear();
        }
    }
}

/// The locations after a move.
pub(crate) fn target(sts: &Sts, locations: &[LocationId], step: &Move) -> Box<[LocationId]> {
    let mut next: Box<[LocationId]> = locations.into();
    for id in &step.switches {
        let switch = sts.switch(*id);
        next[sts.location(switch.source).process.index()] = switch.target;
    }
    next
}

/// The moves that leave a combination of locations, in the order of the model text.
pub fn moves_from(sts: &Sts, locations: &[LocationId]) -> Vec<Move> {
    moves_of(sts, locations, 0..locations.len(), &mut MoveIds::default())
}

/// Those moves that begin in one of these processes.
pub(crate) fn moves_of(
    sts: &Sts,
    locations: &[LocationId],
    processes: impl IntoIterator<Item = usize>,
    ids: &mut MoveIds,
) -> Vec<Move> {
    let mut moves = Vec::new();
    let mut make = |switches, label, observable| {
        Move::with(sts, ids.next(), switches, label, observable, None)
    };
    for process in processes {
        for &id in sts.outgoing(locations[process]) {
            match sts.switch(id).gate {
                Gate::Tau => moves.push(make(vec![id], None, false)),
                Gate::Observable(label) => {
                    moves.push(make(vec![id], Some(label), true));
                }
                Gate::Send(label) => {
                    let groups = sts.handshakes(locations, id, label);
                    let moved = groups.into_iter();
                    moves.extend(moved.map(|group| make(group, Some(label), false)));
                }
                Gate::Receive(_) => {}
            }
        }
    }
    moves
}
