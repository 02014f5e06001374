//! Comparing two models: are they bisimilar, does one conform to the other, and where do they
//! first differ?
//!
//! * **Bisimilar** is weak bisimilarity in which silence counts as an observation: internal steps
//!   of one model need no counterpart in the other as long as the observable steps, and the states
//!   in which the system may stay silent, are matched step for step. [`Equivalence::Strong`] counts
//!   internal steps like any other.
//! * **Conforming** is `right ioco left`: after every suspension trace of the left model (the
//!   specification), every response and every silence of the right one (the implementation) is
//!   allowed by the left one. A stimulus that the right model does not accept leads nowhere, and so
//!   shows no deviation: nothing is completed silently.
//!
//! Silence is a label like the others here: δ, possible in states without responses and internal
//! steps, and in states from which internal steps go round for ever.
//!
//! Models with data are flattened first, both with the same values ([`flatten_alike`]); what cannot
//! be listed is refused, unless both models say the same word for word. Determinising can take exponentially many state sets, so there is a limit.

mod bisimulation;
mod pairs;

use std::fmt;

use crate::flatten::{FlattenError, flatten_alike};
use crate::ids::LabelId;
use crate::semantics::Relation;
use crate::sts::Sts;

pub use pairs::{Difference, Side, distinguish};

/// Which bisimilarity is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Equivalence {
    /// Internal steps are not seen.
    #[default]
    Weak,
    /// Internal steps are matched one by one.
    Strong,
}

/// How to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompareOptions {
    pub equivalence: Equivalence,
    pub relation: Relation,
    /// Most states of a flattened model, and most pairs of state sets.
    pub limit: usize,
}

/// What a comparison found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    pub bisimilar: bool,
    pub conforms: bool,
    /// Where the right model does not conform: the shortest trace after which it does something
    /// that the left one does not allow. Where it conforms and is not bisimilar: the shortest trace
    /// after which one of them can do something that the other cannot; `None` where both have the
    /// same traces and differ in when they choose between them.
    pub distinction: Option<Distinction>,
}

/// A trace of both models, and what each can do after it, as texts: `?a`, `!b`, `δ`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distinction {
    pub trace: Vec<String>,
    /// What the left model allows then.
    pub allowed: Vec<String>,
    /// What the right model does then.
    pub observed: Vec<String>,
}

/// Why two models cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompareError {
    Flatten(Side, FlattenError),
    /// More pairs of state sets than the limit.
    TooMany(usize),
    /// Internal steps of this side go on for longer than they are followed.
    Endless(Side),
}

impl fmt::Display for CompareError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |side: &Side| match side {
            Side::Left => "first",
            Side::Right => "second",
        };
        match self {
            CompareError::Flatten(side, error) => {
                write!(f, "the {} model cannot be listed: {error}", name(side))
            }
            CompareError::TooMany(limit) => write!(
                f,
                "after more than {limit} pairs of state sets nothing is decided"
            ),
            CompareError::Endless(side) => write!(
                f,
                "internal steps of the {} model lead to more states than are followed",
                name(side)
            ),
        }
    }
}

impl std::error::Error for CompareError {}

/// Compares two models of any kind.
pub fn compare(
    left: &Sts,
    right: &Sts,
    options: CompareOptions,
) -> Result<Comparison, CompareError> {
    if say_the_same(left, right) {
        return Ok(Comparison {
            bisimilar: true,
            conforms: true,
            distinction: None,
        });
    }
    let (left, right) = flatten_alike(left, right, options.limit)
        .map_err(|(side, error)| CompareError::Flatten(side, error))?;
    let deviation = pairs::deviation(&left, &right, options.relation, options.limit)?;
    let bisimilar = bisimulation::bisimilar(&left, &right, options.equivalence);
    let conforms = deviation.is_none();
    let difference = match deviation {
        Some(deviation) => Some(deviation),
        None if bisimilar => None,
        None => pairs::difference(&left, &right, options.limit)?,
    };
    Ok(Comparison {
        bisimilar,
        conforms,
        distinction: difference.map(|found| found.in_words(&left, &right)),
    })
}

/// Whether two models differ in nothing but names of locations, time-outs and places in their text.
fn say_the_same(left: &Sts, right: &Sts) -> bool {
    let alike = left.types() == right.types()
        && left.functions() == right.functions()
        && left.labels() == right.labels()
        && left.processes().len() == right.processes().len()
        && left.locations().len() == right.locations().len()
        && left.variables().len() == right.variables().len()
        && left.switches().len() == right.switches().len();
    let labels = (0..left.labels().len()).map(LabelId::from_index);
    let mut processes = left.processes().iter().zip(right.processes());
    let mut locations = left.locations().iter().zip(right.locations());
    let mut variables = left.variables().iter().zip(right.variables());
    let mut switches = left.switches().iter().zip(right.switches());
    alike
        && labels
            .into_iter()
            .all(|l| left.participants(l) == right.participants(l))
        && processes.all(|(l, r)| l.initial == r.initial)
        && locations.all(|(l, r)| l.process == r.process)
        && variables.all(|(l, r)| (&l.ty, &l.initial) == (&r.ty, &r.initial))
        && switches.all(|(l, r)| {
            (l.source, l.gate, l.target) == (r.source, r.gate, r.target)
                && (&l.guard, &l.update) == (&r.guard, &r.update)
        })
}
