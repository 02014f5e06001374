//! `ioco generate --traces N`: every feasible trace of N observable steps, on all cores.
//!
//! The work is cut into shares, the same for any number of threads, and every share draws its
//! values from a seed of its own: the suite does not depend on the threads, only the order of its
//! lines does.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::Subject;
use crate::exit::{Answer, CommandError, Exit};
use ioco_campaign::StopFlag;
use ioco_generate::{Confirm, Distinct, Extent, Path, Share, Tally, Walk, bounds};
use ioco_solve::Embedded;
use ioco_sts::Sts;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::Serialize;

use super::data::{Seen, Sought, Values};
use super::suite::Suite;
use crate::args::{self, Format};
use crate::output;
use crate::progress::Progress;

/// So many shares keep several threads busy to the end.
const SHARES: usize = 64;
/// The work is cut at most this deep.
const DEEPEST_CUT: usize = 4;
/// Random paths for the estimate.
const GUESSES: usize = 64;
const FEWEST_GUESSES: usize = 4;
const TIME_TO_GUESS: Duration = Duration::from_millis(30);
/// Traces between two looks at the clock and at Ctrl-C.
const TRACES_PER_LOOK: u64 = 256;

/// What `--count --format json` prints.
#[derive(Serialize)]
struct Counted {
    /// What an observer can see, of the whole length.
    traces: u64,
    /// Those that end sooner.
    #[serde(skip_serializing_if = "is_zero")]
    shorter: u64,
    /// There are more than could be told apart.
    #[serde(skip_serializing_if = "is_false")]
    more_traces: bool,
    /// Ways through the model, each of which is a test.
    paths: u64,
    seconds: f64,
    /// Moves that the solver could not decide: there may be more traces.
    #[serde(skip_serializing_if = "is_zero")]
    undecided: u64,
    /// Paths cut where internal steps go round.
    #[serde(skip_serializing_if = "is_zero")]
    circular: u64,
}

fn is_false(value: &bool) -> bool {
    !*value
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What the threads share.
struct Work<'a> {
    model: &'a Subject,
    extent: Extent,
    seed: u64,
    shares: Vec<Share>,
    suite: Option<&'a Suite>,
    values: &'a Values,
    sought: Option<&'a Sought>,
    next: AtomicUsize,
    done: AtomicUsize,
    traces: AtomicU64,
    stop: AtomicBool,
}

/// What a thread found.
struct ThreadResult {
    tally: Tally,
    /// Tests that the second walk did not confirm, and the first objection.
    unconfirmed: u64,
    objection: Option<String>,
    /// The empty trace is one of them: the model can do nothing at the start.
    empty: bool,
    /// The wanted values that the traces have anyway.
    seen: Seen,
    /// The traces among the paths.
    traces: Distinct,
}

impl ThreadResult {
    fn new(sts: &Sts, length: u32) -> ThreadResult {
        ThreadResult {
            tally: Tally::default(),
            unconfirmed: 0,
            objection: None,
            empty: false,
            seen: Seen::default(),
            traces: Distinct::new(sts, length),
        }
    }

    fn add(&mut self, other: ThreadResult) {
        self.tally.add(other.tally);
        self.unconfirmed += other.unconfirmed;
        self.objection = self.objection.take().or(other.objection);
        self.empty |= other.empty;
        self.seen.add(other.seen);
        self.traces.add(other.traces);
    }
}

pub fn run(arguments: &args::Generate, length: u32, model: &Subject, format: Format) -> Answer {
    let jobs = match arguments.jobs {
        Some(0) => return Err(CommandError::usage("--jobs must be at least 1")),
        Some(jobs) => jobs,
        None => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
    };
    if arguments.loops == Some(0) {
        return Err(
            CommandError::usage("--loops 0 excludes even the initial location")
                .hint("use --loops 1 or more"),
        );
    }
    if arguments.count && arguments.output.is_some() {
        return Err(CommandError::usage(
            "--count writes no tests, so --output has no effect",
        ));
    }
    if arguments.depth.is_some() || arguments.svg.is_some() {
        return Err(CommandError::usage("--depth and --svg go with --cover"));
    }
    let values = Values::read(arguments)?;
    let deadline = super::deadline(arguments)?;
    let interrupt = crate::interrupt::listen();
    let started = Instant::now();
    let halt = StopFlag::new(deadline, &interrupt);
    let over = || halt.is_raised();
    let extent = Extent {
        loops: arguments.loops,
        interrupt: halt.raised(),
        ..Extent::of_length(length)
    };
    say_bounds(&model.sts, length);
    let seed = arguments.seed;
    let mut first = walk(&model.sts, &extent, seed);
    first.set_interrupt(&over);
    let (shares, mut total) = first.shares(SHARES, DEEPEST_CUT);
    if total.runaway.is_none() && !over() {
        say!("estimate: {} paths", rounded(estimate(&mut first)));
    }
    let planned = match total.runaway {
        None => values.plan(&mut first, &over),
        Some(_) => None,
    };
    let suite = match arguments.count {
        true => None,
        false => Some(Suite::open(arguments, format, model, None, &halt.raised())?),
    };
    let work = Work {
        model,
        extent,
        seed,
        shares,
        suite: suite.as_ref(),
        values: &values,
        sought: planned.as_ref().map(|planned| &planned.sought),
        next: AtomicUsize::new(0),
        done: AtomicUsize::new(0),
        traces: AtomicU64::new(0),
        stop: AtomicBool::new(total.runaway.is_some()),
    };
    let mut found = ThreadResult::new(&model.sts, length);
    // Values alone need no more than the tests that have them.
    if !arguments.smv.minimise {
        found = in_parallel(&work, jobs, &over);
    }
    total.add(found.tally);
    if let (Some(planned), Some(suite)) = (&planned, &suite) {
        found.unconfirmed += planned.add_missing(model, &found.seen, suite)?;
    }
    if let Some(suite) = suite {
        suite.close()?;
    }
    if let Some(switch) = total.runaway {
        let place = model.sts.show_place(model.sts.switch(switch).place);
        let message = format!(
            "internal steps never end: {} {place}",
            model.sts.show_switch(switch)
        );
        return Err(CommandError::usage(message.trim_end().to_owned())
            .hint("the suite is not complete; give the internal steps a guard that ends them"));
    }
    let seconds = started.elapsed().as_secs_f64();
    let traces = found.traces.count();
    if arguments.count {
        if format == Format::Json {
            output::json(&Counted {
                traces: traces.whole,
                shorter: traces.shorter,
                more_traces: traces.more,
                paths: total.paths,
                seconds,
                undecided: total.undecided,
                circular: total.circular,
            })?;
        } else {
            output::print(&format!("{}\n", total.paths));
        }
    }
    summary(&total, &found, seconds, length);
    let mut missed = total.undecided + found.unconfirmed > 0;
    if let Some(planned) = &planned {
        let report = arguments.output.is_some().then_some(format);
        missed |= !planned.report(&model.sts, report)?;
    }
    if over() && !interrupt.is_raised() {
        output::warn("the time limit was reached: the suite is not complete");
        missed = true;
    }
    Ok(if interrupt.is_raised() {
        Exit::Interrupted
    } else if missed {
        Exit::GoalMissed
    } else {
        Exit::Conforms
    })
}

fn walk<'a>(sts: &'a Sts, extent: &Extent, seed: u64) -> Walk<'a, Embedded, ChaCha8Rng> {
    let solver = Embedded::new(sts.types(), sts.functions());
    let rng = ChaCha8Rng::seed_from_u64(seed);
    Walk::new(sts, extent.clone(), solver, rng)
}

/// The mean of some guesses, as many as take no time worth speaking of.
fn estimate(walk: &mut Walk<'_, Embedded, ChaCha8Rng>) -> f64 {
    let started = Instant::now();
    let mut guesses = Vec::new();
    while guesses.len() < FEWEST_GUESSES
        || (guesses.len() < GUESSES && started.elapsed() < TIME_TO_GUESS)
    {
        guesses.push(walk.guess());
    }
    guesses.iter().sum::<f64>() / guesses.len() as f64
}

fn in_parallel(work: &Work<'_>, jobs: usize, over: &dyn Fn() -> bool) -> ThreadResult {
    let progress = Progress::start();
    let (send, results) = mpsc::channel();
    let mut found = ThreadResult::new(&work.model.sts, work.extent.length);
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(work.shares.len()) {
            let send = send.clone();
            // The other end is there until the last thread has sent.
            scope.spawn(move || send.send(one_thread(work)).is_ok());
        }
        drop(send);
        loop {
            match results.recv_timeout(Duration::from_millis(100)) {
                Ok(result) => found.add(result),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => progress.say(|| {
                    format!(
                        "{} traces, {} of {} shares",
                        work.traces.load(Ordering::Relaxed),
                        work.done.load(Ordering::Relaxed),
                        work.shares.len()
                    )
                }),
            }
            if over() {
                work.stop.store(true, Ordering::Relaxed);
            }
        }
    });
    found
}

fn one_thread(work: &Work<'_>) -> ThreadResult {
    let mut found = ThreadResult::new(&work.model.sts, work.extent.length);
    let over = || work.stop.load(Ordering::Relaxed);
    let mut walk = walk(&work.model.sts, &work.extent, work.seed);
    walk.set_interrupt(&over);
    if work.sought.is_some() {
        walk.prefer_extremes();
    }
    found.seen = Seen::of(work.sought);
    let mut confirm = Confirm::new(work.model.semantics());
    let mut page = work.suite.map(Suite::page);
    while !work.stop.load(Ordering::Relaxed) {
        let index = work.next.fetch_add(1, Ordering::Relaxed);
        let Some(share) = work.shares.get(index) else {
            break;
        };
        let mut since = 0;
        let mut again = false;
        for round in 0..work.values.rounds() {
            let mut rng = ChaCha8Rng::seed_from_u64(work.seed.wrapping_add(round));
            rng.set_stream(index as u64 + 1);
            walk.draw_from(rng);
            let mut written = 0;
            let mut sink = |path: &Path<'_>| {
                // There are no other values for it.
                if again && !path.has_values() {
                    return true;
                }
                since += 1;
                written += 1;
                found.empty |= path.moves().next().is_none();
                if !again {
                    found.traces.note(path);
                }
                if since == TRACES_PER_LOOK {
                    work.traces.fetch_add(since, Ordering::Relaxed);
                    since = 0;
                    if work.stop.load(Ordering::Relaxed) {
                        return false;
                    }
                }
                let Some(page) = &mut page else { return true };
                if let Err(objection) = confirm.path(path) {
                    found.unconfirmed += 1;
                    found.objection.get_or_insert_with(|| objection.to_string());
                    return true;
                }
                found.seen.note(&work.model.sts, work.sought, &confirm);
                page.add(&work.model.sts, path.steps())
            };
            let tally = walk.run(share, &mut sink);
            match again {
                // What could not be decided is the same every time.
                true => found.tally.paths += written,
                false => found.tally.add(tally),
            }
            if tally.stopped || tally.runaway.is_some() {
                work.stop.store(true, Ordering::Relaxed);
                break;
            }
            again = true;
        }
        work.traces.fetch_add(since, Ordering::Relaxed);
        work.done.fetch_add(1, Ordering::Relaxed);
    }
    if let Some(page) = &mut page {
        page.flush();
    }
    found
}

fn say_bounds(sts: &Sts, length: u32) {
    let upper = bounds::bounds(sts, length);
    say!(
        "at most {} traces by the number of switches; paths by the ways to go on from one state: {}; \
         with all values {} and {}",
        bounds::show(upper.traces),
        bounds::show(upper.paths),
        bounds::show(upper.traces_with_values),
        bounds::show(upper.paths_with_values),
    );
}

/// Two digits are all that an estimate is good for.
fn rounded(guess: f64) -> String {
    if guess < 100.0 {
        return format!("about {guess:.0}");
    }
    let unit = 10f64.powf(guess.log10().floor() - 1.0);
    let guess = (guess / unit).round() * unit;
    if guess < 1e15 {
        format!("about {guess:.0}")
    } else {
        format!("about {guess:.1e}")
    }
}

fn summary(total: &Tally, found: &ThreadResult, seconds: f64, length: u32) {
    let written = total.paths - found.unconfirmed;
    let speed = total.paths as f64 / seconds.max(1e-9);
    let traces = found.traces.count();
    let mut tests = String::new();
    if traces.all() != written || traces.more {
        tests = format!("{written} paths: ");
    }
    if traces.more {
        tests.push_str("more than ");
    }
    tests.push_str(&format!(
        "{} traces of {length} observable steps",
        traces.whole
    ));
    if traces.shorter > 0 {
        tests.push_str(&format!(" and {} that end sooner", traces.shorter));
    }
    say!(
        "{tests} in {seconds:.2} s ({speed:.0} a second); \
         {} moves were infeasible, {} questions went to the solver",
        total.infeasible,
        total.solver_calls
    );
    if found.empty && length > 0 {
        output::warn("the initial state allows no step: the only trace is the empty one");
    }
    if total.circular > 0 {
        output::warn(&format!(
            "internal steps form loops in {} places; paths that repeat a loop are omitted",
            total.circular
        ));
    }
    if total.undecided > 0 {
        output::warn(&format!(
            "the solver cannot decide {} moves: traces may be missing",
            total.undecided
        ));
    }
    if let Some(exhausted) = total.exhausted {
        output::warn(&format!("the value of a variable: {exhausted}"));
    }
    if let Some(objection) = &found.objection {
        output::warn(&format!(
            "{} traces are omitted: replaying them on the model does not confirm them; the first: {objection}",
            found.unconfirmed
        ));
    }
}
