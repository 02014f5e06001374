//! A suite as a model that `ioco test` runs against a real system: the tests as one tree of stimuli and responses.
//!
//! `start` gives the system the values that the model leaves open in the first state, `step` the inputs and free
//! variables of every further one; after each the system says `state` with the values of the other variables. Where
//! the model determines these, any other value is a failure; where it allows several, another of them ends the test.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rustc_hash::FxHashSet;
use serde_json::{Map, Value as Json};

use crate::eval::{Evaluator, Memo, State};
use crate::expr::VarId;
use crate::model::{Model, VarKind};
use crate::suite::Test;
use crate::value::{Domain, Value};

/// One stimulus with the response that is planned.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Exchange {
    stimulus: &'static str,
    given: String,
    expected: String,
    /// What every response that the model allows has in common; none when there is no other.
    common: Option<String>,
}

/// A suite in the form that `ioco test` runs.
#[derive(Clone, Debug)]
pub struct Runnable {
    /// The model of all tests, as text.
    pub aml: String,
    /// The tests as ways through that model.
    pub tests: Vec<RunnableTest>,
}

/// One test: what is given and what is planned to be answered, in turn.
#[derive(Clone, Debug)]
pub struct RunnableTest {
    /// The location where it ends.
    pub end: String,
    pub exchanges: Vec<Planned>,
}

#[derive(Clone, Debug)]
pub struct Planned {
    pub stimulus: &'static str,
    pub given: Map<String, Json>,
    /// Of the response `state`.
    pub expected: Map<String, Json>,
}

/// The tests as a model, and as ways through it.
pub fn runnable(model: &Model, tests: &[Test]) -> Runnable {
    let names = names(model);
    let writer = Writer {
        model,
        names: &names,
    };
    // Tests that begin alike share the beginning.
    let mut nodes: Vec<BTreeMap<Exchange, usize>> = vec![BTreeMap::new()];
    let mut ways = Vec::new();
    for test in tests {
        let mut at = 0;
        for step in 0..test.states.len() {
            let exchange = writer.exchange(&test.states, step);
            at = match nodes[at].get(&exchange) {
                Some(next) => *next,
                None => {
                    let next = nodes.len();
                    nodes[at].insert(exchange, next);
                    nodes.push(BTreeMap::new());
                    next
                }
            };
        }
        ways.push(RunnableTest {
            end: location(at),
            exchanges: (0..test.states.len())
                .map(|step| writer.planned(&test.states, step))
                .collect(),
        });
    }
    let mut text = format!(
        "# The tests of {}, as a tree: the system is given the free variables and says the others.\n\n\
         timeout 0.5\n\nexternal 'system'\n\nprocess('tests') {{\n  channel('system') {{\n",
        model.file.rsplit('/').next().unwrap_or_default()
    );
    writer.label(&mut text, "stimulus 'start'", &writer.given_first());
    writer.label(&mut text, "stimulus 'step'", &writer.given_later());
    writer.label(&mut text, "response 'state'", &writer.expected_ever());
    text.push_str("  }\n");
    let mut loose = false;
    for (number, node) in nodes.iter().enumerate() {
        let _ = write!(text, "\n  state '{}'\n", location(number));
        if node.is_empty() {
            let _ = writeln!(text, "  goto 'end'");
            continue;
        }
        text.push_str("  choice {\n");
        for (exchange, next) in node {
            let receive = format!(
                "receive '{}'{}",
                exchange.stimulus,
                constraint(&exchange.given)
            );
            let _ = writeln!(
                text,
                "    o {{\n      {receive}\n      send 'state'{}; goto '{}'\n    }}",
                constraint(&exchange.expected),
                location(*next)
            );
            if let Some(common) = &exchange.common {
                loose = true;
                let _ = writeln!(
                    text,
                    "    o {{\n      {receive}\n      send 'state'{}; goto 'elsewhere'\n    }}",
                    constraint(common)
                );
            }
        }
        text.push_str("  }\n");
    }
    if loose {
        text.push_str("\n  state 'elsewhere' # another way that the model allows\n  goto 'end'\n");
    }
    text.push_str("\n  state 'end'\n}\n");
    Runnable {
        aml: text,
        tests: ways,
    }
}

/// The location after some exchanges.
fn location(node: usize) -> String {
    format!("n{node}")
}

fn constraint(condition: &str) -> String {
    if condition.is_empty() {
        String::new()
    } else {
        format!(", constraint: '{condition}'")
    }
}

struct Writer<'w> {
    model: &'w Model,
    /// Of the variables, as identifiers.
    names: &'w [String],
}

impl Writer<'_> {
    fn all(&self, pick: impl Fn(VarId) -> bool) -> Vec<VarId> {
        self.model.var_ids().filter(|var| pick(*var)).collect()
    }

    fn is_input(&self, var: VarId) -> bool {
        self.model.var(var).kind == VarKind::Input
    }

    /// Nothing assigns the variable in the first state, or ever.
    fn given_first(&self) -> Vec<VarId> {
        self.all(|var| {
            let entry = self.model.var(var);
            let open = entry.init.is_none() && entry.always.is_none();
            !self.is_input(var) && (entry.is_free() || open)
        })
    }

    fn given_later(&self) -> Vec<VarId> {
        self.all(|var| self.is_input(var) || self.model.var(var).is_free())
    }

    fn expected_ever(&self) -> Vec<VarId> {
        self.all(|var| !self.is_input(var) && !self.model.var(var).is_free())
    }

    /// What the system is given for a state.
    fn given_at(&self, states: &[State], step: usize) -> Vec<(VarId, Value)> {
        let state = &states[step];
        let vars = if step == 0 {
            self.given_first()
        } else {
            self.given_later()
        };
        vars.into_iter()
            .map(|var| {
                // Inputs belong to the step from the state before.
                let from = if self.is_input(var) {
                    &states[step - 1]
                } else {
                    state
                };
                (var, from[var.index()])
            })
            .collect()
    }

    /// What the system says of a state.
    fn expected_at(&self, step: usize) -> Vec<VarId> {
        let first = self.given_first();
        self.expected_ever()
            .into_iter()
            .filter(|var| step > 0 || !first.contains(var))
            .collect()
    }

    fn planned(&self, states: &[State], step: usize) -> Planned {
        let named = |(var, value): (VarId, Value)| {
            let text = is_text(&self.model.var(var).domain);
            let json = match value {
                _ if text => Json::from(self.model.symbols.text(value)),
                value => crate::generate::value_json(self.model, value),
            };
            (self.names[var.index()].clone(), json)
        };
        let expected = self.expected_at(step).into_iter();
        Planned {
            stimulus: stimulus(step),
            given: self.given_at(states, step).into_iter().map(named).collect(),
            expected: expected
                .map(|var| named((var, states[step][var.index()])))
                .collect(),
        }
    }

    fn exchange(&self, states: &[State], step: usize) -> Exchange {
        let state = &states[step];
        let given = self.equations(self.given_at(states, step).into_iter());
        let expected = self.expected_at(step);
        let said =
            |vars: &[VarId]| self.equations(vars.iter().map(|var| (*var, state[var.index()])));
        let (single, several): (Vec<VarId>, Vec<VarId>) = expected
            .iter()
            .partition(|var| self.candidates(states, step, **var) == 1);
        let common = (!several.is_empty()).then(|| {
            let firm: Vec<VarId> = single
                .into_iter()
                .filter(|var| self.stands_alone(step, *var))
                .collect();
            said(&firm)
        });
        Exchange {
            stimulus: stimulus(step),
            given,
            expected: said(&expected),
            common,
        }
    }

    /// The assignment reads nothing of the state that it belongs to, so other choices there do not change its value.
    fn stands_alone(&self, step: usize, var: VarId) -> bool {
        let entry = self.model.var(var);
        let variables = |expr| self.model.exprs.variables(expr);
        match (step, entry.next) {
            (0, _) => entry
                .init
                .or(entry.always)
                .is_some_and(|expr| variables(expr).0.is_empty()),
            (_, Some(next)) => variables(next).1.is_empty(),
            (_, None) => entry.kind == VarKind::Frozen,
        }
    }

    /// How many values the assignments leave to a variable. With one for each there is one next state.
    fn candidates(&self, states: &[State], step: usize, var: VarId) -> usize {
        let entry = self.model.var(var);
        let exprs = &self.model.exprs;
        let count = |mut evaluator: Evaluator, expr| {
            let count = evaluator.values(expr).len();
            if evaluator.is_crowded() {
                usize::MAX
            } else {
                count
            }
        };
        let here = |expr| {
            let mut memo = Memo::default();
            count(Evaluator::new(exprs, &states[step], None, &mut memo), expr)
        };
        match (step, entry.next) {
            (0, _) => entry.init.or(entry.always).map_or(0, here),
            (_, Some(next)) => {
                let mut memo = Memo::default();
                let (from, to) = (&states[step - 1], &states[step]);
                count(Evaluator::new(exprs, from, Some(to), &mut memo), next)
            }
            (_, None) if entry.kind == VarKind::Frozen => 1,
            (_, None) => entry.always.map_or(0, here),
        }
    }

    fn equations(&self, values: impl Iterator<Item = (VarId, Value)>) -> String {
        let parts: Vec<String> = values
            .map(|(var, value)| {
                let text = match (value, is_text(&self.model.var(var).domain)) {
                    (Value::Bool(truth), false) => truth.to_string(),
                    (Value::Int(number), false) => number.to_string(),
                    (value, _) => format!("\"{}\"", self.model.symbols.text(value)),
                };
                format!("{} == {text}", self.names[var.index()])
            })
            .collect();
        parts.join(" && ")
    }

    fn label(&self, text: &mut String, start: &str, vars: &[VarId]) {
        let parameters: Vec<String> = vars
            .iter()
            .map(|var| {
                let domain = &self.model.var(*var).domain;
                let kind = match domain {
                    _ if is_text(domain) => ":string".to_owned(),
                    Domain::Bool => ":boolean".to_owned(),
                    Domain::Range(low, high) => format!("integer({low}..{high})"),
                    Domain::Enum(_) => ":integer".to_owned(),
                };
                format!("'{}' => {kind}", self.names[var.index()])
            })
            .collect();
        if parameters.is_empty() {
            let _ = writeln!(text, "    {start}");
        } else {
            let _ = writeln!(text, "    {start}, {{{}}}", parameters.join(", "));
        }
    }
}

fn stimulus(step: usize) -> &'static str {
    if step == 0 { "start" } else { "step" }
}

/// Whether the values of a domain are sent as text.
fn is_text(domain: &Domain) -> bool {
    match domain {
        Domain::Bool | Domain::Range(..) => false,
        Domain::Enum(values) => values.iter().any(|value| !matches!(value, Value::Int(_))),
    }
}

/// Names of variables as identifiers, all different: `e-1.u.req` becomes `e_1_u_req`.
fn names(model: &Model) -> Vec<String> {
    const KEYWORDS: [&str; 6] = ["if", "then", "else", "in", "true", "false"];
    const FUNCTIONS: [&str; 5] = ["length", "last", "min", "max", "abs"];
    let mut used = FxHashSet::default();
    model
        .vars
        .iter()
        .map(|var| {
            let mut name: String = var
                .name
                .chars()
                .map(|letter| {
                    if letter.is_ascii_alphanumeric() {
                        letter
                    } else {
                        '_'
                    }
                })
                .collect();
            if name.starts_with(|letter: char| letter.is_ascii_digit()) {
                name.insert(0, '_');
            }
            while KEYWORDS.contains(&name.as_str())
                || FUNCTIONS.contains(&name.as_str())
                || !used.insert(name.clone())
            {
                name.push('_');
            }
            name
        })
        .collect()
}
