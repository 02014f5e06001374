//! The reader of the reference, by itself and against ioco's.

use std::collections::BTreeMap;

use ioco_differential::check::{Counts, language};
use ioco_differential::generate::{Draft, Flavour, HOLE, dice, draft};
use ioco_differential::reference::Val;
use ioco_differential::reference::text::{Source, expression, updates};

/// Models with arrays, and models with sets and hashes.
fn drafts(count: u64) -> impl Iterator<Item = (u64, Draft)> {
    let flavours = [Flavour::Collections, Flavour::Keyed];
    let of = move |seed| flavours.map(|flavour| (seed, draft(&mut dice(seed), flavour)));
    (0..count).flat_map(of)
}

#[test]
fn guards_and_updates_mean_what_the_book_says() {
    let mut counts = Counts::default();
    for (seed, draft) in drafts(300) {
        let loaded = ioco_aml::load_text("model.aml", &draft.text());
        let sts = loaded.sts.expect("generated models load");
        let found = language::check(&draft, &sts, seed, &mut counts);
        assert_eq!(found, None, "seed {seed}\n{}", draft.text());
    }
    println!("{counts}");
}

/// The same check finds a model that says something else than its draft.
#[test]
fn another_number_in_a_guard_is_found() {
    let mut found = 0;
    for (seed, draft) in drafts(60) {
        let mut other = draft.clone();
        let edges = other.processes.iter_mut().flat_map(|p| &mut p.states);
        for edge in edges.flat_map(|state| &mut state.edges) {
            for condition in &mut edge.guard {
                *condition = condition.replace(" == 1", " == 2").replace(HOLE, "5");
            }
        }
        let loaded = ioco_aml::load_text("model.aml", &other.plain_text());
        let Some(sts) = loaded.sts else { continue };
        let plain = Draft {
            sugar: None,
            ..draft
        };
        found += usize::from(language::check(&plain, &sts, seed, &mut Counts::default()).is_some());
    }
    assert!(found >= 10, "{found} of 120");
}

#[test]
fn the_reader_of_the_reference_follows_ruby() {
    let loaded = ioco_aml::load_text(
        "model.aml",
        "struct 'Pair', {'one' => :integer, 'two' => :integer}\nprocess('p') { state 'S' }",
    );
    let sts = loaded.sts.expect("it loads");
    let functions = BTreeMap::new();
    let source = Source::new(&sts, &functions, BTreeMap::new());
    for (text, value) in [
        ("1 + 2 * 3 - 4 / 2 % 2", Val::int(7)),
        ("-7 / 2", Val::int(-3)),
        ("-7 % 2", Val::int(-1)),
        ("[1, 2, 3].map { |x| x * x }.sum", Val::int(14)),
        ("(1..4).select { |x| x % 2 == 0 }.last", Val::int(4)),
        ("[3, 1, 2].min + [3, 1, 2][1..2].length", Val::int(3)),
        ("[1, 2, 2] - [2] == [1] && [1] <~ [1, 2]", Val::Bool(true)),
        ("!(1 > 2) && (2 in 1..3 || 5 in [1])", Val::Bool(true)),
        ("if \"ab\".start_with?(\"b\") then 1 else 2", Val::int(2)),
        ("Pair(two: 3).two + Pair(one: 1).one", Val::int(4)),
        ("Pair(two: 3).one.nil?", Val::Bool(true)),
        ("[1, 2].with(0, 5).delete_at(1).first", Val::int(5)),
        (
            "Set[2, 1, 2] | Set[3] & Set[1] == Set[1, 2]",
            Val::Bool(true),
        ),
        (
            "Set[1, 2] - Set[2] + Set[3] == [3, 1, 1].to_set",
            Val::Bool(true),
        ),
        ("Set[3, 1].add(2).delete(3).to_a == [1, 2]", Val::Bool(true)),
        (
            "Set[1].subset?(Set[1, 2]) && 2 in Set[1, 2]",
            Val::Bool(true),
        ),
        ("Set[1, 2, 3].select { |x| x > 1 }.sum", Val::int(5)),
        ("{2 => 5, 1 => 7, 2 => 6}.values.first", Val::int(7)),
        (
            "{1 => 7}[2] == :void && {1 => 7}.fetch(2, 3) == 3",
            Val::Bool(true),
        ),
        (
            "{1 => 7}.merge({1 => 8}).with(2, 9).keys == [1, 2]",
            Val::Bool(true),
        ),
        (
            "{1 => 7, 2 => 8}.reject { |k, v| k == 1 }.count { |k, v| v == 8 }",
            Val::int(1),
        ),
        ("{1 => 7}.map { |k, v| k + v } == [8]", Val::Bool(true)),
    ] {
        let node = expression(text).expect(text);
        assert_eq!(source.eval(&node).ok(), Some(value), "{text}");
    }
    for text in [
        "[1][3]",
        "(3..1).min",
        "[].first",
        "1 / 0",
        "[1].take(-1)",
        "Set[:void]",
        "Set[].min",
        "{:void => 1}",
        "[1, :void].to_set",
    ] {
        let node = expression(text).expect(text);
        assert!(source.eval(&node).is_err(), "{text}");
    }
    assert_eq!(expression("1 +"), None);
    assert_eq!(updates("xs[0] += 1; p.one = 2").map(|u| u.len()), Some(2));
}
