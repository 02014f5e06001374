//! Bounded model checking: one solver, one copy of the circuit for every step, shared by all goals.

use rustc_hash::FxHashMap;

use super::Budget;
use super::sat::{Answer, Frame, Literal, Sat};
use crate::circuit::Lit;
use crate::circuit::code::{decode, encode_value, width};
use crate::expr::VarId;
use crate::model::Model;
use crate::system::{Circuit, GoalGate};
use crate::value::Value;

/// A run over the variables of a system: for every step, their values in the order of the circuit.
pub(crate) type Trace = Vec<Vec<Value>>;

pub(crate) struct Unrolling<'a> {
    circuit: &'a Circuit,
    model: &'a Model,
    sat: Sat<'a>,
    frames: Vec<Frame>,
    /// For every frame, the literals of the bits.
    bits: Vec<Vec<Literal>>,
    goal_lits: FxHashMap<(usize, usize), Literal>,
}

impl<'a> Unrolling<'a> {
    /// `initial`: whether the first frame is an initial state, or any state.
    pub fn new(model: &'a Model, circuit: &'a Circuit, budget: Budget<'a>, initial: bool) -> Self {
        Self::with(model, circuit, Sat::new(budget), initial)
    }

    pub fn with(model: &'a Model, circuit: &'a Circuit, sat: Sat<'a>, initial: bool) -> Self {
        let mut unrolling = Self {
            circuit,
            model,
            sat,
            frames: Vec::new(),
            bits: Vec::new(),
            goal_lits: FxHashMap::default(),
        };
        unrolling.push_frame();
        if initial {
            for lit in &circuit.init {
                unrolling.frames[0].require(&mut unrolling.sat, &circuit.aig, *lit, None);
            }
        }
        unrolling
    }

    /// Steps so far: one less than frames.
    pub fn depth(&self) -> usize {
        self.frames.len() - 1
    }

    /// No more steps fit into the solver.
    pub fn is_full(&self) -> bool {
        self.sat.is_full()
    }

    pub fn set_budget(&mut self, budget: Budget<'a>) {
        self.sat.set_budget(budget);
    }

    fn push_frame(&mut self) {
        let mut frame = Frame::default();
        let mut lits = Vec::with_capacity(self.circuit.bits.len());
        for bit in &self.circuit.bits {
            let lit = self.sat.fresh();
            frame.bind(bit.current, lit);
            lits.push(lit);
        }
        for lit in self.circuit.invar.iter().chain(&self.circuit.lemmas) {
            frame.require(&mut self.sat, &self.circuit.aig, *lit, None);
        }
        self.frames.push(frame);
        self.bits.push(lits);
    }

    /// One more step.
    pub fn extend(&mut self) {
        let last = self.frames.len() - 1;
        self.push_frame();
        for (bit, lit) in self.circuit.bits.iter().zip(&self.bits[last + 1]) {
            self.frames[last].bind(bit.next, *lit);
        }
        for part in &self.circuit.trans {
            self.frames[last].require(&mut self.sat, &self.circuit.aig, part.lit, None);
        }
    }

    /// The literal of a goal at a frame. A goal on steps needs the frame after.
    pub fn goal(&mut self, frame: usize, index: usize) -> Literal {
        if let Some(known) = self.goal_lits.get(&(frame, index)) {
            return *known;
        }
        let gate: GoalGate = self.circuit.goals[index];
        let lit = self.frames[frame].literal(&mut self.sat, &self.circuit.aig, gate.lit);
        self.goal_lits.insert((frame, index), lit);
        lit
    }

    /// The literal of a condition on the state of a frame.
    pub fn gate(&mut self, frame: usize, lit: Lit) -> Literal {
        self.frames[frame].literal(&mut self.sat, &self.circuit.aig, lit)
    }

    pub fn solve(&mut self, assumptions: &[Literal]) -> Answer {
        self.sat.solve(assumptions)
    }

    pub fn core(&mut self) -> Vec<Literal> {
        self.sat.core()
    }

    pub fn fresh(&mut self) -> Literal {
        self.sat.fresh()
    }

    pub fn clause(&mut self, lits: &[Literal]) {
        self.sat.clause(lits);
    }

    pub fn value(&self, lit: Literal) -> bool {
        self.sat.value(lit)
    }

    /// The assumptions that fix a variable at a frame.
    pub fn fix(&self, frame: usize, var: VarId, value: Value) -> Vec<Literal> {
        let bits = encode_value(&self.model.var(var).domain, value);
        self.circuit
            .bits
            .iter()
            .zip(&self.bits[frame])
            .filter(|(bit, _)| bit.var == var)
            .zip(bits)
            .map(|((_, lit), value)| if value { *lit } else { !*lit })
            .collect()
    }

    /// The literals of all bits at a frame, inputs included.
    pub fn bit_lits(&self, frame: usize) -> &[Literal] {
        &self.bits[frame]
    }

    /// After [`Answer::Yes`]: the run up to and including a frame.
    pub fn trace(&self, last: usize) -> Trace {
        (0..=last).map(|frame| self.state(frame)).collect()
    }

    pub fn state(&self, frame: usize) -> Vec<Value> {
        let mut at = 0;
        self.circuit
            .vars
            .iter()
            .map(|var| {
                let domain = &self.model.var(*var).domain;
                let wide = width(domain);
                let bits: Vec<bool> = self.bits[frame][at..at + wide]
                    .iter()
                    .map(|lit| self.sat.value(*lit))
                    .collect();
                at += wide;
                let value = decode(domain, &bits);
                // Inputs of the last state are not constrained; any value of the domain will do.
                if domain.contains(value) {
                    value
                } else {
                    domain.value(0)
                }
            })
            .collect()
    }
}
