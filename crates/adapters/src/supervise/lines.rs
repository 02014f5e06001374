//! Lines out of bytes, however the bytes are cut, with a limit on the length of a line.

use ioco_budget::{Budget, size};

/// A line has no end within the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLong {
    pub limit: usize,
}

impl std::fmt::Display for TooLong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let limit = self.limit;
        write!(
            f,
            "a line of more than {limit} bytes; raise the limit with --limit message=N, or message under \
             [limits] in ioco.toml"
        )
    }
}

/// Bytes that were read and not yet given out as lines.
pub(crate) struct Lines {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Up to here there is no newline.
    scanned: usize,
    limit: usize,
}

impl Lines {
    pub fn new(budget: &Budget) -> Lines {
        Lines::limited(size(budget.message))
    }

    pub fn limited(limit: usize) -> Lines {
        Lines {
            buffer: Vec::new(),
            start: 0,
            end: 0,
            scanned: 0,
            limit,
        }
    }

    /// Where the next whole line ends, if there is one.
    pub fn next_end(&mut self) -> Result<Option<usize>, TooLong> {
        let fresh = &self.buffer[self.scanned..self.end];
        let offset = fresh.iter().position(|byte| *byte == b'\n');
        self.scanned += offset.unwrap_or(fresh.len());
        if self.scanned - self.start > self.limit {
            return Err(TooLong { limit: self.limit });
        }
        Ok(offset.map(|_| self.scanned))
    }

    /// The next whole line, without its newline.
    pub fn next(&mut self) -> Result<Option<&[u8]>, TooLong> {
        let Some(end) = self.next_end()? else {
            return Ok(None);
        };
        let start = std::mem::replace(&mut self.start, end + 1);
        self.scanned = self.start;
        Ok(Some(&self.buffer[start..end]))
    }

    /// Whether what there is without an end fits the limit.
    pub fn has_room(&self) -> bool {
        self.unfinished().len() < self.limit
    }

    /// What there is of a line that has no end yet.
    pub fn unfinished(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// The same, given out: the last line came without a newline.
    pub fn take_unfinished(&mut self) -> &[u8] {
        let range = self.start..self.end;
        (self.start, self.scanned) = (self.end, self.end);
        &self.buffer[range]
    }

    /// Gives out so many bytes of what there is, whatever they are.
    pub fn take(&mut self, count: usize) -> &[u8] {
        let end = self.end.min(self.start + count);
        let start = std::mem::replace(&mut self.start, end);
        self.scanned = self.scanned.max(end);
        &self.buffer[start..end]
    }

    /// Room for at least `least` more bytes; [`Lines::filled`] says how many came.
    pub fn room(&mut self, least: usize) -> &mut [u8] {
        if self.start == self.end {
            (self.start, self.end, self.scanned) = (0, 0, 0);
            // One long line must not occupy its memory for ever.
            if self.buffer.len() > 16 * least {
                self.buffer = Vec::new();
            }
        }
        if self.buffer.len() - self.end < least.div_ceil(4) {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.scanned -= self.start;
            self.start = 0;
            if self.buffer.len() - self.end < least {
                self.buffer.resize(self.end * 2 + least, 0);
            }
        }
        &mut self.buffer[self.end..]
    }

    pub fn filled(&mut self, count: usize) {
        self.end += count;
    }

    /// Takes bytes in.
    pub fn feed(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let least = bytes.len();
        while self.room(least).len() < least {
            self.buffer.resize(self.end + least, 0);
        }
        self.buffer[self.end..self.end + least].copy_from_slice(bytes);
        self.end += least;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_however_the_bytes_are_cut() {
        let text = b"one\n\nthree\nfour";
        for cut in 0..=text.len() {
            let mut lines = Lines::limited(100);
            let mut found = Vec::new();
            for part in [&text[..cut], &text[cut..]] {
                lines.feed(part);
                while let Some(line) = lines.next().unwrap() {
                    found.push(line.to_vec());
                }
            }
            assert_eq!(found, [&b"one"[..], b"", b"three"], "cut at {cut}");
            assert_eq!(lines.take_unfinished(), b"four");
            assert!(lines.unfinished().is_empty());
        }
    }

    #[test]
    fn a_line_over_the_limit_is_an_error_and_costs_no_more_than_the_limit() {
        let mut lines = Lines::limited(1000);
        let mut fed = 0;
        while lines.next().is_ok() {
            lines.feed(&[b'x'; 100]);
            fed += 100;
            assert!(fed <= 1200);
        }
        // A whole line that is too long is refused as well.
        let mut lines = Lines::limited(3);
        lines.feed(b"four\nabc\n");
        assert_eq!(lines.next(), Err(TooLong { limit: 3 }));
        assert_eq!(lines.next(), Err(TooLong { limit: 3 }));
    }
}
