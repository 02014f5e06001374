//! A verdict of fail needs certainty: where states of a model are missing, nothing is concluded from
//! what the known ones do not allow.

mod common;

use std::collections::BTreeSet;
use std::sync::Arc;

use common::{Answers, campaign};
use ioco_engine::{Recorded, Settings, StopConditions, Tester, code_of, monitor};
use ioco_solve::GuardSolver;
use ioco_sts::{
    Action, Direction, EvaluationOnly, Relation, Semantics, SetId, Step, Sts, Value, Verdict,
    Warning,
};

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
        let semantics = Semantics::new(load(text), Box::new(GuardSolver::new()), relation);
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

/// Two processes with a hand-shake `m` that carries `v`, which the response `done` then shows.
fn handshake(ty: &str, sender: &str, receiver: &str) -> String {
    let constraint = |text: &str| match text {
        "" => String::new(),
        text => format!(", constraint: '{text}'"),
    };
    let (sender, receiver) = (constraint(sender), constraint(receiver));
    format!(
        "external 'c'
         internal 'i'
         enum 'Colour', 'Red', 'Green'
         struct 'Pair', {{'x' => :integer, 'ok' => :boolean}}
         process('one') {{
           channel('i') {{ response 'm', {{'v' => {ty}}} }}
           send 'm'{sender}
           state 'Sent'
         }}
         process('two') {{
           channel('c') {{ response 'done', {{'w' => {ty}}} }}
           channel('i') {{ stimulus 'm', {{'v' => {ty}}} }}
           var 'kept', {ty}
           receive 'm'{receiver}, update: 'kept = v'
           send 'done', constraint: 'w == kept'
           state 'Done'
         }}"
    )
}

/// Whether `!done` with this value is allowed: certainly, certainly not, or not known.
fn done(text: &str, value: Value) -> Option<bool> {
    let mut model = Model::new(text);
    let step = model.step("!done", &[value]);
    let initial = model.semantics.initial();
    match model.semantics.after(initial, &step) {
        None => Some(false),
        Some(set) if model.semantics.set(set).is_empty() => None,
        Some(_) => Some(true),
    }
}

fn decimal(text: &str) -> Value {
    Value::Decimal(text.parse().expect("a decimal"))
}

#[test]
fn the_values_of_a_hand_shake_are_those_that_all_guards_allow() {
    let string = Value::str;
    for (ty, sender, receiver, value, allowed) in [
        // An integer where a decimal is wanted.
        (":decimal", "v == 3", "", decimal("3"), true),
        (":decimal", "v == 3", "", decimal("4"), false),
        (":decimal", "v == 3", "v > 3", decimal("3"), false),
        // Constraints that are no equation.
        (":integer", "v in 1..3", "", Value::Int(3), true),
        (":integer", "v in 1..3", "", Value::Int(4), false),
        (":integer", "v > 0", "v < 3", Value::Int(2), true),
        (":integer", "v > 0", "v < 3", Value::Int(3), false),
        (":string", "v == \"x\" || v == \"y\"", "", string("y"), true),
        (
            ":string",
            "v == \"x\" || v == \"y\"",
            "",
            string("z"),
            false,
        ),
        (":integer", "v - 1 == 2", "", Value::Int(3), true),
        (":integer", "v - 1 == 2", "", Value::Int(4), false),
        (":integer", "v * v == 9", "", Value::Int(-3), true),
        (":integer", "v * v == 9", "", Value::Int(4), false),
        (
            "[:decimal]",
            "v == [3]",
            "",
            Value::Array([decimal("3")].into()),
            true,
        ),
        (":boolean", "!v", "", Value::Bool(false), true),
        (":boolean", "!v", "", Value::Bool(true), false),
        ("integer(0..9)", "v != 3", "", Value::Int(4), true),
        ("integer(0..9)", "v != 3", "", Value::Int(3), false),
        // Unset is a value as any other.
        ("integer(0..9)", "v != 3", "", Value::Void, true),
        ("integer(0..9)", "v < 3", "", Value::Void, false),
        (
            ":integer",
            "v != :void && v in 1..3",
            "",
            Value::Void,
            false,
        ),
        (
            ":string",
            "v != \"x\" && length(v) < 1",
            "",
            string(""),
            true,
        ),
        (":string", "v == :void", "", Value::Void, true),
        (":string", "v == :void", "", string("x"), false),
        (":integer", "v == :void || v == 1", "", Value::Int(1), true),
        (":integer", "v == :void || v == 1", "", Value::Void, true),
        (
            ":integer",
            "v == :void || v == 1",
            "v != 1",
            Value::Void,
            true,
        ),
        // And one that nobody mentions is not.
        (":integer", "", "", Value::Void, true),
        (":integer", "", "", Value::Int(1), false),
        (
            "Colour",
            "v != Red",
            "",
            Value::Enum(ioco_sts::EnumId(0), 1),
            true,
        ),
        (
            "Colour",
            "v != Red",
            "",
            Value::Enum(ioco_sts::EnumId(0), 0),
            false,
        ),
    ] {
        let quoted = format!("'{ty}'");
        let ty = if ty.starts_with(char::is_uppercase) {
            &quoted
        } else {
            ty
        };
        let text = handshake(ty, sender, receiver);
        assert_eq!(
            done(&text, value.clone()),
            Some(allowed),
            "{ty}: {sender} and {receiver} with {value:?}"
        );
    }
}

#[test]
fn a_hand_shake_whose_values_cannot_be_listed_truncates() {
    let pair = |x: i64, ok: bool| {
        let fields = [Value::Int(x), Value::Bool(ok)];
        Value::Struct(ioco_sts::StructId(0), fields.into())
    };
    for (ty, sender, value) in [
        (":integer", "v > 0", Value::Int(123_456)),
        (":integer", "v > 0", Value::Int(-1)),
        (":string", "v =~ /^[a-z]+$/", Value::str("some")),
        (":decimal", "v > 0.5 && v < 0.75", decimal("0.71")),
        ("'Pair'", "v.x > 3", pair(123_456, true)),
    ] {
        let text = handshake(ty, sender, "");
        assert_eq!(done(&text, value), None, "{ty}: {sender}");
        let mut model = Model::new(&text);
        let initial = model.semantics.initial();
        assert!(model.semantics.set(initial).truncated);
        let warnings = model.semantics.take_warnings();
        let open = |w: &Warning| matches!(w, Warning::OpenHandshake { .. });
        assert!(warnings.iter().any(open), "{warnings:?}");
        // Silence is neither demanded nor forbidden.
        assert!(!matches!(model.verdict(&["δ"]), Verdict::Fail(_)));
    }
}

#[test]
fn silence_of_a_set_with_missing_states_takes_the_longest_time_out_of_the_model() {
    let text = "timeout 0.5
         external 'c'
         internal 'i'
         process('one') {
           channel('i') { response 'm', {'v' => :integer} }
           state 'Here'
           send 'm', constraint: 'v > 0'
         }
         process('two') {
           channel('c') { response 'done' }
           channel('i') { stimulus 'm', {'v' => :integer} }
           var 'kept', :integer
           state 'There'
           receive 'm', update: 'kept = v'
           tau constraint: 'kept == 123456'
           state 'Late', timeout: 4
           send 'done'
         }";
    let model = Model::new(text);
    let initial = model.semantics.initial();
    assert!(model.semantics.set(initial).truncated);
    assert_eq!(model.semantics.timeout(initial), 4_000_000_000);
    let known = text.replace("v > 0", "v == 1");
    let model = Model::new(&known);
    let initial = model.semantics.initial();
    assert!(!model.semantics.set(initial).truncated);
    assert_eq!(model.semantics.timeout(initial), 500_000_000);
}

/// A function that takes exponential time, and one that is right at once.
const COSTLY: &str = "
    external 'c'
    function('f', [:integer] => :integer) { |n| if n <= 0 then 1 else f(n - 1) + f(n - 1) }
    process('p') {
      channel('c') { stimulus 'go'; stimulus 'ask', {'n' => :integer}; responses 'yes', 'no', 'late' }
      state 'Start'
      choice {
        o { receive 'go' }
        o { receive 'ask', constraint: 'f(50) > n && n > 0'; goto 'Done' }
      }
      state 'Answer'
      choice {
        o { send 'yes', constraint: 'f(3) == 8' }
        o { send 'no', constraint: 'f(50) == 1' }
        o { tau constraint: 'f(60) == 1'; send 'late' }
      }
      state 'Done'
    }";

#[test]
fn a_guard_that_cannot_be_evaluated_within_the_budget_is_unknown() {
    let mut model = Model::new(COSTLY);
    let going = model.after(&["?go"]).expect("allowed");
    assert!(model.semantics.set(going).truncated);
    let exhausted = |w: &&Warning| matches!(w, Warning::Exhausted { .. });
    assert_eq!(model.warnings.iter().filter(exhausted).count(), 1);
    assert_eq!(model.verdict(&["?go", "!yes"]), Verdict::Pass);
    assert!(is_inconclusive(&model.verdict(&["?go", "!no"])));
    assert!(is_inconclusive(&model.verdict(&["?go", "!late"])));
}

#[test]
fn a_response_that_may_be_enabled_neither_demands_nor_forbids_silence() {
    let text = "
        external 'c'
        function('f', [:integer] => :integer) { |n| if n <= 0 then 1 else f(n - 1) + f(n - 1) }
        process('p') {
          channel('c') { responses 'yes', 'no' }
          choice {
            o { send 'yes', constraint: 'f(50) == 1' }
            o { send 'no', constraint: '1 == 2' }
          }
        }";
    let mut model = Model::new(text);
    let initial = model.semantics.initial();
    let menu = model.semantics.menu(initial);
    assert_eq!(menu.quiescent, [ioco_sts::Answer::Unknown]);
    assert!(menu.silence);
    assert!(is_inconclusive(&model.verdict(&["!yes"])));
    assert!(matches!(model.verdict(&["!no"]), Verdict::Fail(_)));
}

#[test]
fn values_and_state_sets_keep_to_their_limits() {
    // A string that doubles at each step, and a set that does.
    let text = "
        external 'c'
        process('p') {
          channel('c') { stimuli 'more'; responses 'out' }
          var 's', :string, \"0123456789abcdef\"
          var 'n', :integer, 0
          repeat {
            o { receive 'more', update: 's = s + s' }
            o { receive 'more', update: 'n = n * 2' }
            o { receive 'more', update: 'n = n * 2 + 1' }
            o { send 'out', constraint: 'n == 1000000' }
          }
        }";
    let sts = load(text);
    let budget = ioco_budget::Budget {
        states: 100,
        bytes: 100_000,
        ..ioco_budget::Budget::default()
    };
    let mut sts = sts;
    Arc::make_mut(&mut sts).set_budget(budget);
    let mut semantics = Semantics::new(sts, Box::new(GuardSolver::new()), Relation::Ioco);
    let sts = Arc::clone(semantics.sts());
    let more = Action::plain(sts.label_named(Direction::Stimulus, "more").expect("known"));
    let out = Action::plain(sts.label_named(Direction::Response, "out").expect("known"));
    let mut set = semantics.initial();
    for _ in 0..40 {
        set = semantics
            .after(set, &Step::Stimulus(more.clone()))
            .expect("accepted");
        assert!(semantics.set(set).states.len() <= 100);
    }
    assert!(semantics.set(set).truncated);
    let out = semantics.after(set, &Step::Response(out)).expect("may be");
    assert!(semantics.set(out).is_empty());
}

/// Silence is right after `go` unless `r` is possible, and after `stop` in any case.
const UNDECIDED: &str = "
    external 'c'
    process('p') {
      channel('c') {
        stimuli 'go', 'stop'
        stimulus 'set', {'n' => :integer}
        response 'r', {'n' => :integer}
      }
      state 'Start'
      choice {
        o { receive 'go'; send 'r', constraint: 'n == 4'; goto 'Start' }
        o { receive 'stop'; goto 'Start' }
        o { receive 'set', constraint: 'n * n == 4'; goto 'Start' }
      }
    }";

fn undecided() -> Semantics {
    // A solver that knows nothing.
    let solver = Box::new(EvaluationOnly);
    Semantics::new(load(UNDECIDED), solver, Relation::Ioco)
}

#[test]
fn a_silence_that_the_solver_cannot_decide_is_no_pass() {
    let mut model = Model {
        semantics: undecided(),
        warnings: Vec::new(),
    };
    let verdict = model.verdict(&["?go", "δ"]);
    let Verdict::Inconclusive(reason) = &verdict else {
        panic!("{verdict:?}");
    };
    assert!(reason.text.contains("!r"), "{reason}");
    assert_eq!(code_of(&verdict), Some("I005"));
    assert_eq!(model.verdict(&["?stop", "δ"]), Verdict::Pass);
    // What follows is still judged.
    let response = model.step("!r", &[Value::Int(4)]);
    let go = model.step("?go", &[]);
    let judged = model.judge([go.clone(), response.clone(), go.clone(), Step::Quiescence]);
    assert!(is_inconclusive(&judged), "{judged:?}");
    let wrong = model.step("!r", &[Value::Int(5)]);
    let judged = model.judge([go, Step::Quiescence, wrong]);
    assert!(matches!(judged, Verdict::Fail(_)), "{judged:?}");
    // With a solver that knows it is a missing response.
    let judged = Model::new(UNDECIDED).verdict(&["?go", "δ"]);
    assert!(matches!(judged, Verdict::Fail(_)), "{judged:?}");
}

#[test]
fn a_test_with_a_silence_that_the_solver_cannot_decide_does_not_pass() {
    let stop = StopConditions {
        tests: Some(20),
        steps_per_test: 4,
        ..StopConditions::default()
    };
    let settings = Settings {
        stop,
        ..Settings::default()
    };
    let mut tester = Tester::new(undecided(), settings);
    let reports = campaign(&mut tester, &mut Answers::new(|_| Vec::new()));
    let go = tester.sts().label_named(Direction::Stimulus, "go");
    let mut seen = 0;
    for report in reports {
        let trace = &report.execution.trace;
        let gave = |step: &Step| matches!(step, Step::Stimulus(a) if Some(a.label) == go);
        let silent = trace
            .windows(2)
            .any(|two| gave(&two[0]) && two[1] == Step::Quiescence);
        let expected = silent.then_some("I005");
        assert_eq!(code_of(&report.execution.verdict), expected, "{trace:?}");
        seen += u64::from(silent);
    }
    assert!(seen > 0);
}

#[test]
fn a_switch_that_the_solver_cannot_decide_is_named_once() {
    let mut semantics = undecided();
    let initial = semantics.initial();
    let go = semantics.sts().label_named(Direction::Stimulus, "go");
    let go = Step::Stimulus(Action::plain(go.expect("declared")));
    let after = semantics.after(initial, &go).expect("accepted");
    semantics.menu(initial);
    semantics.menu(after);
    let silent = semantics.after(after, &Step::Quiescence).expect("open");
    semantics.menu(silent);
    let undecided: Vec<String> = semantics
        .take_warnings()
        .iter()
        .filter_map(|warning| match warning {
            Warning::Undecided { switch } => {
                let gate = semantics.sts().switch(*switch).gate;
                gate.label().map(|l| semantics.sts().label(l).marked_name())
            }
            _ => None,
        })
        .collect();
    assert_eq!(undecided, ["?set", "!r"]);
}

/// A response or a stimulus with this guard.
fn guarded(guard: &str) -> String {
    format!(
        "external 'c'
         struct 'P', {{'n' => :integer, 's' => :string}}
         process('p') {{
           channel('c') {{
             stimulus 'go'
             stimulus 'set', {{'a' => ['P'], 'v' => :decimal, 'n' => :integer, 'm' => :integer}}
             response 'r', {{'a' => ['P'], 'v' => :decimal, 'n' => :integer, 'm' => :integer}}
           }}
           state 'Start'
           choice {{
             o {{ receive 'go'; send 'r', constraint: '{guard}' }}
             o {{ receive 'set', constraint: '{guard}' }}
           }}
           state 'End'
         }}"
    )
}

#[test]
fn silence_is_judged_where_values_can_be_found_or_proposed() {
    for guard in [
        "a[0].n == 4",
        "length(a) == 1 && a[0].s == \"q\"",
        "length(a) == 2 && a[1].n > a[0].n && a[0].s == a[1].s",
        "v / 2 == 1",
        "3 - v / 4 * 2 >= 100.5",
        "10 / v == 4",
    ] {
        let mut model = Model::new(&guarded(guard));
        let judged = model.verdict(&["?go", "δ"]);
        assert!(matches!(judged, Verdict::Fail(_)), "{guard}: {judged:?}");
        let warnings = model.semantics.take_warnings();
        assert!(warnings.is_empty(), "{guard}: {warnings:?}");
        // The stimulus with this guard is given.
        let stop = StopConditions {
            tests: Some(16),
            failures: None,
            ..StopConditions::default()
        };
        let settings = Settings {
            stop,
            ..Settings::default()
        };
        let semantics = Model::new(&guarded(guard)).semantics;
        let mut tester = Tester::new(semantics, settings);
        let reports = campaign(&mut tester, &mut Answers::new(|_| Vec::new()));
        let set = tester.sts().label_named(Direction::Stimulus, "set");
        let mut given = reports.iter().flat_map(|r| r.execution.stimuli());
        assert!(given.any(|s| Some(s.label) == set), "{guard}");
    }
    for impossible in ["v / 2 == 1 && v > 5", "a[0].n == 4 && a[0].n == 5"] {
        let judged = Model::new(&guarded(impossible)).verdict(&["?go", "δ"]);
        assert!(
            !matches!(judged, Verdict::Fail(_)),
            "{impossible}: {judged:?}"
        );
    }
    // Nothing is concluded from what stays open.
    let judged = Model::new(&guarded("n * n * n + m * m * m == 1729")).verdict(&["?go", "δ"]);
    assert!(judged != Verdict::Pass, "{judged:?}");
}

/// Most arguments of this function take it beyond a limit, and every try costs many steps.
#[test]
fn a_recursive_function_in_a_guard_is_decided_or_left_open() {
    let text = "
        external 'c'
        function('fac', [:integer] => :integer) { |n| if n <= 1 then 1 else n * fac(n - 1) }
        process('p') {
          channel('c') { stimulus 'go'; response 'r', {'n' => :integer, 'm' => :integer} }
          receive 'go'
          send 'r', constraint: 'm == fac(n)'
        }";
    let mut model = Model::new(text);
    assert_ne!(model.verdict(&["?go", "δ"]), Verdict::Pass);
    let go = model.step("?go", &[]);
    let right = model.step("!r", &[Value::Int(5), Value::Int(120)]);
    assert_eq!(model.judge([go.clone(), right]), Verdict::Pass);
    let wrong = model.step("!r", &[Value::Int(5), Value::Int(121)]);
    assert!(matches!(model.judge([go, wrong]), Verdict::Fail(_)));
}

/// The solver takes the shortest array where nothing asks for a longer one.
#[test]
fn arrays_that_a_guard_leaves_open_are_not_always_empty() {
    for (constraint, longest) in [("xs.length in 0..4", 4), ("true", 100), ("xs == []", 0)] {
        let text = format!(
            "
            external 'c'
            process('p') {{
              channel('c') {{ stimulus 'in', {{'xs' => [integer(0..3)], 'n' => integer(0..9)}} }}
              state 'S'
              receive 'in', constraint: '{constraint}'
              goto 'S'
            }}"
        );
        let stop = StopConditions {
            tests: Some(4),
            steps_per_test: 20,
            ..StopConditions::default()
        };
        let settings = Settings {
            stop,
            ..Settings::default()
        };
        let mut tester = Tester::new(Model::new(&text).semantics, settings);
        let reports = campaign(&mut tester, &mut Answers::new(|_| Vec::new()));
        let given = reports.iter().flat_map(|r| r.execution.stimuli());
        let lengths: BTreeSet<usize> = given
            .map(|stimulus| match &stimulus.values[0] {
                Value::Array(items) => items.len(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert!(lengths.contains(&0), "{constraint}");
        assert!(lengths.last() <= Some(&longest), "{constraint}");
        assert_eq!(lengths.len() > 2, longest > 0, "{constraint}: {lengths:?}");
    }
}

/// Internal steps that end in a response that is due: silence is wrong, but nobody knows who stops on the way.
#[test]
fn silence_after_internal_steps_that_were_cut_off_is_no_pass() {
    let text = "
        external 'c'
        process('p') {
          channel('c') { responses 'out' }
          var 'n', :integer, 0
          state 'Count'
          choice {
            o { tau constraint: 'n < 30', update: 'n = n + 1'; goto 'Count' }
            o { send 'out', constraint: 'n == 30'; goto 'Count' }
          }
        }";
    let judged = |states: u64| {
        let mut sts = load(text);
        let budget = ioco_budget::Budget {
            states,
            ..ioco_budget::Budget::default()
        };
        Arc::make_mut(&mut sts).set_budget(budget);
        let solver = Box::new(GuardSolver::new());
        let mut semantics = Semantics::new(Arc::clone(&sts), solver, Relation::Ioco);
        let silent = [(0, Recorded::Ready), (2 * sts.timeout(), Recorded::End)];
        let recorded = monitor(&mut semantics, &silent).verdict;
        let stop = StopConditions {
            tests: Some(1),
            ..StopConditions::default()
        };
        let settings = Settings {
            stop,
            ..Settings::default()
        };
        let mut tester = Tester::new(semantics, settings);
        let reports = campaign(&mut tester, &mut Answers::new(|_| Vec::new()));
        let played = reports[0].execution.verdict.clone();
        [recorded, played].map(|verdict| code_of(&verdict))
    };
    assert_eq!(judged(100), [Some("D002"); 2]);
    for states in [1, 2, 30] {
        assert_eq!(judged(states), [Some("I004"); 2], "{states}");
    }
}
