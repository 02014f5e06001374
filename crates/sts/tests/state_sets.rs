//! State sets at their edges: internal steps that end or do not, limits, unions and memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ioco_budget::{Budget, Resource};
use ioco_formats::{LabelMap, aut};
use ioco_sts::{
    Answer, Assignment, BinaryOp, EvaluationOnly, Expr, Feasibility, Gate, Label, LabelId,
    OpenSilence, Parameter, Place, Question, Relation, Semantics, Solved, Step, Sts, StsBuilder,
    Type, Value, Variable, Warning,
};

/// An automaton with these transitions; `i` is an internal step, state 0 the initial one.
fn automaton(states: usize, transitions: &[(usize, &str, usize)]) -> Arc<Sts> {
    let mut text = format!("des (0, {}, {states})\n", transitions.len());
    for (from, label, to) in transitions {
        text.push_str(&format!("({from}, \"{label}\", {to})\n"));
    }
    Arc::new(aut::read("a.aut", &text, &LabelMap::default()).expect("right"))
}

fn semantics(sts: &Arc<Sts>) -> Semantics {
    Semantics::new(Arc::clone(sts), Box::new(EvaluationOnly), Relation::Ioco)
}

#[test]
fn internal_steps_that_come_to_an_end_do_not_excuse_silence() {
    for transitions in [
        &[(0, "i", 1), (1, "i", 2), (2, "i", 3), (3, "!x", 3)][..],
        // A state that two steps lead to.
        &[
            (0, "i", 1),
            (0, "i", 2),
            (1, "i", 3),
            (2, "i", 3),
            (3, "!x", 3),
        ],
        &[
            (0, "i", 1),
            (0, "i", 2),
            (1, "i", 2),
            (2, "i", 3),
            (3, "!x", 3),
        ],
    ] {
        let mut semantics = semantics(&automaton(4, transitions));
        let initial = semantics.initial();
        assert!(!semantics.set(initial).divergent, "{transitions:?}");
        assert!(!semantics.menu(initial).silence);
        assert_eq!(semantics.after(initial, &Step::Quiescence), None);
        assert_eq!(semantics.take_warnings(), []);
    }
}

#[test]
fn the_warning_of_endless_internal_steps_names_one_of_them() {
    let sts = automaton(3, &[(0, "i", 1), (1, "i", 2), (2, "i", 2), (2, "!x", 2)]);
    let mut semantics = semantics(&sts);
    let switch = sts.outgoing(sts.switches()[2].source)[0];
    assert_eq!(semantics.take_warnings(), [Warning::Divergence { switch }]);
    let initial = semantics.initial();
    assert_eq!(semantics.initial_switches().len(), 3);
    // Silent for ever, it goes round in the last state.
    let silent = semantics
        .after(initial, &Step::Quiescence)
        .expect("allowed");
    assert_eq!(semantics.set(silent).states.len(), 1);
}

#[test]
fn what_is_only_supposed_gives_no_warning() {
    let mut semantics = semantics(&automaton(2, &[(0, "?a", 1), (1, "i", 1)]));
    semantics.mute(true);
    let supposed = after(&mut semantics, "a");
    assert!(semantics.set(supposed).divergent);
    assert_eq!(semantics.take_warnings(), []);
    semantics.mute(false);
    let initial = semantics.initial();
    semantics.forget_all_but(initial);
    after(&mut semantics, "a");
    assert_eq!(semantics.take_warnings().len(), 1);
}

/// A counter that internal steps raise without end, with a text of this length beside it.
fn counter(budget: Budget, length: usize) -> Arc<Sts> {
    let mut builder = StsBuilder::new("counter");
    let process = builder.process("main");
    let place = Place::default();
    let mut variable = |name: &str, ty: Type, initial: Value| {
        builder.variable(Variable {
            name: name.to_owned(),
            process,
            ty,
            initial,
            place,
        })
    };
    let n = variable("n", Type::INTEGER, Value::Int(0));
    variable("text", Type::Str, Value::str(&"x".repeat(length)));
    let count = builder.named_location(process, "Count");
    let one_more = Assignment {
        variable: n,
        value: Expr::binary(BinaryOp::Add, Expr::Var(n), Expr::int(1)),
    };
    builder.switch(count, Gate::Tau, Expr::TRUE, vec![one_more], count, place);
    let mut sts = builder.build();
    sts.set_budget(budget);
    Arc::new(sts)
}

fn exhausted(semantics: &mut Semantics) -> Vec<(Resource, u64)> {
    let warnings = semantics.take_warnings();
    let exhausted = warnings.iter().filter_map(|warning| match warning {
        Warning::Exhausted { exhausted, .. } => Some((exhausted.resource, exhausted.limit)),
        _ => None,
    });
    exhausted.collect()
}

#[test]
fn a_set_keeps_to_the_limits_on_states_and_on_memory() {
    let states = Budget {
        states: 10,
        ..Budget::default()
    };
    let bytes = Budget {
        bytes: 50_000,
        ..Budget::default()
    };
    for (budget, limit) in [
        (states, (Resource::States, 10)),
        (bytes, (Resource::Bytes, 50_000)),
    ] {
        let mut semantics = semantics(&counter(budget, 5_000));
        let set = Arc::clone(semantics.set(semantics.initial()));
        assert!(set.truncated);
        assert!((8..=10).contains(&set.states.len()), "{}", set.states.len());
        assert_eq!(exhausted(&mut semantics), [limit]);
    }
}

#[test]
fn the_evaluations_of_one_set_share_their_steps() {
    let budget = Budget {
        steps: 40,
        ..Budget::default()
    };
    // Each state takes a few of the 64 × 40 steps.
    let mut semantics = semantics(&counter(budget, 0));
    let set = Arc::clone(semantics.set(semantics.initial()));
    assert!(set.truncated);
    assert!(
        (400..1_300).contains(&set.states.len()),
        "{}",
        set.states.len()
    );
    assert_eq!(exhausted(&mut semantics), [(Resource::Steps, 40)]);
}

#[test]
fn whoever_counts_without_end_may_be_silent_in_every_state() {
    let budget = Budget {
        states: 10,
        ..Budget::default()
    };
    let mut semantics = semantics(&counter(budget, 0));
    let initial = semantics.initial();
    let silent = semantics
        .after(initial, &Step::Quiescence)
        .expect("allowed");
    assert_eq!(semantics.set(silent).states, semantics.set(initial).states);
}

/// From the initial state `?a` leads to `a` states, `?b` to `b` others.
fn fan(a: usize, b: usize, most: u64) -> Semantics {
    let mut transitions = Vec::new();
    let mut states = 1;
    for (label, count) in [("?a", a), ("?b", b)] {
        for _ in 0..count {
            transitions.push((0, label, states));
            states += 1;
        }
    }
    let mut sts = automaton(states, &transitions);
    Arc::make_mut(&mut sts).set_budget(Budget {
        states: most,
        ..Budget::default()
    });
    semantics(&sts)
}

fn after(semantics: &mut Semantics, name: &str) -> ioco_sts::SetId {
    let label = semantics
        .sts()
        .label_named(ioco_sts::Direction::Stimulus, name)
        .expect("declared");
    let initial = semantics.initial();
    let step = Step::Stimulus(ioco_sts::Action::plain(label));
    semantics.after(initial, &step).expect("accepted")
}

#[test]
fn a_union_with_more_states_than_allowed_is_truncated() {
    for (most, truncated) in [(6, false), (5, false), (4, true), (3, true)] {
        let mut semantics = fan(3, 2, most);
        let (a, b) = (after(&mut semantics, "a"), after(&mut semantics, "b"));
        let union = semantics.union(a, b);
        let set = semantics.set(union);
        assert_eq!(set.truncated, truncated, "{most}");
        assert_eq!(set.states.len() as u64, most.min(5));
    }
}

#[test]
fn a_union_with_one_truncated_set_is_truncated() {
    let transitions = [
        (0, "?a", 1),
        (0, "?t", 1),
        (0, "?t", 2),
        (0, "?t", 3),
        (0, "?t", 4),
    ];
    let mut sts = automaton(5, &transitions);
    Arc::make_mut(&mut sts).set_budget(Budget {
        states: 3,
        ..Budget::default()
    });
    let mut semantics = semantics(&sts);
    let (a, t) = (after(&mut semantics, "a"), after(&mut semantics, "t"));
    assert!(!semantics.set(a).truncated);
    assert!(semantics.set(t).truncated);
    for (left, right) in [(a, t), (t, a)] {
        let union = semantics.union(left, right);
        assert_eq!(semantics.set(union).states.len(), 3);
        assert!(semantics.set(union).truncated);
    }
}

#[test]
fn memory_is_crowded_by_many_sets_or_by_large_ones() {
    let mut semantics = fan(1, 1, 5);
    after(&mut semantics, "a");
    assert_eq!(semantics.remembered(), 2);
    let crowded: Vec<bool> = (0..4).map(|sets| semantics.is_crowded(sets)).collect();
    assert_eq!(crowded, [true, true, false, false]);
    // Each set takes half of the memory that one may take; forgetting starts at eight times that.
    let budget = Budget {
        bytes: 20_000,
        states: 1,
        ..Budget::default()
    };
    let sts = counter(budget, 10_000);
    let mut large = self::semantics(&sts);
    let mut set = ioco_sts::StateSet::clone(large.set(large.initial()));
    let mut remembered = 1;
    while !large.is_crowded(usize::MAX) {
        set.states[0].valuation[0] = Value::Int(-remembered);
        large.id_of(&Arc::new(set.clone()));
        remembered += 1;
        assert!(remembered < 20, "memory is never crowded");
    }
    assert!(remembered >= 6, "{remembered}");
    let initial = large.initial();
    large.forget_all_but(initial);
    assert!(!large.is_crowded(usize::MAX));
}

/// Knows one answer.
struct Seven;

impl Feasibility for Seven {
    fn feasible(&mut self, _: Question<'_>) -> Answer {
        Answer::Yes
    }

    fn example(&mut self, _: Question<'_>) -> Option<Vec<Value>> {
        Some(vec![Value::Int(7)])
    }
}

#[test]
fn examples_are_those_of_the_solver() {
    let sts = automaton(1, &[(0, "?a", 0)]);
    let mut seven = Semantics::new(Arc::clone(&sts), Box::new(Seven), Relation::Ioco);
    let example = seven.example(LabelId(0), &Expr::TRUE, &[]);
    assert_eq!(example, Some(vec![Value::Int(7)]));
    assert_eq!(semantics(&sts).example(LabelId(0), &Expr::TRUE, &[]), None);
    let question = Question {
        sts: &sts,
        label: LabelId(0),
        guard: &Expr::TRUE,
        valuation: &[],
    };
    assert_eq!(EvaluationOnly.solve(question), Solved::Unknown);
    assert_eq!(Seven.solve(question), Solved::Values(vec![Value::Int(7)]));
}

/// A model whose labels have one parameter each; `i` is an internal step. The solver decides no guard
/// that speaks of the parameter.
fn guarded(relation: Relation, switches: &[(usize, &str, Expr, usize)]) -> Semantics {
    let mut builder = StsBuilder::new("guarded");
    let process = builder.process("main");
    let locations: Vec<_> = (0..6)
        .map(|number| builder.named_location(process, &format!("L{number}")))
        .collect();
    let mut labels: Vec<(String, LabelId)> = Vec::new();
    for (from, name, guard, to) in switches {
        let gate = match name.split_at(1) {
            ("i", _) => Gate::Tau,
            (mark, rest) => {
                let known = labels.iter().find(|label| label.0 == *name);
                let known = known.map(|label| label.1);
                Gate::Observable(known.unwrap_or_else(|| {
                    let direction = match mark {
                        "?" => ioco_sts::Direction::Stimulus,
                        _ => ioco_sts::Direction::Response,
                    };
                    let label = builder.label(Label {
                        name: rest.to_owned(),
                        channel: "c".to_owned(),
                        direction,
                        parameters: vec![Parameter {
                            name: "v".to_owned(),
                            ty: Type::INTEGER,
                        }],
                    });
                    labels.push(((*name).to_owned(), label));
                    label
                }))
            }
        };
        let (from, to) = (locations[*from], locations[*to]);
        builder.switch(from, gate, guard.clone(), Vec::new(), to, Place::default());
    }
    Semantics::new(
        Arc::new(builder.build()),
        Box::new(EvaluationOnly),
        relation,
    )
}

fn v_is(value: i64) -> Expr {
    Expr::binary(BinaryOp::Eq, Expr::Param(0), Expr::int(value))
}

#[test]
fn silence_is_open_where_only_an_undecided_response_speaks_against_it() {
    let open = |switches: &[(usize, &str, Expr, usize)]| {
        let mut semantics = guarded(Relation::Ioco, switches);
        let initial = semantics.initial();
        let label = |name: &str| {
            let sts = semantics.sts();
            sts.label_named(ioco_sts::Direction::Response, name)
        };
        let (x, z) = (label("x"), label("z"));
        semantics.open_silence(initial).map(|why| match why {
            OpenSilence::Response(label) if Some(label) == x => "x",
            OpenSilence::Response(label) if Some(label) == z => "z",
            other => panic!("{other:?}"),
        })
    };
    let tau = |from: usize, to: usize| (from, "i", Expr::TRUE, to);
    assert_eq!(open(&[(0, "!x", v_is(1), 0)]), Some("x"));
    assert_eq!(open(&[(0, "!x", Expr::TRUE, 0)]), None);
    // A state that is certainly silent, and steps without end.
    assert_eq!(open(&[tau(0, 1), tau(0, 2), (1, "!x", v_is(1), 1)]), None);
    assert_eq!(open(&[tau(0, 1), tau(0, 0), (1, "!x", v_is(1), 1)]), None);
    // A state that certainly responds is not the one that may be silent.
    let both = [
        tau(0, 1),
        tau(0, 2),
        (1, "!x", v_is(1), 1),
        (1, "!y", Expr::TRUE, 1),
        (2, "!z", v_is(1), 2),
    ];
    assert_eq!(open(&both), Some("z"));
}

#[test]
fn under_uioco_the_condition_of_a_stimulus_is_that_of_the_stable_states() {
    let switches = [
        (0, "i", Expr::TRUE, 1),
        (0, "?a", v_is(1), 0),
        (1, "?a", v_is(2), 1),
    ];
    for (relation, expected) in [
        (Relation::Ioco, [true, true, false]),
        (Relation::Uioco, [false, true, false]),
    ] {
        let mut semantics = guarded(relation, &switches);
        let initial = semantics.initial();
        let offer = semantics.menu(initial).stimuli[0].clone();
        let condition = semantics.offer_condition(initial, &offer);
        let holds = [1, 2, 3].map(|value| {
            let env = ioco_sts::Env {
                variables: &[],
                parameters: &[Value::Int(value)],
                functions: &[],
            };
            condition.holds(env) == Ok(true)
        });
        assert_eq!(holds, expected, "{relation:?}");
    }
}

/// Decides nothing, and counts how often it is asked.
struct Counting(Arc<AtomicUsize>);

impl Feasibility for Counting {
    fn feasible(&mut self, _: Question<'_>) -> Answer {
        self.0.fetch_add(1, Ordering::Relaxed);
        Answer::Unknown
    }
}

/// Two variables. `!x` reads the first; internal steps set the one of this number to 1, 2 and 3.
fn asked_after_setting(variable: usize) -> usize {
    let mut builder = StsBuilder::new("questions");
    let process = builder.process("main");
    let at = builder.named_location(process, "L");
    let variables = ["read", "unread"].map(|name| {
        builder.variable(Variable {
            name: name.to_owned(),
            process,
            place: Place::default(),
            ty: Type::INTEGER,
            initial: Value::Int(0),
        })
    });
    let label = builder.label(Label {
        name: "x".to_owned(),
        channel: "c".to_owned(),
        direction: ioco_sts::Direction::Response,
        parameters: vec![Parameter {
            name: "v".to_owned(),
            ty: Type::INTEGER,
        }],
    });
    let guard = Expr::binary(BinaryOp::Eq, Expr::Param(0), Expr::Var(variables[0]));
    let gate = Gate::Observable(label);
    builder.switch(at, gate, guard, Vec::new(), at, Place::default());
    for value in 1..4 {
        let update = vec![Assignment {
            variable: variables[variable],
            value: Expr::int(value),
        }];
        builder.switch(at, Gate::Tau, Expr::TRUE, update, at, Place::default());
    }
    let asked = Arc::new(AtomicUsize::new(0));
    let solver = Box::new(Counting(Arc::clone(&asked)));
    let mut semantics = Semantics::new(Arc::new(builder.build()), solver, Relation::Ioco);
    let initial = semantics.initial();
    assert_eq!(semantics.set(initial).states.len(), 4);
    let menu = semantics.menu(initial);
    assert_eq!(menu.responses[0].switches.len(), 4);
    assert_eq!(
        semantics.take_warnings().len(),
        2,
        "undecided and divergent"
    );
    asked.load(Ordering::Relaxed)
}

#[test]
fn the_solver_is_asked_once_about_states_that_a_guard_does_not_distinguish() {
    assert_eq!(asked_after_setting(1), 1);
    assert_eq!(asked_after_setting(0), 4);
}
