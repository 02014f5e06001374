//! From expressions to gates. A variable becomes a few input bits; an expression with one value becomes a gate, a word
//! or a row of conditions, one for each symbol; an expression that leaves a choice becomes the relation "is one of".

mod choice;

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::code::{Code, code, width};
use super::word::{self, Word};
use super::{Aig, Lit};
use crate::expr::{ExprId, Exprs, Node, VarId};
use crate::model::Var;
use crate::syntax::tree::Operator;
use crate::types::{Type, Types};
use crate::value::{Domain, SymbolId, Value};

/// The model is beyond what can be turned into gates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooLarge(pub String);

/// An expression that has one value.
#[derive(Clone, Debug)]
pub(crate) enum Single {
    Bool(Lit),
    Scalar(Scalar),
}

/// An integer, a symbol, or either.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scalar {
    /// When it is an integer, and which.
    pub(super) integer: Option<(Lit, Word)>,
    /// When it is which symbol.
    symbols: Vec<(SymbolId, Lit)>,
}

pub(crate) struct Encoder<'m> {
    pub(super) exprs: &'m Exprs,
    vars: &'m [Var],
    pub aig: Aig,
    types: Types,
    pub current: Vec<Vec<Lit>>,
    pub next: Vec<Vec<Lit>>,
    scalars: FxHashMap<(VarId, bool), Rc<Single>>,
    singles: FxHashMap<ExprId, Rc<Single>>,
    /// By expression, and by whether it was trusted.
    possible: FxHashMap<(ExprId, bool), (Lit, Lit)>,
    defined: FxHashMap<ExprId, Lit>,
    /// What is encoded was proved to have a value in every state, so no question is needed.
    pub trusting: bool,
}

pub(super) type Encoded<T> = Result<T, TooLarge>;

impl<'m> Encoder<'m> {
    /// Creates the input bits of the variables: current and next of a variable side by side.
    pub fn new(exprs: &'m Exprs, vars: &'m [Var], used: &[VarId]) -> Self {
        let mut aig = Aig::default();
        let mut current = vec![Vec::new(); vars.len()];
        let mut next = vec![Vec::new(); vars.len()];
        for var in used {
            for _ in 0..width(&vars[var.index()].domain) {
                current[var.index()].push(aig.input());
                next[var.index()].push(aig.input());
            }
        }
        Self {
            exprs,
            vars,
            aig,
            types: Types::default(),
            current,
            next,
            scalars: FxHashMap::default(),
            singles: FxHashMap::default(),
            possible: FxHashMap::default(),
            defined: FxHashMap::default(),
            trusting: true,
        }
    }

    pub(super) fn type_of(&mut self, id: ExprId) -> Type {
        self.types.of(self.exprs, self.vars, id)
    }

    /// The condition that the bits of a variable stand for one of its values.
    pub fn in_domain(&mut self, var: VarId, next: bool) -> Lit {
        let domain = &self.vars[var.index()].domain;
        let bits = if next {
            self.next[var.index()].clone()
        } else {
            self.current[var.index()].clone()
        };
        let size = domain.len();
        match (code(domain).0, domain) {
            (Code::Bool, _) => Lit::TRUE,
            (Code::Direct { signed }, Domain::Range(low, high)) => {
                let mut word = bits;
                if !signed {
                    word.push(Lit::FALSE);
                }
                let below = self.aig.word_less(&word, &word::constant(*low));
                let above = self.aig.word_less(&word::constant(*high), &word);
                self.aig.and(!below, !above)
            }
            _ if size.is_power_of_two() => Lit::TRUE,
            _ => {
                let mut word = bits;
                word.push(Lit::FALSE);
                let limit = i64::try_from(size).unwrap_or(i64::MAX);
                self.aig.word_less(&word, &word::constant(limit))
            }
        }
    }

    fn variable(&mut self, var: VarId, next: bool) -> Rc<Single> {
        if let Some(known) = self.scalars.get(&(var, next)) {
            return known.clone();
        }
        let domain = &self.vars[var.index()].domain;
        let bits = if next {
            self.next[var.index()].clone()
        } else {
            self.current[var.index()].clone()
        };
        debug_assert_eq!(
            bits.len(),
            width(domain),
            "a variable outside of the encoded part"
        );
        let single = match (code(domain).0, domain) {
            (Code::Bool, _) => Single::Bool(bits[0]),
            (Code::Direct { signed }, _) => {
                let mut word = bits;
                if !signed {
                    word.push(Lit::FALSE);
                }
                Single::Scalar(Scalar {
                    integer: Some((Lit::TRUE, word)),
                    symbols: Vec::new(),
                })
            }
            (Code::Position, Domain::Range(low, _)) => {
                let mut word = bits;
                word.push(Lit::FALSE);
                Single::Scalar(Scalar {
                    integer: Some((Lit::TRUE, self.aig.word_add(&word, &word::constant(*low)))),
                    symbols: Vec::new(),
                })
            }
            (Code::Position, _) => {
                let mut scalar = Scalar::default();
                let count = domain.len();
                let mut integers = Vec::new();
                let row = match domain {
                    Domain::Enum(values) => values.row(),
                    _ => None,
                };
                let row_length = row.map_or(0, |(low, high)| high.abs_diff(low) + 1);
                for position in row_length..count {
                    let pattern: Vec<Lit> = bits
                        .iter()
                        .enumerate()
                        .map(|(index, bit)| bit.flip_if(position >> index & 1 == 0))
                        .collect();
                    let here = self.aig.and_all(&pattern);
                    match domain.value(position) {
                        Value::Symbol(symbol) => scalar.symbols.push((symbol, here)),
                        Value::Int(number) => integers.push((number, here)),
                        Value::Bool(_) => {}
                    }
                }
                if let Some((low, _)) = row {
                    // The bits count as the integers do, but for the few values outside of the row.
                    let mut place = bits;
                    place.push(Lit::FALSE);
                    let mut word = self.aig.word_add(&place, &word::constant(low));
                    for (number, here) in integers {
                        word = self.aig.word_ite(here, &word::constant(number), &word);
                    }
                    let symbols: Vec<Lit> = scalar.symbols.iter().map(|(_, here)| *here).collect();
                    scalar.integer = Some((!self.aig.or_all(&symbols), word));
                } else if !integers.is_empty() {
                    let guards: Vec<Lit> = integers.iter().map(|(_, here)| *here).collect();
                    let guard = if scalar.symbols.is_empty() {
                        Lit::TRUE
                    } else {
                        self.aig.or_all(&guards)
                    };
                    let wide = integers
                        .iter()
                        .map(|(number, _)| word::constant(*number).len())
                        .max()
                        .unwrap_or(1);
                    let word = (0..wide)
                        .map(|bit| {
                            let set: Vec<Lit> = integers
                                .iter()
                                .filter(|(number, _)| number >> bit & 1 == 1)
                                .map(|(_, here)| *here)
                                .collect();
                            if set.len() == integers.len() && scalar.symbols.is_empty() {
                                Lit::TRUE
                            } else {
                                self.aig.or_all(&set)
                            }
                        })
                        .collect();
                    scalar.integer = Some((guard, word));
                }
                Single::Scalar(scalar)
            }
        };
        let single = Rc::new(single);
        self.scalars.insert((var, next), single.clone());
        single
    }

    /// The gate of a condition: that TRUE is one of its values. As in the interpreter, a part without a value does not
    /// hold, and takes the truth of what it is an operand of, except for the outermost connectives.
    pub fn condition(&mut self, id: ExprId) -> Encoded<Lit> {
        match self.exprs.node(id) {
            Node::And(parts) | Node::Or(parts) if !self.trusting => {
                let lits = parts
                    .iter()
                    .map(|part| self.condition(*part))
                    .collect::<Encoded<Vec<_>>>()?;
                Ok(match self.exprs.node(id) {
                    Node::And(_) => self.aig.and_all(&lits),
                    _ => self.aig.or_all(&lits),
                })
            }
            _ => Ok(self.possible(id)?.0),
        }
    }

    /// When an expression has a value at all, as the interpreter sees it: a branch of each `case` that is reached holds,
    /// no divisor is zero, no range is empty.
    pub(super) fn defined(&mut self, id: ExprId) -> Encoded<Lit> {
        if self.trusting || self.exprs.traits(id).total {
            return Ok(Lit::TRUE);
        }
        if let Some(known) = self.defined.get(&id) {
            return Ok(*known);
        }
        let choice = self.type_of(id).choice;
        let lit = match self.exprs.node(id) {
            Node::Set(parts) => {
                let ways = parts
                    .iter()
                    .map(|part| self.defined(*part))
                    .collect::<Encoded<Vec<_>>>()?;
                self.aig.or_all(&ways)
            }
            Node::Binary(Operator::Union, left, right) => {
                let (a, b) = (self.defined(*left)?, self.defined(*right)?);
                self.aig.or(a, b)
            }
            Node::Range(low, high) if !self.type_of(*low).choice && !self.type_of(*high).choice => {
                let (a, b) = (self.defined(*low)?, self.defined(*high)?);
                let (low, high) = (self.word(*low)?, self.word(*high)?);
                let empty = self.aig.word_less(&high, &low);
                self.aig.and_all(&[a, b, !empty])
            }
            Node::Case(branches) => {
                let mut reached = Lit::TRUE;
                let mut ways = Vec::new();
                for (condition, value) in branches {
                    let (can_hold, can_fail) = self.possible(*condition)?;
                    let value = self.defined(*value)?;
                    ways.push(self.aig.and_all(&[reached, can_hold, value]));
                    reached = self.aig.and(reached, can_fail);
                }
                self.aig.or_all(&ways)
            }
            Node::Binary(Operator::Divide | Operator::Modulo, _, right)
                if choice && self.type_of(*right).choice =>
            {
                let guards: Vec<Lit> =
                    (self.alternatives(id)?.iter().map(|(guard, _)| *guard)).collect();
                self.aig.or_all(&guards)
            }
            Node::Range(..) => {
                let guards: Vec<Lit> =
                    (self.alternatives(id)?.iter().map(|(guard, _)| *guard)).collect();
                self.aig.or_all(&guards)
            }
            // The operands choose independently, so there is a value exactly where each of them has one.
            node => {
                let divisor = match node {
                    Node::Binary(Operator::Divide | Operator::Modulo, _, right) => Some(*right),
                    _ => None,
                };
                let mut all = Vec::new();
                for child in self.exprs.children(id) {
                    all.push(self.defined(child)?);
                }
                if let Some(divisor) = divisor {
                    let divisor = self.word(divisor)?;
                    all.push(!self.aig.word_equal(&divisor, &[Lit::FALSE]));
                }
                self.aig.and_all(&all)
            }
        };
        self.defined.insert(id, lit);
        Ok(lit)
    }

    fn truth(&mut self, id: ExprId) -> Encoded<Lit> {
        match &*self.single(id)? {
            Single::Bool(lit) => Ok(*lit),
            Single::Scalar(_) => Err(TooLarge("a boolean was expected".to_owned())),
        }
    }

    fn scalar(&mut self, id: ExprId) -> Encoded<Scalar> {
        match &*self.single(id)? {
            Single::Scalar(scalar) => Ok(scalar.clone()),
            Single::Bool(_) => Err(TooLarge("a number or a symbol was expected".to_owned())),
        }
    }

    pub(super) fn word(&mut self, id: ExprId) -> Encoded<Word> {
        Ok(self
            .scalar(id)?
            .integer
            .map_or_else(|| vec![Lit::FALSE], |(_, word)| word))
    }

    /// An expression without choice.
    fn single(&mut self, id: ExprId) -> Encoded<Rc<Single>> {
        if let Some(known) = self.singles.get(&id) {
            return Ok(known.clone());
        }
        let single = Rc::new(match self.exprs.node(id) {
            Node::Var(var) => return Ok(self.variable(*var, false)),
            Node::Next(var) => return Ok(self.variable(*var, true)),
            Node::Const(value) => constant_single(*value),
            Node::Not(inner) => Single::Bool(!self.truth(*inner)?),
            Node::And(parts) => {
                let lits = parts
                    .iter()
                    .map(|part| self.truth(*part))
                    .collect::<Encoded<Vec<_>>>()?;
                Single::Bool(self.aig.and_all(&lits))
            }
            Node::Or(parts) => {
                let lits = parts
                    .iter()
                    .map(|part| self.truth(*part))
                    .collect::<Encoded<Vec<_>>>()?;
                Single::Bool(self.aig.or_all(&lits))
            }
            Node::Negate(inner) => {
                let word = self.word(*inner)?;
                integer_single(self.aig.word_negate(&word))
            }
            Node::Abs(inner) => {
                let word = self.word(*inner)?;
                integer_single(self.aig.word_abs(&word))
            }
            Node::ToInt(inner) => match (*self.single(*inner)?).clone() {
                Single::Bool(lit) => integer_single(vec![lit, Lit::FALSE]),
                scalar @ Single::Scalar(_) => scalar,
            },
            Node::ToBool(inner) => match (*self.single(*inner)?).clone() {
                Single::Scalar(scalar) => {
                    let word = scalar
                        .integer
                        .map_or_else(|| vec![Lit::FALSE], |(_, word)| word);
                    Single::Bool(!self.aig.word_equal(&word, &[Lit::FALSE]))
                }
                truth @ Single::Bool(_) => truth,
            },
            Node::Count(parts) => {
                let mut sum = vec![Lit::FALSE];
                for part in parts {
                    let lit = self.truth(*part)?;
                    sum = self.aig.word_add(&sum, &[lit, Lit::FALSE]);
                }
                integer_single(sum)
            }
            Node::Min(left, right) | Node::Max(left, right) => {
                let (a, b) = (self.word(*left)?, self.word(*right)?);
                let less = self.aig.word_less(&a, &b);
                let least = matches!(self.exprs.node(id), Node::Min(..));
                integer_single(self.aig.word_ite(less.flip_if(!least), &a, &b))
            }
            Node::Set(parts) => (*self.single(parts[0])?).clone(),
            Node::Range(low, _) => (*self.single(*low)?).clone(),
            Node::Case(branches) => {
                // A branch that is never reached because the case is exhaustive can be anything: the last value.
                let mut result = (*self.single(branches[branches.len() - 1].1)?).clone();
                for (condition, value) in branches[..branches.len() - 1].iter().rev() {
                    let condition = self.truth(*condition)?;
                    let value = self.single(*value)?;
                    result = self.choose(condition, &value, &result);
                }
                result
            }
            Node::Binary(operator, left, right) => self.single_binary(*operator, *left, *right)?,
        });
        self.singles.insert(id, single.clone());
        Ok(single)
    }

    fn single_binary(
        &mut self,
        operator: Operator,
        left: ExprId,
        right: ExprId,
    ) -> Encoded<Single> {
        Ok(match operator {
            Operator::Xor => {
                let (a, b) = (self.truth(left)?, self.truth(right)?);
                Single::Bool(self.aig.xor(a, b))
            }
            Operator::Xnor | Operator::Iff => {
                let (a, b) = (self.truth(left)?, self.truth(right)?);
                Single::Bool(self.aig.iff(a, b))
            }
            Operator::Implies => {
                let (a, b) = (self.truth(left)?, self.truth(right)?);
                Single::Bool(self.aig.or(!a, b))
            }
            Operator::Equal | Operator::Unequal => {
                let (a, b) = (self.single(left)?, self.single(right)?);
                let same = self.equal(&a, &b);
                Single::Bool(same.flip_if(operator == Operator::Unequal))
            }
            Operator::Less | Operator::LessEqual | Operator::Greater | Operator::GreaterEqual => {
                let (a, b) = (self.word(left)?, self.word(right)?);
                Single::Bool(self.compare(operator, &a, &b))
            }
            Operator::Add => {
                let (a, b) = (self.word(left)?, self.word(right)?);
                integer_single(self.aig.word_add(&a, &b))
            }
            Operator::Subtract => {
                let (a, b) = (self.word(left)?, self.word(right)?);
                integer_single(self.aig.word_subtract(&a, &b))
            }
            Operator::Multiply => {
                let (a, b) = (self.word(left)?, self.word(right)?);
                integer_single(self.aig.word_multiply(&a, &b))
            }
            Operator::Divide => {
                let (a, b) = (self.word(left)?, self.word(right)?);
                integer_single(self.aig.word_divide(&a, &b).0)
            }
            Operator::Modulo => {
                let (a, b) = (self.word(left)?, self.word(right)?);
                integer_single(self.aig.word_divide(&a, &b).1)
            }
            Operator::Union => (*self.single(left)?).clone(),
            Operator::In => {
                let element = self.single(left)?;
                Single::Bool(self.member(&element, right)?)
            }
        })
    }

    fn compare(&mut self, operator: Operator, a: &[Lit], b: &[Lit]) -> Lit {
        match operator {
            Operator::Less => self.aig.word_less(a, b),
            Operator::Greater => self.aig.word_less(b, a),
            Operator::LessEqual => !self.aig.word_less(b, a),
            _ => !self.aig.word_less(a, b),
        }
    }

    fn choose(&mut self, condition: Lit, then: &Single, otherwise: &Single) -> Single {
        match (then, otherwise) {
            (Single::Bool(a), Single::Bool(b)) => Single::Bool(self.aig.ite(condition, *a, *b)),
            (Single::Scalar(a), Single::Scalar(b)) => {
                let integer = match (&a.integer, &b.integer) {
                    (Some((guard_a, word_a)), Some((guard_b, word_b))) => {
                        let guard = self.aig.ite(condition, *guard_a, *guard_b);
                        Some((guard, self.aig.word_ite(condition, word_a, word_b)))
                    }
                    (Some((guard, word)), None) => {
                        Some((self.aig.and(condition, *guard), word.clone()))
                    }
                    (None, Some((guard, word))) => {
                        Some((self.aig.and(!condition, *guard), word.clone()))
                    }
                    (None, None) => None,
                };
                let mut symbols: Vec<(SymbolId, Lit)> = a
                    .symbols
                    .iter()
                    .map(|(symbol, here)| (*symbol, self.aig.and(condition, *here)))
                    .collect();
                for (symbol, here) in &b.symbols {
                    let here = self.aig.and(!condition, *here);
                    match symbols.iter_mut().find(|(known, _)| known == symbol) {
                        Some((_, lit)) => *lit = self.aig.or(*lit, here),
                        None => symbols.push((*symbol, here)),
                    }
                }
                Single::Scalar(Scalar { integer, symbols })
            }
            // A case whose branches have different types: the types were checked where the value is used.
            (_, other) => other.clone(),
        }
    }

    pub(super) fn equal(&mut self, a: &Single, b: &Single) -> Lit {
        match (a, b) {
            (Single::Bool(a), Single::Bool(b)) => self.aig.iff(*a, *b),
            (Single::Scalar(a), Single::Scalar(b)) => {
                let mut ways = Vec::new();
                if let (Some((guard_a, word_a)), Some((guard_b, word_b))) = (&a.integer, &b.integer)
                {
                    let both = self.aig.and(*guard_a, *guard_b);
                    let same = self.aig.word_equal(word_a, word_b);
                    ways.push(self.aig.and(both, same));
                }
                for (symbol, here) in &a.symbols {
                    if let Some((_, there)) = b.symbols.iter().find(|(other, _)| other == symbol) {
                        ways.push(self.aig.and(*here, *there));
                    }
                }
                self.aig.or_all(&ways)
            }
            _ => Lit::FALSE,
        }
    }

    /// When a value is one of some constants. Neighbouring integers are one interval: hundreds of equations would be a
    /// hard question.
    pub(super) fn one_of(&mut self, element: &Single, constants: &[Value]) -> Lit {
        let mut ways = Vec::new();
        let mut integers = Vec::new();
        for constant in constants {
            match constant {
                Value::Int(number) => integers.push(*number),
                _ => ways.push(self.equal(element, &constant_single(*constant))),
            }
        }
        integers.sort_unstable();
        integers.dedup();
        for row in integers.chunk_by(|a, b| a.checked_add(1) == Some(*b)) {
            ways.push(match row {
                [number] => self.equal(element, &constant_single(Value::Int(*number))),
                _ => self.between(element, row[0], row[row.len() - 1]),
            });
        }
        self.aig.or_all(&ways)
    }

    /// When a value is an integer between two bounds.
    pub(super) fn between(&mut self, element: &Single, low: i64, high: i64) -> Lit {
        let Single::Scalar(Scalar {
            integer: Some((guard, word)),
            ..
        }) = element
        else {
            return Lit::FALSE;
        };
        let below = self.aig.word_less(word, &word::constant(low));
        let above = self.aig.word_less(&word::constant(high), word);
        let between = self.aig.and(!below, !above);
        self.aig.and(*guard, between)
    }
}

fn single_word(single: &Single) -> &[Lit] {
    match single {
        Single::Scalar(Scalar {
            integer: Some((_, word)),
            ..
        }) => word,
        _ => &[Lit::FALSE],
    }
}

fn integer_single(word: Word) -> Single {
    Single::Scalar(Scalar {
        integer: Some((Lit::TRUE, word)),
        symbols: Vec::new(),
    })
}

pub(super) fn constant_single(value: Value) -> Single {
    match value {
        Value::Bool(truth) => Single::Bool(Lit::FALSE.flip_if(truth)),
        Value::Int(number) => integer_single(word::constant(number)),
        Value::Symbol(symbol) => Single::Scalar(Scalar {
            integer: None,
            symbols: vec![(symbol, Lit::TRUE)],
        }),
    }
}
