//! Pictures are well-formed, complete and say coverage in more than colour.

use ioco_draw::{Counts, Style, svg};
use ioco_sts::{Direction, Expr, Gate, Label, LabelId, Place, Sts, StsBuilder};
use proptest::prelude::*;

/// Processes with a number of locations each, and edges (process, from, label, to).
fn system(sizes: &[usize], edges: &[(usize, usize, usize, usize)], names: &str) -> Sts {
    let mut builder = StsBuilder::new("s <1>");
    let labels = [("a<b", Direction::Stimulus), ("b&c", Direction::Response)];
    for (name, direction) in labels {
        builder.label(Label {
            name: name.to_owned(),
            channel: "c".to_owned(),
            direction,
            parameters: Vec::new(),
        });
    }
    let mut locations = Vec::new();
    for (number, size) in sizes.iter().enumerate() {
        let process = builder.process(&format!("process \"{number}\""));
        let all: Vec<_> = (0..*size)
            .map(|index| builder.named_location(process, &format!("{names}{number}.{index}")))
            .collect();
        locations.push(all);
    }
    for (process, from, label, to) in edges {
        let here = &locations[process % sizes.len()];
        let gate = match label % 3 {
            2 => Gate::Tau,
            label => Gate::Observable(LabelId::from_index(label)),
        };
        let (from, to) = (here[from % here.len()], here[to % here.len()]);
        builder.switch(from, gate, Expr::TRUE, Vec::new(), to, Place::default());
    }
    builder.build()
}

/// Every tag is closed in order, and no bare `&` or `<` stands in a text or attribute.
fn check_well_formed(text: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        check_text(&rest[..start]);
        let end = rest[start..].find('>').expect("a tag ends") + start;
        let tag = &rest[start + 1..end];
        assert!(!tag.contains('<'), "{tag}");
        check_text(tag);
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(tag.split_whitespace().next().expect("a tag has a name"));
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty(), "{open:?}");
}

fn check_text(text: &str) {
    for (position, _) in text.match_indices('&') {
        let entity = &text[position..];
        let known = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"];
        assert!(known.iter().any(|e| entity.starts_with(e)), "{entity}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 40,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_system_becomes_a_well_formed_picture_of_all_its_locations(
        sizes in prop::collection::vec(1..12usize, 1..3),
        edges in prop::collection::vec((0..2usize, 0..12usize, 0..3usize, 0..12usize), 0..24),
        covered in any::<bool>(),
    ) {
        let sts = system(&sizes, &edges, "<n&");
        let counts = Counts {
            locations: vec![3; sts.locations().len()],
            switches: Vec::new(),
        };
        let style = Style { coverage: covered.then_some(&counts) };
        let picture = svg(&sts, &style);
        check_well_formed(&picture);
        prop_assert_eq!(svg(&sts, &style), picture.clone(), "the same system, the same picture");
        for index in 0..sts.locations().len() {
            let id = format!("<g id=\"l{index}\">");
            prop_assert!(picture.contains(&id));
        }
    }
}

#[test]
fn a_large_system_is_drawn_as_cards_that_link_to_each_other() {
    let edges: Vec<_> = (0..400).map(|n| (0, n, n, n * 7 + 1)).collect();
    let sts = system(&[400], &edges, "card");
    let picture = svg(&sts, &Style::default());
    check_well_formed(&picture);
    assert!(picture.contains("?a&lt;b → card0.1<"));
    assert!(picture.contains("<a href=\"#l8\">"));
}

#[test]
fn coverage_is_a_number_and_a_line_style() {
    let sts = system(&[2], &[(0, 0, 0, 1), (0, 0, 1, 1), (0, 1, 2, 0)], "l");
    let counts = Counts {
        locations: vec![5, 0],
        switches: vec![4, 0, 0],
    };
    let style = Style {
        coverage: Some(&counts),
    };
    let picture = svg(&sts, &style);
    for part in [
        "l0.0 ×5",
        "l0.1 ×0",
        "×4 ?a",
        "×0 !b",
        "class=\"location missed\"",
        "class=\"arrow partly\"",
        "class=\"arrow missed\"",
        ".location.missed { fill: #ffffff; stroke: #cf222e; stroke-width: 1.6; stroke-dasharray",
    ] {
        assert!(picture.contains(part), "{part}");
    }
    let plain = svg(&sts, &Style::default());
    assert!(!plain.contains('×'));
}

#[test]
fn parallel_switches_are_one_arrow_with_several_lines() {
    let sts = system(&[2], &[(0, 0, 0, 1), (0, 0, 1, 1), (0, 0, 2, 1)], "l");
    let picture = svg(&sts, &Style::default());
    // One arrow, and the one that points at the initial location.
    assert_eq!(picture.matches("class=\"arrow\"").count(), 2);
    assert!(picture.contains("<title>?a&lt;b\n!b&amp;c\nτ</title>"));
}

#[test]
fn the_picture_of_a_small_system() {
    let sts = system(&[2], &[(0, 0, 0, 1), (0, 1, 1, 0)], "l");
    insta::assert_snapshot!(svg(&sts, &Style::default()));
}
