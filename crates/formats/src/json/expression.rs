//! Expressions to lists of tokens and back.

use ioco_budget::{Exhausted, Resource};

use ioco_sts::{BinaryOp, Expr, FunctionId, Pattern, StructId, UnaryOp, VarId};

use super::read::{Known, read_value};
use super::saved::SavedToken;
use super::write::save_value;

/// Every walk over an expression recurses once per level. What a model states may get some levels
/// more on its way to a transition system, and must still be read back.
const SLACK: u64 = 2;

pub fn save(expr: &Expr) -> Vec<SavedToken> {
    let mut tokens = Vec::new();
    push(expr, &mut tokens);
    tokens
}

fn push(expr: &Expr, tokens: &mut Vec<SavedToken>) {
    for child in expr.children() {
        push(child, tokens);
    }
    tokens.push(match expr {
        Expr::Const(value) => SavedToken::Const(save_value(value)),
        Expr::Var(id) => SavedToken::Var(id.0),
        Expr::Param(position) => SavedToken::Param(*position),
        Expr::Local(position) => SavedToken::Local(*position),
        Expr::Unary(op, _) => unary_token(*op),
        Expr::Binary(op, _) => binary_token(*op),
        Expr::If(_) => SavedToken::If,
        Expr::InRange(_) => SavedToken::InRange,
        Expr::InSet(_, items) => SavedToken::InSet(items.len() as u32),
        Expr::Array(items) => SavedToken::Array(items.len() as u32),
        Expr::Struct(id, fields) => SavedToken::Struct(id.0, fields.len() as u32),
        Expr::Field(_, field) => SavedToken::Field(*field),
        Expr::Matches(_, pattern) => SavedToken::Matches(pattern.text().to_owned()),
        Expr::Call(function, arguments) => SavedToken::Call(function.0, arguments.len() as u32),
    });
}

/// What an expression may speak of, besides what the whole system has.
#[derive(Clone, Copy)]
pub struct ExprScope {
    pub variables: usize,
    pub parameters: usize,
    pub locals: usize,
}

/// An expression and how deep it is.
type Operand = (Expr, u32);

pub fn read(tokens: &[SavedToken], known: Known<'_>, scope: ExprScope) -> Result<Expr, String> {
    let mut operands: Vec<Operand> = Vec::new();
    for token in tokens {
        let operand = read_token(token, known, scope, &mut operands)?;
        let most = known.budget.depth.saturating_mul(SLACK);
        if u64::from(operand.1) > most {
            let exhausted = Exhausted {
                resource: Resource::Depth,
                limit: known.budget.depth,
            };
            return Err(exhausted.to_string());
        }
        operands.push(operand);
    }
    match (operands.pop(), operands.is_empty()) {
        (Some((expr, _)), true) => Ok(expr),
        (None, _) => Err("the expression is empty".to_owned()),
        _ => Err("the expression has operands that no operator takes".to_owned()),
    }
}

fn read_token(
    token: &SavedToken,
    known: Known<'_>,
    scope: ExprScope,
    operands: &mut Vec<Operand>,
) -> Result<Operand, String> {
    let within = |what: &str, index: u32, count: usize| {
        if (index as usize) < count {
            Ok(())
        } else {
            Err(format!("there is no {what} {index} here"))
        }
    };
    let leaf = |expr: Expr| Ok((expr, 1));
    if let Some(op) = unary_op(token) {
        let ([inner], depth) = take::<1>(operands)?;
        return Ok((Expr::unary(op, inner), depth));
    }
    if let Some(op) = binary_op(token) {
        let (both, depth) = take::<2>(operands)?;
        return Ok((Expr::Binary(op, Box::new(both)), depth));
    }
    match token {
        SavedToken::Const(value) => leaf(Expr::Const(read_value(value, known)?)),
        SavedToken::Var(index) => {
            within("variable", *index, scope.variables)?;
            leaf(Expr::Var(VarId(*index)))
        }
        SavedToken::Param(index) => {
            within("parameter", *index, scope.parameters)?;
            leaf(Expr::Param(*index))
        }
        SavedToken::Local(index) => {
            within("argument", *index, scope.locals)?;
            leaf(Expr::Local(*index))
        }
        SavedToken::If => take::<3>(operands).map(|(all, depth)| (Expr::If(Box::new(all)), depth)),
        SavedToken::InRange => {
            take::<3>(operands).map(|(all, depth)| (Expr::InRange(Box::new(all)), depth))
        }
        SavedToken::InSet(count) => {
            let (items, items_depth) = take_many(operands, *count)?;
            let ([subject], depth) = take::<1>(operands)?;
            let depth = depth.max(items_depth);
            Ok((Expr::InSet(Box::new(subject), items), depth))
        }
        SavedToken::Array(count) => {
            let (items, depth) = take_many(operands, *count)?;
            Ok((Expr::Array(items), depth))
        }
        SavedToken::Struct(id, count) => {
            let Some(declared) = known.types.structs.get(*id as usize) else {
                return Err(format!("there is no struct {id}"));
            };
            if declared.fields.len() != *count as usize {
                let (name, fields) = (&declared.name, declared.fields.len());
                return Err(format!(
                    "the struct {name} has {fields} fields, not {count}"
                ));
            }
            let (fields, depth) = take_many(operands, *count)?;
            Ok((Expr::Struct(StructId(*id), fields), depth))
        }
        SavedToken::Field(field) => {
            let ([inner], depth) = take::<1>(operands)?;
            Ok((Expr::Field(Box::new(inner), *field), depth))
        }
        SavedToken::Matches(text) => {
            let pattern = Pattern::new(text)
                .map_err(|error| format!("/{text}/ is not a regular expression: {error}"))?;
            let ([inner], depth) = take::<1>(operands)?;
            Ok((Expr::Matches(Box::new(inner), pattern), depth))
        }
        SavedToken::Call(function, count) => {
            let Some(expected) = known.functions.get(*function as usize) else {
                return Err(format!("there is no function {function}"));
            };
            if expected.parameters.len() != *count as usize {
                return Err(format!(
                    "the function {} takes {} arguments, not {count}",
                    expected.name,
                    expected.parameters.len()
                ));
            }
            let (arguments, depth) = take_many(operands, *count)?;
            Ok((Expr::Call(FunctionId(*function), arguments), depth))
        }
        _ => Err("an operator is missing".to_owned()),
    }
}

/// Operators have the same name as a token.
macro_rules! operators {
    ($enumeration:ident, $to_token:ident, $from_token:ident: $($name:ident)*) => {
        fn $to_token(op: $enumeration) -> SavedToken {
            match op {
                $($enumeration::$name => SavedToken::$name,)*
            }
        }

        fn $from_token(token: &SavedToken) -> Option<$enumeration> {
            match token {
                $(SavedToken::$name => Some($enumeration::$name),)*
                _ => None,
            }
        }
    };
}

operators! { UnaryOp, unary_token, unary_op: Not Neg Abs Length Last }
operators! {
    BinaryOp, binary_token, binary_op:
    And Or Eq Ne Lt Le Gt Ge Add Sub Mul Div Rem Min Max Index
}

/// The last `N` operands, and the depth of what they are put into.
fn take<const N: usize>(operands: &mut Vec<Operand>) -> Result<([Expr; N], u32), String> {
    let (taken, depth) = take_many(operands, N as u32)?;
    let taken = taken.try_into().map_err(|_| missing(N as u32))?;
    Ok((taken, depth))
}

fn take_many(operands: &mut Vec<Operand>, count: u32) -> Result<(Vec<Expr>, u32), String> {
    let Some(start) = operands.len().checked_sub(count as usize) else {
        return Err(missing(count));
    };
    let taken = operands.split_off(start);
    let depth = 1 + taken.iter().map(|(_, depth)| *depth).max().unwrap_or(0);
    Ok((taken.into_iter().map(|(expr, _)| expr).collect(), depth))
}

fn missing(count: u32) -> String {
    format!("an operator of the expression lacks some of its {count} operands")
}
