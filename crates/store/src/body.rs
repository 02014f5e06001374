//! Many steps as one text, much shorter than their events: `[12,0,3,1,{"code":17},250,-1]`. A step
//! is the time since the step before it, the number of its label in the run, and the values of its
//! parameters if there are any; silence has the number -1.

use std::collections::HashMap;

use ioco_engine::SavedStep;
use rustc_hash::FxHashMap;
use serde_json::{Map, Value as Json};

/// The labels of a run by number, in the order in which they were first seen: `?open`, `!opened`.
#[derive(Debug, Default)]
pub struct Labels {
    stimuli: FxHashMap<String, usize>,
    responses: FxHashMap<String, usize>,
    /// Those that are not written yet.
    pub new: Vec<(usize, String)>,
}

impl Labels {
    /// Those of a run that goes on.
    pub fn known(labels: &[(usize, String)]) -> Labels {
        let mut known = Labels::default();
        for (number, text) in labels {
            match text.split_at_checked(1) {
                Some(("?", label)) => known.stimuli.insert(label.to_owned(), *number),
                Some((_, label)) => known.responses.insert(label.to_owned(), *number),
                None => None,
            };
        }
        known
    }

    /// The number of a label; the next one for a label that is new.
    fn number(&mut self, mark: char, label: &str) -> usize {
        let next = self.stimuli.len() + self.responses.len();
        let known = match mark {
            '?' => &mut self.stimuli,
            _ => &mut self.responses,
        };
        if let Some(number) = known.get(label) {
            return *number;
        }
        known.insert(label.to_owned(), next);
        // PostgreSQL has no zero character in texts.
        let text = format!("{mark}{}", label.replace('\u{0}', "\u{fffd}"));
        self.new.push((next, text));
        next
    }
}

/// Steps that are not written yet.
#[derive(Debug, Default)]
pub struct Body {
    text: String,
    pub count: u64,
    /// When the last step was.
    last: u64,
}

impl Body {
    pub fn push(&mut self, at: u64, step: &SavedStep, labels: &mut Labels) {
        self.text.push(if self.count == 0 { '[' } else { ',' });
        let since = at.wrapping_sub(if self.count == 0 { 0 } else { self.last });
        self.last = at;
        self.count += 1;
        let (number, values) = match step {
            SavedStep::Stimulus { stimulus, values } => (labels.number('?', stimulus), values),
            SavedStep::Response { response, values } => (labels.number('!', response), values),
            SavedStep::Silence { .. } => {
                push_number(&mut self.text, since);
                self.text.push_str(",-1");
                return;
            }
        };
        push_number(&mut self.text, since);
        self.text.push(',');
        push_number(&mut self.text, number as u64);
        if !values.is_empty() {
            // Strings, numbers and maps with string keys: always JSON.
            let values = serde_json::to_string(values).unwrap_or_default();
            self.text.push(',');
            self.text.push_str(&values);
        }
    }

    /// The text so far; begins anew.
    pub fn take(&mut self) -> String {
        self.count = 0;
        // The next one will be about as long.
        let next = String::with_capacity(self.text.len());
        let mut text = std::mem::replace(&mut self.text, next);
        text.push(']');
        text
    }
}

/// Decimal digits, several times as fast as by formatting: a run writes millions.
fn push_number(text: &mut String, mut number: u64) {
    let mut digits = [b'0'; 20];
    let mut first = digits.len() - 1;
    loop {
        digits[first] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
        first -= 1;
    }
    // Digits are always text.
    text.push_str(std::str::from_utf8(&digits[first..]).unwrap_or_default());
}

/// The steps of a text with their times; `None` where it is not one. `labels` are those of the run.
pub fn read(text: &str, labels: &HashMap<i64, String>) -> Option<Vec<(u64, SavedStep)>> {
    let mut items = serde_json::from_str::<Vec<Json>>(text)
        .ok()?
        .into_iter()
        .peekable();
    let mut steps = Vec::new();
    let mut at: u64 = 0;
    while let Some(since) = items.next() {
        at = at.wrapping_add(since.as_u64()?);
        let number = items.next()?.as_i64()?;
        let values = match items.next_if(Json::is_object) {
            Some(Json::Object(values)) => values,
            _ => Map::new(),
        };
        steps.push((at, step(number, values, labels)?));
    }
    Some(steps)
}

fn step(
    number: i64,
    values: Map<String, Json>,
    labels: &HashMap<i64, String>,
) -> Option<SavedStep> {
    if number == -1 {
        return Some(SavedStep::Silence { silence: true });
    }
    let (mark, label) = labels.get(&number)?.split_at_checked(1)?;
    let label = label.to_owned();
    match mark {
        "?" => Some(SavedStep::Stimulus {
            stimulus: label,
            values,
        }),
        "!" => Some(SavedStep::Response {
            response: label,
            values,
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_read_back_as_they_were_written() {
        let values = serde_json::json!({"code": 17, "name": "a\"b"});
        let Json::Object(values) = values else {
            panic!("an object")
        };
        let response = |at| {
            let response = SavedStep::Response {
                response: "op\"en\né".to_owned(),
                values: Map::new(),
            };
            (at, response)
        };
        let steps = vec![
            (3, SavedStep::Silence { silence: true }),
            (
                u64::MAX,
                SavedStep::Stimulus {
                    stimulus: "op\"en\né".to_owned(),
                    values,
                },
            ),
            // A clock that goes backwards, and one that stands still.
            response(7),
            response(7),
        ];
        let (mut body, mut labels) = (Body::default(), Labels::default());
        let mut write = |steps: &[(u64, SavedStep)]| {
            for (at, step) in steps {
                body.push(*at, step, &mut labels);
            }
            body.take()
        };
        let (first, second) = (write(&steps), write(&steps[2..]));
        let named: HashMap<i64, String> = (labels.new.into_iter())
            .map(|(number, label)| (number as i64, label))
            .collect();
        assert_eq!(named.len(), 2);
        assert_eq!(read(&first, &named), Some(steps.clone()));
        assert_eq!(read(&second, &named), Some(steps[2..].to_vec()));
    }

    #[test]
    fn other_texts_are_not_steps() {
        let labels = HashMap::from([(0, "?a".to_owned()), (1, "x".to_owned())]);
        assert_eq!(read("[]", &labels), Some(Vec::new()));
        for text in [
            "",
            "{}",
            "[1]",
            "[1,7]",
            "[1,1]",
            "[1,\"?a\"]",
            "[{},0]",
            "[1,-2]",
        ] {
            assert_eq!(read(text, &labels), None, "{text}");
        }
    }
}
