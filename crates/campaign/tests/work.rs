//! Orders and outcomes as data: what a worker does with an order, and which it refuses.

use std::collections::VecDeque;
use std::time::Duration;

use ioco_campaign::work::{
    Executor, Order, Outcome, Recipe, SavedEnd, Task, WORK_VERSION, Worker, WorkerSetup,
};
use ioco_campaign::{
    Campaign, CampaignError, ConnectionSpec, ExecutorKind, FoundFailure, Interrupt, ModelOptions,
    NoObserver, Observer, Plan, Project, ShrinkSettings, SolverChoice, SystemName, TestSettings,
    Transport, model,
};
use ioco_engine::{Bits, Coverage, Tester};
use tempfile::TempDir;

const LAMP: &str = "
timeout 1
external 'wire'
process('lamp') {
  channel('wire') {
    stimulus 'press'
    stimulus 'set', { 'level' => :integer }
    response 'on'
    response 'level', { 'level' => :integer }
  }
  repeat {
    o { receive 'press'; send 'on' }
    o { receive 'set', constraint: 'level > 0 && level < 10'; send 'level', constraint: 'level == 3' }
  }
}
";

fn setup(folder: &TempDir) -> WorkerSetup {
    let file = folder.path().join("lamp.aml");
    std::fs::write(&file, LAMP).expect("written");
    let project = Project {
        root: folder.path().to_owned(),
        model: Some(file),
        ..Project::default()
    };
    let options = ModelOptions::default();
    let model = model::load(&options, &project, &mut NoObserver);
    let model = model.unwrap_or_else(|error| panic!("{}", error.message));
    let reach = ConnectionSpec::of_way(Transport::Simulated(5), false, &project);
    WorkerSetup {
        name: "here".to_owned(),
        model,
        reach: reach.unwrap_or_else(|error| panic!("{}", error.message)),
        project,
        solver: SolverChoice::Embedded,
        interrupt: Interrupt::default(),
    }
}

fn order(setup: &WorkerSetup, number: u64, strategy: &str) -> Order {
    Order {
        version: WORK_VERSION,
        campaign: "c".to_owned(),
        number,
        model: setup.model.hash.clone(),
        system: SystemName::Simulated(5),
        recipe: Recipe {
            seed: 11,
            strategy: strategy.to_owned(),
            weights: Default::default(),
            query: None,
            uioco: false,
            solver: None,
            timeout: None,
            silence: None,
        },
        time: None,
        task: Task::Strategy {
            test: number,
            steps: 30,
            beginning: Vec::new(),
            known: Coverage::new(&setup.model.sts).map(0),
            aim: Bits::default(),
            reserved: Bits::default(),
            lessons: Vec::new(),
        },
    }
}

fn run(worker: &mut Worker, order: &Order) -> Outcome {
    worker
        .run(order)
        .unwrap_or_else(|error| panic!("{}", error.message))
}

#[test]
fn an_order_and_its_outcome_travel_as_json() {
    let folder = tempfile::tempdir().expect("a folder");
    let setup = setup(&folder);
    for strategy in ["random", "transitions", "data", "locations"] {
        let order = order(&setup, 4, strategy);
        let text = serde_json::to_string(&order).expect("JSON");
        let read: Order = serde_json::from_str(&text).expect("an order");
        assert_eq!(read, order);
        let outcome = run(&mut Worker::new(setup.clone()), &read);
        let text = serde_json::to_string(&outcome).expect("JSON");
        assert_eq!(serde_json::from_str::<Outcome>(&text).ok(), Some(outcome));
    }
}

#[test]
fn an_order_says_all_that_its_test_depends_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let setup = setup(&folder);
    for strategy in ["random", "transitions", "data"] {
        let mut used = Worker::new(setup.clone());
        for number in 1..=6 {
            run(&mut used, &order(&setup, number, strategy));
        }
        // The system that the model plays has a generator of its own, which is the same for a fresh worker only.
        let wanted = order(&setup, 1, strategy);
        let first = run(&mut Worker::new(setup.clone()), &wanted);
        let again = run(&mut Worker::new(setup.clone()), &wanted);
        assert_eq!(first, again, "{strategy}");
        assert!(!first.steps.is_empty(), "{strategy}");
        assert!(!first.covered.switches.is_empty(), "{strategy}");
    }
}

#[test]
fn a_worker_refuses_orders_of_another_version_model_or_system() {
    let folder = tempfile::tempdir().expect("a folder");
    let setup = setup(&folder);
    let good = order(&setup, 1, "random");
    let mut worker = Worker::new(setup);
    let mut refused = |order: Order| match worker.run(&order) {
        Ok(_) => panic!("it was carried out"),
        Err(error) => error.message,
    };
    let other = Order {
        version: WORK_VERSION + 1,
        ..good.clone()
    };
    assert!(refused(other).contains("another version of ioco"));
    let other = Order {
        model: "0123".to_owned(),
        ..good.clone()
    };
    assert!(refused(other).contains("use the same model file"));
    let other = Order {
        system: SystemName::Project,
        ..good
    };
    assert!(refused(other).contains("this worker reaches simulated:5"));
}

/// Carries out orders until one fails, and is gone then.
struct Leaving {
    worker: Worker,
    outcomes: VecDeque<Outcome>,
    is_gone: bool,
}

impl Executor for Leaving {
    fn capacity(&self) -> usize {
        1
    }

    fn submit(&mut self, order: Order) -> Result<(), CampaignError> {
        if self.is_gone {
            return Err(CampaignError::system("the workers are gone"));
        }
        self.outcomes.push_back(self.worker.run(&order)?);
        Ok(())
    }

    fn next(&mut self, _wait: Duration) -> Result<Option<Outcome>, CampaignError> {
        let next = self.outcomes.pop_front();
        self.is_gone = matches!(&next, Some(outcome) if matches!(outcome.end, SavedEnd::Fail(_)));
        Ok(next)
    }
}

/// Remembers what it observed.
#[derive(Default)]
struct Recorder {
    found: Vec<String>,
    warnings: Vec<String>,
    /// What the tester did, in its order.
    order: Vec<&'static str>,
}

impl Observer for Recorder {
    fn found(&mut self, found: &FoundFailure) {
        self.found.push(found.id.clone());
    }

    fn warning(&mut self, message: &str) {
        self.warnings.push(message.to_owned());
    }

    fn ready(&mut self) {
        self.order.push("ready");
    }

    fn handled(&mut self, _tester: &mut Tester) {
        self.order.push("handled");
    }
}

/// A system that answers everything with a response that the model does not know.
fn dark_lamp(folder: &TempDir) -> WorkerSetup {
    let system = folder.path().join("system.py");
    let program = "import sys\nfor line in sys.stdin:\n    \
                   print('{\"ready\": true}' if 'reset' in line else '{\"response\": \"dark\"}', flush=True)\n";
    std::fs::write(&system, program).expect("written");
    let mut setup = setup(folder);
    let way = Transport::Shell(format!("exec python3 '{}'", system.display()));
    let reach = ConnectionSpec::of_way(way, false, &setup.project);
    setup.reach = reach.unwrap_or_else(|error| panic!("{}", error.message));
    setup
}

fn plan(setup: &WorkerSetup) -> Plan {
    Plan {
        project: setup.project.clone(),
        model: setup.model.clone(),
        options: ModelOptions::default(),
        reach: setup.reach.clone(),
        test: TestSettings {
            seed: Some(1),
            ..TestSettings::default()
        },
        shrinking: Some(ShrinkSettings::default()),
        known: false,
        beginning: Vec::new(),
        jobs: 1,
        shard: None,
        scripts: Vec::new(),
    }
}

#[test]
fn an_observer_hears_that_the_system_is_ready_before_the_tester_thinks() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = Plan {
        shrinking: None,
        ..plan(&dark_lamp(&folder))
    };
    let mut recorder = Recorder::default();
    let opened = Campaign::open(plan, Interrupt::default(), &mut recorder);
    let ran = opened.and_then(|campaign| campaign.run(&mut recorder));
    let outcome = ran.unwrap_or_else(|error| panic!("{}", error.message));
    assert_eq!(outcome.found.len(), 1);
    assert_eq!(
        recorder.order[..2],
        ["ready", "handled"],
        "{:?}",
        recorder.order
    );
}

#[test]
fn a_failure_is_reported_and_kept_although_the_workers_are_gone() {
    let folder = tempfile::tempdir().expect("a folder");
    let setup = dark_lamp(&folder);
    let plan = plan(&setup);
    let leaving = Leaving {
        worker: Worker::new(setup),
        outcomes: VecDeque::new(),
        is_gone: false,
    };
    let mut recorder = Recorder::default();
    let executors = ExecutorKind::Executor("c".to_owned(), Box::new(leaving));
    let opened = Campaign::open_with(plan, executors, Interrupt::default(), &mut recorder);
    let ran = opened.and_then(|campaign| campaign.run(&mut recorder));
    let outcome = ran.unwrap_or_else(|error| panic!("{}", error.message));
    assert_eq!((outcome.confirmed, outcome.found.len()), (1, 1));
    assert_eq!(recorder.found.len(), 1);
    assert!(
        recorder.warnings.iter().all(|w| w.contains("are gone")),
        "{:?}",
        recorder.warnings
    );
    let kept = std::fs::read_dir(folder.path().join(".ioco/failures")).expect("failures");
    assert_eq!(kept.count(), 1);
}

/// Six workers; notes which orders come while a failure is shrunk.
struct Noting {
    worker: Worker,
    outcomes: VecDeque<Outcome>,
    /// `test` or `replay`, in the order of arrival.
    submitted: std::sync::mpsc::Sender<&'static str>,
}

impl Executor for Noting {
    fn capacity(&self) -> usize {
        6
    }

    fn submit(&mut self, order: Order) -> Result<(), CampaignError> {
        let what = match order.task {
            Task::Replay { .. } => "replay",
            _ => "test",
        };
        let _ = self.submitted.send(what);
        self.outcomes.push_back(self.worker.run(&order)?);
        Ok(())
    }

    fn next(&mut self, _wait: Duration) -> Result<Option<Outcome>, CampaignError> {
        Ok(self.outcomes.pop_front())
    }
}

#[test]
fn workers_that_shrinking_leaves_idle_get_the_next_tests() {
    let folder = tempfile::tempdir().expect("a folder");
    let setup = dark_lamp(&folder);
    let limited = |failures: u64| {
        let mut plan = plan(&setup);
        plan.test.failures = Some(failures);
        plan.test.tests = Some(8);
        // What a failed test may have left behind is waited for that long.
        plan.test.timeout = Some("0.02".to_owned());
        let (submitted, orders) = std::sync::mpsc::channel();
        let noting = Noting {
            worker: Worker::new(setup.clone()),
            outcomes: VecDeque::new(),
            submitted,
        };
        let executors = ExecutorKind::Executor(format!("c{failures}"), Box::new(noting));
        let opened = Campaign::open_with(plan, executors, Interrupt::default(), &mut NoObserver);
        let ran = opened.and_then(|campaign| campaign.run(&mut NoObserver));
        ran.unwrap_or_else(|error| panic!("{}", error.message));
        let orders: Vec<&str> = orders.iter().collect();
        let first = orders.iter().position(|what| *what == "replay");
        let last = orders.iter().rposition(|what| *what == "replay");
        let (first, last) = (first.expect("a replay"), last.expect("a replay"));
        let between = &orders[first..last];
        between.iter().filter(|what| **what == "test").count()
    };
    // One failure ends the run: then there is no next test.
    assert_eq!(limited(1), 0);
    // No limit on failures.
    assert!(limited(0) > 0, "tests go on beside the candidates");
}
