//! The line protocol, line by line.

use std::sync::Arc;

use ioco_adapters::{Codec, Line};
use ioco_sts::{
    Action, Direction, EnumId, EnumType, Label, LabelId, Parameter, Sts, StsBuilder, Type, Value,
};

/// Two doors that share a stimulus and a response, and one label of its own each way.
fn doors() -> Arc<Sts> {
    let mut builder = StsBuilder::new("doors");
    builder.types().enums.push(EnumType {
        name: "Side".to_owned(),
        members: vec!["Left".to_owned(), "Right".to_owned()],
    });
    for (channel, name, direction, parameters) in [
        ("front", "open", Direction::Stimulus, vec![]),
        ("back", "open", Direction::Stimulus, vec![]),
        ("front", "opened", Direction::Response, vec![]),
        ("back", "opened", Direction::Response, vec![]),
        (
            "back",
            "lock",
            Direction::Stimulus,
            vec![
                ("side", Type::Enum(EnumId(0))),
                ("code", Type::INTEGER),
                ("why", Type::Str),
            ],
        ),
        (
            "back",
            "locked",
            Direction::Response,
            vec![("code", Type::INTEGER), ("at", Type::Time)],
        ),
    ] {
        let parameters = parameters.into_iter().map(|(name, ty)| Parameter {
            name: name.to_owned(),
            ty,
        });
        builder.label(Label {
            name: name.to_owned(),
            channel: channel.to_owned(),
            direction,
            parameters: parameters.collect(),
        });
    }
    Arc::new(builder.build())
}

fn written(label: u32, values: Vec<Value>) -> String {
    let mut out = Vec::new();
    let label = LabelId(label);
    Codec::new(doors()).write_stimulus(&Action { label, values }, &mut out);
    String::from_utf8(out).unwrap()
}

fn read(line: &str) -> Line {
    Codec::new(doors()).read_line(line.as_bytes()).unwrap()
}

fn refused(line: &str) -> String {
    let codec = Codec::new(doors());
    codec.read_line(line.as_bytes()).unwrap_err().message
}

#[test]
fn a_name_carries_its_channel_only_where_it_is_needed() {
    assert_eq!(
        written(0, vec![]),
        "{\"stimulus\":\"front.open\",\"values\":{}}\n"
    );
    assert_eq!(
        written(1, vec![]),
        "{\"stimulus\":\"back.open\",\"values\":{}}\n"
    );
    let plain = |label| Line::Response(Action::plain(LabelId(label)));
    assert_eq!(read(r#"{"response":"front.opened"}"#), plain(2));
    assert_eq!(read(r#"{"response":"back.opened"}"#), plain(3));
    assert_eq!(
        read(r#"{"response":"opened"}"#),
        Line::Unknown("opened".to_owned())
    );
    assert_eq!(
        read(r#"{"response":"locked"}"#),
        read(r#"{"response":"back.locked"}"#)
    );
}

#[test]
fn every_parameter_is_sent_and_what_is_unset_is_null() {
    assert_eq!(
        written(
            4,
            vec![
                Value::Enum(EnumId(0), 1),
                Value::Int(-7),
                Value::str("a\"b\nc")
            ]
        ),
        "{\"stimulus\":\"lock\",\"values\":{\"side\":\"Right\",\"code\":-7,\"why\":\"a\\\"b\\nc\"}}\n"
    );
    assert_eq!(
        written(4, vec![Value::Void, Value::Int(1)]),
        "{\"stimulus\":\"lock\",\"values\":{\"side\":null,\"code\":1,\"why\":null}}\n"
    );
}

#[test]
fn what_a_response_leaves_out_is_unset() {
    let locked = |code, at| {
        Line::Response(Action {
            label: LabelId(5),
            values: vec![code, at],
        })
    };
    assert_eq!(
        read(r#"{"response":"locked"}"#),
        locked(Value::Void, Value::Void)
    );
    assert_eq!(
        read(r#"{"response":"locked","values":{"at":5}}"#),
        locked(Value::Void, Value::Int(5))
    );
    assert_eq!(
        read(
            r#" { "values" : {"code":1, "at":null}, "new key": [], "response" : "lock\u0065d" } "#
        ),
        locked(Value::Int(1), Value::Void)
    );
}

#[test]
fn the_other_lines_are_understood() {
    assert_eq!(read(r#"{"ready":true}"#), Line::Ready { quiescent: false });
    let both = r#"{"ready":true,"quiescent":true}"#;
    assert_eq!(read(both), Line::Ready { quiescent: true });
    assert_eq!(read(r#"{"quiescent":true}"#), Line::Quiescent);
    assert_eq!(
        read(r#"{"error":"no paper"}"#),
        Line::Error("no paper".to_owned())
    );
    assert_eq!(
        read(r#"{"error":{"code":5}}"#),
        Line::Error("{\"code\":5}".to_owned())
    );
    let labels = vec!["?lock".to_owned()];
    assert_eq!(read(r#"{"labels":["?lock"]}"#), Line::Labels(labels));
    assert_eq!(read(" \r"), Line::Blank);
}

#[test]
fn what_is_not_of_the_protocol_is_shown_with_the_reason() {
    let all: Vec<String> = [
        "ready",
        r#"{"ready":tru}"#,
        r#"{"ready":false}"#,
        r#"{"response":5}"#,
        r#"{"response":"locked","values":[]}"#,
        r#"{"response":"locked""#,
    ]
    .into_iter()
    .map(refused)
    .collect();
    let start = "the system sent a line that is not of the protocol, because ";
    let reasons: Vec<&str> = all.iter().map(|m| m.strip_prefix(start).unwrap()).collect();
    assert_eq!(
        reasons,
        [
            "it is not a JSON object: ready",
            "expected ident (column 13): {\"ready\":tru}",
            "it has none of the known keys: {\"ready\":false}",
            "the name of a response must be a string: {\"response\":5}",
            "\"values\" must be an object: {\"response\":\"locked\",\"values\":[]}",
            "EOF while parsing an object (column 20): {\"response\":\"locked\"",
        ]
    );
}

#[test]
fn a_long_line_is_shortened_in_messages() {
    let message = refused(&"x".repeat(100_000));
    assert!(message.chars().count() < 300, "{message}");
}

#[test]
fn an_announcement_of_any_size_has_a_bounded_number_of_differences() {
    let codec = Codec::new(doors());
    let many: Vec<String> = (0..200_000).map(|number| format!("?l{number}")).collect();
    let long = vec![format!("?{}", "x".repeat(16 << 20))];
    for announced in [many, long] {
        let differences = codec.compare_announcement(&announced);
        let bytes: usize = differences.iter().map(String::len).sum();
        assert!(bytes < 100_000, "{bytes}");
        let last = differences.last().expect("a difference");
        if announced.len() > 1 {
            assert!(last.contains("199900 more labels"), "{last}");
        }
    }
}

#[test]
fn an_announcement_may_name_channels_or_not() {
    let compare = |labels: &[&str]| {
        let labels: Vec<String> = labels.iter().map(|&l| l.to_owned()).collect();
        Codec::new(doors()).compare_announcement(&labels)
    };
    let all = ["?front.open", "?back.open", "!front.opened", "!back.opened"];
    let with = |more: &[&'static str]| compare(&[all.as_slice(), more].concat());
    assert!(with(&["?lock", "!locked"]).is_empty());
    assert!(with(&["?back.lock", "!back.locked"]).is_empty());
    assert_eq!(with(&["?lock", "?locked"]).len(), 2);
}
