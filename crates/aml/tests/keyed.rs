//! Sets and hashes: what expressions with them are worth, how they are shown, what parameters may be, and what is said
//! when something is wrong.

use std::collections::{BTreeMap, BTreeSet};

mod common;

use common::{env, initial, valid};
use ioco_aml::{Loaded, load_text};
use ioco_sts::{EvalError, Sts, Type, Value, show_expr};
use proptest::prelude::*;

/// A model with one step that has this guard or update.
fn model(step: &str) -> Loaded {
    let text = format!(
        "external 'c'
enum 'Color', 'Red', 'Green', 'Blue'
function('least', [set(:integer)] => :integer) {{ |s| s.min }}
function('grown', [set(:integer), :integer] => set(:integer)) {{ |s, x| s.add(x) }}
process('p') {{
  channel('c') {{
    stimulus 'a', {{'ps' => set(integer(0..9)), 'ph' => {{:string => :integer}}, 'p' => :integer}}
  }}
  var 's', set(:integer), [3, 1, 2, 1]
  var 't', set(:integer), [2, 5]
  var 'none', set(:integer), []
  var 'small', set(integer(0..9)), [1, 2, 3]
  var 'colors', set('Color'), ['Green', 'Red']
  var 'words', set(:string), ['b', 'a']
  var 'h', {{:string => :integer}}, {{'b' => 2, 'a' => 1}}
  var 'g', {{:string => :integer}}, {{'c' => 3, 'a' => 9}}
  var 'empty', hash(:string => :integer), {{}}
  var 'nested', {{:integer => set(:integer)}}, {{}}
  var 'few', {{integer(0..5) => integer(0..3)}}, {{1 => 2}}
  var 'many', {{:integer => :integer}}, {{1 => 2}}
  var 'xs', [:integer], [4, 4, 1]
  var 'y', :integer, 2
  var 'unset', set(:integer)
  var 'lost', {{:string => :integer}}
  state 'S'
  {step}
}}
"
    );
    load_text("m.aml", &text)
}

fn sts(step: &str) -> std::sync::Arc<Sts> {
    valid(model(step))
}

fn errors(step: &str) -> String {
    let loaded = model(step);
    let errors = loaded.diagnostics.iter().filter(|d| d.is_error());
    let said: Vec<String> = errors
        .map(|d| format!("{} {}", d.code, d.message))
        .collect();
    said.join("\n")
}

fn holds(condition: &str) -> Result<bool, EvalError> {
    let sts = sts(&format!("receive 'a', constraint: %({condition})"));
    sts.switches()[0]
        .guard
        .holds(env(&sts, &initial(&sts), &[]))
}

/// What a step gives its first variable, as shown.
fn updated(update: &str) -> String {
    let sts = sts(&format!("receive 'a', update: %({update})"));
    let value = sts.switches()[0].update[0]
        .value
        .eval(env(&sts, &initial(&sts), &[]));
    match value {
        Ok(value) => value.display(sts.types()).to_string(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn conditions_on_sets_and_hashes() {
    for (condition, expected) in [
        ("s == Set[1, 2, 3]", true),
        ("Set[3, 2, 1, 1] == s", true),
        ("s != t", true),
        ("s == small", true),
        ("small == s", true),
        ("3 in s && !(5 in s)", true),
        ("s.include?(y) && s.member?(1)", true),
        ("s.length == 3 && s.size == 3 && s.count == 3", true),
        ("none.empty? && !s.empty? && none == Set[]", true),
        ("s | t == Set[1, 2, 3, 5]", true),
        ("s + t == t | s", true),
        ("s & t == Set[2]", true),
        ("s - t == Set[1, 3]", true),
        // What is written out has the type of what it is compared with, also below methods.
        ("many.with(7, 9) == {1 => 2}.with(7, 9)", true),
        ("{1 => 2}.with(7, 9) == many.with(7, 9)", true),
        ("{1 => 2}.merge({7 => 9}) == many.with(7, 9)", true),
        ("{1 => 2}.with(7, 9)[7] == 9", true),
        ("s == Set[1].add(2).add(3)", true),
        ("(if y == 2 then Set[1].add(17) else s) == Set[1, 17]", true),
        // Bounds of integers may differ.
        ("few == many && many == few", true),
        ("many.with(7, 9) != few", true),
        ("few == {1 => 2}", true),
        ("s - small == none", true),
        ("s.add(9).delete(1) == Set[2, 3, 9]", true),
        ("s.add(2) == s", true),
        ("Set[y, y + 1, 1] == s", true),
        (
            "none.subset?(s) && Set[1].subset?(s) && !t.subset?(s)",
            true,
        ),
        ("s.superset?(Set[1, 3])", true),
        ("s.select { |x| x > 1 } == Set[2, 3]", true),
        ("s.reject { |x| x > y } == Set[1, 2]", true),
        ("s.map { |x| x * 2 } == [2, 4, 6]", true),
        ("s.to_a == [1, 2, 3] && s.first == 1 && s.last == 3", true),
        (
            "s.all? { |x| x < 4 } && s.any? { |x| x == y } && s.none? { |x| x > 3 }",
            true,
        ),
        ("s.sum == 6 && s.min == 1 && s.max == 3", true),
        ("s.count { |x| x > 1 } == 2", true),
        ("xs.to_set == Set[1, 4]", true),
        ("least(s) == 1 && grown(s, 7) == Set[1, 2, 3, 7]", true),
        ("Green in colors && !(Blue in colors)", true),
        ("colors.add(Blue) == Set[Red, Green, Blue]", true),
        ("words == Set[\"a\", \"b\"]", true),
        ("y in Set[1, 2]", true),
        ("unset == :void", true),
        ("unset != s", true),
        ("h[\"a\"] == 1 && h[\"z\"] == :void", true),
        ("h == {\"a\" => 1, \"b\" => 2}", true),
        ("{\"b\" => y, \"a\" => 1} == h", true),
        ("h != g && empty == {} && empty.empty?", true),
        ("h.key?(\"a\") && !h.has_key?(\"c\") && \"b\" in h", true),
        ("h.fetch(\"z\", 7) == 7 && h.fetch(\"b\", 7) == 2", true),
        ("h.keys == [\"a\", \"b\"] && h.values == [1, 2]", true),
        ("h.merge(g) == {\"a\" => 9, \"b\" => 2, \"c\" => 3}", true),
        ("h.with(\"a\", 5) == {\"a\" => 5, \"b\" => 2}", true),
        ("h.delete(\"a\").delete(\"z\") == {\"b\" => 2}", true),
        ("h.length == 2 && h.size == 2", true),
        ("h.all? { |k, v| v > 0 && k != \"c\" }", true),
        ("h.any? { |k, v| k == \"b\" && v == y }", true),
        ("h.select { |k, v| v > 1 } == {\"b\" => 2}", true),
        ("h.reject { |k, v| v > 1 } == {\"a\" => 1}", true),
        ("h.map { |k, v| v * 10 } == [10, 20]", true),
        (
            "h.count { |k, v| v == 2 } == 1 && h.sum { |k, v| v } == 3",
            true,
        ),
    ] {
        assert_eq!(holds(condition), Ok(expected), "{condition}");
        assert_eq!(
            holds(&format!("!({condition})")),
            Ok(!expected),
            "{condition}"
        );
    }
}

#[test]
fn what_is_unset_is_never_in_a_set_or_a_key() {
    for condition in [
        "none.add(if y > 9 then 1 else :void).empty?",
        "unset.empty?",
        "1 in unset",
    ] {
        assert!(holds(condition).is_err(), "{condition}");
    }
}

#[test]
fn updates_change_them() {
    for (update, expected) in [
        ("s += Set[7]", "Set[1, 2, 3, 7]"),
        ("s -= t", "Set[1, 3]"),
        ("s = s | t", "Set[1, 2, 3, 5]"),
        ("s = small", "Set[1, 2, 3]"),
        ("s = if y > 1 then Set[] else t", "Set[]"),
        ("h[\"c\"] = y", "{\"a\" => 1, \"b\" => 2, \"c\" => 2}"),
        ("h[\"a\"] += 1", "{\"a\" => 2, \"b\" => 2}"),
        ("h = {}", "{}"),
        (
            "h = h.merge({\"z\" => y})",
            "{\"a\" => 1, \"b\" => 2, \"z\" => 2}",
        ),
        ("nested[4] = Set[2, 1]", "{4 => Set[1, 2]}"),
        ("words = words.delete(\"a\")", "Set[\"b\"]"),
    ] {
        assert_eq!(updated(update), expected, "{update}");
    }
}

#[test]
fn they_are_shown_as_they_are_written() {
    for (condition, shown) in [
        ("s | t == Set[1, 2]", "(s | t) == Set[1, 2]"),
        ("s.add(y) == t", "s.add(y) == t"),
        ("h[\"a\"] == 1", "h[\"a\"] == 1"),
        ("h.key?(\"a\")", "h.key?(\"a\")"),
        ("3 in s", "s.include?(3)"),
        ("s.all? { |x| x > y }", "s.all? { |x| x > y }"),
    ] {
        let sts = sts(&format!("receive 'a', constraint: %({condition})"));
        let switch = &sts.switches()[0];
        assert_eq!(show_expr(&sts, switch.gate.label(), &switch.guard), shown);
    }
}

#[test]
fn mistakes_are_explained() {
    for (step, error) in [
        (
            "receive 'a', constraint: 's[0] == 1'",
            "`[ ]` needs an array; this is a set(:integer)",
        ),
        (
            "receive 'a', constraint: 'xs | xs == xs'",
            "`|` needs a set; this is an array of :integer",
        ),
        (
            "receive 'a', constraint: 's.add(\"x\") == s'",
            "the items are an integer; this is a string",
        ),
        (
            "receive 'a', constraint: 's.ad(1) == s'",
            "a set has no method `ad`",
        ),
        (
            "receive 'a', constraint: 'h[1] == 1'",
            "a key of this hash needs a string; this is an integer",
        ),
        (
            "receive 'a', constraint: 'h.all? { |k| true }'",
            "the block of a hash has two parameters, as in `{ |k, v| v > 0 }`",
        ),
        (
            "receive 'a', constraint: 'Set[true].empty?'",
            "the type of the elements of this set is unknown here",
        ),
        (
            "receive 'a', update: 's = Set[:void]'",
            "an item of a set is never `:void`",
        ),
        (
            "receive 'a', update: 's = words'",
            "`s` is a set(:integer); this is a set(:string)",
        ),
        (
            "receive 'a', update: 's = [1]'",
            "`s` is a set(:integer); this is an array of :integer",
        ),
    ] {
        let said = errors(step);
        assert!(said.contains(error), "{step}: {said}");
    }
    let declared = |ty: &str| {
        let text = format!(
            "external 'c'\nprocess('p') {{ channel('c') {{ stimuli 'a' }}\nvar 'v', {ty}\nstate 'S'\nreceive 'a' }}"
        );
        let loaded = load_text("m.aml", &text);
        let errors = loaded.diagnostics.iter().filter(|d| d.is_error());
        errors
            .map(|d| d.message.clone())
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert!(declared("set([:integer])").contains("the items of a set are numbers"));
    assert!(declared("{:boolean => :integer}").contains("the keys of a hash are numbers"));
    assert!(declared("set()").contains("a set is written `set(:integer)`"));
    assert!(declared("hash(:integer)").contains("a hash is written `{:string => :integer}`"));
}

/// A parameter is a set in its order, or unset: no other value enables a switch.
#[test]
fn parameters_that_are_no_sets_enable_nothing() {
    let sts = sts("receive 'a', constraint: 'p > 0'");
    let switch = &sts.switches()[0];
    let label = sts.label(switch.gate.label().unwrap());
    let Type::Struct(set) = label.parameters[0].ty else {
        panic!("a set is a structure");
    };
    let items = |items: &[i64]| {
        let items: Vec<Value> = items.iter().map(|i| Value::Int(*i)).collect();
        Value::Struct(set, [Value::Array(items.into())].into())
    };
    let void = Value::Struct(set, [Value::Array([Value::Void].into())].into());
    for (value, expected) in [
        (items(&[]), true),
        (items(&[4]), true),
        (items(&[1, 4, 9]), true),
        (Value::Void, true),
        (items(&[4, 1]), false),
        (items(&[4, 4]), false),
        (void, false),
    ] {
        let parameters = [value.clone(), Value::Void, Value::Int(1)];
        let variables = initial(&sts);
        let enabled = switch.enabled.holds(env(&sts, &variables, &parameters));
        assert_eq!(enabled, Ok(expected), "{value:?}");
        assert_eq!(
            sts.types().fits(&value, &label.parameters[0].ty),
            expected,
            "{value:?}"
        );
    }
}

/// The value of an expression over the variables `s` and `t`, whose values are given.
fn value(sts: &Sts, sets: [&BTreeSet<i64>; 2]) -> Value {
    let mut variables = initial(sts);
    for (variable, set) in variables.iter_mut().zip(sets) {
        let Value::Struct(id, _) = variable else {
            panic!("a set");
        };
        let items = set.iter().rev().map(|i| Value::Int(*i)).collect();
        *variable = sts.types().keyed(*id, items).expect("a set");
    }
    let update = &sts.switches()[0].update[0].value;
    update.eval(env(sts, &variables, &[])).expect("a value")
}

fn shown(set: &BTreeSet<i64>) -> String {
    let items: Vec<String> = set.iter().map(i64::to_string).collect();
    format!("Set[{}]", items.join(", "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn operators_are_those_of_sets(
        s in proptest::collection::btree_set(-9..9i64, 0..9),
        t in proptest::collection::btree_set(-9..9i64, 0..9),
        x in -9..9i64,
    ) {
        let with = |mut set: BTreeSet<i64>, x| { set.insert(x); set };
        let without = |mut set: BTreeSet<i64>, x| { set.remove(&x); set };
        for (update, expected) in [
            ("s = s | t".to_owned(), &s | &t),
            ("s = s & t".to_owned(), &s & &t),
            ("s = s - t".to_owned(), &s - &t),
            (format!("s = s.add({x})"), with(s.clone(), x)),
            (format!("s = s.delete({x})"), without(s.clone(), x)),
            (format!("s = (s.to_a + t.to_a).to_set.reject {{ |y| y == {x} }}"), without(&s | &t, x)),
        ] {
            let sts = sts(&format!("receive 'a', update: %({update})"));
            let value = value(&sts, [&s, &t]);
            prop_assert_eq!(value.display(sts.types()).to_string(), shown(&expected), "{}", update);
            prop_assert!(sts.types().fits(&value, &sts.variables()[0].ty));
        }
    }

    #[test]
    fn hashes_keep_the_last_value_of_a_key(pairs in proptest::collection::vec((0..6i64, 0..9i64), 0..8)) {
        let expected: BTreeMap<i64, i64> = pairs.iter().copied().collect();
        let literal: Vec<String> = pairs.iter().map(|(k, v)| format!("\"k{k}\" => {v} + y - 2")).collect();
        let text = format!("h = {{{}}}", literal.join(", "));
        let entries: Vec<String> = expected.iter().map(|(k, v)| format!("\"k{k}\" => {v}")).collect();
        prop_assert_eq!(updated(&text), format!("{{{}}}", entries.join(", ")));
    }
}

#[test]
fn operations_on_what_is_unset_have_no_value() {
    for condition in [
        "(unset | none) == none",
        "(none | unset) == none",
        "(unset & none) == none",
        "(unset - none) == none",
        "(none - unset) == none",
        "unset.add(1) == none",
        "h.merge(lost) == h",
        "lost.merge(empty) == empty",
        "lost.merge({}) == :void",
    ] {
        assert!(holds(condition).is_err(), "{condition}");
    }
}

/// No type of this model has the values of the other one.
const TWO_TYPES: &str = "external 'c'
process('p') {
  channel('c') { stimuli 'a' }
  var 'left', {integer(0..5) => :integer}, {1 => 2}
  var 'right', {:integer => integer(0..3)}, {1 => 2}
  state 'S'
  receive 'a', constraint: 'CONDITION'
}
";

#[test]
fn the_type_around_reaches_what_is_written_out_below_methods() {
    for condition in [
        "left.with(3, 9) == {1 => 2}.with(3, 9)",
        "{1 => 2}.merge({9 => 3}) == right.with(9, 3)",
        "(if true then {1 => 2}.delete(1) else left) != left",
    ] {
        let loaded = load_text("m.aml", &TWO_TYPES.replace("CONDITION", condition));
        let sts = valid(loaded);
        let held = sts.switches()[0]
            .guard
            .holds(env(&sts, &initial(&sts), &[]));
        assert_eq!(held, Ok(true), "{condition}");
    }
    // Nothing says which of the two it is.
    let guessed = load_text("m.aml", &TWO_TYPES.replace("CONDITION", "{1 => 2}[1] == 2"));
    let errors = guessed.diagnostics.iter().filter(|d| d.is_error());
    let said: Vec<&str> = errors.map(|d| d.message.as_str()).collect();
    assert_eq!(
        said,
        ["the type of the elements of this hash is unknown here"]
    );
}
