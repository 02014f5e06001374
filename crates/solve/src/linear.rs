//! Linear reasoning: Fourier-Motzkin elimination over the comparisons that must hold, with bounds
//! of integer rows rounded inwards.
//!
//! It answers one question only, whether a conjunction cannot hold, and it answers at once where
//! moving bounds one by one would crawl: `x < y && y < x`, `2x + z <= 2y && 2y + 1 <= 2x`,
//! `2x == 2y + 1`. A comparison that has values at all has the values of ordinary arithmetic, so
//! overflow need not be looked at here.

use ioco_sts::domain::{Domain, Values, View, comparison};
use ioco_sts::{BinaryOp, Expr, Function, UnaryOp, Value};
use rustc_hash::FxHashMap;

use crate::form::{Form, Terms, multiplied, sum};
use crate::goal::Goal;
use crate::outcome::Deadline;

/// Elimination stops where leaving one atom out would make more rows than this.
const MAX_ROWS: usize = 80;
/// More atoms than this that have to do with each other are not worth the time.
const MAX_ATOMS: usize = 12;
/// So many comparisons with `!=` are taken apart, one at a time.
const MAX_UNEQUAL: usize = 4;

/// `sum of terms <= bound`, or `<` where strict.
#[derive(Clone, Debug)]
struct Row {
    terms: Terms<usize>,
    bound: i128,
    strict: bool,
}

struct Atom<'a> {
    expr: &'a Expr,
    integer: bool,
}

struct System<'a> {
    view: View<'a>,
    atoms: Vec<Atom<'a>>,
    rows: Vec<Row>,
    /// What must be less or more than 0, as the two rows that say which.
    unequal: Vec<[Row; 2]>,
}

/// Whether the comparisons among `goals` exclude each other.
pub(crate) fn refutes(
    goals: &[Goal<'_>],
    domains: &[Domain],
    functions: &[Function],
    deadline: &Deadline<'_>,
) -> bool {
    let mut system = System {
        view: View {
            domains,
            variables: &[],
            functions,
            effort: deadline,
        },
        atoms: Vec::new(),
        rows: Vec::new(),
        unequal: Vec::new(),
    };
    for goal in goals {
        system.add_goal(*goal);
    }
    system.leave_large_groups_out();
    if system.rows.is_empty() {
        return false;
    }
    let integer: Vec<bool> = system.atoms.iter().map(|a| a.integer).collect();
    for index in 0..system.atoms.len() {
        system.add_bounds(index);
    }
    if eliminate(system.rows.clone(), &integer, deadline) {
        return true;
    }
    system.unequal.into_iter().any(|cases| {
        cases.into_iter().all(|case| {
            let rows = system.rows.iter().cloned().chain([case]).collect();
            eliminate(rows, &integer, deadline)
        })
    })
}

impl<'a> System<'a> {
    /// Drops the rows of atoms that are joined, by rows, to too many others: fewer rows refute less.
    fn leave_large_groups_out(&mut self) {
        let mut group: Vec<usize> = (0..self.atoms.len()).collect();
        for row in &self.rows {
            let Some((first, _)) = row.terms.first() else {
                continue;
            };
            for (atom, _) in &row.terms[1..] {
                let (from, to) = (group[*atom], group[*first]);
                group
                    .iter_mut()
                    .filter(|g| **g == from)
                    .for_each(|g| *g = to);
            }
        }
        let mut sizes = vec![0; self.atoms.len()];
        group.iter().for_each(|g| sizes[*g] += 1);
        self.rows.retain(|row| {
            let first = row.terms.first();
            first.is_none_or(|(atom, _)| sizes[group[*atom]] <= MAX_ATOMS)
        });
    }

    fn add_goal(&mut self, goal: Goal<'a>) {
        match goal.expr {
            Expr::Binary(op, both) => {
                let Some(op) = comparison(*op, goal.want) else {
                    return;
                };
                self.add_comparison(op, &both[0], &both[1]);
            }
            Expr::InRange(all) if goal.want => {
                let [subject, low, high] = &**all;
                self.add_comparison(BinaryOp::Le, low, subject);
                self.add_comparison(BinaryOp::Le, subject, high);
            }
            _ => {}
        }
    }

    fn add_comparison(&mut self, op: BinaryOp, left: &'a Expr, right: &'a Expr) {
        if op == BinaryOp::Ne && self.unequal.len() >= MAX_UNEQUAL {
            return;
        }
        let (Some(left), Some(right)) = (self.form(left), self.form(right)) else {
            return;
        };
        if op == BinaryOp::Ne {
            let sides = [(&left, &right), (&right, &left)];
            let case =
                |(small, large): (&Form<usize>, &Form<usize>)| row(small.minus(large)?, true);
            if let [Some(less), Some(more)] = sides.map(case) {
                self.unequal.push([less, more]);
            }
            return;
        }
        // Strict comparisons of integers lose their strictness in `push`.
        let rows = match op {
            BinaryOp::Lt => [Some((&left, &right, true)), None],
            BinaryOp::Le => [Some((&left, &right, false)), None],
            BinaryOp::Gt => [Some((&right, &left, true)), None],
            BinaryOp::Ge => [Some((&right, &left, false)), None],
            _ => [Some((&left, &right, false)), Some((&right, &left, false))],
        };
        for (small, large, strict) in rows.into_iter().flatten() {
            if let Some(difference) = small.minus(large) {
                self.push(difference, strict);
            }
        }
    }

    fn push(&mut self, form: Form<usize>, strict: bool) {
        self.rows.extend(row(form, strict));
    }

    fn add_bounds(&mut self, atom: usize) {
        match self.view.values_of(self.atoms[atom].expr).values {
            Values::Int { min, max } => {
                self.rows.push(Row {
                    terms: vec![(atom, 1)],
                    bound: i128::from(max),
                    strict: false,
                });
                self.rows.push(Row {
                    terms: vec![(atom, -1)],
                    bound: -i128::from(min),
                    strict: false,
                });
            }
            Values::Decimal { min, max } => {
                for (limit, sign) in [(max, 1), (min, -1)] {
                    if let Some(unit) = 10_i128.checked_pow(limit.scale()) {
                        self.rows.push(Row {
                            terms: vec![(atom, sign * unit)],
                            bound: sign * limit.mantissa(),
                            strict: false,
                        });
                    }
                }
            }
            _ => {}
        }
    }

    fn form(&mut self, expr: &'a Expr) -> Option<Form<usize>> {
        match expr {
            Expr::Const(value @ (Value::Int(_) | Value::Decimal(_))) => Form::number(value),
            Expr::Unary(UnaryOp::Neg, inner) => self.form(inner)?.times(-1, 0),
            Expr::Binary(BinaryOp::Add, both) => self.form(&both[0])?.plus(&self.form(&both[1])?),
            Expr::Binary(BinaryOp::Sub, both) => self.form(&both[0])?.minus(&self.form(&both[1])?),
            Expr::Binary(BinaryOp::Mul, both) => {
                let factor = |e: &Expr| {
                    let only = self.view.values_of(e).domain().only()?;
                    Form::<usize>::number(&only)
                };
                let (factor, other) = match (factor(&both[0]), factor(&both[1])) {
                    (Some(factor), _) => (factor, &both[1]),
                    (_, Some(factor)) => (factor, &both[0]),
                    _ => return self.atom(expr),
                };
                self.form(other)?.times(factor.constant, factor.scale)
            }
            _ => self.atom(expr),
        }
    }

    fn atom(&mut self, expr: &'a Expr) -> Option<Form<usize>> {
        let found = self.view.values_of(expr);
        let integer = match found.values {
            // Two unset values are equal although they are no numbers.
            _ if found.void => return None,
            Values::Int { .. } => true,
            Values::Decimal { .. } => false,
            _ => return None,
        };
        let known = self.atoms.iter().position(|a| a.expr == expr);
        let index = known.unwrap_or_else(|| {
            self.atoms.push(Atom { expr, integer });
            self.atoms.len() - 1
        });
        Some(Form::of(index, 0))
    }
}

/// Divides by the common divisor; over integers the bound is rounded down.
fn tighten(mut row: Row, integer: &[bool]) -> Row {
    let whole = row.terms.iter().all(|(atom, _)| integer[*atom]);
    if whole && row.strict {
        row.bound = row.bound.saturating_sub(1);
        row.strict = false;
    }
    let divisor = row
        .terms
        .iter()
        .fold(0, |d, (_, c)| gcd(d, c.unsigned_abs()));
    let Ok(divisor) = i128::try_from(divisor) else {
        return row;
    };
    if divisor != 0 && (whole || row.bound % divisor == 0) {
        for term in &mut row.terms {
            term.1 /= divisor;
        }
        row.bound = row.bound.div_euclid(divisor);
    }
    row
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn eliminate(rows: Vec<Row>, integer: &[bool], deadline: &Deadline<'_>) -> bool {
    let mut rows: Vec<Row> = rows.into_iter().map(|r| tighten(r, integer)).collect();
    let mut open: Vec<usize> = (0..integer.len()).collect();
    loop {
        for row in &rows {
            // Without terms it is a row of integers, which is not strict.
            if row.terms.is_empty() && row.bound < 0 {
                return true;
            }
        }
        // The atom whose elimination makes the fewest new rows.
        let cost = |atom: usize| {
            let coefficients = rows.iter().filter_map(|r| coefficient(r, atom));
            let (up, down): (Vec<i128>, Vec<i128>) = coefficients.partition(|c| c.is_positive());
            up.len() * down.len()
        };
        let Some((position, new)) = open
            .iter()
            .enumerate()
            .map(|(position, atom)| (position, cost(*atom)))
            .min_by_key(|(_, new)| *new)
        else {
            return false;
        };
        if new > MAX_ROWS {
            return false;
        }
        let atom = open.swap_remove(position);
        let (with, mut kept): (Vec<Row>, Vec<Row>) = rows
            .into_iter()
            .partition(|r| coefficient(r, atom).is_some());
        let (upper, lower): (Vec<Row>, Vec<Row>) = with
            .into_iter()
            .partition(|r| coefficient(r, atom).is_some_and(i128::is_positive));
        for up in &upper {
            for down in &lower {
                if !deadline.step() {
                    return false;
                }
                // A row that does not fit the numbers is left out: fewer rows refute less.
                if let Some(row) = combine(up, down, atom) {
                    kept.push(tighten(row, integer));
                }
            }
        }
        rows = strongest(kept);
    }
}

/// `form <= 0`, or `form < 0`.
fn row(form: Form<usize>, strict: bool) -> Option<Row> {
    Some(Row {
        bound: form.constant.checked_neg()?,
        terms: form.terms,
        strict,
    })
}

fn coefficient(row: &Row, atom: usize) -> Option<i128> {
    row.terms.iter().find(|t| t.0 == atom).map(|t| t.1)
}

fn combine(up: &Row, down: &Row, atom: usize) -> Option<Row> {
    let (a, b) = (
        coefficient(up, atom)?,
        coefficient(down, atom)?.checked_neg()?,
    );
    let divisor = i128::try_from(gcd(a.unsigned_abs(), b.unsigned_abs())).ok()?;
    let (up_factor, down_factor) = (b / divisor, a / divisor);
    Some(Row {
        terms: sum(
            multiplied(&up.terms, up_factor)?,
            &multiplied(&down.terms, down_factor)?,
        )?,
        bound: up
            .bound
            .checked_mul(up_factor)?
            .checked_add(down.bound.checked_mul(down_factor)?)?,
        strict: up.strict || down.strict,
    })
}

/// Of rows over the same terms only the strongest.
fn strongest(rows: Vec<Row>) -> Vec<Row> {
    let mut best: FxHashMap<Terms<usize>, usize> = FxHashMap::default();
    let mut kept: Vec<Row> = Vec::new();
    let weakness = |row: &Row| (row.bound, !row.strict);
    for row in rows {
        match best.get(&row.terms) {
            Some(&index) => {
                let old = &mut kept[index];
                if weakness(&row) < weakness(old) {
                    *old = row;
                }
            }
            None => {
                best.insert(row.terms.clone(), kept.len());
                kept.push(row);
            }
        }
    }
    kept
}

#[cfg(test)]
mod tests;
