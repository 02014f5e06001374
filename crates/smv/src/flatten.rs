//! From modules to one flat model: instances are expanded, parameters and definitions put in place, names resolved.

mod assign;
mod build;
mod declare;
mod names;

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::diagnostic::{LineIndex, Problem, Span};
use crate::expr::{ExprId, VarId};
use crate::model::Model;
use crate::syntax::tree::{Expr, Module};
use crate::types::Types;
use crate::value::Symbols;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct InstanceId(usize);

/// One instance of a module.
struct Instance<'t> {
    /// Full name of the instance; empty for `main`.
    name: String,
    /// The module, and the modules that it inherits by `ISA`.
    modules: Vec<&'t Module>,
    parameters: FxHashMap<&'t str, (&'t Expr, InstanceId)>,
    process: usize,
}

/// What a full name stands for.
#[derive(Clone, Copy)]
enum Entity<'t> {
    Var(VarId),
    Array {
        low: i64,
        high: i64,
    },
    Instance(InstanceId),
    Define {
        body: &'t Expr,
        scope: InstanceId,
        state: DefineState,
    },
    /// A definition of a model that is flat already.
    Value(ExprId),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum DefineState {
    Untouched,
    Open,
    Done(ExprId),
}

/// An expression, or something that only a further `.` or `[ ]` makes one.
enum Resolved {
    Expr(ExprId),
    Instance(InstanceId),
    Array { name: String, low: i64, high: i64 },
}

pub(crate) struct Flattener<'t> {
    lines: LineIndex<'t>,
    modules: FxHashMap<&'t str, &'t Module>,
    scopes: Vec<Instance<'t>>,
    entities: FxHashMap<String, Entity<'t>>,
    /// Full names of the processes; the first is `main`.
    processes: Vec<String>,
    primed: FxHashMap<ExprId, ExprId>,
    /// What parameters stand for, once built: an argument that passes a parameter on twice would double at each level.
    arguments: FxHashMap<(InstanceId, &'t str), ExprId>,
    /// A limit is reached, and that is reported; going on would only repeat it.
    full: bool,
    /// How deep the building of expressions is in others.
    depth: usize,
    types: Types,
    model: Model,
    problems: Vec<Problem>,
    /// Where a `case` without a certain last branch stands, for a message.
    pub case_spans: FxHashMap<ExprId, Span>,
    /// Where the assignments stand, by variable.
    pub assign_spans: FxHashMap<(VarId, &'static str), Span>,
}

/// The flat model with what the later checks need to point at the text.
pub(crate) struct Flat {
    pub model: Model,
    pub problems: Vec<Problem>,
    pub case_spans: FxHashMap<ExprId, Span>,
    pub assign_spans: FxHashMap<(VarId, &'static str), Span>,
}

pub(crate) fn flatten(modules: &[Module], text: &str, file: &str) -> Flat {
    let mut flattener = Flattener::new(modules, text, file);
    flattener.run();
    Flat {
        model: flattener.model,
        problems: flattener.problems,
        case_spans: flattener.case_spans,
        assign_spans: flattener.assign_spans,
    }
}

/// Builds an expression given by the user over a flat model, by the full names of variables and definitions.
pub(crate) fn build_goal(model: &mut Model, expr: &Expr, text: &str) -> Result<ExprId, Problem> {
    let file = String::new();
    let mut flattener = Flattener::new(&[], text, &file);
    std::mem::swap(&mut flattener.model, model);
    for var in flattener.model.var_ids() {
        let name = flattener.model.var(var).name.clone();
        if let Some((array, index)) = name
            .strip_suffix(']')
            .and_then(|rest| rest.rsplit_once('['))
            && let Ok(index) = index.parse::<i64>()
        {
            let bounds = match flattener.entities.get(array) {
                Some(Entity::Array { low, high }) => (index.min(*low), index.max(*high)),
                _ => (index, index),
            };
            let (low, high) = bounds;
            flattener
                .entities
                .insert(array.to_owned(), Entity::Array { low, high });
        }
        flattener.entities.insert(name, Entity::Var(var));
    }
    for (name, value) in flattener.model.defines.clone() {
        flattener.entities.insert(name, Entity::Value(value));
    }
    flattener.scopes.push(Instance {
        name: String::new(),
        modules: Vec::new(),
        parameters: FxHashMap::default(),
        process: 0,
    });
    let result = flattener.boolean(expr, InstanceId(0));
    std::mem::swap(&mut flattener.model, model);
    result
}

impl<'t> Flattener<'t> {
    fn new(modules: &'t [Module], text: &'t str, file: &'t str) -> Self {
        let mut problems = Vec::new();
        let mut by_name = FxHashMap::default();
        for module in modules {
            if by_name.insert(module.name.as_str(), module).is_some() {
                problems.push(Problem::error(
                    module.span,
                    format!("module `{}` is declared twice", module.name),
                ));
            }
        }
        Self {
            lines: LineIndex::new(file, text),
            modules: by_name,
            scopes: Vec::new(),
            entities: FxHashMap::default(),
            processes: vec!["main".to_owned()],
            primed: FxHashMap::default(),
            arguments: FxHashMap::default(),
            full: false,
            depth: 0,
            types: Types::default(),
            model: Model {
                file: file.to_owned(),
                vars: Vec::new(),
                exprs: crate::expr::Exprs::default(),
                symbols: Symbols::default(),
                init: Vec::new(),
                trans: Vec::new(),
                invar: Vec::new(),
                defines: Vec::new(),
                invariants: Vec::new(),
                specifications: Vec::new(),
                fairness: Vec::new(),
                process_selector: None,
                trusted: true,
                relations: Vec::new(),
                modules: modules.len(),
                instances: 0,
                processes: 0,
                features: BTreeSet::new(),
            },
            problems,
            case_spans: FxHashMap::default(),
            assign_spans: FxHashMap::default(),
        }
    }

    fn run(&mut self) {
        let Some(main) = self.modules.get("main").copied() else {
            self.problems
                .push(Problem::error(Span::default(), "there is no module `main`"));
            return;
        };
        if !main.parameters.is_empty() {
            self.problems.push(Problem::error(
                main.span,
                "module `main` cannot have parameters: no instance gives them values",
            ));
            return;
        }
        self.declare_all(main);
        if !self.has_errors() {
            self.build_all();
        }
    }

    fn has_errors(&self) -> bool {
        self.problems
            .iter()
            .any(|problem| problem.severity == crate::diagnostic::Severity::Error)
    }

    fn full_name(&self, scope: InstanceId, name: &str) -> String {
        let prefix = &self.scopes[scope.0].name;
        if prefix.is_empty() {
            name.to_owned()
        } else {
            format!("{prefix}.{name}")
        }
    }
}
