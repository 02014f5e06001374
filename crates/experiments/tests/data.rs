//! Shrinking on models with data: the queue that defeats element removal, and small values.

use std::collections::BTreeMap;
use std::sync::Arc;

use ioco_examples::{Message, System};
use ioco_shrink::{Ended, Options, Pipeline, Runner, Shrunk, shrink};
use ioco_solve::GuardSolver;
use ioco_sts::{
    Action, Deviation, DeviationKind, Direction, Execution, Observed, Relation, Semantics, SetId,
    Step, Sts, Value, Verdict,
};

fn model(path: &str) -> Arc<Sts> {
    let folder = env!("CARGO_MANIFEST_DIR");
    let text = std::fs::read_to_string(format!("{folder}/../../examples/{path}"));
    let loaded = ioco_aml::load_text(path, &text.expect("a model of the examples"));
    loaded.sts.expect("a model without errors")
}

fn semantics(sts: &Arc<Sts>) -> Semantics {
    Semantics::new(
        Arc::clone(sts),
        Box::new(GuardSolver::new()),
        Relation::Ioco,
    )
}

/// A system with data, and its model beside it.
struct DataRunner {
    semantics: Semantics,
    system: Box<dyn System>,
}

impl DataRunner {
    fn new(sts: &Arc<Sts>, name: &str, mutant: Option<&str>) -> DataRunner {
        DataRunner {
            semantics: semantics(sts),
            system: ioco_examples::system(name, mutant).expect("a system of the examples"),
        }
    }

    fn message(&self, action: &Action) -> Message {
        let sts = self.semantics.sts();
        let label = sts.label(action.label);
        let mut message = Message::plain(&label.name);
        for (parameter, value) in label.parameters.iter().zip(&action.values) {
            let value = match value {
                Value::Enum(id, member) => Value::str(sts.types().member_name(*id, *member)),
                other => other.clone(),
            };
            message.values.push((parameter.name.clone(), value));
        }
        message
    }

    fn action(&self, message: &Message) -> Option<Action> {
        let sts = self.semantics.sts();
        let label = sts.label_named(Direction::Response, &message.label)?;
        let given: BTreeMap<&str, &Value> = message
            .values
            .iter()
            .map(|(n, v)| (n.as_str(), v))
            .collect();
        let values = sts.label(label).parameters.iter();
        let values = values.map(|p| {
            given
                .get(p.name.as_str())
                .map_or(Value::Void, |v| (*v).clone())
        });
        Some(Action {
            label,
            values: values.collect(),
        })
    }

    fn fail(
        &self,
        trace: Vec<Step>,
        set: SetId,
        kind: DeviationKind,
        observed: Observed,
    ) -> Execution {
        let states = Arc::clone(self.semantics.set(set));
        let verdict = Verdict::Fail(Deviation {
            kind,
            observed,
            states,
        });
        Execution { trace, verdict }
    }
}

impl Runner for DataRunner {
    fn run(&mut self, stimuli: &[Action]) -> Execution {
        self.system.reset();
        let mut set = self.semantics.initial();
        let mut trace = Vec::new();
        for stimulus in stimuli {
            let step = Step::Stimulus(stimulus.clone());
            let Some(next) = self.semantics.after(set, &step) else {
                let verdict = Verdict::inconclusive(ioco_sts::Cause::NotOffered, "not offered");
                return Execution { trace, verdict };
            };
            (set, _) = (next, trace.push(step));
            for response in self.system.give(&self.message(stimulus)) {
                let Some(action) = self.action(&response) else {
                    let observed = Observed::Unknown(response.label);
                    return self.fail(trace, set, DeviationKind::UnexpectedResponse, observed);
                };
                let step = Step::Response(action.clone());
                let Some(next) = self.semantics.after(set, &step) else {
                    let observed = Observed::Response(action);
                    return self.fail(trace, set, DeviationKind::UnexpectedResponse, observed);
                };
                (set, _) = (next, trace.push(step));
            }
            let Some(next) = self.semantics.after(set, &Step::Quiescence) else {
                let observed = Observed::Silence(self.semantics.timeout(set));
                return self.fail(trace, set, DeviationKind::MissingResponse, observed);
            };
            (set, _) = (next, trace.push(Step::Quiescence));
        }
        let verdict = Verdict::Pass;
        Execution { trace, verdict }
    }
}

fn shrunk(shrinker: &str, sts: &Arc<Sts>, runner: &mut DataRunner, stimuli: &[Action]) -> Shrunk {
    let failure = runner.run(stimuli);
    assert!(failure.deviation().is_some(), "a failing trace");
    let pipeline: Pipeline = shrinker.parse().expect("a shrinker");
    let options = Options::default();
    shrink(
        &pipeline,
        &mut semantics(sts),
        &failure,
        runner,
        &options,
        &mut (),
    )
    .expect("a trace")
}

/// A stimulus with integers for its parameters.
fn stimulus(sts: &Sts, name: &str, values: &[i64]) -> Action {
    Action {
        label: sts
            .label_named(Direction::Stimulus, name)
            .expect("a stimulus"),
        values: values.iter().map(|v| Value::Int(*v)).collect(),
    }
}

#[test]
fn a_queue_that_stops_at_42_needs_43_of_each_and_no_shrinker_gives_less() {
    let sts = model("queue/model.aml");
    let mut stimuli = Vec::new();
    for number in 0..50 {
        stimuli.push(stimulus(&sts, "enqueue", &[number % 7]));
        if number % 10 == 3 {
            stimuli.push(stimulus(&sts, "dequeue", &[]));
        }
    }
    for _ in 0..45 {
        stimuli.push(stimulus(&sts, "dequeue", &[]));
    }
    for shrinker in ["auto", "elem", "cycle+delta"] {
        let mut runner = DataRunner::new(&sts, "queue", Some("m01"));
        let shrunk = shrunk(shrinker, &sts, &mut runner, &stimuli);
        assert_eq!(shrunk.ended, Ended::Finished, "{shrinker}");
        let count = |name: &str| {
            let label = sts.label_named(Direction::Stimulus, name);
            shrunk
                .execution
                .stimuli()
                .filter(|a| Some(a.label) == label)
                .count()
        };
        let counts = (count("enqueue"), count("dequeue"));
        assert!(
            counts.0 >= 43 && counts.1 >= 43,
            "{shrinker}: {counts:?} cannot fail"
        );
        if shrinker == "auto" {
            assert_eq!(counts, (43, 43), "{} runs", shrunk.runs);
        }
    }
}

#[test]
fn values_become_small_and_simple_and_the_failure_stays() {
    let sts = model("smartdoor/model.aml");
    let mut runner = DataRunner::new(&sts, "smartdoor", Some("m04"));
    let stimuli = [
        stimulus(&sts, "open", &[]),
        stimulus(&sts, "close", &[]),
        stimulus(&sts, "lock", &[7412]),
        stimulus(&sts, "unlock", &[3391]),
    ];
    let shrunk = shrunk("auto", &sts, &mut runner, &stimuli);
    let shown: Vec<String> = shrunk.execution.stimuli().map(|a| a.show(&sts)).collect();
    assert_eq!(shrunk.execution.length(), 4, "{shown:?}");
    let largest = shrunk
        .execution
        .stimuli()
        .flat_map(|a| &a.values)
        .max()
        .cloned();
    assert!(largest <= Some(Value::Int(1)), "{shown:?}");
}
