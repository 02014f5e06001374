//! One public automaton as the specification, another as the implementation: testing and `auto`
//! together find the shortest words on which they differ.

use std::path::Path;
use std::sync::Arc;

use ioco_formats::dot::{MealyOptions, read};
use ioco_shrink::{Options, Pipeline, Runner, shrink};
use ioco_sts::{
    Action, Deviation, DeviationKind, Direction, EvaluationOnly, Execution, LabelId, Observed,
    Relation, Semantics, Step, Sts, Verdict,
};

fn automaton(name: &str) -> Option<Arc<Sts>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/bench/lts");
    let text = std::fs::read_to_string(folder.join(format!("{name}.dot"))).ok()?;
    let sts = read(name, &text, &MealyOptions::default()).expect("a readable automaton");
    Some(Arc::new(sts))
}

fn semantics(sts: &Arc<Sts>) -> Semantics {
    Semantics::new(Arc::clone(sts), Box::new(EvaluationOnly), Relation::Ioco)
}

/// An automaton that plays the system: deterministic, so that one response or silence follows.
struct Played {
    model: Semantics,
    played: Semantics,
}

impl Played {
    fn label(from: &Sts, to: &Sts, label: LabelId) -> Option<LabelId> {
        let label = from.label(label);
        to.label_named(label.direction, &label.name)
    }

    /// The stimuli that both know.
    fn alphabet(&self) -> Vec<Action> {
        let (model, played) = (self.model.sts(), self.played.sts());
        let known = model.labels_of(Direction::Stimulus);
        let known = known.filter(|label| Played::label(model, played, *label).is_some());
        known.map(Action::plain).collect()
    }
}

impl Runner for Played {
    fn run(&mut self, stimuli: &[Action]) -> Execution {
        let (model, played) = (Arc::clone(self.model.sts()), Arc::clone(self.played.sts()));
        let (mut set, mut state) = (self.model.initial(), self.played.initial());
        let mut trace = Vec::new();
        let fail = |trace, states, kind, observed| Execution {
            trace,
            verdict: Verdict::Fail(Deviation {
                kind,
                observed,
                states,
            }),
        };
        for stimulus in stimuli {
            let step = Step::Stimulus(stimulus.clone());
            let theirs = Played::label(&model, &played, stimulus.label).map(Action::plain);
            let given = theirs.and_then(|a| self.played.after(state, &Step::Stimulus(a)));
            let (Some(next), Some(given)) = (self.model.after(set, &step), given) else {
                let verdict = Verdict::inconclusive(ioco_sts::Cause::NotOffered, "not offered");
                return Execution { trace, verdict };
            };
            (set, state) = (next, given);
            trace.push(step);
            while let Some(offer) = self.played.menu(state).responses.first().cloned() {
                let response = Step::Response(Action::plain(offer.label));
                state = self.played.after(state, &response).expect("offered");
                let states = Arc::clone(self.model.set(set));
                let Some(label) = Played::label(&played, &model, offer.label) else {
                    let name = played.label(offer.label).name.clone();
                    let kind = DeviationKind::UnexpectedResponse;
                    return fail(trace, states, kind, Observed::Unknown(name));
                };
                let action = Action::plain(label);
                let step = Step::Response(action.clone());
                let Some(next) = self.model.after(set, &step) else {
                    let kind = DeviationKind::UnexpectedResponse;
                    return fail(trace, states, kind, Observed::Response(action));
                };
                set = next;
                trace.push(step);
            }
            let states = Arc::clone(self.model.set(set));
            let Some(next) = self.model.after(set, &Step::Quiescence) else {
                let observed = Observed::Silence(0);
                return fail(trace, states, DeviationKind::MissingResponse, observed);
            };
            set = next;
            trace.push(Step::Quiescence);
        }
        let verdict = Verdict::Pass;
        Execution { trace, verdict }
    }
}

/// Ten random tests that fail, and how many stimuli `auto` leaves of each.
fn check(specification: &str, implementation: &str, shortest: usize) {
    let (Some(model), Some(played)) = (automaton(specification), automaton(implementation)) else {
        eprintln!("skipped: no public automata here");
        return;
    };
    let mut runner = Played {
        model: semantics(&model),
        played: semantics(&played),
    };
    let alphabet = runner.alphabet();
    let pipeline: Pipeline = "auto".parse().expect("the default");
    let mut seed = 5u64;
    let mut found = 0;
    for _ in 0..200 {
        let stimuli: Vec<Action> = (0..60)
            .map(|_| {
                seed = seed
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
                alphabet[(seed >> 33) as usize % alphabet.len()].clone()
            })
            .collect();
        let failure = runner.run(&stimuli);
        if failure.deviation().is_none() {
            continue;
        }
        let options = Options::default();
        let shrunk = shrink(
            &pipeline,
            &mut semantics(&model),
            &failure,
            &mut runner,
            &options,
            &mut (),
        )
        .expect("a failing trace");
        let shown: Vec<String> = shrunk.execution.stimuli().map(|a| a.show(&model)).collect();
        assert_eq!(
            shown.len(),
            shortest,
            "{specification} {implementation}: {shown:?}"
        );
        found += 1;
        if found == 10 {
            return;
        }
    }
    panic!("{specification} {implementation}: only {found} random tests fail");
}

#[test]
fn mosquitto_and_hbmqtt_differ_after_two_connects() {
    check("mqtt_mosquitto", "mqtt_hbmqtt", 2);
}

#[test]
fn mosquitto_and_activemq_differ_after_five_stimuli() {
    check("mqtt_mosquitto", "mqtt_activemq", 5);
}

#[test]
fn ubuntu_and_windows_differ_at_once() {
    check("tcp_server_ubuntu", "tcp_server_windows", 1);
}

#[test]
fn openssl_and_nss_differ_at_once() {
    check("tls_openssl_1.0.2_server", "tls_nss_3.17.4_server", 1);
}

#[test]
fn two_bluetooth_chips_differ_at_once() {
    check("ble_cyw43455", "ble_nrf52832", 1);
}
