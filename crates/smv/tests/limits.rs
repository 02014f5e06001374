//! Work that a model text can ask for is bounded: wide ranges, hard questions, deep nesting, many instances.

use ioco_budget::{Budget, Interrupt};
use ioco_smv::explicit::remarks;
use ioco_smv::{
    Criterion, Edge, GoalOptions, Model, Options, Severity, Technique, Verdict, generate, load,
    load_within,
};

fn model(text: &str) -> Model {
    let (model, diagnostics) = load(text, "m.smv");
    model.unwrap_or_else(|| panic!("{diagnostics:?}"))
}

fn error(text: &str) -> String {
    let (model, diagnostics) = load(text, "m.smv");
    assert!(model.is_none());
    diagnostics[0].message.clone()
}

fn verdict(model: &mut Model, technique: Technique, goal: &str) -> Verdict {
    let goal = model.user_goal(goal).expect("a goal");
    let edge = Edge {
        clock: &|| 0.0,
        stop: &|| false,
    };
    let options = Options {
        technique,
        jobs: 1,
        ..Options::default()
    };
    let result = &generate(model, &[goal], &options, edge, &mut |_| {})[0];
    if let Some(test) = result.test() {
        assert_eq!(model.check_run(test), Ok(()));
    }
    result.verdict
}

fn is_incomplete(technique: Technique) -> bool {
    matches!(technique, Technique::Strong | Technique::Weak)
}

#[test]
fn a_choice_from_a_wide_range_is_not_listed() {
    let mut model = model(
        "MODULE main VAR x : 0..1000000000; y : boolean; ASSIGN next(x) := 0..1000000000; \
         init(y) := FALSE; next(y) := x in 5..999999999;",
    );
    assert_eq!(remarks(&model), Vec::<String>::new());
    for technique in Technique::ALL {
        let answer = verdict(&mut model, technique, "x = 123456789 & y");
        let expected =
            answer == Verdict::Covered || is_incomplete(technique) && answer == Verdict::Unknown;
        assert!(expected, "{technique:?}");
    }
}

#[test]
fn arithmetic_with_a_wide_range_is_refused_and_not_computed() {
    let mut model = model(
        "MODULE main VAR x : 0..2000000000; ASSIGN init(x) := 0; \
         next(x) := (0..1000000000) + (0..1000000000);",
    );
    assert_eq!(remarks(&model), Vec::<String>::new());
    let answer = verdict(&mut model, Technique::Auto, "x = 7");
    assert_ne!(answer, Verdict::Infeasible);
}

/// Whether `x` can become 5 is whether 1000036000099 = 1000003 * 1000033 has divisors of this size.
const FACTORING: &str = "MODULE main VAR p : 2..1048576; q : 2..1048576; x : 0..4;\n\
    ASSIGN next(x) := case p * q = 1000036000099 : 5; TRUE : 0; esac;\n\
    next(p) := p; next(q) := q;";

#[test]
fn a_hard_question_is_left_open_and_reported() {
    let few = Budget {
        steps: 2_000,
        ..Budget::default()
    };
    let (model, diagnostics) = load_within(FACTORING, "m.smv", &few, &Interrupt::default());
    assert!(model.is_some());
    let [warning] = &diagnostics[..] else {
        panic!("{diagnostics:?}");
    };
    assert_eq!(warning.severity, Severity::Warning);
    assert_eq!(
        warning.message,
        "whether `x` stays in its domain was not decided"
    );
    let hint = warning.hint.as_deref().unwrap_or_default();
    assert!(hint.contains("--limit steps=N"), "{hint}");
}

#[test]
fn a_hard_question_is_interrupted() {
    let interrupt = Interrupt::default();
    interrupt.raise();
    let (model, diagnostics) = load_within(FACTORING, "m.smv", &Budget::default(), &interrupt);
    assert!(model.is_some());
    assert_eq!(diagnostics[0].hint.as_deref(), Some("interrupted"));
}

#[test]
fn long_chains_are_refused_or_read_but_never_overflow_the_stack() {
    let terms = |operator: &str, term: &str| {
        let body = vec![term; 100_000].join(operator);
        format!("MODULE main VAR a : boolean; n : 0..1; INVAR {body}")
    };
    for text in [
        terms(" xor ", "a"),
        terms(" <-> ", "a"),
        terms(" -> ", "a"),
        terms(" + ", "n") + " = 1",
        terms(".", "a"),
        format!(
            "MODULE main VAR a : boolean; INVAR {}a",
            "!".repeat(100_000)
        ),
    ] {
        let message = error(&text);
        assert!(message.contains("nested deeper than 3000"), "{message}");
    }
    for operator in [" & ", " | "] {
        let model = model(&terms(operator, "a"));
        assert_eq!(remarks(&model), Vec::<String>::new());
    }
}

#[test]
fn definitions_that_nest_without_end_are_refused() {
    let mut text = String::from("MODULE main VAR d0 : boolean;\nDEFINE\n");
    for index in 1..20_000 {
        text += &format!("d{index} := !d{} & d0;\n", index - 1);
    }
    text += "INVAR d19999";
    assert!(error(&text).contains("nested deeper than 3000"));
}

#[test]
fn arguments_that_double_are_built_once() {
    let mut text = String::from("MODULE main VAR a : boolean; m : m0(a & a);\n");
    for index in 0..60 {
        text += &format!("MODULE m{index}(p) VAR b : m{}(p & p);\n", index + 1);
    }
    text += "MODULE m60(p) INVAR p | !p\n";
    let mut model = model(&text);
    let goals = model.goals(&[Criterion::Condition], &GoalOptions::default());
    assert!(goals.iter().all(|goal| goal.text.len() < 2 << 20));
}

#[test]
fn arrays_of_arrays_are_bounded() {
    let wide = "array 0..99999 of ".repeat(3);
    assert!(error(&format!("MODULE main VAR a : {wide}boolean;")).contains("variables"));
    let deep = "array 0..0 of ".repeat(10_000);
    assert!(error(&format!("MODULE main VAR a : {deep}boolean;")).contains("nested"));
    let mut text = String::from("MODULE main VAR m : m0;\n");
    for index in 0..40 {
        let next = index + 1;
        text += &format!("MODULE m{index} VAR a : m{next}; b : m{next};\n");
    }
    assert!(error(&(text + "MODULE m40 VAR c : boolean;")).contains("instantiated too often"));
}

#[test]
fn values_that_get_no_goal_are_named() {
    let mut model = model("MODULE main VAR x : 0..2000000; ASSIGN next(x) := x;");
    let criteria = [Criterion::Value];
    let all = GoalOptions::default();
    let said: Vec<String> = (model.shortened(&criteria, &all).iter())
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        said,
        ["`x` has 2000001 values; only the first 1048576 are goals"]
    );
    let some = GoalOptions {
        max_values: Some(3),
        ..GoalOptions::default()
    };
    assert!(model.shortened(&criteria, &some).is_empty());
    assert_eq!(model.goals(&criteria, &some).len(), 3);
}

#[test]
fn a_goal_without_a_value_does_not_hold() {
    let text = "MODULE main VAR n : 0..3; m : 0..3; c : boolean;\n\
                ASSIGN init(n) := 0; next(n) := (n + 1) mod 4; init(m) := 0; next(m) := 3;\n\
                next(c) := case n != 0 : case 6 / n > 2 : TRUE; TRUE : FALSE; esac; TRUE : FALSE; esac;";
    let mut model = model(text);
    for technique in Technique::ALL {
        for (goal, expected) in [
            // No branch of the case holds where n is 0, so it is not TRUE there, nor FALSE.
            ("case n = 1 : TRUE; n = 2 : FALSE; esac", Verdict::Covered),
            ("!case n = 1 : TRUE; n = 2 : FALSE; esac", Verdict::Covered),
            ("n = 0 & case n = 1 : TRUE; esac", Verdict::Infeasible),
            ("n = 0 & !case n = 1 : TRUE; esac", Verdict::Infeasible),
            ("n = 0 & 6 / n > 2", Verdict::Infeasible),
            ("n = 0 & !(6 / n > 2)", Verdict::Infeasible),
            ("n = 1 & 6 / n > 2", Verdict::Covered),
            ("n = 0 & (5 mod {n, 2}) = 1", Verdict::Covered),
            ("n = 0 & m in (n + 1)..n", Verdict::Infeasible),
            ("n = 0 & !(m in (n + 1)..n)", Verdict::Infeasible),
            ("n = 0 & (6 / n > 2 | m = 3)", Verdict::Covered),
            ("n = 0 & !!(6 / n > 2 | m = 3)", Verdict::Infeasible),
            ("n = 0 | 6 / n > 7", Verdict::Covered),
            ("m = 3 & (n = 0 xor 6 / n > 2)", Verdict::Covered),
            ("n = 0 & (TRUE xor 6 / n > 2)", Verdict::Infeasible),
        ] {
            let answer = verdict(&mut model, technique, goal);
            if is_incomplete(technique) && answer == Verdict::Unknown {
                continue;
            }
            assert_eq!(answer, expected, "{goal} by {technique:?}");
        }
    }
}

#[test]
fn guarded_divisions_of_a_model_are_goals_that_get_an_answer() {
    let text = "MODULE main VAR n : 0..3; c : boolean;\n\
                ASSIGN init(n) := 0; next(n) := {0, 1};\n\
                next(c) := case n != 0 : case 6 / n > 2 & n < 3 : TRUE; TRUE : FALSE; esac; TRUE : FALSE; esac;";
    let mut model = model(text);
    let criteria = [Criterion::Decision, Criterion::Condition, Criterion::Mcdc];
    let goals = model.goals(&criteria, &GoalOptions::default());
    let edge = Edge {
        clock: &|| 0.0,
        stop: &|| false,
    };
    let results = generate(&model, &goals, &Options::default(), edge, &mut |_| {});
    for result in &results {
        assert_ne!(result.verdict, Verdict::Unknown, "{}", result.goal);
    }
}

/// Every goal is looked at alone, whatever the number of the others.
#[test]
fn many_goals_are_derived_in_little_work() {
    let mut model = model("MODULE main VAR x : 0..100000; ASSIGN init(x) := 0; next(x) := x;");
    let goals = model.goals(&[Criterion::Value], &GoalOptions::default());
    assert_eq!(goals.len(), 100_001);
}
