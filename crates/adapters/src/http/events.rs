//! Server-sent events: fields line by line, an event at every blank line.

/// Finds events in bytes, in whatever pieces they come.
#[derive(Default)]
pub(crate) struct EventLines {
    buffer: Vec<u8>,
    name: String,
    data: Vec<String>,
}

impl EventLines {
    /// The events that are complete with these bytes: name and data.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<(String, String)> {
        self.buffer.extend_from_slice(bytes);
        let mut events = Vec::new();
        while let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.buffer.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line[..end]);
            events.extend(self.line(line.strip_suffix('\r').unwrap_or(&line)));
        }
        events
    }

    fn line(&mut self, line: &str) -> Option<(String, String)> {
        if line.is_empty() {
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
            let mut lines = EventLines::default();
            let mut found = lines.feed(&bytes[..cut]);
            found.extend(lines.feed(&bytes[cut..]));
            assert_eq!(found, expected, "cut at {cut}");
        }
    }
}
