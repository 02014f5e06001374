//! What a system writes to its log in one test: lines with their times, the last ones that fit a limit.

use std::collections::VecDeque;
use std::time::Instant;

use crate::connection::LogLine;
use crate::session::nanoseconds;

/// Bytes of one line that are kept.
const LONGEST: usize = 4096;

/// Memory that one line takes besides its text.
const OVERHEAD: usize = 64;

/// The last lines of a text that may be endless.
pub(crate) struct Log {
    lines: VecDeque<(Instant, String)>,
    /// Of a line without an end.
    partial: Vec<u8>,
    bytes: usize,
    limit: usize,
}

impl Log {
    /// Keeps at most so many bytes.
    pub fn new(limit: usize) -> Log {
        Log {
            lines: VecDeque::new(),
            partial: Vec::new(),
            bytes: 0,
            limit,
        }
    }

    pub fn take_in(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let text = piece.strip_suffix(b"\n").unwrap_or(piece);
            let room = LONGEST.saturating_sub(self.partial.len());
            self.partial.extend(&text[..text.len().min(room)]);
            if text.len() < piece.len() {
                self.end_line();
            }
        }
    }

    fn end_line(&mut self) {
        let line = String::from_utf8_lossy(&self.partial).trim_end().to_owned();
        self.partial.clear();
        self.bytes += line.len() + OVERHEAD;
        self.lines.push_back((Instant::now(), line));
        while self.bytes > self.limit
            && let Some((_, dropped)) = self.lines.pop_front()
        {
            self.bytes -= dropped.len() + OVERHEAD;
        }
    }

    /// The last lines, at most so many.
    pub fn last(&self, most: usize) -> Vec<String> {
        let partial = String::from_utf8_lossy(&self.partial).into_owned();
        let partial = Some(partial).filter(|text| !text.is_empty());
        let lines = self.lines.iter().map(|(_, line)| line.clone());
        let all: Vec<String> = lines.chain(partial).collect();
        all[all.len().saturating_sub(most)..].to_vec()
    }

    pub fn contains(&self, text: &str) -> bool {
        self.lines.iter().any(|(_, line)| line.contains(text))
            || String::from_utf8_lossy(&self.partial).contains(text)
    }

    pub fn clear(&mut self) {
        self.lines.clear();
        self.partial.clear();
        self.bytes = 0;
    }

    /// Everything so far; what comes later is another log.
    pub fn take(&mut self, epoch: Instant) -> Vec<LogLine> {
        if !self.partial.is_empty() {
            self.end_line();
        }
        self.bytes = 0;
        let at = |when: Instant| nanoseconds(when.saturating_duration_since(epoch));
        let lines = self.lines.drain(..);
        lines
            .map(|(when, text)| LogLine { at: at(when), text })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endless_log_keeps_its_last_lines() {
        let mut log = Log::new(1000);
        for number in 0..10_000 {
            log.take_in(format!("line {number}\nand").as_bytes());
            log.take_in(b" more\n");
        }
        assert!(log.partial.is_empty() && log.bytes <= 1000);
        let lines = log.take(Instant::now());
        assert!(lines.len() < 20, "{}", lines.len());
        assert_eq!(
            lines.last().map(|line| line.text.as_str()),
            Some("and more")
        );
        log.take_in(&[b'x'; 1 << 20]);
        assert_eq!(log.partial.len(), LONGEST);
    }

    #[test]
    fn lines_are_whole_and_in_order() {
        let mut log = Log::new(10_000);
        log.take_in(b"one\ntw");
        log.take_in(b"o\r\nthree");
        assert_eq!(log.last(2), ["two", "three"]);
        assert!(log.contains("two") && log.contains("hre"));
        let texts: Vec<String> = log
            .take(Instant::now())
            .into_iter()
            .map(|l| l.text)
            .collect();
        assert_eq!(texts, ["one", "two", "three"]);
        assert!(log.take(Instant::now()).is_empty());
    }
}
