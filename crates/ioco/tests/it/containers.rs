//! Containers that others wrote, against models of what their documentation promises: a bounded queue
//! on `std::collections::VecDeque`, and the LRU cache of the crate `lru`. Each with and without a bug.

use std::collections::VecDeque;
use std::num::NonZeroUsize;

use ioco::{Check, Model, Response, Stimulus, Strategy, Switch, System, Type};
use lru::LruCache;

use crate::failure;

const QUEUE: &str = r#"
external 'queue'
process('queue') {
  channel('queue') {
    stimulus 'push', { 'item' => integer(0..3) }
    stimulus 'pop'
    responses 'pushed', 'full', 'empty'
    response 'popped', { 'item' => :integer }
  }
  # The items from the oldest on; only the first `size` of them count.
  var 'a', :integer, 0
  var 'b', :integer, 0
  var 'c', :integer, 0
  var 'size', integer(0..3), 0
  repeat {
    o { receive 'push', constraint: 'item != :void && size == 0', update: 'a = item; size = 1'
        send 'pushed' }
    o { receive 'push', constraint: 'item != :void && size == 1', update: 'b = item; size = 2'
        send 'pushed' }
    o { receive 'push', constraint: 'item != :void && size == 2', update: 'c = item; size = 3'
        send 'pushed' }
    o { receive 'push', constraint: 'item != :void && size == 3'
        send 'full' }
    o { receive 'pop', constraint: 'size == 0'
        send 'empty' }
    o { receive 'pop', constraint: 'size > 0'
        send 'popped', constraint: 'item == a', update: 'a = b; b = c; size -= 1' }
  }
}
"#;

/// A queue of at most three items.
struct Bounded {
    items: VecDeque<i64>,
    /// Planted: a full queue makes room by dropping its oldest item.
    overwrites: bool,
}

impl System for Bounded {
    fn reset(&mut self) {
        self.items.clear();
    }

    fn give(&mut self, stimulus: &Stimulus) -> Vec<Response> {
        let answer = match stimulus.name() {
            "push" if self.items.len() == 3 && !self.overwrites => "full".into(),
            "push" => {
                if self.items.len() == 3 {
                    self.items.pop_front();
                }
                self.items.push_back(stimulus.integer("item"));
                "pushed".into()
            }
            _ => match self.items.pop_front() {
                Some(item) => Response::new("popped").with("item", item),
                None => "empty".into(),
            },
        };
        vec![answer]
    }
}

fn bounded(overwrites: bool) -> Bounded {
    Bounded {
        items: VecDeque::with_capacity(3),
        overwrites,
    }
}

#[test]
fn a_deque_is_a_bounded_queue() {
    let report = ioco::check(QUEUE, bounded(false)).unwrap();
    assert_eq!(report.passed(), 100);
    assert_eq!(report.covered_switches(), report.switches());
}

#[test]
fn a_queue_that_drops_its_oldest_item_is_found() {
    let found = failure(ioco::check(QUEUE, bounded(true)));
    // Four pushes fill it and one more is not refused: eight steps, and none can be left out.
    assert_eq!(found.code(), "D001");
    assert_eq!(found.trace().len(), 8);
    assert_eq!(found.allowed(), ["!full"]);
}

/// An LRU cache of two entries with keys 0 to 2: `first` was used more recently than `second`. A key
/// of -1 is no entry.
fn lru_model() -> Model {
    let key = || Type::Range(0, 2);
    Model::builder("lru")
        .variable("first", Type::Integer, -1)
        .variable("second", Type::Integer, -1)
        .stimulus("put", [("key", key())])
        .stimulus("get", [("key", key())])
        .response("put", [])
        .response("hit", [])
        .response("miss", [])
        // A new key pushes the older one out; the newest stays where it is.
        .switch(
            Switch::from("idle")
                .on("?put")
                .when("key != first")
                .update("first = key; second = first")
                .to("stored"),
        )
        .switch(
            Switch::from("idle")
                .on("?put")
                .when("key == first")
                .to("stored"),
        )
        .switch(Switch::from("stored").on("!put").to("idle"))
        // Reading counts as use.
        .switch(
            Switch::from("idle")
                .on("?get")
                .when("key == first")
                .to("found"),
        )
        .switch(
            Switch::from("idle")
                .on("?get")
                .when("key == second")
                .update("first = second; second = first")
                .to("found"),
        )
        .switch(
            Switch::from("idle")
                .on("?get")
                .when("key != first && key != second")
                .to("missing"),
        )
        .switch(Switch::from("found").on("!hit").to("idle"))
        .switch(Switch::from("missing").on("!miss").to("idle"))
        .build()
        .unwrap()
}

fn cache(peeks: bool) -> impl System {
    let capacity = NonZeroUsize::new(2).unwrap();
    ioco::from_fn(
        move || LruCache::new(capacity),
        move |cache, stimulus| {
            let key = stimulus.integer("key");
            let answer = match stimulus.name() {
                "put" => {
                    cache.put(key, ());
                    "put"
                }
                // Planted: `peek` does not count as use.
                _ if peeks && cache.peek(&key).is_some() => "hit",
                _ if !peeks && cache.get(&key).is_some() => "hit",
                _ => "miss",
            };
            vec![answer.into()]
        },
    )
}

#[test]
fn a_published_lru_cache_evicts_what_was_used_least_recently() {
    for strategy in [Strategy::Random, Strategy::Transitions, Strategy::Data] {
        let check = Check::new(lru_model()).unwrap().strategy(strategy);
        let report = check.run(cache(false)).unwrap();
        assert_eq!(report.passed(), 100);
        assert_eq!(report.covered_switches(), report.switches());
    }
}

#[test]
fn a_cache_in_which_reading_is_no_use_is_found() {
    let found = failure(ioco::check(lru_model(), cache(true)));
    // Two puts, a get of the older, a put of a third key, a get: five stimuli and their responses.
    assert_eq!(found.trace().len(), 10);
}
