//! Guards that need no search: conjunctions in which every part speaks of one parameter, compared
//! with something known. Their solutions are a box, one set of values per parameter, exactly.

use ioco_sts::domain::{Domain, Empty, Narrower, Steps, Values, View, comparison};
use ioco_sts::{BinaryOp, Env, EvalError, Expr, LabelId, Sts, Type, Types, Value};
use rand::{Rng, RngExt as _};

use crate::goal::{Constants, Goal, Shape, each_unknown};
use crate::query::{DEFAULT_WINDOW, window};
use crate::search::{Choice, pick_decimal};

/// The values of one parameter: those of the domain, of the list if there is one, without the
/// excluded ones.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub domain: Domain,
    ty: Type,
    pub excluded: Vec<Value>,
    pub choices: Option<Vec<Value>>,
}

/// What a guard comes to.
#[derive(Debug)]
pub(crate) enum Reading {
    /// It cannot hold.
    Never,
    /// It holds exactly for these.
    Slots(Vec<Slot>),
    /// It is not of the simple kind.
    Unclear,
}

enum NoBox {
    Never,
    Unclear,
}

type Read = Result<(), NoBox>;

/// What has no value makes the guard false, whatever the parameters are; where evaluation reached a
/// limit there may be one.
fn no_box(error: &EvalError) -> NoBox {
    match error {
        EvalError::Exhausted(_) => NoBox::Unclear,
        _ => NoBox::Never,
    }
}

struct BoxReader<'a> {
    env: Env<'a>,
    types: &'a Types,
    slots: Vec<Slot>,
}

/// Reads a guard, with the variables' values known.
pub(crate) fn read(sts: &Sts, label: LabelId, guard: &Expr, valuation: &[Value]) -> Reading {
    #[cfg(feature = "record")]
    crate::record::guard(&crate::choose::parameters_query(
        sts,
        label,
        guard,
        valuation,
        crate::choose::Unset::Allowed,
    ));
    let slots = sts
        .label(label)
        .parameters
        .iter()
        .map(|p| Slot {
            domain: Domain {
                values: Values::of_type(&p.ty, sts.types()),
                void: true,
            },
            ty: p.ty.clone(),
            excluded: Vec::new(),
            choices: None,
        })
        .collect();
    let env = Env {
        variables: valuation,
        parameters: &[],
        functions: sts.functions(),
    };
    let mut reader = BoxReader {
        env,
        types: sts.types(),
        slots,
    };
    match reader.goal(Goal::holds(guard)) {
        Err(NoBox::Never) => Reading::Never,
        Err(NoBox::Unclear) => Reading::Unclear,
        Ok(()) if reader.slots.iter().any(Slot::is_empty) => Reading::Never,
        Ok(()) => Reading::Slots(reader.slots),
    }
}

/// The parameter that a condition says is unset.
fn unset_parameter(expr: &Expr) -> Option<u32> {
    match expr {
        Expr::Binary(BinaryOp::Eq, both) => match &**both {
            [Expr::Param(parameter), Expr::Const(Value::Void)] => Some(*parameter),
            _ => None,
        },
        _ => None,
    }
}

fn has_unknowns(expr: &Expr) -> bool {
    let mut found = false;
    each_unknown(expr, &mut |_| found = true);
    found
}

/// Whether a condition compares one parameter and nothing else with what is known.
fn only_about(expr: &Expr, parameter: u32) -> bool {
    let mut only = matches!(expr, Expr::Binary(..) | Expr::InRange(_));
    each_unknown(expr, &mut |unknown| only &= unknown == parameter);
    only
}

impl BoxReader<'_> {
    fn slot(&mut self, parameter: u32) -> Result<&mut Slot, NoBox> {
        // A parameter that the label does not have is always unset: leave it to the evaluation.
        self.slots.get_mut(parameter as usize).ok_or(NoBox::Unclear)
    }

    fn known(&self, expr: &Expr) -> Result<Value, NoBox> {
        expr.eval(self.env).map_err(|error| no_box(&error))
    }

    fn goal(&mut self, goal: Goal<'_>) -> Read {
        match goal.shape() {
            Shape::All(first, second) => {
                self.goal(first)?;
                self.goal(second)
            }
            Shape::Either(first, _, second) => {
                if let (Some(parameter), true) = (unset_parameter(first.expr), first.want)
                    && only_about(second.expr, parameter)
                {
                    return self.unset_or(parameter, second);
                }
                if has_unknowns(first.expr) {
                    return Err(NoBox::Unclear);
                }
                match first.expr.holds(self.env) {
                    // What is said of parameters does not matter here.
                    Ok(value) if value == first.want => Ok(()),
                    Ok(_) => self.goal(second),
                    Err(error) => Err(no_box(&error)),
                }
            }
            Shape::One(goal) => self.part(goal),
        }
    }

    /// The parameter is unset, or what is said of it and of nothing else is so.
    fn unset_or(&mut self, parameter: u32, otherwise: Goal<'_>) -> Read {
        let void = self.slot(parameter)?.domain.void;
        match self.part(otherwise) {
            // Nothing fits, but it may stay unset, where nothing else is said.
            Err(NoBox::Never) => self.slots[parameter as usize].domain.values = Values::None,
            other => other?,
        }
        self.slots[parameter as usize].domain.void = void;
        Ok(())
    }

    fn part(&mut self, goal: Goal<'_>) -> Read {
        match goal.expr {
            Expr::Param(parameter) => {
                let slot = self.slot(*parameter)?;
                slot.domain = slot.domain.meet(&Domain::set(Values::truth(goal.want)));
                Ok(())
            }
            Expr::Binary(op, both) => {
                let [left, right] = &**both;
                let Some(op) = comparison(*op, goal.want) else {
                    return self.other(goal);
                };
                match (has_unknowns(left), has_unknowns(right)) {
                    (false, false) => self.other(goal),
                    (true, false) => {
                        let value = self.known(right)?;
                        self.compare(op, left, &value)
                    }
                    (false, true) => {
                        let value = self.known(left)?;
                        self.compare(mirrored(op), right, &value)
                    }
                    (true, true) => match (op, left, right) {
                        // `p == p` asks for a value that is sent, and for nothing more.
                        (BinaryOp::Eq, Expr::Param(a), Expr::Param(b)) if a == b => {
                            self.slot(*a).map(|_| ())
                        }
                        (BinaryOp::Ne, Expr::Param(a), Expr::Param(b)) if a == b => {
                            Err(NoBox::Never)
                        }
                        _ => Err(NoBox::Unclear),
                    },
                }
            }
            Expr::InRange(all) if goal.want => {
                let [subject, low, high] = &**all;
                if has_unknowns(low) || has_unknowns(high) || !has_unknowns(subject) {
                    return self.other(goal);
                }
                let (low, high) = (self.known(low)?, self.known(high)?);
                self.compare(BinaryOp::Ge, subject, &low)?;
                self.compare(BinaryOp::Le, subject, &high)
            }
            Expr::InSet(subject, items) => {
                let Expr::Param(parameter) = &**subject else {
                    return self.other(goal);
                };
                if items.iter().any(has_unknowns) {
                    return Err(NoBox::Unclear);
                }
                self.membership(*parameter, items, goal.want)
            }
            _ => self.other(goal),
        }
    }

    fn membership(&mut self, parameter: u32, items: &[Expr], want: bool) -> Read {
        let mut values = Vec::with_capacity(items.len());
        let mut failed = false;
        for item in items {
            match item.eval(self.env) {
                Ok(value) => values.push(value),
                Err(EvalError::Exhausted(_)) => return Err(NoBox::Unclear),
                // Items before it can still be found; after it nothing can.
                Err(_) => {
                    failed = true;
                    break;
                }
            }
        }
        let values: Vec<Value> = values
            .iter()
            .filter_map(|value| self.alike(parameter, value))
            .collect();
        let slot = self.slot(parameter)?;
        if !want {
            if failed {
                return Err(NoBox::Never);
            }
            for value in &values {
                slot.exclude(value);
            }
            return Ok(());
        }
        slot.domain.void &= values.contains(&Value::Void);
        let mut kept: Vec<Value> = Vec::with_capacity(values.len());
        for value in &values {
            if let Some(value) = slot.domain.values.equal_to(&Values::exactly(value)).only()
                && slot.choices.as_ref().is_none_or(|c| c.contains(&value))
                && !kept.contains(&value)
            {
                kept.push(value);
            }
        }
        slot.choices = Some(kept);
        Ok(())
    }

    fn other(&mut self, goal: Goal<'_>) -> Read {
        if has_unknowns(goal.expr) {
            return Err(NoBox::Unclear);
        }
        match goal.expr.holds(self.env) {
            Ok(value) if value == goal.want => Ok(()),
            Ok(_) => Err(NoBox::Never),
            Err(error) => Err(no_box(&error)),
        }
    }

    /// The array or struct of a parameter's type that equals a constant, if one does; other values
    /// stay as they are.
    fn alike(&self, parameter: u32, value: &Value) -> Option<Value> {
        match (value, self.slots.get(parameter as usize)) {
            (Value::Array(_) | Value::Struct(..), Some(slot)) => {
                self.types.converted(value, &slot.ty)
            }
            _ => Some(value.clone()),
        }
    }

    /// `subject op value`, where the subject is a parameter, or computed from one.
    fn compare(&mut self, op: BinaryOp, subject: &Expr, value: &Value) -> Read {
        let Expr::Param(parameter) = subject else {
            return self.computed(op, subject, value);
        };
        let alike = self.alike(*parameter, value);
        let slot = self.slot(*parameter)?;
        match (alike, op) {
            (Some(value), _) => slot.compare(op, &value),
            (None, BinaryOp::Eq) => Err(NoBox::Never),
            (None, BinaryOp::Ne) => Ok(()),
            (None, _) => slot.compare(op, value),
        }
    }

    /// As [`BoxReader::compare`], by narrowing: where the comparison holds for all that is left, nothing was left out.
    fn computed(&mut self, op: BinaryOp, subject: &Expr, value: &Value) -> Read {
        let mut parameters = Vec::new();
        each_unknown(subject, &mut |unknown| parameters.push(unknown));
        parameters.dedup();
        let &[parameter] = &*parameters else {
            return Err(NoBox::Unclear);
        };
        let whole = self.slot(parameter)?.domain.clone();
        let is_integer = matches!(whole.values, Values::Int { .. } | Values::None);
        let value = Expr::Const(value.clone());
        if op != BinaryOp::Ne || !is_integer {
            self.keep(
                parameter,
                self.narrowed(parameter, whole, (op, subject, &value)),
            )?;
            // Decimals are too dense to be read off.
            return if is_integer {
                Ok(())
            } else {
                Err(NoBox::Unclear)
            };
        }
        // All for which the subject has a value, without the one for which it is this value.
        let exists = (BinaryOp::Le, subject, &Expr::int(i64::MAX));
        self.keep(parameter, self.narrowed(parameter, whole, exists))?;
        let whole = &self.slots[parameter as usize].domain;
        match self.narrowed(parameter, whole.clone(), (BinaryOp::Eq, subject, &value)) {
            Err(Empty) => Ok(()),
            Ok((equal, true)) if equal == *whole => Err(NoBox::Never),
            Ok((equal, true)) => {
                let except = equal.only().ok_or(NoBox::Unclear)?;
                self.slots[parameter as usize].exclude(&except);
                Ok(())
            }
            Ok((_, false)) => Err(NoBox::Unclear),
        }
    }

    fn keep(&mut self, parameter: u32, narrowed: Result<(Domain, bool), Empty>) -> Read {
        let (domain, is_exact) = narrowed.map_err(|Empty| NoBox::Never)?;
        self.slots[parameter as usize].domain = domain;
        if is_exact {
            Ok(())
        } else {
            Err(NoBox::Unclear)
        }
    }

    /// What a comparison that speaks of one parameter leaves of its domain, and whether it holds for all of that.
    fn narrowed(
        &self,
        parameter: u32,
        domain: Domain,
        (op, left, right): (BinaryOp, &Expr, &Expr),
    ) -> Result<(Domain, bool), Empty> {
        let mut domains = vec![Domain::exactly(&Value::Void); parameter as usize];
        domains.push(domain);
        let effort = Steps::default();
        let mut narrower = Narrower {
            domains: &mut domains,
            types: self.types,
            type_of: &|_| None,
            variables: self.env.variables,
            functions: self.env.functions,
            effort: &effort,
            changed: false,
        };
        narrower.compare(op, left, right)?;
        let view = View {
            domains: &domains,
            variables: self.env.variables,
            functions: self.env.functions,
            effort: &effort,
        };
        let is_exact = view.compared(op, left, right).is_always(true);
        Ok((domains.swap_remove(parameter as usize), is_exact))
    }
}

fn mirrored(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Lt => BinaryOp::Gt,
        BinaryOp::Le => BinaryOp::Ge,
        BinaryOp::Gt => BinaryOp::Lt,
        BinaryOp::Ge => BinaryOp::Le,
        other => other,
    }
}

impl Slot {
    fn exclude(&mut self, value: &Value) {
        match (value, &self.domain.values) {
            (Value::Void, _) => self.domain.void = false,
            (_, values) => {
                if let Some(own) = values.equal_to(&Values::exactly(value)).only() {
                    self.excluded.push(own);
                }
            }
        }
    }

    fn compare(&mut self, op: BinaryOp, value: &Value) -> Read {
        let exact = Values::exactly(value);
        match op {
            BinaryOp::Eq => {
                self.domain = Domain {
                    values: self.domain.values.equal_to(&exact),
                    void: self.domain.void && value.is_void(),
                };
                return Ok(());
            }
            BinaryOp::Ne => {
                self.exclude(value);
                return Ok(());
            }
            _ => {}
        }
        let up = matches!(op, BinaryOp::Gt | BinaryOp::Ge);
        let strict = matches!(op, BinaryOp::Lt | BinaryOp::Gt);
        match (&self.domain.values, value) {
            (Values::Str { .. } | Values::One(Value::Str(_)), Value::Str(_)) => {
                return Err(NoBox::Unclear);
            }
            // Structs have no order.
            (Values::Any, _) => return Err(NoBox::Never),
            (Values::Decimal { .. }, _) | (_, Value::Decimal(_)) if strict => self.exclude(value),
            _ => {}
        }
        self.domain = Domain::set(self.domain.values.ordered(&exact, up, strict));
        Ok(())
    }

    fn allows(&self, value: &Value) -> bool {
        self.domain.values.contains(value) && !self.excluded.contains(value)
    }

    /// No value other than `:void` is left.
    fn has_no_value(&self) -> bool {
        if let Some(choices) = &self.choices {
            return !choices.iter().any(|c| self.allows(c));
        }
        match &self.domain.values {
            // The first that is not excluded ends this.
            Values::Int { min, max } => {
                (*min..=*max).all(|v| self.excluded.contains(&Value::Int(v)))
            }
            Values::Member { of, min, max } => {
                (*min..=*max).all(|m| self.excluded.contains(&Value::Enum(*of, m)))
            }
            Values::Bool { .. } => ![true, false].iter().any(|b| self.allows(&Value::Bool(*b))),
            Values::Decimal { min, max } if min == max => {
                self.excluded.contains(&Value::Decimal(*min))
            }
            Values::One(value) => self.excluded.contains(value),
            Values::None => true,
            Values::Decimal { .. } | Values::Str { .. } | Values::Array { .. } | Values::Any => {
                false
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        !self.domain.void && self.has_no_value()
    }

    /// The smallest or the largest value of the slot, where it can be read off.
    pub fn extreme(&self, largest: bool) -> Option<Value> {
        if self.has_no_value() {
            return self.domain.void.then_some(Value::Void);
        }
        if self.choices.is_some() {
            return None;
        }
        let value = match &self.domain.values {
            Values::Int { min, max } => Value::Int(if largest { *max } else { *min }),
            Values::Bool { no, yes } => Value::Bool(if largest { *yes } else { !*no }),
            Values::Member { of, min, max } => Value::Enum(*of, if largest { *max } else { *min }),
            Values::Decimal { min, max } => Value::Decimal(if largest { *max } else { *min }),
            Values::One(value) => value.clone(),
            _ => return None,
        };
        self.allows(&value).then_some(value)
    }

    /// Some value of the slot, always the same; `None` where a search is needed to find one.
    pub fn witness(&self) -> Option<Value> {
        if self.has_no_value() {
            return self.domain.void.then_some(Value::Void);
        }
        if let Some(choices) = &self.choices {
            return choices.iter().find(|c| self.allows(c)).cloned();
        }
        let first = |mut values: Box<dyn Iterator<Item = Value>>| values.find(|v| self.allows(v));
        // The usual case, asked at every step of a test: without an allocation.
        if let Values::Int { min, max } = self.domain.values {
            let zero = 0.clamp(min, max);
            let mut values = (zero..=max).chain(min..zero).map(Value::Int);
            return values.find(|v| self.allows(v));
        }
        match self.domain.values.clone() {
            Values::Bool { .. } => first(Box::new([false, true].into_iter().map(Value::Bool))),
            Values::Member { of, min, max } => {
                first(Box::new((min..=max).map(move |m| Value::Enum(of, m))))
            }
            Values::Decimal { min, max } => {
                use rust_decimal::Decimal;
                let middle = min.checked_add(max).map(|sum| sum / Decimal::TWO);
                let near = [Some(Decimal::ZERO.clamp(min, max)), middle, Some(max)];
                let whole = (0..64).map(move |n| min.ceil().checked_add(Decimal::from(n)));
                let all = near.into_iter().chain(whole).flatten();
                first(Box::new(all.map(Value::Decimal)))
            }
            Values::One(value) => first(Box::new(std::iter::once(value))),
            Values::Str { min: 0, .. } => {
                let words = (1..=self.excluded.len() + 1).map(|n| Value::str(&"a".repeat(n)));
                first(Box::new(words))
            }
            _ => None,
        }
    }

    /// A value of the slot; `None` where a search is needed to find one.
    pub fn pick(&self, rng: &mut dyn Rng) -> Option<Value> {
        if self.has_no_value() {
            return self.domain.void.then_some(Value::Void);
        }
        if let Some(choices) = &self.choices {
            let allowed = choices.iter().filter(|c| self.allows(c)).count();
            let index = rng.random_range(0..allowed.max(1));
            return choices
                .iter()
                .filter(|c| self.allows(c))
                .nth(index)
                .cloned();
        }
        let once = |rng: &mut dyn Rng| match &self.domain.values {
            Values::Int { min, max } => {
                let (min, max) = window(*min, *max, DEFAULT_WINDOW);
                Some(Value::Int(match rng.random_range(0..16_u32) {
                    0 | 1 => min,
                    2 | 3 => max,
                    4 => 0.clamp(min, max),
                    5 => min.saturating_add(1).min(max),
                    6 => max.saturating_sub(1).max(min),
                    _ => rng.random_range(min..=max),
                }))
            }
            values @ Values::Bool { .. } => {
                let only = values.only();
                only.or_else(|| Some(Value::Bool(rng.random())))
            }
            Values::Member { of, min, max } => {
                Some(Value::Enum(*of, rng.random_range(*min..=*max)))
            }
            Values::Decimal { min, max } => {
                let far = rust_decimal::Decimal::from(DEFAULT_WINDOW);
                let low = (*min).max((-far).min(max.saturating_sub(far)));
                let high = (*max).min(far.max(min.saturating_add(far)));
                let digits = Constants {
                    scale: min.scale().max(max.scale()).min(6),
                    ..Constants::default()
                };
                let mut choice = Choice::Random(rng);
                Some(Value::Decimal(pick_decimal(
                    low,
                    high,
                    &digits,
                    &mut choice,
                )))
            }
            Values::One(value) => Some(value.clone()),
            Values::Str { .. } => {
                let length = rng.random_range(1..=8);
                let text: String = (0..length)
                    .map(|_| char::from(rng.random_range(b'a'..=b'z')))
                    .collect();
                Some(Value::str(&text))
            }
            _ => None,
        };
        for _ in 0..16 {
            let value = once(rng)?;
            if self.allows(&value) {
                return Some(value);
            }
        }
        match &self.domain.values {
            Values::Int { min, max } => {
                let skip = |v: &i64| self.allows(&Value::Int(*v));
                (*min..=*max).find(skip).map(Value::Int)
            }
            Values::Member { of, min, max } => (*min..=*max)
                .map(|m| Value::Enum(*of, m))
                .find(|v| self.allows(v)),
            _ => None,
        }
    }
}
