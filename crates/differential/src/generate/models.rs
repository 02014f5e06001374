//! Random drafts of models.

use rand::RngExt as _;

use super::draft::{Draft, Edge, Gate, HOLE, LabelDraft, ProcessDraft, StateDraft, Ty, VarDraft};
use super::expressions::Names;
use super::{Dice, one_in, pick};

/// Which corner of the language a model is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Flavour {
    /// No data: many states, internal steps and races.
    Plain,
    /// Small integers, booleans and enumerations: everything can be listed.
    Finite,
    /// One or two types of any kind.
    Data,
    /// Arrays with methods and blocks, and structures.
    Collections,
    /// Sets and hashes.
    Keyed,
    /// Strings that equations and regular expressions tie together.
    Texts,
    /// Several processes with hand-shakes.
    Network,
    /// The same with small types: everything can be listed.
    FiniteNetwork,
    /// Counters in internal loops that never end.
    Endless,
    /// Responses that tell how many stimuli have arrived.
    Counting,
}

impl Flavour {
    /// Several processes with hand-shakes.
    fn is_network(self) -> bool {
        matches!(self, Flavour::Network | Flavour::FiniteNetwork)
    }
}

fn types(dice: &mut Dice, flavour: Flavour) -> Vec<Ty> {
    let finite = [Ty::Bool, Ty::Small(0, 3), Ty::Small(-1, 2), Ty::Enum];
    let wide = [
        Ty::Int,
        Ty::Dec,
        Ty::Dec,
        Ty::Str,
        Ty::Str,
        Ty::Struct,
        Ty::List(Box::new(Ty::Int)),
        Ty::List(Box::new(Ty::Dec)),
        Ty::List(Box::new(Ty::Str)),
    ];
    let few = |dice: &mut Dice, from: &[Ty], most: usize| -> Vec<Ty> {
        (0..dice.random_range(1..=most))
            .map(|_| pick(dice, from).clone())
            .collect()
    };
    match flavour {
        Flavour::Plain => Vec::new(),
        Flavour::Finite | Flavour::FiniteNetwork => few(dice, &finite, 2),
        Flavour::Endless | Flavour::Counting => vec![Ty::Int],
        Flavour::Texts => {
            let mut all = vec![Ty::Str, Ty::Str];
            all.extend(few(dice, &finite, 1));
            all
        }
        Flavour::Data => {
            let mut all = few(dice, &wide, 2);
            all.extend(few(dice, &finite, 1));
            all
        }
        Flavour::Collections => {
            let list = |item: Ty| Ty::List(Box::new(item));
            let lists = [
                list(Ty::Small(0, 3)),
                list(Ty::Int),
                list(Ty::Dec),
                list(Ty::Str),
                list(Ty::Enum),
                list(Ty::Struct),
                Ty::Struct,
            ];
            let collections = few(dice, &lists, 2);
            with_parts(collections, few(dice, &finite, 1))
        }
        Flavour::Keyed => {
            let set = |item: Ty| Ty::Set(Box::new(item));
            let hash = |key: Ty, value: Ty| Ty::Hash(Box::new(key), Box::new(value));
            let keyed = [
                set(Ty::Small(0, 3)),
                set(Ty::Int),
                set(Ty::Dec),
                set(Ty::Str),
                set(Ty::Enum),
                hash(Ty::Small(0, 3), Ty::Str),
                hash(Ty::Int, Ty::Dec),
                hash(Ty::Str, Ty::Int),
                hash(Ty::Enum, Ty::Small(0, 3)),
                hash(Ty::Str, Ty::Enum),
            ];
            let mut collections = few(dice, &keyed, 2);
            if let Some(Ty::Set(item)) = collections.first()
                && one_in(dice, 3)
            {
                let list = Ty::List(item.clone());
                collections.push(list);
            }
            with_parts(collections, few(dice, &finite, 1))
        }
        Flavour::Network => {
            let mut all = few(dice, &finite, 1);
            all.extend(few(dice, &wide, 1));
            all
        }
    }
}

/// Collections with what their blocks read around them, and others.
fn with_parts(mut all: Vec<Ty>, others: Vec<Ty>) -> Vec<Ty> {
    let parts: Vec<Ty> = all.iter().flat_map(Ty::parts).cloned().collect();
    all.extend(parts);
    all.extend(others);
    all
}

/// The labels of models that count.
const PUSH: &str = "push";
const COUNT: &str = "count";

/// A random model.
pub fn draft(dice: &mut Dice, flavour: Flavour) -> Draft {
    let types = types(dice, flavour);
    let uses = |wanted: &Ty| {
        let is_part = |ty: &Ty| ty.parts().contains(&wanted);
        types.contains(wanted) || types.iter().any(is_part)
    };
    let pair = uses(&Ty::Struct).then(|| {
        let fields = [Ty::Int, Ty::Dec, Ty::Str, Ty::Small(0, 2)];
        (pick(dice, &fields).clone(), pick(dice, &fields).clone())
    });
    let mut functions = Vec::new();
    if !types.is_empty() && one_in(dice, 3) {
        functions.push("function('half', [:decimal] => :decimal) { |x| x / 2 }".to_owned());
        functions.push(
            "function('clip', [:integer, :integer] => :integer) { |x, y| if x > y then y else x }"
                .to_owned(),
        );
    }
    let processes = match flavour {
        _ if flavour.is_network() => dice.random_range(2..4),
        Flavour::Counting => 1,
        Flavour::Plain => dice.random_range(1..3),
        _ => 1 + usize::from(one_in(dice, 6)),
    };
    let mut draft = Draft {
        timeout: *pick(dice, &[500, 100, 2000]),
        with_enum: uses(&Ty::Enum),
        pair,
        functions,
        labels: labels(dice, flavour, processes, &types),
        processes: Vec::new(),
        sugar: one_in(dice, 4).then(|| dice.random_range(0..1_000_000)),
    };
    for number in 0..processes {
        let process = process(dice, flavour, &draft, number, processes, &types);
        draft.processes.push(process);
    }
    draft
}

fn labels(dice: &mut Dice, flavour: Flavour, processes: usize, types: &[Ty]) -> Vec<LabelDraft> {
    let mut labels = Vec::new();
    let mut add =
        |dice: &mut Dice, name: String, response: bool, wire_from: Option<usize>, most: u32| {
            let count = match types.is_empty() {
                true => 0,
                // Strings can be tied together only where there are some.
                false if flavour == Flavour::Texts && wire_from.is_none() => most,
                false => dice.random_range(0..=most),
            };
            let parameters = (0..count)
                .map(|at| {
                    (
                        format!("p{}{at}", name.replace('_', "")),
                        pick(dice, types).clone(),
                    )
                })
                .collect();
            labels.push(LabelDraft {
                name,
                wire_from,
                response,
                parameters,
            });
        };
    for number in 0..dice.random_range(1..3) {
        add(dice, format!("a{number}"), false, None, 2);
    }
    for number in 0..dice.random_range(1..4) {
        add(dice, format!("r{number}"), true, None, 2);
    }
    if flavour == Flavour::Counting {
        labels.push(LabelDraft {
            name: PUSH.to_owned(),
            wire_from: None,
            response: false,
            parameters: Vec::new(),
        });
        labels.push(LabelDraft {
            name: COUNT.to_owned(),
            wire_from: None,
            response: true,
            parameters: vec![("pcount".to_owned(), Ty::Int)],
        });
    } else if processes > 1 && flavour != Flavour::Plain {
        for number in 0..dice.random_range(1..3) {
            let sender = dice.random_range(0..processes);
            add(dice, format!("w{number}"), true, Some(sender), 1);
        }
    }
    labels
}

fn process(
    dice: &mut Dice,
    flavour: Flavour,
    draft: &Draft,
    number: usize,
    processes: usize,
    types: &[Ty],
) -> ProcessDraft {
    let names = Names {
        variables: &[],
        parameters: &[],
        pair: draft.pair.as_ref(),
        functions: !draft.functions.is_empty(),
    };
    let mut variables = Vec::new();
    let most = if processes > 2 { 1 } else { 2 };
    let count = match flavour {
        Flavour::Plain => 0,
        Flavour::Endless | Flavour::Counting => 1,
        _ => dice.random_range(0..=most),
    };
    for at in 0..count {
        let ty = pick(dice, types).clone();
        let initial = (!one_in(dice, 6) && ty != Ty::Struct).then(|| names.constant(dice, &ty));
        let initial = match &ty {
            Ty::List(_) => initial.map(|_| "[]".to_owned()),
            Ty::Set(item) if item.is_integer() => {
                initial.map(|_| pick(dice, &["[]", "[1]", "[2, 0, 2]"]).to_string())
            }
            Ty::Set(_) => initial.map(|_| "[]".to_owned()),
            Ty::Hash(..) => initial.map(|_| "{}".to_owned()),
            _ if flavour == Flavour::Endless || flavour == Flavour::Counting => {
                Some("0".to_owned())
            }
            _ => initial,
        };
        variables.push(VarDraft {
            name: format!("v{number}{at}"),
            ty,
            initial,
        });
    }
    let states = dice.random_range(2..if processes > 1 { 4 } else { 5 });
    let mut process = ProcessDraft {
        variables,
        states: Vec::new(),
    };
    for _ in 0..states {
        let timeout = one_in(dice, 6).then(|| *pick(dice, &[20, 300, 4000]));
        let edges = (0..dice.random_range(0..4))
            .map(|_| edge(dice, flavour, draft, number, &process.variables, states))
            .collect();
        process.states.push(StateDraft { timeout, edges });
    }
    match flavour {
        Flavour::Endless => endless(dice, draft, &mut process),
        Flavour::Counting => counting(dice, draft, &mut process),
        _ => {}
    }
    process
}

/// A state that counts stimuli, and responses that tell how many there were.
fn counting(dice: &mut Dice, draft: &Draft, process: &mut ProcessDraft) {
    let name = process.variables[0].name.clone();
    let last = process.states.len();
    let at = match one_in(dice, 2) {
        true => 0,
        false => dice.random_range(0..last),
    };
    let label = |name: &str| draft.labels.iter().position(|label| label.name == name);
    let (Some(push), Some(count)) = (label(PUSH), label(COUNT)) else {
        return;
    };
    let mut edges = vec![Edge {
        gate: Gate::Receive(push),
        guard: Vec::new(),
        update: vec![(name.clone(), format!("{name} + 1"))],
        target: at,
        each: None,
    }];
    let told = *pick(dice, &["==", "==", "==", "<="]);
    let after = *pick(dice, &["", "", "0", "- 1"]);
    edges.push(Edge {
        gate: Gate::Send(count),
        guard: vec![
            format!("pcount {told} {name}"),
            "pcount > 0".to_owned(),
            format!("{name} > 0"),
        ],
        update: match after {
            "" => Vec::new(),
            "0" => vec![(name.clone(), "0".to_owned())],
            less => vec![(name.clone(), format!("{name} {less}"))],
        },
        target: match one_in(dice, 3) {
            true => dice.random_range(0..last),
            false => at,
        },
        each: None,
    });
    process.states[at].edges.truncate(2);
    process.states[at].edges.extend(edges);
}

/// A loop that counts, and a choice behind it that depends on the count.
fn endless(dice: &mut Dice, draft: &Draft, process: &mut ProcessDraft) {
    let name = process.variables[0].name.clone();
    let last = process.states.len();
    let at = dice.random_range(0..last);
    process.states[at].edges.push(Edge {
        gate: Gate::Tau,
        guard: Vec::new(),
        update: vec![(name.clone(), format!("{name} + 1"))],
        target: at,
        each: None,
    });
    let responses: Vec<usize> = (0..draft.labels.len())
        .filter(|l| draft.labels[*l].response && draft.labels[*l].wire_from.is_none())
        .collect();
    // Within what ioco follows, at its limit, and beyond it.
    let far = *pick(dice, &["3", "12", "25", "32"]);
    let send = |label: usize, comparison: &str, target: usize| Edge {
        gate: Gate::Send(label),
        guard: vec![format!("{name} {comparison} {far}")],
        update: Vec::new(),
        target,
        each: None,
    };
    process.states[at].edges.push(Edge {
        gate: Gate::Send(*pick(dice, &responses)),
        guard: Vec::new(),
        update: Vec::new(),
        target: last,
        each: None,
    });
    let edges = vec![
        send(*pick(dice, &responses), "<", at),
        send(*pick(dice, &responses), ">=", last),
    ];
    process.states.push(StateDraft {
        timeout: None,
        edges,
    });
}

fn edge(
    dice: &mut Dice,
    flavour: Flavour,
    draft: &Draft,
    number: usize,
    variables: &[VarDraft],
    states: usize,
) -> Edge {
    let wires: Vec<usize> = (0..draft.labels.len())
        .filter(|l| draft.labels[*l].wire_from.is_some())
        .collect();
    let of = |response: bool| -> Vec<usize> {
        (0..draft.labels.len())
            .filter(|l| {
                draft.labels[*l].wire_from.is_none() && draft.labels[*l].response == response
            })
            .collect()
    };
    let chance = dice.random_range(0..20);
    let gate = match chance {
        0..2 => Gate::Tau,
        _ if chance < 7 && !wires.is_empty() => {
            let wire = *pick(dice, &wires);
            match draft.labels[wire].wire_from == Some(number) {
                true => Gate::Send(wire),
                false => Gate::Receive(wire),
            }
        }
        _ if chance < 10 => Gate::Receive(*pick(dice, &of(false))),
        _ => Gate::Send(*pick(dice, &of(true))),
    };
    let label = match gate {
        Gate::Tau => None,
        Gate::Receive(label) | Gate::Send(label) => Some(&draft.labels[label]),
    };
    let none = Vec::new();
    let names = Names {
        variables,
        parameters: label.map_or(&none, |label| &label.parameters),
        pair: draft.pair.as_ref(),
        functions: !draft.functions.is_empty(),
    };
    let is_wire = label.is_some_and(|label| label.wire_from.is_some());
    let mut guard = Vec::new();
    for (name, ty) in names.parameters {
        if is_wire {
            guard.extend(hand_shake(dice, &names, gate, name, ty));
        } else if !one_in(dice, 4) {
            guard.push(names.about(dice, name, ty));
            if one_in(dice, 4) {
                guard.push(names.about(dice, name, ty));
            }
        }
    }
    if flavour == Flavour::Texts && !is_wire && !one_in(dice, 3) {
        guard.extend(names.texts_together(dice));
    }
    if one_in(dice, 4) {
        guard.extend(names.condition(dice));
    }
    let mut each = None;
    if !is_wire && one_in(dice, 8) {
        let parameters = names.parameters.iter();
        let variables = variables.iter().map(|v| (&v.name, &v.ty));
        let mut integers = parameters.map(|(name, ty)| (name, ty)).chain(variables);
        if let Some((name, _)) = integers.find(|(_, ty)| ty.is_integer()) {
            guard.push(format!("{name} == {HOLE}"));
            let low = dice.random_range(0..2);
            each = Some((low, low + dice.random_range(0..3)));
        }
    }
    let mut update = Vec::new();
    let internal = gate == Gate::Tau || is_wire;
    for variable in variables {
        if one_in(dice, 2) {
            let grows = !internal && flavour != Flavour::Endless;
            if one_in(dice, 4)
                && let Some(part) = names.assigned_part(dice, variable, grows)
            {
                update.push(part);
                continue;
            }
            let value = names.assigned(dice, variable, grows);
            // What a hand-shake carries may be added to a bounded variable only, so that internal
            // loops end.
            update.push((variable.name.clone(), value));
        }
    }
    Edge {
        gate,
        guard,
        update,
        target: dice.random_range(0..states),
        each,
    }
}

/// A condition on what a hand-shake carries. The sender's leaves finitely many values.
fn hand_shake(
    dice: &mut Dice,
    names: &Names<'_>,
    gate: Gate,
    name: &str,
    ty: &Ty,
) -> Option<String> {
    if matches!(gate, Gate::Receive(_)) {
        return (!one_in(dice, 3)).then(|| names.about(dice, name, ty));
    }
    let term = names.term(dice, ty);
    let constant = names.constant(dice, ty);
    Some(match (ty, dice.random_range(0..6)) {
        (Ty::Small(..) | Ty::Int, 0) => format!("{name} in 1..3"),
        (Ty::Small(..) | Ty::Int, 1) => format!("{name} > 0 && {name} < 3"),
        (Ty::Small(..) | Ty::Int | Ty::Dec, 2) => format!("{name} - 1 == {term}"),
        (Ty::Struct, _) => {
            let (one, two) = names.pair?;
            let (one, two) = (names.constant(dice, one), names.constant(dice, two));
            match one_in(dice, 2) {
                true => format!("{name}.one == {one} && {name}.two == {two}"),
                false => format!("{name} == Pair(one: {one}, two: {two})"),
            }
        }
        (_, 3) => format!("{name} == {term} || {name} == {constant}"),
        (Ty::Set(_) | Ty::Hash(..), 4) => format!("{name} == {constant}"),
        (_, 4) => format!("{name} in [{term}, {constant}]"),
        _ => format!("{name} == {term}"),
    })
}

/// The model with one thing changed: for comparing two models, and for systems with a fault.
pub fn mutated(dice: &mut Dice, draft: &Draft, flavour: Flavour) -> Draft {
    let mut other = draft.clone();
    for _ in 0..dice.random_range(1..3) {
        let number = dice.random_range(0..other.processes.len());
        let states = other.processes[number].states.len();
        let at = dice.random_range(0..states);
        let variables = other.processes[number].variables.clone();
        let fresh = edge(dice, flavour, &other, number, &variables, states);
        let edges = &mut other.processes[number].states[at].edges;
        match dice.random_range(0..4) {
            0 => edges.push(fresh),
            _ if edges.is_empty() => {}
            1 => {
                let which = dice.random_range(0..edges.len());
                edges.remove(which);
            }
            2 => {
                let which = dice.random_range(0..edges.len());
                edges[which].target = fresh.target;
            }
            _ => {
                let which = dice.random_range(0..edges.len());
                if edges[which].gate == fresh.gate {
                    edges[which] = fresh;
                } else {
                    edges[which].guard.pop();
                }
            }
        }
    }
    other
}
