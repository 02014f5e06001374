//! A verdict of fail needs certainty: where states of a model are missing, nothing is concluded from
//! what the known ones do not allow.

use std::sync::Arc;

use ioco_engine::{Recorded, monitor};
use ioco_solve::Oracle;
use ioco_sts::{Action, Direction, Relation, Semantics, SetId, Step, Sts, Value, Verdict, Warning};

/// The model of a text that has no mistakes.
fn load(text: &str) -> Arc<Sts> {
    let loaded = ioco_aml::load_text("model.aml", text);
    let shown = loaded
        .diagnostics
        .iter()
        .filter(|d| d.is_error())
        .map(|d| ioco_aml::render(d, &loaded.files, false));
    let shown: Vec<String> = shown.collect();
    loaded.sts.unwrap_or_else(|| panic!("{}", shown.join("\n")))
}

struct Model {
    semantics: Semantics,
    warnings: Vec<Warning>,
}

impl Model {
    fn new(text: &str) -> Model {
        Model::related(text, Relation::Ioco)
    }

    fn related(text: &str, relation: Relation) -> Model {
        let semantics = Semantics::new(load(text), Box::new(Oracle::new()), relation);
        Model {
            semantics,
            warnings: Vec::new(),
        }
    }

    /// `?name`, `!name` or `δ`, with the values of the parameters.
    fn step(&self, marked: &str, values: &[Value]) -> Step {
        if marked == "δ" {
            return Step::Quiescence;
        }
        let direction = match &marked[..1] {
            "?" => Direction::Stimulus,
            _ => Direction::Response,
        };
        let label = self.semantics.sts().label_named(direction, &marked[1..]);
        let action = Action {
            label: label.unwrap_or_else(|| panic!("no label {marked}")),
            values: values.to_vec(),
        };
        match direction {
            Direction::Stimulus => Step::Stimulus(action),
            _ => Step::Response(action),
        }
    }

    fn after(&mut self, marked: &[&str]) -> Option<SetId> {
        let mut set = self.semantics.initial();
        for marked in marked {
            let step = self.step(marked, &[]);
            set = self.semantics.after(set, &step)?;
        }
        self.warnings.extend(self.semantics.take_warnings());
        Some(set)
    }

    /// What a passive tester says of a trace of plain steps, one nanosecond apart.
    fn verdict(&mut self, marked: &[&str]) -> Verdict {
        let steps: Vec<(Step, Vec<Value>)> = marked
            .iter()
            .map(|marked| (self.step(marked, &[]), Vec::new()))
            .collect();
        self.judge(steps.into_iter().map(|(step, _)| step))
    }

    fn judge(&mut self, steps: impl IntoIterator<Item = Step>) -> Verdict {
        let mut now = 0;
        let mut recorded = Vec::new();
        for step in steps {
            now += 1;
            match step {
                Step::Stimulus(action) => recorded.push((now, Recorded::Stimulus(action))),
                Step::Response(action) => recorded.push((now, Recorded::Response(action))),
                Step::Quiescence => now += 3_600_000_000_000,
            }
        }
        recorded.push((now, Recorded::End));
        monitor(&mut self.semantics, &recorded).verdict
    }
}

fn is_inconclusive(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Inconclusive(_))
}

/// A counter in a τ-loop, and what was counted shows after a response.
const COUNTER: &str = "
    external 'c'
    process('p') {
      channel('c') { responses 'out', 'low', 'high', 'other' }
      var 'n', :integer, 0
      state 'Count'
      choice {
        o { tau update: 'n = n + 1'; goto 'Count' }
        o { send 'out' }
      }
      state 'After'
      choice {
        o { send 'low', constraint: 'n < 5000'; goto 'End' }
        o { send 'high', constraint: 'n >= 5000'; goto 'End' }
      }
      state 'End'
      choice { o { send 'other', constraint: 'n < 0' } o { tau constraint: 'false' } }
    }";

#[test]
fn what_follows_from_a_truncated_set_is_truncated() {
    let mut model = Model::new(COUNTER);
    let out = model.after(&["!out"]).expect("allowed");
    assert!(model.semantics.set(out).truncated);
    let high = model.after(&["!out", "!high"]).expect("not forbidden");
    assert!(model.semantics.set(high).is_empty());
    assert!(is_inconclusive(&model.verdict(&["!out", "!high"])));
    // A set that an observation narrowed is still truncated.
    let low = model.after(&["!out", "!low"]).expect("allowed");
    assert!(model.semantics.set(low).truncated);
    assert_eq!(model.verdict(&["!out", "!low"]), Verdict::Pass);
    assert!(is_inconclusive(&model.verdict(&["!out", "!low", "!other"])));
}

#[test]
fn silence_is_neither_forbidden_nor_certain_where_states_are_missing() {
    let mut model = Model::new(COUNTER);
    // The internal steps may go on for ever.
    let silent = model.after(&["δ"]).expect("allowed");
    assert!(!model.semantics.set(silent).is_empty());
    // Every known state owes a response; a state that is missing need not.
    let out = model.after(&["!out"]).expect("allowed");
    assert!(model.semantics.menu(out).silence);
    assert!(is_inconclusive(&model.verdict(&["!out", "δ"])));
}

#[test]
fn under_uioco_no_stimulus_is_given_where_a_missing_state_may_refuse_it() {
    let text = "
        external 'c'
        process('p') {
          channel('c') { stimuli 'go'; responses 'out' }
          var 'n', :integer, 0
          state 'Count'
          choice {
            o { tau update: 'n = n + 1'; goto 'Count' }
            o { send 'out' }
          }
          state 'After'
          receive 'go', constraint: 'n < 5000'
          state 'End'
        }";
    for (relation, given) in [(Relation::Ioco, true), (Relation::Uioco, false)] {
        let mut model = Model::related(text, relation);
        let out = model.after(&["!out"]).expect("allowed");
        let Step::Stimulus(go) = model.step("?go", &[]) else {
            panic!("a stimulus");
        };
        assert_eq!(model.semantics.accepts(out, &go), given);
        assert_eq!(model.semantics.menu(out).stimuli.len(), usize::from(given));
    }
}

#[test]
fn the_union_with_a_truncated_set_is_truncated() {
    let mut model = Model::new(COUNTER);
    let out = model.after(&["!out"]).expect("allowed");
    let lost = model.after(&["!out", "!high"]).expect("not forbidden");
    let low = model.after(&["!out", "!low"]).expect("allowed");
    let both = model.semantics.union(lost, low);
    assert!(model.semantics.set(both).truncated);
    let both = model.semantics.union(out, low);
    assert!(model.semantics.set(both).truncated);
}

#[test]
fn a_process_without_a_time_out_of_its_own_counts_with_the_models() {
    let mut model = Model::new(
        "external 'c'
         timeout 5
         process('fast') {
           channel('c') { stimuli 'tick' }
           state 'Fast', timeout: 0.1
           receive 'tick'
           state 'End'
         }
         process('slow') {
           channel('c') { stimuli 'ask'; responses 'answer' }
           receive 'ask'
           send 'answer'
         }",
    );
    let asked = model.after(&["?ask"]).expect("allowed");
    assert_eq!(model.semantics.timeout(asked), 5_000_000_000);
    let flat = ioco_sts::flatten(model.semantics.sts(), 100).expect("small");
    let timeouts: Vec<Option<u64>> = flat.locations().iter().map(|l| l.timeout).collect();
    assert!(timeouts.iter().all(Option::is_none), "{timeouts:?}");
}
