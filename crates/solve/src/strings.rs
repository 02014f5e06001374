//! Conditions on strings: which of them say that one string is in a regular language, and the strings
//! that stand for all others.
//!
//! A condition with alternatives is taken apart first, and a string that equals others is replaced by
//! them. What is left are literals. The literals of one string make its [`Language`]; comparisons for
//! equality between strings remain. Strings that are bound by nothing else differ in nothing else, so
//! the named ones and a few words of the language stand for all.

use ioco_sts::domain::comparison;
use ioco_sts::{BinaryOp, Expr, UnaryOp, Value};

use crate::goal::{Constants, Goal, Shape, each_unknown};
use crate::language::{Language, Literal, Test};
use crate::outcome::Deadline;
use crate::samples::{Dice, named, pieces, samples};
use crate::search::Choice;

/// Strings that are compared with each other, beyond which their languages are not combined.
const MAX_GROUP: usize = 5;
/// Words of a finite language that are listed.
const MAX_LISTED: usize = 300;
/// Words that are tried where no list stands for all.
const TRIED: usize = 60;
/// Longer strings are not made up.
const MAX_LENGTH: i64 = 4096;

/// The parts of a conjunction.
pub(crate) fn parts(conditions: &[Expr]) -> Vec<Goal<'_>> {
    let mut found = Vec::new();
    let mut open: Vec<Goal<'_>> = conditions.iter().rev().map(Goal::holds).collect();
    while let Some(goal) = open.pop() {
        match goal.shape() {
            Shape::All(first, second) => open.extend([second, first]),
            Shape::One(goal) => found.push(goal),
            Shape::Either(..) => found.push(goal),
        }
    }
    found
}

/// A goal as a condition.
pub(crate) fn condition(goal: Goal<'_>) -> Expr {
    if goal.want {
        goal.expr.clone()
    } else {
        Expr::unary(UnaryOp::Not, goal.expr.clone())
    }
}

fn mentions(expr: &Expr, unknowns: &[u32]) -> bool {
    let mut found = false;
    each_unknown(expr, &mut |u| found |= unknowns.contains(&u));
    found
}

/// A piece of joined strings.
#[derive(Clone, Debug, PartialEq)]
enum Piece {
    Character(char),
    Unknown(u32),
}

fn pieces_of(expr: &Expr, found: &mut Vec<Piece>) {
    match expr {
        Expr::Const(Value::Str(text)) => found.extend(text.chars().map(Piece::Character)),
        Expr::Param(unknown) => found.push(Piece::Unknown(*unknown)),
        Expr::Binary(_, both) => both.iter().for_each(|e| pieces_of(e, found)),
        _ => {}
    }
}

fn joined(pieces: &[Piece]) -> Expr {
    let mut all: Vec<Expr> = Vec::new();
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Piece::Character(c) => text.push(*c),
            Piece::Unknown(unknown) => {
                if !text.is_empty() {
                    all.push(Expr::Const(Value::str(&std::mem::take(&mut text))));
                }
                all.push(Expr::Param(*unknown));
            }
        }
    }
    if !text.is_empty() || all.is_empty() {
        all.push(Expr::Const(Value::str(&text)));
    }
    all.into_iter()
        .reduce(|a, b| Expr::binary(BinaryOp::Add, a, b))
        .unwrap_or(Expr::Const(Value::str("")))
}

/// An equality between joined strings with what both begin or end with taken away, or decided by
/// that: the part, and what takes its place where all its strings are set.
pub(crate) fn simplified(
    parts: &[Goal<'_>],
    is_string: &dyn Fn(u32) -> bool,
) -> Option<(usize, Expr)> {
    for (index, goal) in parts.iter().enumerate() {
        let Expr::Binary(op, both) = goal.expr else {
            continue;
        };
        let equal = match comparison(*op, goal.want) {
            Some(BinaryOp::Eq) => true,
            Some(BinaryOp::Ne) => false,
            _ => continue,
        };
        let adds = |e: &Expr| matches!(e, Expr::Binary(BinaryOp::Add, _));
        if !both.iter().any(adds) || !both.iter().all(|e| is_joined(e, is_string)) {
            continue;
        }
        let (mut left, mut right) = (Vec::new(), Vec::new());
        pieces_of(&both[0], &mut left);
        pieces_of(&both[1], &mut right);
        let before = left.len() + right.len();
        let start = left.iter().zip(&right).take_while(|(a, b)| a == b).count();
        left.drain(..start);
        right.drain(..start);
        while !left.is_empty() && left.last() == right.last() {
            left.pop();
            right.pop();
        }
        let unknowns = |pieces: &[Piece]| {
            let mut found: Vec<u32> = Vec::new();
            for piece in pieces {
                if let Piece::Unknown(unknown) = piece {
                    found.push(*unknown);
                }
            }
            found.sort_unstable();
            found
        };
        let differ = |a: Option<&Piece>, b: Option<&Piece>| matches!((a, b), (Some(Piece::Character(a)), Some(Piece::Character(b))) if a != b);
        let truth = if left.is_empty() && right.is_empty() {
            Some(equal)
        } else if differ(left.first(), right.first())
            || differ(left.last(), right.last())
            // The same unknowns, and not as many characters besides.
            || (unknowns(&left) == unknowns(&right) && left.len() != right.len())
        {
            Some(!equal)
        } else {
            None
        };
        let op = if equal { BinaryOp::Eq } else { BinaryOp::Ne };
        match truth {
            Some(truth) => return Some((index, Expr::Const(Value::Bool(truth)))),
            None if left.len() + right.len() < before => {
                return Some((index, Expr::binary(op, joined(&left), joined(&right))));
            }
            None => {}
        }
    }
    None
}

/// A string that equals others joined together, or one other, whatever else holds: the part that says
/// so, the string, and what it equals.
pub(crate) fn substitution(
    parts: &[Goal<'_>],
    is_string: &dyn Fn(u32) -> bool,
) -> Option<(usize, u32, Expr)> {
    for (index, goal) in parts.iter().enumerate() {
        let Expr::Binary(op, both) = goal.expr else {
            continue;
        };
        if comparison(*op, goal.want) != Some(BinaryOp::Eq) {
            continue;
        }
        for (side, other) in [(&both[0], &both[1]), (&both[1], &both[0])] {
            if let Expr::Param(unknown) = side
                && is_string(*unknown)
                && is_joined(other, is_string)
                && !mentions(other, &[*unknown])
                && mentions_any(other)
            {
                return Some((index, *unknown, other.clone()));
            }
        }
    }
    None
}

fn mentions_any(expr: &Expr) -> bool {
    let mut found = false;
    each_unknown(expr, &mut |_| found = true);
    found
}

/// Strings joined together, and nothing else.
fn is_joined(expr: &Expr, is_string: &dyn Fn(u32) -> bool) -> bool {
    match expr {
        Expr::Const(Value::Str(_)) => true,
        Expr::Param(unknown) => is_string(*unknown),
        Expr::Binary(BinaryOp::Add, both) => both.iter().all(|e| is_joined(e, is_string)),
        _ => false,
    }
}

/// Ways in which one of the parts can hold, where it has several and speaks of one of `unknowns`: the
/// part, and by way the conditions in its place. Exactly one way is met wherever the part is.
pub(crate) fn branches(
    parts: &[Goal<'_>],
    unknowns: &[u32],
    is_boolean: &dyn Fn(u32) -> bool,
) -> Option<(usize, Vec<Vec<Expr>>)> {
    for (index, goal) in parts.iter().enumerate() {
        if !mentions(goal.expr, unknowns) {
            continue;
        }
        if let Shape::Either(first, not_first, second) = goal.shape() {
            let ways = vec![
                vec![condition(first)],
                vec![condition(not_first), condition(second)],
            ];
            return Some((index, ways));
        }
        if let Expr::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), both) = goal.expr
            && both.iter().any(is_condition)
            && both
                .iter()
                .all(|e| is_condition(e) || matches!(e, Expr::Param(u) if is_boolean(*u)))
        {
            let same = comparison(*op, goal.want) == Some(BinaryOp::Eq);
            let side = |expr: &Expr, want: bool| condition(Goal { expr, want });
            let mut ways: Vec<Vec<Expr>> = [true, false]
                .map(|t| vec![side(&both[0], t), side(&both[1], t == same)])
                .to_vec();
            // An unset boolean differs from every condition.
            if !same {
                for (one, other) in [(&both[0], &both[1]), (&both[1], &both[0])] {
                    if let Expr::Param(_) = one {
                        let unset =
                            Expr::binary(BinaryOp::Eq, one.clone(), Expr::Const(Value::Void));
                        for t in [true, false] {
                            ways.push(vec![unset.clone(), side(other, t)]);
                        }
                    }
                }
            }
            return Some((index, ways));
        }
        if let Some(choice) = first_choice(goal.expr) {
            let Expr::If(all) = choice else { continue };
            let way = |want: bool, branch: &Expr| {
                let replaced = replace_once(goal.expr, choice, branch);
                vec![
                    condition(Goal {
                        expr: &all[0],
                        want,
                    }),
                    condition(Goal {
                        expr: &replaced,
                        want: goal.want,
                    }),
                ]
            };
            return Some((index, vec![way(true, &all[1]), way(false, &all[2])]));
        }
    }
    None
}

/// Whether an expression is a truth by its form.
fn is_condition(expr: &Expr) -> bool {
    match expr {
        Expr::Unary(UnaryOp::Not, _)
        | Expr::Matches(..)
        | Expr::InSet(..)
        | Expr::InRange(_)
        | Expr::Const(Value::Bool(_)) => true,
        Expr::Binary(op, _) => {
            matches!(op, BinaryOp::And | BinaryOp::Or) || comparison(*op, true).is_some()
        }
        _ => false,
    }
}

/// An `if` whose condition is evaluated wherever the whole is.
fn first_choice(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::If(_) => Some(expr),
        // Later items are evaluated only where the ones before are not equal.
        Expr::InSet(subject, _) => first_choice(subject),
        Expr::Binary(BinaryOp::And | BinaryOp::Or, both) => first_choice(&both[0]),
        _ => expr.children().into_iter().find_map(first_choice),
    }
}

/// `expr` with `part`, which is one of its sub-expressions by address, replaced.
fn replace_once(expr: &Expr, part: &Expr, replacement: &Expr) -> Expr {
    if std::ptr::eq(expr, part) {
        return replacement.clone();
    }
    expr.map_children(|child| replace_once(child, part, replacement))
}

/// The text before and after the one `unknown` in strings joined together, all others being known.
fn term(expr: &Expr, unknown: u32) -> Option<(String, String)> {
    let mut sides = (String::new(), None::<String>);
    term_pieces(expr, unknown, &mut sides)?;
    sides.1.map(|suffix| (sides.0, suffix))
}

fn term_pieces(expr: &Expr, unknown: u32, sides: &mut (String, Option<String>)) -> Option<()> {
    match expr {
        Expr::Param(u) if *u == unknown && sides.1.is_none() => sides.1 = Some(String::new()),
        Expr::Const(Value::Str(text)) => match &mut sides.1 {
            Some(suffix) => suffix.push_str(text),
            None => sides.0.push_str(text),
        },
        Expr::Binary(BinaryOp::Add, both) => {
            term_pieces(&both[0], unknown, sides)?;
            term_pieces(&both[1], unknown, sides)?;
        }
        _ => return None,
    }
    Some(())
}

/// A goal that says of one string, which is set, that it is in a language; `None` where it says more.
fn literals(goal: Goal<'_>, unknown: u32) -> Option<Vec<Literal>> {
    let literal = |subject: &Expr, test: Test, want: bool| {
        let (prefix, suffix) = term(subject, unknown)?;
        Some(Literal {
            prefix,
            suffix,
            test,
            want,
        })
    };
    let texts = |items: &[Expr]| {
        let mut found = Vec::new();
        for item in items {
            match item {
                Expr::Const(Value::Str(text)) => found.push(text.to_string()),
                // A string that is set equals nothing else.
                Expr::Const(_) => {}
                _ => return None,
            }
        }
        Some(found)
    };
    let one = |literal: Literal| vec![literal];
    match goal.expr {
        Expr::Matches(subject, pattern) => {
            literal(subject, Test::Matches(pattern.clone()), goal.want).map(one)
        }
        Expr::InSet(subject, items) => {
            literal(subject, Test::OneOf(texts(items)?), goal.want).map(one)
        }
        Expr::InRange(all) if goal.want => {
            let [subject, low, high] = &**all;
            let (low, high) = (constant(low)?, constant(high)?);
            match (subject, low, high) {
                (Expr::Unary(UnaryOp::Length, inner), Value::Int(low), Value::Int(high)) => {
                    literal(inner, Test::Length(*low, *high), true).map(one)
                }
                (_, Value::Str(low), Value::Str(high)) => Some(vec![
                    literal(subject, Test::Ordered(BinaryOp::Ge, low.to_string()), true)?,
                    literal(subject, Test::Ordered(BinaryOp::Le, high.to_string()), true)?,
                ]),
                _ => None,
            }
        }
        Expr::Binary(op, both) => {
            let op = comparison(*op, goal.want)?;
            let (subject, value, op) = match (constant(&both[0]), constant(&both[1])) {
                (None, Some(value)) => (&both[0], value, op),
                (Some(value), None) => (&both[1], value, mirrored(op)),
                _ => return None,
            };
            let same = |value: &Value| match value {
                Value::Str(text) => Test::OneOf(vec![text.to_string()]),
                _ => Test::OneOf(Vec::new()),
            };
            if let (Expr::Unary(UnaryOp::Length, inner), Value::Int(n)) = (subject, value) {
                let (min, max) = match op {
                    BinaryOp::Eq | BinaryOp::Ne => (*n, *n),
                    BinaryOp::Lt => (0, n.checked_sub(1)?),
                    BinaryOp::Le => (0, *n),
                    BinaryOp::Gt => (n.checked_add(1)?, i64::MAX),
                    _ => (*n, i64::MAX),
                };
                let test = Test::Length(min.max(0), max);
                // A negative length is no length, wanted or not.
                let test = if max < 0 {
                    Test::OneOf(Vec::new())
                } else {
                    test
                };
                return literal(inner, test, op != BinaryOp::Ne).map(one);
            }
            match (op, value) {
                (BinaryOp::Eq, value) => literal(subject, same(value), true).map(one),
                (BinaryOp::Ne, value) => literal(subject, same(value), false).map(one),
                (op, Value::Str(text)) => {
                    literal(subject, Test::Ordered(op, text.to_string()), true).map(one)
                }
                _ => None,
            }
        }
        _ => None,
    }
}

fn constant(expr: &Expr) -> Option<&Value> {
    match expr {
        Expr::Const(value) => Some(value),
        _ => None,
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

/// `unknown`, and all the unknowns that it is compared with for equality, directly or through others:
/// what binds one of them may bind all.
fn equal_group(parts: &[Goal<'_>], unknown: u32) -> Vec<u32> {
    let mut links: Vec<Vec<u32>> = Vec::new();
    for part in parts {
        part.expr.walk(&mut |e| {
            let operands: Vec<&Expr> = match e {
                Expr::Binary(BinaryOp::Eq | BinaryOp::Ne, both) => both.iter().collect(),
                Expr::InSet(subject, items) => {
                    std::iter::once(&**subject).chain(items.iter()).collect()
                }
                _ => return,
            };
            let parameter = |o: &Expr| match o {
                Expr::Param(position) => Some(*position),
                _ => None,
            };
            links.push(operands.into_iter().filter_map(parameter).collect());
        });
    }
    let mut group = vec![unknown];
    let mut next = 0;
    while let Some(member) = group.get(next).copied() {
        next += 1;
        for link in links.iter().filter(|link| link.contains(&member)) {
            for other in link {
                if !group.contains(other) {
                    group.push(*other);
                }
            }
        }
    }
    group
}

/// Whether `unknown` occurs only next to `==`, `!=` and in sets, against constants and unknowns.
fn compared_only(expr: &Expr, unknown: u32) -> bool {
    let is_operand = |e: &Expr| matches!(e, Expr::Const(_) | Expr::Param(_));
    match expr {
        Expr::Param(position) => *position != unknown,
        Expr::Binary(BinaryOp::Eq | BinaryOp::Ne, both) if both.iter().all(is_operand) => true,
        Expr::InSet(subject, items) if is_operand(subject) && items.iter().all(is_operand) => true,
        _ => expr
            .children()
            .into_iter()
            .all(|child| compared_only(child, unknown)),
    }
}

/// What the parts of a conjunction say of one string.
pub(crate) struct Reading {
    unknown: u32,
    /// The strings that it is compared with, itself first; by string its literals.
    group: Vec<(u32, Vec<Literal>)>,
    /// Nothing else is said of any of the group than literals and comparisons for equality.
    settled: bool,
}

impl Reading {
    pub fn new(parts: &[Goal<'_>], unknown: u32) -> Reading {
        let members = equal_group(parts, unknown);
        let mut settled = members.len() <= MAX_GROUP;
        let group = members
            .into_iter()
            .map(|member| {
                let mut own = Vec::new();
                for part in parts {
                    match literals(*part, member) {
                        Some(found) => own.extend(found),
                        None => settled &= compared_only(part.expr, member),
                    }
                }
                (member, own)
            })
            .collect();
        Reading {
            unknown,
            group,
            settled,
        }
    }

    pub fn is_settled(&self) -> bool {
        self.settled
    }

    pub fn members(&self) -> Vec<u32> {
        self.group.iter().map(|(member, _)| *member).collect()
    }

    /// Strings that the conditions suggest, where no language lists them.
    pub fn samples(
        &self,
        lengths: (i64, i64),
        conditions: &[Expr],
        constants: &Constants,
        choice: &mut Choice<'_>,
        deadline: &Deadline<'_>,
    ) -> Candidates {
        Candidates {
            strings: samples(
                self.unknown,
                lengths,
                conditions,
                constants,
                choice,
                deadline,
            ),
            complete: false,
        }
    }

    /// Strings to try for the unknown, which is set and of these lengths.
    pub fn candidates(
        &self,
        lengths: (i64, i64),
        conditions: &[Expr],
        constants: &Constants,
        choice: &mut Choice<'_>,
        deadline: &Deadline<'_>,
    ) -> Candidates {
        let mut own = self.group[0].1.clone();
        let (min, max) = lengths;
        if min > 0 || max < i64::MAX {
            own.push(Literal {
                prefix: String::new(),
                suffix: String::new(),
                test: Test::Length(min, max),
                want: true,
            });
        }
        let known: Vec<String> = named(constants).map(str::to_owned).collect();
        let Ok(mut language) = Language::new(&own, deadline) else {
            return self.samples(lengths, conditions, constants, choice, deadline);
        };
        if language.is_empty() {
            return Candidates {
                strings: Vec::new(),
                complete: true,
            };
        }
        let random = matches!(choice, Choice::Random(_));
        let mut dice = Dice::new(choice, self.unknown);
        let mut strings = Vec::new();
        if random {
            random_words(&mut language, &mut dice, deadline, &mut strings);
        }
        if self.settled {
            // Two strings may be equal: then their value is in both languages.
            let others = &self.group[1..];
            let mut complete = true;
            strings.extend(known.iter().cloned());
            for subset in 0..1_u32 << others.len() {
                let mut all = own.clone();
                for (index, (_, literals)) in others.iter().enumerate() {
                    if subset & (1 << index) != 0 {
                        all.extend(literals.iter().cloned());
                    }
                }
                if subset > 0 && all == own {
                    continue;
                }
                match Language::new(&all, deadline) {
                    Ok(mut both) => {
                        complete &=
                            fresh(&mut both, &known, self.group.len(), deadline, &mut strings);
                    }
                    Err(_) => complete = false,
                }
            }
            return Candidates { strings, complete };
        }
        if !language.infinite {
            let mut listed = Vec::new();
            let mut complete = true;
            for length in 0..=language.longest() {
                let most = MAX_LISTED.saturating_sub(listed.len());
                complete &= language.words(length, most, &mut |_| 0, deadline, &mut listed);
                if !complete {
                    break;
                }
            }
            strings.extend(listed);
            if complete {
                return Candidates { strings, complete };
            }
        }
        strings.extend(known.iter().cloned());
        pieces(conditions, &known, &mut strings);
        spread(
            &mut language,
            lengths,
            constants,
            &mut dice,
            deadline,
            &mut strings,
        );
        Candidates {
            strings,
            complete: false,
        }
    }
}

/// Strings for one unknown, and whether one of them will do wherever any string does.
pub(crate) struct Candidates {
    pub strings: Vec<String>,
    pub complete: bool,
}

/// Adds the shortest words that are not named, one more than there are strings to differ from; whether
/// there were as many, or these are all.
fn fresh(
    language: &mut Language,
    named: &[String],
    others: usize,
    deadline: &Deadline<'_>,
    found: &mut Vec<String>,
) -> bool {
    let wanted = others + 1;
    let mut new: Vec<String> = Vec::new();
    let mut length = 0;
    // In an infinite language a word comes at the latest after as many lengths as there are states.
    let longest = language.longest().saturating_mul(wanted + named.len());
    while new.len() < wanted && length <= longest {
        let mut words = Vec::new();
        let most = wanted + named.len();
        let all = language.words(length, most, &mut |_| 0, deadline, &mut words);
        if deadline.is_over() {
            return false;
        }
        let count = words.len();
        words.retain(|w| !named.contains(w));
        new.extend(words);
        if !all && count < most {
            found.extend(new);
            return false;
        }
        if !language.infinite && length >= language.longest() {
            break;
        }
        length += 1;
    }
    let enough = new.len() >= wanted || !language.infinite;
    found.extend(new);
    enough
}

/// A few words of any length.
fn random_words(
    language: &mut Language,
    dice: &mut Dice<'_, '_>,
    deadline: &Deadline<'_>,
    found: &mut Vec<String>,
) {
    let longest = language.longest();
    let Some(shortest) = (0..=longest).find(|l| language.has_length(*l, deadline)) else {
        return;
    };
    for _ in 0..12 {
        let length = shortest + dice.below(9) as usize;
        language.words(length, 1, &mut |count| dice.below(count), deadline, found);
    }
    language.words(shortest, 1, &mut |count| dice.below(count), deadline, found);
}

/// Words of all lengths that may matter: short ones, and those next to the constants and bounds.
fn spread(
    language: &mut Language,
    (min, max): (i64, i64),
    constants: &Constants,
    dice: &mut Dice<'_, '_>,
    deadline: &Deadline<'_>,
    found: &mut Vec<String>,
) {
    let mut lengths: Vec<i64> = (0..10).map(|l| min.saturating_add(l)).collect();
    lengths.push(max);
    for constant in &constants.integers {
        lengths.extend([
            constant.saturating_sub(1),
            *constant,
            constant.saturating_add(1),
        ]);
    }
    lengths.extend(0..10);
    lengths.retain(|l| *l >= min.max(0) && *l <= max.min(MAX_LENGTH));
    lengths.sort_unstable();
    lengths.dedup();
    let end = found.len() + TRIED;
    for length in lengths {
        let length = length as usize;
        language.words(length, 2, &mut |_| 0, deadline, found);
        language.words(length, 2, &mut |count| dice.below(count), deadline, found);
        if found.len() >= end || deadline.is_over() {
            return;
        }
    }
}

#[cfg(test)]
mod tests;
