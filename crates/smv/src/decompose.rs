//! Algorithm 1: the variables that matter for a goal, cut into subsystems that form a tree.
//!
//! ADDDEPENDENCIES and MERGEINPUTS are repeated together until nothing changes: the paper runs each once, and a merge
//! can leave a variable that is neither internal nor input.

use crate::depend::{Dependencies, vars_of};
use crate::expr::{ExprId, VarId};
use crate::model::Model;

/// A set of variables that are kept together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subsystem {
    /// All its variables, inputs included.
    pub vars: Vec<VarId>,
    /// Variables that a child computes and that are free here.
    pub inputs: Vec<VarId>,
    /// The linking variable and the subsystem that provides it.
    pub children: Vec<(VarId, usize)>,
}

/// The subsystems dependency tree of a goal; the first is the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    pub subsystems: Vec<Subsystem>,
}

impl Tree {
    pub fn of(model: &Model, dependencies: &Dependencies, goal: ExprId) -> Self {
        Self::refined(model, dependencies, goal, &[])
    }

    /// The same, but some linking variables are computed where they are used: their subsystems are put together.
    pub fn refined(
        model: &Model,
        dependencies: &Dependencies,
        goal: ExprId,
        merged: &[VarId],
    ) -> Self {
        let mut start = vars_of(model, goal);
        for var in start.clone() {
            start.extend(dependencies.direct(var));
        }
        let mut tree = Self {
            subsystems: Vec::new(),
        };
        tree.build(dependencies, start, merged);
        tree
    }

    fn build(&mut self, dependencies: &Dependencies, vars: Vec<VarId>, merged: &[VarId]) -> usize {
        let mut set = Set::new(dependencies, vars);
        while set.add_dependencies() || set.merge_inputs() || set.absorb(merged) {}
        let inputs = set.inputs();
        let index = self.subsystems.len();
        self.subsystems.push(Subsystem {
            vars: set.vars,
            inputs: inputs.clone(),
            children: Vec::new(),
        });
        for input in inputs {
            let mut below = vec![input];
            below.extend(dependencies.direct(input));
            let child = self.build(dependencies, below, merged);
            // Algorithm 1 promises one linking variable between parent and child.
            debug_assert_eq!(
                self.subsystems[child]
                    .vars
                    .iter()
                    .filter(|var| self.subsystems[index].vars.contains(var))
                    .count(),
                1
            );
            self.subsystems[index].children.push((input, child));
        }
        index
    }

    /// The bits of the largest subsystem.
    pub fn largest_bits(&self, model: &Model) -> u32 {
        self.subsystems
            .iter()
            .map(|subsystem| bits(model, &subsystem.vars))
            .max()
            .unwrap_or(0)
    }
}

/// The bits that the values of some variables take.
pub fn bits(model: &Model, vars: &[VarId]) -> u32 {
    vars.iter().map(|var| model.var(*var).domain.bits()).sum()
}

/// A set of variables while it grows.
struct Set<'d> {
    dependencies: &'d Dependencies,
    vars: Vec<VarId>,
}

impl<'d> Set<'d> {
    fn new(dependencies: &'d Dependencies, vars: Vec<VarId>) -> Self {
        let mut set = Self { dependencies, vars };
        set.tidy();
        set
    }

    fn tidy(&mut self) {
        self.vars.sort_unstable();
        self.vars.dedup();
    }

    fn contains(&self, var: VarId) -> bool {
        self.vars.binary_search(&var).is_ok()
    }

    /// Depends directly on nothing outside.
    fn is_internal(&self, var: VarId) -> bool {
        self.dependencies
            .direct(var)
            .iter()
            .all(|on| self.contains(*on))
    }

    /// Depends on other variables, and on none of those inside. That it keeps its own value does not count: the paper's
    /// Dep leaves out the variable itself.
    fn is_input(&self, var: VarId) -> bool {
        self.dependencies.all(var).iter().any(|on| *on != var)
            && self
                .vars
                .iter()
                .all(|on| *on == var || !self.dependencies.depends(var, *on))
    }

    fn inputs(&self) -> Vec<VarId> {
        self.vars
            .iter()
            .copied()
            .filter(|var| self.is_input(*var))
            .collect()
    }

    /// Brings in what a variable depends on that is neither internal nor input.
    fn add_dependencies(&mut self) -> bool {
        let mut grown = false;
        while let Some(var) = self
            .vars
            .iter()
            .copied()
            .find(|var| !self.is_internal(*var) && !self.is_input(*var))
        {
            self.vars.extend(self.dependencies.direct(var));
            self.tidy();
            grown = true;
        }
        grown
    }

    /// Brings in what an input depends on that is to be no input any more.
    fn absorb(&mut self, merged: &[VarId]) -> bool {
        match self
            .inputs()
            .into_iter()
            .find(|input| merged.contains(input))
        {
            Some(input) => {
                self.vars.extend(self.dependencies.direct(input));
                self.tidy();
                true
            }
            None => false,
        }
    }

    /// Two inputs with a common cause cannot be provided independently.
    fn merge_inputs(&mut self) -> bool {
        let inputs = self.inputs();
        for (at, first) in inputs.iter().enumerate() {
            for second in &inputs[at + 1..] {
                if self.dependencies.share(*first, *second) {
                    self.vars.extend(self.dependencies.direct(*first));
                    self.vars.extend(self.dependencies.direct(*second));
                    self.tidy();
                    return true;
                }
            }
        }
        false
    }
}
