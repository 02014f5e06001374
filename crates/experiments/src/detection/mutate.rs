//! Mutation operators on transition systems: one small fault in a model, which an interpreter then plays as a system.
//!
//! The operators are those of the literature on model-based mutation testing (Fabbri et al. 1994 for finite
//! machines, Aichernig et al. 2015 for models with data). A mutant is named by its number, so that a row of a table can
//! be run again.

use std::collections::BTreeSet;

use ioco_sts::{
    Assignment, BinaryOp, Direction, Expr, Gate, LabelId, LocationId, Sts, StsBuilder, Switch,
    SwitchId, Type, UnaryOp, Value, VarId, Variable,
};

use crate::random::Choices;

/// What is wrong with a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operator {
    Lost,
    Added,
    Redirected,
    WrongOutput,
    WrongValue,
    OffByOne,
    LostUpdate,
    SwappedGuard,
    MissingReset,
    Explosion,
}

impl Operator {
    pub const ALL: [Operator; 10] = [
        Operator::Lost,
        Operator::Added,
        Operator::Redirected,
        Operator::WrongOutput,
        Operator::WrongValue,
        Operator::OffByOne,
        Operator::LostUpdate,
        Operator::SwappedGuard,
        Operator::MissingReset,
        Operator::Explosion,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Operator::Lost => "lost switch",
            Operator::Added => "added switch",
            Operator::Redirected => "redirected switch",
            Operator::WrongOutput => "wrong output",
            Operator::WrongValue => "wrong value",
            Operator::OffByOne => "off by one",
            Operator::LostUpdate => "lost update",
            Operator::SwappedGuard => "swapped guard",
            Operator::MissingReset => "missing reset",
            Operator::Explosion => "fault after k repetitions",
        }
    }
}

/// A model with one fault.
pub struct Mutant {
    pub number: u64,
    pub operator: Operator,
    pub sts: Sts,
}

/// Attempts per mutant that is asked for, before the model has no more places for faults.
const ATTEMPTS: u64 = 30;

/// So many different mutants, as far as the model has places for them; operators take turns.
pub fn mutants(sts: &Sts, first: u64, count: usize) -> Vec<Mutant> {
    let mut found = Vec::new();
    let mut known: BTreeSet<String> = BTreeSet::new();
    for number in first..first + ATTEMPTS * count as u64 {
        if found.len() == count {
            break;
        }
        let operator = Operator::ALL[((number - first) % 10) as usize];
        let mut choices = Choices::new(number.wrapping_mul(0x2545_f491_4f6c_dd1d));
        let Some(change) = change(sts, operator, &mut choices) else {
            continue;
        };
        if known.insert(format!("{change:?}")) {
            let sts = change.apply(sts);
            found.push(Mutant {
                number,
                operator,
                sts,
            });
        }
    }
    found
}

/// The model without this switch.
pub(crate) fn without_response(sts: &Sts, victim: SwitchId) -> Sts {
    let change = Change {
        victim,
        instead: Vec::new(),
        also: None,
        added: None,
        counts: false,
    };
    change.apply(sts)
}

/// What differs from the model.
#[derive(Debug)]
struct Change {
    /// Switches that take the place of this one.
    victim: SwitchId,
    instead: Vec<Part>,
    /// A second switch that changes.
    also: Option<(SwitchId, Part)>,
    /// A switch that is added.
    added: Option<Part>,
    /// A counter is added to the variables, of the process of the victim.
    counts: bool,
}

/// A switch without what the builder computes.
#[derive(Clone, Debug, PartialEq)]
struct Part {
    source: LocationId,
    gate: Gate,
    guard: Expr,
    update: Vec<Assignment>,
    target: LocationId,
}

impl From<&Switch> for Part {
    fn from(switch: &Switch) -> Part {
        Part {
            source: switch.source,
            gate: switch.gate,
            guard: switch.guard.clone(),
            update: switch.update.clone(),
            target: switch.target,
        }
    }
}

impl Change {
    fn apply(&self, sts: &Sts) -> Sts {
        let mut builder = StsBuilder::new(sts.name());
        builder.timeout(sts.timeout());
        *builder.types() = sts.types().clone();
        for function in sts.functions() {
            builder.function(function.clone());
        }
        for label in sts.labels() {
            builder.label(label.clone());
        }
        for process in sts.processes() {
            let id = builder.process(&process.name);
            builder.initial(id, process.initial);
        }
        for location in sts.locations() {
            builder.location(location.clone());
        }
        for variable in sts.variables() {
            builder.variable(variable.clone());
        }
        if self.counts {
            let process = sts.location(sts.switch(self.victim).source).process;
            builder.variable(Variable {
                name: "repetitions".to_owned(),
                process,
                ty: Type::INTEGER,
                initial: Value::Int(0),
                place: sts.switch(self.victim).place,
            });
        }
        for index in 0..sts.labels().len() {
            let label = LabelId::from_index(index);
            for process in sts.participants(label) {
                builder.participant(label, *process);
            }
        }
        let mut add = |part: Part, place| {
            let Part {
                source,
                gate,
                guard,
                update,
                target,
            } = part;
            builder.switch(source, gate, guard, update, target, place);
        };
        for (index, switch) in sts.switches().iter().enumerate() {
            if index == self.victim.index() {
                for part in &self.instead {
                    add(part.clone(), switch.place);
                }
            } else if let Some((other, part)) = &self.also
                && index == other.index()
            {
                add(part.clone(), switch.place);
            } else {
                add(Part::from(switch), switch.place);
            }
        }
        if let Some(part) = &self.added {
            add(part.clone(), sts.switch(self.victim).place);
        }
        builder.build()
    }
}

/// A fault of this kind at a random place; `None` where the place is not one for it.
fn change(sts: &Sts, operator: Operator, choices: &mut Choices) -> Option<Change> {
    let victim = SwitchId::from_index(choices.below(sts.switches().len()));
    let part = Part::from(sts.switch(victim));
    let (mut added, mut counts) = (None, false);
    let instead = match operator {
        Operator::Lost => lost(sts, &part),
        Operator::Added => {
            added = Some(relocated(sts, &part, choices)?);
            vec![part.clone()]
        }
        Operator::Redirected => vec![Part {
            target: other_location(sts, part.target, choices)?,
            ..part.clone()
        }],
        Operator::WrongOutput => vec![wrong_output(sts, &part, choices)?],
        Operator::WrongValue => vec![wrong_value(sts, &part, choices)?],
        Operator::OffByOne => vec![off_by_one(&part, choices)?],
        Operator::LostUpdate | Operator::MissingReset => {
            let resets = operator == Operator::MissingReset;
            vec![without_update(&part, resets, choices)?]
        }
        Operator::SwappedGuard => return swapped(sts, victim, choices),
        Operator::Explosion => {
            counts = true;
            repeated(sts, &part, choices)?
        }
    };
    let changed = added.is_some() || instead != [part];
    changed.then_some(Change {
        victim,
        instead,
        also: None,
        added,
        counts,
    })
}

fn direction(sts: &Sts, gate: Gate) -> Option<Direction> {
    match gate {
        Gate::Observable(label) => Some(sts.label(label).direction),
        Gate::Tau | Gate::Send(_) | Gate::Receive(_) => None,
    }
}

/// A stimulus that is lost changes nothing; a response that is lost does not come.
fn lost(sts: &Sts, part: &Part) -> Vec<Part> {
    if direction(sts, part.gate) != Some(Direction::Stimulus) {
        return Vec::new();
    }
    vec![Part {
        update: Vec::new(),
        target: part.source,
        ..part.clone()
    }]
}

/// The same switch at another location of its process.
fn relocated(sts: &Sts, part: &Part, choices: &mut Choices) -> Option<Part> {
    direction(sts, part.gate)?;
    Some(Part {
        source: other_location(sts, part.source, choices)?,
        ..part.clone()
    })
}

fn other_location(sts: &Sts, from: LocationId, choices: &mut Choices) -> Option<LocationId> {
    let process = sts.location(from).process;
    let all = (0..sts.locations().len()).map(LocationId::from_index);
    let others: Vec<LocationId> = all
        .filter(|id| *id != from && sts.location(*id).process == process)
        .collect();
    (!others.is_empty()).then(|| others[choices.below(others.len())])
}

/// Another response; its values follow from the old condition where the parameters have the same types.
fn wrong_output(sts: &Sts, part: &Part, choices: &mut Choices) -> Option<Part> {
    let Gate::Observable(own) = part.gate else {
        return None;
    };
    let responses: Vec<LabelId> = sts
        .labels_of(Direction::Response)
        .filter(|label| *label != own)
        .collect();
    if sts.label(own).direction != Direction::Response || responses.is_empty() {
        return None;
    }
    let label = responses[choices.below(responses.len())];
    let types = |label: LabelId| -> Vec<&Type> {
        let parameters = sts.label(label).parameters.iter();
        parameters.map(|parameter| &parameter.ty).collect()
    };
    let alike = types(label) == types(own);
    let mentions = part.update.iter().any(|a| a.value.mentions_params());
    if mentions && !alike {
        return None;
    }
    Some(Part {
        gate: Gate::Observable(label),
        guard: match alike || !part.guard.mentions_params() {
            true => part.guard.clone(),
            false => Expr::TRUE,
        },
        ..part.clone()
    })
}

/// A response whose value is one more, or is that of another variable; a boolean or an update that is wrong.
fn wrong_value(sts: &Sts, part: &Part, choices: &mut Choices) -> Option<Part> {
    let mut changed = part.clone();
    let places = |expr: &Expr| {
        let mut count = 0;
        expr.walk(&mut |e| count += usize::from(replacements(sts, e).next().is_some()));
        count
    };
    let in_guard = match direction(sts, part.gate) {
        Some(Direction::Response) => places(&part.guard),
        _ => 0,
    };
    let in_updates: usize = part.update.iter().map(|a| places(&a.value)).sum();
    if in_guard + in_updates == 0 {
        return None;
    }
    let mut place = choices.below(in_guard + in_updates);
    let pick = choices.below(64);
    if place < in_guard {
        changed.guard = replaced(sts, &part.guard, &mut place, pick);
        return Some(changed);
    }
    place -= in_guard;
    for assignment in &mut changed.update {
        let here = places(&assignment.value);
        if place < here {
            assignment.value = replaced(sts, &assignment.value, &mut place, pick);
            return Some(changed);
        }
        place -= here;
    }
    None
}

/// What an expression may be mistaken for: another variable of its type, or a number one off.
fn replacements<'a>(sts: &'a Sts, expr: &'a Expr) -> Box<dyn Iterator<Item = Expr> + 'a> {
    match expr {
        Expr::Var(id) => {
            let ty = &sts.variable(*id).ty;
            let all = (0..sts.variables().len()).map(VarId::from_index);
            let same = all.filter(move |other| other != id && sts.variable(*other).ty == *ty);
            let number = ty.int_range().is_some();
            let more = Expr::binary(BinaryOp::Add, expr.clone(), Expr::int(1));
            Box::new(same.map(Expr::Var).chain(number.then_some(more)))
        }
        Expr::Const(Value::Int(value)) => Box::new(
            [value.saturating_add(1), value.saturating_sub(1)]
                .map(Expr::int)
                .into_iter(),
        ),
        Expr::Const(Value::Bool(value)) => {
            Box::new(std::iter::once(Expr::Const(Value::Bool(!value))))
        }
        Expr::Const(Value::Enum(id, member)) => {
            let members = sts.types().enums[id.index()].members.len() as u32;
            let others = (0..members).filter(move |other| other != member);
            Box::new(others.map(|other| Expr::Const(Value::Enum(*id, other))))
        }
        _ => Box::new(std::iter::empty()),
    }
}

/// The expression with a replacement at the place of this number; `place` counts down.
fn replaced(sts: &Sts, expr: &Expr, place: &mut usize, pick: usize) -> Expr {
    let own: Vec<Expr> = replacements(sts, expr).collect();
    if !own.is_empty() {
        if *place == 0 {
            *place = usize::MAX;
            return own[pick % own.len()].clone();
        }
        *place = place.saturating_sub(usize::from(*place != usize::MAX));
        return expr.clone();
    }
    expr.map_children(|child| replaced(sts, child, place, pick))
}

/// A limit that is one off, or a comparison that includes its limit or not.
fn off_by_one(part: &Part, choices: &mut Choices) -> Option<Part> {
    let mut places = 0;
    part.guard
        .walk(&mut |e| places += usize::from(limit(e, true).is_some()));
    if places == 0 {
        return None;
    }
    let mut place = choices.below(places);
    let up = choices.below(2) == 0;
    Some(Part {
        guard: moved(&part.guard, &mut place, up),
        ..part.clone()
    })
}

fn limit(expr: &Expr, up: bool) -> Option<Expr> {
    let Expr::Binary(op, both) = expr else {
        if let Expr::InRange(all) = expr {
            let [subject, low, high] = &**all;
            let by = Expr::int(if up { 1 } else { -1 });
            let high = Expr::binary(BinaryOp::Add, high.clone(), by);
            return Some(Expr::InRange(Box::new([
                subject.clone(),
                low.clone(),
                high,
            ])));
        }
        return None;
    };
    let other = match op {
        BinaryOp::Lt => BinaryOp::Le,
        BinaryOp::Le => BinaryOp::Lt,
        BinaryOp::Gt => BinaryOp::Ge,
        BinaryOp::Ge => BinaryOp::Gt,
        BinaryOp::Eq if matches!(both[1], Expr::Const(Value::Int(_))) => {
            let by = Expr::int(if up { 1 } else { -1 });
            let right = Expr::binary(BinaryOp::Add, both[1].clone(), by);
            return Some(Expr::binary(*op, both[0].clone(), right));
        }
        _ => return None,
    };
    Some(Expr::binary(other, both[0].clone(), both[1].clone()))
}

fn moved(expr: &Expr, place: &mut usize, up: bool) -> Expr {
    if let Some(other) = limit(expr, up) {
        if *place == 0 {
            *place = usize::MAX;
            return other;
        }
        *place = place.saturating_sub(usize::from(*place != usize::MAX));
    }
    expr.map_children(|child| moved(child, place, up))
}

/// One assignment is forgotten: of those that set a variable to a constant (`resets`), or of the others.
fn without_update(part: &Part, resets: bool, choices: &mut Choices) -> Option<Part> {
    let fits = |index: &usize| {
        let value = &part.update[*index].value;
        (value.vars().is_empty() && !value.mentions_params()) == resets
    };
    let places: Vec<usize> = (0..part.update.len()).filter(fits).collect();
    if places.is_empty() {
        return None;
    }
    let mut changed = part.clone();
    changed.update.remove(places[choices.below(places.len())]);
    Some(changed)
}

/// Two switches of one label and location swap their guards; a lone guard is negated.
fn swapped(sts: &Sts, victim: SwitchId, choices: &mut Choices) -> Option<Change> {
    let switch = sts.switch(victim);
    if switch.guard == Expr::TRUE {
        return None;
    }
    let alike = |id: &&SwitchId| {
        let other = sts.switch(**id);
        **id != victim && other.gate == switch.gate && other.guard != switch.guard
    };
    let others: Vec<SwitchId> = sts
        .outgoing(switch.source)
        .iter()
        .filter(alike)
        .copied()
        .collect();
    let with_guard = |switch: &Switch, guard: Expr| Part {
        guard,
        ..Part::from(switch)
    };
    let (guard, also) = match others.is_empty() {
        true => (Expr::unary(UnaryOp::Not, switch.guard.clone()), None),
        false => {
            let id = others[choices.below(others.len())];
            let other = sts.switch(id);
            let also = (id, with_guard(other, switch.guard.clone()));
            (other.guard.clone(), Some(also))
        }
    };
    Some(Change {
        victim,
        instead: vec![with_guard(switch, guard)],
        also,
        added: None,
        counts: false,
    })
}

/// After `k` times the switch forgets its update, or leads nowhere.
fn repeated(sts: &Sts, part: &Part, choices: &mut Choices) -> Option<Vec<Part>> {
    direction(sts, part.gate)?;
    let times = Expr::int(2 + choices.below(4) as i64);
    let counter = VarId::from_index(sts.variables().len());
    let count = |op| Expr::binary(op, Expr::Var(counter), times.clone());
    let mut right = part.clone();
    right.guard = Expr::and(part.guard.clone(), count(BinaryOp::Lt));
    right.update.push(Assignment {
        variable: counter,
        value: Expr::binary(BinaryOp::Add, Expr::Var(counter), Expr::int(1)),
    });
    let mut wrong = part.clone();
    wrong.guard = Expr::and(part.guard.clone(), count(BinaryOp::Ge));
    if part.update.is_empty() {
        wrong.target = other_location(sts, part.target, choices)?;
    } else {
        wrong.update.clear();
    }
    Some(vec![right, wrong])
}
