//! Mermaid `stateDiagram-v2`, for pages that draw it themselves.

use std::fmt::Write as _;

use crate::ids::SwitchId;
use crate::sts::Sts;

use super::show_switch_label;

/// A text that Mermaid shows as it is, also where it holds signs of Mermaid's own language.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => escaped.push_str("<br>"),
            '\r' => {}
            // Entities are written `#code;` there, so these two come first.
            '#' | ';' | ':' | '"' | '<' | '>' | '{' | '}' | '[' | ']' | '|' | '%' | '\\' | '`' => {
                // Writing into a String cannot fail.
                let _ = write!(escaped, "#{};", u32::from(c));
            }
            _ => escaped.push(c),
        }
    }
    escaped
}

/// Draws a system; several processes become states that contain theirs.
pub fn write(sts: &Sts) -> String {
    let mut text = "stateDiagram-v2\n".to_owned();
    let nested = sts.processes().len() > 1;
    for (index, process) in sts.processes().iter().enumerate() {
        // Writing into a String cannot fail.
        if nested {
            let name = escape(&process.name);
            let _ = writeln!(text, "  state \"{name}\" as p{index} {{");
        }
        for (number, location) in sts.locations().iter().enumerate() {
            if location.process.index() == index {
                let name = escape(&location.name);
                let _ = writeln!(text, "  state \"{name}\" as l{number}");
            }
        }
        let _ = writeln!(text, "  [*] --> l{}", process.initial.0);
        for (number, switch) in sts.switches().iter().enumerate() {
            if sts.location(switch.source).process.index() == index {
                let label = escape(&show_switch_label(sts, SwitchId::from_index(number)));
                let (source, target) = (switch.source.0, switch.target.0);
                let _ = writeln!(text, "  l{source} --> l{target} : {label}");
            }
        }
        if nested {
            text.push_str("  }\n");
        }
    }
    text
}
