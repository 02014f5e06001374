//! Transition systems in ioco's own JSON and in the formats of other tools. All of them are written and read again.

use ioco_sts::Sts;
use ioco_sts::format::dot::MealyOptions;
use ioco_sts::format::graphwalker::GraphWalkerOptions;
use ioco_sts::format::{self, LabelMap};

use crate::models::BUDGET;

fn mealy() -> MealyOptions {
    MealyOptions {
        budget: BUDGET,
        ..MealyOptions::default()
    }
}

fn round_trips(sts: &Sts) {
    let text = format::json::write(sts);
    let again = format::json::read_within(&text, sts.budget());
    assert_eq!(again.as_ref(), Ok(sts), "JSON loses nothing");
}

pub fn json(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(sts) = format::json::read_within(&text, &BUDGET) else {
        return;
    };
    round_trips(&sts);
    let dot = format::dot::write(&sts);
    let again = format::dot::read("fuzz", &dot, &mealy());
    assert_eq!(again.as_ref(), Ok(&sts), "a drawing loses nothing:\n{dot}");
    let mermaid = format::mermaid::write(&sts);
    let again = format::mermaid::read("fuzz", &mermaid, &mealy());
    assert_eq!(
        again.as_ref(),
        Ok(&sts),
        "a diagram loses nothing:\n{mermaid}"
    );
    if let Ok(text) = format::graphwalker::write(&sts) {
        let options = GraphWalkerOptions {
            budget: BUDGET,
            ..GraphWalkerOptions::default()
        };
        let again = format::graphwalker::read("fuzz", &text, &options);
        assert_eq!(
            again.as_ref(),
            Ok(&sts),
            "GraphWalker's form loses nothing:\n{text}"
        );
    }
    if let Ok(text) = format::aut::write(&sts) {
        let again = format::aut::read("fuzz", &text, &LabelMap::default());
        assert!(again.is_ok(), "{again:?}:\n{text}");
    }
}

pub fn dot(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Ok(sts) = format::dot::read("fuzz", &text, &mealy()) {
        round_trips(&sts);
    }
}

pub fn aut(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Ok(sts) = format::aut::read("fuzz", &text, &LabelMap::default())
        && sts.locations().len() < 1_000
    {
        round_trips(&sts);
        if let Ok(written) = format::aut::write(&sts) {
            let again = format::aut::read("fuzz", &written, &LabelMap::default());
            let sizes = |sts: &Sts| (sts.locations().len(), sts.switches().len());
            assert_eq!(again.as_ref().map(sizes), Ok(sizes(&sts)), "{written}");
        }
    }
}

pub fn mermaid(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Ok(sts) = format::mermaid::read("fuzz", &text, &mealy()) {
        round_trips(&sts);
    }
}

pub fn graphwalker(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let _ = format::graphwalker::looks_like(&text);
    for vertices in [false, true] {
        let options = GraphWalkerOptions {
            vertices,
            budget: BUDGET,
            ..GraphWalkerOptions::default()
        };
        if let Ok(mut sts) = format::graphwalker::read("fuzz", &text, &options) {
            sts.set_budget(BUDGET);
            round_trips(&sts);
        }
    }
}

pub fn svg(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Ok(sts) = format::svg::read_within(&text, &BUDGET) {
        let written = format::svg::embed("<svg></svg>", &sts);
        assert_eq!(format::svg::read_within(&written, &BUDGET), Ok(sts));
    }
}
