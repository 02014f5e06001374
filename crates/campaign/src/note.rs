//! What there is to say about a failure besides its explanation.

use ioco_shrink::Confidence;

/// One remark. Those that end in something to do are data, put into words by the terminal and the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    Text(String),
    /// Not seen in every run that should confirm it.
    Unconfirmed(Confidence),
    /// The system ended, and ioco does not start it: it is not shrunk until the system runs again.
    NotStarted,
    /// Not shrunk, because it could not be seen again.
    NotSeenAgain,
    /// A freshly started system does not show it.
    DependsOnEarlierTests,
}

impl Note {
    /// Why a failure is not certain, if it was not seen in every run that should confirm it.
    pub(crate) fn unconfirmed(confidence: Confidence) -> Option<Note> {
        confidence
            .is_flaky()
            .then_some(Note::Unconfirmed(confidence))
    }
}
