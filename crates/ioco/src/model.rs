//! Models: from AML text, from a file, or built in Rust.

use std::convert::Infallible;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use ioco_aml::{Loaded, Sources};
use ioco_budget::Budget;
use ioco_sts::Sts;

use crate::builder::ModelBuilder;
use crate::files::read_text;

/// What a system should do: which stimuli it takes, and which responses, or silence, may follow.
///
/// Text in the modelling language AML converts into a model, so that most tests need not name this
/// type. Cloning a model is cheap.
///
/// ```
/// use ioco::Model;
///
/// let model = Model::aml(r#"
///     external 'net'
///     process('echo') {
///       channel('net') { stimulus 'ping'
///                        response 'pong' }
///       repeat { o { receive 'ping'
///                    send 'pong' } }
///     }
/// "#)?;
/// assert_eq!(model.name(), "echo");
/// assert_eq!(model.switches(), 2);
/// # Ok::<(), ioco::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Model {
    sts: Arc<Sts>,
    warnings: Vec<String>,
}

impl Model {
    /// A model from its text in AML. It can include no files.
    ///
    /// ```
    /// let wrong = ioco::Model::aml("process('x') { recieve 'ping' }").unwrap_err();
    /// assert!(wrong.to_string().contains("recieve"));
    /// ```
    pub fn aml(text: &str) -> Result<Model, ModelError> {
        Model::loaded(ioco_aml::load_text("model.aml", text))
    }

    /// A model from a file in AML. Files that it includes are found relative to it.
    ///
    /// ```no_run
    /// let model = ioco::Model::file("tests/door.aml")?;
    /// # Ok::<(), ioco::Error>(())
    /// ```
    pub fn file(path: impl AsRef<Path>) -> Result<Model, ModelError> {
        struct Files;
        impl Sources for Files {
            fn read(&self, path: &str) -> Result<String, String> {
                let limit = Budget::default().bytes;
                read_text(Path::new(path), limit).map_err(|error| error.to_string())
            }
        }
        Model::loaded(ioco_aml::load(&path.as_ref().to_string_lossy(), &Files))
    }

    /// Begins a model that is built in Rust.
    ///
    /// ```
    /// use ioco::{Model, Switch};
    ///
    /// let model = Model::builder("echo")
    ///     .stimulus("ping", [])
    ///     .response("pong", [])
    ///     .switch(Switch::from("idle").on("?ping").to("busy"))
    ///     .switch(Switch::from("busy").on("!pong").to("idle"))
    ///     .build()?;
    /// assert_eq!(model.locations(), 2);
    /// # Ok::<(), ioco::Error>(())
    /// ```
    pub fn builder(name: impl Into<String>) -> ModelBuilder {
        ModelBuilder::new(name.into())
    }

    fn loaded(loaded: Loaded) -> Result<Model, ModelError> {
        let shown = loaded.diagnostics.iter().map(|diagnostic| {
            let text = ioco_aml::render(diagnostic, &loaded.files, false);
            text.trim_end().to_owned()
        });
        let shown: Vec<String> = shown.collect();
        match loaded.sts {
            Some(sts) => Ok(Model {
                sts,
                warnings: shown,
            }),
            None => Err(ModelError { mistakes: shown }),
        }
    }

    pub(crate) fn built(sts: Sts) -> Model {
        Model {
            sts: Arc::new(sts),
            warnings: Vec::new(),
        }
    }

    /// The model's name: that of its process, or of its file where there are several.
    ///
    /// ```
    /// # let model = ioco::Model::builder("echo").stimulus("ping", []).response("pong", [])
    /// #     .switch(ioco::Switch::from("idle").on("?ping").to("busy"))
    /// #     .switch(ioco::Switch::from("busy").on("!pong").to("idle")).build()?;
    /// assert_eq!(model.name(), "echo");
    /// # Ok::<(), ioco::Error>(())
    /// ```
    pub fn name(&self) -> &str {
        self.sts.name()
    }

    /// How many locations it has.
    ///
    /// ```
    /// # let model = ioco::Model::builder("echo").stimulus("ping", []).response("pong", [])
    /// #     .switch(ioco::Switch::from("idle").on("?ping").to("busy"))
    /// #     .switch(ioco::Switch::from("busy").on("!pong").to("idle")).build()?;
    /// assert_eq!(model.locations(), 2);
    /// # Ok::<(), ioco::Error>(())
    /// ```
    pub fn locations(&self) -> usize {
        self.sts.locations().len()
    }

    /// How many switches it has.
    ///
    /// ```
    /// # let model = ioco::Model::builder("echo").stimulus("ping", []).response("pong", [])
    /// #     .switch(ioco::Switch::from("idle").on("?ping").to("busy"))
    /// #     .switch(ioco::Switch::from("busy").on("!pong").to("idle")).build()?;
    /// assert_eq!(model.switches(), 2);
    /// # Ok::<(), ioco::Error>(())
    /// ```
    pub fn switches(&self) -> usize {
        self.sts.switches().len()
    }

    /// What its author should know about it, although it has a meaning.
    ///
    /// ```
    /// let model = ioco::Model::aml("
    ///     external 'net'
    ///     process('mute') { channel('net') { stimuli 'ping', 'never'
    ///                                        response 'pong' }
    ///                       receive 'ping'
    ///                       send 'pong' }
    /// ")?;
    /// assert!(model.warnings()[0].contains("never"));
    /// # Ok::<(), ioco::Error>(())
    /// ```
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    pub(crate) fn sts(&self) -> &Arc<Sts> {
        &self.sts
    }
}

impl TryFrom<&str> for Model {
    type Error = ModelError;

    fn try_from(text: &str) -> Result<Model, ModelError> {
        Model::aml(text)
    }
}

impl TryFrom<&String> for Model {
    type Error = ModelError;

    fn try_from(text: &String) -> Result<Model, ModelError> {
        Model::aml(text)
    }
}

impl From<&Model> for Model {
    fn from(model: &Model) -> Model {
        model.clone()
    }
}

/// What is wrong with a model. Shown, it names each place and suggests a fix where there is one.
///
/// ```
/// let wrong = ioco::Model::aml("process('x') {").unwrap_err();
/// assert_eq!(wrong.mistakes().len(), 1);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ModelError {
    mistakes: Vec<String>,
}

impl ModelError {
    pub(crate) fn new(mistakes: Vec<String>) -> ModelError {
        ModelError { mistakes }
    }

    /// The mistakes, in the order of the text.
    ///
    /// ```
    /// let wrong = ioco::Model::aml("process('x') { recieve 'ping' }").unwrap_err();
    /// assert!(wrong.mistakes()[0].contains("recieve"));
    /// ```
    pub fn mistakes(&self) -> &[String] {
        &self.mistakes
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.mistakes.join("\n\n"))
    }
}

/// As it is displayed, because `unwrap` and `?` in a test show this.
impl fmt::Debug for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{self}")
    }
}

impl std::error::Error for ModelError {}

impl From<Infallible> for ModelError {
    fn from(never: Infallible) -> ModelError {
        match never {}
    }
}
