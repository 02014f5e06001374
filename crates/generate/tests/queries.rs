//! Answers to queries, against an obvious matcher that tries everything.

// The ban on files, clocks and threads is for the crate, not for its tests.
#![allow(clippy::disallowed_methods)]

#[path = "../../sts/tests/common/mod.rs"]
mod common;
mod explicit;

use std::collections::BTreeSet;
use std::sync::Arc;

use common::models::{Model, model};
use ioco_aml::query::{Item, Matcher};
use ioco_budget::Interrupt;
use ioco_generate::answer::{Answers, End, answer};
use ioco_generate::plan::{Limits, Pattern};
use ioco_generate::tree::{Allowed, Branch, Grower, Purpose};
use ioco_generate::{Confirm, moves_from};
use ioco_solve::GuardSolver;
use ioco_sts::{Expr, LabelId, LocationId, Relation, Semantics, State, Step, Sts, Value};
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

struct Files;

impl ioco_aml::Sources for Files {
    fn read(&self, path: &str) -> Result<String, String> {
        std::fs::read_to_string(path).map_err(|error| error.to_string())
    }
}

fn example(path: &str) -> Arc<Sts> {
    let path = format!("{}/../../examples/{path}", env!("CARGO_MANIFEST_DIR"));
    let loaded = ioco_aml::load(&path, &Files);
    loaded.sts.unwrap_or_else(|| panic!("{path} has errors"))
}

fn semantics(sts: &Arc<Sts>) -> Semantics {
    Semantics::new(
        Arc::clone(sts),
        Box::new(GuardSolver::new()),
        Relation::Ioco,
    )
}

fn limits(steps: u32) -> Limits {
    Limits {
        steps,
        paths: 20_000,
        budget: 50_000,
        interrupt: Interrupt::default(),
    }
}

fn ask_pattern(sts: &Arc<Sts>, pattern: &Pattern, steps: u32, number: usize) -> Answers {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut confirm = Confirm::new(semantics(sts));
    let answers = answer(
        sts,
        pattern,
        limits(steps),
        number,
        &mut confirm,
        &mut rng,
        &mut || false,
    );
    assert_eq!(answers.unconfirmed, 0);
    answers
}

fn ask(sts: &Arc<Sts>, text: &str, number: usize) -> Answers {
    let query = ioco_aml::query::parse("q", text, sts).expect("a query");
    let within = query.within.expect("a length");
    ask_pattern(sts, &Pattern::from(&query), within, number)
}

fn shown(sts: &Sts, answers: &Answers) -> Vec<String> {
    let one = |way: &ioco_generate::plan::MatchingPath| {
        let actions = way.actions();
        let all: Vec<String> = actions.iter().map(|a| a.show(sts)).collect();
        all.join(" ")
    };
    answers.tests.iter().map(one).collect()
}

#[test]
fn the_calculator_is_asked_for_a_product() {
    let sts = example("calculator/model.aml");
    let answers = ask(
        &sts,
        "within 3 steps\n?x(value=7)\nat 1\n...\n!result where value > 60",
        1,
    );
    // Only 5 as the second number lets a large result be shown, and then twice.
    assert_eq!(
        shown(&sts, &answers),
        ["?x(value=7) ?y(value=5) !result(value=70)"]
    );
    assert_eq!(answers.end, End::Enough);
}

#[test]
fn there_is_none_within_so_many_steps() {
    let sts = example("calculator/model.aml");
    for text in [
        "within 2 steps\nvisits 6",
        "within 20 steps\n?y",
        "within 20 steps\n...\n!result where value == 3",
        "within 20 steps\n... without ?y\n!result",
    ] {
        let answers = ask(&sts, text, 1);
        assert_eq!(
            (answers.tests.len(), answers.end),
            (0, End::NoMore),
            "{text}"
        );
    }
}

#[test]
fn several_answers_differ_in_the_way_first_and_then_in_the_values() {
    let sts = example("coffee/figure9.aml");
    let answers = ask(&sts, "within 3 steps\n... 3 steps", 5);
    let all = shown(&sts, &answers);
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 5, "{all:?}");
    let drinks: BTreeSet<&str> = all[..2]
        .iter()
        .filter_map(|t| t.split(' ').next_back())
        .collect();
    assert_eq!(drinks, BTreeSet::from(["!coffee", "!tea"]));
    // Exactly as many as there are: the first coin 20 or 21, the second 10.
    let text = "within 3 steps\n?coin where value <= 21\n?coin(value=10)\n!tea";
    let answers = ask(&sts, text, 9);
    assert_eq!((answers.tests.len(), answers.end), (2, End::NoMore));
}

#[test]
fn a_condition_may_speak_of_what_the_label_leaves_open() {
    // `lock` in state `locked` reads its passcode only to say that it has one.
    let sts = example("smartdoor/model.aml");
    let text = "within 10 steps\nvisits locked\n?lock where passcode == 4711\n!invalid_command\n\
                ... without ?lock\nat shut_off where attempts == 2";
    let answers = ask(&sts, text, 1);
    let all = shown(&sts, &answers);
    assert!(
        all[0].contains("?lock(passcode=4711) !invalid_command"),
        "{all:?}"
    );
    assert!(all[0].ends_with("!shut_off"), "{all:?}");
}

/// Figure 4 of Sietsma 2009. Whether the two transactions are needed and enough is computed here from the
/// numbers alone.
#[test]
fn a_shop_is_found_that_needs_two_transactions_to_be_optimal() {
    let sts = example("blockbuster/model.aml");
    let query = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/blockbuster/figure4.query"
    );
    let query = std::fs::read_to_string(query).expect("the query of the example");
    let answers = ask(&sts, &query, 2);
    assert_eq!((answers.tests.len(), answers.end), (2, End::Enough));
    for test in &answers.tests {
        let numbers: Vec<Vec<i64>> = test
            .actions()
            .iter()
            .map(|action| {
                let all = action.values.iter().map(|value| match value {
                    Value::Int(number) => *number,
                    Value::Enum(_, member) => i64::from(*member),
                    other => panic!("{other:?} is no number"),
                });
                all.collect()
            })
            .collect();
        let [profile, shop, first, second] = &numbers[..] else {
            panic!("{numbers:?}");
        };
        let hundreds = shop[0];
        let mut stock: Vec<i64> = shop[1..].chunks(3).map(|c| c.iter().sum()).collect();
        let best = |category: usize| profile[3 * category + 1] * hundreds;
        assert!((0..4).any(|c| stock[c] < profile[3 * c] * hundreds));
        assert!((0..4).any(|c| stock[c] > profile[3 * c + 2] * hundreds));
        let optimal = |stock: &[i64]| (0..4).all(|c| stock[c] == best(c));
        for transaction in [first, second] {
            assert!(!optimal(&stock), "{numbers:?}");
            let [buy, sell] = [transaction[0], transaction[1]].map(|c| c as usize);
            stock[buy] += transaction[2];
            stock[sell] -= transaction[2];
        }
        assert!(optimal(&stock), "{numbers:?}");
    }
}

#[test]
fn a_tree_says_what_else_may_come() {
    let sts = example("calculator/model.aml");
    let query = "within 3 steps\n?x(value=2)\n?y(value=5)\n!result(value=20)";
    let query = ioco_aml::query::parse("q", query, &sts).expect("a query");
    let pattern = Pattern::from(&query);
    let answers = ask_pattern(&sts, &pattern, 3, 1);
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut grower = Grower::new(semantics(&sts), 50_000, Interrupt::default());
    let purpose = Purpose {
        pattern: &pattern,
        limits: limits(3),
    };
    let tree = grower
        .grow(&answers.tests[0].actions(), Some(&purpose), &mut rng)
        .expect("the plan is one of the model");
    let saved = ioco_generate::suite::SavedTree::new(&tree, &sts);
    let text = serde_json::to_string(&saved).expect("JSON");
    // 2 + 5 is 7, and twice that 14: right, but not what was asked for.
    assert!(
        text.contains(r#"{"after":2,"response":"result","values":{"value":14}}"#),
        "{text}"
    );
    assert_eq!(saved.branches.len(), 1, "{text}");
}

#[test]
fn a_branch_goes_on_where_the_goal_is_still_in_reach() {
    // After the first coin the machine may give tea at once; coffee can still be had.
    let text = "
external 'm'
process('m') {
  channel('m') { stimulus 'coin'; responses 'tea', 'coffee' }
  state 'A'
  receive 'coin'
  choice {
    o { send 'tea'; goto 'A' }
    o { send 'coffee'; goto 'B' }
  }
  state 'B'
}
";
    let sts = ioco_aml::load_text("m.aml", text).sts.expect("a model");
    let query = ioco_aml::query::parse("q", "within 5 steps\n...\n!coffee", &sts).expect("a query");
    let pattern = Pattern::from(&query);
    let answers = ask_pattern(&sts, &pattern, 5, 1);
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let purpose = Purpose {
        pattern: &pattern,
        limits: limits(5),
    };
    let actions = answers.tests[0].actions();
    let tree = Grower::new(semantics(&sts), 50_000, Interrupt::default())
        .grow(&actions, Some(&purpose), &mut rng)
        .expect("a tree");
    // coin, or tea: coin, or tea: no third coin within five steps.
    let first = &tree.branches[0];
    assert_eq!((tree.steps.len(), first.after), (2, 1));
    let second = first.then.as_ref().expect("another coin");
    assert_eq!(second.steps.len(), 2);
    assert_eq!(second.branches[0].then, None);
}

/// Every value that a path of up to `left` steps can go on with, by trying all.
fn explicit_match(sts: &Sts, pattern: &Pattern, steps: u32) -> bool {
    type Place = (State, usize, u32);
    let holds = |condition: &Expr, state: &State, values: &[Value]| {
        let env = ioco_sts::Env {
            variables: &state.valuation,
            parameters: values,
            functions: sts.functions(),
        };
        condition.holds(env) == Ok(true)
    };
    // By number of steps: everything that can be reached with so many.
    let mut level: BTreeSet<Place> = BTreeSet::from([(explicit::initial(sts), 0, 0)]);
    for _ in 0..=steps {
        let mut open: Vec<Place> = level.iter().cloned().collect();
        while let Some((state, item, count)) = open.pop() {
            let mut more: Vec<Place> = Vec::new();
            match pattern.items.get(item) {
                None => return true,
                Some(Item::Gap { least, .. }) if count >= *least => {
                    more.push((state.clone(), item + 1, 0));
                }
                Some(Item::Here {
                    locations,
                    condition,
                }) if (locations.is_empty()
                    || locations.iter().any(|l| state.locations.contains(l)))
                    && holds(condition, &state, &[]) =>
                {
                    more.push((state.clone(), item + 1, 0));
                }
                _ => {}
            }
            for step in moves_from(sts, &state.locations)
                .iter()
                .filter(|s| !s.observable)
            {
                for next in explicit::successors(sts, &state, step) {
                    more.push((next, item, count));
                }
            }
            for place in more {
                if level.insert(place.clone()) {
                    open.push(place);
                }
            }
        }
        let mut next_level = BTreeSet::new();
        for (state, item, count) in &level {
            for step in moves_from(sts, &state.locations)
                .iter()
                .filter(|s| s.observable)
            {
                let label = step.label.expect("observable");
                for values in common::reference::combinations(sts, label) {
                    let fits =
                        |m: &Matcher| m.label == label && holds(&m.condition, state, &values);
                    let refuses = |m: &Matcher| {
                        let not = Expr::unary(ioco_sts::UnaryOp::Not, m.condition.clone());
                        m.label == label
                            && (m.condition == Expr::TRUE || !holds(&not, state, &values))
                    };
                    let (item, count) = match pattern.items.get(*item) {
                        Some(Item::Step(all)) if all.iter().any(fits) => (item + 1, 0),
                        Some(Item::Gap { most, without, .. })
                            if most.is_none_or(|most| *count < most)
                                && !without.iter().any(refuses) =>
                        {
                            (*item, count + 1)
                        }
                        _ => continue,
                    };
                    if let Some(next) = explicit::take(sts, state, step, &values) {
                        next_level.insert((next, item, count));
                    }
                }
            }
        }
        level = next_level;
    }
    false
}

fn matcher(sts: &Sts, label: usize, value: i64) -> Matcher {
    let label = LabelId::from_index(label % sts.labels().len());
    let is_number = |p: &ioco_sts::Parameter| matches!(p.ty, ioco_sts::Type::Int(_));
    let condition = match sts.label(label).parameters.first().filter(|p| is_number(p)) {
        Some(_) if value < 3 => Expr::binary(
            ioco_sts::BinaryOp::Eq,
            Expr::Param(0),
            Expr::Const(Value::Int(value)),
        ),
        _ => Expr::TRUE,
    };
    Matcher { label, condition }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 150,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(11),
        ..ProptestConfig::default()
    })]

    #[test]
    fn found_and_none_are_what_trying_everything_says(
        Model(sts) in model(),
        parts in prop::collection::vec((0..4usize, 0..5usize, 0..5i64, 0..3u32), 1..4),
        steps in 0..4u32,
    ) {
        let items: Vec<Item> = parts.iter().map(|(kind, label, value, number)| match kind {
            0 => Item::Step(vec![matcher(&sts, *label, *value)]),
            1 => Item::Gap { least: *number % 2, most: None, without: vec![] },
            2 => Item::Gap {
                least: 0,
                most: Some(*number),
                without: vec![matcher(&sts, *label, *value)],
            },
            _ => Item::Here {
                locations: vec![LocationId::from_index(*label % sts.locations().len())],
                condition: Expr::TRUE,
            },
        }).collect();
        let pattern = Pattern::of(items);
        let exists = explicit_match(&sts, &pattern, steps);
        let sts = Arc::new(sts);
        let answers = ask_pattern(&sts, &pattern, steps, 1);
        match (answers.tests.is_empty(), answers.end) {
            (false, _) => prop_assert!(exists),
            (true, End::NoMore) => prop_assert!(!exists, "{pattern:?}"),
            (true, _) => {}
        }
        for way in &answers.tests {
            let seen = way.actions().len() as u32;
            prop_assert!(seen <= steps);
            let mut semantics = semantics(&sts);
            let mut set = semantics.initial();
            for action in way.actions() {
                let step = match sts.label(action.label).direction {
                    ioco_sts::Direction::Stimulus => Step::Stimulus(action),
                    _ => Step::Response(action),
                };
                let next = semantics.after(set, &step);
                prop_assert!(next.is_some());
                set = next.unwrap_or(set);
            }
        }
    }
}

/// Both branches need a value that the solver has to find.
const GUESS: &str = "
external 'm'
process('m') {
  channel('m') {
    stimulus 'guess', {'x' => :integer, 'y' => :integer}
    response 'sum', {'s' => :integer}
  }
  var 'n', :integer, 0
  state 'A'
  repeat {
    o { receive 'guess', constraint: 'x + y == 7 && x - y == 1', update: 'n = x' }
    o { send 'sum', constraint: 's == n || s == n + 1' }
  }
}
";

#[test]
fn an_interrupt_ends_the_search_and_the_questions_of_a_query() {
    let sts = ioco_aml::load_text("m.aml", GUESS).sts.expect("a model");
    let text = "within 3 steps\n...\n?guess\n!sum where s == 5";
    let query = ioco_aml::query::parse("q", text, &sts).expect("a query");
    let pattern = Pattern::from(&query);
    assert_eq!(ask_pattern(&sts, &pattern, 3, 1).end, End::Enough);
    let ask = |raised_at: u32| {
        let mut limits = limits(3);
        let interrupt = Interrupt::default();
        limits.interrupt = interrupt.clone();
        let mut looks = 0;
        let mut stop = || {
            looks += 1;
            if looks > raised_at {
                interrupt.raise();
            }
            // Only the interrupt ends it.
            false
        };
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut confirm = Confirm::new(semantics(&sts));
        let answers = answer(&sts, &pattern, limits, 1, &mut confirm, &mut rng, &mut stop);
        (answers.tests.len(), answers.end, looks)
    };
    let (tests, end, looks) = ask(0);
    assert_eq!((tests, end), (0, End::Unknown));
    assert!(looks <= 4, "{looks} looks after the interrupt");
    // Raised between two ways: the question after it gets no answer.
    assert_eq!(ask(1).1, End::Unknown);
}

#[test]
fn an_interrupt_ends_the_questions_about_branches() {
    let sts = ioco_aml::load_text("m.aml", GUESS).sts.expect("a model");
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut grown = |interrupt: &Interrupt| {
        let mut grower = Grower::new(semantics(&sts), 50_000, interrupt.clone());
        let tree = grower.grow(&[], None, &mut rng).expect("a tree");
        tree.branches
    };
    let interrupt = Interrupt::default();
    let listed = |branch: &Branch| matches!(branch.allowed, Allowed::Values(_));
    assert!(grown(&interrupt).iter().all(listed));
    interrupt.raise();
    // The condition stands for the values that could not be listed.
    let branches = grown(&interrupt);
    assert_eq!(branches.len(), 1);
    assert!(!listed(&branches[0]));
}
