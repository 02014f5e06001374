//! A suite as text for people.

use ioco_sts::{Action, Step, Sts, show_expr};

use crate::tree::{Allowed, Tree};

pub fn begin(sts: &Sts) -> String {
    format!("Feature: {}\n", sts.name())
}

pub fn test(sts: &Sts, number: u64, name: &str, tree: &Tree) -> String {
    let mut text = format!("\n  Scenario: {number} {name}\n    Given the system is reset\n");
    steps(&mut text, sts, tree, 4);
    text
}

fn steps(text: &mut String, sts: &Sts, tree: &Tree, indent: usize) {
    let margin = " ".repeat(indent);
    let mut last = "";
    for (number, step) in tree.steps.iter().enumerate() {
        let keyword = match step {
            Step::Stimulus(_) => "When",
            Step::Response(_) | Step::Quiescence => "Then",
        };
        let shown = if keyword == last { "And" } else { keyword };
        last = keyword;
        let words = match step {
            Step::Stimulus(action) => format!("{} is given", in_words(sts, action)),
            Step::Response(action) => format!("{} is seen", in_words(sts, action)),
            Step::Quiescence => "nothing is seen".to_owned(),
        };
        text.push_str(&format!("{margin}{shown} {words}\n"));
        for branch in tree.branches.iter().filter(|b| b.after == number) {
            let what = match &branch.allowed {
                Allowed::Values(values) => in_words(
                    sts,
                    &Action {
                        label: branch.label,
                        values: values.clone(),
                    },
                ),
                Allowed::Where(condition) => {
                    let name = &sts.label(branch.label).name;
                    let shown = show_expr(sts, Some(branch.label), condition);
                    format!("\"{name}\" where {shown}")
                }
            };
            match &branch.then {
                None => text.push_str(&format!(
                    "{margin}  # or {what} is observed: allowed, but not what the test is for\n"
                )),
                Some(then) if then.steps.is_empty() => {
                    text.push_str(&format!("{margin}  # or {what} is seen: also right\n"));
                }
                Some(then) => {
                    text.push_str(&format!("{margin}  # or {what} is seen, and then:\n"));
                    let mut inner = String::new();
                    steps(&mut inner, sts, then, 0);
                    for line in inner.lines() {
                        text.push_str(&format!("{margin}  #   {line}\n"));
                    }
                }
            }
        }
    }
}

/// `"coin" with value = 5`.
fn in_words(sts: &Sts, action: &Action) -> String {
    let label = sts.label(action.label);
    let values: Vec<String> = label
        .parameters
        .iter()
        .zip(&action.values)
        .filter(|(_, value)| !value.is_void())
        .map(|(parameter, value)| format!("{} = {}", parameter.name, value.display(sts.types())))
        .collect();
    match values.is_empty() {
        true => format!("\"{}\"", label.name),
        false => format!("\"{}\" with {}", label.name, values.join(", ")),
    }
}
