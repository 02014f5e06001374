//! A test as a person reads it: the steps one below the other, and what else is allowed.

use ioco_generate::tree::{Allowed, Branch, Tree};
use ioco_sts::{Action, Sts, show_expr};

pub fn test(number: usize, tree: &Tree, sts: &Sts) -> String {
    let steps = tree.steps.len();
    let plural = if steps == 1 { "" } else { "s" };
    let mut text = format!("test {number}  {steps} step{plural}\n");
    write(&mut text, tree, sts, 0, 0);
    text
}

fn write(text: &mut String, tree: &Tree, sts: &Sts, before: usize, indent: usize) {
    let margin = " ".repeat(indent);
    for (number, step) in tree.steps.iter().enumerate() {
        text.push_str(&format!(
            "{margin}{:>5}  {}\n",
            before + number + 1,
            step.show(sts)
        ));
        for branch in tree.branches.iter().filter(|branch| branch.after == number) {
            let response = response(branch, sts);
            match &branch.then {
                Some(then) if then.steps.is_empty() => {
                    text.push_str(&format!("{margin}       or {response}: also right\n"));
                }
                Some(then) => {
                    text.push_str(&format!("{margin}       or {response}, then\n"));
                    write(text, then, sts, before + number + 1, indent + 4);
                }
                None => {
                    text.push_str(&format!("{margin}       or {response}: inconclusive\n"));
                }
            }
        }
    }
}

fn response(branch: &Branch, sts: &Sts) -> String {
    match &branch.allowed {
        Allowed::Values(values) => Action {
            label: branch.label,
            values: values.clone(),
        }
        .show(sts),
        Allowed::Where(condition) => {
            let name = sts.label(branch.label).marked_name();
            match show_expr(sts, Some(branch.label), condition).as_str() {
                "true" => format!("{name} with any values"),
                shown => format!("{name} where {shown}"),
            }
        }
    }
}
