//! Second pass: assignments and constraints. In a process, a variable that it assigns keeps its value while another runs.

use rustc_hash::FxHashMap;

use super::{Entity, Flattener, InstanceId, Resolved};
use crate::diagnostic::{Problem, Span};
use crate::expr::{ExprId, Node, VarId};
use crate::model::{Constraint, Invariant, Specification, VarKind};
use crate::syntax::tree::{Constraint as ConstraintKind, Expr, Item, Kind, When};
use crate::value::Value;

impl Flattener<'_> {
    pub(super) fn build_all(&mut self) {
        let mut next_by_process: FxHashMap<VarId, Vec<(usize, ExprId)>> = FxHashMap::default();
        for index in 0..self.scopes.len() {
            let scope = InstanceId(index);
            for module in self.scopes[index].modules.clone() {
                for item in &module.items {
                    if self.full {
                        return;
                    }
                    if let Err(problem) = self.item(item, scope, &mut next_by_process) {
                        self.problems.push(problem);
                    }
                }
            }
        }
        self.finish_next(next_by_process);
        self.finish_defines();
        if !self.has_errors() {
            self.check_circular();
        }
    }

    fn item(
        &mut self,
        item: &Item,
        scope: InstanceId,
        next_by_process: &mut FxHashMap<VarId, Vec<(usize, ExprId)>>,
    ) -> Result<(), Problem> {
        match item {
            Item::Assign {
                when,
                target,
                value,
            } => {
                let var = self.target(target, scope)?;
                let value_id = self.build(value, scope)?;
                self.assign(
                    *when,
                    var,
                    value_id,
                    target.span,
                    value.span,
                    scope,
                    next_by_process,
                )
            }
            Item::Constraint { kind, body } => {
                let expr = self.boolean(body, scope)?;
                let (_, next) = self.model.exprs.variables(expr);
                let feature = match kind {
                    ConstraintKind::Init => "INIT",
                    ConstraintKind::Trans => "TRANS",
                    ConstraintKind::Invar => "INVAR",
                };
                self.model.features.insert(feature);
                if *kind != ConstraintKind::Trans && !next.is_empty() {
                    return Err(Problem::error(
                        body.span,
                        format!("next() is not allowed in `{feature}`"),
                    ));
                }
                if *kind != ConstraintKind::Trans {
                    self.refuse_inputs(expr, body.span, feature)?;
                }
                let constraint = Constraint {
                    expr,
                    place: self.lines.place(body.span.start),
                };
                match kind {
                    ConstraintKind::Init => self.model.init.push(constraint),
                    ConstraintKind::Trans => self.model.trans.push(constraint),
                    ConstraintKind::Invar => self.model.invar.push(constraint),
                }
                Ok(())
            }
            Item::Fairness { bodies } => {
                self.model.features.insert("fairness");
                for body in bodies {
                    let expr = self.boolean(body, scope)?;
                    self.model.fairness.push(expr);
                }
                Ok(())
            }
            Item::Invarspec { name, body } => {
                self.model.features.insert("INVARSPEC");
                let expr = self.boolean(body, scope)?;
                let place = self.lines.place(body.span.start);
                self.model.invariants.push(Invariant {
                    name: name.clone(),
                    expr,
                    place,
                });
                Ok(())
            }
            Item::Specification { keyword, text } => {
                self.model.features.insert(match keyword.as_str() {
                    "LTLSPEC" => "LTLSPEC",
                    "PSLSPEC" => "PSLSPEC",
                    "COMPUTE" => "COMPUTE",
                    _ => "CTLSPEC",
                });
                self.model.specifications.push(Specification {
                    keyword: keyword.clone(),
                    text: text.clone(),
                });
                Ok(())
            }
            Item::Variable { .. }
            | Item::Define { .. }
            | Item::Constants(_)
            | Item::Inherit(..) => Ok(()),
        }
    }

    fn refuse_inputs(&self, expr: ExprId, span: Span, what: &str) -> Result<(), Problem> {
        let (current, next) = self.model.exprs.variables(expr);
        let input = current
            .into_iter()
            .chain(next)
            .find(|var| self.model.var(*var).kind == VarKind::Input);
        match input {
            Some(var) => Err(Problem::error(
                span,
                format!(
                    "the input `{}` is not allowed in `{what}`",
                    self.model.var(var).name
                ),
            )),
            None => Ok(()),
        }
    }

    fn target(&mut self, target: &Expr, scope: InstanceId) -> Result<VarId, Problem> {
        match self.resolve(target, scope)? {
            Resolved::Expr(id) => match self.model.exprs.node(id) {
                Node::Var(var) => Ok(*var),
                _ => Err(Problem::error(
                    target.span,
                    "only a variable can be assigned",
                )),
            },
            _ => Err(Problem::error(
                target.span,
                "only a variable can be assigned",
            )),
        }
    }

    #[allow(clippy::too_many_arguments)] // The parts of one assignment.
    fn assign(
        &mut self,
        when: When,
        var: VarId,
        value: ExprId,
        target_span: Span,
        value_span: Span,
        scope: InstanceId,
        next_by_process: &mut FxHashMap<VarId, Vec<(usize, ExprId)>>,
    ) -> Result<(), Problem> {
        let name = self.model.var(var).name.clone();
        let (_, next) = self.model.exprs.variables(value);
        if when != When::Next && !next.is_empty() {
            return Err(Problem::error(
                value_span,
                "next() is allowed only in an assignment to next()",
            ));
        }
        match (self.model.var(var).kind, when) {
            (VarKind::Input, _) => {
                return Err(Problem::error(
                    target_span,
                    format!("the input `{name}` cannot be assigned"),
                ));
            }
            (VarKind::Frozen, When::Next | When::Always) => {
                return Err(Problem::error(
                    target_span,
                    format!("the frozen variable `{name}` can only be initialised"),
                ));
            }
            _ => {}
        }
        if when != When::Next {
            self.refuse_inputs(value, value_span, "an assignment to the current state")?;
        }
        let double = || Problem::error(target_span, format!("`{name}` is assigned twice"));
        match when {
            When::Init => {
                if self.model.vars[var.index()].init.replace(value).is_some() {
                    return Err(double());
                }
                self.assign_spans.insert((var, "init"), value_span);
            }
            When::Always => {
                if self.model.vars[var.index()].always.replace(value).is_some() {
                    return Err(double());
                }
                self.model.features.insert("x := e");
                self.assign_spans.insert((var, "always"), value_span);
            }
            When::Next => {
                let process = self.scopes[scope.0].process;
                let list = next_by_process.entry(var).or_default();
                if self.processes.len() == 1 && !list.is_empty() {
                    return Err(double());
                }
                list.push((process, value));
                self.assign_spans.insert((var, "next"), value_span);
            }
        }
        let var_entry = self.model.var(var);
        if var_entry.always.is_some()
            && (var_entry.init.is_some() || next_by_process.contains_key(&var))
        {
            return Err(Problem::error(
                target_span,
                format!("`{name}` is assigned in every state, and again by init() or next()"),
            ));
        }
        Ok(())
    }

    fn finish_next(&mut self, next_by_process: FxHashMap<VarId, Vec<(usize, ExprId)>>) {
        for (var, list) in next_by_process {
            let value = match self.model.process_selector {
                None => list[0].1,
                Some(selector) => {
                    let selector = self.model.exprs.var(selector);
                    let mut branches = Vec::new();
                    // The assignment that stands last is asked first, as NuSMV does.
                    for (process, value) in list.iter().rev() {
                        let symbol = self.model.symbols.intern(&self.processes[*process]);
                        branches.push((
                            self.model.exprs.equals(selector, Value::Symbol(symbol)),
                            *value,
                        ));
                    }
                    let always = self.model.exprs.boolean(true);
                    let same = self.model.exprs.var(var);
                    branches.push((always, same));
                    self.model.exprs.add(Node::Case(branches.into()))
                }
            };
            self.model.vars[var.index()].next = Some(value);
        }
    }

    /// Every definition is built, used or not, so that a mistake in it is found.
    fn finish_defines(&mut self) {
        let mut names: Vec<(Span, String)> = self
            .entities
            .iter()
            .filter_map(|(name, entity)| match entity {
                Entity::Define { body, .. } => Some((body.span, name.clone())),
                _ => None,
            })
            .collect();
        names.sort();
        for (span, name) in names {
            if self.full {
                return;
            }
            // Looked up by full name: the scope of `main` has no prefix.
            let reference = Expr {
                kind: Box::new(Kind::Name(name.clone())),
                span,
            };
            let resolved = self.resolve(&reference, InstanceId(0));
            match resolved {
                Ok(Resolved::Expr(expr)) => self.model.defines.push((name, expr)),
                Ok(_) => {}
                Err(problem) => {
                    if !self.problems.iter().any(|known| known.span == problem.span) {
                        self.problems.push(problem);
                    }
                }
            }
        }
    }

    /// `x := y; y := x` and `next(x) := next(y); next(y) := next(x)` have no order of evaluation.
    fn check_circular(&mut self) {
        for stage in ["current", "init", "next"] {
            let count = self.model.vars.len();
            let mut edges: Vec<Vec<usize>> = vec![Vec::new(); count];
            for var in self.model.var_ids() {
                let entry = self.model.var(var);
                let value = match stage {
                    "current" => entry.always,
                    "init" => entry.init.or(entry.always),
                    _ => entry.next.or(entry.always),
                };
                let Some(value) = value else { continue };
                let always = stage == "next" && entry.next.is_none();
                let (current, next) = self.model.exprs.variables(value);
                let needed = if stage != "next" || always {
                    current
                } else {
                    next
                };
                edges[var.index()].extend(needed.into_iter().map(VarId::index));
            }
            if let Some(cycle) = find_cycle(&edges) {
                let names: Vec<&str> = cycle
                    .iter()
                    .map(|index| self.model.vars[*index].name.as_str())
                    .collect();
                let var = VarId(u32::try_from(cycle[0]).unwrap_or(0));
                let span = ["next", "init", "always"]
                    .iter()
                    .find_map(|kind| self.assign_spans.get(&(var, *kind)))
                    .copied()
                    .unwrap_or_default();
                let message = format!(
                    "these assignments depend on each other in a circle: {}",
                    names.join(" -> ")
                );
                self.problems.push(Problem::error(span, message));
                return;
            }
        }
    }
}

/// A cycle in a graph, as the list of its nodes.
fn find_cycle(edges: &[Vec<usize>]) -> Option<Vec<usize>> {
    // 0 new, 1 on the path, 2 finished
    let mut mark = vec![0_u8; edges.len()];
    for start in 0..edges.len() {
        if mark[start] != 0 {
            continue;
        }
        let mut path = vec![(start, 0)];
        mark[start] = 1;
        while let Some((node, at)) = path.last_mut() {
            if let Some(next) = edges[*node].get(*at).copied() {
                *at += 1;
                match mark[next] {
                    0 => {
                        mark[next] = 1;
                        path.push((next, 0));
                    }
                    1 => {
                        let from = path
                            .iter()
                            .position(|(entry, _)| *entry == next)
                            .unwrap_or(0);
                        return Some(path[from..].iter().map(|(entry, _)| *entry).collect());
                    }
                    _ => {}
                }
            } else {
                mark[*node] = 2;
                path.pop();
            }
        }
    }
    None
}
