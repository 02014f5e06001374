//! First pass: instances, variables with their domains, symbolic constants, definitions by full name.

use super::{DefineState, Entity, Flattener, Instance, InstanceId};
use crate::diagnostic::{Problem, Span};
use crate::expr::VarId;
use crate::model::{Var, VarKind};
use crate::syntax::tree::{Expr, Item, Kind, Module, Operator, Section, Type, TypeKind};
use crate::value::{Domain, Enumeration, Value};

/// Modules that contain themselves would expand for ever.
const INSTANCE_DEPTH: usize = 64;
const INSTANCE_LIMIT: usize = 100_000;
const ARRAY_LIMIT: i64 = 100_000;
const VARIABLE_LIMIT: usize = 1_000_000;

impl<'t> Flattener<'t> {
    pub(super) fn declare_all(&mut self, main: &'t Module) {
        self.scopes.push(Instance {
            name: String::new(),
            modules: vec![main],
            parameters: rustc_hash::FxHashMap::default(),
            process: 0,
        });
        self.declare_constants();
        self.declare_scope(InstanceId(0), 0);
        if !self.has_errors() {
            self.declare_defines();
        }
        self.model.instances = self.scopes.len() - 1;
        if self.processes.len() > 1 {
            self.model.processes = self.processes.len() - 1;
            self.model.features.insert("processes");
            self.declare_selector();
        }
    }

    fn declare_selector(&mut self) {
        let names = self.processes.clone();
        let values = names
            .iter()
            .map(|name| Value::Symbol(self.model.symbols.intern(name)))
            .collect();
        let place = self.lines.place(0);
        self.model.process_selector = Some(VarId(
            u32::try_from(self.model.vars.len()).expect("fewer than 2^32 variables"),
        ));
        self.model.vars.push(Var {
            name: "_process_selector_".to_owned(),
            domain: Domain::Enum(Enumeration::new(values)),
            kind: VarKind::Input,
            init: None,
            next: None,
            always: None,
            place,
        });
    }

    /// Enumeration literals are visible everywhere, whichever module declares them.
    fn declare_constants(&mut self) {
        let mut names = Vec::new();
        let mut modules: Vec<&Module> = self.modules.values().copied().collect();
        modules.sort_by_key(|module| module.span);
        for module in modules {
            for item in &module.items {
                match item {
                    Item::Constants(constants) => {
                        self.model.features.insert("CONSTANTS");
                        names.extend(constants.iter().map(|(name, _)| name.clone()));
                    }
                    Item::Variable { type_, .. } => type_symbols(type_, &mut names),
                    _ => {}
                }
            }
        }
        for name in names {
            self.model.symbols.intern(&name);
        }
    }

    fn declare_scope(&mut self, scope: InstanceId, depth: usize) {
        // Inherited modules are part of this one: same names, same parameters.
        let mut at = 0;
        while at < self.scopes[scope.0].modules.len() {
            let module = self.scopes[scope.0].modules[at];
            for item in &module.items {
                if let Item::Inherit(name, span) = item {
                    self.model.features.insert("ISA");
                    match self.modules.get(name.as_str()).copied() {
                        Some(parent)
                            if self.scopes[scope.0]
                                .modules
                                .iter()
                                .any(|known| known.name == parent.name) =>
                        {
                            self.problems.push(Problem::error(
                                *span,
                                format!("module `{name}` inherits itself"),
                            ));
                        }
                        Some(parent) => self.scopes[scope.0].modules.push(parent),
                        None => self.problems.push(Problem::error(
                            *span,
                            format!("there is no module `{name}`"),
                        )),
                    }
                }
            }
            at += 1;
        }
        for module in self.scopes[scope.0].modules.clone() {
            for item in &module.items {
                if let Item::Variable {
                    section,
                    name,
                    type_,
                } = item
                {
                    let Kind::Name(simple) = &*name.kind else {
                        self.problems.push(Problem::error(
                            name.span,
                            "a variable is declared with a simple name",
                        ));
                        continue;
                    };
                    let full = self.full_name(scope, simple);
                    if self.scopes[scope.0]
                        .parameters
                        .contains_key(simple.as_str())
                    {
                        self.problems.push(Problem::error(
                            name.span,
                            format!("`{simple}` is already a parameter of the module"),
                        ));
                        continue;
                    }
                    self.declare(&full, *section, type_, scope, name.span, depth);
                }
            }
        }
    }

    fn declare(
        &mut self,
        full: &str,
        section: Section,
        type_: &'t Type,
        scope: InstanceId,
        span: Span,
        depth: usize,
    ) {
        if self.full {
            return;
        }
        if self.model.vars.len() >= VARIABLE_LIMIT {
            self.full = true;
            let message = format!("the model has more than {VARIABLE_LIMIT} variables");
            self.problems.push(Problem::error(span, message));
            return;
        }
        let domain = match &type_.kind {
            TypeKind::Boolean => Some(Domain::Bool),
            TypeKind::Range(low, high) => {
                self.model.features.insert("ranges");
                self.range_bounds(low, high, scope)
                    .map(|(low, high)| Domain::Range(low, high))
            }
            TypeKind::Enum(values) => {
                self.model.features.insert("enumerations");
                self.enum_domain(values, type_.span, scope)
            }
            TypeKind::Array(low, high, element) => {
                self.model.features.insert("arrays");
                if let Some((low, high)) = self.range_bounds(low, high, scope) {
                    if high.saturating_sub(low) > ARRAY_LIMIT {
                        self.problems
                            .push(Problem::error(type_.span, "this array is too large"));
                        return;
                    }
                    self.enter(full, Entity::Array { low, high }, span);
                    for index in low..=high {
                        self.declare(
                            &format!("{full}[{index}]"),
                            section,
                            element,
                            scope,
                            span,
                            depth,
                        );
                    }
                }
                None
            }
            TypeKind::Instance {
                module,
                arguments,
                process,
            } => {
                self.declare_instance(full, module, arguments, *process, scope, type_.span, depth);
                None
            }
        };
        let Some(domain) = domain else { return };
        let kind = match section {
            Section::Var => VarKind::State,
            Section::Input => {
                self.model.features.insert("IVAR");
                VarKind::Input
            }
            Section::Frozen => {
                self.model.features.insert("FROZENVAR");
                VarKind::Frozen
            }
        };
        let id = VarId(u32::try_from(self.model.vars.len()).expect("fewer than 2^32 variables"));
        let place = self.lines.place(span.start);
        self.model.vars.push(Var {
            name: full.to_owned(),
            domain,
            kind,
            init: None,
            next: None,
            always: None,
            place,
        });
        self.enter(full, Entity::Var(id), span);
    }

    fn enter(&mut self, full: &str, entity: Entity<'t>, span: Span) {
        if self.entities.contains_key(full) {
            self.problems
                .push(Problem::error(span, format!("`{full}` is declared twice")));
        } else {
            self.entities.insert(full.to_owned(), entity);
        }
    }

    #[allow(clippy::too_many_arguments)] // The parts of one declaration.
    fn declare_instance(
        &mut self,
        full: &str,
        module: &str,
        arguments: &'t [Expr],
        process: bool,
        scope: InstanceId,
        span: Span,
        depth: usize,
    ) {
        self.model.features.insert("modules");
        let Some(declared) = self.modules.get(module).copied() else {
            self.problems.push(Problem::error(
                span,
                format!("there is no module `{module}`"),
            ));
            return;
        };
        if depth >= INSTANCE_DEPTH || self.scopes.len() >= INSTANCE_LIMIT {
            self.full = true;
            self.problems.push(Problem::error(
                span,
                format!("module `{module}` is instantiated too often: does it contain itself?"),
            ));
            return;
        }
        if declared.parameters.len() != arguments.len() {
            self.problems.push(Problem::error(
                span,
                format!(
                    "module `{module}` has {} parameters, and {} are given",
                    declared.parameters.len(),
                    arguments.len()
                ),
            ));
            return;
        }
        if !arguments.is_empty() {
            self.model.features.insert("parameters");
        }
        let inner = InstanceId(self.scopes.len());
        let process_id = if process {
            self.processes.push(full.to_owned());
            self.processes.len() - 1
        } else {
            self.scopes[scope.0].process
        };
        let parameters = declared
            .parameters
            .iter()
            .zip(arguments)
            .map(|(name, argument)| (name.as_str(), (argument, scope)))
            .collect();
        self.scopes.push(Instance {
            name: full.to_owned(),
            modules: vec![declared],
            parameters,
            process: process_id,
        });
        self.enter(full, Entity::Instance(inner), span);
        self.declare_scope(inner, depth + 1);
    }

    fn declare_defines(&mut self) {
        for index in 0..self.scopes.len() {
            let scope = InstanceId(index);
            for module in self.scopes[index].modules.clone() {
                for item in &module.items {
                    let Item::Define { name, body } = item else {
                        continue;
                    };
                    self.model.features.insert("DEFINE");
                    let full = match &*name.kind {
                        Kind::Name(simple) => self.full_name(scope, simple),
                        // `left.ack := ...` adds a name to another instance.
                        Kind::Dot(base, field) => match self.resolve(base, scope) {
                            Ok(super::Resolved::Instance(other)) => self.full_name(other, field),
                            Ok(_) => {
                                self.problems.push(Problem::error(
                                    base.span,
                                    "this is not an instance of a module",
                                ));
                                continue;
                            }
                            Err(problem) => {
                                self.problems.push(problem);
                                continue;
                            }
                        },
                        _ => {
                            self.problems
                                .push(Problem::error(name.span, "a definition needs a name"));
                            continue;
                        }
                    };
                    let state = DefineState::Untouched;
                    self.enter(&full, Entity::Define { body, scope, state }, name.span);
                }
            }
        }
    }

    fn range_bounds(&mut self, low: &Expr, high: &Expr, scope: InstanceId) -> Option<(i64, i64)> {
        let bounds = self
            .constant(low, scope, 0)
            .and_then(|low_value| Ok((low_value, self.constant(high, scope, 0)?)));
        match bounds {
            Ok((low_value, high_value)) if low_value > high_value => {
                self.problems.push(Problem::error(
                    low.span.to(high.span),
                    format!("the range {low_value}..{high_value} is empty"),
                ));
                None
            }
            Ok((low_value, high_value))
                if low_value < -crate::types::INTEGER_LIMIT
                    || high_value > crate::types::INTEGER_LIMIT =>
            {
                self.problems.push(Problem::error(
                    low.span.to(high.span),
                    "this range is too large",
                ));
                None
            }
            Ok(bounds) => Some(bounds),
            Err(problem) => {
                self.problems.push(problem);
                None
            }
        }
    }

    fn enum_domain(&mut self, values: &[Expr], span: Span, scope: InstanceId) -> Option<Domain> {
        let mut found = Vec::new();
        for value in values {
            let value = match &*value.kind {
                Kind::Bool(truth) => Value::Bool(*truth),
                Kind::Name(name) => Value::Symbol(self.model.symbols.intern(name)),
                _ => match self.constant(value, scope, 0) {
                    Ok(number) => Value::Int(number),
                    Err(problem) => {
                        self.problems.push(problem);
                        return None;
                    }
                },
            };
            if !found.contains(&value) {
                found.push(value);
            }
        }
        if found.is_empty() {
            self.problems.push(Problem::error(
                span,
                "the domain is empty: a variable needs at least one value",
            ));
            return None;
        }
        if found.iter().all(|value| matches!(value, Value::Bool(_))) && found.len() == 2 {
            return Some(Domain::Bool);
        }
        if found.iter().any(|value| matches!(value, Value::Bool(_))) {
            self.problems.push(Problem::error(
                span,
                "TRUE and FALSE cannot be mixed with other values; use boolean, or names",
            ));
            return None;
        }
        Some(Domain::Enum(Enumeration::new(found)))
    }

    /// An integer that is known before the model runs: a bound of a range or an array.
    fn constant(&self, expr: &Expr, scope: InstanceId, depth: usize) -> Result<i64, Problem> {
        let refuse = || Problem::error(expr.span, "this must be an integer constant");
        if depth > 100 {
            return Err(refuse());
        }
        match &*expr.kind {
            Kind::Number(number) => Ok(*number),
            Kind::Negate(inner) => Ok(-self.constant(inner, scope, depth + 1)?),
            Kind::Binary(operator, left, right) => {
                let left = self.constant(left, scope, depth + 1)?;
                let right = self.constant(right, scope, depth + 1)?;
                let result = match operator {
                    Operator::Add => left.checked_add(right),
                    Operator::Subtract => left.checked_sub(right),
                    Operator::Multiply => left.checked_mul(right),
                    Operator::Divide => left.checked_div(right),
                    Operator::Modulo => left.checked_rem(right),
                    _ => None,
                };
                result.ok_or_else(refuse)
            }
            Kind::Name(name) => {
                let here = &self.scopes[scope.0];
                if let Some((argument, outer)) = here.parameters.get(name.as_str()) {
                    return self.constant(argument, *outer, depth + 1);
                }
                for module in &here.modules {
                    for item in &module.items {
                        if let Item::Define {
                            name: defined,
                            body,
                        } = item
                            && matches!(&*defined.kind, Kind::Name(other) if other == name)
                        {
                            return self.constant(body, scope, depth + 1);
                        }
                    }
                }
                Err(refuse())
            }
            _ => Err(refuse()),
        }
    }
}

fn type_symbols(type_: &Type, names: &mut Vec<String>) {
    match &type_.kind {
        TypeKind::Enum(values) => {
            names.extend(values.iter().filter_map(|value| match &*value.kind {
                Kind::Name(name) => Some(name.clone()),
                _ => None,
            }))
        }
        TypeKind::Array(_, _, element) => type_symbols(element, names),
        _ => {}
    }
}
