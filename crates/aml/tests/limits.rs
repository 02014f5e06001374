//! The height of expressions is limited where they are read, so that nothing behind overflows a stack.

// The ban on files, clocks and threads is for the crate, not for its tests.
#![allow(clippy::disallowed_methods)]

use ioco_aml::{Sources, load_text, load_within};
use ioco_budget::Budget;

/// The errors of a model whose only guard is `guard`.
fn errors(guard: &str, budget: &Budget) -> Vec<String> {
    struct Text(String);
    impl Sources for Text {
        fn read(&self, _: &str) -> Result<String, String> {
            Ok(self.0.clone())
        }
    }
    let text = format!(
        "external 'c'\nprocess('p') {{\n  channel('c') {{ stimulus 'a', {{'x' => :integer, 'b' => :boolean}} }}\n  \
         state 's'\n  receive 'a', constraint: '{guard}'\n  goto 's'\n}}\n"
    );
    let loaded = load_within("m.aml", &Text(text), budget);
    let errors = loaded.diagnostics.iter().filter(|d| d.is_error());
    errors.map(|d| d.message.clone()).collect()
}

fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(work);
    thread.expect("a thread").join().expect("no panic");
}

#[test]
fn expressions_that_nest_too_deep_are_refused_with_the_setting() {
    on_a_small_stack(|| {
        let nested = format!(
            "{}x{} > 0",
            "(".repeat(100),
            format!("{})", "+1".repeat(200)).repeat(100)
        );
        let wide = format!("{}x > 0", "x + ".repeat(100_000));
        let calls = format!("{}x{} > 0", "abs(".repeat(5_000), ")".repeat(5_000));
        let not = format!("{}b", "!".repeat(100_000));
        let conditionals = format!("{}b", "if b then b else ".repeat(10_000));
        let indices = format!("x{} > 0", "[0]".repeat(10_000));
        let fields = format!("x{} > 0", ".f".repeat(10_000));
        let arrays = format!("{}x{} == x", "[".repeat(10_000), "]".repeat(10_000));
        for guard in [
            nested,
            wide,
            calls,
            not,
            conditionals,
            indices,
            fields,
            arrays,
        ] {
            let errors = errors(&guard, &Budget::default());
            let [error] = &errors[..] else {
                panic!("{:?}", &errors[..errors.len().min(3)]);
            };
            assert!(
                error.contains(
                    "nested deeper than 200 levels; raise the limit with --limit depth=N"
                ),
                "{error}"
            );
        }
    });
}

#[test]
fn many_conditions_are_no_depth() {
    on_a_small_stack(|| {
        for operator in [" && ", " || "] {
            let guard = vec!["b"; 100_000].join(operator);
            assert_eq!(errors(&guard, &Budget::default()), Vec::<String>::new());
        }
    });
}

#[test]
fn the_limit_is_a_setting() {
    on_a_small_stack(|| {
        let guard = format!("{}x > 0", "x + ".repeat(300));
        assert_eq!(errors(&guard, &Budget::default()).len(), 1);
        let raised = Budget {
            depth: 500,
            ..Budget::default()
        };
        assert_eq!(errors(&guard, &raised), Vec::<String>::new());
        let deepest = format!("{}b", "!".repeat(499));
        assert_eq!(errors(&deepest, &raised), Vec::<String>::new());
    });
}

#[test]
fn structures_in_each_other_are_limited() {
    on_a_small_stack(|| {
        let mut text = String::from("external 'c'\n");
        for index in 0..3_000 {
            text += &format!("struct 'S{index}', {{'f' => 'S{}'}}\n", index + 1);
        }
        text += "struct 'S3000', {'f' => :integer}\nprocess('p') { state 's' }\n";
        let loaded = load_text("m.aml", &text);
        assert!(loaded.sts.is_none());
        let deep = |d: &&ioco_aml::Diagnostic| d.message.contains("--limit depth=N");
        assert!(loaded.diagnostics.iter().any(|d| deep(&d)));
    });
}
