//! Answers to queries: tests that match a pattern, as many different ones as are wanted, or that
//! there are none within a number of steps.

use ioco_budget::Interrupt;
use ioco_solve::Outcome;
use ioco_sts::{Sts, Value};
use rand::Rng;

use crate::confirm::Confirm;
use crate::plan::other_values;
use crate::plan::{
    Follower, Limits, MatchingPath, Pattern, PatternState, Progress, Search, SearchSummary,
};

/// Steps of a test where the query says nothing, and has a gap without a limit.
pub const USUAL_STEPS: u32 = 30;

/// A first look, where chance comes next: few ways, and little time for each question.
const FEW_PATHS: usize = 60;
const FRACTION: u64 = 50;

/// Tries by chance, for all answers together.
const DRAWS: usize = 2_000;

/// The steps that a search for tests of this pattern should go: what the text says, or what it
/// cannot exceed, or a default (then the last part is true, and the person should know).
pub fn bound(pattern: &Pattern, within: Option<u32>) -> (u32, bool) {
    match (within, pattern.longest()) {
        (Some(within), _) => (within, false),
        (None, Some(longest)) => (longest, false),
        (None, None) => (USUAL_STEPS, true),
    }
}

/// What became of a query.
#[derive(Debug)]
pub struct Answers {
    /// Shortest first; the same switches with other values only after all others.
    pub tests: Vec<MatchingPath>,
    pub end: End,
    pub searched: SearchSummary,
    /// Ways that the second walk did not confirm; they are left out.
    pub unconfirmed: u64,
}

/// Why there are not more tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// As many as were wanted were found.
    Enough,
    /// There are no others within the number of steps: proved.
    NoMore,
    /// A limit was reached, the solver could not decide, or a stop is requested.
    Unknown,
}

/// Finds up to `number` different tests.
pub fn answer(
    sts: &Sts,
    pattern: &Pattern,
    limits: Limits,
    number: usize,
    confirm: &mut Confirm,
    rng: &mut dyn Rng,
    stop: &mut dyn FnMut() -> bool,
) -> Answers {
    let start = PatternState {
        state: sts.initial_state(),
        progress: Progress::default(),
    };
    let mut found: Vec<MatchingPath> = Vec::new();
    let look = |limits: Limits,
                found: &mut Vec<MatchingPath>,
                rng: &mut dyn Rng,
                stop: &mut dyn FnMut() -> bool| {
        let mut keep = |way: MatchingPath| {
            if !found.iter().any(|known| known.switches() == way.switches()) {
                found.push(way);
            }
            found.len() < number
        };
        let mut search = Search::new(sts, pattern, limits);
        search.run(std::slice::from_ref(&start), number, rng, &mut keep, stop)
    };
    // Where all ways have the same length, none is shorter than one found by chance; and chance is
    // quick where the conditions of whole ways are hard. Small searches need no help.
    let reduced = pattern.is_of_one_length();
    let first = match reduced {
        true => Limits {
            paths: limits.paths.min(FEW_PATHS),
            budget: limits.budget / FRACTION,
            ..limits.clone()
        },
        false => limits.clone(),
    };
    let mut searched = look(first, &mut found, rng, stop);
    if found.len() < number && !searched.exhausted {
        let search = Search::new(sts, pattern, limits.clone());
        let drawn = search.draw(&start, DRAWS, number, &mut found, rng, stop);
        searched.paths += drawn.paths;
        searched.solver_calls += drawn.solver_calls;
        if found.len() < number && reduced {
            let last = look(limits.clone(), &mut found, rng, stop);
            searched = SearchSummary {
                paths: searched.paths + last.paths,
                solver_calls: searched.solver_calls + last.solver_calls,
                ..last
            };
        }
    }
    let mut unconfirmed = 0;
    let mut confirmed = |way: &MatchingPath, rng: &mut dyn Rng| {
        let right = is_confirmed(sts, pattern, way, confirm, &limits, rng);
        unconfirmed += u64::from(!right);
        right
    };
    found.retain(|way| confirmed(way, rng));
    let mut all_decided = searched.exhausted;
    let mut values: Vec<Vec<Vec<Value>>> =
        found.iter().map(|way| vec![way.witness.clone()]).collect();
    let mut open: Vec<usize> = (0..found.len()).collect();
    let effort = limits.effort();
    while found.len() < number && !open.is_empty() && !stop() && !limits.interrupt.is_raised() {
        open.retain(|&index| {
            if found.len() >= number {
                return true;
            }
            let known = &values[index];
            match other_values(sts, &start.state, &found[index], known, rng, &effort) {
                Outcome::Sat(way) => {
                    values[index].push(way.witness.clone());
                    if confirmed(&way, rng) {
                        found.push(way);
                    }
                    true
                }
                Outcome::Unsat => false,
                Outcome::Unknown(_) => {
                    all_decided = false;
                    false
                }
            }
        });
    }
    let end = if found.len() >= number {
        End::Enough
    } else if all_decided && open.is_empty() && unconfirmed == 0 {
        End::NoMore
    } else {
        End::Unknown
    };
    Answers {
        tests: found,
        end,
        searched,
        unconfirmed,
    }
}

/// Confirmation without the solver: the way is walked again through the model, and the pattern followed along
/// its observable steps by plain evaluation.
fn is_confirmed(
    sts: &Sts,
    pattern: &Pattern,
    way: &MatchingPath,
    confirm: &mut Confirm,
    limits: &Limits,
    rng: &mut dyn Rng,
) -> bool {
    if confirm.steps(way.path()).is_err() {
        return false;
    }
    // What was found before an interrupt is still confirmed: its values are known.
    let never = Interrupt::default();
    let mut follower = Follower::new(sts, pattern.clone(), limits.budget, &never, rng);
    for action in way.actions() {
        follower.take(sts, &action, rng);
    }
    follower.is_complete()
}
