//! What the names of an expression stand for.

use super::{DefineState, Entity, Flattener, InstanceId, Resolved};
use crate::diagnostic::{Problem, Span};
use crate::expr::{ExprId, Node};
use crate::syntax::tree::{Expr, Kind};
use crate::value::Value;

/// Names that refer to names that refer to names ...
const RESOLVE_DEPTH: usize = 500;

/// Names to suggest where one is used that the model does not have.
const SHOWN_NAMES: usize = 8;

impl<'t> Flattener<'t> {
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
