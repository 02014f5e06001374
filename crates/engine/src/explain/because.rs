//! The reasons behind a deviation, in sentences: which states, which switches leave them, and
//! which condition with which values is violated.

use std::sync::Arc;

use ioco_sts::{
    Action, Answer, BinaryOp, Demanded, Deviation, Direction, Env, Expr, Gate, LabelId, Observed,
    Semantics, SetId, State, Sts, Subject, SwitchId, Value, show_expr,
};

/// More states than this are counted, not listed.
const MAX_STATES: usize = 3;
/// More lines than this say "and so on".
const MAX_LINES: usize = 8;

#[derive(Default)]
pub(super) struct Reasons {
    pub allowed: Vec<String>,
    pub because: Vec<String>,
    /// The switches that the reasons speak of most.
    pub switches: Vec<SwitchId>,
    /// The switches that the system could have taken instead: what they are required for is touched too.
    pub due: Vec<SwitchId>,
}

/// What the system may do in a state set: responses with the values that they may have, and
/// silence. Empty where it must not rest and yet has nothing to send.
pub fn allowed_in(semantics: &mut Semantics, set: SetId) -> Vec<String> {
    let sts = Arc::clone(semantics.sts());
    let menu = semantics.menu(set);
    let states = Arc::clone(semantics.set(set));
    let mut shown_once: Vec<String> = Vec::new();
    for offer in &menu.responses {
        for offered in &offer.switches {
            let state = &states.states[offered.state as usize];
            let mut shown = allowed(&sts, offered.switch, state);
            if offered.feasible == Answer::Unknown {
                shown.push_str(" (perhaps)");
            }
            if !shown_once.contains(&shown) {
                shown_once.push(shown);
            }
        }
    }
    if menu.silence {
        shown_once.push("silence".to_owned());
    }
    shown_once
}

/// The switches of the responses that the system may send in a state set.
fn due_in(semantics: &mut Semantics, set: SetId) -> Vec<SwitchId> {
    let menu = semantics.menu(set);
    let offers = menu.responses.iter().flat_map(|offer| &offer.switches);
    offers.map(|offered| offered.switch).collect()
}

impl Reasons {
    /// `after` is the number of the last step before the deviation.
    pub fn of(semantics: &mut Semantics, deviation: &Deviation, after: usize) -> Reasons {
        let sts = Arc::clone(semantics.sts());
        let set = semantics.id_of(&deviation.states);
        let states = &deviation.states.states;
        let mut reasons = Reasons {
            allowed: allowed_in(semantics, set),
            due: due_in(semantics, set),
            ..Reasons::default()
        };
        if reasons.allowed.is_empty() {
            reasons.allowed.push(
                "nothing: the model allows no response here, and no silence either".to_owned(),
            );
        }
        reasons.because.push(where_we_are(&sts, states, after));
        match &deviation.observed {
            Observed::Silence(_) => {
                let many = states.len() > 1;
                reasons.because.push(must_speak(&reasons.allowed, many));
            }
            Observed::Response(action) => reasons.refusals(&sts, states, action),
            Observed::Unknown(text) => reasons.because.push(unknown(&sts, text)),
            // No model has anything to say about it.
            Observed::End(_) => {}
        }
        reasons
    }

    /// Why each switch with this label that leaves one of the states could not be taken.
    fn refusals(&mut self, sts: &Sts, states: &[State], action: &Action) {
        let mut lines: Vec<String> = Vec::new();
        for state in states {
            for location in &state.locations {
                for &id in sts.outgoing(*location) {
                    if sts.switch(id).gate == Gate::Observable(action.label) {
                        self.switches.push(id);
                        let line = refusal(sts, id, state, action);
                        if !lines.contains(&line) {
                            lines.push(line);
                        }
                    }
                }
            }
        }
        if lines.is_empty() {
            let label = sts.label(action.label).marked_name();
            let what = if states.len() == 1 {
                "it"
            } else {
                "any of them"
            };
            lines.push(format!("no switch with {label} leaves {what}"));
        }
        if lines.len() > MAX_LINES {
            let more = lines.len() - MAX_LINES;
            lines.truncate(MAX_LINES);
            lines.push(format!("and {more} more that do not hold"));
        }
        self.because.extend(lines);
    }
}

fn where_we_are(sts: &Sts, states: &[State], after: usize) -> String {
    let when = match after {
        0 => "before the first step".to_owned(),
        step => format!("after step {step}"),
    };
    let shown: Vec<String> = states
        .iter()
        .take(MAX_STATES)
        .map(|state| state.title(sts))
        .collect();
    match states.len() {
        1 => format!("{when} the only state is {}", shown[0]),
        count if count <= MAX_STATES => {
            format!(
                "{when} the model may be in {count} states: {}",
                shown.join("; ")
            )
        }
        count => format!(
            "{when} the model may be in {count} states, among them {}",
            shown.join("; ")
        ),
    }
}

fn must_speak(allowed: &[String], many: bool) -> String {
    let it = if many { "each of them" } else { "it" };
    match allowed {
        [only] => format!("only {only} leaves {it}"),
        several => format!("{it} must send one of {}", several.join(", ")),
    }
}

fn unknown(sts: &Sts, text: &str) -> String {
    let name = text.split('(').next().unwrap_or_default();
    let name = name.trim().trim_start_matches('!');
    match sts.label_named(Direction::Response, name) {
        Some(id) => {
            let label = sts.label(id);
            let parameters: Vec<String> = label
                .parameters
                .iter()
                .map(|p| format!("{}: {}", p.name, sts.types().type_name(&p.ty)))
                .collect();
            match parameters.len() {
                0 => format!("!{name} has no parameters in the model"),
                _ => format!("the model declares !{name}({})", parameters.join(", ")),
            }
        }
        None => {
            let mut known: Vec<String> = sts
                .labels_of(Direction::Response)
                .map(|id| sts.label(id).marked_name())
                .collect();
            if known.len() > MAX_LINES {
                known.truncate(MAX_LINES);
                known.push("…".to_owned());
            }
            if known.is_empty() {
                return format!("the model has no response '{name}'; it has no responses at all");
            }
            let known = known.join(", ");
            format!("the model has no response '{name}'; its responses are {known}")
        }
    }
}

/// `!refund(amount=7)`, or `!refund(kind=Card) where amount > 3 && amount <= limit`.
fn allowed(sts: &Sts, id: SwitchId, state: &State) -> String {
    let switch = sts.switch(id);
    let Some(label) = switch.gate.label() else {
        return "τ".to_owned();
    };
    let mut fixed: Vec<(u32, String)> = Vec::new();
    let mut conditions: Vec<String> = Vec::new();
    for conjunct in switch.guard.conjuncts() {
        match with_state(sts, conjunct, state) {
            Expr::Const(Value::Bool(true)) => {}
            folded => match equation(&folded) {
                Some((position, value)) => {
                    fixed.push((position, value.display(sts.types()).to_string()));
                }
                None => conditions.push(show_expr(sts, Some(label), &folded)),
            },
        }
    }
    let mut text = sts.label(label).marked_name();
    fixed.sort();
    let values: Vec<String> = fixed
        .into_iter()
        .map(|(position, value)| format!("{}={value}", parameter_name(sts, label, position)))
        .collect();
    if !values.is_empty() {
        text.push_str(&format!("({})", values.join(", ")));
    }
    if !conditions.is_empty() {
        text.push_str(&format!(" where {}", conditions.join(" && ")));
    }
    text
}

/// Why a switch cannot be taken with the values that were sent.
fn refusal(sts: &Sts, id: SwitchId, state: &State, action: &Action) -> String {
    let switch = sts.switch(id);
    let place = match sts.show_place(switch.place) {
        place if place.is_empty() => "the model".to_owned(),
        place => place,
    };
    let mut conditions = switch.guard.conjuncts().into_iter();
    let refused = conditions.find_map(|condition| {
        let asked = Phrased {
            condition,
            subject: condition,
            before: String::new(),
            after: String::new(),
        };
        violation(sts, &asked, state, action)
    });
    let refused = refused.or_else(|| {
        let mut demands = switch.requires.iter();
        demands.find_map(|demand| {
            let Subject::Variable(variable) = demand.subject else {
                // A parameter that does not fit its type: the last words of this function.
                return None;
            };
            let made = switch.update.iter().rfind(|a| a.variable == variable)?;
            let asked = Phrased {
                condition: &demand.condition,
                subject: &made.value,
                before: format!("that {} = ", sts.variable(variable).name),
                after: match demand.demanded {
                    Demanded::Exists => " has a value".to_owned(),
                    Demanded::InRange(range) => format!(" is in {}..{}", range.min, range.max),
                    Demanded::Fits => " has parts of their types".to_owned(),
                },
            };
            violation(sts, &asked, state, action)
        })
    });
    match refused {
        Some(violation) => format!("{place} demands {violation}"),
        // Every condition holds, so the values did not even have the types.
        None => format!("{place} demands values of the types that it declares"),
    }
}

/// A condition, and how it is put into words.
struct Phrased<'a> {
    condition: &'a Expr,
    /// What is shown of it, and the words around that.
    subject: &'a Expr,
    before: String,
    after: String,
}

fn violation(sts: &Sts, asked: &Phrased<'_>, state: &State, action: &Action) -> Option<String> {
    let env = Env {
        variables: &state.valuation,
        parameters: &action.values,
        functions: sts.functions(),
    };
    let answer = asked.condition.holds(env);
    if answer == Ok(true) {
        return None;
    }
    let label = action.label;
    let written = show_expr(sts, Some(label), asked.subject);
    let folded = show_expr(sts, Some(label), &with_state(sts, asked.subject, state));
    let sent: Vec<String> = { asked.subject.params() }
        .into_iter()
        .map(|position| {
            let value = action.values.get(position as usize);
            let value = value.unwrap_or(&Value::Void).display(sts.types());
            format!("{}={value}", parameter_name(sts, label, position))
        })
        .collect();
    let mut text = format!("{}{written}{}", asked.before, asked.after);
    if sent.is_empty() {
        // The guard speaks of the model's variables alone.
        let values: Vec<String> = { asked.subject.vars() }
            .into_iter()
            .map(|id| {
                let value = state.valuation[id.index()].display(sts.types());
                format!("{} is {value}", sts.variable(id).name)
            })
            .collect();
        if !values.is_empty() {
            text.push_str(&format!(", and {}", values.join(", ")));
        }
    } else {
        if folded != written {
            text.push_str(&format!(", here {folded}"));
        }
        text.push_str(&format!("; the system sent {}", sent.join(", ")));
    }
    if let Err(error) = answer {
        text.push_str(&format!(" ({error})"));
    }
    Some(text)
}

fn parameter_name(sts: &Sts, label: LabelId, position: u32) -> &str {
    sts.label(label)
        .parameters
        .get(position as usize)
        .map_or("?", |p| p.name.as_str())
}

/// The parameter and value of `p == value`.
fn equation(expr: &Expr) -> Option<(u32, &Value)> {
    let Expr::Binary(BinaryOp::Eq, both) = expr else {
        return None;
    };
    match &**both {
        [Expr::Param(position), Expr::Const(value)]
        | [Expr::Const(value), Expr::Param(position)] => Some((*position, value)),
        _ => None,
    }
}

/// `expr` with the values of the state put in, and what has a value then computed.
fn with_state(sts: &Sts, expr: &Expr, state: &State) -> Expr {
    let known = expr.with_values(&state.valuation);
    fn computed(sts: &Sts, expr: &Expr) -> Expr {
        let computed = expr.map_children(|child| computed(sts, child));
        computed.simplified(sts.functions())
    }
    computed(sts, &known)
}
