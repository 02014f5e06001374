//! Variables of scripts with types, and scripts as expressions over them.

use std::collections::BTreeMap;

use ioco_budget::{Budget, Resource};
use rust_decimal::Decimal;

use super::script::{Assigned, BadScript, Kind, Node, bad};
use ioco_sts::{Assignment, BinaryOp, Expr, Type, UnaryOp, Value, VarId};

/// Whose variable it is: that of a model, by number, or one that all share.
pub type ProcessName = Option<usize>;

/// What a variable is called, and by whom.
type Key = (ProcessName, String);

/// The type of an expression; `None` is that of `undefined`.
type InferredType = Option<Type>;

#[derive(Default)]
pub struct Variables {
    types: BTreeMap<Key, InferredType>,
    /// In the order in which they were first given a value.
    order: Vec<Key>,
}

fn key(model: usize, name: &str) -> Key {
    match name.strip_prefix("global.") {
        Some(name) => (None, name.to_owned()),
        None => (Some(model), name.to_owned()),
    }
}

impl Variables {
    /// Takes note of an assignment. Returns whether that says something new about its variable.
    pub fn learn(&mut self, model: usize, assigned: &Assigned) -> Result<bool, BadScript> {
        let found = self.type_of(model, &assigned.value);
        let key = key(model, &assigned.name);
        if !self.types.contains_key(&key) {
            self.order.push(key.clone());
            self.types.insert(key, found);
            return Ok(true);
        }
        let known = self.types.get_mut(&key).expect("it is there");
        let both = match (known.clone(), found) {
            (None, found) => found,
            (known, None) => known,
            (Some(Type::Decimal), Some(Type::Int(_)))
            | (Some(Type::Int(_)), Some(Type::Decimal)) => Some(Type::Decimal),
            (Some(known), Some(found)) if known == found => Some(known),
            (Some(known), Some(found)) => {
                return bad(
                    assigned.column,
                    format!(
                        "'{}' is given {} here and {} elsewhere",
                        assigned.name,
                        word(&found),
                        word(&known)
                    ),
                );
            }
        };
        let new = *known != both;
        *known = both;
        Ok(new)
    }

    /// What can be said of an expression while not all variables have a type.
    fn type_of(&self, model: usize, node: &Node) -> InferredType {
        match &node.kind {
            Kind::Const(Value::Bool(_)) => Some(Type::Bool),
            Kind::Const(Value::Int(_)) => Some(Type::INTEGER),
            Kind::Const(Value::Decimal(_)) => Some(Type::Decimal),
            Kind::Const(Value::Str(_)) => Some(Type::Str),
            Kind::Const(_) => None,
            Kind::Name(name) => self.types.get(&key(model, name)).cloned().flatten(),
            Kind::Unary(UnaryOp::Not, _) => Some(Type::Bool),
            Kind::Unary(_, inner) => self.type_of(model, inner),
            Kind::Quotient(_) => Some(Type::INTEGER),
            Kind::If(all) => {
                let then = self.type_of(model, &all[1]);
                then.or_else(|| self.type_of(model, &all[2]))
            }
            Kind::Binary(op, both) => match op {
                BinaryOp::Add
                | BinaryOp::Sub
                | BinaryOp::Mul
                | BinaryOp::Div
                | BinaryOp::Rem
                | BinaryOp::Min
                | BinaryOp::Max => {
                    let left = self.type_of(model, &both[0]);
                    match (left, self.type_of(model, &both[1])) {
                        (Some(Type::Decimal), _) | (_, Some(Type::Decimal)) => Some(Type::Decimal),
                        (left, right) => left.or(right),
                    }
                }
                _ => Some(Type::Bool),
            },
        }
    }

    /// Name and type of every variable, by number. The names of models tell variables apart that
    /// have one name; `undefined` is all that a variable without a type was ever given.
    pub fn all(&self, models: &[String]) -> Vec<(String, InferredType)> {
        let mut all = Vec::new();
        for key in &self.order {
            let (scope, name) = key;
            let twins = self.order.iter().filter(|(_, other)| other == name).count();
            let shown = match scope {
                _ if twins == 1 => name.clone(),
                Some(model) => format!("{}.{name}", models[*model]),
                None => format!("global.{name}"),
            };
            all.push((shown, self.types[key].clone()));
        }
        all
    }

    pub fn id(&self, model: usize, name: &str) -> Option<VarId> {
        let key = key(model, name);
        let position = self.order.iter().position(|known| *known == key)?;
        Some(VarId::from_index(position))
    }

    /// A guard as an expression.
    pub fn guard(&self, model: usize, node: &Node) -> Result<Expr, BadScript> {
        self.expect(model, node, &Type::Bool, &BTreeMap::new())
    }

    /// Assignments one after the other, as the assignments of a switch, which all read the values
    /// from before.
    pub fn update(
        &self,
        model: usize,
        assigned: &[Assigned],
        budget: &Budget,
    ) -> Result<Vec<Assignment>, BadScript> {
        let mut so_far: BTreeMap<VarId, Expr> = BTreeMap::new();
        let mut measures: BTreeMap<VarId, Measure> = BTreeMap::new();
        let mut order = Vec::new();
        for one in assigned {
            // Each assignment puts the earlier ones in place, so the values can grow without end.
            let measure = self.measure(model, &one.value, &measures);
            let node = size_of::<Expr>() as u64;
            let within = budget
                .check(Resource::Depth, measure.height)
                .and_then(|()| budget.check(Resource::Bytes, measure.nodes.saturating_mul(node)));
            if let Err(exhausted) = within {
                return bad(one.column, exhausted.to_string());
            }
            let id = self
                .id(model, &one.name)
                .expect("every assignment was seen");
            let ty = self.types[&key(model, &one.name)].clone();
            let value = match ty {
                Some(ty) => self.expect(model, &one.value, &ty, &so_far)?,
                None => Expr::Const(Value::Void),
            };
            measures.insert(id, measure);
            if so_far.insert(id, value).is_none() {
                order.push(id);
            }
        }
        let assignment = |variable: VarId| Assignment {
            variable,
            value: so_far[&variable].clone(),
        };
        Ok(order.into_iter().map(assignment).collect())
    }

    /// How large a value becomes when those of earlier assignments are put in place.
    fn measure(&self, model: usize, node: &Node, known: &BTreeMap<VarId, Measure>) -> Measure {
        let below = |nodes: &[Node]| {
            let mut whole = Measure {
                height: 0,
                nodes: 1,
            };
            for node in nodes {
                let part = self.measure(model, node, known);
                whole.height = whole.height.max(part.height);
                whole.nodes = whole.nodes.saturating_add(part.nodes);
            }
            whole.height += 1;
            whole
        };
        match &node.kind {
            Kind::Const(_) => below(&[]),
            Kind::Name(name) => {
                let id = self.id(model, name);
                let earlier = id.and_then(|id| known.get(&id)).copied();
                earlier.unwrap_or_else(|| below(&[]))
            }
            Kind::Unary(_, inner) => below(std::slice::from_ref(inner)),
            Kind::Binary(_, both) | Kind::Quotient(both) => below(&**both),
            Kind::If(all) => below(&**all),
        }
    }

    fn expect(
        &self,
        model: usize,
        node: &Node,
        wanted: &Type,
        so_far: &BTreeMap<VarId, Expr>,
    ) -> Result<Expr, BadScript> {
        let (expr, found) = self.translate(model, node, so_far)?;
        match (found, wanted) {
            (None, _) => Ok(expr),
            (Some(found), wanted) if found == *wanted => Ok(expr),
            (Some(Type::Int(_)), Type::Decimal) => Ok(as_decimal(expr)),
            (Some(found), wanted) => bad(
                node.column,
                format!("{} is here, and {} is needed", word(&found), word(wanted)),
            ),
        }
    }

    fn translate(
        &self,
        model: usize,
        node: &Node,
        so_far: &BTreeMap<VarId, Expr>,
    ) -> Result<(Expr, InferredType), BadScript> {
        let sub = |node: &Node| self.translate(model, node, so_far);
        let expect = |node: &Node, ty: &Type| self.expect(model, node, ty, so_far);
        let is_number = |node: &Node, found: &InferredType| match found {
            Some(Type::Int(_) | Type::Decimal) => Ok(()),
            Some(other) => bad(node.column, format!("{} is no number", word(other))),
            None => bad(node.column, "`undefined` is no number"),
        };
        let number = |node: &Node| {
            let (expr, found) = sub(node)?;
            is_number(node, &found)?;
            Ok((expr, found))
        };
        match &node.kind {
            Kind::Const(value) => Ok((Expr::Const(value.clone()), self.type_of(model, node))),
            Kind::Name(name) => {
                let Some(id) = self.id(model, name) else {
                    return bad(
                        node.column,
                        format!("the variable '{name}' is never given a value"),
                    );
                };
                let expr = so_far.get(&id).cloned().unwrap_or(Expr::Var(id));
                Ok((expr, self.types[&key(model, name)].clone()))
            }
            Kind::Unary(UnaryOp::Not, inner) => {
                let inner = expect(inner, &Type::Bool)?;
                Ok((Expr::unary(UnaryOp::Not, inner), Some(Type::Bool)))
            }
            Kind::Unary(op, inner) => {
                let (inner, ty) = number(inner)?;
                let expr = match (op, inner) {
                    (UnaryOp::Neg, Expr::Const(Value::Int(value))) => {
                        Expr::Const(Value::Int(value.wrapping_neg()))
                    }
                    (op, inner) => Expr::unary(*op, inner),
                };
                Ok((expr, ty))
            }
            Kind::Quotient(both) => {
                let left = expect(&both[0], &Type::INTEGER)?;
                let right = expect(&both[1], &Type::INTEGER)?;
                Ok((
                    Expr::binary(BinaryOp::Div, left, right),
                    Some(Type::INTEGER),
                ))
            }
            Kind::If(all) => {
                let condition = expect(&all[0], &Type::Bool)?;
                let (then, ty) = sub(&all[1])?;
                let (otherwise, other) = sub(&all[2])?;
                let ty = common(node.column, ty, other)?;
                Ok((Expr::If(Box::new([condition, then, otherwise])), ty))
            }
            Kind::Binary(op @ (BinaryOp::And | BinaryOp::Or), both) => {
                let left = expect(&both[0], &Type::Bool)?;
                let right = expect(&both[1], &Type::Bool)?;
                Ok((Expr::binary(*op, left, right), Some(Type::Bool)))
            }
            Kind::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), both) => {
                let (left, ty) = sub(&both[0])?;
                let (right, other) = sub(&both[1])?;
                common(node.column, ty, other)?;
                Ok((Expr::binary(*op, left, right), Some(Type::Bool)))
            }
            Kind::Binary(op, both) => {
                let (left, ty) = sub(&both[0])?;
                let texts = ty == Some(Type::Str);
                if texts && *op == BinaryOp::Add {
                    let right = expect(&both[1], &Type::Str)?;
                    return Ok((Expr::binary(*op, left, right), Some(Type::Str)));
                }
                // Not translated twice: that would double the work at each level.
                is_number(&both[0], &ty)?;
                let (right, other) = number(&both[1])?;
                let ty = common(node.column, ty, other)?;
                if *op == BinaryOp::Div && ty == Some(Type::INTEGER) {
                    return bad(
                        node.column,
                        "the quotient of whole numbers need not be one: write Math.trunc(a / b)",
                    );
                }
                let ty = match op {
                    BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => Some(Type::Bool),
                    _ => ty,
                };
                Ok((Expr::binary(*op, left, right), ty))
            }
        }
    }
}

/// The size of an expression.
#[derive(Clone, Copy)]
struct Measure {
    height: u64,
    nodes: u64,
}

/// The type of two things that are taken for the same.
fn common(
    column: usize,
    left: InferredType,
    right: InferredType,
) -> Result<InferredType, BadScript> {
    match (left, right) {
        (None, other) | (other, None) => Ok(other),
        (Some(Type::Decimal), Some(Type::Int(_))) | (Some(Type::Int(_)), Some(Type::Decimal)) => {
            Ok(Some(Type::Decimal))
        }
        (Some(left), Some(right)) if left == right => Ok(Some(left)),
        (Some(left), Some(right)) => bad(
            column,
            format!("{} and {} are never the same", word(&left), word(&right)),
        ),
    }
}

fn as_decimal(expr: Expr) -> Expr {
    match expr {
        Expr::Const(Value::Int(value)) => Expr::Const(Value::Decimal(Decimal::from(value))),
        // A sum with a decimal is one.
        other => Expr::binary(
            BinaryOp::Add,
            other,
            Expr::Const(Value::Decimal(Decimal::ZERO)),
        ),
    }
}

fn word(ty: &Type) -> &'static str {
    match ty {
        Type::Bool => "a truth value",
        Type::Int(_) => "a whole number",
        Type::Decimal => "a number with a fraction",
        _ => "a text",
    }
}
