//! Coverage of locations, switches and the outcomes of guards (Sietsma 2009, sections 7-9 and appendix
//! B), made complete. See [`conditions`] for what is asked of guards.
//!
//! Regions of the model without data are toured first, by graph search alone (see [`region`] and [`tour`]). What is
//! left is searched for region by region:
//!
//! A random test comes first. Then, again and again, the nearest uncovered goal beside the paths of
//! the last test is taken, and the way to it is asked for with as many values of the last test kept
//! as possible: all of them first, then one step fewer on every path at a time (*simultaneous
//! constraint propagation*, Algorithms 2 and 7). Then a few more random tests are drawn. What is left
//! is proved unreachable where that is possible (see [`prove`], [`backward`], [`equations`]), then
//! searched for over concrete states (see [`concrete`]), then tried from some of the earlier tests, then searched for
//! from the start within a bound (see [`search`]). Every test is walked again by the meaning of the model before it counts.

mod backward;
mod concrete;
pub(crate) mod conditions;
mod equations;
mod goal;
mod goal_index;
mod instance;
mod kernel;
mod polynomial;
mod prove;
mod random_tests;
mod region;
mod search;
mod states;
mod tour;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use ioco_budget::Interrupt;
use ioco_sts::{Action, LocationId, State, Sts};
use rand::Rng;

pub use goal::{Bound, Goal, GoalVerdict, Reason};
pub use instance::Instance;
pub use states::{States, states};

use crate::confirm::Confirm;
use crate::feasible::{Effort, own_values};
use crate::moves::Move;
use goal_index::GoalIndex;
pub(crate) use instance::Stepper;
pub(crate) use prove::ReachableValues;
use random_tests::Tried;
use region::Region;
use search::FoundPath;
use tour::Tours;

/// Plans in a row that lead nowhere before propagation from a test is given up.
const MAX_FAILURES: u32 = 100;
/// The first propagation asks for quick answers only: this part of the budget.
const FIRST_SHARE: u64 = 10;
/// Questions that may stay undecided before propagation from a test is given up, at first and later.
const FIRST_UNDECIDED: u32 = 2;
const MAX_UNDECIDED: u32 = 8;
/// Random tests in a row that find nothing new before they are given up.
const MAX_SAMPLES: u32 = 100;
/// Tests that propagation starts from again where the last one led no further.
const EARLIER_TESTS: usize = 4;

/// How much work a goal is worth.
#[derive(Clone, Debug)]
pub struct CoverLimits {
    /// Solver steps for one question.
    pub budget: u64,
    /// Ends every question to the solver.
    pub interrupt: Interrupt,
    /// Moves of a path in the search from the start.
    pub depth: u32,
    /// Paths in the search from the start.
    pub paths: usize,
    /// Steps of a test through a part of the model without data, at most.
    pub length: usize,
}

impl CoverLimits {
    fn effort(&self) -> Effort {
        Effort::new(self.budget, &self.interrupt)
    }
}

impl Default for CoverLimits {
    fn default() -> CoverLimits {
        CoverLimits {
            budget: 50_000,
            interrupt: Interrupt::default(),
            depth: 40,
            paths: 20_000,
            length: 1_000,
        }
    }
}

/// Who wants to know what happens.
pub trait CoverObserver {
    /// A goal is decided. `calls` are the questions to the solver since the last one was.
    fn decided(&mut self, goal: Goal, verdict: &GoalVerdict, test: Option<&Instance>, calls: u64);

    /// A constraint was put to the solver at these locations: everything before keeps its value.
    fn propagated(&mut self, _: &[LocationId], _solved: bool) {}

    /// Whether to stop.
    fn stop(&mut self) -> bool {
        false
    }
}

/// What came out.
#[derive(Debug)]
pub struct Covered {
    /// One path of every test; a test may be the beginning of nothing else.
    pub tests: Vec<Instance>,
    pub goals: BTreeMap<Goal, GoalVerdict>,
    pub calls: u64,
    /// Paths that the second walk did not confirm; nothing counts as covered by them.
    pub unconfirmed: u64,
    /// Steps that tests of all reachable switches need together, at least; known for models without data whose
    /// processes are independent.
    pub fewest_steps: Option<usize>,
}

impl Covered {
    /// A goal that counts as covered by this test, one of its own tests: what the end of the test
    /// reaches, where that is a goal.
    pub fn goal_of(&self, sts: &Sts, test: &Instance) -> Option<Goal> {
        let (step, _) = test.steps.last()?;
        let switches = step.switches.iter();
        let taken = switches.clone().map(|id| Goal::Switch(*id));
        let entered = switches.map(|id| Goal::Location(sts.switch(*id).target));
        let mut last = taken.chain(entered);
        last.find(|goal| self.goals.contains_key(goal)).or_else(|| {
            let number = self.tests.iter().position(|known| known == test)?;
            let own = GoalVerdict::Covered { test: number };
            let mut all = self.goals.iter();
            all.rfind(|(_, verdict)| **verdict == own)
                .map(|(goal, _)| *goal)
        })
    }

    /// The tests without those whose goals others cover, the later ones dropped first.
    pub fn minimal(&self, sts: &Sts) -> Vec<&Instance> {
        let goals: BTreeSet<Goal> = self.goals.keys().copied().collect();
        let goal_index = GoalIndex::new(sts, &goals);
        let mut covers: Vec<BTreeSet<Goal>> = self
            .tests
            .iter()
            .map(|test| {
                goal_index
                    .covered(test, &goals, &|| false)
                    .into_iter()
                    .collect()
            })
            .collect();
        // Where the model is non-deterministic, a test covers goals on more than one path.
        for (goal, verdict) in &self.goals {
            if let GoalVerdict::Covered { test } = verdict {
                covers[*test].insert(*goal);
            }
        }
        let mut times: BTreeMap<Goal, usize> = BTreeMap::new();
        for goal in covers.iter().flatten() {
            *times.entry(*goal).or_default() += 1;
        }
        let mut kept = vec![true; self.tests.len()];
        for (index, goals) in covers.iter().enumerate().rev() {
            if goals.iter().all(|goal| times[goal] > 1) {
                kept[index] = false;
                for goal in goals {
                    *times.entry(*goal).or_default() -= 1;
                }
            }
        }
        let kept = self.tests.iter().zip(kept).filter(|(_, kept)| *kept);
        kept.map(|(test, _)| test).collect()
    }
}

/// The search for tests that cover goals.
pub struct Cover<'a> {
    stepper: Stepper<'a>,
    limits: CoverLimits,
    confirm: Confirm,
    rng: &'a mut dyn Rng,
    open: BTreeSet<Goal>,
    goal_index: GoalIndex<'a>,
    tries: BTreeMap<Tried, u32>,
    /// States that tests have come by, some of every location.
    seen: BTreeMap<LocationId, Vec<State>>,
    /// Questions that the solver could not decide, since propagation last began.
    undecided: u32,
    calls: u64,
    reported: u64,
    result: Covered,
}

impl<'a> Cover<'a> {
    pub fn new(
        sts: &'a Sts,
        goals: &[Goal],
        limits: CoverLimits,
        confirm: Confirm,
        rng: &'a mut dyn Rng,
    ) -> Cover<'a> {
        let open: BTreeSet<Goal> = goals.iter().copied().collect();
        Cover {
            stepper: Stepper::new(sts, limits.effort()),
            limits,
            confirm,
            rng,
            goal_index: GoalIndex::new(sts, &open),
            open,
            tries: BTreeMap::new(),
            seen: BTreeMap::new(),
            undecided: 0,
            calls: 0,
            reported: 0,
            result: Covered {
                tests: Vec::new(),
                goals: BTreeMap::new(),
                calls: 0,
                unconfirmed: 0,
                fewest_steps: None,
            },
        }
    }

    /// Decides every goal. The first test is `first`, as far as the model allows it. Otherwise regions without data
    /// are toured, and the first test of each of the others is a random one.
    pub fn run(mut self, first: Option<&[Action]>, watch: &mut dyn CoverObserver) -> Covered {
        if first.is_some() {
            self.explore(first, watch);
        } else {
            let (regions, own) = region::regions(self.stepper.sts);
            self.tour(&regions, watch);
            for (number, region) in regions.iter().enumerate() {
                let is_own = |goal: &Goal| own[self.process_of(*goal)] == number;
                let (here, elsewhere) = self.open.iter().copied().partition(is_own);
                self.open = here;
                if !self.open.is_empty() {
                    self.stepper.restrict(region);
                    self.explore(None, watch);
                }
                self.open = elsewhere;
            }
        }
        self.result.calls = self.calls;
        self.result
    }

    /// The process that a goal is about.
    fn process_of(&self, goal: Goal) -> usize {
        let sts = self.stepper.sts;
        let location = match goal {
            Goal::Location(location) => location,
            Goal::Switch(switch)
            | Goal::Decision { switch, .. }
            | Goal::Condition { switch, .. }
            | Goal::Independent { switch, .. } => sts.switch(switch).source,
        };
        sts.location(location).process.index()
    }

    /// Covers the regions without data.
    fn tour(&mut self, regions: &[Region], watch: &mut dyn CoverObserver) {
        let sts = self.stepper.sts;
        let plain = regions.iter().filter(|region| region.plain);
        let goals = self.open.iter().copied();
        let mut tours = Tours::new(sts, plain, goals, self.limits.length);
        while let Some(moves) = tours.next(&mut || watch.stop()) {
            // A move that cannot be made after all is left to the search.
            if let Some(path) = self.along(&moves) {
                self.claim(std::slice::from_ref(&path), watch);
            }
        }
        if watch.stop() {
            return;
        }
        let goals = self.open.iter().copied();
        let unreachable: Vec<Goal> = goals.filter(|goal| tours.is_unreachable(*goal)).collect();
        for goal in unreachable {
            self.decide(goal, GoalVerdict::Unreachable(Reason::Structure), watch);
        }
        if regions.iter().all(|region| region.plain) {
            self.result.fewest_steps = tours.fewest_steps();
        }
    }

    /// The path of these moves, with values by chance.
    fn along(&mut self, moves: &[Rc<Move>]) -> Option<Instance> {
        let mut path = Instance {
            steps: Vec::with_capacity(moves.len()),
            states: vec![self.stepper.sts.initial_state()],
        };
        for step in moves {
            let (sts, effort) = (self.stepper.sts, self.limits.effort());
            let own = own_values(sts, step, &path.end().valuation, self.rng, &effort).sat()?;
            let state = self
                .stepper
                .take(path.end(), step, &step.parameters(&own))?;
            path.steps.push((Rc::clone(step), step.action(&own)));
            path.states.push(state);
        }
        Some(path)
    }

    /// Searches for what is open.
    fn explore(&mut self, first: Option<&[Action]>, watch: &mut dyn CoverObserver) {
        let mut paths = match first {
            Some(actions) => self.replay(actions),
            None => self.random_test(),
        };
        self.claim(&paths, watch);
        let whole = self.limits.budget;
        self.limits.budget = whole / FIRST_SHARE;
        self.propagate(&mut paths, FIRST_UNDECIDED, watch);
        self.limits.budget = whole;
        self.sample(watch);
        if !self.open.is_empty() && !watch.stop() {
            self.prove(watch);
        }
        if !self.open.is_empty() && !watch.stop() {
            self.walk_states(watch);
        }
        self.start_again(watch);
        if !self.open.is_empty() && !watch.stop() {
            self.search(watch);
        }
        // Only an interruption leaves anything open.
        for goal in self.open.clone() {
            let bound = Bound {
                interrupted: true,
                ..Bound::default()
            };
            self.decide(goal, GoalVerdict::Unknown(bound), watch);
        }
    }

    /// Algorithm 3 from a test on, until nothing is near that was not tried often enough, or until
    /// so many questions were too hard for the solver.
    fn propagate(
        &mut self,
        paths: &mut Vec<Instance>,
        undecided: u32,
        watch: &mut dyn CoverObserver,
    ) {
        let mut failures = 0;
        self.undecided = 0;
        while !self.open.is_empty()
            && failures < MAX_FAILURES
            && self.undecided < undecided
            && !watch.stop()
        {
            let Some(plan) = self.nearest(paths) else {
                return;
            };
            let tried = plan.tried.clone();
            match self.follow(paths, &plan, watch) {
                Some(longer) => {
                    let open = self.open.len();
                    self.claim(&longer, watch);
                    failures = match self.open.len() == open {
                        true => failures + 1,
                        false => 0,
                    };
                    if self.open.len() == open {
                        *self.tries.entry(tried).or_default() += 1;
                    }
                    *paths = longer;
                }
                None => {
                    failures += 1;
                    *self.tries.entry(tried).or_default() += 1;
                }
            }
        }
    }

    /// Random tests, as long as they find something now and then: where the values of a path are
    /// hard to solve for but not rare, they are cheaper than any question.
    fn sample(&mut self, watch: &mut dyn CoverObserver) {
        let mut idle = 0;
        while !self.open.is_empty() && idle < MAX_SAMPLES && !watch.stop() {
            let open = self.open.len();
            let paths = self.random_test();
            self.claim(&paths, watch);
            idle = match self.open.len() == open {
                true => idle + 1,
                false => 0,
            };
        }
    }

    /// The paper stays with the last test. Other paths begin elsewhere: with a few of the earlier
    /// tests, spread over all of them.
    fn start_again(&mut self, watch: &mut dyn CoverObserver) {
        let every = self.result.tests.len().div_ceil(EARLIER_TESTS).max(1);
        let earlier: Vec<Vec<Action>> = self
            .result
            .tests
            .iter()
            .step_by(every)
            .map(Instance::actions)
            .collect();
        for actions in earlier {
            if self.open.is_empty() || watch.stop() {
                return;
            }
            self.tries.clear();
            let mut paths = self.replay(&actions);
            self.propagate(&mut paths, MAX_UNDECIDED, watch);
        }
    }

    /// Many steps with few values: see [`concrete`].
    fn walk_states(&mut self, watch: &mut dyn CoverObserver) {
        let effort = Effort::new(self.limits.budget / FIRST_SHARE, &self.limits.interrupt);
        let found = concrete::search(
            &mut self.stepper,
            &mut self.goal_index,
            self.open.clone(),
            self.limits.paths,
            self.rng,
            &effort,
            &mut || watch.stop(),
        );
        for path in found {
            self.claim(std::slice::from_ref(&path), watch);
        }
    }

    fn prove(&mut self, watch: &mut dyn CoverObserver) {
        let sts = self.stepper.sts;
        let (effort, calls) = (self.limits.effort(), &mut self.calls);
        let (open, seen) = (&self.open, &self.seen);
        let proofs = prove::unreachable(sts, open, seen, &effort, calls, &mut || watch.stop());
        for (goal, reason) in proofs {
            self.decide(goal, GoalVerdict::Unreachable(reason), watch);
        }
    }

    fn search(&mut self, watch: &mut dyn CoverObserver) {
        let searched = search::breadth_first(
            &mut self.stepper,
            &mut self.goal_index,
            self.open.clone(),
            (self.limits.depth, self.limits.paths),
            self.rng,
            watch,
        );
        // The search borrows what claiming a goal needs, so goals are claimed afterwards.
        for hit in &searched.found {
            self.calls += hit.calls;
            if let Some(path) = self.instance(hit) {
                self.claim(&[path], watch);
            }
        }
        self.calls += searched.calls;
        for goal in self.open.clone() {
            // A way that was found and then not confirmed proves nothing.
            let exhausted = searched.exhausted && searched.not_found.contains(&goal);
            let verdict = match exhausted && self.result.unconfirmed == 0 {
                true => GoalVerdict::Unreachable(Reason::Exhausted {
                    paths: searched.bound.paths,
                }),
                false => GoalVerdict::Unknown(searched.bound),
            };
            self.decide(goal, verdict, watch);
        }
    }

    /// The found path with all its states.
    fn instance(&mut self, hit: &FoundPath) -> Option<Instance> {
        let start = self.stepper.sts.initial_state();
        self.instantiate(&[], &[start], &hit.route, &hit.witness)
    }

    /// A path of known steps with a route behind it whose unknowns have these values.
    fn instantiate(
        &self,
        steps: &[(Rc<Move>, Option<Action>)],
        states: &[State],
        route: &[Rc<Move>],
        witness: &[ioco_sts::Value],
    ) -> Option<Instance> {
        let mut path = Instance {
            steps: steps.to_vec(),
            states: states.to_vec(),
        };
        let mut base = 0;
        for step in route {
            let unknowns = &witness[base..base + step.types.len()];
            base += step.types.len();
            let state = self
                .stepper
                .take(path.end(), step, &step.parameters(unknowns))?;
            let action = step.action(unknowns);
            path.steps.push((Rc::clone(Move::plain(step)), action));
            path.states.push(state);
        }
        Some(path)
    }

    fn decide(&mut self, goal: Goal, verdict: GoalVerdict, watch: &mut dyn CoverObserver) {
        if self.open.remove(&goal) {
            let test = match verdict {
                GoalVerdict::Covered { test } => self.result.tests.get(test),
                _ => None,
            };
            watch.decided(goal, &verdict, test, self.calls - self.reported);
            self.reported = self.calls;
            self.result.goals.insert(goal, verdict);
        }
    }

    /// Counts what the paths of a test cover.
    fn claim(&mut self, paths: &[Instance], watch: &mut dyn CoverObserver) {
        for path in paths {
            self.remember(path);
            let interrupt = &self.limits.interrupt;
            let goals = self
                .goal_index
                .covered(path, &self.open, &|| interrupt.is_raised());
            if goals.is_empty() {
                continue;
            }
            if self.confirm.steps(path.path()).is_err() {
                self.result.unconfirmed += 1;
                continue;
            }
            let test = self.test(path);
            for goal in goals {
                self.decide(goal, GoalVerdict::Covered { test }, watch);
            }
        }
    }

    /// Keeps some of the states, the last ones of every location: a test begins much like others.
    fn remember(&mut self, path: &Instance) {
        let mut taken: BTreeMap<LocationId, usize> = BTreeMap::new();
        for state in path.states.iter().rev() {
            for location in &state.locations {
                let taken = taken.entry(*location).or_default();
                let seen = self.seen.entry(*location).or_default();
                if *taken < equations::MAX_OF_PATH && seen.len() < equations::MAX_STATES {
                    *taken += 1;
                    seen.push(state.clone());
                }
            }
        }
    }

    /// The number of the test that this path belongs to. A test that only goes on where the last
    /// one ended takes its place.
    fn test(&mut self, path: &Instance) -> usize {
        let actions = path.actions();
        match self.result.tests.last_mut() {
            Some(last) if last.actions() == actions => {}
            Some(last) if actions.starts_with(&last.actions()) => *last = path.clone(),
            _ => self.result.tests.push(path.clone()),
        }
        self.result.tests.len() - 1
    }
}
