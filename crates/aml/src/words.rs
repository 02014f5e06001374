//! The words of the language and the places they may stand in.

/// What kind of block a statement stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Context {
    File,
    Process,
    Channel,
    /// A behavior, option or macro.
    Statements,
    /// `choice` or `repeat`.
    Options,
}

/// Statements, as opposed to declarations.
const STATEMENTS: &[&str] = &[
    "state",
    "goto",
    "stop_repetition",
    "call",
    "behave_as",
    "receive",
    "send",
    "tau",
    "choice",
    "repeat",
];

const DECLARATIONS: &[(&str, &[Context])] = &[
    ("timeout", &[Context::File]),
    ("external", &[Context::File, Context::Process]),
    ("internal", &[Context::File, Context::Process]),
    ("function", &[Context::File]),
    ("enum", &[Context::File]),
    ("struct", &[Context::File]),
    ("process", &[Context::File]),
    ("channel", &[Context::Process]),
    ("var", &[Context::Process]),
    ("behavior", &[Context::Process]),
    ("stimulus", &[Context::Channel]),
    ("response", &[Context::Channel]),
    ("stimuli", &[Context::Channel]),
    ("responses", &[Context::Channel]),
    (
        "requirement",
        &[
            Context::File,
            Context::Process,
            Context::Statements,
            Context::Options,
        ],
    ),
    ("o", &[Context::Options]),
];

pub fn is_statement(word: &str) -> bool {
    STATEMENTS.contains(&word) || matches!(word, "o" | "include" | "requirement")
}

/// Whether `word` may stand in `context`; `None` when it is no word of the language.
pub fn allowed(word: &str, context: Context) -> Option<bool> {
    if word == "include" {
        return Some(true);
    }
    if STATEMENTS.contains(&word) {
        return Some(matches!(context, Context::Process | Context::Statements));
    }
    DECLARATIONS
        .iter()
        .find(|(name, _)| *name == word)
        .map(|(_, contexts)| contexts.contains(&context))
}

/// Where `word` belongs, for a message.
pub fn belongs_in(word: &str) -> &'static str {
    let first = DECLARATIONS
        .iter()
        .find(|(name, _)| *name == word)
        .map(|(_, contexts)| contexts[0]);
    match first {
        Some(Context::File) => "at the top of the file",
        Some(Context::Process) => "directly in a process",
        Some(Context::Channel) => "in a channel",
        Some(Context::Options) => "in `choice` or `repeat`",
        Some(Context::Statements) | None => "in a process, a behavior, an option or a macro",
    }
}

/// All words, to suggest one for a mistyped word.
pub fn all<'a>() -> impl Iterator<Item = &'a str> {
    STATEMENTS
        .iter()
        .copied()
        .chain(DECLARATIONS.iter().map(|(name, _)| *name))
        .chain(["include", "def"])
}
