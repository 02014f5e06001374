//! What can be read off conditions without solving anything.

use ioco_sts::{Expr, Function, Value};
use rust_decimal::Decimal;

pub(crate) use ioco_sts::domain::{Goal, Shape};

/// Calls `visit` with every unknown of an expression, without building lists.
pub(crate) fn each_unknown(expr: &Expr, visit: &mut impl FnMut(u32)) {
    match expr {
        Expr::Param(position) => visit(*position),
        Expr::Const(_) | Expr::Var(_) | Expr::Local(_) => {}
        Expr::Unary(_, inner) | Expr::Field(inner, _) | Expr::Matches(inner, _) => {
            each_unknown(inner, visit);
        }
        Expr::Binary(_, both) => both.iter().for_each(|e| each_unknown(e, visit)),
        Expr::If(all) | Expr::InRange(all) => all.iter().for_each(|e| each_unknown(e, visit)),
        Expr::InSet(subject, items) => {
            each_unknown(subject, visit);
            items.iter().for_each(|e| each_unknown(e, visit));
        }
        Expr::Array(items) | Expr::Struct(_, items) | Expr::Call(_, items) => {
            items.iter().for_each(|e| each_unknown(e, visit));
        }
    }
}

/// The constants that conditions speak of; good places to look for values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Constants {
    pub integers: Vec<i64>,
    pub decimals: Vec<Decimal>,
    pub others: Vec<Value>,
    /// Of arrays, also of those with unknown items.
    pub lengths: Vec<i64>,
    /// Digits after the point.
    pub scale: u32,
}

impl Constants {
    pub fn of<'a>(
        exprs: impl IntoIterator<Item = &'a Expr>,
        functions: &'a [Function],
    ) -> Constants {
        let mut found = Constants::default();
        let mut calls = false;
        for expr in exprs {
            expr.walk(&mut |e| {
                found.add_expr(e);
                calls |= matches!(e, Expr::Call(..));
            });
        }
        if calls {
            for function in functions {
                function.body.walk(&mut |e| found.add_expr(e));
            }
        }
        found.integers.sort_unstable();
        found.integers.dedup();
        found.decimals.sort_unstable();
        found.decimals.dedup();
        found.others.sort_unstable();
        found.others.dedup();
        found.lengths.sort_unstable();
        found.lengths.dedup();
        found
    }

    fn add_expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Const(value) => self.add(value),
            Expr::Array(items) => self.lengths.push(items.len() as i64),
            _ => {}
        }
    }

    fn add(&mut self, value: &Value) {
        match value {
            Value::Int(value) => self.integers.push(*value),
            Value::Decimal(value) => {
                self.scale = self.scale.max(value.normalize().scale());
                self.decimals.push(*value);
            }
            Value::Str(_) => self.others.push(value.clone()),
            Value::Array(items) | Value::Struct(_, items) => {
                if let Value::Array(_) = value {
                    self.lengths.push(items.len() as i64);
                }
                items.iter().for_each(|item| self.add(item));
                self.others.push(value.clone());
            }
            Value::Void | Value::Bool(_) | Value::Enum(..) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use ioco_sts::{BinaryOp, FunctionId, Type};

    use super::*;

    #[test]
    fn constants_are_found_in_conditions_and_in_what_they_call() {
        let decimal = |text: &str| text.parse::<Decimal>().expect("a decimal");
        let functions = [Function {
            name: "f".to_owned(),
            parameters: Vec::new(),
            result: Type::INTEGER,
            body: Expr::int(7),
        }];
        let items = [
            Value::Int(3),
            Value::str("b"),
            Value::Decimal(decimal("1.250")),
        ];
        let array = Value::Array(items.into());
        let call = Expr::Call(FunctionId(0), vec![Expr::int(9)]);
        let conditions = [
            Expr::binary(BinaryOp::Eq, call, Expr::int(-1)),
            Expr::Const(array.clone()),
            Expr::Const(Value::str("a")),
            Expr::Const(Value::str("b")),
            Expr::Const(Value::Decimal(decimal("0.5"))),
            Expr::TRUE,
            Expr::Array(vec![Expr::Param(0); 5]),
        ];
        let found = Constants::of(&conditions, &functions);
        assert_eq!(found.integers, [-1, 3, 7, 9]);
        assert_eq!(found.decimals, [decimal("0.5"), decimal("1.25")]);
        let mut others = vec![Value::str("a"), Value::str("b"), array];
        others.sort_unstable();
        assert_eq!((found.others, found.scale), (others, 2));
        assert_eq!(found.lengths, [3, 5]);
        let found = Constants::of(&conditions[1..], &functions);
        assert_eq!(found.integers, [3]);
    }
}
