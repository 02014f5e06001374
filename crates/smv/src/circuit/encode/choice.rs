//! Expressions that leave a choice: the relation "is one of".

use super::{Encoded, Encoder, Scalar, Single, TooLarge, integer_single, single_word, word};
use crate::circuit::Lit;
use crate::expr::{ExprId, Node};
use crate::syntax::tree::Operator;

/// A choice with more combinations than this is refused.
const ALTERNATIVE_LIMIT: usize = 1 << 14;

impl Encoder<'_> {
    /// Whether a value is one of the values of an expression.
    pub(super) fn member(&mut self, element: &Single, id: ExprId) -> Encoded<Lit> {
        if !self.type_of(id).choice {
            let value = self.single(id)?;
            let same = self.equal(element, &value);
            let defined = self.defined(id)?;
            return Ok(self.aig.and(same, defined));
        }
        match self.exprs.node(id) {
            Node::Set(parts) => {
                let mut constants = Vec::new();
                let mut ways = Vec::new();
                for part in parts {
                    match self.exprs.node(*part) {
                        Node::Const(value) => constants.push(*value),
                        _ => ways.push(self.member(element, *part)?),
                    }
                }
                ways.push(self.one_of(element, &constants));
                Ok(self.aig.or_all(&ways))
            }
            Node::Binary(Operator::Union, left, right) => {
                let (a, b) = (self.member(element, *left)?, self.member(element, *right)?);
                Ok(self.aig.or(a, b))
            }
            Node::Case(branches) => {
                let mut result = Lit::FALSE;
                for (index, (condition, value)) in branches.iter().enumerate().rev() {
                    let inside = self.member(element, *value)?;
                    if !self.trusting || self.type_of(*condition).choice {
                        let (can_hold, can_fail) = self.possible(*condition)?;
                        let yes = self.aig.and(can_hold, inside);
                        let no = self.aig.and(can_fail, result);
                        result = self.aig.or(yes, no);
                    } else if index + 1 == branches.len() {
                        result = inside;
                    } else {
                        let condition = self.truth(*condition)?;
                        result = self.aig.ite(condition, inside, result);
                    }
                }
                Ok(result)
            }
            Node::Range(low, high) if !self.type_of(*low).choice && !self.type_of(*high).choice => {
                let (has_low, has_high) = (self.defined(*low)?, self.defined(*high)?);
                let (low, high) = (self.word(*low)?, self.word(*high)?);
                let Single::Scalar(Scalar {
                    integer: Some((guard, word)),
                    ..
                }) = element
                else {
                    return Ok(Lit::FALSE);
                };
                let below = self.aig.word_less(word, &low);
                let above = self.aig.word_less(&high, word);
                let between = self.aig.and(!below, !above);
                Ok(self.aig.and_all(&[*guard, between, has_low, has_high]))
            }
            _ if self.type_of(id).is_boolean() => {
                let (can_hold, can_fail) = self.possible(id)?;
                let Single::Bool(lit) = element else {
                    return Ok(Lit::FALSE);
                };
                Ok(self.aig.ite(*lit, can_hold, can_fail))
            }
            _ => {
                let mut ways = Vec::new();
                for (guard, value) in self.alternatives(id)? {
                    let same = self.equal(element, &value);
                    ways.push(self.aig.and(guard, same));
                }
                Ok(self.aig.or_all(&ways))
            }
        }
    }

    /// When a condition can be TRUE and when it can be FALSE; both where it leaves a choice.
    pub(in crate::circuit) fn possible(&mut self, id: ExprId) -> Encoded<(Lit, Lit)> {
        if let Some(known) = self.possible.get(&(id, self.trusting)) {
            return Ok(*known);
        }
        let result = if !self.type_of(id).choice {
            let lit = self.truth(id)?;
            let defined = self.defined(id)?;
            (self.aig.and(lit, defined), self.aig.and(!lit, defined))
        } else {
            match self.exprs.node(id) {
                Node::Not(inner) => {
                    let (can_hold, can_fail) = self.possible(*inner)?;
                    (can_fail, can_hold)
                }
                Node::And(parts) | Node::Or(parts) => {
                    let conjunction = matches!(self.exprs.node(id), Node::And(_));
                    let mut keep = Vec::new();
                    let mut broken = Vec::new();
                    for part in parts {
                        let (can_hold, can_fail) = self.possible(*part)?;
                        keep.push(if conjunction { can_hold } else { can_fail });
                        broken.push(if conjunction { can_fail } else { can_hold });
                    }
                    // A part without a value leaves the whole without one.
                    let mut each = Vec::new();
                    for part in parts {
                        each.push(self.defined(*part)?);
                    }
                    let keep = self.aig.and_all(&keep);
                    let broken = self.aig.or_all(&broken);
                    each.push(broken);
                    let broken = self.aig.and_all(&each);
                    if conjunction {
                        (keep, broken)
                    } else {
                        (broken, keep)
                    }
                }
                _ => {
                    let (mut holds, mut fails) = (Vec::new(), Vec::new());
                    for (guard, value) in self.alternatives(id)? {
                        if let Single::Bool(lit) = value {
                            holds.push(self.aig.and(guard, lit));
                            fails.push(self.aig.and(guard, !lit));
                        }
                    }
                    (self.aig.or_all(&holds), self.aig.or_all(&fails))
                }
            }
        };
        self.possible.insert((id, self.trusting), result);
        Ok(result)
    }

    /// All values of an expression with the condition of each, written out.
    pub(in crate::circuit) fn alternatives(&mut self, id: ExprId) -> Encoded<Vec<(Lit, Single)>> {
        if !self.type_of(id).choice {
            let defined = self.defined(id)?;
            return Ok(vec![(defined, (*self.single(id)?).clone())]);
        }
        let list = match self.exprs.node(id) {
            Node::Set(parts) => {
                let mut all = Vec::new();
                for part in parts {
                    all.extend(self.alternatives(*part)?);
                }
                all
            }
            Node::Binary(Operator::Union, left, right) => {
                let mut all = self.alternatives(*left)?;
                all.extend(self.alternatives(*right)?);
                all
            }
            Node::Range(low, high) => {
                let (lows, highs) = (self.alternatives(*low)?, self.alternatives(*high)?);
                let (least, most) = self.type_of(id).integer.unwrap_or((0, 0));
                if usize::try_from(most.saturating_sub(least)).unwrap_or(usize::MAX)
                    > ALTERNATIVE_LIMIT
                {
                    return Err(TooLarge("a choice from a range is too wide".to_owned()));
                }
                let mut all = Vec::new();
                for number in least..=most {
                    let word = word::constant(number);
                    let mut ways = Vec::new();
                    for (guard_low, low) in &lows {
                        for (guard_high, high) in &highs {
                            let guard = self.aig.and(*guard_low, *guard_high);
                            let below = self.aig.word_less(&word, single_word(low));
                            let above = self.aig.word_less(single_word(high), &word);
                            let between = self.aig.and(!below, !above);
                            ways.push(self.aig.and(guard, between));
                        }
                    }
                    let guard = self.aig.or_all(&ways);
                    all.push((guard, integer_single(word)));
                }
                all
            }
            Node::Case(branches) => {
                let mut all = Vec::new();
                let mut reached = Lit::TRUE;
                for (index, (condition, value)) in branches.iter().enumerate() {
                    let (can_hold, can_fail) = if self.trusting
                        && index + 1 == branches.len()
                        && !self.type_of(*condition).choice
                    {
                        (Lit::TRUE, Lit::FALSE)
                    } else {
                        self.possible(*condition)?
                    };
                    let here = self.aig.and(reached, can_hold);
                    for (guard, value) in self.alternatives(*value)? {
                        all.push((self.aig.and(here, guard), value));
                    }
                    reached = self.aig.and(reached, can_fail);
                }
                all
            }
            Node::Binary(Operator::In, left, right) => {
                let mut all = Vec::new();
                let members = self.defined(*right)?;
                for (guard, value) in self.alternatives(*left)? {
                    let guard = self.aig.and(guard, members);
                    all.push((guard, Single::Bool(self.member(&value, *right)?)));
                }
                all
            }
            Node::Binary(operator, left, right) => {
                let lefts = self.alternatives(*left)?;
                let mut rights = self.alternatives(*right)?;
                if matches!(operator, Operator::Divide | Operator::Modulo) && !self.trusting {
                    for (guard, divisor) in &mut rights {
                        let zero = self.aig.word_equal(single_word(divisor), &[Lit::FALSE]);
                        *guard = self.aig.and(*guard, !zero);
                    }
                }
                self.combine(&lefts, &rights, |encoder, a, b| {
                    encoder.apply(*operator, a, b)
                })?
            }
            Node::Min(left, right) | Node::Max(left, right) => {
                let least = matches!(self.exprs.node(id), Node::Min(..));
                let (lefts, rights) = (self.alternatives(*left)?, self.alternatives(*right)?);
                self.combine(&lefts, &rights, |encoder, a, b| {
                    let (a, b) = (single_word(a), single_word(b));
                    let less = encoder.aig.word_less(a, b);
                    integer_single(encoder.aig.word_ite(less.flip_if(!least), a, b))
                })?
            }
            Node::Count(parts) => {
                let mut sums = vec![(Lit::TRUE, integer_single(vec![Lit::FALSE]))];
                for part in parts {
                    let values = self.alternatives(*part)?;
                    sums = self.combine(&sums, &values, |encoder, sum, value| match value {
                        Single::Bool(lit) => integer_single(
                            encoder.aig.word_add(single_word(sum), &[*lit, Lit::FALSE]),
                        ),
                        Single::Scalar(_) => sum.clone(),
                    })?;
                }
                sums
            }
            Node::Negate(inner) => {
                let inner = self.alternatives(*inner)?;
                inner
                    .into_iter()
                    .map(|(guard, value)| {
                        (
                            guard,
                            integer_single(self.aig.word_negate(single_word(&value))),
                        )
                    })
                    .collect()
            }
            Node::Abs(inner) => {
                let inner = self.alternatives(*inner)?;
                inner
                    .into_iter()
                    .map(|(guard, value)| {
                        (
                            guard,
                            integer_single(self.aig.word_abs(single_word(&value))),
                        )
                    })
                    .collect()
            }
            Node::ToInt(inner) => {
                let inner = self.alternatives(*inner)?;
                inner
                    .into_iter()
                    .map(|(guard, value)| match value {
                        Single::Bool(lit) => (guard, integer_single(vec![lit, Lit::FALSE])),
                        scalar => (guard, scalar),
                    })
                    .collect()
            }
            Node::ToBool(inner) => {
                let inner = self.alternatives(*inner)?;
                inner
                    .into_iter()
                    .map(|(guard, value)| match value {
                        Single::Bool(_) => (guard, value),
                        scalar => (
                            guard,
                            Single::Bool(!self.aig.word_equal(single_word(&scalar), &[Lit::FALSE])),
                        ),
                    })
                    .collect()
            }
            Node::Not(_) | Node::And(_) | Node::Or(_) => {
                let (can_hold, can_fail) = self.possible(id)?;
                vec![
                    (can_hold, Single::Bool(Lit::TRUE)),
                    (can_fail, Single::Bool(Lit::FALSE)),
                ]
            }
            Node::Const(_) | Node::Var(_) | Node::Next(_) => {
                vec![(Lit::TRUE, (*self.single(id)?).clone())]
            }
        };
        if list.len() > ALTERNATIVE_LIMIT {
            return Err(TooLarge("an expression leaves too many choices".to_owned()));
        }
        Ok(list)
    }

    fn combine(
        &mut self,
        lefts: &[(Lit, Single)],
        rights: &[(Lit, Single)],
        apply: impl Fn(&mut Self, &Single, &Single) -> Single,
    ) -> Encoded<Vec<(Lit, Single)>> {
        if lefts.len().saturating_mul(rights.len()) > ALTERNATIVE_LIMIT {
            return Err(TooLarge("an expression leaves too many choices".to_owned()));
        }
        let mut all = Vec::new();
        for (guard_a, a) in lefts {
            for (guard_b, b) in rights {
                let guard = self.aig.and(*guard_a, *guard_b);
                if guard != Lit::FALSE {
                    let value = apply(self, a, b);
                    all.push((guard, value));
                }
            }
        }
        Ok(all)
    }

    fn apply(&mut self, operator: Operator, a: &Single, b: &Single) -> Single {
        let truth = |single: &Single| match single {
            Single::Bool(lit) => *lit,
            Single::Scalar(_) => Lit::FALSE,
        };
        match operator {
            Operator::Xor => Single::Bool(self.aig.xor(truth(a), truth(b))),
            Operator::Xnor | Operator::Iff => Single::Bool(self.aig.iff(truth(a), truth(b))),
            Operator::Implies => Single::Bool(self.aig.or(!truth(a), truth(b))),
            Operator::Equal => Single::Bool(self.equal(a, b)),
            Operator::Unequal => Single::Bool(!self.equal(a, b)),
            Operator::Less | Operator::LessEqual | Operator::Greater | Operator::GreaterEqual => {
                Single::Bool(self.compare(operator, single_word(a), single_word(b)))
            }
            Operator::Add => integer_single(self.aig.word_add(single_word(a), single_word(b))),
            Operator::Subtract => {
                integer_single(self.aig.word_subtract(single_word(a), single_word(b)))
            }
            Operator::Multiply => {
                integer_single(self.aig.word_multiply(single_word(a), single_word(b)))
            }
            Operator::Divide => {
                integer_single(self.aig.word_divide(single_word(a), single_word(b)).0)
            }
            Operator::Modulo => {
                integer_single(self.aig.word_divide(single_word(a), single_word(b)).1)
            }
            Operator::Union | Operator::In => a.clone(),
        }
    }
}
