//! Suites as files, and their minimisation.

use ioco_smv::{
    Criterion, Edge, GoalOptions, GoalResult, Model, Options, Technique, Verdict, generate, load,
    runnable, suite,
};

const LIGHT: &str = "
MODULE main
VAR light : {red, green};
    fault : boolean;
IVAR button : boolean;
ASSIGN
  init(light) := red;
  next(light) := case light = red & button : green; TRUE : red; esac;
  init(fault) := FALSE;
  next(fault) := fault | light = green & button;
";

fn results(text: &str, technique: Technique) -> (Model, Vec<ioco_smv::Goal>, Vec<GoalResult>) {
    let (model, diagnostics) = load(text, "light.smv");
    let mut model = model.unwrap_or_else(|| panic!("{diagnostics:?}"));
    let goals = model.goals(&[Criterion::Value], &GoalOptions::default());
    let edge = Edge {
        clock: &|| 0.0,
        stop: &|| false,
    };
    let options = Options {
        technique,
        ..Options::default()
    };
    let results = generate(&model, &goals, &options, edge, &mut |_| {});
    (model, goals, results)
}

#[test]
fn a_suite_is_written_for_people_and_for_the_runner() {
    let (model, goals, results) = results(LIGHT, Technique::Monolithic);
    let tests = suite::minimise(&model, &goals, &suite::tests(&results));
    let lines: Vec<String> = results
        .iter()
        .map(|result| serde_json::to_string(&result.to_json(&model)).expect("plain data"))
        .collect();
    let all = format!(
        "{}\n{}\n{}",
        lines.join("\n"),
        suite::csv(&model, &tests),
        suite::suite_lines(&model, &goals, &tests)
    );
    insta::assert_snapshot!(all);
}

#[test]
fn tests_become_a_model_that_judges_what_is_determined_only() {
    let text = "MODULE main
VAR light-1 : {red, green};
    count : 0..2;
    free : boolean;
IVAR button : boolean;
ASSIGN
  init(light-1) := red;
  next(light-1) := case light-1 = red & button : green; TRUE : {red, green}; esac;
  init(count) := 0;
  next(count) := case free & count < 2 : count + 1; TRUE : 0; esac;
";
    let (model, goals, results) = results(text, Technique::Monolithic);
    let tests = suite::minimise(&model, &goals, &suite::tests(&results));
    insta::assert_snapshot!(runnable::runnable(&model, &tests).aml);
}

#[test]
fn a_minimised_suite_covers_the_same_goals() {
    let (model, goals, results) = results(LIGHT, Technique::Auto);
    let tests = suite::tests(&results);
    let small = suite::minimise(&model, &goals, &tests);
    let covered = |list: &[suite::Test]| {
        let mut goals: Vec<usize> = list
            .iter()
            .flat_map(|test| test.goals.iter().copied())
            .collect();
        goals.sort_unstable();
        goals.dedup();
        goals
    };
    assert!(small.len() <= tests.len());
    assert_eq!(covered(&small), covered(&tests));
    assert!(
        small
            .iter()
            .all(|test| model.check_run(&test.states).is_ok())
    );
}

#[test]
fn an_interrupted_run_keeps_what_there_is() {
    let (model, _) = load(LIGHT, "light.smv");
    let mut model = model.expect("a model");
    let goals = model.goals(&[Criterion::Value], &GoalOptions::default());
    let edge = Edge {
        clock: &|| 0.0,
        stop: &|| true,
    };
    for technique in Technique::ALL {
        let options = Options {
            technique,
            ..Options::default()
        };
        let results = generate(&model, &goals, &options, edge, &mut |_| {});
        assert_eq!(results.len(), goals.len(), "{technique:?}");
        for result in results.iter().filter(|r| r.verdict == Verdict::Unknown) {
            assert_eq!(result.method, "interrupted", "{technique:?}");
        }
    }
}

#[test]
fn a_goal_may_have_hardly_any_time() {
    let (model, _) = load(LIGHT, "light.smv");
    let mut model = model.expect("a model");
    let goals = [model
        .user_goal("light = green & fault & light = red")
        .expect("a goal")];
    let edge = Edge {
        clock: &|| 0.0,
        stop: &|| false,
    };
    for technique in Technique::ALL {
        let options = Options {
            technique,
            time_per_goal: 1e-4,
            ..Options::default()
        };
        let results = generate(&model, &goals, &options, edge, &mut |_| {});
        assert_eq!(results.len(), 1, "{technique:?}");
    }
}

/// A shift register that comes by all TRUE only after very many steps.
fn register() -> String {
    let mut text = String::from("MODULE main\nVAR\n");
    for bit in 0..64 {
        text.push_str(&format!("  b{bit} : boolean;\n"));
    }
    text.push_str("ASSIGN\n  init(b0) := TRUE;\n  next(b0) := b63 xor b62 xor b60 xor b59;\n");
    for bit in 1..64 {
        text.push_str(&format!(
            "  init(b{bit}) := FALSE;\n  next(b{bit}) := b{};\n",
            bit - 1
        ));
    }
    text
}

#[test]
fn a_solver_without_room_ends_as_unknown_and_says_so() {
    let (model, _) = load(&register(), "register.smv");
    let mut model = model.expect("a model");
    let all: Vec<String> = (0..64).map(|bit| format!("b{bit}")).collect();
    let goals = [model.user_goal(&all.join(" & ")).expect("a goal")];
    let start = std::time::Instant::now();
    let edge = Edge {
        clock: &|| start.elapsed().as_secs_f64(),
        stop: &|| false,
    };
    for technique in [Technique::Monolithic, Technique::Auto] {
        let options = Options {
            technique,
            time_per_goal: 2.0,
            literals: 1000,
            ..Options::default()
        };
        let results = generate(&model, &goals, &options, edge, &mut |_| {});
        assert_eq!(results[0].verdict, Verdict::Unknown, "{technique:?}");
        assert!(
            results[0].method.contains("memory limit reached"),
            "{technique:?}: {}",
            results[0].method
        );
    }
}
