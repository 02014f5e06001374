//! The plugin-adapter protocol of the Axini Modeling Platform, from the platform's side: adapters
//! that exist already connect to ioco and work as they are.
//!
//! ```text
//! adapter → Announcement                  when it has connected
//! ioco    → Configuration                 when a run begins
//! adapter → Ready
//! ioco    → Label(stimulus, number)
//! adapter → Label, the same one           the confirmation, before the system gets it
//! adapter → Label(response) ...           at any time
//! ioco    → Reset                         between two tests
//! adapter → Ready
//! ioco    → close 1000                    when the run ends; the adapter connects again
//! ```
//!
//! [`Hub`] is the server and knows who is there; [`Amp`] is the connection of one run.

mod configure;
mod hub;
mod labels;
mod members;
mod peer;
mod player;
mod present;
mod run;
mod values;
mod wire;

pub use configure::Choice;
pub use hub::{Hub, HubOptions};
pub use members::Chosen;
pub use player::AmpPlayer;
pub use present::{AnnouncedItem, AnnouncedLabel, AnnouncedParameter, Presence};
pub use run::{Amp, AmpOptions};
pub use values::Units;

/// Reads a message and the label in it, as a connection would.
pub(crate) fn read_message(bytes: &[u8], sts: &std::sync::Arc<ioco_sts::Sts>) -> bool {
    use prost::Message as _;
    let Ok(message) = wire::Message::decode(bytes) else {
        return false;
    };
    let written = message.encode_to_vec();
    let again = wire::Message::decode(&written[..]);
    debug_assert!(again.is_ok_and(|again| again.encode_to_vec() == written));
    let labels = labels::Labels::new(std::sync::Arc::clone(sts));
    match &message.body {
        Some(wire::Body::Label(label)) => {
            let mut clocks = values::Clocks::new(Units::default());
            labels.read(label, &mut clocks);
        }
        Some(wire::Body::Announcement(announcement)) => {
            labels.compare(announcement, &labels.channels());
        }
        _ => return false,
    }
    true
}
