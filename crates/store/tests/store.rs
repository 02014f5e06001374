//! The same tests on both databases. PostgreSQL is used where `IOCO_TEST_POSTGRES` names a server
//! (`cargo xtask test` starts one); each test makes a database of its own there.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use ioco_budget::{Interrupt, Until};
use ioco_engine::{
    CoverageSnapshot, Event, FailureContext, FailureFile, FailureId, SavedDeviation, SavedLocation,
    SavedStep, SavedSwitch, SavedVerdict, StopReason, Summary, TimedStep,
};
use ioco_store::{
    Comparison, NewCampaign, NewRun, OrderRow, OutcomeRow, Place, Recording, Store, StoreError,
    StoredModel,
};
use ioco_sts::DeviationKind;
use serde_json::json;
use sqlx::{AnyConnection, Connection, Executor};

/// Runs `check` on an empty store of each kind.
fn on_both(check: impl Fn(&Place)) {
    let folder = tempfile::tempdir().expect("a folder");
    check(&Place::File(folder.path().join("a b/ioco.db")));
    match std::env::var("IOCO_TEST_POSTGRES") {
        Ok(server) => {
            let place = fresh_database(&server);
            check(&place);
        }
        Err(_) => eprintln!("skipped: IOCO_TEST_POSTGRES names no PostgreSQL server"),
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
        .block_on(future)
}

fn fresh_database(server: &str) -> Place {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("ioco_{}_{number}", std::process::id());
    sqlx::any::install_default_drivers();
    block_on(async {
        let mut connection = AnyConnection::connect(server).await.expect("the server");
        let create = sqlx::AssertSqlSafe(format!("CREATE DATABASE {name}"));
        connection.execute(create).await.expect("a database");
    });
    let (base, _) = server.rsplit_once('/').expect("a database in the address");
    Place::Server(format!("{base}/{name}"))
}

fn new_run(started: u64) -> NewRun {
    NewRun {
        started,
        model: StoredModel {
            hash: "h1".to_owned(),
            name: "door".to_owned(),
            path: "door.aml".to_owned(),
            sources: vec![("door.aml".to_owned(), "process('door') { }\n".to_owned())],
        },
        options: "{}".to_owned(),
        connection: "python3 door.py".to_owned(),
        seed: u64::MAX,
        strategy: "random".to_owned(),
        locations: 3,
        switches: 4,
        campaign: None,
    }
}

fn deviation() -> SavedDeviation {
    SavedDeviation {
        code: "D001".to_owned(),
        kind: DeviationKind::UnexpectedResponse,
        observed: "!opened(by=\"x\")".to_owned(),
        label: "!opened".to_owned(),
        values: serde_json::from_value(json!({"by": "x"})).expect("values"),
        locations: vec!["Locked".to_owned()],
        states: vec!["Locked {code: 17}".to_owned()],
    }
}

fn open_step(code: u64) -> SavedStep {
    SavedStep::Stimulus {
        stimulus: "open".to_owned(),
        values: serde_json::from_value(json!({"code": code, "who": "é\"\\"})).expect("values"),
    }
}

/// Two tests, the second of which fails; `steps` steps in each.
fn events(steps: u64) -> Vec<Event> {
    let mut events = vec![Event::RunStarted {
        version: ioco_engine::EVENT_VERSION,
        model: "door".to_owned(),
        seed: u64::MAX,
        strategy: "random".to_owned(),
        locations: 3,
        switches: 4,
        at: 5,
    }];
    for test in 1..=2 {
        events.push(Event::TestStarted {
            test,
            seed: u64::MAX - test,
            name: (test == 2).then(|| "switch Open ──?close──► Closed".to_owned()),
            at: test * 1000,
        });
        for step in 1..=steps {
            events.push(Event::StepTaken {
                test,
                step,
                at: test * 1000 + step,
                what: match step % 3 {
                    0 => SavedStep::Silence { silence: true },
                    1 => open_step(step),
                    _ => SavedStep::Response {
                        response: "opened".to_owned(),
                        values: serde_json::Map::new(),
                    },
                },
            });
        }
        let verdict = match test {
            1 => SavedVerdict::Pass,
            _ => SavedVerdict::Fail {
                deviation: deviation(),
            },
        };
        events.push(Event::TestFinished {
            test,
            seed: u64::MAX - test,
            verdict,
            steps,
            duration: 900,
            at: test * 1000 + 950,
        });
        if test == 2 {
            events.push(Event::FailureFound {
                test,
                failure: FailureId(0),
                deviation: deviation(),
            });
        }
        events.push(Event::CoverageGrew {
            test,
            covered_switches: test as usize,
            covered_locations: 1,
            covered_boundaries: 0,
        });
    }
    events
}

fn summary() -> Summary {
    Summary {
        seed: u64::MAX,
        tests: 2,
        passed: 1,
        failed: 1,
        distinct_failures: 1,
        locations: 3,
        covered_locations: 1,
        switches: 4,
        covered_switches: 2,
        stopped: Some(StopReason::Tests),
        ..Summary::default()
    }
}

fn failure(id: &str) -> FailureFile {
    let context = FailureContext::default();
    FailureFile {
        version: ioco_engine::FAILURE_VERSION,
        id: ioco_engine::Fingerprint::new(id).expect("an id"),
        model: "door".to_owned(),
        model_hash: context.model_hash,
        seed: 1,
        test: 2,
        test_seed: 3,
        deviation: deviation(),
        steps: vec![TimedStep {
            at: 1,
            what: open_step(1),
        }],
        deviated_at: 2,
        wire: Vec::new(),
        shrunk: None,
        confirmed: None,
        also: Vec::new(),
        aliases: Vec::new(),
        accepted: None,
        connection: json!(null),
    }
}

fn coverage(covered: &[&str]) -> CoverageSnapshot {
    CoverageSnapshot {
        version: ioco_engine::COVERAGE_VERSION,
        model: "door".to_owned(),
        locations: vec![SavedLocation {
            process: "door".to_owned(),
            name: "Locked".to_owned(),
            covered: true,
        }],
        switches: ["a", "b", "c"]
            .iter()
            .map(|name| SavedSwitch {
                place: "door.aml:1".to_owned(),
                switch: (*name).to_owned(),
                count: u64::from(covered.contains(name)),
            })
            .collect(),
        boundaries: Vec::new(),
    }
}

fn told(store: &Store, run: i64) -> Vec<Event> {
    let mut events = Vec::new();
    let found = store.events(run, &mut |event| events.push(event));
    assert_eq!(found.expect("events"), Some(()));
    events
}

/// Records a whole run.
fn record(store: &Store, started: u64, failures: &[&str], covered: &[&str]) -> i64 {
    let mut recording = store.record(new_run(started)).expect("a recording");
    recording.events(&events(3)).expect("written");
    for id in failures {
        recording.failure(&failure(id), 2, false).expect("written");
    }
    recording.coverage(coverage(covered)).expect("written");
    let end = Event::RunFinished { summary: summary() };
    recording.events(&[end]).expect("written");
    recording.flush().expect("flushed");
    recording.run()
}

#[test]
fn the_events_of_a_run_read_back_as_they_were() {
    on_both(|place| {
        let store = Store::open(place).expect("opens");
        let mut recording = store.record(new_run(77)).expect("a recording");
        let mut all = events(2500);
        // In pieces, as a campaign hands them over.
        for piece in all.chunks(700) {
            recording.events(piece).expect("written");
        }
        all.push(Event::RunFinished { summary: summary() });
        recording.events(&all[all.len() - 1..]).expect("written");
        recording.flush().expect("flushed");
        assert_eq!(told(&store, recording.run()), all);
        let steps = store.steps(recording.run(), 2).expect("steps");
        assert_eq!(steps.len(), 2500);
        assert_eq!(steps[0], (2001, open_step(1)));
        let tests = store.tests(recording.run()).expect("tests");
        assert_eq!(tests.len(), 2);
        assert_eq!(tests[1].seed, u64::MAX - 2);
        let row = store.run(recording.run()).expect("a run").expect("there");
        assert!(row.finished);
        assert_eq!(
            (row.seed, row.started, row.summary),
            (u64::MAX, 77, summary())
        );
        let model = store.model("h1").expect("a model");
        assert_eq!(model, Some(new_run(0).model));
    });
}

#[test]
fn a_run_that_writes_faster_than_it_is_read_is_read_to_an_end() {
    on_both(|place| {
        let store = Store::open(place).expect("opens");
        let mut recording = store.record(new_run(77)).expect("a recording");
        recording.events(&events(3)).expect("written");
        recording.flush().expect("flushed");
        let run = recording.run();
        let mut finished = 0;
        let read = store.events(run, &mut |event| {
            let Event::TestFinished { test, .. } = event else {
                return;
            };
            finished += 1;
            assert!(finished < 1000, "it is read for ever");
            // Many tests come while one is read.
            for more in 1..=200 {
                let test = test * 200 + more;
                let again = [
                    Event::TestStarted {
                        test,
                        seed: test,
                        name: None,
                        at: 1,
                    },
                    Event::TestFinished {
                        test,
                        seed: test,
                        verdict: SavedVerdict::Pass,
                        steps: 0,
                        duration: 1,
                        at: 2,
                    },
                ];
                recording.events(&again).expect("written");
            }
            recording.flush().expect("flushed");
        });
        assert_eq!(read.expect("read"), Some(()));
        assert_eq!(finished, 2);
    });
}

#[test]
fn a_run_that_goes_on_shows_what_is_flushed() {
    on_both(|place| {
        let store = Store::open(place).expect("opens");
        let mut recording = store.record(new_run(1)).expect("a recording");
        let all = events(10);
        // Ends in the middle of the second test.
        let part = &all[..all.len() - 8];
        recording.events(part).expect("written");
        recording.flush().expect("flushed");
        assert_eq!(told(&store, recording.run()), part);
        let row = store.run(recording.run()).expect("a run").expect("there");
        assert!(!row.finished);
        assert_eq!((row.summary.tests, row.summary.passed), (1, 1));
        assert_eq!((row.summary.steps(), row.summary.switches), (10, 4));
        recording.events(&all[all.len() - 8..]).expect("written");
        drop(recording);
        assert_eq!(told(&store, 1), all);
    });
}

#[test]
fn runs_are_numbered_listed_and_forgotten() {
    on_both(|place| {
        let store = Store::open(place).expect("opens");
        assert_eq!(store.runs(None, 10).expect("runs"), Vec::new());
        for started in [10, 20, 30] {
            record(&store, started, &["f1"], &["a"]);
        }
        let ids = |model: Option<&str>, limit| -> Vec<i64> {
            let runs = store.runs(model, limit).expect("runs");
            runs.iter().map(|run| run.id).collect()
        };
        assert_eq!(ids(Some("door"), 10), [3, 2, 1]);
        assert_eq!(ids(None, 2), [3, 2]);
        assert_eq!(ids(Some("gate"), 10), [0; 0]);
        assert_eq!(store.run(9).expect("asked"), None);
        assert_eq!(store.events(9, &mut |_| {}).expect("asked"), None);
        assert_eq!(store.prune(None, Some(15)).expect("pruned"), 1);
        assert_eq!(ids(None, 10), [3, 2]);
        assert_eq!(store.tests(1).expect("tests"), Vec::new());
        assert_eq!(store.steps(1, 1).expect("steps"), Vec::new());
        assert_eq!(store.prune(Some(1), None).expect("pruned"), 1);
        assert_eq!(store.failures(None).expect("failures").len(), 1);
        assert_eq!(store.prune(Some(0), None).expect("pruned"), 1);
        assert_eq!(store.failures(None).expect("failures"), Vec::new());
        assert_eq!(store.model("h1").expect("asked"), None);
        // An old number never names another run.
        assert_eq!(record(&store, 40, &[], &[]), 4);
    });
}

#[test]
fn failures_are_known_by_fingerprint_over_runs() {
    on_both(|place| {
        let store = Store::open(place).expect("opens");
        record(&store, 10, &["f1", "f2"], &["a", "b"]);
        record(&store, 20, &["f2"], &["a"]);
        record(&store, 30, &["f2", "f3"], &["a", "c"]);
        let failures = store.failures(Some("door")).expect("failures");
        let seen: Vec<(&str, u64, u64, u64)> = failures
            .iter()
            .map(|f| (f.fingerprint.as_str(), f.runs, f.first_seen, f.last_seen))
            .collect();
        assert_eq!(
            seen,
            [("f2", 3, 10, 30), ("f3", 1, 30, 30), ("f1", 1, 10, 10)]
        );
        let sighting = &store.sightings(1).expect("sightings")[0];
        let file = FailureFile::read(&sighting.file).expect("a failure file");
        assert_eq!(file, failure("f1"));
        let seen = |run| {
            let covered = store.coverage(run).expect("coverage").expect("there");
            (covered, store.sightings(run).expect("sightings"))
        };
        let compared = Comparison::new(seen(1), seen(3));
        let names = |all: &[ioco_store::Sighting]| -> Vec<String> {
            all.iter().map(|s| s.fingerprint.clone()).collect()
        };
        assert_eq!(compared.gained, ["door.aml:1  c"]);
        assert_eq!(compared.lost, ["door.aml:1  b"]);
        assert_eq!(names(&compared.new_failures), ["f3"]);
        assert_eq!(names(&compared.fixed_failures), ["f1"]);
        assert_eq!(names(&compared.same_failures), ["f2"]);
        let trend = store.trend("door").expect("a trend");
        let points: Vec<(i64, (u64, u64))> = trend.iter().map(|t| (t.run, t.switches)).collect();
        assert_eq!(points, [(1, (2, 4)), (2, (2, 4)), (3, (2, 4))]);
    });
}

#[test]
fn a_failure_that_was_shrunk_further_takes_the_place_of_the_longer_one() {
    on_both(|place| {
        let store = Store::open(place).expect("opens");
        record(&store, 10, &["long"], &[]);
        record(&store, 20, &["long", "short"], &[]);
        store
            .replace_failure("long", &failure("short"))
            .expect("replaced");
        for run in [1, 2] {
            let seen = store.sightings(run).expect("sightings");
            let ids: Vec<&str> = seen.iter().map(|s| s.fingerprint.as_str()).collect();
            assert_eq!(ids, ["short"], "run {run}");
        }
        assert_eq!(store.failure_file("long").expect("asked"), None);
        let file = store.failure_file("short").expect("asked").expect("there");
        assert_eq!(FailureFile::read(&file), Ok(failure("short")));
    });
}

#[test]
fn the_events_of_one_test_are_those_of_the_run() {
    on_both(|place| {
        let store = Store::open(place).expect("opens");
        let run = record(&store, 10, &[], &[]);
        let of_second = |event: &Event| match event {
            Event::TestStarted { test, .. }
            | Event::StepTaken { test, .. }
            | Event::TestFinished { test, .. }
            | Event::FailureFound { test, .. }
            | Event::CoverageGrew { test, .. } => *test == 2,
            Event::RunStarted { .. } | Event::RunFinished { .. } => false,
        };
        let all: Vec<Event> = told(&store, run).into_iter().filter(of_second).collect();
        assert_eq!(store.test_events(run, 2).expect("events"), all);
        assert_eq!(store.test_events(run, 3).expect("events"), Vec::new());
    });
}

#[test]
fn several_recorders_get_numbers_of_their_own() {
    on_both(|place| {
        let store = Store::open(place).expect("opens");
        let runs: Vec<i64> = std::thread::scope(|scope| {
            let handles: Vec<_> = (0..4)
                .map(|index| {
                    let store = &store;
                    scope.spawn(move || record(store, index, &["f1"], &["a"]))
                })
                .collect();
            handles
                .into_iter()
                .map(|h| h.join().expect("recorded"))
                .collect()
        });
        let mut sorted = runs.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [1, 2, 3, 4]);
        for run in runs {
            assert_eq!(store.tests(run).expect("tests").len(), 2);
        }
    });
}

#[test]
fn a_store_of_a_newer_ioco_is_left_alone() {
    on_both(|place| {
        let store = Store::open(place).expect("opens");
        record(&store, 1, &[], &[]);
        drop(store);
        change(
            place,
            "UPDATE _sqlx_migrations SET version = 9999 WHERE version = 1",
        );
        let error = Store::open(place).err().expect("refused");
        assert!(matches!(error, StoreError::Newer { .. }), "{error}");
        change(
            place,
            "UPDATE _sqlx_migrations SET version = 1 WHERE version = 9999",
        );
        let store = Store::open(place).expect("opens again");
        assert_eq!(store.runs(None, 9).expect("runs").len(), 1);
    });
}

fn change(place: &Place, statement: &'static str) {
    let url = match place {
        Place::File(path) => format!("sqlite://{}", path.display()),
        Place::Server(url) => url.clone(),
    };
    block_on(async {
        let mut connection = AnyConnection::connect(&url).await.expect("connects");
        connection.execute(statement).await.expect("changed");
        connection.close().await.expect("closed");
    });
}

fn refuses_and_keeps(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).expect("written");
    let place = Place::File(path.to_owned());
    let error = Store::open(&place).err().expect("refused");
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
    assert!(
        error.hint().contains("does not overwrite"),
        "{}",
        error.hint()
    );
    assert_eq!(std::fs::read(path).expect("there"), bytes);
}

#[test]
fn a_damaged_file_is_refused_and_not_overwritten() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ioco.db");
    refuses_and_keeps(&path, b"this is no database, and long enough to see that");
    std::fs::remove_file(&path).expect("removed");
    let store = Store::open(&Place::File(path.clone())).expect("opens");
    record(&store, 1, &["f1"], &["a"]);
    drop(store);
    let whole = std::fs::read(&path).expect("read");
    // The first page holds the list of tables.
    let mut bytes = whole.clone();
    bytes[100..4000].fill(0xA5);
    refuses_and_keeps(&path, &bytes);
    refuses_and_keeps(&path, &whole[..whole.len() / 2]);
}

#[test]
fn no_run_is_added_to_a_file_that_is_damaged_anywhere() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ioco.db");
    let place = Place::File(path.clone());
    let store = Store::open(&place).expect("opens");
    record(&store, 1, &["f1"], &["a"]);
    drop(store);
    let whole = std::fs::read(&path).expect("read");
    let page = 4096;
    for damaged in [2, whole.len() / page - 1] {
        let mut bytes = whole.clone();
        bytes[damaged * page..(damaged + 1) * page].fill(0xA5);
        std::fs::write(&path, &bytes).expect("written");
        let error = Recording::begin(&place, new_run(2)).err().expect("refused");
        assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
        assert!(std::fs::read(&path).expect("there") == bytes);
    }
}

#[test]
fn a_server_that_is_not_there_is_named_without_its_password() {
    let url = "postgres://me:secret@127.0.0.1:1/runs";
    let place = Place::new(Path::new("unused"), Some(url)).expect("an address");
    let error = Store::open(&place).err().expect("refused").to_string();
    assert!(error.contains("postgres://me@127.0.0.1:1/runs"), "{error}");
    assert!(!error.contains("secret"), "{error}");
    let error = Place::new(Path::new("unused"), Some("mysql://x/y")).expect_err("refused");
    assert!(error.to_string().contains("postgres://"), "{error}");
}

#[test]
fn reading_changes_nothing_and_an_older_store_says_what_to_do() {
    on_both(|place| {
        assert!(Store::migrate(place).expect("made"), "there was nothing");
        assert!(!Store::migrate(place).expect("again"), "it was up to date");
        let store = Store::open(place).expect("opens");
        record(&store, 1, &["f1"], &[]);
        drop(store);
        let bytes = |place: &Place| match place {
            Place::File(path) => std::fs::read(path).expect("a file"),
            Place::Server(_) => Vec::new(),
        };
        let before = bytes(place);
        let store = Store::read(place).expect("opens").expect("is not empty");
        assert_eq!(store.runs(None, 9).expect("runs").len(), 1);
        assert!(
            store.prune(Some(0), None).is_err(),
            "a store that is read is not changed"
        );
        drop(store);
        assert!(before == bytes(place), "reading has changed the file");
        change(
            place,
            "UPDATE _sqlx_migrations SET version = 0 WHERE version = 2",
        );
        let error = Store::read(place).err().expect("refused");
        assert!(matches!(error, StoreError::Older { .. }), "{error}");
        assert!(
            error.hint().contains("ioco store migrate"),
            "{}",
            error.hint()
        );
        if let Place::Server(_) = place {
            // Others may use an older program there.
            let error = Store::open(place).err().expect("refused");
            assert!(matches!(error, StoreError::Older { .. }), "{error}");
        }
        change(
            place,
            "UPDATE _sqlx_migrations SET version = 9999 WHERE version = 0",
        );
        let error = Store::read(place).err().expect("refused");
        assert!(matches!(error, StoreError::Newer { .. }), "{error}");
    });
}

#[test]
fn a_store_that_stalls_is_not_waited_for_once_somebody_wants_to_stop() {
    on_both(|place| {
        let interrupt = Interrupt::default();
        let until = Until::raised(Instant::now, &interrupt);
        let mut recording = Recording::begin_until(place, new_run(1), until).expect("a store");
        recording.flush().expect("a store that answers");
        let (url, lock) = match place {
            Place::File(path) => (format!("sqlite://{}", path.display()), "BEGIN IMMEDIATE"),
            Place::Server(url) => (url.clone(), "BEGIN; LOCK TABLE coverage"),
        };
        let refused = block_on(async {
            let mut other = AnyConnection::connect(&url).await.expect("the store");
            other.execute(lock).await.expect("a lock");
            recording.coverage(coverage(&[])).expect("a queue");
            interrupt.raise();
            let refused = recording.flush().expect_err("a lock that stays");
            other.close().await.expect("the lock's end");
            refused
        });
        let said = refused.to_string();
        assert!(said.contains("did not answer in time"), "{said}");
    });
}

/// A store with one run, to which somebody did something.
fn changed(statements: &str) -> (tempfile::TempDir, Place) {
    let folder = tempfile::tempdir().expect("a folder");
    let place = Place::File(folder.path().join("ioco.db"));
    let mut recording = Recording::begin(&place, new_run(1)).expect("begins");
    recording.flush().expect("written");
    drop(recording);
    let url = format!("sqlite://{}", folder.path().join("ioco.db").display());
    block_on(async {
        let mut connection = AnyConnection::connect(&url).await.expect("opens");
        let statements = sqlx::AssertSqlSafe(statements.to_owned());
        connection.execute(statements).await.expect("changed");
        connection.close().await.expect("closed");
    });
    (folder, place)
}

#[test]
fn a_file_that_defines_more_than_ioco_does_is_no_store() {
    let steps = "SELECT 1 AS run, 1 AS test, 1 AS first, '[]' AS body";
    for statements in [
        &format!("DROP TABLE steps; CREATE VIEW steps AS {steps}"),
        "CREATE TRIGGER t AFTER INSERT ON runs BEGIN SELECT hex(zeroblob(900000000)); END",
        "ALTER TABLE growth ADD COLUMN more TEXT AS (hex(zeroblob(900000000)))",
        "CREATE INDEX more ON runs (hex(zeroblob(id)))",
        "DROP TABLE growth; CREATE TABLE growth (run, test, locations, switches, boundaries CHECK (1))",
        "CREATE TABLE more (a)",
        "ALTER TABLE _sqlx_migrations RENAME TO old; CREATE VIEW _sqlx_migrations AS SELECT * FROM old",
    ] {
        let (_folder, place) = changed(statements);
        let refusals = [
            Store::read(&place).err(),
            Store::open(&place).err(),
            Recording::begin(&place, new_run(2)).err(),
        ];
        for error in refusals {
            let error = error.unwrap_or_else(|| panic!("used: {statements}"));
            assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
        }
    }
    // What SQLite adds itself.
    let (_folder, place) = changed("ANALYZE");
    Store::read(&place).expect("opens").expect("is not empty");
}

#[test]
fn what_is_no_regular_file_is_not_opened() {
    let folder = tempfile::tempdir().expect("a folder");
    let fifo = folder.path().join("ioco.db");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.expect("mkfifo runs").success());
    let linked = tempfile::tempdir().expect("a folder");
    let elsewhere = linked.path().join("elsewhere");
    std::fs::write(&elsewhere, "kept").expect("written");
    let store = linked.path().join("ioco.db");
    std::os::unix::fs::symlink(&elsewhere, linked.path().join("ioco.db-wal")).expect("linked");
    for path in [fifo, store] {
        let place = Place::File(path);
        for error in [Store::read(&place).err(), Store::open(&place).err()] {
            let error = error.expect("refused").to_string();
            assert!(error.contains("not a regular file"), "{error}");
        }
    }
    assert_eq!(std::fs::read_to_string(elsewhere).expect("there"), "kept");
}

fn campaign_run(id: &str) -> NewRun {
    NewRun {
        campaign: Some(NewCampaign {
            id: id.to_owned(),
            plan: "{}".to_owned(),
        }),
        ..new_run(1)
    }
}

fn order(number: u64) -> OrderRow {
    OrderRow {
        number,
        purpose: format!("{{\"test\":{number}}}"),
        body: "{\"order\":true}".to_owned(),
    }
}

/// The events of one test of a campaign.
fn one_test(test: u64) -> Vec<Event> {
    vec![
        Event::TestStarted {
            test,
            seed: test,
            name: None,
            at: test * 1000,
        },
        Event::StepTaken {
            test,
            step: 1,
            at: test * 1000 + 1,
            what: open_step(test),
        },
        Event::TestFinished {
            test,
            seed: test,
            verdict: SavedVerdict::Pass,
            steps: 1,
            duration: 900,
            at: test * 1000 + 950,
        },
    ]
}

fn resumed(place: &Place, id: &str) -> Recording {
    Recording::resume_until(place, id, Until::forever(Instant::now)).expect("resumed")
}

#[test]
fn a_campaign_is_resumed_from_the_store_alone() {
    on_both(|place| {
        let mut first = Recording::begin(place, campaign_run("c1")).expect("begun");
        let run = first.run();
        for number in 1..=3 {
            first.order(order(number)).expect("an order");
        }
        let body = Some("{\"outcome\":2}".to_owned());
        first
            .outcome(2, "w", body.clone(), &one_test(2))
            .expect("an outcome");
        first.flush().expect("kept");
        // Killed: nothing more is written.
        std::mem::forget(first);
        let mut second = resumed(place, "c1");
        assert_eq!(second.run(), run);
        let store = Store::read(place).expect("opens").expect("is not empty");
        let open: Vec<u64> = (store.open_orders("c1").expect("orders").iter())
            .map(|order| order.number)
            .collect();
        assert_eq!(open, [1, 3]);
        // The same label: the resumed recording goes on with the numbers of the first.
        second
            .outcome(3, "w", body.clone(), &one_test(3))
            .expect("an outcome");
        second.outcome(1, "", None, &[]).expect("withdrawn");
        second.discarded(2).expect("counted");
        second.flush().expect("kept");
        let mut arrived = Vec::new();
        let mut note = |row: OutcomeRow| arrived.push((row.number, row.body));
        store.outcomes("c1", &mut note).expect("outcomes");
        assert_eq!(arrived, [(2, body.clone()), (3, body), (1, None)]);
        let tally = store.tally("c1").expect("a tally");
        assert_eq!((tally.orders, tally.outcomes, tally.withdrawn), (3, 2, 1));
        assert_eq!((tally.open, tally.discarded), (0, 2));
        assert_eq!(tally.workers, [("w".to_owned(), 2)]);
        let steps = store.steps(run, 3).expect("steps");
        assert_eq!(steps, [(3001, open_step(3))]);
        let row = store.campaign("c1").expect("asked").expect("a campaign");
        assert_eq!((row.run, row.coordinators, row.finished), (run, 2, false));
        assert_eq!(store.clock(run).expect("a clock").1, 3950);
    });
}

#[test]
fn a_second_outcome_of_an_order_is_refused_with_everything_that_it_would_add() {
    on_both(|place| {
        let mut recording = Recording::begin(place, campaign_run("c1")).expect("begun");
        let run = recording.run();
        recording.order(order(1)).expect("an order");
        let body = || Some("{}".to_owned());
        recording
            .outcome(1, "a", body(), &one_test(1))
            .expect("handed over");
        recording.flush().expect("kept");
        recording
            .outcome(1, "b", body(), &one_test(2))
            .expect("handed over");
        assert!(recording.flush().is_err(), "two outcomes of one order");
        let store = Store::read(place).expect("opens").expect("is not empty");
        assert_eq!(store.tests(run).expect("tests").len(), 1);
        assert_eq!(
            store.tally("c1").expect("a tally").workers,
            [("a".to_owned(), 1)]
        );
    });
}

#[test]
fn a_coordinator_that_was_replaced_cannot_write() {
    on_both(|place| {
        let mut first = Recording::begin(place, campaign_run("c1")).expect("begun");
        first.order(order(1)).expect("an order");
        first.flush().expect("kept");
        let mut second = resumed(place, "c1");
        first.order(order(2)).expect("handed over");
        let refused = first.flush().expect_err("replaced");
        assert!(
            matches!(refused, StoreError::Superseded { .. }),
            "{refused}"
        );
        second.order(order(2)).expect("an order");
        second.flush().expect("kept");
        let store = Store::read(place).expect("opens").expect("is not empty");
        assert_eq!(store.tally("c1").expect("a tally").orders, 2);
    });
}

#[test]
fn an_outcome_without_an_order_is_refused() {
    on_both(|place| {
        let mut recording = Recording::begin(place, campaign_run("c1")).expect("begun");
        let body = Some("{}".to_owned());
        recording.outcome(7, "w", body, &[]).expect("handed over");
        assert!(recording.flush().is_err());
    });
}
