//! What comes from systems, adapters and other programs: protocols, recorded files, settings.

use std::sync::Arc;

use ioco_adapters::{Codec, fuzzing};

use crate::models::model;

pub fn toml(data: &[u8]) -> bool {
    let text = String::from_utf8_lossy(data);
    ioco_campaign::Project::parse(&text).is_ok()
}

pub fn suite(data: &[u8]) -> bool {
    let text = String::from_utf8_lossy(data);
    let Ok(suite) = ioco_generate::suite::read(&text, model(), "") else {
        return false;
    };
    // Goals are read only where the suite is for this text of the model.
    ioco_generate::suite::read(&text, model(), &suite.header.hash).is_ok()
}

pub fn failure(data: &[u8]) -> bool {
    let text = String::from_utf8_lossy(data);
    let Ok(file) = ioco_engine::FailureFile::read(&text) else {
        return false;
    };
    let written = file.write();
    let again = ioco_engine::FailureFile::read(&written).expect("what was written is read");
    assert_eq!(again.write(), written, "nothing is lost");
    let _ = file.stimuli(model());
    let _ = file.first_stimuli(model());
    true
}

pub fn traces(data: &[u8]) -> bool {
    let text = String::from_utf8_lossy(data);
    ioco_adapters::read_traces(&text, model()).is_ok_and(|traces| !traces.is_empty())
}

pub fn line(data: &[u8]) -> bool {
    let codec = Codec::new(Arc::clone(model()));
    let mut accepted = false;
    for line in data.split(|byte| *byte == b'\n') {
        let read = codec.read_line(line);
        accepted |= read.is_ok_and(|line| !matches!(line, ioco_adapters::Line::Blank));
    }
    accepted
}

pub fn amp(data: &[u8]) -> bool {
    fuzzing::amp_message(data, model())
}

/// However the bytes are cut, the same messages are found.
pub fn http(data: &[u8]) -> bool {
    let mut accepted = false;
    for answers in [false, true] {
        let whole = fuzzing::http_messages(&[data], answers);
        for cut in [1, data.len() / 2, data.len().saturating_sub(1)] {
            let (head, tail) = data.split_at(cut.min(data.len()));
            let parts = fuzzing::http_messages(&[head, tail], answers);
            assert_eq!(parts, whole, "cut at {cut}");
        }
        accepted |= !whole.0.is_empty() && whole.1.is_none();
    }
    accepted
}

/// However the bytes are cut, the same events are found.
pub fn events(data: &[u8]) -> bool {
    let whole = fuzzing::events(&[data]);
    for cut in [1, data.len() / 2, data.len().saturating_sub(1)] {
        let (head, tail) = data.split_at(cut.min(data.len()));
        assert_eq!(fuzzing::events(&[head, tail]), whole, "cut at {cut}");
    }
    !whole.is_empty()
}
