//! A fixed share of the comparison with the reference; `cargo xtask differential` goes on with new
//! seeds.

use ioco_differential::check::{Case, Counts};
use ioco_differential::generate::Flavour;

fn compare(seeds: std::ops::Range<u64>) {
    let mut counts = Counts::default();
    for seed in seeds {
        let case = Case::random(seed);
        // State sets that are cut off take their time; `regressions` has one.
        if case.flavour == Flavour::Endless {
            continue;
        }
        if let Some(finding) = case.run(&mut counts) {
            let other = match case.other == case.draft {
                true => String::new(),
                false => format!("\nthe other model:\n{}", case.other.text()),
            };
            panic!(
                "seed {seed}: {}\n{}\n\n{}{other}",
                finding.kind,
                finding.detail,
                case.draft.text()
            );
        }
    }
    println!("{counts}");
}

#[test]
fn ioco_and_the_reference_agree_on_the_first_share() {
    compare(0..25);
}

#[test]
fn ioco_and_the_reference_agree_on_the_second_share() {
    compare(2000..2025);
}
