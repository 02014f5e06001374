//! What the monitor says of a recording that the model does not allow.

mod common;

use std::sync::Arc;

use common::*;
use ioco_engine::{Recorded, monitor};
use ioco_solve::GuardSolver;
use ioco_sts::{Action, DeviationKind, Relation, Semantics, Step, Sts, Value, Verdict};

/// It counts once before `?go`, and says `done` after it.
fn counts_before_go() -> Arc<Sts> {
    let text = "
        external 'c'
        process('p') {
          channel('c') {
            stimulus 'go'
            response 'count', {'n' => :integer}
            responses 'done', 'never'
          }
          state 'Start'
          choice {
            o { receive 'go'; goto 'Going' }
            o { send 'count', constraint: 'n == 1'; receive 'go'; goto 'Going' }
          }
          state 'Going'
          choice { o { send 'done'; goto 'End' } o { send 'never', constraint: 'false' } }
          state 'End'
        }";
    ioco_aml::load_text("model.aml", text).sts.expect("right")
}

fn count(sts: &Sts, n: i64) -> Recorded {
    Recorded::Response(Action {
        values: vec![Value::Int(n)],
        ..response(sts, "count")
    })
}

fn kind(sts: &Arc<Sts>, recorded: Vec<Recorded>) -> Option<DeviationKind> {
    let mut semantics = Semantics::new(
        Arc::clone(sts),
        Box::new(GuardSolver::new()),
        Relation::Ioco,
    );
    let recorded: Vec<(u64, Recorded)> = (0..).zip(recorded).collect();
    match monitor(&mut semantics, &recorded).verdict {
        Verdict::Fail(deviation) => Some(deviation.kind),
        Verdict::Pass => None,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_response_with_wrong_values_differs_from_an_unexpected_one() {
    let sts = counts_before_go();
    let go = || Recorded::Stimulus(stimulus(&sts, "go"));
    let done = || Recorded::Response(response(&sts, "done"));
    let unknown = |text: &str| Recorded::Unknown(text.to_owned());
    let wrong_value = Some(DeviationKind::WrongValue);
    let unexpected = Some(DeviationKind::UnexpectedResponse);
    for (recorded, expected) in [
        (vec![count(&sts, 1), go(), done()], None),
        (vec![count(&sts, 2)], wrong_value),
        (vec![unknown("count(n=\"two\")")], wrong_value),
        (vec![unknown("counts(n=1)")], unexpected),
        // It may have been sent before the system saw `?go`.
        (vec![go(), count(&sts, 1), done()], None),
        (vec![go(), count(&sts, 2)], wrong_value),
        (vec![go(), unknown("count")], wrong_value),
        // It cannot: `done` was sent after `?go`.
        (vec![go(), done(), count(&sts, 1)], unexpected),
        (vec![done()], unexpected),
    ] {
        let shown = format!("{recorded:?}");
        assert_eq!(kind(&sts, recorded), expected, "{shown}");
    }
}

#[test]
fn silence_counts_from_the_time_out_on() {
    let sts = counts_before_go();
    let timeout = sts.timeout();
    for (pause, expected) in [(timeout - 1, false), (timeout, true)] {
        let mut semantics = Semantics::new(
            Arc::clone(&sts),
            Box::new(GuardSolver::new()),
            Relation::Ioco,
        );
        let go = Recorded::Stimulus(stimulus(&sts, "go"));
        let recorded = [(7, go), (7 + pause, Recorded::End)];
        let execution = monitor(&mut semantics, &recorded);
        assert_eq!(execution.deviation().is_some(), expected, "{execution:?}");
    }
}

/// It must say `hello` before anything else.
#[test]
fn silence_before_the_first_response_counts_from_when_the_system_is_ready() {
    let sts = plain("Start !hello Idle\nIdle ?go Idle");
    let timeout = sts.timeout();
    let hello = || Recorded::Response(response(&sts, "hello"));
    let missing = Some(DeviationKind::MissingResponse);
    for (recorded, expected) in [
        (
            vec![(7, Recorded::Ready), (7 + timeout, Recorded::End)],
            missing,
        ),
        (vec![(7, Recorded::Ready), (7 + timeout, hello())], missing),
        (vec![(7, Recorded::Ready), (6 + timeout, hello())], None),
        // When the system began to run is not known.
        (vec![(7 + timeout, hello())], None),
        (vec![(7 + timeout, Recorded::End)], None),
    ] {
        let solver = Box::new(GuardSolver::new());
        let mut semantics = Semantics::new(Arc::clone(&sts), solver, Relation::Ioco);
        let execution = monitor(&mut semantics, &recorded);
        let kind = execution.deviation().map(|deviation| deviation.kind);
        assert_eq!(kind, expected, "{recorded:?}");
    }
}

/// A claim of silence saves the wait, and is judged like it.
#[test]
fn silence_that_the_system_claims_counts_at_once() {
    let sts = counts_before_go();
    let go = || (7, Recorded::Stimulus(stimulus(&sts, "go")));
    let done = || (8, Recorded::Response(response(&sts, "done")));
    let claim = || (9, Recorded::Quiescent);
    let silent = Step::Quiescence;
    for (recorded, expected, silences) in [
        (vec![go(), done(), claim(), claim()], None, 1),
        (vec![go(), done()], None, 0),
        (vec![go(), claim()], Some(DeviationKind::MissingResponse), 0),
    ] {
        let solver = Box::new(GuardSolver::new());
        let mut semantics = Semantics::new(Arc::clone(&sts), solver, Relation::Ioco);
        let execution = monitor(&mut semantics, &recorded);
        let kind = execution.deviation().map(|deviation| deviation.kind);
        assert_eq!(kind, expected, "{recorded:?}");
        let noted = execution.trace.iter().filter(|step| **step == silent);
        assert_eq!(noted.count(), silences, "{recorded:?}");
    }
}
