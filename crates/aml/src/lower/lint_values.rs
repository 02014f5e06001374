//! What values make impossible: guards that can never hold, and updates that can never be made. Found with the
//! domains of values that types and guards leave, without a search.

use ioco_sts::domain::{Domain, Facts, Goal, Steps, numbered};
use ioco_sts::{BinaryOp, Expr, Function, Parameter, Type, Value};

use crate::ast::{Command, Span, Text};
use crate::codes::{self, Code};
use crate::expr::check::CheckedUpdate;
use crate::lower::Lowering;

/// Steps of evaluation for what calls come to, for one statement.
const MAX_STEPS: u64 = 20_000;

impl Lowering<'_> {
    /// Guards that can never hold, and updates that can never be made.
    pub(super) fn lint_values(
        &mut self,
        command: &Command,
        parameters: &[Parameter],
        guard: &Expr,
        constraint: Option<&Text>,
        updates: &[CheckedUpdate],
    ) {
        if *guard == Expr::TRUE && updates.is_empty() {
            return;
        }
        let unknowns: Vec<(Type, Domain)> = { self.variables.iter().map(|v| &v.seen.ty) }
            .chain(parameters.iter().map(|p| &p.ty))
            .map(|ty| (ty.clone(), Domain::of_type(ty, &self.types)))
            .collect();
        let values = updates.iter().map(|update| &update.value);
        let functions = match std::iter::once(guard).chain(values).any(has_calls) {
            true => self.all_functions(),
            false => Vec::new(),
        };
        let effort = Steps::new(self.budget, MAX_STEPS);
        let mut facts = Facts::new(&self.types, &functions, &unknowns, &effort);
        let variables = self.variables.len();
        let mut found: Vec<(Code, Span, String)> = Vec::new();
        if let Some(text) = constraint {
            let start = text.value.len() - text.value.trim_start().len();
            let span = text.source_span(start..text.value.trim_end().len());
            let guard = numbered(guard, variables);
            if divides_by_zero(&facts, &guard) {
                let message = "this divides by zero".to_owned();
                found.push((codes::DIVIDES_BY_ZERO, span, message));
            } else if facts.assume(&[Goal::holds(&guard)]).is_err() {
                let message = "this can never hold".to_owned();
                found.push((codes::NEVER_HOLDS, span, message));
            }
        }
        if found.is_empty() {
            for update in updates {
                let value = numbered(&update.value, variables);
                let span = update.value_span.clone();
                if divides_by_zero(&facts, &value) {
                    let message = "this divides by zero".to_owned();
                    found.push((codes::DIVIDES_BY_ZERO, span, message));
                    continue;
                }
                let seen = &self.variables[update.variable.index()].seen;
                let outcome = facts.values_of(&value);
                let fits = Domain::of_type(&seen.ty, &self.types).meet(&outcome.domain());
                if outcome.never_has_a_value() {
                    let message = "this never has a value".to_owned();
                    found.push((codes::NEVER_FITS, span, message));
                } else if fits.is_empty() {
                    let shown = self.types.type_name(&seen.ty);
                    let message = format!("this is never a value of `{}`, {shown}", seen.name);
                    found.push((codes::NEVER_FITS, span, message));
                }
            }
        }
        for (code, span, message) in found {
            self.report(code, command.file, &span, message);
        }
    }

    /// The functions of the model and those that blocks became, by their numbers.
    fn all_functions(&self) -> Vec<Function> {
        let declared = self.builder.functions().iter();
        declared.chain(&self.generated).cloned().collect()
    }
}

fn has_calls(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |e| found |= matches!(e, Expr::Call(..)));
    found
}

/// Whether the expression divides by something that is always zero, where that part of it can count.
fn divides_by_zero(facts: &Facts<'_>, expr: &Expr) -> bool {
    let again = |part: &Expr| divides_by_zero(facts, part);
    match expr {
        Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), both) => {
            let goes_on = || facts.values_of(&both[0]).may_be(*op == BinaryOp::And);
            again(&both[0]) || again(&both[1]) && goes_on()
        }
        Expr::If(all) => {
            let may_be = |truth| facts.values_of(&all[0]).may_be(truth);
            again(&all[0]) || again(&all[1]) && may_be(true) || again(&all[2]) && may_be(false)
        }
        Expr::Binary(BinaryOp::Div | BinaryOp::Rem, both) => {
            let zero = match facts.values_of(&both[1]).values.only() {
                Some(Value::Int(divisor)) => divisor == 0,
                Some(Value::Decimal(divisor)) => divisor.is_zero(),
                _ => false,
            };
            zero || both.iter().any(again)
        }
        _ => expr.children().into_iter().any(again),
    }
}
