use super::*;

fn literal(test: Test, want: bool) -> Literal {
    Literal {
        prefix: String::new(),
        suffix: String::new(),
        test,
        want,
    }
}

fn matches(pattern: &str) -> Test {
    Test::Matches(Pattern::new(pattern).expect("a regular expression"))
}

fn words(literals: &[Literal], length: usize) -> (Vec<String>, bool) {
    let deadline = Deadline::never();
    let mut language = Language::new(literals, &deadline).expect("small");
    let mut found = Vec::new();
    let all = language.words(length, 50, &mut |_| 0, &deadline, &mut found);
    (found, all)
}

/// Every short text over a few characters is in the language exactly if the literals say so.
#[test]
fn languages_are_what_the_patterns_match() {
    let patterns = [
        "^[0-9]+$",
        "a",
        "^a",
        "b$",
        "^(ab)*$",
        "^a{2,3}$",
        "^[^a]*$",
        "^(a|b0)?$",
        "0.b",
        "^$",
        "(?i)^AB?$",
        r"\bab\b",
        r"a\B",
        "(?m)^a$",
        "(?s)^.$",
        r"^\w+ $",
        "a|^b",
        "(a*)*$",
        "^a??b",
        r"(?-u:\b)b",
        r"(?-u:\B)b",
        r"(?-u)^[ab]\s?$",
        "x*",
    ];
    let characters = ['a', 'b', '0', ' ', '\n', 'B', 'ü'];
    let mut texts = vec![String::new()];
    for length in 0..2 {
        let longer: Vec<String> = texts
            .iter()
            .filter(|t| t.chars().count() == length)
            .flat_map(|t| characters.iter().map(move |c| format!("{t}{c}")))
            .collect();
        texts.extend(longer);
    }
    let deadline = Deadline::never();
    let mut tests: Vec<Test> = patterns.iter().map(|p| matches(p)).collect();
    tests.push(Test::OneOf(vec![
        "ab".to_owned(),
        String::new(),
        "b".to_owned(),
    ]));
    use BinaryOp::{Ge, Gt, Le, Lt};
    for op in [Lt, Le, Gt, Ge] {
        tests.push(Test::Ordered(op, "ab".to_owned()));
        tests.push(Test::Ordered(op, String::new()));
    }
    tests.push(Test::Length(1, 2));
    tests.push(Test::Length(2, i64::MAX));
    for test in &tests {
        for (prefix, suffix) in [("", ""), ("a ", "0")] {
            for text in &texts {
                let whole = format!("{prefix}{text}{suffix}");
                let passes = match test {
                    Test::Matches(pattern) => pattern.matches(&whole),
                    Test::OneOf(words) => words.contains(&whole),
                    Test::Ordered(Lt, word) => whole < *word,
                    Test::Ordered(Le, word) => whole <= *word,
                    Test::Ordered(Gt, word) => whole > *word,
                    Test::Ordered(_, word) => whole >= *word,
                    Test::Length(min, max) => {
                        let length = whole.chars().count() as i64;
                        *min <= length && length <= *max
                    }
                };
                let literals = [
                    Literal {
                        prefix: prefix.to_owned(),
                        suffix: suffix.to_owned(),
                        test: test.clone(),
                        want: true,
                    },
                    literal(Test::OneOf(vec![text.clone()]), true),
                ];
                let language = Language::new(&literals, &deadline).expect("small");
                assert_eq!(!language.is_empty(), passes, "{test:?} {whole:?}");
                assert!(!language.infinite);
            }
        }
    }
}

#[test]
fn a_finite_language_is_listed_completely() {
    let both = [
        literal(matches("^[a-c]{2}$"), true),
        literal(matches("^a"), false),
    ];
    let (found, all) = words(&both, 2);
    assert_eq!(found, ["ba", "bb", "bc", "ca", "cb", "cc"]);
    assert!(all);
    assert_eq!(words(&both, 3), (Vec::new(), true));
    let (found, all) = words(&[literal(matches("^..$"), true)], 2);
    assert_eq!((found.len(), all), (50, false));
}

#[test]
fn exactly_as_many_words_as_wanted_are_all_there_are() {
    let few = [literal(matches("^[a-e]{2}[01]$"), true)];
    let (found, all) = words(&few, 3);
    assert_eq!((found.len(), all), (50, true));
    let many = [literal(matches("^([a-e]{2}[01]|zzz)$"), true)];
    let (found, all) = words(&many, 3);
    assert_eq!((found.len(), all), (50, false));
}

#[test]
fn of_long_words_only_one_is_made() {
    let letters = [literal(matches("^[ab]+$"), true)];
    for (length, count) in [(199, 50), (200, 50), (201, 1), (202, 1)] {
        let (found, all) = words(&letters, length);
        assert_eq!((found.len(), all), (count, false), "{length}");
        assert!(found.iter().all(|word| word.len() == length));
    }
}

#[test]
fn of_large_classes_some_characters_are_tried() {
    let class = |size: u32| vec![(0x4E00, 0x4E00 + size - 1)];
    for (size, tried) in [(1, 1), (63, 63), (64, 64), (65, 64), (66, 64)] {
        let (characters, complete) = readable(&class(size));
        assert_eq!(characters.len(), tried, "{size}");
        assert_eq!(complete, size <= 64, "{size}");
    }
}

#[test]
fn steps_count_the_size_of_a_pattern() {
    let taken = |pattern: &str| {
        let deadline = Deadline::never();
        let language = Language::new(&[literal(matches(pattern), true)], &deadline);
        let states = language.expect("small").longest();
        deadline.taken() / states as u64
    };
    let (small, large) = (taken("^a{40}$"), taken("^a{1000}$"));
    assert!(large > 5 * small, "{small} {large}");
}

#[test]
fn work_is_bounded_by_the_deadline_and_by_the_states() {
    let hard: Vec<Literal> = (2..9)
        .map(|n| literal(matches(&format!("^(a{{{n}}})*b(a|b)*a(a|b){{9}}$")), true))
        .collect();
    let deadline = Deadline::steps(5_000);
    assert!(Language::new(&hard, &deadline).is_err());
    assert!(deadline.taken() < 5_200);
    assert!(Language::new(&hard, &Deadline::never()).is_err());
}
