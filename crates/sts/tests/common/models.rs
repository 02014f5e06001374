//! Random small models with data, internal steps, several processes and hand-shakes.

use std::fmt;

use ioco_formats::dot;
use ioco_sts::{
    Assignment, BinaryOp, Direction, EnumId, EnumType, Expr, Gate, IntRange, Label, LabelId,
    LocationId, Parameter, Place, ProcessId, Sts, StsBuilder, Type, UnaryOp, Value, VarId,
    Variable,
};
use proptest::prelude::*;

const SMALL: Type = Type::Int(IntRange { min: 0, max: 2 });
const COLOUR: Type = Type::Enum(EnumId(0));

/// Names and types.
type Parameters = &'static [(&'static str, Type)];

/// Two stimuli, three responses and two hand-shakes; some with parameters.
const LABELS: &[(Direction, &str, Parameters)] = &[
    (Direction::Stimulus, "put", &[("amount", SMALL)]),
    (Direction::Stimulus, "press", &[]),
    (Direction::Response, "give", &[("amount", SMALL)]),
    (
        Direction::Response,
        "show",
        &[("lit", Type::Bool), ("colour", COLOUR)],
    ),
    (Direction::Response, "beep", &[]),
    (Direction::Internal, "pass", &[("amount", SMALL)]),
    (Direction::Internal, "sync", &[]),
];

/// Two variables of the first process, one of the second.
const VARIABLES: &[(u32, &str, Type)] = &[
    (0, "count", Type::Int(IntRange { min: 0, max: 3 })),
    (0, "colour", COLOUR),
    (1, "kept", SMALL),
];

/// A model that a failing test shows as a drawing, not as a tree of structures.
#[derive(Clone)]
pub struct Model(pub Sts);

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let variables = self.0.variables().iter();
        let initial: Vec<String> = variables
            .map(|v| format!("{} = {}", v.name, v.initial.display(self.0.types())))
            .collect();
        write!(f, "{}\n{}", initial.join(", "), dot::write(&self.0))
    }
}

#[derive(Clone, Debug)]
struct SwitchPlan {
    source: usize,
    target: usize,
    /// Index into [`gates`].
    gate: usize,
    guard: Expr,
    update: Option<Expr>,
}

/// A random model of one or two processes.
pub fn model() -> impl Strategy<Value = Model> {
    (1..=2usize, initial_values()).prop_flat_map(|(processes, initial)| {
        let process = (1..=3usize).prop_flat_map(move |locations| {
            let switches = prop::collection::vec(switch_plan(processes, locations), 0..=6);
            (Just(locations), switches)
        });
        prop::collection::vec(process, processes)
            .prop_map(move |processes| Model(build(&processes, &initial)))
    })
}

fn initial_values() -> impl Strategy<Value = [Value; 3]> {
    (
        prop_oneof![Just(Value::Void), (0..=3i64).prop_map(Value::Int)],
        prop_oneof![
            Just(Value::Void),
            (0..2u32).prop_map(|m| Value::Enum(EnumId(0), m))
        ],
        prop_oneof![Just(Value::Void), (0..=2i64).prop_map(Value::Int)],
    )
        .prop_map(|(a, b, c)| [a, b, c])
}

/// τ, then every label; hand-shakes twice, for either side.
fn gates(processes: usize) -> Vec<Gate> {
    let mut gates = vec![Gate::Tau];
    for (index, (direction, ..)) in LABELS.iter().enumerate() {
        let label = LabelId::from_index(index);
        match direction {
            Direction::Internal if processes > 1 => {
                gates.extend([Gate::Send(label), Gate::Receive(label)]);
            }
            Direction::Internal => {}
            _ => gates.push(Gate::Observable(label)),
        }
    }
    gates
}

fn switch_plan(processes: usize, locations: usize) -> impl Strategy<Value = SwitchPlan> {
    let gates = gates(processes);
    (0..gates.len(), 0..locations, 0..locations).prop_flat_map(move |(gate, source, target)| {
        let parameters: Parameters = match gates[gate].label() {
            Some(label) => LABELS[label.index()].2,
            None => &[],
        };
        let update = prop::option::of(number(parameters));

        (guard(parameters), update).prop_map(move |(guard, update)| SwitchPlan {
            source,
            target,
            gate,
            guard,
            update,
        })
    })
}

fn build(processes: &[(usize, Vec<SwitchPlan>)], initial: &[Value; 3]) -> Sts {
    let mut builder = StsBuilder::new("random");
    builder.types().enums.push(EnumType {
        name: "Colour".to_owned(),
        members: vec!["Red".to_owned(), "Blue".to_owned()],
    });
    for (direction, name, parameters) in LABELS {
        builder.label(Label {
            name: (*name).to_owned(),
            channel: "c".to_owned(),
            direction: *direction,
            parameters: parameters
                .iter()
                .map(|(name, ty)| Parameter {
                    name: (*name).to_owned(),
                    ty: ty.clone(),
                })
                .collect(),
        });
    }
    for ((process, name, ty), initial) in VARIABLES.iter().zip(initial) {
        builder.variable(Variable {
            name: (*name).to_owned(),
            // A model of one process still reads all of them.
            process: ProcessId((*process).min(processes.len() as u32 - 1)),
            ty: ty.clone(),
            initial: initial.clone(),
            place: Place::default(),
        });
    }
    let gates = gates(processes.len());
    for (index, (locations, switches)) in processes.iter().enumerate() {
        let process = builder.process(&format!("p{index}"));
        let locations: Vec<LocationId> = (0..*locations)
            .map(|number| builder.named_location(process, &format!("l{index}{number}")))
            .collect();
        for plan in switches {
            let update = plan.update.iter().map(|value| Assignment {
                variable: VarId(if index == 0 { 0 } else { 2 }),
                value: value.clone(),
            });
            builder.switch(
                locations[plan.source],
                gates[plan.gate],
                plan.guard.clone(),
                update.collect(),
                locations[plan.target],
                Place::default(),
            );
        }
    }
    builder.build()
}

/// An expression for a number, or `:void`, or none at all.
fn number(parameters: Parameters) -> BoxedStrategy<Expr> {
    let mut leaves = vec![
        (0..=3i64).prop_map(Expr::int).boxed(),
        Just(Expr::Var(VarId(0))).boxed(),
        Just(Expr::Var(VarId(2))).boxed(),
        Just(Expr::Const(Value::Void)).boxed(),
    ];
    if matches!(parameters.first(), Some((_, Type::Int(_)))) {
        leaves.push(Just(Expr::Param(0)).boxed());
        leaves.push(Just(Expr::Param(0)).boxed());
    }
    let leaf = prop::strategy::Union::new(leaves);
    leaf.prop_recursive(2, 6, 2, |inner| {
        let op = prop_oneof![
            Just(BinaryOp::Add),
            Just(BinaryOp::Sub),
            Just(BinaryOp::Mul),
            Just(BinaryOp::Div),
            Just(BinaryOp::Rem),
            Just(BinaryOp::Min),
        ];
        prop_oneof![
            3 => (op, inner.clone(), inner.clone())
                .prop_map(|(op, left, right)| Expr::binary(op, left, right)),
            1 => (inner.clone(), inner.clone(), inner).prop_map(|(a, b, c)| {
                let condition = Expr::binary(BinaryOp::Eq, a, b.clone());
                Expr::If(Box::new([condition, b, c]))
            }),
        ]
    })
    .boxed()
}

fn guard(parameters: Parameters) -> BoxedStrategy<Expr> {
    let comparison = prop_oneof![
        4 => Just(BinaryOp::Eq),
        1 => Just(BinaryOp::Ne),
        1 => Just(BinaryOp::Lt),
        1 => Just(BinaryOp::Le),
        1 => Just(BinaryOp::Gt),
        1 => Just(BinaryOp::Ge),
    ];
    let colour = Expr::Const(Value::Enum(EnumId(0), 1));
    let mut atoms = vec![
        (comparison, number(parameters), number(parameters))
            .prop_map(|(op, left, right)| Expr::binary(op, left, right))
            .boxed(),
        (
            number(parameters),
            prop::collection::vec(number(parameters), 1..3),
        )
            .prop_map(|(subject, items)| Expr::InSet(Box::new(subject), items))
            .boxed(),
        (number(parameters), 0..2i64, 0..4i64)
            .prop_map(|(subject, low, high)| {
                Expr::InRange(Box::new([subject, Expr::int(low), Expr::int(high)]))
            })
            .boxed(),
        Just(Expr::binary(
            BinaryOp::Eq,
            Expr::Var(VarId(1)),
            colour.clone(),
        ))
        .boxed(),
    ];
    for (position, (_, ty)) in parameters.iter().enumerate() {
        let parameter = Expr::Param(position as u32);
        match ty {
            Type::Bool => {
                atoms.push(Just(parameter.clone()).boxed());
                atoms.push(Just(Expr::unary(UnaryOp::Not, parameter)).boxed());
            }
            Type::Enum(_) => {
                let variable = Expr::Var(VarId(1));
                for other in [variable, colour.clone()] {
                    let equal = Expr::binary(BinaryOp::Eq, parameter.clone(), other);
                    atoms.push(Just(equal).boxed());
                }
            }
            _ => {
                let void = Expr::Const(Value::Void);
                atoms.push(Just(Expr::binary(BinaryOp::Ne, parameter, void)).boxed());
            }
        }
    }
    let atom = prop::strategy::Union::new(atoms);
    let compound = atom.prop_recursive(2, 5, 2, |inner| {
        prop_oneof![
            3 => (inner.clone(), inner.clone()).prop_map(|(left, right)| Expr::and(left, right)),
            2 => (inner.clone(), inner.clone())
                .prop_map(|(left, right)| Expr::binary(BinaryOp::Or, left, right)),
            1 => inner.prop_map(|inner| Expr::unary(UnaryOp::Not, inner)),
        ]
    });
    prop_oneof![2 => Just(Expr::TRUE), 5 => compound].boxed()
}
