//! Bytes as they come from a peer, cut into messages.

use ioco_budget::{Budget, size};

use super::frame::{Cut, Framing, Progress};
use crate::supervise::{Lines, TooLong};

/// What has come and has not been given out as messages.
pub(crate) struct MessageSplitter {
    framing: Framing,
    bytes: Lines,
    progress: Progress,
    limit: usize,
}

impl MessageSplitter {
    pub fn new(framing: Framing, budget: &Budget) -> MessageSplitter {
        MessageSplitter {
            framing,
            bytes: Lines::new(budget),
            progress: Progress::default(),
            limit: size(budget.message),
        }
    }

    pub fn feed(&mut self, bytes: &[u8]) {
        self.bytes.feed(bytes);
    }

    /// The content of the next message that is here to its end, or why none can begin so.
    pub fn next(&mut self) -> Result<Option<Vec<u8>>, String> {
        let here = self.bytes.unfinished();
        match self.framing.cut(here, self.limit, &mut self.progress) {
            Cut::Message { bytes, content } => {
                self.bytes.take(bytes);
                Ok(Some(content))
            }
            Cut::Wrong(why) => Err(why),
            Cut::Unfinished if here.len() > self.limit => {
                Err(TooLong { limit: self.limit }.to_string())
            }
            Cut::Unfinished => Ok(None),
        }
    }
}
