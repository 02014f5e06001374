//! Stimuli of the Bounded Retransmission Protocol.

use ioco_examples::Message;

pub fn request(chunks: &[i64]) -> Message {
    let chunk = |index: usize| chunks.get(index).copied().unwrap_or(0);
    Message::plain("request")
        .with("count", chunks.len() as i64)
        .with("one", chunk(0))
        .with("two", chunk(1))
        .with("three", chunk(2))
}

pub fn ack(bit: i64) -> Message {
    Message::plain("ack").with("bit", bit)
}

pub fn deliver(first: bool, last: bool, bit: i64, data: i64) -> Message {
    Message::plain("deliver")
        .with("first", first)
        .with("last", last)
        .with("bit", bit)
        .with("data", data)
}

/// Every acknowledgement and every frame, some requests, and both timers.
#[allow(dead_code)]
pub fn alphabet() -> Vec<Message> {
    let mut all = vec![
        Message::plain("sender_timeout"),
        Message::plain("receiver_timeout"),
        ack(0),
        ack(1),
    ];
    let requests: [&[i64]; 4] = [&[1], &[1, 0], &[1, 0, 1], &[0, 1, 0]];
    all.extend(requests.map(request));
    for flags in 0..4 {
        for bit in 0..2 {
            all.push(deliver(flags & 1 == 1, flags & 2 == 2, bit, flags & 1));
        }
    }
    all
}
