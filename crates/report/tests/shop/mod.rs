//! A run against a shop that forgets what was paid before, in virtual time: the same every time.

use std::sync::Arc;

use ioco_engine::{
    Command, Event, EventLevel, FailureContext, FailureFile, Input, Sender, Settings,
    StopConditions, TestReport, Tester, WireLine,
};
use ioco_solve::GuardSolver;
use ioco_sts::{Action, Direction, Execution, Relation, Semantics, Sts, Value};

const TEXT: &str = "\
timeout 0.5
external 'shop'
process('shop') {
  channel('shop') {
    stimulus 'pay', {'amount' => :integer}
    stimulus 'leave'
    response 'thanks', {'total' => :integer}
    response 'bye'
  }
  var 'paid', :integer, 0
  state 'open'
  repeat {
    o { receive 'pay', constraint: 'amount > 0 && amount <= 20', update: 'paid = paid + amount'
        send 'thanks', constraint: 'total == paid' }
    o { receive 'leave'; send 'bye'; goto 'closed' }
  }
  state 'closed'
  repeat { o { receive 'leave'; send 'bye' } }
}
";

pub struct Shop {
    pub sts: Arc<Sts>,
    pub events: Vec<Event>,
    pub failures: Vec<FailureFile>,
}

impl Shop {
    pub fn new() -> Shop {
        let sts = ioco_aml::load_text("shop.aml", TEXT).sts.expect("a model");
        let settings = Settings {
            seed: 3,
            events: EventLevel::Steps,
            stop: StopConditions {
                tests: Some(6),
                failures: None,
                ..StopConditions::default()
            },
            ..Settings::default()
        };
        let mut tester = Tester::new(semantics(&sts), settings);
        let mut events = Vec::new();
        let mut failures = Vec::new();
        let mut now = 0;
        // The second and the fifth fail in the same way; the last gets no system.
        for stimuli in [
            vec![leave(&sts)],
            vec![pay(&sts, 3), pay(&sts, 4)],
            vec![pay(&sts, 5), leave(&sts)],
            vec![leave(&sts), leave(&sts)],
            vec![pay(&sts, 5), pay(&sts, 6)],
            vec![pay(&sts, 1)],
        ] {
            let first = tester.scripted_test(stimuli, now);
            let report = run_test(&mut tester, first, &sts, &mut now);
            if report.is_new_failure {
                failures.push(kept(&sts, &report));
            }
            events.extend(tester.take_events());
        }
        assert!(tester.next_test(now).is_none(), "all tests are run");
        events.extend(tester.take_events());
        Shop {
            sts,
            events,
            failures,
        }
    }

    pub fn semantics(&self) -> Semantics {
        semantics(&self.sts)
    }
}

fn pay(sts: &Sts, amount: i64) -> Action {
    Action {
        label: sts
            .label_named(Direction::Stimulus, "pay")
            .expect("a label"),
        values: vec![Value::Int(amount)],
    }
}

fn leave(sts: &Sts) -> Action {
    Action::plain(
        sts.label_named(Direction::Stimulus, "leave")
            .expect("a label"),
    )
}

fn semantics(sts: &Arc<Sts>) -> Semantics {
    Semantics::new(
        Arc::clone(sts),
        Box::new(GuardSolver::new()),
        Relation::Ioco,
    )
}

fn run_test(tester: &mut Tester, first: Command, sts: &Sts, now: &mut u64) -> TestReport {
    let named = |name: &str| sts.label_named(Direction::Response, name).expect("a label");
    let pay = sts.label_named(Direction::Stimulus, "pay");
    let mut command = first;
    let mut answer: Option<Action> = None;
    loop {
        *now += 1_000_000;
        let input = match command {
            Command::Finished => return tester.finished_test(),
            Command::Reset { .. } if tester.summary().tests == 5 => {
                Input::AdapterError("the system ended: exit status 1".to_owned())
            }
            Command::Reset { .. } => Input::Ready,
            _ if answer.is_some() => answer.take().map_or(Input::Silence, Input::Response),
            Command::Give(stimulus) => {
                answer = Some(if Some(stimulus.label) == pay {
                    Action {
                        label: named("thanks"),
                        values: stimulus.values.clone(),
                    }
                } else {
                    Action::plain(named("bye"))
                });
                Input::Given { overtaken: false }
            }
            Command::Await { until } => {
                *now = until;
                Input::Silence
            }
        };
        command = tester.handle(input, *now);
    }
}

/// As a campaign keeps it; shrunk to the same trace with smaller values.
fn kept(sts: &Arc<Sts>, report: &TestReport) -> FailureFile {
    let small = shrunk(sts);
    let context = FailureContext {
        model_hash: "1234".to_owned(),
        seed: 3,
        wire: vec![
            WireLine::new(1, Sender::Tester, b"pay\n"),
            WireLine::new(1_500_000, Sender::Log, b"<till> 3 \x1b[1mcoins"),
        ],
        shrunk: Some((small, 9)),
        confirmed: Some((3, 3)),
        ..FailureContext::default()
    };
    FailureFile::new(sts, report, context).expect("it failed")
}

fn shrunk(sts: &Arc<Sts>) -> Execution {
    let one = pay(sts, 1);
    let mut tester = Tester::new(semantics(sts), Settings::default());
    let mut now = 0;
    let first = tester.script(vec![one.clone(), one], 0);
    run_test(&mut tester, first, sts, &mut now).execution
}
