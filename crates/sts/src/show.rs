//! Expressions and switches as a person would write them in a model.

use crate::expr::{BinaryOp, Expr, UnaryOp};
use crate::ids::{LabelId, SwitchId, VarId};
use crate::label::Parameter;
use crate::sts::{Gate, Sts};
use crate::types::{StructKind, Type};

/// How tightly an expression binds; a looser one inside a tighter one needs parentheses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Conditional,
    Or,
    And,
    Comparison,
    Sum,
    Product,
    Prefix,
    Postfix,
}

/// The expression with the names of the model; `label` names the parameters.
pub fn show_expr(sts: &Sts, label: Option<LabelId>, expr: &Expr) -> String {
    let parameters = label.map_or(&[][..], |label| &sts.label(label).parameters);
    Names { sts, parameters }.show(expr, Binding::Conditional)
}

/// `?lock`, `!locked`, `τ`, and for the two sides of a hand-shake `go↑` and `go↓`.
pub fn show_gate(sts: &Sts, gate: Gate) -> String {
    match gate {
        Gate::Tau => "τ".to_owned(),
        Gate::Observable(label) => sts.label(label).marked_name(),
        Gate::Send(label) => format!("{}↑", sts.label(label).name),
        Gate::Receive(label) => format!("{}↓", sts.label(label).name),
    }
}

/// Gate, guard and update: `?lock [passcode > 0] code := passcode`.
pub fn show_switch_label(sts: &Sts, id: SwitchId) -> String {
    let switch = sts.switch(id);
    let label = switch.gate.label();
    let mut text = show_gate(sts, switch.gate);
    if switch.guard != Expr::TRUE {
        text.push_str(&format!(" [{}]", show_expr(sts, label, &switch.guard)));
    }
    let updates: Vec<String> = switch
        .update
        .iter()
        .map(|assignment| {
            let name = &sts.variable(assignment.variable).name;
            format!("{name} := {}", show_expr(sts, label, &assignment.value))
        })
        .collect();
    if !updates.is_empty() {
        text.push(' ');
        text.push_str(&updates.join("; "));
    }
    text
}

struct Names<'a> {
    sts: &'a Sts,
    parameters: &'a [Parameter],
}

impl Names<'_> {
    fn show(&self, expr: &Expr, outside: Binding) -> String {
        let (text, own) = self.write(expr);
        if own < outside {
            format!("({text})")
        } else {
            text
        }
    }

    fn list(&self, items: &[Expr]) -> String {
        let items: Vec<String> = items
            .iter()
            .map(|item| self.show(item, Binding::Conditional))
            .collect();
        items.join(", ")
    }

    fn write(&self, expr: &Expr) -> (String, Binding) {
        let loose = Binding::Conditional;
        match expr {
            Expr::Const(value) => (
                value.display(self.sts.types()).to_string(),
                Binding::Postfix,
            ),
            Expr::Var(id) => (self.variable(*id), Binding::Postfix),
            Expr::Param(position) => {
                let name = self.parameters.get(*position as usize);
                let text = name.map_or_else(|| format!("p{position}"), |p| p.name.clone());
                (text, Binding::Postfix)
            }
            Expr::Local(position) => (format!("arg{position}"), Binding::Postfix),
            Expr::Unary(op, inner) => self.unary(*op, inner),
            Expr::Binary(op, both) => self.binary(*op, &both[0], &both[1]),
            Expr::If(all) => (
                format!(
                    "if {} then {} else {}",
                    self.show(&all[0], Binding::Or),
                    self.show(&all[1], Binding::Or),
                    self.show(&all[2], loose)
                ),
                loose,
            ),
            Expr::InSet(subject, items) => (
                format!(
                    "{} in [{}]",
                    self.show(subject, Binding::Sum),
                    self.list(items)
                ),
                Binding::Comparison,
            ),
            Expr::InRange(all) => (
                format!(
                    "{} in {}..{}",
                    self.show(&all[0], Binding::Sum),
                    self.show(&all[1], Binding::Sum),
                    self.show(&all[2], Binding::Sum)
                ),
                Binding::Comparison,
            ),
            Expr::Array(items) => (format!("[{}]", self.list(items)), Binding::Postfix),
            // What is in a set or a hash is an array; the structure around it is how ioco keeps it.
            Expr::Struct(id, fields) if self.sts.types().item_of(*id).is_some() => {
                (self.list(fields), Binding::Postfix)
            }
            Expr::Struct(id, fields) if self.sts.types().kind_of(*id) == StructKind::Entry => {
                let side = |at: usize| {
                    let field = fields.get(at);
                    field.map_or_else(String::new, |field| self.show(field, Binding::Sum))
                };
                (format!("{} => {}", side(0), side(1)), loose)
            }
            Expr::Field(inner, 0) if self.is_keyed(inner) => {
                (self.show(inner, Binding::Postfix), Binding::Postfix)
            }
            Expr::Struct(id, fields) => {
                let declared = self.sts.types().structs.get(id.index());
                let name = declared.map_or("?", |s| s.name.as_str());
                let fields = fields.iter().enumerate().map(|(position, field)| {
                    let name = declared.and_then(|s| s.fields.get(position));
                    let name = name.map_or("?", |(name, _)| name.as_str());
                    format!("{name}: {}", self.show(field, loose))
                });
                let fields: Vec<String> = fields.collect();
                (format!("{name}({})", fields.join(", ")), Binding::Postfix)
            }
            Expr::Field(inner, field) => (
                format!(
                    "{}.{}",
                    self.show(inner, Binding::Postfix),
                    self.field_name(inner, *field)
                ),
                Binding::Postfix,
            ),
            Expr::Matches(inner, pattern) => (
                format!(
                    "{} =~ /{}/",
                    self.show(inner, Binding::Sum),
                    pattern.text().replace('/', "\\/")
                ),
                Binding::Comparison,
            ),
            Expr::Call(function, arguments) => {
                let name = self
                    .sts
                    .functions()
                    .get(function.index())
                    .map_or("?", |f| f.name.as_str());
                if name.contains('⟨') {
                    return self.template(name, arguments);
                }
                (
                    format!("{name}({})", self.list(arguments)),
                    Binding::Postfix,
                )
            }
        }
    }

    /// A call of a function that stands for something else: its name says how it is written, with `⟨n⟩`
    /// for the n-th argument.
    fn template(&self, name: &str, arguments: &[Expr]) -> (String, Binding) {
        let mut text = String::new();
        for (position, piece) in name.split('⟨').enumerate() {
            let (number, rest) = match piece.split_once('⟩') {
                Some((number, rest)) if position > 0 => (number.parse::<usize>().ok(), rest),
                _ => (None, piece),
            };
            if let Some(argument) = number.and_then(|number| arguments.get(number)) {
                let first = position == 1 && !name.starts_with('(');
                let outside = match first {
                    true => Binding::Postfix,
                    false => Binding::Sum,
                };
                text.push_str(&self.show(argument, outside));
            }
            text.push_str(rest);
        }
        let infix = ["<~", "-", "|", "&"];
        let infix = infix.iter().any(|op| name.contains(&format!("⟩ {op} ⟨")));
        (
            text,
            if infix {
                Binding::Comparison
            } else {
                Binding::Postfix
            },
        )
    }

    /// The name of a field, where the type of the structure is plain to see; its position elsewhere.
    fn field_name(&self, structure: &Expr, field: u32) -> String {
        let name = match self.type_of(structure) {
            Some(Type::Struct(id)) => self.sts.types().structs.get(id.index()),
            _ => None,
        };
        name.and_then(|s| s.fields.get(field as usize))
            .map_or_else(|| field.to_string(), |(name, _)| name.clone())
    }

    /// Whether an expression is a set or a hash, as far as that is plain to see.
    fn is_keyed(&self, expr: &Expr) -> bool {
        let types = self.sts.types();
        match expr {
            Expr::Call(function, _) => {
                let function = self.sts.functions().get(function.index());
                matches!(function.map(|f| &f.result), Some(Type::Struct(id)) if types.item_of(*id).is_some())
            }
            _ => {
                matches!(self.type_of(expr), Some(Type::Struct(id)) if types.item_of(id).is_some())
            }
        }
    }

    /// The name, after that of its process where it alone could mean something else.
    fn variable(&self, id: VarId) -> String {
        let variables = self.sts.variables();
        let Some(variable) = variables.get(id.index()) else {
            return format!("var{}", id.0);
        };
        let twins = variables.iter().filter(|v| v.name == variable.name).count();
        let parameter = self.parameters.iter().any(|p| p.name == variable.name);
        match self.sts.processes().get(variable.process.index()) {
            Some(process) if twins > 1 || parameter => {
                format!("{}.{}", process.name, variable.name)
            }
            _ => variable.name.clone(),
        }
    }

    fn type_of(&self, expr: &Expr) -> Option<Type> {
        match expr {
            Expr::Var(id) => {
                let variable = self.sts.variables().get(id.index());
                variable.map(|v| v.ty.clone())
            }
            Expr::Param(position) => {
                let parameter = self.parameters.get(*position as usize);
                parameter.map(|p| p.ty.clone())
            }
            Expr::Field(inner, field) => match self.type_of(inner)? {
                Type::Struct(id) => {
                    let fields = &self.sts.types().structs.get(id.index())?.fields;
                    fields.get(*field as usize).map(|(_, ty)| ty.clone())
                }
                _ => None,
            },
            Expr::Struct(id, _) => Some(Type::Struct(*id)),
            Expr::If(all) => self.type_of(&all[1]).or_else(|| self.type_of(&all[2])),
            Expr::Call(function, _) => {
                let function = self.sts.functions().get(function.index());
                function.map(|f| f.result.clone())
            }
            Expr::Binary(BinaryOp::Index, both) => self.item_of(&both[0]),
            Expr::Unary(UnaryOp::Last, inner) => self.item_of(inner),
            _ => None,
        }
    }

    fn item_of(&self, array: &Expr) -> Option<Type> {
        match self.type_of(array)? {
            Type::Array(item) => Some(*item),
            _ => None,
        }
    }

    fn unary(&self, op: UnaryOp, inner: &Expr) -> (String, Binding) {
        let named = |name: &str| {
            (
                format!("{name}({})", self.show(inner, Binding::Conditional)),
                Binding::Postfix,
            )
        };
        match op {
            UnaryOp::Not => (
                format!("!{}", self.show(inner, Binding::Prefix)),
                Binding::Prefix,
            ),
            UnaryOp::Neg => (
                format!("-{}", self.show(inner, Binding::Postfix)),
                Binding::Prefix,
            ),
            UnaryOp::Abs => named("abs"),
            UnaryOp::Length => named("length"),
            UnaryOp::Last => named("last"),
        }
    }

    fn binary(&self, op: BinaryOp, left: &Expr, right: &Expr) -> (String, Binding) {
        let (binding, right_binding) = match op {
            BinaryOp::Or => (Binding::Or, Binding::Or),
            BinaryOp::And => (Binding::And, Binding::And),
            BinaryOp::Add | BinaryOp::Sub => (Binding::Sum, Binding::Product),
            BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => (Binding::Product, Binding::Prefix),
            _ => (Binding::Comparison, Binding::Sum),
        };
        // Comparisons do not chain, so their left side is bracketed as their right one is.
        let left_binding = if binding == Binding::Comparison {
            Binding::Sum
        } else {
            binding
        };
        if let Some(symbol) = op.symbol() {
            let left = self.show(left, left_binding);
            let right = self.show(right, right_binding);
            return (format!("{left} {symbol} {right}"), binding);
        }
        let text = match op {
            BinaryOp::Index => format!(
                "{}[{}]",
                self.show(left, Binding::Postfix),
                self.show(right, Binding::Conditional)
            ),
            _ => {
                let name = if op == BinaryOp::Min { "min" } else { "max" };
                format!(
                    "{name}({}, {})",
                    self.show(left, Binding::Conditional),
                    self.show(right, Binding::Conditional)
                )
            }
        };
        (text, Binding::Postfix)
    }
}
