//! The drawing of a decomposition.

use ioco_draw::decomposition::{Decomposition, Subsystem, dot, svg};

fn names(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn a_decomposition_is_drawn_with_its_linking_variables() {
    let part = |name: &str, variables: &str, inputs: &str, bits: u32| Subsystem {
        name: name.to_owned(),
        variables: names(variables),
        inputs: names(inputs),
        bits,
        children: Vec::new(),
    };
    let children = vec![("v".to_owned(), 1), ("u".to_owned(), 2)];
    let root = Subsystem {
        children,
        ..part("M1", "a", "v u", 3)
    };
    let dependencies = ["a a", "a v", "a u", "v w", "u c", "w w", "c c"];
    let pair = |text: &str| (text[..1].to_owned(), text[2..].to_owned());
    let tree = Decomposition {
        goal: "a".to_owned(),
        subsystems: vec![root, part("M2", "v w", "", 3), part("M3", "u c", "", 2)],
        dependencies: dependencies.into_iter().map(pair).collect(),
    };
    insta::assert_snapshot!(format!("{}\n{}", dot(&tree), svg(&tree)));
}
