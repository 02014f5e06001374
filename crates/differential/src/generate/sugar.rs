//! The same model with constants, loops, macros and requirements: another text of the same meaning.

use std::fmt::Write as _;

use rand::RngExt as _;

use super::draft::{Edge, Gate, HOLE, Written};
use super::{Dice, dice, one_in, pick};

/// Chooses how each edge is written.
pub struct Sugar {
    dice: Dice,
    macros: usize,
    /// What stands at the top of the file.
    pub declarations: String,
}

const QUOTES: [[&str; 2]; 2] = [["%(", ")"], ["\"", "\""]];

impl Sugar {
    pub fn new(seed: u64) -> Sugar {
        let declarations = "TWO = 2\nrequirement 'R-1', 'It says so.'\n".to_owned();
        Sugar {
            dice: dice(seed),
            macros: 0,
            declarations,
        }
    }

    /// Adds the option, or the loop over options, that this edge is.
    pub fn option(&mut self, edge: &Edge, step: &Written<'_>, out: &mut String) {
        if one_in(&mut self.dice, 5) {
            let _ = writeln!(out, "    requirement 'R-1'");
        }
        if let Some((low, high)) = edge.each {
            let line = self.line(&edge.filled("#{n}"), step);
            let items: Vec<String> = (low..=high).map(|n| n.to_string()).collect();
            let range = match one_in(&mut self.dice, 2) {
                true => format!("({low}..{high})"),
                false => format!("[{}]", items.join(", ")),
            };
            let _ = writeln!(out, "    {range}.each {{ |n| o {{ {line} }} }}");
            return;
        }
        let label = step.label.clone().unwrap_or_default();
        let unnamed = Written {
            label: step.label.as_ref().map(|_| "name".to_owned()),
            jump: step.jump.clone(),
            ..*step
        };
        match self.dice.random_range(0..6) {
            0 if edge.gate != Gate::Tau => {
                let line = self.line(edge, &unnamed);
                let _ = writeln!(out, "    [{label}].each {{ |name| o {{ {line} }} }}");
            }
            1 if edge.gate != Gate::Tau => {
                self.macros += 1;
                let name = format!("step{}", self.macros);
                let (edge, number) = with_hole(edge);
                let line = self.line(&edge.filled("#{n}"), &unnamed);
                let _ = writeln!(self.declarations, "def {name}(name, n)\n  {line}\nend");
                let _ = writeln!(out, "    o {{ {name}({label}, {number}) }}");
            }
            2 => {
                let (edge, number) = with_hole(edge);
                let text = if number == "2" {
                    "#{TWO}"
                } else {
                    number.as_str()
                };
                let line = self.line(&edge.filled(text), step);
                let _ = writeln!(out, "    o {{ {line} }}");
            }
            _ => {
                let line = step.line(edge, ["'", "'"]);
                let _ = writeln!(out, "    o {{ {line} }}");
            }
        }
    }

    /// The statements with quotes in which names have values.
    fn line(&mut self, edge: &Edge, step: &Written<'_>) -> String {
        let quotes = *pick(&mut self.dice, &QUOTES);
        if quotes[0] == "%(" {
            return step.line(edge, quotes);
        }
        // Quotes inside of quotes are escaped.
        let escape = |text: &String| text.replace('"', "\\\"");
        let escaped = Edge {
            guard: edge.guard.iter().map(escape).collect(),
            update: edge
                .update
                .iter()
                .map(|(name, value)| (name.clone(), escape(value)))
                .collect(),
            ..edge.clone()
        };
        step.line(&escaped, quotes)
    }
}

/// The edge with a place for one of the numbers in its guard, and that number.
fn with_hole(edge: &Edge) -> (Edge, String) {
    let mut changed = edge.clone();
    for condition in &mut changed.guard {
        let words: Vec<&str> = condition.split(' ').collect();
        let is_number = |word: &&str| word.parse::<u32>().is_ok();
        let Some(at) = words.iter().position(is_number) else {
            continue;
        };
        let number = words[at].to_owned();
        let mut words: Vec<String> = words.into_iter().map(str::to_owned).collect();
        words[at] = HOLE.to_owned();
        *condition = words.join(" ");
        return (changed, number);
    }
    (changed, "0".to_owned())
}
