//! Models built in Rust.

use std::time::Duration;

use ioco::{Model, Response, Switch, Type, Value};

use crate::failure;

fn counter() -> Model {
    Model::builder("counter")
        .variable("sum", Type::Range(0, 20), 0)
        .stimulus("add", [("n", Type::Range(1, 9))])
        .response("total", [("n", Type::Integer)])
        .switch(
            Switch::from("idle")
                .on("?add")
                .update("sum += n")
                .to("busy"),
        )
        .switch(
            Switch::from("busy")
                .on("!total")
                .when("n == sum")
                .to("idle"),
        )
        .build()
        .unwrap()
}

#[test]
fn a_built_model_is_a_model() {
    let adds = || {
        ioco::from_fn(
            || 0,
            |sum, add| {
                *sum += add.integer("n");
                vec![Response::new("total").with("n", *sum)]
            },
        )
    };
    let report = ioco::check(counter(), adds()).unwrap();
    assert_eq!(report.passed(), 100);
    // By reference too.
    let model = counter();
    assert_eq!(ioco::check(&model, adds()).unwrap(), report);
}

#[test]
fn an_explanation_names_the_line_of_rust() {
    let found = failure(ioco::check(counter(), ioco::from_fn(|| (), |(), _| vec![])));
    let text = found.to_string();
    assert!(text.contains("built.rs:"), "{text}");
    assert!(text.contains("idle ──?add──► busy"), "{text}");
}

#[test]
fn all_mistakes_come_at_once_each_with_its_place() {
    let wrong = Model::builder("wrong")
        .variable("n", Type::Integer, "three")
        .variable("m", Type::Range(3, 1), 2)
        .variable("k", Type::Integer, 0)
        .variable("k", Type::Integer, 0)
        .stimulus("a", [])
        .stimulus("a", [])
        .response(
            "c",
            [
                ("x", Type::enumeration("E", ["one"])),
                ("y", Type::enumeration("E", ["two"])),
            ],
        )
        .switch(Switch::from("s").on("?b").to("s"))
        .switch(Switch::from("s").on("?a").when("k + 1").to("s"))
        .switch(Switch::from("s").on("?a").update("k = true").to("s"))
        .build()
        .unwrap_err();
    let text = wrong.to_string();
    for part in [
        "variable `n`: its initial value \"three\" is not",
        "the range from 3 to 1 is empty",
        "variable `k`: it is there already",
        "?a is there already",
        "two different types `E`",
        "there is no label `?b`; there are ?a, !c",
        "a condition is true or false",
        "`k` is",
        "built.rs:",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    let empty = Model::builder("empty").build().unwrap_err();
    assert_eq!(empty.mistakes(), ["a model needs a switch"]);
}

#[test]
fn a_model_may_choose_and_be_silent() {
    // After a coin: coffee, tea or nothing.
    let machine = Model::builder("machine")
        .timeout(Duration::from_secs(2))
        .stimulus("coin", [])
        .response(
            "drink",
            [(
                "kind",
                Type::enumeration("Drink", ["coffee", "tea", "soup"]),
            )],
        )
        .switch(Switch::from("idle").on("?coin").to("paid"))
        .switch(
            Switch::from("paid")
                .on("!drink")
                .when("kind != soup")
                .to("idle"),
        )
        .switch(Switch::from("paid").to("idle"))
        .build()
        .unwrap();
    let serves = |drinks: &'static [Option<&'static str>]| {
        ioco::from_fn(
            || 0,
            move |served, _| {
                *served += 1;
                let drink = drinks[*served % drinks.len()];
                let drink = drink.map(|drink| Response::new("drink").with("kind", drink));
                drink.into_iter().collect()
            },
        )
    };
    ioco::check(&machine, serves(&[Some("tea"), None, Some("coffee")])).unwrap();
    let found = failure(ioco::check(&machine, serves(&[Some("tea"), Some("soup")])));
    assert_eq!(found.trace(), ["?coin", "!drink(kind=soup)"]);
}

#[test]
fn structures_and_arrays_cross_the_border() {
    let point = Type::structure(
        "Point",
        [("x", Type::Range(0, 3)), ("y", Type::Range(0, 3))],
    );
    let model = Model::builder("points")
        .variable("last", point.clone(), Value::Void)
        .stimulus("move", [("to", point)])
        .response("path", [("xs", Type::array(Type::Integer))])
        .switch(
            Switch::from("idle")
                .on("?move")
                .when("to.x == 2")
                .update("last = to")
                .to("busy"),
        )
        .switch(
            Switch::from("busy")
                .on("!path")
                .when("xs == [last.x, last.y]")
                .to("idle"),
        )
        .build()
        .unwrap();
    let report = ioco::check(
        model,
        ioco::from_fn(
            || (),
            |(), stimulus| {
                let Some(Value::Struct(fields)) = stimulus.get("to") else {
                    panic!("{stimulus}")
                };
                let xs: Vec<Value> = fields.iter().map(|(_, value)| value.clone()).collect();
                vec![Response::new("path").with("xs", xs)]
            },
        ),
    );
    assert!(report.unwrap().steps() > 0);
}
