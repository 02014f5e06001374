//! GraphWalker's JSON: what models mean, what is refused, and the public files.

// Only the domain itself may not read files.
#![allow(clippy::disallowed_methods)]

use std::path::PathBuf;

use ioco_formats::LabelMap;
use ioco_formats::graphwalker::{GraphWalkerOptions, looks_like, read, write};
use ioco_sts::{Sts, SwitchId, Type, Value, show_switch_label};

fn shown(sts: &Sts) -> Vec<String> {
    let ids = (0..sts.switches().len()).map(SwitchId::from_index);
    ids.map(|id| {
        let switch = sts.switch(id);
        format!(
            "{} -> {}: {}",
            sts.location(switch.source).name,
            sts.location(switch.target).name,
            show_switch_label(sts, id)
        )
    })
    .collect()
}

fn read_text(text: &str) -> Sts {
    read("t", text, &GraphWalkerOptions::default()).unwrap()
}

const SHOP: &str = r#"{
  "models": [
    { "name": "Shop", "startElementId": "e0", "actions": ["n = 0; open = true", "global.cash = 1.5"],
      "vertices": [
        {"id": "v0", "name": "v_Shop"},
        {"id": "v1", "name": "v_Till", "sharedState": "TILL", "properties": {"x": 1}}],
      "edges": [
        {"id": "e0", "targetVertexId": "v0", "name": "e_Enter"},
        {"id": "e1", "sourceVertexId": "v0", "targetVertexId": "v0", "name": "e_Take",
         "guard": "open && n < 3", "actions": ["n++;", "n = n * 2"],
         "properties": {"description": "Into the basket."}},
        {"id": "e2", "sourceVertexId": "v0", "targetVertexId": "v1"}]
    },
    { "name": "Till",
      "vertices": [{"id": "v0", "name": "v_Pay", "sharedState": "TILL"}],
      "edges": [
        {"id": "e0", "sourceVertexId": "v0", "targetVertexId": "v0", "name": "!receipt",
         "actions": ["global.cash += 1"]},
        {"id": "e1", "sourceVertexId": "v0", "targetVertexId": "v0", "name": "e_Drop",
         "properties": {"blocked": true}}]
    }
  ]
}"#;

#[test]
fn guards_actions_and_shared_states_are_read() {
    let sts = read_text(SHOP);
    assert_eq!(
        shown(&sts),
        [
            "Start -> v_Shop: ?e_Enter",
            "v_Shop -> v_Shop: ?e_Take [open && n < 3] n := (n + 1) * 2",
            "v_Shop -> v_Pay, v_Till: τ",
            "v_Pay, v_Till -> v_Pay, v_Till: !receipt cash := cash + 1",
        ]
    );
    let variables: Vec<(&str, &Type, &Value)> = sts
        .variables()
        .iter()
        .map(|v| (v.name.as_str(), &v.ty, &v.initial))
        .collect();
    assert_eq!(
        variables,
        [
            ("n", &Type::INTEGER, &Value::Int(0)),
            ("open", &Type::Bool, &Value::Bool(true)),
            (
                "cash",
                &Type::Decimal,
                &Value::Decimal("1.5".parse().unwrap())
            ),
        ]
    );
    assert_eq!(sts.switches()[1].note.as_deref(), Some("Into the basket."));
    let again = read_text(&write(&sts).unwrap());
    assert_eq!(again, sts);
}

#[test]
fn vertices_may_be_responses_and_flags_say_what_edges_are() {
    let options = GraphWalkerOptions {
        labels: LabelMap {
            stimuli: vec!["e_Take".to_owned()],
            hide_others: true,
            ..LabelMap::default()
        },
        vertices: true,
        ..GraphWalkerOptions::default()
    };
    let sts = read("t", SHOP, &options).unwrap();
    assert_eq!(
        shown(&sts)[..4],
        [
            "Start -> _3: τ",
            "_3 -> v_Shop: !v_Shop",
            "v_Shop -> _4: ?e_Take [open && n < 3] n := (n + 1) * 2",
            "_4 -> v_Shop: !v_Shop",
        ]
    );
}

fn check_error(from: &str, to: &str, line: u32, part: &str) {
    assert!(SHOP.contains(from), "{from}");
    let text = SHOP.replacen(from, to, 1);
    let error = read("t", &text, &GraphWalkerOptions::default()).unwrap_err();
    assert_eq!(error.line, line, "{error}");
    assert!(error.message.contains(part), "{error}");
}

#[test]
fn what_is_not_read_is_named_with_its_place() {
    let guard = "open && n < 3";
    check_error(
        guard,
        "x.y > 2",
        9,
        "the guard of edge 'e_Take' `x.y > 2`, column 1",
    );
    check_error(guard, "n > 'a'", 9, "a text is no number");
    check_error(guard, "n == true", 9, "are never the same");
    check_error(guard, "n", 9, "a truth value is needed");
    check_error(guard, "m > 1", 9, "'m' is never given a value");
    check_error(guard, "n / 2 > 1", 9, "Math.trunc");
    check_error(
        "n++;",
        "n = 'a';",
        9,
        "'n' is given a text here and a whole number elsewhere",
    );
    check_error("n++;", "for (;;) n++;", 9, "`for` is not understood");
    check_error("n = 0;", "n = 0 / 0;", 3, "the action of model 'Shop'");
    check_error(
        "\"targetVertexId\": \"v1\"",
        "\"targetVertexId\": \"v7\"",
        12,
        "vertex 'v7', which is not there",
    );
    check_error(
        "\"startElementId\": \"e0\"",
        "\"startElementId\": \"e9\"",
        3,
        "starts at 'e9'",
    );
    check_error(
        "\"name\": \"v_Pay\", \"sharedState\": \"TILL\"",
        "\"name\": \"v_Pay\"",
        14,
        "no way leads from the start to model 'Till'",
    );
    check_error(
        "\"name\": \"v_Pay\",",
        "\"name\": \"v_Pay\", \"actions\": [\"x = 1\"],",
        15,
        "is shared and has actions",
    );
    check_error(
        "\"id\": \"v0\", \"name\": \"v_Shop\"",
        "\"id\": 7",
        5,
        "expected a string",
    );
    check_error("\"models\": [", "\"models\": [,", 2, "expected value");
}

#[test]
fn a_changed_edge_is_distinguished_from_its_data() {
    let text = write(&read_text(SHOP)).unwrap();
    let changed = text.replacen("n < 3", "n < 4", 1);
    assert_ne!(changed, text);
    let error = read("t", &changed, &GraphWalkerOptions::default()).unwrap_err();
    assert!(
        error.line > 1 && error.message.contains("change both"),
        "{error}"
    );
}

fn public(name: &str) -> Option<Sts> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/bench/lts");
    let Ok(text) = std::fs::read_to_string(folder.join(name)) else {
        eprintln!("skipped: the public file {name} is not here");
        return None;
    };
    assert!(looks_like(&text), "{name}");
    let sts = read(name, &text, &GraphWalkerOptions::default());
    Some(sts.unwrap_or_else(|error| panic!("{name}: {error}")))
}

#[test]
fn public_models_have_their_published_sizes() {
    for (name, locations, switches, variables) in [
        // Five models; ten of their sixteen vertices are in five shared states.
        ("gw_petclinic.json", 12, 25, 1),
        ("gw_login.json", 4, 9, 2),
        // The start of the first edge besides the eight vertices.
        ("gw_altwalker_auth.json", 9, 15, 2),
    ] {
        let Some(sts) = public(name) else { return };
        assert_eq!(
            sts.locations().len(),
            locations,
            "{name}: {:?}",
            shown(&sts)
        );
        assert_eq!(sts.switches().len(), switches, "{name}");
        assert_eq!(sts.variables().len(), variables, "{name}");
        assert_eq!(read_text(&write(&sts).unwrap()), sts, "{name}");
    }
}
