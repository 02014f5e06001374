//! Models that are not deterministic, and pruning (van den Broek 2024, sections 4.1 and 4.2).

use ioco_shrink::{BugKind, Options, Pruning, Runner as _};
use ioco_sts::{Action, Direction};

use crate::flat_model::{Transition, semantics, sts};
use crate::flat_runner::FlatRunner;
use crate::flat_systems::FlatSystem;
use crate::shrink_by;

fn transitions(text: &str) -> Vec<Transition> {
    text.split(", ")
        .map(|line| {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            (words[0].clone(), words[1].clone(), words[2].clone())
        })
        .collect()
}

/// Answers from a list: after these stimuli, the last of them gets these responses.
#[derive(Clone, Debug)]
struct Scripted {
    answers: Vec<(&'static str, &'static str)>,
    had: String,
}

impl FlatSystem for Scripted {
    fn give(&mut self, stimulus: &str) -> Vec<String> {
        self.had.push_str(stimulus);
        let known = self.answers.iter().find(|(end, _)| self.had.ends_with(end));
        let said = known.map_or("", |(_, said)| said);
        said.split_whitespace().map(str::to_owned).collect()
    }

    fn fork(&self) -> Box<dyn FlatSystem> {
        Box::new(self.clone())
    }
}

/// The stimuli that are left, joined.
fn shrunk(
    model: &str,
    answers: &[(&'static str, &'static str)],
    stimuli: &str,
    options: &Options,
) -> (String, BugKind) {
    let sts = sts("figure", &transitions(model));
    let answers = answers.to_vec();
    let mut runner = FlatRunner::new(&sts, move || {
        Box::new(Scripted {
            answers: answers.clone(),
            had: String::new(),
        }) as Box<dyn FlatSystem>
    });
    let stimulus = |name: char| sts.label_named(Direction::Stimulus, &name.to_string());
    let list: Vec<Action> = stimuli
        .chars()
        .map(|name| Action::plain(stimulus(name).expect("a stimulus")))
        .collect();
    let failure = runner.run(&list);
    assert!(failure.deviation().is_some());
    let mut model = semantics(&sts);
    let shrunk = shrink_by("sps-all-paths", &mut model, &failure, &mut runner, options);
    let shrunk = shrunk.expect("a failing trace");
    let names = shrunk
        .execution
        .stimuli()
        .map(|a| sts.label(a.label).name.clone());
    (names.collect(), shrunk.kind)
}

#[test]
fn a_choice_of_the_model_that_the_trace_settles_has_one_destination() {
    // Figure 4.1, with a loop to shrink: only the branch that says !x was taken.
    let model = "1 ?c 1, 1 ?a 2, 2 ?b 3, 2 ?b 4, 4 !x 5, 3 ?d 1, 5 ?d 1";
    let answers = [("b", "x error")];
    let left = shrunk(model, &answers, "ccab", &Options::default());
    assert_eq!(left, ("ab".to_owned(), BugKind::State));
}

#[test]
fn several_destinations_are_all_tried() {
    // After ?b both states are possible, and both demand nothing.
    let model = "1 ?c 1, 1 ?a 2, 2 ?b 3, 2 ?b 4, 3 ?d 1, 4 ?e 1";
    let answers = [("b", "error")];
    let left = shrunk(model, &answers, "cccab", &Options::default());
    assert_eq!(left, ("ab".to_owned(), BugKind::State));
}

#[test]
fn pruning_keeps_to_labels_or_transitions_of_the_trace() {
    // Figure 4.2 in small: ?y leads straight to the failing state 9, ?z is a short cut from 2.
    let model = "1 ?y 9, 1 ?a 2, 2 ?z 8, 2 ?b 3, 3 ?c 4, 4 ?z 8, 8 ?d 9, 9 ?f 1";
    let answers = [("yf", "error"), ("azdf", "error"), ("zdf", "error")];
    for (pruning, left) in [
        (Pruning::None, "yf"),
        (Pruning::Labels, "azdf"),
        (Pruning::Transitions, "abczdf"),
    ] {
        let options = Options {
            pruning,
            ..Options::default()
        };
        let found = shrunk(model, &answers, "abczdf", &options);
        assert_eq!(found.0, left, "{pruning:?}");
    }
}
