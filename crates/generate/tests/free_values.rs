//! Parameters that neither a guard nor an update mentions: any value for a stimulus, which somebody has to send; none for
//! a response, which may have any.

use ioco_generate::{Extent, Path, Share, Walk};
use ioco_solve::Embedded;
use ioco_sts::{Action, Direction, Expr, Gate, Label, Parameter, Place, Sts, StsBuilder, Type};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// `?put(n, s)` and then `!got(n, s)`, without any condition.
fn model() -> Sts {
    let mut builder = StsBuilder::new("free");
    let file = builder.file("free.aml");
    let process = builder.process("main");
    let [first, second] = ["First", "Second"].map(|name| builder.named_location(process, name));
    for (source, target, name, direction) in [
        (first, second, "put", Direction::Stimulus),
        (second, first, "got", Direction::Response),
    ] {
        let parameter = |(name, ty): (&str, Type)| Parameter {
            name: name.to_owned(),
            ty,
        };
        let label = builder.label(Label {
            name: name.to_owned(),
            channel: "system".to_owned(),
            direction,
            parameters: [("n", Type::INTEGER), ("s", Type::Str)]
                .map(parameter)
                .into(),
        });
        let place = Place {
            file,
            line: 1,
            column: 1,
        };
        let gate = Gate::Observable(label);
        builder.switch(source, gate, Expr::TRUE, Vec::new(), target, place);
    }
    builder.build()
}

#[test]
fn a_stimulus_gets_a_value_for_every_parameter() {
    let sts = model();
    let solver = Embedded::new(sts.types(), sts.functions());
    let rng = ChaCha8Rng::seed_from_u64(1);
    let mut actions: Vec<Action> = Vec::new();
    let mut walk = Walk::new(&sts, Extent::of_length(2), solver, rng);
    walk.run(&Share::whole(), &mut |path: &Path<'_>| {
        actions.extend(path.steps().filter_map(|step| step.action));
        true
    });
    let [put, got] = &actions[..] else {
        panic!("{actions:?}");
    };
    assert!(put.values.iter().all(|value| !value.is_void()), "{put:?}");
    assert!(got.values.iter().all(|value| value.is_void()), "{got:?}");
}
