//! What a system accepts: its stimuli with the names and kinds of their parameters.

use ioco_sts::Value;

use ioco_sts::Message;

/// The kind of a parameter of a stimulus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Integer,
    Boolean,
    /// Also a member of an enumeration.
    Text,
}

impl Kind {
    fn accepts(self, value: &Value) -> bool {
        matches!(
            (self, value),
            (_, Value::Void)
                | (Kind::Integer, Value::Int(_))
                | (Kind::Boolean, Value::Bool(_))
                | (Kind::Text, Value::Str(_))
        )
    }

    fn name(self) -> &'static str {
        match self {
            Kind::Integer => "an integer",
            Kind::Boolean => "a boolean",
            Kind::Text => "a string",
        }
    }
}

/// A stimulus that a system knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    pub label: &'static str,
    pub parameters: &'static [(&'static str, Kind)],
}

impl Signature {
    pub const fn plain(label: &'static str) -> Signature {
        Signature {
            label,
            parameters: &[],
        }
    }

    pub const fn new(
        label: &'static str,
        parameters: &'static [(&'static str, Kind)],
    ) -> Signature {
        Signature { label, parameters }
    }
}

/// Whether `stimulus` is one of `known`. A parameter may be left out: it is then unset.
pub fn check(known: &[Signature], stimulus: &Message) -> Result<(), String> {
    let Some(signature) = known.iter().find(|s| s.label == stimulus.label) else {
        let labels: Vec<&str> = known.iter().map(|s| s.label).collect();
        return Err(format!(
            "unknown stimulus \"{}\"; this system knows {}",
            stimulus.label,
            labels.join(", ")
        ));
    };
    for (name, value) in &stimulus.values {
        let Some((_, kind)) = signature.parameters.iter().find(|(known, _)| known == name) else {
            return Err(format!(
                "stimulus \"{}\" has no parameter \"{name}\"",
                stimulus.label
            ));
        };
        if !kind.accepts(value) {
            return Err(format!(
                "parameter \"{name}\" of \"{}\" must be {}, not {}",
                stimulus.label,
                kind.name(),
                value.kind()
            ));
        }
    }
    Ok(())
}
