//! State sets at their edges: internal steps that end or do not, limits, unions and memory.

use std::sync::Arc;

use ioco_budget::{Budget, Resource};
use ioco_formats::{LabelMap, aut};
use ioco_sts::{
    Answer, Assignment, BinaryOp, EvaluationOnly, Expr, Feasibility, Gate, LabelId, Place,
    Question, Relation, Semantics, Solved, Step, Sts, StsBuilder, Type, Value, Variable, Warning,
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

/// From the initial state `?a` leads to `a` states, `?b` to `b` others, and `?t` to a truncated set
/// if the budget has less than `t` states.
fn fan(a: usize, b: usize, t: usize, most: u64) -> Semantics {
    let mut transitions = Vec::new();
    let mut states = 1;
    for (label, count) in [("?a", a), ("?b", b), ("?t", t)] {
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
        let mut semantics = fan(3, 2, 0, most);
        let (a, b) = (after(&mut semantics, "a"), after(&mut semantics, "b"));
        let union = semantics.union(a, b);
        let set = semantics.set(union);
        assert_eq!(set.truncated, truncated, "{most}");
        assert_eq!(set.states.len() as u64, most.min(5));
    }
}

#[test]
fn a_union_with_one_truncated_set_is_truncated() {
    let mut semantics = fan(1, 1, 6, 5);
    let (a, t) = (after(&mut semantics, "a"), after(&mut semantics, "t"));
    assert!(!semantics.set(a).truncated);
    assert!(semantics.set(t).truncated);
    for (left, right) in [(a, t), (t, a)] {
        let union = semantics.union(left, right);
        assert!(semantics.set(union).truncated);
    }
}

#[test]
fn memory_is_crowded_by_many_sets_or_by_large_ones() {
    let mut semantics = fan(1, 1, 0, 5);
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
