//! The registry of diagnostics: every code with its severity and the paragraph that
//! `ioco explain` shows.

use crate::diagnostic::Severity;

/// A kind of diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    pub name: &'static str,
    pub severity: Severity,
    pub explanation: &'static str,
}

macro_rules! codes {
    ($($constant:ident $name:literal $severity:ident $explanation:literal;)*) => {
        $(pub const $constant: Code = Code {
            name: $name,
            severity: Severity::$severity,
            explanation: $explanation,
        };)*

        /// All codes, in the order of their numbers.
        pub const ALL: &[Code] = &[$($constant),*];
    };
}

codes! {
    SYNTAX "A001" Error
        "The text is not what the language expects here. A statement is a word with its arguments, \
         such as `receive 'lock', constraint: 'code > 0'`, and ends at the end of the line or at \
         `;`. A line that ends in a comma continues on the next line. ioco skips the wrong part and \
         reports the errors after it too.";
    NOT_CLOSED "A002" Error
        "A string, bracket or block is opened and not closed. Blocks close with the bracket that \
         opened them: `{` with `}`, `do` and `def` with `end`. A string closes with the quote that \
         opened it; only a string after a key, as in `constraint: '...'`, may span lines.";
    NOT_SUPPORTED "A003" Error
        "The original modelling language is embedded in Ruby, so its models may contain any Ruby. ioco reads \
         the declarative part, and of the rest: constants (`MAX = 3`), `[...].each { |x| ... }` and \
         `(1..3).each { |i| ... }`, macros with parameters, and `#{name}` in double quotes for these. \
         Write other loops and conditions out, or use variables, guards, macros and behaviors.";
    TOO_DEEP "A004" Error
        "Blocks, brackets or expressions are nested more deeply than ioco reads, or macros and \
         behaviors expand more deeply. Name a location with `state` and jump to it with `goto`, or \
         move a part to a behavior.";
    EXPRESSION_SYNTAX "A005" Error
        "A constraint, an update or the body of a function is not an expression of the language. \
         Comparisons are written `==`, `!=`, `<`, `<=`, `>`, `>=`; conditions are joined with `&&` \
         and `||`; an update is `x = e` or `x += e`, and several are separated by `;`.";
    INCLUDE_MISSING "A010" Error
        "The file named by `include` cannot be read. The path is relative to the file that \
         includes it.";
    INCLUDE_CYCLE "A011" Error
        "A file includes itself, directly or by way of others, so its text would never end. Move \
         what both files need into a third one.";
    UNKNOWN_STATEMENT "A020" Error
        "This word is no declaration or statement of the language, and no macro of that name is \
         defined.";
    WRONG_PLACE "A021" Error
        "The declaration or statement is known, but not allowed here: channels, variables and \
         behaviors belong in a process, `stimulus` and `response` in a channel, statements in a \
         process, a behavior, an option or a macro, and options `o { ... }` in `choice` or \
         `repeat`.";
    ARGUMENTS "A022" Error
        "The declaration or statement has too few or too many arguments, or one of the wrong form.";
    DECLARED_TWICE "A023" Error
        "Two declarations of the same kind have the same name, so that a use of the name could mean \
         either. You can redefine a macro: the text after it uses the new definition. A stimulus and a response may share a name. A label that two processes declare \
         must have the same parameters in both.";
    UNKNOWN_TYPE "A024" Error
        "A type is one of `:string`, `:integer`, `:decimal`, `:boolean`, `:date`, `:time`, \
         `integer(0..9)`, `[type]` for an array, or the name of an `enum` or `struct` in quotes.";
    CHANNEL_KIND "A025" Warning
        "No `external` or `internal` names this channel. ioco takes it as external: its labels go \
         to and come from the system under test. Write `external 'name'` at the top of the file, or \
         `internal 'name'` for a hand-shake between processes.";
    CHANNEL_UNKNOWN "A026" Warning
        "`external` or `internal` names a channel that no process declares.";
    INITIAL_VALUE "A027" Error
        "The initial value is not one of the variable's type. With no initial value the variable is \
         `:void`.";
    EMPTY_RANGE "A028" Error
        "The range holds no integer: its lower end is above its upper end.";
    NO_PROCESS "A029" Error
        "A model needs at least one `process('name') { ... }`.";
    UNKNOWN_LABEL "A030" Error
        "`receive` needs a stimulus and `send` a response that a channel of this process declares.";
    UNKNOWN_STATE "A031" Error
        "`goto` needs the name that a `state` of the same process declares. The states of a \
         behavior are seen inside it, and from the process only when it is entered with \
         `behave_as`.";
    UNKNOWN_NAME "A032" Error
        "A name in an expression is a parameter of the label, a variable of the process or a member \
         of an enumeration. Text is written in double quotes.";
    UNKNOWN_BEHAVIOR "A033" Error
        "`call` and `behave_as` need the name of a behavior of the same process.";
    UNKNOWN_FUNCTION "A034" Error
        "The function is neither built in (`length`, `last`, `min`, `max`, `abs`) nor declared with \
         `function('name', [types] => type) { |x| ... }`, or the array, range or string has no method of \
         this name. The chapter on the language lists the methods.";
    UNKNOWN_FIELD "A035" Error
        "The struct has no field, or the enumeration no member, of this name.";
    UNKNOWN_MACRO "A036" Error
        "No macro of this name is defined. Macros are defined at top level: \
         `def name() ... end`.";
    WRONG_DIRECTION "A037" Error
        "The system receives stimuli and sends responses: `receive` needs a stimulus, and `send` a \
         response. The label exists, but in the other direction.";
    TYPE_MISMATCH "A040" Error
        "An operator or function is given values of a type it does not work on, or a variable is given a \
         value of another type.";
    NOT_A_CONDITION "A041" Error
        "A constraint must be true or false. Compare the value with something: `tries < 3` instead \
         of `tries`.";
    ARGUMENT_COUNT "A042" Error
        "The call does not have as many arguments as the function has parameters.";
    BAD_PATTERN "A043" Error
        "The regular expression after `=~` cannot be read. A part of the string must match; write \
         `^` and `$` for all of it. Back-references and look-around are not part of it.";
    BAD_NUMBER "A044" Error
        "Integers have 64 bits, decimals 28 digits. The number does not fit.";
    NOT_ASSIGNABLE "A045" Error
        "Only variables of the process and their parts (`xs[0]`, `shop.name`) can be given a value in an \
         update: parameters are fixed by the step.";
    ASSIGNED_TWICE "A046" Error
        "The updates of one step happen at the same time, so a variable, or a part of it, can be given one \
         value only. Different parts of one variable can be given values in one step.";
    AMBIGUOUS_NAME "A047" Error
        "The name belongs to several things: members of two enumerations, or variables of two \
         processes. Write `Enumeration.Member` or `process.variable`.";
    OUTSIDE_REPEAT "A050" Error
        "`stop_repetition` leaves the innermost `repeat`; there is none around it.";
    RECURSION "A051" Error
        "A behavior that is called comes back, so it is put in place of each `call`. One that calls \
         itself, directly or by way of others, would never end; the same holds for macros. Use \
         `behave_as` or `goto` for a loop.";
    TOO_LARGE "A052" Error
        "Putting behaviors and macros in place of their calls makes more locations or \
         statements than ioco allows (two hundred thousand in a process).";
    UNREACHABLE_STATE "A060" Warning
        "No sequence of steps from the start of the process leads to this state, whatever the \
         guards say. Is a `goto` missing, or does one name another state?";
    UNREACHABLE_STATEMENT "A061" Warning
        "The statement before never goes on here: it is a `goto`, a `behave_as`, a \
         `stop_repetition`, or a block that is never left. Steps that are never reached are left \
         out of the model unless a `state` among them is jumped to.";
    NEVER_HOLDS "A062" Warning
        "The constraint compares values of types that have no value in common, or is false for every value that the types and the other conditions allow, so \
         the step can never be taken. Found by looking at ranges of values, not by search: a \
         constraint without this warning may still never hold.";
    RACE "A064" Warning
        "One option begins with `send` and another with `receive`. Which of them happens is decided \
         by the system: it may answer before the stimulus arrives. That is allowed, and tested as \
         such; make sure that it is meant.";
    ENDLESS_REPEAT "A065" Warning
        "The `repeat` has no `goto`, `stop_repetition` or `behave_as` in it, so it is never left, \
         and its start has no name. If it is the normal operation of the system, give it one with \
         `state`; if not, leave it with `stop_repetition`.";
    UPDATE_ORDER "A066" Warning
        "All updates of one step happen at the same time: every right-hand side reads the values \
         from before the step. Here a variable is given a value and read in a later update of the \
         same step, which would see the new value if they were made one after the other.";
    OPEN_HANDSHAKE "A067" Warning
        "In a hand-shake between processes the sender gives the values. This parameter is not fixed \
         by an equation such as `p == x`, so any value of its type could be sent; where these \
         cannot all be listed, no failure is concluded from what follows.";
    NO_PARTNER "A068" Warning
        "A label of an internal channel is a hand-shake: one process sends it and every other \
         process that declares it receives it. Here one of the sides is missing, so the step can \
         never happen.";
    HIDDEN_VARIABLE "A069" Warning
        "Parameters and variables share one name space. In the constraints and updates of this \
         label the name means the parameter, and the variable cannot be read.";
    UNUSED_LABEL "A070" Hint
        "The label is declared, but no `receive` or `send` uses it. A response that is never sent \
         is one that the model never allows.";
    UNUSED_VARIABLE "A071" Hint
        "The variable is never read, so it does not change what the model allows.";
    UNUSED_BEHAVIOR "A072" Hint
        "No `call` or `behave_as` uses the behavior, or no statement the macro. The statements of a \
         macro that is not used are not checked.";
    BEHAVIOR_ENDS "A073" Warning
        "The behavior is declared `:non_terminating`, but the last of its statements can be passed, \
         so it ends.";
    INLINE_STATE "A074" Hint
        "A state that is named at the very start of an option is the beginning of that option only. \
         No `goto` leads to it, so it is no location of its own.";
    NOTE_NAME "A075" Warning
        "A note shows the value of a variable or parameter as `$name`; there is none of this name.";
    NEVER_FITS "A076" Warning
        "The value that the update gives is outside the range of the variable for all values it can \
         be computed from, or can never be computed, so the step can never be taken.";
    DIVERGENCE "A077" Warning
        "Internal steps without a guard go round in a circle, so the process may go on for ever \
         without being seen, and silence tells nothing.";
    DIVIDES_BY_ZERO "A078" Warning
        "The divisor is always zero, so the expression has no value where this part of it counts, and a guard without a value does not hold.";
    EMPTY_REPEAT "A079" Warning
        "The `repeat` has no options, so nothing happens in it, and it is never left: the process is silent \
         from there on. An option is written `o { ... }`.";
    QUERY_SYNTAX "A080" Error
        "The line is none of a query. A line is a step (`?lock where passcode > 17`, `!locked`, \
         `*`), perhaps with `3 times` before it; a gap (`...`, `... without ?open`, `... within 3 \
         steps`); a place (`at Locked`, `visits Locked`); a condition on variables (`where tries == \
         2`); or the length of the whole test (`within 12 steps`).";
    QUERY_EMPTY "A081" Error
        "A query names at least one step, gap, place or condition: what the test should do.";
    UNSHOWN_REQUIREMENT "A090" Warning
        "No step shows this requirement, so no test can. `requirement 'ID', 'text'` stands before the \
         `receive`, `send`, `choice` or `repeat` that shows it; at the top of the file it gives the text \
         alone.";
}

/// The codes of all diagnostics, in order.
pub fn codes() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|code| code.name)
}

/// The paragraph on a code, for `ioco explain A030`.
pub fn explain(code: &str) -> Option<&'static str> {
    ALL.iter()
        .find(|c| c.name.eq_ignore_ascii_case(code))
        .map(|c| c.explanation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_its_own_number_and_an_explanation() {
        for pair in ALL.windows(2) {
            assert!(
                pair[0].name < pair[1].name,
                "{} is out of order",
                pair[1].name
            );
        }
        for code in ALL {
            assert!(code.explanation.len() > 40, "{} says too little", code.name);
            assert!(code.explanation.ends_with(['.', '?']), "{}", code.name);
            assert_eq!(explain(code.name), Some(code.explanation));
        }
        assert_eq!(explain("A999"), None);
    }
}
