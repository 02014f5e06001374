//! Which stimulus a request is: the mapping read backwards, for traffic of others.

use ioco_sts::{Action, LabelId, Value};

use super::mapping::{Mapped, Stimulus};
use crate::template::read_text;
use crate::values::{Mismatch, shorten};

/// What a request is to the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RequestMeaning {
    Stimulus(Action),
    Reset,
    /// Something that changes nothing, such as the request for a page.
    Nothing,
    /// Something that the model does not describe, shown.
    Other(String),
}

/// Requests by these change nothing (RFC 9110, section 9.2.1).
const SAFE: [&str; 4] = ["GET", "HEAD", "OPTIONS", "TRACE"];

impl Mapped {
    /// What a request is. `target` is the path with its query. Of several stimuli that it fits, the first that the
    /// model takes now, where `takes` knows that.
    pub fn asked(
        &self,
        method: &str,
        target: &str,
        body: &str,
        takes: &mut dyn FnMut(&Action) -> bool,
    ) -> RequestMeaning {
        let resets = |own: &super::mapping::Request| own.method == method && own.path == target;
        if self.reset.as_ref().is_some_and(resets) {
            return RequestMeaning::Reset;
        }
        let (mut rejected, mut refused) = (None, None);
        for (label, stimulus) in self.most_specific_first() {
            match self.read(label, stimulus, method, target, body) {
                None => {}
                Some(Ok(action)) if takes(&action) => return RequestMeaning::Stimulus(action),
                Some(Ok(action)) => {
                    refused.get_or_insert(action);
                }
                Some(Err(Mismatch(why))) => {
                    let name = self.sts.label(label).marked_name();
                    rejected.get_or_insert_with(|| format!("{name}: {why}"));
                }
            }
        }
        if let Some(action) = refused {
            return RequestMeaning::Stimulus(action);
        }
        let shown = shorten(target, 100);
        match rejected {
            Some(why) => RequestMeaning::Other(format!("{method} {shown} ({why})")),
            None if SAFE.contains(&method) => RequestMeaning::Nothing,
            None => RequestMeaning::Other(format!("{method} {shown}")),
        }
    }

    fn most_specific_first(&self) -> Vec<(LabelId, &Stimulus)> {
        let mut stimuli: Vec<(LabelId, &Stimulus)> =
            self.stimuli.iter().map(|(id, s)| (*id, s)).collect();
        stimuli.sort_by_key(|(_, stimulus)| {
            let body = stimulus.body.as_ref().map_or(0, |body| body.fixed());
            std::cmp::Reverse((stimulus.path.fixed(), body))
        });
        stimuli
    }

    /// `None`: it is another request.
    fn read(
        &self,
        id: LabelId,
        stimulus: &Stimulus,
        method: &str,
        target: &str,
        body: &str,
    ) -> Option<Result<Action, Mismatch>> {
        if stimulus.method != method {
            return None;
        }
        let label = self.sts.label(id);
        let types = self.sts.types();
        let (path, query) = match stimulus.path.contains('?') {
            true => (target, ""),
            false => target.split_once('?').unwrap_or((target, "")),
        };
        let mut texts: Vec<(usize, String)> = Vec::new();
        for (position, text) in stimulus.path.take_apart(path)? {
            // A parameter is one part of a path.
            if text.is_empty() || text.contains('/') {
                return None;
            }
            texts.push((position, decode(text)));
        }
        let pairs: Vec<(String, String)> = query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .map(|(name, value)| (from_form(name), from_form(value)))
            .collect();
        for position in &stimulus.query {
            let name = &label.parameters[*position].name;
            let found = pairs.iter().find(|(own, _)| own == name);
            texts.extend(found.map(|(_, value)| (*position, value.clone())));
        }
        let mut values = vec![Value::Void; label.parameters.len()];
        for (position, text) in texts {
            let parameter = &label.parameters[position];
            match read_text(&text, &parameter.ty, types) {
                Ok(value) => values[position] = value,
                Err(Mismatch(why)) => {
                    return Some(Err(Mismatch(format!("{}: {why}", parameter.name))));
                }
            }
        }
        if let Some(shape) = &stimulus.body {
            let body = match body.trim() {
                "" => "{}",
                text => text,
            };
            match shape.read(body, label, types, &mut values)? {
                Ok(()) => {}
                Err(mismatch) => return Some(Err(mismatch)),
            }
        }
        Some(Ok(Action { label: id, values }))
    }
}

/// Text as it was before it became a part of a query, where a space may be a plus.
fn from_form(text: &str) -> String {
    decode(&text.replace('+', " "))
}

/// Text as it was before it became a part of a path.
fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = text.get(at + 1..at + 3);
        let byte = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match (bytes[at], byte) {
            (b'%', Some(byte)) => {
                out.push(byte);
                at += 3;
            }
            (other, _) => {
                out.push(other);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ioco_sts::Direction;
    use proptest::prelude::*;

    use super::*;
    use crate::http::HttpMapping;

    const MODEL: &str = "
external 'shop'
enum 'Kind', 'small', 'big'
process('shop') {
  channel('shop') {
    stimulus 'order', {'id' => :integer, 'kind' => 'Kind', 'note' => :string}
    stimulus 'find', {'id' => :integer, 'note' => :string}
    stimulus 'all'
    stimulus 'greet', {'note' => :string}
    response 'ok'
  }
  state 'idle'
  repeat {
    o { receive 'order', constraint: 'id != :void'; send 'ok' }
    o { receive 'find', constraint: 'id != :void'; send 'ok' }
    o { receive 'all'; send 'ok' }
    o { receive 'greet', constraint: 'note != :void'; send 'ok' }
  }
}
";

    fn mapped() -> Mapped {
        let sts = ioco_aml::load_text("shop.aml", MODEL).sts.expect("a model");
        let json = serde_json::json!({
            "reset": {"path": "/reset"},
            "stimuli": {
                "order": {"method": "PUT", "path": "/orders/{id}"},
                "find": {"method": "GET", "path": "/orders/{id}"},
                "all": {"method": "GET", "path": "/orders/all"},
                "greet": {"method": "POST", "path": "/greet", "body": {"text": "hello {note}!"}},
            },
        });
        let mapping: HttpMapping = serde_json::from_value(json).expect("a mapping");
        Mapped::new(Arc::clone(&sts), &mapping).expect("it fits")
    }

    fn ask(mapped: &Mapped, action: &Action) -> RequestMeaning {
        let request = mapped.request(action).expect("a request");
        let body = String::from_utf8(request.body.unwrap_or_default()).expect("text");
        mapped.asked(&request.method, &request.path, &body, &mut |_| true)
    }

    proptest! {
        #[test]
        fn a_request_is_the_stimulus_it_was_made_from(id: i64, big: bool, note in "\\PC{0,12}") {
            let mapped = mapped();
            let label = |name| mapped.sts.label_named(Direction::Stimulus, name).expect("known");
            let kind = ioco_sts::Value::Enum(ioco_sts::EnumId(0), big.into());
            let text = Value::from(note.as_str());
            for (name, values) in [
                ("order", vec![id.into(), kind, text.clone()]),
                ("find", vec![id.into(), text.clone()]),
                ("all", vec![]),
                ("greet", vec![text]),
            ] {
                let action = Action { label: label(name), values };
                prop_assert_eq!(ask(&mapped, &action), RequestMeaning::Stimulus(action));
            }
        }
    }

    #[test]
    fn requests_that_are_no_stimulus_are_recognised() {
        let mapped = mapped();
        let asked = |method: &str, target: &str, body: &str| {
            mapped.asked(method, target, body, &mut |_| true)
        };
        assert_eq!(asked("POST", "/reset", ""), RequestMeaning::Reset);
        assert_eq!(asked("GET", "/favicon.ico", ""), RequestMeaning::Nothing);
        let other = |asked| matches!(asked, RequestMeaning::Other(_));
        assert!(other(asked("DELETE", "/orders/1", "")));
        assert!(other(asked("GET", "/orders/first", "")));
        assert!(other(asked("PUT", "/orders/1", "{\"kind\":\"huge\"}")));
        assert!(other(asked("PUT", "/orders/1/2", "{}")));
    }

    #[test]
    fn of_stimuli_that_are_the_same_request_the_one_is_meant_that_the_model_takes() {
        let model = "external 'c'\nprocess('p') {\n  channel('c') {\n    \
                     stimulus 'named', {'name' => :string}\n    stimulus 'numbered', {'number' => :integer}\n    \
                     response 'ok'\n  }\n  state 'idle'\n  \
                     repeat { o { receive 'named'; send 'ok' } o { receive 'numbered'; send 'ok' } }\n}\n";
        let sts = ioco_aml::load_text("m.aml", model).sts.expect("a model");
        let json = serde_json::json!({"stimuli": {
            "named": {"method": "GET", "path": "/posts/{name}"},
            "numbered": {"method": "GET", "path": "/posts/{number}"},
        }});
        let mapping: HttpMapping = serde_json::from_value(json).expect("a mapping");
        let mapped = Mapped::new(Arc::clone(&sts), &mapping).expect("it fits");
        let label = |name| sts.label_named(Direction::Stimulus, name).expect("known");
        for wanted in ["named", "numbered"] {
            let mut takes = |action: &Action| action.label == label(wanted);
            let meant = mapped.asked("GET", "/posts/7", "", &mut takes);
            let is_wanted =
                matches!(&meant, RequestMeaning::Stimulus(action) if action.label == label(wanted));
            assert!(is_wanted, "{wanted}: {meant:?}");
        }
        let named = mapped.asked("GET", "/posts/7", "", &mut |_| false);
        assert!(matches!(named, RequestMeaning::Stimulus(_)));
    }
}
