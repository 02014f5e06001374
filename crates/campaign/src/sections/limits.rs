//! `[limits]`: how much one piece of work may use, the same names as `--limit NAME=N`.
//!
//! ```toml
//! [limits]
//! steps = 5_000_000                 # operations of one evaluation, nodes of one search
//! bytes = 268_435_456               # the size of one value, one state set, one file
//! depth = 400                       # nesting of parentheses, calls and values
//! states = 20_000                   # the states of one state set
//! message = 67_108_864              # the bytes of one message of a system
//! queue = 4096                      # messages that wait to be judged
//! wire = 1024                       # the bytes of one message that a failure file keeps
//! log = 65_536                      # the bytes of a system's log that one test keeps
//! ```

use std::fmt;
use std::str::FromStr;

use ioco_budget::{Budget, MAX_DEPTH, Resource};
use serde::{Deserialize, Deserializer, Serialize};

/// Limits that the user set; the others keep their defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    #[serde(deserialize_with = "count", skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    #[serde(deserialize_with = "count", skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    #[serde(deserialize_with = "depth", skip_serializing_if = "Option::is_none")]
    pub depth: Option<u64>,
    #[serde(deserialize_with = "count", skip_serializing_if = "Option::is_none")]
    pub states: Option<u64>,
    #[serde(deserialize_with = "count", skip_serializing_if = "Option::is_none")]
    pub message: Option<u64>,
    #[serde(deserialize_with = "count", skip_serializing_if = "Option::is_none")]
    pub queue: Option<u64>,
    #[serde(deserialize_with = "count", skip_serializing_if = "Option::is_none")]
    pub wire: Option<u64>,
    #[serde(deserialize_with = "count", skip_serializing_if = "Option::is_none")]
    pub log: Option<u64>,
}

impl Limits {
    pub fn is_empty(&self) -> bool {
        *self == Limits::default()
    }

    fn slot(&mut self, resource: Resource) -> &mut Option<u64> {
        match resource {
            Resource::Steps => &mut self.steps,
            Resource::Bytes => &mut self.bytes,
            Resource::Depth => &mut self.depth,
            Resource::States => &mut self.states,
            Resource::Message => &mut self.message,
            Resource::Queue => &mut self.queue,
            Resource::Wire => &mut self.wire,
            Resource::Log => &mut self.log,
        }
    }

    /// What `other` sets replaces what this sets.
    #[must_use]
    pub fn overridden_by(mut self, mut other: Limits) -> Limits {
        for resource in Resource::ALL {
            if let Some(limit) = *other.slot(resource) {
                *self.slot(resource) = Some(limit);
            }
        }
        self
    }

    pub fn budget(mut self) -> Budget {
        let mut budget = Budget::default();
        for resource in Resource::ALL {
            if let Some(limit) = *self.slot(resource) {
                budget.set(resource, limit);
            }
        }
        budget
    }
}

/// One limit, as typed: `states=20000`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    resource: Resource,
    limit: u64,
}

impl FromIterator<Limit> for Limits {
    /// The last of several limits of one name counts.
    fn from_iter<T: IntoIterator<Item = Limit>>(typed: T) -> Limits {
        let mut limits = Limits::default();
        for Limit { resource, limit } in typed {
            *limits.slot(resource) = Some(limit);
        }
        limits
    }
}

/// Why a limit cannot be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLimit(String);

impl fmt::Display for BadLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadLimit {}

impl FromStr for Limit {
    type Err = BadLimit;

    fn from_str(typed: &str) -> Result<Limit, BadLimit> {
        let names = || Resource::ALL.map(Resource::name).join(", ");
        let Some((name, number)) = typed.split_once('=') else {
            return Err(BadLimit(format!(
                "write NAME=N, with one of the names {}",
                names()
            )));
        };
        let resource = Resource::ALL.into_iter().find(|r| r.name() == name.trim());
        let Some(resource) = resource else {
            return Err(BadLimit(format!(
                "there is no limit '{name}', only {}",
                names()
            )));
        };
        let digits: String = number.trim().chars().filter(|c| *c != '_').collect();
        let limit = digits
            .parse()
            .map_err(|_| BadLimit(format!("'{number}' is not a number above 0")))?;
        checked(resource, limit).map(|limit| Limit { resource, limit })
    }
}

fn checked(resource: Resource, limit: u64) -> Result<u64, BadLimit> {
    if limit == 0 {
        return Err(BadLimit(format!(
            "a limit of {} must be above 0",
            resource.name()
        )));
    }
    if resource == Resource::Depth && limit > MAX_DEPTH {
        return Err(BadLimit(format!(
            "the limit of depth is at most {MAX_DEPTH}, not {limit}"
        )));
    }
    Ok(limit)
}

fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    number(Resource::Steps, deserializer)
}

fn depth<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    number(Resource::Depth, deserializer)
}

fn number<'de, D: Deserializer<'de>>(
    resource: Resource,
    deserializer: D,
) -> Result<Option<u64>, D::Error> {
    let limit = u64::deserialize(deserializer)?;
    match resource {
        Resource::Depth => checked(resource, limit),
        _ if limit == 0 => Err(BadLimit("a limit must be above 0".to_owned())),
        _ => Ok(limit),
    }
    .map(Some)
    .map_err(serde::de::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(typed: &str) -> Result<Limits, String> {
        let limit: Limit = typed.parse().map_err(|error: BadLimit| error.to_string())?;
        Ok([limit].into_iter().collect())
    }

    #[test]
    fn a_typed_limit_sets_one_number_of_the_budget() {
        let budget = parsed("states=20_000").unwrap().budget();
        let expected = Budget {
            states: 20_000,
            ..Budget::default()
        };
        assert_eq!(budget, expected);
    }

    #[test]
    fn what_is_no_limit_is_refused() {
        for (typed, message) in [
            (
                "states",
                "write NAME=N, with one of the names steps, bytes, depth, states, message, queue, wire, log",
            ),
            (
                "state=3",
                "there is no limit 'state', only steps, bytes, depth, states, message, queue, wire, log",
            ),
            ("steps=many", "'many' is not a number above 0"),
            ("steps=-1", "'-1' is not a number above 0"),
            ("steps=0", "a limit of steps must be above 0"),
            ("depth=501", "the limit of depth is at most 500, not 501"),
        ] {
            assert_eq!(parsed(typed).unwrap_err(), message);
        }
    }

    #[test]
    fn the_file_refuses_the_same() {
        for text in [
            "state = 3",
            "steps = -1",
            "steps = 0",
            "steps = 'x'",
            "depth = 501",
        ] {
            assert!(toml::from_str::<Limits>(text).is_err(), "{text}");
        }
        let limits: Limits = toml::from_str("steps = 5_000_000\ndepth = 400").unwrap();
        assert_eq!(limits.budget().steps, 5_000_000);
        assert_eq!(limits.budget().depth, 400);
    }

    #[test]
    fn flags_override_the_file() {
        let file: Limits = toml::from_str("steps = 5\nstates = 6").unwrap();
        let both = file.overridden_by(parsed("states=7").unwrap());
        assert_eq!((both.steps, both.states), (Some(5), Some(7)));
    }
}
