//! Symbolic reachability with binary decision diagrams: one least fixpoint, ring by ring, shared by all goals. A goal that meets a ring gets a
//! shortest run; a goal that meets none when the rings are complete cannot be reached.

use oxidd::bcdd::{BCDDFunction, BCDDManagerRef};
use oxidd::util::{AllocResult, OptBool, OutOfMemory};
use oxidd::{
    BooleanFunction, BooleanFunctionQuant, BooleanOperator, Function, FunctionSubst, Manager,
    ManagerRef, Subst, VarNo,
};
use rustc_hash::FxHashMap;

use super::Budget;
use super::order::Order;
use super::unroll::Trace;
use crate::circuit::code::{decode, width};
use crate::circuit::{Gate, Lit};
use crate::system::Circuit;

/// Conditions are joined as long as the diagram stays below this size.
const CLUSTER_NODES: usize = 5000;

/// Why the fixpoint ended before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    Time,
    Memory,
    /// The caller wants no more.
    Enough,
}

impl From<OutOfMemory> for Halt {
    fn from(_: OutOfMemory) -> Self {
        Self::Memory
    }
}

type Halting<T> = Result<T, Halt>;

/// What the fixpoint reports while it grows.
pub(crate) enum Event {
    /// A goal is reached by this run.
    Reached { goal: usize, trace: Trace },
    /// A ring was added; the rings up to this number are complete.
    Ring(usize),
}

struct Cluster {
    relation: BCDDFunction,
    /// Current bits and inputs that no later cluster mentions.
    quantify: BCDDFunction,
}

pub(crate) struct Fixpoint<'a> {
    circuit: &'a Circuit,
    budget: Budget<'a>,
    manager: BCDDManagerRef,
    /// For every bit of the circuit, its place in the order.
    place: Vec<u32>,
    gates: FxHashMap<usize, BCDDFunction>,
    clusters: Vec<Cluster>,
    invar: BCDDFunction,
    to_current: Vec<(VarNo, BCDDFunction)>,
    rings: Vec<BCDDFunction>,
    capacity: usize,
}

fn current_var(place: u32) -> VarNo {
    2 * place
}

fn next_var(place: u32) -> VarNo {
    2 * place + 1
}

impl<'a> Fixpoint<'a> {
    pub fn new(
        circuit: &'a Circuit,
        order: &Order,
        nodes: usize,
        budget: Budget<'a>,
    ) -> Halting<Self> {
        let manager = oxidd::bcdd::new_manager(nodes, (nodes / 2).max(1 << 12), 1);
        let count = u32::try_from(circuit.bits.len()).map_err(|_| Halt::Memory)?;
        let (invar, to_current) = manager.with_manager_exclusive(|manager| -> AllocResult<_> {
            manager.add_vars(2 * count);
            let mut to_current = Vec::new();
            for place in 0..count {
                to_current.push((
                    next_var(place),
                    BCDDFunction::var(manager, current_var(place))?,
                ));
            }
            Ok((BCDDFunction::t(manager), to_current))
        })?;
        let mut place = vec![0; circuit.bits.len()];
        for (at, bit) in order.iter().enumerate() {
            place[*bit] = u32::try_from(at).map_err(|_| Halt::Memory)?;
        }
        let mut fixpoint = Self {
            circuit,
            budget,
            manager,
            place,
            gates: FxHashMap::default(),
            clusters: Vec::new(),
            invar,
            to_current,
            rings: Vec::new(),
            capacity: nodes,
        };
        fixpoint.prepare()?;
        Ok(fixpoint)
    }

    fn check_time(&self) -> Halting<()> {
        if self.budget.over() {
            Err(Halt::Time)
        } else {
            Ok(())
        }
    }

    fn truth(&self) -> BCDDFunction {
        self.manager
            .with_manager_shared(|manager| BCDDFunction::t(manager))
    }

    fn nodes(&self) -> usize {
        self.manager
            .with_manager_shared(|manager| manager.approx_num_inner_nodes())
    }

    fn collect(&self) {
        if self.nodes() > self.capacity / 2 {
            self.manager.with_manager_shared(|manager| manager.gc());
        }
    }

    fn prepare(&mut self) -> Halting<()> {
        let bits: Vec<(u32, Lit, Lit)> = self
            .circuit
            .bits
            .iter()
            .zip(&self.place)
            .map(|(bit, place)| (*place, bit.current, bit.next))
            .collect();
        for (place, current, next) in bits {
            let (now, later) = self
                .manager
                .with_manager_shared(|manager| -> AllocResult<_> {
                    Ok((
                        BCDDFunction::var(manager, current_var(place))?,
                        BCDDFunction::var(manager, next_var(place))?,
                    ))
                })?;
            self.gates.insert(current.gate(), now);
            self.gates.insert(next.gate(), later);
        }
        let truth = self.truth();
        self.gates.insert(0, truth.not()?);
        for lit in &self.circuit.invar.clone() {
            let condition = self.function(*lit)?;
            self.invar = self.invar.and(&condition)?;
        }
        let mut relations = Vec::new();
        for part in &self.circuit.trans.clone() {
            relations.push((
                self.function(part.lit)?,
                self.circuit.aig.support(&[part.lit]),
            ));
        }
        self.cluster(relations)
    }

    /// The diagram of a gate.
    fn function(&mut self, root: Lit) -> Halting<BCDDFunction> {
        let mut open = vec![root.gate()];
        let mut steps = 0_u32;
        while let Some(gate) = open.last().copied() {
            if self.gates.contains_key(&gate) {
                open.pop();
                continue;
            }
            let Gate::And(a, b) = self.circuit.aig.gate(gate) else {
                // An input that belongs to no bit cannot occur: every variable of a condition is in the system.
                return Err(Halt::Memory);
            };
            match (self.gates.get(&a.gate()), self.gates.get(&b.gate())) {
                (Some(left), Some(right)) => {
                    let left = if a.negated() {
                        left.not()?
                    } else {
                        left.clone()
                    };
                    let right = if b.negated() {
                        right.not()?
                    } else {
                        right.clone()
                    };
                    let result = left.and(&right)?;
                    self.gates.insert(gate, result);
                    open.pop();
                    steps += 1;
                    if steps.is_multiple_of(64) {
                        self.check_time()?;
                    }
                }
                (left, right) => {
                    if left.is_none() {
                        open.push(a.gate());
                    }
                    if right.is_none() {
                        open.push(b.gate());
                    }
                }
            }
        }
        let found = &self.gates[&root.gate()];
        Ok(if root.negated() {
            found.not()?
        } else {
            found.clone()
        })
    }

    /// Joins small conditions and orders them so that bits can be forgotten early.
    fn cluster(&mut self, relations: Vec<(BCDDFunction, Vec<usize>)>) -> Halting<()> {
        let mut forgettable: FxHashMap<usize, VarNo> = FxHashMap::default();
        for (bit, place) in self.circuit.bits.iter().zip(&self.place) {
            forgettable.insert(bit.current.gate(), current_var(*place));
        }
        // Next: the condition that lets go of most bits relative to the new ones it brings.
        let mut left = relations;
        let mut uses: FxHashMap<usize, usize> = FxHashMap::default();
        for (_, support) in &left {
            for gate in support {
                *uses.entry(*gate).or_default() += 1;
            }
        }
        let mut ordered: Vec<(BCDDFunction, Vec<usize>)> = Vec::new();
        let mut seen: rustc_hash::FxHashSet<usize> = rustc_hash::FxHashSet::default();
        while !left.is_empty() {
            let score = |support: &[usize]| -> (i64, i64) {
                let gone = support
                    .iter()
                    .filter(|gate| forgettable.contains_key(gate) && uses[gate] == 1)
                    .count() as i64;
                let fresh = support.iter().filter(|gate| !seen.contains(gate)).count() as i64;
                (2 * gone - fresh, -(support.len() as i64))
            };
            let best = (0..left.len())
                .max_by_key(|index| (score(&left[*index].1), std::cmp::Reverse(*index)))
                .unwrap_or(0);
            let (relation, support) = left.remove(best);
            for gate in &support {
                seen.insert(*gate);
                if let Some(count) = uses.get_mut(gate) {
                    *count -= 1;
                }
            }
            ordered.push((relation, support));
        }
        let mut joined: Vec<(BCDDFunction, Vec<usize>)> = Vec::new();
        for (relation, support) in ordered {
            self.check_time()?;
            if let Some((last, last_support)) = joined.last_mut()
                && last.node_count() + relation.node_count() < CLUSTER_NODES
            {
                let both = last.and(&relation)?;
                if both.node_count() < CLUSTER_NODES {
                    *last = both;
                    last_support.extend(support);
                    last_support.sort_unstable();
                    last_support.dedup();
                    continue;
                }
            }
            joined.push((relation, support));
        }
        let mut last_use: FxHashMap<usize, usize> = FxHashMap::default();
        for (index, (_, support)) in joined.iter().enumerate() {
            for gate in support {
                last_use.insert(*gate, index);
            }
        }
        let truth = self.truth();
        if joined.is_empty() {
            joined.push((truth.clone(), Vec::new()));
        }
        let mut quantify = vec![truth; joined.len()];
        for (gate, var) in &forgettable {
            let at = last_use.get(gate).copied().unwrap_or(0);
            let variable = self
                .manager
                .with_manager_shared(|manager| BCDDFunction::var(manager, *var))?;
            quantify[at] = quantify[at].and(&variable)?;
        }
        self.clusters = joined
            .into_iter()
            .zip(quantify)
            .map(|((relation, _), quantify)| Cluster { relation, quantify })
            .collect();
        Ok(())
    }

    /// The states after one step from a set, in the bits of the current state.
    fn image(&self, states: &BCDDFunction) -> Halting<BCDDFunction> {
        let mut result = states.clone();
        for cluster in &self.clusters {
            result =
                result.apply_exists(BooleanOperator::And, &cluster.relation, &cluster.quantify)?;
            self.check_time()?;
        }
        let (vars, functions): (Vec<VarNo>, Vec<BCDDFunction>) =
            self.to_current.iter().cloned().unzip();
        let subst = Subst::new(vars, functions);
        let result = result.substitute(&subst)?;
        self.check_time()?;
        Ok(result.and(&self.invar)?)
    }

    /// Runs the fixpoint. `wanted` says which goals are still of interest; `report` gets runs and progress and answers
    /// whether to go on. `Ok` means that the rings are complete.
    pub fn run(
        &mut self,
        wanted: &dyn Fn(usize) -> bool,
        report: &mut dyn FnMut(Event) -> bool,
    ) -> Halting<()> {
        let mut start = self.invar.clone();
        for lit in &self.circuit.init.clone() {
            let condition = self.function(*lit)?;
            start = start.and(&condition)?;
        }
        let mut goals = Vec::new();
        for (index, goal) in self.circuit.goals.clone().iter().enumerate() {
            if wanted(index) {
                goals.push((index, self.function(goal.lit)?, goal.transition));
            }
        }
        // The gates were needed only to build these.
        self.gates.clear();
        let mut reached = start.clone();
        let mut frontier = start;
        while frontier.satisfiable() {
            self.collect();
            self.rings.push(frontier.clone());
            goals.retain(|(index, _, _)| wanted(*index));
            for (index, goal, transition) in &goals {
                self.check_time()?;
                if !wanted(*index) {
                    continue;
                }
                let hits = frontier.and(goal)?;
                if !hits.satisfiable() {
                    continue;
                }
                let trace = if *transition {
                    self.trace_step(&hits, goal)?
                } else {
                    Some(self.trace(&hits)?)
                };
                if let Some(trace) = trace
                    && !report(Event::Reached {
                        goal: *index,
                        trace,
                    })
                {
                    return Err(Halt::Enough);
                }
            }
            if !report(Event::Ring(self.rings.len() - 1)) {
                return Err(Halt::Enough);
            }
            let image = self.image(&frontier)?;
            frontier = image.and(&reached.not()?)?;
            reached = reached.or(&frontier)?;
        }
        Ok(())
    }

    /// A run that ends in one of the states, which are all in the last ring.
    fn trace(&self, ends: &BCDDFunction) -> Halting<Trace> {
        self.trace_through(ends, None)
    }

    /// A run that ends with a step on which the goal holds.
    fn trace_step(&self, hits: &BCDDFunction, goal: &BCDDFunction) -> Halting<Option<Trace>> {
        // The goal may mention next bits, so it takes part in the product like a cluster.
        let mut product = hits.clone();
        for cluster in &self.clusters {
            product = product.and(&cluster.relation)?;
            self.check_time()?;
        }
        let later = self.invar_next()?;
        let product = product.and(&later)?.and(goal)?;
        if !product.satisfiable() {
            return Ok(None);
        }
        let cube = self.pick(&product)?;
        let last = self.state(&cube, true);
        let from = self.state_cube(&cube)?;
        let mut trace = self.trace_through(&from, Some(&cube))?;
        trace.push(last);
        Ok(Some(trace))
    }

    fn next_functions(&self) -> Halting<Vec<BCDDFunction>> {
        Ok(self.manager.with_manager_shared(|manager| {
            self.to_current
                .iter()
                .map(|(next, _)| BCDDFunction::var(manager, *next))
                .collect::<AllocResult<Vec<_>>>()
        })?)
    }

    /// What holds in every state, over the next bits.
    fn invar_next(&self) -> Halting<BCDDFunction> {
        let functions = self.next_functions()?;
        let vars: Vec<VarNo> = self.to_current.iter().map(|(next, _)| next - 1).collect();
        let subst = Subst::new(vars, functions);
        Ok(self.invar.substitute(&subst)?)
    }

    /// One assignment of all bits, current and next.
    fn pick(&self, set: &BCDDFunction) -> Halting<Vec<bool>> {
        let cube = set.pick_cube(|_, _, _| false).ok_or(Halt::Memory)?;
        Ok(cube
            .into_iter()
            .map(|value| value == OptBool::True)
            .collect())
    }

    fn state(&self, cube: &[bool], next: bool) -> Vec<crate::value::Value> {
        let mut at = 0;
        self.circuit
            .domains
            .iter()
            .map(|domain| {
                let wide = width(domain);
                let bits: Vec<bool> = (at..at + wide)
                    .map(|bit| {
                        let place = self.place[bit];
                        cube[if next {
                            next_var(place)
                        } else {
                            current_var(place)
                        } as usize]
                    })
                    .collect();
                at += wide;
                let value = decode(domain, &bits);
                if domain.contains(value) {
                    value
                } else {
                    domain.value(0)
                }
            })
            .collect()
    }

    /// The one state that the current bits of a cube stand for, inputs left open.
    fn state_cube(&self, cube: &[bool]) -> Halting<BCDDFunction> {
        self.cube(cube, current_var)
    }

    fn cube(&self, cube: &[bool], to: fn(u32) -> VarNo) -> Halting<BCDDFunction> {
        let mut result = self.truth();
        let mut bits: Vec<u32> = self
            .circuit
            .bits
            .iter()
            .zip(&self.place)
            .filter(|(bit, _)| !bit.input)
            .map(|(_, place)| *place)
            .collect();
        bits.sort_unstable_by_key(|place| std::cmp::Reverse(*place));
        for place in bits {
            let value = cube[current_var(place) as usize];
            let literal = self.manager.with_manager_shared(|manager| {
                if value {
                    BCDDFunction::var(manager, to(place))
                } else {
                    BCDDFunction::not_var(manager, to(place))
                }
            })?;
            result = result.and(&literal)?;
        }
        Ok(result)
    }

    /// Goes back ring by ring. `last` gives the inputs of the last state when they are decided already.
    fn trace_through(&self, ends: &BCDDFunction, last: Option<&[bool]>) -> Halting<Trace> {
        let mut cube = self.pick(ends)?;
        if let Some(last) = last {
            cube = last.to_vec();
        }
        let mut trace = vec![self.state(&cube, false)];
        for ring in self.rings[..self.rings.len() - 1].iter().rev() {
            self.check_time()?;
            let target = self.cube(&cube, next_var)?;
            let mut before = ring.clone();
            for cluster in &self.clusters {
                before = before.and(&cluster.relation.restrict(&target)?)?;
            }
            cube = self.pick(&before)?;
            trace.push(self.state(&cube, false));
        }
        trace.reverse();
        Ok(trace)
    }
}
