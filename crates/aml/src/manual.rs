//! The manual of the language, word by word: what an editor shows when the pointer rests on one.

const PAGES: &[(&str, &str, &str)] = &[
    (
        "behave_as",
        "behave_as 'NAME'",
        "Goes on as the behavior says, and does not come back.",
    ),
    (
        "behavior",
        "behavior('NAME') { ... }",
        "A part of a process with a name, which `call` runs and returns from.",
    ),
    (
        "call",
        "call 'NAME'",
        "Runs a behavior, and goes on here after it.",
    ),
    (
        "channel",
        "channel('NAME') { ... }",
        "The labels that a process exchanges over one connection.",
    ),
    (
        "choice",
        "choice { o { ... } o { ... } }",
        "One of the options happens, once. Which one follows from what is observed.",
    ),
    (
        "def",
        "def NAME(PARAMETERS) ... end",
        "A macro: its statements stand where it is called.",
    ),
    (
        "enum",
        "enum 'NAME', ['A', 'B']",
        "A type with a fixed set of values.",
    ),
    (
        "external",
        "external 'CHANNEL'",
        "Names a channel to the system under test: its labels are stimuli and responses.",
    ),
    (
        "function",
        "function 'NAME', ...",
        "A function that constraints and updates can call.",
    ),
    (
        "goto",
        "goto 'STATE'",
        "Goes on at a state of the same process.",
    ),
    (
        "include",
        "include 'FILE'",
        "The text of another file of the project stands here.",
    ),
    (
        "internal",
        "internal 'CHANNEL'",
        "Names a channel between processes: its labels are hand-shakes, which are not observable.",
    ),
    ("o", "o { ... }", "An option of `choice` or `repeat`."),
    (
        "process",
        "process('NAME') { ... }",
        "A part of the model that runs beside the other processes.",
    ),
    (
        "receive",
        "receive 'STIMULUS', constraint: '...', update: '...'",
        "The system accepts a stimulus whose values satisfy the constraint. The update then assigns variables.",
    ),
    (
        "repeat",
        "repeat { o { ... } o { ... } }",
        "One of the options happens, again and again, until `stop_repetition` or `goto`.",
    ),
    (
        "requirement",
        "requirement 'ID', 'text'",
        "What the following steps show. Runs count them, and failures name them.",
    ),
    (
        "response",
        "response 'NAME', {'value' => :integer}",
        "A message from the system to the tester, with its parameters.",
    ),
    (
        "responses",
        "responses 'A', 'B'",
        "Several responses without parameters.",
    ),
    (
        "send",
        "send 'RESPONSE', constraint: '...', update: '...'",
        "The system sends a response whose values satisfy the constraint. Here, no other response and no silence is allowed.",
    ),
    (
        "state",
        "state 'NAME'",
        "A location with a name, which `goto` leads to. It can have its own time-out: `state 'idle', timeout: 0.1`.",
    ),
    (
        "stimuli",
        "stimuli 'A', 'B'",
        "Several stimuli without parameters.",
    ),
    (
        "stimulus",
        "stimulus 'NAME', {'value' => integer(0..9)}",
        "A message from the tester to the system, with its parameters.",
    ),
    (
        "stop_repetition",
        "stop_repetition",
        "Leaves the innermost `repeat`.",
    ),
    (
        "struct",
        "struct 'NAME', {'field' => :integer}",
        "A type with named fields.",
    ),
    (
        "tau",
        "tau constraint: '...', update: '...'",
        "An internal step, which is not observable.",
    ),
    (
        "timeout",
        "timeout 0.5",
        "Seconds of silence after which the tester concludes that no response will come.",
    ),
    (
        "var",
        "var 'NAME', :integer, 0",
        "A variable of the process, with its type and first value.",
    ),
];

/// What a word of the language means: its form, and what it does.
pub fn manual(word: &str) -> Option<(&'static str, &'static str)> {
    let page = PAGES.iter().find(|(name, _, _)| *name == word);
    page.map(|(_, form, text)| (*form, *text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manual_has_every_word_of_the_language_and_no_other() {
        let mut known: Vec<&str> = crate::words::all().collect();
        known.sort_unstable();
        let pages: Vec<&str> = PAGES.iter().map(|(name, _, _)| *name).collect();
        assert_eq!(pages, known);
    }
}
