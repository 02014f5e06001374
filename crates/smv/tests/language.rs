//! What the reader accepts, what it refuses and how it says so.

use ioco_smv::{Edge, Model, Options, Severity, Verdict, generate, load};

fn errors(text: &str) -> String {
    let (model, diagnostics) = load(text, "m.smv");
    let errors: Vec<String> = diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.severity == Severity::Error)
        .map(ToString::to_string)
        .collect();
    assert_eq!(model.is_none(), !errors.is_empty());
    errors.join("\n")
}

fn model(text: &str) -> Model {
    let (model, diagnostics) = load(text, "m.smv");
    model.unwrap_or_else(|| panic!("{diagnostics:?}"))
}

fn verdict(model: &mut Model, goal: &str) -> Verdict {
    let goal = model
        .user_goal(goal)
        .unwrap_or_else(|problem| panic!("{problem}"));
    let edge = Edge {
        clock: &|| 0.0,
        stop: &|| false,
    };
    generate(model, &[goal], &Options::default(), edge, &mut |_| {})[0].verdict
}

#[test]
fn static_mistakes_are_reported_with_their_place() {
    let messages = [
        "MODULE main VAR x : 0..3; ASSIGN next(x) := x + 1;",
        "MODULE main VAR x : 0..3; ASSIGN next(x) := case x < 2 : 0; x = 2 : 1; esac;",
        "MODULE main VAR x : boolean; y : boolean; ASSIGN x := y; y := x;",
        "MODULE main VAR x : boolean; y : boolean; ASSIGN next(x) := next(y); next(y) := next(x);",
        "MODULE main VAR x : boolean; ASSIGN init(x) := TRUE; init(x) := FALSE;",
        "MODULE main VAR x : boolean; ASSIGN x := TRUE; next(x) := FALSE;",
        "MODULE main DEFINE a := b; b := a; VAR x : boolean; INVAR x = a",
        "MODULE main VAR x : 3..1;",
        "MODULE main VAR x : {};",
        "MODULE main VAR x : boolean; INVAR y",
        "MODULE main VAR count-up : 0..3; n : 0..3; INVAR n = count-dow",
        "MODULE main VAR n : 0..3; INVAR n-1 = 0",
        "MODULE main VAR x : 0..3; INVAR x",
        "MODULE main VAR x : boolean; INVAR x = 1 & 1",
        "MODULE main VAR c : cell(TRUE); MODULE cell(a, b) VAR x : boolean;",
        "MODULE main VAR c : cell; MODULE cell VAR d : cell;",
        "MODULE main VAR x : unsigned word[8];",
        "MODULE main VAR x : 0..7; y : 0..7; ASSIGN next(x) := 4 / y;",
        "MODULE main IVAR i : boolean; VAR x : boolean; INVAR i = x",
        "VAR x : boolean;",
        "MODULE other VAR x : boolean;",
        "MODULE main VAR x : boolean; TRANS AG x",
    ]
    .map(|text| format!("{text}\n{}\n", errors(text)))
    .join("\n");
    insta::assert_snapshot!(messages);
}

#[test]
fn a_template_is_refused() {
    let (model, diagnostics) = load("define(N, 3)", "counter.m4.smv");
    assert!(model.is_none());
    assert!(diagnostics[0].message.contains("macro template"));
}

#[test]
fn a_goal_with_an_unknown_name_gets_a_hint() {
    let mut model = model("MODULE main VAR Press : {Low, High};");
    let problem = model.user_goal("press = Low").unwrap_err().to_string();
    assert!(
        problem.contains("`press` is not declared") && problem.contains("did you mean `Press`"),
        "{problem}"
    );
}

#[test]
fn a_process_that_does_not_run_keeps_its_variables() {
    let text = "MODULE main VAR p : process counter; q : process counter;
        MODULE counter VAR n : 0..1; ASSIGN init(n) := 0; next(n) := 1 - n;";
    let mut model = model(text);
    assert_eq!(model.summary().processes, 2);
    assert_eq!(verdict(&mut model, "p.n = 1 & q.n = 1"), Verdict::Covered);
    assert_eq!(
        verdict(&mut model, "p.n != next(p.n) & q.n != next(q.n)"),
        Verdict::Infeasible
    );
}

#[test]
fn a_definition_can_be_added_to_another_instance() {
    let text = "MODULE main VAR a : cell(b); b : cell(a);
        MODULE cell(left) VAR x : boolean; DEFINE left.ack := x; INVAR ack -> x";
    let mut model = model(text);
    // a.ack is b.x, so the condition of `a` reads b.x -> a.x, and the other way round for `b`.
    assert_eq!(verdict(&mut model, "a.x != b.x"), Verdict::Infeasible);
}

#[test]
fn inherited_modules_share_names_and_parameters() {
    let text = "MODULE main VAR d : device(TRUE); MODULE device(on) ISA base ASSIGN init(s) := on;
        MODULE base VAR s : boolean; ASSIGN next(s) := s & on;";
    let mut model = model(text);
    assert_eq!(verdict(&mut model, "!d.s"), Verdict::Infeasible);
}

#[test]
fn a_set_in_a_definition_is_a_fresh_choice_at_each_use() {
    let text = "MODULE main VAR x : boolean; y : boolean; DEFINE any := {TRUE, FALSE}; ASSIGN init(x) := any; init(y) := any;
        next(x) := x; next(y) := y;";
    let mut model = model(text);
    assert_eq!(verdict(&mut model, "x & !y"), Verdict::Covered);
}

#[test]
fn what_a_blocking_relation_cuts_off_is_infeasible() {
    let text = "MODULE main VAR x : 0..5; y : 0..1; ASSIGN init(x) := 0; next(x) := (x + 1) mod 6; init(y) := 0;
        TRANS y = 0 -> next(y) = 1 TRANS y = 1 -> next(y) = 2 - 2 & FALSE";
    // The other variable can make one step only: the cone of x alone would reach 5.
    let mut model = model(text);
    assert_eq!(verdict(&mut model, "x = 1"), Verdict::Covered);
    assert_eq!(verdict(&mut model, "x = 5"), Verdict::Infeasible);
}

#[test]
fn a_model_without_initial_state_reaches_nothing() {
    let mut model = model("MODULE main VAR x : boolean; INIT x INIT !x");
    assert_eq!(verdict(&mut model, "x"), Verdict::Infeasible);
}

#[test]
fn a_model_of_four_hundred_bits_gets_an_answer() {
    let mut text = String::from("MODULE main\nVAR\n");
    for index in 0..400 {
        text.push_str(&format!("  x{index} : boolean;\n"));
    }
    text.push_str("ASSIGN\n  init(x0) := FALSE; next(x0) := !x0;\n");
    for index in 1..400 {
        text.push_str(&format!(
            "  init(x{index}) := FALSE; next(x{index}) := x{index} xor x{};\n",
            index - 1
        ));
    }
    let mut model = model(&text);
    assert_eq!(verdict(&mut model, "x3 & !x2"), Verdict::Covered);
}

#[test]
fn the_summary_names_what_the_model_uses() {
    let text = "MODULE main VAR a : array 0..2 of 0..5; s : {on, off}; IVAR i : boolean; FROZENVAR f : boolean;
        ASSIGN next(a[1]) := case i : 3; TRUE : {0, 1}; esac; INVARSPEC a[0] < 6; FAIRNESS s = on";
    insta::assert_json_snapshot!(model(text).summary());
}
