//! What a check says: a report, or why there is none.

use std::convert::Infallible;
use std::fmt;
use std::path::{Path, PathBuf};

use ioco_engine::{Explanation, Summary};
use ioco_explain::TextOptions;

use crate::model::ModelError;

/// A check in which no test failed.
///
/// ```
/// # let model = ioco::Model::builder("echo").stimulus("ping", []).response("pong", [])
/// #     .switch(ioco::Switch::from("idle").on("?ping").to("busy"))
/// #     .switch(ioco::Switch::from("busy").on("!pong").to("idle")).build()?;
/// let report = ioco::check(model, ioco::from_fn(|| (), |_, _| vec!["pong".into()]))?;
/// assert_eq!(report.tests(), 100);
/// assert_eq!(report.covered_switches(), report.switches());
/// # Ok::<(), ioco::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub(crate) summary: Summary,
    pub(crate) skipped: Vec<String>,
}

impl Report {
    /// The seed that repeats this run.
    ///
    /// ```
    /// # let model = ioco::Model::builder("echo").stimulus("ping", []).response("pong", [])
    /// #     .switch(ioco::Switch::from("idle").on("?ping").to("busy"))
    /// #     .switch(ioco::Switch::from("busy").on("!pong").to("idle")).build()?;
    /// # let system = ioco::from_fn(|| (), |_, _| vec!["pong".into()]);
    /// let report = ioco::check(model, system)?;
    /// assert_eq!(report.seed(), 0);
    /// # Ok::<(), ioco::Error>(())
    /// ```
    pub fn seed(&self) -> u64 {
        self.summary.seed
    }

    /// Tests that were run.
    ///
    /// ```
    /// # let model = ioco::Model::builder("echo").stimulus("ping", []).response("pong", [])
    /// #     .switch(ioco::Switch::from("idle").on("?ping").to("busy"))
    /// #     .switch(ioco::Switch::from("busy").on("!pong").to("idle")).build()?;
    /// # let system = ioco::from_fn(|| (), |_, _| vec!["pong".into()]);
    /// let report = ioco::check(model, system)?;
    /// assert_eq!(report.tests(), 100);
    /// # Ok::<(), ioco::Error>(())
    /// ```
    pub fn tests(&self) -> u64 {
        self.summary.tests
    }

    /// Tests that passed.
    ///
    /// ```
    /// # let model = ioco::Model::builder("echo").stimulus("ping", []).response("pong", [])
    /// #     .switch(ioco::Switch::from("idle").on("?ping").to("busy"))
    /// #     .switch(ioco::Switch::from("busy").on("!pong").to("idle")).build()?;
    /// # let system = ioco::from_fn(|| (), |_, _| vec!["pong".into()]);
    /// let report = ioco::check(model, system)?;
    /// assert_eq!(report.passed(), 100);
    /// # Ok::<(), ioco::Error>(())
    /// ```
    pub fn passed(&self) -> u64 {
        self.summary.passed
    }

    /// Tests that say nothing about the system: the model, or the solver, left something open.
    ///
    /// ```
    /// # let model = ioco::Model::builder("echo").stimulus("ping", []).response("pong", [])
    /// #     .switch(ioco::Switch::from("idle").on("?ping").to("busy"))
    /// #     .switch(ioco::Switch::from("busy").on("!pong").to("idle")).build()?;
    /// # let system = ioco::from_fn(|| (), |_, _| vec!["pong".into()]);
    /// let report = ioco::check(model, system)?;
    /// assert_eq!(report.inconclusive(), 0);
    /// # Ok::<(), ioco::Error>(())
    /// ```
    pub fn inconclusive(&self) -> u64 {
        self.summary.inconclusive
    }

    /// Stimuli, responses and silences of all tests.
    ///
    /// ```
    /// # let model = ioco::Model::builder("echo").stimulus("ping", []).response("pong", [])
    /// #     .switch(ioco::Switch::from("idle").on("?ping").to("busy"))
    /// #     .switch(ioco::Switch::from("busy").on("!pong").to("idle")).build()?;
    /// # let system = ioco::from_fn(|| (), |_, _| vec!["pong".into()]);
    /// let report = ioco::check(model, system)?;
    /// assert!(report.steps() >= 100 * report.tests());
    /// # Ok::<(), ioco::Error>(())
    /// ```
    pub fn steps(&self) -> u64 {
        self.summary.steps()
    }

    /// Switches that the model has.
    ///
    /// ```
    /// # let model = ioco::Model::builder("echo").stimulus("ping", []).response("pong", [])
    /// #     .switch(ioco::Switch::from("idle").on("?ping").to("busy"))
    /// #     .switch(ioco::Switch::from("busy").on("!pong").to("idle")).build()?;
    /// # let system = ioco::from_fn(|| (), |_, _| vec!["pong".into()]);
    /// let report = ioco::check(model, system)?;
    /// assert_eq!(report.switches(), 2);
    /// # Ok::<(), ioco::Error>(())
    /// ```
    pub fn switches(&self) -> u64 {
        self.summary.switches
    }

    /// Switches that the tests took.
    ///
    /// ```
    /// # let model = ioco::Model::builder("echo").stimulus("ping", []).response("pong", [])
    /// #     .switch(ioco::Switch::from("idle").on("?ping").to("busy"))
    /// #     .switch(ioco::Switch::from("busy").on("!pong").to("idle")).build()?;
    /// # let system = ioco::from_fn(|| (), |_, _| vec!["pong".into()]);
    /// let report = ioco::check(model, system)?;
    /// assert_eq!(report.covered_switches(), 2);
    /// # Ok::<(), ioco::Error>(())
    /// ```
    pub fn covered_switches(&self) -> u64 {
        self.summary.covered_switches
    }

    /// Kept failures that were not run, and why: the model has changed since, or the file cannot be
    /// read.
    ///
    /// ```
    /// # let model = ioco::Model::builder("echo").stimulus("ping", []).response("pong", [])
    /// #     .switch(ioco::Switch::from("idle").on("?ping").to("busy"))
    /// #     .switch(ioco::Switch::from("busy").on("!pong").to("idle")).build()?;
    /// # let system = ioco::from_fn(|| (), |_, _| vec!["pong".into()]);
    /// let report = ioco::check(model, system)?;
    /// assert!(report.skipped_failures().is_empty());
    /// # Ok::<(), ioco::Error>(())
    /// ```
    pub fn skipped_failures(&self) -> &[String] {
        &self.skipped
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Summary {
            tests,
            passed,
            inconclusive,
            switches,
            covered_switches,
            seed,
            ..
        } = self.summary;
        write!(f, "{passed} of {tests} tests passed")?;
        if inconclusive > 0 {
            write!(f, ", {inconclusive} were inconclusive")?;
        }
        write!(
            f,
            "; {covered_switches} of {switches} switches covered (seed {seed})"
        )
    }
}

/// A test that did not pass, shrunk and explained. Shown, it is the whole story.
///
/// ```
/// # let model = ioco::Model::builder("echo").stimulus("ping", []).response("pong", [])
/// #     .switch(ioco::Switch::from("idle").on("?ping").to("busy"))
/// #     .switch(ioco::Switch::from("busy").on("!pong").to("idle")).build()?;
/// let broken = ioco::from_fn(|| 0, |pings, _| {
///     *pings += 1;
///     match *pings {
///         3 => vec![],
///         _ => vec!["pong".into()],
///     }
/// });
/// let Err(ioco::Error::Failed(failure)) = ioco::check(model, broken) else { panic!("found nothing") };
/// assert_eq!(failure.code(), "D002");
/// assert_eq!(failure.trace(), ["?ping", "!pong", "?ping", "!pong", "?ping", "silence for 500 ms"]);
/// assert_eq!(failure.allowed(), ["!pong"]);
/// # Ok::<(), ioco::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Failure {
    pub(crate) explanation: Explanation,
    /// For a person, one sentence each.
    pub(crate) notes: Vec<String>,
    pub(crate) kept: Option<PathBuf>,
}

impl Failure {
    /// `D001` unexpected response, `D002` missing response, `D003` wrong value, `E004` a system that
    /// panicked; `ioco explain CODE` says more.
    ///
    /// ```
    /// # let model = ioco::Model::builder("echo").stimulus("ping", []).response("pong", [])
    /// #     .switch(ioco::Switch::from("idle").on("?ping").to("busy"))
    /// #     .switch(ioco::Switch::from("busy").on("!pong").to("idle")).build()?;
    /// # let system = ioco::from_fn(|| (), |_, _| vec!["bang".into()]);
    /// let Err(ioco::Error::Failed(failure)) = ioco::check(model, system) else { panic!("found nothing") };
    /// assert_eq!(failure.code(), "D001");
    /// # Ok::<(), ioco::Error>(())
    /// ```
    pub fn code(&self) -> &str {
        &self.explanation.code
    }

    /// What happened, in one sentence.
    ///
    /// ```
    /// # let model = ioco::Model::builder("echo").stimulus("ping", []).response("pong", [])
    /// #     .switch(ioco::Switch::from("idle").on("?ping").to("busy"))
    /// #     .switch(ioco::Switch::from("busy").on("!pong").to("idle")).build()?;
    /// # let system = ioco::from_fn(|| (), |_, _| vec!["bang".into()]);
    /// let Err(ioco::Error::Failed(failure)) = ioco::check(model, system) else { panic!("found nothing") };
    /// assert!(!failure.title().is_empty());
    /// # Ok::<(), ioco::Error>(())
    /// ```
    pub fn title(&self) -> &str {
        &self.explanation.title
    }

    /// The steps of the shortest failing test that was found. The last one is what the model does not
    /// allow.
    ///
    /// ```
    /// # let model = ioco::Model::builder("echo").stimulus("ping", []).response("pong", [])
    /// #     .switch(ioco::Switch::from("idle").on("?ping").to("busy"))
    /// #     .switch(ioco::Switch::from("busy").on("!pong").to("idle")).build()?;
    /// # let system = ioco::from_fn(|| (), |_, _| vec!["bang".into()]);
    /// let Err(ioco::Error::Failed(failure)) = ioco::check(model, system) else { panic!("found nothing") };
    /// assert_eq!(failure.trace()[0], "?ping");
    /// # Ok::<(), ioco::Error>(())
    /// ```
    pub fn trace(&self) -> Vec<&str> {
        let rows = self.explanation.rows.iter();
        rows.map(|row| row.text.as_str()).collect()
    }

    /// What the model allows instead of the last step.
    ///
    /// ```
    /// # let model = ioco::Model::builder("echo").stimulus("ping", []).response("pong", [])
    /// #     .switch(ioco::Switch::from("idle").on("?ping").to("busy"))
    /// #     .switch(ioco::Switch::from("busy").on("!pong").to("idle")).build()?;
    /// # let system = ioco::from_fn(|| (), |_, _| vec!["bang".into()]);
    /// let Err(ioco::Error::Failed(failure)) = ioco::check(model, system) else { panic!("found nothing") };
    /// assert!(failure.allowed().iter().any(|label| label.contains("!pong")));
    /// # Ok::<(), ioco::Error>(())
    /// ```
    pub fn allowed(&self) -> &[String] {
        &self.explanation.allowed
    }

    /// Not every run that should confirm the failure showed it: the system does not always answer the
    /// same, or its reset does not reset everything.
    ///
    /// ```
    /// # let model = ioco::Model::builder("echo").stimulus("ping", []).response("pong", [])
    /// #     .switch(ioco::Switch::from("idle").on("?ping").to("busy"))
    /// #     .switch(ioco::Switch::from("busy").on("!pong").to("idle")).build()?;
    /// # let system = ioco::from_fn(|| (), |_, _| vec!["bang".into()]);
    /// let Err(ioco::Error::Failed(failure)) = ioco::check(model, system) else { panic!("found nothing") };
    /// assert!(!failure.is_flaky());
    /// # Ok::<(), ioco::Error>(())
    /// ```
    pub fn is_flaky(&self) -> bool {
        let confirmed = self.explanation.confirmed;
        confirmed.is_some_and(|(failed, runs)| failed < runs)
    }

    /// The file in which it is kept ([`Check::keep_failures_in`](crate::Check::keep_failures_in)).
    ///
    /// ```
    /// # let model = ioco::Model::builder("echo").stimulus("ping", []).response("pong", [])
    /// #     .switch(ioco::Switch::from("idle").on("?ping").to("busy"))
    /// #     .switch(ioco::Switch::from("busy").on("!pong").to("idle")).build()?;
    /// # let system = ioco::from_fn(|| (), |_, _| vec!["bang".into()]);
    /// let Err(ioco::Error::Failed(failure)) = ioco::check(model, system) else { panic!("found nothing") };
    /// // `Check::keep_failures_in` names a folder.
    /// assert!(failure.kept_in().is_none());
    /// # Ok::<(), ioco::Error>(())
    /// ```
    pub fn kept_in(&self) -> Option<&Path> {
        self.kept.as_deref()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = ioco_explain::text(&self.explanation, TextOptions::default());
        f.write_str(text.trim_end())?;
        for note in &self.notes {
            write!(f, "\n  {:<15}{note}", "note")?;
        }
        Ok(())
    }
}

/// As it is displayed, because `unwrap` and `?` in a test show this.
impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{self}")
    }
}

impl std::error::Error for Failure {}

/// Why a check has no [`Report`]. In a test, `?` and `unwrap` show all of it.
///
/// ```
/// let wrong = ioco::check("procces('x') {}", ioco::from_fn(|| (), |_, _| vec![])).unwrap_err();
/// assert!(matches!(wrong, ioco::Error::Model(_)));
/// ```
#[non_exhaustive]
pub enum Error {
    /// The model is wrong.
    Model(ModelError),
    /// A test failed, or the system could not be used: it panicked, or its timer stood still.
    Failed(Box<Failure>),
    /// No test passed, and none failed: the model, or the solver, left something open in each. This is
    /// the first of them.
    Inconclusive(Box<Failure>),
    /// The solver program could not be started.
    Solver(String),
    /// The folder of kept failures cannot be read.
    Folder(PathBuf, std::io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Model(wrong) => wrong.fmt(f),
            Error::Failed(failure) | Error::Inconclusive(failure) => failure.fmt(f),
            Error::Solver(why) => write!(f, "the solver cannot be started: {why}"),
            Error::Folder(path, why) => {
                write!(
                    f,
                    "cannot read the kept failures in {}: {why}",
                    path.display()
                )
            }
        }
    }
}

/// As it is displayed, because `unwrap` and `?` in a test show this.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{self}")
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Folder(_, why) => Some(why),
            _ => None,
        }
    }
}

impl From<ModelError> for Error {
    fn from(wrong: ModelError) -> Error {
        Error::Model(wrong)
    }
}

impl From<Infallible> for Error {
    fn from(never: Infallible) -> Error {
        match never {}
    }
}
