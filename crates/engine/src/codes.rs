//! The registry of codes: every way in which a test can end other than passing, with a paragraph
//! for `ioco explain`.

use ioco_sts::Verdict;

struct Code {
    code: &'static str,
    text: &'static str,
}

const REGISTRY: &[Code] = &[
    Code {
        code: "D001",
        text: "Unexpected response: the system sent a response that the model does not allow here.\n\
               After the steps of the test the model is in one or more states, and none of them has \
               a switch with this response that can be taken. Either the system does something it \
               should not, or the model forgets something that it may do. The explanation lists \
               what is allowed; where a switch with this response exists but its guard does not \
               hold, it names the guard and the values.",
    },
    Code {
        code: "D002",
        text: "Missing response: the system stayed silent where the model demands a response.\n\
               No state that the model may be in is quiescent: each of them must send something \
               before it can rest. The system sent nothing for the whole time-out. If the system is \
               only slow, raise the time-out (`timeout` in the model, or of the state); if silence \
               is right, the model needs a state in which it may be silent.",
    },
    Code {
        code: "D003",
        text: "Wrong value: the system sent the right response with values that the model does not \
               allow.\nThe model expects a response with this label here, but for the values \
               received every guard is false, or they do not have the types that the model declares. \
               The explanation names the condition that is violated, with the values put in.",
    },
    Code {
        code: "I001",
        text: "Inconclusive, a stimulus is not offered: a scripted test (a replay, a shrunk test, a \
               test of a suite) wants to give a stimulus that the model does not accept in the \
               states reached.\nThe system answered in another allowed way than when the test was \
               made, or the model has changed since. Nothing is wrong with the system; the test says \
               nothing about it.",
    },
    Code {
        code: "I002",
        text: "Inconclusive, stimulus and response crossed: the system sent a response before it \
               saw a stimulus that was under way, and the model does not say what the stimulus does \
               in that state.\nThis happens when a stimulus is given while the system is about to \
               speak. Make the model accept the stimulus there, or let the tester observe more \
               before it gives stimuli.",
    },
    Code {
        code: "I003",
        text: "Inconclusive, interrupted: the run was stopped, or reached a limit, while the test was \
               under way.\n\
               What was observed until then is kept; it says nothing about the steps that were not \
               taken.",
    },
    Code {
        code: "I004",
        text: "Inconclusive, not all states are known: an observation that the known states of the \
               model do not allow may be allowed by one that is not known.\nThe model takes more \
               internal steps than can be followed (usually a counter in a loop of internal steps), \
               evaluating it reached a limit, or the values of a hand-shake cannot be listed. \
               Warnings name the switch. Bound the counter or the value, or raise the limit.",
    },
    Code {
        code: "I005",
        text: "Inconclusive, a silence was not judged: the system stayed silent where the model may \
               demand a response, and the solver cannot decide whether the guard of that response can \
               hold.\nThe silence is a missing response if it can, and right if it cannot. The test \
               found no other deviation. Warnings name the switch. Write the guard in a simpler way, \
               bound the types of its parameters, or use another solver as well (`--solver z3`).",
    },
    Code {
        code: "E001",
        text: "Error, the system or its adapter cannot be used: it could not be started or reached, \
               it died, it did not answer a reset in time, or it sent something that is not the \
               protocol.\nThis is never counted as a failure of conformance. The message says what \
               happened; run the system by hand with the same command to see more.",
    },
    Code {
        code: "E003",
        text: "Error, the adapter broke its contract: it answered a question that was not asked, \
               for example reported a stimulus as given that was never handed to it.\nThis is a \
               mistake in the code that connects the tester to the system, not in the system.",
    },
    Code {
        code: "E004",
        text: "Error, the system ended in the middle of a test: it crashed, it closed its \
               connection, or its adapter went away.\nThis is not counted as a failure of \
               conformance, because no model says when a system may end; but the steps that led \
               there are kept like those of a failure, so that `ioco replay` shows it again and \
               `ioco shrink` cuts it down. The last step before it need not be the cause: a system \
               may go on for a while before its end is noticed.",
    },
];

/// The paragraph for a code, in any case.
pub fn describe(code: &str) -> Option<&'static str> {
    REGISTRY
        .iter()
        .find(|known| known.code.eq_ignore_ascii_case(code))
        .map(|known| known.text)
}

/// All codes with their paragraphs, in order.
pub fn codes() -> impl Iterator<Item = (&'static str, &'static str)> {
    REGISTRY.iter().map(|known| (known.code, known.text))
}

/// The code of a verdict; a pass has none.
pub fn code_of(verdict: &Verdict) -> Option<&'static str> {
    match verdict {
        Verdict::Pass => None,
        Verdict::Fail(deviation) | Verdict::Ended(deviation) => Some(deviation.kind.code()),
        Verdict::Inconclusive(reason) | Verdict::Error(reason) => Some(reason.cause.code()),
    }
}

#[cfg(test)]
mod tests {
    use ioco_sts::{Cause, DeviationKind, Reason};

    use super::*;

    #[test]
    fn every_code_is_well_formed_unique_and_in_order_within_its_letter() {
        let all: Vec<&str> = codes().map(|(code, _)| code).collect();
        for pair in all.windows(2) {
            assert!(
                pair[0][..1] != pair[1][..1] || pair[0] < pair[1],
                "{pair:?}"
            );
        }
        for (code, text) in codes() {
            assert!(code.len() == 4 && code[1..].chars().all(|c| c.is_ascii_digit()));
            assert!(
                text.lines().count() == 2,
                "{code}: a summary and a paragraph"
            );
            assert!(text.ends_with('.'), "{code}");
            assert_eq!(all.iter().filter(|other| **other == code).count(), 1);
            assert_eq!(describe(&code.to_lowercase()), Some(text));
        }
    }

    #[test]
    fn every_deviation_and_every_reason_of_the_tester_has_a_described_code() {
        for kind in [
            DeviationKind::UnexpectedResponse,
            DeviationKind::MissingResponse,
            DeviationKind::WrongValue,
        ] {
            let text = describe(kind.code()).expect("described");
            assert!(text.to_lowercase().starts_with(kind.name()));
        }
        for cause in [
            Cause::NotOffered,
            Cause::GoalMissed,
            Cause::Crossed,
            Cause::Interrupted,
            Cause::StatesMissing,
            Cause::Undecided,
        ] {
            let code = code_of(&Verdict::inconclusive(cause, "why"));
            assert!(
                code.and_then(describe)
                    .is_some_and(|text| text.starts_with("Inconclusive"))
            );
        }
        for cause in [Cause::Unusable, Cause::Contract] {
            let code = code_of(&Verdict::Error(Reason::new(cause, "why")));
            assert!(
                code.and_then(describe)
                    .is_some_and(|text| text.starts_with("Error"))
            );
        }
        assert_eq!(code_of(&Verdict::Pass), None);
        assert_eq!(describe("D999"), None);
    }
}
