//! Models inside SVG pictures: the picture carries the system it shows, as ioco's own JSON, in an
//! element that programs which show pictures pass over.

use ioco_budget::Budget;

use ioco_sts::Sts;

use super::{FormatError, json, lines};

const OPEN: &str = "<metadata id=\"ioco-model\">";
const CLOSE: &str = "</metadata>";

/// A picture with the system in it. The text comes from a drawing of it.
pub fn embed(picture: &str, sts: &Sts) -> String {
    let model = escape(&json::write(sts));
    let place = picture.rfind("</svg>").unwrap_or(picture.len());
    let (before, after) = picture.split_at(place);
    format!("{before}{OPEN}{model}{CLOSE}\n{after}")
}

/// The system that a picture carries, within the usual limits.
pub fn read(text: &str) -> Result<Sts, FormatError> {
    read_within(text, &Budget::default())
}

/// The system that a picture carries, within limits, which it keeps.
pub fn read_within(text: &str, budget: &Budget) -> Result<Sts, FormatError> {
    let Some((_, rest)) = text.split_once(OPEN) else {
        return Err(FormatError::new(
            0,
            "this picture carries no model; only pictures from `ioco convert` do",
        ));
    };
    let Some((model, _)) = rest.split_once(CLOSE) else {
        let line = lines::line_of_part(text, rest);
        return Err(FormatError::new(line, "the model does not end"));
    };
    let before = lines::line_of_part(text, model) - 1;
    json::read_within(&unescape(model), budget).map_err(|error| FormatError {
        line: if error.line > 0 {
            error.line + before
        } else {
            0
        },
        ..error
    })
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

fn unescape(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}
