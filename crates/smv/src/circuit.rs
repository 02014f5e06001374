//! And-inverter graphs: the common form in which all engines get a model. Equal gates are stored once.

pub(crate) mod code;
pub(crate) mod encode;
mod judge;
pub(crate) mod word;

use rustc_hash::FxHashMap;

/// A gate or its negation: twice the number of the gate, plus one when negated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Lit(pub u32);

impl Lit {
    pub const FALSE: Self = Self(0);
    pub const TRUE: Self = Self(1);

    pub fn gate(self) -> usize {
        (self.0 >> 1) as usize
    }

    pub fn negated(self) -> bool {
        self.0 & 1 == 1
    }

    pub fn flip_if(self, flip: bool) -> Self {
        Self(self.0 ^ u32::from(flip))
    }
}

impl std::ops::Not for Lit {
    type Output = Self;

    fn not(self) -> Self {
        Self(self.0 ^ 1)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    /// Only gate zero.
    False,
    Input,
    And(Lit, Lit),
}

#[derive(Clone, Debug)]
pub(crate) struct Aig {
    gates: Vec<Gate>,
    known: FxHashMap<(Lit, Lit), Lit>,
}

impl Default for Aig {
    fn default() -> Self {
        Self {
            gates: vec![Gate::False],
            known: FxHashMap::default(),
        }
    }
}

impl Aig {
    pub fn gate(&self, index: usize) -> Gate {
        self.gates[index]
    }

    fn push(&mut self, gate: Gate) -> Lit {
        let index = u32::try_from(self.gates.len()).expect("fewer than 2^31 gates");
        self.gates.push(gate);
        Lit(index << 1)
    }

    pub fn input(&mut self) -> Lit {
        self.push(Gate::Input)
    }

    pub fn and(&mut self, a: Lit, b: Lit) -> Lit {
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        if a == Lit::FALSE || a == !b {
            return Lit::FALSE;
        }
        if a == Lit::TRUE || a == b {
            return b;
        }
        if let Some(found) = self.known.get(&(a, b)) {
            return *found;
        }
        let lit = self.push(Gate::And(a, b));
        self.known.insert((a, b), lit);
        lit
    }

    pub fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(!a, !b)
    }

    pub fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        let only_a = self.and(a, !b);
        let only_b = self.and(!a, b);
        self.or(only_a, only_b)
    }

    pub fn iff(&mut self, a: Lit, b: Lit) -> Lit {
        !self.xor(a, b)
    }

    pub fn ite(&mut self, condition: Lit, then: Lit, otherwise: Lit) -> Lit {
        if then == otherwise {
            return then;
        }
        let yes = self.and(condition, then);
        let no = self.and(!condition, otherwise);
        self.or(yes, no)
    }

    /// As a balanced tree, so that long conjunctions do not nest.
    pub fn and_all(&mut self, lits: &[Lit]) -> Lit {
        match lits {
            [] => Lit::TRUE,
            [one] => *one,
            _ => {
                let (left, right) = lits.split_at(lits.len() / 2);
                let left = self.and_all(left);
                let right = self.and_all(right);
                self.and(left, right)
            }
        }
    }

    pub fn or_all(&mut self, lits: &[Lit]) -> Lit {
        let negated: Vec<Lit> = lits.iter().map(|lit| !*lit).collect();
        !self.and_all(&negated)
    }

    /// Splits a conjunction into its parts, through nested conjunctions.
    pub fn conjuncts(&self, root: Lit) -> Vec<Lit> {
        let mut parts = Vec::new();
        let mut open = vec![root];
        let mut seen = rustc_hash::FxHashSet::default();
        while let Some(lit) = open.pop() {
            if lit == Lit::TRUE || !seen.insert(lit) {
                continue;
            }
            match self.gates[lit.gate()] {
                Gate::And(a, b) if !lit.negated() => open.extend([b, a]),
                _ => parts.push(lit),
            }
        }
        parts
    }

    /// The inputs that a function depends on.
    pub fn support(&self, roots: &[Lit]) -> Vec<usize> {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut inputs = Vec::new();
        let mut open: Vec<usize> = roots.iter().map(|lit| lit.gate()).collect();
        while let Some(gate) = open.pop() {
            if !seen.insert(gate) {
                continue;
            }
            match self.gates[gate] {
                Gate::False => {}
                Gate::Input => inputs.push(gate),
                Gate::And(a, b) => open.extend([a.gate(), b.gate()]),
            }
        }
        inputs.sort_unstable();
        inputs
    }
}
