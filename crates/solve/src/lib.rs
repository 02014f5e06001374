//! Constraint solving over model expressions.
//!
//! # Which questions arise
//!
//! - *Can a guard hold?* The meaning of a model asks it at every step, of every switch, with the values of
//!   the variables known ([`GuardSolver`], through `ioco_sts::Feasibility`).
//! - *Which values make it hold?* The tester asks for stimuli at random ([`choose_values`]), and for the
//!   limits worth testing ([`boundary_values`], [`extreme_values`]).
//! - *Can a whole path be walked, with which values, and what is the smallest value of this parameter?* The
//!   generator asks it of the conditions of many switches at once ([`Embedded`], through [`Solver`]).
//!
//! There are three answers. *Satisfiable* comes with values that passed evaluation. *Unsatisfiable* comes
//! only from complete reasoning. Everything else is *unknown*, which is never taken for *unsatisfiable*. A
//! question has a limit in steps, not in seconds, so that every run repeats.
//!
//! # Which part answers which, in which order, and why
//!
//! A question passes the parts in the order of [`Part::ALL`] until one of them answers. Cheap parts that
//! answer often come first.
//!
//! 1. **Box** (`fast`). A conjunction whose parts compare one parameter each with something known has a box
//!    of solutions, which is read off the guard without a search. Most guards of models are of this kind.
//! 2. **Narrowing** (`ioco_sts::domain`). Interval arithmetic, forwards to find
//!    what an expression can be, and backwards to take values away that cannot meet a condition. It repeats
//!    until nothing changes. Often nothing is left, or everything that is left will do.
//! 3. **Languages** (`strings`, `language`, `samples`). Conditions on strings are taken apart into literals.
//!    The literals of one string are a regular language, which is empty or lists its words. Arrays and
//!    structs are replaced by unknowns for their items and fields; from here on there are only numbers,
//!    booleans and enum members.
//! 4. **Elimination** (`linear`). Fourier-Motzkin elimination refutes at once what narrowing would refute by
//!    moving bounds one at a time, such as `x < y && y < x`.
//! 5. **Nearby** (`search`). A short search splits alternatives and domains, close to zero and to the
//!    constants in sight, where values are readable.
//! 6. **Learning** (`cp`, by aries). Many conditions with alternatives make the plain search repeat its
//!    conflicts; a solver that learns from them does not. Elimination and learning share one linear `form`.
//! 7. **Exhaustive** (`search` again). A long search over the whole domains.
//! 8. **Proposals** (`propose`). Values at which the two sides of a comparison are equal. Guards only.
//!
//! [`FallbackSolver`] asks an SMT-LIB program ([`SmtLib`]) for what is still unknown. The program runs at the
//! edge, behind [`Pipe`].
//!
//! # What each part is worth
//!
//! `cargo xtask bench ablation` asks the questions again with one part left out. Questions of the examples
//! (atm, calculator, coffee, koopman, queue, smartdoor: walks, coverage of switches, suites), generated
//! ones (all types), and blocks of 26 linear conditions over twenty integers. "Lost" are the answers that
//! become unknown; steps are those of the whole set.
//!
//! | part        | examples (2730): answers, lost, steps | generated (810)     | blocks (80)       |
//! |-------------|---------------------------------------|---------------------|-------------------|
//! | all parts   | 2720 answered, 55,547 steps           | 778 answered, 897 k | 80 answered, 40 k |
//! | box         | 375, 0 lost, 57,292                   | 74, 0, 898 k        | 0, 0, 40 k        |
//! | narrowing   | 2191, 60 lost, 3,500,325              | 393, 27, 1,719 k    | 0, 0, 40 k        |
//! | languages   | 0, 0 lost, 55,547                     | 118, 20, 1,118 k    | 0, 0, 40 k        |
//! | elimination | 8, 6 lost, 304,846                    | 11, 3, 936 k        | 0, 0, 40 k        |
//! | nearby      | 146, 0 lost, 176,316                  | 172, 1, 1,027 k     | 0, 0, 31 k        |
//! | learning    | 0, 0 lost, 55,547                     | 0, 0, 897 k         | 80, 6, 440 k      |
//! | exhaustive  | 0, 0 lost, 55,547                     | 2, 2, 178 k         | 0, 0, 40 k        |
//! | proposals   | 0, 0 lost, 55,547                     | 1, 1, 897 k         | 0, 0, 40 k        |
//!
//! The table was measured with a ninth part, a short search over the whole domains between nearby and
//! learning. Without it nothing was lost and fewer steps were taken, so it is gone. Learning is worth its
//! dependency only for questions with many linear alternatives, which no example asks.

mod asserted;
mod backwards;
mod choose;
mod cp;
mod embedded;
mod fallback;
mod fast;
mod form;
mod goal;
mod guard_solver;
mod language;
mod linear;
mod optimum;
mod outcome;
mod pipeline;
mod propose;
mod query;
#[cfg(feature = "record")]
pub mod record;
mod samples;
mod search;
mod smt;
mod solver;
mod strings;
mod unfold;

pub use choose::{Boundaries, boundary_values, choose_values, extreme_values};
pub use embedded::Embedded;
pub use fallback::FallbackSolver;
pub use guard_solver::{GuardSolver, semantics};
pub use outcome::{Deadline, Outcome, Unknown};
pub use pipeline::{Part, Pipeline};
pub use samples::Sampler;
pub use smt::{Pipe, PipeError, SmtLib};
pub use solver::Solver;
