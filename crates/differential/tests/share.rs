//! A fixed share of the comparison with the reference; `cargo xtask differential` goes on with new
//! seeds.

use std::collections::BTreeSet;
use std::ops::Range;

use ioco_differential::check::{Case, Counts, Kind};
use ioco_differential::generate::Flavour;
use ioco_sts::Relation;

const FIRST: Range<u64> = 0..40;
const SECOND: Range<u64> = 2000..2025;
/// State sets that are cut off take their time: a few of them will do.
const ENDLESS: [u64; 4] = [3015, 3048, 3053, 3077];

/// Of a hundred verdicts at most so many may be less than what the reference knows.
const MAX_WEAKER: u64 = 2;

fn without_endless(seeds: Range<u64>) -> impl Iterator<Item = Case> {
    let cases = seeds.map(Case::random);
    cases.filter(|case| case.flavour != Flavour::Endless)
}

fn endless() -> impl Iterator<Item = Case> {
    ENDLESS.into_iter().map(Case::random)
}

/// The seldom pair of a kind and a relation, which the other shares do not have.
fn compared_under_uioco() -> impl Iterator<Item = Case> {
    let cases = (4000..).map(Case::random);
    let wanted = |case: &Case| case.kind == Kind::Compare && case.relation() == Relation::Uioco;
    cases.filter(wanted).take(3)
}

/// Cases in which ioco soon reaches a limit.
fn with_small_limits() -> impl Iterator<Item = Case> {
    // The first of them notices where what follows from a set that is cut off counts as complete.
    let cases = (8619..).map(Case::random);
    let wanted = |case: &Case| case.small_limits().is_some() && case.flavour != Flavour::Endless;
    cases.filter(wanted).take(40)
}

fn compare(cases: impl Iterator<Item = Case>) -> Counts {
    let mut counts = Counts::default();
    for case in cases {
        if let Some(finding) = case.run(&mut counts) {
            let other = match case.other == case.draft {
                true => String::new(),
                false => format!("\nthe other model:\n{}", case.other.text()),
            };
            panic!(
                "seed {}: {}\n{}\n\n{}{other}",
                case.seed,
                finding.kind,
                finding.detail,
                case.draft.text()
            );
        }
    }
    println!("{counts}");
    // "Inconclusive" is never wrong: a tester that always says so would agree with everything.
    let weaker = counts.of("unexpectedly inconclusive").1 + counts.of("the solver does not know").1;
    let verdicts = ["test ", "replay"].map(|part| counts.of(part)).into_iter();
    let verdicts: u64 = verdicts.map(|(decided, open)| decided + open).sum();
    assert!(
        weaker * 100 <= verdicts * MAX_WEAKER,
        "{weaker} of {verdicts} verdicts say less than the reference knows\n{counts}"
    );
    counts
}

#[test]
fn ioco_and_the_reference_agree_on_the_first_share() {
    compare(without_endless(FIRST));
}

#[test]
fn ioco_and_the_reference_agree_on_the_second_share() {
    compare(without_endless(SECOND));
}

#[test]
fn ioco_and_the_reference_agree_on_sets_that_are_cut_off() {
    compare(endless());
}

#[test]
fn ioco_and_the_reference_agree_on_comparisons_under_uioco() {
    compare(compared_under_uioco());
}

#[test]
fn ioco_and_the_reference_agree_on_bisimilarity() {
    let cases = (6000..).map(Case::random);
    let counts = compare(cases.filter(|case| case.kind == Kind::Compare).take(60));
    for kind in ["Weakly", "Strongly"] {
        assert!(counts.of(kind).0 > 30, "{counts}");
    }
}

#[test]
fn small_limits_make_verdicts_inconclusive_and_never_wrong() {
    let counts = compare(with_small_limits());
    assert!(counts.of("cut off").1 > 0, "{counts}");
}

#[test]
fn the_shares_have_every_kind_flavour_and_relation() {
    let shares = || {
        let ordinary = without_endless(FIRST).chain(without_endless(SECOND));
        ordinary.chain(endless()).chain(compared_under_uioco())
    };
    let kinds: BTreeSet<String> = shares().map(|case| format!("{:?}", case.kind)).collect();
    assert_eq!(kinds.len(), 5, "{kinds:?}");
    let flavours: BTreeSet<String> = shares().map(|case| format!("{:?}", case.flavour)).collect();
    assert_eq!(flavours.len(), 10, "{flavours:?}");
    let relations = shares().map(|case| format!("{:?} {:?}", case.kind, case.relation()));
    let relations: BTreeSet<String> = relations.collect();
    assert_eq!(relations.len(), 10, "{relations:?}");
    assert!(endless().all(|case| case.flavour == Flavour::Endless));
}
