//! Arrays, ranges, strings and structures in expressions: what they are worth, how they are shown, and
//! what is said when they are wrong.

mod common;

use common::{env, initial, valid};
use ioco_aml::{Loaded, load_text};
use ioco_sts::{Env, EvalError, Sts, Value, show_expr};

const DECLARATIONS: &str = r#"
external 'c'
enum 'Color', 'Red', 'Green'
struct 'Item', {'name' => :string, 'price' => :integer}
struct 'Shop', {'items' => ['Item'], 'open' => :boolean}
function('all_x4', [[:string]] => :boolean) { |shapes| shapes.all? { |s| s.end_with?("x4") } }
function('double', [:integer] => :integer) { |x| x * 2 }
"#;

/// A model with one step that has this guard or update.
fn model(step: &str) -> Loaded {
    let text = format!(
        "{DECLARATIONS}process('p') {{
  channel('c') {{ stimulus 'a', {{'ps' => [:integer], 'p' => :integer}} }}
  var 'xs', [:integer], [3, 1, 2]
  var 'none', [:integer], []
  var 'ds', [:decimal], [1.5, 2.5]
  var 'ss', [:string], ['ax4', 'bx4']
  var 'cs', ['Color'], ['Red', 'Green']
  var 'y', :integer, 2
  var 'item', 'Item', {{'name' => 'pen', 'price' => 3}}
  var 'shop', 'Shop', {{'items' => [{{'name' => 'pen', 'price' => 3}}], 'open' => true}}
  var 'unset', 'Item'
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
        .map(|d| match &d.hint {
            Some(hint) => format!("{} {} ({hint})", d.code, d.message),
            None => format!("{} {}", d.code, d.message),
        })
        .collect();
    said.join("\n")
}

/// Whether a condition on the initial values holds.
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
fn blocks_and_methods_have_the_values_that_ruby_gives_them() {
    for condition in [
        "xs.all? { |x| x > 0 }",
        "!xs.all? { |x| x > y }",
        "none.all? { |x| x > 0 }",
        "xs.any? { |x| x == y }",
        "!none.any? { |x| true }",
        "xs.none? { |x| x > 3 }",
        "xs.count { |x| x >= y } == 2",
        "xs.map { |x| x * y } == [6, 2, 4]",
        "none.map { |x| x + 1 } == []",
        "xs.map { |x| double(x) }.sum == 12",
        "xs.select { |x| x > 1 } == [3, 2]",
        "xs.reject { |x| x > 1 } == [1]",
        "xs.sum == 6 && none.sum == 0 && ds.sum == 4.0",
        "xs.sum { |x| x * x } == 14",
        "xs.min == 1 && xs.max == 3 && ds.max == 2.5",
        "xs.include?(2) && !xs.include?(7) && y in xs && 3 in (1..y + 1)",
        "xs.first == 3 && xs.last == 2 && xs.size == 3 && xs.length == 3 && !xs.empty?",
        "none.empty? && xs.count == 3",
        "xs.take(2) == [3, 1] && xs.drop(1) == [1, 2] && xs.take(9) == xs && xs.drop(9) == []",
        "xs[0..1] == [3, 1] && xs[1..9] == [1, 2] && xs[2..1] == []",
        "xs - [1] == [3, 2] && xs - xs == [] && xs - [] == xs && xs.delete(3) == [1, 2]",
        "xs.delete_at(1) == [3, 2] && xs.with(1, 9) == [3, 9, 2]",
        "(1..4).sum == 10 && (1..3).map { |i| i * i } == [1, 4, 9] && (1..3) == [1, 2, 3]",
        "(0..xs.size - 1).all? { |i| xs[i] == [3, 1, 2][i] } && (3..1).to_a == []",
        "[3, 1] <~ xs && [] <~ xs && xs <~ xs && !([1] <~ xs) && !(xs <~ [3])",
        "ss.all? { |s| s.end_with?(\"x4\") } && all_x4(ss) && !all_x4([\"ax5\"])",
        "ss.any? { |s| s.start_with?(\"b\") } && ss.all? { |s| s.include?(\"x\") }",
        "ss.map { |s| s.size } == [3, 3] && !\"\".include?(\".\") && \"\".empty?",
        "cs.include?(Red) && cs.any? { |c| c == Green } && cs.max == Green",
        "xs.all? { |x| xs.any? { |z| z * y == x * y } }",
        "xs.map { |x| xs.count { |z| z < x } } == [2, 0, 1]",
        "shop.items.all? { |i| i.price > 2 } && shop.items.map { |i| i.name } == [\"pen\"]",
        "Item(name: \"pen\", price: 3) == item && Item(name: \"x\").price.nil?",
        "xs.all? { |x| if x > 1 then true else x == 1 end }",
        "item.with(price: 9) == Item(name: \"pen\", price: 9) && item.with(price: 3) == item",
        "item.with(price: 1, name: \"x\").with(price: 2) == Item(name: \"x\", price: 2)",
        "item.with(price: 1, price: 2).price == 2 && item.with(name: :void).name.nil?",
        "shop.items[0].with(price: y).price == y && shop.with(items: []).items.empty?",
        "shop.items.map { |i| i.with(price: i.price + y) } == [Item(name: \"pen\", price: item.price + y)]",
    ] {
        assert_eq!(holds(condition), Ok(true), "{condition}");
    }
}

#[test]
fn what_is_not_there_has_no_value() {
    for condition in [
        "xs.with(3, 1) == xs",
        "xs.with(y - 3, 1) == xs",
        "xs.delete_at(3) == xs",
        "none.min == 0",
        "none.first == 0",
        "xs[y - 3..1] == xs",
        "unset.with(price: 1) == item",
    ] {
        assert!(holds(condition).is_err(), "{condition}");
    }
}

#[test]
fn an_update_changes_an_item_or_a_field() {
    assert_eq!(updated("xs[1] = 9"), "[3, 9, 2]");
    assert_eq!(updated("xs[y] += 5"), "[3, 1, 7]");
    assert_eq!(updated("xs[0] = xs[1]; xs[1] = xs[0]"), "[1, 3, 2]");
    assert_eq!(updated("xs -= [1]"), "[3, 2]");
    assert_eq!(updated("item.price = 4"), "{name: \"pen\", price: 4}");
    assert_eq!(
        updated("item.price += 1; item.name = \"ink\""),
        "{name: \"ink\", price: 4}"
    );
    assert_eq!(
        updated("shop.items[0].price = 7"),
        "{items: [{name: \"pen\", price: 7}], open: true}"
    );
    assert_eq!(
        updated("shop.items += [Item(name: \"ink\", price: 1)]"),
        "{items: [{name: \"pen\", price: 3}, {name: \"ink\", price: 1}], open: true}"
    );
    assert_eq!(updated("xs[3] = 1"), "index 3 is outside an array of 3");
    assert_eq!(updated("unset.price = 1"), "a field does not work on :void");
}

/// A guard or update is shown as a person writes it, although functions stand behind it.
#[test]
fn what_is_shown_is_what_was_written() {
    for condition in [
        "xs.all? { |x| x > y && x > p }",
        "ps.map { |x| x + 1 } == xs",
        "(1..p).all? { |i| i in [1, 2] }",
        "ps <~ xs",
        "xs - ps == [1]",
        "xs.include?(p)",
        "xs.with(p, 1) == ps",
        "(xs + ps).sum == 3",
        "Item(name: \"a\", price: p) == item",
        "item.with(price: p, name: \"a\") == unset",
    ] {
        let sts = sts(&format!("receive 'a', constraint: %({condition})"));
        let switch = &sts.switches()[0];
        let shown = show_expr(&sts, switch.gate.label(), &switch.guard);
        let bracketed = shown.replace(['(', ')'], "");
        assert_eq!(bracketed, condition.replace(['(', ')'], ""));
        // And the model it came from can read it again.
        let again = ioco_aml::parse_condition(&shown, &sts, switch.gate.label());
        assert_eq!(again.as_ref(), Ok(&switch.guard), "{shown}");
    }
}

#[test]
fn mistakes_in_blocks_are_reported_where_they_are() {
    let guard = |text: &str| errors(&format!("receive 'a', constraint: %({text})"));
    let update = |text: &str| errors(&format!("receive 'a', update: %({text})"));
    insta::assert_snapshot!(
        [
            guard("xs.all? { |x| x.foo }"),
            guard("xs.all? { |x| z > 1 }"),
            guard("xs.all? { |x| x }"),
            guard("xs.al? { |x| x > 1 }"),
            guard("xs.all?"),
            guard("y.all? { |x| x > 1 }"),
            guard("xs.all? { |a, b| a > b }"),
            guard("xs.include?(\"a\")"),
            guard("ss.sum == 1"),
            guard("ss[0].end_with?(ss[1])"),
            guard("xs <~ ss"),
            guard("Itm(name: \"x\") == item"),
            guard("Item(nam: \"x\") == item"),
            guard("item.with(nam: \"x\") == item"),
            guard("item.with(price: \"x\") == item"),
            guard("xs.with(price: 1) == xs"),
            guard("item.with(0, 1) == item"),
            guard("xs.all? { |x| x > 1"),
            update("xs[0] = \"a\""),
            update("y[0] = 1"),
            update("item.prise = 1"),
            update("item.price = 1; item.price = 2"),
            update("xs[0] = 1; xs = []"),
            update("p[0] = 1"),
        ]
        .join("\n"),
        @r#"
    A040 a field needs a struct; this is an integer
    A032 unknown name `z` (did you mean `x`?)
    A040 `.all?` needs a boolean; this is an integer
    A034 an array has no method `al?` (did you mean `all?`?)
    A034 `.all?` is not used like this (write `.all? { |x| ... }`)
    A040 `.all?` needs an array or a string; this is an integer
    A042 a block has one parameter, as in `{ |x| x > 0 }`
    A040 `include?` needs an integer; this is a string
    A040 `.sum` needs an array of numbers; this is an array of :string
    A003 `.end_with?` needs a text in quotes (the pattern must be known when the model is read)
    A040 an array of :integer and an array of :string do not go together
    A024 no struct is called `Itm` (did you mean `Item`?)
    A035 `Item` has no field `nam` (did you mean `name`?)
    A035 `Item` has no field `nam` (did you mean `name`?)
    A040 `price` is an integer; this is a string
    A040 `.with` and a field need a struct; this is an array of :integer
    A040 `.with` needs an array or a string; this is a struct Item
    A005 expected `}`, found the end of the expression
    A040 `xs[0]` is an integer; this is a string
    A040 `[ ]` needs an array; this is an integer
    A035 `Item` has no field `prise` (did you mean `price`?)
    A046 `item.price` is given a value twice in one step
    A046 `xs` is given a value twice in one step
    A045 `p` is a parameter; only variables can be given a value
    "#
    );
}

/// A hundred items, and a thousand, are well within the limits that hold by default.
#[test]
fn long_arrays_are_within_the_default_limits() {
    let sts = sts("receive 'a', constraint: 'ps.map { |x| x * 2 }.select { |x| x > 10 }.sum > 0'");
    let functions = sts.functions();
    for (length, most) in [(100, 20_000), (1000, 200_000)] {
        let items: Vec<Value> = (0..length).map(Value::Int).collect();
        let parameters = [Value::Array(items.into()), Value::Int(0)];
        let env = Env {
            variables: &initial(&sts),
            parameters: &parameters,
            functions,
        };
        let (held, steps) = sts.switches()[0].guard.holds_within(env, sts.budget());
        assert_eq!(held, Ok(true));
        assert!(steps < most, "{steps} steps for {length} items");
    }
}

#[test]
fn what_has_no_meaning_has_no_value() {
    // No numbers, no least one; a negative count; a sum and a length of what is unset.
    for condition in [
        "(3..1).min == 3",
        "(3..1).max == 1",
        "xs.take(y - 3) == []",
        "xs[y - 3..y] == xs",
        "[Item(name: \"a\")].map { |i| i.price }.sum != 0",
        "[Item(name: \"a\")].sum { |i| i.price } != 0",
        "!Item(price: 1).name.empty?",
    ] {
        assert!(holds(condition).is_err(), "{condition}");
    }
    for condition in ["(1..3).min == 1", "(2..2).max == 2", "xs.take(y - 2) == []"] {
        assert_eq!(holds(condition), Ok(true), "{condition}");
    }
}

#[test]
fn a_negative_index_is_refused() {
    for step in [
        "receive 'a', constraint: 'xs[-1] == 2'",
        "receive 'a', constraint: 'xs[1..-1] == xs'",
        "receive 'a', constraint: 'xs.take(-1) == xs'",
        "receive 'a', update: 'xs[-1] = 2'",
    ] {
        assert!(
            errors(step).contains("an index is never negative"),
            "{step}: {}",
            errors(step)
        );
    }
}

/// Whether a step with this update can be taken in a model whose arrays and structures have bounds.
fn can_be_taken(update: &str) -> bool {
    let text = format!(
        "external 'c'
struct 'Box', {{'n' => integer(0..3), 'ns' => [integer(0..3)]}}
function('more', [integer(0..3)] => integer(0..3)) {{ |x| x + 1 }}
process('p') {{
  channel('c') {{ stimulus 'a', {{'p' => integer(0..3)}} }}
  var 'xs', [integer(0..3)], [1, 3]
  var 'box', 'Box', {{'n' => 3, 'ns' => [0, 3]}}
  var 'boxes', ['Box'], []
  var 'k', :integer, 3
  state 'S'
  receive 'a', update: '{update}'
  goto 'S'
}}
"
    );
    let loaded = load_text("m.aml", &text);
    let sts = loaded
        .sts
        .unwrap_or_else(|| panic!("{update}: {:?}", loaded.diagnostics));
    let variables = initial(&sts);
    let env = Env {
        variables: &variables,
        parameters: &[Value::Int(2)],
        functions: sts.functions(),
    };
    sts.switches()[0].enabled.holds(env) == Ok(true)
}

#[test]
fn bounds_inside_of_arrays_and_structures_hold() {
    for update in [
        "xs[0] += 1",
        "xs = xs.map { |x| x }",
        "xs = xs.map { |x| x / 2 }",
        "xs += [p]",
        "xs = xs.select { |x| x > 1 }",
        "xs = [k]",
        "box.n = p",
        "box.ns[0] += 3",
        "box = Box(n: k)",
        "boxes += [box]",
        "boxes = [box].map { |b| Box(n: b.n - 1) }",
        "xs = :void",
        "box.n = :void",
    ] {
        assert!(can_be_taken(update), "{update}");
    }
    for update in [
        "xs[1] += 1",
        "xs = xs.map { |x| x + 1 }",
        "xs = [k + 1]",
        "xs = xs.with(0, k + 1)",
        "xs = if k == 3 then [4] else []",
        "xs = [more(k)]",
        "box.n += 1",
        "box.ns[1] += 1",
        "box = Box(n: k + 1)",
        "boxes = boxes + [Box(ns: [k, k + 1])]",
        "boxes = [box].map { |b| Box(n: b.n + 1) }",
    ] {
        assert!(!can_be_taken(update), "{update}");
    }
}
