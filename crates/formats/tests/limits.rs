//! What a file can ask for is bounded: nesting, growth by substitution, recursive types.

// The ban on files, clocks and threads is for the crate, not for its tests.
#![allow(clippy::disallowed_methods)]

use ioco_budget::Budget;
use ioco_formats::graphwalker::{self, GraphWalkerOptions};
use ioco_formats::json;
use ioco_sts::{Env, Expr, Sts};

fn graphwalker(guard: &str, actions: &str) -> Result<Sts, String> {
    let text = format!(
        r#"{{"models":[{{"name":"m","startElementId":"v","actions":["a = true; x = 1;"],
        "vertices":[{{"id":"v","name":"V"}}],
        "edges":[{{"id":"e","name":"go","sourceVertexId":"v","targetVertexId":"v",
        "guard":"{guard}","actions":["{actions}"]}}]}}]}}"#
    );
    graphwalker::read("m", &text, &GraphWalkerOptions::default()).map_err(|error| error.to_string())
}

/// Threads have two megabytes; a walk over what was read must fit.
fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(work);
    thread.expect("a thread").join().expect("no panic");
}

#[test]
fn a_guard_of_a_hundred_thousand_conditions_is_read_and_evaluated() {
    on_a_small_stack(|| {
        for operator in [" && ", " || "] {
            let sts = graphwalker(&vec!["a"; 100_000].join(operator), "").expect("a model");
            let initial: Vec<_> = sts.variables().iter().map(|v| v.initial.clone()).collect();
            let env = Env {
                variables: &initial,
                parameters: &[],
                functions: sts.functions(),
            };
            let guard = &sts.switches()[0].guard;
            assert_eq!(guard.holds(env), Ok(true));
            drop(guard.clone());
        }
    });
}

#[test]
fn what_nests_too_deep_is_refused_with_the_setting() {
    on_a_small_stack(|| {
        let chain = |operator: &str| vec!["x"; 100_000].join(operator) + " > 0";
        for guard in [
            chain(" + "),
            chain(" - "),
            chain(" * "),
            format!("{}a{}", "(".repeat(10_000), ")".repeat(10_000)),
            format!("{}a", "!".repeat(10_000)),
            format!("{}a", "a ? a : ".repeat(10_000)),
            format!("{}x{} > 0", "(".repeat(100), "+ 1 + 1 + 1)".repeat(100)),
        ] {
            let error = graphwalker(&guard, "").expect_err("too deep");
            assert!(error.contains("--limit depth=N"), "{error}");
        }
    });
}

#[test]
fn sums_are_translated_once() {
    let sts = graphwalker(&(vec!["x"; 150].join(" + ") + " > 0"), "").expect("a model");
    assert_eq!(sts.switches().len(), 1);
}

#[test]
fn values_that_double_with_each_assignment_are_refused() {
    let error = graphwalker("a", &"x = x + x;".repeat(100)).expect_err("too large");
    assert!(error.contains("--limit"), "{error}");
    let error = graphwalker("a", &"x = x + 1;".repeat(300)).expect_err("too deep");
    assert!(error.contains("--limit depth=N"), "{error}");
    assert!(graphwalker("a", &"x = x + 1;".repeat(100)).is_ok());
}

fn with_structs(structs: &str) -> Result<Sts, String> {
    let text = format!(
        r#"{{"format":"ioco-sts","version":1,"name":"m","files":[],"timeout":1,"enums":[],
        "structs":[{structs}],"functions":[],"labels":[],"variables":[],
        "processes":[{{"name":"p","initial":0}}],"locations":[{{"name":"l","process":0}}],"switches":[]}}"#
    );
    json::read(&text).map_err(|error| error.to_string())
}

#[test]
fn a_structure_that_holds_itself_is_refused() {
    let own = r#"{"name":"S","fields":[{"name":"f","type":{"struct":0}}]}"#;
    let array = r#"{"name":"S","fields":[{"name":"f","type":{"array":{"struct":0}}}]}"#;
    for structs in [own, array] {
        let error = with_structs(structs).expect_err("endless");
        assert!(error.contains("holds itself"), "{error}");
    }
    let two = r#"{"name":"A","fields":[{"name":"f","type":{"struct":1}}]},
        {"name":"B","fields":[{"name":"f","type":{"struct":0}}]}"#;
    assert!(with_structs(two).is_err());
    let twice = r#"{"name":"A","fields":[{"name":"f","type":{"struct":1}},{"name":"g","type":{"struct":1}}]},
        {"name":"B","fields":[{"name":"f","type":"integer"}]}"#;
    assert!(with_structs(twice).is_ok());
}

#[test]
fn structures_in_each_other_are_limited() {
    on_a_small_stack(|| {
        let structure = |index: usize| {
            let inner = index + 1;
            format!(
                r#"{{"name":"S{index}","fields":[{{"name":"f","type":{{"struct":{inner}}}}}]}}"#
            )
        };
        let mut structs: Vec<String> = (0..50_000).map(structure).collect();
        structs.push(r#"{"name":"S","fields":[{"name":"f","type":"bool"}]}"#.to_owned());
        let error = with_structs(&structs.join(",")).expect_err("too deep");
        assert!(error.contains("--limit depth=N"), "{error}");
    });
}

#[test]
fn deep_expressions_of_json_are_refused_with_the_setting() {
    let model = |tokens: &str| {
        format!(
            r#"{{"format":"ioco-sts","version":1,"name":"m","files":[],"timeout":1,"enums":[],"structs":[],
            "functions":[],"labels":[],"variables":[{{"name":"b","process":0,"type":"bool","initial":{{"bool":true}}}}],
            "processes":[{{"name":"p","initial":0}}],"locations":[{{"name":"l","process":0}}],
            "switches":[{{"source":0,"gate":"tau","guard":[{{"var":0}}{tokens}],"target":0}}]}}"#
        )
    };
    let deep = model(&r#","not""#.repeat(600));
    let error = json::read(&deep).expect_err("too deep").to_string();
    assert!(error.contains("--limit depth=N"), "{error}");
    let raised = Budget {
        depth: 500,
        ..Budget::default()
    };
    assert!(json::read_within(&deep, &raised).is_ok());
}

#[test]
fn the_deepest_expression_that_can_be_allowed_fits_a_small_stack() {
    on_a_small_stack(|| {
        let mut expr = Expr::Var(ioco_sts::VarId(0));
        for _ in 0..1_000 {
            expr = Expr::unary(ioco_sts::UnaryOp::Not, expr);
        }
        let env = Env {
            variables: &[ioco_sts::Value::Bool(true)],
            parameters: &[],
            functions: &[],
        };
        let answer = expr.holds(env);
        let limited = matches!(answer, Err(ioco_sts::EvalError::Exhausted(_)));
        assert!(limited || answer == Ok(true), "{answer:?}");
        assert_eq!(expr.clone(), expr);
        assert!(format!("{expr:?}").len() > 1_000);
        assert_eq!(expr.vars().len(), 1);
    });
}

#[test]
fn many_updates_make_a_shallow_condition() {
    on_a_small_stack(|| {
        let names = 0..2_000;
        let variables: Vec<String> = names
            .clone()
            .map(|i| format!(r#"{{"name":"v{i}","process":0,"type":{{"range":[0,9]}},"initial":{{"int":0}}}}"#))
            .collect();
        let updates: Vec<String> = names
            .map(|i| {
                format!(
                    r#"{{"variable":{i},"value":[{{"var":{i}}},{{"const":{{"int":1}}}},"add"]}}"#
                )
            })
            .collect();
        let text = format!(
            r#"{{"format":"ioco-sts","version":1,"name":"m","files":[],"timeout":1,"enums":[],"structs":[],
            "functions":[],"labels":[],"variables":[{}],"processes":[{{"name":"p","initial":0}}],
            "locations":[{{"name":"l","process":0}}],
            "switches":[{{"source":0,"gate":"tau","update":[{}],"target":0}}]}}"#,
            variables.join(","),
            updates.join(",")
        );
        let sts = json::read(&text).expect("a model");
        fn height(expr: &Expr) -> usize {
            1 + expr.children().into_iter().map(height).max().unwrap_or(0)
        }
        assert!(height(&sts.switches()[0].enabled) < 20);
    });
}
