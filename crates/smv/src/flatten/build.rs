//! Builds flat expressions: resolves names, expands definitions, and checks types as it goes.

use super::{DefineState, Entity, Flattener, InstanceId, Resolved};
use crate::diagnostic::{Problem, Span};
use crate::expr::{ExprId, Node};
use crate::syntax::parser::{DEPTH_LIMIT, too_deep};
use crate::syntax::tree::{Expr, Kind, Operator};
use crate::types::{INTEGER_LIMIT, Type};
use crate::value::Value;

/// Names that refer to names that refer to names ...
const RESOLVE_DEPTH: usize = 500;

/// Definitions that refer to definitions are built innermost first, on a stack of a fixed size.
const BUILD_DEPTH: usize = 2 * DEPTH_LIMIT;

/// Names to show where somebody uses one that the model does not have.
const SHOWN_NAMES: usize = 8;

impl<'t> Flattener<'t> {
    pub(super) fn type_of(&mut self, id: ExprId) -> Type {
        self.types.of(&self.model.exprs, &self.model.vars, id)
    }

    pub(super) fn resolve(&mut self, expr: &Expr, scope: InstanceId) -> Result<Resolved, Problem> {
        self.resolve_at(expr, scope, 0)
    }

    fn resolve_at(
        &mut self,
        expr: &Expr,
        scope: InstanceId,
        depth: usize,
    ) -> Result<Resolved, Problem> {
        if depth > RESOLVE_DEPTH {
            return Err(Problem::error(expr.span, "this name refers to itself"));
        }
        if matches!(&*expr.kind, Kind::Dot(..) | Kind::Index(..))
            && let Some(path) = path_text(expr)
        {
            let full = self.full_name(scope, &path);
            if self.entities.contains_key(&full) {
                return self.entity(&full, expr.span);
            }
        }
        match &*expr.kind {
            Kind::Own => Ok(Resolved::Instance(scope)),
            Kind::Name(name) => {
                let parameter = self.scopes[scope.0].parameters.get_key_value(name.as_str());
                if let Some((&parameter, &(argument, outer))) = parameter {
                    return match &*argument.kind {
                        Kind::Own | Kind::Name(_) | Kind::Dot(..) | Kind::Index(..) => {
                            self.resolve_at(argument, outer, depth + 1)
                        }
                        _ => Ok(Resolved::Expr(
                            self.argument(scope, parameter, argument, outer)?,
                        )),
                    };
                }
                self.lookup(scope, name, expr.span)
            }
            Kind::Dot(base, field) => match self.resolve_at(base, scope, depth + 1)? {
                Resolved::Instance(inner) => {
                    let parameter = self.scopes[inner.0]
                        .parameters
                        .get_key_value(field.as_str());
                    if let Some((&parameter, &(argument, outer))) = parameter {
                        return match &*argument.kind {
                            Kind::Own | Kind::Name(_) | Kind::Dot(..) | Kind::Index(..) => {
                                self.resolve_at(argument, outer, depth + 1)
                            }
                            _ => Ok(Resolved::Expr(
                                self.argument(inner, parameter, argument, outer)?,
                            )),
                        };
                    }
                    self.lookup(inner, field, expr.span)
                }
                _ => Err(Problem::error(
                    base.span,
                    "this is not an instance of a module",
                )),
            },
            Kind::Index(base, index) => {
                let Resolved::Array { name, low, high } =
                    self.resolve_at(base, scope, depth + 1)?
                else {
                    return Err(Problem::error(base.span, "this is not an array"));
                };
                let index_expr = self.build(index, scope)?;
                self.element(&name, low, high, index_expr, index.span)
            }
            _ => Ok(Resolved::Expr(self.build(expr, scope)?)),
        }
    }

    fn argument(
        &mut self,
        scope: InstanceId,
        parameter: &'t str,
        argument: &Expr,
        outer: InstanceId,
    ) -> Result<ExprId, Problem> {
        if let Some(known) = self.arguments.get(&(scope, parameter)) {
            return Ok(*known);
        }
        let id = self.build(argument, outer)?;
        self.arguments.insert((scope, parameter), id);
        Ok(id)
    }

    fn element(
        &mut self,
        name: &str,
        low: i64,
        high: i64,
        index: ExprId,
        span: Span,
    ) -> Result<Resolved, Problem> {
        if let Node::Const(Value::Int(number)) = self.model.exprs.node(index) {
            let number = *number;
            if !(low..=high).contains(&number) {
                return Err(Problem::error(
                    span,
                    format!("index {number} is outside of the array, {low}..{high}"),
                ));
            }
            return self.entity(&format!("{name}[{number}]"), span);
        }
        if !self.type_of(index).is_integer() {
            return Err(Problem::error(span, "an index must be an integer"));
        }
        let mut branches = Vec::new();
        for number in low..=high {
            let Resolved::Expr(value) = self.entity(&format!("{name}[{number}]"), span)? else {
                return Err(Problem::error(
                    span,
                    "only a constant can be the index here",
                ));
            };
            branches.push((self.model.exprs.equals(index, Value::Int(number)), value));
        }
        let case = self.model.exprs.add(Node::Case(branches.into()));
        self.case_spans.insert(case, span);
        Ok(Resolved::Expr(case))
    }

    fn lookup(&mut self, scope: InstanceId, name: &str, span: Span) -> Result<Resolved, Problem> {
        let full = self.full_name(scope, name);
        if self.entities.contains_key(&full) {
            return self.entity(&full, span);
        }
        if name == "running"
            && let Some(selector) = self.model.process_selector
        {
            let process = self.scopes[scope.0].process;
            let symbol = self.model.symbols.intern(&self.processes[process]);
            let variable = self.model.exprs.var(selector);
            return Ok(Resolved::Expr(
                self.model.exprs.equals(variable, Value::Symbol(symbol)),
            ));
        }
        if name == "_process_selector_"
            && let Some(selector) = self.model.process_selector
        {
            return Ok(Resolved::Expr(self.model.exprs.var(selector)));
        }
        if let Some(symbol) = self.model.symbols.get(name) {
            return Ok(Resolved::Expr(
                self.model.exprs.constant(Value::Symbol(symbol)),
            ));
        }
        let mut problem = Problem::error(span, format!("`{full}` is not declared"));
        if let Some((left, right)) = name.split_once('-') {
            let known = |part: &str| {
                self.entities.contains_key(&self.full_name(scope, part))
                    || part.parse::<i64>().is_ok()
            };
            if known(left) && known(right) {
                problem = problem.hint(format!(
                    "`{name}` is one identifier; write `{left} - {right}` with spaces for a subtraction"
                ));
            }
        } else if let Some(near) = self.near_name(&full) {
            problem = problem.hint(format!("did you mean `{near}`?"));
        } else if !self.model.vars.is_empty() {
            problem = problem.hint(self.declared());
        }
        Err(problem)
    }

    /// Where no name is near, the first of those that there are.
    fn declared(&self) -> String {
        let vars = &self.model.vars;
        let names: Vec<&str> = vars
            .iter()
            .take(SHOWN_NAMES)
            .map(|var| var.name.as_str())
            .collect();
        let end = if vars.len() > SHOWN_NAMES {
            ", ..."
        } else {
            ""
        };
        format!("the variables are {}{end}", names.join(", "))
    }

    /// A declared name that differs in case or by one letter.
    fn near_name(&self, wanted: &str) -> Option<String> {
        let mut names: Vec<&String> = self.entities.keys().collect();
        names.sort();
        names.into_iter().find(|name| close(name, wanted)).cloned()
    }

    fn entity(&mut self, full: &str, span: Span) -> Result<Resolved, Problem> {
        match self.entities.get(full).copied() {
            Some(Entity::Var(var)) => Ok(Resolved::Expr(self.model.exprs.var(var))),
            Some(Entity::Value(expr)) => Ok(Resolved::Expr(expr)),
            Some(Entity::Instance(scope)) => Ok(Resolved::Instance(scope)),
            Some(Entity::Array { low, high }) => Ok(Resolved::Array {
                name: full.to_owned(),
                low,
                high,
            }),
            Some(Entity::Define { body, scope, state }) => match state {
                DefineState::Done(expr) => Ok(Resolved::Expr(expr)),
                DefineState::Open => Err(Problem::error(
                    span,
                    format!("the definition of `{full}` depends on itself"),
                )),
                DefineState::Untouched => {
                    self.set_define(full, DefineState::Open);
                    // A definition may be another name of an instance or an array.
                    let resolved = self.resolve(body, scope);
                    match &resolved {
                        Ok(Resolved::Expr(expr)) => self.set_define(full, DefineState::Done(*expr)),
                        _ => self.set_define(full, DefineState::Untouched),
                    }
                    resolved
                }
            },
            None => Err(Problem::error(span, format!("`{full}` is not declared"))),
        }
    }

    fn set_define(&mut self, full: &str, new: DefineState) {
        if let Some(Entity::Define { state, .. }) = self.entities.get_mut(full) {
            *state = new;
        }
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
                    .map_err(|_| Problem::error(span, "next() may not stand inside next()"))
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

/// The full name that a path spells, when it has only names and numbers.
fn path_text(expr: &Expr) -> Option<String> {
    match &*expr.kind {
        Kind::Name(name) => Some(name.clone()),
        Kind::Dot(base, field) => Some(format!("{}.{field}", path_text(base)?)),
        Kind::Index(base, index) => match *index.kind {
            Kind::Number(number) => Some(format!("{}[{number}]", path_text(base)?)),
            _ => None,
        },
        _ => None,
    }
}

fn overlap(a: Type, b: Type) -> bool {
    (a.boolean && b.boolean)
        || (a.symbol && b.symbol)
        || (a.integer.is_some() && b.integer.is_some())
}

fn close(name: &str, wanted: &str) -> bool {
    if name.eq_ignore_ascii_case(wanted) {
        return true;
    }
    let (long, short) = if name.len() >= wanted.len() {
        (name, wanted)
    } else {
        (wanted, name)
    };
    if long.len() - short.len() > 1 || short.len() < 3 {
        return false;
    }
    let common = long
        .bytes()
        .zip(short.bytes())
        .take_while(|(a, b)| a == b)
        .count();
    let skip = usize::from(long.len() == short.len());
    long.as_bytes()[common + 1..] == short.as_bytes()[(common + skip).min(short.len())..]
}
