//! Testing in one call: failures of earlier runs first, then new tests; what fails is confirmed,
//! shrunk, explained and kept.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ioco_adapters::{AdapterError, Connection as _, Local, ScriptRunner, drive};
use ioco_engine::{
    Context, EventLevel, FailureContext, FailureFile, Settings, StopConditions, StrategyKind,
    TestReport, Tester, WaitPolicy, explain,
};
use ioco_shrink::{
    Confidence, Confirmation, Ended, Options, Pipeline, Runner as _, Shrunk, shrink,
};
use ioco_sts::{Action, Execution, Semantics, Sts, Verdict};

use crate::files::Folder;
use crate::model::Model;
use crate::outcome::{Error, Failure, Report};
use crate::system::{Bound, System};

/// How failures are shrunk.
const SHRINKER: &str = "auto";

/// Runs that shrinking may take.
const SHRINKING_RUNS: usize = 1000;

/// Runs that confirm a failure.
const CONFIRMING_RUNS: u32 = 5;

/// Tests a system against a model: 100 tests of 100 steps, always the same ones. [`Check`] has more
/// choices.
///
/// The model is text in AML, or a [`Model`]. The error is the explanation of the failure, shrunk to the
/// steps that matter; `?` and `unwrap` show it.
///
/// ```
/// # use ioco::Response;
/// # const MODEL: &str = "
/// # external 'shop'
/// # process('till') {
/// #   channel('shop') { stimulus 'pay', { 'cents' => integer(1..500) }
/// #                     response 'change', { 'cents' => :integer } }
/// #   var 'paid', :integer
/// #   repeat { o { receive 'pay', constraint: 'cents != :void', update: 'paid = cents'
/// #                send 'change', constraint: 'cents == 500 - paid' } }
/// # }";
/// fn the_till_gives_the_right_change() -> Result<(), ioco::Error> {
///     let till = ioco::from_fn(|| (), |_, pay| {
///         vec![Response::new("change").with("cents", 500 - pay.integer("cents"))]
///     });
///     ioco::check(MODEL, till)?;
///     Ok(())
/// }
/// # the_till_gives_the_right_change().unwrap();
/// ```
pub fn check<M: TryInto<Model>>(model: M, system: impl System) -> Result<Report, Error>
where
    Error: From<M::Error>,
{
    Check::new(model)?.run(system)
}

/// Which stimulus is chosen next.
///
/// ```
/// use ioco::{Check, Strategy};
///
/// # let model = ioco::Model::builder("m").stimulus("s", []).switch(ioco::Switch::from("l").on("?s")).build()?;
/// let check = Check::new(model)?.strategy(Strategy::Data);
/// # Ok::<(), ioco::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Strategy {
    /// Any that the model allows, each as likely as the others.
    #[default]
    Random,
    /// The one that would show most faults, from what the model says about how each would be seen.
    Auto,
    /// One that leads to the nearest switch that has not been taken yet.
    Transitions,
    /// One with values at the limits of what the guards accept.
    Data,
}

/// What conforming means.
///
/// ```
/// use ioco::{Check, Relation};
///
/// # let model = ioco::Model::builder("m").stimulus("s", []).switch(ioco::Switch::from("l").on("?s")).build()?;
/// let check = Check::new(model)?.relation(Relation::Uioco);
/// # Ok::<(), ioco::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Relation {
    /// A stimulus may be given when some state accepts it that the model may be in (Tretmans 2008).
    #[default]
    Ioco,
    /// When all of them do (van der Bijl, Rensink and Tretmans 2004).
    Uioco,
}

/// Who answers whether a guard can hold.
///
/// ```
/// use ioco::{Check, Solver};
///
/// # let model = ioco::Model::builder("m").stimulus("s", []).switch(ioco::Switch::from("l").on("?s")).build()?;
/// let check = Check::new(model)?.solver(Solver::Program("z3 -in".to_owned()));
/// # Ok::<(), ioco::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Solver {
    /// The solver inside this crate alone.
    #[default]
    Embedded,
    /// A command that reads SMT-LIB from its standard input is asked what the embedded solver cannot
    /// decide. `z3` and `cvc5` need no arguments.
    Program(String),
}

/// A check with choices.
///
/// ```
/// use ioco::{Check, Relation, Strategy};
///
/// # let model = ioco::Model::builder("echo").stimulus("ping", []).response("pong", [])
/// #     .switch(ioco::Switch::from("idle").on("?ping").to("busy"))
/// #     .switch(ioco::Switch::from("busy").on("!pong").to("idle")).build()?;
/// # let system = ioco::from_fn(|| (), |_, _| vec!["pong".into()]);
/// let report = Check::new(model)?
///     .seed(7)
///     .tests(20)
///     .steps(50)
///     .strategy(Strategy::Transitions)
///     .relation(Relation::Uioco)
///     .run(system)?;
/// assert_eq!(report.passed(), 20);
/// # Ok::<(), ioco::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Check {
    model: Model,
    settings: Settings,
    relation: ioco_sts::Relation,
    solver: Solver,
    folder: Option<Folder>,
}

impl Check {
    /// A check against this model: text in AML, or a [`Model`].
    ///
    /// ```
    /// # let model = ioco::Model::builder("echo").stimulus("ping", []).response("pong", [])
    /// #     .switch(ioco::Switch::from("idle").on("?ping").to("busy"))
    /// #     .switch(ioco::Switch::from("busy").on("!pong").to("idle")).build()?;
    /// # let system = ioco::from_fn(|| (), |_, _| vec!["pong".into()]);
    /// let report = ioco::Check::new(model)?.run(system)?;
    /// # Ok::<(), ioco::Error>(())
    /// ```
    pub fn new<M: TryInto<Model>>(model: M) -> Result<Check, Error>
    where
        Error: From<M::Error>,
    {
        let settings = Settings {
            // Nobody takes them.
            events: EventLevel::None,
            ..Settings::default()
        };
        Ok(Check {
            model: model.try_into()?,
            settings,
            relation: ioco_sts::Relation::Ioco,
            solver: Solver::Embedded,
            folder: None,
        })
    }

    /// Where randomness starts. The same seed and the same responses give the same tests.
    ///
    /// ```
    /// # let model = ioco::Model::builder("echo").stimulus("ping", []).response("pong", [])
    /// #     .switch(ioco::Switch::from("idle").on("?ping").to("busy"))
    /// #     .switch(ioco::Switch::from("busy").on("!pong").to("idle")).build()?;
    /// # let system = ioco::from_fn(|| (), |_, _| vec!["pong".into()]);
    /// let report = ioco::Check::new(model)?.seed(7).run(system)?;
    /// assert_eq!(report.seed(), 7);
    /// # Ok::<(), ioco::Error>(())
    /// ```
    pub fn seed(mut self, seed: u64) -> Check {
        self.settings.seed = seed;
        self
    }

    /// How many tests are run; 100 unless this says otherwise.
    ///
    /// ```
    /// # let model = ioco::Model::builder("echo").stimulus("ping", []).response("pong", [])
    /// #     .switch(ioco::Switch::from("idle").on("?ping").to("busy"))
    /// #     .switch(ioco::Switch::from("busy").on("!pong").to("idle")).build()?;
    /// # let system = ioco::from_fn(|| (), |_, _| vec!["pong".into()]);
    /// let report = ioco::Check::new(model)?.tests(3).run(system)?;
    /// assert_eq!(report.tests(), 3);
    /// # Ok::<(), ioco::Error>(())
    /// ```
    pub fn tests(mut self, tests: u64) -> Check {
        self.settings.stop.tests = Some(tests);
        self
    }

    /// How many stimuli, responses and silences one test has; 100 unless this says otherwise. A test
    /// goes on a little longer while a response is due.
    ///
    /// ```
    /// # let model = ioco::Model::builder("echo").stimulus("ping", []).response("pong", [])
    /// #     .switch(ioco::Switch::from("idle").on("?ping").to("busy"))
    /// #     .switch(ioco::Switch::from("busy").on("!pong").to("idle")).build()?;
    /// # let system = ioco::from_fn(|| (), |_, _| vec!["pong".into()]);
    /// let report = ioco::Check::new(model)?.tests(1).steps(10).run(system)?;
    /// assert!(report.steps() >= 10);
    /// # Ok::<(), ioco::Error>(())
    /// ```
    pub fn steps(mut self, steps: u64) -> Check {
        self.settings.stop = StopConditions {
            steps_per_test: steps,
            ..self.settings.stop
        };
        self
    }

    /// Ends the run when so many percent of the model's switches are covered.
    ///
    /// ```
    /// # let model = ioco::Model::builder("echo").stimulus("ping", []).response("pong", [])
    /// #     .switch(ioco::Switch::from("idle").on("?ping").to("busy"))
    /// #     .switch(ioco::Switch::from("busy").on("!pong").to("idle")).build()?;
    /// # let system = ioco::from_fn(|| (), |_, _| vec!["pong".into()]);
    /// let report = ioco::Check::new(model)?.until_covered(100.0).run(system)?;
    /// assert_eq!(report.tests(), 1);
    /// # Ok::<(), ioco::Error>(())
    /// ```
    pub fn until_covered(mut self, percent: f64) -> Check {
        self.settings.stop.coverage = Some(percent);
        self
    }

    /// Which stimulus is chosen next.
    ///
    /// ```
    /// # let model = ioco::Model::builder("echo").stimulus("ping", []).response("pong", [])
    /// #     .switch(ioco::Switch::from("idle").on("?ping").to("busy"))
    /// #     .switch(ioco::Switch::from("busy").on("!pong").to("idle")).build()?;
    /// # let system = ioco::from_fn(|| (), |_, _| vec!["pong".into()]);
    /// use ioco::{Check, Strategy};
    ///
    /// let report = Check::new(model)?.strategy(Strategy::Transitions).run(system)?;
    /// # Ok::<(), ioco::Error>(())
    /// ```
    pub fn strategy(mut self, strategy: Strategy) -> Check {
        self.settings.strategy = match strategy {
            Strategy::Random => StrategyKind::uniform(),
            Strategy::Auto => StrategyKind::Auto,
            Strategy::Transitions => StrategyKind::Transitions,
            Strategy::Data => StrategyKind::Data,
        };
        self.settings.wait = WaitPolicy::suiting(&self.settings.strategy);
        self
    }

    /// What conforming means.
    ///
    /// ```
    /// # let model = ioco::Model::builder("echo").stimulus("ping", []).response("pong", [])
    /// #     .switch(ioco::Switch::from("idle").on("?ping").to("busy"))
    /// #     .switch(ioco::Switch::from("busy").on("!pong").to("idle")).build()?;
    /// # let system = ioco::from_fn(|| (), |_, _| vec!["pong".into()]);
    /// use ioco::{Check, Relation};
    ///
    /// let report = Check::new(model)?.relation(Relation::Uioco).run(system)?;
    /// # Ok::<(), ioco::Error>(())
    /// ```
    pub fn relation(mut self, relation: Relation) -> Check {
        self.relation = match relation {
            Relation::Ioco => ioco_sts::Relation::Ioco,
            Relation::Uioco => ioco_sts::Relation::Uioco,
        };
        self
    }

    /// Who answers whether a guard can hold.
    ///
    /// ```
    /// # let model = ioco::Model::builder("echo").stimulus("ping", []).response("pong", [])
    /// #     .switch(ioco::Switch::from("idle").on("?ping").to("busy"))
    /// #     .switch(ioco::Switch::from("busy").on("!pong").to("idle")).build()?;
    /// # let system = ioco::from_fn(|| (), |_, _| vec!["pong".into()]);
    /// use ioco::{Check, Solver};
    ///
    /// let report = Check::new(model)?.solver(Solver::Embedded).run(system)?;
    /// # Ok::<(), ioco::Error>(())
    /// ```
    pub fn solver(mut self, solver: Solver) -> Check {
        self.solver = solver;
        self
    }

    /// Keeps each failure as a file in this folder, and runs those that are there first: a failure that
    /// was found once is tested for until its file is deleted. Put the folder under version control.
    /// Tests of several models can share it; the files know their model by its name.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let tests_failures = folder.path().join("tests/failures");
    /// # let model = ioco::Model::builder("echo").stimulus("ping", []).response("pong", [])
    /// #     .switch(ioco::Switch::from("idle").on("?ping").to("busy"))
    /// #     .switch(ioco::Switch::from("busy").on("!pong").to("idle")).build()?;
    /// let check = ioco::Check::new(model)?.keep_failures_in(&tests_failures);
    /// let broken = ioco::from_fn(|| (), |_, _| vec!["bang".into()]);
    /// let Err(ioco::Error::Failed(failure)) = check.clone().run(broken) else { panic!("found nothing") };
    /// assert!(failure.kept_in().unwrap().starts_with(&tests_failures));
    ///
    /// let fixed = ioco::from_fn(|| (), |_, _| vec!["pong".into()]);
    /// check.run(fixed)?;
    /// # Ok::<(), ioco::Error>(())
    /// ```
    pub fn keep_failures_in(mut self, folder: impl AsRef<Path>) -> Check {
        self.folder = Some(Folder(folder.as_ref().to_owned()));
        self
    }

    /// Tests a system. Ends with the first failure.
    ///
    /// ```
    /// # let model = ioco::Model::builder("echo").stimulus("ping", []).response("pong", [])
    /// #     .switch(ioco::Switch::from("idle").on("?ping").to("busy"))
    /// #     .switch(ioco::Switch::from("busy").on("!pong").to("idle")).build()?;
    /// # let system = ioco::from_fn(|| (), |_, _| vec!["pong".into()]);
    /// let report = ioco::Check::new(model)?.run(system)?;
    /// assert_eq!(report.passed(), report.tests());
    /// # Ok::<(), ioco::Error>(())
    /// ```
    pub fn run(&self, system: impl System) -> Result<Report, Error> {
        let sts = self.model.sts();
        let semantics = self.semantics()?;
        let mut run = Run {
            check: self,
            sts,
            tester: Tester::new(semantics, self.settings.clone()),
            connection: Local::new(Bound::new(Arc::clone(sts), system)),
        };
        let skipped = run.known_failures()?;
        run.new_tests()?;
        Ok(Report {
            summary: run.tester.summary(),
            skipped,
        })
    }

    fn semantics(&self) -> Result<Semantics, Error> {
        let sts = self.model.sts();
        let program = match &self.solver {
            Solver::Embedded => None,
            Solver::Program(command) => Some(command.as_str()),
        };
        ioco_adapters::semantics(sts, self.relation, program)
            .map_err(|error| Error::Solver(error.to_string()))
    }
}

/// One run of a check.
struct Run<'a, S> {
    check: &'a Check,
    sts: &'a Arc<Sts>,
    tester: Tester,
    connection: Local<Bound<S>>,
}

impl<S: System> Run<'_, S> {
    /// Failures that were kept come first. Returns those that were not run, and why.
    fn known_failures(&mut self) -> Result<Vec<String>, Error> {
        let mut skipped = Vec::new();
        let Some(folder) = &self.check.folder else {
            return Ok(skipped);
        };
        let files = folder.failures(self.sts.name());
        let files = files.map_err(|error| Error::Folder(folder.0.clone(), error))?;
        for (path, file) in files {
            let restored = file.and_then(|file| {
                let stimuli = file.stimuli(self.sts);
                stimuli
                    .map(|stimuli| (file, stimuli))
                    .map_err(|error| error.to_string())
            });
            match restored {
                Err(why) => skipped.push(format!("{}: {why}", path.display())),
                Ok((file, stimuli)) => self.known_failure(path, &file, &stimuli)?,
            }
        }
        Ok(skipped)
    }

    fn known_failure(
        &mut self,
        path: PathBuf,
        file: &FailureFile,
        stimuli: &[Action],
    ) -> Result<(), Error> {
        // Passing once says nothing about one that was never certain.
        let attempts = if file.is_flaky() { CONFIRMING_RUNS } else { 1 };
        for _ in 0..attempts {
            let (execution, error) = self.replay(stimuli);
            if matches!(execution.verdict, Verdict::Pass | Verdict::Inconclusive(_)) {
                continue;
            }
            let confidence = self.confirm(&execution).confidence;
            let context = Context {
                test: Some(file.test),
                seed: Some(file.seed),
                system: self.sts.name().to_owned(),
                shrunk: file.shrunk_sizes(),
                confirmed: Some(counts(confidence)),
                replay: Some(format!("{} runs first", path.display())),
            };
            let mut notes = vec!["known from an earlier run, and still failing".to_owned()];
            notes.extend(unconfirmed(confidence));
            notes.extend(error.and_then(|error| error.hint));
            return self.failed(&execution, &context, notes, Some(path));
        }
        Ok(())
    }

    fn new_tests(&mut self) -> Result<(), Error> {
        let mut undecided: Option<TestReport> = None;
        while let Some(first) = self.tester.next_test(self.connection.now()) {
            let connection = &mut self.connection;
            let error = drive(&mut self.tester, first, connection, &|| false, &mut |_| {});
            let report = self.tester.finished_test();
            match &report.execution.verdict {
                Verdict::Pass => {}
                Verdict::Inconclusive(_) => {
                    undecided.get_or_insert(report);
                }
                Verdict::Fail(_) | Verdict::Ended(_) | Verdict::Error(_) => {
                    return self.found(&report, error);
                }
            }
        }
        match undecided {
            // One that passed shows that the model can be tested with; the report counts the others.
            Some(report) if self.tester.summary().passed == 0 => {
                let context = self.context(&report);
                let failure = self.failure(&report.execution, &context, Vec::new(), None)?;
                Err(Error::Inconclusive(Box::new(failure)))
            }
            _ => Ok(()),
        }
    }

    /// A test failed in a way that was not known.
    fn found(&mut self, report: &TestReport, error: Option<AdapterError>) -> Result<(), Error> {
        let mut context = self.context(report);
        let mut notes: Vec<String> = error.and_then(|error| error.hint).into_iter().collect();
        if matches!(report.execution.verdict, Verdict::Error(_)) {
            return self.failed(&report.execution, &context, notes, None);
        }
        // Whether it can be seen again at all comes first: shrinking what cannot is in vain.
        let confirmation = self.confirm(&report.execution);
        let mut confidence = confirmation.confidence;
        let shrunk = match confidence.failed {
            0 => {
                notes.push("not shrunk, because it did not occur again".to_owned());
                None
            }
            _ => {
                let failure = confirmation.execution(&report.execution);
                self.shrink(failure, confidence, &mut notes)?
            }
        };
        if let Some(shrunk) = &shrunk {
            confidence = shrunk.confidence;
            context.shrunk = Some(ioco_engine::Shrunk {
                from: shrunk.original_length,
                to: shrunk.execution.length(),
                runs: shrunk.runs,
                minimal: shrunk.minimal.is_some(),
            });
        }
        context.confirmed = Some(counts(confidence));
        notes.extend(unconfirmed(confidence));
        let kept = self.keep(report, shrunk.as_ref(), confidence, &mut notes);
        context.replay = kept
            .as_ref()
            .map(|path| format!("{} runs first from now on", path.display()));
        let execution = shrunk.map_or_else(|| report.execution.clone(), |shrunk| shrunk.execution);
        self.failed(&execution, &context, notes, kept)
    }

    fn context(&self, report: &TestReport) -> Context {
        Context {
            test: Some(report.number),
            seed: Some(self.check.settings.seed),
            system: self.sts.name().to_owned(),
            ..Context::default()
        }
    }

    /// Runs a list of stimuli; does not count towards the run.
    fn replay(&mut self, stimuli: &[Action]) -> (Execution, Option<AdapterError>) {
        let mut runner = ScriptRunner::new(&mut self.tester, &mut self.connection, &|| false);
        let execution = runner.run(stimuli);
        (execution, runner.error)
    }

    /// In how many of how many runs the failure is seen again.
    fn confirm(&mut self, failure: &Execution) -> Confirmation {
        let stimuli: Vec<Action> = failure.stimuli().cloned().collect();
        let mut confirmation = Confirmation::default();
        for _ in 0..CONFIRMING_RUNS {
            let (again, _) = self.replay(&stimuli);
            // What cannot be used has no deviation.
            let is_error =
                failure.deviation().is_none() && matches!(again.verdict, Verdict::Error(_));
            confirmation.count(failure, again);
            confirmation.confidence.failed += u32::from(is_error);
        }
        confirmation
    }

    fn shrink(
        &mut self,
        failure: &Execution,
        seen: Confidence,
        notes: &mut Vec<String>,
    ) -> Result<Option<Shrunk>, Error> {
        let mut semantics = self.check.semantics()?;
        let options = Options {
            same: true,
            runs: Some(SHRINKING_RUNS),
            confirm: CONFIRMING_RUNS,
            seen,
            interrupted: true,
            ..Options::default()
        };
        let mut runner = ScriptRunner::new(&mut self.tester, &mut self.connection, &|| false);
        let pipeline: Result<Pipeline, _> = SHRINKER.parse();
        let shrunk = pipeline.and_then(|pipeline| {
            shrink(
                &pipeline,
                &mut semantics,
                failure,
                &mut runner,
                &options,
                &mut (),
            )
        });
        match shrunk {
            Ok(shrunk) => {
                match &shrunk.ended {
                    Ended::Finished | Ended::Interrupted => {}
                    Ended::Budget => {
                        notes.push("the run budget is used up: a shorter one may exist".to_owned());
                    }
                    Ended::Limit(why) | Ended::AdapterError(why) => {
                        notes.push(format!("shrinking stopped early: {why}"));
                    }
                }
                Ok(Some(shrunk))
            }
            // Explained as it is.
            Err(why) => {
                notes.push(format!("not shrunk: {why}"));
                Ok(None)
            }
        }
    }

    /// Keeps the failure, if there is a folder. A finding outranks the disk: where it cannot be written
    /// it is reported all the same.
    fn keep(
        &self,
        report: &TestReport,
        shrunk: Option<&Shrunk>,
        confidence: Confidence,
        notes: &mut Vec<String>,
    ) -> Option<PathBuf> {
        let folder = self.check.folder.as_ref()?;
        let context = FailureContext {
            seed: self.check.settings.seed,
            shrunk: shrunk.map(|shrunk| (shrunk.execution.clone(), shrunk.runs)),
            minimal: shrunk.is_some_and(|shrunk| shrunk.minimal.is_some()),
            confirmed: Some(counts(confidence)),
            connection: serde_json::json!({ "in-process": true }),
            ..FailureContext::default()
        };
        let file = FailureFile::new(self.sts, report, context)?;
        match folder.keep(&file) {
            Ok(path) => Some(path),
            Err(why) => {
                notes.push(format!("not kept in {}: {why}", folder.0.display()));
                None
            }
        }
    }

    fn failed(
        &self,
        execution: &Execution,
        context: &Context,
        notes: Vec<String>,
        kept: Option<PathBuf>,
    ) -> Result<(), Error> {
        let failure = self.failure(execution, context, notes, kept)?;
        Err(Error::Failed(Box::new(failure)))
    }

    fn failure(
        &self,
        execution: &Execution,
        context: &Context,
        notes: Vec<String>,
        kept: Option<PathBuf>,
    ) -> Result<Failure, Error> {
        let mut semantics = self.check.semantics()?;
        let explanation = explain(&mut semantics, execution, context);
        Ok(Failure {
            explanation: explanation.expect("only what did not pass is explained"),
            notes,
            kept,
        })
    }
}

fn counts(confidence: Confidence) -> (u64, u64) {
    (confidence.failed.into(), confidence.runs.into())
}

/// Why a failure is not certain, if it was not seen in every run that should confirm it.
fn unconfirmed(confidence: Confidence) -> Option<String> {
    confidence.is_flaky().then(|| {
        "the system does not always respond in the same way, or its reset does not reset everything"
            .to_owned()
    })
}
