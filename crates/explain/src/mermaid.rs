//! An explanation as a Mermaid sequence diagram.

use ioco_engine::{Explanation, Side};

/// The text of a `sequenceDiagram`.
pub fn mermaid(explanation: &Explanation) -> String {
    let mut text = String::from("sequenceDiagram\n    autonumber\n");
    text.push_str("    participant T as tester\n");
    text.push_str(&format!(
        "    participant S as {}\n",
        escaped(&explanation.system)
    ));
    for row in &explanation.rows {
        let what = escaped(&row.text);
        text.push_str(&match (row.side, row.deviates) {
            (Side::Tester, _) => format!("    T->>S: {what}\n"),
            (Side::System, false) => format!("    S-->>T: {what}\n"),
            (Side::System, true) => format!("    S--xT: {what}\n"),
            (Side::Silence, false) => format!("    Note over S: {what}\n"),
            (Side::Silence, true) => format!("    Note over S: ✗ {what}\n"),
        });
        if let Some(note) = &row.note {
            text.push_str(&format!("    Note right of S: {}\n", escaped(note)));
        }
    }
    let title = escaped(&format!("{} {}", explanation.code, explanation.title));
    text.push_str(&format!("    Note over T,S: {title}\n"));
    if !explanation.allowed.is_empty() {
        let allowed = escaped(&explanation.allowed.join(", "));
        text.push_str(&format!("    Note over T,S: allowed: {allowed}\n"));
    }
    text
}

/// Characters that end a statement or begin an entity are written as entities.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '#' => escaped.push_str("#35;"),
            ';' => escaped.push_str("#59;"),
            '<' => escaped.push_str("#lt;"),
            '>' => escaped.push_str("#gt;"),
            '\n' | '\r' => escaped.push(' '),
            other => escaped.push(other),
        }
    }
    escaped
}
