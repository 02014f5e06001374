//! Transition systems in ioco's own JSON and in the formats of other tools. All of them are written and read again.

use ioco_formats::LabelMap;
use ioco_formats::dot::MealyOptions;
use ioco_formats::graphwalker::GraphWalkerOptions;
use ioco_sts::Sts;

use crate::models::BUDGET;

fn mealy() -> MealyOptions {
    MealyOptions {
        budget: BUDGET,
        ..MealyOptions::default()
    }
}

fn round_trips(sts: &Sts) {
    let text = ioco_formats::json::write(sts);
    let again = ioco_formats::json::read_within(&text, sts.budget());
    assert_eq!(again.as_ref(), Ok(sts), "JSON loses nothing");
}

pub fn json(data: &[u8]) -> bool {
    let text = String::from_utf8_lossy(data);
    let Ok(sts) = ioco_formats::json::read_within(&text, &BUDGET) else {
        return false;
    };
    round_trips(&sts);
    let dot = ioco_formats::dot::write(&sts);
    let again = ioco_formats::dot::read("fuzz", &dot, &mealy());
    assert_eq!(again.as_ref(), Ok(&sts), "a drawing loses nothing:\n{dot}");
    let mermaid = ioco_formats::mermaid::write(&sts);
    let again = ioco_formats::mermaid::read("fuzz", &mermaid, &mealy());
    assert_eq!(
        again.as_ref(),
        Ok(&sts),
        "a diagram loses nothing:\n{mermaid}"
    );
    if let Ok(text) = ioco_formats::graphwalker::write(&sts) {
        let options = GraphWalkerOptions {
            budget: BUDGET,
            ..GraphWalkerOptions::default()
        };
        let again = ioco_formats::graphwalker::read("fuzz", &text, &options);
        assert_eq!(
            again.as_ref(),
            Ok(&sts),
            "GraphWalker's form loses nothing:\n{text}"
        );
    }
    if let Ok(text) = ioco_formats::aut::write(&sts) {
        let again = ioco_formats::aut::read("fuzz", &text, &LabelMap::default());
        assert!(again.is_ok(), "{again:?}:\n{text}");
    }
    true
}

pub fn dot(data: &[u8]) -> bool {
    let text = String::from_utf8_lossy(data);
    let read = ioco_formats::dot::read("fuzz", &text, &mealy());
    read.inspect(round_trips).is_ok()
}

pub fn aut(data: &[u8]) -> bool {
    let text = String::from_utf8_lossy(data);
    let Ok(sts) = ioco_formats::aut::read("fuzz", &text, &LabelMap::default()) else {
        return false;
    };
    if sts.locations().len() < 1_000 {
        round_trips(&sts);
        if let Ok(written) = ioco_formats::aut::write(&sts) {
            let again = ioco_formats::aut::read("fuzz", &written, &LabelMap::default());
            let sizes = |sts: &Sts| (sts.locations().len(), sts.switches().len());
            assert_eq!(again.as_ref().map(sizes), Ok(sizes(&sts)), "{written}");
        }
    }
    true
}

pub fn mermaid(data: &[u8]) -> bool {
    let text = String::from_utf8_lossy(data);
    let read = ioco_formats::mermaid::read("fuzz", &text, &mealy());
    read.inspect(round_trips).is_ok()
}

pub fn graphwalker(data: &[u8]) -> bool {
    let text = String::from_utf8_lossy(data);
    let _ = ioco_formats::graphwalker::looks_like(&text);
    let mut accepted = false;
    for vertices in [false, true] {
        let options = GraphWalkerOptions {
            vertices,
            budget: BUDGET,
            ..GraphWalkerOptions::default()
        };
        if let Ok(mut sts) = ioco_formats::graphwalker::read("fuzz", &text, &options) {
            sts.set_budget(BUDGET);
            round_trips(&sts);
            accepted = true;
        }
    }
    accepted
}

pub fn svg(data: &[u8]) -> bool {
    let text = String::from_utf8_lossy(data);
    let Ok(sts) = ioco_formats::svg::read_within(&text, &BUDGET) else {
        return false;
    };
    let written = ioco_formats::svg::embed("<svg></svg>", &sts);
    assert_eq!(ioco_formats::svg::read_within(&written, &BUDGET), Ok(sts));
    true
}
