//! Builds flat expressions: expands definitions, and checks types as it goes.

use super::{Flattener, InstanceId, Resolved};
use crate::diagnostic::{Problem, Span};
use crate::expr::{ExprId, Node};
use crate::syntax::parser::{DEPTH_LIMIT, too_deep};
use crate::syntax::tree::{Expr, Kind, Operator};
use crate::types::{INTEGER_LIMIT, Type};
use crate::value::Value;

/// Definitions that refer to definitions are built innermost first, on a stack of a fixed size.
const BUILD_DEPTH: usize = 2 * DEPTH_LIMIT;

impl<'t> Flattener<'t> {
    pub(super) fn type_of(&mut self, id: ExprId) -> Type {
        self.types.of(&self.model.exprs, &self.model.vars, id)
    }

    pub(super) fn build(&mut self, expr: &Expr, scope: InstanceId) -> Result<ExprId, Problem> {
        if self.depth > BUILD_DEPTH {
            self.full = true;
            return Err(too_deep(expr.span));
        }
        self.depth += 1;
        let id = self.build_any(expr, scope);
        self.depth -= 1;
        let id = id?;
        // Definitions and parameters nest what each of them nests, so the text alone does not show how deep this is.
        if self.model.exprs.traits(id).height as usize > DEPTH_LIMIT {
            self.full = true;
            return Err(too_deep(expr.span));
        }
        Ok(id)
    }

    fn build_any(&mut self, expr: &Expr, scope: InstanceId) -> Result<ExprId, Problem> {
        let span = expr.span;
        match &*expr.kind {
            Kind::Bool(value) => Ok(self.model.exprs.boolean(*value)),
            Kind::Number(number) if number.abs() > INTEGER_LIMIT => {
                Err(Problem::error(span, "this number is too large"))
            }
            Kind::Number(number) => Ok(self.model.exprs.constant(Value::Int(*number))),
            Kind::Own | Kind::Name(_) | Kind::Dot(..) | Kind::Index(..) => {
                match self.resolve(expr, scope)? {
                    Resolved::Expr(id) => Ok(id),
                    // A symbolic constant may have the name of an instance; where a value is needed it is the constant.
                    Resolved::Instance(_) => match self.symbol_named(expr) {
                        Some(symbol) => Ok(self.model.exprs.constant(symbol)),
                        None => Err(Problem::error(
                            span,
                            "this is an instance of a module, not a value",
                        )),
                    },
                    Resolved::Array { .. } => Err(Problem::error(
                        span,
                        "this is an array; an element is needed here",
                    )),
                }
            }
            Kind::Not(inner) => {
                let id = self.boolean(inner, scope)?;
                Ok(self.model.exprs.add(Node::Not(id)))
            }
            Kind::Negate(inner) => {
                let id = self.integer(inner, scope)?;
                self.bounded(Node::Negate(id), span)
            }
            Kind::And(parts) | Kind::Or(parts) => {
                let ids = parts
                    .iter()
                    .map(|part| self.boolean(part, scope))
                    .collect::<Result<Vec<_>, _>>()?;
                let is_and = matches!(&*expr.kind, Kind::And(_));
                Ok(self.model.exprs.add(if is_and {
                    Node::And(ids.into())
                } else {
                    Node::Or(ids.into())
                }))
            }
            Kind::Binary(operator, left, right) => {
                self.build_binary(*operator, left, right, scope, span)
            }
            Kind::Case(branches) => {
                self.model.features.insert("case");
                let mut built = Vec::with_capacity(branches.len());
                for (condition, value) in branches {
                    built.push((self.boolean(condition, scope)?, self.build(value, scope)?));
                }
                Ok(self.case(built, span))
            }
            Kind::Conditional(condition, then, otherwise) => {
                let condition = self.boolean(condition, scope)?;
                let then = self.build(then, scope)?;
                let otherwise = self.build(otherwise, scope)?;
                let always = self.model.exprs.boolean(true);
                Ok(self.case(vec![(condition, then), (always, otherwise)], span))
            }
            Kind::Set(parts) => {
                let ids = parts
                    .iter()
                    .map(|part| self.build(part, scope))
                    .collect::<Result<Vec<_>, _>>()?;
                if ids.len() == 1 {
                    return Ok(ids[0]);
                }
                self.model.features.insert("sets");
                Ok(self.model.exprs.add(Node::Set(ids.into())))
            }
            Kind::Range(low, high) => {
                self.model.features.insert("sets");
                let (low, high) = (self.integer(low, scope)?, self.integer(high, scope)?);
                Ok(self.model.exprs.add(Node::Range(low, high)))
            }
            Kind::Next(inner) => {
                self.model.features.insert("next() in expressions");
                let id = self.build(inner, scope)?;
                self.model
                    .exprs
                    .primed(id, &mut self.primed)
                    .map_err(|_| Problem::error(span, "next() is not allowed inside next()"))
            }
            Kind::Call(name, arguments) => self.call(name, arguments, scope, span),
        }
    }

    fn symbol_named(&self, expr: &Expr) -> Option<Value> {
        match &*expr.kind {
            Kind::Name(name) => self.model.symbols.get(name).map(Value::Symbol),
            _ => None,
        }
    }

    fn case(&mut self, branches: Vec<(ExprId, ExprId)>, span: Span) -> ExprId {
        let certain = |exprs: &crate::expr::Exprs, id: ExprId| {
            matches!(exprs.node(id), Node::Const(Value::Bool(true)))
        };
        let mut kept = Vec::with_capacity(branches.len());
        let mut closed = false;
        for (condition, value) in branches {
            if closed {
                break;
            }
            closed = certain(&self.model.exprs, condition);
            kept.push((condition, value));
        }
        if closed && kept.len() == 1 {
            return kept[0].1;
        }
        let id = self.model.exprs.add(Node::Case(kept.into()));
        if !closed {
            self.case_spans.entry(id).or_insert(span);
        }
        id
    }

    fn build_binary(
        &mut self,
        operator: Operator,
        left: &Expr,
        right: &Expr,
        scope: InstanceId,
        span: Span,
    ) -> Result<ExprId, Problem> {
        match operator {
            Operator::Xor | Operator::Xnor | Operator::Iff | Operator::Implies => {
                let (a, b) = (self.boolean(left, scope)?, self.boolean(right, scope)?);
                Ok(self.model.exprs.binary(operator, a, b))
            }
            Operator::Add
            | Operator::Subtract
            | Operator::Multiply
            | Operator::Divide
            | Operator::Modulo => {
                self.model.features.insert("arithmetic");
                let (a, b) = (self.integer(left, scope)?, self.integer(right, scope)?);
                if matches!(operator, Operator::Divide | Operator::Modulo)
                    && matches!(self.model.exprs.node(b), Node::Const(Value::Int(0)))
                {
                    return Err(Problem::error(right.span, "division by zero"));
                }
                self.bounded(Node::Binary(operator, a, b), span)
            }
            Operator::Less | Operator::LessEqual | Operator::Greater | Operator::GreaterEqual => {
                let (a, b) = (self.integer(left, scope)?, self.integer(right, scope)?);
                Ok(self.model.exprs.binary(operator, a, b))
            }
            Operator::Equal | Operator::Unequal => {
                let (a, b) = (self.build(left, scope)?, self.build(right, scope)?);
                let (type_a, type_b) = (self.type_of(a), self.type_of(b));
                if !overlap(type_a, type_b) {
                    self.problems.push(Problem::warning(
                        span,
                        format!(
                            "{} is compared with {}: never equal",
                            type_a.words(),
                            type_b.words()
                        ),
                    ));
                }
                Ok(self.model.exprs.binary(operator, a, b))
            }
            Operator::Union => {
                self.model.features.insert("union");
                let (a, b) = (self.build(left, scope)?, self.build(right, scope)?);
                Ok(self.model.exprs.binary(operator, a, b))
            }
            Operator::In => {
                self.model.features.insert("in");
                let (a, b) = (self.build(left, scope)?, self.build(right, scope)?);
                Ok(self.model.exprs.binary(operator, a, b))
            }
        }
    }

    fn call(
        &mut self,
        name: &str,
        arguments: &[Expr],
        scope: InstanceId,
        span: Span,
    ) -> Result<ExprId, Problem> {
        let arity = |wanted: usize| {
            if arguments.len() == wanted {
                Ok(())
            } else {
                Err(Problem::error(
                    span,
                    format!("`{name}` takes {wanted} arguments, not {}", arguments.len()),
                ))
            }
        };
        match name {
            "count" => {
                let ids = arguments
                    .iter()
                    .map(|argument| self.boolean(argument, scope))
                    .collect::<Result<Vec<_>, _>>()?;
                Ok(self.model.exprs.add(Node::Count(ids.into())))
            }
            "toint" => {
                arity(1)?;
                let id = self.build(&arguments[0], scope)?;
                Ok(self.model.exprs.add(Node::ToInt(id)))
            }
            "bool" => {
                arity(1)?;
                let id = self.build(&arguments[0], scope)?;
                Ok(self.model.exprs.add(Node::ToBool(id)))
            }
            "abs" => {
                arity(1)?;
                let id = self.integer(&arguments[0], scope)?;
                Ok(self.model.exprs.add(Node::Abs(id)))
            }
            _ => {
                arity(2)?;
                let (a, b) = (
                    self.integer(&arguments[0], scope)?,
                    self.integer(&arguments[1], scope)?,
                );
                Ok(self.model.exprs.add(if name == "min" {
                    Node::Min(a, b)
                } else {
                    Node::Max(a, b)
                }))
            }
        }
    }

    fn bounded(&mut self, node: Node, span: Span) -> Result<ExprId, Problem> {
        let constant = |id: ExprId| match self.model.exprs.node(id) {
            Node::Const(Value::Int(number)) => Some(*number),
            _ => None,
        };
        let folded =
            match node {
                Node::Binary(operator, left, right) => constant(left)
                    .zip(constant(right))
                    .and_then(|(a, b)| match operator {
                        Operator::Add => a.checked_add(b),
                        Operator::Subtract => a.checked_sub(b),
                        Operator::Multiply => a.checked_mul(b),
                        Operator::Divide => a.checked_div(b),
                        Operator::Modulo => a.checked_rem(b),
                        _ => None,
                    }),
                Node::Negate(inner) => constant(inner).and_then(i64::checked_neg),
                _ => None,
            };
        let id = match folded {
            Some(number) => self.model.exprs.constant(Value::Int(number)),
            None => self.model.exprs.add(node),
        };
        match self.type_of(id).integer {
            Some((low, high)) if low < -INTEGER_LIMIT || high > INTEGER_LIMIT => Err(
                Problem::error(span, "the values of this expression can become too large"),
            ),
            _ => Ok(id),
        }
    }

    pub(super) fn boolean(&mut self, expr: &Expr, scope: InstanceId) -> Result<ExprId, Problem> {
        let id = self.build(expr, scope)?;
        let type_ = self.type_of(id);
        if type_.is_boolean() {
            return Ok(id);
        }
        let mut problem = Problem::error(
            expr.span,
            format!("a boolean is needed here, and this is {}", type_.words()),
        );
        if matches!(self.model.exprs.node(id), Node::Const(Value::Int(0 | 1))) {
            problem = problem.hint("write TRUE or FALSE; 0 and 1 are integers");
        }
        Err(problem)
    }

    fn integer(&mut self, expr: &Expr, scope: InstanceId) -> Result<ExprId, Problem> {
        let id = self.build(expr, scope)?;
        let type_ = self.type_of(id);
        if type_.is_integer() {
            return Ok(id);
        }
        Err(Problem::error(
            expr.span,
            format!("an integer is needed here, and this is {}", type_.words()),
        ))
    }
}

fn overlap(a: Type, b: Type) -> bool {
    (a.boolean && b.boolean)
        || (a.symbol && b.symbol)
        || (a.integer.is_some() && b.integer.is_some())
}
