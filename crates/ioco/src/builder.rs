//! Models built in Rust. Guards and updates are text in the expression language of AML; messages
//! about a switch name the line of Rust that made it.

use std::panic::Location;
use std::time::Duration;

use ioco_aml::{Diagnostic, SourceFile};
use ioco_sts::{
    BinaryOp, Direction, EnumType, Expr, Gate, IntRange, Label, LabelId, LocationId, Parameter,
    Place, ProcessId, StructType, Sts, StsBuilder, Types, Variable,
};

use crate::model::{Model, ModelError};
use crate::value::Value;

/// The type of a variable or a parameter.
///
/// ```
/// use ioco::{Model, Switch, Type};
///
/// let colour = Type::enumeration("Colour", ["red", "green"]);
/// let model = Model::builder("lamp")
///     .variable("shown", colour.clone(), "red")
///     .stimulus("show", [("colour", colour)])
///     .switch(Switch::from("on").on("?show").update("shown = colour").to("on"))
///     .build()?;
/// # Ok::<(), ioco::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Type {
    /// True or false.
    Boolean,
    /// Any integer of 64 bits.
    Integer,
    /// The integers from the first to the second, both included.
    Range(i64, i64),
    /// Exact decimal numbers.
    Decimal,
    /// Strings.
    String,
    /// An enumeration: its name and its members.
    Enumeration(String, Vec<String>),
    /// Arrays of one type.
    Array(Box<Type>),
    /// A structure: its name and its fields.
    Struct(String, Vec<(String, Type)>),
}

impl Type {
    /// An enumeration.
    ///
    /// ```
    /// let colour = ioco::Type::enumeration("Colour", ["red", "green"]);
    /// assert!(matches!(colour, ioco::Type::Enumeration(_, members) if members.len() == 2));
    /// ```
    pub fn enumeration<'a>(name: &str, members: impl IntoIterator<Item = &'a str>) -> Type {
        let members = members.into_iter().map(str::to_owned);
        Type::Enumeration(name.to_owned(), members.collect())
    }

    /// Arrays of one type.
    ///
    /// ```
    /// use ioco::Type;
    ///
    /// assert_eq!(Type::array(Type::Integer), Type::Array(Box::new(Type::Integer)));
    /// ```
    pub fn array(item: Type) -> Type {
        Type::Array(Box::new(item))
    }

    /// A structure.
    ///
    /// ```
    /// use ioco::{Model, Switch, Type};
    ///
    /// let point = Type::structure("Point", [("x", Type::Integer), ("y", Type::Integer)]);
    /// let model = Model::builder("plane")
    ///     .stimulus("draw", [("at", point)])
    ///     .switch(Switch::from("plane").on("?draw").when("at.x < at.y"))
    ///     .build()?;
    /// # Ok::<(), ioco::Error>(())
    /// ```
    pub fn structure<'a>(name: &str, fields: impl IntoIterator<Item = (&'a str, Type)>) -> Type {
        let fields = fields.into_iter().map(|(name, ty)| (name.to_owned(), ty));
        Type::Struct(name.to_owned(), fields.collect())
    }

    /// As a type of the model, which gets to know the named types in it.
    fn in_model(&self, types: &mut Types) -> Result<ioco_sts::Type, String> {
        Ok(match self {
            Type::Boolean => ioco_sts::Type::Bool,
            Type::Integer => ioco_sts::Type::INTEGER,
            Type::Range(min, max) if min > max => {
                return Err(format!("the range from {min} to {max} is empty"));
            }
            Type::Range(min, max) => ioco_sts::Type::Int(IntRange {
                min: *min,
                max: *max,
            }),
            Type::Decimal => ioco_sts::Type::Decimal,
            Type::String => ioco_sts::Type::Str,
            Type::Array(item) => ioco_sts::Type::Array(Box::new(item.in_model(types)?)),
            Type::Enumeration(name, members) => {
                let declared = EnumType {
                    name: name.clone(),
                    members: members.clone(),
                };
                let index = add(&mut types.enums, declared, |known| &known.name)?;
                ioco_sts::Type::Enum(ioco_sts::EnumId::from_index(index))
            }
            Type::Struct(name, fields) => {
                let fields = fields.iter().map(|(name, ty)| {
                    let ty = ty.in_model(types)?;
                    Ok((name.clone(), ty))
                });
                let declared = StructType {
                    name: name.clone(),
                    fields: fields.collect::<Result<_, String>>()?,
                    kind: ioco_sts::StructKind::Plain,
                };
                let index = add(&mut types.structs, declared, |known| &known.name)?;
                ioco_sts::Type::Struct(ioco_sts::StructId::from_index(index))
            }
        })
    }
}

/// The place of a named type among those known; another one of the same name is a mistake.
fn add<T: PartialEq>(known: &mut Vec<T>, new: T, name: fn(&T) -> &String) -> Result<usize, String> {
    match known.iter().position(|other| name(other) == name(&new)) {
        Some(index) if known[index] == new => Ok(index),
        Some(_) => Err(format!("there are two different types `{}`", name(&new))),
        None => {
            known.push(new);
            Ok(known.len() - 1)
        }
    }
}

/// A switch of a model: from one location to another, by a stimulus, a response or an internal step.
///
/// ```
/// use ioco::Switch;
///
/// // In `empty`, a `put` is allowed whose `item` is not negative.
/// let put = Switch::from("empty").on("?put").when("item >= 0").update("held = item").to("full");
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Switch {
    source: String,
    target: String,
    label: Option<String>,
    guard: Option<String>,
    update: Option<String>,
    at: &'static Location<'static>,
}

impl Switch {
    /// A switch that leaves this location. Unless more is said it is internal and leads back to it.
    ///
    /// ```
    /// use ioco::{Model, Switch};
    ///
    /// let model = Model::builder("timer")
    ///     .stimulus("start", [])
    ///     .switch(Switch::from("off").on("?start").to("on"))
    ///     // An internal step.
    ///     .switch(Switch::from("on").to("off"))
    ///     .build()?;
    /// assert_eq!(model.switches(), 2);
    /// # Ok::<(), ioco::Error>(())
    /// ```
    #[track_caller]
    pub fn from(location: &str) -> Switch {
        Switch {
            source: location.to_owned(),
            target: location.to_owned(),
            label: None,
            guard: None,
            update: None,
            at: Location::caller(),
        }
    }

    /// The label: `?name` for a stimulus, `!name` for a response.
    ///
    /// ```
    /// let press = ioco::Switch::from("off").on("?press").to("on");
    /// let light = ioco::Switch::from("on").on("!light");
    /// ```
    pub fn on(mut self, label: &str) -> Switch {
        self.label = Some(label.to_owned());
        self
    }

    /// The guard: a condition over the variables of the model and the parameters of the label. A
    /// parameter hides a variable of the same name. A parameter that the guard does not mention may have
    /// any value.
    ///
    /// ```
    /// let cheap = ioco::Switch::from("shop").on("?pay").when("amount > 0 && amount <= balance");
    /// ```
    pub fn when(mut self, guard: &str) -> Switch {
        self.guard = Some(guard.to_owned());
        self
    }

    /// The update: `x = 1; y += x`. Right of `=`, variables have their old values.
    ///
    /// ```
    /// let pay = ioco::Switch::from("shop").on("?pay").update("balance -= amount; payments += 1");
    /// ```
    pub fn update(mut self, update: &str) -> Switch {
        self.update = Some(update.to_owned());
        self
    }

    /// The location that it leads to.
    ///
    /// ```
    /// let close = ioco::Switch::from("open").on("?close").to("closed");
    /// ```
    pub fn to(mut self, location: &str) -> Switch {
        location.clone_into(&mut self.target);
        self
    }
}

/// Collects the parts of a [`Model`]; made by [`Model::builder`].
///
/// The model starts in the location that the first switch leaves. Errors come out of
/// [`ModelBuilder::build`], all at once.
///
/// ```
/// use ioco::{Model, Switch, Type};
///
/// let wrong = Model::builder("echo")
///     .stimulus("ping", [])
///     .switch(Switch::from("idle").on("?pong").to("idle"))
///     .build()
///     .unwrap_err();
/// assert!(wrong.to_string().contains("there is no label `?pong`"));
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct ModelBuilder {
    sts: StsBuilder,
    process: ProcessId,
    labels: Vec<(String, LabelId)>,
    variables: Vec<String>,
    locations: Vec<(String, LocationId)>,
    switches: Vec<Switch>,
    mistakes: Vec<String>,
}

impl ModelBuilder {
    pub(crate) fn new(name: String) -> ModelBuilder {
        let mut sts = StsBuilder::new(&name);
        let process = sts.process(&name);
        ModelBuilder {
            sts,
            process,
            labels: Vec::new(),
            variables: Vec::new(),
            locations: Vec::new(),
            switches: Vec::new(),
            mistakes: Vec::new(),
        }
    }

    /// How long the system must stay silent until that counts as silence. Half a second unless this
    /// says otherwise; in virtual time, so that it matters only to systems with timers.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let model = ioco::Model::builder("slow")
    ///     .timeout(Duration::from_secs(5))
    ///     .response("done", [])
    ///     .switch(ioco::Switch::from("busy").on("!done"))
    ///     .build()?;
    /// # Ok::<(), ioco::Error>(())
    /// ```
    pub fn timeout(mut self, timeout: Duration) -> ModelBuilder {
        match u64::try_from(timeout.as_nanos()) {
            Ok(nanoseconds) => self.sts.timeout(nanoseconds),
            Err(_) => self.mistakes.push("the time-out is too long".to_owned()),
        }
        self
    }

    /// A variable with its initial value.
    ///
    /// ```
    /// use ioco::{Model, Switch, Type};
    ///
    /// let model = Model::builder("counter")
    ///     .variable("count", Type::Range(0, 9), 0)
    ///     .stimulus("add", [])
    ///     .switch(Switch::from("counter").on("?add").when("count < 9").update("count += 1"))
    ///     .build()?;
    /// # Ok::<(), ioco::Error>(())
    /// ```
    pub fn variable(mut self, name: &str, ty: Type, initial: impl Into<Value>) -> ModelBuilder {
        if let Err(why) = self.add_variable(name, &ty, &initial.into()) {
            self.mistakes.push(format!("variable `{name}`: {why}"));
        }
        self
    }

    fn add_variable(&mut self, name: &str, ty: &Type, initial: &Value) -> Result<(), String> {
        let ty = ty.in_model(self.sts.types())?;
        let types = self.sts.types();
        let value = initial.to_model(&ty, types).ok_or_else(|| {
            let expected = types.type_name(&ty);
            format!("its initial value {initial} is not {expected}")
        })?;
        if self.variables.iter().any(|known| known == name) {
            return Err("it is there already".to_owned());
        }
        self.variables.push(name.to_owned());
        self.sts.variable(Variable {
            name: name.to_owned(),
            process: self.process,
            ty,
            initial: value,
            place: Place::default(),
        });
        Ok(())
    }

    /// A stimulus and its parameters.
    ///
    /// ```
    /// use ioco::{Model, Switch, Type};
    ///
    /// let model = Model::builder("shelf")
    ///     .stimulus("put", [("item", Type::Integer)])
    ///     .switch(Switch::from("shelf").on("?put"))
    ///     .build()?;
    /// # Ok::<(), ioco::Error>(())
    /// ```
    pub fn stimulus<'a>(
        self,
        name: &str,
        parameters: impl IntoIterator<Item = (&'a str, Type)>,
    ) -> ModelBuilder {
        self.label(Direction::Stimulus, name, parameters)
    }

    /// A response and its parameters.
    ///
    /// ```
    /// use ioco::{Model, Switch, Type};
    ///
    /// let model = Model::builder("clock")
    ///     .response("tick", [("second", Type::Range(0, 59))])
    ///     .switch(Switch::from("clock").on("!tick"))
    ///     .build()?;
    /// # Ok::<(), ioco::Error>(())
    /// ```
    pub fn response<'a>(
        self,
        name: &str,
        parameters: impl IntoIterator<Item = (&'a str, Type)>,
    ) -> ModelBuilder {
        self.label(Direction::Response, name, parameters)
    }

    fn label<'a>(
        mut self,
        direction: Direction,
        name: &str,
        parameters: impl IntoIterator<Item = (&'a str, Type)>,
    ) -> ModelBuilder {
        let marked = format!("{}{name}", direction.mark());
        let mut typed = Vec::new();
        for (parameter, ty) in parameters {
            match ty.in_model(self.sts.types()) {
                Ok(ty) => typed.push(Parameter {
                    name: parameter.to_owned(),
                    ty,
                }),
                Err(why) => self
                    .mistakes
                    .push(format!("{marked}, `{parameter}`: {why}")),
            }
        }
        if self.labels.iter().any(|(known, _)| *known == marked) {
            self.mistakes.push(format!("{marked} is there already"));
            return self;
        }
        let label = self.sts.label(Label {
            name: name.to_owned(),
            channel: "system".to_owned(),
            direction,
            parameters: typed,
        });
        self.labels.push((marked, label));
        self
    }

    /// A switch. Its label and variables may be declared later.
    ///
    /// ```
    /// use ioco::{Model, Switch};
    ///
    /// let model = Model::builder("lamp")
    ///     .switch(Switch::from("off").on("?press").to("on"))
    ///     .switch(Switch::from("on").on("?press").to("off"))
    ///     .stimulus("press", [])
    ///     .build()?;
    /// assert_eq!(model.switches(), 2);
    /// # Ok::<(), ioco::Error>(())
    /// ```
    pub fn switch(mut self, switch: Switch) -> ModelBuilder {
        self.switches.push(switch);
        self
    }

    /// The model, or everything that is wrong with it.
    ///
    /// ```
    /// let wrong = ioco::Model::builder("empty").build().unwrap_err();
    /// assert_eq!(wrong.mistakes(), ["a model needs a switch"]);
    /// ```
    pub fn build(mut self) -> Result<Model, ModelError> {
        if self.switches.is_empty() {
            self.mistakes.push("a model needs a switch".to_owned());
        }
        // For the names in guards and updates; it has no switches yet.
        let declared = self.sts.clone().build();
        let mut files: Vec<(&str, u32)> = Vec::new();
        for switch in std::mem::take(&mut self.switches) {
            let name = switch.at.file();
            let file = match files.iter().find(|(known, _)| *known == name) {
                Some((_, file)) => *file,
                None => {
                    let file = self.sts.file(name);
                    files.push((name, file));
                    file
                }
            };
            let place = Place {
                file,
                line: switch.at.line(),
                column: switch.at.column(),
            };
            if let Err(why) = self.add_switch(&switch, &declared, place) {
                self.mistakes.push(format!("{}: {why}", switch.at));
            }
        }
        match self.mistakes.is_empty() {
            true => Ok(Model::built(self.sts.build())),
            false => Err(ModelError::new(self.mistakes)),
        }
    }

    fn add_switch(&mut self, switch: &Switch, declared: &Sts, place: Place) -> Result<(), String> {
        let source = self.location(&switch.source);
        let target = self.location(&switch.target);
        let label = match &switch.label {
            None => None,
            Some(name) => {
                let known = self.labels.iter().find(|(known, _)| known == name);
                let (_, id) = known.ok_or_else(|| {
                    let all: Vec<&str> = self.labels.iter().map(|(name, _)| &**name).collect();
                    format!("there is no label `{name}`; there are {}", all.join(", "))
                })?;
                Some(*id)
            }
        };
        let mut guard = match &switch.guard {
            None => Expr::TRUE,
            Some(text) => ioco_aml::parse_condition(text, declared, label)
                .map_err(|wrong| shown("guard", text, &wrong))?,
        };
        if let Some(id) = label.filter(|id| declared.label(*id).direction == Direction::Stimulus) {
            guard = with_values(guard, declared.label(id).parameters.len());
        }
        let update = match &switch.update {
            None => Vec::new(),
            Some(text) => ioco_aml::parse_update(text, declared, label)
                .map_err(|wrong| shown("update", text, &wrong))?,
        };
        let gate = label.map_or(Gate::Tau, Gate::Observable);
        self.sts.switch(source, gate, guard, update, target, place);
        Ok(())
    }

    fn location(&mut self, name: &str) -> LocationId {
        if let Some((_, id)) = self.locations.iter().find(|(known, _)| known == name) {
            return *id;
        }
        let id = self.sts.named_location(self.process, name);
        self.locations.push((name.to_owned(), id));
        id
    }
}

/// The guard of a stimulus that sets every parameter: what the guard does not mention may have any value,
/// and not none.
fn with_values(guard: Expr, parameters: usize) -> Expr {
    let mut mentioned = vec![false; parameters];
    guard.walk(&mut |expr| {
        if let Expr::Param(position) = expr {
            mentioned[*position as usize] = true;
        }
    });
    let is_set = |position: usize| {
        let parameter = Expr::Param(position as u32);
        Expr::binary(BinaryOp::Ne, parameter, Expr::Const(ioco_sts::Value::Void))
    };
    let open = (0..parameters).filter(|position| !mentioned[*position]);
    Expr::all(
        std::iter::once(guard.clone())
            .chain(open.map(is_set))
            .collect(),
    )
}

fn shown(what: &str, text: &str, wrong: &[Diagnostic]) -> String {
    let files = [SourceFile {
        name: what.to_owned(),
        text: text.to_owned(),
    }];
    let shown = wrong
        .iter()
        .map(|diagnostic| ioco_aml::render(diagnostic, &files, false));
    shown.collect::<Vec<_>>().join("\n").trim_end().to_owned()
}
