//! Property-directed reachability (IC3): proves goals unreachable by small inductive lemmas, or finds deep runs.
//!
//! `levels[i]` holds lemmas that are true in every state reachable within `i` steps; a lemma is the negation of a cube.
//! Lemmas speak of the model only, never of the goal, so all goals of a system share them. A goal is a question "does a
//! state of level `k` meet it?"; a state that does is blocked by a new lemma, or leads back to an initial state.

use std::collections::BinaryHeap;

use rustc_hash::FxHashSet;

use super::Budget;
use super::lift::Lift;
use super::sat::{Answer, Frame, Literal, Sat};
use super::unroll::{Trace, Unrolling};
use crate::model::Model;
use crate::system::{Circuit, GoalGate};

/// Values of some state bits, by index into the bits of the circuit, in order.
pub(super) type Cube = Vec<(usize, bool)>;

pub(crate) enum Outcome {
    Reached(Trace),
    Unreachable,
    /// The budget ran out; no run of so many steps reaches the goal.
    Unknown {
        bound: usize,
    },
}

pub(crate) struct Ic3<'a> {
    model: &'a Model,
    circuit: &'a Circuit,
    /// One step, from any state.
    step: Sat<'a>,
    current: Vec<Literal>,
    next: Vec<Literal>,
    step_frame: Frame,
    /// Lemmas of level `i` and above are switched on by this.
    switches: Vec<Literal>,
    levels: Vec<Vec<Cube>>,
    /// Single states, for goals that need no step.
    state: Sat<'a>,
    state_frame: Frame,
    state_bits: Vec<Literal>,
    state_switches: Vec<Literal>,
    /// Initial states only.
    start: Sat<'a>,
    start_bits: Vec<Literal>,
    lift: Lift<'a>,
}

/// A cube to be blocked at a level.
struct Obligation {
    level: usize,
    /// Position in the chain that leads to the goal.
    node: usize,
}

impl PartialEq for Obligation {
    fn eq(&self, other: &Self) -> bool {
        self.level == other.level && self.node == other.node
    }
}

impl Eq for Obligation {}

impl PartialOrd for Obligation {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Obligation {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        // The lowest level first; among equals the newest.
        other
            .level
            .cmp(&self.level)
            .then(self.node.cmp(&other.node))
    }
}

struct Node {
    cube: Cube,
    /// The cube that this one steps into; none for the goal itself.
    toward: Option<usize>,
}

enum Blocked {
    Done,
    Run(Vec<Cube>),
    OutOfTime,
}

impl<'a> Ic3<'a> {
    pub fn new(model: &'a Model, circuit: &'a Circuit, budget: Budget<'a>) -> Self {
        let mut step = Sat::new(budget);
        let mut step_frame = Frame::default();
        let (mut current, mut next) = (Vec::new(), Vec::new());
        for bit in &circuit.bits {
            let (now, later) = (step.fresh(), step.fresh());
            step_frame.bind(bit.current, now);
            step_frame.bind(bit.next, later);
            current.push(now);
            next.push(later);
        }
        for lit in circuit
            .invar
            .iter()
            .chain(&circuit.lemmas)
            .chain(circuit.trans.iter().map(|part| &part.lit))
        {
            step_frame.require(&mut step, &circuit.aig, *lit, None);
        }
        let mut later_frame = Frame::default();
        for (bit, later) in circuit.bits.iter().zip(&next) {
            later_frame.bind(bit.current, *later);
        }
        for lit in circuit.invar.iter().chain(&circuit.lemmas) {
            later_frame.require(&mut step, &circuit.aig, *lit, None);
        }
        let (mut start, mut start_frame, start_bits) = single_state(circuit, budget);
        for lit in &circuit.init {
            start_frame.require(&mut start, &circuit.aig, *lit, None);
        }
        let (mut state, state_frame, state_bits) = single_state(circuit, budget);
        let switch = step.fresh();
        let state_switch = state.fresh();
        Self {
            model,
            circuit,
            step,
            current,
            next,
            step_frame,
            switches: vec![switch],
            levels: vec![Vec::new()],
            state,
            state_frame,
            state_bits,
            state_switches: vec![state_switch],
            start,
            start_bits,
            lift: Lift::new(circuit, budget),
        }
    }

    pub fn set_budget(&mut self, budget: Budget<'a>) {
        self.step.set_budget(budget);
        self.start.set_budget(budget);
        self.state.set_budget(budget);
        self.lift.set_budget(budget);
    }

    /// Lemmas of a level: its own and those of all levels above.
    fn assumptions(&self, level: usize) -> Vec<Literal> {
        (level.max(1)..self.switches.len())
            .map(|index| self.switches[index])
            .collect()
    }

    fn ensure_level(&mut self, level: usize) {
        while self.switches.len() <= level {
            let switch = self.step.fresh();
            self.switches.push(switch);
            let switch = self.state.fresh();
            self.state_switches.push(switch);
            self.levels.push(Vec::new());
        }
    }

    fn touches_start(&mut self, cube: &Cube) -> Answer {
        let assumptions: Vec<Literal> = cube
            .iter()
            .map(|(bit, value)| signed(self.start_bits[*bit], *value))
            .collect();
        self.start.solve(&assumptions)
    }

    /// Answers one goal.
    pub fn decide(&mut self, goal: GoalGate) -> Outcome {
        // First the initial states themselves.
        let mut level = 0;
        let bad = if goal.transition {
            self.step_frame
                .literal(&mut self.step, &self.circuit.aig, goal.lit)
        } else {
            self.state_frame
                .literal(&mut self.state, &self.circuit.aig, goal.lit)
        };
        match self.initial_hit(goal) {
            Some(Outcome::Unreachable) => {}
            Some(outcome) => return outcome,
            None => return Outcome::Unknown { bound: 0 },
        }
        loop {
            level += 1;
            self.ensure_level(level + 1);
            loop {
                if self.step.budget().over() {
                    return Outcome::Unknown { bound: level - 1 };
                }
                // A state goal may hold in a state without successor, so it is asked without the step.
                let answer = if goal.transition {
                    let mut assumptions = self.assumptions(level);
                    assumptions.push(bad);
                    self.step.solve(&assumptions)
                } else {
                    let mut assumptions = self.state_switches[level..].to_vec();
                    assumptions.push(bad);
                    self.state.solve(&assumptions)
                };
                match answer {
                    Answer::No => break,
                    Answer::Unknown => return Outcome::Unknown { bound: level - 1 },
                    Answer::Yes => {}
                }
                let cube = if goal.transition {
                    let (now, later) = (self.values(&self.current), self.values(&self.next));
                    self.lift
                        .step_cube(&now, &later, &Vec::new(), Some(goal.lit))
                } else {
                    let now: Vec<bool> = self
                        .state_bits
                        .iter()
                        .map(|lit| self.state.value(*lit))
                        .collect();
                    self.lift.state_cube(&now, goal.lit)
                };
                match self.block(cube, level) {
                    Blocked::Done => {}
                    Blocked::OutOfTime => return Outcome::Unknown { bound: level - 1 },
                    Blocked::Run(chain) => {
                        return match self.concrete(&chain, goal) {
                            Some(trace) => Outcome::Reached(trace),
                            None => Outcome::Unknown { bound: level - 1 },
                        };
                    }
                }
            }
            match self.propagate(level) {
                Some(true) => return Outcome::Unreachable,
                Some(false) => {}
                None => return Outcome::Unknown { bound: level },
            }
        }
    }

    fn initial_hit(&mut self, goal: GoalGate) -> Option<Outcome> {
        let mut unrolling = Unrolling::new(self.model, self.circuit, self.step.budget(), true);
        if goal.transition {
            unrolling.extend();
        }
        let index = self
            .circuit
            .goals
            .iter()
            .position(|other| other.lit == goal.lit && other.transition == goal.transition)?;
        let lit = unrolling.goal(0, index);
        match unrolling.solve(&[lit]) {
            Answer::Yes => Some(Outcome::Reached(unrolling.trace(unrolling.depth()))),
            Answer::No => Some(Outcome::Unreachable),
            Answer::Unknown => None,
        }
    }

    fn values(&self, lits: &[Literal]) -> Vec<bool> {
        lits.iter().map(|lit| self.step.value(*lit)).collect()
    }

    /// Blocks a cube at a level, and whatever leads there.
    fn block(&mut self, cube: Cube, top: usize) -> Blocked {
        let mut nodes = vec![Node { cube, toward: None }];
        let mut queue = BinaryHeap::new();
        queue.push(Obligation {
            level: top,
            node: 0,
        });
        while let Some(Obligation { level, node }) = queue.pop() {
            if self.step.budget().over() {
                return Blocked::OutOfTime;
            }
            let cube = nodes[node].cube.clone();
            if level == 0 {
                return Blocked::Run(chain(&nodes, node));
            }
            match self.touches_start(&cube) {
                Answer::Yes => return Blocked::Run(chain(&nodes, node)),
                Answer::Unknown => return Blocked::OutOfTime,
                Answer::No => {}
            }
            if self.covered(&cube, level) {
                if level < top {
                    queue.push(Obligation {
                        level: level + 1,
                        node,
                    });
                }
                continue;
            }
            match self.predecessor(&cube, level) {
                Err(()) => return Blocked::OutOfTime,
                Ok(Some(before)) => {
                    nodes.push(Node {
                        cube: before,
                        toward: Some(node),
                    });
                    queue.push(Obligation {
                        level: level - 1,
                        node: nodes.len() - 1,
                    });
                    queue.push(Obligation { level, node });
                }
                Ok(None) => {
                    let Some((lemma, height)) = self.generalise(cube, level) else {
                        return Blocked::OutOfTime;
                    };
                    self.learn(lemma, height);
                    if height < top {
                        queue.push(Obligation {
                            level: height + 1,
                            node,
                        });
                    }
                }
            }
        }
        Blocked::Done
    }

    fn covered(&self, cube: &Cube, level: usize) -> bool {
        self.levels[level..]
            .iter()
            .flatten()
            .any(|lemma| contains(cube, lemma))
    }

    /// A state of the level below, outside of the cube, that steps into it; none when the cube is inductive relative to it.
    fn predecessor(&mut self, cube: &Cube, level: usize) -> Result<Option<Cube>, ()> {
        match self.consecution(cube, level) {
            Answer::No => Ok(None),
            Answer::Unknown => Err(()),
            Answer::Yes => {
                let (now, later) = (self.values(&self.current), self.values(&self.next));
                Ok(Some(self.lift.step_cube(&now, &later, cube, None)))
            }
        }
    }

    /// Is there a step from the level below, outside of the cube, into it?
    fn consecution(&mut self, cube: &Cube, level: usize) -> Answer {
        let switch = self.step.fresh();
        let mut clause: Vec<Literal> = cube
            .iter()
            .map(|(bit, value)| !signed(self.current[*bit], *value))
            .collect();
        clause.push(!switch);
        self.step.clause(&clause);
        let mut assumptions = if level == 1 {
            Vec::new()
        } else {
            self.assumptions(level - 1)
        };
        assumptions.push(switch);
        assumptions.extend(
            cube.iter()
                .map(|(bit, value)| signed(self.next[*bit], *value)),
        );
        let answer = if level == 1 {
            self.solve_initially(&assumptions)
        } else {
            self.step.solve(&assumptions)
        };
        self.step.clause(&[!switch]);
        answer
    }

    /// Level zero is the initial states: their conditions are switched on for the question.
    fn solve_initially(&mut self, assumptions: &[Literal]) -> Answer {
        let switch = self.start_switch();
        let mut all = vec![switch];
        all.extend(assumptions);
        self.step.solve(&all)
    }

    fn start_switch(&mut self) -> Literal {
        let switch = self.switches[0];
        if self.levels[0].is_empty() {
            // Once; an empty cube marks that it is done.
            self.levels[0].push(Vec::new());
            for lit in &self.circuit.init {
                self.step_frame
                    .require(&mut self.step, &self.circuit.aig, *lit, Some(!switch));
            }
        }
        switch
    }

    /// Drops bits of a blocked cube as long as it stays blocked, and finds how high up it holds.
    fn generalise(&mut self, cube: Cube, level: usize) -> Option<(Cube, usize)> {
        let mut cube = self.shrink_to_core(cube);
        let mut tried = 0;
        let order: Vec<(usize, bool)> = cube.clone();
        for literal in order {
            if cube.len() <= 1 || tried > 40 {
                break;
            }
            let candidate: Cube = cube
                .iter()
                .copied()
                .filter(|other| *other != literal)
                .collect();
            if candidate.len() == cube.len() {
                continue;
            }
            match self.touches_start(&candidate) {
                Answer::Yes => continue,
                Answer::Unknown => return None,
                Answer::No => {}
            }
            match self.consecution(&candidate, level) {
                Answer::No => {
                    cube = self.shrink_to_core(candidate);
                    tried = 0;
                }
                Answer::Yes => tried += 1,
                Answer::Unknown => return None,
            }
        }
        let mut height = level;
        while height + 1 < self.levels.len() {
            match self.consecution(&cube, height + 1) {
                Answer::No => height += 1,
                Answer::Yes => break,
                Answer::Unknown => return None,
            }
        }
        Some((cube, height))
    }

    /// After a refused step into the cube: only the bits to blame, kept away from the initial states.
    fn shrink_to_core(&mut self, cube: Cube) -> Cube {
        let core: FxHashSet<Literal> = self.step.core().into_iter().collect();
        let small: Cube = cube
            .iter()
            .copied()
            .filter(|(bit, value)| core.contains(&signed(self.next[*bit], *value)))
            .collect();
        if small.len() == cube.len() || small.is_empty() {
            return cube;
        }
        if self.touches_start(&small) == Answer::No {
            return small;
        }
        // Add back one bit after the other until the initial states are left out again.
        let mut small = small;
        for literal in &cube {
            if small.contains(literal) {
                continue;
            }
            small.push(*literal);
            small.sort_unstable();
            if self.touches_start(&small) == Answer::No {
                return small;
            }
        }
        cube
    }

    fn learn(&mut self, cube: Cube, level: usize) {
        let mut clause: Vec<Literal> = cube
            .iter()
            .map(|(bit, value)| !signed(self.current[*bit], *value))
            .collect();
        clause.push(!self.switches[level]);
        self.step.clause(&clause);
        let mut clause: Vec<Literal> = cube
            .iter()
            .map(|(bit, value)| !signed(self.state_bits[*bit], *value))
            .collect();
        clause.push(!self.state_switches[level]);
        self.state.clause(&clause);
        for lower in &mut self.levels[1..=level] {
            lower.retain(|other| !contains(other, &cube));
        }
        self.levels[level].push(cube);
    }

    /// Pushes lemmas up. `Some(true)`: a level equals the next one, so its lemmas hold for ever.
    fn propagate(&mut self, top: usize) -> Option<bool> {
        for level in 1..=top {
            for cube in self.levels[level].clone() {
                if !self.levels[level].contains(&cube) {
                    continue;
                }
                match self.consecution(&cube, level + 1) {
                    Answer::No => self.learn(cube, level + 1),
                    Answer::Yes => {}
                    Answer::Unknown => return None,
                }
            }
            if self.levels[level].is_empty() {
                return Some(true);
            }
        }
        Some(false)
    }

    /// A run of states along a chain of cubes, the first of which meets the initial states.
    fn concrete(&mut self, chain: &[Cube], goal: GoalGate) -> Option<Trace> {
        let steps = chain.len() - 1 + usize::from(goal.transition);
        let mut unrolling = Unrolling::new(self.model, self.circuit, self.step.budget(), true);
        while unrolling.depth() < steps {
            unrolling.extend();
        }
        let index = self
            .circuit
            .goals
            .iter()
            .position(|other| other.lit == goal.lit && other.transition == goal.transition)?;
        let mut assumptions = Vec::new();
        for (frame, cube) in chain.iter().enumerate() {
            let lits = unrolling.bit_lits(frame);
            assumptions.extend(cube.iter().map(|(bit, value)| signed(lits[*bit], *value)));
        }
        assumptions.push(unrolling.goal(chain.len() - 1, index));
        match unrolling.solve(&assumptions) {
            Answer::Yes => Some(unrolling.trace(steps)),
            _ => None,
        }
    }
}

/// A solver for one state in which everything holds that always holds.
fn single_state<'a>(circuit: &Circuit, budget: Budget<'a>) -> (Sat<'a>, Frame, Vec<Literal>) {
    let mut sat = Sat::new(budget);
    let mut frame = Frame::default();
    let bits = circuit
        .bits
        .iter()
        .map(|bit| {
            let lit = sat.fresh();
            frame.bind(bit.current, lit);
            lit
        })
        .collect();
    for lit in circuit.invar.iter().chain(&circuit.lemmas) {
        frame.require(&mut sat, &circuit.aig, *lit, None);
    }
    (sat, frame, bits)
}

pub(super) fn signed(lit: Literal, value: bool) -> Literal {
    if value { lit } else { !lit }
}

/// Whether every literal of `small` is in `large`.
fn contains(large: &Cube, small: &Cube) -> bool {
    let mut rest = large.iter();
    small
        .iter()
        .all(|literal| rest.any(|other| other == literal))
}

fn chain(nodes: &[Node], from: usize) -> Vec<Cube> {
    let mut cubes = Vec::new();
    let mut at = Some(from);
    while let Some(index) = at {
        cubes.push(nodes[index].cube.clone());
        at = nodes[index].toward;
    }
    cubes
}
