//! The meaning of a model with the solver that was chosen.

use std::sync::Arc;

use ioco_solve::{FallbackSolver, PipeError, SmtLib};
use ioco_sts::{Relation, Semantics, Sts};

use crate::solver_process::SolverProcess;

/// The meaning of a model for this relation: with the embedded solver, and with this SMT-LIB program for what
/// that one cannot decide.
pub fn semantics(
    sts: &Arc<Sts>,
    relation: Relation,
    program: Option<&str>,
) -> Result<Semantics, PipeError> {
    let Some(program) = program else {
        return Ok(ioco_solve::semantics(sts, relation));
    };
    let process = Box::new(SolverProcess::command(program)?);
    let second = SmtLib::new(sts.types(), sts.functions(), process);
    let solver = Box::new(FallbackSolver::new(Box::new(second)));
    Ok(Semantics::new(Arc::clone(sts), solver, relation))
}
