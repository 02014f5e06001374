//! What the text of a model says: every guard and update by ioco's reading of it, held against a
//! reader written from the book; and the model with constants, loops, macros and requirements held
//! against the same model without them.

use std::collections::BTreeMap;

use ioco_sts::{Env, Gate, LabelId, Sts, Switch, SwitchId, Type, Value};
use rand::RngExt as _;

use super::{Counts, Finding, show_state};
use crate::generate::{Dice, Draft, Edge, dice, one_in, pick, simple_values, state_name};
use crate::reference::text::{Function, Source, Update, expression, updates};
use crate::reference::{Kind, Nothing, State, Theory, Val};

/// Valuations that each edge is tried with.
const TRIES: usize = 12;
const NAME: &str = "language: guard and update";

pub fn check(draft: &Draft, sts: &Sts, seed: u64, counts: &mut Counts) -> Option<Finding> {
    if draft.sugar.is_some() {
        counts.decided("language: constants, loops and macros");
        if let Some(finding) = same_as_plain(draft, sts) {
            return Some(finding);
        }
    }
    let functions: BTreeMap<String, Function> =
        draft.functions.iter().filter_map(|f| function(f)).collect();
    let theory = Theory::new(std::sync::Arc::new(sts.clone()));
    let mut dice = dice(seed ^ 0x7e47);
    let values = simple_values(sts);
    for (number, process) in draft.processes.iter().enumerate() {
        for (index, state) in process.states.iter().enumerate() {
            let name = state_name(number, index);
            let mut switches = sts
                .switches()
                .iter()
                .enumerate()
                .filter(|(_, switch)| sts.location(switch.source).name == name);
            for edge in state.edges.iter().flat_map(Edge::expanded) {
                let Some((id, switch)) = switches.next() else {
                    return Some(Finding {
                        kind: "language: a step is missing".to_owned(),
                        detail: format!("{name}: {edge:?}"),
                    });
                };
                let asked = GuardQuestion {
                    theory: &theory,
                    sts,
                    id: SwitchId::from_index(id),
                    switch,
                    functions: &functions,
                };
                if let Some(finding) = asked.check(&edge, &values, &mut dice, counts) {
                    return Some(finding);
                }
            }
        }
    }
    None
}

/// Everything that has a meaning, without places and notes.
fn meaning(sts: &Sts) -> Vec<String> {
    let switches = sts.switches().iter().map(|s| {
        format!(
            "{} {:?} {:?} {:?} {}",
            sts.location(s.source).name,
            s.gate,
            s.enabled,
            s.update,
            sts.location(s.target).name
        )
    });
    let locations = sts
        .locations()
        .iter()
        .map(|l| format!("{} {:?}", l.name, l.timeout));
    let variables = sts
        .variables()
        .iter()
        .map(|v| format!("{} {:?}", v.name, v.initial));
    let functions = sts.functions().iter().map(|f| format!("{f:?}"));
    switches
        .chain(locations)
        .chain(variables)
        .chain(functions)
        .collect()
}

fn same_as_plain(draft: &Draft, sts: &Sts) -> Option<Finding> {
    let plain = draft.plain_text();
    let found = ioco_aml::load_text("plain.aml", &plain);
    let expected = found.sts.map(|plain| meaning(&plain));
    if expected.as_ref() == Some(&meaning(sts)) {
        return None;
    }
    Some(Finding {
        kind: "language: constants, loops and macros change the model".to_owned(),
        detail: format!("without them:\n{plain}"),
    })
}

/// `function('half', [:decimal] => :decimal) { |x| x / 2 }`.
fn function(line: &str) -> Option<(String, Function)> {
    let (name, rest) = line.strip_prefix("function('")?.split_once("', [")?;
    let (types, rest) = rest.split_once("] => ")?;
    let (result, rest) = rest.split_once(") { |")?;
    let (names, body) = rest.split_once('|')?;
    let names = names.split(',').map(|name| name.trim().to_owned());
    let parameters = names.zip(types.split(',').map(kind)).collect();
    let body = expression(body.trim_end().strip_suffix('}')?)?;
    Some((
        name.to_owned(),
        Function {
            parameters,
            result: kind(result),
            body,
        },
    ))
}

fn kind(written: &str) -> Kind {
    match written.trim() {
        ":decimal" => Kind::Decimal,
        ":integer" => Kind::Integer,
        _ => Kind::Other,
    }
}

struct GuardQuestion<'a> {
    theory: &'a Theory,
    sts: &'a Sts,
    id: SwitchId,
    switch: &'a Switch,
    functions: &'a BTreeMap<String, Function>,
}

impl GuardQuestion<'_> {
    fn label(&self) -> Option<LabelId> {
        match self.switch.gate {
            Gate::Tau => None,
            Gate::Observable(label) | Gate::Send(label) | Gate::Receive(label) => Some(label),
        }
    }

    fn check(
        &self,
        edge: &Edge,
        simple: &[Val],
        dice: &mut Dice,
        counts: &mut Counts,
    ) -> Option<Finding> {
        let finding = |kind: &str, detail: String| {
            Some(Finding {
                kind: format!("language: {kind}"),
                detail,
            })
        };
        let condition = edge.condition().unwrap_or_else(|| "true".to_owned());
        let (Some(guard), Some(changes)) = (expression(&condition), updates(&edge.updates()))
        else {
            return finding("the reference cannot read this", format!("{edge:?}"));
        };
        let parameters = self
            .label()
            .map_or(&[][..], |l| &self.sts.label(l).parameters);
        for _ in 0..TRIES {
            let state = State {
                locations: Vec::new(),
                values: self
                    .sts
                    .variables()
                    .iter()
                    .map(|v| some_value(dice, &v.ty, self.sts, simple))
                    .collect(),
            };
            let given: Vec<Val> = parameters
                .iter()
                .map(|p| some_value(dice, &p.ty, self.sts, simple))
                .collect();
            let Some(expected) = self.expected(&guard, &changes, &state, &given) else {
                counts.open(NAME);
                continue;
            };
            let found = self.found(&state, &given);
            counts.decided(NAME);
            if found != Some(expected.clone()) {
                let detail = format!(
                    "{condition} / {}\nwith {} and {given:?}\nioco: {found:?}\nreference: {expected:?}",
                    edge.updates(),
                    show_state(&state, self.sts)
                );
                return finding("a step means something else", detail);
            }
            // The rest of the reference goes by ioco's reading: it has to agree as well.
            self.theory.take_unsure();
            let taken = self.theory.values_after(&state, self.id, &given);
            if !self.theory.take_unsure() && taken != expected {
                return finding(
                    "the two halves of the reference differ",
                    format!("{condition}\n{taken:?}\n{expected:?}"),
                );
            }
        }
        None
    }

    /// The variables after the step by the text, if it can be taken; `None` where the reference does not
    /// know.
    fn expected(
        &self,
        guard: &crate::reference::text::Node,
        changes: &[Update],
        state: &State,
        given: &[Val],
    ) -> Option<Option<Vec<Val>>> {
        let types = self.sts.types();
        let variables = self.sts.variables().iter().zip(&state.values);
        let variables = variables.map(|(v, value)| {
            (
                v.name.clone(),
                (value.unordered(types), Kind::of_type(&v.ty)),
            )
        });
        let parameters = self
            .label()
            .map_or(&[][..], |l| &self.sts.label(l).parameters);
        let parameters = parameters.iter().zip(given).map(|(p, value)| {
            (
                p.name.clone(),
                (value.unordered(types), Kind::of_type(&p.ty)),
            )
        });
        let names = variables.chain(parameters).collect();
        let source = Source::new(self.sts, self.functions, names);
        match source.holds(guard) {
            Ok(true) => {}
            Ok(false) => return Some(None),
            Err(_) => return None,
        }
        let changed = match source.updated(changes) {
            Ok(changed) => changed,
            Err(Nothing::Undefined) => return Some(None),
            Err(Nothing::Unsure) => return None,
        };
        let mut after = state.values.clone();
        for (variable, value) in self.sts.variables().iter().zip(&mut after) {
            if let Some(new) = changed.get(&variable.name) {
                match new.ordered(&variable.ty, types) {
                    Some(new) => *value = new,
                    None => return Some(None),
                }
            }
        }
        Some(Some(after))
    }

    /// The same by ioco; `None` where it has no answer.
    fn found(&self, state: &State, given: &[Val]) -> Option<Option<Vec<Val>>> {
        let types = self.sts.types();
        let variables: Option<Vec<Value>> = state
            .values
            .iter()
            .zip(self.sts.variables())
            .map(|(value, v)| value.to_value(&v.ty, types))
            .collect();
        let declared = self
            .label()
            .map_or(&[][..], |l| &self.sts.label(l).parameters);
        let parameters: Option<Vec<Value>> = given
            .iter()
            .zip(declared)
            .map(|(value, p)| value.to_value(&p.ty, types))
            .collect();
        let (variables, parameters) = (variables?, parameters?);
        let env = Env {
            variables: &variables,
            parameters: &parameters,
            functions: self.sts.functions(),
        };
        if !self.switch.enabled.holds(env).unwrap_or(false) {
            return Some(None);
        }
        let mut after = state.values.clone();
        for assignment in &self.switch.update {
            let value = assignment.value.eval(env).ok()?;
            let ty = &self.sts.variable(assignment.variable).ty;
            let value = types.converted(&value, ty)?;
            after[assignment.variable.index()] = Val::of(&value);
        }
        Some(Some(after))
    }
}

fn some_value(dice: &mut Dice, ty: &Type, sts: &Sts, simple: &[Val]) -> Val {
    if one_in(dice, 12) {
        return Val::Void;
    }
    match ty {
        Type::Array(item) => {
            let count = dice.random_range(0..5);
            Val::List(
                (0..count)
                    .map(|_| some_value(dice, item, sts, simple))
                    .collect(),
            )
        }
        Type::Struct(id) if sts.types().item_of(*id).is_some() => {
            let mut one = |ty: &Type| some_value(dice, ty, sts, simple);
            let keyed = match (sts.types().entry_of(*id), sts.types().item_of(*id)) {
                (Some((key, value)), _) => {
                    Val::Hash((0..3).map(|_| (one(key), one(value))).collect())
                }
                (None, Some(item)) => Val::Set((0..3).map(|_| one(item)).collect()),
                (None, None) => Val::Void,
            };
            // Some of the items only, and never one that is unset.
            let keyed = match keyed {
                Val::Hash(pairs) => Val::Hash(
                    pairs
                        .into_iter()
                        .filter(|(key, _)| *key != Val::Void && !one_in(dice, 3))
                        .collect(),
                ),
                Val::Set(items) => Val::Set(
                    items
                        .into_iter()
                        .filter(|item| *item != Val::Void && !one_in(dice, 3))
                        .collect(),
                ),
                other => other,
            };
            keyed.ordered(ty, sts.types()).unwrap_or(Val::Void)
        }
        Type::Struct(id) => {
            let fields = &sts.types().structs[id.index()].fields;
            let fields = fields
                .iter()
                .map(|(_, ty)| some_value(dice, ty, sts, simple));
            Val::Record(id.0, fields.collect())
        }
        _ => {
            let fitting: Vec<&Val> = simple.iter().filter(|v| v.fits(ty, sts.types())).collect();
            (*pick(dice, &fitting)).clone()
        }
    }
}
