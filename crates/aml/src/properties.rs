//! Properties of the reader that hold for any text, and for generated models.

use std::collections::BTreeSet;

use ioco_sts::domain::{Domain, Facts, Goal, Steps, Values, numbered};
use ioco_sts::{BinaryOp, Env, Expr, IntRange, Sts, Type, UnaryOp, Value, VarId};
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

    /// A model with a piece cut out and another put in somewhere.
    #[test]
    fn a_damaged_model_is_read_without_panic_and_kept_whole(
        cut in 0..4000usize, length in 0..40usize, at in 0..4000usize, piece in "[\\PC\n]{0,3}",
    ) {
        let guide = include_str!("../../../book/src/language.md");
        let models: Vec<&str> = guide.split("```aml\n").skip(1).collect();
        let mut text: Vec<char> = models[cut % models.len()]
            .split("```")
            .next()
            .unwrap_or_default()
            .chars()
            .collect();
        let from = cut % text.len();
        text.drain(from..(from + length).min(text.len()));
        let at = at % (text.len() + 1);
        text.splice(at..at, piece.chars());
        check_reading(&text.into_iter().collect::<String>());
    }

    /// Whatever a text holds and whichever quotes and escapes it is written with.
    #[test]
    fn a_text_with_escapes_is_the_text(text in "(\\PC|[\\n\\r\\t\\\\'\"(){}#u0x]){0,12}", style in 0..4u8, quotes in 0..3u8) {
        let written: String = match style {
            0 => format!("{text:?}"),
            1 => format!("\"{}\"", text.chars().map(|c| format!("\\u{{{:x}}}", u32::from(c))).collect::<String>()),
            2 => format!("\"{}\"", text.chars().map(|c| match u32::from(c) {
                code @ 0..0x80 => format!("\\x{code:02x}"),
                code @ 0x80..0x1_0000 => format!("\\u{code:04x}"),
                code => format!("\\u{{{code:06x}}}"),
            }).collect::<String>()),
            _ => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
        };
        let quoted = match quotes {
            0 => format!("'{}'", written.replace('\\', "\\\\").replace('\'', "\\'")),
            1 => format!("\"{}\"", written.replace('\\', "\\\\").replace('#', "\\#").replace('"', "\\\"")),
            _ => {
                let escaped = written.replace('\\', "\\\\").replace('#', "\\#");
                format!("%({})", escaped.replace('(', "\\(").replace(')', "\\)"))
            }
        };
        let model = format!(
            "external 'c'\nprocess('p') {{\n  channel('c') {{ stimulus 'a', {{'s' => :string}} }}\n  \
             state 'S'\n  receive 'a', constraint: {quoted}\n}}\n",
            quoted = quoted.replacen('"', "s == \"", usize::from(quotes != 1))
                .replacen("\"\\\"", "\"s == \\\"", usize::from(quotes == 1)),
        );
        let loaded = load_text("m.aml", &model);
        let sts = loaded.sts.unwrap_or_else(|| panic!("{model}\n{:?}", loaded.diagnostics));
        let guard = &sts.switches()[0].guard;
        let mut found = Vec::new();
        guard.walk(&mut |part| if let Expr::Const(Value::Str(text)) = part { found.push(text.to_string()); });
        prop_assert_eq!(found, vec![text], "{}", model);
    }

    #[test]
    fn any_expression_is_read_without_panic(text in "[a-z0-9 ()\\[\\]<>=!&|+*/%.,:\"'~;\\\\-]{0,60}") {
        let sts = load_text("m.aml", "process('p') { var 'a', :integer\n var 'b', :string\n state 'S' }");
        let sts = sts.sts.expect("a model");
        let _ = crate::parse_expression(&text, &sts, None);
        let (_, _) = crate::expr::parse::updates(&text, &ioco_budget::Budget::default());
    }
}

#[test]
fn deep_nesting_is_refused_and_not_a_crash() {
    for text in [
        "o {".repeat(3_000),
        "[".repeat(3_000),
        "f(".repeat(3_000),
        "a: ".repeat(3_000),
        "'a' => ".repeat(3_000),
        format!("process('p') {{ {} ", "repeat { o { ".repeat(2_000)),
        format!("x {}", "(".repeat(3_000)),
        "%(".repeat(3_000),
        "do ".repeat(3_000),
        "def a ".repeat(3_000),
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

/// Expressions over two small integers and a boolean that may all be unset.
fn number(depth: u32) -> BoxedStrategy<Expr> {
    let leaf = prop_oneof![
        (0..2u32).prop_map(|v| Expr::Var(VarId(v))),
        (-4..5i64).prop_map(Expr::int),
    ];
    if depth == 0 {
        return leaf.boxed();
    }
    let op = prop::sample::select(vec![
        BinaryOp::Add,
        BinaryOp::Sub,
        BinaryOp::Mul,
        BinaryOp::Div,
        BinaryOp::Rem,
        BinaryOp::Min,
        BinaryOp::Max,
    ]);
    let inner = number(depth - 1);
    prop_oneof![
        2 => leaf,
        2 => (op, inner.clone(), inner.clone()).prop_map(|(op, a, b)| Expr::binary(op, a, b)),
        1 => (prop::sample::select(vec![UnaryOp::Neg, UnaryOp::Abs]), inner.clone())
            .prop_filter("a sign belongs to its digits", |(_, e)| !matches!(e, Expr::Const(_)))
            .prop_map(|(op, e)| Expr::unary(op, e)),
        1 => (condition(depth - 1), inner.clone(), inner)
            .prop_map(|(c, a, b)| Expr::If(Box::new([c, a, b]))),
    ]
    .boxed()
}

fn condition(depth: u32) -> BoxedStrategy<Expr> {
    let comparison = prop::sample::select(vec![
        BinaryOp::Eq,
        BinaryOp::Ne,
        BinaryOp::Lt,
        BinaryOp::Le,
        BinaryOp::Gt,
        BinaryOp::Ge,
    ]);
    let n = number(depth.min(1));
    let void = Expr::Const(Value::Void);
    let leaf = prop_oneof![
        1 => Just(Expr::Var(VarId(2))),
        1 => any::<bool>().prop_map(|b| Expr::Const(Value::Bool(b))),
        4 => (comparison, n.clone(), n.clone()).prop_map(|(op, a, b)| Expr::binary(op, a, b)),
        1 => (0..3u32, any::<bool>()).prop_map(move |(v, equal)| {
            let op = if equal { BinaryOp::Eq } else { BinaryOp::Ne };
            Expr::binary(op, Expr::Var(VarId(v)), void.clone())
        }),
        1 => (n.clone(), n.clone(), n.clone())
            .prop_map(|(a, b, c)| Expr::InRange(Box::new([a, b, c]))),
        1 => (n.clone(), prop::collection::vec(n, 1..3))
            .prop_map(|(a, items)| Expr::InSet(Box::new(a), items)),
    ];
    if depth == 0 {
        return leaf.boxed();
    }
    let inner = condition(depth - 1);
    let both = (inner.clone(), inner.clone());
    prop_oneof![
        1 => leaf,
        3 => both.clone().prop_map(|(a, b)| Expr::binary(BinaryOp::And, a, b)),
        1 => both.prop_map(|(a, b)| Expr::binary(BinaryOp::Or, a, b)),
        1 => inner.prop_map(|e| Expr::unary(UnaryOp::Not, e)),
    ]
    .boxed()
}

fn small_model() -> std::sync::Arc<Sts> {
    let text = "process('p') { var 'x', integer(-3..3)\nvar 'y', integer(0..5)\n\
                var 'ready', :boolean\nstate 'S' }";
    load_text("m.aml", text).sts.expect("a model")
}

/// All values of a variable of the small model.
fn values(sts: &Sts, variable: u32) -> Vec<Value> {
    let ty = &sts.variable(VarId(variable)).ty;
    let mut values = vec![Value::Void];
    match ty.int_range() {
        Some(range) => values.extend((range.min..=range.max).map(Value::Int)),
        None => values.extend([Value::Bool(false), Value::Bool(true)]),
    }
    values
}

fn unknowns(sts: &Sts) -> Vec<(Type, Domain)> {
    let all = sts.variables().iter().map(|v| &v.ty);
    let all = all.map(|ty| (ty.clone(), Domain::of_type(ty, sts.types())));
    all.collect()
}

#[test]
fn a_choice_between_unset_variables_may_differ_from_a_number() {
    let sts = small_model();
    let text = "0 != (if x in [x] then y else y) && y == :void";
    let guard = crate::parse_expression(text, &sts, None).expect("a guard");
    let (unknowns, steps) = (unknowns(&sts), Steps::default());
    let mut facts = Facts::new(sts.types(), &[], &unknowns, &steps);
    assert!(facts.assume(&[Goal::holds(&numbered(&guard, 3))]).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    /// Against trying all values: what is said never to hold does not hold for any.
    #[test]
    fn a_guard_said_never_to_hold_holds_for_no_values(guard in condition(3), value in number(2)) {
        let sts = small_model();
        let (unknowns, steps) = (unknowns(&sts), Steps::default());
        let mut facts = Facts::new(sts.types(), &[], &unknowns, &steps);
        let can_hold = facts.assume(&[Goal::holds(&numbered(&guard, 3))]).is_ok();
        let range = IntRange { min: 0, max: 2 };
        let found = facts.values_of(&numbered(&value, 3));
        let can_fit = can_hold && !found.values.meet(&Values::int(0, 2)).is_none();
        for x in values(&sts, 0) {
            for y in values(&sts, 1) {
                for ready in values(&sts, 2) {
                    let variables = [x.clone(), y.clone(), ready];
                    let env = Env { variables: &variables, parameters: &[], functions: &[] };
                    if guard.holds(env) != Ok(true) {
                        continue;
                    }
                    prop_assert!(can_hold, "{} holds for {variables:?}", ioco_sts::show_expr(&sts, None, &guard));
                    match value.eval(env) {
                        Ok(Value::Int(result)) => {
                            prop_assert!(can_fit || !range.contains(result), "{variables:?}");
                        }
                        Ok(_) => prop_assert!(found.void, "{variables:?}"),
                        Err(_) => prop_assert!(found.error, "{variables:?}"),
                    }
                }
            }
        }
    }

    #[test]
    fn an_expression_shown_reads_back_as_itself(expr in condition(3)) {
        let sts = small_model();
        let text = ioco_sts::show_expr(&sts, None, &expr);
        // Grouping of `&&` and `||` is not kept, so texts are compared.
        if let Ok(read) = crate::parse_expression(&text, &sts, None) {
            prop_assert_eq!(ioco_sts::show_expr(&sts, None, &read), text);
        } else {
            // Only an empty range is refused.
            prop_assert!(text.contains(".."), "{}", text);
        }
    }
}
