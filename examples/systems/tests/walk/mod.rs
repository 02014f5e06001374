//! Walking a model and a system together, slowly and obviously: values are tried from a list, not
//! solved for.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ioco_aml::{Diagnostic, Sources, load};
use ioco_examples::Message;
use ioco_sts::{
    Action, Answer, BinaryOp, Direction, Env, Expr, Feasibility, Question, Relation, Semantics,
    Step, Sts, Type, Value,
};

/// The folder of the examples.
pub fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

struct Files;

impl Sources for Files {
    fn read(&self, path: &str) -> Result<String, String> {
        std::fs::read_to_string(path).map_err(|error| error.to_string())
    }
}

/// Loads a model, with what there is to say about it.
pub fn load_model(path: &Path) -> (Option<Arc<Sts>>, Vec<Diagnostic>) {
    let loaded = load(&path.to_string_lossy(), &Files);
    (loaded.sts, loaded.diagnostics)
}

/// Loads a model of ours, which must have nothing wrong with it and stand in the standard form.
pub fn model(path: &Path) -> Arc<Sts> {
    let text = std::fs::read_to_string(path).expect("a model of the examples");
    assert_eq!(
        ioco_aml::format(&text).as_ref(),
        Ok(&text),
        "{}",
        path.display()
    );
    let (sts, diagnostics) = load_model(path);
    assert!(
        diagnostics.is_empty(),
        "{}: {diagnostics:#?}",
        path.display()
    );
    sts.expect("a model without diagnostics")
}

/// A message as a step of a model; nothing where the model has no such label or value.
pub fn step(sts: &Sts, direction: Direction, message: &Message) -> Option<Step> {
    let label = sts.label_named(direction, &message.label)?;
    let parameters = &sts.label(label).parameters;
    let known = |name: &str| parameters.iter().any(|p| p.name == name);
    if !message.values.iter().all(|(name, _)| known(name)) {
        return None;
    }
    let values = parameters
        .iter()
        .map(|parameter| {
            let value = message.value(&parameter.name);
            match (value, &parameter.ty) {
                (Value::Str(member), Type::Enum(id)) => {
                    let members = &sts.types().enums[id.index()].members;
                    let position = members.iter().position(|m| **m == **member)?;
                    Some(Value::Enum(*id, position as u32))
                }
                _ => Some(value.clone()),
            }
        })
        .collect::<Option<Vec<Value>>>()?;
    let action = Action { label, values };
    Some(match direction {
        Direction::Stimulus => Step::Stimulus(action),
        _ => Step::Response(action),
    })
}

/// Answers whether a guard can hold by trying the values that occur in the valuation, and every
/// member and boolean. Enough for models whose responses are functions of their variables.
struct Tries;

/// A stimulus of a dozen numbers is not offered by itself; the tests bring their own values.
const MAX_TUPLES: usize = 2_000;

impl Tries {
    fn candidates(sts: &Sts, ty: &Type, valuation: &[Value]) -> Vec<Value> {
        match ty {
            Type::Bool => vec![Value::Bool(false), Value::Bool(true)],
            Type::Enum(id) => {
                let members = sts.types().enums[id.index()].members.len();
                (0..members as u32).map(|m| Value::Enum(*id, m)).collect()
            }
            _ => {
                let mut values = valuation.to_vec();
                for value in valuation {
                    if let Value::Array(items) = value {
                        values.extend(items.iter().cloned());
                    }
                }
                values
            }
        }
    }
}

/// The only value that a parameter can have where the guard says `parameter == expression`.
fn equal_to(question: &Question<'_>, position: u32) -> Option<Value> {
    let mut open = vec![question.guard];
    while let Some(expr) = open.pop() {
        let Expr::Binary(op, both) = expr else {
            continue;
        };
        match (op, &**both) {
            (BinaryOp::And, both) => open.extend(both.iter()),
            (BinaryOp::Eq, [Expr::Param(p), other]) if *p == position => {
                let env = Env {
                    variables: question.valuation,
                    parameters: &[],
                    functions: question.sts.functions(),
                };
                return (!other.mentions_params()).then(|| other.eval(env).unwrap_or_default());
            }
            _ => {}
        }
    }
    None
}

impl Feasibility for Tries {
    fn feasible(&mut self, question: Question<'_>) -> Answer {
        let sts = question.sts;
        let mut tuples = vec![Vec::new()];
        for (position, parameter) in sts.label(question.label).parameters.iter().enumerate() {
            let values = match equal_to(&question, position as u32) {
                Some(value) => vec![value],
                None => Tries::candidates(sts, &parameter.ty, question.valuation),
            };
            if tuples.len() * values.len() > MAX_TUPLES {
                return Answer::Unknown;
            }
            tuples = tuples
                .iter()
                .flat_map(|tuple: &Vec<Value>| {
                    values.iter().map(|value| {
                        let mut longer = tuple.clone();
                        longer.push(value.clone());
                        longer
                    })
                })
                .collect();
        }
        let holds = |parameters: &Vec<Value>| {
            let env = Env {
                variables: question.valuation,
                parameters,
                functions: sts.functions(),
            };
            question.guard.holds(env).unwrap_or(false)
        };
        if tuples.iter().any(holds) {
            Answer::Yes
        } else {
            Answer::No
        }
    }
}

pub fn semantics(sts: &Arc<Sts>) -> Semantics {
    Semantics::new(Arc::clone(sts), Box::new(Tries), Relation::Ioco)
}
