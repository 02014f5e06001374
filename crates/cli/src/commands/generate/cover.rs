//! `ioco generate --cover`: a test for every goal, or a proof that there is none.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use ioco_campaign::{Answer, Exit, Interrupt, Model, Stop};
use ioco_generate::Confirm;
use ioco_generate::cover::{Cover, CoverLimits, Goal, GoalVerdict, Instance, Watch};
use ioco_solve::Oracle;
use ioco_sts::{Relation, Semantics, Sts};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::Serialize;

use super::suite::{Suite, Test, in_words};
use crate::args::{self, Format};
use crate::output;
use crate::progress::Progress;

/// One line of `--format json`.
#[derive(Serialize)]
struct GoalLine {
    goal: String,
    verdict: &'static str,
    test: Option<NumberedTest>,
    /// Why it is unreachable, or how far the search went.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    solver_calls: u64,
    seconds: f64,
}

/// The test that covers a goal, up to the goal; the suite's test of this number begins like it.
#[derive(Serialize)]
struct NumberedTest {
    number: usize,
    #[serde(flatten)]
    test: Test,
}

struct Lines<'a> {
    sts: &'a Sts,
    format: Format,
    since: Instant,
    progress: Progress,
    interrupt: Interrupt,
    goals: usize,
    decided: usize,
    broken: Option<Stop>,
}

impl Watch for Lines<'_> {
    fn decided(&mut self, goal: Goal, verdict: &GoalVerdict, test: Option<&Instance>, calls: u64) {
        let seconds = self.since.elapsed().as_secs_f64();
        self.since = Instant::now();
        self.decided += 1;
        let (word, reason, number) = match verdict {
            GoalVerdict::Covered { test } => ("covered", None, test + 1),
            GoalVerdict::Unreachable(reason) => ("unreachable", Some(reason.to_string()), 0),
            GoalVerdict::Unknown(bound) => ("unknown", Some(bound.to_string()), 0),
        };
        let line = GoalLine {
            goal: goal.show(self.sts),
            verdict: word,
            test: test.map(|test| NumberedTest {
                number,
                test: Test::new(self.sts, test.path()),
            }),
            reason,
            solver_calls: calls,
            seconds,
        };
        let printed = self.progress.aside(|| match self.format {
            Format::Json => output::json(&line),
            Format::Text => {
                let why = match (&line.reason, test) {
                    (Some(reason), _) => reason.clone(),
                    (None, Some(_)) => format!("test {number}"),
                    (None, None) => String::new(),
                };
                output::print(&format!("{word:<12} {}  {why}\n", line.goal));
                Ok(())
            }
        });
        if let Err(stop) = printed {
            self.broken.get_or_insert(stop);
        }
    }

    fn stop(&mut self) -> bool {
        let (decided, goals) = (self.decided, self.goals);
        self.progress
            .say(|| format!("{decided} of {goals} goals decided"));
        self.interrupt.asked() || self.broken.is_some()
    }
}

pub fn run(wanted: &str, arguments: &args::Generate, model: &Model, format: Format) -> Answer {
    if arguments.count || arguments.loops.is_some() || arguments.jobs.is_some() {
        return Err(Stop::usage("--count, --loops and --jobs go with --traces"));
    }
    let sts = &model.sts;
    let goals = goals(wanted, sts)?;
    let started = Instant::now();
    let mut lines = Lines {
        sts,
        format,
        since: started,
        progress: Progress::start(),
        interrupt: crate::interrupt::listen(),
        goals: goals.len(),
        decided: 0,
        broken: None,
    };
    let mut limits = CoverLimits::default();
    if let Some(depth) = arguments.depth {
        limits.depth = depth;
    }
    let mut rng = ChaCha8Rng::seed_from_u64(arguments.seed);
    let semantics = Semantics::new(Arc::clone(sts), Box::new(Oracle::new()), Relation::Ioco);
    let confirm = Confirm::new(semantics);
    let covered = Cover::new(sts, &goals, limits, confirm, &mut rng).run(None, &mut lines);
    let interrupted = lines.interrupt.asked();
    drop(lines.progress);
    if let Some(stop) = lines.broken {
        return Err(stop);
    }
    let kept = match arguments.smv.minimise {
        true => minimal(&covered.tests, &goals),
        false => covered.tests.iter().collect(),
    };
    if let Some(file) = &arguments.output {
        let suite = Suite::open(Some(file), format)?;
        let mut page = suite.page();
        for test in &kept {
            page.add(sts, test.path());
        }
        page.flush();
        suite.close()?;
    } else if format == Format::Text {
        for test in &kept {
            output::print(&format!("{}\n", in_words(sts, test.path())));
        }
    }
    let count = |wanted: fn(&GoalVerdict) -> bool| {
        covered
            .goals
            .values()
            .filter(|verdict| wanted(verdict))
            .count()
    };
    let unreachable = count(|v| matches!(v, GoalVerdict::Unreachable(_)));
    let done = count(|v| matches!(v, GoalVerdict::Covered { .. }));
    let open = goals.len() - unreachable - done;
    eprintln!(
        "{done} of {} goals covered by {} tests, {unreachable} proved unreachable, {open} unknown; \
         {} questions to the solver, {:.2} s",
        goals.len(),
        kept.len(),
        covered.calls,
        started.elapsed().as_secs_f64()
    );
    if covered.unconfirmed > 0 {
        output::warn(&format!(
            "{} paths were not confirmed by a second walk and do not count",
            covered.unconfirmed
        ));
    }
    Ok(if interrupted {
        Exit::Interrupted
    } else if open > 0 {
        Exit::GoalMissed
    } else {
        Exit::Conforms
    })
}

/// `locations`, `switches`, or both joined by a comma.
fn goals(wanted: &str, sts: &Sts) -> Result<Vec<Goal>, Stop> {
    let mut goals = Vec::new();
    for word in wanted.split(',') {
        match word.trim() {
            "locations" => goals.extend(Goal::locations(sts)),
            "switches" => goals.extend(Goal::switches(sts)),
            other => {
                return Err(Stop::usage(format!("'{other}' is not something to cover"))
                    .hint("use locations, switches, or both joined by a comma"));
            }
        }
    }
    Ok(goals)
}

/// The tests without those whose goals others cover, the later ones first.
fn minimal<'t>(tests: &'t [Instance], goals: &[Goal]) -> Vec<&'t Instance> {
    let covers = |test: &Instance| -> BTreeSet<Goal> {
        let visited = test.states.iter().flat_map(|s| s.locations.iter());
        let taken = test.steps.iter().flat_map(|(step, _)| step.switches.iter());
        visited
            .map(|l| Goal::Location(*l))
            .chain(taken.map(|s| Goal::Switch(*s)))
            .filter(|goal| goals.contains(goal))
            .collect()
    };
    let mut kept: Vec<(&Instance, BTreeSet<Goal>)> =
        tests.iter().map(|test| (test, covers(test))).collect();
    for index in (0..kept.len()).rev() {
        let others = kept.iter().enumerate().filter(|(other, _)| *other != index);
        let others: BTreeSet<Goal> = others.flat_map(|(_, (_, goals))| goals.clone()).collect();
        if kept[index].1.is_subset(&others) {
            kept.remove(index);
        }
    }
    kept.into_iter().map(|(test, _)| test).collect()
}
