//! Data coverage along the traces of a length (van der Heijden 2019, section 4.4): every parameter takes its
//! smallest and its largest feasible value on every switch, or the limits of its sub-domains, or
//! pairs of them.
//!
//! A value is feasible when some trace of the suite has it. A run of the first steps of a trace can
//! always be carried on to a whole trace, so it is enough to look at beginnings: the tree of paths is
//! walked once more, and at every move that a goal asks about the solver is asked whether the path
//! can take it with that value. What lies beyond the values that variables can have at all is known
//! beforehand, so that the walk can mostly stop early; what is left is proved by having walked
//! everything.

mod goals;
mod plan;

use std::fmt;

use ioco_sts::{Action, Env, Expr, State, Sts, SwitchId, Value};

pub use plan::{DataLimits, DataPlan, plan};

use crate::cover::Instance;

/// Which values are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// The smallest and the largest.
    MinMax,
    /// These, and the limits of every sub-domain that a guard names, with the values next to them.
    Boundaries,
    /// These, and for any two parameters of a switch every combination of theirs.
    Pairs,
}

/// What a switch is to be taken with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum WantedValues {
    /// The smallest feasible value of the parameter at this position.
    Least(u32),
    Greatest(u32),
    /// Parameters that have the values of these expressions over variables.
    Values(Vec<(u32, Expr)>),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ValueGoal {
    pub switch: SwitchId,
    pub wanted: WantedValues,
}

impl ValueGoal {
    /// `least time`, `time == dose, detector == 3`.
    pub fn show(&self, sts: &Sts) -> String {
        let label = sts.switch(self.switch).gate.label();
        let name = |position: u32| {
            let parameters = label.map_or(&[][..], |label| &sts.label(label).parameters);
            parameters.get(position as usize).map_or("", |p| &p.name)
        };
        match &self.wanted {
            WantedValues::Least(position) => format!("least {}", name(*position)),
            WantedValues::Greatest(position) => format!("greatest {}", name(*position)),
            WantedValues::Values(all) => {
                let equal = |(position, expr): &(u32, Expr)| {
                    let expr = ioco_sts::show_expr(sts, label, expr);
                    format!("{} == {expr}", name(*position))
                };
                all.iter().map(equal).collect::<Vec<_>>().join(", ")
            }
        }
    }
}

/// How it is known that there is nothing more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// The guard excludes it, with all values that variables can have there.
    Bound,
    /// Every trace was tried.
    Walked,
    /// It is not known: the solver could not decide something, or the search was interrupted.
    Missing,
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Proof::Bound => "the guard excludes it with all values that variables can have",
            Proof::Walked => "all traces of this length were tried",
            Proof::Missing => "not proved",
        })
    }
}

/// What became of a goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueVerdict {
    /// By the test of this number. For a smallest or largest value: which, and how it is known that
    /// none is beyond it.
    Reached {
        test: usize,
        extreme: Option<(Value, Proof)>,
    },
    /// There is no such trace.
    Unreachable(Proof),
    /// None was found, and there may be one.
    Unknown,
}

/// Whether a switch taken in a state with these values covers a goal, as far as the goal is known.
pub fn covers(
    sts: &Sts,
    goal: &ValueGoal,
    verdict: &ValueVerdict,
    state: &State,
    action: &Action,
) -> bool {
    let value = |position: u32| action.values.get(position as usize);
    match (&goal.wanted, verdict) {
        (
            WantedValues::Least(position) | WantedValues::Greatest(position),
            ValueVerdict::Reached {
                extreme: Some((extreme, _)),
                ..
            },
        ) => value(*position) == Some(extreme),
        (WantedValues::Values(all), ValueVerdict::Reached { .. }) => {
            let env = Env {
                variables: &state.valuation,
                parameters: &[],
                functions: sts.functions(),
            };
            all.iter().all(|(position, expr)| match expr.eval(env) {
                Ok(wanted) => value(*position) == Some(&wanted),
                Err(_) => false,
            })
        }
        _ => false,
    }
}

/// Whether a test covers a goal.
pub fn test_covers(sts: &Sts, goal: &ValueGoal, verdict: &ValueVerdict, test: &Instance) -> bool {
    let mut taken = test.steps.iter().zip(&test.states);
    taken.any(|((step, action), state)| {
        let action = action.as_ref().filter(|_| step.switches == [goal.switch]);
        action.is_some_and(|action| covers(sts, goal, verdict, state, action))
    })
}
