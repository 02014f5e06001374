//! A solver program that reads SMT-LIB, for what the embedded solver cannot decide: strings with
//! patterns, far-away integers, hard arithmetic.
//!
//! The program is reached through [`Pipe`], which comes in from the edge. Its models are checked by
//! evaluation like all others; what has no translation is *unknown*.

mod answer;
mod regular;
mod translate;

use ioco_sts::domain::Values;
use ioco_sts::{BinaryOp, Expr, Function, Type, Types, Value};
use rand::{Rng, RngExt as _};

use self::answer::{Answer, open_parentheses, parse};
use self::translate::{Part, Refused, Shape, Sort, Translator};
use crate::asserted::{Asserted, asserts};
use crate::optimum::{Sense, optimum_by};
use crate::outcome::{Deadline, Outcome, Unknown};
use crate::query::{Query, window};
use crate::solver::Solver;

/// Halvings of the range of one integer for a random model.
const ROUNDS: u32 = 6;

/// Lines to and from a solver program.
pub trait Pipe: Send {
    fn send(&mut self, line: &str) -> Result<(), PipeError>;

    /// The next line of the program, or [`PipeError::Deadline`] when it does not come in time.
    fn receive(&mut self, deadline: &Deadline<'_>) -> Result<String, PipeError>;

    /// A fresh program in place of one that was interrupted or died.
    fn restart(&mut self) -> Result<(), PipeError>;
}

/// Why a solver program did not answer.
#[derive(Debug, thiserror::Error)]
pub enum PipeError {
    #[error("the solver program did not answer in time")]
    Deadline,
    #[error("the solver program ended")]
    Ended,
    #[error("the solver program cannot be used: {0}")]
    Failed(String),
}

/// A solver program behind a pipe.
pub struct SmtLib {
    pipe: Box<dyn Pipe>,
    asserted: Asserted,
    /// The program may still be busy with an old question: start a new one first.
    stale: bool,
}

impl SmtLib {
    pub fn new(types: &Types, functions: &[Function], pipe: Box<dyn Pipe>) -> SmtLib {
        SmtLib {
            pipe,
            asserted: Asserted::new(types, functions),
            stale: false,
        }
    }
}

/// The pipe with what is known about its state.
struct Line<'p> {
    pipe: &'p mut dyn Pipe,
    stale: &'p mut bool,
}

impl Line<'_> {
    fn solve(&mut self, query: &Query<'_>, deadline: &Deadline<'_>) -> Outcome<Vec<Value>> {
        if !deadline.step() {
            return Outcome::Unknown(Unknown::Deadline);
        }
        let mut translator = Translator::new(query.types, query.functions);
        let text = match write(&mut translator, query) {
            Ok(text) => text,
            Err(Refused(what)) => {
                return Outcome::incomplete(&format!("SMT-LIB has no words for {what}"));
            }
        };
        let answer = self.exchange(&text, &translator.unknowns, deadline);
        if answer.is_err() {
            *self.stale = true;
        }
        match answer {
            Ok(Outcome::Unsat) if translator.wide => {
                Outcome::incomplete("SMT-LIB has no characters beyond U+2FFFF")
            }
            Ok(Outcome::Unsat) if translator.rounds => {
                Outcome::incomplete("real numbers are not rounded as decimals are")
            }
            Ok(outcome) => query.checked(outcome, deadline),
            Err(PipeError::Deadline) => Outcome::Unknown(Unknown::Deadline),
            Err(error) => Outcome::incomplete(&error.to_string()),
        }
    }

    fn exchange(
        &mut self,
        text: &str,
        unknowns: &[Part],
        deadline: &Deadline<'_>,
    ) -> Result<Outcome<Vec<Value>>, PipeError> {
        if *self.stale {
            self.pipe.restart()?;
            *self.stale = false;
        }
        self.pipe.send("(push 1)")?;
        self.pipe.send(text)?;
        self.pipe.send("(check-sat)")?;
        let verdict = self.pipe.receive(deadline)?;
        let outcome = match verdict.trim() {
            "sat" => self.values(unknowns, deadline)?,
            "unsat" => Outcome::Unsat,
            "unknown" => Outcome::incomplete("the solver program does not know"),
            other => return Err(PipeError::Failed(other.to_owned())),
        };
        self.pipe.send("(pop 1)")?;
        Ok(outcome)
    }

    fn values(
        &mut self,
        unknowns: &[Part],
        deadline: &Deadline<'_>,
    ) -> Result<Outcome<Vec<Value>>, PipeError> {
        let mut names = Vec::new();
        unknowns.iter().for_each(|u| collect_names(u, &mut names));
        if names.is_empty() {
            return Ok(Outcome::Sat(Vec::new()));
        }
        self.pipe
            .send(&format!("(get-value ({}))", names.join(" ")))?;
        let mut text = self.pipe.receive(deadline)?;
        while open_parentheses(&text) > 0 {
            text.push('\n');
            text.push_str(&self.pipe.receive(deadline)?);
        }
        let pairs = match parse(&text) {
            Some(Answer::List(pairs)) => pairs,
            _ => return Err(PipeError::Failed(text)),
        };
        let mut given = std::collections::BTreeMap::new();
        for pair in &pairs {
            if let Answer::List(pair) = pair
                && let [Answer::Word(name), value] = pair.as_slice()
            {
                given.insert(name.clone(), value.clone());
            }
        }
        let values: Option<Vec<Value>> = unknowns.iter().map(|u| value(u, &given)).collect();
        Ok(match values {
            Some(values) => Outcome::Sat(values),
            None => Outcome::incomplete("the solver program's values do not fit the types"),
        })
    }
}

/// Declarations and assertions of a question.
fn write(translator: &mut Translator<'_>, query: &Query<'_>) -> Result<String, Refused> {
    for (ty, domain) in &query.unknowns {
        let part = translator.declare(ty, domain.void)?;
        translator.unknowns.push(part);
    }
    for condition in &query.conditions {
        let truth = translator.condition(condition)?;
        translator
            .text
            .push_str(&format!("(assert {})\n", truth.yes));
    }
    Ok(std::mem::take(&mut translator.text))
}

fn collect_names(part: &Part, names: &mut Vec<String>) {
    if part.void != "false" {
        names.push(part.void.clone());
    }
    match &part.shape {
        Shape::Scalar(_, name) => names.push(name.clone()),
        Shape::Items(parts) | Shape::Fields(_, parts) => {
            parts.iter().for_each(|p| collect_names(p, names));
        }
        Shape::Nothing => {}
    }
}

fn value(part: &Part, given: &std::collections::BTreeMap<String, Answer>) -> Option<Value> {
    if part.void != "false" && given.get(&part.void)?.boolean()? {
        return Some(Value::Void);
    }
    Some(match &part.shape {
        Shape::Scalar(sort, name) => {
            let answer = given.get(name)?;
            match sort {
                Sort::Bool => Value::Bool(answer.boolean()?),
                Sort::Int => Value::Int(i64::try_from(answer.integer()?).ok()?),
                Sort::Real => Value::Decimal(answer.decimal()?),
                Sort::Member(id) => Value::Enum(
                    ioco_sts::EnumId(*id),
                    u32::try_from(answer.integer()?).ok()?,
                ),
                Sort::Str => match answer {
                    Answer::Text(text) => Value::str(text),
                    _ => return None,
                },
            }
        }
        Shape::Items(parts) => {
            let items: Option<Vec<Value>> = parts.iter().map(|p| value(p, given)).collect();
            Value::Array(items?.into())
        }
        Shape::Fields(id, parts) => {
            let fields: Option<Vec<Value>> = parts.iter().map(|p| value(p, given)).collect();
            Value::Struct(*id, fields?.into())
        }
        Shape::Nothing => Value::Void,
    })
}

impl Solver for SmtLib {
    asserts!();

    fn model(&mut self, deadline: &Deadline<'_>) -> Outcome<Vec<Value>> {
        let query = self.asserted.query();
        let mut line = Line {
            pipe: &mut *self.pipe,
            stale: &mut self.stale,
        };
        line.solve(&query, deadline)
    }

    /// Random parts of the ranges of the integers, leaving out those in which there is nothing.
    fn random_model(&mut self, rng: &mut dyn Rng, deadline: &Deadline<'_>) -> Outcome<Vec<Value>> {
        let mut query = self.asserted.query();
        let mut line = Line {
            pipe: &mut *self.pipe,
            stale: &mut self.stale,
        };
        let mut best = match line.solve(&query, deadline) {
            Outcome::Sat(values) => values,
            other => return other,
        };
        let Some(domains) = query.narrowed(deadline) else {
            return Outcome::Sat(best);
        };
        for (index, domain) in domains.iter().enumerate() {
            let Values::Int { min, max } = domain.values else {
                continue;
            };
            let (mut min, mut max) = window(min, max, 1_000_000);
            for _ in 0..ROUNDS {
                if min >= max {
                    break;
                }
                let pivot = rng.random_range(min..max);
                let upper = rng.random();
                let (op, bound) = if upper {
                    (BinaryOp::Gt, Expr::int(pivot))
                } else {
                    (BinaryOp::Le, Expr::int(pivot))
                };
                let half = Expr::binary(op, Expr::Param(index as u32), bound);
                query.conditions.push(half);
                let met = match line.solve(&query, deadline) {
                    Outcome::Sat(values) => {
                        best = values;
                        true
                    }
                    Outcome::Unsat => {
                        query.conditions.pop();
                        false
                    }
                    // There is a model already: time to hand it out.
                    Outcome::Unknown(_) => return Outcome::Sat(best),
                };
                if upper == met {
                    min = pivot + 1;
                } else {
                    max = pivot;
                }
            }
        }
        Outcome::Sat(best)
    }

    fn minimum(&mut self, unknown: u32, deadline: &Deadline<'_>) -> Outcome<Value> {
        self.optimum(unknown, Sense::Smallest, deadline)
    }

    fn maximum(&mut self, unknown: u32, deadline: &Deadline<'_>) -> Outcome<Value> {
        self.optimum(unknown, Sense::Largest, deadline)
    }
}

impl SmtLib {
    fn optimum(&mut self, unknown: u32, sense: Sense, deadline: &Deadline<'_>) -> Outcome<Value> {
        let query = self.asserted.query();
        let mut line = Line {
            pipe: &mut *self.pipe,
            stale: &mut self.stale,
        };
        let mut ask = |query: &Query<'_>| line.solve(query, deadline);
        optimum_by(&query, unknown, sense, deadline, &mut ask)
    }
}
