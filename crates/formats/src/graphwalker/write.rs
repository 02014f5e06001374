//! Writing GraphWalker's JSON.

use serde_json::{Value as Json, json};

use super::DATA;
use crate::FormatError;
use crate::json as own;
use ioco_sts::{Assignment, BinaryOp, Expr, Sts, SwitchId, Type, UnaryOp, Value, show_gate};

/// Numbers of JavaScript are exact up to here.
const MAX_EXACT: i64 = 1 << 53;

/// Writes a system of one process whose guards and updates speak of variables only.
pub fn write(sts: &Sts) -> Result<String, FormatError> {
    let unfit = |message: String| Err(FormatError::new(0, message));
    let [process] = sts.processes() else {
        return unfit(
            "models of GraphWalker do not run side by side, as the processes of this one do"
                .to_owned(),
        );
    };
    if let Some(variable) = sts.variables().iter().find(|v| !is_name(&v.name)) {
        return unfit(format!(
            "'{}' is no name of a variable in JavaScript",
            variable.name
        ));
    }
    let start = sts
        .variables()
        .iter()
        .map(|v| Some(format!("{} = {};", v.name, value(sts, &v.initial)?)));
    let Some(actions) = start.collect::<Option<Vec<String>>>() else {
        return unfit("a variable starts with a value that JavaScript does not have".to_owned());
    };
    let vertices = own::locations(sts);
    let vertices = sts.locations().iter().zip(vertices).enumerate();
    let vertices: Vec<Json> = vertices
        .map(|(number, (location, data))| {
            json!({"id": format!("v{number}"), "name": location.name, "properties": {DATA: data}})
        })
        .collect();
    let mut edges = Vec::new();
    for (index, data) in own::switches(sts).into_iter().enumerate() {
        let id = SwitchId::from_index(index);
        let switch = sts.switch(id);
        let Some(edge) = edge(sts, id) else {
            return unfit(format!(
                "{} has a guard or update that GraphWalker cannot have: only variables, numbers, \
                 texts and truth values, no parameters of labels",
                sts.show_switch(id)
            ));
        };
        let mut json = json!({
            "id": format!("e{index}"),
            "sourceVertexId": format!("v{}", switch.source.0),
            "targetVertexId": format!("v{}", switch.target.0),
            "properties": {DATA: data},
        });
        json["name"] = edge.name.into();
        if let Some(guard) = edge.guard {
            json["guard"] = guard.into();
        }
        if !edge.actions.is_empty() {
            json["actions"] = edge.actions.into();
        }
        edges.push(json);
    }
    let model = json!({
        "name": sts.name(),
        "id": "model",
        "generator": "random(edge_coverage(100))",
        "startElementId": format!("v{}", process.initial.0),
        "actions": actions,
        "properties": {DATA: own::head(sts)},
        "vertices": vertices,
        "edges": edges,
    });
    let file = json!({"name": sts.name(), "models": [model]});
    Ok(format!("{file:#}\n"))
}

/// What an edge shows of a switch.
struct Edge {
    /// An internal step has none.
    name: Option<String>,
    guard: Option<String>,
    actions: Vec<String>,
}

fn edge(sts: &Sts, id: SwitchId) -> Option<Edge> {
    let switch = sts.switch(id);
    let guard = expression(sts, &switch.enabled)?;
    Some(Edge {
        name: switch.gate.label().map(|_| show_gate(sts, switch.gate)),
        guard: (guard != "true").then_some(guard),
        actions: actions(sts, &switch.update)?,
    })
}

/// Assignments one after the other; where one reads what another has changed by then, all values
/// are computed first.
fn actions(sts: &Sts, update: &[Assignment]) -> Option<Vec<String>> {
    let name = |assignment: &Assignment| &sts.variable(assignment.variable).name;
    let changed_before = update.iter().enumerate().any(|(position, assignment)| {
        let read = assignment.value.vars();
        let before = &update[..position];
        before.iter().any(|other| read.contains(&other.variable))
    });
    let mut first = Vec::new();
    let mut then = Vec::new();
    for assignment in update {
        let value = expression(sts, &assignment.value)?;
        let name = name(assignment);
        if changed_before {
            first.push(format!("var new_{name} = {value};"));
            then.push(format!("{name} = new_{name};"));
        } else {
            then.push(format!("{name} = {value};"));
        }
    }
    first.extend(then);
    Some(first)
}

/// The texts of an edge as one, to be compared.
pub fn in_one(name: Option<&str>, guard: Option<&str>, actions: &[String]) -> String {
    let mut text = name.unwrap_or_default().to_owned();
    if let Some(guard) = guard {
        text.push_str(&format!(" [{guard}]"));
    }
    for action in actions {
        text.push_str(&format!(" {action}"));
    }
    text
}

/// Whether the texts of an edge are those of the switch.
pub fn says(sts: &Sts, id: SwitchId, shown: &str) -> bool {
    edge(sts, id).is_some_and(|edge| {
        in_one(edge.name.as_deref(), edge.guard.as_deref(), &edge.actions) == shown
    })
}

fn is_name(text: &str) -> bool {
    const WORDS: [&str; 24] = [
        "break", "case", "catch", "class", "const", "continue", "delete", "do", "else", "export",
        "for", "function", "if", "in", "let", "new", "return", "switch", "this", "throw", "try",
        "typeof", "var", "while",
    ];
    let mut characters = text.chars();
    let first = characters
        .next()
        .is_some_and(|c| c.is_alphabetic() || c == '_');
    first && characters.all(|c| c.is_alphanumeric() || c == '_') && !WORDS.contains(&text)
}

fn value(sts: &Sts, value: &Value) -> Option<String> {
    Some(match value {
        // Nothing is less or more than it, as with `:void`.
        Value::Void => "undefined".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) if value.abs_diff(0) > MAX_EXACT as u64 => return None,
        Value::Int(value) => value.to_string(),
        Value::Decimal(value) => value.to_string(),
        Value::Str(text) => Json::from(&**text).to_string(),
        Value::Enum(id, member) => Json::from(sts.types().member_name(*id, *member)).to_string(),
        Value::Array(_) | Value::Struct(..) => return None,
    })
}

/// An expression with parentheses around everything that has parts.
fn expression(sts: &Sts, expr: &Expr) -> Option<String> {
    let sub = |expr: &Expr| expression(sts, expr);
    Some(match expr {
        Expr::Const(constant) => value(sts, constant)?,
        Expr::Var(id) => sts.variable(*id).name.clone(),
        Expr::Unary(UnaryOp::Not, inner) => format!("!{}", sub(inner)?),
        Expr::Unary(UnaryOp::Neg, inner) => format!("(-{})", sub(inner)?),
        Expr::Unary(UnaryOp::Abs, inner) => format!("Math.abs({})", sub(inner)?),
        Expr::Unary(UnaryOp::Length, inner) => format!("{}.length", sub(inner)?),
        Expr::Binary(op, both) => {
            let (left, right) = (sub(&both[0])?, sub(&both[1])?);
            match op {
                BinaryOp::Div if is_decimal(sts, expr) => format!("({left} / {right})"),
                BinaryOp::And if right == "true" => left,
                BinaryOp::Eq => format!("({left} === {right})"),
                BinaryOp::Ne => format!("({left} !== {right})"),
                BinaryOp::Div => format!("Math.trunc({left} / {right})"),
                BinaryOp::Min => format!("Math.min({left}, {right})"),
                BinaryOp::Max => format!("Math.max({left}, {right})"),
                op => format!("({left} {} {right})", op.symbol()?),
            }
        }
        Expr::If(all) => format!(
            "({} ? {} : {})",
            sub(&all[0])?,
            sub(&all[1])?,
            sub(&all[2])?
        ),
        // Numbers of JavaScript do not overflow.
        Expr::InRange(all) if all[1..] == [Expr::int(i64::MIN), Expr::int(i64::MAX)] => {
            sub(&all[0])?;
            "true".to_owned()
        }
        Expr::InRange(all) => {
            let [subject, low, high] = [sub(&all[0])?, sub(&all[1])?, sub(&all[2])?];
            format!("({low} <= {subject} && {subject} <= {high})")
        }
        Expr::InSet(subject, items) => {
            let items: Vec<String> = items.iter().map(sub).collect::<Option<_>>()?;
            format!("[{}].includes({})", items.join(", "), sub(subject)?)
        }
        Expr::Param(_)
        | Expr::Local(_)
        | Expr::Unary(UnaryOp::Last, _)
        | Expr::Array(_)
        | Expr::Struct(..)
        | Expr::Field(..)
        | Expr::Matches(..)
        | Expr::Call(..) => return None,
    })
}

/// Whether a decimal takes part, so that the result is one.
fn is_decimal(sts: &Sts, expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |part| {
        found |= match part {
            Expr::Const(Value::Decimal(_)) => true,
            Expr::Var(id) => sts.variable(*id).ty == Type::Decimal,
            _ => false,
        };
    });
    found
}
