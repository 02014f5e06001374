//! What a played system says: its greetings and its responses, as the mapping describes them.
//!
//! Where a regular expression reads a message, one that it matches is made up; the same seed makes up the same ones.

use ioco_sts::{Action, Direction, Sts};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

use super::labels::{Mapping, Pattern, Templates};
use super::recogniser::unrecognisable;
use crate::connection::AdapterError;

pub(crate) struct TextResponder {
    rng: ChaCha8Rng,
}

impl TextResponder {
    /// For a model of which every response can be sent, and every stimulus be recognised.
    pub fn new(
        sts: &Sts,
        templates: &Templates,
        mapping: &Mapping,
        seed: u64,
    ) -> Result<TextResponder, AdapterError> {
        for id in sts.labels_of(Direction::Stimulus) {
            if let Some(why) = templates.form(id).and_then(unrecognisable) {
                return Err(AdapterError::new(format!(
                    "{} {why} in [lines], so it cannot be recognised",
                    sts.label(id).marked_name()
                ))
                .hint("describe each part as a stimulus of its own"));
            }
        }
        let mut responder = TextResponder {
            // Another stream of random numbers than those of the model.
            rng: ChaCha8Rng::seed_from_u64(seed ^ 0x76_6f69_6365),
        };
        for (pattern, setting) in [(&mapping.banner, "banner"), (&mapping.ready, "ready")] {
            responder
                .greeting(pattern.as_ref(), mapping)
                .map_err(|why| {
                    AdapterError::new(format!("[lines] {setting}: {why}"))
                        .hint("write the message itself in its place")
                })?;
        }
        Ok(responder)
    }

    /// The bytes of a banner or of what says that the system is ready; none without a pattern.
    pub fn greeting(
        &mut self,
        pattern: Option<&Pattern>,
        mapping: &Mapping,
    ) -> Result<Vec<u8>, String> {
        match pattern {
            Some(pattern) => pattern.write(&mapping.framing, &mut self.rng),
            None => Ok(Vec::new()),
        }
    }

    /// The bytes of a response to a client that has these channels.
    pub fn response(
        &mut self,
        templates: &Templates,
        mapping: &Mapping,
        response: &Action,
        is_channel: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<u8>, String> {
        let content = templates.write_message(response, is_channel, &mut self.rng)?;
        mapping.framing.wrap(content)
    }
}
