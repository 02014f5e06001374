//! What is not wrong, but most likely not meant.

use ioco_sts::{BinaryOp, Direction, Expr, Gate, Parameter, Type};
use rustc_hash::FxHashSet;

use crate::ast::{Command, Site};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::expr::check::CheckedUpdate;
use crate::expr::names::SeenVariable;
use crate::lower::Lowering;
use crate::lower::graph::{Graph, NodeId};
use crate::lower::process::ProcessScope;

impl Lowering<'_> {
    /// Parameters of hand-shakes whose values nothing decides.
    pub(super) fn lint_parameters(
        &mut self,
        command: &Command,
        gate: Gate,
        parameters: &[Parameter],
        guard: &Expr,
    ) {
        let mentioned = guard.params();
        let span = command
            .arguments
            .first()
            .map_or(&command.word_span, |v| &v.span);
        if !matches!(gate, Gate::Send(_)) {
            return;
        }
        let equations = fixed_parameters(guard);
        for (position, parameter) in parameters.iter().enumerate() {
            let position = position as u32;
            if mentioned.contains(&position)
                && !equations.contains(&position)
                && !is_small(&parameter.ty)
            {
                let name = &parameter.name;
                let message = format!("`{name}` is not fixed by its sender");
                self.report(codes::OPEN_HANDSHAKE, command.file, span, message)
                    .hint = Some(format!("constraint: '{name} == ...'"));
            }
        }
    }

    /// Parameters with the name of a variable.
    pub(super) fn lint_hidden(
        &mut self,
        command: &Command,
        parameters: &[Parameter],
        variables: &[SeenVariable],
    ) {
        for parameter in parameters {
            if variables.iter().any(|v| v.name == parameter.name) {
                let name = &parameter.name;
                let message = format!("the parameter `{name}` hides the variable `{name}`");
                self.report(codes::HIDDEN_VARIABLE, command.file, &command.span, message)
                    .hint = Some("give one of them another name".to_owned());
            }
        }
    }

    pub(super) fn lint_update_order(&mut self, file: usize, updates: &[CheckedUpdate]) {
        for (index, update) in updates.iter().enumerate() {
            let read = update.value.vars();
            for earlier in &updates[..index] {
                if read.contains(&earlier.variable) {
                    let name = self.variables[earlier.variable.index()].seen.name.clone();
                    let message = format!("this reads the value of `{name}` from before the step");
                    let label = (
                        file,
                        earlier.target_span.clone(),
                        "given a value here".into(),
                    );
                    let report =
                        self.report(codes::UPDATE_ORDER, file, &update.value_span, message);
                    report.labels.push(label);
                }
            }
        }
    }

    /// What the graph of a process shows.
    pub(super) fn lint_process(
        &mut self,
        graph: &Graph,
        initial: NodeId,
        scope: &ProcessScope<'_>,
    ) {
        let successors = graph.successors();
        let leaving = graph.leaving();
        let sound = !self.diagnostics.iter().any(Diagnostic::is_error);
        let reached = reachable(graph, &successors, &leaving, initial);
        for (index, node) in graph.nodes.iter().enumerate() {
            let Some(name) = node.names.first() else {
                continue;
            };
            if !reached[index] && sound {
                let message = format!("the state `{name}` is never reached");
                let Site { file, span } = &node.site;
                self.report(codes::UNREACHABLE_STATE, *file, span, message);
            } else if reached[index]
                && node.option_start
                && !node.jumped_to
                && !returned_to(graph, index)
            {
                let message = format!("no `goto` leads to the state `{name}`");
                let Site { file, span } = &node.site;
                self.report(codes::INLINE_STATE, *file, span, message);
            }
        }
        self.lint_races(graph, &successors, &leaving);
        self.lint_divergence(graph, &successors);
        self.lint_partners(graph, scope);
    }

    fn lint_races(&mut self, graph: &Graph, successors: &[Vec<NodeId>], leaving: &[Vec<u32>]) {
        for branching in &graph.branchings {
            let mut sends: Option<&Site> = None;
            let mut receives: Option<&Site> = None;
            for (start, _) in &branching.options {
                for edge in first_edges(*start, successors, leaving) {
                    let edge = &graph.edges[edge as usize];
                    let Gate::Observable(label) = edge.gate else {
                        continue;
                    };
                    match self.labels[label.index()].label.direction {
                        Direction::Response => sends = sends.or(Some(&edge.site)),
                        _ => receives = receives.or(Some(&edge.site)),
                    }
                }
            }
            if let (Some(sends), Some(receives)) = (sends, receives) {
                let message = "the system decides whether it sends or receives here";
                let label = (
                    receives.file,
                    receives.span.clone(),
                    "or receives this".to_owned(),
                );
                let report = self.report(codes::RACE, sends.file, &sends.span, message);
                report.labels.push(label);
            }
        }
    }

    /// Circles of internal steps without guards.
    fn lint_divergence(&mut self, graph: &Graph, successors: &[Vec<NodeId>]) {
        let free: Vec<(usize, NodeId, NodeId)> = graph
            .edges
            .iter()
            .enumerate()
            .filter(|(_, e)| e.gate == Gate::Tau && e.guard == Expr::TRUE)
            .map(|(index, e)| (index, e.source, e.target))
            .collect();
        if free.is_empty() {
            return;
        }
        let mut next = successors.to_vec();
        for (_, source, target) in &free {
            next[source.index()].push(*target);
        }
        for (index, source, target) in free {
            let mut seen = FxHashSet::default();
            let mut open = vec![target];
            while let Some(node) = open.pop() {
                if seen.insert(node) {
                    open.extend(next[node.index()].iter().copied());
                }
            }
            if seen.contains(&source) {
                let Site { file, span } = &graph.edges[index].site;
                let message = "internal steps go round here without end";
                self.report(codes::DIVERGENCE, *file, span, message);
                return;
            }
        }
    }

    /// A process cannot shake hands with itself.
    fn lint_partners(&mut self, graph: &Graph, scope: &ProcessScope<'_>) {
        for edge in &graph.edges {
            if let Gate::Send(label) | Gate::Receive(label) = edge.gate {
                let name = &self.labels[label.index()].label.name;
                if scope.receives.contains_key(name) && scope.sends.contains_key(name) {
                    let message = format!(
                        "`{name}` is sent and received by the same process, which cannot do both at once"
                    );
                    let Site { file, span } = &edge.site;
                    self.report(codes::NO_PARTNER, *file, span, message);
                    return;
                }
            }
        }
    }

    /// What only the whole model shows.
    pub(super) fn lint_model(&mut self) {
        // With mistakes about, what looks unused may only be mistyped.
        let sound = !self.diagnostics.iter().any(Diagnostic::is_error);
        let mut found = Vec::new();
        for (kind, named) in [("external", &self.external), ("internal", &self.internal)] {
            for (name, site) in named {
                if !self.channels.contains_key(name) {
                    let known = self.channels.keys().map(String::as_str);
                    let hint = crate::suggest::did_you_mean(name, known);
                    let message = format!("no process declares the {kind} channel `{name}`");
                    found.push((codes::CHANNEL_UNKNOWN, site.clone(), message, hint));
                }
            }
        }
        for (name, site) in &self.channels {
            if !self.external.contains_key(name) && !self.internal.contains_key(name) {
                let message = format!("the channel `{name}` is neither external nor internal");
                let hint = Some(format!("external '{name}'"));
                found.push((codes::CHANNEL_KIND, site.clone(), message, hint));
            }
        }
        for declared in &self.labels {
            let name = &declared.label.name;
            let missing = match (declared.received, declared.sent) {
                (false, false) if !sound => continue,
                (false, false) => {
                    let message = format!("`{name}` is never used");
                    found.push((codes::UNUSED_LABEL, declared.site.clone(), message, None));
                    continue;
                }
                (true, false) => "sends",
                (false, true) => "receives",
                (true, true) => continue,
            };
            if declared.label.direction == Direction::Internal {
                let message = format!("no process {missing} `{name}`");
                found.push((codes::NO_PARTNER, declared.site.clone(), message, None));
            }
        }
        for variable in &self.variables {
            if !variable.read && sound {
                let message = format!("the variable `{}` is never read", variable.seen.name);
                found.push((codes::UNUSED_VARIABLE, variable.site.clone(), message, None));
            }
        }
        for (name, definition) in &self.macros {
            if sound && !self.used_macros.contains(name) {
                let site = Site {
                    file: definition.file,
                    span: definition.name_span.clone(),
                };
                let message = format!("the macro `{name}` is never used");
                found.push((codes::UNUSED_BEHAVIOR, site, message, None));
            }
        }
        for (code, site, message, hint) in found {
            self.report(code, site.file, &site.span, message).hint = hint;
        }
    }
}

fn reachable(
    graph: &Graph,
    successors: &[Vec<NodeId>],
    leaving: &[Vec<u32>],
    initial: NodeId,
) -> Vec<bool> {
    let mut reached = vec![false; graph.nodes.len()];
    let mut open = vec![initial];
    while let Some(node) = open.pop() {
        if std::mem::replace(&mut reached[node.index()], true) {
            continue;
        }
        open.extend(successors[node.index()].iter().copied());
        let targets = leaving[node.index()].iter();
        open.extend(targets.map(|edge| graph.edges[*edge as usize].target));
    }
    reached
}

/// Whether a step or a `repeat` leads back to a node: more than the jump of its own `choice`.
fn returned_to(graph: &Graph, index: usize) -> bool {
    let node = NodeId(index as u32);
    graph.jumps.iter().filter(|(_, to)| *to == node).count() > 1
}

/// The edges that can be taken first from a node.
fn first_edges(start: NodeId, successors: &[Vec<NodeId>], leaving: &[Vec<u32>]) -> Vec<u32> {
    let mut seen = FxHashSet::default();
    let mut open = vec![start];
    let mut edges = Vec::new();
    while let Some(node) = open.pop() {
        if seen.insert(node) {
            edges.extend_from_slice(&leaving[node.index()]);
            open.extend(successors[node.index()].iter().copied());
        }
    }
    edges.sort_unstable();
    edges
}

/// The parameters that an equation of the guard fixes.
fn fixed_parameters(guard: &Expr) -> Vec<u32> {
    let fixed = guard.conjuncts().into_iter().filter_map(|part| match part {
        Expr::Binary(BinaryOp::Eq, both) => match (&both[0], &both[1]) {
            (Expr::Param(position), other) | (other, Expr::Param(position)) => {
                (!other.mentions_params()).then_some(*position)
            }
            _ => None,
        },
        _ => None,
    });
    fixed.collect()
}

/// Whether the values of a type can be tried one by one.
fn is_small(ty: &Type) -> bool {
    match ty {
        Type::Bool | Type::Enum(_) => true,
        Type::Int(range) => range.max.checked_sub(range.min).is_some_and(|n| n < 1024),
        _ => false,
    }
}
