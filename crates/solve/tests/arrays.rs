//! Conditions with blocks and other functions over arrays, as models write them.

use ioco_solve::{Deadline, Embedded, Outcome, Solver as _};
use ioco_sts::{Env, Sts};

fn model(condition: &str) -> std::sync::Arc<Sts> {
    let text = format!(
        "external 'c'
struct 'Item', {{'name' => :string, 'price' => :integer}}
process('p') {{
  channel('c') {{
    stimulus 'a', {{'xs' => [:integer], 'n' => :integer, 'ss' => [:string], 'item' => 'Item'}}
  }}
  state 'S'
  receive 'a', constraint: %({condition})
}}
"
    );
    ioco_aml::load_text("m.aml", &text).sts.expect(condition)
}

fn ask(condition: &str) -> Outcome<()> {
    let sts = model(condition);
    let mut solver = Embedded::new(sts.types(), sts.functions());
    let switch = &sts.switches()[0];
    let label = switch.gate.label().expect("a stimulus");
    for parameter in &sts.label(label).parameters {
        solver.unknown(&parameter.ty);
    }
    solver.assert(&switch.enabled);
    let deadline = Deadline::steps(50_000);
    match solver.model(&deadline) {
        Outcome::Sat(parameters) => {
            let env = Env {
                variables: &[],
                parameters: &parameters,
                functions: sts.functions(),
            };
            assert_eq!(
                switch.enabled.holds(env),
                Ok(true),
                "{condition}: {parameters:?}"
            );
            Outcome::Sat(())
        }
        Outcome::Unsat => Outcome::Unsat,
        Outcome::Unknown(why) => Outcome::Unknown(why),
    }
}

#[test]
fn arrays_are_found_that_satisfy_a_block() {
    for condition in [
        "xs.all? { |x| x > 3 } && length(xs) == 3",
        "xs.any? { |x| x == 77 }",
        "xs.sum == 10 && xs.all? { |x| x > 2 } && length(xs) > 1",
        "xs.map { |x| x * 2 } == [2, 6, 4]",
        "xs.select { |x| x > 10 } == [12] && length(xs) == 2",
        "xs.include?(n) && n > 5",
        "(1..3).all? { |i| i * n > 20 }",
        "[1, 2] <~ xs && xs.last == 9 && length(xs) == 3",
        "ss.all? { |s| s.end_with?(\"x4\") } && length(ss) == 2",
        "xs.with(0, n) == [4, 5]",
        "item == Item(name: \"a\", price: n) && n > 3",
        "xs.count { |x| x > n } == 2 && xs.max < 4 && n > 1",
    ] {
        assert_eq!(ask(condition), Outcome::Sat(()), "{condition}");
    }
}

#[test]
fn what_no_array_satisfies_is_not_called_satisfiable() {
    for condition in [
        "xs.all? { |x| x > 3 } && xs[0] < 2",
        "xs.sum == 3 && xs.all? { |x| x > 2 } && length(xs) == 2",
        "length(xs) == 2 && xs.any? { |x| x > 5 } && xs.all? { |x| x < 5 }",
    ] {
        assert_ne!(ask(condition), Outcome::Sat(()), "{condition}");
    }
}

/// Lengths of arrays that a condition mentions are tried, however the condition mentions them.
#[test]
fn an_array_as_long_as_a_constant_is_found() {
    let long = "[31, 32, 33, 34, 35, 36, 37, 38, 39]";
    for condition in [
        format!("xs == (if n > 0 then {long} else []) && length(xs) > 0"),
        format!("length(xs) > 0 && (xs + [n]).take(9) == {long}"),
        format!("length(xs) > 0 && xs.map {{ |x| x + 1 }} == {long}"),
    ] {
        assert_eq!(ask(&condition), Outcome::Sat(()), "{condition}");
    }
}
