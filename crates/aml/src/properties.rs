//! Properties of the reader that hold for any text, and for generated models.

use std::collections::BTreeSet;

use proptest::prelude::*;

use crate::syntax::{SyntaxElement, SyntaxKind};
use crate::{Loaded, format, load_text, parser};

/// Fragments of the language, so that random texts come near to it.
fn fragments() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "process('p') {",
        "channel('c') {",
        "}",
        "{",
        "(",
        ")",
        "[",
        "]",
        "'",
        "\"",
        "%(",
        ",",
        ";",
        "\n",
        " ",
        "# comment\n",
        "state 'A'",
        "goto 'A'",
        "goto 'B'",
        "receive 'a'",
        "send 'b', constraint: 'x > 1 && (y'",
        "update: 'x += 1; y'",
        "constraint:",
        "repeat {",
        "choice {",
        "o {",
        "stop_repetition",
        "call 'b'",
        "behave_as 'b'",
        "behavior('b') {",
        "var 'x', integer(0..9), 3",
        "stimulus 'a', {'p' => :integer}",
        "response 'b'",
        "def m()",
        "end",
        "do",
        "m()",
        "if x",
        "external 'c'",
        "enum 'E', 'One', 'Two'",
        "function('f', [:integer] => :integer) { |x| x / 0 }",
        "timeout 1",
        "include 'x.aml'",
        "=>",
        ":integer",
        "é",
        "\\",
        "0..",
        "-3",
    ]);
    prop::collection::vec(words.prop_map(str::to_owned), 0..60).prop_map(|v| v.join(" "))
}

fn check_reading(text: &str) {
    let parse = parser::parse(text, 0);
    assert_eq!(parse.tree().text().to_string(), text);
    let loaded = load_text("random.aml", text);
    for diagnostic in &loaded.diagnostics {
        assert!(
            text.is_char_boundary(diagnostic.span.start),
            "{diagnostic:?}"
        );
        assert!(text.is_char_boundary(diagnostic.span.end), "{diagnostic:?}");
        assert!(diagnostic.span.start <= diagnostic.span.end);
        crate::render(diagnostic, &loaded.files, false);
    }
    if let Ok(formatted) = format(text) {
        assert_eq!(format(&formatted).as_deref(), Ok(formatted.as_str()));
        assert_eq!(comments(text), comments(&formatted));
        assert_same_model(&loaded, &load_text("random.aml", &formatted));
    }
}

/// The comments of a text, in order.
fn comments(text: &str) -> Vec<String> {
    parser::parse(text, 0)
        .tree()
        .descendants_with_tokens()
        .filter_map(SyntaxElement::into_token)
        .filter(|token| token.kind() == SyntaxKind::Comment)
        .map(|token| token.text().trim_end().to_owned())
        .collect()
}

/// The same but for the places.
fn assert_same_model(left: &Loaded, right: &Loaded) {
    assert_eq!(left.sts.is_some(), right.sts.is_some());
    let codes =
        |loaded: &Loaded| -> BTreeSet<&str> { loaded.diagnostics.iter().map(|d| d.code).collect() };
    assert_eq!(codes(left), codes(right));
    let (Some(left), Some(right)) = (&left.sts, &right.sts) else {
        return;
    };
    assert_eq!(left.labels(), right.labels());
    assert_eq!(left.types(), right.types());
    assert_eq!(left.functions(), right.functions());
    assert_eq!(left.processes(), right.processes());
    assert_eq!(left.timeout(), right.timeout());
    assert_eq!(left.locations().len(), right.locations().len());
    for (a, b) in left.locations().iter().zip(right.locations()) {
        assert_eq!((&a.name, a.timeout), (&b.name, b.timeout));
    }
    assert_eq!(left.switches().len(), right.switches().len());
    for (a, b) in left.switches().iter().zip(right.switches()) {
        assert_eq!(
            (a.source, a.gate, &a.guard, &a.update, a.target, &a.note),
            (b.source, b.gate, &b.guard, &b.update, b.target, &b.note)
        );
    }
}

/// The statements of a random process that is right.
fn statements(depth: u32) -> BoxedStrategy<String> {
    let step = prop::sample::select(vec![
        "receive 'a', constraint: 'n > x'",
        "receive  'a' ,constraint:'n == 1',update:'x = n'",
        "receive 'go'",
        "send 'done' # done",
        "send 'done', note: 'x is $x'",
        "tau constraint: 'x > 3', update: 'x = 0'",
        "goto 'A'",
        "goto 'B'",
        "call 'b'",
        "hello()",
        "behave_as 'b'",
    ])
    .prop_map(str::to_owned);
    let separator = prop::sample::select(vec!["\n", " ;  ", "\n\n\n", "\n# remark\n", ";\n"]);
    let one = if depth == 0 {
        step.boxed()
    } else {
        let option = statements(depth - 1);
        let options = prop::collection::vec((option, any::<bool>()), 1..4);
        let block = (
            prop::sample::select(vec!["choice", "repeat"]),
            options,
            any::<bool>(),
        );
        prop_oneof![
            3 => step,
            1 => block.prop_map(|(word, options, lines)| {
                let gap = if lines { "\n" } else { " " };
                let options: String = options
                    .iter()
                    .map(|(body, stop)| {
                        let stop = match (*stop, word) {
                            (true, "repeat") => "\nstop_repetition",
                            _ => "",
                        };
                        format!("o {{ {body}{stop}\n }}{gap}")
                    })
                    .collect();
                format!("{word} {{{gap}{options}}}")
            }),
        ]
        .boxed()
    };
    prop::collection::vec((one, separator), 0..4)
        .prop_map(|parts| {
            parts
                .into_iter()
                .map(|(statement, separator)| {
                    // A comment ends with its line.
                    let end = if statement.contains('#') && separator.contains(';') {
                        "\n"
                    } else {
                        separator
                    };
                    statement + end
                })
                .collect()
        })
        .boxed()
}

fn model() -> impl Strategy<Value = String> {
    (statements(3), statements(2)).prop_map(|(first, second)| {
        format!(
            "external 'c'\ndef hello() send 'done'\n end\nprocess ('p')  {{\n\
             channel( 'c' ) {{ stimulus 'a', {{ 'n'=>:integer }}\nstimuli 'go'\nresponses 'done' }}\n\
             var 'x',:integer,0\nbehavior('b') {{ receive 'go'\n}}\n\
             state 'A' ; {first}\nstate 'B'\n{second}\nreceive 'go'; goto 'A' }}"
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_without_panic_and_kept_whole(text in "\\PC{0,200}") {
        check_reading(&text);
    }

    #[test]
    fn text_near_the_language_is_read_without_panic_and_kept_whole(text in fragments()) {
        check_reading(&text);
    }

    #[test]
    fn formatting_keeps_meaning_and_comments_and_is_done_once(text in model()) {
        let loaded = load_text("random.aml", &text);
        prop_assert!(loaded.sts.is_some(), "{text}\n{:?}", loaded.diagnostics);
        check_reading(&text);
    }

    #[test]
    fn any_expression_is_read_without_panic(text in "[a-z0-9 ()\\[\\]<>=!&|+*/%.,:\"'~;-]{0,60}") {
        let sts = load_text("m.aml", "process('p') { var 'a', :integer\n var 'b', :string\n state 'S' }");
        let sts = sts.sts.expect("a model");
        let _ = crate::parse_expression(&text, &sts, None);
        let (_, _) = crate::expr::parse::updates(&text);
    }
}

#[test]
fn deep_nesting_is_refused_and_not_a_crash() {
    for text in [
        "o {".repeat(50_000),
        "[".repeat(50_000),
        "f(".repeat(50_000),
        "a: ".repeat(50_000),
        "'a' => ".repeat(50_000),
        format!("process('p') {{ {} ", "repeat { o { ".repeat(20_000)),
        format!("x {}", "(".repeat(50_000)),
        "%(".repeat(50_000),
        "do ".repeat(50_000),
        "def a ".repeat(50_000),
    ] {
        check_reading(&text);
    }
    let sts = load_text("m.aml", "process('p') { var 'a', :integer\n state 'S' }");
    let sts = sts.sts.expect("a model");
    for text in [
        "(".repeat(50_000),
        "!".repeat(50_000),
        "- ".repeat(50_000),
        "a[".repeat(50_000),
        "a+".repeat(50_000),
        "if ".repeat(50_000),
        "a == ".repeat(50_000),
        format!("a{}", ".b".repeat(50_000)),
    ] {
        assert!(crate::parse_expression(&text, &sts, None).is_err());
    }
    let long = vec!["a > 1"; 20_000].join(" && ");
    assert!(crate::parse_expression(&long, &sts, None).is_ok());
}
