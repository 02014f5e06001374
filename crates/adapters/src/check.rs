//! Testing in one call, for `cargo test`: run, and if something is wrong, shrink and explain it.

use std::fmt;
use std::sync::Arc;

use ioco_engine::{Context, Explanation, Settings, Summary, TestReport, Tester, TextOptions};
use ioco_shrink::{Confidence, Options, Pipeline, Runner, shrink};
use ioco_solve::GuardSolver;
use ioco_sts::{Action, Execution, Relation, Semantics, Sts, Verdict};

use crate::connection::{AdapterError, Connection};
use crate::drive::{ScriptRunner, drive};

/// How failures are shrunk.
const SHRINKERS: &str = "auto";

/// Runs that shrinking may take; each costs a reset.
const SHRINKING_RUNS: usize = 1000;

/// How often a failure is run again before it is shrunk.
const SEEN_AGAIN: u32 = 3;

/// A test that failed, or could not be carried out. Shown, it is the whole story.
#[derive(Clone)]
pub struct NotConforming {
    /// The shortest failing execution that was found.
    pub execution: Execution,
    pub explanation: Explanation,
    /// What made the system unusable, where that is what happened.
    pub trouble: Option<AdapterError>,
}

impl fmt::Display for NotConforming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.explanation.to_text(TextOptions::default()))?;
        match self.trouble.as_ref().and_then(|t| t.hint.as_ref()) {
            Some(hint) => write!(f, "\n  hint           {hint}"),
            None => Ok(()),
        }
    }
}

/// As it is displayed, because `unwrap` in a test shows this.
impl fmt::Debug for NotConforming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{self}")
    }
}

impl std::error::Error for NotConforming {}

/// Tests a system against a model until a stop condition of `settings` holds, or the first test
/// fails or cannot be carried out. A failure comes explained, and shrunk if it can be seen again.
pub fn check<C: Connection + ?Sized>(
    sts: &Arc<Sts>,
    connection: &mut C,
    settings: Settings,
) -> Result<Summary, Box<NotConforming>> {
    let semantics = || {
        Semantics::new(
            Arc::clone(sts),
            Box::new(GuardSolver::new()),
            Relation::Ioco,
        )
    };
    let seed = settings.seed;
    let mut tester = Tester::new(semantics(), settings);
    while let Some(first) = tester.next_test(connection.now()) {
        let trouble = drive(&mut tester, first, connection, &|| false, &mut |_| {});
        let report = tester.finished_test();
        let verdict = &report.execution.verdict;
        if matches!(
            verdict,
            Verdict::Fail(_) | Verdict::Ended(_) | Verdict::Error(_)
        ) {
            let found = explain(&mut tester, connection, semantics(), report, seed, trouble);
            return found.map_or_else(|| Ok(tester.summary()), Err);
        }
    }
    Ok(tester.summary())
}

fn explain<C: Connection + ?Sized>(
    tester: &mut Tester,
    connection: &mut C,
    mut semantics: Semantics,
    report: TestReport,
    seed: u64,
    trouble: Option<AdapterError>,
) -> Option<Box<NotConforming>> {
    let mut context = Context {
        test: Some(report.number),
        seed: Some(seed),
        ..Context::default()
    };
    let mut execution = report.execution;
    let options = Options {
        runs: Some(SHRINKING_RUNS),
        confirm: 5,
        ..Options::default()
    };
    let mut runner = ScriptRunner::new(tester, connection, &|| false);
    // Whether it can be seen again at all comes first: shrinking what cannot is in vain.
    let again = seen_again(&mut runner, &execution);
    let is_gone = again.runs > 0 && again.failed == 0;
    if is_gone {
        context.confirmed = Some((again.failed.into(), again.runs.into()));
    }
    let pipeline: Option<Pipeline> = SHRINKERS.parse().ok().filter(|_| !is_gone);
    let shrunk = pipeline.and_then(|pipeline| {
        shrink(
            &pipeline,
            &mut semantics,
            &execution,
            &mut runner,
            &options,
            &mut (),
        )
        .ok()
    });
    // What cannot be shrunk, such as an error, is explained as it is.
    if let Some(shrunk) = shrunk {
        context.shrunk = Some(ioco_engine::Shrunk {
            from: shrunk.original_length,
            to: shrunk.execution.length(),
            runs: shrunk.runs,
            minimal: shrunk.minimal.is_some(),
        });
        let confidence = shrunk.confidence;
        context.confirmed = Some((confidence.failed.into(), confidence.runs.into()));
        execution = shrunk.execution;
    }
    let explanation = ioco_engine::explain(&mut semantics, &execution, &context)?;
    Some(Box::new(NotConforming {
        execution,
        explanation,
        trouble,
    }))
}

/// Runs the stimuli of a deviation again. An error is no deviation, and is not run again.
fn seen_again(runner: &mut dyn Runner, failure: &Execution) -> Confidence {
    let mut confidence = Confidence { failed: 0, runs: 0 };
    let Some(first) = failure.deviation() else {
        return confidence;
    };
    let stimuli: Vec<Action> = failure.stimuli().cloned().collect();
    while confidence.runs < SEEN_AGAIN {
        let again = runner.run(&stimuli);
        if matches!(again.verdict, Verdict::Error(_)) {
            break;
        }
        let deviation = again.deviation();
        confidence.runs += 1;
        confidence.failed += u32::from(deviation.is_some_and(|again| again.is_like(first)));
    }
    confidence
}
