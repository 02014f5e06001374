//! What NuSMV is asked and how its answers are read, for figures of the same run. Starting the program is the caller's.

use super::{COVERED, INFEASIBLE, NOT_ASKED, Row, UNKNOWN};
use ioco_smv::goal::Goal;

/// The names of its rows: one process for every goal, and one for all.
pub const A: &str = "nusmv-a";
pub const B: &str = "nusmv-b";

/// For both: reordering on; counterexamples are not built, which only makes it faster; commands come from a script.
pub const FLAGS: [&str; 3] = ["-dynamic", "-dcx", "-int"];

pub fn is_row(row: &Row) -> bool {
    row.technique == A || row.technique == B
}

const READ: &str = "read_model\nflatten_hierarchy\nencode_variables\nbuild_model\n";

/// Stands before every answer, so that a question that NuSMV refuses shifts none of the others.
const MARK: &str = "question";

/// The script for all goals in one process (figure B): `check_invar` for each.
pub fn script_all(file: &str, goals: &[Goal]) -> String {
    let mut text = format!("set input_file \"{file}\"\n{READ}");
    for (index, goal) in goals.iter().enumerate().filter(|(_, goal)| can_ask(goal)) {
        text.push_str(&format!(
            "echo {MARK} {index}\ncheck_invar -p \"!({})\"\n",
            goal.text
        ));
    }
    text.push_str(&format!("echo {MARK} end\nquit\n"));
    text
}

/// The script for one goal (figure A): the cone of influence and a property in temporal logic.
pub fn script_one(file: &str, index: usize, goal: &Goal) -> String {
    format!(
        "set input_file \"{file}\"\nset cone_of_influence 1\n{READ}echo {MARK} {index}\ncheck_ctlspec -p \"AG !({})\"\necho {MARK} end\nquit\n",
        goal.text
    )
}

/// NuSMV's prompt takes `;` for the end of a command, and invariants cannot mention steps.
pub fn can_ask(goal: &Goal) -> bool {
    !goal.transition && !goal.text.contains(';') && !goal.text.contains("_process_selector_")
}

/// Enters the answers into the letters of the goals. A question that it went past without an answer was refused and
/// counts as not asked; one that it did not come to the end of is unknown.
pub fn enter(output: &str, letters: &mut [char]) {
    let mut open = None;
    for line in output.lines() {
        if let Some((_, rest)) = line.split_once(MARK)
            && !line.contains("--")
        {
            // Only the first mark of a line counts; there is one, after the prompts of commands that said nothing.
            if let Some(index) = open.take() {
                set(letters, index, NOT_ASKED);
            }
            open = rest.trim().parse::<usize>().ok();
            if let Some(index) = open {
                set(letters, index, UNKNOWN);
            }
        } else if line.contains("-- invariant") || line.contains("-- specification") {
            let line = line.trim_end();
            let letter = if line.ends_with("is false") {
                COVERED
            } else if line.ends_with("is true") {
                INFEASIBLE
            } else {
                continue;
            };
            if let Some(index) = open.take() {
                set(letters, index, letter);
            }
        }
    }
}

fn set(letters: &mut [char], index: usize, letter: char) {
    if let Some(place) = letters.get_mut(index) {
        *place = letter;
    }
}

/// Some of the goals, the same ones every time.
pub fn sample(goals: usize, number: usize) -> Vec<usize> {
    ioco_smv::goal::pick(goals as u64, number, 1)
        .into_iter()
        .filter_map(|position| usize::try_from(position).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_question_shifts_no_other_answer() {
        let output = "NuSMV > NuSMV > question 0\nNuSMV > -- invariant !(x = 1)  is false\n\
                      NuSMV > question 1\nNuSMV > question 2\n\
                      NuSMV > -- invariant !(x = 3)  is true\nNuSMV > question 3\n";
        let mut letters = vec![UNKNOWN; 5];
        enter(output, &mut letters);
        assert_eq!(letters.iter().collect::<String>(), "C-IUU");
    }
}
