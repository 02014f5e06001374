//! Many steps as one text, shorter than their events: `[[12], [15, "?open", {"code": 17}]]`.

use ioco_engine::SavedStep;
use serde_json::{Map, Value as Json};

/// Steps that are not written yet.
#[derive(Debug, Default)]
pub struct Body {
    text: String,
    pub count: u64,
}

impl Body {
    pub fn push(&mut self, at: u64, step: &SavedStep) {
        self.text.push(if self.count == 0 { '[' } else { ',' });
        self.count += 1;
        let (mark, label, values) = match step {
            SavedStep::Stimulus { stimulus, values } => ('?', stimulus, values),
            SavedStep::Response { response, values } => ('!', response, values),
            SavedStep::Silence { .. } => {
                self.text.push_str(&format!("[{at}]"));
                return;
            }
        };
        self.text.push_str(&format!("[{at},\"{mark}"));
        escape(label, &mut self.text);
        self.text.push('"');
        if !values.is_empty() {
            self.text.push(',');
            // Strings, numbers and maps with string keys: always JSON.
            self.text
                .push_str(&serde_json::to_string(values).unwrap_or_default());
        }
        self.text.push(']');
    }

    /// The text so far; begins anew.
    pub fn take(&mut self) -> String {
        self.count = 0;
        let mut text = std::mem::take(&mut self.text);
        text.push(']');
        text
    }
}

/// As the inside of a JSON string. PostgreSQL has no zero character in texts, so it stays escaped.
fn escape(label: &str, text: &mut String) {
    let plain = |c: char| !c.is_control() && c != '"' && c != '\\';
    if label.chars().all(plain) {
        text.push_str(label);
    } else {
        let quoted = serde_json::to_string(label).unwrap_or_default();
        let inside = 1..quoted.len().saturating_sub(1);
        text.push_str(quoted.get(inside).unwrap_or_default());
    }
}

/// The steps of a text with their times; `None` where it is not one.
pub fn read(text: &str) -> Option<Vec<(u64, SavedStep)>> {
    let rows: Vec<Vec<Json>> = serde_json::from_str(text).ok()?;
    rows.into_iter().map(read_step).collect()
}

fn read_step(row: Vec<Json>) -> Option<(u64, SavedStep)> {
    let mut row = row.into_iter();
    let at = row.next()?.as_u64()?;
    let Some(label) = row.next() else {
        return Some((at, SavedStep::Silence { silence: true }));
    };
    let values = match row.next() {
        None => Map::new(),
        Some(Json::Object(values)) => values,
        Some(_) => return None,
    };
    let label = label.as_str()?;
    let step = match label.split_at_checked(1)? {
        ("?", name) => SavedStep::Stimulus {
            stimulus: name.to_owned(),
            values,
        },
        ("!", name) => SavedStep::Response {
            response: name.to_owned(),
            values,
        },
        _ => return None,
    };
    Some((at, step))
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
        let steps = vec![
            (3, SavedStep::Silence { silence: true }),
            (
                u64::MAX,
                SavedStep::Stimulus {
                    stimulus: "op\"en\n\u{0}é".to_owned(),
                    values,
                },
            ),
            (
                7,
                SavedStep::Response {
                    response: "\"".to_owned(),
                    values: Map::new(),
                },
            ),
        ];
        let mut body = Body::default();
        for (at, step) in &steps {
            body.push(*at, step);
        }
        let text = body.take();
        assert!(!text.contains('\u{0}'));
        assert_eq!(read(&text), Some(steps));
        assert_eq!(body.count, 0);
    }

    #[test]
    fn other_texts_are_not_steps() {
        for text in [
            "",
            "{}",
            "[[]]",
            "[[1,\"x\"]]",
            "[[1,\"\"]]",
            "[[1,\"?a\",2]]",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
