//! How a model is followed: which relation is tested for, and which solver answers the questions of
//! the model: the embedded one alone, or with an SMT-LIB program for what it cannot decide.

use std::sync::Arc;

use ioco_sts::{Relation, Semantics, Sts};

use crate::error::{CampaignError, Remedy};
use crate::observer::Observer;
use crate::project::Project;
use crate::trust;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SolverChoice {
    #[default]
    Embedded,
    /// A program that reads SMT-LIB.
    Program(String),
}

impl SolverChoice {
    pub fn named(text: Option<&str>) -> SolverChoice {
        match text {
            None | Some("embedded") => SolverChoice::Embedded,
            Some(program) => SolverChoice::Program(program.to_owned()),
        }
    }

    /// The name by which a file may ask for it: commands are never read from files.
    pub fn name(&self) -> Option<&'static str> {
        match self {
            SolverChoice::Embedded => None,
            SolverChoice::Program(program) => {
                let known = KNOWN.iter().find(|known| **known == program.trim());
                Some(known.copied().unwrap_or(OTHER))
            }
        }
    }

    /// What was typed, or else what a file names, or else what ioco.toml says where a file names a
    /// solver that only a command can start. `None`: no file says which that is.
    pub fn again(
        typed: Option<&str>,
        named: Option<&str>,
        configured: Option<&str>,
    ) -> Option<SolverChoice> {
        match (typed, named) {
            (Some(typed), _) => Some(SolverChoice::named(Some(typed))),
            (None, None) => Some(SolverChoice::Embedded),
            (None, Some(name)) if KNOWN.contains(&name) => Some(SolverChoice::named(Some(name))),
            (None, Some(_)) => configured.map(|program| SolverChoice::named(Some(program))),
        }
    }
}

/// Solvers that have a name of their own.
const KNOWN: [&str; 2] = ["z3", "cvc5"];

/// What a file says of any other.
const OTHER: &str = "other";

/// How a model is followed. The campaign, the program and the page make its semantics here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SemanticsOptions {
    pub relation: Relation,
    pub solver: SolverChoice,
}

impl SemanticsOptions {
    /// As `[test]` of ioco.toml says, or with the solver that was typed. Nothing else of ioco.toml is started.
    pub fn of_project(
        project: &Project,
        typed: Option<&str>,
        observer: &mut dyn Observer,
    ) -> Result<SemanticsOptions, CampaignError> {
        if typed.is_none() {
            trust::solver_first_use(project, observer);
        }
        Ok(SemanticsOptions {
            relation: project.test.relation()?,
            solver: SolverChoice::named(typed.or(project.test.solver.as_deref())),
        })
    }

    /// With the embedded solver alone.
    pub fn of(relation: Relation) -> SemanticsOptions {
        SemanticsOptions {
            relation,
            solver: SolverChoice::Embedded,
        }
    }

    pub fn semantics(&self, sts: &Arc<Sts>) -> Result<Semantics, CampaignError> {
        let program = match &self.solver {
            SolverChoice::Embedded => None,
            SolverChoice::Program(program) => Some(program.as_str()),
        };
        ioco_adapters::semantics(sts, self.relation, program)
            .map_err(|error| CampaignError::usage(error.to_string()).remedy(Remedy::ChooseSolver))
    }

    /// For showing what was judged before: the relation counts, and the embedded solver is enough.
    pub fn shown(&self, sts: &Arc<Sts>) -> Semantics {
        ioco_solve::semantics(sts, self.relation)
    }
}

#[cfg(test)]
mod tests {
    use super::SolverChoice;

    #[test]
    fn a_file_names_a_solver_and_never_starts_one() {
        let program = |text: &str| SolverChoice::Program(text.to_owned());
        assert_eq!(SolverChoice::Embedded.name(), None);
        assert_eq!(program("z3").name(), Some("z3"));
        assert_eq!(program("rm -rf /").name(), Some("other"));
        let again = SolverChoice::again;
        assert_eq!(again(None, None, Some("z3")), Some(SolverChoice::Embedded));
        assert_eq!(again(None, Some("cvc5"), None), Some(program("cvc5")));
        assert_eq!(again(Some("z3"), Some("cvc5"), None), Some(program("z3")));
        assert_eq!(again(None, Some("touch /tmp/x"), None), None);
        assert_eq!(
            again(None, Some("other"), Some("my-solver -in")),
            Some(program("my-solver -in"))
        );
    }
}
