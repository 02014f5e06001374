//! The domain of ioco: values, types, expressions, labels, symbolic transition systems and what
//! they mean.
//!
//! Nothing here knows of model text, files, adapters, clocks or solvers. The one question that the
//! meaning of a model asks of a solver (can this guard hold for some parameter values?) comes in
//! through the small trait [`Feasibility`].

mod action;
mod compare;
mod components;
mod decimal;
pub mod domain;
mod eval;
mod expr;
mod fits;
mod flatten;
mod ids;
mod label;
mod listing;
mod message;
mod partition;
mod reduce;
mod semantics;
mod show;
mod state;
mod sts;
mod title;
mod types;
mod value;
mod verdict;

pub use action::{Action, Step, Trace};
pub use compare::{
    CompareError, CompareOptions, Comparison, Difference, Distinction, Equivalence, Side, compare,
    distinguish,
};
pub use decimal::read as read_decimal;
pub use eval::{Env, EvalError};
pub use expr::{BinaryOp, Expr, Pattern, UnaryOp};
pub use flatten::{Explored, ExploredStep, FlattenError, explore, flatten, flatten_alike};
pub use ids::{
    EnumId, FunctionId, LabelId, LocationId, ProcessId, SetId, StructId, SwitchId, VarId,
};
pub use label::{Direction, Label, Parameter};
pub use message::Message;
pub use reduce::{Reduced, reduce};
pub use semantics::{
    Answer, EvaluationOnly, Feasibility, Followed, Menu, Offer, OfferedSwitch, OpenSilence,
    Question, Relation, Semantics, Solved, Warning,
};
pub use show::{show_expr, show_gate, show_switch_label};
pub use state::{State, StateSet};
pub use sts::{
    Assignment, Demand, Demanded, Function, Gate, Location, Place, Process, Requirement, Sts,
    StsBuilder, Subject, Switch, Variable,
};
pub use types::{EnumType, IntRange, StructKind, StructType, Type, Types};
pub use value::Value;
pub use verdict::{Cause, Deviation, DeviationKind, Execution, Observed, Reason, Time, Verdict};
