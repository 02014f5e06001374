//! Every engine against explicit enumeration, on generated models and on the given ones that are small enough.

use ioco_smv::explicit::{Limits, reachable};
use ioco_smv::{Criterion, Edge, GoalOptions, Model, Options, Technique, Verdict, generate, load};
use proptest::prelude::*;

fn compare(model: &mut Model, technique: Technique, limits: Limits) -> Option<usize> {
    let reach = reachable(model, limits)?;
    let criteria = [
        Criterion::Value,
        Criterion::Decision,
        Criterion::Condition,
        Criterion::Mcdc,
    ];
    let options = GoalOptions {
        max_values: Some(10),
        inputs: true,
        ..GoalOptions::default()
    };
    let goals = model.goals(&criteria, &options);
    let edge = Edge {
        clock: &|| 0.0,
        stop: &|| false,
    };
    let options = Options {
        technique,
        time_per_goal: 1000.0,
        jobs: 1,
        nodes: 400_000,
        ..Options::default()
    };
    let results = generate(model, &goals, &options, edge, &mut |_| {});
    assert_eq!(results.len(), goals.len());
    for (goal, result) in goals.iter().zip(&results) {
        let distance = reach.distance(model, goal.expr, goal.transition);
        match result.verdict {
            Verdict::Covered => {
                let test = result.test().expect("a covered goal has a test");
                assert_eq!(
                    model.check_run(test),
                    Ok(()),
                    "{} of {}",
                    goal.text,
                    model.file
                );
                assert!(
                    model.first_hit(test, goal.expr, goal.transition).is_some(),
                    "{}",
                    goal.text
                );
                assert!(
                    distance.is_some_and(|distance| distance < test.len()),
                    "{}",
                    goal.text
                );
            }
            Verdict::Infeasible => assert_eq!(
                distance, None,
                "{} of {} by {}",
                goal.text, model.file, result.method
            ),
            Verdict::Unknown => {
                let incomplete = matches!(technique, Technique::Strong | Technique::Weak);
                assert!(
                    incomplete,
                    "{} of {}: {}",
                    goal.text, model.file, result.method
                );
            }
        }
    }
    Some(goals.len())
}

/// A small expression over the variables `a`, `b` (boolean), `n`, `m` (0..3), `e` ({red, green, blue}), and `k` and `u`,
/// whose integers stand in no order and partly alone.
fn condition(next: bool) -> impl Strategy<Value = String> {
    let mut atoms = vec![
        "a",
        "b",
        "n = 2",
        "m < n",
        "e = red",
        "e != blue",
        "n in {1, 3}",
        "n + m > 3",
        "e in {red, green}",
        "k in {7, 3, 4, 12}",
        "k < n",
        "k - m = 3",
        "u = none",
        "u in {2, none, 0, 1}",
    ];
    if next {
        atoms.extend(["next(a)", "next(n) = n", "next(e) = red", "i", "i & a"]);
    }
    let leaf = prop::sample::select(atoms).prop_map(str::to_owned);
    leaf.prop_recursive(2, 6, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(x, y)| format!("({x} & {y})")),
            (inner.clone(), inner.clone()).prop_map(|(x, y)| format!("({x} | {y})")),
            (inner.clone(), inner.clone()).prop_map(|(x, y)| format!("({x} -> {y})")),
            (inner.clone(), inner.clone()).prop_map(|(x, y)| format!("({x} xor {y})")),
            inner.prop_map(|x| format!("!({x})")),
        ]
    })
}

prop_compose! {
    fn text()(
        first in condition(false),
        second in condition(false),
        third in condition(false),
        guard in prop::sample::select(vec!["i", "a", "n = 0", "i & b"]),
        n_next in prop::sample::select(vec!["(n + 1) mod 4", "{n, m}", "n", "0 .. n", "n union 2", "case m > n : m; TRUE : {0, n}; esac"]),
        m_next in prop::sample::select(vec!["m", "{0, 1, 2, 3}", "case next(n) = 2 : 3; TRUE : m; esac", "(m * 2) mod 4", "3 - n"]),
        e_next in prop::sample::select(vec!["e", "{red, green}", "case e = red : green; e = green : {red, blue}; TRUE : e; esac"]),
        k_next in prop::sample::select(vec!["k", "case k < 7 & k > 0 : k + 1; TRUE : -9; esac", "case k = -9 : 4; TRUE : {k, 6}; esac"]),
        u_next in prop::sample::select(vec!["u", "n", "case u = n : none; TRUE : m; esac", "{2, none}"]),
        trans in prop::option::weighted(0.4, condition(true)),
        invar in prop::option::weighted(0.3, condition(false)),
        init in prop::option::weighted(0.3, condition(false)),
        free in any::<bool>(),
    ) -> String {
        let mut text = String::from(
            "MODULE main\nVAR a : boolean; b : boolean; n : 0..3; m : 0..3; e : {red, green, blue};\n  k : {4, -9, 3, 7, 5, 6}; u : {none, 2, 1, 0, 3, 4};\nIVAR i : boolean;\nASSIGN\n");
        text.push_str(&format!("  init(n) := 0;\n  init(e) := red;\n  init(k) := 3;\n  next(a) := case {guard} : {first}; TRUE : {second}; esac;\n"));
        text.push_str(&format!("  next(n) := {n_next};\n  next(m) := {m_next};\n  next(e) := {e_next};\n"));
        text.push_str(&format!("  next(k) := {k_next};\n  next(u) := {u_next};\n"));
        if !free {
            text.push_str(&format!("  next(b) := ({third}) union b;\n"));
        }
        if let Some(init) = init {
            text.push_str(&format!("INIT {init}\n"));
        }
        if let Some(trans) = trans {
            text.push_str(&format!("TRANS {trans}\n"));
        }
        if let Some(invar) = invar {
            text.push_str(&format!("INVAR {invar}\n"));
        }
        text
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn all_techniques_agree_with_enumeration_on_generated_models(text in text(), pick in 0..4_usize) {
        let (model, diagnostics) = load(&text, "generated.smv");
        let mut model = model.unwrap_or_else(|| panic!("{diagnostics:?}\n{text}"));
        prop_assert!(compare(&mut model, Technique::ALL[pick], Limits::default()).is_some());
    }

    #[test]
    fn printed_goals_are_read_back_as_the_same_expression(text in text()) {
        let (model, _) = load(&text, "generated.smv");
        let mut model = model.expect("a model");
        for goal in model.goals(&[Criterion::Decision, Criterion::Mcdc], &GoalOptions::default()) {
            let again = model.user_goal(&goal.text).expect("a goal that was printed");
            prop_assert_eq!(model.print(again.expr), goal.text);
        }
    }
}

fn bench() -> Option<std::path::PathBuf> {
    let folder =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/bench/nusmv");
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: there are no models at {}", folder.display());
    None
}

fn files(folder: &std::path::Path, found: &mut Vec<std::path::PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "smv") {
            found.push(path);
        }
    }
}

#[test]
fn all_given_models_load_except_templates_and_those_that_leave_a_domain() {
    let Some(folder) = bench() else { return };
    let mut paths = Vec::new();
    files(&folder, &mut paths);
    let mut loaded = 0;
    for path in &paths {
        let name = path.display().to_string();
        let text =
            String::from_utf8_lossy(&std::fs::read(path).expect("a readable model")).into_owned();
        let (model, diagnostics) = load(&text, &name);
        loaded += usize::from(model.is_some());
        if model.is_none() {
            let message = diagnostics
                .iter()
                .map(|diagnostic| diagnostic.message.as_str())
                .collect::<Vec<_>>()
                .join("; ");
            let expected =
                message.contains("macro template") || message.contains("outside of its domain");
            assert!(expected, "{name}: {message}");
        }
    }
    assert!(loaded >= 190, "{loaded} of {} load", paths.len());
}

#[test]
fn small_given_models_agree_with_enumeration() {
    let Some(folder) = bench() else { return };
    let mut paths = Vec::new();
    files(&folder, &mut paths);
    paths.sort();
    let limits = Limits {
        states: 200,
        work: 60_000,
    };
    let mut compared = 0;
    for path in paths {
        let text =
            String::from_utf8_lossy(&std::fs::read(&path).expect("a readable model")).into_owned();
        if text.len() > 4000 {
            continue;
        }
        if let (Some(mut model), _) = load(&text, &path.display().to_string())
            && model.summary().bits <= 12
            && compare(&mut model, Technique::Auto, limits).is_some()
        {
            compared += 1;
        }
    }
    assert!(compared >= 20, "only {compared} models were small enough");
}
