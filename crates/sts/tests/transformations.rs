//! Reduced and flattened systems behave as the originals, on random models.

mod common;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use common::models::{Model, model};
use common::reference::{self, ByEnumeration, States};
use ioco_sts::{
    Action, Assignment, BinaryOp, Direction, EvaluationOnly, Expr, FlattenError, Gate, IntRange,
    Label, LabelId, Location, Parameter, Place, Relation, Semantics, SetId, Side, Step, Sts,
    StsBuilder, Type, Value, VarId, Variable, distinguish, flatten, reduce,
};
use proptest::prelude::*;

/// How a label and its values are named when flattened.
fn flat_name(sts: &Sts, action: &Action) -> String {
    let name = &sts.label(action.label).name;
    if action.values.iter().all(Value::is_void) {
        return name.clone();
    }
    let values = action.values.iter();
    let shown: Vec<String> = values.map(|v| v.display(sts.types()).to_string()).collect();
    format!("{name}({})", shown.join(", "))
}

/// Walks the flat system and the original together: after every trace of the flat alphabet the same
/// responses, the same silence and the same stimuli of that alphabet are allowed.
fn check_flattened(sts: &Sts, flat: &Sts, depth: usize) {
    assert!(flat.is_plain());
    let mut semantics = Semantics::new(
        Arc::new(flat.clone()),
        Box::new(EvaluationOnly),
        Relation::Ioco,
    );
    let flat_labels: BTreeMap<(Direction, &str), LabelId> = flat
        .labels()
        .iter()
        .enumerate()
        .map(|(index, l)| ((l.direction, l.name.as_str()), LabelId::from_index(index)))
        .collect();
    let start = (semantics.initial(), reference::initial(sts));
    let mut seen: BTreeSet<(SetId, States)> = BTreeSet::from([start.clone()]);
    let mut queue = VecDeque::from([(start, 0)]);
    while let Some(((set, states), steps)) = queue.pop_front() {
        let mut follow = |flat_step: Option<Step>, step: Step| {
            let reached = reference::after(sts, &states, &step);
            let shown = step.show(sts);
            let Some(flat_step) = flat_step else {
                // Only a stimulus that is never given may be missing from the flat alphabet.
                let missing = matches!(step, Step::Stimulus(_)) || reached.is_empty();
                assert!(missing, "{shown} is lost");
                return;
            };
            let next = semantics.after(set, &flat_step);
            assert_eq!(next.is_some(), !reached.is_empty(), "{shown}");
            if let Some(next) = next
                && steps < depth
                && seen.insert((next, reached.clone()))
            {
                queue.push_back(((next, reached), steps + 1));
            }
        };
        for direction in [Direction::Stimulus, Direction::Response] {
            for action in reference::actions(sts, direction) {
                let name = flat_name(sts, &action);
                let label = flat_labels.get(&(direction, name.as_str()));
                let as_step: fn(Action) -> Step = match direction {
                    Direction::Stimulus => Step::Stimulus,
                    _ => Step::Response,
                };
                follow(
                    label.map(|label| as_step(Action::plain(*label))),
                    as_step(action),
                );
            }
        }
        follow(Some(Step::Quiescence), Step::Quiescence);
    }
}

/// Walks two systems with the same labels together.
fn check_same(left: &Sts, right: &Sts, depth: usize) {
    let walker = |sts: &Sts| {
        Semantics::new(
            Arc::new(sts.clone()),
            Box::new(ByEnumeration),
            Relation::Ioco,
        )
    };
    let (mut a, mut b) = (walker(left), walker(right));
    let mut steps = vec![Step::Quiescence];
    steps.extend(
        reference::actions(left, Direction::Stimulus)
            .into_iter()
            .map(Step::Stimulus),
    );
    steps.extend(
        reference::actions(left, Direction::Response)
            .into_iter()
            .map(Step::Response),
    );
    let mut seen = BTreeSet::from([(a.initial(), b.initial())]);
    let mut level: Vec<(SetId, SetId)> = seen.iter().copied().collect();
    for _ in 0..depth {
        let mut next_level = Vec::new();
        for (left_set, right_set) in level {
            for step in &steps {
                let (l, r) = (a.after(left_set, step), b.after(right_set, step));
                assert_eq!(l.is_some(), r.is_some(), "{}", step.show(left));
                if let (Some(l), Some(r)) = (l, r)
                    && seen.insert((l, r))
                {
                    next_level.push((l, r));
                }
            }
        }
        level = next_level;
    }
}

/// The coarsest bisimulation by the definition: pairs of locations, from all pairs, drop what
/// does not match until nothing does.
fn bisimilar_pairs(sts: &Sts) -> BTreeSet<(usize, usize)> {
    let locations = sts.locations();
    let count = locations.len();
    let mut related: BTreeSet<(usize, usize)> = (0..count)
        .flat_map(|a| (0..count).map(move |b| (a, b)))
        .filter(|(a, b)| {
            let (a, b) = (&locations[*a], &locations[*b]);
            a.process == b.process && a.timeout == b.timeout
        })
        .collect();
    loop {
        let matched = |a: usize, b: usize| {
            let of = |l: usize| sts.switches().iter().filter(move |s| s.source.index() == l);
            of(a).all(|s| {
                of(b).any(|t| {
                    (s.gate, &s.guard, &s.update) == (t.gate, &t.guard, &t.update)
                        && related.contains(&(s.target.index(), t.target.index()))
                })
            })
        };
        let kept: BTreeSet<(usize, usize)> = related
            .iter()
            .copied()
            .filter(|(a, b)| matched(*a, *b) && matched(*b, *a))
            .collect();
        if kept == related {
            return kept;
        }
        related = kept;
    }
}

/// A plain system with many locations and few labels, so that much can be merged.
fn mergeable() -> impl Strategy<Value = Model> {
    let edge = (0..12usize, 0..2usize, 0..12usize);
    (prop::collection::vec(edge, 0..20), 0..12usize).prop_map(|(edges, slow)| {
        let mut builder = StsBuilder::new("plain");
        for (name, direction) in [("a", Direction::Stimulus), ("b", Direction::Response)] {
            builder.label(Label {
                name: name.to_owned(),
                channel: "c".to_owned(),
                direction,
                parameters: Vec::new(),
            });
        }
        let process = builder.process("p");
        let locations: Vec<_> = (0..12)
            .map(|number| {
                builder.location(Location {
                    name: format!("l{number}"),
                    process,
                    timeout: (number == slow).then_some(7),
                    place: Place::default(),
                })
            })
            .collect();
        for (source, label, target) in edges {
            builder.switch(
                locations[source],
                Gate::Observable(LabelId::from_index(label)),
                Expr::TRUE,
                Vec::new(),
                locations[target],
                Place::default(),
            );
        }
        Model(builder.build())
    })
}

fn check_coarsest(sts: &Sts) {
    let reduced = reduce(sts);
    let related = bisimilar_pairs(sts);
    for a in 0..sts.locations().len() {
        for b in 0..sts.locations().len() {
            let merged = reduced.merged[a] == reduced.merged[b];
            assert_eq!(merged, related.contains(&(a, b)), "l{a} and l{b}");
        }
    }
    for (old, new) in sts.switches().iter().zip(&reduced.switches) {
        let new = reduced.sts.switch(*new);
        assert_eq!(
            (new.gate, &new.guard, &new.update),
            (old.gate, &old.guard, &old.update)
        );
        assert_eq!(new.source, reduced.merged[old.source.index()]);
        assert_eq!(new.target, reduced.merged[old.target.index()]);
    }
    let distinct: BTreeSet<String> = reduced
        .sts
        .switches()
        .iter()
        .map(|s| {
            format!(
                "{:?} {:?} {:?} {:?} {:?}",
                s.source, s.gate, s.guard, s.update, s.target
            )
        })
        .collect();
    assert_eq!(distinct.len(), reduced.sts.switches().len());
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn reduction_merges_exactly_the_bisimilar_locations(
        Model(plain) in mergeable(),
        Model(data) in model(),
    ) {
        check_coarsest(&plain);
        check_coarsest(&data);
    }

    #[test]
    fn reduced_systems_behave_as_before(Model(sts) in model()) {
        check_same(&sts, &reduce(&sts).sts, 4);
    }

    #[test]
    fn flattened_systems_behave_as_before(Model(sts) in model()) {
        let flat = flatten(&sts, 2000).expect("all types are small");
        check_flattened(&sts, &flat, 4);
        let reduced = reduce(&flat).sts;
        let same_name = |_: Side, label: &Label| Some(label.name.clone());
        prop_assert_eq!(distinguish(&flat, &reduced, same_name), None);
    }
}

/// A system of one location that counts up to `limit` and takes `amount` under a guard.
fn counter(limit: i64, guard: Expr, ty: Type) -> Sts {
    let mut builder = StsBuilder::new("counter");
    let put = builder.label(Label {
        name: "put".to_owned(),
        channel: "c".to_owned(),
        direction: Direction::Stimulus,
        parameters: vec![Parameter {
            name: "amount".to_owned(),
            ty,
        }],
    });
    let count = builder.variable(Variable {
        name: "count".to_owned(),
        process: ioco_sts::ProcessId(0),
        ty: Type::Int(IntRange { min: 0, max: limit }),
        initial: Value::Int(0),
        place: Place::default(),
    });
    let process = builder.process("p");
    let here = builder.named_location(process, "Here");
    let up = Assignment {
        variable: count,
        value: Expr::binary(BinaryOp::Add, Expr::Var(VarId(0)), Expr::int(1)),
    };
    builder.switch(
        here,
        Gate::Observable(put),
        guard,
        vec![up],
        here,
        Place::default(),
    );
    builder.build()
}

fn amount(op: BinaryOp, value: i64) -> Expr {
    Expr::binary(op, Expr::Param(0), Expr::int(value))
}

#[test]
fn flat_labels_and_locations_carry_their_values() {
    let guard = Expr::InSet(Box::new(Expr::Param(0)), vec![Expr::int(5), Expr::int(20)]);
    let flat = flatten(&counter(1, guard, Type::INTEGER), 10).unwrap();
    let names: Vec<&str> = flat.labels().iter().map(|l| l.name.as_str()).collect();
    assert_eq!(names, ["put(5)", "put(20)"]);
    let names: Vec<&str> = flat.locations().iter().map(|l| l.name.as_str()).collect();
    assert_eq!(names, ["Here {count: 0}", "Here {count: 1}"]);
}

#[test]
fn guards_that_bound_a_parameter_make_it_finite() {
    let between = Expr::and(amount(BinaryOp::Gt, 2), amount(BinaryOp::Le, 6));
    let either = Expr::binary(
        BinaryOp::Or,
        amount(BinaryOp::Eq, 3),
        amount(BinaryOp::Eq, 9),
    );
    for (guard, count) in [(between, 4), (either, 2), (Expr::TRUE, 1), (Expr::FALSE, 0)] {
        let flat = flatten(&counter(1, guard.clone(), Type::INTEGER), 10).unwrap();
        assert_eq!(flat.labels().len(), count, "{guard:?}");
    }
}

#[test]
fn what_cannot_be_listed_is_named() {
    let open = flatten(&counter(1, amount(BinaryOp::Gt, 2), Type::INTEGER), 10).unwrap_err();
    assert!(open.to_string().contains("'amount' of ?put"), "{open}");
    let text = Expr::binary(BinaryOp::Ne, Expr::Param(0), Expr::Const("x".into()));
    let open = flatten(&counter(1, text, Type::Str), 10).unwrap_err();
    assert!(matches!(open, FlattenError::UnboundedParameter { .. }));
    let many = flatten(&counter(i64::MAX, Expr::TRUE, Type::INTEGER), 100).unwrap_err();
    let text = many.to_string();
    assert!(
        text.contains("more than 100 states") && text.contains("'count'"),
        "{text}"
    );
}

/// A plain system from edges `(from, label, to)`, where `?` and `!` tell the direction.
fn plain(edges: &[(&str, &str, &str)]) -> Sts {
    let edges: Vec<String> = edges
        .iter()
        .map(|(from, label, to)| format!("{from} -> {to} [label=\"{label}\"]"))
        .collect();
    let text = format!("digraph {{ {} }}", edges.join("; "));
    ioco_formats::dot::read("plain", &text, &ioco_formats::dot::MealyOptions::default()).unwrap()
}

fn check_difference(left: &Sts, right: &Sts, common: &[&str], step: &str, allowed_by: Side) {
    let found = distinguish(left, right, |_, label| Some(label.name.clone())).unwrap();
    let shown: Vec<String> = found.common.iter().map(|s| s.show(left)).collect();
    assert_eq!(shown, common);
    let sts = if found.allowed_by == Side::Left {
        left
    } else {
        right
    };
    assert_eq!(
        (found.step.show(sts).as_str(), found.allowed_by),
        (step, allowed_by)
    );
}

#[test]
fn the_shortest_difference_is_found_and_says_whose_it_is() {
    let machine = plain(&[("a", "?coin", "b"), ("b", "!tea", "a")]);
    let other = plain(&[("a", "?coin", "b"), ("b", "!tea", "a"), ("b", "!milk", "a")]);
    check_difference(&machine, &other, &["?coin"], "!milk", Side::Right);
    check_difference(&other, &machine, &["?coin"], "!milk", Side::Left);
    let lazy = plain(&[("a", "?coin", "b"), ("b", "!tea", "a"), ("a", "?coin", "c")]);
    check_difference(&machine, &lazy, &["?coin"], "δ", Side::Right);
    let greedy = plain(&[("a", "?coin", "b"), ("b", "!tea", "a"), ("a", "?kick", "a")]);
    check_difference(&machine, &greedy, &[], "?kick", Side::Right);
    let once = plain(&[("a", "?coin", "b"), ("b", "!tea", "c")]);
    check_difference(&machine, &once, &["?coin", "!tea"], "?coin", Side::Left);
}

#[test]
fn labels_are_compared_by_their_new_names_and_those_left_out_not_at_all() {
    let machine = plain(&[("a", "?coin", "b"), ("b", "!tea", "a")]);
    let foreign = plain(&[
        ("a", "?munt", "b"),
        ("b", "!thee", "a"),
        ("a", "?schop", "a"),
    ]);
    let translated = |side: Side, label: &Label| match (side, label.name.as_str()) {
        (Side::Right, "munt") => Some("coin".to_owned()),
        (Side::Right, "thee") => Some("tea".to_owned()),
        (Side::Right, _) => None,
        (Side::Left, name) => Some(name.to_owned()),
    };
    assert_eq!(distinguish(&machine, &foreign, translated), None);
    // Two systems of different shape and the same traces.
    let unrolled = [("a", "?coin", "b"), ("b", "!tea", "c"), ("c", "?coin", "b")];
    let same = |_: Side, label: &Label| Some(label.name.clone());
    assert_eq!(distinguish(&machine, &plain(&unrolled), same), None);
}

#[test]
fn the_limit_on_states_also_limits_the_work() {
    // Sixty thousand amounts are tried in each state, and all but one are refused.
    let square = Expr::binary(BinaryOp::Mul, Expr::Param(0), Expr::Param(0));
    let rest = Expr::binary(BinaryOp::Rem, square, Expr::int(7));
    let never = Expr::binary(BinaryOp::Eq, rest, Expr::int(3));
    let either = Expr::binary(BinaryOp::Or, never, amount(BinaryOp::Eq, 1));
    let amounts = Type::Int(IntRange {
        min: 0,
        max: 60_000,
    });
    let hard = flatten(&counter(90, either, amounts), 100).unwrap_err();
    assert!(
        matches!(hard, FlattenError::TooMuchWork { limit: 100, .. }),
        "{hard}"
    );
}
