//! Which texts on the edges of a foreign format are stimuli, responses and internal steps.

use rustc_hash::FxHashMap;

use ioco_sts::{Direction, Gate, Label, LabelId, StsBuilder};

use super::FormatError;

/// How to take the labels of a format that does not tell stimuli from responses. A text `?x` is
/// always the stimulus `x`, `!x` always the response `x`; patterns decide about the rest, those of
/// internal labels first. In a pattern `*` stands for any text: `r1(*)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelMap {
    pub stimuli: Vec<String>,
    pub responses: Vec<String>,
    pub internal: Vec<String>,
    /// Labels that nothing above speaks of become internal steps; else they are an error.
    pub hide_others: bool,
}

impl Default for LabelMap {
    fn default() -> LabelMap {
        LabelMap {
            stimuli: Vec::new(),
            responses: Vec::new(),
            internal: ["i", "tau", "τ"].map(str::to_owned).to_vec(),
            hide_others: false,
        }
    }
}

impl LabelMap {
    /// The direction and name of a label; [`Direction::Internal`] is a τ. `None` where nothing says
    /// what it is.
    pub(super) fn find<'a>(
        &self,
        line: u32,
        text: &'a str,
    ) -> Result<Option<(Direction, &'a str)>, FormatError> {
        let marked = [('?', Direction::Stimulus), ('!', Direction::Response)];
        for (mark, direction) in marked {
            if let Some(name) = text.strip_prefix(mark) {
                return match name.trim() {
                    "" => Err(FormatError::new(line, format!("`{text}` is not a label"))),
                    name => Ok(Some((direction, name))),
                };
            }
        }
        let patterns = [
            (&self.internal, Direction::Internal),
            (&self.stimuli, Direction::Stimulus),
            (&self.responses, Direction::Response),
        ];
        let named = patterns
            .into_iter()
            .find(|(patterns, _)| patterns.iter().any(|pattern| matches(pattern, text)));
        Ok(named.map(|(_, direction)| (direction, text)))
    }

    /// As [`LabelMap::find`], where every label must be something.
    pub(super) fn classify<'a>(
        &self,
        line: u32,
        text: &'a str,
    ) -> Result<(Direction, &'a str), FormatError> {
        match self.find(line, text)? {
            Some(found) => Ok(found),
            None if self.hide_others => Ok((Direction::Internal, text)),
            None => Err(FormatError::new(
                line,
                format!(
                    "`{text}` is neither marked (`?{text}`, `!{text}`) nor named as a stimulus, a \
                     response or internal"
                ),
            )),
        }
    }
}

/// Whether `pattern`, in which `*` stands for any text, is all of `text`.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        return rest.is_empty();
    };
    // The earliest place for each part leaves the most text for those after it.
    for part in parts {
        match rest.find(part) {
            Some(position) => rest = &rest[position + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// The channel of labels that come from a format without channels.
const CHANNEL: &str = "system";

/// The labels of a system that is being read, made when they are first met.
#[derive(Default)]
pub(super) struct Labels {
    known: FxHashMap<(Direction, String), LabelId>,
}

impl Labels {
    /// The gate of a label; a τ for [`Direction::Internal`].
    pub fn gate(&mut self, builder: &mut StsBuilder, direction: Direction, name: &str) -> Gate {
        if direction == Direction::Internal {
            return Gate::Tau;
        }
        let label = || Label {
            name: name.to_owned(),
            channel: CHANNEL.to_owned(),
            direction,
            parameters: Vec::new(),
        };
        let known = self.known.entry((direction, name.to_owned()));
        Gate::Observable(*known.or_insert_with(|| builder.label(label())))
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_stands_for_any_text() {
        assert!(matches("r1(*)", "r1(d1)"));
        assert!(matches("r1(*)", "r1()"));
        assert!(!matches("r1(*)", "r12(d1)"));
        assert!(matches("*", ""));
        assert!(matches("a*b*a", "abba"));
        assert!(!matches("aba*aba", "abaaba_"));
        assert!(!matches("ab*ba", "aba"));
        assert!(matches("exact", "exact"));
        assert!(!matches("exact", "exactly"));
    }
}
