//! The Safety Injection System of the decomposition paper (Code 1), with its Examples 2 to 7.
//! `Normal` is added to the domain of Press, which the paper forgets.

use ioco_smv::decompose::Tree;
use ioco_smv::depend::Dependencies;
use ioco_smv::expr::VarId;
use ioco_smv::{
    Criterion, Edge, GoalOptions, GoalResult, Model, Options, Technique, Verdict, generate, load,
};

const CODE_1: &str = include_str!("../../../examples/injection/sis.smv");

fn model() -> Model {
    let (model, diagnostics) = load(CODE_1, "sis.smv");
    model.unwrap_or_else(|| panic!("{diagnostics:?}"))
}

fn answer(goal: &str, technique: Technique) -> (Model, GoalResult) {
    let mut model = model();
    let goal = model.user_goal(goal).expect("the goal is over the model");
    let options = Options {
        technique,
        time_per_goal: 600.0,
        ..Options::default()
    };
    let edge = Edge {
        clock: &|| 0.0,
        stop: &|| false,
    };
    let mut results = generate(&model, &[goal], &options, edge, &mut |_| {});
    (model, results.remove(0))
}

fn column(model: &Model, result: &GoalResult, name: &str) -> Vec<String> {
    let var = model.var_named(name).expect("a variable of the model");
    result
        .test()
        .expect("a test")
        .iter()
        .map(|state| model.value_of(state, var))
        .collect()
}

#[test]
fn the_book_shows_the_example_as_it_is() {
    let chapter = include_str!("../../../book/src/nusmv.md");
    assert!(chapter.contains(CODE_1), "copy examples/injection/sis.smv");
}

#[test]
fn example_2_direct_dependencies_count_primed_variables() {
    let model = model();
    let dependencies = Dependencies::of(&model);
    let direct = |name: &str| -> Vec<String> {
        let var = model.var_named(name).unwrap();
        dependencies
            .direct(var)
            .iter()
            .map(|on| model.var(*on).name.clone())
            .collect()
    };
    assert_eq!(direct("SafInject"), ["Overridden", "Press"]);
    assert_eq!(direct("Overridden"), ["Press"]);
    assert_eq!(direct("Press"), ["WaterPress", "Valve"]);
    assert_eq!(direct("WaterPress"), ["WaterPress"]);
    assert!(direct("Valve").is_empty());
}

#[test]
fn example_3_value_coverage_has_a_goal_for_every_value() {
    let goals = model().goals(&[Criterion::Value], &GoalOptions::default());
    assert_eq!(goals.len(), 4 + 2 + 4 + 1001 + 2);
    assert_eq!(goals[0].text, "SafInject = OFF");
}

#[test]
fn example_4_the_decomposition_has_two_subsystems_linked_by_press() {
    let mut model = model();
    let goal = model.user_goal("SafInject = ALERT").unwrap();
    let dependencies = Dependencies::of(&model);
    let tree = Tree::of(&model, &dependencies, goal.expr);
    let names = |vars: &[VarId]| -> Vec<String> {
        vars.iter().map(|v| model.var(*v).name.clone()).collect()
    };
    let [root, child] = &tree.subsystems[..] else {
        panic!("{tree:?}");
    };
    assert_eq!(names(&root.vars), ["SafInject", "Overridden", "Press"]);
    assert_eq!(names(&root.inputs), ["Press"]);
    assert_eq!(names(&[root.children[0].0]), ["Press"]);
    assert_eq!(names(&child.vars), ["Press", "WaterPress", "Valve"]);
    assert!(child.inputs.is_empty());
}

#[test]
fn example_5_strong_covers_off_valve_in_two_states() {
    let (model, result) = answer("SafInject = OFF_VALVE", Technique::Strong);
    assert_eq!((result.verdict, result.length), (Verdict::Covered, Some(2)));
    assert_eq!(column(&model, &result, "SafInject"), ["OFF", "OFF_VALVE"]);
    assert_eq!(column(&model, &result, "Overridden"), ["FALSE", "TRUE"]);
    assert_eq!(column(&model, &result, "Press"), ["Low", "Unknown"]);
    assert_eq!(column(&model, &result, "Valve"), ["closed", "open"]);
    let water: Vec<i64> = column(&model, &result, "WaterPress")
        .iter()
        .map(|value| value.parse().unwrap())
        .collect();
    assert!(water[0] == 0 && (0..=5).contains(&water[1]), "{water:?}");
}

#[test]
fn example_6_weak_holds_low_for_sixty_states() {
    let (model, result) = answer("SafInject = ALERT", Technique::Weak);
    assert_eq!(
        (result.verdict, result.length),
        (Verdict::Covered, Some(61))
    );
    let mut low = vec!["Low".to_owned(); 60];
    low.push("Normal".to_owned());
    assert_eq!(column(&model, &result, "Press"), low);
    let mut off = vec!["OFF".to_owned(); 60];
    off.push("ALERT".to_owned());
    assert_eq!(column(&model, &result, "SafInject"), off);
    assert!(
        column(&model, &result, "Overridden")
            .iter()
            .all(|value| value == "FALSE")
    );
    assert!(
        column(&model, &result, "Valve")
            .iter()
            .all(|value| value == "closed")
    );
    let water: Vec<String> = (0..61).map(|step| (step * 5).to_string()).collect();
    assert_eq!(column(&model, &result, "WaterPress"), water);
}

#[test]
fn example_6_strong_misses_alert() {
    let (_, result) = answer("SafInject = ALERT", Technique::Strong);
    assert_eq!(result.verdict, Verdict::Unknown);
    assert_eq!(
        result.method,
        "strong: subsystem M2 cannot provide the values of Press"
    );
}

#[test]
fn example_7_both_miss_on_and_the_whole_model_has_it() {
    for technique in [Technique::Strong, Technique::Weak] {
        let (_, result) = answer("SafInject = ON", technique);
        assert_eq!(result.verdict, Verdict::Unknown, "{technique:?}");
        assert!(
            result.method.contains("M2 cannot provide"),
            "{}",
            result.method
        );
    }
    for technique in [Technique::Monolithic, Technique::Auto] {
        let (model, result) = answer("SafInject = ON", technique);
        assert_eq!(result.verdict, Verdict::Covered, "{technique:?}");
        assert!(
            result
                .test()
                .is_some_and(|run| model.check_run(run).is_ok())
        );
    }
}

#[test]
fn a_part_that_cannot_provide_is_put_together_with_the_one_that_asks() {
    let mut model = model();
    let goal = model.user_goal("SafInject = ON").expect("a goal");
    let dependencies = Dependencies::of(&model);
    let press = model.var_named("Press").expect("Press");
    let tree = Tree::of(&model, &dependencies, goal.expr);
    assert_eq!(tree.subsystems.len(), 2);
    let refined = Tree::refined(&model, &dependencies, goal.expr, &[press]);
    assert_eq!(refined.subsystems.len(), 1);
    assert_eq!(refined.subsystems[0].vars.len(), 5);
}

#[test]
fn what_the_root_cannot_reach_is_proved_infeasible() {
    let (_, result) = answer("SafInject = ON & Overridden", Technique::Strong);
    assert_eq!(result.verdict, Verdict::Infeasible);
    assert!(
        result.method.starts_with("strong, root by"),
        "{}",
        result.method
    );
}
