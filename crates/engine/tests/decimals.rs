//! Decimals in models: integers become decimals wherever the types say so, and equal values are one
//! value.

use std::sync::Arc;

use ioco_solve::GuardSolver;
use ioco_sts::{
    Action, CompareOptions, Direction, Equivalence, Relation, Semantics, Step, Sts, Value, Warning,
    compare,
};

fn load(text: &str) -> Result<Arc<Sts>, String> {
    let loaded = ioco_aml::load_text("model.aml", text);
    let shown = loaded
        .diagnostics
        .iter()
        .filter(|d| d.is_error())
        .map(|d| ioco_aml::render(d, &loaded.files, false));
    let shown: Vec<String> = shown.collect();
    loaded.sts.ok_or(shown.join("\n"))
}

/// A response `out` with a parameter `v` of a type, after a step with an update.
fn model(ty: &str, update: &str, constraint: &str) -> String {
    format!(
        "external 'c'
         function('half', [:decimal] => :decimal) {{ |x| x / 2 }}
         function('whole', [:integer] => :decimal) {{ |x| x }}
         process('p') {{
           channel('c') {{ response 'out', {{'v' => {ty}}} }}
           var 'd', :decimal, 3
           var 'i', :integer, 3
           var 'xs', [:decimal], [1]
           var 'is', [:integer], [3]
           tau update: '{update}'
           send 'out', constraint: '{constraint}'
         }}"
    )
}

fn allows(text: &str, value: Value) -> bool {
    let sts = load(text).unwrap_or_else(|errors| panic!("{errors}"));
    let mut semantics = Semantics::new(
        Arc::clone(&sts),
        Box::new(GuardSolver::new()),
        Relation::Ioco,
    );
    let label = sts.label_named(Direction::Response, "out").expect("known");
    let values = vec![value];
    let step = Step::Response(Action { label, values });
    semantics.after(semantics.initial(), &step).is_some()
}

fn decimal(text: &str) -> Value {
    Value::Decimal(text.parse().expect("a decimal"))
}

fn decimals(texts: &[&str]) -> Value {
    Value::Array(texts.iter().map(|text| decimal(text)).collect())
}

#[test]
fn integers_become_decimals_where_the_types_say_so() {
    for (ty, update, constraint, value) in [
        (":decimal", "d = d", "v == min(3, 4.5) / 2", decimal("1.5")),
        (":decimal", "d = d", "v == max(i, 2.5) / 2", decimal("1.5")),
        (":decimal", "d = i", "v == d / 2", decimal("1.5")),
        (":decimal", "d = d", "v == half(3)", decimal("1.5")),
        (":decimal", "d = d", "v == half(i)", decimal("1.5")),
        (":decimal", "d = d", "v == whole(3) / 2", decimal("1.5")),
        (
            ":decimal",
            "d = d",
            "v == (if i > 0 then 3 else 4.5) / 2",
            decimal("1.5"),
        ),
        (":decimal", "d = d", "v == [3, 4.5][0] / 2", decimal("1.5")),
        (":decimal", "xs = [3, i]", "v == xs[1] / 2", decimal("1.5")),
        (
            ":decimal",
            "xs = [] + [3]",
            "v == last(xs) / 2",
            decimal("1.5"),
        ),
        (":decimal", "d = d", "v in [3, 4]", decimal("3.00")),
        ("[:decimal]", "d = d", "v == [3]", decimals(&["3.00"])),
        ("[:decimal]", "d = d", "v == is", decimals(&["3"])),
        ("[:decimal]", "d = d", "v in [[1], [3]]", decimals(&["3"])),
        (
            "[[:decimal]]",
            "d = d",
            "v == [[3]]",
            Value::Array([decimals(&["3"])].into()),
        ),
        (
            "[:decimal]",
            "xs = xs + [3]",
            "v == xs",
            decimals(&["1", "3.0"]),
        ),
        (
            "[:decimal]",
            "xs += [3]",
            "v == xs",
            decimals(&["1", "3.0"]),
        ),
        (
            "[:decimal]",
            "xs = if i > 0 then [3] else xs",
            "v == xs",
            decimals(&["3.0"]),
        ),
        (":decimal", "d = d", "v == i - 1.5", decimal("1.5")),
        (":decimal", "d = d", "v == 4.5 - i", decimal("1.5")),
        (":decimal", "d -= 1.5", "v == d", decimal("1.5")),
        (":decimal", "xs = [1, 2]", "v == xs.sum / 2", decimal("1.5")),
        (":decimal", "d = d", "v == [1, 0.5].sum", decimal("1.5")),
        // A condition of a step that is taken or not.
        (
            ":decimal",
            "d = d",
            "d == i && d - i == 0 && v == 1.5",
            decimal("1.50"),
        ),
        (
            ":decimal",
            "d = d",
            "v == (if d - 0.5 < i then 1.5 else 4.5)",
            decimal("1.5"),
        ),
        // Values that an adapter gives as integers.
        (":decimal", "d = d", "v / 2 == 1.5", Value::Int(3)),
    ] {
        let text = model(ty, update, constraint);
        assert!(allows(&text, value.clone()), "{update}; {constraint}");
        let other = match value {
            Value::Array(_) => decimals(&["2.5"]),
            _ => decimal("2.5"),
        };
        assert!(!allows(&text, other), "{update}; {constraint}");
    }
}

#[test]
fn what_cannot_become_a_decimal_is_a_mistake_not_a_void() {
    for (update, constraint) in [
        ("xs = is", "v == xs"),
        ("xs = xs + is", "v == xs"),
        ("xs = if i > 0 then is else xs", "v == xs"),
        ("d = 0.12345678901234567890123456789012", "v == xs"),
    ] {
        let loaded = load(&model("[:decimal]", update, constraint));
        assert!(loaded.is_err(), "{update}");
    }
}

#[test]
fn a_sum_or_product_that_a_decimal_cannot_hold_has_no_value() {
    for (update, allowed) in [
        ("d = 1000000000000000000000000000.0 + 0.5", true),
        ("d = 1000000000000000000000000000.0 + 0.05", false),
        ("d = 0.00000000000001 * 0.00000000000001", true),
        ("d = 0.00000000000001 * 0.000000000000001", false),
        ("d = 1.0 / 3", true),
    ] {
        let sts = load(&model(":decimal", update, "v == d")).expect("right");
        let mut semantics = Semantics::new(sts, Box::new(GuardSolver::new()), Relation::Ioco);
        let states = semantics.set(semantics.initial()).states.len();
        assert_eq!(states, if allowed { 2 } else { 1 }, "{update}");
        let warnings = semantics.take_warnings();
        let warned = |w: &Warning| matches!(w, Warning::NotEvaluable { .. });
        assert_eq!(warnings.iter().any(warned), !allowed, "{warnings:?}");
    }
}

#[test]
fn models_that_differ_in_the_zeros_of_a_decimal_are_the_same() {
    let of = |constraint: &str| load(&model(":decimal", "d = d", constraint)).expect("right");
    let options = CompareOptions {
        equivalence: Equivalence::Strong,
        relation: Relation::Ioco,
        limit: 1000,
    };
    for other in [
        "v == 3.00",
        "v == 3.0",
        "v == d",
        "v == d + 0.00",
        "v in [3.00, 3]",
    ] {
        let found = compare(&of("v == 3"), &of(other), options).expect("finite");
        assert!(found.bisimilar && found.conforms, "{other}: {found:?}");
    }
    let found = compare(&of("v == 3"), &of("v == 3.01"), options).expect("finite");
    assert!(!found.bisimilar && !found.conforms);
}
