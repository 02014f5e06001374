//! HTTP/1.1 as it passes by: messages found in bytes that others send and receive.
//!
//! One [`Messages`] reads one direction of a connection, in whatever pieces the bytes come.

use std::io::{self, Read, Write};

use ioco_budget::Budget;
use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Error, Message, WebSocket};

use crate::supervise::size;

/// A head longer than this is not HTTP.
const MAX_HEAD: usize = 64 << 10;
const MAX_HEADERS: usize = 128;

/// The first line and the headers of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub first: StartLine,
    /// Names in lower case.
    headers: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StartLine {
    Request { method: String, target: String },
    Answer { status: u16 },
}

impl Head {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(own, _)| own == name);
        found.map(|(_, value)| value.as_str())
    }

    /// How the body is encoded, where it is not plain.
    pub fn encoding(&self) -> Option<&str> {
        let encoding = self.header("content-encoding").map(str::trim);
        encoding.filter(|own| !own.is_empty() && !own.eq_ignore_ascii_case("identity"))
    }

    fn is_chunked(&self) -> bool {
        let encoding = self.header("transfer-encoding").unwrap_or_default();
        encoding.to_ascii_lowercase().ends_with("chunked")
    }
}

/// A part of a message, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MessagePart {
    Head(Head),
    Data(Vec<u8>),
    /// The message is complete.
    End,
    /// From here on the connection speaks something else.
    Upgraded(Vec<u8>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Head,
    /// This many bytes are left.
    Sized(u64),
    ChunkSize,
    Chunk(u64),
    /// The line end after a chunk.
    AfterChunk,
    Trailers,
    /// The body ends with the connection.
    UntilClose,
    Upgraded,
}

/// Reads the messages of one direction.
pub(crate) struct Messages {
    answers: bool,
    buffer: Vec<u8>,
    state: State,
}

impl Messages {
    pub fn requests() -> Messages {
        Messages::new(false)
    }

    pub fn answers() -> Messages {
        Messages::new(true)
    }

    fn new(answers: bool) -> Messages {
        Messages {
            answers,
            buffer: Vec::new(),
            state: State::Head,
        }
    }

    /// Everything that is complete with these bytes. `bodiless` says whether the next answer has no
    /// body whatever its head says, because the request was HEAD.
    pub fn feed(
        &mut self,
        bytes: &[u8],
        bodiless: &dyn Fn() -> bool,
    ) -> Result<Vec<MessagePart>, String> {
        self.buffer.extend_from_slice(bytes);
        let mut pieces = Vec::new();
        while self.step(bodiless, &mut pieces)? {}
        Ok(pieces)
    }

    /// The connection was closed: a body that ends with it is complete.
    pub fn close(&mut self) -> Option<MessagePart> {
        let ends = self.state == State::UntilClose;
        self.state = State::Head;
        ends.then_some(MessagePart::End)
    }

    /// Whether there is more to do with the bytes at hand.
    fn step(
        &mut self,
        bodiless: &dyn Fn() -> bool,
        pieces: &mut Vec<MessagePart>,
    ) -> Result<bool, String> {
        if self.buffer.is_empty() {
            return Ok(false);
        }
        match self.state {
            State::Head => {
                let Some((head, length)) = self.head()? else {
                    return Ok(false);
                };
                self.buffer.drain(..length);
                self.begin(head, bodiless, pieces)?;
            }
            State::Sized(left) => {
                let rest = left - self.take(left, pieces);
                self.state = State::Sized(rest);
                if rest == 0 {
                    self.end(pieces);
                }
            }
            State::ChunkSize => {
                let Some(line) = self.line() else {
                    return Ok(false);
                };
                let digits = line.split(';').next().unwrap_or_default().trim();
                let size = u64::from_str_radix(digits, 16)
                    .map_err(|_| format!("\"{digits}\" is not the size of a chunk"))?;
                self.state = match size {
                    0 => State::Trailers,
                    size => State::Chunk(size),
                };
            }
            State::Chunk(left) => {
                let rest = left - self.take(left, pieces);
                self.state = match rest {
                    0 => State::AfterChunk,
                    rest => State::Chunk(rest),
                };
            }
            State::AfterChunk => {
                if self.line().is_none() {
                    return Ok(false);
                }
                self.state = State::ChunkSize;
            }
            State::Trailers => match self.line() {
                None => return Ok(false),
                Some(line) if line.is_empty() => self.end(pieces),
                Some(_) => {}
            },
            State::UntilClose => {
                pieces.push(MessagePart::Data(std::mem::take(&mut self.buffer)));
            }
            State::Upgraded => {
                pieces.push(MessagePart::Upgraded(std::mem::take(&mut self.buffer)));
            }
        }
        Ok(true)
    }

    /// A head and its length, if it is all here.
    fn head(&self) -> Result<Option<(Head, usize)>, String> {
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let wrong = |error: httparse::Error| format!("this is not HTTP/1.1 ({error})");
        let (status, first) = if self.answers {
            let mut answer = httparse::Response::new(&mut headers);
            let status = answer.parse(&self.buffer).map_err(wrong)?;
            let code = answer.code.unwrap_or_default();
            (status, StartLine::Answer { status: code })
        } else {
            let mut request = httparse::Request::new(&mut headers);
            let status = request.parse(&self.buffer).map_err(wrong)?;
            let text = |part: Option<&str>| part.unwrap_or_default().to_owned();
            let first = StartLine::Request {
                method: text(request.method),
                target: text(request.path),
            };
            (status, first)
        };
        match status {
            httparse::Status::Complete(length) => {
                let named = headers.iter().filter(|header| !header.name.is_empty());
                let headers = named.map(|header| {
                    let value = String::from_utf8_lossy(header.value).into_owned();
                    (header.name.to_ascii_lowercase(), value)
                });
                let headers = headers.collect();
                Ok(Some((Head { first, headers }, length)))
            }
            httparse::Status::Partial if self.buffer.len() > MAX_HEAD => {
                Err("its head has no end".to_owned())
            }
            httparse::Status::Partial => Ok(None),
        }
    }

    /// What the body after this head is (RFC 9112, section 6.3).
    fn begin(
        &mut self,
        head: Head,
        bodiless: &dyn Fn() -> bool,
        pieces: &mut Vec<MessagePart>,
    ) -> Result<(), String> {
        let length = match head.header("content-length") {
            Some(text) => Some(
                text.trim()
                    .parse::<u64>()
                    .map_err(|_| format!("\"{text}\" is not a length"))?,
            ),
            None => None,
        };
        self.state = match (&head.first, length) {
            (StartLine::Answer { status: 101 }, _) => State::Upgraded,
            // Not the answer yet.
            (StartLine::Answer { status }, _) if (100..200).contains(status) => return Ok(()),
            (StartLine::Answer { status }, _) if [204, 304].contains(status) || bodiless() => {
                State::Sized(0)
            }
            _ if head.is_chunked() => State::ChunkSize,
            (_, Some(length)) => State::Sized(length),
            (StartLine::Answer { .. }, None) => State::UntilClose,
            (StartLine::Request { .. }, None) => State::Sized(0),
        };
        pieces.push(MessagePart::Head(head));
        if self.state == State::Sized(0) {
            self.end(pieces);
        }
        Ok(())
    }

    fn end(&mut self, pieces: &mut Vec<MessagePart>) {
        pieces.push(MessagePart::End);
        self.state = State::Head;
    }

    /// Hands out at most `limit` bytes of a body, and says how many.
    fn take(&mut self, limit: u64, pieces: &mut Vec<MessagePart>) -> u64 {
        let here = self.buffer.len();
        let count = usize::try_from(limit).unwrap_or(usize::MAX).min(here);
        let data: Vec<u8> = self.buffer.drain(..count).collect();
        pieces.push(MessagePart::Data(data));
        count as u64
    }

    fn line(&mut self) -> Option<String> {
        let end = self.buffer.iter().position(|byte| *byte == b'\n')?;
        let line: Vec<u8> = self.buffer.drain(..=end).collect();
        Some(String::from_utf8_lossy(&line).trim_end().to_owned())
    }
}

/// The bytes of a web socket that is not answered here.
#[derive(Default)]
struct WebSocketBytes(Vec<u8>);

impl Read for WebSocketBytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let count = self.0.len().min(buffer.len());
        buffer[..count].copy_from_slice(&self.0[..count]);
        self.0.drain(..count);
        Ok(count)
    }
}

impl Write for WebSocketBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The text messages that a server sends over a web socket.
pub(crate) struct TextMessages(WebSocket<WebSocketBytes>);

impl TextMessages {
    pub fn new(budget: &Budget) -> TextMessages {
        let config = WebSocketConfig::default()
            .max_message_size(Some(size(budget.message)))
            .max_frame_size(Some(size(budget.message)));
        let socket =
            WebSocket::from_raw_socket(WebSocketBytes::default(), Role::Client, Some(config));
        TextMessages(socket)
    }

    pub fn feed(&mut self, bytes: &[u8]) -> Result<Vec<String>, String> {
        self.0.get_mut().0.extend_from_slice(bytes);
        let mut texts = Vec::new();
        loop {
            match self.0.read() {
                Ok(Message::Text(text)) => texts.push(text.to_string()),
                Ok(_) => {}
                Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Ok(texts);
                }
                Err(Error::ConnectionClosed | Error::AlreadyClosed) => return Ok(texts),
                Err(error) => return Err(error.to_string()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Heads and whole bodies, as a person would list them.
    fn read(messages: &mut Messages, parts: &[&[u8]]) -> Vec<(StartLine, String)> {
        let mut found: Vec<(StartLine, String)> = Vec::new();
        let mut body = String::new();
        let mut first = None;
        let mut note = |piece: MessagePart| match piece {
            MessagePart::Head(head) => first = Some(head.first),
            MessagePart::Data(data) => body.push_str(&String::from_utf8_lossy(&data)),
            MessagePart::End => found.push((
                first.take().expect("a head before the end"),
                std::mem::take(&mut body),
            )),
            MessagePart::Upgraded(_) => {}
        };
        for part in parts {
            let pieces = messages.feed(part, &|| false).expect("HTTP");
            pieces.into_iter().for_each(&mut note);
        }
        messages.close().into_iter().for_each(&mut note);
        found
    }

    const ANSWERS: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n\
        HTTP/1.1 201 Created\r\nContent-Length: 5\r\n\r\nhello\
        HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nT: 1\r\n\r\n\
        HTTP/1.1 204 No Content\r\n\r\n\
        HTTP/1.1 200 OK\r\n\r\nto the end";

    proptest! {
        #[test]
        fn answers_are_found_however_the_bytes_are_cut(cuts in proptest::collection::vec(0..ANSWERS.len(), 0..8)) {
            let mut cuts = cuts;
            cuts.extend([0, ANSWERS.len()]);
            cuts.sort_unstable();
            let parts: Vec<&[u8]> = cuts.windows(2).map(|w| &ANSWERS[w[0]..w[1]]).collect();
            let found = read(&mut Messages::answers(), &parts);
            let answer = |status, body: &str| (StartLine::Answer { status }, body.to_owned());
            prop_assert_eq!(found, vec![
                answer(201, "hello"),
                answer(200, "abcde"),
                answer(204, ""),
                answer(200, "to the end"),
            ]);
        }
    }

    #[test]
    fn an_answer_to_head_has_no_body() {
        let bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHTTP/1.1 404 No\r\n\r\n";
        let pieces = Messages::answers().feed(bytes, &|| true).expect("HTTP");
        assert_eq!(pieces.iter().filter(|p| **p == MessagePart::End).count(), 2);
    }

    #[test]
    fn requests_follow_each_other_on_one_connection() {
        let bytes =
            b"POST /orders HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}GET /x?y=1 HTTP/1.1\r\n\r\n";
        let found = read(&mut Messages::requests(), &[bytes]);
        let request = |method: &str, target: &str, body: &str| {
            let first = StartLine::Request {
                method: method.to_owned(),
                target: target.to_owned(),
            };
            (first, body.to_owned())
        };
        let expected = [
            request("POST", "/orders", "{}"),
            request("GET", "/x?y=1", ""),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn bytes_that_are_not_http_are_an_error() {
        let mut messages = Messages::requests();
        assert!(
            messages
                .feed(b"\x16\x03\x01 hello\r\n\r\n", &|| false)
                .is_err()
        );
    }

    #[test]
    fn text_messages_of_a_web_socket_are_overheard() {
        // A text frame of two, a ping, and the rest of the text.
        let frames = [0x01, 2, b'{', b'"', 0x89, 0, 0x80, 3, b'a', b'"', b'}'];
        let mut messages = TextMessages::new(&ioco_budget::Budget::default());
        assert_eq!(messages.feed(&frames[..5]), Ok(Vec::new()));
        assert_eq!(messages.feed(&frames[5..]), Ok(vec!["{\"a\"}".to_owned()]));
    }
}
