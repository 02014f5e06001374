//! `ioco generate --cover`: a test for every goal, or a proof that there is none.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use crate::exit::{Answer, CommandError, Exit};
use ioco_campaign::{GoalSearch, Interrupt, StopFlag};
use ioco_generate::Confirm;
use ioco_generate::cover::{CoverObserver, Goal, GoalVerdict, Instance, States, states};
use ioco_generate::suite::SavedGoal;
use ioco_sts::{FlattenError, Sts};
use serde::Serialize;

use super::Subject;
use super::suite::{Suite, Test, in_words};
use crate::args::{self, Format};
use crate::output;
use crate::progress::Progress;

/// A model with more states than this is said to have too many.
const MAX_STATES: usize = 100_000;

/// One line of `--format json`.
#[derive(Serialize)]
struct GoalLine {
    goal: String,
    /// The same for people.
    #[serde(skip)]
    title: String,
    verdict: &'static str,
    test: Option<NumberedTest>,
    /// Why it is unreachable, or how far the search went.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    solver_calls: u64,
    seconds: f64,
}

/// Tests with more steps are not repeated for every goal that they cover.
const MAX_SHOWN: usize = 100;

/// The test that covers a goal; the suite's test of this number begins like it.
#[derive(Serialize)]
struct NumberedTest {
    number: usize,
    /// Stimuli and responses.
    length: usize,
    /// Its steps and switches, unless it is long.
    #[serde(flatten)]
    test: Option<Test>,
}

impl NumberedTest {
    fn new(sts: &Sts, number: usize, test: &Instance, format: Format) -> NumberedTest {
        let length = test.path().filter(|step| step.action.is_some()).count();
        let shown = format == Format::Json && length <= MAX_SHOWN;
        NumberedTest {
            number,
            length,
            test: shown.then(|| Test::new(sts, test.path())),
        }
    }
}

struct Lines<'a> {
    sts: &'a Sts,
    format: Format,
    since: Instant,
    progress: Progress,
    interrupt: Interrupt,
    /// Raised when the time is up, or the person wants to stop.
    halt: Interrupt,
    goals: usize,
    decided: usize,
    broken: Option<CommandError>,
}

impl Lines<'_> {
    fn line(&mut self, line: &GoalLine, number: usize) {
        let printed = self.progress.aside(|| match self.format {
            Format::Json => output::json(line),
            _ => {
                let why = match (&line.reason, &line.test) {
                    (Some(reason), _) => reason.clone(),
                    (None, Some(_)) => format!("test {number}"),
                    (None, None) => String::new(),
                };
                output::print(&format!("{:<12} {}  {why}\n", line.verdict, line.title));
                Ok(())
            }
        });
        if let Err(stop) = printed {
            self.broken.get_or_insert(stop);
        }
    }
}

impl CoverObserver for Lines<'_> {
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
            title: goal.title(self.sts),
            verdict: word,
            test: test.map(|test| NumberedTest::new(self.sts, number, test, self.format)),
            reason,
            solver_calls: calls,
            seconds,
        };
        self.line(&line, number);
    }

    fn stop(&mut self) -> bool {
        let (decided, goals) = (self.decided, self.goals);
        self.progress
            .say(|| format!("{decided} of {goals} goals decided"));
        self.halt.is_raised() || self.broken.is_some()
    }
}

pub fn run(wanted: &str, arguments: &args::Generate, model: &Subject, format: Format) -> Answer {
    if arguments.count || arguments.loops.is_some() || arguments.jobs.is_some() {
        return Err(CommandError::usage(
            "--count, --loops and --jobs go with --traces",
        ));
    }
    if arguments.data.is_some() {
        return Err(CommandError::usage("--data goes with --traces"));
    }
    let sts = &model.sts;
    let (goals, with_states) = goals(wanted, sts)?;
    let started = Instant::now();
    let interrupt = crate::interrupt::listen();
    let halt = StopFlag::new(super::deadline(arguments)?, &interrupt);
    let mut lines = Lines {
        sts,
        format,
        since: started,
        progress: Progress::start(),
        interrupt,
        halt: halt.raised(),
        goals: goals.len(),
        decided: 0,
        broken: None,
    };
    // Goals that are many are looked at first: where they cannot be listed, nothing is begun.
    let states = match with_states {
        true => match all_states(model, &lines.halt)? {
            Some(states) => Some(states),
            None => return Ok(lines.ended()),
        },
        false => None,
    };
    let search = GoalSearch {
        sts,
        meaning: &model.meaning,
        seed: arguments.seed,
        depth: arguments.depth,
        length: None,
        stop: &halt,
    };
    let covered = search.run(&goals, &mut lines)?;
    let first = covered.tests.len();
    if let Some(states) = &states {
        lines.states(states, first);
    }
    let interrupted = lines.interrupt.is_raised();
    drop(lines.progress);
    if let Some(stop) = lines.broken {
        return Err(stop);
    }
    let mut kept = match arguments.smv.minimise {
        true => covered.minimal(sts),
        false => covered.tests.iter().collect(),
    };
    kept.extend(states.iter().flat_map(|states| &states.tests));
    if arguments.output.is_some() || arguments.export.is_some() {
        let suite = Suite::open(arguments, format, model, None, &lines.halt)?;
        let mut page = suite.page();
        for test in &kept {
            let goal = covered.goal_of(sts, test);
            let goal = goal.map(|goal| SavedGoal::new(goal, sts));
            page.add_for_goal(sts, test.path(), goal);
        }
        page.flush();
        suite.close()?;
    } else if format == Format::Text {
        for test in &kept {
            output::print(&format!("{}\n", in_words(sts, test.path())));
        }
    }
    if let Some(file) = &arguments.svg {
        draw(file, sts, &kept)?;
    }
    let count = |wanted: fn(&GoalVerdict) -> bool| {
        covered
            .goals
            .values()
            .filter(|verdict| wanted(verdict))
            .count()
    };
    let unreachable = count(|v| matches!(v, GoalVerdict::Unreachable(_)));
    let mut done = count(|v| matches!(v, GoalVerdict::Covered { .. }));
    let mut all = goals.len();
    if let Some(states) = &states {
        all += states.states.len();
        done += states.visited.iter().flatten().count();
    }
    let open = all - unreachable - done;
    say!(
        "{done} of {all} goals covered by {} tests, {unreachable} proved unreachable, {open} unknown; \
         {} questions to the solver, {:.2} s",
        kept.len(),
        covered.calls,
        started.elapsed().as_secs_f64()
    );
    if let Some(fewest) = covered
        .fewest_steps
        .filter(|_| asks_for_switches(&goals, sts))
    {
        let steps: usize = kept.iter().map(|test| test.steps.len()).sum();
        say!("{steps} steps; all reachable switches take at least {fewest}");
    }
    if covered.unconfirmed > 0 {
        output::warn(&format!(
            "{} paths do not count: replaying them on the model does not confirm them",
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

/// The model with how often the tests visit its locations and take its switches.
fn draw(file: &Path, sts: &Sts, tests: &[&Instance]) -> Result<(), CommandError> {
    let mut counts = ioco_draw::Counts {
        locations: vec![0; sts.locations().len()],
        switches: vec![0; sts.switches().len()],
    };
    for test in tests {
        for process in sts.processes() {
            counts.locations[process.initial.index()] += 1;
        }
        for id in test.steps.iter().flat_map(|(step, _)| &step.switches) {
            counts.switches[id.index()] += 1;
            counts.locations[sts.switch(*id).target.index()] += 1;
        }
    }
    output::draw(file, sts, &counts)
}

/// The goals that words joined by commas ask for, and whether states are among them.
fn goals(wanted: &str, sts: &Sts) -> Result<(Vec<Goal>, bool), CommandError> {
    let mut goals = Vec::new();
    let mut states = false;
    for word in wanted.split(',') {
        let word = word.trim();
        if word == "states" {
            states = true;
            continue;
        }
        let named = Goal::of_criterion(word, sts).ok_or_else(|| {
            CommandError::usage(format!("'{word}' is not something to cover")).hint(
                "use locations, switches, decisions, conditions, mcdc or states; several are \
                 joined by commas; or one of w, wp, hsi and ioco",
            )
        })?;
        goals.extend(named);
    }
    // Asked for twice is asked for once.
    let unique: BTreeSet<Goal> = goals.into_iter().collect();
    Ok((unique.into_iter().collect(), states))
}

/// Whether all switches are among the goals.
fn asks_for_switches(goals: &[Goal], sts: &Sts) -> bool {
    let switches = goals.iter().filter(|goal| matches!(goal, Goal::Switch(_)));
    switches.count() == sts.switches().len()
}

/// Every state of the model, where there are not too many; `None` if it was interrupted.
fn all_states(model: &Subject, halt: &Interrupt) -> Result<Option<States>, CommandError> {
    let mut confirm = Confirm::new(model.semantics());
    match states(&model.sts, MAX_STATES, &mut confirm, halt) {
        Ok(states) => Ok(Some(states)),
        Err(FlattenError::Interrupted) => Ok(None),
        Err(error) => Err(CommandError::usage(format!(
            "the states of this model cannot be listed: {error}"
        ))
        .hint("use --cover locations, or --cover conditions to distinguish values")),
    }
}

impl Lines<'_> {
    /// The exit where the states could not be listed in time.
    fn ended(&self) -> Exit {
        match self.interrupt.is_raised() {
            true => Exit::Interrupted,
            false => {
                output::warn("the time limit was reached before all states were listed");
                Exit::GoalMissed
            }
        }
    }

    /// The states with the tests that visit them, numbered from `first` on.
    fn states(&mut self, states: &States, first: usize) {
        for (state, visited) in states.states.iter().zip(&states.visited) {
            let test = visited.map(|test| &states.tests[test]);
            let number = visited.map_or(0, |test| first + test + 1);
            let line = GoalLine {
                goal: format!("state {}", state.show(self.sts)),
                title: format!("state {}", state.title(self.sts)),
                verdict: if test.is_some() { "covered" } else { "unknown" },
                test: test.map(|test| NumberedTest::new(self.sts, number, test, self.format)),
                reason: match test {
                    Some(_) => None,
                    None => Some("replaying the path on the model does not confirm it".to_owned()),
                },
                solver_calls: 0,
                seconds: self.since.elapsed().as_secs_f64(),
            };
            self.since = Instant::now();
            self.line(&line, number);
        }
    }
}
