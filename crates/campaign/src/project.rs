//! `ioco.toml`: the model, how to reach the system, strategy and limits; flags override it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ioco_adapters::HttpMapping;
use ioco_budget::Budget;
use ioco_engine::{EventLevel, Settings, StopConditions, StrategyKind, WaitPolicy};
use ioco_outside::Untrusted;
use ioco_outside::file::{AllowedFolders, read_text};
use ioco_sts::{Relation, Sts};
use serde::{Deserialize, Serialize};

use crate::connect::{Fresh, Hubs, Start};
use crate::error::{CampaignError, Remedy};
use crate::ledger::Ledger;
use crate::sections::amp::AmpSection;
use crate::sections::limits::Limits;
use crate::sections::lines::{AMBIGUOUS, LinesSection};
use crate::time;

pub const FILE_NAME: &str = "ioco.toml";

/// Limits of a run that are not set: tests, steps of a test, and distinct failures.
pub const DEFAULT_TESTS: u64 = 100;
pub const DEFAULT_STEPS: u64 = 100;
pub const DEFAULT_FAILURES: u64 = 1;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    model: Option<PathBuf>,
    #[serde(default)]
    sut: Sut,
    #[serde(default)]
    test: TestSettings,
    #[serde(default)]
    amp: AmpSection,
    lines: Option<LinesSection>,
    http: Option<HttpMapping>,
    #[serde(default)]
    store: StoreSettings,
    #[serde(default)]
    limits: Limits,
    #[serde(default)]
    check: CheckSettings,
    #[serde(default)]
    profile: BTreeMap<String, Profile>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Profile {
    #[serde(default)]
    sut: Sut,
    #[serde(default)]
    test: TestSettings,
    #[serde(default)]
    store: StoreSettings,
    #[serde(default)]
    limits: Limits,
}

/// `[store]`: where runs are kept.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoreSettings {
    /// `postgres://user@host/database`; a file in `.ioco` where there is none.
    pub url: Option<String>,
    /// Who chose it.
    #[serde(skip)]
    pub chosen_by: ChosenBy,
}

/// Who chose something that ioco connects to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChosenBy {
    /// ioco.toml says so: not used before the person has allowed it.
    #[default]
    Project,
    /// ioco.toml says so, and the person has allowed it.
    Allowed,
    /// The person typed it.
    Person,
}

/// `[check]`: what `ioco check` leaves out.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckSettings {
    /// Codes of warnings and hints that are not shown.
    #[serde(default)]
    pub allow: Vec<String>,
}

/// `[sut]`: how to start, reset and reach the system under test.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sut {
    pub command: Option<Vec<String>>,
    pub tcp: Option<String>,
    pub tcp_listen: Option<String>,
    pub amp: Option<String>,
    pub http: Option<String>,
    /// A line for the shell that starts the system; the rest of `[sut]` says how to reach it.
    /// `{port}` there and in addresses is a free port.
    start: Option<String>,
    /// Run to their ends before every start and after every stop.
    before: Option<String>,
    after: Option<String>,
    /// The system has started once its log has this text, instead of once it listens.
    ready_log: Option<String>,
    /// Whether it is started for every test or once for a run.
    fresh: Option<Fresh>,
    pub restart: Option<bool>,
    /// How long a start or a reset may take.
    pub ready_within: Option<String>,
    /// Every stimulus has one answer, and nothing else comes: no waiting after it.
    pub silent_once_answered: Option<bool>,
    /// Files and folders of the system: a change starts a watched run again.
    #[serde(default)]
    pub watch: Vec<PathBuf>,
}

/// `[test]`: the same names as the flags of `ioco test`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TestSettings {
    pub strategy: Option<String>,
    /// The scenario of strategy `scenario`.
    pub query: Option<PathBuf>,
    /// A suite whose tests are run instead of testing on the fly.
    pub suite: Option<PathBuf>,
    #[serde(default)]
    pub weights: BTreeMap<String, u32>,
    pub seed: Option<u64>,
    pub tests: Option<u64>,
    pub steps: Option<u64>,
    pub time: Option<String>,
    pub coverage: Option<f64>,
    /// Percent of the requirements that the model cites.
    pub requirements: Option<f64>,
    pub failures: Option<u64>,
    pub relation: Option<String>,
    pub solver: Option<String>,
    pub timeout: Option<String>,
    /// The share of the run's time that may go into waiting for silence where none is due.
    pub silence: Option<f64>,
    /// How long shrinking one failure may take.
    pub shrink_time: Option<String>,
}

/// A project: where it is, and what its file says.
#[derive(Clone, Debug, Default)]
pub struct Project {
    /// The folder of ioco.toml; the current one where there is no file.
    pub root: PathBuf,
    pub model: Option<PathBuf>,
    pub sut: Sut,
    /// The profile that says how to reach the system, where one does.
    pub sut_profile: Option<String>,
    pub test: TestSettings,
    pub amp: AmpSection,
    pub lines: Option<LinesSection>,
    pub http: Option<HttpMapping>,
    pub store: StoreSettings,
    pub limits: Limits,
    pub check: CheckSettings,
    /// Shared by all clones.
    pub hubs: Hubs,
    /// Where results go that cannot be written where they belong.
    pub elsewhere: Option<PathBuf>,
    /// What this person has typed and trusted.
    pub ledger: Ledger,
    /// Folders that includes may be read from, besides the project's; typed, never configured.
    pub allowed: Vec<PathBuf>,
    /// The person accepts connections that are not encrypted; typed, never configured.
    pub insecure: bool,
}

impl Project {
    /// Finds the project of what was typed as MODEL: a folder with ioco.toml, an ioco.toml, or a
    /// model file. Nothing typed means the current folder; so does a model file, wherever it lies,
    /// because results belong where the person is.
    pub fn find(typed: Option<&Path>, profile: Option<&str>) -> Result<Project, CampaignError> {
        let here = PathBuf::from(".");
        let (file, model) = match typed {
            None => (here.join(FILE_NAME), None),
            Some(path) if path.is_dir() => (path.join(FILE_NAME), None),
            Some(path) if path.file_name().is_some_and(|name| name == FILE_NAME) => {
                (path.to_owned(), None)
            }
            Some(path) => (here.join(FILE_NAME), Some(path.to_owned())),
        };
        let root = file.parent().filter(|p| !p.as_os_str().is_empty());
        let root = root.map_or_else(|| PathBuf::from("."), Path::to_owned);
        if !file.exists() {
            if model.is_none() {
                let what =
                    typed.map_or_else(|| "here".to_owned(), |p| format!("in {}", p.display()));
                return Err(
                    CampaignError::usage(format!("there is no {FILE_NAME} {what}"))
                        .remedy(Remedy::MakeProject),
                );
            }
            if let Some(name) = profile {
                return Err(CampaignError::usage(format!(
                    "there is no {FILE_NAME} with a profile '{name}'"
                )));
            }
            return Ok(Project {
                root,
                model,
                ledger: Ledger::of_user(),
                ..Project::default()
            });
        }
        let text = read_text(&file, &Budget::default()).map_err(|error| {
            CampaignError::usage(format!("cannot read {}: {error}", file.display()))
        })?;
        let parsed = read(&text).map_err(|error| {
            // It quotes the file.
            let said = Untrusted::of(error).lines();
            CampaignError::usage(format!("{}: {said}", file.display()))
        })?;
        for code in &parsed.check.allow {
            if !ioco_aml::codes().any(|known| known == code) && code != AMBIGUOUS.0 {
                return Err(CampaignError::usage(format!(
                    "{}: [check] allows '{code}', which is no code of a diagnostic",
                    file.display()
                ))
                .hint("every warning shows its code, such as A064"));
            }
        }
        let mut project = Project {
            model: model.or_else(|| parsed.model.map(|m| root.join(m))),
            sut: parsed.sut,
            amp: parsed.amp,
            lines: parsed.lines.map(|mut lines| {
                lines.read_from(&text);
                lines
            }),
            http: parsed.http.map(|http| HttpMapping {
                certificate: http.certificate.map(|file| root.join(file)),
                ..http
            }),
            store: parsed.store,
            limits: parsed.limits,
            check: parsed.check,
            test: parsed.test.in_folder(&root),
            root,
            elsewhere: None,
            hubs: Hubs::default(),
            sut_profile: None,
            ledger: Ledger::of_user(),
            allowed: Vec::new(),
            insecure: false,
        };
        if let Some(name) = profile {
            let Some(chosen) = parsed.profile.get(name) else {
                let known: Vec<&str> = parsed.profile.keys().map(String::as_str).collect();
                return Err(CampaignError::usage(format!(
                    "{} has no profile '{name}'",
                    file.display()
                ))
                .hint(format!("it has: {}", known.join(", "))));
            };
            project.sut.override_with(&chosen.sut);
            project.sut_profile =
                (chosen.sut.is_way() || chosen.sut.start.is_some()).then(|| name.to_owned());
            replace(&mut project.store.url, &chosen.store.url);
            project.limits = project.limits.overridden_by(chosen.limits);
            let chosen = chosen.test.clone().in_folder(&project.root);
            project.test.override_with(&chosen);
        }
        Ok(project)
    }

    /// Whether a text is an ioco.toml, and why not.
    pub fn parse(text: &str) -> Result<(), String> {
        read(text).map(|_| ())
    }

    /// The file that says, or would say, what the project is.
    pub fn file(&self) -> PathBuf {
        self.root
            .strip_prefix(".")
            .unwrap_or(&self.root)
            .join(FILE_NAME)
    }

    /// The project of the current folder; without ioco.toml one that says nothing.
    pub fn here() -> Result<Project, CampaignError> {
        if Path::new(FILE_NAME).exists() {
            return Project::find(None, None);
        }
        Ok(Project {
            root: PathBuf::from("."),
            ledger: Ledger::of_user(),
            ..Project::default()
        })
    }

    /// Where the files of a model may lie: in the project, in the folder or the project of the model
    /// itself, and where the person allowed it.
    pub fn bounds(&self, model: &Path) -> AllowedFolders {
        let of_model = model.parent().map(Path::to_owned).unwrap_or_default();
        let real = model.canonicalize().unwrap_or_default();
        let above = real.ancestors().skip(1);
        let with_file = above.filter(|folder| folder.join(FILE_NAME).is_file());
        let mut folders = vec![self.root.clone(), of_model];
        folders.extend(with_file.take(1).map(Path::to_owned));
        folders.extend(self.allowed.iter().cloned());
        AllowedFolders::new(folders)
    }

    /// Where results are kept.
    pub fn results(&self) -> PathBuf {
        let elsewhere = self.elsewhere.clone();
        elsewhere.unwrap_or_else(|| self.root.join(".ioco"))
    }
}

fn read(text: &str) -> Result<File, String> {
    toml::from_str(text).map_err(|error| error.to_string())
}

fn replace<T: Clone>(old: &mut Option<T>, new: &Option<T>) {
    if new.is_some() {
        old.clone_from(new);
    }
}

impl Sut {
    /// What starts the system, where it is to be started beside the connection to it.
    pub fn start(&self) -> Result<Option<Start>, CampaignError> {
        let Some(command) = &self.start else {
            let more = [
                ("before", self.before.is_some()),
                ("after", self.after.is_some()),
                ("ready_log", self.ready_log.is_some()),
                ("fresh", self.fresh.is_some()),
            ];
            return match more.iter().find(|(_, is_set)| *is_set) {
                Some((name, _)) => Err(CampaignError::usage(format!(
                    "[sut] {name} is for systems that ioco starts, and there is no start"
                ))
                .hint("write start = \"server --port {port}\"")),
                None => Ok(None),
            };
        };
        if command.trim().is_empty() {
            return Err(CampaignError::usage("[sut] start in ioco.toml is empty"));
        }
        Ok(Some(Start {
            before: self.before.clone(),
            after: self.after.clone(),
            ready_log: self.ready_log.clone(),
            fresh: self.fresh.unwrap_or_default(),
            ..Start::new(command)
        }))
    }

    /// Whether it says how to reach the system.
    fn is_way(&self) -> bool {
        let addresses = [&self.tcp, &self.tcp_listen, &self.amp, &self.http];
        self.command.is_some() || addresses.iter().any(|address| address.is_some())
    }

    fn override_with(&mut self, other: &Sut) {
        // The way to reach the system is one choice: a new one replaces the old one whole.
        if other.is_way() {
            self.command.clone_from(&other.command);
            self.tcp.clone_from(&other.tcp);
            self.tcp_listen.clone_from(&other.tcp_listen);
            self.amp.clone_from(&other.amp);
            self.http.clone_from(&other.http);
            self.start.clone_from(&other.start);
        } else {
            replace(&mut self.start, &other.start);
        }
        replace(&mut self.before, &other.before);
        replace(&mut self.after, &other.after);
        replace(&mut self.ready_log, &other.ready_log);
        replace(&mut self.fresh, &other.fresh);
        replace(&mut self.silent_once_answered, &other.silent_once_answered);
        replace(&mut self.restart, &other.restart);
        replace(&mut self.ready_within, &other.ready_within);
        if !other.watch.is_empty() {
            self.watch.clone_from(&other.watch);
        }
    }
}

impl TestSettings {
    /// File names are relative to the file that says them.
    fn in_folder(mut self, folder: &Path) -> TestSettings {
        self.query = self.query.map(|query| folder.join(query));
        self.suite = self.suite.map(|suite| folder.join(suite));
        self
    }

    /// Whether these settings, taken by themselves, leave the choice to chance, for which weights are.
    fn is_random(&self) -> bool {
        let strategy = self.strategy.as_deref();
        self.query.is_none() && strategy.is_none_or(|name| name == "random")
    }

    pub fn override_with(&mut self, other: &TestSettings) {
        replace(&mut self.strategy, &other.strategy);
        replace(&mut self.query, &other.query);
        // A suite says itself what to give: a strategy that was only configured gives way to it.
        if other.suite.is_some() && other.strategy.is_none() {
            self.strategy = None;
            self.weights.clear();
        }
        // Weights belong to chance: they give way to another strategy that comes later.
        if !other.is_random() {
            self.weights.clear();
        }
        replace(&mut self.suite, &other.suite);
        self.weights.extend(
            other
                .weights
                .iter()
                .map(|(label, weight)| (label.clone(), *weight)),
        );
        replace(&mut self.seed, &other.seed);
        replace(&mut self.tests, &other.tests);
        replace(&mut self.steps, &other.steps);
        replace(&mut self.time, &other.time);
        replace(&mut self.coverage, &other.coverage);
        replace(&mut self.requirements, &other.requirements);
        replace(&mut self.failures, &other.failures);
        replace(&mut self.relation, &other.relation);
        replace(&mut self.solver, &other.solver);
        replace(&mut self.timeout, &other.timeout);
        replace(&mut self.silence, &other.silence);
        replace(&mut self.shrink_time, &other.shrink_time);
    }

    /// The relation to test for.
    pub fn relation(&self) -> Result<Relation, CampaignError> {
        match self.relation.as_deref() {
            None | Some("ioco") => Ok(Relation::Ioco),
            Some("uioco") => Ok(Relation::Uioco),
            Some(other) => Err(
                CampaignError::usage(format!("there is no relation '{other}'"))
                    .hint("use ioco or uioco"),
            ),
        }
    }

    /// The settings of the tester.
    pub fn settings(
        &self,
        sts: &Sts,
        any_seed: impl FnOnce() -> u64,
    ) -> Result<Settings, CampaignError> {
        let time = self.time.as_deref().map(time::parse).transpose()?;
        if self.tests == Some(0) || self.steps == Some(0) || time == Some(0) {
            return Err(CampaignError::usage(
                "tests, steps and time must be above 0",
            ));
        }
        if self
            .coverage
            .is_some_and(|goal| !(goal > 0.0 && goal <= 100.0))
        {
            return Err(CampaignError::usage(
                "a coverage goal must be more than 0 and at most 100 percent",
            ));
        }
        if let Some(goal) = self.requirements {
            if !(goal > 0.0 && goal <= 100.0) {
                return Err(CampaignError::usage(
                    "a goal for requirements must be more than 0 and at most 100 percent",
                ));
            }
            if sts.requirements().is_empty() {
                return Err(CampaignError::usage(
                    "the model cites no requirements, so none can be a goal",
                ));
            }
        }
        let failures = match self.failures {
            // A suite is run to its end.
            None if self.suite.is_some() => None,
            None => Some(DEFAULT_FAILURES),
            Some(0) => None,
            Some(number) => Some(number),
        };
        // A test of a suite says itself when it is over, unless the system talks without end.
        let steps = match self.suite {
            Some(_) => 10_000,
            None => DEFAULT_STEPS,
        };
        // A limit on time or coverage takes the place of the usual number of tests.
        let goal = self.coverage.is_some() || self.requirements.is_some();
        let unlimited = time.is_some() || goal || self.suite.is_some();
        let strategy = self.strategy()?;
        let settings = Settings {
            seed: self.seed.unwrap_or_else(any_seed),
            wait: self.wait(&strategy)?,
            strategy,
            stop: StopConditions {
                tests: self.tests.or((!unlimited).then_some(DEFAULT_TESTS)),
                steps_per_test: self.steps.unwrap_or(steps),
                time,
                coverage: self.coverage,
                requirements: self.requirements,
                failures,
                ..StopConditions::default()
            },
            events: EventLevel::Steps,
            ..Settings::default()
        };
        let unknown = settings.unknown_labels(sts);
        if let Some(label) = unknown.first() {
            return Err(CampaignError::usage(format!(
                "there is no stimulus '{label}' to give a weight"
            )));
        }
        Ok(settings)
    }

    /// The nanoseconds that shrinking one failure may take.
    pub fn shrink_time(&self) -> Result<Option<u64>, CampaignError> {
        let time = self.shrink_time.as_deref().map(time::parse).transpose()?;
        if time == Some(0) {
            return Err(CampaignError::usage("shrinking in no time is no shrinking")
                .remedy(Remedy::ShrinkOrNot));
        }
        Ok(time)
    }

    /// How often silence is waited for.
    fn wait(&self, strategy: &StrategyKind) -> Result<WaitPolicy, CampaignError> {
        match self.silence {
            None => Ok(WaitPolicy::suiting(strategy)),
            Some(share) if (0.0..=1.0).contains(&share) => Ok(WaitPolicy::Worthwhile { share }),
            Some(share) => Err(
                CampaignError::usage(format!("{share} is not a share of the time"))
                    .hint("write a number from 0 to 1, such as silence = 0.2"),
            ),
        }
    }

    fn strategy(&self) -> Result<StrategyKind, CampaignError> {
        if self.suite.is_some() {
            return match (&self.strategy, self.weights.is_empty()) {
                (None, true) => Ok(StrategyKind::Guided {
                    name: "suite".to_owned(),
                }),
                _ => Err(CampaignError::usage(
                    "a suite determines the stimuli and needs no strategy",
                )
                .remedy(Remedy::SuiteOrStrategy)),
            };
        }
        if self.query.is_some() && self.strategy.as_deref() != Some("scenario") {
            return Err(
                CampaignError::usage("a query needs the strategy `scenario`")
                    .remedy(Remedy::QueryOrStrategy),
            );
        }
        match self.strategy.as_deref() {
            None if self.weights.is_empty() => Ok(StrategyKind::Auto),
            // Weights are about chance.
            None | Some("random") => {
                let weights = self.weights.iter();
                Ok(StrategyKind::Random {
                    weights: weights.map(|(l, w)| (l.clone(), f64::from(*w))).collect(),
                })
            }
            Some(_) if !self.weights.is_empty() => Err(CampaignError::usage(
                "weights belong to the strategy random",
            )
            .remedy(Remedy::StrategyOrWeights)),
            Some("auto") => Ok(StrategyKind::Auto),
            Some("transitions") => Ok(StrategyKind::Transitions),
            Some("data") => Ok(StrategyKind::Data),
            Some("scenario") if self.query.is_none() => {
                Err(CampaignError::usage("a scenario is missing").remedy(Remedy::NameQuery))
            }
            Some(name @ ("locations" | "scenario")) => Ok(StrategyKind::Guided {
                name: name.to_owned(),
            }),
            Some(other) => Err(
                CampaignError::usage(format!("there is no strategy '{other}'"))
                    .hint("use auto, random, transitions, locations, data or scenario"),
            ),
        }
    }
}
