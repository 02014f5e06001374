//! What NuSMV is asked and how its answers are read, for figures of the same run. Starting the program is the caller's.

use crate::goal::Goal;

/// The script for all goals in one process (figure B): reordering on, `check_invar` for each.
pub fn script_all(file: &str, goals: &[Goal]) -> String {
    let mut text = format!(
        "set input_file \"{file}\"\nread_model\nflatten_hierarchy\nencode_variables\nbuild_model\n"
    );
    for goal in goals.iter().filter(|goal| can_ask(goal)) {
        text.push_str(&format!("check_invar -p \"!({})\"\n", goal.text));
    }
    text.push_str("quit\n");
    text
}

/// The script for one goal (figure A).
pub fn script_one(file: &str, goal: &Goal) -> String {
    format!(
        "set input_file \"{file}\"\nset cone_of_influence 1\nread_model\nflatten_hierarchy\nencode_variables\nbuild_model\ncheck_ctlspec -p \"AG !({})\"\nquit\n",
        goal.text
    )
}

/// NuSMV's prompt takes `;` for the end of a command, and invariants cannot mention steps.
pub fn can_ask(goal: &Goal) -> bool {
    !goal.transition && !goal.text.contains(';') && !goal.text.contains("_process_selector_")
}

/// The answers in the order of the questions: true when the goal can be reached.
pub fn answers(output: &str) -> Vec<bool> {
    output
        .lines()
        .filter(|line| line.contains("-- invariant") || line.contains("-- specification"))
        .filter_map(|line| {
            let line = line.trim_end();
            if line.ends_with("is false") {
                Some(true)
            } else if line.ends_with("is true") {
                Some(false)
            } else {
                None
            }
        })
        .collect()
}

/// Some of the goals, the same ones every time.
pub fn sample(goals: usize, number: usize) -> Vec<usize> {
    crate::goal::pick(goals as u64, number, 1)
        .into_iter()
        .filter_map(|position| usize::try_from(position).ok())
        .collect()
}
