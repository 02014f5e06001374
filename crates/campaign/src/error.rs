//! Why work on a campaign ends early: whose fault it is, what is wrong, and what helps. What helps depends on
//! where the person sits, at a terminal or before the page: such a [`Remedy`] is data, and the terminal and the page put it into words.

/// What went wrong, and what to do about it.
#[derive(Debug)]
pub struct CampaignError {
    pub kind: ErrorKind,
    pub message: String,
    /// What helps everywhere: a value to use, a setting of ioco.toml.
    pub hint: Option<String>,
    pub remedy: Option<Remedy>,
}

/// Whose fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// What was asked for, the project or the model.
    Usage,
    /// The system or its adapter could not be used.
    System,
    /// A stop is requested.
    Interrupted,
}

/// What the person can do, and does differently at the terminal and on the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Make a project, or name a model.
    MakeProject,
    /// Record a run first.
    TestFirst,
    /// Name all shards, or ask for those that there are.
    NameShards,
    /// Choose another run; this is the newest.
    ChooseRun { newest: i64 },
    /// Do what `instead` says, or say which labels are stimuli and which are responses.
    NameLabels { instead: &'static str },
    /// Say nothing about labels.
    LeaveOutLabels,
    /// Have ioco draw the model.
    DrawModel,
    /// Choose the suite, or a strategy with its weights.
    SuiteOrStrategy,
    /// Choose the strategy of the query, or leave the query out.
    QueryOrStrategy,
    /// Choose the strategy that has weights, or leave them out.
    StrategyOrWeights,
    /// Name the file of the scenario.
    NameQuery,
    /// Choose a solver that can be started.
    ChooseSolver,
    /// Name the solver again that was used before.
    NameSolverAgain,
    /// Another solver may decide it.
    AskSolver,
    /// Say how the system is reached.
    ReachSystem,
    /// Say how the system is reached, or which profile says it.
    ReachSystemOrProfile,
    /// Say how the system is started.
    StartSystem,
    /// Give shrinking some time, or do without.
    ShrinkOrNot,
    /// Map labels to HTTP requests.
    MapHttp,
    /// Do what `instead` says, or allow a connection without encryption.
    AllowInsecure { instead: &'static str },
    /// Allow it after a look, or choose another system.
    TrustSystem,
    /// Allow it after a look.
    TrustModel,
    /// Allow the project's store, or choose another one.
    TrustStore,
}

impl CampaignError {
    pub fn usage(message: impl Into<String>) -> CampaignError {
        CampaignError {
            kind: ErrorKind::Usage,
            message: message.into(),
            hint: None,
            remedy: None,
        }
    }

    pub fn system(message: impl Into<String>) -> CampaignError {
        CampaignError {
            kind: ErrorKind::System,
            ..CampaignError::usage(message)
        }
    }

    /// A stop is requested.
    pub fn interrupted() -> CampaignError {
        CampaignError {
            kind: ErrorKind::Interrupted,
            ..CampaignError::usage("the run is over")
        }
    }

    pub fn hint(mut self, hint: impl Into<String>) -> CampaignError {
        self.hint = Some(hint.into());
        self
    }

    pub fn remedy(mut self, remedy: Remedy) -> CampaignError {
        self.remedy = Some(remedy);
        self
    }
}

pub(crate) fn no_jobs() -> CampaignError {
    CampaignError::usage("with 0 jobs, no test runs").hint("use at least one job")
}
