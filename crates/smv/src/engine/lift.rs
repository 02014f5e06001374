//! Generalises states for IC3: which bits of a state matter for the step that it makes, or for the goal that it meets?
//!
//! A step is kept with its inputs and with those next values that anybody needs. The next value of an assigned variable
//! that nothing else mentions need not be kept: whatever the state, the assignment gives one.

use rustc_hash::FxHashSet;

use super::Budget;
use super::ic3::{Cube, signed};
use super::sat::{Answer, Frame, Literal, Sat};
use crate::circuit::Lit;
use crate::expr::VarId;
use crate::system::Circuit;

pub(super) struct Lift<'a> {
    circuit: &'a Circuit,
    sat: Sat<'a>,
    frame: Frame,
    current: Vec<Literal>,
    next: Vec<Literal>,
    conditions: Vec<Condition>,
    /// Sets of variables that a condition on every state ties together in the next state.
    tied: Vec<Vec<VarId>>,
}

struct Condition {
    literal: Literal,
    decides: Option<VarId>,
    /// Variables whose next value it mentions.
    mentions: Vec<VarId>,
}

impl<'a> Lift<'a> {
    pub fn new(circuit: &'a Circuit, budget: Budget<'a>) -> Self {
        let mut sat = Sat::new(budget);
        let mut frame = Frame::default();
        let (mut current, mut next) = (Vec::new(), Vec::new());
        for bit in &circuit.bits {
            let (now, later) = (sat.fresh(), sat.fresh());
            frame.bind(bit.current, now);
            frame.bind(bit.next, later);
            current.push(now);
            next.push(later);
        }
        // Cubes speak of states in which everything holds that always holds.
        for lit in &circuit.invar {
            frame.require(&mut sat, &circuit.aig, *lit, None);
        }
        let conditions = circuit
            .trans
            .iter()
            .map(|part| Condition {
                literal: frame.literal(&mut sat, &circuit.aig, part.lit),
                decides: part.decides,
                mentions: mentioned(circuit, part.lit, true),
            })
            .collect();
        // What holds in every state must hold in the next one. Domains are left out: an assignment stays inside.
        let tied = circuit
            .user_invar
            .iter()
            .map(|lit| mentioned(circuit, *lit, false))
            .collect();
        Self {
            circuit,
            sat,
            frame,
            current,
            next,
            conditions,
            tied,
        }
    }

    pub fn set_budget(&mut self, budget: Budget<'a>) {
        self.sat.set_budget(budget);
    }

    /// The bits of a state that make it meet a goal.
    pub fn state_cube(&mut self, now: &[bool], goal: Lit) -> Cube {
        let bad = self.frame.literal(&mut self.sat, &self.circuit.aig, goal);
        let mut assumptions = vec![!bad];
        assumptions.extend(
            self.current
                .iter()
                .zip(now)
                .map(|(lit, value)| signed(*lit, *value)),
        );
        self.cube_from(now, &assumptions)
    }

    /// The bits of a state that make a step possible, into `target` and through the goal.
    pub fn step_cube(
        &mut self,
        now: &[bool],
        later: &[bool],
        target: &Cube,
        goal: Option<Lit>,
    ) -> Cube {
        let mut needed: FxHashSet<VarId> = target
            .iter()
            .map(|(bit, _)| self.circuit.bits[*bit].var)
            .collect();
        if let Some(goal) = goal {
            needed.extend(mentioned(self.circuit, goal, true));
        }
        for vars in &self.tied {
            needed.extend(vars);
        }
        let mut kept = vec![false; self.conditions.len()];
        loop {
            let mut grown = false;
            for (index, condition) in self.conditions.iter().enumerate() {
                let wanted = condition.decides.is_none_or(|var| needed.contains(&var));
                if wanted && !kept[index] {
                    kept[index] = true;
                    grown = true;
                    needed.extend(&condition.mentions);
                }
            }
            if !grown {
                break;
            }
        }
        let switch = self.sat.fresh();
        let mut clause = vec![!switch];
        clause.extend(
            self.conditions
                .iter()
                .zip(&kept)
                .filter(|(_, kept)| **kept)
                .map(|(c, _)| !c.literal),
        );
        if let Some(goal) = goal {
            clause.push(!self.frame.literal(&mut self.sat, &self.circuit.aig, goal));
        }
        self.sat.clause(&clause);
        let mut assumptions = vec![switch];
        for (index, bit) in self.circuit.bits.iter().enumerate() {
            if !bit.input && needed.contains(&bit.var) {
                assumptions.push(signed(self.next[index], later[index]));
            }
        }
        for (index, bit) in self.circuit.bits.iter().enumerate() {
            if bit.input {
                assumptions.push(signed(self.current[index], now[index]));
            }
        }
        for (index, bit) in self.circuit.bits.iter().enumerate() {
            if !bit.input {
                assumptions.push(signed(self.current[index], now[index]));
            }
        }
        let cube = self.cube_from(now, &assumptions);
        self.sat.clause(&[!switch]);
        cube
    }

    /// The state bits to blame when the question is refused, as it must be; all of them when time is up.
    fn cube_from(&mut self, now: &[bool], assumptions: &[Literal]) -> Cube {
        let all = self
            .circuit
            .bits
            .iter()
            .enumerate()
            .filter(|(_, bit)| !bit.input)
            .map(|(index, _)| (index, now[index]));
        if self.sat.solve(assumptions) != Answer::No {
            return all.collect();
        }
        let core: FxHashSet<Literal> = self.sat.core().into_iter().collect();
        let small: Cube = all
            .clone()
            .filter(|(bit, value)| core.contains(&signed(self.current[*bit], *value)))
            .collect();
        if small.is_empty() {
            all.collect()
        } else {
            small
        }
    }
}

/// The variables of a gate, among current or next bits.
fn mentioned(circuit: &Circuit, lit: Lit, next: bool) -> Vec<VarId> {
    let support: FxHashSet<usize> = circuit.aig.support(&[lit]).into_iter().collect();
    let mut vars: Vec<VarId> = circuit
        .bits
        .iter()
        .filter(|bit| support.contains(&if next { bit.next } else { bit.current }.gate()))
        .map(|bit| bit.var)
        .collect();
    vars.dedup();
    vars
}
