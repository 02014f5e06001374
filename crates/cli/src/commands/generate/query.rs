//! `ioco generate --query`: tests that match a pattern, or that there are none within a number of
//! steps.

use std::path::Path;
use std::time::Instant;

use super::Subject;
use crate::exit::{Answer, CommandError, Exit};
use ioco_campaign::StopFlag;
use ioco_generate::Confirm;
use ioco_generate::answer::{self, End};
use ioco_generate::plan::{Limits, Pattern};
use ioco_generate::suite::{SavedQuery, SavedTest, SavedTree};
use ioco_generate::tree::{Grower, Purpose};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::Serialize;

use super::suite::Suite;
use super::words;
use crate::args::{self, Format};
use crate::interrupt;
use crate::output;
use crate::progress::Progress;
use crate::watch::ErrorsOnly;

/// Ways that are begun before the search gives up.
const PATHS: usize = 200_000;
/// Ways that a branch of a test may begin.
const BRANCH_PATHS: usize = 2_000;
/// Solver steps for one question.
const BUDGET: u64 = 50_000;

/// One line of `--format json` per test.
#[derive(Serialize)]
struct TestLine<'a> {
    test: usize,
    #[serde(flatten)]
    saved: &'a SavedTest,
}

/// The last line of `--format json`.
#[derive(Serialize)]
struct Verdict {
    verdict: &'static str,
    tests: usize,
    /// Whether there are more: `none` is proved.
    more: &'static str,
    within: u32,
    /// The bound is the usual one: the query has none.
    default_bound: bool,
    paths: usize,
    undecided: usize,
    solver_calls: u64,
    seconds: f64,
}

pub fn run(file: &Path, arguments: &args::Generate, model: &Subject, format: Format) -> Answer {
    let traces = arguments.count || arguments.loops.is_some() || arguments.jobs.is_some();
    if traces || arguments.data.is_some() {
        return Err(CommandError::usage(
            "--count, --loops, --jobs and --data go with --traces",
        ));
    }
    let deadline = super::deadline(arguments)?;
    if arguments.number == 0 {
        return Err(CommandError::usage("--number must be at least 1"));
    }
    let sts = &model.sts;
    let query = ioco_campaign::query::load(file, sts, &mut ErrorsOnly)?;
    let text = ioco_outside::file::read_text(file, sts.budget())
        .map_err(|error| CommandError::usage(format!("cannot read {}: {error}", file.display())))?;
    let pattern = Pattern::from(&query);
    let (within, default_bound) = answer::bound(&pattern, arguments.depth.or(query.within));
    if default_bound {
        say!(
            "the query names no length: looking for tests of at most {within} steps (write `within \
             N steps`, or use --depth N)"
        );
    }
    let started = Instant::now();
    let interrupt = interrupt::listen();
    let halt = StopFlag::new(deadline, &interrupt);
    let limits = Limits {
        steps: within,
        paths: PATHS,
        budget: BUDGET,
        interrupt: halt.raised(),
    };
    let mut rng = ChaCha8Rng::seed_from_u64(arguments.seed);
    let mut confirm = Confirm::new(model.semantics());
    let progress = Progress::start();
    let mut steps = 0u64;
    let answers = answer::answer(
        sts,
        &pattern,
        limits.clone(),
        arguments.number,
        &mut confirm,
        &mut rng,
        &mut || {
            steps += 1;
            progress.say(|| format!("{steps} ways"));
            false
        },
    );
    drop(progress);
    let mut grower = Grower::new(model.semantics(), BUDGET, limits.interrupt.clone());
    let purpose = Purpose {
        pattern: &pattern,
        limits: Limits {
            paths: BRANCH_PATHS,
            ..limits.clone()
        },
    };
    let saved_query = SavedQuery { text, within };
    let writes = arguments.output.is_some() || arguments.export.is_some();
    let suite = match writes {
        true => Some(Suite::open(
            arguments,
            format,
            model,
            Some(saved_query),
            &limits.interrupt,
        )?),
        false => None,
    };
    let mut page = suite.as_ref().map(Suite::page);
    let mut unconfirmed = answers.unconfirmed;
    let mut number = 0;
    for way in &answers.tests {
        let Some(tree) = grower.grow(&way.actions(), Some(&purpose), &mut rng) else {
            unconfirmed += 1;
            continue;
        };
        number += 1;
        let saved = SavedTest {
            goal: None,
            tree: SavedTree::new(&tree, sts),
            switches: way.switches().iter().map(|id| id.0).collect(),
        };
        match (&mut page, format) {
            (Some(page), _) => {
                page.add_tree(&saved, &tree);
            }
            (None, Format::Json) => output::json(&TestLine {
                test: number,
                saved: &saved,
            })?,
            (None, _) => output::print(&words::test(number, &tree, sts)),
        }
    }
    if let Some(mut page) = page {
        page.flush();
    }
    if let Some(suite) = suite {
        suite.close()?;
    }
    let seconds = started.elapsed().as_secs_f64();
    let searched = answers.searched;
    let (verdict, more) = match (number, answers.end) {
        (0, End::NoMore) => ("none", "none"),
        (0, _) => ("unknown", "unknown"),
        (_, End::NoMore) => ("found", "none"),
        (_, End::Enough) => ("found", "perhaps"),
        (_, End::Unknown) => ("found", "unknown"),
    };
    if format == Format::Json {
        output::json(&Verdict {
            verdict,
            tests: number,
            more,
            within,
            default_bound,
            paths: searched.paths,
            undecided: searched.undecided,
            solver_calls: searched.solver_calls,
            seconds,
        })?;
    }
    let tests = output::count(number as u64, "test");
    let sentence = match (verdict, more) {
        ("none", _) => format!("there is none within {within} steps"),
        ("unknown", _) => format!("unknown: {}", why_unknown(&answers, within)),
        (_, "none") => format!("{tests}; there are no others within {within} steps"),
        (_, "unknown") => format!(
            "{tests}; whether there are more: {}",
            why_unknown(&answers, within)
        ),
        _ => tests,
    };
    say!(
        "{sentence} ({} ways, {} questions to the solver, {seconds:.2} s)",
        searched.paths,
        searched.solver_calls
    );
    if unconfirmed > 0 {
        output::warn(&format!(
            "{unconfirmed} tests are omitted: replaying them on the model does not confirm them"
        ));
    }
    Ok(if interrupt.is_raised() {
        Exit::Interrupted
    } else if number == 0 {
        Exit::GoalMissed
    } else {
        Exit::Conforms
    })
}

fn why_unknown(answers: &answer::Answers, within: u32) -> String {
    let searched = answers.searched;
    if searched.paths >= PATHS {
        format!(
            "gave up after {} paths, before trying all paths of up to {within} steps",
            searched.paths
        )
    } else if searched.runaway {
        "internal steps never end".to_owned()
    } else if searched.undecided > 0 {
        format!("the solver could not decide {} steps", searched.undecided)
    } else {
        "not all paths were tried".to_owned()
    }
}
