//! The messages of the plugin-adapter protocol, as protocol buffers (proto3).
//!
//! Tags and types are the protocol's; a field that a peer does not know is skipped, so that both
//! sides can grow.

/// One binary frame.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Message {
    #[prost(oneof = "Body", tags = "1, 2, 3, 4, 5, 6")]
    pub body: Option<Body>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub enum Body {
    #[prost(message, tag = "1")]
    Error(Error),
    #[prost(message, tag = "2")]
    Announcement(Announcement),
    #[prost(message, tag = "3")]
    Configuration(Configuration),
    #[prost(message, tag = "4")]
    Label(Label),
    #[prost(message, tag = "5")]
    Reset(Reset),
    #[prost(message, tag = "6")]
    Ready(Ready),
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Error {
    #[prost(string, tag = "1")]
    pub message: String,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub struct Reset {}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub struct Ready {}

/// What an adapter says of itself when it connects.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Announcement {
    #[prost(string, tag = "1")]
    pub name: String,
    /// Its settings, with their defaults.
    #[prost(message, optional, tag = "2")]
    pub configuration: Option<Configuration>,
    /// The labels it supports; values are there for their types only.
    #[prost(message, repeated, tag = "3")]
    pub labels: Vec<Label>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Configuration {
    #[prost(message, repeated, tag = "1")]
    pub items: Vec<Item>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Item {
    #[prost(string, tag = "1")]
    pub key: String,
    #[prost(string, tag = "2")]
    pub description: String,
    #[prost(oneof = "Setting", tags = "3, 4, 5, 6")]
    pub setting: Option<Setting>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub enum Setting {
    #[prost(string, tag = "3")]
    Text(String),
    #[prost(int64, tag = "4")]
    Integer(i64),
    #[prost(float, tag = "5")]
    Float(f32),
    #[prost(bool, tag = "6")]
    Boolean(bool),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum Direction {
    Stimulus = 0,
    Response = 1,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Label {
    #[prost(enumeration = "Direction", tag = "1")]
    pub direction: i32,
    #[prost(string, tag = "2")]
    pub label: String,
    #[prost(string, tag = "3")]
    pub channel: String,
    #[prost(message, repeated, tag = "4")]
    pub parameters: Vec<Parameter>,
    /// Nanoseconds since the epoch on the adapter's clock: not to be relied upon.
    #[prost(uint64, tag = "5")]
    pub timestamp: u64,
    /// What crossed the border between adapter and system.
    #[prost(bytes = "vec", tag = "6")]
    pub physical_label: Vec<u8>,
    #[prost(uint64, tag = "7")]
    pub correlation_id: u64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Parameter {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(message, optional, tag = "2")]
    pub value: Option<Value>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Value {
    #[prost(oneof = "Kind", tags = "1, 2, 3, 4, 5, 6, 7, 8, 9")]
    pub kind: Option<Kind>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub enum Kind {
    #[prost(string, tag = "1")]
    Text(String),
    #[prost(int64, tag = "2")]
    Integer(i64),
    #[prost(double, tag = "3")]
    Decimal(f64),
    #[prost(bool, tag = "4")]
    Boolean(bool),
    /// Seconds since the epoch.
    #[prost(uint64, tag = "5")]
    Date(u64),
    #[prost(message, tag = "6")]
    Array(Array),
    #[prost(message, tag = "7")]
    Struct(Hash),
    #[prost(message, tag = "8")]
    Hash(Hash),
    /// Nanoseconds.
    #[prost(uint64, tag = "9")]
    Time(u64),
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Array {
    #[prost(message, repeated, tag = "1")]
    pub values: Vec<Value>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Hash {
    #[prost(message, repeated, tag = "1")]
    pub entries: Vec<Entry>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Entry {
    #[prost(message, optional, tag = "1")]
    pub key: Option<Value>,
    #[prost(message, optional, tag = "2")]
    pub value: Option<Value>,
}

impl From<Body> for Message {
    fn from(body: Body) -> Message {
        Message { body: Some(body) }
    }
}

impl Label {
    pub fn is_response(&self) -> bool {
        self.direction == Direction::Response as i32
    }
}
