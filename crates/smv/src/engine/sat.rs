//! The SAT solver behind a small interface, and gates as clauses.

use batsat::{Callbacks, Lit as SatLit, Solver, SolverInterface, SolverOpts, lbool};
use rustc_hash::FxHashMap;

use super::Budget;
use crate::circuit::{Aig, Gate, Lit};

pub(crate) use batsat::Lit as Literal;

struct Watch<'a> {
    budget: Budget<'a>,
}

impl Callbacks for Watch<'_> {
    fn stop(&self) -> bool {
        self.budget.over()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Yes,
    No,
    /// The budget ran out, of time or of room.
    Unknown,
}

pub(crate) struct Sat<'a> {
    solver: Solver<Watch<'a>>,
    truth: SatLit,
    /// In all clauses that were given to it.
    literals: usize,
}

impl<'a> Sat<'a> {
    pub fn new(budget: Budget<'a>) -> Self {
        let mut solver = Solver::new(SolverOpts::default(), Watch { budget });
        let truth = SatLit::new(solver.new_var_default(), true);
        solver.add_clause_reuse(&mut vec![truth]);
        Self {
            solver,
            truth,
            literals: 0,
        }
    }

    /// Decides by random polarity, for runs that differ.
    pub fn random(budget: Budget<'a>, seed: f64) -> Self {
        let options = SolverOpts {
            rnd_pol: true,
            rnd_init_act: true,
            random_var_freq: 0.3,
            random_seed: seed.max(1.0),
            ..SolverOpts::default()
        };
        let mut solver = Solver::new(options, Watch { budget });
        let truth = SatLit::new(solver.new_var_default(), true);
        solver.add_clause_reuse(&mut vec![truth]);
        Self {
            solver,
            truth,
            literals: 0,
        }
    }

    pub fn set_budget(&mut self, budget: Budget<'a>) {
        self.solver.cb_mut().budget = budget;
    }

    pub fn budget(&self) -> Budget<'a> {
        self.solver.cb().budget
    }

    pub fn fresh(&mut self) -> SatLit {
        SatLit::new(self.solver.new_var_default(), true)
    }

    /// It has grown as large as it may, and answers nothing any more.
    pub fn is_full(&self) -> bool {
        self.literals > self.budget().literals
    }

    /// In all clauses that it has got.
    pub fn literals(&self) -> usize {
        self.literals
    }

    pub fn truth(&self) -> SatLit {
        self.truth
    }

    pub fn clause(&mut self, lits: &[SatLit]) {
        self.literals += lits.len();
        self.solver.add_clause_reuse(&mut lits.to_vec());
    }

    pub fn solve(&mut self, assumptions: &[SatLit]) -> Answer {
        if self.budget().over() || self.is_full() {
            return Answer::Unknown;
        }
        match self.solver.solve_limited(assumptions) {
            answer if answer == lbool::TRUE => Answer::Yes,
            answer if answer == lbool::FALSE => Answer::No,
            _ => Answer::Unknown,
        }
    }

    /// After [`Answer::Yes`]. Bits that do not matter are false.
    pub fn value(&self, lit: SatLit) -> bool {
        self.solver.value_lit(lit) == lbool::TRUE
    }

    /// After [`Answer::No`]: the assumptions that were to blame.
    pub fn core(&mut self) -> Vec<SatLit> {
        self.solver.unsat_core().iter().map(|lit| !*lit).collect()
    }
}

/// The gates of a circuit at one moment, as far as they were needed.
#[derive(Clone, Default)]
pub(crate) struct Frame {
    pub lits: FxHashMap<usize, SatLit>,
}

impl Frame {
    pub fn bind(&mut self, input: Lit, lit: SatLit) {
        self.lits
            .insert(input.gate(), if input.negated() { !lit } else { lit });
    }

    /// The solver's literal for a gate; clauses are added for gates seen the first time.
    pub fn literal(&mut self, sat: &mut Sat, aig: &Aig, root: Lit) -> SatLit {
        let mut open = vec![root.gate()];
        while let Some(gate) = open.last().copied() {
            if self.lits.contains_key(&gate) {
                open.pop();
                continue;
            }
            match aig.gate(gate) {
                Gate::False => {
                    let lit = !sat.truth();
                    self.lits.insert(gate, lit);
                    open.pop();
                }
                Gate::Input => {
                    let lit = sat.fresh();
                    self.lits.insert(gate, lit);
                    open.pop();
                }
                Gate::And(..) => {
                    let mut leaves = Vec::new();
                    conjunction(aig, gate, &mut leaves);
                    let missing: Vec<usize> = leaves
                        .iter()
                        .map(|leaf| leaf.gate())
                        .filter(|leaf| !self.lits.contains_key(leaf))
                        .collect();
                    if !missing.is_empty() {
                        open.extend(missing);
                        continue;
                    }
                    let inputs: Vec<SatLit> = leaves.iter().map(|leaf| self.known(*leaf)).collect();
                    let output = sat.fresh();
                    let mut long = vec![output];
                    for input in inputs {
                        sat.clause(&[!output, input]);
                        long.push(!input);
                    }
                    sat.clause(&long);
                    self.lits.insert(gate, output);
                    open.pop();
                }
            }
        }
        self.known(root)
    }

    fn known(&self, lit: Lit) -> SatLit {
        let found = self.lits[&lit.gate()];
        if lit.negated() { !found } else { found }
    }

    /// Adds clauses that make the root true, under a condition where one is given.
    pub fn require(&mut self, sat: &mut Sat, aig: &Aig, root: Lit, unless: Option<SatLit>) {
        for part in aig.conjuncts(root) {
            let mut clause: Vec<SatLit> = unless.into_iter().collect();
            match aig.gate(part.gate()) {
                Gate::And(..) if part.negated() => {
                    let mut leaves = Vec::new();
                    conjunction(aig, part.gate(), &mut leaves);
                    for leaf in leaves {
                        clause.push(!self.literal(sat, aig, leaf));
                    }
                }
                _ => clause.push(self.literal(sat, aig, part)),
            }
            sat.clause(&clause);
        }
    }
}

/// The operands of a conjunction, through directly nested ones; bounded so that shared parts are not copied too often.
fn conjunction(aig: &Aig, gate: usize, leaves: &mut Vec<Lit>) {
    let mut open = vec![(Lit((gate as u32) << 1), 0)];
    while let Some((lit, depth)) = open.pop() {
        match aig.gate(lit.gate()) {
            Gate::And(a, b) if !lit.negated() && depth < 4 => {
                open.extend([(b, depth + 1), (a, depth + 1)])
            }
            _ => {
                if !leaves.contains(&lit) {
                    leaves.push(lit);
                }
            }
        }
    }
}
