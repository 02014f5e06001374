//! Which solver answers the questions of a model: the embedded one alone, or with a second opinion
//! for what it cannot decide.

use std::sync::Arc;

use ioco_solve::process::SolverProcess;
use ioco_solve::{Oracle, SecondOpinion, SmtLib};
use ioco_sts::{Feasibility, Relation, Semantics, Sts};

use crate::exit::Stop;

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

    /// The meaning of a model, with this solver to answer its questions.
    pub fn semantics(&self, sts: &Arc<Sts>, relation: Relation) -> Result<Semantics, Stop> {
        let solver: Box<dyn Feasibility + Send> = match self {
            SolverChoice::Embedded => Box::new(Oracle::new()),
            SolverChoice::Program(program) => {
                let process = start(program)?;
                let second = SmtLib::new(sts.types(), sts.functions(), Box::new(process));
                Box::new(SecondOpinion::new(Box::new(second)))
            }
        };
        Ok(Semantics::new(Arc::clone(sts), solver, relation))
    }
}

fn start(program: &str) -> Result<SolverProcess, Stop> {
    let mut words = program.split_whitespace();
    let name = words.next().unwrap_or_default();
    let arguments: Vec<&str> = words.collect();
    let started = match (name, arguments.is_empty()) {
        ("z3", true) => SolverProcess::z3(),
        ("cvc5", true) => SolverProcess::cvc5(),
        _ => SolverProcess::start(name, &arguments),
    };
    started.map_err(|error| {
        Stop::usage(error.to_string())
            .hint("--solver takes embedded, z3, cvc5, or the command of another SMT-LIB solver")
    })
}
