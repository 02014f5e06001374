//! The public models that the formats, the reduction and the comparison are measured with. They
//! are not part of the project; where they are not there, these tests have nothing to do.

mod common;

use std::collections::BTreeMap;

use common::public::{alternating_bit, public_text};
use ioco_formats::dot::{self, MealyOptions};
use ioco_formats::{LabelMap, aut, json};
use ioco_sts::{
    Direction, Expr, Gate, Label, LocationId, Place, Side, Sts, StsBuilder, distinguish, reduce,
};

fn mealy(name: &str) -> Option<Sts> {
    let text = public_text(&format!("lts/{name}.dot"))?;
    let sts = dot::read(name, &text, &MealyOptions::default());
    Some(sts.unwrap_or_else(|error| panic!("{name}: {error}")))
}

/// States and edges of a Mealy machine, which its `?input` switches still tell.
fn check_mealy(name: &str, states: usize, edges: usize, inputs: usize, initial: &str) {
    let Some(sts) = mealy(name) else { return };
    let stimuli: Vec<_> = sts
        .switches()
        .iter()
        .filter(|s| match s.gate {
            Gate::Observable(label) => sts.label(label).direction == Direction::Stimulus,
            _ => false,
        })
        .collect();
    let named = sts.locations().iter().filter(|l| !l.name.starts_with('_'));
    assert_eq!(named.count(), states, "{name}");
    assert_eq!(stimuli.len(), edges, "{name}");
    assert_eq!(sts.labels_of(Direction::Stimulus).count(), inputs, "{name}");
    let start = sts.location(sts.processes()[0].initial);
    assert_eq!(start.name, initial, "{name}");
    assert_eq!(json::read(&json::write(&sts)).as_ref(), Ok(&sts), "{name}");
}

#[test]
fn mealy_machines_have_their_published_sizes() {
    check_mealy("mqtt_mosquitto", 18, 162, 9, "s0");
    check_mealy("mqtt_hbmqtt", 17, 153, 9, "s0");
    check_mealy("mqtt_activemq", 18, 162, 9, "s0");
    check_mealy("tcp_server_ubuntu", 57, 684, 12, "s0");
    check_mealy("tcp_server_windows", 38, 494, 13, "s0");
    check_mealy("tcp_client_linux", 15, 150, 10, "s0");
    check_mealy("tls_openssl_1.0.2_server", 7, 49, 7, "6");
    check_mealy("tls_nss_3.17.4_server", 8, 64, 8, "7");
    check_mealy("ble_cyw43455", 16, 112, 7, "s0");
    check_mealy("ble_nrf52832", 5, 45, 9, "s0");
    check_mealy("coffee_mealy", 2, 4, 2, "s0");
    check_mealy("onfsm_5", 5, 11, 2, "s0");
    check_mealy("ssh_bitvise", 66, 858, 13, "s0");
    check_mealy("dtls_server_example", 9, 63, 7, "s0");
}

#[test]
fn the_alternating_bit_protocol_loads_with_its_border_named_and_the_rest_hidden() {
    let Some((text, map)) = alternating_bit() else {
        return;
    };
    let sts = aut::read("abp.aut", &text, &map).unwrap();
    assert_eq!((sts.locations().len(), sts.switches().len()), (74, 92));
    let names: Vec<String> = sts.labels().iter().map(Label::marked_name).collect();
    assert_eq!(names, ["?r1(d1)", "?r1(d2)", "!s4(d1)", "!s4(d2)"]);
    assert!(aut::read("abp.aut", &text, &LabelMap::default()).is_err());
}

/// Reads just enough of the modelling language for the flat public ATM: states, options of sends
/// and receives, and jumps.
fn flat_atm() -> Option<Sts> {
    let text = public_text("aml/atm/model.aml")?;
    let mut builder = StsBuilder::new("ATM");
    let process = builder.process("ATM");
    let statements: Vec<(&str, &str)> = text
        .split(['\n', ';', '{', '}'])
        .filter_map(|part| {
            let (word, rest) = part.trim().split_once(' ')?;
            Some((word, rest.trim().trim_matches('\'')))
        })
        .collect();
    let mut locations = BTreeMap::new();
    for (_, name) in statements.iter().filter(|(word, _)| *word == "state") {
        locations.insert(*name, builder.named_location(process, name));
    }
    let idle = locations["Idle"];
    builder.initial(process, idle);
    let mut labels = BTreeMap::new();
    // The state whose options are read, and the step that waits for its target.
    let mut head = idle;
    let mut open: Option<(LocationId, Gate)> = None;
    let step = |builder: &mut StsBuilder, (source, gate), target| {
        builder.switch(
            source,
            gate,
            Expr::TRUE,
            Vec::new(),
            target,
            Place::default(),
        );
    };
    for (word, name) in statements {
        match word {
            "state" => head = locations[name],
            "goto" => {
                if let Some(open) = open.take() {
                    step(&mut builder, open, locations[name]);
                }
            }
            "send" | "receive" => {
                let direction = if word == "send" {
                    Direction::Response
                } else {
                    Direction::Stimulus
                };
                let label = *labels.entry((direction, name)).or_insert_with(|| {
                    builder.label(Label {
                        name: name.to_owned(),
                        channel: "banking".to_owned(),
                        direction,
                        parameters: Vec::new(),
                    })
                });
                let source = match open.take() {
                    None => head,
                    Some(open) => {
                        let between = builder.named_location(process, "_between");
                        step(&mut builder, open, between);
                        between
                    }
                };
                open = Some((source, Gate::Observable(label)));
            }
            _ => {}
        }
    }
    Some(builder.build())
}

#[test]
fn the_public_atm_reduces_to_its_published_size() {
    let Some(atm) = flat_atm() else { return };
    assert_eq!((atm.locations().len(), atm.switches().len()), (1970, 3548));
    let reduced = reduce(&atm);
    let size = |sts: &Sts| (sts.locations().len(), sts.switches().len());
    assert_eq!(size(&reduced.sts), (1502, 3080));
    // Nothing more to merge, and nothing lost.
    assert_eq!(size(&reduce(&reduced.sts).sts), (1502, 3080));
    let same_name = |_: Side, label: &Label| Some(label.name.clone());
    assert_eq!(distinguish(&atm, &reduced.sts, same_name), None);
    for (old, new) in atm.locations().iter().zip(&reduced.merged) {
        let names = &reduced.sts.location(*new).name;
        assert!(names.split(", ").any(|name| name == old.name));
    }
}
