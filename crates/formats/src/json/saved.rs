//! The types of the file, apart from the live ones, so that the domain can change without breaking
//! files that people keep. Everything refers to everything else by position.
//!
//! Expressions are lists of tokens, operands before operators, so that the file is never nested
//! deeper for a longer guard: `x + 1 > y` is `[{"var":0},{"const":{"int":1}},"add",{"var":1},"gt"]`.

use serde::{Deserialize, Serialize};

pub const FORMAT: &str = "ioco-sts";
pub const VERSION: u32 = 1;

/// What a reader looks at first.
#[derive(Deserialize)]
pub struct Header {
    pub format: String,
    pub version: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedSts {
    pub format: String,
    pub version: u32,
    pub name: String,
    pub files: Vec<String>,
    /// Nanoseconds.
    pub timeout: u64,
    pub enums: Vec<SavedEnum>,
    pub structs: Vec<SavedStruct>,
    pub functions: Vec<SavedFunction>,
    pub labels: Vec<SavedLabel>,
    pub variables: Vec<SavedVariable>,
    pub processes: Vec<SavedProcess>,
    pub locations: Vec<SavedLocation>,
    pub switches: Vec<SavedSwitch>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<SavedRequirement>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedRequirement {
    pub id: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub switches: Vec<u32>,
    #[serde(default, skip_serializing_if = "SavedPlace::is_nowhere")]
    pub place: SavedPlace,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedEnum {
    pub name: String,
    pub members: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedField {
    pub name: String,
    #[serde(rename = "type")]
    pub ty: SavedType,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedStruct {
    pub name: String,
    pub fields: Vec<SavedField>,
    #[serde(default, skip_serializing_if = "SavedKind::is_plain")]
    pub kind: SavedKind,
}

/// What a structure stands for; a set and a hash have one field, the array of their items or entries.
#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SavedKind {
    #[default]
    Plain,
    Set,
    Hash,
    Entry,
}

impl SavedKind {
    pub fn is_plain(&self) -> bool {
        *self == SavedKind::Plain
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedFunction {
    pub name: String,
    pub parameters: Vec<SavedField>,
    pub result: SavedType,
    pub body: Vec<SavedToken>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SavedDirection {
    Stimulus,
    Response,
    Internal,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedLabel {
    pub name: String,
    pub channel: String,
    pub direction: SavedDirection,
    pub parameters: Vec<SavedField>,
    /// The processes that take part in a hand-shake.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub participants: Vec<u32>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedVariable {
    pub name: String,
    pub process: u32,
    #[serde(rename = "type")]
    pub ty: SavedType,
    pub initial: SavedValue,
    #[serde(default, skip_serializing_if = "SavedPlace::is_nowhere")]
    pub place: SavedPlace,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedProcess {
    pub name: String,
    pub initial: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedLocation {
    pub name: String,
    pub process: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
    #[serde(default, skip_serializing_if = "SavedPlace::is_nowhere")]
    pub place: SavedPlace,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedSwitch {
    pub source: u32,
    pub gate: SavedGate,
    /// Left out where it is `true`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guard: Vec<SavedToken>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub update: Vec<SavedAssignment>,
    pub target: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    #[serde(default, skip_serializing_if = "SavedPlace::is_nowhere")]
    pub place: SavedPlace,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SavedGate {
    Tau,
    Observable(u32),
    Send(u32),
    Receive(u32),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedAssignment {
    pub variable: u32,
    pub value: Vec<SavedToken>,
}

/// File, line and column.
#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedPlace(pub u32, pub u32, pub u32);

impl SavedPlace {
    pub fn is_nowhere(&self) -> bool {
        *self == SavedPlace::default()
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SavedType {
    Bool,
    /// All 64 bits.
    Integer,
    /// Smallest and largest value.
    Range(i64, i64),
    Decimal,
    String,
    Date,
    Time,
    Enum(u32),
    Array(Box<SavedType>),
    Struct(u32),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SavedValue {
    Void,
    Bool(bool),
    Int(i64),
    /// As text, because numbers of JSON are read as floats by many.
    Decimal(String),
    String(String),
    /// The enumeration and the position of the member.
    Enum(u32, u32),
    Array(Vec<SavedValue>),
    Struct(u32, Vec<SavedValue>),
}

/// One step of an expression. What is not an operand takes its operands from those before it.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SavedToken {
    Const(SavedValue),
    Var(u32),
    Param(u32),
    Local(u32),
    Not,
    Neg,
    Abs,
    Length,
    Last,
    And,
    Or,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Min,
    Max,
    Index,
    /// Condition, then, else.
    If,
    /// Subject, low, high.
    InRange,
    /// Subject, and this many items.
    InSet(u32),
    /// This many items.
    Array(u32),
    /// The struct, and how many fields it has.
    Struct(u32, u32),
    Field(u32),
    Matches(String),
    /// The function, and how many arguments it gets.
    Call(u32, u32),
}
