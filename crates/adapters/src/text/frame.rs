//! Where one message ends and the next begins: at the end of a line, at another delimiter, or where a
//! length says so.

use ioco_solve::Sampler;
use rand_chacha::ChaCha8Rng;
use regex::bytes::{Captures, Regex};

use super::format::Integer;

/// Messages that are made up by a regular expression until one is right.
const SAMPLES: u32 = 4096;

/// Rounds of samples that get longer, before they are short again.
const LENGTHS: u32 = 32;

/// Nesting of messages in messages.
const MAX_DEPTH: usize = 32;

/// How a stream of bytes is cut into messages.
#[derive(Clone, Debug)]
pub enum Framing {
    /// A message ends with these bytes. Where they are a newline, a carriage return before it belongs to
    /// the end, whether it is sent or not.
    Delimited {
        end: Vec<u8>,
        continued: Vec<Continued>,
    },
    /// After `skip` bytes stands the length of the rest, to which `add` is added.
    Prefixed {
        skip: usize,
        length: Integer,
        add: i64,
    },
}

/// A message that goes on after its first line.
#[derive(Clone, Debug)]
pub struct Continued {
    /// On the first line. A group `length` says how many bytes follow (and the delimiter), a group `count`
    /// how many messages.
    pub when: Regex,
    /// On a later line: the last one.
    pub until: Option<Regex>,
}

impl Default for Framing {
    fn default() -> Framing {
        Framing::Delimited {
            end: b"\n".to_vec(),
            continued: Vec::new(),
        }
    }
}

/// What stands at the beginning of some bytes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// A message has not ended yet.
    Unfinished,
    /// A message of so many bytes, of which `content` is left without delimiter and length.
    Message { bytes: usize, content: Vec<u8> },
    /// No message begins so.
    Wrong(String),
}

/// How far a message without an end has been read.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// Bytes of whole lines, with all that belongs to them.
    read: usize,
    /// Bytes after those in which no delimiter begins.
    searched: usize,
    /// With fewer bytes than this, nothing more can be said.
    needed: usize,
    /// How many messages are still to come, at each level of nesting.
    open: Vec<usize>,
    /// The message goes on until a line fits the `until` of this rule.
    until: Option<usize>,
    /// What the line on the outermost level said: that it is the last, or that the message goes on.
    is_last: bool,
    begins: Option<usize>,
}

/// Why a message cannot be cut.
enum CutError {
    Unfinished,
    Wrong(String),
}

impl Framing {
    /// Whether it is one message a line.
    pub(crate) fn is_lines(&self) -> bool {
        matches!(self, Framing::Delimited { end, continued }
            if matches!(end.as_slice(), b"\n" | b"\r\n") && continued.is_empty())
    }

    /// What a newline in a template is.
    pub(crate) fn newline(&self) -> &[u8] {
        match self {
            Framing::Delimited { end, .. } if end == b"\r\n" => b"\r\n",
            _ => b"\n",
        }
    }

    /// The message at the beginning. A length above `limit` is wrong. `progress` is of the last call for the same
    /// message, so that what came since then is all that is looked at.
    pub(crate) fn cut(&self, bytes: &[u8], limit: usize, progress: &mut Progress) -> Cut {
        let cut = match self {
            Framing::Delimited { end, continued } => {
                let lines = Delimited {
                    end,
                    continued,
                    limit,
                };
                lines.message(bytes, progress).map(|total| Cut::Message {
                    bytes: total,
                    content: lines.without_end(&bytes[..total]).to_vec(),
                })
            }
            Framing::Prefixed { skip, length, add } => prefixed(bytes, *skip, *length, *add, limit),
        };
        match cut {
            Ok(message) => {
                *progress = Progress::default();
                message
            }
            Err(CutError::Unfinished) => Cut::Unfinished,
            Err(CutError::Wrong(why)) => Cut::Wrong(why),
        }
    }

    /// Why the content of a message would be read as another one. What has several lines of its own, or says how long
    /// it is, is not looked at here.
    pub(crate) fn misread(&self, content: &[u8]) -> Option<&'static str> {
        let Framing::Delimited { end, .. } = self else {
            return None;
        };
        let is_newline = matches!(end.as_slice(), b"\n" | b"\r\n");
        let delimiter = if is_newline { b"\n" } else { end.as_slice() };
        let mut windows = content.windows(delimiter.len().max(1));
        if windows.any(|window| window == delimiter) {
            Some("a value contains the end of a message, so that it would be two messages")
        } else if is_newline && content.ends_with(b"\r") {
            Some("a value ends with a carriage return, which belongs to the end of a line")
        } else {
            None
        }
    }

    /// The content of a message that a sampler makes up and a client takes for one message, and for the right one.
    pub(crate) fn sampled(
        &self,
        sampler: &Sampler,
        rng: &mut ChaCha8Rng,
        group: &dyn Fn(&str) -> Option<Vec<u8>>,
        is_right: &dyn Fn(&[u8]) -> bool,
    ) -> Option<Vec<u8>> {
        let newline = match self {
            Framing::Delimited { .. } => self.newline(),
            Framing::Prefixed { .. } => b"",
        };
        let is_one = |content: &[u8]| {
            let Ok(wire) = self.wrap(content.to_vec()) else {
                return false;
            };
            let whole = Cut::Message {
                bytes: wire.len(),
                content: content.to_vec(),
            };
            self.cut(&wire, wire.len(), &mut Progress::default()) == whole
        };
        let mut samples = (0..SAMPLES).map(|n| sampler.sample(rng, n % LENGTHS, newline, group));
        samples.find(|content| is_one(content) && is_right(content))
    }

    /// A message on the wire without what only says where it ends.
    pub(crate) fn without_end<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        match self {
            Framing::Delimited { end, continued } => {
                let limit = bytes.len();
                Delimited {
                    end,
                    continued,
                    limit,
                }
                .without_end(bytes)
            }
            Framing::Prefixed { .. } => bytes,
        }
    }

    /// The bytes on the wire for the content of a message.
    pub(crate) fn wrap(&self, mut content: Vec<u8>) -> Result<Vec<u8>, String> {
        match self {
            Framing::Delimited { end, .. } => {
                content.extend(end);
                Ok(content)
            }
            Framing::Prefixed { skip, length, add } => {
                let rest = content.len().checked_sub(*skip).ok_or_else(|| {
                    format!("a message is at least {skip} bytes, which stand before its length")
                })?;
                let mut out = content[..*skip].to_vec();
                length.write(rest as i128 - i128::from(*add), &mut out)?;
                out.extend(&content[*skip..]);
                Ok(out)
            }
        }
    }
}

fn prefixed(
    bytes: &[u8],
    skip: usize,
    length: Integer,
    add: i64,
    limit: usize,
) -> Result<Cut, CutError> {
    let head = bytes.get(skip..).ok_or(CutError::Unfinished)?;
    let (number, used) = match length.read(head) {
        None => return Err(CutError::Unfinished),
        Some(Err(why)) => return Err(CutError::Wrong(why.0)),
        Some(Ok(read)) => read,
    };
    let rest = usize::try_from(number + i128::from(add));
    let rest = rest.map_err(|_| CutError::Wrong(format!("a message of the length {number}")))?;
    if rest > limit {
        return Err(CutError::Wrong(format!("a message of {rest} bytes")));
    }
    let total = skip + used + rest;
    if bytes.len() < total {
        return Err(CutError::Unfinished);
    }
    let mut content = bytes[..skip].to_vec();
    content.extend(&bytes[skip + used..total]);
    Ok(Cut::Message {
        bytes: total,
        content,
    })
}

struct Delimited<'f> {
    end: &'f [u8],
    continued: &'f [Continued],
    limit: usize,
}

impl Delimited<'_> {
    fn is_newline(&self) -> bool {
        matches!(self.end, b"\n" | b"\r\n")
    }

    /// Where the line at the beginning ends, its delimiter included. The first bytes were searched before.
    fn line(&self, bytes: &[u8], searched: usize) -> Option<usize> {
        let fresh = bytes.get(searched..)?;
        let at = if self.is_newline() {
            fresh
                .iter()
                .position(|byte| *byte == b'\n')
                .map(|at| at + 1)
        } else {
            let mut windows = fresh.windows(self.end.len());
            let at = windows.position(|window| window == self.end);
            at.map(|at| at + self.end.len())
        };
        at.map(|at| searched + at)
    }

    fn without_end<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        if self.is_newline() {
            let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
            bytes.strip_suffix(b"\r").unwrap_or(bytes)
        } else {
            bytes.strip_suffix(self.end).unwrap_or(bytes)
        }
    }

    /// Where the message at the beginning ends. Line by line: what is nested is counted, not recursed into.
    fn message(&self, bytes: &[u8], progress: &mut Progress) -> Result<usize, CutError> {
        if bytes.len() < progress.needed {
            return Err(CutError::Unfinished);
        }
        loop {
            let rest = &bytes[progress.read..];
            let Some(end) = self.line(rest, progress.searched) else {
                // A delimiter may have begun.
                progress.searched = (rest.len() + 1).saturating_sub(self.end.len());
                return Err(CutError::Unfinished);
            };
            let line = self.without_end(&rest[..end]);
            let rules = self.continued.iter().enumerate();
            let rule = rules
                .filter_map(|(index, rule)| Some((index, rule.when.captures(line)?)))
                .next();
            let number = |name: &str| match &rule {
                Some((_, groups)) => self.number(groups, name),
                None => Ok(None),
            };
            let mut total = end;
            if let Some(length) = number("length")? {
                total = match self.after(rest, end.saturating_add(length)) {
                    Err(CutError::Unfinished) => {
                        let delimiter = if self.is_newline() { 1 } else { self.end.len() };
                        progress.searched = end - delimiter;
                        let needed = end.saturating_add(length).saturating_add(1);
                        progress.needed = progress.read.saturating_add(needed);
                        return Err(CutError::Unfinished);
                    }
                    after => after?,
                };
            }
            let count = number("count")?.unwrap_or(0);
            if count > 0 && progress.open.len() >= MAX_DEPTH {
                return Err(CutError::Wrong(format!(
                    "messages nested deeper than {MAX_DEPTH} levels"
                )));
            }
            if progress.open.is_empty() {
                let until = progress
                    .until
                    .and_then(|rule| self.continued[rule].until.as_ref());
                progress.is_last = until.is_some_and(|until| until.is_match(line));
                let goes_on = rule.as_ref().map(|(index, _)| *index);
                progress.begins = goes_on.filter(|rule| self.continued[*rule].until.is_some());
            }
            progress.read += total;
            progress.searched = 0;
            if count > 0 {
                progress.open.push(count);
                continue;
            }
            while let Some(left) = progress.open.last_mut() {
                *left -= 1;
                if *left > 0 {
                    break;
                }
                progress.open.pop();
            }
            if !progress.open.is_empty() {
                continue;
            }
            match progress.until {
                None if progress.begins.is_some() => progress.until = progress.begins,
                Some(_) if !progress.is_last => {}
                _ => return Ok(progress.read),
            }
        }
    }

    /// The number that a line says.
    fn number(&self, groups: &Captures<'_>, name: &str) -> Result<Option<usize>, CutError> {
        let Some(group) = groups.name(name) else {
            return Ok(None);
        };
        let text = String::from_utf8_lossy(group.as_bytes());
        let number = text.parse::<usize>().ok().filter(|n| *n <= self.limit);
        let wrong = || CutError::Wrong(format!("a message with the {name} {text}"));
        number.map(Some).ok_or_else(wrong)
    }

    /// Where the delimiter at `at` ends.
    fn after(&self, bytes: &[u8], at: usize) -> Result<usize, CutError> {
        let rest = bytes.get(at..).ok_or(CutError::Unfinished)?;
        let ends: &[&[u8]] = match self.is_newline() {
            true => &[b"\n", b"\r\n"],
            false => &[self.end],
        };
        match ends.iter().find(|end| rest.starts_with(end)) {
            Some(end) => Ok(at + end.len()),
            None if ends.iter().any(|end| end.starts_with(rest)) => Err(CutError::Unfinished),
            None => Err(CutError::Wrong(
                "a message that is longer than it says".to_owned(),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(when: &str, until: Option<&str>) -> Continued {
        Continued {
            when: Regex::new(when).unwrap(),
            until: until.map(|until| Regex::new(until).unwrap()),
        }
    }

    fn lines(continued: Vec<Continued>) -> Framing {
        Framing::Delimited {
            end: b"\r\n".to_vec(),
            continued,
        }
    }

    /// All messages, however the bytes are cut into parts.
    fn messages(framing: &Framing, bytes: &[u8]) -> Vec<String> {
        let mut found = Vec::new();
        let mut start = 0;
        let mut progress = Progress::default();
        for end in 0..=bytes.len() {
            while let Cut::Message {
                bytes: total,
                content,
            } = framing.cut(&bytes[start..end], 1000, &mut progress)
            {
                // Whole, it is the same message as in parts.
                let whole = framing.cut(&bytes[start..], 1000, &mut Progress::default());
                assert!(
                    matches!(&whole, Cut::Message { bytes, .. } if *bytes == total),
                    "{whole:?}"
                );
                found.push(String::from_utf8_lossy(&content).into_owned());
                start += total;
                if start == end {
                    break;
                }
            }
        }
        assert_eq!(start, bytes.len(), "all of it: {found:?}");
        found
    }

    #[test]
    fn replies_of_several_lines_are_one_message() {
        let smtp = lines(vec![rule(r"^\d{3}-", Some(r"^\d{3}( |$)"))]);
        assert_eq!(
            messages(&smtp, b"220 hi\r\n250-a\r\n250-b\r\n250 c\r\n221 bye\n"),
            ["220 hi", "250-a\r\n250-b\r\n250 c", "221 bye"]
        );
    }

    #[test]
    fn lengths_and_counts_say_what_belongs_to_a_message() {
        let resp = lines(vec![
            rule(r"^\$(?<length>\d+)$", None),
            rule(r"^\*(?<count>\d+)$", None),
        ]);
        assert_eq!(
            messages(
                &resp,
                b"+OK\r\n$4\r\na\r\nb\r\n*2\r\n$1\r\nx\r\n*1\r\n:1\r\n$-1\r\n$0\r\n\r\n*0\r\n"
            ),
            [
                "+OK",
                "$4\r\na\r\nb",
                "*2\r\n$1\r\nx\r\n*1\r\n:1",
                "$-1",
                "$0\r\n",
                "*0"
            ]
        );
        let memcached = lines(vec![rule(r"^VALUE \S+ \d+ (?<length>\d+)", Some("^END$"))]);
        assert_eq!(
            messages(
                &memcached,
                b"VALUE a 0 3\r\nEND\r\nVALUE b 0 1\r\nx\r\nEND\r\nSTORED\r\n"
            ),
            ["VALUE a 0 3\r\nEND\r\nVALUE b 0 1\r\nx\r\nEND", "STORED"]
        );
    }

    #[test]
    fn a_length_can_stand_before_a_message() {
        let mqtt = Framing::Prefixed {
            skip: 1,
            length: Integer::Varint,
            add: 0,
        };
        assert_eq!(messages(&mqtt, b"\x20\x02\x00\x00\x40\x00"), [" \0\0", "@"]);
        let itself = Framing::Prefixed {
            skip: 0,
            length: Integer::named("u16").unwrap(),
            add: -2,
        };
        assert_eq!(messages(&itself, b"\x00\x04hi\x00\x02"), ["hi", ""]);
        for framing in [mqtt, itself] {
            let wire = framing.wrap(b"content".to_vec()).unwrap();
            assert_eq!(messages(&framing, &wire), ["content"]);
        }
    }

    #[test]
    fn what_is_longer_than_allowed_or_nested_too_deep_is_wrong() {
        let resp = lines(vec![
            rule(r"^\$(?<length>\d+)$", None),
            rule(r"^\*(?<count>\d+)$", None),
        ]);
        let deep = "*1\r\n".repeat(1000);
        for bytes in [
            &b"$1001\r\n"[..],
            b"$99999999999999999999999\r\n",
            b"*2000\r\n",
            b"$1\r\nab\r\n",
            deep.as_bytes(),
        ] {
            let cut = resp.cut(bytes, 1000, &mut Progress::default());
            assert!(matches!(cut, Cut::Wrong(_)), "{cut:?}");
        }
        let prefixed = Framing::Prefixed {
            skip: 0,
            length: Integer::named("u32").unwrap(),
            add: -8,
        };
        for bytes in [b"\0\0\0\x07", b"\xff\0\0\0"] {
            let cut = prefixed.cut(bytes, 1000, &mut Progress::default());
            assert!(matches!(cut, Cut::Wrong(_)), "{cut:?}");
        }
    }

    #[test]
    fn no_byte_of_a_long_message_is_looked_at_twice() {
        let framing = lines(vec![
            rule(r"^\d{3}-", Some(r"^\d{3} ")),
            rule(r"^\*(?<count>\d+)$", None),
        ]);
        for (head, line) in [("", "250-a\r\n"), ("*100000\r\n", ":1\r\n")] {
            let text = format!("{head}{}", line.repeat(10_000));
            let mut progress = Progress::default();
            let mut read = 0;
            for end in (1..text.len()).step_by(7) {
                let cut = framing.cut(&text.as_bytes()[..end], 1 << 20, &mut progress);
                assert_eq!(cut, Cut::Unfinished);
                // What is left to look at again is less than one line.
                assert!(
                    end - progress.read - progress.searched <= line.len(),
                    "{progress:?}"
                );
                assert!(progress.read >= read);
                read = progress.read;
            }
        }
    }
}
