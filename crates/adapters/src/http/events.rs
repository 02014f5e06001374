//! Server-sent events: fields line by line, an event at every blank line.

use ioco_budget::Budget;

use crate::supervise::{Lines, TooLong, size};

/// Finds events in bytes, in whatever pieces they come. The lines of one event together are no longer than
/// one line may be.
pub(crate) struct EventLines {
    lines: Lines,
    name: String,
    data: Vec<String>,
    /// Bytes in `name` and `data`.
    held: usize,
    limit: usize,
}

impl EventLines {
    pub fn new(budget: &Budget) -> EventLines {
        EventLines::limited(size(budget.message))
    }

    fn limited(limit: usize) -> EventLines {
        EventLines {
            lines: Lines::limited(limit),
            name: String::new(),
            data: Vec::new(),
            held: 0,
            limit,
        }
    }

    /// The events that are complete with these bytes: name and data.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Vec<(String, String)>, TooLong> {
        self.lines.feed(bytes);
        let mut events = Vec::new();
        while let Some(line) = self.lines.next()? {
            let line = String::from_utf8_lossy(line).into_owned();
            self.held += line.len() + std::mem::size_of::<String>();
            if self.held > self.limit {
                return Err(TooLong { limit: self.limit });
            }
            events.extend(self.line(line.strip_suffix('\r').unwrap_or(&line)));
        }
        Ok(events)
    }

    fn line(&mut self, line: &str) -> Option<(String, String)> {
        if line.is_empty() {
            self.held = 0;
            let name = std::mem::take(&mut self.name);
            let data = std::mem::take(&mut self.data);
            let name = if name.is_empty() { "message" } else { &name };
            // Without data there is no event, whatever its name.
            return (!data.is_empty()).then(|| (name.to_owned(), data.join("\n")));
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => self.name = value.to_owned(),
            "data" => self.data.push(value.to_owned()),
            // A comment, an id, or what is not known.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::EventLines;

    #[test]
    fn events_are_found_however_the_bytes_are_cut() {
        let bytes =
            b": hello\r\nevent: paid\ndata: {\"id\":\ndata: 1}\n\nevent: lost\n\ndata:x\n\n";
        let event = |name: &str, data: &str| (name.to_owned(), data.to_owned());
        let expected = vec![event("paid", "{\"id\":\n1}"), event("message", "x")];
        for cut in 0..bytes.len() {
            let mut lines = EventLines::new(&ioco_budget::Budget::default());
            let mut found = lines.feed(&bytes[..cut]).unwrap();
            found.extend(lines.feed(&bytes[cut..]).unwrap());
            assert_eq!(found, expected, "cut at {cut}");
        }
    }

    #[test]
    fn an_event_without_an_end_is_refused() {
        for line in [&b"data: more\n"[..], b"data: more", b"data\n"] {
            let mut lines = EventLines::limited(10_000);
            let fed = (0..10_000).find(|_| lines.feed(line).is_err());
            assert!(fed.is_some());
        }
        // Comments, which keep a stream alive, and many events are no event without an end.
        let mut lines = EventLines::limited(1000);
        for _ in 0..1000 {
            assert_eq!(lines.feed(b": alive\n\ndata: x\n\n").unwrap().len(), 1);
        }
    }
}
